"""What ICC's datagrams look like, written by our own writers from the reference's field tables."""

from __future__ import annotations

from recorder.model import Game, SourceReport
from recorder.pipeline import Pipeline
from recorder.sources.base import SourceKind

__all__ = ["dg", "read", "started", "told_game"]


def dg(number: int, text: str) -> str:
    """A datagram; ``<`` and ``>`` stand for the marks of a string that may hold anything."""
    return f"\x19({number} {text}\x19)".replace("<", "\x19{").replace(">", "\x19}")


def started(
    number: int = 15, game: int = 7, wild: int = 0, kind: str = "Blitz", played: int = 1, more: str = ""
) -> str:
    """The datagram that begins a game between Ann and Bob, 3 minutes and 2 seconds a move."""
    rest = more or "0 0 0 {} 0"
    return dg(number, f"{game} Ann Bob {wild} {kind} 1 3 2 3 2 {played} {{}} 1500 0 1234567 {{GM}} {{}} {rest}")


def told_game(*moves: str, game: int = 7) -> str:
    """The datagrams of moves: each the fields behind the game's number."""
    return "".join(dg(24, f"{game} {move}") for move in moves)


def read(data: str, *, cut: int | None = None, **options: str) -> tuple[list[Game], SourceReport]:
    """The games of a raw stream; ``cut`` is the size of the pieces it comes in."""
    pipeline = Pipeline(SourceKind.RAW, **options)  # type: ignore[arg-type]
    raw = data.encode("latin-1")
    games = []
    for at in range(0, len(raw), cut or len(raw)):
        games += pipeline.receive(raw[at : at + (cut or len(raw))])
    games += pipeline.finish()
    return games, pipeline.report
