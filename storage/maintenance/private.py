"""What of an archive is not for others: ``db share``, ``publish`` and ``web`` exclude the same."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import replace
from typing import Any, Final

from recorder.model import Anomaly, EventKind, Game

PUBLIC_CHAT: Final = ("kibitz", "whisper")
"""Kinds of chat that anybody at the board could read; no other is for others."""

PRIVATE_TABLES: Final = ("source_chunks", "source_shapes")
"""Tables with bytes of logs: shapes quote lines as they came."""

PRIVATE_COLUMNS: Final[dict[str, dict[str, Any]]] = {
    "sources": {
        "path": None,
        "timing": None,
        "kept_bytes": 0,
        "read_up_to": 0,
        "unfinished": None,
        "warnings": [],
        "options": {},
    },
    "anomalies": {"text": ""},
}
"""By table the columns that may hold what the user typed or where files are, with the value in their place."""

_HARMLESS = re.compile(r"-?[0-9]{1,19}(?:\.[0-9]{1,9})?|true|false")


def published_events(with_text: str, row: str = "events") -> str:
    """Return the condition, in SQL, that a row of ``events`` is for others.

    ``with_text`` says which chat is: ``public``, or ``none``.
    """
    public = f" OR {row}.detail IN ({', '.join(map(repr, PUBLIC_CHAT))})" if with_text == "public" else ""
    return f"({row}.kind <> '{EventKind.CHAT.value}'{public})"


def published_settings(stored: str, secret: bytes) -> str:
    """The settings of an analysis without the values of options that may be paths and names.

    These are replaced by a hash, so that different settings stay different; numbers and booleans are kept.
    """
    settings = json.loads(stored)
    for name, value in settings.get("options", {}).items():
        if isinstance(value, str) and not _HARMLESS.fullmatch(value):
            settings["options"][name] = f"[{keyed(value, secret, 4)}]"
    return json.dumps(settings, sort_keys=True)


_SECRET: Final = secrets.token_bytes(16)


def public_game(game: Game, with_text: str = "public") -> Game:
    """A game without what is not for others: private chat, and values of engines' options that may be paths."""
    kept = PUBLIC_CHAT if with_text == "public" else ()
    observations = [
        replace(
            seen, events=[event for event in seen.events if event.kind is not EventKind.CHAT or event.detail in kept]
        )
        for seen in game.observations
    ]
    analyses = [replace(one, settings=published_settings(one.settings, _SECRET)) for one in game.analyses]
    return replace(game, observations=observations, analyses=analyses)


def public_anomaly(anomaly: Anomaly) -> Anomaly:
    """An anomaly without its line."""
    return anomaly._replace(text="")


def keyed(text: str, secret: bytes, size: int) -> str:
    """A hash that only who knows the secret can compute: ``size`` bytes in hexadecimal digits."""
    return hashlib.blake2b(text.encode(), key=secret, digest_size=size).hexdigest()
