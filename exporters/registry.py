"""Which exporter writes what: the words of ``export WHAT --format FORMAT`` and of ``clocks --format``."""

from __future__ import annotations

from collections.abc import Callable

from exporters.base import Exporter
from exporters.bpgn import BpgnExporter
from exporters.clocks import ClocksCsvExporter, ClocksJsonExporter
from exporters.games_json import GamesJsonExporter
from exporters.pgn.exporter import PgnExporter
from exporters.table_files import PliesCsvExporter, PliesJsonExporter, PliesParquetExporter
from recorder.errors import ExportError

__all__ = ["EXPORTERS", "make_exporter"]

EXPORTERS: dict[str, dict[str, Callable[..., Exporter]]] = {
    "pgn": {"pgn": PgnExporter},
    "bpgn": {"bpgn": BpgnExporter},
    "games": {"jsonl": GamesJsonExporter},
    "plies": {"csv": PliesCsvExporter, "jsonl": PliesJsonExporter, "parquet": PliesParquetExporter},
    "clocks": {"csv": ClocksCsvExporter, "jsonl": ClocksJsonExporter},
}


def make_exporter(what: str, format_name: str, *, raw: bool = False) -> Exporter:
    """The exporter of ``what`` in ``format_name`` with its default options.

    Args:
        what, format_name: keys of ``EXPORTERS``. raw: of CSV, see ``exporters.table_files``.
    Raises:
        ExportError: there is none.
    """
    formats = EXPORTERS.get(what)
    if formats is None:
        raise ExportError(f"Unknown export {what!r}; use one of {', '.join(EXPORTERS)}.")
    if format_name not in formats:
        raise ExportError(f"{what} cannot be written as {format_name!r}; use one of {', '.join(formats)}.")
    make = formats[format_name]
    return make(raw=raw) if format_name == "csv" else make()
