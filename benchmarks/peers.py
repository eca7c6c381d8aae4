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
from typing import Any

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
    """Insert all rows of an archive, and then its plies alone, with nothing but ``sqlite3.executemany``.

    Returns:
        ``rows`` and ``seconds`` of all tables, ``plies`` and ``plies_seconds`` of that one table, each into a new file.
    """
    statements, rows = load(path)
    plies = {"plies": rows["plies"]}
    with tempfile.TemporaryDirectory() as folder:
        seconds = insert(Path(folder) / "all.sqlite", statements, rows)
        plies_seconds = insert(Path(folder) / "plies.sqlite", statements, plies)
    return {
        "rows": sum(map(len, rows.values())),
        "seconds": seconds,
        "plies": len(rows["plies"]),
        "plies_seconds": plies_seconds,
    }


Tables = dict[str, list[tuple[Any, ...]]]
"""Rows by table, parents first."""


def load(path: str) -> tuple[list[str], Tables]:
    """The statements that make an archive's tables and indexes, and all its rows, as they lie in the file."""
    archive = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    query = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL"
    schema = archive.execute(f"{query} ORDER BY rowid").fetchall()
    tables = {name: archive.execute(f"SELECT * FROM {name}").fetchall() for kind, name, _ in schema if kind == "table"}
    archive.close()
    return [sql for _, _, sql in schema], tables


def insert(path: Path, statements: list[str], tables: Tables) -> float:
    """Insert rows into a new file as the import does: indexes are there, one transaction, no foreign key checks.

    Returns:
        The seconds of the transaction alone.
    """
    fresh = sqlite3.connect(path)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = OFF"):
        fresh.execute(f"PRAGMA {pragma}")
    for statement in statements:
        fresh.execute(statement)
    started = time.perf_counter()
    with fresh:
        for name, rows in tables.items():
            if rows:
                fresh.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    seconds = time.perf_counter() - started
    fresh.close()
    return seconds


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
