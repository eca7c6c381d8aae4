"""What ``benchmarks.run`` compares the product with, each run as a process of its own.

``python -m benchmarks.peers read-games PGN | string-exporter PGN | executemany ARCHIVE``

Each prints one JSON object; ``seconds`` in it are those of the part that counts, without loading.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import chess.pgn


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
    rows = archive.execute("SELECT * FROM plies ORDER BY id").fetchall()
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


COMMANDS = {
    "read-games": read_games,
    "string-exporter": string_exporter,
    "executemany": executemany,
}


def main(arguments: list[str]) -> None:
    """Run one of ``COMMANDS`` and print what it gives."""
    name, path = arguments
    print(json.dumps(COMMANDS[name](path)))


if __name__ == "__main__":
    main(sys.argv[1:])
