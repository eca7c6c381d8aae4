"""What a replay server prints where a line of the servers needs a fact that a saved game lacks, or has in another form.

Clients read these lines by their fixed forms: a handle is one word of letters, a kind is a word that they know, and a
move list begins with a weekday, a date, a time of day and a zone. ``not_recorded`` says in words which of them the
recording does not have.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, time
from typing import Final

from recorder.dialects.movelist import format_started, parse_started
from recorder.events import RatingText
from recorder.model import Game, ObservationKind, Player, TimeBasis, control_of

_LONGEST_HANDLE: Final = 17
_LETTERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D",
     "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i"}
)  # fmt: skip
_RATING: Final = re.compile(r"[0-9]{1,4}[PE]?|[+-]{4}|UNR")
_SAVED: Final = (ObservationKind.PGN, ObservationKind.ENGINE)
_KINDS: Final = frozenset((
    "blitz", "standard", "lightning", "untimed", "nonstandard", "bughouse", "crazyhouse", "suicide", "losers", "atomic",
    *(f"wild/{number}" for number in ("fr", "0", "1", "2", "3", "4", "5", "8", "8a")),
))  # fmt: skip


def is_saved(game: Game) -> bool:
    """Whether the game comes from no server's lines, so that its names and kind may be any text."""
    return bool(game.observations) and all(observation.kind in _SAVED for observation in game.observations)


def served_names(game: Game) -> tuple[str, str]:
    """As a server prints them; of a saved game at most 17 letters, never equal."""
    names = (game.white.handle, game.black.handle)
    if not is_saved(game):
        return names
    white, black = _handle(names[0]) or "White", _handle(names[1]) or "Black"
    if white.lower() != black.lower():
        return white, black
    return f"{white[: _LONGEST_HANDLE - 5]}White", f"{black[: _LONGEST_HANDLE - 5]}Black"


def _handle(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.translate(_LETTERS))
    return "".join(letter for letter in plain if letter.isascii() and letter.isalpha())[:_LONGEST_HANDLE]


def served_kind(game: Game) -> str | None:
    """The recorded word, or for a saved game the one of FICS; None: there is none."""
    if not is_saved(game) or game.category in _KINDS:
        return game.category
    variant = "wild/fr" if game.variant == "chess960" else game.variant or "chess"
    if variant != "chess":
        return variant if variant in _KINDS else None
    base_s, increment_s = control_of(game, True)
    if base_s is None:
        return "standard"
    if not base_s and not increment_s:
        return "untimed"
    estimated_s = base_s + 40 * (increment_s or 0)
    return "lightning" if estimated_s < 180 else "blitz" if estimated_s < 900 else "standard"


def served_rating(player: Player) -> RatingText:
    """``----``: unknown."""
    text = (player.rating_text or ("++++" if player.is_guest else "----")).strip()
    if not _RATING.fullmatch(text):
        text = "----" if player.rating is None or player.rating > 9999 else str(player.rating)
    return RatingText(text, player.rating)


def served_start(game: Game) -> str | None:
    """As FICS prints it; ``00:00 ???`` if only the day is known; None: the day is unknown."""
    at_ms, zone_known = game.started_at_ms, game.time_basis is TimeBasis.UTC
    if at_ms is None or game.time_basis not in (TimeBasis.UTC, TimeBasis.LOCAL):
        at_ms, zone_known, _ = parse_started(game.date_text or "")
    if at_ms is not None:
        return format_started(datetime.fromtimestamp(at_ms / 1000, UTC), "UTC" if zone_known else "???")
    return None if game.day is None else format_started(datetime.combine(game.day, time()), "???")


def not_recorded(game: Game, handles: tuple[str, str]) -> str | None:
    """None: all facts that the server's lines have are recorded."""
    start = served_start(game)
    date = None if start is None else parse_started(start)[0]
    missing = ["the date and the time of day" if start is None else "the time of day"] if date is None else []
    if is_saved(game):
        missing += ["the kind of game"] if game.category is None else []
        missing += ["whether it was rated"] if game.rated is None else []
        missing += ["the times of moves"] if all(ply.elapsed_ms is None for ply in game.plies) else []
    names = zip(handles, (game.white.handle, game.black.handle), strict=True)
    others = [f"{handle} is {name or 'unknown'}" for handle, name in names if is_saved(game) and handle != name]
    words = [f"Not recorded: {', '.join(missing)}." if missing else "", f"{', '.join(others)}." if others else ""]
    return "".join(letter for letter in " ".join(filter(None, words)) if letter.isprintable()) or None
