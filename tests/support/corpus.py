"""The recorded server transcripts in ``tests/corpus/server``: streams, arrival times, truth."""

import base64
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

SERVER = Path(__file__).resolve().parent.parent / "corpus" / "server"

SUBJECTS = {
    "a03_crazyhouse": "crazyhouse",
    "a04_suicide": "suicide",
    "a05_chess960": "chess960",
    "a10_examine": "examined",
    "a11_adjourn_disconnect": "adjourned",
    "a12_bughouse": "bughouse",
    "a13_timeseal_lag": "seal",
    "b03_wild": "wild",
    "b05_examine_bsetup": "examined",
    "b06_bughouse": "bughouse",
    "b08_adjourn": "adjourned",
    "b09_crazyhouse": "crazyhouse",
    "c03_wild": "wild",
    "c05_examine_bsetup": "examined",
    "c06_bughouse": "bughouse",
    "c08_adjourn": "adjourned",
    "x01_xboard_observes": "xboard's logs",
    "x02_xboard_observes_b": "xboard's logs",
    "x03_zippy_engines": "xboard's logs",
}
"""What a scenario is about; the others are games as they are played every day."""

STREAM_SUBJECTS = {
    ("a09_ivariables", "observer_GuestIvc"): "deltas",
    ("a09_ivariables", "observer_GuestIvd"): "deltas",
    ("a09_ivariables", "observer_GuestBlk"): "blocks",
    ("a09_ivariables", "observer_GuestIve"): "gameinfo, startpos",
    ("a09_ivariables", "observer_GuestIvf"): "allresults, gin",
}

REPRESENTATIVE = {
    ("a01_standard", "player_Morphy"),
    ("a02_features", "observer_GuestObsC"),
    ("a03_crazyhouse", "player_GuestZh"),
    ("a04_suicide", "player_GuestSui"),
    ("a05_chess960", "observer_GuestObsH"),
    ("a06_chatter_takebacks", "observer_Euwe"),
    ("a07_eight_boards", "player_Fischer"),
    ("a08_wrap_prompt_style", "observer_GuestObsM"),
    ("a09_ivariables", "observer_GuestBlk"),
    ("a09_ivariables", "observer_GuestIvc"),
    ("a09_ivariables", "observer_GuestIvd"),
    ("a09_ivariables", "observer_GuestIve"),
    ("a10_examine", "observer_GuestExa"),
    ("a11_adjourn_disconnect", "player_Caruana_again"),
    ("a12_bughouse", "observer_GuestBgb"),
    ("a13_timeseal_lag", "player_Tal"),
    ("b02_features", "observer_GuestXd"),
    ("b03_wild", "player_Lasker"),
    ("b05_examine_bsetup", "observer_GuestXk"),
    ("b06_bughouse", "player_Petrosian"),
    ("b08_adjourn", "observer_GuestXw"),
    ("b09_crazyhouse", "observer_GuestXz"),
    ("c04_chatter_takeback_pause", "player_Alekhine"),
    ("x02_xboard_observes_b", "player_Lasker"),
}
"""Connections of every subject, and of every place where a replay differs: `make test` replays these."""

XBOARD_LOGINS = {"xboard_observer": "GuestXbo", "xboard_fairymax": "Judit", "xboard_sjeng": "Vera"}
"""Who was logged in on the connections that only xboard's own debug log shows."""


class Stream(NamedTuple):
    """One connection of one scenario. ``kind`` is the product's word for the log: ``raw`` or ``xboard``."""

    scenario: str
    connection: str
    kind: str

    def __str__(self) -> str:
        return f"{self.scenario}-{self.connection}"

    @property
    def login(self) -> str:
        """The handle of the connection."""
        if self.kind == "xboard":
            return XBOARD_LOGINS[self.connection]
        return str(truth(self.scenario)["connections"][self.connection]["login"])

    @property
    def subject(self) -> str:
        """What the stream is about; ``played`` for everyday games."""
        return STREAM_SUBJECTS.get((self.scenario, self.connection)) or SUBJECTS.get(self.scenario, "played")


def scenarios() -> list[str]:
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
