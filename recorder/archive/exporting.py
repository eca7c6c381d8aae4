"""Writing games to files, which games the filters choose and exclude, and copies of a whole archive."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

from recorder.archive.locate import archive_file
from recorder.errors import ExportError, NoGamesError, StorageError, UnknownVariantError
from recorder.text import plural, reason_of

if TYPE_CHECKING:
    from exporters.base import ExportReport
    from exporters.bpgn import BpgnOptions
    from exporters.pgn.exporter import PgnOptions
    from recorder.model import Game
    from storage import ArchiveStore, GameFilter, GameStore
    from storage.read.store import GameParts

_SOURCES_NAMED = 5
_VALUES_NAMED = 3
_ALL_NAMED = 30
_PLAYERS: Final = ("white", "black")
_NEWEST = re.compile(r"last(~[0-9]{1,9})?")


@contextmanager
def chosen_games(archive: GameStore, where: GameFilter, **parts: Unpack[GameParts]) -> Iterator[Iterator[Game]]:
    """The games that match, let go of when writing them fails in the middle."""
    games = archive.games(where, **parts)
    with closing(cast("Generator[Game, None, None]", games)):
        yield games


def archive_files(path: Path) -> list[Path]:
    return [
        path,
        *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal", "-positions", "-columns")),
    ]


def protected(archive: GameStore) -> list[Path]:
    """What no export may replace: the archive and the logs it was made from, or the files of a data set."""
    from storage.dataset.reading import DatasetStore

    if isinstance(archive, DatasetStore):
        return archive.paths()
    return [*archive_files(archive.path), *(Path(row.path) for row in archive.sources() if row.path is not None)]


def _require_keys(archive: GameStore, where: GameFilter) -> None:
    """Refuse a KEY that no game of the archive has, whatever the other options exclude, and the same of a source."""
    from storage import EVERY_GAME
    from storage.dataset.reading import DatasetStore
    from storage.read.sources import no_source

    require_variants(archive, where)
    for key in sorted(where.keys):
        if not archive.count(replace(EVERY_GAME, keys=frozenset({key}))):
            raise StorageError(f"No game has a key that begins with {key}.")
    if where.source is None:
        return
    sources = archive.sources()
    if not any(row.sha256.startswith(where.source.lower()) for row in sources):
        if not isinstance(archive, DatasetStore):
            raise StorageError(no_source(where.source))
        some = ", ".join(f"{row.id} ({row.name})" for row in sources[:_SOURCES_NAMED])
        more = " and others" if len(sources) > _SOURCES_NAMED else ""
        raise StorageError(f"No source has an id that begins with {where.source!r}; the data set has {some}{more}.")


def require_variants(archive: GameStore, where: GameFilter) -> None:
    """Refuse a variant that neither the rules nor any game of the archive know. Every reading by a filter begins so."""
    from recorder.rules.variants import is_known_variant, known_variant_like
    from storage import EVERY_GAME

    for word in sorted(where.variants):
        if is_known_variant(word) or archive.count(replace(EVERY_GAME, variants=frozenset({word}))):
            continue
        like = known_variant_like(word)
        raise UnknownVariantError(f"unknown variant {word!r}{f'; did you mean {like!r}?' if like else '.'}")


_OPEN: Final = (
    ("player", ("players", "opponents", "white", "black"), _PLAYERS),
    ("category", ("categories",), ("category",)),
    ("server", ("servers",), ("server",)),
    ("ending", ("endings",), ("reason_key", "ending")),
    ("opening", ("openings",), ("opening",)),
)
"""Filters that take any text: what it names, attributes of the filter, and the columns with what it can be."""


def no_value(archive: GameStore, where: GameFilter) -> str | None:
    """Write a sentence about the first text of a filter that no game has, with texts that are like it."""
    from recorder.model import site_names
    from storage import EVERY_GAME
    from storage.read.query import UNKNOWN

    for what, attributes, columns in _OPEN:
        for name in sorted({name for attribute in attributes for name in getattr(where, attribute)} - {UNKNOWN}):
            alone: dict[str, Any] = {attributes[0]: site_names([name]) if what == "server" else frozenset({name})}
            if not archive.count(replace(EVERY_GAME, **alone)):
                return f"no {what} {name}{_values_like(archive, name, columns)}"
    if where.me is not None and not archive.count(replace(EVERY_GAME, me=where.me)):
        return f"no connection of the handle {where.me}{_values_like(archive, where.me, ('me',))}"
    return None


def _values_like(archive: GameStore, name: str, columns: Sequence[str]) -> str:
    """Write of texts of columns that contain a text, else that are spelled like it, else of what is not players."""
    from difflib import get_close_matches

    text = _plain(name.replace("*", ""))
    games = {_plain(value): (value, count) for value, count in archive.count_by(columns).items()}
    near = [value for value in games if text in value] if text else []
    near.sort(key=lambda value: (not value.startswith(text), -games[value][1], value))
    near = near or get_close_matches(text, games, _VALUES_NAMED, 0.75)
    if not near and columns != _PLAYERS and 0 < len(games) <= _ALL_NAMED:
        return f"; the games have {_or(sorted(value for value, _ in games.values()))}."
    like = _or([f"{games[value][0]} ({plural(games[value][1], 'game')})" for value in near[:_VALUES_NAMED]])
    return f"; did you mean {like}?" if like else "."


def _plain(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(char))


def _or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def handles_of(archive: GameStore, names: Iterable[str]) -> list[str]:
    from fnmatch import translate

    wild = [name.lower().replace("[", "[[]").replace("?", "[?]") for name in names if "*" in name]
    handles = {name for name in names if "*" not in name}
    if wild:
        pattern = re.compile("|".join(map(translate, wild)))
        handles.update(handle for handle in archive.count_by(_PLAYERS) if pattern.match(handle.lower()))
    return sorted(handles)


def one_player(archive: GameStore, name: str) -> str:
    """Return the handle that a name means; ExportError if it means several."""
    handles = handles_of(archive, [name])
    if len(handles) > 1 and name.lower() not in map(str.lower, handles):
        more = f" and {plural(len(handles) - 2, 'other player')}" if len(handles) > 2 else ""
        raise ExportError(f"This shows one player, and {name} is {', '.join(handles[:2])}{more}: name one.")
    return handles[0] if len(handles) == 1 else name


def _require_analyst(archive: ArchiveStore, name: str) -> None:
    """Refuse the beginning of an engine's name that no analysis of the archive is by, and name those that there are."""
    there = archive.analyses.engines()
    if not any(engine.casefold().startswith(name.casefold()) for engine in there):
        stored = f"It has analyses by {', '.join(there)}." if there else "It has no analyses."
        raise StorageError(f"The archive has no analysis by an engine whose name begins with {name}. {stored}")


def named_games(archive: GameStore, chosen: GameFilter) -> GameFilter:
    """The filter as an archive needs it: with keys for ``last`` and a position, and names that exist."""
    from storage.dataset.reading import DatasetStore

    if sentence := no_value(archive, chosen):
        raise NoGamesError(sentence)
    keys = frozenset(archive.game(key).key if _NEWEST.fullmatch(key) else key for key in chosen.keys)
    where = replace(chosen, keys=keys)
    _require_keys(archive, where)
    if where.position is not None:
        from recorder.archive.positions import with_position  # it loads the rules
        from recorder.progress import show_progress

        with show_progress(steps=True) as progress:
            where = with_position(archive, where, progress)
    if not where.unique or isinstance(archive, DatasetStore):  # a data set finds games with equal fingerprints itself
        return where
    return replace(where, folded=archive.duplicates.folded(where))


def count_excluded(archive: GameStore, where: GameFilter) -> dict[str, int]:
    """Games that match what was asked about players, variant … but are not taken, by the first reason that holds."""
    return _taken_and_excluded(archive, where)[1]


def _taken_and_excluded(archive: GameStore, where: GameFilter) -> tuple[int, dict[str, int]]:
    steps: tuple[tuple[str, dict[str, Any]], ...] = (
        ("examined or set up", {"kinds": where.kinds}),
        ("without a known move", {"min_plies": where.min_plies}),
        ("incomplete", {"complete": where.complete}),
        ("with a guest", {"no_guests": where.no_guests}),
        ("with a computer", {"no_computers": where.no_computers}),
        ("folded as probable duplicates", {"folded": where.folded, "unique": where.unique}),
        (f"older than the newest {where.last}" if where.last else "of no value in an empty list", {"last": where.last}),
    )
    asked = replace(
        where,
        kinds=frozenset(),
        min_plies=0,
        complete=False,
        no_guests=False,
        no_computers=False,
        folded=frozenset(),
        unique=False,
        last=None,
    )
    narrower = [("", asked)]
    for reason, change in steps:
        further = replace(narrower[-1][1], **change)
        if further != narrower[-1][1]:
            narrower.append((reason, further))
    counts = archive.count_each([each for _, each in narrower])
    excluded = {reason: had - left for (reason, _), (had, left) in zip(narrower[1:], pairwise(counts), strict=True)}
    excluded |= archive.count_unknown(where)
    return counts[-1], {reason: number for reason, number in excluded.items() if number}


def require_games(archive: GameStore, where: GameFilter, what: str = "games") -> dict[str, int]:
    """Return how many games a filter excludes, by reason, or raise NoGamesError; for outputs, which no games make."""
    from storage.dataset.reading import DatasetStore

    require_variants(archive, where)
    taken, reasons = _taken_and_excluded(archive, where)
    if not taken:
        words = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())
        none = f"No {what} match these filters{f' (excluded: {words})' if words else ''}"
        if isinstance(archive, DatasetStore):
            raise NoGamesError(f"{none}; the data set has {plural(archive.count(), 'played game')}.")
        raise NoGamesError(f"{none}; `ics-recorder games` lists the games.")
    return reasons


def without_games(archive: ArchiveStore, where: GameFilter) -> str | None:
    if archive.count(where):
        return None
    return f"No games match these filters ({plural(archive.count(), 'played game')} in the archive)."


def export_pgn(
    archive: ArchiveStore,
    chosen: GameFilter,
    options: PgnOptions,
    output: str | Path,
    *,
    force: bool = False,
    append: bool = False,
    split: str | None = None,
) -> ExportReport:
    """``split`` (``day``, ``player`` or ``variant``) writes one file for each in a folder; ``-`` is standard output."""
    # What only lists or names games loads this module, too.
    from exporters.base import write_file, write_split
    from exporters.pgn.exporter import PgnExporter
    from recorder.archive.pages.related import games_in_progress
    from recorder.model import SAVED_KINDS, GameKind

    require_games(archive, chosen)
    if options.analysis:
        _require_analyst(archive, options.analysis)
    keep = protected(archive)
    # An examined game is all of its lines.
    # A saved game's tags and comments are among its events.
    sources = archive.sources()
    saved = not {kind.value for kind in SAVED_KINDS}.isdisjoint(row.kind for row in sources)
    # So are controls of several periods, which engines' interfaces and ICC tell.
    controls = any(row.kind == "xboard" or row.dialect == "ICC" for row in sources)
    with (
        archive.snapshot(),
        chosen_games(
            archive,
            chosen,
            with_events=options.comments or saved or controls,
            with_holdings=False,
            with_lines=options.variations or saved or chosen.kinds != {GameKind.PLAYED},
            with_thinking=options.engine or options.engine_comments or saved,
            whole_plies=options.whole_plies or saved,
        ) as games,
    ):
        exporter = PgnExporter(options, games_in_progress(archive))
        if split is not None:
            return write_split(output, games, exporter, split, force=force, append=append, protect=keep)
        return write_file(output, games, exporter, force, append, keep)


def export_bpgn(
    archive: ArchiveStore,
    chosen: GameFilter,
    options: BpgnOptions,
    output: str | Path,
    *,
    force: bool = False,
    append: bool = False,
) -> ExportReport:
    """Write the matches of which at least one board is chosen; without a variant, bughouse games are meant."""
    from exporters.base import write_file
    from exporters.bpgn import BpgnExporter
    from recorder.archive.pages.related import other_boards

    exporter = BpgnExporter(options)
    bughouse = chosen if chosen.variants else replace(chosen, variants=frozenset({"bughouse"}))
    require_games(archive, bughouse, "bughouse games")
    with chosen_games(archive, bughouse, with_lines=False) as games:
        listed = list(games)
    keys = {game.key for game in listed}
    heads = exporter.take([*listed, *other_boards(archive, listed)])
    heads = [head for head in heads if not keys.isdisjoint(game.key for game in exporter.boards(head))]
    report = write_file(output, heads, exporter, force, append, protected(archive))
    report.excluded["not bughouse"] += archive.count(chosen) - archive.count(bughouse)
    return report


def export_games(
    archive: ArchiveStore,
    chosen: GameFilter,
    format_name: str,
    output: str | Path,
    *,
    force: bool = False,
    append: bool = False,
    raw: bool = False,
) -> ExportReport:
    """``raw``: in CSV, write texts that look like formulas as they are."""
    from exporters.base import open_output, write_file

    require_games(archive, chosen)
    keep = protected(archive)
    if format_name != "jsonl":
        from exporters.table_files import write_games

        with open_output(output, force, keep) as out:
            return write_games(archive, chosen, out, format_name, raw=raw)
    from exporters.games_json import GamesJsonExporter

    with chosen_games(archive, chosen) as games:
        return write_file(output, games, GamesJsonExporter(), force, append, keep)


def export_plies(
    archive: ArchiveStore,
    chosen: GameFilter,
    format_name: str,
    output: str | Path,
    *,
    force: bool = False,
    raw: bool = False,
) -> ExportReport:
    from exporters.base import open_output
    from exporters.table_files import write_plies
    from recorder.progress import show_progress

    require_games(archive, chosen)
    with open_output(output, force, protected(archive)) as out, show_progress(steps=True) as progress:
        return write_plies(archive, chosen, out, format_name, raw=raw, progress=progress)


def backup_archive(where: str, target: str) -> None:
    """Copy an archive to a file that must not exist; it may be written meanwhile."""
    from storage import backup

    with _copying(where, target) as path:
        backup(path, Path(target))


def share_archive(where: str, target: str, **options: Any) -> None:
    from storage.maintenance.share import share

    with _copying(where, target, sound=True) as path:
        share(path, Path(target), **options)


@contextmanager
def _copying(where: str, target: str, *, sound: bool = False) -> Iterator[Path]:
    """Check both ends of a copy, so that it is known which of them fails; ``sound`` refuses a malformed archive."""
    import sqlite3

    from exporters.base import refuse_protected
    from storage import current
    from storage.maintenance.check import require_sound
    from storage.schema.upgrade import require_current

    path = archive_file(where)
    current(path)
    refuse_protected(Path(target), archive_files(path))
    if os.path.lexists(target):
        raise ExportError(f"{target} already exists; choose another name.")
    if not Path(target).absolute().parent.is_dir():
        raise ExportError(f"{target} cannot be written: its folder does not exist.")
    if sound:
        require_current(path)
        require_sound(path)
    try:
        yield path
    except (StorageError, sqlite3.Error, OSError) as error:
        raise ExportError(f"{target} cannot be written: {reason_of(error).removesuffix('.')}.") from error
