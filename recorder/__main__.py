"""The program ``ics-recorder``, also as ``python -m recorder``."""

from __future__ import annotations

import signal
import sys


def run() -> None:
    """Run the command. While its modules load, Ctrl-C ends the process at once, and so without a traceback."""
    if (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):  # it may be ignored, as in the background of a shell
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from recorder.cli import main

    try:
        main(prog_name="ics-recorder")
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    from pathlib import Path

    # Python looks for modules in the current folder first, where a storage.py may be that is not ours.
    if not sys.flags.safe_path and Path(sys.path[0]).resolve() != Path(__file__).resolve().parents[1]:
        del sys.path[0]
    run()
