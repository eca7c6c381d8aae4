"""A loop in which some sockets are looked at before everything else, and read in the same breath.

asyncio runs through some fifteen functions between the moment when the system says that something has come and the one
when somebody gets it. On a processor that was asleep they take longer than the rest of the way to the disk.
"""

from __future__ import annotations

import asyncio
import select
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from recorder.live.watched import Watched

__all__ = ["run_promptly", "unwatch", "watch"]

_Result = TypeVar("_Result")


class _PromptLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.watched = Watched(selectors.EpollSelector(), select.epoll())
        super().__init__(cast(selectors.BaseSelector, self.watched))


def run_promptly(work: Coroutine[Any, Any, _Result]) -> _Result:
    """What ``asyncio.run`` does, in a loop in which ``watch`` is quick, where the system has what that takes."""
    if not hasattr(select, "epoll"):
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=_PromptLoop) as runner:
        return runner.run(work)


def watch(fd: int, ready: Callable[[], None]) -> None:
    """Have something called in the running loop whenever a file can be read.

    Args:
        fd: of the file. ready: must not raise; it may be called while the loop is still asking what has happened.
    """
    loop = asyncio.get_running_loop()
    if isinstance(loop, _PromptLoop):
        loop.watched.watch(fd, ready)
    else:
        loop.add_reader(fd, ready)


def unwatch(fd: int) -> None:
    """The opposite, while the file is still open."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, _PromptLoop):
        loop.watched.unwatch(fd)
    else:
        loop.remove_reader(fd)
