"""A small reader of style-12 logs for tests only. It shares no code with the product, so that both can be compared.

It knows just what the recorded transcripts need: telnet and block-mode bytes, prompts, lines, true frames (at the
start of a line after prompts), holdings, ends of games, movelists; and in xboard debug logs the incoming text.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

_HOLDINGS = re.compile(r"^<b1> game (\d+) white \[([A-Z]*)\] black \[([A-Z]*)\](?: <- ([WB][A-Z]))?\s*$")
_DELTA = re.compile(r"^<d1> (\d+) (\d+) \S+ \S+ (-?\d+) (-?\d+)(?: (-?\d+))?\s*$")
_XBOARD = re.compile(rb"^(?:<(?:WILL|WONT|DO|DONT) [^\n]*?)?<ICS: ([^\n]*)$", re.MULTILINE)
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})|([^\\]+)|(\\)")
_CONTROL = re.compile(rb"\xff[\xfb-\xfe].|\xff[\xf0-\xf9]|\x15\d+\x16\d+\x16|[\x15-\x19\x07\r]", re.DOTALL)
_PROMPT = re.compile(r"^(?:(?:\d\d:\d\d_)?(?:[A-Za-z]{1,12}% ?|ICS> ?))+")
_END = re.compile(r"^\{Game (\d+) \((\S+) vs\. (\S+)\) (?!Creating |Continuing )(.*)\} (1-0|0-1|1/2-1/2|\*)")
_REMOVED = re.compile(r"^Removing game (\d+) from observation list")
_LIST = re.compile(r"^Movelist for game (\d+):")
_LIST_NAMES = re.compile(r"^(\S+) \([^)]*\) vs\. (\S+) \([^)]*\) ---")
_LIST_ROW = re.compile(r"^ *(\d+)\. +(\S+) +\([\d:.]+\)(?: +(\S+) +\([\d:.]+\))?")
_LIST_END = re.compile(r"^ +\{.*\} \S+")


class Frame(NamedTuple):
    """One board as sent. Clocks and elapsed in milliseconds whatever the unit; ``lag_ms`` None: no such field."""

    offset: int
    game_no: int
    white: str
    black: str
    relation: int
    ply: int
    ranks: tuple[str, ...]
    white_clock_ms: int
    black_clock_ms: int
    verbose: str
    elapsed_ms: int
    pretty: str
    lag_ms: int | None
    milliseconds: bool

    @property
    def board(self) -> str:
        """The board part of a FEN."""
        return "/".join(re.sub("-+", lambda empty: str(len(empty[0])), rank) for rank in self.ranks)


class RawHands(NamedTuple):
    """A ``<b1>`` line: letters in alphabetic order; ``passed`` is colour and piece behind the arrow."""

    offset: int
    game_no: int
    white: str
    black: str
    passed: str | None


class RawDelta(NamedTuple):
    """A ``<d1>`` line without its move; times in milliseconds."""

    offset: int
    game_no: int
    ply: int
    elapsed_ms: int
    clock_ms: int
    lag_ms: int | None


class RawList(NamedTuple):
    """A movelist: whose, and how many half-moves its table has. ``game_no`` None: servers B and C print none."""

    offset: int
    game_no: int | None
    white: str
    black: str
    plies: int


@dataclass
class Run:
    """Live frames of one board from its first to its last, between two ends or leave-takings."""

    game_no: int
    white: str
    black: str
    frames: list[Frame] = field(default_factory=list)
    lists: list[RawList] = field(default_factory=list)
    result: str | None = None
    end_offset: int = 0
    deltas: int = 0

    @property
    def first_offset(self) -> int:
        """Where the first frame's line begins."""
        return self.frames[0].offset

    def main_line(self) -> dict[int, Frame]:
        """The frame that first showed each ply that still applies after takebacks.

        Plies whose board before was not shown are excluded: the first board of the run and boards after lost frames
        prove no move.
        """
        shown: dict[int, Frame] = {}
        last = None
        for frame in self.frames:
            if last is not None and frame.ply <= last:
                if frame.ply in shown and frame.ranks == shown[frame.ply].ranks:
                    shown = {ply: seen for ply, seen in shown.items() if ply <= frame.ply}
                else:
                    shown = {ply: seen for ply, seen in shown.items() if ply < frame.ply} | {frame.ply: frame}
            else:
                shown[frame.ply] = frame
            last = frame.ply
        return shown

    def proved_plies(self) -> set[int]:
        """Plies of movelists, and those of ``main_line`` whose board before was shown or given by a movelist."""
        shown = self.main_line()
        listed = {ply for table in self.lists for ply in range(1, table.plies + 1)}
        return listed | {ply for ply in shown if ply - 1 in shown or ply - 1 in listed}


@dataclass
class Reading:
    """All that the reader found in one stream."""

    runs: list[Run]
    frame_count: int
    holdings_count: int
    deltas: int
    line_offsets: list[int]
    frames_by_line: dict[int, Frame]
    holdings: list[RawHands] = field(default_factory=list)
    deltas_by_line: dict[int, RawDelta] = field(default_factory=dict)
    early_lists: dict[tuple[str, str], RawList] = field(default_factory=dict)

    def line_of(self, offset: int) -> int:
        """The start of the line that holds an offset."""
        return self.line_offsets[max(bisect_right(self.line_offsets, offset) - 1, 0)]


def decode_xboard(data: bytes) -> tuple[bytes, array[int]]:
    """The incoming bytes of an xboard debug log, and where in the log each of them stands."""
    decoded = bytearray()
    places = array("Q")
    for match in _XBOARD.finditer(data):
        start = match.start(1)
        for part in _OCTAL.finditer(match[1]):
            text = bytes([int(part[1], 8)]) if part[1] else part[0]
            decoded += text
            places.extend([start + part.start()] if part[1] else range(start + part.start(), start + part.end()))
    return bytes(decoded), places


def read(data: bytes, kind: str = "raw") -> Reading:
    """Read a stream.

    Args:
        data: the source's bytes.
        kind: ``raw`` or ``xboard``.
    """
    places: array[int] | range = range(len(data) + 1)
    if kind == "xboard":
        data, places = decode_xboard(data)
    reading = Reading([], data.count(b"<12>"), data.count(b"<b1>"), 0, [], {})
    current: dict[int, Run] = {}
    awaited: RawList | None = None
    start = 0
    for raw in data.split(b"\n"):
        offset = places[start] if start < len(places) else 0
        start += len(raw) + 1
        reading.line_offsets.append(offset)
        text = _PROMPT.sub("", _CONTROL.sub(b"", raw).decode("latin-1"))
        if text.startswith("<12> "):
            frame = _frame(text, offset)
            if frame is not None:
                reading.frames_by_line[offset] = frame
                if frame.relation in (0, 1, -1) and frame.game_no >= 0:
                    _follow(reading, current, frame)
        elif text.startswith("<d1> "):
            _delta(text, offset, reading, current)
        elif match := _HOLDINGS.match(text):
            white, black = ("".join(sorted(letters)) for letters in match.groups()[1:3])
            reading.holdings.append(RawHands(offset, int(match[1]), white, black, match[4]))
        elif match := _END.match(text):
            run = current.pop(int(match[1]), None)
            if run is not None and (run.white, run.black) == (match[2], match[3]):
                run.result = match[5]
                run.end_offset = offset
        elif match := _REMOVED.match(text):
            run = current.pop(int(match[1]), None)
            if run is not None:
                run.end_offset = offset
        elif match := _LIST.match(text):
            awaited = RawList(offset, int(match[1]), "", "", 0)
        elif match := _LIST_NAMES.match(text):
            awaited = RawList(offset, awaited.game_no if awaited else None, match[1], match[2], 0)
        elif awaited is not None:
            awaited = _list_line(text, awaited, reading, current)
    return reading


def _delta(text: str, offset: int, reading: Reading, current: dict[int, Run]) -> None:
    number = int(text.split()[1])
    reading.deltas += 1
    if (numbers := _DELTA.match(text)) is not None:
        values = [None if value is None else int(value) for value in numbers.groups()]
        reading.deltas_by_line[offset] = RawDelta(offset, *values)  # type: ignore[arg-type]  # the fields that are None may be
    if number in current:
        current[number].deltas += 1


def _list_line(text: str, awaited: RawList, reading: Reading, current: dict[int, Run]) -> RawList | None:
    """Read on in a movelist; at its end gives it to its run, or keeps it for the run that begins next."""
    if row := _LIST_ROW.match(text):
        return awaited._replace(plies=2 * int(row[1]) - (0 if row[3] else 1))
    if not _LIST_END.match(text):
        return awaited
    for number, run in current.items():
        if awaited.game_no in (None, number) and (run.white, run.black) == (awaited.white, awaited.black):
            run.lists.append(awaited)
            return None
    reading.early_lists[awaited.white, awaited.black] = awaited
    return None


def _follow(reading: Reading, current: dict[int, Run], frame: Frame) -> None:
    """Add a live frame to the run of its number, or begin one."""
    run = current.get(frame.game_no)
    if run is None or (run.white, run.black) != (frame.white, frame.black):
        last = next((seen for seen in reversed(reading.runs) if seen.game_no == frame.game_no), None)
        if (
            run is None
            and last is not None
            and last.result is not None
            and (last.white, last.black) == (frame.white, frame.black)
            and (last.frames[-1].ply, last.frames[-1].ranks) == (frame.ply, frame.ranks)
            and frame.ply > 0
        ):
            return  # the last board once more, after the end
        run = current[frame.game_no] = Run(frame.game_no, frame.white, frame.black)
        reading.runs.append(run)
        early = reading.early_lists.pop((frame.white, frame.black), None)
        if early is not None and early.game_no in (None, frame.game_no):
            run.lists.append(early)
    run.frames.append(frame)
    run.end_offset = max(run.end_offset, frame.offset)


def _frame(text: str, offset: int) -> Frame | None:
    """The fields of a frame's line, or None if it is no whole frame."""
    words = text.split()
    if len(words) < 31 or words[9] not in "WB":
        return None
    elapsed = words[28].strip("()")
    milliseconds = "." in elapsed
    unit = 1 if milliseconds else 1000
    total = 0.0
    for part in elapsed.split(":"):
        total = total * 60 + float(part)
    return Frame(
        offset,
        int(words[16]),
        words[17],
        words[18],
        int(words[19]),
        2 * (int(words[26]) - 1) + (words[9] == "B"),
        tuple(words[1:9]),
        int(words[24]) * unit,
        int(words[25]) * unit,
        words[27],
        round(total * 1000),
        words[29],
        int(words[32]) if len(words) > 32 else None,
        milliseconds,
    )
