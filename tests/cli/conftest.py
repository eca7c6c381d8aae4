"""An archive made by the command itself from two recorded connections, and a way to run commands on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import ADJOURNED, WATCHER, Cli


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
