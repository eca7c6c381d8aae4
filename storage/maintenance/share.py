"""``db share``: a copy without private data.

The copy is written row by row as it is to be: at no time is anything in its file that others must not read.
"""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import zstandard

from recorder.corrections import NO_TEXTS, from_json, is_fact, rewritten, to_json
from recorder.errors import StorageError
from recorder.model import Correction, LinkKind, TimeBasis, known_site
from recorder.openings import opening_names
from recorder.relating import connected
from recorder.relating.grouping import pair_of
from recorder.rules.variants import SPEEDS, is_known_variant
from recorder.text import NameWord, plural, words_of
from storage.files import open_sqlite, storage_errors, unchanged_while_read, unfinished_file, uri_to_read
from storage.maintenance.private import PRIVATE_COLUMNS, PRIVATE_TABLES, keyed, published_events, published_settings
from storage.read.query import fold
from storage.schema.tables import metadata
from storage.schema.upgrade import create, require_current
from storage.settings import ARCHIVE_ID, Decision, archive_id, decisions, mark_changed, secret_of, store_decisions
from storage.write.merged import pin

Rewrite = Callable[[str], str]

# columns with handles alone, and columns with text in which handles may occur
_HANDLES: Final = (
    "players.handle", "games.white", "games.black", "games.me", "observations.white", "observations.black",
    "events.actor", "thinking.engine", "sources.me",
)  # fmt: skip
_TEXTS: Final = (
    "games.reason", "events.text", "thinking.pv", "analyses.engine", "analysis_lines.pv", "anomalies.message",
    "game_evidence.text", "game_links.evidence", "sources.name", "corrections.value",
)  # fmt: skip
_HASHES: Final = ("games.key", "analyses.game_key", "sources.sha256")
_MOVE: Final = (
    r"(?:[KQRBNPACEH]?[a-h]?[1-8]?[x@-]?[a-h][1-8](?:=?[KQRBNACEH])?|[OoX0]-[OoX0](?:-[OoX0])?|[KQRBNP][@*/][a-h1-8-]+"
    r"(?:=[KQRBN])?|none|--|[0-9]+\.+)[+#!?]*"
)
_FEN: Final = re.compile(r"[1-9A-Za-z/~\[\]+-]{8,} [wb](?: [-A-Ha-hKQkq]+(?: [-a-h0-9]+){0,3})?")
_MOVES: Final = re.compile(rf"{_MOVE}(?:\s+{_MOVE})*")


def _is_control(text: str) -> bool:
    return is_known_variant(text) or all(word in SPEEDS or is_known_variant(word) for word in text.split())


_WORDING: Final[dict[str, Callable[[str], object]]] = {
    **dict.fromkeys(("sources.server", "players.server", "games.server"), known_site),
    **dict.fromkeys(("games.variant", "games.category"), _is_control),
    **dict.fromkeys(("games.start_fen", "anchors.fen", "analysed_positions.fen"), _FEN.fullmatch),
    **dict.fromkeys(("plies.san", "observations.start_verbose", "observations.start_pretty"), _MOVES.fullmatch),
    **dict.fromkeys(("thinking.pv", "analysis_lines.pv"), _MOVES.fullmatch),
    **dict.fromkeys(("holdings.white", "holdings.black", "holdings.passed"), re.compile("[PNBRQKWpnbrqk]*").fullmatch),
    **dict.fromkeys(("games.white_rating_text", "games.black_rating_text"), re.compile(r"[0-9]*[EP+? -]*").fullmatch),
    **dict.fromkeys(("games.white_titles", "games.black_titles"), re.compile(r"(?:\([A-Z*]{1,4}\))*").fullmatch),
    "games.opening": lambda text: text in opening_names(),
    "events.text": _FEN.fullmatch,
}
"""Columns with words of chess and of servers, which pseudonyms leave unchanged; any other text there is rewritten."""
_PLAIN: Final = frozenset(
    f"{table.name}.{column.name}"
    for table in metadata.tables.values()
    for column in table.columns
    if column.info.keys() & {"values", "json"}
) | {
    *("corrections.game_key", "corrections.field"),
    *("settings.name", "settings.value", "alembic_version.version_num", "analyses.game_key", "analyses.protocol"),
    *(
        "sources.sha256",
        "sources.dialect",
        "sources.parser_version",
        "sources.unfinished",
        "source_counts.tag",
        "source_counts.disposition",
    ),
    *(
        f"games.{name}"
        for name in ["key", "dialect", "result", "reason_key", "termination", "ending", "date_text", "eco"]
    ),
    *("anomalies.text", "anchors.reason"),
}

_DATED: Final = f"({TimeBasis.UTC.value!r}, {TimeBasis.LOCAL.value!r})"
_DAY: Final = (
    "strftime('%Y-%m-%d', (started_at_ms - (started_at_ms % 86400000 + 86400000) % 86400000) / 1000, 'unixepoch')"
)
_ISO_DAY: Final = "iif(date_text GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]', date_text, NULL)"
_RELATIVE: Final = f"iif(time_basis = {TimeBasis.NONE.value!r}, time_basis, {TimeBasis.CLOCK.value!r})"
_COARSE: Final = {
    **{f"games.{side}_rating": f"({side}_rating + 50) / 100 * 100" for side in ("white", "black")},
    **{
        f"games.{side}_rating_text": f"CASE WHEN {side}_rating IS NOT NULL THEN ({side}_rating + 50) / 100 * 100 "
        f"WHEN {side}_rating_text IN ('++++', '----') THEN {side}_rating_text END"
        for side in ("white", "black")
    },
    **{
        f"games.{side}_titles": f"nullif(iif(instr({side}_titles, '(C)'), '(C)', '') || "
        f"iif(instr({side}_titles, '(U)'), '(U)', ''), '')"
        for side in ("white", "black")
    },
    **dict.fromkeys(("games.started_at_ms", "games.ended_at_ms", "games.start_precision"), "NULL"),
    "games.date_text": f"coalesce(iif(time_basis IN {_DATED}, {_DAY}, NULL), {_ISO_DAY})",
    **dict.fromkeys(("games.time_basis", "sources.time_basis"), _RELATIVE),
    **{f"observations.{name}": f"{name} - begun(game_id)" for name in ("started_at_ms", "ended_at_ms")},
}
"""Ratings to the nearest hundred, of titles only what distinguishes programs and guests, days instead of times."""
_WRITTEN: Final = (
    "kind <> 'chat' AND kind <> 'tag'"
    " AND NOT (kind = 'notice' AND detail IN ('pgn-tag', 'game-message', 'rating-change'))"
)
"""The condition for events whose text was not written by people, and has neither links nor numbers of databases."""
_SAVED: Final = (
    "EXISTS (SELECT 1 FROM original.observations o JOIN original.games m ON m.id = o.game_id"
    " WHERE (m.id = games.id OR m.merged_into = games.id) AND o.kind = 'pgn')"
)
_LONGEST_GAP: Final = 8
_SHORTEST_PART: Final = 3


def share(
    path: Path,
    target: Path,
    *,
    pseudonyms: bool = False,
    chat: str = "public",
    with_text: bool = False,
    exact: bool = False,
    redact: Sequence[str] = (),
) -> None:
    """Write a copy without sources' bytes and paths, private chat, and lines that may contain what the user typed.

    ``pseudonyms`` replaces each handle by a word that is the same in all shares of this archive, in texts too, and each
    log's name; it excludes chat, tags and reasons of saved games unless ``with_text``, and makes ratings and times
    coarse unless ``exact``. What the regular expressions of ``redact`` match in texts becomes ``[redacted]``. If a
    handle still occurs in the copy with pseudonyms, there is no copy.
    """
    require_current(path)
    rewrites = [_redaction(expression) for expression in redact]
    with unfinished_file(target) as unfinished, storage_errors(path), unchanged_while_read(path):
        create(unfinished)
        with closing(open_sqlite(path, read_only=True)) as original, closing(open_sqlite(unfinished)) as driver:
            for pragma in ("journal_mode=MEMORY", "synchronous=OFF", "foreign_keys=OFF"):
                driver.execute(f"PRAGMA {pragma}")  # one file, none beside it
            driver.execute("ATTACH ? AS original", (uri_to_read(path),))
            driver.execute("BEGIN")
            copying = _Copying(original, driver, rewrites)
            if pseudonyms:
                copying.hide(with_text=with_text, exact=exact)
            copying.write(chat if with_text or not pseudonyms else "none")
            driver.execute("COMMIT")
        if copying.handles is not None:
            _refuse_handles(unfinished, copying.handles)


def _redaction(expression: str) -> Rewrite:
    try:
        pattern = re.compile(expression, re.IGNORECASE)
    except re.error as error:
        raise StorageError(f"--redact {expression!r} is not a regular expression: {error}.") from error
    return lambda text: pattern.sub("[redacted]", text)


class _Handles:
    """Finds handles in texts, at borders of words of any alphabet and in any case, the longest first."""

    def __init__(self, words: Iterable[tuple[str, str]]) -> None:
        self._words: dict[tuple[str, ...], str] = {}
        for handle, word in words:
            self._words.setdefault(tuple(part.folded for part in words_of(unicodedata.normalize("NFC", handle))), word)
        self._words.pop((), None)
        sizes: dict[str, set[int]] = {}
        for first, *others in self._words:
            sizes.setdefault(first, set()).add(1 + len(others))
        self._sizes = {first: sorted(size, reverse=True) for first, size in sizes.items()}

    def places(self, text: str) -> Iterator[tuple[int, int, str]]:
        words = words_of(text)
        at = 0
        while at < len(words):
            near = self._near(words, at)
            for size in self._sizes.get(words[at].folded, ()):
                alias = self._words.get(tuple(word.folded for word in words[at : at + size])) if size <= near else None
                if alias is not None:
                    yield words[at].begin, words[at + size - 1].end, alias
                    at += size - 1
                    break
            at += 1

    def _near(self, words: list[NameWord], at: int) -> int:
        """How many words from here on may be of one name."""
        longest = max(self._sizes.get(words[at].folded, (0,)))
        pairs = pairwise(words[at : at + longest])
        return 1 + sum(1 for _ in takewhile(lambda pair: pair[1].begin - pair[0].end <= _LONGEST_GAP, pairs))

    def text(self, text: str) -> str:
        """Decoded and composed; the same object if it has none."""
        plain = unicodedata.normalize("NFC", unquote(text) if "%" in text else text)
        out, done = "", 0
        for begin, end, word in self.places(plain):
            out += plain[done:begin] + word
            done = end
        return out + plain[done:] if done else text


class _Copying:
    def __init__(self, original: sqlite3.Connection, driver: sqlite3.Connection, rewrites: list[Rewrite]) -> None:
        self._driver = driver
        self._rewrites = rewrites
        self._secret = secret_of(original) or secrets.token_bytes(16)  # a share has none
        self._archive = archive_id(original)
        self._decided = decisions(original)
        self._written = "1"
        self._coarse = False
        self.handles: _Handles | None = None
        self._values = {
            f"{table}.{name}": "NULL" if blank is None else repr(blank if blank in (0, "") else json.dumps(blank))
            for table, blanks in PRIVATE_COLUMNS.items()
            for name, blank in blanks.items()
        }
        self._values["analyses.settings"] = "published(settings)"
        self._values |= {text: f"rewritten({_column(text)})" for text in _TEXTS if rewrites}
        driver.create_function("published", 1, lambda stored: published_settings(stored, self._secret))
        driver.create_function("rewritten", 1, self._rewritten, deterministic=True)
        driver.create_function("recorrected", 1, self._recorrected, deterministic=True)
        if rewrites:
            self._values["games.corrected"] = "recorrected(corrected)"
            self._values["corrections.value"] = f"iif(field IN {NO_TEXTS}, value, substr(rewritten(value), 1, 255))"

    def hide(self, *, with_text: bool, exact: bool) -> None:
        """A key is a hash of handles and of facts that are in the copy: it would confirm a guessed pair of handles."""
        driver = self._driver
        names = self._pseudonyms()
        self.handles = _Handles([*names.items(), *self._parts(names)])
        self._rewrites.append(self.handles.text)
        driver.create_function("worded", 2, self._worded, deterministic=True)
        driver.create_function("pseudonym", 1, lambda handle: handle and names[fold(handle)], deterministic=True)
        driver.create_function("renamed", 1, lambda name: "L" + keyed(name, self._secret, 6), deterministic=True)
        driver.create_function("rekeyed", 1, self._rekeyed, deterministic=True)
        driver.create_function("begun", 1, _beginnings(driver).get)
        values = {text: f"rewritten({_column(text)})" for text in _TEXTS}
        values |= {field: f"worded({field!r}, {_column(field)})" for field in _WORDING}
        values |= {handle: f"pseudonym({_column(handle)})" for handle in _HANDLES}
        values |= {field: f"rekeyed({_column(field)})" for field in _HASHES}
        values["events.actor"] = "iif(detail = 'pgn-tag', rewritten(actor), pseudonym(actor))"
        values["events.detail"] = "iif(kind = 'tag', rewritten(detail), detail)"
        values["sources.name"] = "renamed(name)"
        values["games.corrected"] = "recorrected(corrected)"
        values["players.handle_folded"] = "lower(pseudonym(handle))"
        if not with_text:
            self._written = _WRITTEN
            values["games.reason"] = f"iif({_SAVED}, NULL, rewritten(reason))"
        self._coarse = not exact
        self._values |= values | _COARSE if self._coarse else values
        self._archive = keyed(self._archive, b"pseudonyms", 8)  # else it would be this archive in a shared database
        self._decided = [
            Decision(*pair_of(self._rekeyed(kept.key), self._rekeyed(kept.other)), kept.same, kept.decided_ms)
            for kept in self._decided
        ]

    def write(self, chat: str) -> None:
        driver = self._driver
        driver.execute("DELETE FROM settings")
        driver.execute("INSERT INTO settings (name, value) VALUES (?, ?)", (ARCHIVE_ID, self._archive))
        mark_changed(driver)
        store_decisions(driver, self._decided)
        wanted = {"events": f"{published_events(chat)} AND {self._written}", **dict.fromkeys(PRIVATE_TABLES, "0")}
        if self.handles is not None:  # the games have what people decided, and nothing is read again from a share
            wanted["corrections"] = "0"
        for table in metadata.sorted_tables:
            if table.name != "settings":
                places = [f"{table.name}.{column.name}" for column in table.columns]
                driver.execute(
                    f"INSERT INTO main.{table.name} ({', '.join(map(_column, places))}) "
                    f"SELECT {', '.join(self._values.get(field, _column(field)) for field in places)} "
                    f"FROM original.{table.name} WHERE {wanted.get(table.name, '1')}"
                )
        if self.handles is not None:  # a merged game has the least key of its members
            driver.execute(
                "UPDATE games SET key = (SELECT min(m.key) FROM games m WHERE m.merged_into = games.id)"
                " WHERE source_id IS NULL"
            )
        if self._coarse:
            pin(driver)

    def _rewritten(self, text: str | None) -> str | None:
        for rewrite in self._rewrites if text else ():
            assert text is not None
            text = rewrite(text)
        return text

    def _recorrected(self, text: str | None) -> str | None:
        """With pseudonyms only which fields were corrected and when, else all with texts rewritten."""
        rows = from_json(text)
        if self.handles is not None:
            return to_json([Correction(row.field, "", None, row.decided_ms, {}) for row in rows if is_fact(row.field)])
        return to_json(rewritten(rows, lambda row: self._rewritten(row) or ""))

    def _worded(self, field: str, text: str | None) -> str | None:
        return text if not text or _WORDING[field](text) else self._rewritten(text)

    def _rekeyed(self, key: str) -> str:
        return keyed(key, self._secret, len(key) // 2)

    def _pseudonyms(self) -> dict[str, str]:
        """A word for each folded handle. Made with the secret, so that handles cannot be found by trying."""
        pseudonyms: set[str] = set()
        for field in _HANDLES:
            condition = "detail <> 'pgn-tag'" if field == "events.actor" else "1"
            table, _, name = field.partition(".")
            rows = self._driver.execute(f"SELECT DISTINCT {name} FROM original.{table} WHERE {condition}")
            pseudonyms.update(fold(handle) for (handle,) in rows if handle)
        return {handle: self._word_for(handle) for handle in sorted(pseudonyms)}

    def _word_for(self, handle: str) -> str:
        return "P" + keyed(handle, self._secret, 6)

    def _parts(self, handles: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Surnames and first names, which also occur alone, with words of their own."""
        for handle in handles:
            parts = handle.replace(",", " ").replace(";", " ").split()
            if len(parts) > 1:
                yield from ((part, self._word_for(part)) for part in parts if _is_part(part))


def _is_part(word: str) -> bool:
    return sum(map(str.isalpha, word)) >= (_SHORTEST_PART if word.isascii() else _SHORTEST_PART - 1)


def _column(field: str) -> str:
    return f'"{field.partition(".")[2]}"'


def _beginnings(driver: sqlite3.Connection) -> dict[int, int]:
    """Game → the moment from which its times count: the same one for all sources of a game, and for both boards."""
    pairs = "SELECT id, merged_into FROM original.games WHERE merged_into IS NOT NULL"
    partners = "SELECT game_id, other_game_id FROM original.game_links WHERE kind = ?"
    starts = (
        "SELECT g.id, coalesce(min(o.started_at_ms), g.started_at_ms) FROM original.games g"
        " LEFT JOIN original.observations o ON o.game_id = g.id GROUP BY g.id"
    )
    started: dict[int, int | None] = dict(driver.execute(starts).fetchall())
    of_one = [*driver.execute(pairs), *driver.execute(partners, (LinkKind.PARTNER.value,))]
    begun: dict[int, int] = {}
    for group in connected(started, of_one):
        times = [at_ms for game in group if (at_ms := started[game]) is not None]
        begun |= dict.fromkeys(group, min(times, default=0))
    return begun


def _refuse_handles(path: Path, handles: _Handles) -> None:
    """Read the finished copy, whatever tables it has."""
    with closing(open_sqlite(path, read_only=True)) as driver:
        tables = driver.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for (name,) in driver.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall():
                field = f"{table}.{name}"
                if field in _PLAIN:
                    continue
                is_word = _WORDING.get(field)
                rows = driver.execute(
                    f'SELECT DISTINCT "{name}" FROM "{table}" WHERE typeof("{name}") IN (\'text\', \'blob\')'
                )
                texts = (_text_of(value) for (value,) in rows)
                judged = (text for text in texts if is_word is None or not is_word(text))
                count = sum(1 for text in judged if handles.text(text) is not text)
                if count:
                    raise StorageError(
                        f"{plural(count, 'value')} of {field} would contain a handle; this is an error of "
                        "this program, please report it."
                    )


def _text_of(value: str | bytes) -> str:
    if isinstance(value, str):
        return value
    with suppress(zstandard.ZstdError):
        value = zstandard.ZstdDecompressor().decompressobj().decompress(value)
    return value.decode("utf-8", "replace")
