"""``games`` and the filters it shares with every export."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.exporters.games import make_game
from tests.support.cli import ADJOURNED, SERVER, Cli

SAVED = SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn"


def test_lists_one_game_a_line(filled: Cli) -> None:
    result = filled("games")
    heading, *lines = result.stdout.splitlines()
    assert heading.split("\t")[0] == "Key"
    assert len(lines) == 6
    assert result.stderr == "6 games.\n"
    adjourned = [line.split("\t") for line in lines if "adjourned" in line]
    assert [(row[2], row[4], row[7], row[8], row[9]) for row in adjourned] == [
        ("Carlsen", "Caruana", "900+5", "*", "15")
    ]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--player", "carlsen"], 1),
        (["--player", "Carlsen", "--player", "MORPHY"], 3),
        (["--white", "Caruana"], 0),
        (["--result", "*"], 2),
        (["--result", "1-0", "--result", "1/2-1/2"], 4),
        (["--variant", "crazyhouse"], 0),
        (["--last", "2"], 2),
        (["--complete"], 6),
        (["--me", "watcher"], 5),
        (["--since", "2020-01-01"], 0),
        (["--until", "2020-01-01"], 0),
        (["--include", "examined,setup,empty"], 6),
    ],
)
def test_filters(filled: Cli, words: list[str], count: int) -> None:
    everything = filled.json("games", "--json")
    found = filled.json("games", "--json", *words)
    assert len(found) == count
    assert [game for game in everything if game in found] == found


def test_games_by_key_and_by_source(filled: Cli) -> None:
    games = filled.json("games", "--json")
    assert filled.json("games", "--json", games[3]["key"][:8]) == [games[3]]
    for source in filled.json("sources", "--json"):
        assert len(filled.json("games", "--json", "--source", source["id"])) == source["games"]


def test_no_match_is_reported_with_the_size_of_the_archive(filled: Cli) -> None:
    played = len(filled("games").stdout.splitlines()) - 1
    noun = "game" if played == 1 else "games"
    assert filled("games", "--variant", "atomic").stderr == (
        f"No games match these filters ({played} played {noun} in the archive).\n"
    )


def test_excluded_games_are_counted(filled: Cli) -> None:
    assert "Excluded: 6 without a known date." in filled("games", "--since", "2020-01-01").stderr
    assert filled("games", "--last", "2").stderr == "2 games.\nExcluded: 4 older than the newest 2.\n"
    assert filled("games", "--player", "Morphy").stderr == "2 games.\n"


def test_the_count_of_excluded_games_names_the_option_that_includes_them(cli: Cli) -> None:
    log = SERVER / "b05_examine_bsetup" / "observer_GuestXl.raw"
    cli("import", log)
    games = cli.json("games", "--json", "--include", "examined,setup,empty")
    examined = sum(game["kind"] != "played" for game in games)
    assert f"Excluded: {examined} examined or set up (--include examined,setup)" in cli("games").stderr
    assert "Excluded" not in cli("games", "--include", "examined,setup,empty").stderr
    assert "1 examined (--include examined)" in cli("convert", log).stderr


@pytest.mark.parametrize("word", ["chess960", "Fischerandom", "wild/fr", "FRC"])
def test_a_variant_is_found_by_any_of_its_names(cli: Cli, word: str) -> None:
    cli("import", SERVER.parent / "pgn" / "ficsgames-2009-chess960.pgn")
    assert len(cli.json("games", "--json", "--variant", word)) == 12
    assert cli.json("games", "--json", "--variant", "crazyhouse") == []


@pytest.mark.parametrize(
    ("category", "variant", "word"),
    [
        ("blitz", "chess", None),
        ("suicide", "suicide", None),
        ("blitz suicide", "suicide", None),
        ("Bughouse", "bughouse", None),
        ("seirawan/0", "seirawan", None),
        ("wild(1)", "wild/1", None),
        ("wild(11)", "wild/1", "wild/1"),
        ("3-check", "three-check", "three-check"),
        ("King of the Hill", "king-of-the-hill", None),
        ("wild/fr", "chess960", "chess960"),
        ("blitz", "suicide", "suicide"),
        (None, "suicide", "suicide"),
    ],
)
def test_the_variant_is_named_once(category: str | None, variant: str, word: str | None) -> None:
    game = make_game([], category=category, variant=variant)
    assert game.variant_word == word


def test_every_output_has_the_day_of_games_without_a_time(cli: Cli, tmp_path: Path) -> None:
    for name, day in (("known", "2018.07.01"), ("impossible", "2020.02.30"), ("unknown", "2018.07.??")):
        text = f'[White "{name}"]\n[Black "Bob"]\n[Date "{day}"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n'
        (tmp_path / f"{name}.pgn").write_text(text)
    log = tmp_path / "dated.log"
    log.write_bytes(ADJOURNED.read_bytes())
    cli("import", *sorted(tmp_path.glob("*.pgn")))
    cli("import", "--date", "2021-02-03", log)
    days = {"known": "2018-07-01", "impossible": None, "unknown": None, "Carlsen": "2021-02-03"}
    assert {game["white"]["handle"]: game["day"] for game in cli.json("games", "--json")} == days
    lines = cli("export", "games", "-o", "-").stdout.splitlines()
    assert {game["white"]["handle"]: game["day"] for game in map(json.loads, lines)} == days
    with closing(sqlite3.connect(cli.archive)) as sql:
        assert dict(sql.execute("SELECT white, day FROM v_games")) == days
    for words, column in ((("games", "--format", "csv"), "white"), (("plies",), "mover")):
        rows = csv.DictReader(cli("export", *words, "-o", "-").stdout.splitlines())
        assert {row[column]: row["day"] or None for row in rows}.items() >= days.items()


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--since", "2017"], 3),
        (["--since", "2018"], 2),
        (["--until", "2017"], 1),
        (["--until", "2017-02"], 1),
        (["--until", "2017-01"], 0),
        (["--since", "2017-03", "--until", "2022-01"], 1),
        (["--player", "helm*"], 1),
        (["--player", "*S*L*K"], 1),
        (["--white", "*e*", "--black", "s*"], 2),
        (["--opponent", "*"], 3),
        (["--player", "blore", "--opponent", "S*"], 1),
        (["--rated", "--category", "BLITZ"], 2),
        (["--unrated"], 0),
        (["--no-computers"], 2),
    ],
)
def test_filters_of_saved_games(cli: Cli, words: list[str], count: int) -> None:
    cli("import", SAVED)
    assert len(cli.json("games", "--json", *words)) == count


@pytest.mark.parametrize(
    "word", ["20", "2020-13", "2020-1-1", "2019-02-29", "0000", "２０２０", "2020-01-01x", "99999"]
)
def test_a_date_that_is_none_is_refused(cli: Cli, word: str) -> None:
    for option in ("--since", "--until"):
        assert f"{word!r} is not a date; write 2020-01-31, 2020-01" in cli("games", option, word, code=2).stderr


def test_an_unknown_player_is_refused_with_names_that_are_like_it(cli: Cli) -> None:
    cli("import", SAVED)
    for command in (
        "games",
        "games --json",
        "export pgn",
        "export plies",
        "clocks",
        "clocks --by side",
        "replay server",
    ):
        for option in ("--player", "--white", "--black", "--opponent"):
            found = cli(*command.split(), option, "Helm", code=1)
            assert (found.stdout, found.stderr) == ("", "Error: no player Helm; did you mean Helmsman (1 game)?\n")
    for name, like in (
        ("ANTARESLIGTH", "AntaresLight (1 game)?"),
        ("s", "slaran (1 game), Slek (1 game) or AntaresLight (1 game)?"),
        ("xe*z", None),
        ("%", None),
        ("[", None),
    ):
        ending = "." if like is None else f"; did you mean {like}"
        assert cli("games", "--player", name, code=1).stderr == f"Error: no player {name}{ending}\n"


@pytest.mark.parametrize(
    ("option", "word", "sentence"),
    [
        ("--ending", "mate", "no ending mate; the games have agreed, resign, result or time."),
        ("--ending", "resgn", "no ending resgn; did you mean resign (1 game)?"),
        ("--category", "blits", "no category blits; did you mean blitz (2 games)?"),
        ("--server", "nosuch.org", "no server nosuch.org; the games have FICS freechess.org."),
        ("--me", "Zoe", "no connection of the handle Zoe."),
    ],
)
def test_a_word_of_a_filter_that_no_game_has_is_refused(cli: Cli, option: str, word: str, sentence: str) -> None:
    cli("import", SAVED)
    assert cli("games", option, word, code=1).stderr == f"Error: {sentence}\n"


def test_a_player_is_found_whose_accents_were_not_typed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_bytes('[White "Müller, Jörg"]\n[Black "Åke"]\n\n1. e4 *\n'.encode())
    cli("import", tmp_path / "a.pgn")
    assert "did you mean Müller, Jörg (1 game)?" in cli("games", "--player", "muller", code=1).stderr


def test_games_that_lack_what_a_filter_asks_for_are_counted(cli: Cli, tmp_path: Path) -> None:
    untagged = tmp_path / "untagged.pgn"
    untagged.write_text(
        '[White "Ann"]\n[Black "Bob"]\n\n1. e4 e5 *\n\n[White "Ann"]\n[Black "Bob"]\n[SetUp "1"]\n'
        '[FEN "4k3/8/8/8/8/8/8/4K2R w - - 0 1"]\n\n1. Kf1 *\n'
    )
    cli("import", SAVED, untagged)
    everything = cli.json("games", "--json")
    for words, name, reason in (
        (["--category", "blitz"], "category", "without a category"),
        (["--rated"], "rated", "neither known as rated nor as unrated"),
        (["--server", "FICS"], "server", "of an unknown server"),
        (["--since", "2000"], "day", "without a known date"),
        (["--eco", "B"], "eco", "without a named opening"),
    ):
        lacking = sum(game[name] is None for game in everything)
        assert lacking, name
        assert f"{lacking} {reason}" in cli("games", *words).stderr
        assert f"{lacking} {reason}" in cli("export", "pgn", *words).stderr
    assert "unknown server" not in cli("games", "--server", "unknown").stderr
