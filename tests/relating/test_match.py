"""One timeline of both boards, what goes from one to the other, and whether their clocks agree."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from recorder import read_games
from recorder.model import Game, Origin, SourceName, TimeBasis
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import Match, board_order, check_clocks, leads, timeline, transfers
from tests.relating.matches import OF_BOTH_BOARDS, games_of

PUBLIC = Path(__file__).parent.parent / "corpus" / "public"


def matches(scenario: str, connection: str) -> list[Match]:
    games = games_of(scenario, connection)
    by_key = {game.key: game for game in games}
    return [board_order(by_key[one], by_key[other]) for one, other, _ in pair_bughouse(games)]


ALL = [pytest.param(*stream, id=stream[0]) for stream in OF_BOTH_BOARDS]


@pytest.mark.parametrize(("scenario", "connection"), ALL)
def test_all_moves_of_both_boards_by_arrival(scenario: str, connection: str) -> None:
    for match in matches(scenario, connection):
        moments = timeline(match)
        assert all(moment.certain for moment in moments)
        assert all(one.ply.offset < other.ply.offset for one, other in pairwise(moments))
        for letter in "AB":
            assert [moment.ply for moment in moments if moment.board == letter] == match.board(letter).plies


@pytest.mark.parametrize(("scenario", "connection"), ALL)
def test_every_capture_appears_on_the_other_board(scenario: str, connection: str) -> None:
    for match in matches(scenario, connection):
        given = transfers(match)
        assert given
        for transfer in given:
            passed = transfer.passed
            assert (passed.white, passed.piece) == (transfer.to_white, transfer.capture.pieces)
        shown = [change for game in (match.a, match.b) for seen in game.observations for change in seen.holdings]
        assert len(given) == sum(change.passed is not None for change in shown)


def test_a_promoted_piece_arrives_as_a_pawn() -> None:
    """In a recorded match a new queen is taken at once."""
    found = []
    for match in matches(*OF_BOTH_BOARDS[0]):
        for transfer in transfers(match):
            plies = match.board(transfer.board).plies
            taken, taking = plies[transfer.capture.ply - 2], plies[transfer.capture.ply - 1]
            if "=" in taken.san and str(taken.uci)[2:4] == str(taking.uci)[2:4]:
                found.append((transfer.capture.pieces, transfer.passed and transfer.passed.piece))
    assert found
    assert set(found) == {("P", "P")}


@pytest.mark.parametrize(("scenario", "connection"), ALL)
def test_the_clocks_of_recorded_matches_agree(scenario: str, connection: str) -> None:
    for match in matches(scenario, connection):
        assert check_clocks(match) == []


def test_the_clocks_of_boards_of_different_speed_do_not() -> None:
    match = matches(*OF_BOTH_BOARDS[0])[0]

    def slower(game: Game) -> Game:
        seen = game.observations[0]
        rows = [
            ply._replace(white_clock_ms=(ply.white_clock_ms or 0) - 20_000 if ply.ply > 10 else ply.white_clock_ms)
            for ply in seen.lines[0].plies
        ]
        return replace(game, observations=[replace(seen, lines=[replace(seen.lines[0], rows=rows)])])

    for wrong, letter, other in (
        (Match(match.a, slower(match.b)), "A", "B"),
        (Match(slower(match.a), match.b), "B", "A"),
    ):
        found = check_clocks(wrong)
        assert {finding.board for finding in found} == {letter}
        assert found[0].text.startswith(f"the clocks of board {other} had run ")


def test_the_lead_is_the_difference_of_the_two_whites() -> None:
    """With thousandths and both clocks in each frame it is known at every move but the first board's first."""
    match = matches(*OF_BOTH_BOARDS[0])[1]
    found = leads(match)
    assert found[0] is None
    known = [lead for lead in found if lead is not None]
    assert len(known) > len(found) - 5
    a, b = match.a.plies[-1], match.b.plies[-1]
    assert a.white_clock_ms is not None
    assert b.white_clock_ms is not None
    assert abs(known[-1] - (a.white_clock_ms - b.white_clock_ms)) < 2_000


def test_boards_of_two_logs_without_times_have_no_common_order() -> None:
    match = matches(*OF_BOTH_BOARDS[1])[0]

    def of(game: Game, name: str) -> Game:
        return replace(game, observations=[replace(seen, source=SourceName(name, name)) for seen in game.observations])

    moments = timeline(Match(of(match.a, "one"), of(match.b, "two")))
    assert len(moments) == len(match.a.plies) + len(match.b.plies)
    assert not any(moment.certain for moment in moments[:80])
    assert check_clocks(Match(of(match.a, "one"), of(match.b, "two"))) == []


def test_utc_times_order_the_boards_of_two_logs() -> None:
    match = matches(*OF_BOTH_BOARDS[1])[0]

    def timed(game: Game, name: str) -> Game:
        seen = game.observations[0]
        rows = [ply._replace(at_ms=ply.offset) for ply in seen.lines[0].plies]
        line = replace(seen.lines[0], rows=rows)
        sourced = replace(seen, lines=[line], source=SourceName(name, name))
        return replace(game, observations=[sourced], time_basis=TimeBasis.UTC)

    moments = timeline(Match(timed(match.a, "one"), timed(match.b, "two")))
    assert all(moment.certain for moment in moments)
    assert [moment.ply.san for moment in moments] == [moment.ply.san for moment in timeline(match)]


def test_moves_of_a_list_are_before_what_follows_them() -> None:
    """Where a list's moves stand among the other board's is not known, but they come before the board's next frame."""
    match = matches(*OF_BOTH_BOARDS[1])[0]
    seen = match.a.observations[0]
    rows = [
        ply._replace(origin_code=int(Origin.MOVELIST), offset=0) if ply.ply <= 20 else ply
        for ply in seen.lines[0].plies
    ]
    listed = replace(match.a, observations=[replace(seen, lines=[replace(seen.lines[0], rows=rows)])])
    moments = timeline(Match(listed, match.b))
    numbers = [moment.ply.ply for moment in moments if moment.board == "A"]
    assert numbers == sorted(numbers)
    uncertain = {moment.ply.ply for moment in moments if moment.board == "A" and not moment.certain}
    assert uncertain
    assert uncertain <= set(range(1, 21))
    place = next(at for at, moment in enumerate(moments) if moment.board == "A" and moment.ply.ply == 21)
    assert all(moment.ply.offset < moments[place].ply.offset for moment in moments[:place] if moment.board == "B")


def test_a_public_excerpt() -> None:
    match = board_order(*read_games(PUBLIC / "bughouse-observe-76-97-first-part.txt"))
    assert (match.a.game_no, match.b.game_no) == (76, 97)
    assert all(moment.certain for moment in timeline(match))
    assert check_clocks(match) == []
