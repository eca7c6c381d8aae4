"""Boards of examined games never extend a played game, and may show any position."""

from itertools import pairwise

import chess.variant

from recorder.model import Disposition, GameKind, LineKind, Proof
from tests.edge_cases.scripts import Table, details, log, only, read, sans
from tests.test_pipeline import Archived, by_key, counts, whole

EXAMINED, SETUP = Disposition.EXAMINED, Disposition.SETUP


def test_an_examined_game_with_the_number_of_a_followed_one() -> None:
    table, other = Table(), Table(7, "Carl", "Dora", relation=2)
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5"), other.frame(), *other.plays("d4", "d5")]
    found = read(log(*lines, *table.plays("Nf3", "Nc6"), table.over("Bob resigns", "1-0")))
    games = {game.kind: game for game in found.games}
    assert sans(games[GameKind.PLAYED]) == ["e4", "e5", "Nf3", "Nc6"]
    assert games[GameKind.PLAYED].complete
    assert sans(games[GameKind.EXAMINED]) == ["d4", "d5"]
    assert found.frames(EXAMINED) == [3]


def test_going_back_keeps_the_moves_shown() -> None:
    table = Table(relation=-2)
    game = only(read(log(table.frame(), *table.plays("e4", "e5", "Nf3"), table.undo(2), *table.plays("c5"))))
    assert sans(game) == ["e4", "e5", "Nf3"]
    assert [
        (line.kind, line.parent, line.parent_ply, [ply.san for ply in line.plies])
        for line in game.observations[0].lines[1:]
    ] == [(LineKind.VARIATION, 0, 1, ["c5"])]
    assert (game.kind, game.result) == (GameKind.EXAMINED, "*")


def test_a_position_that_was_set_up() -> None:
    table, placed = Table(relation=2), Table(fen="8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", relation=2)
    lines = [
        table.frame(),
        *table.plays("e4"),
        "Entering setup mode.",
        placed.frame(),
        "Game is validated - entering examine mode.",
    ]
    found = read(log(*lines, *placed.plays("Kd3")))
    game, placed_here = found.games
    assert (game.kind, game.end, sans(game)) == (GameKind.EXAMINED, "reused", ["e4"])
    assert (placed_here.kind, placed_here.start_fen) == (GameKind.SETUP, "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1")
    assert sans(placed_here) == ["Kd3"]
    assert details(game, "examine") == ["shown", "shown", "setup-begin"]
    assert details(placed_here, "examine") == ["shown", "setup-end", "shown", "shown"]
    assert found.frames(SETUP) == [1]
    assert found.anomalies() == []


def loaded(number: int = 5) -> tuple[list[str], list[Table]]:
    """Three games examined under one number: the second starts from its own position, the third has no move."""
    one = Table(number, "Ann", "Bob", relation=-2)
    two = Table(number, "Carl", "Dora", relation=-2, fen="8/8/8/4k3/8/4K3/4P3/8 w - - 0 1")
    three = Table(number, "Eve", "Fay", relation=-2, fen="8/8/8/8/4k3/8/4P3/4K3 w - - 0 1")
    lines = [one.header(), one.observing(), one.frame(), *one.plays("e4", "e5"), f"Game {number}: Bob resigns 1-0"]
    lines += [two.frame(), *two.plays("Kd3", "Kd5"), f"Game {number}: Carl forfeits on time 0-1"]
    lines += [three.frame(), f"Game {number}: Game drawn by stalemate 1/2-1/2", three.removed()]
    return lines, [one, two, three]


def test_each_game_examined_under_one_number_has_its_own_names_result_and_reason() -> None:
    found = read(log(*loaded()[0]))
    assert [
        (game.white.handle, game.black.handle, sans(game), game.result, game.reason_key, game.end, game.white.rating)
        for game in found.games
    ] == [
        ("Ann", "Bob", ["e4", "e5"], "1-0", "resign", "reused", 1500),
        ("Carl", "Dora", ["Kd3", "Kd5"], "0-1", "time", "reused", None),
        ("Eve", "Fay", [], "1/2-1/2", "stalemate", "unobserved", None),
    ]
    assert [game.start_fen for game in found.games] == [
        None,
        "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1",
        "8/8/8/8/4k3/8/4P3/4K3 w - - 0 1",
    ]
    spans = [(game.first_offset, game.last_offset) for game in found.games]
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    assert found.frames(EXAMINED, SETUP) == [5, 2]


def test_another_game_from_the_normal_start_does_not_go_back_in_the_first() -> None:
    one, two = Table(5, "Ann", "Bob", relation=-2), Table(5, "Carl", "Dora", relation=-2)
    lines = [one.frame(), *one.plays("e4", "e5"), "Game 5: Bob resigns 1-0", two.frame(), *two.plays("e4", "c5")]
    found = read(log(*lines, "Game 5: Carl resigns 0-1"))
    assert [(game.kind, game.white.handle, sans(game), game.result) for game in found.games] == [
        (GameKind.EXAMINED, "Ann", ["e4", "e5"], "1-0"),
        (GameKind.EXAMINED, "Carl", ["e4", "c5"], "0-1"),
    ]
    # A line about going back, or the same board with other names, belongs to the same game.
    one, two = Table(5, "Ann", "Bob", relation=-2), Table(5, "Carl", "Dora", relation=-2)
    lines = [one.frame(), *one.plays("e4", "e5"), "Game 5: Zoe backs up 2 moves.", two.frame(), one.frame()]
    assert len(read(log(*lines)).games) == 1


def test_a_game_that_is_loaded_and_gone_through_under_other_names() -> None:
    one = Table(5, "Ann", "Bob", relation=-2)
    two = Table(5, "Carl", "Dora", relation=-2, fen="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBNR w KQkq - 0 1")
    lines = [one.frame(), *one.plays("e4", "e5"), two.frame()]
    two.plays("e4", "e5")
    found = read(log(*lines, "Game 5: Zoe goes forward 3 moves.", two.play("Nf3")))
    assert [(game.white.handle, sans(game)) for game in found.games] == [
        ("Ann", ["e4", "e5"]),
        ("Carl", ["e4", "e5", "Nf3"]),
    ]
    # Read from its middle, without its start.
    one, two = Table(5, "Ann", "Bob", relation=-2), Table(5, "Carl", "Dora", relation=-2)
    lines = [one.frame(), *one.plays("e4", "e5")]
    two.plays("d4", "d5", "c4", "e6", "Nc3", "Nf6", "Bg5", "Be7")
    found = read(log(*lines, two.play("e3"), two.play("O-O")))
    assert [(game.white.handle, game.start_ply, sans(game)) for game in found.games] == [
        ("Ann", 0, ["e4", "e5"]),
        ("Carl", 9, ["O-O"]),
    ]


def test_games_examined_under_one_number_in_a_log_that_grows() -> None:
    data = log(*loaded()[0])
    expected, reference = whole(data)
    for at in range(0, len(data), 13):
        archived = Archived()
        archived.read(data[:at])
        last = archived.read(data)
        assert by_key(archived.games) == by_key(expected), at
        assert counts(last) == counts(reference), at


def test_names_of_an_examined_game_may_change() -> None:
    table = Table(relation=2)
    lines = [table.frame(), *table.plays("e4")]
    table.white = "Carl"
    game = only(read(log(*lines, *table.plays("e5"))))
    assert (game.white.handle, sans(game), details(game, "names")) == ("Carl", ["e4", "e5"], ["names"])


def test_kings_are_only_needed_where_the_rules_need_them() -> None:
    """A study with one king is followed by its boards; suicide continues by its own rules after a king's capture."""
    study = Table(relation=2, fen="8/8/8/8/8/8/4P3/4K3 w - - 0 1", board=None)
    game = only(read(log(study.frame(), study.play("e4"))))
    assert (sans(game), game.plies[0].proof) == (["e4"], Proof.FULL)
    board = chess.variant.SuicideBoard("8/8/8/8/8/8/k7/1K6 w - - 0 1")
    table = Table(1, "Ann", "Bob", board=board, relation=-2)
    header = "Game 1: Ann (0) Bob (0) unrated suicide 5 0"
    found = read(log(header, table.frame(), *table.plays("Kxa2")))
    assert (sans(only(found)), only(found).variant) == (["Kxa2"], "suicide")


def test_a_line_without_a_number_belongs_to_the_only_possible_game() -> None:
    played, examined = Table(), Table(8, "Carl", "Dora", relation=-2)
    word = "Cid(1900) kibitzes: look"
    board = [examined.frame(), *examined.plays("d4")]
    assert [event.text for event in only(read(log(*board, word))).events if event.kind.value == "chat"] == ["look"]
    found = read(log(played.frame(), played.play("e4"), *board, word, played.over("Bob resigns", "1-0"), word))
    chat = {game.kind: details(game, "chat") for game in found.games}
    # While both are in progress it may belong to either; after the end only to the examined game.
    assert chat == {GameKind.PLAYED: [], GameKind.EXAMINED: ["kibitz"]}


def chat_of(data: bytes) -> dict[int | None, list[tuple[str, str]]]:
    """Return, by game number, details and text of its events in order; boards are ``shown``."""
    return {
        game.game_no: [(event.detail, event.text) for event in game.events if event.kind.value == "examine"]
        for game in read(data).games
    }


def test_laskers_low_numbers_while_two_games_are_examined() -> None:
    """In lines about examiners Lasker prints the game number less one, so lines of game 2 would look like game 1's."""
    one = Table(1, "Ann", "Bob", relation=-2, tokens=32)
    two = Table(2, "Cid", "Dan", relation=-2, tokens=32)
    begin = [one.frame(), two.frame()]
    first = ["Game 0: Eve goes forward 1 move.", one.play("e4")]
    second = ["Game 1: Fay goes forward 1 move.", two.play("d4"), "Game 1: Fay backs up 1 move.", two.undo(1)]
    found = chat_of(log(*begin, *first, *second, "Eve is now examiner of game 1."))
    shown = ("shown", "")
    assert found == {
        1: [shown, ("forward", first[0]), shown, ("examiner", "Eve is now examiner of game 1.")],
        2: [shown, ("forward", second[0]), shown, ("backward", second[2]), shown],
    }
    # Other servers print the number itself.
    one, two = Table(1, "Ann", "Bob", relation=-2), Table(2, "Cid", "Dan", relation=-2)
    found = chat_of(log(one.frame(), two.frame(), "Game 1: Eve goes forward 1 move.", one.play("e4")))
    assert found == {1: [shown, ("forward", "Game 1: Eve goes forward 1 move."), shown], 2: [shown]}


def test_lines_without_a_number_while_two_games_are_examined() -> None:
    one = Table(1, "Ann", "Ann", relation=-2, tokens=31)
    two = Table(2, "Cid", "Cid", relation=2, tokens=31)
    lines = [one.frame(), two.frame(), one.play("e4"), "Ann moves: e4", two.play("d4"), "Cid moves: d4"]
    lines += ["Zoe moves: c4", "Ann backs up 1 move.", one.undo(1), "Beginning of game.", two.undo(1)]
    shown = ("shown", "")
    assert chat_of(log(*lines)) == {
        1: [shown, shown, ("move", "Ann moves: e4"), ("backward", "Ann backs up 1 move."), shown],
        2: [shown, shown, ("move", "Cid moves: d4"), ("backward", "Beginning of game."), shown],
    }
