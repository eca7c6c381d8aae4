"""pgn-extract reads the same moves."""

import re
import subprocess
from pathlib import Path

import pytest

from recorder.reading import read_games
from tests.support.programs import program

PGN = Path(__file__).parent.parent / "corpus" / "pgn"
CHESS = ("client-saved-2004-eboard", "ficsgames-variants-by-year", "icc-saved-2012", "ics-client-saved-2009")


@pytest.mark.needs("pgn-extract")
@pytest.mark.parametrize("name", CHESS)
def test_the_same_moves(name: str) -> None:
    path = PGN / f"{name}.pgn"
    done = subprocess.run(
        [program("pgn-extract"), "-s", "-Wlalg", "-C", "-w9999", str(path)], capture_output=True, text=True, check=True
    )
    theirs = [re.findall(r"[a-h][1-8][a-h][1-8][qrbn]?", line.lower()) for line in done.stdout.splitlines() if
              line[:1].isdigit()]  # fmt: skip
    ours = [[ply.uci for ply in game.plies] for game in read_games(path) if game.plies]
    assert [len(moves) for moves in ours] == [len(moves) for moves in theirs]
    assert ours == theirs
