"""The part files of a data set: games of one source as Parquet, divided by variant and month.

docs/reference/formats.md has the layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from exporters.base import file_stem
from exporters.dataset_files import TableFiles
from exporters.table_files import import_pyarrow
from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, MATCH_COLUMNS, PLY_COLUMNS, SIDE_COLUMNS, Column
from recorder.model import Game, GameKind, Link, LinkKind
from storage.dataset.folder import DataFolder, Part
from storage.read.in_memory import GamesReader

if TYPE_CHECKING:
    from recorder.relating.match import Match

__all__ = [
    "DATASET_EVENT_COLUMNS",
    "DATASET_GAME_COLUMNS",
    "DATASET_PLY_COLUMNS",
    "PartWriter",
]

_SOURCE: Final = Column("source", "text", "category", "", "SHA-256 of the source's decompressed bytes", True)
_OF_SIDES: Final = {column.name: column for column in SIDE_COLUMNS}
_BASE, _INCREMENT, _SEALED = (_OF_SIDES[name] for name in ("base_s", "increment_s", "player_sealed"))
DATASET_PLY_COLUMNS: Final = (*PLY_COLUMNS, *MATCH_COLUMNS, _SOURCE)
"""One row a half-move: the columns of plies, in bughouse those of matches, and the source."""
DATASET_GAME_COLUMNS: Final = (
    *GAME_COLUMNS,
    *(
        column._replace(name=name, meaning=column.meaning.replace("this", side, 1))
        for name, column, side in (
            ("base_s", _BASE, "White's"),
            ("increment_s", _INCREMENT, "White's"),
            ("black_base_s", _BASE, "Black's"),
            ("black_increment_s", _INCREMENT, "Black's"),
        )
    ),
    _SEALED._replace(name="white_sealed", meaning="whether White uses a time seal; missing if unknown"),
    _SEALED._replace(name="black_sealed", meaning="whether Black uses a time seal; missing if unknown"),
    Column("me", "text", "category", "", "handle whose connection recorded the game; missing if unknown"),
    Column("offset", "integer", "Int64", "bytes", "place of the game's first line in the source", True),
    Column("start_fen", "text", "string", "", "first known position; missing if it is the normal one"),
    Column("start_ply", "integer", "Int32", "", "half-moves before the first known position", True),
    Column(
        "fingerprint", "integer", "Int64", "", "equal where players, day and moves are equal; missing without moves"
    ),
    Column("partner_key", "text", "string", "", "key of the other board of a bughouse match; missing if unknown"),
    Column("partner_evidence", "text", "string", "", "why they are one match, in words; missing as `partner_key`"),
    _SOURCE,
)
"""One row a game: the columns of games, what the sides' tables have besides, and the source."""
DATASET_EVENT_COLUMNS: Final = (*EVENT_COLUMNS, _SOURCE)
"""One row an event: the columns of events, and the source. A game's are in one file, in order."""

_PLY_NAMES: Final = tuple(column.name for column in PLY_COLUMNS)
_PLIES_AT_ONCE: Final = 50_000
"""So many are converted in one step."""
_BOARDS_WAITING: Final = 800
"""Bughouse games that wait for their partners; the boards of a match end together."""
_BOARDS_KEPT: Final = 200
"""The newest of them, which still wait when the others are written."""


class PartWriter:
    """Writes the games of a source, or of a piece of it. Use it as a context manager; its end writes the last rows.

    Args:
        folder: of the data set.
        stem: what the names of the files begin with: names the source and the piece.
        sha256, kind: of the source.
    Attributes:
        games, plies: how many were written.
    """

    def __init__(self, folder: DataFolder, stem: str, sha256: str, kind: str) -> None:
        self.games = self.plies = 0
        self._source = (sha256, kind)
        self._plies = TableFiles(folder, stem, DATASET_PLY_COLUMNS)
        self._games = TableFiles(folder, stem, DATASET_GAME_COLUMNS)
        self._events = TableFiles(folder, stem, DATASET_EVENT_COLUMNS)
        self._boards: list[Game] = []
        self._matches: list[Match] = []
        self._taken: list[Game] = []
        self._taken_plies = 0

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self._drop(error)
            return
        try:
            self._take_boards(0)
            self._convert()
            for table in self._tables:
                table.close()
        except BaseException as failed:
            self._drop(failed)
            raise

    def _drop(self, error: BaseException) -> None:
        for table in self._tables:
            table.drop(error)

    @property
    def _tables(self) -> tuple[TableFiles, ...]:
        return self._games, self._plies, self._events

    @property
    def parts(self) -> list[Part]:
        """All files by name, when the block has ended."""
        return sorted(part for table in self._tables for part in table.parts)

    def add(self, game: Game) -> None:
        """Take a game, with its key."""
        if game.variant != "bughouse" or game.kind is not GameKind.PLAYED:
            self._take(game)
            return
        self._boards.append(game)
        if len(self._boards) == _BOARDS_WAITING:
            self._take_boards(_BOARDS_KEPT)

    def _take_boards(self, kept: int) -> None:
        """Take the bughouse games that wait, but for the newest, and both boards of a match together."""
        if not self._boards:
            return
        from recorder.relating.bughouse import pair_bughouse
        from recorder.relating.match import board_order

        boards = {game.key: game for game in self._boards}
        waiting = {game.key for game in self._boards[len(self._boards) - kept :]}
        for one, other, evidence in pair_bughouse(self._boards):
            if one in waiting and other in waiting:
                continue
            first, second = boards.pop(one), boards.pop(other)
            first.links.append(Link(LinkKind.PARTNER, other, evidence))
            second.links.append(Link(LinkKind.PARTNER, one, evidence))
            self._matches.append(board_order(first, second))
            self._take(first, second)
        self._boards = [game for key, game in boards.items() if key in waiting]
        for key, game in boards.items():
            if key not in waiting:
                self._take(game)

    def _take(self, *games: Game) -> None:
        self._taken += games
        self._taken_plies += sum(game.ply_count for game in games)
        if self._taken_plies >= _PLIES_AT_ONCE:
            self._convert()

    def _convert(self) -> None:
        """Make rows of the games that were taken, those of one folder one after the other."""
        if not self._taken:
            return
        games = sorted(self._taken, key=_place_of)
        reader = GamesReader(games, *self._source)
        self._add_games(games, reader)
        self._add_plies(games, reader)
        self._add_events(games)
        self.games += len(games)
        self.plies += self._taken_plies
        self._taken, self._taken_plies = [], 0
        self._matches.clear()

    def _add_games(self, games: list[Game], reader: GamesReader) -> None:
        from exporters.tables.frames import game_rows  # loads pandas

        pa, _ = import_pyarrow()
        rows = list(game_rows(reader, [(number, game.ply_count) for number, game in enumerate(games)]))
        for game, row in zip(games, rows, strict=True):
            row |= _more_of(game, self._source[0])
        schema = self._games.schema
        for year, numbers in _by_year(games).items():
            columns = [_values([rows[number][field.name] for number in numbers], field.type) for field in schema]
            self._games.add(f"games/{year}", pa.table(columns, names=schema.names))

    def _add_events(self, games: list[Game]) -> None:
        from exporters.tables.frames import event_values

        pa, _ = import_pyarrow()
        schema = self._events.schema
        for year, numbers in _by_year(games).items():
            values = event_values(games[number] for number in numbers)
            if count := len(values["key"]):
                values["source"] = [self._source[0]] * count
                columns = [_values(values[field.name], field.type) for field in schema]
                self._events.add(f"events/{year}", pa.table(columns, names=schema.names))

    def _add_plies(self, games: list[Game], reader: GamesReader) -> None:
        from exporters.tables.frames import plies_of

        pa, _ = import_pyarrow()
        frame = plies_of(reader, list(range(len(games))))
        columns = [_arrow(frame[name]) for name in _PLY_NAMES]
        columns += self._match_columns(frame)
        columns.append(_repeated(self._source[0], len(frame)))
        table = pa.table(columns, names=self._plies.schema.names)
        begin = 0
        counts: dict[str, int] = {}
        for game in games:
            place = f"plies/{'/'.join(_place_of(game))}"
            counts[place] = counts.get(place, 0) + game.ply_count
        for place, count in counts.items():
            if count:
                rows = table.slice(begin, count)
                # A slice keeps all rows in memory for as long as it waits.
                self._plies.add(place, rows if count * 2 > len(table) else rows.take(pa.array(range(count))))
                begin += count

    def _match_columns(self, plies: Any) -> list[Any]:
        """``MATCH_COLUMNS`` of a frame of plies for Arrow; missing in games that are no board of a match."""
        pa, _ = import_pyarrow()
        if self._matches:
            from exporters.tables.matches import match_columns

            found = plies[["key", "ply"]].merge(match_columns(self._matches), on=["key", "ply"], how="left")
            return [_arrow(found[column.name]) for column in MATCH_COLUMNS]
        words = pa.dictionary(pa.int32(), pa.string())
        types = [self._plies.schema.field(column.name).type for column in MATCH_COLUMNS]
        kinds = zip(MATCH_COLUMNS, types, strict=True)
        return [pa.nulls(len(plies), words if column.dtype == "category" else kind) for column, kind in kinds]


def _arrow(column: Any) -> Any:
    """A column of a frame of plies for Arrow; a category becomes a dictionary."""
    pa, _ = import_pyarrow()
    values = column.array
    if column.dtype == "category":
        codes = values.codes.astype("int32")
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), pa.array(list(values.categories), pa.string())
        )
    return pa.array(column if column.dtype.kind == "M" else values)


def _repeated(text: str, count: int) -> Any:
    """A column that has one text everywhere."""
    import numpy as np

    pa, _ = import_pyarrow()
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), pa.array([text]))


def _place_of(game: Game) -> tuple[str, ...]:
    """Variant, year and month, or variant and ``undated``: folders of the game's plies."""
    day = game.day
    month = ("undated",) if day is None else (f"{day.year:04}", f"{day.month:02}")
    return (file_stem(game.variant or "unknown"), *month)


def _by_year(games: Iterable[Game]) -> dict[str, list[int]]:
    """The places of games in the list, by the folder of their year."""
    found: dict[str, list[int]] = {}
    for number, game in enumerate(games):
        found.setdefault(_place_of(game)[1], []).append(number)
    return found


def _more_of(game: Game, sha256: str) -> dict[str, Any]:
    """The values of the columns that only data sets have."""
    from recorder.model import control_of

    partner = next((link for link in game.links if link.kind is LinkKind.PARTNER), None)
    base_s, increment_s = control_of(game, True)
    black_base_s, black_increment_s = control_of(game, False)
    return {
        "base_s": base_s,
        "increment_s": increment_s,
        "black_base_s": black_base_s,
        "black_increment_s": black_increment_s,
        "white_sealed": game.white.sealed,
        "black_sealed": game.black.sealed,
        "me": game.me,
        "offset": game.first_offset,
        "start_fen": game.start_fen,
        "start_ply": game.start_ply,
        "fingerprint": _fingerprint_of(game),
        "partner_key": None if partner is None else partner.key,
        "partner_evidence": None if partner is None else partner.evidence,
        "source": sha256,
    }


def _values(values: Sequence[Any], kind: Any) -> Any:
    """Plain values as an Arrow column; a truth may be 0 or 1."""
    pa, _ = import_pyarrow()
    if kind == pa.bool_():
        values = [None if value is None else bool(value) for value in values]
    return pa.array(values, kind)


def _fingerprint_of(game: Game) -> int | None:
    """A number that games have in common whose players, day and moves are equal; None: no move is known.

    The moment of the start does not count: two connections see it at different times.
    """
    rows = game.rows
    if not rows:
        return None
    facts = (game.white.handle.lower(), game.black.handle.lower(), str(game.day), game.start_fen or "")
    text = "\n".join((*facts, " ".join([row[2] for row in rows])))
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), signed=True)
