"""The usual places of logs and games of clients for chess servers, on Linux, macOS and Windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

from recorder.errors import SourceError
from recorder.sources import read_blocks
from recorder.sources.detect import detect, is_own_export

CLIENTS: Final = {
    "xboard": ("HOME/*.debug", "HOME/.xboard/*", "HOME/xboard/*", "DOCUMENTS/xboard/*"),
    "WinBoard": ("PROGRAMS/WinBoard*/**/*", "APPDATA/WinBoard*/**/*", "DOCUMENTS/WinBoard*/**/*"),
    "PyChess": ("XDG_DATA/pychess/*", "HOME/*.pgn"),
    "Jin": ("HOME/.jin/**/*", "HOME/jin/**/*", "SUPPORT/Jin/**/*", "APPDATA/Jin/**/*", "DOCUMENTS/Jin/**/*"),
    "BabasChess": ("PROGRAMS/BabasChess*/**/*", "APPDATA/BabasChess*/**/*", "DOCUMENTS/BabasChess*/**/*"),
    "Raptor": ("HOME/.raptor/**/*", "SUPPORT/Raptor/**/*", "APPDATA/Raptor/**/*"),
    "eboard": ("HOME/.eboard/*",),
    "Scid": ("HOME/.scid*/**/*", "HOME/scid*/**/*", "SUPPORT/Scid*/**/*", "DOCUMENTS/Scid*/**/*"),
}
"""By client: where its files are, below a place of ``_places``, as patterns of ``Path.glob``."""
_SUFFIXES: Final = frozenset((".debug", ".log", ".pgn", ".bpgn", ".txt", ".gz", ".bz2", ".xz", ".zst"))


class ClientLog(NamedTuple):
    """A file that a client seems to have written."""

    client: str
    path: str
    size_bytes: int


def find_client_logs(environment: Mapping[str, str], home: Path) -> Iterator[ClientLog]:
    """Logs and games in the usual places, each once, but not what this program wrote. Their beginnings are read."""
    places, known = _places(environment, home), set[Path]()
    for client, patterns in CLIENTS.items():
        for place, _, pattern in (pattern.partition("/") for pattern in patterns):
            for folder in places[place]:
                for path in sorted(_files(folder, pattern)):
                    if path not in known and _is_log(path):
                        yield ClientLog(client, str(path), path.stat().st_size)
                    known.add(path)


def _places(environment: Mapping[str, str], home: Path) -> dict[str, list[Path]]:
    def named(*names: str) -> list[Path]:
        return [Path(environment[name]) for name in names if environment.get(name)]

    return {
        "HOME": [home],
        "DOCUMENTS": [home / "Documents"],
        "SUPPORT": [home / "Library" / "Application Support"],
        "XDG_DATA": named("XDG_DATA_HOME") or [home / ".local" / "share"],
        "APPDATA": named("APPDATA", "LOCALAPPDATA"),
        "PROGRAMS": [*named("ProgramFiles", "ProgramFiles(x86)"), *(drive / "/" for drive in named("SystemDrive"))],
    }


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    with suppress(OSError):  # a folder that may not be read has nothing to import
        for path in folder.glob(pattern):
            if path.suffix.lower() in _SUFFIXES and path.is_file():
                yield path.resolve()


def _is_log(path: Path) -> bool:
    with suppress(SourceError, OSError), closing(read_blocks(path)) as blocks:
        head = next(iter(blocks), b"")
        return detect(head) is not None and not is_own_export(head)
    return False
