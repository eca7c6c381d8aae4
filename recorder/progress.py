"""Progress of work that takes its time, reported to the caller or shown as a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import PurePath
from typing import Any, Protocol

from recorder.text import clean

_BAR_WIDTH = 10
_FIGURES_WIDTH = _BAR_WIDTH + 36
"""Columns beside the name: bar, bytes, rate, remaining time. It is one line: a terminal can take only that back."""


class Progress(Protocol):
    def __call__(self, name: str, done: int, total: int | None) -> None:
        """``done`` of ``total`` bytes (else steps) of ``name`` are done; ``total`` None: not known."""


def no_progress(name: str, done: int, total: int | None) -> None: ...


def of_several(progress: Progress, number: int, count: int) -> Progress:
    if count == 1:
        return progress
    return lambda name, done, total: progress(f"file {number:,} of {count:,}: {PurePath(name).name}", done, total)


class _AboveBar:
    """A stream of the terminal that takes the bar back before something is written: it is drawn again below."""

    def __init__(self, stream: Any, hide: Callable[[], object]) -> None:
        self._stream = stream
        self._hide = hide

    def write(self, text: Any) -> Any:
        self._hide()
        return self._stream.write(text)

    @property
    def buffer(self) -> Any:  # click writes into it
        return _AboveBar(self._stream.buffer, self._hide)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def show_progress(*, steps: bool = False) -> Iterator[Progress]:
    """A bar on stderr if that is a terminal. Of a path only the file's name is shown; ``steps``: no bytes."""
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

    console = Console(file=sys.stderr)
    if console.is_dumb_terminal:  # what was drawn cannot be taken back
        yield no_progress
        return
    longest = max(console.width - _FIGURES_WIDTH, 12)
    bar = Bar(
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=longest)),
        BarColumn(_BAR_WIDTH),
        *(
            [MofNCompleteColumn(table_column=Column(no_wrap=True))]
            if steps
            else [
                DownloadColumn(table_column=Column(no_wrap=True)),
                TransferSpeedColumn(table_column=Column(no_wrap=True)),
            ]
        ),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = bar.add_task("", total=None)

    def update(name: str, done: int, total: int | None) -> None:
        name = clean(PurePath(name).name)
        if done < bar.tasks[0].completed:  # something else has begun, at another rate
            bar.reset(task, description=name)
        bar.tasks[0].total = total  # for ``update``, None is no change
        bar.update(task, description=name, completed=done)
        bar.start()  # at first, and behind what was printed

    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        _AboveBar(stream, bar.stop) if stream is not None and stream.isatty() else stream for stream in streams
    )
    try:
        yield update
    finally:
        sys.stdout, sys.stderr = streams
        bar.stop()


def shown_progress(wanted: bool | Progress, *, steps: bool = False) -> AbstractContextManager[Progress]:
    """As a caller of the Python interface wants it: True shows a bar, a function gets the reports."""
    if wanted is True:
        return show_progress(steps=steps)
    return nullcontext(wanted or no_progress)
