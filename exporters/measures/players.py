"""Measures of many players at once: one computation for all of them, and then the figures of each.

Their generators ask for tables of plies, which ``exporters.measures.batches`` computes of a frame or of batches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import pandas as pd

from exporters.measures.base import Aggregate, Asked, Plies, collect, lazy
from exporters.measures.batches import steps_of
from exporters.measures.result import attributes
from exporters.measures.think import THINKS
from exporters.tables.arrays import records

__all__ = ["PlayerTable", "longest_by_player", "measure_by_player"]

_ID = "player_id"
_KEPT, _OMITTED = "kept of players", "omitted of players"
_THINKS = ("side", "move_no", "san", "phase", "clock_before_ms", "opponent", "time_control", "precision")


class PlayerTable(NamedTuple):
    """The table of a measure, as far as it is about one player.

    Attributes:
        rows: by the names of columns. attrs: as those of a measure's table, of the player's plies.
    """

    rows: list[dict[str, Any]]
    attrs: Mapping[str, Any]


def measure_by_player(
    plies: pd.DataFrame,
    measured: Callable[..., pd.DataFrame],
    players: Collection[str],
    by: Iterable[str] = (),
    **options: Any,
) -> Generator[Asked, dict[str, Any], dict[str, PlayerTable]]:
    """Ask for a measure of the plies of many players, for ``exporters.measures.batches.computed``.

    Args:
        plies: a ply frame, or a batch. measured: of ``exporters.measures``. players: values of ``mover_id``.
        by: dimensions besides the player. options: of the measure.
    Returns:
        For each of the players the same as the measure of these plies alone, except shares of the whole table.
    """
    steps = steps_of(measured)(plies, by=("player", *by), **options)
    asked: Asked = next(steps)
    while True:
        source = asked.source
        assert source is not None
        omitted = source.judged.group_by(_ID, "excluded").agg(plies=nw.len())
        counts = {_KEPT: source.kept_by(_ID), _OMITTED: Aggregate(omitted, (_ID, "excluded"))}
        found = yield asked._replace(parts={**asked.parts, **counts})
        try:
            asked = steps.send(found)
        except StopIteration as stop:
            table: pd.DataFrame = stop.value
            break
    rows: dict[str, list[dict[str, Any]]] = {player: [] for player in players}
    for row in records(table):
        if row[_ID] in rows:
            rows[row[_ID]].append(row)
    attrs = _attributes(source, players, found[_KEPT], found[_OMITTED])
    return {player: PlayerTable(of_player, attrs[player]) for player, of_player in rows.items()}


def _attributes(
    source: Plies, players: Collection[str], kept_by: pd.DataFrame, omitted: pd.DataFrame
) -> dict[str, dict[str, Any]]:
    """What of each player's plies counts, and what does not."""
    kept = {str(row.pop(_ID)): row for row in records(kept_by)}
    reasons: dict[str, dict[int, int]] = {}
    for row in records(omitted):
        reasons.setdefault(str(row[_ID]), {})[int(row["excluded"])] = int(row["plies"])
    nothing = dict.fromkeys(("games", "plies", "coarse", "partly", "derived", "computed"), 0)
    return {player: attributes(source, kept.get(player, nothing), reasons.get(player, {})) for player in players}


def longest_by_player(
    plies: pd.DataFrame, players: Collection[str], n: int
) -> Generator[Asked, dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """Ask for the plies of each player that took longest, as ``longest_thinks`` has them of one.

    Args:
        plies: a ply frame, or a batch. players: values of ``mover_id``.
        n: how many of each; all that took as long as the last of them are included.
    Returns:
        For each of the players rows by the names of columns, the longest first.
    """
    source = Plies.of(plies, ("player",), ("elapsed_ms", *_THINKS), THINKS)
    thinks = source.rows.select("key", "ply", _ID, "elapsed_ms", *_THINKS)
    longest = _longest(collect({"thinks": Aggregate(thinks, None)})["thinks"], n)
    asked = yield Asked(source.columns, {"longest": Aggregate(lazy(longest), None)}, source)
    table = _longest(asked["longest"], n)  # those of all batches are among the longest of each
    table = table.sort_values(["key", "ply"]).sort_values("elapsed_ms", ascending=False, kind="stable")
    found: dict[str, list[dict[str, Any]]] = {player: [] for player in players}
    for row in records(table):
        if row[_ID] in found:
            found[row[_ID]].append(row)
    return found


def _longest(thinks: pd.DataFrame, n: int) -> pd.DataFrame:
    longer = thinks.groupby(_ID, observed=True)["elapsed_ms"].rank(method="min", ascending=False)
    return thinks[longer <= n]
