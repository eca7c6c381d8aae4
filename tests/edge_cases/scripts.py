"""Small complete transcripts for the edge cases: what a server prints while python-chess plays the moves.

``Table`` is one board on a server; its methods return the lines that an observer or player gets. ``log`` joins lines
as FICS does. ``read`` puts the bytes through the whole pipeline, in three different cuts, and checks what must hold
for every log: cutting changes nothing, and every ``<12>`` and ``<b1>`` of the stream has exactly one disposition.

Nothing here uses the product's own way of writing lines.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import chess
import chess.variant

from recorder.model import Disposition, Game, GameEvent, Proof, SourceReport
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind

PROMPT = "fics% "
_FIELDS = (
    "board",
    "turn",
    "push",
    "castling",
    "irreversible",
    "number",
    "white",
    "black",
    "relation",
    "base",
    "increment",
    "white_material",
    "black_material",
    "white_clock",
    "black_clock",
    "move_no",
    "verbose",
    "elapsed",
    "pretty",
    "flip",
    "ticking",
    "lag",
)


class Found(NamedTuple):
    """What the pipeline returned."""

    games: list[Game]
    report: SourceReport

    def frames(self, *wanted: Disposition) -> list[int]:
        """How many frames got each of the dispositions."""
        return [self.report.frames.get(disposition, 0) for disposition in wanted]

    def holdings(self, *wanted: Disposition) -> list[int]:
        """The same for ``<b1>`` lines."""
        return [self.report.holdings.get(disposition, 0) for disposition in wanted]

    def anomalies(self) -> list[str]:
        """Kinds of the anomalies in order."""
        return [anomaly.kind.value for anomaly in self.report.anomalies]


def read(data: bytes, kind: str = "raw", *, stream: bytes | None = None, cuts: Sequence[int] = ()) -> Found:
    """Put a transcript through the pipeline.

    Args:
        data: the source's bytes. kind: of log.
        stream: the decoded incoming bytes where they are not ``data`` itself.
        cuts: places at which the bytes are cut in a further run.
    """
    found = _run([data], kind)
    pieces = [data[start : start + 7] for start in range(0, len(data), 7)]
    assert _run(pieces, kind) == found
    assert _run([data[start : start + 1] for start in range(len(data))], kind) == found
    if cuts:
        ends = [0, *cuts, len(data)]
        assert _run([data[start:end] for start, end in pairwise(ends)], kind) == found
    decoded = data if stream is None else stream
    assert sum(found.report.frames.values()) == decoded.count(b"<12>")
    assert sum(found.report.holdings.values()) == decoded.count(b"<b1>")
    return found


def _run(blocks: list[bytes], kind: str) -> Found:
    pipeline = Pipeline(SourceKind(kind))
    games = [game for block in blocks for game in pipeline.receive(block)]
    games += pipeline.finish()
    return Found(games, pipeline.report)


def log(*lines: str, end: str = "\n\r") -> bytes:
    """Lines as a server sends them."""
    return "".join(line + end for line in lines).encode("latin-1")


def only(found: Found) -> Game:
    """The one game that came out."""
    assert len(found.games) == 1, [(game.game_no, game.white.handle, sans(game)) for game in found.games]
    return found.games[0]


def sans(game: Game) -> list[str]:
    """The moves of the main line."""
    return [ply.san for ply in game.plies]


def proved(game: Game) -> bool:
    """Whether there are plies and each of them is fully proved."""
    return bool(game.plies) and all(ply.proof == Proof.FULL for ply in game.plies)


def events(game: Game, kind: str) -> list[GameEvent]:
    return [event for event in game.events if event.kind.value == kind]


def details(game: Game, kind: str) -> list[str]:
    return [event.detail for event in events(game, kind)]


class Table:
    """One game on a server. Clocks are milliseconds here; the frame prints them in its unit.

    Args:
        number, white, black: as the frame prints them.
        fen: of the start. chess960, board: other rules by python-chess.
        base: minutes. increment: seconds. clocks: of both at the start, milliseconds.
        ms: whether frames print thousandths. tokens: of a frame.
        relation: to the owner of the log.
    """

    def __init__(
        self,
        number: int = 7,
        white: str = "Ann",
        black: str = "Bob",
        *,
        fen: str | None = None,
        board: chess.Board | None = None,
        base: int = 5,
        increment: int = 0,
        clocks: tuple[int, int] = (300_000, 300_000),
        ms: bool = False,
        tokens: int = 33,
        relation: int = 0,
    ) -> None:
        self.number = number
        self.white = white
        self.black = black
        self.board = board if board is not None else chess.Board(fen or chess.STARTING_FEN)
        self.base = base
        self.increment = increment
        self.clocks = list(clocks)
        self.ms = ms
        self.tokens = tokens
        self.relation = relation
        self.verbose = self.pretty = "none"
        self.elapsed_ms = self.lag_ms = 0
        self.push = -1

    @property
    def pair(self) -> str:
        """``Game 7 (Ann vs. Bob)``."""
        return f"Game {self.number} ({self.white} vs. {self.black})"

    def header(self, category: str = "blitz") -> str:
        """What FICS prints for an observer."""
        times = f"{self.base} {self.increment}"
        return f"Game {self.number}: {self.white} (1500) {self.black} (1600) rated {category} {times}"

    def created(self, category: str = "blitz") -> str:
        """What a server prints when a game begins."""
        return f"{{{self.pair} Creating rated {category} match.}}"

    def observing(self) -> str:
        return f"You are now observing game {self.number}."

    def removed(self) -> str:
        """The answer to ``unobserve``."""
        return f"Removing game {self.number} from observation list."

    def over(self, reason: str, result: str) -> str:
        return f"{{{self.pair} {reason}}} {result}"

    def play(self, san: str, elapsed_ms: int = 2000, lag_ms: int = 0, **changes: object) -> str:
        """Make a move and return its frame. As on FICS neither side's first move costs time."""
        board = self.board
        move = board.parse_san(san)
        self.pretty = _pretty(board, move)
        self.verbose = _verbose(board, move)
        mover = 0 if board.turn else 1
        first = board.ply() < 2
        self.elapsed_ms = 0 if first else elapsed_ms
        self.lag_ms = lag_ms
        piece = board.piece_type_at(move.from_square) if move.drop is None else None
        double = piece == chess.PAWN and abs(move.from_square - move.to_square) == 16
        self.push = chess.square_file(move.from_square) if double else -1
        board.push(move)
        if not first:
            self.clocks[mover] += 1000 * self.increment - self.elapsed_ms
        return self.frame(**changes)

    def delta(self, san: str, elapsed_ms: int = 2000, **changes: object) -> str:
        """Make a move and return its ``<d1>`` line; ``changes`` replace fields by name."""
        board = self.board
        move = board.parse_san(san)
        mover = 0 if board.turn else 1
        fields: dict[str, object] = {"game": self.number, "ply": board.ply() + 1, "san_printed": board.san(move)}
        fields["smith"] = _smith(board, move)
        self.play(san, elapsed_ms)
        fields |= {"elapsed": self.elapsed_ms, "clock": self.clocks[mover], "lag": self.lag_ms}
        assert changes.keys() <= fields.keys()
        return " ".join(str(value) for value in ("<d1>", *(fields | changes).values()) if value is not None)

    def deltas(self, *moves: str) -> list[str]:
        """Make moves and return their ``<d1>`` lines."""
        return [self.delta(san) for san in moves]

    def plays(self, *moves: str) -> list[str]:
        """Make moves and return their frames."""
        return [self.play(san) for san in moves]

    def undo(self, count: int) -> str:
        """Take moves back and return the frame, which shows the move before."""
        boards = self.board
        for _ in range(count):
            boards.pop()
        if boards.move_stack:
            last = boards.pop()
            self.pretty, self.verbose = _pretty(boards, last), _verbose(boards, last)
            boards.push(last)
        else:
            self.pretty = self.verbose = "none"
        self.push = -1
        return self.frame()

    def hands(self, passed: str = "") -> str:
        """The ``<b1>`` line of a crazyhouse board; ``passed`` is what stands after the arrow."""
        white, black = pockets(self.board)
        return f"<b1> game {self.number} white [{white}] black [{black}]{passed and f' <- {passed}'}"

    def frame(self, **changes: object) -> str:
        """The board as it is; ``changes`` replace fields by name, None leaves a field out."""
        fields = self.fields()
        assert changes.keys() <= fields.keys()
        fields.update(changes)
        return " ".join(str(value) for value in ("<12>", *fields.values()) if value is not None)

    def fields(self) -> dict[str, Any]:
        """The frame's fields by name."""
        board = self.board
        unit = 1 if self.ms else 1000
        values = (
            _ranks(board),
            "W" if board.turn else "B",
            self.push,
            " ".join(
                str(int(has(colour)))
                for colour in (chess.WHITE, chess.BLACK)
                for has in (board.has_kingside_castling_rights, board.has_queenside_castling_rights)
            ),
            board.halfmove_clock,
            self.number,
            self.white,
            self.black,
            self.relation,
            self.base,
            self.increment,
            39,
            39,
            self.clocks[0] // unit,
            self.clocks[1] // unit,
            board.fullmove_number,
            self.verbose,
            _elapsed(self.elapsed_ms, self.ms),
            self.pretty,
            0,
            None if self.tokens < 32 else int(board.ply() > 1),
            None if self.tokens < 33 else self.lag_ms,
        )
        return dict(zip(_FIELDS, values, strict=True))


def pockets(board: chess.Board) -> tuple[str, str]:
    """White's and Black's hand of a crazyhouse board in the servers' order."""
    assert isinstance(board, chess.variant.CrazyhouseBoard)
    black, white = ("".join(sorted(str(pocket).upper(), key="PNBRQ".index)) for pocket in board.pockets)
    return white, black


def _pretty(board: chess.Board, move: chess.Move) -> str:
    san = board.san(move)
    return f"P{san}" if san.startswith("@") else san  # servers keep the pawn's letter


def _verbose(board: chess.Board, move: chess.Move) -> str:
    if move.drop is not None:
        return f"{chess.piece_symbol(move.drop).upper()}/@@-{chess.square_name(move.to_square)}"
    if board.is_castling(move):
        return "o-o" if board.is_kingside_castling(move) else "o-o-o"
    letter = chess.piece_symbol(board.piece_type_at(move.from_square) or 0).upper()
    text = f"{letter}/{chess.square_name(move.from_square)}-{chess.square_name(move.to_square)}"
    return text if move.promotion is None else f"{text}={chess.piece_symbol(move.promotion).upper()}"


def _smith(board: chess.Board, move: chess.Move) -> str:
    if board.is_castling(move):
        king, to = chess.square_name(move.from_square), "g" if board.is_kingside_castling(move) else "c"
        return f"{king}{to}{king[1]}{'c' if to == 'g' else 'C'}"
    squares = chess.square_name(move.from_square) + chess.square_name(move.to_square)
    taken = board.piece_type_at(move.to_square)
    mark = "E" if board.is_en_passant(move) else "" if taken is None else chess.piece_symbol(taken)
    return squares + mark + ("" if move.promotion is None else chess.piece_symbol(move.promotion).upper())


def _ranks(board: chess.Board) -> str:
    rows = str(board).replace(" ", "").replace(".", "-").splitlines()
    return " ".join(rows)


def _elapsed(elapsed_ms: int, ms: bool) -> str:
    minutes, rest = divmod(elapsed_ms, 60_000)
    seconds, thousandths = divmod(rest, 1000)
    return f"({minutes}:{seconds:02d}.{thousandths:03d})" if ms else f"({minutes}:{seconds:02d})"
