"""Telnet commands."""

from __future__ import annotations

import pytest

from recorder.wire.controls import TelnetFilter


@pytest.mark.parametrize(
    ("data", "pieces", "rest"),
    [
        (b"ab", [(b"ab", 10)], b""),
        (b"a\xff\xfb\x01b", [(b"a", 10), (b"b", 14)], b""),
        (b"\xff\xf1b", [(b"b", 12)], b""),
        (b"\xff\xffb", [(b"\xff", 11), (b"b", 12)], b""),
        (b"\xffb", [(b"\xff", 10), (b"b", 11)], b""),
        (b"a\xff", [(b"a", 10)], b"\xff"),
        (b"a\xff\xfc", [(b"a", 10)], b"\xff\xfc"),
    ],
)
def test_commands(data: bytes, pieces: list[tuple[bytes, int]], rest: bytes) -> None:
    telnet = TelnetFilter()
    assert list(telnet.receive(data, 10)) == pieces
    assert telnet.rest == rest
    assert not rest or telnet.rest_offset == 11


def test_a_command_over_two_chunks() -> None:
    telnet = TelnetFilter()
    assert list(telnet.receive(b"\xff\xfb", 0)) == []
    assert list(telnet.receive(b"\x01a", 2)) == [(b"a", 3)]
