"""Where the password of a login comes from: the environment, what systemd hands over, the keyring if there is one, or
a question.

It is in no argument, file or message, and no process of ours inherits it.
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

__all__ = ["CREDENTIAL", "find_password"]

CREDENTIAL = "ics-recorder.password"
"""The name of the credential in a systemd unit (``LoadCredential=``)."""
_SERVICE = "ics-recorder"


def find_password(user: str, host: str, tell: Callable[[str], object]) -> str:
    """The password of a user of a server.

    Args:
        host: of the server; the keyring's entry is named ``user@host``.
        tell: called with lines for people: the keyring cannot be read, or an empty one behind an interrupted question.
    Raises:
        PasswordError: there is none, or it cannot be one.
    """
    known = os.environ.pop(PASSWORD_VARIABLE, None)
    if known is not None:
        return _checked(known, f"{PASSWORD_VARIABLE} is", f"put the password of {user} into it, or unset it")
    handed = _from_credentials()
    if handed is not None:
        return _checked(handed, f"The credential {CREDENTIAL} is", "put the password on its only line")
    name = f"{user}@{host}"
    kept = _from_keyring(name, tell)
    if kept is not None:
        return _checked(kept, f"The keyring's entry {name} is", "store the password anew")
    return _checked(_ask(user, tell), f"The password of {user} is", "start again")


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
    """What the unit's credential holds; None: there is none."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if not folder:
        return None
    try:
        data = (Path(folder) / CREDENTIAL).read_bytes()
    except OSError:
        return None
    return data.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")


def _from_keyring(name: str, tell: Callable[[str], object]) -> str | None:
    """What the keyring holds; None: nothing, or there is no keyring."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    try:
        password = keyring.get_password(_SERVICE, name)
    except Exception as error:  # it has backends of many makers
        if type(error).__name__ != "NoKeyringError":
            tell(f"The keyring cannot be read ({type(error).__name__}).")
        return None
    return None if password is None else str(password)


def _ask(user: str, tell: Callable[[str], object]) -> str:
    if not _terminal():
        raise PasswordError(f"There is no terminal to ask for the password of {user}: set {PASSWORD_VARIABLE}.")
    try:
        return getpass.getpass(f"Password of {user}: ")
    except EOFError:
        return ""
    except KeyboardInterrupt:
        tell("")  # the cursor stands behind the question
        raise


def _terminal() -> bool:
    """Whether somebody can be asked without the answer being seen."""
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
