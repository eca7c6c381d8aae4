"""What a line is: decided as a whole, from its start."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.recogniser import Recogniser
from recorder.events import (
    ChatLine,
    GameEnded,
    GameHeader,
    HoldingsLine,
    Line,
    Malformed,
    MovelistRead,
    Noise,
    ObservingStarted,
    Unrecognised,
)
from recorder.events.frames import ReplyBlock, Style12
from tests.dialects.lines import CORPUS, FRAME, events, read_corpus, recognise

HANDS = "<b1> game 12 white [] black [P] <- BP"


def kinds(*texts: str) -> list[str]:
    return [type(event).__name__ for event in recognise(*texts)]


def test_blank_lines_and_bare_prompts_are_no_events() -> None:
    assert recognise("", "   ", "fics% ", "fics% fics% ", "aics%") == []


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        ("{Game 7 (Ann vs. Bob) Bob resigns} 1-0", ["GameEnded"]),
        (" {Game 7 (Ann vs. Bob) Bob resigns} 1-0", ["GameEnded"]),
        ("Bob kibitzes: hi", ["ChatLine"]),
        ("fics% Bob(1500)[7] kibitzes: 100% sure", ["ChatLine"]),
        (" Bob kibitzes: hi", ["ChatLine"]),
        ("Zwitscher tirili", ["Unrecognised"]),
        (" newfield 7", []),
        ("fics% ", []),
        ("Bob%", []),
        (" ", []),
        (f"{{Game 7 (Ann vs. Bob) Bob resigns}} 1-0{FRAME}", ["GameEnded", "Style12"]),
    ],
)
def test_a_text_fused_to_a_frame_is_a_line_of_its_own(behind: str, found: list[str]) -> None:
    frame, *rest = events([Line(FRAME + behind, 100)])
    assert isinstance(frame, Style12)
    assert frame.text.startswith(FRAME)
    assert [type(event).__name__ for event in rest] == found
    for event in rest:
        if not isinstance(event, Style12):
            assert event.line.offset == 100 + (FRAME + behind).index(event.line.text)


def test_an_event_keeps_its_line_without_prompts() -> None:
    (got,) = events([Line("fics% fics% You are now observing game 5.", 77, 5, ReplyBlock(3, 80))])
    assert got == ObservingStarted(Line("You are now observing game 5.", 77, 5, ReplyBlock(3, 80)), 5)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"fics% {HANDS}", ["HoldingsLine"]),
        (f"{HANDS}{FRAME}<b1> game 12 white [] black []", ["HoldingsLine", "Style12", "HoldingsLine"]),
        (f"{FRAME}{FRAME}", ["Style12", "Style12"]),
        ("9210You are now observing game 157.", ["ObservingStarted"]),
        (f"1091{FRAME}", ["Style12"]),
        ("9210 hello", ["Unrecognised"]),
        (f"Game 12: A (2517) B (2638) unrated standard 120 0{FRAME}", ["GameHeader", "Style12"]),
        (f"{{Game 3 (A vs. B) Creating rated blitz match.}}fics% {FRAME}", ["GameCreated", "Style12"]),
        (
            "Removing game 3 from observation list.fics% You are now observing game 4.",
            ["ObservingEnded", "ObservingStarted"],
        ),
    ],
)
def test_lines_whose_ends_were_lost(text: str, found: list[str]) -> None:
    assert kinds(text) == found


@pytest.mark.parametrize(
    "text",
    [
        f"some words {FRAME}",
        f"You are now observing game 157.some words {FRAME}",
        f"You are now observing game 157.{FRAME[:90]}",
        f"You are now observing game 157.{FRAME.replace('(0:01)', '(0:x1)')}",
    ],
)
def test_a_frame_after_unknown_text_or_a_broken_one_is_quoted(text: str) -> None:
    recogniser = Recogniser()
    found = recogniser.feed([Line(text, 0)]) + recogniser.finish()
    assert found == [Unrecognised(Line(text, 0))]
    assert recogniser.quoted == Counter({"<12>": 1})


@pytest.mark.parametrize(
    "text",
    [
        f"X kibitzes: {FRAME}",
        f"X(U)(----)[12] whispers: {FRAME}",
        f"X shouts: {FRAME}",
        f"X(53): {FRAME}",
        f"X tells you: {FRAME}",
        f":{FRAME}",
        f"(told X, who said {FRAME})",
    ],
)
def test_chat_never_becomes_data(text: str) -> None:
    recogniser = Recogniser()
    (got,) = recogniser.feed([Line(text, 0)]) + recogniser.finish()
    assert isinstance(got, ChatLine)
    assert recogniser.quoted == Counter({"<12>": 1})


def test_every_occurrence_of_a_tag_is_a_frame_malformed_or_quoted() -> None:
    texts = [
        FRAME,
        f"X kibitzes: <12> <12> <b1> {FRAME}",
        f"<12> nothing {FRAME} <b1>",
        HANDS,
        "<b1> nothing",
        f"{FRAME}{HANDS}",
        FRAME.replace("P/e7-e5", "P/e7") + "<12>",
    ]
    recogniser = Recogniser()
    found = recogniser.feed([Line(text, 0) for text in texts]) + recogniser.finish()
    for tag, kind in (("<12>", Style12), ("<b1>", HoldingsLine)):
        events_of = sum(isinstance(event, kind) for event in found)
        broken = sum(isinstance(event, Malformed) and event.tag == tag for event in found)
        assert events_of + broken + recogniser.quoted[tag] == sum(text.count(tag) for text in texts)
    assert sum(isinstance(event, Malformed) for event in found) == 3


@pytest.mark.parametrize("cut", [place for place, letter in enumerate(FRAME) if letter == " " and place > 20])
def test_a_frame_cut_by_a_terminal_is_joined(cut: int) -> None:
    found = recognise(FRAME[:cut], FRAME[cut + 1 :], "No ratings adjustment done.")
    frames = [event for event in found if isinstance(event, Style12)]
    assert len(frames) == 1
    whole = len(FRAME[:cut].split(" ")) < 31
    assert frames[0].tail[:21] == FRAME[77:].split(" ")[:21]
    assert (len(frames[0].tail) == 24) is whole, "what is whole before the cut is not waited for"


LONG = FRAME.replace("A B 0 5 0 39 39 300 299", "Capablanca Znosko-Borovsky 0 5 0 39 39 300000 299000").replace(
    "(0:01)", "(0:01.000)"
)


@pytest.mark.parametrize("width", range(62, 84))
@pytest.mark.parametrize("trimmed", [False, True])
def test_a_frame_cut_at_the_last_column_is_joined(width: int, trimmed: bool) -> None:
    # Some terminals drop the blanks before and behind the cut.
    text = LONG.replace("e5 0 1 0", "gxf1=R+ 0 1 0")
    pieces = [text[at : at + width] for at in range(0, len(text), width)]
    found = recognise(
        *(piece.strip(" ") if trimmed else piece for piece in pieces), "{Game 12 (A vs. B) A res", "igns} 0-1"
    )
    assert [type(event) for event in found] == [Style12, GameEnded]
    assert isinstance(found[0], Style12)
    assert found[0].tail[:22] == text[77:].split(" ")[:22]


def test_lines_behind_a_cut_frame_are_read_in_their_order() -> None:
    talk = f"X tells you: {'well played, ' * 6}thank you"
    assert kinds(LONG[:80], talk, FRAME) == ["Malformed", "ChatLine", "Style12"]
    assert kinds(LONG[:80], LONG[80:150], talk) == ["Malformed", "Unrecognised", "ChatLine"]
    assert kinds(LONG[:80], LONG[80:150]) == ["Malformed", "Unrecognised"]


def test_a_cut_result_is_joined_only_with_the_words_of_a_server() -> None:
    assert kinds("{Game 12 (A vs. B) A res", "X tells you: } 0-1") == ["Malformed", "ChatLine"]
    assert kinds("{Game 12 (A vs. B) A res") == ["Malformed"]


def test_no_cut_line_is_lost_behind_another_cut_line() -> None:
    result = "{Game 12 (Capablanca vs. Znosko-Borovsky) Znosko-Borovsky forfeits on"
    assert kinds(LONG[:80], result) == ["Malformed", "Malformed"]
    assert kinds(result, result, result, result) == ["Malformed"] * 4
    assert kinds(LONG[:80], result, LONG[:80], "X kibitzes: hi") == ["Malformed"] * 3 + ["ChatLine"]
    assert kinds(LONG[:80], result, "time} 1-0") == ["Malformed", "GameEnded"]


def test_a_cut_frame_is_not_joined_with_text() -> None:
    assert kinds(FRAME[:110], "X tells you: hello") == ["Malformed", "ChatLine"]
    assert kinds(FRAME[:110]) == ["Malformed"], "nor lost at the end"


def test_answers_that_print_other_peoples_text_are_no_events() -> None:
    news = ReplyBlock(4, 78)
    recogniser = Recogniser()
    found = recogniser.feed([Line(FRAME, 0, None, news), Line("{Game 1 (A vs. B) A resigns} 0-1", 9, None, news)])
    assert [type(event) for event in found] == [Noise, Noise]
    assert recogniser.quoted["<12>"] == 1


def test_a_frame_keeps_its_block() -> None:
    (got,) = events([Line(FRAME, 0, None, ReplyBlock(7, 125))])
    assert isinstance(got, Style12)
    assert got.block == ReplyBlock(7, 125)


def test_shapes_of_unknown_lines_are_counted_and_bounded() -> None:
    recogniser = Recogniser()
    recogniser.feed([Line("Watcher has 3 apples", 10), Line("Kramnik has 14 apples", 20)])
    assert list(recogniser.shapes.values()) == [[2, 10]]
    letters = "abcdefghijklmnop"
    recogniser.feed([Line(f"{a}{b}{c} pears", 30) for a in letters for b in letters for c in letters][:3000])
    assert len(recogniser.shapes) <= 1001
    assert sum(count for count, _ in recogniser.shapes.values()) == 3002


@given(st.lists(st.text(alphabet=st.characters(max_codepoint=255, exclude_characters="\n"), max_size=60), max_size=8))
def test_any_lines_give_events(texts: list[str]) -> None:
    for event in recognise(*texts):
        assert event is not None


PIECES = st.sampled_from(
    [
        FRAME,
        FRAME[:100],
        FRAME[4:],
        HANDS,
        "<b1> game",
        "<12>",
        "fics% ",
        "{Game 12 (A vs. B) A resigns} 0-1",
        "Game 12: A (1500) B (----) rated blitz 3 0",
        "You are now observing game 12.",
        "X kibitzes: ",
        "A (1626) vs. B (UNR) --- Mon Nov  4, 08:38 CET 2002",
        "Rated standard match, initial time: 10 minutes, increment: 12 seconds.",
        "----  ----   ----",
        "  1.  e4  (0:00)  e5  (0:01)",
        "      {Still in progress} *",
        "words ",
    ]
)


@given(st.lists(st.lists(PIECES, min_size=1, max_size=3).map("".join), max_size=12))
def test_tags_are_accounted_for_whatever_is_glued(texts: list[str]) -> None:
    recogniser = Recogniser()
    found = recogniser.feed([Line(text, number) for number, text in enumerate(texts)]) + recogniser.finish()
    frames = sum(isinstance(event, Style12) for event in found)
    frames += sum(isinstance(event, MovelistRead) and event.start_frame is not None for event in found)
    hands = sum(isinstance(event, HoldingsLine) for event in found)
    for tag, seen in (("<12>", frames), ("<b1>", hands)):
        broken = sum(isinstance(event, Malformed) and event.tag == tag for event in found)
        assert seen + broken + recogniser.quoted[tag] == sum(text.count(tag) for text in texts)


@given(st.lists(st.lists(PIECES, min_size=1, max_size=3).map("".join), max_size=12), st.integers(0, 12))
def test_batches_do_not_matter(texts: list[str], cut: int) -> None:
    lines = [Line(text, number) for number, text in enumerate(texts)]
    recogniser = Recogniser()
    parts = recogniser.feed(lines[:cut]) + recogniser.feed(lines[cut:]) + recogniser.finish()
    assert [repr_of(event) for event in parts] == [repr_of(event) for event in events(lines)]


def repr_of(event: object) -> str:
    return event.text if isinstance(event, Style12) else type(event).__name__ + str(getattr(event, "line", ""))


@pytest.mark.parametrize(
    "text",
    [
        "Server location: " + " " * 60_000,
        " " * 60_000 + "x",
        "X" + "(1" * 30_000,
        "{Game 1 (A vs. B) " * 3_000,
        "{Game 1 (" + "A" * 60_000,
        "A (1) vs. B (2) --- " + " " * 60_000,
        "<12> " + "- " * 30_000,
        "<b1> game 1 white [" + "P" * 60_000,
        "fics% " * 10_000,
        "&#x2" * 15_000,
    ],
)
def test_long_junk_is_read(text: str) -> None:
    assert len(recognise(text, "x")) <= 2


def test_captured_glued_line() -> None:
    found, _, _ = read_corpus("macbeth-glued-observe-157.txt")
    assert [type(event) for event in found] == [ObservingStarted, GameHeader, Style12]


def test_captured_wrapped_frame() -> None:
    frames = [event for event in read_corpus("lila-relay-277-wrapped-frame.txt")[0] if isinstance(event, Style12)]
    assert [(frame.pretty, frame.lag_ms) for frame in frames] == [("Nxd5", 0)]


def test_the_help_page_about_frames_gives_none() -> None:
    found, recogniser, data = read_corpus("fics-help-style12.txt")
    assert not [event for event in found if isinstance(event, Style12 | Malformed)]
    assert recogniser.quoted["<12>"] == data.count(b"<12>")


FRAME_FILES = [*sorted(path.name for path in (CORPUS / "public").glob("*frames*.txt")), "fatics-expected-lines.txt"]


@pytest.mark.parametrize("name", FRAME_FILES)
def test_every_captured_frame_is_read(name: str) -> None:
    found, _, data = read_corpus(name)
    assert not [event for event in found if isinstance(event, Malformed)]
    frames = [event for event in found if isinstance(event, Style12)]
    assert len(frames) == data.count(b"<12>")


def test_captured_ends_have_known_reasons() -> None:
    for name in ("ictk-gameend-lines.txt", "macbeth-gameend-lines.txt", "mekk-gameend-lines.txt"):
        ends = [event for event in read_corpus(name)[0] if isinstance(event, GameEnded)]
        assert ends
        assert "unknown" not in {end.reason_key for end in ends}


@pytest.mark.parametrize(
    ("texts", "pending"),
    [
        ((FRAME,), None),
        ((FRAME, FRAME[:110]), 1000),
        ((FRAME, "Movelist for game 7:"), 1000),
        ((FRAME, "Movelist for game 7:", "A (1626) vs. B (UNR) --- Mon Nov  4, 08:38 CET 2002"), 1000),
        (("A (1626) vs. B (UNR) --- Mon Nov  4, 08:38 CET 2002", FRAME, "other words"), None),
    ],
)
def test_where_a_log_that_grows_is_read_on(texts: tuple[str, ...], pending: int | None) -> None:
    recogniser = Recogniser()
    recogniser.feed([Line(text, 1000 * number) for number, text in enumerate(texts)])
    assert recogniser.pending_offset == pending
