"""Runs commands without what Windows lacks: ``python -m tests.support.windows``, a JSON array of words a line of stdin.

Modules, functions, constants and signals of POSIX are removed before the program is loaded. As on Windows, a folder
cannot be opened, a file opened for reading cannot be synced, and an open file can neither be renamed nor removed.
The process ends with the first command that fails.
"""

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from errno import EACCES, EBADF
from importlib import import_module
from pathlib import Path
from typing import Any

PRELOADED = ("asyncio", "platformdirs.unix", "shutil", "subprocess")
"""Modules that need some of it on this system only."""
MODULES = ("curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
SIGNALS = frozenset(("SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN"))
"""What Windows has, besides two signals of its own."""
OF_SIGNAL = (
    *("alarm", "getitimer", "pause", "pthread_kill", "pthread_sigmask", "setitimer", "siginterrupt", "sigpending"),
    *("sigtimedwait", "sigwait", "sigwaitinfo"),
)
OF_OS = (
    *("O_ACCMODE", "O_ASYNC", "O_CLOEXEC", "O_DIRECT", "O_DIRECTORY", "O_DSYNC", "O_NOATIME", "O_NOCTTY"),
    *("O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "O_SYNC", "O_TMPFILE", "SCHED_BATCH", "SCHED_FIFO", "SCHED_IDLE"),
    *("SCHED_OTHER", "WEXITSTATUS", "WIFEXITED", "WIFSIGNALED", "WNOHANG", "WTERMSIG", "chown", "chroot", "ctermid"),
    *("eventfd", "fchdir", "fchmod", "fchown", "fdatasync", "fork", "forkpty", "fpathconf", "fstatvfs"),
    *("get_blocking", "getegid", "geteuid", "getgid", "getgroups", "getloadavg", "getpgid", "getpgrp", "getpriority"),
    *("getsid", "getuid", "getxattr", "killpg", "lchown", "listxattr", "lockf", "memfd_create", "mkfifo", "mknod"),
    *("nice", "openpty", "pathconf", "pidfd_open", "pipe2", "posix_fadvise", "posix_fallocate", "posix_spawn"),
    *("posix_spawnp", "pread", "preadv", "pwrite", "pwritev", "readv", "register_at_fork", "sched_getaffinity"),
    *("sched_getscheduler", "sched_setaffinity", "sched_setscheduler", "sched_yield", "sendfile", "set_blocking"),
    *("setegid", "seteuid", "setgid", "setpgid", "setpriority", "setsid", "setuid", "splice", "statvfs", "sync"),
    *("sysconf", "tcgetpgrp", "tcsetpgrp", "ttyname", "wait", "wait3", "wait4", "waitid", "writev"),
)
OF_TIME = (
    *("CLOCK_BOOTTIME", "CLOCK_MONOTONIC", "CLOCK_REALTIME", "clock_getres", "clock_gettime", "clock_gettime_ns"),
    *("pthread_getcpuclockid", "tzset"),
)

_FLAGS, _READ_ONLY, _MODE = fcntl.F_GETFL, os.O_RDONLY, os.O_ACCMODE


def _is_open(path: Any) -> bool:
    """Whether this process has the file open (where /proc contains it)."""
    try:
        wanted = Path(path).stat()
        numbers = list(Path("/proc/self/fd").iterdir())
    except OSError:
        return False
    for number in numbers:
        with contextlib.suppress(OSError):
            if os.path.samestat(number.stat(), wanted):
                return True
    return False


def _closed_only(change: Callable[..., None]) -> Callable[..., None]:
    def checked(*paths: Any, **how: Any) -> None:
        for path in paths:
            if _is_open(path):
                raise PermissionError(EACCES, "The file is open", str(path))
        change(*paths, **how)

    return checked


def remove() -> None:
    """Take all of it from this process."""
    for name in PRELOADED:
        import_module(name)
    really_open, really_sync, flags = os.open, os.fsync, fcntl.fcntl

    def open_file(path: Any, *how: Any, **more: Any) -> int:
        if Path(path).is_dir():
            raise PermissionError(EACCES, "Permission denied", str(path))
        return really_open(path, *how, **more)

    def sync(file: Any) -> None:
        if flags(file, _FLAGS) & _MODE == _READ_ONLY:
            raise OSError(EBADF, "Bad file descriptor")
        really_sync(file)

    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # its import fails
    for module, names in (
        (select, ("epoll", "kqueue", "poll")),
        (signal, [*OF_SIGNAL, *(name for name in vars(signal) if name.startswith("SIG") and name not in SIGNALS)]),
        (os, OF_OS),
        (socket, ("AF_UNIX",)),
        (time, OF_TIME),
    ):
        for name in names:
            vars(module).pop(name, None)
    os.open, os.fsync = open_file, sync
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # a private name that type stubs lack
    subprocess._USE_POSIX_SPAWN = False  # type: ignore[misc]  # as the documentation of subprocess allows
    for name in ("remove", "rename", "replace", "unlink"):
        setattr(os, name, _closed_only(getattr(os, name)))


def run(lines: Iterable[str]) -> None:
    """Run the command that each line names."""
    from recorder.cli import main

    for line in lines:
        print(">", line.strip(), flush=True)
        if status := main(json.loads(line), prog_name="ics-recorder", standalone_mode=False):
            sys.exit(status)


if __name__ == "__main__":
    remove()
    run(sys.stdin)
