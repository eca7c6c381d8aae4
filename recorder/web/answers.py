"""What the answers of all addresses share: pages with their policy, files of games, the values that the forms offer."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from exporters.report.page import policy_of, visible
from recorder.archive.pages.completions import Completion, completions
from recorder.archive.pages.related import games_in_progress
from recorder.archive.positions import with_position
from recorder.errors import SearchTimeoutError, UnknownVariantError
from recorder.filters import filter_control
from recorder.web.listing import ListState
from recorder.web.pages import message_page
from storage import ArchiveStore, GameFilter
from storage.maintenance.private import public_game

SEARCH_S: Final = 5.0
"""How long a search may take."""

TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    "pgn": "application/x-chess-pgn; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}
"""The formats in which games are downloaded."""

_CHOICES_S: Final = 60.0
_CHOICES: Final = {
    "variant": Completion.VARIANT,
    "time": Completion.TIME_CONTROL,
    "ending": Completion.REASON,
    "category": Completion.CATEGORY,
    "server": Completion.SERVER,
    "source": Completion.SOURCE,
}
_BLOCK: Final = 1 << 18
_IN_MEMORY: Final = 1 << 23


def page(html: bytes, status: int = 200) -> Response:
    """A page, with its policy in the header, too."""
    headers = {"content-security-policy": f"{policy_of(html)}; frame-ancestors 'none'"}
    return Response(html, status, headers, "text/html; charset=utf-8")


def not_found(_request: Request, _error: Exception) -> Response:
    """The answer of an address that there is not."""
    return page(message_page("Not found", "There is no such page. The address may be mistyped."), 404)


def not_understood(error: Exception) -> Response:
    """The answer of an address whose filters are invalid."""
    return page(message_page("Not understood", visible(str(error))), 400)


def failed(_request: Request, error: Exception) -> Response:
    """What the archive or an exporter reports: the archive is busy, was moved, or has another schema."""
    if isinstance(error, UnknownVariantError):
        return not_understood(error)
    if isinstance(error, SearchTimeoutError):
        return page(message_page("Timed out", f"{error} Add filters that exclude more games."), 503)
    return page(message_page("Error", visible(str(error))), 503)


class FormChoices:
    """The values that the forms offer for a filter: those of the archive, read again at most once a minute."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._values = _read_choices(where)
        self._read_at_s = time.monotonic()

    def current(self) -> Mapping[str, Sequence[str]]:
        """The values of each filter."""
        if time.monotonic() - self._read_at_s > _CHOICES_S:
            self._read_at_s = time.monotonic()
            self._values = _read_choices(self._where)
        return self._values


def _read_choices(where: str) -> dict[str, list[str]]:
    found = {name: [value for value, _ in completions(where, kind, "")] for name, kind in _CHOICES.items()}
    return {**found, "time": list(map(filter_control, found["time"]))}


def reached(archive: ArchiveStore, listed: ListState) -> ListState:
    """The list with the games that reached its position, as far as they are indexed: the site writes nothing."""
    if listed.where.position is None:
        return listed
    return replace(listed, where=with_position(archive, listed.where, as_indexed=True))


def file_of_games(archive: ArchiveStore, where: GameFilter, suffix: str, name: str, *, public: bool) -> Response:
    """A file of games. It is written whole before it is sent, so that no reader keeps a transaction open."""
    out = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when it was sent
    try:
        _write_games(archive, where, suffix, out, public=public)
    except BaseException:  # whatever ends it, also Ctrl-C
        out.close()
        raise
    headers = {"content-disposition": f'attachment; filename="{name}.{suffix}"', "content-length": str(out.tell())}
    out.seek(0)
    return StreamingResponse(_blocks(out), 200, headers, TYPES[suffix])


def _write_games(archive: ArchiveStore, where: GameFilter, suffix: str, out: Any, *, public: bool) -> None:
    if suffix == "csv":
        from exporters.table_files import write_games

        write_games(archive, where, out, "csv")
    else:
        games = archive.games(where)
        exporter: Any
        if suffix == "pgn":
            from exporters.pgn.exporter import PgnExporter, PgnOptions

            exporter = PgnExporter(PgnOptions(), games_in_progress(archive))
        else:
            from exporters.games_json import GamesJsonExporter

            exporter = GamesJsonExporter()
        exporter.write(map(public_game, games) if public else games, out)


def _blocks(out: IO[bytes]) -> Iterator[bytes]:
    with out:
        while block := out.read(_BLOCK):
            yield block
