"""Server families, and the lines about the connection: banners, login, style, shutdown, codes of block mode.

A block contains all that a server sends because of one command; output of other causes is outside of blocks. The
client chooses the identifier of a block; only the code shows which command was sent. Codes that are not here change
nothing.

Source: the codes that clients and FatICS list; error codes are 512 (bad command) and above, 0 is no command.

Source: FICS captures and the C servers' texts.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from recorder.dialects.forms import find_form, make_forms
from recorder.events import Line, SessionNotice, SessionNoticeKind
from recorder.events.frames import ReplyBlock


class Family(Enum):
    FICS = "fics"
    FATICS = "fatics"
    LASKER = "lasker"
    OLD = "fics-1.6.2"
    CHESSD = "chessd"
    BICS = "bics"
    ICC = "icc"
    CHESSNET = "chess.net"


class Dialect(NamedTuple):
    """``site`` is the PGN Site where the family is one site, else None. ``lag_meaningless``: it is always 0."""

    family: Family
    name: str
    site: str | None
    lag_meaningless: bool = False


DIALECTS = {
    Family.FICS: Dialect(Family.FICS, "FICS", "FICS freechess.org"),
    Family.FATICS: Dialect(Family.FATICS, "FatICS", None),
    Family.LASKER: Dialect(Family.LASKER, "Lasker", None),
    Family.OLD: Dialect(Family.OLD, "FICS 1.6.2", None),
    Family.CHESSD: Dialect(Family.CHESSD, "chessd", None, lag_meaningless=True),
    Family.BICS: Dialect(Family.BICS, "BICS", None),
    Family.ICC: Dialect(Family.ICC, "ICC", "Internet Chess Club"),
    Family.CHESSNET: Dialect(Family.CHESSNET, "chess.net", "chess.net"),
}


def detect_dialect(banner: str | None, prompt: str | None, tokens: int | None) -> Dialect | None:
    """Name the server family by the banner if there is one, else by the prompt (``aics%``: ICC) and a frame's tokens.

    33 tokens alone do not distinguish FICS from its relatives, and 31 without ICC's prompt is the FICS 1.6.2 family.
    """
    if banner is not None:
        return DIALECTS[Family(banner)]
    if prompt is not None and prompt.strip() == "aics%":
        return DIALECTS[Family.ICC]
    if tokens == 32:
        return DIALECTS[Family.LASKER]
    if tokens == 31:
        return DIALECTS[Family.OLD]
    return None


# -- lines about the connection ------------------------------------------------------------------------------------

_FINGER, _HELP, _HISTORY, _INFO, _JOURNAL, _LINE, _MESSAGES, _NEWS, _NEXT = 37, 50, 51, 55, 60, 64, 74, 78, 79
_MOVES, _OLDMOVES, _SMOVES, _SPOSITION = 77, 81, 123, 125

TEXT_BLOCKS = frozenset((_FINGER, _HELP, _HISTORY, _INFO, _JOURNAL, _LINE, _MESSAGES, _NEWS, _NEXT))
"""Answers that print other people's text: nothing in them is about a game."""

STORED_BLOCKS = frozenset((_OLDMOVES, _SMOVES, _SPOSITION))
"""Answers that show a stored or past game: its boards, holdings and moves are not those of a game in progress."""

LIST_BLOCKS = frozenset((_MOVES, *STORED_BLOCKS))
"""Answers with a list or a board of another moment: holdings in them are not those that a player has now."""


def answers(block: ReplyBlock | None, codes: frozenset[int]) -> bool:
    """Return whether a line is in the reply block of one of these commands."""
    return block is not None and block.code in codes


_K = SessionNoticeKind
_MORE = r"(?:[ ,;:.!(].*)?"
_TOO_FAST = rf"(?:fast|quickly|often){_MORE}"
_FORMS = make_forms(
    [
        (_K.LOGIN, "", "**** Starting ", r"(?:\S+ )?session as (?P<value>[A-Za-z]\w*)(?:\([^()]*\))* \*{4}"),
        (_K.LOGIN, "", 'Logging you in as "', r"(?P<value>[A-Za-z]\w*)\".*"),
        (_K.LOGIN, "", "Press return to enter ", r"(?:the )?\S+ as \"(?P<value>[A-Za-z]\w*)\":.*"),
        (_K.LOGIN, r"\"(?P<value>[A-Za-z]\w*)", '" is a registered name. ', ".*"),
        (_K.LOGIN, "", "Your name for this session will be ", r"\"?(?P<value>[A-Za-z]\w*)\"?\.?"),
        (_K.LOGIN, "", "Logged in as: ", r"(?P<value>[A-Za-z]\w*)"),
        (_K.LOGIN, "", "Created temporary login '", r"(?P<value>[A-Za-z]\w*)'"),
        (_K.TAKEN_OVER, r"\*{4} (?P<value>\S+)", " has arrived - you can't both be logged in", r"\.? \*{4}"),
        (_K.IDLE_LOGOUT, "", "**** Auto-logout because you were idle more than ", r".*\*{4}"),
        (_K.SHUTDOWN, "", "**** Server shutting down ", r"(?P<value>immediately)\. \*{4}"),
        (_K.SHUTDOWN, "", "**** Server ", r"(?:going down|shutdown|shutting down)\b.*\*{4}"),
        (_K.SHUTDOWN, "", "**** Automatic Server shutdown. ****", ""),
        (_K.LOGOUT, "", "Logging you out", r"\.?"),
        (_K.LOGOUT, "", "Thank you for using ", ".*"),
        (_K.STYLE, "[Ss]", "tyle ", r"(?:set to )?(?P<value>[0-9]{1,9})(?: set)?\.?"),
        (_K.LOST_DATA, "", "\x1a", ""),
        (_K.TOO_FAST, "You(?: are|'re) (?:sending|giving|typing|entering|issuing) ", "commands too ", _TOO_FAST),
        (_K.TOO_FAST, "You(?: are|'re) (?:sending|giving|typing|entering|issuing) ", "too many commands", _MORE),
        (_K.TOO_FAST, "", "Too many commands", _MORE),
        (_K.ZONE, "", "Server time ", r" *- (?P<value>\S(?:.*\S)?)"),
        (_K.PROMPT, "[Pp]", "rompt ", r"(?:now |is now )?set to:? \"(?P<value>[^\"]*)\"\.?"),
    ],
    before=r"\s*",
)

# The version names the program; else the line of the welcome screen that contains only its name.
_BANNERS: list[tuple[Family, str]] = [
    (Family.FATICS, r"(?:&#x[0-9a-f]+;|[^A-Za-z])*FatICS(?:&#x[0-9a-f]+;|[^A-Za-z])*"),
    (Family.FATICS, r"Welcome to the fatics\.org test server\..*"),
    (Family.FICS, r"[\s*]*Welcome to the Free Internet Chess Server at freechess\.org[\s*]*"),
    (Family.FICS, r"Server location: freechess\.org\b[^:]*: .*"),
    (Family.LASKER, r"Server location: [^:]*Server version : (?:lasker-?)?2\.[0-9].*"),
    (Family.OLD, r"Server location: [^:]*Server version : (?:rpblc-|1\.[0-9]).*"),
    (Family.CHESSD, r"Server location: [^:]*Server version : chessd.*"),
    (Family.BICS, r"Server location: [^:]*Server version : BICS.*"),
    (Family.ICC, r"[\s*]*Welcome to (?:the )?Internet Chess Club\b.*"),
    (Family.CHESSNET, r"[\s*]*Welcome to (?:the )?chess\.net\b.*"),
]
_BANNER_TESTS = [(family, re.compile(form, re.IGNORECASE).fullmatch) for family, form in _BANNERS]


def parse_session(line: Line) -> SessionNotice | None:
    found = find_form(_FORMS, line.text)
    if found is not None:
        return SessionNotice(line, found[0], found[1].groupdict().get("value"))
    for family, banner in _BANNER_TESTS:
        if banner(line.text) is not None:
            return SessionNotice(line, _K.BANNER, family.value)
    return None


# Lines of the login, of settings and of matchmaking, each from its start.
_NOISE = re.compile(
    r"<(?:s[a-z]?|p[a-z]?|w[a-z])>.*"
    r"|[\W_]+"
    r"|(?:Challenge|Issuing): .*"
    r"|Game notification: .*"
    r"|\S+ \(\s*\S+\) seeking .*"
    r"|(?:login|password): ?.*"
    r"|\"\S+\" is not a registered name\..*"
    r"|If (?:you are not a registered player|not, just hit return).*"
    r"|\(After logging in, ?do .*"
    r"|(?:Head admin|Server location|Server name) ?: .*"
    r"|(?:Do 'help|  type '|  Foul or abusive ).*"
    r"|Newcomers:"
    r"|(?:Copyright \(C\)|This server |License, |The source code for the version|You are connected to|You will ).*"
    r"|There are no new news items.*|You have [0-9]+ messages.*|Use \"messages u\".*"
    r"|Your \S+ rating will change: .*|Your new RD will be .*"
    r"|You can \"accept\" or .*|You can \"accept\", .*"
    r"|(?:You (?:accept|decline) the challenge|(?:Accepting|Declining) the match offer) .*"
    r"|\S+ (?:accepts|declines) (?:your|the) (?:challenge|match offer)\."
    r"|(?:Width|width|Height|height|Interface|interface|Prompt|prompt|Style|style)(?: now)? set to .*"
    r"|Ads removed: .*"
    r"|History for \S+:| +Opponent +Type +ECO End Date *|\S+ has no history games\.?"
    r"|Last game for \S+ was history game [0-9]+\.?"
    r"|Local time +- .*|Your primary game is now game .*|There is no such game\.|\S+: Command not found\."
    r"|You are not playing a game\.|Your opponent is not out of time!|Game is not paused\."
    r"|Observing +[0-9]+ \[\S+ vs\. \S+\]: .*|Your partner (?:is playing game|has joined a game) .*"
    r"|\S+, whom you are following, has started .*"
    r"|\s+[1-8]  \|(?: .. \|){8}.*"
    r"|\s+a   b   c   d   e   f   g   h\s*|\s+h   g   f   e   d   c   b   a\s*"
    r"|Game [0-9]+ \(\S+ vs\. \S+\)\s*",
    re.ASCII,
)


# Source: the answers of FICS, FatICS, Lasker and chessd to ``iset``, ``set`` and ``style``.
_SETTING = re.compile(
    r"[A-Za-z]\w{0,30} (?:set|unset|enabled|disabled)\.?"
    r"|No such i?variable (?:name )?\"?\w{1,30}\"?\.?"
    r"|You will (?:now|not|no longer) .*",
    re.ASCII,
)


def is_setting(text: str) -> bool:
    return _SETTING.fullmatch(text) is not None


def is_noise(text: str) -> bool:
    return is_setting(text) or _NOISE.fullmatch(text) is not None
