"""Builds the source distribution and both wheels and tries them in a clean environment: ``python -m tests.package``.

CI runs it. It needs the package index, a C compiler and Python's headers, and a minute or two.
With ``--installed`` it tries the compiled package that is installed beside this Python, as cibuildwheel does.
"""

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
CHOSEN = {
    "linux": ("manylinux", "musllinux"),
    "macos": ("macosx",),
    "windows": ("win",),
}
"""Platform → what the identifiers of its wheels contain."""
PYTHONS = ("cp311", "cp312", "cp313")
BESIDE = (".ci/ics_recorder_build.py", "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml")


def main() -> None:
    """Check both distributions; ends with a message and status 1 at the first failure."""
    with tempfile.TemporaryDirectory() as folder:
        dist = Path(folder, "dist")
        environment = os.environ | {"PIP_CONSTRAINT": str(CONSTRAINTS), "PIP_BUILD_CONSTRAINT": str(CONSTRAINTS)}
        environment.pop("ICS_RECORDER_PURE", None)
        environment.pop("CC", None)
        run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", dist, ROOT, env=environment)
        (sdist,) = dist.glob("*.tar.gz")
        check_sdist(sdist)
        quick = Path(folder, "cc")  # to optimise takes long, and `make test-all` tests the optimised code
        quick.write_text('#!/bin/sh\nexec cc "$@" -O0\n')
        quick.chmod(0o755)
        wheel = make_wheel(sdist, Path(folder, "compiled"), environment | {"CC": str(quick)})
        check_wheel(wheel, compiled_modules() | {"recorder/compiled__mypyc"})
        bare = Path(folder, "bin")  # no compiler is found on this path
        bare.mkdir()
        without = environment | {"PATH": str(bare)}
        pure = make_wheel(sdist, Path(folder, "pure"), without)
        if not pure.name.endswith("-py3-none-any.whl"):
            raise SystemExit(f"without a compiler {pure.name} is made")
        check_wheel(pure, set())
        tried = Path(folder, "tried")
        venv.create(tried, with_pip=True)
        install(wheel, tried, environment)
        try_installed(programs(tried), "compiled")
        install(pure, tried, without, "--no-deps", "--force-reinstall")  # the dependencies are there
        try_installed(programs(tried), "pure Python")
        check_chosen(tried, environment)
    print("sdist and both wheels hold what they should, install, and import the bundled log")


def make_wheel(sdist: Path, folder: Path, environment: dict[str, str]) -> Path:
    """Build a wheel where only what the source distribution asks for is installed."""
    made = ("wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist)
    run(sys.executable, "-m", "pip", *made, env=environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


def run(*command: object, **how: object) -> str:
    """Run a command; its output is printed only where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **how)  # type: ignore[call-overload]  # mypy cannot choose an overload for unknown keywords
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


def compiled_modules() -> set[str]:
    """The modules that pyproject.toml wants compiled, without suffix."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {source.removesuffix(".py") for source in project["tool"]["ics-recorder"]["compiled"]}


def check_wheel(path: Path, wanted: set[str]) -> None:
    """The packages and these binaries: one for each compiled module and the library that they share, or none."""
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    binaries = {name for name in names if name.endswith((".so", ".pyd"))}
    expect(path.name, names - binaries, tracked(*PACKAGES))
    expect(f"{path.name}, binaries", {name.partition(".")[0] for name in binaries}, wanted)


def programs(environment: Path) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin")


def python_of(folder: Path) -> Path:
    """The interpreter beside the programs."""
    return folder / ("python.exe" if os.name == "nt" else "python")


def install(what: str | Path, folder: Path, environment: dict[str, str], *words: str) -> None:
    """Install a distribution into an environment."""
    how = ("install", "--quiet", "--no-compile", "--constraint", CONSTRAINTS, *words)
    run(programs(folder) / "python", "-m", "pip", *how, what, env=environment)


def try_installed(folder: Path, kind: str) -> None:
    """Import the bundled log with the command in this folder and list its games, away from the checkout."""
    command = folder / "ics-recorder"
    with tempfile.TemporaryDirectory() as here:
        version = run(command, "--version", cwd=here)
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        if version.strip() != f"ics-recorder, version {project['version']} ({kind})":
            raise SystemExit(f"{command} is not {kind} {project['version']}: {version}")
        run(command, "import", "--db", "archive.sqlite", LOG, cwd=here)
        games = json.loads(run(command, "games", "--db", "archive.sqlite", "--json", cwd=here))
        if len(games) != GAMES_IN_LOG:
            raise SystemExit(f"{command}: {len(games)} games instead of {GAMES_IN_LOG}")
        run(command, "conformance", python_of(folder), "-m", "recorder.conformance", cwd=here)  # the cases are there


def check_chosen(folder: Path, environment: dict[str, str]) -> None:
    """cibuildwheel would build, for each platform, one wheel for each Python that is supported."""
    install("cibuildwheel", folder, environment)
    for platform, kinds in CHOSEN.items():
        words = ("--print-build-identifiers", "--platform", platform)
        identifiers = run(programs(folder) / "cibuildwheel", *words, ROOT).split()
        found = {identifier.partition("_")[0] for identifier in identifiers}  # without the processor
        expect(f"cibuildwheel for {platform}", found, {f"{python}-{kind}" for python in PYTHONS for kind in kinds})


if __name__ == "__main__":
    if sys.argv[1:] == ["--installed"]:
        try_installed(programs(Path(sys.prefix)), "compiled")
    else:
        main()
