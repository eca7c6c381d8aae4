"""``clocks``, ``plot`` and ``report`` write the same bytes of a data set as of an archive of the same logs."""

import json
import re
import sys
from pathlib import Path
from subprocess import run

import pytest

from recorder import Archive, Dataset
from storage import GameFilter
from storage.dataset.reading import DatasetStore
from tests.support.cli import SERVER, Cli
from tests.support.effort import long_after

CLOCKS = (
    "--csv --player Helmsman",
    "--by time-control --by phase --json",
    "--table longest --top 3",
    "",
    "--json --last 5",
    "--player blore --by hour",
    "--player Helmsman --table scramble --json",
    "--table blunders --json",
    "--by event --by eco --json",
    "--table sitting --json",
    "--table diagonal --player Karpov",
)
PICTURES = long_after(1, ("lag", "thinking", "heatmap", "curve", "leads", "blunders"))


@pytest.mark.parametrize("words", long_after(3, CLOCKS))
def test_clocks(cli: Cli, folder: Path, words: str) -> None:
    ours, theirs = (cli("clocks", *words.split(), *more, code=None) for more in (("--dataset", folder), ()))
    assert (ours.exit_code, ours.stdout, ours.stderr) == (theirs.exit_code, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize("name", PICTURES)
def test_plot(cli: Cli, folder: Path, tmp_path: Path, name: str) -> None:
    written = []
    for number, more in enumerate((("--dataset", folder), ())):
        picture, data = tmp_path / f"{number}.svg", tmp_path / f"{number}.csv"
        cli("plot", name, *more, "-o", picture, "--data", data)
        written.append((picture.read_bytes(), data.read_bytes()))
    assert written[0] == written[1]


@pytest.mark.parametrize("words", long_after(1, [["--index"], ["--player", "Helmsman"]]))
def test_report(cli: Cli, folder: Path, tmp_path: Path, words: list[str]) -> None:
    # Their pictures are those of the test above.
    written = []
    for number, more in enumerate((("--dataset", folder), ())):
        cli("report", *words, *more, "-o", tmp_path / f"{number}.html")
        page = (tmp_path / f"{number}.html").read_text()
        written.append(re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))  # a data set has no boards
    assert written[0] == written[1]


@pytest.mark.long
def test_a_process_prints_no_more(cli: Cli, folder: Path) -> None:
    """DuckDB reports what is not freed at its end."""
    words = ("clocks", "--by", "phase", "--dataset", str(folder))
    answer = run([sys.executable, "-m", "recorder", *words], capture_output=True, text=True, check=True)
    expected = cli(*words)
    assert (answer.stdout, answer.stderr) == (expected.stdout, expected.stderr)


@pytest.mark.parametrize("name", long_after(1, ["bughouse", "race"]))
def test_plot_of_one_game(cli: Cli, folder: Path, archive: Archive, tmp_path: Path, name: str) -> None:
    """With its events, or both boards."""
    key = archive.matches()["match"].iloc[0]
    pictures = [tmp_path / "0.svg", tmp_path / "1.svg"]
    for picture, more in zip(pictures, (("--dataset", folder), ()), strict=True):
        cli("plot", name, key, *more, "-o", picture)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_report_of_a_game(cli: Cli, folder: Path, archive: Archive, tmp_path: Path) -> None:
    """Of both boards of a match, with pieces in hand."""
    key = archive.matches()["match"].iloc[-1]
    pages = [tmp_path / "0.html", tmp_path / "1.html"]
    for page, more in zip(pages, (("--dataset", folder), ()), strict=True):
        answer = cli("report", key, *more, "-o", page)
        assert answer.stderr.startswith(f"Wrote the report of game {key[:8]}, ")
    data = [json.loads(re.findall(r'id="data">(.*?)</script>', page.read_text())[0]) for page in pages]
    ours, theirs = ([board["states"] for board in one["boards"]] for one in data)
    assert ours == theirs
    assert len(ours) == 2
    assert "hands" in ours[0][0]


def test_what_a_data_set_cannot_give(cli: Cli, folder: Path) -> None:
    def error(*words: object, code: int) -> str:
        return cli(*words, "--dataset", folder, code=code).stderr

    assert "--dataset and --db both say" in error("clocks", "--db", cli.archive, code=2)
    assert "--dataset and --db both say" in error("--db", cli.archive, "clocks", code=2)
    assert "the data set has " in error("clocks", "--source", "zzzz", code=4)
    assert "No games match these filters; the data set has" in error("clocks", "--since", "2099", code=1)
    assert error("clocks", "--player", "Zoe", code=1) == "Error: no player Zoe.\n"
    assert "is the archive or a log" in error(
        "clocks", "--csv", "--force", "-o", next(folder.rglob("*.parquet")), code=5
    )


@pytest.mark.long
def test_a_game_of_two_sources_is_there_twice(cli: Cli, tmp_path: Path) -> None:
    """One is shown where one is asked for."""
    saved = SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn"
    other = tmp_path / "other.pgn"
    other.write_bytes(b"\n" + saved.read_bytes())
    cli("convert", "--jobs", "1", "--dataset", tmp_path / "games", saved, other)
    answer = cli("clocks", "--unique", "--by", "phase", "--dataset", tmp_path / "games")
    assert "1 game, 42 plies counted" in answer.stderr
    assert "3 folded as probable duplicates" in answer.stderr
    with Dataset(tmp_path / "games") as both:
        assert [len(list(both.games())), both["6af8"].ply_count] == [6, 44]
    one = tmp_path / "one"
    cli("convert", "--jobs", "1", "--dataset", one, saved)
    pages = []
    for folder in (tmp_path / "games", one):
        cli("report", "6af8", "--dataset", folder, "--force", "-o", tmp_path / "game.html")
        pages.append((tmp_path / "game.html").read_bytes())
    assert pages[0].replace(b"other.pgn", b"ficsgames-variants-by-year.pgn") == pages[1]


@pytest.mark.parametrize(
    ("days", "results", "counted", "shared"),
    [
        (["????.??.??", "????.??.??"], ["1-0", "1-0"], 2, False),
        (["2024.01.02", "2024.01.02"], ["1-0", "0-1"], 2, False),
        (["2024.01.02", "2024.01.02"], ["1-0", "1-0"], 1, True),
    ],
    ids=["undated", "other results", "probably one"],
)
def test_games_are_one_only_where_day_and_result_are_equal(
    days: list[str], results: list[str], counted: int, shared: bool, tmp_path: Path
) -> None:
    for number, (day, result) in enumerate(zip(days, results, strict=True)):
        game = (
            f'[Date "{day}"]\n[White "Ann"]\n[Black "Bob"]\n[Result "{result}"]\n\n1. e4 {{[%clk 0:01:00]}} {result}\n'
        )
        (tmp_path / f"{number}.pgn").write_text("\n" * number + game)
    logs = sorted(tmp_path.glob("*.pgn"))
    said = Cli(tmp_path / "none")("convert", "--jobs", "1", "--dataset", tmp_path / "set", *logs).output
    assert "The data set" in said
    assert " has 2 games, 2 plies of 2 logs." in said
    assert ("in several logs" in said) is shared
    with DatasetStore(str(tmp_path / "set")) as store:
        assert [store.count(GameFilter(unique=unique)) for unique in (False, True)] == [2, counted]
