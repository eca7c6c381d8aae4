"""Regular expressions that few runs need."""

from __future__ import annotations

import re

import pytest

from recorder.patterns import later


def test_an_expression_is_compiled_once_and_not_before_it_is_called_for() -> None:
    broken = later("(")
    with pytest.raises(re.error):
        broken()
    row = later(rb"[a-z]+", re.I)
    assert row() is row()
    assert row().fullmatch(b"Row") is not None
