"""How often Python looks for reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["rare_collections"]


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for reference cycles less often: reading games makes many small values and no cycles."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
