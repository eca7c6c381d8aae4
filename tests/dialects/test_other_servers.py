"""Servers that no transcript of ours shows: what they print is kept, and their style-12 games come out whole.

The dialogues are those of tests/live/dialogues.py; the blank line of USCN is the reference's.
"""

from __future__ import annotations

import pytest

from tests.edge_cases.scripts import Table, log, only, proved, read, sans
from tests.live.dialogues import DIALOGUES


@pytest.mark.parametrize(
    ("name", "prompt", "server"),
    [("chess.net guest", "chess% ", "chess.net"), ("USCN guest", "fics% ", None)],
)
def test_their_games_come_out_whole(name: str, prompt: str, server: str | None) -> None:
    dialogue = b"".join(step[0] for step in DIALOGUES[name])
    welcome = b"\n\rWelcome to chess.net!\n\r" if server else b""
    table = Table(tokens=31)
    lines = [
        *[prompt] * 3,  # a prompt of its own is learned
        "Creating: Ann (1500) Bob (1600) rated blitz 5 0",
        "",
        table.created(),
        table.frame(),
        *(f"{prompt}{frame}" for frame in table.plays("e4", "e5", "Nf3", "Nc6")),
        "Some words that only this server says: 12 34.",
        table.over("Bob resigns", "1-0"),
    ]
    found = read(welcome + dialogue + b"\n\r" + log(*lines))
    game = only(found)
    assert (sans(game), game.result, game.reason_key) == (["e4", "e5", "Nf3", "Nc6"], "1-0", "resign")
    assert (game.white.rating, game.rated, game.category, game.complete) == (1500, True, "blitz", True)
    assert proved(game)
    assert not found.anomalies()
    assert game.server == server
    assert "X words that only this server says: 0 0." in [shape.shape for shape in found.report.shapes]
