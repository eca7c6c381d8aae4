"""The views for people say what the games say."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.model import Origin, Proof, Segment
from recorder.rules.position import decode_move, encode_move
from storage import ArchiveStore

from .conftest import import_bytes, make_game


@pytest.fixture
def sql(archive: ArchiveStore, path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    yield connection
    connection.close()


def rows(sql: sqlite3.Connection, query: str) -> list[dict[str, Any]]:
    return [dict(row) for row in sql.execute(query)]


def test_plies_have_their_game(archive: ArchiveStore, sql: sqlite3.Connection) -> None:
    import_bytes(archive, b"one", [make_game()])
    first, second = rows(sql, "SELECT * FROM v_plies ORDER BY key, ply")
    assert second == {
        "key": make_game().key, "ply": 2, "move_no": 1, "side": "black", "mover": "Bob", "san": "Nf6", "uci": "g8f6",
        "clock_s": 178.5, "white_clock_s": 180.0, "black_clock_s": 178.5, "elapsed_s": 1.5, "lag_ms": 42,
        "arrived_at_ms": make_game().plies[1].at_ms, "proof": "full", "origin": "frame", "precision": "ms",
        "elapsed_origin": "printed", "offset": 20,
    }  # fmt: skip
    assert (first["side"], first["move_no"], first["mover"], first["clock_s"]) == ("white", 1, "Ann", 180.0)


def test_moves_are_written_as_the_model_writes_them(archive: ArchiveStore, sql: sqlite3.Connection) -> None:
    words = ["e2e4", "e8g8", "a7a8q", "b7a8n", "h2h1k", "g2g1b", "c7c8r", "N@e4", "P@h7", "Q@a1", "B@h8", "R@d5", None]
    game = make_game()
    line = game.observations[0].lines[0]
    line.plies = [
        line.plies[0]._replace(ply=number, move=None if word is None else encode_move(word))
        for number, word in enumerate(words, 1)
    ]
    import_bytes(archive, b"one", [replace(game, segments=[Segment(1, len(words), 0)])])
    assert [row["uci"] for row in rows(sql, "SELECT uci FROM v_plies ORDER BY ply")] == words


@given(st.integers(0, 63), st.integers(0, 63), st.sampled_from(["", "n", "b", "r", "q", "k"]))
def test_moves_pack_and_unpack(origin: int, target: int, promotion: str) -> None:
    squares = [f"{'abcdefgh'[square & 7]}{square // 8 + 1}" for square in (origin, target)]
    assert decode_move(encode_move("".join(squares) + promotion)) == "".join(squares) + promotion


def test_games_and_clocks_are_one_line_each(archive: ArchiveStore, sql: sqlite3.Connection) -> None:
    import_bytes(archive, b"one", [make_game(), make_game(1, started_at_ms=None)])
    dated, undated = rows(sql, "SELECT * FROM v_games ORDER BY first_offset")
    assert (dated["started_at"], dated["plies"], dated["source"]) == ("2020-05-01T00:00:00.000", 2, "session.log")
    assert undated["started_at"] is None
    clocks = rows(sql, f"SELECT * FROM v_clocks WHERE key = '{make_game().key}' ORDER BY side")
    assert clocks[0] == {
        "key": make_game().key, "side": "black", "player": "Bob", "moves": 1, "total_s": 1.5, "mean_s": 1.5,
        "longest_s": 1.5, "least_clock_s": 178.5, "mean_lag_ms": 42.0, "max_lag_ms": 42,
    }  # fmt: skip
    assert [row["side"] for row in clocks] == ["black", "white"]


def test_every_origin_and_proof_has_the_word_that_exports_use(archive: ArchiveStore, sql: sqlite3.Connection) -> None:
    """The numbers are in every archive: a change of a number must fail here."""
    wanted = {}
    games = []
    for number, (origin, proof) in enumerate(product(Origin, Proof)):
        game = make_game(number)
        plies = game.observations[0].lines[0].plies
        plies[0] = plies[0]._replace(origin_code=int(origin), proof_code=int(proof))
        games.append(game)
        wanted[game.key] = (origin.name.lower(), proof.name.lower())
    import_bytes(archive, b"one", games)
    exported = rows(sql, "SELECT key, origin, proof FROM v_plies WHERE ply = 1")
    assert {row["key"]: (row["origin"], row["proof"]) for row in exported} == wanted
