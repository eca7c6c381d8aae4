"""What the values can tell about themselves."""

from __future__ import annotations

import pytest

from exporters.base import Selection
from recorder.model import LineKind, Player, Ply, PlyLine
from storage import ArchiveStore, GameFilter
from tests.storage.conftest import import_bytes, make_game

PLAYERS = [
    (Player("GuestABCD"), "guest"),
    (Player("guest4711"), "guest"),
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


def test_titles_one_by_one() -> None:
    assert Player("Ann", titles="(*)(GM)").title_words == ["*", "GM"]
    assert Player("Ann").title_words == []


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


def test_plies_of_a_line_are_named_where_they_stand() -> None:
    rows = [(ply, None, "e4", 1, 2, 3, None, None, 0, 0, 1, 0, 1, 5) for ply in (1, 2)]
    line = PlyLine(0, LineKind.MAIN, None, None, rows)
    assert line.plies is line.rows
    assert [type(ply) for ply in line.plies] == [Ply, Ply]
    rows.append((3, None, "e5", 1, 2, 3, None, None, 0, 0, 1, 0, 1, 6))
    assert [ply.offset for ply in line.plies] == [5, 5, 6]
