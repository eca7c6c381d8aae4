"""Faults of processes: a recorder is killed, or is not alone."""

import asyncio
import os
import signal
from collections.abc import Awaitable

from tests.faults.reader import read_folder
from tests.faults.scenes import PROXIED, end_cleanly, moment, proxied, script_of, serving
from tests.faults.traffic import TABLE
from tests.faults.world import Run, World, until
from tests.support.script import Step
from tests.support.testserver import Connection, ScriptedServer

# What the server must have said before a recorder says this: it acts only on what is journalled.
_CAUSES = {
    b"guest": b"login: ",
    b"": b"Press return",
    b"iset ms 1": b"**** Starting",
    b"games": b"**** Starting",
    b"observe 12": TABLE,
}


async def sigkill(world: World) -> None:
    """SIGKILL of the recorder, of what follows the journal, of both, or of a proxy."""
    victim = world.turn("recorder", "family", "recorder", "follower", "recorder", "proxy")
    script, next_script = script_of(world), script_of(world, 1, games=1, lasting_s=0.2)
    async with serving(world, script, next_script) as server:
        if victim == "proxy":
            await _sigkill_of_proxy(world, server, script)
            return
        run = await world.record(server)
        connection = await server.connection()
        if victim == "follower":
            await moment(world, connection, script)
            await until(lambda: bool(run.children()), "nothing follows the journal")
            for number in run.children():
                os.kill(number, signal.SIGKILL)
            await connection.done.wait()
            await end_cleanly(world, run, connection)
            await world.check_archive()
            await world.check_pgn()
            return
        at_least = await _kill_moment(world, connection, script)
        if victim == "family":
            run.kill_all()
        await run.end(signal.SIGKILL, status=-signal.SIGKILL)
        world.check_received(connection, at_least)
        await world.check_status(written=0, left_open=len(read_folder(world.journals)))
        by_record = world.chance.random() < 0.6
        await _next_start(world, server, 1, by_record=by_record)
        if by_record:
            await world.check_status(written=0, left_open=0)
    world.check_received(connection, at_least)
    await world.check_archive()
    await world.check_pgn(all_of_them=by_record)


async def _kill_moment(world: World, connection: Connection, script: list[Step]) -> int:
    """Wait for a moment; how many of the server's bytes must be journalled then."""
    how = world.chance.choice(("byte", "synced", "line"))
    if how == "line":  # what the recorder acted on, it has written down
        count = world.chance.randrange(1, 13)
        await until(lambda: len(connection.lines) >= count, f"the recorder never said {count} lines")
        cause = next(cause for line in reversed(connection.lines[:count]) if (cause := _CAUSES.get(line)))
        return bytes(connection.written).index(cause) + len(cause)
    await moment(world, connection, script)
    return await world.journalled(connection) if how == "synced" else 0


async def _sigkill_of_proxy(world: World, server: ScriptedServer, script: list[Step]) -> None:
    async with proxied(world, server) as (run, caller):
        connection = await server.connection()
        await moment(world, connection, script)
        # Nothing that the client has seen is missing with "always"; else what waits for the disk is.
        at_least = len(caller.heard) if world.sync == "always" else await world.journalled(connection)
        await run.end(signal.SIGKILL, status=-signal.SIGKILL)
        world.check_received(connection, at_least)
    await world.do("import", *PROXIED, world.journals)
    await world.check_archive(words=PROXIED)


async def _next_start(world: World, server: ScriptedServer, number: int, *, by_record: bool) -> None:
    """What a crash left goes into the archive: by the next recorder, or by an import."""
    if by_record:
        run = await world.record(server)
        connection = await server.connection(number)
        await connection.done.wait()
        await end_cleanly(world, run, connection)
        if "The archive is incomplete: ics-recorder import --db " not in run.talk:
            return
    await world.do("import", world.journals)


async def two_recorders(world: World) -> None:
    """Two recorders write one archive at the same time, to one PGN or to two; one of them may be killed."""
    other_games = world.chance.random() < 0.7
    scripts = script_of(world), script_of(world, int(other_games))
    one_pgn = world.chance.random() < 0.5
    killed = world.turn("both leave", "both leave", "one is killed") == "one is killed"
    async with serving(world, *scripts) as server:
        pgns = [world.pgn, world.pgn if one_pgn else world.folder / "second.pgn"]
        runs = [await world.record(server, "--pgn", pgn) for pgn in pgns]
        connections = [await server.connection(number) for number in (0, 1)]
        victim = await _run_of(world, runs, connections[0])
        survivor = runs[1 - runs.index(victim)]
        if killed:
            await moment(world, connections[0], scripts[0])
            at_least = await world.journalled(connections[0])
            await victim.end(signal.SIGKILL, status=-signal.SIGKILL)
            await connections[1].done.wait()
            await end_cleanly(world, survivor, connections[1])
            world.check_received(connections[0], at_least)
            await world.do("import", world.journals)
        else:
            for connection in connections:
                await connection.done.wait()
            at_once: list[Awaitable[None]] = [run.end(signal.SIGTERM) for run in runs]
            await asyncio.gather(*at_once)
            for connection in connections:
                world.check_received(connection, len(connection.written))
    await world.check_archive()
    for pgn in set(pgns):
        await world.check_pgn(pgn, all_of_them=one_pgn and not killed)


async def _run_of(world: World, runs: list[Run], connection: Connection) -> Run:
    """Which of the recorders has a connection."""
    await until(lambda: bool(world.session_of(connection).files), "no journal has the connection's banner")
    name = world.session_of(connection).files[0].name
    await until(lambda: any(name in run.talk for run in runs), "no recorder named the journal")
    return next(run for run in runs if name in run.talk)
