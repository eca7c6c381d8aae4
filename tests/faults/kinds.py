"""The faults by name; docs/reliability.md has the behaviour that they demand."""

from collections.abc import Awaitable, Callable

from tests.faults.lines import deaf, half_open, reset
from tests.faults.machine import clock_back, disk_full, locked, removed
from tests.faults.processes import sigkill, two_recorders
from tests.faults.world import World

KINDS: dict[str, Callable[[World], Awaitable[None]]] = {
    "sigkill": sigkill,
    "reset": reset,
    "half-open": half_open,
    "deaf": deaf,
    "disk-full": disk_full,
    "locked": locked,
    "clock-back": clock_back,
    "removed": removed,
    "two-recorders": two_recorders,
}
