"""``ics-recorder anomalies``: what was wrong in the logs."""

from __future__ import annotations

import click

from recorder.archive.locate import open_archive
from recorder.cli.options import ANOMALIES, Command, archive_option, json_option, wide_option
from recorder.cli.output import print_json, print_table, say
from recorder.text import plural

__all__ = ["command"]


@click.command(
    "anomalies",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder anomalies
  ics-recorder anomalies --kind conflict 3f09
""",
)
@click.argument("source_id", metavar="[ID]", required=False)
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
def command(source_id: str | None, kinds: tuple[str, ...], where: str, as_json: bool) -> None:
    """List anomalies: lines that could not be read or contradict.

    Each row has the source, the offset in bytes, the kind, the server's game number, a description and the line. ID
    limits the list to one source (see `sources`).
    """
    from recorder.archive.kept_bytes import short_names

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
