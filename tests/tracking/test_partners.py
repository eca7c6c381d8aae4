"""Ends of bughouse games that were decided on the other board, in the words of every server."""

from __future__ import annotations

import chess.variant
import pytest

from recorder.model import EventKind
from tests.edge_cases.scripts import Table, log, read
from tests.relating.matches import games_of

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
        # Only one board is seen: that its line is the other's reason cannot be told from what this server prints.
        ("observer_GuestXp", [], ["checkmate", "resign"]),
    ],
)
def test_the_same_reason_on_both_boards(scenario: str, connection: str, karpov: list[str], spassky: list[str]) -> None:
    """Petrosian was mated in the first match; in the second one Fischer resigned."""
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


def test_who_observes_both_boards_is_told_of_the_deciding_one_last() -> None:
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
