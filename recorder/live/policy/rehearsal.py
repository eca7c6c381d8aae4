"""What a policy would do: with the table of games of a server (``record --dry-run``), and with a log (``explain``)."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from recorder.errors import LoginError, NoPolicyError, PolicyError, SourceError
from recorder.events import Chunk, CutLines, EngineLine
from recorder.live.net.connection import Incoming, open_connection
from recorder.live.net.sockets import Address, connect, failure_reason, format_address, why_no_connection
from recorder.live.policy.explain import Rehearsal, SessionExplainer
from recorder.live.policy.plan import ObservationPlan, PlanReader
from recorder.model import SAVED_KINDS, TimeBasis
from recorder.sources import Decoder, SourceKind, detect, make_decoder, path_kind, read_blocks, read_head
from recorder.sources.journal import JournalDecoder
from recorder.wire.timeseal import Sealing

_TAKES_S: Final = 30.0
_TICK_S: Final = 1.0


async def rehearse(server: Address, rehearsal: Rehearsal, sealing: Sealing | None) -> None:
    """Connect, and exchange with the server what a rehearsal says until it is finished."""
    try:
        connected = await connect(server)
    except OSError as error:
        raise LoginError(f"{why_no_connection(server, error)}.") from error
    heard, woken = bytearray(), asyncio.Event()

    def take(data: bytes) -> None:
        heard.extend(data)
        woken.set()

    incoming = Incoming(connected, take, woken.set)
    transport = await open_connection(connected, incoming)
    try:
        incoming.resume()
        waiting_s = 0.0
        if sealing is not None:
            transport.write(sealing.hello(0))
        while not rehearsal.finished:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S):
                    await woken.wait()
            woken.clear()
            data = bytes(heard)
            heard.clear()
            _answer(transport, data, rehearsal, sealing)
            waiting_s = waiting_s + _TICK_S if transport.get_write_buffer_size() and not data else 0.0
            if waiting_s >= _TAKES_S:
                raise LoginError(f"{format_address(server)} does not accept any data.")
            if incoming.ended and not rehearsal.finished:
                if incoming.failure is not None:
                    why = failure_reason(incoming.failure)
                    raise LoginError(f"The connection to {format_address(server)} was lost ({why}).")
                rehearsal.closed()
                break
        transport.close()  # good-bye is said; that the server is gone now is no failure
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(incoming.closed), _TAKES_S)
    finally:
        transport.abort()


def _answer(transport: asyncio.Transport, data: bytes, rehearsal: Rehearsal, sealing: Sealing | None) -> None:
    """Say what is due, and what the server's bytes ask for."""
    now_ms = time.monotonic_ns() // 1_000_000
    lines = b""
    if data:
        if sealing is not None:
            transport.write(sealing.answers(data, now_ms))
        lines = rehearsal.receive(data, now_ms)
    lines += rehearsal.take(now_ms)
    if lines:
        transport.write(lines if sealing is None else sealing.seal_lines(lines, now_ms))


class ExplainedLog(NamedTuple):
    """A log that was read; without bytes of a server it has no explainer."""

    explainer: SessionExplainer | None
    timed: bool


def explain_log(file: str, plan: ObservationPlan | None) -> ExplainedLog:
    """Read what the server said, in a log of any kind or a text with a table of games.

    With a plan every request is taken for granted; without one, that in force when the journal was recorded counts.
    """
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
    """What the server said, in a log of any kind or a text with a table of games, and what reads it."""
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
