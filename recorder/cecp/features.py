"""``feature NAME=VALUE …``: the abilities of an engine, and the options that it defines."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

DEFAULTS: Final[dict[str, int | None]] = {
    "ping": 0, "setboard": 0, "playother": 0, "san": 0, "usermove": 0, "time": 1, "draw": 1, "sigint": 1,
    "sigterm": 1, "reuse": 1, "analyze": 1, "myname": None, "variants": None, "colors": 1, "ics": 0, "name": None,
    "pause": 0, "nps": None, "debug": 0, "memory": 0, "smp": 0, "egt": None, "option": None, "exclude": 0,
    "setscore": 0, "highlight": 0, "done": None,
}  # fmt: skip
"""The features that the document defines, with their default values (None: no fixed value)."""

_FEATURE: Final = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)=(?:"([^"]*)"|([^\s"]+))')
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_OPTION: Final = re.compile(r"(.*?) -(button|save|reset|check|string|spin|combo|slider|file|path)(?: (.*))?", re.DOTALL)
_BARE: Final = frozenset(("button", "save", "reset"))
_RANGES: Final = frozenset(("spin", "slider"))


class Feature(NamedTuple):
    """Text is written in double quotes, numbers without."""

    name: str
    value: str | int


def parse_features(text: str) -> tuple[Feature, ...] | None:
    """None: it is not a list of settings. A value cannot contain ``"``."""
    features: list[Feature] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _FEATURE.match(text, at)
        if match is None:
            return None
        name, quoted, bare = match.groups()
        features.append(Feature(name, quoted if bare is None else int(bare) if _NUMBER.fullmatch(bare) else bare))
        at = match.end()
    return tuple(features) or None


def format_features(features: tuple[Feature, ...]) -> str:
    return " ".join(f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in features)


class EngineOption(NamedTuple):
    """Defined by ``feature option="…"``."""

    name: str
    kind: str  # button save reset check string spin combo slider file path
    value: str | int | None = None  # the current one, of a combo the marked choice
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()


def parse_option(text: str) -> EngineOption | None:
    """``Hash -spin 64 1 1024``; None: it is not one of the document's ten forms."""
    match = _OPTION.fullmatch(text)
    if match is None:
        return None
    name, kind, rest = match[1], match[2], match[3] or ""
    if kind in _BARE:
        return None if rest.strip() else EngineOption(name, kind)
    if kind in _RANGES:
        numbers = rest.split()
        if len(numbers) != 3 or not all(map(_NUMBER.fullmatch, numbers)):
            return None
        value, low, high = map(int, numbers)
        return EngineOption(name, kind, value, low, high)
    if kind == "check":
        return EngineOption(name, kind, int(rest)) if _NUMBER.fullmatch(rest) else None
    if kind == "combo":
        choices = tuple(choice.strip() for choice in rest.split("///"))
        marked = next((choice[1:] for choice in choices if choice.startswith("*")), None)
        return EngineOption(name, kind, marked, choices=tuple(choice.removeprefix("*") for choice in choices))
    return EngineOption(name, kind, rest)
