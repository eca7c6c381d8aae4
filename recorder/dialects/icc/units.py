"""ICC's level-1 units and the datagrams in the stream of lines.

A unit is what one command caused; text in it is the same text that comes without units. Where a unit also holds
datagrams about a board, these are read and its text only repeats them, so a unit's lines wait for
its end. Source: section 8.1 of the protocol reference (ICC's formats2.txt).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from recorder.dialects.icc.fields import MoveForm, read_move
from recorder.errors import LineError
from recorder.events import Datagram, Event, Line, Malformed, Noise

if TYPE_CHECKING:
    from recorder.dialects.icc.values import IccDatagram

__all__ = ["DATAGRAM_NAME", "UnitReader"]

DATAGRAM_NAME = "datagram"
"""``Malformed.tag`` of a datagram that cannot be read."""

_DEEPEST = 3
_MOST_LINES = 5000  # more than the longest answer; a unit without an end must not hold a log's rest back


class UnitReader:
    """Reads the marks that the wire leaves in the stream of lines, and holds back the text between them.

    Args:
        count: called with the name and offset of every datagram that is not about games.

    Attributes:
        depth: units that are open.
        begin: offset of the outermost one.
    """

    def __init__(self, count: Callable[[str, int], None]) -> None:
        self.depth = 0
        self.begin = 0
        self.form = MoveForm()
        self._count = count
        self._lines: list[Line] = []
        self._has_boards = False

    def mark(self, line: Line) -> tuple[Event, list[Line]]:
        """Read a line that begins with ``\\x19``.

        Args:
            line: with the mark as its first character.

        Returns:
            Its event, and the text lines that it releases.
        """
        text = line.text
        if text.startswith("\x19("):
            return self._datagram(line), []
        if text.startswith("\x19["):
            if not self.depth:
                self.begin = line.offset
            self.depth = min(self.depth + 1, _DEEPEST)
        elif text == "\x19]":
            self.depth = max(self.depth - 1, 0)
            if not self.depth:
                return Noise(line), self.release()
        return Noise(line), []

    def keep(self, line: Line) -> list[Line]:
        """Hold a text line of the open unit back.

        Args:
            line: text without a mark.

        Returns:
            The text lines that it releases: all, where the unit does not seem to end or data was lost in it.
        """
        self._lines.append(line)
        return self.release() if line.text == "\x1a" or len(self._lines) > _MOST_LINES else []

    def release(self) -> list[Line]:
        """End what is open.

        Returns:
            The text lines that were held back; those that only repeat datagrams begin with ``\\x19|``.
        """
        lines, self._lines = self._lines, []
        if self._has_boards:
            lines = [line if line.text == "\x1a" else line._replace(text="\x19|" + line.text) for line in lines]
        self.depth = 0
        self._has_boards = False
        return lines

    def _datagram(self, line: Line) -> Event:
        from recorder.dialects.icc.datagrams import BOARD_DATAGRAMS, parse_datagram  # hardly any log needs it

        try:
            datagram = parse_datagram(line.text)
        except LineError as error:
            return Malformed(line, DATAGRAM_NAME, str(error))
        if isinstance(datagram, int):
            self._count(f"(ICC datagram {datagram})", line.offset)
            return Noise(line)
        if self.depth and datagram.number in BOARD_DATAGRAMS:
            self._has_boards = True
        return self._event_of(line, datagram)

    def _event_of(self, line: Line, datagram: IccDatagram) -> Event:
        """The event of a datagram, the moves in it read."""
        from recorder.dialects.icc.values import MoveList, MovesSent, SettingChanged

        if isinstance(datagram, SettingChanged):
            self.form.set(datagram.datagram, datagram.on)
        elif isinstance(datagram, MovesSent):
            self.form.learn([datagram.words])
            move = read_move(datagram.words, self.form)
            if move is None:
                return Malformed(line, DATAGRAM_NAME, f"the move of datagram {datagram.number} cannot be read")
            datagram = datagram._replace(move=move)
        elif isinstance(datagram, MoveList):
            self.form.learn(datagram.words)
            moves = [read_move(words, self.form) for words in datagram.words]
            if any(move is None for move in moves):
                return Malformed(line, DATAGRAM_NAME, f"a move of datagram {datagram.number} cannot be read")
            datagram = datagram._replace(moves=tuple(move for move in moves if move is not None))
        return Datagram(line, datagram, self.begin if self.depth else line.offset)
