"""What is given away holds nothing private; what is backed up holds everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.errors import StorageError
from recorder.model import Anomaly, AnomalyKind, Shape, SourceReport
from storage import Archive, backup

from .conftest import EVERYTHING, import_bytes, make_game

REPORT = SourceReport(
    "raw",
    me="Ann",
    anomalies=[Anomaly(AnomalyKind.MALFORMED, 3, None, "Bob's line is cut", "tell cy psst")],
    shapes=[Shape("fics% tell cy psst", 1, 0)],
    warnings=["psst"],
)
LOG = b"login: Ann\r\npassword: hunter2\r\nfics% tell cy psst\r\n" * 40


def everything(path: Path) -> bytes:
    return path.read_bytes()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


@pytest.fixture
def full(archive: Archive) -> Archive:
    import_bytes(archive, LOG, [make_game(0), make_game(1)], report=REPORT)
    return archive


def test_a_backup_is_the_whole_archive_while_somebody_writes(full: Archive, path: Path, target: Path) -> None:
    with full.write_source(
        sha256="1" * 64, size_bytes=0, name="x", path=None, kind="raw", keep=False, parser_version="1", options={}
    ) as writer:
        writer.add_games([make_game(3)])
        writer.flush()
        backup(path, target)
        writer.finish(SourceReport())
    with Archive.open(str(target), read_only=True) as copy:
        assert list(copy.games(EVERYTHING)) == [make_game(0), make_game(1)]
        assert b"".join(copy.read_source(copy.sources()[0].id)) == LOG
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(StorageError, match="Cannot create"):
        backup(path, target)


def test_a_share_has_no_log_no_tells_and_nothing_typed(full: Archive, target: Path) -> None:
    full.share(target)
    data = everything(target)
    for word in (b"psst", b"hunter2", b"secret", b"/logs/"):
        assert word not in data
    assert target.stat().st_mode & 0o777 == 0o600
    assert {file.name for file in target.parent.iterdir() if "part" in file.name} == set()
    with Archive.open(str(target), read_only=True) as copy:
        assert copy.check() == []
        (row,) = copy.sources()
        assert (row.path, row.kept_bytes, row.read_up_to) == (None, 0, 0)
        found = list(copy.games(EVERYTHING))
        assert [game.plies for game in found] == [make_game(0).plies, make_game(1).plies]
        assert [event.text for event in found[0].events] == ["2-1", "Ann(1500)[7] kibitzes: hi Bob"]
    assert len(next(full.games()).events) == 3


def test_pseudonyms_replace_handles_everywhere_and_stay_the_same(full: Archive, tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    full.share(first, pseudonyms=True)
    full.share(second, pseudonyms=True)
    assert b"Ann" not in everything(first)
    assert b"Bob" not in everything(first)
    with Archive.open(str(first), read_only=True) as one, Archive.open(str(second), read_only=True) as two:
        games = list(one.games(EVERYTHING))
        assert games == list(two.games(EVERYTHING))
        assert one.check() == []
        white, black = games[0].white.handle, games[0].black.handle
        assert white != black
        assert games[0].me == white
        assert games[0].reason == f"{black} resigns"
        assert [event.text for event in games[0].events] == ["2-1", f"{white}(1500)[7] kibitzes: hi {black}"]
        assert one.count(EVERYTHING) == 2


def test_keys_beside_pseudonyms_prove_no_guess_of_the_handles(full: Archive, tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    full.share(first, pseudonyms=True)
    full.share(second, pseudonyms=True)
    own = {game.key for game in full.games(EVERYTHING)}
    with Archive.open(str(first), read_only=True) as one, Archive.open(str(second), read_only=True) as two:
        keys = {game.key for game in one.games(EVERYTHING)}
        assert keys == {game.key for game in two.games(EVERYTHING)}
    assert len(keys) == len(own)
    assert not keys & own
    assert not any(key.encode() in everything(first) for key in own)


def test_another_archive_gives_other_pseudonyms(full: Archive, tmp_path: Path) -> None:
    with Archive.open(str(tmp_path / "other.db"), create=True) as other:
        import_bytes(other, LOG, [make_game(0)])
        other.share(tmp_path / "one.db", pseudonyms=True)
    full.share(tmp_path / "two.db", pseudonyms=True)
    with Archive.open(str(tmp_path / "one.db")) as one, Archive.open(str(tmp_path / "two.db")) as two:
        assert next(one.games()).white != next(two.games()).white


def test_redaction_takes_what_matches(full: Archive, target: Path) -> None:
    full.share(target, redact=["KIBITZES: .*", "cut$"])
    with Archive.open(str(target), read_only=True) as copy:
        assert next(copy.games()).events[1].text == "Ann(1500)[7] [redacted]"
        assert [found.message for _, found in copy.anomalies()] == ["Bob's line is [redacted]"]


def test_what_cannot_be_shared_is_told(full: Archive, path: Path, target: Path) -> None:
    with pytest.raises(StorageError, match="no regular expression"):
        full.share(target, redact=["("])
    assert not target.exists()
    with pytest.raises(StorageError, match="exists already"):
        full.share(path)
