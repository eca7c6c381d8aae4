"""What a replay server says before its first prompt, so that clients know which kind of server was recorded."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

__all__ = ["banner_of"]

_OURS: Final = "A replay of recorded games: nobody plays here."
_KINDS: Final = {
    "FatICS": "FatICS",
    "FICS": "Server location: freechess.org, recorded    Server version : replay",
    "Lasker": "Server location: recorded    Server version : 2.2 replayed",
    "FICS 1.6.2": "Server location: recorded    Server version : 1.6.2 replayed",
    "chessd": "Server location: recorded    Server version : chessd replayed",
    "BICS": "Server location: recorded    Server version : BICS replayed",
}


def banner_of(dialects: Collection[str | None]) -> list[str]:
    """The lines, the recorded server's kind named if all games are of one."""
    kind = _KINDS.get(next(iter(dialects)) or "") if len(dialects) == 1 else None
    return [_OURS] if kind is None else [_OURS, kind]
