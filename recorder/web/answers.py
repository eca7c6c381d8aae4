"""What the answers of all addresses share: pages with their policy, files of games, the values that the forms offer."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from exporters.report.page import policy_of, visible
from recorder.archive.pages.completions import Completion, completions
from recorder.archive.pages.related import games_in_progress
from recorder.archive.positions import with_position
from recorder.errors import SearchTimeoutError, UnknownVariantError
from recorder.filters import filter_control
from recorder.model import Game
from recorder.web.listing import ListState
from recorder.web.pages import message_page
from recorder.web.work import BusyError, LeftError, Page, Work
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
_RETRY_S: Final = "3"
_BLOCK: Final = 1 << 18
_IN_MEMORY: Final = 1 << 23


def page(html: bytes, status: int = 200) -> Page:
    """A page, with its policy in the header, too."""
    return Page(html, status, {"content-security-policy": f"{policy_of(html)}; frame-ancestors 'none'"})


class Queued:
    """ASGI: an address whose answers are made in a queue; a file that is sent in parts is not ``shared``."""

    def __init__(self, work: Work, make: Callable[[Request], Response], *, shared: bool = True) -> None:
        self._work, self._make, self._shared = work, make, shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, unless its client leaves before."""
        request = Request(scope)
        key = (scope["path"], scope["query_string"]) if self._shared else None
        try:
            waiter = self._work.ask(key, lambda: self._make(request))
            answer: asyncio.Future[Any] = asyncio.wrap_future(waiter)
            leaving: asyncio.Future[Any] = asyncio.ensure_future(_leaves(receive))
            try:
                await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if not answer.done():
                    return
            finally:
                leaving.cancel()
                if not answer.done():
                    self._work.leave(waiter)
                    answer.cancel()
            found = answer.result()
        except (BusyError, LeftError):
            found = page(message_page("Busy", "The site is making too many pages. Try again in some seconds."), 503)
            found.headers["retry-after"] = _RETRY_S
        await found(scope, receive, send)


async def _leaves(receive: Receive) -> None:
    """Return when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


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
    """The values that the forms offer for a filter: those of the archive, read again at most once a minute.

    ``read_at_s`` is when they changed, by the monotonic clock.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._values = _read_choices(where)
        self.read_at_s = time.monotonic()

    def current(self) -> Mapping[str, Sequence[str]]:
        """The values of each filter."""
        if time.monotonic() - self.read_at_s > _CHOICES_S and (found := _read_choices(self._where)) != self._values:
            self._values, self.read_at_s = found, time.monotonic()
        return self._values


def _read_choices(where: str) -> dict[str, list[str]]:
    found = {name: [value for value, _ in completions(where, kind, "")] for name, kind in _CHOICES.items()}
    return {**found, "time": list(map(filter_control, found["time"]))}


def reached(archive: ArchiveStore, listed: ListState) -> ListState:
    """The list with the games that reached its position, as far as they are indexed: the site writes nothing."""
    if listed.where.position is None:
        return listed
    return replace(listed, where=with_position(archive, listed.where, as_indexed=True))


def file_of_games(
    archive: ArchiveStore, where: GameFilter, suffix: str, name: str, *, public: bool, check: Callable[[], None]
) -> Response:
    """A file of games, written whole before it is sent, so that no reader keeps a transaction open.

    ``check`` is called before each game, and raises if no client waits for the file.
    """
    out = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when it was sent
    try:
        _write_games(archive, where, suffix, out, public=public, check=check)
    except BaseException:  # whatever ends it, also Ctrl-C
        out.close()
        raise
    headers = {"content-disposition": f'attachment; filename="{name}.{suffix}"', "content-length": str(out.tell())}
    out.seek(0)
    return StreamingResponse(_blocks(out), 200, headers, TYPES[suffix])


def _write_games(
    archive: ArchiveStore, where: GameFilter, suffix: str, out: Any, *, public: bool, check: Callable[[], None]
) -> None:
    if suffix == "csv":
        from exporters.table_files import write_games

        write_games(archive, where, out, "csv")
    else:
        games = _checked(archive.games(where), check)
        exporter: Any
        if suffix == "pgn":
            from exporters.pgn.exporter import PgnExporter, PgnOptions

            exporter = PgnExporter(PgnOptions(), games_in_progress(archive))
        else:
            from exporters.games_json import GamesJsonExporter

            exporter = GamesJsonExporter()
        exporter.write(map(public_game, games) if public else games, out)


def _checked(games: Iterable[Game], check: Callable[[], None]) -> Iterator[Game]:
    for game in games:
        check()
        yield game


def _blocks(out: IO[bytes]) -> Iterator[bytes]:
    with out:
        while block := out.read(_BLOCK):
            yield block
