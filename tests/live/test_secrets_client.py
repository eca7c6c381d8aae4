"""The guard masks the client's secrets and leaves everything else unchanged."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.live.secrets.client import Release, SecretGuard
from recorder.live.secrets.typed import corrected
from recorder.sources.secrets import fill
from recorder.wire.timeseal import format_hello, seal, unseal
from tests.live.dialogues import DIALOGUES, NAME, PASSWORD, WILL, WONT, Step
from tests.support.effort import examples

COMMANDS: list[tuple[bytes, bytes]] = [
    (b"$set style 12", b"$set style 12"),
    (b"password old " + PASSWORD, b"password *** " + b"*" * len(PASSWORD)),
    (b"tell Bob my password is mine", b"tell Bob my password is mine"),
    (b"$$pass " + PASSWORD + b" " + PASSWORD, b"$$pass " + b"*" * len(PASSWORD) + b" " + b"*" * len(PASSWORD)),
    (b"3 passw " + PASSWORD + b" b", b"3 passw " + b"*" * len(PASSWORD) + b" *"),
    (b"12 observe 3", b"12 observe 3"),
    (b"`x9`password a b", b"`x9`password * *"),
    (b"/set password " + PASSWORD, b"/set password " + b"*" * len(PASSWORD)),
    (b"kibitz d\xc3\xa9j\xc3\xa0 vu", b"kibitz d\xc3\xa9j\xc3\xa0 vu"),
    (b"passwd old " + PASSWORD, b"passwd *** " + b"*" * len(PASSWORD)),
    (b"set passwd " + PASSWORD, b"set passwd " + b"*" * len(PASSWORD)),
    (b"set-quietly password " + PASSWORD, b"set-quietly password " + b"*" * len(PASSWORD)),
    (b"asetpasswd Bob " + PASSWORD, b"asetpasswd Bob " + b"*" * len(PASSWORD)),
    (b"register Bob b@x.org " + PASSWORD, b"register Bob b@x.org " + b"*" * len(PASSWORD)),
    (b"su Bob " + PASSWORD, b"su Bob " + b"*" * len(PASSWORD)),
    (b"addplayer Bob b@x.org Bob Bear", b"addplayer Bob b@x.org Bob Bear"),
    (b"su Bob is here", b"su Bob is here"),
    (b"alias p password old " + PASSWORD, b"alias p password *** " + b"*" * len(PASSWORD)),
    (b"multi pass " + PASSWORD, b"multi pass " + b"*" * len(PASSWORD)),
    (b"alias passwd finger", b"alias passwd finger"),
    (b"pass", b"pass"),
    (b"", b""),
    (b"passed pawns", b"passed pawns"),
]
# The server does not repeat these names, so they cannot be recognised as names.
UNTOLD = {"translated prompts"}


def seven_bits(data: bytes) -> bytes:
    return bytes(byte & 0x7F for byte in data)


def expected(steps: list[Step], name: str, sealed: bool, end: bytes) -> tuple[list[bytes], list[bytes | None]]:
    """Return the client's lines, and the text to keep of each; None: only its length."""
    pairs = []
    for number, step in enumerate(steps):
        if step.takes is not None:
            hidden = step.secret or (number == 0 and name in UNTOLD)
            pairs.append((step.takes, b"*" * len(step.takes) if hidden else step.takes))
    pairs += COMMANDS
    if not sealed:
        return [typed + end for typed, _ in pairs], [kept + end for _, kept in pairs]
    hello = seal(format_hello(1, "ann", "test"), 1)
    lines = [seal(seven_bits(typed), number) for number, (typed, _) in enumerate(pairs)]
    kept: list[bytes | None] = [line if a == b else None for line, (a, b) in zip(lines, pairs, strict=True)]
    return [hello, *lines], [hello, *kept]


def with_no_half(lines: list[bytes], kept: list[bytes | None], sent: int) -> list[bytes | None]:
    """Return the kept text if ``sent`` bytes were sent before the login: an unfinished line is unknown."""
    begin, out = 0, kept.copy()
    for number, line in enumerate(lines):
        half = line[: max(sent - begin, 0)]
        if half.strip() and not half.endswith((b"\r", b"\n")):
            opened = unseal(line.rstrip(b"\n"))
            out[number] = fill(line) if opened is None else None if opened[0] else line
        begin += len(line)
    return out


def cut(data: st.DataObject, whole: bytes) -> list[bytes]:
    places = data.draw(st.lists(st.integers(0, len(whole)), max_size=6).map(sorted))
    return [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


class Wire:
    """Feeds a guard and keeps the released bytes; checks their order at every moment."""

    def __init__(self) -> None:
        self.guard = SecretGuard()
        self.sent: list[tuple[int, int]] = []  # time and end offset
        self.size = 0
        self.clock = 0
        self.out: list[Release] = []

    def server(self, data: bytes) -> None:
        self.clock += 1
        self.out += self.guard.server_sent(data)

    def client(self, data: bytes) -> None:
        self.clock += 1
        self.size += len(data)
        self.sent.append((self.clock, self.size))
        self.out += self.guard.client_sent(data, self.clock)

    def finish(self) -> list[tuple[bytes, int]]:
        self.out += self.guard.finish()
        done = 0
        for release in self.out:
            assert bool(release.data) != bool(release.withheld)
            size = len(release.data) + release.withheld
            begin = next(at for at, end in self.sent if end > done)
            last = next(at for at, end in self.sent if end >= done + size)
            assert release.at_ns == begin == last
            done += size
        assert done == self.size
        return [(release.data, release.withheld) for release in self.out]


def flat(releases: list[tuple[bytes, int]]) -> list[bytes | None]:
    """Return one entry for each byte; None: withheld."""
    return [
        byte
        for data, count in releases
        for byte in ([data[i : i + 1] for i in range(len(data))] if data else [None] * count)
    ]


@pytest.mark.parametrize("name", DIALOGUES)
@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_every_login(name: str, data: st.DataObject) -> None:
    steps = DIALOGUES[name]
    sealed = data.draw(st.booleans(), "sealed")
    lines, kept = expected(steps, name, sealed, data.draw(st.sampled_from([b"\n", b"\r\n"])))
    stream = b"".join(lines)
    ends = [sum(map(len, lines[: number + 1])) for number in range(len(lines))]
    wire, sent, taken = Wire(), 0, -1 + sealed
    hasty = data.draw(st.booleans(), "types ahead")
    for step in steps:
        due = ends[taken] if taken >= 0 else 0  # the server has read this much before it sends this
        upto = max(due, sent)
        if hasty:
            upto = data.draw(st.sampled_from([upto, len(stream)]) | st.integers(upto, len(stream)))
        for piece in cut(data, stream[sent:upto]):
            wire.client(piece)
        sent = upto
        if step.takes is None:  # the login is complete
            kept = with_no_half(lines, kept, sent)
        for piece in cut(data, step.says):
            wire.server(piece)
        taken += 1
    for piece in cut(data, stream[sent:]):
        wire.client(piece)
    found = wire.finish()
    released = b"".join(part for part, _ in found)
    assert PASSWORD not in released
    assert b"".join((unseal(line) or (b"", 0))[0] for line in released.split(b"\n")).count(seven_bits(PASSWORD)) == 0
    want = flat([(b"", len(line)) if keep is None else (keep, 0) for line, keep in zip(lines, kept, strict=True)])
    assert flat(found) == want


def releases(*parts: tuple[str, bytes]) -> list[tuple[bytes, int]]:
    """Return the result of a script of ``<`` (server) and ``>`` (client), with joined pieces."""
    wire = Wire()
    for side, data in parts:
        (wire.server if side == "<" else wire.client)(data)
    joined: list[tuple[bytes, int]] = []
    for data, count in wire.finish():
        if joined and bool(joined[-1][1]) == bool(count):
            joined[-1] = (joined[-1][0] + data, joined[-1][1] + count)
        else:
            joined.append((data, count))
    return joined


CR = ("<", b"login: "), (">", b"Ann\r"), ("<", b'\n"Ann" is a registered name. x\npassword: ')
IN = ("<", b"login: "), (">", b"Ann\n"), ("<", b"\n**** Starting FICS session as Ann ****\nfics% ")


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ([("<", b"login: "), (">", b"Ann\nsecret\nwho\n")], [(b"", 15)]),
        ([(">", b"Ann\nsecret\n"), ("<", b"login: password: ")], [(b"", 11)]),
        # ICC: both on one line, with options before them
        (
            [
                ("<", b"login: "),
                (">", b"level1=5 Ann secret\n"),
                ("<", b"\r\n**** Starting ICC session as Ann ****\r\naics% "),
            ],
            [(b"level1=5 Ann ******\n", 0)],
        ),
        (
            [
                (">", b"level1=5\nlevel2settings=0110\nAnn\nsecret\nwho\n"),
                ("<", b"login: password: \r\n**** Starting ICC session as Ann ****\r\naics% "),
            ],
            [(b"level1=5\nlevel2settings=0110\nAnn\n******\nwho\n", 0)],
        ),
        # the same where a datagram asks for the password, and where it was wrong
        (
            [
                ("<", b"login: "),
                (">", b"level1=13\nAnn\n"),
                ("<", b"\x19(69 5 {Ann is a registered name.  If it is yours, type the password.}\x19)"),
                (">", b"secret\n"),
                ("<", b"\x19[0 *\r\n\x19(0 Ann {}\x19)\x19]"),
                (">", b"set-2 24 1\n"),
            ],
            [(b"level1=13\nAnn\n******\nset-2 24 1\n", 0)],
        ),
        (
            [
                *(("<", b"login: "), (">", b"Ann\n")),
                *(("<", b"\x19(69 5 {Ann is a registered name.}\x19)password: "), (">", b"hunter\n")),
                *(("<", b"\x19(69 11 {Invalid password.}\x19)login: "), (">", b"Ann\n")),
                *(("<", b"password: "), (">", b"secret\n"), ("<", b"\x19(0 Ann {}\x19)"), (">", b"who\n")),
            ],
            [(b"Ann\n******\nAnn\n******\nwho\n", 0)],
        ),
        # the variables of FICS, after which the server asks again, or does not
        (
            [
                (">", b"%b0110\nAnn\nsecret\nwho\n"),
                ("<", b'login: \nlogin: \n"Ann" is a registered name. x\npassword: \nfics% '),
            ],
            [(b"%b0110\nAnn\n******\nwho\n", 0)],
        ),
        # a name that the server does not accept; unknown prompts
        ([("<", b"login: "), (">", b"secret\n"), ("<", b"\nfics% ")], [(b"******\n", 0)]),
        ([(">", b"Ann\nsecret\n"), ("<", b"User? Key? \nfics% ")], [(b"***\n******\n", 0)]),
        # prompts after the login
        ([*IN, ("<", b"\nEnter your new password: "), (">", b"secret\nwho\n")], [(b"Ann\n******\nwho\n", 0)]),
        ([*IN, ("<", b"\n\xff\xfb\x01Neu? "), (">", b"secret\nwho\n")], [(b"Ann\n******\nwho\n", 0)]),
        ([*IN, ("<", WILL + WONT), (">", b"who\n")], [(b"Ann\nwho\n", 0)]),
        ([*IN, ("<", b"\nBob(1500) kibitzes: password: "), (">", b"who\n")], [(b"Ann\nwho\n", 0)]),
        ([*IN, ("<", b"\nlogin: what you type first\nfics% "), (">", b"who\n")], [(b"Ann\nwho\n", 0)]),
        # unfinished prompts, or prompts whose echo was never turned on again
        ([("<", WILL + b"login: "), (">", b"guest\nwho\n"), ("<", b"\nfics% ")], [(b"guest\nwho\n", 0)]),
        (
            [*IN, ("<", b"\n\xff\xfb\x01Neu? "), (">", b"first\n"), ("<", b"\nPassword: "), (">", b"second\nwho\n")],
            [(b"Ann\n*****\n******\nwho\n", 0)],
        ),
        (
            [
                ("<", b"login: "),
                (">", b"guest\n"),
                ("<", WILL + b"Senha: "),
                (">", b"first\n"),
                ("<", b"\nfics% \nNew password: "),
                (">", b"second\nwho\n"),
            ],
            [(b"guest\n*****\n******\nwho\n", 0)],
        ),
        (
            [
                ("<", b"login: "),
                (">", b"guest\n"),
                ("<", b"password: "),
                (">", b"first\n"),
                ("<", b"\nNo.\n" + WILL + b"Senha: "),
                (">", b"second\nwho\n"),
                ("<", WONT + b"\nfics% "),
            ],
            [(b"guest\n*****\n******\nwho\n", 0)],
        ),
        # a possible user-defined prompt before any question; a password equal to the name
        ([(">", b"Ann\nsecret\n"), ("<", b"50% ")], [(b"", 11)]),
        ([*IN[:1], (">", b"Ann ann\n"), *IN[2:]], [(b"Ann ***\n", 0)]),
        ([*IN, ("<", b"\nlogin: "), (">", b"Ann\n"), ("<", b"\nfics% ")], [(b"Ann\n***\n", 0)]),
        # another player on the same connection
        (
            [
                *IN,
                (">", b"quit\nBob\nsecret\nwho\n"),
                ("<", b"\nlogin: "),
                (">", b"Carl\nsecond\nwho\n"),
                ("<", b'\n"Carl" is a registered name. x\npassword: '),
            ],
            [(b"Ann\nquit\nBob\nsecret\nwho\n", 0), (b"", 16)],
        ),
        (
            [
                *IN,
                (">", b"quit\n"),
                ("<", b"\nlogin: "),
                (">", b"Carl\nsecond\nwho\n"),
                ("<", b'\n"Carl" is a registered name. x\npassword: \nfics% '),
                (">", b"games\n"),
            ],
            [(b"Ann\nquit\nCarl\n******\nwho\ngames\n", 0)],
        ),
        # telnet's answers keep their places
        (
            [
                ("<", b"login: "),
                (">", b"Ann\n"),
                ("<", b'"Ann" is a registered name. x\npassword: \xff\xfb\x01'),
                (">", b"\xff\xfd\x01secret\n"),
                ("<", b"\xff\xfc\x01\nfics% "),
                (">", b"\xff\xfe\x01who\n"),
            ],
            [(b"Ann\n\xff\xfd\x01******\n\xff\xfe\x01who\n", 0)],
        ),
        ([*IN, (">", b"pass\xff\xfd\x01 a b\n")], [(b"Ann\n", 0), (b"", 12)]),
        # corrections of a terminal, a time seal in clear text, unreadable bytes, an endless line
        ([*IN, (">", b"pax\x08ssword a b\nwhx\x08o\n")], [(b"Ann\n", 0), (b"", 15), (b"whx\x08o\n", 0)]),
        ([*IN, (">", b"password a b\x181f\nwho\x1820\n")], [(b"Ann\npassword * *\x181f\nwho\x1820\n", 0)]),
        ([*IN, (">", b"\x00\x01\n" + b"\xc1" * 12 + b"\x80\n")], [(b"Ann\n", 0), (b"", 17)]),
        ([*IN, (">", b"password a b")], [(b"Ann\npassword * *", 0)]),
        ([*IN, (">", b"who")], [(b"Ann\nwho", 0)]),
        ([*IN, (">", seal(b"password a b", 1)[:9])], [(b"Ann\n", 0), (b"", 9)]),
        ([*IN, (">", seal(b"\x029", 5) + seal(b"who", 6))], [(b"Ann\n" + seal(b"\x029", 5) + seal(b"who", 6), 0)]),
        # lines that end by CR alone, or CR NUL, and lines that the login has overtaken
        ([*CR, (">", b"hunter2\r"), IN[2], (">", b"who\r")], [(b"Ann\r*******\rwho\r", 0)]),
        ([*CR, (">", b"hunter2\r"), IN[2], (">", b"who\r\n")], [(b"Ann\r*******\rwho\r\n", 0)]),
        ([*CR, (">", b"hunter2\rwho\r"), IN[2]], [(b"Ann\r*******\rwho\r", 0)]),
        ([*CR, (">", b"hunter2\r"), IN[2], (">", b"\nwho\r\n")], [(b"Ann\r*******\r\nwho\r\n", 0)]),
        ([*CR, (">", b"hunter2\r\0"), IN[2], (">", b"who\r\0date\r\n")], [(b"Ann\r*******\r\0who\r\0date\r\n", 0)]),
        ([*CR, (">", b"hunter2\r"), IN[2], (">", b"\0who\n")], [(b"Ann\r*******\r\0who\n", 0)]),
        ([*CR, (">", b"hunter2\r"), IN[2], (">", b"who\rpassword a b\rmoves\r")],
         [(b"Ann\r*******\rwho\rpassword * *\rmoves\r", 0)]),
        ([*CR, (">", b"hunter2\r"), IN[2], (">", b"say hunter2\r")], [(b"Ann\r*******\rsay *******\r", 0)]),
        ([*CR, (">", b"hunt"), IN[2], (">", b"er2\nwho\n")], [(b"Ann\r*******\nwho\n", 0)]),
        ([*CR, (">", b"hunt"), IN[2]], [(b"Ann\r****", 0)]),
        ([(">", b"\n\rAnn\n\rhunter2\n\r"), *CR[::2], IN[2], (">", b"who\n\r")],
         [(b"\n\rAnn\n\r*******\n\rwho\n\r", 0)]),
        (
            [("<", b"login: "), (">", b"guest\n"), ("<", b'Press return to enter the server as "GuestABCD":\r\n'),
             (">", b"\nhunter2"), IN[2]],
            [(b"guest\n\n*******", 0)],
        ),
        ([*IN, ("<", b"password: "), (">", seal(b"\x029", 5) + b"secret\n")],
         [(b"Ann\n" + seal(b"\x029", 5) + b"******\n", 0)]),
    ],
)  # fmt: skip
def test_scripts_and_the_bytes_kept_of_them(parts: list[tuple[str, bytes]], kept: list[tuple[bytes, int]]) -> None:
    assert releases(*parts) == kept


def test_an_endless_login_and_endless_lines_take_bounded_memory() -> None:
    wire = Wire()
    wire.server(b"login: ")
    for _ in range(20):
        wire.client(b"x" * 9_999 + b"\n")
    assert sum(release.withheld for release in wire.out) > 100_000
    wire.server(b"\nfics% ")
    wire.client(b"who\n")
    for _ in range(20):
        wire.client(b"y" * 10_000)
    assert sum(release.withheld for release in wire.out) == 280_000
    wire.client(b" secret\nwho\n")
    wire.finish()
    released = b"".join(release.data for release in wire.out)
    assert released.count(b"who\n") == 2
    assert not released.replace(b"who\n", b"").strip(b"*\n")


def test_every_line_is_checked_quickly() -> None:
    """A client of the proxy that sends long lines must not delay the others."""
    guard = SecretGuard()
    guard.server_sent(b"login: ")
    guard.client_sent(b"Ann\n", 1)
    guard.server_sent(IN[2][1])
    for word in range(8):
        guard.client_sent(b"password secret%d\n" % word, 1)
    begin = time.process_time()
    for line in (b"a" * 2_000 + b"\x08" * 2_000, b"b" * 30_000 + b"\x08" * 30_000, b"c" * 60_000):
        for release in guard.client_sent(line + b"\n", 2):
            assert release.withheld == len(line) + 1 or len(line) == 4_000
    assert time.process_time() - begin < 0.5


@given(st.text("ab \x08\x7f", max_size=30).map(str.encode))
def test_a_terminals_corrections(text: bytes) -> None:
    kept = text
    while (shorter := re.sub(rb"[^\x08\x7f][\x08\x7f]|^[\x08\x7f]+", b"", kept)) != kept:
        kept = shorter
    assert corrected(text) == kept


@given(st.lists(st.tuples(st.sampled_from("<>"), st.binary(max_size=30) | st.sampled_from(
    [b"login: ", b"password: ", b"fics% ", b"\n", WILL, WONT, b'"Ann" is a registered name. x\n', NAME, seal(NAME, 1)]
))))  # fmt: skip
def test_every_byte_is_kept_masked_or_counted(parts: list[tuple[str, bytes]]) -> None:
    releases(*parts)
