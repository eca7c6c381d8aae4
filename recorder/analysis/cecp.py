"""Analyse a recorded game with an engine of the CECP protocol.

The engine is in *force* mode and gets all moves, with the recorded clocks and with moves that were taken back
(``undo``; ``remove`` is for an engine that plays). It analyses each position in ``analyze`` mode, which ends with
``exit``. A ``ping`` between two positions keeps a late line from being counted for the wrong one.

Source: the protocol document, sections 8 to 10 and 12.

A session with an engine of the CECP protocol: its features, its options, and waiting for it.

Source: sections 7 to 9 of the protocol document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from recorder.analysis.plan import Collected, Found, Limits, Look, Play, PlayedLine, SetUp, TakeBack
from recorder.analysis.process import EngineProcess, clean, seconds
from recorder.cecp.answers import (
    DEFAULTS,
    Answer,
    Comment,
    EngineOption,
    ErrorAnswer,
    Feature,
    Features,
    Indented,
    Moved,
    Pong,
    RefusedMove,
    Status,
    TellCommand,
    ThinkingLine,
    parse_answer,
    parse_option,
)
from recorder.cecp.commands import (
    Command,
    FeatureAnswer,
    Holding,
    LevelCommand,
    Number,
    OptionSet,
    Plain,
    Result,
    Texted,
    UserMove,
    edit_lines,
    format_command,
    parse_move,
)
from recorder.errors import VariantError
from recorder.model import Game
from recorder.rules.position import Position, Rules
from recorder.rules.variants import cecp_variant, read_cecp_variant
from recorder.tracking.engines.view import thinking_of

_NUDGE_MS: Final = 500
_MOST_STRANGE: Final = 128 << 10  # characters before the first line of the protocol
_COMMANDS: Final = {"memory": "memory", "cores": "smp"}  # set like options: the feature that allows it
_ORDER: Final = {"memory": 0, "cores": 2}  # in which they are sent; the engine's own options between them
_PROMPT: Final = re.compile(r"^(?:(?:White|Black) \([0-9]{1,5}\) : ?)+", re.ASCII)  # GNU Chess, once it has analysed
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def _ignore(_: Answer) -> None:
    """Nothing."""


class CecpSession:
    """The interface's side of a session with one engine; ``settings`` are commands to send before each game."""

    def __init__(self, process: EngineProcess, options: Mapping[str, str | None]) -> None:
        self.process = process
        self.features: dict[str, int | str | None] = dict(DEFAULTS)
        self.settings: list[Command] = []
        self.refused: str | None = None
        self._wanted = options
        self._options: dict[str, EngineOption] = {}
        self._pings = 0
        self._answered: int | None = None  # the last ping that was
        self._answers_twice = False  # GNU Chess: its adapter answers at once, the engine after its work
        self._speaks = False  # whether it has printed a line of the protocol
        self._strange = 0  # characters that it has printed before
        self._last_move: str | None = None  # as it was sent

    def send(self, *commands: Command) -> None:
        self.process.send(*map(format_command, commands))

    def move(self, command: Command) -> None:
        """An answer may name it."""
        self._last_move = format_command(command).removeprefix("usermove ")
        self.send(command)

    async def next(self, until_ms: int) -> Answer | None:
        while (line := await self.process.read_line(until_ms)) is not None:
            answer = parse_answer(_PROMPT.sub("", line))
            self._take_any(answer)
            self._strange += 0 if self._speaks else len(line)
            if self._strange > _MOST_STRANGE:
                self.require_speech()
            if not isinstance(answer, Comment):
                return answer
        return None

    async def begin(self) -> None:
        """An engine without any feature has protocol version 1. Source: section 9, ``feature``."""
        self.send(Plain("xboard"), Number("protover", 2))
        until_ms = self.process.now_ms + self.process.patience.features_ms
        await self._wait(lambda _: self.features["done"] is not None, until_ms)
        await self.await_features()
        self._set_options()

    async def await_features(self) -> None:
        """For ``done=1`` after ``done=0``."""
        done_ms = self.process.patience.done_ms
        if self.features["done"] == 0 and not await self._wait(
            lambda _: self.features["done"] != 0, self.process.now_ms + done_ms
        ):
            raise self.process.error(f"began to send its features (done=0) and did not end for {seconds(done_ms)}")

    async def settle(self, take: Callable[[Answer], object] = _ignore) -> None:
        """Until the engine has processed all commands; without ``ping``: until it has printed nothing for a while."""
        if self.features["ping"] != 1:
            await self._await_quiet(take)
            return
        self._pings += 1
        self.send(Number("ping", self._pings))
        await self._await_pong(take)
        self._answered = self._pings
        if self._answers_twice:
            await self._await_pong(take)

    def require_speech(self) -> None:
        """Refuse a program that has not printed a line of the protocol yet."""
        if not self._speaks:
            raise self.process.error("answers nothing that a CECP engine would; if it speaks UCI, name it with --uci")

    async def _await_pong(self, take: Callable[[Answer], object]) -> None:
        pong, answer_ms = Pong(self._pings), self.process.patience.answer_ms
        if not await self._wait(lambda answer: answer == pong, self.process.now_ms + answer_ms, take):
            self.require_speech()
            raise self.process.error(f"has not answered 'ping {self._pings}' for {seconds(answer_ms)}")

    async def _await_quiet(self, take: Callable[[Answer], object]) -> None:
        patience = self.process.patience
        until_ms = self.process.now_ms + patience.answer_ms
        while (answer := await self.next(self.process.now_ms + patience.quiet_ms)) is not None:
            take(answer)
            if self.process.now_ms >= until_ms:
                self.require_speech()
                raise self.process.error("continues printing after it should have stopped")

    async def _wait(
        self, is_last: Callable[[Answer], bool], until_ms: int, take: Callable[[Answer], object] = _ignore
    ) -> bool:
        """Read answers up to the last one; False: it did not arrive in time."""
        wait_ms = _NUDGE_MS
        nudge_ms = self.process.now_ms + wait_ms
        while self.process.now_ms < until_ms:
            answer = await self.next(min(until_ms, nudge_ms))
            if answer is not None and is_last(answer):
                return True
            if answer is not None:
                take(answer)
            if self.process.now_ms >= nudge_ms:
                # Harmless: GNU Chess reads all available lines, processes one, and the next when another arrives.
                self.send(Plain("easy"))
                wait_ms *= 2
                nudge_ms = self.process.now_ms + wait_ms
        return False

    def _take_any(self, answer: Answer) -> None:
        """They may arrive at any time."""
        match answer:
            case Features():
                self._take_features(answer)
            case RefusedMove(move, _):
                self.refused = clean(move or "a move")
            case ErrorAnswer(_, command):
                self._complain(command or "")
            case TellCommand("telluser" | "tellusererror", text):
                self.process.last_message = clean(text)
            case Pong(number):
                self._speaks = True
                self._answers_twice = self._answers_twice or number == self._answered
            case ThinkingLine() | Moved() | Status():
                self._speaks = True

    def _complain(self, command: str) -> None:
        """An unknown command is not sent again; a refused one is noted."""
        word = command.split()[0] if command.split() else ""
        switch = {"analyze": "analyze", "time": "time", "otim": "time"}.get(word)
        if switch is not None:
            self.features[switch] = 0
        elif word in ("undo", "setboard", "edit", "variant", "usermove") or (command and command == self._last_move):
            self.refused = clean(command)

    def _take_features(self, features: Features) -> None:
        self._speaks = True
        for feature in features.settings:
            self.send(self._take_feature(feature))

    def _take_feature(self, feature: Feature) -> FeatureAnswer:
        name, value = feature
        if name == "option":
            option = parse_option(str(value))
            if option is None:
                return FeatureAnswer(False, name, str(value))
            self._options[option.name] = option
        elif name not in DEFAULTS or (isinstance(value, str) and isinstance(DEFAULTS[name], int)):
            return FeatureAnswer(False, name)
        else:
            self.features[name] = value
        if name == "myname" and clean(str(value)):
            self.process.name = clean(str(value))
        return FeatureAnswer(True, name)

    def _set_options(self) -> None:
        """Source: section 8, ``memory``, ``cores`` and ``option``."""
        for name, value in sorted(self._wanted.items(), key=lambda item: _ORDER.get(item[0], 1)):
            if not f"{name}{value}".isprintable():
                raise self.process.error(f"cannot take option {name!r}: it is not one line")
            feature = _COMMANDS.get(name)
            if name in self._options:
                self.settings.append(OptionSet(name, self._checked(self._options[name], value)))
            elif feature is not None and self.features[feature] == 1:
                self.settings.append(Number(name, self._number(name, value)))
            else:
                names = sorted((*self._options, *(word for word, one in _COMMANDS.items() if self.features[one] == 1)))
                raise self.process.error(f"has no option {name!r}; it has {', '.join(names) or 'none'}")

    def _checked(self, option: EngineOption, value: str | None) -> str | None:
        """A value in the form that the option takes."""
        if option.kind in ("button", "save", "reset"):
            if value is not None:
                raise self.process.error(f"takes no value for its option {option.name!r}, which is a button")
            return None
        if value is None:
            raise self.process.error(f"needs a value for its option {option.name!r} ({option.kind})")
        if option.kind == "check":
            word = {"true": "1", "false": "0"}.get(value.lower(), value)
            if word not in ("0", "1"):
                raise self.process.error(f"takes true or false for its option {option.name!r}, not {value!r}")
            return word
        if option.kind in ("spin", "slider"):
            number = self._number(option.name, value)
            if not (option.low or 0) <= number <= (option.high or 0):
                bounds = f"{option.low} to {option.high}"
                raise self.process.error(f"takes {bounds} for its option {option.name!r}, not {number}")
            return str(number)
        if option.kind == "combo" and value not in option.choices:
            raise self.process.error(f"takes {', '.join(option.choices)} for its option {option.name!r}, not {value!r}")
        return value

    def _number(self, name: str, value: str | None) -> int:
        if value is None or not _INTEGER.fullmatch(value):
            raise self.process.error(f"takes a number for its option {name!r}, not {value or 'nothing'!r}")
        return int(value)


_HOLDINGS: Final = re.compile(r"\[[^\[\]]*\]")
_ALONE_MS: Final = 50  # after a move that is sent alone
_DOT_MS: Final = 500  # between two status requests
_MATED_MS: Final = 500  # without a line after a mate score
_DECIDED_CP: Final = 9_000  # an evaluation above this is a mate
_SILENT_MS: Final = 10_000  # without a line, plus a multiple of the time that the last one took
_SILENT_TIMES: Final = 20
# Square and letter of a king and a rook at home → the bit of the castling right.
_HOME: Final = {(67, "K", 70, "R"): 1, (67, "K", 63, "R"): 2, (4, "k", 7, "r"): 4, (4, "k", 0, "r"): 8}


class CecpDriver:
    def __init__(self, process: EngineProcess, options: Mapping[str, str | None], limits: Limits) -> None:
        self._process = process
        self._session = CecpSession(process, options)
        self._limits = limits
        self._variant = "normal"
        self._is_edited = False  # the position was set up without its castling rights
        self._holdings: tuple[str, str] | None = None  # the engine's holdings, if it cannot know them from the moves
        self._answers_dots = True
        self._sends_slowly = False  # one move at a time, with a pause after it

    @property
    def is_reusable(self) -> bool:
        return self._session.features["reuse"] != 0

    async def begin(self) -> None:
        await self._session.begin()
        self._require_analysis()

    async def begin_game(self, game: Game) -> None:
        await self._session.await_features()  # of an engine that announced them late
        self._variant = self._variant_of(game)
        await self._new(game)

    async def send(self, step: SetUp | Play | TakeBack) -> None:
        match step:
            case SetUp():
                self._set_up(step)
            case Play():
                await self._move(step)
            case TakeBack(plies):
                self._session.send(*[Plain("undo")] * plies)

    async def look(self, look: Look, line: PlayedLine) -> Found:
        collected = Collected(look)
        session = self._session
        await session.settle()
        if session.refused is not None:
            collected.notes.append(f"did not take {session.refused} and was sent the position again")
            await self._restore(look, line)
        if self._is_edited and not _assumes_right_castling(look.position, bool(line.plays)):
            collected.notes.append("was not asked: without setboard it does not know the castling rights")
            return collected.found()
        self._send_holdings(look)
        self._send_clocks(look)
        await self._analyse(collected)
        session.require_speech()
        return collected.found()

    async def end_game(self, game: Game) -> None:
        reason = (game.reason or "").replace("{", "(").replace("}", ")") or None
        self._session.send(Result(game.result, reason))
        await self._session.settle()

    # -- the game ------------------------------------------------------------------------------------------------------

    def _variant_of(self, game: Game) -> str:
        """The engine's own word for the game's variant."""
        ours = game.variant or "chess"
        word = cecp_variant(ours) or ours
        variants = self._session.features["variants"]
        if variants is None:  # then it plays all. Source: section 9, ``variants``
            return word
        names = [name.strip() for name in str(variants).split(",")]
        for name in names:
            if word == name or ours in (name, read_cecp_variant(name)):
                return name
        raise self._process.error(f"does not play {ours}; it plays {', '.join(names)}", VariantError)

    async def _new(self, game: Game) -> None:
        session = self._session
        self._game = game
        session.send(*session.settings, Plain("new"), *self._variant_command())
        if game.base_s is not None and game.base_s + (game.increment_s or 0) > 0:
            session.send(LevelCommand(0, game.base_s, 1000 * (game.increment_s or 0)))
        session.send(Plain("post"), Plain("easy"), Plain("force"))
        self._holdings = None
        self._is_edited = False
        await session.settle()
        session.refused = None

    def _variant_command(self) -> list[Command]:
        return [] if self._variant == "normal" else [Texted("variant", self._variant)]

    def _set_up(self, step: SetUp) -> None:
        if step.usual:
            return
        if self._session.features["setboard"] == 1:
            self._session.send(Texted("setboard", _HOLDINGS.sub("", step.fen, count=1)))
        else:
            self._edit(step.position)
        self._holdings = ("", "") if step.position.holdings is not None else None

    def _edit(self, position: Position) -> None:
        """Set up a position by ``edit``, which cannot set the side to move: for Black, White makes a move first."""
        if position.rules is Rules.CHESS960:
            raise self._process.error("cannot set up positions of chess960 (it has no setboard)")
        self._is_edited = True
        if not position.white_to_move:
            self._session.send(Plain("new"), *self._variant_command(), Plain("force"), self._user_move("a2a3"))
        self._session.send(Plain("edit"))
        self._process.send(*edit_lines(position.board))

    def _user_move(self, text: str) -> UserMove:
        move = parse_move(text)
        assert move is not None, text  # a move that was played has a form that the protocol knows
        return UserMove(move, self._session.features["usermove"] == 1)

    async def _move(self, step: Play) -> None:
        text = step.uci
        if self._session.features["san"] == 1 or (step.position.rules is Rules.CHESS960 and step.san.startswith("O-O")):
            text = step.san.rstrip("+#")
        self._session.move(self._user_move(text))
        until_ms = self._process.now_ms + (_ALONE_MS if self._sends_slowly else 0)
        while self._process.now_ms < until_ms:
            await self._session.next(until_ms)

    # -- a position ----------------------------------------------------------------------------------------------------

    async def _restore(self, look: Look, line: PlayedLine) -> None:
        """The boards differ: Fairy-Max refuses a legal move after an analysis if another line follows at once."""
        session = self._session
        self._sends_slowly = True
        refused = session.refused
        assert line.start is not None
        await self._new(self._game)
        if session.features["setboard"] == 1:
            self._set_up(SetUp(look.position, look.fen, usual=False))
        else:
            self._set_up(line.start)
            for play in line.plays:
                await self._move(play)
        await session.settle()
        if session.refused is not None:
            raise self._process.error(f"does not take {refused}, which was played")

    def _send_holdings(self, look: Look) -> None:
        """In bughouse always, in crazyhouse only for a position that was set up."""
        holdings = look.position.holdings
        if holdings is None or holdings == self._holdings:
            return
        if look.position.rules is Rules.BUGHOUSE or self._holdings is not None:
            self._session.send(Holding(*holdings))
        self._holdings = holdings if look.position.rules is Rules.BUGHOUSE else None

    def _send_clocks(self, look: Look) -> None:
        """The engine's clock is that of the side to move."""
        if self._session.features["time"] != 1:
            return
        clocks_ms = (look.white_clock_ms, look.black_clock_ms)
        own_ms, other_ms = clocks_ms if look.position.white_to_move else clocks_ms[::-1]
        for word, clock_ms in (("time", own_ms), ("otim", other_ms)):
            if clock_ms is not None:
                self._session.send(Number(word, max(0, clock_ms // 10)))

    async def _analyse(self, collected: Collected) -> None:
        """Until a limit is reached. Source: section 12."""
        session, process = self._session, self._process
        session.send(Plain("analyze"))
        begun_ms = process.now_ms
        until_ms = begun_ms + self._limits.most_ms
        silent_ms = until_ms if self._limits.time_ms is not None else begun_ms + self._process.patience.answer_ms
        dot_ms = begun_ms + _DOT_MS
        asks = self._limits.nodes is not None
        while True:
            answer = await session.next(min(until_ms, silent_ms, *([dot_ms] if asks and self._answers_dots else [])))
            self._require_analysis()
            if answer is not None:
                if self._collect(collected, answer):
                    break
                if isinstance(answer, ThinkingLine | Status):
                    silent_ms = process.now_ms + self._silence_ms(collected, process.now_ms - begun_ms)
                self._answers_dots = self._answers_dots or isinstance(answer, Status)
            elif process.now_ms >= min(until_ms, silent_ms):
                if self._limits.time_ms is None and not _is_decided(collected):
                    collected.notes.append(f"did not reach its limit in {(process.now_ms - begun_ms) // 1000} s")
                break
            else:
                session.send(Plain("."))
                self._answers_dots = False  # until it answers; an engine that ignores "." is asked once
                dot_ms = process.now_ms + _DOT_MS
        session.send(Plain("exit"), Plain("force"))  # GNU Chess begins to play without the second
        await session.settle(partial(self._collect, collected))  # lines until then are about this position

    def _require_analysis(self) -> None:
        """Refuse an engine that reports that it has no ``analyze`` mode."""
        if self._session.features["analyze"] != 1:
            raise self._process.error("cannot analyse positions (it has no analyze mode)")

    def _silence_ms(self, collected: Collected, took_ms: int) -> int:
        """An engine may stop by itself after a complete search."""
        if self._limits.time_ms is not None:
            return self._limits.time_ms
        if _is_decided(collected):
            return _MATED_MS
        return _SILENT_MS + _SILENT_TIMES * took_ms

    def _collect(self, collected: Collected, answer: Answer) -> bool:
        """Return whether the limit is reached."""
        depth, nodes = self._limits.depth, self._limits.nodes
        look = collected.look
        if isinstance(answer, Indented) and answer.continues_pv:
            collected.continue_pv(answer.text)
        elif isinstance(answer, Status):
            return nodes is not None and answer.nodes >= nodes
        elif isinstance(answer, ThinkingLine):
            too_deep = depth is not None and answer.depth > depth
            if too_deep and collected.last is not None:
                return True
            white = look.position.white_to_move
            collected.add(thinking_of(answer, collected.count, look.ply, self._process.name, white, None, 0))
            return too_deep or (nodes is not None and answer.nodes >= nodes)
        return False


def _assumes_right_castling(position: Position, has_moved: bool) -> bool:
    """Though ``edit`` cannot set castling rights."""
    # The engine assumes a right if king and rook are at home and neither has moved since. It knows en passant only from
    # moves.
    board = position.board
    assumed = sum(bit for (king, one, rook, other), bit in _HOME.items() if board[king] == one and board[rook] == other)
    return assumed == position.castling and (position.push_col < 0 or has_moved)


def _is_decided(collected: Collected) -> bool:
    """Whether the last line is a mate, or a score so large that it may mean one."""
    last = collected.last
    return last is not None and (last.score_cp is None or abs(last.score_cp) > _DECIDED_CP)
