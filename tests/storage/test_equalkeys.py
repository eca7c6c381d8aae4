"""Equal keys: whatever was imported and forgotten before, the games that are left have the keys of a new archive."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from recorder.model import Player
from storage import Archive, check
from storage.equalkeys import successor

from .conftest import EVERYTHING, import_bytes, make_game

COPIES = [b"one", b"two", b"three", b"four"]


def contents(archive: Archive) -> list[tuple[str, str]]:
    """Key and source of each game."""
    first = [(game.key, game.observations[0].source) for game in archive.games(EVERYTHING)]
    return [(key, source.sha256) for key, source in first if source is not None]


@pytest.mark.parametrize("gone", [[0], [1], [3], [0, 2], [1, 2], [0, 1, 2], [3, 1, 0]])
def test_what_is_left_has_the_keys_of_a_new_archive(tmp_path: Path, gone: list[int]) -> None:
    wanted = None
    for number, order in enumerate(permutations(range(4))):
        with Archive.open(str(tmp_path / f"{number}.db"), create=True) as archive:
            rows = {}
            for copy in order:
                games = [make_game(0, white=Player(f"P{copy}")), make_game(copy + 1)]
                rows[copy] = import_bytes(archive, COPIES[copy], games)
            for copy in gone:
                archive.forget_source(rows[copy].id)
            found = contents(archive)
            assert check(archive.path) == []
        with Archive.open(str(tmp_path / f"{number}.new.db"), create=True) as archive:
            for copy in order:
                if copy not in gone:
                    import_bytes(archive, COPIES[copy], [make_game(0, white=Player(f"P{copy}")), make_game(copy + 1)])
            assert found == contents(archive)
        wanted = wanted or found
        assert found == wanted


def test_what_comes_after_takes_its_place_among_equal_keys(archive: Archive) -> None:
    rows = [import_bytes(archive, data, [make_game()]) for data in COPIES]
    archive.forget_source(rows[1].id)
    import_bytes(archive, COPIES[1], [make_game()])
    key = make_game().key
    hashes = sorted(row.sha256 for row in rows)
    ranked = [key, *(successor(key, number) for number in (2, 3, 4))]
    assert dict(contents(archive)) == dict(zip(ranked, hashes, strict=True))
