"""Movetext that is made in lines is what the same words give when lines are broken afterwards."""

from hypothesis import example, given
from hypothesis import strategies as st

from exporters.pgn.exporter import wrap
from recorder.movetext import GLUE, LINE_LENGTH, move_number, movetext, timed_move, whole_hms

_TIMES = st.integers(0, 200_000_000)
_FIRST = st.one_of(st.integers(1, 10), st.integers(990, 1_010), st.integers(1, 2_500))
_PLIES = st.lists(st.tuples(st.sampled_from(("e4", "O-O-O", "Nf3", "R1xd4+", "bxa8=Q#", "N@f7")), _TIMES, _TIMES))


def _movetext(first: int, plies: list[tuple[str, int | None, int | None]]) -> str | None:
    columns: list[list] = [list(column) for column in zip(*plies, strict=True)]
    return movetext(first, *columns or ([], [], []))


def _words(first: int, plies: list[tuple[str, int, int]]) -> str:
    moves = enumerate(plies, first)
    words = [
        timed_move(f"{move_number(ply)} {san}", clock_ms, elapsed_ms) for ply, (san, clock_ms, elapsed_ms) in moves
    ]
    return " ".join(word or "" for word in words)


@given(_FIRST, _PLIES, st.lists(st.sampled_from(("{Ann", "resigns}", "1-0", "x" * 70)), min_size=1))
@example(1, [("e4", 180_000, 0)], ["1-0"])
def test_lines_are_those_of_the_whole_text(first: int, plies: list[tuple[str, int, int]], rest: list[str]) -> None:
    text = _movetext(first, plies)
    assert text is not None
    assert text == (wrap(_words(first, plies)) if plies else "")
    assert all(len(line) <= LINE_LENGTH for line in text.split("\n"))
    behind = " ".join(rest)
    assert text + wrap(behind, len(text) - text.rfind("\n") - 1) == wrap(f"{_words(first, plies)} {behind}".lstrip(" "))


def test_a_ply_as_it_is_written() -> None:
    assert _movetext(7, [("Nf3", 297_338, 62_001)]) == "4. Nf3 {[%clk 0:04:57.338] [%emt 0:01:02.001]}"
    assert timed_move("Nf3", 297_338, 62_001) == f"Nf3 {{[%clk{GLUE}0:04:57.338] [%emt{GLUE}0:01:02.001]}}"
    assert (move_number(8), move_number(1_999), move_number(-1)) == ("4...", "1000.", "0.")
    assert whole_hms(360_000) == "100:00:00"


def test_what_needs_other_words_is_left_to_others() -> None:
    for clock_ms, elapsed_ms in ((None, 0), (0, None), (-1, 0), (0, -1)):
        assert timed_move("e5", clock_ms, elapsed_ms) is None
        assert _movetext(1, [("e4", 1_000, 0), ("e5", clock_ms, elapsed_ms)]) is None
    assert _movetext(1, []) == ""
