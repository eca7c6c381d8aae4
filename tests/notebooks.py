"""Runs the notebooks and writes their outputs into them: ``python -m tests.notebooks``."""

import json
import re
from pathlib import Path
from typing import Any

from nbmake.nb_run import NotebookRun

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))
_VARYING = re.compile(r"0x[0-9a-f]+")


def executed(path: Path) -> dict[str, Any]:
    """A notebook with the outputs that its cells have now.

    Raises:
        RuntimeError: a cell failed, or took longer than 300 seconds.
    """
    book: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    run = NotebookRun(path, default_timeout=300).execute()
    if run.error is not None:
        raise RuntimeError(run.error.trace)
    for cell, done in zip(book["cells"], run.nb.cells, strict=True):
        if cell["cell_type"] == "code":
            cell["execution_count"] = done["execution_count"]
            cell["outputs"] = [_output(json.loads(json.dumps(output))) for output in done["outputs"]]
    return book


def _output(output: dict[str, Any]) -> dict[str, Any]:
    """An output as Jupyter stores it: texts line by line."""
    if isinstance(output.get("text"), str):
        output["text"] = output["text"].splitlines(keepends=True)
    data = output.get("data", {})
    for kind, value in data.items():
        if kind.startswith("text/") and isinstance(value, str):
            data[kind] = value.splitlines(keepends=True)
    return output


def words_of(book: dict[str, Any]) -> list[str]:
    """What the cells print, without pictures, whose bytes depend on the version of matplotlib."""
    found = []
    for cell in book["cells"]:
        for output in cell.get("outputs", ()):
            text = "".join(output.get("text") or output["data"]["text/plain"])
            found.append(_VARYING.sub("", text))
    return found


if __name__ == "__main__":
    for each in NOTEBOOKS:
        each.write_text(json.dumps(executed(each), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
