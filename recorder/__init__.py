"""Records, reads and analyses games of Internet chess servers: moves, clocks, think times and lag.

::

    import recorder

    with recorder.Archive("games.db") as archive:
        archive.import_logs("~/ics-logs")
        for game in archive.games(player="Morphy"):
            print(game)

Every name of ``__all__`` is loaded when it is first used. docs/reference/python.md describes all of them.
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from exporters.base import ExportReport
    from exporters.selection import Filters
    from recorder import measures, plots
    from recorder.archive.archive import Archive
    from recorder.archive.care.verifying import Audit, VerifyReport
    from recorder.archive.game_tables import Dataset, Tables
    from recorder.archive.reading.import_paths import ImportReport, Merged
    from recorder.archive.reading.importing import Outcome
    from recorder.archive.sharing.dataset_making import DatasetReport, make_dataset
    from recorder.archive.sharing.publishing import Published
    from recorder.errors import (
        EngineError,
        ExportError,
        JournalError,
        LineError,
        ListenError,
        LoginError,
        NoGamesError,
        NoPolicyError,
        PasswordError,
        PolicyError,
        RecorderError,
        ReplayError,
        SearchTimeoutError,
        SourceError,
        StorageError,
        UnknownVariantError,
        VariantError,
        WireError,
    )
    from recorder.model import (
        Analysis,
        Anomaly,
        AnomalyKind,
        EventKind,
        Game,
        GameEvent,
        GameKind,
        HoldingsChange,
        Observation,
        Opening,
        Origin,
        Player,
        Ply,
        Precision,
        Proof,
        SourceKind,
        SourceReport,
        Thinking,
        TimeBasis,
    )
    from recorder.pipeline import PARSER_VERSION, Pipeline
    from recorder.reading import read_games
    from storage.dataset.files import Manifest

    __version__: str

_MODULES = {
    **dict.fromkeys(("PARSER_VERSION", "Pipeline"), "recorder.pipeline"),
    "read_games": "recorder.reading",
    "Archive": "recorder.archive.archive",
    "Audit": "recorder.archive.care.verifying",
    "Dataset": "recorder.archive.game_tables",
    "DatasetReport": "recorder.archive.sharing.dataset_making",
    "Manifest": "storage.dataset.files",
    "make_dataset": "recorder.archive.sharing.dataset_making",
    "ExportReport": "exporters.base",
    "Filters": "exporters.selection",
    "ImportReport": "recorder.archive.reading.import_paths",
    "Merged": "recorder.archive.reading.import_paths",
    "Outcome": "recorder.archive.reading.importing",
    "Published": "recorder.archive.sharing.publishing",
    "Tables": "recorder.archive.game_tables",
    "VerifyReport": "recorder.archive.care.verifying",
}
"""Where the public names are, except for errors and those of ``recorder.model``."""

__all__ = [
    "PARSER_VERSION",
    "Analysis",
    "Anomaly",
    "AnomalyKind",
    "Archive",
    "Audit",
    "Dataset",
    "DatasetReport",
    "EngineError",
    "EventKind",
    "ExportError",
    "ExportReport",
    "Filters",
    "Game",
    "GameEvent",
    "GameKind",
    "HoldingsChange",
    "ImportReport",
    "JournalError",
    "LineError",
    "ListenError",
    "LoginError",
    "Manifest",
    "Merged",
    "NoGamesError",
    "NoPolicyError",
    "Observation",
    "Opening",
    "Origin",
    "Outcome",
    "PasswordError",
    "Pipeline",
    "Player",
    "Ply",
    "PolicyError",
    "Precision",
    "Proof",
    "Published",
    "RecorderError",
    "ReplayError",
    "SearchTimeoutError",
    "SourceError",
    "SourceKind",
    "SourceReport",
    "StorageError",
    "Tables",
    "Thinking",
    "TimeBasis",
    "UnknownVariantError",
    "VariantError",
    "VerifyReport",
    "WireError",
    "__version__",
    "make_dataset",
    "measures",
    "plots",
    "read_games",
]


def __getattr__(name: str) -> _typing.Any:
    """Load a public name when it is first used: ``import recorder`` alone loads nothing else."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: _typing.Any
    if name == "__version__":
        from importlib.metadata import version

        value = version("ics-recorder")
    elif name in ("measures", "plots"):
        value = _importlib.import_module(f"recorder.{name}")
    else:
        module = _MODULES.get(name, "recorder.errors" if name.endswith("Error") else "recorder.model")
        if module.startswith(("exporters", "storage")):
            _importlib.import_module("recorder.archive")  # refuses foreign modules named as packages of this program
        value = getattr(_importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
