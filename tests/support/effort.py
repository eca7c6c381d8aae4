"""How much of a test `make test` does: the rest is for `make test-all` (docs/reliability.md)."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

from tests.support.corpus import REPRESENTATIVE, Stream


def examples(full: int) -> int:
    """How many examples a property gets: ``full`` in `make test-all`, as its profile says; fewer in `make test`."""
    return max(3, full * settings().max_examples // 100)


def long_after(count: int, values: Iterable[Any]) -> list[Any]:
    """Parameters of a test; those after the first ``count`` are marked long. A plain tuple is several arguments."""
    return [
        pytest.param(*(value if type(value) is tuple else (value,)), marks=[pytest.mark.long] if n >= count else [])
        for n, value in enumerate(values)
    ]


def representative_first(streams: Iterable[Stream]) -> list[Any]:
    """Parameters of a test that takes every connection; those that are not representative are marked long."""
    return [
        pytest.param(stream, id=str(stream), marks=[] if stream[:2] in REPRESENTATIVE else [pytest.mark.long])
        for stream in streams
    ]
