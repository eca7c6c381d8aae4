"""Every module says what is public, completely."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Alembic runs these files; they are not imported by anybody.
MODULES = sorted(
    path
    for package in ("recorder", "storage", "exporters")
    for path in (ROOT / package).rglob("*.py")
    if path.name != "__main__.py"
)


def public_names(path: Path) -> set[str]:
    """Names without an underscore that a file defines at its top level."""
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


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_all_is_complete(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    if path.name == "__init__.py" and not path.read_text(encoding="utf-8").strip():
        assert not hasattr(module, "__all__")
        return
    listed = module.__all__
    assert len(listed) == len(set(listed))
    assert not [name for name in listed if not hasattr(module, name)]
    assert public_names(path) <= set(listed)
