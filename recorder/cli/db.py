"""``ics-recorder db``: care for the archive itself."""

from __future__ import annotations

from pathlib import Path

import click

from recorder.cli.options import archive_option
from recorder.cli.terminal import ExitCode, say

__all__ = ["command"]


@click.group(
    "db",
    epilog="""\b
Examples:
  ics-recorder db check
  ics-recorder db backup saved.sqlite
  ics-recorder db share --pseudonyms -o shared.sqlite
""",
)
def command() -> None:
    """Upgrade, check, back up and share the archive."""


@command.command("upgrade")
@archive_option
def _upgrade(where: str) -> None:
    """Bring an older archive to this program's schema; a backup is made first."""
    from storage import current, file_of, upgrade

    path = file_of(where)
    before = current(path)
    saved = upgrade(path)
    after = current(path)
    say(f"{path} had schema {before}, has {after}." + (f" The old archive is saved as {saved}." if saved else ""))


@command.command("current")
@archive_option
def _current(where: str) -> None:
    """Print the archive's schema revision and the newest one."""
    from storage import current, file_of, head

    click.echo(f"{current(file_of(where))} (newest: {head()})")


@command.command("check")
@archive_option
@click.pass_context
def _check(ctx: click.Context, where: str) -> None:
    """Look for damage: SQLite's own checks, foreign keys, and what the tables must agree on."""
    from storage import check, file_of

    findings = check(file_of(where))
    for finding in findings:
        click.echo(finding)
    if findings:
        ctx.exit(ExitCode.FINDINGS)
    say("The archive is sound.")


@command.command("backup")
@click.argument("target", metavar="FILE")
@archive_option
def _backup(target: str, where: str) -> None:
    """Copy the archive to FILE, which must not exist; works while somebody writes to it."""
    from storage import backup, file_of

    backup(file_of(where), Path(target))
    say(f"Saved as {target}.")


@command.command("share")
@click.option("-o", "--output", required=True, metavar="FILE", help="The copy, which must not exist.")
@click.option("--pseudonyms", is_flag=True, help="Replace every handle by a made-up word, in texts too.")
@click.option("--redact", multiple=True, metavar="REGEX", help="Replace what matches in texts by [redacted].")
@archive_option
def _share(output: str, pseudonyms: bool, redact: tuple[str, ...], where: str) -> None:
    """Write a copy to give away: without the logs' bytes and places, tells, and what was typed."""
    from storage import file_of, share

    share(file_of(where), Path(output), pseudonyms=pseudonyms, redact=redact)
    say(f"Shared as {output}.")
