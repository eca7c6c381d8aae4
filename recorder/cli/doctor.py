"""``ics-recorder doctor``: whether everything that this program needs is there, and what to do about the rest."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import click

from recorder.archive.locate import open_archive, refuse_unusable
from recorder.cli import is_compiled
from recorder.cli.configuration import chosen_file, read_configuration
from recorder.cli.options import Command, archive_option, json_option
from recorder.cli.output import print_json
from recorder.cli.recording_options import journal_dir_option
from recorder.errors import ExitCode, RecorderError
from recorder.text import byte_size, clean, plural

EXTRAS: Final = {
    "report": ("jinja2",),
    "web": ("jinja2", "starlette", "uvicorn"),
    "plot": ("matplotlib",),
    "gif": ("PIL",),
    "parquet": ("pyarrow",),
    "arrow": ("adbc_driver_sqlite",),
    "postgres": ("psycopg",),
    "dask": ("dask", "distributed"),
    "https": ("aiohttp", "fsspec"),
    "s3": ("s3fs",),
    "keyring": ("keyring",),
}
"""Modules that show that an extra is installed."""
_LITTLE_BYTES: Final = 1 << 30


class State(Enum):
    """Only ``FAIL`` keeps something from working; ``OFF`` is not installed or not there yet."""

    OK = "ok"
    OFF = "off"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """``remedy`` is what to do; None: nothing is needed."""

    state: State
    what: str
    found: str
    remedy: str | None = None


def examine(where: str, journal_dir: Path) -> Iterator[Finding]:
    """All that needs no network."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(State.OK, "Python", f"{version}, {sys.executable}")
    for extra, modules in EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            yield Finding(State.OFF, extra, f"no {', '.join(missing)}", f"pip install 'ics-recorder[{extra}]'")
        else:
            yield Finding(State.OK, extra, "installed")
    yield _archive(where)
    places = [("disk of the archive", Path(where).expanduser())] if "://" not in where else []
    for what, path in (*places, ("disk of journals", journal_dir)):
        yield _disk(what, path)


def _archive(where: str) -> Finding:
    path = Path(where).expanduser()
    try:
        refuse_unusable(where)
        if "://" not in where and not path.exists():
            return Finding(State.OFF, "archive", f"{path} is not there yet", "ics-recorder import LOG makes it")
        with open_archive(where) as archive:
            return Finding(State.OK, "archive", f"{path}: {plural(archive.count(), 'game')}; it can be written")
    except RecorderError as error:
        return Finding(State.FAIL, "archive", str(error), "ics-recorder db check examines it")


def _disk(what: str, path: Path) -> Finding:
    folder = next(each for each in (path.absolute(), *path.absolute().parents) if each.is_dir())
    free = shutil.disk_usage(folder).free
    space = f"{byte_size(free)} free in {folder}"
    if free < _LITTLE_BYTES:
        return Finding(State.WARN, what, space, "an evening on a busy server takes up to 0.1 GB: make room")
    return Finding(State.OK, what, space)


def reach(server: str, port: int) -> Finding:
    """Leave without a login."""
    from recorder.live.net.sockets import first_words

    what = f"server {server}:{port}"
    try:
        said = first_words(server, port)
    except OSError as error:
        reason = error.strerror or str(error) or "no answer"
        return Finding(State.FAIL, what, reason, "check the name, the port and your network; 23 often works, too")
    if not said:
        return Finding(State.FAIL, what, "it closed the connection at once", "try later, or another port")
    return Finding(State.OK, what, f"it answers ({len(said)} bytes)")


@click.command(
    "doctor",
    cls=Command,
    short_help="Check the installation, and say what to do.",
    epilog="""\b
Examples:
  ics-recorder doctor
  ics-recorder doctor --server freechess.org:5000
""",
)
@journal_dir_option
@archive_option
@click.option("--server", metavar="HOST[:PORT]", help="Also connect to this server, without logging in.")
@json_option
@click.pass_context
def command(ctx: click.Context, journal_dir: Path, where: str, server: str | None, as_json: bool) -> None:
    """Check the installation, the archive, the disks and the configuration, and say what to do.

    `off` is not installed or made yet, and stops nothing else. The exit status is 1 if something fails. Only --server
    connects to a server.
    """
    findings = [*examine(where, journal_dir), _speed(), _terminal(), _configuration(ctx)]
    if server is not None:
        from recorder.live.net.sockets import parse_address

        try:
            findings.append(reach(*parse_address(server, 5000)))
        except ValueError as error:
            raise click.UsageError(f"--server: {error}") from error
    if as_json:
        print_json([{**finding._asdict(), "state": finding.state.value} for finding in findings])
    else:
        for each in findings:
            click.echo(f"{each.state.value:5} {each.what}: {clean(each.found)}")
            if each.remedy is not None:
                click.echo(f"      → {each.remedy}")
    if any(finding.state is State.FAIL for finding in findings):
        ctx.exit(ExitCode.FINDINGS)


def _speed() -> Finding:
    if is_compiled():
        return Finding(State.OK, "speed", "the reader of logs runs compiled")
    remedy = "install it again on a machine with a C compiler: logs are then read in half the time"
    return Finding(State.OFF, "speed", "the reader of logs runs from its sources", remedy)


def _terminal() -> Finding:
    encoding = (sys.stdout.encoding or "ascii").lower()
    columns = shutil.get_terminal_size().columns
    described = f"{columns} columns, {encoding}" + (", no colours" if "NO_COLOR" in os.environ else "")
    if not sys.stdout.isatty():
        return Finding(State.OK, "terminal", f"none: output goes to a file or a pipe, {encoding}")
    if "utf" not in encoding:
        return Finding(State.WARN, "terminal", described, "set LANG to a UTF-8 locale, such as C.UTF-8")
    return Finding(State.OK, "terminal", described)


def _configuration(ctx: click.Context) -> Finding:
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    try:
        configuration = read_configuration(root, list(root.command.commands))
    except click.UsageError as error:
        return Finding(State.FAIL, "configuration", error.message, f"correct or remove {chosen_file(root)}")
    if configuration is None:
        return Finding(State.OK, "configuration", f"no file; {chosen_file(root)} would be read")
    return Finding(State.OK, "configuration", f"{configuration.path}, see `ics-recorder config show`")
