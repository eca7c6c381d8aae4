"""What an archive gives out: files for other programs, and tables for pandas.

::

    from exporters import Archive

    plies = Archive("games.db").plies(player="Morphy")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exporters.archive import Archive

__all__ = ["Archive"]


def __getattr__(name: str) -> Any:
    """``Archive``, loaded when it is asked for: no writer of files needs pandas."""
    if name == "Archive":
        from exporters.archive import Archive

        return Archive
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
