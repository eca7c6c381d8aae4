"""``ics-recorder record`` as a separate process, with the scripted server."""

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from recorder.archive.recording.record_run import RecordRun
from recorder.cli import main
from recorder.errors import ExitCode
from storage import ArchiveStore
from tests.live.test_capture import ACCOUNTS, ANSWERS, BOARD, END, MOVE, PASSWORD, TABLE
from tests.support.live import in_loop, journalled, running
from tests.support.script import Fault, Hear, Say, Step
from tests.support.testserver import FICS, Dialogue, ScriptedServer

SCRIPT: list[Step] = [Hear(b"observe 12"), Say(BOARD), Say(MOVE), Say(END)]


def _words(server: ScriptedServer, tmp_path: Path, *more: object) -> list[object]:
    return [
        *("record", f"127.0.0.1:{server.port}", "--observe", "rated & blitz"),
        *("--journal-dir", tmp_path / "journals", "--db", tmp_path / "a.sqlite", *more),
    ]


@pytest.mark.long
@in_loop
async def test_games_go_into_journal_archive_and_pgn(tmp_path: Path) -> None:
    pgn = tmp_path / "games.pgn"
    async with (
        ScriptedServer(Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})) as server,
        running(*_words(server, tmp_path, "--guest", "--pgn", pgn)) as run,
    ):
        connection = await server.connection()
        await connection.done.wait()
        while not pgn.exists():  # it is still recording
            await asyncio.sleep(0.05)
        assert await run.end(signal.SIGTERM) == ExitCode.OK
        assert connection.lines[-1] == b"quit"
    assert "1. e4 {[%clk 0:05:00.000] [%emt 0:00:00.000]} {Bob resigns} 1-0" in pgn.read_text(encoding="utf-8")
    with ArchiveStore.open(str(tmp_path / "a.sqlite"), read_only=True) as archive:
        (game,) = archive.games()
    assert (game.white.handle, game.result, game.server) == ("Ann", "1-0", "127.0.0.1")
    assert game.plies[0].at_ms is not None
    for place in ("Journals: ", "Archive: ", "PGN: ", "2 boards, 1 game."):
        assert place in run.talk
    assert MOVE in journalled(tmp_path / "journals").received


@pytest.mark.long
@in_loop
async def test_the_password_comes_from_the_environment_and_goes_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", PASSWORD)
    async with (
        ScriptedServer(Dialogue(FICS, ACCOUNTS, script=SCRIPT, answers=ANSWERS)) as server,
        running(*_words(server, tmp_path, "--user", "Ann", "--log", tmp_path / "run.log")) as run,
    ):
        connection = await server.connection()
        await connection.done.wait()
        processes = "".join(
            path.read_bytes().decode("latin-1") for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()
        )
        followers = [
            path.parent
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if path.exists() and b"recorder.archive.recording.archiving" in path.read_bytes().split(b"\0")
        ]
        environments = b"".join((folder / "environ").read_bytes() for folder in followers)
        assert await run.end(signal.SIGTERM) == ExitCode.OK
    assert connection.handle == "Ann"
    assert PASSWORD not in processes + run.talk
    assert PASSWORD.encode() not in environments
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes()
    assert PASSWORD.encode() not in journalled(tmp_path / "journals").raw
    logged = [json.loads(line) for line in (tmp_path / "run.log").read_text(encoding="ascii").splitlines()]
    assert [line["event"] for line in logged] == ["started", "connected", "logged_in", "tally", "ended"]
    assert (logged[2]["handle"], logged[-1]["games"]) == ("Ann", 1)


@in_loop
async def test_a_kill_loses_no_received_byte(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})) as server,
        running(*_words(server, tmp_path, "--guest", "--no-import", "--sync", "always")) as run,
    ):
        connection = await server.connection()
        await connection.done.wait()
        while END not in journalled(tmp_path / "journals").received:
            await asyncio.sleep(0.01)
        assert await run.end(signal.SIGKILL) == -signal.SIGKILL
        sent = bytes(connection.written)
    found = journalled(tmp_path / "journals")
    assert found.received == sent
    result = CliRunner().invoke(
        main, ["import", "--json", "--db", str(tmp_path / "b.sqlite"), str(tmp_path / "journals")]
    )
    assert result.exit_code == ExitCode.OK, result.output
    assert [outcome["games"] for outcome in json.loads(result.stdout)] == [1]


@pytest.mark.long
@in_loop
async def test_what_a_killed_run_left_is_imported_by_the_next_one(tmp_path: Path) -> None:
    played = Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})
    async with ScriptedServer(lambda number: Dialogue(FICS) if number else played) as server:
        async with running(*_words(server, tmp_path, "--guest", "--no-import")) as killed:
            connection = await server.connection()
            await connection.done.wait()
            while END not in journalled(tmp_path / "journals").received:
                await asyncio.sleep(0.01)
            seen = CliRunner().invoke(main, ["status", "--json", "--journal-dir", str(tmp_path / "journals")])
            assert [found["written"] for found in json.loads(seen.stdout)] == [True]
            await killed.end(signal.SIGKILL)
        seen = CliRunner().invoke(main, ["status", "--journal-dir", str(tmp_path / "journals")])
        assert "left open\trecord\t127.0.0.1:" in seen.stdout
        async with running(*_words(server, tmp_path, "--guest")) as restarted:
            await restarted.until("1 journal was left open by a crash; the archive has all of it now.")
            seen = CliRunner().invoke(main, ["status", "--journal-dir", str(tmp_path / "journals")])
            assert "left open" not in seen.stdout, "it is found only once"
            assert await restarted.end(signal.SIGTERM) == ExitCode.OK
    with ArchiveStore.open(str(tmp_path / "a.sqlite"), read_only=True) as archive:
        assert [game.result for game in archive.games()] == ["1-0"]


@pytest.mark.long
@in_loop
async def test_a_refusal_has_its_own_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", "wrongWord")
    async with (
        ScriptedServer(Dialogue(FICS, ACCOUNTS)) as server,
        running(*_words(server, tmp_path, "--user", "Ann", "--log", tmp_path / "run.log")) as run,
    ):
        assert await run.end() == ExitCode.LOGIN
    assert "does not accept this password for Ann" in run.talk
    assert "Not everything of the journal" not in run.talk
    log = (tmp_path / "run.log").read_text(encoding="ascii")
    assert "wrongWord" not in run.talk + log
    assert json.loads(log.splitlines()[-1])["event"] == "failed"


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["--observe", "rated"], "--guest or --user"),
        (["--guest"], "--observe EXPRESSION or --observe-handles FILE"),
        (["--guest", "--observe", "rated &"], "expected"),
        (["--guest", "--observe", "rated", "--no-import", "--pgn", "x"], "omit --no-import"),
    ],
)
def test_invalid_options_are_usage_errors(words: list[str], output: str) -> None:
    result = CliRunner().invoke(main, ["record", "chess.example", *words])
    assert result.exit_code == ExitCode.USAGE
    assert output in result.stderr


@pytest.mark.parametrize(
    ("text", "words", "who"),
    [
        ("guest = true\n", ["--user", "Ann"], "Ann"),
        ('user = "Ann"\n', ["--guest"], None),
        ('user = "Ann"\n', ["--user", "Bob"], "Bob"),
        ("guest = true\n", [], None),
    ],
)
def test_an_option_overrides_the_config_file(
    text: str,
    words: list[str],
    who: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    config = tmp_path / "record.toml"
    config.write_text(f"[record]\n{text}" + 'observe = "rated"\nimport = false\n', encoding="utf-8")
    seen: list[object] = []

    async def record(run: RecordRun) -> tuple[ExitCode, bool]:
        seen.append(run.user)
        return ExitCode.OK, True

    monkeypatch.setattr("recorder.archive.recording.record_run.record", record)
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", PASSWORD)
    arguments = ["--config", str(config), "record", "chess.example", "--journal-dir", str(tmp_path), *words]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == ExitCode.OK, result.output
    assert seen == [who]
    assert f"Not in an archive yet; import with: ics-recorder import {tmp_path}" in capfd.readouterr().err


def test_the_config_file_of_the_documents_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/record-around-the-clock.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    config = tmp_path / "record.toml"
    config.write_text(text, encoding="utf-8")
    seen: list[object] = []

    async def record(run: RecordRun) -> tuple[ExitCode, bool]:
        seen.append(run.server)
        return ExitCode.OK, True

    monkeypatch.setattr("recorder.archive.recording.record_run.record", record)
    monkeypatch.setattr("recorder.journal.make_journal_folder", lambda folder: seen.append(str(folder)))
    result = CliRunner().invoke(main, ["--config", str(config), "record"])
    assert result.exit_code == ExitCode.OK, result.output
    assert seen == ["/var/lib/ics-recorder/journals", ("freechess.org", 5000)]
    assert "Journals: /var/lib/ics-recorder/journals\n" in capfd.readouterr().err


def test_options_that_exclude_each_other_are_refused() -> None:
    words = ["record", "chess.example", "--observe", "rated", "--guest", "--user", "Ann"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == ExitCode.USAGE
    assert "--guest or --user NAME, not both" in result.stderr


@pytest.mark.parametrize(
    ("password", "words", "output"),
    [
        ("", [], "ICS_RECORDER_PASSWORD is empty"),
        ("hunTer2é", ["--timeseal"], "ASCII passwords only"),
    ],
)
def test_a_password_that_cannot_be_one_is_refused_before_connecting(
    password: str, words: list[str], output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", password)
    arguments = ["record", "127.0.0.1:1", "--user", "Ann", "--observe", "rated", "--journal-dir", str(tmp_path / "j")]
    result = CliRunner().invoke(main, [*arguments, *words])
    assert result.exit_code == ExitCode.USAGE
    assert output in result.stderr
    assert not (tmp_path / "j").exists()


@in_loop
async def test_no_password_is_asked_for_without_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ICS_RECORDER_PASSWORD", raising=False)
    words = ["record", "127.0.0.1:1", "--user", "Ann", "--observe", "rated", "--journal-dir", tmp_path / "j"]
    async with running(*words, before=os.setsid) as run:
        assert await run.end() == ExitCode.USAGE
    assert "There is no terminal to ask for the password of Ann: set ICS_RECORDER_PASSWORD." in run.talk
    assert "Warning" not in run.talk


@pytest.mark.long
@in_loop
async def test_an_unreachable_host_reports_that_nothing_was_recorded(tmp_path: Path) -> None:
    words = ["127.0.0.1:1", "--guest", "--observe", "rated", "--journal-dir", tmp_path / "j", "--db", tmp_path / "a"]
    async with running("record", *words) as run:
        output = await run.until("Trying again")
        assert await run.end(signal.SIGINT) == ExitCode.LOGIN
    assert output.startswith("127.0.0.1:1 refuses the connection; no server listens there. Trying again in ")
    assert run.talk.endswith("no server listens there. Nothing was recorded.\n")


@pytest.mark.parametrize("command", ["record", "proxy"])
@pytest.mark.parametrize("way", ["no folder", "a folder", "no archive", "another database", "a journal"])
def test_an_unusable_archive_is_reported_before_connecting(tmp_path: Path, command: str, way: str) -> None:
    archive = tmp_path / "a.sqlite"
    if way == "no folder":
        archive = tmp_path / "nowhere" / "a.sqlite"
    elif way == "a folder":
        archive.mkdir()
    elif way == "no archive":
        archive.write_bytes(b"no archive at all" * 100)
    elif way == "another database":
        with closing(sqlite3.connect(archive)) as connection:
            connection.execute("CREATE TABLE games (id)")
    else:
        archive.write_bytes(b"ics-recorder journal 1 {} 00000000\n")
    run = CliRunner().invoke(main, _connecting(command, tmp_path / "j", archive))
    assert (run.exit_code, str(archive) in run.output) == (ExitCode.ARCHIVE, True), run.output
    assert not (tmp_path / "j").exists()


@pytest.mark.parametrize("command", ["record", "proxy"])
def test_a_read_only_archive_is_reported_before_connecting(tmp_path: Path, command: str) -> None:
    archive = tmp_path / "a.sqlite"
    with ArchiveStore.open(str(archive), create=True):
        archive.chmod(0o400)
    # root may write every file unless it drops this capability.
    as_anybody = ["setpriv", "--bounding-set=-dac_override", "--"] if os.geteuid() == 0 else []
    run = subprocess.run(
        [*as_anybody, sys.executable, "-P", "-m", "recorder", *_connecting(command, tmp_path / "j", archive)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == ExitCode.ARCHIVE, run.stderr
    assert f"The archive {archive} cannot be written: it or its folder is read-only." in run.stderr
    assert not (tmp_path / "j").exists()


def test_an_archive_that_sqlite_cannot_write_is_reported_before_connecting(tmp_path: Path) -> None:
    """The file is writable, but its header has a write version that SQLite does not know."""
    archive = tmp_path / "a.sqlite"
    with ArchiveStore.open(str(archive), create=True):
        pass
    with archive.open("r+b") as file:
        file.seek(18)
        file.write(b"\x03")
    run = CliRunner().invoke(main, _connecting("record", tmp_path / "j", archive))
    assert run.exit_code == ExitCode.ARCHIVE, run.output
    assert f"The archive {archive} cannot be written: attempt to write a readonly database." in run.output
    assert not (tmp_path / "j").exists()


def _connecting(command: str, journals: Path, archive: Path) -> list[str]:
    words = ["--guest", "--observe", "rated"] if command == "record" else ["--listen", "127.0.0.1:0"]
    return [command, "127.0.0.1:1", *words, "--journal-dir", str(journals), "--db", str(archive)]


@pytest.mark.long
@in_loop
async def test_a_locked_archive_does_not_prevent_recording(tmp_path: Path) -> None:
    archive = tmp_path / "a.sqlite"
    with ArchiveStore.open(str(archive), create=True):
        pass
    with closing(sqlite3.connect(archive, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        async with (
            ScriptedServer(Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})) as server,
            running(*_words(server, tmp_path, "--guest")) as run,
        ):
            connection = await server.connection()
            await connection.done.wait()
            holder.execute("ROLLBACK")
            assert await run.end(signal.SIGTERM) == ExitCode.OK


@in_loop
async def test_games_that_match_no_filter_are_counted(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS, answers={b"games": TABLE})) as server,
        running(*_words(server, tmp_path, "--guest", "--no-import", "--observe", "unrated")) as run,
    ):
        connection = await server.connection()
        while b"games" not in connection.lines:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)
        assert await run.end(signal.SIGTERM) == ExitCode.OK
    assert "1 game seen, none of them matched" in run.talk


@in_loop
async def test_games_that_the_server_shows_unasked_are_not_called_unmatched(tmp_path: Path) -> None:
    shown = [Hear(b"games"), Say(b"You are now observing game 12.\n\r"), Say(BOARD), Say(MOVE), Say(END)]
    async with (
        ScriptedServer(Dialogue(FICS, script=shown, answers={b"games": TABLE})) as server,
        running(*_words(server, tmp_path, "--guest", "--no-import")) as run,
    ):
        connection = await server.connection()
        await connection.done.wait()
        await asyncio.sleep(0.2)
        assert await run.end(signal.SIGTERM) == ExitCode.OK
    assert "none of them matched" not in run.talk


def test_an_empty_list_of_handles_is_refused(tmp_path: Path) -> None:
    handles = tmp_path / "masters.txt"
    handles.write_text("# none yet\n", encoding="utf-8")
    words = ["record", "chess.example", "--guest", "--observe-handles", str(handles)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == ExitCode.USAGE
    assert f"{handles} contains no handle" in result.stderr


@pytest.mark.long
@in_loop
async def test_hooks_are_notified_of_games_an_outage_and_its_end(tmp_path: Path) -> None:
    """Each once: the game goes on after the outage, and a hook that fails is counted in ``status``."""
    out, hook, config = (tmp_path / name for name in ("events", "hook.sh", "config.toml"))
    hook.write_text(f"cat >> {out}; echo >> {out}\n")
    events = ["game-start", "outage", "back", "game-end"]
    config.write_text(f'[[hook]]\non = {events}\ncommand = ["sh", "{hook}"]\n')
    first = [Hear(b"observe 12"), Say(BOARD), Say(MOVE), Fault.RESET]
    rest: list[Step] = [Hear(b"observe 12"), Say(MOVE), Say(END)]

    def dialogue(number: int) -> Dialogue:
        return Dialogue(FICS, script=rest if number else first, answers={b"games": TABLE})

    async with (
        ScriptedServer(dialogue) as server,
        running("--config", config, *_words(server, tmp_path, "--guest", "--on", "back=false")) as run,
    ):
        while not out.exists() or '"game-end"' not in out.read_text():
            await asyncio.sleep(0.05)
        counts: list[tuple[str, int]] = []
        while ("false", 1) not in counts:
            status = CliRunner().invoke(main, ["status", "--json", "--journal-dir", str(tmp_path / "journals")])
            hooks = [hook for connection in json.loads(status.stdout) for hook in connection["hooks"] or ()]
            counts = [(hook["name"], hook["failed"]) for hook in hooks]
        assert await run.end(signal.SIGTERM) == ExitCode.OK
    found = [json.loads(line) for line in out.read_text().splitlines() if line]
    assert sorted(one["event"] for one in found) == sorted(events)
    assert {one["white"] for one in found if "white" in one} == {"Ann"}
    assert [(one["result"], one["reason"]) for one in found if one["event"] == "game-end"] == [("1-0", "Bob resigns")]
    assert [one["lasted_s"] >= 0 for one in found if one["event"] == "back"] == [True]
    assert sorted(counts) == [("false", 1), ("sh", 0)]
    assert "Hook false: exit status 1. Recording goes on." in run.talk
