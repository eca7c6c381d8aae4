"""The notebooks are committed with their outputs, and nbmake executes them.

``make test`` only runs their cells; ``make test-all`` compares the outputs of one run, too.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import recorder
from tests.notebooks import NOTEBOOKS, executed, words_of

CORPUS = Path(__file__).parent / "corpus"


def test_the_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["clock_usage", "lag"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_its_outputs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    book = json.loads(text)
    assert text == json.dumps(book, indent=1, ensure_ascii=False) + "\n", (
        "as Jupyter writes it, so that diffs are small"
    )
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for cell in book["cells"]:
        assert cell["metadata"] == {}
        assert cell["source"]
    for number, cell in enumerate(cells, 1):
        assert cell["execution_count"] == number, "python -m tests.notebooks writes the outputs"
        assert (cell["outputs"] == []) is (cell is cells[-1])  # the last one checks the text
        assert {output["output_type"] for output in cell["outputs"]} <= {"execute_result", "stream"}
        assert all(len(line.rstrip("\n")) <= 120 for line in cell["source"])
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    assert set(book["metadata"]) == {"kernelspec", "language_info"}


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_outputs_are_those_of_the_cells(path: Path) -> None:
    assert words_of(executed(path)) == words_of(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_finds_its_logs_from_any_folder(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the package of the repository anywhere; with an installed one in any folder of the repository."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    lines = [line for cell in cells if cell["cell_type"] == "code" for line in "".join(cell["source"]).splitlines()]
    assert not [line for line in lines if '".' in line]
    code = "\n".join(
        line for line in lines if line.startswith(("from pathlib", "import recorder", "places =", "corpus ="))
    )
    names: dict[str, Any] = {}
    monkeypatch.chdir(tmp_path)
    exec(code, names)
    assert names["corpus"] == CORPUS
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(recorder, "__file__", str(tmp_path / "recorder/__init__.py"))
    exec(code, names)
    assert names["corpus"] == CORPUS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_the_prose_says_is_checked_at_the_end(path: Path) -> None:
    last = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][-1]["source"])
    assert last.count("assert ") > 8
