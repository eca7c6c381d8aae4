"""The archive's behaviour: sources, growth, filters, keys, forgetting."""

import hashlib
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from exporters.pgn.exporter import PgnExporter
from recorder.archive.locate import open_archive
from recorder.errors import StorageError
from recorder.model import (
    Anomaly,
    AnomalyKind,
    Disposition,
    GameKind,
    Player,
    Precision,
    Segment,
    Shape,
    SourceReport,
    TimeBasis,
)
from recorder.model.games import shown_line
from storage import ArchiveStore, GameFilter
from storage.files import create_file, open_sqlite, open_to_write
from storage.maintenance.check import check
from storage.write.source import OvertakenError, SourceInProgress

from .conftest import EVERYTHING, MAY_2020, import_bytes, make_game


def keys(archive: ArchiveStore, where: GameFilter) -> list[str]:
    return [game.key for game in archive.games(where)]


def test_a_new_archive_is_its_owners_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        ArchiveStore.open(str(path), create=True).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_archive_that_another_program_makes_at_the_same_time_is_taken(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(place: Path) -> None:
        monkeypatch.undo()
        ArchiveStore.open(str(place), create=True).close()
        create_file(place)

    monkeypatch.setattr("storage.schema.upgrade.create_file", too_late)
    with ArchiveStore.open(str(path), create=True) as archive:
        assert archive.count() == 0


def test_the_first_transaction_waits_for_another_program_that_has_just_opened_the_archive(
    path: Path, archive: ArchiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_sqlite(path)) as other:
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr("time.sleep", lambda _seconds: other.execute("ROLLBACK"))
        import_bytes(archive, b"x", [make_game()])
    assert archive.count() == 1


def test_a_connection_whose_use_cannot_begin_is_closed(
    path: Path, archive: ArchiveStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[sqlite3.Connection] = []

    def noted(place: Path, *, read_only: bool = False) -> sqlite3.Connection:
        opened.append(open_sqlite(place, read_only=read_only))
        return opened[-1]

    monkeypatch.setattr("storage.files.open_sqlite", noted)
    other = tmp_path / "no.db"
    other.write_bytes(b"no database" * 100)
    with pytest.raises(sqlite3.DatabaseError):
        open_to_write(other)
    with pytest.raises(OvertakenError):
        SourceInProgress(path, "0" * 64, "mark")
    assert len(opened) == 2
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


@pytest.mark.parametrize("where", ["", ":memory:", "sqlite://", "postgresql://localhost/games", "no such://"])
def test_what_is_no_file_is_refused(where: str) -> None:
    with pytest.raises(StorageError):
        ArchiveStore.open(where, create=True)


def test_a_folder_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is a folder, not an archive"):
        ArchiveStore.open(str(tmp_path), create=True)


def forbid_writing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda file, _mode: Path(file) != folder)


def test_an_archive_in_a_read_only_folder_is_read_without_files_beside_it(
    path: Path, archive: ArchiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_bytes(archive, b"x", [make_game()])
    archive.close()
    forbid_writing(path.parent, monkeypatch)
    with ArchiveStore.open(str(path), read_only=True) as reader, reader.snapshot():
        assert reader.count() == 1
        assert [file.name for file in path.parent.iterdir()] == [path.name]
    with pytest.raises(StorageError, match="or its folder is read-only"):
        open_archive(str(path), read_only=False)


def test_of_a_link_the_folder_counts_that_its_file_is_in(
    path: Path, archive: ArchiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = path.parent / "links" / "link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    forbid_writing(link.parent, monkeypatch)
    with ArchiveStore.open(str(link), read_only=True) as reader, closing(open_sqlite(path)) as other:
        other.execute("SELECT count(*) FROM games").fetchone()  # an import that is not alone leaves its log
        import_bytes(archive, b"x", [make_game()])
        assert reader.count() == 1, "although only the log beside the file has it"
    open_archive(str(link), read_only=False).close()
    with closing(open_sqlite(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    forbid_writing(path.parent, monkeypatch)
    with ArchiveStore.open(str(link), read_only=True) as reader, reader.snapshot():
        assert reader.count() == 1
        assert {file.name for file in path.parent.iterdir()} == {path.name, "links"}
    with pytest.raises(StorageError, match="or its folder is read-only"):
        open_archive(str(link), read_only=False)


@pytest.mark.parametrize("failing", [False, True])
def test_a_change_by_others_of_an_archive_in_a_read_only_folder_is_reported(
    path: Path, archive: ArchiveStore, monkeypatch: pytest.MonkeyPatch, failing: bool
) -> None:
    import_bytes(archive, b"x", [make_game()])
    archive.close()
    forbid_writing(path.parent, monkeypatch)

    def read_while_written(reader: ArchiveStore) -> None:
        with reader.snapshot():
            assert reader.count() == 1
            with closing(sqlite3.connect(path)) as writer, writer:
                writer.execute("UPDATE games SET result = '0-1'")
            if failing:  # as on a page that was written meanwhile
                raise sqlite3.DatabaseError("database disk image is malformed")

    with ArchiveStore.open(str(path), read_only=True) as reader:
        with pytest.raises(StorageError, match=f"{path.name} changed while it was read: copy it"):
            read_while_written(reader)
        assert reader.count() == 1


def test_rights_that_reading_needs_are_named(
    path: Path, archive: ArchiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = sqlite3.OperationalError("attempt to write a readonly database")
    refused.sqlite_errorcode = sqlite3.SQLITE_READONLY

    def refuse(*_arguments: object, **_options: object) -> NoReturn:
        raise refused

    archive.close()
    monkeypatch.setattr("storage.schema.upgrade.reading", refuse)
    forbid_writing(path.parent, monkeypatch)
    path.with_name(f"{path.name}-wal").write_bytes(b"changes")
    with pytest.raises(StorageError, match=f"{path.name}-wal beside it has the last changes"):
        ArchiveStore.open(str(path), read_only=True)
    monkeypatch.setattr("os.access", lambda _file, _mode: False)
    with pytest.raises(StorageError, match="you may not read this file"):
        ArchiveStore.open(str(path), read_only=True)
    refused.sqlite_errorcode = sqlite3.SQLITE_BUSY  # the rights are not why
    with pytest.raises(StorageError, match="cannot be read as an archive: attempt to write"):
        ArchiveStore.open(str(path), read_only=True)


def test_a_file_that_is_no_database_is_reported_and_not_changed(path: Path) -> None:
    path.write_bytes(b"fics% \n\r" * 500)
    with pytest.raises(StorageError, match="cannot be read as an archive"):
        ArchiveStore.open(str(path), create=True)
    assert path.read_bytes() == b"fics% \n\r" * 500


def test_kept_bytes_come_back_from_any_place(archive: ArchiveStore) -> None:
    data = os.urandom(1 << 19) * 5
    row = import_bytes(archive, data)
    assert row.kept
    assert b"".join(archive.read_source(row.id)) == data
    for offset, length in ((0, 10), (1 << 20, 1), ((1 << 20) - 3, 6), (len(data) - 1, 100), (5, None)):
        wanted = data[offset:] if length is None else data[offset : offset + length]
        assert b"".join(archive.read_source(row.id, offset, length)) == wanted
    assert all(len(block) <= 1 << 20 for block in archive.read_source(row.id))


def test_bytes_that_are_not_kept_are_not_there(archive: ArchiveStore) -> None:
    row = import_bytes(archive, b"abc", keep=False)
    assert not row.kept
    with pytest.raises(StorageError, match="no-keep-source"):
        list(archive.read_source(row.id))


def test_a_block_that_raises_leaves_nothing(archive: ArchiveStore) -> None:
    def write() -> None:
        with archive.write_source(
            sha256="0" * 64, size_bytes=3, name="x", path=None, kind="raw", keep=True, parser_version="1", options={}
        ) as writer:
            writer.keep(b"abc")
            writer.add_games([make_game()])
            writer.flush()
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert archive.sources() == []
    assert archive.count() == 0
    assert check(archive.path) == []


def test_the_report_comes_back(archive: ArchiveStore) -> None:
    report = SourceReport(
        "raw", "FICS", "fics", "Ann", TimeBasis.UTC, 3, 17,
        frames={Disposition.PLY: 5, Disposition.QUOTED: 1},
        holdings={Disposition.PASS: 2},
        anomalies=[Anomaly(AnomalyKind.GAP, 7, None, "a gap", "<12> \xff"), Anomaly(AnomalyKind.GAP, 3, 9, "b", "")],
        shapes=[Shape("% a", 3, 1), Shape("% b", 2, 0)],
        warnings=["cut end"],
    )  # fmt: skip
    row = import_bytes(archive, b"abc", report=report)
    assert archive.report(row.id) == report
    assert [found for _, found in archive.anomalies()] == report.anomalies
    assert archive.anomaly_kinds(row.sha256) == {found.kind for found in report.anomalies} != set()
    assert archive.anomaly_kinds("0" * 64) == frozenset()
    assert (row.server, row.me, row.time_basis, row.warnings) == ("FICS", "Ann", TimeBasis.UTC, ("cut end",))
    assert (row.name, row.path, row.options, row.unfinished) == (
        "session.log", "/logs/session.log", {"tz": None}, None,
    )  # fmt: skip


def test_a_grown_log_continues_its_source(archive: ArchiveStore) -> None:
    """Games before the mark stay, later ones are read again, bytes and counts are those of the whole."""
    first, grown = b"a" * 1_500_000, b"a" * 1_500_000 + b"b" * 900_000
    row = import_bytes(archive, first, [make_game(0), make_game(1, result="*")], read_up_to=900)
    assert archive.growth_candidates() == [(len(first), hashlib.sha256(first).hexdigest())]
    grown_row = import_bytes(archive, grown, [make_game(1), make_game(2)], continues=row, read_up_to=2_900)
    assert list(archive.games()) == [make_game(0), make_game(1), make_game(2)]
    assert b"".join(archive.read_source(grown_row.id)) == grown
    assert [found.size_bytes for found in archive.sources()] == [len(grown)]
    assert check(archive.path) == []


def test_a_grown_log_of_which_nothing_was_kept_can_be_kept_whole(archive: ArchiveStore) -> None:
    row = import_bytes(archive, b"abc", keep=False)
    grown_row = import_bytes(archive, b"abcdef", continues=row)
    assert b"".join(archive.read_source(grown_row.id)) == b"abcdef"


def test_a_grown_log_keeps_its_old_bytes_when_the_new_ones_are_not_wanted(archive: ArchiveStore) -> None:
    row = import_bytes(archive, b"abc")
    grown_row = import_bytes(archive, b"abcdef", continues=row, keep=False)
    assert (grown_row.kept_bytes, grown_row.kept) == (3, False)
    assert b"".join(archive.read_source(grown_row.id, 0, 3)) == b"abc"
    assert check(archive.path) == []


def test_forgetting_undoes_an_import(archive: ArchiveStore) -> None:
    kept = import_bytes(archive, b"one", [make_game(0)])
    row = import_bytes(archive, b"two", [make_game(1, white=Player("Cy")), make_game(2)])
    report = archive.erasures.forget_source(row.id)
    assert (report.games, report.observations, report.plies, report.kept_bytes, report.players) == (2, 2, 6, 3, 1)
    assert archive.sources() == [kept]
    assert list(archive.games(EVERYTHING)) == [make_game(0)]
    assert check(archive.path) == []


def test_games_come_by_start_then_source_and_place(archive: ArchiveStore) -> None:
    undated = [make_game(number, time_basis=TimeBasis.CLOCK, started_at_ms=5) for number in (3, 4)]
    import_bytes(archive, b"one", [undated[1], make_game(1), undated[0], make_game(0)])
    assert keys(archive, EVERYTHING) == [game.key for game in (make_game(0), make_game(1), *undated)]


FILTERS = [
    (GameFilter(players=frozenset({"aNN"})), {0, 1}),
    (GameFilter(white=frozenset({"bob"})), {2}),
    (GameFilter(black=frozenset({"BOB"})), {0, 1}),
    (GameFilter(players=frozenset({"nobody"})), set()),
    (GameFilter(players=frozenset({"bob"}), opponents=frozenset({"GUESTqxyz"})), {2}),
    (GameFilter(players=frozenset({"guestqxyz"}), opponents=frozenset({"Bob", "Ann"})), {2}),
    (GameFilter(players=frozenset({"ann"}), opponents=frozenset({"ann"})), set()),
    (GameFilter(opponents=frozenset({"Ann"})), {0, 1}),
    (GameFilter(variants=frozenset({"CRAZYHOUSE"})), {1}),
    (GameFilter(categories=frozenset({"blitz"})), {0, 2}),
    (GameFilter(rated=False), {2}),
    (GameFilter(rated=True), {0, 1}),
    (GameFilter(since_ms=MAY_2020 + 60_000), {1, 2}),
    (GameFilter(until_ms=MAY_2020 + 60_000), {0, 1}),
    (GameFilter(results=frozenset({"0-1", "*"})), {1, 2}),
    (GameFilter(servers=frozenset({"fics"})), {0, 1}),
    (GameFilter(min_plies=3), set()),
    (GameFilter(complete=True), {0, 1}),
    (GameFilter(no_guests=True), {0}),
    (GameFilter(no_computers=True), {0, 1}),
    (GameFilter(kinds=frozenset({GameKind.EXAMINED})), {3}),
    (GameFilter(kinds=frozenset()), {0, 1, 2, 3, 4}),
    (GameFilter(keys=frozenset({make_game(1).key[:6], make_game(2).key})), {1, 2}),
    (GameFilter(source=hashlib.sha256(b"one").hexdigest()[:6]), {0, 1, 4}),
    (GameFilter(me="ann"), {0, 1, 4}),
    (GameFilter(last=2), {1, 2}),
    (GameFilter(last=1, rated=True), {1}),
]


@pytest.mark.parametrize(("where", "wanted"), FILTERS, ids=[repr(index) for index in range(len(FILTERS))])
def test_filters(archive: ArchiveStore, where: GameFilter, wanted: set[int]) -> None:
    games = [
        make_game(0),
        make_game(1, black=Player("Bob", "++++"), variant="crazyhouse", category="crazyhouse", result="0-1"),
        make_game(
            2, white=Player("Bob", titles="(TM)(C)"), black=Player("GuestQXYZ"), rated=False, result="*", server="ICC",
            complete=False, me=None,
        ),
        make_game(3, kind=GameKind.EXAMINED, me=None, server="ICC"),
        make_game(4, time_basis=TimeBasis.NONE, started_at_ms=None, white=Player("Di", registered=False),
                  black=Player("Ed", titles="C"), rated=None, server=None, variant=None, category=None, complete=False),
    ]  # fmt: skip
    import_bytes(archive, b"one", [games[0], games[1], games[4]])
    import_bytes(archive, b"two", games[2:4])
    assert {game.key for game in archive.games(where)} == {games[number].key for number in wanted}
    assert archive.count(where) == len(wanted)


def test_the_default_is_every_played_game_with_a_ply(archive: ArchiveStore) -> None:
    empty = make_game(2)
    empty.observations[0].lines[0].plies.clear()
    empty.segments.clear()
    import_bytes(archive, b"one", [make_game(0), make_game(1, kind=GameKind.SETUP), empty])
    assert keys(archive, GameFilter()) == [make_game(0).key]
    assert archive.count(EVERYTHING) == 3


def test_games_without_a_date_are_counted_when_dates_are_asked(archive: ArchiveStore) -> None:
    import_bytes(
        archive, b"one", [make_game(0), make_game(1, time_basis=TimeBasis.CLOCK), make_game(2, started_at_ms=None)]
    )
    assert archive.count_unknown(GameFilter(since_ms=0)) == {"without a known date": 2}
    assert archive.count_unknown(GameFilter(until_ms=0, players=frozenset({"nobody"}))) == {"without a known date": 0}
    assert archive.count_unknown(GameFilter()) == {}


def test_games_are_named_by_the_beginning_of_their_key_or_by_age(archive: ArchiveStore) -> None:
    import_bytes(archive, b"one", [make_game(0), make_game(1), make_game(2, started_at_ms=None)])
    assert archive.game(make_game(1).key[:7].upper()) == make_game(1)
    assert archive.game("last") == make_game(1)
    assert archive.game("last~1") == make_game(0)
    assert archive.game("last~2") == make_game(2, started_at_ms=None)
    with pytest.raises(StorageError, match="contains 3 played games"):
        archive.game("last~3")
    for wrong in ("", "%", "last~", "last~-1"):
        with pytest.raises(StorageError, match="is not a game"):
            archive.game(wrong)
    with pytest.raises(StorageError, match="No game has a key"):
        archive.game("0123456789abcdef0123")


def test_an_ambiguous_key_lists_the_candidates(archive: ArchiveStore) -> None:
    import_bytes(archive, b"one", [make_game(0, key="ab" * 10), make_game(1, key="ac" * 10)])
    with pytest.raises(StorageError, match=r"abababababab \(Ann vs. Bob\), acac"):
        archive.game("a")


@pytest.mark.parametrize("precision", [Precision.MILLISECONDS, Precision.SECONDS, None])
@pytest.mark.parametrize("clock_ms", [180_000, 59_999, -1, None])
def test_pgn_is_the_same_from_whole_plies_and_from_what_it_shows(
    archive: ArchiveStore, precision: Precision | None, clock_ms: int | None
) -> None:
    game = make_game()
    line = game.observations[0].lines[0]
    line.plies = [
        ply._replace(precision_code=precision, white_clock_ms=clock_ms, black_clock_ms=7_500, elapsed_ms=1_234)
        for ply in line.plies
    ]
    import_bytes(archive, b"one", [game])
    (shown,) = archive.games(whole_plies=False)
    assert (shown_line(shown) is not None) is (precision is Precision.MILLISECONDS and clock_ms is not None)
    text = PgnExporter().game_text(shown)
    assert text == PgnExporter().game_text(archive.game("last"))
    assert "[%emt 0:00:01" in text
    assert [ply.san for ply in shown.plies] == [ply.san for ply in line.plies]


@pytest.mark.parametrize("san", ['e4","e5', "\\u0065", '"', ",", "null", "", "é\U0001f600"])
def test_any_san_and_missing_numbers_come_back_from_what_is_shown(archive: ArchiveStore, san: str) -> None:
    game = make_game()
    line = game.observations[0].lines[0]
    first = line.plies[0]
    line.plies = [first._replace(ply=number, san=text) for number, text in ((1, san), (2, "e4"), (4, san))]
    game.segments = [Segment(1, 4, 0)]
    whole = make_game(1)
    line = whole.observations[0].lines[0]
    line.plies = [first._replace(ply=number, san=text) for number, text in ((1, san), (2, "e4"), (3, san))]
    whole.segments = [Segment(1, 3, 0)]
    import_bytes(archive, b"one", [game, whole])
    for wanted, shown in zip((game, whole), archive.games(whole_plies=False), strict=True):
        assert [(ply.ply, ply.san) for ply in shown.plies] == [(ply.ply, ply.san) for ply in wanted.plies]
