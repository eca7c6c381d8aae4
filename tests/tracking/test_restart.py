"""Single cases of a growing log; ``tests/test_pipeline.py`` tests the property with the corpus."""

from __future__ import annotations

import json

import pytest

from recorder.events import RatingText
from recorder.model import Disposition
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.session import EmittedGames, dump_counts, dump_facts, load_counts, load_facts
from tests.edge_cases.scripts import Table, log, read
from tests.test_pipeline import Archived, by_key, counts, whole
from tests.tracking.answers import movelist


def two_games(second: int) -> bytes:
    """Two games, malformed lines and quoted frames; the second game has its own or the same number."""
    table, other = Table(), Table(second, "Carl", "Dora")
    lines = ["odd zero", table.header(), table.observing(), table.frame(), *table.plays("e4", "e5")]
    lines += [table.over("Bob resigns", "1-0"), table.removed(), "some odd line", "Bob kibitzes: <12> x"]
    lines += [other.header(), other.observing(), other.frame(), *other.plays("d4", "d5")]
    return log(*lines, other.over("Dora resigns", "1-0"), "other odd line")


def check(data: bytes, ends: list[int]) -> None:
    """Read the log at each of these sizes, then completely; compare with one reading."""
    expected, reference = whole(data)
    archived = Archived()
    for end in ends:
        archived.read(data[:end])
    last = archived.read(data)
    assert by_key(archived.games) == by_key(expected)
    assert counts(last) == counts(reference)
    assert last.report.line_count == reference.report.line_count
    assert sorted(last.report.shapes) == sorted(reference.report.shapes)
    assert archived.anomalies == reference.report.anomalies


@pytest.mark.parametrize("second", [7, 8])
@pytest.mark.parametrize("steps", [(0,), (0, 3), (0, 3, 6), (0, 0, 1, 2, 3)])
def test_growth_by_bytes_that_are_no_whole_line(second: int, steps: tuple[int, ...]) -> None:
    data = two_games(second)
    middle = data.find(b"P/d7-d5")
    check(data, [middle + step for step in steps])


@pytest.mark.parametrize("second", [7, 8])
def test_growth_line_by_line(second: int) -> None:
    data = two_games(second)
    check(data, [at + 1 for at, byte in enumerate(data) if byte == 10])


def test_growth_after_a_list_of_an_emitted_game() -> None:
    table, other = Table(), Table(8, "Carl", "Dora")
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5"), table.over("Bob resigns", "1-0")]
    lines += [other.observing(), other.frame(), *other.plays("d4")]
    lines += movelist("e4", "e5", number=None, trailer="{Bob resigns} 1-0")
    new = Table(7, "Ed", "Fay")
    lines += ["fics% ", new.observing(), new.frame(), *new.plays("c4"), *other.plays("d5")]
    data = log(*lines)
    listed, begun = data.find(b"Ann (1500)"), data.find(b"Ed Fay")
    for ends in ([listed], [begun + 40], [len(data) - 5], [listed, begun + 40, begun + 41, len(data) - 5]):
        check(data, ends)
    assert len(read(data).games) == 3


def test_repeated_growth_beside_an_emitted_game() -> None:
    """The first reading emits the first game, which reaches beyond the restart point of all others."""
    table, long, new = Table(), Table(8, "Carl", "Dora"), Table(7, "Ed", "Fay")
    lines = [table.observing(), table.frame(), *table.plays("e4"), long.observing(), long.frame()]
    lines += [*table.plays("e5", "Nf3"), table.over("Bob resigns", "1-0"), new.observing(), new.frame()]
    first = len(log(*lines))
    lines += [*long.plays("d4"), *new.plays("c4")]
    second = len(log(*lines))
    data = log(*lines, *long.plays("d5"), *new.plays("c5"))
    check(data, [first, second])
    check(data, [first, second, second + 10, len(data) - 10])


def test_the_saved_state_is_json() -> None:
    facts = HeaderFacts(9, "Ann", "Bob", RatingText("1500", 1500), rated=True)
    assert load_facts(json.loads(json.dumps(dump_facts([facts])))[0]) == facts
    kept = {Disposition.PLY: 3, Disposition.SAME: 0}
    loaded = load_counts(json.loads(json.dumps(dump_counts(kept))))
    assert (loaded[Disposition.PLY], loaded[Disposition.SAME], loaded[Disposition.GAP]) == (3, 0, 0)


def test_only_games_across_the_restart_point_are_muted() -> None:
    given = EmittedGames()
    for game in whole(two_games(8))[0]:
        given.add(game, 0)
    data = two_games(8)
    middle = data.find(b"P/e7-e5")
    numbers, lists = given.across(middle)
    assert [number for number, _ in numbers] == [7]
    assert lists == []
    assert given.across(0) == ([], [])
    assert given.across(len(data)) == ([], [])
