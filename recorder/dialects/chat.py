"""Chat: kibitzes, whispers, tells, shouts. Text in them is never read as anything else.

``[N]`` after the titles is the game that the speaker means; some servers do not print it. Source: captures of FICS,
the C servers' talk code.
"""

from __future__ import annotations

import re

from recorder.events import ChatKind, ChatLine, Line

_NAME = r"(?P<speaker>[^\s()\[\]{}<>:*\"-][^\s()\[\]{}<>:\"]*)(?P<titles>(?:\([A-Za-z0-9*]{1,8}\))*?)"
_RATING = r"(?:\(\s*(?:[0-9]+[A-Za-z]?|[+]+|-+|UNR)\))?"
_GAME = r"(?:\[(?P<game>[0-9]{1,9})\])?"
_TEXT = r"(?P<text>.*)"
_SPOKEN = re.compile(
    rf"(?:\([0-9]+\) )?{_NAME}{_RATING}{_GAME} "
    rf"(?P<verb>kibitzes|whispers|says|\(your partner\) tells you|tells you|(?:(?:c|s|t|it)-)?shouts): ?{_TEXT}",
    re.DOTALL,
)
_KINDS = {
    "kibitzes": ChatKind.KIBITZ,
    "whispers": ChatKind.WHISPER,
    "says": ChatKind.SAY,
    "(your partner) tells you": ChatKind.PARTNER_TELL,
    "tells you": ChatKind.TELL,
}
_OTHERS: list[tuple[ChatKind, str]] = [
    (ChatKind.CHANNEL, rf"{_NAME}\((?P<channel>[0-9]{{1,9}})\): ?{_TEXT}"),
    (ChatKind.SHOUT, rf"--> {_NAME} ?{_TEXT}"),
    (ChatKind.ANNOUNCEMENT, rf"\s*\*\*(?:UNREG )?ANNOUNCEMENT\*\* from {_NAME}: ?{_TEXT}"),
    (ChatKind.ECHO, r"(?P<text>(?:kibitzed|whispered|told|shouted|said) to [0-9]+\.)"),
    (ChatKind.ECHO, r"(?P<text>\((?:told|kibitzed|whispered|shouted|said|c-shouted|it-shouted|sent)\b.*\))"),
    (ChatKind.QTELL, rf":{_TEXT}"),
]
_TESTS = [(kind, re.compile(pattern, re.DOTALL).fullmatch) for kind, pattern in _OTHERS]


def parse_chat(line: Line) -> ChatLine | None:
    match = _SPOKEN.fullmatch(line.text)
    if match is not None:
        speaker, titles, game, verb, words = match.groups()
        kind = _KINDS.get(verb, ChatKind.SHOUT)
        return ChatLine(line, kind, speaker, titles or None, None if game is None else int(game), None, words)
    for kind, test in _TESTS:
        match = test(line.text)
        if match is not None:
            groups = match.groupdict()
            titles = groups.get("titles") or None
            return ChatLine(line, kind, groups.get("speaker"), titles, None, groups.get("channel"), groups["text"])
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
    """A rating before ``[N]`` is not kept."""
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
