"""``import recorder``: what it offers, what it loads, and what a user's own files may be called."""

import subprocess
import sys
from pathlib import Path

import pytest

import recorder
import recorder.errors

ROOT = Path(__file__).parent.parent
HEAVY = ("pandas", "numpy", "sqlalchemy", "click", "chess", "rich", "alembic", "matplotlib")
LOG = ROOT / "tests/corpus/server/c08_adjourn/observer_GuestXw.raw"


def run(code: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Python with the folder first on its path, as where a user starts it, and the project behind."""
    words = f"import sys; sys.path[:] = [sys.path[0], {str(ROOT)!r}, *sys.path[1:]]\n{code}"
    return subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, cwd=folder, check=False)


def test_every_name_loads_and_completion_lists_it() -> None:
    for module in (recorder, recorder.measures, recorder.plots):
        assert dir(module) == sorted(module.__all__)
    for name in recorder.__all__:
        assert getattr(recorder, name) is not None
    assert len(set(recorder.__all__)) == len(recorder.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Recording'"):
        recorder.Recording  # noqa: B018  # looking the name up is the test


def test_a_star_import_gives_all_of_them() -> None:
    names: dict[str, object] = {}
    exec("from recorder import *", names)
    assert set(recorder.__all__) <= names.keys()


def is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception) and value.__module__ == "recorder.errors"


def test_all_errors_are_public() -> None:
    errors = {name for name, value in vars(recorder.errors).items() if name[0] != "_" and is_error(value)}
    assert errors <= set(recorder.__all__)
    assert all(issubclass(getattr(recorder, name), recorder.RecorderError) for name in errors)


def test_the_version_is_that_of_the_package() -> None:
    assert (
        recorder.__version__
        == subprocess.run(
            [sys.executable, "-m", "recorder", "--version"], capture_output=True, text=True, check=True, cwd=ROOT
        )
        .stdout.split("version ")[1]
        .split(" ")[0]
    )


def test_types_are_announced() -> None:
    assert (ROOT / "recorder" / "py.typed").exists()


def test_import_loads_nothing() -> None:
    answer = run(f"import recorder\nprint([name for name in {HEAVY!r} if name in sys.modules])\n"
                 "print(sorted(name for name in sys.modules if name.startswith('recorder')))")  # fmt: skip
    assert answer.stdout.splitlines() == ["[]", "['recorder']"]


def test_reading_games_loads_no_tables(tmp_path: Path) -> None:
    recorder.Archive(tmp_path / "games.db").import_logs(LOG)
    code = f"""
import recorder
archive = recorder.Archive({str(tmp_path / "games.db")!r}, read_only=True)
print(len([str(game) for game in archive.games()]), archive["last"].plies[0].proof.name)
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    answer = run(code)
    assert answer.stdout.splitlines() == ["1 FULL", "[]"], answer.stderr


@pytest.mark.parametrize("name", ["storage", "exporters", "migrations"])
def test_a_file_of_the_user_is_named_where_it_is_in_the_way(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("raise RuntimeError('run')\n")
    (tmp_path / "session.log").write_bytes(LOG.read_bytes())
    answer = run("import recorder\nprint([game.result for game in recorder.read_games('session.log')])", tmp_path)
    assert answer.stdout.startswith("['"), answer.stderr  # this needs none of these packages
    for use in (
        "recorder.Archive('games.db')",
        "recorder.measures",
        "next(recorder.read_games('session.log')).to_pgn()",
    ):
        answer = run(f"import recorder\n{use}", tmp_path)
        assert answer.stderr.splitlines()[-1] == (
            f"ImportError: {tmp_path / name}.py hides the package {name!r} of ics-recorder: rename that file, or start"
            " Python elsewhere."
        )
