"""A replay on the terminal: runs in time, is drawn, and gets the user's keys, or is printed, a line for each moment.

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
import textwrap
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from time import monotonic_ns
from types import FrameType
from typing import Any, Final, NamedTuple

from rich.cells import cell_len, set_cell_size

from recorder.model import EXACT, EventKind, Game, Ply
from recorder.model.games import control_text, rated_word
from recorder.replay.boards import ReplayBoard
from recorder.replay.moments import Begin, End, Position, ShownPly, What, seek
from recorder.replay.show import ReplaySource, Show
from recorder.replay.terminal.viewing import KEYS, ShownClock, Viewing, event_text, ply_text
from recorder.replay.timing import Playhead, format_speed
from recorder.text import clean, terminal_size
from recorder.times import format_clock, printed_clock, short_hms

LEAST_COLUMNS: Final = 30
LEAST_LINES: Final = 16
_CELL: Final = 3
_LABELS: Final = 2  # columns for the ranks' numbers
_LARGE: Final = 6  # columns of a square in large windows, half as many lines
_GAP: Final = 2
_MOVES: Final = 22  # columns that a list of moves needs
_LINES_FOR_OTHERS: Final = 3
_AROUND: Final = 3  # lines for the title, the time and the keys
_SPARE: Final = 4  # lines for events that large boards leave
_KEY_COLUMNS: Final = 19
_FILLED: Final = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
_OUTLINE: Final = dict(zip("KQRBNP", "♔♕♖♗♘♙", strict=True))
_SQUARES: Final = re.compile(r"[A-Za-z]/(@@|[a-l]\d{1,2})-([a-l]\d{1,2})(?:=.)?")
_HINT: Final = "space pause  ←→ ply  ↑↓ ten  +- speed  [] event  g go to  n p game  ? keys  q"


class Span(NamedTuple):
    """Text of one style; a style is words, of which each terminal shows those that it can."""

    text: str
    style: str = ""


Row = list[Span]


class SceneStyle(NamedTuple):
    ascii: bool = False
    colours: bool = True


def plain(row: Row) -> str:
    return "".join(span.text for span in row)


def _fit(text: str, columns: int, look: SceneStyle) -> str:
    """In exactly so many columns: cut with an ellipsis, or filled up."""
    text = clean(text)
    if look.ascii and not text.isascii():
        text = text.encode("ascii", "replace").decode("ascii")
    if cell_len(text) > columns > 0:
        text = set_cell_size(text, columns - 1) + ("~" if look.ascii else "…")
    return set_cell_size(text, columns)


def clock_text(clock: ShownClock) -> str:
    """``4:57.338``, running ``4:57.3``; ``4:57`` where no more was recorded; unknown ``-``; inferred ``~4:57``."""
    if clock.ms is None:
        return "-"
    ms = clock.ms if clock.exact or clock.ms <= -1000 else max(clock.ms, 0)
    return f"{'~' if clock.inferred else ''}{printed_clock(ms, clock.exact, tenths=clock.runs)}"


def draw(viewing: Viewing, now_ns: int, width: int, height: int, look: SceneStyle) -> list[Row]:
    """``height`` rows of exactly ``width`` columns."""
    if width < LEAST_COLUMNS or height < LEAST_LINES:
        sentence = f"This window is too small: a replay needs {LEAST_COLUMNS} columns and {LEAST_LINES} lines."
        return _filled([[Span(line)] for line in textwrap.wrap(sentence, max(width, 1))], width, height, look)
    if viewing.helping:
        pages = _help(width, height)
        return _filled(pages[min(viewing.helping, len(pages)) - 1], width, height, look)
    boards, others, room = _boards(viewing, now_ns, width, height, look)
    most = max(min(len(others), _LINES_FOR_OTHERS), height - len(boards) - 13)
    shown = others if len(others) <= most else others[: most - 1]
    below: list[Row] = [[Span(_fit(_other(viewing, number, now_ns), width, look))] for number in shown]
    if len(shown) < len(others):
        below.append([Span(_fit(f"  and {len(others) - len(shown)} more games (Tab)", width, look), "dim")])
    below += _events(viewing, width, max(height - len(boards) - len(below) - 3, 0), look)
    if room >= _MOVES:  # down to what stands below the boards
        lines = max(height - len(below) - 3, len(boards))
        boards = _filled(boards, width - room, lines, look)
        boards = [[*row, *listed] for row, listed in zip(boards, _moves(viewing, room, lines, look), strict=True)]
    title = [Span(_fit(_title(viewing), width, look), "reverse")]
    rows = _filled([title, *boards, *below], width, height - 2, look)
    return [
        *rows,
        [Span(_fit(_status(viewing, now_ns, width, look), width, look), "bold")],
        _bottom(viewing, width, look),
    ]


def _filled(rows: list[Row], width: int, height: int, look: SceneStyle) -> list[Row]:
    rows = rows[:height] + [[] for _ in range(height - len(rows))]
    return [_padded(row, width, look) for row in rows]


def _padded(row: Row, width: int, look: SceneStyle) -> Row:
    free = width - sum(cell_len(span.text) for span in row)
    if free >= 0:
        return [*row, Span(" " * free)] if free else row
    kept: Row = []
    for span in row:
        left = width - sum(cell_len(one.text) for one in kept)
        kept.append(span if cell_len(span.text) <= left else Span(_fit(span.text, left, look), span.style))
    return kept


def _help(width: int, height: int) -> list[list[Row]]:
    """In pages that have room for all of their words."""
    pages: list[list[Row]] = []
    for key in KEYS:
        first, *others = textwrap.wrap(key.does, width - _KEY_COLUMNS, break_on_hyphens=False)
        rows: list[Row] = [[Span(f" {key.shown:<{_KEY_COLUMNS - 1}}", "bold"), Span(first)]]
        rows += [[Span(" " * _KEY_COLUMNS + line)] for line in others]
        if not pages or len(pages[-1]) + len(rows) > height:
            pages.append([[Span("What the keys do", "bold")]])
        pages[-1] += rows
    for page in pages[:-1]:
        page[0] = [Span("What the keys do (? for more)", "bold")]
    return pages


def _title(viewing: Viewing) -> str:
    game = viewing.recording.chapter(viewing.focus).game
    board = viewing.board(viewing.focus)
    kind = " ".join(filter(None, (rated_word(game), game.category or game.variant, control_text(game))))
    number = "" if game.game_no is None else f"#{game.game_no} "
    count = len(viewing.recording.players)
    place = f" - game {viewing.focus + 1} of {count}" if count > 1 else ""
    result = f" - {board.result[0]}" if board is not None and board.result is not None else ""
    white, black = (game.white.handle, game.black.handle) if board is None else (board.white, board.black)
    return f" {number}{white} - {black}  {kind}{result}{place}"


# -- boards ------------------------------------------------------------------------------------------------------


def _boards(
    viewing: Viewing, now_ns: int, width: int, height: int, look: SceneStyle
) -> tuple[list[Row], list[int], int]:
    """The boards; the other games, for which there was no room; the columns left for the list of moves."""
    others = viewing.others()
    match = [viewing.focus, *(number for number in others[:1] if viewing.is_partner(number))]
    pockets = any(board is not None and board.pockets for board in map(viewing.board, [viewing.focus, *others]))
    cells, stacked = _layout(len(match), width, height, pockets)
    shown = list(zip(match, cells, strict=False))
    used = [_columns_of(cell) for cell in cells]
    room = width - (max(used) if stacked else sum(used))
    while len(match) <= len(shown) <= len(others) and not stacked and room >= _columns_of(_CELL) + 2 * _MOVES:
        shown.append((others[len(shown) - 1], _CELL))
        room -= _columns_of(_CELL)
    blocks = []
    for number, cell in shown:
        flip = viewing.flip != viewing.is_partner(number)
        blocks.append(_block(viewing, number, now_ns, flip, cell, pockets, look))
    if stacked:
        blocks = [[row for block in blocks for row in _filled(block, max(used) - _GAP, len(block), look)]]
    else:
        lines = max(map(len, blocks))
        blocks = [
            _filled(block, _columns_of(cell) - _GAP, lines, look)
            for block, (_, cell) in zip(blocks, shown, strict=True)
        ]
    rows = [[span for part in parts for span in (*part, Span(" " * _GAP))] for parts in zip(*blocks, strict=True)]
    if room < _MOVES:
        board = viewing.board(viewing.focus)
        last = board.plies[-1] if board is not None and board.plies else None
        rows.append([Span("  " + clean("" if last is None else ply_text(last)), "bold")])
    return rows, others[len(shown) - 1 :], room


def _layout(boards: int, width: int, height: int, pockets: bool) -> tuple[list[int], bool]:
    """The columns of a square on each board of a match, and whether they are one above the other."""
    if boards == 2:
        # The first that fits: both boards with the list of moves, as large as possible, rather side by side; both
        # without it; one board.
        for moves in (_MOVES, -_GAP):
            for cells in ([_LARGE, _LARGE], [_LARGE, _CELL], [_CELL, _CELL]):
                columns, lines = [_columns_of(cell) for cell in cells], [_lines_of(cell, pockets) for cell in cells]
                spare = _SPARE if cells[0] == _LARGE else 0
                if sum(columns) + moves <= width and max(lines) + spare <= height - _AROUND:
                    return cells, False
                if max(columns) + moves <= width and sum(lines) + spare <= height - _AROUND:
                    return cells, True
    large = _lines_of(_LARGE, True) + _SPARE <= height - _AROUND and width >= _columns_of(_LARGE) + _MOVES
    return [_LARGE if large else _CELL], False


def _lines_of(cell: int, pockets: bool) -> int:
    """With its players and, in drop games, what they have in hand."""
    return 8 * (cell // 2) + 3 + 2 * pockets


def _columns_of(cell: int) -> int:
    """With the gap behind it."""
    return _LABELS + 8 * cell + _GAP


def _block(
    viewing: Viewing, number: int, now_ns: int, flip: bool, cell: int, pockets: bool, look: SceneStyle
) -> list[Row]:
    """All rows are equally wide."""
    board = viewing.board(number)
    width = _LABELS + 8 * cell
    top, below = (True, False) if flip else (False, True)  # whether White
    rows = [_player(viewing, number, top, now_ns, width, look)]
    rows += [_hand(viewing, number, top, width, look)] if pockets else []
    rows += _squares(board, flip, width, cell, look)
    rows += [_hand(viewing, number, below, width, look)] if pockets else []
    rows.append(_player(viewing, number, below, now_ns, width, look))
    return rows


def _player(viewing: Viewing, number: int, white: bool, now_ns: int, width: int, look: SceneStyle) -> Row:
    game, board = viewing.recording.chapter(number).game, viewing.board(number)
    player = game.white if white else game.black
    handle = player.handle if board is None else board.white if white else board.black
    clock = viewing.clock(number, white, now_ns)
    rest = "  " if clock.runs and clock.exact else ""  # so that minutes stay where they are when it stands
    shown = f" {clock_text(clock)}{rest} "
    room = width - len(shown)
    rating, titles = (player.rating_text or "").strip(), player.titles or ""
    forms = (f"{handle}{titles} {rating}".rstrip(), f"{handle} {rating}".rstrip(), f"{handle}{titles}")
    name = _fit(next((form for form in forms if cell_len(clean(form)) <= room), handle), room, look)
    return [Span(name, "bold"), Span(f">{shown[1:]}" if clock.runs else shown, "runs" if clock.runs else "")]


def _hand(viewing: Viewing, number: int, white: bool, width: int, look: SceneStyle) -> Row:
    board = viewing.board(number)
    if board is None or not board.pockets:
        return [Span(" " * width)]
    holdings = viewing.holdings(number)
    if holdings is None:
        return [Span(_fit("  hand not known", width, look), "dim")]
    pieces = [
        _piece(letter if white else letter.lower(), look) for letter in (holdings.white if white else holdings.black)
    ]
    hand = f"{'~' if holdings.inferred else ''}{' '.join(pieces) or 'nothing'}"
    return [Span(_fit(f"  in hand: {hand}", width, look))]


def _piece(letter: str, look: SceneStyle) -> str:
    if look.ascii:
        return letter
    if not look.colours and letter.isupper():
        return _OUTLINE.get(letter, letter)
    return _FILLED.get(letter.lower(), letter)


def _squares(board: ReplayBoard | None, flip: bool, width: int, cell: int, look: SceneStyle) -> list[Row]:
    height = cell // 2  # lines of a square: 1 of 3 columns, 3 of 6
    at = None if board is None else board.state
    if board is None or at is None:
        return _unknown("not begun yet" if board is None else "this board is not known", width, 8 * height + 1, look)
    last = _last_squares(board)
    ranks = at.position.board.split(" ")
    columns = [chr(ord("a") + column) for column in range(len(ranks[0]))]
    order = list(range(len(ranks)))
    if flip:
        order.reverse()
        columns.reverse()
    rows: list[Row] = []
    for place in order:
        rank = len(ranks) - place
        for line in range(height):
            middle = line == height // 2
            row = [Span(f"{rank:<{_LABELS}}" if middle else " " * _LABELS, "dim")]
            for file in columns:
                letter = ranks[place][ord(file) - ord("a")] if middle else "-"
                row.append(_square(letter, file, rank, f"{file}{rank}" in last, cell, look))
            rows.append(row)
    rows.append([Span(" " * _LABELS + "".join(f"{file:^{cell}}" for file in columns), "dim")])
    return [_padded(row, width, look) for row in rows]


def _square(letter: str, file: str, rank: int, last: bool, cell: int, look: SceneStyle) -> Span:
    light = (ord(file) - ord("a") + rank) % 2 == 0
    if look.colours:
        text = " " if letter == "-" else _piece(letter, look)
        style = f"{'light' if light else 'dark'}{'-last' if last else ''}"
        return Span(
            f"{text:^{cell}}", style if letter == "-" else f"{style} {'white' if letter.isupper() else 'black'}"
        )
    empty = " " if light or cell > _CELL else "." if look.ascii else "·"
    text = empty if letter == "-" else _piece(letter, look)
    return Span(f"[{text:^{cell - 2}}]" if last else f"{text:^{cell}}")


def _unknown(why: str, width: int, height: int, look: SceneStyle) -> list[Row]:
    rows: list[Row] = [[Span(" " * width)] for _ in range(height)]
    rows[height // 2] = [Span(_fit(f"{why:^{width}}", width, look), "dim")]
    return rows


def _last_squares(board: ReplayBoard) -> frozenset[str]:
    """The squares that the last move touched."""
    state, last = board.state, board.plies[-1] if board.plies else None
    if state is None:
        return frozenset()
    if last is not None and last.ply == state.ply and last.uci is not None:
        return frozenset((last.uci[:2], last.uci[2:4]))
    match = _SQUARES.match(state.verbose)
    return frozenset(match.groups()) if match else frozenset()


# -- moves, other games, words -----------------------------------------------------------------------------------


def _moves(viewing: Viewing, width: int, height: int, look: SceneStyle) -> list[Row]:
    """Around the one that is shown, White's and Black's in one row."""
    board = viewing.board(viewing.focus)
    shown = [] if board is None else board.plies[-2 * height :]
    coming = [] if viewing.hides else viewing.next_plies(2 * height)
    last = shown[-1].ply if shown and board is not None and board.state is not None else None
    column = min((width - 6) // 2, 20)
    rows: list[Row] = []
    here, number, before = 0, 0, None
    for ply in [*shown, *coming]:
        if before is not None and ply.ply > before + 1:
            rows.append([Span(_fit(f"  ... {ply.ply - before - 1} missing", width, look), "dim")])
            number = 0
        before = ply.ply
        style = "now" if ply.ply == last else "dim" if last is None or ply.ply > last else ""
        text = _fit(_listed(ply, column), column - 1, look)
        text = f"[{text.strip()}]"[: column - 1].ljust(column - 1) if style == "now" and not look.colours else text
        if number != (ply.ply + 1) // 2:
            number = (ply.ply + 1) // 2
            rows.append([Span(f"{number:>4}. ", "dim")])
            if not ply.white_moved:
                rows[-1].append(Span(f"{'...':<{column}}", "dim"))
        rows[-1] += [Span(text, style), Span(" ")]
        if ply.ply == last:
            here = len(rows) - 1
    begin = max(min(here - height // 2, len(rows) - height), 0)
    rows = rows[begin : begin + height]
    return [_padded(row, width, look) for row in rows + [[] for _ in range(height - len(rows))]]


def _listed(ply: Ply, column: int) -> str:
    if ply.elapsed_ms is None:
        return ply.san
    text = f"{ply.san:<8}{format_clock(ply.elapsed_ms, ply.precision_code in EXACT)}"
    return text if len(text) < column else ply.san


def _other(viewing: Viewing, number: int, now_ns: int) -> str:
    board = viewing.board(number)
    assert board is not None
    clocks = [clock_text(viewing.clock(number, white, now_ns)) for white in (True, False)]
    last = board.plies[-1] if board.plies else None
    partner = "partner " if viewing.is_partner(number) else ""
    result = f"  {board.result[0]}" if board.result is not None else ""
    move = "" if last is None else ply_text(last)
    return f"  {partner}{board.white} {clocks[0]} - {board.black} {clocks[1]}  {move}{result}"


def _events(viewing: Viewing, width: int, height: int, look: SceneStyle) -> list[Row]:
    rows: list[Row] = []
    for event in viewing.recent_events(height):
        front = f" {short_hms(event.at_ms // 1000)} "
        lines = textwrap.wrap(clean(event.text), max(width - len(front), 10), max_lines=3, placeholder=" ...") or [""]
        for index, line in enumerate(lines):
            text = _fit(line, width - len(front), look)
            rows.append(
                [Span(" " * len(front) if index else front, "dim"), Span(text, "said" if event.is_chat else "")]
            )
    return rows[-height:] if height else []


def _status(viewing: Viewing, now_ns: int, width: int, look: SceneStyle) -> str:
    head = viewing.show.head
    state = ("||", "[]", "> ") if look.ascii else ("‖", "■", "▶")
    sign = state[1] if head.ended else state[0] if head.paused else state[2]
    at_ms, last_ms = head.at_ms(now_ns), head.moments[-1].at_ms
    speed = f"{format_speed(head.speed)}{'x' if look.ascii else '×'}"
    front = f" {sign} {speed}  {short_hms(at_ms // 1000)} / {short_hms(last_ms // 1000)} "
    size = min(max(width - len(front) - 24, 0), 40)
    done = size * at_ms // last_ms if last_ms else size
    full, empty = ("#", "-") if look.ascii else ("━", "─")
    board = viewing.board(viewing.focus)
    last = board.plies[-1] if board is not None and board.plies else None
    bar = full * done + empty * (size - done)
    return f"{front}{bar}  {'' if last is None else clean(ply_text(last))}"


def _bottom(viewing: Viewing, width: int, look: SceneStyle) -> Row:
    if viewing.prompt is not None:
        asked = f" Go to (20, 20b, 1:30, +10s, #2, takeback): {viewing.prompt}"
        text = asked if cell_len(clean(asked)) < width else f" Go to: {viewing.prompt}"
        return [Span(_fit(f"{text}_", width, look), "said")]
    if viewing.message:
        return [Span(_fit(f" {viewing.message}", width, look), "said")]
    hint = _HINT.replace("←→", "<>").replace("↑↓", "^v") if look.ascii else _HINT
    return [Span(_fit(f" {hint}", width, look), "dim")]


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
    """Printable characters are their own names, others have words (``left``, ``shift-left``, ``enter``)."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def waits(self) -> bool:
        return bool(self._rest)

    def receive(self, data: bytes) -> list[str]:
        """The beginning of a sequence waits for the rest of it."""
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
    """256, 8, or 0 if it has none or ``NO_COLOR`` is set."""
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
    """By its locale and the encoding of standard output."""
    # Without a locale it is POSIX; for C and POSIX Python takes UTF-8, and sets LC_CTYPE then.
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
    """``away_ns`` is how long the process was suspended, in total."""

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
        """Nothing interrupts this."""
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
        return terminal_size(self._target)

    def show(self, rows: list[Row]) -> None:
        drawn = [self._encoded(row) for row in rows]
        if len(drawn) != len(self._shown):
            self._shown = [b""] * len(drawn)
        out = b"".join(
            b"\x1b[%d;1H%b\x1b[0m" % (number, row)
            for number, (row, shown) in enumerate(zip(drawn, self._shown, strict=True), 1)
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
        self._write(b"\x1b[0m\x1b[2J")
        self._shown = []

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._target, data) :]

    def wait(self, most_s: float | None) -> list[str] | None:
        """Keys, or none for a change of the window or the time; None: the input has ended."""
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
    """Behind the block, a signal that ended it ends the process."""
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
    viewing = Viewing(Show(recording, time.monotonic_ns(), speed=speed, loop=loop, pause_at=pause_at))
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
    """Until the picture changes; None: only after a key."""
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
    """When its time has come; without a speed all at once."""
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
    """At most one line; with ``several`` games it names its game."""
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
