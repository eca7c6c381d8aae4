"""The meaning of a board with the number of a followed game."""

import pytest

from recorder.model import Disposition, Game
from tests.edge_cases.scripts import Found, Table, details, events, log, only, read, sans

START, PLY, SNAPSHOT, SAME = Disposition.START, Disposition.PLY, Disposition.SNAPSHOT, Disposition.SAME


def names(game: Game) -> tuple[str, str]:
    return game.white.handle, game.black.handle


def by_offset(found: Found) -> list[Game]:
    return sorted(found.games, key=lambda game: game.first_offset)


def test_an_unannounced_rematch_is_another_game() -> None:
    """Full clocks on both sides mean a new game: a takeback returns no time."""
    table, rematch = Table(), Table()
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5", "Nf3")]
    lines += [rematch.frame(), *rematch.plays("d4", "d5"), rematch.over("Bob resigns", "1-0")]
    first, second = by_offset(read(log(*lines)))
    assert (sans(first), first.result, first.end) == (["e4", "e5", "Nf3"], "*", "reused")
    assert (sans(second), second.result, second.complete) == (["d4", "d5"], "1-0", True)
    assert events(second, "takeback") == []


def test_all_moves_taken_back_are_no_rematch() -> None:
    """The clocks continue."""
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5", "Nf3"), table.undo(3)]
    game = only(read(log(*lines, *table.plays("d4"), table.over("Bob resigns", "1-0"))))
    assert sans(game) == ["d4"]
    assert details(game, "takeback") == ["3-0"]


def test_a_game_aborted_before_the_first_move_and_restarted_is_two_games() -> None:
    table, restarted = Table(relation=1), Table(relation=1)
    lines = [table.created(), table.frame(), table.over("Game aborted on move 1", "*")]
    lines += [restarted.frame(), *restarted.plays("e4", "e5"), restarted.over("Bob resigns", "1-0")]
    found = read(log(*lines))
    aborted, played = by_offset(found)
    assert (sans(aborted), aborted.end) == ([], "aborted")
    assert (sans(played), played.result) == (["e4", "e5"], "1-0")
    assert found.frames(START, PLY) == [2, 2]


def test_one_board_of_other_players_is_a_snapshot() -> None:
    table, other = Table(), Table(7, "Carl", "Dora")
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5"), other.frame()]
    found = read(log(*lines, *table.plays("Nf3", "Nc6"), table.over("Bob resigns", "1-0")))
    game = only(found)
    assert (sans(game), game.complete) == (["e4", "e5", "Nf3", "Nc6"], True)
    assert names(game) == ("Ann", "Bob")
    assert found.frames(START, PLY, SNAPSHOT) == [1, 4, 1]


def test_two_consecutive_boards_of_other_players_are_a_game() -> None:
    """The end of the one game and the announcement of the other were both lost."""
    table, other = Table(), Table(7, "Carl", "Dora")
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5"), other.frame()]
    found = read(log(*lines, *other.plays("d4", "d5"), other.over("Dora resigns", "1-0")))
    first, second = by_offset(found)
    assert (sans(first), first.end, names(first)) == (["e4", "e5"], "reused", ("Ann", "Bob"))
    assert (sans(second), second.result, names(second)) == (["d4", "d5"], "1-0", ("Carl", "Dora"))
    assert found.frames(START, PLY, SNAPSHOT) == [2, 4, 0]


def test_two_unconnected_boards_of_other_players_are_snapshots() -> None:
    table, other = Table(), Table(7, "Carl", "Dora")
    shown = other.frame(), other.plays("d4", "d5")[-1]
    found = read(log(table.frame(), *table.plays("e4", "e5"), *shown, *table.plays("Nf3")))
    assert sans(only(found)) == ["e4", "e5", "Nf3"]
    assert found.frames(SNAPSHOT) == [2]


@pytest.mark.parametrize("changed", ["white", "black"])
def test_one_name_changes_with_a_new_ply(changed: str) -> None:
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5")]
    setattr(table, changed, "Robert")
    found = read(log(*lines, *table.plays("Nf3", "Nc6"), table.over("Ann resigns", "0-1")))
    game = only(found)
    assert names(game) == (table.white, table.black)
    assert (sans(game), game.result, game.complete) == (["e4", "e5", "Nf3", "Nc6"], "0-1", True)
    assert [(event.ply, event.text) for event in events(game, "names")] == [(2, f"{table.white} {table.black}")]
    assert found.frames(START, PLY, SNAPSHOT) == [1, 4, 0]
    assert [(one.kind.value, one.offset) for one in found.report.anomalies] == [("conflict", game.plies[2].offset)]


@pytest.mark.parametrize("changed", ["white", "black"])
@pytest.mark.parametrize("renamed", [False, True])
def test_one_board_with_another_name_renames_no_game(changed: str, renamed: bool) -> None:
    """The board is of the next ply, or the last one again; later boards have the game's names."""
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5")]
    own = table.white, table.black
    setattr(table, changed, "Robert")
    lines.append(table.frame() if renamed else table.play("Nf3"))
    table.white, table.black = own
    lines += table.plays("Nc6" if not renamed else "Nf3", "Bb5" if not renamed else "Nc6")
    found = read(log(*lines, table.over("Ann resigns", "0-1")))
    game = only(found)
    assert (names(game), game.result, game.complete) == (own, "0-1", True)
    assert len(game.plies) == (4 if renamed else 5)
    assert found.anomalies() == ["conflict"]


def test_a_result_line_decides_between_two_names_of_a_player() -> None:
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5")]
    table.white = "Robert"
    lines.append(table.play("Nf3"))
    renamed = only(read(log(*lines, table.over("Robert resigns", "0-1"))))
    assert (renamed.white.handle, renamed.result, renamed.reason_key) == ("Robert", "0-1", "resign")
    lines += table.plays("Nc6")
    table.white = "Ann"
    kept = only(read(log(*lines, table.over("Ann resigns", "0-1"))))
    assert (kept.white.handle, kept.result) == ("Ann", "0-1")


def test_both_names_change_with_a_new_ply() -> None:
    """Clocks that continue prove the same game; full clocks prove nothing."""
    for before, games in ((("e4", "e5", "Nf3", "Nc6"), 1), (("e4", "e5"), 2)):
        table = Table()
        lines = [table.observing(), table.frame(), *table.plays(*before)]
        table.white, table.black = "Carl", "Dora"
        assert len(read(log(*lines, *table.plays("d4", "d5"))).games) == games


def test_names_of_an_announced_game_are_another_game() -> None:
    """Its first board equals the last board of the game before, or the next one of that game."""
    for moves in ([], ["e4"]):
        table, other = Table(), Table(7, "Carl", "Bob")
        lines = [table.observing(), table.header(), table.frame(), *table.plays(*moves)]
        shown = [other.frame(), *other.plays("e4")][len(moves) :]
        found = read(log(*lines, other.observing(), other.header(), *shown, *other.plays(*["e5"] * len(moves))))
        first, second = by_offset(found)
        assert (names(first), sans(first)) == (("Ann", "Bob"), moves)
        assert (names(second), events(second, "names")) == (("Carl", "Bob"), [])


def test_other_names_after_an_announcement_are_another_game() -> None:
    """A line announced the end of the game: a board that fits does not belong to it."""
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5"), table.created()]
    table.white = "Robert"
    first, second = by_offset(read(log(*lines, *table.plays("Nf3", "Nc6"))))
    assert (sans(first), sans(second)) == (["e4", "e5"], ["Nc6"])


def test_another_time_control_is_no_change_of_names() -> None:
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5")]
    table.white, table.base = "Robert", 3
    found = read(log(*lines, table.play("Nf3")))
    assert sans(only(found)) == ["e4", "e5"]
    assert found.frames(SNAPSHOT) == [1]


def test_move_numbers_may_have_any_length() -> None:
    """Games longer than the table of move numbers are followed as well."""
    table = Table(fen="7k/8/8/8/8/8/8/K6R w - - 0 1100")
    found = read(log(table.frame(verbose="K/h7-h8", pretty="Kh8"), *table.plays("Rg1", "Kh7", "Rh1+")))
    assert [ply.ply for ply in only(found).plies] == [2199, 2200, 2201]
