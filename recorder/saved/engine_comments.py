"""Comments of programs that let engines play: evaluation, depth, think time and time left behind a move.

Each program has its own form. The score is from the side of the player who moved, except ``wv``, which is White's::

    {+0.35/21 1.9s}                       cutechess, fastchess; seconds
    {0.35/21 1.9s}                        cutechess until 2014
    {-M5/30 0.123s, White mates}          a mate in plies: M1 mates, M3 mates with the second move
    {+0.35/21, 1.9s} {+0.35/21 1.9s Draw by adjudication}   fastchess until 2024
    {+0.35/21 0.8s, tl=9.9s, latency=0.001s, n=99, sd=30, pv="e2e4 e7e5"}   fastchess with more, and time left
    {35/21 812ms} {M3/21 812ms}           c-chess-cli: hundredths of a pawn, a mate in moves
    {+0.35/12 1.9} {+0.35/12 5} {+0.35/12 1:05}   xboard, WinBoard: tenths below 3 s, whole seconds, minutes
    {+0.35/12 +118}                       xboard with -cumulativeTimePGN: seconds left
    {(e7e5) +0.35/12 34} {0.35/12 34 (Nf3)}   Arena and the first seasons of TCEC, with the reply that it expects
    {+0.3/21 1.9; White mates} {+0.35/21 1.9 123456}   Banksia: seconds, then nodes
    {d=21, sd=30, mt=1900, tl=118100, pv=e4 e5, wv=0.35, White wins by adjudication: TCEC win rule}
                                          TCEC; times in milliseconds, or as clocks

The files may break a line behind the point or the slash. The caller reports what only begins so, such as ``+0.35/``. A
score of a tournament (``3.5/7``) and prose (``1-0 would be fair``) do not; nor does ``{35/21}``, which c-chess-cli
writes without times.

Sources: c-chess-cli src/game.c, fastchess app/src/game/pgn/pgn_builder.cpp, xboard backend.c, Banksia
src/chess/chess.cpp; PGN of TCEC-Chess/tcecgames; cutechess#14, #873 (mates in plies), fastchess#594, #702 (commas).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TIME: Final = r"(?:[0-9]{1,3}:)?(?:[0-9]{1,3}:)?[0-9]{1,7}(?:\.[0-9]{1,6})?(?:ms|s)?"
_SCORED: Final = re.compile(
    rf"""
    (?:\([^()]{{2,400}}\)\ ++)?
    (?: ([+-]?)M([0-9]{{1,4}}) | ([+-]?[0-9]{{1,4}}\.\ ?[0-9]{{1,2}})  # 1, 2 mate; 3 pawns
      | ([+-]?[0-9]{{1,5}})(?=/[0-9]{{1,3}}\ [0-9]{{1,8}}ms\Z) )      # 4 hundredths
    /\ ?([0-9]{{1,3}})                                             # 5 depth
    (?:,?\ ++([+-]?{_TIME})(?=[\s,;]|\Z))?                         # 6 think time; with a sign, time left
    (?:\ ++([0-9]{{1,15}})(?=\s|\Z))?                              # 7 nodes
    (?: \Z | [,;\ ] (.*) )                                         # 8 a line of moves, fields, or how the game ended
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_LIKE: Final = re.compile(r"[+-](?:[0-9]{1,4}\.[0-9]{1,2}|M[0-9]{1,4})/|d=[0-9]", re.ASCII)
_KEYED: Final = re.compile(
    r"d=[0-9]{1,5}(?>(?:,++ *+[A-Za-z][A-Za-z0-9]{0,4}=[^,]*+)*)(?:,++ *+[A-Za-z0-9][^,=]*+)?,* *", re.ASCII
)
_FIELD: Final = re.compile(r"(?:\A|, *| )([A-Za-z][A-Za-z0-9]{0,4})=([^,\s]++(?: [^,=]*+(?=,|\Z))?)", re.ASCII)
_QUOTED_PV: Final = re.compile(r'(?:\A|, )pv="([^"]*)"')
_WHITES: Final = re.compile(r"([+-]?)M([0-9]{1,4})|[+-]?[0-9]{1,4}\.[0-9]{1,2}", re.ASCII)
_PRINTED_TIME: Final = re.compile(
    r"(?:(?:([0-9]{1,3}):)?([0-9]{1,3}):)?([0-9]{1,7})(?:\.([0-9]{1,6}))?(ms|s)?", re.ASCII
)
_MOVES: Final = re.compile(r"[a-hKQRBNPO][a-h1-8xO@=+#QRBNqrbn-]{1,9}(?: .*)?", re.DOTALL)
_CECP_MATE_CP: Final = 100_000  # xboard prints a mate in 5 as 1000.05


class PrintedEvaluation(NamedTuple):
    """``score_cp`` in hundredths of a pawn or ``mate`` in moves.

    Attributes:
        by_mover: the engine that moved wrote it, as a comment of the forms above; else the score is from White's side.
        whites: it is from White's side although ``by_mover``.
    """

    score_cp: int | None
    mate: int | None
    depth: int | None
    by_mover: bool = False
    whites: bool = True
    time_ms: int | None = None
    selective_depth: int | None = None
    nodes: int | None = None
    nodes_per_s: int | None = None
    pv: str = ""


class EngineComment(NamedTuple):
    """``elapsed_ms`` is the think time, ``clock_ms`` what is left; ``ms``: parts of a second were printed."""

    evaluation: PrintedEvaluation
    elapsed_ms: int | None
    clock_ms: int | None
    ms: bool


def is_like_engine_comment(text: str) -> bool:
    return _LIKE.match(text) is not None


def read_engine_comment(text: str) -> EngineComment | None:
    """Blanks around the text are cut off; None: an engine's match program wrote no such comment."""
    match = _SCORED.fullmatch(text)
    if match is None:
        return _of_fields(text) if _KEYED.fullmatch(text) else None
    sign, mate_in, pawns, hundredths, depth, time, nodes, rest = match.groups()
    pawns = pawns and pawns.replace(" ", "")
    if pawns is not None and pawns[0] not in "+-" and pawns != "0.00" and (time is None or pawns[-3] != "."):
        return None  # 3.50/7 may be anything
    score_cp, mate = _score(sign, mate_in, pawns) if hundredths is None else (int(hundredths), None)
    if mate_in is not None and time is not None and time.endswith("ms"):
        mate = -int(mate_in) if sign == "-" else int(mate_in)
    fields = dict(_FIELD.findall(rest or ""))
    left = time[1:] if time is not None and time[0] in "+-" else None
    elapsed_ms, exact = _ms(None if left else time, 1000)
    clock_ms, clock_exact = _ms(left or fields.get("tl"), 1000)
    clock_ms = -clock_ms if left and clock_ms is not None and time[0] == "-" else clock_ms
    quoted = _QUOTED_PV.search(rest or "")
    moves = quoted[1] if quoted else (rest or "").strip()
    evaluation = PrintedEvaluation(
        score_cp, mate, int(depth), True, False, elapsed_ms, _whole(fields.get("sd")),
        int(nodes) if nodes else _whole(fields.get("n")), _whole(fields.get("nps")),
        moves if _MOVES.fullmatch(moves) and "=" not in moves else "",
    )  # fmt: skip
    return EngineComment(evaluation, elapsed_ms, clock_ms, exact or clock_exact)


def _of_fields(text: str) -> EngineComment:
    fields = dict(_FIELD.findall(text))
    score_cp = mate = None
    if whites := _WHITES.fullmatch(fields.get("wv", "")):
        score_cp, mate = _score(whites[1] or "", whites[2], None if whites[2] else whites[0])
    elapsed_ms, exact = _ms(fields.get("mt"), 1)
    clock_ms, clock_exact = _ms(fields.get("tl"), 1)
    evaluation = PrintedEvaluation(
        score_cp, mate, _whole(fields.get("d")), True, True, elapsed_ms, _whole(fields.get("sd")),
        _whole(fields.get("n")), None, fields.get("pv", "").strip(),
    )  # fmt: skip
    return EngineComment(evaluation, elapsed_ms, clock_ms, exact or clock_exact)


def _score(sign: str, plies: str | None, pawns: str | None) -> tuple[int | None, int | None]:
    """Centipawns, or moves to the mate: engines' programs count it in plies, the last one the mate itself."""
    if plies is not None:
        moves = (int(plies) + 1) // 2
        return None, -moves if sign == "-" else moves
    score_cp = round(float(pawns or "0") * 100)
    if _CECP_MATE_CP < abs(score_cp) < _CECP_MATE_CP + 1000:
        return None, score_cp - _CECP_MATE_CP if score_cp > 0 else score_cp + _CECP_MATE_CP
    return score_cp, None


def _ms(text: str | None, unit_ms: int) -> tuple[int | None, bool]:
    """Milliseconds, and whether parts of a second were printed; a bare whole number counts in ``unit_ms``."""
    match = _PRINTED_TIME.fullmatch(text) if text else None
    if match is None:
        return None, False
    hours, minutes, seconds, part, unit = match.groups()
    whole = (int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds)
    if unit == "ms" or (unit is None and unit_ms == 1 and part is None and minutes is None):
        return whole, True
    return whole * 1000 + int((part or "0").ljust(3, "0")[:3]), part is not None


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 15 else None
