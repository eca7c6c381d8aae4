"""Serve the site: which answer each address has, who may read it, and the web server.

Archives are opened for each request, read-only."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from recorder.archive.locate import open_archive
from recorder.errors import ExportError, RecorderError, StorageError
from recorder.live.net.sockets import Address, format_address, listen
from recorder.text import reason_of
from recorder.web.answers import FormChoices, failed, not_found, page
from recorder.web.game_answers import GameAnswers
from recorder.web.insight_answers import InsightAnswers
from recorder.web.list_answers import ListAnswers
from recorder.web.live_feed import LiveFeed
from recorder.web.pages import live_page, login_page, message_page
from recorder.web.security import LEAST_TOKEN, Access, Guard, is_loopback, new_token
from storage.read.game_filter import ALL_PLAYED

if TYPE_CHECKING:
    import uvicorn


def make_app(where: str, access: Access, feed: LiveFeed) -> Guard:
    """Make the site of an archive, which ``where`` names as ``--db`` does."""
    with open_archive(where):  # it can be used
        choices = FormChoices(where)
    public = not access.private
    lists, games = ListAnswers(where, choices, public=public), GameAnswers(where, public=public)
    insights, live = InsightAnswers(where, choices, public=public), _Live(feed)
    routes = [
        Route("/", lists.games),
        Route("/games.{suffix}", lists.download),
        Route("/insights", insights.insights),
        Route("/players.json", lists.handles),
        Route("/explorer", lists.explorer),
        Route("/login", lambda _request: RedirectResponse("/", 303)),
        Route("/game/{key}.{suffix}", games.game_file),
        Route("/game/{key}", games.game),
        Route("/game/{key}/lines", games.lines),
        Route("/player/{handle:path}", games.player),
        Route("/live", live.page),
        Route("/live/events", live.events),
    ]
    handlers: Mapping[Any, Callable[..., Response]] = {404: not_found, 405: not_found, RecorderError: failed}
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
        import uvicorn

        from recorder.web.live_feed import LiveFeed
    except ImportError as error:
        name = (error.name or "").partition(".")[0]
        if name not in ("uvicorn", "starlette", "jinja2", "markupsafe", "anyio"):
            raise
        raise ExportError(_MISSING.format(name=name)) from error
    made = new_token() if token is None and not is_loopback(address.host) and not behind_proxy else None
    access = _access(address.host, token or made, behind_proxy)
    feed = LiveFeed(journals, with_chat=access.private)
    app = make_app(where, access, feed)
    sockets = listen(address, "--port or --host")
    port = sockets[0].getsockname()[1]
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", server_header=False, proxy_headers=False, ws="none"
    )
    shown = "localhost" if address.host in _ANY else address.host
    threading.Thread(target=_prepare, args=(where,), daemon=True).start()
    started(f"http://{format_address(Address(shown, port))}/", made)
    try:
        ending(uvicorn.Server(config), feed.close).run(sockets=sockets)
    except KeyboardInterrupt:
        pass  # uvicorn has finished its answers and raises the signal again
    finally:
        for one in sockets:
            one.close()


def _access(host: str, token: str | None, behind_proxy: bool) -> Access:
    return Access(
        hosts=None if behind_proxy else _names(host),
        numbers=host in _ANY,
        token=token,
        behind_proxy=behind_proxy,
        private=is_loopback(host) and not behind_proxy,
    )


def ending(server: uvicorn.Server, end: Callable[[], None]) -> uvicorn.Server:
    """Let a web server call a function when it begins to end: it then waits for its answers, and events never end."""
    shutdown = server.shutdown

    async def ending_first(sockets: list[socket.socket] | None = None) -> None:
        end()
        await shutdown(sockets)

    server.shutdown = ending_first  # type: ignore[method-assign]  # uvicorn calls nothing of ours at this moment
    return server


def _prepare(where: str) -> None:
    """Load what draws the first game, and make the columnar copy, before a reader asks for them."""
    with suppress(ImportError):  # the page of a game says what is missing
        import_module("exporters.plots")
        import_module("exporters.measures.functions")
    with suppress(RecorderError, OSError):  # who asks for a measure sees why
        from exporters.tables.tables import open_tables
        from recorder.archive.locate import open_archive

        with open_archive(where) as archive, open_tables(archive, ALL_PLAYED):
            pass


def _names(host: str) -> frozenset[str]:
    """The names under which the site answers."""
    if host in _ANY:
        name = socket.gethostname().lower()
        return frozenset({*_HERE, name, f"{name}.local"})
    return frozenset({host.lower(), *(_HERE if is_loopback(host) else ())})
