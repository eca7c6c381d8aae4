"""What of the hot path is compiled (.ci/ics_recorder_build.py), and whether it is what the sources say."""

import tomllib
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def sources(root: Path = ROOT) -> list[Path]:
    """The modules that pyproject.toml wants compiled."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return [root / path for path in project["tool"]["ics-recorder"]["compiled"]]


def is_compiled() -> bool:
    """Whether this process runs the hot path compiled."""
    spec = find_spec("recorder.events.frames")
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)


def stale_binaries(root: Path = ROOT) -> list[Path]:
    """Compiled modules that are older than their source, or that nothing wants compiled: Python would run them."""
    wanted = sources(root)
    stale = []
    for binary in (root / "recorder").rglob(f"*{EXTENSION_SUFFIXES[-1]}"):
        name = binary.name.partition(".")[0]
        source = binary.with_name(f"{name}.py")
        if name.endswith("__mypyc"):
            continue  # what they share: made together with them
        if source not in wanted or binary.stat().st_mtime < source.stat().st_mtime:
            stale.append(binary)
    return stale
