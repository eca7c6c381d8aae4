"""A small PGN reader of our own, for variants that python-chess does not know and for looking at exact text.

It shares no code with the exporter: it tokenises by the PGN standard and replays on python-chess boards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import chess
import chess.variant

from tests.exporters.games import BughouseBoard, board_for

TAG = re.compile(r'\[([A-Za-z0-9_]+) "((?:[^"\\]|\\.)*)"\]\s*')
TOKEN = re.compile(r"\s+|\{([^}]*)\}|(\()|(\))|(1-0|0-1|1/2-1/2|\*)(?=\s|$)|\d+\.+|([A-Za-z@][A-Za-z0-9@=+#-]*)")
COMMAND = re.compile(r"\[%(\w+)\s+([^\]]*)\]")


@dataclass
class ReadMove:
    """A move with the comments and variations after it."""

    san: str
    comments: list[str] = field(default_factory=list)
    variations: list[list[ReadMove]] = field(default_factory=list)

    @property
    def commands(self) -> dict[str, str]:
        """``clk`` → ``0:04:57.338`` and so on."""
        return dict(COMMAND.findall(" ".join(self.comments)))


@dataclass
class ReadGame:
    """A game's tags in their order, moves, and the comments after the last move."""

    tags: dict[str, str]
    before: list[str] = field(default_factory=list)
    moves: list[ReadMove] = field(default_factory=list)
    result: str = ""


def read_pgn(text: str) -> list[ReadGame]:
    """Read all games.

    Raises:
        ValueError: something is there that no PGN has.
    """
    games = []
    at = len(text) - len(text.lstrip())
    while at < len(text):
        tags: dict[str, str] = {}
        while match := TAG.match(text, at):
            if match[1] in tags:
                raise ValueError(f"tag {match[1]} twice")
            tags[match[1]] = re.sub(r"\\(.)", r"\1", match[2])
            at = match.end()
        game = ReadGame(tags)
        at = _movetext(text, at, game)
        games.append(game)
        at += len(text[at:]) - len(text[at:].lstrip())
    return games


def _movetext(text: str, at: int, game: ReadGame) -> int:
    stack = [game.moves]
    while True:
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"no PGN: {text[at : at + 40]!r}")
        at = match.end()
        comment, opened, closed, result, san = match.groups()
        if comment is not None:
            (stack[-1][-1].comments if stack[-1] else game.before).append(comment.replace("\n", " "))
        elif opened:
            line: list[ReadMove] = []
            stack[-1][-1].variations.append(line)
            stack.append(line)
        elif closed:
            stack.pop()
        elif result:
            if len(stack) != 1:
                raise ValueError("a variation is not closed")
            game.result = result
            return at
        elif san:
            stack[-1].append(ReadMove(san))


def replay(game: ReadGame) -> chess.Board:
    """Play all moves and variations and return the final board.

    Raises:
        ValueError: a move is not legal, or its SAN is not canonical.
    """
    variant = game.tags.get("Variant", "chess")
    board = board_for("chess960" if variant == "Fischerandom" else variant, game.tags.get("FEN"))
    _play(board, game.moves)
    return board


def _canonical(board: chess.Board, move: chess.Move) -> set[str]:
    """SAN and the FICS archive's for pawn drops.

    Whether a check is mate depends on the other board in bughouse, and in suicide there is neither: any sign will do.
    """
    san = board.san(move)
    drop = f"P{san}" if san.startswith("@") else san
    if not isinstance(board, chess.variant.SuicideBoard | BughouseBoard):
        return {san, drop}
    return {f"{name.rstrip('+#')}{sign}" for name in (san, drop) for sign in ("", "+", "#")}


def _play(board: chess.Board, moves: list[ReadMove]) -> None:
    for move in moves:
        for variation in move.variations:
            _play(board.copy(), variation)
        played = board.parse_san(move.san)
        if move.san not in _canonical(board, played):
            raise ValueError(f"{move.san} is not canonical; {board.san(played)} is")
        board.push(played)
