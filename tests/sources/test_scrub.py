"""Secrets in logs."""

import re
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.live.secrets.logs import Scrubbing
from recorder.sources import Scrubber, SourceKind
from recorder.sources.secrets import fill_command
from tests.live.hostile import Dialogue
from tests.live.logins import FORBIDDEN, LOGINS, C, S, Script
from tests.support.effort import long_after


def scrub(kind: SourceKind, data: bytes, step: int = 1 << 20) -> bytes:
    scrubber = Scrubbing(kind)
    return b"".join(scrubber.receive(data[i : i + step]) for i in range(0, len(data), step)) + scrubber.finish()


XBOARD_IN = b"<ICS: **** Starting session as Ann ****\\012fics% \n"
PYCHESS_IN = b"20:00:01 ('A', 'raw') DEBUG: **** Starting session as A ****\nfics% \n"


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("xboard", b"<ICS: login: \n>ICS: Ann\\012\n<ICS: password: \\377\\373\\001\n>ICS: se cret\\012\n",
         b"<ICS: login: \n>ICS: ***\\012\n<ICS: password: \\377\\373\\001\n>ICS: ** ****\\012\n"),
        ("xboard", b">ICS: Ann\\012secret\\012\n", b">ICS: ***\\012******\\012\n"),
        ("xboard", b">ICS: Ann\\012\n>ICS: secret\\015\\012\n", b">ICS: ***\\012\n>ICS: ******\\015\\012\n"),
        ("xboard", b">ICS: Ann secret\\012\n", b">ICS: *** ******\\012\n"),
        ("xboard", XBOARD_IN + b">ICS: tell Bob hi\\012\n", XBOARD_IN + b">ICS: tell Bob hi\\012\n"),
        ("xboard", XBOARD_IN + b">ICS: style 12\\012password old new\\012\n",
         XBOARD_IN + b">ICS: style 12\\012password *** ***\\012\n"),
        ("xboard", XBOARD_IN + b"<ICS: password: \n>ICS: x\\012\n>ICS: y\\012\n",
         XBOARD_IN + b"<ICS: password: \n>ICS: *\\012\n>ICS: *\\012\n"),
        ("raw", b"login: Ann\r\npassword: secret\r\nhi", b"login: ***\r\npassword: ******\r\nhi"),
        ("raw", b"password: \xff\xfb\x01h\xc3\xa9\n", b"password: \xff\xfb\x01***\n"),
        ("raw", b"password: \xff\xfb\x01\xff\xfc\x01\n\r**** Starting",
         b"password: \xff\xfb\x01\xff\xfc\x01\n\r**** Starting"),
        ("raw", b"password: **** Starting FICS session as Ann ****\n",
         b"password: **** Starting FICS session as Ann ****\n"),
        ("typescript", b"fics% password old new\r\nfics% pass x\n", b"fics% password *** ***\r\nfics% pass *\n"),
        ("typescript", b"fics% $passw old new\r\n", b"fics% $passw *** ***\r\n"),
        ("stamped", b"20:06:50 password: secret\n", b"20:06:50 password: ******\n"),
        ("stamped", b"[12:00:01] fics% password a b\n", b"[12:00:01] fics% password * *\n"),
        ("stamped", b"[12:00:01] > password old new\n", b"[12:00:01] > password *** ***\n"),
        ("stamped", b"[12:00:01] 12:00_fics% passw old new\n", b"[12:00:01] 12:00_fics% passw *** ***\n"),
        ("raw", b"pass old new\npas old new\nset password new\n", b"pass *** ***\npas *** ***\nset password ***\n"),
        ("raw", b"> set password new\nICS> password old new\n", b"> set password ***\nICS> password *** ***\n"),
        ("raw", b'Password changed from "a" to "b".\n', b'Password changed from *** ** ****\n'),
        ("raw", b"fics% passwd old new\nfics% set-quietly passwd new\nfics% asetpasswd Ann new\n",
         b"fics% passwd *** ***\nfics% set-quietly passwd ***\nfics% asetpasswd Ann ***\n"),
        ("raw", b"fics% addplayer Bob b@x.org Bob B\nAdded: >Bob< >Bob B< >b@x.org< >hunter<\nadded: >Bob<\n",
         b"fics% addplayer Bob b@x.org Bob B\nAdded: >Bob< >Bob B< >b@x.org< >*******\nadded: >Bob<\n"),
        ("raw", b"fics% \radded: >A< >B< >c< >d<\nAnn(7): Added: >A< >B< >c< >d<\n",
         b"fics% \radded: >A< >B< >c< >**\nAnn(7): Added: >A< >B< >c< >d<\n"),
        ("raw", b"fics% register Bob b@x secret\nRegister Bob b@x secret\nfics% su Bob secret\nfics% su Bob is here\n",
         b"fics% register Bob b@x ******\nRegister Bob b@x secret\nfics% su Bob ******\nfics% su Bob is here\n"),
        ("raw", b"fics% $su Bob secret\nfics% su\tBob secret\nfics% register\tBob secret\nfics% register Bob b@x\n",
         b"fics% $su Bob ******\nfics% su\tBob ******\nfics% register\tBob ******\nfics% register Bob b@x\n"),
        ("raw", b"fics% register Bob here now\nMitsu plays well\nsu Bob secret\n",
         b"fics% register Bob here now\nMitsu plays well\nsu Bob secret\n"),
        ("raw", b"set passwd new\npasswd old new\n", b"set passwd ***\npasswd *** ***\n"),
        ("xboard", XBOARD_IN + b">ICS: alias p password old new\\012alias passwd finger\\012\n",
         XBOARD_IN + b">ICS: alias p password *** ***\\012alias passwd finger\\012\n"),
        ("raw", b"fics% password old", b"fics% password ***"),
        ("raw", b"password old", b"password ***"),
        ("raw", b"\x19(114 hunter2 Ann\x19)\x19(24 7 e4\x19)\n", b"\x19(114 ******* ***\x19)\x19(24 7 e4\x19)\n"),
        ("xboard", b"<ICS: \\031(114 hunter2 Ann\\031)\n", b"<ICS: \\031(114 ******* ***\\031)\n"),
        ("raw", b"Bob(1500)[7] kibitzes: my password: x\n", b"Bob(1500)[7] kibitzes: my password: x\n"),
        ("raw", b"Bob tells you: login: Ann x\n--> Bob: password: x\n",
         b"Bob tells you: login: Ann x\n--> Bob: password: x\n"),
        ("raw", b"fics% Bob kibitzes: password a b\n", b"fics% Bob kibitzes: password a b\n"),
        ("raw", b"They passed on.\nPass it on to him\n", b"They passed on.\nPass it on to him\n"),
        ("xboard", XBOARD_IN + b"<ICS: Password> \n>ICS: x\\012\n>ICS: y\\012\n",
         XBOARD_IN + b"<ICS: Password> \n>ICS: *\\012\n>ICS: *\\012\n"),
        ("xboard", XBOARD_IN + b"<ICS: Bob kibitzes: my password: x\n>ICS: who\\012\n",
         XBOARD_IN + b"<ICS: Bob kibitzes: my password: x\n>ICS: who\\012\n"),
        ("pychess", b"20:00:01 ('A', 'raw') DEBUG: bytearray(b'\\n\\rpassword: ')\n20:00:02 ('A', 'raw') INFO: ab\n",
         b"20:00:01 ('A', 'raw') DEBUG: bytearray(b'\\n\\rpassword: ')\n20:00:02 ('A', 'raw') INFO: **\n"),
        ("pychess", PYCHESS_IN + b"20:00:01 ('A', 'raw') DEBUG: Bob kibitzes: password: x\n"
         b"20:00:02 ('A', 'raw') INFO: who\n",
         PYCHESS_IN + b"20:00:01 ('A', 'raw') DEBUG: Bob kibitzes: password: x\n"
         b"20:00:02 ('A', 'raw') INFO: who\n"),
        ("raw", b"login: Ann secret\r\n", b"login: *** ******\r\n"),
        ("raw", b"password: x\nfics% Bob has no time: sorry\n", b"password: *\nfics% Bob has no time: sorry\n"),
        ("raw", b"If it is yours, type the password.\n", b"If it is yours, type the password.\n"),
        ("raw", b"Ann tells you: my password is lost\n", b"Ann tells you: my password is lost\n"),
        ("pychess", b"1:2\n20:00:01 ('A', 'raw') DEBUG: password: \n20:00:02 ('A', 'raw') INFO: secret\n",
         b"1:2\n20:00:01 ('A', 'raw') DEBUG: password: \n20:00:02 ('A', 'raw') INFO: ******\n"),
        ("xboard", b'<ICS: \\012\\015Password changed from "a" to "b".\\012\\015fics% \n'
         b'<ICS: Added: >B< >B C< >c< >d<\n',
         b'<ICS: \\012\\015Password changed from *** ** ****\\012\\015fics% \n<ICS: Added: >B< >B C< >c< >**\n'),
        ("xboard", b"<ICS: fics% Password of Bob changed to d.\\012\n<ICS: Bob tells you: Password changed to x\n",
         b"<ICS: fics% Password of Bob changed to **\\012\n<ICS: Bob tells you: Password changed to x\n"),
        ("pychess", b"20:00:01 ('A', 'raw') DEBUG: bytearray(b'\\n\\rPassword changed from a to b.\\n\\rfics% ')\n",
         b"20:00:01 ('A', 'raw') DEBUG: bytearray(b'\\n\\rPassword changed from * ** **\\n\\rfics% ')\n"),
        ("pychess", b"20:00:01 ('A', 'raw') DEBUG: \nPassword changed from a to b.\nBob: password changed to x\n",
         b"20:00:01 ('A', 'raw') DEBUG: \nPassword changed from * ** **\nBob: password changed to x\n"),
        ("pychess", b"20:00:01 ('A', 'lines') DEBUG: Added: >B< >B C< >c< >d<\n"
         b"20:00:01 ('A', 'raw') DEBUG: b'Added: >B< >C< >c< >d<'\n",
         b"20:00:01 ('A', 'lines') DEBUG: Added: >B< >B C< >c< >**\n"
         b"20:00:01 ('A', 'raw') DEBUG: b'Added: >B< >C< >c< >**'\n"),
        ("pychess", PYCHESS_IN + b"20:00:02 ('A', 'run_command') DEBUG: password old new\n",
         PYCHESS_IN + b"20:00:02 ('A', 'run_command') DEBUG: password *** ***\n"),
        ("pychess", PYCHESS_IN + b"20:00:02 ('A', 'raw') INFO: 1 password old new\n20:00:02 ('A', 'raw') INFO: 3 who\n",
         PYCHESS_IN + b"20:00:02 ('A', 'raw') INFO: 1 password *** ***\n20:00:02 ('A', 'raw') INFO: 3 who\n"),
    ],
)  # fmt: skip
def test_what_is_hidden(kind: str, before: bytes, after: bytes) -> None:
    assert scrub(SourceKind(kind), before) == after
    assert scrub(SourceKind(kind), before, 1) == after
    assert scrub(SourceKind(kind), after) == after


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (b"password old new", b"password *** ***"),
        (b"$$pass new", b"$$pass ***"),
        (b"alias p password old new", b"alias p password *** ***"),
        (b"multi pass new", b"multi pass ***"),
        (b"asetpasswd Bob new", b"asetpasswd Bob ***"),
        (b"register Bob b@x.org new", b"register Bob b@x.org ***"),
        (b"register Bob new", b"register Bob ***"),
        (b"register Bob b@x.org", b"register Bob b@x.org"),
        (b"register Bob here now", b"register Bob here now"),
        (b"$su\tBob new", b"$su\tBob ***"),
        (b"su Bob is here", b"su Bob is here"),
        (b"passed pawns", b"passed pawns"),
    ],
)
def test_what_is_hidden_of_a_typed_command(typed: bytes, kept: bytes) -> None:
    assert fill_command(typed) == kept


def test_a_key_behind_a_board_is_masked() -> None:
    data = b"\n\r<12> x\n\r<12> \n\r<12> y\x19(93 secret\x19)\n\r<12> \x19(134 key\x19)\n\r<12> z\n\r<12> "
    for step in (1, 7, 1 << 20):
        found = scrub(SourceKind.RAW, data, step)
        assert b"secret" not in found
        assert b"key" not in found
        assert len(found) == len(data)


@given(
    st.sampled_from(list(SourceKind)),
    st.lists(
        st.sampled_from(
            b"password: |login: |>ICS: |<ICS: |a b|\n|\\012|fics% |Password changed to |bytearray(b'|')|\\n"
            b"|\n\r<12> |\n<12> |<12> |\n\rfics% pas a b|su a b|\x19(93 a\x19)".split(b"|")
        )
    ),
    st.integers(1, 30),
)
def test_length_stays_and_cuts_never_matter(kind: SourceKind, parts: list[bytes], step: int) -> None:
    data = b"".join(parts)
    found = scrub(kind, data)
    assert len(found) == len(data)
    assert scrub(kind, data, step) == found


def test_a_line_that_never_ends_takes_no_memory() -> None:
    scrubber = Scrubber(SourceKind.RAW)
    total = sum(len(scrubber.receive(b"x" * 10_000)) for _ in range(100))
    assert total >= 1_000_000 - 80_000
    assert total + len(scrubber.finish()) == 1_000_000


PW = b"Sw0rdfish-Xq77"
IN = b"**** Starting FICS session as Ann ****\r\nfics% who\r\n"
LOGS = {
    "on the line before its prompt": b"login: Ann\r\n" + PW + b"\r\npassword: \r\n" + IN,
    "on the line before, with blank lines": b"login: Ann\n" + PW + b"\n\n\npassword:\n" + IN,
    "on the line behind its prompt": b"login: Ann\r\npassword:\r\n" + PW + b"\r\n" + IN,
    "behind a blank line": b"login: Ann\r\nPassword? \r\n\r\n" + PW + b"\r\n" + IN,
    "X's password": b"login: Ann\r\nAnn's password: " + PW + b"\r\n" + IN,
    "Password for X": b"Username: Ann\r\nPassword for Ann: " + PW + b"\r\n" + IN,
    "as the name": b"login: " + PW + b"\r\nSorry, no such name.\r\nlogin: Ann\r\npassword: " + PW + b"\r\n" + IN,
    "code": b"login: Ann\npassword: x\nEnter your one-time code: " + PW + b"\n" + IN,
    "code on its own line": b"login: Ann\npassword: x\nOne-time code?\n" + PW + b"\n" + IN,
    "PIN": b"User: Ann\nPIN: " + PW + b"\n" + IN,
    "that has the form of a prompt": b"Username> Ann\nPassphrase> " + PW + b"\n" + IN,
    "later, that has the form of a prompt": b"login: Ann\n" + IN + b"fics% Password> " + PW + b"\nfics% ",
    "coloured": b"\x1b[1mlogin:\x1b[0m Ann\r\n\x1b[1mpassword:\x1b[0m " + PW + b"\r\n" + IN,
    "short": b"Login as: Ann\nPass: " + PW + b"\n" + IN,
    "equals sign": b"login: Ann\nPASSWORD=" + PW + b"\n" + IN,
    "long question": b"login: Ann\nEnter password for Ann (or press return): " + PW + b"\n" + IN,
    "sentence": b"Name?\nAnn\nPlease type your password\n" + PW + b"\n" + IN,
    "later, with a sign": b"login: Ann\n" + IN + b"$set password " + PW + b"\n",
    "Password for X, on its own line": b"Username: Ann\r\nPassword for Ann: \r\n" + PW + b"\r\n" + IN,
    "that begins like a prompt": b"login: Ann\npassword:\nyK>" + PW + b"\n" + IN,
    "that begins with a quotation mark": b'login: Ann\n*** Password: "' + PW + b"\n" + IN,
    "a form of a prompt, on its own line": b"login: Ann\r\nPasswd> \r\n" + PW + b"\r\n" + IN,
    "another login without the word login": b"login: Ann\n"
    + IN
    + b"Logging you out.\nUser: Ann\nPIN: "
    + PW
    + b"\n"
    + IN,
    "after an automatic logout": b"login: Ann\n"
    + IN
    + b"**** Auto-logout because you were idle more than 60 minutes. ****\nUser: Ann\nKey? "
    + PW
    + b"\n",
    "translated, Polish": b"login: Ann\nHaslo:\n" + PW + b"\n" + IN,
    "translated, Chinese": "用户名：Ann\n密码：".encode() + PW + b"\n" + IN,
    "translated": b"login: Ann\nContrase\xc3\xb1a: " + PW + b"\n" + IN,
    "translated, Cyrillic": "login: Ann\nПароль: ".encode() + PW + b"\n" + IN,
    "translated, Latin-1": b"login: Ann\nContrase\xf1a: " + PW + b"\n" + IN,
    "again": b"login: new\nChoose a password: " + PW + b"\nAgain: " + PW + b"\n" + IN,
    "later": b"login: Ann\n" + IN + b"New password: " + PW + b"\nfics% chpass x " + PW + b"\n",
    "later, on its own line": b"login: Ann\n" + IN + b"Enter your new password:\n" + PW + b"\nfics% ",
    "another login": b"login: Ann\n" + IN + b"fics% quit\nlogin: Bob\n" + PW + b"\npassword:\nfics% ",
    "no line end": b"login: Ann\npassword: " + PW,
    "no line end, own line": b"login: Ann\npassword:\n" + PW,
}


@pytest.mark.parametrize(
    "stamp", [b"", b"20:06:50 ", b"[12:00:01] ", b"May  8 20:06:50 ", b"1431115610 ", b"> ", b"\t"]
)
@pytest.mark.parametrize("name", LOGS)
def test_a_password_in_a_login_that_was_logged_as_it_was_seen(name: str, stamp: bytes) -> None:
    log = b"".join(stamp + line for line in LOGS[name].splitlines(keepends=True))
    clean = scrub(SourceKind.STAMPED if stamp else SourceKind.RAW, log)
    assert PW not in clean
    assert len(clean) == len(log)
    for size in (1, 7):
        assert scrub(SourceKind.STAMPED if stamp else SourceKind.RAW, log, size) == clean
    for kept in (b"**** Starting FICS session as Ann ****", b"fics% who"):
        assert (kept in log) == (kept in clean)


@given(st.sampled_from(sorted(LOGS)), st.lists(st.integers(1, 50), min_size=1, max_size=9))
def test_a_password_in_a_login_is_masked_whatever_the_sizes_of_blocks(name: str, sizes: list[int]) -> None:
    log, scrubbing, clean, turn = LOGS[name], Scrubbing(SourceKind.RAW), b"", cycle(sizes)
    while log:
        size = next(turn)
        clean += scrubbing.receive(log[:size])
        log = log[size:]
    assert clean + scrubbing.finish() == scrub(SourceKind.RAW, LOGS[name])


def line_of(kind: str, sent: bool, text: bytes) -> bytes:
    """A line of a client's log: what the server sent, or what was typed."""
    if kind == "xboard":
        escaped = b"".join(b"%c" % byte if 32 <= byte < 127 else b"\\%03o" % byte for byte in text)
        return (b">ICS: " if sent else b"<ICS: ") + escaped + b"\n"
    if sent:
        lines = [line for line in re.split(rb"[\r\n\0]+", text) if line]
        return b"".join(b"20:00:02 ('Ann', 'raw') INFO: " + line + b"\n" for line in lines)
    return b"20:00:01 ('Ann', 'raw') DEBUG: bytearray(%r)\n" % text


def logged(kind: str, script: Script) -> bytes:
    """A dialogue as a client that sends whole lines logs it."""
    log, typed = b"", b""
    for side, text in script:
        typed += text if side == C else b""
        if side == S:
            log += line_of(kind, False, text)
        elif typed[-1:] in b"\r\n\0":
            log += line_of(kind, True, typed)
            typed = b""
    return log + (line_of(kind, True, typed) if typed else b"")


@pytest.mark.parametrize("kind", ["xboard", "pychess"])
@pytest.mark.parametrize("name", LOGINS)
def test_a_login_that_a_client_logged(kind: str, name: str) -> None:
    log = logged(kind, LOGINS[name])
    clean = scrub(SourceKind(kind), log)
    assert len(clean) == len(log)
    for secret in FORBIDDEN:
        assert secret not in clean


@pytest.mark.parametrize("kind", ["xboard", "pychess"])
@pytest.mark.parametrize("first", long_after(1, range(0, 400, 20)))
def test_no_random_dialogue_that_a_client_logged_leaves_a_password(kind: str, first: int) -> None:
    for seed in range(first, first + 20):
        dialogue = Dialogue(seed, letters=False)
        clean = scrub(SourceKind(kind), logged(kind, dialogue.script))
        for secret in dialogue.secrets:
            for written in (secret, line_of("xboard", True, secret)[6:-1], repr(secret)[2:-1].encode()):
                assert written not in clean, seed


def test_a_connection_that_has_stopped_delays_the_others_of_a_log_only_for_a_while() -> None:
    stopped = logged("pychess", LOGINS["name prompt 0"][:2]) + line_of("pychess", False, b'"Ann" is a regis')
    other = line_of("pychess", False, b"Bob tells you: hi\n\r").replace(b"'Ann'", b"'Eve'")
    scrubbing = Scrubbing(SourceKind.PYCHESS)
    given = [len(scrubbing.receive(line)) for line in [*stopped.splitlines(keepends=True), *[other] * 3000]]
    assert sum(given[-1500:]) >= 1500 * len(other)
    assert sum(given) + len(scrubbing.finish()) == len(stopped) + 3000 * len(other)


def test_a_password_that_icsdrone_changes() -> None:
    line = b"Fri May  8 20:06:50 2015:DEBUG:icsdrone->ics: password old1 " + PW + b"\\012\n"
    clean = scrub(SourceKind.STAMPED, b"Fri May  8 20:06:50 2015:DEBUG:ics->icsdrone: " + IN + line)
    assert PW not in clean
    assert b"old1" not in clean


def test_a_password_that_icsdrone_sends() -> None:
    time = b"Fri May  8 20:06:50 2015:DEBUG:"
    log = time + b"ics->icsdrone: password: \\012\n" + time + b"icsdrone->ics: " + PW + b"\\012\n"
    clean = scrub(SourceKind.STAMPED, log + time + b"ics->icsdrone: " + IN)
    assert PW not in clean
    assert b"**** Starting FICS session as Ann ****" in clean
