"""Serve the site: which answer each address has, who may read it, and the web server.

Archives are opened for each request, read-only."""

from __future__ import annotations

import os
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from recorder.archive.locate import open_archive
from recorder.archive.pages.related import growing_logs
from recorder.errors import ExportError, RecorderError, StorageError
from recorder.live.net.sockets import Address, format_address, listen
from recorder.text import reason_of
from recorder.web.answers import FormChoices, Queued, failed, not_found, page
from recorder.web.game_answers import GameAnswers
from recorder.web.insight_answers import InsightAnswers
from recorder.web.list_answers import ListAnswers
from recorder.web.live_feed import LiveFeed
from recorder.web.pages import live_page, login_page, message_page
from recorder.web.security import LEAST_TOKEN, Access, Guard, is_loopback, new_token
from recorder.web.work import Work
from storage.read.game_filter import ALL_PLAYED

_READY_S: Final = 5.0
"""How often it is looked whether the archive has changed."""


class SiteArchive:
    """The archive of a site, which ``where`` names as ``--db`` does, and the queue in which its answers are made."""

    def __init__(self, where: str) -> None:
        with open_archive(where) as archive:
            self._path = archive.path
        self.where = where
        self.choices = FormChoices(where)
        self.work = Work(self._version, self._settled)
        self._closed = threading.Event()

    def _version(self) -> Hashable:
        """What differs after each change of the archive, or of the index of its positions."""
        found = []
        for suffix in ("", "-wal", "-positions"):
            with suppress(OSError):
                stat = Path(f"{self._path}{suffix}").stat()
                found.append((suffix, stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return (*found, self.choices.read_at_s)

    def _settled(self) -> bool:
        """Whether pages change only when the archive does; those of a growing log also when its recorder ends."""
        with open_archive(self.where) as archive:
            return not growing_logs(archive)

    def keep_ready(self) -> None:
        """Until the site ends: load what draws the first page, and keep the files beside the archive up to date."""
        with suppress(ImportError):  # the page says what is missing
            import_module("exporters.measures.functions")
        seen: Hashable = None
        while not self._closed.is_set():
            version = self._version()
            if version != seen:
                self._prepare()
                seen = self._version()
            self._closed.wait(_READY_S)

    def _prepare(self) -> None:
        from exporters.tables.tables import open_tables

        with suppress(RecorderError, OSError), open_archive(self.where) as archive:  # who asks for them sees why
            if archive.positions.state().missing:
                archive.positions.update()
            with open_tables(archive, ALL_PLAYED):
                pass

    def close(self) -> None:
        """The site ends."""
        self._closed.set()
        self.work.close()


def make_app(archive: SiteArchive, access: Access, feed: LiveFeed) -> Guard:
    """Make the site of an archive."""
    public = not access.private
    lists = ListAnswers(archive.where, archive.choices, public=public, check=archive.work.check)
    games = GameAnswers(archive.where, public=public, check=archive.work.check)
    insights, live = InsightAnswers(archive.where, archive.choices, public=public), _Live(feed)

    def made(path: str, make: Callable[[Request], Response], *, shared: bool = True) -> Route:
        return Route(path, Queued(archive.work, make, shared=shared), methods=["GET"])

    routes = [
        made("/", lists.games),
        made("/games.{suffix}", lists.download, shared=False),
        made("/insights", insights.insights),
        made("/players.json", lists.handles),
        made("/explorer", lists.explorer),
        Route("/login", lambda _request: RedirectResponse("/", 303)),
        made("/game/{key}.{suffix}", games.game_file, shared=False),
        made("/game/{key}", games.game),
        made("/game/{key}/lines", games.lines),
        made("/player/{handle:path}", games.player),
        Route("/live", live.page),
        Route("/live/events", live.events),
    ]
    handlers: Mapping[Any, Callable[..., Response]] = {404: not_found, RecorderError: failed}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access, login_page, message_page)


class _Live:
    """The page of running recordings; it needs no archive."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed = feed

    def page(self, request: Request) -> Response:
        """The boards as they are now; the page's script keeps them so."""
        chosen = request.query_params
        return page(
            live_page(
                self._feed.look(),
                search=chosen.get("q", "").strip(),
                playing=bool(chosen.get("playing")),
                hide_results=bool(chosen.get("hide")),
            )
        )

    async def events(self, _request: Request) -> Response:
        """What changes, as server-sent events."""
        return StreamingResponse(self._feed.events(), 200, media_type="text/event-stream")


TOKEN_VARIABLE: Final = "ICS_RECORDER_WEB_TOKEN"
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY: Final = ("0.0.0.0", "::")
_MISSING: Final = "The site needs {name}: pip install 'ics-recorder[web]'."


def read_token(path: Path | None) -> str | None:
    """Return the token that the user has set, from a file or the environment; ValueError if it is too short."""
    if path is None:
        token, place = os.environ.pop(TOKEN_VARIABLE, ""), TOKEN_VARIABLE
        if not token:
            return None
    else:
        place = str(path)
        try:
            token = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"{path} cannot be read: {reason_of(error)}.") from error
    token = token.strip()
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise ValueError(f"{place}: a token has {LEAST_TOKEN} or more letters, digits and signs of ASCII.")
    return token


def serve(
    where: str,
    journals: Path,
    address: Address,
    *,
    token: str | None,
    behind_proxy: bool,
    started: Callable[[str, str | None], None],
) -> None:
    """Serve an archive until Ctrl-C.

    Without a token one is made if other computers can reach the site; ``started`` gets the site's URL and that token.
    Port 0 is any free one; the folder of journals need not exist.
    """
    try:
        import uvicorn  # noqa: F401 - a sentence names it if it is missing

        from recorder.web.connections import make_server
        from recorder.web.live_feed import LiveFeed
    except ImportError as error:
        name = (error.name or "").partition(".")[0]
        if name not in ("uvicorn", "starlette", "jinja2", "markupsafe", "anyio"):
            raise
        raise ExportError(_MISSING.format(name=name)) from error
    made = new_token() if token is None and not is_loopback(address.host) and not behind_proxy else None
    access = _access(address.host, token or made, behind_proxy)
    feed = LiveFeed(journals, with_chat=access.private)
    archive = SiteArchive(where)
    app = make_app(archive, access, feed)
    sockets = listen(address, "--port or --host")
    port = sockets[0].getsockname()[1]
    shown = "localhost" if address.host in _ANY else address.host
    keeping = threading.Thread(target=archive.keep_ready, daemon=True)
    keeping.start()
    warnings.simplefilter("ignore")  # those of libraries say nothing to who reads the terminal
    started(f"http://{format_address(Address(shown, port))}/", made)

    def end() -> None:
        feed.close()
        archive.close()

    try:
        make_server(app, behind_proxy=behind_proxy, end=end).run(sockets=sockets)
    except KeyboardInterrupt:
        pass  # uvicorn raises the signal again
    finally:
        for one in sockets:
            one.close()
        if archive.work.busy or keeping.is_alive():  # nothing ends what they compute but the end of the process
            sys.stdout.flush()
            os._exit(0)


def _access(host: str, token: str | None, behind_proxy: bool) -> Access:
    return Access(
        hosts=None if behind_proxy else _names(host),
        numbers=host in _ANY,
        token=token,
        behind_proxy=behind_proxy,
        private=is_loopback(host) and not behind_proxy,
    )


def _names(host: str) -> frozenset[str]:
    """The names under which the site answers."""
    if host in _ANY:
        name = socket.gethostname().lower()
        return frozenset({*_HERE, name, f"{name}.local"})
    return frozenset({host.lower(), *(_HERE if is_loopback(host) else ())})
