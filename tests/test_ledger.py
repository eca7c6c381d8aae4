"""Clocks that add up, and the causes where they do not."""

from __future__ import annotations

from collections import Counter

import pytest

from recorder.ledger import Cause, Entry, ledger
from recorder.model import EventKind, Game, GameEvent, GameKind, LineKind, Ply, PlyLine, Precision, Segment
from tests.exporters.games import make_game
from tests.support import corpus, product


def _ply(number: int, white_ms: int, black_ms: int, elapsed_ms: int, offset: int, precision: Precision) -> Ply:
    return Ply(number, None, "e4", white_ms, black_ms, elapsed_ms, 0, 9 * offset, 0, 0, 1, 0, int(precision), offset)


def _game(
    *plies: tuple[int, int, int, int],
    base_s: int = 300,
    increment_s: int = 0,
    precision: Precision = Precision.MILLISECONDS,
) -> Game:
    """A game from (ply, White's clock, Black's clock, elapsed); a ply's offset is 100 × its place."""
    game = make_game()
    game.base_s, game.increment_s = base_s, increment_s
    game.black_base_s = game.black_increment_s = None
    seen = game.observations[0]
    seen.events.clear()
    seen.offset = 0
    made = [_ply(*ply, 100 * place, precision) for place, ply in enumerate(plies, start=1)]
    main = {ply.ply: ply for ply in made}  # what came later stands
    seen.lines[:] = [PlyLine(0, LineKind.MAIN, None, None, list(main.values()))]
    taken_back = [ply for ply in made if main[ply.ply] is not ply]
    if taken_back:
        seen.lines.append(PlyLine(1, LineKind.TAKEBACK, 0, taken_back[0].ply - 1, taken_back))
    game.segments[:] = [Segment(plies[0][0], plies[-1][0], 0)]
    return game


def _event(game: Game, kind: EventKind, detail: str, offset: int, value: int | None = None) -> None:
    game.observations[0].events.append(GameEvent(0, kind, detail, 0, None, value, "", None, None, None, offset))


def _last(game: Game) -> Entry:
    return ledger(game)[-1]


def test_a_move_takes_its_time_from_the_clock() -> None:
    """The example that the project's notes have checked: 300000 - 2662 = 297338."""
    entries = ledger(_game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 297_338, 300_000, 2662)))
    assert entries[2] == Entry(3, True, 300_000, 2662, 0, 297_338, 300_000, 0, 900, 0, Cause.EXACT, None)


def test_the_increment_is_added() -> None:
    entry = _last(_game((1, 60_000, 60_000, 0), (3, 61_500, 60_000, 500), base_s=60, increment_s=2))
    assert (entry.residual_ms, entry.cause, entry.interval_ms) == (0, Cause.EXACT, None)


@pytest.mark.parametrize(
    ("precision", "left_ms", "residual_ms", "cause"),
    [
        (Precision.SECONDS, 294_000, -1000, Cause.ROUNDING),
        (Precision.SECONDS, 293_000, -2000, Cause.UNEXPLAINED),
        (Precision.MILLISECONDS, 294_999, -1, Cause.ROUNDING),
        (Precision.MILLISECONDS, 294_998, -2, Cause.UNEXPLAINED),
    ],
)
def test_rounding_is_one_unit_at_most(precision: Precision, left_ms: int, residual_ms: int, cause: Cause) -> None:
    game = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, left_ms, 300_000, 5000), precision=precision)
    assert _last(game)[9:11] == (residual_ms, cause)


def test_a_free_first_move_is_told_from_one_that_is_charged() -> None:
    free = ledger(_game((1, 300_000, 300_000, 4200), (2, 300_000, 300_000, 900), increment_s=12))
    assert [entry.cause for entry in free] == [Cause.FIRST_MOVE, Cause.FIRST_MOVE]
    charged = ledger(_game((1, 307_800, 300_000, 4200), (2, 307_800, 311_100, 900), increment_s=12))
    assert [entry.cause for entry in charged] == [Cause.EXACT, Cause.EXACT]


def test_time_that_was_added_is_told_by_its_line() -> None:
    game = _game((1, 300_000, 300_000, 0), (3, 355_000, 300_000, 5000))
    _event(game, EventKind.NOTICE, "time-added", 150, 60)
    assert _last(game)[9:] == (60_000, Cause.TIME_ADDED, 150)
    other = _game((1, 300_000, 300_000, 0), (3, 350_000, 300_000, 5000))
    _event(other, EventKind.NOTICE, "time-added", 150, 60)
    assert _last(other).cause is Cause.UNEXPLAINED, "the line tells another sum"


def test_clocks_that_moved_between_two_boards() -> None:
    game = _game((1, 300_000, 300_000, 0), (3, 325_000, 300_000, 5000))
    _event(game, EventKind.CLOCK, "opponent-adjusted", 120, 30_000)
    assert _last(game)[9:] == (30_000, Cause.ADJUSTED, 120)


@pytest.mark.parametrize(
    ("kind", "detail", "cause"),
    [
        (EventKind.TAKEBACK, "2-1", Cause.TAKEBACK),
        (EventKind.NOTICE, "paused", Cause.PAUSE),
        (EventKind.FEED, "observed again", Cause.RESUMED),
        (EventKind.NOTICE, "draw-offer", Cause.UNEXPLAINED),
    ],
)
def test_events_without_a_number(kind: EventKind, detail: str, cause: Cause) -> None:
    game = _game((1, 300_000, 300_000, 0), (3, 280_000, 300_000, 5000))
    _event(game, kind, detail, 150)
    assert _last(game)[9:] == (-15_000, cause, None if cause is Cause.UNEXPLAINED else 150)
    _event(game, kind, detail, 350)
    game.observations[0].events.pop(0)
    assert _last(game).cause is Cause.UNEXPLAINED, "what came later explains nothing"


def test_a_move_that_was_taken_back_has_cost_its_time() -> None:
    game = _game(
        (1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 296_000, 300_000, 4000), (3, 295_000, 300_000, 1000)
    )
    entry = _last(game)
    assert (entry.before_ms, entry.residual_ms, entry.cause) == (296_000, 0, Cause.EXACT)


def test_what_is_not_known_stays_unknown() -> None:
    gap = _last(_game((1, 300_000, 300_000, 0), (5, 290_000, 300_000, 1000)))
    assert (gap.before_ms, gap.residual_ms, gap.cause) == (None, None, None)
    untimed = _last(_game((1, 0, 0, 0), (3, 0, 0, 7000), base_s=0))
    assert (untimed.residual_ms, untimed.cause) == (None, None)


def test_nothing_is_unexplained_on_the_recorded_servers() -> None:
    causes: Counter[tuple[str, Cause]] = Counter()
    for scenario in (
        "a06_chatter_takebacks",
        "a09_ivariables",
        "b04_chatter_takeback_pause",
        "c04_chatter_takeback_pause",
    ):
        for stream in corpus.streams(scenario):
            games, _ = product.run([corpus.stream_bytes(stream.scenario, stream.connection)], stream.kind)
            for game in games:
                entries = ledger(game)
                assert [entry.ply for entry in entries] == [ply.ply for ply in game.plies]
                if game.kind is GameKind.PLAYED:
                    causes.update((scenario[0], entry.cause) for entry in entries if entry.cause is not None)
    assert not [found for found in causes if found[1] is Cause.UNEXPLAINED]
    assert causes["a", Cause.FIRST_MOVE]
    assert not causes["c", Cause.FIRST_MOVE], "the 1.6.2 family charges it"
    assert causes["a", Cause.TIME_ADDED]
    assert causes["b", Cause.ADJUSTED]
