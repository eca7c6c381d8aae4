"""Why the games of a log were or were not observed: the log is read, and its policy found."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from recorder.errors import NoPolicyError, PolicyError, SourceError
from recorder.events import Chunk, CutLines, EngineLine
from recorder.live.policy.explain import Explaining
from recorder.live.policy.plan import ObservationPlan, PlanReader
from recorder.model import TimeBasis
from recorder.sources import HEAD_BYTES, Decoder, SourceKind, detect, make_decoder, path_kind, read_blocks
from recorder.sources.journal import JournalDecoder

__all__ = ["ExplainedLog", "explain_log"]


class ExplainedLog(NamedTuple):
    """A log that was read.

    Attributes:
        explaining: has received all of it; None: it has no bytes of a server.
        timed: whether the log has times.
    """

    explaining: Explaining | None
    timed: bool


def explain_log(file: str, plan: ObservationPlan | None) -> ExplainedLog:
    """Read what the server said, in a log of any kind or a text with a table of games.

    Args:
        file: a path, or - for standard input.
        plan: every request under it is taken for granted; None: the one in force when the journal was recorded.
    Raises:
        SourceError: it cannot be read. NoPolicyError: no plan is given, and the log has none.
    """
    decoder, chunks = _read(file)
    explaining: Explaining | None = None
    for chunk in chunks:
        if explaining is None:
            explaining = _begin(file, plan, decoder)
        explaining.receive(chunk)
    return ExplainedLog(explaining, decoder.time_basis is not TimeBasis.NONE)


def _begin(file: str, plan: ObservationPlan | None, decoder: Decoder) -> Explaining:
    if plan is not None:
        return Explaining(plan, granted=True)
    noted = PlanReader()
    opening, policies = (decoder.opening, decoder.policies) if isinstance(decoder, JournalDecoder) else ([], [])
    for note in opening:
        noted.note(note)
    if noted.plan is None:
        raise NoPolicyError(f"{file} does not tell by which policy it was recorded: give one with --observe.")
    try:
        return Explaining(noted.plan, granted=False, policies=policies)
    except PolicyError as error:
        raise SourceError(f"The policy in {file} cannot be read ({error}); give one with --observe.") from error


def _read(file: str) -> tuple[Decoder, Iterator[Chunk | CutLines]]:
    """What the server said, in a log of any kind or a text with a table of games, and what reads it."""
    if file != "-" and path_kind(file) == "folder":
        raise SourceError(f"{file} is a folder: name one of the logs in it.")
    blocks = read_blocks(file)
    head = b""
    while len(head) < HEAD_BYTES and (block := next(blocks, None)) is not None:
        head += block
    decoder = make_decoder(detect(head[:HEAD_BYTES]) or SourceKind.RAW)

    def chunks() -> Iterator[Chunk | CutLines]:
        for block in chain((head,), blocks):
            yield from (part for part in decoder.receive(block) if not isinstance(part, EngineLine))
        yield from (part for part in decoder.finish() if not isinstance(part, EngineLine))
        if blocks.problem is not None:
            raise blocks.problem

    return decoder, chunks()
