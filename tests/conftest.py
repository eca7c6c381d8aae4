"""Options of the whole test run."""

from __future__ import annotations

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-golden`` writes the golden files anew instead of comparing with them."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/corpus/golden from this run")
