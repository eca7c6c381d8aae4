"""The replay's own commands, told to it by its clients: ``tell replay speed 4``."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

from recorder.replay.positions import AtTime, format_position, parse_position, seek
from recorder.replay.timing import Playhead

__all__ = ["HELP", "SHARED", "moves_time", "parse_speed", "steer", "where"]

HELP: Final = (
    "pause | play | step | speed 4 | where",
    "seek 20w | 20b | 1:30 | +10s | -10s | #2 | #2/20w | takeback | start | end",
    "observe all: every game from its beginning; observe none",
)
SHARED: Final = "The time of this replay is shared: nobody can move it."
_SPEED: Final = re.compile(r"x?(\d{1,4})(?:\.(\d{1,3})|/([1-9]\d{0,2}))?x?", re.ASCII)
_FASTEST: Final = 1000


def moves_time(words: str) -> bool:
    """Whether a command would move the replay's time; the others only tell of it."""
    return words.partition(" ")[0].lower() not in ("", "help", "where", "status")


def parse_speed(text: str) -> Fraction | None:
    """``4``, ``x4``, ``0.5`` or ``1/3``; None: it is no speed between 0 and 1000."""
    match = _SPEED.fullmatch(text.strip())
    if match is None:
        return None
    speed = Fraction(f"{match[1]}.{match[2] or 0}") / int(match[3] or 1)
    return speed if 0 < speed <= _FASTEST else None


def steer(head: Playhead[Any], words: str, now_ns: int) -> tuple[int | None, int, list[str]]:
    """Do one of the commands that move time.

    Args:
        head: what they move.
        words: the command. now_ns: the clock's time.
    Returns:
        The place to seek and the recorded time there (None and 0: none), and what to answer.
    Raises:
        ReplayError: a place that the recording does not have.
    """
    word, _, rest = words.partition(" ")
    word = word.lower()
    if word in ("", "help"):
        return None, 0, list(HELP)
    if word == "pause":
        head.pause(now_ns)
    elif word in ("play", "resume"):
        head.resume(now_ns)
    elif word == "speed":
        speed = parse_speed(rest)
        if speed is None:
            return None, 0, [f"{rest or 'Nothing'} is no speed; say 4, 0.5 or 1/3, at most {_FASTEST}."]
        head.set_speed(speed, now_ns)
    elif word in ("seek", "go"):
        place, at_ms = seek(head.moments, parse_position(rest), head.place, head.at_ms(now_ns))
        return place, at_ms, [f"at {_clock(at_ms)}"]
    elif word not in ("where", "status"):
        return None, 0, [f'There is no command {word[:20]}; "help" tells which there are.']
    return None, 0, [where(head, now_ns)]


def where(head: Playhead[Any], now_ns: int) -> str:
    """Where a replay stands, in words."""
    last_ms = head.moments[-1].at_ms if head.moments else 0
    state = "at its end" if head.ended else "paused" if head.paused else "playing"
    return f"{state} at {_clock(head.at_ms(now_ns))} of {_clock(last_ms)}, speed {float(head.speed):g}"


def _clock(ms: int) -> str:
    return format_position(AtTime(ms // 1000 * 1000))
