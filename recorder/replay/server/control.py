"""The replay's own commands, and those for which a replay has nothing to do.

They are answered in the servers' words, so that nobody waits for an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from recorder.replay.places import AtTime, format_position, parse_position, seek
from recorder.replay.timing import Playhead

if TYPE_CHECKING:
    from recorder.replay.server.session import ReplaySession

__all__ = ["Answer", "COURTESIES", "HELP", "SHARED", "moves_time", "parse_speed", "steer", "where"]

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


Answer = Callable[["ReplaySession", str], None]
"""Answers a command: it is given the session and the words behind the command."""

_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)
_HELP: Final = """This server replays recorded games; nobody plays here. It answers
  games, observe N, pobserve N, unobserve [N], follow NAME, moves [N], refresh [N],
  who, finger NAME, history NAME, smoves NAME N, sposition NAME N, examine NAME N,
  moves on an examined board, forward, backward, to 20w, revert, unexamine,
  set, iset, style, variables, ivariables, date, quit.
"tell replay help" tells how to move time.""".splitlines()


def _inchannel(session: ReplaySession, rest: str) -> None:
    """Nobody talks in channels here; a line that begins as a channel's list makes clients wait for its end."""
    word = rest.split()[0] if rest else ""
    if _NUMBER.fullmatch(word):
        session.tell(f"Channel {word} is empty.")
    else:
        session.tell(f"{word} is in no channels." if word else "No channels are in use.")


def _showlist(session: ReplaySession, rest: str) -> None:
    session.tell(f"-- {rest.split()[0]} list: 0 names --" if rest else "Lists:")


def _has_no(what: str) -> Answer:
    def answer(session: ReplaySession, rest: str) -> None:
        session.tell(f"{rest.split()[0] if rest else session.handle} has no {what}.")

    return answer


def _lines(*lines: str) -> Answer:
    def answer(session: ReplaySession, rest: str) -> None:
        session.tell(*lines)

    return answer


_NO_LISTS: Final = _lines("This replay keeps no lists.")
_NOT_PLAYING: Final = _lines("You are not playing a game.")

COURTESIES: Final[dict[str, Answer]] = {
    **dict.fromkeys(
        ("abort", "adjourn", "draw", "flag", "moretime", "pause", "resign", "say", "takeback", "unpause"), _NOT_PLAYING
    ),
    **dict.fromkeys(("match", "seek", "unseek"), _lines("Nobody plays here: this is a replay.")),
    **dict.fromkeys(("accept", "decline"), _lines("There are no offers to you.")),
    **dict.fromkeys(("addlist", "sublist"), _NO_LISTS),
    "cshout": _lines("(c-shouted to 0 players)"),
    "help": _lines(*_HELP),
    "inchannel": _inchannel,
    "it": _lines("(it-shouted to 0 players)"),
    "journal": _has_no("journal entries"),
    "messages": _lines("You have no messages."),
    "news": _lines("There are no new news items."),
    "next": _lines("There is no more."),
    "ptell": _lines("You do not have a partner at present."),
    "quit": _lines(),
    "shout": _lines("(shouted to 0 players)"),
    "showlist": _showlist,
    "sought": _lines("0 ads displayed."),
    "stored": _has_no("adjourned games"),
    "uptime": _lines("This server replays recorded games."),
}
"""What answers each of these commands."""
