"""Whatever stands between the moves of a PGN is kept and exported again, or an anomaly names it."""

import io
import re

import chess.pgn
import pytest

from recorder.model import Game
from recorder.reading import make_pipeline
from recorder.sources import SourceKind
from tests.saved.test_pgn_round_trip import facts, written

TAGS = b'[Event "x"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n'
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
KEPT = [
    "1. e4 e5 2. Nf3 ( {Better is} 2. f4 exf4 {sharp} ) 2... Nc6 3. Bb5 ( {Threatening} 3. -- Nf6 4. Bc4 ) 3... a6 1-0",
    "1. e4 e5 (1... c5 (1... c6 (1... e6 (1... d6 {deep} 2. d4 Z0 {none})))) 2. Nf3 null 3. Bb5 pass 1-0",
    "1. e4 e5 2. Nf3 -- 3. Nxe5 Z0 {passed} 4. d4 @@@@ 5. d5 0000 6. c4 1-0",
    "1. e4 e5 2. Nf3 ($1 {b [%csl Ge4]} 2. f4 $2 exf4 (2... d5 {x} 3. d3 (3. fxe5 {y} --)) 3. Nf3) 2... Nc6 1-0",
    "{[%clk 0:10:00][%eval 0.25] start} 1. d4 {[%clk 0:09:58]} Nf6 {[%clk 0:09:57]} 1-0",
    "{[%emt 0:00:05] [%lag 0.1] [%clkms 12345]} {[%cal Gd2d4,Ra1h8] [%csl Ra1]} {0:10:00} 1. e4 e5 1-0",
    "1. e4 e5 2. Nf3 (2. f4 {[%eval 0.5,12] [%clk 0:00:09]} exf4 {[%emt 1.5]}) Nc6 {[%clk 0:00:07] [%clk 0:00:08]} 1-0",
    "1. e4 ; to the end (of the line\ne5 {in braces} ; more\n2. Nf3 1-0",
    "1. e4 e5\n% escaped line {with brace\n2. Nf3 Nc6\n%\n3. Bb5 1-0",
    "1. e4 e5 2. Nf3 (=) Nc6 (threatening mate!) 3. Bb5 ( {Only words [%csl Ge4]} ) a6 (3... Nf6 1/2-1/2) 1-0",
    "(1. d4 d5 {before}) 1. e4 e5 1-0",
    "1. e4 e5 1-0 {Ann waves} ; twice",
    "1. e4 e5 2. Nf3 {a | b || c} Nc6 {[%csl Ra1] 5% [% odd} 3. Bb5 { % at the start} 1-0",
]


def read(data: bytes) -> tuple[list[Game], list[str]]:
    pipeline = make_pipeline(SourceKind.PGN)
    games = pipeline.receive(data) + pipeline.finish()
    return games, [found.message for found in pipeline.report.anomalies]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{2,}|\[%\w+ [^\]]*\]", text))


def as_comment(text: str) -> str:
    """Braces cannot be part of a comment, and ``[%`` would begin a command."""
    return text if text.startswith("[%") else text.translate(str.maketrans("{}", "()")).replace("[%", "[ %")


@pytest.mark.parametrize("text", KEPT)
def test_text_between_the_moves_is_kept(text: str) -> None:
    (game,), anomalies = read(TAGS + text.encode())
    assert all("is a comment" in message for message in anomalies)
    exported, _ = written([game], clock=frozenset({"clk", "emt", "lag"}))
    (again,), anomalies = read(exported)
    assert facts(again) == {**facts(game), "said": [(*said[:3], as_comment(said[3])) for said in facts(game)["said"]]}
    assert not anomalies
    movetext = exported.decode().split("\n\n", 1)[1].replace("\n", " ")
    assert words(text) - {"null", "pass", "[%eval 0.5,12]", "[%emt 1.5]"} <= words(movetext)
    peer = chess.pgn.read_game(io.StringIO(exported.decode()))
    assert not peer.errors
    assert len(list(peer.mainline())) == len(game.plies)


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("1. e4 e5 1-0 and so on", "and so on"),
        ("1. e4 garbage e5 1-0", "garbage"),
        ("1. e4 {open 1-0", "no end"),
        ("1. e4 e5 1-0\n\nRegards, Ann", "Regards, Ann"),
        ("1. e4 ) e5 1-0", ")"),
    ],
)
def test_text_that_is_lost_is_an_anomaly(text: str, lost: str) -> None:
    _, anomalies = read(TAGS + text.encode())
    assert any(lost in message for message in anomalies)


def test_an_unproved_ply_keeps_its_clock_its_marks_and_its_variations() -> None:
    text = (
        "1. d4 e6 2. ?x? {[%clk 0:01:07]} $2 {so} (2. Nf3 {better} d5 (2... c5)) 2... d5 {[%clk 0:01:06.5]} "
        "3. c4 $1 (3. ?? c6 {eh}) 3... c6 (3... Nf6 4. Qd9) 1-0"
    )
    (game,), _ = read(TAGS + text.encode())
    exported, lost = written([game])
    assert lost == {"plies not proved": 4}
    movetext = " ".join(exported.decode().split("\n\n", 1)[1].split())
    begin = "1. d4 e6 {Not proved: 2. ?x? $2 0:01:07} {Variation: 2. Nf3 (better) 2... d5 (2... c5) | so}"
    assert movetext.startswith(begin)
    (again,), _ = read(exported)
    assert [(row.ply, row.san, row.clock_ms, row.proof) for row in again.plies] == [
        (row.ply, row.san, row.clock_ms, row.proof) for row in game.plies
    ]
    assert written([again])[0].count(b"\n") == exported.count(b"\n")


def test_a_null_move_is_played_on_in_every_output() -> None:
    (game,), anomalies = read(TAGS + b"1. e4 e5 2. Nf3 -- 3. Nxe5 1-0")
    assert not anomalies
    assert b"2. Nf3 -- 3. Nxe5 1-0" in written([game])[0]
    assert game.board().board_fen() == "rnbqkbnr/pppp1ppp/8/4N3/4P3/8/PPPP1PPP/RNBQKB1R"
    assert [move.uci() for move in game.to_chess().mainline_moves()] == ["e2e4", "e7e5", "g1f3", "0000", "f3e5"]


@pytest.mark.parametrize(
    ("variant", "fen", "moves", "start"),
    [
        ("foochess", "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R[Qq] w KQkq - 3 7", "7. O-O O-O-O", 12),
        ("Seirawan", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[HEhe] w KQBCDFGkqbcdfg - 0 1", "1. Nc3", 0),
        ("Three-check", "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 2+1 5 12", "12. O-O O-O-O", 22),
        ("Three-check", "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 5 12 +1+2", "12. O-O O-O-O", 22),
        ("Crazyhouse", "4k3/8/8/8/8/8/8/4K3/Qn w - - 0 1", "1. Q@e5", 0),
        ("Chess960", "bnqnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BNQNRKRB w GEge - 0 1", "1. g3", 0),
        ("Standard", "4k3/8/8/8/8/8/4P3/4K3", "1. e4", 0),
        ("Three-check", f"{START} w KQkq - 1+3 0 1", "1. e4 e5", 0),
        ("Three-check", f"{START} w KQkq - 0 1 +2+0", "1. e4 e5", 0),
        ("Duck", f"{START}[Qq] w KQkq - 0 1", "1. e4 e5", 0),
    ],
)
def test_a_fen_is_exported_as_it_was(variant: str, fen: str, moves: str, start: int) -> None:
    tags = f'[Event "x"]\n[White "Ann"]\n[Variant "{variant}"]\n[SetUp "1"]\n[FEN "{fen}"]\n\n'
    (game,), anomalies = read(f"{tags}{moves} *\n".encode())
    assert not anomalies
    assert (game.start_ply, [ply.move for ply in game.plies].count(None)) == (start, 0)
    exported, _ = written([game])
    assert f'[SetUp "1"]\n[FEN "{fen}"]\n' in exported.decode()
    (again,), _ = read(exported)
    assert facts(again) == facts(game)


def test_a_fen_that_cannot_be_read_is_kept_and_named() -> None:
    fen = "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR w KQkq - 0 1"
    text = f'[White "Ann"]\n[Variant "capablanca"]\n[SetUp "1"]\n[FEN "{fen}"]\n\n1. e4 e5 *\n'
    (game,), anomalies = read(text.encode())
    assert anomalies == [f"FEN cannot be read: '{fen}'"]
    exported, _ = written([game])
    assert f'[FEN "{fen}"]' in exported.decode()
    assert b"{Not proved: 1. e4 1... e5}" in exported


@pytest.mark.parametrize(
    "line", ["[WhiteElo 2400]", "[Annotator]", '[Annotator"x"]', "[Annotator x]", "[]", "[", "; a note", "% escaped"]
)
def test_a_line_among_tags_that_is_no_tag_is_named_and_divides_nothing(line: str) -> None:
    (game,), anomalies = read(f'[Event "x"]\n[White "Ann"]\n{line}\n[Black "Bob"]\n\n1. e4 e5 1-0\n'.encode())
    assert (game.white.handle, game.black.handle, [ply.san for ply in game.plies]) == ("Ann", "Bob", ["e4", "e5"])
    assert len(anomalies) == 1
    if line[0] == "[":
        tags = f'[WhiteA "a"]\n[BlackA "b"]\n{line}\n[WhiteB "c"]\n[BlackB "d"]\n\n'
        pipeline = make_pipeline(SourceKind.BPGN)
        games = pipeline.receive(f"{tags}1A. e4 1B. d4 *\n".encode()) + pipeline.finish()
        assert [(game.white.handle, game.plies[0].san) for game in games] == [("a", "e4"), ("c", "d4")]
        assert [one.message for one in pipeline.report.anomalies] == anomalies
