"""Compresses one part of a journal: ``python -m recorder.journal.packing FILE``, which ``compressing`` starts.

Nothing imports this module, so Python runs it without a word of warning.
"""

from __future__ import annotations

import sys
from pathlib import Path

from recorder.errors import JournalError
from recorder.journal.parts import compress_part

__all__ = ["main"]


def main() -> int:
    """Do it; returns the exit status, and says why if it is not 0."""
    try:
        compress_part(Path(sys.argv[1]))
    except (OSError, JournalError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
