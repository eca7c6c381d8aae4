"""Saved logs of every kind → chunks of the bytes that the server sent."""

from recorder.model.sources import SourceKind
from recorder.sources.base import Decoder
from recorder.sources.detect import HEAD_BYTES, detect, is_own_export, make_decoder, why_not_a_log
from recorder.sources.files import BlockReader, find_logs, find_timing, is_journal, log_files, path_kind, read_blocks
from recorder.sources.secrets import FILLER, Scrubber

__all__ = [
    "FILLER",
    "HEAD_BYTES",
    "BlockReader",
    "Decoder",
    "Scrubber",
    "SourceKind",
    "detect",
    "find_logs",
    "find_timing",
    "is_journal",
    "is_own_export",
    "log_files",
    "make_decoder",
    "path_kind",
    "read_blocks",
    "why_not_a_log",
]
