"""A PostgreSQL server in a temporary folder, reached by a Unix socket there."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support import programs


class Server:
    """A server with the superuser ``tester``.

    Servers refuse to run as root: where root runs the tests, this one runs as ``nobody``.

    Args:
        folder: an existing folder; its path must be short, as that of a socket.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._programs = Path(programs.program("postgres")).parent
        self._data = folder / "data"
        self._databases = 0

    def make(self) -> None:
        """Make the files of a new server."""
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self._run("initdb", "--auth=trust", "--username=tester", "--encoding=UTF8", "--locale=C", "--no-sync")

    def start(self) -> None:
        """Start it, and wait until it serves; after a crash it recovers first."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off"
        self._run("pg_ctl", "-w", "-t", "60", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """End it without a checkpoint, if it runs."""
        if (self._data / "postmaster.pid").exists():
            self._run("pg_ctl", "-m", "immediate", "stop")

    def kill(self) -> None:
        """Kill all its processes at once."""
        file = self._data / "postmaster.pid"
        main = int(file.read_text().splitlines()[0])
        os.kill(main, signal.SIGSTOP)  # it starts no other process meanwhile
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        processes = (main, *map(int, children))
        for number in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        while any(map(_runs, processes)):
            time.sleep(0.01)
        # As long as init does not wait for it, a zombie has the number that these files name.
        for lock in (file, *self.folder.glob(".s.PGSQL.*.lock")):
            lock.unlink()

    def url(self, database: str = "postgres", user: str = "tester") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Make an empty database; returns its URL."""
        self._databases += 1
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE test{self._databases}")
        return self.url(f"test{self._databases}")

    def _run(self, name: str, *words: str) -> None:
        command = [str(self._programs / name), "-D", str(self._data), *words]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        log = self.folder / "log"
        assert done.returncode == 0, f"{done.stderr}\n{log.read_text() if log.exists() else ''}"


def _runs(number: int) -> bool:
    """Whether a process is there that is no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except OSError:
        return False


@contextmanager
def running_server() -> Iterator[Server]:
    """A new server, which ends and is removed with the block."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    server = Server(folder)
    try:
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
