"""Measures of the use of time, for pandas, DuckDB and Dask; docs/reference/measures.md defines them.

Importing this module gives every DataFrame of plies the attribute ``ics``, also one that no ``Archive`` made.
"""

# isort: off
import recorder.archive  # noqa: F401  # first: it refuses foreign modules named as packages of this program
from exporters.measures.functions import *  # noqa: F403  # the same names under the public package
from exporters.measures.functions import __all__ as __all__


def __dir__() -> list[str]:
    return sorted(__all__)
