"""Connections to servers: login, secrets, the games to observe, recording and the proxy."""

from typing import Final

__all__ = ["PASSWORD_VARIABLE"]

PASSWORD_VARIABLE: Final = "ICS_RECORDER_PASSWORD"
"""The environment variable for the password of a login; child processes do not inherit it."""
