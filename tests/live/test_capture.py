"""Recording from a server: against the scripted one, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.dialects.registry import Family
from recorder.errors import JournalError, LoginError
from recorder.journal import JournalWriter, Sync
from recorder.live.address import Address
from recorder.live.capture import Capture, pause_s
from recorder.live.conversation import Conversation, setting_commands
from recorder.live.login import Login
from recorder.live.manners import FATICS, FICS, ICC, Manners
from recorder.live.observing import Observing
from recorder.live.policy import parse_policy
from recorder.live.script import Fault, Hear, Say, Step
from recorder.live.telling import EVENTS, Fact
from recorder.live.testserver import Dialogue, ScriptedServer
from tests.support.live import in_loop

TABLE = (
    b"\n\r 12 1835 Ann         1831 Bob        [ br  5   0]   2:08 -  3:25 (31-30) W:  9\n\r\n\r"
    b"  1 game displayed.\n\r\n\rfics% "
)
BOARD = (
    b"\n\rYou are now observing game 12.\n\rGame 12: Ann (1835) Bob (1831) rated blitz 5 0\n\r\n\r"
    b"<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 12 Ann Bob 0 5 0 "
    b"39 39 300000 300000 1 none (0:00.000) none 0 0 0\n\r\n\rfics% "
)
MOVE = (
    b"\n\r<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 12 Ann Bob 0 5 0 "
    b"39 39 300000 300000 1 P/e2-e4 (0:00.000) e4 0 0 0\n\r\n\rfics% "
)
END = b"\n\r{Game 12 (Ann vs. Bob) Bob resigns} 1-0\n\r\n\rRemoving game 12 from observation list.\n\r\n\rfics% "
PASSWORD = "s3cretWord"
ACCOUNTS = {"Ann": PASSWORD}
VARIABLES = b"\n\rVariable settings of Ann:\n\r\n\rtime=2       private=0     style=1\n\r\n\rfics% "
ANSWERS = {b"games": TABLE, b"variables": VARIABLES}
WATCHED: list[Step] = [Hear(b"observe 12"), Say(BOARD), Say(MOVE), Say(END)]


class Run:
    """A capture under way; ``told`` is what it has told."""

    def __init__(
        self, port: int, folder: Path, user: str | None = None, password: Callable[[], str] | None = None
    ) -> None:
        self.folder = folder
        self.told: list[str] = []
        self.opened: list[Path] = []
        self.stop = asyncio.Event()
        observing = Observing(parse_policy("rated & blitz"))
        kept: dict[str, str] = {}
        self.capture = Capture(
            Address("127.0.0.1", port),
            lambda: JournalWriter(folder, host="127.0.0.1", port=port, role="record", sync=Sync.OS),
            lambda: Conversation(Login(user, password), observing, kept=kept),
            self.tell,
            opened=self.opened.append,
            chance=lambda: 0.0,
        )
        self.task = asyncio.create_task(self.capture.run(self.stop))

    def tell(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """Keep what is told; it must be as the table of events says."""
        assert set(facts) == set(EVENTS[event].facts)
        self.told.append(sentence)

    async def end(self) -> None:
        """Stop it, and wait."""
        self.stop.set()
        await self.task

    async def until(self, ready: Callable[[], bool]) -> None:
        """Wait for something to happen."""
        while not ready():
            assert not self.task.done(), self.task.result()
            await asyncio.sleep(0.01)

    @property
    def journals(self) -> str:
        """All that was written, as one text."""
        import zstandard

        texts = []
        for path in sorted(self.folder.iterdir()):
            data = path.read_bytes()
            if path.suffix == ".zst":
                data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
            texts.append(data.decode("ascii"))
        return "".join(texts)


@pytest.mark.parametrize("manners", [FICS, FATICS], ids=["fics", "fatics"])
@in_loop
async def test_a_guest_observes_what_the_policy_wants(manners: Manners, tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(manners, script=WATCHED, answers={b"games": TABLE})) as server:
        run = Run(server.port, tmp_path)
        await run.until(lambda: run.capture.progress.boards == 2)
        await run.end()
        connection = await server.connection()
    lines = connection.lines
    assert lines[:2] == [b"guest", b""]
    assert {b"iset ms 1", b"iset nowrap 1", b"iset startpos 1", b"set style 12"} <= set(lines)
    assert lines.index(b"games") < lines.index(b"observe 12")
    assert lines[-1] == b"quit"
    assert b"variables" not in lines  # a guest has nothing to put back
    assert "P/e2-e4" in run.journals
    assert "observe 12" in run.journals


@in_loop
async def test_a_lasting_setting_is_put_back_and_the_password_is_nowhere(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        connection = await server.connection()
        await run.until(lambda: b"games" in connection.lines)
        await run.end()
    assert connection.lines[:2] == [b"Ann", PASSWORD.encode()]
    assert connection.lines.index(b"variables") < connection.lines.index(b"set style 12")
    assert connection.lines[-2:] == [b"set style 1", b"quit"]
    assert PASSWORD not in run.journals + "".join(run.told)


@in_loop
async def test_a_password_that_the_server_repeats_is_not_kept(tmp_path: Path) -> None:
    changed = b'\n\rPassword changed from "' + PASSWORD.encode() + b'" to "another".\n\rfics% '
    script: list[Step] = [Hear(b"games"), Say(changed), Say(BOARD)]
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS, script=script, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        await run.until(lambda: run.capture.progress.boards == 1)
        await run.end()
    assert "Password changed from" in run.journals
    assert PASSWORD not in run.journals


@in_loop
async def test_a_bug_of_ours_does_not_end_the_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise AssertionError("a bug")

    script: list[Step] = [Hear(b"games"), Say(BOARD), Say(MOVE)]
    async with ScriptedServer(Dialogue(FICS, script=script, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path)
        connection = await server.connection()
        await run.until(lambda: b"games" in connection.lines)
        monkeypatch.setattr("recorder.tracking.tracker.Tracker.feed", broken)
        await connection.say(END)
        await run.until(lambda: "Removing game 12" in run.journals)
        monkeypatch.undo()
        await run.end()
    assert any("no longer understood, only recorded" in sentence for sentence in run.told)


@in_loop
async def test_a_refused_login_ends_it_with_one_sentence(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: "wrongWord")
        with pytest.raises(LoginError, match="does not accept this password for Ann"):
            await run.task
    assert "wrongWord" not in run.journals


@in_loop
async def test_a_lost_connection_is_made_again_and_the_gap_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)
    first = Dialogue(FICS, script=[*WATCHED[:3], Fault.RESET], answers={b"games": TABLE})
    again = Dialogue(FICS, script=[Hear(b"observe 12"), Say(BOARD), Say(MOVE)], answers={b"games": TABLE})
    async with ScriptedServer(lambda number: again if number else first) as server:
        run = Run(server.port, tmp_path)
        await run.until(lambda: run.capture.progress.boards == 4)
        await run.end()
    assert run.capture.progress.connections == 2
    assert any("Trying again in" in sentence for sentence in run.told)
    assert '"outage"' in run.journals


@in_loop
async def test_the_style_before_the_first_connection_is_put_back_by_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.live.capture._FIRST_PAUSE_S", 0.01)
    changed = ANSWERS | {b"variables": VARIABLES.replace(b"style=1", b"style=12")}
    first = Dialogue(FICS, ACCOUNTS, script=[Hear(b"games"), Fault.RESET], answers=ANSWERS)
    async with ScriptedServer(lambda number: Dialogue(FICS, ACCOUNTS, answers=changed) if number else first) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        second = await server.connection(1)
        await run.until(lambda: b"games" in second.lines)
        await run.end()
    assert second.lines[-2:] == [b"set style 1", b"quit"]


@in_loop
async def test_another_login_is_not_fought_with(tmp_path: Path) -> None:
    taken = b"\n\r**** Ann has arrived - you can't both be logged in. ****\n\r"
    script: list[Step] = [Hear(b"games"), Say(taken), Fault.CLOSE]
    async with ScriptedServer(Dialogue(FICS, ACCOUNTS, script=script, answers=ANSWERS)) as server:
        run = Run(server.port, tmp_path, "Ann", lambda: PASSWORD)
        with pytest.raises(LoginError, match="taken the session over"):
            await run.task
        assert len(server.connections) == 1


@in_loop
async def test_a_journal_that_cannot_be_written_ends_everything(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    async with ScriptedServer(Dialogue(FICS, script=[Hear(b"games"), Hear(b"never")])) as server:
        run = Run(server.port, folder)
        await run.until(lambda: bool(run.opened))
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        with pytest.raises(JournalError):
            await run.task


def test_pauses_grow_and_are_bounded() -> None:
    pauses = [pause_s(failures, 1.0) for failures in range(1, 40)]
    assert pauses == sorted(pauses)
    assert pauses[0] == 2.0
    assert pauses[-1] == 300.0
    assert pause_s(1, 0.0) == 1.0


def test_icc_is_told_quietly() -> None:
    assert setting_commands(Family.ICC, "1") == (["/set-quietly style 12"], ["/set-quietly style 1"])
    assert setting_commands(Family.ICC, None)[1] == []
    assert setting_commands(Family.FICS, "12")[1] == []
    assert ICC.prompt == "aics% "
