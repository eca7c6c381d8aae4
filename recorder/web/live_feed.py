"""Pushes what running recordings see to all pages that show it: one thread reads.

The thread runs while pages are open, and a minute longer. Each journal is read once, by the pipeline that also follows
logs; of one in many parts only the last. A page gets the whole state first and then what differs from what it has; one
that takes its events slowly gets fewer, one that reconnects (``EventSource``) the whole state again.

Source: Server-sent events in the HTML standard of WHATWG.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, Final

from exporters.report.page import plain_name, visible
from recorder.archive.following.follower import open_tail
from recorder.archive.following.live_pgn import LiveGame, is_live
from recorder.containment import contain
from recorder.errors import JournalError, RecorderError
from recorder.journal import OpenSession, RecordKind, open_sessions, parse_note, parse_record
from recorder.journal.format import NoteKind
from recorder.journal.parts import session_parts
from recorder.live.status import RecorderState, read_states
from recorder.model import Game
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from recorder.tracking.tracked_game import TrackedGame
from recorder.web.live_state import (
    LiveBoard,
    LiveOutage,
    LiveSession,
    LiveState,
    as_json,
    board_json,
    board_of,
    outage_lines,
    session_lines,
    session_state,
)

KEPT_MS: Final = 120_000  # how long a game that is over, and a connection that has ended, are shown

_ENOUGH_BYTES: Final = 4 << 20  # a part of a journal with so much is read without the part before it
_TURN_BYTES: Final = 2 << 20
_LAST_BYTES: Final = 4096
_STATES_MS: Final = 500
_FOLDER_MS: Final = 2_000
_OUTAGES: Final = 20
_MOST_OVER: Final = 500
_NS_PER_MS: Final = 1_000_000


class JournalReading:
    """One connection's journal while it grows. ``behind``: bytes that are not read yet; times are of this computer."""

    def __init__(self, session: OpenSession, *, with_chat: bool) -> None:
        header = session.header
        self.id = header.session
        self.role = header.role
        self.server = header.host if header.port is None else f"{header.host}:{header.port}"
        self.title = f"{header.role} {self.server}"
        self.path = session.path
        self.ended = False
        self.written = session.written
        self.heard_ms: int | None = None
        self.over_ms: int | None = None
        self._anchor_ns = header.anchor_utc_ns
        self.began_ms = header.anchor_utc_ns // _NS_PER_MS
        self._with_chat = with_chat
        parts = session_parts(session.path)
        first = header.part
        self.size_bytes = session.size_bytes
        if session.size_bytes < _ENOUGH_BYTES and header.part - 1 in parts:
            first -= 1
            self.size_bytes += parts[first].stat().st_size
        self.behind = self.size_bytes
        self._tail = open_tail(session.path, 0, first_part=first)
        self._pipeline = Pipeline(SourceKind.JOURNAL, in_progress=True, chat="public" if with_chat else "none")
        self._last = b""
        self._opening: bytes | None = b"" if first == 1 else None  # the lines before the first that was received
        self._shown: dict[TrackedGame, tuple[tuple[Any, ...], LiveBoard]] = {}
        self._over_ms: dict[TrackedGame, int] = {}
        self._games: dict[tuple[int, int | None], LiveGame] = {}

    def read(self) -> list[LiveOutage]:
        """Read what is new, of a long journal a part of it; return the outages that its notes report."""
        outages: list[LiveOutage] = []
        done = 0
        while done < _TURN_BYTES and (data := self._tail.read()):
            done += len(data)
            for game in self._pipeline.receive(data):
                self._keep(game)
            self._last = (self._last + data)[-_LAST_BYTES:] if len(data) < _LAST_BYTES else data[-_LAST_BYTES:]
            outages += self._opening_outages(data)
        self.behind = max(1, self.behind - done) if done >= _TURN_BYTES else 0  # the size may be one of packed bytes
        if done:
            records = list(self._records(self._last))
            if records:
                self.heard_ms = records[-1][0]
            if not self.ended and self._tail.ended:
                self.ended = True
                outages += self._outages(records)
        return outages

    def _opening_outages(self, data: bytes) -> list[LiveOutage]:
        """The outage before this connection, once the note ``connected`` ends it."""
        if self._opening is None:
            return []
        self._opening += data
        records = list(self._records(self._opening))
        since = until = None
        for at_ms, note in records:
            if note is not None and note["kind"] == NoteKind.OUTAGE:
                since = note.get("since_utc_ns")
            until = at_ms if note is not None and note["kind"] == NoteKind.CONNECTED else until
        if until is None and len(self._opening) < _LAST_BYTES:
            return []
        self._opening = None
        if not isinstance(since, int) or until is None:
            return []
        return [LiveOutage(self.server, since // _NS_PER_MS, until, None)]

    def _outages(self, records: list[tuple[int, dict[str, Any] | None]]) -> list[LiveOutage]:
        return [
            LiveOutage(self.server, note.get("since_utc_ns", at_ms * _NS_PER_MS) // _NS_PER_MS, None, note["reason"])
            for at_ms, note in records
            if note is not None and note["kind"] == NoteKind.OUTAGE and isinstance(note.get("reason"), str)
        ]

    def _records(self, data: bytes) -> Iterator[tuple[int, dict[str, Any] | None]]:
        for line in data.split(b"\n")[:-1]:
            try:
                record = parse_record(line)
                note = parse_note(record.data) if record.kind is RecordKind.NOTE else None
            except JournalError:
                continue  # the header, or a line whose beginning is not here
            yield (self._anchor_ns + record.at_ns) // _NS_PER_MS, note

    def boards(self, now_ms: int) -> Iterator[LiveBoard]:
        runs = {run for run in self._pipeline.in_progress.boards.every() if run.last is not None}
        for run in list(self._shown):
            if run not in runs and run not in self._over_ms:
                if run.end is None:
                    del self._shown[run]
                else:
                    runs.add(run)  # its number was used again in the same turn
        for run in sorted(runs | self._over_ms.keys(), key=lambda run: run.first_offset):
            board = self._board(run, now_ms)
            if board is not None:
                yield board

    def _board(self, run: TrackedGame, now_ms: int) -> LiveBoard | None:
        if not run.following:
            over_ms = self._over_ms.get(run)
            if over_ms is None:
                came_ms = run.last_word[1] if run.result_at_ms is None else run.result_at_ms
                over_ms = self._over_ms[run] = now_ms if came_ms is None else came_ms
            if now_ms - over_ms > KEPT_MS:
                self._shown.pop(run, None)
                if run not in self._pipeline.in_progress.boards.every():
                    del self._over_ms[run]
                return None
        else:
            self._over_ms.pop(run, None)
        state: tuple[Any, ...] = (
            *(run.last, run.end, run.following, run.gapped, run.holdings, run.result, run.facts.white_rating),
            *(run.facts.category, None if run.current is None else len(run.current.events)),
        )
        view = self._shown.get(run)
        if view is None or view[0] != state:
            view = self._shown[run] = state, board_of(run, self.id, self.server, with_chat=self._with_chat)
        return view[1]

    def games(self, since_ms: int) -> list[LiveGame]:
        """The games in progress, and those that were over after a time: a Live PGN shows them."""
        for _, game in self._pipeline.in_progress.changed():
            self._keep(game)
        self._pipeline.in_progress.gone()
        self._games = {key: game for key, game in self._games.items() if game.over is None or game.over >= since_ms}
        return list(self._games.values())

    def _keep(self, game: Game) -> None:
        key = game.first_offset, game.game_no
        if is_live(game):
            self._games[key] = LiveGame(game)
            over = [old for old, live in self._games.items() if live.game.end.is_over]
            for old in over[:-_MOST_OVER]:  # perhaps no client asks for them
                del self._games[old]
        else:  # it is no longer observed
            self._games.pop(key, None)

    def close(self) -> None:
        self._tail.close()


class LiveReader:
    """Reads all recordings of a folder, which need not exist; ``with_chat`` shows kibitzes and reasons of outages."""

    def __init__(
        self, folder: Path, *, with_chat: bool, now_ms: Callable[[], int] = lambda: time.time_ns() // _NS_PER_MS
    ) -> None:
        self.state = LiveState(0, None, (), (), {})
        self._folder = folder
        self._with_chat = with_chat
        self._now_ms = now_ms
        self._readings: dict[str, JournalReading] = {}
        self._names: frozenset[str] = frozenset()
        self._looked_ms = self._states_ms = 0
        self._states: list[RecorderState] = []
        self._outages: deque[LiveOutage] = deque(maxlen=_OUTAGES)

    def look(self) -> bool:
        now_ms = self._now_ms()
        self._find(now_ms)
        if abs(now_ms - self._states_ms) >= _STATES_MS:
            self._states_ms = now_ms
            self._states = read_states(self._folder)
        for name, reading in list(self._readings.items()):
            try:
                for outage in reading.read():
                    self._add(outage)
            except RecorderError:  # it is looked for again
                reading.close()
                del self._readings[name]
        self._expire(now_ms)
        return self._take(now_ms)

    def _find(self, now_ms: int) -> None:
        """Look for connections that have begun or ended, when the names in the folder change and every other second."""
        names = frozenset(path.name for path in self._folder.glob("*.journal"))
        if names == self._names and abs(now_ms - self._looked_ms) < _FOLDER_MS:
            return
        self._names, self._looked_ms = names, now_ms
        written = set()
        for session in open_sessions(self._folder):
            name = session.header.session
            if not session.written:
                continue
            written.add(name)
            if name in self._readings:
                self._readings[name].path = session.path
                continue
            try:
                self._readings[name] = JournalReading(session, with_chat=self._with_chat)
            except (RecorderError, OSError):
                continue  # it was just removed or compressed
        for name, reading in self._readings.items():
            reading.written = name in written

    def _add(self, outage: LiveOutage) -> None:
        """Note an outage; the note of the next connection completes that of the one before."""
        for index, noted in enumerate(self._outages):
            if noted.server == outage.server and noted.from_ms == outage.from_ms:
                self._outages[index] = outage._replace(
                    until_ms=outage.until_ms or noted.until_ms, reason=outage.reason or noted.reason
                )
                return
        self._outages.append(outage)

    def _expire(self, now_ms: int) -> None:
        """Drop connections that ended some time ago, or that another one of the same recorder has followed."""
        going: dict[str, int] = {}  # clients of a proxy come and go beside each other: none follows another
        for reading in self._readings.values():
            if reading.written and not reading.ended and reading.role != "proxy":
                going[reading.title] = max(reading.began_ms, going.get(reading.title, 0))
        for name, reading in list(self._readings.items()):
            if reading.written and not reading.ended:
                reading.over_ms = None
                continue
            if reading.over_ms is None:
                reading.over_ms = now_ms
            followed = going.get(reading.title, -1) >= (reading.heard_ms or 0)
            if followed or now_ms - reading.over_ms > KEPT_MS:
                reading.close()
                del self._readings[name]

    def _take(self, now_ms: int) -> bool:
        readings = list(self._readings.values())
        size = sum(reading.size_bytes for reading in readings if reading.behind)
        behind = sum(reading.behind for reading in readings)
        boards: dict[str, LiveBoard] = {}
        for reading in readings:
            if not reading.behind:
                boards.update((board.id, board) for board in reading.boards(now_ms))
        state = self.state._replace(
            reading=100 * (size - behind) // size if behind else None,
            sessions=tuple(self._sessions(readings, now_ms)),
            outages=outage_lines(self._outages, with_reason=self._with_chat),
            boards=boards,
        )
        if state == self.state:
            return False
        self.state = state._replace(version=state.version + 1)
        return True

    def _sessions(self, readings: list[JournalReading], now_ms: int) -> Iterator[LiveSession]:
        states = {state.journal: state for state in self._states if state.journal is not None}
        for reading in readings:
            published = states.get(reading.path.name)
            words, live = session_state(published, written=reading.written, ended=reading.ended, now_ms=now_ms)
            yield LiveSession(
                id=reading.id,
                title=_title(reading.title, published),
                state=words,
                live=live,
                heard_ms=None if reading.heard_ms is None else reading.heard_ms // 1000 * 1000,
                lines=() if published is None else session_lines(published),
            )
        for state in self._states:
            if state.journal is None:
                words, _ = session_state(state, written=True, ended=False, now_ms=now_ms)
                yield LiveSession(
                    f"recorder-{state.pid}", f"record {state.server}", words, False, None, session_lines(state)
                )

    def games(self, kept_ms: int) -> list[LiveGame]:
        since_ms = self._now_ms() - kept_ms
        readings = sorted(self._readings.values(), key=lambda reading: reading.began_ms)
        return [game for reading in readings if not reading.behind for game in reading.games(since_ms)]

    def close(self) -> None:
        for reading in self._readings.values():
            reading.close()
        self._readings.clear()


def _title(title: str, state: RecorderState | None) -> str:
    return f"{title} as {state.handle}" if state is not None and state.handle else title


_EVERY_S: Final = 0.2
_BEAT_S: Final = 5.0
_IDLE_S: Final = 60.0
_READY_S: Final = 3.0
_AGAIN_S: Final = 2.0
_RETRY_MS: Final = 1000


class LiveFeed:
    """What running recordings see; ``with_chat`` shows texts of observers."""

    def __init__(self, folder: Path, *, with_chat: bool) -> None:
        self._folder = folder
        self._with_chat = with_chat
        self._changed = threading.Condition()  # guards all that follows
        self._pages = 0
        self._thread: threading.Thread | None = None
        self._state: LiveState | None = None  # None: nothing is read yet
        self._told: tuple[LiveState | None, LiveState | None, str, str] = (None, None, "", "")
        self._used_s = 0.0
        self._games: list[LiveGame] | None = None  # None: no client asks, or not all are read yet
        self._asked_s = -_IDLE_S
        self._kept_ms = KEPT_MS
        self._closed = False

    def look(self) -> LiveState:
        """The state now; right after the start of reading it may not be complete."""
        with self._changed:
            self._start()
            self._changed.wait_for(lambda: self._state is not None and self._state.reading is None, _READY_S)
            return self._state or LiveState(0, 0, (), (), {})

    def games(self, delay_ms: int) -> list[tuple[str, str]] | None:
        """Keys and PGN of the games as they were so long ago, the oldest first; None: they are still being read."""
        games = self._read(delay_ms)
        at_ms = time.time_ns() // _NS_PER_MS - delay_ms
        if games is None:
            return None
        return [(game.game.key, text) for game in games if (text := game.text(at_ms)) is not None]

    def _read(self, delay_ms: int = 0) -> list[LiveGame] | None:
        with self._changed:
            self._start()
            self._asked_s = time.monotonic()
            self._kept_ms = max(self._kept_ms, KEPT_MS + delay_ms)
            self._changed.wait_for(lambda: self._games is not None or self._closed, _READY_S)
            return self._games

    def key_of(self, board: LiveBoard) -> str | None:
        """The key of a board's game; None: it is no game, or its journal is still being read."""
        of_board = board.game_no, board.white, board.black, int(board.id.rpartition("-")[2])
        for game in (live.game for live in self._read() or ()):
            white, black = (visible(plain_name(player.handle)) for player in (game.white, game.black))
            if (game.game_no or 0, white, black, game.first_offset) == of_board:
                return game.key
        return None

    async def events(self) -> AsyncIterator[bytes]:
        """The events of one page, until it is closed or the site ends: the whole state, then what differs from it."""
        with self._changed:
            self._pages += 1
            self._start()
        sent: LiveState | None = None
        said_s = 0.0
        try:
            yield b"retry: %d\n\n" % _RETRY_MS
            while not self._closed:
                before, sent = sent, self._state
                if sent is not None and sent is not before:
                    event = _event(*self._difference(before, sent))
                elif time.monotonic() - said_s > _BEAT_S:
                    event = _event("beat", "{}")
                else:
                    await asyncio.sleep(_EVERY_S)
                    continue
                said_s = time.monotonic()
                yield event
        finally:
            with self._changed:
                self._pages -= 1
                self._used_s = time.monotonic()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _difference(self, before: LiveState | None, state: LiveState) -> tuple[str, str]:
        """Name and data of an event, made once for all pages that have the same state."""
        if self._told[0] is not before or self._told[1] is not state:
            name, data = ("whole", as_json(state)) if before is None else ("change", _change(before, state))
            self._told = before, state, name, json.dumps(data, separators=(",", ":"))  # one line
        return self._told[2:]

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
                reader.look()
                if reader.state.reading is not None:
                    pause_s = 0.0
                asked = time.monotonic() - self._asked_s < _IDLE_S and reader.state.reading is None
                games = reader.games(self._kept_ms) if asked else None
                with self._changed:
                    self._state, self._games = reader.state, games
                    self._changed.notify_all()
            except Exception as error:  # a bug, or a file that cannot be read: the site goes on and reads them again
                said = _say_once(error, said)
                reader.close()
                reader, pause_s = LiveReader(self._folder, with_chat=self._with_chat), _AGAIN_S
                self._state = self._games = None  # pages get the whole state next
            with self._changed:
                self._changed.wait_for(lambda: self._closed, pause_s)
                idle = not self._pages and time.monotonic() - self._used_s > _IDLE_S
                if self._closed or idle:
                    self._thread = self._state = self._games = None
                    break
        reader.close()


def _change(before: LiveState, state: LiveState) -> dict[str, Any]:
    boards = [board_json(board) for name, board in state.boards.items() if before.boards.get(name) != board]
    change: dict[str, Any] = {
        "version": state.version,
        "reading": state.reading,
        "boards": boards,
        "gone": [name for name in before.boards if name not in state.boards],
    }
    if before.sessions != state.sessions:
        change["sessions"] = [session._asdict() for session in state.sessions]
    if before.outages != state.outages:
        change["outages"] = state.outages
    return change


def _say_once(error: Exception, said: str) -> str:
    """Print what went wrong, but not again and again. Returns the sentence; ``said``: the last one."""
    sentence = str(error) if isinstance(error, RecorderError) else contain(error)
    if sentence != said:
        print(f"The page Live: {sentence}", file=sys.stderr)
    return sentence


def _event(name: str, data: str) -> bytes:
    return f'event: {name}\ndata: {{"now_ms":{time.time_ns() // _NS_PER_MS},"data":{data}}}\n\n'.encode()
