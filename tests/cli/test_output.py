"""Texts and tables that commands print."""

import re
import time

import click
import pytest

from recorder.cli.output import WIDE, print_table
from recorder.progress import show_progress
from recorder.text import clean
from recorder.times import format_clock


@pytest.mark.parametrize(
    ("ms", "exact", "text"),
    [
        (None, True, "-"),
        (0, True, "0:00.000"),
        (0, False, "0:00"),
        (297_338, True, "4:57.338"),
        (297_338, False, "4:57.338"),
        (-917, True, "-0:00.917"),
        (3_897_000, False, "1:04:57"),
        (60_000, True, "1:00.000"),
    ],
)
def test_times_in_milliseconds_always_show_them(ms: int | None, exact: bool, text: str) -> None:
    assert format_clock(ms, exact) == text


def test_clean_removes_all_that_moves_the_cursor() -> None:
    assert clean("a\x1b[2Jb\tc\x07é") == "a\\x1b[2Jb\\tc\\x07é"


def test_table_is_tab_separated_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A", "B"), [(1, None), ("x\ty", "[red]")])
    assert capsys.readouterr().out == "A\tB\n1\t-\nx\\ty\t[red]\n"


def test_table_is_drawn_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_table(("A", "B"), [(1, "[red]")], right=("A",))
    text = capsys.readouterr().out
    assert "[red]" in text
    assert "─" in text


@pytest.mark.parametrize(
    ("width", "wide", "lines", "missing"),
    [
        (
            40,
            None,
            ["Player    Left at 10  Why", "─" * 26, "Alekhine        1:00  mate", "Tal                -  -"],
            "",
        ),
        (23, None, ["Player   Left at 10 Why", "─" * 23, "Alekhine       1:00 ma…", "Tal               - -"], ""),
        (20, False, ["Player   Left at 10", "─" * 19, "Alekhine       1:00", "Tal               -"], "Why"),
        (12, False, ["Player", "─" * 8, "Alekhine", "Tal"], "Left at 10, Why"),
        (
            12,
            True,
            ["Player    Left at 10  Why", "─" * 26, "Alekhine        1:00  mate", "Tal                -  -"],
            "",
        ),
    ],
)
def test_a_narrow_terminal_shows_fewer_columns_and_one_line_a_row(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    wide: bool | None,
    lines: list[str],
    missing: str,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    with click.Context(click.Command("x")) as context:
        if wide is not None:
            context.meta[WIDE] = wide
        print_table(
            ("Player", "Left at 10", "Why"),
            [("Alekhine", "1:00", "mate"), ("Tal", None, None)],
            right=("Left at 10",),
            narrow=(("Why", 2), "Why", ("Player", 6), "Left at 10"),
        )
    shown = capsys.readouterr()
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", shown.out).rstrip().splitlines()] == lines
    hint = "" if wide is None else "; --wide shows all columns"
    assert shown.err == (f"This terminal is too narrow for {missing}{hint}.\n" if missing else "")


def test_a_column_that_folds_is_continued_on_the_next_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "24")
    print_table(
        ("Player", "Why"),
        [("Alekhine", "the game is rated, not seen"), ("Tal", "mate")],
        narrow=(("Why", 8),),
        fold=("Why",),
    )
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).rstrip().splitlines()]
    assert lines == ["Player   Why", "─" * 24, "Alekhine the game is", "         rated, not seen", "Tal      mate"]


def test_a_bar_is_shown_once_something_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as progress:
        time.sleep(0.25)  # it is drawn ten times a second
        assert "bytes" not in capsys.readouterr().err
        progress("a.log", 1, 2)
        time.sleep(0.25)
        assert "1/2 bytes" in capsys.readouterr().err


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize(
    ("name", "seen"),
    [("folder/" * 30 + "a.log", "a.log "), ("a.log" + 99 * "g", "a.loggggg"), ("a.log\x1b[H\n", "a.log\\x1b[H\\n ")],
)
def test_the_bar_shows_name_and_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, seen: str, columns: int
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    with show_progress() as progress:
        progress(name, 500_000_000, 1_500_000_000)
    line = re.findall(r"a\.log[^\r\n]*", capsys.readouterr().err)[-1]
    assert "0.5/1.5 GB" in line
    assert "-:--:--" in line
    assert line.startswith(seen)


@pytest.mark.parametrize("err", [False, True])
def test_a_bar_is_taken_back_before_a_line_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], err: bool
) -> None:
    for stream in ("stderr", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("short.log", "a long name of a log that has no room.log"):
        with show_progress() as progress:
            progress(name, 123_456_789, 1_234_567_890)
            before = capsys.readouterr().err
            click.echo("a line", err=err)
            after = capsys.readouterr()
            progress(name, 124_000_000, 1_234_567_890)
            again = capsys.readouterr().err
        bar = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", before.rpartition("\x1b[2K")[2])
        assert "\n" not in bar
        assert len(bar) <= 80
        taken = after.err.removesuffix("a line\n")
        assert taken.endswith("\x1b[1A\x1b[2K")
        assert (after.err if err else after.out).endswith("a line\n")
        assert name[:9] in again
