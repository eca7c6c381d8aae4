"""What the values can tell about themselves."""

from enum import Enum

import pytest

from exporters.selection import Selection
from recorder.model import GameKind, Origin, Player, Ply, Precision, Proof, Segment
from recorder.rules.position import encode_move
from storage import ArchiveStore, GameFilter
from tests.storage.conftest import import_bytes, make_game

PLAYERS = [
    (Player("GuestABCD"), "guest"),
    (Player("guest4711"), "guest"),
    (Player("GuestAB"), "guest"),
    (Player("Guest"), ""),
    (Player("Ann", titles="(U)"), "guest"),
    (Player("Ann", rating_text="++++"), "guest"),
    (Player("Ann", registered=False), "guest"),
    (Player("Ann"), ""),
    (Player("GuestABCD", registered=True), ""),
    (Player("Guesthouse"), ""),
    (Player("Aguest"), ""),
    (Player("Bob", titles="(C)"), "computer"),
    (Player("Bob", titles="(TM)(C)"), "computer"),
    (Player("Bob", titles="TM C"), "computer"),
    (Player("Bob", titles="(CA)"), ""),
]


@pytest.mark.parametrize(("player", "kind"), PLAYERS)
def test_guests_and_computers_are_the_same_in_a_log_and_in_the_archive(
    tmp_path_factory: pytest.TempPathFactory, player: Player, kind: str
) -> None:
    assert (player.is_guest, player.is_computer) == (kind == "guest", kind == "computer")
    game = make_game(0, black=player)
    game.white = Player("Zoe")
    with ArchiveStore.open(str(tmp_path_factory.mktemp("archive") / "a.db"), create=True) as archive:
        import_bytes(archive, b"log", [game])
        for word, where in (
            ("guest", GameFilter(no_guests=True, min_plies=0)),
            ("computer", GameFilter(no_computers=True, min_plies=0)),
        ):
            taken = Selection(guests=word != "guest", computers=word != "computer").select([game])
            assert archive.count(where) == len(list(taken)) == (kind != word)


def test_a_ply_gives_enums_and_the_movers_clock() -> None:
    ply = Ply(
        7, encode_move("g1f3"), "Nf3", 178_123, 180_000, 1_200, None, None, None, None,
        int(Proof.LIST), int(Origin.DELTA), int(Precision.MILLISECONDS), 0,
    )  # fmt: skip
    assert (ply.proof, ply.origin, ply.precision) == (Proof.LIST, Origin.DELTA, Precision.MILLISECONDS)
    assert all(isinstance(value, Enum) for value in (ply.proof, ply.origin, ply.precision))
    assert ply._replace(precision_code=None).precision is None
    assert (ply.clock_ms, ply._replace(ply=8).clock_ms) == (178_123, 180_000)


def test_a_ply_is_one_line() -> None:
    ply = Ply(7, None, "Nf3", 178_123, None, 1_200, None, None, None, None, 1, 0, int(Precision.MILLISECONDS), 0)
    assert repr(ply) == "Ply 7 4.Nf3 · 1.200 s · clock 0:02:58.123"
    assert repr(ply._replace(precision_code=int(Precision.SECONDS), white_clock_ms=-2_000)) == (
        "Ply 7 4.Nf3 · 1 s · clock -0:00:02"
    )
    assert repr(ply._replace(ply=8, san="e5", elapsed_ms=None)) == "Ply 8 4...e5"


def test_a_player_is_one_line() -> None:
    assert repr(Player("Morphy", titles="(GM)", rating_text="2690", rating=2690)) == "Player Morphy (GM) 2690"
    assert repr(Player("GuestABCD", rating_text="++++")) == "Player GuestABCD ++++"
    assert repr(Player("Ann")) == "Player Ann"


def test_a_game_is_one_line() -> None:
    game = make_game(0)
    game.key, game.white, game.black, game.result = "5b2620ca" + 12 * "0", Player("Morphy"), Player("Anderssen"), "1-0"
    game.base_s, game.increment_s, game.black_base_s, game.black_increment_s = 180, 2, 180, 2
    game.category, game.variant = "blitz", "chess"
    game.segments = [Segment(1, 81, 0)]
    assert repr(game) == str(game) == "Game 5b2620ca Morphy–Anderssen 1-0 · 3+2 blitz · 41 moves"
    game.variant, game.segments = "suicide", [Segment(1, 1, 0)]
    assert repr(game).endswith(" · 3+2 blitz suicide · 1 move")
    game.category, game.base_s, game.black_base_s, game.segments = None, 90, 180, []
    assert repr(game).endswith(" · 1:30+2/3+2 suicide · no moves")
    game.kind, game.base_s, game.black_base_s, game.variant = GameKind.EXAMINED, None, None, None
    assert repr(game) == "Game 5b2620ca Morphy–Anderssen 1-0 · examined · no moves"
