"""A game as a moving picture (GIF, WebP, MP4), and one of its positions as PNG.

All is kept as numbers of one palette. A GIF contains of each picture only the part that differs from the one before,
and in it only the points that do.
"""

from __future__ import annotations

import cmath
import io
import re
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from PIL import GifImagePlugin, Image, ImageChops, ImageDraw, ImageFont, ImageSequence

from exporters.holdings import BothHoldings, match_holdings
from exporters.report.events import result_words
from exporters.report.game import is_untimed, marked, where
from exporters.report.moves import took_text
from exporters.report.page import is_exact, plain_name, visible
from exporters.report.playback import STEP_MS, Showing, play
from exporters.report.positions import Course
from exporters.report.svg import SQUARE, piece_drawing
from recorder.errors import ExportError
from recorder.model import Game
from recorder.relating.match import Match
from recorder.rules.tables import NAMES
from recorder.times import printed_clock

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

TICK_MS: Final = 100
_LEAST_TICKS: Final = 2
_END_TICKS: Final = 30
_MOST_TICKS: Final = 18_000
_BAR_PARTS: Final = 1000

Check = Callable[[], None]


class Look(NamedTuple):
    """``speed`` is how much faster than played, ``flip``: the first board from Black's side; ``size`` is in pixels."""

    size: int = 400
    speed: float = 10.0
    max_pause_ms: int = 2000
    flip: bool = False
    first: int | None = None
    last: int | None = None


# -- the palette -------------------------------------------------------------------------------------------------------

_Colour = tuple[int, int, int]
_BLACK: Final[_Colour] = (0, 0, 0)
_WHITE: Final[_Colour] = (255, 255, 255)
_PAGE: Final[_Colour] = (250, 249, 246)
_INK: Final[_Colour] = (34, 38, 43)
_BAR: Final[_Colour] = (213, 94, 0)
_TRACK: Final[_Colour] = (226, 224, 218)
_COORDINATE: Final[_Colour] = (51, 57, 63)
# of a light and a dark square, as they are and marked
_SQUARES: Final[tuple[_Colour, ...]] = ((235, 231, 220), (143, 165, 174), (239, 207, 113), (193, 174, 90))
_SHADES: Final = 16


def _blends(one: _Colour, other: _Colour, count: int = _SHADES) -> list[_Colour]:

    def part(n: int, part_no: int) -> int:
        return round(one[part_no] + (other[part_no] - one[part_no]) * n / (count - 1))

    return [(part(n, 0), part(n, 1), part(n, 2)) for n in range(count)]


_COLOURS: Final = [
    *_blends(_PAGE, _INK),  # of texts: how much of a point a letter covers is the number of its colour
    _BAR,
    _TRACK,
    *_blends(_WHITE, _BLACK, 24),
    *(colour for square in (*_SQUARES, _PAGE) for end in (_BLACK, _WHITE) for colour in _blends(square, end)),
]
_SAME: Final = 255  # this point is as in the picture before
_PALETTE: Final = bytes(value for colour in _COLOURS for value in colour).ljust(768, b"\0")


@cache
def _palette() -> Image.Image:
    image = Image.new("P", (1, 1))
    image.putpalette(_PALETTE[: 3 * len(_COLOURS)])
    return image


def _numbered(picture: Image.Image) -> Image.Image:
    image = picture.quantize(palette=_palette(), dither=Image.Dither.NONE)
    return Image.frombytes("L", image.size, image.tobytes())


def _coloured(numbers: Image.Image) -> Image.Image:
    image = numbers.copy()
    image.putpalette(_PALETTE)
    return image


# -- texts and squares -------------------------------------------------------------------------------------------------


@cache
def _square(letter: str, colour: _Colour, side: int, words: tuple[str, str] = ("", "")) -> Image.Image:
    image = Image.new("RGB", (side, side), colour)
    draw, font = ImageDraw.Draw(image), _font(max(side // 5, 8))
    draw.text((side // 20 + 1, 0), words[0], fill=_COORDINATE, font=font)
    draw.text((side - side // 20 - 1, side - 1), words[1], fill=_COORDINATE, font=font, anchor="rd")
    if letter.lower() not in "pnbrqk-":  # a piece of a variant that has others
        draw.text((side / 2, side / 2), letter, fill=_COORDINATE, font=_font(side // 2), anchor="mm")
    elif letter != "-":
        piece = draw_piece(letter, side)
        image.paste(piece, mask=piece)
    return _numbered(image)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """It has letters of many languages; else Pillow's own."""
    package = find_spec("matplotlib")
    places = [] if package is None else package.submodule_search_locations or []
    for path in (Path(folder) / "mpl-data/fonts/ttf/DejaVuSans.ttf" for folder in places):
        if path.exists():
            return ImageFont.truetype(str(path), size)
    return ImageFont.load_default(size)


# -- what is shown when ------------------------------------------------------------------------------------------------


class _View(NamedTuple):
    board: str | None
    marks: tuple[str, ...]
    hands: BothHoldings
    clocks: tuple[str, str]
    bars: tuple[int, int]
    white_to_move: bool | None
    caption: str


class _Board:
    def __init__(self, game: Game, course: Course, *, flipped: bool, in_progress: bool) -> None:
        self.game, self.flipped = game, flipped
        self.pockets = any(state.holdings != (None, None) for state in (course.start, *course.main))
        self.timed = not is_untimed(game) and any(ply.clock_ms is not None for ply in game.plies)
        self.exact = any(map(is_exact, game.plies))
        self.end = " · ".join(filter(None, (game.result, result_words(game, in_progress))))
        self.steps: list[tuple[int, Showing]] = []
        self.ends = True

    def view(self, tick: int, longest_ms: int) -> _View:
        index = max(bisect_right(self.steps, tick, key=itemgetter(0)) - 1, 0)
        since, showing = self.steps[index]
        state = showing.state
        white = state.ply % 2 == 0 if state.move is None else not state.move.white_moved
        clocks = [state.white_clock_ms, state.black_clock_ms]
        thought = [0, 0]
        if showing.think_ms is not None:
            thought[white] = showing.think_ms
        over = index + 1 == len(self.steps)
        if not over:
            until, following = self.steps[index + 1]
            part = max(tick - since, 0) / (until - since)
            if (run := following.run) is not None:
                clocks[not run.white] = round(run.from_ms + (run.to_ms - run.from_ms) * part)
            thought[not white] = round((following.think_ms or 0) * part)
        caption = ""
        if state.move is not None:
            took = "" if showing.think_ms is None else f"  {took_text(showing.think_ms, self.exact)}"
            caption = f"{where(state)}{took}"
        ends = over and self.ends
        return _View(
            state.board,
            marked(state.move),
            state.holdings,
            (self._clock(clocks[0]), self._clock(clocks[1])),
            (_BAR_PARTS * thought[0] // longest_ms, _BAR_PARTS * thought[1] // longest_ms),
            None if ends else white,
            self.end if ends else caption,
        )

    def _clock(self, ms: int | None) -> str:
        """With tenths where little is left and they are known."""
        if not self.timed:
            return ""
        if ms is None:
            return "-"  # a letter that every font has
        return printed_clock(ms, self.exact and abs(ms) < 10_000, tenths=True)


class Film:
    def __init__(self, game: Game, match: Match | None, look: Look, *, in_progress: bool = False) -> None:
        """ExportError: no position is known, or not the half-moves of ``look``."""
        games = [game] if match is None else [match.a, match.b]
        holdings = {} if match is None else match_holdings(match)
        courses = [Course(game, holdings.get("AB"[number])) for number, game in enumerate(games)]
        key = game.key[:8]
        if all(state.board is None for course in courses for state in (course.start, *course.main)):
            raise ExportError(f"No position of game {key} is known: there is nothing to draw.")
        self._boards = [
            _Board(board, course, flipped=look.flip is not (number == 1), in_progress=in_progress)
            for number, (board, course) in enumerate(zip(games, courses, strict=True))
        ]
        self._look = look
        steps = [showing for showing in play(games, courses).showings if showing.event is None]
        own = next(number for number, board in enumerate(games) if board.key == game.key)
        plies = [(index, step.state.ply) for index, step in enumerate(steps) if step.board == own]
        low, high = min(ply for _, ply in plies), max(ply for _, ply in plies)
        for ply in (look.first, look.last):
            if ply is not None and not low <= ply <= high:
                raise ExportError(f"Game {key} has half-moves {low} to {high}: {ply} is none of them.")
        first = look.first if look.first is not None else low
        last = look.last if look.last is not None else high
        if last < first:
            raise ExportError(f"The picture would end with half-move {last}, before it begins with {first}.")
        begin = 0 if look.first is None else next(index for index, ply in plies if ply >= first)
        end = len(steps) - 1
        if look.last is not None:
            end = max([index for index, ply in plies if ply == last] or [index for index, ply in plies if ply < last])
        self._place(steps, begin, max(begin, end))

    def _place(self, steps: Sequence[Showing], begin: int, end: int) -> None:
        look, tick, ms = self._look, 0, 0.0
        for number, board in enumerate(self._boards):
            board.steps = [(0, next(step for step in steps if step.board == number))]
            board.ends = look.last is None
        self._longest_ms = max([step.think_ms or 0 for step in steps] + [1])
        steps = steps[: end + 1]
        for index, step in enumerate(steps):
            if index > begin and step.state.move is not None:
                waited_ms = (step.at_ms - steps[index - 1].at_ms) / look.speed if step.known else STEP_MS
                ms += min(waited_ms, look.max_pause_ms)
                tick = max(tick + _LEAST_TICKS, round(ms / TICK_MS))
            board = self._boards[step.board]
            if not tick:
                board.steps.clear()
            board.steps.append((tick, step))
        self.ticks = tick + _END_TICKS

    def pictures(self, check: Check = lambda: None) -> Iterator[tuple[int, _Screen]]:
        """Each for how many ticks; ``check`` is called before each."""
        if self.ticks > _MOST_TICKS:
            minutes = self.ticks * TICK_MS // 60_000
            raise ExportError(f"The picture would last {minutes} minutes: raise --speed or lower --max-pause.")
        screen = _Screen(self._boards, self._look.size)
        drawn: tuple[_View, ...] = ()
        lasts = 0
        for tick in range(self.ticks):
            views = tuple(board.view(tick, self._longest_ms) for board in self._boards)
            if views != drawn:
                check()
                if drawn:
                    yield lasts, screen
                screen.show(views)
                drawn, lasts = views, 0
            lasts += 1
        yield lasts, screen

    def still(self) -> bytes:
        out = io.BytesIO()
        screen = _Screen(self._boards, self._look.size)
        screen.show([board.view(self.ticks, self._longest_ms) for board in self._boards])
        _coloured(screen.canvas).save(out, "PNG", optimize=True)
        return out.getvalue()


# -- drawing -----------------------------------------------------------------------------------------------------------

_Box = tuple[int, int, int, int]


class _Screen:
    def __init__(self, boards: Sequence[_Board], size: int) -> None:
        self._boards = boards
        self._side = side = size // 8
        self._row, self._strip = round(side * 0.72), max(3, side // 10)
        self._pocket = round(side * 0.62) if any(board.pockets for board in boards) else 0
        self._pad = side // 4
        self._top = self._row + self._pocket + self._strip + self._pad // 2
        self._width = 8 * side + 2 * self._pad
        height = 2 * self._top + 8 * side + round(side * 0.5)
        self.canvas = Image.new("L", ((self._width * len(boards) + 1) // 2 * 2, (height + 1) // 2 * 2))
        self._draw = ImageDraw.Draw(self.canvas)
        self._shown: list[_View | None] = [None] * len(boards)
        self._clock_width = max(round(_font(self._row * 3 // 5).getlength(text)) for text in ("00:00", "0:00:00"))
        for number, board in enumerate(boards):
            for white in (True, False):
                self._name(number, board, white)

    def show(self, views: Sequence[_View]) -> None:
        for number, (view, before) in enumerate(zip(views, self._shown, strict=True)):
            if before is None or (view.board, view.marks) != (before.board, before.marks):
                self._squares(number, view, before)
            for white in (True, False):
                side = 0 if white else 1
                running = view.white_to_move is white
                if (
                    before is None
                    or view.clocks[side] != before.clocks[side]
                    or running is not (before.white_to_move is white)
                ):
                    self._clock(number, white, view.clocks[side], running=running)
                if before is None or view.bars[side] != before.bars[side]:
                    self._bar(number, white, view.bars[side])
                if self._pocket and (before is None or view.hands[side] != before.hands[side]):
                    self._hand(number, white, view.hands[side])
            if before is None or view.caption != before.caption:
                left, top = number * self._width + self._pad, 2 * self._top + 8 * self._side
                self._text((left, top, left + 8 * self._side, self.canvas.height), view.caption, self._side * 3 // 10)
            self._shown[number] = view

    def _y(self, number: int, white: bool, lower: int, upper: int, height: int) -> tuple[int, int]:
        below = white is not self._boards[number].flipped
        y = self._top + 8 * self._side + lower if below else self._top - upper
        return (y, y + height) if below else (y - height, y)

    def _name(self, number: int, board: _Board, white: bool) -> None:
        player = board.game.white if white else board.game.black
        rating = f"  {player.rating}" if player.rating is not None else ""
        left = number * self._width + self._pad
        right = left + 8 * self._side - (self._clock_width + self._side // 2 if board.timed else 0)
        gap = self._strip + self._pocket
        y, until = self._y(number, white, gap, gap, self._row)
        self._text((left, y, right, until), plain_name(player.handle), self._row * 3 // 5, rating)

    def _clock(self, number: int, white: bool, text: str, *, running: bool) -> None:
        if text:
            right = number * self._width + self._pad + 8 * self._side
            gap = self._strip + self._pocket
            y, until = self._y(number, white, gap, gap, self._row)
            box = (right - self._clock_width - self._side // 3, y + 2, right, until - 2)
            self._text(box, text, self._row * 3 // 5, reverse=running, to_right=True)

    def _bar(self, number: int, white: bool, part: int) -> None:
        left = number * self._width + self._pad
        y, until = self._y(number, white, 1, 1, self._strip - 1)
        box = (left, y, left + 8 * self._side - 1, until - 1)
        self._draw.rectangle(box, fill=_SHADES + 1)
        if part:
            self._draw.rectangle((left, y, left + (8 * self._side - 1) * part // _BAR_PARTS, until - 1), fill=_SHADES)

    def _hand(self, number: int, white: bool, letters: str | None) -> None:
        left = number * self._width + self._pad
        y, until = self._y(number, white, self._strip, self._strip, self._pocket)
        box = (left, y, left + 8 * self._side, until)
        self.canvas.paste(0, box)
        step = min(self._pocket, 8 * self._side // max(len(letters or ""), 1))
        for index, letter in enumerate(sorted(letters or "", key="PNBRQ".find)):
            tile = _square(letter if white else letter.lower(), _PAGE, until - y)
            mask = None if step == self._pocket else tile.point(lambda value: 255 if value else 0)
            self.canvas.paste(tile, (left + index * step, y), mask)

    def _text(
        self, box: _Box, text: str, size: int, after: str = "", *, reverse: bool = False, to_right: bool = False
    ) -> None:
        """Cut to its width, and paler the one behind it."""
        wide, high = box[2] - box[0], box[3] - box[1]
        font = _font(size)
        room = wide - font.getlength(after)
        text = visible(text)
        if font.getlength(text) > room:
            while text and font.getlength(f"{text}…") > room:
                text = text[:-1]
            text += "…"
        mask = Image.new("L", (wide, high))
        draw = ImageDraw.Draw(mask)
        x, anchor = (wide - size // 3, "rm") if to_right else (0, "lm")
        draw.text((x, high // 2), text, fill=255, font=font, anchor=anchor)
        draw.text((font.getlength(text), high // 2), after, fill=140, font=font, anchor="lm")
        shades = [value * (_SHADES - 1) // 255 for value in range(256)]
        self.canvas.paste(mask.point([_SHADES - 1 - shade for shade in shades] if reverse else shades), box)

    def _squares(self, number: int, view: _View, before: _View | None) -> None:
        left, side = number * self._width + self._pad, self._side
        flipped = self._boards[number].flipped
        now = _cells(view)
        was = None if before is None else _cells(before)
        for name, cell in now.items():
            if was is not None and was[name] == cell:
                continue
            column, row = "abcdefgh".index(name[0]), 8 - int(name[1])
            dark = (column + row) % 2
            if flipped:
                column, row = 7 - column, 7 - row
            words = (name[1] if column == 0 else "", name[0] if row == 7 else "")
            x, y = left + column * side, self._top + row * side
            self.canvas.paste(_square(cell[0], _SQUARES[dark + 2 * cell[1]], side, words), (x, y))


def _cells(view: _View) -> dict[str, tuple[str, bool]]:
    board = view.board or "-" * len(NAMES)
    return {name: (letter, name in view.marks) for name, letter in zip(NAMES, board, strict=False) if name}


# -- files -------------------------------------------------------------------------------------------------------------

FORMATS: Final = ("gif", "webp", "mp4")


def write_film(film: Film, kind: str, check: Check = lambda: None) -> bytes:
    return {"gif": _gif, "webp": _webp, "mp4": _mp4}[kind](film, check)


def _gif(film: Film, check: Check) -> bytes:
    out = io.BytesIO()
    before: Image.Image | None = None
    for ticks, screen in film.pictures(check):
        if before is None:
            width, height = (value.to_bytes(2, "little") for value in screen.canvas.size)
            out.write(b"GIF89a" + width + height + b"\xf7\0\0" + _PALETTE)
            out.write(b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0")  # begin again at the end
            box = (0, 0, *screen.canvas.size)
            part = before = screen.canvas.copy()
        else:
            box = ImageChops.difference(screen.canvas, before).getbbox() or (0, 0, 1, 1)
            now, was = screen.canvas.crop(box), before.crop(box)
            part = Image.new("L", now.size, _SAME)
            part.paste(now, mask=ImageChops.difference(now, was).point(lambda value: 255 if value else 0))
            before.paste(now, box)
        for piece in GifImagePlugin.getdata(part, box[:2], duration=ticks * TICK_MS, transparency=_SAME, disposal=1):
            out.write(piece)
    out.write(b";")
    return out.getvalue()


def _webp(film: Film, check: Check) -> bytes:
    out = io.BytesIO()
    with Image.open(
        io.BytesIO(_gif(film, check))
    ) as pictures:  # reads one after the other, where a list would hold all
        times = [picture.info["duration"] for picture in ImageSequence.Iterator(pictures)]
        pictures.save(out, "WEBP", save_all=True, duration=times, loop=0, quality=70, method=2, kmin=0, kmax=0)
    return out.getvalue()


def _mp4(film: Film, check: Check) -> bytes:
    program = shutil.which("ffmpeg")
    if program is None:
        raise ExportError("MP4 needs the program ffmpeg, which was not found; write .gif or .webp.")
    rate = str(1000 // TICK_MS)
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        target = Path(folder) / "film.mp4"  # it is written in no order, which a pipe cannot take
        words = [program, "-v", "error", "-f", "gif", "-i", "-", "-r", rate, "-pix_fmt", "yuv420p"]
        words += ["-movflags", "+faststart", str(target)]
        done = subprocess.run(words, input=_gif(film, check), capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit status {done.returncode}"]
            raise ExportError(f"ffmpeg could not make the MP4: {said[-1]}")
        return target.read_bytes()


# --- the pieces: the SVG drawings of python-chess that pages have, which Pillow cannot read, as short straight lines

_COMMAND: Final = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_NUMBER: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_VALUES: Final = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "A": 7, "Z": 1}
_FINE: Final = 6
_PIECES_OF_CURVE: Final = 12

_Line = list[complex]


def _lines(path: str) -> list[_Line]:
    """Curves as short straight lines."""
    lines: list[_Line] = []
    point = control = 0j
    for name, text in _COMMAND.findall(path):
        kind = name.upper()
        values = [float(value) for value in _NUMBER.findall(text)] or [0.0]
        for index in range(0, len(values), _VALUES[kind]):
            some = values[index : index + _VALUES[kind]]
            origin = point if name.islower() else 0j
            points = [origin + complex(*pair) for pair in zip(some[::2], some[1::2], strict=False)]
            if kind == "M" and index == 0:
                lines.append([points[0]])
            elif kind in "ML":
                lines[-1].append(points[0])
            elif kind == "H":
                lines[-1].append(complex(origin.real + some[0], point.imag))
            elif kind == "V":
                lines[-1].append(complex(point.real, origin.imag + some[0]))
            elif kind == "Z":
                lines[-1].append(lines[-1][0])
            elif kind == "A":
                end = origin + complex(some[5], some[6])
                lines[-1] += _arc(point, end, some[0], some[1], large=bool(some[3]), clockwise=bool(some[4]))
            else:
                first = 2 * point - control if kind == "S" else points[0]
                lines[-1] += _curve(point, first, points[-2], points[-1])
            point = lines[-1][-1]
            control = points[-2] if kind in "CS" else point
    return lines


def _curve(begin: complex, first: complex, second: complex, end: complex) -> Iterator[complex]:
    for number in range(1, _PIECES_OF_CURVE + 1):
        t = number / _PIECES_OF_CURVE
        u = 1 - t
        yield u**3 * begin + 3 * u * u * t * first + 3 * u * t * t * second + t**3 * end


def _arc(begin: complex, end: complex, wide: float, high: float, *, large: bool, clockwise: bool) -> Iterator[complex]:
    """Not turned: an arc of a circle, squeezed."""
    one, other = (complex(point.real, point.imag * wide / high) for point in (begin, end))
    half = (other - one) / 2
    radius = max(wide, abs(half))
    away = (radius**2 - abs(half) ** 2) ** 0.5
    centre = (one + other) / 2 + (1 if large != clockwise else -1) * 1j * away * half / abs(half)
    turn = cmath.phase((other - centre) / (one - centre))
    turn += 0 if (turn > 0) is clockwise else cmath.tau if clockwise else -cmath.tau
    for number in range(1, 2 * _PIECES_OF_CURVE + 1):
        point = centre + (one - centre) * cmath.exp(1j * turn * number / (2 * _PIECES_OF_CURVE))
        yield complex(point.real, point.imag * high / wide)


def _draw_element(draw: ImageDraw.ImageDraw, element: Element, inherited: Mapping[str, str], scale: float) -> None:
    """With all that is in it; joints of lines are round."""
    style = {**inherited, **element.attrib}
    for child in element:
        _draw_element(draw, child, style, scale)
    if element.tag == "circle":
        x, y, r = (float(style[name]) for name in ("cx", "cy", "r"))
        lines = [[complex(x, y) + r * cmath.exp(1j * cmath.tau * n / 24) for n in range(25)]]
    elif element.tag == "path":
        lines = _lines(style["d"])
    else:
        return
    a, b, c, d, e, f = map(float, _NUMBER.findall(style.get("transform", "")) or (1, 0, 0, 1, 0, 0))
    fill, stroke = style.get("fill", "#000"), style.get("stroke", "none")
    width = float(style.get("stroke-width", "1")) * scale
    for line in lines:
        points = [
            (scale * (a * dot.real + c * dot.imag + e), scale * (b * dot.real + d * dot.imag + f)) for dot in line
        ]
        if fill != "none" and len(points) > 2:
            draw.polygon(points, fill=fill)
        if stroke != "none":
            draw.line(points, fill=stroke, width=round(width))
            for x, y in points:
                draw.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), fill=stroke)


@cache
def draw_piece(letter: str, side: int) -> Image.Image:
    drawn = Image.new("RGBA", (side * _FINE, side * _FINE))
    _draw_element(ImageDraw.Draw(drawn), piece_drawing(letter), {}, side * _FINE / SQUARE)
    return drawn.resize((side, side), Image.Resampling.BOX)
