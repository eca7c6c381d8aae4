"""What the page of running recordings shows, as values: boards and connections, with the words for both.

Times are milliseconds since 1970, UTC. A text of a log is made visible here, once for the page and for its events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from exporters.report.page import clock_text, number_text, plain_name, visible
from exporters.report.tables import NOTHING, control_words, result_text
from exporters.tables.facts import time_control
from recorder.events.frames import Style12
from recorder.live.conversation import RecorderStage
from recorder.live.status import RecorderState
from recorder.model import EventKind
from recorder.rules.fen import has_plain_board
from recorder.text import plural
from recorder.tracking.datagrams.boards import DatagramBoard
from recorder.tracking.tracked_game import TrackedGame
from storage.maintenance.private import PUBLIC_CHAT

_KIBITZES: Final = 5
_SQUARES: Final = re.compile(r"[A-Z]/([a-h][1-8])-([a-h][1-8])")
_HANGS_MS: Final = 10_000  # a recorder writes its state each second: after so long it hangs


class LiveKibitz(NamedTuple):
    at_ms: int | None
    who: str
    text: str


class LiveBoard(NamedTuple):
    """A game as its last board shows it, in words for people; None is unknown."""

    id: str
    session: str
    pin: str  # names the game in the browser's memory; the same after a reconnection
    game_no: int
    white: str
    black: str
    white_rating: str
    black_rating: str
    kind: str
    control: str
    squares: str  # rank 8 first; empty: a board of another width, which cannot be drawn
    marked: tuple[str, ...]
    flip: bool  # the server wants Black at the bottom
    move: str
    white_ms: int | None
    black_ms: int | None
    white_clock: str
    black_clock: str
    at_ms: int | None  # when the board came, and the clocks were so
    running: str | None
    lag: str
    white_hand: str
    black_hand: str
    playing: bool
    result: str
    note: str
    kibitzes: tuple[LiveKibitz, ...]


class LiveOutage(NamedTuple):
    """A time of which nothing is known; ``reason`` is None if it is in the journal of the connection before."""

    server: str
    from_ms: int
    until_ms: int | None
    reason: str | None


class LiveSession(NamedTuple):
    """A connection, or a recorder without one; ``live``: its boards are those of this moment."""

    id: str
    title: str
    state: str
    live: bool
    heard_ms: int | None
    lines: tuple[str, ...]


class LiveState(NamedTuple):
    """All that the page shows; ``version`` grows with each change, ``reading`` is the percent of the journals read."""

    version: int
    reading: int | None
    sessions: tuple[LiveSession, ...]
    outages: tuple[str, ...]
    boards: Mapping[str, LiveBoard]


# -- boards -----------------------------------------------------------------------------------------------------------


def board_of(run: TrackedGame, session: str, server: str, *, with_chat: bool) -> LiveBoard:
    frame, facts = run.last, run.facts
    assert frame is not None
    white_ms, black_ms = _clocks(frame)
    white, black = visible(plain_name(run.white)), visible(plain_name(run.black))
    san = (frame.pretty or frame.verbose) if frame.has_move else ""
    squares = _SQUARES.fullmatch(frame.verbose)
    control = time_control(facts.white_base_s, facts.white_increment_s)
    white_hand, black_hand = run.holdings or ("", "")
    return LiveBoard(
        id=f"{session}-{run.first_offset}",
        session=session,
        pin=f"{server} {white} {black}".lower(),
        game_no=run.game_no or 0,
        white=white,
        black=black,
        white_rating="" if facts.white_rating is None else visible(facts.white_rating.text),
        black_rating="" if facts.black_rating is None else visible(facts.black_rating.text),
        kind=visible(_kind(run)),
        control=control_words(control) if control else "",
        squares=frame.board if has_plain_board(frame.board) else "",
        marked=squares.groups() if squares else (),
        flip=bool(frame.flip) and run.me_plays,
        move=visible(f"{number_text(frame.ply)} {san}") if san else "No move yet",
        white_ms=white_ms,
        black_ms=black_ms,
        white_clock=clock_text(white_ms, False),
        black_clock=clock_text(black_ms, False),
        at_ms=frame.at_ms,
        running=_running(run, frame),
        lag="" if frame.lag_ms is None else f"lag {frame.lag_ms / 1000:.1f} s",
        white_hand=visible(white_hand),
        black_hand=visible(black_hand.lower()),
        playing=run.end is None,
        result=_result(run),
        note=_note(run),
        kibitzes=_kibitzes(run) if with_chat else (),
    )


def _kind(run: TrackedGame) -> str:
    facts = run.facts
    rated = "" if facts.rated is None else "rated" if facts.rated else "unrated"
    words = [rated, facts.category or run.variant or "", "examined" if run.examined else ""]
    return " ".join(filter(None, words)) or NOTHING


def _clocks(frame: Style12) -> tuple[int | None, int | None]:
    if isinstance(frame, DatagramBoard):
        return frame.reported.white_ms, frame.reported.black_ms
    return frame.clocks


def _running(run: TrackedGame, frame: Style12) -> str | None:
    """Whose clock runs. Servers that do not print it start the clocks with the second move."""
    ticking = None if isinstance(frame, DatagramBoard) else frame.ticking
    if not run.following or run.examined or not (frame.ply >= 2 if ticking is None else ticking):
        return None
    return "white" if frame.white_to_move else "black"


def _result(run: TrackedGame) -> str:
    if run.end is None:
        return ""
    words = result_text(run.result, run.end)
    return visible(f"{words} {run.reason}" if run.reason else words)


def _note(run: TrackedGame) -> str:
    notes = []
    if run.end is None and not run.following:
        notes.append("No longer observed.")
    if run.gapped or (run.base_ply > 0 and not run.examined):
        notes.append("Moves are missing.")
    return " ".join(notes)


def _kibitzes(run: TrackedGame) -> tuple[LiveKibitz, ...]:
    events = () if run.current is None else run.current.events
    kibitzes = [event for event in events if event.kind is EventKind.CHAT and event.detail in PUBLIC_CHAT]
    return tuple(
        LiveKibitz(event.at_ms, visible(plain_name(event.actor or "")), visible(event.text))
        for event in kibitzes[-_KIBITZES:]
    )


# -- connections ------------------------------------------------------------------------------------------------------


def session_state(state: RecorderState | None, *, written: bool, ended: bool, now_ms: int) -> tuple[str, bool]:
    """The state of a connection in words, and whether its boards are of this moment. A proxy publishes no state."""
    if ended:
        return "ended", False
    if not written:
        return "not recorded: its program has ended without closing the journal", False
    if state is None:
        return "recording", True
    if now_ms - state.at_ms > _HANGS_MS:
        return f"no sign of the recorder since {_clock_of(state.at_ms)}", False
    return _STATES.get(state.state, state.state), state.state is not RecorderStage.LEFT


_STATES: Final = {RecorderStage.LOGIN: "logging in", RecorderStage.ASKING: "preparing", RecorderStage.LEFT: "leaving"}


def session_lines(state: RecorderState) -> tuple[str, ...]:
    lines = [f"{plural(state.watched, 'game')} observed."]
    if state.state is RecorderStage.WAITING and state.retry_ms is not None:
        lines = [f"Not connected; the next attempt is {round(state.retry_ms / 1000)} s after {_clock_of(state.at_ms)}."]
    if state.matched:
        named = (("in part", state.partly), ("from a move list", state.recovered), ("missed", state.missed))
        parts = ", ".join([f"{state.whole:,} whole", *(f"{count:,} {name}" for name, count in named if count)])
        lines.append(f"{plural(state.matched, 'game')} matched and ended: {parts}.")
    lines += [visible(f"Missed or in part: {count:,} because {reason}.") for reason, count in state.why.items()]
    if state.outages:
        lines.append(f"{plural(state.outages, 'outage')} since the recorder started.")
    return tuple(lines)


def outage_lines(outages: Sequence[LiveOutage], *, with_reason: bool) -> tuple[str, ...]:
    lines = []
    for outage in reversed(outages):
        until = "now" if outage.until_ms is None else _clock_of(outage.until_ms)
        reason = f": {outage.reason}" if outage.reason and with_reason else ""
        lasted = "" if outage.until_ms is None else f", {max(0, outage.until_ms - outage.from_ms) / 1000:.0f} s"
        lines.append(visible(f"{outage.server}: {_clock_of(outage.from_ms)} to {until}{lasted}{reason}."))
    return tuple(lines)


def _clock_of(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M:%S UTC")


def as_json(state: LiveState) -> dict[str, Any]:
    return {
        "version": state.version,
        "reading": state.reading,
        "sessions": [session._asdict() for session in state.sessions],
        "outages": state.outages,
        "boards": [board_json(board) for board in state.boards.values()],
    }


def board_json(board: LiveBoard) -> dict[str, Any]:
    return {**board._asdict(), "kibitzes": [kibitz._asdict() for kibitz in board.kibitzes]}
