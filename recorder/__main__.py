"""``python -m recorder`` is ``ics-recorder``."""

from __future__ import annotations

import sys
from pathlib import Path

__all__: list[str] = []

if __name__ == "__main__":
    # Python looks for modules in the current folder first, where a storage.py may be that is not ours.
    if not sys.flags.safe_path and Path(sys.path[0]).resolve() != Path(__file__).resolve().parents[1]:
        del sys.path[0]
    from recorder.cli import main

    main(prog_name="ics-recorder")
