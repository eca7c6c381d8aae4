"""``ics-recorder record`` as a process of its own, against the scripted server."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from recorder.cli import main
from recorder.cli.terminal import ExitCode
from recorder.live.manners import FICS
from recorder.live.script import Hear, Say, Step
from recorder.live.testserver import Dialogue, ScriptedServer
from storage import Archive
from tests.live.test_capture import ACCOUNTS, ANSWERS, BOARD, END, MOVE, PASSWORD, TABLE
from tests.support.live import in_loop, journalled, running

SCRIPT: list[Step] = [Hear(b"observe 12"), Say(BOARD), Say(MOVE), Say(END)]


def _words(server: ScriptedServer, tmp_path: Path, *more: object) -> list[object]:
    return [
        *("record", f"127.0.0.1:{server.port}", "--observe", "rated & blitz"),
        *("--journal-dir", tmp_path / "journals", "--db", tmp_path / "a.sqlite", *more),
    ]


@in_loop
async def test_games_go_into_journal_archive_and_pgn(tmp_path: Path) -> None:
    pgn = tmp_path / "games.pgn"
    async with (
        ScriptedServer(Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})) as server,
        running(*_words(server, tmp_path, "--guest", "--pgn", pgn)) as run,
    ):
        connection = await server.connection()
        await connection.done.wait()
        while not pgn.exists():  # while it records
            await asyncio.sleep(0.05)
        assert await run.end(signal.SIGTERM) == ExitCode.OK
        assert connection.lines[-1] == b"quit"
    assert "1. e4 {[%clk 0:05:00.000] [%emt 0:00:00.000]} {Bob resigns} 1-0" in pgn.read_text(encoding="utf-8")
    with Archive.open(str(tmp_path / "a.sqlite"), read_only=True) as archive:
        (game,) = archive.games()
    assert (game.white.handle, game.result, game.server) == ("Ann", "1-0", "127.0.0.1")
    assert game.plies[0].at_ms is not None
    for place in ("Journals: ", "Archive: ", "PGN: ", "2 boards, 1 game."):
        assert place in run.talk
    assert MOVE in journalled(tmp_path / "journals").received


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
            if path.exists() and b"follow" in path.read_bytes().split(b"\0")
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
    assert [line["event"] for line in logged] == ["started", "connected", "logged_in", "ended"]
    assert (logged[2]["handle"], logged[3]["games"]) == ("Ann", 1)


@in_loop
async def test_a_kill_loses_nothing_that_came(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})) as server,
        running(*_words(server, tmp_path, "--guest", "--no-import", "--sync", "always")) as run,
    ):
        connection = await server.connection()
        await connection.done.wait()
        while END not in journalled(tmp_path / "journals").received:
            await asyncio.sleep(0.01)
        assert await run.end(signal.SIGKILL) == -signal.SIGKILL
        said = bytes(connection.said)
    found = journalled(tmp_path / "journals")
    assert found.received == said
    result = CliRunner().invoke(
        main, ["import", "--json", "--db", str(tmp_path / "b.sqlite"), str(tmp_path / "journals")]
    )
    assert result.exit_code == ExitCode.OK, result.output
    assert [outcome["games"] for outcome in json.loads(result.stdout)] == [1]


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
        async with running(*_words(server, tmp_path, "--guest")) as again:
            await again.until("1 journal left open by an earlier run")
            assert await again.end(signal.SIGTERM) == ExitCode.OK
    with Archive.open(str(tmp_path / "a.sqlite"), read_only=True) as archive:
        assert [game.result for game in archive.games()] == ["1-0"]


@in_loop
async def test_a_refusal_has_its_own_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", "wrongWord")
    async with (
        ScriptedServer(Dialogue(FICS, ACCOUNTS)) as server,
        running(*_words(server, tmp_path, "--user", "Ann", "--log", tmp_path / "run.log")) as run,
    ):
        assert await run.end() == ExitCode.LOGIN
    assert "does not accept this password for Ann" in run.talk
    log = (tmp_path / "run.log").read_text(encoding="ascii")
    assert "wrongWord" not in run.talk + log
    assert json.loads(log.splitlines()[-1])["event"] == "failed"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--observe", "rated"], "--guest or --user"),
        (["--guest"], "--observe EXPRESSION or --observe-handles FILE"),
        (["--guest", "--observe", "rated &"], "expected"),
        (["--guest", "--observe", "rated", "--no-import", "--pgn", "x"], "leave out --no-import"),
    ],
)
def test_a_command_line_that_makes_no_sense(words: list[str], told: str) -> None:
    result = CliRunner().invoke(main, ["record", "chess.example", *words])
    assert result.exit_code == ExitCode.USAGE
    assert told in result.stderr


def test_a_config_file_gives_defaults(tmp_path: Path) -> None:
    config = tmp_path / "record.toml"
    config.write_text('guest = true\nobserve = "rated &"\n', encoding="utf-8")
    result = CliRunner().invoke(main, ["record", "chess.example", "--config", str(config)])
    assert result.exit_code == ExitCode.USAGE
    assert "--observe" in result.stderr
    config.write_text('observ = "rated"\n', encoding="utf-8")
    result = CliRunner().invoke(main, ["record", "chess.example", "--config", str(config)])
    assert "there is no option --observ." in result.stderr
