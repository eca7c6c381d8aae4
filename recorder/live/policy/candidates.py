"""Games that may be observed: the state of each, whether it is wanted and why, and the other boards of bughouse.

The value of a policy expression for a game is true, false or unknown, for a reason. A fact that no line has stated is
unknown, and so is an expression that depends on it: ``rated & X`` is false for an unrated game whatever ``X`` is, and
unknown for a rated game with unknown ``X``. Only games with the value true are observed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Final, NamedTuple

from recorder.events import GameEnded
from recorder.live.policy.games import Listed, Share
from recorder.live.policy.language import (
    TITLES,
    And,
    Category,
    Compare,
    Expression,
    Not,
    Or,
    Plays,
    Word,
    format_policy,
    words_of,
)
from recorder.live.requests import TURN_MS, AskPartner, no_partner
from recorder.rules.variants import SPEEDS, read_category

_SIGNS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_ROW_WORDS = ("rated", "unrated", "private", "examined")
_SHOWN = {True: "true", False: "false", None: "unknown"}


class PolicyPart(NamedTuple):
    """A part of the expression with its value; ``reason`` is the fact behind it, empty if the parts have the reason."""

    tree: Expression
    value: bool | None
    reason: str
    parts: tuple[PolicyPart, ...] = ()

    @property
    def text(self) -> str:
        return format_policy(self.tree)


class Judgement(NamedTuple):
    """Whether to observe a game, and every part of the expression; ``barred``: a reason that excludes it anyway."""

    observed: bool
    barred: str | None
    part: PolicyPart

    @property
    def sentence(self) -> str:
        """``observed: …`` or ``not observed: …``."""
        return f"{'observed' if self.observed else 'not observed'}: {self.reason}"

    @property
    def reason(self) -> str:
        return self.barred or _because(self.part)


def explain(tree: Expression, game: Listed) -> Judgement:
    """A game that is examined or private is only observed if the expression contains that word."""
    part = _judge(tree, game)
    if game.examined and "examined" not in words_of(tree):
        return Judgement(False, "the game is being examined and the policy does not contain 'examined'", part)
    if game.private and "private" not in words_of(tree):
        return Judgement(False, "the game is private", part)
    return Judgement(part.value is True, None, part)


def row_decides(part: PolicyPart, game: Listed) -> bool:
    """Whether a row of the table of games can make true what is unknown now."""
    return part.value is None and _can_become(part, game, value=True)


def _can_become(part: PolicyPart, game: Listed, *, value: bool) -> bool:
    if part.value is not None:
        return part.value is value
    tree = part.tree
    if isinstance(tree, Not):
        return _can_become(part.parts[0], game, value=not value)
    if isinstance(tree, And | Or):
        each = (_can_become(inner, game, value=value) for inner in part.parts)
        return all(each) if isinstance(tree, And) is value else any(each)
    facts = game.facts
    unrated = facts.white_rating is None or facts.black_rating is None
    if isinstance(tree, Compare):
        return unrated if tree.field.endswith("rating") else facts.white_base_s is None
    if isinstance(tree, Category):
        return facts.category is None
    if isinstance(tree, Word):
        return tree.name in _ROW_WORDS or (tree.name in ("guest", "registered") and unrated)
    return False


def format_part(part: PolicyPart, indent: str = "") -> str:
    """A part and, indented below it, its own parts, one a line."""
    reason = f" ({part.reason})" if part.reason else ""
    lines = [f"{indent}{part.text}: {_SHOWN[part.value]}{reason}"]
    return "\n".join([*lines, *(format_part(inner, indent + "  ") for inner in part.parts)])


def _because(part: PolicyPart) -> str:
    deciding = [inner for inner in part.parts if inner.value is part.value]
    if deciding:
        return " and ".join(_because(inner) for inner in deciding)
    if part.parts:  # a negation
        return _because(part.parts[0])
    return f"{part.text} is {_SHOWN[part.value]}{f' because {part.reason}' if part.reason else ''}"


def _all(values: list[bool | None]) -> bool | None:
    return False if False in values else None if None in values else True


def _any(values: list[bool | None]) -> bool | None:
    return True if True in values else None if None in values else False


def _judge(tree: Expression, game: Listed) -> PolicyPart:
    if isinstance(tree, And | Or):
        parts = tuple(_judge(part, game) for part in tree.parts)
        values = [part.value for part in parts]
        return PolicyPart(tree, _all(values) if isinstance(tree, And) else _any(values), "", parts)
    if isinstance(tree, Not):
        part = _judge(tree.part, game)
        return PolicyPart(tree, None if part.value is None else not part.value, "", (part,))
    if isinstance(tree, Compare):
        value, reason = _compare(tree, game)
    elif isinstance(tree, Plays):
        value, reason = _plays(tree, game)
    elif isinstance(tree, Category):
        value, reason = _category(tree.name, game)
    else:
        value, reason = _word(tree.name, game)
    return PolicyPart(tree, value, reason)


def _word(name: str, game: Listed) -> tuple[bool | None, str]:
    facts = game.facts
    if name == "all":
        return True, "it is true of every game"
    if name in ("rated", "unrated"):
        if facts.rated is None:
            return None, "it is unknown whether the game is rated"
        return facts.rated is (name == "rated"), f"the game is {'rated' if facts.rated else 'unrated'}"
    if name == "private":
        return game.private, "it is unknown whether the game is private" if game.private is None else ""
    if name == "examined":
        return game.examined, "it is unknown whether the game is examined" if game.examined is None else ""
    if name in ("guest", "registered"):
        sides = {"White": game.registered(True), "Black": game.registered(False)}
        both = _all(list(sides.values()))
        guests = [side for side, registered in sides.items() if registered is False]
        if guests:
            reason = f"{' and '.join(guests)} {'are guests' if len(guests) > 1 else 'is a guest'}"
        elif both is None:
            unknown = " and ".join(side for side, registered in sides.items() if registered is None)
            reason = f"it is unknown whether {unknown} has an account"
        else:
            reason = "both players have accounts"
        return (both if name == "registered" else None if both is None else not both), reason
    return _titled(name, game)


def _titled(name: str, game: Listed) -> tuple[bool | None, str]:
    wanted = {"computer": ("C",), "titled": tuple(title.upper() for title in TITLES)}.get(name, (name.upper(),))
    values: list[bool | None] = []
    for side, titles in (("White", game.white_titles), ("Black", game.black_titles)):
        has = None if titles is None else not titles.isdisjoint(wanted)
        if has:
            return True, f"{side} is {name.upper() if name in TITLES else 'a computer' if name == 'computer' else name}"
        values.append(has)
    value = _any(values)
    return value, "the players' titles are unknown" if value is None else ""


def _category(name: str, game: Listed) -> tuple[bool | None, str]:
    category = game.facts.category
    if category is None:
        return None, "the game's type is unknown"
    category, name = (word.replace("non-standard", "nonstandard") for word in (category.lower(), name))
    if category == name or (name == "wild" and category.startswith(("wild/", "wild("))):
        return True, f"the game is {category}"
    variant, wanted = read_category(category), read_category(name)
    if variant == wanted == "chess":  # any speed, or which one
        return name not in SPEEDS or name in category.split(), f"the game is {category}"
    if variant is not None and variant == wanted:
        return True, f"the game is {category}"
    if variant is None and (name.startswith(category) or _can_mean(category, wanted)):
        return None, f"the server only reports that the game is {category}"
    return False, f"the game is {category}"


def _can_mean(category: str, wanted: str | None) -> bool:
    """Whether a category that covers several variants can mean this one; it never means ``chess``."""
    if wanted in (None, "chess"):
        return False
    return category != "wild" or wanted == "chess960"


def _plays(tree: Plays, game: Listed) -> tuple[bool | None, str]:
    wanted = tree.handle.lower()
    sides = {
        "white": (game.facts.white, game.white_cut),
        "black": (game.facts.black, game.black_cut),
    }
    values: list[bool | None] = []
    for side, (name, cut) in sides.items():
        if tree.side not in ("player", side):
            continue
        if name is None:
            values.append(None)
        elif name.lower() == wanted:
            return True, f"{side.title()} is {name}"
        elif cut and wanted.startswith(name.lower()):
            # Ask for the game, because a missed one is lost; the first line with the whole name decides.
            return True, f"{side.title()} is printed as {name}, cut off"
        else:
            values.append(False)
    names = " and ".join(f"{side.title()} is {name or 'unknown'}" for side, (name, _) in sides.items())
    return _any(values), names


def _compare(tree: Compare, game: Listed) -> tuple[bool | None, str]:
    sides = _numbers(tree.field, game)
    missing = [what for value, what in sides if value is None]
    values = [value for value, _ in sides]

    def each(sign: str) -> list[bool | None]:
        return [None if value is None else _SIGNS[sign](value, tree.value) for value in values]

    if tree.field in ("min_rating", "max_rating"):
        answer = _extreme(tree.sign, each, least=tree.field == "min_rating")
    else:
        answer = _all(each(tree.sign))
    if answer is None:
        return None, " and ".join(missing)
    return answer, ", ".join(what for value, what in sides if value is not None)


def _extreme(sign: str, each: Callable[[str], list[bool | None]], *, least: bool) -> bool | None:
    """A comparison with the least or the greatest of two numbers, one of which may be unknown."""
    if sign in ("=", "!="):
        equal = _all(
            [_all(each(">=")), _any(each("<="))] if least else [_all(each("<=")), _any(each(">="))],
        )
        return equal if sign == "=" or equal is None else not equal
    all_must = sign.startswith(">") is least
    return _all(each(sign)) if all_must else _any(each(sign))


def _numbers(field: str, game: Listed) -> list[tuple[Fraction | None, str]]:
    """The numbers to compare, each with a phrase that states it or says why it is missing."""
    facts = game.facts
    if field == "number":
        return [(Fraction(game.game_no), f"it is game {game.game_no}")]
    if field.endswith("rating"):
        sides = ["White", "Black"]
        if field.startswith(("white", "black")):
            sides = [field.partition("_")[0].title()]
        ratings = [(side, game.rating(side == "White")) for side in sides]
        return [
            (None, f"{side} has no rating") if rating is None else (Fraction(rating), f"{side} has {rating}")
            for side, rating in ratings
        ]
    found: set[tuple[int | None, int | None]] = {
        (facts.white_base_s, facts.white_increment_s),
        (facts.black_base_s, facts.black_increment_s),
    }
    numbers: list[tuple[Fraction | None, str]] = []
    for base_s, increment_s in sorted(found, key=str):  # one pair, or two where the players' times differ
        if base_s is None or increment_s is None:
            return [(None, "the times are unknown")]
        base = Fraction(base_s, 60)
        number = {"base": base, "increment": Fraction(increment_s)}.get(field, base + Fraction(2 * increment_s, 3))
        numbers.append((number, f"the time is {_minutes(base_s)} {increment_s}"))
    return numbers


def _minutes(seconds: int) -> str:
    return str(seconds // 60) if seconds % 60 == 0 else f"{seconds // 60}:{seconds % 60:02}"


class CandidateState(Enum):
    SEEN = "seen"
    ASKED = "asked"
    WATCHED = "watched"
    LEAVING = "leaving"


class Rank(IntEnum):
    """Which game goes first when a place becomes free."""

    RESUMED = 0  # it was observed before the connection was lost
    PARTNER = 1
    HANDLE = 2
    POLICY = 3


@dataclass(slots=True)
class Candidate:
    """A game that the server has.

    ``listed`` has its facts, ``judgement`` what the policy says of them, until another line has new ones.
    """

    listed: Listed
    order: int  # of first being seen, or of having been dropped for another
    sweep: int  # the table that showed it last
    seen_ms: int
    since_ms: int
    state: CandidateState = CandidateState.SEEN
    tries: int = 0
    watched_ms: int | None = None  # when it was first observed
    wanted: str | None = None  # why it was requested
    was_watched: bool = False  # before the connection was lost
    refused: str | None = None  # why it is not requested any more
    on_cut_name: bool = False  # requested while a name was printed cut
    judgement: Judgement | None = None
    began_at_ms: int | None = None  # UTC, when the server announced it
    end: GameEnded | None = None  # if the server reported it
    announced: bool = False  # on this connection
    row_asked: bool = False  # a row of the table contained it, or was requested
    informed: bool = False  # a line states whether it has a partner
    partner_asked: bool = False  # the partner's game was requested

    @property
    def is_bughouse(self) -> bool:
        return read_category(self.listed.facts.category) == "bughouse"

    def move(self, state: CandidateState, now_ms: int) -> None:
        """An observed game may be requested again later."""
        self.state = state
        self.since_ms = now_ms
        if state is CandidateState.WATCHED:
            self.watched_ms = now_ms if self.watched_ms is None else self.watched_ms
            self.was_watched = False
            self.tries = 0
            self.refused = None

    def give_up(self, reason: str, now_ms: int) -> None:
        self.refused = reason
        self.move(CandidateState.SEEN, now_ms)


class Fate(Enum):
    OBSERVED = "observed"
    ASKED = "asked for"
    LEAVING = "being left"
    REFUSED = "refused"
    UNWANTED = "not wanted"
    UNCONFIRMED = "unconfirmed"
    WAITING = "waiting"


class Why(NamedTuple):
    """The reason is a clause without a full stop."""

    fate: Fate
    reason: str


def partners_of(games: Mapping[int, Candidate]) -> dict[int, int]:
    """Each game that is the other board of an observed one → that one, whichever line named the pair."""
    pairs: dict[int, int] = {}
    for number, game in games.items():
        other = game.listed.facts.partner_game_no
        if other is None:
            continue
        if game.state is CandidateState.WATCHED:
            pairs[other] = number
        if other in games and games[other].state is CandidateState.WATCHED:
            pairs[number] = other
    return pairs


class ObservationWishes:
    """What the user wants to observe: games of a policy and of handles, or a share of all these games."""

    def __init__(self, policy: Expression | None, handles: Iterable[str], share: Share | None) -> None:
        self._policy = policy
        self._share = share
        self._handles = frozenset(handle.lower() for handle in handles)

    def rank(self, game: Candidate, partners: Mapping[int, int]) -> tuple[Rank | None, str]:
        """The rank of a game (None: it is not wanted) and the reason; empty: the ``judgement`` of the policy has it."""
        listed = game.listed
        if game.was_watched:
            return Rank.RESUMED, "it was observed before the connection was lost"
        partner = partners.get(listed.game_no)
        if partner is not None:
            return Rank.PARTNER, f"its bughouse partner, game {partner}, is observed"
        if listed.facts.white is None or listed.facts.black is None:
            return None, "its players are unknown"
        if self._share is not None and not self._share.has(listed):
            return None, "it is in the share of another recorder"
        handle = self._listed_handle(listed)
        if handle is not None and not listed.examined and not listed.private:
            return Rank.HANDLE, f"{handle} is in the list of handles"
        if self._policy is None:
            return None, "no player of it is in the list of handles"
        if game.judgement is None:
            game.judgement = explain(self._policy, listed)
        return (Rank.POLICY if game.judgement.observed else None), ""

    def needs_row(self, game: Candidate) -> bool:
        """Whether a game that is not wanted may become wanted by its row of the table; to be called after ``rank``."""
        judgement = game.judgement  # None: the policy was not asked
        return judgement is not None and judgement.barred is None and row_decides(judgement.part, game.listed)

    def reason(self, game: Candidate, partners: Mapping[int, int]) -> tuple[Rank | None, str]:
        """As ``rank``, with the reason in words, which take longer than the decision."""
        rank, reason = self.rank(game, partners)
        if not reason and game.judgement is not None:
            reason = game.judgement.reason
        return rank, reason

    def status(self, game: Candidate, partners: Mapping[int, int], *, confirmed: bool) -> Why:
        """What is done about a game, and why; ``confirmed``: a line has named it on this connection."""
        rank, reason = self.reason(game, partners)
        if game.state is CandidateState.WATCHED:
            unasked = game.wanted or "the server began to show it without being asked"
            return Why(Fate.OBSERVED, reason if rank is not None else unasked)
        if game.state is CandidateState.ASKED:
            return Why(Fate.ASKED, reason if rank is not None else game.wanted or reason)
        if game.state is CandidateState.LEAVING:
            return Why(Fate.LEAVING, "its place goes to a waiting game")
        if game.refused is not None:
            return Why(Fate.REFUSED, game.refused)
        if rank is None:
            return Why(Fate.UNWANTED, reason)
        return Why(Fate.WAITING if confirmed else Fate.UNCONFIRMED, reason)

    def _listed_handle(self, listed: Listed) -> str | None:
        for name, cut in ((listed.facts.white, listed.white_cut), (listed.facts.black, listed.black_cut)):
            if name is None:
                continue
            shown = name.lower()
            if shown in self._handles or (cut and any(handle.startswith(shown) for handle in self._handles)):
                return name
        return None


def find_mistaken(games: Mapping[int, Candidate], wishes: ObservationWishes) -> list[Candidate]:
    """Games requested for a name that was printed cut, and that turned out to be another player's; each only once."""
    found: list[Candidate] = []
    for game in games.values():
        if (
            game.on_cut_name
            and game.state is CandidateState.WATCHED
            and not (game.listed.white_cut or game.listed.black_cut)
        ):
            game.on_cut_name = False
            if wishes.rank(game, partners_of(games))[0] is None:
                found.append(game)
    return found


def find_outstayed(
    games: Mapping[int, Candidate], wishes: ObservationWishes, since_ms: int, wanted: int
) -> list[Candidate]:
    """Up to ``wanted`` games, observed since before ``since_ms``, whose places waiting games get."""
    partners = partners_of(games)
    watched = [game for game in games.values() if game.state is CandidateState.WATCHED and game.since_ms <= since_ms]
    old = [game for game in watched if wishes.rank(game, partners)[0] is Rank.POLICY]
    return sorted(old, key=lambda game: game.since_ms)[: max(0, wanted)]


_PARTNER_KNOWN_MS: Final = 3_000  # a <g1> line with the partner's number arrives within this time


class Partners:
    """Requests the other boards of bughouse games, one at a time; ``due_ms`` is when to look for them."""

    def __init__(self) -> None:
        self.due_ms: int | None = None
        self._asked_for: Candidate | None = None  # whose other board was asked for
        self._asked_ms = 0
        self._known = True  # the server has the command for it, as far as we know

    def look_at(self, game: Candidate, now_ms: int) -> None:
        if game.state is CandidateState.WATCHED and game.is_bughouse and not game.partner_asked and self.due_ms is None:
            self.due_ms = now_ms + _PARTNER_KNOWN_MS

    def ask(self, games: Mapping[int, Candidate], now_ms: int) -> list[AskPartner]:
        """The requests to send now; never for a board that may be observed, since the command toggles."""
        if self._asked_for is not None and now_ms >= self._asked_ms + TURN_MS:
            self._asked_for = None
        if self.due_ms is None or now_ms < self.due_ms:
            return []
        self.due_ms = None
        partners = partners_of(games)
        alone = [
            game
            for number, game in games.items()
            if game.is_bughouse
            and game.state is not CandidateState.SEEN
            and not game.informed
            and number not in partners
            and game.listed.facts.partner_game_no is None
        ]
        if len(alone) != 1 or self._asked_for is not None or not self._known:
            return []
        (game,) = alone
        facts, listed = game.listed.facts, game.listed
        names = ((facts.white, listed.white_cut), (facts.black, listed.black_cut))  # they have the same other board
        handle = next((name for name, cut in names if name is not None and name.isascii() and not cut), None)
        if game.partner_asked or handle is None:
            return []
        game.partner_asked = True
        self._asked_for, self._asked_ms = game, now_ms
        return [AskPartner(listed.game_no, handle)]

    def answered_by(self, game: Candidate, now_ms: int) -> bool:
        """Whether a game that came or went without our command is the other board that was asked for."""
        if self._asked_for is None or self._asked_for is game or now_ms >= self._asked_ms + TURN_MS:
            return False
        game.listed.facts.partner_game_no = self._asked_for.listed.game_no
        self._asked_for = None
        return True

    def hear(self, line: str) -> None:
        """It may be the refusal."""
        refused = no_partner(line) if self._asked_for is not None else None
        if refused is not None:
            self._asked_for = None
            self._known = refused
