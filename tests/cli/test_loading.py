"""A command loads only its own module and few of the modules that other commands need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.cli import Cli

_PARSING = ("recorder.events", "recorder.rules.legality")  # what lines and moves need; the tables take 20 ms


def test_a_command_loads_its_own_module_only() -> None:
    code = (
        "import sys; from recorder.cli import main; main.commands['export'];"
        "print(sorted(set(sys.modules) & {'recorder.cli.' + name for name in ('export', 'record', 'proxy')}))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "['recorder.cli.export']"


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (
            ("export", "pgn"),
            ("zstandard", "numpy", "recorder.pipeline", "recorder.tracking", "recorder.relating", *_PARSING),
        ),
        (("export", "pgn", "--engine", "--comments", "--variations"), ("recorder.pipeline",)),
        (("export", "games"), ("recorder.pipeline",)),
        (("export", "plies"), ("recorder.pipeline",)),
        (("games",), ("zstandard", "numpy", "recorder.pipeline", "recorder.tracking", "recorder.relating", *_PARSING)),
        (("show", "last"), ("recorder.pipeline",)),
        (("sources",), ("recorder.pipeline",)),
        (("anomalies",), ("recorder.pipeline",)),
    ],
)
def test_commands_that_only_read_load_no_module_that_writes_or_computes(
    filled: Cli, words: tuple[str, ...], heavy: tuple[str, ...]
) -> None:
    """Loading SQLAlchemy takes as long as reading some hundred games."""
    heavy += ("sqlalchemy", "alembic", "asyncio", "pandas", "chess", "rich")
    code = (
        "import sys; from recorder.cli import main; main(sys.argv[1:], standalone_mode=False);"
        f"print(sorted(set(sys.modules) & set({heavy!r})), file=sys.stderr)"
    )
    group = 2 if words[0] == "export" else 1
    asked = [sys.executable, "-c", code, *words[:group], "--db", str(filled.archive), *words[group:]]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert answer.stderr.splitlines()[-1] == "[]"
