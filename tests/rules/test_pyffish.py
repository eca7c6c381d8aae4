"""Our rules against another program's, move by move: every move of random games, and every move that is none."""

import random
from collections.abc import Iterator

import pyffish
import pytest

from recorder.rules.fen import board_from_fen, fen, position_from_fen
from recorder.rules.position import Position, decode_move
from recorder.rules.prove import advance, has_legal_move, play_san
from recorder.rules.tables import index_of
from recorder.rules.variants import rules_of
from tests.support.effort import long_after

#: Our variant, the other program's name for it, games, plies of each.
GAMES = [
    ("giveaway", "giveaway", 1, 60),
    ("crazyhouse", "crazyhouse", 1, 80),
    ("wild/5", "chess", 1, 60),
    ("suicide", "suicide", 2, 60),
    ("losers", "losers", 2, 60),
    ("atomic", "atomic", 2, 50),
    ("horde", "horde", 1, 80),
    ("racing-kings", "racingkings", 1, 60),
    ("three-check", "3check", 1, 50),
    ("king-of-the-hill", "kingofthehill", 1, 50),
    ("chess960", "chess", 1, 60),
    ("chess", "chess", 1, 60),
]
ENDS_EARLY = ("three-check", "king-of-the-hill", "horde", "racing-kings")
WILD_5 = "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w - - 0 1"


def shuffled(seed: random.Random) -> str:
    """A start position of chess960."""
    while True:
        rank = "".join(seed.sample("rnbqkbnr", 8))
        first, last = (find("b") for find in (rank.find, rank.rfind))
        if (last - first) % 2 == 1 and rank.find("r") < rank.find("k") < rank.rfind("r"):
            return f"{rank}/pppppppp/8/8/8/8/PPPPPPPP/{rank.upper()} w KQkq - 0 1"


def start_of(variant: str, other: str, seed: random.Random) -> str:
    if variant == "chess960":
        return shuffled(seed)
    return WILD_5 if variant == "wild/5" else str(pyffish.start_fen(other))


def lan_of(uci: str, position: Position) -> str:
    """The verbose text of a move."""
    if uci[1] == "@":
        return f"{uci[0]}/@@-{uci[2:]}"
    board, origin, target = position.board, index_of(uci[:2]), index_of(uci[2:4])
    letter = board[origin].upper()
    own_rook = board[target] == ("R" if position.white_to_move else "r")
    if letter == "K" and (own_rook or (abs(origin - target) == 2 and uci[:2] in ("e1", "e8"))):
        return "o-o" if target > origin else "o-o-o"
    promotion = f"={uci[4].upper()}" if len(uci) > 4 else ""
    return f"{letter}/{uci[:2]}-{uci[2:4]}{promotion}"


def ideas(position: Position) -> Iterator[str]:
    """Moves that a piece of chess might make, the side's own men and king's safety aside: most of them are none."""
    own = str.isupper if position.white_to_move else str.islower
    pawn_steps = (-9, -8, -10, -18) if position.white_to_move else (9, 8, 10, 18)
    steps = {"N": (-19, -17, -11, -7, 7, 11, 17, 19), "P": pawn_steps}
    for origin, piece in enumerate(position.board):
        if not own(piece):
            continue
        for step in steps.get(piece.upper(), (-10, -9, -8, -1, 1, 8, 9, 10)):
            for length in range(1, 8 if piece.upper() in "QRB" else 2):
                target = origin + step * length
                if not 0 <= target < 71 or position.board[target] == " ":
                    break
                names = "".join(f"{'abcdefgh'[at % 9]}{8 - at // 9}" for at in (origin, target))
                yield f"{names}q" if piece in "Pp" and target // 9 in (0, 7) else names
    yield from ("e1g1", "e1c1") if position.white_to_move else ("e8g8", "e8c8")


@pytest.mark.parametrize(("variant", "other", "games", "plies"), long_after(3, GAMES), ids=[row[0] for row in GAMES])
def test_the_same_moves_are_legal(variant: str, other: str, games: int, plies: int) -> None:
    rules, is_960 = rules_of(variant), variant == "chess960"
    moves_made = refused = 0
    for number in range(games):
        seed = random.Random(7000 + number)
        text = start_of(variant, other, seed)
        position = position_from_fen(text, rules)
        for _ in range(plies):
            legal = pyffish.legal_moves(other, text, [], is_960)
            # The other program ends these games where they are won; no server would show another move.
            bare = sum(map(str.isupper if position.white_to_move else str.islower, position.board)) == 1
            won = not legal and (variant in ENDS_EARLY or (variant == "losers" and bare))
            assert won or bool(legal) == has_legal_move(position), text
            if not legal:
                break
            wrong = sorted(set(ideas(position)) - set(legal))
            for uci in seed.sample(wrong, min(len(wrong), 8)):
                if not (is_960 and lan_of(uci, position)[0] == "o"):  # a castling has two names there
                    reason = advance(position, lan_of(uci, position), None, None)
                    assert isinstance(reason, str), (text, uci, reason)
                    refused += 1
            for uci in seed.sample(legal, min(len(legal), 8)):
                played = advance(position, lan_of(uci, position), None, None)
                assert not isinstance(played, str), (text, uci, played)
                step = played
                assert play_san(position, step[1]) == step
                assert decode_move(step[0]).lower() == uci.lower(), (text, uci)
                moves_made += 1
            reached = pyffish.get_fen(other, text, [uci], is_960)
            assert step[2].board == board_from_fen(reached), (text, uci)
            san = pyffish.get_san(other, text, uci, is_960).rstrip("+#")
            assert step[1].rstrip("+#") in (san, f"P{san}"), (text, uci)
            text, position = reached, step[2]
            if not is_960:  # that program writes the files of rooks
                assert fen(position, 0, 1).split()[2] == text.split()[2], (text, uci)
    assert moves_made > 130 * games
    assert refused > 160 * games
