"""How the commands talk: exit codes, tables, a progress bar."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final, Protocol

import click

from exporters.times import THOUSANDTHS, short_hms
from recorder.errors import EngineError, ExportError, JournalError, LoginError, RecorderError, SourceError, StorageError

__all__ = [
    "ExitCode",
    "Progress",
    "clean",
    "format_clock",
    "plural",
    "exit_status",
    "print_json",
    "print_table",
    "reason_of",
    "say",
    "show_progress",
]


class ExitCode(IntEnum):
    """What the process's exit status means; README.md has the same table."""

    OK = 0
    FINDINGS = 1  # verify, db check or journal check found something, or --strict and a log has anomalies
    USAGE = 2
    INPUT = 3  # some log could not be read; the others were
    ARCHIVE = 4  # it cannot be used, or does not have all that was recorded
    OUTPUT = 5
    UNPROVED = 6  # verify could read none of the logs again
    JOURNAL = 7  # the journal cannot be written (recording has stopped) or read
    LOGIN = 8  # the server cannot be reached, or does not let us in
    LISTEN = 9  # nobody can be served at the address of --listen
    ENGINE = 10  # an engine cannot be started, or failed with some game
    INTERRUPTED = 130
    PIPE = 141


_STATUSES: Final[tuple[tuple[type[RecorderError], ExitCode], ...]] = (
    (SourceError, ExitCode.INPUT),
    (StorageError, ExitCode.ARCHIVE),
    (ExportError, ExitCode.OUTPUT),
    (JournalError, ExitCode.JOURNAL),
    (LoginError, ExitCode.LOGIN),
    (EngineError, ExitCode.ENGINE),
)


def exit_status(error: RecorderError) -> ExitCode:
    """What the process's exit status is after an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), ExitCode.INPUT)


class Progress(Protocol):
    """What is told of something that takes its time."""

    def __call__(self, name: str, done: int, total: int | None) -> None:
        """``done`` of ``total`` bytes (else steps) of ``name`` are done; ``total`` None: not known."""


def say(message: str = "") -> None:
    """Talk: one line to stderr. Nobody to talk to is no failure."""
    with contextlib.suppress(OSError):
        click.echo(message, err=True)


def plural(number: int, word: str, words: str | None = None) -> str:
    """``1 game``, ``1,204 games``."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def clean(text: str) -> str:
    """Text of a log made safe for a terminal: control characters become ``\\x1b`` and the like."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def reason_of(error: Exception) -> str:
    """Why something failed, without the error's number and the file's name, which our sentences have anyway."""
    return str(getattr(error, "strerror", None) or error)


def format_clock(ms: int | None) -> str:
    """``4:57.338`` or ``1:04:57.338``; a negative clock keeps its sign; unknown is a dash."""
    if ms is None:
        return "-"
    seconds, thousandths = divmod(abs(ms), 1000)
    return f"{'-' if ms < 0 else ''}{short_hms(seconds)}{THOUSANDTHS[thousandths] if thousandths else ''}"


def print_json(value: Any) -> None:
    """One JSON document on one line of stdout."""
    click.echo(json.dumps(value, ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """Print a table: ruled on a terminal, columns parted by tabs elsewhere (so that ``cut`` and ``awk`` work).

    A terminal on which the columns find no room without cutting words gets them closer, or a line for each value.

    Args:
        columns: headings.
        rows: values; None prints as a dash.
        right: headings of the columns that stand to the right.
    """
    texts = [["-" if value is None else clean(str(value)) for value in row] for row in rows]
    if not sys.stdout.isatty():
        for row in [list(columns), *texts]:
            click.echo("\t".join(row))
        return
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    longest, widths = [], []
    for column in zip(columns, *texts, strict=True):
        longest.append(max(cell_len(word) for text in column for word in [*text.split(), ""]))
        widths.append(max(map(cell_len, column)))
    count = len(columns)
    ruled = sum(longest) + 3 * count + 1 <= console.width
    room = console.width - (3 * count + 1 if ruled else count)
    if sum(longest) > room:
        _print_records(columns, texts)
        return
    while sum(widths) > room:  # lines are broken where most can be saved, and between words
        at = max(range(count), key=lambda number: widths[number] - longest[number])
        widths[at] -= 1
    table = Table(box=box.SIMPLE_HEAD) if ruled else Table(box=None, padding=(0, 1, 0, 0))
    for heading, width in zip(columns, widths, strict=True):
        table.add_column(heading, width=width, justify="right" if heading in right else "left")
    for row in texts:
        table.add_row(*map(Text, row))
    console.print(table)


def _print_records(columns: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    """A line for each value, an empty one between rows."""
    width = max(map(len, columns))
    rows = ("\n".join(f"{name:<{width}}  {text}" for name, text in zip(columns, row, strict=True)) for row in texts)
    click.echo("\n\n".join(rows))


@contextmanager
def show_progress(*, steps: bool = False) -> Iterator[Progress]:
    """A bar with rate and remaining time on stderr if that is a terminal; nothing otherwise.

    Args:
        steps: what is counted are steps, no bytes.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda name, done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *([MofNCompleteColumn()] if steps else [DownloadColumn(), TransferSpeedColumn()]),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None)

        def update(name: str, done: int, total: int | None) -> None:
            bar.update(task, description=name, completed=done, total=total)

        yield update
