"""Who may read the site, and from where: hosts, origins, the token, and the headers of every answer.

Another site that a browser has open may try three ways to this one. It may send requests: nothing here changes
anything, and one that names its origin is refused. It may give its own name the address of this computer (DNS
rebinding): the names under which the site answers are listed. It may put text into a game: pages run nothing but their
own script (``exporters.report.page``).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

COOKIE: Final = "ics_recorder"
LEAST_TOKEN: Final = 16
"""Characters of a token that cannot be found by trying."""

_LONGEST_FORM: Final = 4096
_CLIENT_S: Final = 1.0
_SITE_S: Final = 0.05
"""How long after a wrong token of a client, and of any, the next one of it, and of any, is looked at."""
_LONGEST_WAIT_S: Final = 10.0
_MOST_CLIENTS: Final = 1000

_Scope = MutableMapping[str, Any]
_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]

_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_POLICY: Final = b"default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
"""Of answers that are no pages; a page names its own."""


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Access:
    """Who may read what.

    ``hosts`` are names under which the site answers, in lower case and without a port; None: any. With ``numbers`` it
    answers under every IP address, too: no site can use one to give itself this address. ``behind_proxy``: a proxy
    decides who reaches the site. ``private``: pages show raw lines, tells and what a user typed. ``session`` is the
    value of the cookie, new in each run.
    """

    hosts: frozenset[str] | None
    numbers: bool = False
    token: str | None = None
    behind_proxy: bool = False
    private: bool = False
    session: str = field(default_factory=new_token, repr=False)

    def answers(self, host: str) -> bool:
        """Whether the site answers under a name; ``host`` may have a port."""
        name = _host_name(host)
        return self.hosts is None or name in self.hosts or (self.numbers and _is_number(name))

    def knows(self, token: str) -> bool:
        """Whether this is the token."""
        return self.token is not None and hmac.compare_digest(token.encode(), self.token.encode())


class Attempts:
    """Slows wrong tokens, however many requests bring them at once."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._site_s = 0.0
        self._clients: dict[str, float] = {}

    def wait_s(self, client: str) -> float | None:
        """Seconds until the token of a client is looked at, and the next one later; None: too many wait."""
        now = self._now_s()
        at = max(now, self._site_s, self._clients.get(client, now))
        if at - now > _LONGEST_WAIT_S:
            return None
        if len(self._clients) >= _MOST_CLIENTS:
            self._clients = {name: until for name, until in self._clients.items() if until > now}
        self._site_s, self._clients[client] = max(now, self._site_s) + _SITE_S, at + _CLIENT_S
        return at - now

    def right(self, client: str) -> None:
        """The token was right: its client waits no more."""
        self._clients.pop(client, None)


def client_of(scope: _Scope, headers: Mapping[str, str], *, behind_proxy: bool) -> str:
    """Who sends a request: an address, of IPv6 the network of 64 bits that one customer has."""
    peer = scope.get("client") or ("", 0)
    name = headers.get("x-forwarded-for", "").rpartition(",")[2].strip() if behind_proxy else ""
    try:
        address = ipaddress.ip_address(name or peer[0])
    except ValueError:
        return str(peer[0])
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


class Guard:
    """ASGI: lets requests through that may read the site, and adds the headers of every answer.

    ``login_page`` gets the address to go to afterwards, and whether a wrong token was given.
    """

    def __init__(
        self,
        app: _App,
        access: Access,
        login_page: Callable[[str, bool], bytes],
        refusal_page: Callable[[str, str], bytes],
    ) -> None:
        self._app = app
        self._access = access
        self._login_page = login_page
        self._refusal_page = refusal_page
        self._attempts = Attempts()

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        send = self._with_headers(send)
        if (sentence := self._refusal(headers)) is not None:
            await _answer(send, 403, self._refusal_page("Refused", sentence))
        elif scope["path"] == "/login" and scope["method"] == "POST" and self._access.token is not None:
            await self._log_in(scope, headers, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            sentence = "The site only shows: it takes no other requests than those for its pages."
            await _answer(send, 405, self._refusal_page("Refused", sentence), (b"allow", b"GET, HEAD"))
        elif self._access.token is None or self._has_cookie(headers):
            await self._app(scope, receive, send)
        elif (right := await self._is_right(_bearer(headers), scope, headers)) is None:
            await self._too_many(send)
        elif right:
            await self._app(scope, receive, self._with_cookie(send, headers))
        else:
            query = scope["query_string"].decode("latin-1")
            target = scope["path"] + (f"?{query}" if query else "")
            await _answer(send, 401, self._login_page(target, False))

    def _refusal(self, headers: dict[str, str]) -> str | None:
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
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return "The request came from another site."
        way = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest", "document")
        if headers.get("sec-fetch-site") == "cross-site" and way != ("navigate", "document"):
            return "The request came from another site."
        return None

    async def _is_right(self, token: str, scope: _Scope, headers: dict[str, str]) -> bool | None:
        """Whether a token is right; None: too many wrong ones came, so that it is not looked at."""
        if not token:
            return False
        client = client_of(scope, headers, behind_proxy=self._access.behind_proxy)
        wait_s = self._attempts.wait_s(client)
        if wait_s is None:
            return None
        if wait_s:
            await asyncio.sleep(wait_s)
        right = self._access.knows(token)
        if right:
            self._attempts.right(client)
        return right

    async def _too_many(self, send: _Send) -> None:
        sentence = "Too many wrong tokens were given. Try again in some seconds."
        retry = (b"retry-after", str(round(_LONGEST_WAIT_S)).encode())
        await _answer(send, 429, self._refusal_page("Refused", sentence), retry)

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._access.session.encode())

    async def _log_in(self, scope: _Scope, headers: dict[str, str], receive: _Receive, send: _Send) -> None:
        """Take the token from the form, and lead to the page that was wanted."""
        given = parse_qs((await _body(receive)).decode("utf-8", "replace"))
        target = given.get("to", ["/"])[0]
        if not target.startswith("/") or target.startswith(("//", "/\\")) or not target.isprintable():
            target = "/"
        right = await self._is_right(given.get("token", [""])[0].strip(), scope, headers)
        if right is None:
            return await self._too_many(send)
        if not right:
            return await _answer(send, 401, self._login_page(target, True))
        send = self._with_cookie(send, headers)
        where = target.encode("ascii", "ignore")
        await send({"type": "http.response.start", "status": 303, "headers": [(b"location", where)]})
        await send({"type": "http.response.body", "body": b""})
        return None

    def _with_cookie(self, send: _Send, headers: dict[str, str]) -> _Send:
        secure = "; Secure" if self._access.behind_proxy and headers.get("x-forwarded-proto") == "https" else ""
        cookie = f"{COOKIE}={self._access.session}; HttpOnly; SameSite=Lax; Path=/{secure}".encode()

        async def adding(message: _Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"set-cookie", cookie)]
            await send(message)

        return adding

    @staticmethod
    def _with_headers(send: _Send) -> _Send:
        async def adding(message: _Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                if all(name != b"content-security-policy" for name, _ in own):
                    own.append((b"content-security-policy", _POLICY))
                message["headers"] = [*own, *_HEADERS]
            await send(message)

        return adding


def _host_name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host
    return name.strip("[]").lower()


def _bearer(headers: dict[str, str]) -> str:
    """The token in the header ``Authorization: Bearer TOKEN``."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def _body(receive: _Receive) -> bytes:
    """The body of a small form; what is longer is cut."""
    found = b""
    while len(found) < _LONGEST_FORM:
        message = await receive()
        found += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return found[:_LONGEST_FORM]


async def _answer(send: _Send, status: int, html: bytes, *more: tuple[bytes, bytes]) -> None:
    from exporters.report.page import policy_of

    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(html)).encode()),
        (b"content-security-policy", f"{policy_of(html)}; frame-ancestors 'none'".encode()),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": html})


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
