"""What ``benchmarks.run`` compares the product with, each run as a process of its own.

``python -m benchmarks.peers read-games PGN | string-exporter PGN | executemany ARCHIVE | legality PGN GAMES``

The last three print one JSON object with the seconds of the part that counts; loading is not in them.
"""

from __future__ import annotations

import io
import json
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.pgn

from recorder.tracking.position import Position, Rules, advance, start_position

_START = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"


def games(path: str) -> Iterator[chess.pgn.Game]:
    """The games of a PGN file by python-chess."""
    with Path(path).open(encoding="ascii") as text:
        while (game := chess.pgn.read_game(text)) is not None:
            yield game


def read_games(path: str) -> dict[str, float]:
    """python-chess ``read_game`` over a whole file: parses, checks every move, keeps the comments."""
    return {"games": sum(1 for _ in games(path))}


def string_exporter(path: str) -> dict[str, float]:
    """python-chess ``StringExporter`` with the games already in memory."""
    loaded = list(games(path))
    started = time.perf_counter()
    size = sum(len(game.accept(chess.pgn.StringExporter())) for game in loaded)
    return {"games": len(loaded), "seconds": time.perf_counter() - started, "characters": size}


def executemany(path: str) -> dict[str, float]:
    """Insert an archive's plies, already in memory and in key order, with nothing but ``sqlite3.executemany``."""
    archive = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = archive.execute("SELECT * FROM plies ORDER BY observation_id, line_no, ply").fetchall()
    (table,) = archive.execute("SELECT sql FROM sqlite_master WHERE name = 'plies'").fetchone()
    archive.close()
    marks = ", ".join("?" * len(rows[0]))
    with tempfile.TemporaryDirectory() as folder:
        fresh = sqlite3.connect(Path(folder) / "raw.sqlite")
        fresh.execute("PRAGMA journal_mode = WAL")
        fresh.execute("PRAGMA synchronous = NORMAL")
        fresh.execute(table)
        started = time.perf_counter()
        with fresh:
            fresh.executemany(f"INSERT INTO plies VALUES ({marks})", rows)
        seconds = time.perf_counter() - started
        fresh.close()
    return {"rows": len(rows), "seconds": seconds}


def legality(path: str, count: str) -> dict[str, float]:
    """Time ``advance`` against ``push_uci`` on played moves, and compare both on legal and illegal candidates."""
    chosen = [game for game in games(path) if "Variant" not in game.headers][: int(count)]
    lines = [[(node.move, node.san()) for node in game.mainline()] for game in chosen]
    steps: list[list[tuple[str, str, str]]] = []
    for line in lines:
        board = chess.Board()
        steps.append([])
        for move, san in line:
            lan = verbose(board, move)
            board.push(move)
            steps[-1].append((lan, san, ranks(board)))
    started = time.perf_counter()
    for step in steps:
        position = _start()
        for lan, san, after in step:
            proved = advance(position, lan, san, after)
            assert not isinstance(proved, str), (lan, proved)
            position = proved[2]
    ours = time.perf_counter() - started
    uci = [[move.uci() for move, _ in line] for line in lines]
    started = time.perf_counter()
    for texts in uci:
        board = chess.Board()
        for text in texts:
            board.push_uci(text)
    theirs = time.perf_counter() - started
    candidates, illegal, disagreements = _compare(lines)
    return {
        "plies": sum(map(len, lines)),
        "seconds": ours,
        "push_uci_seconds": theirs,
        "ratio": theirs / ours,
        "candidates": candidates,
        "illegal": illegal,
        "disagreements": disagreements,
    }


def _start() -> Position:
    return start_position(_START, True, 15, -1, Rules.CHESS)


def _compare(lines: list[list[tuple[chess.Move, str]]]) -> tuple[int, int, int]:
    """Ask both rules about candidates of every position: legal moves, pseudo-legal and arbitrary ones, and legal
    moves with a board after that is not theirs."""
    chance = random.Random(7)
    candidates = illegal = disagreements = 0
    for line in lines:
        board, position = chess.Board(), _start()
        for played, _ in line:
            pseudo = list(board.generate_pseudo_legal_moves())
            tries = [chance.choice(pseudo) for _ in range(2)]
            tries += [move for move in pseudo if not board.is_legal(move)][:2]
            tries += [_arbitrary(board, chance) for _ in range(2)]
            tries += [chance.choice(pseudo)]
            for number, move in enumerate(tries):
                lan, after = verbose(board, move), after_any(board, move)
                legal = board.is_legal(move)
                if number == len(tries) - 1:
                    at = chance.choice([index for index, cell in enumerate(after) if cell != " "])
                    after = after[:at] + ("-" if after[at] != "-" else chance.choice("pnPN")) + after[at + 1 :]
                    legal = False
                candidates += 1
                illegal += not legal
                disagreements += legal != (not isinstance(advance(position, lan, None, after), str))
            proved = advance(position, verbose(board, played), None, after_any(board, played))
            assert not isinstance(proved, str)
            position = proved[2]
            board.push(played)
    return candidates, illegal, disagreements


def _arbitrary(board: chess.Board, chance: random.Random) -> chess.Move:
    """Some piece of the side to move to some square."""
    source = chance.choice(list(chess.SquareSet(board.occupied_co[board.turn])))
    target = chance.choice([square for square in chess.SQUARES if square != source])
    last_rank = chess.square_rank(target) in (0, 7) and board.piece_type_at(source) == chess.PAWN
    return chess.Move(source, target, promotion=chess.QUEEN if last_rank else None)


def ranks(board: chess.Board) -> str:
    """A board as style 12 prints it."""
    return " ".join(row.replace(" ", "").replace(".", "-") for row in str(board).split("\n"))


def verbose(board: chess.Board, move: chess.Move) -> str:
    """The verbose field of a move, legal or not."""
    if board.is_castling(move) and board.is_pseudo_legal(move):
        return "o-o" if chess.square_file(move.to_square) > 4 else "o-o-o"
    piece = chess.piece_symbol(board.piece_type_at(move.from_square) or chess.PAWN).upper()
    promotion = f"={chess.piece_symbol(move.promotion).upper()}" if move.promotion else ""
    return f"{piece}/{chess.square_name(move.from_square)}-{chess.square_name(move.to_square)}{promotion}"


def after_any(board: chess.Board, move: chess.Move) -> str:
    """The board after a move, legal or not."""
    copy = board.copy(stack=False)
    copy.push(move)
    return ranks(copy)


COMMANDS = {
    "read-games": read_games,
    "string-exporter": string_exporter,
    "executemany": executemany,
    "legality": legality,
}


def main(arguments: list[str]) -> None:
    """Run one of ``COMMANDS`` and print what it gives."""
    out = io.StringIO()
    json.dump(COMMANDS[arguments[0]](*arguments[1:]), out)  # type: ignore[operator]
    print(out.getvalue())


if __name__ == "__main__":
    main(sys.argv[1:])
