"""Docstrings of the public API name every argument and say what is returned; docs/reference/python.md shows them."""

import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import pandas as pd
import pytest

import recorder

_NO_VALUE = ("None", "Never", "NoReturn")
_SHOWN_SPECIAL = ("__getitem__", "__iter__")


def public_callables() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Yield the name, the signature's owner and the docstring of every public callable."""
    for name in recorder.__all__:
        found = getattr(recorder, name)
        if inspect.isfunction(found):
            yield name, found, inspect.getdoc(found) or ""
        elif inspect.ismodule(found):
            for each in found.__all__:
                function = getattr(found, each)
                if inspect.isfunction(function):
                    yield f"{name}.{each}", function, inspect.getdoc(function) or ""
        elif inspect.isclass(found) and not issubclass(found, Enum):
            yield from methods_of(name, found)
    yield from methods_of("DataFrame.ics", type(pd.DataFrame({"key": [], "ply": []}).ics))


def methods_of(name: str, found: type[Any]) -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Yield the methods of a class, and its constructor unless Python writes it from the fields."""
    init = vars(found).get("__init__")
    if inspect.isfunction(init) and not hasattr(found, "__dataclass_fields__") and name != "DataFrame.ics":
        yield name, init, inspect.getdoc(found) or ""
    for each, member in vars(found).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if inspect.isfunction(function) and (not each.startswith("_") or each in _SHOWN_SPECIAL):
            yield f"{name}.{each}", function, (function.__doc__ and inspect.cleandoc(function.__doc__)) or ""


def sections(doc: str) -> dict[str, str]:
    """Return the text of each section of a docstring by its heading; the summary is under an empty one."""
    parts = re.split(r"^(\w+):$", doc, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def missing(function: Callable[..., Any], doc: str, *, constructor: bool = False) -> list[str]:
    """Return what a docstring lacks: names of arguments, and ``Returns`` where there is a value."""
    signature = inspect.signature(function)
    found = sections(doc)
    names = re.findall(r"(?:^ +|[.;] |, )\**([a-z_]+)(?=(?:,\s+[a-z_]+)*: )", found.get("Args", ""), re.MULTILINE)
    lacking = [name for name in signature.parameters if name not in ("self", "cls", *names)]
    returned = str(signature.return_annotation).strip("'")
    if not found[""].strip():
        lacking.append("a summary")
    if not constructor and returned not in _NO_VALUE and not {"Returns", "Yields"} & found.keys():
        lacking.append("Returns")
    return lacking


@pytest.mark.parametrize(("name", "function", "doc"), [pytest.param(*one, id=one[0]) for one in public_callables()])
def test_public_docstrings_name_arguments_and_values(name: str, function: Callable[..., Any], doc: str) -> None:
    assert missing(function, doc, constructor=function.__name__ == "__init__") == [], name
