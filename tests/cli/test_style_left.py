"""``record`` is stopped while disconnected: the account's style stays changed, and a message says so."""

import json
import signal
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.live.test_capture import ACCOUNTS, ANSWERS, PASSWORD
from tests.support.live import in_loop, running
from tests.support.script import Fault, Hear, Step, Wait
from tests.support.testserver import FICS, Dialogue, ScriptedServer

SCRIPT: list[Step] = [Hear(b"set style 12"), Wait(200), Fault.CLOSE]
SENTENCE = "The account may have style 12 now, because its own could not be restored: it had style 1."


@in_loop
async def test_a_stop_while_disconnected_reports_the_changed_style(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", PASSWORD)
    log = tmp_path / "run.log"
    async with (
        ScriptedServer(Dialogue(FICS, ACCOUNTS, script=SCRIPT, answers=ANSWERS)) as server,
        running(
            *("record", f"127.0.0.1:{server.port}", "--user", "Ann", "--observe", "rated", "--no-import"),
            *("--journal-dir", tmp_path / "journals", "--log", log, "--quiet"),
        ) as run,
    ):
        await run.until("Trying again")
        assert await run.end(signal.SIGTERM) == ExitCode.OK
    assert run.talk.count(SENTENCE) == 1
    events = [json.loads(line) for line in log.read_text(encoding="ascii").splitlines()]
    assert [
        (event["level"], event["message"][: len(SENTENCE)]) for event in events if event["event"] == "style_left"
    ] == [("warning", SENTENCE)]
