"""Recorded examinations: read as they grow, looked at while they are in progress, and a lecture."""

from itertools import groupby
from pathlib import Path

import chess
import pytest

from recorder.events import Event
from recorder.model import Game, GameKind
from recorder.tracking.tracker import InProgressTracker
from tests.support import corpus, product
from tests.test_pipeline import Archived, by_key, counts, whole
from tests.tracking.test_tree import ways_of

PUBLIC = Path(__file__).parents[1] / "corpus" / "public"
STREAMS = [
    ("a10_examine", "player_Kramnik"),
    ("a10_examine", "observer_GuestExa"),
    ("b05_examine_bsetup", "player_Kramnik"),
    ("b05_examine_bsetup", "observer_GuestXk"),
    ("c05_examine_bsetup", "observer_GuestXl"),
]


def examined(games: list[Game]) -> list[Game]:
    return [game for game in games if game.kind is not GameKind.PLAYED]


def lines(game: Game, place: int = 0) -> list[tuple[int | None, int | None, str]]:
    """Return an observation's lines: parent, parent's ply, moves."""
    return [
        (line.parent, line.parent_ply, " ".join(ply.san for ply in line.plies))
        for line in game.observations[place].lines
    ]


def shown(game: Game, place: int = 0) -> list[tuple[int | None, int]]:
    """Return the shown positions of an observation: line and ply."""
    return [(event.value, event.ply) for event in game.observations[place].events if event.detail == "shown"]


@pytest.mark.parametrize(("scenario", "connection"), STREAMS)
def test_growing_gives_what_one_reading_gives(scenario: str, connection: str) -> None:
    data = corpus.stream_bytes(scenario, connection)
    expected, reference = whole(data)
    places = [at for at, byte in enumerate(data) if byte == 10]
    for step in (3, 11):
        for first in range(len(places) // 2, len(places), len(places) // step):
            archived = Archived()
            archived.read(data[: places[first] + step])
            last = archived.read(data)
            assert by_key(archived.games) == by_key(expected), places[first]
            assert counts(last) == counts(reference)


def test_growing_line_by_line() -> None:
    data = corpus.stream_bytes(*STREAMS[3])
    expected, reference = whole(data)
    archived = Archived()
    begin = data.index(b"You are now observing game")
    for at in [place for place, byte in enumerate(data) if byte == 10 and place > begin][::3]:
        archived.read(data[: at + 1])
    last = archived.read(data)
    assert by_key(archived.games) == by_key(expected)
    assert counts(last) == counts(reference)


@pytest.mark.parametrize(("scenario", "connection"), STREAMS)
def test_a_look_at_an_examination_in_progress_changes_nothing(
    scenario: str, connection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = corpus.stream_bytes(scenario, connection)
    expected, _ = whole(data)
    seen: list[Game] = []

    class Looking(InProgressTracker):
        def feed(self, events: list[Event]) -> list[Game]:
            games = []
            for event in events:
                games += super().feed([event])
                seen.extend(game for _, game in self.changed())
            return games

    monkeypatch.setattr("recorder.pipeline.Tracker", Looking)
    games, _ = product.run([data], "raw")
    assert games == expected
    for game in examined(expected):
        views = [view for view in seen if view.first_offset == game.first_offset]
        # Shown after every board; the last one shown equals the emitted game, except for its end.
        assert len(views) >= len(shown(game))
        assert lines(views[-1]) == lines(game)


def test_a_lecture() -> None:
    data = (PUBLIC / "pychess-lecturebot.txt").read_bytes()
    games, report = product.run([data], "raw")
    (game,) = examined(games)
    assert (game.white.handle, game.black.handle) == ("Henley", "Browne")
    assert lines(game) == [(None, None, "Nf3 c5 g3 b6")]
    assert shown(game) == [(0, 0), (0, 0), (0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]
    reported = [(event.ply, event.kind.value, event.text) for event in game.events if event.detail in ("names", "move")]
    assert reported == [
        (0, "names", "Henley LectureBot"),
        (0, "names", "Henley Browne"),
        (1, "examine", "Game 1: LectureBot moves: Nf3"),
        (2, "examine", "Game 1: LectureBot moves: c5"),
        (3, "examine", "Game 1: LectureBot moves: g3"),
        (4, "examine", "Game 1: LectureBot moves: b6"),
    ]
    assert sum(report.frames.values()) == data.count(b"<12>")
    assert report.anomalies == []


def test_a_problem_that_the_observer_solves() -> None:
    """Observed, then examined by the recorder's user: one game; each comment belongs to the board it followed."""
    games, _ = product.run([(PUBLIC / "pychess-puzzlebot-1.txt").read_bytes()], "raw")
    (game,) = examined(games)
    assert game.start_fen == "2kr3r/pp2bppp/4bn2/1Npp3q/5B1Q/3B4/PPP2PPP/1K1R3R w - - 0 1"
    assert lines(game) == [(None, None, "Qxh5")]
    assert shown(game) == [(0, 0), (0, 0), (0, 1), (0, 0)]
    assert [(event.ply, event.actor, event.text) for event in game.events if event.kind.value == "chat"] == [
        (0, "puzzlebot", "This is mate problem number [00655]"),
        (0, "puzzlebot", "White moves and mates in 2 moves."),
        (0, "puzzlebot", "There is a better move."),
    ]


def walked(scenario: str) -> list[list[tuple[str, ...]]]:
    """For each examination of a scenario, return the paths to the boards that its commands lead to.

    Server A goes forward along the last typed moves; the others keep the stored game, and typed moves leave it.
    """
    truth = corpus.truth(scenario)
    overwrites = scenario.startswith("a")
    stored: list[str] = [] if scenario.startswith("c") else truth["games"][-1]["moves_san"]
    found: list[list[tuple[str, ...]]] = []
    path: list[str] | None = None
    branch: int | None = None
    for action in truth["chat"][0]["examine_actions"]:
        word, _, number = action["sent"].partition(" ")
        if word == "examine" and not (scenario.startswith("c") and number):
            stored, path, branch = (stored if number else []), [], None
            found.append([()])
        elif word in ("unexamine", "bsetup") and action["by"] == "Kramnik":
            path = None
        elif path is None:
            continue
        elif word == "forward" and branch is None:
            path = stored[: len(path) + int(number or 1)]
        elif word == "backward":
            path = path[: max(0, len(path) - int(number or 1))]
            branch = None if branch is not None and len(path) <= branch else branch
        elif word == "revert" and branch is not None:
            path, branch = path[:branch], None
        else:
            board = chess.Board()
            for san in path:
                board.push_san(san)
            try:
                typed = board.san(board.parse_san(action["sent"]))
            except ValueError:
                continue
            path = [*path, typed]
            if overwrites:
                stored = path
            elif branch is None:
                branch = len(path) - 1
        if path is not None and tuple(path) != found[-1][-1]:
            found[-1].append(tuple(path))
    return found


@pytest.mark.parametrize("scenario", ["a10_examine", "b05_examine_bsetup", "c05_examine_bsetup"])
def test_every_board_is_at_the_place_to_which_the_commands_led(scenario: str) -> None:
    """The driver's truth: each command leads to the shown board, and the tree contains no other move."""
    games, _ = product.run([corpus.stream_bytes(scenario, "player_Kramnik")], "raw")
    walks = walked(scenario)
    stored = tuple(corpus.truth(scenario)["games"][-1]["moves_san"])
    for game, walk in zip(examined(games), walks, strict=False):
        ways = ways_of(game)[0]
        places = [key for key, following in groupby(shown(game)) if list(following)]
        assert len(places) == len(walk)
        for place, way in zip(places, walk, strict=True):
            assert place[1] == len(way)
            known = ways[place[0] or 0, place[1]]
            assert all(way[ply - 1].rstrip("+#") == san.rstrip("+#") for ply, san in known.items())
        # The tree contains only the visited moves and the stored game.
        ends = {way[:length] for way in (*walk, stored) for length in range(len(way) + 1)}
        for known in ways.values():
            if list(known) == list(range(1, len(known) + 1)):
                assert tuple(san.rstrip("+#") for san in known.values()) in {
                    tuple(san.rstrip("+#") for san in way) for way in ends
                }


def test_the_commands_of_the_examinations_are_understood() -> None:
    """Otherwise the test above would compare nothing."""
    scenarios = ("a10_examine", "b05_examine_bsetup", "c05_examine_bsetup")
    assert [[len(walk) for walk in walked(scenario)] for scenario in scenarios] == [[23, 33], [26], [46]]
