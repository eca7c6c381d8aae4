"""Every game of seven exports of the FICS games database replays by our rules, and ends as its reason says."""

import gzip
import re
from pathlib import Path

import pytest

from recorder.rules.fen import position_from_fen, start_position
from recorder.rules.position import Position, Rules
from recorder.rules.prove import has_legal_move, is_checkmate, play_san
from recorder.rules.variants import STANDARD_BOARD, has_pockets, known_start, variant_of
from tests.exporters.pgn_reader import ReadGame, read_pgn

WHOLE = Path(__file__).parent.parent / "corpus" / "ficsgames" / "whole"

#: File → variant, games, half-moves, SAN that the server disambiguates needlessly.
FILES = {
    "atomic": ("atomic", 100, 3626, 0),
    "losers": ("losers", 100, 5678, 0),
    "suicide": ("suicide", 100, 4936, 0),
    "wild5": ("wild/5", 100, 3358, 2),
    "crazyhouse": ("crazyhouse", 100, 6548, 0),
    "wildfr": ("chess960", 100, 6766, 0),
    "wildfr-enpassant": ("chess960", 69, 5066, 0),
}


def games(name: str) -> list[ReadGame]:
    data = gzip.decompress((WHOLE / f"2009-{name}.pgn.gz").read_bytes())
    return read_pgn(data.decode("latin-1"))


def start(game: ReadGame) -> tuple[str | None, Position]:
    """The variant of the Event tag, and the start position: of the FEN tag, else the one that the category tells."""
    category = game.tags["Event"].split()[2]
    variant, rules = variant_of(category)
    assert rules is not None
    if (text := game.tags.get("FEN")) is not None:
        return variant, position_from_fen(text, rules)
    known = known_start(category, rules)
    assert known is not None
    return variant, start_position(known[0], True, known[1], -1, rules, ("", "") if has_pockets(rules) else None)


def check_end(end: Position, reason: str) -> None:
    """What the closing comment says of the last position."""
    loser_white = reason.startswith("White")
    if reason.endswith("checkmated"):
        assert is_checkmate(end)
        assert end.white_to_move == loser_white
    elif reason.endswith("king exploded"):
        assert ("K" if loser_white else "k") not in end.board
    elif reason.endswith("losing all material"):
        men = str.isupper if loser_white else str.islower  # here the first word is the winner
        # In losers a king stays.
        assert sum(map(men, end.board)) == (1 if end.rules is Rules.LOSERS else 0)
    elif "stalemate" in reason:
        assert not has_legal_move(end)
        assert not end.in_check


@pytest.mark.parametrize("name", FILES)
def test_every_game_replays(name: str) -> None:
    variant, expected_games, expected_plies, expected_marks = FILES[name]
    found = games(name)
    plies = marks = reasons = 0
    for game in found:
        stated, position = start(game)
        assert stated == variant
        for move in game.moves:
            step = play_san(position, move.san)
            assert not isinstance(step, str), (game.tags["FICSGamesDBGameNo"], move.san, step)
            if step[1] != move.san:
                assert re.sub(r"(?<=^[NBRQK])[a-h][1-8](?=x?[a-h][1-8])", "", move.san) != move.san
                marks += 1
            position = step[2]
            plies += 1
        comments = (game.moves[-1].comments if game.moves else game.before) or [""]
        check_end(position, comments[-1])
        reasons += comments[-1] != ""
    assert (len(found), plies, marks) == (expected_games, expected_plies, expected_marks)
    assert reasons == expected_games


def test_wild_5_begins_where_the_archive_says() -> None:
    start_position = known_start("wild/5", variant_of("wild/5")[1])
    assert start_position is not None
    assert {start(game)[1].board for game in games("wild5")} == {start_position[0]} != {STANDARD_BOARD}
