"""``ics-recorder db``: care for the archive itself."""

from __future__ import annotations

import click

from recorder.cli.options import archive_option, open_archive
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
    from storage.engine import file_of
    from storage.schema import current, upgrade

    path = file_of(where)
    saved = upgrade(path)
    say(f"{path} has schema {current(path)}" + (f"; the old one is saved in {saved}." if saved else ", nothing to do."))


@command.command("current")
@archive_option
def _current(where: str) -> None:
    """Print the archive's schema revision and the newest one."""
    from storage.engine import file_of
    from storage.schema import current, head

    click.echo(f"{current(file_of(where))} (newest: {head()})")


@command.command("check")
@archive_option
@click.pass_context
def _check(ctx: click.Context, where: str) -> None:
    """Look for damage: SQLite's own checks, foreign keys, and what the tables must agree on."""
    with open_archive(where) as archive:
        findings = archive.check()
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
    from pathlib import Path

    from storage.engine import backup

    with open_archive(where) as archive:
        backup(archive.path, Path(target))
    say(f"Saved to {target}.")


@command.command("share")
@click.option("-o", "--output", required=True, metavar="FILE", help="The copy, which must not exist.")
@click.option("--pseudonyms", is_flag=True, help="Replace handles by Player-1, Player-2 …")
@click.option("--redact", multiple=True, metavar="REGEX", help="Blank what matches in all text that is shared.")
@archive_option
def _share(output: str, pseudonyms: bool, redact: tuple[str, ...], where: str) -> None:
    """Write a copy to give away: without the logs, tells and what was typed."""
    raise NotImplementedError
