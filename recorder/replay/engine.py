"""A recorded game as an engine of the engine protocol: it makes the game's moves at the game's pace.

Pure: what the interface says comes in with the time of a clock that does not step; what to answer and when the next
answer is due goes out. Source of the rules: the protocol document, sections 8 and 9.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from recorder.cecp.answers import (
    Answer,
    Claim,
    ErrorAnswer,
    Features,
    Hint,
    Indented,
    Moved,
    Pong,
    RefusedMove,
    Signal,
    TellCommand,
    format_answer,
)
from recorder.cecp.commands import (
    Number,
    Plain,
    Result,
    RootMove,
    SetScore,
    SquareCommand,
    Texted,
    Unknown,
    UserMove,
    parse_command,
)
from recorder.cecp.edit import EditBoard, parse_edit
from recorder.cecp.features import Feature
from recorder.cecp.moves import MoveText, parse_move
from recorder.model import Game
from recorder.replay.mainline import main_line
from recorder.replay.timing import Playhead, ReplayMoment
from recorder.rules.prove import Position, position_from_fen
from recorder.rules.variants import STANDARD_BOARD, cecp_variant, known_start, read_cecp_variant, rules_of
from recorder.tracking.engines.view import play_move

__all__ = ["RecordedEngine"]

_NEAR_MS: Final = 500  # an opponent who moves so near his recorded time leaves the time as it runs
_GRACE_MS: Final = 2000  # whoever lost says so first
_MOST_TOLD: Final = 80  # characters of a line that is not understood
_DRAWN_BY_THE_BOARD: Final = frozenset(("stalemate", "fifty", "repetition", "no-material"))
_NUMBERS: Final = {
    "ping": 1, "setboard": 1, "playother": 1, "san": 0, "usermove": 1, "time": 1, "draw": 1, "sigint": 0,
    "sigterm": 0, "reuse": 1, "analyze": 0, "colors": 0, "ics": 0, "name": 0, "pause": 1, "debug": 0,
}  # fmt: skip
_REFUSED: Final = frozenset(("analyze", "exit", ".", "depth", "fritz", "reset"))


class _Place(NamedTuple):
    """Where the interface's board stands. ``at``: plies of the record; None: this is not its game (any more)."""

    at: int | None
    position: Position | None
    white_to_move: bool


class RecordedEngine:
    """One engine process that knows one game.

    Our moves come at the times that they have in the record, counted from one anchor: waiting late makes nothing after
    it late. An opponent who moves much earlier or later than in the record sets a new anchor; we think as long as we
    did then.

    Args:
        game: the recorded one.
        speed: how many times as fast. pace_ms: for moves without any time. idle_max_ms: no wait is longer, at speed 1.
    Attributes:
        quits: the interface said ``quit``.
    """

    def __init__(
        self, game: Game, *, speed: Fraction | int = 1, pace_ms: int = 1000, idle_max_ms: int | None = None
    ) -> None:
        self.quits = False
        self._line = main_line(game, pace_ms, idle_max_ms)
        late_ms = self._line.end_ms + int(_GRACE_MS * Fraction(speed))
        self._moments = [ReplayMoment(at_ms, None) for at_ms in (*self._line.at_ms, self._line.end_ms, late_ms)]
        self._head = Playhead(self._moments, 0, speed=speed)
        self._speed = Fraction(speed)
        self._last = len(self._line.plies)
        self._reset()

    def _reset(self) -> None:
        """As after ``new``: White is to move, we play Black."""
        self._running = False  # whether the head's time is that of this game
        self._head.paused = False
        self._waits: int | None = None  # for this moment to be due
        self._force = False
        self._plays_white = False
        self._over = False
        self._told_astray = False
        self._opponent_is_computer = False
        self._edited: EditBoard | None = None
        self._track = [self._start("chess")]

    @property
    def due_ns(self) -> int | None:
        """When ``take`` has something to say; None: not before the interface says something."""
        return None if self._waits is None else self._head.due_ns

    def take(self, now_ns: int) -> list[str]:
        """The lines that are due."""
        lines: list[Answer] = []
        while (due_ns := self.due_ns) is not None and due_ns <= now_ns:
            lines += self._due()
        return [format_answer(line) for line in lines]

    def receive(self, text: str, now_ns: int) -> list[str]:
        """A line of the interface, without its line end; whatever it is, nothing is raised.

        Returns:
            The lines to answer at once.
        """
        if self._edited is not None:
            self._edit(text)
            return []
        return [format_answer(answer) for answer in self._answers(text, now_ns)] if text.strip() else []

    def _answers(self, text: str, now_ns: int) -> list[Answer]:
        command = parse_command(text)
        match command:
            case UserMove(move, _):
                return self._told(move, now_ns)
            case Number("ping", number) if number >= 0:
                return [Pong(number)]
            case Number("protover", _):
                return [self._features(), Features((Feature("done", 1),))]
            case Plain(word):
                return self._word(word, now_ns)
            case Texted("setboard", fen):
                return self._set_board(fen)
            case Texted("variant", name):
                self._track = [self._start(read_cecp_variant(name))]
                self._waits = None
            case Result():
                self._over, self._waits = True, None
            case Number("") | Unknown() | SquareCommand() | RootMove() | SetScore():
                return [_unknown(text)]
        return []

    def _features(self) -> Features:
        game = self._line.game
        name = f"Record of {game.white.handle} - {game.black.handle}".replace('"', "'")
        variants = cecp_variant(game.variant or "chess") or "normal"
        numbers = [Feature(word, value) for word, value in _NUMBERS.items()]
        return Features((*numbers, Feature("variants", variants), Feature("myname", name)))

    def _word(self, word: str, now_ns: int) -> list[Answer]:
        match word:
            case "go" | "playother":
                turn = self._track[-1].white_to_move
                self._plays_white = turn if word == "go" else not turn
                self._force = self._running = False
                return self._go_on(now_ns)
            case "?":
                return self._at_once(now_ns)
            case "undo" | "remove":
                return self._take_back(1 if word == "undo" else 2, word, now_ns)
            case "draw":
                return [Signal("offer draw")] if self._at_end and self._line.game.result == "1/2-1/2" else []
            case "hint":
                text = self._move_text()
                return [] if text is None else [Hint(text)]
            case "bk":
                return self._book()
            case _ if word in _REFUSED:
                return [_unknown(word)]
            case _:
                self._set_mode(word, now_ns)
                return []

    def _set_mode(self, word: str, now_ns: int) -> None:
        """Do a command that has no answer."""
        match word:
            case "new":
                self._reset()
            case "quit":
                self.quits, self._waits = True, None
            case "force":
                self._force, self._waits = True, None
            case "white" | "black":
                self._stand_on(self._track[-1].position, word == "white")
                self._plays_white = word == "black"
            case "pause":
                self._head.pause(now_ns)
            case "resume":
                self._head.resume(now_ns)
            case "computer":
                self._opponent_is_computer = True
            case "edit":
                position = self._track[-1].position
                self._edited = EditBoard(STANDARD_BOARD if position is None else position.board)

    # -- the game --------------------------------------------------------------------------------------------------

    @property
    def _at_end(self) -> bool:
        return self._track[-1].at == self._last and not self._over

    def _start(self, variant: str | None) -> _Place:
        """The board that both sides know after ``new`` or ``variant``."""
        line = self._line
        usual = line.positions[0] is not None and line.positions[0].board == STANDARD_BOARD and line.start_ply == 0
        same = variant == (line.game.variant or "chess") or variant is None
        begins_usual = variant == "chess960" or known_start(None, rules_of(variant or "")) is not None
        if same and line.start_ply == 0 and (usual or not begins_usual):
            return _Place(0, line.positions[0], line.white_to_move(0))
        if cecp_variant(line.game.variant) == "normal" and variant == "chess" and usual:
            return _Place(0, line.positions[0], True)
        return _Place(None, None, True)

    def _move_text(self) -> str | None:
        """The record's next move as the protocol writes it; None: there is none here."""
        at = self._track[-1].at
        if at is None or at >= self._last:
            return None
        ply = self._line.plies[at]
        if self._line.game.variant == "chess960" and ply.san.startswith("O-O"):
            return ply.san.rstrip("+#")
        return ply.uci

    def _told(self, move: MoveText, now_ns: int) -> list[Answer]:
        place = self._track[-1]
        if self._over:
            return [ErrorAnswer("the game is over", move.text[:_MOST_TOLD])]
        if not self._force and place.white_to_move == self._plays_white:
            return [ErrorAnswer("out of turn", move.text[:_MOST_TOLD])]
        same, reached = False, None
        expected = self._line.plies[place.at] if place.at is not None and place.at < self._last else None
        if place.position is not None:
            step = play_move(place.position, move)
            if isinstance(step, str):
                return [RefusedMove(move.text, None)]
            same, reached = expected is not None and step[0] == expected.move, step[2]
        elif expected is not None:
            same = move.text.lower() in ((expected.uci or "").lower(), expected.san.rstrip("+#").lower())
        if same and place.at is not None:
            self._track.append(self._on_record(place.at + 1))
        else:
            self._track.append(_Place(None, reached, not place.white_to_move))
        return [] if self._force else self._go_on(now_ns)

    def _on_record(self, at: int) -> _Place:
        return _Place(at, self._line.positions[at], self._line.white_to_move(at))

    def _go_on(self, now_ns: int) -> list[Answer]:
        """Wait for what comes next: our move, the opponent's, or the end."""
        self._waits = None
        at = self._track[-1].at
        if self._over or self._force:
            return []
        if at is None:
            return self._astray()
        if not self._running or abs(self._head.at_ms(now_ns) - self._line.at_ms[at]) > _NEAR_MS * self._speed:
            self._head.go(at, now_ns)
            self._running = True
        if at == self._last or self._track[-1].white_to_move == self._plays_white:
            self._wait_for(at + 1)
        return []

    def _wait_for(self, moment: int) -> None:
        self._waits = self._head.place = moment

    def _due(self) -> list[Answer]:
        waits, at = self._waits, self._track[-1].at
        assert waits is not None
        assert at is not None
        self._waits = None
        if waits > self._last:
            return self._conclude(late=waits > self._last + 1)
        return self._move(at)

    def _move(self, at: int) -> list[Answer]:
        text = self._move_text()
        move = None if text is None else parse_move(text)
        if move is None:  # nothing that the protocol can write
            return [self._tell("The record's next move cannot be written for an engine.")]
        self._track.append(self._on_record(at + 1))
        if at + 1 == self._last:
            self._wait_for(self._last + 1)
        return [Moved(move)]

    def _at_once(self, now_ns: int) -> list[Answer]:
        """``?``: what we would wait for, now; the next wait counts from here."""
        if self._waits is None or self._head.paused:
            return []
        self._head.go(self._waits, now_ns)
        return self._due()

    def _take_back(self, count: int, word: str, now_ns: int) -> list[Answer]:
        if len(self._track) <= count:
            return [ErrorAnswer("nothing to take back", word)]
        del self._track[-count:]
        self._told_astray = self._over = self._running = False
        return [] if self._force else self._go_on(now_ns)

    def _astray(self) -> list[Answer]:
        """The board is none of the record's: tell it once; a computer could never take its move back."""
        if self._told_astray:
            return []
        self._told_astray = True
        last = self._track[-2].at if len(self._track) > 1 else None
        if last is None:
            words = "This position is not in the record: set up its position, or begin its variant."
        elif last >= self._last:
            words = "The record ends before this move: take it back, or play on without me."
        else:
            ply = self._line.plies[last]
            number = f"{(ply.ply + 1) // 2}{'.' if ply.white_moved else '...'}"
            words = f"The record has {number} {ply.san} here: take your move back, or play on without me."
        return [self._tell(words), *([Signal("resign")] if self._opponent_is_computer else [])]

    def _conclude(self, *, late: bool) -> list[Answer]:
        """The record's end: whoever lost says so, as interfaces take a win only from him or from the board."""
        game = self._line.game
        words = (game.reason or "the record ends here").replace("{", "(").replace("}", ")")
        if not self._line.whole:
            return [self._tell("The record has a gap here: nothing more can be played.")]
        if game.result == "1/2-1/2":
            claim = Claim(game.result, words)
            return [claim if game.reason_key in _DRAWN_BY_THE_BOARD else Signal("offer draw")]
        if game.result not in ("1-0", "0-1"):
            return [Claim("*", words)]
        if game.reason_key == "checkmate" or (game.result == "1-0") != self._plays_white:
            return [Claim(game.result, words)]
        if not late:
            self._wait_for(self._last + 2)
            return []
        return [self._tell(f"The record ends here: {game.result} {{{words}}}")]

    def _book(self) -> list[Answer]:
        """What the record plays next and how long it took; an empty line ends the answer."""
        at, text = self._track[-1].at, self._move_text()
        if at is None or text is None:
            return [Indented(" The record has no move here."), Unknown("")]
        took_ms = self._line.at_ms[at + 1] - self._line.at_ms[at]
        return [Indented(f" {text} after {took_ms / 1000:.1f} s in the record"), Unknown("")]

    @staticmethod
    def _tell(words: str) -> TellCommand:
        return TellCommand("telluser", words)

    # -- positions -------------------------------------------------------------------------------------------------

    def _set_board(self, fen: str) -> list[Answer]:
        try:
            position = position_from_fen(fen, rules_of(self._line.game.variant or "chess"))
        except ValueError:
            return [TellCommand("tellusererror", "Illegal position")]
        self._stand_on(position._replace(hands=None), position.white_to_move)
        return []

    def _stand_on(self, position: Position | None, white_to_move: bool) -> None:
        """A position was set up: the game goes on where the record has that board, if it does."""
        self._waits, self._running, self._told_astray, self._over = None, False, False, False
        if position is not None and position.white_to_move != white_to_move:
            position = position._replace(white_to_move=white_to_move, push_col=-1)
        for at, known in enumerate(self._line.positions):
            if known is not None and position is not None and known[:2] == position[:2]:  # board and side
                self._track = [self._on_record(at)]
                return
        self._track = [_Place(None, position, white_to_move)]

    def _edit(self, text: str) -> None:
        """A line of edit mode; one that edit mode does not have changes nothing."""
        assert self._edited is not None
        self._edited.apply(parse_edit(text))
        if self._edited.is_done:
            edited, self._edited = self._edited, None
            self._set_board(edited.fen(self._track[-1].white_to_move))


def _unknown(text: str) -> ErrorAnswer:
    shown = "".join(mark if mark.isprintable() else "?" for mark in text[:_MOST_TOLD])  # an answer is one line
    return ErrorAnswer("unknown command", shown)
