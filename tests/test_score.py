"""The scoring tool itself: perfect games score exact, and each kind of fault is seen."""

from collections.abc import Callable

import chess
import pytest

from recorder.model import (
    Game,
    GameEnd,
    GameKind,
    LineKind,
    Observation,
    ObservationKind,
    Origin,
    Player,
    Ply,
    PlyLine,
    Precision,
    Proof,
    Segment,
    TimeBasis,
)
from recorder.rules.position import encode_move
from tests import score
from tests.edge_cases.excerpts import PUBLIC
from tests.public_games import NO_TRANSCRIPTS, PUBLIC_GAMES
from tests.support import corpus, frames
from tests.support.corpus import Stream

STREAM = Stream("a02_features", "observer_GuestObsC", "raw")


def games_from_truth(stream: Stream, data: bytes) -> list[Game]:
    """What a perfect product would find in a stream without movelists."""
    wanted, _ = score.expectations(stream, frames.read(data, stream.kind))
    return [_game(want) for want in wanted]


def _game(want: score.Wanted) -> Game:
    (run,) = want.runs
    shown = run.main_line()
    plies = []
    for number in sorted(want.plies):
        frame = shown[number]
        move = encode_move(want.truth["moves_uci"][number - 1])
        san = want.truth["moves_san"][number - 1]
        precision = Precision.MILLISECONDS if frame.milliseconds else Precision.SECONDS
        plies.append(
            Ply(
                number, move, san, frame.white_clock_ms, frame.black_clock_ms, frame.elapsed_ms, frame.lag_ms, None,
                None, None, Proof.FULL, Origin.FRAME, precision, frame.offset,
            )
        )  # fmt: skip
    start = min(shown)
    observation = Observation(
        ObservationKind.LIVE, run.game_no, run.white, run.black, 0, run.first_offset, run.end_offset, None, None, None,
        lines=[PlyLine(0, LineKind.MAIN, None, None, plies)],
    )  # fmt: skip
    return Game(
        key="", kind=GameKind.PLAYED, server=None, dialect=None, game_no=run.game_no, white=Player(run.white),
        black=Player(run.black), rated=None, variant="chess", category=None,
        base_s=want.truth["initial_minutes"] * 60, increment_s=want.truth["increment_seconds"],
        black_base_s=None, black_increment_s=None, base_inferred=False, variant_inferred=False,
        start_fen=None if start == 0 else f"{want.boards[start]} - - 0 1", start_ply=start, result=want.result,
        reason=None, reason_key=None, termination="normal", end=GameEnd.RESULT, started_at_ms=None, ended_at_ms=None,
        time_basis=TimeBasis.NONE, date_text=None, complete=start == 0, continued=False, partner_game_no=None, me=None,
        observations=[observation], segments=[Segment(plies[0].ply, plies[-1].ply, 0)],
        first_offset=run.first_offset, last_offset=run.end_offset,
    )  # fmt: skip


def _totals(change: Callable[[list[Game]], object]) -> dict[str, int]:
    def find(stream: Stream, data: bytes) -> list[Game]:
        games = games_from_truth(stream, data)
        change(games)
        return games

    return score.totals([score.score_stream(STREAM, find)])


def _main_line(game: Game) -> list[Ply]:
    return game.observations[0].lines[0].plies


def test_games_made_from_the_truth_score_exact() -> None:
    totals = _totals(lambda games: None)
    assert totals["expected"] == totals["found"] == totals["exact"] == 6
    assert totals["plies with times compared"] == 344 - 6
    assert totals["time differences"] == totals["fact differences"] == totals["false"] == totals["invented plies"] == 0


def _wrong_move(games: list[Game]) -> None:
    plies = _main_line(games[0])
    plies[3] = plies[3]._replace(move=encode_move("a1a8"))


def _cut(games: list[Game]) -> None:
    plies = _main_line(games[1])
    games[1].segments[0] = games[1].segments[0]._replace(to_ply=plies[-4].ply)


def _other_clock(games: list[Game]) -> None:
    plies = _main_line(games[2])
    plies[0] = plies[0]._replace(lag_ms=None)


def _other_offset(games: list[Game]) -> None:
    plies = _main_line(games[2])
    plies[0] = plies[0]._replace(offset=plies[1].offset)


def _other_result(games: list[Game]) -> None:
    games[3].result = "*"


def _other_facts(games: list[Game]) -> None:
    games[5].variant, games[5].base_s, games[5].increment_s, games[5].complete = "blitz", None, 99, True


def _other_start(games: list[Game]) -> None:
    games[4].start_fen = chess.STARTING_FEN


def _added_takeback(games: list[Game]) -> None:
    game = games[0]
    game.observations[0].lines.append(PlyLine(1, LineKind.TAKEBACK, 0, 5, _main_line(game)[:1]))


def _extra_plies(games: list[Game]) -> None:
    last = _main_line(games[0])[-1]
    _main_line(games[0]).append(last._replace(ply=last.ply + 1))
    games[0].segments[0] = games[0].segments[0]._replace(to_ply=last.ply + 1)


@pytest.mark.parametrize(
    ("change", "differing"),
    [
        (_wrong_move, {"wrong": 1, "invented plies": 1, "exact": 5}),
        (_extra_plies, {"wrong": 1, "invented plies": 1, "time differences": 1, "exact": 5}),
        (_cut, {"cut short": 1, "missing plies": 3, "exact": 5}),
        (_other_clock, {"time differences": 1, "exact": 6}),
        (_other_offset, {"time differences": 1, "exact": 6}),
        (_other_result, {"wrong": 1, "exact": 5}),
        (_other_facts, {"fact differences": 4, "exact": 6}),
        (_other_start, {"wrong": 1, "exact": 5}),
        (lambda games: games.append(games[5]), {"false": 1, "exact": 6}),
        (lambda games: games.pop(), {"missing": 1, "found": 5, "exact": 5}),
    ],
)
def test_each_fault_is_seen(change: Callable[[list[Game]], object], differing: dict[str, int]) -> None:
    totals = _totals(change)
    assert {key: totals[key] for key in differing} == differing


def test_an_invented_takeback_is_seen() -> None:
    def find(stream: Stream, data: bytes) -> list[Game]:
        games = games_from_truth(stream, data)
        _added_takeback(games)
        return games

    totals = score.totals([score.score_stream(Stream("a02_features", "observer_GuestObsB", "raw"), find)])
    assert totals["takebacks compared"] == 6
    assert totals["takebacks equal"] == totals["exact"] == 5


@pytest.mark.parametrize("scenario", corpus.scenarios())
def test_the_reader_sees_what_the_truth_says_was_watched(scenario: str) -> None:
    """The helper and the truth were made independently; where both speak they agree on every ply."""
    for stream in corpus.streams(scenario):
        if stream.subject in ("examined", "adjourned", "bughouse", "deltas") or (scenario, stream.connection) == (
            "a08_wrap_prompt_style",
            "observer_GuestObsN",
        ):
            continue  # GuestObsN had style 1, which has no frames, for 31 plies
        reading = frames.read(corpus.stream_bytes(scenario, stream.connection), stream.kind)
        wanted, unlisted = score.expectations(stream, reading)
        assert not unlisted
        for want in wanted:
            if any(run.lists for run in want.runs):
                continue
            end = len(want.truth["moves_uci"])
            watched = [seen for seen in want.truth.get("observed", []) if seen["observer"] == stream.login]
            spans = [(seen["from_ply"] + 1, seen["to_ply"] or end) for seen in watched] or [(1, end)]
            assert want.plies == {ply for low, high in spans for ply in range(low, high + 1)}, (stream, want.name)


def test_the_games_of_the_public_excerpts_are_those_of_their_texts() -> None:
    scores = score.score_public(score.find_in_excerpt)
    faults = [(one.connection, finding) for one in scores for finding in one.findings if finding.status != "exact"]
    assert not faults
    assert {path.stem for path in PUBLIC.glob("*.txt")} == PUBLIC_GAMES.keys() | NO_TRANSCRIPTS.keys()
    # The table sees a game that is not there, one too many, and another move.
    games = {name: score.find_in_excerpt(name) for name in PUBLIC_GAMES}
    games["emacs-chess-frames"].pop()
    games["ictk-gameend-lines"].append(games["mekk-observe-normal"][0])
    games["pychess-play-gbtami"][0].result = "1-0"
    sums = score.totals(score.score_public(games.__getitem__))
    assert (sums["missing"], sums["false"], sums["wrong"], score.is_perfect(sums)) == (1, 1, 1, False)


def _product(scenario: str, connection: str, change: Callable[[Game], object]) -> dict[str, int]:
    """The totals of one stream when each of the product's games is changed."""

    def find(stream: Stream, data: bytes) -> list[Game]:
        games = score.find_with_product(stream, data)
        for game in games:
            change(game)
        return games

    return score.totals([score.score_stream(Stream(scenario, connection, "raw"), find)])


def _other_delta(game: Game) -> None:
    plies = _main_line(game)
    plies[0] = plies[0]._replace(black_clock_ms=300_000)  # no delta prints the other side's clock
    plies[1] = plies[1]._replace(elapsed_ms=7)


def test_differences_of_deltas_are_seen() -> None:
    sums = _product("a09_ivariables", "observer_GuestIvd", lambda game: None)
    assert (sums["plies with times compared"], sums["time differences"], score.is_perfect(sums)) == (104, 0, True)
    sums = _product("a09_ivariables", "observer_GuestIvd", _other_delta)
    assert (sums["time differences"], score.is_perfect(sums)) == (6, False)


def _other_hands(game: Game) -> None:
    changes = game.observations[0].holdings
    changes[1] = changes[1]._replace(white=f"{changes[1].white}Q")
    del changes[-1]


def test_differences_of_holdings_are_found() -> None:
    sums = _product("b09_crazyhouse", "observer_GuestXz", lambda game: None)
    assert sums["holdings compared"] > 100
    assert (sums["holdings differences"], score.is_perfect(sums)) == (0, True)
    changed = _product("b09_crazyhouse", "observer_GuestXz", _other_hands)
    # The changed hands lack one line and are one too many; the last line of each game lacks.
    assert changed["holdings differences"] == 3 * changed["found"]


def _other_tree(game: Game) -> None:
    if game.kind is GameKind.PLAYED:
        return
    line = next((line for seen in game.observations for line in seen.lines if line.plies), None)
    if line is not None:
        line.plies[-1] = line.plies[-1]._replace(move=None)


def test_differences_of_examined_boards_are_seen() -> None:
    sums = _product("a10_examine", "observer_GuestExb", lambda game: None)
    assert (sums["examined boards compared"], sums["examined board differences"]) == (56, 0)
    changed = _product("a10_examine", "observer_GuestExb", _other_tree)
    assert changed["examined board differences"] > 0
    assert not score.is_perfect(changed)
