"""Journals: the bytes of a connection, written before they are parsed; see docs/reference/journal-format.md."""

from recorder.journal.format import (
    MAGIC,
    VERSION,
    JournalHeader,
    NewerJournalError,
    Record,
    RecordKind,
    escape,
    format_header,
    format_note,
    format_record,
    parse_header,
    parse_note,
    parse_record,
)
from recorder.journal.parts import find_part, part_blocks, session_name, session_sizes
from recorder.journal.reader import Damage, JournalEntry, JournalReader
from recorder.journal.sessions import JournalFinding, OpenSession, Outage, Survey, close_left_open, open_sessions
from recorder.journal.writer import SYSTEM, JournalClock, JournalWriter, Sync

__all__ = [
    "MAGIC",
    "SYSTEM",
    "VERSION",
    "JournalClock",
    "Damage",
    "JournalEntry",
    "JournalFinding",
    "JournalHeader",
    "JournalReader",
    "JournalWriter",
    "NewerJournalError",
    "OpenSession",
    "Outage",
    "Record",
    "RecordKind",
    "Survey",
    "Sync",
    "close_left_open",
    "escape",
    "find_part",
    "format_header",
    "format_note",
    "format_record",
    "open_sessions",
    "parse_header",
    "parse_note",
    "parse_record",
    "part_blocks",
    "session_name",
    "session_sizes",
]
