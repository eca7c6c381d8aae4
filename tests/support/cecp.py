"""A chess engine that knows beforehand what it plays: ``python cecp.py GAMES``, in the words of xboard's protocol.

GAMES is a JSON file: for each game the moves of both sides, as ``e2e4``. The engine answers each position of the game
that it is in with the move that was played there. Source: xboard's engine-intf.html.
"""

import json
import re
import sys
from pathlib import Path

_FEATURES = "feature myname=truth ping=1 setboard=0 usermove=1 colors=0 sigint=0 sigterm=0 reuse=1 done=1"
_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbn]?")


def main(games: list[list[str]]) -> None:
    """Play the games one after the other."""
    game = ply = 0
    playing = False
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "protover":
            print(_FEATURES)
        elif word == "ping":
            print(f"pong {rest}")
        elif word == "new":
            ply, playing = 0, True
        elif word == "force":
            playing = False
        elif word == "result":
            game, ply, playing = game + (ply > 0), 0, False
        elif word == "quit":
            return
        elif word == "usermove" and _MOVE.fullmatch(rest):
            ply += 1
        elif word == "go":
            playing = True
        if word in ("usermove", "go") and playing and game < len(games) and ply < len(games[game]):
            print(f"move {games[game][ply]}")
            ply += 1
        sys.stdout.flush()


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
