"""PGN, built directly from the plies.

Styles: ``default`` (80 columns, handles in the reason, real clocks) and ``fics`` (the shape of the FICS games
database: one movetext line, elapsed times only, colours in the reason).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import BinaryIO

from exporters.base import ExportReport
from exporters.parts import Part, cut_into_parts
from exporters.parts_beside import named_as, parts_beside
from exporters.pgn_bughouse import as_crazyhouse
from exporters.pgn_extras import Extras, Variation, find_extras
from exporters.pgn_saved import add_losses, is_saved
from exporters.pgn_tags import KEY_TAG, fics_tags, tags
from exporters.pgn_text import GLUE, brace_comment, colours_for_handles, wrap
from exporters.times import decimal_seconds, hms, short_seconds
from recorder.errors import ExportError
from recorder.model import Game, GameKind, Ply, Precision, Proof
from recorder.movetext import move_number, movetext, timed_move
from recorder.shown import ShownPlies

__all__ = ["CLOCK_WORDS", "ENDS", "STYLES", "PgnExporter", "PgnOptions"]

CLOCK_WORDS = ("clk", "emt", "lag")
STYLES = ("default", "fics", "lichess")
_EXACT = (Precision.MILLISECONDS.value, Precision.DERIVED_MILLISECONDS.value)
_INFERRED = Proof.INFERRED.value
ENDS = {
    "adjourned": "Game adjourned",
    "aborted": "Game aborted",
    "lost-feed": "Connection lost",
    "unobserved": "No longer observed",
    "log-ends": "Log ends here",
    "reused": "Game number taken by another game",
}

_Annotate = Callable[[Ply], str]


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
    """

    clock: frozenset[str] = frozenset(("clk", "emt"))
    style: str = "default"
    variations: bool = False
    comments: bool = False
    engine: bool = False
    analysis: str | None = ""
    as_crazyhouse: bool = False

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise ExportError(f"PGN style {self.style!r} is not known; use one of {', '.join(STYLES)}.")
        if unknown := sorted(self.clock - set(CLOCK_WORDS)):
            raise ExportError(f"Clock comment {unknown[0]!r} is not known; use any of {', '.join(CLOCK_WORDS)}.")

    @property
    def whole_plies(self) -> bool:
        """Whether more than moves, clocks, elapsed times and their proof is written: an archive reads less without."""
        return self.engine or ("lag" in self.clock and self.style != "fics")


class PgnExporter:
    """Writes games as PGN in UTF-8.

    ``game_text`` gives one game's text (all its parts); ``write`` streams many. Both count in ``report``.
    """

    suffix = ".pgn"

    def __init__(self, options: PgnOptions | None = None) -> None:
        self.options = options or PgnOptions()
        self.report = ExportReport()
        self.key_mark = None if self.options.style == "fics" else f'[{KEY_TAG} "'
        self._fics = self.options.style == "fics"
        self._annotate: _Annotate = _annotator(self.options)
        self._usual = self.options.style == "default" and self.options.clock == {"clk", "emt"}

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write games in their order.

        Returns:
            The report; ``left_out`` counts plies that no proof allows to write as moves.
        """
        text, write = self.game_text, out.write
        for game in games:
            write(text(game).encode("utf-8", "replace"))
        return self.report

    def game_text(self, game: Game) -> str:
        """The text of one game: as many PGN games as it has parts, each followed by its blank lines."""
        parts = cut_into_parts(game)
        main = len(parts)
        if game.kind is not GameKind.PLAYED:
            parts += parts_beside(game)
        if self.options.as_crazyhouse and game.variant == "bughouse":
            game, parts = as_crazyhouse(game, parts)
        report = self.report
        report.games += 1
        for part in parts:
            report.plies += part.count
            if part.unproved:
                report.left_out["plies not proved"] += len(part.unproved)
        if is_saved(game):
            options = self.options
            lichess = options.style == "lichess"
            add_losses(report.left_out, game, clock=options.clock, fics=self._fics, lichess=lichess)
        one = self._fics_text if self._fics else self._default_text
        if len(parts) == 1:
            return one(game, parts[0], 1, 1, True)
        return "".join(
            one(named_as(game, part), part, number, len(parts), number == main) for number, part in enumerate(parts, 1)
        )

    def _default_text(self, game: Game, part: Part, number: int, count: int, last: bool) -> str:
        begun, tokens, annotator = self._movetext(game, part)
        if part.unproved:
            moves = " ".join(f"{_number(ply.ply)}{ply.san}" for ply in part.unproved)
            tokens.append(brace_comment(f"Not proved: {moves}"))
        reason = game.reason or _end_of(game)
        if last and reason:
            tokens.append(brace_comment(reason))
        elif not last and part.beside is None:
            tokens.append("{Moves are missing here}")
        tokens.append(game.result if last else "*")
        rest = wrap(" ".join(tokens), len(begun) - begun.rfind("\n") - 1)
        return f"{tags(game, part, number, count, last, annotator)}\n{begun}{rest}\n\n"

    def _fics_text(self, game: Game, part: Part, _number: int, _count: int, last: bool) -> str:
        part.line = _with_fics_san(part.plies, game.variant)
        _, tokens, annotator = self._movetext(game, part)
        tokens = tokens or [""]
        reason = game.reason or _end_of(game)
        if last and reason:
            tokens.append(brace_comment(colours_for_handles(reason, game.white.handle, game.black.handle)))
        tokens.append(game.result if last else "*")
        text = f"{fics_tags(game, part, last, annotator)}\n{' '.join(tokens).replace(GLUE, ' ')}\n\n\n"
        return text.replace("\n", "\r\n")

    def _movetext(self, game: Game, part: Part) -> tuple[str, list[str], str | None]:
        """The moves with what stands between them, and the engine whose analysis does.

        Returns:
            Text that is in lines already, what comes behind it, and the engine's name.
        """
        options = self.options
        extras = None
        saved = is_saved(game)  # its comments are its own
        more = options.variations or options.comments or options.engine or saved
        if more or any(len(seen.lines) > 1 for seen in game.observations):
            extras = find_extras(
                game,
                part,
                variations=options.variations,
                comments=options.comments or saved,
                engine=options.engine or saved,
                analysis=options.analysis if options.engine else None,
            )
        tokens = [] if part.remark is None else [part.remark]
        if extras is not None and part.start_ply in extras.comments:
            tokens += extras.comments[part.start_ply]
        plies = part.shown
        begun = movetext(*plies) if self._usual and extras is None and not tokens else None
        if begun is None:
            self._moves(part, plies, tokens, extras)
        return begun or "", tokens, None if extras is None else extras.annotator

    def _moves(self, part: Part, plies: ShownPlies, tokens: list[str], extras: Extras | None) -> None:
        """Append moves with their comments to ``tokens``; the first of Black's gets its ``12...``."""
        usual = self._usual
        interrupted = True
        for number, san, clock_ms, elapsed_ms in zip(count(plies.first), plies.sans, plies.clocks_ms, plies.elapsed_ms):
            move = f"{_number(number)}{san}" if number & 1 or interrupted else san
            timed = timed_move(move, clock_ms, elapsed_ms) if usual else None
            if timed is None:
                interrupted = self._move(part.ply(number), tokens, interrupted)
            else:
                tokens.append(timed)
                interrupted = True
            if extras is not None and self._add_extras(number, tokens, extras):
                interrupted = True

    def _move(self, ply: Ply, tokens: list[str], interrupted: bool) -> bool:
        """Append any move; True if something stands between it and the next one."""
        comment = self._annotate(ply)
        move = f"{_number(ply.ply)}{ply.san}" if ply.white_moved or interrupted else ply.san
        tokens.append(f"{move} {comment}" if comment else move)
        return not self._fics and comment != ""

    def _add_extras(self, number: int, tokens: list[str], extras: Extras) -> bool:
        """Append what stands after a ply; True if there was anything."""
        before = len(tokens)
        tokens += extras.comments.get(number, ())
        for line in extras.variations.get(number, ()):
            # Not by calling itself: lectures branch more deeply than Python calls.
            running = [self._variation(line, tokens)]
            while running:
                inner = next(running[-1], None)
                if inner is None:
                    running.pop()
                else:
                    running.append(self._variation(inner, tokens))
        return len(tokens) > before

    def _variation(self, line: Variation, tokens: list[str]) -> Iterator[Variation]:
        """Append a variation in its parentheses; stops at each one inside it until that is written."""
        begin = len(tokens)
        interrupted = True
        for ply in line.plies:
            interrupted = self._move(ply, tokens, interrupted)
            after = len(tokens)
            tokens += line.comments.get(ply.ply, ())
            yield from line.children.get(ply.ply, ())
            interrupted = interrupted or len(tokens) > after
        tokens[begin] = f"({tokens[begin]}"
        tokens[-1] += ")"


def _number(ply: int) -> str:
    """``12. `` before White's move, ``12... `` before Black's."""
    return f"{move_number(ply)} "


def _end_of(game: Game) -> str | None:
    """How it ended, in our words; what ends in the middle of a PGN file has none."""
    return None if game.end == "log-ends" and is_saved(game) else ENDS.get(game.end)


def _annotator(options: PgnOptions) -> _Annotate:
    if options.style == "fics":
        return _fics_comment if options.clock else _no_comment
    if options.style == "lichess":
        return _lichess_comment if "clk" in options.clock else _no_comment
    words = options.clock

    def annotate(ply: Ply) -> str:
        return _comment(ply, "clk" in words, "emt" in words, "lag" in words)

    return annotate


def _comment(ply: Ply, clk: bool, emt: bool, lag: bool) -> str:
    """Any comment. A negative clock is 0 plus ``[%flag -0.917]``: readers of ``%clk`` take no sign."""
    words = []
    exact = ply.precision in _EXACT
    clock_ms = ply.white_clock_ms if ply.white_moved else ply.black_clock_ms
    if clk and clock_ms is not None:
        words.append(f"[%clk{GLUE}{hms(max(clock_ms, 0), exact and clock_ms >= 0)}]")
        if clock_ms < 0:
            words.append(f"[%flag{GLUE}{decimal_seconds(clock_ms, exact)}]")
    if emt and ply.elapsed_ms is not None and ply.elapsed_ms >= 0:
        words.append(f"[%emt{GLUE}{hms(ply.elapsed_ms, exact)}]")
    if lag and ply.lag_ms is not None:
        words.append(f"[%lag{GLUE}{decimal_seconds(ply.lag_ms)}]")
    if ply.proof == _INFERRED:
        words.append("inferred")
    return f"{{{' '.join(words)}}}" if words else ""


def _fics_comment(ply: Ply) -> str:
    return "" if ply.elapsed_ms is None else f"{{[%emt {short_seconds(ply.elapsed_ms)}]}}"


def _lichess_comment(ply: Ply) -> str:
    clock_ms = ply.white_clock_ms if ply.white_moved else ply.black_clock_ms
    return "" if clock_ms is None else f"{{{GLUE}[%clk{GLUE}{hms(max(clock_ms, 0), False)}]{GLUE}}}"


def _with_fics_san(plies: list[Ply], variant: str | None) -> list[Ply]:
    """SAN as the archive writes it: pawn drops ``P@e4``; no check or mate signs in suicide, where there is no check."""
    if variant == "suicide":
        plies = [ply._replace(san=ply.san.rstrip("+#")) if ply.san[-1:] in "+#" else ply for ply in plies]
    return [ply._replace(san=f"P{ply.san}") if ply.san[:1] == "@" else ply for ply in plies]


def _no_comment(_: Ply) -> str:
    return ""
