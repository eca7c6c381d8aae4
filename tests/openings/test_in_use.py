"""Openings where a user meets them: filters, PGN, tables, headers, and an archive of an older version."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder import ExportError
from recorder.model import EventKind, GameEvent
from recorder.openings import Opening
from storage.write.corrections import name_openings
from tests.exporters.games import make_game
from tests.support.cli import Cli

PGN = Path(__file__).parent.parent / "corpus" / "pgn"
_TAG = re.compile(r'^\[(ECO|Opening|Variation) "([^"]*)"\]\r?$', re.MULTILINE)


def stored(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT key, eco, opening, opening_ply FROM games ORDER BY id").fetchall()


def keys_of(cli: Cli, *options: str) -> set[str]:
    return {game["key"] for game in cli.json("games", "--json", *options)}


def test_games_are_chosen_by_code_and_name(filled: Cli) -> None:
    names = {key: (eco, name) for key, eco, name, _ in stored(filled.archive) if key in keys_of(filled)}
    code, name = next(pair for pair in names.values() if pair[0] is not None)
    for option, wanted in (
        (("--eco", code.lower()), {key for key, (eco, _) in names.items() if eco == code}),
        (("--eco", code[:2]), {key for key, (eco, _) in names.items() if eco is not None and eco[:2] == code[:2]}),
        (("--opening", name[1:9].upper()), {key for key, (_, one) in names.items() if one and name[1:9] in one}),
    ):
        assert keys_of(filled, *option) == wanted != set()
    with recorder.Archive(filled.archive) as archive:
        assert {game.key for game in archive.games(eco=[code[0], "E"])} == {
            key for key, (eco, _) in names.items() if eco is not None and eco[0] in (code[0], "E")
        }


@pytest.mark.parametrize("text", ["reti", "RÉTI", "Réti op"])
def test_accents_need_not_be_typed(tmp_path: Path, text: str) -> None:
    (tmp_path / "reti.pgn").write_text('[White "A"]\n[Black "B"]\n\n1. Nf3 d5 2. c4 *\n')
    cli = Cli(tmp_path / "new.sqlite")
    cli("import", tmp_path / "reti.pgn")
    assert len(keys_of(cli, "--opening", text)) == 1
    assert "no opening r%ti" in cli("games", "--opening", "r%ti", code=1).stderr


@pytest.mark.parametrize("word", ["F00", "B900", "9", "Najdorf"])
def test_what_is_no_code_is_refused(filled: Cli, word: str) -> None:
    assert (
        f"{word!r} is no ECO code; write one as B90, or its beginning as B9."
        in filled("games", "--eco", word, code=2).output
    )
    with recorder.Archive(filled.archive) as archive, pytest.raises(ExportError, match="is no ECO code"):
        archive.games(eco=word)


def test_headers_and_tables_have_the_opening(filled: Cli) -> None:
    rows = {key: (eco, name, ply) for key, eco, name, ply in stored(filled.archive)}
    with recorder.Archive(filled.archive) as archive:
        table = archive.game_table()
        found = table[["key", "eco", "opening", "opening_ply"]].astype(object).itertuples(index=False)
        assert {row[0]: tuple(row[1:]) for row in found} == {key: rows[key] for key in table["key"]}
        for game in archive.games():
            assert game.opening == Opening(*rows[game.key])
    key, (eco, name, _) = next(iter(rows.items()))
    assert f"Opening:               {name} ({eco})\n" in filled("show", key).stdout


def test_an_upgrade_names_the_openings(filled: Cli) -> None:
    before = stored(filled.archive)
    with closing(sqlite3.connect(filled.archive, isolation_level=None)) as connection:
        connection.execute("UPDATE games SET eco = 'A00', opening = NULL, opening_ply = NULL")
        connection.execute("BEGIN")
        name_openings(connection)
        connection.execute("COMMIT")
    assert stored(filled.archive) == before


def test_pgn_has_code_family_and_variation() -> None:
    game = make_game(["e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6", "h2h4"])
    name = [("ECO", "B90"), ("Opening", "Sicilian Defense"), ("Variation", "Najdorf Variation")]
    assert _TAG.findall(game.to_pgn()) == _TAG.findall(game.to_pgn(style="lichess")) == name
    assert _TAG.findall(game.to_pgn(style="fics")) == name[:1]
    assert _TAG.findall(make_game(["e2e4", "c7c5"], variant="crazyhouse").to_pgn()) == []


@pytest.mark.parametrize(
    ("saved", "written"),
    [
        ({}, {"ECO": "B20", "Opening": "Sicilian Defense"}),
        ({"ECO": "B20/01"}, {"ECO": "B20/01"}),
        ({"Opening": "Sizilianisch"}, {"Opening": "Sizilianisch"}),
        ({"ECO": "B20 Sizilianisch"}, {"ECO": "B20", "Opening": "Sizilianisch"}),
        ({"ECO": "?", "Variation": "open"}, {"ECO": "?", "Variation": "open"}),
    ],
)
@pytest.mark.parametrize("beside", [False, True])
def test_tags_of_a_saved_game_are_kept(saved: dict[str, str], written: dict[str, str], beside: bool) -> None:
    """Also where a log has the game, too."""
    from recorder.model import ObservationKind

    game = make_game(["e2e4", "c7c5"])
    game.observations[0].kind = ObservationKind.LIVE if beside else ObservationKind.PGN
    if beside:
        game.observations.append(make_game(["e2e4", "c7c5"]).observations[0])
        game.observations[1].kind = ObservationKind.PGN
    game.observations[-1].events += [
        GameEvent(number, EventKind.TAG, name, 0, None, None, text, None, None, None, 900)
        for number, (name, text) in enumerate(saved.items())
    ]
    assert dict(_TAG.findall(game.to_pgn())) == written
    assert _TAG.findall(game.to_pgn(style="fics")) == [pair for pair in written.items() if pair[0] == "ECO"]


def test_a_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    """Exported, imported and exported again: the same tags, of the file now."""
    cli = Cli(tmp_path / "new.sqlite")
    cli("import", PGN / "icc-saved-2012.pgn", PGN / "ficsgames-variants-by-year.pgn")
    first = cli("export", "pgn").stdout
    assert '[Opening "French: Tarrasch"]' in first
    (tmp_path / "again.pgn").write_text(first)
    again = Cli(tmp_path / "again.sqlite")
    again("import", tmp_path / "again.pgn")
    assert _TAG.findall(again("export", "pgn").stdout) == _TAG.findall(first)
