"""One client of a replay server: bytes in, bytes out. Without sockets; callers pass the time.

It speaks as FICS and its kin do: the login dialogue, ``fics% ``, ``\\n\\r``, style 12, ``set`` and ``iset``, block
mode, and the commands that clients use to watch games. Commands that a recording cannot support are refused in the
servers' own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from recorder.dialects.gameinfo import format_holdings
from recorder.dialects.lists import format_refusal
from recorder.dialects.notices import format_observing
from recorder.events import HoldingsLine, Line, ObserveRefused, ObservingEnded, ObservingStarted, Refusal
from recorder.model import EventKind, GameEvent, GameKind, HoldingsChange
from recorder.replay.boards import BoardState, ReplayBoard, frame_text
from recorder.replay.served import not_recorded
from recorder.replay.server.control import BAD_PARAMETERS, CODES, NO_NUMBER, Settings, TypedCommand, read_command
from recorder.replay.server.login import AT_ONCE, Greeting, LoginDialogue
from recorder.replay.server.text import (
    chat_text,
    created_lines,
    delta_text,
    gameinfo_text,
    header_text,
    result_text,
    style_1,
)
from recorder.replay.show import Happening, Show, Sign

_NOWHERE: Final = Line("", 0)
_ENDS: Final = (Sign.RESULT, Sign.LEFT, Sign.OVER)
_GAME_PREFIX: Final = re.compile(r"Game [0-9]{1,9}:")


class ReplaySession(LoginDialogue):
    """A client of a replay of games; a ``shared`` replay's time is not the client's to change."""

    def __init__(
        self,
        show: Show,
        number: int,
        manner: Greeting,
        answer: Callable[[ReplaySession, TypedCommand, str], None],
        *,
        shared: bool = False,
        wall_ms: Callable[[int], int] = lambda now_ns: now_ns // 1_000_000,
    ) -> None:
        self.show = show
        self.shared = shared
        self.wall_ms = wall_ms
        self._answer = answer
        self.settings = Settings()
        self.started = shared
        self.observed: set[int] = set()
        self.followed: set[str] = set()  # names in lower case, or ``*``
        self.examined: ReplayBoard | None = None
        self.examined_place = 0  # of its line
        self.examined_main: list[BoardState] = []  # the recorded line
        self.code: int | None = None  # block mode's, of the command that is being answered
        self._left: set[str] = set()  # keys of games that the recording left while they were observed
        self._looked = False
        self._lines: list[str] = []
        super().__init__(number, manner)

    def _entered(self) -> None:
        self._say(f"{self.show_summary()}\n{self._prompt}")

    def _login_bits(self, bits: str) -> None:
        self.settings.switch_on(bits)

    # -- what goes out -----------------------------------------------------------------------------------------

    def reply(self, *lines: str | None) -> None:
        self._lines += [line for line in lines if line is not None]

    def _wrapped(self, text: str) -> list[str]:
        width = self.settings.width
        if self.settings.has("nowrap") or len(text) <= width:
            return [text]
        lines: list[str] = []
        while len(text) > width:
            index = text.rfind(" ", 1, width)
            lines.append(text[:index] if index > 4 else text[:width])
            text = "\\   " + (text[index + 1 :] if index > 4 else text[width:])
        return [*lines, text]

    @property
    def _prompt(self) -> str:
        return "fics% " if self.settings.has("defprompt") else self.settings.prompt

    def _announce(self, lines: Iterable[str]) -> None:
        """What others have done is a message of its own, a prompt behind it."""
        found = list(lines)
        if found:
            bell = "\x07" if self.settings.has("bell") and any(line.startswith("<12>") for line in found) else ""
            self._say(bell + "\n" + "\n".join(found) + "\n" + self._prompt)

    def show_summary(self) -> str:
        count = len(self.show.recording.players)
        games = "one recorded game" if count == 1 else f"{count} recorded games"
        how = (
            "All clients share one clock."
            if self.shared
            else 'It starts when you type "observe", "follow" or "tell replay play".'
        )
        numbers = 'Games keep their recorded numbers; "games" lists the games in progress.'
        return f'This is a replay of {games}. {how}\n{numbers} "tell replay help" explains how to pause and seek.'

    # -- commands ----------------------------------------------------------------------------------------------

    def _command(self, text: str) -> None:
        block = self.settings.has("block")
        command = read_command(text, block)
        self._lines = []
        self.code = None if command.name is None else CODES[command.name]
        if block and command.number is None:
            if text.strip():
                self._say(f"\x150\x16{NO_NUMBER}\x16\x17\n{self._prompt}")
            else:
                self._say(self._prompt)
            return
        self._answer(self, command, text.strip())
        if self.closed:
            self._say("".join(f"{line}\n" for line in self._lines))
            self._leave()
            return
        body = "".join(f"{line}\n" for line in self._lines)
        if block:
            self._say(f"\x15{command.number}\x16{self.code or 0}\x16{body}\x17\n{self._prompt}")
        else:
            self._say(body + self._prompt)
        self._lines = []

    def bad_parameters(self, text: str) -> None:
        self.code = BAD_PARAMETERS
        self.reply(text)

    @property
    def due_ns(self) -> int | None:
        """None: the client's own replay stands, or it is shared."""
        return None if self.shared or self.closed else self.show.head.due_ns

    def tick(self, now_ns: int) -> None:
        if not self.shared:
            self.happen(self.show.take(now_ns, AT_ONCE), now_ns)

    def look(self) -> None:
        """Style 12 was set: show what the client is to see without asking, and let his replay begin."""
        if self.settings.style != 12 or self._looked:
            return
        self._looked = True
        seen = False
        for board in self.games_in_progress():
            if board.number not in self.observed and (self.seat(board) is not None or self.manner.observe):
                self.reply(*self._begins(Sign.BEGINS, board, board.holdings is not None))
                seen = True
        if seen or self.manner.observe:
            self.start()

    def happen_now(self, happenings: Iterable[Happening]) -> None:
        for happening in happenings:
            self.reply(*self._happened(happening))

    def jump(self, place: int, at_ms: int) -> None:
        """Games that still go on are shown as they are there."""
        before = [board for board in self.show.boards.values() if board.number in self.observed]
        watched = {board.game.key for board in before}
        self.show.go(place, self.now_ns, at_ms)
        self.observed.clear()
        ended = watched - {board.game.key for board in self.games_in_progress()}
        self._left |= ended  # seen again when they begin again
        for board in before:
            if board.game.key in ended and self.seat(board) is None:
                self.reply(self.leave_game(board.number))
        for board in self.games_in_progress():
            if board.game.key in watched:
                self.reply(*self.begin_observing(board))
            elif self.seat(board) is not None:
                self.observed.add(board.number)
                self.reply("", *self.board_lines(board, board.holdings is not None))

    # -- games -------------------------------------------------------------------------------------------------

    def relation(self, board: ReplayBoard) -> int:
        """As style 12 numbers it; the recorded player plays his own games."""
        if self.examined is board:
            return 2
        if board.game.kind is not GameKind.PLAYED:
            return -2
        side = self.seat(board)
        if side is None or board.state is None:
            return 0
        return 1 if board.state.position.white_to_move == side else -1

    def seat(self, board: ReplayBoard) -> bool | None:
        """Whether this client has White, or Black, in a game that was recorded by this player; None: neither."""
        me = board.game.me
        if me is None or self.handle is None or me.lower() != self.handle.lower():
            return None
        if board.game.kind is not GameKind.PLAYED:
            return None
        if me.lower() == board.white.lower():
            return True
        return False if me.lower() == board.black.lower() else None

    def board_lines(self, board: ReplayBoard, holdings: bool) -> list[str]:
        """As the client's style has it, and the holdings behind it."""
        if board.state is None:
            return []
        if self.settings.style != 12:
            return style_1(board, board.state, self.seat(board) is False)
        flip = self.seat(board) is False
        text = frame_text(board, self.relation(board), self.settings.has("ms"), flip)
        lines = [] if text is None else [text]
        if holdings and board.holdings is not None:
            lines += ["", format_holdings(HoldingsLine(_NOWHERE, board.number, *board.holdings))]
        return lines

    def begin_observing(self, board: ReplayBoard) -> list[str]:
        """Return what the server prints for it."""
        self.observed.add(board.number)
        lines = [format_observing(ObservingStarted(_NOWHERE, board.number))]
        header = header_text(board)
        lines += [] if header is None else [header]
        if self.settings.has("gameinfo"):
            lines.append(gameinfo_text(board, self.show.partner_of(board)))
        lines += ["", *self.board_lines(board, board.holdings is not None)]
        note = not_recorded(board.game, (board.white, board.black))
        return lines if note is None else [*lines, *self._wrapped(note)]

    def leave_game(self, number: int) -> str:
        self.observed.discard(number)
        return format_observing(ObservingEnded(_NOWHERE, number))

    def refusal(self, reason: Refusal, number: int | None = None) -> str:
        return format_refusal(ObserveRefused(_NOWHERE, reason, number))

    def games_in_progress(self) -> list[ReplayBoard]:
        boards = self.show.boards.values()
        return [board for board in boards if board.is_announced and board.result is None and not board.over]

    def start(self) -> None:
        if not self.started:
            self.started = True
            self.show.head.resume(self.now_ns)

    def happen(self, happenings: Iterable[Happening], now_ns: int) -> None:
        self.now_ns = now_ns
        if self.handle is None or self.closed:
            return
        for happening in happenings:
            lines = self._happened(happening)
            if lines and happening.sign in _ENDS:
                self._part()
            self._announce(lines)

    def _happened(self, happening: Happening) -> list[str]:
        sign, board, what, holdings = happening
        if sign in (Sign.BEGINS, Sign.AGAIN):
            return self._begins(sign, board, holdings)
        if board.number not in self.observed or self.examined is board:
            if sign is Sign.RESULT and isinstance(what, GameEvent) and self.settings.has("gin"):
                return [result_text(board, what)]
            return []
        if sign is Sign.BOARD:
            delta = self._delta(board, what)
            return [delta] if delta is not None else self.board_lines(board, holdings)
        if sign is Sign.HOLDINGS and isinstance(what, HoldingsChange):
            passed = (what.passed[1], what.passed[0] == "W") if what.passed else (None, None)
            return [format_holdings(HoldingsLine(_NOWHERE, board.number, what.white, what.black, *passed))]
        if sign is Sign.EVENT and isinstance(what, GameEvent):
            return self._event(board, what)
        if sign is Sign.RESULT and isinstance(what, GameEvent):
            lines = [result_text(board, what)]
            if self.seat(board) is None:
                lines += ["", self.leave_game(board.number)]
            self.observed.discard(board.number)
            return lines
        if sign is Sign.LEFT:
            self._left.add(board.game.key)
            return [self.leave_game(board.number)]
        if sign is Sign.OVER and self.seat(board) is None:  # how it ended is not known
            return [self.leave_game(board.number)]
        if sign is Sign.OVER:
            self.observed.discard(board.number)
        return []

    def _begins(self, sign: Sign, board: ReplayBoard, holdings: bool) -> list[str]:
        if self.seat(board) is not None:
            self.observed.add(board.number)
            lines = created_lines(board) if sign is Sign.BEGINS else []
            if self.settings.has("gameinfo"):
                lines.append(gameinfo_text(board, self.show.partner_of(board)))
            return [*lines, "", *self.board_lines(board, holdings)]
        if sign is Sign.AGAIN and board.number in self.observed:
            return self.board_lines(board, holdings)
        known = [name for name in (board.white, board.black) if name.lower() in self.followed]
        if self.manner.observe or "*" in self.followed or known or board.game.key in self._left:
            self._left.discard(board.game.key)
            lines = []
            if known and sign is Sign.BEGINS:
                other = board.black if known[0] == board.white else board.white
                lines = [f"{known[0]}, whom you are following, has started a game with {other}."]
            return [*lines, *self.begin_observing(board)]
        if self.settings.has("gin") and sign is Sign.BEGINS:
            return created_lines(board)[-1:]
        return []

    def _delta(self, board: ReplayBoard, what: object) -> str | None:
        """A move as ``<d1>``, if the client has that variable on and the board changes in no other way."""
        if not self.settings.has("compressmove") or self.settings.style != 12:
            return None
        return delta_text(board, what)

    def _event(self, board: ReplayBoard, event: GameEvent) -> list[str]:
        if event.kind is EventKind.CHAT:
            text = chat_text(board, event)
            return [] if text is None else self._wrapped(text)
        return self._wrapped(_GAME_PREFIX.sub(f"Game {board.number}:", event.text, count=1))
