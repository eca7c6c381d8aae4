"""What servers say about a game besides its boards: starts, observations, offers, clocks, examined games.

Every pattern matches a complete line. ``Game 12: `` before a notice gives its game; servers that leave it out leave the
number unknown. Text never moves a piece: takebacks and examined moves are what the frames show.
Source: captures of FICS and FatICS, the message texts of the C servers.
"""

from __future__ import annotations

import re

from recorder.dialects.ratings import RATING, read_rating
from recorder.dialects.results import GAME, RESULT
from recorder.dialects.translated import CONTINUING, RATED, UNRATED
from recorder.events import (
    CreatingLine,
    ExamineNotice,
    GameCreated,
    GameHeader,
    GameNotice,
    GameNoticeKind,
    Line,
    ObservingEnded,
    ObservingStarted,
    PartnerPlays,
)
from recorder.wire.prompts import PromptStripper

__all__ = [
    "format_created",
    "format_creating",
    "format_examine",
    "format_header",
    "format_notice",
    "format_observing",
    "format_partner",
    "parse_created",
    "parse_creating",
    "parse_examine",
    "parse_header",
    "parse_notice",
    "parse_observing",
    "parse_partner",
    "split_glued",
]

_RATED = rf"(rated|unrated|{RATED}|{UNRATED})"
_CREATED = re.compile(
    rf"{GAME}(Creating|Continuing|{CONTINUING}) "
    rf"(?:{_RATED} )?(?:(\S+(?: \S+)?) )?(match|simul)\.\}}(?: \*)?\s*"
)
_CREATING = re.compile(
    rf"Creating: (\S+) {RATING} (?:\[(white|black)\] )?(\S+) {RATING} {_RATED} ?(\S*|\S+ \S+) "
    r"([0-9]{1,9}) ([0-9]{1,9})( \(adjourned\))?(?: Loaded from \S+| : \S.*)?\.?\s*"
)
_HEADER = re.compile(
    rf"Game ([0-9]{{1,9}}): (\S+) {RATING} (\S+) {RATING} (rated|unrated) ?(\S*|\S+ \S+) "
    r"([0-9]{1,9}) ([0-9]{1,9})\s*"
)
_PARTNER = re.compile(r"Your partner is playing game ([0-9]{1,9}) \((\S+) vs\. (\S+)\)\.\s*")
_OBSERVING = re.compile(
    r"(?:You are now observing game|Voc\S{1,2} agora est\S{1,2} observando jogo) ([0-9]{1,9})\.\s*"
    r"|Adding game ([0-9]{1,9}) to observation list\.?\s*"
)
_OBSERVING_ENDS = re.compile(
    r"Removing game ([0-9]{1,9}) from observation list\.?\s*"
    r"|(?:You are )?[Nn]o longer observing game ([0-9]{1,9})\.?\s*"
    r"|Game ([0-9]{1,9}) \(which you were observing\) has no examiners\.?\s*"
)


def parse_created(line: Line) -> GameCreated | None:
    """Read ``{Game 107 (A vs. B) Creating unrated blitz match.}`` (the authority for colours and number)."""
    match = _CREATED.fullmatch(line.text)
    if match is None:
        return None
    number, white, black, verb, rated, category, kind = match.groups()
    return GameCreated(
        line,
        int(number),
        white,
        black,
        None if rated is None else rated in ("rated", RATED),
        category,
        verb != "Creating",
        kind == "simul",
    )


def format_created(event: GameCreated) -> str:
    """Write the line that ``parse_created`` reads."""
    words = ["Continuing" if event.continued else "Creating"]
    words += [] if event.rated is None else ["rated" if event.rated else "unrated"]
    words += [event.category] if event.category else []
    words += ["simul.}" if event.simul else "match.}"]
    return f"{{Game {event.game_no} ({event.white} vs. {event.black}) {' '.join(words)}"


def parse_partner(line: Line) -> PartnerPlays | None:
    """Read ``Your partner is playing game 59 (C vs. D).``, which FICS and the C servers print when a match begins."""
    match = _PARTNER.fullmatch(line.text)
    return None if match is None else PartnerPlays(line, int(match[1]), match[2], match[3])


def format_partner(event: PartnerPlays) -> str:
    """Write the line that ``parse_partner`` reads."""
    return f"Your partner is playing game {event.partner_game_no} ({event.white} vs. {event.black})."


def parse_creating(line: Line) -> CreatingLine | None:
    """Read ``Creating: A (1708) B (++++) unrated blitz 5 0``; ``[white]`` is the first one's colour."""
    match = _CREATING.fullmatch(line.text)
    if match is None:
        return None
    first, first_rating, colour, second, second_rating, rated, category, base, increment, adjourned = match.groups()
    return CreatingLine(
        line,
        first,
        read_rating(first_rating),
        second,
        read_rating(second_rating),
        None if colour is None else colour == "white",
        rated in ("rated", RATED),
        category or None,
        int(base),
        int(increment),
        adjourned is not None,
    )


def format_creating(event: CreatingLine) -> str:
    """Write the line that ``parse_creating`` reads."""
    colour = "" if event.first_is_white is None else "[white] " if event.first_is_white else "[black] "
    return (
        f"Creating: {event.first} ({event.first_rating.text:>4}) {colour}{event.second} "
        f"({event.second_rating.text:>4}) {'rated' if event.rated else 'unrated'} {event.category or ''} "
        f"{event.base_min} {event.increment_s}{' (adjourned)' if event.adjourned else ''}"
    )


def parse_header(line: Line) -> GameHeader | None:
    """Read ``Game 463: A (2243) B (2158E) rated standard 45 45``, what FICS tells an observer first."""
    match = _HEADER.fullmatch(line.text)
    if match is None:
        return None
    number, white, white_rating, black, black_rating, rated, category, base, increment = match.groups()
    return GameHeader(
        line,
        int(number),
        white,
        read_rating(white_rating),
        black,
        read_rating(black_rating),
        rated == "rated",
        category or None,
        int(base),
        int(increment),
    )


def format_header(event: GameHeader) -> str:
    """Write the line that ``parse_header`` reads."""
    return (
        f"Game {event.game_no}: {event.white} ({event.white_rating.text:>4}) {event.black} "
        f"({event.black_rating.text:>4}) {'rated' if event.rated else 'unrated'} {event.category or ''} "
        f"{event.base_min} {event.increment_s}"
    )


def parse_observing(line: Line) -> ObservingStarted | ObservingEnded | None:
    """Read the lines that begin and end an observation."""
    match = _OBSERVING.fullmatch(line.text)
    if match is not None:
        return ObservingStarted(line, int(match[1] or match[2]))
    match = _OBSERVING_ENDS.fullmatch(line.text)
    if match is not None:
        return ObservingEnded(line, int(match[1] or match[2] or match[3]))
    return None


def format_observing(event: ObservingStarted | ObservingEnded) -> str:
    """Write the line that ``parse_observing`` reads."""
    if isinstance(event, ObservingStarted):
        return f"You are now observing game {event.game_no}."
    return f"Removing game {event.game_no} from observation list."


_GLUED = (_OBSERVING, _OBSERVING_ENDS, _HEADER, _CREATED, RESULT)
_TAG = re.compile(r"<(?:12|b1)>")
# Command id and block code, left in front of the text by clients that delete the bytes between them.
_FUSED = re.compile(r"[0-9]{2,8}(?=[A-Z{<])")


def split_glued(text: str, prompts: PromptStripper) -> list[tuple[int, int]]:
    """Cut a line made of several server texts whose line ends a logger lost.

    Args:
        text: the line.
        prompts: takes prompts off.
    Returns:
        Where the texts begin and end, a frame or holdings at the end included; empty when any part is not known.
    """
    parts: list[tuple[int, int]] = []
    fused = _FUSED.match(text)
    at = 0 if fused is None else fused.end()
    while at < len(text):
        at += prompts.strip(text[at:])[1]
        match = next((match for form in _GLUED if (match := form.match(text, at)) is not None), None)
        if match is None or match.end() == at:
            return [*parts, (at, len(text))] if _TAG.match(text, at) is not None else []
        parts.append((at, match.end()))
        at = match.end()
    return parts


_K = GameNoticeKind
_GAME = r"(?:Game (?P<game>[0-9]{1,9}): )?"
_WHO = r"(?P<actor>[^\s:(){}<>,]+)"
_HALF_MOVES = r"half[- ]move(?:\(s\)|s)?"
_NOTICES: list[tuple[GameNoticeKind, str]] = [
    (_K.DRAW_OFFER, rf"{_GAME}{_WHO} offers (?:you )?a draw\."),
    (_K.DRAW_OFFER, r"Offering a draw to \S+\."),
    (
        _K.ABORT_REQUEST,
        rf"{_GAME}{_WHO} (?:would like|requests) to abort (?:the game|game (?P<number>[0-9]{{1,9}}))\b.*",
    ),
    (
        _K.ADJOURN_REQUEST,
        rf"{_GAME}{_WHO} (?:would like|requests) to adjourn (?:the game|game (?P<number>[0-9]{{1,9}}))\b.*",
    ),
    (
        _K.TAKEBACK_REQUEST,
        rf"{_GAME}{_WHO} (?:would like|requests) to take back (?P<value>[0-9]{{1,9}}) {_HALF_MOVES}\.?(?: .*)?",
    ),
    (
        _K.TAKEBACK_REQUEST,
        rf"{_GAME}{_WHO} proposes a different number \((?P<value>[0-9]{{1,9}})\) of {_HALF_MOVES} to take back\.?",
    ),
    (_K.TAKEBACK_REQUEST, r"Takeback request sent\."),
    (_K.ABORT_REQUEST, r"(?:Requesting to abort game (?P<number>[0-9]{1,9})|Abort request sent)\."),
    (_K.ADJOURN_REQUEST, r"(?:Requesting to adjourn game (?P<number>[0-9]{1,9})|Adjourn request sent)\."),
    (_K.PAUSE_REQUEST, r"(?:Pause|Unpause) request sent\."),
    (_K.DRAW_OFFER, r"Draw request sent\."),
    (_K.PAUSE_REQUEST, rf"{_GAME}{_WHO} (?:requests|would like) to (?:un)?pause the game\."),
    (_K.PAUSED, rf"{_GAME}(?:{_WHO} accepted pause\. )?Game clock paused\."),
    (_K.RESUMED, rf"{_GAME}(?:{_WHO} accepted unpause\. )?Game clock resumed\."),
    (_K.TIME_ADDED, r"(?P<value>[0-9]{1,9}) seconds were added to your opponents? clock\.?"),
    (_K.TIME_ADDED, r"Your opponent has added (?P<value>[0-9]{1,9}) seconds to your clock\.?"),
    (_K.TIME_ADDED, rf"{_GAME}{_WHO} has added (?P<value>[0-9]{{1,9}}) seconds to \S+ clock\.?"),
    (_K.TIME_ADDED, r"You have added (?P<value>[0-9]{1,9}) seconds to \S+ clock\.?"),
    (_K.LAGGING, r"Opponent has timeseal; checking if \(s\)he's lagging\.?"),
    (_K.LAGGING, rf"{_GAME}{_WHO} has lagged for (?P<value>[0-9]{{1,9}}) seconds\.?"),
    (_K.ILLEGAL_MOVE, r"Illegal move(?: \(.*\))?\.?(?: .*)?"),
    (_K.ILLEGAL_MOVE, r"It is not your (?:move|turn)\.?"),
    (_K.DISCONNECTED, r"Your opponent(?:, (?P<actor>\S+),)? has lost contact or quit\.?"),
    (_K.DISCONNECTED, r"Your partner has disconnected\.?"),
    (_K.DISCONNECTED, rf"{_GAME}{_WHO}, (?:your opponent|whom you were playing), has (?:departed|disconnected)\.?"),
    (_K.DISCONNECT_RULE, rf"{_GAME}A disconnection will be considered a forfeit\."),
    (_K.RATING_CHANGE, r"No ratings? adjustment done\."),
    (_K.RATING_CHANGE, r"\S+ rating adjustment: \s*\S+\s* --> \s*\S+"),
    (_K.PRIVATE_GAME, r"Sorry, game (?P<game>[0-9]{1,9}) is a private game\."),
]
_EXAMINE: list[tuple[str, str]] = [
    ("forward", rf"{_GAME}{_WHO} goes forward (?P<value>[0-9]{{1,9}}) moves?\."),
    ("backward", rf"{_GAME}{_WHO} backs up (?P<value>[0-9]{{1,9}}) moves?\."),
    ("revert", rf"{_GAME}{_WHO} reverts to (?:main ?line)(?: move (?P<value>[0-9]{{1,9}}))?\."),
    ("revert", rf"{_GAME}(?:Already at main ?line|{_WHO} is already at main ?line)\.?"),
    ("forward", rf"{_GAME}(?:End of game|You're at the end of the game)\.?"),
    ("backward", rf"{_GAME}(?:Beginning of game|You're at the beginning of the game)\.?"),
    ("commit", rf"{_GAME}{_WHO} commits the (?:sub)?variation\."),
    ("move", rf"{_GAME}{_WHO} moves: \S+"),
    ("setup-begin", rf"{_GAME}(?:{_WHO} )?[Ee]nter(?:ing|s) (?:setup|examine ?\(setup\)) mode\.?"),
    ("setup-begin", r"Starting a game in examine \(setup\) mode\.?"),
    ("setup-end", r"Game is validated - entering examine mode\.?"),
    ("setup", r"(?:WHITE|BLACK) to move"),
    ("setup", r"Board (?:set up by FEN|set up as starting position|cleared)\."),
    ("refused", r"There is no (?:white|black) king\."),
    ("refused", r"The position is not valid - staying in setup mode\."),
    ("refused", r"You are still setting up the position\."),
    ("refused", r"You can't move (?:back|for)ward yet, the pos[i]?tion is still being set up\."),
    ("refused", rf"{_GAME}You cannot go forward(?:; no moves are stored| unless you are on the main line)\."),
    ("start", r"Starting a game in examine \(scratch\) mode\.?"),
    ("start", r"Entering examine mode for game (?P<game>[0-9]{1,9})\.?"),
    ("examiner", rf"{_WHO} has made you an examiner of game (?P<game>[0-9]{{1,9}})\.?"),
    ("examiner", rf"{_WHO} is now (?:an )?examiner of game (?P<game>[0-9]{{1,9}})\.?"),
    ("examiner", r"You are now (?:an )?examiner of game (?P<game>[0-9]{1,9})\.?"),
    ("end", rf"{_WHO} (?:has )?stopped examining game (?P<game>[0-9]{{1,9}})\.?"),
    ("end", r"You are no longer examining game (?P<game>[0-9]{1,9})\.?"),
    ("end", r"There are no examiners\.?"),
    ("result", r"Game (?P<game>[0-9]{1,9}): \S.* (?:1-0|0-1|1/2-1/2|\*)"),
    ("result", rf"{_WHO} has been checkmated\."),
    ("result", r"Stalemate\.|No mating material\."),
]


# Answers to offers; whoever says "You" or nothing about himself is the owner of the log.
_ANSWER = re.compile(
    rf"{_GAME}(?:(?:You |)(?P<verb>accept|decline|withdraw|update|Accepting|Declining|Withdrawing|Updating)"
    rf"|{_WHO} (?P<theirs>accept|decline|withdraw|update)s)(?: the| your| his| her| their)? "
    r"(?P<what>draw|takeback|abort|adjourn|pause|unpause|switch|courtesyabort|courtesyadjourn) "
    r"(?:request|offer)s?(?: (?:from|to) \S+)?\.\s*"
)
_ANSWERS = {
    ("draw", "accept"): _K.DRAW_ACCEPTED,
    ("draw", "decline"): _K.DRAW_DECLINED,
    ("takeback", "accept"): _K.TAKEBACK_ACCEPTED,
    ("takeback", "decline"): _K.TAKEBACK_DECLINED,
}
_VERBS = {"Accepting": "accept", "Declining": "decline"}

_NOTICE_TESTS = [(kind, re.compile(pattern + r"\s*").fullmatch) for kind, pattern in _NOTICES]
_EXAMINE_TESTS = [(kind, re.compile(pattern + r"\s*").fullmatch) for kind, pattern in _EXAMINE]


def _facts(match: re.Match[str]) -> tuple[int | None, str | None, int | None]:
    found = match.groupdict()
    game = found.get("game") or found.get("number")
    value = found.get("value")
    return None if game is None else int(game), found.get("actor"), None if value is None else int(value)


def parse_notice(line: Line) -> GameNotice | None:
    """Read an offer, a pause, added time, a lag or disconnection notice, or None.

    "would like to take back" is a request: nothing tells that a takeback happened but a board of a lower ply.
    """
    for kind, test in _NOTICE_TESTS:
        match = test(line.text)
        if match is not None:
            return GameNotice(line, kind, *_facts(match), line.text.rstrip())
    match = _ANSWER.fullmatch(line.text)
    if match is None:
        return None
    verb = match["verb"] or match["theirs"]
    kind = _ANSWERS.get((match["what"], _VERBS.get(verb, verb)), _K.OFFER_OTHER)
    return GameNotice(line, kind, *_facts(match), line.text.rstrip())


def format_notice(event: GameNotice) -> str:
    """Write the line that ``parse_notice`` reads."""
    return event.text


def parse_examine(line: Line) -> ExamineNotice | None:
    """Read a notice of an examined game or of set-up mode, or None; the number in it is what was asked for."""
    for kind, test in _EXAMINE_TESTS:
        match = test(line.text)
        if match is not None:
            return ExamineNotice(line, kind, *_facts(match), line.text.rstrip())
    return None


def format_examine(event: ExamineNotice) -> str:
    """Write the line that ``parse_examine`` reads."""
    return event.text
