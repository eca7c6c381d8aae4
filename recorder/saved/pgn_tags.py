"""Tag pairs → what they say of a game. What no field can hold, or not as it was written, is kept as it stands.

Sources: the PGN standard, section 8; the FICS games database (2009 to 2022), ICC, lichess, chess.com, xboard, eboard,
PyChess and our own files for the forms of Event, Site and the times.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import Final

from recorder.model import Player, TimeBasis, known_site
from recorder.rules.variants import pgn_variant, read_category, read_pgn_variant
from recorder.saved.base import CHESS_COM, FATICS, FICS, LICHESS
from recorder.saved.pgn_text import RESULTS, read_time

__all__ = ["FICS", "PgnHeader", "read_day", "read_header", "read_time_of_day"]

_TITLE: Final = re.compile(r"W?(?:GM|IM|FM|CM)|NM")

_DIALECTS: Final = {
    "FICS freechess.org": FICS,
    "Internet Chess Club": "ICC",
    "lichess.org": LICHESS,
    "chess.com": CHESS_COM,
}
"""By the site, as ``known_site`` names it."""
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
_DATE: Final = re.compile(r"([0-9]{4})[./-]([0-9]{2})[./-]([0-9]{2})", re.ASCII)
_TIME: Final = re.compile(r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})", re.ASCII)
_CONTROL: Final = re.compile(r"([0-9]{1,6})(?:\+([0-9]{1,6}))?", re.ASCII)
_RATING: Final = re.compile(r"([0-9]{1,5})[A-Za-z]?", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_PART: Final = re.compile(r"([0-9]{1,4})/([0-9]{1,4})", re.ASCII)
_TERMINATIONS: Final = frozenset(("normal", "time forfeit", "abandoned", "adjudication", "unterminated"))
_OURS: Final = ("RecorderKey", "RecorderPart", "RecorderComplete")
_ENDS: Final = frozenset(("adjourned", "aborted", "lost-feed", "unobserved", "log-ends", "reused"))
_RESULTS: Final = frozenset(("1-0", "0-1", "1/2-1/2", "*"))
_MOST_INCREMENT_S: Final = 1000  # no server takes more; one client wrote milliseconds


@dataclass(slots=True)
class PgnHeader:
    """What a game's tags say; names as in ``recorder.model.Game``.

    Attributes:
        start_word: names the variant, and so where its games begin.
        fen: as written.
        result: None where there is no tag that is one.
        plies: what PlyCount says.
        ours: written by this program.
        part: number and count of RecorderPart.
        derived: its clocks were computed, as one of our files says.
        kept: tags that no field holds as they are, in their order.
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
    start_word: str | None = None
    fen: str | None = None
    result: str | None = None
    termination: str | None = None
    end: str | None = None
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
    """Understand a tag section.

    Args:
        pairs: names and values in their order.
        server: the site's name where the user gave it.
    Returns:
        What the tags say; values that they do not have are None.
    """
    tags: dict[str, str] = {}
    for name, value in pairs:
        tags.setdefault(name, value)
    used: set[str] = set()
    header = PgnHeader(_player(tags, "White", used), _player(tags, "Black", used))
    _read_site(header, tags, used)
    _read_event(header, tags, used)
    if server is not None:
        header.server = server
        used.discard("Site")
    _read_variant(header, tags, used)
    _read_control(header, tags, used)
    _read_times(header, tags, used)
    _read_end(header, tags, used)
    if tags.get("Round") in ("-", "?", ""):
        used.add("Round")
    if _NUMBER.fullmatch(tags.get("PlyCount", "")):
        header.plies = int(tags["PlyCount"])
        used.add("PlyCount")
    if _NUMBER.fullmatch(tags.get("ICSGameNo", "")):
        header.game_no = int(tags["ICSGameNo"])
        used.add("ICSGameNo")
    header.ours = "RecorderKey" in tags
    if header.ours and (match := _PART.fullmatch(tags.get("RecorderPart", ""))):
        header.part = int(match[1]), int(match[2])
    header.derived = tags.get("RecorderClocks") == "derived"
    used.update(name for name in (*_OURS, "RecorderClocks") if name in tags)
    seen: set[str] = set()
    for name, value in pairs:
        if name not in used or name in seen:
            header.kept.append((name, value))
        seen.add(name)
    return header


def _player(tags: dict[str, str], side: str, used: set[str]) -> Player:
    used.add(side)
    handle = tags.get(side, "?")
    text = tags.get(f"{side}Elo")
    rating = None
    if text is not None and (match := _RATING.fullmatch(text)) and int(match[1]):
        rating = int(match[1])
        if text == match[1]:
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
    known = known_site(site)
    if known is not None:
        header.dialect, header.server = _DIALECTS[known], known
        used.add("Site")
        return
    match = _ICS_SITE.fullmatch(site) or _URL.fullmatch(site)
    host = match[1] if match is not None else site if _HOST.fullmatch(site) else None
    if host is not None:
        known = known_site(host)
        header.dialect, header.server = (None, host) if known is None else (_DIALECTS[known], known)
        if host == site:
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
        if dialect == header.dialect and not examined:  # no field of a saved game says it: the tag stays
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
    header.category = _as_wild(header, header.category)


def _as_wild(header: PgnHeader, word: str | None) -> str | None:
    """ICC's wild numbers in the spelling that is not that of FICS: they do not mean the same."""
    match = _ICC_WILD.fullmatch(word or "") if header.dialect == "ICC" else None
    return word if match is None else f"wild({match[1] or match[2]})"


def _read_variant(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    word = _as_wild(header, tags.get("Variant"))
    variant = read_pgn_variant(word)
    header.variant = variant or read_category(header.category)
    header.start_word = word or header.category
    if variant is not None and pgn_variant(variant) == tags["Variant"]:
        used.add("Variant")
    fen = tags.get("FEN", "")
    header.fen = fen or None
    used.update(name for name in ("FEN", "SetUp") if name in tags)


def _read_control(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    white = _control(tags, "TimeControl", used)
    if white != (None, None) or header.base_s is None:  # else the Event has it
        header.base_s, header.increment_s = white
    if "WhiteTimeControl" in tags and "BlackTimeControl" in tags and white == (None, None):
        header.base_s, header.increment_s = _control(tags, "WhiteTimeControl", used)
        header.black_base_s, header.black_increment_s = _control(tags, "BlackTimeControl", used)
    else:
        header.black_base_s, header.black_increment_s = header.base_s, header.increment_s
    clocks = [read_time(tags.get(name, "")) for name in ("WhiteClock", "BlackClock")]
    begun = [None if clock is None else clock[0] for clock in clocks]
    if header.base_s == 0 and header.increment_s and (header.dialect == FICS or begun == [10_000, 10_000]):
        # A game without a base time begins with ten seconds on FICS; the archive's WhiteClock shows it.
        header.base_s = header.black_base_s = 10
        header.base_inferred = True
    for name, base_s, clock in zip(
        ("WhiteClock", "BlackClock"), (header.base_s, header.black_base_s), begun, strict=True
    ):
        if clock is not None and base_s is not None and clock == 1000 * base_s:
            used.add(name)


def _control(tags: dict[str, str], name: str, used: set[str]) -> tuple[int | None, int | None]:
    text = tags.get(name, "?")
    if text in ("?", "", "-"):
        used.add(name)
        return (0, 0) if text == "-" else (None, None)
    match = _CONTROL.fullmatch(text)
    if match is None:
        return None, None
    base_s, increment_s = int(match[1]), int(match[2] or 0)
    if increment_s >= _MOST_INCREMENT_S and increment_s % 1000 == 0:
        return base_s, increment_s // 1000
    used.add(name)
    return base_s, increment_s


def _read_times(header: PgnHeader, tags: dict[str, str], used: set[str]) -> None:
    day, time = read_day(tags.get("Date")), read_time_of_day(tags.get("Time"))
    utc_day, utc_time = read_day(tags.get("UTCDate")), read_time_of_day(tags.get("UTCTime"))
    if day is not None:
        header.date_text = day.isoformat()
    if utc_day is not None and utc_time is not None:
        header.time_basis, header.started_at_ms = TimeBasis.UTC, _at_ms(utc_day, utc_time)
        used.update(("UTCDate", "UTCTime"))
        if tags.get("Date") in (None, f"{utc_day:%Y.%m.%d}"):
            used.add("Date")
        if time == utc_time:
            used.add("Time")
    elif day is not None and time is not None:
        header.time_basis, header.started_at_ms = TimeBasis.LOCAL, _at_ms(day, time)
        used.update(("Date", "Time"))
    elif day is not None:
        used.add("Date")
    if tags.get("Date") in ("????.??.??", "?", ""):
        used.add("Date")
    if day is not None and tags["Date"] != f"{day:%Y.%m.%d}":
        used.discard("Date")  # not as the standard writes it
    end_day, end_time = read_day(tags.get("UTCEndDate")), read_time_of_day(tags.get("UTCEndTime"))
    if header.time_basis is TimeBasis.UTC and end_day is not None and end_time is not None:
        header.ended_at_ms = _at_ms(end_day, end_time)
        used.update(("UTCEndDate", "UTCEndTime"))
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


def read_day(text: str | None) -> datetime.date | None:
    """Read a date: ``2014.07.18``, also with hyphens.

    Args:
        text: the value of a tag; None: there is none.

    Returns:
        The day; None: the text is no whole date.
    """
    match = _DATE.fullmatch(text or "")
    if match is None:
        return None
    try:
        return datetime.date(*map(int, match.groups()))
    except ValueError:
        return None


def read_time_of_day(text: str | None) -> datetime.time | None:
    """Read a time of day: ``18:44:37``.

    Args:
        text: the value of a tag; None: there is none.

    Returns:
        The time; None: the text is no time.
    """
    match = _TIME.fullmatch(text or "")
    if match is None:
        return None
    try:
        hour, minute, second = map(int, match.groups())
        return datetime.time(hour, minute, second)
    except ValueError:
        return None


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
    if tags.get("RecorderEnd") in _ENDS:
        header.end = tags["RecorderEnd"]
        used.add("RecorderEnd")
