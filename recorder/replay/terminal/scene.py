"""Draw a replay for a terminal, as rows of styled text that fill the window. Pure."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from typing import Final, NamedTuple

from recorder.model import EXACT, Ply
from recorder.movetext import THOUSANDTHS
from recorder.replay.boards import ReplayBoard
from recorder.replay.terminal.viewing import KEYS, ShownClock, Viewing, ply_text
from recorder.replay.timing import format_speed
from recorder.text import clean
from recorder.times import format_clock, short_hms

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
    """How it is drawn: with ASCII only; with colours."""

    ascii: bool = False
    colours: bool = True


def plain(row: Row) -> str:
    """A row's text."""
    return "".join(span.text for span in row)


def width_of(text: str) -> int:
    """The columns that clean text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _fit(text: str, columns: int, look: SceneStyle) -> str:
    """Clean text in exactly so many columns: cut with an ellipsis, or filled up."""
    text = clean(text)
    if look.ascii and not text.isascii():
        text = text.encode("ascii", "replace").decode("ascii")
    if width_of(text) > columns:
        mark = "~" if look.ascii else "…"
        kept, used = "", 1
        for char in text:
            used += _columns(char)
            if used > columns:
                break
            kept += char
        text = (kept + mark)[: max(columns, 0)]
    return text + " " * (columns - width_of(text))


def clock_text(clock: ShownClock) -> str:
    """``4:57.338``, running ``4:57.3``; ``4:57`` where no more was recorded; unknown ``-``; inferred ``~4:57``."""
    if clock.ms is None:
        return "-"
    seconds, thousandths = divmod(abs(clock.ms), 1000)
    sign = "-" if clock.ms < 0 and (clock.exact or abs(clock.ms) >= 1000) else ""
    part = "" if not clock.exact else f".{thousandths // 100}" if clock.runs else THOUSANDTHS[thousandths]
    return f"{'~' if clock.inferred else ''}{sign}{short_hms(seconds)}{part}"


def draw(viewing: Viewing, now_ns: int, width: int, height: int, look: SceneStyle) -> list[Row]:
    """Draw the screen: ``height`` rows of exactly ``width`` columns."""
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
    free = width - sum(width_of(span.text) for span in row)
    if free >= 0:
        return [*row, Span(" " * free)] if free else row
    kept: Row = []
    for span in row:
        left = width - sum(width_of(one.text) for one in kept)
        kept.append(span if width_of(span.text) <= left else Span(_fit(span.text, left, look), span.style))
    return kept


def _help(width: int, height: int) -> list[list[Row]]:
    """What the keys do, in pages that have room for all of their words."""
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
    kind = [{True: "rated", False: "unrated", None: ""}[game.rated], game.category or game.variant or ""]
    if game.base_s is not None:
        minutes, seconds = divmod(game.base_s, 60)
        kind.append(f"{minutes}{f':{seconds:02}' if seconds else ''}+{game.increment_s or 0}")
    number = "" if game.game_no is None else f"#{game.game_no} "
    count = len(viewing.recording.players)
    place = f" - game {viewing.focus + 1} of {count}" if count > 1 else ""
    result = f" - {board.result[0]}" if board is not None and board.result is not None else ""
    kind_text = " ".join(word for word in kind if word)
    return f" {number}{_names(board, viewing, viewing.focus)}  {kind_text}{result}{place}"


def _names(board: ReplayBoard | None, viewing: Viewing, number: int) -> str:
    game = viewing.recording.chapter(number).game
    white, black = (game.white.handle, game.black.handle) if board is None else (board.white, board.black)
    return f"{white} - {black}"


# -- boards ------------------------------------------------------------------------------------------------------


def _boards(
    viewing: Viewing, now_ns: int, width: int, height: int, look: SceneStyle
) -> tuple[list[Row], list[int], int]:
    """The boards; the other games, for which there was no room; the columns that are left for the list of moves."""
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
    """The columns of a square on each board of a match, and whether they are one above the other.

    The first that fits: both boards with the list of moves, as large as possible, rather side by side; both without
    it; one board.
    """
    if boards == 2:
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
    """The lines that a board takes, with its players and, in drop games, what they have in hand."""
    return 8 * (cell // 2) + 3 + 2 * pockets


def _columns_of(cell: int) -> int:
    """The columns that a board takes, with the gap behind it."""
    return _LABELS + 8 * cell + _GAP


def _block(
    viewing: Viewing, number: int, now_ns: int, flip: bool, cell: int, pockets: bool, look: SceneStyle
) -> list[Row]:
    """A board with its players, all rows equally wide."""
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
    name = _fit(next((form for form in forms if width_of(clean(form)) <= room), handle), room, look)
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
    at, last = board.state, board.plies[-1] if board.plies else None
    if at is None:
        return frozenset()
    if last is not None and last.ply == at.ply and last.uci is not None:
        return frozenset((last.uci[:2], last.uci[2:4]))
    match = _SQUARES.match(at.verbose)
    return frozenset(match.groups()) if match else frozenset()


# -- moves, other games, words -----------------------------------------------------------------------------------


def _moves(viewing: Viewing, width: int, height: int, look: SceneStyle) -> list[Row]:
    """The moves around the one that is shown, White's and Black's in one row."""
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
        for place, line in enumerate(lines):
            text = _fit(line, width - len(front), look)
            rows.append(
                [Span(" " * len(front) if place else front, "dim"), Span(text, "said" if event.is_chat else "")]
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
        text = asked if width_of(clean(asked)) < width else f" Go to: {viewing.prompt}"
        return [Span(_fit(f"{text}_", width, look), "said")]
    if viewing.message:
        return [Span(_fit(f" {viewing.message}", width, look), "said")]
    hint = _HINT.replace("←→", "<>").replace("↑↓", "^v") if look.ascii else _HINT
    return [Span(_fit(f" {hint}", width, look), "dim")]
