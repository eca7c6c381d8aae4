"""What the tracker lacks, as requests: a list for a game that was joined in its middle or has a gap, a board for one
whose feed was damaged.

The tracker's public state is read after its events, and only when a count of it says that something happened: a plain
next ply costs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable

from recorder.events import Event, SessionNotice, SessionNoticeKind
from recorder.live.requests import AskMoves, AskRefresh, Request
from recorder.model import Anomaly, AnomalyKind, Disposition
from recorder.tracking.run import Run
from recorder.tracking.tracker import Tracker

__all__ = ["Backfill"]

_MISSING = frozenset(("gap", "conflict"))


class Backfill:
    """Derives requests from a tracker; ``look`` is called after each ``Tracker.feed``."""

    def __init__(self) -> None:
        self._troubles = 0
        self._anomalies = 0
        self._asked: dict[int, tuple[Run, int, int]] = {}

    def look(self, tracker: Tracker, events: Iterable[Event] = ()) -> list[Request]:
        """What to ask the server for.

        Args:
            tracker: that has just taken ``events``.
        Returns:
            ``AskMoves`` once for each place where plies of a running game are missing, and ``AskRefresh`` for games of
            which a board could not be read or the server lost output.
        """
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
        """A board that cannot be read: the next move's would show a gap, but one that was sent again shows none."""
        for anomaly in anomalies:
            run = tracker.boards.runs.get(str(anomaly.game_no))
            if anomaly.kind is AnomalyKind.MALFORMED and run is not None and run.following and run.game_no is not None:
                _add(requests, AskRefresh(run.game_no))

    def _missing(self, run: Run, requests: list[Request]) -> None:
        if not run.following or run.examined or run.game_no is None or run.current is None:
            return
        anchors = [anchor for anchor in run.current.anchors if anchor.line == 0]
        places = [
            anchor.ply
            for anchor in anchors
            if anchor.reason in _MISSING or (anchor.reason == "start" and anchor.ply > 0)
        ]
        state = (run, len(run.observations), len(places))
        before = self._asked.get(run.game_no)
        if not places or before == state:
            return
        self._asked[run.game_no] = state
        last = max(places)
        if not any(_covers(run, index, last) for index in range(len(run.lists))):
            _add(requests, AskMoves(run.game_no))


def _covers(run: Run, index: int, ply: int) -> bool:
    """Whether a list that came already holds every ply up to this one, none of them taken back since."""
    seen = run.lists[index]
    reaches = seen.first_ply + len(seen.positions) - 1
    stands_to = run.stands_to(index)
    return reaches >= ply and (stands_to is None or stands_to >= ply)


def _add(requests: list[Request], request: Request) -> None:
    if request not in requests:
        requests.append(request)
