"""Passwords that a server repeats, in its answers to commands."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.live.secrets.client import AnswerGuard


def kept_of(guard: AnswerGuard, *pieces: bytes) -> bytes:
    """Return the kept text of bytes that arrive in these pieces."""
    release = [release for piece in pieces for release in guard.receive(piece)] + guard.finish()
    return b"".join(data for _, data in release)


@pytest.mark.parametrize(
    ("printed", "kept"),
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
def test_a_password_that_the_server_repeats(printed: bytes, kept: bytes) -> None:
    for cut in range(len(printed) + 1):
        guard = AnswerGuard()
        assert kept_of(guard, printed[:cut], printed[cut:]) == kept
    guard = AnswerGuard()
    assert kept_of(guard, *(bytes((byte,)) for byte in printed)) == kept


@given(
    st.lists(
        st.binary(max_size=20).map(lambda data: data.replace(b"\xff", b""))  # a telnet command that is cut is filled
        | st.sampled_from(
            [b"Password changed to ", b"Added: >a< >b< >c< >", b"\n", b"fics% ", b"\x19(114 ", b"\x19", b")"]
        )
    )
)
def test_answers_stay_as_long_and_cuts_never_matter(parts: list[bytes]) -> None:
    guard, whole = AnswerGuard(), AnswerGuard()
    kept = kept_of(guard, *parts)
    assert len(kept) == sum(map(len, parts))
    assert kept.splitlines()[:1] == kept_of(whole, b"".join(parts)).splitlines()[:1]


@pytest.mark.parametrize("seed", range(200))
def test_the_servers_answer_has_no_secret_however_it_is_cut(seed: int) -> None:
    dice = random.Random(seed)
    ahead = dice.choice([0, 1, 2, 5, 200])
    answer = b"x" * ahead + b"\n\rhunter2: Command not found.\n\rfics% hunter2 \n\r"
    guard = AnswerGuard()
    guard.receive(b"hunter2 before it was typed\n\r")
    guard.expect(b"hunter2")
    pieces = []
    done = 0
    while done < len(answer):
        size = dice.choice([1, 2, 5, 50])
        pieces.append(answer[done : done + size])
        done += size
    out = kept_of(guard, *pieces)
    assert len(out) == len(answer)
    assert b"hunter2" not in out
    assert b"unter2" not in out
    assert b"nter2" not in out
    assert out.startswith(b"x" * ahead + b"\n\r")
    assert b": Command not found.\n\rfics% " in out


def test_the_server_is_looked_at_only_for_a_while() -> None:
    guard = AnswerGuard()
    guard.expect(b"hunter2")
    assert kept_of(guard, b"hunter2 " + b"x" * 5000) == b"******* " + b"x" * 5000
    assert kept_of(guard, b"hunter2") == b"hunter2"


PASSWORD = b"Hunter22"
HIDDEN = b"********"


def knowing(*passwords: bytes) -> AnswerGuard:
    guard = AnswerGuard()
    for password in passwords or (PASSWORD,):
        guard.learn(password)
    return guard


@pytest.mark.parametrize("later", [0, 5 << 10, 1 << 20])
def test_the_password_of_the_connection_is_masked_however_much_later_it_is_repeated(later: int) -> None:
    guard = knowing()
    guard.expect(PASSWORD)
    line = b"fics% Ann tells you: Hunter22\n\r"
    text = b"\n\rfics% Bob tells you: hello there\n\r" * (later // 36)
    assert kept_of(guard, text, line) == text + line.replace(PASSWORD, HIDDEN)


@pytest.mark.parametrize("begun", [b"abc " * 1024 + b"x", b"x" * 5000, b"Bob tells you: " * 600])
def test_the_password_is_masked_far_behind_the_beginning_of_an_endless_line(begun: bytes) -> None:
    read = [begun, *(bytes([one]) for one in b" Hunter22 and (Hunter22)\n")]
    assert kept_of(knowing(), *read) == begun + b" ******** and (********)\n"


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        (b'it is "Hunter22".\n', b'it is "********".\n'),
        (b"(Hunter22) [Hunter22], <Hunter22>: ...Hunter22!\n", b"(********) [********], <********>: ...********!\n"),
        (b"\x07Hunter22\x00Hunter22\x1b[1mHunter22\x1b[0m", b"\x07********\x00********\x1b[1m********\x1b[0m"),
        (b"\xff\xfb\x01Hunter22\xff\xf9", b"\xff\xfb\x01********\xff\xf9"),
        (b"Hunter22", b"********"),
        (b"aHunter22 Hunter222 hunter22 Hunter-22 x.Hunter22", b"aHunter22 Hunter222 ******** Hunter-22 x.Hunter22"),
        (b"<12>Hunter22 {Hunter22} 1. Hunter22\n", b"<12>Hunter22 {********} 1. ********\n"),
        (b"1. Bob at noon: Hunter22\n", b"1. Bob at noon: ********\n"),
        (b"Bob tells you: <12> {Game 1 ( Hunter22\n", b"Bob tells you: <12> {Game 1 ( ********\n"),
    ],
)
def test_only_whole_words_are_masked_wherever_reads_are_cut(printed: bytes, kept: bytes) -> None:
    for cut in range(len(printed) + 1):
        assert kept_of(knowing(), b" ", printed[:cut], printed[cut:]) == b" " + kept
    assert kept_of(knowing(), b" ", *(bytes((byte,)) for byte in printed)) == b" " + kept


def test_punctuation_belongs_to_a_password_that_has_it() -> None:
    printed = b'"!Hunter22!" !Hunter22!, Hunter22!\n'
    assert kept_of(knowing(b"!Hunter22!"), printed) == b'"**********" **********, Hunter22!\n'


BOARD = b"<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 7 "


@pytest.mark.parametrize(
    "line",
    [
        BOARD + b"Hunter22 Bob 0 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 0 0 0\n\r",
        b"fics% " + BOARD + b"Ann Hunter22 0 5 0 39 39 300 300 1 none (0:00) none 0 0 0\n\r",
        b"<b1> game 7 white [Hunter22] black []\n\r",
        b"<d1> 7 3 Hunter22 e2e4 100 300000\n\r",
        b"<g1> 7 p=0 t=blitz Hunter22\n\r",
        b"{Game 7 (Hunter22 vs. Bob) Hunter22 resigns} 0-1\n\r",
        b"\x07fics% {Game 7 (Hunter22 vs. Bob) Creating rated blitz match.}\n\r",
        b"Game 7: Hunter22 (1500) Bob (1600) rated blitz 5 0\n\r",
        b"Creating: Hunter22 (1500) Bob (++++) unrated blitz 5 0\n\r",
        b"Hunter22 (1500) vs. Bob ( 950) --- Mon Nov  4, 08:38 CET 2002\n\r",
        b"Move  Hunter22           Bob\n\r",
        b"  1.  e4     (0:00)     Hunter22 (0:00)\n\r",
        b"      {Hunter22 resigns} 0-1\n\r",
    ],
)
def test_lines_about_a_game_stay_unchanged(line: bytes) -> None:
    for cut in range(len(line) + 1):
        guard = knowing()
        guard.expect(PASSWORD)
        pieces = (b"\n\r", line[:cut], line[cut:], b"Hunter22 tells you: 1\n\r")
        assert kept_of(guard, *pieces) == b"\n\r" + line + b"******** tells you: 1\n\r"


def test_a_short_password_is_masked_only_where_the_server_echoes_it() -> None:
    guard = knowing(b"piano")
    guard.expect(b"piano")
    text = b"fics% piano: Command not found.\n\r" + b"\n\rfics% hello there" * 300 + b"piano\n\r"
    assert kept_of(guard, text[:100], text[100:]) == text.replace(b"piano:", b"*****:")


def test_complete_lines_never_wait_and_one_with_a_cut_word_waits_briefly() -> None:
    guard = knowing()
    line = BOARD + b"Ann Bob 0 5 0 39 39 300 300 1 none (0:00) none 0 0 0\n\r"
    assert guard.receive(line, 1) == [(1, line)]
    assert guard.receive(b"\n\rfics% ", 2) == [(2, b"\n\rfics% ")]
    assert guard.receive(b"\xff\xf9", 3) == [(3, b"\xff\xf9")]
    assert guard.receive(b"a word that is longer: " + b"x" * 17, 4) == [(4, b"a word that is longer: " + b"x" * 17)]
    assert guard.receive(b" (Hunt", 5) == []
    assert guard.receive(b"er22", 6) == []
    assert guard.receive(b")", 6) == []
    assert guard.receive(b"\n\ryes", 7) == [(5, b" (****"), (6, b"****"), (6, b")"), (7, b"\n")]
    assert guard.tick(300_000_006) == []
    assert guard.tick(300_000_007) == [(7, b"\ryes")]
    assert guard.receive(b"Hunter22 ", 8) == [(8, b"Hunter22 ")], "the end of another word"
    assert guard.finish() == []


@given(
    st.lists(
        st.sampled_from(
            [PASSWORD, b"Hunter", b"22", b" ", b"\n", b"\n\r", b".", b'"', b"<12> ", b"fics% ", b"\xff", b"x"]
        ),
        max_size=20,
    ),
    st.lists(st.integers(1, 9)),
)
def test_cuts_never_matter_and_no_byte_is_added_or_lost(parts: list[bytes], sizes: list[int]) -> None:
    text = b"".join(parts)
    pieces, done = [], 0
    for size in sizes:
        pieces.append(text[done : done + size])
        done += size
    kept = kept_of(knowing(), *pieces, text[done:])
    assert kept == kept_of(knowing(), text)
    assert len(kept) == len(text)
    assert all(a == b or b == ord("*") for a, b in zip(text, kept, strict=True))
