"""Reading a source again and comparing it with what the archive says about it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from recorder.cli.forgetting import forgotten_in
from recorder.cli.ingest import is_unfinished
from recorder.cli.inputs import ReadOptions
from recorder.cli.kept import source_blocks, source_timing
from recorder.cli.matches import match_findings
from recorder.cli.terminal import plural
from recorder.errors import SourceError
from recorder.events import Chunk, CutLines, EngineLine
from recorder.ledger import Cause, ledger
from recorder.model import SAVED_KINDS, Disposition, Game, GameKind
from recorder.pipeline import PARSER_VERSION
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import board_order
from recorder.sources import SourceKind, make_decoder
from storage import GameFilter

if TYPE_CHECKING:
    from recorder.cli.terminal import Progress
    from storage import Archive, SourceRow

__all__ = ["Audit", "audit_source", "game_parts"]

_Digest = dict[str, bytes]
_Place = tuple[int, int | None, str, str]


@dataclass(slots=True)
class Audit:
    """What the audit of one source found.

    Attributes:
        read: whether its bytes could be read again.
        games, frames, holdings: compared games, and ``<12>`` and ``<b1>`` counted in the decoded bytes.
        findings: differences, one sentence each.
        living: it is being written, or was left so: games that can still go on were not compared.
        clocks: moves of its played games by what explains the mover's clock (docs/fidelity.md).
        clocks_not_known: the others, of which nothing can be added up.
        conflicts: in what it contradicts other witnesses of its games; no finding, since nobody knows who is right.
    """

    id: str
    name: str
    read: bool = True
    games: int = 0
    frames: int = 0
    holdings: int = 0
    findings: list[str] = field(default_factory=list)
    living: bool = False
    clocks: Counter[Cause] = field(default_factory=Counter)
    clocks_not_known: int = 0
    conflicts: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """One line."""
        if not self.read:
            return "not audited: its bytes are not kept, and the file is gone or has changed"
        verdict = plural(len(self.findings), "difference") if self.findings else "agrees"
        if self.living:
            final = plural(self.games, "game that is final", "games that are final")
            return f"{verdict} in {final}; it is being written, or was left so"
        return f"{verdict}; {plural(self.games, 'game')}, {self.frames:,} <12>, {self.holdings:,} <b1>"

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "id": self.id,
            "name": self.name,
            "read": self.read,
            "games": self.games,
            "frames": self.frames,
            "holdings": self.holdings,
            "findings": self.findings,
            "clocks": {cause.value: self.clocks[cause] for cause in Cause},
            "clocks_not_known": self.clocks_not_known,
            "conflicts": self.conflicts,
            "being_written": self.living,
        }


def audit_source(archive: Archive, row: SourceRow, progress: Progress) -> Audit:
    """Read one source again, count and compare.

    Raises:
        StorageError: the archive cannot be read.
    """
    audit = Audit(row.id, row.name)
    blocks = source_blocks(archive, row)
    try:
        timing = source_timing(archive, row)
    except SourceError:
        blocks = timing = None
    if blocks is None:
        audit.read = False
        return audit
    options = replace(ReadOptions.from_json(row.options, timing), forgotten=forgotten_in(archive))
    pipeline = options.pipeline(SourceKind(row.kind))
    counter = _Counter(SourceKind(row.kind))
    found: dict[_Place, _Digest] = {}
    done = 0
    for block in blocks:
        counter.receive(block)
        _note(found, pipeline.receive(block))
        done += len(block)
        progress(row.name, done, row.size_bytes)
    living = is_unfinished(row)
    _note(found, pipeline.finish(unfinished=living))
    if living:
        found = {place: parts for place, parts in found.items() if place[0] < row.read_up_to}
    audit.games, audit.living = len(found), living
    if row.lacks_player:
        audit.findings.append("A player who is left out of it is not forgotten any more: import it again.")
    elif row.parser_version != PARSER_VERSION:
        audit.findings.append(
            f"Parser version {row.parser_version} read it, this is {PARSER_VERSION}: import it again to renew it."
        )
    counted = counter.finish()
    audit.frames, audit.holdings = counted["<12>"], counted["<b1>"]
    if not living:
        stored = archive.report(row.id)
        for tag, dispositions, again in (
            ("<12>", stored.frames, pipeline.report.frames),
            ("<b1>", stored.holdings, pipeline.report.holdings),
        ):
            audit.findings += _compare_counts(tag, dispositions, again, counted[tag])
    kept: dict[_Place, _Digest] = {}
    everything = GameFilter(source=row.sha256, kinds=frozenset(), min_plies=0, witnesses=True)
    bughouse: list[Game] = []
    for game in archive.games(everything):
        if not living or game.first_offset < row.read_up_to:
            _note(kept, [game])
        if game.variant == "bughouse":
            bughouse.append(game)
        if game.kind is GameKind.PLAYED:
            causes = [entry.cause for entry in ledger(game)]
            known = [cause for cause in causes if cause is not None]
            audit.clocks.update(known)
            audit.clocks_not_known += len(causes) - len(known)
    audit.findings += _compare_games(kept, found)
    audit.findings += _compare_boards(bughouse)
    audit.conflicts = [f"Game {key[:8]}, witnesses differ: {text}" for key, text in archive.conflicts(row.sha256)]
    return audit


def _compare_boards(games: list[Game]) -> Iterable[str]:
    """What the two boards of each match of a log contradict each other in."""
    by_key = {game.key: game for game in games}
    for one, other, _ in pair_bughouse(games):
        for finding in match_findings(board_order(by_key[one], by_key[other])):
            yield f"Bughouse match of {one[:8]} and {other[:8]}: {finding}"


class _Counter:
    """Counts tags in the bytes that the server sent: nothing of the reader of lines takes part in it."""

    def __init__(self, kind: SourceKind) -> None:
        self._decoder = None if kind in SAVED_KINDS else make_decoder(kind)
        self._counts = {"<12>": 0, "<b1>": 0}
        self._rest = b""

    def receive(self, block: bytes) -> None:
        if self._decoder is not None:
            self._count(self._decoder.receive(block))

    def finish(self) -> dict[str, int]:
        if self._decoder is not None:
            self._count(self._decoder.finish())
        return self._counts

    def _count(self, chunks: Sequence[Chunk | CutLines | EngineLine]) -> None:
        for chunk in chunks:
            if isinstance(chunk, EngineLine):
                continue
            data = self._rest + chunk.data
            for tag in self._counts:
                self._counts[tag] += data.count(tag.encode())
            self._rest = data[-3:]  # a tag has four bytes, so none is counted twice


def _compare_counts(
    tag: str, stored: Mapping[Disposition, int], again: Mapping[Disposition, int], counted: int
) -> Iterable[str]:
    if sum(stored.values()) != counted:
        yield f"{tag} stands {counted:,} times in the decoded bytes; {sum(stored.values()):,} dispositions are stored."
    for kind in sorted({*stored, *again}, key=lambda kind: kind.value):
        before, now = stored.get(kind, 0), again.get(kind, 0)
        if before != now:
            yield f"{tag} {kind.value}: {before:,} stored, {now:,} read again."


def _place(game: Game) -> _Place:
    return game.first_offset, game.game_no, game.white.handle, game.black.handle


def _note(found: dict[_Place, _Digest], games: Iterable[Game]) -> None:
    for game in games:
        found[_place(game)] = game_parts(game)


def game_parts(game: Game) -> dict[str, bytes]:
    """Hashes of what a game consists of: a few hundred bytes a game, however long the log. Keys may differ."""
    headers = [
        (name, getattr(game, name))
        for name in game.__dataclass_fields__
        if name not in ("key", "observations", "segments", "links", "witnesses", "evidence", "analyses")
    ]
    seen = game.observations
    parts: dict[str, object] = {
        "headers": headers,
        "segments": game.segments,
        "plies": [[tuple(ply) for ply in line.plies] for one in seen for line in one.lines],
        "lines": [(line.number, line.kind, line.parent, line.parent_ply) for one in seen for line in one.lines],
        "positions": [[tuple(anchor) for anchor in one.anchors] for one in seen],
        # Their numbers are left out: where somebody's words were taken out, one is missing.
        "holdings": [[tuple(change)[1:] for change in one.holdings] for one in seen],
        "events": [[tuple(event)[1:] for event in one.events] for one in seen],
        "thinking": [[tuple(thought) for thought in one.thinking] for one in seen],
    }
    return {name: hashlib.sha256(json.dumps(part, default=str).encode()).digest() for name, part in parts.items()}


def _compare_games(stored: Mapping[_Place, _Digest], found: Mapping[_Place, _Digest]) -> Iterable[str]:
    for place in sorted({*stored, *found}, key=lambda place: (place[0], place[2], place[3])):
        offset, number, white, black = place
        name = f"Game {number} {white} vs. {black} at {offset}"
        if place not in found:
            yield f"{name} is stored, but the log does not give it."
        elif place not in stored:
            yield f"{name} is in the log, but not stored."
        elif differing := [part for part, digest in found[place].items() if stored[place][part] != digest]:
            yield f"{name} differs in its {', '.join(differing)}."
