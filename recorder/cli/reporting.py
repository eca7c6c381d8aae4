"""``ics-recorder report``: a game as a page for the browser."""

from __future__ import annotations

import sys

import click

from recorder.cli.exporting import output_options, protected
from recorder.cli.options import archive_option, open_archive
from recorder.cli.terminal import say

__all__ = ["command"]


@click.command(
    "report",
    epilog="""\b
Examples:
  ics-recorder report last -o game.html
  ics-recorder report 3f09 -o game.html --force
  ics-recorder report 3f09 > game.html
""",
)
@click.argument("spec", metavar="GAME")
@archive_option
@output_options
def command(spec: str, where: str, output: str, force: bool) -> None:
    """Write GAME as one HTML file: the beginning of its key, last, or last~2 for the third newest.

    The page plays the game back in real time, with the think times as they were, and has both clocks, what was said,
    what was taken back, clock tables and where it all comes from. It needs no network and no other file. Of a bughouse
    match it has both boards on one time line. Needs the extra report.
    """
    from exporters.archive import Archive
    from exporters.output import open_output
    from exporters.report.game import game_report
    from recorder.cli.findings import anomalies_of_game
    from recorder.cli.matches import match_of

    if output == "-" and sys.stdout.isatty():
        raise click.UsageError("A page is not for the terminal; write it to a file with -o.")
    with open_archive(where) as archive, archive.snapshot():
        game = archive.game(spec)
        match, evidence = match_of(archive, game) or (None, "")
        games = [game] if match is None else [match.a, match.b]
        anomalies = [anomalies_of_game(archive, one) for one in games]
        tables, keys, every = Archive(where), [one.key for one in games], ("examined", "setup", "empty")
        plies, events = tables.plies(keys=keys, include=every), tables.events(keys=keys, include=every)
        page = game_report(game, match=match, evidence=evidence, anomalies=anomalies, plies=plies, events=events)
        with open_output(output, force, protected(archive)) as out:
            out.write(page)
    target = "standard output" if output == "-" else output
    say(f"Wrote the report of game {game.key[:8]}, {len(page) // 1024} KiB, to {target}.")
