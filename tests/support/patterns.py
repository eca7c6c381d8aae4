"""Every regular expression of the package, and texts that would make a bad one slow."""

import ast
import importlib
import pkgutil
import re
import re._constants as codes  # type: ignore[import-not-found]  # type stubs lack private modules
import re._parser as parser  # type: ignore[import-not-found]  # type stubs lack private modules
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.matching import in_set

PACKAGES = ("recorder", "storage", "exporters", "migrations")
ROOT = Path(__file__).parents[2]
SEARCHING = ("search", "finditer", "findall", "sub", "subn", "split")


def modules() -> Iterator[Any]:
    """Every module of the package; migrations are run by alembic alone."""
    for name in PACKAGES:
        package = importlib.import_module(name)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if ".versions." not in found.name and not found.name.endswith(".env") and "__main__" not in found.name:
                yield importlib.import_module(found.name)


def _patterns_in(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(getattr(value, "__self__", None), re.Pattern):
        yield value.__self__
    elif hasattr(value, "cache_info") and getattr(getattr(value, "__wrapped__", None), "func", None) is re.compile:
        yield value()
    elif isinstance(value, dict) and depth < 4:
        for item in (*value, *value.values()):
            yield from _patterns_in(item, depth + 1)
    elif isinstance(value, tuple | list | set | frozenset) and depth < 4 and len(value) < 1000:
        for item in value:
            yield from _patterns_in(item, depth + 1)


@cache
def compiled_patterns() -> dict[re.Pattern[Any], str]:
    """Each compiled pattern of the package, with the first name that it has; ``[]`` behind it: it is one of several."""
    found: dict[re.Pattern[Any], str] = {}

    def note(name: str, value: Any) -> None:
        several = isinstance(value, dict | tuple | list | set | frozenset)
        for pattern in _patterns_in(value):
            found.setdefault(pattern, f"{name}[]" if several else name)

    for module in modules():
        for name, value in list(vars(module).items()):
            note(f"{module.__name__}.{name}", value)
            if isinstance(value, type) and value.__module__ == module.__name__:
                for attribute, inner in list(vars(value).items()):
                    note(f"{module.__name__}.{name}.{attribute}", inner)
    return found


@cache
def sources() -> list[tuple[Path, list[ast.AST]]]:
    """Each file of the package with all nodes of its syntax tree."""
    return [
        (path, list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    ]


@cache
def searched_names() -> set[str]:
    """Patterns (module.name) that are looked for at any place of a text, in their module or where they are imported.

    ``module.*``: it looks for patterns that a variable names, which may be any of its tables'.
    """
    found = set()
    for path, nodes in sources():
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        home = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        own = {node.id for node in nodes if isinstance(node, ast.Name) and node.id.isupper()}
        of_texts = {node.func for node in nodes if isinstance(node, ast.Call) and not node.args}  # text.split()
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in SEARCHING and node not in of_texts:
                holder = node.value.func if isinstance(node.value, ast.Call) else node.value
                while isinstance(holder, ast.Subscript):
                    holder = holder.value
                if isinstance(holder, ast.Name):
                    found.add(home.get(holder.id, f"{module}.{holder.id if holder.id in own else '*'}"))
    return found


# -- texts

_LOOPS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_PROBES = "a 5x(%>-]=}.{[:;+#\"\\/,B\x19\x15\r\n\t~!<*_'@\x00)|?&$\xe9"


def _letters_of(items: Any) -> list[str]:
    """Some letters of a set, those first that other parts of a pattern like to take, too."""
    found = [letter for letter in _PROBES if in_set(items, letter)]
    for op, value in items:
        if op is codes.LITERAL and not found:
            found.append(chr(value))
        elif op is codes.RANGE and chr(value[0]) not in found and in_set(items, chr(value[0])):
            found.append(chr(value[0]))
    return found


class _Sampler:
    """Shortest texts of a pattern's parts, and where its loops are."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        self.tree = parser.parse(
            text, pattern.flags & ~(re.UNICODE | re.LOCALE) if isinstance(pattern.pattern, str) else pattern.flags
        )
        self.groups: dict[int, str] = {}
        self.loops: list[tuple[str, list[str]]] = []  # what leads to a loop, and texts of one turn

    def texts(self, node: Any, before: str, wide: bool) -> list[str]:
        """Texts that a sequence matches; ``wide``: several. Notes the loops inside."""
        done = [""]
        nodes = list(node)
        for index, (op, value) in enumerate(nodes):
            known = len(self.loops)
            parts = self._one(op, value, before + done[0], wide)
            if len(self.loops) > known:
                behind = [self._whole([node]) for node in nodes[index + 1 : index + 7]]
                for _, pumps in self.loops[known:]:
                    pumps += ["".join(behind[:count]) for count in range(1, len(behind) + 1)]
            done = [a + b for a in done[:6] for b in parts[:40]][: (60 if wide else 1)]
        return done

    def _whole(self, nodes: Any) -> str:
        """A text in which every loop has a turn."""
        done = ""
        for op, value in nodes:
            if op in _LOOPS:
                done += self._whole(value[2]) * max(value[0], 1)
            elif op is codes.SUBPATTERN:
                done += self._whole(value[3])
            elif op is codes.ATOMIC_GROUP:
                done += self._whole(value)
            elif op is codes.BRANCH:
                done += self._whole(value[1][0])
            else:
                done += (self._one(op, value, "", False) or [""])[0]
        return done

    def _one(self, op: Any, value: Any, here: str, wide: bool) -> list[str]:
        if op is codes.LITERAL:
            return [chr(value)]
        if op is codes.NOT_LITERAL:
            return [letter for letter in _PROBES if ord(letter) != value]
        if op is codes.ANY:
            return list(_PROBES) if wide else ["a"]
        if op is codes.IN:
            return _letters_of(value) or [" "]
        if op is codes.BRANCH:
            found = []
            for branch in value[1]:
                found += self.texts(branch, here, wide)[:12]
            return found
        if op is codes.SUBPATTERN:
            found = self.texts(value[3], here, wide)
            if value[0] is not None:
                self.groups[value[0]] = found[0]
            return found
        if op is codes.ATOMIC_GROUP:
            return self.texts(value, here, wide)
        if op is codes.GROUPREF:
            return [self.groups.get(value, "")]
        if op in _LOOPS:
            least, most, body = value
            turns = self.texts(body, here, True)
            if most is codes.MAXREPEAT or most > 8:
                self.loops.append((here, list(dict.fromkeys(turns))[:24]))
            shortest = [turn * least for turn in turns]
            return ([*shortest[:3], *(turns[:3] if least == 0 else [])] if wide else shortest[:1]) if turns else [""]
        return [""]  # places and looks ahead


def adversarial(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """(before, pumped, behind) for each of a pattern's loops: many turns of one, and a mismatch."""
    sampler = _Sampler(pattern)
    whole = sampler.texts(sampler.tree, "", False)[0]
    seen = set()
    leads = [before for before, _ in sampler.loops]
    for before, turns in [*sampler.loops, ("", [whole])]:
        # What leads from here to a later loop: each time it comes, that loop may be begun.
        turns = [*turns, *(lead[len(before) :] for lead in leads if lead.startswith(before))]
        pumps = list(dict.fromkeys(turn for turn in (*turns, whole) if turn))
        pumps += [a + b for a in pumps[:5] for b in pumps[:5] if a != b]
        for pump in pumps:
            for behind in ("", "\x01", " \x01", whole[-3:] + "\x01"):
                for lead in {before, ""}:
                    if pump and (lead, pump, behind) not in seen:
                        seen.add((lead, pump, behind))
                        yield lead, pump, behind


def has_possessive_group(pattern: re.Pattern[Any]) -> bool:
    """Whether a possessive quantifier stands behind more than one letter or set."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    return _has_possessive_group(parser.parse(text, pattern.flags & ~re.UNICODE | re.ASCII))


def _has_possessive_group(part: Any) -> bool:
    if isinstance(part, parser.SubPattern):
        return any(_has_possessive_group(item) for item in part)
    if not isinstance(part, tuple | list):
        return False
    if part and part[0] is codes.POSSESSIVE_REPEAT:
        repeated = list(part[1][2])
        if len(repeated) != 1 or repeated[0][0] not in (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY):
            return True
    return any(map(_has_possessive_group, part))
