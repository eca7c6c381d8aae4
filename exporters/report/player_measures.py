"""The measures of players' pages, computed for many players at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from exporters.measures import definitions
from exporters.measures.definitions import TIMES
from exporters.measures.program import Measured, Program, run_each
from exporters.measures.source import Plies

_THINKS: Final = 10  # the moves that took longest, of each player


class _Wanted(NamedTuple):
    """A measure of a player's ``own`` plies, the opponents', ``both`` (a game may be twice), or ``all`` (once)."""

    define: Callable[..., Program]
    by: tuple[str, ...] = ()
    whose: str = "own"


_CONTROL = ("time_control",)
_WANTED: Final = {
    "profile": _Wanted(definitions.profile, ("time_control", "variant")),
    "curve": _Wanted(definitions.clock_curve, _CONTROL),
    "opponents' curve": _Wanted(definitions.clock_curve, _CONTROL, "theirs"),
    "left": _Wanted(definitions.time_left, _CONTROL),
    "left by phase": _Wanted(definitions.time_left_by_phase, _CONTROL),
    "phases": _Wanted(definitions.time_usage, ("phase",)),
    "follows": _Wanted(definitions.autocorrelation, _CONTROL),
    "scrambles": _Wanted(definitions.scrambles, _CONTROL, "both"),
    "flags": _Wanted(definitions.flags, _CONTROL),
    "leads": _Wanted(definitions.clock_lead),
    "budget": _Wanted(definitions.even_budget, _CONTROL),
    "odds": _Wanted(definitions.time_odds, whose="all"),
    "lag": _Wanted(definitions.lag),
    "opponents' lag": _Wanted(definitions.lag, whose="theirs"),
    "hours": _Wanted(definitions.profile, ("hour",)),
    "weekdays": _Wanted(definitions.profile, ("weekday",)),
    "residuals": _Wanted(definitions.residuals),
}
_OF_EVALUATED: Final = {
    "blunders": _Wanted(definitions.blunders),
    "loss by clock": _Wanted(definitions.loss_by_clock),
    "loss by think": _Wanted(definitions.loss_by_think),
}


class PlayerGame(NamedTuple):
    """A game's time: the player's for the moves of the opening, and the clock after the last move; None: unknown."""

    key: str
    opening_ms: int | None
    last_ms: int | None


class PlayerTables(NamedTuple):
    """What the page of a player shows of the measures, by the names of ``_WANTED``."""

    tables: dict[str, Measured]
    longest: list[dict[str, Any]]
    moves: int
    games: list[PlayerGame]


def measure_players(plies: Plies, players: Mapping[str, str]) -> dict[str, PlayerTables]:
    """The measures of pages, by page; ``players`` maps identities (``mover_id``) to pages, which may have several."""
    pages = sorted(set(players.values()))
    sources = _sources(plies, players)
    own = sources["own"]
    counts = {
        page: (moves, evaluated)
        for page, moves, evaluated in own.rows("SELECT page, count(*), count(loss_permille) FROM plies GROUP BY page")
    }
    evaluated = {page for page, (_, judged) in counts.items() if judged}
    wanted = {**_WANTED, **(_OF_EVALUATED if evaluated else {})}
    tables = {
        name: run_each(kind.define(by=("page", *kind.by)), sources[kind.whose], pages) for name, kind in wanted.items()
    }
    longest, games = _longest(own), _games(own)
    return {
        page: PlayerTables(
            {name: tables[name][page] for name in wanted if name in _WANTED or page in evaluated},
            longest.get(page, []),
            counts.get(page, (0, 0))[0],
            games.get(page, []),
        )
        for page in pages
    }


_SHOWN: Final = "key, ply, side, move_no, san, phase, clock_before_ms, opponent, time_control, precision, elapsed_ms"


def _longest(own: Plies) -> dict[str, list[dict[str, Any]]]:
    """For each page the moves that took longest; all that took as long as the last of them are included."""
    counted = own
    for reason in TIMES:
        counted = counted.where(f"({reason.condition}) IS NOT TRUE")
    rows = counted.execute(
        f"SELECT page, {_SHOWN} FROM plies"
        f" QUALIFY rank() OVER (PARTITION BY page ORDER BY elapsed_ms DESC) <= {_THINKS}"
        " ORDER BY elapsed_ms DESC, key, ply"
    )
    names = [name for name, *_ in rows.description]
    longest: dict[str, list[dict[str, Any]]] = {}
    for row in rows.fetchall():
        longest.setdefault(row[0], []).append(dict(zip(names, row, strict=True)))
    return longest


def _games(own: Plies) -> dict[str, list[PlayerGame]]:
    games: dict[str, list[PlayerGame]] = {}
    charged = "elapsed_ms) FILTER (phase = 'opening' AND move_no > 1)"
    for page, *game in own.rows(
        f"SELECT page, any_value(key), sum({charged}, arg_max(clock_after_ms, ply) FROM plies GROUP BY page, game_id"
    ):
        games.setdefault(page, []).append(PlayerGame(game[0], *(None if ms is None else int(ms) for ms in game[1:])))
    return games


def _sources(plies: Plies, players: Mapping[str, str]) -> dict[str, Plies]:
    listed = ", ".join(f"({_text(identity)}, {_text(page)})" for identity, page in sorted(players.items()))
    pages = f"(SELECT * FROM (VALUES {listed}) pages(identity, page))"
    mover, opponent = (f"LEFT JOIN {pages} {who} ON {who}.identity = p.{who}_id" for who in ("mover", "opponent"))
    moves = plies.select
    if "game_id" not in plies.columns:
        moves = f"SELECT *, {plies.game} AS game_id FROM ({moves})"
    joined = f"FROM ({moves}) p {mover} {opponent}"
    # Who plays both sides is no opponent.
    against = "opponent.page IS NOT NULL AND opponent.page IS DISTINCT FROM mover.page"
    twice = "SELECT p.* REPLACE (hash(p.game_id, {0}.page) AS game_id), {0}.page AS page " + joined + " WHERE {1}"
    selects = {
        "own": f"SELECT p.*, mover.page AS page {joined} WHERE mover.page IS NOT NULL",
        "theirs": f"SELECT p.*, opponent.page AS page {joined} WHERE {against}",
        "both": f"{twice.format('mover', 'mover.page IS NOT NULL')} UNION ALL {twice.format('opponent', against)}",
        "all": f"SELECT p.*, coalesce(mover.page, '') AS page {joined}"
        " WHERE mover.page IS NOT NULL OR opponent.page IS NOT NULL",
    }
    columns = plies.columns | {"page", "game_id"}
    return {whose: replace(plies, select=select, columns=columns) for whose, select in selects.items()}


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
