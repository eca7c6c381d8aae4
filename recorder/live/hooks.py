"""Commands and web addresses that are notified of events: starts and ends of games, outages, a full disk.

Each hook has a thread, a queue and at most one process or request at a time, so that it delays nothing else. What a
command or an address does with an event is its own affair: it is only counted whether it failed. No message contains a
word of a command besides the program's name, or a part of an address, because both may contain a secret.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPException
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener

from recorder.live import child_environment
from recorder.text import clean, plural

GAME_EVENTS: Final = ("game-start", "game-end", "long-think")
EVENTS: Final = (*GAME_EVENTS, "outage", "back", "disk-full")
_FACTS: Final = (
    "event text at white black white_rating black_rating key server server_game_no rated variant base_s increment_s"
    " started_at plies end result reason termination ended_at complete player ply think_s how retry_ms lasted_s"
)
"""The names of all that events have; some have only a few."""
QUEUE: Final = 1000
"""How many events wait for a hook; others are dropped, and counted."""
LIMIT_S: Final = 10.0
"""How long a hook may take for an event, unless it states another limit, and all hooks at the end of a run."""
THINK_S: Final = 300
_KNOWN: Final = 20_000
_KILLED_S: Final = 2.0
_WORD: Final = re.compile(r"\{([a-z_]{1,30})\}", re.ASCII)
_URL: Final = re.compile(r"https?://[!-~]+", re.ASCII)
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,100}", re.ASCII)
_ENV: Final = "/usr/bin/env"  # starts the command: until it runs a program of ours waits, whatever its disk does


@dataclass(frozen=True, slots=True)
class Hook:
    """What is done at events: ``command`` runs, or ``url`` gets a POST.

    ``body``: a text, or values of a JSON object, in which ``{text}`` and other names of facts are replaced; None: all
    facts as JSON.
    """

    events: tuple[str, ...]
    name: str
    command: tuple[str, ...] = field(default=(), repr=False)
    url: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: str | Mapping[str, Any] | None = field(default=None, repr=False)
    think_s: float = THINK_S  # from when on a think is long
    limit_s: float = LIMIT_S

    @property
    def of_games(self) -> bool:
        return any(event in GAME_EVENTS for event in self.events)


def make_hook(
    on: Sequence[str],
    command: Sequence[str] = (),
    url: str | None = None,
    *,
    name: str | None = None,
    headers: Mapping[str, str] | None = None,
    body: str | Mapping[str, Any] | None = None,
    seconds: float = THINK_S,
    limit: float = LIMIT_S,
) -> Hook:
    """The ValueError is one sentence without any part of command or address."""
    for event in on:
        if event not in EVENTS:
            raise ValueError(f"{event!r} is no event; there are {', '.join(EVENTS)}.")
    if not on or bool(command) == (url is not None):
        raise ValueError("A hook has events, and either a command or a URL.")
    if seconds <= 0 or limit <= 0:
        raise ValueError("A time limit is more than 0 seconds.")
    if url is None:
        if headers or body is not None:
            raise ValueError("Only a URL has headers and a body.")
        return Hook(tuple(on), name or Path(command[0]).name, tuple(command), think_s=seconds, limit_s=limit)
    if unknown := sorted({*_WORD.findall(json.dumps(body))} - {*_FACTS.split()}):
        raise ValueError(f"The body has {{{unknown[0]}}}, which is no fact; there are {_FACTS.replace(' ', ', ')}.")
    headers = dict(headers or {})
    with suppress(ValueError):
        parts = urlsplit(url)
        if _URL.fullmatch(url) and parts.hostname and parts.username is None and (parts.port or 1) > 0:
            if all(_HEADER.fullmatch(one) and text.isascii() and text.isprintable() for one, text in headers.items()):
                return Hook(tuple(on), name or "URL", (), url, headers, body, seconds, limit)
            raise ValueError("A header has a name of letters, digits and hyphens, and a text in ASCII.")
    raise ValueError("The URL is none of http:// or https:// with a host; a name and password belong in a header.")


class Hooks:
    """The hooks of one run.

    ``failed`` gets a hook's name and why it failed, in any thread: once until it succeeds. ``counted`` gets the counts
    after each failure, in a hook's thread.
    """

    def __init__(
        self,
        hooks: Sequence[Hook],
        failed: Callable[[str, str], object],
        counted: Callable[[list[dict[str, Any]]], object] = lambda _: None,
    ) -> None:
        self._runners = [_Runner(hook, failed, lambda: counted(self.counts())) for hook in hooks]
        self._known: OrderedDict[object, None] = OrderedDict()  # events of games, and games in progress
        self._server = "the server"
        self._lost_s: float | None = None

    @property
    def thinks_s(self) -> tuple[float, ...] | None:
        """From when on thinks are long, for the hooks that ask; None: no hook asks for an event of a game."""
        hooks = [runner.hook for runner in self._runners]
        if not any(hook.of_games for hook in hooks):
            return None
        return tuple(sorted({hook.think_s for hook in hooks if "long-think" in hook.events}))

    def fire(self, event: str, text: str, /, **facts: Any) -> None:
        """Never waits. ``think_s``: only for hooks for which a think is long then."""
        at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        whole = {"event": event, "text": clean(text), "at": at, **facts}
        for runner in self._runners:
            if event in runner.hook.events and facts.get("think_s") in (None, runner.hook.think_s):
                runner.put(whole)

    def game(self, event: Mapping[str, Any]) -> None:
        """Take an event of ``GameEvents``: once, though its journal may be read again, and the next go on with it."""
        facts = dict(event)
        name, text, board = facts.pop("event"), facts.pop("text"), tuple(facts.pop("board"))
        if not self._is_new(tuple(facts.pop("once"))):
            return
        goes_on = name == "game-start" and not self._is_new(board) and facts["plies"] > 0
        if name == "game-end":
            self._known.pop(board, None)
        if not goes_on:
            self.fire(name, text, **facts)

    def report(self, event: str, sentence: str, /, **facts: Any) -> None:
        if event == "connected":
            self._server = facts["server"]
        elif event == "disconnected" and self._lost_s is None:
            self._lost_s = time.monotonic()
            self.fire("outage", f"The connection to {self._server} is lost: {facts['how']}.", **facts)
        elif event == "logged_in" and self._lost_s is not None:
            lasted_s, self._lost_s = round(time.monotonic() - self._lost_s), None
            self.fire("back", f"Connected to {self._server} again after {lasted_s} s.", lasted_s=lasted_s)
        elif facts.get("disk_full"):
            self.fire("disk-full", sentence)

    def counts(self) -> list[dict[str, Any]]:
        return [runner.counts() for runner in self._runners]

    def close(self, limit_s: float = LIMIT_S) -> None:
        """Let the hooks do what waits, within the limit; then end what they still do. Called once, at the end."""
        end_s = time.monotonic() + limit_s
        try:
            for runner in self._runners:
                runner.queue.put(None)
            for runner in self._runners:
                runner.thread.join(max(0.0, end_s - time.monotonic()))
        finally:
            for runner in self._runners:
                runner.end()

    def _is_new(self, key: object) -> bool:
        new = key not in self._known
        self._known[key] = None
        self._known.move_to_end(key)
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return new


class _Runner:
    def __init__(self, hook: Hook, failed: Callable[[str, str], object], count: Callable[[], object]) -> None:
        self.hook = hook
        self.queue: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._report = failed
        self._count = count
        self._done = self._failed = self._dropped = 0
        self._failing = self._full = self._ended = False
        self._process: subprocess.Popen[bytes] | None = None
        self._request: threading.Thread | None = None
        self._opener: OpenerDirector | None = None
        self.thread = threading.Thread(target=self._run, name="hook", daemon=True)  # it delays no end
        self.thread.start()

    def counts(self) -> dict[str, Any]:
        return {
            "name": self.hook.name,
            "events": list(self.hook.events),
            "done": self._done,
            "failed": self._failed,
            "dropped": self._dropped,
        }

    def put(self, facts: dict[str, Any]) -> None:
        full, self._full = self._full, self.queue.qsize() >= QUEUE
        if not self._full:
            self.queue.put(facts)
            return
        self._dropped += 1
        if not full:
            self._report(self.hook.name, f"{QUEUE:,} events wait for it, and more are dropped")

    def end(self) -> None:
        """Start nothing more, and end the process that runs."""
        if not self.thread.is_alive():
            return
        self._ended = True
        left = max(0, self.queue.qsize() - 1)
        self._failed += 1
        self._dropped += left
        if self._process is not None and self._process.returncode is None:
            _kill(self._process)
        self.thread.join(_KILLED_S)
        self._report(self.hook.name, f"it was still at work at the end, and {plural(left, 'event')} waited for it")

    def _run(self) -> None:
        while (facts := self.queue.get()) is not None and not self._ended:
            try:
                why = self._start(facts) if self.hook.url is None else self._post(facts, self.hook.url)
            except Exception as error:  # its text may contain a secret
                why = f"{type(error).__name__}: a bug"
            if self._ended:
                return
            if why is None:
                self._done += 1
            else:
                self._failed += 1
                if not self._failing:
                    self._report(self.hook.name, why)
                self._count()
            self._failing = why is not None

    def _start(self, facts: dict[str, Any]) -> str | None:
        """Run the command; return why it failed, or None. Its processes have ended then."""
        if self._process is not None and self._process.poll() is None:
            return "its last process cannot be ended"
        known = {f"ICS_{name.upper()}": _text(value) for name, value in facts.items() if value is not None}
        by = [_ENV] if "=" not in self.hook.command[0] and os.access(_ENV, os.X_OK) else []
        try:
            process = self._process = subprocess.Popen(
                [*by, *self.hook.command],
                env=child_environment() | known,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            return f"it cannot be started ({error.strerror or type(error).__name__})"
        try:
            if not self._ended:
                process.communicate(json.dumps(facts).encode(), self.hook.limit_s)
        except subprocess.TimeoutExpired:
            return f"it did not end within {self.hook.limit_s:g} s"
        finally:
            _kill(process)
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
        status = process.returncode
        return None if status == 0 else f"signal {-status}" if status < 0 else f"exit status {status}"

    def _post(self, facts: dict[str, Any], url: str) -> str | None:
        """Send a request; return why it failed, or None. One that hangs is left alone, and the next waits for it."""
        if self._request is not None and self._request.is_alive():
            self._request.join(self.hook.limit_s)
            if self._request.is_alive():
                return "its last request is not answered yet"
        body = self.hook.body
        if isinstance(body, str):
            kind, data = "text/plain; charset=utf-8", _filled(body, facts)
        else:
            found = {"content": facts["text"], **facts} if body is None else _filled(body, facts)
            kind, data = "application/json", json.dumps(found)
        headers = {"Content-Type": kind, "User-Agent": f"ics-recorder/{version('ics-recorder')}", **self.hook.headers}
        answers: list[str | None] = []
        self._request = threading.Thread(
            target=lambda: answers.append(self._ask(Request(url, data.encode(), headers, method="POST"))), daemon=True
        )
        self._request.start()
        self._request.join(self.hook.limit_s)
        return answers[0] if answers else f"no answer within {self.hook.limit_s:g} s"

    def _ask(self, request: Request) -> str | None:
        try:
            if self._opener is None:
                self._opener = build_opener(_NoRedirect, HTTPSHandler(context=ssl.create_default_context()))
            self._opener.open(request, timeout=self.hook.limit_s).close()
        except HTTPError as error:
            error.close()
            return f"the server answered {error.code}"
        except (OSError, HTTPException, ValueError) as error:
            return _reason(error)
        return None


class _NoRedirect(HTTPRedirectHandler):
    """A redirection is an error: an address may contain a secret, which is for its host alone."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _reason(error: BaseException) -> str:
    """Why a request failed, without any text of the error, which may contain the address."""
    if isinstance(error, URLError) and isinstance(error.reason, BaseException):
        return _reason(error.reason)
    if isinstance(error, ssl.SSLCertVerificationError):
        return "the certificate of the server is not valid"
    if isinstance(error, socket.gaierror):
        return "the name of the server is unknown"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return type(error).__name__


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_KILLED_S)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("\0", "")


def _filled(body: Any, facts: Mapping[str, Any]) -> Any:
    if isinstance(body, str):
        known = {name: "" if value is None else _text(value) for name, value in facts.items()}
        return _WORD.sub(lambda found: known.get(found[1], ""), body)
    if isinstance(body, Mapping):
        return {name: _filled(value, facts) for name, value in body.items()}
    return [_filled(value, facts) for value in body] if isinstance(body, list) else body
