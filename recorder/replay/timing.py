"""Recorded moments, and when each of them is due while they are played.

A recording is never changed: idle caps, marks and speed are made of its moments while they play. Times of a recording
are in milliseconds since its first moment, times of the one who plays it in nanoseconds of any clock that does not
step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Final, Generic, NamedTuple, TypeVar

__all__ = ["ReplayMoment", "Playhead", "Timing", "cap_idle", "mark"]

_What = TypeVar("_What")
_NS: Final = 1_000_000  # in a millisecond
_BETWEEN_LAPS_MS: Final = 1000


class Timing(Enum):
    """How a moment's time is known."""

    ARRIVAL = "arrival"
    ELAPSED = "elapsed"  # inferred from the times that the moves took, as printed
    UNKNOWN = "unknown"  # nothing tells it: it stands behind the moment before


class ReplayMoment(NamedTuple, Generic[_What]):
    """Something that was recorded, and when.

    Attributes:
        at_ms: since the recording's first moment. Never less than that of the moment before.
        what: the recorded value.
        game: which game it belongs to, counted from 0 in the order of the replay; None: none, or all of them.
        ply: half-moves on the game's board from this moment on; None: there is no board.
        markers: names to seek, and to pause at: kinds of events, and those that somebody gave.
        timing: how ``at_ms`` is known.
    """

    at_ms: int
    what: _What
    game: int | None = None
    ply: int | None = None
    markers: tuple[str, ...] = ()
    timing: Timing = Timing.ARRIVAL


def cap_idle(moments: Iterable[ReplayMoment[_What]], most_ms: int) -> Iterator[ReplayMoment[_What]]:
    """The same moments, none of them later than ``most_ms`` after the one before it."""
    last_ms, at_ms = 0, 0
    for moment in moments:
        at_ms += min(moment.at_ms - last_ms, most_ms)
        last_ms = moment.at_ms
        yield moment if at_ms == last_ms else moment._replace(at_ms=at_ms)


def mark(moments: Iterable[ReplayMoment[_What]], places: Mapping[int, str]) -> Iterator[ReplayMoment[_What]]:
    """The same moments, those at some places with one more marker.

    Args:
        places: names by the moment's place, counted from 0.
    """
    for place, moment in enumerate(moments):
        name = places.get(place)
        yield moment if name is None else moment._replace(markers=(*moment.markers, name))


class Playhead(Generic[_What]):
    """Where a replay stands, and when it goes on.

    Every due time is computed from one anchor, a pair of a recorded time and a time of the clock, so waiting late never
    makes the next moment late. Pauses, seeks and changes of speed set a new anchor.

    Args:
        moments: in order; those who take them may keep the sequence.
        now_ns: the clock's time, at which the recorded time 0 is.
        speed: recorded milliseconds that pass in a real one.
        loop: begin again behind the last moment, a second later.
        pause_at: markers behind which it pauses.

    Attributes:
        place: of the next moment; the moments before it have been shown.
        paused: whether time stands.
        laps: how often it began again.
    """

    def __init__(
        self,
        moments: Sequence[ReplayMoment[_What]],
        now_ns: int,
        *,
        speed: Fraction | int = 1,
        loop: bool = False,
        pause_at: Collection[str] = (),
    ) -> None:
        if speed <= 0:
            raise ValueError("a replay's speed is more than 0")
        self.moments = moments
        self.place = 0
        self.paused = False
        self.laps = 0
        self.pause_at = frozenset(pause_at)
        self._loop = loop
        self._speed = Fraction(speed)
        self._anchor_ns = now_ns
        self._anchor_at_ns = 0  # recorded time at the anchor

    @property
    def speed(self) -> Fraction:
        """Recorded milliseconds that pass in a real one."""
        return self._speed

    @property
    def ended(self) -> bool:
        """Whether the last moment has been shown and nothing follows."""
        return self.place >= len(self.moments) and not (self._loop and self.moments)

    @property
    def due_ns(self) -> int | None:
        """When the next moment is due; None: it is paused, or there is none. May be in the past."""
        if self.paused or self.ended:
            return None
        if self.place < len(self.moments):
            return self._due_ns(self.moments[self.place].at_ms)
        return self._due_ns(self.moments[-1].at_ms + _BETWEEN_LAPS_MS)

    def at_ms(self, now_ns: int) -> int:
        """The recording's time now; it does not go beyond the last moment."""
        last_ms = self.moments[-1].at_ms if self.moments else 0
        return min(self._at_ns(now_ns) // _NS, last_ms)

    def take(self, now_ns: int, most: int | None = None) -> list[ReplayMoment[_What]]:
        """The moments that are due, in order; behind one with a marker of ``pause_at`` it pauses.

        A new lap begins with a call of its own: what is due of two laps never comes at once.

        Args:
            now_ns: the clock's time.
            most: so many moments at once; the others are still due then. None: all.
        """
        if self.place >= len(self.moments):
            if self.paused or not self._loop or not self.moments:
                return []
            due_ns = self._due_ns(self.moments[-1].at_ms + _BETWEEN_LAPS_MS)
            if due_ns > now_ns:
                return []
            self._anchor_ns, self._anchor_at_ns = due_ns, 0
            self.place = 0
            self.laps += 1
        if self.paused:
            return []
        begin, place = self.place, self.place
        end = len(self.moments) if most is None else min(begin + most, len(self.moments))
        reached_ns = self._at_ns(now_ns)
        while place < end and self.moments[place].at_ms * _NS <= reached_ns:
            place += 1
            if self.pause_at and not self.pause_at.isdisjoint(self.moments[place - 1].markers):
                self._stand(self.moments[place - 1].at_ms * _NS)
                break
        self.place = place
        return list(self.moments[begin:place])

    def pause(self, now_ns: int) -> None:
        """Let time stand."""
        if not self.paused:
            self._stand(self._at_ns(now_ns))

    def resume(self, now_ns: int) -> None:
        """Let time go on from where it stands."""
        if self.paused:
            self.paused = False
            self._anchor_ns = now_ns

    def set_speed(self, speed: Fraction | int, now_ns: int) -> None:
        """Go on from here at another speed.

        Raises:
            ValueError: it is not more than 0.
        """
        if speed <= 0:
            raise ValueError("a replay's speed is more than 0")
        self._anchor_at_ns, self._anchor_ns = self._at_ns(now_ns), now_ns
        self._speed = Fraction(speed)

    def go(self, place: int, now_ns: int, at_ms: int | None = None) -> None:
        """Make another moment the next one; whether it is paused stays.

        Args:
            place: of that moment; their number is the end.
            at_ms: the recorded time to go on from, not after that moment's; None: that moment's, so that it is due.
        """
        self.place = min(max(place, 0), len(self.moments))
        if at_ms is None:
            last_ms = self.moments[-1].at_ms if self.moments else 0
            at_ms = self.moments[self.place].at_ms if self.place < len(self.moments) else last_ms
        self._anchor_at_ns, self._anchor_ns = at_ms * _NS, now_ns

    def step(self, now_ns: int) -> ReplayMoment[_What] | None:
        """Pause and show the next moment, whenever it is due; None: there is none."""
        if self.place >= len(self.moments):
            self.pause(now_ns)
            return None
        moment = self.moments[self.place]
        self.place += 1
        self._stand(moment.at_ms * _NS)
        return moment

    def _stand(self, at_ns: int) -> None:
        self.paused = True
        self._anchor_at_ns = at_ns

    def _at_ns(self, now_ns: int) -> int:
        if self.paused:
            return self._anchor_at_ns
        return self._anchor_at_ns + (now_ns - self._anchor_ns) * self._speed.numerator // self._speed.denominator

    def _due_ns(self, at_ms: int) -> int:
        """Rounded up: when it is due, the recorded time is reached."""
        ahead_ns = at_ms * _NS - self._anchor_at_ns
        return self._anchor_ns - (-ahead_ns * self._speed.denominator // self._speed.numerator)
