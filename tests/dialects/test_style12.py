"""``<12>`` lines, both ways."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.style12 import check_frame, format_style12, parse_elapsed, parse_style12
from recorder.errors import LineError
from recorder.events import Malformed
from recorder.frames import TAIL_LAG, Block, Style12

FULL = (
    "<12> rnb-kbnr pppp-ppp -------- ----p--- ------Pq -----P-- PPPPP--P RNBQKBNR W -1 1 0 1 0 1 107 gbtami ggbtami "
    "1 5 3 39 38 297338 -763 3 Q/d8-h4 (0:04.237) Qh4# 0 1 304"
)


def frame(text: str) -> Style12:
    parsed = parse_style12(text, 12, 34, Block(5, 1))
    assert isinstance(parsed, Style12), parsed
    return parsed


def test_every_field_of_a_whole_frame() -> None:
    got = frame(FULL)
    assert got.board == FULL[5:76]
    assert (got.offset, got.at_ms, got.block, got.partial) == (12, 34, Block(5, 1), False)
    assert (got.white_to_move, got.push_file, got.castling, got.irreversible) == (True, -1, 0b0101, 1)
    assert (got.game_no, got.white, got.black, got.relation) == (107, "gbtami", "ggbtami", 1)
    assert (got.base_min, got.increment_s, got.white_material, got.black_material) == (5, 3, 39, 38)
    assert (got.clock_unit_ms, got.white_clock_ms, got.black_clock_ms) == (1, 297338, -763)
    assert (got.move_no, got.ply, got.verbose, got.elapsed_ms, got.ms, got.pretty) == (
        3,
        4,
        "Q/d8-h4",
        4237,
        True,
        "Qh4#",
    )
    assert (got.flip, got.ticking, got.lag_ms, got.has_move) == (False, True, 304, True)
    assert check_frame(got) is None


@pytest.mark.parametrize("castling", range(16))
def test_each_castling_flag_has_its_bit(castling: int) -> None:
    flags = " ".join(str(castling >> bit & 1) for bit in range(4))
    assert frame(FULL.replace("W -1 1 0 1 0 1", f"W -1 {flags} 1")).castling == castling


@pytest.mark.parametrize("cut", ["", " 304", " 1 304"])
def test_what_is_not_printed_is_unknown(cut: str) -> None:
    got = frame(FULL.removesuffix(cut) if cut else FULL)
    assert got.lag_ms == (304 if not cut else None)
    assert got.ticking is (None if cut == " 1 304" else True)
    assert format_style12(got) == FULL.removesuffix(cut)


def test_the_property_of_an_impossible_token_raises() -> None:
    got = frame(FULL.replace("W -1 1", "W -8365560 1"))
    with pytest.raises(LineError, match="double-push"):
        _ = got.push_file
    assert check_frame(got) is None, "garbage in this field alone does not spoil the frame"


@pytest.mark.parametrize(
    ("place", "name"),
    [(6, "irreversible"), (7, "game_no"), (10, "relation"), (15, "white_clock_ms"), (17, "ply"), (19, "elapsed_ms")],
)
def test_a_damaged_field_is_named_and_never_guessed(place: int, name: str) -> None:
    tokens = FULL[77:].split(" ")
    tokens[place] = "x1"
    broken = Style12(FULL[5:76], tokens)
    with pytest.raises(LineError):
        getattr(broken, name)
    assert check_frame(broken) is not None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("rnb-kbnr", "rnb kbnr"),
        lambda text: text.replace("rnb-kbnr", "rnb!kbnr"),
        lambda text: text.replace(" pppp-ppp", ""),
        lambda text: text.replace("(0:04.237)", "(-27:-36. -60)"),
        lambda text: text.replace("Q/d8-h4", "Q/d8-"),
        lambda text: text[: text.index("Q/d8")],
        lambda text: text[:40] + text,
        lambda text: text.replace(" 0 1 304", " 0 7 304"),
    ],
)
def test_a_broken_frame_is_malformed(damage: Callable[[str], str]) -> None:
    got = parse_style12(damage(FULL))
    if isinstance(got, Style12):
        assert check_frame(got) is not None
    else:
        assert isinstance(got, Malformed)
        assert got.tag == "<12>"


def test_lines_that_are_no_frames() -> None:
    assert parse_style12("fics% <12> x") is None
    assert parse_style12(" " + FULL) is None


@pytest.mark.parametrize(
    ("text", "elapsed"),
    [
        ("(0:02)", (2_000, False)),
        ("(14:29)", (869_000, False)),
        ("(0:02.662)", (2_662, True)),
        ("(2:27.278)", (147_278, True)),
        ("(1:14:24.313)", (4_464_313, True)),
        ("(1:06:12)", (3_972_000, False)),
        ("(0:60.000)", (60_000, True)),
        ("(0:-5)", (-5_000, False)),
        ("(-1:-30)", (-90_000, False)),
        ("(-0:05)", (-5_000, False)),
        ("(0:05.5)", (5_500, True)),
        ("(0:05.05)", (5_050, True)),
        ("(0:00)", (0, False)),
    ],
)
def test_elapsed(text: str, elapsed: tuple[int, bool]) -> None:
    assert parse_elapsed(text) == elapsed
    assert parse_elapsed(text) == elapsed, "and again from the memo"


@pytest.mark.parametrize("text", ["(-27:-36. -60)", "(-27:-36.-60)", "0:05", "()", "(5)", "(0:05.1234)", "(a:bb)", ""])
def test_elapsed_garbage_raises(text: str) -> None:
    with pytest.raises(LineError):
        parse_elapsed(text)


@given(st.integers(min_value=0, max_value=86_400_000))
def test_elapsed_reads_every_time(elapsed_ms: int) -> None:
    seconds, ms = divmod(elapsed_ms, 1000)
    text = f"({seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms:03d})"
    assert parse_elapsed(text) == (elapsed_ms, True)


@given(st.text(alphabet="<12> -rnbqkpWB019()/:.", max_size=160).map(lambda tail: "<12>" + tail))
def test_any_text_is_a_frame_or_malformed(text: str) -> None:
    got = parse_style12(text)
    assert isinstance(got, Malformed) or (isinstance(got, Style12) and (not got.partial or check_frame(got) is None))


@given(st.lists(st.integers(0, 9), min_size=TAIL_LAG + 1, max_size=TAIL_LAG + 1), st.booleans())
def test_format_is_the_inverse_of_parse(numbers: list[int], white: bool) -> None:
    tail = FULL[77:].split(" ")
    tail[0] = "W" if white else "B"
    for place in (1, 6, 7, 11, 12, 13, 14, 15, 16, 17, 23):
        tail[place] = str(numbers[place])
    text = f"{FULL[:76]} {' '.join(tail)}"
    assert format_style12(frame(text)) == text
