"""What a connection carried, written before anything is understood: see docs/journal-format.md."""

from recorder.journal.format import (
    MAGIC,
    VERSION,
    Header,
    NewerJournalError,
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
from recorder.journal.reader import Damage, Entry, JournalReader
from recorder.journal.writer import SYSTEM, Clock, JournalWriter, Sync

__all__ = [
    "MAGIC",
    "SYSTEM",
    "VERSION",
    "Clock",
    "Damage",
    "Entry",
    "Header",
    "JournalReader",
    "JournalWriter",
    "NewerJournalError",
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
