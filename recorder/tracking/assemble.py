"""A run that is over, computed into a game: main line from segments, header facts, end and key.

Everything here is a function of the run alone, so reading the same bytes again gives the same game.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from recorder.model import (
    Game,
    GameEnd,
    GameKind,
    Observation,
    Player,
    Segment,
    StartPrecision,
    TimeBasis,
    name_plies,
    taken_rows,
)
from recorder.rules.position import Rules
from recorder.rules.variants import STANDARD_BOARD, has_pockets
from recorder.tracking.datagrams.boards import DatagramBoard
from recorder.tracking.examined.lines import main_observation, with_lines
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.main_line import (
    has_unproved,
    main_line,
    plain_segments,
    segments_of,
    time_listed,
    unprove_drops,
)
from recorder.tracking.session import SessionFacts
from recorder.tracking.tracked_game import TrackedGame

_text = json.JSONEncoder().encode  # a key's facts are a JSON list, for which it would make a new encoder every time
_DAY_MS: Final = 86_400_000
_EPOCH: Final = datetime.date(1970, 1, 1)


def assemble(run: TrackedGame, *, session: SessionFacts, basis: TimeBasis, date: datetime.date | None = None) -> Game:
    """One observation for each time that the board was followed, and one for each movelist; ``date`` is the user's."""
    run = _with_final_plies(run)
    observations = run.observations + [listed.observation for listed in run.lists]
    segments = _segments(run)
    start_fen, start_ply = _start(segments, observations)
    date_possible = disputed_start(run, basis, date) is None
    started_at_ms, basis, start_precision = _started(run, basis, date_possible)
    base = _base_times(run)
    variant, inferred = _variant(run)
    whole = _begins_at_start(run, segments, start_ply) and _contiguous(segments)
    result, reason, reason_key, termination, end = _result(run)
    return Game(
        key=_key(run, session.server),
        kind=(GameKind.SETUP if run.setup else GameKind.EXAMINED) if run.examined else GameKind.PLAYED,
        server=session.server,
        dialect=session.dialect,
        game_no=run.game_no,
        white=_player(run.white, run.facts, white=True),
        black=_player(run.black, run.facts, white=False),
        rated=run.facts.rated,
        variant=variant,
        category=run.facts.category,
        base_s=base[0],
        increment_s=base[1],
        black_base_s=base[2],
        black_increment_s=base[3],
        base_inferred=base[4],
        variant_inferred=inferred,
        start_fen=start_fen,
        start_ply=start_ply,
        result=result,
        reason=reason,
        reason_key=reason_key,
        termination=termination or "unterminated",
        end=end,
        started_at_ms=started_at_ms,
        ended_at_ms=_ended_at_ms(run),
        time_basis=basis,
        date_text=(run.facts.date_text if date_possible else None) or (date.isoformat() if date is not None else None),
        complete=whole and end.is_over and not _breaks(run, segments, observations),
        continued=run.facts.continued,
        partner_game_no=run.facts.partner_game_no or None,
        me=session.me,
        observations=observations,
        segments=segments,
        first_offset=run.first_offset,
        last_offset=max([run.end_offset, *(observation.end_offset for observation in observations)]),
        start_precision=start_precision,
    )


def _with_final_plies(run: TrackedGame) -> TrackedGame:
    """The run with what its plies get at the end: lines of an examined game, times of lists, drops not proved."""
    if run.tree is not None:
        run = with_lines(run)
    elif run.lists:
        time_listed(run)
    if run.rules is not None and has_pockets(run.rules):
        for observation in run.observations:
            unprove_drops(observation)
    return run


def _segments(run: TrackedGame) -> list[Segment]:
    segments = plain_segments(run)
    if segments is not None:
        return segments
    if run.tree is None:
        return segments_of(main_line(run))
    index = main_observation(run.observations)
    return segments_of({ply.ply: (index, ply) for ply in run.observations[index].lines[0].plies})


def _breaks(run: TrackedGame, segments: list[Segment], observations: list[Observation]) -> bool:
    """Whether a ply of the main line cannot be played from the one before, or a text of a list is no move there."""
    if run.gapped and has_unproved(segments, observations):
        return True
    return any(listed.breaks for listed in run.lists) and any(
        ply.move is None for segment in segments for ply in name_plies(taken_rows(segment, observations))
    )


def _ended_at_ms(run: TrackedGame) -> int | None:
    """When the result arrived, else the last line of the game's last observation."""
    if run.result_at_ms is not None or not run.observations:
        return run.result_at_ms
    return run.observations[-1].ended_at_ms


def _result(run: TrackedGame) -> tuple[str, str | None, str | None, str | None, GameEnd]:
    """As the server reported them, else as a list of moves has them."""
    end = run.end or GameEnd.LOG_ENDS
    trailer = next(
        (listed.event for listed in run.lists if listed.event.result is not None and not listed.event.still_running),
        None,
    )
    if not end.is_over and not run.examined and trailer is not None and trailer.result is not None:
        return trailer.result, trailer.reason, trailer.reason_key, trailer.termination, end_word(trailer.reason_key)
    return run.result, run.reason, run.reason_key, run.termination, end


def _key(run: TrackedGame, server: str | None) -> str:
    """``Game.key``: a hash of server, number, players, offset, start and first move; later lines do not change it."""
    first = run.observations[0] if run.observations else None
    facts = ", ".join((
        _text(server or ""), _number(run.game_no), _text(run.white.lower()), _text(run.black.lower()),
        _number(run.first_offset), _number(first.started_at_ms if first else None), _text(_first_words(run)),
    ))  # fmt: skip
    return hashlib.blake2b(f"[{facts}]".encode(), digest_size=10).hexdigest()


def end_word(reason_key: str | None) -> GameEnd:
    if reason_key is not None and reason_key.startswith("adjourned"):
        return GameEnd.ADJOURNED
    if reason_key is not None and (reason_key.startswith("aborted") or reason_key == "partner-aborted"):
        return GameEnd.ABORTED
    return GameEnd.RESULT


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _first_words(run: TrackedGame) -> str:
    if run.observations and run.observations[0].start is not None:
        start = run.observations[0].start
        return f"{start.ply} {start.verbose} {start.white_clock_ms} {start.black_clock_ms}"
    rows = run.lists[0].event.rows if run.lists else ()
    return " ".join(row.san for row in rows)


def _begins_at_start(run: TrackedGame, segments: list[Segment], start_ply: int) -> bool:
    """A list of a shuffled game without its start board has all moves and no position."""
    if run.start_frame is not None or start_ply > 0:
        return run.start_frame is not None
    listed = segments[0].observation - len(run.observations) if segments else -1
    return listed < 0 or run.lists[listed].start is not None


def _contiguous(segments: list[Segment]) -> bool:
    return all(after.from_ply == before.to_ply + 1 for before, after in pairwise(segments))


def _start(segments: list[Segment], observations: list[Observation]) -> tuple[str | None, int]:
    """The FEN of the first known position (None: the normal start) and the half-moves played before it."""
    if segments:
        observation = observations[segments[0].observation]
        wanted = segments[0].from_ply - 1
    else:
        observation = observations[0]
        wanted = observation.start.ply if observation.start is not None else 0
    for anchor in observation.anchors:
        if anchor.line == 0 and anchor.ply == wanted:
            return anchor.fen, anchor.ply
    return None, wanted


def disputed_start(run: TrackedGame, basis: TimeBasis, date: datetime.date | None) -> str | None:
    """How the date in the header of a run's list contradicts the arrival of its lines, in words; None: it does not.

    A game cannot have begun after its lines arrived, and no running game began longer ago than its clocks last; a day
    is allowed for pauses and lag, two where a zone is not known. A resumed game began at any time before, if a list
    shows its first part. Arrival times without a date contradict nothing. The user's ``date`` is that of a log without
    arrival times: its lines arrived on that day or later.
    """
    # The list's date is by the server's clock, the arrival by ours. A contradiction is reported; the arrival counts.
    facts = run.facts
    if facts.started_at_ms is None or run.examined:
        return None
    dated = basis in (TimeBasis.UTC, TimeBasis.LOCAL)
    begun = [observation.started_at_ms for observation in run.observations if observation.started_at_ms is not None]
    listed = [seen.event.line.at_ms for seen in run.lists if seen.event.line.at_ms is not None]
    if dated and (begun or listed):
        arrived_ms = min(begun) if begun else min(listed)
    elif not dated and date is not None:
        arrived_ms = _DAY_MS * (date - _EPOCH).days
    else:
        return None
    zones_known = facts.started_zone_known and basis is TimeBasis.UTC
    allowed_ms = _DAY_MS if zones_known else 2 * _DAY_MS
    if dated and facts.started_at_ms > arrived_ms + allowed_ms:
        return "the list says that the game began later than its lines arrived"
    if not (run.observations or run.lists[0].event.still_running) or (facts.continued and _has_first_part(run)):
        return None
    base_s, increment_s, black_base_s, black_increment_s, _ = _base_times(run)
    plies = max([0, *(row[0] for observation in run.observations for row in observation.lines[0].rows)])
    lasts_s = (base_s or 0) + (black_base_s or 0) + plies * ((increment_s or 0) + (black_increment_s or 0))
    if facts.started_at_ms + 1000 * lasts_s + allowed_ms < arrived_ms:
        return "the list says that the game began longer before its lines arrived than a game can last"
    return None


def _has_first_part(run: TrackedGame) -> bool:
    """Whether a list shows the moves before the first board."""
    first = next((observation.start.ply for observation in run.observations if observation.start is not None), 0)
    return any(listed.position_at(first) is not None for listed in run.lists)


def _started(
    run: TrackedGame, basis: TimeBasis, date_possible: bool
) -> tuple[int | None, TimeBasis, StartPrecision | None]:
    """When the game began in ms, the basis and the precision; ``date_possible``: the header's date may be its."""
    facts = run.facts
    first = run.observations[0] if run.observations else None
    joined = first is None or first.start is None or first.start.ply > 0
    if (
        date_possible
        and facts.started_at_ms is not None
        and (basis is TimeBasis.NONE or (joined and basis is TimeBasis.UTC and facts.started_zone_known))
    ):
        precision = StartPrecision.SECOND if facts.started_with_seconds else StartPrecision.MINUTE
        return facts.started_at_ms, TimeBasis.UTC if facts.started_zone_known else TimeBasis.LOCAL, precision
    if first is None or first.started_at_ms is None:
        return None, TimeBasis.NONE, None
    return first.started_at_ms, basis, StartPrecision.MILLISECOND


def _base_times(run: TrackedGame) -> tuple[int | None, int | None, int | None, int | None, bool]:
    """White's base and increment and Black's, in seconds, and ``Game.base_inferred``."""
    facts = run.facts
    frame = run.start_frame or run.last
    if frame is None:
        event = run.lists[0].event if run.lists else None
        base_s = 60 * event.base_min if event is not None and event.base_min is not None else None
        increment_s = event.increment_s if event is not None else None
    elif isinstance(frame, DatagramBoard):
        base_s, increment_s = facts.white_base_s, facts.white_increment_s
    else:
        base_s, increment_s = 60 * frame.base_min, frame.increment_s
    base_inferred = False
    # A frame prints whole minutes, so a base time of seconds must come from another line, or from the first clock.
    stated_s = facts.white_base_s
    if stated_s and (base_s is None or base_s == stated_s - stated_s % 60 or facts.black_base_s != stated_s):
        # Exact, while a frame prints whole minutes, and only one side's of a game at odds.
        base_s, increment_s = stated_s, facts.white_increment_s
    elif base_s == 0 and increment_s and run.start_frame is not None and run.start_frame.white_clock_ms == 10_000:
        base_s, base_inferred = 10, True
    black_base_s = facts.black_base_s if facts.black_base_s is not None else base_s
    black_increment_s = facts.black_increment_s if facts.black_increment_s is not None else increment_s
    if base_inferred:
        black_base_s = base_s
    return base_s, increment_s, black_base_s, black_increment_s, base_inferred


def _variant(run: TrackedGame) -> tuple[str | None, bool]:
    """The variant (None: unknown), and whether it was inferred."""
    if run.variant is not None:
        return run.variant, run.variant_inferred
    if (
        run.rules is Rules.CHESS
        and any(observation.lines[0].rows for observation in run.observations)
        and (run.start_frame is None or run.start_frame.board == STANDARD_BOARD)
    ):
        return "chess", True
    return None, False


def _player(handle: str, facts: HeaderFacts, *, white: bool) -> Player:
    rating = facts.white_rating if white else facts.black_rating
    registered = facts.white_registered if white else facts.black_registered
    sealed = facts.white_sealed if white else facts.black_sealed
    if registered is None and rating is not None and rating.text.strip() == "++++":
        registered = False
    if rating is None:
        return Player(handle, None, None, None, registered, sealed)
    # Servers print 0 for a player without a rating, mostly in examined games.
    return Player(handle, rating.text, rating.value or None, None, registered, sealed)


def add_titles(game: Game, titles: Mapping[str, str]) -> None:
    """The titles that chat has shown, by handle in lower case; those that the players have stay."""
    for side in ("white", "black"):
        player = getattr(game, side)
        words = titles.get(player.handle.lower())
        if player.titles is None and words is not None:
            setattr(game, side, player._replace(titles=words))
