"""What a PGN file contains between the moves: variations, NAGs and comments with chat and engine output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from exporters.evaluations import main_analysis, pawns_text, score_text, thoughts_by_ply
from exporters.pgn.parts import PgnPart
from exporters.pgn.tags import is_saved, readable
from recorder.model import (
    ELAPSED_DERIVED,
    EXACT,
    EventKind,
    Game,
    GameEvent,
    GameKind,
    LineKind,
    Observation,
    ObservationKind,
    Origin,
    Ply,
    PlyLine,
    Proof,
    Thinking,
    shows_board,
)
from recorder.model.plies import is_null_move
from recorder.movetext import GLUE, with_bars
from recorder.times import short_seconds

_Line = tuple[int, int]


def unique_lines(game: Game) -> set[_Line]:
    """Of equal lines in several sources one, that of an observation in the main line if there is one."""
    main = {segment.observation for segment in game.segments}
    lines: set[_Line] = set()
    known_lines: set[object] = set()
    for index in sorted(range(len(game.observations)), key=lambda index: (index not in main, index)):
        lines_seen: dict[int | None, object] = {}
        parents = {line.number: line.parent for line in game.observations[index].lines}
        for line in game.observations[index].lines:
            moves = tuple(ply.san if ply.move is None else ply.move for ply in line.plies)
            what = lines_seen[line.number] = (
                None if line.parent is None else (lines_seen.get(line.parent), line.parent_ply, moves)
            )
            if not game.merged_from or line.kind is not LineKind.TAKEBACK or what not in known_lines:
                number: int | None = line.number
                while number is not None and (index, number) not in lines:
                    lines.add((index, number))
                    number = parents.get(number)
            known_lines.add(what)
    return lines


_PROVED = frozenset({Proof.FULL.value, Proof.LIST.value, Proof.INFERRED.value})


@dataclass(slots=True)
class Annotation:
    """``$1`` and the like, then one comment; ``thought``, what the engine thought as cutechess writes it, in front."""

    nags: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    thought: str = ""

    def add(self, event: GameEvent) -> None:
        if event.detail == "nag":
            self.nags.append(event.text)
        elif event.detail == "command":
            self.items.append(Item(with_bars(event.text).replace(" ", GLUE), bare=True))
        else:
            words = f"{event.actor} {event.detail}: {event.text}" if event.actor else event.text
            head = self.thought.partition(GLUE)[0]
            if head and words.startswith(head) and (own := _BEHIND_SCORE.match(words, len(head))):
                rest = brace_text(words[own.end() :])  # of a saved game: the same, perhaps with more behind it
                self.thought += rest if rest[:1] in ("", ",") else f" {rest}"
                return
            self.items.append(Item(brace_text(words)))


_BEHIND_SCORE: Final = re.compile(r"(?:,? [0-9][0-9:.]*m?s?(?=[ ,]|\Z))?(?=[ ,]|\Z)")
#: Line → ply → chat and marks there.
_Chat = dict[int, dict[int, Annotation]]


@dataclass(frozen=True, slots=True)
class Variation:
    """``children`` by the ply that they replace; ``before`` is said before its first move; ``unproved`` ends it."""

    plies: list[Ply]
    unproved: list[Ply]
    children: dict[int, list[Variation]]
    annotations: dict[int, Annotation]
    before: Annotation


@dataclass(slots=True)
class Extras:
    """Variations are written after annotations. ``annotator``: the engine whose analysis is among the comments."""

    annotations: dict[int, Annotation] = field(default_factory=dict)
    variations: dict[int, list[Variation]] = field(default_factory=dict)
    annotator: str | None = None


def find_extras(
    game: Game,
    part: PgnPart,
    *,
    variations: bool,
    comments: bool,
    engine: bool,
    as_comments: bool,
    analysis: str | None,
    written: Callable[[Variation], str],
) -> Extras:
    """A variation follows the move that it replaces; where none was played, it is in a comment after the last move."""
    extras = Extras()
    number = 0
    saved = is_saved(game)
    if part.beside is not None:
        index, number = part.beside
        places = [(game.observations[index], part.start_ply, part.start_ply + len(part.rows))]
    else:
        places = [(game.observations[part.observation], part.from_ply - 1, part.to_ply) for part in game.segments]
    once: set[tuple[int, int]] | None = None
    if game.merged_from and variations:
        once = unique_lines(game)
        places = [(seen, part.start_ply, part.start_ply + len(part.rows)) for seen in game.observations]
    first = part.start_ply
    last = part.plies[-1].ply if part.plies else first
    unproved = {row.ply for row in (*part.before, *part.unproved)}
    if engine and part.beside is None:
        _add_thoughts(game, part, first, last, analysis, extras, as_comments=as_comments)
    for index, (seen, low, high) in enumerate(places):
        chat = _chat_by_line(seen) if comments and (saved or game.kind is not GameKind.PLAYED) else {}
        excluded = set() if once is None else {line.number for line in seen.lines if (index, line.number) not in once}
        for line, variation in _find_variations(seen, number, max(low, first), high, variations, chat, excluded):
            _place(extras, unproved, last, seen, line, variation, written)
    if comments and (game.kind is GameKind.PLAYED or part.beside is None):
        final = part.plies[-1:] == game.plies[-1:]
        for event in _chat_of_main_line(game):
            if event.ply in unproved or (event.ply >= first and (event.ply <= last or final)):
                ply = event.ply if event.ply in unproved else min(event.ply, last)
                extras.annotations.setdefault(ply, Annotation()).add(event)
    elif comments and part.beside is not None:
        for their_line, event in chat_of(game.observations[part.beside[0]]):
            if their_line == number and (first <= event.ply <= last or event.ply in unproved):
                ply = event.ply if event.ply in unproved else min(event.ply, last)
                extras.annotations.setdefault(ply, Annotation()).add(event)
    return extras


def _place(
    extras: Extras,
    unproved: set[int],
    last: int,
    seen: Observation,
    line: PlyLine,
    variation: Variation,
    written: Callable[[Variation], str],
) -> None:
    """As a comment, where no such move is written or the line has none itself."""
    at = line.parent_ply or 0
    if at < last and variation.plies:
        extras.variations.setdefault(at + 1, []).append(variation)
        return
    replaced = at < last or at + 1 in unproved
    if replaced or (at == last and not any((anchor.line, anchor.ply) == (line.number, at) for anchor in seen.anchors)):
        if line.kind is LineKind.TAKEBACK:
            text = f"Taken back: {' '.join(ply.san for ply in variation.plies)}"
        else:
            text = f"Variation: {written(variation)}"
        annotation = extras.annotations.setdefault(at + 1 if replaced else last, Annotation())
        annotation.items.append(Item(brace_text(text)))


def _add_thoughts(
    game: Game, part: PgnPart, first: int, last: int, analysis: str | None, extras: Extras, *, as_comments: bool
) -> None:
    thoughts = thoughts_by_ply(game)
    counts = None if analysis is None else main_analysis(game, analysis)
    if counts is not None:
        best, lines = counts
        thoughts |= {ply: [line._replace(pv="")] for ply, line in lines.items()}
        extras.annotator = best.engine if any(first < ply <= last for ply in lines) else None
    moves = {ply.ply: ply for ply in part.plies} if as_comments else {}
    for number, lines_seen in thoughts.items():
        if first < number <= last:
            annotation = extras.annotations.setdefault(number, Annotation())
            for thought in lines_seen:
                comment = engine_comment(thought, moves[number]) if number in moves else None
                if comment is not None:
                    annotation.thought = comment
                else:
                    annotation.items.append(Item(thought_text(thought)))
    if counts is not None and not as_comments:
        _add_engine_lines(game, part, counts[1], extras)


def _add_engine_lines(game: Game, part: PgnPart, lines: dict[int, Thinking], extras: Extras) -> None:
    """Where the next move is another one; behind the last move the engine's line is in the comment."""
    from recorder.replay.boards import play_line, play_ply, start_of  # they load the rules

    has_start = part.fen is not None or part.start_ply == 0
    position = start_of(game, part.fen) if has_start else None
    for number, ply in enumerate([*part.plies, None], part.start_ply):
        if position is None:
            return
        steps = play_line(position, lines[number].pv)[0] if number in lines else []
        moves = [
            Ply(ply, move, san, None, None, None, None, None, None, None, Proof.FULL, Origin.ENGINE, None, 0)
            for ply, (move, san, _) in enumerate(steps, number + 1)
        ]
        if ply is None:
            words = " ".join(move.san for move in moves)
            if words and number > part.start_ply:
                extras.annotations.setdefault(number, Annotation()).items.append(Item(brace_text(f"Expected: {words}")))
            return
        if moves and moves[0].move != ply.move:
            extras.variations.setdefault(number + 1, []).append(Variation(moves, [], {}, {}, Annotation()))
        position = play_ply(position, ply)


def chat_of(observation: Observation) -> Iterator[tuple[int, GameEvent]]:
    """With the line that each names, else that of the board shown then."""
    line = 0
    for event in observation.events:
        if shows_board(event):
            line = event.value or 0
        elif event.kind is EventKind.CHAT:
            yield line if event.value is None else event.value, event


def _chat_of_main_line(game: Game) -> list[GameEvent]:
    if game.kind is GameKind.PLAYED:
        return [event for event in game.events if event.kind is EventKind.CHAT and not event.value]
    main = {segment.observation for segment in game.segments} or {0}
    return [event for index in sorted(main) for line, event in chat_of(game.observations[index]) if line == 0]


def _chat_by_line(observation: Observation) -> _Chat:
    by_line: _Chat = {}
    for line, event in chat_of(observation):
        by_line.setdefault(line, {}).setdefault(event.ply, Annotation()).add(event)
    return by_line


def _find_variations(
    observation: Observation,
    number: int,
    low: int,
    high: int,
    taken_back: bool,
    chat: _Chat,
    excluded: set[int],
) -> Iterator[tuple[PlyLine, Variation]]:
    below: dict[int, list[PlyLine]] = {}
    for line in observation.lines:
        if line.parent is not None and line.parent_ply is not None:
            below.setdefault(line.parent, []).append(line)
    saved = observation.kind is ObservationKind.PGN
    for line in below.get(number, ()):
        behind = line.parent_ply or 0
        if line.number in excluded or not low <= behind <= high or (line.kind is LineKind.TAKEBACK and not taken_back):
            continue
        variation = _variation(line, below, chat, saved)
        if variation.plies or variation.unproved:
            yield line, variation


def _variation(top: PlyLine, below: dict[int, list[PlyLine]], chat: _Chat, saved: bool) -> Variation:
    """With those that leave it, and theirs."""
    root = _replayed(top, chat, saved)
    waiting = [(top, root)]
    while waiting:
        above, variation = waiting.pop()
        numbers = {ply.ply for ply in (*variation.plies, *variation.unproved)}
        for line in below.get(above.number, ()):
            if (follow := (line.parent_ply or 0) + 1) in numbers:
                child = _replayed(line, chat, saved)
                if child.plies or child.unproved:
                    variation.children.setdefault(follow, []).append(child)
                    waiting.append((line, child))
    return root


def _replayed(line: PlyLine, chat: _Chat, saved: bool) -> Variation:
    plies: list[Ply] = []
    begin = line.parent_ply or 0
    every = line.plies
    for number, ply in enumerate(every, begin + 1):
        if ply.ply != number or not (ply.proof_code in _PROVED or is_null_move(ply)):
            break
        plies.append(ply)
    unproved = every[len(plies) :] if saved else []
    said = chat.get(line.number, {})
    numbers = {ply.ply for ply in (*plies, *unproved)}
    annotations = {ply: annotation for ply, annotation in said.items() if ply in numbers}
    return Variation(plies, unproved, {}, annotations, said.get(begin, Annotation()))


def thought_text(thought: Thinking) -> str:
    """``[%eval 0.24] [%depth 10] d2d4 d7d5`` for a comment of PGN."""
    words = []
    score = score_text(thought)
    if score is not None and thought.white is not None:
        words.append(f"[%eval{GLUE}{score}]")
    if thought.depth is not None:
        words.append(f"[%depth{GLUE}{thought.depth}]")
    pv = brace_text(thought.pv)
    return " ".join([*words, pv] if pv else words)


def engine_comment(thought: Thinking, ply: Ply) -> str | None:
    """``+0.35/21 1.9s``, from the side that moved, a mate in plies; None: score or depth are unknown."""
    sign = 1 if (thought.white is not False) is ply.white_moved else -1
    if thought.depth is None or (thought.mate is None and thought.score_cp is None):
        return None
    if thought.mate is not None:
        mate = sign * thought.mate
        score = f"{'-' if mate < 0 else '+'}M{2 * abs(mate) - (mate > 0)}"
    else:
        score = pawns_text(sign * (thought.score_cp or 0), None, signed=True) or ""
    ms = thought.time_ms if ply.elapsed_ms is None or ply.precision_code in ELAPSED_DERIVED else ply.elapsed_ms
    if ms is None or ms < 0:
        return f"{score}/{thought.depth}"
    whole = ply.elapsed_ms == ms and ply.precision_code not in EXACT
    return f"{score}/{thought.depth}{GLUE}{ms // 1000 if whole else short_seconds(ms)}s"


_DEPTH = "[%depth"  # belongs to an evaluation before it
_BRACES = str.maketrans("{}", "()")


class Item(NamedTuple):
    """Without braces; ``bare``: only times or other commands."""

    text: str
    bare: bool = False


def brace_text(text: str) -> str:
    """No braces, which PGN cannot escape; no ``[%`` (a command), no ``%`` at the start of a line (an escape)."""
    text = with_bars(" ".join(readable(text).translate(_BRACES).split()))
    return text.replace("[%", "[ %").replace(" %", GLUE + "%")


def brace_comment(text: str) -> str:
    return comment_of([Item(brace_text(text))])


def comment_of(items: Sequence[Item], pad: str = "") -> str:
    """Items are separated by ``|`` where they could be read as one; ``split_remark`` takes the comment apart again."""
    parts: list[str] = []
    alone = True
    for item in items:
        if not alone or (parts and item.text.startswith(_DEPTH)):
            parts.append("|")
        parts.append(item.text)
        alone = item.bare and not item.text.startswith(_DEPTH)
    return f"{{{pad}{' '.join(parts)}{pad}}}"
