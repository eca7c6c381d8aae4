"""Pictures of clocks, think times and lag, drawn with matplotlib (the extra ``plot``): docs/reference/pictures.md."""

# isort: off
import recorder.archive  # noqa: F401  # first: it refuses foreign modules named as packages of this program
from exporters.plots import *  # noqa: F403  # the same names under the public package
from exporters.plots import __all__ as __all__


def __dir__() -> list[str]:
    return sorted(__all__)
