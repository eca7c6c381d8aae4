"""Every shape of holdings, machine line, start and end line and move list that the public excerpts hold."""

import pytest

from recorder.model import Disposition, EventKind, Origin, Precision, Proof
from tests.edge_cases.excerpts import PUBLIC, public
from tests.edge_cases.scripts import Table, log, only, proved, read, sans

START, JOINED, PLY, CONFLICT = Disposition.START, Disposition.JOINED, Disposition.PLY, Disposition.CONFLICT
HOLDINGS, PASS = Disposition.HOLDINGS, Disposition.PASS


# Holdings and other machine lines


def test_forms_of_holdings() -> None:
    table = Table(76)
    lines = [
        table.header("bughouse"),
        table.frame(),
        "<b1> game 76 white [] black []",
        "<b1> game 76 white [B] black [] <- WB",
        "<b1> game 76 white [PPPPNBB] black [BQ] <- BQ",
        "<b1> game 76 white [PRN] black [BQ]",
    ]
    found = read(log(*lines))
    kept = only(found).observations[0].holdings
    assert [(change.white, change.black, change.passed) for change in kept] == [
        ("", "", None),
        ("B", "", "WB"),
        ("PPPPNBB", "BQ", "BQ"),
        ("PNR", "BQ", None),
    ]
    assert found.holdings(HOLDINGS, PASS) == [2, 2]


def test_game_facts_of_both_forms() -> None:
    found = public("fcl-follow-66")
    game = only(found)
    assert (game.white.rating, game.white.sealed, game.white.registered, game.base_s) == (1880, True, True, 60)
    table = Table(1, base=5)
    info = "<g1> 1 p=0 t=blitz r=1 u=1,1 it=300,5 i=480,8 pt=271 rt=1586E,2100  ts=1,0"
    game = only(read(log(info, table.frame())))
    assert (game.partner_game_no, game.white.rating, game.black.sealed) == (271, 1586, False)
    assert (game.black_base_s, game.black_increment_s) == (480, 8)


def test_delta_boards_are_plies() -> None:
    table = Table(399, ms=True)
    lines = [table.frame(), *table.plays("e4", "e5")]
    table.play("Nf3")
    delta = "<d1> 399 3 Nf3 g1f3 100 299900 563"
    found = read(log(*lines, delta, table.play("Nc6")))
    game = only(found)
    assert sans(game) == ["e4", "e5", "Nf3", "Nc6"]
    assert [ply.proof for ply in game.plies] == [Proof.FULL] * 4
    third = game.plies[2]
    assert (third.white_clock_ms, third.black_clock_ms, third.elapsed_ms, third.lag_ms) == (
        299_900,
        None,
        100,
        563,
    )
    assert (third.origin, third.precision) == (Origin.DELTA, Precision.MILLISECONDS)


def test_seeks_offers_and_old_boards_are_no_games() -> None:
    for name in ("pychess-seeks-offers-noise", "knightcap-style11-1997", "mekk-games-listing", "ictk-notifications"):
        found = public(name)
        assert found.games == []
        assert found.report.frames == {}


# Starts, ends and move lists


def test_starts_in_blocks() -> None:
    found = public("pychess-game-starts")
    assert [(game.game_no, game.white.handle, game.category, game.white.rating_text) for game in found.games] == [
        (55, "mgatto", "blitz", "1327"),
        (107, "opmentor", "lightning", "++++"),
        (12, "electricbenj", "wild/fr", "1535"),
        (111, "GuestGTFC", "blitz", "++++"),
    ]
    by_number = {game.game_no: game for game in found.games}
    assert (by_number[111].reason_key, by_number[111].end) == ("aborted-early", "aborted")
    assert found.frames(START, JOINED) == [3, 1]


def test_creating_continuing_and_rating_forms() -> None:
    for text, rating in (
        ("1500", 1500),
        (" 923", 923),
        ("----", None),
        ("++++", None),
        ("1467P", 1467),
        ("2158E", 2158),
    ):
        table = Table()
        header = f"Game 7: Ann ({text}) Bob (1600) rated blitz 5 0"
        game = only(read(log(header, table.frame())))
        assert (game.white.rating, game.white.rating_text) == (rating, text.strip())
    table = Table(166, "xufei", "chessactuary")
    table.plays("e4", "e5")
    continued = "{Game 166 (xufei vs. chessactuary) Continuing rated blitz match.}"
    game = only(read(log(continued, table.frame(), table.play("Nf3"))))
    assert (game.continued, game.rated, game.start_ply) == (True, True, 2)
    notification = "Game notification: vesevwln (1467P) vs. OttoGott (1538P) rated standard 60 15: Game 29"
    assert read(log(notification)).games == []


@pytest.mark.parametrize("category", ["blitz", "lightning", "standard", "untimed", "crazyhouse", "bughouse", "suicide"])
def test_category_words(category: str) -> None:
    table = Table()
    game = only(read(log(table.header(category), table.frame(), table.play("e4"))))
    chess = category in ("blitz", "lightning", "standard", "untimed")
    assert (game.category, game.variant) == (category, "chess" if chess else category)
    assert proved(game)


@pytest.mark.parametrize(
    ("reason", "result", "key", "termination"),
    [
        ("Bob resigns", "1-0", "resign", "normal"),
        ("Bob forfeits on time", "1-0", "time", "time forfeit"),
        ("Bob checkmated", "1-0", "checkmate", "normal"),
        ("Ann's partner won", "1-0", "partner-won", "normal"),
        ("Ann wins by losing all material", "1-0", "suicide-all", "normal"),
        ("Ann wins by having less material (stalemate)", "1-0", "suicide-fewer", "normal"),
        ("Ann wins by stalemate", "1-0", "losers-stalemate", "normal"),
        ("Ann wins by adjudication", "1-0", "adjudicated", "adjudication"),
        ("Bob forfeits by disconnection", "1-0", "disconnect-loss", "abandoned"),
        ("Ann ran out of time and Bob has no material to mate", "1/2-1/2", "time-vs-bare", "normal"),
        ("Game drawn by mutual agreement", "1/2-1/2", "agreed", "normal"),
        ("Game drawn by repetition", "1/2-1/2", "repetition", "normal"),
        ("Game drawn by stalemate", "1/2-1/2", "stalemate", "normal"),
        ("Game drawn because both players ran out of time", "1/2-1/2", "both-flag", "normal"),
        ("Game drawn by the 50 move rule", "1/2-1/2", "fifty", "normal"),
        ("Neither player has mating material", "1/2-1/2", "no-material", "normal"),
        ("Game aborted on move 1", "*", "aborted-early", "abandoned"),
        ("Game aborted by mutual agreement", "*", "aborted-agreed", "abandoned"),
        ("Game adjourned by mutual agreement", "*", "adjourned-agreed", "unterminated"),
        ("Game courtesyadjourned by Ann", "*", "adjourned-courtesy", "unterminated"),
        ("Ann lost connection; game adjourned", "*", "adjourned-lost", "unterminated"),
        ("Ann lost connection and too few moves; game aborted", "*", "aborted-lost", "abandoned"),
    ],
)
def test_end_lines(reason: str, result: str, key: str, termination: str) -> None:
    table = Table()
    game = only(read(log(table.frame(), table.play("e4"), table.over(reason, result))))
    assert (game.result, game.reason, game.reason_key, game.termination) == (result, reason, key, termination)
    assert game.end == next((word for word in ("aborted", "adjourned") if key.startswith(word)), "result")


def test_two_results_glued_together() -> None:
    one, other = Table(22, "Ann", "Bob"), Table(23, "Sordid", "tone")
    glued = one.over("Game adjourned by mutual agreement", "*") + other.over("tone wins by losing all material", "0-1")
    found = read(log(one.frame(), other.frame(), one.play("e4"), other.play("e4"), glued))
    assert {game.game_no: (game.result, game.end) for game in found.games} == {
        22: ("*", "adjourned"),
        23: ("0-1", "result"),
    }


def test_result_inside_a_block_and_lines_of_games_not_seen() -> None:
    assert public("macbeth-draw-accept-202").games == []
    assert public("ictk-gameend-lines").games == []
    assert public("mekk-gameend-lines").games == []
    table = Table(202, "GuestDKZD", "GuestNMNG")
    block = (PUBLIC / "macbeth-draw-accept-202.txt").read_bytes()
    game = only(read(log(table.frame(), table.play("e4")) + block))
    assert (game.result, game.reason_key) == ("1/2-1/2", "agreed")


def test_running_list_joins_the_board() -> None:
    found = public("pychess-observe-463")
    game = only(found)
    assert sans(game)[:4] == ["e4", "e6", "d4", "d5"]
    assert [ply.ply for ply in game.plies][:72] == list(range(1, 73))
    assert [ply.proof for ply in game.plies[:72]] == [Proof.LIST] * 71 + [Proof.FULL]
    # The first board shows the clock of who had just moved; the other one was running.
    assert (game.plies[71].white_clock_ms, game.plies[71].black_clock_ms) == (None, 274_070)
    assert game.plies[20].elapsed_ms == 19 * 60_000 + 59_514
    start = game.observations[0].start
    assert start is not None
    assert (start.ply, start.white_clock_ms, start.black_clock_ms) == (72, 557_871, 274_070)
    # The last boards are the invention of the excerpt's author: one shows a move and the board of another.
    assert found.frames(JOINED, PLY, CONFLICT) == [1, 1, 1]
    assert (game.white.rating, game.black.rating_text) == (2243, "2158E")


def test_stored_list_has_no_number() -> None:
    game = only(public("pychess-stored-list-1"))
    assert (game.game_no, game.white.handle, game.date_text) == (None, "BwanaSlei", "Wed Nov  5, 20:56 PST 2008")
    assert (sans(game), game.result, game.end) == (["e4", "c5", "Nf3"], "*", "adjourned")


@pytest.mark.parametrize(
    ("name", "plies", "first_ms"),
    [("pychess-movelist-64", 6, 4061), ("ictk-movelist-34", 18, 1699), ("fcl-movelist-214-bughouse", 31, 1348)],
)
def test_lists_of_running_games(name: str, plies: int, first_ms: int) -> None:
    found = public(name)
    game = only(found)
    assert [ply.ply for ply in game.plies] == list(range(1, plies + 1))
    assert [ply.proof for ply in game.plies] == [Proof.LIST] * plies
    assert (game.plies[2].elapsed_ms, game.plies[2].precision) == (first_ms, Precision.MILLISECONDS)
    assert (game.result, game.end) == ("*", "log-ends")
    assert found.anomalies() == []


def test_list_of_a_game_without_moves() -> None:
    rows = [
        "Movelist for game 7:",
        "",
        "Ann (1500) vs. Bob (UNR) --- Sat Jan 23, 14:34 EST 2016",
        "Rated blitz match, initial time: 5 minutes, increment: 0 seconds.",
        "",
        "Move  Ann                     Bob",
        "----  ---------------------   ---------------------",
        "  1.  ...     (0:00.000)   ",
        "      {Still in progress} *",
    ]
    table = Table()
    found = read(log(table.frame(), *rows, table.play("e4"), table.play("e5")))
    game = only(found)
    assert sans(game) == ["e4", "e5"]
    assert proved(game)
    assert found.anomalies() == []


def test_a_result_whose_line_end_before_it_was_lost_ends_the_game() -> None:
    table = Table()
    start = [table.header(), table.observing(), table.frame()]
    glued = table.play("e4") + "Bob(1500)[7] kibitzes: hi"
    game = only(read(log(*start, glued, table.play("e5") + table.over("Bob resigns", "1-0"))))
    assert (sans(game), game.result, game.end) == (["e4", "e5"], "1-0", "result")
    assert [event.text for event in game.events if event.kind is EventKind.CHAT] == ["hi"]


def test_the_help_page_about_frames_is_no_game() -> None:
    example = (
        "<12> rnbqkb-r pppppppp -----n-- -------- ----P--- -------- PPPPKPPP RNBQ-BNR"
        " B -1 0 0 1 1 0 7 Newton Einstein 1 2 12 39 39 119 122 2 K/e1-e2 (0:06) Ke2 0"
    )
    for line in (f'"{example}"', f"   {example}", f"For example: {example}"):
        assert read(log("fics% help style12", line)).games == []
