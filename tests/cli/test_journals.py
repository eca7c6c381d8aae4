"""Journals in the archive: referenced, never copied; reading continues where the last import ended."""

from pathlib import Path

from recorder.journal.parts import compress_part, part_name
from recorder.journal.writer import JournalWriter
from tests.support.cli import WATCHER, Cli
from tests.support.journals import HEADER, lines_of, received


def write_journal(folder: Path, stream: bytes, *, max_bytes: int = 1 << 26) -> Path:
    """Write a journal of a connection that received ``stream``; return its first part."""
    writer = JournalWriter(folder, host="freechess.org", port=5000, role="record", max_bytes=max_bytes)
    first = writer.path
    for begin in range(0, len(stream), 500):
        writer.received(stream[begin : begin + 500])
    writer.close()
    return first.with_name(f"{first.name}.zst")


def test_a_journal_is_imported_and_its_bytes_stay_where_they_are(cli: Cli, tmp_path: Path) -> None:
    path = write_journal(tmp_path / "journals", WATCHER.read_bytes())
    assert cli("import", "-n", path).stdout == f"{path}: journal log\n"
    cli("import", path)
    (source,) = cli.json("sources", "--json")
    assert (source["kind"], source["kept"], source["games"], source["time_basis"]) == ("journal", False, 5, "utc")
    assert "agrees; 5 games" in cli("verify").stdout
    assert "nothing new" in cli("import", path).stdout
    cli("db", "check")
    assert "<12>" in cli("show", "--raw", "last").stdout


def test_verify_finds_a_part_that_was_compressed_meanwhile(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / part_name(HEADER)
    path.write_bytes(lines_of(HEADER, received(WATCHER.read_bytes()[:60_000])))
    cli("import", path)
    compress_part(path)
    assert "agrees" in cli("verify").stdout
    assert "nothing new" in cli("import", tmp_path).stdout
    fresh = Cli(tmp_path / "fresh.sqlite")
    fresh("import", tmp_path)
    assert fresh("export", "games").stdout == cli("export", "games").stdout  # the source has the same name in both
    assert fresh.json("sources", "--json")[0]["name"] == path.name
    path.with_name(f"{path.name}.zst").unlink()
    assert "not audited" in cli("verify", code=6).stdout


def test_parts_of_a_session_are_one_source_that_grows(cli: Cli, tmp_path: Path) -> None:
    stream = WATCHER.read_bytes()
    path = write_journal(tmp_path / "journals", stream, max_bytes=8_000)
    parts = sorted(path.parent.iterdir())
    assert len(parts) > 2
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    for part in parts[2:]:
        part.rename(hidden / part.name)
    cli("import", path.parent)
    for part in parts[2:]:
        (hidden / part.name).rename(part)
    assert ", grew\n" in cli("import", path.parent).stdout
    (source,) = cli.json("sources", "--json")
    assert source["games"] == 5
    grown = cli("export", "games", "--format", "jsonl").stdout
    other = Cli(tmp_path / "other.sqlite")
    other("import", path)
    assert other("export", "games", "--format", "jsonl").stdout == grown
    assert "agrees" in cli("verify").stdout


def test_a_newer_journal_is_reported_and_the_others_are_read(cli: Cli, tmp_path: Path) -> None:
    newer = tmp_path / "newer.journal"
    newer.write_bytes(lines_of(HEADER._replace(version=99), received(b"x")))
    outcome = cli("import", newer, WATCHER, code=3)
    assert f"{newer}: This journal has version 99" in outcome.stderr
    assert [source["kind"] for source in cli.json("sources", "--json")] == ["raw"]


def test_a_moved_journal_is_found_by_the_next_import(cli: Cli, tmp_path: Path) -> None:
    path = write_journal(tmp_path / "journals", WATCHER.read_bytes())
    cli("import", path)
    path.parent.rename(tmp_path / "moved")
    assert "not audited" in cli("verify", code=6).stdout
    assert "nothing new" in cli("import", tmp_path / "moved").stdout
    assert "agrees; 5 games" in cli("verify").stdout
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / path.name).write_bytes((tmp_path / "moved" / path.name).read_bytes())
    cli("import", tmp_path / "copy")
    (source,) = cli.json("sources", "--json")
    assert source["path"] == str(tmp_path / "moved" / path.name), "a copy is only a copy"
