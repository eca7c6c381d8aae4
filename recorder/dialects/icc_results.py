"""How a game ended, by ICC's codes: datagrams 13 and 16, and the rows of game lists.

Source: section 8.2 of the protocol reference (result codes; DG_GAMELIST_ITEM's status and mode).
"""

from __future__ import annotations

from recorder.dialects.results import Reason, read_reason

__all__ = ["result_of"]

_WON = {"Res": "resign", "Mat": "checkmate", "Fla": "time", "Adj": "adjudicated", "BQ": "disconnect-loss"}
_DRAWN = {
    "Agr": "agreed",
    "Sta": "stalemate",
    "Rep": "repetition",
    "50": "fifty",
    "TM": "time-vs-bare",
    "NM": "no-material",
    "NT": "both-flag",
    "Adj": "adjudicated-draw",
    "1/2": "drawn",
}
_ABORTED = {
    "Agr": "aborted-agreed",
    "BQ": "aborted-lost",
    "SD": "aborted-server",
    "BA": "aborted-courtesy",
    "Adj": "aborted-adjudicated",
    "Sho": "aborted-early",
}
_TERMINATIONS = {
    "time": "time forfeit",
    "disconnect-loss": "abandoned",
    "adjudicated": "adjudication",
    "adjudicated-draw": "adjudication",
}


def result_of(code: str, score: str, description: str, white: str, black: str) -> tuple[str, Reason]:
    """Read a datagram's result.

    Args:
        code: of three letters or less (``Mat``). score: a result token or ``aborted``. description: in words.
        white, black: the handles; the words say ``White`` and ``Black``.
    Returns:
        The result token, and the reason: by the words, or by the code where they are none of the known ones.
    """
    result = "*" if score == "aborted" else score
    reason = read_reason(description, white, black, result)
    if reason.key != "unknown":
        return result, reason
    if score == "aborted":
        return result, Reason(_ABORTED.get(code, "aborted"), "abandoned", None)
    if result == "*":
        return result, reason
    key = (_DRAWN if result == "1/2-1/2" else _WON).get(code, "unknown")
    return result, Reason(key, _TERMINATIONS.get(key, "normal"), None)
