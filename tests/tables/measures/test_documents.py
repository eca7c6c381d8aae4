"""The pages about measures: their columns, and code that runs as it stands."""

import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from exporters.measures import functions as measures
from exporters.measures.dimensions import DIMENSIONS
from exporters.tables.columns import MATCH_COLUMNS
from recorder import Archive

DOCUMENT = (Path(__file__).parents[3] / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
NOT_BY = ("game_sides", "longest_thinks", "scramble_windows")
BY_NOTHING = {name: {"by": ()} for name in measures.__all__ if name not in NOT_BY}


def section(name: str) -> str:
    (body,) = re.findall(rf"^## {name}\n(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    return str(body)


def test_every_measure_has_its_section() -> None:
    assert sorted(re.findall(r"^## ([a-z_]+)$", DOCUMENT, re.MULTILINE)) == sorted(measures.__all__)


@pytest.fixture(scope="module")
def matches(corpus_archive: Archive) -> pd.DataFrame:
    return corpus_archive.matches()


@pytest.mark.parametrize("name", measures.__all__)
def test_the_columns_are_those_of_the_document(name: str, matches: pd.DataFrame) -> None:
    cells = re.findall(r"^\| ([^|]*) \|", section(name), re.MULTILINE)[1:]
    listed = [column for cell in cells for column in cell.split(", ")]
    table: pd.DataFrame = getattr(measures, name)(matches, **BY_NOTHING.get(name, {}))
    if "precision" in table and "precision" not in listed:  # the page describes it once
        listed.append("precision")
    assert listed == list(table.columns)


def test_the_columns_of_matches_are_those_of_the_document() -> None:
    (table,) = re.findall(r"^\| in front \|.*\n\|[-|]+\n((?:\|.*\n)+)", DOCUMENT, re.MULTILINE)
    listed = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert listed == [column.name for column in MATCH_COLUMNS]


@pytest.mark.parametrize("name", DIMENSIONS)
def test_every_dimension_is_named(name: str) -> None:
    assert f"`{name}`" in DOCUMENT


PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "larger-than-memory.md"


@pytest.mark.long
def test_the_page_runs(corpus_archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    shutil.copy(corpus_archive.path, tmp_path / "games.db")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(code.replace("20_000", "6_000"), str(PAGE), "exec"), names)
    assert len(list((tmp_path / "plies").iterdir())) > 1
    profile: pd.DataFrame = names["profile"]
    assert len(profile) > 10
    assert names["by_dask"].equals(profile)
