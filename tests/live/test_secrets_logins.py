"""No login dialogue leaves a password in the journal, however it is cut."""

import random
import re
from collections.abc import Callable, Iterator
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.live.recording import RecordedConnection
from recorder.wire.timeseal import seal
from tests.live.hostile import Dialogue
from tests.live.logins import FORBIDDEN, LOGINS, SECRETS, C, S, Script
from tests.live.test_recording import FakeJournal
from tests.support.effort import long_after

SLOW = "password of many bytes"
QUICK_FIRST = [pytest.param(name, id=name, marks=[pytest.mark.long] * (name == SLOW)) for name in LOGINS]


def whole(text: bytes) -> Iterator[bytes]:
    yield text


def by_byte(text: bytes) -> Iterator[bytes]:
    yield from (text[at : at + 1] for at in range(len(text)))


def by_three(text: bytes) -> Iterator[bytes]:
    yield from (text[at : at + 3] for at in range(0, len(text), 3))


def recorded(script: Script, cut: Callable[[bytes], Iterator[bytes]], pause_ns: int = 0) -> tuple[bytes, bytes]:
    """Play a dialogue; return what the journal has of the server and of the client."""
    journal = FakeJournal()
    recording = RecordedConnection(journal, lambda _sentence: None)
    now_ns = 0
    for side, text in script:
        for piece in cut(text):
            now_ns += pause_ns + 1
            (recording.server_sent if side == S else recording.client_sent)(piece, now_ns)
            journal.now = now_ns
            recording.tick()
    recording.close()
    received, sent = (b"".join(what[1] for what in journal.wrote if what[0] == mark) for mark in "<>")
    assert len(received) == sum(len(text) for side, text in script if side == S)
    assert len(sent) == sum(len(text) for side, text in script if side == C)
    return received, sent


def assert_hidden(received: bytes, sent: bytes) -> None:
    for secret in FORBIDDEN:
        assert secret not in received
        assert secret not in sent


@pytest.mark.parametrize("name", QUICK_FIRST)
def test_no_password_is_in_the_journal(name: str) -> None:
    for cut in (whole, by_three, by_byte):
        assert_hidden(*recorded(LOGINS[name], cut))


@given(st.sampled_from(sorted(LOGINS.keys() - {SLOW})), st.lists(st.integers(1, 40), min_size=1, max_size=9))
def test_no_password_is_in_the_journal_whatever_the_sizes_of_reads(name: str, sizes: list[int]) -> None:
    turn = cycle(sizes)

    def cut(text: bytes) -> Iterator[bytes]:
        while text:
            size = next(turn)
            yield text[:size]
            text = text[size:]

    assert_hidden(*recorded(LOGINS[name], cut))


@pytest.mark.parametrize("name", [name for name in QUICK_FIRST if not re.search("as a command|later", name.id)])
def test_a_server_may_pause_within_a_password_before_the_login_is_complete(name: str) -> None:
    """After it, half a word is written after 0.3 s."""
    assert_hidden(*recorded(LOGINS[name], by_byte, pause_ns=400_000_000))


@pytest.mark.parametrize("name", LOGINS)
def test_the_handle_that_logs_in_is_named(name: str) -> None:
    """The line that names it, or the last one that repeats it as a name, is as the server printed it."""
    received, _ = recorded(LOGINS[name], whole)
    printed = b"".join(text for side, text in LOGINS[name] if side == S)
    for line in printed.splitlines():
        if line.startswith(b"**** Starting "):
            assert line in received
    if b"**** Starting " not in printed and b"Bem-vindo" in printed and b"is a registered name" in printed:
        assert b'"Ann" is a registered name' in received


@pytest.mark.parametrize("name", [name for name, script in LOGINS.items() if all(text.isascii() for _, text in script)])
def test_no_password_is_in_the_journal_of_a_sealed_connection(name: str) -> None:
    script = [
        (side, text if side == S else b"".join(seal(line.rstrip(b"\r\0"), 17) for line in text.splitlines()))
        for side, text in LOGINS[name]
    ]
    received, sent = recorded(script, whole)
    assert_hidden(received, sent)
    for secret in SECRETS.values():
        assert seal(secret, 17)[:-2] not in sent


@pytest.mark.parametrize("ended", [b"\n", b"\r\n"])
def test_an_echo_of_each_byte_is_masked_before_the_line_is_complete(ended: bytes) -> None:
    script: Script = [(S, b"login: ")]
    for word, after in ((b"Ann", b"Geheimnis: "), (SECRETS[b"PW"], b"**** Starting session as Ann ****\r\nfics% ")):
        for byte in by_byte(word):
            script += [(C, byte), (S, byte)]
        script += [(C, ended), (S, b"\r\n" + after)]
    received, sent = recorded(script, whole, pause_ns=400_000_000)
    assert received == b"login: ***\r\nGeheimnis: **************\r\n**** Starting session as Ann ****\r\nfics% "
    assert sent == b"***" + ended + b"*" * len(SECRETS[b"PW"]) + ended


@pytest.mark.parametrize("first", long_after(2, range(0, 1000, 25)))
def test_no_random_dialogue_leaves_a_password(first: int) -> None:
    for seed in range(first, first + 25):
        dialogue, sizes = Dialogue(seed), random.Random(seed)

        def anyhow(text: bytes, sizes: random.Random = sizes) -> Iterator[bytes]:
            while text:
                size = sizes.randrange(1, 20)
                yield text[:size]
                text = text[size:]

        assert dialogue.secrets
        for cut in (whole, by_byte, anyhow):
            received, sent = recorded(dialogue.script, cut)
            assert not [secret for secret in dialogue.secrets if secret in received + b"\n" + sent], seed


@pytest.mark.parametrize("password", [b"session", b"chess", b"the", b"rnbqkbnr", b"Starting", b"1-0"])
def test_a_password_that_is_a_word_of_the_server_damages_no_line_of_a_game(password: bytes) -> None:
    for seed in (101, 127, 235, 359, 500):
        script = Dialogue(seed, password=password).script
        printed = b"".join(text for side, text in script if side == S)
        received, sent = recorded(script, by_byte)
        for line in (b"**** Starting FICS session as", b"<12> rnbqkbnr pppppppp"):
            assert received.count(line) == printed.count(line)
        assert password + b"\n" not in sent.replace(b"\r", b"\n")
