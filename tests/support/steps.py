"""Counts the lines of the program that a function runs: its work, whatever the machine is and does.

Compiled modules show no lines: ``count_in_sources`` runs a function of a test module in a process that loads sources.
"""

import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tests.support.compiled import ROOT

_PACKAGES = tuple(f"{ROOT / name}/" for name in ("recorder", "storage", "exporters"))


def lines_run(work: Callable[[], object]) -> int:
    """Count the lines of the program that run while ``work`` does."""
    count = 0

    def in_frame(frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return in_frame

    def entered(frame: FrameType, _event: str, _arg: Any) -> Any:
        return in_frame if frame.f_code.co_filename.startswith(_PACKAGES) else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def count_in_sources(module: str, function: str) -> str:
    """Run a function of a test module in a process that loads sources only.

    Returns:
        What the function printed.
    """
    words = (
        "import sys; from tests.support.pure import load_sources_only; load_sources_only();"
        f" from {module} import {function}; {function}()"
    )
    return subprocess.run([sys.executable, "-c", words], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
