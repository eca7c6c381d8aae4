"""Publishing an archive in a shared PostgreSQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.archive.locate import archive_file
from recorder.errors import ExportError
from recorder.progress import Progress

if TYPE_CHECKING:
    from storage.publish.publishing import Published

TEXTS = ("none", "public")
"""Which chat is published."""


def publish_archive(
    where: str, url: str, *, with_text: str | None = None, dry_run: bool = False, progress: Progress
) -> Published:
    """Mirror an archive into a PostgreSQL database.

    ``with_text``: ``public`` publishes kibitz and whisper, ``none`` no chat; None: as when the archive was published
    before, else ``public``.
    """
    from storage import storage_errors
    from storage.publish.publishing import publish
    from storage.schema.upgrade import require_current

    if with_text not in (None, *TEXTS):
        raise ExportError(f"with_text is one of {', '.join(TEXTS)}, not {with_text!r}.")
    path = archive_file(where)
    require_current(path)
    with storage_errors(path):
        return publish(path, url, with_text=with_text, dry_run=dry_run, progress=progress)
