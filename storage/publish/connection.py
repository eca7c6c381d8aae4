"""Connecting to a shared database: its URL, without a password, and errors as one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import RecorderError

if TYPE_CHECKING:
    from psycopg import Connection

_PREFIXES: Final = ("postgresql://", "postgres://")
_SECRETS: Final = ("password", "sslpassword", "oauth_client_secret")
_HOW: Final = "give the password in PGPASSWORD, ~/.pgpass or the service file"
_OLDEST: Final = 15
SCHEMA: Final = "2"
SPAN: Final = 1 << 40
"""Row numbers of an archive are less than this."""


def url_error(url: str) -> str | None:
    """``postgresql://HOST/DATABASE`` or ``postgresql:///?service=NAME``; the sentence repeats nothing of the URL."""
    if not url.startswith(_PREFIXES):
        return "This is not the URL of a PostgreSQL database: write it as postgresql://HOST/DATABASE."
    psycopg = _psycopg()
    if psycopg is None:
        return "PostgreSQL needs psycopg: pip install 'ics-recorder[postgres]'."
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:  # its text may have the password in it
        return "The URL is malformed: write it as postgresql://USER@HOST:PORT/DATABASE."
    if any(parts.get(name) is not None for name in _SECRETS):
        return f"A URL must not contain a password, because others can see it: {_HOW}."
    return None


@contextmanager
def connected(url: str, error: type[RecorderError]) -> Iterator[Connection[Any]]:
    """In autocommit mode; ``error`` is raised for errors of the server in the block, too."""
    if (refused := url_error(url)) is not None:
        raise error(refused)
    psycopg = _psycopg()
    assert psycopg is not None
    try:
        connection = psycopg.connect(
            url, autocommit=True, client_encoding="utf8", fallback_application_name="ics-recorder"
        )
    except psycopg.Error as failure:
        raise error(f"The shared database cannot be reached: {_reason(failure)}.") from None
    user = connection.info.user
    try:
        with connection:
            _require(connection, error)
            yield connection
    except psycopg.errors.InsufficientPrivilege as failure:
        raise error(f"The shared database does not allow this to {user}: {_reason(failure)}.") from failure
    except psycopg.Error as failure:
        raise error(f"The shared database reports an error: {_reason(failure)}.") from failure


def is_there(connection: Connection[Any]) -> bool:
    """A table of another program may have the same name."""
    ours = "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('archives') AND attname = 'with_text'"
    return connection.execute(ours).fetchone() is not None


def _require(connection: Connection[Any], error: type[RecorderError]) -> None:
    version = connection.info.server_version // 10_000
    if version < _OLDEST:
        raise error(f"The server is PostgreSQL {version}: version {_OLDEST} or newer is needed.")
    row = connection.execute("SHOW server_encoding").fetchone()
    if row is None or row[0] not in ("UTF8", b"UTF8"):
        raise error("The database does not have the encoding UTF8: create one with CREATE DATABASE … ENCODING 'UTF8'.")


def _reason(failure: Exception) -> str:
    """Neither the server nor libpq repeats a password."""
    lines = str(failure).strip().splitlines() or [type(failure).__name__]
    line = lines[-1] if lines[0].startswith("Multiple connection attempts") else lines[0]
    return line.strip(" -").rstrip(".:")


def _psycopg() -> Any:
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError:
        return None
    return psycopg
