"""Typescripts with and without timing."""

from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.events import Chunk
from recorder.model import TimeBasis
from recorder.sources.stamps import TypescriptDecoder, looks_like_timing

HEADER = b'Script started on 2024-05-08 20:06:50+02:00 [TERM="xterm" TTY="/dev/pts/1"]\n'
BODY = b"fics% observe 12\r\n<12> rnbqkbnr\r\nScript kiddie says: hi\r\n"
TRAILER = b'\nScript done on 2024-05-08 20:07:50+02:00 [COMMAND_EXIT_CODE="0"]\n'
START = 1715191610000


def decode(decoder: TypescriptDecoder, data: bytes, step: int = 1 << 20) -> list[Chunk]:
    found = [chunk for i in range(0, len(data), step) for chunk in decoder.receive(data[i : i + step])]
    return found + decoder.finish()


def joined(chunks: list[Chunk]) -> bytes:
    return b"".join(chunk.data for chunk in chunks)


@pytest.mark.parametrize(
    ("header", "trailer"),
    [
        (HEADER, TRAILER),
        (b"Script started on Fri May  8 20:06:50 2015\n", b"\nScript done on Fri May  8 20:07:50 2015"),
        (b"Script started, file is typescript\r\n", b"Script done, file is typescript\r\n"),
    ],
)
def test_lines_of_script_itself_are_skipped(header: bytes, trailer: bytes) -> None:
    data = header + BODY + trailer
    for step in (1, 5, 1000):
        found = decode(TypescriptDecoder(), data, step)
        assert joined(found) == BODY + (b"\n" if trailer.startswith(b"\n") else b"")
        assert all(data[chunk.offset : chunk.offset + len(chunk.data)] == chunk.data for chunk in found)
        assert all(chunk.at_ms is None for chunk in found)


def test_a_typescript_that_was_appended_to() -> None:
    assert joined(decode(TypescriptDecoder(), HEADER + b"a\n" + TRAILER + HEADER + b"b\n")) == b"a\n\nb\n"


def test_classic_timing() -> None:
    decoder = TypescriptDecoder(b"0.500000 18\n1.250000 16\n0.000999 999\n")
    found = decode(decoder, HEADER + BODY)
    assert [(chunk.data, chunk.at_ms) for chunk in found] == [
        (BODY[:18], START + 500),
        (BODY[18:34], START + 1750),
        (BODY[34:], START + 1750),
    ]
    assert decoder.time_basis is TimeBasis.UTC


def test_advanced_timing_counts_typed_input_only_as_time() -> None:
    timing = (
        b"H 0.000000 START_TIME 2024-05-08 20:06:50+02:00\nO 0.500000 18\nI 1.000000 3\nO 0.250000 16\nS 0.1 SIGWINCH\n"
    )
    found = decode(TypescriptDecoder(timing), b"Script started, file is x\n" + BODY)
    assert [chunk.at_ms for chunk in found] == [START + 500, START + 1750, None]


def test_a_date_without_zone_stays_without_zone() -> None:
    header = b"Script started on Fri 08 May 2015 08:06:50 PM CST\n"
    decoder = TypescriptDecoder(b"0.5 3\n")
    assert decode(decoder, header + b"abc")[0].at_ms == 1431115610500
    assert decoder.time_basis is TimeBasis.LOCAL
    with_zone = TypescriptDecoder(b"0.5 3\n", timezone(timedelta(hours=-6)))
    assert decode(with_zone, header + b"abc")[0].at_ms == 1431115610500 + 6 * 3600_000
    assert with_zone.time_basis is TimeBasis.UTC


def test_timing_without_any_date() -> None:
    decoder = TypescriptDecoder(b"0.5 3\n")
    assert decode(decoder, b"Script started, file is x\nabc")[0].at_ms == 500
    assert decoder.time_basis is TimeBasis.CLOCK


def test_looks_like_timing() -> None:
    assert looks_like_timing(b"0.5 3\n0.25 12\n")
    assert looks_like_timing(b"H 0.000000 START_TIME x\nO 0.1 3\n")
    assert not looks_like_timing(BODY)
    assert not looks_like_timing(b"")


@given(
    st.lists(
        st.sampled_from(
            [b"Script ", b"Script done on x\n", b"Script started on y\n", b"\n", b"a\n", b"Scr", b"z" * 600]
        )
    ),
    st.integers(1, 40),
    st.booleans(),
)
def test_cuts_never_change_the_bytes(parts: list[bytes], step: int, timed: bool) -> None:
    timing = b"0.1 3\n" * 400 if timed else None
    data = b"".join(parts)

    def times(found: list[Chunk]) -> list[tuple[int, int, int | None]]:
        return [(byte, chunk.offset + i, chunk.at_ms) for chunk in found for i, byte in enumerate(chunk.data)]

    assert times(decode(TypescriptDecoder(timing), data, step)) == times(decode(TypescriptDecoder(timing), data))
