"""What the columns of an archive may hold, and the checks of what is read: an archive may have been edited.

``db check`` finds what is wrong by the same definitions; readers say only that something is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from operator import itemgetter
from types import NoneType
from typing import Any, Final, Self, TypeVar

from recorder.model import Game, Origin, Ply, PlyLine, Proof, Segment, SourceKind
from recorder.model.plies import ShownLine

_Row = TypeVar("_Row", bound=Sequence[Any])


class UnsoundError(ValueError):
    """What was read of an archive is nothing that an archive holds."""


_MOST: Final = (1 << 62) - 1  # no source holds a larger number; sums of two such are still SQLite's integers
_INTEGERS: Final = range(-_MOST, _MOST + 1)
TIMES: Final = range(1 - 10**15, 10**15)  # servers print twelve digits of seconds at most
_PLIES: Final = range(1 << 31)
_INSTANTS: Final = range(-62_135_596_800_000, 253_402_300_800_000)  # the years 1 to 9999
_CENTURY: Final = range(-3_155_760_000_000, 3_155_760_000_001)
_RANGES: Final[tuple[tuple[tuple[str, ...], tuple[str, ...], range], ...]] = (
    (("move",), (), range(1 << 16)),
    (("read_up_to", "line_count"), ("_bytes",), range(_MOST + 1)),
    (("ply", "ply_count"), ("_ply", "_ply_count"), _PLIES),
    (("started_at_ms", "ended_at_ms", "begun_ms"), (), _INSTANTS),
    (("at_ms", "start_arrival_ms"), (), _CENTURY),
    (("white_rating", "black_rating"), (), range(-(10**9), 10**9)),
    (("flags", "irreversible", "from_offset"), ("_ms", "_s"), TIMES),
)
"""Names of columns of integers, how other names end, and what they hold; all others hold ``_INTEGERS``."""
RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")
SOURCE_KINDS: Final = frozenset(kind.value for kind in SourceKind)


_FEN: Final = re.compile(r"[!-.0-~]*/[!-~]* [wb](?: [ -~]*)?")
_HAND: Final = re.compile(r"[A-Z]*")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_VARIANT: Final = re.compile(r"(?!.*\.\.)[^\x00-\x1f\x7f]+")
_KEY: Final = re.compile(r"[0-9a-f]+")
_PASSED: Final = re.compile(r"[WB][A-Z]")
_OBJECT: Final = re.compile(r"(?s:\{.*\})")


class _Form(Container[object]):
    def __init__(self, name: str, pattern: re.Pattern[str]) -> None:
        self.name = name
        self._pattern = pattern

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and self._pattern.fullmatch(value) is not None


FORMS: Final = {
    "fen": _Form("a FEN", _FEN),
    "start_fen": _Form("a FEN", _FEN),
    "variant": _Form("a variant", _VARIANT),
    "key": _Form("a key", _KEY),
    "sha256": _Form("a SHA-256", _SHA256),
    "source_sha256": _Form("a SHA-256", _SHA256),
    "holdings.white": _Form("pieces in hand", _HAND),
    "holdings.black": _Form("pieces in hand", _HAND),
    "passed": _Form("a colour and a piece", _PASSED),
    "settings": _Form("a JSON object", _OBJECT),
}
_NO_MOVE: Final = re.compile(r"[\x00-\x1f\x7f]")
_UNPROVED: Final = Proof.UNPROVED.value
_INTEGER: Final = (int, bool)  # PostgreSQL has truths
_TYPES: Final = {"int": _INTEGER, "bool": _INTEGER, "None": (NoneType,)}


def allowed(column: str) -> range:
    ranges = (held for names, ends, held in _RANGES if column in names or column.endswith(ends))
    return next(ranges, _INTEGERS)


def form_of(table: str, column: str) -> _Form | None:
    """None: the texts may be any."""
    return FORMS.get(f"{table}.{column}") or FORMS.get(column)


def types_of(model: Any) -> dict[str, frozenset[type]]:
    """Of an Enum there is the value, of a bool 0 or 1."""
    types: dict[str, frozenset[type]] = {}
    for name, annotation in model.__annotations__.items():
        words = getattr(annotation, "__forward_arg__", annotation).split(" | ")
        types[name] = frozenset[type]().union(*(_TYPES.get(word, (str,)) for word in words))
    return types


class RowCheck:
    """By names and Python types; ``words``: a closed set or a range. Columns behind the named ones are not judged."""

    def __init__(
        self, columns: Mapping[str, frozenset[type]], words: Mapping[str, Container[Any]], table: str = ""
    ) -> None:
        self._columns: list[tuple[frozenset[type], Container[Any] | None]] = [
            (types, words.get(name) or (allowed(name) if int in types else form_of(table, name)))
            for name, types in columns.items()
        ]

    def __call__(self, rows: Iterable[_Row]) -> list[_Row]:
        """UnsoundError: a value is none that its column may hold."""
        listed = list(rows)
        for (types, held), values in zip(self._columns, zip(*listed, strict=True), strict=False):
            if not types.issuperset(map(type, values)):
                raise UnsoundError("a value is of another type than its column's")
            if held is None:
                continue
            present: Collection[Any] = list(filter(None, values)) if isinstance(held, range) else {*values} - {None}
            if isinstance(held, range) and present:
                present = min(present), max(present)
            if not all(value in held for value in present):
                raise UnsoundError("a value is none of its column's")
        return listed

    @classmethod
    def of(cls, model: Any, words: Mapping[str, Container[Any]], table: str = "") -> Self:
        return cls(types_of(model), words, table)


_PLY: Final = types_of(Ply)
_PLY_RANGES: Final = {"at_ms": _INSTANTS, "proof_code": range(max(Proof) + 1), "origin_code": range(max(Origin) + 1)}
_CHECK_PLY: Final = RowCheck(_PLY, _PLY_RANGES)
_CHECK_SHOWN: Final = RowCheck({name: _PLY[name] for name in ("ply", "san", "white_clock_ms", "elapsed_ms")}, {})


def require_sound_plies(rows: Sequence[Any], count: int, *, shown: bool = False) -> None:
    """A row has ``Ply``'s fields; ``shown``: number, move, the mover's clock, elapsed time, and a proof's quality."""
    numbers = [row[0] for row in rows]
    if len(rows) != count or sorted(set(numbers)) != numbers or numbers[:1] == [0]:
        raise UnsoundError("plies are malformed")
    (_CHECK_SHOWN if shown else _CHECK_PLY)(rows)
    require_moves([row[1] for row in rows] if shown else [row[2] for row in rows if row[10] != _UNPROVED])


def require_moves(proved: Iterable[str]) -> None:
    try:
        malformed = _NO_MOVE.search("".join(proved))
    except TypeError as error:
        raise UnsoundError("a proved move is no text") from error
    if malformed:
        raise UnsoundError("a proved move is malformed")


def require_sound_game(game: Game, ply_count: int) -> None:
    if sum(_plies_of(part, game.observations[part.observation].lines[0]) for part in game.segments) != ply_count:
        raise UnsoundError("segments are malformed")


def _plies_of(part: Segment, line: PlyLine) -> int:
    """0 if one of its ends is missing."""
    if line.number != 0:
        return 0
    if isinstance(line, ShownLine) and line.shown is not None:
        whole = line.shown.first <= part.from_ply and part.to_ply < line.shown.first + len(line.shown.sans)
        return part.to_ply - part.from_ply + 1 if whole else 0
    begin = bisect_left(line.rows, part.from_ply, key=itemgetter(0))
    rows = line.rows[begin : bisect_right(line.rows, part.to_ply, begin, key=itemgetter(0))]
    return len(rows) if rows and rows[0][0] == part.from_ply and rows[-1][0] == part.to_ply else 0
