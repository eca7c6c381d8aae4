"""The places that a server gives for observed games: how many there are, and which waiting games get them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recorder.live.policy.candidates import Candidate, CandidateState, ObservationWishes, partners_of
from recorder.live.requests import TURN_MS, Observe, Request, Unobserve

__all__ = ["Places", "leave"]

_IN_FLIGHT: Final = 12  # unanswered observe commands: a better game may appear meanwhile
_MAX_TRIES: Final = 3
_RETRY_MS: Final = 60_000
_PENDING: Final = (CandidateState.ASKED, CandidateState.LEAVING)


class Places:
    """The places on one connection after another.

    Args:
        games: the games of the server by number; the mapping is kept and read again.
        limit: games observed at a time; None: learned from the server's refusal.

    Attributes:
        limit: the limit in force; None: not known.
        chosen: how many games were requested, each counted once.
        not_before_ms: no game is requested before this time, in monotonic milliseconds.
    """

    def __init__(self, games: Mapping[int, Candidate], limit: int | None) -> None:
        if limit is not None and limit < 1:
            raise ValueError("the limit must be at least 1")
        self.limit = limit
        self.chosen = 0
        self.not_before_ms = 0
        self._games = games
        self._wanted_limit = limit

    def connected(self, now_ms: int) -> None:
        """Start again on a new connection with the limit that the user set."""
        self.limit = self._wanted_limit
        self.not_before_ms = now_ms

    def set_limit(self, limit: int | None) -> None:
        """Change the limit; the same limit as before keeps what the server's refusal has shown."""
        if limit != self._wanted_limit:
            self.limit = self._wanted_limit = limit

    @property
    def are_free(self) -> bool:
        """Whether another game could be observed, as far as the limit is known."""
        return self.limit is None or self._count_taken() < self.limit

    def missing(self, waiting: int) -> int:
        """How many of the waiting games have no free place; negative if there are more places than games."""
        if self.limit is None:
            return 0
        taken = sum(game.state in (CandidateState.WATCHED, CandidateState.ASKED) for game in self._games.values())
        return waiting - (self.limit - taken)

    def learn_limit(self, now_ms: int) -> None:
        """Take the number of games observed now for the limit, after the server has refused another one."""
        observed = sum(game.state in (CandidateState.WATCHED, CandidateState.LEAVING) for game in self._games.values())
        self.limit = max(1, observed)
        if observed == 0:  # another connection of this account observes games: retry later
            self.not_before_ms = now_ms + _RETRY_MS

    def ask_for(self, queue: list[Candidate], wishes: ObservationWishes, now_ms: int) -> list[Request]:
        """Request the games at the front of the queue, as many as there are places."""
        if now_ms < self.not_before_ms:
            return []
        places = _IN_FLIGHT - sum(game.state is CandidateState.ASKED for game in self._games.values())
        if self.limit is not None:
            places = min(places, self.limit - self._count_taken())
        requests: list[Request] = []
        for game in queue[: max(0, places)]:
            game.wanted = wishes.reason(game, partners_of(self._games))[1]
            game.move(CandidateState.ASKED, now_ms)
            game.tries += 1
            self.chosen += game.tries == 1
            game.on_cut_name = game.listed.white_cut or game.listed.black_cut
            requests.append(Observe(game.listed.game_no))
        return requests

    def time_out(self, now_ms: int) -> None:
        """Return games to the queue whose request had no answer; after three tries they are not requested any more."""
        for game in self._games.values():
            if game.state in _PENDING and now_ms >= game.since_ms + TURN_MS:
                if game.state is CandidateState.ASKED and game.tries >= _MAX_TRIES:
                    game.refused = f"the server did not answer {_MAX_TRIES} times"
                game.move(CandidateState.SEEN, now_ms)

    def _count_taken(self) -> int:
        return sum(game.state is not CandidateState.SEEN for game in self._games.values())


def leave(game: Candidate, now_ms: int) -> Request:
    """End the observation of a game."""
    game.move(CandidateState.LEAVING, now_ms)
    return Unobserve(game.listed.game_no)
