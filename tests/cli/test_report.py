"""``ics-recorder report``."""

import sys
from pathlib import Path

import pytest

from exporters.report.page import _environment
from tests.support.cli import WATCHER, Cli


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(tmp_path_factory.mktemp("report") / "archive.sqlite")
    cli("import", WATCHER)
    return cli


@pytest.mark.long
def test_writes_one_file(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "game.html"
    result = cli("report", "last", "-o", out)
    assert out.read_bytes().startswith(b"<!DOCTYPE html>")
    assert f"to {out}." in result.stderr
    assert result.stdout == ""
    assert str(WATCHER.parent).encode() not in out.read_bytes()
    assert WATCHER.name.encode() in out.read_bytes()
    written = out.read_bytes()
    result = cli("report", "last", "-o", out, code=5)
    assert "--force" in result.stderr
    cli("report", "last~1", "-o", out, "--force")
    assert out.read_bytes() != written
    cli("report", "last", "-o", out, "--force")
    assert out.read_bytes() == written
    assert cli("report", "last", "-o", "-").stdout_bytes == written


def test_invalid_report_arguments_are_reported(cli: Cli) -> None:
    assert "No game" in cli("report", "ffff", code=4).stderr
    cli("report", code=2)
    link = cli.archive.with_name("link.html")
    link.symlink_to(cli.archive)
    assert "archive or a log" in cli("report", "last", "-o", link, "--force", code=5).stderr


def test_a_missing_extra_leaves_no_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _environment.cache_clear()  # of templates that other tests have compiled
    out = tmp_path / "game.html"
    assert "ics-recorder[report]" in cli("report", "last", "-o", out, code=5).stderr
    assert not out.exists()


def test_the_pictures_of_a_page_obey_its_policy(cli: Cli) -> None:
    page = cli("report", "last", "-o", "-").stdout
    assert page.count('class="chart"') == 1  # whole seconds, all of them 0: no bars
    assert "data-axis=" in page, "a click on the picture shows the position"
    body = page.partition("</style>")[2]
    assert " style=" not in body.partition("<script")[0]
    assert "@media screen and (prefers-color-scheme: dark)" in page
    assert len(page) < 600_000
