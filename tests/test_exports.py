"""Every module says what is public, completely."""

from __future__ import annotations

import ast
import importlib
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("recorder", "storage", "exporters")
# Alembic runs the files of migrations; nobody imports them.
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if path.name != "__main__.py")


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def defined_names(path: Path) -> set[str]:
    """Functions, classes and constants without an underscore at a file's top level."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names |= {name.id for name in ast.walk(target) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


@cache
def imported_names() -> dict[str, set[str]]:
    """Module → names that other files of ours import from it."""
    found: dict[str, set[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                found.setdefault(node.module, set()).update(alias.name for alias in node.names)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_all_is_complete(path: Path) -> None:
    name = module_name(path)
    module = importlib.import_module(name)
    listed: list[str] = getattr(module, "__all__", [])
    assert len(listed) == len(set(listed))
    assert [entry for entry in listed if not hasattr(module, entry)] == []
    modules_below = {below.stem for below in path.parent.iterdir()} if path.name == "__init__.py" else set()
    used = imported_names().get(name, set()) - modules_below
    assert {entry for entry in used if entry.startswith("_")} == set()
    assert used <= set(listed), "imported elsewhere, but not in __all__"
    # What nobody else uses is either public on purpose or should have an underscore.
    assert defined_names(path) <= set(listed)


def test_a_name_that_is_not_listed_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("def f(): ...\nclass C: ...\nA, _B = 1, 2\nD: int = 3\n__all__ = []\n")
    assert defined_names(path) == {"f", "C", "A", "D"}


def test_an_installed_copy_has_every_directory_of_modules() -> None:
    """What has no ``__init__.py`` is no package, and pyproject.toml installs packages only."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    globs = project["tool"]["setuptools"]["packages"]["find"]["include"]
    folders = {path.parent for name in (*PACKAGES, "migrations") for path in (ROOT / name).rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []
    assert {folder.relative_to(ROOT).parts[0] for folder in folders} == {glob.rstrip("*") for glob in globs}
