"""Games from ``<d1>`` boards: proved moves, gaps and conflicts."""

from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.model import Disposition, Game, LineKind, Origin, Ply, Precision, Proof
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from tests.edge_cases.scripts import Found, Table, details, events, log, only, read, sans
from tests.tracking.answers import movelist

OPENING = ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6")


def read_game(*lines: Any) -> tuple[Found, Game]:
    """Return the result and the game of these lines of a ``Table()``."""
    flat = [part for line in lines for part in ([line] if isinstance(line, str) else line)]
    found = read(log(*flat))
    return found, only(found)


def proofs(game: Game) -> list[Proof]:
    return [Proof(ply.proof) for ply in game.plies]


def test_a_whole_game_of_deltas() -> None:
    table = Table(increment=3)
    found, game = read_game(table.frame(), table.deltas(*OPENING), table.over("Bob resigns", "1-0"))
    assert sans(game) == list(OPENING)
    assert proofs(game) == [Proof.LIST] * 6
    assert (game.complete, game.result, game.variant, found.anomalies()) == (True, "1-0", "chess", [])
    third = game.plies[2]
    assert (third.uci, third.white_clock_ms, third.black_clock_ms) == ("g1f3", 301_000, None)
    assert (third.elapsed_ms, third.lag_ms, third.precision) == (2000, 0, Precision.MILLISECONDS)
    assert (third.origin, third.irreversible, third.flags) == (Origin.DELTA, None, 15)
    assert details(game, "clock") == []
    last = game.observations[0]
    assert game.plies[-1].offset < last.end_offset == game.last_offset


def test_a_lag_that_is_not_printed_is_unknown() -> None:
    table = Table()
    _, game = read_game(table.frame(), table.delta("e4", lag=None))
    assert game.plies[0].lag_ms is None


def test_the_next_board_proves_the_deltas_before_it() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas(*OPENING[:3]), table.play("Nc6"), *table.deltas("Bb5"), table.frame()]
    found, game = read_game(lines, table.delta("a6"))
    assert proofs(game) == [Proof.FULL] * 5 + [Proof.LIST]
    assert [ply.origin for ply in game.plies] == [Origin.DELTA] * 3 + [Origin.FRAME] + [Origin.DELTA] * 2
    assert found.frames(Disposition.START, Disposition.PLY, Disposition.SAME) == [1, 1, 1]
    assert (events(game, "clock"), found.anomalies()) == ([], [])


def test_a_board_with_other_clocks_after_deltas_is_noted() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas(*OPENING[:4])]
    table.clocks[0] += 60_000
    _, game = read_game(lines, table.frame())
    assert details(game, "clock") == ["same-ply"]


def test_a_clock_that_the_move_does_not_explain_is_noted() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas(*OPENING[:4])]
    table.clocks[0] += 60_000
    _, game = read_game(lines, table.deltas("Bb5", "a6"))
    assert [(event.detail, event.value) for event in events(game, "clock")] == [("adjusted", 60_000)]


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", ["O-O", "O-O-O"]),
        ("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", ["e4", "dxe3"]),
        ("1n2k3/P7/8/8/8/8/p7/1N2K3 w - - 0 1", ["axb8=Q+", "Ke7", "Qb2", "axb1=N"]),
    ],
)
def test_castling_en_passant_and_promotion(fen: str, moves: list[str]) -> None:
    table = Table(fen=fen)
    lines = [table.header(), table.frame(), *table.deltas(*moves)]
    _, game = read_game(lines, table.frame())
    board = chess.Board(fen)
    played = [board.push_san(san) for san in moves]
    assert [ply.uci for ply in game.plies] == [move.uci() for move in played]
    assert proofs(game) == [Proof.FULL] * len(moves)


def test_deltas_after_joining_in_mid_game_and_a_movelist() -> None:
    table = Table()
    table.plays(*OPENING[:4])
    joined = table.frame()
    listed = movelist(*OPENING[:4], trailer="{Still in progress} *", number=7)
    _, game = read_game(joined, table.delta("Bb5"), listed, table.delta("a6"), table.over("Bob resigns", "1-0"))
    assert sans(game) == list(OPENING)
    assert [ply.origin for ply in game.plies] == [Origin.MOVELIST] * 4 + [Origin.DELTA] * 2
    assert (proofs(game), game.complete) == ([Proof.LIST] * 3 + [Proof.FULL] + [Proof.LIST] * 2, True)


@pytest.mark.parametrize("connection", ["delta", "frame"])
def test_a_takeback(connection: str) -> None:
    table = Table()
    lines = [table.frame(), *table.deltas("e4", "e5", "Nf3"), repeated := table.delta("Nc6")]
    lines += table.deltas("Bb5", "a6")
    table.clocks[:] = [298_000, 298_000]
    board = table.undo(2)
    _, game = read_game(lines, repeated if connection == "delta" else board, table.deltas("Bc4", "Bc5"))
    assert sans(game) == ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5"]
    assert [event.detail for event in events(game, "takeback")] == ["6-4"]
    back = [line for line in game.observations[0].lines if line.kind is LineKind.TAKEBACK]
    assert [[ply.san for ply in line.plies] for line in back] == [["Bb5", "a6"]]
    assert events(game, "clock") == []


def test_another_move_in_the_place_of_a_known_one_takes_it_back() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas("e4", "e5", "Nf3", "Nc6")]
    table.undo(2)
    found, game = read_game(lines, table.deltas("Bc4", "Bc5"))
    assert sans(game) == ["e4", "e5", "Bc4", "Bc5"]
    assert ([event.detail for event in events(game, "takeback")], found.anomalies()) == (["4-2"], [])


def test_a_repeated_delta_is_no_ply() -> None:
    table = Table()
    lines = [table.frame(), table.delta("e4"), repeated := table.delta("e5")]
    _, game = read_game(lines, repeated, repeated.replace(" 300000 ", " 290000 "))
    assert sans(game) == ["e4", "e5"]
    assert [(event.detail, event.white_clock_ms, event.black_clock_ms) for event in events(game, "clock")] == [
        ("same-ply", None, 290_000)
    ]


def test_missing_deltas_are_a_gap_until_a_board() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas(*OPENING)]
    del lines[3]
    found, game = read_game(lines, table.play("Ba4"), table.delta("Nf6"), table.over("Bob resigns", "1-0"))
    assert [ply.ply for ply in game.plies] == [1, 2, 4, 5, 6, 8]
    assert proofs(game) == [Proof.LIST] * 2 + [Proof.UNPROVED] * 3 + [Proof.LIST]
    assert [ply.uci for ply in game.plies][2:5] == ["b8c6", "f1b5", "a7a6"]
    assert [(event.detail, event.value) for event in events(game, "gap")] == [("lost", 1)]
    assert (game.complete, game.result, found.anomalies()) == (False, "1-0", ["gap"])
    assert found.frames(Disposition.START, Disposition.JOINED) == [1, 1]


def test_a_movelist_proves_the_deltas_after_a_gap_and_finds_the_position() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas(*OPENING)]
    del lines[3]
    listed = movelist(*OPENING, trailer="{Still in progress} *", number=7)
    _, game = read_game(lines, listed, table.deltas("Ba4", "Nf6"), table.over("Bob resigns", "1-0"))
    assert sans(game) == [*OPENING, "Ba4", "Nf6"]
    assert (proofs(game), game.complete) == ([Proof.LIST] * 8, True)


def test_a_delta_that_cannot_be_played_is_a_conflict() -> None:
    for san, smith in (("Nh3", "g1f3"), ("Nf3", "g1f3p"), ("Nf4", "g1f4"), ("O-O", "e1g1c")):
        table = Table()
        lines = [table.frame(), *table.deltas("e4", "e5"), table.delta("Nf3", san_printed=san, smith=smith)]
        found, game = read_game(lines, table.delta("Nc6"), table.over("Bob resigns", "1-0"))
        assert proofs(game) == [Proof.LIST, Proof.LIST, Proof.CONFLICT, Proof.UNPROVED]
        assert (found.anomalies(), game.complete) == (["conflict"], False)


def test_a_game_without_its_position_continues_and_ends_like_others() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas(*OPENING)]
    del lines[3]
    # The last board once more after the end, then the number's next game.
    _, game = read_game(lines, table.over("Bob resigns", "1-0"), table.frame())
    assert len(game.observations) == 1
    for between in ([], [table.created()], [table.removed(), table.observing()]):
        found = read(log(*lines, *between, Table().frame(), Table().play("d4")))
        assert [sans(game)[0] for game in found.games] == ["e4", "d4"]
    other = Table(white="Cid", black="Dora")
    found = read(log(*lines, other.created(), other.frame(), other.play("d4")))
    assert [game.white.handle for game in found.games] == ["Ann", "Cid"]
    found = read(log(*lines, table.removed(), table.observing(), table.frame(), table.play("Ba4")))
    assert only(found).plies[-1].san == "Ba4"


def test_the_last_move_may_follow_the_result() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas("f3", "e5", "g4")]
    mate = table.delta("Qh4#")
    found, game = read_game(lines, table.over("Ann checkmated", "0-1"), mate, mate)
    assert (sans(game)[-1], game.result, found.anomalies()) == ("Qh4#", "0-1", [])


def test_a_takeback_to_before_the_first_board_loses_the_position() -> None:
    table = Table()
    table.plays("e4", "e5", "Nf3")
    early = table.delta("Nc6")
    lines = [Table.frame(table), *table.deltas("Bb5", "a6")]
    board = table.undo(4)
    found, game = read_game(lines, early.replace(" 4 Nc6 ", " 2 e5 ").replace("b8c6", "e7e5"), board, table.play("Bc4"))
    assert [(ply.ply, ply.san, ply.proof) for ply in game.plies] == [(2, "e5", Proof.UNPROVED), (3, "Bc4", Proof.FULL)]
    assert (game.start_ply, game.start_fen, game.complete) == (1, None, False)
    assert "gap" in found.anomalies()


def test_deltas_without_a_board_make_no_game() -> None:
    table = Table()
    table.play("e4")
    found = read(log(table.delta("e5"), table.delta("Nf3")))
    assert (found.games, found.anomalies()) == ([], ["gap", "gap"])


def test_a_game_of_unknown_rules_keeps_its_deltas_unproved() -> None:
    table = Table()
    _, game = read_game(
        table.header("twokings"), table.frame(), table.deltas("e4", "e5"), table.over("Bob resigns", "1-0")
    )
    assert proofs(game) == [Proof.UNPROVED] * 2


def test_a_malformed_delta_is_counted_and_the_next_one_a_gap() -> None:
    table = Table()
    lines = [table.frame(), table.delta("e4"), table.delta("e5", smith="e7-e5"), table.delta("Nf3")]
    found, game = read_game(lines)
    assert (found.anomalies(), [ply.ply for ply in game.plies]) == (["malformed", "gap"], [1, 3])


def test_a_log_that_ends_inside_a_delta_does_not_invent_its_clock() -> None:
    table = Table()
    data = log(table.frame(), table.delta("e4"), table.delta("e5"))
    cut = data.rstrip(b"\n\r")
    for end in range(cut.index(b"<d1> 7 2") + 4, len(cut) + 1):
        found = read(data[:end])
        assert (sans(only(found)), found.anomalies()) == (["e4"], ["cut"])


def test_a_game_in_progress_has_its_deltas() -> None:
    table = Table()
    lines = [table.frame(), *table.deltas("e4", "e5"), table.play("Nf3"), *table.deltas("Nc6", "Bb5"), table.undo(2)]
    lines += [*table.deltas("Nc6"), table.over("Bob resigns", "1-0")]
    pipeline = Pipeline(SourceKind.RAW, in_progress=True)
    shown: list[Ply] = []
    for end in range(1, len(lines) + 1):
        pipeline.receive(log(lines[end - 1]))
        for _, game in pipeline.in_progress.changed():
            shown = game.plies
        assert shown == only(read(log(*lines[:end]))).plies
        assert not pipeline.in_progress.changed()


@given(st.data())
def test_any_mixture_of_boards_and_deltas_gives_the_same_moves(data: st.DataObject) -> None:
    """Random games with takebacks, each ply shown by a board or a delta, have the played moves and times."""
    table = Table(ms=True)
    lines, times = [table.frame()], {}
    last = ""
    for _ in range(data.draw(st.integers(0, 30))):
        if table.board.ply() > 4 and data.draw(st.integers(0, 9)) == 0:
            lines.append(table.undo(2))
            continue
        moves = sorted(table.board.san(move) for move in table.board.legal_moves)
        if not moves:
            break
        mover, elapsed_ms = int(not table.board.turn), data.draw(st.integers(0, 5000))
        shown = table.delta if data.draw(st.booleans()) else table.play
        last = shown(data.draw(st.sampled_from(moves)), elapsed_ms)
        lines.append(last)
        times[table.board.ply()] = (table.elapsed_ms, table.clocks[mover])
    pipeline = Pipeline(SourceKind.RAW)
    games = [*pipeline.receive(log(*lines)), *pipeline.finish()]
    assert len(games) == 1
    assert [ply.uci for ply in games[0].plies] == [move.uci() for move in table.board.move_stack]
    for ply in games[0].plies:
        clock_ms = ply.clock_ms
        assert (ply.elapsed_ms, clock_ms) == times[ply.ply]
    if last.startswith("<12>") and lines[-1] is last:
        assert {ply.proof for ply in games[0].plies} <= {Proof.FULL}
    assert not pipeline.report.anomalies
