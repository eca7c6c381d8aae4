"""The benchmark generator: legal games, a truth that its log bears out, the same bytes every time."""

from __future__ import annotations

import io
from pathlib import Path

import chess
import chess.pgn
import pytest

from benchmarks import generate
from tests.support import frames

GAMES = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> generate.Made:
    return generate.make(tmp_path_factory.mktemp("generated"), GAMES, 5)


def _truth(path: Path) -> list[chess.pgn.Game]:
    text = io.StringIO(path.read_text())
    games = []
    while (game := chess.pgn.read_game(text)) is not None:
        assert not game.errors
        games.append(game)
    return games


def _spans(text: str) -> set[int]:
    ends = [span.split("-") for span in text.split(",") if span]
    return {ply for low, high in ends for ply in range(int(low), int(high) + 1)}


def _plain(board: chess.Board) -> str:
    return board.board_fen().replace("~", "")


@pytest.mark.long
def test_the_log_shows_the_boards_of_the_truth(made: generate.Made) -> None:
    reading = frames.read(made.log.read_bytes())
    runs: dict[tuple[int, str, str], list[frames.Run]] = {}
    for run in reading.runs:
        runs.setdefault((run.game_no, run.white, run.black), []).append(run)
    games = _truth(made.truth)
    assert len(games) == GAMES
    for game in games:
        tags = game.headers
        own = runs.pop((int(tags["ServerGameNo"]), tags["White"], tags["Black"]))
        boards = [_plain(game.board())] + [_plain(node.board()) for node in game.mainline()]
        moves = list(game.mainline())
        proved: set[int] = set()
        for run in own:
            proved |= run.proved_plies()
            for ply, frame in run.main_line().items():
                assert frame.board == boards[ply]
                if ply:
                    san = moves[ply - 1].san()
                    assert frame.pretty == (f"P{san}" if san.startswith("@") else san)
                    clock = moves[ply - 1].clock()
                    assert clock is not None
                    mover = frame.white_clock_ms if ply % 2 else frame.black_clock_ms
                    assert max(mover, 0) == round(clock * 1000) or ply == max(run.main_line())
        assert proved == _spans(tags.get("Seen", f"1-{len(moves)}"))
    assert not runs


def test_the_kinds_of_trouble_are_in_it(made: generate.Made) -> None:
    log = made.log.read_bytes()
    truth = made.truth.read_text()
    for needle in (b" <- W", b"/@@-", b" P@", b"takeback request", b"kibitzes: ", b"forfeits on time", b"=Q"):
        assert needle in log, needle
    assert '[Seen "' in truth
    assert log.count(b"\n<12>") + log.count(b"\r<12>") < log.count(b"<12>")


def test_the_same_seed_gives_the_same_bytes(made: generate.Made, tmp_path: Path) -> None:
    second = generate.make(tmp_path, GAMES, 5)
    assert second.log.read_bytes() == made.log.read_bytes()
    assert second.truth.read_bytes() == made.truth.read_bytes()


def test_timing_covers_the_typescript(tmp_path: Path) -> None:
    made = generate.make(tmp_path, 3, 1, timing=True)
    assert made.timing is not None
    sizes = [int(line.split()[1]) for line in made.timing.read_text().splitlines()]
    body = made.log.read_bytes().split(b"\n", 1)[1].rsplit(b"\nScript done", 1)[0]
    assert sum(sizes) == len(body)
