"""Long logs of every awkward kind take work in proportion to their length.

Each case makes a log of a size. Four times the size runs four times as many lines of the program where the work is
linear, and sixteen times as many where it grows with the square.
"""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import cycle, islice

import pytest

from exporters.bpgn import BpgnExporter
from exporters.games_json import GamesJsonExporter
from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import SAVED_KINDS, Game, SourceName, TimeBasis
from recorder.reading import make_pipeline
from recorder.relating import board_order as order
from recorder.relating import grouping as alike
from recorder.relating import grouping as parts
from recorder.relating.compare import Verdicts, compare
from recorder.relating.game_view import View
from recorder.relating.merge import merge_games
from recorder.replay.moments import moments_of_game
from recorder.sources import SourceKind
from tests.edge_cases.scripts import Table, log
from tests.support.steps import count_in_sources, lines_run
from tests.tracking.answers import RUNNING, movelist

_TIMES_LONGER = 4
_MOST_TIMES_THE_LINES = 6
_SMALLER = 10  # than what a clock needs
_SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")

Case = tuple[Callable[[int], bytes], int]


def shuffled(count: int) -> tuple[str, ...]:
    """So many half-moves; every fourth position is the first one again."""
    return tuple(islice(cycle(_SHUFFLE), count))


def observed(*moves: str) -> tuple[Table, list[str]]:
    table = Table()
    return table, [table.observing(), table.frame(), *table.plays(*moves)]


# -- movelists -----------------------------------------------------------------------------------------------------


def lists_alone(count: int) -> bytes:
    """One game's list, printed so often, and no board."""
    return log(*movelist(*shuffled(20), trailer=RUNNING) * count)


def lists_of_many_games(count: int) -> bytes:
    """The lists of so many games in progress, each with a number of its own."""
    return log(*(line for number in range(count) for line in movelist("e4", number=number, trailer=RUNNING)))


def stored_lists(count: int) -> bytes:
    """A finished game's list, printed so often."""
    return log(*movelist(*shuffled(20), number=None, trailer="{Bob resigns} 1-0") * count)


def lists_and_takebacks(count: int) -> bytes:
    """Lists first, then as many takebacks."""
    moves = shuffled(count)
    table, lines = observed(*moves)
    lines += movelist(*shuffled(4), trailer=RUNNING) * count
    return log(*lines, *(table.undo(1) for _ in moves))


def lists_between_gaps(count: int) -> bytes:
    """A list after every board, and lost boards between them."""
    table, lines = observed()
    for _ in range(count):
        lines += [table.plays(*_SHUFFLE)[-1], *movelist(*shuffled(8), trailer=RUNNING)]
    return log(*lines)


def lists_and_variations(count: int) -> bytes:
    """Moves that were taken back, and lists of others that were taken back, too."""
    table, lines = observed()
    for _ in range(count):
        lines += [*table.plays("e4"), *movelist("d4", "d5", "c4", trailer=RUNNING), table.undo(1)]
    return log(*lines)


# -- boards and deltas ---------------------------------------------------------------------------------------------


def takebacks(count: int) -> bytes:
    """The last move of a long game is taken back again and again."""
    moves = shuffled(count)
    table, lines = observed(*moves)
    for _ in moves:
        lines += [table.undo(1), table.play(moves[-1])]
    return log(*lines)


def deltas_and_boards(count: int) -> bytes:
    """Delta boards, and every third one proved by a board."""
    table, lines = observed()
    for number, san in enumerate(shuffled(count)):
        lines += [table.delta(san), *([table.frame()] if number % 3 == 0 else [])]
    return log(*lines)


def late_deltas(count: int) -> bytes:
    """A delta of a ply that was lost in the middle of the game, again and again."""
    _, lines = observed(*shuffled(count))
    far = 2 * count
    for _ in range(count):
        lines += [f"<d1> 7 {far + 9} e4 e2e4 1000 200000 0", f"<d1> 7 {far} e5 e7e5 1000 200000 0"]
    return log(*lines)


# -- examined games ------------------------------------------------------------------------------------------------


def examined(count: int) -> tuple[Table, list[str]]:
    """A line of so many boards, typed."""
    table = Table(relation=2)
    return table, [table.frame(), *table.plays(*shuffled(count))]


def walks(count: int) -> bytes:
    """Back and forth through a long line, a hundred moves at a time."""
    _, boards = examined(count)
    lines = [*boards]
    for _ in range(5):
        for at in range(count - 100, -1, -100):
            lines += ["Game 7: Ann backs up 100 moves.", boards[at]]
        for at in range(100, count + 1, 100):
            lines += ["Game 7: Ann goes forward 100 moves.", boards[at]]
    return log(*lines)


def variations(count: int) -> bytes:
    """Other moves at every fourth place of a long line."""
    table, lines = examined(0)
    for number in range(count):
        lines += table.plays(*_SHUFFLE)
        for other in ("Na3", "Nc3"):
            lines += [table.play(other), f"Game 7: Ann reverts to main line move {number}.", table.undo(1)]
    return log(*lines)


def commits(count: int) -> bytes:
    """Every move that is typed becomes the main line."""
    _, boards = examined(count)
    return log(*(line for board in boards for line in (board, "Game 7: Ann commits the subvariation.")))


def lists_of_examined(count: int) -> bytes:
    """The list's beginning, again and again, while a long line is shown."""
    return log(*examined(count)[1], *movelist(*shuffled(4), trailer=RUNNING) * count)


def takebacks_of_gaps(count: int) -> bytes:
    """A board that no move leads to, and the one before it again."""
    table, lines = observed("e4", "e5")
    before = lines[-1]
    strange = table.frame(board="rnbqkbnr pppp-ppp -------- ----p--- ----P-N- -------- PPPP-PPP R-BQKBNR")
    return log(*lines, *(strange, before) * count)


# -- lines ---------------------------------------------------------------------------------------------------------


def continued_line(count: int) -> bytes:
    """One line in so many parts."""
    return log("Ann tells you: hello", *["\\   <12>"] * count)


# -- saved games ---------------------------------------------------------------------------------------------------


def commented_match(count: int) -> bytes:
    """A saved bughouse match with two comments at every move."""
    tags = "".join(f'[{name} "{name}"]\n' for name in ("WhiteA", "BlackA", "WhiteB", "BlackB"))
    moves = (
        f"{at // 2 + 1}{'Aa'[at % 2]}. {san} {{180}} {{well}} {{C:said}}" for at, san in enumerate(shuffled(count))
    )
    return "\n".join([tags, *moves, "1-0"]).encode()


def illegal_match(count: int) -> bytes:
    """A saved bughouse match of White's moves only, none of them legal: each is a gap."""
    tags = "".join(f'[{name} "{name}"]\n' for name in ("WhiteA", "BlackA", "WhiteB", "BlackB"))
    return f"{tags}{' '.join(f'{at + 1}A. Q@h9 {{1}}' for at in range(count))}\n{{x}} *\n".encode()


def varied_match(count: int) -> bytes:
    """A saved bughouse match with a variation of each move, and one of the first move."""
    tags = "".join(f'[{name} "{name}"]\n' for name in ("WhiteA", "BlackA", "WhiteB", "BlackB"))
    moves = (
        f"{at // 2 + 1}{'Aa'[at % 2]}. {san} ({at // 2 + 1}{'Aa'[at % 2]}. {'ha'[at % 2]}6) (1A. d4 1B. d4)"
        for at, san in enumerate(shuffled(count))
    )
    return "\n".join([tags, *moves, "1-0"]).encode()


def unreadable_game(count: int) -> bytes:
    """A saved game of words that are no moves, each with a comment."""
    return b'[White "A"]\n[Black "B"]\n\n1. e4 ' + b"[bad\n;c\n" * count + b" *\n"


def varied_game(count: int) -> bytes:
    """A saved game with a comment and two variations at each move, behind its last readable one too."""
    moves = (f"{san} {{said}} (a6 {{said}}) (?x? {{said}} h6)" for san in (*shuffled(count), *["?x?"] * count))
    return "\n".join(['[White "A"]\n[Black "B"]\n', *moves, "1-0"]).encode()


CASES: dict[str, Case] = {
    "one game's list again and again": (lists_alone, 100),
    "lists of many games": (lists_of_many_games, 500),
    "a stored game's list again and again": (stored_lists, 100),
    "lists before takebacks": (lists_and_takebacks, 400),
    "lists between gaps": (lists_between_gaps, 150),
    "lists of moves that were taken back": (lists_and_variations, 300),
    "takebacks in a long game": (takebacks, 700),
    "takebacks of boards that no move leads to": (takebacks_of_gaps, 1000),
    "deltas and boards": (deltas_and_boards, 500),
    "late deltas": (late_deltas, 500),
    "a line in thousands of parts": (continued_line, 2500),
    "an examined game, back and forth": (walks, 800),
    "variations of an examined game": (variations, 250),
    "an examined game, committed move by move": (commits, 500),
    "lists of an examined game": (lists_of_examined, 500),
}
PGN_CASES: dict[str, Case] = {
    "a game of words that are no moves": (unreadable_game, 2000),
    "a game with variations": (varied_game, 300),
}
MATCH_CASES: dict[str, Case] = {
    "a match with comments": (commented_match, 500),
    "a match of illegal moves": (illegal_match, 500),
    "a match with variations": (varied_match, 500),
}


_ALL_CASES = ((CASES, SourceKind.RAW), (PGN_CASES, SourceKind.PGN), (MATCH_CASES, SourceKind.BPGN))


def read_all(data: bytes, kind: SourceKind) -> None:
    """Read a source to its end; saved games are written, too."""
    pipeline = make_pipeline(kind)
    games = [*pipeline.receive(data), *pipeline.finish()]
    if kind in SAVED_KINDS:
        for exporter in (PgnExporter(PgnOptions(variations=True)), BpgnExporter(), GamesJsonExporter()):
            exporter.write(games, io.BytesIO())
        for game in games:
            moments_of_game(game)


def print_lines() -> None:
    """Print the lines that run for each case, and those for four times its size."""
    found = {}
    for cases, kind in _ALL_CASES:
        for name, (make, count) in cases.items():
            size = max(10, count // _SMALLER)
            read_all(make(size), kind)  # what is read once and kept
            found[name] = [lines_run(partial(read_all, make(times * size), kind)) for times in (1, _TIMES_LONGER)]
    print(json.dumps(found))


@pytest.fixture(scope="module")
def lines() -> dict[str, list[int]]:
    found: dict[str, list[int]] = json.loads(count_in_sources("tests.test_doubling", "print_lines"))
    return found


@pytest.mark.parametrize("name", [name for cases, _ in _ALL_CASES for name in cases])
def test_work_grows_no_faster_than_the_log(name: str, lines: dict[str, list[int]]) -> None:
    short, long = lines[name]
    assert short > 1000
    assert long <= _MOST_TIMES_THE_LINES * short


@pytest.mark.parametrize("timed", [False, True])
def test_merging_compares_observations_of_one_game_in_proportion_to_their_number(
    timed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0

    def counting(one: View, other: View) -> Verdicts:
        nonlocal compared
        compared += 1
        return compare(one, other)

    for module in (alike, order, parts):
        monkeypatch.setattr(module, "compare", counting)
    (merged,) = merge_games(observations(50, timed=timed))
    assert (len(merged.merged_from), len(merged.evidence)) == (50, 49)
    assert compared <= 2 * 50


def observations(count: int, *, timed: bool) -> list[Game]:
    """One short game in so many logs; ``timed``: each has its own arrival times, within a second."""
    table = Table(ms=True)
    moves = [table.play(san, 1000 + 37 * at) for at, san in enumerate(shuffled(8))]
    pipeline = make_pipeline(SourceKind.RAW, server="chess.example")
    pipeline.receive(log(table.observing(), Table(ms=True).frame(), *moves, table.over("Bob resigns", "1-0")))
    (game,) = pipeline.finish()
    return [seen_from(game, number, 20 * number if timed else None) for number in range(count)]


def seen_from(game: Game, number: int, began_ms: int | None) -> Game:
    """The game in another log, with arrival times from a moment on."""
    (seen,) = game.observations
    rows = [ply._replace(at_ms=None if began_ms is None else began_ms + 900 * ply.ply) for ply in game.plies]
    seen = replace(
        seen,
        source=SourceName(str(number), str(number)),
        started_at_ms=began_ms,
        ended_at_ms=rows[-1].at_ms,
        lines=[replace(seen.lines[0], rows=rows)],
    )
    return replace(
        game,
        key=f"{number:020d}",
        observations=[seen],
        started_at_ms=began_ms,
        time_basis=TimeBasis.NONE if began_ms is None else TimeBasis.UTC,
    )
