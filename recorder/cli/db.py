"""``ics-recorder db`` and ``verify``: the archive as a whole, and what its logs say when they are read again."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from recorder.archive.locate import archive_file, open_archive
from recorder.cli.export_options import format_of
from recorder.cli.option_types import complete_sources
from recorder.cli.options import Command, Group, archive_option, jobs_option, json_option
from recorder.cli.output import long_work, print_json, say
from recorder.errors import ExitCode
from recorder.text import byte_size, clean, plural

if TYPE_CHECKING:
    from pathlib import Path

    from recorder.archive.care.verifying import Audit


@click.group(
    "db",
    cls=Group,
    epilog="""\b
Examples:
  ics-recorder db check
  ics-recorder db backup saved.sqlite
  ics-recorder db rebuild --dry-run
  ics-recorder db share --pseudonyms -o shared.sqlite
""",
)
def command() -> None:
    """Check, back up, rebuild, upgrade or share the archive."""


@command.command(
    "positions",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder db positions
  ics-recorder db positions --build
  ics-recorder db positions --drop
""",
)
@click.option("--build", "what", flag_value="build", help="Index all games now.")
@click.option("--drop", "what", flag_value="drop", help="Delete the index.")
@archive_option
def _positions(what: str | None, where: str) -> None:
    """Print how many games the index of positions has, index all, or delete it.

    `games --position` and the site's list of games use the index. It is a file beside the archive, FILE-positions, or
    in the user's folder for caches if nothing can be written there. It can be deleted at any time.
    """
    from recorder.archive.positions import index_sentence

    with open_archive(where) as archive:
        index = archive.positions
        if what == "drop":
            there = index.state().size_bytes
            say(f"Deleted {index.path}, {byte_size(there)}." if index.drop() else "There is no index of positions.")
            return
        if what == "build":
            if sentence := index_sentence(index.state()):
                say(sentence)
            with long_work(steps=True) as progress:
                index.update(progress)
        state = index.state()
    say(f"{plural(state.games, 'game')} indexed, {byte_size(state.size_bytes)}.")
    if state.missing:
        more = f"about {byte_size(state.added_bytes)} more"
        say(f"{plural(state.missing, 'game')} not indexed, {more}: `ics-recorder db positions --build` adds them.")


def _expressions(_context: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        try:
            re.compile(value)
        except re.error as error:
            raise click.BadParameter(f"{value!r} is not a regular expression: {error}.") from error
    return values


@command.command(
    "upgrade",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder db upgrade
  archive.sqlite has schema 0013 already.
  $ ics-recorder --db old.sqlite db upgrade
""",
)
@archive_option
def _upgrade(where: str) -> None:
    """Upgrade an older archive to the current schema, after a backup."""
    from storage import current, upgrade

    path = archive_file(where)
    before = current(path)
    saved = upgrade(path)
    after = current(path)
    if before == after:
        say(f"{path} has schema {after} already.")
    else:
        say(f"{path} is upgraded from schema {before} to schema {after}.")
    _say_saved(saved)


def _say_saved(saved: Path | None) -> None:
    if saved is not None:
        say(f"The old archive is saved as {saved}.")


@command.command(
    "current",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder db current
  0013 (newest: 0013)
  $ ics-recorder --db old.sqlite db current
""",
)
@archive_option
def _current(where: str) -> None:
    """Print the schema revision of the archive and the newest one."""
    from storage import current
    from storage.schema.upgrade import HEAD

    click.echo(f"{current(archive_file(where))} (newest: {HEAD})")


@command.command(
    "check",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder db check
  The archive is sound.
  $ ics-recorder --db copy.sqlite db check
""",
)
@archive_option
@click.pass_context
def _check(ctx: click.Context, where: str) -> None:
    """Check the archive: SQLite's checks, foreign keys, table contents."""
    from storage.maintenance.check import check

    findings = check(archive_file(where))
    for finding in findings:
        click.echo(clean(finding))
    if findings:
        ctx.exit(ExitCode.FINDINGS)
    say("The archive is sound.")


@command.command(
    "backup",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder db backup copy.sqlite
  Saved as copy.sqlite.
  $ ics-recorder db backup "archive-$(date +%F).sqlite"
""",
)
@click.argument("target", metavar="FILE")
@archive_option
def _backup(target: str, where: str) -> None:
    """Copy the archive to FILE, a new file, also while it is in use."""
    from recorder.archive.exporting import backup_archive

    backup_archive(where, target)
    say(f"Saved as {target}.")


@command.command(
    "rebuild",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder db rebuild --dry-run
  8 games: 0 added, 0 gone, 0 differing.
  The archive is unchanged, because of --dry-run.
  $ ics-recorder db rebuild --carry-over
  $ ics-recorder db rebuild --jobs 4
""",
)
@click.option("-n", "--dry-run", is_flag=True, help="Report which games would change; replace nothing.")
@click.option("--no-backup", is_flag=True, help="Do not keep the old archive under another name.")
@click.option("--carry-over", is_flag=True, help="Keep the stored games of logs that can no longer be read.")
@jobs_option
@archive_option
@click.pass_context
def _rebuild(
    ctx: click.Context, dry_run: bool, no_backup: bool, carry_over: bool, jobs: int | None, where: str
) -> None:
    """Rebuild the archive from its journals and logs.

    Every log is read again by this version with the options of its import, then the new archive replaces the old one.
    Erased players and logs stay erased. Games that change are listed by key. If a log is neither kept in the archive
    nor where it was, its name is printed, and the old archive stays unless --carry-over is given. The new archive
    needs as much disk space as the old one. A journal whose first part is missing cannot be rebuilt: import it instead.
    """
    from recorder.archive.care.verifying import compare, read_again
    from recorder.cli.import_report import say_analyses
    from storage import ArchiveStore, replacing

    path = archive_file(where)
    with replacing(path, to_swap=not dry_run) as replacement:
        with (
            ArchiveStore.open(str(path), read_only=True) as old,
            ArchiveStore.open(str(replacement.path)) as new,
            long_work() as progress,
        ):
            missing, unread = read_again(old, new, progress, carry_over=carry_over, jobs=jobs)
            changes = compare(old, new) if carry_over or not missing else None
        for row, why, _ in missing:
            say(f"{clean(row.path or row.name)} ({row.id}) {clean(why)}.")
        for sentence in unread:
            say(clean(sentence))
        if changes is None:
            say(f"{path} is unchanged.")
            if any(row.path is not None and not is_there for row, _, is_there in missing):
                say("To read a missing log, put its file back where it was.")
            say("To keep the stored games of such logs, add --carry-over.")
            say(f"To remove such a log: ics-recorder sources forget {missing[0].row.id}")
            ctx.exit(ExitCode.INPUT)
        for word, games in (("added", changes.added), ("gone", changes.gone)):
            for game in games:
                click.echo(f"{game.key} {word}: {clean(game.white.handle)} vs. {clean(game.black.handle)}")
        for game, parts in changes.differing:
            handles = f"{clean(game.white.handle)} vs. {clean(game.black.handle)}"
            click.echo(f"{game.key} differs in its {', '.join(parts)}: {handles}")
        say(
            f"{plural(changes.games, 'game')}: {len(changes.added):,} added, {len(changes.gone):,} gone, "
            f"{len(changes.differing):,} differing."
        )
        if missing:
            say(f"The stored games of {plural(len(missing), 'log')} are kept.")
        if changes.analyses is not None:
            say_analyses(changes.analyses)
        if dry_run:
            say("The archive is unchanged, because of --dry-run.")
            ctx.exit(ExitCode.INPUT if unread else ExitCode.OK)
        saved = replacement.swap(keep_old=not no_backup)
    say(f"{path} is rebuilt.")
    _say_saved(saved)
    if unread:
        ctx.exit(ExitCode.INPUT)


@command.command(
    "share",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder db share --pseudonyms -o shared.sqlite
  Shared as shared.sqlite.
  $ ics-recorder db share --redact '[0-9]{6,}' -o shared2.sqlite
  Shared as shared2.sqlite.
""",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="The copy; an existing file is not replaced.")
@click.option(
    "--pseudonyms",
    is_flag=True,
    help="Replace every handle by an invented word; exclude free text, round ratings and times.",
)
@click.option(
    "--with-text",
    is_flag=True,
    help="With --pseudonyms, keep chat and the tags and reasons of saved games, with handles replaced.",
)
@click.option("--exact", is_flag=True, help="With --pseudonyms, keep ratings, titles and times as they are.")
@click.option(
    "--chat",
    type=click.Choice(("public", "none")),
    default="public",
    show_default=True,
    help="Chat to copy: kibitzes and whispers, or none.",
)
@click.option(
    "--redact",
    multiple=True,
    metavar="REGEX",
    callback=_expressions,
    help="Replace text that matches this regular expression by [redacted].",
)
@archive_option
def _share(output: str, where: str, **options: Any) -> None:
    """Copy the archive without log bytes, paths, tells and typed input.

    --pseudonyms replaces handles wherever they occur, in any case. It excludes chat, the tags and reasons of saved
    games, links and numbers of databases. Ratings are rounded to hundreds, and of times the days remain. Words of
    chess (openings, variants, moves) are never replaced. At the end the copy is read: if it contains a handle, it is
    not written. Moves and clocks remain: they identify a game to everyone who has the same game with its names.
    """
    from recorder.archive.exporting import share_archive

    format_of(None, output, ("sqlite", "sqlite3", "db"))
    if not options["pseudonyms"] and (options["with_text"] or options["exact"]):
        raise click.UsageError("--with-text and --exact change what --pseudonyms does; give it, too.")
    share_archive(where, output, **options)
    say(f"Shared as {output}.")


@click.command(
    "verify",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder verify 66b4
  session.log (66b40a6419b5): agrees; 5 games, 127 boards
  1 log of 1 read again, 0 findings.
  ...
  $ ics-recorder verify
  $ ics-recorder verify --jobs 4
""",
)
@click.argument("source_ids", nargs=-1, metavar="[ID…]", shell_complete=complete_sources)
@jobs_option
@archive_option
@json_option
@click.pass_context
def verify(ctx: click.Context, source_ids: tuple[str, ...], jobs: int | None, where: str, as_json: bool) -> None:
    """Verify the archive: read every kept log again and compare.

    For each log, the numbers of boards (<12>) and holdings (<b1>) and each game are compared with those that the
    archive stores. A log that is not kept is read from its file if the file has not changed. Merged games are merged
    again and compared. Numbers in parentheses are not errors: contradictions between sources, and moves whose clock is
    unexplained. Each analysed position must occur in its game.

    Exit status 1: something differs; 3: a log could not be read whole; 6: no log could be read.
    """
    from recorder.archive.care.verifying import verify_archive
    from recorder.cli.import_report import say_analyses

    with open_archive(where) as archive, long_work() as progress:
        report = verify_archive(archive, source_ids, progress, jobs=jobs)
    audits = report.audits
    if as_json:
        print_json([audit.to_json() for audit in audits])
    else:
        for audit in audits:
            click.echo(f"{clean(audit.name)} ({audit.id}): {audit.summary()}")
            for finding in audit.findings:
                click.echo(f"  {clean(finding)}")
            for remark in (*audit.unexplained, *audit.conflicts):
                click.echo(f"  ({clean(str(remark))})")
    for key in report.stale:
        say(f"Game {key[:8]} differs from what its sources give: run `ics-recorder db rebuild`.")
    if report.analyses is not None:
        say_analyses(report.analyses)
        for key in report.analyses.wrong:
            say(f"Game {key[:8]} has other positions than its analyses.")
    read, findings = report.read, report.findings
    if not audits:
        say("The archive contains no log: nothing to verify.")
    elif not read and not any(audit.unread for audit in audits):
        say(f"NOTHING WAS VERIFIED: {plural(len(audits), 'log')}, none of which could be read again.")
        ctx.exit(ExitCode.UNPROVED)
    else:
        unread = f" {plural(len(audits) - read, 'log')} could not be audited." if read < len(audits) else ""
        say(f"{plural(read, 'log')} of {len(audits)} read again, {plural(findings, 'finding')}.{unread}")
        _print_clocks(audits)
    for sentence in report.failures:
        say(sentence)
    if report.failures:
        ctx.exit(ExitCode.INPUT)
    if findings:
        ctx.exit(ExitCode.FINDINGS)


def _print_clocks(audits: list[Audit]) -> None:
    from recorder.ledger import Cause

    clocks = sum((audit.clocks for audit in audits), Counter[Cause]())
    not_known = sum(audit.clocks_not_known for audit in audits)
    moves = clocks.total()
    if moves:
        words = ", ".join(f"{count:,} {cause.value}" for cause, count in clocks.most_common())
        left = clocks[Cause.UNEXPLAINED]
        share = f"{left:,} unexplained" if left else "all explained"
        others = f" {plural(not_known, 'move')} without known times." if not_known else ""
        say(f"Clocks of {plural(moves, 'move')} of played games, {share}: {words}.{others}")
