"""The games that a server has, from its tables, headers and notices, and when the table is requested.

A number that gets other players is another game. A whole table ends the games that it does not show; after a lost
connection a game counts as confirmed once a line has named it again.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Final

from recorder.events import ChatLine, CreatingLine, GameCreated, GameEnded, GameInfo, GamesCounted, GamesRow, Line
from recorder.events.frames import Style12
from recorder.live.policy.candidates import Candidate, CandidateState
from recorder.live.policy.games import Listed, ListedEvent, title_words
from recorder.live.requests import TURN_MS
from recorder.tracking.facts import HeaderFacts

__all__ = ["GameList", "Polling"]

_TITLES_KEPT = 1024  # of the players who spoke last
_CREATING_KEPT = 64
_SAME_MS = 2_000  # another line may name a game just before it is announced


class GameList:
    """The games by number, over all connections.

    Args:
        gone: gets each game that is over or dropped, and the time.

    Attributes:
        games: by number. seen: how many there were in all. unread_rows: lines of tables that could not be read.
    """

    def __init__(self, gone: Callable[[Candidate, int], None]) -> None:
        self.games: dict[int, Candidate] = {}
        self.seen = 0
        self.unread_rows = 0
        self._gone = gone
        self._titles: dict[str, frozenset[str]] = {}
        self._creating: dict[frozenset[str], CreatingLine] = {}
        self._order = 0
        self._sweep = 0
        self._confirmed_from = 0  # games that no line named since that table may be over
        self._rows = 0

    def connected(self) -> None:
        """Start on a new connection: any game may have ended meanwhile."""
        self._sweep += 1
        self._confirmed_from = self._sweep
        self._rows = 0

    def confirmed(self, game: Candidate) -> bool:
        """Whether a line has named a game on this connection."""
        return game.sweep >= self._confirmed_from

    def put_last(self, game: Candidate) -> None:
        """Order a game behind all that are known now."""
        self._order += 1
        game.order = self._order

    def known(self, number: int, now_ms: int, offset: int) -> Candidate:
        """The game of a number that a line at an offset names; a new one if the number is new."""
        game = self.games.get(number)
        if game is None:
            self.seen += 1
            self._order += 1
            listed = Listed(number, HeaderFacts(offset))
            game = self.games[number] = Candidate(listed, self._order, self._sweep, now_ms, now_ms)
        game.sweep = self._sweep
        return game

    def take(self, event: ListedEvent, now_ms: int) -> Candidate:
        """Take a line about a game: its players and other facts."""
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
        """Take a board of a game.

        Returns:
            The game that has the number now, if its players are not those that lines reported.
        """
        game = self.games.get(number)
        if game is None or game.state is not CandidateState.WATCHED or self.is_of(game, board):
            return None
        self.drop(number, now_ms)
        game = self.known(number, now_ms, board.offset)
        game.listed.take(_players_of(board))
        return game

    @staticmethod
    def is_of(game: Candidate, board: Style12) -> bool:
        """Whether a board names the players that lines reported."""
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
        """Take a line of chat: it contains all titles of the speaker."""
        if event.speaker:
            name = event.speaker.lower()
            self._titles.pop(name, None)
            self._titles[name] = title_words(event.titles or "")
            if len(self._titles) > _TITLES_KEPT:
                del self._titles[next(iter(self._titles))]

    def creating(self, event: CreatingLine) -> None:
        """A game is about to begin; its number comes with the next line."""
        self._creating[frozenset((event.first.lower(), event.second.lower()))] = event
        if len(self._creating) > _CREATING_KEPT:
            del self._creating[next(iter(self._creating))]

    def table_ends(self, event: GamesCounted, now_ms: int) -> None:
        """End a table: games that a whole table does not contain, and that no line has named since, are over."""
        self.unread_rows += max(0, event.displayed - self._rows)
        whole = event.total is None or event.total <= event.displayed
        if whole and self._rows >= event.displayed:
            for number, game in list(self.games.items()):
                if game.sweep < self._sweep:
                    self.drop(number, now_ms)
            self._sweep += 1
        self._rows = 0

    def ended(self, event: GameEnded, now_ms: int) -> None:
        """End a game, unless the line names other players than the number has now."""
        game = self.games.get(event.game_no)
        if game is not None:
            players = GameCreated(event.line, event.game_no, event.white, event.black, None, None, False)
            if game.listed.between(players):
                game.end = event
                self.drop(event.game_no, now_ms)

    def drop(self, number: int, now_ms: int) -> None:
        """Drop a game: it is over, or its number belongs to another."""
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
    """When to request the table of games, on one connection after another.

    Args:
        every_ms: between two tables while a place is free and no game waits for it; None: as it suits the server.

    Attributes:
        not_before_ms: the first table is worth waiting for, since it shows what is to be observed first, but no longer;
            0: it has come.
    """

    def __init__(self, every_ms: int | None) -> None:
        self._given_ms = every_ms
        self._since_ms: int | None = None  # the last table's end, or the end of the login; None: not connected
        self._asked_ms: int | None = None  # an answer is waited for
        self._first = True  # no table has been asked for on this connection
        self.not_before_ms = 0
        self._took_ms = 0
        self._announces = False

    def connected(self, now_ms: int) -> None:
        """Start on a new connection."""
        self._since_ms = now_ms
        self._asked_ms = None
        self._first = True
        self.not_before_ms = now_ms + _PATIENCE_MS
        self._took_ms = 0
        self._announces = False

    def set_every(self, every_ms: int | None) -> None:
        """Set another interval, as for the constructor."""
        self._given_ms = every_ms

    def disconnected(self) -> None:
        """Stop requests until ``connected``."""
        self._since_ms = None

    @property
    def is_connected(self) -> bool:
        """Whether requests may be sent."""
        return self._since_ms is not None

    def announced(self) -> None:
        """Note that the server announced a game."""
        self._announces = True

    def missed_announcement(self) -> None:
        """Note that a table contained a game that the server did not announce."""
        self._announces = self._announces and self.not_before_ms > 0

    def ended(self, now_ms: int) -> None:
        """Note the end of a table."""
        if self._asked_ms is not None:
            self._took_ms = now_ms - self._asked_ms
        self._asked_ms = None
        self.not_before_ms = 0
        if self._since_ms is not None:
            self._since_ms = now_ms

    def asks(self, now_ms: int, *, idle: bool) -> bool:
        """Whether the table is to be asked for now; each is to be asked for then.

        Args:
            idle: a place is free and no game waits for it.
        """
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
        """When ``asks`` will have something to do."""
        assert self._since_ms is not None
        if self._asked_ms is not None:
            return self._asked_ms + TURN_MS
        if self._first:
            return self._since_ms
        every_ms = self._given_ms
        if every_ms is None:
            least_ms = _ANNOUNCED_MS if self._announces else _QUIET_MS
            every_ms = min(_LONGEST_MS, max(least_ms, _SHARE * self._took_ms))
        return self._since_ms + (every_ms if idle else max(every_ms, _LONGEST_MS))
