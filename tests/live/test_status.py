"""The status of a recorder: its file and its snapshots."""

import dataclasses
import fcntl
import shutil
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from recorder.live.net.sockets import format_address
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan
from recorder.live.status import ObservedBoard, RecorderState, Snapshot, StateFile, read_states, take_snapshot
from tests.live.test_capture import ANSWERS, BOARD, END, MOVE, Run
from tests.support.live import in_loop
from tests.support.script import Fault, Hear, Say, Step
from tests.support.testserver import FICS, Dialogue, ScriptedServer


def state(pid: int = 7, received: int = 0) -> RecorderState:
    return RecorderState(
        pid, 0, "a.example:5000", "recording", None, 0, received, 0, 0, 0, 0, 0, 0, None, None, None, None, None, {}
    )


def test_each_running_recorder_has_its_state(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    assert read_states(folder) == []
    one, other = StateFile(folder), StateFile(folder)
    one.write(state(2))
    other.write(state(1))
    one.write(state(2, received=5))
    assert read_states(folder) == [state(1), state(2, received=5)]
    one.remove()
    assert read_states(folder) == [state(1)]
    other.remove()
    other.remove()
    assert list(folder.iterdir()) == []


def test_the_state_of_a_crashed_recorder_is_ignored_and_removed_by_the_next_start(tmp_path: Path) -> None:
    mine = StateFile(tmp_path)
    mine.write(state())
    (name,) = tmp_path.iterdir()
    shutil.copy(name, tmp_path / ".record-00000000.state")
    (tmp_path / ".record-00000000.state.new").write_bytes(b"{")
    assert read_states(tmp_path) == [state()]
    StateFile(tmp_path)
    assert list(tmp_path.iterdir()) == [name]
    mine.remove()


def test_a_state_replaced_while_it_is_read_is_read_completely(tmp_path: Path) -> None:
    mine = StateFile(tmp_path)
    mine.write(state())
    stop = threading.Event()

    def replace() -> None:
        while not stop.is_set():
            mine.write(state(received=10**9))

    writing = threading.Thread(target=replace)
    writing.start()
    try:
        for _ in range(300):
            (found,) = read_states(tmp_path)
            assert dataclasses.replace(found, received_bytes=0) == state()
    finally:
        stop.set()
        writing.join()
        mine.remove()


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"pid": 1}', b"\xff"])
def test_an_unreadable_state_is_ignored(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / ".record-12345678.state"
    path.write_bytes(data)
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert read_states(tmp_path) == []


def test_a_removed_folder_does_not_end_recording(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    file = StateFile(folder)
    file.write(state())
    shutil.rmtree(folder)
    file.write(state())
    file.remove()
    assert not folder.exists()


REPLY = MOVE.replace(b" B 4 ", b" W 4 ").replace(
    b" 300000 300000 1 P/e2-e4 (0:00.000) e4 0 0 0", b" -917 5000 2 P/e7-e5 (0:02.000) e5 0 1 304"
)


def look(run: Run, *, at_s: float = 0, utc_ms: int = 0, first: int = 0, most: int = 10) -> Snapshot:
    observing = Observing(ObservationPlan("rated", limit=7))
    state = run.capture.connection_state
    return take_snapshot(
        *(run.capture, observing),
        now_s=state.since_s + at_s,
        utc_ms=utc_ms,
        archive="follows the journal",
        first=first,
        most=most,
    )


@asynccontextmanager
async def recording(server: ScriptedServer, folder: Path) -> AsyncIterator[Run]:
    """A run that ends even if the test fails."""
    run = Run(server.port, folder)
    try:
        yield run
    finally:
        await run.end()


@in_loop
async def test_a_snapshot_contains_the_observed_games(tmp_path: Path) -> None:
    steps: list[Step] = [Hear(b"observe 12"), Say(BOARD), Say(MOVE)]
    async with (
        ScriptedServer(Dialogue(FICS, script=steps, answers=ANSWERS)) as server,
        recording(server, tmp_path) as run,
    ):
        connection = await server.connection()
        await run.until(lambda: look(run).frames == 2)
        conversation = run.capture.connection_state.conversation
        at_ms = conversation.tracker.boards.runs["12"].last.at_ms  # type: ignore[union-attr]  # there is one
        assert at_ms is not None
        seen = look(run, at_s=12.5, utc_ms=at_ms + 2_500)
        assert seen.boards == (ObservedBoard(12, "Ann", "Bob", "blitz", "1. e4", 300_000, 300_000, False, 0, 2_500),)
        assert (seen.state, seen.state_ms, seen.retry_ms) == ("recording", 12_500, None)
        assert (seen.server, seen.watched, seen.games, seen.limit) == (format_address(run.capture.address), 1, 0, 7)
        assert seen.outages == 0
        assert seen.handle.startswith("Guest")
        assert seen.journal is not None
        assert seen.journal_bytes == (tmp_path / seen.journal).stat().st_size
        assert seen.archive == "follows the journal"
        assert look(run, most=0).boards == ()
        assert look(run, first=1).first == 0  # nothing is after the last game: start from the first

        await connection.say(REPLY)
        await run.until(lambda: look(run).boards[0].move == "1... e5")
        (board,) = look(run).boards
        assert (board.white_clock_ms, board.black_clock_ms, board.white_to_move, board.lag_ms) == (
            -917,
            5000,
            True,
            304,
        )

        await connection.say(END)
        await run.until(lambda: look(run).games == 1)
        assert look(run).watched == 0
    left = look(run)
    assert (left.state, left.games, left.outages) == ("left", 1, 0)


@in_loop
async def test_a_lost_connection_is_an_outage(tmp_path: Path) -> None:
    steps: list[Step] = [Hear(b"observe 12"), Say(BOARD), Fault.RESET]
    async with (
        ScriptedServer(Dialogue(FICS, script=steps, answers=ANSWERS)) as server,
        recording(server, tmp_path) as run,
    ):
        assert look(run).state == "connecting"
        await run.until(lambda: look(run).state == "waiting")
        seen = look(run, at_s=0.25)
        assert (seen.outages, seen.journal, seen.synced_ms, seen.boards) == (1, None, None, ())
        assert seen.retry_ms is not None
        assert 0 < seen.retry_ms < 2_000
        assert look(run, at_s=100).retry_ms == 0
    left = look(run)
    assert (left.state, left.retry_ms, left.outages) == ("left", None, 1)


@pytest.mark.parametrize("missing", [b" 1 304", b" 304"])
@in_loop
async def test_what_a_server_does_not_print_is_unknown(missing: bytes, tmp_path: Path) -> None:
    steps: list[Step] = [Hear(b"observe 12"), Say(BOARD), Say(MOVE), Say(REPLY.replace(missing, b""))]
    async with (
        ScriptedServer(Dialogue(FICS, script=steps, answers=ANSWERS)) as server,
        recording(server, tmp_path) as run,
    ):
        await run.until(lambda: look(run).frames == 3)
        (board,) = look(run).boards
        assert (board.move, board.lag_ms) == ("1... e5", None)
