"""Moments are due in order and without drift; a seek gives the same times as playing up to the position."""

from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.errors import ReplayError
from recorder.replay.moments import (
    AtEnd,
    AtGame,
    AtMarker,
    AtPly,
    AtTime,
    By,
    Position,
    format_position,
    parse_position,
    seek,
)
from recorder.replay.timing import Playhead, ReplayMoment, cap_idle

S = 1_000_000_000
GAPS = st.lists(st.integers(0, 90_000), max_size=30)
SPEEDS = st.fractions(min_value=Fraction(1, 20), max_value=100, max_denominator=60)


def at(*times_ms: int) -> list[ReplayMoment[int]]:
    return [ReplayMoment(at_ms, number) for number, at_ms in enumerate(times_ms)]


def recording(gaps: list[int]) -> list[ReplayMoment[int]]:
    return at(*accumulate(gaps))


def played(head: Playhead[int]) -> list[tuple[int, int]]:
    """Return the moments up to the end, each with its due time."""
    found = []
    while (due_ns := head.due_ns) is not None:
        found += [(due_ns, moment.what) for moment in head.take(due_ns)]
    return found


@given(GAPS, SPEEDS, st.integers(0, 10**15))
def test_each_is_due_at_its_own_time(gaps: list[int], speed: Fraction, now_ns: int) -> None:
    moments = recording(gaps)
    got = played(Playhead(moments, now_ns, speed=speed))
    assert [what for _, what in got] == [moment.what for moment in moments]
    for due_ns, what in got:
        exact = now_ns + moments[what].at_ms * 1_000_000 / speed
        assert exact <= due_ns < exact + 1


@given(GAPS, SPEEDS, st.lists(st.integers(0, 5 * S), max_size=60))
def test_a_late_call_delays_nothing(gaps: list[int], speed: Fraction, waits: list[int]) -> None:
    """A call at any time returns exactly the moments that are due."""
    moments = recording(gaps)
    head, now_ns, came = Playhead(moments, 7, speed=speed), 7, 0
    for wait in waits:
        now_ns += wait
        came += len(head.take(now_ns))
        assert came == sum(moment.at_ms * 1_000_000 <= (now_ns - 7) * speed for moment in moments)


@given(GAPS, SPEEDS, st.data())
def test_playing_after_a_seek_equals_playing_to_there(gaps: list[int], speed: Fraction, data: st.DataObject) -> None:
    moments = recording(gaps)
    to_ms = data.draw(st.integers(0, moments[-1].at_ms if moments else 0))
    whole, jumped = Playhead(moments, 0, speed=speed), Playhead(moments, 0, speed=speed)
    rest = [(due, what) for due, what in played(whole) if moments[what].at_ms >= to_ms]
    place, at_ms = seek(moments, AtTime(to_ms))
    now_ns = data.draw(st.integers(0, 10**12))
    jumped.take(now_ns)
    jumped.go(place, now_ns, at_ms)
    got = played(jumped)
    assert [what for _, what in got] == [what for _, what in rest]
    passed_ns = to_ms * 1_000_000 / speed
    assert all(
        abs((due - passed_ns) - (due_now - now_ns)) <= 1 for (due, _), (due_now, _) in zip(rest, got, strict=True)
    )


@given(
    GAPS, st.lists(st.tuples(st.sampled_from(["pause", "resume", "speed", "wait"]), st.integers(1, 9 * S)), max_size=30)
)
def test_pauses_and_speeds_lose_no_time(gaps: list[int], acts: list[tuple[str, int]]) -> None:
    """The recorded time is the sum of the times at each speed, to one nanosecond for each action."""
    head, now_ns, expected, speed, runs = Playhead(recording(gaps), 0), 0, Fraction(0), Fraction(1), True
    for act, number in acts:
        if act == "pause":
            head.pause(now_ns)
            runs = False
        elif act == "resume":
            head.resume(now_ns)
            runs = True
        elif act == "speed":
            speed = Fraction(number, S)
            head.set_speed(speed, now_ns)
        else:
            now_ns += number
            expected += number * speed * runs
        reached_ms = head.at_ms(now_ns)
        last_ms = head.moments[-1].at_ms if head.moments else 0
        behind = min(expected / 1_000_000, Fraction(last_ms)) - reached_ms
        assert 0 <= behind < 1 + len(acts) / Fraction(1_000_000)
        assert head.paused is not runs


def test_a_replay_pauses_at_markers_and_continues() -> None:
    moments = [
        ReplayMoment(0, 0),
        ReplayMoment(1000, 1, markers=("chat",)),
        ReplayMoment(1000, 2),
        ReplayMoment(3000, 3),
    ]
    head = Playhead(moments, 0, pause_at=["chat"])
    assert [one.what for one in head.take(10 * S)] == [0, 1]
    assert (head.paused, head.due_ns, head.at_ms(11 * S)) == (True, None, 1000)
    head.resume(20 * S)
    assert [one.what for one in head.take(20 * S)] == [2]
    assert head.due_ns == 22 * S


def test_steps() -> None:
    head = Playhead(at(0, 500, 9000), 0)
    assert [step.what if (step := head.step(0)) else None for _ in range(4)] == [0, 1, 2, None]
    assert head.paused
    assert head.at_ms(5) == 9000
    empty: Playhead[int] = Playhead([], 0)
    assert empty.step(0) is None
    assert empty.ended


def test_a_loop_restarts_after_a_second() -> None:
    head = Playhead(at(0, 500), 0, loop=True, speed=2)
    assert [one.what for one in head.take(5 * S)] == [0, 1]
    assert head.due_ns == 750_000_000
    assert [one.what for one in head.take(head.due_ns)] == [0]
    assert (head.laps, head.due_ns, head.ended) == (1, 1_000_000_000, False)
    nothing: Playhead[int] = Playhead([], 0, loop=True)
    assert nothing.due_ns is None
    assert nothing.take(S) == []


@given(GAPS, st.integers(0, 60_000))
def test_idle_caps(gaps: list[int], most_ms: int) -> None:
    moments = recording(gaps)
    capped = list(cap_idle(moments, most_ms))
    assert [one.what for one in capped] == [one.what for one in moments]
    assert [one.at_ms for one in capped] == list(accumulate(min(gap, most_ms) for gap in gaps))
    assert list(cap_idle(moments, 90_000)) == moments


FORMS: list[tuple[str, AtTime | AtPly | AtMarker]] = [
    ("20w", AtPly(39)),
    ("20b", AtPly(40)),
    ("1w", AtPly(1)),
    ("#2/3b", AtPly(6, 1)),
    ("0:00", AtTime(0)),
    ("1:30", AtTime(90_000)),
    ("1:02:03.004", AtTime(3_723_004)),
    ("takeback", AtMarker("takeback")),
    ("draw-offer:3", AtMarker("draw-offer", 3)),
]


@pytest.mark.parametrize(("text", "position"), FORMS)
def test_positions_both_ways(text: str, position: AtTime | AtPly | AtMarker) -> None:
    assert parse_position(text) == position
    assert format_position(position) == text


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("start", AtTime(0)),
        ("#2", AtGame(1)),
        ("end", AtEnd()),
        ("-1:00:00", By(-3_600_000)),
        ("+10s", By(10_000)),
        ("-2.5s", By(-2500)),
        ("90s", AtTime(90_000)),
        ("1:30.5", AtTime(90_500)),
        (" 20W ", AtPly(39)),
    ],
)
def test_other_notations_of_positions(text: str, position: Position) -> None:
    assert parse_position(text) == position


@pytest.mark.parametrize("text", ["", "20", "0w", "#0", "1:2:3:4", "+", "20x!", "1:30s", "-20w", "#2/", "tälk", "a:0"])
def test_invalid_positions_are_refused(text: str) -> None:
    with pytest.raises(ReplayError):
        parse_position(text)


@given(st.text(max_size=20) | st.text("0123456789:.+-wbs#/", max_size=12))
def test_any_text_is_a_position_or_an_error(text: str) -> None:
    try:
        position = parse_position(text)
    except ReplayError:
        return
    if isinstance(position, AtTime | AtPly | AtMarker):
        assert parse_position(format_position(position)) == position


GAMES = [
    ReplayMoment(0, "begin", 0, 0),
    ReplayMoment(10, "e4", 0, 1),
    ReplayMoment(20, "e5", 0, 2, ("chat",)),
    ReplayMoment(30, "back", 0, 0, ("takeback",)),
    ReplayMoment(40, "d4", 0, 1),
    ReplayMoment(50, "begin", 1, 0),
    ReplayMoment(60, "c4", 1, 1, ("chat",)),
]


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("1w", 0, 1),
        ("1b", 5, 2),
        ("1w", 7, 6),
        ("#1/1w", 7, 1),
        ("#2", 0, 5),
        ("chat", 0, 2),
        ("chat", 2, 6),
        ("chat:1", 7, 2),
        ("0:00.035", 0, 4),
        ("+0:00.010", 1, 2),
        ("-5s", 4, 0),
        ("end", 0, 7),
        ("9:00", 0, 7),
    ],
)
def test_seeking(text: str, place: int, found: int) -> None:
    at_ms = GAMES[place].at_ms if place < len(GAMES) else 60
    assert seek(GAMES, parse_position(text), place, at_ms)[0] == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9w", "has no move 9w in that game: it ends with 1b"),
        ("#3", "no game 3"),
        ("chat:3", "no 'chat:3'; it has chat, takeback"),
    ],
)
def test_positions_that_a_recording_lacks_are_refused(text: str, message: str) -> None:
    with pytest.raises(ReplayError, match=message):
        seek(GAMES, parse_position(text))
    with pytest.raises(ReplayError):
        seek([], parse_position(text))
