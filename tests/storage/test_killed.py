"""An import killed at any moment leaves a valid archive, and running it again completes it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from storage import ArchiveStore
from storage.maintenance.check import check
from tests.support.effort import long_after

from .conftest import EVERYTHING, import_bytes, make_game

GAMES = 40
STEPS = 2 * GAMES + 3


def killed_import(path: Path, step: int) -> None:
    """Import, and die without any clean-up at the given step."""
    steps = iter(range(step, -1, -1))

    def tick() -> None:
        if next(steps) == 0:
            os._exit(9)

    with ArchiveStore.open(str(path), create=True) as archive:
        tick()
        with archive.write_source(
            sha256="0" * 64, size_bytes=GAMES << 16, name="x", path=None, kind="raw", keep=True, parser_version="1",
            options={},
        ) as writer:  # fmt: skip
            for number in range(GAMES):
                writer.keep(os.urandom(1 << 16))
                tick()
                writer.add_games([make_game(number)])
                writer.flush()
                tick()
            tick()
            os._exit(9)


@pytest.mark.parametrize("step", long_after(2, [7, STEPS - 1, 0, 1, GAMES, 2 * GAMES]))
def test_a_killed_import_leaves_a_valid_archive(path: Path, step: int) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[3]); from pathlib import Path;"
        "from storage_tests.test_killed import killed_import; killed_import(Path(sys.argv[1]), int(sys.argv[2]))"
    )
    package = path.parent / "import" / "storage_tests"
    package.parent.mkdir()
    package.symlink_to(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", code, str(path), str(step), str(package.parent)], check=False)
    assert done.returncode == 9
    assert check(path) == []
    with ArchiveStore.open(str(path), create=True) as archive:
        assert archive.sources() == []
        assert archive.count(EVERYTHING) == 0
        import_bytes(archive, b"one", [make_game(number) for number in range(GAMES)])
        assert list(archive.games(EVERYTHING)) == [make_game(number) for number in range(GAMES)]
