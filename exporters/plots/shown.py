"""The plies that a picture of many games shows: what its title and its footer state of them, and which count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from exporters.measures.program import Measured, Program, Reason, Stats, frame_of_rows, run
from exporters.measures.source import Plies, among
from exporters.plots.words import COARSE, MEANINGS, about_game, dates_of, footer_marks, footer_text, headline, title_of

_ALIKE: Final = "server, rated, category, variant, side, time_control, base_s, increment_s"
_ENDED: Final = "result, ending, termination, arrival_ms, time_basis"
_SAMPLED: Final = f"key, {_ALIKE}, mover, opponent, mover_rating, opponent_rating, {_ENDED}"


@dataclass(frozen=True)
class Shown:
    """What a picture states of its plies; ``attrs`` (``games``, ``plies``, ``excluded``) are of the drawn ones."""

    titled: Plies
    player: str | None
    attrs: dict[Any, Any]
    marks: dict[str, int]

    @cached_property
    def sample(self) -> pd.DataFrame:
        """Rows of which titles are made: of sides that are alike in all that titles state the first and the last."""
        return _sample(self.titled, self.player)

    def head(self, what: str) -> tuple[str, str]:
        return headline(self.sample, self.player, what)

    def footer(self, *notes: str | None) -> str:
        return footer_text(self.attrs, self.marks, *notes)


@dataclass(frozen=True)
class GameShown:
    """What a picture states of one game, or of those of a match: all their plies, and those that are ``drawn``."""

    games: Sequence[pd.DataFrame]
    drawn: pd.DataFrame

    @property
    def shown(self) -> GameShown:
        """Itself: most pictures of a game show nothing else."""
        return self

    @property
    def plies(self) -> pd.DataFrame:
        """Of the only game."""
        return self.games[0]

    def head(self, what: str) -> tuple[str, str]:
        return "  |  ".join(map(title_of, self.games)), " · ".join(filter(None, (what, about_game(self.plies))))

    def footer(self, *notes: str | None) -> str:
        return footer_text(self.drawn.attrs, footer_marks(self.drawn), *notes)


MOVE_COLUMNS: Final = ("key", "ply", "move_no", "side", "mover", "san", "phase", "precision", "proof", "origin")


def rows_of(*more: str) -> Callable[[Any], pd.DataFrame]:
    """The plies of one game that a picture draws, as a table with these columns, too."""

    def table(data: Any) -> pd.DataFrame:
        drawn: pd.DataFrame = data.shown.drawn
        rows = drawn[[*MOVE_COLUMNS, *more]].reset_index(drop=True)
        rows.attrs = drawn.attrs
        return rows

    return table


@dataclass(frozen=True)
class Drawn:
    plies: Plies
    reasons: Sequence[Reason]

    @property
    def kept(self) -> Plies:
        rest = self.plies
        for reason in self.reasons:
            rest = rest.where(f"({reason.condition}) IS NOT TRUE")
        return rest


def reasons_against(column: str, *, clocks: bool = False, thinks: bool = False) -> list[Reason]:
    """Why a ply is not drawn: ``column`` is unknown, with ``clocks`` also untimed, with ``thinks`` first moves."""
    measured = thinks or column == "lag_ms"  # the measures of these exclude inferred plies
    inferred = "origin = 'inferred'" if measured else f"origin = 'inferred' AND {column} IS NULL"
    return [
        *([Reason("of untimed games", "time_control = '-'")] if clocks or thinks else []),
        Reason("of examined games", "kind <> 'played'"),
        Reason("inferred", inferred),
        Reason(f"without a known {MEANINGS[column]}", f"{column} IS NULL"),
        *([Reason("of first moves", "move_no = 1")] if thinks else []),
    ]


def shown_of(drawn: Drawn, *, about: Plies | None = None, player: str | None = None, mark_all: bool = False) -> Shown:
    """What a picture states: its title of ``about``, by default ``drawn``; its footer of all plies if ``mark_all``."""
    titled = drawn.plies if about is None else about
    counted = run(Program((), drawn.reasons, {"n": "games"}), drawn.plies).attrs
    attrs = {name: counted[name] for name in ("games", "plies", "excluded")}
    return Shown(titled, player, attrs, footer_marks(drawn.plies if mark_all else drawn.kept))


def _sample(plies: Plies, player: str | None) -> pd.DataFrame:
    """The rows of titles: several games have rows of several games, and the player's first row is one of them."""
    game = plies.game
    ends = plies.rows(f"SELECT min({game}), max({game}) FROM plies GROUP BY {_ALIKE}")
    if player is not None:
        ends += plies.moved_by([player]).rows(f"SELECT min({game}), NULL FROM plies")
    games = {key for pair in ends for key in pair if key is not None}
    condition = (
        among(game, games) if game != "game_id" else f"{game} IN ({', '.join(map(str, sorted(games))) or 'NULL'})"
    )
    relation = plies.where(condition).sql(
        f"SELECT {_SAMPLED} FROM plies QUALIFY row_number() OVER (PARTITION BY key, side ORDER BY ply) = 1"
        " ORDER BY key, ply"
    )
    sample = frame_of_rows(relation.columns, [str(kind) for kind in relation.types], relation.fetchall())
    if player is not None:  # the player's spelling comes first
        own = sample["mover"].str.lower().eq(player.lower()).fillna(False)
        sample = pd.concat([sample[own], sample[~own]], ignore_index=True)
    sample.attrs["dates"] = dates_of(plies)
    return sample


def counts_of(drawn: Drawn, by: str, value: str, derived: Mapping[str, str] | None = None) -> pd.DataFrame:
    """How often each value occurs by group: columns ``by``, ``value``, ``coarse`` and ``n``."""
    kept = drawn.kept if derived is None else _with(drawn.kept, derived)
    relation = kept.sql(
        f"SELECT {by}, {value}, coalesce({COARSE}, FALSE)::INTEGER AS coarse, count(*) AS n FROM plies"
        " GROUP BY ALL ORDER BY ALL"
    )
    values = relation.fetchnumpy()
    return pd.DataFrame(
        {
            name: np.where(of.mask, np.array(None), of.data) if np.ma.is_masked(of) else np.ma.getdata(of)
            for name, of in values.items()
        }
    )


def ranked(values: NDArray[np.int64], count: NDArray[np.int64], percent: int | None = None) -> float:
    """The value of a nearest rank, of values and how often each occurs; by default the median."""
    order = np.argsort(values)
    upto = np.cumsum(count[order])
    whole = int(upto[-1])
    ranks = ((whole + 1) // 2, whole // 2 + 1) if percent is None else (-(-whole * percent // 100),)
    return float(np.mean([values[order][np.searchsorted(upto, rank)] for rank in ranks]))


def figures_of(
    drawn: Drawn,
    by: Sequence[str],
    value: str,
    wanted: Mapping[str, int | None],
    derived: Mapping[str, str] | None = None,
) -> Measured:
    """Games, plies, the greatest value and quantiles by group, of the plies that are drawn."""
    names = ("games", "plies", "most_ms", *wanted)
    columns = {**{name: name for name in names}, "precision": "precision"}
    plies = drawn.plies if derived is None else _with(drawn.plies, derived)
    program = Program(
        (), drawn.reasons, columns, also=by, derived=dict(derived or {}), values={"values": Stats(value, wanted)}
    )
    return run(program, drawn.plies if derived else plies)


def _with(plies: Plies, derived: Mapping[str, str]) -> Plies:
    more = ", ".join(f"{text} AS {name}" for name, text in derived.items())
    return replace(plies, select=f"SELECT *, {more} FROM ({plies.select})", columns=plies.columns | set(derived))
