"""Runs the product over bytes in memory."""

from collections.abc import Iterable

from recorder.model import Game, SourceReport
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind


def run(blocks: Iterable[bytes], kind: str) -> tuple[list[Game], SourceReport]:
    """Feed blocks to a pipeline.

    Args:
        blocks: the source's bytes in any cut.
        kind: the word ``--kind`` takes.
    Returns:
        The games in the order in which they came out, and the report.
    """
    pipeline = Pipeline(SourceKind(kind))
    games: list[Game] = []
    for block in blocks:
        games += pipeline.receive(block)
    games += pipeline.finish()
    return games, pipeline.report
