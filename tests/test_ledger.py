"""Clocks that add up, and the causes where they do not."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recorder.ledger import Cause, LedgerEntry, ledger
from recorder.model import (
    EventKind,
    Game,
    GameEvent,
    GameKind,
    LineKind,
    Ply,
    PlyLine,
    Precision,
    Proof,
    Segment,
    StartFacts,
)
from recorder.reading import make_pipeline
from recorder.sources import SourceKind
from tests import clock_figures
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
    seen.offset, seen.start = 0, None
    made = [_ply(*ply, 100 * place, precision) for place, ply in enumerate(plies, start=1)]
    main = {ply.ply: ply for ply in made}  # the later ply is valid
    seen.lines[:] = [PlyLine(0, LineKind.MAIN, None, None, list(main.values()))]
    taken_back = [ply for ply in made if main[ply.ply] is not ply]
    if taken_back:
        seen.lines.append(PlyLine(1, LineKind.TAKEBACK, 0, taken_back[0].ply - 1, taken_back))
    game.segments[:] = [Segment(plies[0][0], plies[-1][0], 0)]
    return game


def _event(
    game: Game,
    kind: EventKind,
    detail: str,
    offset: int,
    value: int | None = None,
    actor: str | None = None,
    clocks: tuple[int | None, int | None] = (None, None),
    ply: int = 0,
) -> None:
    seen = game.observations[0]
    seen.events.append(GameEvent(len(seen.events), kind, detail, ply, actor, value, "", *clocks, None, offset))


def _start(game: Game, ply: int, white_ms: int, black_ms: int, precision: Precision = Precision.MILLISECONDS) -> None:
    game.observations[0].start = StartFacts(ply, "none", "none", 0, white_ms, black_ms, 0, None, int(precision), 1)


def _last(game: Game) -> LedgerEntry:
    return ledger(game)[-1]


def _found(game: Game) -> tuple[int | None, Cause | None, int | None]:
    return _last(game)[10:]


def test_a_move_takes_its_time_from_the_clock() -> None:
    """The example that the project's notes have checked: 300000 - 2662 = 297338."""
    entries = ledger(_game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 297_338, 300_000, 2662)))
    assert entries[2] == LedgerEntry(3, True, 300_000, 2662, 0, 297_338, 300_000, 0, 900, None, 0, Cause.EXACT, None)


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
        (Precision.DERIVED_SECONDS, 293_000, None, None),
    ],
)
def test_rounding_is_one_unit_at_most(
    precision: Precision, left_ms: int, residual_ms: int | None, cause: Cause | None
) -> None:
    game = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, left_ms, 300_000, 5000), precision=precision)
    assert _found(game) == (residual_ms, cause, None)


def test_a_unit_that_changes_in_mid_game_rounds_by_the_coarser() -> None:
    game = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 294_300, 300_000, 5000))
    plies = game.observations[0].lines[0].plies
    plies[0] = plies[0]._replace(precision_code=int(Precision.SECONDS))
    assert _found(game) == (-700, Cause.ROUNDING, None)


def test_a_free_first_move_differs_from_one_that_is_charged() -> None:
    free = ledger(_game((1, 300_000, 300_000, 4200), (2, 300_000, 300_000, 900), increment_s=12))
    assert [(entry.cause, entry.evidence) for entry in free] == [(Cause.FIRST_MOVE, 100), (Cause.FIRST_MOVE, 200)]
    charged = ledger(_game((1, 307_800, 300_000, 4200), (2, 307_800, 311_100, 900), increment_s=12))
    assert [entry.cause for entry in charged] == [Cause.EXACT, Cause.EXACT]


def test_clocks_begin_as_the_first_board_shows_them() -> None:
    """Ten seconds, where the time control says 0 minutes."""
    game = _game((1, 10_000, 10_000, 0), (2, 10_000, 10_000, 0), (3, 9500, 10_000, 1500), base_s=0, increment_s=1)
    _start(game, 0, 10_000, 10_000)
    assert [entry.before_ms for entry in ledger(game)] == [10_000] * 3
    unused = _game((1, 0, 0, 0), (3, 0, 0, 7000), base_s=0, increment_s=1)
    _start(unused, 0, 0, 0)
    assert _found(unused) == (None, None, None), "a server that takes it for untimed"


def test_bughouse_clocks_run_before_the_first_board() -> None:
    game = _game((1, 179_879, 180_000, 121), (2, 179_879, 179_900, 100), base_s=180)
    _start(game, 0, 179_958, 180_000)
    assert [(entry.before_ms, entry.cause) for entry in ledger(game)] == [(180_000, Cause.EXACT)] * 2


def test_added_time_is_known_from_its_line() -> None:
    game = _game((1, 300_000, 300_000, 0), (3, 355_000, 300_000, 5000))
    _event(game, EventKind.NOTICE, "time-added", 150, 60)
    assert _found(game) == (60_000, Cause.TIME_ADDED, 150)
    given = _game((1, 300_000, 300_000, 0), (3, 355_000, 300_000, 5000))
    _event(given, EventKind.NOTICE, "time-added", 150, 60, given.black.handle.upper())
    assert _found(given) == (60_000, Cause.MORETIME, 150)
    other = _game((1, 300_000, 300_000, 0), (3, 299_000, 300_000, 50_000))
    _event(other, EventKind.NOTICE, "time-added", 150, 60)
    assert _last(other).cause is Cause.UNEXPLAINED, "the line tells another sum"
    own = _game((1, 300_000, 300_000, 0), (3, 300_000, 300_000, 60_000))
    _event(own, EventKind.NOTICE, "time-added", 150, 60, own.white.handle)
    assert _last(own).cause is Cause.UNEXPLAINED, "no player adds to the own clock"


@pytest.mark.parametrize(
    ("text", "mine", "cause"),
    [
        ("Your opponent has added 60 seconds to your clock.", True, Cause.MORETIME),
        ("60 seconds were added to your opponents clock", False, Cause.MORETIME),
        ("You have added 60 seconds to Black's clock.", False, Cause.MORETIME),
        ("Your opponent has added 60 seconds to your clock.", False, Cause.UNEXPLAINED),
        ("60 seconds were added to your opponents clock", True, Cause.UNEXPLAINED),
        ("60 seconds were added to your opponents clock", None, Cause.TIME_ADDED),
    ],
)
def test_a_line_of_our_own_game_determines_whose_clock_it_is(text: str, mine: bool | None, cause: Cause) -> None:
    game = _game((1, 300_000, 300_000, 0), (3, 300_000, 300_000, 60_000))
    game.me = {True: game.white.handle, False: game.black.handle, None: None}[mine]
    _event(game, EventKind.NOTICE, "time-added", 150, 60)
    game.observations[0].events[0] = game.observations[0].events[0]._replace(text=text)
    assert _last(game).cause is cause


@pytest.mark.parametrize("scenario", ["b04_chatter_takeback_pause", "c04_chatter_takeback_pause"])
def test_changes_that_an_observer_saw_are_those_the_players_received(scenario: str) -> None:
    def added(connection: str) -> list[tuple[int, int, int | None, Cause | None]]:
        (stream,) = [one for one in corpus.streams(scenario) if one.connection == connection]
        games, _ = product.run([corpus.stream_bytes(scenario, connection)], stream.kind)
        return [
            (number, entry.ply, entry.residual_ms, entry.cause)
            for number, game in enumerate(games)
            for entry in ledger(game)
            if entry.cause in (Cause.MORETIME, Cause.TIME_ADDED, Cause.ADJUSTED)
        ]

    received, shown = added("player_Alekhine"), added("observer_Botvinnik")
    assert [one[:3] for one in received] == [one[:3] for one in shown]
    assert ({one[3] for one in received}, {one[3] for one in shown}) == ({Cause.MORETIME}, {Cause.ADJUSTED})


def test_a_clock_that_another_board_shows_changed() -> None:
    game = _game((1, 300_000, 300_000, 0), (2, 330_000, 300_000, 0), (3, 325_000, 300_000, 5000))
    assert _found(game) == (30_000, Cause.ADJUSTED, 200)
    same = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 260_000, 300_000, 5000))
    _event(same, EventKind.CLOCK, "same-ply", 250, clocks=(265_000, 300_000), ply=2)
    assert _found(same) == (-35_000, Cause.ADJUSTED, 250)
    announced = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 260_000, 300_000, 5000))
    _event(announced, EventKind.CLOCK, "set", 250, clocks=(265_000, 300_000), ply=2)
    assert _found(announced) == (-35_000, Cause.CLOCK_SET, 250)


def test_a_clock_higher_than_if_no_time_had_passed_was_adjusted() -> None:
    moves = (1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 330_000, 300_000, 5000)
    assert ledger(_game(*moves, (4, 330_000, 300_000, 0)))[2][10:] == (35_000, Cause.ADJUSTED, 400), "shown twice"
    wrong = [entry.cause for entry in ledger(_game(*moves, (4, 295_000, 300_000, 0)))]
    assert wrong[2] is Cause.UNEXPLAINED, "the next board has another number: one of the two may be damaged"
    assert _last(_game(*moves)).cause is Cause.UNEXPLAINED, "one number proves nothing"
    assert ledger(_game(*moves, (5, 330_000, 300_000, 0)))[2].cause is Cause.UNEXPLAINED, "a board is missing"
    assert _last(_game((1, 300_000, 300_000, 0), (3, 299_000, 300_000, 5000))).cause is Cause.UNEXPLAINED


def test_what_the_tracker_found_on_the_same_boards_proves_nothing() -> None:
    game = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 280_000, 300_000, 5000))
    _event(game, EventKind.CLOCK, "adjusted", 300, -15_000, clocks=(280_000, 300_000))
    assert _found(game) == (-15_000, Cause.UNEXPLAINED, None)


@pytest.mark.parametrize(
    ("kind", "detail", "cause"),
    [
        (EventKind.TAKEBACK, "2-1", Cause.TAKEBACK),
        (EventKind.NOTICE, "paused", Cause.PAUSE),
        (EventKind.FEED, "observed again", Cause.RESUMED),
        (EventKind.NOTICE, "draw-offer", Cause.ADJUSTED),
    ],
)
def test_a_line_names_the_change_that_a_board_shows(kind: EventKind, detail: str, cause: Cause) -> None:
    game = _game((1, 300_000, 300_000, 0), (2, 285_000, 300_000, 0), (3, 280_000, 300_000, 5000))
    _event(game, kind, detail, 150)
    assert _found(game) == (-15_000, cause, 200 if cause is Cause.ADJUSTED else 150)
    game.observations[0].events.clear()
    _event(game, kind, detail, 350)
    assert _last(game).cause is Cause.ADJUSTED, "later lines explain nothing"
    unseen = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 280_000, 300_000, 5000))
    _event(unseen, kind, detail, 250)
    assert _last(unseen).cause is Cause.UNEXPLAINED, "no board shows it"


def test_the_board_behind_a_takeback_shows_the_clocks() -> None:
    game = _game(
        (1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 296_000, 300_000, 4000), (3, 299_000, 300_000, 1000)
    )
    _event(game, EventKind.TAKEBACK, "3-2", 350, clocks=(300_000, 300_000))
    assert _found(game) == (4000, Cause.TAKEBACK, 350)
    restored = _game(
        (1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 296_000, 300_000, 4000), (3, 299_000, 300_000, 1000)
    )
    _event(restored, EventKind.TAKEBACK, "3-2", 350)
    assert _found(restored) == (4000, Cause.TAKEBACK, 350), "an earlier board of the same ply has that clock"


def test_a_clock_of_full_seconds_is_not_one_that_was_printed_in_seconds() -> None:
    """Of a thousand boards in milliseconds one shows 285.000: what is left over is still bounded by a millisecond."""
    game = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 279_400, 300_000, 5000))
    _event(game, EventKind.CLOCK, "set", 250, clocks=(285_000, 300_000), ply=2)
    assert _last(game).cause is Cause.UNEXPLAINED
    exact = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0), (3, 280_000, 300_000, 5000))
    _event(exact, EventKind.CLOCK, "set", 250, clocks=(285_000, 300_000), ply=2)
    assert _found(exact) == (-15_000, Cause.CLOCK_SET, 250)


def test_a_pause_that_the_elapsed_time_contains() -> None:
    game = _game((1, 300_000, 300_000, 0), (3, 298_000, 300_000, 60_000))
    _event(game, EventKind.NOTICE, "paused", 150)
    assert _found(game) == (58_000, Cause.PAUSE, 150)


def test_a_clock_seen_running_is_no_clock_before() -> None:
    """NOTES.md, game 463: White had 608.625 s, and the board that was joined shows 557871, 50.754 s into the think."""
    game = _game((75, 593_625, 300_000, 60_000), base_s=2700, increment_s=45)
    _start(game, 74, 557_871, 300_000)
    assert _last(game).before_ms is None
    assert _found(game) == (50_754, Cause.SNAPSHOT, 1)
    _start(game, 74, 608_625, 300_000)
    assert (_last(game).before_ms, *_found(game)) == (608_625, 0, Cause.EXACT, None), "it had not run"
    _start(game, 74, 500_000, 300_000)
    assert _last(game).cause is Cause.UNEXPLAINED, "more than the move took"
    _start(game, 74, 640_000, 300_000)
    assert _last(game).cause is Cause.UNEXPLAINED


def test_the_clocks_of_a_game_joined_after_its_first_move_begin_as_the_time_control_has_them() -> None:
    game = _game((1, 297_000, 300_000, 3_000))
    _start(game, 1, 297_000, 300_000)
    assert (_last(game).before_ms, _found(game)) == (300_000, (0, Cause.EXACT, None))


def test_the_other_side_of_a_joined_board_is_kept() -> None:
    game = _game((75, 593_625, 300_000, 60_000), (76, 593_625, 335_000, 10_000), base_s=2700, increment_s=45)
    _start(game, 74, 557_871, 300_000)
    assert (_last(game).before_ms, _last(game).cause) == (300_000, Cause.EXACT)


def test_a_clock_that_was_only_seen_on_the_other_sides_board() -> None:
    game = _game((1, 300_000, 300_000, 0), (5, 290_000, 280_000, 1000), (6, 290_000, 279_000, 1000))
    assert [(entry.before_ms, entry.cause) for entry in ledger(game)[1:]] == [(None, None), (280_000, Cause.EXACT)]


def test_moves_inferred_at_a_rejoined_board_are_counted_from_the_clock_before_them() -> None:
    lines = (
        "**** Welcome to the freechess.org server ****",
        "You are now observing game 5.",
        "<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R "
        "B -1 1 1 1 1 1 5 Ann Bob 0 5 2 39 39 300000 300000 2 N/g1-f3 (0:02.000) Nf3 0 1 0",
        "<12> r-bqkbnr pppp-ppp --n----- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R "
        "W -1 1 1 1 1 2 5 Ann Bob 0 5 2 39 39 300000 300500 3 N/b8-c6 (0:01.500) Nc6 0 1 0",
        "Removing game 5 from observation list.",
        "You are now observing game 5.",
        "<12> r-bqkbnr -ppp-ppp p-n----- -B--p--- ----P--- -----N-- PPPP-PPP RNBQK--R "
        "W -1 1 1 1 1 0 5 Ann Bob 0 5 2 39 39 300800 300800 4 P/a7-a6 (0:01.700) a6 0 1 0",
        "<12> r-bqkbnr -ppp-ppp p-n----- ----p--- B---P--- -----N-- PPPP-PPP RNBQK--R "
        "B -1 1 1 1 1 1 5 Ann Bob 0 5 2 39 39 301900 300800 4 B/b5-a4 (0:00.900) Ba4 0 1 0",
    )
    pipeline = make_pipeline(SourceKind.RAW)
    (game,) = pipeline.receive("\n".join((*lines, "")).encode()) + pipeline.finish()
    assert [(ply.ply, ply.proof) for ply in game.plies] == [
        (4, Proof.FULL),
        (5, Proof.INFERRED),
        (6, Proof.FULL),
        (7, Proof.FULL),
    ]
    assert [(entry.ply, entry.cause) for entry in ledger(game)][2] == (6, Cause.EXACT)


def test_a_game_that_was_not_seen_for_a_time() -> None:
    game = _game((1, 300_000, 300_000, 0), (2, 300_000, 300_000, 0))
    second = _game((3, 290_000, 260_000, 10_000), (4, 290_000, 258_000, 2000)).observations[0]
    second.offset = 1000
    second.start = StartFacts(2, "e7-e5", "e5", 0, 300_000, 260_000, 0, None, int(Precision.MILLISECONDS), 1000)
    second.lines[0].plies = [ply._replace(offset=1000 + ply.offset) for ply in second.lines[0].plies]
    game.observations.append(second)
    game.segments.append(Segment(3, 4, 1))
    entries = ledger(game)
    assert [entry.before_ms for entry in entries] == [300_000] * 4
    assert (entries[2].cause, entries[3].cause, entries[3].evidence) == (Cause.EXACT, Cause.RESUMED, 1000)
    game.merged_from = ["one", "two"]
    assert ledger(game)[2].cause is Cause.EXACT, "another log's clocks are not carried on"
    assert ledger(game)[3].before_ms == 260_000


def test_a_server_that_prints_no_clock_below_zero() -> None:
    game = _game((1, 3000, 300_000, 0), (3, 0, 300_000, 5000))
    assert _found(game) == (2000, Cause.FLAG, 200)
    below = _game((1, 3000, -500, 0), (3, 0, -500, 5000))
    assert _last(below).cause is Cause.UNEXPLAINED, "this one prints clocks below zero"


def test_a_least_charge_that_the_game_shows() -> None:
    shown = (2, 300_000, 299_900, 100)
    assert _found(_game((1, 300_000, 300_000, 0), shown, (3, 299_900, 299_900, 30))) == (
        -70,
        Cause.MINIMUM_CHARGE,
        300,
    )
    other = _game((1, 300_000, 300_000, 0), (2, 300_000, 299_800, 200), (3, 299_900, 299_800, 30))
    assert _last(other).cause is Cause.UNEXPLAINED


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
    examined = _game((1, 300_000, 300_000, 0), (3, 0, 0, 7000))
    examined.kind = GameKind.EXAMINED
    assert _found(examined) == (None, None, None)


def _thought(
    lags: dict[int, int],
    *,
    sealed: bool | None = None,
    arrived: dict[int, int] | None = None,
    mine: bool = False,
) -> list[Any]:
    """What White thought: moves of 1000 ms; ``lags``: ply → lag."""
    game = _game(*((ply, 300_000, 300_000, 0 if ply < 3 else 1000) for ply in range(1, 10)))
    game.white = game.white._replace(sealed=sealed)
    game.black = game.black._replace(sealed=None)
    game.me = game.white.handle if mine else None
    plies = game.observations[0].lines[0].plies
    plies[:] = [
        ply._replace(lag_ms=lags.get(ply.ply, 0), at_ms=None if arrived is None else arrived[ply.ply]) for ply in plies
    ]
    return [entry.thinking_ms for entry in ledger(game) if entry.white]


def test_what_was_thinking_and_what_the_network() -> None:
    assert _thought({}) == [None] * 5, "no lag was ever given back: unknown"
    assert _thought({}, sealed=True) == [None, *[1000] * 4], "a first move was not timed"
    assert _thought({3: 40}) == [None, *[1000] * 4], "a lag that the server gave back is not in the elapsed time"
    assert _thought({3: 40, 5: 2000}, sealed=False) == [None, 960, 0, None, None], "without a seal it is"
    arrived = {ply: 1000 * ply for ply in range(1, 10)}
    assert _thought({3: 400}, arrived=arrived) == [None, 600, None, None, None], "the boards arrive as if it had not"
    given = {ply: at_ms + 400 * (ply > 2) for ply, at_ms in arrived.items()}
    assert _thought({3: 400}, arrived=given) == [None, *[1000] * 4]
    assert _thought({3: 400}, arrived=given, mine=True) == [None, *[1000] * 4]
    quick = {ply: 900 * ply + 400 * (ply > 2) for ply in range(1, 10)}
    assert _thought({3: 400}, sealed=True, arrived=quick, mine=True)[2:] == [900] * 3, "no more than we saw pass"


@dataclass
class _Truth:
    """A game made by the rule, and what was put into it."""

    rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    causes: dict[int, set[Cause]] = field(default_factory=dict)  # of each row


# Of whole seconds, two that are added look like rounding.
_ACTIONS = st.sampled_from(["", "", "", "", "", "", "moretime", "hand", "takeback"])
_MOVES = st.lists(
    st.tuples(st.integers(0, 60_000), _ACTIONS, st.integers(3, 900), st.integers(1, 4)), min_size=4, max_size=40
)


@given(_MOVES, st.booleans(), st.booleans(), st.integers(0, 60), st.integers(1, 3600))
def test_the_ledger_finds_what_was_put_in(
    moves: list[tuple[int, str, int, int]], in_ms: bool, free: bool, increment_s: int, base_s: int
) -> None:
    truth, game = _generate(moves, in_ms, free, increment_s, base_s)
    found = {entry.ply: entry for entry in ledger(game)}
    for row, causes in truth.causes.items():
        entry = found[truth.rows[row][0]]
        if 100 * (row + 1) in {ply.offset for ply in game.plies}:
            assert entry.cause in causes, (row, entry, causes)
            assert entry.cause not in (Cause.EXACT, Cause.ROUNDING) or abs(entry.residual_ms or 0) <= (
                1 if in_ms else 1000
            )


@given(_MOVES, st.booleans(), st.booleans(), st.integers(0, 60), st.data())
def test_a_wrong_clock_is_found(
    moves: list[tuple[int, str, int, int]], in_ms: bool, free: bool, increment_s: int, data: st.DataObject
) -> None:
    plain = [(thought_ms, "", 1, 1) for thought_ms, _, _, _ in moves]
    truth, game = _generate(plain, in_ms, free, increment_s, 3600)
    unit_ms = 1 if in_ms else 1000
    row = data.draw(st.integers(2, len(truth.rows) - 1))
    off_ms = data.draw(st.integers(3, 500).map(lambda units: units * unit_ms)) * data.draw(st.sampled_from((1, -1)))
    plies = game.observations[0].lines[0].plies
    ply = plies[row]
    clock = "white_clock_ms" if ply.white_moved else "black_clock_ms"
    assume(getattr(ply, clock) + off_ms != 0)
    plies[row] = ply._replace(**{clock: getattr(ply, clock) + off_ms})
    for at, entry in enumerate(ledger(game)):
        if at == row:
            assert entry.cause is Cause.UNEXPLAINED, entry
        elif at == row + 2:
            assert entry.cause is Cause.ADJUSTED, "the board in between shows the clock as it was"
        else:
            assert entry.cause in (Cause.EXACT, Cause.ROUNDING, Cause.FIRST_MOVE)


def _generate(
    moves: list[tuple[int, str, int, int]], in_ms: bool, free: bool, increment_s: int, base_s: int
) -> tuple[_Truth, Game]:
    """A game in which every clock follows the rule, but for what is put in between the moves."""
    truth = _Truth()
    clocks = [1000 * base_s] * 2  # Black's, White's
    touched: list[str | None] = [None, None]
    seen_on: dict[int, tuple[int, int]] = {0: (clocks[0], clocks[1])}
    offset_of: dict[int, int] = {}
    ply = 0
    shown = (lambda ms: ms) if in_ms else (lambda ms: ms // 1000 * 1000)
    for at, (thought_ms, action, seconds, back) in enumerate(moves):
        offset = 100 * (at + 1)
        mover = (ply + 1) & 1
        other = 1 - mover
        if action == "moretime" and ply > 1 and touched[mover] is None:
            clocks[mover] += 1000 * seconds
            truth.events.append({"kind": EventKind.NOTICE, "detail": "time-added", "value": seconds, "actor": other})
            touched[mover] = action
        elif action == "hand" and ply > 1 and touched[other] is None:
            clocks[other] += 1000 * seconds  # the mover's board will show it
            touched[other] = action
        elif action == "takeback" and ply > 3 + back and touched == [None, None]:
            ply -= back
            clocks = [3000 + clock for clock in seen_on[ply]]
            truth.events.append(
                {
                    "kind": EventKind.TAKEBACK,
                    "detail": f"{ply + back}-{ply}",
                    "clocks": (shown(clocks[1]), shown(clocks[0])),
                }
            )
            touched = [action, action]
        else:
            action = ""
        if action and action != "hand":
            truth.events[-1].update(offset=offset - 50, ply=ply)
        mover = (ply + 1) & 1
        first = ply < 2
        ply += 1
        if not (first and free):
            clocks[mover] += 1000 * increment_s - thought_ms
        causes = {
            None: {Cause.EXACT, Cause.ROUNDING},
            "moretime": {Cause.MORETIME},
            "hand": {Cause.ADJUSTED},
            # The clock may have come out as it was.
            "takeback": {Cause.TAKEBACK, Cause.EXACT, Cause.ROUNDING},
        }[touched[mover]]
        truth.causes[at] = causes | {Cause.FIRST_MOVE} if first else causes
        touched[mover] = None
        seen_on[ply] = (clocks[0], clocks[1])
        offset_of[ply] = offset
        truth.rows.append((ply, shown(clocks[1]), shown(clocks[0]), shown(thought_ms)))
    precision = Precision.MILLISECONDS if in_ms else Precision.SECONDS
    game = _game(*truth.rows, base_s=base_s, increment_s=increment_s, precision=precision)
    main = {row[0]: row for row in truth.rows}
    game.segments[:] = [Segment(1, max(main), 0)]
    names = (game.black.handle, game.white.handle)
    for event in truth.events:
        actor = event.pop("actor", None)
        _event(game, actor=None if actor is None else names[actor], **event)
    return truth, game


@pytest.mark.long
def test_nothing_is_unexplained_on_the_recorded_servers() -> None:
    """And docs/fidelity.md has the figures."""
    counts, unexplained = clock_figures.figures(corpus.scenarios())
    assert not unexplained
    assert counts["A"]["first-move"]
    assert not counts["C"]["first-move"], "the 1.6.2 family charges it"
    fidelity = (Path(__file__).parent.parent / "docs" / "fidelity.md").read_text()
    assert clock_figures.table(counts) in fidelity


def test_entries_are_those_of_the_main_line() -> None:
    stream = corpus.streams("a06_chatter_takebacks")[0]
    games, _ = product.run([corpus.stream_bytes(stream.scenario, stream.connection)], stream.kind)
    for game in games:
        assert [entry.ply for entry in ledger(game)] == [ply.ply for ply in game.plies]
