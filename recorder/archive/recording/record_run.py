"""One run of ``record``: a connection is recorded, its games are chosen, and the archive is kept up to date."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recorder.archive.locate import import_command
from recorder.archive.recording.archiving import ArchiveChild, cancel, keep_archive
from recorder.errors import ExitCode, RecorderError, exit_status, is_disk_full
from recorder.journal import JournalWriter, Sync, find_part
from recorder.journal.format import NoteKind
from recorder.live.capture import Capture, ConnectionState
from recorder.live.conversation import Conversation, Lasting, RecorderStage
from recorder.live.login.login import Login
from recorder.live.messages import MessageSink
from recorder.live.net.sockets import Address, format_address
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan, plan_notes
from recorder.live.screen import Screen
from recorder.live.service import ServiceManager, heed_signals
from recorder.live.status import Snapshot, StateFile, take_snapshot
from recorder.text import plural

if TYPE_CHECKING:
    from recorder.live.hooks import Hooks

_STATE_S: Final = 1.0


@dataclass(slots=True)
class RecordRun:
    """Without a password it is a guest's. ``reread``, on SIGUSR1, may change ``plan`` and ``poll_ms``."""

    server: Address
    user: str | None
    password: Callable[[], str] | None
    timeseal: int | None
    plan: ObservationPlan
    poll_ms: int | None
    observing: Observing
    journals: Path
    sync_word: str
    where: str
    child: ArchiveChild | None
    hooks: Hooks | None
    screen: Screen
    report: MessageSink
    reread: Callable[[RecordRun, ConnectionState], None]


def _open_journal(run: RecordRun) -> JournalWriter:
    server = run.server
    journal = JournalWriter(run.journals, host=server.host, port=server.port, role="record", sync=Sync(run.sync_word))
    if run.child is not None:
        run.child.sign(journal)
    for facts in plan_notes(run.plan):  # explain judges by it
        journal.note(NoteKind.POLICY, **facts)
    return journal


def _snapshot(run: RecordRun, capture: Capture, first: int, most: int) -> Snapshot:
    now_s, utc_ms = time.monotonic(), time.time_ns() // 1_000_000
    archive = None if run.child is None else run.child.state
    hooks = None if run.hooks is None else run.hooks.counts()
    return take_snapshot(
        *(capture, run.observing), now_s=now_s, utc_ms=utc_ms, archive=archive, hooks=hooks, first=first, most=most
    )


def _is_recording(capture: Capture) -> bool:
    conversation = capture.connection_state.conversation
    return conversation is not None and conversation.stage is RecorderStage.RECORDING


async def _publish(run: RecordRun, capture: Capture) -> None:
    """Write the state file again and again; remove it at the end."""
    file = StateFile(run.journals)
    try:
        while True:
            file.write(_snapshot(run, capture, 0, 0))
            await asyncio.sleep(_STATE_S)
    finally:
        file.remove()


async def record(run: RecordRun) -> tuple[ExitCode, bool]:
    """Record until a signal or an error, which is reported; returns whether anything was recorded."""
    server, child, observing, report = run.server, run.child, run.observing, run.report
    lasting = Lasting()

    def converse() -> Conversation:
        return Conversation(Login(run.user, run.password), observing, server=server.host, lasting=lasting)

    def not_notified(why: str) -> None:
        report("not_notified", f"The service manager cannot be notified: {why}.", error=why)

    async def show_no_more() -> None:
        await cancel(showing)
        run.screen.close()

    stop, hurry = asyncio.Event(), asyncio.Event()
    heed_signals(stop, hurry)
    opened = None if child is None else child.take
    capture = Capture(server, partial(_open_journal, run), converse, report, opened=opened, timeseal=run.timeseal)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: run.reread(run, capture.connection_state))
    manager = ServiceManager(os.environ, not_notified)
    run.screen.open()
    notifying = asyncio.create_task(manager.run(partial(_is_recording, capture), stop))
    publishing = asyncio.create_task(_publish(run, capture))
    showing = asyncio.create_task(run.screen.run(partial(_snapshot, run, capture), report))
    name = format_address(server)
    report("started", f"Recording from {name}; Ctrl-C ends it.", server=name, journal_dir=str(run.journals))
    status = ExitCode.OK
    later = import_command(run.journals, run.where)
    async with keep_archive(child, run.journals, hurry, partial(report, "left_over"), later) as missing:
        try:
            try:
                await capture.run(stop)
            finally:
                if left := lasting.left_behind():
                    report("style_left", left)
            _report_end(capture, observing, report)
        except RecorderError as error:  # reported at once, whatever the archive waits for
            status = exit_status(error)
            await show_no_more()
            report("failed", f"Error: {error}", error=type(error).__name__, disk_full=is_disk_full(error))
        except BaseException:  # Python prints it on the user's own screen
            await show_no_more()
            raise
        finally:
            manager.stopping()
            await cancel(publishing)
    for journal in missing:
        later = import_command(find_part(journal), run.where)
        report("not_imported", f"The archive is incomplete: {later}", connection=None)
    if missing and status is ExitCode.OK:
        status = ExitCode.ARCHIVE
    await cancel(notifying)
    await show_no_more()
    return status, capture.progress.connections > 0


def _report_end(capture: Capture, observing: Observing, report: MessageSink) -> None:
    if lines := observing.listed.unread_rows:
        lost = f"{plural(lines, 'line')} of the tables of games could not be read; such games were not observed."
        report("rows_unread", lost, lines=lines)
    if observing.tally.matched:
        report("tally", observing.tally.sentence, **observing.tally.facts())
    came = capture.progress
    report(
        "ended",
        f"{plural(came.connections, 'connection')}, {came.received:,} bytes, {plural(came.boards, 'board')}, "
        f"{plural(came.games, 'game')}.",
        connections=came.connections,
        received_bytes=came.received,
        boards=came.boards,
        games=came.games,
    )
