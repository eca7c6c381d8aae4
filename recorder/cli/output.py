"""How the commands talk: progress, tables."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from recorder.progress import Progress, show_progress
from recorder.text import clean, named, plural, value_of

if TYPE_CHECKING:
    from pathlib import Path


WIDE: Final = "ics_recorder.wide"
"""Key in ``click.Context.meta`` of a command with ``--wide``: whether it was given."""


def say(message: str = "") -> None:
    """To stderr, without the control characters of what it quotes. A closed stderr is no failure."""
    with contextlib.suppress(OSError):
        click.echo("\n".join(map(clean, message.split("\n"))), err=True)


def say_skipped(paths: Sequence[Path]) -> None:
    """Because of their names."""
    if paths:
        say(f"{plural(len(paths), 'file')} skipped by name: hidden files, tables and databases.")


@contextlib.contextmanager
def long_work(*, steps: bool = False) -> Iterator[Progress]:
    """SIGTERM, or a terminal that is closed, ends it as Ctrl-C does: it cleans up."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has one
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # nohup ignores SIGHUP
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        with show_progress(steps=steps) as progress:
            yield progress
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def confirm(question: str, otherwise: str, show: Callable[[], None] | None = None) -> None:
    """End the command if the answer is no; without a terminal, ``otherwise`` says what to do."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"Confirmation needs a terminal; {otherwise}.")
    if show is not None:
        show()
    click.confirm(question, abort=True, err=True)


def print_json(value: Any) -> None:
    """On one line."""
    click.echo(json.dumps(value, ensure_ascii=False))


def print_facts(facts: Iterable[tuple[str, object]], width: int) -> None:
    """One a line after a column of names; None: the line is omitted."""
    for name, value in facts:
        if value is not None:
            click.echo(f"{name + ':':<{width}}{clean(str(value))}")


def print_rows(
    rows: Iterable[Any],
    record: Callable[[Any], Any],
    columns: Sequence[tuple[str, str | Callable[[Any], object]]],
    *,
    as_json: bool,
    **how: Any,
) -> None:
    """As a list in JSON, or as a table whose columns are headings, each with an attribute or a function."""
    if as_json:
        print_json_list(map(record, rows))
        return
    readers = [value_of(cell) if isinstance(cell, str) else cell for _, cell in columns]
    print_table([heading for heading, _ in columns], ([read(row) for read in readers] for row in rows), **how)


ANOMALY: Final = named("kind offset server_game_no=game_no message text")
"""An anomaly as JSON."""
_VALUES_AT_ONCE = 100


def print_json_list(values: Iterable[Any]) -> None:
    """As ``print_json``, while the values are read: the list is never in memory."""
    rest, begin = iter(values), "["
    while some := list(islice(rest, _VALUES_AT_ONCE)):
        click.echo(begin + json.dumps(some, ensure_ascii=False)[1:-1], nl=False)
        begin = ", "
    click.echo("[]" if begin == "[" else "]")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    narrow: Sequence[str | tuple[str, int]] = (),
    fold: Sequence[str] = (),
) -> None:
    """Print a table, one line a row: under headings on a terminal, columns separated by tabs elsewhere.

    ``narrow`` is what a narrow terminal does without, least important first: a heading is omitted, ``(heading, width)``
    is cut down to this width at the most; after these the widest columns are cut. Columns of ``fold`` continue on
    further lines instead. What is missing is named on stderr; ``--wide`` prints every column whole.
    """
    cells = (["-" if value is None else clean(str(value)) for value in row] for row in rows)
    if not sys.stdout.isatty():
        for row in chain([columns], cells):
            click.echo("\t".join(row))
        return
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    texts = list(cells)
    if not texts:
        return
    context = click.get_current_context(silent=True)
    wide = None if context is None else context.meta.get(WIDE)
    console = Console()
    natural = [max(map(cell_len, column)) for column in zip(columns, *texts, strict=True)]
    whole = sum(natural) + 2 * len(natural)
    gap = 2 if whole <= console.width or wide else 1
    widths = dict(enumerate(natural)) if wide else _fit(columns, natural, narrow, gap, console.width)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0), pad_edge=False, show_edge=False)
    for number, width in widths.items():
        heading = columns[number]
        side: Literal["left", "right"] = "right" if heading in right else "left"
        cut: Literal["crop", "ellipsis"] = "ellipsis"
        if heading == "Date" and width < natural[number]:  # the day alone, no half of the time
            cut, width = "crop", min(width, len("2020-01-31"))
        if heading in fold:
            table.add_column(heading, width=width, justify=side, overflow="fold")
        else:
            table.add_column(heading, width=width, justify=side, no_wrap=True, overflow=cut)
    for row in texts:
        table.add_row(*(Text(row[number]) for number in widths))
    if wide:
        console.width = max(console.width, whole)
    console.print(table, soft_wrap=bool(wide))
    missing = [heading for number, heading in enumerate(columns) if number not in widths]
    if missing:
        how = "" if wide is None else "; --wide shows all columns"
        say(f"This terminal is too narrow for {', '.join(missing)}{how}.")


def _fit(
    columns: Sequence[str], natural: Sequence[int], narrow: Sequence[str | tuple[str, int]], gap: int, room: int
) -> dict[int, int]:
    """Numbers of the columns that a terminal of this width shows, and their widths."""
    widths = dict(enumerate(natural))
    order: list[str | tuple[str, int]] = [*narrow, *(("", least) for least in (12, 6, 1) for _ in columns)]
    for step in order:
        over = sum(widths.values()) + gap * (len(widths) - 1) - room
        if over <= 0:
            break
        heading, least = (step, None) if isinstance(step, str) else step
        number = columns.index(heading) if heading else max(widths, key=lambda each: widths[each])
        if least is None:
            del widths[number]
        elif number in widths:
            widths[number] = max(widths[number] - over, min(least, widths[number]))
    spare = room - sum(widths.values()) - gap * (len(widths) - 1)
    for number in widths:  # what a later step has freed goes to columns that an earlier one has cut
        more = max(min(spare, natural[number] - widths[number]), 0)
        widths[number] += more
        spare -= more
    return widths
