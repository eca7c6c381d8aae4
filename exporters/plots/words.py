"""What is drawn and what is excluded, in words: titles, subtitles, footers, and the rows that count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from exporters.plots.style import plain
from exporters.tables.facts import choose_player
from recorder.errors import ExportError

__all__ = [
    "about_game",
    "about_games",
    "counted",
    "footer_text",
    "games_of",
    "handles_of",
    "is_coarse",
    "moves_of",
    "name_of",
    "only_game",
    "one",
    "title_of",
    "usable",
    "whole_seconds",
]

_RATED = {True: "rated", False: "unrated"}


def only_game(plies: pd.DataFrame, picture: str) -> None:
    """Check that a frame holds one game.

    Raises:
        ExportError: it holds none, or several.
    """
    games = plies["key"].nunique()
    if games == 0:
        raise ExportError(f"No data: no game in this selection has a known move ({picture}).")
    if games > 1:
        raise ExportError(f"The picture {picture} shows one game, and {games:,} match.")


def moves_of(plies: pd.DataFrame, player: str | None) -> pd.DataFrame:
    """The moves of one player, whatever the case of the handle; all moves for None.

    Raises:
        ExportError: several guests, maybe different people, had this handle.
    """
    return plies if player is None else plies[plies["mover_id"].isin(choose_player(plies, player).identities)]


def _spellings(plies: pd.DataFrame, player: str) -> list[str]:
    return [name for name in plies["mover"].dropna().unique() if str(name).lower() == player.lower()]


def name_of(plies: pd.DataFrame, player: str) -> str:
    """A player's handle as the server writes it, ready to be drawn."""
    return plain(next(iter(_spellings(plies, player)), player))


def games_of(plies: pd.DataFrame, player: str | None) -> pd.DataFrame:
    """All moves of the games in which a player moved; everything for None."""
    return plies if player is None else plies[plies["key"].isin(moves_of(plies, player)["key"].unique())]


def usable(plies: pd.DataFrame, column: str, *, clocks: bool = False, thinks: bool = False) -> pd.DataFrame:
    """The rows whose ``column`` is known.

    Args:
        clocks: exclude untimed games. thinks: exclude these and each side's first move, which is no think: the
            rule of ``exporters.measures.time_usage`` without first moves.
    Returns:
        The rows, with ``attrs`` ``games``, ``plies`` and ``excluded`` (reason → plies).
    Raises:
        ExportError: there are none; the message has the reason.
    """
    excluded: dict[str, int] = {}
    kept = plies

    def exclude(reason: str, which: Any) -> None:
        nonlocal kept
        count = int(which.sum())
        if count:
            excluded[reason] = count
            kept = kept[~which]

    if clocks or thinks:
        exclude("of untimed games", kept["time_control"].eq("-").fillna(False).astype(bool))
    exclude("of examined games", kept["kind"].ne("played").fillna(False).astype(bool))
    unknown = kept[column].isna()
    measured = thinks or column == "lag_ms"  # the measures of these exclude inferred plies
    exclude("inferred", (unknown | measured) & kept["origin"].eq("inferred").fillna(False).astype(bool))
    exclude(f"without a known {_MEANING[column]}", kept[column].isna())
    if thinks:
        exclude("of first moves", kept["move_no"].eq(1).fillna(False).astype(bool))
    if kept.empty:
        why = f" ({_counted(excluded)})" if excluded else ": no game with a known move was chosen"
        raise ExportError(f"No data{why}.")
    kept = kept.copy(deep=False)
    kept.attrs = {"games": int(kept["key"].nunique()), "plies": len(kept), "excluded": excluded}
    return kept


_MEANING = {
    "elapsed_ms": "time",
    "clock_after_ms": "clock",
    "lag_ms": "lag",
    "arrival_ms": "arrival time",
    "evaluation": "evaluation",
}


def counted(plies: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
    """How often each value occurs by group: what ``exporters.measures.result.summary`` takes."""
    rows = plies[[*by, value]].assign(
        coarse=is_coarse(plies).astype("Int64"), known=plies["precision"].notna().astype("Int64"), n=1
    )
    found = rows.groupby([*by, value, "coarse"], observed=True).agg(n=("n", "sum"), known=("known", "sum"))
    return found.astype("Int64").reset_index()


def _counted(excluded: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {'ply' if count == 1 else 'plies'} {reason}" for reason, count in excluded.items())


def footer_text(drawn: pd.DataFrame, *notes: str | None) -> str:
    """``1 game, 80 plies · excluded: 2 plies without a known clock · clocks in whole seconds``."""
    attrs = drawn.attrs
    games, plies = attrs["games"], attrs["plies"]
    parts = [f"{games:,} game{'' if games == 1 else 's'}, {plies:,} {'ply' if plies == 1 else 'plies'}"]
    parts += [f"excluded: {_counted(attrs['excluded'])}"] if attrs["excluded"] else ["nothing excluded"]
    is_in_progress = drawn["ending"].eq("in-progress").fillna(False).astype(bool)
    in_progress = drawn.loc[is_in_progress, "key"].nunique()
    if in_progress:
        parts.append("the game is in progress" if games == 1 else f"in progress: {in_progress:,}")
    incomplete = drawn.loc[~is_in_progress & ~drawn["complete"].fillna(False).astype(bool), "key"].nunique()
    if incomplete:
        parts.append("the game is not complete" if games == 1 else f"{incomplete:,} games are not complete")
    seconds = whole_seconds(drawn)
    if seconds:
        parts.append("times in whole seconds" if seconds == plies else f"{seconds:,} plies have whole seconds only")
    derived = int(drawn["precision"].astype("string").str.startswith("derived").fillna(False).sum())
    if derived:
        parts.append("clocks are computed from the elapsed times")
    computed = int(drawn["precision"].astype("string").str.startswith("elapsed_derived").fillna(False).sum())
    if computed:
        parts.append("elapsed times are computed from the clocks")
    return " · ".join([*parts, *(note for note in notes if note)])


def is_coarse(plies: pd.DataFrame) -> pd.Series[bool]:
    """Which plies' times were printed in whole seconds."""
    return plies["precision"].astype("string").isin(["seconds", "derived_seconds", "elapsed_derived_seconds"])


def whole_seconds(plies: pd.DataFrame) -> int:
    """How many plies' times were printed in whole seconds."""
    return int(is_coarse(plies).sum())


def one(values: Iterable[Any]) -> Any:
    """The only value that is known, or None where there is none, or several."""
    found = list(dict.fromkeys(value for value in values if not pd.isna(value)))
    return found[0] if len(found) == 1 else None


def handles_of(plies: pd.DataFrame) -> tuple[str, str]:
    """White's and Black's handle of one game."""
    white, black = _players(plies)
    return plain(white[0] or "?"), plain(black[0] or "?")


def _players(plies: pd.DataFrame) -> list[tuple[str | None, int | None]]:
    """Handle and rating of White and Black; a side that did not move is known as the other's opponent."""
    found: list[tuple[str | None, int | None]] = []
    for side in ("white", "black"):
        own = plies["side"] == side
        names = [*plies.loc[own, "mover"].head(1), *plies.loc[~own, "opponent"].head(1)]
        ratings = [*plies.loc[own, "mover_rating"].head(1), *plies.loc[~own, "opponent_rating"].head(1)]
        rating = next((int(value) for value in ratings if not pd.isna(value)), None)
        found.append((next((str(name) for name in names if not pd.isna(name)), None), rating))
    return found


def title_of(plies: pd.DataFrame) -> str:
    """``Morphy (2100) – Anderssen (1990)  1-0`` of one game."""
    names = [f"{plain(handle or '?')}{'' if rating is None else f' ({rating})'}" for handle, rating in _players(plies)]
    result = one(plies["result"])
    return f"{names[0]} – {names[1]}  {'' if result is None else result}".strip()


def about_game(plies: pd.DataFrame) -> str:
    """``freechess.org · 2020-01-01 · rated blitz · 5 min + 0 s · normal`` of one game.

    The date is that of the moves' arrival; who knows it from elsewhere puts it into the frame's ``attrs["dates"]``.
    """
    return " · ".join(
        part
        for part in (
            _server(plies),
            _dates(plies),
            " ".join(word for word in (_rated(plies), *_kind(plies)) if word),
            _control(plies),
            _ending(plies),
        )
        if part
    )


def about_games(plies: pd.DataFrame) -> str:
    """As ``about_game``, of what several games have in common."""
    kinds = " ".join(word for word in (_rated(plies), *_kind(plies)) if word)
    control = _control(plies) if plies["time_control"].nunique() == 1 else "several time controls"
    return " · ".join(part for part in (_server(plies), _dates(plies), kinds, control) if part)


def _server(plies: pd.DataFrame) -> str:
    servers = [plain(name) for name in plies["server"].dropna().unique()]
    if not servers:
        return "server unknown"
    known = servers[0] if len(servers) == 1 else f"{len(servers)} servers"
    return f"{known} and unknown servers" if plies["server"].isna().any() else known


def _dates(plies: pd.DataFrame) -> str:
    if "dates" in plies.attrs:
        return str(plies.attrs["dates"])
    days = plies["at"].dropna()
    if days.empty:  # a date, and no zone
        local = plies.loc[plies["time_basis"] == "zone-unknown", "arrival_ms"].dropna()
        days = pd.to_datetime(local.astype("int64"), unit="ms")
    if days.empty:
        return ""
    first, last = f"{days.min():%Y-%m-%d}", f"{days.max():%Y-%m-%d}"
    if plies["key"].nunique() == 1 or first == last:
        return first  # a game that goes on after midnight has the day on which it began
    return f"{first} to {last}"


def _rated(plies: pd.DataFrame) -> str:
    rated = one(plies["rated"])
    return "" if rated is None else _RATED[bool(rated)]


def _kind(plies: pd.DataFrame) -> list[str]:
    """The server's word and the variant, where it is not chess and not in that word."""
    category, variant = one(plies["category"]), one(plies["variant"])
    words = [] if category is None else [plain(category)]
    if variant is not None and variant != "chess" and variant not in (category or "").split():
        words.append(plain(variant))
    return words


def _control(plies: pd.DataFrame) -> str:
    controls: list[str] = []
    for side in ("white", "black"):
        own = plies[plies["side"] == side]
        base, increment = one(own["base_s"]), one(own["increment_s"])
        if base is not None and increment is not None:
            controls.append(_control_text(int(base), int(increment)))
    if not controls:
        return "time control unknown"
    if len(set(controls)) == 1:
        return controls[0]
    return f"White {controls[0]}, Black {controls[1]}"


def _control_text(base_s: int, increment_s: int) -> str:
    if not base_s and not increment_s:
        return "untimed"
    base = f"{base_s // 60} min" if base_s % 60 == 0 else f"{base_s} s"
    return f"{base} + {increment_s} s"


def _ending(plies: pd.DataFrame) -> str:
    ending, termination = one(plies["ending"]), one(plies["termination"])
    if ending is not None and ending != "result":
        return plain(str(ending).replace("-", " "))
    return "" if termination is None else plain(termination)
