"""``show`` prints one game."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.edge_cases.scripts import Table, log
from tests.support.cli import ADJOURNED, GUESTS, SERVER, WATCHER, Cli


@pytest.fixture
def key(filled: Cli) -> str:
    (game,) = filled.json("games", "--json", "--player", "Carlsen")
    return str(game["key"])


def test_shows_headers_moves_board_and_events(filled: Cli, key: str) -> None:
    text = filled("show", key[:6]).stdout
    assert f"Key:                   {key}\n" in text
    assert "White:                 Carlsen" in text
    moves = [line.split("\t") for line in text.splitlines() if re.match(r"\d+\.", line)]
    assert len(moves) == 15
    assert moves[0][:2] == ["1.", "e4"]
    assert text.count("\n8  ") == 1
    assert "adjourned" in text.split("Events\n")[1]


def test_keys_of_sources_that_begin_as_typed_are_listed(cli: Cli) -> None:
    cli("import", GUESTS, GUESTS.with_name("observer_Watcher.raw.gz"))
    with closing(sqlite3.connect(cli.archive)) as archive, archive:
        archive.execute("UPDATE games SET key = iif(merged_into IS NULL, 'a', 'b') || substr(key, 2)")
    said = cli("show", "b", code=ExitCode.ARCHIVE).stderr
    assert [key[0] for key in re.findall(r"([0-9a-f]{12}) \(", said)] == ["b", "b"], "two merged games"


@pytest.mark.parametrize("category", ["Bughouse", "blitz chess", "wild(1)", "seirawan/0"])
def test_no_output_names_the_variant_twice(cli: Cli, tmp_path: Path, category: str) -> None:
    table = Table()
    lines = [table.created(category), table.frame(), *table.plays("e4", "e5"), table.over("Bob resigns", "1-0")]
    (tmp_path / "a.log").write_bytes(log(*lines))
    cli("import", tmp_path / "a.log")
    assert f"Kind:                  played rated {category}\n" in cli("show", "last").stdout
    assert f"rated {category}" in cli.table("games")[0].values()
    cli("report", "last", "-o", tmp_path / "page.html")
    assert f"<dd><bdi>rated {category}</bdi>" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("tag", "shown"),
    [("C20 King's pawn", "C20"), ("?", "C20"), ("A00 Polish", "C20 by position; ECO tag: A00 Polish")],
)
def test_an_eco_tag_is_shown_beside_another_code(cli: Cli, tmp_path: Path, tag: str, shown: str) -> None:
    (tmp_path / "a.pgn").write_text(f'[White "Ann"]\n[Black "Bob"]\n[Result "*"]\n[ECO "{tag}"]\n\n1. e4 e5 *\n')
    cli("import", tmp_path / "a.pgn")
    assert f"Opening:               King's Pawn Game ({shown})\n" in cli("show", "last").stdout


def test_json_is_the_object_of_export_games(filled: Cli, key: str) -> None:
    assert filled.json("show", key, "--json") == filled.json("export", "games", key)


def test_raw_prints_the_log_with_its_offsets(filled: Cli, key: str) -> None:
    log = ADJOURNED.read_bytes()
    lines = filled("show", key, "--raw").stdout.splitlines()
    assert sum("<12>" in line for line in lines) == log.count(b"<12>")
    for line in lines:
        name, offset, text = line.split(":", 2)
        assert name == ADJOURNED.name
        assert log[int(offset) :].startswith(text[1:].encode())


def test_raw_reads_the_file_where_the_archive_has_no_bytes(cli: Cli) -> None:
    cli("import", "--no-keep-source", ADJOURNED)
    assert "<12>" in cli("show", "last", "--raw").stdout


def test_raw_says_when_the_lines_are_gone(cli: Cli) -> None:
    cli("import", "--no-keep-source", "-", input=WATCHER.read_bytes())
    assert "are not available" in cli("show", "last", "--raw", code=ExitCode.ARCHIVE).stderr


@pytest.mark.parametrize("spec", ["zzz", "last~99", "ffffffffffff"])
def test_an_unknown_game_is_reported(filled: Cli, spec: str) -> None:
    assert filled("show", spec, code=ExitCode.ARCHIVE).stderr.startswith("Error: ")


def test_last_counts_back(filled: Cli) -> None:
    keys = [filled.json("show", spec, "--json")["key"] for spec in ("last", "last~1", "last~5")]
    assert len(set(keys)) == 3


def test_an_examined_game_is_shown_as_a_tree_in_the_order_it_was_shown(cli: Cli) -> None:
    cli("import", SERVER / "b05_examine_bsetup" / "observer_GuestXl.raw")
    (game,) = [game for game in cli.json("games", "--json", "--include", "examined") if game["kind"] == "examined"]
    text = cli("show", game["key"]).stdout
    lines = text.split("\nLines\n")[1].split("\n\n")[0].splitlines()
    assert lines == [
        "   0 1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 … 6... Nf6 … 17. Rd8+",
        "   1   after the start of 0: 1. d4 d5 2. c4 dxc4 3. e4",
        "   3     after 2. of 1: 2... b5",
        "   2   after 3. of 0: 3... g6",
    ]
    table = text.split("\nShown\n")[1].split("\n\n")[0].splitlines()[1:]
    assert [line.split("\t")[1:5] for line in table[:6]] == [
        ["0", "0", "the start", "-"],
        ["0", "0", "1.", "e4"],
        ["0", "0", "1...", "e5"],
        ["0", "0", "3.", "d4"],
        ["0", "0", "2...", "d6"],
        ["0", "0", "1...", "e5"],
    ]
    assert "inferred, inferred" not in text
    assert "\tinferred\n" in text
    written = cli("export", "pgn", "--include", "examined").stdout
    assert "(1. d4 d5 2. c4 dxc4 (2... b5) 3. e4)" in written
    assert "RecorderPart" not in written


def test_a_position_set_up_in_an_examination_is_found_by_its_players_and_exported_in_its_place(cli: Cli) -> None:
    cli("import", SERVER / "b05_examine_bsetup" / "observer_GuestXl.raw")
    every = ("--include", "examined,setup,empty")
    (game,) = cli.json("games", "--json", "--player", "Someone", *every)
    assert (game["white"]["handle"], game["black"]["handle"], game["kind"]) == ("Someone", "Else", "setup")
    assert (game["result"], game["reason"]) == ("1-0", "Black checkmated")
    written = cli("export", "pgn", *every).stdout
    tags = re.findall(r'^\[(?:White|PlyCount) "(.*)"\]$', written, re.M)
    assert tags == ["Kramnik", "7", "Kramnik", "33", "Kramnik", "8", "Someone", "0"]


def test_an_examined_game_names_the_played_one(cli: Cli) -> None:
    cli("import", SERVER / "b05_examine_bsetup" / "observer_GuestXl.raw")
    kinds = {game["kind"]: game["key"] for game in cli.json("games", "--json", "--include", "examined")}
    found = re.search(
        r"^Examination of: +(\w+) Kramnik - Topalov \((.*)\)$", cli("show", kinds["examined"]).stdout, re.M
    )
    assert found is not None
    assert cli("show", kinds["examined"]).stdout.count("Examination of:") == 1
    assert found[2] == (
        "the same players; 10 plies of the main line are the same; the board after ply 33 is the same; "
        "its last board was called 1-0"
    )
    assert f"Examined in:           {kinds['examined']} Kramnik - Topalov (" in cli("show", found[1]).stdout
    assert cli("show", found[1]).stdout.count("Examined in:") == 1
    (first,) = [game["key"] for game in cli.json("games", "--json") if game["key"] != found[1]]
    assert "Examined in" not in cli("show", first).stdout
