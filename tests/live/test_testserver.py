"""The scripted server of other tests, and its scripts."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.errors import LineError
from recorder.replay.server.login import WILL_ECHO, WONT_ECHO, Manners
from recorder.wire.timeseal import seal
from tests.support.corpus import stream_bytes, stream_chunks
from tests.support.live import Caller, in_loop
from tests.support.script import Fault, Hear, Say, Step, Wait, format_script, parse_script, script_of_chunks
from tests.support.testserver import FATICS, FICS, ICC, MANNERS, Dialogue, ScriptedServer

ACCOUNTS = {"Ann": "s3cretWord"}


@pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)
@in_loop
async def test_a_registered_player_logs_in(manners: Manners) -> None:
    async with ScriptedServer(Dialogue(manners, ACCOUNTS)) as server:
        caller = await Caller.call(server.port)
        await caller.until(b"login: ")
        caller.send(b"ann\n")
        asked = await caller.until(b"password: ")
        caller.send(b"s3cretWord\n")
        answer = await caller.until(manners.prompt.encode())
        assert WILL_ECHO in asked + answer
        assert WONT_ECHO in answer
        assert (await server.connection()).handle == "Ann"


@pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)
@in_loop
async def test_a_guest_logs_in(manners: Manners) -> None:
    async with ScriptedServer(Dialogue(manners, ACCOUNTS)) as server:
        caller = await Caller.call(server.port)
        caller.send(b"guest\r\n\r\n")
        await caller.until(manners.prompt.encode())
        handle = (await server.connection()).handle
        assert handle is not None
        assert handle.startswith("Guest")


@in_loop
async def test_a_wrong_password_or_an_invalid_name_restarts_the_login() -> None:
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS)) as server:
        caller = await Caller.call(server.port)
        caller.send(b"x2\nA11\nAnn\nwrong\n")
        await caller.until(b"names can only consist")
        await caller.until(b"**** Invalid password! ****")
        await caller.until(b"login: ")
        caller.send(b"Ann\ns3cretWord\n")
        await caller.until(b"**** Starting FICS session as Ann ****")


@in_loop
async def test_icc_takes_name_and_password_on_one_line() -> None:
    async with ScriptedServer(Dialogue(ICC, ACCOUNTS)) as server:
        caller = await Caller.call(server.port)
        caller.send(b"Ann s3cretWord\n")
        await caller.until(b"aics% ")


@in_loop
async def test_a_refusal_closes() -> None:
    async with ScriptedServer(Dialogue(FATICS, ACCOUNTS, refusal="\n{name} is already logged in\n")) as server:
        caller = await Caller.call(server.port)
        caller.send(b"Ann\ns3cretWord\n")
        assert b"Ann is already logged in\n\r" in await caller.rest()


@in_loop
async def test_commands_are_answered_with_and_without_a_time_seal() -> None:
    answers = {b"date": b"It is late.\n\r"}
    async with ScriptedServer(Dialogue(FICS, answers=answers)) as server:
        caller = await Caller.call(server.port)
        for line in (b"TIMESTAMP|ann|test|", b"guest", b"", b"date", b"\x029", b"nonsense"):
            caller.send(seal(line, 17))
        assert b"It is late.\n\rfics% nonsense: Command not found.\n\rfics% " in await caller.until(
            b"not found.\n\rfics% "
        )
        caller.send(b"quit\n")
        await caller.rest()
        assert (await server.connection()).lines == [b"guest", b"", b"date", b"nonsense", b"quit"]


@in_loop
async def test_a_recorded_transcript_is_sent_byte_for_byte() -> None:
    name = ("a01_standard", "player_Morphy")
    script = [*script_of_chunks(stream_chunks(*name)), Fault.CLOSE]
    async with ScriptedServer(Dialogue(FICS, script=script)) as server:
        caller = await Caller.call(server.port)
        caller.send(b"guest\n\n")
        assert (await caller.rest()).endswith(stream_bytes(*name))


@in_loop
async def test_the_script_controls_waits_and_reads() -> None:
    script = [Wait(400), Say(b"one"), Hear(b"go"), Say(b"two"), Hear(b"go"), Say(b"three")]
    async with ScriptedServer(Dialogue(FICS, script=script, speed=4)) as server:
        caller = await Caller.call(server.port)
        caller.send(b"guest\n\n")
        await caller.until(b"fics% ")
        begin = time.monotonic()
        await caller.until(b"one")
        assert time.monotonic() - begin > 0.08
        caller.send(b"go\n")
        await caller.until(b"two")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(caller.until(b"three"), 0.1)
        caller.send(b"go\n")
        await caller.until(b"three")
        await (await server.connection()).done.wait()


@pytest.mark.parametrize("fault", Fault)
@in_loop
async def test_faults(fault: Fault) -> None:
    async with ScriptedServer(Dialogue(FICS, script=[Hear(b"now"), fault])) as server:
        caller = await Caller.call(server.port)
        caller.send(b"guest\n\n")
        await caller.until(b"fics% ")
        connection = await server.connection()
        caller.send(b"now\n")
        await connection.done.wait()
        if fault is Fault.RESET:
            with pytest.raises(ConnectionResetError):
                await caller.rest()
        elif fault in (Fault.CLOSE, Fault.END):
            assert await caller.rest() == b""
        else:
            heard = len(connection.heard)
            caller.send(b"date\n" * 10)
            with contextlib.suppress(TimeoutError):
                assert not await asyncio.wait_for(caller.rest(), 0.2), "neither words nor an end"
            assert len(connection.heard) == heard
            await connection.say(b"hello")
            if fault is Fault.DEAF:
                await caller.until(b"hello")


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
