"""Find the password of a login: in the environment, a credential of systemd, the keyring, or by asking the user.

The password is in no argument, file or message, and child processes do not inherit it.
"""

from __future__ import annotations

import getpass
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from recorder.errors import PasswordError
from recorder.live import PASSWORD_VARIABLE

CREDENTIAL = "ics-recorder.password"
"""The name of the credential in a systemd unit (``LoadCredential=``)."""
_SERVICE = "ics-recorder"


def find_password(user: str, host: str, report: Callable[[str], object]) -> str:
    """Return the password of a user of a server, one line of text that is not empty.

    The keyring's entry is named ``user@host``. ``report`` gets lines for the user: the keyring cannot be read, or an
    empty line after an interrupted question.
    """
    known = os.environ.pop(PASSWORD_VARIABLE, None)
    if known is not None:
        return _checked(known, f"{PASSWORD_VARIABLE} is", f"put the password of {user} into it, or unset it")
    credential = _from_credentials()
    if credential is not None:
        return _checked(credential, f"The credential {CREDENTIAL} is", "put the password on its only line")
    name = f"{user}@{host}"
    kept = _from_keyring(name, report)
    if kept is not None:
        return _checked(kept, f"The keyring's entry {name} is", "store the password again")
    return _checked(_ask(user, report), f"The password of {user} is", "start again")


def _checked(password: str, subject: str, remedy: str) -> str:
    if not password:
        raise PasswordError(f"{subject} empty: {remedy}.")
    if any(character in password for character in "\r\n\0"):
        raise PasswordError(f"{subject} more than one line: {remedy}.")
    try:
        password.encode()
    except UnicodeEncodeError:
        raise PasswordError(f"{subject} no text in UTF-8: {remedy}.") from None
    return password


def _from_credentials() -> str | None:
    """The content of the unit's credential; None: there is none."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if not folder:
        return None
    try:
        data = (Path(folder) / CREDENTIAL).read_bytes()
    except OSError:
        return None
    return data.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")


def _from_keyring(name: str, report: Callable[[str], object]) -> str | None:
    """The keyring's password; None: it has none, or there is no keyring."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    try:
        password = keyring.get_password(_SERVICE, name)
    except Exception as error:  # its backends raise errors of their own
        if type(error).__name__ != "NoKeyringError":
            report(f"The keyring cannot be read ({type(error).__name__}).")
        return None
    return None if password is None else str(password)


def _ask(user: str, report: Callable[[str], object]) -> str:
    if not _terminal():
        raise PasswordError(f"There is no terminal to ask for the password of {user}: set {PASSWORD_VARIABLE}.")
    try:
        return getpass.getpass(f"Password of {user}: ")
    except EOFError:
        return ""
    except KeyboardInterrupt:
        report("")  # the cursor is behind the question
        raise


def _terminal() -> bool:
    """Whether there is a terminal to ask on without displaying the answer."""
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
