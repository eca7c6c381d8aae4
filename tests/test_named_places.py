"""Files and functions that the pages name exist where the page says, and pages of figures stay short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = ("recorder", "storage", "exporters", "migrations", "tests", "benchmarks")
MODULES = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
_PATH = re.compile(rf"`((?:{'|'.join(CODE)}|docs)(?:/[\w.]+)+)`")
_FILE = re.compile(r"`(\w+\.py)`")
_NAME_IN_FILE = re.compile(r"`(?:\w+\.)?(\w+)(?:\([^`)]*\))?`(?: (?:in|of) )`([\w/]+\.py)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_named_files_and_functions_exist(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    for name in _PATH.findall(text):
        assert (ROOT / name).exists() or (ROOT / f"{name}.py").exists(), name
    for name in _FILE.findall(text):
        assert any(path.name == name for path in MODULES), name
    for name, file in _NAME_IN_FILE.findall(text):
        places = [path for path in MODULES if path.as_posix().endswith(f"/{file}")]
        assert any(re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")) for path in places), (name, file)


def test_names_in_files_are_found() -> None:
    text = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    found = _NAME_IN_FILE.findall(" ".join(text.split()))
    assert ("_BANNERS", "recorder/dialects/session.py") in found
    assert len(found) > 20
