"""An archive and ways to fill it."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recorder.model import (
    Anchor,
    AnchorReason,
    EventKind,
    Game,
    GameEnd,
    GameEvent,
    GameKind,
    HoldingsChange,
    LineKind,
    Observation,
    ObservationKind,
    Player,
    Ply,
    PlyLine,
    Segment,
    SourceReport,
    TimeBasis,
)
from recorder.rules.position import encode_move
from storage import ArchiveStore, GameFilter, SourceRow

EVERYTHING = GameFilter(kinds=frozenset(), min_plies=0, per_source=True)
"""The games as their sources give them, merged or not."""
MAY_2020 = 1_588_291_200_000


def make_game(number: int = 0, **changes: Any) -> Game:
    """A two-ply game with a takeback, holdings and chat; ``number`` makes it another one."""
    at = MAY_2020 + 60_000 * number
    offset = 1_000 * number
    seen = Observation(
        ObservationKind.LIVE,
        7,
        "Ann",
        "Bob",
        0,
        offset,
        offset + 900,
        at,
        at + 9_000,
        None,
        anchors=[Anchor(0, 0, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", AnchorReason.START, offset)],
        lines=[
            PlyLine(
                0,
                LineKind.MAIN,
                None,
                None,
                [
                    Ply(
                        1,
                        encode_move("e2e4"),
                        "e4",
                        180_000,
                        180_000,
                        0,
                        0,
                        at + 1_000,
                        15 + 16 * 5,
                        0,
                        1,
                        0,
                        1,
                        offset + 10,
                    ),
                    Ply(
                        2,
                        encode_move("g8f6"),
                        "Nf6",
                        180_000,
                        178_500,
                        1_500,
                        42,
                        at + 2_500,
                        15,
                        1,
                        1,
                        0,
                        1,
                        offset + 20,
                    ),
                ],
            ),
            PlyLine(
                1,
                LineKind.TAKEBACK,
                0,
                1,
                [
                    Ply(
                        2,
                        encode_move("e7e5"),
                        "e5",
                        180_000,
                        179_000,
                        1_000,
                        40,
                        at + 2_000,
                        15,
                        0,
                        1,
                        0,
                        1,
                        offset + 15,
                    ),
                ],
            ),
        ],
        holdings=[HoldingsChange(0, 2, "", "P", None, at + 2_501, offset + 21)],
        events=[
            GameEvent(0, EventKind.TAKEBACK, "", 1, "Bob", 1, "2-1", None, None, None, offset + 16),
            GameEvent(
                1,
                EventKind.CHAT,
                "kibitz",
                2,
                "Ann",
                None,
                "Ann(1500)[7] kibitzes: hi Bob",
                None,
                None,
                at,
                offset + 30,
            ),
            GameEvent(
                2, EventKind.CHAT, "tell", 2, "Bob", None, "Bob tells you: my secret", None, None, at, offset + 31
            ),
        ],
    )
    game = Game(
        key=hashlib.sha256(b"%d" % number).hexdigest()[:20],
        kind=GameKind.PLAYED,
        server="FICS",
        dialect="fics",
        game_no=7,
        white=Player("Ann", "1500", 1500),
        black=Player("Bob", "1467P", 1467),
        rated=True,
        variant="chess",
        category="blitz",
        base_s=180,
        increment_s=0,
        black_base_s=180,
        black_increment_s=0,
        base_inferred=False,
        variant_inferred=False,
        start_fen=None,
        start_ply=0,
        result="1-0",
        reason="Bob resigns",
        reason_key="resign",
        termination="normal",
        end=GameEnd.RESULT,
        started_at_ms=at,
        ended_at_ms=at + 9_000,
        time_basis=TimeBasis.UTC,
        date_text=None,
        complete=True,
        continued=False,
        partner_game_no=None,
        me="Ann",
        observations=[seen],
        segments=[Segment(1, 2, 0)],
        first_offset=offset,
        last_offset=offset + 900,
    )
    return replace(game, **changes)


Import = Callable[..., SourceRow]


def import_bytes(
    archive: ArchiveStore,
    data: bytes,
    games: Iterable[Game] = (),
    *,
    keep: bool = True,
    continues: SourceRow | None = None,
    read_up_to: int = 0,
    report: SourceReport | None = None,
    name: str = "session.log",
    kind: str = "raw",
) -> SourceRow:
    """Write one source as the importer does."""
    sha256 = hashlib.sha256(data).hexdigest()
    with archive.write_source(
        sha256=sha256,
        size_bytes=len(data),
        name=name,
        path=f"/logs/{name}",
        kind=kind,
        keep=keep,
        parser_version="1",
        options={"tz": None},
        continues=continues,
    ) as writer:
        writer.keep(data[writer.keep_from :])
        writer.add_games(list(games))
        writer.finish(report or SourceReport(kind=kind), read_up_to)
    (row,) = (row for row in archive.sources() if row.sha256 == sha256)
    return row


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.db"


@pytest.fixture
def archive(path: Path) -> Iterator[ArchiveStore]:
    with ArchiveStore.open(str(path), create=True) as archive:
        yield archive
