"""Runs the command in this process."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from recorder.cli import main

SERVER = Path(__file__).parent.parent / "corpus" / "server"
WATCHER = SERVER / "b01_standard" / "observer_Watcher.raw"
"""Five whole games."""
ADJOURNED = SERVER / "c08_adjourn" / "observer_GuestXw.raw"
"""One adjourned game."""
GUESTS = SERVER / "a01_standard" / "observer_GuestObsA.raw.gz"
"""Fifteen games."""


class Cli:
    """Runs ``ics-recorder`` on one archive."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive

    def __call__(self, *words: object, code: int | None = 0, **how: Any) -> Result:
        """Run a command and check its exit status (None: any will do); ``how`` goes to click's runner."""
        env = {"ICS_RECORDER_DB": str(self.archive), **how.pop("env", {})}
        result = CliRunner().invoke(main, [str(word) for word in words], env=env, **how)
        assert code is None or result.exit_code == code, f"{result.output}\n{result.exception!r}"
        return result

    def json(self, *words: object, **how: Any) -> Any:
        """Run a command and read what it prints as JSON."""
        return json.loads(self(*words, **how).stdout)

    def table(self, *words: object, **how: Any) -> list[dict[str, str]]:
        """Run a command and read the table it prints."""
        heading, *lines = (line.split("\t") for line in self(*words, **how).stdout.splitlines())
        return [dict(zip(heading, line, strict=True)) for line in lines]
