"""Logs whose lines end with a single carriage return, and logs without line ends."""

import gzip
import json
from pathlib import Path

import pytest

from tests.support.cli import SERVER, WATCHER, Cli

XBOARD = SERVER / "x02_xboard_observes_b" / "xboard_observer.debug.gz"


def games_of(cli: Cli) -> list[object]:
    """Return moves and times of all games; only offsets differ where line ends had two bytes."""
    found = [json.loads(line) for line in cli("export", "games").stdout.splitlines()]
    return [[(ply["san"], ply["white_clock_ms"]) for ply in game["plies"]] for game in found]


def with_returns(data: bytes) -> bytes:
    return data.replace(b"\r", b"").replace(b"\n", b"\r")


@pytest.mark.parametrize("path", [WATCHER, XBOARD], ids=["raw", "xboard"])
def test_a_log_with_carriage_returns_alone(tmp_path: Path, path: Path) -> None:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines, returns = Cli(tmp_path / "1.sqlite"), Cli(tmp_path / "2.sqlite")
    for cli, content in ((lines, data.replace(b"\r", b"")), (returns, with_returns(data))):
        log = tmp_path / "x.log"
        log.write_bytes(content)
        (outcome,) = cli.json("import", "--json", log)
        assert outcome["kind"] == ("xboard" if path is XBOARD else "raw")
    assert games_of(lines) == games_of(returns) != []
    assert returns.json("verify", "--json")[0]["findings"] == []


def test_a_growing_log_with_carriage_returns_alone(cli: Cli, tmp_path: Path) -> None:
    data = with_returns(WATCHER.read_bytes())
    log = tmp_path / "x.log"
    for end in (9_000, 9_001, len(data)):
        log.write_bytes(data[:end])
        cli("import", log)
    assert cli.json("verify", "--json")[0]["findings"] == []
    other = Cli(tmp_path / "other.sqlite")
    other("import", log)
    assert cli("export", "games").stdout == other("export", "games").stdout
    assert "<12> " in cli("show", "last", "--raw").stdout


def test_its_secrets_are_replaced(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(
        b"login: Ann\rpassword: huntertwo\rfics% pass hunterone hunterten\r" + with_returns(WATCHER.read_bytes())
    )
    cli("import", log)
    assert cli.json("games", "--json")
    cli("db", "backup", tmp_path / "copy.sqlite")
    from storage import ArchiveStore

    with ArchiveStore.open(str(cli.archive)) as archive:
        kept = b"".join(archive.read_source(archive.sources()[0].id))
    assert b"hunter" not in kept
    assert (len(kept), b"\n" in kept, b"password: *********\r" in kept) == (log.stat().st_size, False, True)


def test_missing_line_ends_are_reported(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"fics% " + WATCHER.read_bytes().replace(b"\r", b"").replace(b"\n", b" "))
    assert "127 <12> are inside other text and none is a board" in cli("import", log).stdout
    assert "127 <12> are inside other text" in cli("convert", log, code=1).stderr
    assert cli.json("import", "--json", WATCHER)[0]["report"]["warnings"] == []


def test_a_wrong_kind_is_reported(cli: Cli) -> None:
    assert "contain no line of the kind xboard" in cli("convert", "--kind", "xboard", WATCHER, code=1).stderr
    assert "with --kind)" in cli("convert", "--kind", "raw", XBOARD, code=1).stderr
    assert "(--kind)" not in cli("convert", XBOARD).stderr
