"""The reader of one piece of a raw log, and what it knows at a place: comparing two readers, joining what they counted.

A state is that of ``Pipeline.restart``.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from recorder.archive.inputs import ReadOptions
from recorder.archive.spool import Spool
from recorder.archive.workers import Channel
from recorder.dialects.recogniser import MAX_SHAPES
from recorder.model import Anomaly, SourceKind, TimeBasis
from recorder.pipeline import Pipeline
from recorder.tracking.game_lines import TITLES_KEPT
from recorder.tracking.session import dump_counts, load_counts
from recorder.tracking.tracker import Tracker

__all__ = [
    "LogPiece",
    "PieceRead",
    "Place",
    "Reach",
    "State",
    "blocks_of",
    "digest_of",
    "guessed_state",
    "joined_state",
    "read_piece",
]

_COUNTED: Final = ("frames", "holdings", "elsewhere")
_OF_READ_AGAIN: Final = ("muted", "muted_lists", "beside")
"""What matters only where lines are read again: before the place where these readers agree."""

State = dict[str, Any]


class Reach(NamedTuple):
    """How far readers of neighbouring pieces are compared.

    Attributes:
        step_bytes: between two places.
        most_steps: behind the border; in a session of 32 boards 20 to 45 are needed.
        steps_after: that first one at which no game is open that began before the border.
    """

    step_bytes: int = 64 << 10
    most_steps: int = 64
    steps_after: int = 4

    @property
    def bytes(self) -> int:
        """How far that is at most."""
        return self.step_bytes * self.most_steps


@dataclass(frozen=True, slots=True)
class LogPiece:
    """Lines of a log for one process.

    Attributes:
        paths: of its bytes, secrets and forgotten handles replaced. then: of those of the next piece; None: it is the
            last one.
        offset: of the first byte. end: behind the last one.
        state: what the reader is taken to know; None: the log begins with this piece.
        spool: for the games.
    """

    paths: tuple[Path, ...]
    then: Path | None
    offset: int
    end: int
    state: State | None
    options: ReadOptions
    reach: Reach
    spool: Path


class Place(NamedTuple):
    """What a reader knows at a place that is between two lines, or before a line that is not complete.

    Attributes:
        digest: of all that matters for later lines; None: no reader can agree.
        games, anomalies: how many have been found. offset, state: as ``Pipeline.restart``; no state: a list is open.
    """

    digest: bytes | None
    games: int
    anomalies: tuple[int, ...]
    offset: int
    state: State


@dataclass(slots=True)
class PieceRead:
    """What a process read of a piece; the games are in the spool.

    Attributes:
        head: places behind the first steps, for a piece that is not the first.
        tail: places behind the end; of the last piece that at the end of the log.
        ended: what is known behind the end of the log, for its last piece.
        anomalies: as ``Pipeline.anomalies``.
        failed: an error of this program occurred.
    """

    head: list[Place] = field(default_factory=list)
    tail: list[Place] = field(default_factory=list)
    ended: State | None = None
    anomalies: tuple[list[Anomaly], ...] = ()
    unredacted: int = 0
    failed: bool = False


def read_piece(piece: LogPiece, channel: Channel) -> PieceRead:
    """Read a piece, and say how many bytes of it were read; runs in a process of its own."""
    found = PieceRead()
    reach = piece.reach
    pipeline = piece.options.pipeline(SourceKind.RAW, resume=piece.state, offset=piece.offset)
    assert isinstance(pipeline, Pipeline)
    games = 0
    with Spool(piece.spool).write_source(keep=False) as writer:

        def read(block: bytes) -> None:
            nonlocal games
            ended = pipeline.receive(block)
            writer.add_games(ended)
            games += len(ended)

        for number, block in enumerate(blocks_of(piece.paths, reach)):
            read(block)
            channel.say(len(block))
            if piece.state is not None and number < reach.most_steps:
                found.head.append(_place_of(pipeline, games, 0))
        settled = 0
        for block in islice(blocks_of((piece.then,), reach), reach.most_steps) if piece.then else ():
            read(block)
            found.tail.append(_place_of(pipeline, games, piece.end))
            settled += found.tail[-1].offset >= piece.end
            if settled > reach.steps_after:
                break
        if piece.then is None:
            found.tail.append(_place_of(pipeline, games, 0))
            writer.add_games(pipeline.finish())
            found.ended = (pipeline.restart_here() or (0, None))[1]
    found.anomalies, found.unredacted = pipeline.anomalies, pipeline.unredacted
    found.failed = bool(pipeline.failures.anomalies)
    return found


def blocks_of(paths: tuple[Path, ...], reach: Reach) -> Iterator[bytes]:
    """The bytes of files, one step at a time."""
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(reach.step_bytes):
                yield block


def _place_of(pipeline: Pipeline, games: int, least: int) -> Place:
    """Where a reader is; ``least``: with a game that began before it no reader can agree."""
    anomalies = tuple(map(len, pipeline.anomalies))
    place = pipeline.restart_here()
    if place is None:
        return Place(None, games, anomalies, 0, {})
    digest = None if place[0] < least else digest_of(*place, pipeline.passing_state())
    return Place(digest, games, anomalies, *place)


def digest_of(offset: int, state: State, passing: list[Any]) -> bytes:
    """Of what a reader knows, but for what it counted, and titles, which are added to the games later."""
    left_out = {*_COUNTED, *_OF_READ_AGAIN, "list_frames", "titles", "quoted", "shapes", "lines", "tracker"}
    known = {
        name: sorted(value, key=json.dumps) if isinstance(value, list) and name != "session" else value
        for name, value in (state | state["tracker"]).items()
        if name not in left_out
    }
    return hashlib.sha256(json.dumps([offset, known, passing], sort_keys=True).encode()).digest()


def guessed_state(offset: int, known: State) -> State:
    """The state of a reader that begins at a place and knows of the session what another reader knows."""
    _, fresh = Tracker(basis=TimeBasis.NONE).restart_state(offset)
    tracker = {**fresh, "session": known["tracker"]["session"]}
    return {**known, "from": offset, "begin": offset, "tracker": tracker, "quoted": {}, "shapes": {}, "lines": 0}


def joined_state(total: State, since: State, now: State) -> State | None:
    """What a reader of all lines knows.

    Args:
        total: of such a reader, at a place.
        since: of a reader that knows the same there, as far as it matters for later lines.
        now: of this reader, elsewhere. If that is where it began, a reader that begins there with the result knows at
            the place what one of all lines knows.
    Returns:
        None: it cannot be said, because a table is full, or the reader began with half a line, whose shape no other
        reader has seen.
    """
    tracker = {
        **now["tracker"],
        **{name: _sum(*(state["tracker"][name] for state in (total, since, now))) for name in _COUNTED},
        "list_frames": sum(state["tracker"]["list_frames"] for state in (total, now)) - since["tracker"]["list_frames"],
        "titles": {**total["tracker"]["titles"], **now["tracker"]["titles"]},
    }
    for name in ("frames", "holdings"):
        tracker[name] = dump_counts(load_counts(tracker[name]))  # in the order of one reader
    across = [game for game in total["tracker"]["muted"] if game[1] >= now["from"] and game not in tracker["muted"]]
    beside = [game for game in total["tracker"]["beside"] if game[0] >= now["from"] and game not in tracker["beside"]]
    lists = [place for place in total["tracker"]["muted_lists"] if place >= now["from"]]
    tracker["muted"] = sorted(across + tracker["muted"])
    tracker["beside"] = sorted(beside + tracker["beside"])
    tracker["muted_lists"] = sorted({*lists, *tracker["muted_lists"]})
    shapes = {shape: list(seen) for shape, seen in total["shapes"].items()}
    for shape, (count, first) in now["shapes"].items():
        shapes.setdefault(shape, [0, first])[0] += count
    for shape, (count, _) in since["shapes"].items():
        if shape not in total["shapes"]:
            return None
        shapes[shape][0] -= count
    if len(tracker["titles"]) >= TITLES_KEPT or len(shapes) >= MAX_SHAPES:
        return None
    return {
        **now,
        "tracker": tracker,
        "quoted": _sum(total["quoted"], since["quoted"], now["quoted"]),
        "shapes": shapes,
        "lines": total["lines"] + now["lines"] - since["lines"],
    }


def _sum(total: Mapping[str, int], since: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Counts of all before a place, and of what another reader counted between there and now."""
    summed = Counter(total)
    summed.update(now)
    summed.subtract(since)
    return {name: count for name, count in summed.items() if count}
