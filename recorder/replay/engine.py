"""A recorded game as a chess engine: it makes the game's moves at the recorded pace, over the engine protocol (CECP).

Pure: a caller passes each line of the interface with the time of a monotonic clock, and gets the lines to answer and
the time at which the next answer is due. Source of the rules: the protocol document, sections 8 and 9.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from recorder.cecp.answers import (
    Claim,
    ErrorAnswer,
    Feature,
    Features,
    Hint,
    Indented,
    Moved,
    Pong,
    RefusedMove,
    Signal,
    Spoken,
    TellCommand,
    format_answer,
)
from recorder.cecp.commands import (
    EditBoard,
    MoveText,
    Number,
    Plain,
    Result,
    Texted,
    Unknown,
    UserMove,
    parse_command,
    parse_move,
)
from recorder.model import Game
from recorder.movetext import move_number
from recorder.replay.boards import main_line
from recorder.replay.timing import Playhead, ReplayMoment
from recorder.rules.fen import position_from_fen
from recorder.rules.position import Position
from recorder.rules.variants import STANDARD_BOARD, cecp_variant, known_start, read_cecp_variant, rules_of
from recorder.tracking.engines.view import play_move

_NEAR_MS: Final = 500  # an opponent's move this near its recorded time does not change the anchor
_GRACE_MS: Final = 2000  # the losing side reports the result first; the other side waits this long
_MOST_QUOTED: Final = 80  # characters quoted from a line that is not understood
_DRAWN_BY_THE_BOARD: Final = frozenset(("stalemate", "fifty", "repetition", "no-material"))
_NUMBERS: Final = {
    "ping": 1, "setboard": 1, "playother": 1, "san": 0, "usermove": 1, "time": 1, "draw": 1, "sigint": 0,
    "sigterm": 0, "reuse": 1, "analyze": 0, "colors": 0, "ics": 0, "name": 0, "pause": 1, "debug": 0,
}  # fmt: skip
_REFUSED: Final = frozenset(("analyze", "exit", ".", "depth", "fritz", "reset"))


class _Place(NamedTuple):
    """The place of the interface's board in the record. ``at``: plies; None: the board is not in this game."""

    at: int | None
    position: Position | None
    white_to_move: bool


class RecordedEngine:
    """An engine process that plays one recorded game.

    The engine's moves come at their recorded times, counted from one anchor, so that one late move does not delay the
    next. An opponent who moves much earlier or later than recorded sets a new anchor; the engine then thinks as long as
    the recorded player did. ``idle_max_ms`` is the longest wait at speed 1.
    """

    def __init__(
        self, game: Game, *, speed: Fraction | int = 1, pace_ms: int = 1000, idle_max_ms: int | None = None
    ) -> None:
        self.quits = False
        self._line = main_line(game, pace_ms, idle_max_ms)
        late_ms = self._line.end_ms + int(_GRACE_MS * Fraction(speed))
        self._moments = [ReplayMoment(at_ms, None) for at_ms in (*self._line.at_ms, self._line.end_ms, late_ms)]
        self._head = Playhead(self._moments, 0, speed=speed)
        self._last = len(self._line.plies)
        self._reset()

    def _reset(self) -> None:
        """As after ``new``: White is to move, the engine plays Black."""
        self._running = False  # whether the playhead's time applies to this game
        self._head.paused = False
        self._waits: int | None = None  # the moment to wait for
        self._force = False
        self._plays_white = False
        self._over = False
        self._reported_astray = False
        self._opponent_is_computer = False
        self._edited: EditBoard | None = None
        self._track = [self._start("chess")]

    @property
    def due_ns(self) -> int | None:
        """None: not before the next line of the interface."""
        return None if self._waits is None else self._head.due_ns

    def take(self, now_ns: int) -> list[str]:
        lines: list[Spoken] = []
        while (due_ns := self.due_ns) is not None and due_ns <= now_ns:
            lines += self._due()
        return [format_answer(line) for line in lines]

    def receive(self, text: str, now_ns: int) -> list[str]:
        """No input raises an error."""
        if self._edited is not None:
            self._edit(text)
            return []
        return [format_answer(answer) for answer in self._answers(text, now_ns)] if text.strip() else []

    def _answers(self, text: str, now_ns: int) -> list[Spoken]:
        command = parse_command(text)
        match command:
            case UserMove(move, _):
                return self._receive_move(move, now_ns)
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
            case Number("") | Unknown():
                return [_unknown(text)]
        return []

    def _features(self) -> Features:
        game = self._line.game
        name = f"Record of {game.white.handle} - {game.black.handle}".replace('"', "'")
        variants = cecp_variant(game.variant or "chess") or "normal"
        numbers = [Feature(word, value) for word, value in _NUMBERS.items()]
        return Features((*numbers, Feature("variants", variants), Feature("myname", name)))

    def _word(self, word: str, now_ns: int) -> list[Spoken]:
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
        """A command without an answer."""
        match word:
            case "new":
                self._reset()
            case "quit":
                self.quits, self._waits = True, None
            case "force":
                self._force, self._waits = True, None
            case "white" | "black":
                self._set_up(self._track[-1].position, word == "white")
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
        """The record's next move in protocol notation."""
        at = self._track[-1].at
        if at is None or at >= self._last:
            return None
        ply = self._line.plies[at]
        if self._line.game.variant == "chess960" and ply.san.startswith("O-O"):
            return ply.san.rstrip("+#")
        return ply.uci

    def _receive_move(self, move: MoveText, now_ns: int) -> list[Spoken]:
        place = self._track[-1]
        if self._over:
            return [ErrorAnswer("the game is over", move.text[:_MOST_QUOTED])]
        if not self._force and place.white_to_move == self._plays_white:
            return [ErrorAnswer("out of turn", move.text[:_MOST_QUOTED])]
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

    def _go_on(self, now_ns: int) -> list[Spoken]:
        """Wait for the next moment: the engine's move, the opponent's, or the end."""
        self._waits = None
        at = self._track[-1].at
        if self._over or self._force:
            return []
        if at is None:
            return self._astray()
        if not self._running or abs(self._head.at_ms(now_ns) - self._line.at_ms[at]) > _NEAR_MS * self._head.speed:
            self._head.go(at, now_ns)
            self._running = True
        if at == self._last or self._track[-1].white_to_move == self._plays_white:
            self._wait_for(at + 1)
        return []

    def _wait_for(self, moment: int) -> None:
        self._waits = self._head.place = moment

    def _due(self) -> list[Spoken]:
        waits, at = self._waits, self._track[-1].at
        assert waits is not None
        assert at is not None
        self._waits = None
        if waits > self._last:
            return self._conclude(late=waits > self._last + 1)
        return self._move(at)

    def _move(self, at: int) -> list[Spoken]:
        text = self._move_text()
        move = None if text is None else parse_move(text)
        if move is None:  # the protocol has no notation for it
            return [self._message("The record's next move cannot be written for an engine.")]
        self._track.append(self._on_record(at + 1))
        if at + 1 == self._last:
            self._wait_for(self._last + 1)
        return [Moved(move)]

    def _at_once(self, now_ns: int) -> list[Spoken]:
        """Answer ``?``: the next wait counts from now."""
        if self._waits is None or self._head.paused:
            return []
        self._head.go(self._waits, now_ns)
        return self._due()

    def _take_back(self, count: int, word: str, now_ns: int) -> list[Spoken]:
        if len(self._track) <= count:
            return [ErrorAnswer("nothing to take back", word)]
        del self._track[-count:]
        self._reported_astray = self._over = self._running = False
        return [] if self._force else self._go_on(now_ns)

    def _astray(self) -> list[Spoken]:
        """Report once that the board has left the record; a computer opponent could never take its move back."""
        if self._reported_astray:
            return []
        self._reported_astray = True
        last = self._track[-2].at if len(self._track) > 1 else None
        if last is None:
            words = "This position is not in the record: set up its position, or begin its variant."
        elif last >= self._last:
            words = "The record ends before this move: take it back, or play on without me."
        else:
            ply = self._line.plies[last]
            words = f"The record has {move_number(ply.ply)} {ply.san} here: take your move back, or play on without me."
        return [self._message(words), *([Signal("resign")] if self._opponent_is_computer else [])]

    def _conclude(self, *, late: bool) -> list[Spoken]:
        """The losing side reports the end, as interfaces accept a win only from it or from the board."""
        game = self._line.game
        words = (game.reason or "the record ends here").replace("{", "(").replace("}", ")")
        if not self._line.whole:
            return [self._message("The record has a gap here: nothing more can be played.")]
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
        return [self._message(f"The record ends here: {game.result} {{{words}}}")]

    def _book(self) -> list[Spoken]:
        """An empty line ends the answer."""
        at, text = self._track[-1].at, self._move_text()
        if at is None or text is None:
            return [Indented(" The record has no move here."), Unknown("")]
        took_ms = self._line.at_ms[at + 1] - self._line.at_ms[at]
        return [Indented(f" {text} after {took_ms / 1000:.1f} s in the record"), Unknown("")]

    @staticmethod
    def _message(words: str) -> TellCommand:
        return TellCommand("telluser", words)

    # -- positions -------------------------------------------------------------------------------------------------

    def _set_board(self, fen: str) -> list[Spoken]:
        try:
            position = position_from_fen(fen, rules_of(self._line.game.variant or "chess"))
        except ValueError:
            return [TellCommand("tellusererror", "Illegal position")]
        self._set_up(position._replace(holdings=None), position.white_to_move)
        return []

    def _set_up(self, position: Position | None, white_to_move: bool) -> None:
        """The game continues where the record contains the position."""
        self._waits, self._running, self._reported_astray, self._over = None, False, False, False
        if position is not None and position.white_to_move != white_to_move:
            position = position._replace(white_to_move=white_to_move, push_col=-1)
        for index, known in enumerate(self._line.positions):
            if known is None or position is None or known.white_to_move != position.white_to_move:
                continue
            if known.board == position.board:
                self._track = [self._on_record(index)]
                return
        self._track = [_Place(None, position, white_to_move)]

    def _edit(self, text: str) -> None:
        """An unknown line changes nothing."""
        assert self._edited is not None
        self._edited.apply(text)
        if self._edited.is_done:
            edited, self._edited = self._edited, None
            self._set_board(edited.fen(self._track[-1].white_to_move))


def _unknown(text: str) -> ErrorAnswer:
    shown = "".join(mark if mark.isprintable() else "?" for mark in text[:_MOST_QUOTED])  # an answer is one line
    return ErrorAnswer("unknown command", shown)
