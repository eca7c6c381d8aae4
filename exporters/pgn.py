"""PGN, built directly from the plies.

Styles: ``default`` (80 columns, handles in the reason, real clocks) and ``fics`` (the shape of the FICS games
database: one movetext line, elapsed times only, colours in the reason).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import BinaryIO

from exporters.base import ExportReport
from exporters.parts import Part, cut_into_parts
from exporters.pgn_extras import Extras, find_extras
from exporters.pgn_tags import KEY_TAG, fics_tags, tags
from exporters.pgn_text import GLUE, brace_comment, colours_for_handles, wrap
from exporters.times import HMS, THOUSANDTHS, decimal_seconds, hms, short_seconds
from recorder.errors import ExportError
from recorder.model import Game, Ply, Precision, Proof

__all__ = ["CLOCK_WORDS", "STYLES", "PgnExporter", "PgnOptions"]

CLOCK_WORDS = ("clk", "emt", "lag")
STYLES = ("default", "fics")
_MILLISECONDS = Precision.MILLISECONDS.value
_INFERRED = Proof.INFERRED.value
_ENDS = {
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
        style: ``default`` or ``fics``.
        variations: write taken-back plies as variations. comments: write chat as comments.
    """

    clock: frozenset[str] = frozenset(("clk", "emt"))
    style: str = "default"
    variations: bool = False
    comments: bool = False

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise ExportError(f"PGN style {self.style!r} is not known; use one of {', '.join(STYLES)}.")
        if unknown := sorted(self.clock - set(CLOCK_WORDS)):
            raise ExportError(f"Clock comment {unknown[0]!r} is not known; use any of {', '.join(CLOCK_WORDS)}.")


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
        self._usual = self._annotate is _clk_emt

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
        report = self.report
        report.games += 1
        for part in parts:
            report.plies += len(part.plies)
            if part.unproved:
                report.left_out["plies not proved"] += len(part.unproved)
        one = self._fics_text if self._fics else self._default_text
        if len(parts) == 1:
            return one(game, parts[0], 1, 1)
        return "".join(one(game, part, number, len(parts)) for number, part in enumerate(parts, 1))

    def _default_text(self, game: Game, part: Part, number: int, count: int) -> str:
        last = number == count
        tokens = self._movetext(game, part)
        if part.unproved:
            moves = " ".join(f"{_number(ply)}{GLUE}{ply.san}" for ply in part.unproved)
            tokens.append(brace_comment(f"Not proved: {moves.replace(GLUE, ' ')}"))
        reason = game.reason or _ENDS.get(game.end)
        if not last:
            tokens.append("{Moves are missing here}")
        elif reason:
            tokens.append(brace_comment(reason))
        tokens.append(game.result if last else "*")
        return f"{tags(game, part, number, count)}\n{wrap(' '.join(tokens))}\n\n"

    def _fics_text(self, game: Game, part: Part, number: int, count: int) -> str:
        last = number == count
        part.plies = [ply._replace(san=_fics_san(ply.san, game.variant)) for ply in part.plies]
        tokens = self._movetext(game, part) or [""]
        reason = game.reason or _ENDS.get(game.end)
        if last and reason:
            tokens.append(brace_comment(colours_for_handles(reason, game.white.handle, game.black.handle)))
        tokens.append(game.result if last else "*")
        text = f"{fics_tags(game, part, last)}\n{' '.join(tokens).replace(GLUE, ' ')}\n\n\n"
        return text.replace("\n", "\r\n")

    def _movetext(self, game: Game, part: Part) -> list[str]:
        options = self.options
        extras = None
        if options.variations or options.comments:
            extras = find_extras(game, part, options.variations, options.comments)
        tokens: list[str] = []
        if extras is not None and part.start_ply in extras.comments:
            tokens += extras.comments[part.start_ply]
        if extras is None and self._usual:
            _usual_moves(part.plies, tokens)
        elif part.plies:
            self._moves(part.plies, tokens, extras)
        return tokens

    def _moves(self, plies: list[Ply], tokens: list[str], extras: Extras | None) -> None:
        """Append moves with their comments to ``tokens``; the first of Black's gets its ``12...``."""
        add, annotate, fics = tokens.append, self._annotate, self._fics
        interrupted = True
        for ply in plies:
            number = ply[0]
            if number & 1:
                add(f"{(number + 1) >> 1}. {ply[2]}")
            elif interrupted:
                add(f"{number >> 1}... {ply[2]}")
            else:
                add(ply[2])
            comment = annotate(ply)
            if comment:
                add(comment)
            interrupted = bool(comment) and not fics
            if extras is not None:
                more = extras.comments.get(number, [])
                tokens += more
                for line in extras.variations.get(number, []):
                    inside: list[str] = []
                    self._moves(line.plies, inside, extras.of(line))
                    tokens.append(f"({' '.join(inside)})")
                    interrupted = True
                interrupted = interrupted or bool(more)


def _number(ply: Ply) -> str:
    return f"{(ply.ply + 1) // 2}{'.' if ply.white_moved else '...'}"


def _annotator(options: PgnOptions) -> _Annotate:
    if options.style == "fics":
        return _fics_comment if options.clock else _no_comment
    if options.clock == {"clk", "emt"}:
        return _clk_emt
    words = options.clock

    def annotate(ply: Ply) -> str:
        return _comment(ply, "clk" in words, "emt" in words, "lag" in words)

    return annotate


def _clk_emt(ply: Ply) -> str:
    return _comment(ply, True, True, False)


def _usual_moves(plies: list[Ply], tokens: list[str]) -> None:
    """What ``_moves`` gives for clock and elapsed time without extras, in one loop: nearly every export is this.

    Whatever is uncommon about a ply goes the long way.
    """
    add, clocks, thousandths = tokens.append, HMS, THOUSANDTHS
    interrupted = True
    for ply in plies:
        number, _, san, clock_ms, black_ms, elapsed_ms, _, _, _, _, proof, _, precision, _ = ply
        if number & 1:
            move = f"{(number + 1) >> 1}. {san}"
        else:
            clock_ms = black_ms
            move = f"{number >> 1}... {san}" if interrupted else san
        if (
            clock_ms is None
            or elapsed_ms is None
            or clock_ms < 0
            or elapsed_ms < 0
            or proof == _INFERRED
            or not precision
        ):
            comment = _clk_emt(ply)
            add(f"{move} {comment}" if comment else move)
            interrupted = bool(comment)
        else:
            add(
                f"{move} {{[%clk\x01{clocks[clock_ms // 1000]}{thousandths[clock_ms % 1000]}] "
                f"[%emt\x01{clocks[elapsed_ms // 1000]}{thousandths[elapsed_ms % 1000]}]}}"
            )
            interrupted = True


def _comment(ply: Ply, clk: bool, emt: bool, lag: bool) -> str:
    """Any comment. A negative clock is 0 plus ``[%flag -0.917]``: readers of ``%clk`` take no sign."""
    words = []
    exact = ply.precision == _MILLISECONDS
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


def _fics_san(san: str, variant: str | None) -> str:
    """SAN as the archive writes it: pawn drops ``P@e4``; no check or mate signs in suicide, where there is no check."""
    if variant == "suicide":
        san = san.rstrip("+#")
    return f"P{san}" if san.startswith("@") else san


def _no_comment(_: Ply) -> str:
    return ""
