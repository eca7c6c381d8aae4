"""Model games built from UCI moves by python-chess: what the tracker would give for a clean log."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import chess
import chess.variant

from recorder.model import (
    Anchor,
    AnchorReason,
    Game,
    GameEnd,
    GameKind,
    LineKind,
    Observation,
    ObservationKind,
    Origin,
    Player,
    Ply,
    PlyLine,
    Precision,
    Proof,
    Segment,
    TimeBasis,
)
from recorder.rules.position import encode_move

SCHOLARS_MATE = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]
STARTED_AT_MS = 1_577_880_000_000  # 2020-01-01 12:00:00


class BughouseBoard(chess.variant.CrazyhouseBoard):
    """Crazyhouse in which every piece can always be dropped: what is in hand comes from the other board."""

    def __init__(self, fen: str | None = chess.variant.CrazyhouseBoard.starting_fen, chess960: bool = False) -> None:
        super().__init__(fen, chess960=chess960)
        self._fill()

    def push(self, move: chess.Move) -> None:
        """Play a move and fill both hands again."""
        super().push(move)
        self._fill()

    def _fill(self) -> None:
        for pocket in self.pockets:
            pocket.reset()
            for piece in (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN):
                pocket.add(piece)


_BOARDS: dict[str, type[chess.Board]] = {
    "bughouse": BughouseBoard,
    "crazyhouse": chess.variant.CrazyhouseBoard,
    "suicide": chess.variant.SuicideBoard,
    "atomic": chess.variant.AtomicBoard,
}

Clocks = Callable[[int], "tuple[int | None, int | None, int | None, int | None]"]


def board_for(variant: str | None, fen: str | None = None) -> chess.Board:
    """A python-chess board of the variant, at ``fen`` or at the variant's start."""
    kind = _BOARDS.get(variant or "chess", chess.Board)
    chess960 = variant in ("chess960", "wild/fr")
    return kind(chess960=chess960) if fen is None else kind(fen, chess960=chess960)


def clocks_by_rule(ply: int) -> tuple[int | None, int | None, int | None, int | None]:
    """White's clock, Black's clock, elapsed and lag after ``ply``: different numbers for every ply."""
    return 300_000 - 1331 * ply, 300_000 - 977 * ply, 0 if ply < 3 else 617 * ply, 7 * ply


def make_plies(
    moves: Sequence[str],
    board: chess.Board,
    clocks: Clocks | None = clocks_by_rule,
    precision: Precision = Precision.MILLISECONDS,
    proof: Proof = Proof.FULL,
    offset: int = 1000,
) -> list[Ply]:
    """Plies of UCI moves played on ``board``, which is advanced."""
    plies = []
    for uci in moves:
        move = board.parse_uci(uci)
        san = board.san(move)
        board.push(move)
        ply = board.ply()
        white_ms, black_ms, elapsed_ms, lag_ms = clocks(ply) if clocks else (None, None, None, None)
        plies.append(
            Ply(
                ply=ply,
                move=encode_move(uci),
                san=san,
                white_clock_ms=white_ms,
                black_clock_ms=black_ms,
                elapsed_ms=elapsed_ms,
                lag_ms=lag_ms,
                at_ms=STARTED_AT_MS + 1000 * ply,
                flags=0,
                irreversible=board.halfmove_clock,
                proof_code=proof.value,
                origin_code=Origin.FRAME.value,
                precision_code=precision.value if clocks else None,
                offset=offset + 200 * ply,
            )
        )
    return plies


def make_game(
    moves: Sequence[str] = SCHOLARS_MATE,
    *,
    variant: str | None = "chess",
    start_fen: str | None = None,
    clocks: Clocks | None = clocks_by_rule,
    precision: Precision = Precision.MILLISECONDS,
    **facts: Any,
) -> Game:
    """A complete rated game seen live from its first move; ``facts`` replace any field of ``Game``."""
    board = board_for(variant, start_fen)
    start_ply = board.ply()
    plies = make_plies(moves, board, clocks, precision)
    white = facts.setdefault("white", Player("Ann", "1708", 1708))
    black = facts.setdefault("black", Player("Bob", "++++", None))
    anchors = [] if start_fen is None else [Anchor(0, start_ply, start_fen, AnchorReason.START, 900)]
    seen = Observation(
        kind=ObservationKind.LIVE,
        game_no=107,
        white=white.handle,
        black=black.handle,
        relation=0,
        offset=900,
        end_offset=2000 + 200 * len(plies),
        started_at_ms=STARTED_AT_MS,
        ended_at_ms=STARTED_AT_MS + 60_000,
        start=None,
        anchors=anchors,
        lines=[PlyLine(0, LineKind.MAIN, None, None, plies)],
    )
    values: dict[str, Any] = {
        "key": "0123456789abcdef0123",
        "kind": GameKind.PLAYED,
        "server": "freechess.org",
        "dialect": "fics",
        "game_no": 107,
        "rated": True,
        "variant": variant,
        "category": "blitz" if variant == "chess" else variant,
        "base_s": 300,
        "increment_s": 0,
        "black_base_s": None,
        "black_increment_s": None,
        "base_inferred": False,
        "variant_inferred": False,
        "start_fen": start_fen,
        "start_ply": start_ply,
        "result": "1-0",
        "reason": "Bob checkmated",
        "reason_key": "checkmate",
        "termination": "normal",
        "end": GameEnd.RESULT,
        "started_at_ms": STARTED_AT_MS,
        "ended_at_ms": STARTED_AT_MS + 60_000,
        "time_basis": TimeBasis.UTC,
        "date_text": None,
        "complete": True,
        "continued": False,
        "partner_game_no": None,
        "me": None,
        "observations": [seen],
        "segments": [Segment(plies[0].ply, plies[-1].ply, 0)] if plies else [],
        "first_offset": 900,
        "last_offset": seen.end_offset,
    }
    return Game(**(values | facts))


def random_moves(seed: int, length: int, variant: str | None = "chess", start_fen: str | None = None) -> list[str]:
    """At most ``length`` random legal moves in UCI."""
    choose = random.Random(seed)
    board = board_for(variant, start_fen)
    moves: list[str] = []
    while len(moves) < length and not board.is_game_over():
        move = choose.choice(list(board.legal_moves))
        moves.append(board.uci(move))
        board.push(move)
    return moves


def random_game(seed: int, length: int = 80, variant: str | None = "chess", **facts: Any) -> Game:
    """A random legal game of its own key."""
    facts.setdefault("key", f"{seed:020x}")
    return make_game(random_moves(seed, length, variant), variant=variant, **facts)
