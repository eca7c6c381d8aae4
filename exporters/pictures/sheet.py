"""Titles and footer of a sheet: a figure of several axes."""

from __future__ import annotations

from matplotlib.axes import Axes

from exporters.pictures.style import Theme, fill_lines

__all__ = ["add_sheet_titles"]

_TITLE_POINTS = 13.0
_SUBTITLE_POINTS = 9.0
_FOOTER_POINTS = 7.0
_LEFT = 0.008


def add_sheet_titles(ax: Axes, theme: Theme, title: str, subtitle: str, footer: str) -> None:
    """A bold line and a small one over a whole figure, and its footer.

    Args:
        ax: any axes of the figure.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    width = figure.get_figwidth() * 72 * 0.95
    below = fill_lines(subtitle, width, _SUBTITLE_POINTS)
    above = fill_lines(title, width, _TITLE_POINTS)
    # Empty lines keep the place of the subtitle, which has another size.
    head = figure.suptitle(
        "\n".join([*above, *("" for _ in below)]),
        x=_LEFT,
        ha="left",
        color=theme.text,
        fontsize=_TITLE_POINTS,
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
        "\n".join(fill_lines(footer, width, _FOOTER_POINTS)),
        x=_LEFT,
        ha="left",
        color=theme.muted,
        fontsize=_FOOTER_POINTS,
        parse_math=False,
        gid="footer",
    )
