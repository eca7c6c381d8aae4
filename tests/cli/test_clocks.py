"""``clocks --by`` and ``clocks --table``: measures of many games, as text and as JSON."""

import csv
import io
import json
import statistics
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from recorder.archive.game_measures import CLOCK_TABLES, DIMENSIONS, measure_games
from recorder.errors import ExitCode
from tests.support.cli import SERVER, Cli
from tests.support.effort import long_after
from tests.support.evaluated import PGN

SEALED = SERVER / "a13_timeseal_lag" / "observer_GuestTsa.raw"
"""Three games in milliseconds, of players with and without a time seal."""


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(tmp_path_factory.mktemp("sealed") / "archive.sqlite")
    cli("import", next(path for path in (SEALED, SEALED.with_suffix(".raw.gz")) if path.exists()))
    return cli


def _plies(cli: Cli, *words: object) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(cli("export", "plies", "--format", "csv", *words).stdout)))


def _median(values: list[int]) -> int:
    return int(statistics.median(values) + 0.5)


def test_the_figures_are_those_of_the_plies(sealed: Cli) -> None:
    found = sealed.json("clocks", "--by", "player", "--by", "side", "--json")
    plies = [ply for ply in _plies(sealed) if ply["elapsed_ms"] and ply["move_no"] != "1"]
    assert (found["table"], found["by"]) == ("usage", ["player", "side"])
    assert (found["games"], found["plies"]) == (3, len(plies))
    groups: dict[tuple[str, str], list[int]] = {}
    for ply in plies:
        groups.setdefault((ply["mover_id"], ply["side"]), []).append(int(ply["elapsed_ms"]))
    assert {(row["player_id"], row["side"]) for row in found["rows"]} == set(groups)
    for row in found["rows"]:
        times = groups[row["player_id"], row["side"]]
        reported = [row[name] for name in ("plies", "total_ms", "median_ms", "longest_ms", "precision")]
        assert reported == [len(times), sum(times), _median(times), max(times), "milliseconds"]


def test_means_of_whole_seconds_are_exact_and_marked(tmp_path: Path) -> None:
    """Text shows tenths, JSON the mean itself; what is printed in milliseconds has no mark."""
    cli = Cli(tmp_path / "archive.sqlite")
    saved = tmp_path / "saved.pgn"
    moves = "1. e4 {{[%emt {0}]}} e5 {{[%emt {0}]}} 2. d4 {{[%emt {1}]}} d5 {{[%emt {1}]}} 3. c4 {{[%emt {2}]}} c5 *"
    game = '[Event "x"]\n[White "Ann"]\n[Black "Bob"]\n[Result "*"]\n[TimeControl "{0}+0"]\n\n{1}\n\n'
    texts = [game.format(60, moves.format("0:00:00", "0:00:04", "0:00:05"))]
    texts.append(game.format(120, moves.format("0:00:00.000", "0:00:04.001", "0:00:05.001")))
    saved.write_text("".join(texts))
    cli("import", saved)
    words = ("clocks", "--by", "time-control", "--by", "side")
    means = {(row["time_control"], row["side"]): row["mean_ms"] for row in cli.json(*words, "--json")["rows"]}
    assert means == {
        ("60+0", "white"): 4500,
        ("60+0", "black"): 4000,
        ("120+0", "white"): 4501,
        ("120+0", "black"): 4001,
    }
    shown = cli(*words).stdout
    assert [cells[6] for cells in map(str.split, shown.splitlines()[1:])] == [
        "~0:04.5", "~0:04.0", "0:04.501", "0:04.001",
    ]  # fmt: skip


def test_the_newest_game_can_be_named(sealed: Cli) -> None:
    key = sealed.json("games", "--json", "--last", 1)[0]["key"]
    for words in ([], ["--by", "phase"]):
        named = sealed("clocks", *words, "last").stdout
        assert named == sealed("clocks", *words, key).stdout
        assert named != sealed("clocks", *words, "last~1").stdout
    assert sealed("clocks", "last~3", code=ExitCode.ARCHIVE).stdout == ""


def test_a_players_figures_use_only_that_players_moves(sealed: Cli) -> None:
    found = sealed.json("clocks", "--player", "sMYSLOV", "--by", "time-control", "--json")
    own = [int(ply["elapsed_ms"]) for ply in _plies(sealed, "--player", "smyslov") if ply["mover"] == "Smyslov"]
    assert [(row["time_control"], row["total_ms"]) for row in found["rows"]] == [("180+2", sum(own))]


def test_a_table_has_readable_units(sealed: Cli) -> None:
    result = sealed("clocks", "--player", "Smyslov", "--table", "lag")
    heading, row = (line.split("\t") for line in result.stdout.splitlines())
    values = dict(zip(heading, row, strict=True))
    lags = [int(ply["lag_ms"]) for ply in _plies(sealed) if ply["mover"] == "Smyslov"]
    assert (values["Player"], values["P50"], values["Longest"]) == (
        "Smyslov",
        f"{_median(lags)} ms",
        f"{max(lags):,} ms",
    )
    assert values["Zero share"] == f"{lags.count(0) / len(lags):.1%}"
    assert f"{len(lags)} plies counted" in result.stderr
    (longest,) = sealed.table("clocks", "--table", "longest", "--top", "1")
    most = max(_plies(sealed), key=lambda ply: int(ply["elapsed_ms"] or 0))
    assert (longest["Key"], longest["SAN"], longest["Elapsed"]) == (
        most["key"][:8],
        most["san"],
        f"0:00.{most['elapsed_ms']}",
    )
    assert {row["Player"] for row in sealed.table("clocks", "--by", "player")} >= {"GuestTs(U)", "Tal"}


def test_excluded_plies_are_reported(filled: Cli) -> None:
    result = filled("clocks", "--by", "phase", "--last", "2")
    assert "Excluded: 4 older than the newest 2." in result.stderr
    assert "seconds only" in result.stderr


@pytest.mark.parametrize("words", [[], ["--json"], ["--by", "phase"], ["--table", "longest", "--csv"]])
def test_no_games_make_no_table(filled: Cli, words: list[str]) -> None:
    nothing = filled("clocks", *words, "--since", "2099", code=ExitCode.FINDINGS)
    assert (nothing.stdout, nothing.stderr) == (
        "",
        "Error: No games match these filters (excluded: 6 without a known date); `ics-recorder games` lists the "
        "games.\n",
    )


_NOTHING_THERE = {"odds", "hours", "windows", "diagonal", "sitting", "blunders", "loss-by-think", "loss-by-clock"}
"""Tables without a row: three short games in a raw log, without odds, hours, scrambles and bughouse."""


@pytest.mark.parametrize("name", long_after(4, CLOCK_TABLES))
def test_every_table_can_be_computed(sealed: Cli, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is written in every format; it is computed for the first of them only."""
    computed: list[Any] = []

    def once(*asked: Any, **options: Any) -> Any:
        if not computed:
            computed.append(measure_games(*asked, **options))
        return computed[0]

    monkeypatch.setattr(import_module("recorder.cli.clocks"), "measure_games", once)
    text = sealed("clocks", "--table", name).stdout.splitlines()
    rows = [json.loads(line) for line in sealed("clocks", "--table", name, "--format", "jsonl").stdout.splitlines()]
    written = list(csv.DictReader(io.StringIO(sealed("clocks", "--table", name, "--csv").stdout)))
    assert len(text) - 1 == len(rows) == len(written)
    assert bool(rows) != (name in _NOTHING_THERE)
    assert not rows or list(rows[0]) == list(written[0])
    whole: Any = sealed.json("clocks", "--table", name, "--json")
    assert (whole if name == "games" else whole["rows"]) == rows


def test_a_scramble_counts_both_sides(sealed: Cli) -> None:
    alone = sealed.json("clocks", "--table", "scramble", "--player", "Smyslov", "--json")
    assert alone["plies"] == sealed.json("clocks", "--table", "scramble", "--by", "game", "--json")["plies"] - 40
    (reported,) = sealed.json("clocks", "--table", "residuals", "--player", "Smyslov", "--json")["rows"][:1]
    assert (reported["cause"], reported["total_ms"]) == ("exact", 0)


def test_bughouse_tables_read_both_boards(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", SERVER / "b06_bughouse" / "observer_GuestXo.raw.gz")
    lead = cli.json("clocks", "--table", "diagonal", "--json")
    assert lead["rows"]
    assert lead["games"] % 2 == 0, "matches have two boards"
    name = lead["rows"][0]["player"]
    own = cli.json("clocks", "--table", "diagonal", "--player", name.upper(), "--json")["rows"]
    assert own == lead["rows"][:1], "what was led depends on the other board, which is read as well"
    sitting = cli.json("clocks", "--table", "sitting", "--json")
    assert (sitting["rows"], set(sitting["left_out_plies"])) == ([], {"no arrival"}), "a raw log has no times"


def test_each_scramble_is_one_row(tmp_path: Path) -> None:
    """A saved game, which contains only the mover's clock, has them as well."""
    saved = tmp_path / "saved.pgn"
    times = [("e4", 20, 9), ("e5", 25, 4), ("Nf3", 18, 2), ("Nc6", 24, 1)]
    moves = " ".join(f"{san} {{[%clk 0:00:{left}] [%emt 0:00:0{used}]}}" for san, left, used in times)
    tags = '[White "Tal"]\n[Black "Bent"]\n[Result "1/2-1/2"]\n[TimeControl "29+0"]\n'
    saved.write_text(f"{tags}\n{moves} 1/2-1/2\n")
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", saved)
    plies = _plies(cli)
    assert [ply["opponent_clock_ms"] for ply in plies] == ["", "20000", "25000", "18000"]
    assert [ply["black_clock_ms"] for ply in plies] == ["", "25000", "", "24000"], "what was printed"
    found = cli.json("clocks", "--table", "windows", "--json")
    (window,) = found["rows"]
    assert {name: window[name] for name in ("from_ply", "to_ply", "white_ms", "black_ms", "black_clock_ms")} == {
        "from_ply": 2, "to_ply": 4, "white_ms": 2000, "black_ms": 5000, "black_clock_ms": 29_000,
    }  # fmt: skip
    assert found["left_out_plies"] == {"no clock": 1}, "of the first move: no board has shown the other clock"


@pytest.mark.parametrize("word", long_after(6, DIMENSIONS))
def test_every_dimension_can_be_chosen(filled: Cli, word: str) -> None:
    found = filled.json("clocks", "--by", word, "--json")
    assert sum(row["plies"] for row in found["rows"]) == found["plies"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--table", "longest", "--by", "side"], "takes no --by"),
        (["--table", "usage", "--top", "3"], "--top is for --table longest"),
        (["--table", "windows", "--top", "3"], "--top is for --table longest"),
        (["--table", "windows", "--by", "side"], "takes no --by"),
        (["--by", "side", "--by", "side"], "names a dimension twice"),
        (["--by", "side", "--csv", "--format", "jsonl"], "contradicts"),
        (["--by", "side", "-o", "x"], "is for the terminal"),
        (["-o", "x"], "is for the terminal"),
    ],
)
def test_options_that_exclude_each_other_are_reported(filled: Cli, words: list[str], message: str) -> None:
    assert message in filled("clocks", *words, code=ExitCode.USAGE).stderr


def test_the_tables_are_listed(cli: Cli) -> None:
    assert [line.split("\t")[0] for line in cli("clocks", "--list").stdout.splitlines()] == list(CLOCK_TABLES)


def test_games_as_json(filled: Cli) -> None:
    sides: list[dict[str, Any]] = filled.json("clocks", "--json")
    lines = filled("clocks", "--format", "jsonl").stdout.splitlines()
    assert sides == [json.loads(line) for line in lines]


def test_a_table_goes_to_a_file(filled: Cli, tmp_path: Path) -> None:
    filled("clocks", "--by", "side", "-o", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().startswith("side,games,plies,")
    assert "already exists" in filled("clocks", "--by", "side", "-o", tmp_path / "x.csv", code=ExitCode.OUTPUT).stderr


@pytest.mark.parametrize("words", [[], ["--by", "game"]])
def test_json_goes_to_a_file(filled: Cli, tmp_path: Path, words: list[str]) -> None:
    filled("clocks", *words, "-o", tmp_path / "x.json")
    assert (tmp_path / "x.json").read_text() == filled("clocks", *words, "--json").stdout
    filled("clocks", *words, "--json", "-o", tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text() == (tmp_path / "x.json").read_text()
    refused = filled("clocks", *words, "-o", tmp_path / "x.json", code=ExitCode.OUTPUT)
    assert "already exists" in refused.stderr


def test_games_have_the_short_keys_that_games_prints(filled: Cli) -> None:
    keys = {row["Key"] for row in filled.table("games")}
    assert {row["Game"] for row in filled.table("clocks", "--by", "game")} <= keys
    assert all(len(row["game"]) == 20 for row in filled.json("clocks", "--by", "game", "--json")["rows"])


def test_plies_are_grouped_by_how_their_times_were_printed(sealed: Cli, tmp_path: Path) -> None:
    saved = tmp_path / "saved.pgn"
    saved.write_text('[White "Tal"]\n[Black "Bent"]\n[TimeControl "60+0"]\n\n1. e4 {[%clk 0:00:59] [%emt 0:00:01]} *\n')
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", saved, sealed.archive)
    rows = cli.json("clocks", "--by", "precision", "--first-moves", "--json")["rows"]
    finer = sum(ply["elapsed_ms"] != "" for ply in _plies(sealed))
    assert [(row["printed"], row["precision"], row["plies"]) for row in rows] == [
        ("milliseconds", "milliseconds", finer),
        ("seconds", "seconds", 1),
    ]


@pytest.mark.parametrize("table", ["phases", "hours"])
def test_a_dimension_that_the_table_has_already_is_a_usage_error(sealed: Cli, table: str) -> None:
    word = {"phases": "phase", "hours": "hour"}[table]
    found = sealed("clocks", "--by", word, "--table", table, code=2)
    assert f"--by {word} does not go with --table {table}: " in found.stderr


def test_blunders_are_counted_by_player_and_time_trouble(tmp_path: Path) -> None:
    """The figures are computed by hand in tests/tables/measures/test_losses.py."""
    log = tmp_path / "evaluated.pgn"
    log.write_bytes(PGN)
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", log)
    reported = cli("clocks", "--table", "blunders", "--player", "Ann").stdout.splitlines()
    assert [line.split() for line in reported if line.startswith("Ann")] == [
        ["Ann", "no", "1", "2", "1", "0", "0", "0.0%", "40.0", "37.0"],
        ["Ann", "yes", "1", "3", "1", "0", "2", "66.7%", "753.3", "420.7"],
    ]
    found = cli.json("clocks", "--table", "loss-by-clock", "--by", "time-trouble", "--json")
    assert found["left_out_plies"] == {"no evaluation": 2}
    assert found["engines"] == [{"engine": None, "plies": 10}], "lichess does not name its engine"
    assert sum(row["blunders"] for row in found["rows"] if row["time_trouble"]) == 3


def test_times_measured_in_milliseconds_have_them_in_every_cell(sealed: Cli) -> None:
    cells = []
    for row in sealed.table("clocks"):
        cells += [row[name] for name in ("Total", "Mean", "Median", "At 20")] + row["Longest"].split()[:1]
        lines = [line.split("\t") for line in sealed("show", row["Key"]).stdout.splitlines()]
        cells += [cell for line in lines if line[0].endswith(".") for cell in line[2:4]]
    for row in sealed.table("clocks", "--by", "game"):
        cells += [row[name] for name in ("Total", "Mean", "Longest")]
    assert {cell for cell in cells if cell != "-" and cell[-4] != "."} == set()
    assert [cell for cell in cells if cell.endswith(".000")]
