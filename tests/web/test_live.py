"""What the page of running recordings reads of growing journals, and how it pushes that to pages."""

import asyncio
import gzip
import json
import re
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import recorder.web.live_feed
from recorder.journal import JournalWriter, Sync
from recorder.live.status import RecorderState, StateFile
from recorder.web.live_feed import KEPT_MS, LiveFeed, LiveReader
from recorder.web.live_state import LiveBoard
from recorder.web.server import Access
from tests.support.cli import SERVER, WATCHER
from tests.support.site import HERE, HOSTILE, client_of

STREAM = WATCHER.read_bytes()
TALK = gzip.decompress((SERVER / "a06_chatter_takebacks" / "observer_Euwe.raw.gz").read_bytes())
FRAME = re.compile(rb"^\r?<12> ((?:[^ ]{8} ){8})[^\n\r]*\n", re.MULTILINE)  # not those that chat quotes
BOARD = (
    b"\n\r<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 12 Alice Bob 0 "
    b"3 2 39 39 178 180 1 P/e2-e4 (0:02) e4 0 1 0\n\rfics% "
)
REPLY = (
    b"\n\r<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4 1 1 1 1 0 12 Alice Bob 0 "
    b"3 2 39 39 178 170 2 P/e7-e5 (0:10) e5 0 1 250\n\rfics% "
)
KIBITZ = f"\n\rEve(U)(1500)[12] kibitzes: {HOSTILE}\n\rfics% ".encode()
END = b"\n\r{Game 12 (Alice vs. Bob) Bob resigns} 1-0\n\rfics% "


def writer(folder: Path, **how: Any) -> JournalWriter:
    return JournalWriter(folder, **{"host": "chess.example", "port": 5000, "role": "record", "sync": Sync.OS, **how})


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[JournalWriter]:
    journal = writer(tmp_path)
    journal.note("connected")
    yield journal
    journal.close()


class Clock:
    """A wall clock that a test sets forward."""

    def __init__(self, journal: JournalWriter) -> None:
        self.ms = journal.anchor_utc_ns // 1_000_000

    def __call__(self) -> int:
        self.ms += 1000
        return self.ms


def only(reader: LiveReader) -> LiveBoard:
    reader.look()
    (board,) = reader.state.boards.values()
    return board


@pytest.mark.parametrize("stream", [STREAM, TALK], ids=["standard", "takebacks"])
def test_boards_are_the_last_ones_of_the_growing_journal(tmp_path: Path, journal: JournalWriter, stream: bytes) -> None:
    reader = LiveReader(tmp_path, with_chat=True)
    seen = 0
    for begin in range(0, len(stream), 997):
        journal.received(stream[begin : begin + 997])
        reader.look()
        last = [match[1].decode().strip() for match in FRAME.finditer(stream[: begin + 997])][-1:]
        playing = [board.squares for board in reader.state.boards.values() if board.playing]
        if playing and last:
            assert last[0] in playing
            seen += 1
    assert seen > 5
    assert not reader.look()  # nothing is new
    again = LiveReader(tmp_path, with_chat=True)
    again.look()
    assert again.state.boards.items() <= reader.state.boards.items()  # games that ended before are not shown
    assert again.state.boards
    reader.close()
    again.close()


def test_a_game_with_its_clock_words_and_end(tmp_path: Path, journal: JournalWriter) -> None:
    clock = Clock(journal)
    reader = LiveReader(tmp_path, with_chat=True, now_ms=clock)
    journal.received(BOARD)
    board = only(reader)
    assert (board.white, board.black, board.move, board.marked) == ("Alice", "Bob", "1. e4", ("e2", "e4"))
    assert (board.white_clock, board.running, board.playing, board.result) == ("2:58", "black", True, "")
    journal.received(REPLY + KIBITZ)
    board = only(reader)
    assert (board.move, board.running, board.lag) == ("1… e5", "white", "lag 0.2 s")
    assert [(one.who, one.text) for one in board.kibitzes] == [("Eve", HOSTILE)]
    journal.received(END)
    board = only(reader)
    assert (board.playing, board.running, board.result) == (False, None, "1–0 Bob resigns")
    clock.ms += KEPT_MS + 1000
    reader.look()
    assert reader.state.boards == {}
    (session,) = reader.state.sessions
    assert (session.title, session.state, session.live) == ("record chess.example:5000", "recording", True)
    reader.close()


def test_an_outage_and_a_new_connection(tmp_path: Path) -> None:
    first = writer(tmp_path)
    clock = Clock(first)
    reader = LiveReader(tmp_path, with_chat=True, now_ms=clock)
    first.received(BOARD)
    before = only(reader)
    since = first.anchor_utc_ns + first.now_ns()
    first.note("outage", reason="reset by the server", since_utc_ns=since)
    first.note("closed", how="reset")
    first.close()
    reader.look()
    assert [one.state for one in reader.state.sessions] == ["ended"]
    (left,) = reader.state.boards.values()
    assert (left.squares, left.playing, left.running, left.note) == (before.squares, True, None, "No longer observed.")
    assert re.fullmatch(r"chess\.example:5000: .* UTC to now: reset by the server\.", reader.state.outages[0])
    second = writer(tmp_path)
    second.note("outage", since_utc_ns=since)
    second.note("connected")
    second.received(REPLY)
    board = only(reader)
    assert (board.move, board.pin == before.pin, board.id == before.id) == ("1… e5", True, False)
    assert "Moves are missing" in board.note
    assert re.fullmatch(r"chess\.example:5000: .* UTC to .* UTC, 0 s: reset by the server\.", reader.state.outages[0])
    second.close()
    clock.ms += KEPT_MS
    reader.look()
    reader.look()
    clock.ms += KEPT_MS
    reader.look()
    assert (reader.state.sessions, reader.state.boards) == ((), {})
    reader.close()


def test_a_client_of_a_proxy_that_leaves_is_not_followed_by_another(tmp_path: Path) -> None:
    leaves, stays = writer(tmp_path, role="proxy"), writer(tmp_path, role="proxy")
    reader = LiveReader(tmp_path, with_chat=False, now_ms=Clock(stays))
    leaves.received(BOARD)
    stays.received(BOARD)
    reader.look()
    leaves.note("closed", how="client")
    leaves.close()
    reader.look()
    reader.look()
    comes = writer(tmp_path, role="proxy")
    reader.look()
    reader.look()
    assert sorted(one.state for one in reader.state.sessions) == ["ended", "recording", "recording"]
    comes.close()
    stays.close()
    reader.close()


def test_what_a_recorder_misses_and_why(tmp_path: Path, journal: JournalWriter) -> None:
    clock = Clock(journal)
    state = RecorderState(
        *(7, clock.ms, "chess.example:5000", "recording", None, 1, 9, 3, 4, 2, 0, 1, 1, None, 0, "Guest", True),
        *(journal.path.name, {"the server reported the end too late": 1}),
    )
    file = StateFile(tmp_path)
    file.write(state)
    reader = LiveReader(tmp_path, with_chat=True, now_ms=clock)
    reader.look()
    (session,) = reader.state.sessions
    assert session.title.endswith(" as Guest")
    assert session.lines == (
        "3 games observed.",
        "4 games matched and ended: 2 whole, 1 from a move list, 1 missed.",
        "Missed or in part: 1 because the server reported the end too late.",
        "1 outage since the recorder started.",
    )
    clock.ms += 20_000
    reader.look()
    assert not reader.state.sessions[0].live
    assert reader.state.sessions[0].state.startswith("no sign of the recorder since ")
    file.write(replace(state, at_ms=clock.ms, journal=None, state="waiting", retry_ms=4000))
    reader.look()
    assert [one.state for one in reader.state.sessions] == ["recording", "waiting"]
    assert "the next attempt is 4 s after" in reader.state.sessions[1].lines[0]
    file.remove()
    reader.close()


def test_a_long_journal_is_read_from_its_last_parts_and_in_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = writer(tmp_path, max_bytes=2000)
    for _ in range(12):
        journal.received(STREAM[:1500])
    journal.received(BOARD)
    monkeypatch.setattr(recorder.web.live_feed, "_TURN_BYTES", 500)
    reader = LiveReader(tmp_path, with_chat=False)
    turns = 0
    while reader.look() and reader.state.reading is not None:
        assert reader.state.boards == {}
        turns += 1
    assert 0 < turns < 10
    assert "Alice" in [board.white for board in reader.state.boards.values()]
    journal.close()
    reader.close()


# --- events


async def take(events: AsyncIterator[bytes]) -> tuple[str, dict[str, Any]]:
    """The next event that is no beat."""
    while True:
        text = (await anext(events)).decode()
        match = re.fullmatch(r"event: (\w+)\ndata: (.*)\n\n", text)
        if match and match[1] != "beat":
            return match[1], json.loads(match[2])["data"]


def test_fifty_pages_cost_one_reading_and_a_slow_one_gets_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(1) as thread:  # the browser of other tests has a loop in this one
        thread.submit(asyncio.run, push_to_fifty(tmp_path, monkeypatch)).result(60)


async def push_to_fifty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = writer(tmp_path)
    journal.received(BOARD)
    readers = []

    class Counted(LiveReader):
        def __init__(self, *args: Any, **how: Any) -> None:
            readers.append(self)
            super().__init__(*args, **how)

    monkeypatch.setattr("recorder.web.live_feed.LiveReader", Counted)
    monkeypatch.setattr("recorder.web.live_feed._EVERY_S", 0.005)
    of_other_tests = set(threading.enumerate())
    feed = LiveFeed(tmp_path, with_chat=True)
    pages = [feed.events() for _ in range(50)]
    firsts = await asyncio.gather(*map(take, pages))
    assert {name for name, _ in firsts} == {"whole"}
    slow = pages.pop()
    for number in range(42):
        journal.received(REPLY if number % 2 else BOARD)
        for page in pages:
            name, data = await take(page)
            while name == "whole" or not data["boards"]:  # of the start; only the time of the last record
                name, data = await take(page)
    name, data = await take(slow)
    assert (name, data["boards"][0]["move"]) == ("change", "1… e5")
    assert len(readers) == 1
    feed.close()
    for page in pages:
        async for _ in page:
            pass  # each one ends
    for thread in set(threading.enumerate()) - of_other_tests:
        if thread.name == "live":
            thread.join(60)
            assert not thread.is_alive()
    journal.close()


def test_a_board_with_unknown_pieces_is_not_drawn(archive: Path, journal: JournalWriter, tmp_path: Path) -> None:
    journal.received(BOARD.replace(b"rnbqkbnr", b"?n?qk?nw"))
    feed = LiveFeed(tmp_path, with_chat=False)
    answer = client_of(archive, Access(hosts=HERE), feed).get("/live")
    feed.close()
    assert answer.status_code == 200
    assert "The board cannot be drawn" in answer.text.partition("<template")[0]


def test_the_page_without_a_script(archive: Path, journal: JournalWriter, tmp_path: Path) -> None:
    journal.received(BOARD + KIBITZ)

    def page(query: str, access: Access) -> str:
        feed = LiveFeed(tmp_path, with_chat=access.private)
        try:
            return client_of(archive, access, feed).get(f"/live{query}").text.partition("<template")[0]
        finally:
            feed.close()

    own = page("", Access(hosts=HERE, private=True))
    assert "1. e4" in own
    assert '<h2 id="count">1 game</h2>' in own
    assert "&lt;script&gt;" in own
    assert HOSTILE not in own
    assert "Eve" not in page("", Access(hosts=HERE))  # other computers see no texts, also not those of the events
    feed = LiveFeed(tmp_path, with_chat=False)
    assert [board.kibitzes for board in feed.look().boards.values()] == [()]
    feed.close()
    assert "No game matches." in page("?q=ghost", Access(hosts=HERE))
    assert re.search(r'<main class="listing spoil"', page("?q=ALI&hide=1", Access(hosts=HERE)))
