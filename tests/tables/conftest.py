"""One archive for all tests of tables, imported once from most of the corpus."""

from pathlib import Path

import pytest

from recorder import Archive
from tests.support.cli import Cli
from tests.support.corpus import stream_bytes
from tests.support.evaluated import PGN
from tests.support.journals import journal_of

CORPUS = Path(__file__).parents[1] / "corpus"
SCENARIOS = (
    "a03_crazyhouse",
    "a06_chatter_takebacks",
    "a11_adjourn_disconnect",
    "a12_bughouse",
    "a13_timeseal_lag",
    "b03_wild",
    "x03_zippy_engines",
)
LOGS = ("public", *(f"server/{scenario}" for scenario in SCENARIOS))
SAVED = (
    "2009-atomic.pgn",
    "2009-crazyhouse.pgn",
    "2009-losers.pgn",
    "2009-suicide.pgn",
    "2009-wild5.pgn",
    "2009-wildfr.pgn",
)


@pytest.fixture(scope="session")
def corpus_archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("tables")
    journal = folder / "session.icsj"
    journal.write_bytes(journal_of(stream_bytes("a01_standard", "observer_GuestObsA")))
    saved = folder / "evaluated.pgn"
    saved.write_bytes(PGN)
    made = Cli(folder / "archive.sqlite")
    made("import", "--no-keep-source", "--date", "2020-01-31", journal, *(CORPUS / log for log in LOGS))
    # Those of saved games are their own.
    made("import", "--no-keep-source", saved, CORPUS / "pgn", *(CORPUS / "ficsgames" / log for log in SAVED))
    return Archive(made.archive)
