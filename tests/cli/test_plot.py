"""The command ``plot``: the choice of games, its outputs, and its message when there is no data."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from exporters.plots import FORMATS, PICTURES, TABLE_FORMATS, THEMES
from recorder.cli import plot
from tests.support.cli import Cli
from tests.support.corpus import SERVER
from tests.support.effort import long_after


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Games with lag, takebacks, crazyhouse and bughouse."""
    cli = Cli(tmp_path_factory.mktemp("plot") / "archive.sqlite")
    cli(
        "import",
        SERVER / "a13_timeseal_lag" / "observer_GuestTsa.raw",
        SERVER / "a06_chatter_takebacks" / "observer_Euwe.raw.gz",
        SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz",
    )
    return cli


def key_of(archive: Cli, *words: str) -> str:
    return str(archive.json("games", "--json", *words)[0]["key"])


def test_the_lists_of_the_command_are_those_of_the_pictures() -> None:
    assert tuple(plot.NAMES) == tuple(PICTURES)
    assert plot._FORMATS == FORMATS
    assert plot._DATA_FORMATS == TABLE_FORMATS
    assert tuple(THEMES) == plot._THEMES


def test_list_prints_every_picture(cli: Cli) -> None:
    lines = cli("plot", "--list").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == list(PICTURES)


@pytest.mark.parametrize("format_name", long_after(1, FORMATS))
def test_the_suffix_of_a_picture_chooses_the_format(archive: Cli, tmp_path: Path, format_name: str) -> None:
    out = tmp_path / f"race.{format_name}"
    message = archive("plot", "race", "last", "-o", out, "--dpi", 40).stderr
    assert message == f"Drew race of 1 game to {out}.\n"
    assert out.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r", b"%PDF-")


def test_a_player_who_is_not_there_is_found_before_matplotlib_is_loaded(
    archive: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.cli.plot._pictures", lambda: pytest.fail("loaded"))
    assert "no player Zoe" in archive("plot", "curve", "--player", "Zoe", "-o", tmp_path / "x.svg", code=1).stderr


def test_takebacks_are_drawn_in_the_race(archive: Cli) -> None:
    key = key_of(archive, "--player", "Alekhine", "--result", "1-0")
    svg = archive("plot", "race", key[:10], "--format", "svg", "-o", "-").stdout
    assert ">takeback<" in svg
    assert ">time added<" in svg
    assert ">kibitz<" not in svg
    assert ">kibitz<" in archive("plot", "race", key, "--chat", "--format", "svg", "-o", "-").stdout


def test_nothing_is_overwritten_unasked(archive: Cli, tmp_path: Path) -> None:
    out, data = tmp_path / "times.svg", tmp_path / "times.csv"
    data.write_text("mine")
    answer = archive("plot", "times", "last", "-o", out, "--data", data, code=5)
    assert "already exists" in answer.stderr
    assert (data.read_text(), out.exists()) == ("mine", False)
    archive("plot", "times", "last", "-o", out, "--data", data, "--force")
    table = pd.read_csv(data)
    assert list(table.columns[:5]) == ["key", "ply", "move_no", "side", "mover"]
    assert out.stat().st_size > 1000


@pytest.mark.parametrize("suffix", long_after(1, TABLE_FORMATS))
def test_the_rows_behind_a_picture(archive: Cli, tmp_path: Path, suffix: str) -> None:
    data = tmp_path / f"cells.{suffix}"
    message = archive("plot", "heatmap", "--player", "tal", "-o", tmp_path / "h.svg", "--data", data).stderr
    if suffix == "parquet":
        table = pd.read_parquet(data)
    else:
        table = pd.read_csv(data) if suffix == "csv" else pd.read_json(data, lines=True)
    assert list(table.columns) == ["move_from", "move_to", "think", "think_no", "plies"]
    assert f"Wrote {len(table)} rows to {data}.\n" in message


def test_leads_are_measured_after_the_chosen_move(archive: Cli, tmp_path: Path) -> None:
    out, data = tmp_path / "leads.svg", tmp_path / "leads.csv"
    archive("plot", "leads", "--move", 10, "--category", "blitz", "-o", out, "--data", data)
    assert "clock lead after move 10, of the base time" in out.read_text()
    assert pd.read_csv(data)["sides"].sum() > 0


@pytest.mark.long
def test_either_board_names_a_match(archive: Cli, tmp_path: Path) -> None:
    boards = archive.json("games", "--json", "--variant", "bughouse")
    svgs = []
    for game in boards[:2]:
        out = tmp_path / f"{game['key']}.svg"
        archive("plot", "bughouse", game["key"], "-o", out)
        svgs.append(out.read_text())
    assert svgs[0] == svgs[1]
    assert "(white, board B)" in svgs[0]
    both = archive("plot", "bughouse", boards[0]["key"], boards[1]["key"], "--format", "svg", "-o", "-").stdout
    assert both == svgs[0]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["race", "-o", "x.svg"], 2, "race shows one game, and 12 match: name one by its key, or last."),
        (["race", "last"], 2, "Name an output file: -o FILE.svg, .png or .pdf;"),
        (
            ["race", "last", "-o", "x.gif"],
            2,
            "x.gif: .gif is no format of this command; name a file .svg, .png, .pdf or name the format with --format.",
        ),
        (["race", "last", "-o", "-"], 2, "Name an output file: -o FILE.svg, .png or .pdf;"),
        (["race", "last", "-o", "x.svg", "--size", "9"], 2, "'9' is no size"),
        (["race", "last", "-o", "x.svg", "--size", "0x5"], 2, "'0x5' is no size"),
        (
            ["lag", "--player", "Tal", "-o", "x.png", "--size", "2x1.5"],
            5,
            "does not fit into 2 x 1.5 inches; choose a larger size.",
        ),
        (
            ["race", "last", "-o", "x.svg", "--data", "x.xls"],
            2,
            "x.xls: .xls is no format of this command; name a file .csv, .jsonl, .parquet.",
        ),
        (["race", "last", "-o", "x.svg", "--data", "./x.svg"], 2, "--data and -o name the same file."),
        (["pie", "last", "-o", "x.svg"], 2, "'pie' is not one of"),
        (["profile", "-o", "x.svg"], 2, "profile shows one player: give --player HANDLE once."),
        (
            ["profile", "--player", "Tal", "--since", "2099", "-o", "x.svg"],
            1,
            "Error: No games match these filters (excluded: 2 without a known date);",
        ),
        (["race", "ffffffff", "-o", "x.svg"], 4, "No game has a key that begins with ffffffff."),
        (["race", "last~99", "-o", "x.svg"], 4, "There is no game last~99"),
        (["bughouse", "--player", "Tal", "--last", "1", "-o", "x.svg"], 4, "is unknown, or it is not a bughouse game."),
        (["lag", "--last", "1", "--variant", "bughouse", "-o", "no/x.svg"], 5, "cannot be written"),
    ],
)
def test_a_picture_that_cannot_be_drawn_says_why(
    archive: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = archive("plot", *words, code=code)
    assert sentence in " ".join(answer.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_one_sentence_names_the_extra(archive: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("exporters.plots")]:
        monkeypatch.delitem(sys.modules, name)
    import exporters

    monkeypatch.delattr(exporters, "plots")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = archive("plot", "race", "last", "--format", "svg", "-o", "-", code=5)
    assert answer.stderr == "Error: Pictures need matplotlib: pip install 'ics-recorder[plot]'.\n"


def test_the_shell_completes_the_pictures(archive: Cli) -> None:
    env = {"_ICS_RECORDER_COMPLETE": "bash_complete", "COMP_WORDS": "ics-recorder plot he", "COMP_CWORD": "2"}
    answer = archive(env=env, prog_name="ics-recorder")
    assert answer.stdout.split(",")[1].strip() == "heatmap"
