"""What else happened in a game, and where it all comes from, in plain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from exporters.pgn.exporter import ENDS
from exporters.report.page import clock_text
from exporters.report.tables import control_words
from exporters.tables.facts import time_control
from recorder.corrections import changed_tags, hidden_tags, words_of
from recorder.ledger import Cause, ledger
from recorder.model import (
    Anomaly,
    EventKind,
    EvidenceKind,
    Game,
    GameEvent,
    GameKind,
    ObservationKind,
    Origin,
    Player,
    Proof,
    SourceName,
    TimeBasis,
    control_of,
    printed_control,
)
from recorder.model.games import rated_word
from recorder.text import plural
from recorder.times import iso, iso_start


class EventWords(NamedTuple):
    """An event for people: ``kind`` is its class for the eye, ``who`` said or did it, None: the server."""

    kind: str
    who: str | None
    word: str
    text: str


_GAME_NO = re.compile(r"Game [0-9]+: ")
_SCORE = re.compile(r"(?<![\w.])[+-]?[0-9]{1,3}\.[0-9]{2}(?![\w.])|\b(?:score|eval)\b", re.IGNORECASE)
_SEARCH = re.compile(
    r"\b(?:depth|plies|ply|nodes|nps|kn/s|pv)\b|\bd[0-9]{1,2}\b|^\W*[0-9]{1,2}(?:->|[:/. ]+[+-])", re.IGNORECASE
)
_SAVED_SCORE = re.compile(r"[+-][0-9]+\.[0-9]{2}/[0-9]+(?: |$)")  # score/depth, as xboard saves them
_HIDDEN_EXAMINE = frozenset(("shown", "forward", "backward", "move", "commit", "revert"))
_RELATIONS = {
    -3: "an isolated position",
    -2: "observed while it was examined",
    -1: "recorded by one of the players",
    1: "recorded by one of the players",
    2: "recorded by its examiner",
    0: "observed",
}
_FEEDS = {
    "unobserved": "No longer observed.",
    "observed again": "Observed again.",
    "lost feed": "The connection was lost.",
}


_MARKS = (
    ("takeback", "", "takeback"),
    ("notice", "time-added", "time added"),
    ("notice", "paused", "pause"),
    ("notice", "resumed", "resumed"),
    ("notice", "disconnected", "disconnection"),
    ("clock", "adjusted", "clock changed"),
    ("clock", "opponent-adjusted", "clock changed"),
    ("clock", "set", "clock changed"),
    ("result", "time", "flag"),
    ("result", "adjourned-lost", "disconnection"),
    ("result", "aborted-lost", "disconnection"),
    ("result", "disconnect", "disconnection"),
    ("feed", "lost feed", "not observed"),
    ("feed", "unobserved", "not observed"),
    ("feed", "server lost data", "not observed"),
    ("chat", "kibitz", "kibitz"),
    ("chat", "whisper", "kibitz"),
)
"""Kinds of events and how their details begin, with the words of their mark; the first that fits counts."""


def mark_of(kind: str, detail: str) -> str | None:
    return next((words for marked, begin, words in _MARKS if kind == marked and detail.startswith(begin)), None)


def event_words(event: GameEvent, exact: bool) -> EventWords | None:
    """None where the boards already show it, or it is about the log. ``exact``: clocks were printed in thousandths."""
    kind, detail = event.kind, event.detail
    if kind is EventKind.CHAT:
        return EventWords("chat", event.actor, detail, event.text)
    if kind is EventKind.NOTICE:
        ignored = "Ignored, because it came too late: " if detail == "move-ignored" else ""
        return EventWords("notice", None, "", ignored + _GAME_NO.sub("", event.text))
    if kind is EventKind.TAKEBACK:
        return EventWords("notice", None, "", f"{plural(event.value or 0, 'half-move')} taken back.")
    if kind is EventKind.GAP:
        return EventWords("gap", None, "", f"{plural(event.value or 0, 'half-move')} not seen.")
    if kind is EventKind.GAP_FILLED and detail == "start":
        return EventWords("gap", None, "", "Joined after the first move, which leads back to the start position.")
    if kind is EventKind.GAP_FILLED:
        return EventWords(
            "gap", None, "", f"{plural(event.value or 0, 'half-move')} not seen: only these lead to the next board."
        )
    if kind is EventKind.CLOCK and detail in ("adjusted", "opponent-adjusted"):
        clocks = f"White {clock_text(event.white_clock_ms, exact)}, Black {clock_text(event.black_clock_ms, exact)}"
        return EventWords("notice", None, "", f"The clocks were changed: {clocks}.")
    if kind is EventKind.NAMES:
        return EventWords("notice", None, "", f"The names changed: {event.text}")
    if kind is EventKind.FEED and detail != "log ends here":  # the result's row says it
        return EventWords("gap", None, "", _FEEDS.get(detail, event.text or f"{detail.capitalize()}."))
    if kind is EventKind.EXAMINE and detail not in _HIDDEN_EXAMINE and event.text:
        return EventWords("notice", None, "", event.text)
    return None


def is_engine_talk(event: GameEvent, game: Game) -> bool:
    """Whether an engine wrote it: whispers and kibitzes of a player marked as a computer, and thinking output."""
    if event.kind is not EventKind.CHAT:
        return False
    if event.detail == "comment":
        return _SAVED_SCORE.match(event.text) is not None
    if event.detail not in ("whisper", "kibitz"):
        return False
    if any(player.is_computer and player.handle == event.actor for player in (game.white, game.black)):
        return True
    return bool(_SCORE.search(event.text) and _SEARCH.search(event.text))


def instant(at_ms: int | None, basis: TimeBasis) -> str | None:
    """``2020-01-01 12:00:00 UTC``; None where no date is known."""
    return _read(iso(at_ms, basis), basis)


def _read(text: str | None, basis: TimeBasis) -> str | None:
    if text is None or basis not in (TimeBasis.UTC, TimeBasis.LOCAL):
        return None
    zone = " UTC" if basis is TimeBasis.UTC else " (zone not known)"
    return f"{text[:10]} {text[11:19].removesuffix('Z')}{zone}"


def about(game: Game, in_progress: bool) -> list[tuple[str, str]]:
    words = [rated_word(game), game.category, game.variant_word]
    if game.kind is GameKind.EXAMINED:
        words.append("examined")
    rows = [("Kind", " ".join(word for word in words if word))]
    if game.base_s is not None:
        clocks = (control_of(game, is_white) for is_white in (True, False))
        white, black = (control_words(time_control(base_s, increment_s or 0)) for base_s, increment_s in clocks)
        rows.append(("Time control", white if black == white else f"White {white}, Black {black}"))
    elif printed := printed_control(game):
        rows.append(("Time control", printed))
    hidden = hidden_tags(game)
    tags = [
        (event.detail, event.text)
        for event in game.events
        if event.kind is EventKind.TAG and event.detail not in hidden
    ]
    tags += [(name, value) for name, value in changed_tags(game).items() if value]
    tags += [("Corrected", words_of(correction)) for correction in game.corrections]
    if game.opening is not None and "Opening" not in dict(tags):
        rows.append(("Opening", f"{game.opening.name} ({game.opening.eco})"))
    number = "" if game.game_no is None else f", game {game.game_no} there"
    rows.append(("Server", f"{game.server or 'unknown'}{number}"))
    rows.append(("Begun", _read(iso_start(game), game.time_basis) or game.date_text or ""))
    rows.append(("Ended", "" if in_progress else instant(game.ended_at_ms, game.time_basis) or ""))
    return [(name, value) for name, value in (*rows, *tags) if value]


def result_words(game: Game, in_progress: bool) -> str:
    if in_progress:
        return "In progress"
    if game.reason:
        return game.reason
    return ENDS.get(game.end, "")


def player_words(player: Player) -> list[str]:
    words = ["computer"] if player.is_computer else []
    words += ["guest"] if player.is_guest else []
    return words + [word for word in player.title_words if word not in ("C", "U")]


def proof_words(game: Game) -> list[str]:
    plies = game.plies
    counts = Counter((ply.proof_code, ply.origin_code) for ply in plies)
    proofs = Counter(ply.proof_code for ply in plies)
    lists = counts[Proof.LIST, Origin.MOVELIST]
    saved = counts[Proof.LIST, Origin.PGN]
    sentences = (
        (proofs[Proof.FULL], "proved by the printed move, the boards before and after it, and the rules"),
        (saved, "read from a saved game: legal, but no board shows it"),
        (lists, "from a move list: legal, but no board showed it"),
        (proofs[Proof.LIST] - lists - counts[Proof.LIST, Origin.PGN], "legal, but without a board"),
        (proofs[Proof.INFERRED], "inferred: they follow from the boards"),
        (proofs[Proof.UNPROVED], "not proved: shown as it was printed"),
        (proofs[Proof.CONFLICT], "different in different sources"),
    )
    return [f"{plural(number, 'half-move')}: {words}." for number, words in sentences if number > 0]


CAUSE_WORDS = {
    Cause.EXACT: "to the unit that was printed",
    Cause.ROUNDING: "but for the rounding of one unit",
    Cause.FIRST_MOVE: "as a first move, which is free",
    Cause.MINIMUM_CHARGE: "with the tenth of a second that the server takes at least",
    Cause.SNAPSHOT: "with a clock that was seen only while it ran",
    Cause.MORETIME: "with the time that the opponent gave",
    Cause.TIME_ADDED: "with the time that was added",
    Cause.CLOCK_SET: "with the clock that was set by hand",
    Cause.ADJUSTED: "with a clock that was changed meanwhile",
    Cause.TAKEBACK: "with the moves that were taken back",
    Cause.PAUSE: "with the pause",
    Cause.RESUMED: "with the time in which the game was not seen",
    Cause.FLAG: "with the flag that fell: no clock below 0 is printed",
}


def clock_words(game: Game) -> list[str]:
    causes = Counter(entry.cause for entry in ledger(game) if entry.cause is not None)
    total = sum(causes.values())
    if not total:
        return ["No printed clocks to check."]
    texts = [f"{plural(total, 'move')} could be checked: clock before − time taken + increment = clock after."]
    texts += [
        f"{plural(causes[cause], 'move adds', 'moves add')} up {words}."
        for cause, words in CAUSE_WORDS.items()
        if causes[cause]
    ]
    if causes[Cause.UNEXPLAINED]:
        texts.append(f"{plural(causes[Cause.UNEXPLAINED], 'move does', 'moves do')} not add up, for a reason unknown.")
    return texts


_BASES = {
    TimeBasis.UTC: "Arrival times are UTC, taken where the recorder ran.",
    TimeBasis.LOCAL: "Arrival times are those of the log; their time zone is unknown.",
    TimeBasis.CLOCK: "The log has times without a date.",
    TimeBasis.NONE: "The log has no arrival times: the replay uses the times that the server printed for each move.",
}


def _has_arrival(game: Game) -> bool:
    """Whether a line of the game has a time of its own: a move list has a date, but no arrival times."""
    plies = (ply for observation in game.observations for line in observation.lines for ply in line.plies)
    return any(ply.at_ms is not None for ply in plies) or any(event.at_ms is not None for event in game.events)


def source_name(source: SourceName) -> str:
    return source.name.replace("\\", "/").rsplit("/", 1)[-1]


def provenance(game: Game, in_progress: bool) -> list[str]:
    sentences = []
    seen_names: dict[str, list[str]] = {}
    for observation in game.observations:
        how = "move list" if observation.kind is ObservationKind.MOVELIST else observation.kind.value
        if observation.kind is ObservationKind.LIVE and observation.relation is not None:
            how = _RELATIONS.get(observation.relation, how)
        how = {"pgn": "saved game", "engine": "what an engine received"}.get(how, how)
        name = "the log" if observation.source is None else source_name(observation.source)
        seen_names.setdefault(name, []).append(how)
    for name, hows in seen_names.items():
        sentences.append(f"{name}: {', '.join(dict.fromkeys(hows))}.")
    if game.me:
        sentences.append(f"Recorded by {game.me}.")
    sentences.append(_BASES[game.time_basis if _has_arrival(game) else TimeBasis.NONE])
    if game.continued:
        sentences.append("The game was adjourned before and resumed.")
    if in_progress:
        sentences.append("The game is in progress: its log is still being written.")
    elif not game.complete:
        sentences.append("The game is incomplete: missing moves were not recorded, and none are invented.")
    if game.base_inferred:
        sentences.append("The server printed a base time of 0; the first clocks show 10 seconds.")
    if game.variant_inferred and game.variant != "chess":
        sentences.append(f"That it is {game.variant} was inferred from its boards.")
    words = {
        EvidenceKind.SAME: "Sources agree",
        EvidenceKind.CONTINUES: "Continuation",
        EvidenceKind.CONFLICT: "Sources disagree",
    }
    sentences += [f"{words[reason.kind]}: {reason.text}." for reason in dict.fromkeys(game.evidence)]
    return sentences


_ANOMALIES = {
    "malformed": "A line could not be read",
    "long-line": "A line was too long",
    "conflict": "Lines contradict each other",
    "holdings": "The pieces in hand do not agree",
    "gap": "Moves are missing",
    "movelist": "A move list does not agree",
    "movetext": "A saved move is not legal",
    "variant": "The rules of this game are not known",
    "cut": "A line was cut off",
    "lost-data": "The server lost data",
    "damaged": "The log is corrupt",
    "clock-disagrees": "The server's date and arrival times contradict each other",
    "internal-error": "An error in this program",
}


def anomaly_words(anomalies: Sequence[Anomaly]) -> Iterator[tuple[str, str, str, int]]:
    """Each finding: what it is, what exactly, the line, and the byte at which it stands."""
    for anomaly in anomalies:
        yield _ANOMALIES[anomaly.kind.value], anomaly.message, anomaly.text, anomaly.offset
