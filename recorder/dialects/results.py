"""``{Game 12 (A vs. B) A resigns} 0-1``: how games end.

The result token decides who won; the words only explain (they differ by server and even by language). Names are cut
off before the words are looked at, and the words are compared whole: a player called ``sometimes`` loses on no time.
Source: the result texts of the C servers (gameproc, gamedb), FatICS and FICS captures.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recorder.dialects.forms import RUNNING, unended_key
from recorder.events import GameEnded, Line

# A name ends before a blank or a parenthesis; it may hold the latter, then the shortest that fits is taken.
_PLAYER = r"(\S[^\s()]*+(?:[()][^\s()]*+)*?)(?: ?\([^()]*\))?"
GAME = rf"\{{Game ([0-9]{{1,9}}) \({_PLAYER} vs\. {_PLAYER}\) "

RESULT = re.compile(rf"{GAME}(.*?)\}} (1-0|0-1|1/2-1/2|\*)(?: \[[^\[\]{{}}]*+\])?\s*+")
_WITHOUT_TOKEN = re.compile(rf"{GAME}([^{{}}]*\.)\}}\s*+")  # as the oldest server prints it

_TERMINATIONS = {
    "time": "time forfeit",
    "disconnect-loss": "abandoned",
    "adjudicated": "adjudication",
    "adjudicated-draw": "adjudication",
}

# Text after the name of the player in a reason.
_AFTER_NAME = {
    " checkmated": "checkmate",
    " resigns": "resign",
    " resigned": "resign",
    " forfeits on time": "time",
    " ran out of time": "time",
    " forfeits by disconnection": "disconnect-loss",
    " wins by adjudication": "adjudicated",
    " wins by losing all material": "suicide-all",
    " wins by having less material (stalemate)": "suicide-fewer",
    " wins by having less material": "suicide-fewer",
    " wins by stalemate": "losers-stalemate",
    "'s king exploded": "king-exploded",
    " exploded": "king-exploded",
    "'s partner won": "partner-won",
    " bared": "bare-king",
    " perpetually checking": "perpetual",
    " lost connection; game adjourned": "adjourned-lost",
    " lost connection, game adjourned": "adjourned-lost",
    " lost connection and too few moves; game aborted": "aborted-lost",
    " lost connection; game aborted": "aborted-lost",
    " lost connection. Game adjourned": "adjourned-lost",
    " lost connection. Game aborted": "aborted-lost",
    " aborts by disconnection": "aborted-lost",
    " courtesy abort": "aborted-courtesy",
    # ICC's words
    " stalemated": "stalemate",
    " declared the winner by adjudication": "adjudicated",
    " disconnected and forfeits": "disconnect-loss",
    " got disconnected and forfeits": "disconnect-loss",
    "'s partner resigns": "partner-decided",
    "'s partner checkmated": "partner-decided",
    "'s partner forfeits on time": "partner-decided",
    "'s partner disconnected and forfeits": "partner-decided",
    # chess.com's words, in the Termination tag of its PGN; the winner is named
    " won by resignation": "resign",
    " won by checkmate": "checkmate",
    " won on time": "time",
    " won - game abandoned": "disconnect-loss",
}
# The same with the other player's name (or nothing more) at its place.
_AFTER_BOTH = {
    (" and ", " checkmated"): "checkmate-both",
    (" ran out of time and ", " has no material to mate"): "time-vs-bare",
    (" ran out of time and ", " lacks mating material"): "time-vs-bare",
}
# Text before and after the name (ICC).
_AROUND_NAME = {
    ("Game adjourned when ", " disconnected"): "adjourned-lost",
    ("Game adjourned when ", " got disconnected"): "adjourned-lost",
    ("Game aborted when ", " disconnected"): "aborted-lost",
    ("Game aborted when ", " got disconnected"): "aborted-lost",
    ("Game aborted when ", "'s partner disconnected"): "partner-aborted",
    ("Game aborted by ", " at move 1"): "aborted-early",
    ("Game aborted by ", "'s partner at move 1"): "partner-aborted",
    ("Game aborted because ", "'s account expired"): "aborted-adjudicated",
    ("Unregistered player ", " disconnected and forfeits"): "disconnect-loss",
}
# Text before the name at the end.
_BEFORE_NAME = {
    "Game courtesyadjourned by ": "adjourned-courtesy",
    "Game courtesyaborted by ": "aborted-courtesy",
    "Bughouse game courtesyaborted by ": "aborted-bug",
    "Was courtesy-aborted by ": "aborted-courtesy",
    "Game aborted on move 1 by ": "aborted-early",
}
_WHOLE = {
    "Game drawn by stalemate": "stalemate",
    "Game drawn by stalemate (equal material)": "stalemate",
    "Game drawn by stalemate (opposite color bishops)": "stalemate",
    "Stalemate": "stalemate",
    "Checkmate": "checkmate",
    "Game drawn by mutual agreement": "agreed",
    "Game drawn by agreement": "agreed",
    "Game drawn by repetition": "repetition",
    "Game drawn by 50-move rule": "fifty",
    "Game drawn by insufficient material": "no-material",
    "Game drawn by timeout vs insufficient material": "time-vs-bare",
    "Game drawn by the 50 move rule": "fifty",
    "Draw by the 50 move rule": "fifty",
    "Was drawn by the 50 move rule": "fifty",
    "Draw by move repetition": "repetition",
    "Was drawn by position repitition": "repetition",
    "Neither player has mating material": "no-material",
    "Game drawn because neither player has mating material": "no-material",
    "Game drawn because both players ran out of time": "both-flag",
    "Both players ran out of time": "both-flag",
    "Game drawn by adjudication": "adjudicated-draw",
    "Game drawn due to length": "max-length",
    "Game was drawn": "drawn",
    "is a draw": "drawn",
    "Game drawn by mate on both boards": "partner-draw",
    "Partners' game drawn": "partner-draw",
    "Game adjourned by mutual agreement": "adjourned-agreed",
    "Game adjourned by agreement": "adjourned-agreed",
    "Was adjourned": "adjourned-agreed",
    "The game was adjourned and saved": "adjourned-agreed",
    "adjourned": "adjourned-lost",
    "Game adjourned by server shutdown": "adjourned-server",
    "Game adjourned by simul holder": "adjourned-simul",
    "Game adjourned by adjudication": "adjourned-adjudicated",
    "Partners' game adjourned": "partner-adjourned",
    "Game aborted by mutual agreement": "aborted-agreed",
    "Game aborted by agreement": "aborted-agreed",
    "Was aborted by agreement": "aborted-agreed",
    "The game was aborted": "aborted-agreed",
    "Game aborted on move 1": "aborted-early",
    "aborted": "aborted-lost",
    "Bughouse game aborted": "aborted-bug",
    "Partner's game aborted": "partner-aborted",
    "Partners' game aborted": "partner-aborted",
    "Game aborted by server shutdown": "aborted-server",
    "Game aborted by simul holder": "aborted-simul",
    "Game aborted by adjudication": "aborted-adjudicated",
    "Game drawn": "drawn",
    "Partner's game drawn by mutual agreement": "partner-draw",
    "Partner's game drawn because both players ran out of time": "partner-draw",
    "Game adjourned by system shutdown": "adjourned-server",
    "Game adjourned by an administrator": "adjourned-adjudicated",
    "Game aborted by system shutdown": "aborted-server",
    "Game aborted by an administrator": "aborted-adjudicated",
    "Game aborted because it's too short to adjourn": "aborted-early",
    "Game aborted because it's too short": "aborted-early",
    "Still in progress": "running",
    "Game in progress": "running",
    RUNNING: "running",
}


# Text about the named player, unless it says that this player wins.
_LOST = frozenset(("checkmate", "resign", "time", "disconnect-loss", "king-exploded", "partner-decided"))
_WINS = tuple(
    after
    for after in _AFTER_NAME
    if after.startswith((" wins ", " won ", " declared the winner ")) or after == "'s partner won"
)
_DRAWN = frozenset((
    "agreed", "repetition", "fifty", "no-material", "time-vs-bare", "both-flag", "adjudicated-draw", "max-length",
    "drawn", "partner-draw",
))  # fmt: skip


class EndReason(NamedTuple):
    key: str
    termination: str
    actor: str | None


def read_reason(words: str, white: str, black: str, result: str) -> EndReason:
    """Of the words between the braces, without the names' part; the token decides whether the game ended at all."""
    words = " ".join(words.split()).removesuffix(".")
    key, actor = _key(words, white, black)
    if key == "unknown" and result == "*":
        key, actor = unended_key(words, white, black)
    if key.startswith(("aborted", "partner-aborted")):
        termination = "abandoned"
    elif result == "*":
        termination = "unterminated"
    else:
        termination = _TERMINATIONS.get(key, "normal")
    return EndReason(key, termination, actor)


def _key(words: str, white: str, black: str) -> tuple[str, str | None]:
    """``unknown`` if no table has the words; the player is None if they name none."""
    pairs = ((white, black, white), (black, white, black), ("White", "Black", white), ("Black", "White", black))
    for name, other, actor in pairs:
        if words.startswith(name):
            rest = words[len(name) :]
            if rest in _AFTER_NAME:
                return _AFTER_NAME[rest], actor
            for (before, after), key in _AFTER_BOTH.items():
                if rest == before + other + after:
                    return key, actor
    whole = _WHOLE.get(words)
    if whole is not None:
        return whole, None
    for (before, after), key in _AROUND_NAME.items():
        for name, _, actor in pairs:
            if words == before + name + after:
                return key, actor
    for before, key in _BEFORE_NAME.items():
        for name, _, actor in pairs:
            if words == before + name:
                return key, actor
    return "unknown", None


def read_winner(words: str, white: str, black: str) -> str | None:
    """``Black resigns`` is ``1-0``. None: the words are unknown or do not name the winner (``Black stalemated``)."""
    words = " ".join(words.split()).removesuffix(".")
    if white == black:
        white, black = "White", "Black"  # a name would not show the colour
    key, actor = _key(words, white, black)
    if key in _DRAWN and (actor is None or key == "time-vs-bare"):
        return "1/2-1/2"
    wins = any(words == name + after for name in (actor or "", "White", "Black") for after in _WINS)
    if actor is None or not (wins or key in _LOST):
        return None
    return "1-0" if (actor == white) is wins else "0-1"


def read_unmarked(words: str, white: str, black: str, last_ply: int | None = None) -> str | None:
    """The result of the oldest server's words, which print no token; None: they do not say how a game ended.

    ``Checkmate.`` below a list names no player: it was given by the list's last ply.
    """
    key = read_reason(words, white, black, "*").key
    if key.startswith(("adjourned", "aborted")):
        return "*"
    if key == "checkmate" and last_ply is not None and words.startswith("Checkmate"):
        return "1-0" if last_ply % 2 else "0-1"
    return "1/2-1/2" if key == "stalemate" else read_winner(words, white, black)


def parse_results(line: Line) -> list[GameEnded]:
    """Loggers lose line ends between two results; empty: the line is not made of them."""
    results: list[GameEnded] = []
    text, begin = line.text, 0
    if (match := _WITHOUT_TOKEN.fullmatch(text)) is not None:
        number, white, black, words = match.groups()
        result = read_unmarked(words, white, black)
        if result is not None:
            reason = read_reason(words, white, black, result)
            return [GameEnded(line, int(number), white, black, words, result, *reason)]
    while begin < len(text):
        match = RESULT.match(text, begin)
        if match is None:
            return []
        number, white, black, words, result = match.groups()
        reason = read_reason(words, white, black, result)
        part = (
            line
            if begin == 0 and match.end() == len(text)
            else line._replace(text=match[0].rstrip(), offset=line.offset + begin)
        )
        results.append(GameEnded(part, int(number), white, black, words, result, *reason))
        begin = match.end()
    return results


def format_result(event: GameEnded) -> str:
    return f"{{Game {event.game_no} ({event.white} vs. {event.black}) {event.reason}}} {event.result}"
