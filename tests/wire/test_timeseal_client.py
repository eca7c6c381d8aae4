"""The client's side of a time-sealed connection."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.wire.timeseal import PING_ANSWER, Sealing, unseal

PINGS = {1: b"\n\r[G]\n\r", 2: b"[G]\x00"}


@pytest.mark.parametrize(("version", "word"), [(1, b"TIMESTAMP"), (2, b"TIMESEAL2")])
def test_the_hello_contains_the_version_and_nothing_of_the_machine(version: int, word: bytes) -> None:
    assert unseal(Sealing(version).hello(17)) == (word + b"|ics-recorder|python|", 17)


def test_lines_are_sealed_one_by_one() -> None:
    lines = Sealing(1).seal_lines(b"observe 12\n\ngames\n", 10_000_005)
    assert [unseal(line) for line in lines.split(b"\n")[:-1]] == [(b"observe 12", 5), (b"", 5), (b"games", 5)]
    assert Sealing(1).seal_lines(b"", 1) == b""
    with pytest.raises(ValueError, match="7-bit"):
        Sealing(1).seal_lines("hunTer2é\n".encode(), 1)


@pytest.mark.parametrize("version", PINGS)
@given(cuts=st.lists(st.integers(0, 40), max_size=6).map(sorted))
def test_each_ping_is_answered_wherever_reads_cut_it(version: int, cuts: list[int]) -> None:
    received = b"\n\rfics% " + PINGS[version] + b"<12> rnbq\n\r" + PINGS[version]
    sealing, answers = Sealing(version), b""
    for a, b in zip([0, *cuts], [*cuts, len(received)], strict=True):
        answers += sealing.answers(received[a:b], 9)
    assert [unseal(line) for line in answers.split(b"\n")[:-1]] == [(PING_ANSWER, 9)] * 2
