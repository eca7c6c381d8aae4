"""Passwords that a server repeats, in its answers to commands."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.live.answers import AnswerGuard


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (b'fics% Password changed to "se cret".\n\rfics% ', b"fics% Password changed to *** ******\n\rfics% "),
        (b"\n\rPassword changed from a to secret.\n\rx", b"\n\rPassword changed from * ** *******\n\rx"),
        (b"\n\rAdded: >Bob< >Bob B< >b@x.org< >hunter<\n\rx", b"\n\rAdded: >Bob< >Bob B< >b@x.org< >*******\n\rx"),
        (
            b"Added: >Bob< >" + b"B" * 600 + b"< >b@x< >hunter<\n",
            b"Added: >Bob< >" + b"B" * 600 + b"< >b@x< >*******\n",
        ),
        (b"Bob tells you: Added: >a< >b< >c< >d<\n", b"Bob tells you: Added: >a< >b< >c< >d<\n"),
        (b"password of Ann changed to \xe9x", b"password of Ann changed to **"),
        (b"Bob tells you: password changed to x\n", b"Bob tells you: password changed to x\n"),
        (b"<12> x" * 100 + b" password changed to x\n", b"<12> x" * 100 + b" password changed to x\n"),
        (b"Incorrect password, password not changed!\n", b"Incorrect password, password not changed!\n"),
        (
            b"\x19(0 Ann {}\x19)\x19(114 hunter2 Ann\x19)\x19(24 7 e4\x19)",
            b"\x19(0 Ann {}\x19)\x19(114 ******* ***\x19)\x19(24 7 e4\x19)",
        ),
        (
            b"\x19(93 \x19{a b)\x19}\x19) \x19(134 q1 {ia/0a}\x19) x",
            b"\x19(93 \x19{* **\x19}\x19) \x19(134 ** {*****}\x19) x",
        ),
        (b"\x19(26 7 Ann {} 1 \x19{(114 x y)\x19}\x19)\n", b"\x19(26 7 Ann {} 1 \x19{(114 x y)\x19}\x19)\n"),
    ],
)
def test_a_password_that_the_server_repeats(said: bytes, kept: bytes) -> None:
    for cut in range(len(said) + 1):
        guard = AnswerGuard()
        assert guard.receive(said[:cut]) + guard.receive(said[cut:]) == kept
    guard = AnswerGuard()
    assert b"".join(guard.receive(bytes((byte,))) for byte in said) == kept


@given(
    st.lists(
        st.binary(max_size=20)
        | st.sampled_from(
            [b"Password changed to ", b"Added: >a< >b< >c< >", b"\n", b"fics% ", b"\x19(114 ", b"\x19", b")"]
        )
    )
)
def test_answers_stay_as_long_and_cuts_never_matter(parts: list[bytes]) -> None:
    guard, whole = AnswerGuard(), AnswerGuard()
    kept = b"".join(map(guard.receive, parts))
    assert len(kept) == sum(map(len, parts))
    assert kept.splitlines()[:1] == whole.receive(b"".join(parts)).splitlines()[:1]


@pytest.mark.parametrize("seed", range(200))
def test_the_servers_answer_has_no_secret_however_it_is_cut(seed: int) -> None:
    dice = random.Random(seed)
    ahead = dice.choice([0, 1, 2, 5, 200])
    answer = b"x" * ahead + b"\n\rhunter2: Command not found.\n\rfics% hunter2 \n\r"
    guard = AnswerGuard()
    guard.receive(b"hunter2 before it was typed\n\r")
    guard.expect(b"hunter2")
    out = b""
    done = 0
    while done < len(answer):
        size = dice.choice([1, 2, 5, 50])
        out += guard.receive(answer[done : done + size])
        done += size
    assert len(out) == len(answer)
    assert b"hunter2" not in out
    assert b"unter2" not in out
    assert b"nter2" not in out
    assert out.startswith(b"x" * ahead + b"\n\r")
    assert b": Command not found.\n\rfics% " in out


def test_the_server_is_looked_at_only_for_a_while() -> None:
    guard = AnswerGuard()
    guard.expect(b"hunter2")
    assert guard.receive(b"hunter2 " + b"x" * 5000) == b"******* " + b"x" * 5000
    assert guard.receive(b"hunter2") == b"hunter2"
