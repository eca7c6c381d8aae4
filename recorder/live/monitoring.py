"""What recorders that run say of themselves: their states now, one verdict, and Prometheus metrics.

Source: the text-based exposition format of Prometheus, version 0.0.4.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from recorder.exit_codes import ExitCode
from recorder.live.status import RecorderState, read_states
from recorder.text import plural

__all__ = ["check", "current_states", "metrics"]

_STALE_MS: Final = 60_000


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000


_METRICS: Final[Sequence[tuple[str, str, str, Callable[[RecorderState], float | None]]]] = (
    ("recording", "gauge", "Whether it is logged in and records: 1, else 0.", lambda state: state.state == "recording"),
    ("games_matched_total", "counter", "Games that matched and are over.", lambda state: state.matched),
    ("games_recorded_total", "counter", "Games recorded from first board to end.", lambda state: state.whole),
    ("games_partly_recorded_total", "counter", "Games recorded in part.", lambda state: state.partly),
    ("games_recovered_total", "counter", "Games taken from a move list afterwards.", lambda state: state.recovered),
    ("games_missed_total", "counter", "Games that matched and are not recorded.", lambda state: state.missed),
    ("games_observed", "gauge", "Games observed now.", lambda state: state.watched),
    ("received_bytes_total", "counter", "Bytes received from the server.", lambda state: state.received_bytes),
    ("outages_total", "counter", "Connections that were lost.", lambda state: state.outages),
    (
        "lag_seconds",
        "gauge",
        "Longest lag of the games' last moves.",
        lambda state: _seconds(state.lag_ms),
    ),
    (
        "seconds_since_last_byte",
        "gauge",
        "Time since the last byte came.",
        lambda state: _seconds(state.quiet_ms),
    ),
)


def current_states(folder: Path) -> list[RecorderState]:
    """The states of the recorders that run; of one that hangs there is none."""
    now_ms = time.time_ns() // 1_000_000
    states = []
    for state in read_states(folder):
        age_ms = max(0, now_ms - state.at_ms)
        if age_ms < _STALE_MS:
            states.append(state._replace(quiet_ms=None if state.quiet_ms is None else state.quiet_ms + age_ms))
    return states


def check(states: Sequence[RecorderState], is_written: bool, folder: Path) -> tuple[ExitCode, str]:
    """Whether everything that is to be recorded is being recorded.

    Args:
        states: of the recorders that run. is_written: whether a journal is being written; of a proxy there is no state.
    Returns:
        The exit status, and one sentence.
    """
    lost = [state for state in states if state.state != "recording"]
    if lost:
        return ExitCode.RECONNECTING, " ".join(map(_reconnecting, lost))
    if states:
        return ExitCode.OK, f"Recording from {', '.join(state.server for state in states)}."
    if is_written:
        return ExitCode.OK, f"A journal is being written in {folder}."
    return ExitCode.NOT_RECORDING, f"Nothing is being recorded into {folder}."


def _reconnecting(state: RecorderState) -> str:
    retry_ms = state.retry_ms
    if state.state == "left":
        return f"Leaving {state.server}."
    if retry_ms is None:
        return f"Connecting to {state.server}."
    return f"Not connected to {state.server}; next attempt in {plural(round(retry_ms / 1000), 'second')}."


def metrics(states: Sequence[RecorderState]) -> str:
    """The states as Prometheus text. What is unknown has no sample; without recorders their number, 0, is all."""
    return "".join(f"{line}\n" for line in _lines(states))


def _lines(states: Sequence[RecorderState]) -> Iterator[str]:
    yield from _head("recorders", "gauge", "Recorders that run.")
    yield f"ics_recorder_recorders {len(states)}"
    for name, kind, meaning, read in _METRICS:
        samples = [(state, value) for state in states if (value := read(state)) is not None]
        if samples:
            yield from _head(name, kind, meaning)
        for state, value in samples:
            labels = f'server="{_escaped(state.server)}",pid="{state.pid}"'
            yield f"ics_recorder_{name}{{{labels}}} {value if isinstance(value, float) else int(value)}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP ics_recorder_{name} {meaning}"
    yield f"# TYPE ics_recorder_{name} {kind}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
