"""``forget HANDLE``: after erasing a player, the archive equals one that never contained the player."""

import gzip
import sqlite3
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recorder.archive.following.follower import Follower
from recorder.archive.reading.importing import ReadOptions
from recorder.errors import ExitCode
from recorder.journal.writer import JournalWriter, Sync
from recorder.model import is_forgotten
from recorder.sources import SourceKind
from recorder.sources.redaction import Forgotten, Redactor, hash_handle, is_handle
from storage import ArchiveStore
from tests.cli.test_merging import state
from tests.edge_cases.scripts import Table
from tests.support.cli import ADJOURNED, GUESTS, SERVER, WATCHER, Cli
from tests.support.corpus import Stream, scenarios, stream_bytes, streams
from tests.support.effort import long_after, representative_first
from tests.support.icc import dg, sent_moves, started

STREAMS = [stream for scenario in scenarios() for stream in streams(scenario)][::28]


def contents(cli: Cli) -> dict[str, Any]:
    """Like ``state``, without the shapes of unrecognised lines."""
    found = state(cli)
    for row in found["sources"].values():
        row["report"].shapes = None
        row["unfinished"] = row["unfinished"] is not None  # forgetting a player changes the mark
    return found


def handles_in(cli: Cli) -> list[str]:
    found = {
        game[side]["handle"]
        for game in cli.json("games", "--include", "examined,setup,empty", "--json")
        for side in SIDES
    }
    return sorted(handle for handle in found if is_handle(handle))


SIDES = ("white", "black")


def test_a_game_of_several_logs_counts_once(cli: Cli) -> None:
    cli("import", *(SERVER / "x03_zippy_engines").glob("xboard_*.debug.gz"))
    assert len(cli.json("games", "--player", "Judit", "--include", "examined,setup,empty", "--json")) == 2
    assert "2 games, " in cli("forget", "--dry-run", "Judit").stderr


@pytest.mark.parametrize("stream", representative_first(STREAMS))
def test_erasing_before_or_after_the_import_or_a_rebuild_is_the_same(stream: Stream, tmp_path: Path) -> None:
    first, second = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second"))
    log = tmp_path / "log"
    data = stream_bytes(stream.scenario, stream.connection)
    log.write_bytes(data)
    first("import", "--chat", "all", log)
    handles = handles_in(first)
    for handle in [*handles[:2], stream.login]:
        if not is_handle(handle):
            continue
        first("forget", "--yes", handle)
        second("forget", "--yes", handle)
    second("import", "--chat", "all", log)
    wanted = contents(second)
    assert contents(first) == wanted
    assert "0 findings" in first("verify").stderr
    for cli in (first, second):
        cli("db", "rebuild", "--no-backup")
        assert contents(cli) == wanted


def raw(cli: Cli) -> bytes:
    """Return all bytes of the archive on the disk."""
    return b"".join(path.read_bytes() for path in cli.archive.parent.glob(f"{cli.archive.name}*"))


CHATTY = (
    b"fics% \n\r{Game 7 (Ann vs. Bob) Creating rated blitz match.}\n\r"
    b"<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 7 Ann Bob 0 3 0"
    b" 39 39 180 180 1 none (0:00) none 0 0 0\n\r"
    b"Carl(1500)[7] kibitzes: my name is Carl and I live\n\r\\   in a red house\n\r"
    b"Ann(1600)[7] kibitzes: hello CARL, and Carla\n\r"
    b"<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B -1 1 1 1 1 0 7 Ann Bob 0 3 0"
    b" 39 39 180 180 1 P/e2-e4 (0:00) e4 0 0 0\n\r"
    b"{Game 7 (Ann vs. Bob) Bob resigns} 1-0\n\r"
)


def test_games_of_others_lose_only_the_chat_of_the_player(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.raw"
    log.write_bytes(CHATTY)
    cli("import", log)
    messages = cli("forget", "--yes", "carl").stderr.splitlines()
    assert messages == [
        "0 games, 1 line of chat and the handle in 1 text erased.",
        "Replaced in the kept bytes of 1 log: session.raw.",
        f"{log} still contains the handle.",
    ]
    pgn = cli("export", "pgn", "--comments").stdout
    assert "hello X___, and Carla" in pgn
    assert "1-0" in pgn
    for word in (b"Carl ", b"CARL", b"red house", b"Carl("):
        assert word not in raw(cli)
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        (row,) = archive.sources()
        kept = b"".join(archive.read_source(row.id))
    assert len(kept) == len(CHATTY)
    assert b"X___(1500)[7] kibitzes: ** **** ** **** *** * ****\n\r\\   ** * *** *****\n\r" in kept
    assert kept.replace(b"X___", b"Carl")[:200] == CHATTY[:200]


def test_nothing_of_a_player_is_left_in_the_file(filled: Cli) -> None:
    """The free pages of the database do not contain the handle either."""
    assert b"Carlsen" in raw(filled)
    filled("forget", "--yes", "Carlsen")
    assert b"carlsen" not in raw(filled).lower()
    filled("db", "check")


def test_a_dry_run_of_forget_changes_nothing(filled: Cli) -> None:
    before = state(filled)
    assert "1 game, 0 lines of chat and the handle in 0 texts would be erased." in (
        filled("forget", "-n", "Carlsen").stderr
    )
    assert state(filled) == before
    with ArchiveStore.open(str(filled.archive), read_only=True) as archive:
        assert archive.erasures.forgotten_handles() == []


def test_a_handle_that_nothing_has_is_reported(filled: Cli) -> None:
    for words in (("-n",), ("--yes",)):
        assert "check its spelling" in filled("forget", "Mrphy", *words).stderr


def test_no_player_is_erased_without_confirmation(filled: Cli) -> None:
    assert "Confirmation needs a terminal; give --yes" in filled("forget", "Carlsen", code=ExitCode.USAGE).stderr
    assert len(filled.json("games", "--json")) == 6


def test_a_read_only_archive_is_reported_before_the_question(filled: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled.archive.parent
    monkeypatch.setattr("os.access", lambda file, _mode: Path(file) != folder)
    assert "or its folder is read-only" in filled("forget", "Carlsen", code=ExitCode.ARCHIVE).stderr


@pytest.mark.parametrize("word", ["game", "White", "rated", "e4", "Nf3", "rnbqkbnr", "Jan", "a", "x y", "Ann_", "*"])
def test_words_that_lines_are_made_of_are_refused(filled: Cli, word: str) -> None:
    assert "cannot be erased" in filled("forget", "--yes", "--", word, code=ExitCode.USAGE).stderr


def test_undo_lets_a_player_come_back(filled: Cli) -> None:
    def games_of_a_new_import() -> int:
        (ident,) = (row["id"] for row in filled.json("sources", "--json") if row["name"] == ADJOURNED.name)
        filled("sources", "forget", ident)
        return int(filled.json("import", "--json", ADJOURNED)[0]["games"])

    filled("forget", "--yes", "Carlsen")
    assert games_of_a_new_import() == 0
    filled("forget", "--undo", "CARLSEN")
    assert "is not an erased player" in filled("forget", "--undo", "Carlsen", code=ExitCode.ARCHIVE).stderr
    assert games_of_a_new_import() == 1


def test_undo_applies_to_all_given_players_or_none(cli: Cli) -> None:
    """It cannot be combined with --dry-run."""
    cli("forget", "--yes", "Ann", "Bob")
    assert (
        "--undo cannot be combined with --dry-run." in cli("forget", "--undo", "-n", "Ann", code=ExitCode.USAGE).stderr
    )
    assert "Cyd is not an erased player" in cli("forget", "--undo", "Ann", "Cyd", code=ExitCode.ARCHIVE).stderr
    cli("forget", "--undo", "Ann", "ANN", "Bob")
    assert "is not an erased player" in cli("forget", "--undo", "Bob", code=ExitCode.ARCHIVE).stderr


def test_after_undo_the_same_logs_bring_the_player_back(cli: Cli, tmp_path: Path) -> None:
    """The kept bytes of the logs contain the handle again."""
    log, other = tmp_path / "session.raw", tmp_path / "other.raw"
    log.write_bytes(CHATTY)
    other.write_bytes(CHATTY.replace(b"Ann", b"Fay").replace(b"Bob", b"Gus").replace(b"Carl", b"Hal"))
    cli("import", log, other)
    before = state(cli)
    cli("forget", "--yes", "Ann")
    assert len(cli.json("games", "--json")) == 1
    assert [row["status"] for row in cli.json("import", "--json", log, other)] == ["known", "known"]
    cli("forget", "--undo", "Ann")
    output = cli("verify", code=ExitCode.FINDINGS).stdout
    assert output.count("A player who is excluded from it is no longer erased: import it again.") == 1
    rows = {Path(row["name"]).name: row["status"] for row in cli.json("import", "--json", log, other)}
    assert rows == {"session.raw": "replaced", "other.raw": "known"}
    assert state(cli) == before
    assert "0 findings" in cli("verify").stderr


def test_after_undo_a_log_that_was_missing_is_reread(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.raw"
    log.write_bytes(CHATTY)
    cli("import", "--no-keep-source", log)
    cli("forget", "--yes", "Bob")
    moved = log.rename(tmp_path / "moved.raw")
    cli("forget", "--undo", "Bob")
    assert cli.json("import", "--json", moved)[0]["games"] == 1


@pytest.mark.parametrize("there", long_after(1, [False, True]))
def test_after_undo_a_rebuild_loses_no_player(cli: Cli, tmp_path: Path, there: bool) -> None:
    """A log that is in its place is read again; of a missing log the bytes without the player stay until it returns."""
    log, other = tmp_path / "session.raw", Cli(tmp_path / "other.sqlite")
    log.write_bytes(CHATTY)
    for one, words in ((cli, []), (other, ["--no-keep-source"])):
        one("import", *words, log)
    before = state(cli)
    cli("forget", "--yes", "Ann")
    cli("forget", "--undo", "Ann")
    place = log if there else log.rename(tmp_path / "away.raw")
    if not there:  # games whose bytes are missing do not replace kept bytes without these games
        assert "already in the archive" in cli("import", other.archive).stdout
    cli("db", "rebuild", "--no-backup")
    assert (state(cli) == before) is there
    place.rename(log)
    cli("import", log)
    assert state(cli) == before


def test_after_undo_an_older_copy_is_still_known(cli: Cli, tmp_path: Path) -> None:
    """It is imported before the log that is read again for the player."""
    log, copy = tmp_path / "b.raw", tmp_path / "a.raw"
    log.write_bytes(WATCHER.read_bytes())
    cli("import", log)
    cli("forget", "--yes", "Morphy")
    cli("forget", "--undo", "Morphy")
    copy.write_bytes(WATCHER.read_bytes()[:15_000])
    assert [row["status"] for row in cli.json("import", "--json", copy, log)] == ["known", "replaced"]
    assert len(cli.json("games", "--json")) == 5


def test_the_new_place_of_a_log_is_not_stored_if_it_contains_the_handle(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.raw"
    log.write_bytes(CHATTY)
    cli("import", log)
    cli("forget", "--yes", "Carl")
    (folder := tmp_path / "Carl").mkdir()
    assert cli.json("import", "--json", log.rename(folder / log.name))[0]["status"] == "known"
    assert [row["path"] for row in cli.json("sources", "--json")] == [str(log)]


def test_the_stored_name_of_a_log_does_not_contain_the_handle(cli: Cli, tmp_path: Path) -> None:
    """The stored path does not either, whether the log was imported before or after, or was forgotten itself."""
    (folder := tmp_path / "Carl").mkdir()
    first, second, third = (folder / f"{word}-carl.2010.raw" for word in ("1", "2", "3"))
    for number, log in enumerate((first, second, third)):
        log.write_bytes(CHATTY.replace(b"Game 7", b"Game %d" % number).replace(b"Carl", b"Bert"))
    cli("import", first, third)
    gone = next(row["id"] for row in cli.json("sources", "--json") if row["name"] == third.name)
    cli("sources", "forget", gone)
    message = cli("forget", "--yes", "Carl").stderr
    assert f"{first} still contains the handle." in message
    cli("import", second)
    rows = cli.json("sources", "--json")
    assert [row["name"] for row in rows] == ["1-X___.2010.raw", "2-X___.2010.raw"]
    assert [row["path"] for row in rows] == [None, None]
    assert b"carl" not in raw(cli).lower()
    assert "0 findings" in cli("verify").stderr


@pytest.mark.long
def test_a_log_in_which_a_handle_cannot_be_replaced_is_not_kept(cli: Cli, tmp_path: Path) -> None:
    """A control character of a terminal cuts the handle in two."""
    log = tmp_path / "session.raw"
    log.write_bytes(CHATTY + b"Bob says: Ca\x07rl was here\n\r")
    cli("import", log)
    assert cli("forget", "--yes", "Carl").stderr.splitlines()[1] == "No longer stored: 1 log: session.raw."
    (row,) = cli.json("sources", "--json")
    assert not row["kept"]
    other = Cli(tmp_path / "other.sqlite")
    other("forget", "--yes", "Carl")
    other("import", log)
    assert not other.json("sources", "--json")[0]["kept"]
    assert contents(cli) == contents(other)
    cli("db", "rebuild", "--no-backup")
    assert contents(cli) == contents(other)


@pytest.mark.parametrize("how", ["import", "follow", "forget meanwhile"])
def test_a_log_that_is_no_longer_kept_stays_so_when_it_grows(cli: Cli, tmp_path: Path, how: str) -> None:
    log = tmp_path / "session.raw"
    log.write_bytes(CHATTY + b"Bob says: Ca\x07rl was here\n\r")
    cli("import", log)
    updater = Follower(str(cli.archive), log, ReadOptions())
    if how == "forget meanwhile":
        log.write_bytes(CHATTY)
        updater.look()
    cli("forget", "--yes", "Carl")
    with log.open("ab") as file:
        file.write(b"Bob says: Ca\x07rl went\n\rfics% \n\r" if how == "forget meanwhile" else b"fics% \n\rfics% \n\r")
    if how == "import":
        cli("import", log)
    else:
        updater.look(settle=True)
        assert updater.finish(), updater.problem
    assert not cli.json("sources", "--json")[0]["kept"]
    with closing(sqlite3.connect(cli.archive)) as db:
        assert db.execute("SELECT count(*) FROM source_chunks").fetchone() == (0,)


@pytest.mark.parametrize("how", ["import", "follow"])
def test_bytes_that_no_source_needs_are_deleted(cli: Cli, tmp_path: Path, how: str) -> None:
    log = tmp_path / "session.raw"
    log.write_bytes(CHATTY)
    cli("import", log)
    with log.open("ab") as file:
        file.write(b"fics% half a li")
    if how == "import":
        cli("import", "--no-keep-source", log)
    else:
        updater = Follower(str(cli.archive), log, ReadOptions(), keep=False)
        updater.look(settle=True)
        updater.close()
    cli("db", "check")
    with closing(sqlite3.connect(cli.archive)) as db:
        assert db.execute("SELECT count(*) FROM source_chunks").fetchone() == (0,)
        assert db.execute("SELECT kept_bytes FROM sources").fetchone() == (0,)


@pytest.mark.long
def test_journals_are_read_without_the_player_and_named(cli: Cli, tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "journals", host="h", port=1, role="record", sync=Sync.OS)
    data = gzip.decompress(GUESTS.read_bytes())
    for begin in range(0, 60_000, 777):  # lines and handles are cut anywhere
        writer.received(data[begin : begin + 777])
    cli("import", tmp_path / "journals")
    message = cli("forget", "--yes", "Morphy").stderr
    assert f"{writer.path} still contains the handle." in message
    other = Cli(tmp_path / "other.sqlite")
    other("forget", "--yes", "Morphy")
    other("import", tmp_path / "journals")
    assert contents(cli) == contents(other)
    for begin in range(60_000, len(data), 777):
        writer.received(data[begin : begin + 777])
    writer.close()
    for one in (cli, other):
        one("import", tmp_path / "journals")
    assert contents(cli) == contents(other)
    assert "Morphy" not in handles_in(cli)
    cli("db", "rebuild", "--no-backup")
    assert contents(cli) == contents(other)


@pytest.mark.long
def test_a_merge_excludes_players_whom_either_archive_has_erased(tmp_path: Path) -> None:
    first, second, new = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second", "new"))
    grown = tmp_path / WATCHER.name
    grown.write_bytes(WATCHER.read_bytes()[:15_000])
    first("import", grown, ADJOURNED)
    grown.write_bytes(WATCHER.read_bytes())
    second("import", grown)
    first("forget", "--yes", "Morphy")
    second("forget", "--yes", "Carlsen")
    new("forget", "--yes", "Morphy", "Carlsen")
    new("import", grown, ADJOURNED)
    saved = tmp_path / "saved.sqlite"
    first("db", "backup", saved)
    wanted = contents(new)
    first("import", second.archive)
    assert contents(first) == wanted
    second("import", saved)
    assert contents(second) == wanted
    assert "2 known" in first("import", grown, ADJOURNED).stdout


def test_an_older_copy_of_a_log_is_known_though_a_handle_was_replaced(filled: Cli, tmp_path: Path) -> None:
    filled("forget", "--yes", "Morphy")
    copy = tmp_path / "older.raw"
    for size in (6_000, 15_000):
        copy.write_bytes(WATCHER.read_bytes()[:size])
        assert f"an earlier part of {WATCHER.name}" in filled("import", copy).stdout


def test_a_share_does_not_contain_the_erased_handles(filled: Cli, tmp_path: Path) -> None:
    filled("forget", "--yes", "Carlsen")
    filled("db", "share", "-o", tmp_path / "shared.sqlite")
    with ArchiveStore.open(str(tmp_path / "shared.sqlite"), read_only=True) as archive:
        assert archive.erasures.forgotten_handles() == []


@pytest.mark.parametrize("journal", long_after(1, [False, True]))
def test_a_process_that_follows_a_log_excludes_the_player_at_once(cli: Cli, tmp_path: Path, journal: bool) -> None:
    """This includes the game in progress."""
    data, begin = WATCHER.read_bytes(), 3_000
    log = tmp_path / "session.raw"
    writer = JournalWriter(tmp_path / "journals", host="h", port=1, role="record", sync=Sync.OS) if journal else None

    def more(end: int) -> None:
        nonlocal begin
        if writer is not None:
            writer.received(data[begin:end])
        else:
            with log.open("ab") as file:
                file.write(data[begin:end])
        begin = end

    more(7_000)
    path = log if writer is None else writer.path
    updater = Follower(str(cli.archive), path, ReadOptions())
    updater.look(settle=True)
    for end in range(7_200, 8_000, 200):
        more(end)
        updater.look()
    handle = handles_in(cli)[0]
    cli("forget", "--yes", handle)
    assert handle not in handles_in(cli)
    while begin < len(data):
        more(begin + 700)
        updater.look()
        assert updater.problem is None
        assert handle not in handles_in(cli)
    updater.finish()
    updater.close()
    cli("db", "check")
    if writer is not None:
        writer.close()
        cli("import", path)
    other = Cli(tmp_path / "other.sqlite")
    other("forget", "--yes", handle)
    other("import", path)
    assert contents(cli) == contents(other)


def test_following_excludes_an_examined_game_that_changes_its_names(cli: Cli, tmp_path: Path) -> None:
    """Its names are those of the last board of its main line; a later set-up position has others."""
    data = stream_bytes("b05_examine_bsetup", "observer_GuestXl")
    cli("forget", "--yes", "Kramnik", "Topalov")
    log = tmp_path / "log"
    log.write_bytes(b"")
    updater = Follower(str(cli.archive), log, ReadOptions())
    for begin in range(0, len(data), 997):
        with log.open("ab") as file:
            file.write(data[begin : begin + 997])
        updater.look()
        assert not any(is_forgotten(handle) for handle in every_handle_in(cli))
    updater.finish()
    updater.close()
    assert not any(is_forgotten(handle) for handle in every_handle_in(cli))


def every_handle_in(cli: Cli) -> list[str]:
    games = cli.json("games", "--include", "examined,setup,empty", "--json")
    return [game[side]["handle"] for game in games for side in SIDES]


def test_a_merge_reports_how_many_own_games_it_removes(tmp_path: Path) -> None:
    first, second = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second"))
    first("import", WATCHER, ADJOURNED)
    second("import", WATCHER)
    second("forget", "--yes", "Morphy", "Carlsen")
    before = len(first.json("games", "--json"))
    dry_run = first("import", "-n", second.archive).stdout
    about = f"{second.archive} has erased 2 players; only hashes of erased handles are stored. "
    with ArchiveStore.open(str(first.archive), read_only=True) as archive:
        gone = sum({"Morphy", "Carlsen"} & {game.white.handle, game.black.handle} != set() for game in archive.games())
    assert gone > 1
    assert f"{about}{gone} games of these players would be removed from this archive.\n" in dry_run
    found = first.json("import", "-n", "--json", second.archive)[-1]
    assert found == {"name": str(second.archive), "status": "players", "players": 2, "games_taken_out": gone}
    assert (
        f"{about}{gone} games of these players were removed from this archive.\n"
        in first("import", second.archive).stdout
    )
    assert before - len(first.json("games", "--json")) == gone
    assert "players" not in first("import", second.archive).stdout  # this archive has erased them as well by now


def test_forget_prints_json(filled: Cli) -> None:
    found = filled.json("forget", "-n", "--json", "Carlsen")
    assert (found["dry_run"], found["games"], found["chat_lines"], found["texts"]) == (True, 1, 0, 0)
    found = filled.json("forget", "--yes", "--json", "Carlsen")
    assert (found["dry_run"], found["games"], found["no_longer_kept"]) == (False, 1, [])
    assert found["replaced_in"]
    assert [Path(name).name for name in found["still_in"]] == [Path(name).name for name in found["replaced_in"]]
    assert found["older_archives"] == []
    assert filled.json("forget", "--undo", "--json", "Carlsen") == {"recalled": ["Carlsen"]}


def test_a_merge_counts_no_game_of_a_forgotten_player(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.raw"
    log.write_bytes(CHATTY)
    other = Cli(tmp_path / "other.sqlite")
    other("import", log)
    players = {game[side]["handle"] for game in other.json("games", "--json") for side in SIDES}
    cli("forget", "--yes", *sorted(players))
    (row,) = cli.json("import", "--json", other.archive)
    assert row["games"] == len(cli.json("games", "--include", "empty", "--json")) == 0


def words_of_another() -> str:
    table = Table()
    data = (
        f"{table.frame()}\r\n{table.play('e4')}\r\nZorro(GM)[7] kibitzes: hi there\r\nfics% \r\n{table.play('e5')}\r\n"
    )
    return f"{data}<b1> game 7 white [] black []\r\n{{Game 7 (Ann vs. Bob) Bob resigns}} 1-0\r\nfics% \r\n"


def datagrams_of_another() -> str:
    data = f"aics% \r\n{dg(0, 'Ann {}')}{started()}{dg(43, '7 PW')}{dg(101, '7 {} 0')}{sent_moves('e4 e2e4')}\r\n"
    data += dg(26, "7 Zorro {GM} 1 <hi there>") + dg(26, "7 Cyd {} 1 <hi Zorro>") + dg(20, "7 Zorro O 1")
    return (
        data + sent_moves("e5 e7e5") + dg(77, "7 {Zorro has left}") + dg(16, "7 0 Res 1-0 {Bob resigns} B50") + "\r\n"
    )


@pytest.mark.parametrize("log", [words_of_another, datagrams_of_another])
def test_a_player_who_only_chatted_leaves_no_trace(cli: Cli, tmp_path: Path, log: Callable[[], str]) -> None:
    """The state from which reading continues must not contain the handle either."""
    path = tmp_path / "a.log"
    path.write_text(log(), newline="")
    cli("import", path)
    cli("forget", "Zorro", "--yes")
    connection = sqlite3.connect(cli.archive)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    values = [value for name in tables for row in connection.execute(f'SELECT * FROM "{name}"') for value in row]
    connection.close()
    assert [value for value in values if isinstance(value, str) and "zorro" in value.lower()] == []
    assert "0 findings" in cli("verify").stderr


NAMES = Path(__file__).parents[1] / "corpus" / "names" / "names-in-texts.pgn"


def saved(name: str, *, encoding: str = "utf-8", wrapped: bool = False) -> bytes:
    """Two games: one of the player, one of others with the name in its texts, in several places and forms."""
    gap = "\n" if wrapped else " "
    text = name.replace(" ", gap) if wrapped else name
    return (
        f'[Event "Open"]\n[White "{name}"]\n[Black "Third"]\n[Result "1-0"]\n\n1. e4 {{ first }} e5 1-0\n\n'
        f'[Event "{name} memorial"]\n[White "Fourth"]\n[Black "Fifth"]\n[Result "0-1"]\n[Annotator "{name.upper()}"]\n'
        f'[Note "{name}-Other, Other-{name}/{name}"]\n[Link "https://example.org/@/{name}/1"]\n\n'
        f"1. d4 {{ as {text}{gap}played }} d5 (1... Nf6 {{ {name.lower()}'s move }}) 2. c4 0-1\n"
    ).encode(encoding)


@pytest.mark.parametrize(
    ("name", "encoding", "wrapped"),
    long_after(
        4,
        [
            ("Zorblax, Magnus", "utf-8", True),
            ("Müller, Jörg", "latin-1", False),
            ("王小明", "utf-8", False),
            ("O'Qorb-Zed", "utf-8", False),
            ("Zorblax, Magnus", "utf-8", False),
            ("Kvorqbert", "utf-8", False),
            ("van der Kvorq", "utf-8", True),
            ("Müller, Jörg", "utf-8", False),
            ("Жорблакс", "utf-8", False),
            ("Mu\u0308ller", "utf-8", False),
            (unicodedata.normalize("NFD", "김철수"), "utf-8", False),
        ],
    ),
)
def test_a_player_of_saved_games_is_erased_whatever_the_name(
    cli: Cli, tmp_path: Path, name: str, encoding: str, wrapped: bool
) -> None:
    log = tmp_path / "saved.pgn"
    log.write_bytes(saved(name, encoding=encoding, wrapped=wrapped))
    cli("import", log)
    messages = cli("forget", "--yes", name.swapcase()).stderr
    assert messages.startswith("1 game, 0 lines of chat and the handle in ")
    assert "Replaced in the kept bytes of 1 log: saved.pgn." in messages
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        (row,) = archive.sources()
        kept = b"".join(archive.read_source(row.id))
    assert len(kept) == log.stat().st_size
    assert b'[White "X_' in kept
    assert b"1. e4 { first } e5 1-0\n" in kept
    texts = [kept.decode(encoding), cli("export", "pgn", "--comments", "--variations").stdout]
    texts.append(raw(cli).decode("utf-8", "replace"))
    for text in texts:
        for form in (name, name.replace(" ", "\n"), name.upper(), name.lower()):
            assert form not in text
    assert "played" in texts[1]
    assert [game["white"]["handle"] for game in cli.json("games", "--json")] == ["Fourth"]
    assert "0 findings" in cli("verify").stderr
    other = Cli(tmp_path / "other.sqlite")
    other("forget", "--yes", name)
    other("import", log)
    with ArchiveStore.open(str(other.archive), read_only=True) as archive:
        assert b"".join(archive.read_source(archive.sources()[0].id)) == kept
    assert other("games", "--json").stdout.count("Fourth") == 1
    cli("db", "rebuild", "--no-backup")
    assert [game["white"]["handle"] for game in cli.json("games", "--json")] == ["Fourth"]
    cli("forget", "--undo", name)
    assert cli.json("import", "--json", log)[0]["games"] == 2


def test_other_players_keep_their_names(cli: Cli, tmp_path: Path) -> None:
    """In saved games a player's name is compared as a whole; in a server's lines hyphens join one handle."""
    log, server = tmp_path / "saved.pgn", tmp_path / "server.raw"
    log.write_bytes(saved("Smith-Jones, Ann") + saved("Smith, Bob"))
    server.write_bytes(CHATTY.replace(b"Ann", b"Smith-Jones").replace(b"Carl", b"Smith"))
    cli("import", log, server)
    players = handles_in(cli)
    cli("forget", "--yes", "Smith")
    assert handles_in(cli) == players
    assert "Smith" not in cli("export", "pgn", "--comments", "--player", "Fourth").stdout
    assert "0 findings" in cli("verify").stderr


def test_a_name_is_found_wherever_blocks_end(cli: Cli) -> None:
    data = saved("Zorblax, Magnus", wrapped=True)
    forgotten = Forgotten([hash_handle("Zorblax, Magnus")])
    whole = b"".join(Redactor(forgotten, SourceKind.PGN).all([data]))
    for size in (1, 7, 50):
        cut = [data[at : at + size] for at in range(0, len(data), size)]
        assert b"".join(Redactor(forgotten, SourceKind.PGN).all(cut)) == whole
    assert len(whole) == len(data)


def test_names_in_tags_and_comments_are_erased(cli: Cli) -> None:
    cli("import", NAMES)
    cli("forget", "--yes", "Zorblax, Magnus", "Kvorqbert")
    found = raw(cli).decode("utf-8", "replace") + cli("export", "pgn", "--comments").stdout
    for name in ("Zorblax, Magnus", "Kvorqbert"):
        assert name not in found
    assert "Plimsollix" in found
