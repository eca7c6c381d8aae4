"""Pictures of evaluations, of the saved game that tests/support/evaluated.py computes by hand."""

import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from exporters.plots import PICTURES, blunder_rates, blunder_sheet, evaluation_course, evaluation_sheet
from exporters.plots.catalogue import PlotOptions
from recorder import Archive
from recorder.errors import ExportError
from tests.support.cli import Cli
from tests.support.evaluated import PGN
from tests.support.pictures import footer, gids, labels, line, title
from tests.support.plyframes import posed


@pytest.fixture(scope="module")
def plies(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "evaluated.pgn").write_bytes(PGN)
    cli = Cli(folder / "archive.sqlite")
    cli("import", folder / "evaluated.pgn")
    return Archive(cli.archive).plies()


def test_the_course_of_a_game(plies: pd.DataFrame) -> None:
    """Chances as White sees them: 0.3 is 528 of a thousand, -2.0 is 324, a mate counts as 10.0."""
    ax = evaluation_course(plies)
    assert line(ax, "evaluation").get_ydata()[:11].tolist() == [528, 518, 518, 528, 454, 555, 500, 965, 324, 975, 409]
    assert {f"ply-{ply}" for ply in range(1, 12)} <= gids(ax)
    marks = {name for name in gids(ax) if name.startswith(("inaccuracy-", "mistake-", "blunder-"))}
    assert marks == {
        "inaccuracy-5", "inaccuracy-7", "mistake-6", "blunder-8", "blunder-9", "blunder-10", "blunder-11",
    }  # fmt: skip
    assert labels(ax) == [
        "Ann (white): 2 inaccuracies, 0 mistakes, 2 blunders",
        "Bob (black): 0 inaccuracies, 1 mistake, 2 blunders",
        "inaccuracy",
        "mistake",
        "blunder",
        "little time: White above, Black below",
    ]
    assert footer(ax).startswith("1 game, 11 plies · excluded: 1 ply without a known evaluation")


def test_the_sheet_has_the_clocks_below(plies: pd.DataFrame) -> None:
    above, below = evaluation_sheet(plies).axes
    assert above.get_xlim() == below.get_xlim()
    assert "clock-white" in gids(below)
    untimed = plies.assign(clock_after_ms=pd.array([None] * len(plies), dtype="Int64"))
    (alone,) = evaluation_sheet(untimed).axes
    assert "evaluation" in gids(alone)


def test_rates_by_the_time_that_was_left(plies: pd.DataFrame) -> None:
    """Below five seconds all three moves that were judged were blunders; see tests/tables/measures/test_losses.py."""
    ax = blunder_rates(plies)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["< 5 s", "5–10 s", "30–60 s", "1–2 min"]
    heights = {str(bar.get_gid()): bar.get_height() for bar in ax.findobj(Rectangle) if bar.get_gid()}
    assert [heights[f"blunders-{number}"] for number in range(4)] == pytest.approx([1, 0, 1 / 3, 0])
    assert heights["inaccuracies-1"] == 1
    assert labels(ax) == ["blunders 4", "mistakes 1", "inaccuracies 2"]
    assert "excluded: 2 plies without a known loss" in footer(ax)


@pytest.mark.long
def test_of_one_player(plies: pd.DataFrame) -> None:
    assert labels(blunder_rates(plies, player="bob", by="think")) == ["blunders 2", "mistakes 1", "inaccuracies 0"]
    assert "moves of Bob" in title(blunder_rates(plies, player="bob"))
    table = PICTURES["blunders"].table(plies, PlotOptions("Bob"))
    assert table.groupby("by")["plies"].sum().to_dict() == {"clock": 5, "think": 4}  # the first move is free
    assert len(blunder_sheet(plies, player="Bob").axes) == 2


def test_missing_evaluations_are_reported() -> None:
    with pytest.raises(ExportError, match=r"No data \(3 plies without a known evaluation\)"):
        evaluation_course(posed([0, 0, 1000]))
    with pytest.raises(ExportError, match=r"No data \(3 plies without a known loss\)"):
        blunder_rates(posed([0, 0, 1000]))
