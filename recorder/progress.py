"""Progress of work that takes its time, reported to the caller or shown as a bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import PurePath
from typing import Protocol

from recorder.text import clean

_FIGURES_WIDTH = 42
"""Columns of a terminal beside the name: a short bar, bytes, rate and remaining time."""


class Progress(Protocol):
    """Reports on an operation that takes time."""

    def __call__(self, name: str, done: int, total: int | None) -> None:
        """``done`` of ``total`` bytes (else steps) of ``name`` are done; ``total`` None: not known."""


def no_progress(name: str, done: int, total: int | None) -> None:
    """A ``Progress`` that shows nothing."""


def of_several(progress: Progress, number: int, count: int) -> Progress:
    """Report progress with one of several files (from 1); its name begins with ``file 45 of 98``."""
    if count == 1:
        return progress
    return lambda name, done, total: progress(f"file {number:,} of {count:,}: {PurePath(name).name}", done, total)


@contextmanager
def show_progress(*, steps: bool = False) -> Iterator[Progress]:
    """A bar with rate and remaining time on stderr if that is a terminal; nothing otherwise.

    Of a path only the file's name is shown. ``steps``: what is counted are steps, no bytes.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield no_progress
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
    from rich.table import Column

    console = Console(stderr=True)
    longest = max(console.width - _FIGURES_WIDTH, 12)
    with Bar(
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=longest)),
        BarColumn(),
        *([MofNCompleteColumn()] if steps else [DownloadColumn(), TransferSpeedColumn()]),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None, visible=False)  # until something is reported

        def update(name: str, done: int, total: int | None) -> None:
            name = clean(PurePath(name).name)
            if done < bar.tasks[0].completed:  # something else has begun, at another rate
                bar.reset(task, description=name)
            bar.tasks[0].total = total  # for ``update``, None is no change
            bar.update(task, description=name, completed=done, visible=True)

        yield update


def shown_progress(wanted: bool | Progress, *, steps: bool = False) -> AbstractContextManager[Progress]:
    """Return progress as a caller of the Python interface wants it: True shows a bar, a function gets the reports."""
    if wanted is True:
        return show_progress(steps=steps)
    return nullcontext(wanted or no_progress)
