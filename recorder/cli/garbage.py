"""When Python looks for reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["rare_collections"]


@contextmanager
def rare_collections() -> Iterator[None]:
    """Do not look for reference cycles: reading games makes many small values and no cycles.

    What counts references frees them all the same; memory stays flat (``benchmarks/run.py --only memory``).
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
