"""Games of an archive are read when they are due, and equal the games in memory."""

import shutil
from pathlib import Path

import pytest

from recorder.archive.replaying import open_library
from recorder.errors import ReplayError
from recorder.replay.moments import long_thinks
from recorder.replay.server.commands import answer_command
from recorder.replay.server.login import Greeting, LoginDialogue
from recorder.replay.server.session import ReplaySession
from recorder.replay.server.sockets import clients_of_games
from recorder.replay.several import moments_of_games
from recorder.replay.show import ReplaySource, Show
from recorder.replay.timing import cap_idle, mark
from storage import ArchiveStore, GameFilter
from tests.replay.clients import Client
from tests.replay.sources import source_of
from tests.support.cli import SERVER, Cli

LOGS = ("a07_eight_boards/observer_GuestObsI", "a12_bughouse/observer_GuestBga", "a06_chatter_takebacks/observer_Euwe")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games that overlap, a match and games with takebacks."""
    path = tmp_path_factory.mktemp("library") / "a.sqlite"
    Cli(path)("import", *(next(SERVER.glob(f"{name}.raw*")) for name in LOGS))
    return path


def heard(recording: ReplaySource) -> str:
    """Return all output to a client that observes every game."""
    show = Show(recording, 0)
    show.open(0)
    client = Client(ReplaySession(show, 0, Greeting(observe=True), answer_command))
    return client.say("Looker", "", "iset ms 1", "set style 12") + client.wait()


@pytest.mark.parametrize("idle_max_ms", [None, 700])
def test_moments_are_those_of_games_in_memory(archive: Path, idle_max_ms: int | None) -> None:
    with ArchiveStore.open(str(archive), read_only=True) as opened:
        games = list(opened.games(GameFilter()))
    moments = moments_of_games(games, 1000)
    moments = moments if idle_max_ms is None else list(cap_idle(moments, idle_max_ms))
    marked = list(mark(moments, long_thinks(moments, 500)))
    assert any("think" in moment.markers for moment in marked)
    with open_library(
        [], str(archive), GameFilter(), pace_ms=1000, idle_max_ms=idle_max_ms,
        marks=lambda moments: long_thinks(moments, 500),
    ) as library:  # fmt: skip
        recording = library.recording
        assert [moment._replace(what=None) for moment in marked] == list(recording.moments)
        without_lines = ReplaySource(recording.players, recording.moments, recording.chapter)
        output = heard(without_lines)
    assert output.count("<12> ") > 700
    assert output == heard(source_of(games, moments))


def test_few_games_are_in_memory_at_a_time(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.archive.replaying.HELD", 2)
    with open_library([], str(archive), GameFilter(), pace_ms=0, idle_max_ms=None) as library:
        count = len(library.recording.players)
        assert count > 8
        first = library.recording.chapter(0)
        assert library.recording.chapter(0) is first
        for number in range(1, count):
            assert library.recording.chapter(number).game.white.handle == library.recording.players[number][0]
        reread = library.recording.chapter(0)
        assert reread is not first
        assert reread == first


def test_a_changed_game_is_reported(archive: Path) -> None:
    with open_library([], str(archive), GameFilter(), pace_ms=0, idle_max_ms=None) as library:
        game = library.recording.chapter(3).game
        del game.observations[0].lines[0].plies[5:]
    with (
        open_library([], str(archive), GameFilter(), pace_ms=0, idle_max_ms=None) as library,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(ArchiveStore, "game", lambda _archive, _key: game)
        with pytest.raises(ReplayError, match="no longer what it was"):
            library.recording.chapter(3)


def test_a_deleted_game_is_skipped_and_reported_once(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source is forgotten during a shared replay: other games continue, and commands are answered."""
    monkeypatch.setattr("recorder.archive.replaying.HELD", 1)
    mine = tmp_path / "a.sqlite"
    shutil.copy(archive, mine)
    lost: list[str] = []

    def never(_client: LoginDialogue, error: Exception) -> None:
        raise error

    with (
        ArchiveStore.open(str(mine)) as writing,
        open_library([], str(mine), GameFilter(), pace_ms=0, idle_max_ms=0, lost=lost.append) as library,
    ):
        source = writing.game_sources(library.recording.chapter(0).game.key)[0]
        gone = [game.key for game in writing.games(GameFilter(source=source.id))]
        count = len(library.recording.players)
        library.recording.chapter(count - 1)
        assert 0 < len(gone) < count - 1
        writing.erasures.forget_source(source.id)
        house = clients_of_games(library.recording, Greeting(observe=True), shared_at_ns=0)
        clients = [house.connect(0), house.connect(0)]
        heard = ["", ""]
        for client in clients:
            assert client is not None
            house.receive(client, b"Looker\n\niset ms 1\nset style 12\n", 0)
        while (due_ns := house.due_ns) is not None:
            house.tick(due_ns, never)
            for at, client in enumerate(clients):
                heard[at] += client.take_output().decode("latin-1")
        client = clients[0]
        assert client is not None
        for command, answer in ((b"examine #1", b"can no longer be read"), (b"history", b"history games")):
            house.receive(client, command + b"\n", 0)
            assert answer in client.take_output()
    assert len(lost) == len(gone)
    assert all("no game" in why.lower() for why in lost)
    assert heard[0].count("{Game ") == heard[1].count("{Game ") >= count - len(gone)
