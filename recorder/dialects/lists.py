"""Lists that servers print: games in progress and a player's history.

``107 1835 PMFISHER    1831 Sfumato    [ br  5   0]   2:08 -  3:25 (31-30) W:  9``: number, rating and name of both,
private, type and rated, minutes and increment, clocks, material, who is to move. The C servers and FICS cut White's
name to 11 characters and Black's to 10; FatICS prints one blank less; ICC prints no brackets, no clocks, and titles
behind names that are not cut. Examined and set-up games are in parentheses, without clocks.
Source: captures of FICS and FatICS, the format strings of the C servers, a capture of ICC.

``22: - 1513 B 2052 VerdantNewt   [ br  3   0] B00 Res Thu Nov 24, 16:18 CST 2011``: number, result for the player,
rating, colour, the opponent's rating and name, type and rated, times, opening, how and when it ended. The C servers cut
the name to 13 characters and print the time as C does; FatICS cuts it to 14. ICC prints ``Jul 30 94 01:32``, and ``a``
for an aborted game.
Source: the format strings of FICS 1.6.2, Lasker and FatICS; ``help history`` of ICC, which shows no line before the
names of the columns.

Each ``parse_…`` takes a line without prompts; it returns None for a line of another kind.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from recorder.dialects.forms import RATING, read_header, read_rating
from recorder.dialects.movelist import MONTHS, parse_started
from recorder.events import GameNotified, GamesCounted, GamesRow, Line, ObserveRefused, Refusal, TablePlayer
from recorder.text import later
from recorder.times import short_hms

_WHITE_WIDTH = 11
_BLACK_WIDTH = 10
_RATED_TEXT = r"([0-9]{1,5}[EP]?|\+{4}|-{4}|UNR)"
_NAME = r"(\S{1,40}?)(?:\((\S{1,40})\))?"
_NUMBER = r"([0-9]{1,6})"
_CLOCK = r"([0-9:]{1,12})"
_PLAYERS = rf"{_RATED_TEXT} +{_NAME} +{_RATED_TEXT} +{_NAME}"
_ROW = later(
    rf" *{_NUMBER} +(?:\((Exam\.|Setup) +{_PLAYERS} *\)|{_PLAYERS})"
    rf" +(?:\[([ p]?)([!-~])([ru]) *{_NUMBER} +{_NUMBER}\]|(p?)([!-~])([ru]) +{_NUMBER} +{_NUMBER})"
    rf" +(?:{_CLOCK} +- *{_CLOCK} +\( *{_NUMBER}- *{_NUMBER}\) +)?([WB]): *{_NUMBER} *"
)
_COUNTED = later(r" *([0-9]{1,6}) games? displayed(?: \(of +([0-9]{1,6})(?: in progress)?\))?\.? *")
# chessd says some of this in Portuguese (``po/pt_BR.po``), in UTF-8 or latin-1.
_NO_MATCHES = later(
    r"(?:No matching games were found \(of +([0-9]{1,6}) in progress\)"
    r"|Nenhum jogo foi encontrado \(de ([0-9]{1,6}) em progresso\))\. *"
)
_NO_GAMES = later(r"(?:There are no games in progress|N\S{1,2}o h\S{1,2} jogos em progresso)\. *")
_NOTIFIED = later(
    rf"Game notification: (\S+) {RATING} vs\. (\S+) {RATING} (rated|unrated) ?(\S*|\S+ \S+) {_NUMBER} {_NUMBER}"
    rf": Game {_NUMBER} *"
)

# Letters in brackets are those of the C servers, FICS and FatICS, which has a digit and a sign, too.
_CATEGORIES = {
    "b": "blitz",
    "s": "standard",
    "l": "lightning",
    "u": "untimed",
    "w": "wild",
    "x": "atomic",
    "z": "crazyhouse",
    "B": "bughouse",
    "S": "suicide",
    "L": "losers",
    "n": "nonstandard",
    "9": "chess960",
    "?": "untimed",
    "o": "slow",
    "G": "gothic",
    "K": "knightmate",
    "C": "capablanca",
}
# Without brackets the server is ICC, whose letters mean other things; these are certain.
_ICC_CATEGORIES = {"b": "blitz", "s": "standard", "u": "untimed", "w": "wild"}


def parse_row(line: Line) -> GamesRow | None:
    match = _ROW().fullmatch(line.text)
    if match is None:
        return None
    (
        number, state,
        white_rating_e, white_e, white_titles_e, black_rating_e, black_e, black_titles_e,
        white_rating, white, white_titles, black_rating, black, black_titles,
        private, kind, rated, base, increment,
        private_icc, kind_icc, rated_icc, base_icc, increment_icc,
        white_clock, black_clock, white_material, black_material, side, move_no,
    ) = match.groups()  # fmt: skip
    if state is not None:
        white_rating, white, white_titles = white_rating_e, white_e, white_titles_e
        black_rating, black, black_titles = black_rating_e, black_e, black_titles_e
    icc = kind is None
    if icc:
        private, kind, rated, base, increment = private_icc, kind_icc, rated_icc, base_icc, increment_icc
    clocks = _seconds(white_clock), _seconds(black_clock)
    if white_clock is not None and None in clocks:
        return None
    return GamesRow(
        line,
        int(number),
        TablePlayer(
            white,
            not icc and len(white) >= _WHITE_WIDTH,
            read_rating(white_rating),
            (white_titles or "") if icc else white_titles,
            clocks[0],
            None if white_material is None else int(white_material),
        ),
        TablePlayer(
            black,
            not icc and len(black) >= _BLACK_WIDTH,
            read_rating(black_rating),
            (black_titles or "") if icc else black_titles,
            clocks[1],
            None if black_material is None else int(black_material),
        ),
        state,
        private == "p",
        kind,
        (_ICC_CATEGORIES if icc else _CATEGORIES).get(kind),
        rated == "r",
        int(base),
        int(increment),
        side == "W",
        int(move_no),
    )


def _seconds(text: str | None) -> int | None:
    """``2:08`` and ``1:19:56`` in seconds; None for no clock or another form."""
    if text is None:
        return None
    parts = text.split(":")
    if not 2 <= len(parts) <= 3 or not all(parts):
        return None
    total = 0
    for part in parts:
        total = 60 * total + int(part)
    return total


def format_row(event: GamesRow) -> str:
    """In the columns of FICS, or of ICC if titles are given."""
    white, black = event.white, event.black
    side = f"{'W' if event.white_to_move else 'B'}: {event.move_no:>2}"
    flags = f"{event.kind}{'r' if event.rated else 'u'}"
    if white.titles is not None and event.state is None and white.clock_s is None:
        names = [f"{player.name}({player.titles})" if player.titles else player.name for player in (white, black)]
        return (
            f"{event.game_no} {white.rating.text:>4} {names[0]:<20} {black.rating.text:>4} {names[1]:<20} "
            f"{'p' if event.private else ''}{flags}{event.base_min:>4} {event.increment_s:>3}       {side}"
        )
    players = f"{white.rating.text:>4} {white.name:<{_WHITE_WIDTH}} {black.rating.text:>4} {black.name:<{_BLACK_WIDTH}}"
    times = f"[{'p' if event.private else ' '}{flags}{event.base_min:>3} {event.increment_s:>3}]"
    if event.state is not None:
        return f"{event.game_no:>3} ({event.state} {players}) {times} {side}"
    if white.clock_s is None or black.clock_s is None:
        return f"{event.game_no:>3} {players} {times} {side}"
    clocks = f"{short_hms(white.clock_s):>6} -{short_hms(black.clock_s):>6}"
    return f"{event.game_no:>3} {players} {times} {clocks} ({white.material:>2}-{black.material:>2}) {side}"


def parse_counted(line: Line) -> GamesCounted | None:
    """The line behind the table's last row, or the one printed for an empty table."""
    if _NO_GAMES().fullmatch(line.text) is not None:
        return GamesCounted(line, 0, None)
    if (match := _NO_MATCHES().fullmatch(line.text)) is not None:
        return GamesCounted(line, 0, int(match[1] or match[2]))
    match = _COUNTED().fullmatch(line.text)
    return None if match is None else GamesCounted(line, int(match[1]), None if match[2] is None else int(match[2]))


def format_counted(event: GamesCounted) -> str:
    if event.displayed == 0 and event.total is None:
        return "There are no games in progress."
    of = "" if event.total is None else f" (of {event.total:>3} in progress)"
    return f"{event.displayed:>3} game{'' if event.displayed == 1 else 's'} displayed{of}."


def parse_notified(line: Line) -> GameNotified | None:
    """Old servers print it without the game's number; then nothing can be done with it."""
    match = _NOTIFIED().fullmatch(line.text)
    if match is None:
        return None
    *words, number = match.groups()
    return read_header(GameNotified, line, number, *words)


# A server's texts for one reason, the first of them being the one that is written.
_REFUSALS: list[tuple[Refusal, str, str]] = [
    (
        Refusal.LIMIT,
        r"(?:You are already observing the maximum number of games"
        r"|Voc\S{1,2} j\S{1,2} est\S{1,2} observando o n\S{1,2}mero m\S{1,2}ximo permitido de jogos)\.?",
        "You are already observing the maximum number of games.",
    ),
    (Refusal.ALREADY, r"You are already observing game (?P<game>[0-9]{1,6})\.?", "You are already observing game {}."),
    (
        Refusal.NOT_OBSERVING,
        r"(?:You are not observing game|Voc\S{1,2} n\S{1,2}o est\S{1,2} observando o jogo) (?P<game>[0-9]{1,6})\.?",
        "You are not observing game {}.",
    ),
    (Refusal.NOT_OBSERVING, r"You are not observing any games?\.?", "You are not observing any games."),
    (Refusal.NO_SUCH_GAME, r"(?:There is no such game|N\S{1,2}o h\S{1,2} tal jogo)\.?", "There is no such game."),
    (
        Refusal.OWN_GAME,
        r"(?:You cannot observe (?:yourself|a game that you are playing)"
        r"|Voc\S{1,2} n\S{1,2}o pode observar um jogo que voc\S{1,2} est\S{1,2} jogando)\.?",
        "You cannot observe a game that you are playing.",
    ),
    (
        Refusal.EXAMINING,
        r"You are still (?:examining a game|setting up a position)\.?",
        "You are still examining a game.",
    ),
]
_REFUSAL_TESTS = [(reason, re.compile(form + r" *").fullmatch) for reason, form, _ in _REFUSALS]


def parse_refusal(line: Line) -> ObserveRefused | None:
    """``Sorry, game 12 is a private game.`` is a ``GameNotice``."""
    if not line.text.startswith(("You ", "There is ", "Voc", "N")):
        return None
    for reason, test in _REFUSAL_TESTS:
        match = test(line.text)
        if match is not None:
            game = match.groupdict().get("game")
            return ObserveRefused(line, reason, None if game is None else int(game))
    return None


def format_refusal(event: ObserveRefused) -> str:
    """ValueError: no server prints this reason with, or without, a game number."""
    for reason, _, text in _REFUSALS:
        if reason is event.reason and ("{}" in text) == (event.game_no is not None):
            return text.format(event.game_no)
    raise ValueError(f"no server prints {event.reason.value} with game {event.game_no}")


_CUT = 13
_LAST_CENTURY = 90  # ICC began in 1995: later than that are years of the last century
_RATING = r"(?:[0-9]{1,5}[EP]?|\+{4}|-{4}|UNR)"
_HEAD = re.compile(r"History for (\S{1,40}):\s*")
_HISTORY_ROW = later(
    rf" *([0-9]{{1,4}}): ([-+=a]) +{_RATING} ([WB]) +{_RATING} (\S{{1,40}}?) *"
    r"\[ *[!-~]{1,3} *[0-9]{1,6} +[0-9]{1,6}\] +\S{1,9} +\S{1,9} +(\S(?:.*\S)?) *"
)
_COLUMNS = re.compile(r" +Opponent +Type +ECO +End +Date *")
_NONE = re.compile(
    r"(?:\S{1,40} has no history games"
    r"|Sorry, no game information available"
    r"|There is no player matching (?:the|that) name(?: \S{1,40})?"
    r"|Ambiguous name '\S{1,40}'; matches more than one player"
    r"|No games in history for \S{1,40}?"
    r"|(?:There is no history game|History game) -?[0-9]{1,6} (?:not available )?for \S{1,40}?"
    r"|There is no old game for \S{1,40}?)\.? *"
)
_ICC_DATE = later(r"([A-Z][a-z]{2}) +([0-9]{1,2}) ([0-9]{2}) +([0-9]{1,2}):([0-9]{2})")
_C_DATE = later(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +([0-9]{1,2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([0-9]{4})")


class HistoryRow(NamedTuple):
    """A game in a player's history, with its ``number`` for ``smoves``; ``cut``: the opponent's name is not complete.

    ``ended_at_ms`` is UTC if ``zone_known``, else local time of the server; None: no date that can be read.
    """

    number: int
    is_white: bool
    opponent: str
    cut: bool
    result: str
    ended_at_ms: int | None
    zone_known: bool


def parse_history_head(text: str) -> str | None:
    match = _HEAD.fullmatch(text)
    return None if match is None else match[1]


def parse_history_row(text: str) -> HistoryRow | None:
    match = _HISTORY_ROW().fullmatch(text)
    if match is None:
        return None
    number, sign, colour, opponent, date = match.groups()
    is_white = colour == "W"
    drawn = {"=": "1/2-1/2", "a": "*"}
    result = drawn.get(sign) or ("1-0" if (sign == "+") is is_white else "0-1")
    at_ms, zone_known = _read_date(date)
    return HistoryRow(int(number), is_white, opponent, len(opponent) >= _CUT, result, at_ms, zone_known)


def _read_date(text: str) -> tuple[int | None, bool]:
    if match := _C_DATE().fullmatch(text):
        month, day, hour, minute, second, year = match.groups()
    elif match := _ICC_DATE().fullmatch(text):
        month, day, year, hour, minute = match.groups()
        year, second = f"{19 if int(year) > _LAST_CENTURY else 20}{year}", "0"
    else:
        at_ms, zone_known, _ = parse_started(text)
        return at_ms, zone_known
    try:
        local = datetime(int(year), MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None, False
    return int(local.timestamp()) * 1000, False


def is_history_columns(text: str) -> bool:
    """Printed above the first row."""
    return _COLUMNS.fullmatch(text) is not None


def is_no_history(text: str) -> bool:
    return _NONE.fullmatch(text) is not None
