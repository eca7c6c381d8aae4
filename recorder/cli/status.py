"""``ics-recorder status``: what is being recorded now, asked from another terminal."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import click

from recorder.cli.living import journal_dir_option
from recorder.cli.options import json_option
from recorder.cli.terminal import print_json, print_table, say

__all__ = ["command"]

_SECOND = 1_000_000_000


@click.command(
    "status",
    epilog="""\b
Examples:
  ics-recorder status
  ics-recorder status --json | jq '.[] | select(.written)'
""",
)
@journal_dir_option
@json_option
def command(journal_dir: Path, as_json: bool) -> None:
    """Tell which connections are being recorded now, and which journals a crash has left open.

    A journal is read as far as it was written and needs no repair: import takes it as it is, and record does so when
    it starts.
    """
    from recorder.journal import open_sessions

    now_ns = time.time_ns()
    rows = []
    objects = []
    for found in open_sessions(journal_dir):
        header = found.header
        last_ns = None if found.last_ns is None else header.anchor_utc_ns + found.last_ns
        begun = _utc(header.anchor_utc_ns)
        server = header.host if header.port is None else f"{header.host}:{header.port}"
        ago = None if last_ns is None else max(0, now_ns - last_ns) // _SECOND
        rows.append(
            (
                "recording" if found.written else "left open",
                header.role,
                server,
                begun,
                f"{found.size_bytes:,}",
                "never" if ago is None else f"{ago:,} s ago",
                found.path.name,
            )
        )
        objects.append(
            {
                "written": found.written,
                "role": header.role,
                "host": header.host,
                "port": header.port,
                "session": header.session,
                "begun": begun,
                "last": None if last_ns is None else _utc(last_ns),
                "size_bytes": found.size_bytes,
                "file": str(found.path),
            }
        )
    if as_json:
        print_json(objects)
    elif rows:
        print_table(("state", "role", "server", "begun", "bytes", "last record", "journal"), rows)
    else:
        say(f"Nothing is being recorded into {journal_dir}.")


def _utc(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns // _SECOND, UTC).isoformat().replace("+00:00", "Z")
