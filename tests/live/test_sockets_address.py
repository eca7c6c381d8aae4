from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.live.net.sockets import Address, format_address, parse_address

PAIRS = [
    ("freechess.org:5000", Address("freechess.org", 5000)),
    ("127.0.0.1:0", Address("127.0.0.1", 0)),
    ("[::1]:5001", Address("::1", 5001)),
]


@pytest.mark.parametrize(("text", "address"), PAIRS)
def test_reads_and_writes(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert format_address(address) == text


@pytest.mark.parametrize("text", ["chess.example", "::1", "[::1]"])
def test_the_port_may_be_omitted_if_there_is_a_default(text: str) -> None:
    assert parse_address(text, 5000) == Address(text.strip("[]"), 5000)
    with pytest.raises(ValueError, match="has no port"):
        parse_address(text)


def test_a_number_alone_is_a_port_if_there_is_a_default_host() -> None:
    assert parse_address("6124", None, "127.0.0.1") == Address("127.0.0.1", 6124)
    with pytest.raises(ValueError, match="'6124' is a port without a host; write HOST:6124"):
        parse_address("6124", 5000)
    with pytest.raises(ValueError, match="ports go up to 65535"):
        parse_address("65536", None, "127.0.0.1")


@pytest.mark.parametrize("text", ["", ":5000", "a b:1", "host:", "host:x", "host:65536", "[::1:5", "a:b:c", "[]:1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write HOST:PORT|ports go up"):
        parse_address(text, 5000)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        address = parse_address(text, 5000)
    except ValueError:
        return
    assert parse_address(format_address(address)) == address
