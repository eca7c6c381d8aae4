"""The loop that looks at some files first is a loop like any other."""

from __future__ import annotations

import asyncio
import os
import select
import socket
import sys

import pytest

from recorder.live.incoming import Incoming, open_connection
from recorder.live.prompt import run_promptly, unwatch, watch


@pytest.mark.parametrize("quick", [False, True])
def test_what_is_watched_is_called_until_it_is_no_longer(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not quick:
        monkeypatch.delattr(select, "epoll", raising=False)

    async def work() -> str:
        reader, writer = os.pipe()
        seen: list[bytes] = []
        got = asyncio.Event()

        def ready() -> None:
            seen.append(os.read(reader, 100))
            got.set()

        watch(reader, ready)
        for word in (b"one", b"two"):
            os.write(writer, word)
            await asyncio.wait_for(got.wait(), 10)
            got.clear()
        assert seen == [b"one", b"two"]
        unwatch(reader)
        os.write(writer, b"three")
        await asyncio.sleep(0.01)
        assert seen == [b"one", b"two"]
        os.close(writer)
        os.close(reader)
        return "done"

    assert run_promptly(work()) == "done"


def test_all_else_goes_on_in_it() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            ours = socket.create_connection(listener.getsockname())
            theirs, _ = listener.accept()
        ours.setblocking(False)
        theirs.setblocking(False)
        heard, ended = bytearray(), asyncio.Event()
        incoming = Incoming(ours, heard.extend, ended.set)
        transport = await open_connection(ours, incoming)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "print('from a process')", stdout=asyncio.subprocess.PIPE
        )
        much = bytes(1 << 22)
        transport.write(much)  # more than the system takes at once: the loop itself waits for room
        incoming.resume()
        await loop.sock_sendall(theirs, b"x" * 100_000)
        got = 0
        while got < len(much):
            got += len(await loop.sock_recv(theirs, 1 << 20))
        assert await process.communicate() == (b"from a process\n", None)
        assert await asyncio.to_thread(lambda: 7) == 7
        theirs.close()
        await ended.wait()
        assert heard == b"x" * 100_000
        assert incoming.failure is None
        transport.close()
        await incoming.closed

    run_promptly(asyncio.wait_for(work(), 60))
