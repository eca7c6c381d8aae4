"""Operations on an archive: importing, following, recording, verifying, rebuilding, merging, erasing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def _refuse_foreign_packages() -> None:
    """Raise ImportError if a file in the program's folder has the name of a package of ours."""
    # Python looks for modules in that folder first; nothing of the file is run.
    home = Path(__file__).parents[2]
    for name in ("storage", "exporters", "migrations"):
        spec = find_spec(name)
        origin = None if spec is None or spec.origin is None else Path(spec.origin)
        if origin is not None and origin.parents[1] != home:
            raise ImportError(
                f"{origin} hides the package {name!r} of ics-recorder: rename that file, or start Python elsewhere.",
                name=name,
                path=str(origin),
            )


_refuse_foreign_packages()
