"""``ics-recorder sources`` and ``anomalies``: the logs of an archive, and what is malformed in them."""

from __future__ import annotations

import click

from recorder.archive.locate import open_archive
from recorder.cli.option_types import complete_sources
from recorder.cli.options import Command, Group, archive_option, json_option, wide_option
from recorder.cli.output import ANOMALY, print_rows, say
from recorder.model import AnomalyKind
from recorder.text import clean, named, plural

_SOURCE = named(
    "id sha256 name path kind server dialect me size_bytes kept games time_basis parser_version read_up_to options"
)
_PLACE = named("source=id name path")


@click.group(
    "sources",
    cls=Group,
    invoke_without_command=True,
    epilog="""\b
Examples:
  $ ics-recorder sources
  ID           Name        Kind Dialect Server Me      Bytes Kept Games Times
  ...
  66b40a6419b5 session.log raw  Lasker  -      Watcher 23873 yes      5 none
  $ ics-recorder sources --json
""",
)
@archive_option
@json_option
@wide_option
@click.pass_context
def command(ctx: click.Context, where: str, as_json: bool) -> None:
    """List the sources: logs, recordings and files in the archive.

    `sources forget ID` removes one.
    """
    from recorder.archive.reading.kept_bytes import short_names

    if ctx.invoked_subcommand is not None:
        return
    with open_archive(where) as archive:
        rows = archive.sources()
    names = short_names(rows)
    print_rows(
        rows,
        _SOURCE,
        (
            ("ID", "id"),
            ("Name", lambda row: names[row.id]),
            ("Kind", "kind"),
            ("Dialect", "dialect"),
            ("Server", "server"),
            ("Me", "me"),
            ("Bytes", "size_bytes"),
            ("Kept", lambda row: "yes" if row.kept else "no"),
            ("Games", "games"),
            ("Times", "time_basis"),
        ),
        as_json=as_json,
        right=("Bytes", "Games"),
        narrow=(("Name", 30), "Kept", "Dialect", "Times", "Me", "Bytes", "Server", ("Name", 16)),
    )


@command.command(
    "forget",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder sources forget 66b4
  Forgot session.log: 5 games, 122 plies.
  $ ics-recorder --db old.sqlite sources forget 66b4
""",
)
@click.argument("source_id", metavar="ID", shell_complete=complete_sources)
@archive_option
def _forget(source_id: str, where: str) -> None:
    """Remove a source with its bytes, games and anomalies.

    It stays removed when its folder or another archive is imported, even if the log has grown, and when the archive is
    rebuilt. Importing the file by name adds it again. The file itself is not changed.
    """
    with open_archive(where, read_only=False) as archive:
        row = archive.source(source_id)
        gone = archive.erasures.forget_source(row.sha256)
    if row.unfinished:
        say(f"{clean(row.name)} was being written when it was last read: a program that follows it will add it again.")
    say(f"Forgot {gone.name}: {plural(gone.games, 'game')}, {plural(gone.plies, 'ply', 'plies')}.")


@click.command(
    "anomalies",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder anomalies
  No anomalies in 2 logs.
  $ ics-recorder anomalies --kind conflict 66b4
  No anomalies of this kind in this log.
""",
)
@click.argument("source_id", metavar="[ID]", required=False, shell_complete=complete_sources)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(tuple(kind.value for kind in AnomalyKind)),
    help="Show only anomalies of this kind; can be repeated.",
)
@archive_option
@json_option
@wide_option
def anomalies(source_id: str | None, kinds: tuple[str, ...], where: str, as_json: bool) -> None:
    """List anomalies: lines that are unreadable or contradict others.

    Each row has the source, the offset in bytes, the kind, the server's game number, a description and the line. ID
    limits the list to one source (see `sources`).
    """
    from recorder.archive.reading.kept_bytes import short_names

    with open_archive(where) as archive:
        rows = [
            (row, anomaly) for row, anomaly in archive.anomalies(source_id) if not kinds or anomaly.kind.value in kinds
        ]
        sources = archive.sources()
        names = short_names(sources)
    print_rows(
        rows,
        lambda pair: _PLACE(pair[0]) | ANOMALY(pair[1]),
        (
            ("Source", lambda pair: names[pair[0].id]),
            ("Offset", lambda pair: pair[1].offset),
            ("Kind", lambda pair: pair[1].kind.value),
            ("Game", lambda pair: pair[1].game_no),
            ("What", lambda pair: pair[1].message),
            ("Line", lambda pair: pair[1].text),
        ),
        as_json=as_json,
        right=("Offset", "Game"),
        narrow=(("Line", 24), ("What", 32), "Line", ("What", 16), ("Source", 16)),
    )
    if not (rows or as_json):
        of = "this log" if source_id else plural(len(sources), "log")
        say(f"No anomalies{' of this kind' if kinds else ''} in {of}.")
