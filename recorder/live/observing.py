"""Which games are observed: the policy and the list of handles, the games that the server has and the places it gives.

Events and the time go in, requests come out; reading the requests without sending them is a dry run. What is being
watched stays watched to its end. A place that becomes free goes to the game that waits at the front: those watched
before the connection was lost, bughouse partners of watched games, games of listed handles, then all others, each in
the order in which they were first seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from recorder.events import (
    ChatLine,
    CreatingLine,
    Event,
    GameCreated,
    GameEnded,
    GameHeader,
    GameInfo,
    GameNotice,
    GameNoticeKind,
    GameNotified,
    GamesCounted,
    GamesRow,
    Noise,
    ObserveRefused,
    ObservingEnded,
    ObservingStarted,
    Refusal,
    Unrecognised,
)
from recorder.frames import TAIL_BLACK, TAIL_GAME, Style12
from recorder.live.candidates import Candidate, Fate, Rank, State, Why, Wishes, partners_of
from recorder.live.gamelist import GameList
from recorder.live.partners import Partners
from recorder.live.policy import Expression
from recorder.live.requests import (
    TURN_MS,
    AskGames,
    AskMoves,
    AskPartner,
    AskRefresh,
    Observe,
    Request,
    Unobserve,
)

__all__ = ["Observing"]

_IN_FLIGHT = 4  # observes without an answer: a refusal that names no game must be one of few
_MAX_TRIES = 3


class Observing:
    """Decides what to observe on one connection after another.

    Args:
        policy: what to observe, or None for the handles alone.
        handles: players whose games are observed whatever the policy says.
        limit: games that may be observed at a time; None: as many as the server lets us, learned from its refusal.
        games_every_ms: how often the table of games is asked for.
        rotate_after_ms: a game watched for longer gives its place to one that waits; None: it is watched to its end.
        gone: gets each game that is over or forgotten, why it was or was not observed to the last, and the time.

    Attributes:
        limit: the limit in force; None: not known.
        chosen: how many of the games that were seen were asked for.
    """

    def __init__(
        self,
        policy: Expression | None,
        handles: Iterable[str] = (),
        *,
        limit: int | None = None,
        games_every_ms: int = 60_000,
        rotate_after_ms: int | None = None,
        gone: Callable[[Candidate, Why, int], None] | None = None,
    ) -> None:
        if limit is not None and limit < 1:
            raise ValueError("the limit must be at least 1")
        self.limit = limit
        self.chosen = 0
        self._told_limit = limit
        self._wishes = Wishes(policy, handles)
        self._games_every_ms = games_every_ms
        self._rotate_after_ms = rotate_after_ms
        self._gone = gone
        self._list = GameList(self._is_gone)
        self._games = self._list.games
        self._table_asked_ms: int | None = None  # an answer is waited for
        self._table_due_ms: int | None = None  # None: not connected
        self._table_seen = False  # since the connection began
        self._held_until_ms = 0
        self._partners = Partners()
        self._unnamed: set[str] = set()  # numbers of games whose observation has just begun
        self._changed = True  # something but a board has come since the last decision
        self._due_ms = 0  # when time alone makes another decision possible

    @property
    def seen(self) -> int:
        """How many games lines told of, over all connections."""
        return self._list.seen

    # -- the connection ----------------------------------------------------------------------------------------

    def connected(self, now_ms: int) -> None:
        """We are logged in, for the first time or again: what was watched is to be watched again."""
        for game in self._games.values():
            game.again = game.again or game.state is State.WATCHED
            game.state = State.SEEN
            game.tries = 0
            game.refused = None
            game.partner_asked = False
        self.limit = self._told_limit
        self._list.connected()
        self._held_until_ms = now_ms
        self._table_due_ms = now_ms
        self._table_asked_ms = None
        self._table_seen = False
        self._partners = Partners()
        self._unnamed.clear()
        self._changed = True

    def disconnected(self) -> None:
        """The connection is gone: nothing is asked for until ``connected``."""
        self._table_due_ms = None

    # -- what arrives ------------------------------------------------------------------------------------------

    def feed(self, events: Iterable[Event], now_ms: int, under_way: Request | None = None) -> None:
        """Take events in order; of the boards only the first of an observation tells something here: who plays.

        Args:
            now_ms: monotonic. under_way: the request that the server has not answered yet: a refusal that names no
                game is about this one. None: not known, then about the observation that was asked for first.
        """
        for event in events:
            if type(event) is Style12:
                if self._unnamed:
                    self._shown(event, now_ms)
                continue
            self._changed = True
            if isinstance(event, GamesRow | GameInfo | GameCreated | GameHeader):
                game = self._list.told(event, now_ms)
                asked = isinstance(event, GameHeader) and not isinstance(event, GameNotified)
                if asked and game.state is State.ASKED:
                    game.move(State.WATCHED, now_ms)
                self._partners.look_at(game, now_ms)
            elif isinstance(event, GamesCounted):
                self._list.table_ends(event, now_ms)
                self._table_seen = True
                self._table_asked_ms = None
                if self._table_due_ms is not None:
                    self._table_due_ms = now_ms + self._games_every_ms
            elif isinstance(event, ObservingStarted):
                game = self._list.known(event.game_no, now_ms, event.line.offset)
                if game.state is State.SEEN:
                    self._partners.answered_by(game, now_ms)
                self._unnamed.add(str(event.game_no))
                game.move(State.WATCHED, now_ms)
                self._partners.look_at(game, now_ms)
            elif isinstance(event, ObservingEnded):
                self._left(event.game_no, now_ms)
            elif isinstance(event, ObserveRefused):
                self._refused(event, now_ms, under_way)
            elif isinstance(event, GameEnded):
                self._list.ended(event, now_ms)
            elif isinstance(event, GameNotice):
                if event.kind is GameNoticeKind.PRIVATE_GAME and event.game_no in self._games:
                    game = self._games[event.game_no]
                    game.listed.private = True
                    game.give_up("the server says that it is private", now_ms)
            elif isinstance(event, ChatLine):
                self._list.heard(event)
            elif isinstance(event, CreatingLine):
                self._list.creating(event)
            elif isinstance(event, Unrecognised | Noise):
                self._partners.hear(event.line.text)

    def _shown(self, board: Style12, now_ms: int) -> None:
        """The first board of an observation: the number may have got another game since a line told of it."""
        if len(board.tail) <= TAIL_BLACK or board.tail[TAIL_GAME] not in self._unnamed:
            return
        self._unnamed.discard(board.tail[TAIL_GAME])
        game = self._list.shown(board, int(board.tail[TAIL_GAME]), now_ms)
        if game is not None:
            self._changed = True
            game.move(State.WATCHED, now_ms)

    def _is_gone(self, game: Candidate, now_ms: int) -> None:
        if self._gone is not None:
            self._gone(game, self.standing(game), now_ms)

    def _left(self, number: int, now_ms: int) -> None:
        game = self._games.get(number)
        if game is None:
            return
        # Unless it is the other board that was asked for and was watched already: that command toggles.
        if game.state is State.WATCHED and not self._partners.answered_by(game, now_ms):
            game.refused = "somebody ended its observation"
        # An answer to our observe: the game was watched already, and the command toggles. Then it is asked for again.
        game.move(State.SEEN, now_ms)

    def _refused(self, event: ObserveRefused, now_ms: int, under_way: Request | None) -> None:
        if event.reason is Refusal.NOT_OBSERVING:
            left = [game for game in self._games.values() if game.state is State.LEAVING]
            for game in left:
                if event.game_no in (None, game.listed.game_no) or len(left) == 1:
                    game.move(State.SEEN, now_ms)
            return
        if event.game_no is not None:
            game = self._list.known(event.game_no, now_ms, event.line.offset)
            if event.reason is Refusal.ALREADY:
                game.move(State.WATCHED, now_ms)
            return
        if (meant := self._meant(event.reason, under_way)) is None:
            return
        game = meant
        if event.reason is Refusal.LIMIT:
            places = sum(other.state in (State.WATCHED, State.LEAVING) for other in self._games.values())
            self.limit = max(1, places)
            if places == 0:  # others of our account observe, or we cannot count: try again later
                self._held_until_ms = now_ms + self._games_every_ms
            game.move(State.SEEN, now_ms)
        elif event.reason is Refusal.NO_SUCH_GAME:
            self._list.drop(game.listed.game_no, now_ms)
        elif event.reason is Refusal.OWN_GAME:
            game.give_up("we play in it ourselves", now_ms)
        else:
            game.give_up("we are examining a game", now_ms)

    def _meant(self, reason: Refusal, under_way: Request | None) -> Candidate | None:
        """The game that a refusal without a number is about."""
        if isinstance(under_way, Observe):
            return self._games.get(under_way.game_no)
        if isinstance(under_way, AskMoves | AskRefresh | Unobserve):  # it is over, whatever was asked about it
            return self._games.get(under_way.game_no) if reason is Refusal.NO_SUCH_GAME else None
        if isinstance(under_way, AskPartner):  # who has none is told in other words
            return None
        asked = [game for game in self._games.values() if game.state is State.ASKED]
        return min(asked, key=lambda game: (game.since_ms, game.order), default=None)

    def finish(self, now_ms: int) -> None:
        """There is nothing more to come: every game is given to ``gone``."""
        for number in sorted(self._list.games):
            self._list.drop(number, now_ms)

    # -- what is decided ---------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """How many games would be observed if there were places."""
        return len(self._queue())

    def decide(self, now_ms: int) -> list[Request]:
        """What to ask for now; each request is given once, so they are to be sent (or shown).

        Args:
            now_ms: monotonic milliseconds.
        """
        if self._table_due_ms is None or not (self._changed or now_ms >= self._due_ms):
            return []  # with every board that comes
        self._changed = False
        requests = self._decide(self._table_due_ms, now_ms)
        self._due_ms = self._times(self._table_due_ms, now_ms)
        return requests

    def _decide(self, table_due_ms: int, now_ms: int) -> list[Request]:
        requests: list[Request] = []
        if self._table_asked_ms is not None and now_ms >= self._table_asked_ms + TURN_MS:
            self._table_asked_ms = None
            self._table_seen = True  # a server without an answer: go on with what else it tells
            self._table_due_ms = now_ms + self._games_every_ms
        elif self._table_asked_ms is None and now_ms >= table_due_ms:
            self._table_asked_ms = now_ms
            requests.append(AskGames())
        self._time_out(now_ms)
        if not self._table_seen:
            return requests  # numbers may be those of other games since we were here last
        requests += self._drop_mistaken(now_ms)
        if now_ms < self._held_until_ms:
            return requests
        in_flight = sum(game.state is State.ASKED for game in self._games.values())
        taken = sum(game.state is not State.SEEN for game in self._games.values())
        for game in self._queue():
            if in_flight >= _IN_FLIGHT or (self.limit is not None and taken >= self.limit):
                break
            game.move(State.ASKED, now_ms)
            game.tries += 1
            game.wanted = self._wishes.reason(game, partners_of(self._games))[1]
            self.chosen += game.tries == 1
            in_flight += 1
            taken += 1
            game.on_cut_name = game.listed.white_cut or game.listed.black_cut
            requests.append(Observe(game.listed.game_no))
        if self.limit is None or taken < self.limit:
            requests += self._partners.ask(self._games, now_ms)
        return requests + self._rotate(now_ms)

    def next_at_ms(self, now_ms: int) -> int | None:
        """When ``decide`` may have something to do even if nothing arrives; None: not connected."""
        if self._table_due_ms is None:
            return None
        return self._times(self._table_due_ms, now_ms) if self._changed else self._due_ms

    def _times(self, table_due_ms: int, now_ms: int) -> int:
        times = [table_due_ms if self._table_asked_ms is None else self._table_asked_ms + TURN_MS]
        # Times that have passed need something to arrive: another game that waits, a place that becomes free.
        later = [self._held_until_ms]
        if self._partners.due_ms is not None:
            later.append(self._partners.due_ms)
        for game in self._games.values():
            if game.state in (State.ASKED, State.LEAVING):
                times.append(game.since_ms + TURN_MS)
            elif game.state is State.WATCHED and self._rotate_after_ms is not None:
                later.append(game.since_ms + self._rotate_after_ms)
        return min([*times, *(time for time in later if time > now_ms)])

    def _time_out(self, now_ms: int) -> None:
        for game in self._games.values():
            if game.state in (State.ASKED, State.LEAVING) and now_ms >= game.since_ms + TURN_MS:
                if game.state is State.ASKED and game.tries >= _MAX_TRIES:
                    game.refused = f"the server did not answer {_MAX_TRIES} times"
                game.move(State.SEEN, now_ms)

    def _queue(self) -> list[Candidate]:
        partners = partners_of(self._games)
        waiting = [
            (rank, game.order, game)
            for game in self._games.values()
            if game.state is State.SEEN
            and game.refused is None
            and self._list.confirmed(game)
            and (rank := self._wishes.rank(game, partners)[0]) is not None
        ]
        return [game for _, _, game in sorted(waiting, key=lambda entry: entry[:2])]

    def _drop_mistaken(self, now_ms: int) -> list[Request]:
        """Leave games that were taken for the beginning of a name and turned out to be another player's."""
        requests: list[Request] = []
        for game in self._games.values():
            if (
                game.on_cut_name
                and game.state is State.WATCHED
                and not (game.listed.white_cut or game.listed.black_cut)
            ):
                game.on_cut_name = False
                if self._wishes.rank(game, partners_of(self._games))[0] is None:
                    requests.append(self._leave(game, now_ms))
        return requests

    def _rotate(self, now_ms: int) -> list[Request]:
        if self._rotate_after_ms is None or self.limit is None:
            return []
        partners = partners_of(self._games)
        watched = [game for game in self._games.values() if game.state is State.WATCHED]
        old = [
            game for game in watched
            if now_ms >= game.since_ms + self._rotate_after_ms and self._wishes.rank(game, partners)[0] is Rank.POLICY
        ]  # fmt: skip
        free = self.limit - sum(game.state in (State.WATCHED, State.ASKED) for game in self._games.values())
        wanted = max(0, len(self._queue()) - free)
        requests: list[Request] = []
        for game in sorted(old, key=lambda game: game.since_ms)[:wanted]:
            self._list.put_last(game)
            requests.append(self._leave(game, now_ms))
        return requests

    def _leave(self, game: Candidate, now_ms: int) -> Request:
        game.move(State.LEAVING, now_ms)
        return Unobserve(game.listed.game_no)

    # -- what is told of a game --------------------------------------------------------------------------------

    def standing(self, game: Candidate) -> Why:
        """What is being done about a game, and why."""
        rank, reason = self._wishes.reason(game, partners_of(self._games))
        if game.state is State.WATCHED:
            return Why(Fate.OBSERVED, reason if rank is not None else "the server began to show it without being asked")
        if game.state is State.ASKED:
            return Why(Fate.ASKED, reason)
        if game.state is State.LEAVING:
            return Why(Fate.LEAVING, "its place goes to a game that waits")
        if game.refused is not None:
            return Why(Fate.REFUSED, game.refused)
        if rank is None:
            return Why(Fate.UNWANTED, reason)
        if not self._list.confirmed(game):
            return Why(Fate.UNCONFIRMED, reason)
        return Why(Fate.WAITING, reason)
