"""Connections: resolving, sending, closing, and detection of dead ones."""

from recorder.live.net.connection import ANSWER_MS, Pulse

MINUTE = 60_000


def test_after_a_quiet_time_one_command_is_sent() -> None:
    pulse = Pulse(0)
    pulse.sent(0)
    pulse.heard(10)
    assert not pulse.needs_command(10 + 2 * MINUTE - 1)
    assert pulse.needs_command(10 + 2 * MINUTE)
    pulse.sent(10 + 2 * MINUTE)
    assert not pulse.needs_command(20 + 2 * MINUTE)  # it waits for an answer


def test_a_server_that_only_sends_gets_a_command_every_half_hour() -> None:
    pulse = Pulse(0)
    for minute in range(30):
        pulse.heard(minute * MINUTE)
        assert not pulse.needs_command(minute * MINUTE)
    pulse.heard(30 * MINUTE)
    assert pulse.needs_command(30 * MINUTE)


def test_a_command_without_an_answer_means_a_dead_connection() -> None:
    pulse = Pulse(0)
    pulse.heard(5_000)
    pulse.sent(MINUTE)
    pulse.sent(2 * MINUTE)  # another command does not restart the wait
    assert pulse.dead(MINUTE + ANSWER_MS - 1) is None
    assert pulse.dead(MINUTE + ANSWER_MS) == "the server has not answered for 3 minutes"
    pulse.heard(MINUTE + ANSWER_MS)
    assert pulse.dead(9 * MINUTE) is None


def test_silence_alone_does_not_mean_a_dead_connection() -> None:
    pulse = Pulse(0)
    assert pulse.dead(90 * MINUTE) is None


def test_a_server_that_reads_nothing_is_presumed_dead_although_it_sends() -> None:
    pulse = Pulse(0)
    for second in range(0, ANSWER_MS, 1000):
        pulse.heard(second)
        pulse.waits(True, second)
        assert pulse.dead(second) is None
    pulse.waits(True, ANSWER_MS)
    assert pulse.dead(ANSWER_MS) == "the server has taken nothing for 2 minutes"
    pulse.waits(False, ANSWER_MS)
    assert pulse.dead(ANSWER_MS) is None
