"""Tag pairs → what they say of a game. What no field can hold, or not as it was written, is kept for the export.

Sources: the PGN standard, section 8; the FICS games database (2009 to 2022), ICC, lichess, chess.com, xboard, eboard,
PyChess and our own files for the forms of Event, Site and the times.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import Final

from recorder.model import GameEnd, Player, TimeBasis, known_site
from recorder.rules.variants import pgn_variant, read_category, read_pgn_variant
from recorder.saved.base import CHESS_COM, FATICS, FICS, LICHESS
from recorder.saved.pgn_text import RESULTS, read_time
from recorder.sources.stamps import parse_header_date
from recorder.times import read_day, read_time_of_day

_TITLE: Final = re.compile(r"W?(?:GM|IM|FM|CM)|NM")

_DIALECTS: Final = {
    "FICS freechess.org": FICS,
    "Internet Chess Club": "ICC",
    "lichess.org": LICHESS,
    "chess.com": CHESS_COM,
}
#: What our Event begins with → the family; the longer of two that begin alike stands first.
_FAMILIES: Final = {
    "FICS 1.6.2": "FICS 1.6.2", "FICS": FICS, "FatICS": FATICS, "ICC": "ICC", "BICS": "BICS", "chessd": "chessd",
    "Lasker": "Lasker", "Capablanca": "Capablanca", "chess.net": "chess.net", "Engine": "cecp",
    "ICS": None,
}  # fmt: skip
_ICS_SITE: Final = re.compile(r"(?:ICS|Internet Chess Server): (\S+)(?: [0-9]+)?", re.IGNORECASE)
_URL: Final = re.compile(r"https?://(?:www\.)?([a-z0-9.-]+)(?:/.*)?", re.IGNORECASE)
_HOST: Final = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_ARCHIVE_EVENT: Final = re.compile(
    rf"({'|'.join(map(re.escape, _FAMILIES))})( examined)?(?: (rated|unrated))?(?: (\S+(?: \S+)?))? game"
)
_EVENTS: Final = (
    re.compile(
        r"(?:fics server game, |internet, |ICS |FICS |ICC |)(rated|unrated|casual) (\S+(?: \S+)?) (?:match|game)", re.I
    ),
    re.compile(r"(?:ICS |FICS |ICC |)(rated|unrated|casual) (w(?:ild)?[ /]?(?:[0-9]{1,3}|\([0-9]{1,3}\)))", re.I),
    re.compile(r"()(rated|casual) (\S+)() (?:arena|swiss|tournament)\b.*", re.I),
)
_ICC_EVENT: Final = re.compile(r"ICC(?: tourney [0-9]+)?((?: \(?(?:w?[0-9]{1,4}|[ur])\)?)*)")
_ICC_WILD: Final = re.compile(r"w(?:ild)?[ /]?(?:([0-9]{1,3})|\(([0-9]{1,3})\))", re.I)
_SECONDS: Final = r"([0-9]{1,6})(?:\.([0-9]{1,3}))?"
_CONTROL: Final = re.compile(rf"{_SECONDS}(?:\+{_SECONDS})?", re.ASCII)
_RATING: Final = re.compile(r"([0-9]{1,5})[A-Za-z]?", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_PART: Final = re.compile(r"([0-9]{1,4})/([0-9]{1,4})", re.ASCII)
_TERMINATIONS: Final = frozenset(("normal", "time forfeit", "abandoned", "adjudication", "unterminated"))
_OURS: Final = ("RecorderKey", "RecorderPart", "RecorderComplete")
_ENDS: Final = {end.value: end for end in GameEnd if end is not GameEnd.RESULT}
_RESULTS: Final = frozenset(("1-0", "0-1", "1/2-1/2", "*"))
_MOST_INCREMENT_S: Final = 1000  # no server takes more; one client wrote milliseconds


@dataclass(slots=True)
class PgnHeader:
    """What a game's tags say; names as in ``recorder.model.Game``.

    ``control_ms`` is base time and increment of both sides if they are no whole seconds. ``start_word`` names the
    variant, and so where its games begin. ``ours``: this program wrote it. ``part`` is number and count of
    RecorderPart. ``derived``: its clocks were computed, as one of our files says. ``kept`` are the tags that no field
    holds as they are, in their order.
    """

    white: Player
    black: Player
    server: str | None = None
    dialect: str | None = None
    game_no: int | None = None
    rated: bool | None = None
    category: str | None = None
    variant: str | None = None
    base_s: int | None = None
    increment_s: int | None = None
    black_base_s: int | None = None
    black_increment_s: int | None = None
    base_inferred: bool = False
    control_ms: tuple[int, int] | None = None
    start_word: str | None = None
    fen: str | None = None
    result: str | None = None
    termination: str | None = None
    end: GameEnd | None = None
    started_at_ms: int | None = None
    ended_at_ms: int | None = None
    time_basis: TimeBasis = TimeBasis.NONE
    date_text: str | None = None
    plies: int | None = None
    ours: bool = False
    part: tuple[int, int] | None = None
    derived: bool = False
    kept: list[tuple[str, str]] = field(default_factory=list)


def read_header(pairs: list[tuple[str, str]], server: str | None = None) -> PgnHeader:
    tags: dict[str, str] = {}
    for name, value in pairs:
        tags.setdefault(name, value)
    used: set[str] = set()
    header = PgnHeader(_player(tags, "White", used), _player(tags, "Black", used))
    _read_site(header, tags, used)
    _read_event(header, tags, used)
    header.server = header.server or server
    _read_variant(header, tags, used)
    _read_control(header, tags, used)
    _read_times(header, tags, used)
    _read_end(header, tags, used)
    if tags.get("Round") == "-":
        used.add("Round")
    if _NUMBER.fullmatch(tags.get("PlyCount", "")):
        header.plies = int(tags["PlyCount"])
        used.add("PlyCount")
    if _NUMBER.fullmatch(tags.get("ICSGameNo", "")):
        header.game_no = int(tags["ICSGameNo"])
        if tags["ICSGameNo"] == str(header.game_no):
            used.add("ICSGameNo")
    header.ours = "RecorderKey" in tags
    if header.ours and (match := _PART.fullmatch(tags.get("RecorderPart", ""))):
        header.part = int(match[1]), int(match[2])
    header.derived = tags.get("RecorderClocks") == "derived"
    used.update(name for name in (*_OURS, "RecorderClocks") if name in tags)
    header.kept += [(name, value) for name, value in tags.items() if name not in used]
    return header


def _player(tags: dict[str, str], side: str, used: set[str]) -> Player:
    used.add(side)
    handle = tags.get(side, "?")
    text = tags.get(f"{side}Elo")
    rating = None
    if text is not None and (match := _RATING.fullmatch(text)) and int(match[1]):
        rating = int(match[1])
        if text == str(rating):
            used.add(f"{side}Elo")
    titles = ""
    if _TITLE.fullmatch(tags.get(f"{side}Title", "")):
        titles = f"({tags[f'{side}Title']})"
        used.add(f"{side}Title")
    if tags.get(f"{side}IsComp") == "Yes":
        titles += "(C)"
        used.add(f"{side}IsComp")
    return Player("" if handle == "?" else handle, text, rating, titles or None)


def _read_site(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    site = tags.get("Site", "")
    if site in ("", "?"):
        used.add("Site")
        return
    site_name = known_site(site)
    if site_name is not None:
        header.dialect, header.server = _DIALECTS[site_name], site_name
        if site == site_name:
            used.add("Site")
        return
    match = _ICS_SITE.fullmatch(site) or _URL.fullmatch(site)
    host = match[1] if match is not None else site if _HOST.fullmatch(site) else None
    if host is not None:
        site_name = known_site(host)
        header.dialect, header.server = (None, host) if site_name is None else (_DIALECTS[site_name], site_name)
        if site == header.server:
            used.add("Site")


def _read_event(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    event = tags.get("Event", "")
    if event in ("", "?"):
        used.add("Event")
        return
    if match := _ARCHIVE_EVENT.fullmatch(event):
        family, examined, rated, category = match.groups()
        dialect = _FAMILIES[family]
        if header.dialect is None:
            header.dialect = dialect
            named = header.server is not None or tags.get("Site", "?") != "?" or "RecorderKey" in tags
            if dialect in (FICS, "ICC") and not named:
                header.server = known_site(dialect)
        header.rated = None if rated is None else rated == "rated"
        header.category = category
        # that a game was examined no field of a saved game says
        if dialect == header.dialect and not examined and category is not None:
            used.add("Event")
    elif match := next(filter(None, (pattern.fullmatch(event) for pattern in _EVENTS)), None):
        words = [word for word in match.groups() if word]
        header.rated = words[0].lower() == "rated"
        word = words[1].lower()
        header.category = None if word == "chess" else word
    elif match := _ICC_EVENT.fullmatch(event):
        header.dialect = header.dialect or "ICC"
        words = [word.strip("()") for word in match[1].split()]
        header.rated = "u" not in words if words else None
        header.category = next((word for word in words if word[0] == "w"), None)
        control = [int(word) for word in words if word.isdigit()]
        if len(control) == 2:
            header.base_s, header.increment_s = 60 * control[0], control[1]
    wild = _as_wild(header, header.category)
    if wild != header.category:
        header.category = wild
        used.discard("Event")


def _as_wild(header: PgnHeader, word: str | None) -> str | None:
    """They do not mean the same as those of FICS."""
    match = _ICC_WILD.fullmatch(word or "") if header.dialect == "ICC" else None
    return word if match is None else f"wild({match[1] or match[2]})"


def _read_variant(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    word = _as_wild(header, tags.get("RecorderVariant", tags.get("Variant")))
    variant = read_pgn_variant(word)
    header.variant = variant or read_category(header.category)
    header.start_word = word or header.category
    used.add("RecorderVariant")
    if variant not in (None, "chess") and pgn_variant(variant) in (None, tags.get("Variant")):
        used.add("Variant")
    fen = tags.get("FEN", "")
    header.fen = fen or None
    used.add("FEN")
    if fen and tags.get("SetUp") == "1":
        used.add("SetUp")


def _read_control(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    white = _control(header, tags, "TimeControl", used)
    if white != (None, None) or header.base_s is None:  # else the Event has it
        header.base_s, header.increment_s = white
    if "WhiteTimeControl" in tags and "BlackTimeControl" in tags and white == (None, None):
        header.base_s, header.increment_s = _control(header, tags, "WhiteTimeControl", used)
        header.black_base_s, header.black_increment_s = _control(header, tags, "BlackTimeControl", used)
        if tags["WhiteTimeControl"] == tags["BlackTimeControl"]:  # written as one
            used -= {"WhiteTimeControl", "BlackTimeControl"}
    else:
        header.black_base_s, header.black_increment_s = header.base_s, header.increment_s
    clocks = [read_time(tags.get(name, "")) for name in ("WhiteClock", "BlackClock")]
    begun = [None if clock is None else clock[0] for clock in clocks]
    if header.base_s == 0 and header.increment_s and (header.dialect == FICS or begun == [10_000, 10_000]):
        # A game without a base time begins with ten seconds on FICS; the archive's WhiteClock shows it.
        header.base_s = header.black_base_s = 10
        header.base_inferred = True
        used.discard("TimeControl")


def _control(header: PgnHeader, tags: dict[str, str], name: str, used: set[str]) -> tuple[int | None, int | None]:
    text = tags.get(name, "?")
    if text in ("?", "-"):
        used.add(name)
        return (0, 0) if text == "-" else (None, None)
    control = read_control(text)
    if control is None:
        return None, None
    if any(ms % 1000 for ms in control):  # games have whole seconds
        header.control_ms = control
        return None, None
    base_s, increment_s = (ms // 1000 for ms in control)
    if text == f"{base_s}+{increment_s}" and any(control):
        used.add(name)
    return base_s, increment_s


def read_control(text: str) -> tuple[int, int] | None:
    """``180+2``, ``180``, ``20+0.3``; an increment of whole thousands is in ms. None: not one base and increment."""
    match = _CONTROL.fullmatch(text)
    if match is None:
        return None
    base, base_part, increment, increment_part = match.groups("0")
    base_ms = 1000 * int(base) + int(base_part.ljust(3, "0"))
    increment_s = int(increment)
    if increment_s >= _MOST_INCREMENT_S and increment_s % 1000 == 0:
        increment_s //= 1000
    return base_ms, 1000 * increment_s + int(increment_part.ljust(3, "0"))


def _read_times(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    day, time = read_day(tags.get("Date")), read_time_of_day(tags.get("Time"))
    utc_day, utc_time = read_day(tags.get("UTCDate")), read_time_of_day(tags.get("UTCTime"))
    written: dict[str, datetime.date | datetime.time] = {}  # as the export writes them
    if day is not None:
        header.date_text = day.isoformat()
    if utc_day is not None and utc_time is not None:
        header.time_basis, header.started_at_ms = TimeBasis.UTC, _at_ms(utc_day, utc_time)
        written = {"Date": utc_day, "UTCDate": utc_day, "Time": utc_time, "UTCTime": utc_time}
    elif day is not None and time is not None:
        header.time_basis, header.started_at_ms = TimeBasis.LOCAL, _at_ms(day, time)
        written = {"Date": day, "Time": time}
    elif day is not None:
        written = {"Date": day}
    elif tags.get("Date") == "????.??.??":
        used.add("Date")
    end_day, end_time = read_day(tags.get("UTCEndDate")), read_time_of_day(tags.get("UTCEndTime"))
    if header.time_basis is TimeBasis.UTC and end_day is not None and end_time is not None:
        header.ended_at_ms = _at_ms(end_day, end_time)
        written |= {"UTCEndDate": end_day, "UTCEndTime": end_time}
    used.update(name for name, when in written.items() if tags.get(name) == _as_tag(when))
    end_day, end_time = read_day(tags.get("EndDate")), read_time_of_day(tags.get("EndTime"))
    in_known_zone = header.time_basis is TimeBasis.LOCAL or tags.get("Timezone") == "UTC"  # chess.com
    if (
        header.ended_at_ms is None
        and header.started_at_ms is not None
        and in_known_zone
        and end_day is not None
        and end_time is not None
    ):
        header.ended_at_ms = _at_ms(end_day, end_time)
    start, end = _instant(tags, "GameStartTime"), _instant(tags, "GameEndTime")
    if header.started_at_ms is None and start is not None and day in (None, start[0].date()):
        header.time_basis = TimeBasis.UTC if start[1] == 0 else TimeBasis.LOCAL  # as Date is
        header.started_at_ms = _at_ms(start[0].date(), start[0].time())
        if end is not None and end[1] == start[1]:
            header.ended_at_ms = _at_ms(end[0].date(), end[0].time())


def _instant(tags: dict[str, str], name: str) -> tuple[datetime.datetime, int | None] | None:
    """What cutechess, fastchess and TCEC write: ``2025-05-27T15:48:15.827 CEST``, a local time and perhaps its zone."""
    text = tags.get(name, "")
    return parse_header_date(text) if text[:1].isdigit() else None


def _as_tag(when: datetime.date | datetime.time) -> str:
    return f"{when:%H:%M:%S}" if isinstance(when, datetime.time) else f"{when:%Y.%m.%d}"


def _at_ms(day: datetime.date, time: datetime.time) -> int:
    return int(datetime.datetime.combine(day, time, datetime.UTC).timestamp()) * 1000


def _read_end(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    result = tags.get("Result")
    if result in _RESULTS:
        header.result = result
        used.add("Result")
    elif result in ("?", ""):
        used.add("Result")
    elif result is not None:
        header.result = RESULTS.get(result.encode().decode("latin-1"))
    termination = tags.get("Termination", "")
    if termination.lower() in _TERMINATIONS:
        header.termination = termination.lower()
        if termination in _TERMINATIONS:
            used.add("Termination")
    if (end := _ENDS.get(tags.get("RecorderEnd", ""))) is not None:
        header.end = end
        used.add("RecorderEnd")
