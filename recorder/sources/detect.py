from __future__ import annotations

import re
from datetime import date, tzinfo
from typing import Final

from recorder.errors import SourceError
from recorder.journal.format import MAGIC
from recorder.model.observations import SourceKind
from recorder.sources.base import Decoder, LineEnds, RawDecoder
from recorder.sources.client_logs import ENGINE_ENTRY, ENTRY, HEADER, PychessDecoder, XboardDecoder
from recorder.sources.journal import JournalDecoder
from recorder.sources.stamps import MARGIN, STAMP, StampedDecoder, TypescriptDecoder, is_bare

HEAD_BYTES: Final = 65536

# Control bytes, telnet commands, terminal escapes, a number whose line end was lost, and seal pings.
_MARKS: Final = (
    rb"(?>(?:[\x00-\x09\x0b-\x1a\x1c-\x1f]|\xff[\xfb-\xfe]?.|\x1b\[[0-?]*+[@-~]|\[G\]|[0-9]{2,8}+(?=[A-Z{<]))*)"
)
_PROMPTS: Final = rb"(?>(?:(?>(?:\d\d:\d\d_)?)[^\x00- :<>{}()\[\]\\\x7f-\xff]{1,24}[%>$#] " + _MARKS + rb")*)"
# The beginning of a server's line behind what may stand before it. Marks of blocks and datagrams count anywhere.
_SERVER_TEXT: Final = re.compile(
    rb"^(?>(?:" + STAMP.pattern + rb")?)" + _MARKS + rb"(?:(?:\d\d:\d\d_)?[fa]ics%|" + _PROMPTS + rb"(?:"
    rb"<12> ?+[A-Za-z?-]{8} [A-Za-z?-]{8}(?!\S)|<b1> game \d|<[gd]1> \d|<s> \d|<sc> |"
    rb"\{Game \d+ \(|Game \d+: |You are now observing game|Movelist for game \d|Creating: \S+ \(|"
    rb"Style (?:set to )?12\b|login: |\*{4} Starting (?:\S+ )?session as |Server location: |"
    rb"[ *]*+Welcome to (?:the )?(?:Free Internet Chess Server|Internet Chess Club|chess\.net|fatics\.org)\b|"
    rb"[A-Za-z][^\s\[\]]{0,60}\[\d{1,9}\] (?:kibitzes|whispers): |"
    rb"Move  ?\S+ +\S+[ \r]*\n\r?-----? +-{16,}|"
    rb"[ \t]*+1\.[ \t]+(?:\.\.\.|[A-Za-z][A-Za-z0-9@=x-]*[+#]*)[ \t]+\(\d[0-9:.]*\)"
    rb"))|\x15\d+\x16\d+\x16|\x19\(\d{1,3}[ \x19]|\x19\[\d{1,4} \S",
    re.MULTILINE,
)
_STAMPED_LINES: Final = 200
_ESCAPES: Final = re.compile(rb"^[%;][^\n]*\n", re.MULTILINE)
_TAG: Final = re.compile(rb'\[[A-Za-z][A-Za-z0-9_]*[ \t]+"[^\r\n]*"[ \t]*\]')
_ROSTER: Final = re.compile(
    rb'^\[(Event|Site|Date|Round|White|Black|Result)[ \t]+"[^\r\n]*"[ \t]*\][ \t]*\r?$', re.MULTILINE
)
_MOVES: Final = re.compile(
    rb"1\s*\.\s*(?:[a-h][1-8]|[NBRQK][a-h1-8x]|[NBRQP]?@)[^\s(]*\s+(?!\()(?:\{|\d|[a-hNBRQKPO@])"
)
_SECOND_GAME: Final = re.compile(rb'(?<=\n)\[Event[ \t]+"')
_OWN_KEY: Final = re.compile(rb'^\[RecorderKey[AB]?[ \t]+"', re.MULTILINE)
_FOUR_PLAYERS: Final = re.compile(rb'^(?:\[[^\n]*\])?\[(?:White|Black)B[ \t]+"', re.MULTILINE)
#: A match whose tags name no board B: behind tags, comments and matches without a move, its first move names its board.
_FIRST_OF_MATCH: Final = re.compile(
    rb"(?>(?:\s++|\[[A-Za-z][A-Za-z0-9_]*+[ \t]++\"[^\r\n]*\"[ \t]*+\]|\{[^{}]*+\}|;[^\n]*+"
    rb"|(?:1-0|0-1|1/2-1/2|\*)(?!\S))*)"
    rb"[0-9]{1,3}[ABab]\.\s*+(?:[a-h][1-8x]|[NBRQK][a-h1-8x]|[NBRQP]?@|O-O)"
)
_NOT_IN_PGN: Final = re.compile(rb"^(?:<(?:12|b1|g1|d1)> |[fa]ics% |Movelist for game \d)", re.MULTILINE)
_NOT_LOGS: Final = (
    (b"\xff\xfe", "is UTF-16 text, not the server's bytes: convert it to UTF-8 first"),
    (b"\xfe\xff", "is UTF-16 text, not the server's bytes: convert it to UTF-8 first"),
    (b"SQLite format 3\x00", "is a database, not a log"),
    (b"PK\x03\x04", "is a zip archive: unpack it first"),
    (b"PK\x05\x06", "is a zip archive: unpack it first"),
    (b"7z\xbc\xaf", "is a 7z archive: unpack it first"),
)


def detect(head: bytes) -> SourceKind | None:
    """By the first 64 KiB, decompressed; ``why_not_a_log`` gives the reason for None."""
    ends = LineEnds()
    head = head[:HEAD_BYTES]
    head = (ends.receive(head) + ends.finish()).removeprefix(b"\xef\xbb\xbf")
    if _foreign(head) is not None:
        return None
    if head.startswith(MAGIC):
        return SourceKind.JOURNAL
    if _is_pgn(head):
        return SourceKind.BPGN if _FOUR_PLAYERS.search(head) or _is_bpgn(head) else SourceKind.PGN
    if _FIRST_OF_MATCH.match(head):
        return SourceKind.BPGN
    if head.startswith(b"Script started"):
        return SourceKind.TYPESCRIPT
    lines = head.split(b"\n")
    if any(ENTRY.match(line) or ENGINE_ENTRY.match(line) for line in lines):
        return SourceKind.XBOARD
    if any((match := HEADER.match(line)) and match["task"] for line in lines):
        return SourceKind.PYCHESS
    if margin := _margin(lines):
        lines = [line.removeprefix(margin) for line in lines]
        head = b"\n".join(lines)
    if not _SERVER_TEXT.search(head):
        return None
    return SourceKind.STAMPED if margin or _is_stamped(lines) else SourceKind.RAW


def why_not_a_log(head: bytes, *, nameable: bool = False) -> str:
    """A clause: "is empty", "is a zip archive: unpack it first" …; ``nameable``: the command has ``--kind``."""
    foreign = _foreign(head)
    if foreign is not None:
        return foreign
    if not head.strip():
        return "is empty" if not head else "contains only blanks"
    control = len(head) - len(head.translate(None, bytes(range(9)) + bytes(range(14, 27)) + b"\x7f"))
    if control * 20 > len(head):
        return "is binary data, not a log"
    advice = "; if it is a log all the same, name its kind with --kind" if nameable else ""
    where = " in its first 64 KiB" if len(head) >= HEAD_BYTES else ""
    return f"has no line of a chess server or engine{where}{advice}"


def is_own_export(head: bytes) -> bool:
    """Its first game has a tag RecorderKey."""
    head = head[:HEAD_BYTES]
    second = _SECOND_GAME.search(head, 1)
    return _OWN_KEY.search(head[: second.start()] if second else head) is not None


def make_decoder(
    kind: SourceKind,
    *,
    date: date | None = None,
    tz: tzinfo | None = None,
    timing: bytes | None = None,
) -> Decoder:
    """``date`` is the day on which the log begins, ``tz`` the zone of times without one."""
    if kind in (SourceKind.PGN, SourceKind.BPGN):
        raise SourceError(f"These are saved games ({kind.value.upper()}), not a server log.")
    if kind is SourceKind.TYPESCRIPT:
        return TypescriptDecoder(timing, tz)
    if kind is SourceKind.XBOARD:
        return XboardDecoder()
    if kind is SourceKind.PYCHESS:
        return PychessDecoder(date, tz)
    if kind is SourceKind.STAMPED:
        return StampedDecoder(date, tz)
    if kind is SourceKind.JOURNAL:
        return JournalDecoder()
    return RawDecoder()


def _is_pgn(head: bytes) -> bool:
    """A tag section is recognised by its first line, even behind other text; movetext alone by its first line."""
    text = _ESCAPES.sub(b"", head).lstrip()
    if _TAG.match(text) or _MOVES.match(text):
        return True
    tags = {match[1] for match in _ROSTER.finditer(head)}
    return len(tags) > 1 and not _NOT_IN_PGN.search(head)


def _is_bpgn(head: bytes) -> bool:
    """Whether the first move of saved games names its board (``1A.``), even behind other text."""
    roster = _ROSTER.search(head)
    return bool(_FIRST_OF_MATCH.match(head) or (roster and _FIRST_OF_MATCH.match(head, roster.start())))


def _foreign(head: bytes) -> str | None:
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head[257:262] == b"ustar":
        return "is a tar archive: unpack it first"
    return next((reason for magic, reason in _NOT_LOGS if head.lstrip(b"\r\n").startswith(magic)), None)


def _margin(lines: list[bytes]) -> bytes:
    """What every line begins with that has text, of two or more: quotation marks, or blanks also before a board."""
    filled = [line for line in lines[:-1] or lines if line.strip(MARGIN + b"\r")]
    begins = {line[: len(line) - len(line.lstrip(MARGIN))] for line in filled}
    margin = min(begins, key=len, default=b"")
    while not all(begin.startswith(margin) for begin in begins):
        margin = margin[:-1]
    quoted = margin.strip() or any(_NOT_IN_PGN.match(line.removeprefix(margin)) for line in filled)
    return margin if quoted and len(filled) > 1 else b""


def _is_stamped(lines: list[bytes]) -> bool:
    """Whether most lines have a stamp, or every board has one on its line or on the line before."""
    filled = [line for line in lines[:-1] if line.strip()][:_STAMPED_LINES] or lines[:1]
    stamps = [STAMP.match(line) for line in filled]
    if len([stamp for stamp in stamps if stamp]) * 2 > len(filled):
        return True
    stamped = [stamp is not None and not is_bare(stamp) for stamp in stamps]
    boards = [index for index, line in enumerate(filled) if line.startswith(b"<12>")]
    return bool(boards) and all(index and stamped[index - 1] for index in boards)
