"""BPGN of recorded matches: every move of both boards in its place, with its clock, lag and number."""

import io
import re
from dataclasses import replace

import pytest

from exporters.bpgn import BpgnExporter, BpgnOptions
from recorder.model import EventKind, Game, GameEvent, Link, LinkKind, TimeBasis
from tests.exporters.games import make_game
from tests.relating.matches import OF_BOTH_BOARDS, games_of

MOVE = re.compile(r"(\d+)([ABab])\. (\S+?)(?: ?\{(-?\d+(?:\.\d{3})?)\})?(?: |\n)")


def write(games: list[Game], options: BpgnOptions | None = None) -> tuple[str, BpgnExporter]:
    exporter, out = BpgnExporter(options), io.BytesIO()
    assert exporter.write(games, out) is exporter.report
    return out.getvalue().decode(), exporter


@pytest.mark.parametrize(("scenario", "connection"), [pytest.param(*stream, id=stream[0]) for stream in OF_BOTH_BOARDS])
def test_every_move_of_recorded_matches(scenario: str, connection: str) -> None:
    """Boards, numbers, moves and clocks in the order of the log's lines."""
    games = games_of(scenario, connection)
    text, exporter = write(games)
    for at, match in enumerate(re.split(r"\n\n(?=\[)", text)):
        boards = games[2 * at : 2 * at + 2]
        expected = sorted(
            (
                ply.offset,
                str((ply.ply + 1) // 2),
                letter if ply.white_moved else letter.lower(),
                ply.san,
                ply.clock_ms,
            )
            for letter, game in zip("AB", boards, strict=True)
            for ply in game.plies
        )
        found = MOVE.findall(match)
        assert [move[:3] for move in found] == [move[1:4] for move in expected]
        assert [round(float(move[3]) * 1000) for move in found] == [move[4] for move in expected]
    assert (exporter.report.games, exporter.report.plies) == (len(games), sum(len(game.plies) for game in games))


def test_the_two_forms() -> None:
    exact, _ = write(games_of(*OF_BOTH_BOARDS[0])[:2])
    coarse, _ = write(games_of(*OF_BOTH_BOARDS[1])[:2])
    assert "1B. e4{179.900} 1A. e4{179.879} 1b. d5{179.900}" in exact
    assert '"0-1"]\n\n1B.' in exact
    assert '"0-1"]\n1B. e4 {180} 1A. e4 {180} 1b. d5 {180}' in coarse
    assert max(map(len, coarse.splitlines())) <= 79
    assert coarse.endswith("\n{Petrosian checkmated} 0-1\n\n")


def test_the_lag_of_each_half_move_in_the_order_of_the_movetext() -> None:
    games = games_of(*OF_BOTH_BOARDS[0])[:2]

    def lagging(game: Game) -> Game:
        seen = game.observations[0]
        rows = [ply._replace(lag_ms=None if ply.ply == 3 else ply.offset % 1000) for ply in seen.lines[0].plies]
        return replace(game, observations=[replace(seen, lines=[replace(seen.lines[0], rows=rows)])])

    late = [lagging(game) for game in games]
    text, _ = write(late)
    by_offset = sorted((ply for game in late for ply in game.plies), key=lambda ply: ply.offset)
    expected = " ".join("-" if ply.lag_ms is None else str(ply.lag_ms) for ply in by_offset)
    assert f'[Lag "{expected}"]' in text
    assert "[Lag" not in write(late, BpgnOptions(clock=frozenset({"clk"})))[0]
    assert "[Lag" not in write(games_of(*OF_BOTH_BOARDS[1])[:2])[0], "this server prints no lag"
    assert "{1" not in write(late, BpgnOptions(clock=frozenset()))[0]


def test_the_reason_is_that_of_the_board_that_decided() -> None:
    text, _ = write(games_of(*OF_BOTH_BOARDS[0])[2:4])
    assert text.endswith("\n{Karpov resigns} 0-1\n\n")
    text, _ = write(games_of(*OF_BOTH_BOARDS[0])[:2])
    assert text.endswith("\n{Petrosian checkmated} 0-1\n\n")


def test_four_players_two_tags_on_a_line() -> None:
    game, other = games_of(*OF_BOTH_BOARDS[0])[2:4]
    rated = replace(game, white=game.white._replace(rating=1558), started_at_ms=0, time_basis=TimeBasis.UTC)
    text, _ = write([rated, other])
    assert text.startswith('[Event "FatICS rated blitz bughouse game"]\n[Site "?"]\n[Date "1970.01.01"]\n')
    assert '[Time "00:00:00"]\n[WhiteA "Karpov"][WhiteAElo "1558"]\n[BlackA "Fischer"]' in text
    assert '[WhiteB "Spassky"]' in text


def test_links_count_more_than_the_fields_of_the_games() -> None:
    one, other = (
        make_game(variant="bughouse", moves=["e2e4", "e7e5"], key=key, links=[Link(LinkKind.PARTNER, linked, "told")])
        for key, linked in (("1" * 20, "2" * 20), ("2" * 20, "1" * 20))
    )
    other = replace(other, white=other.white._replace(handle="Cid"), black=other.black._replace(handle="Dee"))
    text, exporter = write([one, other])
    assert text.count("[Event ") == 1
    assert exporter.report.games == 2
    assert '[RecorderKeyA "11111111111111111111"]\n[RecorderKeyB "22222222222222222222"]' in text


def test_a_board_alone() -> None:
    text, exporter = write([games_of("a12_bughouse", "observer_GuestBgb")[0], make_game()])
    assert '[WhiteB "?"]\n[BlackB "?"]' in text
    assert "RecorderKeyB" not in text
    assert exporter.report.excluded == {"not bughouse": 1}
    assert {letter for _, letter, *_ in MOVE.findall(text)} == {"A", "a"}


def test_unknown_parts_of_a_match_are_named_in_a_comment() -> None:
    game = games_of("a12_bughouse", "observer_GuestBgb")[0]
    seen = game.observations[0]
    later = replace(game, start_ply=11, segments=[game.segments[0]._replace(from_ply=12)])
    text, _ = write([later])
    assert "\n{C:board A was seen from 6a on}\n6a. " in text
    assert seen.lines[0].plies[11].ply == 12


def test_chat_is_written_if_asked_for() -> None:
    game, other = games_of(*OF_BOTH_BOARDS[0])[:2]
    seen = game.observations[0]
    chat = GameEvent(99, EventKind.CHAT, "kibitz", 2, "Eve", None, "nice {move}", None, None, None, seen.offset + 1)
    talked = replace(game, observations=[replace(seen, events=[*seen.events, chat])])
    assert "nice" not in write([talked, other])[0]
    assert "1a. Nf6{179.861} {C:Eve kibitzes: nice (move)} " in write([talked, other], BpgnOptions(comments=True))[0]
