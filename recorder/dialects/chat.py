"""Human words: kibitzes, whispers, tells, shouts. Whatever they contain, they stay words.

``[N]`` after the titles is the game that the speaker means; some servers do not print it. Source: captures of FICS,
the C servers' talk code.
"""

from __future__ import annotations

import re

from recorder.events import ChatKind, ChatLine, Line

__all__ = ["format_chat", "parse_chat"]

_NAME = r"(?P<speaker>[A-Za-z][\w-]*)(?P<titles>(?:\([A-Za-z0-9*]{1,8}\))*?)"
_RATING = r"(?:\(\s*(?:[0-9]+[A-Za-z]?|[+]+|-+|UNR)\))?"
_GAME = r"(?:\[(?P<game>[0-9]+)\])?"
_TEXT = r"(?P<text>.*)"
_FORMS: list[tuple[ChatKind, str]] = [
    (ChatKind.KIBITZ, rf"{_NAME}{_RATING}{_GAME} kibitzes: ?{_TEXT}"),
    (ChatKind.WHISPER, rf"{_NAME}{_RATING}{_GAME} whispers: ?{_TEXT}"),
    (ChatKind.SAY, rf"{_NAME}{_RATING}{_GAME} says: ?{_TEXT}"),
    (ChatKind.PARTNER_TELL, rf"{_NAME} \(your partner\) tells you: ?{_TEXT}"),
    (ChatKind.TELL, rf"{_NAME} tells you: ?{_TEXT}"),
    (ChatKind.SHOUT, rf"{_NAME} (?:c-|s-|t-|it-)?shouts: ?{_TEXT}"),
    (ChatKind.CHANNEL, rf"{_NAME}\((?P<channel>[0-9]+)\): ?{_TEXT}"),
    (ChatKind.SHOUT, rf"--> {_NAME} ?{_TEXT}"),
    (ChatKind.ANNOUNCEMENT, rf"\s*\*\*(?:UNREG )?ANNOUNCEMENT\*\* from {_NAME}: ?{_TEXT}"),
    (
        ChatKind.ECHO,
        r"(?P<text>\((?:told|kibitzed|whispered|shouted|said|c-shouted|it-shouted|sent)\b.*\))",
    ),
    (ChatKind.QTELL, rf":{_TEXT}"),
]
_TESTS = [(kind, re.compile(pattern, re.ASCII | re.DOTALL).fullmatch) for kind, pattern in _FORMS]


def parse_chat(line: Line) -> ChatLine | None:
    """Read a line of chat, or None.

    Args:
        line: without prompts.
    """
    for kind, test in _TESTS:
        match = test(line.text)
        if match is not None:
            found = match.groupdict()
            game = found.get("game")
            return ChatLine(
                line,
                kind,
                found.get("speaker"),
                found.get("titles") or None,
                None if game is None else int(game),
                found.get("channel"),
                found["text"],
            )
    return None


_VERBS = {
    ChatKind.KIBITZ: " kibitzes",
    ChatKind.WHISPER: " whispers",
    ChatKind.SAY: " says",
    ChatKind.PARTNER_TELL: " (your partner) tells you",
    ChatKind.TELL: " tells you",
    ChatKind.SHOUT: " shouts",
}


def format_chat(event: ChatLine) -> str:
    """Write a line that ``parse_chat`` reads as this event (a rating before ``[N]`` is not kept)."""
    if event.kind is ChatKind.QTELL:
        return f":{event.text}"
    if event.kind is ChatKind.ECHO:
        return event.text
    name = f"{event.speaker}{event.titles or ''}"
    if event.kind is ChatKind.ANNOUNCEMENT:
        return f"    **ANNOUNCEMENT** from {name}: {event.text}"
    if event.kind is ChatKind.CHANNEL:
        return f"{name}({event.channel}): {event.text}"
    game = "" if event.game_no is None else f"[{event.game_no}]"
    return f"{name}{game}{_VERBS[event.kind]}: {event.text}"
