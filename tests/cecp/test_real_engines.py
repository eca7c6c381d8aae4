"""Real engines behind a real xboard: its debug file gives the games that xboard itself saves."""

import io
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import chess
import chess.pgn
import pytest

from exporters.evaluations import thoughts_by_ply
from recorder.model import Game, ObservationKind
from recorder.reading import read_games
from tests.support.cli import Cli
from tests.support.programs import program

pytestmark = pytest.mark.needs("xboard", "Xvfb", "fairymax", "gnuchess", "sjeng")
BESIDES = ("-mg", "1", "-inc", "0", "-autoCallFlag", "true", "-popupMoveErrors", "false", "-popupExitMessage", "false")
# Short games: never chess960, which xboard saves wrongly.
MATCHES = {
    "chess": ("-fcp", "fairymax", "-scp", "./gnu", "-tc", "0:02"),
    "crazyhouse": ("-fcp", "sjeng", "-scp", "sjeng", "-variant", "crazyhouse", "-depth", "2", "-tc", "0:02"),
}
LONGEST_S = 20
TRIES = 4  # Fairy-Max sometimes loses on time before its first move; xboard saves no game without a move
# GNU Chess loses a line that comes before it listens, and dies of an interrupt that it asked not to get.
GNU = """\
#!/bin/sh
trap '' INT
{ read -r first; sleep 0.2; echo "$first"; sleep 0.3; exec cat; } | exec gnuchess
"""


@contextmanager
def screen() -> Iterator[str]:
    """A display without a screen."""
    read, write = os.pipe()
    server = subprocess.Popen(
        (program("Xvfb"), "-displayfd", str(write), "-screen", "0", "1024x768x24"),
        pass_fds=(write,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    with os.fdopen(read) as output:
        number = output.readline().strip()
    try:
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def match(name: str, folder: Path, display: str) -> Iterator[subprocess.Popen[bytes]]:
    """xboard as it lets two engines play; it ends by itself after the game."""
    home = folder / f"{name}.home"
    home.mkdir(exist_ok=True)
    (home / "gnu").write_text(GNU)
    (home / "gnu").chmod(0o700)
    files = ("-debug", "-nameOfDebugFile", str(folder / f"{name}.debug"), "-sgf", str(folder / f"{name}.pgn"))
    running = subprocess.Popen(
        (program("xboard"), *MATCHES[name], *BESIDES, *files),
        cwd=home,
        env=os.environ | {"HOME": str(home), "DISPLAY": display},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield running
    finally:
        running.terminate()  # if it has not ended by itself; it saves the game then, too
        running.wait()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with ``NAME.debug`` and ``NAME.pgn`` of each match."""
    folder = tmp_path_factory.mktemp("engines")
    with ExitStack() as stack:
        display = stack.enter_context(screen())
        for _ in range(TRIES):
            left = [name for name in MATCHES if not (folder / f"{name}.pgn").exists()]
            with ExitStack() as matches:
                runs = [matches.enter_context(match(name, folder, display)) for name in left]
                deadline = time.monotonic() + LONGEST_S
                for run in runs:
                    with suppress(subprocess.TimeoutExpired):
                        run.wait(max(0.1, deadline - time.monotonic()))
    return folder


def saved(path: Path) -> tuple[str, list[str]]:
    """Result and moves of xboard's own PGN."""
    game = chess.pgn.read_game(io.StringIO(path.read_text()))
    assert not game.errors
    return game.headers["Result"], [move.uci() for move in game.mainline_moves()]


def the_game(path: Path) -> Game:
    (game,) = read_games(path)
    return game


@pytest.mark.parametrize("name", MATCHES)
def test_the_debug_file_gives_the_game_that_xboard_saves(played: Path, name: str) -> None:
    game = the_game(played / f"{name}.debug")
    assert (game.result, [ply.uci for ply in game.plies]) == saved(played / f"{name}.pgn")
    assert len(game.plies) > 2
    assert game.variant == name
    assert [seen.kind for seen in game.observations] == [ObservationKind.ENGINE] * 2
    results = re.findall(r"^[0-9]+ >first : result .*", (played / f"{name}.debug").read_text("latin-1"), re.MULTILINE)
    assert len(results) == 1
    assert results[0].endswith(f"result {game.result} {{{game.reason}}}")


def test_scores_are_those_that_xboard_saves(played: Path) -> None:
    """``{+0.24/10 2.8}`` behind a move: score as the engine sees it and depth. Fairy-Max prints a line for each."""
    text = (played / "chess.pgn").read_text()
    pgn = chess.pgn.read_game(io.StringIO(text))
    assert pgn is not None
    found = thoughts_by_ply(the_game(played / "chess.debug"))
    compared = 0
    for node in pgn.mainline():
        match = re.match(r"([-+][0-9]+\.[0-9]+)/([0-9]+)", node.comment)
        if match is None or not node.ply() % 2 or abs(float(match[1])) > 900:
            continue
        (thought,) = [thought for thought in found[node.ply()] if thought.white]
        assert thought.score_cp is not None
        assert (f"{thought.score_cp / 100:+.2f}", thought.depth) == (match[1], int(match[2]))
        compared += 1
    assert compared


def test_it_is_imported_shown_and_exported(played: Path, tmp_path: Path) -> None:
    cli = Cli(tmp_path / "a.sqlite")
    cli("import", played / "chess.debug", played / "crazyhouse.debug")
    game = the_game(played / "chess.debug")
    text = cli("export", "pgn", game.key, "--engine").stdout
    pgn = chess.pgn.read_game(io.StringIO(text))
    assert not pgn.errors
    assert [move.uci() for move in pgn.mainline_moves()] == [ply.uci for ply in game.plies]
    scores = {node.ply(): node.eval() for node in pgn.mainline() if node.eval() is not None}
    assert scores.keys() == thoughts_by_ply(game).keys()
    for ply, thoughts in thoughts_by_ply(game).items():
        score = scores[ply]
        mine = score.pov(chess.WHITE if thoughts[0].white else chess.BLACK)
        assert (mine.score(), mine.mate()) == (thoughts[0].score_cp, thoughts[0].mate)
    assert "[%eval" not in cli("export", "pgn", game.key).stdout
    shown = cli("show", game.key).stdout
    assert "Thinking" in shown
    assert thoughts_by_ply(game)[1][0].pv.split()[0] in shown
    assert "2 logs of 2 read again, 0 findings." in cli("verify").stderr
