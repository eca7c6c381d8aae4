"""``ics-recorder doctor``: whether everything that this program needs is there, and what to do about the rest."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recorder.cli import is_compiled
from recorder.cli.configuration import chosen_file, read_configuration
from recorder.cli.options import Command, archive_option, json_option
from recorder.cli.output import print_json
from recorder.cli.recording_options import journal_dir_option
from recorder.errors import ExitCode
from recorder.text import clean

if TYPE_CHECKING:
    from recorder.archive.care.doctor import Finding


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
    from recorder.archive.care.doctor import State, examine, reach

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
    from recorder.archive.care.doctor import Finding, State

    if is_compiled():
        return Finding(State.OK, "speed", "the reader of logs runs compiled")
    remedy = "install it again on a machine with a C compiler: logs are then read in half the time"
    return Finding(State.OFF, "speed", "the reader of logs runs from its sources", remedy)


def _terminal() -> Finding:
    from recorder.archive.care.doctor import Finding, State

    encoding = (sys.stdout.encoding or "ascii").lower()
    columns = shutil.get_terminal_size().columns
    found = f"{columns} columns, {encoding}" + (", no colours" if "NO_COLOR" in os.environ else "")
    if not sys.stdout.isatty():
        return Finding(State.OK, "terminal", f"none: output goes to a file or a pipe, {encoding}")
    if "utf" not in encoding:
        return Finding(State.WARN, "terminal", found, "set LANG to a UTF-8 locale, such as C.UTF-8")
    return Finding(State.OK, "terminal", found)


def _configuration(ctx: click.Context) -> Finding:
    from recorder.archive.care.doctor import Finding, State

    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    try:
        configuration = read_configuration(root, list(root.command.commands))
    except click.UsageError as error:
        return Finding(State.FAIL, "configuration", error.message, f"correct or remove {chosen_file(root)}")
    if configuration is None:
        return Finding(State.OK, "configuration", f"no file; {chosen_file(root)} would be read")
    return Finding(State.OK, "configuration", f"{configuration.path}, see `ics-recorder config show`")
