"""The games that a server has, as its lines tell of them: tables, headers, notices, what players say.

A number that gets other players is another game. A whole table ends the games that it does not show; after a lost
connection a game counts as confirmed once a line has named it again.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from recorder.events import ChatLine, CreatingLine, GameCreated, GameEnded, GameInfo, GamesCounted, GamesRow, Line
from recorder.frames import Style12
from recorder.live.candidates import Candidate, State
from recorder.live.listed import Listed, ListedEvent, title_words
from recorder.tracking.facts import Facts

__all__ = ["GameList"]

_TITLES_KEPT = 1024  # of those who spoke last
_CREATING_KEPT = 64
_SAME_MS = 2_000  # another line may tell of a game just before it is announced


class GameList:
    """Keeps them by number, over all connections.

    Args:
        gone: gets each game that is over or forgotten, and the time.

    Attributes:
        games: by number. seen: how many there have been. unread_rows: lines of tables that could not be read.
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
        """We are logged in, for the first time or again: any game may have ended meanwhile."""
        self._sweep += 1
        self._confirmed_from = self._sweep
        self._rows = 0

    def confirmed(self, game: Candidate) -> bool:
        """Whether a line has named it since we are connected."""
        return game.sweep >= self._confirmed_from

    def put_last(self, game: Candidate) -> None:
        """It comes after all others that are known by now."""
        self._order += 1
        game.order = self._order

    def known(self, number: int, now_ms: int, offset: int) -> Candidate:
        """The game of a number that a line at an offset names; a new one if it was not known."""
        game = self.games.get(number)
        if game is None:
            self.seen += 1
            self._order += 1
            listed = Listed(number, Facts(offset))
            game = self.games[number] = Candidate(listed, self._order, self._sweep, now_ms, now_ms)
        game.sweep = self._sweep
        return game

    def told(self, event: ListedEvent, now_ms: int) -> Candidate:
        """A line told of a game: who plays it, and what else."""
        number = event.game_no
        old = self.games.get(number)
        if old is not None and not old.listed.between(event):
            self.drop(number, now_ms)  # the number has another game now
        elif old is not None and (
            (isinstance(event, GameCreated) and _begins_again(old, now_ms))
            or (isinstance(event, GamesRow) and old.state is State.SEEN and old.listed.contradicts(event))
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
        """A board of a game came.

        Returns:
            The game that has the number now, if its players are others than lines told.
        """
        game = self.games.get(number)
        players = GameCreated(Line("", board.offset), number, board.white, board.black, None, None, False)
        if game is None or game.state is not State.WATCHED or game.listed.between(players):
            return None
        self.drop(number, now_ms)
        game = self.known(number, now_ms, board.offset)
        game.listed.take(players)
        return game

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
        """Somebody spoke: the line has all titles of the speaker."""
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
        """The last line of a table: what a whole one does not show, and no line has named since, is over."""
        self.unread_rows += max(0, event.displayed - self._rows)
        whole = event.total is None or event.total <= event.displayed
        if whole and self._rows >= event.displayed:
            for number, game in list(self.games.items()):
                if game.sweep < self._sweep:
                    self.drop(number, now_ms)
            self._sweep += 1
        self._rows = 0

    def ended(self, event: GameEnded, now_ms: int) -> None:
        """A game is over, unless the line is about other players than the number has now."""
        game = self.games.get(event.game_no)
        if game is not None:
            players = GameCreated(event.line, event.game_no, event.white, event.black, None, None, False)
            if game.listed.between(players):
                game.end = event
                self.drop(event.game_no, now_ms)

    def drop(self, number: int, now_ms: int) -> None:
        """Forget a game: it is over, or the number has another."""
        self._gone(self.games[number], now_ms)
        del self.games[number]


def _begins_again(old: Candidate, now_ms: int) -> bool:
    """Whether an announcement is of another game than the one of the same players that is known."""
    if old.state is State.SEEN:
        return old.began_at_ms is not None or now_ms >= old.seen_ms + _SAME_MS
    return old.state is State.WATCHED
