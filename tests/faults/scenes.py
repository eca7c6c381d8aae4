"""What the faults share: a server and its script, a proxy with a client, a random moment, a clean end."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from recorder.errors import ExitCode
from tests.faults.traffic import dialogue, steps, total_bytes
from tests.faults.world import Run, Troubles, World, until
from tests.support.live import Caller
from tests.support.script import Say, Step
from tests.support.testserver import Connection, ScriptedServer

PROXIED = ("--chat", "own")
"""How an import reads a proxy's journals as the proxy does."""

_LOGIN_BYTES = 600  # about what a server says before the script begins


def serving(world: World, *scripts: list[Step]) -> ScriptedServer:
    """A server that goes through a script for each connection; later ones hear nothing but a prompt."""
    return ScriptedServer(
        lambda number: dialogue(f"{world.seed}/{number}", scripts[number] if number < len(scripts) else [])
    )


def script_of(world: World, number: int = 0, *, games: int = 3, lasting_s: float = 0.8) -> list[Step]:
    return steps(world.seed * 100 + number, world.chance, games=games, lasting_s=lasting_s)


async def moment(world: World, connection: Connection, script: list[Step], run: Run | None = None) -> None:
    """Wait until the server has said a random part of its script."""
    await world.written(connection, world.chance.randrange(_LOGIN_BYTES, total_bytes(script) + _LOGIN_BYTES), run)


async def end_cleanly(world: World, run: Run, connection: Connection, number: int = signal.SIGTERM) -> None:
    """Ask a recorder to leave: then all that the server said is in the journal."""
    await run.end(number)
    session = world.check_received(connection, len(connection.written))
    if not session.closed:
        raise Troubles("the journal was not closed")


async def end_whatever_the_archive(world: World, run: Run, connection: Connection) -> None:
    """Everything was recorded, even if the archive could not take it; then it says so."""
    await run.end(signal.SIGTERM, status=(ExitCode.OK, ExitCode.ARCHIVE))
    session = world.check_received(connection, len(connection.written))
    if not session.closed:
        raise Troubles("the journal was not closed")


@asynccontextmanager
async def proxied(world: World, server: ScriptedServer, **how: Any) -> AsyncIterator[tuple[Run, Caller]]:
    """A proxy and a guest who plays through it and hears all that comes."""
    run = await world.run(
        *("proxy", f"127.0.0.1:{server.port}", "--listen", "127.0.0.1:0", "--sync", world.sync),
        *("--journal-dir", world.journals, "--pgn", world.pgn),
        **how,
    )
    await run.says("Listening on ")
    port = int(run.talk.split("Listening on ", 1)[1].split(" for ", 1)[0].rpartition(":")[2])
    caller = await Caller.call(port)
    caller.send(b"guest\n\n")
    listening = asyncio.create_task(_listen(caller))
    try:
        yield run, caller
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        caller.writer.transport.abort()
        with contextlib.suppress(ValueError):
            Caller.open.remove(caller)


async def heard_all(run: Run, caller: Caller, connection: Connection, script: list[Step]) -> None:
    """Wait until a proxy's client has heard all that the server had to say: nothing else has ended the game."""
    sent = connection.written
    await until(lambda: (connection.done.is_set() and len(caller.heard) >= len(sent)) or run.ended, "the game hangs")
    whole = b"".join(step.data for step in script if isinstance(step, Say))
    if len(sent) < len(whole) or bytes(caller.heard) != bytes(sent):
        what = f"the client heard {len(caller.heard):,} bytes, the server said {len(sent):,} of at least {len(whole):,}"
        raise Troubles(f"{what}: {run.talk}")


async def goes_on(run: Run, caller: Caller, connection: Connection) -> None:
    """What the client types comes to the server: a proxy that records no more still forwards."""
    await run.says("RECORDING HAS ENDED")
    caller.send(b"tell Ann still here\n")
    await until(lambda: b"tell Ann still here" in connection.lines or run.ended, "the server does not hear the client")
    if run.ended:
        raise Troubles(f"the proxy ended with its journal: {run.talk}")


async def _listen(caller: Caller) -> None:
    with contextlib.suppress(OSError):
        await caller.rest()
