"""Chat, offers, pauses and added time of a game, and the game that a line belongs to."""

from __future__ import annotations

from recorder.events import ChatKind, ChatLine, GameNotice
from recorder.model import EventKind
from recorder.tracking.examined.boards import examined_run
from recorder.tracking.game_table import GameTable
from recorder.tracking.tracked_game import TrackedGame

__all__ = ["Chat", "take_game_notice"]

_TITLES_KEPT = 4096
_PUBLIC = frozenset((ChatKind.KIBITZ, ChatKind.WHISPER))
_OWN = frozenset((ChatKind.SAY, ChatKind.TELL, ChatKind.PARTNER_TELL))


class Chat:
    """Keeps words with the games that they are about, and the titles behind the handles of those who speak.

    Args:
        kept: ``none``, ``public``, ``own`` or ``all``: which words are kept.
    Raises:
        ValueError: ``kept`` is none of these.
    Attributes:
        kinds: that are kept. titles: of each handle in lower case, as printed.
    """

    def __init__(self, held: GameTable, kept: str) -> None:
        self.kinds = _chat_kinds(kept)
        self.titles: dict[str, str] = {}
        self._held = held

    def take(self, event: ChatLine) -> None:
        """Keep a line of chat if it is of the kinds that are kept and of a game that is known."""
        if event.titles and event.speaker and len(self.titles) < _TITLES_KEPT:
            # Titles stand behind the handle in chat alone; no line of a game prints them.
            self.titles[event.speaker.lower()] = event.titles
        if event.kind not in self.kinds:
            return
        run = _meant(self._held, event.game_no)
        if run is None or not run.following:
            run = examined_run(self._held, event.game_no) or run
        elif (
            event.game_no is None
            and not run.me_plays
            and any(not one.suspended for one in self._held.examined.values())
        ):
            return  # of the played game or of the examined one: the line does not tell
        if run is None or (event.kind in _OWN and not run.me_plays):
            return
        where = event.line.offset, event.line.at_ms
        run.event(EventKind.CHAT, event.kind.value, where, actor=event.speaker, text=event.text)


def take_game_notice(held: GameTable, event: GameNotice) -> None:
    """Keep a notice with the game that it is about."""
    run = _meant(held, event.game_no)
    if run is not None:
        where = event.line.offset, event.line.at_ms
        kind = event.kind.value
        run.event(EventKind.NOTICE, kind, where, actor=event.actor, value=event.value, text=event.text)


def _meant(held: GameTable, game_no: int | None) -> TrackedGame | None:
    """The followed game with this number; without a number the one that can only be meant, else None."""
    if game_no is not None:
        return held.runs.get(str(game_no))
    followed = [run for run in held.runs.values() if run.following]
    own = [run for run in followed if run.me_plays]
    if len(own) == 1:
        return own[0]
    return followed[0] if len(followed) == 1 else None


def _chat_kinds(kept: str) -> frozenset[ChatKind]:
    if kept == "none":
        return frozenset()
    if kept == "public":
        return _PUBLIC
    if kept == "own":
        return _PUBLIC | _OWN
    if kept == "all":
        return frozenset(ChatKind)
    raise ValueError(f"chat must be none, public, own or all, not {kept!r}")
