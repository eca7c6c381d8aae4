"""Regular expressions that few runs need.

Compiling one takes 0.1 to 2 ms, and there are hundreds: a command would spend a sixth of its start on those that its
logs never ask for. What nearly every log needs is compiled by ``re.compile`` where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import AnyStr

__all__ = ["later"]


def later(pattern: AnyStr, flags: int = 0) -> Callable[[], re.Pattern[AnyStr]]:
    """A regular expression that is compiled when it is first called for: ``_ROW = later(…)``, ``_ROW().fullmatch(…)``.

    Args:
        pattern, flags: as for ``re.compile``.
    """
    return cache(partial(re.compile, pattern, flags))
