"""The code of docs/how-to/larger-than-memory.md runs as it stands: pandas, DuckDB, and Dask with two workers."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recorder import Archive

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "larger-than-memory.md"


def test_the_page_runs(corpus_archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    shutil.copy(corpus_archive.path, tmp_path / "games.db")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(code.replace("20_000", "1_500"), str(PAGE), "exec"), names)
    assert len(list((tmp_path / "plies").iterdir())) > 1
    profile: pd.DataFrame = names["profile"]
    assert len(profile) > 10
    assert names["by_dask"].equals(profile)
