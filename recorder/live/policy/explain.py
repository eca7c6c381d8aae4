"""Why each game of a session was or was not observed, and a rehearsal that sends nothing. Pure.

The session's lines go through the same ``Observing`` that decides while something is recorded. Under the plan that was
in force the server's own answers count; under another one every request is granted at once. A rehearsal shows what a
policy would do with the table of games of a server (``record --dry-run``), or with a log.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from recorder.dialects.recogniser import Recogniser
from recorder.errors import LoginError, NoPolicyError, PolicyError, SourceError
from recorder.events import (
    Chunk,
    CutLines,
    EngineLine,
    Event,
    GamesCounted,
    GamesRow,
    Line,
    ObserveRefused,
    ObservingEnded,
    ObservingStarted,
)
from recorder.events.frames import Style12
from recorder.live.login.login import LoggedIn, Login
from recorder.live.net.sockets import Address, connect, failure_reason, format_address, why_no_connection
from recorder.live.policy.candidates import Candidate, Fate, PolicyPart, Why
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan, PlanReader
from recorder.live.policy.recovery import missing_part
from recorder.live.requests import AskGames, Observe, Request, Unobserve, format_request
from recorder.model import SAVED_KINDS, TimeBasis
from recorder.sources import Decoder, SourceKind, detect, make_decoder, path_kind, read_blocks, read_head
from recorder.sources.journal import JournalDecoder
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.tracker import Tracker
from recorder.wire.lines import LineReader
from recorder.wire.timeseal import Sealing

_ROUNDS: Final = 10_000


@dataclass(frozen=True, slots=True)
class GameOutcome:
    """The outcome of one game; times are on the source's clock.

    ``fate`` and ``reason`` say what was being done about it at last, or, if it was observed, why it was asked for.
    """

    game_no: int
    facts: HeaderFacts
    seen_ms: int  # when its first line came
    gone_ms: int  # when it was over or forgotten
    watched_ms: int | None  # when its observation began
    missing: str | None  # what the session lacks of an observed game, a clause
    fate: Fate
    reason: str
    part: PolicyPart | None  # what each part of the expression said; None: it was not judged


class SessionExplainer:
    """Reads a session. ``granted``: every request is granted; else the session's own answers count.

    ``policies`` are notes with later plans and the offsets from which they count; it may grow before its lines come.
    """

    def __init__(
        self, plan: ObservationPlan, *, granted: bool, policies: Sequence[tuple[int, Mapping[str, Any]]] = ()
    ) -> None:
        self.outcomes: list[GameOutcome] = []  # of games that are over; sorted by ``finish``
        self.asked: list[int] = []
        self.tables = 0  # whole ones
        self.observing = Observing(plan, gone=self._gone)
        self.tally = self.observing.tally
        self._tracker = None if granted else Tracker(basis=TimeBasis.UTC, chat="none")
        self._granted = granted
        self._policies = policies
        self._policies_read = 0
        self._plans = PlanReader()
        self._reader = LineReader()
        self._recogniser = Recogniser()
        self._now_ms = 0
        self._begun = False

    def receive(self, chunk: Chunk | CutLines) -> None:
        """Bytes of the server; without data: what follows continues nothing. Without times a line takes 1 ms."""
        if isinstance(chunk, CutLines) or chunk.data:
            self._take(self._reader.receive(chunk))
        else:
            self._take(self._reader.finish())
            self._hear(self._recogniser.finish())

    def finish(self) -> list[GameOutcome]:
        self._take(self._reader.finish())
        self._hear(self._recogniser.finish())
        self._decide(self._now_ms)
        self.observing.finish(self._now_ms)
        self.outcomes.sort(key=lambda outcome: (outcome.seen_ms, outcome.facts.offset))
        return self.outcomes

    def _take(self, lines: list[Line]) -> None:
        for line in lines:  # one by one, so that the result does not depend on the source's blocks
            self._now_ms = self._now_ms + 1 if line.at_ms is None else max(self._now_ms, line.at_ms)
            if not self._begun:
                self._begin()
            if self._policies_read < len(self._policies):
                self._replan(line.offset)
            self._hear(self._recogniser.feed([line]))

    def _replan(self, offset: int) -> None:
        for place, note in self._policies[self._policies_read :]:
            if place >= offset:
                break
            self._policies_read += 1
            before = self._plans.plan
            self._plans.note(note)
            if self._plans.plan is not None and self._plans.plan is not before:
                self.observing.replan(self._plans.plan, None)
                self._decide(self._now_ms)

    def _begin(self) -> None:
        self._begun = True
        self.observing.connected(self._now_ms, None if self._tracker is None else self._tracker.is_whole)
        self.observing.decide(self._now_ms)
        if self._granted:  # announcements count from the first line, with or without a table
            self.observing.feed([GamesCounted(Line("", 0), 0, 0)], self._now_ms)

    def _hear(self, events: list[Event]) -> None:
        self.tables += sum(isinstance(event, GamesCounted) for event in events)
        if self._granted:
            events = [
                event for event in events
                if not isinstance(event, Style12 | ObservingStarted | ObservingEnded | ObserveRefused)
            ]  # fmt: skip
        if self._tracker is not None:
            self._tracker.feed(events)
            self._tracker.anomalies.clear()
        if events:
            self.observing.feed(events, self._now_ms)
            if not isinstance(events[-1], GamesRow):  # the table continues; its rows come in their own order
                self._decide(self._now_ms)

    def _decide(self, now_ms: int) -> None:
        for _ in range(_ROUNDS):
            requests = self.observing.decide(now_ms)
            self.asked += [request.game_no for request in requests if isinstance(request, Observe)]
            if not self._granted or not requests:
                return
            self.observing.feed(_grants(requests), now_ms)

    def _gone(self, game: Candidate, why: Why, now_ms: int) -> None:
        fate, reason, missing = why.fate, why.reason, None
        if game.watched_ms is not None:
            missing = None if self._tracker is None else missing_part(game, self._tracker.is_whole)
            fate = Fate.OBSERVED
            reason = game.wanted or "the server began to show it without being asked"
        part = None if game.judgement is None else game.judgement.part
        listed = game.listed
        self.outcomes.append(
            GameOutcome(
                listed.game_no, listed.facts, game.seen_ms, now_ms, game.watched_ms, missing, fate, reason, part
            )
        )


def _grants(requests: Iterable[Request]) -> list[Event]:
    """The answers of a server that accepts every command."""
    events: list[Event] = []
    for request in requests:
        if isinstance(request, Observe):
            events.append(ObservingStarted(Line("", 0), request.game_no))
        elif isinstance(request, Unobserve):
            events.append(ObservingEnded(Line("", 0), request.game_no))
    return events


_TABLE_MS: Final = 30_000
_QUIT: Final = b"quit\n"


class Rehearsal:
    """One connection on which nothing is observed and no setting is changed; it is ``finished`` after the logout."""

    def __init__(self, login: Login, plan: ObservationPlan) -> None:
        self.we: LoggedIn | None = None
        self.finished = False
        self._login = login
        self._explainer = SessionExplainer(plan, granted=True)
        self._heard = 0
        self._since_ms: int | None = None  # the last bytes, or after the login the request for the table

    def receive(self, data: bytes, now_ms: int) -> bytes:
        to_send = b""
        if self.we is None:
            self._since_ms = now_ms
            to_send = self._login.receive(data)
            self.we = self._login.logged_in
            if self.we is not None:
                to_send += f"{format_request(AskGames(), self.we.family)}\n".encode("ascii")
        else:
            self._explainer.receive(Chunk(data, self._heard, now_ms))
            self._heard += len(data)
        if self._explainer.tables and not self.finished:
            self.finished = True
            to_send += _QUIT
        return to_send

    def take(self, now_ms: int) -> bytes:
        """To be called once a second; LoginError: no answer for too long."""
        since_ms = self._since_ms = now_ms if self._since_ms is None else self._since_ms
        if self.we is None and now_ms >= since_ms + self._login.patience_ms:
            self._since_ms = now_ms
            return self._login.timed_out()
        if self.we is None or self.finished or now_ms < since_ms + _TABLE_MS:
            return b""
        self.finished = True
        return _QUIT

    def closed(self) -> None:
        """LoginError: that was before the login."""
        if self.we is None:
            self._login.closed()

    def result(self) -> tuple[list[GameOutcome], list[GameOutcome]]:
        """The games that would be observed, in order, and all of the table; called once, after the end."""
        games = self._explainer.finish()
        watched = {game.game_no: game for game in games if game.watched_ms is not None}
        return [watched[number] for number in self._explainer.asked if number in watched], games


_TAKES_S: Final = 30.0
_TICK_S: Final = 1.0
_READ_BYTES: Final = 1 << 14


def rehearse(server: Address, rehearsal: Rehearsal, sealing: Sealing | None) -> None:
    where = format_address(server)
    try:
        connection = asyncio.run(connect(server))
    except OSError as error:
        raise LoginError(f"{why_no_connection(server, error)}.") from error
    with connection:
        try:
            _exchange(connection, rehearsal, sealing)
        except TimeoutError as error:
            raise LoginError(f"{where} does not accept any data.") from error
        except OSError as error:
            raise LoginError(f"The connection to {where} was lost ({failure_reason(error)}).") from error


def _exchange(connection: socket.socket, rehearsal: Rehearsal, sealing: Sealing | None) -> None:
    """TimeoutError: the server takes nothing."""
    said = b"" if sealing is None else sealing.hello(0)
    while True:
        connection.settimeout(_TAKES_S)
        connection.sendall(said)
        if rehearsal.finished:
            return
        connection.settimeout(_TICK_S)
        data = None
        with contextlib.suppress(TimeoutError):
            data = connection.recv(_READ_BYTES)
        now_ms = time.monotonic_ns() // 1_000_000
        said = sealing.answers(data, now_ms) if sealing is not None and data else b""
        lines = rehearsal.receive(data, now_ms) if data else b""
        lines += rehearsal.take(now_ms)
        if lines:
            said += lines if sealing is None else sealing.seal_lines(lines, now_ms)
        if data == b"" and not rehearsal.finished:
            rehearsal.closed()
            return


class ExplainedLog(NamedTuple):
    """Without bytes of a server it has no explainer."""

    explainer: SessionExplainer | None
    timed: bool


def explain_log(file: str, plan: ObservationPlan | None) -> ExplainedLog:
    """Any log, or a table of games; with a plan every request is granted, else the journal's plan counts."""
    decoder, chunks = _read(file)
    explainer: SessionExplainer | None = None
    for chunk in chunks:
        if explainer is None:
            explainer = _begin(file, plan, decoder)
        explainer.receive(chunk)
    return ExplainedLog(explainer, decoder.time_basis is not TimeBasis.NONE)


def _begin(file: str, plan: ObservationPlan | None, decoder: Decoder) -> SessionExplainer:
    if plan is not None:
        return SessionExplainer(plan, granted=True)
    noted = PlanReader()
    opening, policies = (decoder.opening, decoder.policies) if isinstance(decoder, JournalDecoder) else ([], [])
    for note in opening:
        noted.note(note)
    if noted.plan is None:
        raise NoPolicyError(f"{file} does not contain the policy of its recording: add --observe.")
    try:
        return SessionExplainer(noted.plan, granted=False, policies=policies)
    except PolicyError as error:
        raise SourceError(f"The policy in {file} cannot be read ({error}); add --observe.") from error


def _read(file: str) -> tuple[Decoder, Iterator[Chunk | CutLines]]:
    """A log of any kind or a text with a table of games: what reads it, and what the server said."""
    if file != "-" and path_kind(file) == "folder":
        raise SourceError(f"{file} is a folder: name one of the logs in it.")
    blocks = read_blocks(file)
    head, stream = read_head(blocks)
    kind = detect(head) or SourceKind.RAW
    if kind in SAVED_KINDS:
        raise SourceError(f"{file} contains saved games: name a server log, or a saved table of games.")
    decoder = make_decoder(kind)

    def chunks() -> Iterator[Chunk | CutLines]:
        for block in stream:
            yield from (part for part in decoder.receive(block) if not isinstance(part, EngineLine))
        yield from (part for part in decoder.finish() if not isinstance(part, EngineLine))
        if blocks.problem is not None:
            raise blocks.problem

    return decoder, chunks()
