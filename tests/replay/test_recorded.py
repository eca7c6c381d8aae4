"""If the log exists, a replay sends the recorded lines themselves, in any format of the server."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.archive.replaying import open_library
from recorder.replay.server.commands import answer_command
from recorder.replay.server.login import Greeting
from recorder.replay.server.session import ReplaySession
from recorder.replay.show import Show
from storage import GameFilter
from tests.replay.clients import Client, lines_of
from tests.support.cli import Cli
from tests.support.corpus import Stream, stream_bytes
from tests.support.effort import long_after
from tests.support.journals import journal_of

FRAME = re.compile(rb"<12> [^\r\n]*")

STREAMS = [
    Stream("a04_suicide", "observer_GuestObsF", "raw"),
    Stream("a06_chatter_takebacks", "observer_Euwe", "raw"),
    Stream("a07_eight_boards", "observer_GuestObsI", "raw"),
    Stream("b04_chatter_takeback_pause", "observer_Botvinnik", "raw"),
    Stream("c01_standard", "observer_GuestXa", "raw"),
]


def sent(files: list[str], where: str, keys: tuple[str, ...], name: str, *settings: str) -> list[str]:
    """Return the boards of played games that a client gets."""
    with open_library(files, where, GameFilter(keys=frozenset(keys)), pace_ms=0, idle_max_ms=None) as library:
        show = Show(library.recording, 0)
        show.open(0)
        client = Client(ReplaySession(show, 0, Greeting(observe=True), answer_command))
        client.say(name, "", *settings)
        return lines_of(client.say("set style 12") + client.wait(), "<12>")


def log(stream: Stream, folder: Path) -> Path:
    path = folder / "session.log"
    path.write_bytes(stream_bytes(stream.scenario, stream.connection))
    return path


def as_file(path: Path) -> tuple[list[str], str, tuple[str, ...]]:
    return [str(path)], "", ()


def as_journal(path: Path) -> tuple[list[str], str, tuple[str, ...]]:
    journal = path.with_suffix(".journal")
    journal.write_bytes(journal_of(path.read_bytes()))
    return [str(journal)], "", ()


def _imported(path: Path, *words: str) -> tuple[list[str], str, tuple[str, ...]]:
    archive = Cli(path.with_name("a.sqlite"))
    archive("import", *words, path)
    return [], str(archive.archive), ()


def as_kept(path: Path) -> tuple[list[str], str, tuple[str, ...]]:
    found = _imported(path)
    path.unlink()
    return found


def as_elsewhere(path: Path) -> tuple[list[str], str, tuple[str, ...]]:
    return _imported(path, "--no-keep-source")


WAYS = [as_file, as_journal, as_kept, as_elsewhere]
Way = Callable[[Path], tuple[list[str], str, tuple[str, ...]]]


def frames_of(path: Path) -> list[str]:
    """Return all lines of a log that begin like a board."""
    return [line.decode("latin-1") for line in FRAME.findall(path.read_bytes())]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: str(stream.scenario))
@pytest.mark.parametrize("way", long_after(2, WAYS))
def test_every_board_is_the_recorded_line(way: Way, stream: Stream, tmp_path: Path) -> None:
    path = log(stream, tmp_path)
    recorded = Counter(frames_of(path))
    ms = any("." in line.split()[28] for line in recorded if len(line.split()) > 28)
    heard = Counter(sent(*way(path), stream.login, f"iset ms {int(ms)}"))
    assert not heard - recorded
    assert heard.total() > 0.8 * recorded.total()


def test_a_line_may_have_any_number_of_blanks_and_of_fields(tmp_path: Path) -> None:
    path = log(STREAMS[0], tmp_path)
    path.write_bytes(re.sub(rb"( none|\)) (\S+) (\d+ \d+ \d+)(?=[\r\n])", rb"\1  \2 \3 77", path.read_bytes()))
    recorded = set(frames_of(path))
    assert all(line.endswith(" 77") and "  " in line for line in recorded)
    heard = sent(*as_file(path), "Looker", "iset ms 1")
    assert len(heard) > 100
    assert set(heard) <= recorded


def test_other_settings_and_other_viewers_get_newly_printed_boards(tmp_path: Path) -> None:
    stream = Stream("a01_standard", "player_Morphy", "raw")
    path = log(stream, tmp_path)
    recorded = frames_of(path)
    seconds = sent(*as_file(path), "Morphy")
    assert seconds
    assert not any("." in line.split()[28] for line in seconds)
    other = sent(*as_file(path), "Looker", "iset ms 1")
    assert {line.split()[19] for line in other} == {"0"}
    assert {line.split()[19] for line in recorded} >= {"1", "-1"}
    own = sent(*as_file(path), "Morphy", "iset ms 1")
    assert {line.split()[19] for line in own} == {"1", "-1"}
    assert set(own) <= set(recorded)


def test_boards_of_a_missing_or_changed_log_are_newly_printed(tmp_path: Path) -> None:
    stream = STREAMS[-1]
    path = log(stream, tmp_path)
    recorded = set(frames_of(path))
    files, where, keys = as_elsewhere(path)
    path.write_bytes(path.read_bytes().replace(b"fics%", b"fisc%"))
    heard = sent(files, where, keys, "Looker")
    assert len(heard) > 300
    assert {len(line.split()) for line in recorded} == {31}
    assert {len(line.split()) for line in heard} == {32}
