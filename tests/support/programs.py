"""The programs of other projects that tests run. ``python -m tests.support.programs`` prints the missing packages.

Nothing but the standard library is imported: CI runs this before anything is installed.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

PACKAGES = {
    "Xvfb": "xvfb",
    "chromium": "chromium",
    "fairymax": "fairymax",
    "faketime": "faketime",
    "gnuchess": "gnuchess",
    "pgn-extract": "pgn-extract",
    "postgres": "postgresql",
    "pychess": "pychess",
    "sjeng": "sjeng",
    "stockfish": "stockfish",
    "systemd-analyze": "systemd",
    "tmux": "tmux",
    "xboard": "xboard",
}
"""Program → the package of Debian that contains it. ``pytest.mark.needs`` takes these names."""

_DEBIANS_POSTGRESQL = Path("/usr/lib/postgresql")  # a folder for each version, none of them in PATH

_allowed: set[str] = set()


def is_missing(name: str) -> bool:
    """Whether a program is not installed."""
    assert name in PACKAGES, f"{name}: tests/support/programs.py does not name its package"
    return _find(name) is None


def _find(name: str) -> str | None:
    if (found := shutil.which(name)) is not None or name != "postgres":
        return found
    versions = sorted(_DEBIANS_POSTGRESQL.glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    return str(versions[-1]) if versions else None


def allow(names: Iterable[str]) -> None:
    """Set the programs that the current test may run: those of its marker ``needs``."""
    _allowed.clear()
    _allowed.update(names)


def program(name: str) -> str:
    """Return the path of a program. The current test must be marked with its name."""
    assert name in _allowed, f"the test lacks @pytest.mark.needs({name!r})"
    found = _find(name)
    assert found is not None, f"{name} is not installed"
    return found


def how_to_install(names: Iterable[str]) -> str:
    """Return the command that installs programs on Debian, and where most of them are then."""
    packages = " ".join(sorted({PACKAGES[name] for name in names}))
    return f"apt-get install {packages} (games are in /usr/games, which PATH must name)"


if __name__ == "__main__":
    for each in filter(is_missing, PACKAGES):
        print(PACKAGES[each])
