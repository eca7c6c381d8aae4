"""Positions in a recording, as users write them: ``20w``, ``1:30``, ``+10s``, ``#2``, ``takeback``.

===============  ==================================================================================================
``1:30``         the recorded time: minutes and seconds, or ``1:02:03``, each with thousandths (``1:30.5``); ``90s``
``+10s`` ``-1:0``  this much later, or earlier, than now
``20w`` ``20b``  before White's, Black's 20th move in the game that is shown
``#2``           the beginning of the replay's second game; ``#2/20w`` a move of it
``end``          after the last moment; ``start`` is ``0:00``
``takeback``     the next moment with this marker; ``takeback:3`` the third one of the recording
===============  ==================================================================================================
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from recorder.errors import ReplayError
from recorder.replay.timing import ReplayMoment
from recorder.times import format_clock


class AtTime(NamedTuple):
    at_ms: int


class By(NamedTuple):
    """Milliseconds to go forward; negative: back."""

    ms: int


class AtPly(NamedTuple):
    """From 1, in a game from 0; None: the game that is shown."""

    ply: int
    game: int | None = None


class AtGame(NamedTuple):
    """From 0."""

    game: int


class AtMarker(NamedTuple):
    """The ``nth`` one of the recording, from 1; None: the next one."""

    name: str
    nth: int | None = None


class AtEnd(NamedTuple):
    """The end, after the last moment."""


Position = AtTime | By | AtPly | AtGame | AtMarker | AtEnd

_CLOCK: Final = r"(?:(?:(\d{1,4}):)?(\d{1,6}):)?(\d{1,9})(?:\.(\d{1,3}))?"
_TIME: Final = re.compile(rf"([+-])?{_CLOCK}(s)?", re.ASCII)
_PLY: Final = re.compile(r"(?:#([1-9]\d{0,5})/)?([1-9]\d{0,4})([wb])", re.ASCII)
_GAME: Final = re.compile(r"#([1-9]\d{0,5})", re.ASCII)
_MARKER: Final = re.compile(r"([a-z][a-z0-9-]{0,40})(?::([1-9]\d{0,5}))?", re.ASCII)


def parse_position(text: str) -> Position:
    text = text.strip().lower()
    if text == "start":
        return AtTime(0)
    if text == "end":
        return AtEnd()
    if match := _PLY.fullmatch(text):
        game, number, side = match.groups()
        return AtPly(2 * int(number) - (side == "w"), None if game is None else int(game) - 1)
    if match := _GAME.fullmatch(text):
        return AtGame(int(match[1]) - 1)
    match = _TIME.fullmatch(text)
    if match is not None and (match[3] is not None) != (match[6] is not None):
        sign, hours, minutes, seconds, fraction, _ = match.groups()
        ms = ((int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds)) * 1000 + int(
            (fraction or "").ljust(3, "0")
        )
        return AtTime(ms) if sign is None else By(-ms if sign == "-" else ms)
    if match := _MARKER.fullmatch(text):
        return AtMarker(match[1], None if match[2] is None else int(match[2]))
    raise ReplayError(
        f"{text!r} is not a position in a recording; write a move (20w), a time (1:30, +10s), #2 or an event."
    )


def format_position(position: AtTime | AtPly | AtMarker) -> str:
    if isinstance(position, AtTime):
        return format_clock(position.at_ms, exact=False)
    if isinstance(position, AtMarker):
        return position.name if position.nth is None else f"{position.name}:{position.nth}"
    game = "" if position.game is None else f"#{position.game + 1}/"
    return f"{game}{(position.ply + 1) // 2}{'w' if position.ply % 2 else 'b'}"


def seek(moments: Sequence[ReplayMoment[Any]], position: Position, place: int = 0, at_ms: int = 0) -> tuple[int, int]:
    """The index of the moment that comes next (their number: none), and the time there; ``place``, ``at_ms``: now."""
    last_ms = moments[-1].at_ms if moments else 0
    if isinstance(position, AtEnd):
        return len(moments), last_ms
    if isinstance(position, AtTime | By):
        to_ms = max(0, at_ms + position.ms if isinstance(position, By) else position.at_ms)
        if to_ms > last_ms:
            return len(moments), last_ms
        return bisect_left(moments, to_ms, key=_at_ms), to_ms
    if isinstance(position, AtPly):
        found = _find_ply(moments, position, place)
    elif isinstance(position, AtGame):
        found = _find_game(moments, position.game)
    else:
        found = _find_marker(moments, position, place)
    return found, moments[found].at_ms


def _at_ms(moment: ReplayMoment[Any]) -> int:
    return moment.at_ms


def _find_game(moments: Sequence[ReplayMoment[Any]], game: int) -> int:
    for index, moment in enumerate(moments):
        if moment.game == game:
            return index
    raise ReplayError(f"This recording has no game {game + 1}.")


def _find_ply(moments: Sequence[ReplayMoment[Any]], position: AtPly, place: int) -> int:
    game = position.game
    if game is None:
        shown = [*moments[place - 1 :: -1], *moments] if place else moments
        game = next((moment.game for moment in shown if moment.game is not None), None)
    last = 0
    for index, moment in enumerate(moments):
        if moment.game == game and moment.ply is not None:
            if moment.ply >= position.ply:
                return index
            last = max(last, moment.ply)
    written = format_position(AtPly(position.ply))
    raise ReplayError(
        f"This recording has no move {written} in that game: it ends with {format_position(AtPly(last))}."
        if last
        else f"This recording has no move {written}: it shows no game."
    )


def _find_marker(moments: Sequence[ReplayMoment[Any]], position: AtMarker, place: int) -> int:
    name, nth = position
    found = [index for index, moment in enumerate(moments) if name in moment.markers]
    if nth is None:
        found, nth = [at for at in found if at > place or (at == place == 0)], 1
    if len(found) >= nth:
        return found[nth - 1]
    known = sorted({marker for moment in moments for marker in moment.markers})
    where = " after this place" if position.nth is None and place else ""
    raise ReplayError(
        f"This recording has no {format_position(position)!r}{where}; it has {', '.join(known) or 'none'}."
    )
