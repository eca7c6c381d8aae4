"""What a recorder requests from a server, in the words of each family, and which lists and boards are missing.

Requests are values (classes, because as plain tuples ``observe 3`` and ``unobserve 3`` would be equal).

``Backfill`` requests move lists of games with missing plies, and boards of games whose frames could not be read. It
reads the tracker's public state after its events, and only when a count has changed: a normal next ply costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from recorder.dialects.session import Family
from recorder.events import Event, SessionNotice, SessionNoticeKind
from recorder.model import AnchorReason, Anomaly, AnomalyKind, Disposition
from recorder.tracking.tracked_game import TrackedGame
from recorder.tracking.tracker import Tracker


@dataclass(frozen=True, slots=True)
class Setting:
    """Or ``variables``; its answer is not awaited."""

    command: str  # in the server's own words


@dataclass(frozen=True)
class OfGame:
    """A request about a game."""

    game_no: int


class Observe(OfGame):
    """Observe a game. On old servers the command toggles, so it is only for games that are not observed."""


@dataclass(frozen=True, slots=True)
class AskPartner:
    """Observe the other board of game ``game_no``, on which ``handle`` plays. Like ``observe`` it toggles."""

    game_no: int
    handle: str


class Unobserve(OfGame):
    """End the observation of a game."""


class AskMoves(OfGame):
    """The list of a game's moves so far."""


class AskRefresh(OfGame):
    """A game's current board."""


class AskGame(OfGame):
    """The row of one game in the table: its players' ratings and its times."""


@dataclass(frozen=True, slots=True)
class AskHistory:
    handle: str


@dataclass(frozen=True, slots=True)
class AskStored:
    """A game's moves by its number in a history; ``is_last`` there; ``by_last``: asked as such, without ``smoves``."""

    handle: str
    number: int
    is_last: bool = False
    by_last: bool = False


@dataclass(frozen=True, slots=True)
class AskGames:
    """The table of all games."""


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """A harmless command, so that the server does not log an idle client out."""


Request = (
    Setting
    | Observe
    | AskPartner
    | Unobserve
    | AskMoves
    | AskRefresh
    | AskGame
    | AskHistory
    | AskStored
    | AskGames
    | KeepAlive
)

_COMMANDS: dict[type, str] = {
    Observe: "observe",
    # Source: FICS, "help pobserve".
    AskPartner: "pobserve",
    Unobserve: "unobserve",
    AskMoves: "moves",
    AskRefresh: "refresh",
    AskGame: "games",
    AskHistory: "history",
    AskStored: "smoves",
    AskGames: "games",
    KeepAlive: "date",
}
_NO_PARTNER = re.compile(r"(?:\S{1,40} is|You are) not playing a bughouse game\.? *")
_NO_COMMAND = re.compile(r"/?(\w{1,40}): Command not found\.? *|No such command \(/?(\w{1,40})\)\.? *")
ANSWER_MS = 15_000
"""How long to wait for an answer."""
TURN_MS = 4 * ANSWER_MS
"""Within this time a queued request was sent, even behind others without an answer, and has its own answer."""


def format_request(request: Request, family: Family | None = None) -> str:
    """Without line end. ICC and chess.net take a ``/`` in front, which avoids a user's aliases."""
    if isinstance(request, Setting):
        return request.command
    slash = "/" if family in (Family.ICC, Family.CHESSNET) else ""
    command = slash + _COMMANDS[type(request)]
    if isinstance(request, AskStored):
        return (
            f"{slash}oldmoves {request.handle}" if request.by_last else f"{command} {request.handle} {request.number}"
        )
    if isinstance(request, AskPartner | AskHistory):
        return f"{command} {request.handle}"
    return command if isinstance(request, AskGames | KeepAlive) else f"{command} {request.game_no}"


def no_command(line: str) -> str | None:
    """The command that a server reports as unknown; None: another line."""
    match = _NO_COMMAND.fullmatch(line)
    return None if match is None else match[1] or match[2]


def no_partner(line: str) -> bool | None:
    """Whether a line refuses ``AskPartner``: True: there is none; False: no such command; None: another line."""
    if _NO_PARTNER.fullmatch(line):
        return True
    return False if no_command(line) == "pobserve" else None


_MISSING = (AnchorReason.GAP, AnchorReason.CONFLICT)


class Backfill:
    """Derives requests from a tracker."""

    def __init__(self) -> None:
        self._troubles = 0
        self._anomalies = 0
        self._asked: dict[int, tuple[TrackedGame, int, int]] = {}

    def look(self, tracker: Tracker, events: Iterable[Event] = ()) -> list[Request]:
        """Once for each place where plies of a game in progress are missing; call it after each ``Tracker.feed``."""
        boards = tracker.boards
        requests: list[Request] = []
        counts = boards.counts
        troubles = counts[Disposition.JOINED] + counts[Disposition.GAP] + counts[Disposition.CONFLICT]
        if troubles != self._troubles:
            self._troubles = troubles
            for run in list(boards.runs.values()):
                self._missing(run, requests)
            self._asked = {
                number: asked for number, asked in self._asked.items() if boards.runs.get(str(number)) is asked[0]
            }
        anomalies = tracker.anomalies
        if len(anomalies) != self._anomalies:
            self._damaged(tracker, anomalies[self._anomalies :], requests)
            self._anomalies = len(anomalies)
        for event in events:
            if type(event) is SessionNotice and event.kind is SessionNoticeKind.LOST_DATA:
                for run in boards.runs.values():
                    if run.following and run.game_no is not None:
                        _add(requests, AskRefresh(run.game_no))
        return requests

    @staticmethod
    def _damaged(tracker: Tracker, anomalies: Iterable[Anomaly], requests: list[Request]) -> None:
        """Request boards that could not be read: the next move's board would show a gap, a repeated board does not."""
        for anomaly in anomalies:
            run = tracker.boards.runs.get(str(anomaly.game_no))
            if anomaly.kind is AnomalyKind.MALFORMED and run is not None and run.following and run.game_no is not None:
                _add(requests, AskRefresh(run.game_no))

    def _missing(self, run: TrackedGame, requests: list[Request]) -> None:
        if not run.following or run.examined or run.game_no is None or run.current is None:
            return
        anchors = [anchor for anchor in run.current.anchors if anchor.line == 0]
        places = [
            anchor.ply
            for anchor in anchors
            if anchor.reason in _MISSING or (anchor.reason is AnchorReason.START and anchor.ply > 0)
        ]
        state = (run, len(run.observations), len(places))
        before = self._asked.get(run.game_no)
        if not places or before == state:
            return
        self._asked[run.game_no] = state
        last = max(places)
        if not any(_covers(run, index, last) for index in range(len(run.lists))):
            _add(requests, AskMoves(run.game_no))


def _covers(run: TrackedGame, index: int, ply: int) -> bool:
    """Whether an earlier list contains every ply up to this one, and none of them was taken back since."""
    seen = run.lists[index]
    reaches = seen.first_ply + len(seen.positions) - 1
    valid_to = run.valid_to(index)
    return reaches >= ply and (valid_to is None or valid_to >= ply)


def _add(requests: list[Request], request: Request) -> None:
    if request not in requests:
        requests.append(request)
