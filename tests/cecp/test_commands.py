"""Lines from the interface to the engine: every command of the protocol document, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.cecp.commands import (
    PLAIN_WORDS,
    Command,
    FeatureAnswer,
    Holding,
    LevelCommand,
    MoveKind,
    MoveText,
    Number,
    OptionSet,
    Plain,
    Rating,
    Result,
    Texted,
    Unknown,
    UserMove,
    format_command,
    parse_command,
    parse_move,
)

COORDINATES = MoveKind.COORDINATES
E2E4 = MoveText(COORDINATES, "e2e4", "e2", "e4")
FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

# The document's own examples where it gives any.
LINES: list[tuple[str, Command]] = [
    *[(word, Plain(word)) for word in sorted(PLAIN_WORDS)],
    ("protover 2", Number("protover", 2)),
    ("accepted san", FeatureAnswer(True, "san")),
    ("rejected option nonsense", FeatureAnswer(False, "option", "nonsense")),
    ("variant fischerandom", Texted("variant", "fischerandom")),
    ("variant 8x8+0_capablanca", Texted("variant", "8x8+0_capablanca")),
    ("level 40 5 0", LevelCommand(40, 300, 0)),
    ("level 40 0:30 0", LevelCommand(40, 30, 0)),
    ("level 0 2 12", LevelCommand(0, 120, 12_000)),
    ("level 0 0:03 0.25", LevelCommand(0, 3, 250)),
    ("level 40 25+5 0", LevelCommand(40, 1500, 0, "+5")),
    ("level 1 30", LevelCommand(1, 1800, None)),
    ("st 30", Number("st", 30)),
    ("sd 6", Number("sd", 6)),
    ("4", Number("", 4)),
    ("nps 10000", Number("nps", 10_000)),
    ("time 6000", Number("time", 6000)),
    ("otim -12", Number("otim", -12)),
    ("e2e4", UserMove(E2E4, False)),
    ("usermove e2e4", UserMove(E2E4, True)),
    ("e7e8q", UserMove(MoveText(COORDINATES, "e7e8q", "e7", "e8", "q"), False)),
    ("P@h3", UserMove(MoveText(MoveKind.DROP, "P@h3", None, "h3", "P"), False)),
    ("d1f1", UserMove(MoveText(COORDINATES, "d1f1", "d1", "f1"), False)),
    ("O-O-O", UserMove(MoveText(MoveKind.CASTLING, "O-O-O", long=True), False)),
    ("c4d5,d5e4", UserMove(MoveText(MoveKind.LEGS, "c4d5,d5e4"), False)),
    ("@@@@", UserMove(MoveText(MoveKind.NULL, "@@@@"), False)),
    ("usermove Nf3", UserMove(MoveText(MoveKind.SAN, "Nf3", None, "f3", piece="N"), True)),
    ("usermove Qxf7#", UserMove(MoveText(MoveKind.SAN, "Qxf7#", None, "f7", piece="Q"), True)),
    ("usermove hello", UserMove(MoveText(MoveKind.UNREADABLE, "hello"), True)),
    ("usermove e8=Q", UserMove(MoveText(MoveKind.SAN, "e8=Q", None, "e8", "Q"), True)),
    ("ping 3", Number("ping", 3)),
    ("result 1-0 {White mates}", Result("1-0", "White mates")),
    ("result * {}", Result("*", "")),
    ("result 1/2-1/2", Result("1/2-1/2", None)),
    ("result 0-1 {odd } brace}", Result("0-1", "odd } brace")),
    (f"setboard {FEN}", Texted("setboard", FEN)),
    ("name Mr. X", Texted("name", "Mr. X")),
    ("rating 2600 1500", Rating(2600, 1500)),
    ("ics freechess.org", Texted("ics", "freechess.org")),
    ("ics -", Texted("ics", "-")),
    ("memory 64", Number("memory", 64)),
    ("cores 2", Number("cores", 2)),
    ("option Hash table=64", OptionSet("Hash table", "64")),
    ("option Text=", OptionSet("Text", "")),
    ("option Clear Hash", OptionSet("Clear Hash", None)),
    ("egtpath nalimov /usr/local/my tables", Texted("egtpath", "nalimov /usr/local/my tables")),
    ("partner mann", Texted("partner", "mann")),
    ("exclude e2e4", Unknown("exclude e2e4")),
    ("setscore -35 12", Unknown("setscore -35 12")),
    ("lift e2", Unknown("lift e2")),
    ("ptell go for mate", Texted("ptell", "go for mate")),
    ("holding [PPPRQ] []", Holding("PPPRQ", "")),
    ("holding [PPPRQ] [R] BR", Holding("PPPRQ", "R", "B", "R")),
    ("REPTAG bar", Unknown("REPTAG bar")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "command"), LINES, ids=[text for text, _ in LINES])
def test_both_ways(text: str, command: Command) -> None:
    assert parse_command(text) == command
    assert format_command(command) == text


@pytest.mark.parametrize(
    "text",
    [
        "level x", "level 0 1", "time soon", "result 2-0 {no}", "holding PP", "rating 1", "usermove",
        "news", "ping", "variant",
    ],
)  # fmt: skip
def test_a_command_word_with_a_malformed_rest_is_not_that_command(text: str) -> None:
    found = parse_command(text)
    assert isinstance(found, Unknown | LevelCommand)
    assert format_command(found) == text


@given(st.text(st.characters(max_codepoint=255), max_size=60))
def test_any_line_is_a_value(text: str) -> None:
    command = parse_command(text)
    assert parse_command(format_command(command)) == command
    move = parse_move(text)
    assert move is None or move.text == text


@given(st.sampled_from([text for text, _ in LINES]), st.data())
def test_a_line_cut_or_changed_is_a_value(text: str, draw: st.DataObject) -> None:
    at = draw.draw(st.integers(0, len(text)))
    parse_command(text[:at])
    parse_command(text[:at] + draw.draw(st.characters(max_codepoint=255)) + text[at:])
