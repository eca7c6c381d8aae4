"""Small PGN files that are read in pieces, as large ones are."""

from functools import partial

import pytest

from recorder.archive.reading import importing, reading_ahead, workers
from recorder.sources import read_blocks
from tests.support.compiled import ROOT


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """PGN files of 8 kB and more are divided, and any work is worth several processes."""
    monkeypatch.setattr(reading_ahead, "_DIVIDED_BYTES", 8192)
    monkeypatch.setattr(reading_ahead, "_PIECE_BYTES", 4096)
    monkeypatch.setattr(importing, "read_blocks", partial(read_blocks, size=4096))
    monkeypatch.setattr(workers, "_WORTH_BYTES", 1)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
