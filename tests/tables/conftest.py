"""One archive for all tests of tables, imported once from logs of the corpus that differ in what they know."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporters import Archive
from tests.support.cli import Cli

CORPUS = Path(__file__).parents[1] / "corpus"
LOGS = (
    "public/pychess-play-gbtami.txt",
    "public/ahanft-observe-223.txt",
    "server/a01_standard",
    "server/a03_crazyhouse",
    "server/a06_chatter_takebacks",
    "server/a10_examine",
    "server/a11_adjourn_disconnect",
    "server/a12_bughouse",
    "server/b03_wild",
    "ficsgames/2009-wild5.pgn",
    "ficsgames/2009-atomic.pgn",
)


@pytest.fixture(scope="session")
def corpus_archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """The archive as tables."""
    made = Cli(tmp_path_factory.mktemp("tables") / "archive.sqlite")
    made("import", "--date", "2020-01-31", *(CORPUS / log for log in LOGS))
    return Archive(made.archive)
