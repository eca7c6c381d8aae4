"""The measures of players' pages, computed for many players at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from exporters import measures
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


def measure_players(plies: pd.DataFrame, players: Mapping[str, str]) -> dict[str, PlayerTables]:
    """Compute the measures of players' pages, for all players at once.

    Args:
        plies: the ply frame of all their games, both sides.
        players: by identity, as ``mover_id`` has it, whose page the plies are for. A page may have several identities.
    Returns:
        The tables by page.
    """
    mover, opponent = (plies[name].astype("string").map(players) for name in ("mover_id", "opponent_id"))
    frames = _frames(plies, mover, opponent)
    own = frames["own"]
    pages = set(players.values())
    evaluated = set(own.loc[own["loss_permille"].notna(), "mover_id"])
    wanted = {**_WANTED, **(_OF_EVALUATED if evaluated else {})}
    found = {
        name: measure_by_player(one.measure, frames[one.whose], pages, one.by, **one.options)
        for name, one in wanted.items()
    }
    longest = longest_by_player(own, pages, _THINKS)
    moves = own["mover_id"].value_counts()
    return {
        page: PlayerTables(
            {name: of[page] for name, of in found.items() if name not in _OF_EVALUATED or page in evaluated},
            longest[page],
            int(moves.get(page, 0)),
        )
        for page in pages
    }


def _frames(plies: pd.DataFrame, mover: pd.Series[Any], opponent: pd.Series[Any]) -> dict[str, pd.DataFrame]:
    """The plies of each ``whose``, with the columns that its measures read; ``mover_id`` is the page.

    Args:
        plies: a ply frame. mover, opponent: the pages that these players of each ply have, if any.
    """
    import pandas as pd

    against = opponent.notna() & ~opponent.eq(mover).fillna(False)

    def of(whose: str, chosen: pd.Series[bool], who: pd.Series[Any]) -> pd.DataFrame:
        return plies.loc[chosen, [*_READ, *_READ_OF[whose]]].assign(mover_id=who[chosen])

    both = pd.concat([of("both", mover.notna(), mover), of("both", against, opponent)])
    if mover[against].notna().any():
        both["key"] = both["key"].astype("string") + " " + both["mover_id"].astype("string")
    every = plies[[*_READ, *_READ_OF["all"]]].assign(mover_id=mover.fillna(plies["mover_id"].astype("string")))
    return {
        "own": of("own", mover.notna(), mover),
        "theirs": of("theirs", against, opponent),
        "both": both,
        "all": every,
    }
