"""What a connection carried, written before anything is understood: see docs/journal-format.md."""

from recorder.journal.format import (
    MAGIC,
    VERSION,
    Header,
    Record,
    RecordKind,
    format_header,
    format_note,
    format_record,
    parse_header,
    parse_note,
    parse_record,
)
from recorder.journal.parts import find_part
from recorder.journal.writer import SYSTEM, Clock, JournalWriter, Sync

__all__ = [
    "MAGIC",
    "SYSTEM",
    "VERSION",
    "Clock",
    "Header",
    "JournalWriter",
    "Record",
    "RecordKind",
    "Sync",
    "find_part",
    "format_header",
    "format_note",
    "format_record",
    "parse_header",
    "parse_note",
    "parse_record",
]
