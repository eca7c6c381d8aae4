"""What the live view draws, and the messages it gets."""

import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recorder.live.screen import Message, draw, rows_for_boards
from recorder.live.status import ObservedBoard, Snapshot


def board(number: int, **facts: object) -> ObservedBoard:
    usual = ObservedBoard(
        number, f"White{number}", f"Black{number}", "blitz", "12. Nf3", 299_500, 61_000, False, 40, 2500
    )
    return usual._replace(**facts)


def snapshot(*boards: ObservedBoard, **facts: Any) -> Snapshot:
    usual = Snapshot(
        pid=1,
        at_ms=0,
        **dict.fromkeys(("matched", "whole", "partly", "recovered", "missed"), 0),
        why={},
        lag_ms=None,
        quiet_ms=None,
        server="chess.example:5000",
        state="recording",
        state_ms=3_700_000,
        retry_ms=None,
        handle="GuestABCD",
        guest=True,
        outages=0,
        received_bytes=12_345_678,
        frames=12_345,
        games=321,
        watched=len(boards),
        waiting=0,
        limit=None,
        tally="24 matched and ended, 22 whole, 2 missed",
        journal="20251121T220000123Z_chess.example_5000_5b1f0c9a3e7d2468_00001.journal",
        journal_bytes=1_234_567,
        synced_ms=430,
        archive="follows the journal",
        first=0,
        boards=boards,
    )
    return replace(usual, **facts)


def screen(shown: Snapshot, messages: list[Message] | None = None, *, width: int = 80, height: int = 24) -> list[str]:
    """Return the lines of a terminal that shows the view."""
    lines = draw(shown, messages or [], 12.34, width=width, height=height)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert max(map(len, plain)) <= max(width, 60)
    return [line.rstrip() for line in plain]


def test_a_small_terminal_has_room_for_all_that_matters() -> None:
    messages = [(f"22:00:0{number}", f"Message {number}.") for number in range(9)]
    lines = screen(snapshot(*(board(number) for number in range(1, 15)), watched=54, waiting=3, limit=60), messages)
    assert lines[0] == " chess.example:5000 as GuestABCD                            recording, 1 h 1 min"
    assert lines[1:5] == [
        " 54 games observed, 3 waiting, at most 60; 321 over; 12,345 boards, 12.3/s",
        " 24 matched and ended, 22 whole, 2 missed",
        " journal 1.2 MB, synced 0.4 s ago; 20251121T220000123Z_chess.example_5000_5b1f0…",
        " archive follows the journal; no outage; 12.3 MB received",
    ]
    assert lines[5].split() == ["game", "White", "Black", "last", "move", "clocks", "lag", "since"]
    assert lines[6].split() == ["1", "White1", "Black1", "12.", "Nf3", "4:59", "1:01", "40ms", "2s"]
    assert lines[19] == " games 1 to 13 of 54"
    assert lines[20:] == [f"22:00:0{number} Message {number}." for number in (5, 6, 7, 8)]


def test_unknown_values_are_a_dash() -> None:
    nothing = ObservedBoard(3, "A", "B", None, None, None, None, None, None, None)
    assert screen(snapshot(nothing))[6].split() == ["3", "A", "B", *"-----"]
    lines = screen(snapshot(journal=None, synced_ms=None, archive=None, handle=None))
    assert lines[3:5] == [" no journal is open", " no archive is kept; no outage; 12.3 MB received"]


def test_clocks_below_zero_and_above_an_hour_and_long_silences() -> None:
    odd = board(3, white_clock_ms=-61_000, black_clock_ms=3_723_000, lag_ms=12_345, quiet_ms=7_500_000)
    assert screen(snapshot(odd))[6].split()[-4:] == ["-1:01", "1:02:03", "12s", "2h"]


def test_a_lost_connection_is_in_the_title() -> None:
    waiting = snapshot(state="waiting", state_ms=65_000, retry_ms=12_000, handle=None, outages=2)
    lines = screen(waiting)
    assert lines[0].endswith("not connected for 1 min 5 s, next try in 12 s")
    assert "2 outages" in lines[4]


def test_what_a_server_sends_cannot_move_the_cursor() -> None:
    lines = screen(snapshot(board(3, white="\x1b[2J")), [("22:00:00", "\x1b[31mred")])
    assert "\x1b" not in "".join(lines)


@given(
    st.integers(20, 250),
    st.integers(5, 80),
    st.lists(st.builds(board, st.integers(-1, 99_999), white=st.text(max_size=40)), max_size=30),
    st.lists(st.tuples(st.just("22:00:00"), st.text(max_size=300)), max_size=10),
)
def test_it_fits_the_terminal(width: int, height: int, boards: list[ObservedBoard], messages: list[Message]) -> None:
    lines = screen(snapshot(*boards), messages, width=width, height=height)
    assert len(lines) <= max(height, rows_for_boards(0) + 11)
