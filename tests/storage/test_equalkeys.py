"""Equal keys: whatever was imported and forgotten before, the games that are left have the keys of a new archive."""

import sqlite3
from functools import cache
from itertools import permutations
from tempfile import TemporaryDirectory

import pytest

from recorder.model import Player
from storage import ArchiveStore
from storage.maintenance.check import check
from storage.write.games import successor
from tests.support.effort import long_after

from .conftest import EVERYTHING, import_bytes, make_game

COPIES = [b"one", b"two", b"three", b"four"]


def contents(archive: ArchiveStore) -> list[tuple[str, str]]:
    """Key and source of each game."""
    first = [(game.key, game.observations[0].source) for game in archive.games(EVERYTHING)]
    return [(key, source.sha256) for key, source in first if source is not None]


def import_copies(archive: ArchiveStore, order: tuple[int, ...]) -> dict[int, str]:
    """Logs with a game that all have and one of their own; the rows' ids."""
    games = {copy: [make_game(0, white=Player(f"P{copy}")), make_game(copy + 1)] for copy in order}
    return {copy: import_bytes(archive, COPIES[copy], games[copy]).id for copy in order}


@cache
def contents_of_new(order: tuple[int, ...]) -> list[tuple[str, str]]:
    """What an archive holds into which nothing else was ever imported."""
    with TemporaryDirectory() as folder, ArchiveStore.open(f"{folder}/new.db", create=True) as archive:
        import_copies(archive, order)
        return contents(archive)


@pytest.mark.long_except("gone0")
@pytest.mark.parametrize("gone", long_after(2, [[0], [3, 1, 0], [1, 2], [0, 1, 2]]))
def test_what_is_left_has_the_keys_of_a_new_archive(archive: ArchiveStore, gone: list[int]) -> None:
    wanted = None
    somebody = sqlite3.connect(archive.path)  # who has it open spares each transaction a checkpoint at its end
    somebody.execute("SELECT count(*) FROM games").fetchone()
    for number, order in enumerate(permutations(range(4))):  # in one archive: what was there before is forgotten, too
        rows = import_copies(archive, order)
        for copy in gone:
            archive.erasures.forget_source(rows.pop(copy))
        found = contents(archive)
        assert number % 8 or check(archive.path) == []
        assert found == contents_of_new(tuple(copy for copy in order if copy not in gone))
        wanted = wanted or found
        assert found == wanted
        for row in rows.values():
            archive.erasures.forget_source(row)
    somebody.close()


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_journals_have_equal_keys_in_the_order_of_their_names(archive: ArchiveStore, order: tuple[int, ...]) -> None:
    """Their hashes change while they grow, and games of a growing journal are stored again and again."""
    rows = {
        number: import_bytes(archive, COPIES[number], [make_game()], name=f"{number}.journal", kind="journal")
        for number in order
    }
    for number in order:
        grown = COPIES[number] + b" and more"
        import_bytes(archive, grown, [make_game()], name=f"{number}.journal", kind="journal", continues=rows[number])
        first = [(game.key, game.observations[0].source) for game in archive.games(EVERYTHING)]
        key = make_game().key
        ranked = [key, successor(key, 2), successor(key, 3)]
        assert {one: source.name for one, source in first if source} == {
            one: f"{place}.journal" for place, one in enumerate(ranked)
        }
