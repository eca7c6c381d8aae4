"""``<12>`` lines, both ways."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.style12 import check_frame, parse_style12, read_tokens, scan_frame
from recorder.errors import LineError
from recorder.events import Malformed
from recorder.events.frames import TAIL_BEGIN, TAIL_LAG, ReplyBlock, Style12, parse_elapsed
from recorder.model import Precision

FULL = (
    "<12> rnb-kbnr pppp-ppp -------- ----p--- ------Pq -----P-- PPPPP--P RNBQKBNR W -1 1 0 1 0 1 107 gbtami ggbtami "
    "1 5 3 39 38 297338 -763 3 Q/d8-h4 (0:04.237) Qh4# 0 1 304"
)


def frame(text: str) -> Style12:
    parsed = parse_style12(text, 12, 34, ReplyBlock(5, 1))
    assert isinstance(parsed, Style12), parsed
    return parsed


def of_tokens(tokens: list[str]) -> Style12:
    return read_tokens(FULL[5:76], tokens, f"{FULL[:77]}{' '.join(tokens)}", 12, 34, ReplyBlock(5, 1), False)


def scanned(text: str) -> Style12 | None:
    return scan_frame(text[5:76], text, 12, 34, ReplyBlock(5, 1))


def test_every_field_of_a_whole_frame() -> None:
    got = frame(FULL)
    assert got.board == FULL[5:76]
    assert (got.offset, got.at_ms, got.block, got.partial) == (12, 34, ReplyBlock(5, 1), False)
    assert (got.white_to_move, got.push_file, got.castling, got.irreversible) == (True, -1, 0b0101, 1)
    assert (got.game_no, got.white, got.black, got.relation) == (107, "gbtami", "ggbtami", 1)
    assert (got.base_min, got.increment_s, got.white_material, got.black_material) == (5, 3, 39, 38)
    assert (got.number, got.names) == ("107", "gbtami ggbtami")
    assert (got.white_clock_ms, got.black_clock_ms) == got.clocks == (297338, -763)
    assert got.times == (297338, -763, 4237, 304, Precision.MILLISECONDS)
    assert (got.move_no, got.ply, got.verbose, got.elapsed_ms, got.precision_code, got.pretty) == (
        3,
        4,
        "Q/d8-h4",
        4237,
        Precision.MILLISECONDS,
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
    assert got.text == FULL.removesuffix(cut)


def test_a_wild_push_file_is_given_as_printed() -> None:
    got = frame(FULL.replace("W -1 1", "W -8365560 1"))
    assert got.push_file == -8365560
    assert check_frame(got) is None, "garbage in this field alone does not spoil the frame"


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (6, "fields"),
        (7, "fields"),
        (10, "fields"),
        (15, "fields"),
        (17, "fields"),
        (19, "time taken"),
        (21, "flag"),
        (22, "flag"),
        (23, "lag"),
    ],
)
def test_a_malformed_field_is_named_and_never_guessed(place: int, name: str) -> None:
    tokens = FULL[77:].split(" ")
    tokens[place] = "x1"
    with pytest.raises(LineError, match=f"the {name}.*x1"):
        of_tokens(tokens)
    text = FULL[:77] + " ".join(tokens)
    assert scanned(text) is None
    if place == TAIL_LAG:
        assert frame(text).lag_ms is None, "a word behind the frame that a prompt was glued to"
    else:
        assert isinstance(parse_style12(text), Malformed)


@pytest.mark.parametrize(("was", "damaged"), [("pppp-ppp", "pp1p-ppp"), ("Q/d8-h4", "Q/d8h4")])
def test_a_frame_of_the_usual_shape_is_tested_on_demand(was: str, damaged: str) -> None:
    got = frame(FULL.replace(was, damaged))
    problem = check_frame(got)
    assert problem is not None
    assert damaged in problem


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
    assert frame(text).text == text
    assert frame(text.replace(" ", "  ")).text == text


_FIELDS = (
    "board", "text", "offset", "at_ms", "block", "partial", "number", "names", "relation", "ply", "irreversible",
    "white_clock_ms", "black_clock_ms", "verbose", "elapsed_ms", "precision_code", "pretty", "lag_ms",
)  # fmt: skip
_CLOCKS = st.one_of(st.integers(-(10**5), 10**7), st.integers(-(10**14), 10**14)).map(str)
_TAILS = st.tuples(
    st.sampled_from(["W -1", "B 4", "B -1", "W -8365560", "x -1"]),
    st.sampled_from(["1 1 1 1", "0 0 0 0", "0 1 2 1"]),
    st.sampled_from(["0", "12", "007", "-3", "1234567890123"]),
    st.sampled_from(["107", "1", "-1"]),
    st.sampled_from(["gbtami ggbtami", "Guest(U) x", "a_b c", "a <12>"]),
    st.sampled_from(["0", "1", "-1", "-2", "2", "-3", "00", "-0"]),
    st.sampled_from(["5 3 39 38", "0 0 -1 2", "5 3 39 "]),
    _CLOCKS,
    _CLOCKS,
    st.sampled_from(["3", "103", "0", "03", "-1"]),
    st.sampled_from(["Q/d8-h4", "o-o", "none", "P/@@-e4"]),
    st.sampled_from(["(0:04.237)", "(0:04)", "(12:60.000)", "(1:02:03.004)", "(0:-5)", "(0:04.2)", "(0:4)", "(:04)"]),
    st.sampled_from(["Qh4#", "O-O", "none"]),
    st.sampled_from(["0 1 304", "0 1", "1", "0 1 0", "0 0 -4", "0 7 1", "0 1 304 9", "0 1 30_4", "0 1 3\xb2"]),
).map(" ".join)


@given(tail=_TAILS, changes=st.lists(st.tuples(st.integers(0, 100), st.sampled_from("0 -_<:(.a\xb2")), max_size=2))
def test_what_is_read_while_a_line_is_cut_is_what_its_tokens_say(tail: str, changes: list[tuple[int, str]]) -> None:
    for place, letter in changes:
        tail = tail[:place] + letter + tail[place + 1 :]
    got = scanned(FULL[:TAIL_BEGIN] + tail)
    if got is None:
        return
    other = of_tokens(tail.split(" "))
    for name in _FIELDS:
        assert getattr(got, name) == getattr(other, name), name
    assert got.tail == tail.split(" ")
    assert len(got.tail) in (22, 23, 24)


@pytest.mark.parametrize("cut", ["", " 304", " 1 304"])
@pytest.mark.parametrize("elapsed", ["(0:04.237)", "(14:04)"])
def test_usual_frames_are_read_while_they_are_cut(cut: str, elapsed: str) -> None:
    text = FULL.removesuffix(cut).replace("(0:04.237)", elapsed)
    got, other = scanned(text), of_tokens(text[TAIL_BEGIN:].split(" "))
    assert got is not None
    for name in _FIELDS:
        assert getattr(got, name) == getattr(other, name), name


def test_a_lag_that_is_no_number_spoils_the_frame() -> None:
    tokens = FULL[TAIL_BEGIN:].split(" ")
    tokens[TAIL_LAG] = "\xb2"
    with pytest.raises(LineError, match="lag"):
        of_tokens(tokens)
    tokens[TAIL_LAG] = "-2147483648"
    assert of_tokens(tokens).lag_ms == -2147483648
