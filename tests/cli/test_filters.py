"""Filters of games: the same of an archive, of a data set and of the command line, and what the tables say."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recorder import Archive, Dataset
from recorder.errors import ExportError
from recorder.filters import FILTERS, filter_control
from tests.support.cli import SERVER, Cli
from tests.support.effort import long_after

CORPUS = Path(__file__).parents[1] / "corpus"
LOGS = (
    *(SERVER / name for name in ("a06_chatter_takebacks", "a11_adjourn_disconnect", "a13_timeseal_lag", "b03_wild")),
    CORPUS / "pgn",
    CORPUS / "ficsgames" / "2009-wildfr.pgn",
    CORPUS / "ficsgames" / "2009-atomic.pgn",
)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    made = Cli(tmp_path_factory.mktemp("filters") / "archive.sqlite")
    made("import", "--no-keep-source", "--date", "2020-01-31", *LOGS)
    made("export", "plies", "--dataset", "-o", made.archive.with_name("set"))
    return made


@pytest.fixture(scope="module")
def games(cli: Cli) -> pd.DataFrame:
    """The table of games, with their lowest clock and the lead of the player who lost."""
    archive = Archive(cli.archive, read_only=True)
    games, plies = archive.game_table().set_index("key"), archive.plies()
    clocks = plies.groupby("key")[["white_clock_ms", "black_clock_ms"]]
    games["lowest_ms"] = clocks.min().min(axis=1)
    lead: Any = clocks.last().eval("white_clock_ms - black_clock_ms")
    games["lead_ms"] = lead.where(games["result"] == "0-1", -lead).where(games["result"].isin(["1-0", "0-1"]))
    return games


def speed(game: Any) -> str | None:
    """By the category, else by the clock."""
    if game["category"] in ("blitz", "standard", "lightning", "untimed"):
        return str(game["category"])
    if pd.isna(game["time_control"]) or game["time_control"] == "-":
        return None if pd.isna(game["time_control"]) else "untimed"
    base, increment = map(int, game["time_control"].split("+"))
    estimated = base + 40 * increment
    return "lightning" if estimated < 180 else "blitz" if estimated < 900 else "standard"


def both(games: pd.DataFrame, test: Callable[[Any], Any]) -> Any:
    return test(games["white_rating"]) & test(games["black_rating"])


CASES: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("rating_from", "1900", lambda games: both(games, lambda rating: rating >= 1900)),
    ("rating_to", "1900", lambda games: both(games, lambda rating: rating <= 1900)),
    ("plies_from", "60", lambda games: games["plies"] >= 60),
    ("plies_to", "40", lambda games: games["plies"] <= 40),
    ("time", "3+0", lambda games: games["time_control"] == "180+0"),
    ("time", "180 0", lambda games: games["time_control"] == "180+0"),
    ("time", "2+12", lambda games: games["time_control"] == "120+12"),
    ("speed", "lightning", lambda games: games.apply(speed, axis=1) == "lightning"),
    ("speed", "blitz", lambda games: games.apply(speed, axis=1) == "blitz"),
    ("speed", "standard", lambda games: games.apply(speed, axis=1) == "standard"),
    ("ending", "resign", lambda games: games["reason"] == "resign"),
    ("ending", "adjourned", lambda games: games["ending"] == "adjourned"),
    ("clock_below", "5s", lambda games: games["lowest_ms"] < 5000),
    ("clock_below", "0:30", lambda games: games["lowest_ms"] < 30_000),
    ("lead", "5s", lambda games: games["lead_ms"] > 5000),
    ("lead", "0.5m", lambda games: games["lead_ms"] > 30_000),
]


@pytest.mark.long_except(
    "rating_from 1900", "time 2+12", "speed blitz", "ending adjourned", "clock_below 5s", "lead 5s"
)
@pytest.mark.parametrize(("name", "value", "test"), CASES, ids=[f"{name} {value}" for name, value, _ in CASES])
def test_games_are_those_of_the_tables(
    cli: Cli, games: pd.DataFrame, name: str, value: str, test: Callable[[Any], Any]
) -> None:
    expected = sorted(games.index[test(games).fillna(False)])
    assert 0 < len(expected) < len(games)
    filters: Any = {name: value}
    assert sorted(Archive(cli.archive, read_only=True).game_table(**filters)["key"]) == expected
    with Dataset(cli.archive.with_name("set")) as dataset:
        assert sorted(dataset.game_table(**filters)["key"]) == expected
    listed = cli.json("games", "--json", f"--{name.replace('_', '-')}", value)
    assert sorted(game["key"] for game in listed) == expected


def test_an_archive_of_an_older_version_gets_the_clocks_of_its_games(cli: Cli, tmp_path: Path) -> None:
    names = "lowest_clock_ms", "white_left_ms", "black_left_ms"
    query = f"SELECT key, source_id IS NULL, {', '.join(names)} FROM games ORDER BY 1, 2"
    older = Cli(Path(shutil.copy(cli.archive, tmp_path)))
    with closing(sqlite3.connect(older.archive)) as connection, connection:
        before = connection.execute(query).fetchall()
        for name in names:
            connection.execute(f"ALTER TABLE games DROP COLUMN {name}")
        connection.execute("UPDATE alembic_version SET version_num = '0012'")
    older("db", "upgrade")
    with closing(sqlite3.connect(older.archive)) as connection:
        assert connection.execute(query).fetchall() == before
    assert any(None in row for row in before)
    assert any(None not in row for row in before)


def test_what_happened_is_found_in_all_of_them(cli: Cli) -> None:
    archive = Archive(cli.archive, read_only=True)
    events = archive.events()
    expected = sorted({*events[events["kind"] == "takeback"]["key"], *events[events["detail"] == "kibitz"]["key"]})
    filters: Any = {"happened": ["takeback", "kibitz"]}
    assert sorted(archive.game_table(**filters)["key"]) == expected
    assert expected
    with Dataset(cli.archive.with_name("set")) as dataset:
        assert sorted(dataset.game_table(**filters)["key"]) == expected


def test_an_outcome_is_that_of_a_player(cli: Cli, games: pd.DataFrame) -> None:
    player = games["white"].mode()[0]
    lost = ((games["white"] == player) & (games["result"] == "0-1")) | (
        (games["black"] == player) & (games["result"] == "1-0")
    )
    listed = cli.json("games", "--json", "--player", player, "--outcome", "loss")
    assert sorted(game["key"] for game in listed) == sorted(games.index[lost])
    said = cli("games", "--outcome", "loss", code=2).stderr
    assert "--outcome" in said
    assert "--player" in said


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--time", "fast", "'fast' is no time control; write it as 3+0"),
        ("--rating-from", "-1", "is not a whole number"),
        ("--clock-below", "soon", "'soon' is not a time; write it as 30s"),
        ("--speed", "slow", "is not one of"),
        ("--last", "0", "is not a whole number of 1 or more"),
        ("--eco", "Z", "is no ECO code"),
        ("--since", "x", "is not a date"),
    ],
)
def test_a_value_that_cannot_be_read_is_explained(cli: Cli, option: str, value: str, words: str) -> None:
    said = cli("games", option, value, code=2).stderr
    assert f"Invalid value for '{option}': " in said
    assert words in " ".join(said.split())


@pytest.mark.parametrize(
    ("low", "least", "high", "most"),
    [
        ("--since", "2022", "--until", "2017-03"),
        ("--rating-from", "1900", "--rating-to", "1800"),
        ("--plies-from", "50", "--plies-to", "49"),
        ("--lasts-from", "2m", "--lasts-to", "90s"),
    ],
)
def test_limits_in_the_wrong_order_are_refused(cli: Cli, low: str, least: str, high: str, most: str) -> None:
    said = " ".join(cli("games", low, least, high, most, code=2).stderr.split())
    assert f"({low}) is beyond" in said
    assert f"({high}): no game is in between." in said
    cli("games", low, least, high, least)


def test_a_number_and_a_text_mean_the_same_in_python(cli: Cli) -> None:
    archive = Archive(cli.archive, read_only=True)
    for name, values in (("clock_below", (30, "30s", pd.Timedelta("30s"))), ("rating_from", (1900, "1900"))):
        found = [sorted(archive.game_table(**{name: value})["key"]) for value in values]  # type: ignore[arg-type]
        assert all(one == found[0] for one in found)
    with pytest.raises(ExportError, match="not a whole number"):
        archive.game_table(plies_to=1.5)  # type: ignore[arg-type]


def test_a_time_control_of_a_table_is_a_value_of_the_filter(cli: Cli, games: pd.DataFrame) -> None:
    for control in games["time_control"].dropna().unique():
        assert FILTERS["time"].read(filter_control(control)) == ("0+0" if control == "-" else control)


@pytest.mark.parametrize("name", long_after(2, ["player", "time", "keys", "variant"]))
def test_an_empty_list_is_of_no_games(cli: Cli, name: str) -> None:
    nothing: dict[str, Any] = {name: []}
    with Archive(cli.archive, read_only=True) as archive, Dataset(cli.archive.with_name("set")) as dataset:
        for games in (archive, dataset):
            assert len(games.game_table(**nothing)) == 0
            assert list(games.games(**nothing)) == []


def test_a_value_of_another_type_is_refused_in_words(cli: Cli) -> None:
    wrong: dict[str, Any] = {"player": 5}
    with pytest.raises(ExportError, match="no text"):
        Archive(cli.archive, read_only=True).game_table(**wrong)


def test_capitals_of_all_alphabets_are_small_letters_too(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "archive.sqlite")
    game = '[Event "?"]\n[Site "?"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n[Opening "Ähre"]\n\n'
    (tmp_path / "game.pgn").write_text(f"{game}1. e4 e5 1-0\n", encoding="utf-8")
    cli("import", "--server", "ÖSTERREICH", tmp_path / "game.pgn")
    cli("export", "plies", "--dataset", "-o", tmp_path / "set")
    with Archive(cli.archive, read_only=True) as archive, Dataset(tmp_path / "set") as dataset:
        (server,) = archive.game_table()["server"]
        for games in (archive, dataset):
            for word in (server, server.lower(), server.upper()):
                assert len(games.game_table(server=word)) == 1
        assert len(archive.game_table(opening="ähre")) == len(archive.game_table(opening="ahre")) == 1
