"""The recorded server transcripts in ``tests/corpus/server``: streams, arrival times, truth."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

SERVER = Path(__file__).resolve().parent.parent / "corpus" / "server"

DEEPENED_SCENARIOS = {
    "a10_examine": "examine",
    "b05_examine_bsetup": "examine",
    "c05_examine_bsetup": "examine",
    "a11_adjourn_disconnect": "adjourned games",
    "b08_adjourn": "adjourned games",
    "c08_adjourn": "adjourned games",
    "a12_bughouse": "bughouse",
    "b06_bughouse": "bughouse",
    "c06_bughouse": "bughouse",
}
"""Scenarios about what issue 3 deepens, with the reason."""

DEEPENED_STREAMS = {
    ("a09_ivariables", "observer_GuestIvc"): "compressmove",
    ("a09_ivariables", "observer_GuestIvd"): "compressmove",
}

XBOARD_LOGINS = {"xboard_observer": "GuestXbo", "xboard_fairymax": "Judit", "xboard_sjeng": "Vera"}
"""Who was logged in on the connections that only xboard's own debug log shows."""


class Stream(NamedTuple):
    """One connection of one scenario. ``kind`` is the product's word for the log: ``raw`` or ``xboard``."""

    scenario: str
    connection: str
    kind: str

    @property
    def login(self) -> str:
        """The handle of the connection."""
        if self.kind == "xboard":
            return XBOARD_LOGINS[self.connection]
        return str(truth(self.scenario)["connections"][self.connection]["login"])

    @property
    def deepened(self) -> str | None:
        """Why the stream belongs to a later issue, or None."""
        return DEEPENED_SCENARIOS.get(self.scenario) or DEEPENED_STREAMS.get((self.scenario, self.connection))


def scenarios() -> list[str]:
    """Names of all scenarios."""
    return sorted(folder.name for folder in SERVER.iterdir() if folder.is_dir())


def streams(scenario: str) -> list[Stream]:
    """All connections of a scenario: observers and players, then xboard's debug logs."""
    names = sorted(path.name for path in (SERVER / scenario).iterdir())
    recorded = sorted({name.split(".")[0] for name in names if ".jsonl" in name})
    debug = sorted({name.split(".")[0] for name in names if ".debug" in name})
    return [Stream(scenario, name, "raw") for name in recorded] + [Stream(scenario, name, "xboard") for name in debug]


def stream_bytes(scenario: str, connection: str) -> bytes:
    """The bytes of a connection: what the socket received, or the whole of an xboard debug log."""
    if connection in XBOARD_LOGINS:
        return _read(scenario, f"{connection}.debug")
    return b"".join(data for _, data in stream_chunks(scenario, connection))


def stream_chunks(scenario: str, connection: str) -> list[tuple[int, bytes]]:
    """What the socket returned, read by read: milliseconds from the scenario's start, and the bytes."""
    lines = _read(scenario, f"{connection}.jsonl").splitlines()
    return [(round(seconds * 1000), base64.b64decode(text)) for seconds, text in map(json.loads, lines)]


@cache
def truth(scenario: str) -> dict[str, Any]:
    """What the clients that made the moves wrote down."""
    loaded: dict[str, Any] = json.loads(_read(scenario, "truth.json"))
    return loaded


@cache
def _read(scenario: str, name: str) -> bytes:
    plain = SERVER / scenario / name
    if plain.exists():
        return plain.read_bytes()
    return gzip.decompress((SERVER / scenario / f"{name}.gz").read_bytes())
