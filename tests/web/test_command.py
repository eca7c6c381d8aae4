"""The command: what it prints, and the address, token and package that it cannot do without."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.support.cli import Cli


def test_a_used_port_is_one_sentence(archive: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = Cli(archive)("web", "--port", port, code=ExitCode.LISTEN).stderr
    assert said == (
        f"Error: Cannot listen on 127.0.0.1:{port} (Address already in use): choose another address with "
        "--port or --host.\n"
    )


def test_what_it_cannot_use(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "There is no archive" in Cli(tmp_path / "none.sqlite")("web", "--port", 0, code=ExitCode.ARCHIVE).stderr
    (tmp_path / "token").write_text("short")
    assert "16 or more" in Cli(archive)("web", "--token-file", tmp_path / "token", code=ExitCode.USAGE).stderr
    monkeypatch.delitem(sys.modules, "recorder.web.server", raising=False)  # as in a new process
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = Cli(archive)("web", code=ExitCode.OUTPUT).stderr
    assert said == "Error: The site needs uvicorn: pip install 'ics-recorder[web]'.\n"


def test_it_prints_its_address_answers_and_ends(archive: Path) -> None:
    code = "from recorder.cli import main; main()"
    words = [sys.executable, "-c", code, "web", "--db", str(archive), "--port", "0", "--host", "0.0.0.0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ICS_RECORDER_WEB")}
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**environment, "PYTHONUNBUFFERED": "1"}
    )
    assert process.stderr is not None
    url = process.stdout.readline().strip()
    token = process.stderr.readline().removeprefix("Token: ").strip()
    assert process.stderr.readline() == "Ctrl-C ends the site.\n"
    request = urllib.request.Request(f"{url}players.json?q=helm", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        assert answer.read() == b'["Helmsman"]'
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "", "")
    assert token not in url
