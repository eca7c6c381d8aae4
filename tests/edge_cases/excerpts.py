"""The public excerpts of ``tests/corpus/public`` through the whole pipeline."""

from pathlib import Path

from recorder.sources import SourceKind, detect
from tests.edge_cases.scripts import Found, read

PUBLIC = Path(__file__).resolve().parent.parent / "corpus" / "public"


def public(name: str) -> Found:
    """Put an excerpt through the pipeline as it is."""
    data = (PUBLIC / f"{name}.txt").read_bytes()
    kind = detect(data) or SourceKind.RAW
    return read(data, kind.value)
