"""Games that may be observed: the state of each, whether it is wanted and why, and the other boards of bughouse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final, NamedTuple

from recorder.events import GameEnded
from recorder.live.policy.games import Listed, Share
from recorder.live.policy.judge import Judgement, explain, row_decides
from recorder.live.policy.language import Expression
from recorder.live.requests import TURN_MS, AskPartner, no_partner
from recorder.rules.variants import read_category


class CandidateState(Enum):
    SEEN = "seen"
    ASKED = "asked"
    WATCHED = "watched"
    LEAVING = "leaving"


class Rank(IntEnum):
    """Which game goes first when a place becomes free."""

    RESUMED = 0  # it was observed before the connection was lost
    PARTNER = 1
    HANDLE = 2
    POLICY = 3


@dataclass(slots=True)
class Candidate:
    """A game that the server has.

    ``listed`` has its facts, ``judgement`` what the policy says of them, until another line has new ones.
    """

    listed: Listed
    order: int  # of first being seen, or of having been dropped for another
    sweep: int  # the table that showed it last
    seen_ms: int
    since_ms: int
    state: CandidateState = CandidateState.SEEN
    tries: int = 0
    watched_ms: int | None = None  # when it was first observed
    wanted: str | None = None  # why it was requested
    was_watched: bool = False  # before the connection was lost
    refused: str | None = None  # why it is not requested any more
    on_cut_name: bool = False  # requested while a name was printed cut
    judgement: Judgement | None = None
    began_at_ms: int | None = None  # UTC, when the server announced it
    end: GameEnded | None = None  # if the server reported it
    announced: bool = False  # on this connection
    row_asked: bool = False  # a row of the table contained it, or was requested
    informed: bool = False  # a line states whether it has a partner
    partner_asked: bool = False  # the partner's game was requested

    @property
    def is_bughouse(self) -> bool:
        return read_category(self.listed.facts.category) == "bughouse"

    def move(self, state: CandidateState, now_ms: int) -> None:
        """An observed game may be requested again later."""
        self.state = state
        self.since_ms = now_ms
        if state is CandidateState.WATCHED:
            self.watched_ms = now_ms if self.watched_ms is None else self.watched_ms
            self.was_watched = False
            self.tries = 0
            self.refused = None

    def give_up(self, reason: str, now_ms: int) -> None:
        self.refused = reason
        self.move(CandidateState.SEEN, now_ms)


class Fate(Enum):
    OBSERVED = "observed"
    ASKED = "asked for"
    LEAVING = "being left"
    REFUSED = "refused"
    UNWANTED = "not wanted"
    UNCONFIRMED = "unconfirmed"
    WAITING = "waiting"


class Why(NamedTuple):
    """The reason is a clause without a full stop."""

    fate: Fate
    reason: str


def partners_of(games: Mapping[int, Candidate]) -> dict[int, int]:
    """Each game that is the other board of an observed one → that one, whichever line named the pair."""
    pairs: dict[int, int] = {}
    for number, game in games.items():
        other = game.listed.facts.partner_game_no
        if other is None:
            continue
        if game.state is CandidateState.WATCHED:
            pairs[other] = number
        if other in games and games[other].state is CandidateState.WATCHED:
            pairs[number] = other
    return pairs


class ObservationWishes:
    """What the user wants to observe: games of a policy and of handles, or a share of all these games."""

    def __init__(self, policy: Expression | None, handles: Iterable[str], share: Share | None) -> None:
        self._policy = policy
        self._share = share
        self._handles = frozenset(handle.lower() for handle in handles)

    def rank(self, game: Candidate, partners: Mapping[int, int]) -> tuple[Rank | None, str]:
        """The rank of a game (None: it is not wanted) and the reason; empty: the ``judgement`` of the policy has it."""
        listed = game.listed
        if game.was_watched:
            return Rank.RESUMED, "it was observed before the connection was lost"
        partner = partners.get(listed.game_no)
        if partner is not None:
            return Rank.PARTNER, f"its bughouse partner, game {partner}, is observed"
        if listed.facts.white is None or listed.facts.black is None:
            return None, "its players are unknown"
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
        """Whether a game that is not wanted may become wanted by its row of the table; to be called after ``rank``."""
        judgement = game.judgement  # None: the policy was not asked
        return judgement is not None and judgement.barred is None and row_decides(judgement.part, game.listed)

    def reason(self, game: Candidate, partners: Mapping[int, int]) -> tuple[Rank | None, str]:
        """As ``rank``, with the reason in words, which take longer than the decision."""
        rank, reason = self.rank(game, partners)
        if not reason and game.judgement is not None:
            reason = game.judgement.reason
        return rank, reason

    def status(self, game: Candidate, partners: Mapping[int, int], *, confirmed: bool) -> Why:
        """What is done about a game, and why; ``confirmed``: a line has named it on this connection."""
        rank, reason = self.reason(game, partners)
        if game.state is CandidateState.WATCHED:
            unasked = game.wanted or "the server began to show it without being asked"
            return Why(Fate.OBSERVED, reason if rank is not None else unasked)
        if game.state is CandidateState.ASKED:
            return Why(Fate.ASKED, reason if rank is not None else game.wanted or reason)
        if game.state is CandidateState.LEAVING:
            return Why(Fate.LEAVING, "its place goes to a waiting game")
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


def find_mistaken(games: Mapping[int, Candidate], wishes: ObservationWishes) -> list[Candidate]:
    """Games requested for a name that was printed cut, and that turned out to be another player's; each only once."""
    found: list[Candidate] = []
    for game in games.values():
        if (
            game.on_cut_name
            and game.state is CandidateState.WATCHED
            and not (game.listed.white_cut or game.listed.black_cut)
        ):
            game.on_cut_name = False
            if wishes.rank(game, partners_of(games))[0] is None:
                found.append(game)
    return found


def find_outstayed(
    games: Mapping[int, Candidate], wishes: ObservationWishes, since_ms: int, wanted: int
) -> list[Candidate]:
    """Up to ``wanted`` games, observed since before ``since_ms``, whose places waiting games get."""
    partners = partners_of(games)
    watched = [game for game in games.values() if game.state is CandidateState.WATCHED and game.since_ms <= since_ms]
    old = [game for game in watched if wishes.rank(game, partners)[0] is Rank.POLICY]
    return sorted(old, key=lambda game: game.since_ms)[: max(0, wanted)]


_PARTNER_KNOWN_MS: Final = 3_000  # a <g1> line with the partner's number arrives within this time


class Partners:
    """Requests the other boards of bughouse games, one at a time; ``due_ms`` is when to look for them."""

    def __init__(self) -> None:
        self.due_ms: int | None = None
        self._asked_for: Candidate | None = None  # whose other board was asked for
        self._asked_ms = 0
        self._known = True  # the server has the command for it, as far as we know

    def look_at(self, game: Candidate, now_ms: int) -> None:
        if game.state is CandidateState.WATCHED and game.is_bughouse and not game.partner_asked and self.due_ms is None:
            self.due_ms = now_ms + _PARTNER_KNOWN_MS

    def ask(self, games: Mapping[int, Candidate], now_ms: int) -> list[AskPartner]:
        """The requests to send now; never for a board that may be observed, since the command toggles."""
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
            and game.state is not CandidateState.SEEN
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
        """Whether a game that came or went without our command is the other board that was asked for."""
        if self._asked_for is None or self._asked_for is game or now_ms >= self._asked_ms + TURN_MS:
            return False
        game.listed.facts.partner_game_no = self._asked_for.listed.game_no
        self._asked_for = None
        return True

    def hear(self, line: str) -> None:
        """It may be the refusal."""
        refused = no_partner(line) if self._asked_for is not None else None
        if refused is not None:
            self._asked_for = None
            self._known = refused
