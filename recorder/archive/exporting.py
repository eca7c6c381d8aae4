"""Which games an export takes, and the files that it must not replace."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from recorder.model import Game
    from storage import ArchiveStore, GameFilter

__all__ = ["archive_files", "chosen_games", "protected"]


@contextmanager
def chosen_games(
    archive: ArchiveStore,
    where: GameFilter,
    *,
    events: bool = True,
    holdings: bool = True,
    lines: bool = True,
    thinking: bool = True,
    whole_plies: bool = True,
) -> Iterator[Iterator[Game]]:
    """The games that match, let go of when writing them fails in the middle; see ``ArchiveStore.games``."""
    games = archive.games(
        where,
        with_events=events,
        with_holdings=holdings,
        with_lines=lines,
        with_thinking=thinking,
        whole_plies=whole_plies,
    )
    with closing(cast("Generator[Game, None, None]", games)):
        yield games


def archive_files(path: Path) -> list[Path]:
    """An archive's file and those that SQLite keeps beside it, there or not."""
    return [path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal"))]


def protected(archive: ArchiveStore) -> list[Path]:
    """What no export may replace: the archive and the logs it was made from."""
    return [*archive_files(archive.path), *(Path(row.path) for row in archive.sources() if row.path is not None)]
