"""Runs pytest on the sources alone, compiled modules left aside: ``python -m tests.support.pure [ARGUMENTS]``."""

import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path

import pytest

from tests.support.compiled import ROOT


def _find_sources(path: str) -> FileFinder:
    if not Path(path).is_relative_to(ROOT / "recorder"):
        raise ImportError
    return FileFinder(path, (SourceFileLoader, SOURCE_SUFFIXES))


def load_sources_only() -> None:
    """From here on, import the program's modules from their sources."""
    sys.path_hooks.insert(0, _find_sources)
    sys.path_importer_cache.clear()


if __name__ == "__main__":
    load_sources_only()
    sys.exit(pytest.main())
