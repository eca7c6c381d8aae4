"""The state of a recording at one moment, the file that shows it to other processes, and what ``status`` makes of it.

The recorder locks the file while it runs, so a file without a lock was left by a crash.

Source: the text-based exposition format of Prometheus, version 0.0.4.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

from recorder.errors import ExitCode
from recorder.files import is_locked, lock
from recorder.live.capture import Capture
from recorder.live.conversation import RecorderStage
from recorder.live.net.sockets import format_address
from recorder.live.policy.observing import Observing
from recorder.text import plural
from recorder.tracking.datagrams.boards import DatagramBoard
from recorder.tracking.tracked_game import TrackedGame

_NAMES: Final = ".record-*.state"  # hidden, because other files of the folder are journals
HOOK_NAMES: Final = ".hooks-*.state"
"""Files with what ``Hooks.counts`` gives, of programs that have no other state."""
_MOST_BYTES: Final = 1 << 16
_TRIES: Final = 100
_REASONS: Final = 10


@dataclass(frozen=True, slots=True)
class RecorderState:
    """The state that a recorder publishes; counts are since its start."""

    pid: int
    at_ms: int  # UTC, when it was written
    server: str
    state: RecorderStage
    retry_ms: int | None  # until the next attempt
    outages: int  # connections that were lost
    received_bytes: int
    watched: int  # observed games
    matched: int  # this and the next four as in ``Tally``
    whole: int
    partly: int
    recovered: int
    missed: int
    lag_ms: int | None  # the longest of the last moves of the observed games; None: the server prints none
    quiet_ms: int | None  # since the last byte arrived
    handle: str | None  # as the server writes it; None: not logged in, or a guest whose name is not known
    guest: bool | None  # None: not logged in
    journal: str | None  # the name of the file being written
    why: dict[str, int]  # the most frequent reasons of ``partly`` and ``missed``
    hooks: list[dict[str, Any]] | None = None  # as ``Hooks.counts``


_PUBLISHED: Final = tuple(one.name for one in fields(RecorderState))


class StateFile:
    """For any thread; files that crashes have left are removed."""

    def __init__(self, folder: Path, names: str = _NAMES) -> None:
        with contextlib.suppress(OSError):  # the first journal reports the error
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / names.replace("*", secrets.token_hex(4))
        self._fd: int | None = None
        self._writing = Lock()
        for left in folder.glob(f"{names}*"):
            with contextlib.suppress(OSError):
                if not _is_locked(left):
                    left.unlink()

    def write(self, state: RecorderState | dict[str, Any]) -> None:
        """Replace the file's content in one step; on a full disk it stays unchanged."""
        with self._writing:
            self._write(state)

    def _write(self, state: RecorderState | dict[str, Any]) -> None:
        new = self._path.with_suffix(".state.new")
        try:
            fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError:
            return
        values = state if isinstance(state, dict) else {name: getattr(state, name) for name in _PUBLISHED}
        data = json.dumps(values).encode("ascii")
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                lock(fd)
            if os.write(fd, data) < len(data):
                raise OSError("written in part only")
            new.replace(self._path)
        except OSError:
            os.close(fd)
            with contextlib.suppress(OSError):
                new.unlink()
            return
        self._close()
        self._fd = fd

    def remove(self) -> None:
        with self._writing:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
            self._close()

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        return is_locked(file)


def is_state_file(path: Path) -> bool:
    """By its name; perhaps a crash has left it."""
    return any(fnmatch.fnmatchcase(path.name, f"{names}*") for names in (_NAMES, HOOK_NAMES))


def read_states(folder: Path) -> list[RecorderState]:
    """Those of crashed recorders and of other versions are skipped."""
    states = []
    for path in folder.glob(_NAMES):
        with contextlib.suppress(TypeError, ValueError, KeyError):  # written by another version of this program
            if (values := _read(path)) is not None:
                states.append(RecorderState(**values | {"state": RecorderStage(values["state"])}))
    return sorted(states, key=lambda state: state.pid)


def read_others(folder: Path) -> list[dict[str, Any]]:
    """``Hooks.counts`` of programs that run and are no recorders, as ``hooks``, and the ``log`` that they follow."""
    return [found for path in sorted(folder.glob(HOOK_NAMES)) if (found := _read(path)) is not None]


def _read(path: Path) -> dict[str, Any] | None:
    for _ in range(_TRIES):
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES)
                if is_locked(file):
                    values = json.loads(data)
                    return values if isinstance(values, dict) else None
                if os.fstat(file.fileno()).st_nlink:
                    return None  # a crash has left it
        except (OSError, ValueError):
            return None
    return None


class ObservedBoard(NamedTuple):
    """``move`` and ``lag_ms`` are as the server prints them; ``quiet_ms`` is since the last board arrived."""

    game_no: int
    white: str
    black: str
    category: str | None
    move: str | None
    white_clock_ms: int | None
    black_clock_ms: int | None
    white_to_move: bool | None
    lag_ms: int | None
    quiet_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(RecorderState):
    """The state of a recording at one moment; counts are since the start of the program."""

    state_ms: int  # how long the connection, or the lack of one, lasts
    frames: int
    games: int
    waiting: int
    limit: int | None  # how many games may be observed
    tally: str  # counts of the games that matched, in words
    journal_bytes: int  # of the file being written
    synced_ms: int | None  # how long ago the disk confirmed all of it; None: never yet, or no file
    archive: str | None
    first: int
    boards: tuple[ObservedBoard, ...]  # some of the observed games in order of their numbers, ``first`` are before them


def take_snapshot(
    capture: Capture,
    observing: Observing,
    *,
    now_s: float,
    utc_ms: int,
    archive: str | None,
    hooks: list[dict[str, Any]] | None = None,
    first: int,
    most: int,
) -> Snapshot:
    """A ``first`` of the boards beyond the last means 0."""
    connection, counts, tally = capture.connection_state, capture.progress, observing.tally
    conversation, journal = connection.conversation, connection.journal
    we = None if conversation is None else conversation.we
    games = counts.games
    runs: list[TrackedGame] = []
    if conversation is None:
        waits = RecorderStage.CONNECTING if connection.until_s is None else RecorderStage.WAITING
        state = RecorderStage.LEFT if connection.over else waits
    else:
        state = conversation.stage
        tracked = list(conversation.tracker.boards.runs.values())
        games += conversation.games + sum(run.end is not None for run in tracked)
        runs = sorted((run for run in tracked if run.following), key=lambda run: run.game_no or 0)
    lags = [run.last.lag_ms for run in runs if run.last is not None and run.last.lag_ms is not None]
    synced_ns = None if journal is None else journal.last_sync_ns
    first = first if first < len(runs) else 0
    return Snapshot(
        pid=os.getpid(),
        at_ms=utc_ms,
        server=format_address(capture.address),
        state=state,
        state_ms=round((now_s - connection.since_s) * 1000),
        retry_ms=None if connection.until_s is None else max(0, round((connection.until_s - now_s) * 1000)),
        handle=None if we is None else we.handle,
        guest=None if we is None else we.guest,
        outages=counts.outages,
        received_bytes=counts.received,
        frames=counts.boards,
        games=games,
        watched=len(runs),
        waiting=observing.waiting,
        limit=observing.places.limit,
        tally=tally.words,
        **tally.facts(),
        why=dict(tally.why.most_common(_REASONS)),
        hooks=hooks,
        lag_ms=max(lags, default=None),
        quiet_ms=None if counts.heard_s is None else round((now_s - counts.heard_s) * 1000),
        journal=None if journal is None else journal.path.name,
        journal_bytes=0 if journal is None else journal.size_bytes,
        synced_ms=None if journal is None or synced_ns is None else (journal.now_ns() - synced_ns) // 1_000_000,
        archive=archive,
        first=first,
        boards=tuple(_board(run, utc_ms) for run in runs[first : first + most]),
    )


def _board(run: TrackedGame, utc_ms: int) -> ObservedBoard:
    frame = run.last
    white_to_move = move = at_ms = white_ms = black_ms = lag_ms = None
    if frame is not None:
        at_ms, lag_ms = frame.at_ms, frame.lag_ms
        white_to_move = frame.white_to_move
        if frame.has_move:
            sign = f"{frame.move_no - 1}... " if white_to_move else f"{frame.move_no}. "
            move = sign + (frame.pretty or frame.verbose)
        reported = frame.reported if isinstance(frame, DatagramBoard) else None
        white_ms = frame.white_clock_ms if reported is None else reported.white_ms
        black_ms = frame.black_clock_ms if reported is None else reported.black_ms
    return ObservedBoard(
        game_no=run.game_no or 0,
        white=run.white,
        black=run.black,
        category=run.facts.category,
        move=move,
        white_clock_ms=white_ms,
        black_clock_ms=black_ms,
        white_to_move=white_to_move,
        lag_ms=lag_ms,
        quiet_ms=None if at_ms is None else max(0, utc_ms - at_ms),
    )


_STALE_MS: Final = 60_000


def _is_recording(state: RecorderState) -> bool:
    return state.state is RecorderStage.RECORDING


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000


_METRICS: Final[Sequence[tuple[str, str, str, Callable[[RecorderState], float | None]]]] = (
    ("recording", "gauge", "Whether it is logged in and records: 1, else 0.", _is_recording),
    ("games_matched_total", "counter", "Games that matched and are over.", lambda state: state.matched),
    ("games_recorded_total", "counter", "Games recorded from first board to end.", lambda state: state.whole),
    ("games_partly_recorded_total", "counter", "Games recorded in part.", lambda state: state.partly),
    ("games_recovered_total", "counter", "Games taken from a move list afterwards.", lambda state: state.recovered),
    ("games_missed_total", "counter", "Games that matched and are not recorded.", lambda state: state.missed),
    ("games_observed", "gauge", "Games observed now.", lambda state: state.watched),
    ("received_bytes_total", "counter", "Bytes received from the server.", lambda state: state.received_bytes),
    (
        "hook_failures_total",
        "counter",
        "Events that a hook failed to take.",
        lambda state: sum(hook["failed"] + hook["dropped"] for hook in state.hooks) if state.hooks else None,
    ),
    ("outages_total", "counter", "Connections that were lost.", lambda state: state.outages),
    (
        "lag_seconds",
        "gauge",
        "Longest lag of the games' last moves.",
        lambda state: _seconds(state.lag_ms),
    ),
    (
        "seconds_since_last_byte",
        "gauge",
        "Time since the last byte arrived.",
        lambda state: _seconds(state.quiet_ms),
    ),
)


def current_states(folder: Path) -> list[RecorderState]:
    """Without those that hang. ``quiet_ms`` counts up to now."""
    now_ms = time.time_ns() // 1_000_000
    states = []
    for state in read_states(folder):
        age_ms = max(0, now_ms - state.at_ms)
        if age_ms < _STALE_MS:
            states.append(replace(state, quiet_ms=None if state.quiet_ms is None else state.quiet_ms + age_ms))
    return states


def check(states: Sequence[RecorderState], is_written: bool, folder: Path) -> tuple[ExitCode, str]:
    """Check that every recorder records. A proxy has no state."""
    lost = [state for state in states if not _is_recording(state)]
    if lost:
        return ExitCode.RECONNECTING, " ".join(map(_reconnecting, lost))
    if states:
        return ExitCode.OK, f"Recording from {', '.join(state.server for state in states)}."
    if is_written:
        return ExitCode.OK, f"A journal is being written in {folder}."
    return ExitCode.NOT_RECORDING, f"Nothing is being recorded into {folder}."


def _reconnecting(state: RecorderState) -> str:
    retry_ms = state.retry_ms
    if state.state is RecorderStage.LEFT:
        return f"Leaving {state.server}."
    if retry_ms is None:
        return f"Connecting to {state.server}."
    return f"Not connected to {state.server}; next attempt in {plural(round(retry_ms / 1000), 'second')}."


def metrics(states: Sequence[RecorderState]) -> str:
    """Prometheus text; a value that is unknown has no sample."""
    return "".join(f"{line}\n" for line in _lines(states))


def _lines(states: Sequence[RecorderState]) -> Iterator[str]:
    yield from _head("recorders", "gauge", "Recorders that run.")
    yield f"ics_recorder_recorders {len(states)}"
    for name, kind, meaning, read in _METRICS:
        samples = [(state, value) for state in states if (value := read(state)) is not None]
        if samples:
            yield from _head(name, kind, meaning)
        for state, value in samples:
            labels = f'server="{_escaped(state.server)}",pid="{state.pid}"'
            yield f"ics_recorder_{name}{{{labels}}} {value if isinstance(value, float) else int(value)}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP ics_recorder_{name} {meaning}"
    yield f"# TYPE ics_recorder_{name} {kind}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
