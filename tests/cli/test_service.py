"""``record`` as a service: the examples, and what it reports to the service manager."""

import asyncio
import configparser
import shlex
import signal
import socket
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from recorder.cli import main
from recorder.errors import ExitCode, PasswordError
from recorder.live.login.login import CREDENTIAL, find_password
from tests.live.test_capture import TABLE
from tests.support.live import in_loop, journalled, running
from tests.support.programs import program
from tests.support.testserver import FICS, Dialogue, ScriptedServer

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORD = main.commands["record"]


@pytest.fixture
def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as in configparser's documentation
    parser.read_string((EXAMPLES / "ics-recorder.service").read_text(encoding="utf-8"))
    return parser


def test_the_unit_runs_a_command_that_exists(unit: configparser.ConfigParser) -> None:
    program, option, file, command, *words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(program).name == "ics-recorder"
    options = {name for param in main.commands[command].params for name in param.opts}
    assert {word for word in words if word.startswith("-")} <= options
    assert (option, Path(file).name) == ("--config", "record.toml")


@pytest.mark.needs("systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(unit: configparser.ConfigParser, tmp_path: Path) -> None:
    text = (EXAMPLES / "ics-recorder.service").read_text(encoding="utf-8")
    installed, _ = unit["Service"]["ExecStart"].split(" ", 1)  # on this machine it is not
    copy = tmp_path / "ics-recorder.service"
    copy.write_text(text.replace(installed, "/bin/true").replace("/bin/kill", "/bin/true"), encoding="utf-8")
    command = [program("systemd-analyze"), "verify", "--man=no", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_manager_waits_for_what_the_recorder_reports(unit: configparser.ConfigParser) -> None:
    service = unit["Service"]
    assert (service["Type"], service["TimeoutStartSec"], service["WatchdogSec"]) == ("notify", "infinity", "2min")


@in_loop
async def test_record_reports_that_it_is_ready_alive_and_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.setblocking(False)
        loop = asyncio.get_running_loop()
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "400000")
        options = ("--guest", "--observe", "all", "--journal-dir", tmp_path / "journals", "--no-import")
        async with (
            ScriptedServer(Dialogue(FICS)) as server,
            running("record", f"127.0.0.1:{server.port}", *options) as run,
        ):
            states = [await loop.sock_recv(manager, 100)]
            while states[-1] != b"READY=1":
                states.append(await loop.sock_recv(manager, 100))
            connection = await server.connection()
            assert connection.handle is not None
            for _ in range(3):
                assert await loop.sock_recv(manager, 100) == b"WATCHDOG=1"
            run.process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(0.3)
            while True:
                try:
                    manager.recv(100)
                except BlockingIOError:
                    break
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(loop.sock_recv(manager, 100), 0.8)
            run.process.send_signal(signal.SIGCONT)
            assert await loop.sock_recv(manager, 100) == b"WATCHDOG=1"
            run.process.send_signal(signal.SIGHUP)
            while (state := await loop.sock_recv(manager, 100)) == b"WATCHDOG=1":
                pass
            assert state == b"STOPPING=1"
            assert await run.end() == ExitCode.OK
        assert set(states[:-1]) <= {b"WATCHDOG=1"}


def test_a_reload_of_the_unit_rereads_the_options(unit: configparser.ConfigParser) -> None:
    assert unit["Service"]["ExecReload"].split()[1:] == ["-USR1", "$MAINPID"]


@in_loop
async def test_a_signal_makes_the_process_reread_the_options(tmp_path: Path) -> None:
    config, handles = tmp_path / "record.toml", tmp_path / "handles.txt"
    config.write_text('[record]\nobserve = "standard"\nsync = "os"\n', encoding="utf-8")
    handles.write_text("Nobody\n", encoding="utf-8")
    async with ScriptedServer(Dialogue(FICS, answers={b"games": TABLE})) as server:
        words = ("--guest", "--observe-handles", handles, "--no-import", "--poll", "1")
        folder = tmp_path / "journals"
        async with running(
            "--config", config, "record", f"127.0.0.1:{server.port}", *words, "--journal-dir", folder
        ) as run:
            connection = await server.connection()
            await run.until("Logged in")
            while b"games" not in connection.lines:
                await asyncio.sleep(0.05)
            config.write_text("[record]\nobserve = 5.5.5\n", encoding="utf-8")
            run.process.send_signal(signal.SIGUSR1)
            line = await run.until("The options cannot be read and are unchanged: ")
            assert f"{config} cannot be read as TOML" in line
            config.write_text('[record]\nobserve = "standard"\n', encoding="utf-8")
            handles.unlink()
            run.process.send_signal(signal.SIGUSR1)
            assert "handles.txt" in await run.until("The options cannot be read and are unchanged: ")
            assert b"observe 12" not in connection.lines
            config.write_text('[record]\nobserve = "standard"\nlimit = 3\nsync = "always"\n', encoding="utf-8")
            handles.write_text("Ann\n", encoding="utf-8")
            run.process.send_signal(signal.SIGUSR1)
            assert await run.until("Options reloaded") == (
                "Options reloaded. Changed now: --observe-handles, --limit. Changed after a restart: --sync.\n"
            )
            run.process.send_signal(signal.SIGUSR1)
            assert await run.until("Options reloaded") == "Options reloaded. Changed after a restart: --sync.\n"
            config.write_text('[record]\nobserve = "standard"\nlimit = 3\nsync = "os"\n', encoding="utf-8")
            run.process.send_signal(signal.SIGUSR1)
            assert await run.until("Options reloaded") == "Options reloaded. No option has changed.\n"
            while b"observe 12" not in connection.lines:
                await asyncio.sleep(0.05)
            assert await run.end(signal.SIGTERM) == ExitCode.OK
    notes = [note for note in journalled(folder).notes if note["kind"] == "policy"]
    assert [(note["observe"], note["handles"], note["limit"]) for note in notes] == [
        ("standard", ["Nobody"], None),
        *[("standard", ["Ann"], 3)] * 3,
    ]


def test_a_failure_that_a_retry_cannot_fix_is_not_retried(unit: configparser.ConfigParser) -> None:
    service = unit["Service"]
    statuses = {ExitCode(int(status)) for status in service["RestartPreventExitStatus"].split()}
    assert statuses == {ExitCode.USAGE, ExitCode.JOURNAL, ExitCode.LOGIN}
    assert (service["Restart"], service["KillSignal"]) == ("on-failure", "SIGTERM")


def test_the_unit_writes_only_in_its_own_folder(unit: configparser.ConfigParser) -> None:
    values = tomllib.loads((EXAMPLES / "record.toml").read_text(encoding="utf-8"))
    paths = values["global"] | values["record"]
    for name in ("journal-dir", "db", "pgn", "log"):
        assert Path(paths[name]).is_relative_to(Path("/var/lib") / unit["Service"]["StateDirectory"])


def test_the_configuration_is_understood() -> None:
    program = main.make_context("ics-recorder", ["--config", str(EXAMPLES / "record.toml"), "record"])
    name, command, words = main.resolve_command(program, ["record"])
    context = command.make_context(name, words, parent=program)
    assert context.params["server"].host == "freechess.org"
    assert (context.params["guest"], context.params["limit"]) == (True, 20)
    values = tomllib.loads((EXAMPLES / "record.toml").read_text(encoding="utf-8"))
    assert set(values) == {"global", "record"}
    for name in [*values["global"], *values["record"]]:
        assert context.get_parameter_source(_parameter(name)) is click.core.ParameterSource.DEFAULT_MAP


def _parameter(name: str) -> str:
    (found,) = [param.name for param in RECORD.params if f"--{name}" in param.opts or param.name == name]
    assert found is not None
    return found


def test_options_that_are_commented_out_exist(unit: configparser.ConfigParser) -> None:
    text = (EXAMPLES / "record.toml").read_text(encoding="utf-8")
    names = [line[2:].split(" = ")[0] for line in text.splitlines() if line.startswith("# ") and " = " in line]
    assert names == ["user", "observe-handles"]
    assert all(map(_parameter, names))
    assert f"\n#LoadCredential={CREDENTIAL}:" in (EXAMPLES / "ics-recorder.service").read_text(encoding="utf-8")


def test_the_password_is_read_from_the_service_managers_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ICS_RECORDER_PASSWORD", raising=False)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / CREDENTIAL).write_text("s3cret word\n", encoding="utf-8")
    assert find_password("Ann", "chess.example", print) == "s3cret word"
    (tmp_path / CREDENTIAL).write_bytes(b"\xff\n")
    with pytest.raises(PasswordError, match=r"no text in UTF-8"):
        find_password("Ann", "chess.example", print)
    (tmp_path / CREDENTIAL).write_text("\n", encoding="utf-8")
    with pytest.raises(PasswordError, match="is empty"):
        find_password("Ann", "chess.example", print)
