"""A shared archive contains nothing private; a backup contains everything."""

import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from recorder.errors import StorageError
from recorder.model import Anomaly, AnomalyKind, EventKind, GameEvent, Player, Shape, SourceReport, TimeBasis
from storage import ArchiveStore, backup
from storage.files import open_sqlite
from storage.maintenance import share as sharing
from storage.maintenance.check import check
from storage.maintenance.share import _HANDLES, _PLAIN, _TEXTS, _WORDING, share
from storage.schema.tables import metadata
from tests.support.effort import long_after

from .conftest import EVERYTHING, MAY_2020, import_bytes, make_game

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
def full(archive: ArchiveStore) -> ArchiveStore:
    import_bytes(archive, LOG, [make_game(0), make_game(1)], report=REPORT)
    return archive


def test_a_backup_during_a_write_is_the_whole_archive(full: ArchiveStore, path: Path, target: Path) -> None:
    with full.write_source(
        sha256="1" * 64, size_bytes=0, name="x", path=None, kind="raw", keep=False, parser_version="1", options={}
    ) as writer:
        writer.add_games([make_game(3)])
        writer.flush()
        backup(path, target)
        writer.finish(SourceReport())
    with ArchiveStore.open(str(target), read_only=True) as copy:
        assert list(copy.games(EVERYTHING)) == [make_game(0), make_game(1)]
        assert b"".join(copy.read_source(copy.sources()[0].id)) == LOG
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(StorageError, match="Cannot create"):
        backup(path, target)


def test_a_share_has_no_log_no_tells_and_nothing_typed(full: ArchiveStore, target: Path) -> None:
    share(full.path, target)
    data = everything(target)
    for word in (b"psst", b"hunter2", b"secret", b"/logs/"):
        assert word not in data
    assert target.stat().st_mode & 0o777 == 0o600
    assert {file.name for file in target.parent.iterdir() if "part" in file.name} == set()
    with ArchiveStore.open(str(target), read_only=True) as copy:
        assert check(copy.path) == []
        (row,) = copy.sources()
        assert (row.path, row.kept_bytes, row.read_up_to) == (None, 0, 0)
        found = list(copy.games(EVERYTHING))
        assert [game.plies for game in found] == [make_game(0).plies, make_game(1).plies]
        assert [event.text for event in found[0].events] == ["2-1", "Ann(1500)[7] kibitzes: hi Bob"]
    assert len(next(full.games()).events) == 3


def test_pseudonyms_replace_handles_everywhere_and_stay_the_same(full: ArchiveStore, tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    for target in (first, second):
        share(full.path, target, pseudonyms=True, with_text=True)
    assert b"Ann" not in everything(first)
    assert b"Bob" not in everything(first)
    with ArchiveStore.open(str(first), read_only=True) as one, ArchiveStore.open(str(second), read_only=True) as two:
        games = list(one.games(EVERYTHING))
        assert games == list(two.games(EVERYTHING))
        assert check(one.path) == []
        white, black = games[0].white.handle, games[0].black.handle
        assert white != black
        assert games[0].me == white
        assert games[0].reason == f"{black} resigns"
        assert [event.text for event in games[0].events] == ["2-1", f"{white}(1500)[7] kibitzes: hi {black}"]
        assert one.count(EVERYTHING) == 2


def test_keys_beside_pseudonyms_prove_no_guess_of_the_handles(full: ArchiveStore, tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    share(full.path, first, pseudonyms=True)
    share(full.path, second, pseudonyms=True)
    own = {game.key for game in full.games(EVERYTHING)}
    with ArchiveStore.open(str(first), read_only=True) as one, ArchiveStore.open(str(second), read_only=True) as two:
        keys = {game.key for game in one.games(EVERYTHING)}
        assert keys == {game.key for game in two.games(EVERYTHING)}
    assert len(keys) == len(own)
    assert not keys & own
    assert not any(key.encode() in everything(first) for key in own)


def test_another_archive_gives_other_pseudonyms(full: ArchiveStore, tmp_path: Path) -> None:
    with ArchiveStore.open(str(tmp_path / "other.db"), create=True) as other:
        import_bytes(other, LOG, [make_game(0)])
        share(other.path, tmp_path / "one.db", pseudonyms=True)
    share(full.path, tmp_path / "two.db", pseudonyms=True)
    with ArchiveStore.open(str(tmp_path / "one.db")) as one, ArchiveStore.open(str(tmp_path / "two.db")) as two:
        assert next(one.games()).white != next(two.games()).white


def test_redaction_takes_what_matches(full: ArchiveStore, target: Path) -> None:
    share(full.path, target, redact=["KIBITZES: .*", "cut$"])
    with ArchiveStore.open(str(target), read_only=True) as copy:
        assert next(copy.games()).events[1].text == "Ann(1500)[7] [redacted]"
        assert [found.message for _, found in copy.anomalies()] == ["Bob's line is [redacted]"]


def test_an_archive_that_cannot_be_shared_is_reported(full: ArchiveStore, path: Path, target: Path) -> None:
    with pytest.raises(StorageError, match="not a regular expression"):
        share(full.path, target, redact=["("])
    assert not target.exists()
    with pytest.raises(StorageError, match="exists already"):
        share(full.path, path)


@pytest.mark.parametrize("copy", [backup, share])
def test_a_copy_gets_its_name_when_it_is_complete(
    full: ArchiveStore, path: Path, target: Path, copy: Callable[[Path, Path], None]
) -> None:
    """A process that is killed while it copies has left nothing under the final name."""
    code = (
        "import os, sys; from pathlib import Path; from storage import files\n"
        "files.os.fsync = lambda number: os._exit(9)\n"
        f"from {copy.__module__} import {copy.__name__} as copy\n"
        "copy(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path), str(target)], check=False)
    assert done.returncode == 9
    assert not target.exists()
    copy(path, target)
    assert check(target) == []


def test_names_of_logs_hold_no_handles(archive: ArchiveStore, target: Path) -> None:
    for name in ("Ann-vs-Bob.log", "ann_2020.txt.gz", "GuestAnnX.icsj", "log.bob"):
        import_bytes(archive, name.encode(), [make_game(len(name))], name=name)
    share(archive.path, target, pseudonyms=True)
    with ArchiveStore.open(str(target), read_only=True) as copy:
        names = [row.name for row in copy.sources()]
        assert check(copy.path) == []
    assert len(set(names)) == 4
    assert all(re.fullmatch("L[0-9a-f]{12}", name) for name in names)


@pytest.mark.parametrize("handle", ["log", "Log", "sha256", "start", "chess", "pgn"])
def test_a_handle_that_is_a_word_of_this_program_can_be_shared(
    archive: ArchiveStore, target: Path, handle: str
) -> None:
    import_bytes(archive, b"x", [make_game(0, white=Player(handle))], name="x.log")
    share(archive.path, target, pseudonyms=True)
    assert check(target) == []


def test_every_text_column_is_known_to_the_pseudonyms() -> None:
    """A new column must be entered in one of the lists."""
    excluded = {"source_shapes.shape", "sources.path", "players.handle_folded"}
    texts = {
        f"{table.name}.{column.name}"
        for table in metadata.tables.values()
        for column in table.columns
        if column.type.__visit_name__ in ("text", "JSON")
    }
    known = {*_HANDLES, *_TEXTS, *_WORDING, *_PLAIN, "events.detail"} | excluded
    assert texts <= known
    assert not {*_HANDLES, *_TEXTS} & _PLAIN
    assert not {*_WORDING} & _PLAIN


def test_a_share_has_only_what_is_part_of_an_archive(full: ArchiveStore, path: Path, target: Path) -> None:
    connection = open_sqlite(path)
    connection.execute("CREATE TABLE mine (a)")
    connection.execute("CREATE VIEW v_mine AS SELECT a FROM mine")
    connection.execute("CREATE TRIGGER spy BEFORE DELETE ON events BEGIN INSERT INTO mine VALUES (old.text); END")
    connection.close()
    share(full.path, target, pseudonyms=True)
    assert check(target) == []
    assert b"psst" not in everything(target)
    assert b"secret" not in everything(target).replace(b"pseudonym-secret", b"")


def test_pseudonyms_make_ratings_and_times_coarse(archive: ArchiveStore, tmp_path: Path) -> None:
    players = {
        "white": Player("Ann", "1467P", 1467, "(GM)(C)"),
        "black": Player("Bob", "++++", None, "(U)"),
    }
    import_bytes(archive, LOG, [make_game(0, **players), make_game(1, **players)])
    games = {}
    for exact in (False, True):
        share(archive.path, tmp_path / f"{exact}.db", pseudonyms=True, exact=exact)
        with ArchiveStore.open(str(tmp_path / f"{exact}.db"), read_only=True) as copy:
            assert check(copy.path) == []
            games[exact] = list(copy.games(EVERYTHING))
    (own, second), (kept, _) = games[False], games[True]
    assert [(side.rating, side.rating_text, side.titles) for side in (own.white, own.black)] == [
        (1500, "1500", "(C)"),
        (None, "++++", "(U)"),
    ]
    assert (own.started_at_ms, own.ended_at_ms, own.date_text, own.time_basis) == (
        None,
        None,
        "2020-05-01",
        TimeBasis.CLOCK,
    )
    assert (kept.white.rating_text, kept.white.titles, kept.started_at_ms) == ("1467P", "(GM)(C)", MAY_2020)
    for game, original in zip((own, second), archive.games(EVERYTHING), strict=True):
        begun = original.observations[0].started_at_ms
        assert begun is not None
        assert [ply.at_ms for ply in game.plies] == [(ply.at_ms or 0) - begun for ply in original.plies]
        assert [ply.white_clock_ms for ply in game.plies] == [ply.white_clock_ms for ply in original.plies]


NAMES = [
    *("Zorblax, Magnus", "van der Kvorq", "Müller", "Mu\u0308ller-Weiß", "Жорблакс", "王小明", "김철수", "Ольга\u0301"),
    *("A-B", "Name", "Name-Other", "Black", "mate", "e4", "White", "blitz", "Sicilian", "O'Qorb", "Q_orb", "🦊🦊"),
    *("प्रिया", "x.y,z", "LOUDER"),
]
PLACES = [
    *("{}", "x {} y", "({})", "{}'s game", "https://example.org/@/{}/games?u={}", "{}-{}", "/home/{}/a_{}.pgn", "«{}»"),
    *("{}:{}", "1. {} {} 2. {}", "a\n{}\nb"),
]


@pytest.mark.parametrize("with_text", [False, True])
def test_no_handle_is_left_wherever_it_occurs(archive: ArchiveStore, tmp_path: Path, with_text: bool) -> None:
    """Whatever the alphabet, the case and the form of its letters; the longest name counts."""
    texts = []
    for name in NAMES:
        forms = [name, name.upper(), name.lower(), *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))]
        texts += [place.replace("{}", form) for place in PLACES for form in forms]
        texts.append(f"https://example.org/{quote(name)}")
    start = make_game().observations[0].offset
    events = [
        GameEvent(n, EventKind.TAG, "Event", 0, None, None, text, None, None, None, start)
        for n, text in enumerate(texts)
    ]
    games = []
    for number, (name, text) in enumerate(zip(NAMES, texts, strict=False)):
        seen = make_game(number).observations[0]
        seen.white = name
        seen.events = events if number == 0 else []
        player = Player(name)
        games.append(make_game(number, white=player, reason=text, me=name, observations=[seen]))
    report = SourceReport("raw", anomalies=[Anomaly(AnomalyKind.MALFORMED, 3, None, text, text) for text in texts])
    import_bytes(archive, LOG, games, report=report)
    share(archive.path, tmp_path / "copy.db", pseudonyms=True, with_text=with_text)
    with closing(open_sqlite(tmp_path / "copy.db", read_only=True)) as copy:
        stored = [
            text
            for column in (
                "games.reason",
                "events.text",
                "anomalies.message",
                "games.white",
                "sources.name",
                "games.me",
            )
            for (text,) in copy.execute(f"SELECT {column} FROM {column.partition('.')[0]}")
            if text
        ]
    assert len(stored) > (2 * len(texts) if with_text else len(texts))
    for name in NAMES:
        word = re.escape(unicodedata.normalize("NFC", name).casefold())
        found = re.compile(rf"(?<![^\W_]){word}(?![^\W_])" if name.isascii() else word)
        for text in stored:
            assert not found.search(unicodedata.normalize("NFC", text).casefold()), (name, text)


def test_words_of_chess_stay_though_a_player_is_called_so(archive: ArchiveStore, tmp_path: Path) -> None:
    players = {"white": Player("e4"), "black": Player("Sicilian"), "category": "blitz", "variant": "crazyhouse"}
    others = {"white": Player("blitz"), "black": Player("crazyhouse"), "category": "zorblax cup"}
    import_bytes(archive, LOG, [make_game(0, **players), make_game(1, **others), make_game(2, white=Player("Zorblax"))])
    share(archive.path, tmp_path / "copy.db", pseudonyms=True)
    with ArchiveStore.open(str(tmp_path / "copy.db"), read_only=True) as copy:
        games = list(copy.games(EVERYTHING))
    assert [ply.san for ply in games[0].plies] == ["e4", "Nf6"]
    assert (games[0].category, games[0].variant) == ("blitz", "crazyhouse")
    assert games[1].category == f"{games[2].white.handle} cup", "a word that no server prints"


def test_a_copy_in_which_a_handle_is_left_is_not_written(
    full: ArchiveStore, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "_TEXTS", tuple(place for place in _TEXTS if place != "anomalies.message"))
    with pytest.raises(StorageError, match=r"1 value of anomalies\.message would contain a handle"):
        share(full.path, target, pseudonyms=True)
    assert list(target.parent.glob("copy*")) == []


def test_chat_is_excluded_on_request(full: ArchiveStore, target: Path) -> None:
    share(full.path, target, chat="none")
    with ArchiveStore.open(str(target), read_only=True) as copy:
        assert {event.kind for game in copy.games() for event in game.events} == {EventKind.TAKEBACK}


@pytest.mark.parametrize("after", long_after(1, (12, 0, 4, 8, 16, 20)))
def test_a_killed_share_leaves_nothing_that_is_not_for_others(
    full: ArchiveStore, path: Path, target: Path, after: int
) -> None:
    """Whatever it has written so far is free of handles."""
    code = (
        "import os, sys; from pathlib import Path; from storage.maintenance import share as one\n"
        "class Tables(list):\n"
        "    def __iter__(self):\n"
        "        for number, table in enumerate(list.__iter__(self)):\n"
        f"            if number == {after}: driver[0].execute('COMMIT'); os._exit(9)\n"
        "            yield table\n"
        "driver = []\n"
        "class Metadata: sorted_tables = Tables(one.metadata.sorted_tables)\n"
        "one.metadata, begin = Metadata, one._Copying.__init__\n"
        "def note(self, original, copy, rewrites): driver.append(copy); begin(self, original, copy, rewrites)\n"
        "one._Copying.__init__ = note\n"
        "one.share(Path(sys.argv[1]), Path(sys.argv[2]), pseudonyms=True)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path), str(target)], check=False)
    assert done.returncode == (9 if after < len(metadata.sorted_tables) else 0)
    left = b"".join(everything(file) for file in target.parent.glob("copy*"))
    assert left
    for word in (b"Ann", b"Bob", b"psst", b"hunter2", b"secret"):
        assert word not in left.replace(b"pseudonym-secret", b"")
