"""The rows of ``sources``, and the kept bytes of each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

from recorder.errors import StorageError
from recorder.model import Anomaly, AnomalyKind, Disposition, SourceReport, TimeBasis
from storage.mapping import ANOMALIES, SHAPES
from storage.read.games import checked_rows, select_sql
from storage.read.query import beginning, resolve
from storage.sound import SOURCE_KINDS, RowCheck, UnsoundError, types_of

ELSEWHERE = "elsewhere"
ID_DIGITS = 12
READ_AGAIN = "again"
"""As a source's parser version: a player who was erased from it is wanted again."""


@dataclass(frozen=True)
class SourceRow:
    """A source as the archive knows it.

    Attributes:
        id: the first 12 digits of ``sha256``; a source that grows gets another one.
        sha256, size_bytes: of the decompressed bytes read so far.
        name, path: the file's name, and where it was found (None in shared archives).
        options: what ``--date``, ``--tz``, ``--kind`` … said when it was imported.
        parser_version: what read it, or ``READ_AGAIN``.
        read_up_to: games that begin before this offset are final, however it grows.
        unfinished: the mark of the reader that left it while it was being written: more of it may be there than the
            archive knows, even if it has not grown, and its last games are as of then. None: all of it was read.
        kept_bytes: how many of its bytes, from the first on, are in the archive.
        games: how many games it gave.
    """

    id: str
    sha256: str
    size_bytes: int
    name: str
    path: str | None
    kind: str
    server: str | None
    dialect: str | None
    me: str | None
    time_basis: TimeBasis
    options: dict[str, Any]
    parser_version: str
    read_up_to: int
    unfinished: str | None
    kept_bytes: int
    line_count: int
    warnings: tuple[str, ...]
    games: int

    @property
    def kept(self) -> bool:
        return self.kept_bytes == self.size_bytes

    @property
    def lacks_player(self) -> bool:
        """Whether a player who was erased from it, and from its kept bytes, is wanted again."""
        return self.parser_version == READ_AGAIN


_SHOWN: Final = tuple(one.name for one in fields(SourceRow) if one.name not in ("id", "games"))
_JSON: Final = ("options", "warnings")
_TYPES: Final = types_of(SourceRow)
_CHECK: Final = RowCheck(
    {name: _TYPES[name] for name in _SHOWN}, {"kind": SOURCE_KINDS, "time_basis": {basis.value for basis in TimeBasis}}
)


def source_rows(driver: sqlite3.Connection, sha256: str = "") -> list[SourceRow]:
    """By name and then by sha256."""
    wanted = "s.sha256 LIKE ? ESCAPE '/'"
    counted = "SELECT count(*) FROM games g WHERE g.source_id = s.id"
    query = f"SELECT {', '.join(f's.{name}' for name in _SHOWN)}, ({counted}) FROM sources s WHERE {wanted}"
    rows: list[SourceRow] = []
    for *row, games in _CHECK(driver.execute(f"{query} ORDER BY s.name, s.sha256", (beginning(sha256),))):
        values = dict(zip(_SHOWN, row, strict=True))
        values |= {name: json.loads(values[name]) for name in _JSON}
        values["time_basis"] = TimeBasis(values["time_basis"])
        values["warnings"] = tuple(values["warnings"])
        rows.append(SourceRow(id=values["sha256"][:ID_DIGITS], games=games, **values))
    return rows


def one_source(driver: sqlite3.Connection, source_id: str) -> SourceRow:
    rows = source_rows(driver, source_id.lower()) if source_id else []
    if not rows:
        raise StorageError(no_source(source_id))
    if len(rows) > 1:
        raise StorageError(f"{source_id} matches several ids: {', '.join(f'{row.id} ({row.name})' for row in rows)}.")
    return rows[0]


def no_source(source_id: str) -> str:
    return f"No source has an id that begins with {source_id!r}: `ics-recorder sources` lists them."


def row_number(driver: sqlite3.Connection, sha256: str) -> int:
    row = driver.execute("SELECT id FROM sources WHERE sha256 = ?", (sha256,)).fetchone()
    if row is None:
        raise StorageError(f"The source {sha256[:ID_DIGITS]} is no longer in the archive.")
    return int(row[0])


def anomalies_of(driver: sqlite3.Connection, source: int) -> Iterator[tuple[int, Anomaly]]:
    """With its number, in the order found."""
    for row in driver.execute(f"{select_sql('anomalies')} WHERE source_id = ? ORDER BY seq", (source,)):
        yield row[1], ANOMALIES.value(*ANOMALIES.check([row]))


def anomaly_kinds_of(driver: sqlite3.Connection, sha256: str) -> frozenset[AnomalyKind]:
    """Empty if there is no such source."""
    query = "SELECT DISTINCT kind FROM anomalies WHERE source_id = (SELECT id FROM sources WHERE sha256 = ?)"
    return frozenset(AnomalyKind(kind) for (kind,) in driver.execute(query, (sha256,)))


def growth_candidates(driver: sqlite3.Connection) -> list[tuple[int, str]]:
    """Size and SHA-256 of each source that is not empty: a file whose first bytes have it continues it. Ascending."""
    query = "SELECT size_bytes, sha256 FROM sources WHERE size_bytes > 0 ORDER BY size_bytes, sha256"
    return driver.execute(query).fetchall()


def report_of(driver: sqlite3.Connection, source_id: str) -> SourceReport:
    row = one_source(driver, source_id)
    number = row_number(driver, row.sha256)
    report = SourceReport(row.kind, row.server, row.dialect, row.me, row.time_basis, row.size_bytes, row.line_count)
    counted = "SELECT tag, disposition, count FROM source_counts WHERE source_id = ?"
    for tag, word, count in driver.execute(counted, (number,)):
        if tag == ELSEWHERE:
            report.elsewhere[word] = count
        else:
            (report.frames if tag == "<12>" else report.holdings)[Disposition(word)] = count
    report.shapes = [
        SHAPES.value(row) for row in checked_rows(driver, SHAPES, f"WHERE source_id = {number} ORDER BY seq")
    ]
    report.anomalies = [anomaly for _, anomaly in anomalies_of(driver, number)]
    report.warnings = list(row.warnings)
    return report


def sources_of_game(driver: sqlite3.Connection, key: str) -> list[SourceRow]:
    """First the one its offsets are in."""
    game_id = resolve(driver, key)
    members = "(SELECT id FROM games WHERE id = :game OR merged_into = :game)"
    leads = f"SELECT source_id FROM games WHERE id IN {members} AND source_id IS NOT NULL ORDER BY key LIMIT 1"
    (first,) = driver.execute(leads, {"game": game_id}).fetchone() or (None,)
    of_game = f"SELECT source_id FROM observations WHERE game_id IN {members}"
    query = f"SELECT sha256, id FROM sources WHERE id IN ({of_game}) OR id = :first"
    numbers = dict(driver.execute(query, {"game": game_id, "first": first}).fetchall())
    rows = [row for row in source_rows(driver) if row.sha256 in numbers]
    return sorted(rows, key=lambda row: numbers[row.sha256] != first)


_ONE_BLOCK = 140_000  # bytes that hold the first compressed block: at most 128 KiB and its header
_BLOCK: Final = 1 << 20
_MOST_BYTES: Final = 1 << 28  # no timing file is as large, nor is any chunk


def unpacked(data: object, place: str, *, cut: bool = False) -> bytes:
    """``place`` names its table and row in errors; ``cut``: only its beginning is given."""
    import zstandard  # who asks for games needs none

    if not isinstance(data, bytes):
        raise StorageError(f"{place} is no BLOB.")
    blocks, size = [], 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            while block := reader.read(_BLOCK):
                blocks.append(block)
                size += len(block)
                if size > _MOST_BYTES:
                    raise StorageError(f"{place} holds more than {_MOST_BYTES >> 20} MiB.")
        whole = cut or zstandard.frame_content_size(data) == size
    except zstandard.ZstdError as error:
        raise StorageError(f"{place} cannot be decompressed: {error}.") from error
    if not whole:
        raise StorageError(f"{place} is cut.")
    return b"".join(blocks)


def read_kept(
    driver: sqlite3.Connection, row: SourceRow, offset: int = 0, length: int | None = None
) -> Iterator[bytes]:
    """In order, in blocks of at most 1 MiB."""
    end = row.size_bytes if length is None else min(offset + length, row.size_bytes)
    if end > row.kept_bytes:
        raise StorageError(
            f"The bytes of {row.name} ({row.id}) are not in the archive: it was imported with --no-keep-source."
        )
    query = (
        'SELECT source_id, "offset", size_bytes, zstd FROM source_chunks'
        ' WHERE source_id = ? AND "offset" < ? AND "offset" + size_bytes > ? ORDER BY "offset"'
    )
    read_to = offset
    for number, start, size, compressed in driver.execute(query, (row_number(driver, row.sha256), end, offset)):
        place = f"zstd in the row of source_chunks with source_id {number}, offset {start} ({row.name})"
        block = unpacked(compressed, place)
        if len(block) != size:
            raise StorageError(f"{place} holds {len(block)} bytes, not {size}.")
        if start > read_to:
            break
        yield block[read_to - start : end - start]
        read_to = start + size
    if read_to < end:
        raise UnsoundError("kept bytes are missing")


def beginnings_of(driver: sqlite3.Connection, hashes: Collection[str], length: int) -> dict[str, bytes]:
    """At most 64 KiB of each, by SHA-256; those without kept bytes are missing."""
    query = (
        "SELECT substr(c.zstd, 1, ?) FROM source_chunks c JOIN sources s ON s.id = c.source_id"
        ' WHERE s.sha256 = ? AND c."offset" = 0'
    )
    beginnings: dict[str, bytes] = {}
    for sha256 in sorted(hashes):
        first = driver.execute(query, (_ONE_BLOCK, sha256)).fetchone()
        if first is not None:
            place = f"zstd in the row of source_chunks with offset 0 of the source {sha256[:12]}"
            beginnings[sha256] = unpacked(first[0], place, cut=True)[:length]
    return beginnings


def timing_of(driver: sqlite3.Connection, source_id: str) -> bytes | None:
    """None where there was none or the source is not kept."""
    row = one_source(driver, source_id)
    (timing,) = driver.execute("SELECT timing FROM sources WHERE sha256 = ?", (row.sha256,)).fetchone() or (None,)
    return None if timing is None else unpacked(timing, f"timing in the row of sources with sha256 {row.sha256}")


def packed_timing(timing: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=6, write_checksum=True).compress(timing)


def drop_kept(driver: sqlite3.Connection, row_id: int) -> None:
    driver.execute("DELETE FROM source_chunks WHERE source_id = ?", (row_id,))
    driver.execute("UPDATE sources SET kept_bytes = 0, timing = NULL WHERE id = ?", (row_id,))


def count_games_of(driver: sqlite3.Connection, sources: Collection[str]) -> int:
    """By their sha256; a game of several counts once."""
    query = (
        "SELECT count(DISTINCT coalesce(g.merged_into, g.id)) FROM json_each(?) wanted"
        " JOIN sources s ON s.sha256 = wanted.value JOIN games g ON g.source_id = s.id"
    )
    (count,) = driver.execute(query, (json.dumps(sorted(sources)),)).fetchone()
    return int(count)


_SERVERLESS: Final = """
SELECT count(DISTINCT iif(m.server IS NULL, m.id, o.id))
FROM json_each(?) wanted JOIN sources f ON f.sha256 = wanted.value
JOIN games m ON m.source_id = f.id JOIN players w ON w.id = m.white_id JOIN players b ON b.id = m.black_id
CROSS JOIN (SELECT DISTINCT server FROM players) s ON (s.server = '') <> (w.server = '')
CROSS JOIN players v ON v.server = s.server AND v.handle_folded = w.handle_folded
CROSS JOIN players c ON c.server = s.server AND c.handle_folded = b.handle_folded
CROSS JOIN games o ON o.white_id = v.id AND o.black_id = c.id
WHERE m.kind = 'played' AND o.kind = 'played' AND o.source_id IS NOT NULL
  AND m.ply_count > 0 AND o.ply_count = m.ply_count AND o.result = m.result
  AND iif(m.server IS NULL, m.merged_into, o.merged_into) IS NULL
"""


def count_serverless(driver: sqlite3.Connection, sources: Collection[str]) -> int:
    """By the same players, result and number of plies, in sources by sha256 and others."""
    if driver.execute("SELECT 1 FROM players WHERE server = ''").fetchone() is None:
        return 0
    (count,) = driver.execute(_SERVERLESS, (json.dumps(sorted(sources)),)).fetchone()
    return int(count)


def unended_games_of(driver: sqlite3.Connection, sources: Collection[str]) -> frozenset[str]:
    """Of sources by sha256, and of all others."""
    query = (
        "SELECT coalesce(g.key, w.key) FROM json_each(?) wanted JOIN sources s ON s.sha256 = wanted.value"
        " JOIN games w ON w.source_id = s.id LEFT JOIN games g ON g.id = w.merged_into"
        " WHERE w.ending = 'log-ends' AND coalesce(g.ending, w.ending) = 'log-ends'"
    )
    return frozenset(key for (key,) in driver.execute(query, (json.dumps(sorted(sources)),)))


def conflicts_of(driver: sqlite3.Connection, sha256: str) -> list[tuple[str, str]]:
    """Key and words."""
    query = (
        "SELECT DISTINCT g.key, e.seq, e.text FROM sources s JOIN games w ON w.source_id = s.id"
        " JOIN games g ON g.id = w.merged_into JOIN game_evidence e ON e.game_id = g.id"
        " WHERE s.sha256 = ? AND e.kind = 'conflict' ORDER BY g.key, e.seq"
    )
    return [(key, text) for key, _, text in driver.execute(query, (sha256,))]


def source_paths(driver: sqlite3.Connection, key: str) -> dict[str, str | None]:
    """By key, with the source's path if known; the game itself, too."""
    query = """
    SELECT w.key, s.path FROM games g
    JOIN games w ON w.id = g.id OR w.merged_into = g.merged_into JOIN sources s ON s.id = w.source_id
    WHERE g.key = ? AND g.source_id IS NOT NULL ORDER BY w.key
    """
    return dict(driver.execute(query, (key,)).fetchall())
