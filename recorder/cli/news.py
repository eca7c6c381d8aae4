"""What the live view is told, one JSON object a line."""

from __future__ import annotations

import json
from typing import Any, Final

from recorder.live.snapshot import Board, Snapshot

__all__ = ["MESSAGE_LINES", "Message", "encode_news", "parse_news", "rows_for_boards"]

MESSAGE_LINES: Final = 4
_OTHER_LINES: Final = 7  # the title, four of facts, the headings, which of the games these are

Message = tuple[str, str]  # time of day (UTC), sentence


def encode_news(snapshot: Snapshot, messages: list[Message]) -> bytes:
    """One line: a snapshot and what was said last."""
    return json.dumps({"snapshot": snapshot, "messages": messages}).encode("ascii") + b"\n"


def parse_news(line: bytes) -> tuple[Snapshot, list[Message]]:
    """The inverse of ``encode_news``."""
    news: dict[str, Any] = json.loads(line)
    *facts, boards = news["snapshot"]
    snapshot = Snapshot._make([*facts, tuple(Board._make(board) for board in boards)])
    return snapshot, [(at, text) for at, text in news["messages"]]


def rows_for_boards(height: int) -> int:
    """How many boards the view shows on a terminal of so many lines; never none."""
    return max(1, height - MESSAGE_LINES - _OTHER_LINES)
