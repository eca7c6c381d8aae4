"""Games that were left and seen again, end to end: what the gap is, and what may fill it."""

import chess
import pytest

from exporters.pgn.exporter import PgnExporter
from recorder.model import Disposition, Origin, Proof
from tests.edge_cases.scripts import PROMPT, Table, details, events, log, only, proved, read, sans

START, JOINED, PLY, GAP = Disposition.START, Disposition.JOINED, Disposition.PLY, Disposition.GAP
OPENING = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7"]


def answer(*moves: str, trailer: str = "{Still in progress} *") -> list[str]:
    halves = [f"{san:<7} (0:0{0 if index < 2 else 3})" for index, san in enumerate(moves)]
    rows = [f"{row + 1:3d}.  {'     '.join(halves[2 * row : 2 * row + 2])}" for row in range((len(halves) + 1) // 2)]
    return [
        "Movelist for game 7:",
        "",
        "Ann (1500) vs. Bob (1600) --- Mon Nov  4, 08:38 UTC 2002",
        "Rated blitz match, initial time: 5 minutes, increment: 0 seconds.",
        "",
        "Move  Ann                Bob",
        "----  ----------------   ----------------",
        *rows,
        f"      {trailer}",
    ]


def left_and_rejoined() -> tuple[Table, list[str]]:
    """Four plies, unobserved, and observed again after the eighth."""
    table = Table()
    lines = [table.observing(), table.header(), table.frame(), *table.plays(*OPENING[:4]), table.removed()]
    for san in OPENING[4:8]:
        shown = table.play(san)
    return table, [*lines, table.observing(), table.header(), shown]


def test_a_game_that_is_joined_after_its_first_move_is_whole() -> None:
    table = Table()
    first = table.play("e4", lag_ms=120, elapsed="(0:07)", white_clock=299, black_clock=295)
    found = read(
        log(table.observing(), table.header(), first, *table.plays("e5", "Nf3"), table.over("Bob resigns", "1-0"))
    )
    game = only(found)
    assert (sans(game), game.start_ply, game.start_fen, game.complete) == (["e4", "e5", "Nf3"], 0, None, True)
    assert proved(game)
    ply = game.plies[0]
    assert (ply.elapsed_ms, ply.lag_ms, ply.white_clock_ms, ply.black_clock_ms) == (7000, 120, 299_000, None)
    assert [(event.detail, event.value) for event in events(game, "gap-filled")] == [("start", 0)]
    assert found.frames(START, JOINED, PLY) == [0, 1, 2]
    # Taken back and played again: the start is known.
    table = Table()
    game = only(read(log(table.play("e4"), table.play("e5"), table.undo(2), table.play("d4"))))
    assert (sans(game), game.start_ply, found.anomalies()) == (["d4"], 0, [])
    assert [ply.san for ply in game.observations[0].lines[1].plies] == ["e4", "e5"]


@pytest.mark.parametrize(
    ("category", "moves", "changes"),
    [
        ("blitz", ["e4", "e5"], {}),
        ("blitz", ["e4"], {"castling": "0 0 0 0"}),
        ("blitz", ["e4"], {"verbose": "P/d2-d4", "pretty": "d4"}),
        ("bughouse", ["e4"], {}),
        ("wild/fr", ["e4"], {"pretty": "exd4"}),
        ("wild", ["e4"], {"verbose": "R/a2-a4", "pretty": "Ra4"}),
        ("capablanca", ["e4"], {"verbose": "P/d2-d4", "pretty": "d4"}),
    ],
)
def test_the_first_board_of_other_joined_games_shows_no_ply(
    category: str, moves: list[str], changes: dict[str, object]
) -> None:
    table = Table()
    table.plays(*moves)
    following = "Nf3" if len(moves) == 2 else "Nc6"
    game = only(read(log(table.observing(), table.header(category), table.frame(**changes), table.play(following))))
    assert sans(game) == [following]
    assert game.start_ply == len(moves)


def test_a_resumed_game_does_not_begin_with_the_move_before() -> None:
    table = Table()
    table.play("e4")
    resumed = "{Game 7 (Ann vs. Bob) Continuing rated blitz match.}"
    game = only(read(log(resumed, table.observing(), table.frame(), table.play("e5"))))
    assert (sans(game), game.start_ply) == (["e5"], 1)
    # Not reported: the number had a game of theirs that was adjourned after this move.
    table = Table()
    lines = [table.observing(), table.frame(), table.play("e4"), table.over("Game adjourned by mutual agreement", "*")]
    games = read(log(*lines, table.observing(), table.frame(), table.play("e5"))).games
    assert [sans(game) for game in games] == [["e4"], ["e5"]]


def test_one_game_with_a_gap() -> None:
    table, lines = left_and_rejoined()
    found = read(log(*lines, *table.plays(*OPENING[8:]), table.over("Bob resigns", "1-0")))
    game = only(found)
    assert [ply.ply for ply in game.plies] == [1, 2, 3, 4, 9, 10]
    assert proved(game)
    assert (game.complete, game.result) == (False, "1-0")
    assert len(game.observations) == 2
    assert details(game, "feed") == ["unobserved"]
    assert [(event.detail, event.value) for event in events(game, "gap")] == [("not observed", 4)]
    assert found.frames(START, PLY, JOINED) == [1, 6, 1]


def test_the_gap_is_filled_by_a_list() -> None:
    for place in ("at once", "after the end"):
        table, lines = left_and_rejoined()
        rest = [*table.plays(*OPENING[8:]), table.over("Bob resigns", "1-0")]
        listed = answer(*OPENING[:8]) if place == "at once" else answer(*OPENING, trailer="{Black resigned} 1-0")
        lines += [*listed, PROMPT, *rest] if place == "at once" else [*rest, *listed]
        game = only(read(log(*lines)))
        assert sans(game) == OPENING
        assert [ply.origin for ply in game.plies] == [Origin.FRAME] * 4 + [Origin.MOVELIST] * 4 + [Origin.FRAME] * 2
        assert [ply.proof for ply in game.plies[4:8]] == [Proof.LIST] * 4
        assert [ply.elapsed_ms for ply in game.plies[4:8]] == [3000] * 4
        assert [ply.white_clock_ms for ply in game.plies[4:8]] == [None] * 4
        assert (game.complete, game.result) == (True, "1-0")
        assert [segment[:2] for segment in game.segments] == [(1, 4), (5, 8), (9, 10)]


@pytest.mark.parametrize(
    ("category", "has_board", "complete"),
    [("wild/fr", False, True), ("wild/fr", True, True), ("wild/2", False, False), ("wild/2", True, True)],
)
def test_a_shuffled_game_is_complete_if_its_start_board_is_known(
    category: str, has_board: bool, complete: bool
) -> None:
    """Of chess960 it follows from a list and the board that was seen."""
    fen = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w - - 0 1"
    table = Table(board=chess.Board(fen.replace("-", "HFhf", 1) if category == "wild/fr" else fen, chess960=True))
    start = table.frame()
    table.plays("e4", "e5")
    listed = [line.replace("blitz", category) for line in answer("e4", "e5")]
    if has_board:
        listed[5:5] = [start, ""]
    joined = [table.observing(), table.header(category), table.frame(), *listed, PROMPT]
    found = read(log(*joined, *table.plays("d3", "d6"), table.over("Bob resigns", "1-0")))
    game = only(found)
    assert sans(game) == ["e4", "e5", "d3", "d6"]
    assert (Proof.UNPROVED in [ply.proof for ply in game.plies]) is not complete
    assert game.complete is complete


def test_a_list_of_another_game_fills_nothing() -> None:
    table, lines = left_and_rejoined()
    other = answer("d4", "d5", "c4", "e6", "Nc3", "Nf6", "Bg5", "Be7")
    found = read(log(*lines, *other, PROMPT, *table.plays(*OPENING[8:])))
    game = next(game for game in found.games if len(game.observations) == 2)
    assert sans(game) == OPENING[:4] + OPENING[8:]
    assert not game.complete


def test_the_same_board_and_the_next_ply_need_no_list() -> None:
    for missed in (0, 1):
        table = Table()
        lines = [table.observing(), table.frame(), *table.plays(*OPENING[:4]), table.removed(), table.observing()]
        lines += [table.play(OPENING[4]) if missed else table.frame()]
        game = only(read(log(*lines, *table.plays(*OPENING[4 + missed : 6]))))
        assert sans(game) == OPENING[:6]
        assert proved(game)
        assert events(game, "gap") == []
        assert details(game, "feed") == ["unobserved", "observed again", "log ends here"]


def test_taken_back_while_unobserved() -> None:
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays(*OPENING[:4]), table.removed()]
    back = table.undo(2)
    game = only(read(log(*lines, table.observing(), back, *table.plays("d4", "exd4"))))
    assert sans(game) == ["e4", "e5", "d4", "exd4"]
    taken = [ply.san for seen in game.observations for line in seen.lines[1:] for ply in line.plies]
    assert taken == ["Nf3", "Nc6"]


@pytest.mark.parametrize("other", [Table(7, "Cid", "Dan"), Table(base=3), Table()], ids=["names", "times", "boards"])
def test_another_game_under_the_number(other: Table) -> None:
    """Names and times may show it; if they are equal, pawns on their first squares again do."""
    lines = left_and_rejoined()[1][:-3]
    other = Table(7, other.white, other.black, base=other.base)
    shown = other.plays("d4", "d5", "c4", "e6", "Nc3", "Nf6")[-1]
    first, second = read(log(*lines, other.observing(), shown, other.play("Bg5"))).games
    assert (sans(first), first.result) == (OPENING[:4], "*")
    assert sans(second) == ["Bg5"]
    assert first.key != second.key


def joined_board(fen: str, verbose: str, pretty: str) -> tuple[Table, str]:
    """A table and the frame by which an observer joins it."""
    table = Table(fen=fen)
    return table, table.frame(verbose=verbose, pretty=pretty)


def test_lost_plies_are_inferred_when_there_is_one_way() -> None:
    table, first = joined_board("k7/8/1K6/8/8/8/8/7R w - - 0 30", "K/b8-a8", "Ka8")
    rook, king, mate = table.plays("Rh7", "Kb8", "Rh8#")
    for seen, inferred in (([rook, king, mate], 0), ([king, mate], 1), ([mate], 2)):
        found = read(log(first, *seen))
        game = only(found)
        assert sans(game) == ["Rh7", "Kb8", "Rh8#"]
        assert [ply.proof for ply in game.plies] == [Proof.INFERRED] * inferred + [Proof.FULL] * (3 - inferred)
        assert [ply.elapsed_ms for ply in game.plies[:inferred]] == [None] * inferred
        assert [event.value for event in events(game, "gap-filled")] == ([inferred] if inferred else [])
        assert found.frames(JOINED, GAP) == [1, min(inferred, 1)]


def test_a_list_prints_the_time_of_a_move_that_was_inferred() -> None:
    table = Table()
    lines = [table.observing(), table.header(), table.frame(), *table.plays(*OPENING[:4]), table.removed()]
    table.play(OPENING[4])
    shown = table.play(OPENING[5])
    lines += [table.observing(), table.header(), shown]
    (inferred,) = [ply for ply in only(read(log(*lines))).plies if ply.ply == 5]
    assert (inferred.san, inferred.proof, inferred.elapsed_ms) == ("Bb5", Proof.INFERRED, None)
    game = only(read(log(*lines, *answer(*OPENING[:6]), PROMPT, *table.plays(*OPENING[6:]))))
    assert sans(game) == OPENING
    assert (game.plies[4].proof, game.plies[4].origin, game.plies[4].elapsed_ms) == (Proof.LIST, Origin.MOVELIST, 3_000)
    assert {ply.proof for ply in game.plies if ply.ply != 5} == {Proof.FULL}


def test_lost_ply_with_more_ways_is_not_invented() -> None:
    """The captured piece may have been any of four promotions."""
    table, first = joined_board("3k4/4P3/8/8/8/8/8/4K3 w - - 0 40", "K/c8-d8", "Kd8")
    table.play("e8=Q+")
    found = read(log(first, table.play("Kxe8"), table.play("Ke2")))
    game = only(found)
    assert [(ply.ply, ply.san, ply.proof) for ply in game.plies] == [
        (80, "Kxe8", Proof.UNPROVED),
        (81, "Ke2", Proof.FULL),
    ]
    assert [(event.detail, event.value) for event in events(game, "gap")] == [("lost", 1)]
    assert found.frames(JOINED, PLY, GAP) == [1, 1, 1]
    assert found.anomalies() == ["gap"]


def test_three_lost_plies_stay_a_gap() -> None:
    table, first = joined_board("k7/8/1K6/8/8/8/8/7R w - - 0 30", "K/b8-a8", "Ka8")
    table.plays("Rh7", "Kb8", "Rh6")
    game = only(read(log(first, table.play("Ka8"))))
    assert [(ply.ply, ply.proof) for ply in game.plies] == [(62, Proof.UNPROVED)]
    assert [event.value for event in events(game, "gap")] == [3]


def test_a_new_session_goes_on_with_the_game() -> None:
    table = Table()
    login = "**** Starting FICS session as Watcher ****"
    logout = "**** Auto-logout because you were idle more than 60 minutes. ****"
    lines = [login, table.observing(), table.header(), table.frame(), *table.plays(*OPENING[:4]), logout]
    for san in OPENING[4:8]:
        shown = table.play(san)
    rejoined = [login, table.observing(), table.header(), shown, *answer(*OPENING[:8]), PROMPT]
    found = read(log(*lines, *rejoined, *table.plays(*OPENING[8:]), table.over("Bob resigns", "1-0")))
    game = only(found)
    assert (sans(game), game.result, game.complete, game.me) == (OPENING, "1-0", True, "Watcher")
    assert details(game, "feed") == ["lost feed"]
    # Another pair under the number: what was lost stays lost, it was not the number that took it.
    other = Table(7, "Cid", "Dan")
    first, second = read(log(*lines, login, other.observing(), other.frame(), other.play("d4"))).games
    assert (sans(first), first.result, first.end) == (OPENING[:4], "*", "lost-feed")
    assert (sans(second), second.end) == (["d4"], "log-ends")


SHUFFLED = "bbqrnnkr/pppppppp/8/8/8/8/PPPPPPPP/BBQRNNKR w KQkq - 0 1"


@pytest.mark.parametrize(
    ("category", "variant", "fen", "moves"),
    [
        ("wild/fr", "chess960", "bbqrnnkr/pppppppp/8/8/8/8/PPPPPPPP/BBQRNNKR w KQkq - 0 1", ["Ng3", "b6", "a3"]),
        ("wild", "wild", "bbqrnnkr/pppppppp/8/8/8/8/PPPPPPPP/BBQRNNKR w KQkq - 0 1", ["g4", "b6", "a3"]),
        ("wild/2", "wild/2", "nqrbkbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w - - 0 1", ["Nb3", "d6", "a3"]),
    ],
)
def test_a_drawn_start_position_follows_from_the_first_board_after_a_quiet_move(
    category: str, variant: str, fen: str, moves: list[str]
) -> None:
    table = Table(board=chess.Board(fen, chess960=True))
    first = table.play(moves[0], elapsed="(0:07)", white_clock=299)
    list_rows = [f"  1.  {moves[0]:<7} (0:07)     {moves[1]:<7} (0:01)"]
    game = only(
        read(
            log(
                table.observing(),
                table.header(category),
                first,
                *table.plays(moves[1]),
                *list_of(table, category, list_rows),
                *table.plays(moves[2]),
                table.over("Bob resigns", "1-0"),
            )
        )
    )
    assert (sans(game), game.start_ply, game.start_fen, game.complete) == (moves, 0, fen, True)
    assert [ply.proof for ply in game.plies] == [Proof.INFERRED, Proof.FULL, Proof.FULL]
    assert (game.variant, game.plies[0].white_clock_ms) == (variant, 299_000)
    assert [(event.detail, event.value) for event in events(game, "gap-filled")] == [("start", 0)]
    text = PgnExporter().game_text(game)
    assert f'[FEN "{fen}"]' in text
    assert f"1. {moves[0]} {{[%clk 0:04:59] [%emt 0:00:07] inferred}} " in text


def list_of(table: Table, category: str, rows: list[str]) -> list[str]:
    return [
        f"Movelist for game {table.number}:",
        "",
        f"{table.white} (1500) vs. {table.black} (1600) --- Thu Nov 24, 04:00 PST 2011",
        f"Rated {category} match, initial time: 5 minutes, increment: 0 seconds.",
        "",
        f"Move  {table.white:<18} {table.black:<18}",
        "----  ----------------   ----------------",
        *rows,
        "      {Still in progress} *",
        "",
    ]


@pytest.mark.parametrize("category", ["wild/fr", "blitz chess960"])
def test_the_start_position_of_chess960_follows_from_a_list_and_a_board(category: str) -> None:
    table = Table(board=chess.Board(SHUFFLED, chess960=True))
    moves = ["Ng3", "b6", "a3", "a6", "Nf5", "Ng6"]
    *_, shown = table.plays(*moves)
    rows = [f"  {n // 2 + 1}.  {moves[n]:<7} (0:01)     {moves[n + 1]:<7} (0:01)" for n in range(0, 6, 2)]
    joined = [table.observing(), table.header(category), shown, *list_of(table, category, rows)]
    found = read(log(*joined, *table.plays("Nxe7+", "Nxe7"), table.over("Bob resigns", "1-0")))
    game = only(found)
    assert (sans(game), game.start_fen, game.variant, game.complete) == (
        [*moves, "Nxe7+", "Nxe7"],
        SHUFFLED,
        "chess960",
        True,
    )
    assert [ply.proof for ply in game.plies] == [Proof.INFERRED, *[Proof.LIST] * 5, Proof.FULL, Proof.FULL]
    assert found.anomalies() == []
    assert PgnExporter().game_text(game).count("[Event ") == 1


def test_a_list_that_leads_to_no_board_of_its_game_shows_no_start_position() -> None:
    table = Table(board=chess.Board(SHUFFLED, chess960=True))
    *_, shown = table.plays("a3", "a6")
    wrong = ["  1.  a3      (0:01)     Nh6     (0:01)  "]  # a list of another game
    game = only(
        read(
            log(table.observing(), table.header("wild/fr"), shown, *list_of(table, "wild/fr", wrong), table.play("h3"))
        )
    )
    assert sans(game)[-1] == "h3"
    assert game.plies[-1].proof == Proof.FULL
    assert SHUFFLED not in str(game.start_fen)


def test_a_shuffled_game_that_was_joined_late_is_one_pgn_game_or_none() -> None:
    """What only a list without a start board shows is a comment."""
    fen = SHUFFLED.replace("KQkq", "-")
    rows = ["  1.  Ng3     (0:01)     b6      (0:01)  ", "  2.  a3      (0:01)     a6      (0:01)  "]
    table = Table(board=chess.Board(fen, chess960=True))
    *_, shown = table.plays("Ng3", "b6", "a3", "a6")
    joined = [table.observing(), table.header("wild/2"), shown, *list_of(table, "wild/2", rows)]
    over = table.over("Bob resigns", "1-0")
    exporter = PgnExporter()
    assert exporter.game_text(only(read(log(*joined, over)))) == ""
    assert exporter.report.excluded == {"games without a known position": 1}
    game = only(read(log(*joined, *table.plays("h3", "h6"), over)))
    text = exporter.game_text(game)
    assert text.count("[Event ") == 1
    assert '[FEN "bbqrnnkr/2pppppp/pp6/8/8/P5N1/1PPPPPPP/BBQRN1KR w - - 0 3"]' in text
    assert "\n{Not proved: 1. Ng3 1... b6 2. a3 2... a6} 3. h3" in text
