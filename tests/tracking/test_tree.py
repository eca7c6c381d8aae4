"""The tree of a random walk through a random game, printed as by a server, equals the walk."""

from typing import NamedTuple

import chess
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recorder.model import Game, Proof
from tests.edge_cases.scripts import Table, log
from tests.support import product
from tests.support.effort import examples
from tests.test_pipeline import Archived, by_key, counts, whole

Path = tuple[str, ...]


class Walk(NamedTuple):
    """The printed lines, the path to each shown board, and the typed paths."""

    lines: list[str]
    shown: list[Path]
    stored: Path


def pick(board: chess.Board, choice: int) -> chess.Move | None:
    moves = sorted(board.legal_moves, key=str)
    return moves[choice % len(moves)] if moves else None


def walk(choices: list[int], steps: list[tuple[str, int]], longest: int) -> Walk:
    """Walk like the C servers: forward only along the main line; a typed move begins a variation."""
    board = chess.Board()
    stored: list[chess.Move] = []
    for choice in choices:
        if (move := pick(board, choice)) is None:
            break
        stored.append(move)
        board.push(move)
    path: list[chess.Move] = []
    branch: int | None = None
    table = Table(1, "Henley", "Browne", base=0, clocks=(0, 0), relation=-2)
    lines, shown = [table.frame()], [()]

    def show() -> None:
        board = chess.Board()
        sans = []
        for move in path:
            sans.append(board.san(move))
            board.push(move)
        table.board = board
        lines.append(table.undo(0))
        shown.append(tuple(sans))

    for step, number in steps:
        count = number % longest + 1
        if step == "f" and branch is None:
            lines.append(f"Game 1: Bot goes forward {count} move{'s' if count > 1 else ''}.")
            path = stored[: len(path) + count]
        elif step == "b":
            lines.append(f"Game 1: Bot backs up {count} move{'s' if count > 1 else ''}.")
            path = path[: max(len(path) - count, 0)]
            branch = None if branch is not None and len(path) <= branch else branch
        elif step == "r" and branch is not None:
            lines.append("Game 1: Bot reverts to mainline.")
            path, branch = path[:branch], None
        elif step == "t":
            board = chess.Board()
            for move in path:
                board.push(move)
            if (typed := pick(board, number)) is None:
                continue
            branch = len(path) if branch is None else branch
            path = [*path, typed]
            show()
            lines.append(f"Game 1: Bot moves: {table.pretty}")
            continue
        else:
            continue
        show()
    board = chess.Board()
    sans = []
    for move in stored:
        sans.append(board.san(move))
        board.push(move)
    return Walk(lines, shown, tuple(sans))


def ways_of(game: Game) -> list[dict[tuple[int, int], dict[int, str]]]:
    """Return for each observation: (line, ply) → the known moves to it, by ply."""
    found = []
    for seen in game.observations:
        ways: dict[tuple[int, int], dict[int, str]] = {}
        for line in seen.lines:
            start = line.parent_ply if line.parent_ply is not None else seen.start.ply if seen.start else 0
            way = dict(ways[line.parent, start]) if line.parent is not None else {}
            ways[line.number, start] = way
            for ply in line.plies:
                way = {**way, ply.ply: ply.san}
                ways[line.number, ply.ply] = way
        found.append(ways)
    return found


STEPS = st.lists(st.tuples(st.sampled_from("ffbbrtt"), st.integers(0, 60)), max_size=40)
CHOICES = st.lists(st.integers(0, 60), max_size=14)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(choices=CHOICES, steps=STEPS)
def test_a_walk_by_single_moves_gives_its_tree(choices: list[int], steps: list[tuple[str, int]]) -> None:
    walked = walk(choices, steps, longest=1)
    games, report = product.run([log(*walked.lines)], "raw")
    (game,) = games
    (ways,) = ways_of(game)
    assert {tuple(way.values()) for way in ways.values()} == set(walked.shown)
    assert all(ply.proof == Proof.FULL for line in game.observations[0].lines for ply in line.plies)
    events = [event for event in game.events if event.detail == "shown"]
    assert [tuple(ways[event.value or 0, event.ply].values()) for event in events] == walked.shown
    assert sum(report.frames.values()) == len(walked.shown)
    assert report.anomalies == []


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(choices=CHOICES, steps=STEPS)
def test_jumps_leave_gaps_and_invent_nothing(choices: list[int], steps: list[tuple[str, int]]) -> None:
    walked = walk(choices, steps, longest=7)
    games, report = product.run([log(*walked.lines)], "raw")
    (game,) = games
    assert len(game.observations) == 1
    (ways,) = ways_of(game)
    events = [event for event in game.events if event.detail == "shown"]
    assert len(events) == len(walked.shown)
    for event, path in zip(events, walked.shown, strict=True):
        assert event.ply == len(path)
        assert all(path[ply - 1] == san for ply, san in ways[event.value or 0, event.ply].items())
    ends = {tuple(path[:length]) for path in (*walked.shown, walked.stored) for length in range(len(path) + 1)}
    for way in ways.values():
        if list(way) == list(range(1, len(way) + 1)):
            assert tuple(way.values()) in ends
    assert sum(report.frames.values()) == len(walked.shown)
    assert report.anomalies == []


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(choices=CHOICES, steps=STEPS, first=st.integers(0, 30), longest=st.sampled_from([1, 3, 7]))
def test_boards_without_the_lines_about_them(
    choices: list[int], steps: list[tuple[str, int]], first: int, longest: int
) -> None:
    """A log of boards only, from any board on: nothing is invented, and single steps leave no gap."""
    walked = walk(choices, steps, longest)
    boards = [line for line in walked.lines if not line.startswith("Game 1: ")][first:]
    games, report = product.run([log(*boards)], "raw")
    paths = [tuple(path) for path in walked.shown[first:]]
    known = {path[:length] for path in (*walked.shown, walked.stored) for length in range(len(path) + 1)}
    for game in games:
        for ways in ways_of(game):
            for way in ways.values():
                if way:
                    numbers = list(way)
                    whole = numbers == list(range(numbers[0], numbers[-1] + 1))
                    assert any(
                        len(path) == numbers[-1] and all(path[ply - 1] == san for ply, san in way.items())
                        for path in known
                    ), way
                    assert whole or longest > 1
    assert sum(report.frames.values()) == len(paths)
    assert report.anomalies == []


def test_a_game_gone_through_backwards_is_one_line() -> None:
    """No line says that anybody goes back. Plies that were jumped are inferred if only one sequence fits."""
    table = Table(1, relation=-2)
    boards = [table.frame(), *table.plays("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6")]
    (game,) = product.run([log(*reversed(boards))], "raw")[0]
    assert [ply.san for ply in game.plies] == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6"]
    assert ({ply.proof for ply in game.plies}, game.start_fen, len(game.observations)) == ({Proof.FULL}, None, 1)
    (game,) = product.run([log(*(boards[ply] for ply in (8, 7, 3, 2, 1, 4)))], "raw")[0]
    assert [ply.san for ply in game.plies] == ["e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6"]
    assert [ply.ply for ply in game.plies if ply.proof is Proof.INFERRED] == [5, 6]
    other = Table(1, "Carl", "Dora", relation=-2)
    found = product.run([log(boards[8], *other.plays("e4", "e5"))], "raw")[0]
    assert sorted(game.white.handle for game in found) == ["Ann", "Carl"]


def test_the_stored_line_is_the_main_one_whatever_was_typed_before_it() -> None:
    walked = walk([20, 20, 20], [("t", 3), ("t", 5), ("r", 0), ("f", 0), ("f", 0)], longest=1)
    (game,) = product.run([log(*walked.lines)], "raw")[0]
    assert tuple(ply.san for ply in game.plies) == walked.stored[:2]
    assert [line.parent_ply for line in game.observations[0].lines] == [None, 0]


def test_a_commit_makes_the_variation_the_main_line() -> None:
    walked = walk([20, 20, 20], [("f", 0), ("f", 0), ("b", 0), ("t", 3), ("t", 5)], longest=1)
    lines = [*walked.lines, "Game 1: Bot commits the subvariation."]
    (before,) = product.run([log(*walked.lines)], "raw")[0]
    (game,) = product.run([log(*lines)], "raw")[0]
    assert tuple(ply.san for ply in before.plies) == walked.stored[:2]
    assert tuple(ply.san for ply in game.plies) == walked.shown[-1]
    assert [event.detail for event in game.events][-2:] == ["commit", "log ends here"]


NOTICES = (
    "Game 1: Bot goes forward 3 moves.",
    "Game 1: Bot backs up 2 moves.",
    "Bot backs up 1 move.",
    "Game 1: Bot reverts to main line move 2.",
    "Game 1: Bot commits the subvariation.",
    "Game 1: Bot moves: e4",
    "Game 1: Black checkmated 1-0",
    "Entering setup mode.",
    "Game is validated - entering examine mode.",
    "Starting a game in examine (setup) mode.",
    "Entering examine mode for game 1.",
    "Bot has made you an examiner of game 1.",
    "Removing game 1 from observation list.",
    "You are no longer examining game 1.",
    "Bot(TD)(----)[1] kibitzes: look",
    "<b1> game 1 white [P] black [NQ]",
    "Game 2: Bot goes forward 1 move.",
)
BOARDS = ("start", "played", "played", "played", "other game", "no kings", "small", "list")


def shuffled(choices: list[tuple[str, int]]) -> bytes:
    """Boards and lines in orders that no server prints."""
    lines = []
    for kind, number in choices:
        if kind == "notice":
            lines.append(NOTICES[number % len(NOTICES)])
            continue
        table = Table(1, "Henley", "Browne", base=0, clocks=(0, 0), relation=2 if number % 5 else -2)
        if kind == "list":
            lines += ["Henley (0) vs. Browne (0) --- Mon Nov  4, 08:38 CET 2002"]
            lines += ["Unrated untimed match, initial time: 0 minutes, increment: 0 seconds.", ""]
            lines += ["Move  Henley             Browne", "----  ----------------   ----------------"]
            lines += ["  1.  a3      (0:00)     a6      (0:00)", "      {Still in progress} *", ""]
            continue
        for ply in range(number % 7 if kind == "played" else 0):
            move = pick(table.board, (number // 7) * ply)
            if move is not None:
                table.play(table.board.san(move))
        if kind == "no kings":
            lines.append(table.frame(board="-------- " * 7 + "----Q--P"))
        elif kind == "small":
            lines.append(table.frame(board="a-------" + " --------" * 7))
        elif kind == "other game":
            lines.append(table.frame(number=2, relation=number % 3 - 1))
        else:
            lines.append(table.undo(0))
    return log(*lines)


PLACED_AND_LEFT = [
    *[("played", 1), ("start", 0), ("start", 0), ("notice", 45), ("start", 0), ("notice", 0), ("no kings", 0)],
    *[("list", 0), ("notice", 5), ("start", 0), ("notice", 0), ("notice", 46), ("start", 0)],
]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    choices=st.lists(
        st.one_of(
            st.tuples(st.sampled_from(BOARDS), st.integers(0, 60)),
            st.tuples(st.just("notice"), st.integers(0, 60)),
        ),
        max_size=40,
    ),
    at=st.integers(0, 10_000),
)
@example(PLACED_AND_LEFT, 1509)  # a position set up became a game, which is emitted before the log grows
def test_any_order_of_lines_is_followed_also_in_growing_logs(choices: list[tuple[str, int]], at: int) -> None:
    data = shuffled(choices)
    expected, reference = whole(data)
    assert sum(reference.report.frames.values()) == data.count(b"<12>")
    for game in expected:
        for ways, seen in zip(ways_of(game), game.observations, strict=True):
            for event in seen.events:
                assert event.detail != "shown" or (event.value or 0, event.ply) in ways
    archived = Archived()
    archived.read(data[: at % (len(data) + 1)])
    last = archived.read(data)
    assert by_key(archived.games) == by_key(expected)
    assert counts(last) == counts(reference)
