"""``ics-recorder verify``: the archive against its sources, read again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from recorder.archive.locate import open_archive
from recorder.cli.options import archive_option, json_option
from recorder.cli.output import print_json, say, show_progress
from recorder.exit_codes import ExitCode
from recorder.progress import of_several
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.archive.verifying import Audit

__all__ = ["command"]


@click.command(
    "verify",
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
    """Audit the archive: read every kept log again and compare.

    Counts <12> and <b1> in the decoded bytes and compares them with the stored dispositions, and every game with
    what is stored. A log that is not kept is read from its file if that is still the same. Games of several logs are
    put together again and compared, too. What stands in parentheses is no difference: in what those logs contradict
    each other, and every move whose clock nothing explains. Positions of analyses are looked for in the games as they
    are now. Exit status 1 if anything differs, 3 if an error of this program kept a log from being read whole, 6 if no
    log could be read again.
    """
    from recorder.archive.verifying import audit_source
    from recorder.cli.import_report import say_analyses

    # Of one moment: a source that is being written has another id in the next.
    with open_archive(where) as archive, archive.snapshot(), show_progress() as progress:
        rows = [archive.source(one) for one in source_ids] if source_ids else archive.sources()
        audits = [
            audit_source(archive, row, of_several(progress, number, len(rows))) for number, row in enumerate(rows, 1)
        ]
        stale = archive.stale_games() if not source_ids and any(audit.read for audit in audits) else []
        analyses = None if source_ids else archive.count_analyses()
    if as_json:
        print_json([audit.to_json() for audit in audits])
    else:
        for audit in audits:
            click.echo(f"{clean(audit.name)} ({audit.id}): {audit.summary()}")
            for finding in audit.findings:
                click.echo(f"  {clean(finding)}")
            for remark in (*audit.unexplained, *audit.conflicts):
                click.echo(f"  ({clean(str(remark))})")
    for key in stale:
        say(f"Game {key[:8]} is not what its witnesses make: `ics-recorder db rebuild` makes it anew.")
    findings = sum(len(audit.findings) for audit in audits) + len(stale)
    if analyses is not None:
        say_analyses(analyses)
        for key in analyses.wrong:
            say(f"Game {key[:8]} has other positions than those by which its analyses are shown.")
        findings += len(analyses.wrong)
    read = sum(audit.read for audit in audits)
    if not audits:
        say("The archive holds no log: there is nothing to audit.")
    elif not read and not any(audit.unread for audit in audits):
        say(f"NOTHING WAS AUDITED: {plural(len(audits), 'log')}, none of which could be read again.")
        ctx.exit(ExitCode.UNPROVED)
    else:
        unread = f" {plural(len(audits) - read, 'log')} could not be audited." if read < len(audits) else ""
        say(f"{plural(read, 'log')} of {len(audits)} read again, {plural(findings, 'finding')}.{unread}")
        _tell_clocks(audits)
    failures = [audit.unread for audit in audits if audit.unread is not None]
    for sentence in failures:
        say(sentence)
    if failures:
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
