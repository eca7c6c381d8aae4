"""Clients of the replay server in virtual time, without sockets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from recorder.model import Game
from recorder.replay.server.commands import answer_command
from recorder.replay.server.login import Greeting
from recorder.replay.server.session import ReplaySession
from recorder.replay.several import moments_of_games
from recorder.replay.show import Show
from tests.replay.sources import source_of


def open_show(games: Sequence[Game], apart: bool = False) -> Show:
    """A replay of games that waits for its client; ``apart``: no two moments have the same time."""
    moments = moments_of_games(games)
    if apart:
        moments = [moment._replace(at_ms=place) for place, moment in enumerate(moments)]
    show = Show(source_of(games, moments), 0, handles=True)
    show.open(0)
    return show


MANNER = Greeting()


@dataclass
class Client:
    """A client that types; ``heard`` is all output so far, ``now_ns`` the client's time."""

    session: ReplaySession
    heard: bytearray = field(default_factory=bytearray)
    now_ns: int = 0
    _seen: int = 0

    @classmethod
    def of(cls, games: Sequence[Game], name: str = "Looker", manner: Greeting = MANNER, apart: bool = False) -> Client:
        """Log in to a separate replay."""
        client = cls(ReplaySession(open_show(games, apart), 0, manner, answer_command))
        client.say(name, "")
        return client

    def say(self, *lines: str) -> str:
        """Type lines; return what was answered."""
        for line in lines:
            self.session.receive(f"{line}\n".encode("latin-1"), self.now_ns)
        self.heard += self.session.take_output()
        return self.new()

    def new(self) -> str:
        """Return the output since the last call, without carriage returns."""
        begin, self._seen = self._seen, len(self.heard)
        return self.heard[begin:].decode("latin-1").replace("\r", "")

    def wait(self, most: int = 100_000) -> str:
        """Let the replay run to its end, or for this number of moments; return the output."""
        while most and (due_ns := self.session.due_ns) is not None:
            self.now_ns = max(self.now_ns, due_ns)
            self.session.tick(self.now_ns)
            self.heard += self.session.take_output()
            most -= 1
        return self.new()


def lines_of(text: str, tag: str) -> list[str]:
    return re.findall(rf"^{re.escape(tag)}.*$", text, re.M)
