"""Games, their plies with clocks and lag, and the observations that show them.

A *source* gives *observations*: one connection's unbroken view of one board (or one movelist). Observations are
never merged. A *game* is computed from observations through *segments*.

Times are integers with units in their names. ``_at_ms`` is milliseconds since 1970 in the basis that the game's
``time_basis`` names. Clocks are signed. None means unknown, never zero.
"""

from recorder.model.games import (
    MINUTE_MS,
    Correction,
    Game,
    GameEnd,
    GameKind,
    Link,
    LinkKind,
    Player,
    StartPrecision,
    TimeControlled,
    control_of,
    day_of,
    is_forgotten,
    printed_control,
    taken_rows,
    variant_beside,
)
from recorder.model.observations import (
    SAVED_KINDS,
    SHOWN,
    AnalysedPosition,
    Analysis,
    Anomaly,
    AnomalyKind,
    Disposition,
    EngineProtocol,
    EventKind,
    Evidence,
    EvidenceKind,
    GameEvent,
    HoldingsChange,
    ImportStatus,
    Observation,
    ObservationKind,
    Segment,
    Shape,
    SourceKind,
    SourceName,
    SourceReport,
    Thinking,
    TimeBasis,
    known_site,
    shows_board,
    site_names,
    site_of,
)
from recorder.model.plies import (
    CLOCK_DERIVED,
    ELAPSED_DERIVED,
    ELAPSED_ORIGINS,
    EXACT,
    SAVED_ORIGINS,
    Anchor,
    AnchorReason,
    LineKind,
    Origin,
    Ply,
    PlyLine,
    PlyRow,
    Precision,
    Proof,
    StartFacts,
    make_ply,
    name_plies,
)
from recorder.openings import Opening
