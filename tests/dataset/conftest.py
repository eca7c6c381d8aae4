"""An archive of logs of which no two have a game in common, and the data set of the same games."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recorder import Archive, Dataset
from storage import ArchiveStore
from tests.support.cli import GUESTS, SERVER, WATCHER, Cli
from tests.support.evaluated import PGN as PGN_WITH_EVALUATIONS

LOGS = (
    GUESTS,
    WATCHER,
    SERVER / "a03_crazyhouse" / "observer_GuestObsD.raw.gz",
    SERVER / "a10_examine" / "observer_GuestExa.raw",
    SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz",
    SERVER / "a13_timeseal_lag" / "observer_GuestTsa.raw",
    SERVER / "x03_zippy_engines" / "xboard_fairymax.debug.gz",
    SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn",
    SERVER.parent / "pgn" / "icc-saved-2012.pgn",
    SERVER.parent / "ficsgames" / "2009-wildfr.pgn",
)


@pytest.fixture(scope="session")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    found = Cli(tmp_path_factory.mktemp("dataset") / "archive.sqlite")
    evaluated = found.archive.with_name("evaluated.pgn")
    evaluated.write_bytes(PGN_WITH_EVALUATIONS)
    found("import", "--date", "2020-01-31", *LOGS, evaluated)
    return found


@pytest.fixture(scope="session")
def archive(cli: Cli) -> Archive:
    return Archive(cli.archive, read_only=True)


@pytest.fixture(scope="session")
def folder(archive: Archive, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TODO the real writer."""
    target = tmp_path_factory.mktemp("dataset") / "games"
    every: Any = {"include": ["examined", "setup", "empty"]}
    plies, games, sides = archive.plies(**every), archive.game_table(**every), archive.sides(**every)
    found: dict[str, Any] = {game.key: game for game in archive.games(**every)}
    assert not any(game.merged_from for game in found.values())
    source = {key: game.observations[0].source.sha256 for key, game in found.items()}
    white, black = (sides[sides["side"] == side].reset_index(drop=True) for side in ("white", "black"))
    games = games.assign(
        base_s=white["base_s"],
        increment_s=white["increment_s"],
        black_base_s=black["base_s"],
        black_increment_s=black["increment_s"],
        white_sealed=white["player_sealed"],
        black_sealed=black["player_sealed"],
        me=[found[key].me for key in games["key"]],
        offset=[found[key].first_offset for key in games["key"]],
        start_fen=[found[key].start_fen for key in games["key"]],
        start_ply=[found[key].start_ply for key in games["key"]],
    )
    storage = ArchiveStore.open(str(archive.path), read_only=True)
    for sha256 in sorted(set(source.values())):
        parts = []
        for name, table in (("plies", plies), ("games", games)):
            own = table[table["key"].map(source) == sha256].assign(source=sha256)
            parts.append(f"{name}/{sha256[:12]}.parquet")
            (target / name).mkdir(parents=True, exist_ok=True)
            words = own.select_dtypes("category").columns
            own = own.astype(
                {
                    **dict.fromkeys(words, "string"),
                    **({"me": "string", "start_fen": "string"} if name == "games" else {}),
                }
            )
            own.to_parquet(target / parts[-1])
        (target / "sources").mkdir(exist_ok=True)
        row = storage.source(sha256)
        record = {name: getattr(row, name) for name in ("sha256", "name", "kind", "size_bytes", "games")}
        record["parts"] = [{"name": part, "rows": 0} for part in parts]
        (target / "sources" / f"{sha256}.json").write_text(json.dumps(record))
    return target


@pytest.fixture(scope="session")
def dataset(folder: Path) -> Iterator[Dataset]:
    with Dataset(folder) as found:
        yield found
