"""Each exporter writes one game."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from exporters.base import Exporter
from exporters.bpgn import BpgnExporter
from exporters.games_json import GamesJsonExporter
from exporters.pgn.exporter import PgnExporter
from tests.exporters.games import make_game

EXPORTERS: list[Callable[[], Exporter]] = [
    PgnExporter,
    BpgnExporter,
    GamesJsonExporter,
]


@pytest.mark.parametrize("make", EXPORTERS)
def test_each_exporter_writes_a_game(make: Callable[[], Exporter]) -> None:
    out = io.BytesIO()
    report = make().write([make_game(variant="bughouse" if make is BpgnExporter else "chess")], out)
    assert out.getvalue()
    assert (report.games, report.plies) == (1, 7)
