"""BPGN: both boards of a bughouse match in one movetext, in the order in which their moves were made.

``1A. e4{179.051}`` in one line with thousandths, as the bughouse database writes it; ``1B. e4 {179}`` in lines of 79
characters, directly behind the tags, with whole seconds, as clients do. Version 1.2's ``[Lag "…"]`` has a number for
each half-move in the order of the movetext.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from exporters.base import ExportReport, GameExporter
from exporters.pgn.exporter import ENDS, wrap
from exporters.pgn.tags import event_name, is_saved, readable, tag, with_corrected_tags
from recorder.corrections import hidden_tags
from recorder.errors import ExportError
from recorder.model import (
    EXACT,
    EventKind,
    Game,
    GameEnd,
    GameEvent,
    LineKind,
    LinkKind,
    Player,
    TimeBasis,
)
from recorder.movetext import GLUE
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import Match, MatchMoment, board_order, timeline
from recorder.times import decimal_seconds, start_of_second

CLOCK_WORDS = ("clk", "lag")
_KEY_TAGS = ("RecorderKeyA", "RecorderKeyB")
_FLIPPED = {"1-0": "0-1", "0-1": "1-0"}
_OF_THE_PARTNER = "partner-"  # how the keys of reasons begin that are not those of this board
_OWN_TAGS = frozenset(("Event", "Site", "Date", "Time", "TimeControl", "Lag", "Result", *_KEY_TAGS))
_NORMAL_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
_CHAT_VERBS = {"kibitz": "kibitzes", "whisper": "whispers", "say": "says", "partner-tell": "(partner) tells"}
_UNKNOWN_PLAYER = Player("?")


@dataclass(frozen=True, slots=True)
class BpgnOptions:
    """``comments``: chat; those of a saved match always are written. ``keys``: of saved matches, for ``--append``."""

    clock: frozenset[str] = frozenset(CLOCK_WORDS)
    comments: bool = False
    keys: bool = True

    def __post_init__(self) -> None:
        if unknown := sorted(self.clock - set(CLOCK_WORDS)):
            raise ExportError(f"BPGN has no {unknown[0]!r}; use any of {', '.join(CLOCK_WORDS)}, or none.")


class BpgnExporter(GameExporter):
    """Writes bughouse matches. A board whose partner was not recorded is written alone, as board A."""

    suffix = ".bpgn"
    key_mark = f'[{_KEY_TAGS[0]} "'

    def __init__(self, options: BpgnOptions | None = None) -> None:
        self.options = options or BpgnOptions()
        self.report = ExportReport()
        self._partners: dict[str, Game] = {}

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """In the order of their first games; ``excluded`` counts games that are not bughouse."""
        return super().write(self.take(games), out)

    def take(self, games: Iterable[Game]) -> list[Game]:
        """The games on board A, each its match's head. All bughouse is held: a match is known when both boards are."""
        held: list[Game] = []
        for game in games:
            if game.variant == "bughouse":
                held.append(game)
            else:
                self.report.excluded["not bughouse"] += 1
        heads: list[Game] = []
        matches, alone = find_matches(held)
        for match in matches:
            self._partners[match.a.key] = match.b
        first = {match.a.key: match.a for match in matches} | {game.key: game for game in alone}
        seconds = {match.b.key: match.a.key for match in matches}
        for game in held:
            head = first.pop(seconds.get(game.key, game.key), None)
            if head is not None:
                heads.append(head)
        return heads

    def boards(self, head: Game) -> list[Game]:
        """Board B may be unknown."""
        other = self._partners.get(head.key)
        return [head] if other is None else [head, other]

    def game_text(self, game: Game) -> str:
        """With its blank line; counts it in ``report``."""
        other = self._partners.get(game.key)
        match = Match(game, _without_moves(game) if other is None else other)
        moments = timeline(match)
        self.report.games += 1 if other is None else 2
        self.report.plies += len(moments)
        lines = [line for one in (match.a, match.b) for observation in one.observations for line in observation.lines]
        if any(varied := [line.kind is LineKind.VARIATION for line in lines]):
            self.report.excluded["variations"] += sum(varied)
        exact = any(moment.ply.precision_code in EXACT for moment in moments)
        comments = self._comments(match)
        head = "".join(f"{text}\n" for text in _known_order(match, moments) + comments.pop(("A", 0), []))
        head += "".join(f"{text}\n" for text in comments.pop(("B", 0), []))
        moves: list[str] = []
        for moment in moments:
            moves.append(self._move(moment, exact))
            moves += comments.get((moment.board, moment.ply.ply), ())
        body = " ".join(moves).replace(GLUE, " ") if exact else wrap(" ".join(moves))
        result = match.a.result if match.a.result != "*" else _FLIPPED.get(match.b.result, match.b.result)
        words = _reason(match)
        end = f"{{{words}}} {result}" if words else result
        tags = self._tags(match, moments, result, alone=other is None)
        gap = "\n" if exact else ""
        return "".join((tags, gap, head.replace(GLUE, " "), body, "\n" if body else "", end, "\n\n"))

    def _move(self, moment: MatchMoment, exact: bool) -> str:
        ply = moment.ply
        letter = moment.board if ply.white_moved else moment.board.lower()
        move = f"{(ply.ply + 1) // 2}{letter}.{GLUE}{ply.san}"
        clock_ms = ply.clock_ms
        if clock_ms is None or "clk" not in self.options.clock:
            return move
        return f"{move}{'' if exact else GLUE}{{{decimal_seconds(clock_ms, ply.precision_code in EXACT)}}}"

    def _tags(self, match: Match, moments: Sequence[MatchMoment], result: str, *, alone: bool) -> str:
        first = min((match.a, match.b), key=lambda game: (game.started_at_ms is None, game.started_at_ms or 0))
        begun, day = start_of_second(first), first.day
        hidden = hidden_tags(match.a)
        saved = {
            event.detail: event.text
            for event in match.a.events
            if event.kind is EventKind.TAG and event.detail not in hidden
        }
        tags = [
            tag("Event", saved.get("Event") or event_name(match.a)),
            tag("Site", saved.get("Site") or match.a.server or "?"),
        ]
        if first.time_basis is TimeBasis.UTC and begun and is_saved(match.a):
            tags.append(tag("UTCDate", f"{begun:%Y.%m.%d}") + tag("UTCTime", f"{begun:%H:%M:%S}"))
        else:
            tags.append(tag("Date", saved.get("Date") or (f"{day:%Y.%m.%d}" if day else "????.??.??")))
            tags += [tag("Time", f"{begun:%H:%M:%S}")] if begun and first.time_basis is not TimeBasis.CLOCK else []
        tags += [tag(name, text) for name, text in saved.items() if name not in _OWN_TAGS]
        fens = [match.a.start_fen, match.b.start_fen]
        if any(fens) and (is_saved(match.a) or not match.a.start_ply + match.b.start_ply):
            tags.append(tag("SetUp", "1") + tag("FEN", " | ".join(fen or _NORMAL_FEN for fen in fens)))
        for letter, game in (("A", match.a), ("B", match.b)):
            for side, player in (("White", game.white), ("Black", game.black)):
                if alone and letter == "B":
                    player = _UNKNOWN_PLAYER
                printed = player.rating_text if is_saved(game) else player.rating
                rating = "" if printed is None else tag(f"{side}{letter}Elo", str(printed))
                tags.append(tag(f"{side}{letter}", player.handle or "?").rstrip("\n") + (rating or "\n"))
        control = "?" if match.a.base_s is None else f"{match.a.base_s}+{match.a.increment_s or 0}"
        tags.append(tag("TimeControl", saved.get("TimeControl") or control))
        lags = [moment.ply.lag_ms for moment in moments]
        if "lag" in self.options.clock and any(lag is not None for lag in lags):
            tags.append(tag("Lag", " ".join("-" if lag is None else str(lag) for lag in lags)))
        if self.options.keys or not is_saved(match.a):
            tags.append(tag(_KEY_TAGS[0], match.a.key))
            tags += [] if alone else [tag(_KEY_TAGS[1], match.b.key)]
        tags.append(tag("Result", result))
        return with_corrected_tags("".join(tags), match.a)

    def _comments(self, match: Match) -> dict[tuple[str, int], list[str]]:
        """By the board and the half-move after which they stand."""
        comments: dict[tuple[str, int], list[str]] = {}
        for letter, game in (("A", match.a), ("B", match.b)):
            plies = {ply.ply for ply in game.plies}
            for event in game.events:
                if event.kind is not EventKind.CHAT:
                    continue
                text = _comment(event, self.options.comments)
                if text is not None and event.value is None:
                    after = max((ply for ply in plies if ply <= event.ply), default=0)
                    comments.setdefault((letter, after), []).append(text)
        return comments


def find_matches(games: Sequence[Game]) -> tuple[list[Match], list[Game]]:
    """By an archive's links, else by what the games show; and the rest."""
    by_key = {game.key: game for game in games}
    pairs = {
        tuple(sorted((game.key, link.key)))
        for game in games
        for link in game.links
        if link.kind is LinkKind.PARTNER and link.key in by_key
    }
    linked = {key for pair in pairs for key in pair}
    pairs |= {(one, other) for one, other, _ in pair_bughouse([game for game in games if game.key not in linked])}
    paired = {key for pair in pairs for key in pair}
    matches = [board_order(by_key[one], by_key[other]) for one, other in sorted(pairs)]
    return matches, [game for game in games if game.key not in paired]


def _without_moves(game: Game) -> Game:
    return replace(
        game,
        observations=[],
        segments=[],
        white=_UNKNOWN_PLAYER,
        black=_UNKNOWN_PLAYER,
        result="*",
        reason=None,
        start_ply=0,
    )


def _known_order(match: Match, moments: Sequence[MatchMoment]) -> list[str]:
    """What a reader must know of moves whose place or whose beginning is not known."""
    lines = []
    for letter, game in (("A", match.a), ("B", match.b)):
        if game.start_ply and not (game.start_fen and is_saved(game)):
            move = f"{game.start_ply // 2 + 1}{letter if game.start_ply % 2 == 0 else letter.lower()}"
            lines.append(f"{{C:board {letter} was seen from {move} on}}")
    uncertain = sum(not moment.certain for moment in moments)
    if uncertain:
        lines.append(f"{{C:of {uncertain} half-moves it is not known between which of the other board they were made}}")
    return lines


def _comment(event: GameEvent, chat: bool) -> str | None:
    text = readable(event.text).replace("{", "(").replace("}", ")")
    if event.detail == "comment":
        return f"{{C:{text}}}".replace(" ", GLUE)
    if event.detail == "annotation":
        return f"{{{text}}}".replace(" ", GLUE)
    if event.detail == "nag":
        return event.text
    if not chat:
        return None
    words = f"{event.actor} {_CHAT_VERBS.get(event.detail, event.detail)}: {text}" if event.actor else text
    return f"{{C:{' '.join(words.split())}}}"


def _reason(match: Match) -> str:
    """In the words of the board that decided."""
    with_reason = [game for game in (match.a, match.b) if game.reason]
    decided = [game for game in with_reason if not (game.reason_key or "").startswith(_OF_THE_PARTNER)]
    saved = is_saved(match.a) and match.a.end is GameEnd.LOG_ENDS
    words = (decided or with_reason)[0].reason if with_reason else None if saved else ENDS.get(match.a.end)
    return readable(words or "").replace("{", "(").replace("}", ")")
