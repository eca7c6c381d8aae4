"""Which games to observe: from the policy, the list of handles, the server's games and its places.

Events and times go in, requests come out; a dry run reads the requests without sending them. An observed game stays
observed to its end. A free place goes to the first waiting game: games observed before the connection was lost,
bughouse partners of observed games, games of listed handles, then all others, each in the order in which they were
first seen.

The games that a server has, from its tables, headers and notices, and when the table is requested.

A number that gets other players is another game. A whole table ends the games that it does not show; after a lost
connection a game counts as confirmed once a line has named it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Final

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
    Line,
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
from recorder.live.policy.games import Listed, ListedEvent, Share, title_words
from recorder.live.policy.language import parse_policy
from recorder.live.policy.plan import ObservationPlan
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
from recorder.tracking.facts import HeaderFacts

_TITLES_KEPT = 1024  # of the players who spoke last
_CREATING_KEPT = 64
_SAME_MS = 2_000  # another line may name a game just before it is announced


class GameList:
    """The games by number, over all connections."""

    def __init__(self, gone: Callable[[Candidate, int], None]) -> None:
        self.games: dict[int, Candidate] = {}
        self.seen = 0  # all games of all connections
        self.unread_rows = 0  # lines of tables that could not be read
        self._gone = gone
        self._titles: dict[str, frozenset[str]] = {}
        self._creating: dict[frozenset[str], CreatingLine] = {}
        self._order = 0
        self._sweep = 0
        self._confirmed_from = 0  # games that no line named since that table may be over
        self._rows = 0

    def connected(self) -> None:
        """Any game may have ended meanwhile."""
        self._sweep += 1
        self._confirmed_from = self._sweep
        self._rows = 0

    def confirmed(self, game: Candidate) -> bool:
        """Whether a line has named a game on this connection."""
        return game.sweep >= self._confirmed_from

    def put_last(self, game: Candidate) -> None:
        self._order += 1
        game.order = self._order

    def known(self, number: int, now_ms: int, offset: int) -> Candidate:
        """The game of a number that a line names; a new one if the number is new."""
        game = self.games.get(number)
        if game is None:
            self.seen += 1
            self._order += 1
            listed = Listed(number, HeaderFacts(offset))
            game = self.games[number] = Candidate(listed, self._order, self._sweep, now_ms, now_ms)
        game.sweep = self._sweep
        return game

    def take(self, event: ListedEvent, now_ms: int) -> Candidate:
        number = event.game_no
        old = self.games.get(number)
        if old is not None and not old.listed.between(event):
            self.drop(number, now_ms)  # the number has another game now
        elif old is not None and (
            (isinstance(event, GameCreated) and _is_next_game(old, now_ms))
            or (isinstance(event, GamesRow) and old.state is CandidateState.SEEN and old.listed.contradicts(event))
        ):
            self.drop(number, now_ms)  # the same players again
        game = self.known(number, now_ms, event.line.offset)
        before = copy(game.listed.facts), game.listed.private, game.listed.examined
        game.listed.take(event)
        for white in (True, False):
            self._add_titles(game, white)
        if isinstance(event, GameInfo):
            game.informed = True
            if event.partner_game_no is not None:
                self.known(event.partner_game_no, now_ms, event.line.offset)
        if isinstance(event, GameCreated):
            game.began_at_ms = event.line.at_ms
            facts = self._creating.pop(frozenset((event.white.lower(), event.black.lower())), None)
            if facts is not None:
                game.listed.facts.add_creating(facts, event.white)
        if isinstance(event, GamesRow):
            self._rows += 1
        if before != (game.listed.facts, game.listed.private, game.listed.examined):
            game.judgement = None
        return game

    def shown(self, board: Style12, number: int, now_ms: int) -> Candidate | None:
        """Note a board; return the game that has the number now, if its players are not those that lines reported."""
        game = self.games.get(number)
        if game is None or game.state is not CandidateState.WATCHED or self.is_of(game, board):
            return None
        self.drop(number, now_ms)
        game = self.known(number, now_ms, board.offset)
        game.listed.take(_players_of(board))
        return game

    @staticmethod
    def is_of(game: Candidate, board: Style12) -> bool:
        return game.listed.between(_players_of(board))

    def _add_titles(self, game: Candidate, white: bool) -> None:
        listed = game.listed
        name = listed.facts.white if white else listed.facts.black
        titles = self._titles.get(name.lower()) if name is not None else None
        if titles is None or titles == (listed.white_titles if white else listed.black_titles):
            return
        game.judgement = None
        if white:
            listed.white_titles = titles
        else:
            listed.black_titles = titles

    def heard(self, event: ChatLine) -> None:
        """It contains all titles of the speaker."""
        if event.speaker:
            name = event.speaker.lower()
            self._titles.pop(name, None)
            self._titles[name] = title_words(event.titles or "")
            if len(self._titles) > _TITLES_KEPT:
                del self._titles[next(iter(self._titles))]

    def creating(self, event: CreatingLine) -> None:
        """Its number comes with the next line."""
        self._creating[frozenset((event.first.lower(), event.second.lower()))] = event
        if len(self._creating) > _CREATING_KEPT:
            del self._creating[next(iter(self._creating))]

    def table_ends(self, event: GamesCounted, now_ms: int) -> None:
        """Games that a whole table does not contain, and that no line has named since, are over."""
        self.unread_rows += max(0, event.displayed - self._rows)
        whole = event.total is None or event.total <= event.displayed
        if whole and self._rows >= event.displayed:
            for number, game in list(self.games.items()):
                if game.sweep < self._sweep:
                    self.drop(number, now_ms)
            self._sweep += 1
        self._rows = 0

    def ended(self, event: GameEnded, now_ms: int) -> None:
        """Unless the line names other players than the number has now."""
        game = self.games.get(event.game_no)
        if game is not None:
            players = GameCreated(event.line, event.game_no, event.white, event.black, None, None, False)
            if game.listed.between(players):
                game.end = event
                self.drop(event.game_no, now_ms)

    def drop(self, number: int, now_ms: int) -> None:
        """It is over, or its number belongs to another."""
        self._gone(self.games[number], now_ms)
        del self.games[number]


def _players_of(board: Style12) -> GameCreated:
    return GameCreated(Line("", board.offset), board.game_no, board.white, board.black, None, None, False)


def _is_next_game(old: Candidate, now_ms: int) -> bool:
    """Whether an announcement is of another game than the one of the same players that is known."""
    if old.state is CandidateState.SEEN:
        return old.began_at_ms is not None or now_ms >= old.seen_ms + _SAME_MS
    return old.state is CandidateState.WATCHED


_QUIET_MS: Final = 5_000  # only the table shows that a game has begun
_ANNOUNCED_MS: Final = 30_000  # the server announces games
_LONGEST_MS: Final = 60_000
_SHARE: Final = 20  # a table may take at most this part of the time between two tables
_PATIENCE_MS: Final = 3_000


class Polling:
    """When to request the table of games; ``every_ms``: while a place is free. None: as it suits the server."""

    def __init__(self, every_ms: int | None) -> None:
        self.every_ms = every_ms
        self._since_ms: int | None = None  # the last table's end, or the end of the login; None: not connected
        self._asked_ms: int | None = None  # an answer is waited for
        self._first = True  # no table has been asked for on this connection
        self.not_before_ms = 0  # until then it is worth waiting for the first table; 0: it has come
        self._took_ms = 0
        self._announces = False

    def connected(self, now_ms: int) -> None:
        self._since_ms = now_ms
        self._asked_ms = None
        self._first = True
        self.not_before_ms = now_ms + _PATIENCE_MS
        self._took_ms = 0
        self._announces = False

    def disconnected(self) -> None:
        self._since_ms = None

    @property
    def is_connected(self) -> bool:
        return self._since_ms is not None

    def announced(self) -> None:
        self._announces = True

    def missed_announcement(self) -> None:
        """A table contained a game that the server did not announce."""
        self._announces = self._announces and self.not_before_ms > 0

    def ended(self, now_ms: int) -> None:
        if self._asked_ms is not None:
            self._took_ms = now_ms - self._asked_ms
        self._asked_ms = None
        self.not_before_ms = 0
        if self._since_ms is not None:
            self._since_ms = now_ms

    def asks(self, now_ms: int, *, idle: bool) -> bool:
        """``idle``: a place is free and no game waits for it."""
        if self._since_ms is None or now_ms < self.next_ms(idle=idle):
            return False
        if self._asked_ms is not None:  # no answer: continue with the server's other lines
            self._asked_ms = None
            self._since_ms = now_ms
            return False
        self._asked_ms = now_ms
        self._first = False
        return True

    def next_ms(self, *, idle: bool) -> int:
        assert self._since_ms is not None
        if self._asked_ms is not None:
            return self._asked_ms + TURN_MS
        if self._first:
            return self._since_ms
        every_ms = self.every_ms
        if every_ms is None:
            least_ms = _ANNOUNCED_MS if self._announces else _QUIET_MS
            every_ms = min(_LONGEST_MS, max(least_ms, _SHARE * self._took_ms))
        return self._since_ms + (every_ms if idle else max(every_ms, _LONGEST_MS))


_IN_FLIGHT: Final = 12  # unanswered observe commands: a better game may appear meanwhile
_MAX_TRIES: Final = 3
_RETRY_MS: Final = 60_000
_PENDING: Final = (CandidateState.ASKED, CandidateState.LEAVING)


class Places:
    """``limit`` is None until it is learned from the server's refusal."""

    def __init__(self, games: Mapping[int, Candidate], limit: int | None) -> None:
        if limit is not None and limit < 1:
            raise ValueError("the limit must be at least 1")
        self.limit = limit
        self.not_before_ms = 0
        self._games = games
        self._wanted_limit = limit

    def connected(self, now_ms: int) -> None:
        """The limit is the user's again."""
        self.limit = self._wanted_limit
        self.not_before_ms = now_ms

    def set_limit(self, limit: int | None) -> None:
        """The same limit as before keeps what the server's refusal has shown."""
        if limit != self._wanted_limit:
            self.limit = self._wanted_limit = limit

    @property
    def are_free(self) -> bool:
        return self.limit is None or self._count_taken() < self.limit

    def missing(self, waiting: int) -> int:
        """Negative if there are more places than games."""
        if self.limit is None:
            return 0
        taken = sum(game.state in (CandidateState.WATCHED, CandidateState.ASKED) for game in self._games.values())
        return waiting - (self.limit - taken)

    def learn_limit(self, now_ms: int) -> None:
        """The server has refused another game."""
        observed = sum(game.state in (CandidateState.WATCHED, CandidateState.LEAVING) for game in self._games.values())
        self.limit = max(1, observed)
        if observed == 0:  # another connection of this account observes games: retry later
            self.not_before_ms = now_ms + _RETRY_MS

    def ask_for(self, queue: list[Candidate], wishes: ObservationWishes, now_ms: int) -> list[Request]:
        """As many games at the front of the queue as there are places."""
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
            game.on_cut_name = game.listed.white_cut or game.listed.black_cut
            requests.append(Observe(game.listed.game_no))
        return requests

    def time_out(self, now_ms: int) -> None:
        """After three tries without an answer a game is not requested any more."""
        for game in self._games.values():
            if game.state in _PENDING and now_ms >= game.since_ms + TURN_MS:
                if game.state is CandidateState.ASKED and game.tries >= _MAX_TRIES:
                    game.refused = f"the server did not answer {_MAX_TRIES} times"
                game.move(CandidateState.SEEN, now_ms)

    def _count_taken(self) -> int:
        return sum(game.state is not CandidateState.SEEN for game in self._games.values())


def leave(game: Candidate, now_ms: int) -> Request:
    game.move(CandidateState.LEAVING, now_ms)
    return Unobserve(game.listed.game_no)


_IN_PROGRESS = (0, 1, -1)  # relations of the boards of an observed or own game


class Observing:
    """``gone`` gets each game that is over or dropped, why it was observed or not, and the time."""

    _wishes: ObservationWishes
    share: Share | None

    def __init__(
        self,
        plan: ObservationPlan,
        *,
        poll_ms: int | None = None,
        gone: Callable[[Candidate, Why, int], None] | None = None,
    ) -> None:
        self.tally = Tally()
        self._recovery = Recovery(self.tally)
        self._polling = Polling(poll_ms)
        self._gone = gone
        self.listed = GameList(self._is_gone)
        self._games = self.listed.games
        self.places = Places(self._games, plan.limit)
        self._partners = Partners()
        self._unnamed: set[str] = set()  # numbers of games whose observation has just begun
        self._idle = True  # a place is free and no game waits for it
        self._changed = True  # an event other than a board has arrived since the last decision
        self._due_ms = 0  # when time alone makes another decision possible
        self.replan(plan, poll_ms)

    # -- the connection ----------------------------------------------------------------------------------------

    def connected(self, now_ms: int, is_whole: Callable[[int], bool] | None = None) -> None:
        """``is_whole``: whether a finished game was received completely."""
        self._recovery.connected(is_whole)
        for game in self._games.values():
            game.was_watched = game.was_watched or game.state is CandidateState.WATCHED
            game.state = CandidateState.SEEN
            game.tries = 0
            game.refused = None
            game.partner_asked = game.announced = game.row_asked = False
        self.places.connected(now_ms)
        self.listed.connected()
        self._polling.connected(now_ms)
        self._partners = Partners()
        self._unnamed.clear()
        self._changed = True

    def replan(self, plan: ObservationPlan, poll_ms: int | None) -> None:
        """Observed games stay observed to their end. PolicyError: the plan cannot be read."""
        policy = None if plan.observe is None else parse_policy(plan.observe)
        self._wishes = ObservationWishes(policy, plan.handles, plan.share)
        self.share = plan.share
        self._rotate_after_ms = plan.rotate_ms
        self._polling.every_ms = poll_ms
        self.places.set_limit(plan.limit)
        for game in self._games.values():
            game.judgement = None
        self._changed = True

    def disconnected(self) -> None:
        self._polling.disconnected()

    # -- what arrives ------------------------------------------------------------------------------------------

    def feed(self, events: Iterable[Event], now_ms: int, answered: Request | None = None) -> None:
        """In order; of the boards only the first of an observation matters here, for its players."""
        for event in events:
            if type(event) is Style12:
                self._shown(event, now_ms)
                continue
            self._changed = True
            self._recovery.hear(event, answered, now_ms)
            if isinstance(event, GamesRow | GameInfo | GameCreated | GameHeader):
                self._take_listed(event, now_ms)
            elif isinstance(event, GamesCounted):
                self.listed.table_ends(event, now_ms)
                if not isinstance(answered, AskGame):
                    self._polling.ended(now_ms)
            elif isinstance(event, ObservingStarted):
                self._started(event, now_ms)
            elif isinstance(event, ObservingEnded):
                self._left(event.game_no, now_ms)
            elif isinstance(event, ObserveRefused):
                self._refused(event, now_ms, answered)
            elif isinstance(event, GameEnded):
                self.listed.ended(event, now_ms)
            elif isinstance(event, GameNotice):
                self._noticed(event, now_ms)
            elif isinstance(event, ChatLine):
                self.listed.heard(event)
            elif isinstance(event, CreatingLine):
                self.listed.creating(event)
            elif isinstance(event, Unrecognised | Noise):
                self._partners.hear(event.line.text)

    def _started(self, event: ObservingStarted, now_ms: int) -> None:
        game = self.listed.known(event.game_no, now_ms, event.line.offset)
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
        seen = self.listed.seen
        game = self.listed.take(event, now_ms)
        if isinstance(event, GameCreated | GameNotified):
            game.announced = True
        if isinstance(event, GameCreated):
            self._polling.announced()
        elif isinstance(event, GamesRow):
            game.row_asked = True
            if self.listed.seen > seen:
                self._polling.missed_announcement()
        elif (
            isinstance(event, GameHeader) and not isinstance(event, GameNotified) and game.state is CandidateState.ASKED
        ):
            game.move(CandidateState.WATCHED, now_ms)
        self._partners.look_at(game, now_ms)

    def _shown(self, board: Style12, now_ms: int) -> None:
        """A board: its game is observed; at the first one the number may be another game's than the last line's."""
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
            other = self.listed.shown(board, number, now_ms)
            if other is None:
                return
            game = other
        elif board.relation not in _IN_PROGRESS or not self.listed.is_of(known, board):
            return
        self._changed = True
        game.move(CandidateState.WATCHED, now_ms)
        self._partners.look_at(game, now_ms)

    def _is_gone(self, game: Candidate, now_ms: int) -> None:
        why = self.status(game)
        if self._gone is not None:
            self._gone(game, why, now_ms)
        if game.wanted is not None or self._wishes.rank(game, partners_of(self._games))[0] is not None:
            self._recovery.over(game, why, full=not self.places.are_free)

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
            game = self.listed.known(event.game_no, now_ms, event.line.offset)
            if event.reason is Refusal.ALREADY:
                game.move(CandidateState.WATCHED, now_ms)
            return
        if (meant := self._meant(event.reason, answered)) is None:
            return
        game = meant
        if event.reason is Refusal.LIMIT:
            self.places.learn_limit(now_ms)
            game.move(CandidateState.SEEN, now_ms)
        elif event.reason is Refusal.NO_SUCH_GAME:
            self.listed.drop(game.listed.game_no, now_ms)
        elif event.reason is Refusal.OWN_GAME:
            game.give_up("the recorder's own account plays in it", now_ms)
        else:
            game.give_up("the recorder's own account is examining a game", now_ms)

    # Without a request that is known, a refusal without a number is about the game that was asked for first.
    def _meant(self, reason: Refusal, answered: Request | None) -> Candidate | None:
        if isinstance(answered, Observe):
            return self._games.get(answered.game_no)
        if isinstance(answered, AskMoves | AskRefresh | AskGame | Unobserve):  # it is over, whatever was requested
            return self._games.get(answered.game_no) if reason is Refusal.NO_SUCH_GAME else None
        if isinstance(answered, AskPartner):  # the refusal for a player without a partner has other words
            return None
        asked = [game for game in self._games.values() if game.state is CandidateState.ASKED]
        return min(asked, key=lambda game: (game.since_ms, game.order), default=None)

    def finish(self, now_ms: int) -> None:
        self._recovery.finish()
        for number in sorted(self.listed.games):
            self.listed.drop(number, now_ms)

    # -- what is decided ---------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        return len(self._queue())

    def decide(self, now_ms: int) -> list[Request]:
        """Each request is returned once."""
        if not self._polling.is_connected or not (self._changed or now_ms >= self._due_ms):
            return []  # for every board that arrives
        self._changed = False
        requests = self._decide(now_ms)
        self._due_ms = self._times(now_ms)
        return requests

    def _decide(self, now_ms: int) -> list[Request]:
        self.places.time_out(now_ms)
        requests: list[Request] = [leave(game, now_ms) for game in find_mistaken(self._games, self._wishes)]
        queue = self._queue()
        if now_ms < self._polling.not_before_ms:
            queue = [game for game in queue if game.announced]
        requests += self.places.ask_for(queue, self._wishes, now_ms)
        free = self.places.are_free
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
        """Of announced games, where the row decides."""
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
        later = [self.places.not_before_ms, self._polling.not_before_ms, *self._recovery.times()]
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
            and self.listed.confirmed(game)
            and (rank := self._wishes.rank(game, partners)[0]) is not None
        ]
        return [game for _, _, game in sorted(waiting, key=lambda entry: entry[:2])]

    def _rotate(self, now_ms: int) -> list[Request]:
        if self._rotate_after_ms is None:
            return []
        wanted = self.places.missing(len(self._queue()))
        old = find_outstayed(self._games, self._wishes, now_ms - self._rotate_after_ms, wanted)
        for game in old:
            self.listed.put_last(game)
        return [leave(game, now_ms) for game in old]

    # -- the state of a game -----------------------------------------------------------------------------------

    def status(self, game: Candidate) -> Why:
        return self._wishes.status(game, partners_of(self._games), confirmed=self.listed.confirmed(game))
