"""``journal info``, ``cat`` and ``check`` on complete and corrupt journals of the writer."""

import gzip
import json
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recorder.journal import JournalWriter, close_left_open, find_part, part_blocks
from recorder.journal.format import MAGIC
from recorder.journal.parts import session_parts
from tests.journal.test_format import checked
from tests.journal.test_writer import DAY, Hands
from tests.support.cli import SERVER, Cli


def recorded(folder: Path, *, closed: bool = True, max_bytes: int = 1 << 20) -> Path:
    """A session of 61.5 seconds: 9 + 256 bytes received, and 6 + 8 sent."""
    clock = Hands()
    clock.utc = 20_000 * DAY + 5
    journal = JournalWriter(folder, host="chess.example", port=5000, role="record", clock=clock, max_bytes=max_bytes)
    journal.note("connected")
    clock.go(1_500_000_000)
    journal.received(b"\n\rlogin: ")
    at_ns = journal.now_ns()
    clock.go(1)
    journal.received(bytes(range(256)))
    journal.sent(b"*****\n", at_ns)
    journal.sent(b"*******\n", at_ns)
    journal.note("outage", why="reset")
    clock.go(60_000_000_000)
    journal.note("connected")
    if closed:
        journal.close()
    return journal.path


def unpack(path: Path) -> Path:
    """The same part, uncompressed."""
    plain = path.with_suffix("")
    plain.write_bytes(b"".join(part_blocks(path)))
    path.unlink()
    return plain


def test_info(cli: Cli, tmp_path: Path) -> None:
    path = recorded(tmp_path)
    output = cli.json("journal", "info", path, "--json")
    assert len(output.pop("session")) == 16
    assert output.pop("program").startswith("ics-recorder ")
    assert output == {
        "role": "record",
        "host": "chess.example",
        "port": 5000,
        "version": 1,
        "begun": "2024-10-04T00:00:00.000000005Z",
        "lasted_ns": 61_500_000_001,
        "received_bytes": 265,
        "sent_bytes": 14,
        "records": 8,
        "parts": [1],
        "files": [str(path)],
        "closed": True,
        "outages": [{"from_ns": 1_500_000_001, "until_ns": 61_500_000_001, "facts": {"why": "reset"}}],
        "torn": [],
        "damage": [],
        "findings": [],
        "crashed": False,
    }
    text = cli("journal", "info", path).stdout
    for line in (
        "Server:      chess.example 5000",
        "Ended:       2024-10-04T00:01:01.500000006Z",
        "Lasted:      1:01.500",
        "Received:    265 bytes",
        "Sent:        14 bytes",
        "Parts:       1",
        "Outage 1:    at 0:01.500, for 1:00.000",
    ):
        assert f"{line}\n" in text


def test_all_parts_are_read_whichever_is_named(cli: Cli, tmp_path: Path) -> None:
    paths = list(session_parts(recorded(tmp_path, max_bytes=600)).values())
    assert len(paths) > 1
    for path in paths:
        output = cli.json("journal", "info", path, "--json")
        assert output["parts"] == list(range(1, len(paths) + 1))
        assert output["files"] == [str(part) for part in paths]
        assert cli("journal", "cat", path).stdout_bytes == b"\n\rlogin: " + bytes(range(256))
        assert cli("journal", "check", path).stdout == ""


def test_cat(cli: Cli, tmp_path: Path) -> None:
    path = recorded(tmp_path)
    every = bytes(range(256))
    assert cli("journal", "cat", path).stdout_bytes == b"\n\rlogin: " + every
    assert cli("journal", "cat", path, "--direction", "sent").stdout_bytes == b"*****\n*******\n"
    assert (
        cli("journal", "cat", path, "--direction", "both").stdout_bytes == b"\n\rlogin: " + every + b"*****\n*******\n"
    )
    notes = cli("journal", "cat", path, "--direction", "notes").stdout.splitlines()
    assert [json.loads(note)["kind"] for note in notes] == ["connected", "outage", "connected", "end"]
    times = cli("journal", "cat", path, "--direction", "both", "--times").stdout.splitlines()
    assert times[0] == r"2024-10-04T00:00:01.500000005Z < \n\rlogin: "
    assert times[2] == r"2024-10-04T00:00:01.500000005Z > *****\n"


def test_standard_input(tmp_path: Path) -> None:
    data = recorded(tmp_path).read_bytes()

    def run(*words: str, data: bytes = data) -> subprocess.CompletedProcess[bytes]:
        program = [sys.executable, "-m", "recorder", "journal", *words]
        return subprocess.run(program, input=data, capture_output=True, check=False)

    assert run("cat", "-").stdout == b"\n\rlogin: " + bytes(range(256))
    assert json.loads(run("info", "-", "--json").stdout)["files"] == ["-"]
    output = run("check", "-", data=data[:-20])
    assert (output.returncode, b"what follows cannot be decompressed: it is cut short" in output.stdout) == (1, True)


def test_a_journal_that_is_still_written_is_sound(cli: Cli, tmp_path: Path) -> None:
    path = recorded(tmp_path, closed=False)
    assert "it is being written" in cli("journal", "check", path).stderr
    assert "Last record: 2024" in cli("journal", "info", path).stdout


def test_a_torn_tail(cli: Cli, tmp_path: Path) -> None:
    path = recorded(tmp_path, closed=False)
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    begin = data[:-1].rindex(b"\n") + 1
    output = cli("journal", "check", path, code=1).stdout
    assert output == f"{path}: byte {begin}: the last line is torn: {len(data) - begin - 5} bytes\n"
    assert (
        f"Torn:        {path}: {len(data) - begin - 5} bytes from byte {begin}" in cli("journal", "info", path).stdout
    )
    assert cli("journal", "cat", path).stdout_bytes == b"\n\rlogin: " + bytes(range(256))


def test_a_crash_that_was_noted_later(cli: Cli, tmp_path: Path) -> None:
    path = recorded(tmp_path, closed=False)
    data = path.read_bytes()
    left = tmp_path / "left" / path.name
    left.parent.mkdir()
    left.write_bytes(data[:-5])
    assert close_left_open(left)
    output = cli("journal", "info", left).stdout
    assert "Last record: 2024-10-04T00:00:01.500000006Z; then a crash\n" in output
    assert f"Torn:        {left}: " in output
    assert "Damaged" not in output
    assert cli.json("journal", "info", left, "--json")["crashed"] is True
    begin = data[:-1].rindex(b"\n") + 1
    output = cli("journal", "check", left, code=1).stdout
    assert output == f"{left}: byte {begin}: the last line is torn: {len(data) - begin - 5} bytes\n"
    output = cli("import", left).stdout
    assert "The last record is torn" in output
    assert "damaged" not in output


def test_corrupt_lines_are_reported(cli: Cli, tmp_path: Path) -> None:
    path = unpack(recorded(tmp_path))
    data = path.read_bytes()
    place = data.index(b"login")
    begin = data.rindex(b"\n", 0, place) + 1
    path.write_bytes(data.replace(b"login", b"logon"))
    output = cli("journal", "check", path, code=1).stdout.splitlines()
    size = data.index(b"\n", place) + 1 - begin
    assert output == [
        f"{path}: byte {begin}: {size} bytes are damaged: The line's checksum is wrong",
        f"{path}: byte {data.rindex(bytes([10]), 0, -1) + 1}: 7 records expected before the end, not 6",
    ]
    result = cli("journal", "cat", path, code=3)
    assert result.stdout_bytes == bytes(range(256))
    assert f"skipped at byte {begin}" in result.stderr
    assert cli.json("journal", "info", path, "--json")["damage"] == [
        {"file": str(path), "offset": begin, "size_bytes": size, "why": "The line's checksum is wrong"}
    ]


@pytest.mark.parametrize("cut", [1, 60, 300])
def test_a_corrupt_compressed_part_is_reported(cli: Cli, tmp_path: Path, cut: int) -> None:
    path = recorded(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])
    output = cli("journal", "check", path, code=1).stdout
    what = "what follows cannot be decompressed: it is cut short"
    assert re.fullmatch(rf"{re.escape(str(path))}: byte \d+: {what}\n", output)
    output = cli("journal", "cat", path, code=3).stderr
    assert re.fullmatch(rf"{re.escape(str(path))}: everything is skipped from byte \d+: {what}\.\n", output)
    assert "Damaged:     " in cli("journal", "info", path).stdout


def test_a_missing_line_is_reported(cli: Cli, tmp_path: Path) -> None:
    path = unpack(recorded(tmp_path))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    output = "7 records expected before the end, not 6"
    assert output in cli("journal", "check", path, code=1).stdout
    assert re.search(rf"^Wrong: .* byte \d+: {output}$", cli("journal", "info", path).stdout, re.M)
    assert cli.json("journal", "info", path, "--json")["findings"][0]["what"] == output
    cli("import", "--strict", path, code=1)
    assert "7 records expected in part 1, not 6" in cli("anomalies").stdout


def test_a_line_with_a_time_before_its_predecessor_is_reported(cli: Cli, tmp_path: Path) -> None:
    path = unpack(recorded(tmp_path))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[3], lines[2], *lines[4:]]))
    assert "the time of the received bytes goes back" in cli("journal", "check", path, code=1).stdout


@pytest.mark.parametrize(("gone", "what"), [(1, "part 1 is missing"), (2, "part 2 is missing"), (-1, "is missing")])
def test_a_missing_part(cli: Cli, tmp_path: Path, gone: int, what: str) -> None:
    paths = session_parts(recorded(tmp_path, max_bytes=450))
    assert len(paths) > 2
    number = max(paths) if gone < 0 else gone
    paths[number].unlink()
    output = cli("journal", "check", find_part(paths[2 if number == 1 else 1]), code=1).stdout
    assert f"part {number} is missing" in output
    assert what in output
    if gone < 0:
        assert f"Part {number} of the session is missing" in cli("import", paths[1]).stdout
    else:
        cli("import", "--strict", find_part(paths[2 if number == 1 else 1]), code=1)
        assert " of the session " in cli("anomalies").stdout


def test_a_part_of_another_session_and_one_without_end(cli: Cli, tmp_path: Path) -> None:
    paths = session_parts(recorded(tmp_path / "a", max_bytes=450))
    (other,) = session_parts(recorded(tmp_path / "b")).values()
    paths[2].write_bytes(other.read_bytes())
    assert "the header is that of another session" in cli("journal", "check", paths[1], code=1).stdout
    paths = session_parts(recorded(tmp_path / "c", max_bytes=450))
    plain = unpack(paths[1])
    plain.write_bytes(b"".join(plain.read_bytes().splitlines(keepends=True)[:-1]))
    assert "part 1 has no end, although part 2 follows" in cli("journal", "check", plain, code=1).stdout


def test_a_file_that_is_no_journal_is_refused(cli: Cli, tmp_path: Path) -> None:
    for name, data in (("a.log", b"fics% "), ("b.journal", b"fics% ")):
        (tmp_path / name).write_bytes(data)
        for what in ("info", "cat", "check"):
            assert "is no journal" in cli("journal", what, tmp_path / name, code=7).stderr
    for what in ("info", "cat"):
        output = cli("journal", what, tmp_path, code=3).stderr
        assert output == f"Error: {tmp_path} is a folder: name one of the journals in it.\n"
    assert cli("journal", "cat", tmp_path / "a.log", code=7).stderr == f"Error: {tmp_path / 'a.log'} is no journal.\n"
    assert "cannot be read" in cli("journal", "info", tmp_path / "none", code=3).stderr
    assert "cannot be read" in cli("journal", "info", tmp_path / "none" / "x.journal", code=3).stderr


def test_a_newer_journal_says_so(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    path.write_bytes(checked(MAGIC + b"2 who knows") + b"\n")
    for what in ("info", "cat", "check"):
        assert "This journal has version 2" in cli("journal", what, path, code=7).stderr


def leaky(folder: Path, **how: Any) -> list[Path]:
    """A session whose journal contains the password."""
    journal = JournalWriter(folder, host="chess.example", port=5000, role="record", **how)
    for says, takes in ((b"login: ", b"Ann\n"), (b"\n\rpassword: ", b"hunter22\n")):
        journal.received(says)
        journal.sent(takes)
    journal.received(b"\n\r**** Starting FICS session as Ann ****\n\rfics% ")
    journal.close()
    return list(session_parts(journal.path).values())


def test_several_journals_and_folders_are_checked_at_once(cli: Cli, tmp_path: Path) -> None:
    sound = recorded(tmp_path / "a", max_bytes=600)
    parts = sorted(sound.parent.iterdir())
    assert len(parts) > 1
    output = cli("journal", "check", *parts)
    assert (output.stdout, output.stderr) == ("", f"{parts[0]}: the journal is sound: 10 records in 3 parts.\n")
    torn = recorded(tmp_path / "a" / "b", closed=False)
    torn.write_bytes(torn.read_bytes()[:-5])
    (tmp_path / "a" / "notes.txt").write_text("no journal")
    output = cli("journal", "check", tmp_path / "a", sound, code=1)
    assert output.stdout.startswith(f"{torn}: byte ")
    assert output.stderr.splitlines() == [
        f"{parts[0]}: the journal is sound: 10 records in 3 parts.",
        f"{torn}: 1 finding.",
    ]
    output = cli("journal", "check", tmp_path / "a" / "notes.txt", tmp_path / "none", torn, sound, code=7)
    assert [line.partition(" is no ")[0] for line in output.stderr.splitlines()] == [
        f"Error: {tmp_path / 'a' / 'notes.txt'}",
        f"Error: {tmp_path / 'none'}: cannot be read: No such file or directory",
        f"{torn}: 1 finding.",
        f"{sound}: the journal is sound: 10 records in 3 parts.",
    ]
    (tmp_path / "empty").mkdir()
    output = cli("journal", "check", tmp_path / "empty", sound, code=3)
    assert output.stderr.startswith(f"Error: {tmp_path / 'empty'}: the folder contains no journal.\n")


def test_scrub(cli: Cli, tmp_path: Path) -> None:
    (path,) = leaky(tmp_path / "a")
    out = tmp_path / "clean.journal"
    assert "11 bytes masked." in cli("journal", "scrub", path, "-o", out).stderr
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert cli("journal", "cat", out, "--direction", "sent").stdout_bytes == b"***\n********\n"
    assert cli("journal", "cat", out).stdout_bytes == cli("journal", "cat", path).stdout_bytes
    assert b"hunter22" in b"".join(part_blocks(path))
    cli("journal", "check", out)
    times = cli("journal", "cat", out, "--direction", "both", "--times").stdout
    before = cli("journal", "cat", path, "--direction", "both", "--times").stdout
    assert times == before.replace("hunter22", "********").replace("> Ann", "> ***")


def test_scrub_of_several_parts_to_standard_output(cli: Cli, tmp_path: Path) -> None:
    paths = leaky(tmp_path / "a", max_bytes=420)
    assert len(paths) > 2
    out = tmp_path / "clean.journal"
    out.write_bytes(cli("journal", "scrub", paths[1], "-o", "-").stdout_bytes)
    assert b"hunter22" not in out.read_bytes()
    cli("journal", "check", out)
    assert cli.json("journal", "info", out, "--json")["parts"] == list(range(1, len(paths) + 1))


def test_scrub_overwrites_nothing_unasked(cli: Cli, tmp_path: Path) -> None:
    (path,) = leaky(tmp_path / "a")
    before = path.read_bytes()
    out = tmp_path / "clean.journal"
    out.write_text("mine")
    assert "--force" in cli("journal", "scrub", path, "-o", out, code=5).stderr
    assert out.read_text() == "mine"
    cli("journal", "scrub", path, "-o", out, "--force")
    cli("journal", "check", out)
    assert "name another file" in cli("journal", "scrub", path, "-o", path, "--force", code=5).stderr
    assert path.read_bytes() == before
    assert "name a file" in cli("journal", "scrub", "-", "-o", out, code=2).stderr
    out.unlink()
    (tmp_path / "x.journal").write_bytes(b"fics% ")
    assert "is no journal" in cli("journal", "scrub", tmp_path / "x.journal", "-o", out, code=7).stderr
    (tmp_path / "x.pgn").write_bytes(b'[Event "x"]\n\n1. e4 *\n')
    output = cli("journal", "scrub", tmp_path / "x.pgn", "-o", out, code=3).stderr
    assert "saved games" in output
    assert "is a folder: name one of the logs in it" in cli("journal", "scrub", tmp_path, "-o", out, code=3).stderr
    assert "cannot be read" in cli("journal", "scrub", tmp_path / "none", "-o", out, code=3).stderr
    assert not out.exists()


LOGGED_IN = b"\r\n**** Starting FICS session as Ann ****\r\nfics% \r\n"
ASKED = b'"Ann" is a registered name.  If it is yours, type the password.\r\n\r\npassword: '
LOGS = {
    "raw": b"login: Ann\r\n" + ASKED + b"hunter22\r\n" + LOGGED_IN + b"fics% password hunter22 newer333\r\n",
    "raw of ICC": b"login: Ann hunter22\r\n" + LOGGED_IN,
    "typescript": b"Script started on 2025-01-01 10:00:00+00:00\nlogin: Ann\r\n" + ASKED + b"hunter22\r\n" + LOGGED_IN,
    "xboard": b"Version: xboard 4.9.1\n<ICS: login: \n>ICS: Ann\\012\n>ICS: hunter22\\012\n"
    rb"<ICS: \012\015**** Starting FICS session as Ann ****\012\015fics% "
    + b"\n>ICS: password hunter22 newer333\\012\n",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", LOGS)
def test_scrub_of_other_logs(cli: Cli, tmp_path: Path, name: str, packed: bool) -> None:
    path, out = tmp_path / "x.log", tmp_path / "clean.log"
    path.write_bytes(gzip.compress(LOGS[name]) if packed else LOGS[name])
    output = cli("journal", "scrub", path, "-o", out).stderr
    typed = re.compile(rb"(?<=login: )Ann|(?<=>ICS: )Ann|hunter22|newer333")
    count = len(b"".join(typed.findall(LOGS[name])))
    assert output == f"{count} bytes of the {name.split()[0]} log masked.\n"
    assert out.read_bytes() == typed.sub(lambda word: b"*" * len(word[0]), LOGS[name])
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    second = tmp_path / "again.log"
    assert cli("journal", "scrub", out, "-o", second).stderr.startswith("0 bytes ")
    assert "name another file" in cli("journal", "scrub", path, "-o", path, "--force", code=5).stderr


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SERVER.rglob("*")) if path.name.endswith((".raw", ".raw.gz", ".debug.gz", ".debug"))][::9],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_scrub_leaves_recorded_logs_as_they_are(cli: Cli, tmp_path: Path, path: Path) -> None:
    out = tmp_path / "clean.log"
    cli("journal", "scrub", path, "-o", out)
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    typed = re.compile(rb"(?m)^>ICS: .*$" if ".debug" in path.name else rb"$.")  # xboard's log of the login
    assert typed.sub(b"", out.read_bytes()) == typed.sub(b"", data)


def test_scrub_reports_what_it_removes(cli: Cli, tmp_path: Path) -> None:
    (path,) = leaky(tmp_path / "a")
    plain = unpack(path)
    plain.write_bytes(plain.read_bytes() + b"torn")
    out = tmp_path / "clean.journal"
    assert "\n4 corrupt bytes skipped.\n" in cli("journal", "scrub", plain, "-o", out).stderr


def test_an_outage_before_the_journal_is_reported(cli: Cli, tmp_path: Path) -> None:
    clock = Hands()
    clock.utc = 20_000 * DAY
    journal = JournalWriter(tmp_path, host="chess.example", port=5000, role="record", clock=clock)
    journal.note("outage", since_utc_ns=clock.utc - 12_233_000_000)
    clock.go(34_000_000)
    journal.note("connected")
    journal.close()
    output = cli("journal", "info", journal.path).stdout
    assert "Outage 1:    began 0:12.233 before this journal, for 0:12.267\n" in output
