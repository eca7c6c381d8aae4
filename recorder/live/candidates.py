"""Games that may be observed: how each stands with us, whether it is wanted, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

from recorder.events import GameEnded
from recorder.live.judging import Judgement, explain, row_decides
from recorder.live.listed import Listed
from recorder.live.policy import Expression
from recorder.live.share import Share
from recorder.variants import read_category

__all__ = ["Candidate", "Fate", "Rank", "State", "Why", "Wishes", "partners_of"]


class State(Enum):
    """How a game stands with us."""

    SEEN = "seen"
    ASKED = "asked"
    WATCHED = "watched"
    LEAVING = "leaving"


class Rank(IntEnum):
    """Which game goes first when a place becomes free."""

    AGAIN = 0  # it was watched before the connection was lost
    PARTNER = 1
    HANDLE = 2
    POLICY = 3


@dataclass(slots=True)
class Candidate:
    """A game that the server has.

    Attributes:
        order: of first being seen, or of having been dropped for another. sweep: the table that showed it last.
        seen_ms, since_ms: when it was first seen, and since when ``state`` lasts.
        watched_ms: when it was first watched; None: never yet. wanted: why it was asked for.
        again: it was watched before the connection was lost. refused: why it is not asked for any more.
        on_cut_name: asked for while a name was printed cut.
        judgement: of the policy, until another line tells more.
        began_at_ms: UTC, when the server announced it; None: it did not. end: how it ended, if the server told so.
        announced: the server told that it began, on this connection. row_asked: a row of the table told of it, or was
            asked for.
        informed: a line told whether it has a partner. partner_asked: the server was asked for the partner's game.
    """

    listed: Listed
    order: int
    sweep: int
    seen_ms: int
    since_ms: int
    state: State = State.SEEN
    tries: int = 0
    watched_ms: int | None = None
    wanted: str | None = None
    again: bool = False
    refused: str | None = None
    on_cut_name: bool = False
    judgement: Judgement | None = None
    began_at_ms: int | None = None
    end: GameEnded | None = None
    announced: bool = False
    row_asked: bool = False
    informed: bool = False
    partner_asked: bool = False

    @property
    def is_bughouse(self) -> bool:
        """Whether a line told so."""
        return read_category(self.listed.facts.category) == "bughouse"

    def move(self, state: State, now_ms: int) -> None:
        """It stands otherwise with us from now on; one that is watched may be asked for again later."""
        self.state = state
        self.since_ms = now_ms
        if state is State.WATCHED:
            self.watched_ms = now_ms if self.watched_ms is None else self.watched_ms
            self.again = False
            self.tries = 0
            self.refused = None

    def give_up(self, reason: str, now_ms: int) -> None:
        """It is not asked for any more."""
        self.refused = reason
        self.move(State.SEEN, now_ms)


class Fate(Enum):
    """What is being done about a game."""

    OBSERVED = "observed"
    ASKED = "asked for"
    LEAVING = "being left"
    REFUSED = "refused"
    UNWANTED = "not wanted"
    UNCONFIRMED = "unconfirmed"
    WAITING = "waiting"


class Why(NamedTuple):
    """What is being done about a game and the reason, a clause without a full stop."""

    fate: Fate
    reason: str


def partners_of(games: Mapping[int, Candidate]) -> dict[int, int]:
    """Each game that is the other board of a watched one → that one, whichever line told of the pair."""
    pairs: dict[int, int] = {}
    for number, game in games.items():
        other = game.listed.facts.partner_game_no
        if other is None:
            continue
        if game.state is State.WATCHED:
            pairs[other] = number
        if other in games and games[other].state is State.WATCHED:
            pairs[number] = other
    return pairs


class Wishes:
    """What a person wants observed.

    Args:
        policy: an expression, or None for the handles alone.
        handles: players whose games are wanted whatever the policy says.
        share: of all these games; None: every one.
    """

    def __init__(self, policy: Expression | None, handles: Iterable[str] = (), share: Share | None = None) -> None:
        self._policy = policy
        self._share = share
        self._handles = frozenset(handle.lower() for handle in handles)

    def rank(self, game: Candidate, partners: Mapping[int, int]) -> tuple[Rank | None, str]:
        """How much a game is wanted (None: it is not), and why; empty: the policy tells, its ``judgement`` has more.

        Args:
            partners: what ``partners_of`` gives.
        """
        listed = game.listed
        if game.again:
            return Rank.AGAIN, "it was observed before the connection was lost"
        partner = partners.get(listed.game_no)
        if partner is not None:
            return Rank.PARTNER, f"its bughouse partner, game {partner}, is observed"
        if listed.facts.white is None or listed.facts.black is None:
            return None, "no line tells who plays it"
        if self._share is not None and not self._share.has(listed):
            return None, "it is in the share of another recorder"
        handle = self._listed_handle(listed)
        if handle is not None and not listed.examined and not listed.private:
            return Rank.HANDLE, f"{handle} is in the list of handles"
        if self._policy is None:
            return None, "no player of it is in the list of handles"
        if game.judgement is None:
            game.judgement = explain(self._policy, listed)
        return (Rank.POLICY if game.judgement.observed else None), ""

    def needs_row(self, game: Candidate) -> bool:
        """Whether a game that is not wanted may be, depending on what the table tells of it; after ``rank``."""
        judgement = game.judgement  # None: the policy was not asked
        return judgement is not None and judgement.barred is None and row_decides(judgement.part, game.listed)

    def reason(self, game: Candidate, partners: Mapping[int, int]) -> tuple[Rank | None, str]:
        """The same with the reason in words, which take longer than the decision."""
        rank, reason = self.rank(game, partners)
        if not reason and game.judgement is not None:
            reason = game.judgement.reason
        return rank, reason

    def standing(self, game: Candidate, partners: Mapping[int, int], *, confirmed: bool) -> Why:
        """What is being done about a game, and why.

        Args:
            partners: what ``partners_of`` gives. confirmed: a line has named it since we are connected.
        """
        rank, reason = self.reason(game, partners)
        if game.state is State.WATCHED:
            unasked = game.wanted or "the server began to show it without being asked"
            return Why(Fate.OBSERVED, reason if rank is not None else unasked)
        if game.state is State.ASKED:
            return Why(Fate.ASKED, reason if rank is not None else game.wanted or reason)
        if game.state is State.LEAVING:
            return Why(Fate.LEAVING, "its place goes to a game that waits")
        if game.refused is not None:
            return Why(Fate.REFUSED, game.refused)
        if rank is None:
            return Why(Fate.UNWANTED, reason)
        return Why(Fate.WAITING if confirmed else Fate.UNCONFIRMED, reason)

    def _listed_handle(self, listed: Listed) -> str | None:
        for name, cut in ((listed.facts.white, listed.white_cut), (listed.facts.black, listed.black_cut)):
            if name is None:
                continue
            shown = name.lower()
            if shown in self._handles or (cut and any(handle.startswith(shown) for handle in self._handles)):
                return name
        return None
