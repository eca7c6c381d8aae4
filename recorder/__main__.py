"""``python -m recorder`` is ``ics-recorder``."""

from __future__ import annotations

from recorder.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main(prog_name="ics-recorder")
