"""Faults of the line: a reset, a line that is dead without a word, a server that stops reading."""

import asyncio
import signal
import time
from contextlib import AsyncExitStack

from tests.faults.scenes import PROXIED, end_cleanly, heard_all, moment, proxied, script_of, serving
from tests.faults.world import Troubles, World, delivered, one_sentence
from tests.support.script import Fault, Step
from tests.support.testserver import Connection

# The command, but for its patience with a silent line, which is two minutes.
_IMPATIENT = (
    "import recorder.live.net.connection as p; p._QUIET_MS = p.ANSWER_MS = 1500; from recorder.cli import main; main()"
)


async def reset(world: World) -> None:
    """The server's system resets the connection, perhaps right after a burst; a second connection goes on."""
    script, next_script = script_of(world), script_of(world, 1, games=2, lasting_s=0.4)
    async with serving(world, script, next_script) as server:
        if world.turn("record", "record", "record", "proxy") == "proxy":
            async with proxied(world, server) as (run, _):
                connection = await server.connection()
                at_least = await _reset(world, connection, script)
                await run.says("was ended by the server")
                await run.end(signal.SIGTERM)
            world.check_received(connection, at_least)
            await world.check_archive(words=PROXIED)
            await world.check_pgn()
            return
        run = await world.record(server)
        connection = await server.connection()
        at_least = await _reset(world, connection, script)
        second = await server.connection(1)
        session = world.check_received(connection, at_least)
        await second.done.wait()
        await end_cleanly(world, run, second)
        notes = [note["kind"] for note in session.notes + world.session_of(second).notes]
        if "outage" not in notes or not session.closed:
            raise Troubles(f"no outage is noted, or the first journal was not closed: {notes}")
    await world.check_archive()
    await world.check_pgn()


async def _reset(world: World, connection: Connection, script: list[Step]) -> int:
    """Reset at a random moment; how many bytes had arrived at the recorder's system."""
    await moment(world, connection, script)
    if world.chance.random() < 0.7:  # some fill what a reader keeps between the system and the journal
        await connection.say(
            b"\n\ra burst\n\rfics% " * world.chance.choice((1, world.chance.randrange(4_000, 7_500), 20_000))
        )
    await asyncio.sleep(world.chance.choice((0.0, 0.0, 0.001, 0.005)))
    at_least = delivered(connection)
    connection.fail(Fault.RESET)
    return at_least


async def half_open(world: World) -> None:
    """The line is dead without a word: a recorder leaves when asked to, and connects again after a long silence."""
    script, next_script = script_of(world), script_of(world, 1, games=2, lasting_s=0.4)
    async with serving(world, script, next_script) as server, AsyncExitStack() as stack:
        way = world.turn("leaves", "waits", "leaves", "waits", "proxy leaves")
        if way != "waits":
            if way == "leaves":
                run = await world.record(server)
            else:
                run, _ = await stack.enter_async_context(proxied(world, server))
            connection = await server.connection()
            await moment(world, connection, script)
            connection.fail(Fault.HALF_OPEN)
            began_s = time.monotonic()
            await run.end(world.chance.choice((signal.SIGTERM, signal.SIGINT)))
            if time.monotonic() - began_s > 30:
                raise Troubles("it took more than half a minute to leave")
            world.check_received(connection, len(connection.written))
        else:
            run = await world.record(server, program=("-c", _IMPATIENT))
            connection = await server.connection()
            await moment(world, connection, script)
            connection.fail(Fault.HALF_OPEN)
            second = await server.connection(1)
            world.check_received(connection, len(connection.written))
            one_sentence(run.talk, "Connection presumed dead: the server has not answered")
            await second.done.wait()
            await end_cleanly(world, run, second)
    await world.check_archive(words=PROXIED if way == "proxy leaves" else ())
    await world.check_pgn()


async def deaf(world: World) -> None:
    """The server goes on talking, but reads no more; or the client of a proxy does not."""
    script = script_of(world)
    async with serving(world, script) as server:
        if world.turn("record", "proxy") == "record":
            run = await world.record(server)
            connection = await server.connection()
            await moment(world, connection, script)
            connection.fail(Fault.DEAF)
            await connection.done.wait()
            at_least = await world.journalled(connection)
            await run.end(signal.SIGTERM)
            world.check_received(connection, at_least)
            await world.check_archive()
            await world.check_pgn()
            return
        async with proxied(world, server) as (run, caller):
            connection = await server.connection()
            await moment(world, connection, script)
            connection.fail(Fault.DEAF)
            typed = b"tell Ann hello\n" * 400_000  # more than all systems on the way hold
            caller.send(typed)
            await heard_all(run, caller, connection, script)
            await world.journalled(connection)
            await run.end(signal.SIGTERM)
            session = world.check_received(connection, len(connection.written))
            if not (b"*****\n\n" + typed).startswith(bytes(session.sent)):
                raise Troubles("the journal holds other words of the client than it sent")
    await world.check_archive(words=PROXIED)
    await world.check_pgn()
