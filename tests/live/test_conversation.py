"""The commands on a connection, step by step."""

from recorder.live.conversation import Conversation, Lasting, RecorderStage, RequestQueue
from recorder.live.login.login import Login
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan

ASKS = b'\n"Ann" is a registered name.  If it is yours, type the password.\n\npassword: '
WELCOME = b"\n**** Starting FICS session as Ann ****\n\nfics% "
VARIABLES = b"\nVariable settings of Ann:\n\ntime=2       private=0     style=1\nkibitz=1   gin=0\n\nfics% "


def entered(user: str | None = None, lasting: Lasting | None = None, queue: RequestQueue | None = None) -> Conversation:
    """Return a conversation that has just logged in, at time 0."""
    observing = Observing(ObservationPlan("rated"))
    conversation = Conversation(Login(user, lambda: "s3cretWord"), observing, lasting=lasting, queue=queue)
    steps = (
        [b"login: ", ASKS, WELCOME] if user else [b"login: ", b'Press return to enter FICS as "GuestAB":', b"fics% "]
    )
    for words in steps:
        conversation.receive(words, 0, 0)
        if conversation.stage is RecorderStage.LOGIN:
            conversation.take(0)
    return conversation


def test_settings_are_sent_with_pauses_before_other_commands() -> None:
    conversation, sent = entered(queue=RequestQueue(gap_ms=500, burst=4)), []
    for now_ms in range(0, 5_000, 100):
        lines = conversation.take(now_ms).split(b"\n")[:-1]
        conversation.receive(b"\nfics% ", now_ms, 0)
        sent += [(now_ms, line) for line in lines]
    assert [line for _, line in sent] == [
        *(b"iset ms 1", b"iset gameinfo 1", b"set style 12", b"set gin 1", b"iset nowrap 1", b"iset startpos 1"),
        *(b"iset defprompt 1", b"iset nohighlight 1", b"iset allresults 1", b"games"),
    ]
    assert [now_ms for now_ms, _ in sent] == [0, 0, 0, 0, 500, 1000, 1500, 2000, 2500, 3000]


def test_announcements_that_were_on_are_not_turned_off() -> None:
    conversation = entered("Ann")
    conversation.take(0)
    conversation.receive(VARIABLES.replace(b"gin=0", b"gin=1"), 10, 0)
    assert b"gin" not in settings_sent(conversation, 10)
    conversation.leave()
    assert conversation.take(20_000) == b"set style 1\nquit\n"


def test_announcements_are_not_turned_on_where_the_server_has_none() -> None:
    conversation = entered("Ann")
    conversation.take(0)
    conversation.receive(VARIABLES.replace(b"gin=0", b"seek=0"), 10, 0)
    assert conversation.next_at_ms(10) == 1_010  # it waits for the rest of the answer
    sent = settings_sent(conversation, 1_010)
    assert b"set style 12\n" in sent
    assert b"gin" not in sent


def test_an_answer_in_two_parts_is_put_together() -> None:
    conversation = entered("Ann")
    conversation.take(0)
    middle = VARIABLES.index(b"kibitz")
    conversation.receive(VARIABLES[:middle], 10, 0)
    assert conversation.stage is RecorderStage.ASKING
    conversation.receive(VARIABLES[middle:], 200, 0)
    assert b"set gin 1\n" in settings_sent(conversation, 200)
    conversation.leave()
    assert conversation.take(20_000) == b"set style 1\nset gin 0\nquit\n"


def test_settings_that_were_sent_too_fast_are_repeated() -> None:
    conversation = entered()
    assert b"set gin 1\n" in conversation.take(0)
    conversation.receive(b"\nYou are sending commands too fast.\nfics% \n", 10, 0)
    assert conversation.take(20) == b""
    assert b"set gin 1\n" in settings_sent(conversation, 1_000)


def test_recording_continues_without_an_answer_about_the_settings() -> None:
    conversation = entered("Ann")
    due_ms = 0
    for _ in range(3):
        assert conversation.take(due_ms) == b"variables\n"
        assert conversation.stage is RecorderStage.ASKING
        before, due_ms = due_ms, conversation.next_at_ms(due_ms) or 0
        assert due_ms == before + 5_000
        assert conversation.take(due_ms - 1) == b""
    assert conversation.take(due_ms).startswith(b"iset ms 1\niset gameinfo 1\nset style 12\n")


def test_a_shutdown_that_is_only_announced_is_no_reason_an_hour_later() -> None:
    conversation = entered()
    conversation.receive(b"\n**** Server going down in 60 minutes. ****\n\nfics% \n", 1_000, 0)
    assert conversation.lost is not None
    conversation.receive(b"\nfics% ", 61_000, 0)
    assert conversation.lost is not None
    conversation.receive(b"\nfics% ", 61_001, 0)
    assert conversation.lost is None


def test_keepalive_commands_are_sent_only_after_the_login() -> None:
    conversation = Conversation(Login(None), Observing(ObservationPlan("rated")))
    conversation.keep_alive(0)
    assert conversation.take(0) == b""
    conversation = entered()
    sent = b""
    for now_ms in range(0, 5_000, 500):
        sent += conversation.take(now_ms)
        conversation.receive(b"\nThere are no games in progress.\nfics% ", now_ms, 0)
    conversation.keep_alive(5_000)
    assert conversation.take(5_000) == b"date\n"


def settings_sent(conversation: Conversation, since_ms: int) -> bytes:
    return b"".join(conversation.take(now_ms) for now_ms in range(since_ms, since_ms + 10_000, 500))


def test_a_restored_style_is_not_reported() -> None:
    lasting = Lasting()
    conversation = entered("Ann", lasting)
    conversation.take(0)
    conversation.receive(VARIABLES, 10, 0)
    assert lasting.left_behind() is None  # nothing has changed yet
    assert b"set style 12\n" in settings_sent(conversation, 10)
    assert lasting == Lasting({"style": "1", "gin": "0"}, changed={"style", "gin"})
    conversation.leave()
    assert lasting.left_behind() is None


def test_a_style_left_by_a_lost_connection_is_reported_and_restored_by_the_next() -> None:
    lasting = Lasting()
    conversation = entered("Ann", lasting)
    conversation.take(0)
    conversation.receive(VARIABLES, 10, 0)
    settings_sent(conversation, 10)
    conversation.receive(b"Style 12 set.\nfics% ", 11_000, 0)  # the answer to gin does not come
    conversation.disconnected()
    assert lasting.left_behind() == (
        "The account has style 12 now, because its own could not be restored: it had style 1. “set style” changes it. "
        "The account may have gin 1 now, because its own could not be restored: it had gin 0. “set gin” changes it."
    )
    second = entered("Ann", lasting)
    assert b"variables" not in settings_sent(second, 0)
    second.leave()
    assert second.take(10_000) == b"set style 1\nset gin 0\nquit\n"
    assert lasting.left_behind() is None


def test_an_unknown_style_is_asked_for_three_times_and_reported() -> None:
    lasting = Lasting()
    conversation = entered("Ann", lasting)
    asked = [conversation.take(now_ms) for now_ms in range(0, 14_999, 1000)]
    assert b"".join(asked) == b"variables\n" * 3
    assert b"set style 12\n" in settings_sent(conversation, 15_000)
    conversation.receive(b"Style 12 set.\nfics% You will now hear game results.\nfics% ", 26_000, 0)
    conversation.leave()
    assert conversation.take(30_000) == b"quit\n"
    assert lasting.left_behind() == (
        "The account has style 12 now, because its own could not be restored: the server did not report it. "
        "“set style” changes it. "
        "The account has gin 1 now, because its own could not be restored: the server did not report it. "
        "“set gin” changes it."
    )


def test_the_recorders_own_style_is_not_taken_for_the_users() -> None:
    lasting = Lasting(changed={"style", "gin"})  # an earlier connection got no answer and was lost
    conversation = entered("Ann", lasting)
    settings_sent(conversation, 0)
    ours = VARIABLES.replace(b"style=1", b"style=12").replace(b"gin=0", b"gin=1")
    conversation.receive(ours, 10_000, 0)
    assert lasting == Lasting({}, changed={"style", "gin"}, confirmed={"style", "gin"})
    conversation.receive(VARIABLES.replace(b"style=1", b"style=3"), 10_001, 0)
    conversation.leave()
    assert conversation.take(10_002) == b"set style 3\nset gin 0\nquit\n"


def test_an_accounts_own_style_12_is_not_reported() -> None:
    lasting = Lasting()
    conversation = entered("Ann", lasting)
    conversation.take(0)
    conversation.receive(VARIABLES.replace(b"style=1", b"style=12").replace(b"gin=0", b"gin=1"), 10, 0)
    assert b"style" not in settings_sent(conversation, 10)
    conversation.disconnected()
    assert lasting.left_behind() is None
    lasting = Lasting()
    guest = entered(None, lasting)
    assert b"set style 12\n" in settings_sent(guest, 0)
    guest.disconnected()
    assert lasting.left_behind() is None
