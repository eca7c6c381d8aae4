"""Runs a replay in time: draws it on the terminal and passes on the user's keys, or prints a line for each moment.

Owns a terminal while something is shown on all of it: keys one by one, the other screen, and all of it given back.

Whatever ends the showing, an error, Ctrl-C, a signal or Ctrl-Z, the terminal is left as it was found. Bytes of keys may
be cut anywhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from time import monotonic_ns
from types import FrameType
from typing import Any, Final

from recorder.model import EXACT, EventKind, Game
from recorder.replay.moments import Begin, End, ShownPly, What
from recorder.replay.places import Position, seek
from recorder.replay.server.text import event_text
from recorder.replay.show import ReplaySource
from recorder.replay.terminal.scene import Row
from recorder.replay.terminal.viewing import Viewing, ply_text
from recorder.replay.timing import Playhead
from recorder.times import format_clock

_SEQUENCE: Final = re.compile(rb"\x1b(?:\[([0-9;]*)([@-~])|O([@-~]))")
_BEGUN: Final = re.compile(rb"\x1b(?:\[[0-9;]{0,32}|O)?")
_CHARACTER: Final = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CUT: Final = re.compile(rb"[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}")
_LETTERS: Final = {
    b"A": "up", b"B": "down", b"C": "right", b"D": "left", b"H": "home", b"F": "end", b"Z": "shift-tab",
    b"a": "shift-up", b"b": "shift-down", b"c": "shift-right", b"d": "shift-left",
}  # fmt: skip
_NUMBERS: Final = {b"1": "home", b"4": "end", b"5": "page-up", b"6": "page-down", b"7": "home", b"8": "end"}
_CONTROLS: Final = {
    0x08: "backspace", 0x09: "tab", 0x0A: "enter", 0x0C: "redraw", 0x0D: "enter", 0x15: "clear", 0x7F: "backspace",
}  # fmt: skip
_ESCAPE: Final = 0x1B


class KeyReader:
    """Reads keys: printable characters are their own names, others have words (``left``, ``shift-left``, ``enter``).

    Sequences that mean nothing here are dropped.
    """

    def __init__(self) -> None:
        self._rest = b""

    @property
    def waits(self) -> bool:
        """Whether a sequence has begun that may go on."""
        return bool(self._rest)

    def receive(self, data: bytes) -> list[str]:
        """Read what was typed; the beginning of a sequence waits for the rest of it."""
        data, self._rest = self._rest + data, b""
        keys: list[str] = []
        place = 0
        while place < len(data):
            if data[place] == _ESCAPE:
                match = _SEQUENCE.match(data, place)
                if match is not None:
                    keys += _named(match)
                    place = match.end()
                    continue
                if _BEGUN.fullmatch(data, place):
                    self._rest = data[place:]
                    break
                keys.append("escape")
                place += 1
                continue
            match = _CHARACTER.match(data, place)
            if match is None and _CUT.fullmatch(data, place):
                self._rest = data[place:]
                break
            end = place + 1 if match is None else match.end()
            keys += _typed(data[place:end])
            place = end
        return keys

    def settle(self) -> list[str]:
        """Nothing more comes: an escape that stands alone is the key."""
        rest, self._rest = self._rest, b""
        return ["escape"] if rest == b"\x1b" else []


def _named(match: re.Match[bytes]) -> list[str]:
    numbers, letter, plain = match.groups()
    letter = letter or plain
    first, _, modifier = (numbers or b"").partition(b";")
    name = _NUMBERS.get(first) if letter == b"~" else _LETTERS.get(letter)
    if name is None:
        return []
    return [f"shift-{name}" if modifier == b"2" and not name.startswith("shift-") else name]


def _typed(data: bytes) -> list[str]:
    if data[0] in _CONTROLS:
        return [_CONTROLS[data[0]]]
    text = data.decode("utf-8", "ignore")
    return [char for char in text if char.isprintable()]


# The other screen, no cursor, lines that do not wrap; and back.
_ENTER: Final = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
_LEAVE: Final = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
_ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_NOTED: Final = (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH)
_SETTLE_S: Final = 0.05  # after which an escape is no longer the beginning of a sequence
_SIZE: Final = (80, 24)
# Of colours only those whose ground is drawn, too: any other may vanish on a light or on a dark terminal.
_CODES: Final = {"bold": "1", "dim": "2", "reverse": "7", "runs": "1;7", "now": "1;7", "said": "1"}
_MANY_COLOURS: Final = 256
_COLOURS: Final = {
    "light": "48;5;144", "dark": "48;5;65", "light-last": "48;5;179", "dark-last": "48;5;136",
    "white": "1;38;5;231", "black": "38;5;16",
}  # fmt: skip
_FEW_COLOURS: Final = 8
_BASIC_COLOURS: Final = {
    "light": "46", "dark": "42", "light-last": "43", "dark-last": "43", "white": "1;37", "black": "30",
}  # fmt: skip


def colours_of(environment: Mapping[str, str]) -> int:
    """Return how many colours the terminal has: 256, 8, or 0 if it has none or ``NO_COLOR`` is set."""
    if environment.get("NO_COLOR"):
        return 0
    term, more = environment.get("TERM", "dumb"), environment.get("COLORTERM") in ("truecolor", "24bit")
    try:
        import curses
    except ImportError:  # Python was built without it
        count = _FEW_COLOURS if more or "color" in term else 0
    else:
        try:
            curses.setupterm(term)
            count = curses.tigetnum("colors")
        except curses.error:  # the terminal is in no database
            count = _FEW_COLOURS if more else 0
    if count < _FEW_COLOURS:
        return 0
    return _MANY_COLOURS if more or count >= _MANY_COLOURS or "256color" in term else _FEW_COLOURS


def has_unicode(environment: Mapping[str, str], encoding: str) -> bool:
    """Return whether the terminal shows other characters than ASCII, by its locale and the encoding of standard output.

    Without a locale it is POSIX; for C and POSIX Python takes UTF-8, and sets ``LC_CTYPE`` then.
    """
    forced = sys.flags.utf8_mode and environment.get("LC_CTYPE") == "C.UTF-8"
    names = ("LC_ALL", "LANG") if forced else ("LC_ALL", "LC_CTYPE", "LANG")
    locale = next((environment[name] for name in names if environment.get(name)), "POSIX")
    return encoding.lower().startswith("utf") and locale not in ("C", "POSIX")


class Ended(Exception):  # noqa: N818 (it is no error)
    """A signal wants the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class TerminalScreen:
    """The terminal, in its own screen and mode; ``away_ns`` is how long the process was suspended, in total."""

    def __init__(self, source: int, target: int, *, colours: int, encoding: str = "utf-8") -> None:
        self._source, self._target = source, target
        self._codes = {**_CODES, **({} if not colours else _COLOURS if colours == _MANY_COLOURS else _BASIC_COLOURS)}
        self._encoding = encoding
        self._before = termios.tcgetattr(source)
        self._keys = KeyReader()
        self._shown: list[bytes] = []
        self._noted: list[int] = []
        self._handlers: dict[int, Any] = {}
        self._wake = (-1, -1)
        self.away_ns = 0

    # -- coming and going --------------------------------------------------------------------------------------

    def open(self) -> None:
        """Take the terminal."""
        self._wake = os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._handlers[number] = signal.signal(number, _end)
        for number in _NOTED:
            self._handlers[number] = signal.signal(number, self._note)
        self._enter()

    def close(self) -> None:
        """Give the terminal back; nothing interrupts that."""
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (*_ENDING, *_NOTED, signal.SIGINT))
        try:
            self._leave()
            signal.set_wakeup_fd(-1)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            for end in self._wake:
                os.close(end)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted.append(number)

    def _enter(self) -> None:
        mode = termios.tcgetattr(self._source)
        mode[0] &= ~(termios.IXON | termios.ICRNL)
        mode[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._source, termios.TCSANOW, mode)
        self._write(_ENTER)
        self._shown = []

    def _leave(self) -> None:
        with contextlib.suppress(termios.error, OSError):  # the terminal may be gone
            termios.tcflow(self._target, termios.TCOON)
            self._write(_LEAVE)
        with contextlib.suppress(termios.error, OSError):
            termios.tcsetattr(self._source, termios.TCSANOW, self._before)

    def _pause(self) -> None:
        """Ctrl-Z: the shell gets its terminal until we are to go on."""
        since_ns = monotonic_ns()
        self._leave()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._note)
        self._enter()
        self.away_ns += monotonic_ns() - since_ns

    # -- what is shown and typed -------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        try:
            found = os.get_terminal_size(self._target)
        except OSError:
            return _SIZE
        return found.columns or _SIZE[0], found.lines or _SIZE[1]

    def show(self, rows: list[Row]) -> None:
        """Draw what has changed."""
        drawn = [self._encoded(row) for row in rows]
        if len(drawn) != len(self._shown):
            self._shown = [b""] * len(drawn)
        out = b"".join(
            b"\x1b[%d;1H%b\x1b[0m" % (place, row)
            for place, (row, shown) in enumerate(zip(drawn, self._shown, strict=True), 1)
            if row != shown
        )
        self._shown = drawn
        if out:
            self._write(out)

    def _encoded(self, row: Row) -> bytes:
        text = ""
        for span in row:
            codes = ";".join(code for word in span.style.split() if (code := self._codes.get(word)))
            text += f"\x1b[0;{codes}m{span.text}" if codes else f"\x1b[0m{span.text}"
        return text.encode(self._encoding, "replace")

    def redraw(self) -> None:
        """Draw all of it the next time."""
        self._write(b"\x1b[0m\x1b[2J")
        self._shown = []

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._target, data) :]

    def wait(self, most_s: float | None) -> list[str] | None:
        """Wait for keys, a change of the window, or the time; None if the input has ended.

        Raises ``Ended`` if a signal ends the process, and KeyboardInterrupt for Ctrl-C.
        """
        if self._keys.waits:
            most_s = _SETTLE_S
        ready = [] if self._noted else select.select([self._source, self._wake[0]], [], [], most_s)[0]
        if self._wake[0] in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake[0], 1 << 10)
        noted, self._noted = self._noted, []
        if signal.SIGTSTP in noted:
            self._pause()
        elif signal.SIGCONT in noted:  # stopped otherwise: the shell has had the terminal
            self._enter()
        if signal.SIGWINCH in noted:
            self.redraw()
        if self._source not in ready:
            return self._keys.settle() if not ready and self._keys.waits else []
        try:
            data = os.read(self._source, 1 << 10)
        except OSError:  # the terminal is gone
            return None
        return self._keys.receive(data) if data else None


def _end(number: int, frame: FrameType | None) -> None:
    raise Ended(number)


@contextmanager
def open_screen(source: int, target: int, *, colours: int, encoding: str) -> Iterator[TerminalScreen]:
    """A terminal for as long as the block lasts; behind it, a signal that ended it ends the process."""
    screen = TerminalScreen(source, target, colours=colours, encoding=encoding)
    try:
        try:
            screen.open()
            yield screen
        finally:
            screen.close()
    except Ended as ended:
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
        raise


_FRAME_S: Final = 0.1  # a running clock is drawn this often
_SHORTEST_WAIT_S: Final = 0.02


def watch(
    recording: ReplaySource,
    *,
    speed: Fraction,
    loop: bool,
    pause_at: Collection[str],
    position: Position | None,
    flip: bool,
    ascii_only: bool,
) -> None:
    """Show a replay on the terminal until the user quits or the terminal is gone."""
    from recorder.replay.terminal.scene import SceneStyle, draw

    viewing = Viewing(recording, time.monotonic_ns(), speed=speed, loop=loop, pause_at=pause_at)
    viewing.flip = flip
    if position is not None:
        viewing.start(position, time.monotonic_ns())
    encoding = sys.stdout.encoding or "ascii"
    colours = colours_of(os.environ)
    style = SceneStyle(ascii_only or not has_unicode(os.environ, encoding), colours > 0)
    with open_screen(sys.stdin.fileno(), sys.stdout.fileno(), colours=colours, encoding=encoding) as screen:
        while not viewing.left:
            now_ns = time.monotonic_ns() - screen.away_ns
            viewing.tick(now_ns)
            screen.show(draw(viewing, now_ns, *screen.size, style))
            keys = screen.wait(_wait_s(viewing, time.monotonic_ns() - screen.away_ns))
            if keys is None:
                return
            now_ns = time.monotonic_ns() - screen.away_ns
            for key in keys:
                if key == "redraw":
                    screen.redraw()
                else:
                    viewing.press(key, now_ns)


def _wait_s(viewing: Viewing, now_ns: int) -> float | None:
    """The seconds until the picture changes; None: it changes only after a key."""
    due_ns = viewing.show.head.due_ns
    if due_ns is None:
        return None
    return min(max((due_ns - now_ns) / 1e9, _SHORTEST_WAIT_S), _FRAME_S)


# -- lines -------------------------------------------------------------------------------------------------------


def print_moments(
    recording: ReplaySource,
    say: Callable[[str], object],
    *,
    speed: Fraction | None,
    loop: bool,
    position: Position | None,
) -> None:
    """Print a line for each moment when its time has come. Without a speed all lines are printed at once."""
    now_ns = time.monotonic_ns()
    head: Playhead[Any] = Playhead(recording.moments, now_ns, speed=speed or Fraction(1), loop=loop)
    if position is not None:
        place, at_ms = seek(recording.moments, position)
        head.go(place, time.monotonic_ns(), at_ms)
    if speed is None:
        for place in range(head.place, len(recording.moments)):
            _print_moment(recording, place, say)
        return
    while (due_ns := head.due_ns) is not None:
        time.sleep(max(due_ns - time.monotonic_ns(), 0) / 1e9)
        count = len(head.take(time.monotonic_ns()))
        for place in range(head.place - count, head.place):
            _print_moment(recording, place, say)
        sys.stdout.flush()


def _print_moment(recording: ReplaySource, place: int, say: Callable[[str], object]) -> None:
    moment = recording.moments[place]
    chapter, what = recording.what(place)
    minutes, seconds = divmod(moment.at_ms // 1000, 60)
    for line in _lines(chapter.game, what, len(recording.players) > 1):
        say(f"{minutes:3}:{seconds:02}  {line}")


def _lines(game: Game, what: What, several: bool) -> Iterator[str]:
    """Yield at most one line for a moment; with ``several`` games it names its game."""
    front = f"{game.white.handle}-{game.black.handle}  " if several else ""
    if isinstance(what, Begin):
        yield f"{game.white.handle} - {game.black.handle}, {game.category or game.variant or 'chess'}"
    elif isinstance(what, ShownPly):
        ply = what.ply
        exact = ply.precision_code in EXACT
        clocks = f"{format_clock(ply.white_clock_ms, exact)} {format_clock(ply.black_clock_ms, exact)}"
        took = "" if ply.elapsed_ms is None else f"  ({format_clock(ply.elapsed_ms, exact)})"
        yield f"{front}{ply_text(ply):<14} {clocks}{took}"
    elif isinstance(what, End):
        if not any(event.kind is EventKind.RESULT for event in game.events):
            yield f"{front}{game.result} {game.reason or ''}".rstrip()
    elif (text := event_text(what)) is not None:
        yield f"{front}{text}"
