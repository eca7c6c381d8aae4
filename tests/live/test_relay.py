from __future__ import annotations

import random

import pytest

from recorder.live.relay import HIGH_BYTES, ProxySide, Relay

CLIENT, SERVER = ProxySide.CLIENT, ProxySide.SERVER


def test_bytes_go_to_the_other_side() -> None:
    relay = Relay()
    relay.receive(CLIENT, b"moves\n")
    assert relay.data_to_send(SERVER) == b"moves\n"
    assert relay.wants_write(SERVER)
    assert not relay.wants_write(CLIENT)
    relay.sent(SERVER, 2)
    assert relay.data_to_send(SERVER) == b"ves\n"
    relay.sent(SERVER, 4)
    assert not relay.wants_write(SERVER)
    assert relay.forwarded == {CLIENT: 6, SERVER: 0}


def test_a_side_that_does_not_read_slows_only_the_other_side() -> None:
    relay = Relay()
    relay.receive(SERVER, bytes(HIGH_BYTES))
    assert not relay.wants_read(SERVER)
    assert relay.wants_read(CLIENT)
    relay.sent(CLIENT, 1)
    assert relay.wants_read(SERVER)


def test_an_end_is_passed_on_once_after_the_last_byte_of_its_direction() -> None:
    relay = Relay()
    relay.receive(CLIENT, b"quit\n")
    relay.receive_end(CLIENT)
    assert not relay.take_end(SERVER)
    assert not relay.wants_read(CLIENT)
    relay.sent(SERVER, 5)
    assert relay.take_end(SERVER)
    assert not relay.take_end(SERVER)
    assert not relay.take_end(CLIENT)
    assert relay.wants_read(SERVER)
    assert not relay.done
    relay.receive_end(SERVER)
    assert relay.take_end(CLIENT)
    assert relay.done
    assert not relay.leaving


def test_bytes_of_a_lost_side_are_still_passed_on() -> None:
    relay = Relay()
    relay.receive(SERVER, b"last words")
    relay.receive(CLIENT, b"to nobody")
    relay.lose(SERVER)
    assert relay.leaving
    assert not relay.wants_write(SERVER)
    assert relay.data_to_send(CLIENT) == b"last words"
    assert relay.wants_read(CLIENT), "what the client says is still heard, for the journal"
    relay.receive(CLIENT, bytes(HIGH_BYTES))
    assert relay.wants_read(CLIENT)
    relay.sent(CLIENT, 10)
    assert relay.take_end(CLIENT)
    assert not relay.done
    relay.receive_end(CLIENT)
    assert relay.done


def test_a_side_that_reads_no_more_may_still_send() -> None:
    relay = Relay()
    relay.refuse(SERVER)
    assert relay.leaving
    assert relay.wants_read(SERVER)
    relay.receive(SERVER, b"**** Auto-logout ****")
    assert relay.data_to_send(CLIENT) == b"**** Auto-logout ****"


@pytest.mark.parametrize("seed", range(50))
def test_any_order_of_events_keeps_order_and_memory(seed: int) -> None:
    """With two sockets of random behaviour everything arrives, in order, and few bytes wait."""
    dice = random.Random(seed)
    relay = Relay()
    to_say = {side: dice.randbytes(dice.randrange(400_000)) for side in ProxySide}
    sent_bytes = dict.fromkeys(ProxySide, 0)
    heard = {side: bytearray() for side in ProxySide}
    ended = dict.fromkeys(ProxySide, False)
    while not relay.done:
        side = dice.choice([CLIENT, SERVER])
        if relay.wants_read(side) and dice.random() < 0.6:
            data = to_say[side][sent_bytes[side] : sent_bytes[side] + dice.randrange(1, 1 << 16)]
            sent_bytes[side] += len(data)
            if data:
                relay.receive(side, data)
            else:
                relay.receive_end(side)
        if relay.wants_write(side):
            count = dice.randrange(len(relay.data_to_send(side)) + 1)
            assert not ended[side]
            heard[side] += relay.data_to_send(side)[:count]
            relay.sent(side, count)
        ended[side] |= relay.take_end(side)
        assert len(relay.data_to_send(side)) < 2 * HIGH_BYTES
    for side in ProxySide:
        assert bytes(heard[side.other]) == to_say[side]
        assert ended[side]
    assert relay.forwarded == {side: len(data) for side, data in to_say.items()}
