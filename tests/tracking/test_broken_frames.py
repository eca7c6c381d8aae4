"""A malformed line is an anomaly at its place, and all other lines are read."""

import pytest

from recorder.model import Anomaly, AnomalyKind, Disposition, Game, Proof
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind

BOARDS = (
    "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 {c} 0 {g} 0 {b} 0 39 39 180 180 1 none (0:00) none 0 {t} 0",  # noqa: E501  # a line as servers print it
    "rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 {c} 0 {g} 0 {b} 0 39 39 180 180 1 P/e2-e4 (0:01) e4 0 {t} 0",  # noqa: E501  # a line as servers print it
    "rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4 {c} 0 {g} 0 {b} 0 39 39 180 180 2 P/e7-e5 (0:01) e5 0 {t} 0",  # noqa: E501  # a line as servers print it
    "rnbqkbnr pppp-ppp -------- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R B -1 {c} 1 {g} 0 {b} 0 39 39 180 180 2 N/g1-f3 (0:01) Nf3 0 {t} 0",  # noqa: E501  # a line as servers print it
    "r-bqkbnr pppp-ppp --n----- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R W -1 {c} 2 {g} 0 {b} 0 39 39 180 180 3 N/b8-c6 (0:01) Nc6 0 {t} 0",  # noqa: E501  # a line as servers print it
    "r-bqkbnr pppp-ppp --n----- -B--p--- ----P--- -----N-- PPPP-PPP RNBQK--R B -1 {c} 3 {g} 0 {b} 0 39 39 180 180 3 B/f1-b5 (0:01) Bb5 0 {t} 0",  # noqa: E501  # a line as servers print it
)
MOVES = ["e4", "e5", "Nf3", "Nc6", "Bb5"]


def frame(ply: int, *, game: str = "7 Ann Bob", castling: str = "1 1 1 1", base: str = "3", ticking: str = "1") -> str:
    return "<12> " + BOARDS[ply].format(g=game, c=castling, b=base, t=ticking)


def read(lines: list[str]) -> tuple[list[Game], Pipeline, str]:
    text = "".join(f"{line}\n\r" for line in lines)
    pipeline = Pipeline(SourceKind.RAW)
    return pipeline.receive(text.encode("latin-1")) + pipeline.finish(), pipeline, text


def game_lines(*broken: str, at: int = 3, game: str = "7 Ann Bob") -> list[str]:
    lines = [frame(ply, game=game) for ply in range(6)]
    lines[at : at + 1] = broken
    return lines


def found_at(pipeline: Pipeline, text: str, line: str) -> list[Anomaly]:
    offset = text.index(line)
    return [found for found in pipeline.report.anomalies if found.offset == offset]


@pytest.mark.parametrize(
    "broken",
    [
        frame(3).replace("R B", "J B"),
        frame(3).replace("PPPP-PPP", "PPPP-PPA"),
        frame(3, game="--7 Ann Bob"),
        frame(3, game="7- Ann Bob"),
        frame(3, base="Adams"),
        frame(3, ticking="x"),
        frame(3, ticking="2"),
        frame(3, castling="1 1 2 1"),
        frame(3, castling="1 1 x 1"),
        frame(3).replace(" 39 39 ", " 39 +39 "),
        frame(3).replace(" 180 180 ", " 180 1_80 "),
        frame(3).replace("(0:01)", "(0:0J)"),
    ],
)
def test_one_broken_frame_is_an_anomaly_and_its_ply_is_inferred(broken: str) -> None:
    games, pipeline, text = read([*game_lines(broken), *game_lines(at=9, game="8 Cid Dan")])
    found = found_at(pipeline, text, broken)
    assert [anomaly.kind for anomaly in found] == [AnomalyKind.MALFORMED]
    assert [[ply.san for ply in game.plies] for game in games] == [MOVES, MOVES]
    assert [ply.proof for ply in games[0].plies if ply.san == "Nf3"] == [Proof.INFERRED]
    assert pipeline.report.frames[Disposition.MALFORMED] == 1
    assert sum(pipeline.report.frames.values()) == 12


def test_a_malformed_field_does_not_affect_the_board_that_repeats_it() -> None:
    """The clock starts: the same board again, compared with one whose flag is malformed."""
    lines = game_lines(frame(3, ticking="x"), frame(3), frame(3, ticking="0"))
    games, pipeline, text = read(lines)
    assert [ply.san for ply in games[0].plies] == MOVES
    assert [found.offset for found in pipeline.report.anomalies] == [text.index(frame(3, ticking="x"))]


def test_two_boards_with_other_pieces_in_a_row_change_the_game() -> None:
    lines = game_lines(frame(3).replace("RNBQKB-R B", "RNBQJB-R B"), at=3)
    lines[4] = lines[4].replace("RNBQKB-R W", "RNBQJB-R W")
    games, pipeline, _ = read(lines)
    assert [ply.san for ply in games[0].plies][:4] == MOVES[:4]
    assert AnomalyKind.VARIANT in {found.kind for found in pipeline.report.anomalies}
    assert Disposition.MALFORMED not in pipeline.report.frames


def test_a_takeback_after_the_pieces_changed_is_read() -> None:
    """The position after the takeback has the rules that are known now."""
    strange = [line.replace("RNBQK", "RNBQJ") for line in (frame(3), frame(4), frame(5))]
    games, pipeline, _ = read([frame(0), frame(1), frame(2), *strange, frame(1).replace("RNBQKBNR B", "RNBQJBNR B")])
    assert len(games) == 1
    assert sum(pipeline.report.frames.values()) == 7


LIST = """
Movelist for game 7:

Ann (1500) vs. Bob (1600) --- Mon Nov  4, 08:38 UTC 2002
Unrated wild/fr match, initial time: 3 minutes, increment: 0 seconds.

{start}

Move  Ann                     Bob
----  ---------------------   ---------------------
  1.  e4      (0:01.000)      e5      (0:01.000)
      {{Ann resigns}} 0-1
"""


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("RNBQKBNR W", "RNBJKBNR W", AnomalyKind.MOVELIST),
        ("W -1 1 1 1 1", "W -1 1 Adams 1 1", AnomalyKind.MALFORMED),
        ("W -1 1 1 1 1", "W -1 1 1 1 7", AnomalyKind.MALFORMED),
        (" -3 3 ", " -3 Adams ", AnomalyKind.MALFORMED),
    ],
)
def test_a_broken_start_board_of_a_movelist_leaves_the_list_and_the_log(old: str, new: str, kind: AnomalyKind) -> None:
    start = frame(0).replace("7 Ann Bob 0 3", "7 Ann Bob -3 3")
    assert old in start
    games, pipeline, _ = read([*LIST.format(start=start.replace(old, new)).split("\n"), *game_lines(at=9)])
    assert kind in {found.kind for found in pipeline.report.anomalies}
    listed, played = sorted(games, key=lambda game: len(game.plies))
    assert [ply.san for ply in listed.plies] == ["e4", "e5"]
    assert [ply.san for ply in played.plies] == MOVES
