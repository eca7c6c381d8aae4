"""Games come out as they went in."""

from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recorder.model import Game
from storage import ArchiveStore
from tests.support.effort import examples

from .conftest import EVERYTHING, import_bytes, make_game
from .strategies import games

numbers = count()


@given(st.lists(games(), min_size=1, max_size=4, unique_by=lambda game: game.key))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=examples(30),
)
def test_games_come_out_as_they_went_in(archive: ArchiveStore, found: list[Game]) -> None:
    row = import_bytes(archive, b"%d" % next(numbers), found)
    assert {game.key: game for game in archive.games(EVERYTHING)} == {game.key: game for game in found}
    for game in found:
        assert archive.game(game.key) == game
    archive.erasures.forget_source(row.id)


def test_lines_with_and_without_arrivals_are_stored_together(archive: ArchiveStore) -> None:
    found = [make_game(number) for number in range(4)]
    for game in (found[0], found[2]):
        for line in game.observations[0].lines:
            line.rows = [ply._replace(at_ms=None) for ply in line.plies]
    found[3].observations[0].lines[1].rows.clear()
    import_bytes(archive, b"some lines with times", found)
    assert {game.key: game for game in archive.games(EVERYTHING)} == {game.key: game for game in found}
