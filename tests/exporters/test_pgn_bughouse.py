"""A bughouse board as PGN: read by our own reader always, by python-chess if it is written as crazyhouse."""

import io
from pathlib import Path

import chess.pgn
import chess.variant
import pytest

from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder import read_games
from recorder.model import Game, LineKind, Ply, PlyLine, Proof
from recorder.reading import make_pipeline
from recorder.rules.position import encode_move
from recorder.sources import SourceKind
from tests.exporters.games import make_game
from tests.relating.matches import OF_BOTH_BOARDS, games_of

PUBLIC = Path(__file__).parent.parent / "corpus" / "public"
SAVED = PUBLIC / "bughouse-2005-client-saved.bpgn"
JOINED = PUBLIC / "bughouse-observe-76-97-first-part.txt"


def recorded() -> list[Game]:
    return [game for stream in OF_BOTH_BOARDS for game in games_of(*stream)]


def read_back(text: str) -> list[chess.pgn.Game]:
    stream, found = io.StringIO(text), []
    while (game := chess.pgn.read_game(stream)) is not None:
        assert game.errors == []
        found.append(game)
    return found


@pytest.mark.parametrize("style", ["default", "fics"])
@pytest.mark.parametrize("games", [recorded(), list(read_games(SAVED)), list(read_games(JOINED))], ids=len)
def test_python_chess_reads_it_as_crazyhouse(games: list[Game], style: str) -> None:
    exporter = PgnExporter(PgnOptions(style=style, as_crazyhouse=True))
    for game in games:
        (reread,) = read_back(exporter.game_text(game))
        assert isinstance(reread.board(), chess.variant.CrazyhouseBoard)
        assert [move.uci() for move in reread.mainline_moves()] == [ply.uci for ply in game.plies]
        hands = reread.board().pockets  # type: ignore[attr-defined]  # a board of bughouse has them
        for white in (True, False):
            drops = sum("@" in ply.san for ply in game.plies if ply.white_moved is white)
            assert len(hands[white]) == drops


@pytest.mark.parametrize("games", [recorded(), list(read_games(SAVED)), list(read_games(JOINED))], ids=len)
def test_our_own_reader_reads_it_as_bughouse(games: list[Game]) -> None:
    exporter = PgnExporter()
    pipeline = make_pipeline(SourceKind.PGN)
    text = "".join(map(exporter.game_text, games)).encode()
    found = pipeline.receive(text) + pipeline.finish()
    assert pipeline.report.anomalies == []
    assert [(game.variant, game.white.handle, game.result) for game in found] == [
        ("bughouse", game.white.handle, game.result) for game in games
    ]
    for game, reread in zip(games, found, strict=True):
        assert [(ply.ply, ply.move, ply.san) for ply in reread.plies] == [
            (ply.ply, ply.move, ply.san) for ply in game.plies
        ]
        assert {ply.proof for ply in reread.plies} == {Proof.LIST}


def test_pieces_from_the_other_board_are_mentioned_in_a_comment() -> None:
    game = games_of(*OF_BOTH_BOARDS[0])[0]
    text = PgnExporter(PgnOptions(as_crazyhouse=True)).game_text(game)
    assert '[Variant "bughouse"]' not in text
    assert "bughouse game" in text.splitlines()[0]
    assert "{Bughouse: what came from the other board is in hand from the start} 1. e4 " in " ".join(text.split())
    assert "{Bughouse" not in PgnExporter(PgnOptions()).game_text(game)


def test_drops_of_taken_back_moves_are_in_hand_too() -> None:
    game = make_game(["e2e4", "e7e5"], variant="bughouse")
    one = game.plies[1]
    drop = one._replace(move=encode_move("N@e6"), san="N@e6")
    assert isinstance(drop, Ply)
    game.observations[0].lines.append(PlyLine(1, LineKind.TAKEBACK, 0, 1, [drop]))
    (reread,) = read_back(PgnExporter(PgnOptions(as_crazyhouse=True, variations=True)).game_text(game))
    assert [move.uci() for move in (reread.variations[0].variations[1].move,)] == ["N@e6"]


def test_other_games_are_as_they_were() -> None:
    game = make_game()
    assert PgnExporter(PgnOptions(as_crazyhouse=True)).game_text(game) == PgnExporter().game_text(game)
