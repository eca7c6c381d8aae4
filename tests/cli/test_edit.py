"""``edit`` corrects games: what a person knows counts everywhere, and what was recorded is never lost."""

from pathlib import Path
from sqlite3 import Connection
from types import SimpleNamespace
from typing import Any

import pytest

import storage.archive
from exporters.pgn.exporter import PgnOptions
from recorder import Archive, StorageError
from recorder.archive.following.pgn import FinishedGames
from recorder.model import Game
from storage.maintenance.check import check
from storage.write.merged import load_feeds
from tests.archive.test_following import MIDDLE, STREAM, append, follow
from tests.relating.scenes import connections, journal
from tests.support.cli import ADJOURNED, WATCHER, Cli

SAVED = """\
[Event "Casual"]
[Site "?"]
[Date "????.??.??"]
[White "Ann"]
[Black "Bob"]
[Result "0-1"]

1. e4 e5 2. Nf3 Nc6 {Ann resigns} 0-1

"""


@pytest.fixture
def saved(cli: Cli) -> Cli:
    """An archive of one saved game."""
    path = cli.archive.with_name("saved.pgn")
    path.write_text(SAVED)
    cli("import", path)
    return cli


def _game(cli: Cli, key: str = "last") -> dict[str, Any]:
    found: dict[str, Any] = cli.json("show", key, "--json")
    return found


def test_a_corrected_value_counts_in_exports_filters_and_tables(saved: Cli) -> None:
    saved("edit", "last", "--date", "2009-03-05", "--white", "Carlsen, Magnus", "--event", "Club", "--tag", "Round=3")
    pgn = saved("export", "pgn").stdout
    for tag in ('Event "Club"', 'Date "2009.03.05"', 'Round "3"', 'White "Carlsen, Magnus"'):
        assert f"[{tag}]\n" in pgn
    assert '[RecorderEdited "Date Event Round White"]\n' in pgn
    assert "{Carlsen, Magnus resigns} 0-1" in pgn
    assert len(saved.json("games", "--player", "Carlsen*", "--since", "2009", "--until", "2009", "--json")) == 1
    assert not saved.json("games", "--white", "Bob", "--json")
    saved("edit", "last", "--site", "FICS")
    assert len(saved.json("games", "--server", "FICS", "--json")) == 1
    saved("edit", "last", "--site", "Vienna")
    assert '[Site "Vienna"]' in saved("export", "pgn").stdout
    with Archive(saved.archive, read_only=True) as archive:
        (row,) = archive.game_table().to_dict("records")
        plies = archive.plies(extra=["event"])
    assert (row["white"], str(row["day"])[:10]) == ("Carlsen, Magnus", "2009-03-05")
    assert set(plies["event"]) == {"Club"}


def test_what_was_recorded_stays_visible_and_can_be_restored(saved: Cli) -> None:
    before, pgn = _game(saved), saved("export", "pgn").stdout
    saved("edit", "last", "--date", "2009.3.5", "--result", "1-0")
    shown = saved("show", "last").stdout
    assert "date 2009.03.05, was unknown\n" in shown
    assert "result 1-0, was 0-1\n" in shown
    found = {one["field"]: (one["value"], one["recorded"]) for one in _game(saved)["corrections"]}
    assert found == {"Date": ("2009.03.05", None), "Result": ("1-0", "0-1")}
    saved("edit", "last", "--undo")
    assert _game(saved) == before
    assert saved("export", "pgn").stdout == pgn


def test_a_server_that_import_is_given_leaves_the_recorded_one_beside_it(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "saved.pgn"
    path.write_text(SAVED.replace('Site "?"', 'Site "FICS"'))
    cli("import", "--server", "ICC", path)
    assert _game(cli)["server"] == "Internet Chess Club"
    assert "site Internet Chess Club, was FICS\n" in cli("show", "last").stdout
    cli("edit", "last", "--undo")
    assert _game(cli)["server"] == "FICS freechess.org"


def test_games_that_have_the_server_that_import_is_given_are_not_read_again(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def loaded(driver: Connection, rows: list[int]) -> list[Game]:
        read.extend(rows)
        return load_feeds(driver, rows)

    monkeypatch.setattr(storage.archive, "load_feeds", loaded)
    path = tmp_path / "saved.pgn"
    path.write_text(SAVED * 2 + SAVED.replace('Site "?"', 'Site "FICS"'))
    cli("import", "--server", "FICS", path)
    assert not read
    cli("import", "--server", "ICC", path)
    assert len(set(read)) == 1
    assert {game["server"] for game in cli.json("games", "--json")} == {"Internet Chess Club"}


def test_a_correction_survives_import_rebuild_and_another_archive(saved: Cli, tmp_path: Path) -> None:
    saved("edit", "last", "--white", "Cid", "--time", "18:30", "--date", "2009-03-05")
    corrected = _game(saved)
    assert corrected["started_at"] == "2009-03-05T18:30"
    saved("import", saved.archive.with_name("saved.pgn"), "--date", "2001-01-01")
    assert _game(saved)["started_at"] == corrected["started_at"]
    saved("import", saved.archive.with_name("saved.pgn"), "--server", "FICS")  # which is part of its key
    assert _game(saved)["white"] == corrected["white"]
    saved("db", "rebuild")
    assert _game(saved)["white"] == corrected["white"]
    saved("verify")
    other = Cli(tmp_path / "other.sqlite")
    other("import", saved.archive)
    assert _game(other) == _game(saved)
    other("edit", "last", "--undo")
    assert _game(other)["white"]["handle"] == "Ann"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("last", "--date", "2009-02-30"), "'2009-02-30' is not a date"),
        (("last", "--date", "2999-01-01"), "2999-01-01 is in the future"),
        (("last", "--time", "25:00"), "is not a time of day"),
        (("last", "--time", "18:30"), "has no date: give it one together with the time"),
        (("last", "--variant", "racingkings"), "cannot be racing-kings: it begins as chess does; nothing was changed"),
        (("last", "--variant", "crazihouse"), "unknown variant 'crazihouse'; did you mean 'crazyhouse'?"),
        (("last", "--result", "2-0"), "'2-0' is not a result"),
        (("last", "--tag", "FEN=x"), "moves and clocks stay as they were recorded"),
        (("last", "--tag", "Round"), "is no tag; write it as Round=3"),
        (("last", "--white", "A\x1bB"), "printable letters"),
        (("ffff", "--result", "1-0"), "ffff"),
        (("last", "--undo"), "nothing to undo"),
        (("last", "--undo", "--result", "1-0"), "give no value with it"),
        (("last",), "Give what is to be corrected"),
        (("--result", "1-0"), "Give the keys of games, or filters"),
    ],
    ids=" ".join,
)
def test_bad_input_gets_one_sentence_and_changes_nothing(saved: Cli, words: tuple[str, ...], sentence: str) -> None:
    before = _game(saved)
    result = saved("edit", *words, code=None)
    assert result.exit_code != 0
    assert sentence in " ".join(result.stderr.split())
    assert _game(saved) == before


def test_several_games_are_corrected_after_a_question_that_counts_them(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("import", WATCHER)
    before = cli.json("games", "--json")
    assert "--yes" in cli("edit", "--last", "3", "--event", "Club", code=2).stderr
    assert "3 games would be corrected" in cli("edit", "--last", "3", "--event", "Club", "--dry-run").stderr
    assert "RecorderEdited" not in cli("export", "pgn").stdout
    cli("edit", "--last", "3", "--event", "Club", "--yes")
    assert cli("export", "pgn").stdout.count('[Event "Club"]\n') == 3
    terminal, pipe = (SimpleNamespace(isatty=lambda answer=answer: answer) for answer in (True, False))
    monkeypatch.setattr("recorder.cli.output.sys", SimpleNamespace(stdin=terminal, stdout=pipe))
    asked = cli("edit", "--last", "2", "--event", "Cup", code=1, input="n\n")
    assert asked.stdout.count("Cup") == 2
    assert "Correct 2 games? [y/N]" in asked.stderr
    cli("edit", *(game["key"] for game in before), "--undo", "--yes")
    assert cli.json("games", "--json") == before


def test_a_log_with_another_date_keeps_its_clocks_and_agrees_with_the_archive(cli: Cli) -> None:
    cli("import", ADJOURNED)
    key = cli.json("games", "--json")[0]["key"]
    before = _game(cli, key)
    cli("edit", key, "--date", "2009-03-05", "--time", "12:00:00", "--black", "Cid")
    after = _game(cli, key)
    assert after["started_at"].startswith("2009-03-05T12:00:00")
    clocks = ("san", "white_clock_ms", "black_clock_ms", "elapsed_ms", "lag_ms")
    assert [[ply[name] for name in clocks] for ply in after["plies"]] == [
        [ply[name] for name in clocks] for ply in before["plies"]
    ]
    cli("verify")
    assert check(cli.archive) == []
    cli("edit", key, "--undo")
    assert _game(cli, key) == before


def test_both_sources_of_a_game_are_corrected_and_stay_one(cli: Cli, tmp_path: Path) -> None:
    for name in connections("c08_adjourn"):
        path = tmp_path / f"{name}.icsj"
        path.write_bytes(journal("c08_adjourn", name))
        cli("import", path)
    games = [_game(cli, one["key"]) for one in cli.json("games", "--json")]
    merged = next(game for game in games if game["witnesses"])
    cli("edit", merged["key"], "--white", "Cid", "--result", "1/2-1/2")
    after = _game(cli, merged["key"])
    assert (after["white"]["handle"], after["result"], after["witnesses"]) == ("Cid", "1/2-1/2", merged["witnesses"])
    cli("verify")
    cli("db", "rebuild")
    assert _game(cli, merged["key"]) == after
    cli("edit", merged["key"], "--undo")
    assert _game(cli, merged["key"]) == merged


def test_import_names_the_command_that_restores_other_dates(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "dated.pgn"
    path.write_text(SAVED.replace("????.??.??", "2017.02.07"), encoding="utf-8")
    said = cli("import", path, "--date", "2026-11-21").stdout
    assert '[Date "2026.11.21"]' in cli("export", "pgn").stdout
    command = said.partition("1 game had another date or server; `")[2].partition("`")[0]
    cli(*command.split(), "-y")
    assert '[Date "2017.02.07"]' in cli("export", "pgn").stdout


def test_no_share_with_pseudonyms_and_no_erased_player_leaves_a_corrected_name(saved: Cli, tmp_path: Path) -> None:
    saved("edit", "last", "--white", "Zebedee", "--event", "Simul of Zebedee", "--date", "2009-03-05")
    shared = tmp_path / "shared.sqlite"
    saved("db", "share", "--pseudonyms", "-o", shared)
    assert b"ebedee" not in shared.read_bytes()
    assert Cli(shared)("export", "pgn").stdout.count('[RecorderEdited "Date White"]') == 1
    other = Cli(tmp_path / "other.sqlite")
    other("import", shared)
    assert len(other.json("games", "--since", "2009", "--json")) == 1
    saved("edit", "last", "--white", "Cid")
    saved("forget", "--yes", "Zebedee")
    assert b"ebedee" not in saved.archive.read_bytes()
    assert _game(saved)["white"]["handle"] == "Cid"
    saved("forget", "--yes", "Ann")
    assert saved.json("games", "--json") == []
    assert b"Ann" not in saved.archive.read_bytes()


def test_a_variant_must_have_the_moves(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.pgn"
    path.write_text('[White "Ann"]\n[Black "Bob"]\n\n1. e4 d5 2. a3 *\n')
    cli("import", path)
    wrong = cli("edit", "last", "--variant", "suicide", code=4).stderr
    assert "cannot be suicide: 2. a3 is illegal; nothing was changed" in wrong
    assert _game(cli)["variant"] == "chess"
    cli("edit", "last", "--variant", "wild/fr")
    assert _game(cli)["variant"] == "chess960"


def test_a_name_that_only_a_correction_gave_goes_with_the_correction(saved: Cli) -> None:
    """The game stays under its recorded name, as a rebuild would restore it; no byte of the other name is left."""
    before = _game(saved)
    saved("edit", "last", "--white", "Zebedee", "--site", "Zebulon.example.org", "--tag", "Zebulah=3")
    saved("forget", "--yes", "Zebedee", "Zebulon", "Zebulah")
    assert b"Zeb" not in saved.archive.read_bytes()
    game = _game(saved)
    assert (game["white"], game["server"]) == (before["white"], None)
    assert [one["field"] for one in game["corrections"]] == ["Site", "X______"]
    saved("verify")
    saved("db", "rebuild")
    assert _game(saved) == game
    for words in (("--white", "Zebedee"), ("--event", "Simul of Zebulon"), ("--tag", "Zebulah=3")):
        assert "names an erased player; nothing was changed" in saved("edit", "last", *words, code=4).stderr
    assert _game(saved) == game


def test_a_game_in_progress_that_is_corrected_ends_so(cli: Cli, tmp_path: Path) -> None:
    """In the archive and in the PGN of a recorder that runs beside ``edit``."""
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    follower = follow(cli, log, FinishedGames(str(pgn), PgnOptions()))
    append(log, STREAM[:MIDDLE])
    follower.look()
    key = next(game["key"] for game in cli.json("games", "--json") if game["end"] == "log-ends")
    white = _game(cli, key)["white"]["handle"]
    cli("edit", key, "--white", "Zebedee", "--date", "2009-03-05")
    append(log, STREAM[MIDDLE:])
    follower.look()
    assert follower.finish(), follower.problem
    game = _game(cli, key)
    assert (game["white"]["handle"], game["day"], game["result"]) == ("Zebedee", "2009-03-05", "1/2-1/2")
    assert pgn.read_text().count('[White "Zebedee"]') == 1
    assert cli("export", "pgn", key).stdout in pgn.read_text()
    cli("edit", key, "--undo")
    assert _game(cli, key)["white"]["handle"] == white
    cli("verify")


def test_a_program_corrects_games(saved: Cli) -> None:
    with Archive(saved.archive) as archive:
        (game,) = archive
        assert archive.edit(game.key, White="Cid", Date="2009-03-05") == [game.key]
        assert (archive[game.key].white.handle, str(archive[game.key].day)) == ("Cid", "2009-03-05")
        assert archive.edit([game.key], undo=True) == [game.key]
        assert archive[game.key].white.handle == "Ann"
        with pytest.raises(StorageError, match="is not a result"):
            archive.edit(game.key, Result="2-0")


def test_an_erased_name_goes_from_corrections_and_leaves_them_readable(saved: Cli, tmp_path: Path) -> None:
    saved("edit", "last", "--event", "Zebulon-Cid match", "--date", "2009-03-05", "--site", "London", "--result", "1-0")
    saved("forget", "--yes", "Zebulon", "Site", "Date", "null", "reason")
    assert b"Zebulon" not in saved.archive.read_bytes()
    found = {one["field"]: one["value"] for one in _game(saved)["corrections"]}
    assert found == {"Event": "X______-Cid match", "Date": "2009.03.05", "Site": "London", "Result": "1-0"}
    shared = tmp_path / "shared.sqlite"
    saved("db", "share", "--redact", "0|Cid|[a-z]", "-o", shared)
    other = Cli(tmp_path / "other.sqlite")
    other("import", shared)
    assert len(other.json("games", "--since", "2009-03-05", "--until", "2009-03-05", "--json")) == 1
