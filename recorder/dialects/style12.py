"""``<12>`` lines: text to ``Style12``.

Fields are counted from the left: servers append new ones, so 31, 32, 33 and more tokens are all good. Old servers cut
long lines; what is left counts as *partial* if the verbose move is whole. Source: "help style12" of several servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Final, cast

from recorder.dialects.session import TEXT_BLOCKS
from recorder.errors import LineError
from recorder.events import Event, Line, Malformed
from recorder.events.frames import (
    TAIL_BEGIN,
    TAIL_BLACK_CLOCK,
    TAIL_ELAPSED,
    TAIL_FLIP,
    TAIL_GAME,
    TAIL_IRREVERSIBLE,
    TAIL_LAG,
    TAIL_MOVE_NO,
    TAIL_PRETTY,
    TAIL_RELATION,
    TAIL_TURN,
    TAIL_VERBOSE,
    TAIL_WHITE,
    TAIL_WHITE_CLOCK,
    ReplyBlock,
    Style12,
    parse_elapsed,
)
from recorder.events.lines import LineRow
from recorder.rules.notation import castle_side, read_pretty, split_verbose

if TYPE_CHECKING:
    from mypy_extensions import i64  # compiled: an integer of the processor, several times quicker than Python's

FRAME_TAG: Final = "<12>"

_BLANK: Final[i64] = 32  # " "
_OPEN: Final[i64] = 40  # "("
_CLOSE: Final[i64] = 41  # ")"
_MINUS: Final[i64] = 45  # "-"
_POINT: Final[i64] = 46  # "."
_ZERO: Final[i64] = 48  # "0"
_ONE: Final[i64] = 49  # "1"
_NINE: Final[i64] = 57  # "9"
_COLON: Final[i64] = 58  # ":"
_LESS: Final[i64] = 60  # "<"
_W: Final[i64] = 87  # "W"
_B: Final[i64] = 66  # "B"
_UNDERSCORE: Final[i64] = 95  # "_"
_MOST_DIGITS: Final = 12
_MOST_MINUTES: Final = 9  # digits
_LARGEST: Final = (1 << 31) - 1  # of a game's number, its plies and its time control: tables have no place for more

_FULL: Final = TAIL_FLIP + 1  # the tokens every whole frame has
_MAX_RANKS = 16
_RANK: Final = re.compile(r"[A-Za-z?-]{4,16}", re.ASCII)  # ``?``: a hidden square
_BOARD: Final = re.compile(r"[A-Za-z?-]{8}(?: [A-Za-z?-]{8}){7}", re.ASCII)
_VERBOSE: Final = re.compile(
    r"(?:[A-Za-z]/(?:[a-z][0-9]{1,2}|@@)-[a-z][0-9]{1,2}(?:=[A-Za-z]|(?:ep|e\.p\.))?|o-o-o|o-o|none|NONE|\?)"
)
_NUMBERS: Final = re.compile(
    r"[WB] -?[0-9]{1,12} [01] [01] [01] [01] -?[0-9]{1,12} -?[0-9]{1,12} \S+ \S+ (?:-[1-4]|[0-2]) "
    r"-?[0-9]{1,12} -?[0-9]{1,12} -?[0-9]{1,12} -?[0-9]{1,12} -?[0-9]{1,12} -?[0-9]{1,12} -?[0-9]{1,12}"
)
# Text that may follow the verbose move of a cut frame: parts of the two next fields, and the prompt.
_CUT: Final = re.compile(
    r"(?: (?:(?P<elapsed>\(-?[0-9][-0-9:.]*+\))(?: (?P<pretty>[A-Za-z0-9@=+#-]*+))?|\([-0-9:.]*+)?)?"
    r"(?:\S*+(?<=[%>]))? ?(?>(?:\S++(?<=[%>])(?: |\Z))*)"
)
_LAST_NUMBER = re.compile(r"(-?[0-9]{1,12})(?![0-9])(\S*)")
_GAME_NO: Final = re.compile(r"[0-9]{1,12}")
_TOKEN: Final = re.compile(r"\S+")
_TURNS: Final = ("W", "B")
_FLAGS: Final = frozenset(("0", "1"))
_TAGS: Final = ("<12>", "<b1>", "<g1>", "<d1>")


def parse_style12(
    text: str, offset: int = 0, at_ms: int | None = None, block: ReplyBlock | None = None
) -> Style12 | Malformed | None:
    """Read a line that begins with ``<12>``.

    Of a frame of the usual shape the board and the verbose move are not tested: a caller that cannot prove it from its
    predecessor asks ``check_frame``. Every other shape is tested here. None: the line does not begin with the tag.
    """
    if text[:4] != FRAME_TAG:
        return None
    line = Line(text, offset, at_ms, block)
    usual: list[Event] = []
    for _ in take_usual((line,), usual):
        break
    else:
        return cast(Style12 | Malformed, usual[0])
    try:
        board, tail, partial = _split(text)
        frame = read_tokens(board, tail, f"{FRAME_TAG} {board} {' '.join(tail)}", offset, at_ms, block, partial)
    except LineError as error:
        return Malformed(line, FRAME_TAG, str(error))
    problem = check_frame(frame)
    return frame if problem is None else Malformed(line, FRAME_TAG, problem)


def take_usual(lines: Iterable[Line], out: list[Event]) -> Iterator[Line]:
    """Read frames of the usual shape: 8×8 board, single blanks, 31 to 33 tokens.

    Frames go to ``out``, each before the line behind it is looked at, as do those with a damaged field. Every other
    line is yielded; of these, only ``parse_style12`` can read those that begin with ``<12>``.
    """
    add = out.append
    for line in lines:
        text, offset, at_ms, block = cast(LineRow, line)
        # Comparing and "in" are by far the cheapest ways to look at a text.
        if "<12> " < text < "<12>!" and (block is None or block.code not in TEXT_BLOCKS) and text[76:77] == " ":
            board = text[5:76]
            if "<" not in board:
                frame = scan_frame(board, text, offset, at_ms, block) if _SCANS else None
                if frame is not None:
                    add(frame)
                    continue
                rest = text[TAIL_BEGIN:]
                tail = rest.split(" ")
                if (
                    _FULL <= len(tail) <= TAIL_LAG + 1
                    and tail[TAIL_TURN] in _TURNS
                    and tail[TAIL_VERBOSE]
                    and tail[-1].isdigit()
                    and "<" not in rest
                ):
                    try:
                        add(read_tokens(board, tail, text, offset, at_ms, block, False))
                    except LineError as error:
                        number = tail[TAIL_GAME]  # the fields before it have their places
                        game_no = int(number) if _GAME_NO.fullmatch(number) else None
                        add(Malformed(line, FRAME_TAG, str(error), game_no=game_no))
                    continue
        yield line


def read_tokens(
    board: str, tail: list[str], text: str, offset: int, at_ms: int | None, block: ReplyBlock | None, partial: bool
) -> Style12:
    """Make a frame of its tokens; the board, the verbose and the pretty move are taken as they are.

    ``tail`` has the tokens from the side to move on. A missing or malformed field is a LineError; values are not judged
    (servers print wild double-push files, negative counts and clocks).
    """
    if len(tail) < (TAIL_VERBOSE + 1 if partial else _FULL):
        raise LineError("the frame ends before its move")
    numbers = " ".join(tail[:TAIL_VERBOSE])
    if _NUMBERS.fullmatch(numbers) is None:
        raise LineError(f"the fields between board and move cannot be {numbers!r}")
    white_ms: int | None = None
    black_ms: int | None = None
    elapsed_ms: int | None = None
    precision: int | None = None
    if len(tail) > TAIL_ELAPSED:
        elapsed_ms, exact = parse_elapsed(tail[TAIL_ELAPSED])
        unit_ms = 1 if exact else 1000
        precision = int(exact)
        white_ms, black_ms = int(tail[TAIL_WHITE_CLOCK]) * unit_ms, int(tail[TAIL_BLACK_CLOCK]) * unit_ms
    lag_ms: int | None = None
    if not _FLAGS.issuperset(tail[TAIL_FLIP:TAIL_LAG]):
        flag = next(flag for flag in tail[TAIL_FLIP:TAIL_LAG] if flag not in _FLAGS)
        raise LineError(f"the flag after the move cannot be {flag!r}")
    if len(tail) > TAIL_LAG:
        lag = _LAST_NUMBER.fullmatch(tail[TAIL_LAG])
        if lag is None or lag[2]:
            raise LineError(f"the lag cannot be {tail[TAIL_LAG]!r}")
        lag_ms = int(lag[1])
    return Style12(
        board, text, offset, at_ms, block, partial,
        tail[TAIL_GAME], " ".join(tail[TAIL_WHITE:TAIL_RELATION]), int(tail[TAIL_RELATION]),
        2 * max(int(tail[TAIL_MOVE_NO]) - 1, 0) + (tail[TAIL_TURN] == "B"), int(tail[TAIL_IRREVERSIBLE]),
        white_ms, black_ms, tail[TAIL_VERBOSE], elapsed_ms, precision,
        tail[TAIL_PRETTY] if len(tail) > TAIL_PRETTY else None, lag_ms,
    )  # fmt: skip


class _UnusualError(ValueError):
    """A field does not look as it does in nearly all frames."""


def scan_frame(board: str, text: str, offset: int, at_ms: int | None, block: ReplyBlock | None) -> Style12 | None:
    """Read a frame of a game that is played, letter by letter.

    Compiled, this costs a third of cutting tokens and reading them. A shortcut through ``read_tokens``, not other
    rules. The board ends before ``TAIL_BEGIN``. None: the line does not look as nearly all frames do, which need not
    mean much.
    """
    try:
        turn: i64 = ord(text[TAIL_BEGIN])
        at: i64 = TAIL_BEGIN + 2
        if ord(text[at]) == _MINUS:  # the double push
            at += 1
        if turn not in (_W, _B) or ord(text[TAIL_BEGIN + 1]) != _BLANK or not _is_digit(ord(text[at])):
            return None
        for _ in range(4):  # the castling rights
            if ord(text[at + 1]) != _BLANK or ord(text[at + 2]) not in (_ZERO, _ONE):
                return None
            at += 2
        if ord(text[at + 1]) != _BLANK:
            return None
        irreversible, game = _number(text, at + 2)
        _, white = _number(text, game)
        relation = _word(text, _word(text, white))
        at_relation: i64 = relation + (ord(text[relation]) == _MINUS)
        letter: i64 = ord(text[at_relation])
        if ord(text[at_relation + 1]) != _BLANK or (letter != _ONE and (letter != _ZERO or at_relation > relation)):
            return None
        at = at_relation + 2
        for _ in range(4):  # time control and material
            _, at = _number(text, at)
        white_ms, at = _clock(text, at)
        black_ms, at = _clock(text, at)
        if ord(text[at]) == _ZERO:
            return None
        move_no, verbose = _number(text, at)
        at = _word(text, verbose)
        elapsed_ms, ms, pretty = _elapsed(text, at)
        flip = _word(text, pretty)
        lag_ms = _lag(text, flip)
    except (_UnusualError, IndexError):
        return None
    if not ms:
        white_ms *= 1000
        black_ms *= 1000
    watched = 0 if letter == _ZERO else 1 if at_relation == relation else -1
    return Style12(
        board, text, offset, at_ms, block, False, text[game : white - 1], text[white : relation - 1], watched,
        2 * (move_no - 1) + (turn == _B), irreversible, white_ms, black_ms, text[verbose : at - 1], elapsed_ms, ms,
        text[pretty : flip - 1], lag_ms,
    )  # fmt: skip


_SCANS: Final = not isinstance(scan_frame, FunctionType)


def _is_digit(letter: i64) -> bool:
    return _ZERO <= letter <= _NINE


def _number(text: str, at: i64) -> tuple[i64, i64]:
    """One to twelve digits, and the index behind the blank behind them; anything else is an _UnusualError."""
    begin = at
    value: i64 = 0
    letter: i64 = ord(text[at])
    while _ZERO <= letter <= _NINE:
        value = 10 * value + letter - _ZERO
        at += 1
        letter = ord(text[at])
    if letter != _BLANK or not 0 < at - begin <= _MOST_DIGITS:
        raise _UnusualError
    return value, at + 1


def _clock(text: str, at: i64) -> tuple[i64, i64]:
    """May be negative; the place is behind the blank behind it."""
    if ord(text[at]) != _MINUS:
        return _number(text, at)
    value, behind = _number(text, at + 1)
    return -value, behind


def _word(text: str, at: i64) -> i64:
    begin = at
    letter: i64 = ord(text[at])
    while letter != _BLANK:
        if letter in (_LESS, _UNDERSCORE):
            raise _UnusualError
        at += 1
        letter = ord(text[at])
    if at == begin:
        raise _UnusualError
    return at + 1


def _elapsed(text: str, at: i64) -> tuple[i64, i64, i64]:
    """``(m:ss)`` or ``(m:ss.mmm)``: milliseconds, 1 if they were printed, the place behind the blank behind it."""
    if ord(text[at]) != _OPEN:
        raise _UnusualError
    at += 1
    begin = at
    value: i64 = 0
    letter: i64 = ord(text[at])
    while _ZERO <= letter <= _NINE:
        value = 10 * value + letter - _ZERO
        at += 1
        letter = ord(text[at])
    tens: i64 = ord(text[at + 1])
    ones: i64 = ord(text[at + 2])
    if letter != _COLON or not 0 < at - begin <= _MOST_MINUTES or not (_is_digit(tens) and _is_digit(ones)):
        raise _UnusualError
    value = 60_000 * value + 10_000 * (tens - _ZERO) + 1000 * (ones - _ZERO)
    at += 3
    ms: i64 = 0
    if ord(text[at]) == _POINT:
        hundreds: i64 = ord(text[at + 1])
        tens, ones = ord(text[at + 2]), ord(text[at + 3])
        if not (_is_digit(hundreds) and _is_digit(tens) and _is_digit(ones)):
            raise _UnusualError
        value += 100 * (hundreds - _ZERO) + 10 * (tens - _ZERO) + ones - _ZERO
        at += 4
        ms = 1
    if ord(text[at]) != _CLOSE or ord(text[at + 1]) != _BLANK:
        raise _UnusualError
    return value, ms, at + 2


def _lag(text: str, at: i64) -> int | None:
    """The lag in milliseconds at the end, behind two flags or what there is of them; None: there is none."""
    end: i64 = len(text)
    for _ in range(2):
        if ord(text[at]) not in (_ZERO, _ONE):
            raise _UnusualError
        if at + 1 == end:
            return None
        if ord(text[at + 1]) != _BLANK:
            raise _UnusualError
        at += 2
    if not 0 < end - at <= _MOST_DIGITS:
        raise _UnusualError
    value: i64 = 0
    while at < end:
        letter: i64 = ord(text[at])
        if not _is_digit(letter):
            raise _UnusualError
        value = 10 * value + letter - _ZERO
        at += 1
    return value


def _split(text: str) -> tuple[str, list[str], bool]:
    """Any shape of frame: glued tag, extra blanks, other board sizes, cut ends, a prompt glued on.

    Return the board's ranks with blanks between them, the fields behind it, and whether the end was cut. A second frame
    inside, ranks of different lengths, or missing fields from the move on are a LineError.
    """
    if any(text.find(tag, 4) >= 0 for tag in _TAGS):
        raise LineError("another tagged line stands inside the frame", text)
    tokens = text[4:].split()
    place = next((place for place, token in enumerate(tokens) if token in _TURNS), None)
    if place is None:
        raise LineError("the frame has no side to move", text, "turn")
    ranks = tokens[:place]
    if not 8 <= len(ranks) <= _MAX_RANKS or len({len(rank) for rank in ranks}) != 1:
        raise LineError(f"the board's ranks are not of one length: {' '.join(ranks)!r}", text, "board")
    tail = tokens[place:]
    board = " ".join(ranks)
    rest = tail[TAIL_ELAPSED:]
    for index in range(TAIL_FLIP, len(tail)):
        number = _LAST_NUMBER.fullmatch(tail[index])
        if number is None:
            if index > TAIL_LAG and not tail[index].endswith("%"):
                continue  # a field of a later server
            tail = tail[:index]
            break
        if number[2]:
            tail = [*tail[:index], number[1]]  # the prompt is glued on
            break
    if len(tail) >= _FULL:
        return board, tail, False
    if len(tail) <= TAIL_VERBOSE:
        raise LineError("the frame ends before its move", text, "verbose move")
    verbose = _VERBOSE.match(tail[TAIL_VERBOSE])
    cut = _CUT.fullmatch(tail[TAIL_VERBOSE][verbose.end() :] + " " + " ".join(rest)) if verbose else None
    if verbose is None or cut is None:
        raise LineError(f"the fields from the move on cannot be {' '.join(tail[TAIL_VERBOSE:])!r}", text)
    elapsed = [] if cut["elapsed"] is None else [cut["elapsed"]]
    pretty = [cut["pretty"]] if cut.end() == cut.end("pretty") and _is_uncut(verbose[0], cut["pretty"]) else []
    return board, [*tail[:TAIL_VERBOSE], verbose[0], *elapsed, *pretty], True


def _is_uncut(verbose: str, pretty: str) -> bool:
    """Whether the pretty move with which a frame ends is whole: the oldest servers print nothing behind it."""
    side, parts, named = castle_side(verbose), split_verbose(verbose), read_pretty(pretty)
    if named is None or parts is None:
        return named is not None and side is not None and named.castle == 1 + side
    letter, _, target, promotion = parts
    return named.to == target and bool(letter != "P" or target // 9 not in (0, 7) or promotion or named.promotion)


def frame_end(text: str) -> int | None:
    """The index behind a frame's own fields if other text follows them; None: it is alone, cut, or no frame."""
    tokens = list(_TOKEN.finditer(text, 4))
    turn = next((place for place, token in enumerate(tokens) if token[0] in _TURNS), len(tokens))
    for index in range(turn + TAIL_FLIP, len(tokens)):
        number = _LAST_NUMBER.fullmatch(tokens[index][0])
        if number is not None and not number[2]:
            continue
        end = tokens[index].start() + number.end(1) if number is not None else tokens[index - 1].end()
        return end if index + (number is not None) - turn >= _FULL else None
    return None


def check_frame(frame: Style12) -> str | None:
    """Test those fields of a frame that were accepted as they are; say what is wrong. The position is not judged."""
    if _BOARD.fullmatch(frame.board) is None:
        ranks = frame.board.split(" ")
        unequal = len({len(rank) for rank in ranks}) != 1 or len(ranks[0]) == 8
        if unequal or not all(_RANK.fullmatch(rank) for rank in ranks):
            return f"the board cannot be {frame.board!r}"
    if _VERBOSE.fullmatch(frame.verbose) is None:
        return f"the move cannot be {frame.verbose!r}"
    numbers = (frame.game_no, frame.ply, 60 * frame.base_min, frame.increment_s)
    return f"no game has the number {max(numbers)}" if max(numbers) > _LARGEST else None
