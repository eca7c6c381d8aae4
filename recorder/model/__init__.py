"""What was found: games, their plies with clocks and lag, and the observations that witness them.

A *source* gives *observations*: one connection's unbroken view of one board (or one movelist). Observations are
never merged. A *game* is computed from observations through *segments*.

Times are integers with units in their names. ``_at_ms`` is milliseconds since 1970 in the basis that the game's
``time_basis`` names. Clocks are signed. None means unknown, never zero.
"""

from recorder.model.analyses import AnalysedPosition, Analysis, EngineProtocol
from recorder.model.games import (
    MINUTE_MS,
    Evidence,
    EvidenceKind,
    Game,
    GameKind,
    Link,
    LinkKind,
    Player,
    Segment,
    StartPrecision,
    TimeControlled,
    control_of,
    day_of,
    is_forgotten,
)
from recorder.model.observations import EventKind, GameEvent, HoldingsChange, Observation, ObservationKind, Thinking
from recorder.model.plies import (
    CLOCK_DERIVED,
    ELAPSED_DERIVED,
    ELAPSED_ORIGINS,
    EXACT,
    Anchor,
    LineKind,
    Origin,
    Ply,
    PlyLine,
    PlyRow,
    Precision,
    Proof,
    StartFacts,
    name_plies,
)
from recorder.model.sources import (
    SAVED_KINDS,
    Anomaly,
    AnomalyKind,
    Disposition,
    Shape,
    SourceKind,
    SourceName,
    SourceReport,
    TimeBasis,
)

__all__ = [
    "CLOCK_DERIVED",
    "ELAPSED_DERIVED",
    "ELAPSED_ORIGINS",
    "EXACT",
    "SAVED_KINDS",
    "AnalysedPosition",
    "Analysis",
    "Anchor",
    "Anomaly",
    "AnomalyKind",
    "Disposition",
    "EngineProtocol",
    "EventKind",
    "Evidence",
    "EvidenceKind",
    "Game",
    "GameEvent",
    "GameKind",
    "HoldingsChange",
    "LineKind",
    "Link",
    "LinkKind",
    "MINUTE_MS",
    "Observation",
    "ObservationKind",
    "Origin",
    "Player",
    "Ply",
    "PlyLine",
    "PlyRow",
    "Precision",
    "Proof",
    "Segment",
    "Shape",
    "SourceKind",
    "SourceName",
    "SourceReport",
    "StartFacts",
    "StartPrecision",
    "Thinking",
    "TimeBasis",
    "TimeControlled",
    "control_of",
    "day_of",
    "is_forgotten",
    "name_plies",
]
