"""Games and evaluations from the engine lines of a debug file."""

import gzip
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporters.evaluations import score_text, thoughts_by_ply
from exporters.pgn.exporter import PgnExporter
from recorder.model import EventKind, Game, GameKind, LineKind, ObservationKind, Origin, Proof, TimeBasis
from tests.support import corpus, product
from tests.support.effort import examples

ZIPPY = Path(__file__).parents[1] / "corpus" / "server" / "x03_zippy_engines"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def log(*lines: str) -> bytes:
    """Return lines like ``>first: go`` and ``<second: move e7e5``, one second apart."""
    text = ""
    for number, line in enumerate(lines, 1):
        mark, who, words = re.fullmatch(r"([<>])(first|second): (.*)", line).groups()  # type: ignore[union-attr]  # all lines of these tests match
        text += f"{1000 * number} {mark}{who:<6}: {words}\n"
    return text.encode("latin-1")


def games(*lines: str) -> list[Game]:
    return product.run([log(*lines)], "xboard")[0]


def moves(game: Game) -> str:
    return " ".join(ply.san for ply in game.plies)


BEGIN = (">first: xboard", '<first: feature myname="Alpha 1" done=1', ">first: new", ">first: level 0 2 12")


def test_an_engine_against_a_named_opponent() -> None:
    (game,) = games(
        *BEGIN, ">first: name Bob", ">first: rating 2600 1500", ">first: time 12000", ">first: otim 12000",
        ">first: e2e4", "<first:   5  -20   12   900 e5 Nf3", "<first:   6  -25   30  1900 12\te5 Nf3 Nc6",
        "<first: move e7e5", ">first: time 11000", ">first: otim 11900", ">first: usermove g1f3",
        "<first: move Nc6", ">first: result 1-0 {Black resigns}",
    )  # fmt: skip
    assert moves(game) == "e4 e5 Nf3 Nc6"
    assert (game.white.handle, game.white.rating, game.black.handle, game.black.rating) == (
        "Bob",
        1500,
        "Alpha 1",
        2600,
    )
    assert (game.result, game.reason_key, game.termination, game.end, game.complete) == (
        "1-0", "resign", "normal", "result", True,
    )  # fmt: skip
    assert (game.kind, game.variant, game.base_s, game.increment_s) == (GameKind.PLAYED, "chess", 120, 12)
    assert (game.time_basis, game.started_at_ms, game.ended_at_ms) == (TimeBasis.CLOCK, 9000, 17_000)
    assert [(ply.white_clock_ms, ply.black_clock_ms) for ply in game.plies] == [
        (120_000, 120_000), (None, 110_000), (119_000, 110_000), (None, None),
    ]  # fmt: skip
    assert {ply.origin for ply in game.plies} == {Origin.ENGINE}
    (seen,) = game.observations
    assert [
        (t.ply, t.white, t.depth, t.score_cp, t.time_ms, t.nodes, t.tablebase_hits, t.pv) for t in seen.thinking
    ] == [
        (1, False, 5, -20, 120, 900, None, "e5 Nf3"),
        (1, False, 6, -25, 300, 1900, 12, "e5 Nf3 Nc6"),
    ]
    ((ply, thoughts),) = thoughts_by_ply(game).items()
    assert (ply, [score_text(thought) for thought in thoughts]) == (2, ["0.25"])


MATCH = (
    ">first: xboard", '<first: feature myname="Alpha" done=1', ">second: xboard", ">first: new", ">first: force",
    ">second: new", ">second: force", ">first: white", ">first: go", "<first: move e2e4",
    ">second: usermove e2e4", ">second: go", "<second: 1. ... e7e5", ">first: e7e5", "<first: move Nf3",
    ">second: usermove g1f3", ">first: result 1/2-1/2 {Draw claim: 3-fold repetition}",
    ">second: result 1/2-1/2 {Draw claim: 3-fold repetition}",
)  # fmt: skip


def test_two_engines_play_one_game() -> None:
    (game,) = games(*MATCH)
    assert (game.white.handle, game.black.handle, moves(game)) == ("Alpha", "second", "e4 e5 Nf3")
    assert [seen.kind for seen in game.observations] == [ObservationKind.ENGINE] * 2
    assert (game.result, game.reason_key) == ("1/2-1/2", "repetition")


def test_a_match_of_several_games() -> None:
    found = games(*MATCH, *MATCH[3:], *MATCH[3:])
    assert [moves(game) for game in found] == ["e4 e5 Nf3"] * 3
    assert len({game.key for game in found}) == 3
    assert all(before.last_offset < after.first_offset for before, after in pairwise(found))


def test_contradicting_engines_are_two_games() -> None:
    other = [line.replace("usermove g1f3", "usermove d2d4") for line in MATCH]
    assert sorted(moves(game) for game in games(*other)) == ["e4 e5 Nf3", "e4 e5 d4"]


def test_a_move_sent_before_it_was_made_is_no_match() -> None:
    for made in (9, 14):
        lines = list(MATCH)
        lines[made], lines[made + 1] = lines[made + 1], lines[made]
        assert len(games(*lines)) == 2
    lines = list(MATCH)
    lines[12], lines[13] = lines[13], lines[12]  # the second engine's
    assert len(games(*lines)) == 2


def test_a_move_after_the_flag_fell_does_not_count() -> None:
    (game,) = games(*MATCH[:-3], *(f">{who}: result 0-1 {{Black wins on time}}" for who in ("first", "second")))
    assert (moves(game), game.result, game.termination) == ("e4 e5", "0-1", "time forfeit")
    assert [ply.san for line in game.observations[0].lines[1:] for ply in line.plies] == ["Nf3"]
    (game,) = games(*MATCH[:-3], *(f">{who}: result 1-0 {{Black resigns}}" for who in ("first", "second")))
    assert moves(game) == "e4 e5"  # the other engine never got the move


def test_a_move_that_a_dead_engine_did_not_get_counts() -> None:
    """xboard 4.9 saves it so: the first engine died when it got the move."""
    result = "0-1 {Error writing to first chess program}"
    (game,) = games(
        *MATCH[:12],
        "<second: ### NON-COMPLIANT! ### 1. ... e7e5",
        f">first: result {result}",
        f">second: result {result}",
    )
    assert (moves(game), game.result, game.reason_key, game.termination) == (
        "e4 e5", "0-1", "disconnect-loss", "abandoned",
    )  # fmt: skip


def test_an_engine_that_dies_and_is_restarted() -> None:
    """No line reports its end; the interface restarts it for the next game."""
    result = "0-1 {Error: first chess program (alpha) exited unexpectedly}"
    found = games(*MATCH[:-2], f">second: result {result}", *MATCH)
    assert [(moves(game), game.result, game.end, len(game.observations)) for game in found] == [
        ("e4 e5 Nf3", "0-1", "result", 2), ("e4 e5 Nf3", "1/2-1/2", "result", 2),
    ]  # fmt: skip


def test_two_engines_of_one_name() -> None:
    (game,) = games(*MATCH[:3], '<second: feature myname="Alpha" done=1', *MATCH[3:])
    assert (game.white.handle, game.black.handle, moves(game)) == ("Alpha", "Alpha", "e4 e5 Nf3")
    assert len(game.observations) == 2


MARKED = (*MATCH[:12], "<second: # 1. ... e7e5", *MATCH[13:])


def test_moves_logged_as_comments() -> None:
    """xboard does it for old engines with -engineDebugOutput 2; its next line shows that they were moves."""
    (game,) = games(*MARKED)
    assert (game.white.handle, game.black.handle, moves(game)) == ("Alpha", "second", "e4 e5 Nf3")
    (game,) = games(*MARKED[:14], ">first: result * {xboard exit}", ">second: result * {xboard exit}")
    assert (game.white.handle, game.black.handle, moves(game)) == ("Alpha", "second", "e4 e5")


@pytest.mark.parametrize("between", [">first: draw", ">first: force"])
def test_a_comment_with_a_move_counts_only_after_its_answer(between: str) -> None:
    (game,) = games(*BEGIN, ">first: e2e4", "<first: # 1. ... e7e5", between, "<first: # 1. ... c7c5 1. ... d7d5")
    assert moves(game) == "e4"
    found = games(*BEGIN, ">first: e2e4", "<first: # 1. ... e7e5", between, ">first: g1f3")
    assert [moves(game) for game in found] == ["e4 e5 Nf3" if between == ">first: draw" else "e4 g1f3"]
    (game,) = games(*BEGIN, ">first: e2e4", "<first: # 1. ... e7e5", "<first: move c7c5", ">first: g1f3")
    assert moves(game) == "e4 c5 Nf3"


@pytest.mark.parametrize(
    ("level", "times", "control"),
    [
        ("level 40 5 0", (None, None), "40/300"),
        ("level 40 0:30 0", (None, None), "40/30"),
        ("level 20 2 3", (None, None), "20/120+3"),
        ("level 0 0:03 0.25", (None, None), "3+0.25"),
        ("level 0 2 12", (120, 12), "120+12"),
        ("level 1 30", (None, None), "?"),
        ("st 30", (None, None), "?"),
    ],
)
def test_time_controls(level: str, times: tuple[int | None, int | None], control: str) -> None:
    """xboard's own files contain them like this: [TimeControl "40/300"] is its default."""
    (game,) = games(
        ">first: new", ">first: level 0 9 9", f">first: {level}", ">first: e2e4", ">first: level 20 22 0",
        "<first: move e7e5",
    )  # fmt: skip
    assert (game.base_s, game.increment_s) == times
    assert f'[TimeControl "{control}"]' in PgnExporter().game_text(game)


def test_clocks_apply_to_the_move_they_were_sent_for() -> None:
    (game,) = games(
        *BEGIN, ">first: time 12000", ">first: otim 11000", ">first: e2e4", "<first: move e7e5", ">first: g1f3",
        "<first: move b8c6",
    )  # fmt: skip
    assert [(ply.white_clock_ms, ply.black_clock_ms) for ply in game.plies] == [
        (110_000, 120_000), (None, None), (None, None), (None, None),
    ]  # fmt: skip


def test_who_played_is_known_before_the_engine_has_moved() -> None:
    (game,) = games(*BEGIN, ">first: name Bob", ">first: e2e4", ">first: result 1-0 {Black resigns}")
    assert (game.white.handle, game.black.handle, game.kind) == ("Bob", "Alpha 1", GameKind.PLAYED)


def test_a_log_that_ends_before_a_move_is_passed_on() -> None:
    (game,) = games(*MATCH[:-3])
    assert (moves(game), game.end) == ("e4 e5 Nf3", "log-ends")


def test_replay_in_force_mode_and_takebacks() -> None:
    (game,) = games(
        *BEGIN, ">first: force", ">first: e2e4", ">first: e7e5", ">first: undo", ">first: c7c5", ">first: go",
        "<first: move g1f3", ">first: d7d6", "<first: move d2d4", ">first: remove", ">first: b8c6", "<first: move f1b5",
    )  # fmt: skip
    assert moves(game) == "e4 c5 Nf3 Nc6 Bb5"
    assert [
        (line.kind, line.parent_ply, [ply.san for ply in line.plies]) for line in game.observations[0].lines[1:]
    ] == [(LineKind.TAKEBACK, 1, ["e5"]), (LineKind.TAKEBACK, 3, ["d6", "d4"])]
    assert (game.result, game.end, game.complete) == ("*", "log-ends", False)


def test_a_refused_move_is_taken_back() -> None:
    (game,) = games(*BEGIN, ">first: e2e4", "<first: move e7e5", ">first: e1e2", "<first: Illegal move (no): e1e2")
    assert moves(game) == "e4 e5"
    assert [event.detail for event in game.events if event.kind is EventKind.NOTICE] == ["illegal-move"]


def test_moves_that_come_too_late_and_moves_that_cannot_be() -> None:
    found, report = product.run(
        [log(*BEGIN, ">first: e2e4", ">first: force", "<first: move e7e5", ">first: e7e5", ">first: e1e3")], "xboard"
    )
    assert [moves(game) for game in found] == ["e4 e5 e1e3"]
    assert found[0].plies[-1].proof is Proof.UNPROVED
    assert [event.detail for event in found[0].events] == ["move-ignored"]
    assert [(anomaly.kind.value, anomaly.text) for anomaly in report.anomalies] == [("malformed", "e1e3")]


START_OF_MATCH = (
    ">first: xboard", '<first: feature myname="Alpha" done=1', ">first: new", ">first: level 40 5 0",
    ">second: xboard", '<second: feature myname="Beta" done=1', ">second: new", ">second: level 40 5 0",
    ">second: force", ">first: time 30000", ">first: otim 30000", ">first: go",
)  # fmt: skip
PAWN_MOVES = ("h2h4", "g7g5", "h4g5", "h7h6", "g5h6", "a7a6", "h6h7", "a6a5")
SAN_BEFORE = "h4 g5 hxg5 h6 gxh6 a6 h7 a5"


def match(*made: str, sent: dict[int, str] | None = None, result: str | None = "1-0 {Black resigns}") -> list[str]:
    """The lines of two engines that play these moves, as xboard 4.9 writes them: 0.1 s for each move.

    Args:
        sent: the text by which a move is sent on, by its ply; else the text of the engine that made it.
    """
    lines = list(START_OF_MATCH)
    for ply, text in enumerate(made, 1):
        mover, other = ("first", "second") if ply % 2 else ("second", "first")
        spent = 10 * ply
        lines += [f"<{mover}: move {text}", f">{other}: time {30_010 - spent}", f">{other}: otim {30_000 - spent}"]
        lines += [f">{other}: usermove {(sent or {}).get(ply, text)}", *([f">{other}: go"] if ply == 1 else [])]
    return lines + [f">{who}: result {result}" for who in ("first", "second") if result is not None]


def test_each_move_of_a_match_has_its_clock() -> None:
    """The first from the ``otim`` that the other engine is sent in force mode, the last from the other engine, too."""
    for plies in (7, 8):
        (game,) = games(*match(*PAWN_MOVES[:plies]))
        assert [ply.clock_ms for ply in game.plies] == [300_000 - 100 * ply for ply in range(1, plies + 1)]
        assert (game.complete, len(game.observations)) == (True, 2)


@pytest.mark.parametrize(
    "text",
    [
        "h7g8", "hxg8", "h7-g8", "h7xg8", "h7:g8", "hg8", "hxg8(Q)", "h7g8Q", "h7g8=Q", "h7g8q+", "hxg8=Q+", "hxg8Q",
        "hxg8/Q", "Ph7xg8=Q", "P/h7-g8=Q", "hxg8=Q!", "hxg8+", "xg8", "g8",
    ],
)  # fmt: skip
def test_a_promotion_in_any_notation(text: str) -> None:
    """A piece that is not named is the one that xboard sends on; xboard 4.9 reads each of these so."""
    (game,) = games(*match(*PAWN_MOVES, text, "h8g8", sent={9: "h7g8q"}))
    assert moves(game) == f"{SAN_BEFORE} hxg8=Q Rxg8"
    assert {ply.proof for ply in game.plies} == {Proof.LIST}
    assert (game.white.handle, game.black.handle, game.result, game.complete) == ("Alpha", "Beta", "1-0", True)


@pytest.mark.parametrize("variant", ["normal", "crazyhouse", "bughouse", "3check", "mine"])
def test_a_promotion_without_its_piece_is_to_a_queen(variant: str) -> None:
    """Without another engine nothing names it: inferred. In a variant without rules, too."""
    board = f">first: setboard {START}"
    (game,) = games(
        *BEGIN[:3], f">first: variant {variant}", *([board] if variant == "mine" else []), ">first: go",
        *(f"{'>' if ply % 2 else '<'}first: {'usermove' if ply % 2 else 'move'} {text}"
          for ply, text in enumerate((*PAWN_MOVES, "hxg8"))),
    )  # fmt: skip
    assert moves(game) == f"{SAN_BEFORE} hxg8=Q"
    assert [ply.ply for ply in game.plies if ply.proof is Proof.INFERRED] == [9]
    assert "5. hxg8=Q {inferred}" in PgnExporter().game_text(game)


def test_another_piece_that_is_sent_on_counts() -> None:
    (game,) = games(*match(*PAWN_MOVES, "h7g8", "h8g8", sent={9: "h7g8n"}))
    assert moves(game) == f"{SAN_BEFORE} hxg8=N Rxg8"
    assert game.complete


@pytest.mark.parametrize("text", ["Zz9", "h7g8x,", "hxg", "e1e3", "@@@@"])
def test_a_move_that_cannot_be_played_splits_no_game(text: str) -> None:
    """The engine that made it, or both: what follows keeps its side and number; the other engine's view proves it."""
    (game,) = games(*match(*PAWN_MOVES, text, "h8g8", "a2a3", sent={9: "h7g8q"}))
    assert moves(game) == f"{SAN_BEFORE} hxg8=Q Rxg8 a3"
    assert (game.black.handle, game.complete) == ("Beta", True)
    found, report = product.run([log(*match(*PAWN_MOVES, text, "h8g8", "a2a3"))], "xboard")
    (game,) = found
    assert moves(game) == f"{SAN_BEFORE} {text} h8g8 a2a3"
    assert [ply.ply for ply in game.plies if ply.proof is Proof.UNPROVED] == [9, 10, 11]
    assert [ply.clock_ms for ply in game.plies[8:]] == [299_100, 299_000, 298_900]
    assert (game.white.handle, game.black.handle, game.result, game.complete) == ("Alpha", "Beta", "1-0", False)
    assert len(report.anomalies) == 2
    assert '[RecorderComplete "no"]' in PgnExporter().game_text(game)


def test_an_illegal_move_that_loses_is_not_made() -> None:
    reason = "Xboard: Forfeit due to illegal move: e8e6 (e8e6 via `0, `0) res=24"
    lines = [*match(*PAWN_MOVES[:5], result=None), "<second: move e8e6"]
    for words, complete in ((reason, True), ("White wins", False)):
        (game,) = games(*lines, *(f">{who}: result 1-0 {{{words}}}" for who in ("first", "second")))
        assert (moves(game), game.complete) == ("h4 g5 hxg5 h6 gxh6", complete)


def test_an_engine_that_corrects_its_move() -> None:
    (game,) = games(*BEGIN, ">first: e2e4", "<first: move e8e6", "<first: move e7e6", ">first: d2d4")
    assert moves(game) == "e4 e6 d4"
    (game,) = games(*BEGIN, ">first: e2e4", "<first: move e8e6", ">first: undo", "<first: move e7e6", ">first: d2d4")
    assert moves(game) == "e4 e6 d4"


def test_a_move_that_is_refused_without_reason_stands() -> None:
    """xboard makes legal moves only: the engine loses, or is shown the position (-forceIllegalMoves)."""
    played = [*match(*PAWN_MOVES[:5], result=None), "<second: Illegal move: g5h6"]
    claim = "1-0 {False illegal-move claim}"
    (game,) = games(*played, f">first: result {claim}", f">second: result {claim}")
    assert (moves(game), game.complete) == ("h4 g5 hxg5 h6 gxh6", True)
    shown = "rnbqkbnr/pppppp2/7P/8/8/8/PPPPPPP1/RNBQKBNR b KQkq - 0 3"
    (game,) = games(
        *played, ">second: force", f">second: setboard {shown}", ">second: go", "<second: move a7a6",
        ">first: usermove a7a6", "<first: move h6h7", ">second: usermove h6h7", f">first: result {claim}",
        f">second: result {claim}",
    )  # fmt: skip
    assert (moves(game), game.white.handle, game.black.handle) == ("h4 g5 hxg5 h6 gxh6 a6 h7", "Alpha", "Beta")
    assert len(game.observations[1].lines) == 1


def test_a_position_shown_after_a_move_that_cannot_be_played() -> None:
    shown = "rnbqkbnr/pppp1ppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 3"
    (game,) = games(
        *BEGIN, ">first: e2e4", "<first: move e7e5", ">first: usermove Xx9", "<first: move e5e4", ">first: force",
        f">first: setboard {shown}", ">first: go", "<first: move g1f3", ">first: result 1-0 {Black resigns}",
    )  # fmt: skip
    assert (moves(game), game.complete, game.start_fen) == ("e4 e5 Xx9 e5e4 Nf3", False, None)
    assert [ply.proof for ply in game.plies] == [Proof.LIST] * 2 + [Proof.UNPROVED] * 2 + [Proof.LIST]
    text = PgnExporter().game_text(game)
    assert f'[FEN "{shown}"]' in text
    assert "3. Nf3" in text


@pytest.mark.parametrize("by_setboard", [False, True])
@pytest.mark.parametrize("quits", [False, True])
def test_an_engine_replaced_in_mid_game(by_setboard: bool, quits: bool) -> None:
    """It gets the moves of the game in force mode, or its position; both observations keep their engine's name."""
    board = "rnbqkbnr/pppppp2/7P/8/8/8/PPPPPPP1/RNBQKBNR b KQkq - 0 3"
    given = [f"setboard {board}"] if by_setboard else [f"usermove {text}" for text in PAWN_MOVES[:5]]
    lines = [
        *match(*PAWN_MOVES[:5], result=None), ">first: force", ">second: force", *([">second: quit"] * quits),
        ">second: xboard", '<second: feature myname="Gamma" done=1', ">second: new", ">second: force",
        *(f">second: {line}" for line in given), ">second: go", "<second: move a7a6", ">first: usermove a7a6",
        ">first: go", "<first: move h6h7", ">second: usermove h6h7",
        ">first: result 1-0 {Black resigns}", ">second: result 1-0 {Black resigns}",
    ]  # fmt: skip
    (game,) = games(*lines)
    assert moves(game) == "h4 g5 hxg5 h6 gxh6 a6 h7"
    assert (game.white.handle, game.black.handle, game.complete, game.start_fen) == ("Alpha", "Gamma", True, None)
    assert sorted(seen.black for seen in game.observations) == ["Beta", "Gamma", "Gamma"]


def test_a_restart_for_the_next_game_replaces_no_engine() -> None:
    """Both games begin with the same move, and the first has no result."""
    first = [*BEGIN, ">first: usermove e2e4", "<first: move e7e5", ">first: quit"]
    assert [moves(game) for game in games(*first, *BEGIN, ">first: usermove e2e4", "<first: move c7c5")] == [
        "e4 e5", "e4 c5",
    ]  # fmt: skip


def test_edit_with_black_to_move() -> None:
    """xboard sends ``black`` where no pawn on a2 could give Black the move."""
    (game,) = games(
        *BEGIN, ">first: black", ">first: force", ">first: edit", ">first: #", ">first: Ke1", ">first: c",
        ">first: Ke8", ">first: Pa2", ">first: .", ">first: go", "<first: move a2a1", ">first: e1e2",
    )  # fmt: skip
    assert (game.start_fen, moves(game)) == ("4k3/8/8/8/8/8/p7/4K3 b - - 0 1", "a1=Q+ Ke2")


def test_an_extra_move_that_xboard_takes_back_changes_nothing() -> None:
    (game,) = games(
        *BEGIN, ">first: e2e4", ">first: force", "<first: move e7e5", ">first: undo", ">first: c7c5", ">first: go",
    )  # fmt: skip
    assert moves(game) == "e4 c5"


def test_setboard_begins_a_game_with_its_position() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 31"
    (game,) = games(*BEGIN, ">first: force", f">first: setboard {fen}", ">first: go", "<first: move e8e7")
    assert (game.start_fen, game.start_ply, moves(game)) == (fen, 61, "Ke7")
    assert game.plies[0].ply == 62


def test_edit_with_the_move_that_only_gives_black_the_turn() -> None:
    (game,) = games(
        *BEGIN, ">first: force", ">first: a2a3", ">first: edit", ">first: #", ">first: Ke1", ">first: Ra1", ">first: c",
        ">first: Ke8", ">first: .", ">first: go", "<first: move e8d7", ">first: e1c1",
    )  # fmt: skip
    assert game.start_fen == "4k3/8/8/8/8/8/8/R3K3 b Q - 0 1"
    assert moves(game) == "Kd7 O-O-O+"


def test_crazyhouse_and_its_holdings() -> None:
    (game,) = games(
        *BEGIN, ">first: variant crazyhouse", ">first: e2e4", "<first: move d7d5", ">first: e4d5",
        "<first: move d8d5", ">first: holding [P] [P]", ">first: P@e6",
    )  # fmt: skip
    assert (game.variant, moves(game)) == ("crazyhouse", "e4 d5 exd5 Qxd5 P@e6")
    assert [(change.white, change.black, change.ply) for change in game.observations[0].holdings] == [("P", "P", 4)]


@pytest.mark.parametrize("variant", ["shogi", "knightmate", "10x8+0_mine", "unknown", "fischerandom"])
def test_positions_are_never_guessed(variant: str) -> None:
    found, report = product.run(
        [log(*BEGIN, f">first: variant {variant}", ">first: e2e4", "<first: move e7e5")], "xboard"
    )
    assert found == []
    assert [(anomaly.kind.value, anomaly.text) for anomaly in report.anomalies] == [("variant", "e2e4")]


def test_a_board_of_another_size_is_not_followed() -> None:
    fen = "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR w KQkq - 0 1"
    found, report = product.run(
        [log(*BEGIN, ">first: variant capablanca", f">first: setboard {fen}", ">first: a2a4")], "xboard"
    )
    assert found == []
    assert [anomaly.kind.value for anomaly in report.anomalies] == ["malformed", "variant"]


def test_an_unknown_variant_is_followed_from_the_given_position() -> None:
    (game,) = games(
        *BEGIN, ">first: variant light-brigade", f">first: setboard {START}", ">first: e2e3", "<first: move b7b5",
        ">first: f1b5", "<first: move e7e6", ">first: d1h5",
    )  # fmt: skip
    assert (game.variant, moves(game)) == ("light-brigade", "e3 b5 Bf1xb5 e6 Qh5")


def test_chess960_castles_by_letters() -> None:
    fen = "4k3/8/8/8/8/8/8/1R2K2R w HBhb - 0 1"
    (game,) = games(
        *BEGIN, ">first: variant fischerandom", ">first: force", f">first: setboard {fen}", ">first: go",
        "<first: move O-O-O", ">first: e8e7",
    )  # fmt: skip
    assert (game.variant, moves(game), game.plies[0].uci) == ("chess960", "O-O-O Ke7", "e1b1")


@pytest.mark.parametrize(("reported", "san"), [("e1g1", "O-O"), ("e1h1", "O-O"), ("e1c1", "O-O-O"), ("e1f1", "Kf1")])
def test_chess960_castles_by_squares(reported: str, san: str) -> None:
    """A king moves two squares only by castling; with one square only the rook's square shows the castling."""
    fen = "4k3/8/8/8/8/8/8/1R2K2R w HBhb - 0 1"
    (game,) = games(
        *BEGIN, ">first: variant fischerandom", ">first: force", f">first: setboard {fen}", ">first: go",
        f"<first: move {reported}",
    )  # fmt: skip
    assert moves(game).rstrip("+") == san


def test_edit_mode_that_never_ends_ends_with_the_next_game() -> None:
    (game,) = games(*BEGIN, ">first: edit", ">first: #", ">first: new", ">first: e2e4")
    assert (moves(game), game.start_fen) == ("e4", None)


def test_an_analysis_is_no_played_game() -> None:
    (game,) = games(
        *BEGIN, ">first: force", ">first: e2e4", ">first: analyze", "<first:  9 30 10 500 e5 Nf3",
        "<first:                e7e5  g1f3", ">first: .", "<first: stat01: 1234 30000 7 5 30",
        ">first: e7e5", ">first: exit",
    )  # fmt: skip
    assert (game.kind, game.white.handle, moves(game)) == (GameKind.EXAMINED, "?", "e4 e5")
    assert [(t.white, t.pv) for t in game.observations[0].thinking] == [(False, "e5 Nf3 e7e5  g1f3")]


def test_results_and_comments_of_engines() -> None:
    (game,) = games(
        *BEGIN, ">first: e2e4", ">first: draw", "<first: offer draw", "<first: tellall hi there",
        "<first: tellopponent secret", "<first: # 1-0 {not a claim}", "<first: 0-1 {Black mates}", "<first: resign",
    )  # fmt: skip
    assert [(event.kind.value, event.detail) for event in game.events] == [
        ("notice", "draw-offer"), ("notice", "draw-offer"), ("chat", "kibitz"), ("notice", "claim"),
        ("notice", "resign"),
    ]  # fmt: skip
    assert game.result == "*"  # the interface has not sent the end


def test_mates_and_pondering() -> None:
    (game,) = games(
        *BEGIN, ">first: e2e4", "<first: 9 100003 10 500 e5", "<first: move e7e5", "<first: 7 50 90 800 g1f3 b8c6",
        ">first: g1f3", "<first: move b8c6",
    )  # fmt: skip
    found = {ply: [(score_text(t), t.depth) for t in thoughts] for ply, thoughts in thoughts_by_ply(game).items()}
    assert found == {2: [("#-3", 9)], 4: [("-0.50", 7)]}


def test_engine_lines_without_a_game() -> None:
    assert games(">first: xboard", ">first: new", ">first: result * {xboard exit}", "<first: move e2e4") == []


# --- a server's game and its engine


def zippy(name: str) -> list[Game]:
    return product.run([corpus.stream_bytes("x03_zippy_engines", name)], "xboard")[0]


@pytest.mark.parametrize(("name", "colours"), [("xboard_fairymax", "wb"), ("xboard_sjeng", "bw")])
def test_a_servers_game_has_the_engines_view(name: str, colours: str) -> None:
    found = zippy(name)
    assert [[seen.kind for seen in game.observations] for game in found] == [
        [ObservationKind.LIVE, ObservationKind.ENGINE]
    ] * 2
    for game, colour in zip(found, colours, strict=True):
        live, engine = game.observations
        assert [ply.move for ply in engine.lines[0].plies] == [ply.move for ply in live.lines[0].plies]
        assert {segment.observation for segment in game.segments} == {0}
        assert all(ply.origin == Origin.FRAME and ply.elapsed_ms is not None for ply in game.plies)
        assert {thought.white for thought in engine.thinking} == {colour == "w"}


@pytest.mark.parametrize("name", ["xboard_fairymax", "xboard_sjeng"])
def test_scores_and_depths_are_those_that_xboard_saved(name: str) -> None:
    """xboard's own PGN has ``{+0.24/10 2.8}`` after each move of the engine, from the engine's side."""
    saved = (ZIPPY / f"{name}.saved.pgn").read_text()
    wanted = [
        [(score, int(depth)) for score, depth in re.findall(r"\{([-+][0-9.]+)/([0-9]+)\s", part)]
        for part in saved.split("[Event ")[1:]
    ]
    compared = 0
    for game in zippy(name):
        mine = []
        for _, thoughts in sorted(thoughts_by_ply(game).items()):
            assert thoughts[0].score_cp is not None
            mine.append((f"{thoughts[0].score_cp / 100:+.2f}", thoughts[0].depth))
        if game.result != "*":  # xboard did not save the other
            assert mine in wanted
            compared += len(mine)
    assert compared > 20


def test_another_players_game_gets_no_view() -> None:
    """Another player's name, other moves, or the same moves at another time are not one game."""
    whole = corpus.stream_bytes("x03_zippy_engines", "xboard_fairymax")
    for before, after in ((rb">first : name Vera", rb">first : name Else"), (rb"move c2c3", rb"move c2c4")):
        found = product.run([whole.replace(before, after)], "xboard")[0]
        first = next(game for game in found if game.dialect != "cecp")
        assert [seen.kind for seen in first.observations] == [ObservationKind.LIVE]
    late = b"".join(line for line in whole.splitlines(True) if not re.match(rb"[0-9]+ [<>]first", line)) + b"".join(
        line for line in whole.splitlines(True) if re.match(rb"[0-9]+ [<>]first", line)
    )
    found = product.run([late], "xboard")[0]
    assert sorted(len(game.observations) for game in found) == [1] * len(found)
    assert len(found) == 4


@settings(max_examples=examples(5), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(draw=st.data())
def test_any_chunks_of_a_debug_file_give_the_same_games(draw: st.DataObject) -> None:
    data = gzip.decompress((ZIPPY / "xboard_fairymax.debug.gz").read_bytes()) + log(*MATCH, *MATCH[3:])
    whole = product.run([data], "xboard")
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=6)))
    pieces = [data[start:stop] for start, stop in pairwise([0, *cuts, len(data)])]
    assert product.run(pieces, "xboard") == whole
    assert len(whole[0]) == 4


LINES = [
    *MATCH, *BEGIN, ">first: undo", ">first: remove", ">first: edit", ">first: c", ">first: .",
    f">first: setboard {START}", ">first: setboard 8/8 w", "<second: move e7e5", "<first: Illegal move: e2e4",
    ">second: quit", ">first: variant bughouse", ">first: holding [P] [Q] BQ", "<first: 3 4 5 6 e4",
    "<first:      d2d4", ">first: analyze", ">first: playother",
]  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_any_conversation_gives_games_and_no_error(lines: list[str]) -> None:
    for game in games(*lines):
        plies = [ply.ply for ply in game.plies]
        assert plies == list(range(game.start_ply + 1, game.start_ply + 1 + len(plies)))


@settings(max_examples=examples(50))
@given(st.text(st.characters(max_codepoint=255, exclude_characters="\n"), max_size=40), st.booleans())
def test_any_line_is_taken(text: str, reported: bool) -> None:
    product.run([log(*MATCH[:8]) + f"9 {'>' if reported else '<'}first : {text}\n".encode("latin-1")], "xboard")


def test_a_new_run_continues_no_line() -> None:
    lines = (">first: e7e5", "<first: 3 4 5 6 e4", ">first: xboard", ">first: analyze", "<first:      d2d4")
    assert not [
        thought
        for game in games(*lines)
        for seen in game.observations
        for thought in seen.thinking
        if "d2d4" in thought.pv
    ]
