"""Time zones as people type them."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["parse_zone"]

_OFFSET = re.compile(r"([+-])(\d\d):?([0-5]\d)")


def parse_zone(text: str) -> tzinfo:
    """The zone with this name (``Europe/Vienna``, ``UTC``) or offset (``+02:00``, ``-0330``).

    Raises:
        ValueError: there is none; the text is one sentence.
    """
    offset = _OFFSET.fullmatch(text)
    try:
        if offset is not None:
            distance = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
            return timezone(distance if offset[1] == "+" else -distance)
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{text!r} is no time zone; write a name as Europe/Vienna or an offset as +02:00.") from error
