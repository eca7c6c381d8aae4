"""A session with an engine of the CECP protocol: its features, its options, and waiting for it.

Source: sections 7 to 9 of the protocol document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from recorder.analysis.process import EngineProcess, clean, seconds
from recorder.cecp.answers import (
    Answer,
    Comment,
    ErrorAnswer,
    Features,
    Moved,
    Pong,
    RefusedMove,
    TellCommand,
    parse_answer,
)
from recorder.cecp.commands import Command, FeatureAnswer, Number, OptionSet, Plain, format_command
from recorder.cecp.features import DEFAULTS, EngineOption, Feature, parse_option
from recorder.cecp.thinking import Status, ThinkingLine

__all__ = ["CecpSession"]

_NUDGE_MS: Final = 500
_MOST_STRANGE: Final = 128 << 10  # characters before the first line of the protocol
_COMMANDS: Final = {"memory": "memory", "cores": "smp"}  # set like options: the feature that allows it
_ORDER: Final = {"memory": 0, "cores": 2}  # in which they are sent; the engine's own options between them
_PROMPT: Final = re.compile(r"^(?:(?:White|Black) \([0-9]{1,5}\) : ?)+", re.ASCII)  # GNU Chess, once it has analysed
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def _ignore(_: Answer) -> None:
    """Nothing."""


class CecpSession:
    """The interface's side of a session with one engine.

    Attributes:
        features: the values in force, by name.
        settings: commands for the user's options, to be sent before each game.
        refused: the move or command that the engine refused; None: none.
    """

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
        """Send commands."""
        self.process.send(*map(format_command, commands))

    def move(self, command: Command) -> None:
        """Send a move; an answer may name it."""
        self._last_move = format_command(command).removeprefix("usermove ")
        self.send(command)

    async def next(self, until_ms: int) -> Answer | None:
        """The engine's next answer; None: none until then.

        Raises:
            EngineError: it does not speak this protocol, or has ended.
        """
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
        """Send ``xboard`` and ``protover 2``, and read the features; an engine without any has protocol version 1.

        Source: section 9, ``feature``.
        """
        self.send(Plain("xboard"), Number("protover", 2))
        until_ms = self.process.now_ms + self.process.patience.features_ms
        await self._wait(lambda _: self.features["done"] is not None, until_ms)
        await self.await_features()
        self._set_options()

    async def await_features(self) -> None:
        """Wait for ``done=1`` after ``done=0``."""
        done_ms = self.process.patience.done_ms
        if self.features["done"] == 0 and not await self._wait(
            lambda _: self.features["done"] != 0, self.process.now_ms + done_ms
        ):
            raise self.process.error(f"began to send its features (done=0) and did not end for {seconds(done_ms)}")

    async def settle(self, take: Callable[[Answer], object] = _ignore) -> None:
        """Wait until the engine has processed all commands; ``take`` gets its answers meanwhile.

        Without ``ping``: until it has printed nothing for a while.
        """
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
        """Refuse a program that does not speak the protocol.

        Raises:
            EngineError: it has not printed a line of the protocol yet.
        """
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
        """Read answers up to the last one; False: it did not arrive in time. Harmless commands are sent meanwhile.

        GNU Chess reads all available lines, processes one, and processes the next when another arrives.
        """
        wait_ms = _NUDGE_MS
        nudge_ms = self.process.now_ms + wait_ms
        while self.process.now_ms < until_ms:
            answer = await self.next(min(until_ms, nudge_ms))
            if answer is not None and is_last(answer):
                return True
            if answer is not None:
                take(answer)
            if self.process.now_ms >= nudge_ms:
                self.send(Plain("easy"))
                wait_ms *= 2
                nudge_ms = self.process.now_ms + wait_ms
        return False

    def _take_any(self, answer: Answer) -> None:
        """Take an answer that may arrive at any time."""
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
        """Take an ``Error``: an unknown command is not sent again; a refused one is noted."""
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
        """Make the commands for the user's options. Source: section 8, ``memory``, ``cores`` and ``option``."""
        for name, value in sorted(self._wanted.items(), key=lambda one: _ORDER.get(one[0], 1)):
            if not f"{name}{value}".isprintable():
                raise self.process.error(f"cannot take option {name!r}: it is not one line")
            feature = _COMMANDS.get(name)
            if name in self._options:
                self.settings.append(OptionSet(name, self._checked(self._options[name], value)))
            elif feature is not None and self.features[feature] == 1:
                self.settings.append(Number(name, self._number(name, value)))
            else:
                known = sorted((*self._options, *(word for word, one in _COMMANDS.items() if self.features[one] == 1)))
                raise self.process.error(f"has no option {name!r}; it has {', '.join(known) or 'none'}")

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
