"""Talking with an engine of the CECP protocol: its features, its options, and waiting for it. Pure: time is told.

``Talk`` is the part of the interface that holds whatever is analysed; ``recorder.replay.analysis.cecp`` is the rest.
What is said in which order is written as scripts: generators that yield until when they wait, and are sent the engine's
next answer, or None when that time has come.

Source: sections 7 to 9 of the protocol document.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from typing import Final

from recorder.cecp.answers import (
    Answer,
    Comment,
    ErrorAnswer,
    Features,
    IllegalMove,
    Moved,
    Pong,
    Tell,
    parse_answer,
)
from recorder.cecp.commands import (
    Command,
    FeatureAnswer,
    Number,
    OptionSet,
    Plain,
    format_command,
)
from recorder.cecp.features import DEFAULTS, EngineOption, Feature, parse_option
from recorder.cecp.thinking import Status, ThinkingLine
from recorder.errors import EngineError
from recorder.replay.analysis.intake import Intake
from recorder.replay.analysis.spec import EngineSpec, Patience

__all__ = ["Script", "Talk", "clean"]

#: A dialogue: yields until when it waits (milliseconds), is sent an answer, or None when that time has come.
Script = Generator[int, Answer | None, None]

_MOST_NAME: Final = 100
_NUDGE_MS: Final = 500
_MOST_STRANGE: Final = 128 << 10  # bytes before the first word of the protocol
_COMMANDS: Final = {"memory": "memory", "cores": "smp", "nps": "nps"}  # set like options: the feature that allows it
_PROMPT: Final = re.compile(r"^(?:(?:White|Black) \([0-9]{1,5}\) : ?)+", re.ASCII)  # GNU Chess, once it has analysed
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)


class Talk:
    """The interface's side of a conversation with one engine.

    Args:
        spec: the engine. patience: how long it is waited for.
    Attributes:
        name: as ``myname`` tells it; else the command's first word.
        features: what holds, by name.
        was_heard: it has printed something. reusable: whether the same process may be told of another game.
        wants_interrupt: the engine does not hear what is said: it gets the signal that the protocol has for that.
    """

    def __init__(self, spec: EngineSpec, patience: Patience) -> None:
        self.name = spec.command.split()[0].rpartition("/")[2] if spec.command.split() else spec.command
        self.features: dict[str, int | str | None] = dict(DEFAULTS)
        self.wants_interrupt = False
        self.patience = patience
        self._wanted: Mapping[str, str | None] = spec.options
        self._options: dict[str, EngineOption] = {}
        self._settings: list[Command] = []  # said before each game
        self._nps: int | None = None
        self._intake = Intake()
        self._script: Script | None = None
        self._due_ms: int | None = None
        self._now_ms = 0
        self._saying: list[str] = []
        self._pings = 0
        self._answered: int | None = None  # the last ping that was
        self._answers_twice = False  # GNU Chess: its adapter does at once, the engine when it has done all
        self.was_heard = False
        self._speaks = False  # it has said something of the protocol
        self._strange = 0  # bytes that it has printed before
        self._refused: str | None = None  # the move or command that it did not take
        self._last_move: str | None = None  # as it was told last
        self._last_words: str | None = None

    # -- for whoever has the process ---------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Whether there is more to hear before something else can be asked."""
        return self._script is not None

    @property
    def due_ms(self) -> int | None:
        """When ``tick`` is to be called; None: not before the engine says something."""
        return self._due_ms

    @property
    def reusable(self) -> bool:
        return self.features["reuse"] != 0

    @property
    def last_words(self) -> str | None:
        """The last thing it said that is meant for people, to tell with an error."""
        return self._last_words

    def begin(self, now_ms: int) -> None:
        """Say the first words: ``is_busy`` until the engine has told what it can."""
        self._start(self._handshake(), now_ms)

    def leave(self) -> None:
        """Say ``quit``."""
        self._script = self._due_ms = None
        self._say(Plain("quit"))

    def take_output(self) -> list[str]:
        """The lines to write, without their ends."""
        lines, self._saying = self._saying, []
        return lines

    def receive(self, data: bytes, now_ms: int) -> None:
        """Take what the engine printed.

        Raises:
            EngineError: it breaks the protocol so that nothing more can be asked of it.
        """
        self._now_ms = now_ms
        self.was_heard = True
        lines = self._intake.receive(data, now_ms)
        if self._intake.floods:
            raise self._error("prints more than anybody can read (256 KiB a second)")
        for line in lines:
            answer = parse_answer(_PROMPT.sub("", line))
            self._overhear(answer)
            if self._script is not None and not isinstance(answer, Comment):
                self._advance(answer)
        self._strange += 0 if self._speaks else len(data)
        if self._strange > _MOST_STRANGE:
            self._require_speech()

    def tick(self, now_ms: int) -> None:
        """The time ``due_ms`` has come, perhaps.

        Raises:
            EngineError: it should have answered before.
        """
        self._now_ms = now_ms
        if self._due_ms is not None and now_ms >= self._due_ms:
            self._advance(None)

    # -- scripts -------------------------------------------------------------------------------------------------------

    def _start(self, script: Script, now_ms: int) -> None:
        self._now_ms = now_ms
        self._script = script
        self._advance(None)

    def _advance(self, answer: Answer | None) -> None:
        assert self._script is not None
        try:
            self._due_ms = self._script.send(answer)
        except StopIteration:
            self._script = self._due_ms = None
        except EngineError:
            self._script = self._due_ms = None
            raise

    def _say(self, *commands: Command) -> None:
        self._saying += [format_command(command) for command in commands]

    def _error(self, what: str) -> EngineError:
        """The error that an engine did something."""
        return EngineError(self._sentence(what))

    def _sentence(self, what: str) -> str:
        """What an engine did, with its name."""
        words = "" if self._last_words is None else f"; it said {self._last_words!r}"
        return f"The engine {self.name} {what}{words}."

    def _overhear(self, answer: Answer) -> None:
        """What may come at any time."""
        match answer:
            case Features():
                self._take_features(answer)
            case IllegalMove(move, _):
                self._refused = clean(move or "a move")
            case ErrorAnswer(_, command):
                self._complain(command or "")
            case Tell("telluser" | "tellusererror", text):
                self._last_words = clean(text)
            case Pong(number):
                self._speaks = True
                self._answers_twice = self._answers_twice or number == self._answered
            case ThinkingLine() | Moved() | Status():
                self._speaks = True

    def _complain(self, command: str) -> None:
        """An ``Error``: what it does not know is not said again; what it should have taken is remembered."""
        word = command.split()[0] if command.split() else ""
        switch = {"analyze": "analyze", "time": "time", "otim": "time", "nps": "nps"}.get(word)
        if switch is not None:
            self.features[switch] = 0
        elif word in ("undo", "setboard", "edit", "variant", "usermove") or (command and command == self._last_move):
            self._refused = clean(command)

    def _settle(self) -> Script:
        """Wait until the engine has done all that it was told.

        Where it has no ``ping``: until it has been quiet for a while.
        """
        if self.features["ping"] == 1:
            self._pings += 1
            self._say(Number("ping", self._pings))
            pong, told = Pong(self._pings), f"ping {self._pings}"
            yield from self._hear(pong, told)
            self._answered = self._pings
            if self._answers_twice:
                yield from self._hear(pong, told)
            return
        until_ms = self._now_ms + self.patience.answer_ms
        interrupted = False
        while (yield min(self._now_ms + self.patience.quiet_ms, until_ms)) is not None or self._now_ms >= until_ms:
            if self._now_ms < until_ms:
                continue
            if interrupted or not self._may_interrupt():
                raise self._error("goes on talking when it should have stopped")
            interrupted, until_ms = True, self._now_ms + self.patience.answer_ms

    def _hear(self, expected: Answer, told: str) -> Script:
        """Wait for one answer; an engine that does not hear while it thinks is interrupted once."""
        until_ms = self._now_ms + self.patience.answer_ms
        interrupted = False
        nudges = self._nudges()
        while (answer := (yield min(until_ms, next(nudges)))) != expected:
            if answer is None and self._now_ms >= until_ms:
                if interrupted or not self._may_interrupt():
                    raise self._error(f"has not answered {told!r} for {_seconds(self.patience.answer_ms)}")
                interrupted, until_ms = True, self._now_ms + self.patience.answer_ms

    def _nudges(self) -> Iterator[int]:
        """Until when to wait next, for ever; say something harmless when such a time has come.

        GNU Chess reads all lines that have come, looks at one, and at the next when another comes.
        """
        wait_ms = _NUDGE_MS
        until_ms = self._now_ms + wait_ms
        while True:
            yield until_ms
            if self._now_ms >= until_ms:
                self._say(Plain("easy"))
                wait_ms *= 2
                until_ms = self._now_ms + wait_ms

    def _require_speech(self) -> None:
        """Give up what is no engine of the protocol.

        Raises:
            EngineError: it has said nothing yet that is of the protocol.
        """
        if not self._speaks:
            raise self._error("answers nothing that a CECP engine would; if it speaks UCI, name it with --uci")

    def _may_interrupt(self) -> bool:
        """Have it interrupted, if it did not forbid that. Source: section 7, ``SIGINT``.

        Raises:
            EngineError: it is no engine, and would die of it.
        """
        self._require_speech()
        self.wants_interrupt = self.features["sigint"] == 1
        return self.wants_interrupt

    # -- the handshake -------------------------------------------------------------------------------------------------

    def _handshake(self) -> Script:
        """``xboard``, ``protover 2``, and the features; an engine that tells none has version 1 of the protocol.

        Source: section 9, ``feature``.
        """
        self._say(Plain("xboard"), Number("protover", 2))
        until_ms = self._now_ms + self.patience.features_ms
        nudges = self._nudges()
        while self._now_ms < until_ms and self.features["done"] is None:
            yield min(until_ms, next(nudges))
        yield from self._await_features()
        self._set_options()

    def _await_features(self) -> Script:
        """After ``done=0``: until it says ``done=1``."""
        until_ms = self._now_ms + self.patience.done_ms
        nudges = self._nudges()
        while self.features["done"] == 0:
            if self._now_ms >= until_ms:
                raise self._error(
                    f"began to tell its features (done=0) and did not end for {_seconds(self.patience.done_ms)}"
                )
            yield min(until_ms, next(nudges))

    def _take_features(self, features: Features) -> None:
        self._speaks = True
        for feature in features.settings:
            self._say(self._take_feature(feature))

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
            self.name = clean(str(value))
        return FeatureAnswer(True, name)

    def _set_options(self) -> None:
        """The commands for what the user has set. Source: section 8, ``memory``, ``cores`` and ``option``."""
        first: list[Command] = []
        last: list[Command] = []
        for name, value in self._wanted.items():
            if not f"{name}{value}".isprintable():
                raise self._error(f"cannot be told of option {name!r} in one line")
            feature = _COMMANDS.get(name)
            if name in self._options:
                first.append(OptionSet(name, self._checked(self._options[name], value)))
            elif feature is not None and self.features[feature] == 1:
                number = self._number(name, value)
                if name == "nps":
                    self._nps = number
                else:
                    (first if name == "memory" else last).insert(0, Number(name, number))
            else:
                known = sorted((*self._options, *(word for word, one in _COMMANDS.items() if self.features[one] == 1)))
                raise self._error(f"has no option {name!r}; it has {', '.join(known) or 'none'}")
        self._settings = first + last

    def _checked(self, option: EngineOption, value: str | None) -> str | None:
        """A value in the form that the option takes."""
        if option.kind in ("button", "save", "reset"):
            if value is not None:
                raise self._error(f"takes no value for its option {option.name!r}, which is a button")
            return None
        if value is None:
            raise self._error(f"needs a value for its option {option.name!r} ({option.kind})")
        if option.kind == "check":
            word = {"true": "1", "false": "0"}.get(value.lower(), value)
            if word not in ("0", "1"):
                raise self._error(f"takes true or false for its option {option.name!r}, not {value!r}")
            return word
        if option.kind in ("spin", "slider"):
            number = self._number(option.name, value)
            if not (option.low or 0) <= number <= (option.high or 0):
                raise self._error(f"takes {option.low} to {option.high} for its option {option.name!r}, not {number}")
            return str(number)
        if option.kind == "combo" and value not in option.choices:
            raise self._error(f"takes {', '.join(option.choices)} for its option {option.name!r}, not {value!r}")
        return value

    def _number(self, name: str, value: str | None) -> int:
        if value is None or not _INTEGER.fullmatch(value):
            raise self._error(f"takes a number for its option {name!r}, not {value or 'nothing'!r}")
        return int(value)


def clean(text: str) -> str:
    """A word of the engine as it may be shown: one line, printable, not long."""
    return "".join(mark if mark.isprintable() else " " for mark in text).strip()[:_MOST_NAME]


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"
