"""Journals that an archive lacks, and those that a crash has left open: the next recorder imports and ends them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from recorder.errors import JournalError, StorageError
from recorder.text import plural

__all__ = ["archived_sessions", "take_left_over"]


async def take_left_over(
    journals: Path,
    import_them: Callable[[list[Path]], Awaitable[bool]] | None,
    tell: Callable[[str], object],
    later: str,
) -> None:
    """Import the journals of a folder that nobody has closed and nobody writes, then end them, so that they are found
    only once. What could not be imported is left for the next start.

    Args:
        journals: the folder; it need not exist.
        import_them: brings the archive up to date with journals, and says what keeps it from that; None: nothing is
            imported. Whether it could.
        tell: gets one sentence if there were any.
        later: the command that imports them.
    """
    from recorder.journal import open_sessions
    from recorder.live.net.sockets import in_thread

    def look() -> list[Path]:
        return [found.path for found in open_sessions(journals) if not found.written]

    # A long journal takes seconds, a disk that hangs longer: nobody who plays or is recorded waits for it.
    left = await in_thread(look)
    if not left or (import_them is not None and not await import_them(left)):
        return
    ended = await in_thread(lambda: [path for path in left if _end(path)])
    if not ended:
        return
    what = plural(len(ended), "journal was", "journals were")
    if import_them is None:
        tell(f"{what} left open by a crash and ended now, and not imported: {later}")
    elif await import_them(ended):
        tell(f"{what} left open by a crash; the archive has all of it now.")


def _end(path: Path) -> bool:
    from recorder.journal import close_left_open

    with suppress(OSError, JournalError):  # it stays as it was: the next start finds it
        return close_left_open(path)
    return False


def archived_sessions(where: str) -> tuple[dict[str, int | None] | None, str | None]:
    """How much of each session an archive has.

    Returns:
        Bytes by the session's name, None for a session that was forgotten; or None, and why it is not known.
    """
    from recorder.archive.locate import archive_file, open_archive
    from recorder.journal import session_name

    file = archive_file(where)
    if not file.exists():
        return None, f"There is no archive {file} yet."
    sizes: dict[str, int | None] = {}
    try:
        with open_archive(where) as archive:
            for row in archive.sources():
                if (session := session_name(row.name)) is not None:
                    sizes[session] = max(sizes.get(session) or 0, row.size_bytes)
            for gone in archive.forgotten_sources():
                if (session := session_name(gone.name)) is not None:
                    sizes.setdefault(session, None)
    except StorageError as error:
        return None, f"How far the archive is cannot be told: {error}"
    return sizes, None
