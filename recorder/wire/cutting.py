"""Bytes that hold complete lines → their texts in bulk, and which of them need more than that.

A line needs care where its bytes are more than text (control bytes, pings, continuation lines) or where it is too
long; ``LineReader`` reads these one by one.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Final

__all__ = ["DELETED", "PING", "cut_lines", "find_care", "find_suspect"]

DELETED: Final = b"\r\x07\x00"
"""Bytes that are part of no text."""
PING: Final = b"[G]\x00"
"""A ping of a sealed connection, which may be anywhere in a line."""
_OPEN: Final = ord("(")
# What makes a line more than text (pings and the rest of a cut frame do, too). One search for each is many times
# quicker than one pattern for all.
_RARE_BYTES: Final = (b"\x08", b"\x15", b"\x16", b"\x17", b"\x18", b"\x19", b"\x1a", b"\x1b", b"\\")


def cut_lines(data: bytes, offset: int) -> tuple[list[str], list[int]]:
    """Cut complete lines; ``data`` begins at a line's first byte and ends before the last line's ``\\n``.

    Returns:
        The texts without the bytes that are deleted, and where each begins (and, at last, where the next line does).
    """
    if b"\x07" not in data and b"\0" not in data:
        lead = data.startswith(b"\r")
        body = data[lead:].decode("latin-1")
        at = body.find("\n")  # how the first line ends; the last line's own ``\n`` is not in ``body``
        stop = len(body) if at < 0 else at
        end = "\n"
        if body[stop + 1 : stop + 2] == "\r":
            end = "\n\r"
        elif body.endswith("\r", 0, stop):
            end = "\r\n"
            body = body.removesuffix("\r")
        texts = body.split(end)
        rest = "".join(texts)
        if "\n" not in rest and "\r" not in rest:
            width = len(end)
            at = offset + lead
            firsts = [at]
            for text in texts:
                at += len(text) + width
                firsts.append(at)
            return texts, firsts
    raws = data.split(b"\n")
    firsts = list(accumulate([len(raw) + 1 for raw in raws], initial=offset))
    for index, raw in enumerate(raws):
        if raw[:1] == b"\r":
            firsts[index] += len(raw) - len(raw.lstrip(b"\r"))
    return data.translate(None, DELETED).decode("latin-1").split("\n"), firsts


def find_care(data: bytes, texts: list[str], offset: int, firsts: list[int], longest: int) -> list[int]:
    """Indices of the lines that are more than text or longer than ``longest`` bytes, in order."""
    care = find_suspect(texts)
    for mark in _RARE_BYTES if b"\0" not in data else (*_RARE_BYTES, PING):
        position = data.find(mark)
        while position >= 0:
            index = bisect_right(firsts, offset + position) - 1
            care.add(index)
            position = data.find(mark, firsts[index + 1] - offset)
    if len(data) > longest:
        care.update(index for index in range(len(firsts) - 1) if firsts[index + 1] - firsts[index] > longest)
    return sorted(care)


def find_suspect(texts: list[str]) -> set[int]:
    """Indices of lines whose text alone shows that they may be more than text."""
    found = set()
    for index, text in enumerate(texts):
        if text and (ord(text[0]) == _OPEN or text == "[G]"):  # "(" may begin the rest of a frame
            found.add(index)
    return found
