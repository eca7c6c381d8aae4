"""What is drawn and what is excluded, in words: titles, subtitles, footers, and the rows that count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pandas as pd

from exporters.measures.source import Plies, among
from exporters.plots.style import plain
from exporters.report.tables import control_words
from recorder.errors import ExportError
from recorder.model import variant_beside

PlySource = pd.DataFrame | Plies  # what a picture of many games is made of: a ply frame, or plies that DuckDB reads
_RATED = {True: "rated", False: "unrated"}


def only_game(plies: pd.DataFrame, picture: str) -> None:
    games = plies["key"].nunique()
    if games == 0:
        raise ExportError(f"No data: no game in this selection has a known move ({picture}).")
    if games > 1:
        raise ExportError(f"The picture {picture} shows one game, and {games:,} match.")


class Who:
    """Whose games and moves a picture shows; without a player, everybody's. ``alone``: there are no games of others."""

    def __init__(
        self, player: str | None = None, identities: frozenset[str] = frozenset(), *, alone: bool = False
    ) -> None:
        self.player = player
        self.identities = identities
        self.alone = alone

    @property
    def condition(self) -> str:
        return among("mover_id", self.identities)

    def moves(self, plies: Plies) -> Plies:
        return plies if self.player is None else plies.where(self.condition)

    def games(self, plies: Plies) -> Plies:
        return plies if self.player is None or self.alone else plies.in_games(self.condition)


def who_of(plies: Plies, player: str | None) -> Who:
    return Who() if player is None else Who(player, plies.player(player).identities)


def _spellings(plies: pd.DataFrame, player: str) -> list[str]:
    return [name for name in plies["mover"].dropna().unique() if str(name).lower() == player.lower()]


def name_of(plies: pd.DataFrame, player: str) -> str:
    return plain(next(iter(_spellings(plies, player)), player))


def usable(plies: pd.DataFrame, column: str, *, clocks: bool = False) -> pd.DataFrame:
    """The rows of one game or match whose ``column`` is known, without untimed games if ``clocks`` are drawn."""
    excluded: dict[str, int] = {}
    kept = plies

    def exclude(reason: str, which: Any) -> None:
        nonlocal kept
        if count := int(which.sum()):
            excluded[reason] = count
            kept = kept[~which]

    if clocks:
        exclude("of untimed games", kept["time_control"].eq("-").fillna(False).astype(bool))
    exclude("of examined games", kept["kind"].ne("played").fillna(False).astype(bool))
    exclude("inferred", kept[column].isna() & kept["origin"].eq("inferred").fillna(False).astype(bool))
    exclude(f"without a known {MEANINGS[column]}", kept[column].isna())
    if kept.empty:
        raise no_data(excluded)
    kept = kept.copy(deep=False)
    kept.attrs = {"games": int(kept["key"].nunique()), "plies": len(kept), "excluded": excluded}
    return kept


EXCLUDED: Final = {
    "not played": "of examined games",
    "untimed": "of untimed games",
    "inferred": "inferred",
    "no evaluation": "without a known loss",
    "no result": "without a result",
    "no clock": "without a known clock",
    "no time": "without a known time",
    "no base time": "of games without a base time",
    "first move": "of first moves",
}
"""The reasons of measures, as footers state them."""


def no_data(excluded: dict[str, int]) -> ExportError:
    """The error that no ply is drawn, with the reasons why."""
    why = f" ({reasons_text(excluded)})" if excluded else ": no game with a known move was chosen"
    return ExportError(f"No data{why}.")


MEANINGS = {
    "elapsed_ms": "time",
    "clock_after_ms": "clock",
    "lag_ms": "lag",
    "arrival_ms": "arrival time",
    "evaluation": "evaluation",
}


def reasons_text(excluded: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {'ply' if count == 1 else 'plies'} {reason}" for reason, count in excluded.items())


COARSE: Final = "precision IN ('seconds', 'derived_seconds', 'elapsed_derived_seconds')"
_FOOTER: Final = {
    "in_progress": "count(DISTINCT key) FILTER (WHERE ending = 'in-progress')",
    "incomplete": "count(DISTINCT key) FILTER (WHERE ending <> 'in-progress' AND complete IS NOT TRUE)",
    "seconds": f"count(*) FILTER (WHERE {COARSE})",
    "derived": "count(*) FILTER (WHERE precision IN ('derived_seconds', 'derived_milliseconds'))",
    "computed": "count(*) FILTER (WHERE precision IN ('elapsed_derived_seconds', 'elapsed_derived_milliseconds'))",
}


def footer_marks(plies: PlySource) -> dict[str, int]:
    """What a footer reports of the plies that are drawn: numbers of games and of plies, which can be added up."""
    (row,) = Plies.of(plies).sql(f"SELECT {', '.join(_FOOTER.values())} FROM plies").fetchall()
    return dict(zip(_FOOTER, row, strict=True))


def footer_text(attrs: Mapping[Any, Any], marks: Mapping[str, int], *notes: str | None) -> str:
    """``1 game, 80 plies · excluded: 2 plies without a known clock · clocks in whole seconds``."""
    games, plies = attrs["games"], attrs["plies"]
    parts = [f"{games:,} game{'' if games == 1 else 's'}, {plies:,} {'ply' if plies == 1 else 'plies'}"]
    parts += [f"excluded: {reasons_text(attrs['excluded'])}"] if attrs["excluded"] else ["nothing excluded"]
    if marks["in_progress"]:
        parts.append("the game is in progress" if games == 1 else f"in progress: {marks['in_progress']:,}")
    if marks["incomplete"]:
        several = f"not complete: {marks['incomplete']:,}"
        parts.append("the game is not complete" if games == 1 else several)
    if seconds := marks["seconds"]:
        parts.append("times in whole seconds" if seconds == plies else f"{seconds:,} plies have whole seconds only")
    if marks["derived"]:
        parts.append("clocks are computed from the elapsed times")
    if marks["computed"]:
        parts.append("elapsed times are computed from the clocks")
    return " · ".join([*parts, *(note for note in notes if note)])


def whole_seconds(plies: pd.DataFrame) -> int:
    """How many plies' times were printed in whole seconds."""
    return int(plies["precision"].isin(["seconds", "derived_seconds", "elapsed_derived_seconds"]).sum())


def one(values: Iterable[Any]) -> Any:
    """The only value that is known, or None where there is none, or several."""
    distinct = list(dict.fromkeys(value for value in values if not pd.isna(value)))
    return distinct[0] if len(distinct) == 1 else None


def handles_of(plies: pd.DataFrame) -> tuple[str, str]:
    white, black = _players(plies)
    return plain(white[0] or "?"), plain(black[0] or "?")


def _players(plies: pd.DataFrame) -> list[tuple[str | None, int | None]]:
    """Handle and rating of White and Black; a side that did not move is known as the other's opponent."""
    players: list[tuple[str | None, int | None]] = []
    for side in ("white", "black"):
        own = plies["side"] == side
        names = [*plies.loc[own, "mover"].head(1), *plies.loc[~own, "opponent"].head(1)]
        ratings = [*plies.loc[own, "mover_rating"].head(1), *plies.loc[~own, "opponent_rating"].head(1)]
        rating = next((int(value) for value in ratings if not pd.isna(value)), None)
        players.append((next((str(name) for name in names if not pd.isna(name)), None), rating))
    return players


def title_of(plies: pd.DataFrame) -> str:
    """``Morphy (2100) – Anderssen (1990)  1-0`` of one game."""
    names = [f"{plain(handle or '?')}{'' if rating is None else f' ({rating})'}" for handle, rating in _players(plies)]
    result = one(plies["result"])
    return f"{names[0]} – {names[1]}  {'' if result is None else result}".strip()


def about_game(plies: pd.DataFrame) -> str:
    """As ``freechess.org · 2020-01-01 · rated blitz · 5 min + 0 s · normal``; ``attrs["dates"]`` may have the date."""
    return " · ".join(filter(None, (about_games(plies), _ending(plies))))


def about_games(plies: pd.DataFrame) -> str:
    """As ``about_game``, of what several games have in common."""
    kinds = " ".join(word for word in (_rated(plies), *_kind(plies)) if word)
    alike = plies["time_control"].nunique() == 1 or plies["key"].nunique() == 1
    control = _control(plies) if alike else "several time controls"
    return " · ".join(filter(None, (_server(plies), dates_of(plies), kinds, control)))


def headline(plies: pd.DataFrame, player: str | None, what: str) -> tuple[str, str]:
    if plies["key"].nunique() == 1:
        who = "" if player is None else f", moves of {name_of(plies, player)}"
        return title_of(plies), f"{what}{who} · {about_game(plies)}"
    return what if player is None else f"{name_of(plies, player)}: {what}", about_games(plies)


def _server(plies: pd.DataFrame) -> str:
    servers = [plain(name) for name in plies["server"].dropna().unique()]
    if not servers:
        return "server unknown"
    text = servers[0] if len(servers) == 1 else f"{len(servers)} servers"
    return f"{text} and unknown servers" if plies["server"].isna().any() else text


def dates_of(plies: PlySource) -> str:
    """The day of the games, or the first and the last; an empty text if none is known."""
    if plies.attrs and "dates" in plies.attrs:
        return str(plies.attrs["dates"])
    source = Plies.of(plies)
    for basis in ("utc", "zone-unknown"):
        ends = (
            "SELECT strftime(epoch_ms(min(arrival_ms)), '%Y-%m-%d'), strftime(epoch_ms(max(arrival_ms)), '%Y-%m-%d'),"
            f" count(DISTINCT key) FROM plies WHERE time_basis = '{basis}' AND arrival_ms IS NOT NULL"
        )
        ((first, last, games),) = source.sql(ends).fetchall()
        if first is not None:
            return str(first) if first == last or games == 1 else f"{first} to {last}"
    return ""


def _rated(plies: pd.DataFrame) -> str:
    rated = one(plies["rated"])
    return "" if rated is None else _RATED[bool(rated)]


def _kind(plies: pd.DataFrame) -> list[str]:
    """The server's word and the variant, where it is not chess and not in that word."""
    category, variant = one(plies["category"]), one(plies["variant"])
    words = [] if category is None else [plain(category)]
    if beside := variant_beside(category or "", variant):
        words.append(plain(beside))
    return words


def _control(plies: pd.DataFrame) -> str:
    controls: list[str] = []
    for side in ("white", "black"):
        own = plies[plies["side"] == side]
        base, increment = one(own["base_s"]), one(own["increment_s"])
        if base is not None and increment is not None:
            controls.append(control_words(f"{base}+{increment}" if base or increment else "-"))
    if not controls:
        return "time control unknown"
    if len(set(controls)) == 1:
        return controls[0]
    return f"White {controls[0]}, Black {controls[1]}"


def _ending(plies: pd.DataFrame) -> str:
    ending, termination = one(plies["ending"]), one(plies["termination"])
    if ending is not None and ending != "result":
        return plain(str(ending).replace("-", " "))
    return "" if termination is None else plain(termination)
