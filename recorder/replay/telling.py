"""What happened in a game besides moves, in words for people who watch a replay of it."""

from __future__ import annotations

from typing import Final

from recorder.model import EventKind, GameEvent
from recorder.replay.moments import What

__all__ = ["told_text"]

_SPOKEN: Final = {
    "kibitz": "kibitzes", "whisper": "whispers", "say": "says", "partner-tell": "tells the partner", "tell": "tells",
    "shout": "shouts",
}  # fmt: skip
_UNSPOKEN: Final = ("command", "nag", "echo")


def told_text(what: What) -> str | None:
    """A line about something that happened; None: it is a board, or nothing that anybody is told.

    The words in it are those of the log, whatever they contain: who prints them makes them harmless.
    """
    if not isinstance(what, GameEvent):
        return None
    kind, detail = what.kind, what.detail
    if kind is EventKind.CHAT:
        return _said(what)
    if kind in (EventKind.NOTICE, EventKind.RESULT):
        return what.text
    if kind is EventKind.TAKEBACK:
        return f"Taken back: {_half_moves(what.value)}."
    if kind is EventKind.GAP:
        return f"Missing here: {_half_moves(what.value)} ({detail})."
    if kind is EventKind.FEED:
        return f"The recording: {detail}."
    if kind is EventKind.NAMES:
        return f"The players are now {what.text}."
    if kind is EventKind.CLOCK and detail == "set":
        return "The clocks were set."
    if kind is EventKind.TICKING:
        return "The clocks run." if detail == "on" else "The clocks stand."
    return None


def _said(what: GameEvent) -> str | None:
    if what.detail in _UNSPOKEN:
        return None
    if what.actor is None:
        return what.text
    verb = _SPOKEN.get(what.detail)
    return f"{what.actor}: {what.text}" if verb is None else f"{what.actor} {verb}: {what.text}"


def _half_moves(count: int | None) -> str:
    if count is None:
        return "some half-moves"
    return f"{count} half-move{'' if count == 1 else 's'}"
