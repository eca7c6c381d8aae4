"""What the signals that end a program do while something is recorded, followed or served."""

from __future__ import annotations

import asyncio
import signal

__all__ = ["heed_signals"]


def heed_signals(stop: asyncio.Event, hurry: asyncio.Event) -> None:
    """Ctrl-C or SIGTERM sets ``stop``, and once that is set ``hurry``; a terminal that goes away sets ``stop``.

    To be called in the loop.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: (hurry if stop.is_set() else stop).set())
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # ignored under nohup: the terminal may go
        loop.add_signal_handler(signal.SIGHUP, stop.set)
