"""``<12>`` lines: text to ``Style12`` and back.

Fields are counted from the left: servers append new ones, so 31, 32, 33 and more tokens are all good. Old servers cut
long lines; what is left counts as *partial* if the verbose move is whole. Source: "help style12" of several servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, cast

from recorder.dialects.blocks import TEXT_BLOCKS
from recorder.errors import LineError
from recorder.events import Event, Line, LineRow, Malformed
from recorder.frames import TAIL_ELAPSED, TAIL_FLIP, TAIL_LAG, TAIL_VERBOSE, Block, Style12, parse_elapsed

__all__ = ["FRAME_TAG", "check_frame", "format_style12", "frame_end", "parse_elapsed", "parse_style12", "take_usual"]

FRAME_TAG: Final = "<12>"

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
# What may stand after the verbose move of a cut frame: parts of the two next fields, and the prompt.
_CUT: Final = re.compile(
    r"(?: (?:(?P<elapsed>\(-?[0-9][-0-9:.]*\))(?: [A-Za-z0-9@=+#-]*)?|\([-0-9:.]*)?)?(?:\S*[%>])? ?(?:\S+[%>] ?)*"
)
_LAST_NUMBER = re.compile(r"(-?[0-9]{1,12})(?![0-9])(\S*)")
_TOKEN: Final = re.compile(r"\S+")
_TURNS: Final = ("W", "B")
_TAGS: Final = ("<12>", "<b1>", "<g1>", "<d1>")


def parse_style12(
    text: str, offset: int = 0, at_ms: int | None = None, block: Block | None = None
) -> Style12 | Malformed | None:
    """Read a line that begins with ``<12>``.

    A frame of the usual shape is only cut into its tokens: whoever cannot prove it from its predecessor asks
    ``check_frame``. Every other shape is checked here.

    Args:
        text: the line without prompts.
        offset, at_ms, block: of the line.
    Returns:
        The frame, ``Malformed`` when it cannot be one, or None when the line does not begin with the tag.
    """
    if text[:4] != FRAME_TAG:
        return None
    usual: list[Event] = []
    for _ in take_usual(((text, offset, at_ms, block),), usual):
        break
    else:
        return cast(Style12, usual[0])
    try:
        board, tail, partial = _split(text)
        frame = Style12(board, tail, offset, at_ms, block, partial)
    except LineError as error:
        return Malformed(Line(text, offset, at_ms, block), FRAME_TAG, str(error))
    problem = check_frame(frame)
    if problem is not None:
        return Malformed(Line(text, offset, at_ms, block), FRAME_TAG, problem)
    return frame


def take_usual(lines: Iterable[LineRow], out: list[Event]) -> Iterator[LineRow]:
    """Cut whole frames of the usual shape into their tokens: 8×8 board, single blanks, 31 to 33 tokens.

    Args:
        lines: in order.
        out: gets the frames, each before the line behind it is looked at.
    Yields:
        Every other line: what begins with ``<12>`` among them, only ``parse_style12`` can tell what it is.
    """
    add = out.append
    for line in lines:
        text, offset, at_ms, block = line
        # Comparing and "in" are by far the cheapest ways to look at a text.
        if "<12> " < text < "<12>!" and (block is None or block[1] not in TEXT_BLOCKS):
            rest = text[77:]
            tail = rest.split(" ")
            count = len(tail)
            if (
                (count == 24 or 22 <= count < 24)
                and tail[0] in _TURNS
                and tail[count - 1].isdigit()
                and tail[18]  # the verbose move
                and text[76] == " "
                and "<" not in rest
                and "<" not in (board := text[5:76])
                and "_" not in rest  # int() would take 18_0 for 180; the whole grammar does not
            ):
                add(Style12(board, tail, offset, at_ms, block, False))
                continue
        yield line


def _split(text: str) -> tuple[str, list[str], bool]:
    """Any shape of frame: glued tag, odd blanks, other board sizes, cut ends, a prompt glued on."""
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
    return board, [*tail[:TAIL_VERBOSE], verbose[0], *elapsed], True


def frame_end(text: str) -> int | None:
    """Where a frame's own fields end when something else stands behind them.

    Args:
        text: a line that begins with ``<12>``, without another tag.
    Returns:
        The place behind the last field; None when the line is a frame alone, cut, or no frame.
    """
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
    """Test a frame against the whole grammar.

    Every field must have its form; values are not judged (servers print wild double-push files, negative counts and
    clocks), nor is the position.

    Args:
        frame: any frame.
    Returns:
        None, or one sentence saying what is wrong.
    """
    if _BOARD.fullmatch(frame.board) is None:
        ranks = frame.board.split(" ")
        odd = len({len(rank) for rank in ranks}) != 1 or len(ranks[0]) == 8
        if odd or not all(_RANK.fullmatch(rank) for rank in ranks):
            return f"the board cannot be {frame.board!r}"
    tail = frame.tail
    if len(tail) < (TAIL_VERBOSE + 1 if frame.partial else _FULL):
        return "the frame ends before its move"
    numbers = " ".join(tail[:TAIL_VERBOSE])
    if _NUMBERS.fullmatch(numbers) is None:
        return f"the fields between board and move cannot be {numbers!r}"
    if _VERBOSE.fullmatch(tail[TAIL_VERBOSE]) is None:
        return f"the move cannot be {tail[TAIL_VERBOSE]!r}"
    if len(tail) > TAIL_ELAPSED:
        try:
            parse_elapsed(tail[TAIL_ELAPSED])
        except LineError as error:
            return str(error)
    for place in range(TAIL_FLIP, min(len(tail), TAIL_LAG)):
        if tail[place] not in ("0", "1"):
            return f"the flag after the move cannot be {tail[place]!r}"
    if len(tail) > TAIL_LAG:
        lag = _LAST_NUMBER.fullmatch(tail[TAIL_LAG])
        if lag is None or lag[2]:
            return f"the lag cannot be {tail[TAIL_LAG]!r}"
    return None


def format_style12(frame: Style12) -> str:
    """Write a frame as servers do.

    Args:
        frame: any frame.
    Returns:
        The line without its end; blanks are single.
    """
    return f"{FRAME_TAG} {frame.board} {' '.join(frame.tail)}"
