"""What is said on a connection, step by step."""

from __future__ import annotations

from recorder.live.conversation import Conversation, Stage
from recorder.live.login import Login
from recorder.live.observing import Observing
from recorder.live.policy import parse_policy

ASKS = b'\n"Ann" is a registered name.  If it is yours, type the password.\n\npassword: '
WELCOME = b"\n**** Starting FICS session as Ann ****\n\nfics% "
VARIABLES = b"\nVariable settings of Ann:\n\ntime=2       private=0     style=1\n\nfics% "


def entered(user: str | None = None) -> Conversation:
    """A conversation that has just been let in, at time 0."""
    conversation = Conversation(Login(user, lambda: "s3cretWord"), Observing(parse_policy("rated")))
    said = [b"login: ", ASKS, WELCOME] if user else [b"login: ", b'Press return to enter FICS as "GuestAB":', b"fics% "]
    for words in said:
        conversation.receive(words, 0, 0)
        if conversation.stage is Stage.LOGIN:
            conversation.take(0)
    return conversation


def test_settings_are_spaced_and_nothing_overtakes_them() -> None:
    conversation, said = entered(), []
    for now_ms in range(0, 10_000, 100):
        lines = conversation.take(now_ms).split(b"\n")[:-1]
        conversation.receive(b"\nfics% ", now_ms, 0)
        said += [(now_ms, line) for line in lines]
    assert [line for _, line in said] == [
        *(b"iset defprompt 1", b"iset nohighlight 1", b"iset ms 1", b"iset nowrap 1"),
        *(b"iset startpos 1", b"iset gameinfo 1", b"iset allresults 1", b"set style 12", b"games"),
    ]
    assert [now_ms for now_ms, _ in said] == [0, 0, 0, 0, 500, 1000, 1500, 2000, 2500]


def test_the_style_is_asked_for_before_it_is_changed_and_put_back_at_the_end() -> None:
    conversation = entered("Ann")
    assert conversation.take(0) == b"variables\n"
    conversation.receive(VARIABLES, 10, 0)
    said = b"".join(conversation.take(now_ms) for now_ms in range(10, 10_000, 500))
    assert b"set style 12\n" in said
    conversation.leave()
    assert conversation.take(10_000) == b"set style 1\nquit\n"
    assert conversation.next_at_ms(10_000) is None


def test_without_an_answer_about_the_settings_it_goes_on() -> None:
    conversation = entered("Ann")
    conversation.take(0)
    assert conversation.stage is Stage.ASKING
    due_ms = conversation.next_at_ms(0)
    assert due_ms == 5_000
    assert conversation.take(4_999) == b""
    assert conversation.take(due_ms).startswith(b"iset defprompt 1\n")


def test_a_shutdown_that_is_only_announced_is_no_reason_an_hour_later() -> None:
    conversation = entered()
    conversation.receive(b"\n**** Server going down in 60 minutes. ****\n\nfics% \n", 1_000, 0)
    assert conversation.lost is not None
    conversation.receive(b"\nfics% ", 61_000, 0)
    assert conversation.lost is not None
    conversation.receive(b"\nfics% ", 61_001, 0)
    assert conversation.lost is None


def test_something_harmless_is_only_said_to_who_has_let_us_in() -> None:
    conversation = Conversation(Login(None), Observing(parse_policy("rated")))
    conversation.keep_alive(0)
    assert conversation.take(0) == b""
    conversation = entered()
    said = b""
    for now_ms in range(0, 5_000, 500):
        said += conversation.take(now_ms)
        conversation.receive(b"\nThere are no games in progress.\nfics% ", now_ms, 0)
    conversation.keep_alive(5_000)
    assert conversation.take(5_000) == b"date\n"
