"""What concerns the whole connection: banners, login, style, shutdown, and text that is known but tells nothing.

Source: FICS captures and the C servers' texts.
"""

from __future__ import annotations

import re

from recorder.dialects.registry import Family
from recorder.events import Line, SessionNotice, SessionNoticeKind

__all__ = ["format_session", "is_noise", "parse_session"]

_K = SessionNoticeKind
_FORMS: list[tuple[SessionNoticeKind, str]] = [
    (_K.LOGIN, r"\*{4} Starting FICS session as (?P<value>[A-Za-z]\w*)(?:\([^()]*\))* \*{4}"),
    (_K.LOGIN, r"Logging you in as \"(?P<value>[A-Za-z]\w*)\".*"),
    (_K.TAKEN_OVER, r"\*{4} (?P<value>\S+) has arrived - you can't both be logged in\.? \*{4}"),
    (_K.IDLE_LOGOUT, r"\*{4} Auto-logout because you were idle more than .*\*{4}"),
    (_K.SHUTDOWN, r"\*{4} Server (?:going down|shutdown|shutting down)\b.*\*{4}"),
    (_K.SHUTDOWN, r"\*{4} Automatic Server shutdown\. \*{4}"),
    (_K.LOGOUT, r"Logging you out\.?"),
    (_K.LOGOUT, r"Thank you for using .*"),
    (_K.STYLE, r"[Ss]tyle (?:set to )?(?P<value>[0-9]+)(?: set)?\.?"),
    (_K.PROMPT, r"[Pp]rompt (?:now |is now )?set to:? \"(?P<value>[^\"]*)\"\.?"),
]
_TESTS = [(kind, re.compile(r"\s*" + form + r"\s*").fullmatch) for kind, form in _FORMS]

# Banner lines are art: stars and words, so these look for the server's name in a line that holds nothing else.
_BANNERS: list[tuple[Family, str]] = [
    (Family.FATICS, r"\W*(?:Welcome to )?FatICS\b.*"),
    (Family.FICS, r"\W*(?:Welcome to )?FICS - the Free Internet Chess Server\W*(?:fics\.)?.*"),
    (Family.FICS, r"\W*WELCOME TO THE FREE INTERNET CHESS SERVER\W*"),
    (Family.ICC, r"\W*(?:Welcome to )?(?:the )?Internet Chess Club\b.*"),
    (Family.CHESSNET, r"\W*(?:Welcome to )?chess\.net\b.*"),
    (Family.BICS, r"\W*(?:Welcome to )?(?:BICS\b|the Bughouse Internet Chess Server).*"),
    (Family.CHESSD, r"\W*(?:Welcome to )?chessd\b.*"),
    (Family.LASKER, r"\W*(?:Welcome to )?(?:the )?Lasker\b.*"),
]
_BANNER_TESTS = [(family, re.compile(form, re.IGNORECASE).fullmatch) for family, form in _BANNERS]


def parse_session(line: Line) -> SessionNotice | None:
    """Read a line about the connection, or None.

    Args:
        line: without prompts.
    """
    for kind, test in _TESTS:
        match = test(line.text)
        if match is not None:
            return SessionNotice(line, kind, match.groupdict().get("value"))
    for family, banner in _BANNER_TESTS:
        if banner(line.text) is not None:
            return SessionNotice(line, _K.BANNER, family.value)
    return None


def format_session(event: SessionNotice) -> str:
    """Write the line that ``parse_session`` reads."""
    return event.line.text


_NOISE = re.compile(
    r"<(?:s[a-z]?|p[a-z]?|w[a-z])>.*"
    r"|(?:Challenge|Issuing): .*"
    r"|Game notification: .*"
    r"|\S+ seeking .*"
    r"|(?:\S+ (?:set|unset)|You will .*|Ads removed: .*)\.?"
    r"|\x19.*"
)


def is_noise(text: str) -> bool:
    """Whether a line is known to carry nothing about games: seek ads, offers, settings, datagram units."""
    return _NOISE.fullmatch(text) is not None
