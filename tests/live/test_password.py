"""Sources of passwords."""

import contextlib
import fcntl
import os
import pty
import subprocess
import sys
import termios
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.errors import PasswordError
from recorder.live import PASSWORD_VARIABLE
from recorder.live.login.login import find_password
from tests.support.effort import long_after

PASSWORD = "s3cretWord"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the variable, the keyring and the terminal."""
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "keyring", None)  # importing it fails
    monkeypatch.setattr("recorder.live.login.login._terminal", lambda: False)


def use_keyring(monkeypatch: pytest.MonkeyPatch, get_password: Callable[[str, str], str | None]) -> None:
    """Put a backend in place of the package."""
    module = types.ModuleType("keyring")
    module.get_password = get_password  # type: ignore[attr-defined]  # a module made for the test
    monkeypatch.setitem(sys.modules, "keyring", module)


def test_the_environment_comes_first_and_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    use_keyring(monkeypatch, lambda service, name: "another")
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    assert find_password("Ann", "chess.example", print) == PASSWORD
    assert PASSWORD_VARIABLE not in os.environ


def test_the_keyring_comes_second(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {("ics-recorder", "Ann@chess.example"): PASSWORD}
    use_keyring(monkeypatch, lambda service, name: kept.get((service, name)))
    assert find_password("Ann", "chess.example", print) == PASSWORD
    monkeypatch.setattr("recorder.live.login.login._terminal", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda prompt: f"typed at {prompt}")
    assert find_password("Bob", "chess.example", print) == "typed at Password of Bob: "


class NoKeyringError(Exception):
    """The error of the package where the system has no keyring."""


@pytest.mark.parametrize(
    ("failure", "message"), [(NoKeyringError(), ""), (OSError(PASSWORD), "cannot be read (OSError)")]
)
def test_a_failing_keyring_is_ignored(
    failure: Exception, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(service: str, name: str) -> str:
        raise failure

    use_keyring(monkeypatch, fail)
    with pytest.raises(PasswordError, match=f"There is no terminal to ask .* Ann: .* {PASSWORD_VARIABLE}"):
        find_password("Ann", "chess.example", print)
    talk = capsys.readouterr().out
    assert message in talk
    assert bool(message) == bool(talk)
    assert PASSWORD not in talk


@pytest.mark.parametrize(
    ("value", "message"), [("", "is empty"), ("a\nb", "more than one line"), ("\udcff", "no text")]
)
def test_an_invalid_password_is_refused_before_connecting(
    value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSWORD_VARIABLE, value)
    with pytest.raises(PasswordError, match=message) as caught:
        find_password("Ann", "chess.example", print)
    assert PASSWORD_VARIABLE in str(caught.value)
    use_keyring(monkeypatch, lambda service, name: value)
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    with pytest.raises(PasswordError, match=f"Ann@chess.example .*{message}"):
        find_password("Ann", "chess.example", print)


@pytest.mark.parametrize(
    ("typed", "status", "message"),
    long_after(
        2,
        [
            (b"\x03", 130, "Interrupted"),
            (PASSWORD.encode() + b"\n", 8, "refuses the connection"),
            (b"\x04", 2, "The password of Ann is empty"),
            (b"\n", 2, "The password of Ann is empty"),
        ],
    ),
)
def test_the_password_prompt(typed: bytes, status: int, message: str, tmp_path: Path) -> None:
    terminal, end = pty.openpty()
    words = ["record", "127.0.0.1:1", "--user", "Ann", "--observe", "rated", "--plain", "--no-import"]
    process = subprocess.Popen(
        [sys.executable, "-m", "recorder", *words, "--journal-dir", str(tmp_path)],
        stdin=end,
        stdout=end,
        stderr=end,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
    )
    os.close(end)
    talk = b""
    asked = stopped = False
    with contextlib.suppress(OSError):  # the last one has closed it
        while data := os.read(terminal, 4096):
            talk += data
            if not asked and b"Password of Ann: " in talk:
                asked = True
                os.write(terminal, typed)
            if not stopped and b"Trying again" in talk:
                stopped = True
                process.terminate()
    os.close(terminal)
    assert process.wait() == status, talk
    assert asked
    assert message in talk.decode()
    assert PASSWORD.encode() not in talk
