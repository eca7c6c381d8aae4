"""Serve the site: which answer each address has, who may read it and from where, and the web server.

Archives are opened for each request, read-only."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import itertools
import logging
import os
import re
import secrets
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from exporters.report.page import site_files
from recorder.archive.locate import open_archive
from recorder.archive.pages.related import growing_logs
from recorder.errors import ExportError, RecorderError, StorageError
from recorder.filters import read_duration_ms
from recorder.live import TOKEN_VARIABLE
from recorder.live.net.sockets import Address, format_address, listen
from recorder.text import reason_of
from recorder.web.answers import (
    TYPES,
    Answers,
    FormChoices,
    Queued,
    failed,
    not_found,
    page,
)
from recorder.web.links import WebSite
from recorder.web.live_feed import LiveFeed
from recorder.web.pages import live_page, login_page, message_page
from recorder.web.work import Page, Work
from storage.read.store import ALL_PLAYED

REQUEST_S: Final = 10.0  # in which a request is there, with its body, from the connection or its first byte on
IDLE_S: Final = 5
STALLED_S: Final = 60.0  # in which a client takes some of its answer
CLIENT_CONNECTIONS: Final = 64
CONNECTIONS: Final = 512
"""Most connections of one client, and of all: another one closes the oldest that waits for a request, or is refused."""
ENDING_S: Final = 1  # how long answers that are being sent may take when the site ends

_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 3\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_numbers: Final = itertools.count()


class Connection(H11Protocol):
    """A connection with limits. ``number`` rises from one to the next; the ``host`` of all may be a proxy's."""

    host = ""
    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.number = next(_numbers)
        self.host = self.client[0] if self.client else ""
        others = [one for one in self.connections if isinstance(one, Connection) and one is not self]
        mine = [other for other in others if other.host == self.host]
        full = mine if len(mine) >= self._most_of_client else others if len(others) >= CONNECTIONS else []
        idle = min((one for one in full if one.waits), key=lambda one: one.number, default=None)
        if full and idle is None:
            transport.write(_FULL)
            transport.close()
            return
        if idle is not None:
            idle.transport.abort()
            idle.connections.discard(idle)
        self._limit(REQUEST_S)

    _most_of_client = CLIENT_CONNECTIONS
    _stalled = False

    @property
    def waits(self) -> bool:
        """Whether no whole request is here."""
        return self.cycle is None or self.cycle.more_body or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.waits:
            if not self._stalled:
                self._limit(None)
        elif self._due is None:
            self._limit(REQUEST_S)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = True
        self._limit(STALLED_S)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stalled = False
        self._limit(None)

    def timeout_keep_alive_handler(self) -> None:
        """Close it, though the client may not have taken all of the last answer."""
        super().timeout_keep_alive_handler()
        self._limit(STALLED_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self._limit(None)
        super().connection_lost(exc)

    def _limit(self, seconds: float | None) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)


class OfProxy(Connection):
    """A connection of the proxy in front of the site, which is all clients."""

    _most_of_client = CONNECTIONS


def make_server(app: Guard, *, behind_proxy: bool, end: Callable[[], None]) -> uvicorn.Server:
    """Make the web server of a site; ``end`` is called when it begins to end, because events never do."""
    logging.getLogger().addHandler(logging.NullHandler())  # what libraries log is for no reader of a terminal
    connection: Any = OfProxy if behind_proxy else Connection
    config = uvicorn.Config(
        app, http=connection, ws="none", lifespan="off", log_config=None, access_log=False, server_header=False,
        proxy_headers=False, timeout_keep_alive=IDLE_S, timeout_graceful_shutdown=ENDING_S,
    )  # fmt: skip
    server = uvicorn.Server(config)
    shutdown = server.shutdown

    async def ending_first(sockets: list[socket.socket] | None = None) -> None:
        end()
        await shutdown(sockets)

    server.shutdown = ending_first  # type: ignore[method-assign]  # uvicorn calls nothing of ours at this moment
    return server


_IN_QUERIES: Final = "=&%+;/?:@!$'()*,~"
_TARGET: Final = re.compile(r"/(?![/\\])[!-\[\]-~]*")  # a page of this site, as an address has it
COOKIE: Final = "ics_recorder"
LEAST_TOKEN: Final = 16  # characters of a token that cannot be found by trying

_LONGEST_FORM: Final = 4096
_CLIENT_S: Final = 1.0
_SITE_S: Final = 0.05
"""How long after a wrong token of a client, and of any, the next one of it, and of any, is looked at."""
_LONGEST_WAIT_S: Final = 10.0
_MOST_CLIENTS: Final = 1000

_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
}
"""Of all answers; a page names its own policy, and what browsers may keep says so."""


def new_token() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Access:
    """Who may read what."""

    hosts: frozenset[str] | None  # names that it answers under, in lower case and without a port; None: any
    numbers: bool = False  # also under every IP address: no site can use one to give itself this address
    token: str | None = None
    behind_proxy: bool = False  # which decides who reaches the site
    private: bool = False  # pages show raw lines, tells and what a user typed
    session: str = field(default_factory=new_token, repr=False)  # of the cookie, new in each run

    def answers(self, host: str) -> bool:
        name = _host_name(host)
        return self.hosts is None or name in self.hosts or (self.numbers and _is_number(name))

    def knows(self, token: str) -> bool:
        return self.token is not None and hmac.compare_digest(token.encode(), self.token.encode())


class Attempts:
    """Slows wrong tokens, however many requests bring them at once."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._site_s = 0.0
        self._clients: dict[str, float] = {}
        self._known: set[str] = set()

    def wait_s(self, client: str) -> float | None:
        """Seconds until the token of a client is looked at, and the next one later; None: too many wait."""
        if client in self._known:
            return 0
        now = self._now_s()
        at_s = max(now, self._site_s, self._clients.get(client, now))
        if at_s - now > _LONGEST_WAIT_S:
            return None
        if len(self._clients) >= _MOST_CLIENTS:
            self._clients = {name: until for name, until in self._clients.items() if until > now}
        self._site_s, self._clients[client] = max(now, self._site_s) + _SITE_S, at_s + _CLIENT_S
        return at_s - now

    def tried(self, client: str, *, right: bool) -> None:
        """After a right token its client waits no more, until it gives a wrong one."""
        if not right:
            self._known.discard(client)
            return
        self._clients.pop(client, None)
        if len(self._known) < _MOST_CLIENTS:
            self._known.add(client)


def client_of(scope: Scope, headers: Mapping[str, str], *, behind_proxy: bool) -> str:
    """Who sends a request: an address, of IPv6 the network of 64 bits that one customer has."""
    peer = scope.get("client") or ("", 0)
    name = headers.get("x-forwarded-for", "").rpartition(",")[2].strip() if behind_proxy else ""
    try:
        address = ipaddress.ip_address(name or peer[0])
    except ValueError:
        return str(peer[0])
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


class Guard:
    """ASGI: lets requests through that may read the site, and adds the headers of every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._attempts = Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        headers = dict(request.headers.items())
        answer, logged_in = await self._answer(request, headers)

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    own.setdefault(name, value)
                if logged_in:
                    secure = "; Secure" if headers.get("x-forwarded-proto") == "https" else ""
                    cookie = f"{COOKIE}={self._access.session}; HttpOnly; SameSite=Lax; Path=/"
                    own.append("set-cookie", cookie + (secure if self._access.behind_proxy else ""))
            await send(message)

        await answer(scope, receive, adding)

    async def _answer(self, request: Request, headers: Mapping[str, str]) -> tuple[ASGIApp, bool]:
        """What answers a request, and whether its client gets the cookie."""
        access = self._access
        if (sentence := self._refusal(headers)) is not None:
            return _refused(403, sentence), False
        logs_in = request.scope["path"] == "/login" and request.method == "POST" and access.token is not None
        if not logs_in and request.method not in ("GET", "HEAD"):
            sentence = "The site only shows: it takes no other requests than those for its pages."
            return _refused(405, sentence, allow="GET, HEAD"), False
        cookie = request.cookies.get(COOKIE, "").encode()
        if not logs_in and (access.token is None or hmac.compare_digest(cookie, access.session.encode())):
            return self._app, False
        form = await _form(request) if logs_in else {}
        target = form.get("to", ["/"])[0] if logs_in else _asked(request.scope)
        token = form.get("token", [""])[0].strip() if logs_in else _bearer(headers)
        right = await self._is_right(token, client_of(request.scope, headers, behind_proxy=access.behind_proxy))
        if right is None:
            sentence = "Too many wrong tokens were given. Try again in some seconds."
            return _refused(429, sentence, **{"retry-after": str(round(_LONGEST_WAIT_S))}), False
        if not right:
            return page(login_page(target if _TARGET.fullmatch(target) else "/", logs_in), 401), False
        return RedirectResponse(target if _TARGET.fullmatch(target) else "/", 303) if logs_in else self._app, True

    def _refusal(self, headers: Mapping[str, str]) -> str | None:
        """Why a request is refused, with the token or without it; None: it is not."""
        access = self._access
        host = headers.get("host", "")
        if not access.answers(host):
            return (
                f"This site does not answer under the name {host or 'of no host'}. Open the address that `web` printed."
            )
        if not access.behind_proxy and ("x-forwarded-for" in headers or "forwarded" in headers):
            return "The request came through a proxy. Start `ics-recorder web` with --trust-proxy to allow that."
        origin = headers.get("origin")
        if origin is not None and _netloc(origin) != host.lower():
            return "The request came from another site."
        way = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest", "document")
        if headers.get("sec-fetch-site") == "cross-site" and way != ("navigate", "document"):
            return "The request came from another site."
        return None

    async def _is_right(self, token: str, client: str) -> bool | None:
        """Whether a token is right; None: too many wrong ones came, so that it is not looked at."""
        if not token:
            return False
        wait_s = self._attempts.wait_s(client)
        if wait_s is None:
            return None
        if wait_s:
            await asyncio.sleep(wait_s)
        right = self._access.knows(token)
        self._attempts.tried(client, right=right)
        return right


def _refused(status: int, sentence: str, **headers: str) -> Response:
    response = page(message_page("Refused", sentence), status)
    response.headers.update(headers)
    return response


def _asked(scope: Scope) -> str:
    query = quote(scope["query_string"].decode("latin-1"), safe=_IN_QUERIES)
    return quote(scope["path"]) + (f"?{query}" if query else "")


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # no address
        return None


def _host_name(host: str) -> str:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host
    return name.strip("[]").lower()


def _bearer(headers: Mapping[str, str]) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def _form(request: Request) -> dict[str, list[str]]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) >= _LONGEST_FORM:
            break
    return parse_qs(body[:_LONGEST_FORM].decode("utf-8", "replace"))


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether a host's name or number is this computer, for this computer alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


_READY_S: Final = 5.0  # how often it is looked whether the archive has changed


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
        state = []
        for suffix in ("", "-wal", "-positions"):
            with suppress(OSError):
                stat = Path(f"{self._path}{suffix}").stat()
                state.append((suffix, stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return (*state, self.choices.read_at_s)

    def _settled(self) -> bool:
        """Whether pages change only when the archive does; those of a growing log also when its recorder ends."""
        with open_archive(self.where) as archive:
            return not growing_logs(archive)

    def keep_ready(self) -> None:
        """Until the site ends: load what draws the first page, and keep the files beside the archive up to date."""
        with suppress(ImportError):  # the page says what is missing
            import_module("exporters.measures.functions")
        ready: Hashable = None
        while not self._closed.is_set():
            version = self._version()
            if version != ready:
                self._prepare()
                ready = self._version()
            self._closed.wait(_READY_S)

    def _prepare(self) -> None:
        from exporters.tables.tables import open_tables

        with suppress(RecorderError, OSError), open_archive(self.where) as archive:  # who asks for them sees why
            archive.positions.update()
            with open_tables(archive, ALL_PLAYED):
                pass

    def close(self) -> None:
        self._closed.set()
        self.work.close()


_LONGEST_DELAY_MS: Final = 3 * 3_600_000
_LEAST_KEY: Final = 8


def make_app(archive: SiteArchive, access: Access, feed: LiveFeed, delay_ms: int = 0) -> Guard:
    """Make the site of an archive; ``delay_ms`` is the least delay of its Live PGN."""
    public = not access.private
    archive.choices.named = access.private
    answers = Answers(archive.where, archive.choices, public=public, check=archive.work.check)
    live = _Live(feed, delay_ms, archive.where)

    def made(path: str, make: Callable[[Request], Response], *, shared: bool = True) -> Route:
        return Route(path, Queued(archive.work, make, shared=shared), methods=["GET"])

    routes = [
        made("/", answers.games),
        made("/games.{suffix}", answers.download, shared=False),
        made("/insights", answers.insights),
        made("/players.json", answers.handles),
        made("/explorer", answers.explorer),
        Route("/login", lambda _request: RedirectResponse("/", 303)),
        made("/game/{key}.gif", answers.game_picture),
        made("/game/{key}.{suffix}", answers.game_file, shared=False),
        made("/game/{key}", answers.game),
        made("/game/{key}/lines", answers.lines),
        made("/game/{key}/position", answers.position),
        made("/player/{handle:path}", answers.player),
        Route("/assets/{name}", _shared_file),
        Route("/live", live.page),
        Route("/live.pgn", live.pgn),
        Route("/live/{key}.pgn", live.pgn),
        Route("/live/events", live.events),
        Route("/live/{board}", live.game),
    ]
    handlers: Mapping[Any, Callable[..., Response]] = {404: not_found, RecorderError: failed}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access)


def _shared_file(request: Request) -> Response:
    """A style sheet, script or drawing. Its name changes with its content, so that browsers keep it."""
    name = request.path_params["name"]
    if (data := site_files().get(name)) is None:
        return not_found(request, KeyError(name))
    kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Page(data, 200, headers, f"{kinds[name.rpartition('.')[2]]}; charset=utf-8")


class _Live:
    """The page of running recordings; only the way to a game needs an archive."""

    def __init__(self, feed: LiveFeed, delay_ms: int, where: str) -> None:
        self._feed = feed
        self._delay_ms = delay_ms
        self._where = where

    def page(self, request: Request) -> Response:
        chosen = request.query_params
        return page(
            live_page(
                self._feed.look(),
                search=chosen.get("q", "").strip(),
                playing=bool(chosen.get("playing")),
                hide_results=bool(chosen.get("hide")),
            )
        )

    def pgn(self, request: Request) -> Response:
        asked_ms = read_duration_ms(request.query_params.get("delay", "0"))
        if asked_ms > _LONGEST_DELAY_MS:
            raise ExportError("A delay is at most 3h.")
        games = self._feed.games(max(asked_ms, self._delay_ms))
        if games is None:
            return Response("The journals are being read.\n", 503, {"retry-after": "3"}, "text/plain")
        if (key := request.path_params.get("key")) is not None:
            games = [game for game in games if len(key) >= _LEAST_KEY and game[0].startswith(key)]
            if not games:
                return not_found(request, KeyError(key))
        data = "\n".join([text for _, text in games]).encode("utf-8", "replace")
        tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        headers = {"etag": tag, "cache-control": "no-cache"}
        tags = {part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")}
        if not tags.isdisjoint((tag, "*")):
            return Response(None, 304, headers)
        return Response(data, 200, headers, TYPES["pgn"])

    def game(self, request: Request) -> Response:
        """The way from a board to its game, or to the list of both players if the archive does not have it yet."""
        name = request.path_params["board"]
        if (board := self._feed.look().boards.get(name)) is None:
            return not_found(request, KeyError(name))
        site = WebSite()
        to = site.games(player=board.white, opponent=board.black) or site.home
        if (key := self._feed.key_of(board)) is not None:
            with suppress(StorageError), open_archive(self._where) as archive:
                to = site.game(archive.game(key).key)
        return RedirectResponse(to, 303)

    async def events(self, _request: Request) -> Response:
        return StreamingResponse(self._feed.events(), 200, media_type="text/event-stream")


_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY: Final = ("0.0.0.0", "::")


def read_token(path: Path | None) -> str | None:
    """Return the token that the user has set, from a file or the environment; ValueError if it is too short."""
    if path is None:
        token, origin = os.environ.pop(TOKEN_VARIABLE, ""), TOKEN_VARIABLE
        if not token:
            return None
    else:
        origin = str(path)
        try:
            token = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"{path} cannot be read: {reason_of(error)}.") from error
    token = token.strip()
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise ValueError(f"{origin}: a token has {LEAST_TOKEN} or more letters, digits and signs of ASCII.")
    return token


def serve(
    where: str,
    journals: Path,
    address: Address,
    *,
    token: str | None,
    behind_proxy: bool,
    delay_ms: int = 0,
    started: Callable[[str, str | None], None],
) -> None:
    """Serve an archive until Ctrl-C; ``started`` gets the URL, and the token if one was made for other computers."""
    made = new_token() if token is None and not is_loopback(address.host) and not behind_proxy else None
    access = _access(address.host, token or made, behind_proxy)
    feed = LiveFeed(journals, with_chat=access.private)
    archive = SiteArchive(where)
    app = make_app(archive, access, feed, delay_ms)
    sockets = listen(address, "--port or --host")
    port = sockets[0].getsockname()[1]
    host = "localhost" if address.host in _ANY else address.host
    keeping = threading.Thread(target=archive.keep_ready, daemon=True)
    keeping.start()
    warnings.simplefilter("ignore")  # those of libraries say nothing to who reads the terminal
    started(f"http://{format_address(Address(host, port))}/", made)

    def end() -> None:
        feed.close()
        archive.close()

    try:
        make_server(app, behind_proxy=behind_proxy, end=end).run(sockets=sockets)
    except KeyboardInterrupt:
        pass  # uvicorn raises the signal again
    finally:
        for listener in sockets:
            listener.close()
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
    if host in _ANY:
        name = socket.gethostname().lower()
        return frozenset({*_HERE, name, f"{name}.local"})
    return frozenset({host.lower(), *(_HERE if is_loopback(host) else ())})
