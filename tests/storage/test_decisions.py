"""Decisions about duplicates follow their games' keys, and the later one counts."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from recorder.relating.grouping import pair_of
from storage import ArchiveStore
from storage.settings import decide, decisions, take_over_decisions
from storage.write.games import successor

from .conftest import import_bytes, make_game


def _settings() -> sqlite3.Connection:
    driver = sqlite3.connect(":memory:", isolation_level=None)
    driver.execute("CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    driver.execute("INSERT INTO settings VALUES ('pseudonym-secret', 'x')")
    return driver


@pytest.fixture
def driver() -> Iterator[sqlite3.Connection]:
    with closing(_settings()) as found:
        yield found


@pytest.mark.parametrize(
    ("mine", "its", "same"),
    [
        ((True, 1), (False, 2), False),
        ((True, 2), (False, 1), True),
        ((True, 1), (False, 1), False),
        ((False, 1), (True, 1), False),
    ],
)
def test_of_two_archives_the_later_decision_counts(
    driver: sqlite3.Connection, mine: tuple[bool, int], its: tuple[bool, int], same: bool
) -> None:
    with closing(_settings()) as other:
        decide(driver, [("a", "b")], same=mine[0], now_ms=mine[1])
        decide(other, [("x", "b")], same=its[0], now_ms=its[1])
        take_over_decisions(other, driver, {"x": "a"}.get)
        assert [(one.key, one.other, one.same) for one in decisions(driver)] == [("a", "b", same)]


def test_decisions_follow_games_whose_keys_change(archive: ArchiveStore) -> None:
    first, *others = sorted((b"one", b"two", b"three", b"four"), key=lambda data: hashlib.sha256(data).hexdigest())
    for data in others:
        import_bytes(archive, data, [make_game()])
    key = make_game().key
    ranked = [key, *(successor(key, number) for number in (2, 3, 4))]
    with archive.writing() as driver:
        for place, one in enumerate(ranked[:3]):
            decide(driver, [pair_of(one, "x")], same=False, now_ms=place)
    row = import_bytes(archive, first, [make_game()])
    assert {one.key: one.decided_ms for one in archive.duplicates.decisions()} == {
        one: at for at, one in enumerate(ranked[1:])
    }
    archive.erasures.forget_source(row.id)
    assert {one.key: one.decided_ms for one in archive.duplicates.decisions()} == {
        one: at for at, one in enumerate(ranked[:3])
    }
