"""``ics-recorder status``: what is being recorded now, as text, JSON, exit status or Prometheus metrics."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from recorder.archive.locate import archive_file, archived_sessions, import_command
from recorder.cli.options import Command, archive_option, json_option, wide_option
from recorder.cli.output import print_json, print_rows, say
from recorder.cli.recording_options import journal_dir_option
from recorder.errors import SourceError
from recorder.live.status import RecorderState, check, current_states, metrics, read_others
from recorder.text import clean, named, plural

if TYPE_CHECKING:
    from recorder.journal import OpenSession

_SECOND = 1_000_000_000
_HEADER = named("role host port session")
_COUNTS = ("matched", "whole", "partly", "recovered", "missed")


@click.command(
    "status",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder status
  ics-recorder status --json | jq '.[] | select(.written)'
  ics-recorder status --check || systemctl restart ics-recorder
  ics-recorder status --metrics > /var/lib/node_exporter/ics-recorder.prom
""",
)
@journal_dir_option
@archive_option
@click.option(
    "--check",
    "only_check",
    is_flag=True,
    help="Print one sentence and set the exit status: 0 recording, 11 reconnecting, 12 not running.",
)
@click.option("--metrics", "as_metrics", is_flag=True, help="Print the counters of the recorders as Prometheus text.")
@json_option
@wide_option
@click.pass_context
def command(
    ctx: click.Context, journal_dir: Path, where: str, only_check: bool, as_metrics: bool, as_json: bool
) -> None:
    """Show what is being recorded now, and what the archive lacks.

    Lists the connections of running recorders with process id, user name and number of observed games, and journals
    that a crash left open. Such a journal needs no repair: `import` reads it as it is; `record` and `proxy`, too. The
    clients of a proxy are not listed. Logs that `follow` reads are named if their archive is in the folder of this one.

    Without --check, the exit status is 0.
    """
    from recorder.journal import open_sessions, session_name

    if only_check + as_metrics + as_json > 1:
        raise click.UsageError("Choose one of --check, --metrics and --json.")
    states = current_states(journal_dir)
    if only_check:
        status, sentence = check(states, any(each.written for each in open_sessions(journal_dir)), journal_dir)
        say(sentence)
        ctx.exit(status)
    if as_metrics:
        click.echo(metrics(states), nl=False)
        return
    if not journal_dir.is_dir():
        no_folder = f"There is no folder {journal_dir}"
        if ctx.get_parameter_source("journal_dir") is not ParameterSource.DEFAULT:
            raise SourceError(f"{no_folder}: name a folder of journals with --journal-dir.")
        if as_json:
            print_json([])
        say(f"{no_folder}: nothing has been recorded yet.")
        _say_others([], {archive_file(where).absolute().parent})
        return
    missing, problem = _missing(journal_dir, where)
    by_session = {session_name(state.journal): state for state in states if state.journal is not None}
    connections = []
    for session in open_sessions(journal_dir):
        name = session_name(session.path.name)
        behind = missing.pop(name or "", None)
        try:
            end = session.end()
        except OSError:  # it was just compressed or removed
            continue
        connections.append(_Connection(session, by_session.get(name) if session.written else None, behind, *end))
    if connections or as_json:
        now_ns = time.time_ns()
        print_rows(
            connections,
            _Connection.to_json,
            (
                ("state", lambda each: "recording" if each.session.written else "left open"),
                ("role", "session.header.role"),
                ("server", _place),
                ("user", lambda each: _user(each.state)),
                ("observed", lambda each: None if each.state is None else f"{each.state.watched:,}"),
                ("begun", lambda each: _utc(each.session.header.anchor_utc_ns)),
                ("bytes", lambda each: f"{each.session.size_bytes:,}"),
                ("not in archive", lambda each: None if each.behind is None else f"{each.behind:,}"),
                ("last record", lambda each: _ago(each.last_ns, now_ns)),
                ("games", lambda each: _games(each.games)),
                ("share", lambda each: (each.games or {}).get("share")),
                ("pid", lambda each: None if each.state is None else each.state.pid),
                ("journal", "session.path.name"),
            ),
            as_json=as_json,
            narrow=(
                *(("journal", 24), "share", "pid", "begun", "role", "bytes", ("games", 22), ("server", 20), "user"),
                *("not in archive", "journal"),
            ),
            fold=("games",),
        )
    else:
        say(f"Nothing is being recorded into {journal_dir}.")
    _say_others(states, {journal_dir.absolute(), archive_file(where).absolute().parent})
    if any(state.state != "recording" for state in states):
        say(check(states, False, journal_dir)[1])
    say(problem or _told(list(filter(None, missing.values())), where, journal_dir))


def _say_others(states: list[RecorderState], folders: set[Path]) -> None:
    """What others follow that have their files in the folders, and what hooks failed to take."""
    others = [other for folder in folders for other in read_others(folder)]
    for other in others:
        if "log" in other:
            say(clean(f"{other['log']} is being followed into {other['archive']}."))
    for hook in chain(*(state.hooks or () for state in states), *(other["hooks"] for other in others)):
        if hook["failed"] or hook["dropped"]:
            failures, dropped = plural(hook["failed"], "failure"), plural(hook["dropped"], "event")
            say(f"Hook {hook['name']}: {failures}, {dropped} dropped.")


class _Connection(NamedTuple):
    """A journal that is not ended."""

    session: OpenSession
    state: RecorderState | None  # None: its recorder is unknown
    behind: int | None  # bytes that the archive lacks
    recorded_ns: int | None  # when something was last recorded, since the header's anchor
    games: dict[str, Any] | None  # the last note ``games``

    @property
    def last_ns(self) -> int | None:
        """Since 1970."""
        return None if self.recorded_ns is None else self.session.header.anchor_utc_ns + self.recorded_ns

    def to_json(self) -> dict[str, Any]:
        session, state, last_ns = self.session, self.state, self.last_ns
        return {
            "written": session.written,
            "pid": None if state is None else state.pid,
            "user": None if state is None else state.handle,
            "guest": None if state is None else state.guest,
            "observed": None if state is None else state.watched,
            **_HEADER(session.header),
            "begun": _utc(session.header.anchor_utc_ns),
            "last": None if last_ns is None else _utc(last_ns),
            "size_bytes": session.size_bytes,
            "unarchived_bytes": self.behind,
            "games": self.games and {name: self.games.get(name) for name in _COUNTS},
            "share": (self.games or {}).get("share"),
            "hooks": None if state is None else state.hooks,
            "file": str(session.path),
        }


def _place(each: _Connection) -> str:
    header = each.session.header
    return str(header.host) if header.port is None else f"{header.host}:{header.port}"


def _ago(last_ns: int | None, now_ns: int) -> str:
    return "never" if last_ns is None else f"{max(0, now_ns - last_ns) // _SECOND:,} s ago"


def _missing(journals: Path, where: str) -> tuple[dict[str, int], str | None]:
    """By the session's name, in bytes, and why that is unknown."""
    from recorder.journal import session_sizes

    try:
        sizes = session_sizes(journals)
    except OSError as error:
        raise SourceError(f"{journals} cannot be read: {error.strerror or error}.") from error
    archived, problem = archived_sessions(where)
    if archived is None:
        return {}, problem
    stored = {session: archived.get(session, 0) for session in sizes}
    return {session: max(sizes[session] - done, 0) for session, done in stored.items() if done is not None}, problem


def _user(state: RecorderState | None) -> str | None:
    if state is None or not state.guest:
        return None if state is None else state.handle
    return "guest" if state.handle is None else f"{state.handle} (guest)"


def _games(note: dict[str, Any] | None) -> str | None:
    """How many matched and are over, how many of them are whole, and what else is known of the others."""
    if note is None:
        return None
    counts = {name: value for name in _COUNTS if type(value := note.get(name)) is int}
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name in _COUNTS[:2])


def _told(missing: list[int], where: str, journals: Path) -> str:
    """Of the journals whose recording has ended."""
    archive = archive_file(where)
    if not missing:
        return f"{archive} has every journal whose recording has ended."
    lacking = plural(len(missing), "journal whose recording has ended", "journals whose recording has ended")
    return f"{archive} lacks {plural(sum(missing), 'byte')} of {lacking}: {import_command(journals, where)}"


def _utc(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns // _SECOND, UTC).isoformat().replace("+00:00", "Z")
