"""Banners, logins, the end of a connection, and which server it is."""

import pytest

from recorder.dialects.session import Family, detect_dialect, parse_session
from recorder.events import Line, Noise, SessionNotice, SessionNoticeKind
from tests.dialects.lines import read_corpus, recognise

K = SessionNoticeKind


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("**** Starting FICS session as GuestCPHL(U) ****", K.LOGIN, "GuestCPHL"),
        ('Logging you in as "GuestCPHL"; you may use this name to play unrated games.', K.LOGIN, "GuestCPHL"),
        ('Press return to enter the FICS as "GuestXa":____', K.LOGIN, "GuestXa"),
        ('"Watcher" is a registered name.  If it is yours, type the password.', K.LOGIN, "Watcher"),
        ("**** Starting session as Ann(C)(TM) ****", K.LOGIN, "Ann"),
        ('Your name for this session will be "guest12"', K.LOGIN, "guest12"),
        ("Created temporary login 'GuestAB'", K.LOGIN, "GuestAB"),
        ("Style 12 set.", K.STYLE, "12"),
        ('prompt set to "ICS> ".', K.PROMPT, "ICS> "),
        ("**** X has arrived - you can't both be logged in. ****", K.TAKEN_OVER, "X"),
        ("**** Auto-logout because you were idle more than 60 minutes. ****", K.IDLE_LOGOUT, None),
        ("    **** Server shutting down immediately. ****", K.SHUTDOWN, "immediately"),
        ("    **** Server going down in 5 minutes and 0 seconds. ****", K.SHUTDOWN, None),
        ("    **** Server shutdown ordered by X. ****", K.SHUTDOWN, None),
        ("    **** Automatic Server shutdown. ****", K.SHUTDOWN, None),
        ("Logging you out.", K.LOGOUT, None),
        ("You are sending commands too fast.", K.TOO_FAST, None),
        ("Too many commands; please slow down.", K.TOO_FAST, None),
        ("Server time    - Sat Nov 21, 01:51 UTC 2026", K.ZONE, "Sat Nov 21, 01:51 UTC 2026"),
        ("   ****** Welcome to the Free Internet Chess Server at freechess.org ******", K.BANNER, "fics"),
        ("Server location: freechess.org   Server version : 1.25.17", K.BANNER, "fics"),
        ("Server location: NOT_CONFIGURED    Server version : 2.2.x-DEVEL", K.BANNER, "lasker"),
        ("Server location: jujube.rpblc.net   Server version : rpblc-1.4.3", K.BANNER, "fics-1.6.2"),
        ("    &#x2659;&#x2654; FatICS &#x265a;", K.BANNER, "fatics"),
    ],
)
def test_session_lines(text: str, kind: K, value: str | None) -> None:
    got = parse_session(Line(text, 0))
    assert isinstance(got, SessionNotice)
    assert (got.kind, got.value) == (kind, value)
    assert recognise(text) == [got]


def test_the_captured_login_of_fics() -> None:
    found, _, _ = read_corpus("mekk-session-short.txt")
    notices = [(event.kind, event.value) for event in found if isinstance(event, SessionNotice)]
    assert (K.BANNER, "fics") in notices
    assert (K.LOGIN, "GuestCPHL") in notices


def test_a_prompt_set_by_the_user_is_removed_once_the_server_has_reported_it() -> None:
    found = recognise('prompt set to "ICS> ".', "ICS> You are now observing game 2.")
    assert [type(event).__name__ for event in found] == ["SessionNotice", "ObservingStarted"]


@pytest.mark.parametrize(
    "text",
    [
        "<s> 10 w=warbly ti=00 rt=1291  t=3 i=0 r=r tp=blitz c=? rr=1200-1400 a=t f=t",
        "<sr> 8 17 30",
        "<pf> 20 w=X t=match p=X (----) [white] Y (----) unrated blitz 2 12",
        "Challenge: X (----) Y (1708) unrated blitz 5 0.",
        "Game notification: A (1515) vs. B (1712) rated standard 10 30",
        "login: ",
        "Your new RD will be 22.9",
    ],
)
def test_noise(text: str) -> None:
    assert recognise(text) == [Noise(Line(text, 0))]


@pytest.mark.parametrize(
    ("banner", "prompt", "tokens", "family"),
    [
        ("fics", "fics% ", 33, Family.FICS),
        ("chessd", None, 33, Family.CHESSD),
        (None, "aics%", 31, Family.ICC),
        (None, "fics% ", 32, Family.LASKER),
        (None, "fics% ", 31, Family.OLD),
        (None, "fics% ", 33, None),
        (None, None, None, None),
    ],
)
def test_dialects(banner: str | None, prompt: str | None, tokens: int | None, family: Family | None) -> None:
    got = detect_dialect(banner, prompt, tokens)
    assert (None if got is None else got.family) == family
    assert got is None or got.lag_meaningless is (family is Family.CHESSD)
