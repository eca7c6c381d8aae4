"""Small things that the commands say."""

from __future__ import annotations

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
