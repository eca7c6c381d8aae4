"""Files that are named by URLs instead of paths: ``https://`` and ``s3://``, through fsspec.

A URL has no credentials in it: they come from the environment. So a URL can be printed and stored, and one that may
contain credentials is refused and not printed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from recorder.errors import SourceError, StorageError

if TYPE_CHECKING:
    from recorder.progress import Progress

INPUT_SCHEMES: Final = ("https", "s3")
"""Of URLs of logs."""
DATASET_SCHEMES: Final = ("s3",)
"""Of URLs of data sets."""
_MARK: Final = "://"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://)")
_UNSAFE: Final = re.compile(r"[@?#\s\x00-\x1f\x7f]")
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_EXTRAS: Final = {"http": "https", "https": "https", "s3": "s3"}
_CONNECT_S: Final = 30
_SILENCE_S: Final = 60
_AT_ONCE_BYTES: Final = 1 << 20
_AHEAD_BYTES: Final = 5 << 20  # is read ahead of what is wanted of a file of S3


def is_url(text: str) -> bool:
    return _MARK in text


def shown_url(url: str) -> str:
    """Itself, or only its scheme if it may contain credentials."""
    return url if _UNSAFE.search(url) is None else f"{_scheme(url)}://…"


def _scheme(url: str) -> str:
    match = _SCHEME.match(url)
    return "" if match is None else match[0].lower()


def check_url(url: str, schemes: tuple[str, ...]) -> None:
    """Refuse a URL of another scheme, or with what may be credentials; https includes http to this computer."""
    scheme = _scheme(url)
    if _UNSAFE.search(url):
        raise SourceError(
            f"{shown_url(url)}: this URL contains a user name, a query or a blank and is not read or printed: "
            "give a URL without them; credentials come from the environment."
        )
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise SourceError(f"{scheme}://…: this URL has no valid host and port.") from None
    usable = scheme in schemes or (scheme == "http" and "https" in schemes and host in _LOOPBACK)
    if not usable:
        names = " or ".join(f"{name}://" for name in schemes)
        raise SourceError(f"{url}: URLs that begin with {scheme}:// cannot be used here; use a path or {names}.")
    if not host or not parts.path.strip("/"):
        raise SourceError(f"{url}: a URL needs {'a bucket' if scheme == 's3' else 'a host'} and a path behind it.")


def file_system(url: str, *, listed: bool = False) -> Any:
    """``listed``: it asks the server once which files there are, for files that do not change."""
    scheme = _scheme(url)
    try:
        import fsspec

        if scheme == "s3":
            return fsspec.filesystem("s3", use_listings_cache=listed, default_block_size=_AHEAD_BYTES)
        from aiohttp import ClientTimeout
    except ImportError as error:
        raise StorageError(f"{scheme}:// needs fsspec: pip install 'ics-recorder[{_EXTRAS[scheme]}]'.") from error
    timeout = ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=_SILENCE_S)
    return fsspec.filesystem("https", client_kwargs={"timeout": timeout, "trust_env": True})


def download(url: str, target: Path, progress: Progress | None = None) -> None:
    """Copy the file of a URL, as it is, in constant memory; after an error there is no target."""
    try:
        system = file_system(url)
        from fsspec.callbacks import Callback

        def report(size: int | None, value: int, **_named: object) -> None:
            if progress is not None and value:  # before, the size may be that of an error page
                progress(url, value, size)

        steps = Callback(hooks={"progress": report})
        system.get_file(url, os.fspath(target), callback=steps, chunk_size=_AT_ONCE_BYTES)
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, StorageError) or not isinstance(error, Exception):
            raise
        raise SourceError(f"{url}: cannot be read: {reason(error)}.") from None


def reason(error: Exception) -> str:
    """Why an operation on a URL failed, in words without an address: a server may redirect to a signed one."""
    status = getattr(error, "status", None)
    name = type(error).__name__
    if isinstance(error, FileNotFoundError) or status == 404:
        return "there is no such file on the server"
    if isinstance(error, PermissionError) or "Credential" in name or status in (401, 403):
        return "the server refuses access; credentials come from the environment"
    if isinstance(status, int):
        return f"the server answers with status {status}"
    if endpoint := (getattr(error, "kwargs", None) or {}).get("endpoint_url"):  # of botocore: the server of a bucket
        return f"the server {urlsplit(endpoint).netloc} does not answer; AWS_ENDPOINT_URL names another"
    if "Certificate" in name:
        return "the certificate of the server is not valid"
    if "SSL" in name:
        return "the server does not answer as https does"
    if "DNS" in name:
        return "no server has this name"
    if isinstance(getattr(error, "os_error", error), ConnectionRefusedError):
        return "no server answers at this address and port"
    if "Payload" in name:
        return "the connection ended too early; try again"
    if isinstance(error, TimeoutError):
        return f"the server did not answer for {_SILENCE_S} s; try again"
    detail = getattr(error, "os_error", error)
    text = getattr(detail, "strerror", None)
    return text if isinstance(text, str) and "://" not in text else name
