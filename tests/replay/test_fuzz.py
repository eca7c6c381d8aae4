"""Any client input raises nothing, takes bounded memory and does not change the output to other clients."""

import tracemalloc
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.events import Chunk
from recorder.model import Game
from recorder.replay.moments import moments_of_chunks
from recorder.replay.server.commands import answer_command
from recorder.replay.server.control import CODES
from recorder.replay.server.login import Greeting, LoginDialogue
from recorder.replay.server.session import ReplaySession
from recorder.replay.server.sockets import ByteReplay, ByteSession, ReplayClients, after_login
from recorder.replay.timing import ReplayMoment
from tests.replay.clients import open_show
from tests.support.corpus import stream_bytes, stream_chunks
from tests.support.effort import examples
from tests.support.product import run

STREAM = ("a01_standard", "observer_GuestObsA")
MANNER = Greeting(observe=True, password=True)


@cache
def games() -> tuple[Game, ...]:
    return tuple(run([stream_bytes(*STREAM)], "raw")[0][:3])


def house(shared: bool) -> ReplayClients:
    """A server that replays games."""
    stage = open_show(games(), apart=True)

    def make(number: int, now_ns: int) -> LoginDialogue:
        return ReplaySession(
            stage if shared else open_show(games(), apart=True), number, MANNER, answer_command, shared=shared
        )

    return ReplayClients(make, stage if shared else None)


@cache
def moments() -> list[ReplayMoment[Chunk]]:
    chunks = [Chunk(data, 0, at_ms) for at_ms, data in stream_chunks(*STREAM)[:60]]
    return list(moments_of_chunks(after_login(chunks)))


def taped(shared: bool) -> ReplayClients:
    """A server that replays bytes."""
    stage = ByteReplay(moments(), 0)

    def make(number: int, now_ns: int) -> LoginDialogue:
        return ByteSession(stage if shared else ByteReplay(moments(), now_ns), number, MANNER, shared)

    return ReplayClients(make, stage if shared else None)


def never(client: LoginDialogue, error: Exception) -> None:
    raise error


def heard(place: ReplayClients, shared: bool, junk: list[bytes]) -> bytes:
    """Return the output to a well-behaved client while another one sends junk."""
    well, wild = place.connect(0), place.connect(0)
    assert well is not None
    assert wild is not None
    for line in (b"Well\n", b"word\n", b"iset ms 1\n", b"set style 12\n"):
        place.receive(well, line, 0)
    now_ns = 0
    for turn in range(60):
        due_ns = place.due_ns if shared else well.due_ns
        now_ns = max(now_ns, due_ns or 0)
        if turn < len(junk):
            place.receive(wild, junk[turn], now_ns)
        place.tick(now_ns, never)
        for client in (well, wild):
            if client.due_ns is not None and client.due_ns <= now_ns:
                client.tick(now_ns)
        wild.take_output()
    return well.take_output()


JUNK = st.lists(
    st.binary(max_size=120)
    | st.sampled_from(
        [
            *(name.encode() + b" 1\n" for name in CODES),
            *(b"Wild\n", b"guest\n", b"\n", b"word\nset style 12\n", b"%b1111111\n", b"quit\n", b"half a li"),
            *(
                b"\xff\xfa\x18",
                b"\xff\xfa\x18\x01\xff",
                b"\xff\xf0",
                b"\xff",
                b"\xff\xfd\x01",
                b"\xff\xf6",
                b"\xff\xff\n",
            ),
            *(b"x" * 3000, b"x" * 3000 + b"\n", b"\n" * 500, b"\x00\r\n" * 100, b"iset block 1\n", b"1 moves 1\n"),
            *(b"tell replay seek end\n", b"tell replay speed 1000\n", b"tell replay pause\n", b"tell replay step\n"),
        ]
    ),
    max_size=60,
)


@pytest.mark.parametrize("make", [house, taped])
@pytest.mark.parametrize("shared", [True, False])
@settings(max_examples=examples(60), deadline=None)
@given(JUNK)
def test_junk_of_one_client_does_not_change_the_output_to_others(
    make: Callable[[bool], ReplayClients], shared: bool, junk: list[bytes]
) -> None:
    alone = heard(make(shared), shared, [])
    assert alone.count(b"<12>") > 5
    assert heard(make(shared), shared, junk) == alone


@pytest.mark.parametrize(
    "piece",
    [
        b"x" * 4096,
        b"\xff\xfa" + b"y" * 4094,
        b"\xff" * 4096,
        b"\xff\xfa\x18" * 1365,
        b"\x00" * 4096,
        b"moves 1\n" * 512,
    ],
    ids=["no end", "telnet without end", "escapes", "telnet in telnet", "zeros", "commands"],
)
@pytest.mark.long_except("telnet without end")
def test_a_flood_of_input_takes_bounded_memory(piece: bytes) -> None:
    place = house(False)
    client = place.connect(0)
    assert client is not None
    for line in (b"Flood\n", b"word\n", piece):
        place.receive(client, line, 0)
    client.take_output()
    tracemalloc.start()
    try:
        for _ in range(30):
            place.receive(client, piece, 0)
            client.take_output()
        assert tracemalloc.get_traced_memory()[0] < 100_000
    finally:
        tracemalloc.stop()


def test_clients_beyond_the_limit_are_refused_until_one_leaves() -> None:
    place = taped(True)
    come = [place.connect(0) for _ in range(500)]
    assert None not in come
    assert place.connect(0) is None
    place.disconnect(come[7])
    assert place.connect(0) is not None
    assert place.connect(0) is None
