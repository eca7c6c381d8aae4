"""Work that may take for ever, for a disk or a name server, and must hold up neither the loop nor the program's end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast

__all__ = ["in_thread"]

_Result = TypeVar("_Result")


async def in_thread(work: Callable[[], _Result], too_late: Callable[[_Result], object] = lambda _late: None) -> _Result:
    """Do what may take for ever in a thread that holds up nobody's end.

    Args:
        work: what is to be done.
        too_late: is given the result if nobody waits for it any more.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Result] = loop.create_future()

    def settle(result: _Result | None, error: Exception | None) -> None:
        if done.cancelled():
            if result is not None:
                threading.Thread(target=too_late, args=(result,), daemon=True).start()
        elif error is not None:
            done.set_exception(error)
        else:
            done.set_result(cast(_Result, result))

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as failure:
            error = failure
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, daemon=True).start()
    return await done
