"""The measures of players' pages, computed for many players at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from exporters import measures
from exporters.measures.base import Aggregate, Asked, lazy
from exporters.measures.batches import Begin, PlyBatches, computed_together
from exporters.measures.players import PlayerTable, longest_by_player, measure_by_player

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PlayerTables", "measure_players"]

_THINKS: Final = 10
"""The moves that took longest, of each player."""


class _Wanted(NamedTuple):
    """A measure of a page.

    ``whose``: the plies that it is about: the player's ``own``, the opponents' (``theirs``), those of ``both``, where a
    game of two of the players is there twice, or of ``all``, where it is there once.
    """

    measure: Callable[..., pd.DataFrame]
    by: tuple[str, ...] = ()
    whose: str = "own"
    options: Mapping[str, Any] = {}


_CONTROL = ("time_control",)
_WANTED: Final = {
    "profile": _Wanted(measures.profile, ("time_control", "variant")),
    "left": _Wanted(measures.time_left, _CONTROL),
    "left by phase": _Wanted(measures.time_left_by_phase, _CONTROL),
    "phases": _Wanted(measures.time_usage, ("phase",), options={"first_moves": False}),
    "follows": _Wanted(measures.autocorrelation, _CONTROL),
    "scrambles": _Wanted(measures.scrambles, _CONTROL, "both"),
    "flags": _Wanted(measures.flags, _CONTROL),
    "leads": _Wanted(measures.clock_lead),
    "budget": _Wanted(measures.even_budget, _CONTROL),
    "odds": _Wanted(measures.time_odds, whose="all"),
    "lag": _Wanted(measures.lag),
    "opponents' lag": _Wanted(measures.lag, whose="theirs"),
    "hours": _Wanted(measures.profile, ("hour",)),
    "weekdays": _Wanted(measures.profile, ("weekday",)),
    "residuals": _Wanted(measures.residuals),
}
_OF_EVALUATED: Final = {
    "blunders": _Wanted(measures.blunders),
    "loss by clock": _Wanted(measures.loss_by_clock),
    "loss by think": _Wanted(measures.loss_by_think),
}
_READ = (
    "key", "ply", "kind", "origin", "complete", "precision", "mover", "mover_id", "mover_guest", "mover_computer",
)  # fmt: skip
_READ_OF: Final = {
    "own": (
        "arrival_ms", "base_s", "cause", "clock_after_ms", "clock_before_ms", "elapsed_ms", "increment_s", "lag_ms",
        "loss_cp", "loss_permille", "move_no", "mover_rating", "mover_score", "mover_sealed", "opponent",
        "opponent_clock_ms", "phase", "residual_ms", "san", "side", "termination", "time_basis", "time_control",
        "variant",
    ),
    "theirs": ("lag_ms", "mover_sealed"),
    "both": ("clock_before_ms", "elapsed_ms", "opponent_clock_ms", "time_control"),
    "all": ("elapsed_ms", "mover_score", "termination", "time_control"),
}  # fmt: skip
"""The columns that the measures read, besides ``_READ``; others are not copied."""


class PlayerTables(NamedTuple):
    """What the page of a player shows of the measures.

    Attributes:
        tables: by the names of ``_WANTED``. longest: the moves that took longest. moves: how many the player made.
    """

    tables: dict[str, PlayerTable]
    longest: list[dict[str, Any]]
    moves: int


def measure_players(
    plies: pd.DataFrame | PlyBatches,
    players: Mapping[str, str],
    more: Mapping[str, Begin] = {},
    more_of_evaluated: Mapping[str, Begin] = {},
) -> tuple[dict[str, PlayerTables], dict[str, Any]]:
    """Compute the measures of players' pages, for all players at once.

    Args:
        plies: those of all their games, both sides: a frame, or batches, which are read together for all measures.
        players: by identity, as ``mover_id`` has it, whose page the plies are for. A page may have several identities.
        more: what else is computed, as ``computed_together`` takes it. more_of_evaluated: likewise, if engines
            evaluated a move of one of the players.
    Returns:
        The tables by page; and by its name in ``more`` and ``more_of_evaluated`` what else was computed.
    """
    pages = set(players.values())
    frames = _Frames(players)
    if isinstance(plies, PlyBatches):
        plies = plies._replace(read=partial(frames.read, plies))

    def measures_of(wanted: Mapping[str, _Wanted]) -> dict[str, Begin]:
        return {name: partial(_measured, one, frames, pages) for name, one in wanted.items()}

    def longest(batch: pd.DataFrame) -> Generator[Asked, dict[str, Any], dict[str, list[dict[str, Any]]]]:
        return longest_by_player(frames.of("own", batch), pages, _THINKS)

    found = computed_together(
        {**measures_of(_WANTED), **more, _LONGEST: longest, _MOVES: lambda batch: _moves(frames.of("own", batch))},
        plies,
    )
    moves: pd.DataFrame = found[_MOVES].set_index("mover_id")
    evaluated = set(moves.index[moves["evaluated"] > 0])
    if evaluated:
        found |= computed_together({**measures_of(_OF_EVALUATED), **more_of_evaluated}, plies)
    tables = {
        page: PlayerTables(
            {name: found[name][page] for name in (*_WANTED, *_OF_EVALUATED) if name in _WANTED or page in evaluated},
            found[_LONGEST][page],
            int(moves["moves"].get(page, 0)),
        )
        for page in pages
    }
    return tables, {name: found[name] for name in (*more, *more_of_evaluated) if name in found}


_LONGEST, _MOVES = "longest", "moves"


def _measured(
    wanted: _Wanted, frames: _Frames, pages: Collection[str], batch: pd.DataFrame
) -> Generator[Asked, dict[str, Any], dict[str, PlayerTable]]:
    return measure_by_player(frames.of(wanted.whose, batch), wanted.measure, pages, wanted.by, **wanted.options)


def _moves(own: pd.DataFrame) -> Generator[Asked, dict[str, Any], pd.DataFrame]:
    """How many moves each page's player made, and how many of them were evaluated."""
    counted = own[["mover_id"]].assign(moves=1, evaluated=own["loss_permille"].notna().astype("int64"))
    counted = counted.groupby("mover_id", sort=False).sum().reset_index()
    found = yield Asked(frozenset({"loss_permille"}), {"moves": Aggregate(lazy(counted), ("mover_id",))})
    table: pd.DataFrame = found["moves"]
    return table


class _Frames:
    """The plies of each ``whose``; ``mover_id`` is the page. Those of one batch are kept for the next measure.

    Args:
        players: as for ``measure_players``.
    """

    def __init__(self, players: Mapping[str, str]) -> None:
        self._players = players
        self._batch: pd.DataFrame | None = None
        self._frames: dict[str, pd.DataFrame] = {}

    def read(self, plies: PlyBatches, names: Collection[str]) -> Iterator[pd.DataFrame]:
        """The batches; the frames of one are freed before the next is read."""
        for batch in plies.read({*names, "mover_id", "opponent_id"}):
            yield batch
            del batch
            self._batch = None
            self._frames = {}

    def of(self, whose: str, batch: pd.DataFrame) -> pd.DataFrame:
        """The plies of a batch, with those columns that the measures of ``whose`` read."""
        if batch is not self._batch:
            mover, opponent = (batch[name].astype("string").map(self._players) for name in ("mover_id", "opponent_id"))
            self._frames = _frames(batch, mover, opponent)
            self._batch = batch
        return self._frames[whose]


def _frames(plies: pd.DataFrame, mover: pd.Series[Any], opponent: pd.Series[Any]) -> dict[str, pd.DataFrame]:
    """The plies of each ``whose``, with the columns that its measures read; ``mover_id`` is the page.

    Args:
        plies: a ply frame. mover, opponent: the pages that these players of each ply have, if any.
    """
    import pandas as pd

    against = opponent.notna() & ~opponent.eq(mover).fillna(False)

    def of(whose: str, chosen: pd.Series[bool], who: pd.Series[Any]) -> pd.DataFrame:
        columns = [name for name in (*_READ, *_READ_OF[whose]) if name in plies]
        return plies.loc[chosen, columns].assign(mover_id=who[chosen])

    both = pd.concat([of("both", mover.notna(), mover), of("both", against, opponent)])
    if mover[against].notna().any():
        both["key"] = both["key"].astype("string") + " " + both["mover_id"].astype("string")
    return {
        "own": of("own", mover.notna(), mover),
        "theirs": of("theirs", against, opponent),
        "both": both,
        "all": of("all", mover.notna() | opponent.notna(), mover.fillna(_NO_PAGE)),
    }


_NO_PAGE: Final = ""
"""The page of all players who have none."""
