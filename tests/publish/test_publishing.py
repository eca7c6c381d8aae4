"""A shared database has the tables of the archive, after any change, and after a crash of either side."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from recorder import Archive, ExportError, Published
from recorder.archive.sharing import publishing
from tests.archive.test_following import STREAM, follow
from tests.support.cli import GUESTS, WATCHER, Cli
from tests.support.postgres import Server, running_server

from .conftest import OTHER_LOG, PAIR, analyse, assert_as_archive, of_database

pytestmark = pytest.mark.needs("postgres")

Compare = Callable[..., None]


def publish(cli: Cli, url: str, **how: object) -> Published:
    return Archive(cli.archive, read_only=True).publish(url, **how)  # type: ignore[arg-type]  # the options of publish


def versions(url: str) -> dict[str, tuple[int, str]]:
    """Of each game row its number and the transaction that wrote it, by its key and whether it is a merged one."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT key, source IS NULL, id, xmin::text FROM games").fetchall()
    return {f"{key} {merged}": (number, transaction) for key, merged, number, transaction in rows}


def test_what_is_published_is_what_the_archive_has(everything: Cli, url: str, assert_equal: Compare) -> None:
    answer = everything("publish", url)
    with Archive(everything.archive) as archive:
        games = archive._archive.count(_all_games())
    assert answer.stderr.startswith(f"Published. {games} games: {games} added, 0 changed, 0 deleted; copied ")
    assert answer.stderr.endswith("plies, 2 analyses.\n")
    assert answer.stdout == ""
    assert_equal()
    shared = of_database(url)
    assert [name for name in shared if not shared[name]] == [], "the archive has something of everything"
    assert "/home/ann" not in str(shared["analyses"])


def _all_games() -> object:
    from storage import GameFilter

    return GameFilter(kinds=frozenset(), min_plies=0)


@pytest.mark.long
def test_no_chat_is_published_if_that_is_wanted(everything: Cli, url: str, assert_equal: Compare) -> None:
    everything("publish", "--with-text", "none", url)
    assert "chat" not in str(of_database(url)["events"])
    assert_equal(chat=False)
    repeated = everything("publish", url).stderr
    assert repeated.splitlines()[-1] == "No chat is published, as before; --with-text public publishes it."
    everything("import", GUESTS)
    assert everything.json("publish", "--json", url)["with_text"] == "none"
    assert_equal(chat=False)
    found = everything.json("publish", "--json", "--with-text", "public", url)
    assert found["changed"] > 0
    assert found["with_text"] == "public"
    assert_equal()
    everything("publish", "--with-text", "none", url)
    assert_equal(chat=False)


def test_an_archive_that_has_not_changed_is_not_compared(everything: Cli, url: str) -> None:
    first = everything.json("publish", "--json", url)
    assert (first["unchanged"], first["dry_run"]) == (False, False)
    before = versions(url)
    repeated = everything.json("publish", "--json", url)
    assert repeated == first | {"unchanged": True, "added": 0, "plies": 0, "analyses": 0}
    games = first["games"]
    message = f"Nothing to publish: the archive of {games} games has not changed.\n"
    assert everything("publish", url).stderr == message
    assert versions(url) == before


def test_a_dry_run_changes_nothing(everything: Cli, url: str) -> None:
    message = everything("publish", "--dry-run", url).stderr
    assert message.endswith(" added, 0 changed, 0 deleted; nothing was published.\n")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('archives')").fetchone() == (None,)
    publish(everything, url)
    before = of_database(url)
    everything("import", OTHER_LOG)
    found = everything.json("publish", "--json", "-n", url)
    assert found["added"] > 0
    assert of_database(url) == before
    done = everything.json("publish", "--json", url)
    assert [done[name] for name in ("added", "changed", "deleted")] == [
        found[name] for name in ("added", "changed", "deleted")
    ]


def test_new_games_are_added_and_the_others_stay_as_they_are(everything: Cli, url: str, assert_equal: Compare) -> None:
    publish(everything, url)
    before = versions(url)
    everything("import", OTHER_LOG, GUESTS)
    found = publish(everything, url)
    assert found.added > 0
    assert (found.changed, found.deleted) == (0, 0)
    assert_equal()
    assert versions(url).items() > before.items()
    assert publish(everything, url).unchanged


@pytest.mark.long
def test_a_merge_is_noticed(cli: Cli, url: str) -> None:
    """Another source of known games: these are changed, and each counts once."""
    cli("import", PAIR[0])
    before = publish(cli, url)
    cli("import", PAIR[1])
    found = publish(cli, url)
    assert_as_archive(cli.archive, url)
    with psycopg.connect(url) as connection:
        (merged,) = connection.execute("SELECT count(*) FROM games WHERE source IS NULL").fetchone() or (0,)
    assert merged > 0
    assert found.changed > 0
    assert found.added - found.deleted == found.games - before.games, "the key of a game may be that of its new source"
    cli("sources", "forget", cli.json("sources", "--json")[0]["id"])
    publish(cli, url)
    assert_as_archive(cli.archive, url)


@pytest.mark.long
def test_a_forgotten_player_is_deleted_there(everything: Cli, url: str, assert_equal: Compare) -> None:
    publish(everything, url)
    with Archive(everything.archive) as archive:
        handle = archive["last"].white.handle
    assert handle in str(of_database(url))
    everything("forget", "--yes", handle)
    found = publish(everything, url)
    assert found.deleted > 0
    assert_equal()
    assert handle not in str(of_database(url))


@pytest.mark.long
def test_an_analysis_more_or_less_is_noticed(everything: Cli, url: str, assert_equal: Compare) -> None:
    publish(everything, url)
    analyse(everything.archive, "Other")
    assert publish(everything, url).analyses == 4
    assert {row[2] for row in of_database(url)["analyses"]} == {"Deep", "Other"}
    analyse(everything.archive, "Deep")  # the same positions once more
    before = of_database(url)["analyses"]
    publish(everything, url)
    assert of_database(url)["analyses"] == before
    assert_equal()


@pytest.mark.long
def test_a_rebuilt_archive_is_compared(everything: Cli, url: str, assert_equal: Compare) -> None:
    publish(everything, url)
    everything("db", "rebuild", "--no-backup")
    assert not publish(everything, url).unchanged
    assert_equal()


@pytest.mark.long
def test_a_log_that_has_grown(cli: Cli, url: str, tmp_path: Path) -> None:
    whole = WATCHER.read_bytes()
    log = tmp_path / "growing.raw"
    for part in (3, 2, 1):
        log.write_bytes(whole[: len(whole) // part])
        cli("import", log)
        assert not publish(cli, url).unchanged
        assert_as_archive(cli.archive, url)


@pytest.mark.long
def test_a_game_in_progress_is_there_as_it_is(cli: Cli, url: str, tmp_path: Path) -> None:
    log = tmp_path / "followed.raw"
    log.write_bytes(b"")
    following = follow(cli, log)
    for size in (len(STREAM) // 3, len(STREAM) // 2, len(STREAM)):
        log.write_bytes(STREAM[:size])
        following.look()
        assert not publish(cli, url).unchanged
        assert_as_archive(cli.archive, url)


def test_a_share_is_an_archive_of_its_own(everything: Cli, url: str, tmp_path: Path) -> None:
    publish(everything, url)
    shared, hidden = Cli(tmp_path / "shared.sqlite"), Cli(tmp_path / "hidden.sqlite")
    everything("db", "share", "-o", shared.archive)
    everything("db", "share", "--pseudonyms", "-o", hidden.archive)
    assert publish(shared, url).archive == publish(everything, url).archive
    found = publish(hidden, url)
    assert found.added == found.games
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM archives").fetchone() == (2,)


def test_a_nul_character_is_replaced(cli: Cli, url: str, tmp_path: Path) -> None:
    log = tmp_path / "game.pgn"
    log.write_bytes(b'[Event "?"]\n[White "An\0n"]\n[Black "Bob"]\n[Result "1-0"]\n\n1. e4 {so\0so} e5 1-0\n')
    cli("import", log)
    publish(cli, url)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT white FROM games").fetchall() == [("An\N{REPLACEMENT CHARACTER}n",)]
    cli("import", WATCHER)
    assert publish(cli, url).changed == 0


# --- interrupted

_KILLED = """
import os, signal, sys
from recorder import Archive
from recorder.archive.sharing import publishing
publishing.BATCH_PLIES = 300
into, count = publishing._into, 0
def killed(*how):
    global count
    count += 1
    if count == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return into(*how)
publishing._into = killed
Archive(sys.argv[1], read_only=True).publish(sys.argv[2])
"""


@pytest.mark.long_except("3")
@pytest.mark.parametrize("calls", [3, 14, 31])
def test_a_killed_publisher_is_continued(everything: Cli, url: str, assert_equal: Compare, calls: int) -> None:
    words = [sys.executable, "-c", _KILLED, str(everything.archive), url, str(calls)]
    assert subprocess.run(words).returncode == -9
    before = versions(url)
    assert (len(before) > 0) is (calls > 5)
    publish(everything, url)
    assert_equal()
    assert versions(url).items() >= before.items(), "what was copied is not copied again"
    assert publish(everything, url).unchanged


@pytest.mark.long
def test_a_killed_server_is_continued(everything: Cli, assert_equal: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_server() as own:
        url = own.new_database()
        into, count = publishing._into, 0

        def killing(*how: str) -> str:
            nonlocal count
            count += 1
            if count == 20:
                own.kill()
            return into(*how)

        with monkeypatch.context() as patch:
            patch.setattr(publishing, "BATCH_PLIES", 300)
            patch.setattr(publishing, "_into", killing)
            with pytest.raises(ExportError, match=r"^The shared database reports an error: "):
                publish(everything, url)
        with pytest.raises(ExportError, match=r"^The shared database cannot be reached: "):
            publish(everything, url)
        own.start()
        rows = sum(map(len, of_database(url).values()))
        assert rows > 0
        publish(everything, url)
        assert_as_archive(everything.archive, url)


def test_two_processes_do_not_publish_one_archive_at_once(
    everything: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = publish(everything, url).archive
    everything("import", OTHER_LOG)
    monkeypatch.setattr(publishing, "_LOCK_S", 1)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (archive,))
        answer = everything("publish", url, code=5)
    assert answer.stderr == "Error: Another process is publishing this archive: try again later.\n"
    assert publish(everything, url).added > 0


# --- several archives


def test_games_with_equal_keys_are_shown_once(cli: Cli, url: str, tmp_path: Path) -> None:
    first, second, both = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second", "both"))
    first("import", PAIR[0])
    second("import", PAIR[1])
    both("import", *PAIR)
    keys = {}
    for one in (first, second, both):
        publish(one, url)
        with Archive(one.archive) as archive:
            keys[one] = sorted(game.key for game in archive.games(include=["examined", "setup", "empty"]))
    with psycopg.connect(url) as connection:
        shown = [key for (key,) in connection.execute("SELECT key FROM v_games ORDER BY key").fetchall()]
        twice = "SELECT key, ply, count(*) FROM v_plies GROUP BY key, ply HAVING count(*) > 1"
        plies = connection.execute(twice).fetchall()
    assert shown == keys[both], "merged games are shown, and not the games that were merged"
    assert plies == []


def test_a_game_that_two_archives_have_is_shown_of_the_one_with_more_plies(cli: Cli, url: str, tmp_path: Path) -> None:
    part = tmp_path / "part.raw"
    part.write_bytes(WATCHER.read_bytes()[:20_000])
    short, whole = Cli(tmp_path / "short.sqlite"), Cli(tmp_path / "whole.sqlite")
    short("import", part)
    whole("import", WATCHER)
    publish(short, url)
    publish(whole, url)
    with Archive(whole.archive) as archive, psycopg.connect(url) as connection:
        shown = dict(connection.execute("SELECT key, plies FROM v_games").fetchall())
        assert shown == {game.key: len(game.plies) for game in archive.games(include=["examined", "setup", "empty"])}


# --- what is refused


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@localhost/chess",
        "postgresql://ann@localhost/chess?password=s3cret",
        "postgresql://localhost/chess?sslpassword=s3cret",
    ],
)
def test_a_url_with_a_password_is_refused(filled: Cli, url: str) -> None:
    answer = filled("publish", url, code=2)
    (message,) = [line for line in answer.stderr.splitlines() if line.startswith("Error:")]
    assert message == (
        "Error: A URL must not contain a password, because others can see it: give the password in PGPASSWORD, "
        "~/.pgpass or the service file."
    )
    assert "s3cret" not in answer.output
    with pytest.raises(ExportError) as refused:
        Archive(filled.archive).publish(url)
    assert "s3cret" not in str(refused.value)


def test_a_password_comes_from_the_environment(filled: Cli, server: Server, url: str) -> None:
    """The server asks this user for a password, which libpq takes from PGPASSWORD."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS writer")
        connection.execute("CREATE ROLE writer LOGIN PASSWORD 's3cret'")
        connection.execute("GRANT CREATE ON SCHEMA public TO writer")
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all writer scram-sha-256\n{before}")
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT pg_reload_conf()")
        own = url.replace("tester@", "writer@")
        deadline = time.monotonic() + 120
        while (answer := filled("publish", "-n", own, code=None)).exit_code == 0 and time.monotonic() < deadline:
            time.sleep(0.1)  # until the server has read the file
        assert answer.exit_code == 5
        assert answer.stderr.startswith("Error: The shared database cannot be reached: ")
        assert len(answer.stderr.splitlines()) == 1
        wrong = filled("publish", own, env={"PGPASSWORD": "wr0ng"}, code=5)
        assert "wr0ng" not in wrong.output
        assert filled("publish", own, env={"PGPASSWORD": "s3cret"}).stderr.startswith("Published. ")
    finally:
        rules.write_text(before)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT pg_reload_conf()")


def test_a_database_that_cannot_have_every_text_is_refused(filled: Cli, server: Server) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS latin")
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    answer = filled("publish", server.url("latin"), code=5)
    assert answer.stderr.startswith("Error: The database does not have the encoding UTF8: ")


def test_tables_of_others_are_left_alone(filled: Cli, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE games (mine text)")
        connection.execute("CREATE TABLE archives (mine text)")
    for words in ((), ("--dry-run",)):
        answer = filled("publish", url, *words, code=5)
        assert answer.stderr.startswith("Error: The schema public of the database ")
        assert " has a table archives of another program: publish into an empty database or schema" in answer.stderr
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert sorted(names) == [("archives",), ("games",)]


def test_another_schema_is_refused(filled: Cli, url: str) -> None:
    publish(filled, url)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE archives SET schema = '0006'")
    answer = filled("publish", url, code=5)
    assert answer.stderr.startswith("Error: The shared database has the schema 0006, and this program's is ")


def test_without_psycopg_the_extra_is_named(filled: Cli) -> None:
    code = "import sys; sys.modules['psycopg'] = None; from recorder.cli import main; main(sys.argv[1:])"
    words = [sys.executable, "-c", code, "publish", "postgresql:///chess"]
    env = {**os.environ, "ICS_RECORDER_DB": str(filled.archive)}
    answer = subprocess.run(words, capture_output=True, text=True, env=env)
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1] == "Error: PostgreSQL needs psycopg: pip install 'ics-recorder[postgres]'."
