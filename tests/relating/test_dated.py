"""A saved game without our key tag and the game that it was exported from are one."""

import io
import random
from dataclasses import replace

import pytest

from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import Game, SourceName
from recorder.reading import make_pipeline
from recorder.relating.compare import Verdict, compare
from recorder.relating.game_view import View
from recorder.relating.merge import merge_games
from recorder.sources import SourceKind

from .interrupted import LONG
from .scenes import games_of, played


def _saved(games: list[Game], style: str, without: tuple[str, ...] = ()) -> list[Game]:
    """Games as another program gives them back: exported, our tags and some others removed, read again."""
    out = io.BytesIO()
    PgnExporter(PgnOptions(style=style)).write(games, out)
    removed = tuple(f"[{name}".encode() for name in ("Recorder", *without))
    lines = [line for line in out.getvalue().splitlines(keepends=True) if not line.startswith(removed)]
    pipeline = make_pipeline(SourceKind.PGN)
    found = pipeline.receive(b"".join(lines)) + pipeline.finish()
    for game in found:
        game.observations[0].source = SourceName("pgn", "games.pgn")
    return found


def _dated(scenario: str, connection: str) -> list[Game]:
    """Games of a scenario that are neither adjourned nor continued, with their times."""
    games = played(games_of(scenario, connection))
    return [game for game in games if game.end != "adjourned" and not game.continued]


@pytest.mark.parametrize("style", ["default", "fics", "lichess"])
@pytest.mark.parametrize(
    ("scenario", "connection"),
    [("a01_standard", "observer_Watcher"), ("c04_chatter_takeback_pause", "observer_Euwe")],
)
def test_every_saved_game_finds_the_game_it_was_exported_from(scenario: str, connection: str, style: str) -> None:
    games = _dated(scenario, connection)
    saved = _saved(games, style)
    assert len(saved) == len(games) > 1
    expected = sorted(sorted((one.key, other.key)) for one, other in zip(games, saved, strict=True))
    assert sorted(game.merged_from for game in merge_games([*games, *saved])) == expected


def test_another_second_proves_nothing() -> None:
    """Fast games differ in too little: without the same second they cannot be merged."""
    game = min(_dated("a01_standard", "observer_Watcher"), key=lambda one: len(one.plies))
    (saved,) = _saved([game], "lichess")
    assert compare(View(game), View(saved)).verdict is Verdict.SAME
    assert saved.started_at_ms is not None
    for difference_ms in (-5_000, 5_000):
        later = replace(saved, started_at_ms=saved.started_at_ms + difference_ms)
        assert compare(View(game), View(later)).verdict is Verdict.OPEN


@pytest.mark.parametrize(("time", "plies", "count"), [("14:00:00", 10, 2), ("14:00:07", 10, 1), ("14:00:00", 24, 1)])
def test_short_saved_games_of_one_round_are_not_one(time: str, plies: int, count: int) -> None:
    """A whole minute is the time of a round, or of an archive without seconds."""
    moves = " ".join(LONG[:plies])
    games = []
    for name in ("first", "second"):
        tags = {"Event": name, "Date": "2020.01.01", "Time": time, "White": "Ann", "Black": "Bob", "Result": "1/2-1/2"}
        text = "".join(f'[{tag} "{value}"]\n' for tag, value in tags.items()) + f"\n{moves} 1/2-1/2\n"
        pipeline = make_pipeline(SourceKind.PGN)
        (game,) = [*pipeline.receive(text.encode()), *pipeline.finish()]
        game.observations[0].source = SourceName(name, f"{name}.pgn")
        games.append(replace(game, key=name))
    assert len(games) - sum(len(game.merged_from) - 1 for game in merge_games(games)) == count


def test_the_day_alone_needs_distinctive_times() -> None:
    games = _dated("a01_standard", "observer_Watcher")
    slow = max(games, key=lambda game: len({(ply.elapsed_ms or 0) // 1000 for ply in game.plies}))
    quick = min(games, key=lambda one: len(one.plies))
    for game, verdict in ((_thinking(slow), Verdict.SAME), (quick, Verdict.OPEN)):
        (saved,) = _saved([game], "lichess", ("UTCTime", "Time", "UTCEndTime"))
        assert saved.started_at_ms is None
        assert saved.day == game.day
        assert compare(View(game), View(saved)).verdict is verdict


def _thinking(game: Game) -> Game:
    """The game with think times of 0 to 3 seconds: too few values for a proof without the day."""
    chance = random.Random(1)
    rows = []
    left_ms = [3_600_000, 3_600_000]
    for number, ply in enumerate(game.plies):
        spent_ms = chance.randrange(4) * 1_000 if number > 1 else 0
        left_ms[number % 2] -= spent_ms
        rows.append(ply._replace(elapsed_ms=spent_ms, white_clock_ms=left_ms[0], black_clock_ms=left_ms[1]))
    seen = game.observations[0]
    seen = replace(seen, lines=[replace(seen.lines[0], rows=rows)])
    return replace(
        game,
        base_s=3_600,
        increment_s=0,
        black_base_s=3_600,
        black_increment_s=0,
        observations=[seen],
        segments=[game.segments[0]],
    )
