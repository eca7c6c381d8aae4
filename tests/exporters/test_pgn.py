"""PGN: its text, and that strangers read it back."""

import io
import re
import subprocess
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import (
    Anchor,
    AnchorReason,
    EventKind,
    Game,
    GameEnd,
    GameEvent,
    HoldingsChange,
    LineKind,
    PlyLine,
    Precision,
    Proof,
    Segment,
    SourceKind,
    TimeBasis,
)
from recorder.reading import make_pipeline
from tests.exporters.games import SCHOLARS_MATE, board_for, make_game, make_plies, random_game, random_moves
from tests.exporters.pgn_reader import read_pgn, replay
from tests.support.effort import examples
from tests.support.programs import program

DEFAULT_TEXT = """\
[Event "FICS rated blitz game"]
[Site "freechess.org"]
[Date "2020.01.01"]
[Round "-"]
[White "Ann"]
[Black "Bob"]
[Result "1-0"]
[TimeControl "300+0"]
[WhiteElo "1708"]
[Time "12:00:00"]
[UTCDate "2020.01.01"]
[UTCTime "12:00:00"]
[UTCEndDate "2020.01.01"]
[UTCEndTime "12:01:00"]
[ECO "C20"]
[Opening "King's Pawn Game"]
[Variation "Wayward Queen Attack"]
[Termination "normal"]
[PlyCount "7"]
[ICSGameNo "107"]
[RecorderKey "0123456789abcdef0123"]

1. e4 {[%clk 0:04:58.669] [%emt 0:00:00.000]} 1... e5 {[%clk 0:04:58.046]
[%emt 0:00:00.000]} 2. Qh5 {[%clk 0:04:56.007] [%emt 0:00:01.851]} 2... Nc6
{[%clk 0:04:56.092] [%emt 0:00:02.468]} 3. Bc4 {[%clk 0:04:53.345]
[%emt 0:00:03.085]} 3... Nf6 {[%clk 0:04:54.138] [%emt 0:00:03.702]} 4. Qxf7#
{[%clk 0:04:50.683] [%emt 0:00:04.319]} {Bob checkmated} 1-0

"""
FICS_LINES = [
    '[Event "FICS rated blitz game"]',
    '[Site "FICS freechess.org"]',
    '[White "Ann"]',
    '[Black "Bob"]',
    '[WhiteElo "1708"]',
    '[TimeControl "300+0"]',
    '[Date "2020.01.01"]',
    '[Time "12:00:00"]',
    '[WhiteClock "0:05:00.000"]',
    '[BlackClock "0:05:00.000"]',
    '[ECO "C20"]',
    '[PlyCount "7"]',
    '[Result "1-0"]',
    "",
    "1. e4 {[%emt 0.0]} e5 {[%emt 0.0]} 2. Qh5 {[%emt 1.851]} Nc6 {[%emt 2.468]} 3. Bc4 {[%emt 3.085]} "
    "Nf6 {[%emt 3.702]} 4. Qxf7# {[%emt 4.319]} {Black checkmated} 1-0",
    "",
    "",
    "",
]


def export(game: Game, **options: Any) -> str:
    return PgnExporter(PgnOptions(**options)).game_text(game)


def edit(game: Game, ply: int, **changes: object) -> None:
    """Replace fields of one main-line ply."""
    plies = game.observations[0].lines[0].plies
    index = next(i for i, found in enumerate(plies) if found.ply == ply)
    plies[index] = plies[index]._replace(**changes)


def without_plies(game: Game, missing: range) -> None:
    line = game.observations[0].lines[0]
    line.plies = [ply for ply in line.plies if ply.ply not in missing]


def fen_after(moves: list[str], ply: int, variant: str = "chess") -> str:
    board = board_for(variant)
    for uci in moves[:ply]:
        board.push_uci(uci)
    return board.fen()


def chat(ply: int, text: str, actor: str | None = "Cat", detail: str = "kibitz") -> GameEvent:
    return GameEvent(1, EventKind.CHAT, detail, ply, actor, None, text, None, None, None, 1500)


def played(text: str) -> chess.pgn.Game:
    """Read by python-chess, without one complaint."""
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert game.errors == []
    return game


def pgn_extract(tmp_path: Path, text: str) -> str:
    """What pgn-extract says on checking a file."""
    file = tmp_path / "games.pgn"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([program("pgn-extract"), "-r", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    messages = done.stderr.replace(str(file), "FILE").splitlines(keepends=True)
    return "".join(line for line in messages if not line.startswith("Ann - Bob "))  # one line a game is its report


def test_default_style_is_exactly_this() -> None:
    assert export(make_game()) == DEFAULT_TEXT


def test_fics_style_is_exactly_this() -> None:
    assert export(make_game(), style="fics").split("\r\n") == FICS_LINES


@pytest.mark.parametrize("variant", ["chess", "crazyhouse", "suicide", "atomic"])
@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 2**32), length=st.integers(1, 120), style=st.sampled_from(["default", "fics"]))
def test_python_chess_reads_every_variant_it_knows(variant: str, seed: int, length: int, style: str) -> None:
    moves = random_moves(seed, length, variant)
    game = make_game(moves, variant=variant)
    read = played(export(game, style=style))
    assert [move.uci() for move in read.mainline_moves()] == moves
    assert read.headers["Result"] == game.result
    if style == "default":
        for node, ply in zip(read.mainline(), game.plies, strict=True):
            clock_ms = ply.clock_ms
            assert clock_ms is not None
            assert ply.elapsed_ms is not None
            assert round((node.clock() or 0) * 1000) == clock_ms
            assert round((node.emt() or 0) * 1000) == ply.elapsed_ms


@settings(max_examples=examples(20), deadline=None)
@given(number=st.integers(0, 959), seed=st.integers(0, 2**32))
def test_python_chess_reads_chess960(number: int, seed: int) -> None:
    fen = chess.Board.from_chess960_pos(number).fen()
    moves = random_moves(seed, 60, "chess960", fen)
    read = played(export(make_game(moves, variant="chess960", start_fen=fen, category="wild/fr")))
    assert read.headers["Variant"] == "Fischerandom"
    assert read.board().fen() == fen
    assert [move.uci() for move in read.mainline_moves()] == moves


@pytest.mark.parametrize("style", ["default", "fics", "lichess"])
@pytest.mark.parametrize(
    "variant", ["wild", *(f"wild/{number}" for number in range(9)), "wild/8a", "wild/18", "wild/29"]
)
def test_python_chess_reads_wild_games_and_we_know_which(variant: str, style: str) -> None:
    fen = chess.Board.from_chess960_pos(91).fen()
    game = make_game(random_moves(3, 30, "chess960", fen), variant=variant, start_fen=fen, category=None)
    text = export(game, style=style)
    read = played(text)
    assert (read.board().fen(), len(list(read.mainline_moves()))) == (fen, 30)
    pipeline = make_pipeline(SourceKind.PGN)
    (again,) = pipeline.receive(text.encode()) + pipeline.finish()
    assert (again.variant, [ply.san for ply in again.plies]) == (variant, [ply.san for ply in game.plies])
    assert {ply.proof for ply in again.plies} == {Proof.LIST}


def test_a_wild_game_of_another_program_is_written_as_others_read_it() -> None:
    pipeline = make_pipeline(SourceKind.PGN)
    found = pipeline.receive(
        b'[White "Ann"]\n[Variant "wild"]\n\n1. e4 e5 *\n\n[White "Bob"]\n[Variant "Wild 5"]\n\n*\n'
    )
    found += pipeline.finish()
    texts = [export(game) for game in found]
    assert [game.variant for game in found] == ["wild", "wild/5"]
    assert ['[RecorderVariant "wild"]' in texts[0], "[Variant" in texts[0]] == [True, False]
    played(texts[0]).board()


def test_own_reader_replays_losers_bughouse_and_wild_5() -> None:
    swapped = "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w - - 0 1"
    wild5 = make_game(random_moves(5, 30, "wild/5", swapped), variant="wild/5", start_fen=swapped)
    for game in (random_game(1, variant="losers"), random_game(2, variant="bughouse"), wild5):
        (read,) = read_pgn(export(game))
        assert read.tags["Variant"] == game.variant
        assert replay(read).ply() == game.plies[-1].ply


@pytest.mark.needs("pgn-extract")
def test_pgn_extract_accepts_chess_games(tmp_path: Path) -> None:
    games = [random_game(seed) for seed in range(30)]
    games[3].reason = 'Ann\'s "words" {braces}'
    moves = random_moves(77, 60)
    gap = make_game(moves, complete=False)
    gap.observations[0].anchors.append(Anchor(0, 30, fen_after(moves, 30), AnchorReason.GAP, 5000))
    without_plies(gap, range(21, 31))
    games.append(gap)
    taken = with_takeback()
    taken.observations[0].events += [chat(2, "well {played}"), chat(3, "[%clk 9:00:00] % ; ( )")]
    games.append(taken)
    black_first = fen_after(SCHOLARS_MATE, 3)
    games.append(make_game(SCHOLARS_MATE[3:], start_fen=black_first))
    text = "".join(export(game, variations=True, comments=True) for game in games)
    assert pgn_extract(tmp_path, text) == (
        f"Processing FILE\n{len(games) + 1} games matched out of {len(games) + 1}.\n"
    )


@pytest.mark.needs("pgn-extract")
def test_pgn_extract_accepts_the_fics_style(tmp_path: Path) -> None:
    text = "".join(export(random_game(seed), style="fics") for seed in range(10))
    assert pgn_extract(tmp_path, text) == "Processing FILE\n10 games matched out of 10.\n"


def test_negative_clock_is_zero_and_a_flag() -> None:
    game = make_game()
    edit(game, 7, white_clock_ms=-917)
    (read,) = read_pgn(export(game))
    assert read.moves[6].comments[0] == "[%clk 0:00:00] [%flag -0.917] [%emt 0:00:04.319]"
    assert played(export(game)).end().clock() == 0


def test_negative_clock_in_whole_seconds() -> None:
    game = make_game(precision=Precision.SECONDS)
    edit(game, 7, white_clock_ms=-2000)
    assert "{[%clk 0:00:00] [%flag -2] [%emt 0:00:04]}" in export(game).replace("\n", " ")


def test_whole_seconds_have_no_thousandths() -> None:
    game = make_game(
        SCHOLARS_MATE[:1], precision=Precision.SECONDS, clocks=lambda ply: (7_297_000, 300_000, 3000, None)
    )
    assert "1. e4 {[%clk 2:01:37] [%emt 0:00:03]} {Bob" in export(game)


def test_unknown_times_are_absent() -> None:
    assert "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# {Bob checkmated} 1-0" in export(make_game(clocks=None))
    game = make_game(SCHOLARS_MATE[:2], clocks=lambda ply: (None, 1000, None, None))
    assert "1. e4 e5 {[%clk 0:00:01.000]} {Bob" in export(game)


@pytest.mark.parametrize(
    ("words", "comment"),
    [
        ("clk", "[%clk 0:04:56.007]"),
        ("emt", "[%emt 0:00:01.851]"),
        ("lag", "[%lag 0.021]"),
        ("clk emt lag", "[%clk 0:04:56.007] [%emt 0:00:01.851] [%lag 0.021]"),
    ],
)
def test_clock_option(words: str, comment: str) -> None:
    (read,) = read_pgn(export(make_game(), clock=frozenset(words.split())))
    assert read.moves[2].comments == [comment]


def test_no_clock_comments() -> None:
    assert "%" not in export(make_game(), clock=frozenset())
    assert "%" not in export(make_game(), clock=frozenset(), style="fics")


def test_unknown_lag_is_absent() -> None:
    game = make_game()
    edit(game, 3, lag_ms=None)
    (read,) = read_pgn(export(game, clock=frozenset(["lag"])))
    assert read.moves[2].comments == []
    assert read.moves[3].comments == ["[%lag 0.028]"]


def test_a_gap_makes_two_parts() -> None:
    moves = random_moves(7, 40)
    game = make_game(moves, complete=False)
    game.observations[0].anchors.append(Anchor(0, 15, fen_after(moves, 15), AnchorReason.GAP, 5000))
    without_plies(game, range(10, 16))
    exporter = PgnExporter()
    first, second = read_pgn(exporter.game_text(game))
    assert [move.san for move in first.moves + second.moves] == [ply.san for ply in game.plies]
    assert (first.result, first.tags["Result"], first.tags["Termination"]) == ("*", "*", "unterminated")
    assert (second.result, second.tags["Result"], second.tags["Termination"]) == ("1-0", "1-0", "normal")
    assert (first.tags["RecorderPart"], second.tags["RecorderPart"]) == ("1/2", "2/2")
    assert (second.tags["SetUp"], second.tags["FEN"]) == ("1", fen_after(moves, 15))
    assert "FEN" not in first.tags
    assert first.tags["RecorderKey"] == second.tags["RecorderKey"] == game.key
    assert first.tags["RecorderComplete"] == "no"
    assert replay(second).ply() == 40
    assert exporter.report.games == 1
    assert exporter.report.plies == 34


def test_a_crazyhouse_part_has_its_holdings() -> None:
    moves = random_moves(11, 60, "crazyhouse")
    game = make_game(moves, variant="crazyhouse", complete=False)
    fen = fen_after(moves, 40, "crazyhouse")
    assert "[]" not in fen
    game.observations[0].anchors.append(Anchor(0, 40, fen, AnchorReason.GAP, 5000))
    without_plies(game, range(31, 41))
    second = played(export(game).split("\n\n[Event", 1)[1].join(["[Event", ""]))
    assert second.board().fen() == fen
    assert [move.uci() for move in second.mainline_moves()] == moves[40:]


def test_holdings_that_were_printed_after_the_first_board_are_in_its_fen() -> None:
    moves = random_moves(11, 60, "crazyhouse")
    whole = fen_after(moves, 40, "crazyhouse")
    board, _, rest = whole.partition("[")
    hands, _, rest = rest.partition("]")
    game = make_game(moves, variant="crazyhouse", complete=False, start_ply=40)
    game.segments = [Segment(41, 60, 0)]
    seen = game.observations[0]
    seen.anchors.append(Anchor(0, 40, board + rest, AnchorReason.START, 900))
    white = "".join(letter for letter in hands if letter.isupper())
    black = "".join(letter for letter in hands if letter.islower()).upper()
    seen.holdings += [
        HoldingsChange(1, 40, "", "", None, None, 800),
        HoldingsChange(2, 40, "Q", "Q", "WQ", None, 950),
        HoldingsChange(3, 40, white, black, None, None, 960),
    ]
    without_plies(game, range(41))
    read = played(export(game))
    assert read.board().fen() == whole
    assert [move.uci() for move in read.mainline_moves()] == moves[40:]


def test_an_unproved_ply_ends_the_moves() -> None:
    game = make_game()
    edit(game, 6, proof_code=Proof.UNPROVED.value, san="Nf6}", move=None)
    exporter = PgnExporter()
    (read,) = read_pgn(exporter.game_text(game))
    assert [move.san for move in read.moves] == ["e4", "e5", "Qh5", "Nc6", "Bc4"]
    assert read.moves[-1].comments[-2:] == ["Not proved: 3... Nf6) 4. Qxf7#", "Bob checkmated"]
    assert exporter.report.excluded == {"plies not proved": 2}


def test_a_conflict_begins_a_part_at_the_next_board() -> None:
    game = make_game()
    edit(game, 4, proof_code=Proof.CONFLICT.value, san="Na6")
    game.observations[0].anchors.append(Anchor(0, 4, fen_after(SCHOLARS_MATE, 4), AnchorReason.CONFLICT, 1800))
    first, second = read_pgn(export(game))
    assert [move.san for move in first.moves] == ["e4", "e5", "Qh5"]
    assert first.moves[-1].comments[-2:] == ["Not proved: 2... Na6", "Moves are missing here"]
    assert [move.san for move in second.moves] == ["Bc4", "Nf6", "Qxf7#"]
    replay(second)


def test_an_inferred_ply_says_so() -> None:
    game = make_game()
    edit(game, 2, proof_code=Proof.INFERRED.value, black_clock_ms=None, elapsed_ms=None)
    (read,) = read_pgn(export(game))
    assert read.moves[1].comments == ["inferred"]
    replay(read)


def test_joined_in_mid_game_begins_at_the_first_board() -> None:
    moves = random_moves(3, 50)
    game = make_game(moves, complete=False, start_ply=21)
    game.segments = [Segment(22, 50, 0)]
    game.observations[0].anchors.append(Anchor(0, 21, fen_after(moves, 21), AnchorReason.START, 900))
    without_plies(game, range(22))
    (read,) = read_pgn(export(game))
    assert read.tags["FEN"] == fen_after(moves, 21)
    assert "RecorderPart" not in read.tags
    assert "\n\n11... " in export(game)
    assert replay(read).ply() == 50


def test_a_game_without_a_move() -> None:
    game = make_game([], reason="Ann resigns", result="0-1")
    assert export(game).endswith("\n\n{Ann resigns} 0-1\n\n")
    assert export(game, style="fics").endswith("\r\n\r\n {White resigns} 0-1\r\n\r\n\r\n")


def test_a_log_that_ends_is_marked() -> None:
    game = make_game(result="*", reason=None, end=GameEnd.LOG_ENDS, termination="unterminated", complete=False)
    (read,) = read_pgn(export(game))
    assert read.moves[-1].comments[-1] == "Log ends here"
    assert (read.tags["RecorderEnd"], read.tags["RecorderComplete"]) == ("log-ends", "no")


def with_takeback() -> Game:
    """1. e4 e5 2. Nf3 (taken back) 2. Qh5 …, and out of the taken-back line another one."""
    game = make_game()
    board = chess.Board()
    for uci in SCHOLARS_MATE[:2]:
        board.push_uci(uci)
    inner = board.copy()
    lines = game.observations[0].lines
    lines.append(PlyLine(1, LineKind.TAKEBACK, 0, 2, make_plies(["g1f3", "b8c6", "f1b5"], board)))
    inner.push_uci("g1f3")
    lines.append(PlyLine(2, LineKind.TAKEBACK, 1, 3, make_plies(["d7d6"], inner)))
    return game


def test_taken_back_plies_are_variations_if_asked() -> None:
    (read,) = read_pgn(export(with_takeback(), variations=True))
    (variation,) = read.moves[2].variations
    assert [move.san for move in variation] == ["Nf3", "Nc6", "Bb5"]
    assert [[move.san for move in inner] for inner in variation[1].variations] == [["d6"]]
    replay(read)
    assert "3. Bb5 {" in export(with_takeback(), variations=True).replace("\n", " ")
    assert "2... Nc6 {" in export(with_takeback(), variations=True).replace("\n", " ")
    assert played(export(with_takeback(), variations=True)).next() is not None
    assert export(with_takeback()) == DEFAULT_TEXT


def test_plies_taken_back_at_the_end_are_a_comment() -> None:
    game = make_game(SCHOLARS_MATE[:6])
    board = chess.Board(fen_after(SCHOLARS_MATE, 6))
    game.observations[0].lines.append(PlyLine(1, LineKind.TAKEBACK, 0, 6, make_plies(SCHOLARS_MATE[6:], board)))
    (read,) = read_pgn(export(game, variations=True))
    assert read.moves[-1].comments == [
        "[%clk 0:04:54.138] [%emt 0:00:03.702] Taken back: Qxf7#",
        "Bob checkmated",
    ]


def test_chat_follows_its_ply_and_is_harmless() -> None:
    game = make_game()
    game.observations[0].events += [
        chat(0, "good luck"),
        chat(3, "[%clk 9:00:00] {hm} %x\x07 caf\xc3\xa9"),
        chat(9, "bye", actor=None),
    ]
    text = export(game, comments=True)
    (read,) = read_pgn(text)
    assert read.before == ["Cat kibitz: good luck"]
    (third,) = read.moves[2].comments
    assert third.endswith("] Cat kibitz: [ %clk 9:00:00] (hm) %x café")
    last, reason = read.moves[-1].comments
    assert last.endswith("] bye")
    assert reason == "Bob checkmated"
    assert not any(line.startswith("%") for line in text.splitlines())
    assert played(text).next().next().next().clock() == pytest.approx(296.007)  # type: ignore[union-attr]  # the game has these moves
    assert "Cat" not in export(game)


def test_a_move_has_its_marks_and_then_one_comment() -> None:
    game = make_game()
    game.observations[0].events += [
        chat(1, "a | b || c"),
        chat(1, "[%csl Gd4]", None, "command"),
        chat(1, "$14", None, "nag"),
        chat(1, "|"),
        chat(2, "x|y"),
    ]
    text = export(game, comments=True)
    assert (
        "1. e4 $14 {[%clk 0:04:58.669] [%emt 0:00:00.000] Cat kibitz: a || b ||| c | [%csl Gd4] Cat kibitz: ||}"
        in " ".join(text.split())
    )
    pipeline = make_pipeline(SourceKind.PGN)
    (reread,) = [*pipeline.receive(text.encode()), *pipeline.finish()]
    comments = [
        (event.ply, event.detail, event.actor, event.text) for event in reread.events if event.kind is EventKind.CHAT
    ]
    assert comments == [
        (1, "nag", None, "$14"),
        (1, "kibitz", "Cat", "a | b || c"),
        (1, "command", None, "[%csl Gd4]"),
        (1, "kibitz", "Cat", "|"),
        (2, "kibitz", "Cat", "x|y"),
    ]


def test_no_line_is_longer_than_79_characters() -> None:
    lines = export(random_game(9, 150)).splitlines()
    assert max(map(len, lines)) <= 79


def test_zone_unknown_has_no_utc_tags() -> None:
    text = export(make_game(time_basis=TimeBasis.LOCAL))
    assert '[Date "2020.01.01"]' in text
    assert '[Time "12:00:00"]' in text
    assert "UTC" not in text
    for basis in (TimeBasis.CLOCK, TimeBasis.NONE):
        text = export(make_game(time_basis=basis))
        assert '[Date "????.??.??"]' in text
        assert "[Time " not in text


def test_move_numbers_of_a_game_longer_than_any() -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * 600
    text = PgnExporter().game_text(make_game(moves))
    words = text.partition("\n\n")[2].split()
    assert [word for word in words if re.fullmatch(r"\d+\.+", word)] == [
        f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}" for ply in range(1, len(moves) + 1)
    ]
