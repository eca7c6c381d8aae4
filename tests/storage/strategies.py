"""Hypothesis strategies for whole games, as the tracker may make them."""

import string
from typing import Any

from hypothesis import strategies as st

from recorder.model import (
    Anchor,
    AnchorReason,
    EventKind,
    Game,
    GameEnd,
    GameEvent,
    GameKind,
    HoldingsChange,
    LineKind,
    Observation,
    ObservationKind,
    Player,
    Ply,
    PlyLine,
    Segment,
    StartFacts,
    Thinking,
    TimeBasis,
)

LATIN1 = st.text(st.characters(max_codepoint=255), max_size=30)
FENS = st.sampled_from(["4k3/8/8/8/8/8/8/4K3 w - - 0 1", "8/8/8/8/8/8/krbnNBRK/qrbnNBRQ b - - 3 9"])
HANDS = st.sampled_from(["", "P", "PPNQ"])
HANDLES = st.text(string.ascii_letters, min_size=3, max_size=17)
OFFSETS = st.integers(0, 2**40)
CLOCKS = st.none() | st.integers(-5_000, 20_000_000)
MOMENTS = st.none() | st.integers(0, 2**41)
MAYBE_INT = st.none() | st.integers(0, 5_000)


def players() -> st.SearchStrategy[Player]:
    return st.builds(
        Player,
        HANDLES,
        st.none() | st.sampled_from(["1467P", "++++", "----", "UNR"]),
        MAYBE_INT,
        st.none() | st.sampled_from(["(GM)", "(C)"]),
        st.none() | st.booleans(),
        st.none() | st.booleans(),
    )


@st.composite
def plies(draw: Any, first: int, count: int) -> list[Ply]:
    numbers = sorted(draw(st.sets(st.integers(first, first + 2 * count), min_size=count, max_size=count)))
    tail = st.tuples(
        st.none() | st.integers(0, 65_535),
        st.sampled_from(["e4", "Nf3", "N@e4", "O-O-O", "exd8=Q+"]),
        CLOCKS,
        CLOCKS,
        CLOCKS,
        CLOCKS,
        MOMENTS,
        st.none() | st.integers(0, 143),
        MAYBE_INT,
        st.integers(0, 4),
        st.integers(0, 3),
        st.none() | st.integers(0, 1),
        OFFSETS,
    )
    return [Ply(number, *draw(tail)) for number in numbers]


@st.composite
def observations(draw: Any) -> Observation:
    lines = [PlyLine(0, LineKind.MAIN, None, None, draw(plies(1, draw(st.integers(0, 6)))))]
    for number in range(1, draw(st.integers(1, 3))):
        lines.append(PlyLine(number, LineKind.TAKEBACK, 0, number, draw(plies(number + 1, 2))))
    anchors = st.builds(
        Anchor, st.integers(0, 1), st.integers(0, 300), FENS, st.sampled_from(list(AnchorReason)), OFFSETS
    )
    hands = st.tuples(st.integers(0, 300), HANDS, HANDS, st.none() | st.just("BN"), MOMENTS, OFFSETS)
    happenings = st.tuples(
        st.sampled_from(list(EventKind)),
        LATIN1,
        st.integers(0, 300),
        st.none() | HANDLES,
        st.none() | st.integers(-99, 99),
        LATIN1,
        CLOCKS,
        CLOCKS,
        MOMENTS,
        OFFSETS,
    )
    counts = st.none() | st.integers(0, 2**40)
    thoughts = st.tuples(
        st.integers(0, 300),
        st.none() | HANDLES,
        st.none() | st.booleans(),
        MAYBE_INT,
        st.none() | st.integers(-99_999, 99_999),
        st.none() | st.integers(-99, 99),
        counts,
        counts,
        MAYBE_INT,
        counts,
        counts,
        LATIN1,
        MOMENTS,
        OFFSETS,
    )
    start = st.builds(
        StartFacts,
        st.integers(0, 300),
        LATIN1,
        LATIN1,
        CLOCKS,
        CLOCKS,
        CLOCKS,
        CLOCKS,
        MOMENTS,
        st.none() | st.integers(0, 1),
        OFFSETS,
    )
    return Observation(
        kind=draw(st.sampled_from(list(ObservationKind))),
        game_no=draw(MAYBE_INT),
        white=draw(HANDLES),
        black=draw(HANDLES),
        relation=draw(st.none() | st.integers(-4, 2)),
        offset=draw(OFFSETS),
        end_offset=draw(OFFSETS),
        started_at_ms=draw(MOMENTS),
        ended_at_ms=draw(MOMENTS),
        start=draw(st.none() | start),
        anchors=draw(st.lists(anchors, max_size=3)),
        lines=lines,
        holdings=[HoldingsChange(seq, *found) for seq, found in enumerate(draw(st.lists(hands, max_size=3)))],
        events=[GameEvent(2 * seq, *found) for seq, found in enumerate(draw(st.lists(happenings, max_size=3)))],
        thinking=[Thinking(seq, *found) for seq, found in enumerate(draw(st.lists(thoughts, max_size=3)))],
    )


@st.composite
def games(draw: Any) -> Game:
    seen = draw(st.lists(observations(), min_size=1, max_size=3))
    segments = [
        Segment(found[0].ply, found[-1].ply, number)
        for number, observation in enumerate(seen)
        if (found := observation.lines[0].plies)
    ]
    maybe_bool, maybe_text = st.none() | st.booleans(), st.none() | LATIN1
    return Game(
        key=draw(st.text("0123456789abcdef", min_size=20, max_size=20)),
        kind=draw(st.sampled_from(list(GameKind))),
        server=draw(st.none() | st.sampled_from(["FICS", "ICC"])),
        dialect=draw(maybe_text),
        game_no=draw(MAYBE_INT),
        white=draw(players()),
        black=draw(players()),
        rated=draw(maybe_bool),
        variant=draw(st.none() | st.sampled_from(["chess", "wild/23", "Loop Chess"])),
        category=draw(maybe_text),
        base_s=draw(MAYBE_INT),
        increment_s=draw(MAYBE_INT),
        black_base_s=draw(MAYBE_INT),
        black_increment_s=draw(MAYBE_INT),
        base_inferred=draw(st.booleans()),
        variant_inferred=draw(st.booleans()),
        start_fen=draw(st.none() | FENS),
        start_ply=draw(st.integers(0, 300)),
        result=draw(st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"])),
        reason=draw(maybe_text),
        reason_key=draw(maybe_text),
        termination=draw(LATIN1),
        end=draw(st.sampled_from(list(GameEnd))),
        started_at_ms=draw(MOMENTS),
        ended_at_ms=draw(MOMENTS),
        time_basis=draw(st.sampled_from(list(TimeBasis))),
        date_text=draw(maybe_text),
        complete=draw(st.booleans()),
        continued=draw(st.booleans()),
        partner_game_no=draw(MAYBE_INT),
        me=draw(st.none() | HANDLES),
        observations=seen,
        segments=segments,
        first_offset=draw(OFFSETS),
        last_offset=draw(OFFSETS),
    )
