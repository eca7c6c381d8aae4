"""What arrives: chunks of bytes, the lines in them, and what one line can mean.

Everything here is a plain value. ``recorder.wire`` makes ``Line`` from ``Chunk``, ``recorder.dialects`` makes the other
events from lines (frames are in ``recorder.events.frames``), ``recorder.tracking`` reads them. Nothing is inferred
here: an absent field is None.
"""

from recorder.events.answers import (
    GamesCounted,
    GamesRow,
    ListRow,
    MovelistRead,
    ObserveRefused,
    ObservingEnded,
    ObservingStarted,
    Refusal,
    TablePlayer,
)
from recorder.events.event import Datagram, Event, Malformed, Noise, Unrecognised
from recorder.events.games import (
    CreatingLine,
    DeltaBoard,
    GameCreated,
    GameEnded,
    GameHeader,
    GameInfo,
    GameNotified,
    HoldingsLine,
    PartnerPlays,
    RatingText,
)
from recorder.events.lines import LONGEST_CUT, Chunk, CutLines, EngineLine, Line
from recorder.events.notices import (
    ChatKind,
    ChatLine,
    ExamineNotice,
    GameNotice,
    GameNoticeKind,
    SessionNotice,
    SessionNoticeKind,
)

__all__ = [
    "LONGEST_CUT",
    "ChatKind",
    "ChatLine",
    "Chunk",
    "CreatingLine",
    "CutLines",
    "Datagram",
    "DeltaBoard",
    "EngineLine",
    "Event",
    "ExamineNotice",
    "GameCreated",
    "GameEnded",
    "GameHeader",
    "GameInfo",
    "GameNotice",
    "GameNoticeKind",
    "GameNotified",
    "GamesCounted",
    "GamesRow",
    "HoldingsLine",
    "Line",
    "ListRow",
    "Malformed",
    "MovelistRead",
    "Noise",
    "ObserveRefused",
    "ObservingEnded",
    "ObservingStarted",
    "PartnerPlays",
    "RatingText",
    "Refusal",
    "SessionNotice",
    "SessionNoticeKind",
    "TablePlayer",
    "Unrecognised",
]
