"""Writes ``recorder/openings/openings.tsv``: ``python -m tests.openings.table FOLDER COMMIT``.

FOLDER has ``a.tsv`` to ``e.tsv`` of https://github.com/lichess-org/chess-openings, COMMIT is their version. Each has
columns ``eco``, ``name`` and ``pgn``. The rows are sorted by their moves.
"""

import sys
from pathlib import Path

from recorder.openings import TABLE
from recorder.rules.keys import position_keys
from tests.openings.lines import Row

HEAD = """\
# Names of chess openings by position, from https://github.com/lichess-org/chess-openings
# Version: commit {commit}
# Licence: CC0 1.0 Universal (public domain dedication), https://creativecommons.org/publicdomain/zero/1.0/
# Written by tests/openings/table.py. Columns: key of the position (recorder/rules/keys.py), ECO code, name, moves
"""


def main(folder: Path, commit: str) -> None:
    """Write the table."""
    found: list[Row] = []
    for volume in "abcde":
        for line in (folder / f"{volume}.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            eco, name, pgn = line.split("\t")
            found.append(Row(eco, name, tuple(word for word in pgn.split() if not word.endswith("."))))
    text = [HEAD.format(commit=commit)]
    for row in sorted(found, key=lambda row: row.sans):
        key = position_keys(row.moves())[-1]
        text.append(f"{key:016x}\t{row.eco}\t{row.name}\t{' '.join(row.sans)}\n")
    TABLE.write_text("".join(text), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
