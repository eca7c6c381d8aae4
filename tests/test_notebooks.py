"""The notebooks are committed clean; ``make test`` executes them with nbmake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))


def test_the_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["clock_usage", "lag"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_no_outputs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    book = json.loads(text)
    assert text == json.dumps(book, indent=1, ensure_ascii=False) + "\n", (
        "as Jupyter writes it, so that diffs are small"
    )
    for cell in book["cells"]:
        assert cell["metadata"] == {}
        assert cell["source"]
        if cell["cell_type"] == "code":
            assert (cell["execution_count"], cell["outputs"]) == (None, [])
            assert all(len(line.rstrip("\n")) <= 120 for line in cell["source"])
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    assert set(book["metadata"]) == {"kernelspec", "language_info"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_the_prose_says_is_checked_at_the_end(path: Path) -> None:
    last = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][-1]["source"])
    assert last.count("assert ") > 8
