"""``status``: running recordings, journals left open by a crash, and how much is in the archive."""

import asyncio
import re
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recorder.errors import ExitCode
from recorder.journal import JournalWriter, Sync, close_left_open
from recorder.live.status import RecorderState, StateFile, current_states, metrics
from tests.live.test_capture import BOARD, MOVE, TABLE
from tests.support.cli import WATCHER, Cli
from tests.support.live import in_loop, running
from tests.support.script import Hear, Say
from tests.support.testserver import FICS, Dialogue, ScriptedServer

STREAM = WATCHER.read_bytes()


def _begun(folder: Path, *, max_bytes: int = 1 << 26) -> JournalWriter:
    journal = JournalWriter(folder, host="chess.example", port=5000, role="proxy", sync=Sync.OS, max_bytes=max_bytes)
    for begin in range(0, len(STREAM), 5000):
        journal.received(STREAM[begin : begin + 5000])
    return journal


def test_a_missing_folder_of_journals_is_reported(cli: Cli, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    output = cli("status", "--journal-dir", nowhere, code=3).output
    assert output == f"Error: There is no folder {nowhere}: name a folder of journals with --journal-dir.\n"
    env = {"XDG_DATA_HOME": str(tmp_path)}
    output = cli("status", env=env).stderr
    assert output == f"There is no folder {tmp_path / 'ics-recorder' / 'journals'}: nothing has been recorded yet.\n"
    assert cli("status", "--json", env=env).stdout == "[]\n"


def test_status_prints_how_much_is_in_the_archive(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    where = ("status", "--journal-dir", folder)
    over = _begun(folder, max_bytes=20_000)
    over.close()
    living = _begun(folder)
    assert f"There is no archive {cli.archive} yet.\n" in cli(*where).stderr
    (output,) = cli.json(*where, "--json")
    assert (output["written"], output["unarchived_bytes"]) == (True, None)
    cli("import", living.path)
    living.received(b"x" * 1000)
    size = living.path.stat().st_size
    result = cli(*where)
    state, *_, behind, _, _, _, _, name = result.stdout.splitlines()[1].split("\t")
    assert (state, name) == ("recording", living.path.name)
    assert 1000 < int(behind.replace(",", "")) < 1100
    later = f"ics-recorder import --db {cli.archive} {folder}"
    assert re.search(rf"lacks [\d,]+ bytes of 1 journal whose recording has ended: {later}\n", result.stderr)
    (output,) = cli.json(*where, "--json")
    assert output["size_bytes"] == size
    cli("import", folder)
    (output,) = cli.json(*where, "--json")
    assert output["unarchived_bytes"] == 0
    assert f"{cli.archive} has every journal whose recording has ended.\n" in cli(*where).stderr
    living.close()
    assert re.search(r"lacks \d+ bytes of 1 journal whose recording has ended", cli(*where).stderr), "its end is new"
    assert "Nothing is being recorded" in cli(*where).stderr


def test_status_prints_outcomes_of_games_and_their_shares(cli: Cli, tmp_path: Path) -> None:
    where = ("status", "--journal-dir", tmp_path)
    living = _begun(tmp_path)
    (output,) = cli.json(*where, "--json")
    assert (output["games"], output["share"]) == (None, None)
    counts = {"matched": 1200, "whole": 1190, "partly": 0, "recovered": 7, "missed": 3}
    living.note("games", **(counts | {"missed": 2}), share=None)
    living.note("games", **counts, share="1/2")
    living.received(b"x" * 100_000)
    (output,) = cli.json(*where, "--json")
    assert (output["games"], output["share"]) == (counts, "1/2")
    cells = cli(*where).stdout.splitlines()[1].split("\t")
    assert cells[9:11] == ["1,200 matched, 1,190 whole, 7 recovered, 3 missed", "1/2"]
    living.close()


def test_a_forgotten_journal_is_not_reported_as_missing(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    journal = _begun(folder)
    journal.close()
    cli("import", folder)
    (source,) = cli.json("sources", "--json")
    cli("sources", "forget", source["id"])
    assert "has every journal whose recording has ended" in cli("status", "--journal-dir", folder).stderr


def test_a_journal_left_open_by_a_crash_is_reported_until_it_is_ended(cli: Cli, tmp_path: Path) -> None:
    living = _begun(tmp_path / "living")
    folder = tmp_path / "journals"
    folder.mkdir()
    left = Path(shutil.copy(living.path, folder))
    living.close()
    where = ("status", "--journal-dir", folder)
    assert cli(*where).stdout.splitlines()[1].startswith("left open\tproxy\tchess.example:5000\t")
    assert close_left_open(left)
    assert cli(*where).stdout == ""


def test_a_file_that_is_no_archive_is_reported(cli: Cli, tmp_path: Path) -> None:
    journal = _begun(tmp_path / "journals")
    cli.archive.write_bytes(b"no archive" * 100)
    result = cli("status", "--journal-dir", tmp_path / "journals")
    assert "recording" in result.stdout
    assert "How much the archive lacks is unknown: " in result.stderr
    journal.close()


def _state(**facts: Any) -> RecorderState:
    now_ms = time.time_ns() // 1_000_000
    nothing = (None, None, None, None, None)
    state = RecorderState(7, now_ms, "a.example:5000", "recording", None, 0, 0, 0, 0, 0, 0, 0, 0, *nothing, {})
    return replace(state, **facts)


@in_loop
async def test_the_exit_status_follows_a_recorder_through_an_outage(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    asked = ("status", "--check", "--journal-dir", folder)

    async def becomes(code: ExitCode) -> str:
        while (result := cli(*asked, code=None)).exit_code != code:
            await asyncio.sleep(0.1)
        assert result.stdout == ""
        return result.stderr

    assert cli(*asked, code=ExitCode.NOT_RECORDING).stderr == f"Nothing is being recorded into {folder}.\n"
    script = [Hear(b"observe 12"), Say(BOARD), Say(MOVE)]
    async with ScriptedServer(Dialogue(FICS, script=script, answers={b"games": TABLE})) as server:
        address = f"127.0.0.1:{server.port}"
        options = ("--guest", "--observe", "all", "--journal-dir", folder, "--no-import")
        async with running("record", address, *options) as run:
            assert await becomes(ExitCode.OK) == f"Recording from {address}.\n"
            connection = await server.connection()
            await connection.done.wait()
            while not re.search(r"_games_observed\{.*\} 1\n", text := cli("status", "--metrics", *asked[2:]).stdout):
                await asyncio.sleep(0.1)
            labels = re.escape(f'{{server="{address}",pid="{run.process.pid}"}}')
            (output,) = cli.json("status", "--json", *asked[2:])
            assert (output["pid"], output["guest"], output["observed"]) == (run.process.pid, True, 1)
            cells = cli("status", *asked[2:]).stdout.splitlines()[1].split("\t")
            assert (cells[3:5], cells[-2]) == ([f"{output['user']} (guest)", "1"], str(run.process.pid))
            assert output["user"].startswith("Guest")
            for line in ("recorders 1", f"recording{labels} 1", f"outages_total{labels} 0"):
                assert re.search(rf"^ics_recorder_{line}$", text, re.MULTILINE)
            assert re.search(rf"^ics_recorder_received_bytes_total{labels} [1-9]\d+$", text, re.MULTILINE)
            assert re.search(rf"^ics_recorder_seconds_since_last_byte{labels} \d+\.\d+$", text, re.MULTILINE)
            await server.__aexit__()
            assert re.fullmatch(rf"(Not connected|Connecting) to {address}.*\.\n", await becomes(ExitCode.RECONNECTING))
            assert "onnect" in cli("status", "--journal-dir", folder).stderr
            assert "outages_total{" in (text := cli("status", "--metrics", *asked[2:]).stdout)
            assert re.search(rf"^ics_recorder_outages_total{labels} 1$", text, re.MULTILINE)
            assert await run.end(signal.SIGKILL) == -signal.SIGKILL
        await becomes(ExitCode.NOT_RECORDING)
    alone = cli("status", "--metrics", "--journal-dir", folder).stdout.splitlines()
    assert [line for line in alone if not line.startswith("#")] == ["ics_recorder_recorders 0"]
    assert len(alone) == 3


def test_a_journal_of_a_proxy_counts_as_recording(cli: Cli, tmp_path: Path) -> None:
    journal = _begun(tmp_path)
    assert cli("status", "--check", "--journal-dir", tmp_path).stderr == f"A journal is being written in {tmp_path}.\n"
    journal.close()
    cli("status", "--check", "--journal-dir", tmp_path, code=ExitCode.NOT_RECORDING)


def test_a_recorder_that_hangs_is_not_running(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    now_ms = time.time_ns() // 1_000_000
    file.write(_state(at_ms=now_ms - 5_000, quiet_ms=1_000))
    (state,) = current_states(tmp_path)
    assert 6_000 <= (state.quiet_ms or 0) < 60_000
    file.write(_state(at_ms=now_ms - 61_000))
    assert current_states(tmp_path) == []
    file.remove()


def test_metrics_are_in_the_format_of_prometheus() -> None:
    output = [_state(lag_ms=1_500, matched=3, whole=2, missed=1), _state(pid=8, server='a"\\\nb')]
    text = metrics(output)
    assert text.endswith("\n")
    sample = re.compile(r'(?P<name>[a-z_]+)(?:\{server="(?:[^"\\\n]|\\[\\"n])*",pid="\d+"\})? \d+(?:\.\d+)?')
    typed: dict[str, str] = {}
    seen = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, typed[name] = line.split(" ")
        elif not line.startswith("# HELP "):
            match = sample.fullmatch(line)
            assert match is not None, line
            assert list(typed)[-1] == match["name"], "the samples of a metric stand together, behind its type"
            assert line.rpartition(" ")[0] not in seen
            seen.add(line.rpartition(" ")[0])
    assert {kind for name, kind in typed.items() if name.endswith("_total")} == {"counter"}
    assert {kind for name, kind in typed.items() if not name.endswith("_total")} == {"gauge"}
    label = '{server="a.example:5000",pid="7"}'
    for line in (f"lag_seconds{label} 1.5", f"games_matched_total{label} 3", f"games_missed_total{label} 1"):
        assert f"\nics_recorder_{line}\n" in text
    assert text.count("ics_recorder_lag_seconds{") == 1, "an unknown lag has no sample"


@pytest.mark.parametrize("words", [("--check", "--metrics"), ("--check", "--json"), ("--metrics", "--json")])
def test_one_output_at_a_time(words: tuple[str, str], cli: Cli, tmp_path: Path) -> None:
    output = cli("status", *words, "--journal-dir", tmp_path, code=ExitCode.USAGE).output
    assert "Choose one of --check, --metrics and --json." in output
