"""``ics-recorder proxy`` as a separate process."""

import asyncio
import contextlib
import json
import random
import re
import resource
import signal
import socket
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.support.cli import ADJOURNED, Cli
from tests.support.corpus import stream_bytes, stream_chunks
from tests.support.effort import long_after
from tests.support.live import Caller, Running, in_loop, journalled, running
from tests.support.messages import EVENTS
from tests.support.script import Fault, Say, Wait, script_of_chunks
from tests.support.testserver import FICS, Dialogue, ScriptedServer

WATCHER = ("b01_standard", "observer_Watcher")
FILE_LIMIT = 20_000


def words(server: ScriptedServer, folder: Path, *more: str) -> list[str]:
    where = ["--listen", "127.0.0.1:0", "--journal-dir", str(folder), "--no-import"]
    return ["proxy", f"127.0.0.1:{server.port}", *where, *more]


async def port_of(command: Running) -> int:
    line = await command.until("Connect a client")
    return int(line.split()[-1])


@in_loop
async def test_records_and_ends_cleanly(tmp_path: Path) -> None:
    script = script_of_chunks(stream_chunks(*WATCHER))
    async with (
        ScriptedServer(Dialogue(FICS, script=script)) as server,
        running(*words(server, tmp_path / "journals")) as command,
    ):
        port = await port_of(command)
        caller = await Caller.call(port)
        caller.send(b"guest\n\n")
        await caller.until(stream_bytes(*WATCHER))
        connection = await server.connection()
        assert await command.end(signal.SIGTERM) == 0
        assert await caller.rest() == b""
    kept = journalled(tmp_path / "journals")
    assert kept.received == bytes(caller.heard) == bytes(connection.written)
    assert kept.sent == b"*****\n\n"
    assert [note["kind"] for note in kept.notes][-2:] == ["closed", "end"]
    sent = len(connection.written)
    assert f"Listening on 127.0.0.1:{port} for 127.0.0.1:{server.port}." in command.talk
    assert f"xboard -ics -icshost 127.0.0.1 -icsport {port}\n" in command.talk
    assert f"Connection 1 was ended by this program: {sent:,} bytes from the server, 7 to it." in command.talk
    assert command.talk.endswith(
        f"1 connection, {sent:,} bytes from the server, 7 to it. The journals are in {tmp_path / 'journals'}.\n"
    )


@pytest.mark.long
@in_loop
async def test_hundreds_of_idle_clients_take_few_threads_and_do_not_delay_the_end(
    tmp_path: Path,
) -> None:
    async with (
        ScriptedServer(lambda _number: Dialogue(FICS)) as server,
        running(*words(server, tmp_path / "journals", "--max-clients", "100")) as command,
    ):
        port = await port_of(command)
        callers = [await Caller.call(port) for _ in range(400)]
        heard = [await caller.read_some() for caller in callers]
        assert sum(b"login: " in data for data in heard) == 100
        answered = sum(b"ics-recorder: 100 clients are connected, which is the limit." in data for data in heard)
        assert answered >= 100  # that many at a time; others are only closed
        assert len(list(Path(f"/proc/{command.process.pid}/task").iterdir())) < 250
        assert await command.end(signal.SIGINT) == 0
    assert 1 <= command.talk.count("A client was turned away") <= 3  # not for each; a busy machine takes longer


@in_loop
async def test_an_unknown_host_is_reported_before_a_client_connects(tmp_path: Path) -> None:
    words = ["proxy", "no.such.example", "--listen", "127.0.0.1:0", "--journal-dir", str(tmp_path), "--no-import"]
    async with running(*words) as command:
        output = await command.until("Warning: ")
        assert await command.end(signal.SIGTERM) == 0
    assert output.startswith("Warning: The name no.such.example cannot be looked up (Name or ")
    assert output.endswith("check how the server's name is written. No client is served until it is known.\n")


@in_loop
async def test_a_full_disk_ends_the_recording_with_an_error_and_the_game_continues(tmp_path: Path) -> None:
    text = stream_bytes(*WATCHER) * 3
    assert len(text) > 2 * FILE_LIMIT

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))

    script = [Say(text[begin : begin + 500]) for begin in range(0, len(text), 500)]
    async with (
        ScriptedServer(Dialogue(FICS, script=script, answers={b"date": b"It is late.\n\r"})) as server,
        running(*words(server, tmp_path), before=little_room) as command,
    ):
        caller = await Caller.call(await port_of(command))
        await caller.until(b"login: ")  # a separate record, however the later bytes arrive
        caller.send(b"guest\n\n")
        await caller.until(text)
        caller.send(b"date\n")
        await caller.until(b"It is late.\n\r")
        assert await command.end(signal.SIGINT) == 7
    ended = re.findall(r"^Error: Connection 1: RECORDING HAS ENDED, the connection continues: .*$", command.talk, re.M)
    assert len(ended) == 1
    assert "Error: 1 connection could not be recorded completely; see above.\n" in command.talk
    kept = journalled(tmp_path)
    assert 0 < len(kept.received) < FILE_LIMIT
    assert bytes(caller.heard).startswith(kept.received)


@pytest.mark.parametrize("seed", long_after(1, range(6)))
@in_loop
async def test_after_a_kill_the_journal_has_all_bytes_that_reached_either_side(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    script: list[Say | Wait | Fault] = []
    for number in range(100_000):
        script.append(Say(b"line %d\n\r" % number * dice.randrange(1, 40)))
        if number % 10 == 0:
            script.append(Wait(1))
    async with (
        ScriptedServer(Dialogue(FICS, script=script, speed=1)) as server,
        running(*words(server, tmp_path, "--sync", "always")) as command,
    ):
        caller = await Caller.call(await port_of(command))
        caller.send(b"guest\n\n")
        await caller.until(b"fics% ")
        connection = await server.connection()

        async def chat() -> None:
            for number in range(100_000):
                caller.send(b"tell 1 %d\n" % number)
                await asyncio.sleep(dice.random() / 200)

        async def listen() -> None:
            with contextlib.suppress(ConnectionResetError):
                await caller.rest()

        chatting, listening = asyncio.create_task(chat()), asyncio.create_task(listen())
        await asyncio.sleep(0.1 + dice.random() / 2)
        command.process.send_signal(signal.SIGKILL)
        await command.end()
        await listening
        chatting.cancel()
        await asyncio.sleep(0.05)
        heard = bytes(connection.heard)
    kept = journalled(tmp_path)
    assert kept.received.startswith(caller.heard)
    assert len(caller.heard) > 1000
    assert kept.sent.startswith(heard[: heard.rfind(b"\n") + 1].replace(b"guest", b"*****", 1))
    assert heard.count(b"tell") > 3


@in_loop
async def test_warns_when_others_can_reach_it(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS)) as server,
        running(*words(server, tmp_path, "--listen", "0.0.0.0:0")) as command,
    ):
        await port_of(command)
        assert await command.end(signal.SIGINT) == 0
    assert re.search(r"^Warning: 0\.0\.0\.0:\d+ is open to other machines: ", command.talk, re.M)
    assert "-icshost 127.0.0.1 " in command.talk
    assert "0 connections, 0 bytes" in command.talk


def test_a_port_in_use_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        result = Cli(tmp_path / "a.sqlite")("proxy", "chess.example", "--listen", where, code=9)
    why = "Address already in use"
    assert result.output == f"Error: Cannot listen on {where} ({why}): choose another address with --listen.\n"
    nowhere = "no-such-host.invalid:5001"
    result = Cli(tmp_path / "a.sqlite")("proxy", "chess.example", "--listen", nowhere, code=9)
    assert result.output.startswith(f"Error: Cannot listen on {nowhere} (")
    assert result.output.count("\n") == 1


@pytest.mark.parametrize("words", [("proxy", "--listen", "0"), ("record", "--guest", "--observe", "all")])
def test_an_impossible_folder_is_reported_before_a_connection(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    nowhere = tmp_path / "file" / "journals"
    output = Cli(tmp_path / "a")(*words, "chess.example", "--journal-dir", nowhere, code=7).output
    assert output == (
        f"Error: No journal can be written in {nowhere} (Not a directory): name another folder by --journal-dir.\n"
    )


@in_loop
async def test_a_port_alone_is_on_loopback(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS)) as server,
        running(*words(server, tmp_path, "--listen", "0")) as command,
    ):
        await port_of(command)
        assert await command.end(signal.SIGINT) == 0
    assert re.search(r"^Listening on 127\.0\.0\.1:\d+ for ", command.talk, re.M)


def test_a_port_is_no_server(tmp_path: Path) -> None:
    assert "'6124' is a port without a host; write HOST:6124." in Cli(tmp_path / "a")("proxy", "6124", code=2).output


@pytest.mark.parametrize("text", ["chess.example:x", "", "a:b:c"])
def test_an_address_that_is_none_is_a_usage_error(tmp_path: Path, text: str) -> None:
    assert "write HOST:PORT" in Cli(tmp_path / "a.sqlite")("proxy", text, code=2).output


@pytest.mark.long
@in_loop
async def test_every_connection_is_imported_when_it_ends(tmp_path: Path) -> None:
    script = [*script_of_chunks(stream_chunks(*WATCHER)), Fault.CLOSE]
    archive = tmp_path / "a.sqlite"
    async with (
        ScriptedServer(Dialogue(FICS, script=script)) as server,
        running(*words(server, tmp_path / "j", "--import", "--db", str(archive))) as command,
    ):
        caller = await Caller.call(await port_of(command))
        caller.send(b"guest\n\n")
        await caller.rest()
        caller.writer.write_eof()
        await command.until(f"Connection 1: 5 games went into {archive}.")
        other = await Caller.call(int(command.talk.split("-icsport ")[1].split()[0]))
        other.send(b"guest\n\n")
        await other.rest()
        assert await command.end(signal.SIGTERM) == 0, "what is left is imported at the end"
    assert re.search(r"^Connection 2: \d games? went into ", command.talk, re.M)
    cli = Cli(archive)
    assert len(cli.table("sources")) == 2
    raw = tmp_path / "session.raw"
    raw.write_bytes(bytes(caller.heard))
    alone = Cli(tmp_path / "b.sqlite")
    alone("import", raw)
    assert _movetexts(cli) == _movetexts(alone)
    assert len(_movetexts(alone)) == 5


def _movetexts(cli: Cli) -> set[str]:
    """Return each game once, without tags and comments."""
    pgn = cli("export", "pgn", "--include", "empty").stdout
    plain = re.sub(r"\s*\{[^}]*\}", "", re.sub(r"^\[.*\]$", "", pgn, flags=re.M))
    return {" ".join(text.split()) for text in plain.split("\n\n") if text.strip()}


@pytest.mark.long
@in_loop
async def test_an_unwritable_archive_is_reported_and_nothing_is_lost(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "a.sqlite"
    nowhere.parent.mkdir()
    async with (
        ScriptedServer(Dialogue(FICS)) as server,
        running(*words(server, tmp_path / "j", "--import", "--db", str(nowhere))) as command,
    ):
        port = await port_of(command)
        nowhere.parent.rmdir()
        caller = await Caller.call(port)
        await caller.until(b"login: ")
        assert await command.end(signal.SIGTERM) == 4
    (journal,) = (tmp_path / "j").iterdir()
    assert f"was not imported: Cannot create {nowhere}: there is no folder {nowhere.parent}." in command.talk
    assert f"Do it later: ics-recorder import --db {nowhere} --chat own {journal}\n" in command.talk


@pytest.mark.long
@in_loop
async def test_what_a_killed_run_left_is_imported_and_ended_by_the_next_one(tmp_path: Path) -> None:
    archive, journals = tmp_path / "a.sqlite", tmp_path / "j"
    script = script_of_chunks(stream_chunks(*WATCHER))
    async with ScriptedServer(Dialogue(FICS, script=script)) as server:
        async with running(*words(server, journals)) as killed:
            caller = await Caller.call(await port_of(killed))
            caller.send(b"guest\n\n")
            await caller.until(stream_bytes(*WATCHER))
            while stream_bytes(*WATCHER)[-300:] not in journalled(journals).received:
                await asyncio.sleep(0.01)
            await killed.end(signal.SIGKILL)
        with contextlib.suppress(ConnectionResetError):
            await caller.rest()
        assert Cli(archive)("status", "--journal-dir", journals).stdout.count("left open") == 1
        async with running(*words(server, journals, "--import", "--db", str(archive))) as restarted:
            await restarted.until("1 journal was left open by a crash; the archive has all of it now.")
            assert await restarted.end(signal.SIGTERM) == 0
    status = Cli(archive)("status", "--journal-dir", journals)
    assert "left open" not in status.stdout
    assert "has every journal whose recording has ended" in status.stderr
    assert len(_movetexts(Cli(archive))) == 5


@pytest.mark.long
@in_loop
async def test_the_log_contains_the_events_of_connections(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    async with (
        ScriptedServer(Dialogue(FICS, answers={b"date": b"It is late.\n\r"})) as server,
        running(
            *words(server, tmp_path / "j", "--import", "--db", str(tmp_path / "a.sqlite"), "--log", str(log))
        ) as command,
    ):
        caller = await Caller.call(await port_of(command))
        caller.send(b"guest\n\nquit\n")
        await caller.rest()
        caller.writer.close()
        await command.until("Connection 1: 0 games went into")
        assert await command.end(signal.SIGTERM) == 0
    lines = [json.loads(line) for line in log.read_text(encoding="ascii").splitlines()]
    assert [line["event"] for line in lines] == [
        *("listening", "started", "client_connected", "client_left", "imported", "proxy_ended")
    ]
    for line in lines:
        output = EVENTS[line["event"]]
        assert set(line) == {"at", "level", "event", "message", *output.facts}
        assert line["level"] == output.level
        assert line["message"] in command.talk
    assert (lines[3]["by"], lines[3]["sent_bytes"]) == ("client", 12) or lines[3]["by"] == "server"
    assert (lines[4]["connection"], lines[4]["games"]) == (1, 0)
    result = Cli(tmp_path / "b")("proxy", "chess.example", "--log", tmp_path / "no" / "run.log", code=5)
    assert result.output.startswith(f"Error: The log {tmp_path / 'no' / 'run.log'} cannot be written")


@in_loop
async def test_a_locked_archive_delays_no_client(tmp_path: Path) -> None:
    archive = tmp_path / "a.sqlite"
    Cli(archive)("import", ADJOURNED)
    answers = {b"date": b"It is late.\n\r"}
    with contextlib.closing(sqlite3.connect(archive, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        async with (
            ScriptedServer(Dialogue(FICS, answers=answers)) as server,
            running(*words(server, tmp_path / "j", "--import", "--db", str(archive))) as command,
        ):
            port = await port_of(command)
            first = await Caller.call(port)
            first.send(b"guest\n\nquit\n")
            await first.rest()
            first.writer.close()
            await command.until("Connection 1 was ended by the server")
            other = await Caller.call(port)
            other.send(b"guest\n\ndate\n")
            await other.until(b"It is late.\n\r")
            command.process.send_signal(signal.SIGTERM)
            await command.until("Connection 2 was ended by this program")
            assert await command.end(signal.SIGTERM) == 4, "a second signal ends the wait for imports"
    assert "Not every journal was imported; `ics-recorder import` does it later.\n" in command.talk
    assert journalled(tmp_path / "j").sent.count(b"*****\n\n") == 2


@pytest.mark.long
@in_loop
async def test_games_of_two_clients_go_into_one_pgn_and_one_stream_of_events(tmp_path: Path) -> None:
    script = [*script_of_chunks(stream_chunks(*WATCHER)), Fault.CLOSE]
    pgn, events, archive = tmp_path / "games.pgn", tmp_path / "events.jsonl", tmp_path / "a.sqlite"
    with events.open("wb") as out:
        async with ScriptedServer(Dialogue(FICS, script=script)) as server:
            command = Running(
                await asyncio.create_subprocess_exec(
                    *(
                        sys.executable,
                        "-m",
                        "recorder",
                        *words(server, tmp_path / "j", "--import", "--db", str(archive)),
                    ),
                    *("--pgn", str(pgn), "--events", "-"),
                    stdout=out,
                    stderr=asyncio.subprocess.PIPE,
                )
            )
            port = await port_of(command)
            for _ in range(2):
                caller = await Caller.call(port)
                caller.send(b"guest\n\n")
                await caller.rest()
                caller.writer.close()
            await command.until("Connection 2: 5 games went into")
            assert await command.end(signal.SIGTERM) == 0
    keys = [line.split('"')[1] for line in pgn.read_text().splitlines() if line.startswith("[RecorderKey ")]
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    ended = [line["key"] for line in lines if line["event"] == "game_ended"]
    games = Cli(archive).json("games", "--json", "--include", "empty")
    assert len(ended) == 10
    assert len(games) == 5, "both connections saw the same"
    assert {game["key"] for game in games} < set(ended)
    assert len(set(keys)) == len(keys)
    assert set(keys) <= set(ended)
    # Four of the five games have moves. A game has one entry if both its observations were known as one when it ended.
    assert 4 <= len(keys) <= 8


def test_pgn_and_events_need_the_archive(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "a.sqlite")
    for option in (("--pgn", tmp_path / "x.pgn"), ("--events", "-")):
        output = cli("proxy", "chess.example", "--listen", "0", "--no-import", *option, code=2).output
        assert "--pgn, --live-pgn and --events are made from the archive: omit --no-import." in output
