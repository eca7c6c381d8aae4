"""Requests for boards and lists that the tracker lacks."""

import gzip
from pathlib import Path
from typing import NoReturn

import pytest

from recorder.dialects.recogniser import Recogniser
from recorder.events import Chunk, Event, Line
from recorder.live.requests import AskMoves, AskRefresh, Backfill, Request
from recorder.model import Disposition, TimeBasis
from recorder.tracking.tracked_game import TrackedGame
from recorder.tracking.tracker import Tracker
from recorder.wire.lines import LineReader
from tests.edge_cases.scripts import Table
from tests.tracking.answers import RUNNING, movelist

SERVER = Path(__file__).parents[1] / "corpus/server"


class Feed:
    """A tracker and its requests after each piece of input."""

    def __init__(self) -> None:
        self.tracker = Tracker(basis=TimeBasis.NONE)
        self.backfill = Backfill()
        self.recogniser = Recogniser()
        self.offset = 0

    def __call__(self, *lines: str) -> list[Request]:
        asked: list[Request] = []
        for text in lines:
            asked += self.take(self.recogniser.feed([Line(text, self.offset)]))
            self.offset += len(text) + 2
        return asked

    def take(self, events: list[Event]) -> list[Request]:
        self.tracker.feed(events)
        return self.backfill.look(self.tracker, events)


def test_nothing_is_requested_for_a_game_seen_from_its_start() -> None:
    table = Table()
    feed = Feed()
    assert (
        feed(table.observing(), table.frame(), *table.plays("e4", "e5", "Nf3"), table.over("Bob resigns", "1-0")) == []
    )


def test_a_game_joined_in_the_middle_is_requested_once() -> None:
    table = Table()
    feed = Feed()
    moves = table.plays("e4", "e5", "Nf3")
    assert feed(table.observing(), moves[-1]) == [AskMoves(7)]
    assert feed(*table.plays("Nc6", "Bb5"), table.frame()) == []
    assert feed(*movelist("e4", "e5", "Nf3", "Nc6", "Bb5", trailer=RUNNING)) == []
    assert feed(*table.plays("a6")) == []


def test_a_list_that_arrived_unrequested_is_not_requested() -> None:
    table = Table()
    feed = Feed()
    moves = table.plays("e4", "e5", "Nf3")
    feed.tracker.feed(feed.recogniser.feed([Line(text, 0) for text in (table.observing(), moves[-1])]))
    answer = feed.recogniser.feed([Line(text, 1) for text in movelist("e4", "e5", "Nf3", trailer=RUNNING)])
    assert feed.take(answer) == []


def test_a_game_rejoined_after_missed_moves_has_its_moves_requested() -> None:
    table = Table()
    feed = Feed()
    assert feed(table.observing(), table.frame(), *table.plays("e4", "e5"), table.removed()) == []
    table.plays("Nf3", "Nc6")
    assert feed(table.observing(), *table.plays("Bb5")) == [AskMoves(7)]
    assert feed(*table.plays("a6")) == []


def test_each_gap_is_requested_once() -> None:
    table = Table()
    feed = Feed()
    assert feed(table.observing(), table.frame(), *table.plays("e4", "e5")) == []
    table.plays("Nf3", "Nc6", "Bb5")
    assert feed(*table.plays("a6")) == [AskMoves(7)]
    assert feed(*table.plays("Ba4")) == []
    assert feed(*movelist("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", trailer=RUNNING)) == []
    table.plays("Nf6", "O-O", "Be7")
    assert feed(*table.plays("Re1", "b5")) == [AskMoves(7)]


def test_a_gap_that_only_one_move_can_fill_needs_no_request() -> None:
    table = Table()
    feed = Feed()
    assert feed(table.observing(), table.frame(), *table.plays("e4", "e5")) == []
    table.plays("Nf3")
    assert feed(*table.plays("Nc6")) == []


def test_an_examined_game_is_not_requested() -> None:
    table = Table(relation=-2)
    feed = Feed()
    assert feed(*table.plays("e4", "e5")[1:]) == []


def test_an_unreadable_board_is_requested_a_second_time() -> None:
    table = Table()
    feed = Feed()
    feed(table.observing(), table.frame())
    table.plays("e4")
    assert feed(table.frame().replace(" 300 ", " 3x0 ", 1)) == [AskRefresh(7)]
    assert feed(*table.plays("e5")) == []


def test_every_board_is_requested_after_lost_output() -> None:
    first, second = Table(7), Table(8, "Cid", "Dee")
    feed = Feed()
    feed(first.observing(), first.frame(), second.observing(), second.frame(), second.over("Cid resigns", "0-1"))
    assert feed("\x1a") == [AskRefresh(7)]


class Unseen(dict[str, TrackedGame]):
    """Games that must not be read."""

    def values(self) -> NoReturn:
        raise AssertionError("the games were looked at")

    def get(self, _key: str, _default: object = None) -> NoReturn:
        raise AssertionError("the games were looked at")


def test_consecutive_boards_cost_nothing() -> None:
    """Between two consecutive boards the games are not even read."""
    table = Table()
    feed = Feed()
    feed(table.observing(), table.frame())
    feed.tracker.boards.runs = Unseen(feed.tracker.boards.runs)
    assert feed.backfill.look(feed.tracker) == []


@pytest.mark.parametrize("name", ["a07_eight_boards/observer_GuestObsI", "b07_eight_boards/observer_GuestXs"])
def test_a_recorded_session_requests_each_game_joined_in_progress(name: str) -> None:
    data = gzip.decompress((SERVER / f"{name}.raw.gz").read_bytes())
    reader, recogniser = LineReader(), Recogniser()
    tracker, backfill = Tracker(basis=TimeBasis.NONE), Backfill()
    asked: list[Request] = []
    for start in range(0, len(data), 256):
        events = recogniser.feed(reader.receive(Chunk(data[start : start + 256], start)))
        tracker.feed(events)
        asked += backfill.look(tracker, events)
    joined = tracker.boards.frame_counts()[Disposition.JOINED]
    assert joined > 2
    assert {type(request) for request in asked} == {AskMoves}
    assert len(asked) == joined
