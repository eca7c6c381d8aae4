"""Which games: the filter, its SQL, the order of games, and keys as users type them."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

from recorder.errors import SearchTimeoutError, StorageError
from recorder.filters import HAPPENINGS
from recorder.model import MINUTE_MS, TimeBasis
from storage.read.store import ALL_PLAYED, GameFilter, SqlDriver

_LAST = re.compile(r"last(?:~(\d{1,9}))?")
_HEX = re.compile(r"[0-9a-fA-F]+")

UNKNOWN = "unknown"


def fold(handle: str) -> str:
    return handle.lower()


def beginning(text: str) -> str:
    """For ``LIKE ? ESCAPE '/'``."""
    return f"{_literal(text)}%"


def _literal(text: str) -> str:
    for letter in "/%_":
        text = text.replace(letter, f"/{letter}")
    return text


_Condition = tuple[str, tuple[Any, ...]]
"""SQL and the values for its question marks; ``g`` is the row of ``games``."""

# a start that is a date: seconds from the start of a log are none; a day alone counts as its first millisecond
_DATES: Final = f"({', '.join(repr(basis.value) for basis in (TimeBasis.UTC, TimeBasis.LOCAL))})"
_ISO_DAY: Final = "iif(g.date_text GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]', g.date_text, NULL)"
DATED_MS: Final = (
    f"coalesce(iif(g.time_basis IN {_DATES}, g.started_at_ms, NULL),"
    f" CAST(strftime('%s', {_ISO_DAY}) AS INTEGER) * 1000)"
)


EVENT_TAG: Final = (
    "((e.kind = 'tag' AND e.detail = 'Event') OR (e.kind = 'notice' AND e.detail = 'pgn-tag' AND e.actor = 'Event'))"
)
"""The condition that an event ``e`` is the Event tag of a game: of a saved game, or as the server printed it."""


_EVENTS: Final = (
    "g.id IN (SELECT coalesce(w.merged_into, w.id) FROM games w JOIN observations o ON o.game_id = w.id"
    " JOIN events e ON e.observation_id = o.id WHERE {})"
)


class FilterWords(NamedTuple):
    """What a database computes in its own way; ``g`` is the row of ``games``.

    Attributes:
        dated_ms: the start or the first moment of the day, milliseconds since 1970; null: neither is known.
        guest, computer: the condition that the player of a side (``white``, ``black``) is one.
        shown: the condition that the game is shown: not merged into another one.
        named: the condition that the key of a row of ``games`` begins with one of some texts in small letters.
        equal: what duplicates have in common, as a data set knows them; None: ``GameFilter.folded`` has them.
        lowest_ms, left_ms: the lowest clock after a move, and the last known clock of the side ``{}``; null: unknown.
        events: the condition that the game has an event ``e`` for which the condition ``{}`` holds.
        lower: the function for small letters of all alphabets.
    """

    dated_ms: str
    guest: Callable[[str], str]
    computer: Callable[[str], str]
    shown: str
    named: Callable[[str, Sequence[str]], _Condition]
    equal: str | None = None
    lowest_ms: str = "g.lowest_clock_ms"
    left_ms: str = "g.{}_left_ms"
    events: str = _EVENTS
    lower: str = "lower"

    def one_of(self, column: str, texts: Iterable[str]) -> _Condition:
        small = {text.lower() for text in texts}
        return _in(f"{'lower' if all(map(str.isascii, small)) else self.lower}({column})", small)


def named_by_like(row: str, keys: Sequence[str]) -> _Condition:
    """The condition ``FilterWords.named`` of a database in which few games are compared, or keys have no index."""
    return _either([(f"{row}.key LIKE ? ESCAPE '/'", (beginning(key),)) for key in keys])


def _named_by_index(row: str, keys: Sequence[str]) -> _Condition:
    """The same of an archive: one index has keys of merged games, one all others; ``likely`` makes SQLite use both."""
    begin = "k.key >= begin.value AND k.key < begin.value || char(1114111)"  # 1114111: the last of all letters
    ids = f"SELECT k.id FROM json_each(?) begin CROSS JOIN games k WHERE likely(k.source_id IS {{}}) AND {begin}"
    return f"{row}.id IN ({ids.format('NULL')} UNION ALL {ids.format('NOT NULL')})", (json.dumps(keys),) * 2


_ARCHIVE: Final = FilterWords(
    DATED_MS,
    # The function, which is slow, is called only for those who may be one.
    lambda side: (
        f"(g.{side}_registered IS NOT 1 AND coalesce(g.{side}_registered = 0 OR g.{side} LIKE 'guest%'"
        f" OR (g.{side}_titles <> '' AND g.{side}_titles LIKE '%U%')"
        f" OR (g.{side}_rating IS NULL AND g.{side}_rating_text LIKE '%++++%'), 0)"
        f" AND is_guest(g.{side}, g.{side}_rating_text, g.{side}_titles, g.{side}_registered))"
    ),
    lambda side: f"(coalesce(g.{side}_titles, '') LIKE '%C%' AND is_computer(g.{side}_titles))",
    "+g.merged_into IS NULL",  # +: nearly all games are shown, so that SQLite must not choose them by this index
    _named_by_index,
    lower="small_letters",  # SQLite's own, which is quick, knows the letters of ASCII only
)
_FROM: Final = "FROM games g LEFT JOIN sources s ON s.id = g.source_id"


def _order(words: FilterWords) -> str:
    dated = words.dated_ms
    return f"ORDER BY {dated} IS NULL, {dated}, s.sha256 NULLS FIRST, g.first_offset, g.key"


def _newest_first(words: FilterWords) -> str:
    """Dated games before undated ones, later ones first."""
    dated = words.dated_ms
    return f"ORDER BY {dated} IS NULL, {dated} DESC, s.sha256 DESC NULLS LAST, g.first_offset DESC, g.key"


_SHOWN: Final = "SELECT g.id, g.key, g.white, g.black"


def _in(expression: str, values: Iterable[Any]) -> _Condition:
    ordered = tuple(sorted(values))
    return f"{expression} IN ({', '.join('?' * len(ordered))})", ordered


def _all(conditions: list[_Condition], between: str = " AND ") -> _Condition:
    texts = between.join(text for text, _ in conditions)
    return texts, tuple(value for _, values in conditions for value in values)


def _played(handles: frozenset[str], column: str) -> _Condition:
    ways = [_in("handle_folded", (fold(handle) for handle in handles if "*" not in handle))]
    parts = (fold(handle).split("*") for handle in sorted(handles) if "*" in handle)
    ways += [("handle_folded LIKE ? ESCAPE '/'", ("%".join(map(_literal, each)),)) for each in parts]
    text, values = _either([way for way in ways if way[1]])
    return f"{column} IN (SELECT id FROM players WHERE {text})", values


_RESULTS: Final = {
    "g.white_id": {"win": "1-0", "draw": "1/2-1/2", "loss": "0-1"},
    "g.black_id": {"win": "0-1", "draw": "1/2-1/2", "loss": "1-0"},
}


def _met(where: GameFilter) -> _Condition:
    """One of the players had one colour, with one of the outcomes, and one of the opponents the other."""
    return _either([_met_with(where, own) for own in _RESULTS])


def _met_with(where: GameFilter, own: str) -> _Condition:
    (other,) = _RESULTS.keys() - {own}
    sides = ((where.players, own), (where.opponents, other))
    way = [_played(handles, column) for handles, column in sides if handles]
    if where.outcomes:
        way.append(_in("g.result", (_RESULTS[own][outcome] for outcome in where.outcomes)))
    return _all(way)


def conditions_of(where: GameFilter, words: FilterWords = _ARCHIVE) -> _Condition:
    """But for ``last``; the row of ``games`` is ``g``."""
    return _all(_conditions(where, words))


def _conditions(where: GameFilter, words: FilterWords) -> list[_Condition]:
    conditions = [
        *_of_game(where, words),
        *_of_opening(where, words),
        *_of_course(where, words),
        *_of_dates(where, words),
        *_of_players(where, words),
    ]
    if where.folded:
        conditions.append(("g.key NOT IN (SELECT value FROM json_each(?))", (json.dumps(sorted(where.folded)),)))
    if where.position is not None and where.reached is None:
        raise StorageError("Positions are searched in an archive only: import the logs, or leave the position out.")
    if where.reached is not None:
        conditions.append(("g.key IN (SELECT value FROM json_each(?))", (json.dumps(sorted(where.reached)),)))
    if own := _own(where, "g", words):
        conditions.append(_all(own) if where.per_source else _either([_all(own), _merged_of(where, words)]))
    conditions.append(("g.source_id IS NOT NULL" if where.per_source else words.shown, ()))
    if where.unique and words.equal is not None:
        text, values = _all(conditions)
        conditions.append((f"g.id IN (SELECT min(g.id) {_FROM} WHERE {text} GROUP BY {words.equal})", values))
    return conditions


def _of_players(where: GameFilter, words: FilterWords) -> list[_Condition]:
    conditions: list[_Condition] = []
    if where.players or where.opponents:
        conditions.append(_met(where))
    if where.white:
        conditions.append(_played(where.white, "g.white_id"))
    if where.black:
        conditions.append(_played(where.black, "g.black_id"))
    for excluded, test in ((where.no_guests, words.guest), (where.no_computers, words.computer)):
        if excluded:
            conditions += [(f"NOT {test(side)}", ()) for side in ("white", "black")]
    return conditions


_ESTIMATED_S: Final = "g.base_s + 40 * coalesce(g.increment_s, 0)"
_SPEED: Final = (
    "CASE WHEN lower(g.category) IN ('blitz', 'standard', 'lightning', 'untimed') THEN lower(g.category)"
    " WHEN lower(g.category) = 'bullet' THEN 'lightning' WHEN g.base_s IS NULL THEN NULL"
    f" WHEN {_ESTIMATED_S} = 0 THEN 'untimed' WHEN {_ESTIMATED_S} < 180 THEN 'lightning'"
    f" WHEN {_ESTIMATED_S} < 900 THEN 'blitz' ELSE 'standard' END"
)
"""As the server says, else by the limits of FICS and ICC."""


def _of_game(where: GameFilter, words: FilterWords) -> list[_Condition]:
    conditions: list[_Condition] = []
    for asked, column in ((where.variants, "g.variant"), (where.categories, "g.category")):
        if asked:
            conditions.append(words.one_of(column, asked))
    if where.servers:
        named = words.one_of("g.server", where.servers)
        conditions.append(_either([named, ("g.server IS NULL", ())]) if UNKNOWN in named[1] else named)
    if where.rated is not None:
        conditions.append(("g.rated = ?", (where.rated,)))
    if where.results:
        conditions.append(_in("g.result", where.results))
    if where.min_plies > 0:
        conditions.append(("g.ply_count >= ?", (where.min_plies,)))
    if where.max_plies is not None:
        conditions.append(("g.ply_count <= ?", (where.max_plies,)))
    if where.time_controls:
        conditions.append(_in("g.base_s || '+' || coalesce(g.increment_s, 0)", where.time_controls))
    if where.speeds:
        conditions.append(_in(_SPEED, where.speeds))
    if where.endings:
        conditions.append(_either([_in("g.reason_key", where.endings), _in("g.ending", where.endings)]))
    for bound, sign in ((where.min_rating, ">="), (where.max_rating, "<=")):
        if bound is not None:
            conditions += [(f"g.{side}_rating {sign} ?", (bound,)) for side in ("white", "black")]
    if where.complete:
        conditions.append(("g.complete", ()))
    if where.kinds:
        conditions.append(_in("g.kind", (kind.value for kind in where.kinds)))
    return conditions


def _lead(words: FilterWords) -> str:
    """SQL: by how much the loser's last known clock is above the winner's; -1 of games without a loser."""
    white, black = map(words.left_ms.format, ("white", "black"))
    return f"CASE g.result WHEN '1-0' THEN {black} - {white} WHEN '0-1' THEN {white} - {black} ELSE -1 END"


def _of_course(where: GameFilter, words: FilterWords) -> list[_Condition]:
    conditions: list[_Condition] = []
    for bound, sign in ((where.min_duration_s, ">="), (where.max_duration_s, "<=")):
        if bound is not None:
            conditions.append((f"(g.ended_at_ms - g.started_at_ms) {sign} ?", (1000 * bound,)))
    if where.clock_below_ms is not None:
        conditions.append((f"{words.lowest_ms} < ?", (where.clock_below_ms,)))
    if where.lead_ms is not None:
        conditions.append((f"{_lead(words)} > ?", (where.lead_ms,)))
    if where.happened:
        kinds = [HAPPENINGS[name][1:] for name in sorted(where.happened)]
        text, values = _either([("e.kind = ? AND e.detail LIKE ?", kind) for kind in kinds])
        conditions.append((words.events.format(text), values))
    return conditions


_TAGGED: Final = "e.kind = 'tag' AND e.detail IN ({}) AND {} LIKE ? ESCAPE '/'"
_ACCENTS: Final = str.maketrans("áäéóöüøćÁÄÉÓÖÜØĆ", 2 * "aaeoouoc")
"""The letters of openings' names that are not ASCII; SQLite's ``lower`` leaves such capitals."""


def _folded(name: str) -> str:
    name = f"lower({name})"
    for letter, plain in _ACCENTS.items():
        name = f"replace({name}, '{chr(letter)}', '{chr(plain)}')"
    return name


# Few names are those of many games: each is compared once.
_NAMED: Final = (
    "g.opening IN (WITH named AS MATERIALIZED (SELECT DISTINCT opening FROM games)"
    f" SELECT opening FROM named WHERE {_folded('opening')} LIKE ? ESCAPE '/')"
)


def _of_opening(where: GameFilter, words: FilterWords) -> list[_Condition]:
    """Ours, and that of a PGN, which its export has instead of ours."""
    ways: list[list[_Condition]] = [[], []]
    codes = [beginning(eco) for eco in sorted(where.ecos)]
    names = [f"%{beginning(text.lower().translate(_ACCENTS))}" for text in sorted(where.openings)]
    by_code = "g.eco LIKE ? ESCAPE '/'", _TAGGED.format("'ECO'", "upper(e.text)")
    by_name = _NAMED, _TAGGED.format("'ECO', 'Opening', 'Variation'", _folded("e.text"))
    for (ours, theirs), texts, tests in ((by_code, codes, ways[0]), (by_name, names, ways[1])):
        for text in texts:
            tests += [(ours, (text,)), (words.events.format(theirs), (text,))]
    return [_either(way) for way in ways if way]


def _of_dates(where: GameFilter, words: FilterWords) -> list[_Condition]:
    conditions: list[_Condition] = []
    if where.since_ms is not None:
        last_ms = f"CASE WHEN g.start_precision = 'minute' THEN {MINUTE_MS - 1} ELSE 0 END"
        conditions.append((f"{words.dated_ms} + {last_ms} >= ?", (where.since_ms,)))
    if where.until_ms is not None:
        conditions.append((f"{words.dated_ms} <= ?", (where.until_ms,)))
    return conditions


def _either(conditions: list[_Condition]) -> _Condition:
    text, values = _all(conditions, " OR ")
    return f"({text})", values


def _own(where: GameFilter, row: str, words: FilterWords) -> list[_Condition]:
    """Conditions for the game of one source: a merged game matches if one of its members does."""
    conditions: list[_Condition] = []
    if where.keys:
        conditions.append(words.named(row, sorted(map(str.lower, where.keys))))
    if where.source is not None:
        of_source = f"{row}.source_id IN (SELECT id FROM sources WHERE sha256 LIKE ? ESCAPE '/')"
        conditions.append((of_source, (beginning(where.source.lower()),)))
    if where.me is not None:
        conditions.append(words.one_of(f"{row}.me", [where.me]))
    return conditions


def _merged_of(where: GameFilter, words: FilterWords) -> _Condition:
    """Games that are made of those that are as ``_own`` says."""
    text, values = _all(_own(where, "w", words))
    return f"g.id IN (SELECT w.merged_into FROM games w WHERE w.merged_into IS NOT NULL AND {text})", values


def game_ids(driver: SqlDriver, where: GameFilter, words: FilterWords = _ARCHIVE) -> list[int]:
    """By start (unknown last), then source (its sha256: never when it was imported) and place in it."""
    return [row_id for (row_id,) in driver.execute(*select_ids(where, words))]


def select_ids(where: GameFilter, words: FilterWords = _ARCHIVE, columns: str = "g.id") -> tuple[str, tuple[Any, ...]]:
    """Or of other columns of the games."""
    text, values = conditions_and_last(where, words)
    return f"SELECT {columns} {_FROM} WHERE {text} {_order(words)}", values


def conditions_and_last(where: GameFilter, words: FilterWords = _ARCHIVE) -> _Condition:
    text, values = conditions_of(where, words)
    if where.last is None:
        return text, values
    return f"g.id IN (SELECT g.id {_FROM} WHERE {text} {_newest_first(words)} LIMIT ?)", (*values, where.last)


def game_keys(driver: sqlite3.Connection, where: GameFilter) -> frozenset[str]:
    text, values = conditions_of(where)
    return frozenset(key for (key,) in driver.execute(f"SELECT g.key {_FROM} WHERE {text}", values))


def count_games(driver: SqlDriver, where: GameFilter, words: FilterWords = _ARCHIVE) -> int:
    return count_each(driver, [where], words)[0]


def count_each(driver: SqlDriver, wheres: Sequence[GameFilter], words: FilterWords = _ARCHIVE) -> list[int]:
    """In one reading; each filter asks all that the one before asks, and ``last`` only in the last one."""
    asked = [_conditions(where, words) for where in wheres]
    text, values = _all(asked[0])
    added = [_all([rule for rule in each if rule not in before] or [("TRUE", ())]) for before, each in pairwise(asked)]
    whens = " ".join(f"WHEN ({more}) IS NOT TRUE THEN {number}" for number, (more, _) in enumerate(added, 1))
    stage = f"CASE {whens} ELSE {len(wheres)} END" if added else "1"
    bindings = (*(value for _, bound in added for value in bound), *values)
    query = f"SELECT {stage}, count(*) FROM games g WHERE {text} GROUP BY 1"
    matching = dict(driver.execute(query, bindings).fetchall())  # by how many of the filters match
    counts = [sum(count for stage, count in matching.items() if stage > number) for number in range(len(wheres))]
    return [
        count if where.last is None else min(count, where.last) for count, where in zip(counts, wheres, strict=True)
    ]


_STEPS: Final = 20_000
"""SQLite's instructions between two looks at the clock: some milliseconds."""


@contextmanager
def within(driver: sqlite3.Connection, limit_s: float) -> Iterator[None]:
    """Limit the time of the statements in the block; one that takes longer is stopped."""
    end = time.monotonic() + limit_s
    driver.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        raise SearchTimeoutError(f"The search took more than {limit_s:g} seconds and was stopped.") from error
    finally:
        driver.set_progress_handler(None, 0)


def count_outcomes(driver: sqlite3.Connection, where: GameFilter, limit_s: float) -> dict[str, int]:
    """A game between two of the players counts as won and lost; ``last`` does not count."""
    text, values = conditions_of(where)
    sides = [_met_with(where, own) for own in _RESULTS]
    query = f"SELECT {', '.join(side for side, _ in sides)}, g.result, count(*) {_FROM} WHERE {text} GROUP BY 1, 2, 3"
    counts = dict.fromkeys(("all", "win", "draw", "loss"), 0)
    with within(driver, limit_s):
        rows = driver.execute(query, (*(value for _, bound in sides for value in bound), *values)).fetchall()
    for *had, result, games in rows:
        counts["all"] += games
        results = [outcomes for outcomes, side in zip(_RESULTS.values(), had, strict=True) if side]
        for outcome in {name for outcomes in results for name, value in outcomes.items() if value == result}:
            counts[outcome] += games
    return counts


_UNKNOWNS: Final = (
    ("without a known date", ("since_ms", "until_ms"), "dated"),
    ("of an unknown variant", ("variants",), "g.variant"),
    ("without a category", ("categories",), "g.category"),
    ("neither known as rated nor as unrated", ("rated",), "g.rated"),
    ("of an unknown server", ("servers",), "g.server"),
    ("without a named opening", ("ecos", "openings"), "g.eco"),
    ("without a known time control", ("time_controls",), "g.base_s"),
    ("of an unknown speed", ("speeds",), _SPEED),
    ("with an unknown rating", ("min_rating", "max_rating"), "g.white_rating + g.black_rating"),
    ("without a known duration", ("min_duration_s", "max_duration_s"), "g.ended_at_ms - g.started_at_ms"),
    ("without both clocks at the end", ("lead_ms",), "lead"),
)
"""In words, the filters, and the value or who computes it."""


def count_unknown(driver: SqlDriver, where: GameFilter, words: FilterWords = _ARCHIVE) -> dict[str, int]:
    """How many games a filter excludes only because what it asks for is unknown, by what that is."""
    counts = {}
    computed = {"dated": words.dated_ms, "lead": _lead(words)}
    for reason, names, value in _UNKNOWNS:
        without = replace(where, **{name: getattr(ALL_PLAYED, name) for name in names})
        if without == where or (names == ("servers",) and UNKNOWN in {name.lower() for name in where.servers}):
            continue
        text, values = _all([conditions_of(without, words), (f"({computed.get(value, value)}) IS NULL", ())])
        (count,) = driver.execute(f"SELECT count(*) FROM games g WHERE {text}", values).fetchone()
        counts[reason] = int(count)
    return counts


def count_by(driver: SqlDriver, columns: Sequence[str], words: FilterWords = _ARCHIVE) -> dict[str, int]:
    """By one of its spellings."""
    text, values = conditions_of(ALL_PLAYED, words)
    parts = " UNION ALL ".join(
        f"SELECT g.{column} AS value FROM games g WHERE g.{column} IS NOT NULL AND {text}" for column in columns
    )
    counted: dict[str, tuple[str, int]] = {}
    query = f"SELECT value, count(*) FROM ({parts}) each GROUP BY 1"
    for value, count in driver.execute(query, values * len(columns)):
        spelling, before = counted.get(fold(value), (value, 0))
        counted[fold(value)] = min(value, spelling), before + count
    return dict(counted.values())


def resolve(driver: SqlDriver, spec: str, words: FilterWords = _ARCHIVE) -> int:
    """The beginning of a key (a member's names its merged game), ``last``, or ``last~2`` for the third newest."""
    if match := _LAST.fullmatch(spec):
        text, values = conditions_of(ALL_PLAYED, words)
        query = f"{_SHOWN} {_FROM} WHERE {text} {_newest_first(words)} LIMIT 1 OFFSET ?"
        row = driver.execute(query, (*values, int(match[1] or 0))).fetchone()
        if row is None:
            count = count_games(driver, ALL_PLAYED, words)
            raise StorageError(f"There is no game {spec}: the archive contains {count} played games with moves.")
        return int(row[0])
    if not _HEX.fullmatch(spec):
        raise StorageError(f"{spec!r} is not a game: give the first characters of a key, last, or last~2.")
    text, values = words.named("w", [spec.lower()])
    named = f"SELECT coalesce(w.merged_into, w.id) AS id, min(w.key) AS own FROM games w WHERE {text} GROUP BY 1"
    listing = f"{_SHOWN}, n.own FROM games g JOIN ({named}) n ON n.id = g.id WHERE {words.shown}"
    rows = driver.execute(f"{listing} ORDER BY n.own, g.id LIMIT 11", values).fetchall()
    if not rows:
        raise StorageError(f"No game has a key that begins with {spec}.")
    if len({key for _, key, *_ in rows}) > 1:  # sources of a data set may have games with equal keys
        keys = ", ".join(f"{own[:12]} ({white} vs. {black})" for _, _, white, black, own in rows[:10])
        more = " and more" if len(rows) > 10 else ""
        raise StorageError(f"{spec} matches several keys: {keys}{more}. Give more characters.")
    return int(rows[0][0])
