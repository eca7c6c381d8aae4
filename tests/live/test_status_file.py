"""The state file of a recorder, read by other processes."""

from __future__ import annotations

import fcntl
import shutil
import threading
from pathlib import Path

import pytest

from recorder.live.status import RecorderState, StateFile, read_states


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
            assert found._replace(received_bytes=0) == state()
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
