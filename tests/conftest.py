"""Options of the whole test run."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

from tests.support.compiled import ROOT, stale_binaries

# Commands that tests start inherit what is ignored: whoever runs us in the background or under nohup ignores these.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# As a user's: modules are compiled once. Compiling them in every process is most of a small command's time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes says more about the machine than about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-golden`` writes the golden files anew instead of comparing with them."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/corpus/golden from this run")


def pytest_configure() -> None:
    """Refuse to test compiled modules that are not what their sources say."""
    stale = ", ".join(str(path.relative_to(ROOT)) for path in stale_binaries())
    if stale:
        how = "compile them (python .ci/ics_recorder_build.py) or remove them (make clean)"
        raise pytest.UsageError(f"compiled modules are older than their sources: {stale}; {how}")
