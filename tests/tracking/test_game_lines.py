"""Lines beside the boards: ``<g1>``, replies in blocks, starts and results of other games."""

import chess.variant
import pytest

from recorder.dialects.session import LIST_BLOCKS, STORED_BLOCKS, TEXT_BLOCKS
from recorder.model import Disposition, EventKind, Game
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from tests.edge_cases.scripts import Table, details, events, log, only, read, sans
from tests.relating.matches import games_of
from tests.support import corpus, product
from tests.test_pipeline import Archived
from tests.tracking.answers import movelist

ODDS = "<g1> 7 p=0 t=blitz r=1 u=0,1 it=90,2 i=300,0 pt=12 rt=1800E,1900P ts=1,0 m=2 n=1"


def block(code: int, *lines: str, number: int = 3) -> list[str]:
    """Return a reply in a block."""
    return [f"\x15{number}\x16{code}\x16{lines[0]}", *lines[1:], "\x17"]


# -- <g1> -----------------------------------------------------------------------------------------------------------


def test_every_field_of_a_g1_is_stored_in_the_game() -> None:
    table = Table(base=1, increment=2, clocks=(90_000, 300_000))
    game = only(read(log(ODDS, table.frame(), *table.plays("e4", "e5"))))
    assert (game.category, game.rated, game.partner_game_no) == ("blitz", True, 12)
    assert (game.base_s, game.increment_s, game.black_base_s, game.black_increment_s) == (90, 2, 300, 0)
    white, black = game.white, game.black
    assert [(who.rating_text, who.rating, who.registered, who.sealed) for who in (white, black)] == [
        ("1800E", 1800, True, True),
        ("1900P", 1900, False, False),
    ]


def test_odds_where_the_frame_prints_the_other_side() -> None:
    table = Table(base=5, clocks=(90_000, 300_000))
    game = only(read(log(ODDS, table.frame(), table.play("e4"))))
    assert (game.base_s, game.increment_s, game.black_base_s, game.black_increment_s) == (90, 2, 300, 0)


def test_ten_seconds_that_are_printed_are_not_inferred() -> None:
    table = Table(base=0, increment=12, clocks=(10_000, 10_000))
    info = "<g1> 7 p=0 t=lightning r=0 it=10,12 i=10,12"
    for lines, inferred in (([info], False), ([], True)):
        game = only(read(log(*lines, table.frame())))
        assert (game.base_s, game.increment_s, game.base_inferred) == (10, 12, inferred)


def test_a_rating_of_zero_is_no_rating() -> None:
    table = Table()
    info = "<g1> 7 p=0 t=blitz r=0 u=1,0 it=300,0 i=300,0 pt=0 rt=0,1600 ts=0,0"
    game = only(read(log(info, table.frame(), table.play("e4"))))
    assert (game.white.rating_text, game.white.rating, game.black.rating) == (None, None, 1600)
    table = Table()
    game = only(read(log(info, "Game 7: Ann (++++) Bob (1600) unrated blitz 5 0", table.frame(), table.play("e4"))))
    assert (game.white.rating_text, game.white.rating, game.white.registered) == ("++++", None, False)


def test_a_private_game_is_marked_private() -> None:
    for private in (0, 1):
        table = Table()
        game = only(read(log(f"<g1> 7 p={private} t=blitz r=0", table.frame(), table.play("e4"))))
        assert details(game, "notice") == ["private-game"] * private


def test_a_g1_during_a_game_belongs_to_it_if_the_game_continues() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5"), ODDS, table.play("Nf3")]
    for end in ([table.over("Bob resigns", "1-0")], [], [table.removed()]):
        game = only(read(log(*lines, *end)))
        assert (game.white.rating, game.white.sealed, game.partner_game_no) == (1800, True, 12)


def test_a_g1_of_the_numbers_next_game_does_not_belong_to_the_last_one() -> None:
    table, later = Table(), Table(white="Cid", black="Dora")
    lines = [table.frame(), *table.plays("e4", "e5"), ODDS, later.observing(), later.frame(), *later.plays("d4", "d5")]
    first, second = read(log(*lines)).games
    assert [(game.white.handle, game.white.rating) for game in (first, second)] == [("Ann", None), ("Cid", 1800)]


def test_the_g1_of_a_rejoined_game_is_not_that_of_the_next_game() -> None:
    table = Table()
    lines = [ODDS, table.frame(), *table.plays("e4", "e5"), table.removed(), ODDS, table.observing(), table.frame()]
    later = Table(white="Cid", black="Dora")
    second = "<g1> 7 p=0 t=standard r=0 it=300,0 i=300,0"
    lines += [table.play("Nf3"), table.removed(), second, later.observing(), later.frame(), later.play("d4")]
    games = read(log(*lines)).games
    assert [(game.white.handle, game.white.rating, game.category) for game in games] == [
        ("Ann", 1800, "blitz"),
        ("Cid", None, "standard"),
    ]


# -- blocks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", sorted(STORED_BLOCKS))
def test_boards_and_holdings_of_stored_games_do_not_change_a_game_in_progress(code: int) -> None:
    table = Table()
    stored = Table(base=10)
    stored.plays("e4", "c5")
    begin = [table.frame(), *table.plays("e4", "e5")]
    shown = block(code, stored.play("Nc3"), "<b1> game 7 white [Q] black [P]")
    found = read(log(*begin, *shown, table.play("Nf3")))
    assert (sans(only(found)), only(found).variant) == (["e4", "e5", "Nf3"], "chess")
    assert found.frames(Disposition.SNAPSHOT) == [1]
    assert found.holdings(Disposition.FOREIGN) == [1]


@pytest.mark.parametrize("code", [81, 123])
def test_a_stored_games_list_is_not_joined_to_the_game_in_progress(code: int) -> None:
    table = Table()
    begin = table.plays("e4", "e5", "Nf3")[-1:]
    listed = movelist("e4", "e5", "Nf3", "Nc6", trailer="{Game adjourned by mutual agreement} *", number=None)
    games = {game.game_no: sans(game) for game in read(log(*begin, *block(code, *listed), table.play("Nf6"))).games}
    assert games == {7: ["Nf6"], None: ["e4", "e5", "Nf3", "Nc6"]}
    # After the end it may belong to this game: oldmoves requests it.
    over = [table.over("Ann resigns", "0-1")]
    final = movelist("e4", "e5", "Nf3", "Nf6", trailer="{Ann resigns} 0-1", number=None)
    table = Table()
    game = only(read(log(*table.plays("e4", "e5", "Nf3")[-1:], table.play("Nf6"), *over, *block(code, *final))))
    assert sans(game) == ["e4", "e5", "Nf3", "Nf6"]


def test_the_answer_to_moves_belongs_to_its_game() -> None:
    table = Table()
    listed = movelist("e4", "e5", "Nf3", trailer="{Still in progress} *")
    hands = "<b1> game 7 white [] black [Q]"
    found = read(log(table.plays("e4", "e5", "Nf3")[-1], *block(77, *listed, hands), table.play("Nc6")))
    assert (sans(only(found)), only(found).variant) == (["e4", "e5", "Nf3", "Nc6"], "chess")


@pytest.mark.parametrize("code", sorted(TEXT_BLOCKS))
def test_texts_written_by_users_are_no_data(code: int) -> None:
    table, other = Table(), Table(8, "Cid", "Dora")
    shown = block(code, other.frame(), table.over("Ann resigns", "0-1"), "<g1> 7 p=0 t=crazyhouse r=1")
    game = only(read(log(table.frame(), *shown, table.play("e4"))))
    assert (game.result, game.category, sans(game)) == ("*", None, ["e4"])


@pytest.mark.parametrize("code", [0, 1, 10, 16, 80, 101, 145, 158, 512, 519, 520, 999_999_999])
def test_other_or_missing_codes_change_nothing(code: int) -> None:
    assert code not in TEXT_BLOCKS | LIST_BLOCKS
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5"), table.over("Bob resigns", "1-0")]
    bare = only(read(log(*lines)))
    found = only(read(log(*[part for line in lines for part in block(code, line)])))
    assert (sans(found), found.result, found.complete) == (sans(bare), "1-0", True)


def test_a_block_that_is_cut_or_nested_keeps_what_is_in_it() -> None:
    table, stored = Table(), Table(7, "Cid", "Dora")
    first, e4, e5 = table.frame(), table.play("e4"), table.play("e5")
    inner = f"\x151\x1680\x16{first}\n\x152\x16125\x16{stored.play('d4')}\n\x17{e4}\n\x17\n{e5}"
    found = read(log(inner))
    assert (sans(only(found)), found.frames(Disposition.SNAPSHOT)) == (["e4", "e5"], [1])
    cut = f"{first}\n\x152\x16125\x16{stored.frame()}\n\x153\x161\x16{e4}\n\x17{e5}"  # its end is missing
    found = read(log(cut))
    assert (sans(only(found)), found.frames(Disposition.SNAPSHOT)) == (["e4", "e5"], [1])


# -- gin and allresults ---------------------------------------------------------------------------------------------

OTHERS = [
    "{Game 30 (Cid vs. Dora) Creating rated blitz match.}",
    "{Game 31 (Ed vs. Fay) Continuing rated standard match.}",
    "{Game 30 (Cid vs. Dora) Cid resigns} 0-1",
    "{Game 7 (Cid vs. Dora) Dora forfeits on time} 1-0",
]


def _elsewhere(found: Pipeline) -> dict[str, int]:
    return found.report.elsewhere


def test_starts_and_results_of_other_games_are_counted_and_make_none() -> None:
    table = Table()
    found = read(log(table.frame(), *OTHERS, table.play("e4"), table.over("Bob resigns", "1-0"), *OTHERS))
    assert (only(found).result, found.report.elsewhere) == ("1-0", {"starts": 4, "results": 4})
    assert read(log(*OTHERS)).games == []


def test_starts_and_results_of_others_are_counted_once_when_the_log_grows() -> None:
    table = Table()
    data = log(table.frame(), *OTHERS, table.play("e4"), *OTHERS, table.over("Bob resigns", "1-0"))
    archived = Archived(SourceKind.RAW)
    for end in (len(data) // 3, len(data) // 2, len(data)):
        last = archived.read(data[:end])
    assert _elsewhere(last) == {"starts": 4, "results": 4}


def test_a_start_line_of_a_followed_game_is_a_fact() -> None:
    table = Table()
    lines = [table.created("standard"), table.observing(), table.frame(), table.play("e4"), table.removed()]
    game = only(read(log(*lines, table.over("Bob forfeits on time", "1-0"))))
    assert (game.category, game.rated, game.result, game.end) == ("standard", True, "1-0", "result")


def test_an_announcement_after_the_first_board_begins_no_other_game() -> None:
    table = Table()
    lines = [table.frame(), table.created("standard"), table.frame(), *table.plays("e4", "e5")]
    game = only(read(log(*lines)))
    assert (game.category, sans(game), len(events(game, "result"))) == ("standard", ["e4", "e5"], 0)


def test_the_connection_with_allresults_and_gin_has_only_its_own_games() -> None:
    games, report = product.run([corpus.stream_bytes("a09_ivariables", "observer_GuestIvf")], "raw")
    truth: list[Game] = [game for game in games if {game.white.handle, game.black.handle} == {"Short", "Anand"}]
    assert games == truth
    assert len(games) == 3
    assert report.elsewhere.keys() <= {"starts", "results"}


RESIGNS_A, RESIGNS_B = "{Game 12 (Ann vs. Bob) Bob resigns} 1-0", "{Game 13 (Cid vs. Dee) Cid resigns} 0-1"


def keys(scenario: str, connection: str) -> list[tuple[str, str | None]]:
    return [(game.white.handle, game.reason_key) for game in games_of(scenario, connection)]


@pytest.mark.parametrize("scenario", ["b06_bughouse", "c06_bughouse"])
@pytest.mark.parametrize(
    ("connection", "karpov", "spassky"),
    [
        ("observer_GuestXo", ["partner-decided", "resign"], ["checkmate", "partner-decided"]),
        ("player_Karpov", ["partner-decided", "resign"], []),
        ("player_Fischer", ["partner-decided", "resign"], []),
        ("player_Spassky", [], ["checkmate", "partner-decided"]),
        ("player_Petrosian", [], ["checkmate", "partner-decided"]),
        # Only one board is seen: this server's line does not show that its reason belongs to the other board.
        ("observer_GuestXp", [], ["checkmate", "resign"]),
    ],
)
def test_the_same_reason_on_both_boards(scenario: str, connection: str, karpov: list[str], spassky: list[str]) -> None:
    """Petrosian was mated in the first match; Fischer resigned in the second one."""
    found = keys(scenario, connection)
    assert [key for white, key in found if white == "Karpov"] == karpov
    assert [key for white, key in found if white == "Spassky"] == spassky


def test_a_server_that_says_whose_partner_won() -> None:
    assert keys("a12_bughouse", "observer_GuestBga") == [
        ("Karpov", "partner-won"),
        ("Spassky", "checkmate"),
        ("Karpov", "resign"),
        ("Spassky", "partner-won"),
        ("Karpov", "resign"),
        ("Spassky", "partner-won"),
    ]


def begun(table: Table) -> list[str]:
    return [table.header("bughouse"), table.frame(), table.hands(), *table.plays("e4")]


def observed(*ends: str) -> list[tuple[str | None, list[str]]]:
    tables = (
        Table(12, "Ann", "Bob", board=chess.variant.CrazyhouseBoard()),
        Table(13, "Cid", "Dee", board=chess.variant.CrazyhouseBoard()),
    )
    lines = [
        line
        for table in tables
        for line in (table.header("bughouse"), table.frame(), table.hands(), *table.plays("e4"))
    ]
    games = sorted(read(log(*lines, *ends)).games, key=lambda game: game.game_no or 0)
    return [
        (game.reason_key, [event.detail for event in game.events if event.kind is EventKind.RESULT]) for game in games
    ]


def test_an_observer_of_both_boards_gets_the_deciding_end_last() -> None:
    decided, other = ("resign", ["resign"]), ("partner-decided", ["partner-decided"])
    assert observed(RESIGNS_A, RESIGNS_B) == [other, decided]
    assert observed(RESIGNS_B, RESIGNS_A) == [decided, other]


@pytest.mark.parametrize(
    "ends",
    [
        (RESIGNS_A, "{Game 13 (Cid vs. Dee) Cid forfeits on time} 0-1"),
        (RESIGNS_A, "{Game 13 (Cid vs. Dee) Dee resigns} 1-0"),
        (
            RESIGNS_A,
            *["Ann(1500)[12] kibitzes: thanks for the game, it was a pleasure to play with you all"] * 15,
            RESIGNS_B,
        ),
    ],
)
def test_ends_that_do_not_belong_together(ends: tuple[str, ...]) -> None:
    assert all(key in ("resign", "time") for key, _ in observed(*ends))
