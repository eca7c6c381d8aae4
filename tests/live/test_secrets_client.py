"""The guard masks the client's lines up to the end of the login, and later its secrets, and nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.live.secrets.client import SecretGuard
from recorder.live.secrets.typed import TimedBytes, corrected
from recorder.wire.timeseal import PING_ANSWER, seal, unseal
from tests.live.dialogues import NAME, PASSWORD, WILL, WONT

COMMANDS: list[tuple[bytes, bytes]] = [
    (b"$set style 12", b"$set style 12"),
    (b"tell Bob my password is mine", b"tell Bob my password is mine"),
    (b"12 observe 3", b"12 observe 3"),
    (b"kibitz d\xc3\xa9j\xc3\xa0 vu", b"kibitz d\xc3\xa9j\xc3\xa0 vu"),
    (b"addplayer Bob b@x.org Bob Bear", b"addplayer Bob b@x.org Bob Bear"),
    (b"su Bob is here", b"su Bob is here"),
    (b"", b""),
    (b"password old " + PASSWORD, b"password *** " + b"*" * len(PASSWORD)),
    (b"$$pass " + PASSWORD + b" " + PASSWORD, b"$$pass " + b"*" * len(PASSWORD) + b" " + b"*" * len(PASSWORD)),
    (b"3 passw " + PASSWORD + b" b", b"3 passw " + b"*" * len(PASSWORD) + b" *"),
    (b"`x9`password a b", b"`x9`password * *"),
    (b"/set password " + PASSWORD, b"/set password " + b"*" * len(PASSWORD)),
    (b"passwd old " + PASSWORD, b"passwd *** " + b"*" * len(PASSWORD)),
    (b"chpass old " + PASSWORD, b"chpass *** " + b"*" * len(PASSWORD)),
    (b"set passwd " + PASSWORD, b"set passwd " + b"*" * len(PASSWORD)),
    (b"set-quietly password " + PASSWORD, b"set-quietly password " + b"*" * len(PASSWORD)),
    (b"asetpasswd Bob " + PASSWORD, b"asetpasswd Bob " + b"*" * len(PASSWORD)),
    (b"register Bob b@x.org " + PASSWORD, b"register Bob b@x.org " + b"*" * len(PASSWORD)),
    (b"su Bob " + PASSWORD, b"su Bob " + b"*" * len(PASSWORD)),
    (b"login Bob " + PASSWORD, b"login Bob " + b"*" * len(PASSWORD)),
    (b"alias p password old " + PASSWORD, b"alias p password *** " + b"*" * len(PASSWORD)),
    (b"multi pass " + PASSWORD, b"multi pass " + b"*" * len(PASSWORD)),
    (b"passed pawns win", b"passed pawns win"),
]


class Wire:
    """Feeds a guard and keeps what it returns; checks that each byte keeps its time and its place."""

    def __init__(self) -> None:
        self.guard = SecretGuard()
        self.sent: list[tuple[int, bytes]] = []
        self.out: list[TimedBytes] = []
        self.clock = 0

    def server(self, data: bytes) -> None:
        self.clock += 1
        self.out += self.guard.server_sent(data)

    def client(self, data: bytes) -> None:
        self.clock += 1
        self.sent.append((self.clock, data))
        self.out += self.guard.client_sent(data, self.clock)

    def finish(self) -> bytes:
        self.out += self.guard.finish()
        typed = [(at, byte) for at, data in self.sent for byte in data]
        found = [(at, byte) for at, data in self.out for byte in data]
        assert [at for at, _ in found] == [at for at, _ in typed]
        assert all(a == b or b == ord("*") for (_, a), (_, b) in zip(typed, found, strict=True))
        return b"".join(data for _, data in self.out)


IN = ("<", b"login: "), (">", b"Ann\n"), ("<", b"\n**** Starting FICS session as Ann ****\nfics% ")


def kept_of(*parts: tuple[str, bytes]) -> bytes:
    """Return what is kept of a client, in a script of ``<`` (server) and ``>`` (client)."""
    wire = Wire()
    for side, data in parts:
        (wire.server if side == "<" else wire.client)(data)
    return wire.finish()


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ([("<", b"login: "), (">", b"Ann\nsecret\nwho\n")], b"***\n******\n***\n"),
        ([*IN, (">", b"who\n")], b"***\nwho\n"),
        ([("<", b"fics% "), (">", b"who\n"), ("<", b"fics% "), (">", b"who\n")], b"***\nwho\n"),
        ([("<", b"<12> x\n"), (">", b"who\n"), ("<", b"\n<12> x\n"), (">", b"who\n")], b"***\nwho\n"),
        ([("<", b"login: "), (">", b"A\nb\n"), ("<", b"Style 12 set.\n"), (">", b"who\n")], b"*\n*\nwho\n"),
        # questions after the login; a prompt or board after an answer ends them
        ([*IN, ("<", b"\nEnter your new password: "), (">", b"secret\nwho\n")], b"***\n******\n***\n"),
        ([*IN, ("<", b"\nNew password: "), (">", b"a\n"), ("<", b"\nfics% "), (">", b"who\n")], b"***\n*\nwho\n"),
        ([*IN, ("<", b"\nNew password: "), ("<", b"\nfics% "), (">", b"a\nb\n")], b"***\n*\n*\n"),
        ([*IN, ("<", b"\n" + WILL + b"Neu "), (">", b"secret\nwho\n")], b"***\n******\n***\n"),
        ([*IN, ("<", b"\nYour reply? "), (">", b"yes\n"), ("<", b"\nfics% "), (">", b"who\n")], b"***\n***\nwho\n"),
        ([*IN, ("<", b"\nBob(1500) kibitzes: password: \nfics% "), (">", b"who\n")], b"***\nwho\n"),
        ([*IN, ("<", b"\nfics% Bob tells you: pass"), (">", b"who\n"), ("<", b"word\nfics% ")], b"***\nwho\n"),
        ([*IN, (">", b"password\nold\n"), ("<", b"usage\nfics% "), (">", b"who\n")], b"***\npassword\n***\nwho\n"),
        ([*IN, (">", b"quit\nBob\nsecret\n"), ("<", b"\nlogin: ")], b"***\nquit\n***\n******\n"),
        # a line that began before the login is complete
        ([("<", b"login: "), (">", b"Ann\nhun"), IN[2], (">", b"ter2\nwho\n")], b"***\n*******\nwho\n"),
        ([("<", b"login: "), (">", b"Ann\nhunt"), IN[2]], b"***\n****"),
        # telnet's answers keep their places; corrections of a terminal, zipseal's stamps, unreadable bytes
        ([("<", b"login: "), (">", b"\xff\xfd\x01secret\n")], b"\xff\xfd\x01******\n"),
        ([*IN, (">", b"pass\xff\xfd\x01 a b\n")], b"***\n****\xff\xfd\x01 * *\n"),
        ([*IN, (">", b"pax\x08ssword a b\nwhx\x08o\n")], b"***\n***\x08****** * *\nwhx\x08o\n"),
        ([*IN, (">", b"password a b\x181f\nwho\x1820\n")], b"***\npassword * *\x181f\nwho\x1820\n"),
        ([*IN, (">", b"\x00\x01\n" + b"\xc1" * 12 + b"\x80\n")], b"***\n**\n" + b"*" * 13 + b"\n"),
        ([*IN, (">", b"password a b")], b"***\npassword * *"),
        ([*IN, (">", seal(b"password a b", 1))], b"***\n" + b"*" * 25 + b"\n"),
        ([*IN, (">", seal(PING_ANSWER, 5) + seal(b"who", 6))], b"***\n" + seal(PING_ANSWER, 5) + seal(b"who", 6)),
        ([*IN, ("<", b"password: "), (">", seal(PING_ANSWER, 5)), ("<", b"\nfics% "), (">", b"secret\n")],
         b"***\n" + seal(PING_ANSWER, 5) + b"******\n"),
        # lines that end by CR alone, or CR NUL, and their other halves
        ([*IN, (">", b"who\r"), ("<", b"\nfics% "), (">", b"\ndate\r\n")], b"***\nwho\r\ndate\r\n"),
        ([*IN, (">", b"who\rpassword a b\rmoves\r")], b"***\nwho\rpassword * *\rmoves\r"),
        ([*IN, (">", b"who\r\0date\r\0")], b"***\nwho\r\0date\r\0"),
        ([("<", b"login: "), (">", b"Ann\r"), ("<", b"\nNew password: "), (">", b"\nsecret\r")], b"***\r\n******\r"),
    ],
)  # fmt: skip
def test_scripts_and_the_bytes_kept_of_them(parts: list[tuple[str, bytes]], kept: bytes) -> None:
    assert kept_of(*parts) == kept


@pytest.mark.parametrize(("typed", "kept"), COMMANDS, ids=lambda line: line.decode()[:20])
def test_secrets_of_commands_and_nothing_else_is_masked(typed: bytes, kept: bytes) -> None:
    assert kept_of(*IN, (">", typed + b"\r\n")) == b"***\n" + kept + b"\r\n"


def test_endless_lines_take_bounded_memory_and_are_masked() -> None:
    wire = Wire()
    wire.server(b"login: ")
    for _ in range(20):
        wire.client(b"x" * 9_999 + b"\n")
    wire.server(IN[2][1])
    wire.client(b"who\n")
    for _ in range(20):
        wire.client(b"y" * 10_000)
    assert sum(len(data) for _, data in wire.out) >= 200_000 + 4 + 130_000
    wire.client(b" secret\nwho\n")
    kept = wire.finish()
    assert kept.count(b"who\n") == 2
    assert not kept.replace(b"who\n", b"").strip(b"* \n")


@given(st.text("ab \x08\x7f", max_size=30).map(str.encode))
def test_a_terminals_corrections(text: bytes) -> None:
    kept = text
    while (shorter := re.sub(rb"[^\x08\x7f][\x08\x7f]|^[\x08\x7f]+", b"", kept)) != kept:
        kept = shorter
    assert corrected(text) == kept


@given(st.lists(st.tuples(st.sampled_from("<>"), st.binary(max_size=30) | st.sampled_from(
    [b"login: ", b"password: ", b"fics% ", b"\n", WILL, WONT, b'"Ann" is a registered name. x\n', NAME, seal(NAME, 1)]
))))  # fmt: skip
def test_every_byte_is_kept_or_masked(parts: list[tuple[str, bytes]]) -> None:
    kept = kept_of(*parts)
    assert (
        not any((unseal(line) or (b"",))[0] == NAME for line in kept.split(b"\n")) or b"fics% " in dict(parts).values()
    )


def test_a_recorder_that_has_logged_in_answers_no_question() -> None:
    """It knows when its login is complete, also on a server whose prompts and greeting are unknown."""
    wire = Wire()
    for text in (b"? ", b"> "):
        wire.server(text)
        wire.client(b"Ann\n")
    wire.server(b"\r\nhi\r\n$ ")
    wire.guard.enter("Ann")
    wire.client(b"set style 12\n")
    wire.server(b"\r\n$ Bob(C): what is your password?")
    wire.client(b"observe 7\n")
    assert wire.finish() == b"***\n***\nset style 12\nobserve 7\n"


def test_an_answer_to_a_question_after_the_login_is_no_secret_of_the_connection() -> None:
    guard = SecretGuard()
    for side, text in [*IN, ("<", b"\r\nAre you sure? "), (">", b"yes\n")]:
        if side == "<":
            guard.server_sent(text)
        else:
            guard.client_sent(text, 1)
    answer = b"yesterday: yes\r\nfics% "
    assert b"".join(data for _, data in guard.answers.receive(answer)) == answer
