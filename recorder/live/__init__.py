"""Living connections: logging in, secrets kept out of the journal, what to observe, the proxy."""

from typing import Final

__all__ = ["PASSWORD_VARIABLE"]

PASSWORD_VARIABLE: Final = "ICS_RECORDER_PASSWORD"
"""The variable of the environment that may hold the password of a login; no process that we start inherits it."""
