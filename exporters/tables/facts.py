"""What all plies of one side of a game have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from recorder.errors import ExportError
from recorder.model import Player, SourceKind, control_of
from storage.read.columns import GameFacts

SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}

_REASONS = {
    "checkmate": "mate",
    "checkmate-both": "mate",
    "resign": "resignation",
    "agreed": "agreement",
    "fifty": "50-move rule",
    "no-material": "insufficient material",
    "time-vs-bare": "time, no mating material",
    "both-flag": "time on both sides",
    "disconnect-loss": "disconnection",
    "adjudicated": "adjudication",
    "adjudicated-draw": "adjudication",
    "drawn": "draw, reason not given",
    "max-length": "length",
    "suicide-all": "all pieces lost",
    "suicide-fewer": "fewer pieces",
    "losers-stalemate": "stalemate",
    "king-exploded": "king exploded",
    "bare-king": "bare king",
    "perpetual": "perpetual check",
    "partner-decided": "result of the other board",
    "partner-won": "result of the other board",
    "partner-draw": "result of the other board",
    "unknown": "another reason",
}
_CUT_SHORT = {
    "agreed": "agreement",
    "lost": "connection lost",
    "server": "server shutdown",
    "early": "too few moves",
    "adjudicated": "adjudication",
    "bug": "bughouse match",
}


class ChosenPlayer(NamedTuple):
    """Without ``identities`` no player has it; ``excluded``: games with this handle that are not by this player."""

    identities: frozenset[str]
    handle: str
    excluded: Mapping[str, int]


class NamedPlayer(NamedTuple):
    handle: str
    identity: str
    guest: bool | None
    games: int


def choose_player(people: Iterable[NamedPlayer], handle: str) -> ChosenPlayer:
    """The registered player, else the only guest: another may have the handle tomorrow. ExportError: several."""
    own = list(people)
    if not own:
        return ChosenPlayer(frozenset(), handle, {})
    chosen = [one for one in own if not one.guest]
    excluded = {}
    if not chosen:
        chosen = own
        if (guests := len({one.identity for one in own})) > 1:
            raise ExportError(
                f"{handle} is the handle of {guests} guests, maybe of several people: choose one by a game's KEY, or "
                "by --source where a journal recorded the games."
            )
    elif len(chosen) < len(own):
        excluded["of guests who had this handle"] = sum(one.games for one in own if one.guest)
    spelled = min(chosen, key=lambda one: (-one.games, one.handle))
    return ChosenPlayer(frozenset(one.identity for one in chosen), spelled.handle, excluded)


def game_facts(game: GameFacts, plies: int) -> dict[str, Any]:
    facts = game._asdict()
    journal = game.source_sha256 if game.source_kind == SourceKind.JOURNAL.value else None
    for side, control in (("white", ""), ("black", "black_")):
        titles, registered = facts[f"{side}_titles"], facts[f"{side}_registered"]
        known = None if registered is None else bool(registered)
        player = Player(facts[side], facts[f"{side}_rating_text"], facts[f"{side}_rating"], titles, known)
        base_s, increment_s = control_of(game, side == "white")
        facts |= {
            f"{side}_id": identity(game.server, player, connection_of(game.key, journal)),
            f"{side}_guest": player.is_guest,
            f"{side}_computer": None if titles is None else player.is_computer,
            f"{control}time_control": time_control(base_s, increment_s),
            f"{control}base_s": base_s,
            f"{control}increment_s": increment_s,
        }
    return facts | {
        "termination": game.termination or None,
        "reason": game.reason_key,
        "started_ms": game.started_at_ms,
        "day": game.day,
        "plies": plies,
        "offset": game.first_offset,
    }


def connection_of(key: str, journal: str | None) -> str:
    """A guest's handle is one person in a journal, which is one connection, else only in the game."""
    return key if journal is None else journal


def identity(server: str | None, player: Player, connection: str) -> str:
    """Without case; a guest's has its connection too, because handles are reused."""
    name = f"{server or '?'}/{player.handle.lower()}"
    return f"{name}/{connection}" if player.is_guest else name


def reason_words(key: str | None) -> str:
    """``resignation`` for ``resign``; empty where no reason is known."""
    if key is None:
        return ""
    how, _, why = key.partition("-")
    if why and how in ("adjourned", "aborted"):
        return f"{how}: {_CUT_SHORT.get(why, why)}"
    return _REASONS.get(key, key.replace("-", " "))


def time_control(base_s: int | None, increment_s: int | None) -> str | None:
    """``300+0`` in seconds, ``-`` untimed; None: unknown."""
    if base_s is None or increment_s is None:
        return None
    return f"{base_s}+{increment_s}" if base_s or increment_s else "-"
