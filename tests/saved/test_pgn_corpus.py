"""Every PGN of the corpus: the games, moves and comments that python-chess reads, and the facts that its tags tell."""

import io
from functools import cache
from pathlib import Path

import chess.pgn
import pytest

from recorder.model import EventKind, Game, ObservationKind, Origin, Precision, Proof, SourceReport, TimeBasis
from recorder.reading import make_pipeline, read_games
from recorder.saved.pgn_text import decoded
from recorder.sources import HEAD_BYTES, SourceKind, detect

CORPUS = Path(__file__).parent.parent / "corpus"
FILES = sorted([*(CORPUS / "pgn").glob("*.pgn"), *(CORPUS / "ficsgames").glob("*.pgn")])
#: Variants that no tag names: python-chess needs the tag.
UNNAMED = {"crazyhouse": "crazyhouse", "suicide": "suicide", "atomic": "atomic", "chess960": "chess960"}


@cache
def read(path: Path) -> tuple[list[Game], SourceReport]:
    pipeline = make_pipeline(SourceKind.PGN)
    games = pipeline.receive(path.read_bytes())
    return games + pipeline.finish(), pipeline.report


def peers_games(path: Path) -> list[chess.pgn.Game]:
    text = decoded(path.read_text("latin-1"))
    games = []
    for game in read(path)[0]:
        variant = game.variant or ""
        if variant in UNNAMED and f'[Variant "{UNNAMED[variant]}"]' not in text and "[Variant" not in text:
            text = text.replace('[Event "FICS', f'[Variant "{UNNAMED[variant]}"]\n[Event "FICS')
            break
    stream = io.StringIO(text)
    while (found := chess.pgn.read_game(stream)) is not None:
        games.append(found)
    return games


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_same_as_python_chess(path: Path) -> None:
    games, report = read(path)
    peers = peers_games(path)
    assert len(games) == len(peers)
    assert detect(path.read_bytes()[:HEAD_BYTES]) is SourceKind.PGN
    for game, peer in zip(games, peers, strict=True):
        assert (game.white.handle, game.black.handle) == (peer.headers["White"], peer.headers["Black"])
        assert game.result == peer.headers["Result"]
        if game.variant == "losers" or (peer.errors and (game.start_ply or game.variant == "suicide")):
            continue  # it takes it for chess; an en passant square of "996" of one client is no position for it
        assert not peer.errors
        moves = [node.move.uci() for node in peer.mainline()]
        known = [ply.uci for ply in game.plies if ply.proof == Proof.LIST]
        assert known == moves[: len(known)]
        assert len(game.plies) == len(moves)
        words = {" ".join(node.comment.split()) for node in peer.mainline()} - {""}
        texts = {event.text for event in game.events if event.kind is EventKind.CHAT} | {game.reason}
        assert {word for word in words if "[%" not in word} <= texts
    whole = [game for game in games if game.complete]
    if "atomic" not in path.name:
        assert not report.anomalies
        assert len(whole) >= len(games) - sum(game.start_ply > 0 or game.result == "*" for game in games)


def only(name: str, number: int = 0) -> Game:
    return read(next(path for path in FILES if path.name == name))[0][number]


def tags(game: Game) -> dict[str, str]:
    return {event.detail: event.text for event in game.events if event.kind is EventKind.TAG}


def test_a_game_of_the_archive() -> None:
    game = only("ficsgames-variants-by-year.pgn")
    assert (game.server, game.dialect, game.rated, game.category) == ("FICS freechess.org", "FICS", True, "blitz")
    assert (game.variant, game.variant_inferred) == ("chess", False)
    assert (game.base_s, game.increment_s, game.black_base_s) == (180, 0, 180)
    assert (game.white.rating, game.black.rating_text) == (1583, "1577")
    assert (game.result, game.reason, game.reason_key, game.end) == ("0-1", "White resigns", "resign", "result")
    assert (game.time_basis, game.started_at_ms) == (TimeBasis.LOCAL, 1486470240000)
    assert game.complete
    assert len(game.plies) == 44
    assert tags(game) == {
        "FICSGamesDBGameNo": "411189932", "WhiteRD": "18.5", "BlackRD": "25.7", "ECO": "B29",
        "WhiteClock": "0:03:00.000", "BlackClock": "0:03:00.000",
    }  # fmt: skip
    (seen,) = game.observations
    assert (seen.kind, seen.lines[0].plies[0].origin) == (ObservationKind.PGN, Origin.PGN)


def test_clocks_are_derived_from_elapsed_times() -> None:
    """180 s less 1.748 and 0.802: the first move is not charged. They are marked, and lag stays unknown."""
    third, fifth = only("ficsgames-variants-by-year.pgn").plies[2:6:2]
    assert (third.elapsed_ms, third.white_clock_ms, third.black_clock_ms) == (1748, 178252, None)
    assert fifth.white_clock_ms == 178252 - 802
    assert fifth.precision == Precision.DERIVED_MILLISECONDS
    assert (fifth.lag_ms, fifth.at_ms) == (None, None)


def test_what_the_frame_of_the_same_game_says() -> None:
    """Game 463: the server's frame after 36...Rb8 has 274070 for Black. PyChess's own tags of it are kept as text."""
    game = only("pychess-export-463.pgn")
    assert game.plies[-1].black_clock_ms == 274070
    assert tags(game)["BlackClock"] == "0:05:19.070"
    assert (game.result, game.end, game.complete) == ("*", "log-ends", False)


def test_ten_seconds_where_there_is_no_base_time() -> None:
    text = b'[Event "FICS rated lightning game"]\n[TimeControl "0+1"]\n[WhiteClock "0:10.000"]\n'
    game = read_text(text + b'[BlackClock "0:10.000"]\n\n1. e4 {[%emt 0.0]} e5 {[%emt 0.0]} 2. d4 {[%emt 0.5]} *\n')
    assert (game.base_s, game.increment_s, game.base_inferred) == (10, 1, True)
    assert game.plies[2].white_clock_ms == 10_500


def read_text(data: bytes) -> Game:
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = pipeline.receive(data) + pipeline.finish()
    return game


def test_clients() -> None:
    game = only("client-saved-2004-eboard.pgn", 1)
    assert (game.rated, game.server, game.end, game.reason) == (
        True, None, "adjourned", "Game courtesyadjourned by captnswing",
    )  # fmt: skip
    assert tags(game)["Event"] == "ICS Rated Chess Match"
    game = only("ics-client-saved-2009.pgn")
    assert (game.server, game.category, game.base_s) == ("FICS freechess.org", "blitz", 300)
    assert (game.started_at_ms, game.date_text, tags(game)["Time"]) == (None, "2009-12-31", "23:30:??")
    game = only("icc-saved-2012.pgn")
    assert (game.server, game.rated, game.reason_key) == ("Internet Chess Club", True, "resign")
    assert {"ICCResult", "NIC", "Opening"} <= tags(game).keys()
    games = read(next(path for path in FILES if "2005-blitz" in path.name))[0]
    milliseconds = [game for game in games if tags(game).get("TimeControl", "").endswith("000")]
    assert milliseconds
    assert all(game.increment_s is not None and game.increment_s < 100 for game in milliseconds)
    resumed = [game for game in games if game.start_ply]
    assert resumed
    assert all(game.start_fen and not game.complete for game in resumed)


def test_read_games() -> None:
    path = next(path for path in FILES if path.name == "client-saved-2004-eboard.pgn")
    assert list(read_games(path)) == read(path)[0]
