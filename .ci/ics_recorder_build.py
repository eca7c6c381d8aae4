"""Builds the package: setuptools, with the hot path compiled by mypyc where that is possible.

pip calls the hooks at the end (PEP 517 and 660); ``python .ci/ics_recorder_build.py`` compiles in place, for a
working tree that no pip installed. pyproject.toml names the modules that are compiled. They are plain Python: without a
C compiler or Python's headers, or with ``ICS_RECORDER_PURE=1``, the package is the same, only slower.

Nothing of the package may be imported here: its dependencies are not installed when this runs.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tomllib
import traceback
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from setuptools import Distribution, Extension, setup
from setuptools.build_meta import _BuildMetaBackend
from setuptools.command.sdist import sdist

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_ROOT = Path(__file__).parent.parent
_GROUP = "recorder.compiled"  # all modules are one library, recorder/compiled__mypyc: calls between them stay direct


def _compiled() -> list[str]:
    """Paths of the modules that pyproject.toml wants compiled."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    paths: list[str] = project["tool"]["ics-recorder"]["compiled"]
    return paths


def _can_compile() -> bool:
    """Whether the hot path shall be compiled, and a C compiler and Python's headers are there to do it."""
    if os.environ.get("ICS_RECORDER_PURE") == "1":
        return False
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    header = Path(sysconfig.get_path("include"), "Python.h")
    return os.name == "nt" or (shutil.which(compiler) is not None and header.is_file())


def _extensions() -> list[Extension]:
    """Translate the modules to C; none where they cannot be compiled, or with ``ICS_RECORDER_PURE=1``."""
    if not _can_compile():
        return []
    from mypyc.build import mypycify  # only where something is compiled

    # What these modules import is not compiled. Other packages may be missing here; where they are installed they are
    # ignored, too, because checking against the types of pandas takes nine minutes and changes nothing.
    # No cache: `make lint` may use it at the same time, and checks the same modules with other options.
    checks = ["--config-file=", "--follow-imports=silent", "--ignore-missing-imports", "--no-site-packages"]
    checks.append(f"--cache-dir={os.devnull}")
    found: list[Extension] = mypycify([*checks, *_compiled()], opt_level="2", debug_level="0", group_name=_GROUP)
    return found


def _remove_binaries() -> None:
    """Take away what was compiled in place before: it would be loaded instead of the sources."""
    for suffix in EXTENSION_SUFFIXES:
        for binary in (_ROOT / "recorder").rglob(f"*{suffix}"):
            binary.unlink(missing_ok=True)  # the last suffix is the end of the others


def _or_pure(build: Callable[[], str]) -> str:
    """Build compiled; pure where that fails."""
    try:
        return build()
    except (Exception, SystemExit):  # whatever a compiler, setuptools or mypyc fails with: the sources alone do
        if os.environ.get("ICS_RECORDER_PURE") == "1":
            raise
        traceback.print_exc()
        print("The hot path cannot be compiled, as told above: ics-recorder runs from its sources, which is slower.")
        os.environ["ICS_RECORDER_PURE"] = "1"
        return build()


def _requirements(found: list[str]) -> list[str]:
    """What a build needs besides setuptools: mypy's compiler, only where it is used."""
    return [*found, "mypy>=2"] if _can_compile() else found


class _Sdist(sdist):
    """A source distribution: the packages, what builds them, the documents and the examples; no tests."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        extra = [Path(__file__), _ROOT / "CHANGELOG.md", *(_ROOT / "docs").rglob("*"), *(_ROOT / "examples").rglob("*")]
        kept = [name for name in files if not name.startswith("tests")]
        kept += [str(path.relative_to(_ROOT)) for path in extra if path.is_file()]
        super().make_release_tree(base_dir, sorted(set(kept)))


class _Backend(_BuildMetaBackend):
    """setuptools' hooks without a setup.py."""

    def run_setup(self, setup_script: str = "setup.py") -> None:
        if "editable_wheel" in sys.argv:
            _remove_binaries()
        binary = {"bdist_wheel", "editable_wheel"} & set(sys.argv)
        setup(ext_modules=_extensions() if binary else [], cmdclass={"sdist": _Sdist})

    def get_requires_for_build_wheel(self, *args: Any, **how: Any) -> list[str]:
        return _requirements(super().get_requires_for_build_wheel(*args, **how))

    def get_requires_for_build_editable(self, *args: Any, **how: Any) -> list[str]:
        return _requirements(super().get_requires_for_build_editable(*args, **how))

    def build_wheel(self, *args: Any, **how: Any) -> str:
        return _or_pure(lambda: super(_Backend, self).build_wheel(*args, **how))

    def build_editable(self, *args: Any, **how: Any) -> str:
        return _or_pure(lambda: super(_Backend, self).build_editable(*args, **how))


_backend = _Backend()
get_requires_for_build_wheel = _backend.get_requires_for_build_wheel
get_requires_for_build_sdist = _backend.get_requires_for_build_sdist
get_requires_for_build_editable = _backend.get_requires_for_build_editable
prepare_metadata_for_build_wheel = _backend.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = _backend.prepare_metadata_for_build_editable
build_wheel = _backend.build_wheel
build_sdist = _backend.build_sdist
build_editable = _backend.build_editable


if __name__ == "__main__":
    os.chdir(_ROOT)
    _remove_binaries()
    command = Distribution({"ext_modules": _extensions()}).get_command_obj("build_ext")
    command.inplace = command.force = True
    command.ensure_finalized()
    command.run()
