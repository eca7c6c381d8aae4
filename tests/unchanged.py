"""Whether a change of the code changes what users get: every output of the bundled logs, compared by its digest.

Run ``python -m tests.unchanged write FILE`` on the code before, and ``python -m tests.unchanged compare FILE`` on the
code after. Each scenario of tests/corpus/server and each bundled file of games is an archive of its own. Parquet files
are compared by their values, because their bytes contain the library's version, and reports by their HTML without
pictures, which are those of ``plot``.
"""

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.cli import SERVER, Cli

_ALL: Final = ("--include", "examined,setup,empty")
OUTPUTS: Final[dict[str, tuple[str, ...]]] = {
    "pgn": ("export", "pgn"),
    "pgn, all that it can hold": (
        *("export", "pgn", *_ALL, "--clock", "clk,emt,lag", "--variations", "--comments", "--engine"),
    ),
    "pgn, style fics": ("export", "pgn", "--style", "fics"),
    "pgn, style lichess": ("export", "pgn", "--style", "lichess"),
    "pgn, as crazyhouse": ("export", "pgn", "--as-crazyhouse"),
    "bpgn": ("export", "bpgn", "--comments"),
    "games, JSON Lines": ("export", "games", *_ALL, "--format", "jsonl"),
    "games, CSV": ("export", "games", *_ALL, "--format", "csv"),
    "plies, JSON Lines": ("export", "plies", *_ALL, "--format", "jsonl"),
    "plies, CSV": ("export", "plies", *_ALL, "--format", "csv"),
    "list of games": ("games", *_ALL, "--json"),
    "time usage": ("clocks", "--json"),
    "report of the last game": ("report", "last"),
    "report of the archive": ("report", "--index"),
    "verify": ("verify", "--json"),
}
"""What users get, and the command that gives it."""

_PICTURE: Final = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def digests(corpus: Path) -> Iterator[tuple[str, str]]:
    """The digest of each output of each archive, by a name that says which.

    Args:
        corpus: tests/corpus.
    """
    folders = sorted(path for path in (corpus / "server").iterdir() if path.is_dir())
    for logs in [*folders, corpus / "public", corpus / "pgn"]:
        with tempfile.TemporaryDirectory() as folder:
            cli = Cli(Path(folder) / "archive.sqlite")
            cli("import", logs, code=None)
            for name, words in OUTPUTS.items():
                text = _PICTURE.sub("<svg/>", cli(*words, code=None).stdout)
                yield f"{logs.name}: {name}", _digest(text.replace(folder, "").replace(str(corpus), ""))
            yield f"{logs.name}: plies, Parquet", _digest(_parquet_values(cli, Path(folder) / "plies.parquet"))


def _parquet_values(cli: Cli, path: Path) -> str:
    import pandas as pd

    cli("export", "plies", *_ALL, "-o", path, code=None)
    if not path.exists():
        return ""
    table = pd.read_parquet(path)
    return f"{table.dtypes.to_json(default_handler=str)}\n{table.to_json(orient='records', default_handler=str)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The names of the outputs that are not the same, or only on one side."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def main() -> int:
    """Write the digests, or compare with those in a file.

    Returns:
        The exit status: 1 if something differs.
    """
    parser = argparse.ArgumentParser(description="Compare all outputs of the bundled logs before and after a change.")
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("file", type=Path, help="the digests: JSON")
    asked = parser.parse_args()
    found = {}
    for name, digest in digests(SERVER.parent):
        found[name] = digest
        print(f"\r{len(found)} outputs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if asked.action == "write":
        asked.file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    differing = differences(json.loads(asked.file.read_text(encoding="utf-8")), found)
    for name in differing:
        print(f"differs: {name}")
    print(f"{len(found)} outputs, {len(differing)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
