"""PGN on the command line."""

import gzip
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.support.cli import GUESTS, Cli

PGN = Path(__file__).parent.parent / "corpus" / "pgn"
MATCH = PGN.parent / "public" / "bughouse-db-3611438-with-lag.bpgn"
BOARD = PGN / "client-saved-2004-eboard.pgn"


def test_a_grown_pgn_is_imported_and_exported(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.pgn"
    whole = BOARD.read_bytes()
    cut = whole.index(b"[Event", 3000) - 200
    path.write_bytes(whole[:cut])
    cli("import", path)
    assert cli.json("sources", "--json")[0]["kind"] == "pgn"
    path.write_bytes(whole)
    assert "grew" in cli("import", path).output
    assert "nothing new" in cli("import", path).output
    assert len(cli.json("games", "--json")) == 14
    assert cli("verify").exit_code == 0
    exported = cli("export", "pgn").stdout
    assert exported.count('[Event "ICS Rated Chess Match"]') == 14
    converted = cli("convert", path).stdout
    assert sorted(exported.split("\n\n\n")) == sorted(converted.split("\n\n\n"))


def test_every_way_in(cli: Cli, tmp_path: Path) -> None:
    icc = PGN / "icc-saved-2012.pgn"
    wanted = cli("convert", icc).stdout
    assert '[NIC "FR.14"]' in wanted
    assert cli("convert", "-", input=icc.read_bytes()).stdout == wanted
    packed = tmp_path / "icc.gz"
    packed.write_bytes(gzip.compress(icc.read_bytes()))
    assert cli("convert", packed).stdout == wanted
    bare = tmp_path / "bare"
    bare.write_bytes(b"1. Nf3\n")
    assert "--kind" in cli("convert", bare, code=ExitCode.INPUT).stderr
    assert "1. Nf3 *" in cli("convert", "--kind", "pgn", bare).stdout
    assert "pgn" in cli("import", "-n", icc).stdout
    assert not cli.archive.exists()


def test_an_error_in_a_file_is_reported_with_its_place(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    path.write_bytes(b'[White "A"]\n\n1. e4 e5 2. Ke3 1-0\n')
    assert "1 anomaly" in cli("convert", path).stderr
    cli("import", path)
    (found,) = cli.json("anomalies", "--kind", "movetext", "--json")
    assert (found["offset"], found["text"]) == (25, "Ke3")


def test_lost_information_is_reported(cli: Cli) -> None:
    years = PGN / "ficsgames-variants-by-year.pgn"
    assert "elapsed times" in cli("convert", "--style", "lichess", years).stderr
    assert "Excluded" not in cli("convert", "--style", "fics", years).stderr


def test_saved_games_are_not_followed(cli: Cli) -> None:
    assert "only logs can be followed" in cli("follow", BOARD, code=ExitCode.INPUT).stderr


def test_a_forgotten_player_leaves_saved_games_too(cli: Cli) -> None:
    cli("import", BOARD)
    cli("forget", "alexcardoso", "--yes")
    assert len(cli.json("games", "--json")) == 11
    assert b"alexcardoso" not in cli.archive.read_bytes()
    assert "0 findings" in cli("verify").output
    cli("import", BOARD)
    assert "no player" in cli("games", "--player", "alexcardoso", code=1).stderr


def test_folders_of_saved_games_are_read_but_not_what_this_program_wrote(cli: Cli, tmp_path: Path) -> None:
    (folder := tmp_path / "games").mkdir()
    downloaded = folder / "downloaded.pgn"
    downloaded.write_bytes(BOARD.read_bytes())
    (folder / "match.bpgn").write_bytes(MATCH.read_bytes())
    output = cli("import", folder).stdout
    assert "downloaded.pgn: pgn" in output
    assert "match.bpgn: bpgn" in output
    games = len(cli.json("games", "--json"))
    assert games > 14
    cli("export", "pgn", "-o", folder / "all.pgn")
    cli("export", "bpgn", "-o", folder / "all.bpgn")
    with gzip.open(folder / "packed.pgn.gz", "wb") as packed:
        packed.write((folder / "all.pgn").read_bytes())
    output = cli("import", folder).stdout
    for name in ("all.pgn", "all.bpgn", "packed.pgn.gz"):
        assert f"{folder / name}: excluded, ics-recorder wrote it" in output
    assert "(3 exported, 2 known): 0 games" in output
    assert len(cli.json("games", "--json")) == games
    assert [row["status"] for row in cli.json("import", "-n", "--json", folder)].count("exported") == 3
    other = Cli(tmp_path / "other.sqlite")
    other("import", folder / "all.pgn")
    assert len(other.json("games", "--json")) == games


def test_a_game_of_this_program_after_others_does_not_hide_them(cli: Cli, tmp_path: Path) -> None:
    """A user collects games in one file and adds some of this program."""
    (tmp_path / "mixed.pgn").write_bytes(
        b'[Event "x"]\n[White "Ann"]\n\n1. e4 *\n\n[Event "y"]\n[White "Bob"]\n[RecorderKey "0f"]\n\n1. d4 *\n'
    )
    assert "2 games" in cli("import", tmp_path).stdout


def test_zone_of_saved_games(cli: Cli, tmp_path: Path) -> None:
    """Times of day without a zone are read in the given zone."""
    path = tmp_path / "a.pgn"
    dated = '[White "A"]\n[Black "B"]\n[Date "2013.07.01"]\n[Time "10:30:00"]\n\n1. e4 *\n\n'
    path.write_text(dated + '[White "C"]\n[Black "D"]\n\n1. d4 *\n')
    cli("import", "--tz", "Europe/Vienna", path)
    assert '[UTCDate "2013.07.01"]\n[UTCTime "08:30:00"]' in cli("export", "pgn").stdout
    path.write_text(path.read_text() + dated.replace('"A"', '"E"'))
    cli("import", path)
    cli("db", "rebuild")
    assert cli("export", "games").stdout.count('"started_at":"2013-07-01T08:30:00.000Z"') == 2
    match = (PGN.parent / "public" / "bughouse-2005-client-saved.bpgn").read_bytes()
    bpgn = tmp_path / "timed.bpgn"
    bpgn.write_bytes(match.replace(b"[TimeControl", b'[Time "10:30:00"]\n[TimeControl', 1))
    assert '[UTCTime "08:30:00"]' in cli("convert", "--tz", "+02:00", bpgn).stdout


@pytest.mark.parametrize("kind", ["pgn", "bpgn"])
def test_a_log_read_as_saved_games_is_reported(cli: Cli, kind: str) -> None:
    assert f"gave no game when read as kind {kind}" in cli("import", "--kind", kind, GUESTS).stdout


@pytest.mark.parametrize("words", [[], ["--style", "fics"], ["--style", "lichess"], ["--comments", "--engine"]])
def test_a_line_separator_in_a_tag_or_comment_ends_no_line(tmp_path: Path, words: list[str]) -> None:
    odd = "a\u2028b\u2029c\x85d"
    pgn = tmp_path / "odd.pgn"
    tags = "".join(f'[{name} "{odd}"]\n' for name in ("Event", "Site", "White", "Annotator", "Opening"))
    pgn.write_text(f'{tags}[Black "B"]\n[Result "1-0"]\n\n1. e4 {{{odd}}} e5 1-0\n', encoding="utf-8", newline="")
    run = Cli(tmp_path / "archive.sqlite")
    run("import", pgn)
    out = run("export", "pgn", *words).stdout
    assert f'[White "{odd.replace(chr(0x85), " ")}"]' in out.split("\n")
    run("report", "last", "-o", tmp_path / "game.html")
    pgn.write_text(out, encoding="utf-8", newline="")
    run("import", "--db", tmp_path / "again.sqlite", pgn)
    assert run.json("games", "--db", tmp_path / "again.sqlite", "--json")[0]["white"]["handle"].startswith("a\u2028b")


def test_filters_find_the_opening_that_an_export_shows(cli: Cli, tmp_path: Path) -> None:
    """The codes and names of a PGN and ours; of the PGN and a log of one game too."""
    games = {
        "A": '[ECO "B29"]',  # the moves are B02, Alekhine Defense
        "B": '[ECO "C20 Kings pawn"]',
        "C": '[Opening "Défense Alékhine"] [Variation "4.Ng1"]',
        "D": '[Result "*"]',
        "E": '[ECO "?"]',
    }
    path = tmp_path / "a.pgn"
    path.write_text("".join(f'[White "{name}"]\n{tag}\n\n1. e4 Nf6 *\n\n' for name, tag in games.items()))
    cli("import", path)

    def found(*options: str) -> str:
        return "".join(sorted(game["white"]["handle"] for game in cli.json("games", *options, "--json")))

    assert found("--eco", "B29") == found("--eco", "b2") == "A"
    assert found("--eco", "C") == "B"
    assert found("--eco", "B02") == "ABCDE"
    assert found("--opening", "kings PAWN") == "B"
    assert found("--opening", "alekhine") == "ABCDE"
    assert found("--opening", "defense alekhine") == found("--opening", "4.Ng1") == "C"
    tags = [line for line in cli("export", "pgn").stdout.split("\n") if line.startswith(("[ECO", "[Open", "[Varia"))]
    assert tags == [
        '[ECO "B29"]', '[ECO "C20"]', '[Opening "Kings pawn"]', '[Opening "Défense Alékhine"]', '[Variation "4.Ng1"]',
        '[ECO "B02"]', '[Opening "Alekhine Defense"]', '[ECO "?"]',
    ]  # fmt: skip


def test_a_date_is_that_of_all_games_of_a_source(cli: Cli, tmp_path: Path) -> None:
    """What a game had stays beside it, as with ``edit``; a game that was corrected by itself keeps that."""
    path = tmp_path / "a.pgn"
    games = (
        '[Date "2001.02.03"]\n[Time "10:30:00"]',
        '[UTCDate "2001.02.03"]\n[UTCTime "04:05:06"]',
        '[Date "????.??.??"]',
        '[Date "2004.??.??"]',
        '[Date "2020.01.??"]',
    )
    path.write_text("".join(f'[White "W{number}"]\n{tag}\n\n1. e4 *\n\n' for number, tag in enumerate(games)))

    def dates() -> list[str]:
        found = sorted(cli.json("games", "--json"), key=lambda game: game["white"]["handle"])
        return [str(game["day"]) for game in found]

    cli("import", path)
    assert dates() == ["2001-02-03", "2001-02-03", "None", "None", "None"]
    assert "3 games had another date" in cli("import", "--date", "2020-01-01", path).stdout
    assert dates() == ["2020-01-01"] * 5
    key = cli.json("games", "--white", "W3", "--json")[0]["key"]
    assert "date 2020.01.01, was 2004.??.??" in cli("show", key).stdout
    converted = cli("convert", path, "--date", "2020-01-01").stdout
    assert converted.count('[Date "2020.01.01"]') == 5
    assert converted.count('[RecorderEdited "Date"]') == 3
    cli("edit", "--player", "W0", "--date", "2009-03-05")
    cli("import", "--date", "2021-01-01", "--server", "Vienna", path)
    assert dates() == ["2009-03-05", *["2021-01-01"] * 4]
    assert cli("export", "pgn").stdout.count('[Site "Vienna"]') == 5
    cli("db", "rebuild")
    cli("verify")
    assert dates() == ["2009-03-05", *["2021-01-01"] * 4]
    (journal, *_) = sorted((PGN.parent / "outage").glob("*.journal.zst"))
    assert '[Date "2020.01.01"]' in cli("convert", "--date", "2020-01-01", journal).stdout
