"""Passwords that are repeated where no password is requested."""

import gc
import types

import pytest

from recorder.live.recording import RecordedConnection
from recorder.live.secrets.client import KnownSecrets, SecretGuard
from recorder.wire.timeseal import seal
from tests.live.test_recording import FakeJournal

ASK = b'\n\r"Ann" is a registered name.  If it is yours, type the password.\n\rpassword: \xff\xfb\x01'
IN = b"\xff\xfc\x01\n\r**** Starting FICS session as Ann ****\n\rfics% "
RETURN = b'\n\rPress return to enter the server as "Ann":\n\r'


def test_finds_every_place_and_keeps_no_secret() -> None:
    known = KnownSecrets()
    known.learn(b"abab")
    known.learn(b"abab")
    known.learn(b"no")
    assert known.find(b"xabababx no") == [(1, 5), (3, 7)]
    assert known.find(b"") == []
    assert b"abab" not in repr(vars(known)).encode()
    known.learn(b"xabab")
    assert known.find(b"xabab") == [(0, 5), (1, 5)]


def logged_in(*, one_line: bool = False) -> SecretGuard:
    guard = SecretGuard()
    guard.server_sent(b"login: ")
    if one_line:
        guard.client_sent(b"level1=1 Ann hunter2\n", 1)
    else:
        guard.client_sent(b"Ann\n", 1)
        guard.server_sent(ASK)
        guard.client_sent(b"hunter2\r\n", 2)
    guard.server_sent(IN)
    return guard


def kept(guard: SecretGuard, line: bytes) -> bytes:
    return b"".join(data for _, data in guard.client_sent(line, 3))


@pytest.mark.parametrize("one_line", [False, True])
@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (b"hunter2\n", b"*******\n"),
        (b"alias go tell bob xhunter2x, hunter2\r\n", b"alias go tell bob x*******x, *******\r\n"),
        (b"$$hunter2\n", b"$$*******\n"),
        (b"hunter\n", b"hunter\n"),
        (b"hunX\x08ter2\n", b"****\x08****\n"),
        (seal(b"alias go hunter2", 17), b"*" * (len(seal(b"alias go hunter2", 17)) - 1) + b"\n"),
        (seal(b"alias go", 17), seal(b"alias go", 17)),
    ],
)
def test_the_password_of_the_login_is_masked_wherever_it_is_typed(typed: bytes, shown: bytes, one_line: bool) -> None:
    guard = logged_in(one_line=one_line)
    assert kept(guard, typed) == shown
    echoed = b"".join(data for _, data in guard.answers.receive(b"hunter2: Command not found.\n"))
    assert echoed == b"*******: Command not found.\n"
    assert kept(guard, b"date\n") == b"date\n"


def test_every_password_of_the_connection_is_known() -> None:
    guard = SecretGuard()
    guard.server_sent(b"login: ")
    for word in (b"Wr0ngOne", b"hunter2"):
        guard.client_sent(b"Ann\n", 1)
        guard.server_sent(ASK)
        guard.client_sent(word + b"\n", 2)
        guard.server_sent(b"\n\r**** Invalid password! ****\n\r\n\rlogin: " if word != b"hunter2" else IN)
    assert kept(guard, b"tell Bob Wr0ngOne\n") == b"tell Bob ********\n", "of another account, perhaps"
    assert kept(guard, b"finger Ann\n") == b"finger Ann\n"
    assert kept(guard, b"password hunter2 newer44\n") == b"password ******* *******\n"
    assert kept(guard, b"newer44\n") == b"*******\n"


def test_what_a_guest_types_instead_of_a_password_is_no_ordinary_word() -> None:
    guard = SecretGuard()
    guard.server_sent(b"login: ")
    guard.client_sent(b"guest\n", 1)
    guard.server_sent(RETURN)
    guard.client_sent(b"\n", 2)
    guard.server_sent(IN)
    assert kept(guard, b"tell guest hi\n") == b"tell guest hi\n"


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ((b"Ann\n", b"hunter2\n"), b"hunter2\r\n"),
        ((b"Ann\n", b"hunter2\n"), b"\n**** Invalid password! ****\n'hunter2' is wrong.\nlogin: "),
        ((b"Ann\r", b"hunter2\r"), b"hunter2\r\n"),
        ((b"Ann hunter2\n", b""), b"hunter2\r\n"),
        ((b"Ann\nhunter2\n", b""), b"hunter2\r\n"),
        ((seal(b"Ann", 1), seal(b"hunter2", 2)), b"hunter2\r\n"),
        ((b"Ann\n", b"hunter2\n"), b"\n**** Starting FICS session as Ann ****\nYour password is hunter2.\nfics% "),
    ],
)
def test_the_password_of_the_login_is_masked_where_the_server_prints_it(
    typed: tuple[bytes, bytes], printed: bytes
) -> None:
    journal = FakeJournal()
    recording = RecordedConnection(journal, lambda _sentence: None)
    recording.server_sent(b"login: ", 1)
    recording.client_sent(typed[0], 2)
    recording.server_sent(ASK, 3)
    recording.client_sent(typed[1], 4)
    recording.server_sent(printed, 5)
    recording.close()
    heard = b"".join(what[1] for what in journal.wrote if what[0] == "<")
    shown = heard.replace(b'"***" is', b'"Ann" is')  # the login is not complete
    assert shown == b"login: " + ASK + printed.replace(b"hunter2", b"*******")
    assert (b'"Ann" is' in heard) or b"Starting" not in printed


def test_a_password_that_is_the_handle_is_not_masked_in_lines_about_it() -> None:
    journal = FakeJournal()
    recording = RecordedConnection(journal, lambda _sentence: None)
    for side, text in (("<", b"login: "), (">", b"Ann\n"), ("<", ASK), (">", b"Ann\n"), ("<", IN + b"Ann: hi\n")):
        (recording.server_sent if side == "<" else recording.client_sent)(text, 1)
    recording.close()
    assert [what[1] for what in journal.wrote if what[0] == ">"] == [b"***\n", b"***\n"]
    assert b"".join(what[1] for what in journal.wrote if what[0] == "<") == b"login: " + ASK + IN + b"Ann: hi\n"


def test_an_answer_in_the_same_read_as_the_welcome_is_looked_at() -> None:
    journal = FakeJournal()
    recording = RecordedConnection(journal, lambda _sentence: None)
    recording.client_sent(b"Ann\nhunter2\nhunter2\n", 1)
    recording.server_sent(b"login: " + ASK, 2)
    recording.server_sent(IN + b"hunter2: Command not found.\n\rfics% ", 3)
    recording.close()
    assert b"hunter2" not in b"".join(what[1] for what in journal.wrote if what[0] in ("<", ">"))
    assert ("<", IN + b"*******: Command not found.\n\rfics% ", 3) in journal.wrote


def test_the_password_is_masked_as_long_as_the_connection_lasts_and_only_a_digest_is_kept() -> None:
    journal = FakeJournal()
    recording = RecordedConnection(journal, lambda _sentence: None)
    password = b"-".join((b"hun", b"ter"))  # no constant of this module
    recording.server_sent(b"login: ", 1)
    recording.client_sent(b"Ann\n", 2)
    recording.server_sent(ASK, 3)
    recording.client_sent(password + b"\n", 4)
    recording.server_sent(IN, 5)
    recording.client_sent(b"password " + password + b" new" + password + b"\n", 6)
    for _ in range(1000):
        recording.server_sent(b"\n\rfics% " + b"Bob tells you: hello there\n\r" * 40 + b"fics% ", 7)
    assert not [found for found in reachable(recording) if password in found], "only digests"
    recording.server_sent(b"Ann(C): my password is " + password + b", or new" + password + b"\n\rfics% ", 8)
    recording.close()
    heard = b"".join(what[1] for what in journal.wrote if what[0] == "<")
    assert heard.endswith(b"Ann(C): my password is *******, or **********\n\rfics% ")


def reachable(thing: object) -> list[bytes]:
    seen, todo, found = set[int](), [thing], list[bytes]()
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, (type, types.ModuleType, types.FunctionType, types.FrameType)):
            continue
        seen.add(id(thing))
        if isinstance(thing, (bytes, bytearray)):
            found.append(bytes(thing))
        todo += gc.get_referents(thing)
    return found
