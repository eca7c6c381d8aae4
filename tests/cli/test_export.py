"""``export`` and ``clocks``: all formats contain the same games, and no file is overwritten without --force."""

import csv
import hashlib
import io
import json
from pathlib import Path

import chess.pgn
import pytest

from exporters.pgn.exporter import STYLES, PgnExporter, PgnOptions
from recorder.errors import ExitCode
from storage import ArchiveStore
from tests.edge_cases.scripts import Table, log
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli
from tests.support.effort import long_after


def read_pgn(text: str) -> list[chess.pgn.Game]:
    stream, found = io.StringIO(text), []
    while (game := chess.pgn.read_game(stream)) is not None:
        assert game.errors == []
        found.append(game)
    return found


def test_pgn(filled: Cli) -> None:
    result = filled("export", "pgn")
    games = read_pgn(result.stdout)
    assert len(games) == 6
    assert sum(1 for game in games for _ in game.mainline()) == 137
    assert result.stderr == "Wrote 6 games, 137 plies to standard output.\n"


def test_pgn_options_reach_the_exporter(filled: Cli) -> None:
    assert "%emt" not in filled("export", "pgn", "--clock", "clk").stdout
    assert "%clk" not in filled("export", "pgn", "--clock", "none").stdout
    assert "\r\n" in filled("export", "pgn", "--style", "fics").stdout_bytes.decode()


@pytest.mark.parametrize("clock", ["clk,emt", "clk", "emt", "lag", "clk,emt,lag", "none"])
@pytest.mark.parametrize("style", STYLES)
def test_games_read_without_unused_fields_give_the_same_pgn(filled: Cli, style: str, clock: str) -> None:
    shown = filled("export", "pgn", "--style", style, "--clock", clock, "--variations", "--comments").stdout_bytes
    words = frozenset(clock.split(",")) - {"none"}
    exporter = PgnExporter(PgnOptions(words, style, variations=True, comments=True))
    with ArchiveStore.open(str(filled.archive), read_only=True) as archive:
        assert "".join(map(exporter.game_text, archive.games())).encode() == shown


def test_nothing_is_overwritten_unasked(filled: Cli, tmp_path: Path) -> None:
    target = tmp_path / "games"
    target.write_text("mine")
    for what in ("pgn", "plies", "games"):
        assert "--force" in filled("export", what, "-o", target, code=ExitCode.OUTPUT).stderr
    assert target.read_text() == "mine"
    filled("export", "pgn", "-o", target, "--force")
    assert len(read_pgn(target.read_text())) == 6


@pytest.mark.parametrize("what", ["pgn", "games"])
def test_append_adds_only_new_games(cli: Cli, tmp_path: Path, what: str) -> None:
    target = tmp_path / "games"
    cli("import", ADJOURNED)
    assert "Wrote 1 game," in cli("export", what, "--append", "-o", target).stderr
    first = target.read_bytes()
    cli("import", WATCHER)
    assert "Wrote 5 games," in cli("export", what, "--append", "-o", target).stderr
    assert "6 already in the file" in cli("export", what, "--append", "-o", target).stderr
    assert target.read_bytes().startswith(first)


def test_split_writes_one_file_a_player(filled: Cli, tmp_path: Path) -> None:
    filled("export", "pgn", "--split", "player", "-o", tmp_path / "by")
    names = {path.name for path in (tmp_path / "by").iterdir()}
    assert {"carlsen.pgn", "caruana.pgn", "morphy.pgn"} <= names


@pytest.mark.parametrize("words", [["--append"], ["--split", "day"]])
def test_append_and_split_need_a_file(filled: Cli, words: list[str]) -> None:
    filled("export", "pgn", *words, code=2)


def test_plies_are_equal_in_three_formats(filled: Cli, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    table = list(csv.DictReader(io.StringIO(filled("export", "plies").stdout)))
    lines = [json.loads(line) for line in filled("export", "plies", "--format", "jsonl").stdout.splitlines()]
    filled("export", "plies", "--format", "parquet", "-o", tmp_path / "p.parquet")
    parquet = pq.read_table(tmp_path / "p.parquet").to_pylist()
    assert len(table) == 137
    assert lines == parquet
    assert [row["san"] for row in table] == [row["san"] for row in lines]


def test_games_are_one_object_a_line(filled: Cli) -> None:
    found = [json.loads(line) for line in filled("export", "games", "--last", "3").stdout.splitlines()]
    assert [len(game["plies"]) for game in found] == [
        game["ply_count"] for game in filled.json("games", "--json", "--last", "3")
    ]


def test_games_name_the_logs_they_were_read_from(filled: Cli) -> None:
    found = {
        (source["name"], source["sha256"])
        for line in filled("export", "games").stdout.splitlines()
        for source in json.loads(line)["sources"]
    }
    assert found == {(log.name, hashlib.sha256(log.read_bytes()).hexdigest()) for log in (WATCHER, ADJOURNED)}


def test_bpgn_writes_both_boards_though_one_is_chosen(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "x.bpgn"
    cli("import", SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz")
    last = cli("export", "bpgn", "--white", "Karpov", "--last", "1")
    assert last.stdout.count("[Event ") == 1
    assert last.stderr.startswith("Wrote 2 games, 130 plies to standard output.\n")
    target.write_text(last.stdout)
    assert "Wrote 4 games, 279 plies" in cli("export", "bpgn", "--append", "-o", target).stderr
    assert target.read_text().startswith(last.stdout)
    assert "3 already in the file" in cli("export", "bpgn", "--append", "-o", target).stderr
    cli("export", "bpgn", "--append", code=2)
    cli("export", "bpgn", "--clock", "emt", code=2)


def test_bpgn_of_an_archive_without_bughouse(filled: Cli) -> None:
    result = filled("export", "bpgn", code=ExitCode.FINDINGS)
    assert result.stdout == ""
    assert "No bughouse games match these filters" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("export", "plies"),
        ("export", "games", "--format", "csv"),
        ("clocks", "--csv"),
        ("clocks", "--by", "player", "--csv"),
        ("clocks", "--table", "longest", "--csv"),
        ("plot", "times", "--data", "-", "-o"),
    ],
    ids=" ".join,
)
def test_no_handle_is_a_formula_in_csv(cli: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    saved = tmp_path / "hostile.pgn"
    moves = "1. e4 {[%clk 0:05:00]} e5 {[%clk 0:04:58]} 2. Nf3 {[%clk 0:04:50]} Nc6 {[%clk 0:04:40]} 1-0"
    saved.write_text(f'[White "=HYPERLINK(1)"]\n[Black "@SUM(2)"]\n[TimeControl "300"]\n[Result "1-0"]\n\n{moves}\n')
    cli("import", saved)
    words = (*words, str(tmp_path / "picture.svg")) if words[-1] == "-o" else words
    shielded = cli(*words).stdout
    assert "=HYPERLINK(1)" in shielded
    cells = [cell for row in csv.reader(io.StringIO(shielded)) for cell in row]
    assert not [cell for cell in cells if cell[:1] in "=+@" and cell]
    raw = cli(*words, "--csv-raw", *(["--force"] if words[0] == "plot" else [])).stdout
    assert raw == shielded.replace("'=", "=").replace("'@", "@")


@pytest.mark.parametrize("shuffle", long_after(1, [91, 518, 700]))
@pytest.mark.parametrize("word", [*(f"wild/{number}" for number in range(9)), "wild/8a", "wild", "wild(18)", "wild/fr"])
def test_a_wild_game_keeps_its_name_and_others_read_its_pgn(cli: Cli, tmp_path: Path, word: str, shuffle: int) -> None:
    """Whatever its start looks like."""
    table = Table(board=chess.Board.from_chess960_pos(shuffle))
    start = table.board.fen()
    moves = [table.created(word), table.frame(), *table.plays("a4", "a5", "h4"), table.over("Bob resigns", "1-0")]
    (tmp_path / "wild.log").write_bytes(log(*moves))
    cli("import", tmp_path / "wild.log")
    (game,) = cli.json("games", "--json")
    named = {"wild(18)": "wild/18", "wild/fr": "chess960"}.get(word, word)
    assert (game["variant"], game["category"]) == (named, word)
    text = cli("export", "pgn").stdout
    read = chess.pgn.read_game(io.StringIO(text))
    assert (read.errors, read.board().board_fen(), len(list(read.mainline_moves()))) == ([], start.split()[0], 3)
    (tmp_path / "wild.pgn").write_text(text)
    again = Cli(tmp_path / "again.sqlite")
    again("import", tmp_path / "wild.pgn")
    assert [game["variant"] for game in again.json("games", "--json")] == [named]
