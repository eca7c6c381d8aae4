"""Measures of many players at once: one computation for all of them, and then the figures of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import pandas as pd

from exporters.measures.base import Aggregate, Asked, Plies, collect
from exporters.measures.batches import steps_of
from exporters.measures.result import attributes
from exporters.measures.think import THINKS
from exporters.tables.arrays import records

__all__ = ["PlayerTable", "longest_by_player", "measure_by_player"]

_ID = "player_id"
_THINKS = ("side", "move_no", "san", "phase", "clock_before_ms", "opponent", "time_control", "precision")


class PlayerTable(NamedTuple):
    """The table of a measure, as far as it is about one player.

    Attributes:
        rows: by the names of columns. attrs: as those of a measure's table, of the player's plies.
    """

    rows: list[dict[str, Any]]
    attrs: Mapping[str, Any]


def measure_by_player(
    measured: Callable[..., pd.DataFrame],
    plies: pd.DataFrame,
    players: Collection[str],
    by: Iterable[str] = (),
    **options: Any,
) -> dict[str, PlayerTable]:
    """Compute a measure of the plies of many players.

    Args:
        measured: of ``exporters.measures``. plies: a ply frame. players: values of ``mover_id``.
        by: dimensions besides the player. options: of the measure.
    Returns:
        For each of the players the same as the measure of these plies alone, except shares of the whole table.
    """
    steps = steps_of(measured)(plies, by=("player", *by), **options)
    asked: Asked = next(steps)
    while True:
        source = asked.source
        try:
            asked = steps.send(dict(collect(asked.parts)))
        except StopIteration as stop:
            table: pd.DataFrame = stop.value
            break
    assert source is not None
    rows: dict[str, list[dict[str, Any]]] = {player: [] for player in players}
    for row in records(table):
        if row[_ID] in rows:
            rows[row[_ID]].append(row)
    attrs = _attributes(source, players)
    return {player: PlayerTable(found, attrs[player]) for player, found in rows.items()}


def _attributes(source: Plies, players: Collection[str]) -> dict[str, dict[str, Any]]:
    """What of each player's plies counts, and what does not."""
    omitted = source.judged.group_by(_ID, "excluded").agg(plies=nw.len())
    found = collect({"kept": source.kept_by(_ID), "omitted": Aggregate(omitted, (_ID, "excluded"))})
    kept = {str(row.pop(_ID)): row for row in records(found["kept"])}
    reasons: dict[str, dict[int, int]] = {}
    for row in records(found["omitted"]):
        reasons.setdefault(str(row[_ID]), {})[int(row["excluded"])] = int(row["plies"])
    nothing = dict.fromkeys(("games", "plies", "coarse", "partly", "derived", "computed"), 0)
    return {player: attributes(source, kept.get(player, nothing), reasons.get(player, {})) for player in players}


def longest_by_player(plies: pd.DataFrame, players: Collection[str], n: int) -> dict[str, list[dict[str, Any]]]:
    """The plies of each player that took longest, as ``longest_thinks`` has them of one.

    Args:
        plies: a ply frame. players: values of ``mover_id``.
        n: how many of each; all that took as long as the last of them are included.
    Returns:
        For each of the players rows by the names of columns, the longest first.
    """
    source = Plies.of(plies, ("player",), ("elapsed_ms", *_THINKS), THINKS)
    thinks = source.rows.select("key", "ply", _ID, "elapsed_ms", *_THINKS)
    table = collect({"thinks": Aggregate(thinks, None)})["thinks"]
    longer = table.groupby(_ID, observed=True)["elapsed_ms"].rank(method="min", ascending=False)
    table = table[longer <= n].sort_values(["key", "ply"]).sort_values("elapsed_ms", ascending=False, kind="stable")
    found: dict[str, list[dict[str, Any]]] = {player: [] for player in players}
    for row in records(table):
        if row[_ID] in found:
            found[row[_ID]].append(row)
    return found
