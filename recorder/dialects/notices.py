"""What servers say about a game besides its boards: starts, observations, offers, clocks, examined games.

Every pattern matches a complete line. ``Game 12: `` before a notice gives its game; servers that leave it out leave the
number unknown. Text never moves a piece: takebacks and examined moves are what the frames show. Each ``parse_…`` takes
a line without prompts; it returns None for a line of another kind.
Source: captures of FICS and FatICS, the message texts of the C servers.
"""

from __future__ import annotations

import re

from recorder.dialects.forms import CONTINUING, RATED, RATING, UNRATED, find_form, make_forms, read_header, read_rating
from recorder.dialects.results import GAME, RESULT
from recorder.events import (
    CreatingLine,
    ExamineNotice,
    ExamineNoticeKind,
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

_RATED = rf"(rated|unrated|{RATED}|{UNRATED})"
_CREATED = re.compile(
    rf"{GAME}(Creating|Continuing|{CONTINUING}) "
    rf"(?:{_RATED} )?(?:(\S+(?: \S+)?) | )?(match|simul)\.\}}(?: \*)?\s*"
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
    """The authority for colours and number."""
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
    words = ["Continuing" if event.continued else "Creating"]
    words += [] if event.rated is None else ["rated" if event.rated else "unrated"]
    words += [event.category] if event.category else []
    words += ["simul.}" if event.simul else "match.}"]
    return f"{{Game {event.game_no} ({event.white} vs. {event.black}) {' '.join(words)}"


def parse_partner(line: Line) -> PartnerPlays | None:
    match = _PARTNER.fullmatch(line.text)
    return None if match is None else PartnerPlays(line, int(match[1]), match[2], match[3])


def parse_creating(line: Line) -> CreatingLine | None:
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
    colour = "" if event.first_is_white is None else "[white] " if event.first_is_white else "[black] "
    return (
        f"Creating: {event.first} ({event.first_rating.text:>4}) {colour}{event.second} "
        f"({event.second_rating.text:>4}) {'rated' if event.rated else 'unrated'} {event.category or ''} "
        f"{event.base_min} {event.increment_s}{' (adjourned)' if event.adjourned else ''}"
    )


def parse_header(line: Line) -> GameHeader | None:
    match = _HEADER.fullmatch(line.text)
    if match is None:
        return None
    return read_header(GameHeader, line, *match.groups())


def format_header(event: GameHeader) -> str:
    return (
        f"Game {event.game_no}: {event.white} ({event.white_rating.text:>4}) {event.black} "
        f"({event.black_rating.text:>4}) {'rated' if event.rated else 'unrated'} {event.category or ''} "
        f"{event.base_min} {event.increment_s}"
    )


def parse_observing(line: Line) -> ObservingStarted | ObservingEnded | None:
    match = _OBSERVING.fullmatch(line.text)
    if match is not None:
        return ObservingStarted(line, int(match[1] or match[2]))
    match = _OBSERVING_ENDS.fullmatch(line.text)
    if match is not None:
        return ObservingEnded(line, int(match[1] or match[2] or match[3]))
    return None


def format_observing(event: ObservingStarted | ObservingEnded) -> str:
    if isinstance(event, ObservingStarted):
        return f"You are now observing game {event.game_no}."
    return f"Removing game {event.game_no} from observation list."


_GLUED = (_OBSERVING, _OBSERVING_ENDS, _HEADER, _CREATED, RESULT)
_TAG = re.compile(r"<(?:12|b1)>")
# Command id and block code, left in front of the text by clients that delete the bytes between them.
_FUSED = re.compile(r"[0-9]{2,8}(?=[A-Z{<])")


def split_glued(text: str, prompts: PromptStripper) -> list[tuple[int, int]]:
    """The ranges of known texts whose line ends a logger lost, a frame last; empty if any part is not known."""
    parts: list[tuple[int, int]] = []
    fused = _FUSED.match(text)
    begin = 0 if fused is None else fused.end()
    while begin < len(text):
        begin += prompts.strip(text[begin:])[1]
        match = next((match for form in _GLUED if (match := form.match(text, begin)) is not None), None)
        if match is None or match.end() == begin:
            return [*parts, (begin, len(text))] if _TAG.match(text, begin) is not None else []
        parts.append((begin, match.end()))
        begin = match.end()
    return parts


_K = GameNoticeKind
_E = ExamineNoticeKind
_GAME = r"(?:Game (?P<game>[0-9]{1,9}): )?"
_WHO = r"(?P<actor>[^\s:(){}<>,]+)"
_HALF_MOVES = r"half[- ]move(?:\(s\)|s)?"
_N = r"[0-9]{1,9}"
_ASKS = rf"{_GAME}{_WHO} (?:would like|requests)"
_OF_GAME = rf"(?:the game|game (?P<number>{_N}))\b.*"
_NOTICES = make_forms(
    [
        (_K.DRAW_OFFER, _GAME + _WHO, " offers ", r"(?:you )?a draw\."),
        (_K.DRAW_OFFER, "", "Offering a draw to ", r"\S+\."),
        (_K.ABORT_REQUEST, _ASKS, " to abort ", _OF_GAME),
        (_K.ADJOURN_REQUEST, _ASKS, " to adjourn ", _OF_GAME),
        (_K.TAKEBACK_REQUEST, _ASKS, " to take back ", rf"(?P<value>{_N}) {_HALF_MOVES}\.?(?: .*)?"),
        (
            _K.TAKEBACK_REQUEST,
            _GAME + _WHO,
            " proposes a different number (",
            rf"(?P<value>{_N})\) of {_HALF_MOVES}(?: to take back)?\.?",
        ),
        (_K.TAKEBACK_REQUEST, "", "Takeback request sent.", ""),
        (_K.ABORT_REQUEST, "", "Requesting to abort game ", rf"(?P<number>{_N})\."),
        (_K.ABORT_REQUEST, "", "Abort request sent.", ""),
        (_K.ADJOURN_REQUEST, "", "Requesting to adjourn game ", rf"(?P<number>{_N})\."),
        (_K.ADJOURN_REQUEST, "", "Adjourn request sent.", ""),
        (_K.PAUSE_REQUEST, "", "Pause request sent.", ""),
        (_K.UNPAUSE_REQUEST, "", "Unpause request sent.", ""),
        (_K.DRAW_OFFER, "", "Draw request sent.", ""),
        (_K.PAUSE_REQUEST, _ASKS, " to pause the game.", ""),
        (_K.UNPAUSE_REQUEST, _ASKS, " to unpause the game.", ""),
        (_K.PAUSED, rf"{_GAME}(?:{_WHO} accepted pause\. )?", "Game clock paused.", ""),
        (_K.RESUMED, rf"{_GAME}(?:{_WHO} accepted unpause\. )?", "Game clock resumed.", ""),
        (_K.TIME_ADDED, rf"(?P<value>{_N})", " seconds were added to your opponent", r"'?s? clock\.?"),
        (_K.TIME_ADDED, "", "Your opponent has added ", rf"(?P<value>{_N}) seconds to your clock\.?"),
        (_K.TIME_ADDED, rf"{_GAME}{_WHO}(?: has)?", " added ", rf"(?P<value>{_N}) seconds to \S+ clock\.?"),
        (_K.TIME_ADDED, "", "You have added ", rf"(?P<value>{_N}) seconds to \S+ clock\.?"),
        (_K.LAGGING, "", "Opponent has timeseal; checking if (s)he's lagging", r"\.?"),
        (_K.LAGGING, _GAME + _WHO, " has lagged for ", rf"(?P<value>{_N}) seconds\.?"),
        (_K.ILLEGAL_MOVE, "", "Illegal move", r"(?: \(.*\))?\.?(?: .*)?"),
        (_K.ILLEGAL_MOVE, "", "It is not your ", r"(?:move|turn)\.?"),
        (_K.DISCONNECTED, rf"{_GAME}Your opponent(?:, (?P<actor>\S+),)?", " has lost contact or quit", r"\.?"),
        (_K.DISCONNECTED, "", "Your partner has disconnected", r"\.?"),
        (
            _K.DISCONNECTED,
            rf"{_GAME}{_WHO}, (?:your opponent|whom you were playing),",
            " has ",
            r"(?:departed|disconnected)\.?",
        ),
        (_K.DISCONNECT_RULE, _GAME, "A disconnection will be considered a forfeit.", ""),
        (_K.RATING_CHANGE, "", "No rating", r"s? adjustment done\."),
        (_K.RATING_CHANGE, r"\S+", " rating adjustment: ", r"\s*\S+\s* --> \s*\S+"),
        (_K.PRIVATE_GAME, "", "Sorry, game ", rf"(?P<game>{_N}) is a private game\."),
        (_K.PRIVATE_GAME, "", "Sinto muito, jogo ", rf"(?P<game>{_N}) \S{{1,2}} um jogo privado\."),
    ]
)
_EXAMINE = make_forms(
    [
        (_E.FORWARD, _GAME + _WHO, " goes forward ", rf"(?P<value>{_N}) moves?\."),
        (_E.BACKWARD, _GAME + _WHO, " backs up ", rf"(?P<value>{_N}) moves?\."),
        (_E.REVERT, _GAME + _WHO, " reverts to main", rf" ?line(?: move (?P<value>{_N}))?\."),
        (_E.REVERT, _GAME, "Already at main", r" ?line\.?"),
        (_E.REVERT, _GAME + _WHO, " is already at main", r" ?line\.?"),
        (_E.FORWARD, _GAME, "End of game", r"\.?"),
        (_E.FORWARD, _GAME, "You're at the end of the game", r"\.?"),
        (_E.BACKWARD, _GAME, "Beginning of game", r"\.?"),
        (_E.BACKWARD, _GAME, "You're at the beginning of the game", r"\.?"),
        (_E.COMMIT, _GAME + _WHO, " commits the ", r"(?:sub)?variation\."),
        (_E.MOVE, _GAME + _WHO, " moves: ", r"\S+"),
        (_E.SETUP_BEGIN, rf"{_GAME}(?:{_WHO} )?[Ee]nter(?:ing|s) (?:setup|examine ?\(setup\))", " mode", r"\.?"),
        (_E.SETUP_BEGIN, "", "Starting a game in examine (setup) mode", r"\.?"),
        (_E.SETUP_END, "", "Game is validated - entering examine mode", r"\.?"),
        (_E.SETUP, "(?:WHITE|BLACK)", " to move", ""),
        (_E.SETUP, "", "Board ", r"(?:set up by FEN|set up as starting position|cleared)\."),
        (_E.REFUSED, "", "There is no ", r"(?:white|black) king\."),
        (_E.REFUSED, "", "The position is not valid - staying in setup mode.", ""),
        (_E.REFUSED, "", "You are still setting up the position.", ""),
        (_E.REFUSED, "", "You can't move ", r"(?:back|for)ward yet, the pos[i]?tion is still being set up\."),
        (
            _E.REFUSED,
            _GAME,
            "You cannot go forward",
            r"(?:; no moves are stored| unless you are on the main line)\.",
        ),
        (_E.START, "", "Starting a game in examine (scratch) mode", r"\.?"),
        (_E.START, "", "Entering examine mode for game ", rf"(?P<game>{_N})\.?"),
        (_E.EXAMINER, _WHO, " has made you an examiner of game ", rf"(?P<game>{_N})\.?"),
        (_E.EXAMINER, rf"{_WHO} is now (?:an )?", "examiner of game ", rf"(?P<game>{_N})\.?"),
        (_E.EXAMINER, "You are now (?:an )?", "examiner of game ", rf"(?P<game>{_N})\.?"),
        (_E.END, rf"{_WHO} (?:has )?", "stopped examining game ", rf"(?P<game>{_N})\.?"),
        (_E.END, "", "You are no longer examining game ", rf"(?P<game>{_N})\.?"),
        (_E.END, "", "There are no examiners", r"\.?"),
        (_E.RESULT, "", "Game ", rf"(?P<game>{_N}): \S.* (?:1-0|0-1|1/2-1/2|\*)"),
        (_E.RESULT, _WHO, " has been checkmated.", ""),
        (_E.RESULT, "", "Stalemate.", ""),
        (_E.RESULT, "", "No mating material.", ""),
    ]
)


# Answers to offers; a line with "You" or without an actor is about the user of the log.
_ANSWER = re.compile(
    rf"{_GAME}(?:(?:You |)(?P<verb>accept|decline|withdraw|update|Accepting|Declining|Withdrawing|Updating)"
    rf"|{_WHO} (?:(?P<theirs>accept|decline|withdraw|update)s|has (?P<have>accept|decline)e?d))"
    r"(?: the| your| his| her| their)? "
    r"(?P<what>draw|takeback|abort|adjourn|pause|unpause|switch|courtesyabort|courtesyadjourn) "
    r"(?:request|offer)s?(?: (?:from|to) \S+)?\.\s*"
)
_ANSWERS = {
    ("draw", "accept"): _K.DRAW_ACCEPTED,
    ("draw", "decline"): _K.DRAW_DECLINED,
    ("takeback", "accept"): _K.TAKEBACK_ACCEPTED,
    ("takeback", "decline"): _K.TAKEBACK_DECLINED,
    ("abort", "accept"): _K.ABORT_ACCEPTED,
    ("abort", "decline"): _K.ABORT_DECLINED,
    ("adjourn", "accept"): _K.ADJOURN_ACCEPTED,
    ("adjourn", "decline"): _K.ADJOURN_DECLINED,
    ("pause", "accept"): _K.PAUSE_ACCEPTED,
    ("pause", "decline"): _K.PAUSE_DECLINED,
    ("unpause", "accept"): _K.UNPAUSE_ACCEPTED,
    ("unpause", "decline"): _K.UNPAUSE_DECLINED,
}
_VERBS = {"Accepting": "accept", "Declining": "decline"}


def _facts(match: re.Match[str]) -> tuple[int | None, str | None, int | None]:
    facts = match.groupdict()
    game = facts.get("game") or facts.get("number")
    value = facts.get("value")
    return None if game is None else int(game), facts.get("actor"), None if value is None else int(value)


def parse_notice(line: Line) -> GameNotice | None:
    """ "would like to take back" is a request: only a board of a lower ply shows that a takeback happened."""
    form = find_form(_NOTICES, line.text)
    if form is not None:
        return GameNotice(line, form[0], *_facts(form[1]), line.text.rstrip())
    match = _ANSWER.fullmatch(line.text)
    if match is None:
        return None
    verb = match["verb"] or match["theirs"] or match["have"]
    kind = _ANSWERS.get((match["what"], _VERBS.get(verb, verb)), _K.OFFER_OTHER)
    return GameNotice(line, kind, *_facts(match), line.text.rstrip())


def parse_examine(line: Line) -> ExamineNotice | None:
    """The number in it is what was asked for."""
    form = find_form(_EXAMINE, line.text)
    return None if form is None else ExamineNotice(line, form[0], *_facts(form[1]), line.text.rstrip())
