"""BPGN as programs and sites write it: start positions, clocks, letters, variations, dates and ends.

The shapes are those of bughousedb.com, bughouse.pro, chess.com, pychess.org and Fermy's viewer, the games are not.
"""

import io
from typing import Any

import chess.pgn
import pytest

from exporters.bpgn import BpgnExporter, BpgnOptions
from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import EventKind, Game, LineKind, Precision, Proof, TimeBasis
from recorder.reading import make_pipeline
from recorder.relating.bughouse import pair_bughouse
from recorder.saved.bpgn import BpgnReader
from recorder.sources import SourceKind

PLAYERS = '[WhiteA "Ann"]\n[BlackA "Bob"]\n[WhiteB "Cid"]\n[BlackB "Dan"]\n'
SHUFFLED = "nrbbnqkr/pppppppp/8/8/8/8/PPPPPPPP/NRBBNQKR"
NORMAL = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"


def match(movetext: str, *tags: str) -> tuple[Game, Game, list[tuple[str, str]]]:
    """The games of boards A and B, and what was wrong: kind and text of each anomaly."""
    reader = BpgnReader()
    text = "".join(f"{tag}\n" for tag in tags) + PLAYERS + "\n" + movetext + "\n"
    a, b = [*reader.receive(text.encode()), *reader.finish()]
    return a, b, [(anomaly.kind.value, anomaly.text) for anomaly in reader.anomalies]


def sans(game: Game) -> list[str]:
    return [ply.san for ply in game.plies]


def proved(game: Game) -> bool:
    return all(ply.proof is Proof.LIST for ply in game.plies)


def remarks(game: Game) -> list[tuple[str, str, int]]:
    return [(event.detail, event.text, event.ply) for event in game.events if event.kind is EventKind.CHAT]


def varied(game: Game) -> list[tuple[int | None, int | None, list[str], bool]]:
    """Parent line, half-moves before it, moves, and whether they are proved."""
    return [
        (line.parent, line.parent_ply, [ply.san for ply in line.plies], all(ply.move is not None for ply in line.plies))
        for line in game.observations[0].lines
        if line.kind is LineKind.VARIATION
    ]


def pgn(game: Game, **how: Any) -> str:
    return PgnExporter(PgnOptions(**how)).game_text(game)


def again(*games: Game) -> tuple[Game, Game, str]:
    """The match written as BPGN and read again, and its text."""
    out = io.BytesIO()
    BpgnExporter(BpgnOptions(keys=False)).write(games, out)
    reader = BpgnReader()
    a, b = [*reader.receive(out.getvalue()), *reader.finish()]
    assert reader.anomalies == []
    return a, b, out.getvalue().decode()


# -- start positions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("between", [" | ", "|", "  |  "])
@pytest.mark.parametrize("rights", ["BHbh", "HBhb", "KQkq"])
def test_both_boards_begin_from_their_half_of_the_fen(between: str, rights: str) -> None:
    fens = [f"{SHUFFLED} w {rights} - 0 1", f"{NORMAL} w KQkq - 0 1"]
    a, b, wrong = match(
        "1A. f3 1B. e4 1a. f6 1b. e5 2A. Qf2 2B. Nf3 2a. Qf7 2b. Nc6 3A. O-O 3a. O-O *",
        f'[FEN "{between.join(fens)}"]', '[SetUp "1"]',
    )  # fmt: skip
    assert (wrong, proved(a), proved(b)) == ([], True, True)
    assert (a.start_fen, a.start_ply) == (f"{SHUFFLED}[] w KQkq - 0 1", 0)
    assert b.start_fen is None
    assert [ply.uci for ply in a.plies if ply.san == "O-O"] == ["g1h1", "g8h8"]
    assert a.plies[-1].flags == 0
    board = chess.pgn.read_game(io.StringIO(pgn(a).replace("[]", "")))
    assert board.headers["FEN"].startswith(SHUFFLED)
    assert "FEN" not in pgn(b)
    assert [one.start_fen for one in again(a, b)[:2]] == [a.start_fen, None]


def test_hands_of_a_position_in_mid_game() -> None:
    """In brackets, or as a ninth rank; the numbers of the moves count where the FEN has none."""
    for hands in ("[Qp]", "/Qp"):
        fens = [f"4k3/8/8/8/8/8/4P3/4K3{hands} b - -", "4k3/7r/8/8/8/8/4P1P1/4K2R w K"]
        a, b, wrong = match("15a. P@d3 16A. Q@e7+ 12B. Rxh7 *", f'[FEN "{" | ".join(fens)}"]')
        assert wrong == []
        assert (sans(a), a.start_ply, a.plies[0].ply) == (["P@d3", "Q@e7+"], 29, 30)
        assert (sans(b), b.start_ply) == (["Rxh7"], 22)
        assert b.plies[0].proof is Proof.LIST
        assert not a.complete


def test_a_start_position_with_counters() -> None:
    a, b, wrong = match(
        "31a. Ke7 32A. e4 1B. e4 *", f'[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 31 | {NORMAL} w KQkq - 0 1"]'
    )
    assert (wrong, sans(a), a.start_ply, sans(b)) == ([], ["Ke7", "e4"], 61, ["e4"])
    a, b, wrong = match("1a. Ke7 *", f'[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 31 | {NORMAL} w KQkq - 0 1"]')
    assert (wrong, a.start_ply, a.plies[0].ply) == ([], 1, 2)


@pytest.mark.parametrize(
    ("fen", "starts"),
    [(f"{NORMAL} w KQkq - 0 1", (False, False)), ("junk | " + f"{NORMAL} w KQkq - 0 1", (False, True)),
     (f"{NORMAL} w KQkq - 0 1 | 8/8 w - - 0 1", (True, False))],
)  # fmt: skip
def test_a_fen_that_is_none_is_reported_and_no_position_is_guessed(fen: str, starts: tuple[bool, bool]) -> None:
    a, b, wrong = match("1A. e4 1B. d4 *", f'[FEN "{fen}"]')
    assert [kind for kind, _ in wrong] == ["malformed"]
    assert (sans(a), sans(b)) == (["e4"], ["d4"])
    assert (a.plies[0].move is not None, b.plies[0].move is not None) == starts
    assert "FEN" not in pgn(a) + pgn(b)


def test_a_variant_of_other_rules_is_not_proved() -> None:
    fen = f"{SHUFFLED} w BHbh - 0 1"
    a, _, wrong = match("1A. Nd3 1a. e4 *", '[Variant "Bughouse Chess960 DuckChess"]', f'[FEN "{fen} | {fen}"]')
    assert wrong == [("variant", "Bughouse Chess960 DuckChess")]
    assert [ply.proof for ply in a.plies] == [Proof.UNPROVED] * 2
    for words in ("Bughouse", "Bughouse Chess960", "bughouse-960", "Bughouse960", "?"):
        a, _, wrong = match("1A. Nd3 *", f'[Variant "{words}"]', f'[FEN "{fen} | {fen}"]')
        assert (wrong, proved(a), a.variant) == ([], True, "bughouse")
    pipeline = make_pipeline(SourceKind.PGN)
    (reread,) = [*pipeline.receive(pgn(a).encode()), *pipeline.finish()]
    assert (reread.variant, proved(reread)) == ("bughouse", True)


# -- letters, numbers and variations -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "movetext",
    [
        "1A.e4 1B.d4 1A.Nf6 2A.e5 1B.d5 *", "1a. e4 1b. d4 1a. Nf6 2a. e5 1b. d5 *", "1A e4 1B d4 1a Nf6 2A e5 1b d5 *",
        "1A. e4 1B. d4 1a... Nf6 2A. e5 1b... d5 *", "1 A. e4 1 B. d4 1 a. Nf6 2 A. e5 1 b. d5 *",
        "1A.\ne4 1B. d4{299} 1a. Nf6 2A. e5! 1b. d5?! *", "1A. e2-e4 1B. d2d4 1a. Ng8f6 2A. e4e5 1b. d7-d5 *",
    ],
)  # fmt: skip
def test_letters_and_numbers(movetext: str) -> None:
    a, b, wrong = match(movetext)
    assert (wrong, sans(a), sans(b)) == ([], ["e4", "Nf6", "e5"], ["d4", "d5"])
    assert proved(a)
    assert proved(b)


def test_one_case_on_one_board_only() -> None:
    a, b, wrong = match("1A. e4 1B. d4 1B. d5 1a. e5 2B. c4 2B. e6 2B. e5 *")
    assert (sans(a), sans(b)) == (["e4", "e5"], ["d4", "d5", "c4", "e6"])
    assert wrong == [("movetext", "2b. e5")]


def test_marks_promotions_and_captures_without_a_file() -> None:
    a, b, wrong = match("1A. d4 $14 1a. e5!? 2A. xe5 1B. $146e4 1b. d5 2B. xd5 2b. @e6 3B. xe6 3b. Nf6 4B. xf7+ *")
    assert (wrong, sans(a)) == ([], ["d4", "e5", "dxe5"])
    assert sans(b) == ["e4", "d5", "exd5", "P@e6", "dxe6", "Nf6", "exf7+"]
    assert remarks(a) == [("nag", "$14", 1), ("nag", "$5", 2)]
    assert remarks(b) == [("nag", "$146", 1)]
    assert "1. d4 $14 1... e5 $5" in pgn(a)
    assert "1A. d4 $14 1a. e5 $5" in again(a, b)[2]
    fen = "7k/P7/8/8/8/8/8/K7 w - - 0 1"
    for text in ("a8=Q", "a8Q", "a8(Q)", "a7a8q", "a8=Q+"):
        a, _, wrong = match(f"1A. {text} *", f'[FEN "{fen} | {fen}"]')
        assert (wrong, sans(a)) == ([], ["a8=Q+"])


def test_a_variation_over_both_boards() -> None:
    """In front of the move that it replaces (pychess.org), or behind it; what is taken there comes to the partner."""
    for text in (
        "1A. e4 (1B. d4 1a. c5) 1B. e4 1a. e5 1b. e5 *", "1A. e4 1B. e4 (1B. d4 1a. c5) 1a. e5 1b. e5 *",
    ):  # fmt: skip
        a, b, wrong = match(text)
        assert (wrong, sans(a), sans(b)) == ([], ["e4", "e5"], ["e4", "e5"])
        assert varied(a) == [(0, 1, ["c5"], True)]
        assert varied(b) == [(0, 0, ["d4"], True)]
        assert "1. e4 e5 (1... c5) *" in pgn(a).replace("\n", " ")
    a, b, wrong = match("1A. e4 1a. d5 (1a. e5) 2A. exd5 (2A. d4 1B. h3 1b. P@e6) 1B. a3 1b. P@e6 *")
    assert wrong == [("movetext", "1b. P@e6")]  # nothing was taken in the variation
    assert (varied(a), varied(b)[0][2]) == ([(0, 1, ["e5"], True), (0, 2, ["d4"], True)], ["h3", "P@e6"])
    assert proved(b)


def test_variations_in_variations_and_their_comments() -> None:
    a, b, wrong = match("1A. e4 1a. e5 (1a. c5 {open} 2A. Nf3 (2A. c3 $5 2a. d5) 2a. d6) 2A. Nf3 {closed} 2a. d6 *")
    assert (wrong, sans(a)) == ([], ["e4", "e5", "Nf3", "d6"])
    assert varied(a) == [(0, 1, ["c5", "Nf3", "d6"], True), (1, 2, ["c3", "d5"], True)]
    assert [(event.detail, event.text, event.value) for event in a.events] == [
        ("annotation", "open", 1), ("nag", "$5", 2), ("annotation", "closed", None),
    ]  # fmt: skip
    text = pgn(a).replace("\n", " ")
    assert "(1... c5 {open} 2. Nf3 (2. c3 $5 2... d5) 2... d6) 2. Nf3 {closed}" in text
    exporter = BpgnExporter()
    exporter.write([a, b], io.BytesIO())
    assert exporter.report.excluded == {"variations": 2}


def test_a_variation_that_fits_nowhere_is_kept_as_a_comment() -> None:
    a, _, wrong = match("1A. e4 (7A. Qh5 (7A. a3)) 1a. e5 *")
    assert (sans(a), varied(a)) == (["e4", "e5"], [])
    assert remarks(a)[0] == ("annotation", "(7A. Qh5 (7A. a3))", 1)
    assert [kind for kind, _ in wrong] == ["movetext"]
    deep = "(1A. d4 " * 70 + ")" * 70
    a, _, wrong = match(f"1A. e4 {deep} 1a. e5 *")
    assert sans(a) == ["e4", "e5"]
    assert [kind for kind, _ in wrong] == ["movetext"]
    a, _, wrong = match("1A. e4 ( 1a. e5 2A. d4 ) ) *")
    assert ([kind for kind, _ in wrong], sans(a)) == (["malformed"], ["e4"])
    a, _, wrong = match("1A. e4 ( 1a. e5 2A. d4 *")
    assert ([kind for kind, _ in wrong], sans(a)) == (["malformed"], ["e4", "e5", "d4"])


# -- clocks, dates and ends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("comments", "clocks", "exact"),
    [
        (("{118.585}", "{59.43}"), (118_585, 59_430), True),
        (("{299}", "{-1}"), (299_000, -1_000), False),
        (("{[%clk 0:04:59.3]}", "{[%clk 0:04:58]}"), (299_300, 298_000), True),
        (("{0:04:59}", "{4:58}"), (299_000, 298_000), False),
        (("{C:hello} {[%clk 0:01:00.5]}", "{ [%clk 0:00:59.9] good }"), (60_500, 59_900), True),
        (("{[%emt 1.2] [%clk 0:01:00]}", "{[%lag 0.3] [%clk 0:00:59.9]}"), (60_000, 59_900), True),
        (("{-5}", "{-5}"), (None, None), False),
    ],
)
def test_clocks(comments: tuple[str, str], clocks: tuple[int | None, int | None], exact: bool) -> None:
    a, b, wrong = match(f"1A. e4 {comments[0]} 1a. e5 {comments[1]} 1-0", '[TimeControl "300"]')
    assert wrong == []
    assert tuple(ply.clock_ms for ply in a.plies) == clocks
    assert (a.base_s, a.increment_s, a.reason, b.reason) == (300, 0, None, None)
    assert (a.plies[1].precision in (Precision.MILLISECONDS, Precision.ELAPSED_DERIVED_MILLISECONDS)) is exact


def test_seconds_since_the_match_began() -> None:
    """Both boards' clocks run from the first move on."""
    text = "1A. e4 {[ts=0.000]} 1B. d4 {[ts=0.500]} 1a. d5 {[ts=1.500]} 2A. exd5 {[ts=2.300]} 1b. @e5 {[ts=4.000]}"
    tags = ('[UTCDate "2024.03.06"]', '[UTCTime "13:37:00"]', '[TimeControl "300"]', '[Result "0-1"]')
    a, b, wrong = match(
        text, *tags, '[Termination "time forfeit"]', '[Outcome "Bob & Cid won: Ann & Dan lost on time"]'
    )
    assert wrong == []
    begun = 1_709_732_220_000
    assert (a.started_at_ms, a.time_basis, str(a.day)) == (begun, TimeBasis.UTC, "2024-03-06")
    assert [ply.at_ms for ply in a.plies] == [begun, begun + 1500, begun + 2300]
    assert [ply.elapsed_ms for ply in (*a.plies, *b.plies)] == [0, 1500, 800, 500, 3500]
    assert [ply.clock_ms for ply in (*a.plies, *b.plies)] == [300_000, 298_500, 299_200, 299_500, 296_500]
    assert {ply.precision for ply in a.plies} == {Precision.DERIVED_MILLISECONDS}
    assert (a.result, b.result, a.reason, a.termination, a.complete) == (
        "0-1", "1-0", "Bob & Cid won: Ann & Dan lost on time", "time forfeit", True,
    )  # fmt: skip
    a, b, _ = match(text + " 0-1", '[TimeControl "300"]')
    assert ([ply.at_ms for ply in b.plies], b.time_basis, b.day) == ([500, 4000], TimeBasis.CLOCK, None)
    a, b, _ = match(text + " 0-1")
    assert [(ply.clock_ms, ply.elapsed_ms) for ply in b.plies] == [(None, 500), (None, 3500)]


def test_a_time_that_cannot_be_read_stays_a_comment() -> None:
    a, _, wrong = match("1A. e4 {[%clk soon]} 1a. e5 {[ts=x] [%eval 0.3]} *")
    assert [kind for kind, _ in wrong] == ["malformed", "malformed"]
    assert remarks(a) == [("annotation", "[%clk soon]", 1), ("annotation", "[ts=x] [%eval 0.3]", 2)]


@pytest.mark.parametrize(
    ("tags", "day", "began"),
    [
        (('[Date "2014-07-18"]', '[Time "18:44:37"]'), "2014-07-18", 1_405_709_077_000),
        (('[Date "2014.07.18"]',), "2014-07-18", None),
        (('[Date "2014/07/18"]', '[Time "18:44:37"]'), "2014-07-18", 1_405_709_077_000),
        (('[UTCDate "2014.07.18"]', '[UTCTime "18:44:37"]'), "2014-07-18", 1_405_709_077_000),
        (('[Date "2014.07.19"]', '[UTCDate "2014.07.18"]', '[UTCTime "18:44:37"]'), "2014-07-18", 1_405_709_077_000),
        (('[UTCDate "2014.07.18"]',), "2014-07-18", None),
        (('[Date "????.??.??"]', '[Time "?"]'), None, None),
    ],
)
def test_dates(tags: tuple[str, ...], day: str | None, began: int | None) -> None:
    a, b, wrong = match("1A. e4 *", '[Event "Club night"]', *tags)
    assert (wrong, a.started_at_ms, b.started_at_ms) == ([], began, began)
    assert (None if b.day is None else str(b.day)) == day
    for game in (a, b):
        assert pgn(game).startswith('[Event "Club night"]\n')
        assert f'[Date "{"????.??.??" if day is None else day.replace("-", ".")}"]' in pgn(game)


@pytest.mark.parametrize("tag", ['[Date "Summer 2014"]', '[Time "late"]', '[TimeControl "blitz"]', '[UTCDate "2014"]'])
def test_a_time_in_the_tags_that_cannot_be_read(tag: str) -> None:
    a, b, wrong = match("1A. e4 *", tag)
    assert [kind for kind, _ in wrong] == ["malformed"]
    assert tag.split('"')[1] in [event.text for event in b.events if event.kind is EventKind.TAG]
    assert (a.date_text, a.base_s) == (None, None)


@pytest.mark.parametrize(
    ("end", "result", "reason", "kinds"),
    [
        ("{Ann resigns} 0-1", "0-1", "Ann resigns", []),
        ("{[%clk 0:04:58]} 0-1", "0-1", None, []),
        ("{298.1} 0-1", "0-1", None, []),
        ("{C:good night} 0-1", "0-1", None, []),
        ("{R: Ann requests to abort the game.} {Game aborted on move 1} *", "*", "Game aborted on move 1", []),
        ("{R: Ann requests to abort the game.} *", "*", None, []),
        ("0-1", "0-1", None, []),
        ("", "*", None, ["cut"]),
    ],
)
def test_the_reason_of_the_end_is_a_comment_in_words(
    end: str, result: str, reason: str | None, kinds: list[str]
) -> None:
    a, b, wrong = match(f"1A. e4 {end}")
    assert ([kind for kind, _ in wrong], a.result, a.reason, b.reason) == (kinds, result, reason, reason)


def test_a_player_of_both_boards_plays_one_match() -> None:
    """bughouse.pro seats one player on both boards where three play."""
    text = PLAYERS.replace("Cid", "Bob") + "1A. e4 1B. d4 1a. e5 1b. d5 1-0\n"
    pipeline = make_pipeline(SourceKind.BPGN)
    games = [*pipeline.receive(text.encode()), *pipeline.finish()]
    assert [evidence for _, _, evidence in pair_bughouse(games)] == ["both boards of one saved match"]
