"""Builds the source distribution and the wheel, and tries both in clean environments: ``python -m tests.package``.

CI runs it. It needs the package index, a C compiler and Python's headers, and about two minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOG = ROOT / "tests" / "corpus" / "server" / "a01_standard" / "observer_GuestObsA.raw.gz"
GAMES_IN_LOG = 15
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"
PACKAGES = ("recorder", "storage", "exporters", "migrations")
BESIDE = (".ci/ics_recorder_build.py", "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml")


def main() -> None:
    """Check both distributions; ends with a message and status 1 at the first failure."""
    with tempfile.TemporaryDirectory() as folder:
        dist = Path(folder, "dist")
        environment = os.environ | {"PIP_CONSTRAINT": str(CONSTRAINTS), "PIP_BUILD_CONSTRAINT": str(CONSTRAINTS)}
        environment.pop("ICS_RECORDER_PURE", None)
        run(sys.executable, "-m", "build", "--outdir", dist, ROOT, env=environment)
        (sdist,) = dist.glob("*.tar.gz")
        (wheel,) = dist.glob("*.whl")
        check_sdist(sdist)
        check_wheel(wheel)
        try_package(wheel, Path(folder, "compiled"), "compiled", environment)
        bare = Path(folder, "bin")  # no compiler is found on this path
        bare.mkdir()
        try_package(sdist, Path(folder, "pure"), "pure Python", environment | {"PATH": str(bare)})
    print("sdist and wheel hold what they should, install, and import the bundled log, with and without a compiler")


def run(*command: object, **how: object) -> str:
    """Run a command; its output is printed only where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **how)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def tracked(*folders: str) -> set[str]:
    """Files of these folders that belong to the project."""
    return set(run("git", "ls-files", *folders, cwd=ROOT).splitlines())


def expect(what: str, found: set[str], wanted: set[str]) -> None:
    if found != wanted:
        raise SystemExit(f"{what}: not wanted: {sorted(found - wanted)}; missing: {sorted(wanted - found)}")


def check_sdist(path: Path) -> None:
    """Packages, their build, documents and examples: nothing else but what setuptools writes."""
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    written = {name for name in names if name in ("PKG-INFO", "setup.cfg") or name.startswith("ics_recorder.egg-info/")}
    expect(path.name, names - written, tracked(*PACKAGES, "docs", "examples") | set(BESIDE))


def check_wheel(path: Path) -> None:
    """The packages, one binary for each compiled module and the library that they share."""
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    binaries = {name for name in names if name.endswith((".so", ".pyd"))}
    expect(path.name, names - binaries, tracked(*PACKAGES))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    compiled = {source.removesuffix(".py") for source in project["tool"]["ics-recorder"]["compiled"]}
    expect(
        f"{path.name}, binaries", {name.partition(".")[0] for name in binaries}, compiled | {"recorder/compiled__mypyc"}
    )


def try_package(distribution: Path, folder: Path, kind: str, environment: dict[str, str]) -> None:
    """Install into a new environment, import the bundled log and list its games, away from the checkout."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    install = ("install", "--quiet", "--no-compile", "--constraint", CONSTRAINTS)
    run(programs / "python", "-m", "pip", *install, distribution, env=environment)
    command = programs / "ics-recorder"
    version = run(command, "--version", cwd=folder)
    if not version.endswith(f"({kind})\n"):
        raise SystemExit(f"{distribution.name} is not {kind}: {version}")
    run(command, "import", "--db", folder / "archive.sqlite", LOG, cwd=folder)
    games = json.loads(run(command, "games", "--db", folder / "archive.sqlite", "--json", cwd=folder))
    if len(games) != GAMES_IN_LOG:
        raise SystemExit(f"{distribution.name}: {len(games)} games instead of {GAMES_IN_LOG}")


if __name__ == "__main__":
    main()
