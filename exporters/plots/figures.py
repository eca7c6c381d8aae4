"""Figures: new ones in the colours of a theme, their titles, and their files.

The same figure gives the same bytes; text in SVG stays text.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any, BinaryIO, Final

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from exporters.plots.style import FOOTER_POINTS, Theme, dress, fill_lines, theme_of
from exporters.table_files import import_pyarrow, shielded_sql
from recorder.errors import ExportError
from storage.read.store import new_database

_PREFIX = re.compile(r"[A-Za-z0-9_-]*")
_ELEMENT = re.compile(r"<[^<>]*>")
FORMATS: Final = ("svg", "png", "pdf")  # file formats of pictures, and the suffixes of their files
TABLE_FORMATS: Final = ("csv", "jsonl", "parquet")  # file formats of the rows that a picture shows
_DATES: Final[dict[str, dict[str, Any]]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
_NAMED = re.compile(r'(\bid="|href="#|url\(#)')


def write_picture(figure: Figure, out: BinaryIO, format_name: str, *, dpi: int = 150) -> None:
    """Write a figure.

    Args:
        figure: made by a function of this package; for axes, ``ax.figure``.
        out: the file.
        format_name: one of ``FORMATS``.
        dpi: dots an inch of a PNG.
    Raises:
        ExportError: the figure is too small for the texts around its axes.
    """
    # SVG keeps words as words, which can be searched and read aloud; names of its parts depend on their content only.
    settings = mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ics-recorder", "pdf.fonttype": 42})
    with settings, warnings.catch_warnings():
        # Letters of a handle that are in no installed font are drawn as boxes; SVG keeps them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support", category=UserWarning)
        warnings.filterwarnings("error", message="constrained_layout not applied", category=UserWarning)
        try:
            if format_name == "svg" and not figure.get_constrained_layout():  # ``savefig`` would draw twice
                canvas: Any = FigureCanvasSVG(figure)  # matplotlib has no types for this method
                canvas.print_svg(out, metadata=_DATES["svg"])
                return
            figure.savefig(
                out, format=format_name, dpi=dpi, facecolor=figure.get_facecolor(), metadata=_DATES[format_name]
            )
        except UserWarning as warning:
            width, height = figure.get_size_inches()
            raise ExportError(
                f"The picture does not fit into {width:g} x {height:g} inches; choose a larger size."
            ) from warning


def svg_text(figure: Figure, prefix: str = "") -> str:
    """Convert a figure to an ``<svg>`` element for an HTML page.

    Args:
        figure: made by ``new_figure`` or a function that draws a sheet.
        prefix: is put before every id in it, so that one page can have several pictures; the gid ``ply-17``
            becomes ``race-ply-17`` with the prefix ``race-``. Letters, digits, ``-`` and ``_``.
    Returns:
        The element, without an XML declaration.
    Raises:
        ValueError: the prefix has other characters.
    """
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"an id cannot begin with {prefix!r}")
    buffer = io.BytesIO()
    write_picture(figure, buffer, "svg")
    text = buffer.getvalue().decode("utf-8")
    element = text[text.index("<svg") :]
    # Only inside tags: text may look like an id.
    return _ELEMENT.sub(lambda tag: _NAMED.sub(rf"\g<1>{prefix}", tag[0]), element) if prefix else element


def write_table(table: Any, out: BinaryIO, format_name: str, *, raw: bool = False) -> int:
    """Write the rows that a picture shows.

    Args:
        table: as ``Picture.table`` returns it. out: the file.
        format_name: ``csv`` (UTF-8, a header, LF, empty for unknown), ``jsonl`` (null) or ``parquet``.
        raw: in CSV, write texts that look like formulas as they are.
    Returns:
        The number of rows.
    Raises:
        ExportError: it is Parquet, and pyarrow is not installed.
    """
    if format_name == "parquet":
        pa, pq = import_pyarrow()
        if isinstance(table, pd.DataFrame):  # with the types of its columns
            pq.write_table(pa.Table.from_pandas(table, preserve_index=False), out)
            return len(table)
    if isinstance(table, pd.DataFrame):
        connection = new_database()
        connection.register("given", table)
        table = connection.table("given")
    kinds = zip(table.columns, map(str, table.types), strict=True)
    texts = [name for name, kind in kinds if kind.startswith(("VARCHAR", "ENUM")) and name != "san"]  # ENUM: a category
    cells = {name: f'"{name}"' for name in table.columns}  # a name may be a word of SQL
    if format_name == "csv" and not raw:
        cells |= {name: shielded_sql(f'"{name}"::VARCHAR') for name in texts}
    columns = ", ".join(f'{cell} AS "{name}"' for name, cell in cells.items())
    options = {"csv": "FORMAT csv, HEADER", "jsonl": "FORMAT json", "parquet": "FORMAT parquet"}[format_name]
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        path = Path(folder, "rows")
        table.query("rows", f"COPY (SELECT {columns} FROM rows) TO '{path}' ({options})")
        with path.open("rb") as written:
            shutil.copyfileobj(written, out)
    ((count,),) = table.query("rows", "SELECT count(*) FROM rows").fetchall()
    return int(count)


class _Shown(Figure):
    """A figure that a notebook shows at the end of a cell, with any backend."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        write_picture(self, out, "png", dpi=100)
        return out.getvalue()


def new_figure(theme: str | Theme = "light", size: tuple[float, float] = (9.0, 5.0)) -> Figure:
    """Make an empty figure that pyplot does not manage, so no window shows it.

    Args:
        size: width and height in inches.
        theme: name of its colours: ``light`` or ``dark``.
    Returns:
        The figure, without axes.
    """
    figure = _Shown(figsize=size, facecolor=theme_of(theme).background, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_axes(ax: Axes | None, theme: Theme) -> Axes:
    """The axes to draw in: those given, else those of a new figure; in the theme's colours."""
    if ax is None:
        ax = new_figure(theme, (9.0, 5.0)).add_subplot()
    dress(ax, theme)
    return ax


_SHEET_TITLE_POINTS = 13.0
_SUBTITLE_POINTS = 9.0
_LEFT = 0.008


def add_sheet_titles(ax: Axes, theme: Theme, title: str, subtitle: str, footer: str) -> None:
    figure = ax.get_figure(root=True)
    assert figure is not None
    width = figure.get_figwidth() * 72 * 0.95
    below = fill_lines(subtitle, width, _SUBTITLE_POINTS)
    above = fill_lines(title, width, _SHEET_TITLE_POINTS)
    # Empty lines reserve the place of the subtitle, which has another font size.
    head = figure.suptitle(
        "\n".join([*above, *("" for _ in below)]),
        x=_LEFT,
        ha="left",
        color=theme.text,
        fontsize=_SHEET_TITLE_POINTS,
        fontweight="bold",
        parse_math=False,
    )
    ax.annotate(
        "\n".join(below),
        (0, 0),
        (0, 2),
        xycoords=head,
        textcoords="offset points",
        va="bottom",
        fontsize=_SUBTITLE_POINTS,
        color=theme.muted,
        parse_math=False,
        gid="subtitle",
        annotation_clip=False,
    ).set_in_layout(False)
    figure.supxlabel(
        "\n".join(fill_lines(footer, width, FOOTER_POINTS)),
        x=_LEFT,
        ha="left",
        color=theme.muted,
        fontsize=FOOTER_POINTS,
        parse_math=False,
        gid="footer",
    )
