"""Connections to servers: login, secrets, the games to observe, recording and the proxy."""

import os
from typing import Final

PASSWORD_VARIABLE: Final = "ICS_RECORDER_PASSWORD"
"""The environment variable for the password of a login; child processes do not inherit it."""
TOKEN_VARIABLE: Final = "ICS_RECORDER_WEB_TOKEN"
"""That for the token of ``web``."""


def child_environment() -> dict[str, str]:
    """The environment of child processes: without secrets."""
    return {name: value for name, value in os.environ.items() if name not in (PASSWORD_VARIABLE, TOKEN_VARIABLE)}
