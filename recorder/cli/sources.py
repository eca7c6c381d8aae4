"""``ics-recorder sources`` and ``anomalies``: the logs of an archive, and what is malformed in them."""

from __future__ import annotations

import click

from recorder.archive.locate import open_archive
from recorder.cli.option_types import complete_sources
from recorder.cli.options import ANOMALIES, Command, Group, archive_option, json_option, wide_option
from recorder.cli.output import print_json, print_table, say
from recorder.text import clean, plural


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
    if as_json:
        print_json(
            [
                {
                    "id": row.id,
                    "sha256": row.sha256,
                    "name": row.name,
                    "path": row.path,
                    "kind": row.kind,
                    "server": row.server,
                    "dialect": row.dialect,
                    "me": row.me,
                    "size_bytes": row.size_bytes,
                    "kept": row.kept,
                    "games": row.games,
                    "time_basis": row.time_basis.value,
                    "parser_version": row.parser_version,
                    "read_up_to": row.read_up_to,
                    "options": row.options,
                }
                for row in rows
            ]
        )
        return
    names = short_names(rows)
    print_table(
        ("ID", "Name", "Kind", "Dialect", "Server", "Me", "Bytes", "Kept", "Games", "Times"),
        [
            (
                row.id,
                names[row.id],
                row.kind,
                row.dialect,
                row.server,
                row.me,
                row.size_bytes,
                "yes" if row.kept else "no",
                row.games,
                row.time_basis.value,
            )
            for row in rows
        ],
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
    type=click.Choice(ANOMALIES),
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
        found = [
            (row, anomaly) for row, anomaly in archive.anomalies(source_id) if not kinds or anomaly.kind.value in kinds
        ]
        sources = archive.sources()
        names = short_names(sources)
    if as_json:
        print_json(
            [
                {
                    "source": row.id,
                    "name": row.name,
                    "path": row.path,
                    "kind": anomaly.kind.value,
                    "offset": anomaly.offset,
                    "server_game_no": anomaly.game_no,
                    "message": anomaly.message,
                    "text": anomaly.text,
                }
                for row, anomaly in found
            ]
        )
        return
    print_table(
        ("Source", "Offset", "Kind", "Game", "What", "Line"),
        [
            (names[row.id], anomaly.offset, anomaly.kind.value, anomaly.game_no, anomaly.message, anomaly.text)
            for row, anomaly in found
        ],
        right=("Offset", "Game"),
        narrow=(("Line", 24), ("What", 32), "Line", ("What", 16), ("Source", 16)),
    )
    if not found:
        of = "this log" if source_id else plural(len(sources), "log")
        say(f"No anomalies{' of this kind' if kinds else ''} in {of}.")
