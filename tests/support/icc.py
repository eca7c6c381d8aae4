"""What ICC's datagrams look like, written by our own writers from the reference's field tables."""

from typing import Any

from recorder.model import Game, SourceReport
from recorder.model.observations import SourceKind
from recorder.pipeline import Pipeline


def dg(number: int, text: str) -> str:
    """A datagram; ``<`` and ``>`` stand for the marks of a string that may hold anything."""
    return f"\x19({number} {text}\x19)".replace("<", "\x19{").replace(">", "\x19}")


def started(
    number: int = 15, game: int = 7, wild: int = 0, kind: str = "Blitz", played: int = 1, more: str = ""
) -> str:
    """The datagram that begins a game between Ann and Bob, 3 minutes and 2 seconds a move."""
    rest = more or "0 0 0 {} 0"
    return dg(number, f"{game} Ann Bob {wild} {kind} 1 3 2 3 2 {played} {{}} 1500 0 1234567 {{GM}} {{}} {rest}")


def sent_moves(*moves: str, game: int = 7) -> str:
    """The datagrams of moves: each the fields behind the game's number."""
    return "".join(dg(24, f"{game} {move}") for move in moves)


def read(data: str, *, cut: int | None = None, **options: Any) -> tuple[list[Game], SourceReport]:
    """The games of a raw stream; ``cut`` is the size of the pieces it comes in."""
    pipeline = Pipeline(SourceKind.RAW, **options)
    raw = data.encode("latin-1")
    games = []
    for at in range(0, len(raw), cut or len(raw)):
        games += pipeline.receive(raw[at : at + (cut or len(raw))])
    games += pipeline.finish()
    return games, pipeline.report


def session() -> bytes:
    """A session in style 13: games after and beside each other, units, a takeback, an examined game, lost data."""
    data = "aics% \r\n" + dg(0, "Ann {}") + dg(124, "35 0") + dg(124, "36 1") + dg(124, "113 0") + "\r\n"
    for at in range(6):
        mine, other = 7 + at % 2, 20 + at
        data += f"\x19[80 *\r\n{started(18, game=other)}{dg(43, f'{other} O')}"
        data += dg(101, f"{other} {{}} 2") + sent_moves("e4 e2e4 180", "e5 e7e5 4", game=other) + "\r\n\x19]\r\n"
        data += started(15, game=mine) + dg(43, f"{mine} PW") + dg(25, f"{mine} *") + dg(56, f"{mine} W 180000 0")
        for move in ("d4 d2d4 5", "d5 d7d5 4", "c4 c2c4 3", "dxc4 d5c4p 2"):
            data += f"\x19[24 Bob\r\n{sent_moves(move, game=mine)}\x19]\r\nSome text of the server.\r\n"
            data += sent_moves("Nf3 g1f3 170", game=other) if move.startswith("c4") else ""
        data += dg(22, f"{mine} 2") + sent_moves("Nf3 g1f3 9", game=mine)
        data += "\x1a" if at == 3 else ""
        data += dg(16, f"{mine} {at % 2} Res 1-0 {{Black resigns}} D06") + "\r\n"
        if at % 2:
            data += dg(43, f"{mine} E") + dg(23, f"{mine} 1") + sent_moves("e3 e2e3 0", game=mine) + dg(17, f"{mine}")
        data += dg(26, f"{other} Cyd {{}} 1 <well\nplayed>") + (dg(19, f"{other}") if at < 4 else "") + "\r\n"
    return data.encode("latin-1")
