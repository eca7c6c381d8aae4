"""``edit`` corrects games: what a person knows counts everywhere, and what was recorded is never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recorder import Archive
from tests.support.cli import Cli

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


def test_a_correction_survives_import_rebuild_and_another_archive(saved: Cli, tmp_path: Path) -> None:
    saved("edit", "last", "--white", "Cid", "--time", "18:30", "--date", "2009-03-05")
    corrected = _game(saved)
    assert corrected["started_at"] == "2009-03-05T18:30"
    saved("import", saved.archive.with_name("saved.pgn"), "--date", "2001-01-01")
    assert _game(saved)["started_at"] == corrected["started_at"]
    saved("db", "rebuild")
    assert _game(saved)["white"] == corrected["white"]
    saved("verify")
    other = Cli(tmp_path / "other.sqlite")
    other("import", saved.archive)
    assert _game(other) == _game(saved)
    other("edit", "last", "--undo")
    assert _game(other)["white"]["handle"] == "Ann"
