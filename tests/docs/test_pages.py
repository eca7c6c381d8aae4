"""Everything on the hand-written pages runs, and prints what they show."""

import multiprocessing
import os
import re
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from exporters.plots import PICTURES
from tests.docs.pages import ROOT, blocks, fits, hand_written, steps, words_of
from tests.docs.run_page import look_alike, run_page, write_small
from tests.docs.screenshots import SHOTS

PAGES = hand_written()
LONG = ("pictures.md", "bughouse.md", "sql.md")
"""Pages whose commands take more than three seconds, but for those to get started."""
_RUN = {"console", "python", "sh", "sql", "run"}
_PLAIN = {"", "text", "bash", "shell"}
_IMAGES = ROOT / "docs" / "images"
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\(([^)]+)\)")
_DRAWN = re.compile(r"plot (\w+) .*-o (\w+\.png)")
_COMMAND = re.compile(r"^(?:\$ |\.venv/bin/)?(?:ics-recorder |python -m |make )", re.MULTILINE)


def has_something_to_run(path: Path) -> bool:
    return any(block.language in _RUN and block.not_run is None for block in blocks(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Makes processes that have imported what takes a second, and nothing of the program."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", "pyarrow", "sqlalchemy", "matplotlib.figure", "duckdb"])
    return context


def _run_apart(path: Path, said: Path) -> None:
    """Run a page in this process, which writes what it prints into a file."""
    nothing, file = os.open(os.devnull, os.O_RDONLY), os.open(said, os.O_WRONLY | os.O_CREAT)
    for ours, number in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(ours, number)
    os.chdir(ROOT)
    faults = run_page(path)
    print("\n".join(faults), flush=True)
    os._exit(1 if faults else 0)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.long] if path.name in LONG else [])
        for path in PAGES
        if has_something_to_run(path)
    ],
    ids=lambda path: str(path.relative_to(ROOT / "docs")),
)
def test_a_page_runs_and_prints_what_it_shows(path: Path, processes: ForkServerContext, tmp_path: Path) -> None:
    said = tmp_path / "said"
    process = processes.Process(target=_run_apart, args=(path, said))
    process.start()
    process.join(300)  # 25 s on a machine that does nothing else
    if process.is_alive():
        process.kill()
        process.join()
    assert process.exitcode == 0, said.read_text(errors="replace")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT / "docs")))
def test_commands_are_run_or_marked_with_a_reason(path: Path) -> None:
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language in _PLAIN and block.not_run is None and not block.printed:
            assert not _COMMAND.search(block.body), (
                f"{path}:{block.line}: make it console or sh, or say why it is not run"
            )
        if block.not_run is not None:
            assert len(block.not_run.split()) > 1, f"{path}:{block.line}"


def test_marks_belong_to_the_block_below_them() -> None:
    page = "a\n\n<!-- not run: needs a server -->\n<!-- exit status: 8 -->\n```console\n$ x\n```\n\n<!-- run: y -->\n\n"
    page += "```python\nprint(1)\n```\n\nThis prints:\n\n```\n1\n```\n"
    marked, hidden, program, printed = blocks(page)
    assert (marked.not_run, marked.status, marked.line) == ("needs a server", 8, 5)
    assert (hidden.language, hidden.body) == ("run", "y")
    assert (program.not_run, program.status, program.printed) == (None, 0, False)
    assert printed.printed


def test_commands_go_on_in_the_next_line() -> None:
    assert steps("$ a \\\n>   b\n1\n\n2\n$ c\n") == [("a b", "1\n\n2"), ("c", "")]


def test_a_command_with_operators_needs_a_shell() -> None:
    assert words_of("record --observe 'a & b' x") == ["record", "--observe", "a & b", "x"]
    for command in ("a | b", "a > b", "a; b", "a && b", 'a "$(b)"'):
        assert words_of(command) is None


def test_an_ellipsis_replaces_lines_and_sizes_may_differ() -> None:
    assert fits("a\n…\nd, 12 kB", "a\nb\nc\nd, 13 kB  \n")
    assert fits("a\n…\nb", "a\nb\n")
    assert not fits("a\n…\nc", "a\nb\n")
    assert not fits("a", "a\nb\n")


def test_pages_show_all_images_with_words_for_readers_who_do_not_see_them() -> None:
    shown = set()
    for path in [ROOT / "README.md", *PAGES]:
        for words, target in _IMAGE.findall(path.read_text(encoding="utf-8")):
            image = (path.parent / target).resolve()
            assert image.parent == _IMAGES, f"{path}: {target}"
            assert len(words.split()) > 5, f"{path}: {target}"
            assert image.stat().st_size <= 64_000, target
            shown.add(image.name)
    assert shown == {path.name for path in _IMAGES.iterdir()}


def test_the_page_of_pictures_draws_and_shows_each_of_them() -> None:
    page = (ROOT / "docs/reference/pictures.md").read_text(encoding="utf-8")
    shown = {Path(target).name for _, target in _IMAGE.findall(page)}
    drawn = {name for name, file in _DRAWN.findall(page) if file == f"{name}.png" and file in shown}
    assert drawn == set(PICTURES)
    # screenshots of a browser, which no command makes, and the picture of another page
    assert {path.name for path in _IMAGES.iterdir()} == {f"{name}.png" for name in drawn} | set(SHOTS) | {"game.gif"}


def test_other_pictures_are_recognised(tmp_path: Path) -> None:
    small = tmp_path / "small.png"
    write_small(_IMAGES / "race.png", small)
    assert look_alike(small, _IMAGES / "race.png")
    assert not look_alike(_IMAGES / "thinking.png", _IMAGES / "curve.png")
    assert not look_alike(_IMAGES / "race.png", _IMAGES / "profile.png")
