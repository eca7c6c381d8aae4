"""PGN, built directly from the plies.

Styles: ``default`` (80 columns, handles in the reason, real clocks) and ``fics`` (the shape of the FICS games
database: one movetext line, elapsed times only, colours in the reason).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import count

from exporters.base import ExportReport, GameExporter
from exporters.pgn.annotations import (
    Annotation,
    Extras,
    Item,
    Variation,
    brace_comment,
    brace_text,
    comment_of,
    find_extras,
)
from exporters.pgn.parts import PgnPart, cut_into_parts, named_as, parts_around
from exporters.pgn.tags import KEY_TAG, add_losses, as_crazyhouse, fics_tags, is_saved, tags
from recorder.errors import ExportError
from recorder.model import ELAPSED_DERIVED, EXACT, Game, GameEnd, GameKind, Ply, Proof
from recorder.model.plies import ShownPlies
from recorder.movetext import GLUE, LINE_LENGTH, move_number, movetext, timed_move
from recorder.rules.variants import known_start, variant_of
from recorder.times import decimal_seconds, hms, short_seconds

CLOCK_WORDS = ("clk", "emt", "lag")
STYLES = ("default", "fics", "lichess")
_INFERRED = Proof.INFERRED.value
_NOTHING = Annotation()
ENDS = {
    GameEnd.ADJOURNED: "Game adjourned",
    GameEnd.ABORTED: "Game aborted",
    GameEnd.LOST_FEED: "Connection lost",
    GameEnd.UNOBSERVED: "No longer observed",
    GameEnd.LOG_ENDS: "Log ends here",
    GameEnd.REUSED: "Game number taken by another game",
}
_Annotate = Callable[[Ply], Item | None]


@dataclass(frozen=True, slots=True)
class PgnOptions:
    """How to write PGN.

    Attributes:
        clock: which of ``clk`` (mover's clock after the move), ``emt`` (elapsed), ``lag`` to write; empty for none.
            The fics style writes elapsed times in its own form, or with an empty ``clock`` none.
        style: ``default``, ``fics`` or ``lichess`` (the mover's clock in whole seconds and no other time).
        variations: write taken-back plies as variations; those of examined games are always written.
        comments: write chat as comments; a saved game's own are always written.
        engine: write what engines thought of the moves as comments: ``%eval``, ``%depth`` and the line.
        analysis: which analysis counts more than that: of an engine whose name begins so; empty: the one that covers
            most of the game; None: none.
        as_crazyhouse: write boards of bughouse so that programs for crazyhouse can play them.
        engine_comments: write what engines thought of the moves as cutechess does, ``{+0.35/21 1.9s}``, in front.
    """

    clock: frozenset[str] = frozenset(("clk", "emt"))
    style: str = "default"
    variations: bool = False
    comments: bool = False
    engine: bool = False
    analysis: str | None = ""
    as_crazyhouse: bool = False
    engine_comments: bool = False

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise ExportError(f"PGN style {self.style!r} is not known; use one of {', '.join(STYLES)}.")
        if unknown := sorted(self.clock - set(CLOCK_WORDS)):
            raise ExportError(f"Clock comment {unknown[0]!r} is not known; use any of {', '.join(CLOCK_WORDS)}.")

    @property
    def whole_plies(self) -> bool:
        """An archive reads less without whole plies."""
        return self.engine or self.engine_comments or ("lag" in self.clock and self.style != "fics")


class PgnExporter(GameExporter):
    """Games of ``in_progress`` are still being recorded, and their text says so."""

    suffix = ".pgn"

    def __init__(self, options: PgnOptions | None = None, in_progress: Collection[str] = ()) -> None:
        self.options = options or PgnOptions()
        self._in_progress = in_progress
        self.report = ExportReport()
        self.key_mark = None if self.options.style == "fics" else f'[{KEY_TAG} "'
        self._fics = self.options.style == "fics"
        self._annotate: _Annotate = _annotator(self.options)
        self._annotate_thought = _annotator(replace(self.options, clock=self.options.clock - {"emt"}))
        self._pad = GLUE if self.options.style == "lichess" else ""
        self._usual = self.options.style == "default" and self.options.clock == {"clk", "emt"}

    def game_text(self, game: Game) -> str:
        """As many PGN games as it has parts, each followed by its blank lines."""
        parts = cut_into_parts(game)
        main = len(parts)
        if game.kind is not GameKind.PLAYED:
            parts, main = parts_around(game, parts)
        if self.options.as_crazyhouse and game.variant == "bughouse":
            game, parts = as_crazyhouse(game, parts)
        report = self.report
        if _is_nowhere_known(game, parts):
            report.excluded["games without a known position"] += 1
            return ""
        report.games += 1
        for part in parts:
            report.plies += part.count
            if part.unproved or part.before:
                report.excluded["plies not proved"] += len(part.unproved) + len(part.before)
        if is_saved(game):
            options = self.options
            lichess = options.style == "lichess"
            add_losses(report.excluded, game, clock=options.clock, fics=self._fics, lichess=lichess)
        make = self._fics_text if self._fics else self._default_text
        if len(parts) == 1:
            return make(game, parts[0], 1, 1, True)
        return "".join(
            make(named_as(game, part), part, number, len(parts), number == main) for number, part in enumerate(parts, 1)
        )

    def _default_text(self, game: Game, part: PgnPart, number: int, count: int, last: bool) -> str:
        begun, tokens, annotator = self._movetext(game, part)
        reason = game.reason or self._end_of(game)
        if last and reason:
            tokens.append(brace_comment(reason))
        elif not last and part.beside is None:
            tokens.append("{Moves are missing here}")
        tokens.append(game.result if last else "*")
        rest = wrap(" ".join(tokens), len(begun) - begun.rfind("\n") - 1)
        going_on = game.key in self._in_progress
        head = tags(game, part, number, count, last, annotator, in_progress=going_on)
        return f"{head}\n{begun}{rest}\n\n"

    def _end_of(self, game: Game) -> str | None:
        """What ends in the middle of a PGN file has no words."""
        if game.key in self._in_progress:
            return "Game in progress"
        return None if game.end is GameEnd.LOG_ENDS and is_saved(game) else ENDS.get(game.end)

    def _fics_text(self, game: Game, part: PgnPart, _number: int, _count: int, last: bool) -> str:
        part.line = _with_fics_san(part.plies, game.variant)
        _, tokens, annotator = self._movetext(game, part)
        tokens = tokens or [""]
        reason = game.reason or self._end_of(game)
        if last and reason:
            tokens.append(brace_comment(colours_for_handles(reason, game.white.handle, game.black.handle)))
        tokens.append(game.result if last else "*")
        text = f"{fics_tags(game, part, last, annotator)}\n{' '.join(tokens).replace(GLUE, ' ')}\n\n\n"
        return text.replace("\n", "\r\n")

    def _movetext(self, game: Game, part: PgnPart) -> tuple[str, list[str], str | None]:
        """Movetext that is in lines already, what comes behind it, and whose analysis it has."""
        options = self.options
        extras = None
        saved = is_saved(game)  # its comments are its own
        more = options.variations or options.comments or options.engine or options.engine_comments or saved
        if more or any(len(observation.lines) > 1 for observation in game.observations):
            extras = find_extras(
                game,
                part,
                variations=options.variations,
                comments=options.comments or saved,
                engine=options.engine or options.engine_comments or saved,
                as_comments=options.engine_comments,
                analysis=options.analysis if options.engine or options.engine_comments else None,
                written=self._written,
            )
        annotations = {} if extras is None else extras.annotations
        annotation = annotations.get(part.start_ply, Annotation())
        items = [*([] if part.remark is None else [Item(part.remark)]), *annotation.items]
        tokens: list[str] = []
        if part.before and not self._fics:
            earlier = {ply: annotations[ply] for ply in annotations if ply < part.start_ply}
            self._unproved(part.before, earlier, tokens, saved)
        tokens += [*annotation.nags, *([comment_of(items, self._pad)] if items else [])]
        plies = part.shown
        begun = movetext(*plies) if self._usual and extras is None and not tokens else None
        if begun is None:
            self._moves(part, plies, tokens, extras)
        if part.unproved and not self._fics:
            self._unproved(part.unproved, annotations, tokens, saved)
        return begun or "", tokens, None if extras is None else extras.annotator

    def _moves(self, part: PgnPart, plies: ShownPlies, tokens: list[str], extras: Extras | None) -> None:
        """The first of Black's gets its ``12...``."""
        usual = self._usual
        interrupted = True
        for number, san, clock_ms, elapsed_ms in zip(count(plies.first), plies.sans, plies.clocks_ms, plies.elapsed_ms):
            move = f"{_number(number)}{san}" if number & 1 or interrupted else san
            annotation = None if extras is None else extras.annotations.get(number)
            timed = timed_move(move, clock_ms, elapsed_ms) if usual and annotation is None else None
            if timed is None:
                interrupted = self._move(part.ply(number), tokens, interrupted, annotation)
            else:
                tokens.append(timed)
                interrupted = True
            if extras is not None and number in extras.variations:
                self._add_variations(extras.variations[number], tokens)
                interrupted = True

    def _move(self, ply: Ply, tokens: list[str], interrupted: bool, annotation: Annotation | None) -> bool:
        """True if something stands between the move and the next one."""
        thought = "" if annotation is None else annotation.thought
        times = (self._annotate_thought if thought else self._annotate)(ply)
        words = [f"{_number(ply.ply)}{ply.san}" if ply.white_moved or interrupted else ply.san]
        items = [] if times is None else [times]
        if annotation is not None:
            words += [*annotation.nags, *([comment_of([Item(thought)])] if thought else [])]
            items += annotation.items
        if items:
            words.append(comment_of(items, self._pad))
        tokens.append(" ".join(words))
        return annotation is not None or (times is not None and not self._fics)

    def _unproved(self, plies: list[Ply], annotations: dict[int, Annotation], tokens: list[str], saved: bool) -> None:
        """In comments; those of a saved game with marks and clocks."""
        words: list[str] = []
        for ply in plies:
            annotation = annotations.get(ply.ply, _NOTHING)
            words += [f"{_number(ply.ply)}{ply.san}", *annotation.nags]
            clock_ms = ply.clock_ms
            if saved and clock_ms is not None and "clk" in self.options.clock:
                words.append(f"{'-' if clock_ms < 0 else ''}{hms(abs(clock_ms), ply.precision_code in EXACT)}")
            if annotation.items or ply is plies[-1]:
                tokens.append(brace_comment(f"Not proved: {' '.join(words)}"))
                words = []
            if annotation.items:
                tokens.append(comment_of(annotation.items, self._pad))

    def _written(self, variation: Variation) -> str:
        tokens: list[str] = []
        self._add_variations([variation], tokens)
        return " ".join(tokens)[1:-1]

    def _add_variations(self, variations: list[Variation], tokens: list[str]) -> None:
        for line in variations:
            # Not by calling itself: lectures branch more deeply than Python calls.
            running = [self._variation(line, tokens)]
            while running:
                inner = next(running[-1], None)
                if inner is None:
                    running.pop()
                else:
                    running.append(self._variation(inner, tokens))

    def _variation(self, line: Variation, tokens: list[str]) -> Iterator[Variation]:
        """In its parentheses; stops at each variation inside it until that is written."""
        begin = len(tokens)
        interrupted = True
        for no, children in line.children.items():
            if asides := [child for child in children if not child.plies or not line.plies or no > line.plies[-1].ply]:
                line.annotations.setdefault(no, Annotation()).items += [
                    Item(brace_text(f"Variation: {self._written(child)}")) for child in asides
                ]
        tokens += [*line.before.nags, *([comment_of(line.before.items, self._pad)] if line.before.items else [])]
        for ply in line.plies:
            interrupted = self._move(ply, tokens, interrupted, line.annotations.get(ply.ply))
            after = len(tokens)
            yield from (child for child in line.children.get(ply.ply, ()) if child.plies)
            interrupted = interrupted or len(tokens) > after
        if line.unproved:
            self._unproved(line.unproved, line.annotations, tokens, True)
        tokens[begin] = f"({tokens[begin]}"
        tokens[-1] += ")"


def _is_nowhere_known(game: Game, parts: list[PgnPart]) -> bool:
    """The game was joined late and its start is drawn for each game."""
    part = parts[0]
    if len(parts) > 1 or part.rows or not part.unproved or part.fen is not None or is_saved(game):
        return False
    return bool(part.start_ply) or known_start(game.category, variant_of(game.category)[1]) is None


def _number(ply: int) -> str:
    """``12. `` before White's move, ``12... `` before Black's."""
    return f"{move_number(ply)} "


def _annotator(options: PgnOptions) -> _Annotate:
    if options.style == "fics":
        return _fics_comment if options.clock else _no_comment
    if options.style == "lichess":
        return _lichess_comment if "clk" in options.clock else _no_comment
    words = options.clock

    def annotate(ply: Ply) -> Item | None:
        return _comment(ply, "clk" in words, "emt" in words, "lag" in words)

    return annotate


def _comment(ply: Ply, clk: bool, emt: bool, lag: bool) -> Item | None:
    """Any comment. A negative clock is 0 plus ``[%flag -0.917]``: readers of ``%clk`` take no sign."""
    words = []
    exact = ply.precision_code in EXACT
    clock_ms = ply.clock_ms
    if clk and clock_ms is not None:
        words.append(f"[%clk{GLUE}{hms(max(clock_ms, 0), exact and clock_ms >= 0)}]")
        if clock_ms < 0:
            words.append(f"[%flag{GLUE}{decimal_seconds(clock_ms, exact)}]")
    if emt and ply.elapsed_ms is not None and ply.elapsed_ms >= 0 and ply.precision_code not in ELAPSED_DERIVED:
        words.append(f"[%emt{GLUE}{hms(ply.elapsed_ms, exact)}]")
    if lag and ply.lag_ms is not None:
        words.append(f"[%lag{GLUE}{decimal_seconds(ply.lag_ms)}]")
    inferred = ply.proof_code == _INFERRED
    if inferred:
        words.append("inferred")
    return Item(" ".join(words), bare=not inferred) if words else None


def _fics_comment(ply: Ply) -> Item | None:
    if ply.elapsed_ms is None or ply.precision_code in ELAPSED_DERIVED:
        return None
    return Item(f"[%emt {short_seconds(ply.elapsed_ms)}]", bare=True)


def _lichess_comment(ply: Ply) -> Item | None:
    clock_ms = ply.clock_ms
    return None if clock_ms is None else Item(f"[%clk{GLUE}{hms(max(clock_ms, 0), False)}]", bare=True)


def _with_fics_san(plies: list[Ply], variant: str | None) -> list[Ply]:
    """SAN as the archive writes it: pawn drops ``P@e4``; no check or mate signs in suicide, where there is no check."""
    if variant == "suicide":
        plies = [ply._replace(san=ply.san.rstrip("+#")) if ply.san[-1:] in "+#" else ply for ply in plies]
    return [ply._replace(san=f"P{ply.san}") if ply.san[:1] == "@" else ply for ply in plies]


def _no_comment(_: Ply) -> Item | None:
    return None


_LINE = re.compile(rf"(.{{1,{LINE_LENGTH}}}|[^ ]{{{LINE_LENGTH + 1},}})(?: |\Z)", re.DOTALL)


def colours_for_handles(reason: str, white: str, black: str) -> str:
    """A handle is at the start of the reason, or between `` and `` and `` has ``: it may be a word of the reason."""
    for handle, colour in ((white, "White"), (black, "Black")):
        if not handle:
            continue
        name = re.escape(handle)
        reason = re.sub(rf"^{name}(?=[ '])", colour, reason, count=1)
        reason = re.sub(rf" and {name}(?= has )", f" and {colour}", reason, count=1)
    return reason


def wrap(text: str, column: int = 0) -> str:
    """At most 79 characters a line, a longer word whole; ``column``: how many the line has already."""
    if column:
        return wrap(f"{'-' * column} {text}")[column:]
    return "\n".join(_LINE.findall(text)).replace(GLUE, " ")
