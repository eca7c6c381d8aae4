"""``ics-recorder journal``: what was recorded, read without an archive."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.options import KINDS, Command, Group, force_option, json_option
from recorder.cli.output import print_facts, print_json, say
from recorder.errors import ExitCode, RecorderError, SourceError, exit_status
from recorder.text import clean, plural
from recorder.times import format_clock

if TYPE_CHECKING:
    from recorder.journal import Damage, JournalFinding, Survey

_SECOND = 1_000_000_000
_HEADER = ("session", "role", "host", "port", "program", "version")
_DIRECTIONS = {"received": "<", "sent": ">", "both": "<>", "notes": "!"}


@click.group(
    "journal",
    cls=Group,
    epilog="""\b
Examples:
  ics-recorder journal info session.journal
  ics-recorder journal cat --times --direction both session.journal
  ics-recorder journal check session.journal
  ics-recorder journal check journals/
""",
)
def command() -> None:
    """Inspect journals: the raw recordings of record and proxy.

    Every command reads all parts of a session, whichever part is named.
    """


@command.command(
    "info",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder journal info session.journal
  Server:      chess.example 5000
  ...
  Lasted:      1:01.500
  Received:    265 bytes
  ...
  $ ics-recorder journal info session.journal --json
""",
)
@click.argument("file", metavar="FILE")
@json_option
def _info(file: str, as_json: bool) -> None:
    """Show what a journal contains and what is missing; FILE - is stdin."""
    from recorder.archive.reading.kept_bytes import survey_session

    survey, names = survey_session(file)
    header = survey.header
    begun = None if header is None else _utc(header.anchor_utc_ns, 0)
    if as_json:
        print_json(
            dict.fromkeys(_HEADER)
            | ({} if header is None else {name: getattr(header, name) for name in _HEADER})
            | {
                "begun": begun,
                "lasted_ns": survey.last_ns,
                "received_bytes": survey.received_bytes,
                "sent_bytes": survey.sent_bytes,
                "records": sum(survey.records.values()),
                "parts": survey.parts,
                "files": names,
                "closed": survey.closed,
                "crashed": survey.crashed,
                "outages": [outage._asdict() for outage in survey.outages],
                "torn": [{"file": name, **torn._asdict()} for name, torn in survey.torn],
                "damage": [{"file": name, **damage._asdict()} for name, damage in survey.damage],
                "findings": [finding._asdict() for finding in survey.findings],
            }
        )
        return
    lasted = survey.last_ns or 0
    rows: list[tuple[str, Any]] = []
    if header is not None:
        rows += [
            ("Server", header.host if header.port is None else f"{header.host} {header.port}"),
            ("Session", f"{header.session}, {header.role}, written by {header.program}"),
            ("Begun", begun),
            (
                "Ended" if survey.closed and not survey.crashed else "Last record",
                _utc(header.anchor_utc_ns, lasted) + ("; then a crash" if survey.crashed else ""),
            ),
        ]
    rows += [
        ("Lasted", format_clock(lasted // 1_000_000, exact=True)),
        ("Received", plural(survey.received_bytes, "byte")),
        ("Sent", plural(survey.sent_bytes, "byte")),
        ("Records", f"{sum(survey.records.values()):,}"),
        ("Parts", (", ".join(map(str, survey.parts)) or "none") + (not survey.closed) * "; the last is not closed"),
        ("Outages", len(survey.outages)),
        *((f"Outage {number}", _outage(survey, number)) for number in range(1, len(survey.outages) + 1)),
        *(("Torn", f"{name}: {plural(torn.size_bytes, 'byte')} from byte {torn.offset}") for name, torn in survey.torn),
        *(("Damaged", f"{name}: {_extent(damage)}") for name, damage in survey.damage),
        *(("Wrong", _told(finding)) for finding in survey.disorder),
    ]
    print_facts(rows, 13)


@command.command(
    "cat",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder journal cat --direction sent --times session.journal
  2024-10-04T00:00:01.500000005Z > *****\\n
  ...
  $ ics-recorder journal cat session.journal > session.raw
""",
)
@click.argument("file", metavar="FILE")
@click.option(
    "--direction",
    type=click.Choice(tuple(_DIRECTIONS)),
    default="received",
    show_default=True,
    help="Bytes to write: from the server, to it, or both; notes: the notes, one per line.",
)
@click.option("--times", is_flag=True, help="Write one line per record: UTC, direction, and the bytes escaped as in C.")
@click.pass_context
def _cat(ctx: click.Context, file: str, direction: str, times: bool) -> None:
    """Write the recorded bytes to standard output; FILE - is stdin."""
    from recorder.archive.reading.kept_bytes import session_files
    from recorder.journal import JournalHeader, escape

    wanted = _DIRECTIONS[direction]
    anchor_ns: int | None = None
    out = sys.stdout.buffer
    lost: list[str] = []
    status = ExitCode.OK
    for name, reader, entries in session_files(file):
        for value in (entry.value for entry in entries):
            if isinstance(value, JournalHeader):
                anchor_ns = value.anchor_utc_ns
            elif value.kind.value in wanted:
                if times:
                    when = f"+{value.at_ns / _SECOND:.9f}" if anchor_ns is None else _utc(anchor_ns, value.at_ns)
                    out.write(f"{when} {value.kind.value} ".encode() + escape(value.data) + b"\n")
                else:
                    out.write(value.data + (b"\n" if direction == "notes" else b""))
        for damage in (*reader.damage, *([reader.torn] if reader.torn else [])):
            size = (
                f"{plural(damage.size_bytes, 'byte')} skipped at" if damage.size_bytes else "everything is skipped from"
            )
            lost.append(f"{name}: {size} byte {damage.offset}: {damage.why}.")
        status = ExitCode.INPUT if reader.damage else status
    out.flush()
    for sentence in lost:
        say(clean(sentence))
    ctx.exit(status)


@command.command(
    "check",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder journal check session.journal
  session.journal: the journal is sound: 8 records in 1 part.
  $ ics-recorder journal check journals/
""",
)
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.pass_context
def _check(ctx: click.Context, files: tuple[str, ...]) -> None:
    """Check every line, the order of times, and that no part is missing.

    FILE is a journal, a folder that is searched for journals, or - for standard input. The exit status is that of the
    worst journal.
    """
    from recorder.archive.reading.kept_bytes import find_journals

    worst = ExitCode.OK
    checked: set[Path] = set()
    for file in files:
        try:
            for journal, first in find_journals(file):
                if first not in checked:
                    checked.add(first)
                    worst = max(worst, _check_one(journal))
        except RecorderError as error:
            say(f"Error: {error}")
            worst = max(worst, exit_status(error))
    ctx.exit(worst)


def _check_one(file: str) -> ExitCode:
    from recorder.archive.reading.kept_bytes import survey_session

    try:
        survey, _ = survey_session(file)
    except RecorderError as error:
        say(f"Error: {error}")
        return exit_status(error)
    for finding in survey.findings:
        click.echo(clean(_told(finding)))
    if survey.findings:
        say(f"{clean(file)}: {plural(len(survey.findings), 'finding')}.")
        return ExitCode.FINDINGS
    records = plural(sum(survey.records.values()), "record")
    say(f"{clean(file)}: the journal is sound: {records} in {plural(len(survey.parts), 'part')}.")
    if survey.crashed:
        say(f"{clean(file)}: the recorder was killed.")
    elif not survey.closed:
        say(f"{clean(file)}: the journal is not closed: it is being written, or its recorder was killed.")
    return ExitCode.OK


@command.command(
    "scrub",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder journal scrub old.log -o clean.log
  11 bytes of the raw log masked.
  $ ics-recorder journal scrub old.journal -o clean.journal
  11 bytes masked.
""",
)
@click.argument("file", metavar="FILE")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The clean copy, all parts in one file; - is standard output."
)
@click.option("--kind", type=click.Choice(KINDS), help="Kind of FILE, instead of recognising it by its content.")
@force_option
def _scrub(file: str, output: str, kind: str | None, force: bool) -> None:
    """Copy a log with passwords masked.

    Masks passwords that an older version or another program left in FILE, a journal or any other log that `import`
    reads, compressed or not. Each masked character becomes one asterisk, so all other bytes keep their offsets. Of a
    login all input is masked. FILE is not changed.

    Only passwords that the log itself shows can be found: read the copy before you give it away.
    """
    from recorder.archive.care.erasing import kind_of, write_clean, write_clean_journal
    from recorder.model import SAVED_KINDS
    from recorder.sources import SourceKind, is_journal, path_kind

    there = "pipe" if file == "-" else path_kind(file)
    if there == "folder":
        raise SourceError(f"{file} is a folder: name one of the logs in it.")
    if there == "pipe":
        raise click.UsageError("standard input cannot be read twice; name a file.")
    log_kind = None if kind is None else SourceKind(kind)
    if is_journal(Path(file)) or (log_kind or kind_of(file)) is SourceKind.JOURNAL:
        cleaner, lost = write_clean_journal(file, output, force)
        say(f"{plural(cleaner.replaced, 'byte')} masked.")
        if lost:
            say(f"{plural(lost, 'corrupt byte')} skipped.")
        return
    if (log_kind or kind_of(file)) in SAVED_KINDS:
        raise SourceError(f"{file} contains saved games, which have no passwords.")
    written, replaced = write_clean(file, output, force, log_kind)
    say(f"{plural(replaced, 'byte')} of the {written.value} log masked.")


def _extent(damage: Damage) -> str:
    size = plural(damage.size_bytes, "byte") if damage.size_bytes else "all"  # what follows cannot be decompressed
    return f"{size} from byte {damage.offset}"


def _told(finding: JournalFinding) -> str:
    offset = "" if finding.offset is None else f" byte {finding.offset}:"
    return f"{finding.file}:{offset} {finding.what}"


def _utc(anchor_ns: int, at_ns: int) -> str:
    seconds, ns = divmod(anchor_ns + at_ns, _SECOND)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ns:09}Z"


def _outage(survey: Survey, number: int) -> str:
    outage = survey.outages[number - 1]
    begun = f"at {format_clock(outage.from_ns // 1_000_000, exact=True)}"
    if outage.from_ns < 0:
        begun = f"began {format_clock(-outage.from_ns // 1_000_000, exact=True)} before this journal"
    if outage.until_ns is None:
        return f"{begun}, to the end"
    return f"{begun}, for {format_clock((outage.until_ns - outage.from_ns) // 1_000_000, exact=True)}"
