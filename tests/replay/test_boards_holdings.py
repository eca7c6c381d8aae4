"""Holdings that no line contains follow from the moves; in bughouse, from the partner's moves."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from recorder.archive.replaying import games_of_files
from recorder.model import Game
from recorder.replay.moments import ShownPly
from recorder.replay.several import moments_of_games
from recorder.replay.show import ReplaySource, Show, Sign
from recorder.replay.terminal.scene import SceneStyle, draw, plain
from recorder.replay.terminal.viewing import Viewing
from tests.support.corpus import SERVER, stream_bytes
from tests.support.product import run

CORPUS = SERVER.parent


def printed_and_derived(games: Sequence[Game]) -> tuple[list[object], list[object]]:
    """Return the holdings after every move, as printed and as derived from the moves."""
    printed, derived = (_hands(games, kept) for kept in (True, False))
    assert len(printed) == len(derived)
    return printed, derived


def _hands(games: Sequence[Game], kept: bool) -> list[object]:
    lines = [seen.holdings for game in games for seen in game.observations]
    if not kept:
        for game in games:
            for seen in game.observations:
                seen.holdings = []
    moments = moments_of_games(games)
    show = Show(ReplaySource.of(games, moments), 0)
    found: list[object] = []
    for place, moment in enumerate(moments):
        if not isinstance(moment.what, ShownPly):
            list(show.step(place))
            continue
        for sign, board, _, _ in show.step(place):
            assert board.state is not None
            hands = board.holdings if kept else board.state.position.holdings
            if sign is Sign.BOARD:
                found.append((board.game.key, board.state.ply, hands or ("", "")))
    for seen, mine in zip((seen for game in games for seen in game.observations), lines, strict=True):
        seen.holdings = mine
    return found


def test_crazyhouse() -> None:
    games = run([stream_bytes("a03_crazyhouse", "observer_GuestObsD")], "raw")[0]
    whole = [game for game in games if game.complete]
    printed, derived = printed_and_derived(whole)
    assert len(printed) > 100
    assert derived == printed


def test_bughouse() -> None:
    games = games_of_files([str(SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz")])
    printed, derived = printed_and_derived([game for game in games if game.complete])
    assert len(printed) > 300
    assert derived == printed


@pytest.mark.parametrize(
    ("name", "count"), [("ficsgames/2009-crazyhouse.pgn", 1), ("public/bughouse-db-3611438-with-lag.bpgn", 2)]
)
def test_saved_games_show_them_as_derived(name: str, count: int) -> None:
    games = games_of_files([str(CORPUS / name)])[:count]
    viewing = Viewing(ReplaySource.of(games, moments_of_games(games)), 0)
    viewing.press("end", 0)
    rows = "\n".join(plain(row) for row in draw(viewing, 0, 120, 30, SceneStyle(ascii=True, colours=False)))
    assert "in hand: ~" in rows
    assert "not known" not in rows


def test_one_board_of_a_match_alone_does_not_give_its_holdings() -> None:
    game = games_of_files([str(CORPUS / "public/bughouse-db-3611438-with-lag.bpgn")])[0]
    viewing = Viewing(ReplaySource.of([game], moments_of_games([game])), 0)
    viewing.press("end", 0)
    assert viewing.holdings(0) is None
