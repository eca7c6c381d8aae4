"""What the engine says: every line of the protocol document, both ways, and its old forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.cecp.answers import (
    DEFAULTS,
    Answer,
    Claim,
    Comment,
    EngineOption,
    ErrorAnswer,
    Feature,
    Features,
    Hint,
    Indented,
    Moved,
    OldClaim,
    Pong,
    RefusedMove,
    Signal,
    Spoken,
    Status,
    TellCommand,
    ThinkingLine,
    format_answer,
    parse_answer,
    parse_features,
    parse_option,
    parse_thinking,
)
from recorder.cecp.commands import MoveKind, MoveText, Unknown

E2E4 = MoveText(MoveKind.COORDINATES, "e2e4", "e2", "e4")

LINES: list[tuple[str, Spoken]] = [
    ('feature myname="Miracle Chess 0.9"', Features((Feature("myname", "Miracle Chess 0.9"),))),
    ("feature ping=1 setboard=1 done=0", Features((Feature("ping", 1), Feature("setboard", 1), Feature("done", 0)))),
    ('feature variants="normal,crazyhouse" san=1',
     Features((Feature("variants", "normal,crazyhouse"), Feature("san", 1)))),
    ('feature option="Hash -spin 64 1 1024"', Features((Feature("option", "Hash -spin 64 1 1024"),))),
    ("Illegal move: e2e4", RefusedMove("e2e4", None)),
    ("Illegal move (in check): Nf3", RefusedMove("Nf3", "in check")),
    ("Illegal move (moving into check): e1g1", RefusedMove("e1g1", "moving into check")),
    ("Error (ambiguous move): Nf3", ErrorAnswer("ambiguous move", "Nf3")),
    ("Error (unknown command): analyze", ErrorAnswer("unknown command", "analyze")),
    ("Error (command not legal now): undo", ErrorAnswer("command not legal now", "undo")),
    ("Error (too many parameters): level 1 2 3 4 5 6 7", ErrorAnswer("too many parameters", "level 1 2 3 4 5 6 7")),
    ("move e2e4", Moved(E2E4)),
    ("move O-O", Moved(MoveText(MoveKind.CASTLING, "O-O"))),
    ("move P@f7", Moved(MoveText(MoveKind.DROP, "P@f7", None, "f7", "P"))),
    ("move c4d5,", Moved(MoveText(MoveKind.LEGS, "c4d5,"))),
    ("1. ... e2e4", Moved(E2E4, "1.")),
    ("17 ... e2e4", Moved(E2E4, "17")),
    ("0-1 {Black mates}", Claim("0-1", "Black mates")),
    ("1-0 {White mates}", Claim("1-0", "White mates")),
    ("1/2-1/2 {Draw by repetition}", Claim("1/2-1/2", "Draw by repetition")),
    ("0-1", Claim("0-1", None)),
    ("resign", Signal("resign")),
    ("offer draw", Signal("offer draw")),
    ("++", Signal("++")),
    ("--", Signal("--")),
    ("tellopponent good luck, offer a draw?", TellCommand("tellopponent", "good luck, offer a draw?")),
    ("tellothers hello", TellCommand("tellothers", "hello")),
    ("tellall hello", TellCommand("tellall", "hello")),
    ("telluser hello", TellCommand("telluser", "hello")),
    ("tellusererror Illegal position", TellCommand("tellusererror", "Illegal position")),
    ("tellics say     Fairy-Max 5.0b", TellCommand("tellics", "say     Fairy-Max 5.0b")),
    ("tellicsnoalias seek 5 0", TellCommand("tellicsnoalias", "seek 5 0")),
    ("pong 8", Pong(8)),
    ("Hint: e7e5", Hint("e7e5")),
    ("White resigns", OldClaim("White resigns", "")),
    ("Black resigns", OldClaim("Black resigns", "")),
    ("White mates", OldClaim("White", " mates")),
    ("Black", OldClaim("Black", "")),
    ("Draw", OldClaim("Draw", "")),
    ("computer mates", OldClaim("computer mates", "")),
    ("opponent mates", OldClaim("opponent mates", "")),
    ("computer resigns", OldClaim("computer resigns", "")),
    ("game is a draw by the 50 move rule", OldClaim("game is a draw", " by the 50 move rule")),
    ("checkmate", OldClaim("checkmate", "")),
    ("  e4 64%", Indented("  e4 64%")),
    ("Invalid move: computer", Unknown("Invalid move: computer")),
    ("1. f2f4", Unknown("1. f2f4")),
    ("", Unknown("")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer"), LINES, ids=[text for text, _ in LINES])
def test_both_ways(text: str, answer: Spoken) -> None:
    assert parse_answer(text) == answer
    assert format_answer(answer) == text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("# times @ 28158529", Comment(" times @ 28158529")),
        ("stat01: 1234 30000 7 5 30", Status(30_000)),
        ("stat01: 1234 30000 7 5 30 Nf3", Status(30_000)),
        ("9 156 1084 48000 Nf3 Nc6 Nc3 Nf6", ThinkingLine(9, "", 156, 1084, 48_000, (), "Nf3 Nc6 Nc3 Nf6")),
        ("3+ 78 0 65 d1d2 e8e7 d2d3", ThinkingLine(3, "+", 78, 0, 65, (), "d1d2 e8e7 d2d3")),
        ("9 10 20 30 12 1500000 7\te4 e5", ThinkingLine(9, "", 10, 20, 30, (12, 1_500_000, 7), "e4 e5")),
    ],
)
def test_lines_that_are_only_read(text: str, answer: Answer) -> None:
    assert parse_answer(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "setup (PN.RQKpn.rqk) 6x6+0_fairy rnqknr/pppppp/6/6/PPPPPP/RNQKNR w - - 0 1",
        "piece P& fmWfceF", "askuser PW Do you offer a draw?", "choice NBRQ", "click e4",
        "kibitz hello", "tell mann hello", "freechess.org: unknown host", "sh: 3: No such file",
    ],
)  # fmt: skip
def test_words_for_an_interface_mean_nothing_here(text: str) -> None:
    assert parse_answer(text) == Unknown(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Illegal move (no matching move)e2e4", RefusedMove("e2e4", "no matching move")),
        ("illegal move", RefusedMove(None, None)),
        ("Illegal move e2e4", RefusedMove("e2e4", None)),
        ("I offer you a draw", Signal("offer draw")),
        ("### NON-COMPLIANT! ### White resigns", OldClaim("White resigns", "")),
        ("0-1 {unfinished", Claim("0-1", "unfinished")),
        ('feature  ping=1   myname="A  B" ', Features((Feature("ping", 1), Feature("myname", "A  B")))),
    ],
)
def test_old_and_careless_forms(text: str, answer: Spoken) -> None:
    assert parse_answer(text) == answer
    assert parse_answer(format_answer(answer)) == answer


CRAFTY = """\
  4    109      14   1435  1. e4 d5 2. Qf3 dxe4 3. Qxe4 Nc6
  4    116      23   2252  1. Nf3 Nc6 2. e4 e6
  5    141      54   5568  1. Nf3 Nc6 2. O-O e5 3. e4
  0      0       0      0  (e4 64%, d4 24%)"""
GNU = """\
 2.     14    0       38   d1d2  e8e7
 3&     76    0      191   d1e2  e8e7  e2e3
 9&     62    2    38886   d1e2  e8e7  e2e3  e7e6  e3d4  h7h5  a2a4  h5h4
10.     34    9   173474   d1e2  e8e7  e2e3  e7e6  e3d4  h7h5  c2c4  h5h4"""


def test_the_documents_longer_examples() -> None:
    found = [parse_answer(line) for line in (CRAFTY + "\n" + GNU).splitlines()]
    assert all(isinstance(line, ThinkingLine) for line in found)
    read = [line for line in found if isinstance(line, ThinkingLine)]
    assert [(line.depth, line.score_cp, line.time_ms, line.nodes) for line in read] == [
        (4, 109, 140, 1435), (4, 116, 230, 2252), (5, 141, 540, 5568), (0, 0, 0, 0),
        (2, 14, 0, 38), (3, 76, 0, 191), (9, 62, 2000, 38886), (10, 34, 9000, 173474),
    ]  # fmt: skip
    assert read[1].pv == "1. Nf3 Nc6 2. e4 e6"
    more = parse_answer("                           d4e4  f7f5  e4f4 ")
    assert isinstance(more, Indented)
    assert more.continues_pv


@pytest.mark.parametrize(
    ("score", "score_cp", "mate"),
    [
        (100_003, None, 3),
        (-100_002, None, -2),
        (100_000, 100_000, None),
        (-35, -35, None),
        (8995, 8995, None),
        (9995, None, 3),
    ],
)
def test_mate_scores(score: int, score_cp: int | None, mate: int | None) -> None:
    line = parse_answer(f" 9 {score:+} 5 77 e4")
    assert isinstance(line, ThinkingLine)
    assert (line.score_cp, line.mate) == (score_cp, mate)


@pytest.mark.parametrize(
    ("text", "extras", "wanted", "pv"),
    [
        ("9 1 2 3 30 1000 5\te4 e5", (30, 1000, 5), (30, 1000, 5), "e4 e5"),
        ("9 1 2 3 30 5\te4", (30, 5), (30, None, 5), "e4"),
        ("9 1 2 3 5\te4", (5,), (None, None, 5), "e4"),
        ("9 1 2 3\te4\tand more", (), (None, None, None), "e4\tand more"),
        ("9 1 2 3 30 1000 5 e4", (), (None, None, None), "30 1000 5 e4"),
        ("9 1 2 3 30 1000 9 9 5\t \te4", (30, 1000, 9, 9, 5), (30, 1000, 5), "e4"),
        ("9 1 2 3", (), (None, None, None), ""),
    ],
)
def test_extra_fields_are_before_a_tab(
    text: str, extras: tuple[int, ...], wanted: tuple[int | None, ...], pv: str
) -> None:
    line = parse_answer(text)
    assert isinstance(line, ThinkingLine)
    assert (line.extras, line.pv) == (extras, pv)
    assert (line.selective_depth, line.nodes_per_s, line.tablebase_hits) == wanted


OPTIONS = [
    ("Clear -button", EngineOption("Clear", "button")),
    ("Save it -save", EngineOption("Save it", "save")),
    ("All -reset", EngineOption("All", "reset")),
    ("Resign -check 0", EngineOption("Resign", "check", 0)),
    ("Text -string happy birthday!", EngineOption("Text", "string", "happy birthday!")),
    ("Hash -spin 64 1 1024", EngineOption("Hash", "spin", 64, 1, 1024)),
    ("Slide -slider 20 0 100", EngineOption("Slide", "slider", 20, 0, 100)),
    ("Ini File -file /usr/share/x.ini", EngineOption("Ini File", "file", "/usr/share/x.ini")),
    ("Folder -path .", EngineOption("Folder", "path", ".")),
    ("Rules -combo makruk /// *Cambodian /// Ai-wok",
     EngineOption("Rules", "combo", "Cambodian", choices=("makruk", "Cambodian", "Ai-wok"))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "option"), OPTIONS)
def test_options(text: str, option: EngineOption) -> None:
    assert parse_option(text) == option


@pytest.mark.parametrize("text", ["", "Hash", "Hash -spin 64", "Hash -spin a b c", "X -check on", "X -wheel 3"])
def test_other_texts_define_no_option(text: str) -> None:
    assert parse_option(text) is None


@pytest.mark.parametrize("text", ["", "ping", "ping=", 'myname="open', "=1", "ping=1 nonsense"])
def test_other_texts_are_no_features(text: str) -> None:
    assert parse_features(text) is None


def test_a_number_too_long_to_be_meant_is_a_word() -> None:
    digits = "9" * 5_000  # more than int() takes
    assert parse_features(f"ping={digits}") == (Feature("ping", digits),)
    assert parse_option(f"Hash -spin 1 2 {digits}") is None


def test_every_feature_of_the_document_has_its_default() -> None:
    assert len(DEFAULTS) == 27
    assert [name for name, value in DEFAULTS.items() if value == 1] == [
        "time", "draw", "sigint", "sigterm", "reuse", "analyze", "colors"
    ]  # fmt: skip


@given(st.text(st.characters(max_codepoint=255), max_size=60))
def test_any_line_is_a_value(text: str) -> None:
    answer = parse_answer(text)
    if not isinstance(answer, ThinkingLine | Status | Comment):
        assert parse_answer(format_answer(answer)) == answer
    parse_option(text)


@given(st.sampled_from([text for text, _ in LINES]), st.data())
def test_a_line_cut_or_changed_is_a_value(text: str, draw: st.DataObject) -> None:
    at = draw.draw(st.integers(0, len(text)))
    parse_answer(text[:at])
    parse_answer(text[:at] + draw.draw(st.characters(max_codepoint=255)) + text[at:])


@pytest.mark.parametrize("score", [-999500, -999501, 999502])
def test_the_edge_of_a_search_window_is_no_distance_to_a_mate(score: int) -> None:
    line = parse_thinking(f"2 {score} 0 29 Nf6 ??")
    assert (line.mate, line.score_cp) == (None, None)
