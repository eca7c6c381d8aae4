"""Tagged lines beside the boards: ``<b1>`` (holdings), ``<g1>`` (facts of a game) and ``<d1>`` (moves).

The brackets decide which hand is whose: Capablanca servers print the players' names where others print ``white`` and
``black``. A line belongs to the game it names, which may be the partner's. Source: captures of FICS, FatICS, BICS and
the C servers' board code.

``it=`` is White's time and increment, ``i=`` Black's, and ``u=1`` marks a guest: the servers' code says so against
their help pages. A partner number of 0 is none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recorder.errors import LineError
from recorder.events import DeltaBoard, GameInfo, HoldingsLine, Line, Malformed
from recorder.text import later

HOLDINGS_TAG = "<b1>"

_HOLDINGS = re.compile(
    r"<b1>\s*+game\s++([0-9]{1,9}+)\s++(?:[^\s\[]++\s*+)?\[\s*+([A-Za-z]*+)\s*+\]"
    r"\s*+(?:[^\s\[]++\s*+)?\[\s*+([A-Za-z]*+)\s*+\]"
    r"(?:\s*+<-\s*+([WBwb])([A-Za-z]))?\s*+"
)


def parse_holdings(line: Line) -> HoldingsLine | Malformed | None:
    match = _HOLDINGS.fullmatch(line.text)
    if match is None:
        if not line.text.startswith(HOLDINGS_TAG):
            return None
        return Malformed(line, HOLDINGS_TAG, "the holdings are not two bracketed lists of letters after a game number")
    number, white, black, side, piece = match.groups()
    return HoldingsLine(
        line,
        int(number),
        white.upper(),
        black.upper(),
        piece and piece.upper(),
        None if side is None else side in "Ww",
    )


def format_holdings(event: HoldingsLine) -> str:
    passed = "" if event.passed is None else f" <- {'W' if event.passed_to_white else 'B'}{event.passed}"
    return f"<b1> game {event.game_no} white [{event.white}] black [{event.black}]{passed}"


_INT = later(r"-?[0-9]{1,12}")

GAMEINFO_TAG = "<g1>"
DELTA_TAG = "<d1>"

_GAMEINFO = later(r"<g1>\s*([0-9]{1,9})((?:\s+[a-z]+=\S*)*)\s*")
_DELTA = later(
    r"<d1>\s*([0-9]{1,9})\s+([0-9]{1,5})\s+(\S+)\s+(\S+)"
    r"\s+(-?[0-9]{1,12})\s+(-?[0-9]{1,12})(?:\s+(-?[0-9]{1,12}))?\s*"
)
_SMITH = later(r"([a-h][1-8][a-h][1-8])([pnbrqEcC]?)([NBRQ]?)")
_MAX_GAME_NO = 1 << 20  # BICS prints uninitialised memory as the partner's number


def parse_gameinfo(line: Line) -> GameInfo | Malformed | None:
    if not line.text.startswith(GAMEINFO_TAG):
        return None
    match = _GAMEINFO().fullmatch(line.text)
    if match is None:
        return Malformed(line, GAMEINFO_TAG, "the game facts are not a game number and key=value words")
    fields = dict(word.split("=", 1) for word in match[2].split())
    try:
        unregistered = [_flag(value, "u") for value in _pair(fields, "u")]
        white = [_number(value, "it") for value in _pair(fields, "it")]
        black = [_number(value, "i") for value in _pair(fields, "i")]
        sealed = [_flag(value, "ts") for value in _pair(fields, "ts")]
        partner = _number(fields.get("pt"), "pt")
        ratings = _pair(fields, "rt")
        return GameInfo(
            line,
            int(match[1]),
            _flag(fields.get("p"), "p"),
            fields.get("t") or None,
            _flag(fields.get("r"), "r"),
            None if unregistered[0] is None else not unregistered[0],
            None if unregistered[1] is None else not unregistered[1],
            white[0],
            white[1],
            black[0],
            black[1],
            partner if partner is not None and 0 < partner < _MAX_GAME_NO else None,
            ratings[0],
            ratings[1],
            sealed[0],
            sealed[1],
        )
    except LineError as error:
        return Malformed(line, GAMEINFO_TAG, str(error))


def _pair(fields: dict[str, str], key: str) -> tuple[str | None, str | None]:
    """White's first, but of ``it`` and ``i`` the initial time; None: missing or empty."""
    value = fields.get(key, ",")
    first, comma, second = value.partition(",")
    if not comma:
        raise LineError(f"{key} must be two values with a comma, not {value!r}", field=key, value=value)
    return first or None, second or None


def _number(value: str | None, key: str) -> int | None:
    if value is not None and _INT().fullmatch(value) is None:
        raise LineError(f"{key} cannot be {value!r}", field=key, value=value)
    return None if value is None else int(value)


def _flag(value: str | None, key: str) -> bool | None:
    if value not in (None, "0", "1"):
        raise LineError(f"{key} cannot be {value!r}", field=key, value=value)
    return None if value is None else value == "1"


def format_gameinfo(event: GameInfo) -> str:

    def two(key: str, first: object, second: object) -> list[str]:
        if first is None and second is None:
            return []
        return [f"{key}={_written(first)},{_written(second)}"]

    def guest(registered: bool | None) -> bool | None:
        return None if registered is None else not registered

    words = [f"<g1> {event.game_no}"]
    words += [] if event.private is None else [f"p={event.private:d}"]
    words += [] if event.category is None else [f"t={event.category}"]
    words += [] if event.rated is None else [f"r={event.rated:d}"]
    words += two("u", guest(event.white_registered), guest(event.black_registered))
    words += two("it", event.white_base_s, event.white_increment_s)
    words += two("i", event.black_base_s, event.black_increment_s)
    words += [f"pt={event.partner_game_no or 0}"]
    words += two("rt", event.white_rating, event.black_rating)
    words += two("ts", event.white_sealed, event.black_sealed)
    return " ".join(words)


def _written(value: object) -> str:
    return "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)


def parse_delta(line: Line) -> DeltaBoard | Malformed | None:
    """The seventh number, the lag, is not printed by every server."""
    if not line.text.startswith(DELTA_TAG):
        return None
    match = _DELTA().fullmatch(line.text)
    if match is None:
        return Malformed(line, DELTA_TAG, "the move is not game, ply, SAN, squares, time, clock and lag")
    if match[2] == "0" or parse_smith(match[4]) is None:
        return Malformed(line, DELTA_TAG, "the move's ply or squares cannot be read")
    game, ply, san, smith, elapsed, clock, lag = match.groups()
    return DeltaBoard(
        line, int(game), int(ply), san, smith, int(elapsed), int(clock), None if lag is None else int(lag)
    )


def format_delta(event: DeltaBoard) -> str:
    lag = "" if event.lag_ms is None else f" {event.lag_ms}"
    return f"<d1> {event.game_no} {event.ply} {event.san} {event.smith} {event.elapsed_ms} {event.clock_ms}{lag}"


class Smith(NamedTuple):
    """``captured``: the piece's letter, ``E`` for en passant, ``c`` or ``C`` for castling short or long, or empty."""

    squares: str
    captured: str
    promoted: str


def parse_smith(text: str) -> Smith | None:
    """``e2e4``, ``d5e4p``, ``e5d6E``, ``e8g8c``, ``e7e8Q``, ``f2g1nN``, as ``iset compressmove`` prints them."""
    match = _SMITH().fullmatch(text)
    return None if match is None else Smith(*match.groups())
