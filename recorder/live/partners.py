"""The other boards of bughouse games, where the server does not tell their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recorder.live.candidates import Candidate, State, partners_of
from recorder.live.requests import TURN_MS, AskPartner, no_partner

__all__ = ["Partners"]

_TOLD_MS: Final = 3_000  # where <g1> tells the partner's number, it has come by then


class Partners:
    """Asks for one other board at a time, on one connection.

    Attributes:
        due_ms: when to look for games whose other board is not known; None: there is nothing to look for.
    """

    def __init__(self) -> None:
        self.due_ms: int | None = None
        self._asked_for: Candidate | None = None  # whose other board was asked for
        self._asked_ms = 0
        self._known = True  # the server has the command for it, as far as we know

    def look_at(self, game: Candidate, now_ms: int) -> None:
        """A line told of a game, or its observation has begun."""
        if game.state is State.WATCHED and game.is_bughouse and not game.partner_asked and self.due_ms is None:
            self.due_ms = now_ms + _TOLD_MS

    def ask(self, games: Mapping[int, Candidate], now_ms: int) -> list[AskPartner]:
        """What to ask for now.

        Only if it can be none of the games that are watched: the command would end the observation of such a one.
        """
        if self._asked_for is not None and now_ms >= self._asked_ms + TURN_MS:
            self._asked_for = None
        if self.due_ms is None or now_ms < self.due_ms:
            return []
        self.due_ms = None
        partners = partners_of(games)
        alone = [
            game
            for number, game in games.items()
            if game.is_bughouse
            and game.state is not State.SEEN
            and not game.informed
            and number not in partners
            and game.listed.facts.partner_game_no is None
        ]
        if len(alone) != 1 or self._asked_for is not None or not self._known:
            return []
        (game,) = alone
        facts, listed = game.listed.facts, game.listed
        names = ((facts.white, listed.white_cut), (facts.black, listed.black_cut))  # they have the same other board
        handle = next((name for name, cut in names if name is not None and name.isascii() and not cut), None)
        if game.partner_asked or handle is None:
            return []
        game.partner_asked = True
        self._asked_for, self._asked_ms = game, now_ms
        return [AskPartner(listed.game_no, handle)]

    def answered_by(self, game: Candidate, now_ms: int) -> bool:
        """A game began to be shown without an ``observe`` of ours, or its observation was ended without ``unobserve``.

        Returns:
            Whether it is the other board that was asked for; then it knows its partner now.
        """
        if self._asked_for is None or self._asked_for is game or now_ms >= self._asked_ms + TURN_MS:
            return False
        game.listed.facts.partner_game_no = self._asked_for.listed.game_no
        self._asked_for = None
        return True

    def hear(self, line: str) -> None:
        """A line that no recogniser knows: perhaps the refusal."""
        refused = no_partner(line) if self._asked_for is not None else None
        if refused is not None:
            self._asked_for = None
            self._known = refused
