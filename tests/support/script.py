"""What a scripted server does after a login, as values and as text.

A script is a text of one step a line; bytes stand as a JSON string of Latin-1 text, so that any bytes at all can be
said::

    wait 120
    say "fics% \\n\\r"
    hear "observe 1"
    fault reset
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from recorder.errors import LineError


class Fault(Enum):
    """What a server, or the line to it, may do to its client."""

    CLOSE = "close"
    RESET = "reset"
    HALF_OPEN = "half-open"  # neither sends nor reads any more, and never ends
    DEAF = "deaf"  # sends, but does not read
    END = "end"  # sends no more, but reads


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass."""

    ms: int


@dataclass(frozen=True, slots=True)
class Say:
    """Send bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Hear:
    """Go on when the client has sent this line (without its end)."""

    line: bytes


Step = Wait | Say | Hear | Fault


def parse_script(text: str) -> list[Step]:
    """Read a script; empty lines and lines that begin with ``#`` say nothing.

    Raises:
        LineError: a line is no step.
    """
    return [_parse_step(line) for line in text.split("\n") if line.strip() and not line.startswith("#")]


def format_script(steps: Iterable[Step]) -> str:
    """The inverse of ``parse_script``."""
    return "".join(f"{_format_step(step)}\n" for step in steps)


def script_of_chunks(chunks: Iterable[tuple[int, bytes]]) -> list[Step]:
    """Say again what a server said.

    Args:
        chunks: when each arrived, in milliseconds, and its bytes; the first is said at once.
    """
    steps: list[Step] = []
    last_ms: int | None = None
    for at_ms, data in chunks:
        if last_ms is not None and at_ms > last_ms:
            steps.append(Wait(at_ms - last_ms))
        last_ms = at_ms if last_ms is None else max(at_ms, last_ms)
        steps.append(Say(data))
    return steps


def _parse_step(line: str) -> Step:
    word, _, rest = line.partition(" ")
    try:
        if word == "wait" and rest.isascii() and rest.isdigit():
            return Wait(int(rest))
        if word == "say":
            return Say(_unescape(rest))
        if word == "hear":
            return Hear(_unescape(rest))
        if word == "fault":
            return Fault(rest)
    except ValueError as error:
        raise LineError("A line of a script has something wrong after its first word.", line, word, rest) from error
    raise LineError("A line of a script begins with none of wait, say, hear, fault.", line)


def _format_step(step: Step) -> str:
    if isinstance(step, Wait):
        return f"wait {step.ms}"
    if isinstance(step, Fault):
        return f"fault {step.value}"
    if isinstance(step, Say):
        return f"say {_escape(step.data)}"
    return f"hear {_escape(step.line)}"


def _escape(data: bytes) -> str:
    return json.dumps(data.decode("latin-1"))


def _unescape(text: str) -> bytes:
    """UnicodeEncodeError and JSONDecodeError are ValueErrors."""
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError("no string")
    return value.encode("latin-1")
