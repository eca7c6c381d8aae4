"""Progress of work that takes its time, reported to the caller."""

from __future__ import annotations

from pathlib import PurePath
from typing import Protocol

__all__ = ["Progress", "of_several"]


class Progress(Protocol):
    """What is told of something that takes its time."""

    def __call__(self, name: str, done: int, total: int | None) -> None:
        """``done`` of ``total`` bytes (else steps) of ``name`` are done; ``total`` None: not known."""


def of_several(progress: Progress, number: int, count: int) -> Progress:
    """Progress with one of several files: its name begins with ``file 45 of 98``."""
    if count == 1:
        return progress
    return lambda name, done, total: progress(f"file {number:,} of {count:,}: {PurePath(name).name}", done, total)
