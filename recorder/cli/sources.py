"""``ics-recorder sources``: the logs the archive was made from."""

from __future__ import annotations

import click

from recorder.archive.locate import open_archive
from recorder.cli.options import Command, archive_option, json_option, wide_option
from recorder.cli.output import print_json, print_table, say
from recorder.text import clean, plural

__all__ = ["command"]


@click.group(
    "sources",
    invoke_without_command=True,
    epilog="""\b
Examples:
  ics-recorder sources
  ics-recorder sources forget 3f09
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
    from recorder.archive.kept_bytes import short_names

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


@command.command("forget", cls=Command)
@click.argument("source_id", metavar="ID")
@archive_option
def _forget(source_id: str, where: str) -> None:
    """Remove a source with its bytes, games and anomalies.

    It stays removed when its folder or another archive is imported, also after it has grown, and when the archive is
    rebuilt. Importing the file by name adds it again. The file itself is not changed.
    """
    with open_archive(where, read_only=False) as archive:
        row = archive.source(source_id)
        gone = archive.forget_source(row.sha256)
    if row.unfinished:
        say(f"{clean(row.name)} was being written when it was read last: whoever follows it brings it back.")
    say(f"Forgot {gone.name}: {plural(gone.games, 'game')}, {plural(gone.plies, 'ply', 'plies')}.")
