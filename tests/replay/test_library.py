"""Games of an archive are read when their time comes, and are then what they were in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.cli.library import open_library
from recorder.errors import ReplayError
from recorder.replay.door import Manner
from recorder.replay.session import Session
from recorder.replay.show import Recording, Show
from recorder.replay.thinks import long_thinks
from recorder.replay.timing import cap_idle, mark
from recorder.replay.together import moments_of_games
from storage import Archive, GameFilter
from tests.replay.clients import Client
from tests.replay.test_recorded import FILTERS
from tests.support.cli import SERVER, Cli

LOGS = ("a07_eight_boards/observer_GuestObsI", "a12_bughouse/observer_GuestBga", "a06_chatter_takebacks/observer_Euwe")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games that overlap, a match and games with takebacks."""
    path = tmp_path_factory.mktemp("library") / "a.sqlite"
    Cli(path)("import", *(next(SERVER.glob(f"{name}.raw*")) for name in LOGS))
    return path


def heard(recording: Recording) -> str:
    """All that a client hears who observes everything."""
    show = Show(recording, 0)
    show.open(0)
    client = Client(Session(show, 0, Manner(observe=True)))
    return client.say("Looker", "", "iset ms 1", "set style 12") + client.wait()


@pytest.mark.parametrize("idle_max_ms", [None, 700])
def test_moments_are_those_of_games_in_memory(archive: Path, idle_max_ms: int | None) -> None:
    with Archive.open(str(archive), read_only=True) as opened:
        games = list(opened.games(GameFilter()))
    moments = moments_of_games(games, 1000)
    moments = moments if idle_max_ms is None else list(cap_idle(moments, idle_max_ms))
    marked = list(mark(moments, long_thinks(moments, 500)))
    assert any("think" in moment.markers for moment in marked)
    with open_library(
        [], (), str(archive), FILTERS, pace_ms=1000, idle_max_ms=idle_max_ms,
        marks=lambda moments: long_thinks(moments, 500),
    ) as library:  # fmt: skip
        recording = library.recording
        assert [moment._replace(what=None) for moment in marked] == list(recording.moments)
        without_lines = Recording(recording.players, recording.moments, recording.chapter)
        told = heard(without_lines)
    assert told.count("<12> ") > 700
    assert told == heard(Recording.of(games, moments))


def test_few_games_are_held_however_many_there_are(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.cli.library.HELD", 2)
    with open_library([], (), str(archive), FILTERS, pace_ms=0, idle_max_ms=None) as library:
        count = len(library.recording.players)
        assert count > 8
        first = library.recording.chapter(0)
        assert library.recording.chapter(0) is first
        for number in range(1, count):
            assert library.recording.chapter(number).game.white.handle == library.recording.players[number][0]
        again = library.recording.chapter(0)
        assert again is not first
        assert again == first


def test_a_game_that_has_changed_is_told(archive: Path) -> None:
    with open_library([], (), str(archive), FILTERS, pace_ms=0, idle_max_ms=None) as library:
        game = library.recording.chapter(3).game
        del game.observations[0].lines[0].plies[5:]
    with (
        open_library([], (), str(archive), FILTERS, pace_ms=0, idle_max_ms=None) as library,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(Archive, "game", lambda _archive, _key: game)
        with pytest.raises(ReplayError, match="no longer what it was"):
            library.recording.chapter(3)
