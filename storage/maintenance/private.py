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
    """A condition in SQL; ``with_text``: which chat is for others, ``public`` or ``none``."""
    public = f" OR {row}.detail IN ({', '.join(map(repr, PUBLIC_CHAT))})" if with_text == "public" else ""
    return f"({row}.kind <> '{EventKind.CHAT.value}'{public})"


def published_settings(stored: str, secret: bytes) -> str:
    """Options that may be paths and names become a hash, so that different settings stay different."""
    settings = json.loads(stored)
    for name, value in settings.get("options", {}).items():
        if isinstance(value, str) and not _HARMLESS.fullmatch(value):
            settings["options"][name] = f"[{keyed(value, secret, 4)}]"
    return json.dumps(settings, sort_keys=True)


_SECRET: Final = secrets.token_bytes(16)


def public_game(game: Game, with_text: str = "public") -> Game:
    kept = PUBLIC_CHAT if with_text == "public" else ()
    observations = [
        replace(
            view, events=[event for event in view.events if event.kind is not EventKind.CHAT or event.detail in kept]
        )
        for view in game.observations
    ]
    analyses = [replace(run, settings=published_settings(run.settings, _SECRET)) for run in game.analyses]
    return replace(game, observations=observations, analyses=analyses)


def public_anomaly(anomaly: Anomaly) -> Anomaly:
    return anomaly._replace(text="")


def keyed(text: str, secret: bytes, size: int) -> str:
    """Only who knows the secret can compute it: ``size_bytes`` in hexadecimal digits."""
    return hashlib.blake2b(text.encode(), key=secret, digest_size=size).hexdigest()
