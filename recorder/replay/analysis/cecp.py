"""A recorded game told to an engine of the CECP protocol, and what the engine thinks of its positions. Pure.

The engine is in *force* mode and is told everything that was played, with the recorded clocks and with moves that were
taken back (``undo``; ``remove`` is for an engine that plays). At each position to look at it analyses: in ``analyze``
mode, which ends with ``exit``; an engine without that plays a move (``go``) that is taken back. Between two positions
the engine is waited for (``ping``), so that no line counts for the wrong one.

Source: the protocol document, sections 8 to 10 and 12.
"""

from __future__ import annotations

import re
from typing import Final

from recorder.cecp.answers import Answer, Claim, Indented, Moved, OldClaim, Pong, Signal
from recorder.cecp.commands import (
    Command,
    EditColour,
    EditEnd,
    EditLine,
    EditOther,
    EditPiece,
    Holding,
    Level,
    Number,
    Plain,
    Result,
    Texted,
    UserMove,
    format_edit,
)
from recorder.cecp.moves import parse_move
from recorder.cecp.thinking import Status, ThinkingLine
from recorder.errors import VariantError
from recorder.model import Game
from recorder.replay.analysis.found import Collected, Found
from recorder.replay.analysis.plan import Look, Plan, Play, SetUp, TakeBack
from recorder.replay.analysis.spec import EngineSpec, Limits, Patience
from recorder.replay.analysis.talk import Script, Talk
from recorder.tracking.engine_moves import play_move
from recorder.tracking.engine_run import thinking_of
from recorder.tracking.position import Position, Rules
from recorder.variants import cecp_variant, read_cecp_variant

__all__ = ["CecpTalk"]

_HANDS: Final = re.compile(r"\[[^\[\]]*\]")
_SIZE: Final = re.compile(r"[0-9]{1,9}x[0-9]{1,9}\+[0-9]{1,9}_", re.ASCII)  # before a variant's name, of engines
_ALONE_MS: Final = 50
_DOT_MS: Final = 500  # between two questions how far it is
_MATED_MS: Final = 500  # without a line behind a mate
_DECIDED_CP: Final = 9_000  # no position is worth so much
_SILENT_MS: Final = 10_000  # without a line, and so many times as long as the last one took to come
_SILENT_TIMES: Final = 20
_HOME: Final = {(67, "K", 70, "R"): 1, (67, "K", 63, "R"): 2, (4, "k", 7, "r"): 4, (4, "k", 0, "r"): 8}


class CecpTalk(Talk):
    """One engine process and the games that it is told of, one after the other.

    ::

        talk = CecpTalk(spec, limits)
        talk.begin(now_ms)                      # until not talk.is_busy: write, receive, tick
        talk.analyse(plan, now_ms)              # the same again; take_found() meanwhile
        talk.leave()

    Args:
        spec, limits, patience: as the user has them.
    """

    def __init__(self, spec: EngineSpec, limits: Limits, patience: Patience | None = None) -> None:
        super().__init__(spec, patience or Patience())
        self._limits = limits
        self._found: list[Found] = []
        self._start_step: SetUp | None = None
        self._played: list[Play] = []  # since then
        self._variant = "normal"
        self._edited = False  # the position was set up without its castling rights
        self._hands: tuple[str, str] | None = None  # as the engine has them, where it cannot know them from the moves
        self._dots = True  # it may answer ``.``
        self._gently = False  # it gets one move at a time, and nothing behind it for a moment

    def analyse(self, plan: Plan, now_ms: int) -> None:
        """Tell a game; positions come out of ``take_found`` as they are done.

        Raises:
            VariantError: the engine does not play this variant.
        """
        self._start(self._tell_game(plan), now_ms)

    def take_found(self) -> list[Found]:
        """The positions done since the last call."""
        found, self._found = self._found, []
        return found

    # -- the game ------------------------------------------------------------------------------------------------------

    def _tell_game(self, plan: Plan) -> Script:
        game = plan.game
        yield from self._await_features()  # one that was slow to say that it tells some
        self._variant = self._variant_of(game)
        yield from self._new(game)
        for step in plan.steps:
            match step:
                case SetUp():
                    self._set_up(step)
                case Play():
                    yield from self._move(step)
                case TakeBack(plies):
                    del self._played[len(self._played) - plies :]
                    self._say(*[Plain("undo")] * plies)
                case Look():
                    yield from self._look(game, step)
        reason = (game.reason or "").replace("{", "(").replace("}", ")") or None
        self._say(Result(game.result, reason))
        yield from self._settle()

    def _variant_of(self, game: Game) -> str:
        """The engine's own word for the game's variant.

        Raises:
            VariantError: it has none.
        """
        ours = game.variant or "chess"
        word = cecp_variant(ours) or ours
        told = self.features["variants"]
        if told is None:  # then it plays all. Source: section 9, ``variants``
            return word
        known = [name.strip() for name in str(told).split(",")]
        for name in known:
            if word == name or ours in (name, read_cecp_variant(_SIZE.sub("", name))):
                return name
        raise VariantError(self._sentence(f"does not play {ours}; it plays {', '.join(known)}"))

    def _new(self, game: Game) -> Script:
        self._say(*self._settings, Plain("new"))
        if self._variant != "normal":
            self._say(Texted("variant", self._variant))
        if game.base_s is not None and game.base_s + (game.increment_s or 0) > 0:
            self._say(Level(0, game.base_s, 1000 * (game.increment_s or 0)))
        if self._nps is not None:
            self._say(Number("nps", self._nps))
        self._say(Plain("post"), Plain("easy"), Plain("force"))
        self._hands = None
        self._edited = False
        yield from self._settle()
        self._refused = None

    def _limit_moves(self) -> None:
        """How long it may think about a move: to the second above, as the protocol has it."""
        nodes = self._limits.nodes
        if self._nps is None and nodes is not None and self.features["nps"] == 1:
            self._say(Number("st", 1), Number("nps", nodes))  # a second of so many nodes
        else:
            self._say(Number("st", -(-self._limits.most_ms // 1000)))
        if self._limits.depth is not None:
            self._say(Number("sd", self._limits.depth))

    def _set_up(self, step: SetUp) -> None:
        self._start_step, self._played = step, []
        if step.usual:
            return
        if self.features["setboard"] == 1:
            self._say(Texted("setboard", _HANDS.sub("", step.fen, count=1)))
        else:
            self._edit(step.position)
        self._hands = ("", "") if step.position.hands is not None else None

    def _edit(self, position: Position) -> None:
        """Set up by ``edit``, which does not change who is to move: Black is after a move of White's."""
        if position.rules is Rules.CHESS960:
            raise self._error("cannot set up positions of chess960 (it has no setboard)")
        self._edited = True
        if not position.white_to_move:
            self._say(Plain("new"), *self._variant_again(), Plain("force"), _user_move("a2a3", self._names_moves))
        self._say(Plain("edit"))
        lines: list[EditLine] = [EditOther("#")]
        for white in (True, False):
            lines += [] if white else [EditColour()]
            for at, letter in enumerate(position.board):
                if letter not in "- " and letter.isupper() == white:
                    lines.append(EditPiece(letter.upper(), f"{'abcdefgh'[at % 9]}{8 - at // 9}"))
        self._saying += [format_edit(line) for line in (*lines, EditEnd())]

    def _variant_again(self) -> list[Command]:
        return [] if self._variant == "normal" else [Texted("variant", self._variant)]

    @property
    def _names_moves(self) -> bool:
        return self.features["usermove"] == 1

    def _move(self, step: Play) -> Script:
        self._played.append(step)
        text = step.uci
        if self.features["san"] == 1 or (step.position.rules is Rules.CHESS960 and step.san.startswith("O-O")):
            text = step.san.rstrip("+#")
        command = _user_move(text, self._names_moves)
        self._last_move = command.move.text
        self._say(command)
        until_ms = self._now_ms + (_ALONE_MS if self._gently else 0)
        while self._now_ms < until_ms:
            yield until_ms

    # -- a position ----------------------------------------------------------------------------------------------------

    def _look(self, game: Game, look: Look) -> Script:
        found = Collected(look)
        yield from self._settle()
        if self._refused is not None:
            found.notes.append(f"did not take {self._refused} and was told the position anew")
            yield from self._restore(game, look)
        if self._edited and not self._knows(look.position):
            found.notes.append("was not asked: without setboard it cannot be told who may castle")
            self._found.append(found.found())
            return
        self._tell_hands(look)
        self._tell_clocks(look)
        if self.features["analyze"] == 1:
            yield from self._analyse(found)
        if self.features["analyze"] != 1:  # also if it has just said so
            yield from self._play(found)
        self._require_speech()
        self._found.append(found.found())

    def _knows(self, position: Position) -> bool:
        """Whether the engine knows who may castle, though ``edit`` does not tell it.

        It believes in a right whenever king and rook stand at home, and gives it up when one of them has moved: what
        it believes lies between what holds and what the board lets believe. En passant it knows of from moves only.
        """
        board = position.board
        believed = sum(
            bit for (king, one, rook, other), bit in _HOME.items() if board[king] == one and board[rook] == other
        )
        return believed == position.castling and (position.push_col < 0 or bool(self._played))

    def _restore(self, game: Game, look: Look) -> Script:
        """Tell everything again: the engine's board is not the game's any more.

        Fairy-Max takes a legal move for an illegal one when it has analysed and another line follows at once.
        """
        self._gently = True
        refused, played, start = self._refused, self._played, self._start_step
        assert start is not None
        yield from self._new(game)
        if self.features["setboard"] == 1:
            self._set_up(SetUp(look.position, look.fen, usual=False))
            self._start_step, self._played = start, played
        else:
            self._set_up(start)
            for step in played:
                yield from self._move(step)
        yield from self._settle()
        if self._refused is not None:
            raise self._error(f"does not take {refused}, which was played")

    def _tell_hands(self, look: Look) -> None:
        """In bughouse always; in crazyhouse the moves tell, but for a position that was set up."""
        hands = look.position.hands
        if hands is None or hands == self._hands:
            return
        if look.position.rules is Rules.BUGHOUSE or self._hands is not None:
            self._say(Holding(*hands))
        self._hands = hands if look.position.rules is Rules.BUGHOUSE else None

    def _tell_clocks(self, look: Look) -> None:
        """The recorded clocks: the engine's is that of the side to move."""
        if self.features["time"] != 1:
            return
        clocks_ms = (look.white_clock_ms, look.black_clock_ms)
        own_ms, other_ms = clocks_ms if look.position.white_to_move else clocks_ms[::-1]
        for word, clock_ms in (("time", own_ms), ("otim", other_ms)):
            if clock_ms is not None:
                self._say(Number(word, max(0, clock_ms // 10)))

    def _analyse(self, found: Collected) -> Script:
        """Source: section 12."""
        self._say(Plain("analyze"))
        begun_ms = self._now_ms
        until_ms = begun_ms + self._limits.most_ms
        silent_ms = until_ms if self._limits.time_ms is not None else begun_ms + self.patience.answer_ms
        dot_ms = begun_ms + _DOT_MS
        asks = self._limits.nodes is not None
        while self.features["analyze"] == 1:
            answer = yield min(until_ms, silent_ms, *([dot_ms] if asks and self._dots else []))
            if answer is not None:
                if self._collect(found, answer):
                    break
                if isinstance(answer, ThinkingLine | Status):
                    silent_ms = self._now_ms + self._silence_ms(found, self._now_ms - begun_ms)
                self._dots = self._dots or isinstance(answer, Status)
            elif self._now_ms >= min(until_ms, silent_ms):
                self._tell_late(found, self._now_ms - begun_ms)
                break
            else:
                self._say(Plain("."))
                self._dots = False  # until it answers: another one is not asked again
                dot_ms = self._now_ms + _DOT_MS
        self._say(Plain("exit"), Plain("force"))  # GNU Chess begins to play without the second
        yield from self._end(found)

    def _silence_ms(self, found: Collected, took_ms: int) -> int:
        """How long to wait for the next line: an engine may stop by itself when there is nothing more to find."""
        if self._limits.time_ms is not None:
            return self._limits.time_ms
        if _is_decided(found):
            return _MATED_MS
        return _SILENT_MS + _SILENT_TIMES * took_ms

    def _play(self, found: Collected) -> Script:
        """Let it make a move, and take that back."""
        self._limit_moves()
        self._say(Plain("go"))
        until_ms = self._now_ms + self._limits.most_ms
        hurried = interrupted = False
        moved: Moved | None = None
        while moved is None:
            answer = yield until_ms
            if isinstance(answer, Moved):
                moved = answer
            elif isinstance(answer, Claim | OldClaim) or answer == Signal("resign"):
                break
            elif (answer is not None and self._collect(found, answer) and not hurried) or (
                answer is None and not hurried
            ):
                if answer is None and self._limits.time_ms is None:
                    self._tell_late(found, self._limits.most_ms)
                self._say(Plain("?"))
                hurried, until_ms = True, self._now_ms + self.patience.answer_ms
            elif answer is None:
                if interrupted or not self._may_interrupt():
                    raise self._error("does not move, though it was told to move at once")
                interrupted, until_ms = True, self._now_ms + self.patience.answer_ms
        self._say(Plain("force"))
        if moved is not None:
            self._take_back(found, moved)
        yield from self._end(found)

    def _take_back(self, found: Collected, moved: Moved) -> None:
        if isinstance(play_move(found.look.position, moved.move), str):
            found.notes.append(f"made the move {moved.move.text}, which is not legal")
            self._refused = moved.move.text
        self._say(Plain("undo"))

    def _end(self, found: Collected) -> Script:
        """Until it has stopped; what it says meanwhile is still about this position."""
        settling = self._settle()
        due_ms = next(settling)
        while True:
            answer = yield due_ms
            if answer is not None and not isinstance(answer, Pong):
                self._collect(found, answer)
                if isinstance(answer, Moved):  # it moved just before it was told not to
                    self._take_back(found, answer)
            try:
                due_ms = settling.send(answer)
            except StopIteration:
                return

    def _tell_late(self, found: Collected, took_ms: int) -> None:
        if self._limits.time_ms is None and not _is_decided(found):
            found.notes.append(f"did not reach its limit in {took_ms // 1000} s")

    def _collect(self, found: Collected, answer: Answer) -> bool:
        """Keep a line of thinking; whether the limit is reached."""
        depth, nodes = self._limits.depth, self._limits.nodes
        look = found.look
        if isinstance(answer, Indented) and answer.continues_pv:
            found.go_on(answer.text)
        elif isinstance(answer, Status):
            return nodes is not None and answer.nodes >= nodes
        elif isinstance(answer, ThinkingLine):
            too_deep = depth is not None and answer.depth > depth
            if too_deep and found.last is not None:
                return True
            white = look.position.white_to_move
            found.add(thinking_of(answer, found.next_seq, look.ply, self.name, white, None, 0))
            return too_deep or (nodes is not None and answer.nodes >= nodes)
        return False


def _user_move(text: str, named: bool) -> UserMove:
    move = parse_move(text)
    assert move is not None, text  # a move that was played has a form that the protocol knows
    return UserMove(move, named)


def _is_decided(found: Collected) -> bool:
    """Whether the last line is a mate, or a score so large that the engine may mean one."""
    last = found.last
    return last is not None and (last.score_cp is None or abs(last.score_cp) > _DECIDED_CP)
