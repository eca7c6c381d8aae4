"""Which module may import which, read from the imports themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("recorder", "storage", "exporters", "migrations")
CORE = {
    f"recorder.{name}"
    for name in (
        "containment",
        "corrections",
        "errors",
        "events",
        "files",
        "filters",
        "model",
        "movetext",
        "openings",
        "progress",
        "rules",
        "text",
        "times",
        "urls",
    )
}
BELOW_ARCHIVE = CORE | {
    f"recorder.{layer}"
    for layer in (
        "cecp",
        "ledger",
        "wire",
        "dialects",
        "tracking",
        "relating",
        "saved",
        "journal",
        "sources",
        "live",
        "replay",
        "pipeline",
        "reading",
        "__init__",
    )
}
STORED = BELOW_ARCHIVE | {"storage", "exporters", "migrations"}
EVERYTHING = STORED | {f"recorder.{layer}" for layer in ("analysis", "archive", "cli", "conformance", "web")}

# layer → what it may import besides itself
TABLE: dict[str, set[str]] = {
    **dict.fromkeys(CORE, CORE),
    "recorder.openings": {"recorder.rules"},
    "recorder.rules": set(),
    "recorder.cecp": CORE,
    "recorder.ledger": CORE,
    "recorder.wire": CORE,
    "recorder.dialects": CORE | {"recorder.wire"},
    "recorder.tracking": CORE | {"recorder.cecp", "recorder.dialects"},
    "recorder.relating": CORE | {"recorder.tracking"},
    "recorder.journal": CORE | {"recorder.sources"},
    "recorder.sources": CORE | {"recorder.journal"},
    "recorder.saved": CORE | {"recorder.dialects", "recorder.sources", "recorder.tracking"},
    "recorder.conformance": BELOW_ARCHIVE,
    "recorder.live": BELOW_ARCHIVE,
    "recorder.replay": BELOW_ARCHIVE,
    "recorder.pipeline": BELOW_ARCHIVE,
    "recorder.reading": BELOW_ARCHIVE,
    "recorder.analysis": BELOW_ARCHIVE,
    "recorder.__init__": STORED | {"recorder.archive", "recorder.measures", "recorder.plots"},
    "recorder.measures": {"recorder.archive", "exporters"},
    "recorder.plots": {"recorder.archive", "exporters"},
    "storage": CORE | {"recorder.relating", "migrations"},
    "exporters": CORE | {"recorder.ledger", "recorder.relating", "recorder.replay", "storage"},
    "migrations.versions": set(),
    "migrations": {"storage"},
    "recorder.archive": STORED | {"recorder.analysis"},
    "recorder.web": STORED | {"recorder.archive"},
    "recorder.cli": EVERYTHING,
    "recorder.__main__": EVERYTHING,
}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 2:
        parts = parts[:-1]
    return ".".join(parts)


def layer_of(module: str) -> str:
    """The longest name of a layer that contains the module; the package ``recorder`` itself is its ``__init__``."""
    if module == "recorder":
        return "recorder.__init__"
    found = [layer for layer in TABLE if module == layer or module.startswith(f"{layer}.")]
    assert found, f"{module} is in no layer of the table"
    return max(found, key=len)


def imports_of(path: Path, *, when_run: bool = False) -> set[str]:
    """Modules of ours that a file imports, anywhere in it; ``when_run``: without those for the type checker."""
    names: set[str] = set()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")), when_run):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = (ROOT / inner.replace(".", "/")).is_dir() or (
                    ROOT / f"{inner.replace('.', '/')}.py"
                ).exists()
                names.add(inner if is_module else str(node.module))
    return {name for name in names if name.split(".")[0] in PACKAGES}


def _statements(tree: ast.Module, when_run: bool) -> Iterator[ast.AST]:
    """All statements, in functions and classes, too: imports are nowhere else."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        if when_run and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            left += node.orelse
        else:
            inner = (ast.stmt, ast.excepthandler, ast.match_case)
            left += [child for child in ast.iter_child_nodes(node) if isinstance(child, inner)]


FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


NOT_FOR_COMMANDS = {
    *("alembic", "sqlalchemy", "sqlite3"),
    *("concurrent", "multiprocessing", "queue", "socket", "subprocess", "threading"),
    *("bz2", "chess", "csv", "gzip", "io", "lzma", "pickle", "pyarrow", "struct", "tarfile", "xml", "zipfile", "zlib"),
    "zstandard",
}
_SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|PRAGMA|CREATE|ALTER|DROP|ATTACH|VACUUM)\b[^a-z]*(\s|$)")


def machinery_of(source: str) -> set[str]:
    """What no command line needs: imports of databases, processes, sockets and file formats, anywhere; texts in SQL."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names} & NOT_FOR_COMMANDS
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module).split(".")[0]} & NOT_FOR_COMMANDS
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _SQL.match(node.value):
            found.add(node.value)
    return found


def wrong_imports(path: Path) -> str | None:
    """What a file imports although its layer may not."""
    module = module_name(path)
    layer = layer_of(module)
    allowed = TABLE[layer] | {layer}
    wrong = {name for name in imports_of(path) if layer_of(name) not in allowed}
    return f"{path.relative_to(ROOT)} ({layer}) imports {sorted(wrong)}" if wrong else None


def test_every_file_imports_only_what_its_layer_may() -> None:
    assert [wrong for path in FILES if (wrong := wrong_imports(path))] == []


def test_commands_use_no_sql_threads_processes_sockets_or_file_formats() -> None:
    """They call the layer that does; no command is an exception. ``--json`` prints with ``json``."""
    found = {path.name: machinery_of(path.read_text(encoding="utf-8")) for path in (ROOT / "recorder/cli").glob("*.py")}
    assert len(found) > 25
    assert {name: machinery for name, machinery in found.items() if machinery} == {}


def import_cycles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others (Tarjan's algorithm)."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        open_modules.append(module)
        for other in sorted(imports[module]):
            if other not in number:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in open_modules:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            at = open_modules.index(module)
            group = open_modules[at:]
            del open_modules[at:]
            if len(group) > 1:
                found.append(sorted(group))

    for module in sorted(imports):
        if module not in number:
            visit(module)
    return found


@pytest.mark.long
def test_no_modules_import_each_other() -> None:
    """Imports in functions count; those of the type checker do not."""
    names = {path: module_name(path).removesuffix(".__init__") for path in FILES}
    imports = {name: (imports_of(path, when_run=True) & set(names.values())) - {name} for path, name in names.items()}
    assert sum(map(len, imports.values())) > 1000
    assert import_cycles(imports) == []


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("recorder", ("sqlalchemy", "click", "pandas", "rich", "alembic", "chess", "recorder.model")),
        ("recorder.cli", ("sqlalchemy", "pandas", "rich", "alembic", "chess", "recorder.sources")),
    ],
)
def test_loading_stays_light(module: str, forbidden: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print([name for name in {forbidden!r} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert answer.stdout.strip() == "[]"


#: What is loaded only when it is asked for, and the modules that load it with themselves, which are loaded so, too.
EXTRAS: dict[str, set[str]] = {
    "recorder.analysis": set(),
    "recorder.archive.sharing.cluster": set(),
    "recorder.conformance": {"recorder.cli.conformance"},
    "recorder.replay.server": set(),
    "recorder.web": set(),
    "storage.publish": {"recorder.archive.sharing.publishing"},
    "recorder.archive.sharing.publishing": {"recorder.cli.publish"},
    "recorder.cli.publish": set(),
    "recorder.cli.conformance": set(),
}


def test_an_extra_is_loaded_by_those_who_ask_for_it() -> None:
    """Engines, Dask, conformance, replay servers, the site and PostgreSQL: the rest loads and runs without them."""
    loading = {module_name(path): at_loading(ast.parse(path.read_text(encoding="utf-8")).body) for path in FILES}
    for extra, allowed in EXTRAS.items():
        found = {one for one, names in loading.items() if any(f"{name}.".startswith(f"{extra}.") for name in names)}
        assert {one for one in found if not f"{one}.".startswith(f"{extra}.")} == allowed, extra


def at_loading(statements: list[ast.stmt]) -> set[str]:
    """Modules that are imported when a module is loaded."""
    names: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            names |= at_loading([*node.body, *node.orelse])
        elif isinstance(node, ast.Try | ast.With | ast.ClassDef):
            names |= at_loading(node.body)
    return names
