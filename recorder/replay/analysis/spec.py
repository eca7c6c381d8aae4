"""What a user asks of an engine: which one, set how, and how long it may think about a position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from recorder.model.analyses import EngineProtocol

__all__ = ["EngineSpec", "Limits", "Patience"]


class Limits(NamedTuple):
    """When the thinking about a position ends: at the first of these that is reached. None: no such limit.

    Without ``time_ms`` a position that never reaches its depth or nodes ends after ``most_ms``, or when the engine has
    said nothing for long, which is told.
    """

    time_ms: int | None = None
    depth: int | None = None
    nodes: int | None = None

    @property
    def most_ms(self) -> int:
        """How long a position may take in any case."""
        return _MOST_MS if self.time_ms is None else self.time_ms


_MOST_MS: Final = 600_000


class Patience(NamedTuple):
    """How long an engine is waited for, in milliseconds, before the next step is taken or it counts as hanging.

    Attributes:
        features_ms: for its first ``feature``. done_ms: for ``done=1`` after ``done=0``.
        answer_ms: for an answer that the protocol demands; of UCI for ``uciok`` and the options, too.
        quiet_ms: without a line, where an engine cannot tell that it is done (no ``ping``).
        quit_ms: for its end after ``quit``, and once more after the signal to terminate.
    """

    features_ms: int = 2_000
    done_ms: int = 60_000
    answer_ms: int = 20_000
    quiet_ms: int = 200
    quit_ms: int = 2_000


@dataclass(frozen=True)
class EngineSpec:
    """An engine.

    Attributes:
        protocol: that it is spoken to in.
        command: the command line, words split as a shell does; no shell ever sees it.
        options: the engine's own by name; None: a button. In CECP also ``memory`` (megabytes), ``cores`` and ``nps``,
            which are commands of the protocol, if the engine takes them.
    """

    protocol: EngineProtocol
    command: str
    options: Mapping[str, str | None] = field(default_factory=dict)
