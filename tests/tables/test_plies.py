"""The ply table: hand-computed rows, dtypes, filters, and an archive that is being written."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from exporters.tables.columns import PLY_COLUMNS
from exporters.tables.facts import connection_of, identity
from recorder import Archive
from recorder.errors import ExportError
from recorder.model import Player
from tests.support.cli import Cli
from tests.support.effort import long_after

EVERYTHING = {"include": ["examined", "setup", "empty"]}


@pytest.fixture(scope="module")
def plies(corpus_archive: Archive) -> pd.DataFrame:
    return corpus_archive.plies(**EVERYTHING)


def game(plies: pd.DataFrame, handle: str) -> pd.DataFrame:
    return plies[(plies["mover"] == handle) | (plies["opponent"] == handle)]


def test_columns_and_dtypes(plies: pd.DataFrame) -> None:
    assert {name: str(dtype) for name, dtype in plies.dtypes.items()} == {c.name: c.dtype for c in PLY_COLUMNS}
    for column in PLY_COLUMNS:
        if column.always:
            assert not plies[column.name].isna().any(), column.name
        if column.words:
            assert tuple(plies[column.name].cat.categories) == column.words


def test_of_no_games_it_is_empty_with_its_dtypes(corpus_archive: Archive, plies: pd.DataFrame) -> None:
    nothing = corpus_archive.plies(since="2999")
    assert len(nothing) == 0
    assert {name: str(dtype) for name, dtype in nothing.dtypes.items()} == {c.name: c.dtype for c in PLY_COLUMNS}


def test_the_example_of_the_notes(plies: pd.DataFrame) -> None:
    """Checked by hand there: 297338 = 300000 - 2662, 295763 = 300000 - 4237."""
    found = game(plies, "gbtami")
    found = found[found["key"].isin(found.loc[(found["ply"] == 4) & (found["san"] == "Qh4#"), "key"])]
    names = ["ply", "move_no", "side", "mover", "san", "uci", "clock_before_ms", "elapsed_ms", "clock_after_ms"]
    names += ["opponent_clock_ms", "lag_ms", "residual_ms", "cause", "phase", "time_control", "mover_score"]
    same = ("opening", "300+0")
    rows = [
        (1, 1, "white", "gbtami", "f3", "f2f3", 300_000, 0, 300_000, 300_000, 0, 0, "exact", *same, 0.0),
        (2, 1, "black", "ggbtami", "e5", "e7e5", 300_000, 0, 300_000, 300_000, 0, 0, "exact", *same, 1.0),
        (3, 2, "white", "gbtami", "g4", "g2g4", 300_000, 2662, 297_338, 300_000, 296, 0, "exact", *same, 0.0),
        (
            4, 2, "black", "ggbtami", "Qh4#", "d8h4", 300_000, 4237, 295_763, 297_338, 304, 0, "exact", *same, 1.0,
        ),
    ]  # fmt: skip
    assert list(found[names].itertuples(index=False, name=None)) == rows


def test_nothing_is_invented_where_a_frame_is_missing(plies: pd.DataFrame) -> None:
    """48...d1=Q was lost and concluded: it has no times; White's next board shows Black's clock after it."""
    found = game(plies, "HUGOABEL").set_index("ply")
    assert (found.loc[96, "san"], found.loc[96, "proof"]) == ("d1=Q", "inferred")
    assert found.loc[96, ["clock_after_ms", "elapsed_ms", "residual_ms", "precision"]].isna().all()
    assert found.loc[98, "clock_after_ms"] == 18_000
    assert list(found["clock_before_ms"].loc[[98]]) == list(found["opponent_clock_ms"].loc[[97]]) == [22_000]
    assert (found.loc[97, "clock_before_ms"], found.loc[97, "cause"]) == (11_000, "exact")
    assert (found.loc[94, "residual_ms"], found.loc[94, "cause"]) == (-1000, "rounding")


def test_times_with_a_zone_only(plies: pd.DataFrame) -> None:
    utc = plies["time_basis"] == "utc"
    assert plies.loc[utc, "at"].notna().equals(plies.loc[utc, "arrival_ms"].notna())
    assert plies.loc[~utc, "at"].isna().all()


def test_guests_have_an_identity_for_each_connection(plies: pd.DataFrame) -> None:
    """A journal is one connection; of another log only the game is sure to be one."""
    guests = plies[plies["mover_guest"]]
    assert len(guests)
    assert (guests.groupby("mover_id", observed=True)["key"].nunique() == 1).all()
    guest, journal = Player("GuestABCD"), 64 * "a"
    ids = [identity("chess.net", guest, connection_of(key, journal)) for key in ("1", "2")]
    assert ids[0] == ids[1] == f"chess.net/guestabcd/{journal}"
    assert identity("chess.net", guest, connection_of("1", None)) == "chess.net/guestabcd/1"


def test_handles_do_not_differ_by_case(plies: pd.DataFrame) -> None:
    members = plies[~plies["mover_guest"]]
    name = members["server"].astype("string").fillna("?") + "/" + members["mover"].astype("string").str.lower()
    assert (members["mover_id"].astype("string") == name).all()


def test_takebacks_and_examined_games_are_not_in_it(corpus_archive: Archive) -> None:
    plies = corpus_archive.plies()
    assert set(plies["kind"]) == {"played"}
    assert not plies.duplicated(["key", "ply"]).any()
    assert (plies.groupby("key", observed=True)["ply"].diff().dropna() > 0).all()


@pytest.mark.parametrize(
    "until",
    long_after(
        2,
        ["2020-01-31", datetime(2020, 2, 1, tzinfo=UTC), date(2020, 1, 31), datetime(2020, 1, 31, 23, 59, 59, 999_999)],
    ),
)
def test_days_are_whole(corpus_archive: Archive, until: object) -> None:
    found = corpus_archive.plies(since="2020-01-31", until=until)
    assert len(found)
    assert len(corpus_archive.plies(until="2020-01-30", since=date(2020, 1, 30))) == 0


def test_invalid_filters_are_refused(corpus_archive: Archive) -> None:
    with pytest.raises(TypeError, match="no filter 'players'"):
        corpus_archive.plies(players="Ann")  # type: ignore[call-arg]  # that it is refused is tested
    with pytest.raises(ExportError, match="is not a date"):
        corpus_archive.plies(since="yesterday")
    with pytest.raises(ExportError, match="examined, setup, empty"):
        corpus_archive.plies(include="all")
    with pytest.raises(ExportError, match="empty"):
        corpus_archive.plies(player="")


def test_while_another_process_writes(tmp_path: Path, corpus_archive: Archive) -> None:
    """A table is of one moment; the next one sees what was added, and nothing is held open between them."""
    cli = Cli(tmp_path / "archive.sqlite")
    corpus = Path(__file__).parents[1] / "corpus" / "public"
    cli("import", corpus / "pychess-play-gbtami.txt")
    with Archive(f"sqlite:///{cli.archive}") as archive:
        first = archive.plies()
        cli("import", corpus / "ahanft-observe-223.txt")
        assert len(archive.plies()) > len(first)
    cli.archive.unlink()


@pytest.mark.parametrize("wrong", [{"last": 0}, {"last": -1}, {"rated": "perhaps"}, {"result": "2-0"}])
def test_filters_that_would_quietly_mean_something_else_are_refused(
    corpus_archive: Archive, wrong: dict[str, Any]
) -> None:
    with pytest.raises(ExportError):
        corpus_archive.game_table(**wrong)
