"""What people corrected of games: the fields, what their values mean, games with corrections and without.

A field is called as PGN calls its tag; ``Rated`` is no tag. A field that no attribute of a game holds is a tag alone.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from recorder.model import (
    Correction,
    EventKind,
    Game,
    GameEnd,
    GameKind,
    Observation,
    StartPrecision,
    TimeBasis,
    known_site,
    name_plies,
    site_of,
)
from recorder.rules.variants import is_known_variant, known_variant_like, read_pgn_variant
from recorder.times import dated, read_day, read_time_of_day, refuse_future

_TIMES: Final = ("started_at_ms", "start_precision", "ended_at_ms", "time_basis", "date_text")
_ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "White": ("white.handle", "reason"),
    "Black": ("black.handle", "reason"),
    "WhiteElo": ("white.rating", "white.rating_text"),
    "BlackElo": ("black.rating", "black.rating_text"),
    "Result": ("result", "reason", "reason_key", "termination", "end"),
    "Date": _TIMES,
    "Time": _TIMES,
    "Rated": ("rated",),
    "Site": ("server",),
    "Variant": ("variant", "variant_inferred"),
}
_ENUMS: Final[Mapping[str, Any]] = {"time_basis": TimeBasis, "start_precision": StartPrecision, "end": GameEnd}
_DAY_MS: Final = 86_400_000
_TAG: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,254}", re.ASCII)
_RATING: Final = re.compile("[0-9]{1,5}", re.ASCII)
_HOST: Final = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", re.ASCII)
_OF_MOVES: Final = frozenset(("FEN", "SetUp", "PlyCount", "TimeControl", "WhiteClock", "BlackClock"))
_OF_TIMES: Final = frozenset(("UTCDate", "UTCTime", "EndDate", "EndTime", "UTCEndDate", "UTCEndTime"))
STANDARD: Final = (*_ATTRIBUTES, "Event", "Round")
_SPELLINGS: Final = {one.lower(): one for one in (*STANDARD, *_OF_MOVES, *_OF_TIMES)}
_LONGEST: Final = 255
NO_TEXTS: Final = ("Date", "Time", "Result", "Rated", "Variant", "WhiteElo", "BlackElo")
"""Fields whose values are not texts that may contain a name."""
RATED: Final = ("unrated", "rated")
_RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")


def is_fact(field: str) -> bool:
    """Whether a game has an attribute for a field, which else is a tag alone."""
    return field in _ATTRIBUTES


def checked(field: str, value: str) -> str:
    """The value of a field in its one spelling; the ValueError is one sentence."""
    value = value.strip()
    if _TAG.fullmatch(field) is None:
        raise ValueError(f"{field!r} is no name of a tag; write it as Round or EventDate.")
    if (spelled := _SPELLINGS.get(field.lower(), field)) != field:
        raise ValueError(f"{field!r} is spelled {spelled} in PGN.")
    if field in _OF_MOVES or field.endswith("TimeControl"):
        raise ValueError(f"{field} cannot be corrected: moves and clocks stay as they were recorded.")
    if field in _OF_TIMES:
        raise ValueError(f"{field} follows from the date and the time of a game: correct these.")
    if field.lower().startswith("recorder"):
        raise ValueError(f"{field} cannot be corrected: this program writes it.")
    if not value or len(value) > _LONGEST or not value.isprintable():
        raise ValueError(f"{field} needs a value of 1 to {_LONGEST} printable letters, not {value!r}.")
    if field == "Result" and value not in _RESULTS:
        raise ValueError(f"{value!r} is not a result; there are {', '.join(_RESULTS)}.")
    if field == "Rated" and value not in RATED:
        raise ValueError(f"{value!r} is not one of {', '.join(RATED)}.")
    if field in ("WhiteElo", "BlackElo") and not _RATING.fullmatch(value):
        raise ValueError(f"{value!r} is not a rating; write it as 1850.")
    if field == "Date":
        day = read_day(value)
        if day is None:
            raise ValueError(f"{value!r} is not a date; write it as 2020-01-31.")
        refuse_future(day)
        return day.isoformat().replace("-", ".")
    if field == "Time" and read_time_of_day(value if value.count(":") == 2 else f"{value}:00") is None:
        raise ValueError(f"{value!r} is not a time of day; write it as 18:30 or 18:30:00.")
    if field == "Variant":
        if not is_known_variant(value):
            like = known_variant_like(value)
            raise ValueError(f"unknown variant {value!r}{f'; did you mean {like!r}?' if like else '.'}")
        return read_pgn_variant(value) or value
    return site_of(value) or value if field == "Site" else value


def corrected(game: Game, decided: Iterable[tuple[str, str, int]], saved: Mapping[str, str]) -> Game:
    """The game as recorded, without observations, with what people decided: field, value, when in ms."""
    decisions = sorted(decided)
    values = {field: value for field, value, _ in decisions}
    after = replace(game, corrections=[])
    for side in ("White", "Black"):
        name = side.lower()
        if (handle := values.get(side)) is not None:
            before = getattr(game, name).handle
            _set(after, f"{name}.handle", handle := "" if handle == "?" else handle)
            if after.reason and before and handle:  # "Ann resigns"
                after.reason = f" {after.reason} ".replace(f" {before} ", f" {handle} ")[1:-1]
        if (rating := values.get(f"{side}Elo")) is not None:
            _set(after, f"{name}.rating", int(rating) or None)
            _set(after, f"{name}.rating_text", rating)
    if (result := values.get("Result", game.result)) != game.result:
        after.result, after.reason, after.reason_key = result, None, None
        over = result != "*"
        after.termination = "" if over else "unterminated"
        after.end = GameEnd.RESULT if over else GameEnd.LOG_ENDS if game.end is GameEnd.RESULT else game.end
    if "Rated" in values:
        after.rated = values["Rated"] == "rated"
    site = values.get("Site", "")
    if (site_name := known_site(site)) is not None or _HOST.fullmatch(site):
        after.server = site_name or site
    if "Variant" in values:
        after.variant, after.variant_inferred = values["Variant"], False
    if "Date" in values or "Time" in values:
        _set_times(after, values)
    for field, value, at_ms in decisions:
        before = {attribute: _get(game, attribute) for attribute in _ATTRIBUTES.get(field, ())}
        after.corrections.append(Correction(field, value, shown_value(game, field, saved), at_ms, before))
    return after


def _set_times(after: Game, values: Mapping[str, str]) -> None:
    """Move a game to another day or time; its length stays. Without a day nothing is known of when it began."""
    day = read_day(values.get("Date")) or after.day
    if day is None:
        return
    begun_ms, since_1970_ms = after.started_at_ms, _DAY_MS * (day - datetime.date(1970, 1, 1)).days
    if (time := values.get("Time")) is not None:
        whole = time.count(":") == 2
        moment = read_time_of_day(time if whole else f"{time}:00") or datetime.time()
        seconds = 3600 * moment.hour + 60 * moment.minute + moment.second
        after.started_at_ms = since_1970_ms + 1000 * seconds
        after.start_precision = StartPrecision.SECOND if whole else StartPrecision.MINUTE
        after.time_basis = after.time_basis if dated(after.time_basis) else TimeBasis.LOCAL
    elif begun_ms is not None and dated(after.time_basis):
        after.started_at_ms = since_1970_ms + begun_ms % _DAY_MS
    if after.ended_at_ms is not None and begun_ms is not None and after.started_at_ms is not None:
        after.ended_at_ms += after.started_at_ms - begun_ms
    if "Date" in values:
        after.date_text = day.isoformat()


def shown_value(game: Game, field: str, saved: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """The value of a field as a correction shows it; None: it is unknown."""
    if field in ("White", "Black"):
        return getattr(game, field.lower()).handle or None
    if field in ("WhiteElo", "BlackElo"):
        text: str | None = getattr(game, field[:5].lower()).rating_text
        return text
    if field == "Date":
        return saved.get("Date") if game.day is None else game.day.isoformat().replace("-", ".")
    if field == "Time":
        if game.started_at_ms is None or not dated(game.time_basis):
            return None
        seconds = game.started_at_ms % _DAY_MS // 1000
        text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
        return text if game.start_precision is StartPrecision.MINUTE else f"{text}:{seconds % 60:02}"
    if field == "Rated":
        return None if game.rated is None else RATED[game.rated]
    values = {"Result": game.result, "Variant": game.variant, "Site": saved.get("Site") or game.server}
    return values[field] if field in values else saved.get(field)


def recorded(game: Game) -> Game:
    """The game as its source gave it; the same object if nothing was corrected. Its observations get their times."""
    if not game.corrections:
        return game
    before = {name: value for correction in game.corrections for name, value in correction.before.items()}
    original = replace(game, corrections=[])
    for name, value in before.items():
        _set(original, name, value)
    if shift_ms := shift_of(game, original):
        for observation in game.observations:
            move_times(observation, shift_ms)
    return original


def shift_of(before: Game, after: Game) -> int:
    if before.started_at_ms is None or after.started_at_ms is None:
        return 0
    return after.started_at_ms - before.started_at_ms


def move_times(observation: Observation, shift_ms: int | None) -> None:

    def at(at_ms: int | None) -> int | None:
        return None if at_ms is None or shift_ms is None else at_ms + shift_ms

    observation.started_at_ms, observation.ended_at_ms = at(observation.started_at_ms), at(observation.ended_at_ms)
    if observation.start is not None:
        observation.start = observation.start._replace(at_ms=at(observation.start.at_ms))
    for line in observation.lines:
        line.rows = [ply._replace(at_ms=at(ply.at_ms)) for ply in name_plies(line.rows)]
    observation.holdings = [change._replace(at_ms=at(change.at_ms)) for change in observation.holdings]
    observation.events = [event._replace(at_ms=at(event.at_ms)) for event in observation.events]
    observation.thinking = [thought._replace(at_ms=at(thought.at_ms)) for thought in observation.thinking]


def stated(game: Game, values: Mapping[str, str]) -> Game:
    """A game that was just read, with the date and the server that a user states; what it had is in ``corrections``."""
    other = [(field, value, 0) for field, value in values.items() if shown_value(game, field) != value]
    if not other or game.kind is not GameKind.PLAYED:
        return game
    after = corrected(game, other, {event.detail: event.text for event in game.events if event.kind is EventKind.TAG})
    if shift_ms := shift_of(game, after):
        for observation in after.observations:
            move_times(observation, shift_ms)
    return after


def inherit(merged: Game, members: Sequence[Game]) -> None:
    """Give a game of several sources what was corrected of one of them; the latest decision about a field counts."""
    latest: dict[str, tuple[Correction, Game]] = {}
    for member in members:
        for correction in member.corrections:
            if correction.field not in latest or correction.decided_ms > latest[correction.field][0].decided_ms:
                latest[correction.field] = (correction, member)
    for correction, member in latest.values():
        for name in correction.before:
            _set(merged, name, _get(member, name))
    merged.corrections = [latest[field][0]._replace(before={}) for field in sorted(latest)]


def words_of(correction: Correction) -> str:
    """``date 2009.03.05, was unknown``."""
    words = {"Rated": "kind"} | {name: name.lower() for name in ("Date", "Time", "Result", "Event", "Site", "Variant")}
    field = words.get(correction.field, correction.field)
    if not correction.value:  # a share with pseudonyms
        return field
    return f"{field} {correction.value}, was {correction.recorded or 'unknown'}"


def changed_tags(game: Game) -> dict[str, str | None]:
    tags: dict[str, str | None] = {}
    for fix in game.corrections:
        if fix.field == "Rated":
            tags.setdefault("Event", None)
        else:
            tags[fix.field] = None if fix.field in _ATTRIBUTES and fix.field != "Site" else fix.value
    return tags


def hidden_tags(game: Game) -> frozenset[str]:
    """The tags of a saved game that would contradict its corrections."""
    fields = {correction.field: correction for correction in game.corrections}
    tags = set(fields)
    if not fields.keys().isdisjoint(("Date", "Time")):
        tags |= {"Date", "Time", *_OF_TIMES}
    if "Rated" in fields and fields["Rated"].recorded is not None:
        tags.add("Event")
    if "Result" in fields:
        tags.add("Termination")
    return frozenset(tags)


def rewritten(corrections: Iterable[Correction], rewrite: Callable[[str], str]) -> list[Correction]:
    """Corrections with other texts: what is no text, as a date or the name of a field, stays."""

    def of(text: str | None) -> str | None:
        return text and rewrite(text)[:_LONGEST]

    return [
        correction._replace(
            value=correction.value if correction.field in NO_TEXTS else of(correction.value) or "",
            recorded=correction.recorded if correction.field in NO_TEXTS else of(correction.recorded),
            before={name: of(value) if name == "reason" else value for name, value in correction.before.items()},
        )
        for correction in corrections
    ]


def to_json(corrections: Sequence[Correction]) -> str | None:
    return json.dumps(corrections, ensure_ascii=False) if corrections else None


def from_json(text: str | None) -> list[Correction]:
    """ValueError: the text is malformed."""
    try:
        corrections = [Correction(*row) for row in json.loads(text or "[]")]
        for correction in corrections:
            if not all(type(part) is str for part in (correction.field, correction.value, correction.recorded or "")):
                raise ValueError(correction)
            for name, value in correction.before.items():
                if name not in _ATTRIBUTES[correction.field] or not isinstance(value, str | int | None):
                    raise ValueError(name)
                if value is not None and name in _ENUMS:
                    _ENUMS[name](value)
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(str(error)) from error
    return corrections


def _get(game: Game, attribute: str) -> Any:
    side, _, name = attribute.rpartition(".")
    value = getattr(getattr(game, side) if side else game, name)
    return value.value if name in _ENUMS and value is not None else value


def _set(game: Game, attribute: str, value: Any) -> None:
    side, _, name = attribute.rpartition(".")
    if side:
        setattr(game, side, getattr(game, side)._replace(**{name: value}))
    else:
        setattr(game, name, _ENUMS[name](value) if name in _ENUMS and value is not None else value)
