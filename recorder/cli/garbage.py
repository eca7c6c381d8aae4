"""When Python looks for reference cycles."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["rare_collections"]

_NEW_VALUES = 200_000

# When a process ends, Python looks through all values once more, SQLAlchemy's too, which took 0.05 s: a seventh of a
# small command. Nothing is left to that search: archives, journals and files are closed before.
atexit.register(gc.freeze)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for reference cycles only after 200,000 more values, not 700.

    What counts references frees nearly everything. Loading SQLAlchemy alone makes 80,000 values that stay: looking
    through them again and again took a seventh of a small import. Reading games makes many small values and no
    cycles; memory stays flat (``benchmarks/run.py --only memory``).
    """
    before = gc.get_threshold()
    gc.set_threshold(_NEW_VALUES, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
