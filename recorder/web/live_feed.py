"""Pushes what running recordings see to all pages that show it: one thread reads, each page has a short queue.

The thread runs while pages are open, and a minute longer. A page gets the whole state first and then what changes. One
that takes its events too slowly is sent the whole state again, so that neither its queue nor its delay grows. Pages
reconnect by themselves (``EventSource``) and get the whole state again; no event has to be repeated.

Source: Server-sent events in the HTML standard of WHATWG.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from recorder.containment import contain
from recorder.errors import RecorderError
from recorder.web.live_reader import LiveReader
from recorder.web.live_state import LiveState, as_json, board_json

__all__ = ["MOST_WAITING", "LiveFeed"]

MOST_WAITING: Final = 32
"""So many changes may wait for a page before it gets the whole state instead."""

_EVERY_S: Final = 0.2
_BEAT_S: Final = 5.0
_IDLE_S: Final = 60.0
_READY_S: Final = 3.0
_AGAIN_S: Final = 2.0
_RETRY_MS: Final = 1000
_NS_PER_MS: Final = 1_000_000


class _Client:
    """The queue of one page; used in the event loop that serves it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING + 1)
        self._behind = True  # the whole state comes next

    def offer(self, event: bytes | None) -> None:
        """Add an event, from any thread; None: there are no more."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: bytes | None) -> None:
        if event is not None and self._waiting.qsize() >= MOST_WAITING:
            self._behind = True
            while not self._waiting.empty():
                self._waiting.get_nowait()
        self._waiting.put_nowait(event)

    async def next(self, whole: Callable[[], bytes]) -> bytes | None:
        """The next event; None: there are no more."""
        if self._behind:
            self._behind = False
            return whole()
        try:
            return await asyncio.wait_for(self._waiting.get(), _BEAT_S)
        except TimeoutError:
            return _event("beat", "{}")


class LiveFeed:
    """What running recordings see.

    Args:
        folder: of the journals; it need not exist. with_chat: whether texts of observers are shown.
    """

    def __init__(self, folder: Path, *, with_chat: bool) -> None:
        self._folder = folder
        self._with_chat = with_chat
        self._changed = threading.Condition()  # guards all that follows
        self._clients: set[_Client] = set()
        self._thread: threading.Thread | None = None
        self._state: LiveState | None = None  # None: nothing is read yet
        self._whole = ""
        self._used_s = 0.0
        self._closed = False

    def look(self) -> LiveState:
        """The state now; right after the start of reading it may not be complete."""
        with self._changed:
            self._start()
            self._changed.wait_for(lambda: self._state is not None and self._state.reading is None, _READY_S)
            return self._state or LiveState(0, 0, (), (), {})

    async def events(self) -> AsyncIterator[bytes]:
        """The events of one page, until it is closed or the site ends."""
        client = _Client()
        with self._changed:
            self._clients.add(client)
            self._start()
            closed = self._closed
        try:
            yield b"retry: %d\n\n" % _RETRY_MS
            while not closed and (event := await client.next(self._snapshot)) is not None:
                yield event
        finally:
            with self._changed:
                self._clients.discard(client)
                self._used_s = time.monotonic()

    def close(self) -> None:
        """End all events and stop reading: the site ends."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for client in self._clients:
                client.offer(None)

    def _snapshot(self) -> bytes:
        """The whole state as an event; its text is made once for all pages that ask for it before the next change."""
        with self._changed:
            if self._state is None:
                return _event("beat", "{}")
            self._whole = self._whole or _json(as_json(self._state))
            return _event("whole", self._whole)

    # -- the thread -------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._used_s = time.monotonic()
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._run, name="live", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        reader = LiveReader(self._folder, with_chat=self._with_chat)
        said = ""
        while True:
            pause_s = _EVERY_S
            try:
                if reader.look() or self._state is None:
                    self._publish(reader.state)
                if reader.state.reading is not None:
                    pause_s = 0.0
            except Exception as error:  # a bug, or a file that cannot be read: the site goes on and reads them again
                said = _say_once(error, said)
                reader.close()
                reader, pause_s = LiveReader(self._folder, with_chat=self._with_chat), _AGAIN_S
                self._state = None  # pages get the whole state next
            with self._changed:
                self._changed.wait_for(lambda: self._closed, pause_s)
                idle = not self._clients and time.monotonic() - self._used_s > _IDLE_S
                if self._closed or idle:
                    self._thread = self._state = None
                    break
        reader.close()

    def _publish(self, state: LiveState) -> None:
        event = None if self._state is None else _event("change", _json(_change(self._state, state)))
        with self._changed:
            self._state, self._whole = state, ""
            for client in self._clients:
                client.offer(self._snapshot() if event is None else event)
            self._changed.notify_all()


def _change(before: LiveState, state: LiveState) -> dict[str, Any]:
    """What of a state differs from the one before."""
    boards = [board_json(board) for name, board in state.boards.items() if before.boards.get(name) != board]
    found: dict[str, Any] = {
        "version": state.version,
        "reading": state.reading,
        "boards": boards,
        "gone": [name for name in before.boards if name not in state.boards],
    }
    if before.sessions != state.sessions:
        found["sessions"] = [session._asdict() for session in state.sessions]
    if before.outages != state.outages:
        found["outages"] = state.outages
    return found


def _json(data: dict[str, Any]) -> str:
    """JSON without line ends, so that it is one line of data."""
    return json.dumps(data, separators=(",", ":"))


def _say_once(error: Exception, said: str) -> str:
    """Print what went wrong, but not again and again. Returns the sentence; ``said``: the last one."""
    sentence = str(error) if isinstance(error, RecorderError) else contain(error)
    if sentence != said:
        print(f"The page Live: {sentence}", file=sys.stderr)
    return sentence


def _event(name: str, data: str) -> bytes:
    """An event of the stream, with the time of this computer's clock."""
    return f'event: {name}\ndata: {{"now_ms":{time.time_ns() // _NS_PER_MS},"data":{data}}}\n\n'.encode()
