"""What a picture says, read from its parts."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D


def _named(ax: Axes, gid: str) -> str:
    return " ".join(" ".join(text.get_text().split("\n")) for text in ax.texts if text.get_gid() == gid)


def title(ax: Axes) -> str:
    """Title and subtitle, each on one line."""
    both = (ax.get_title(loc="left").replace("\n", " "), _named(ax, "subtitle"))
    return "\n".join(part for part in both if part)


def footer(ax: Axes) -> str:
    return _named(ax, "footer").strip()


def labels(ax: Axes) -> list[str]:
    """Entries of the legend."""
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def gids(ax: Axes) -> set[str]:
    """Names of the parts."""
    return {str(part.get_gid()) for part in ax.findobj() if part.get_gid()}


def line(ax: Axes, gid: str) -> Any:
    (found,) = [one for one in ax.findobj(Line2D) if one.get_gid() == gid]
    return found
