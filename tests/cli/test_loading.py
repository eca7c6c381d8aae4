"""A command loads only its own module and few of the modules that other commands need."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import Cli

_PARSING = ("recorder.events", "recorder.rules.legality")  # what lines and moves need; the tables take 20 ms
_RELATING = ("recorder.relating.game_view", "recorder.relating.grouping")  # what comparing games needs


def test_a_command_loads_its_own_module_only() -> None:
    code = (
        "import sys; from recorder.cli import main; main.commands['export'];"
        "print(sorted(set(sys.modules) & {'recorder.cli.' + name for name in ('export', 'record', 'proxy')}))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "['recorder.cli.export']"


def test_importing_loads_no_module_that_makes_tables(filled: Cli, tmp_path: Path) -> None:
    """Loading SQLAlchemy takes longer than a small log."""
    log = tmp_path / "new.pgn"
    log.write_text('[Event "x"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n')
    code = (
        "import sys; from recorder.cli import main; main(sys.argv[1:], standalone_mode=False);"
        "print(sorted(set(sys.modules) & {'sqlalchemy', 'alembic'}), file=sys.stderr)"
    )
    asked = [sys.executable, "-c", code, "import", "--jobs", "1", "--db", str(filled.archive), str(log)]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert answer.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("commands", "heavy"),
    [
        (
            "export pgn|games",
            ("zstandard", "numpy", "recorder.pipeline", "recorder.tracking", *_RELATING, *_PARSING),
        ),
        (
            "export pgn --engine --comments --variations|export games|export plies|show last|sources|anomalies|clocks",
            ("recorder.pipeline",),
        ),
    ],
)
def test_commands_that_only_read_load_no_module_that_writes_or_computes(
    filled: Cli, commands: str, heavy: tuple[str, ...]
) -> None:
    """Loading SQLAlchemy takes as long as reading some hundred games."""
    heavy += ("sqlalchemy", "alembic", "asyncio", "pandas", "chess", "rich")
    code = (
        "import sys; from recorder.cli import main\n"
        "for words in sys.argv[1].split('|'): main(words.split(), standalone_mode=False)\n"
        f"print(sorted(set(sys.modules) & set({heavy!r})), file=sys.stderr)"
    )
    asked = [sys.executable, "-c", code, commands]
    environment = {**os.environ, "ICS_RECORDER_DB": str(filled.archive)}
    answer = subprocess.run(asked, capture_output=True, text=True, check=True, env=environment)
    assert answer.stderr.splitlines()[-1] == "[]"
