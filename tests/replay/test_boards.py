"""Replayed boards are those of the archive, with the holdings that follow from the moves."""

from collections import Counter
from collections.abc import Sequence

import pytest

from recorder.archive.replaying import games_of_files
from recorder.model import Game, GameKind
from recorder.replay.boards import frame_text
from recorder.replay.moments import Begin, ShownPly
from recorder.replay.several import moments_of_games
from recorder.replay.show import Show, Sign
from recorder.replay.terminal.viewing import Viewing
from recorder.replay.terminal.watch import SceneStyle, draw, plain
from tests.replay.sources import source_of
from tests.support.corpus import SERVER, stream_bytes
from tests.support.product import run

FIELDS = (
    "tag", "r8", "r7", "r6", "r5", "r4", "r3", "r2", "r1", "turn", "push", "K", "Q", "k", "q", "count", "game", "white",
    "black", "relation", "base", "increment", "wm", "bm", "wclock", "bclock", "move", "verbose", "elapsed", "pretty",
    "flip", "ticking", "lag",
)  # fmt: skip

# Fields that differ because the archive does not store them: field → number of frames.
STREAMS: dict[tuple[str, str], dict[str, int]] = {
    ("a01_standard", "observer_GuestObsA"): {},
    ("a03_crazyhouse", "observer_GuestObsD"): {},
    ("a05_chess960", "observer_GuestObsG"): {},
    ("a07_eight_boards", "observer_GuestObsI"): {},
    ("a12_bughouse", "observer_GuestBga"): {},
    ("a13_timeseal_lag", "observer_GuestTsa"): {},
    ("b01_standard", "observer_GuestXa"): {},
    ("b06_bughouse", "observer_GuestXo"): {},
    ("b09_crazyhouse", "observer_GuestXy"): {},
    ("b04_chatter_takeback_pause", "observer_Botvinnik"): {
        "count": 4
    },  # after a takeback these servers restart the count
    ("a06_chatter_takebacks", "observer_Euwe"): {},
    ("a04_suicide", "observer_GuestObsF"): {"push": 12},  # printed where a king could be captured this way
    ("c01_standard", "observer_GuestXa"): {"ticking": 315},  # this server does not print it; no client minds
}


def differences(games: list[Game], data: bytes) -> tuple[Counter[str], int]:
    """By field how many frames differ from those recorded at the same place, and how many were compared."""
    moments = moments_of_games(games)
    show = Show(source_of(games, moments), 0)
    found: Counter[str] = Counter()
    compared = 0
    for place, moment in enumerate(moments):
        for sign, board, what, _ in show.step(place):
            if sign not in (Sign.BEGINS, Sign.AGAIN, Sign.BOARD):
                continue
            ply = getattr(what, "ply", None)
            offset = getattr(ply, "offset", getattr(what, "offset", None))
            if isinstance(what, Begin):
                offset = None if what.observation is None else board.game.observations[what.observation].offset
            assert offset is not None, moment
            line = data[offset : data.find(b"\n", offset)].decode("latin-1").replace("\r", "")
            recorded = line[max(line.find("<12>"), 0) :].split()
            text = frame_text(board, int(recorded[19]), "." in recorded[28])
            written = text.split()
            compared += 1
            found.update(
                name
                for name, one, other in zip(
                    FIELDS,
                    written + [""] * (len(FIELDS) - len(written)),
                    recorded + [""] * (len(FIELDS) - len(recorded)),
                    strict=True,
                )
                if one != other
            )
    return found, compared


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: str(stream[0]))
def test_every_field_of_every_board(stream: tuple[str, str]) -> None:
    data = stream_bytes(*stream)
    games = [game for game in run([data], "raw")[0] if game.kind is GameKind.PLAYED and game.observations]
    found, compared = differences(sorted(games, key=lambda game: game.first_offset), data)
    assert compared > 80
    assert found == STREAMS[stream]


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
    show = Show(source_of(games, moments), 0)
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
    viewing = Viewing(Show(source_of(games, moments_of_games(games)), 0))
    viewing.press("end", 0)
    rows = "\n".join(plain(row) for row in draw(viewing, 0, 120, 30, SceneStyle(ascii=True, colours=False)))
    assert "in hand: ~" in rows
    assert "not known" not in rows


def test_one_board_of_a_match_alone_does_not_give_its_holdings() -> None:
    game = games_of_files([str(CORPUS / "public/bughouse-db-3611438-with-lag.bpgn")])[0]
    viewing = Viewing(Show(source_of([game], moments_of_games([game])), 0))
    viewing.press("end", 0)
    assert viewing.holdings(0) is None
