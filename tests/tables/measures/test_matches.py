"""Both boards of a match as one table: order, partners, the lead across and the waits, checked by hand."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from exporters.bpgn import find_matches
from exporters.tables.columns import MATCH_COLUMNS
from exporters.tables.matches import match_columns
from recorder import Archive, Dataset, make_dataset
from recorder.model import Game, TimeBasis
from recorder.reading import read_games
from recorder.relating.match import Match, timeline
from tests.support.cli import Cli

CORPUS = Path(__file__).parents[2] / "corpus"
SAVED = CORPUS / "public" / "bughouse-db-3611438-with-lag.bpgn"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    made = Cli(tmp_path_factory.mktemp("matches") / "archive.sqlite")
    made("import", SAVED)
    return Archive(made.archive)


def at_each_second(match: Match) -> Match:
    """The same moves, one each second of a known day."""
    at_ms = {(one.board, one.ply.ply): number * 1000 for number, one in enumerate(timeline(match), 1)}

    def timed(game: Game, board: str) -> Game:
        seen = game.observations[0]
        line = seen.lines[0]
        plies = [ply._replace(at_ms=at_ms[board, ply.ply]) for ply in line.plies]
        lines = [replace(line, rows=plies), *seen.lines[1:]]
        return replace(game, time_basis=TimeBasis.UTC, observations=[replace(seen, lines=lines)])

    return Match(timed(match.a, "A"), timed(match.b, "B"))


def test_the_moves_are_in_the_order_of_the_match(archive: Archive) -> None:
    moves = archive.matches()
    names = ["board", "moment", "mover", "partner", "san", "clock_after_ms"]
    assert list(moves[names].head(4).itertuples(index=False, name=None)) == [
        ("A", 1, "cheesybread", "ChiCkenCROSSrOaD", "d4", 119_051),
        ("A", 2, "tantheman", "helmsknight", "Nc6", 119_861),
        ("B", 3, "helmsknight", "tantheman", "d4", 118_328),
        ("A", 4, "cheesybread", "ChiCkenCROSSrOaD", "Nc3", 118_900),
    ]
    assert moves["moment"].tolist() == list(range(1, 107))
    assert moves["match"].nunique() == 1
    assert {name: str(moves[name].dtype) for name in moves.columns[:7]} == {c.name: c.dtype for c in MATCH_COLUMNS}


def test_the_lead_across_counts_the_clock_that_runs_on_the_other_board(archive: Archive) -> None:
    """After 1B. d4 board B has used 1672 ms, board A 949 + 139: White A has 119051 - 584, 139 ms more than White B."""
    leads = archive.matches()["diagonal_lead_ms"]
    assert leads.head(2).isna().all()
    assert leads[2] == -139
    assert leads[3] == 572


def test_one_board_is_enough_for_both(archive: Archive) -> None:
    pd.testing.assert_frame_equal(archive.matches(white="helmsknight"), archive.matches())
    nothing = archive.matches(since="2999")
    assert len(nothing) == 0
    assert list(nothing) == list(archive.matches())


@pytest.mark.long
def test_measures_of_matches_work_on_plies_that_have_their_columns(archive: Archive, tmp_path: Path) -> None:
    names = ["diagonal_lead_ms", "sit_ms", "partner"]
    make_dataset(SAVED, tmp_path / "set", jobs=1)
    with Dataset(tmp_path / "set") as dataset:
        for store in (archive, dataset):
            plies = store.plies(extra=names)
            for found, expected in (
                (plies.ics.diagonal_lead(by="partner"), store.matches().ics.diagonal_lead(by="partner")),
                (plies.ics.sitting(), store.matches().ics.sitting()),
            ):
                pd.testing.assert_frame_equal(found, expected)
            assert list(plies) == ["partner", "diagonal_lead_ms", "sit_ms", *store.plies().columns]
            one = store.plies(white="helmsknight", extra=names)
            assert one["diagonal_lead_ms"].notna().sum() > 40
            assert one["key"].nunique() == 1
    with pytest.raises(AttributeError, match=r"ask for it with plies\(extra=\['diagonal_lead_ms'\]\)"):
        archive.plies().ics.diagonal_lead()


def test_waits_are_those_with_one_colour_on_the_move_on_both_boards(archive: Archive) -> None:
    """White waits on both boards before 1B. d4 (ply 1 of B), Black before 2a … Nf6, as the saved order tells."""
    assert archive.matches()["sit_ms"].isna().all(), "the file has no arrival times"
    (match,), _ = find_matches(list(read_games(SAVED)))
    match = at_each_second(match)
    found = match_columns([match])
    assert pd.isna(found["sit_ms"][0])
    assert found["sit_ms"][1:9].tolist() == [0, 1000, 0, 1000, 0, 1000, 0, 1000]


def test_where_a_move_is_missing_the_wait_is_unknown(archive: Archive) -> None:
    (match,), _ = find_matches(list(read_games(SAVED)))
    match = at_each_second(match)
    seen = match.a.observations[0]
    line = replace(seen.lines[0], rows=[ply for ply in seen.lines[0].plies if ply.ply != 3])
    cut = Match(replace(match.a, observations=[replace(seen, lines=[line])]), match.b)
    found = match_columns([cut])
    around = found[(found["moment"] >= 2) & (found["moment"] <= 4)]
    assert around["sit_ms"].isna().tolist() == [False, True, True]
