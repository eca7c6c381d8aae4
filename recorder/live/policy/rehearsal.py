"""What a policy would do: with the table of games of a server (``record --dry-run``), and with a log (``explain``)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from recorder.errors import LoginError, NoPolicyError, PolicyError, SourceError
from recorder.events import Chunk, CutLines, EngineLine
from recorder.live.net.sockets import Address, connect, failure_reason, format_address, why_no_connection
from recorder.live.policy.explain import Rehearsal, SessionExplainer
from recorder.live.policy.plan import ObservationPlan, PlanReader
from recorder.model import SAVED_KINDS, TimeBasis
from recorder.sources import Decoder, SourceKind, detect, make_decoder, path_kind, read_blocks, read_head
from recorder.sources.journal import JournalDecoder
from recorder.wire.timeseal import Sealing

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
