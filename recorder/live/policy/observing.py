"""Which games to observe: from the policy, the list of handles, the server's games and its places.

Events and times go in, requests come out; a dry run reads the requests without sending them. An observed game stays
observed to its end. A free place goes to the first waiting game: games observed before the connection was lost,
bughouse partners of observed games, games of listed handles, then all others, each in the order in which they were
first seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from recorder.dialects.style12 import check_frame
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
from recorder.events.frames import Style12
from recorder.live.policy.candidates import (
    Candidate,
    CandidateState,
    ObservationWishes,
    Partners,
    Why,
    find_mistaken,
    find_outstayed,
    partners_of,
)
from recorder.live.policy.game_list import GameList, Polling
from recorder.live.policy.games import ListedEvent, Share
from recorder.live.policy.language import Expression
from recorder.live.policy.places import Places, leave
from recorder.live.policy.recovery import Recovery, Tally
from recorder.live.requests import (
    TURN_MS,
    AskGame,
    AskGames,
    AskMoves,
    AskPartner,
    AskRefresh,
    Observe,
    Request,
    Unobserve,
)

__all__ = ["Observing"]


_IN_PROGRESS = (0, 1, -1)  # relations of the boards of an observed or own game


class Observing:
    """Decides what to observe on one connection after another.

    Args:
        policy: what to observe, or None for the handles alone.
        handles: players whose games are observed whatever the policy says.
        limit: games observed at a time; None: as many as the server allows, learned from its refusal.
        poll_ms: between two tables of games while a place is free; None: adapted to the server.
        rotate_after_ms: a game observed for longer gives its place to a waiting one; None: it is observed to its end.
        share: of the games that match, between several recorders; None: all of them.
        gone: gets each game that is over or dropped, why it was observed or not, and the time.

    Attributes:
        share: as given. tally: counts of the games that matched.
    """

    def __init__(
        self,
        policy: Expression | None,
        handles: Iterable[str] = (),
        *,
        limit: int | None = None,
        poll_ms: int | None = None,
        rotate_after_ms: int | None = None,
        share: Share | None = None,
        gone: Callable[[Candidate, Why, int], None] | None = None,
    ) -> None:
        self.tally = Tally()
        self._recovery = Recovery(self.tally)
        self.share = share
        self._wishes = ObservationWishes(policy, handles, share)
        self._polling = Polling(poll_ms)
        self._rotate_after_ms = rotate_after_ms
        self._gone = gone
        self._list = GameList(self._is_gone)
        self._games = self._list.games
        self._places = Places(self._games, limit)
        self._partners = Partners()
        self._unnamed: set[str] = set()  # numbers of games whose observation has just begun
        self._idle = True  # a place is free and no game waits for it
        self._changed = True  # an event other than a board has arrived since the last decision
        self._due_ms = 0  # when time alone makes another decision possible

    @property
    def limit(self) -> int | None:
        """The limit on games observed at a time; None: not known."""
        return self._places.limit

    @property
    def chosen(self) -> int:
        """How many of the games seen were requested."""
        return self._places.chosen

    @property
    def seen(self) -> int:
        """How many games lines have named, over all connections."""
        return self._list.seen

    @property
    def unread_rows(self) -> int:
        """How many lines of the tables of games could not be read, over all connections."""
        return self._list.unread_rows

    # -- the connection ----------------------------------------------------------------------------------------

    def connected(self, now_ms: int, is_whole: Callable[[int], bool] | None = None) -> None:
        """Start on a new connection: games that were observed are observed again.

        Args:
            now_ms: monotonic. is_whole: whether a finished game, by its number, was received completely; None: unknown.
        """
        self._recovery.connected(is_whole)
        for game in self._games.values():
            game.was_watched = game.was_watched or game.state is CandidateState.WATCHED
            game.state = CandidateState.SEEN
            game.tries = 0
            game.refused = None
            game.partner_asked = game.announced = game.row_asked = False
        self._places.connected(now_ms)
        self._list.connected()
        self._polling.connected(now_ms)
        self._partners = Partners()
        self._unnamed.clear()
        self._changed = True

    def replan(
        self,
        policy: Expression | None,
        handles: Iterable[str],
        *,
        limit: int | None,
        poll_ms: int | None,
        rotate_after_ms: int | None,
        share: Share | None,
    ) -> None:
        """Choose by other arguments, as for the constructor; observed games stay observed to their end."""
        self._wishes = ObservationWishes(policy, handles, share)
        self.share = share
        self._rotate_after_ms = rotate_after_ms
        self._polling.set_every(poll_ms)
        self._places.set_limit(limit)
        for game in self._games.values():
            game.judgement = None
        self._changed = True

    def disconnected(self) -> None:
        """Stop after the end of a connection: no request until ``connected``."""
        self._polling.disconnected()

    # -- what arrives ------------------------------------------------------------------------------------------

    def feed(self, events: Iterable[Event], now_ms: int, answered: Request | None = None) -> None:
        """Take events in order; of the boards only the first of an observation matters here, for its players.

        Args:
            now_ms: monotonic. answered: the request that the events answer; None: unknown, then a refusal without a
                number is about the game that was requested first.
        """
        for event in events:
            if type(event) is Style12:
                self._shown(event, now_ms)
                continue
            self._changed = True
            self._recovery.hear(event, answered, now_ms)
            if isinstance(event, GamesRow | GameInfo | GameCreated | GameHeader):
                self._take_listed(event, now_ms)
            elif isinstance(event, GamesCounted):
                self._list.table_ends(event, now_ms)
                if not isinstance(answered, AskGame):
                    self._polling.ended(now_ms)
            elif isinstance(event, ObservingStarted):
                self._started(event, now_ms)
            elif isinstance(event, ObservingEnded):
                self._left(event.game_no, now_ms)
            elif isinstance(event, ObserveRefused):
                self._refused(event, now_ms, answered)
            elif isinstance(event, GameEnded):
                self._list.ended(event, now_ms)
            elif isinstance(event, GameNotice):
                self._noticed(event, now_ms)
            elif isinstance(event, ChatLine):
                self._list.heard(event)
            elif isinstance(event, CreatingLine):
                self._list.creating(event)
            elif isinstance(event, Unrecognised | Noise):
                self._partners.hear(event.line.text)

    def _started(self, event: ObservingStarted, now_ms: int) -> None:
        game = self._list.known(event.game_no, now_ms, event.line.offset)
        if game.state is CandidateState.SEEN:
            self._partners.answered_by(game, now_ms)
        self._unnamed.add(str(event.game_no))
        game.move(CandidateState.WATCHED, now_ms)
        self._partners.look_at(game, now_ms)

    def _noticed(self, event: GameNotice, now_ms: int) -> None:
        if event.kind is GameNoticeKind.PRIVATE_GAME and event.game_no in self._games:
            game = self._games[event.game_no]
            game.listed.private = True
            game.give_up("the server reports that it is private", now_ms)

    def _take_listed(self, event: ListedEvent, now_ms: int) -> None:
        seen = self._list.seen
        game = self._list.take(event, now_ms)
        if isinstance(event, GameCreated | GameNotified):
            game.announced = True
        if isinstance(event, GameCreated):
            self._polling.announced()
        elif isinstance(event, GamesRow):
            game.row_asked = True
            if self._list.seen > seen:
                self._polling.missed_announcement()
        elif (
            isinstance(event, GameHeader) and not isinstance(event, GameNotified) and game.state is CandidateState.ASKED
        ):
            game.move(CandidateState.WATCHED, now_ms)
        self._partners.look_at(game, now_ms)

    def _shown(self, board: Style12, now_ms: int) -> None:
        """A board: its game is observed, whatever words the answer to ``observe`` had.

        At the first one of an observation its number may belong to another game than the last line stated.
        """
        number = board.game_no
        known = self._games.get(number)
        first = board.number in self._unnamed
        if (
            known is None
            or not (first or known.state in (CandidateState.SEEN, CandidateState.ASKED))
            or check_frame(board) is not None
        ):
            return
        game = known
        if first:
            self._unnamed.discard(board.number)
            other = self._list.shown(board, number, now_ms)
            if other is None:
                return
            game = other
        elif board.relation not in _IN_PROGRESS or not self._list.is_of(known, board):
            return
        self._changed = True
        game.move(CandidateState.WATCHED, now_ms)
        self._partners.look_at(game, now_ms)

    def _is_gone(self, game: Candidate, now_ms: int) -> None:
        why = self.status(game)
        if self._gone is not None:
            self._gone(game, why, now_ms)
        if game.wanted is not None or self._wishes.rank(game, partners_of(self._games))[0] is not None:
            self._recovery.over(game, why, full=not self._places.are_free)

    def _left(self, number: int, now_ms: int) -> None:
        game = self._games.get(number)
        if game is None:
            return
        # Except for the other board of a match that was requested and was already observed: that command toggles.
        if game.state is CandidateState.WATCHED and not self._partners.answered_by(game, now_ms):
            game.refused = "another command ended its observation"
        # An answer to our observe: the game was already observed, and the command toggles. Then it is requested again.
        game.move(CandidateState.SEEN, now_ms)

    def _refused(self, event: ObserveRefused, now_ms: int, answered: Request | None) -> None:
        if event.reason is Refusal.NOT_OBSERVING:
            left = [game for game in self._games.values() if game.state is CandidateState.LEAVING]
            for game in left:
                if event.game_no in (None, game.listed.game_no) or len(left) == 1:
                    game.move(CandidateState.SEEN, now_ms)
            return
        if event.game_no is not None:
            game = self._list.known(event.game_no, now_ms, event.line.offset)
            if event.reason is Refusal.ALREADY:
                game.move(CandidateState.WATCHED, now_ms)
            return
        if (meant := self._meant(event.reason, answered)) is None:
            return
        game = meant
        if event.reason is Refusal.LIMIT:
            self._places.learn_limit(now_ms)
            game.move(CandidateState.SEEN, now_ms)
        elif event.reason is Refusal.NO_SUCH_GAME:
            self._list.drop(game.listed.game_no, now_ms)
        elif event.reason is Refusal.OWN_GAME:
            game.give_up("the recorder's own account plays in it", now_ms)
        else:
            game.give_up("the recorder's own account is examining a game", now_ms)

    def _meant(self, reason: Refusal, answered: Request | None) -> Candidate | None:
        """The game that a refusal without a number is about."""
        if isinstance(answered, Observe):
            return self._games.get(answered.game_no)
        if isinstance(answered, AskMoves | AskRefresh | AskGame | Unobserve):  # it is over, whatever was requested
            return self._games.get(answered.game_no) if reason is Refusal.NO_SUCH_GAME else None
        if isinstance(answered, AskPartner):  # the refusal for a player without a partner has other words
            return None
        asked = [game for game in self._games.values() if game.state is CandidateState.ASKED]
        return min(asked, key=lambda game: (game.since_ms, game.order), default=None)

    def finish(self, now_ms: int) -> None:
        """Pass every game to ``gone`` at the end; games in progress are not counted."""
        self._recovery.finish()
        for number in sorted(self._list.games):
            self._list.drop(number, now_ms)

    # -- what is decided ---------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """How many games wait for a place."""
        return len(self._queue())

    def decide(self, now_ms: int) -> list[Request]:
        """The requests to send (or show) now; each is returned once.

        Args:
            now_ms: monotonic milliseconds.
        """
        if not self._polling.is_connected or not (self._changed or now_ms >= self._due_ms):
            return []  # for every board that arrives
        self._changed = False
        requests = self._decide(now_ms)
        self._due_ms = self._times(now_ms)
        return requests

    def _decide(self, now_ms: int) -> list[Request]:
        self._places.time_out(now_ms)
        requests: list[Request] = [leave(game, now_ms) for game in find_mistaken(self._games, self._wishes)]
        queue = self._queue()
        if now_ms < self._polling.not_before_ms:
            queue = [game for game in queue if game.announced]
        requests += self._places.ask_for(queue, self._wishes, now_ms)
        free = self._places.are_free
        if free:
            requests += self._partners.ask(self._games, now_ms)
            requests += self._ask_rows()
        requests += self._rotate(now_ms)
        requests += self._recovery.ask(now_ms)
        self._idle = free and not any(game.state is CandidateState.SEEN for game in queue)
        if self._polling.asks(now_ms, idle=self._idle):
            requests.append(AskGames())
        return requests

    def _ask_rows(self) -> list[Request]:
        """Request the table's row of announced games, where the row decides."""
        requests: list[Request] = []
        for number, game in self._games.items():
            if (
                game.announced
                and not game.row_asked
                and game.state is CandidateState.SEEN
                and self._wishes.needs_row(game)
            ):
                game.row_asked = True
                requests.append(AskGame(number))
        return requests

    def next_at_ms(self, now_ms: int) -> int | None:
        """When ``decide`` may have requests even if nothing arrives; None: not connected."""
        if not self._polling.is_connected:
            return None
        return self._times(now_ms) if self._changed else self._due_ms

    def _times(self, now_ms: int) -> int:
        times = [self._polling.next_ms(idle=self._idle)]
        # Times that have passed depend on an event: another waiting game, or a free place.
        later = [self._places.not_before_ms, self._polling.not_before_ms, *self._recovery.times()]
        if self._partners.due_ms is not None:
            later.append(self._partners.due_ms)
        for game in self._games.values():
            if game.state in (CandidateState.ASKED, CandidateState.LEAVING):
                times.append(game.since_ms + TURN_MS)
            elif game.state is CandidateState.WATCHED and self._rotate_after_ms is not None:
                later.append(game.since_ms + self._rotate_after_ms)
        return min([*times, *(time for time in later if time > now_ms)])

    def _queue(self) -> list[Candidate]:
        partners = partners_of(self._games)
        waiting = [
            (rank, game.order, game)
            for game in self._games.values()
            if game.state is CandidateState.SEEN
            and game.refused is None
            and self._list.confirmed(game)
            and (rank := self._wishes.rank(game, partners)[0]) is not None
        ]
        return [game for _, _, game in sorted(waiting, key=lambda entry: entry[:2])]

    def _rotate(self, now_ms: int) -> list[Request]:
        if self._rotate_after_ms is None:
            return []
        wanted = self._places.missing(len(self._queue()))
        old = find_outstayed(self._games, self._wishes, now_ms - self._rotate_after_ms, wanted)
        for game in old:
            self._list.put_last(game)
        return [leave(game, now_ms) for game in old]

    # -- the state of a game -----------------------------------------------------------------------------------

    def status(self, game: Candidate) -> Why:
        """The state of a game's observation, and the reason."""
        return self._wishes.status(game, partners_of(self._games), confirmed=self._list.confirmed(game))
