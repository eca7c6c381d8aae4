"""Recording from the scripted server, in this process."""

import asyncio
import json
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recorder.cli import main
from recorder.errors import JournalError, LoginError
from recorder.journal import JournalHeader, JournalReader, JournalWriter, Record, RecordKind, Sync
from recorder.journal.format import parse_note
from recorder.journal.parts import new_part
from recorder.live.capture import Capture, pause_s
from recorder.live.conversation import Conversation, Lasting, RequestQueue
from recorder.live.login.login import Login
from recorder.live.messages import Fact
from recorder.live.net.connection import Connection
from recorder.live.net.sockets import Address
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan
from recorder.live.secrets.client import SecretGuard
from recorder.sources import read_blocks
from recorder.wire.timeseal import PING_ANSWER, Sealing, unseal
from tests.support.live import in_loop, journalled
from tests.support.messages import EVENTS
from tests.support.script import Fault, Hear, Say, Step
from tests.support.testserver import FATICS, FICS, Dialogue, Manners, ScriptedServer

TABLE = (
    b"\n\r 12 1835 Ann         1831 Bob        [ br  5   0]   2:08 -  3:25 (31-30) W:  9\n\r\n\r"
    b"  1 game displayed.\n\r\n\rfics% "
)
BOARD = (
    b"\n\rYou are now observing game 12.\n\rGame 12: Ann (1835) Bob (1831) rated blitz 5 0\n\r\n\r"
    b"<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 12 Ann Bob 0 5 0 "
    b"39 39 300000 300000 1 none (0:00.000) none 0 0 0\n\r\n\rfics% "
)
MOVE = (
    b"\n\r<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 12 Ann Bob 0 5 0 "
    b"39 39 300000 300000 1 P/e2-e4 (0:00.000) e4 0 0 0\n\r\n\rfics% "
)
END = b"\n\r{Game 12 (Ann vs. Bob) Bob resigns} 1-0\n\r\n\rRemoving game 12 from observation list.\n\r\n\rfics% "
PASSWORD = "s3cretWord"
ACCOUNTS = {"Ann": PASSWORD}
VARIABLES = b"\n\rVariable settings of Ann:\n\r\n\rtime=2       private=0     style=1\n\r\n\rfics% "
ANSWERS = {b"games": TABLE, b"variables": VARIABLES}
WATCHED: list[Step] = [Hear(b"observe 12"), Say(BOARD), Say(MOVE), Say(END)]


class Run:
    """A running capture; ``messages`` are its messages."""

    def __init__(
        self,
        port: int,
        folder: Path,
        user: str | None = None,
        password: Callable[[], str] | None = None,
        *,
        host: str = "127.0.0.1",
        timeseal: int | None = None,
        sync: Sync = Sync.OS,
        open_part: Callable[[Path], Any] = new_part,
    ) -> None:
        self.folder = folder
        self.messages: list[str] = []
        self.opened: list[Path] = []
        self.stop = asyncio.Event()
        observing = Observing(ObservationPlan("rated & blitz"))
        lasting = Lasting()
        self.capture = Capture(
            Address(host, port),
            lambda: JournalWriter(folder, host=host, port=port, role="record", sync=sync, open_part=open_part),
            lambda: Conversation(Login(user, password), observing, lasting=lasting, queue=RequestQueue(gap_ms=1)),
            self.tell,
            opened=self.opened.append,
            timeseal=timeseal,
            chance=lambda: 0.0,
        )
        self.task = asyncio.create_task(self.capture.run(self.stop))

    def tell(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """Keep a message; check its facts against the table of events."""
        assert set(facts) == EVENTS[event].facts
        self.messages.append(sentence)

    async def end(self) -> None:
        """Stop the capture and wait for its end."""
        self.stop.set()
        await self.task

    async def until(self, ready: Callable[[], bool]) -> None:
        """Wait for a condition."""
        while not ready():
            assert not self.task.done(), self.task.result()
            await asyncio.sleep(0.01)

    @property
    def journals(self) -> str:
        import zstandard

        texts = []
        for path in sorted(self.folder.iterdir()):
            data = path.read_bytes()
            if path.suffix == ".zst":
                data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
            texts.append(data.decode("ascii"))
        return "".join(texts)


def notes_of(path: Path) -> list[dict[str, Any]]:
    """Return the notes of one journal, in order."""
    reader = JournalReader()
    values = [
        entry.value for block in read_blocks(path) for entry in reader.receive(block)
    ] + [entry.value for entry in reader.finish()]  # fmt: skip
    records = [value for value in values if isinstance(value, Record)]
    return [parse_note(record.data) for record in records if record.kind is RecordKind.NOTE]


@pytest.mark.parametrize("manners", [FICS, FATICS], ids=["fics", "fatics"])
@in_loop
async def test_a_guest_observes_the_games_that_the_policy_chooses(manners: Manners, tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(manners, script=WATCHED, answers={b"games": TABLE})) as server:
        run = Run(server.port, tmp_path)
        await run.until(lambda: run.capture.progress.boards == 2)
        await run.end()
        connection = await server.connection()
    lines = connection.lines
    assert lines[:2] == [b"guest", b""]
    assert {b"iset ms 1", b"iset nowrap 1", b"iset startpos 1", b"set style 12"} <= set(lines)
    assert lines.index(b"games") < lines.index(b"observe 12")
    assert lines[-1] == b"quit"
    assert b"variables" not in lines  # a guest has no settings to restore
    assert "P/e2-e4" in run.journals
    assert "observe 12" in run.journals


@in_loop
async def test_a_lasting_setting_is_restored_and_the_password_is_nowhere(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        connection = await server.connection()
        await run.until(lambda: b"games" in connection.lines)
        await run.end()
    assert connection.lines[:2] == [b"Ann", PASSWORD.encode()]
    assert connection.lines.index(b"variables") < connection.lines.index(b"set style 12")
    assert connection.lines[-2:] == [b"set style 1", b"quit"]
    assert PASSWORD not in run.journals + "".join(run.messages)


@in_loop
async def test_a_bug_does_not_end_the_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise AssertionError("a bug")

    script: list[Step] = [Hear(b"games"), Say(BOARD), Say(MOVE)]
    async with ScriptedServer(Dialogue(FICS, script=script, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path)
        connection = await server.connection()
        await run.until(lambda: b"games" in connection.lines)
        monkeypatch.setattr("recorder.tracking.tracker.Tracker.feed", broken)
        await connection.say(END)
        await run.until(lambda: "Removing game 12" in run.journals)
        monkeypatch.undo()
        await run.end()
    assert any("no longer parsed, only recorded" in sentence for sentence in run.messages)


@in_loop
async def test_a_refused_login_ends_the_recording_with_one_sentence(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: "wrongWord")
        with pytest.raises(LoginError, match="does not accept this password for Ann"):
            await run.task
    assert "wrongWord" not in run.journals


@in_loop
@pytest.mark.parametrize("slips", [1, 2])
async def test_a_rejected_password_is_not_retried_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slips: int
) -> None:
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)
    first = Dialogue(FICS, ACCOUNTS, script=[Hear(b"games"), Fault.RESET], answers=ANSWERS)
    changed, right = Dialogue(FICS, {"Ann": "another"}), Dialogue(FICS, ACCOUNTS, answers=ANSWERS)
    dialogues = [first, *[changed] * slips, right]
    async with ScriptedServer(lambda number: dialogues[number]) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        if slips == 1:
            connection = await server.connection(2)
            await run.until(lambda: b"games" in connection.lines)
            await run.end()
            assert len(run.opened) == len(list(tmp_path.iterdir())) == 2  # the refused attempt left nothing
        else:
            with pytest.raises(LoginError, match="does not accept this password for Ann"):
                await run.task
            assert len(server.connections) == 3


@in_loop
async def test_a_lost_connection_is_restored_and_the_gap_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)
    first = Dialogue(FICS, script=[*WATCHED[:3], Fault.RESET], answers={b"games": TABLE})
    second = Dialogue(FICS, script=[Hear(b"observe 12"), Say(BOARD), Say(MOVE)], answers={b"games": TABLE})
    async with ScriptedServer(lambda number: second if number else first) as server:
        run = Run(server.port, tmp_path)
        await run.until(lambda: run.capture.progress.boards == 4)
        await run.end()
    assert run.capture.progress.connections == 2
    assert any("Trying again in" in sentence for sentence in run.messages)
    first_notes, second_notes = (notes_of(path) for path in sorted(tmp_path.iterdir()))
    assert [note["kind"] for note in first_notes] == ["connected", "reset", "outage", "closed", "end"]
    assert first_notes[0] == {"kind": "connected", "address": f"127.0.0.1:{server.port}"}
    assert first_notes[2]["reason"] == "the connection was lost"
    assert [note["kind"] for note in second_notes] == ["outage", "connected", "closed", "end"]
    assert 0 < time.time_ns() - second_notes[0]["since_utc_ns"] < 3600 * 10**9
    info = CliRunner().invoke(main, ["journal", "info", "--json", str(sorted(tmp_path.iterdir())[1])])
    (outage,) = json.loads(info.stdout)["outages"]
    assert outage["from_ns"] < 0 < outage["until_ns"]  # relative to the journal's beginning, as readers get it


@pytest.mark.parametrize(("steady_s", "counted"), [(0.0, [1, 1, 1]), (60.0, [1, 2, 3])])
@in_loop
async def test_pauses_grow_only_between_short_connections(
    steady_s: float, counted: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that is cut every few minutes must not cost minutes each time."""
    failures: list[int] = []

    def pause_s(count: int, _: float) -> float:
        failures.append(count)
        return 0.01

    monkeypatch.setattr("recorder.live.capture._STEADY_S", steady_s)
    monkeypatch.setattr("recorder.live.capture.pause_s", pause_s)
    cut = Dialogue(FICS, script=[*WATCHED[:3], Fault.RESET], answers={b"games": TABLE})
    async with ScriptedServer(lambda number: cut) as server:
        run = Run(server.port, tmp_path)
        await run.until(lambda: len(failures) >= 3)
        await run.end()
    assert failures[:3] == counted


@in_loop
async def test_an_outage_begins_with_the_last_received_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr("recorder.live.net.connection.ANSWER_MS", 1000)
    monkeypatch.setattr("recorder.live.net.connection._QUIET_MS", 1000)
    first = Dialogue(FICS, script=[*WATCHED[:3], Fault.HALF_OPEN], answers={b"games": TABLE})
    second = Dialogue(FICS, script=[Hear(b"observe 12"), Say(BOARD)], answers={b"games": TABLE})
    async with ScriptedServer(lambda number: second if number else first) as server:
        run = Run(server.port, tmp_path)
        await run.until(lambda: run.capture.progress.connections == 2 and run.capture.progress.boards > 2)
        await run.end()
    before, after = sorted(tmp_path.iterdir())
    (header, *entries) = (entry.value for entry in JournalReader().read(read_blocks(before)))
    assert isinstance(header, JournalHeader)
    records = [value for value in entries if isinstance(value, Record)]
    heard_ns = header.anchor_utc_ns + max(one.at_ns for one in records if one.kind is RecordKind.RECEIVED)
    (ended,) = (note for note in notes_of(before) if note["kind"] == "outage")
    assert abs(ended["since_utc_ns"] - heard_ns) < 500_000_000, "not when the line was given up, a second later"
    assert notes_of(after)[0] == {"kind": "outage", "since_utc_ns": ended["since_utc_ns"]}


@in_loop
async def test_the_last_connection_restores_the_style_from_before_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)
    changed = ANSWERS | {b"variables": VARIABLES.replace(b"style=1", b"style=12")}
    first = Dialogue(FICS, ACCOUNTS, script=[Hear(b"games"), Fault.RESET], answers=ANSWERS)
    async with ScriptedServer(lambda number: Dialogue(FICS, ACCOUNTS, answers=changed) if number else first) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        second = await server.connection(1)
        await run.until(lambda: b"games" in second.lines)
        await run.end()
    assert second.lines[-2:] == [b"set style 1", b"quit"]


@in_loop
async def test_a_login_from_elsewhere_ends_the_recording(tmp_path: Path) -> None:
    taken = b"\n\r**** Ann has arrived - you can't both be logged in. ****\n\r"
    script: list[Step] = [Hear(b"games"), Say(taken), Fault.CLOSE]
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS, script=script, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        with pytest.raises(LoginError, match="replaced this session"):
            await run.task
        assert len(server.connections) == 1


@in_loop
async def test_an_unwritable_journal_ends_the_recording(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    async with ScriptedServer(Dialogue(FICS, script=[Hear(b"games"), Hear(b"never")])) as server:
        run = Run(server.port, folder)
        await run.until(lambda: bool(run.opened))
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        with pytest.raises(JournalError):
            await run.task


@in_loop
async def test_nothing_is_written_into_a_removed_journal(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, script=[Hear(b"games"), Hear(b"never")])) as server:
        run = Run(server.port, tmp_path)
        connection = await server.connection()
        await run.until(lambda: b"games" in connection.lines and "games" in run.journals)
        with run.opened[0].open("rb") as file:
            run.opened[0].unlink()
            written = file.read()
            await connection.say(TABLE)
            with pytest.raises(JournalError, match="it was removed"):
                await run.task
            assert file.read() == b""
    assert b"games" in written
    assert b"observe 12" not in connection.lines


class JustRemoved:
    """A journal's file that is removed between the check for it and the next write."""

    def __init__(self, path: Path, text: bytes) -> None:
        self._file = new_part(path)
        self._path = path
        self._text = text
        self.check, self.sync, self.close = self._file.check, self._file.sync, self._file.close

    def write(self, data: bytes, /) -> int:
        if self._text in data:
            self._path.unlink()
        return self._file.write(data)


@pytest.mark.parametrize("sync", Sync)
@in_loop
async def test_bytes_written_while_their_journal_is_removed_are_not_processed(sync: Sync, tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, script=[Hear(b"games"), Hear(b"never")])) as server:
        run = Run(server.port, tmp_path, sync=sync, open_part=lambda path: JustRemoved(path, b"1 game displayed"))
        connection = await server.connection()
        await run.until(lambda: b"games" in connection.lines and "games" in run.journals)
        with run.opened[0].open("rb") as file:
            file.read()
            await connection.say(TABLE)
            with pytest.raises(JournalError, match="it was removed"):
                await run.task
            assert file.read().count(b"\n") == 1  # the open file has one record more than the folder had
    assert b"observe 12" not in connection.lines


def test_pauses_grow_and_are_bounded() -> None:
    pauses = [pause_s(failures, 1.0) for failures in range(1, 40)]
    assert pauses == sorted(pauses)
    assert pauses[0] == 2.0
    assert pauses[-1] == 300.0
    assert pause_s(1, 0.0) == 1.0


@in_loop
async def test_an_unknown_host_ends_the_first_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    run = Run(5000, tmp_path, host="no.such.example")
    with pytest.raises(LoginError, match=r"^The name no.such.example cannot be looked up \(Name or .*\); check how"):
        await run.task


@in_loop
async def test_a_temporary_failure_of_name_lookup_is_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_yet(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", not_yet)
    run = Run(5000, tmp_path, host="chess.example")
    await run.until(lambda: any("Temporary failure in name resolution). Trying again" in one for one in run.messages))
    run.stop.set()
    with pytest.raises(LoginError, match="Nothing was recorded"):
        await run.task


@in_loop
async def test_a_failed_lookup_of_a_known_host_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)
    real, calls = socket.getaddrinfo, []

    def sometimes(*words: Any, **more: Any) -> Any:
        calls.append(words)
        if len(calls) in (2, 3):
            raise socket.gaierror(-3, "Temporary failure in name resolution")
        return real(*words, **more)

    monkeypatch.setattr(socket, "getaddrinfo", sometimes)
    first = Dialogue(FICS, script=[Hear(b"games"), Fault.CLOSE], answers=ANSWERS)
    second = Dialogue(FICS, script=WATCHED, answers=ANSWERS)
    async with ScriptedServer(lambda number: second if number else first) as server:
        run = Run(server.port, tmp_path, host="localhost")
        await run.until(lambda: run.capture.progress.boards == 2)
        await run.end()
    failed = "The name localhost cannot be looked up (Temporary failure in name resolution). Trying again in 0 s."
    assert run.messages.count(failed) == 2


@in_loop
async def test_a_refused_port_is_retried_and_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    run = Run(port, tmp_path)
    await run.until(lambda: bool(run.messages))
    assert run.messages[0] == f"127.0.0.1:{port} refuses the connection; no server listens there. Trying again in 1 s."
    run.stop.set()
    with pytest.raises(LoginError, match=r"no server listens there\. Nothing was recorded\.$"):
        await run.task


@in_loop
async def test_stopping_does_not_wait_for_a_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_up = []

    async def never(_: object) -> socket.socket:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.append(run.stop.is_set())
        raise AssertionError

    monkeypatch.setattr("recorder.live.capture.connect", never)
    run = Run(5000, tmp_path)
    await asyncio.sleep(0.05)
    await run.end()
    assert given_up == [True]
    assert not tmp_path.exists() or not list(tmp_path.iterdir())


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten minutes to seconds."""
    monkeypatch.setattr("recorder.live.net.connection.ANSWER_MS", 2500)
    monkeypatch.setattr("recorder.live.net.connection._QUIET_MS", 300)
    monkeypatch.setattr("recorder.live.net.connection._TICK_S", 0.05)
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)


@pytest.mark.long
@pytest.mark.usefixtures("impatient")
@in_loop
async def test_a_dead_connection_is_replaced(tmp_path: Path) -> None:
    first = Dialogue(FICS, script=[*WATCHED[:3], Fault.HALF_OPEN], answers=ANSWERS)
    second = Dialogue(FICS, script=WATCHED, answers=ANSWERS)
    async with ScriptedServer(lambda number: second if number else first) as server:
        run = Run(server.port, tmp_path)
        await run.until(lambda: run.capture.progress.boards == 4)
        await run.end()
    assert any(
        sentence.startswith("Connection presumed dead: the server has not answered for a minute.")
        for sentence in run.messages
    )
    assert b"date" not in (await server.connection(0)).lines  # it was sent, and the server did not read it
    assert "> date" in run.journals


@pytest.mark.usefixtures("impatient")
@in_loop
async def test_a_quiet_server_that_answers_is_alive(tmp_path: Path) -> None:
    answers = {b"games": b"\n\rThere are no games in progress.\n\r", b"date": b"\n\rIt is late.\n\r"}
    async with ScriptedServer(Dialogue(FICS, answers=answers)) as server:
        run = Run(server.port, tmp_path)
        connection = await server.connection()
        await run.until(lambda: connection.lines.count(b"date") >= 3)
        await run.end()
    assert run.capture.progress.connections == 1


@pytest.mark.long
@pytest.mark.usefixtures("impatient")
@in_loop
async def test_a_server_that_does_not_read_takes_no_memory_and_is_presumed_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: list[object] = []

    def narrow(connection: socket.socket, **how: object) -> None:
        options.append(how)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)

    waiting: list[int] = []
    real = Connection._write

    def watched(self: Connection, data: bytes) -> None:
        real(self, data)
        waiting.append(self._transport.get_write_buffer_size())

    monkeypatch.setattr("recorder.live.capture.prepare", narrow)
    monkeypatch.setattr(Connection, "_write", watched)
    # Answers to all of them would be 25 bytes for each 4.
    pings: list[Step] = [Say(b"[G]\x00" * 1000)] * 60
    first = Dialogue(FICS, script=[Hear(b"games"), Fault.DEAF, *pings], answers=ANSWERS)
    async with ScriptedServer(lambda number: Dialogue(FICS) if number else first) as server:
        run = Run(server.port, tmp_path, timeseal=2)
        await run.until(lambda: run.capture.progress.connections == 2)
        await run.end()
    assert options[0] == {"patience_ms": 120_000}  # the system checks as well
    assert any("the server has taken nothing for a minute" in sentence for sentence in run.messages)
    assert 0 < max(waiting) < 600_000
    assert run.journals.count("[G]") == 60_000  # everything that it sent was kept


@pytest.mark.parametrize("version", [1, 2])
@in_loop
async def test_a_connection_with_a_time_seal(version: int, tmp_path: Path) -> None:
    ping = b"\n\r[G]\n\r" if version == 1 else b"[G]\x00"
    script: list[Step] = [
        *(Hear(b"observe 12"), Say(BOARD[:90] + (ping if version == 2 else b"") + BOARD[90:]), Say(ping[:3])),
        *(Say(ping[3:]), Say(MOVE), Say(END)),
    ]  # fmt: skip
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS, script=script, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD, timeseal=version)
        connection = await server.connection()
        await run.until(lambda: run.capture.progress.boards == 2)
        await run.until(lambda: pongs(connection.heard) == version)
        await run.end()
    assert connection.lines[:2] == [b"Ann", PASSWORD.encode()]
    assert connection.lines[-1] == b"quit"
    hello, *sealed = map(unseal, bytes(connection.heard).split(b"\n")[:-1])
    assert hello[0] == {1: b"TIMESTAMP", 2: b"TIMESEAL2"}[version] + b"|ics-recorder|python|"
    assert all(line is not None for line in sealed)
    found = journalled(tmp_path)
    assert found.received == bytes(connection.written)  # including pings
    kept = [line[0] for line in map(unseal, found.sent.split(b"\n")[:-1]) if line is not None]
    assert PASSWORD.encode() not in b"".join(kept)
    assert len(found.sent) == len(connection.heard)
    assert b"*" * (len(Sealing(version).seal_lines(PASSWORD.encode() + b"\n", 1)) - 1) + b"\n" in found.sent
    assert b"Ann" not in kept
    assert {b"observe 12", b"\x029", b"quit"} <= set(kept)
    assert found.notes[0]["timeseal"] == version


def pongs(heard: bytearray) -> int:
    """Return the number of answered pings."""
    return sum(line is not None and line[0] == PING_ANSWER for line in map(unseal, bytes(heard).split(b"\n")[:-1]))


@in_loop
async def test_a_password_too_long_for_the_time_seal_is_refused(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: "hunTer2é", timeseal=1)
        with pytest.raises(LoginError, match="log in without --timeseal, or change the password") as caught:
            await run.task
    assert caught.value.__cause__ is None
    assert "hunTer2" not in run.journals + str(caught.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            b"\n\r**** Auto-logout because you were idle more than one hour. ****\n\r",
            "the server ended the session: **** Auto-l",
        ),
        (b"\n\r    **** Server shutting down immediately. ****\n\r", "the server ended the session: **** Server shut"),
        (b"", "the connection was lost"),
    ],
    ids=["idle", "shutdown", "no-word"],
)
@pytest.mark.parametrize("fault", [Fault.CLOSE, Fault.END])
@in_loop
async def test_a_disconnect_by_the_server_is_reported_in_its_words_and_reconnected(
    words: bytes, message: str, fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)
    first = Dialogue(FICS, script=[Hear(b"games"), Say(words or b"\n\r"), fault], answers=ANSWERS)
    async with ScriptedServer(
        lambda number: Dialogue(FICS, script=WATCHED, answers=ANSWERS) if number else first
    ) as server:
        run = Run(server.port, tmp_path)
        await run.until(lambda: run.capture.progress.boards == 2)
        await run.end()
    (sentence,) = (sentence for sentence in run.messages if "Trying again" in sentence)
    assert sentence.lower().startswith(message.lower())
    (outage,) = (note for note in notes_of(min(tmp_path.iterdir())) if note["kind"] == "outage")
    assert outage["reason"].startswith(message)


@in_loop
async def test_a_bug_in_masking_secrets_loses_only_our_own_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise AssertionError(PASSWORD)

    async with ScriptedServer(Dialogue(FICS, ACCOUNTS, script=WATCHED, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        connection = await server.connection()
        await run.until(lambda: connection.lines == [b"Ann"] or len(connection.lines) > 1)
        monkeypatch.setattr(SecretGuard, "client_sent", broken)
        await run.until(lambda: run.capture.progress.boards == 2)
        await run.end()
    found = journalled(tmp_path)
    assert found.received == bytes(connection.written)
    assert len(found.sent) == len(connection.heard)
    assert PASSWORD not in run.journals + "".join(run.messages)
    assert sum("is masked in the journal (AssertionError: a bug)" in sentence for sentence in run.messages) == 1


@in_loop
async def test_a_bug_in_the_choice_of_games_does_not_end_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise AssertionError("a bug")

    async with ScriptedServer(Dialogue(FICS, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path)
        connection = await server.connection()
        await run.until(lambda: b"observe 12" in connection.lines)
        monkeypatch.setattr(Observing, "decide", broken)
        await run.until(lambda: any("only recorded (AssertionError: a bug)" in sentence for sentence in run.messages))
        await connection.say(END)
        await run.until(lambda: "Removing game 12" in run.journals)
        await run.end()
        assert connection.lines[-1] == b"quit"
