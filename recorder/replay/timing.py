"""Recorded moments, and when each is due during playback.

Idle caps, marks and speed apply during playback and never change the recording. Recorded times are in milliseconds
since the first moment, playback times in nanoseconds of any monotonic clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Final, Generic, NamedTuple, TypeVar

_What = TypeVar("_What")
_NS: Final = 1_000_000  # in a millisecond
_BETWEEN_LAPS_MS: Final = 1000


class Timing(Enum):
    ARRIVAL = "arrival"
    ELAPSED = "elapsed"  # inferred from the printed times of the moves
    UNKNOWN = "unknown"  # no time is recorded; the moment follows the one before it


class ReplayMoment(NamedTuple, Generic[_What]):
    """A recorded value and its time, from the recording's first moment on, which never decreases.

    ``game`` is None for no game or all games; ``ply`` counts half-moves on the game's board from this moment on.
    """

    at_ms: int
    what: _What
    game: int | None = None
    ply: int | None = None
    markers: tuple[str, ...] = ()  # names to seek or pause at
    timing: Timing = Timing.ARRIVAL


def cap_idle(moments: Iterable[ReplayMoment[_What]], most_ms: int) -> Iterator[ReplayMoment[_What]]:
    """Every wait is shortened to at most ``most_ms``."""
    last_ms, at_ms = 0, 0
    for moment in moments:
        at_ms += min(moment.at_ms - last_ms, most_ms)
        last_ms = moment.at_ms
        yield moment if at_ms == last_ms else moment._replace(at_ms=at_ms)


def mark(moments: Iterable[ReplayMoment[_What]], places: Mapping[int, str]) -> Iterator[ReplayMoment[_What]]:
    for index, moment in enumerate(moments):
        name = places.get(index)
        yield moment if name is None else moment._replace(markers=(*moment.markers, name))


def format_speed(speed: Fraction) -> str:
    """``4``, ``1/16`` or ``1.5``: as ``--speed`` takes it."""
    return str(speed) if 1 in (speed.numerator, speed.denominator) else f"{float(speed):.4g}"


class Playhead(Generic[_What]):
    """The current place of a replay, and when its next moment is due.

    Every due time is computed from one anchor, a pair of a recorded time and a clock time, so that one late moment does
    not delay the next. Pauses, seeks and changes of speed set a new anchor. With ``loop`` it starts again one second
    after the last moment.
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
        self.place = 0  # of the next moment: all earlier ones have been shown
        self.paused = False
        self.laps = 0
        self.pause_at = frozenset(pause_at)  # markers at which playback pauses, after the moment
        self._loop = loop
        self.speed = Fraction(speed)
        self._anchor_ns = now_ns
        self._anchor_at_ns = 0  # recorded time at the anchor

    @property
    def ended(self) -> bool:
        """Whether the last moment has been shown and no lap follows."""
        return self.place >= len(self.moments) and not (self._loop and self.moments)

    @property
    def due_ns(self) -> int | None:
        """Possibly in the past; None: playback is paused or has ended."""
        if self.paused or self.ended:
            return None
        if self.place < len(self.moments):
            return self._due_ns(self.moments[self.place].at_ms)
        return self._due_ns(self.moments[-1].at_ms + _BETWEEN_LAPS_MS)

    def at_ms(self, now_ns: int) -> int:
        """At most that of the last moment."""
        last_ms = self.moments[-1].at_ms if self.moments else 0
        return min(self._at_ns(now_ns) // _NS, last_ms)

    def take(self, now_ns: int, most: int | None = None) -> list[ReplayMoment[_What]]:
        """At most ``most``, never of two laps; playback pauses after one with a marker of ``pause_at``."""
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
                self._pause_at(self.moments[place - 1].at_ms * _NS)
                break
        self.place = place
        return list(self.moments[begin:place])

    def pause(self, now_ns: int) -> None:
        if not self.paused:
            self._pause_at(self._at_ns(now_ns))

    def resume(self, now_ns: int) -> None:
        if self.paused:
            self.paused = False
            self._anchor_ns = now_ns

    def set_speed(self, speed: Fraction | int, now_ns: int) -> None:
        if speed <= 0:
            raise ValueError("a replay's speed is more than 0")
        self._anchor_at_ns, self._anchor_ns = self._at_ns(now_ns), now_ns
        self.speed = Fraction(speed)

    def go(self, place: int, now_ns: int, at_ms: int | None = None) -> None:
        """It stays paused or running, from ``at_ms`` on; by default the moment is due now."""
        self.place = min(max(place, 0), len(self.moments))
        if at_ms is None:
            last_ms = self.moments[-1].at_ms if self.moments else 0
            at_ms = self.moments[self.place].at_ms if self.place < len(self.moments) else last_ms
        self._anchor_at_ns, self._anchor_ns = at_ms * _NS, now_ns

    def step(self, now_ns: int) -> ReplayMoment[_What] | None:
        """Pause and return the next moment at once; None at the end."""
        if self.place >= len(self.moments):
            self.pause(now_ns)
            return None
        moment = self.moments[self.place]
        self.place += 1
        self._pause_at(moment.at_ms * _NS)
        return moment

    def _pause_at(self, at_ns: int) -> None:
        self.paused = True
        self._anchor_at_ns = at_ns

    def _at_ns(self, now_ns: int) -> int:
        if self.paused:
            return self._anchor_at_ns
        return self._anchor_at_ns + (now_ns - self._anchor_ns) * self.speed.numerator // self.speed.denominator

    def _due_ns(self, at_ms: int) -> int:
        """Rounded up."""
        ahead_ns = at_ms * _NS - self._anchor_at_ns
        return self._anchor_ns - (-ahead_ns * self.speed.denominator // self.speed.numerator)
