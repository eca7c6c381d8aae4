"""Small things that the commands say."""

from __future__ import annotations

import re

import pytest

from recorder.cli.terminal import clean, format_clock, plural, print_table


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, "-"),
        (0, "0:00"),
        (297_338, "4:57.338"),
        (-917, "-0:00.917"),
        (3_897_000, "1:04:57"),
        (60_000, "1:00"),
    ],
)
def test_format_clock(ms: int | None, text: str) -> None:
    assert format_clock(ms) == text


def test_clean_leaves_nothing_that_moves_the_cursor() -> None:
    assert clean("a\x1b[2Jb\tc\x07é") == "a\\x1b[2Jb\\tc\\x07é"


def test_plural() -> None:
    assert [plural(number, "ply", "plies") for number in (0, 1, 1204)] == ["0 plies", "1 ply", "1,204 plies"]


def test_table_is_parted_by_tabs_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A", "B"), [(1, None), ("x\ty", "[red]")])
    assert capsys.readouterr().out == "A\tB\n1\t-\nx\\ty\t[red]\n"


def test_table_is_ruled_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_table(("A", "B"), [(1, "[red]")], right=("A",))
    text = capsys.readouterr().out
    assert "[red]" in text
    assert "─" in text


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        ("30", ["", "  Player     Left at 10", " " + 23 * "─", "  Alekhine         1:00", "  Tal                 -"]),
        ("18", ["          Left at", "Player         10", "Alekhine     1:00", "Tal             -"]),
        ("13", ["Player      Alekhine", "Left at 10  1:00", "", "Player      Tal", "Left at 10  -"]),
    ],
)
def test_a_narrow_terminal_cuts_no_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: str, lines: list[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", width)
    print_table(("Player", "Left at 10"), [("Alekhine", "1:00"), ("Tal", None)], right=("Left at 10",))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert [line.rstrip() for line in shown.rstrip().splitlines()] == lines
