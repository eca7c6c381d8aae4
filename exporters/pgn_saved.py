"""What a game that was read from PGN has beside its plies: tags that no field holds; and what a style cannot say."""

from __future__ import annotations

from collections import Counter
from typing import Final

from exporters.pgn_text import tag, tag_lines
from recorder.model import CLOCK_DERIVED, ELAPSED_DERIVED, EventKind, Game, GameEvent, ObservationKind

__all__ = ["add_losses", "is_saved", "saved_tags", "with_fics_tags", "with_saved_tags"]

#: A computed value of these is better than what stood there: an increment in milliseconds, a date with hyphens.
_COMPUTED: Final = frozenset(("TimeControl", "Date", "Result", "FEN", "SetUp", "PlyCount"))
#: Where the FICS archive has tags that a log does not know: after which of ours.
_FICS: Final = {"Site": ("FICSGamesDBGameNo",), "BlackElo": ("WhiteRD", "BlackRD"), "BlackClock": ("ECO",)}


def is_saved(game: Game) -> bool:
    """Whether nothing but PGN tells of the game."""
    return bool(game.observations) and all(seen.kind is ObservationKind.PGN for seen in game.observations)


def saved_tags(game: Game) -> list[GameEvent]:
    """The tags that its PGN had and no field holds, each name once."""
    found: dict[str, GameEvent] = {}
    for seen in game.observations:
        if seen.kind is ObservationKind.PGN:
            for event in seen.events:
                if event.kind is EventKind.TAG:
                    found.setdefault(event.detail, event)
    return list(found.values())


def with_saved_tags(text: str, game: Game, saved: bool) -> str:
    """Tag pairs, and those that its PGN had: instead of ours where the game is only there, at the end else.

    Args:
        text: one tag pair a line; the last one stays the last.
    """
    told = {event.detail: event.text for event in saved_tags(game)}
    if not told:
        return text
    lines = tag_lines(text)
    names = [line[1 : line.index(" ")] for line in lines]
    out = []
    for name, line in zip(names, lines, strict=True):
        unknown = line.endswith(('"?"]\n', '"????.??.??"]\n'))
        replaced = saved and name in told and (unknown or name not in _COMPUTED)
        out.append(tag(name, told[name]) if replaced else line)
    out[-1:-1] = [tag(name, text) for name, text in told.items() if name not in names]
    return "".join(out)


def with_fics_tags(text: str, game: Game) -> str:
    """The FICS style's tag pairs, and those of its PGN that the FICS archive has, where it has them."""
    told = saved_tags(game)
    if not told:
        return text
    out = []
    for line in tag_lines(text):
        wanted = _FICS.get(line[1 : line.index(" ")], ())
        out += [line, *(tag(event.detail, event.text) for event in told if event.detail in wanted)]
    return "".join(out)


def add_losses(left_out: Counter[str], game: Game, *, clock: frozenset[str], fics: bool, lichess: bool) -> None:
    """Count what the text of a saved game does not say, though its PGN did."""
    clk, emt, lag = (not fics and "clk" in clock), (bool(clock) if fics else "emt" in clock), "lag" in clock
    for ply in game.plies:
        clock_ms = ply.white_clock_ms if ply.white_moved else ply.black_clock_ms
        derived = ply.precision in CLOCK_DERIVED
        if clock_ms is not None and not derived and not clk:
            left_out["clocks"] += 1
        if clock_ms is not None and clk and lichess and (clock_ms % 1000 or clock_ms < 0):
            left_out["clocks cut to whole seconds"] += 1
        printed = ply.elapsed_ms is not None and ply.precision not in ELAPSED_DERIVED
        if printed and (not emt or lichess):
            left_out["elapsed times"] += 1
        if ply.lag_ms is not None and (not lag or fics or lichess):
            left_out["lags"] += 1
    if fics:
        kept = {name for names in _FICS.values() for name in names}
        left_out["tags"] += sum(event.detail not in kept | {"Event", "Site"} for event in saved_tags(game))
        left_out += Counter()
