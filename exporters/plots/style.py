"""How plots look: two themes, axes, titles, legends and footers.

Colours are those of Okabe and Ito ("Color Universal Design", 2008), lightened or darkened until each has a contrast of
at least 3:1 with its background (text: 4.5:1). No meaning hangs on colour alone: sides have their own markers and
phases their own hatching.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any, Final, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator, PercentFormatter
from matplotlib.transforms import ScaledTranslation

from exporters.report.svg import SECONDS, clock_text, round_step
from recorder.errors import ExportError

LegendEntry = tuple[Artist, str]  # what a legend shows, and its words


class Theme(NamedTuple):
    """Colours of one theme, as ``#rrggbb``.

    Attributes:
        text, muted: of titles and labels, of what is said in passing. grid: hair lines.
        white, black: the two sides of a game. phases: opening, middlegame, endgame.
        mark: events. shade: what was not recorded. scale: the colours of few and of many.
    """

    name: str
    background: str
    text: str
    muted: str
    grid: str
    white: str
    black: str
    phases: tuple[str, str, str]
    mark: str
    shade: str
    scale: tuple[str, str]

    def side(self, side: str) -> str:
        return self.white if side == "white" else self.black


THEMES: Final = {
    "light": Theme(
        name="light",
        background="#ffffff",
        text="#1a1a1a",
        muted="#5a6068",
        grid="#d9dce1",
        white="#d55e00",
        black="#0072b2",
        phases=("#0072b2", "#d55e00", "#00795a"),
        mark="#a3558a",
        shade="#e4e7eb",
        scale=("#a9c9e2", "#08306b"),
    ),
    "dark": Theme(
        name="dark",
        background="#15181e",
        text="#e8eaed",
        muted="#9aa4b2",
        grid="#3f454f",
        white="#e69f00",
        black="#56b4e9",
        phases=("#56b4e9", "#e69f00", "#2fc79a"),
        mark="#e08fbb",
        shade="#2a2f38",
        scale=("#2b4a68", "#d6eaff"),
    ),
}
"""The themes by name."""
_TITLE_POINTS = 12.0
_TEXT_POINTS = 9.0
_TICK_POINTS = 8.0
FOOTER_POINTS = 7.0
_LEGEND_TOP = 34.0  # points below the axes: under the tick labels and the axis label
_LEGEND_ROW = 13.0
_BLANK = "\N{NO-BREAK SPACE}"
_LEGEND_COLUMN = 37.0  # what a column needs besides its words
_LONGEST_WORD = 40
_CHARACTER = 0.6  # of the size in points: the mean width of a character
_TICKS = 7  # at most, on an axis
_STEPS_PERCENT = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def theme_of(theme: str | Theme) -> Theme:
    if isinstance(theme, Theme):
        return theme
    if theme not in THEMES:
        raise ExportError(f"Unknown theme {theme!r}: choose {' or '.join(THEMES)}.")
    return THEMES[theme]


def dress(ax: Axes, theme: Theme, *, grid: Literal["both", "x", "y"] | None = "y") -> None:
    ax.set_facecolor(theme.background)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme.muted)
    ax.tick_params(colors=theme.muted, labelcolor=theme.text, labelsize=_TICK_POINTS, which="both")
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(theme.text)
        axis.label.set_fontsize(_TEXT_POINTS)
    ax.grid(False)
    if grid:
        ax.grid(True, axis=grid, color=theme.grid, linewidth=0.6)
    ax.set_axisbelow(True)


def plain(text: object, longest: int = _LONGEST_WORD) -> str:
    """Foreign words as they may be drawn: on one line, without control characters, the middle omitted if too long."""
    drawn = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(text))
    if len(drawn) <= longest:
        return drawn
    front = longest * 2 // 3
    return f"{drawn[:front]}…{drawn[front + 1 - longest :]}"


@overload
def ply_place(ply: float) -> float: ...
@overload
def ply_place(ply: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]: ...
def ply_place(ply: float | npt.NDArray[np.float64]) -> float | npt.NDArray[np.float64]:
    """Where plies are on an axis of move numbers: White's move 12 at 12, Black's at 12.5."""
    return (ply + 1) / 2


def move_axis(ax: Axes) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    ax.set_xlabel("move")


def draw_points(
    ax: Axes, xs: Iterable[float], ys: Iterable[float], gids: Iterable[str], *, size: float, colour: str, face: str
) -> None:
    """Draw points that have names of their own (``ply-17``), by which a page finds a move's point."""
    for x, y, gid in zip(xs, ys, gids, strict=True):
        ax.add_artist(
            Line2D(
                [float(x)],
                [float(y)],
                marker="o",
                markersize=size,
                color=colour,
                markerfacecolor=face,
                linestyle="none",
                gid=gid,
            )
        )


def draw_bars(
    ax: Axes, theme: Theme, places: Any, heights: Any, *, colour: str, hatch: str, name: str, **how: Any
) -> Patch:
    """Draw bars that are named ``name-0`` …; return what a legend shows of them."""
    look: dict[str, Any] = {"hatch": hatch, "edgecolor": theme.background, "linewidth": 0}
    for number, bar in enumerate(ax.bar(places, heights, color=colour, **look, **how)):
        bar.set_gid(f"{name}-{number}")
    return Patch(facecolor=colour, **look)


def add_titles(ax: Axes, theme: Theme, title: str, subtitle: str = "") -> None:
    """A bold line and a small one above the axes. Dollar signs in them are dollar signs."""
    lines = _wrapped(subtitle, ax)
    pad = 6.0 + (_TEXT_POINTS * 1.35) * len(lines)
    ax.set_title(
        "\n".join(_wrapped(title, ax, _TITLE_POINTS)),
        loc="left",
        pad=pad,
        color=theme.text,
        fontsize=_TITLE_POINTS,
        fontweight="bold",
        parse_math=False,
    )
    if lines:
        ax.annotate(
            "\n".join(lines),
            (0, 1),
            (0, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=_TEXT_POINTS,
            color=theme.muted,
            parse_math=False,
            gid="subtitle",
        ).set_in_layout(False)  # the title's distance has kept its place


def width_points(ax: Axes) -> float:
    figure = ax.get_figure(root=True)
    subplot = ax.get_subplotspec()
    assert figure is not None
    columns = 1.0 if subplot is None else subplot.get_position(figure).width / 0.775
    return float(figure.get_figwidth() * min(columns, 1.0) * 72 * 0.86)


def _wrapped(text: str, ax: Axes, points: float = _TEXT_POINTS) -> list[str]:
    return fill_lines(text, width_points(ax), points) if text else []


def fill_lines(text: str, width: float, points: float) -> list[str]:
    """Break a text at its blanks into lines of about ``width`` points."""
    most = max(int(width / (points * _CHARACTER)), 20)
    words = " ".join(filter(None, text.split(" ")))
    return wrap(words, most, break_long_words=False, break_on_hyphens=False) or [text]


def add_legend(ax: Axes, theme: Theme, entries: Sequence[LegendEntry], footer: str = "", drop: float = 0.0) -> None:
    """Add a legend below the axes, where it hides nothing, and the footer under it, ``drop`` points lower."""
    rows = 0
    handles, labels = [handle for handle, _ in entries], [label for _, label in entries]
    columns = _columns(labels, width_points(ax))
    if handles:
        figure = ax.get_figure(root=True)
        assert figure is not None
        below = ScaledTranslation(0, -_LEGEND_TOP / 72, figure.dpi_scale_trans)
        legend = ax.legend(
            handles=handles,
            labels=[str(number) for number in range(len(handles))],
            loc="upper left",
            bbox_to_anchor=(0, 0),
            bbox_transform=ax.transAxes + below,
            borderaxespad=0,
            ncols=columns,
            frameon=False,
            fontsize=_TICK_POINTS,
            labelcolor=theme.text,
            handlelength=2.2,
            columnspacing=1.6,
            borderpad=0,
            labelspacing=0.35,
        )
        # Set afterwards: matplotlib omits labels that begin with an underscore, and reads dollars as mathematics.
        for text, label in zip(legend.get_texts(), labels, strict=True):
            text.set_parse_math(False)
            text.set_text(label)
        # A wide legend would make the axes narrow: what stands under it keeps its place alone.
        legend.set_in_layout(False)
        rows = math.ceil(len(handles) / columns)
    add_footer(ax, theme, footer or (_BLANK if rows else ""), drop=drop + rows * _LEGEND_ROW + (3 if rows else 0))


def _columns(labels: Sequence[str], width: float) -> int:
    """The most columns in which a legend is no wider than its axes; it is filled column by column."""
    for columns in range(min(len(labels), 6), 1, -1):
        parts = np.array_split([len(label) for label in labels], columns)
        if sum(_LEGEND_COLUMN + _TICK_POINTS * _CHARACTER * int(part.max()) for part in parts) <= width:
            return columns
    return 1


def add_footer(ax: Axes, theme: Theme, footer: str, *, drop: float = 0.0) -> None:
    """A small line below the axes, ``drop`` points lower than usual."""
    if footer:
        ax.annotate(
            "\n".join(_wrapped(footer, ax, FOOTER_POINTS)),
            (0, 0),
            (0, -_LEGEND_TOP - drop),
            xycoords="axes fraction",
            textcoords="offset points",
            va="top",
            fontsize=FOOTER_POINTS,
            color=theme.muted,
            parse_math=False,
            gid="footer",
        )


def duration_text(ms: float, *, whole_seconds: bool = False) -> str:
    """``1.3 s``, ``250 ms``, ``2:05 min``: no finer than what was printed."""
    seconds = ms / 1000
    if abs(seconds) >= 60:
        return f"{clock_text(round(seconds))} {'h' if abs(seconds) >= 3600 else 'min'}"
    if whole_seconds:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if abs(seconds) >= 1 else f"{ms:.0f} ms"


def percent_axis(axis: Axis, most: float) -> None:
    """Ticks at round percents of shares from 0 to ``most``, with the decimals that the step between them has."""
    step = round_step(most * 100, _TICKS, _STEPS_PERCENT)
    axis.set_major_locator(MultipleLocator(step / 100))
    axis.set_major_formatter(PercentFormatter(1.0, decimals=0 if step >= 1 else 1))


def clock_axis(axis: Axis, low_s: float, high_s: float, *, ticks: int = 7, whole_seconds: bool = False) -> None:
    steps = [step for step in SECONDS if step >= 1 or not whole_seconds]
    step = round_step(max(high_s - low_s, 0.0), ticks, steps)
    axis.set_major_locator(MultipleLocator(step))
    axis.set_major_formatter(FuncFormatter(lambda value, _: clock_text(value)))


def numbers(values: Any) -> npt.NDArray[np.float64]:
    """A nullable column as floats, unknown as NaN."""
    array: npt.NDArray[np.float64] = values.to_numpy(dtype="float64", na_value=np.nan)
    return array
