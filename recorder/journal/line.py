"""A record's text, escaped, with the checksum at its end."""

from __future__ import annotations

from codecs import unicode_escape_encode
from typing import Final
from zlib import crc32

__all__ = ["checked", "escape", "record_line"]

_SECOND: Final = 1_000_000_000


def record_line(at_ns: int, mark: bytes, data: bytes) -> bytes:
    """A record as its line, without the line end.

    Args:
        at_ns: since the session's anchor. mark: which way the bytes went. data: no more than a record has.
    Raises:
        ValueError: the time is negative.
    """
    if at_ns < 0:
        raise ValueError(f"no record at {at_ns} ns can be written")
    return checked(b"%d.%09d %b %b" % (at_ns // _SECOND, at_ns % _SECOND, mark, escape(data)))


def checked(content: bytes) -> bytes:
    """A line's content with its checksum."""
    return b"%b %08x" % (content, crc32(content))


def escape(data: bytes) -> bytes:
    """Bytes as a record shows them, in printable ASCII."""
    # The codec escapes exactly \t, \n, \r, \\ and as \xHH what is not printable ASCII.
    return unicode_escape_encode(data.decode("latin-1"))[0]
