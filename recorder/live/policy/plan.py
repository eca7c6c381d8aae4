"""The observation options of ``record`` as a value, and as notes of a journal, from which ``explain`` judges again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from recorder.errors import PolicyError
from recorder.journal.format import NoteKind
from recorder.live.policy.games import Share, parse_share

# A record holds 65,536 bytes, a handle has at most 40 letters.
_LETTERS: Final = 30_000
_HANDLES: Final = 500


class ObservationPlan(NamedTuple):
    """What to observe."""

    observe: str | None  # an expression; None: the handles alone, which are always observed
    handles: tuple[str, ...] = ()
    limit: int | None = None  # games at a time; None: as many as the server allows, learned from its refusal
    rotate_ms: int | None = None  # after this time a game gives its place to a waiting one; None: never
    share: Share | None = None  # of the games that match, between several recorders; None: all of them


def plan_notes(plan: ObservationPlan) -> Iterator[dict[str, Any]]:
    """One note ``policy``, or several if it is long, numbered by ``part`` and ``parts``."""
    texts = _cut(plan.observe, _LETTERS) if plan.observe is not None else [None]
    lists = _cut(plan.handles, _HANDLES)
    rows = list(zip_longest(texts, lists))
    for number, (text, handles) in enumerate(rows, 1):
        facts: dict[str, Any] = {"observe": text, "handles": handles or []}
        if number == 1:
            facts |= {"limit": plan.limit, "rotate_ms": plan.rotate_ms}
            facts |= {} if plan.share is None else {"share": str(plan.share)}
        yield facts | {"part": number, "parts": len(rows)}


def _cut(whole: Any, size: int) -> list[Any]:
    return [whole[begin : begin + size] for begin in range(0, len(whole), size)] or [whole]


class PlanReader:
    """Reads the plan in the notes of a journal; ``plan`` is the last complete one."""

    def __init__(self) -> None:
        self.plan: ObservationPlan | None = None
        self._parts: list[Mapping[str, Any]] = []

    def note(self, note: Mapping[str, Any]) -> None:
        """Notes without a plan are ignored."""
        if note.get("kind") != NoteKind.POLICY:
            return
        if note.get("part") == 1:
            self._parts = []
        self._parts.append(note)
        if note.get("part") == note.get("parts") == len(self._parts):
            self.plan = _parse(self._parts)
            self._parts = []


def _parse(parts: list[Mapping[str, Any]]) -> ObservationPlan:
    texts = [part.get("observe") for part in parts]
    lists = [part.get("handles") for part in parts]
    limit, rotate_ms = parts[0].get("limit"), parts[0].get("rotate_ms")
    known = [text for text in texts if isinstance(text, str)]
    handles = [handle for names in lists if isinstance(names, list) for handle in names if isinstance(handle, str)]
    return ObservationPlan(
        "".join(known) if known else None,
        tuple(handles),
        limit if type(limit) is int and limit > 0 else None,
        rotate_ms if type(rotate_ms) is int and rotate_ms > 0 else None,
        _parse_share(parts[0].get("share")),
    )


def _parse_share(text: Any) -> Share | None:
    try:
        return parse_share(text) if isinstance(text, str) else None
    except PolicyError:
        return None
