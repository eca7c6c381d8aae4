"""The list of a player's last games."""

import pytest

from recorder.dialects.lists import HistoryRow, is_no_history, parse_history_head, parse_history_row

FICS_MS = 1_322_173_080_000  # 2011-11-24 22:18 UTC


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (
            "22: - 1513 B 2052 VerdantNew    [ br  3   0] B00 Res Thu Nov 24, 16:18 CST 2011",
            HistoryRow(22, False, "VerdantNew", False, "1-0", FICS_MS, True),
        ),
        (
            " 7: + 1513 W ++++ GuestABCDEFGH  [ bu  3   0] --- Fla Thu Nov 24, 16:18 CST 2011",
            HistoryRow(7, True, "GuestABCDEFGH", True, "1-0", FICS_MS, True),
        ),
        (
            "12: = 1500 W 1600 Anand         [ br  5   0] A00 NM  Thu Nov 24 22:18:00 2011",
            HistoryRow(12, True, "Anand", False, "1/2-1/2", FICS_MS, False),
        ),
        (
            " 0: + 1225 B 2204 BotAt         [bnr 10   2] A00 Res 2011-11-24 22:18 UTC",
            HistoryRow(0, False, "BotAt", False, "0-1", FICS_MS, True),
        ),
        (
            "99: - ---- B ---- BotAtAtAtAtAtA[b9u120  12] A00 Mat 2011-11-24 22:18 UTC",
            HistoryRow(99, False, "BotAtAtAtAtAtA", True, "1-0", FICS_MS, True),
        ),
        (
            "67: + 1956 B 2132 gnusurf      [ bu  2  12] B01 Mat Nov 24 11 22:18",
            HistoryRow(67, False, "gnusurf", False, "0-1", FICS_MS, False),
        ),
        (
            "68: a 1956 W 2132 gnusurf      [22r 45   0] B01 Agr Nov 24 94 22:18",
            HistoryRow(68, True, "gnusurf", False, "*", 785_715_480_000, False),
        ),
        (
            "12: = 1500 W 1600 Anand         [ br  5   0] A00 Agr somewhen",
            HistoryRow(12, True, "Anand", False, "1/2-1/2", None, False),
        ),
    ],
)
def test_rows(text: str, row: HistoryRow) -> None:
    assert parse_history_row(text) == row


@pytest.mark.parametrize(
    "text",
    [
        "",
        "                  Opponent      Type         ECO End Date",
        "Ann kibitzes: 12: = 1500 W 1600 Anand         [ br  5   0] A00 NM  Thu Nov 24 22:18:00 2011",
        "12: b 1500 W 1600 Anand         [ br  5   0] A00 NM  Thu Nov 24 22:18:00 2011",
        "  1.  e4      (0:00)     e5      (0:00)",
    ],
)
def test_no_rows(text: str) -> None:
    assert parse_history_row(text) is None


def test_whose_it_is_and_that_there_is_none() -> None:
    assert parse_history_head("History for Ann:") == "Ann"
    assert parse_history_head("Ann(C): History for Ann:") is None
    assert is_no_history("Ann has no history games.")
    assert is_no_history("Sorry, no game information available.")
    assert is_no_history("There is no player matching the name ann.")
    assert not is_no_history("Bob says: Ann has no history games.")


@pytest.mark.parametrize(
    "text",
    [
        "There is no player matching that name.",
        "Ambiguous name 'Ann'; matches more than one player.",
        "No games in history for Ann.",
        "There is no history game 4 for Ann.",
        "History game 4 not available for Ann.",
        "There is no old game for Ann.",
    ],
)
def test_refusals_of_the_c_servers(text: str) -> None:
    assert is_no_history(text)
    assert not is_no_history(f"Bob says: {text}")
    assert not is_no_history(f"{text} Or is there?")
