"""Time-sealed connections: the server's and the client's side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.wire.timeseal import PING_ANSWER, PingReader, Sealing, format_hello, seal, unseal

# By hand, from the description: "a", the mark, stamp 5, the mark and seven or eight "1" fill a group of 12.
#   text        61 18 35 19 31 31 31 31 31 31 31 31
#   places      31 18 31 19 31 31 31 31 31 35 31 61      0↔11, 2↔9, 4↔7
#   top bit     b1 98 b1 99 b1 b1 b1 b1 b1 b5 b1 e1
#   key         54 69 6d 65 73 74 61 6d 70 20 28 46      "Timestamp (F"
#   mixed       e5 f1 dc fc c2 c5 d0 dc c1 95 99 a7
#   less 20     c5 d1 bc dc a2 a5 b0 bc a1 75 79 87      then 80 for offset 0
BY_HAND = bytes.fromhex("c5d1bcdca2a5b0bca1757987 80 0a")
# The same at offset 49: the key begins with its last character and goes on with its first ones, ".Timestamp (".
#   key         2e 54 69 6d 65 73 74 61 6d 70 20 28
#   mixed       9f cc d8 f4 d4 c2 c5 d0 dc c5 91 c9
#   less 20     7f ac b8 d4 b4 a2 a5 b0 bc a5 71 a9
BY_HAND_AT_THE_END = bytes.fromhex("7facb8d4b4a2a5b0bca571a9 b1 0a")


@pytest.mark.parametrize(("sealed", "offset"), [(BY_HAND, 0), (BY_HAND_AT_THE_END, 49)])
def test_an_example_calculated_by_hand(sealed: bytes, offset: int) -> None:
    assert seal(b"a", 5, offset) == sealed
    assert unseal(sealed) == (b"a", 5)
    assert unseal(sealed.rstrip(b"\n")) == (b"a", 5)


LINES = st.binary(max_size=80).map(lambda data: bytes(byte & 0x7F for byte in data))


@given(LINES, st.integers(0, 10**19), st.integers(0, 49))
def test_unsealing_undoes_sealing(line: bytes, stamp_ms: int, offset: int) -> None:
    sealed = seal(line, stamp_ms, offset)
    assert unseal(sealed) == (line, stamp_ms)
    assert b"\n" not in sealed[:-1]
    assert b"\xff" not in sealed
    assert len(sealed) % 12 == 2


def sealed_with(padding: bytes) -> bytes:
    """A line of 6 bytes with its stamp, with this padding: the description once more, at offset 0."""
    plain = bytearray(b"refr 3\x1812\x19" + padding)
    for start in range(0, len(plain), 12):
        group = plain[start : start + 12]
        for one, other in ((0, 11), (2, 9), (4, 7)):
            group[one], group[other] = group[other], group[one]
        plain[start : start + 12] = group
    key = b"Timestamp (FICS) v1.0 - programmed by Henrik Gram."
    return bytes(((byte | 0x80) ^ key[index % 50]) - 32 for index, byte in enumerate(plain)) + b"\x80"


@pytest.mark.parametrize("padding", [b"qK", b"11", b"abcdefghijkLMN"])
def test_padding_of_any_kind_is_read(padding: bytes) -> None:
    assert unseal(sealed_with(padding)) == (b"refr 3", 12)


@pytest.mark.parametrize("line", [b"", b"\n", b"who", b"x" * 13, b"x" * 12 + b"\x80", b"\xd0" * 12 + b"\xb2"])
def test_no_sealed_line(line: bytes) -> None:
    assert unseal(line) is None


@given(st.binary(max_size=40))
def test_any_bytes_are_a_line_or_none(data: bytes) -> None:
    unseal(data)


@pytest.mark.parametrize(("line", "stamp_ms", "offset"), [(b"\xe9", 1, 0), (b"a", -1, 0), (b"a", 1, 50)])
def test_what_cannot_be_sealed_is_refused(line: bytes, stamp_ms: int, offset: int) -> None:
    with pytest.raises(ValueError, match="seal"):
        seal(line, stamp_ms, offset)


def test_hellos() -> None:
    assert format_hello(1, "ann", "Linux") == b"TIMESTAMP|ann|Linux|"
    assert format_hello(2, "ann", "Linux") == b"TIMESEAL2|ann|Linux|"


@pytest.mark.parametrize(
    ("version", "data", "count"),
    [
        (1, b"fics% \n[G]\n\r\n\r<12> x\n", 1),
        (1, b"[G]\n\r[G]\n\r", 2),
        (1, b"\n\r[G]\r\n", 1),
        (1, b"Bob kibitzes: [G]\n[G] or not\n[G][G]\n[G]", 0),
        (1, b"[G]\x00", 0),
        (2, b"<12> rn[G]\x00bq [G]\x00[G]\x00\n", 3),
        (2, b"[G]\n[G]x[[G]\x00", 1),
    ],
)
def test_pings_across_every_cut(version: int, data: bytes, count: int) -> None:
    for cut in range(len(data) + 1):
        reader = PingReader(version)
        pings = [reader.receive(data[:cut], 7), reader.receive(data[cut:], 7)]
        assert sum(found.number for found in pings) == count
        assert b"".join(found.answer for found in pings) == seal(b"\x029", 7) * count
    reader = PingReader(version)
    assert sum(reader.receive(bytes((byte,)), 7).number for byte in data) == count


def test_an_endless_line_takes_bounded_memory() -> None:
    reader = PingReader(1)
    assert sum(reader.receive(b"x" * 10_000, 1).number for _ in range(100)) == 0
    assert len(reader._rest) < 100
    assert reader.receive(b"\n[G]\n", 1).number == 1


def test_there_are_two_versions() -> None:
    with pytest.raises(ValueError, match="version"):
        PingReader(3)


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
