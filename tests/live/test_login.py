"""Logins, and the reasons of refused ones."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.dialects.session import Family
from recorder.errors import LoginError
from recorder.live.login.login import LoggedIn, Login
from tests.live.dialogues import DIALOGUES, WILL, WONT
from tests.support.effort import examples

SECRET = "hunTer2é x"


def asked() -> str:
    return SECRET


def never() -> str:
    raise AssertionError("the password was asked for without need")


@pytest.mark.parametrize(
    ("dialogue", "login", "sent", "result"),
    [
        ("FatICS", lambda: Login("topalov", asked), f"topalov\n{SECRET}\n", (Family.FATICS, "Topalov", False)),
        ("FatICS guest", lambda: Login("GuestObsA"), "GuestObsA\n\n", (Family.FATICS, "GuestObsA", True)),
        ("Lasker", lambda: Login("watcher", asked), f"watcher\n{SECRET}\n", (Family.LASKER, "Watcher", False)),
        ("Lasker guest", lambda: Login("GuestXa"), "GuestXa\n\n", (Family.LASKER, "GuestXa", True)),
        ("1.6.2", lambda: Login("watcher", asked), f"watcher\n{SECRET}\n", (Family.OLD, "Watcher", False)),
        ("1.6.2 guest", lambda: Login("GuestXa"), "GuestXa\n\n", (Family.OLD, "GuestXa", True)),
        ("FICS", lambda: Login("ann", asked), f"ann\n{SECRET}\n", (Family.FICS, "Ann", False)),
        ("FICS guest", lambda: Login(None, never), "guest\n\n", (None, "GuestABCD", True)),
        ("ICC", lambda: Login("ann", asked), f"ann\n{SECRET}\n", (Family.ICC, "Ann", False)),
        ("chess.net guest", lambda: Login(None), "guest\n\n", (None, "GuestNet", True)),
        ("USCN guest", lambda: Login(None), "guest\n\n", (None, "GuestUSCN", True)),
        ("chessd", lambda: Login("ann", asked), f"ann\n{SECRET}\n", (None, "Ann", False)),
        ("chessd guest", lambda: Login(None), "guest\n\n", (None, "GuestABCD", True)),
        ("own prompt", lambda: Login("ann", asked), f"ann\n{SECRET}\n", (None, "Ann", False)),
    ],
)
@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_logins_of_all_servers(
    dialogue: str, login: Callable[[], Login], sent: str, result: tuple[object, ...], data: st.DataObject
) -> None:
    machine, answers = login(), b""
    for step in DIALOGUES[dialogue]:
        assert machine.logged_in is None
        before = answers
        places = data.draw(st.lists(st.integers(0, len(step.says)), max_size=6).map(sorted))
        for a, b in zip([0, *places], [*places, len(step.says)], strict=True):
            answers += machine.receive(step.says[a:b])
        if step.takes is not None:
            assert answers.count(b"\n") == before.count(b"\n") + 1
    assert answers.decode() == sent
    assert machine.logged_in == LoggedIn(*result)  # type: ignore[arg-type]  # of the fields' types


def test_icc_without_a_line_about_the_name() -> None:
    machine = Login("Ann", asked)
    assert machine.receive(b"login: ") == b"Ann\n"
    assert machine.receive(b"password: ") == SECRET.encode() + b"\n"
    machine.receive(b"\r\naics% ")
    assert machine.logged_in == LoggedIn(Family.ICC, "Ann", False)


def test_icc_guest_has_no_empty_line_to_send() -> None:
    machine = Login(None)
    assert machine.receive(b"Welcome to the Internet Chess Club\r\nlogin: ") == b"guest\n"
    assert machine.receive(b'Your name for this session will be "guest731"\r\n\r\naics% ') == b""
    assert machine.logged_in == LoggedIn(Family.ICC, "guest731", True)


def test_an_icc_datagram_contains_our_name() -> None:
    machine = Login("ann", asked)
    machine.receive(b"login: ")
    machine.receive(b"password: ")
    machine.receive(b"\r\n\x19(0 Ann {}\x19)")
    assert machine.logged_in == LoggedIn(None, "Ann", False)


@pytest.mark.parametrize(
    ("machine", "sent"),
    [(Login("Ann", asked), SECRET.encode() + b"\n"), (Login("Ann"), b"\n"), (Login(None), b"\n")],
)
def test_a_prompt_in_another_language_is_answered_after_a_while(machine: Login, sent: bytes) -> None:
    named, hidden, entered = (step.says for step in DIALOGUES["translated prompts"])
    machine.receive(named)
    assert machine.patience_ms == 60_000
    assert machine.receive(hidden) == b""
    assert machine.patience_ms == 3_000
    assert machine.timed_out() == sent
    assert machine.patience_ms == 60_000
    machine.receive(entered)
    assert machine.logged_in.guest == (sent == b"\n")


def test_a_session_ended_by_the_server_is_no_refusal() -> None:
    machine = Login("Ann", asked)
    machine.receive(b'login: \n"Ann" is a registered name. x\npassword: ')
    machine.receive(b"\n\r **** Ann is already logged in - kicking them out. ****\n\r\n\rfics% ")
    assert machine.logged_in == LoggedIn(None, "Ann", False)


RETURN = b'Press return to enter the FICS as "Ann":'
ASKS = b'\n"Ann" is a registered name.  If it is yours, type the password.\n\npassword: ' + WILL


@pytest.mark.parametrize(
    ("machine", "says", "complaint"),
    [
        (Login("Ann", asked), [b"login: ", ASKS, WONT + b"\n\n**** Invalid password! ****\n"], "does not accept this"),
        (Login("Ann", asked), [b"login: ", ASKS, WONT + b"\nInvalid password.\r\n\r\nlogin: "], "does not accept this"),
        (Login("Ann", asked), [b"login: ", ASKS, b"\npassword: "], "asks for the password again"),
        (Login("Ann", asked), [b"login: ", ASKS, b"\nlogin: "], "asks for a name again"),
        (Login("Ann"), [b"login: ", ASKS], "Ann is a registered name"),
        (Login(None, never), [b"login: ", ASKS], "password from guests"),
        (Login("Ann", lambda: ""), [b"login: ", ASKS], "is empty"),
        (Login("Ann", lambda: "a\nb"), [b"login: ", ASKS], "more than one line"),
        (Login("Ann", never), [b"login: ", b'\n"Ann" is not a registered name.\n\n', RETURN],
         "not a registered name"),
        (Login("Ann7"), [b"login: ", b"\nSorry, names can only consist of lower and upper case letters.  Try again.\n"],
         "only letters"),
        (Login("An"), [b"login: ", b"\nA name should be at least three characters long!  Try again.\nlogin: "],
         "as short as An; it must have at least three"),
        (Login("Anny"), [b"login: ", b"\nSorry, names may be at most 17 characters long.  Try again.\n"], "at most 17"),
        (Login("Ann"), [b"login: ", b"\n\nlogin: "], "asks for a name again"),
        (Login("GuestA"), [b"login: ", b"x\n", b"\n*** Sorry GuestA is already logged in ***\n"], "already logged"),
        (Login("GuestA"), [b"login: ", b"Sorry, GuestA is already logged in. Try again.\n"], "is already logged in;"),
        (Login("Ann"), [b"login: ", b'\nPlayer "Ann" is banned.\n'], "banned"),
        (Login(None), [b"login: ", b"\nDue to abuse, guest connections have been prevented from here.\n"], "no guests"),
        (Login(None), [b"login: ", b"Due to abuse, guest logins are blocked from your address.\n"], "no guests"),
        (Login(None), [b"login: ", b"\nDue to abusive behavior, nobody from your site may login without an account.\n"],
         "refuses guests from this address"),
        (Login(None), [b"login: ", b"\nDue to abusive behavior, nobody from your site may login.\n"],
         "refuses logins from this address"),
        (Login("Ann"), [b"login: ", b"\nSorry, the server is currently full.\n"], "is full"),
        (Login("Ann", asked), [b"login: ", ASKS, b"\n**** LOGIN TIMEOUT ****\n"], "took too long"),
        (Login("Ann"), [b"login: ", b"unknown timeseal version\n"], "time seal"),
        (Login("Ann"), [b"login: ", b"\nGoodbye!\n"], "goodbye"),
        (Login("Ann", asked), [b"login: ", ASKS, b"\n    **** Server shutting down immediately. ****\n"], "shutting"),
        (Login("Ann", asked), [b"login: ", ASKS, b"**** Ann has arrived - you can't both be logged in. ****\n"],
         "Another client"),
    ],
)  # fmt: skip
def test_refusals(machine: Login, says: list[bytes], complaint: str) -> None:
    with pytest.raises(LoginError, match=complaint) as caught:
        talk(machine, says)
    check(caught.value)


def talk(machine: Login, says: list[bytes]) -> None:
    for words in says:
        machine.receive(words)


def check(error: LoginError) -> None:
    """Return the message, which must be one sentence without the password."""
    assert SECRET not in str(error)
    assert "\n" not in str(error)
    assert re.fullmatch(r"[A-Z].+", str(error))


@pytest.mark.parametrize(
    ("machine", "says", "complaint"),
    [
        (Login("Ann"), [], r"before it asked for a name\.$"),
        (Login("Ann"), [b"Too many connections from here.\n"], "is full"),
        (
            Login("Ann"),
            [b"Go \x1baway.\nlogin: ", b"I do not like you."],
            "the name Ann; its last line was: I do not",
        ),
        (
            Login("Ann", asked),
            [b"login: ", ASKS, SECRET.encode() + b" is wrong, Ann\n"],
            r"instead of letting Ann in\.$",
        ),
        (Login("Ann", asked), [b"login: ", ASKS, b"**** LOGIN TIMEOUT ****"], "took too long"),
        (Login("Ann", asked), [b"login: ", ASKS, b"Logging you out.\n"], "goodbye"),
    ],
)
def test_a_connection_that_ends(machine: Login, says: list[bytes], complaint: str) -> None:
    talk(machine, says)
    with pytest.raises(LoginError, match=complaint) as caught:
        machine.closed()
    check(caught.value)


def test_a_banner_that_mentions_refusals_is_no_refusal() -> None:
    machine = Login(None)
    assert machine.receive(b"If the server is full, nobody from your site may login.\nlogin: ") == b"guest\n"


@pytest.mark.parametrize("words", [RETURN, b"fics% ", b"mine% ", b"password: "])
def test_nothing_is_sent_before_the_prompt_for_a_name(words: bytes) -> None:
    machine = Login("Ann")
    assert machine.receive(words) == b""
    assert machine.logged_in is None
    assert machine.receive(b"\nlogin: ") == b"Ann\n"
    machine.receive(b"mine% ")
    assert machine.logged_in is None


def test_silence() -> None:
    machine = Login("Ann", asked)
    assert machine.patience_ms == 30_000
    with pytest.raises(LoginError, match="not asked for a name in 30 seconds"):
        machine.timed_out()
    machine.receive(b"login: ")
    machine.receive(ASKS)
    with pytest.raises(LoginError, match=f"login of Ann in {machine.patience_ms // 1000} seconds") as caught:
        machine.timed_out()
    check(caught.value)


@pytest.mark.parametrize("handle", ["", "Ann Bob", "Ann\nquit", "é"])
def test_no_handle(handle: str) -> None:
    with pytest.raises(LoginError, match="one word"):
        Login(handle)


def test_the_password_is_not_kept() -> None:
    machine = Login("Ann", asked)
    machine.receive(b"login: ")
    assert SECRET.encode() in machine.receive(ASKS)
    assert SECRET not in repr(vars(machine))
    reader = machine._reader
    attributes = [value for name in dir(reader) if name[:2] != "__" and not callable(value := getattr(reader, name))]
    assert attributes
    assert SECRET.encode() not in repr([*vars(machine).values(), *attributes]).encode()


@given(
    st.lists(
        st.binary(max_size=30)
        | st.sampled_from([b"login: ", ASKS, b"\nfics% ", b'Press return to enter the FICS as "A":'])
    )
)
def test_any_bytes_raise_nothing_else(parts: list[bytes]) -> None:  # fmt: skip
    machine = Login("Ann", asked)
    try:
        for part in parts:
            machine.receive(part)
        if machine.logged_in is None:
            machine.closed()
    except LoginError as error:
        check(error)
