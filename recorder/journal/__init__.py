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
from recorder.journal.line import escape
from recorder.journal.parts import find_part, part_blocks, session_name, session_sizes
from recorder.journal.reader import Damage, Entry, JournalReader
from recorder.journal.sessions import OpenSession, close_left_open, open_sessions
from recorder.journal.survey import Finding, Outage, Survey
from recorder.journal.writer import SYSTEM, Clock, JournalWriter, Sync

__all__ = [
    "MAGIC",
    "SYSTEM",
    "VERSION",
    "Clock",
    "Damage",
    "Entry",
    "Finding",
    "Header",
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
