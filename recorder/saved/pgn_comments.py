"""What stands in a comment of movetext: clocks and elapsed times in every dialect, evaluations, and words.

Sources: ``[%clk]`` and ``[%emt]`` of the PGN additions of 2001 (h:mm:ss); ``[%emt 2.063]`` in plain seconds of the FICS
games database and Raptor; ``{1.015}``, elapsed seconds without a name; ``[%clkms]`` of BabasChess; ``{0:04:57}`` of
ICC's clients; ``[%eval]`` of lichess
(pawns or ``#moves``, from White's side, a depth behind a comma) and of ChessBase (``33,20``: hundredths of a pawn);
``[%flag]`` and ``[%lag]`` are our own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from recorder.saved.pgn_text import decoded

__all__ = ["NEVER", "TENTHS", "THOUSANDTHS", "PrintedEvaluation", "Remark", "read_remark", "read_time"]

_COMMAND: Final = re.compile(r"\[%([A-Za-z0-9_]++)\s++([^\]\[]*+)\]")
_HMS: Final = re.compile(r"(?:([0-9]{1,4}):)?([0-9]{1,3}):([0-9]{1,2})(?:[.,]([0-9]{1,9}))?", re.ASCII)
_SECONDS: Final = re.compile(r"(-?)([0-9]{1,7})(?:[.,]([0-9]{1,9}))?", re.ASCII)
_CLOCK: Final = re.compile(r"\s*([0-9]{1,3}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,3})?)\s*", re.ASCII)
_BARE: Final = re.compile(r"\s*([0-9]{1,6}\.([0-9]{1,3}))\s*", re.ASCII)
_EVALUATION: Final = re.compile(r"(?:#\s*([+-]?[0-9]{1,4})|([+-]?[0-9]{1,4}(?:\.[0-9]{1,3})?))(?:\s*,\s*([0-9]{1,3}))?")
_WHOLE: Final = re.compile(r"[0-9]{1,9}", re.ASCII)

THOUSANDTHS: Final = 3
TENTHS: Final = 1
NEVER: Final = 4


class PrintedEvaluation(NamedTuple):
    """``score_cp`` in hundredths of a pawn or ``mate`` in moves, from White's side."""

    score_cp: int | None
    mate: int | None
    depth: int | None


class Remark(NamedTuple):
    """A comment, taken apart.

    ``ms``: a time was printed with thousandths, or parts of them. ``commands`` are those that we do not know, as
    printed. ``words``: the rest, in single blanks.
    """

    clock_ms: int | None = None
    elapsed_ms: int | None = None
    lag_ms: int | None = None
    ms: bool = False
    evaluation: PrintedEvaluation | None = None
    commands: tuple[str, ...] = ()
    words: str = ""

    @property
    def timed(self) -> bool:
        """Whether it has a clock, an elapsed time or a lag."""
        return self.clock_ms is not None or self.elapsed_ms is not None or self.lag_ms is not None


def _thousandths(digits: str | None) -> int:
    return int((digits + "00")[:3]) if digits else 0


def read_time(text: str) -> tuple[int, bool] | None:
    """``0:04:57.338``, ``4:57``, ``2.063`` or ``17`` as milliseconds, and whether parts of a second were printed."""
    if match := _HMS.fullmatch(text):
        hours, minutes, seconds, part = match.groups()
        return (int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)) * 1000 + _thousandths(part), part is not None
    if match := _SECONDS.fullmatch(text):
        sign, seconds, part = match.groups()
        ms = int(seconds) * 1000 + _thousandths(part)
        return -ms if sign else ms, part is not None
    return None


@lru_cache(maxsize=8192)  # a few thousand times make up most comments of an archive
def read_remark(text: str, decimals: int = THOUSANDTHS) -> Remark:
    """Take a comment apart.

    Args:
        text: latin-1, without its braces. A comment that is nothing but ``0:04:57`` is the clock.
        decimals: so many a number needs that is all of a comment (``1.015``) to be the elapsed time in seconds. With
            fewer it may be an evaluation; the FICS games database cuts zeros, and writes none of those.
    """
    if "[%" not in text:
        match = _CLOCK.fullmatch(text)
        if match is not None and (read := read_time(match[1])) is not None:
            return Remark(clock_ms=read[0], ms=read[1])
        bare = _BARE.fullmatch(text)
        if bare is not None and len(bare[2]) >= decimals and (read := read_time(bare[1])) is not None:
            return Remark(elapsed_ms=read[0], ms=True)
        return Remark(words=" ".join(decoded(text).split()))
    clock_ms = elapsed_ms = lag_ms = None
    ms = below_zero = False
    evaluation: PrintedEvaluation | None = None
    depth: int | None = None
    commands: list[str] = []
    for match in _COMMAND.finditer(text):
        name, value = match[1], match[2].rstrip()
        read = read_time(value) if name in ("clk", "emt", "lag", "flag") else None
        if read is not None and name == "clk":
            if not below_zero:
                clock_ms = read[0]
                ms = ms or read[1]
        elif read is not None and name == "emt":
            elapsed_ms = read[0]
            ms = ms or read[1]
        elif read is not None and name == "lag":
            lag_ms = read[0]
        elif read is not None and name == "flag":
            clock_ms, below_zero = read[0], True
            ms = ms or read[1]
        elif name == "clkms" and _SECONDS.fullmatch(value) and "." not in value and "," not in value:
            clock_ms, ms = int(value), True
        elif name == "eval" and (found := _EVALUATION.fullmatch(value)):
            mate, pawns, at = found.groups()
            # ChessBase writes hundredths of a pawn, without a point and with the depth behind a comma.
            unit = 1 if at is not None and "." not in value else 100
            score_cp = None if pawns is None else round(float(pawns) * unit)
            evaluation = PrintedEvaluation(
                score_cp, None if mate is None else int(mate), None if at is None else int(at)
            )
        elif name == "depth" and _WHOLE.fullmatch(value):
            depth = int(value)
        else:
            commands.append(" ".join(decoded(match[0]).split()))
    if depth is not None:
        if evaluation is None:
            commands.append(f"[%depth {depth}]")
        else:
            evaluation = evaluation._replace(depth=depth)
    words = " ".join(decoded(_COMMAND.sub(" ", text)).split())
    return Remark(clock_ms, elapsed_ms, lag_ms, ms, evaluation, tuple(commands), words)
