"""An error of this program while one observation is processed costs that observation, and nothing else.

Lines, events, games and saved games are processed one after another. If that raises an unexpected error, the
observation becomes an anomaly ``internal-error``, what it may have left half done is broken off, and the next one is
processed. Tests run with the switch off, so that no defect hides here.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Final

from recorder.errors import RecorderError
from recorder.model import Anomaly, AnomalyKind, SourceReport

SWITCH: Final = "ICS_RECORDER_CONTAINMENT"
"""The variable of the environment that switches it off: then every error goes its way."""
_MOST_STORED: Final = 100


def contain(error: Exception) -> str:
    """Describe an error in one line; raise it if it is about the user's files or memory, or the switch is off."""
    if isinstance(error, RecorderError | MemoryError) or os.environ.get(SWITCH) == "off":
        raise error
    trace, where = error.__traceback__, ""
    while trace is not None:
        where = f" ({PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}{where}"


class Failures:
    def __init__(self) -> None:
        self.anomalies: list[Anomaly] = []
        self._more = 0

    def note(self, error: Exception, offset: int, game_no: int | None, text: str) -> None:
        message = contain(error)
        if len(self.anomalies) < _MOST_STORED:
            self.anomalies.append(Anomaly.of(AnomalyKind.INTERNAL_ERROR, offset, game_no, message, text))
        else:
            self._more += 1

    @property
    def warnings(self) -> list[str]:
        return [f"{self._more:,} more internal errors are counted, not listed."] if self._more else []


def failures_sentence(report: SourceReport, name: str) -> str | None:
    """What of a source was not read because of errors of this program; None: everything was read."""
    failures = report.failures
    if not failures:
        return None
    first = failures[0]
    places = "one place" if len(failures) == 1 else f"{len(failures):,} places"
    return (
        f"{name}: an error of this program kept {places} from being read, the first at byte {first.offset:,}: "
        f"{first.message}. Please report it."
    )
