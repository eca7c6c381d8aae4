"""Logs that are named by URLs."""

import bz2
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from botocore.exceptions import EndpointConnectionError  # type: ignore[import-untyped]  # it has no types

from recorder import urls
from recorder.errors import ExitCode, SourceError
from recorder.urls import check_url, is_url, shown_url
from tests.support.cli import GUESTS, WATCHER, Cli
from tests.support.s3server import s3_server
from tests.support.webserver import WebServer, web_server

_SECRET = "hunter2"
_REFUSED = (
    f"https://user:{_SECRET}@example.org/a.log",
    f"https://example.org/a.log?key={_SECRET}",
    f"s3://bucket/a.log#{_SECRET}",
    f"https://user:{_SECRET}/x@example.org/a.log",
)


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    """A server with one log in every form."""
    log = WATCHER.read_bytes()
    files = {"log": log, "log.gz": gzip.compress(log), "log.bz2": bz2.compress(log)}
    with web_server(**files, **{"log.zst": zstandard.compress(log), "other.gz": GUESTS.read_bytes()}) as server:
        yield server


@pytest.mark.parametrize("name", ["log", "log.gz", "log.bz2", "log.zst"])
def test_a_log_is_read_over_the_web_as_from_its_file(web: WebServer, cli: Cli, name: str) -> None:
    assert cli("convert", f"{web.url}/{name}").stdout == cli("convert", WATCHER).stdout


def test_the_archive_has_the_url_and_knows_the_log_by_its_content(web: WebServer, cli: Cli) -> None:
    web.requests.clear()
    assert "2 logs (2 new)" in cli("import", f"{web.url}/log.gz", f"{web.url}/other.gz").stdout
    assert web.requests == ["log.gz", "other.gz"]
    assert {row["name"] for row in cli.json("sources", "--json")} == {f"{web.url}/log.gz", f"{web.url}/other.gz"}
    assert "already in the archive" in cli("import", WATCHER).stdout
    assert "already in the archive" in cli("import", f"{web.url}/log", f"{web.url}/log").stdout
    assert web.requests.count("log") == 1


def test_what_cannot_be_read_is_one_sentence(web: WebServer, cli: Cli, tmp_path: Path) -> None:
    web.files["cut"], web.short = WATCHER.read_bytes(), {"cut"}
    target = tmp_path / "x.pgn"
    for name, reason in {
        "nothing": "there is no such file on the server",
        "broken": "the server answers with status 503",
        "cut": "the connection ended too early; try again",
    }.items():
        said = cli("convert", f"{web.url}/{name}", "-o", target, code=ExitCode.INPUT).stderr
        assert said == f"Error: {web.url}/{name}: cannot be read: {reason}.\n"
    https = web.url.replace("http://", "https://")
    for url, reason in {
        "http://127.0.0.1:1/x": "no server answers at this address and port",
        f"{https}/log": "the server does not answer as https does",
    }.items():
        assert cli("convert", url, code=ExitCode.INPUT).stderr == f"Error: {url}: cannot be read: {reason}.\n"
    assert not target.exists()
    found = cli("import", f"{web.url}/nothing", f"{web.url}/log", code=ExitCode.INPUT)
    assert "5 games" in found.stdout


def test_a_log_is_read_from_s3(cli: Cli) -> None:
    with s3_server({"logs/a.log.gz": gzip.compress(WATCHER.read_bytes())}) as bucket:
        assert cli("convert", f"{bucket}/logs/a.log.gz").stdout == cli("convert", WATCHER).stdout
        said = cli("convert", f"{bucket}/logs/b.log", code=ExitCode.INPUT).stderr
    assert said == f"Error: {bucket}/logs/b.log: cannot be read: there is no such file on the server.\n"


@pytest.mark.parametrize("url", _REFUSED)
def test_a_url_with_credentials_is_refused_and_not_printed(cli: Cli, url: str) -> None:
    for words in (("convert", url), ("import", url), ("import", "--json", url), ("import", "-n", "-v", url)):
        result = cli(*words, code=ExitCode.INPUT)
        assert _SECRET not in result.output
        assert "credentials come from the environment" in result.output
    assert _SECRET not in shown_url(url)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://example.org/a.log", "URLs that begin with ftp:// cannot be used here; use a path or https:// or s3://"),
        ("http://example.org/a.log", "URLs that begin with http:// cannot be used here"),
        ("simplecache::https://example.org/a.log", "cannot be used here"),
        ("https://example.org:x/a.log", "no valid host and port"),
        ("https:///a.log", "needs a host"),
        ("s3://bucket", "needs a bucket and a path"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str, problem: str) -> None:
    assert is_url(url)
    with pytest.raises(SourceError, match=problem):
        check_url(url, ("https", "s3"))


@pytest.mark.parametrize("url", ["https://example.org/a%20b.pgn.bz2", "http://[::1]:80/a", "s3://bucket/logs/a.zst"])
def test_a_url_that_can_be_used_is_accepted(url: str) -> None:
    check_url(url, ("https", "s3"))


def test_a_missing_package_is_named(web: WebServer, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    said = cli("convert", f"{web.url}/log", code=ExitCode.INPUT).stderr
    assert said == "Error: http:// needs fsspec: pip install 'ics-recorder[https]'.\n"


def test_a_server_of_buckets_that_does_not_answer_is_named() -> None:
    error = EndpointConnectionError(endpoint_url="http://127.0.0.1:9/bucket?signed", error="refused")
    assert urls.reason(error) == "the server 127.0.0.1:9 does not answer; AWS_ENDPOINT_URL names another"
