"""docs/reference/formats.md lists exactly what is written, in its order."""

import re
from dataclasses import fields
from pathlib import Path

from exporters.dataset_parts import DATASET_EVENT_COLUMNS, DATASET_GAME_COLUMNS, DATASET_PLY_COLUMNS
from exporters.games_json import game_object
from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, MATCH_COLUMNS, PLY_COLUMNS
from recorder.model import (
    Analysis,
    Correction,
    Evidence,
    EvidenceKind,
    HoldingsChange,
    LineKind,
    Link,
    LinkKind,
    PlyLine,
    Thinking,
)
from recorder.times import iso
from storage.dataset.files import Manifest, SourceRecord
from tests.exporters.games import make_game
from tests.exporters.test_pgn import chat

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"


def table(header: str) -> list[tuple[str, str]]:
    """Each name, and the second cell of its row, of the table whose first header cell is ``header``."""
    text = DOCUMENT.read_text(encoding="utf-8")
    (body,) = re.findall(rf"^\| {header} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in body.splitlines()]
    return [(name, row[1]) for row in rows for name in row[0].split(", ")]


def names(header: str) -> list[str]:
    return [name for name, _ in table(header)]


def test_game_fields() -> None:
    game = make_game()
    game.observations[0].events.append(chat(1, "hello"))
    game.observations[0].lines.append(PlyLine(1, LineKind.TAKEBACK, 0, 1, []))
    game.evidence.append(Evidence(EvidenceKind.SAME, "45 equal plies"))
    game.links.append(Link(LinkKind.PARTNER, "0" * 20, "gameinfo"))
    game.observations[0].thinking.append(
        Thinking(0, 1, "gnuchess", True, 9, 12, None, 1500, 9000, 12, None, None, "e4 e5", None, 7)
    )
    game.observations[0].holdings.append(HoldingsChange(0, 3, "N", "", "WN", 5, 1500))
    game.analyses.append(Analysis("gnuchess", "cecp", "{}", 0, tuple(game.observations[0].thinking)))
    game.corrections.append(Correction("White", "Ann", "An", 5, {}))
    found = game_object(game)
    assert found["passes"] == [
        {"source": 0, "ply": 3, "to": "white", "piece": "N", "at": iso(5, game.time_basis), "offset": 1500}
    ]
    assert names("pass field") == list(found["passes"][0])
    assert names("field") == list(found)
    assert names("ply field") == list(found["plies"][0])
    assert names("line field") == list(found["lines"][0])
    assert names("event field") == list(found["events"][0])
    assert names("source field") == list(found["sources"][0])
    assert names("evidence field") == list(found["evidence"][0])
    assert names("correction field") == list(found["corrections"][0])
    assert names("link field") == list(found["links"][0])
    assert names("thinking field") == list(found["thinking"][0])
    assert names("analysis field") == list(found["analyses"][0])
    assert names("analysis line field") == list(found["analyses"][0]["lines"][0])
    kinds = {str: "text", int: "integer", bool: "boolean", list: "list", dict: "object"}
    for name, kind in table("field"):
        if found[name] is not None:
            assert kinds[type(found[name])] == kind, name


def test_data_sets() -> None:
    assert names("data set column") == [column.name for column in DATASET_GAME_COLUMNS[len(GAME_COLUMNS) :]]
    assert DATASET_PLY_COLUMNS[len(PLY_COLUMNS) : -1] == MATCH_COLUMNS
    assert DATASET_EVENT_COLUMNS[:-1] == EVENT_COLUMNS
    assert {columns[-1].name for columns in (DATASET_PLY_COLUMNS, DATASET_EVENT_COLUMNS)} == {"source"}
    assert names("record field") == list(SourceRecord("", "", 0, "", parser_version="").to_json())
    assert names("manifest field") == [field.name for field in fields(Manifest)]
