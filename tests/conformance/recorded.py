"""Cases of whole connections: recorded streams, and what the clients that played the games really did."""

import gzip
import json
from pathlib import Path
from typing import Any, Final

from recorder.conformance.runner import Case

_CORPUS: Final = Path(__file__).parent.parent / "corpus" / "server"
_RECORDED: Final = (
    ("SES-11-a", "fatics", "a13_timeseal_lag", "observer_GuestTsa"),
    ("SES-11-b", "fatics", "a09_ivariables", "observer_GuestIvd"),
    ("SES-11-c", "fatics", "a09_ivariables", "observer_GuestBlk"),
    ("SES-11-d", "lasker", "b08_adjourn", "observer_GuestXw"),
    ("SES-11-e", "fics-1.6.2", "c08_adjourn", "observer_GuestXw"),
)
"""Case, server, folder of tests/corpus/server, connection."""


def recorded_cases() -> list[Case]:
    """The cases of rule SES-11."""
    return [
        Case(name, "SES-11", "valid", server, _stream(folder, who), {"games": _played(folder, who)})
        for name, server, folder, who in _RECORDED
    ]


def _stream(folder: str, who: str) -> bytes:
    return (_CORPUS / folder / f"{who}.raw").read_bytes()


def _played(folder: str, who: str) -> list[dict[str, Any]]:
    """The games that this connection observed, as the clients played them."""
    plain, packed = _CORPUS / folder / "truth.json", _CORPUS / folder / "truth.json.gz"
    truth = json.loads(plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes()))
    return [_game(game) for game in truth["games"] if _seen(game, who)]


def _seen(game: dict[str, Any], who: str) -> bool:
    return any(f"observer_{seen['observer']}" == who for seen in game["observed"])


def _game(game: dict[str, Any]) -> dict[str, Any]:
    return {
        "game": game["game_number"],
        "white": game["white"],
        "black": game["black"],
        "moves": game["moves_san"],
        "result": game["result"],
    }
