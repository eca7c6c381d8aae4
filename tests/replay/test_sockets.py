"""The replay server on real sockets, by its command line."""

import asyncio
import re
import signal
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from recorder.replay.server.commands import answer_command
from recorder.replay.server.login import Greeting
from recorder.replay.server.session import ReplaySession
from recorder.replay.server.sockets import ReplayClients, ReplayServer
from recorder.replay.show import Happening
from tests.replay.clients import open_show
from tests.support.cli import Cli
from tests.support.corpus import stream_bytes, stream_chunks, truth
from tests.support.journals import timed_journal
from tests.support.live import Caller, Running, in_loop, running
from tests.support.product import run

SCENARIO, CONNECTION = "a01_standard", "observer_GuestObsA"


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded connection with its times."""
    path = tmp_path_factory.mktemp("replay") / "session.journal"
    path.write_bytes(timed_journal(stream_chunks(SCENARIO, CONNECTION)))
    return path


@pytest.fixture(scope="module")
def archive(journal: Path) -> Path:
    path = journal.parent / "a.sqlite"
    Cli(path)("import", journal)
    return path


@asynccontextmanager
async def serving(*words: object) -> AsyncIterator[tuple[Running, int]]:
    """The server, and its port."""
    async with running("replay", "server", "--listen", "0", *words) as command:
        line = await command.until("Connect a client")
        yield command, int(line.split()[-1])


async def logged_in(port: int, name: bytes = b"Looker") -> Caller:
    caller = await Caller.call(port)
    await caller.until(b"login: ")
    caller.send(name + b"\n\n")
    await caller.until(b"fics% ")
    return caller


@in_loop
async def test_clients_watch_games_each_at_its_own_pace(archive: Path) -> None:
    async with serving("--db", archive, "--speed", "50", "--last", "15", "--idle-max", "1") as (command, port):
        one, two = await logged_in(port), await logged_in(port, b"guest")
        one.send(b"set style 12\niset ms 1\nobserve 1\n")
        await one.until(b"checkmated} 1-0")
        two.send(b"set style 12\ngames\nobserve 1\n")
        await two.until(b"1 games displayed")
        answer = await two.until(b"checkmated} 1-0")
        assert answer.count(b"<12>") == 1 + len(truth(SCENARIO)["games"][0]["plies"])
        two.send(b"quit\n")
        assert b"Thank you" in await two.rest()
        assert await command.end(signal.SIGTERM) == 0
        assert b"shutting down" in await one.rest()
    assert "disconnected" in command.talk


@in_loop
async def test_all_clients_share_one_clock(archive: Path) -> None:
    async with serving("--db", archive, "--shared", "--observe", "--speed", "30", "--last", "15") as (_, port):
        one, two = await logged_in(port), await logged_in(port, b"Other")
        for caller in (one, two):
            caller.send(b"set style 12\niset ms 1\n")
        ends = [await caller.until(b"Removing game 1") for caller in (one, two)]
        boards = [re.findall(rb"^<12>.*$", end.replace(b"\r", b""), re.M) for end in ends]
        assert boards[0][-5:] == boards[1][-5:]
        one.send(b"tell replay pause\n")
        await one.until(b"is shared")


def behind_login() -> bytes:
    """Return what the recorded connection received after its login."""
    recorded = b"".join(data for _, data in stream_chunks(SCENARIO, CONNECTION))
    match = re.search(rb"\*{4} Starting [^\r\n]*\*{4}[\r\n]*", recorded)
    return recorded[match.end() :]


@in_loop
async def test_clients_of_replayed_bytes_share_one_clock(journal: Path) -> None:
    """A client that connects later gets the rest; no client moves the clock."""
    expected = behind_login()
    async with serving(journal, "--shared", "--speed", "20", "--idle-max", "5") as (_, port):
        one = await Caller.call(port)
        await one.until(b"login: ")
        one.send(b"Anybody\n\n")
        await one.until(b"**** Starting FICS session as Anybody ****\n\r\n\r")
        heard = await one.until(b"<12> ")
        two = await Caller.call(port)
        await two.until(b"login: ")
        two.send(b"Somebody\n\ntell replay speed 900\n")
        await two.until(b"replay tells you: The time of this replay is shared")
        both = [await caller.until(expected[-200:]) for caller in (one, two)]
        assert heard + both[0] == expected
        assert expected.endswith(both[1][-20_000:])
        assert len(both[1]) > 20_000


class Broken(ReplaySession):
    """A session that fails at the tenth event, or at a command."""

    left = 10

    def happen(self, happenings: Iterable[Happening], now_ns: int) -> None:
        self.left -= self.handle is not None
        super().happen(happenings, now_ns)
        if not self.left:
            raise ZeroDivisionError("no such luck")

    def _command(self, text: str) -> None:
        if text == "break":
            raise ZeroDivisionError("on purpose")
        super()._command(text)


@pytest.mark.parametrize("shared", [True, False])
@in_loop
async def test_a_bug_in_one_session_ends_only_this_session(shared: bool) -> None:
    games = run([stream_bytes(SCENARIO, CONNECTION)], "raw")[0]
    stage = open_show(games)

    def make(number: int, now_ns: int) -> ReplaySession:
        kind = Broken if number else ReplaySession
        show = stage if shared else open_show(games, apart=True)
        return kind(show, number, Greeting(observe=True), answer_command, shared=shared)

    talk: list[str] = []
    stop = asyncio.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    server = ReplayServer(ReplayClients(make, stage if shared else None), talk.append)
    task = asyncio.create_task(server.serve([listener], stop))
    port = listener.getsockname()[1]
    well, broken, typing = [await logged_in(port, name) for name in (b"Well", b"Broken", b"Typing")]
    typing.send(b"break\n")
    assert b"has a fault" in await typing.rest()
    broken.send(b"set style 12\n")
    assert b"has a fault" in await broken.rest()
    well.send(b"set style 12\ndate\n")
    await well.until(b"GMT")
    await well.until(b"<12>")
    stop.set()
    await task
    assert [line for line in talk if "a bug" in line] == [
        "Typing was disconnected (ZeroDivisionError: on purpose, test_sockets.py line LINE, a bug).".replace(
            "LINE", str(Broken._command.__code__.co_firstlineno + 2)
        ),
        "Broken was disconnected (ZeroDivisionError: no such luck, test_sockets.py line LINE, a bug).".replace(
            "LINE", str(Broken.happen.__code__.co_firstlineno + 4)
        ),
    ]


def test_a_late_shared_replay_is_sent_in_parts() -> None:
    """Between the parts clients are served; nothing is skipped."""
    stage = open_show(run([stream_bytes(SCENARIO, CONNECTION)], "raw")[0])
    house = ReplayClients(
        lambda number, _: ReplaySession(stage, number, Greeting(observe=True), answer_command, shared=True), stage
    )
    clients = [client for client in (house.connect(0) for _ in range(40)) if client is not None]
    for client in clients:
        house.receive(client, b"Looker\n\niset ms 1\nset style 12\n", 0)
        client.take_output()
    boards: list[int] = []
    failed: list[Exception] = []
    while house.due_ns is not None:
        house.tick(10**15, lambda _, error: failed.append(error))
        heard = {client.take_output().count(b"<12> ") for client in clients}
        assert len(heard) == 1
        boards += heard
    assert not failed
    assert max(boards) <= 10
    assert sum(boards) > 500


@in_loop
async def test_a_journal_is_replayed_from_the_end_of_its_login(journal: Path) -> None:
    expected = behind_login()
    async with serving(journal, "--speed", "500") as (_, port):
        caller = await Caller.call(port)
        await caller.until(b"login: ")
        caller.send(b"Anybody\n\n")
        await caller.until(b"**** Starting FICS session as Anybody ****\n\r\n\r")
        assert await caller.until(expected[-200:]) == expected
        caller.send(b"observe 1\nwhat?\nquit\n")
        assert (await caller.rest()).strip().startswith(b"Logging you out.")


@in_loop
async def test_a_place_in_a_journal_is_one_of_its_games(journal: Path) -> None:
    async with serving(journal, "--from", "#3/10w", "--pause-at", "result", "--pause-at", "tea") as (command, port):
        assert (
            "Warning: no event is called 'tea', so the replay does not pause there; known: abort-accepted, "
            in command.talk
        )
        caller = await Caller.call(port)
        await caller.until(b"login: ")
        caller.send(b"Anybody\n\n")
        frame = (await caller.until(b"\n\rfics% ")).split(b"<12> ")[1].split()
        assert (frame[15], frame[16], frame[8], frame[25]) == (b"1", b"Anderssen", b"B", b"10")
        caller.send(b"tell replay speed 900\n")
        await caller.until(b"{Game 1 (Anderssen vs. Steinitz) Steinitz resigns} 1-0")
        caller.send(b"tell replay where\n")
        await caller.until(b"replay tells you: paused at ")


@in_loop
async def test_a_client_that_does_not_read_is_disconnected_and_delays_no_other(archive: Path) -> None:
    async with serving("--db", archive, "--last", "15") as (command, port):
        deaf, other = await logged_in(port, b"Deaf"), await logged_in(port, b"Other")
        deaf.send(b"examine #1\nunexamine\n" * 500 + b"variables\n" * 100_000)
        for _ in range(20):
            other.send(b"date\n")
            await other.until(b"GMT")
        await command.until("Deaf reads too slowly")
        other.send(b"quit\n")
        await other.rest()


def test_a_disconnected_client_that_reads_the_rest_is_not_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The unread bytes are sent when the client reads on; then the connection ends normally."""
    monkeypatch.setattr("recorder.replay.server.sockets._FAREWELL_S", 0.5)
    games = run([stream_bytes(SCENARIO, CONNECTION)], "raw")[0][:1]
    stage = open_show(games)
    faults: list[str] = []

    @in_loop
    async def late() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(str(context)))
        sent_away, stop = asyncio.Event(), asyncio.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        house = ReplayClients(
            lambda number, _: ReplaySession(stage, number, Greeting(), answer_command, shared=True), stage
        )
        server = ReplayServer(house, lambda text: sent_away.set() if "too slowly" in text else None)
        task = asyncio.create_task(server.serve([listener], stop))
        deaf = await logged_in(listener.getsockname()[1])
        deaf.send(b"variables\n" * 100_000)
        await sent_away.wait()
        over = loop.time() + 0.5
        reading = asyncio.create_task(deaf.reader.read())
        await asyncio.sleep(over + 0.1 - loop.time())
        reading.cancel()
        stop.set()
        await task

    late()
    assert not faults


@in_loop
async def test_long_lines_and_invalid_bytes_are_answered(archive: Path) -> None:
    async with serving("--db", archive, "--last", "1") as (_, port):
        caller = await Caller.call(port)
        await caller.until(b"login: ")
        caller.send(b"\xff\xfd\x03" + b"x" * 100_000 + b"\nLooker\n\n")
        await caller.until(b"too long")
        await caller.until(b"fics% ")
        caller.send(bytes(range(256)) * 40 + b"\ndate\n")
        await caller.until(b"GMT")
        await asyncio.sleep(0)


def test_inputs_that_cannot_be_replayed_are_refused(archive: Path, journal: Path) -> None:
    cli = Cli(archive)
    assert "No games to replay match these filters" in cli("replay", "server", "--since", "2099", code=1).stderr
    assert "not both" in cli("replay", "server", journal, "abc", code=2).stderr
    assert "no.journal: no such file" in cli("replay", "server", journal.with_name("no.journal"), code=3).stderr
    assert "is no file" in cli("replay", "server", journal.parent, code=3).stderr
    assert "--last selects games of the archive" in cli("replay", "server", journal, "--last", "1", code=2).stderr
    assert "omit --pause-at" in cli("replay", "server", "--shared", "--pause-at", "end", code=2).stderr
    assert "no move" in cli("replay", "server", "--last", "1", "--from", "200w", code=3).stderr
    assert "no move" in cli("replay", "server", "last", "--from", "200w", code=3).stderr
    assert "is not a speed" in cli("replay", "server", "--speed", "0", code=2).stderr
