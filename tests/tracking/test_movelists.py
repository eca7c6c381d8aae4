"""The game of a movelist, and the moves that remain after later takebacks."""

import pytest

from recorder.model import Game, LineKind, Origin, Precision, Proof
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind, detect
from tests.edge_cases.scripts import Table, log, only, read, sans
from tests.tracking.answers import RUNNING, movelist

SPANISH = ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6")


def followed(*moves: str) -> tuple[Table, list[str]]:
    table = Table()
    return table, [table.observing(), table.frame(), *table.plays(*moves)]


def joined(*moves: str) -> tuple[Table, list[str]]:
    """Return a game observed from the board after these moves on."""
    table = Table()
    shown = table.plays(*moves)[-1]
    return table, [table.observing(), shown]


def taken_back(game: Game) -> list[tuple[int | None, list[str]]]:
    return [
        (line.parent_ply, [ply.san for ply in line.plies])
        for seen in game.observations
        for line in seen.lines
        if line.kind is LineKind.TAKEBACK
    ]


@pytest.mark.parametrize("later", [[], ["Bc4"], ["Bc4", "Bc5", "c3"]], ids=["none", "one", "three"])
def test_a_list_does_not_bring_back_what_is_taken_back_after_it(later: list[str]) -> None:
    table, lines = followed(*SPANISH)
    lines += [*movelist(*SPANISH, trailer=RUNNING), table.undo(2), *table.plays(*later)]
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert sans(game) == [*SPANISH[:4], *later]
    assert taken_back(game) == [(4, ["Bb5", "a6"])]
    assert {ply.origin for ply in game.plies} == {Origin.FRAME}


@pytest.mark.parametrize("later", [[], ["Bc4"], ["Bc4", "Bc5", "c3"]], ids=["none", "one", "three"])
def test_joined_then_list_then_takeback(later: list[str]) -> None:
    """The list contains the moves before we joined; moves taken back since are kept beside the game."""
    table, lines = joined(*SPANISH)
    lines += [*movelist(*SPANISH, trailer=RUNNING), table.undo(2), *table.plays(*later)]
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert sans(game) == [*SPANISH[:4], *later]
    assert taken_back(game) == [(4, ["Bb5", "a6"])]
    assert [ply.origin for ply in game.plies[:4]] == [Origin.MOVELIST] * 4


def test_a_list_after_the_takeback_is_used_unchanged() -> None:
    table, lines = joined(*SPANISH)
    moves = (*SPANISH[:4], "Bc4", "Bc5")
    lines += [table.undo(2), *table.plays("Bc4", "Bc5"), *movelist(*moves, trailer=RUNNING)]
    game = only(read(log(*lines)))
    assert sans(game) == list(moves)


STORED = movelist(*SPANISH, number=None, trailer="{Bob resigns} 1-0")


def test_a_stored_game_does_not_join_the_running_one() -> None:
    """Same players, same opening: a list with a final result does not belong to a game in progress."""
    for moves in ([], ["e4"], ["e4", "e5"], ["e4", "e5", "Nf3"]):
        lines = followed(*moves)[1]
        stored, running = read(log(*lines, *STORED)).games[::-1]
        assert (sans(running), running.result, len(running.observations)) == (moves, "*", 1)
        assert (sans(stored), stored.result) == (list(SPANISH), "1-0")


@pytest.mark.parametrize(
    ("moves", "reason", "result"),
    [
        (SPANISH[:2], "Bob resigns", "1-0"),  # shorter
        (SPANISH, "Ann resigns", "0-1"),  # another result
        ((), "Game aborted on move 1", "*"),
    ],
    ids=["length", "result", "aborted before the first move"],
)
def test_a_stored_game_does_not_join_another_one_that_is_over(moves: tuple[str, ...], reason: str, result: str) -> None:
    table, lines = followed(*moves)
    games = read(log(*lines, table.over(reason, result), *STORED)).games
    live = next(game for game in games if game.game_no == 7)
    stored = next(game for game in games if game.game_no is None)
    assert (sans(live), live.result, len(live.observations)) == (list(moves), result, 1)
    assert (sans(stored), stored.result) == (list(SPANISH), "1-0")


def test_a_stored_game_joins_the_game_it_is_of() -> None:
    table, lines = joined(*SPANISH[:4])
    lines += [*table.plays(*SPANISH[4:]), table.over("Bob resigns", "1-0"), *STORED]
    game = only(read(log(*lines)))
    assert sans(game) == list(SPANISH)
    assert (game.result, game.complete) == ("1-0", True)


def test_times_distinguish_stored_games_with_the_same_moves() -> None:
    """The game has no result: only the times of its moves show whether the list belongs to it."""
    for elapsed, games in (("0:02", 1), ("0:07", 2)):
        table, lines = followed(*SPANISH)
        stored = movelist(*SPANISH, number=None, trailer="{Bob resigns} 1-0", elapsed=elapsed)
        assert len(read(log(*lines, table.removed(), *stored)).games) == games


def test_lists_alone() -> None:
    longer, shorter = (movelist(*SPANISH[:end], number=None, trailer="{Bob resigns} 1-0") for end in (6, 4))
    assert [sans(game) for game in read(log(*longer, *longer)).games] == [list(SPANISH)]
    both = [sans(game) for game in read(log(*longer, *shorter)).games]
    assert sorted(map(len, both)) == [4, 6]


def test_two_lists_of_a_running_game_are_one_game() -> None:
    lists = [*movelist(*SPANISH[:4], trailer=RUNNING), *movelist(*SPANISH, trailer=RUNNING)]
    assert sans(only(read(log(*lists)))) == list(SPANISH)


def test_a_list_with_a_move_that_cannot_be_played() -> None:
    found = read(log(*movelist("e4", "e5", "Ng4", "Nc6", number=None, trailer="{Bob resigns} 1-0")))
    assert found.anomalies() == ["movelist"]
    assert [(ply.san, ply.move is None) for ply in found.games[0].plies] == [
        ("e4", False), ("e5", False), ("Ng4", True), ("Nc6", True),
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(6))
def test_a_text_of_a_list_that_is_no_move(place: int) -> None:
    """What stands before it is proved, what follows keeps its side, and the result counts."""
    moves = list(SPANISH)
    moves[place] = "Nf6/H"
    found = read(log(*movelist(*moves, number=None, trailer="{Bob resigns} 1-0")))
    assert found.anomalies() == ["movelist"]
    (game,) = found.games
    assert sans(game) == moves
    assert [ply.proof is Proof.LIST for ply in game.plies] == [at < place for at in range(6)]
    assert (game.result, game.end, game.complete) == ("1-0", "result", False)
    table, lines = followed(*SPANISH)
    lines += [*movelist(*moves, trailer=RUNNING), table.over("Bob resigns", "1-0")]
    assert sans(only(read(log(*lines)))) == list(SPANISH)


def test_the_list_of_a_seirawan_game_begins_with_the_usual_pieces() -> None:
    lines = movelist("e4", "e5", "Nf3/E", number=None, trailer="{Bob resigns} 1-0")
    lines[2] = lines[2].replace("blitz", "seirawan/0")
    (game,) = read(log(*lines)).games
    assert game.variant == "seirawan"
    assert [ply.proof for ply in game.plies] == [Proof.LIST, Proof.LIST, Proof.UNPROVED]


MOVES = ("e4", "e5", "Nf3", "Nc6")


def test_a_running_games_list_waits_for_its_first_board() -> None:
    table = Table()
    table.plays(*MOVES)
    lines = [*movelist(*MOVES, trailer=RUNNING), table.observing(), table.frame(), *table.plays("Bb5")]
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert (sans(game), game.complete) == ([*MOVES, "Bb5"], True)


def test_a_list_without_a_number_waits_for_the_first_board_that_it_fits() -> None:
    table = Table(9)
    table.plays(*MOVES)
    listed = movelist(*MOVES, trailer=RUNNING, number=None)
    shown = [table.header(), table.observing(), table.frame(), *table.plays("Bb5"), table.over("Bob resigns", "1-0")]
    game = only(read(log(*listed, *shown)))
    assert (game.game_no, sans(game), game.complete, game.white.rating) == (9, [*MOVES, "Bb5"], True, 1500)
    others = [
        movelist("d4", *MOVES[1:], trailer=RUNNING, number=None),
        movelist(*MOVES[:3], trailer=RUNNING, number=None),
        movelist(*MOVES, trailer="{Bob resigns} 1-0", number=None),
        movelist(*MOVES, trailer=RUNNING, number=None, names="Ann Cid"),
    ]
    for other in others:
        games = read(log(*other, *shown)).games
        assert sorted((one.game_no is None, sans(one)) for one in games)[0] == (False, ["Bb5"])
        assert len(games) == 2


def test_a_first_board_that_two_lists_fit_is_joined_to_none() -> None:
    table = Table(9)
    table.plays(*MOVES)
    lists = [movelist(*MOVES, *more, trailer=RUNNING, number=None) for more in (["Bb5"], ["Bc4"])]
    shown = [table.header(), table.observing(), table.frame(), *table.plays("Bb5"), table.over("Bob resigns", "1-0")]
    games = read(log(*lists[0], *lists[1], *shown)).games
    assert sorted((game.game_no or 0, sans(game)) for game in games) == [
        (0, [*MOVES, "Bb5"]), (0, [*MOVES, "Bc4"]), (9, ["Bb5"]),
    ]  # fmt: skip


def test_a_running_games_list_does_not_belong_to_the_next_number() -> None:
    table = Table(8)
    table.plays(*MOVES)
    games = read(log(*movelist(*MOVES, trailer=RUNNING), table.observing(), table.frame(), *table.plays("Bb5"))).games
    assert sorted((game.game_no, sans(game)) for game in games) == [(7, list(MOVES)), (8, ["Bb5"])]


def test_a_list_without_its_last_line_is_reported() -> None:
    found = read(log(*movelist(*MOVES, trailer=RUNNING)[:-1], "fics% "))
    assert found.anomalies() == ["cut"]
    assert sans(only(found)) == list(MOVES)


def test_no_more_lists_are_kept_than_needed() -> None:
    """The games of a long answer to many ``smoves`` are emitted early, each once."""
    names = [f"A{chr(97 + at % 26)}{chr(97 + at // 26)} Bob" for at in range(70)]
    lines = [line for pair in names for line in movelist(*MOVES, trailer="{Bob resigns} 1-0", number=None, names=pair)]
    pipeline = Pipeline(SourceKind.RAW)
    early = pipeline.receive(log(*lines))
    late = pipeline.finish()
    assert len(early) >= 5
    assert sorted(game.white.handle for game in early + late) == sorted(pair.split()[0] for pair in names)


def test_two_lists_with_equal_moves_that_began_at_different_times_are_two_games() -> None:
    listed = movelist(*MOVES, trailer="{Bob resigns} 1-0", number=None)
    later = [line.replace("08:38", "08:41") for line in listed]
    games = read(log(*listed, *later, *listed)).games
    assert sorted(game.date_text or "" for game in games) == [
        "Mon Nov  4, 08:38 UTC 2002",
        "Mon Nov  4, 08:41 UTC 2002",
    ]


# The move on the board with which the game is joined


@pytest.mark.parametrize("first", ["board", "list"])
def test_the_move_of_the_board_on_joining_keeps_its_times(first: str) -> None:
    table = Table(ms=True)
    table.plays("e4", "e5", "Nf3", "Nc6")
    joined = table.play("Bb5", elapsed_ms=3_123, lag_ms=57)
    listed = movelist(*MOVES, "Bb5", trailer=RUNNING, elapsed="0:03")
    lines = [table.header(), joined, *listed] if first == "board" else [*listed, table.header(), joined]
    game = only(read(log(*lines, *table.plays("a6"), table.over("Bob resigns", "1-0"))))
    assert (sans(game), game.complete) == ([*MOVES, "Bb5", "a6"], True)
    shown = game.plies[4]
    # Black's clock was running, and the board arrived when we joined: neither time belongs to the move.
    assert (shown.white_clock_ms, shown.black_clock_ms, shown.at_ms) == (table.clocks[0], None, None)
    assert (shown.elapsed_ms, shown.lag_ms, shown.precision) == (3_123, 57, Precision.MILLISECONDS)
    assert (shown.proof, shown.origin) == (Proof.FULL, Origin.MOVELIST)


def test_a_move_repeated_after_a_takeback_keeps_the_time_of_its_list() -> None:
    table = Table()
    table.plays("e4", "e5", "Nf3", "Nc6")
    joined = table.play("Bb5", elapsed_ms=40_000)
    listed = movelist(*MOVES, "Bb5", trailer=RUNNING)
    game = only(read(log(table.header(), joined, *listed, *table.plays("a6"))))
    assert (game.plies[4].elapsed_ms, game.plies[4].white_clock_ms) == (2_000, None)


# Tables whose header the log lacks


def _cut(lines: list[str], first: str) -> list[str]:
    """Return the lines from the one that begins like this."""
    return lines[next(index for index, line in enumerate(lines) if line.startswith(first)) :]


_MOVES = ("e4", "e5", "Nf3", "Nc6", "Bb5")


@pytest.mark.parametrize("first", ["Move ", "----", "  1."])
@pytest.mark.parametrize("numbered", [True, False])
def test_a_table_without_its_header_joins_the_game_that_it_fits(first: str, numbered: bool) -> None:
    table = Table()
    table.plays(*_MOVES[:4])
    shown = [table.header(), table.frame(), table.play("Bb5")]
    listed = _cut(movelist(*_MOVES, trailer="{Still in progress} *"), first)
    listed = ["Movelist for game 7:", "", *listed] if numbered else listed
    found = read(log(*shown, *listed, table.over("Bob resigns", "1-0")))
    game = only(found)
    assert sans(game) == list(_MOVES)
    assert (game.start_ply, game.white.handle, game.complete) == (0, "Ann", True)
    assert found.anomalies() == []


def test_a_table_without_its_header_has_the_names_above_its_columns() -> None:
    data = log(*_cut(movelist(*_MOVES, trailer="{White resigned} 0-1"), "Move "))
    assert detect(data) is SourceKind.RAW
    found = read(data)
    game = only(found)
    assert (game.white.handle, game.black.handle, game.white.rating, game.result) == ("Ann", "Bob", None, "0-1")
    assert sans(game) == list(_MOVES)
    assert [(one.kind.value, one.offset) for one in found.report.anomalies] == [("movelist", 0)]


@pytest.mark.parametrize("first", ["----", "  1."])
def test_a_table_without_names_is_an_anomaly_with_its_place(first: str) -> None:
    before = log("fics% ", "Ann(1500)[7] kibitzes: hello")
    data = before + log(*_cut(movelist(*_MOVES, trailer="{White resigned} 0-1"), first))
    assert detect(data[len(before) :]) is SourceKind.RAW
    found = read(data)
    assert found.games == []
    assert [(one.kind.value, one.offset) for one in found.report.anomalies] == [("movelist", len(before))]


@pytest.mark.parametrize("before", [[], ["Move  Ann                Bob", "----  ----------------   ----------------"]])
def test_a_table_without_its_first_moves_is_an_anomaly_with_its_place(before: list[str]) -> None:
    table = Table()
    table.plays(*_MOVES)
    shown = log(table.header(), table.frame())
    found = read(shown + log(*before, *_cut(movelist(*_MOVES, trailer=RUNNING), "  2."), table.play("a6")))
    assert sans(only(found)) == ["a6"]
    assert [(one.kind.value, one.offset) for one in found.report.anomalies] == [("movelist", len(shown))]


def test_a_table_that_fits_two_games_is_joined_to_none() -> None:
    tables = [Table(), Table(8, "Cid", "Dee")]
    shown = [line for table in tables for line in (table.header(), table.frame(), table.play("e4"))]
    found = read(log(*shown, *_cut(movelist("e4", trailer="{Still in progress} *"), "----")))
    assert [sans(game) for game in found.games] == [["e4"], ["e4"]]
    assert found.anomalies() == ["movelist"]


def test_lines_that_only_resemble_the_begin_of_a_table_are_ignored() -> None:
    found = read(log("Move  your pieces", "and think.", "----  ----------------   ----------------", "That was all."))
    assert (found.games, found.anomalies()) == ([], [])
