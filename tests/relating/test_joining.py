"""Halves of adjourned games: joined while a log is read, and where the second half was first seen some moves later."""

import random
from pathlib import Path

import pytest

import recorder.relating.merge
from recorder.containment import SWITCH, Failures
from recorder.model import Game, SourceKind
from recorder.reading import HalfJoiner, joined_games, make_pipeline, read_games
from recorder.relating.merge import merge_games
from tests.edge_cases.scripts import Table, log, read, sans
from tests.tracking.answers import movelist

MOVES = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7", "Re1", "b5", "Bb3", "d6"]
HALF = 8
BANNER = "Welcome to the FatICS server."
#: The thinking times in seconds; neither side's first move costs any.
SPENT = [0, 0, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7]


def _plays(table: Table, begin: int, end: int) -> list[str]:
    return [table.play(san, elapsed_ms=1000 * SPENT[at]) for at, san in enumerate(MOVES[begin:end], begin)]


def _list(moves: list[str], spent: list[int]) -> list[str]:
    halves = [f"{san:<7} (0:{seconds:02d})" for san, seconds in zip(moves, spent, strict=True)]
    rows = [f"{row + 1:3d}.  {'     '.join(halves[2 * row : 2 * row + 2])}" for row in range((len(halves) + 1) // 2)]
    empty = movelist(trailer="{Still in progress} *", number=9)
    return [*empty[:-1], *rows, empty[-1]]


def _log(joined: int, spent: list[int], *, continued: bool = False, between: int = 0) -> bytes:
    """A game adjourned after ``HALF`` plies and seen again from a later ply on, with other games between."""
    table = Table()
    lines = ["fics% FatICS", table.observing(), table.header(), table.frame(), *_plays(table, 0, HALF)]
    lines.append(table.over("Game adjourned by agreement", "*"))
    for number in range(between):
        other = Table(20 + number, f"Cid{number}", "Dan")
        lines += [other.observing(), other.header(), other.frame(), other.play("d4"), other.over("Dan resigns", "1-0")]
    table.number = 9
    if continued:
        lines.append(f"{{{table.pair} Continuing rated blitz match.}}")
    seen = _plays(table, HALF, joined)
    lines += [table.observing(), table.header(), seen[-1] if seen else table.frame()]
    if joined > HALF or spent:
        lines += _list(MOVES[:joined], spent)
    lines += _plays(table, joined, len(MOVES))
    return log(*lines, table.over("Bob resigns", "1-0"))


def _games(tmp_path: Path, data: bytes) -> list[Game]:
    (tmp_path / "log").write_bytes(data)
    return list(read_games(tmp_path / "log", server="FatICS"))


@pytest.mark.parametrize("joined", [HALF, HALF + 1, HALF + 4])
@pytest.mark.parametrize("zero", [False, True])
def test_halves_are_one_game(tmp_path: Path, joined: int, zero: bool) -> None:
    """Some servers print 0 for every move that was made before the game was adjourned."""
    spent = [0 if zero and at < HALF else seconds for at, seconds in enumerate(SPENT[:joined])]
    (game,) = _games(tmp_path, _log(joined, spent))
    assert sans(game) == MOVES
    assert (game.result, game.end, game.complete, len(game.merged_from)) == ("1-0", "result", True, 2)
    assert [ply.elapsed_ms for ply in game.plies] == [1000 * seconds for seconds in SPENT]
    assert all(seen.source is None for seen in game.observations)


def test_halves_that_an_error_of_this_program_keeps_from_being_joined_are_two_games(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: object) -> list[Game]:
        raise ValueError("boom")

    monkeypatch.delenv(SWITCH)
    monkeypatch.setattr(recorder.relating.merge, "merge_games", fail)
    pipeline = make_pipeline(SourceKind.RAW)
    second, first = joined_games(pipeline, [_log(HALF, [])])
    assert (sans(first), sans(second)) == (MOVES[:HALF], MOVES[HALF:])
    (found,) = pipeline.report.failures
    assert (found.offset, found.game_no, found.text) == (second.first_offset, 9, "Ann - Bob")
    assert found.message.startswith("ValueError: boom (test_joining.py:")


def test_a_list_with_other_times_or_moves_is_of_another_game(tmp_path: Path) -> None:
    other = [seconds + 5 for seconds in SPENT]
    assert len(_games(tmp_path, _log(HALF + 4, other[: HALF + 4]))) == 2
    others = _log(HALF + 4, SPENT[: HALF + 4]).replace(b"Ba4     (0:07)", b"Bxc6    (0:07)")
    assert all(not game.merged_from for game in _games(tmp_path, others))


def test_other_games_pass_while_a_half_waits() -> None:
    found = read(_log(HALF, [], between=3))
    joiner = HalfJoiner(Failures())
    given = [[one.white.handle for one in joiner.take(game)] for game in found.games]
    assert sorted(name for names in given for name in names) == ["Ann", "Cid0", "Cid1", "Cid2"]
    assert given[[game.white.handle for game in found.games].index("Ann")] == []
    assert joiner.finish() == []


def _begun(game: Game) -> int:
    return game.first_offset


def test_a_game_that_was_never_resumed_comes_at_the_end() -> None:
    table = Table()
    data = log(table.frame(), *_plays(table, 0, HALF), table.over("Game adjourned by agreement", "*"))
    (half,) = read(data).games
    joiner = HalfJoiner(Failures())
    assert joiner.take(half) == []
    assert joiner.finish() == [half]
    assert joiner.finish() == []


def test_the_order_of_sources_does_not_matter() -> None:
    games = read(_log(HALF + 4, SPENT[: HALF + 4])).games
    for _ in range(3):
        random.shuffle(games)
        assert merge_games(games) == merge_games(sorted(games, key=_begun))
