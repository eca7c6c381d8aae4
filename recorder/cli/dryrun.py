"""``record --dry-run``: what would be sent to a server, from its own table of games."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Final

from recorder.cli.terminal import clean, plural, print_table, say
from recorder.errors import LoginError
from recorder.live.address import Address, format_address
from recorder.live.dialling import connect, failure_reason, why_no_connection
from recorder.live.login import Login
from recorder.live.plan import Plan
from recorder.live.rehearsal import Rehearsal
from recorder.live.sealing import Sealing

__all__ = ["dry_run"]

_TAKES_S: Final = 30.0
_READ_BYTES: Final = 1 << 16


def dry_run(
    server: Address, user: str | None, password: Callable[[], str] | None, timeseal: int | None, plan: Plan
) -> None:
    """Log in, ask for the table of games, leave, and print what ``record`` would have sent.

    Args:
        timeseal: the version of the time seal; None: the connection is not sealed.
    Raises:
        LoginError: no connection comes about, or the server does not let us in.
    """
    rehearsal = Rehearsal(Login(user, password), plan)
    asyncio.run(_visit(server, rehearsal, None if timeseal is None else Sealing(timeseal)))
    said, games = rehearsal.result()
    print_table(
        ("command", "White", "Black", "why"),
        [
            (line.command, None, None, None)
            if (game := line.game) is None
            else (line.command, game.facts.white, game.facts.black, game.reason)
            for line in said
        ],
    )
    observed = sum(line.game is not None for line in said)
    who = "" if rehearsal.we is None or rehearsal.we.handle is None else f" as {clean(rehearsal.we.handle)}"
    say(
        f"Nothing of this was sent to {format_address(server)} but the login{who} and the request for its games: "
        f"{plural(len(games), 'game')}, {observed:,} would be observed."
    )


async def _visit(server: Address, rehearsal: Rehearsal, sealing: Sealing | None) -> None:
    try:
        connected = await connect(server)
    except OSError as error:
        raise LoginError(f"{why_no_connection(server, error)}.") from error
    reader, writer = await asyncio.open_connection(sock=connected)
    try:
        await _talk(reader, writer, rehearsal, sealing)
    except TimeoutError as error:
        raise LoginError(f"{format_address(server)} takes nothing of what is sent.") from error
    except OSError as error:
        raise LoginError(f"The connection to {format_address(server)} was lost ({failure_reason(error)}).") from error
    finally:
        writer.transport.abort()


async def _talk(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rehearsal: Rehearsal, sealing: Sealing | None
) -> None:
    def say_lines(lines: bytes, now_ms: int) -> None:
        writer.write(lines if sealing is None else sealing.seal_lines(lines, now_ms))

    if sealing is not None:
        writer.write(sealing.hello(0))
    while True:
        data = None
        with contextlib.suppress(TimeoutError):
            data = await asyncio.wait_for(reader.read(_READ_BYTES), 1.0)
        now_ms = time.monotonic_ns() // 1_000_000
        if data == b"":
            return rehearsal.closed()
        if data is not None:
            if sealing is not None:
                writer.write(sealing.answers(data, now_ms))
            say_lines(rehearsal.receive(data, now_ms), now_ms)
        say_lines(rehearsal.take(now_ms), now_ms)
        await asyncio.wait_for(writer.drain(), _TAKES_S)
        if rehearsal.finished:
            with contextlib.suppress(OSError):  # good-bye is said; that the server is gone now is no failure
                writer.close()
                await asyncio.wait_for(writer.wait_closed(), _TAKES_S)
            return None
