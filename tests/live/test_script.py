from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.errors import LineError
from tests.support.script import Fault, Hear, Say, Step, Wait, format_script, parse_script, script_of_chunks

PAIRS: list[tuple[str, Step]] = [
    ("wait 120", Wait(120)),
    (r'say "fics% \n\r\u00ff\\"', Say(b"fics% \n\r\xff\\")),
    ('hear "observe 1"', Hear(b"observe 1")),
    ("fault half-open", Fault.HALF_OPEN),
]

STEPS = st.one_of(
    st.builds(Wait, st.integers(0, 10**9)),
    st.builds(Say, st.binary()),
    st.builds(Hear, st.binary()),
    st.sampled_from(Fault),
)


@pytest.mark.parametrize(("text", "step"), PAIRS)
def test_reads_and_writes(text: str, step: Step) -> None:
    assert parse_script(f"# a remark\n\n{text}\n") == [step]
    assert format_script([step]) == f"{text}\n"


@given(st.lists(STEPS))
def test_every_script_survives(steps: list[Step]) -> None:
    assert parse_script(format_script(steps)) == steps


@pytest.mark.parametrize("line", ["nod", "wait -1", "wait", "wait x", "say x", "say 1", 'say "\\u0100"', "fault x"])
def test_a_line_that_is_no_step_is_an_error(line: str) -> None:
    with pytest.raises(LineError):
        parse_script(line)


def test_chunks_become_steps_and_pauses() -> None:
    chunks = [(500, b"a"), (500, b"b"), (740, b"c"), (700, b"d"), (750, b"e")]
    assert script_of_chunks(chunks) == [Say(b"a"), Say(b"b"), Wait(240), Say(b"c"), Say(b"d"), Wait(10), Say(b"e")]
