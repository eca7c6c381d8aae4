"""Faults of the machine: no room, a locked archive, a clock that is set, removed files."""

import asyncio
import contextlib
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from recorder.errors import ExitCode
from tests.faults.scenes import (
    PROXIED,
    end_cleanly,
    end_whatever_the_archive,
    goes_on,
    heard_all,
    moment,
    proxied,
    script_of,
    serving,
)
from tests.faults.traffic import total_bytes
from tests.faults.world import Troubles, World, one_sentence
from tests.support.cli import ADJOURNED
from tests.support.script import Fault, Step
from tests.support.testserver import ScriptedServer

_TALK_BYTES = 3_000


async def disk_full(world: World) -> None:
    """No more room for the journal, or for the archive."""
    script = script_of(world)
    ways = {"limit": _limited, "journal": _journal_full, "archive": _archive_full, "proxy": _limited_proxy}
    way = world.turn(*ways)
    async with serving(world, script) as server:
        if way in ("journal", "archive") and not can_mount():
            way = "limit"
        # The limit of a process is that of the file with what it says, too.
        least = _TALK_BYTES if way in ("limit", "proxy") else 1
        await ways[way](world, server, script, world.chance.randrange(least, total_bytes(script)))


async def _limited(world: World, server: ScriptedServer, _script: list[Step], room: int) -> None:
    run = await world.record(server, before=_limit(room))
    connection = await server.connection()
    await run.end(status=ExitCode.JOURNAL)
    one_sentence(run.talk, "cannot be written", "Recording has stopped")
    _is_full(world, room)
    world.check_received(connection, 0)
    await world.do("import", world.journals)  # the limit was the archive's, too
    await world.check_archive()
    await world.check_pgn(all_of_them=False)


async def _limited_proxy(world: World, server: ScriptedServer, script: list[Step], room: int) -> None:
    async with proxied(world, server, before=_limit(room)) as (run, caller):
        connection = await server.connection()
        await heard_all(run, caller, connection, script)
        await goes_on(run, caller, connection)
        await run.end(signal.SIGTERM, status=ExitCode.JOURNAL)
    one_sentence(run.talk, "RECORDING HAS ENDED")
    _is_full(world, room)
    world.check_received(connection, 0)
    await world.do("import", *PROXIED, world.journals)
    await world.check_archive(words=PROXIED)


async def _journal_full(world: World, server: ScriptedServer, _script: list[Step], room: int) -> None:
    with _small_disk(world.journals, room) as disk:
        run = await world.record(server)
        connection = await server.connection()
        await run.end(status=ExitCode.JOURNAL)
        one_sentence(run.talk, "cannot be written: No space left", "Recording has stopped")
        if os.statvfs(disk).f_bavail > 1:  # the recorder has removed its state file
            raise Troubles("there was room left")
        world.check_received(connection, 0)
        # What was recorded is in the archive by itself: only the journal's disk is full.
        await world.check_archive()
        await world.check_pgn()


async def _archive_full(world: World, server: ScriptedServer, _script: list[Step], _room: int) -> None:
    with _small_disk(world.folder / "small", world.chance.randrange(1, 200_000)) as disk:
        world.archive = disk / "archive.sqlite"
        run = await world.record(server)
        connection = await server.connection()
        await connection.done.wait()
        await end_whatever_the_archive(world, run, connection)
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        await world.do("import", world.journals)
        await world.check_archive()
        await world.check_pgn(all_of_them=False)


def _limit(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _is_full(world: World, size: int) -> None:
    """Recording ended because there was no room, not before."""
    sizes = [path.stat().st_size for path in world.journals.glob("*.journal")]
    if sizes != [size]:
        raise Troubles(f"a journal could have {size:,} bytes, but there are {sizes}")


@cache
def can_mount() -> bool:
    """Whether a small file system can be made here."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


@contextmanager
def _small_disk(folder: Path, size: int) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


# The command, but for its patience with an archive that cannot be written at its end, which is a minute.
_HURRIED = "import recorder.archive.recording.archiving as c; c._END_S = 12.0; from recorder.cli import main; main()"


async def locked(world: World) -> None:
    """Another process locks the archive for a while, or for longer than the recorder lives."""
    script = script_of(world)
    way = world.turn(*["for a while"] * 3, "proxy", *["for a while"] * 3, "proxy", "for a while", "to the end")
    chat = PROXIED if way == "proxy" else ()
    await world.do("import", *chat, ADJOURNED)
    stays = way == "to the end"
    async with serving(world, script) as server, contextlib.AsyncExitStack() as stack:
        if way == "proxy":
            run, caller = await stack.enter_async_context(proxied(world, server))
        else:
            run = await world.record(server, program=("-c", _HURRIED) if stays else ("-m", "recorder"))
        connection = await server.connection()
        await moment(world, connection, script)
        holder = sqlite3.connect(world.archive, isolation_level=None, timeout=30)
        holder.execute(world.chance.choice(("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE")))
        try:
            await world.journalled(connection)  # nothing waits for the archive
            await asyncio.sleep(world.chance.uniform(0, 1))
            await connection.done.wait()
            at_least = await world.journalled(connection)
            if way == "proxy":
                await heard_all(run, caller, connection, script)
            if stays:
                await end_whatever_the_archive(world, run, connection)
                one_sentence(run.talk, "import")
        finally:
            holder.close()
        if stays:
            await world.do("import", world.journals)
        else:
            await end_cleanly(world, run, connection)
        world.check_received(connection, at_least)
    await world.check_archive(ADJOURNED, world.journals, words=chat)


async def clock_back(world: World) -> None:
    """The wall clock is set back, or forward and back, while the recorder records."""
    library = _faketime()
    clock = world.folder / "clock"
    clock.write_text("+0\n", encoding="ascii")
    env = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }
    step_s = world.chance.choice((1, 60, 3600, 86_400, 40_000_000))
    script, next_script = script_of(world), script_of(world, 1, games=2, lasting_s=0.4)
    began_s = time.time()
    way = world.turn("one connection", "two", "one connection", "two", "proxy")
    async with serving(world, script, next_script) as server, contextlib.AsyncExitStack() as stack:
        if way == "proxy":
            run, _ = await stack.enter_async_context(proxied(world, server, env=env))
        else:
            run = await world.record(server, env=env)
        connection = await server.connection()
        await moment(world, connection, script)
        if world.chance.random() < 0.3:
            _set(clock, world.chance.randrange(1, 100_000))
            await moment(world, connection, script)
        _set(clock, -step_s)
        if way == "two":
            await moment(world, connection, script)
            connection.fail(Fault.CLOSE)
            all_sent_s = time.time()
            second = await server.connection(1)
            await second.done.wait()
            await world.check_status(written=1, left_open=0)
            await end_cleanly(world, run, second)
            begun = world.session_of(second).header["anchor_utc_ns"] / 1e9
            if abs(begun - (time.time() - step_s)) > 60:
                raise Troubles("the second journal's anchor is not the wall clock")
        else:
            await connection.done.wait()
            all_sent_s = time.time()
            await world.check_status(written=1, left_open=0)
            await end_cleanly(world, run, connection)
        session = world.check_received(connection, len(connection.written))
        first, last = session.utc_s(0), session.utc_s(len(session.received))
        if not began_s - 0.5 <= first <= last <= all_sent_s + 5:
            raise Troubles(f"bytes of {began_s:.1f} to {all_sent_s:.1f} came at {first:.1f} to {last:.1f}")
    await world.check_archive(words=PROXIED if way == "proxy" else ())
    await world.check_pgn()


def _set(clock: Path, seconds: int) -> None:
    new = clock.with_suffix(".new")
    new.write_text(f"{seconds:+d}\n", encoding="ascii")
    new.replace(clock)


def _faketime() -> Path:
    """Where Debian's libfaketime is: it makes a wall clock for one process and its children.

    Raises:
        Troubles: it is not installed.
    """
    for library in Path("/usr/lib").glob("*/faketime/libfaketime.so.1"):
        return library
    raise Troubles("libfaketime is missing: apt-get install faketime")


# The command, but for the time between a look at its file and what it writes then, which is a tenth of a millisecond.
_LATE = """
import time
from recorder.journal import parts

class Late:
    def __init__(self, *how):
        self.file = made(*how)

    def check(self):
        self.file.check()
        time.sleep(0.02)

    def __getattr__(self, name):
        return getattr(self.file, name)

made, parts.AppendedFile = parts.AppendedFile, Late
from recorder.cli import main
main()
"""


async def removed(world: World) -> None:
    """The folder of the journals is moved, or it or its files are removed."""
    how = world.turn("folder", "files", "moved", "proxy", "folder, late", "files, late", "moved", "proxy")
    script = script_of(world, lasting_s=world.chance.choice((0.8, 2.0)))
    async with serving(world, script) as server:
        if how == "proxy":
            async with proxied(world, server) as (run, caller):
                connection = await server.connection()
                await moment(world, connection, script)
                shutil.rmtree(world.journals)
                await heard_all(run, caller, connection, script)
                await goes_on(run, caller, connection)
                await run.end(signal.SIGTERM, status=ExitCode.JOURNAL)
            one_sentence(run.talk, "RECORDING HAS ENDED", "it was removed")
            return
        run = await world.record(server, program=("-c", _LATE) if how.endswith("late") else ("-m", "recorder"))
        connection = await server.connection()
        await moment(world, connection, script)
        kept = world.folder / "kept"
        if how == "moved":
            world.journals.rename(kept)
            await connection.done.wait()
            await world.journalled(connection, kept)
            await run.end(signal.SIGTERM, status=(ExitCode.OK, ExitCode.JOURNAL))
            world.check_received(connection, len(connection.written), kept)
            await world.do("import", kept)
            await world.check_archive(kept)
            return
        await run.pause()  # so that what is counted is what is removed
        records = len(world.session_of(connection).times)
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(path.open("rb")) for path in world.journals.iterdir()]
            if how.startswith("folder"):
                shutil.rmtree(world.journals)
            else:
                for path in world.journals.iterdir():
                    path.unlink()
            os.kill(run.process.pid, signal.SIGCONT)
            began_s = time.monotonic()
            await run.end(status=ExitCode.JOURNAL)
            if time.monotonic() - began_s > 30:
                raise Troubles("it went on for more than half a minute without a journal")
            kept.mkdir()
            for file in files:  # to its end: what was being written when it was removed is read by the archive, too
                (kept / Path(file.name).name).write_bytes(file.read())
        one_sentence(run.talk, "it was removed while it was being written", "Recording has stopped")
        more = len(world.check_received(connection, 0, kept).times) - records
        if more > 1:
            raise Troubles(f"{more} records of what the server said went into a journal that was removed")
    await _is_part_of(world, kept)


async def _is_part_of(world: World, kept: Path) -> None:
    """The archive contains a beginning of the removed journal's data, and nothing else.

    The archive's games in progress must end with lines of that journal; the offset up to which the source was read
    may be smaller.
    """
    if not world.archive.exists():
        return
    with contextlib.closing(sqlite3.connect(world.archive)) as connection:
        rows = connection.execute("SELECT name, size_bytes FROM sources").fetchall()
        (last,) = connection.execute("SELECT max(last_offset) FROM games").fetchone()
    if not rows or last is None:  # it was removed before it was read, or before any of its games was written
        return
    ((name, size),) = rows
    whole = (kept / name).read_bytes()
    ends = [match.end() for match in re.finditer(rb"\n", whole)]
    after = [end for end in ends if end > (last or 0)]
    part = world.folder / "part"
    part.mkdir()
    world.journals.mkdir(exist_ok=True)
    (world.journals / name).write_bytes(whole)  # for verify, which reads as far as the archive knows
    if len(whole) < size:
        raise Troubles(f"the archive has read {size:,} bytes of a journal that has {len(whole):,}")
    problems = []
    for end in dict.fromkeys((size, *after[:1], *after[-1:], *after[1:-1])):
        (part / name).write_bytes(whole[:end])
        try:
            await world.check_archive(part, loosely=True)
        except (Troubles, AssertionError) as error:
            problems.append(f"up to {end:,}: {error}")
        else:
            return
    raise Troubles("; ".join(problems))
