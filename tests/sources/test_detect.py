"""The kind of a log, by its content."""

import gzip
from pathlib import Path

import pytest

from recorder.events import EngineLine
from recorder.sources import HEAD_BYTES, SourceKind, detect, make_decoder, why_not_a_log

CORPUS = Path(__file__).parent.parent / "corpus"
FRAME = b"<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B -1"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"fics% \n\r" + FRAME, SourceKind.RAW),
        (b"\xef\xbb\xbffics% \n\r" + FRAME, SourceKind.RAW),
        (b"{Game 12 (A vs. B) A resigns} 0-1\n", SourceKind.RAW),
        (b"\xff\xfb\x01\n\rlogin: ", SourceKind.RAW),
        (b"Script started on Fri May  8 20:06:50 2015\nfics% ", SourceKind.TYPESCRIPT),
        (b"Version: xboard\n<ICS: fics% \n", SourceKind.XBOARD),
        (b"<WONT ECHO >DONT ECHO <ICS: x\n", SourceKind.XBOARD),
        (b"19:54:45.660 ('gbtami', 'run_command') DEBUG: e3e2\n", SourceKind.PYCHESS),
        (b"20:06:50 " + FRAME + b"\n20:06:51 fics% \n", SourceKind.STAMPED),
        (b"hello\n2015-05-08 20:06:50.827 fics[72424:1694479] \n" + FRAME + b"\nx\ny\nz\n", SourceKind.STAMPED),
        (b"[20:06] fics% " + FRAME, SourceKind.STAMPED),
        (b"20:06 fics% \n20:06 " + FRAME, SourceKind.STAMPED),
        (b"May  8 20:06:50 " + FRAME + b"\n", SourceKind.STAMPED),
        (b"1431115610.5 " + FRAME + b"\n", SourceKind.STAMPED),
        (b"> fics% \n>\n> " + FRAME + b"\n", SourceKind.STAMPED),
        (b"    fics% \n\n    " + FRAME + b"\n", SourceKind.STAMPED),
        (b"     ___\n  Welcome to the Free Internet Chess Server at freechess.org\n", SourceKind.RAW),
    ],
)
def test_kinds(head: bytes, kind: SourceKind) -> None:
    assert detect(head) is kind
    decoder = make_decoder(kind)
    found = [*decoder.receive(head), *decoder.finish()]
    assert b"<12>" not in head or any(b"<12> rnb" in chunk.data for chunk in found if not isinstance(chunk, EngineLine))


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"", "is empty"),
        (b"\n \n", "contains only blanks"),
        (bytes(range(256)) * 20, "is binary data, not a log"),
        (b"SQLite format 3\0" + FRAME, "is a database, not a log"),
        (b"PK\x03\x04....", "is a zip archive: unpack it first"),
        ("\ufeff<12> x".encode("utf-16-le"), "is UTF-16 text, not the server's bytes: convert it to UTF-8 first"),
        (b"Dear diary,\nI played chess.\n", "has no line of a chess server or engine"),
    ],
)
def test_what_is_no_log(head: bytes, reason: str) -> None:
    assert detect(head) is None
    assert why_not_a_log(head).startswith(reason)


@pytest.mark.parametrize(
    "quoted",
    [
        b"<12> ",
        FRAME,
        b"<b1> game 12 white [P] black []",
        b"fics% ",
        b"{Game 12 (A vs. B) A resigns} 0-1",
        b"freechess.org, FatICS",
        b"Style 12 set.",
        b"Ann(1500)[12] kibitzes: hi",
        b"login: ",
    ],
)
def test_prose_that_quotes_a_server_is_no_log(quoted: bytes) -> None:
    assert detect(b"Dear Ann,\nthe server sends `" + quoted + b"` then.\n> " + quoted + b"\n") is None
    assert detect(b'{"line": "' + quoted + b'"}\n') is None


@pytest.mark.parametrize("line", [FRAME, b"<b1> game 12 white [P] black []", b"{Game 12 (A vs. B) Creating"])
@pytest.mark.parametrize(
    "before",
    [
        b"\r",
        b"\x07",
        b"fics% ",
        b"12:34_fics% \rICS> ",
        b"12:34_mine% ",
        b"\xff\xfb\x01\xff\xf1[G]\0",
        b"\x1b[0;1m",
        b"\x19",
        b"157",
        b"20:06 ",
        b"[20:06:50] aics% ",
    ],
)
def test_a_line_is_known_behind_what_servers_and_clients_put_before_it(before: bytes, line: bytes) -> None:
    assert detect(b"Dear Ann,\n" + before + line + b"\nI played chess.\n") is SourceKind.RAW


def test_a_kind_is_asked_for_only_where_it_can_be_named() -> None:
    assert why_not_a_log(b"Dear diary,\n", nameable=True).endswith("name its kind with --kind")
    assert "--kind" not in why_not_a_log(b"Dear diary,\n")
    assert "--kind" not in why_not_a_log(b"", nameable=True)


@pytest.mark.parametrize("path", sorted((CORPUS / "server").glob("*/*.raw*")), ids=lambda path: path.parent.name)
def test_recorded_streams_are_raw(path: Path) -> None:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    assert detect(data[:HEAD_BYTES]) is SourceKind.RAW


@pytest.mark.parametrize("path", sorted((CORPUS / "server").glob("*/*.debug.gz")), ids=lambda path: path.parent.name)
def test_recorded_debug_files_are_xboards(path: Path) -> None:
    assert detect(gzip.decompress(path.read_bytes())[:HEAD_BYTES]) is SourceKind.XBOARD
