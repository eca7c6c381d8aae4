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
# Alembic runs the files of migrations; no module imports them.
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
                found.setdefault(node.module, set()).update(
                    alias.name for alias in node.names if alias.name not in ("*", "__all__")
                )
    return found


def faults_of(path: Path, name: str) -> dict[str, set[str]]:
    """What is wrong with the names of a module: sentence → names."""
    module = importlib.import_module(name)
    listed: list[str] = getattr(module, "__all__", [])
    modules_below = {below.stem for below in path.parent.iterdir()} if path.name == "__init__.py" else set()
    used = imported_names().get(name, set()) - modules_below
    found = {
        "stands twice in __all__": {entry for entry in listed if listed.count(entry) > 1},
        "in __all__, but not defined": {entry for entry in listed if not hasattr(module, entry)},
        "imported elsewhere, but private": {entry for entry in used if entry.startswith("_")},
        "imported elsewhere, but not in __all__": used - set(listed),
        # What no other module uses is either public on purpose or should have an underscore.
        "public, but not in __all__": defined_names(path) - set(listed),
    }
    return {fault: names for fault, names in found.items() if names}


def test_all_is_complete() -> None:
    faults = {name: faults_of(path, name) for path in FILES for name in [module_name(path)]}
    assert {name: found for name, found in faults.items() if found} == {}


def test_each_fault_of_the_names_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "odd_names.py"
    path.write_text("def f(): ...\ndef _g(): ...\nA = B = 1\n__all__ = ['A', 'A', 'Z']\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(imported_names(), "odd_names", {"_g", "f"})
    assert faults_of(path, "odd_names") == {
        "stands twice in __all__": {"A"},
        "in __all__, but not defined": {"Z"},
        "imported elsewhere, but private": {"_g"},
        "imported elsewhere, but not in __all__": {"_g", "f"},
        "public, but not in __all__": {"B", "f"},
    }


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
