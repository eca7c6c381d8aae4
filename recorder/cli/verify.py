"""``ics-recorder verify``: the archive against its sources, read again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from recorder.archive.locate import open_archive
from recorder.cli.options import Command, archive_option, json_option
from recorder.cli.output import print_json, say
from recorder.exit_codes import ExitCode
from recorder.progress import show_progress
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.archive.verifying import Audit

__all__ = ["command"]


@click.command(
    "verify",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder verify
  ics-recorder verify 3f09
""",
)
@click.argument("source_ids", nargs=-1, metavar="[ID…]")
@archive_option
@json_option
@click.pass_context
def command(ctx: click.Context, source_ids: tuple[str, ...], where: str, as_json: bool) -> None:
    """Verify the archive: read every kept log again and compare.

    Counts <12> and <b1> lines in the decoded bytes and compares them with the stored dispositions, and each game with
    the stored one. A log that is not kept is read from its file if the file has not changed. Merged games are merged
    again and compared. Parentheses contain facts that are not differences: contradictions between sources, and moves
    whose clock is unexplained. Positions of analyses are compared with the games.

    Exit status 1: something differs; 3: a log could not be read whole because of an error of this program; 6: no log
    could be read.
    """
    from recorder.archive.verifying import verify_archive
    from recorder.cli.import_report import say_analyses

    with open_archive(where) as archive, show_progress() as progress:
        report = verify_archive(archive, source_ids, progress)
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
        say(f"Game {key[:8]} is not what its witnesses make: `ics-recorder db rebuild` makes it anew.")
    if report.analyses is not None:
        say_analyses(report.analyses)
        for key in report.analyses.wrong:
            say(f"Game {key[:8]} has other positions than those by which its analyses are shown.")
    read, findings = report.read, report.findings
    if not audits:
        say("The archive holds no log: there is nothing to audit.")
    elif not read and not any(audit.unread for audit in audits):
        say(f"NOTHING WAS AUDITED: {plural(len(audits), 'log')}, none of which could be read again.")
        ctx.exit(ExitCode.UNPROVED)
    else:
        unread = f" {plural(len(audits) - read, 'log')} could not be audited." if read < len(audits) else ""
        say(f"{plural(read, 'log')} of {len(audits)} read again, {plural(findings, 'finding')}.{unread}")
        _tell_clocks(audits)
    for sentence in report.failures:
        say(sentence)
    if report.failures:
        ctx.exit(ExitCode.INPUT)
    if findings:
        ctx.exit(ExitCode.FINDINGS)


def _tell_clocks(audits: list[Audit]) -> None:
    """How far the clocks add up."""
    from recorder.ledger import Cause

    clocks = sum((audit.clocks for audit in audits), Counter[Cause]())
    not_known = sum(audit.clocks_not_known for audit in audits)
    moves = clocks.total()
    if moves:
        told = ", ".join(f"{count:,} {cause.value}" for cause, count in clocks.most_common())
        left = clocks[Cause.UNEXPLAINED]
        share = f"{left:,} unexplained" if left else "all explained"
        others = f" {plural(not_known, 'move')} without known times." if not_known else ""
        say(f"Clocks of {plural(moves, 'move')} of played games, {share}: {told}.{others}")
