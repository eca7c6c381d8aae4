"""Options of the whole test run, and an archive made by the command itself from two recorded connections."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from recorder.containment import SWITCH
from tests.support import programs
from tests.support.cli import ADJOURNED, WATCHER, Cli
from tests.support.compiled import ROOT, stale_binaries

if TYPE_CHECKING:
    from tests.support.postgres import Server

# Commands that tests start inherit ignored signals, and a background shell or nohup ignores these.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# As a user's: modules are compiled once. Compiling them in every process is most of a small command's time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No error hides: it ends the command, and fails the test. Commands that tests start inherit this, too.
os.environ[SWITCH] = "off"

# No test reads the configuration file of the person who runs them; nor do commands that tests start.
os.environ["ICS_RECORDER_CONFIG"] = os.devnull


def _memory_has_room() -> bool:
    """Whether the disk in memory, which containers often have small and without programs, can have the tests' files."""
    try:
        about = os.statvfs("/dev/shm")
    except OSError:
        return False
    return about.f_bavail * about.f_frsize > 4 << 30 and not about.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)


# Thousands of small archives are made and closed: on a disk, tests wait for it as long as they compute.
if _memory_has_room():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")

# How long an example takes says more about the machine than about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# `make test` has `--hypothesis-profile=few`, `make test-all` has not.
settings.register_profile("few", settings.get_profile("untimed"), max_examples=15)

# All tests and what they import are there until the end: the collector need not look through them again and again.
gc.disable()
atexit.register(gc.unfreeze)

MISSING = pytest.StashKey[dict[str, list[str]]]()
"""Test → the missing programs for which it was deselected."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-golden`` writes the golden files instead of comparing with them."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/corpus/golden from this run")
    parser.addoption("--all-programs", action="store_true", help="refuse to run where a program of a test is missing")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to test compiled modules that are not what their sources say; with --all-programs, without a program."""
    stale = ", ".join(str(path.relative_to(ROOT)) for path in stale_binaries())
    if stale:
        how = "compile them (python .ci/ics_recorder_build.py) or remove them (make clean)"
        raise pytest.UsageError(f"compiled modules are older than their sources: {stale}; {how}")
    missing = sorted(filter(programs.is_missing, programs.PACKAGES))
    if missing and config.getoption("all_programs"):
        raise pytest.UsageError(f"not installed: {', '.join(missing)}; {programs.how_to_install(missing)}")
    config.stash[MISSING] = {}


def _needed(item: pytest.Item) -> list[str]:
    return [name for marker in item.iter_markers("needs") for name in marker.args]


def pytest_itemcollected(item: pytest.Item) -> None:
    """``long_except``: every case is long, but for those with these identifiers."""
    for marker in item.iter_markers("long_except"):
        if item.callspec.id not in marker.args:  # type: ignore[attr-defined]  # it has parameters
            item.add_marker(pytest.mark.long)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    lacking = {item: [name for name in _needed(item) if programs.is_missing(name)] for item in items}
    deselected = [item for item in items if lacking[item]]
    if deselected:
        config.stash[MISSING] = {item.nodeid: lacking[item] for item in deselected}
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if not lacking[item]]


def pytest_collection_finish() -> None:
    """From here on there is garbage to collect."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test run only the programs that its marker names."""
    programs.allow(_needed(item))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist sends what it deselected to the process that prints the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["missing"] = session.config.stash[MISSING]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker deselects the same tests."""
    node.config.stash[MISSING].update(getattr(node, "workeroutput", {}).get("missing", {}))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print as the last line which programs are missing."""
    lacking = config.stash.get(MISSING, {})
    if lacking and not hasattr(config, "workerinput"):
        names = sorted({name for missing in lacking.values() for name in missing})
        tests = f"{len(lacking)} test{'s' * (len(lacking) > 1)}"
        print(
            f"{tests} deselected, programs missing: {', '.join(names)}. Install them: {programs.how_to_install(names)}"
        )


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A command on an archive that is not there yet."""
    return Cli(tmp_path / "archive.sqlite")


@pytest.fixture(scope="session")
def _imported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    made = Cli(tmp_path_factory.mktemp("imported") / "archive.sqlite")
    copy = made.archive.with_name("copy.sqlite")
    made("import", WATCHER, ADJOURNED)
    made("db", "backup", copy)
    return copy.read_bytes()


@pytest.fixture
def filled(cli: Cli, _imported: bytes) -> Cli:
    """A command on an archive of two logs, six games."""
    cli.archive.write_bytes(_imported)
    return cli


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server; a test that uses it needs ``postgres``."""
    from tests.support.postgres import running_server  # psycopg is not installed everywhere

    with running_server() as found:
        yield found
