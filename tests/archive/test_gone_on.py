"""``--pgn`` of games left open by an outage or the recorder's end: one entry each, replaced when they continue."""

import errno
import os
import re
import threading
import time
from pathlib import Path

import pytest

from exporters.base import keys_in
from recorder.archive.following.pgn import PgnFile, ReadPosition
from recorder.archive.recording.archiving import ArchiveChild, Archiving, Orders
from recorder.errors import ExportError
from recorder.journal.writer import JournalWriter, Sync
from tests.archive.test_following import MIDDLE, STREAM, games_of, pgn_keys
from tests.edge_cases.scripts import log
from tests.relating.interrupted import Played
from tests.support.cli import Cli

EARLIER = STREAM.rindex(b"<12>", 0, MIDDLE - 2_000)  # of the same game
PLAYED = 5
FOREIGN = (
    b'\xef\xbb\xbf% my games\r\n\r\n[Event "mine"]\r\n[Result "*"]\r\n\r\n'
    b"1. e4 {a note\r\n\r\nwith a gap} *\r\n\r\n\r\n"
)


class IdleMachine:
    """A journal's clock: each reading adds a millisecond.

    On a busy machine recorded boards may arrive again some seconds later, contradict their printed clocks, and then
    belong to another game.
    """

    def __init__(self) -> None:
        self._now_ns = time.time_ns()

    def utc_ns(self) -> int:
        return self.monotonic_ns()

    def monotonic_ns(self) -> int:
        self._now_ns += 1_000_000
        return self._now_ns


CLOCK = IdleMachine()


class Recorder:
    """A recorder with ``--pgn``, its journals and its archive, in this process."""

    def __init__(self, cli: Cli, pgn: object) -> None:
        self._orders = Orders(str(cli.archive), str(pgn), False, None, 30.0)
        self._child = ArchiveChild(str(cli.archive), print, pgn=str(pgn))
        self._folder = cli.archive.parent / "journals"
        self._archiving = Archiving(self._orders)
        self._archiving.take_unfinished()

    def connect(self) -> JournalWriter:
        """Begin the journal of a connection."""
        journal = JournalWriter(self._folder, host="h", port=1, role="record", sync=Sync.OS, clock=CLOCK)
        self._child.sign(journal)
        self._archiving.take(journal.path, left=False)
        return journal

    def receive(self, journal: JournalWriter, *data: bytes) -> None:
        """Record more of a connection; return its games in the PGN."""
        for piece in data:
            journal.received(piece)
            self._archiving.look()
        finished = self._archiving.taken[journal.path].finished
        finished.wait()

    def record(self, stream: bytes) -> None:
        """Record a connection from its beginning to its loss."""
        journal = self.connect()
        journal.received(stream)
        self._archiving.look()
        journal.close()
        self._archiving.look()
        assert not self._archiving.taken, "it is done"

    def end(self) -> None:
        assert self._archiving.finish()


def entries(path: Path) -> list[str]:
    return [text for text in re.split(r"(?=^\[Event )", path.read_text(), flags=re.M) if "[RecorderKey" in text]


def open_entries(path: Path) -> list[str]:
    return [text for text in entries(path) if "{Log ends here} *" in text.replace("\n", " ")]


def test_a_game_that_continues_after_an_outage_is_written_once(cli: Cli, tmp_path: Path) -> None:
    pgn = tmp_path / "x.pgn"
    recorder = Recorder(cli, pgn)
    recorder.record(STREAM[:MIDDLE])
    over = len(entries(pgn))
    assert open_entries(pgn) == [], "it may go on"
    recorder.record(STREAM)
    before = pgn.read_bytes()
    assert len(entries(pgn)) == PLAYED > over
    recorder.end()
    assert pgn.read_bytes() == before
    assert len(games_of(cli)) == PLAYED


def test_an_open_game_is_written_at_the_end_and_replaced_when_it_continues(cli: Cli, tmp_path: Path) -> None:
    pgn = tmp_path / "x.pgn"
    pgn.write_bytes(FOREIGN)
    first = Recorder(cli, pgn)
    first.record(STREAM[:MIDDLE])
    first.end()
    (left,) = open_entries(pgn)
    more = '[Event "mine"]\r\n[Result "*"]\r\n\r\n*\r\n\r\n% after it'
    with pgn.open("a", newline="") as file:
        file.write(more)
    mode = 0o640
    pgn.chmod(mode)
    second = Recorder(cli, pgn)
    second.record(STREAM)
    second.end()
    assert open_entries(pgn) == []
    keys = pgn_keys(pgn)
    assert len(keys) == len(set(keys)) == PLAYED
    assert pgn.read_bytes().startswith(FOREIGN)
    text = pgn.read_bytes().decode("utf-8-sig")
    places = [text.index(key) for key in keys]
    assert places[1] < text.index(more) < places[2], "it is where its entry was"
    with_result = next(entry for entry in entries(pgn) if keys[1] in entry)
    begun = left.split("\n\n")[1]
    assert with_result.split("\n\n")[1].startswith(begun[: begun.index("{Log ends")].rstrip()[:-40])
    assert pgn.stat().st_mode & 0o777 == mode
    assert [path.name for path in tmp_path.glob(".*.part")] == []
    before = pgn.read_bytes()
    Recorder(cli, pgn).end()
    assert pgn.read_bytes() == before


def test_open_games_of_a_killed_recorder_are_written_later(cli: Cli, tmp_path: Path) -> None:
    pgn = tmp_path / "x.pgn"
    Recorder(cli, pgn).record(STREAM[:MIDDLE])  # killed
    Recorder(cli, pgn)._archiving.look()  # killed, too
    assert open_entries(pgn) == []
    third = Recorder(cli, pgn)
    third._archiving.look()
    third.end()
    assert len(open_entries(pgn)) == 1
    before = pgn.read_bytes()
    Recorder(cli, pgn).end()
    assert pgn.read_bytes() == before, "nothing is owed any more"
    last = Recorder(cli, pgn)
    last.record(STREAM)  # killed
    assert open_entries(pgn) == []
    assert len(entries(pgn)) == PLAYED


def test_a_game_that_ends_replaces_its_entry_at_once_and_for_good(cli: Cli, tmp_path: Path) -> None:
    """The end line arrives alone, and the recorder is killed before the archive is up to date."""
    pgn = tmp_path / "x.pgn"
    game = Played(0, [1_000 + ply * ply % 7 * 300 + ply for ply in range(30)])
    spans = (-1_000, 15_000), (20_000, 90_000)
    before, after = ([log(*lines, "", "fics% ") for _, lines in game.lines(*span, True, 0)] for span in spans)
    first = Recorder(cli, pgn)
    first.record(b"".join(before))
    first.end()
    assert len(entries(pgn)) == len(open_entries(pgn)) == 1
    second = Recorder(cli, pgn)
    second.receive(second.connect(), log("fics% FatICS"), *after)
    assert (len(entries(pgn)), open_entries(pgn), len(games_of(cli))) == (1, [], 1)
    third = Recorder(cli, pgn)
    third._archiving.look()
    third.end()
    assert (len(entries(pgn)), len(games_of(cli))) == (1, 1)


@pytest.mark.parametrize("number", [1, 2, 6])
def test_a_game_that_was_adjourned_and_then_lost_from_sight_is_written_once(
    number: int, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its journal is read again at the end, for the games that it left open: one of them is a part of that game.

    The game has the least key of its parts, which is that of each part in one of these cases.
    """
    monkeypatch.setattr(CLOCK, "_now_ns", 1_795_000_000_000_000_000)
    pgn = tmp_path / "x.pgn"
    game = Played(0, [1_000 + ply * ply % 7 * 300 + ply for ply in range(30)], number=number)
    first, second, third = (
        [log(*lines, "", "fics% ") for _, lines in game.lines(*span, True, 0)]
        for span in ((-1_000, 8_000), (8_001, 44_000), (46_000, 90_000))
    )
    names = f"{{Game {number} (Ann vs. Bob)"
    adjourned = log(f"{names} Game adjourned by agreement}} *", f"{names} Continuing rated blitz match.}}")
    recorder = Recorder(cli, pgn)
    recorder.record(log("fics% FatICS") + b"".join([*first, adjourned, *second]))
    recorder.record(log("fics% FatICS") + b"".join(third))
    assert (len(entries(pgn)), len(games_of(cli))) == (1, 1)
    before = pgn.read_bytes()
    recorder.end()
    assert pgn.read_bytes() == before


def test_open_games_of_a_long_compressed_journal_are_written_later(cli: Cli, tmp_path: Path) -> None:
    pgn = tmp_path / "x.pgn"
    chat = b"".join(b"Ann(C) tells you: %s\n\r" % os.urandom(30).hex().encode() for _ in range(2_000))
    recorder = Recorder(cli, pgn)
    recorder.record(chat + STREAM[:MIDDLE])
    recorder.end()
    assert len(open_entries(pgn)) == 1


def test_a_game_that_continues_and_stays_unfinished_has_one_entry(cli: Cli, tmp_path: Path) -> None:
    pgn = tmp_path / "x.pgn"
    lengths = []
    for stream in (STREAM[:EARLIER], STREAM[:MIDDLE], STREAM[:EARLIER]):
        recorder = Recorder(cli, pgn)
        recorder.record(stream)
        recorder.end()
        (left,) = open_entries(pgn)
        lengths.append(len(left))
    assert lengths[0] < lengths[1] == lengths[2]


def test_an_entry_in_the_file_of_another_day_is_replaced_there(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "pgn"
    folder.mkdir()
    first = Recorder(cli, f"{folder}/")
    first.record(STREAM[:MIDDLE])
    first.end()
    second = Recorder(cli, f"{folder}/")
    second.record(STREAM)
    second.end()
    keys = [key for path in folder.iterdir() for key in pgn_keys(path)]
    assert len(keys) == len(set(keys)) == PLAYED


MARK = '[RecorderKey "'


def entry(key: str, result: str, *, part: str = "") -> bytes:
    return f'[Event "?"]\n[Result "{result}"]\n{part}{MARK}{key}"]\n\n1. e4 {result}\n\n'.encode()


def test_an_open_entry_is_known_whatever_the_order_of_its_tags(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    turned = f'[Event "?"]\n{MARK}two"]\n[Result "*"]\n\n1. e4 *\n\n'.encode()
    path.write_bytes(entry("one", "1-0") + turned + entry("three", "*") + entry("four", "0-1"))
    assert keys_in(path, MARK) == ({"one", "two", "three", "four"}, {"two", "three"})


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_other_text_of_the_file_stays_byte_for_byte(tmp_path: Path, ends: bytes) -> None:
    path = tmp_path / "x.pgn"
    pieces = [
        b'; [RecorderKey "aa"] in a comment\n',
        entry("aa", "*", part='[RecorderPart "1/2"]\n'),
        b"% between\n",
        entry("aa", "*", part='[RecorderPart "2/2"]\n'),
        b'[Event "not ours"]\n\n*\n',
        entry("bb", "1-0"),
        b"\xff\xfe no end",
    ]
    pieces = [piece.replace(b"\n", ends) for piece in pieces]
    path.write_bytes(b"".join(pieces))
    assert keys_in(path, MARK) == ({"aa", "bb"}, {"aa"})
    file = PgnFile(path)
    found = file.entries(MARK, ["aa", "cc"])
    assert [(one.key, one.open) for one in found] == [("aa", True)] * 2
    assert [one.open for one in file.entries(MARK, ["bb"])] == [False]
    text = entry("cc", "0-1")
    seen = file.replace(found, text)
    pieces[1], pieces[3] = text.replace(b"\n", ends), b""
    assert path.read_bytes() == b"".join(pieces)
    assert seen == ReadPosition(path.stat().st_ino, path.stat().st_size)


@pytest.mark.parametrize(
    ("before", "left", "after"),
    [
        (b"\xef\xbb\xbf", entry("aa", "*"), b""),
        (b"", entry("aa", "*").replace(b"1. e4", b"1. e4 {a note ; {\n\nwith a gap} ; no {"), entry("bb", "1-0")),
        (b"", entry("aa", "*").replace(b"\n\n1. e4", b"\n\n\n1. e4"), entry("bb", "1-0")),
        (b"", entry("aa", "*").replace(b"1. e4", b"1. e4 {never ends"), entry("bb", "1-0")),
    ],
    ids=["byte order mark", "gap in a comment", "two blank lines", "comment without an end"],
)
def test_an_edited_entry_is_replaced_as_a_whole(tmp_path: Path, before: bytes, left: bytes, after: bytes) -> None:
    path = tmp_path / "x.pgn"
    path.write_bytes(before + left + after)
    file = PgnFile(path)
    file.replace(file.entries(MARK, ["aa"]), entry("aa", "0-1"))
    assert path.read_bytes() == before + entry("aa", "0-1") + after


def test_a_program_that_waited_for_the_lock_writes_into_the_new_file(tmp_path: Path) -> None:
    path, link = tmp_path / "real.pgn", tmp_path / "x.pgn"
    path.write_bytes(entry("aa", "*"))
    link.symlink_to(path)
    file = PgnFile(link)
    waiting = threading.Thread(target=append_to, args=(link, entry("bb", "1-0")))
    waiting.start()
    time.sleep(0.1)  # it waits for the lock of the old file
    file.replace(file.entries(MARK, ["aa"]), entry("aa", "0-1"))
    waiting.join()
    assert path.read_bytes() == entry("aa", "0-1") + entry("bb", "1-0")
    assert link.is_symlink()


def append_to(path: Path, text: bytes) -> None:
    file = PgnFile(path)
    file.append(text)
    file.close()


def test_a_full_disk_leaves_the_file_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pgn"
    path.write_bytes(entry("aa", "*"))
    file = PgnFile(path)

    def fail(_file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ExportError, match="No space left"):
        file.replace(file.entries(MARK, ["aa"]), entry("aa", "0-1"))
    assert path.read_bytes() == entry("aa", "*")
    assert list(tmp_path.iterdir()) == [path]
