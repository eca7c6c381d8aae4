"""A command loads its own module only."""

from __future__ import annotations

import subprocess
import sys

from recorder.cli import main


def test_a_command_loads_its_own_module_only() -> None:
    code = (
        "import sys; from recorder.cli import main; main.commands['export'];"
        "print(sorted(set(sys.modules) & {'recorder.cli.' + name for name in ('export', 'record', 'proxy')}))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "['recorder.cli.export']"


def test_every_name_is_its_commands_own() -> None:
    for name, command in main.commands.items():
        assert command.name == name
