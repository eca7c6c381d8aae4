"""Engines' views of games, made into games of their own."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from typing import Final

from recorder.cecp.commands import LevelCommand
from recorder.model import EventKind, Game, GameKind, Player, Ply, Proof, Segment, StartPrecision, TimeBasis
from recorder.text import later
from recorder.tracking.assemble import end_word
from recorder.tracking.engines.view import EngineRun, agree

_REASONS: Final = tuple(
    (later(pattern, re.IGNORECASE), key)
    for pattern, key in (
        (r"(?:White|Black) (?:check)?mates|Xboard adjudication: Checkmate", "checkmate"),
        (r"(?:White|Black) resigns?", "resign"),
        (r"(?:White|Black) forfeits on time|(?:White|Black) wins on time|.* ran out of time", "time"),
        (r"(?:Xboard adjudication: )?Stalemate", "stalemate"),
        (r"(?:Xboard adjudication: |Draw claim: )?50.move rule|Draw by (?:the )?(?:50|fifty).move rule", "fifty"),
        (
            r"Xboard adjudication: (?:repetition|repetition draw|perpetual checking)|"
            r"XBoard adjudication: repetition draw|Draw claim: 3-fold repetition|Draw by (?:3-fold )?repetition",
            "repetition",
        ),
        (r"(?:Xboard adjudication|Draw claim): [Ii]nsufficient mating material|.*insufficient material", "no-material"),
        (r"Draw agreed|Draw by (?:mutual )?agreement", "agreed"),
        (r"(?:Xboard|XBoard|User) adjudication.*", "adjudicated"),
        (r"Error(?:: | (?:reading from|writing to) )(?:first|second) chess program.*", "disconnect-loss"),
    )
)


_BEST_PROOF: Final = (Proof.LIST, Proof.INFERRED, Proof.UNPROVED)


def read_engine_reason(words: str | None, result: str) -> tuple[str | None, str]:
    """Return ``Game.reason_key`` and ``Game.termination`` of the comment of ``result``, without braces."""
    if words is None:
        return None, "unterminated" if result == "*" else "normal"
    text = words.strip()
    key = next((key for pattern, key in _REASONS if pattern().fullmatch(text)), "unknown")
    if result == "*":
        return key, "unterminated"
    if key == "adjudicated" and result == "1/2-1/2":
        key = "adjudicated-draw"
    if key == "time":
        return key, "time forfeit"
    if key == "disconnect-loss":
        return key, "abandoned"
    return key, "adjudication" if key.startswith("adjudicated") else "normal"


def engine_game(run: EngineRun, other: EngineRun | None, *, date: datetime.date | None) -> Game:
    """Make the game that one engine played, or two against each other, with an observation for each view.

    ``run`` gives the plies; without ``other`` the opponent is no engine of this log.
    """
    white, black = _players(run, other)
    views = [run] if other is None else [run, other]
    runs = sorted((one for view in views for one in (*view.earlier, view)), key=lambda one: one.observation.offset)
    rows, segments = _main_line(run, runs)
    proved = {row.ply for row in rows if row.move is not None}
    whole = len(proved) == run.ply - run.first.base_ply and all(one.refused <= proved for one in runs)
    ended = next((one for one in (run, other) if one is not None and one.result is not None), run)
    result = ended.result or "*"
    key, termination = (None, "unterminated") if ended.result is None else read_engine_reason(ended.reason, result)
    for view in views:
        for one in (*view.earlier, view):
            names = {True: white.handle, False: black.handle}
            if one is not view and one.name is not None and len(view.colours) == 1:
                names.update(dict.fromkeys(view.colours, one.name))  # another engine replaced it
            _set_at_end(one, names[True], names[False], key)
    base_s, increment_s = _times(run, other)
    first = runs[0].observation
    facts = [white.handle, black.handle, first.offset, first.started_at_ms, " ".join(row.san for row in rows)]
    return Game(
        key=hashlib.blake2b(json.dumps(facts).encode(), digest_size=10).hexdigest(),
        kind=GameKind.EXAMINED if run.analysed else GameKind.PLAYED,
        server=None,
        dialect="cecp",
        game_no=None,
        white=white,
        black=black,
        rated=None,
        variant=run.variant,
        category=None,
        base_s=base_s,
        increment_s=increment_s,
        black_base_s=base_s,
        black_increment_s=increment_s,
        base_inferred=False,
        variant_inferred=False,
        start_fen=next((one.fen for one in run.first.observation.anchors if one.reason == "start"), None),
        start_ply=run.first.base_ply,
        result=result,
        reason=ended.reason,
        reason_key=key,
        termination=termination,
        end=ended.end if key is None else end_word(key),
        started_at_ms=first.started_at_ms,
        start_precision=None if first.started_at_ms is None else StartPrecision.MILLISECOND,
        ended_at_ms=max((one.observation.ended_at_ms or 0 for one in runs), default=None),
        time_basis=TimeBasis.CLOCK,
        date_text=None if date is None else date.isoformat(),
        complete=ended.result is not None and whole,
        continued=False,
        partner_game_no=None,
        me=None,
        observations=[one.observation for one in runs],
        segments=segments,
        first_offset=first.offset,
        last_offset=max(one.observation.end_offset for one in runs),
    )


def _main_line(main: EngineRun, runs: list[EngineRun]) -> tuple[list[Ply], list[Segment]]:
    """The plies of a game, each from the run that proves it best and has the mover's clock.

    The run ``main`` is one of ``runs``; its plies and length count. ``runs`` are in the order of the game's
    observations.
    """
    known = {row.ply: row for row in main.rows}
    best: dict[int, tuple[int, Ply]] = {}
    for place, run in sorted(enumerate(runs), key=lambda one: one[1] is not main):
        for row in run.rows:
            if row.ply > main.ply or not agree(row, known.get(row.ply, row)):
                continue
            if row.ply not in best or _rank(row) < _rank(best[row.ply][1]):
                best[row.ply] = place, row
    segments: list[Segment] = []
    for number, (place, _) in sorted(best.items()):
        if segments and segments[-1].observation == place:
            segments[-1] = segments[-1]._replace(to_ply=number)
        else:
            segments.append(Segment(number, number, place))
    return [row for _, (_, row) in sorted(best.items())], segments


def _rank(row: Ply) -> tuple[int, bool]:
    return _BEST_PROOF.index(row.proof), row.clock_ms is None


def _set_at_end(run: EngineRun, white: str, black: str, key: str | None) -> None:
    """Set in an observation what only the end of a game shows: the players, and the result's normalised reason."""
    run.observation.white, run.observation.black = white, black
    events = run.observation.events
    events[:] = [event._replace(detail=key or "") if event.kind is EventKind.RESULT else event for event in events]


def _players(run: EngineRun, other: EngineRun | None) -> tuple[Player, Player]:
    """Return White and Black; ``?`` for an unknown one.

    Without ``other``, the opponent is a person or an engine elsewhere.
    """
    mine = Player(run.name or run.engine, _text(run.rating), run.rating)
    if other is not None:
        theirs = Player(other.name or other.engine, _text(other.rating), other.rating)
    else:
        theirs = Player(run.opponent or "?", _text(run.opponent_rating), run.opponent_rating)
    colours = run.colours or (set() if other is None else {not white for white in other.colours})
    if len(colours) != 1:
        return Player("?"), Player("?")
    return (mine, theirs) if True in colours else (theirs, mine)


def control_text(level: LevelCommand) -> str | None:
    """Write a time control in PGN's form (``40/300``) if whole seconds of base and increment cannot express it."""
    if level.increment_ms is None or not (level.moves or level.increment_ms % 1000):
        return None
    increment = f"+{level.increment_ms / 1000:g}" if level.increment_ms else ""
    return f"{level.moves}/{level.base_s}{increment}" if level.moves else f"{level.base_s}{increment}"


def _text(rating: int | None) -> str | None:
    """A rating as text; None: unknown."""
    return None if rating is None else str(rating)


def _times(run: EngineRun, other: EngineRun | None) -> tuple[int | None, int | None]:
    """Base time and increment in seconds; None for controls with several periods."""
    level = run.level or (other.level if other is not None else None)
    if level is None or level.moves or level.increment_ms is None or level.increment_ms % 1000:
        return None, None
    return level.base_s, level.increment_ms // 1000
