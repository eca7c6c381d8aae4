"""When a game began: to the minute by a list's header, and by arrival where the server's date cannot be right."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from exporters.games_json import game_object
from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import AnomalyKind, Game, StartPrecision, TimeBasis
from recorder.pipeline import make_pipeline
from recorder.relating.game_view import View
from recorder.sources import SourceKind
from tests.edge_cases.scripts import Table, log
from tests.tracking.answers import RUNNING, movelist

MOVES = ("e4", "e5", "Nf3", "Nc6")
HEADER = datetime(2002, 11, 4, 8, 38, tzinfo=UTC)  # what ``movelist`` prints
OVER = "{White resigns} 0-1"


def read(lines: bytes, kind: SourceKind = SourceKind.RAW) -> tuple[Game, list[AnomalyKind]]:
    pipeline = make_pipeline(kind)
    (game,) = pipeline.receive(lines) + pipeline.finish()
    return game, [anomaly.kind for anomaly in pipeline.report.anomalies]


def stamped(data: bytes, at: datetime) -> bytes:
    """The lines as a client logs them, one second apart."""
    lines = data.replace(b"\r", b"").strip(b"\n").split(b"\n")
    return b"".join(
        f"[{at + timedelta(seconds=number):%Y-%m-%d %H:%M:%S} UTC] ".encode() + line + b"\n"
        for number, line in enumerate(lines)
    )


def joined() -> bytes:
    """Observed from the board after two moves on; then its list."""
    table = Table()
    shown = table.plays(*MOVES[:2])[-1]
    return log(table.observing(), shown, *movelist(*MOVES[:2], trailer=RUNNING), *table.plays(*MOVES[2:]))


def test_a_header_tells_the_minute_and_no_second() -> None:
    game, _ = read(log(*movelist(*MOVES, trailer=OVER, number=None)))
    assert (game.started_at_ms, game.time_basis) == (1000 * int(HEADER.timestamp()), TimeBasis.UTC)
    assert game.start_precision is StartPrecision.MINUTE
    found = game_object(game)
    assert (found["started_at"], found["start_precision"]) == ("2002-11-04T08:38Z", "minute")
    assert game.latest_start_ms == (game.started_at_ms or 0) + 59_999
    for style in ("default", "fics"):
        text = PgnExporter(PgnOptions(style=style)).game_text(game)
        assert '[Date "2002.11.04"]' in text
        assert "Time " not in text.replace("TimeControl ", "")


@pytest.mark.parametrize(
    ("later", "from_header", "disagrees"),
    [
        (timedelta(minutes=3), True, False),
        (timedelta(hours=20), True, False),
        (timedelta(days=9), False, True),
        (timedelta(days=9000), False, True),
        (timedelta(days=-3), False, True),
    ],
)
def test_arrival_wins_where_the_servers_date_cannot_be(later: timedelta, from_header: bool, disagrees: bool) -> None:
    at = HEADER + later
    game, anomalies = read(stamped(joined(), at), SourceKind.STAMPED)
    began = datetime.fromtimestamp((game.started_at_ms or 0) / 1000, UTC)
    assert anomalies.count(AnomalyKind.CLOCK_DISAGREES) == disagrees
    if from_header:
        assert (began, game.start_precision) == (HEADER, StartPrecision.MINUTE)
    else:
        assert at <= began <= at + timedelta(seconds=5)
        assert game.start_precision is StartPrecision.MILLISECOND
        assert game.day == at.date()


def test_a_stored_game_may_be_old() -> None:
    data = stamped(log(*movelist(*MOVES, trailer=OVER, number=None)), HEADER + timedelta(days=4000))
    game, anomalies = read(data, SourceKind.STAMPED)
    assert anomalies == []
    assert game.start_precision is StartPrecision.MINUTE


def test_comparing_takes_the_whole_minute() -> None:
    text = b'[Event "?"]\n[White "Ann"]\n[Black "Bob"]\n[UTCDate "2002.11.04"]\n[UTCTime "08:38:00"]\n\n1. e4 e5 *\n'
    game, _ = read(text, SourceKind.PGN)
    began = game.started_at_ms or 0
    assert View(game).begun_ms == (began, began)
    game.start_precision = StartPrecision.MINUTE
    assert View(game).begun_ms == (began, began + 59_999)
