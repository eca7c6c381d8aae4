"""Lines about games besides their boards: chat and notices, the partner's game, results and ends of observation."""

from __future__ import annotations

from collections import Counter, deque

from recorder.events import (
    ChatKind,
    ChatLine,
    GameCreated,
    GameEnded,
    GameNotice,
    Line,
    ObservingEnded,
    PartnerPlays,
    SessionNotice,
)
from recorder.model import EventKind
from recorder.rules.prove import Rules, is_checkmate
from recorder.tracking.assemble import end_word
from recorder.tracking.boards import Boards
from recorder.tracking.examined.boards import close_left, examined_run, leave
from recorder.tracking.facts import begins_another
from recorder.tracking.game_table import GameTable
from recorder.tracking.tracked_game import TrackedGame

__all__ = ["TITLES_KEPT", "Chat", "GameEnds", "place_of_line", "take_partner"]

TITLES_KEPT = 4096
_PUBLIC = frozenset((ChatKind.KIBITZ, ChatKind.WHISPER))
_OWN = frozenset((ChatKind.SAY, ChatKind.TELL, ChatKind.PARTNER_TELL))
_NEAR_BYTES = 1024
_DECIDED = "partner-decided"
_OPPOSITE = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1/2-1/2"}
_ON_BOTH = frozenset(("resign", "time", "disconnect-loss"))
_ENDED_WAIT_BYTES = 256 * 1024
_SUSPENDED_WAIT_BYTES = 16 * 1024 * 1024


class Chat:
    """Stores chat and notices with the games that they are about, and the titles of the speakers.

    A kibitz without a number is of the game that its speaker plays; of another speaker it is of the only game of the
    connection, or of none.

    Args:
        kept: ``none``, ``public``, ``own`` or ``all``: which words are kept.
    Raises:
        ValueError: ``kept`` is none of these.
    Attributes:
        kinds: that are kept.
        titles: of each handle in lower case, as printed.
    """

    def __init__(self, table: GameTable, kept: str) -> None:
        self.kinds = _chat_kinds(kept)
        self.titles: dict[str, str] = {}
        self._table = table

    def take(self, event: ChatLine) -> None:
        """Keep a line of chat if it is of the kinds that are kept and of a game that is known."""
        if event.titles and event.speaker and len(self.titles) < TITLES_KEPT:
            # Only chat has titles behind the handle; no line of a game prints them.
            self.titles[event.speaker.lower()] = event.titles
        if event.kind not in self.kinds:
            return
        table, number = self._table, event.game_no
        followed = [run for run in table.runs.values() if run.following]
        if number is not None:
            run = table.runs.get(str(number))
            if run not in followed:
                run = examined_run(table, number) or run
        else:
            own = None if event.kind in _PUBLIC else _our_own(followed)
            run = own or self._played_by(event.speaker, followed)
        if run is None or (event.kind in _OWN and not run.me_plays):
            return
        where = event.line.offset, event.line.at_ms
        run.event(EventKind.CHAT, event.kind.value, where, actor=event.speaker, text=event.text)

    def notice(self, event: GameNotice) -> None:
        """Keep a notice with the game that it is about."""
        followed = [run for run in self._table.runs.values() if run.following]
        if event.game_no is not None:
            run = self._table.runs.get(str(event.game_no))
        else:
            run = _our_own(followed) or self._played_by(event.actor, followed, examined=False)
        if run is not None:
            where = event.line.offset, event.line.at_ms
            kind = event.kind.value
            run.event(EventKind.NOTICE, kind, where, actor=event.actor, value=event.value, text=event.text)

    def _played_by(self, name: str | None, followed: list[TrackedGame], *, examined: bool = True) -> TrackedGame | None:
        """The followed game that a player of this name plays, else the only game; None: there are several, or none.

        Args:
            followed: games that are played. examined: also look at games that are examined.
        """
        if name is not None:
            own = [run for run in followed if name.lower() in (run.white.lower(), run.black.lower())]
            if own:
                return own[0] if len(own) == 1 else None
        shown = [*followed, *(run for run in self._table.examined.values() if examined and not run.suspended)]
        return shown[0] if len(shown) == 1 else None


def _our_own(followed: list[TrackedGame]) -> TrackedGame | None:
    own = [run for run in followed if run.me_plays]
    return own[0] if len(own) == 1 else None


def _chat_kinds(kept: str) -> frozenset[ChatKind]:
    """The kinds of chat to keep.

    Raises:
        ValueError: ``kept`` is none of the words of ``--chat``.
    """
    if kept == "none":
        return frozenset()
    if kept == "public":
        return _PUBLIC
    if kept == "own":
        return _PUBLIC | _OWN
    if kept == "all":
        return frozenset(ChatKind)
    raise ValueError(f"chat must be none, public, own or all, not {kept!r}")


# -- the partner's game ---------------------------------------------------------------------------------------------


def take_partner(table: GameTable, event: PartnerPlays) -> None:
    """``Your partner is playing game 59 (C vs. D).``: it is printed between the start of our own game and its board."""
    names = {event.white.lower(), event.black.lower()}
    offset = event.line.offset
    begun = [
        facts
        for facts in table.facts.values()
        if 0 <= offset - facts.offset < _NEAR_BYTES
        and facts.white is not None
        and not names & {facts.white.lower(), (facts.black or "").lower()}
    ]
    if not begun:
        own = [run for run in table.runs.values() if run.following and run.me_plays]
        begun = [run.facts for run in own if not names & {run.white.lower(), run.black.lower()}]
    if begun:
        max(begun, key=lambda facts: facts.offset).partner_game_no = event.partner_game_no


def _who_decided(run: TrackedGame, event: GameEnded, ended: GameEnded | None, before: TrackedGame | None) -> str:
    """The reason's key for a game that ends, ``partner-decided`` if it was not decided on its board.

    Servers of the 1.6.2 family print the reason of the board that decided on both boards, each with its own players.
    A checkmate is on the board that shows it. Otherwise the order decides: a player receives the partner's result first
    if that board decided; an observer of both receives the deciding board's result last.
    Source: the end lines of two such servers, to all four players and to observers.

    Args:
        run: which ends by ``event``.
        ended: the end line before it, of whatever game.
        before: that game, if followed.
    """
    key = event.reason_key
    if run.rules is not Rules.BUGHOUSE:
        return key
    if key == "checkmate":
        mated = run.position is not None and is_checkmate(run.position)
        return key if mated else _DECIDED
    if key not in _ON_BOTH or ended is None or not _same_end(event, ended):
        return key
    if run.me_plays:
        return _DECIDED if run.facts.partner_game_no == ended.game_no else key
    if before is not None and before.rules is Rules.BUGHOUSE and not before.me_plays and before.reason_key == key:
        before.reason_key = _DECIDED
        if before.current is not None and before.current.events:
            before.current.events[-1] = before.current.events[-1]._replace(detail=_DECIDED)
    return key


def _same_end(event: GameEnded, ended: GameEnded) -> bool:
    """Whether the line before ends another game in the same way, for the other colour."""
    return (
        ended.game_no != event.game_no
        and ended.reason_key == event.reason_key
        and _OPPOSITE.get(ended.result) == event.result
        and 0 <= event.line.offset - ended.line.offset < _NEAR_BYTES
        and not {ended.white.lower(), ended.black.lower()} & {event.white.lower(), event.black.lower()}
    )


# -- ends ----------------------------------------------------------------------------------------------------------


class GameEnds:
    """Ends games by their result lines and by ends of observation, and closes them after a wait for late lines.

    Args:
        boards: the games of the connection.
    Attributes:
        elsewhere: starts and results of games that are not followed, counted.
    """

    def __init__(self, boards: Boards) -> None:
        self.elsewhere: Counter[str] = Counter()
        self._boards = boards
        self._waiting: deque[TrackedGame] = deque()
        self._suspended: deque[TrackedGame] = deque()
        self._last_end: tuple[GameEnded, TrackedGame | None] | None = None

    def created(self, event: GameCreated) -> None:
        """A ``{Game N (A vs. B) Creating …}``: count it if no followed game begins with it."""
        if begins_another(self._boards, event):
            self.elsewhere["starts"] += 1
            self.release(event.line.offset)

    def ended(self, event: GameEnded) -> None:
        """A result line: end its game, or count it if the game is not followed."""
        run = self._boards.runs.get(str(event.game_no))
        self._boards.rows.pop(event.game_no, None)
        self.release(event.line.offset)
        last, last_run = self._last_end or (None, None)
        self._last_end = event, None
        if run is not None and run.end is None and run.is_alias(event.white, event.black):
            run.rename(event.white, event.black)
        if run is None or not run.between(event.white, event.black):
            self.elsewhere["results"] += 1
            return
        if run.end is not None:
            return
        if run.renewed and run.suspended:
            return
        self._last_end = event, run
        run.result, run.reason = event.result, event.reason
        run.reason_key, run.termination = _who_decided(run, event, last, last_run), event.termination
        run.result_at_ms = event.line.at_ms
        text = f"{{{event.reason}}} {event.result}"
        run.event(EventKind.RESULT, run.reason_key, place_of_line(event.line), actor=event.actor, text=text)
        run.end = end_word(run.reason_key)
        run.following = False
        run.renewed = False
        self._boards.settle_facts(run, event.line.offset)
        run.end_offset = event.line.offset
        self._waiting.append(run)

    def observing_ended(self, event: ObservingEnded) -> None:
        """The server sends no more boards of this game."""
        number = str(event.game_no)
        self._boards.announced.discard(number)
        run = self._boards.runs.get(number)
        if run is not None and run.following:
            run.event(EventKind.FEED, "unobserved", place_of_line(event.line))
            self._suspend(run, event.line.offset, "unobserved")
        leave(self._boards, number, event.line.offset)
        self.release(event.line.offset)

    def lost_feed(self, event: SessionNotice, *, warning: bool) -> None:
        """The connection or the login ends: suspend every followed game; ``warning``: only note that it will end."""
        for run in list(self._boards.runs.values()):
            if run.following and warning:
                run.event(EventKind.FEED, "server going down", place_of_line(event.line), text=event.line.text)
            elif run.following:
                run.event(EventKind.FEED, "lost feed", place_of_line(event.line), text=event.line.text)
                self._suspend(run, event.line.offset, "lost-feed")

    def _suspend(self, run: TrackedGame, offset: int, left: str) -> None:
        run.suspended = True
        run.left = left
        run.following = False
        run.end_offset = offset
        self._suspended.append(run)

    def release(self, offset: int) -> None:
        """Close the games that have waited long enough at this offset of the source."""
        close_left(self._boards, offset)
        while self._waiting and self._waiting[0].end_offset < offset - _ENDED_WAIT_BYTES:
            run = self._waiting.popleft()
            if self._boards.runs.get(str(run.game_no)) is run:
                self._boards.close(run, "result")
        while self._suspended and self._suspended[0].end_offset < offset - _SUSPENDED_WAIT_BYTES:
            run = self._suspended.popleft()
            if run.suspended and self._boards.runs.get(str(run.game_no)) is run:
                self._boards.close(run, run.left)


def place_of_line(line: Line) -> tuple[int, int | None]:
    """A line's offset, and when it arrived."""
    return line.offset, line.at_ms
