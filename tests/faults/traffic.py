"""What the server of a fault run says: a few generated games, cut into bursts with pauses, other ones for each seed."""

import io
import random
from dataclasses import replace

from benchmarks.generate import log_lines
from tests.support.script import Say, Step, Wait
from tests.support.testserver import FICS, Dialogue

TABLE = (
    b"\n\r 12 1835 Ann         1831 Bob        [ br  5   0]   2:08 -  3:25 (31-30) W:  9\n\r\n\r"
    b"  1 game displayed.\n\r\n\rfics% "
)
OBSERVE = "rated & blitz"
"""A policy for which ``TABLE`` holds a game."""


def steps(seed: int, chance: random.Random, *, games: int = 3, lasting_s: float = 1.0) -> list[Step]:
    """The whole talk after the login.

    Args:
        seed: of the games. chance: cuts them. lasting_s: sum of the pauses.
    """
    texts = [text for _, text in log_lines(games, seed, io.StringIO())][1:-1]
    bursts: list[bytes] = []
    while texts:
        count = chance.choice((1, 1, 2, 3, 5, 8, 30))
        bursts.append("".join(texts[:count]).encode("ascii"))
        del texts[:count]
    steps: list[Step] = []
    for burst in bursts:
        steps += [Wait(round(chance.uniform(0, 2) * lasting_s * 1000 / len(bursts))), Say(burst)]
    return steps


def total_bytes(script: list[Step]) -> int:
    """How much a script says."""
    return sum(len(step.data) for step in script if isinstance(step, Say))


def dialogue(name: str, script: list[Step]) -> Dialogue:
    """A server with a banner that no other connection has, so that its bytes differ from all others'."""
    manners = replace(FICS, banner=f"\nThis is connection {name}.\n\n")
    return Dialogue(manners, script=script, answers={b"games": TABLE}, speed=1)
