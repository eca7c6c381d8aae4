"""What datagrams tell beside moves and clocks: offers, words, hands, tags, moves that were refused."""

from __future__ import annotations

from recorder.dialects.icc_told import GameText, Held, IllegalMove, Kibitz, Offers, PgnTag
from recorder.events import ChatKind, ChatLine, Event, GameNotice, GameNoticeKind, HoldingsLine, Line
from recorder.model import AnomalyKind, EventKind
from recorder.tracking.holdings import take_holdings
from recorder.tracking.told_book import ToldBook, place_of, printed

__all__ = ["ToldWords", "in_brackets"]

_OFFER_KINDS = (
    GameNoticeKind.DRAW_OFFER,
    GameNoticeKind.ADJOURN_REQUEST,
    GameNoticeKind.ABORT_REQUEST,
    GameNoticeKind.TAKEBACK_REQUEST,
)


class ToldWords:
    """Takes the datagrams of which lines in words have the like.

    Args:
        book: the games of the connection.
    """

    def __init__(self, book: ToldBook) -> None:
        self._book = book

    def offers(self, body: Offers, line: Line, begin: int) -> list[Event]:
        """Which offers stand; those that are new are told."""
        game = self._book.game(body.game_no, begin)
        now = tuple(body[2:])
        before, game.offers = game.offers, now
        told: list[Event] = []
        names = (None, None) if game.told is None else (game.told.white, game.told.black)
        for at, (was, value) in enumerate(zip(before, now, strict=True)):
            if value and value != was:
                kind = _OFFER_KINDS[at // 2]
                plies = value if kind is GameNoticeKind.TAKEBACK_REQUEST else None
                told.append(GameNotice(line, kind, body.game_no, names[at % 2], plies, printed(line)))
        return told

    def illegal(self, body: IllegalMove, line: Line, begin: int) -> list[Event]:
        """A move of ours was refused."""
        me = self._book.boards.session.me
        return [GameNotice(line, GameNoticeKind.ILLEGAL_MOVE, body.game_no, me, body.code, body.move)]

    def kibitz(self, body: Kibitz, line: Line, begin: int) -> list[Event]:
        """A kibitz or a whisper."""
        kind = ChatKind.KIBITZ if body.aloud else ChatKind.WHISPER
        return [ChatLine(line, kind, body.player, in_brackets(body.titles) or None, body.game_no, None, body.text)]

    def held(self, body: Held, line: Line, begin: int) -> list[Event]:
        """Both hands."""
        run = self._book.run(body.game_no)
        if run is not None:
            _, problem = take_holdings(run, HoldingsLine(line, body.game_no, body.white.upper(), body.black.upper()))
            if problem is not None:
                self._book.complain(line, body.game_no, AnomalyKind.HOLDINGS, problem)
            game = self._book.games.get(body.game_no)
            if game is not None and game.entries and run.position is not None:
                at = game.entries[-1]
                if run.position.board == at.position.board:
                    game.entries[-1] = at._replace(position=run.position)
        return []

    def pgn_tag(self, body: PgnTag, line: Line, begin: int) -> list[Event]:
        """A tag of the game's PGN."""
        run = self._book.run(body.game_no)
        if run is not None:
            if body.name == "Date" and run.facts.date_text is None and "?" not in body.value:
                run.facts.date_text = body.value
            run.event(EventKind.NOTICE, "pgn-tag", place_of(line), actor=body.name, text=body.value)
        return []

    def game_text(self, body: GameText, line: Line, begin: int) -> list[Event]:
        """A message of the server about a game."""
        run = self._book.run(body.game_no)
        if run is not None:
            run.event(EventKind.NOTICE, "game-message", place_of(line), text=body.text)
        return []


def in_brackets(words: str) -> str:
    """``GM TD`` as lines print titles: ``(GM)(TD)``."""
    return "".join(f"({title})" for title in words.split())
