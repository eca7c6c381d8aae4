"""The measures: what each excludes, groups and shows. docs/reference/measures.md defines them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from exporters.evaluations import BLUNDER_PERMILLE, INACCURACY_PERMILLE, MISTAKE_PERMILLE
from exporters.measures.dimensions import TIME_TROUBLE, band_of
from exporters.measures.program import Part, Program, Reason, Sides, Stats

INSTANT_MS: Final = 100
"""The least that FICS and its descendants charge for a move: one that was made beforehand costs so much."""
_LEAST_LONG_MS: Final = 5000
_LONG_OF_BASE_MS: Final = 50  # for each second of the base time: twice a share of one in 40 moves
_LONG_OF_INCREMENT_MS: Final = 2000

_PLAYED: Final = (
    Reason("not played", "kind <> 'played'"),
    Reason("untimed", "time_control = '-'"),
    Reason("inferred", "origin = 'inferred'"),
)
_NO_CLOCK: Final = Reason("no clock", "clock_after_ms IS NULL")
_NO_CLOCK_BEFORE: Final = Reason("no clock", "clock_before_ms IS NULL")
_FIRST_MOVE: Final = Reason("first move", "move_no = 1")
_SECONDS_ONLY: Final = Reason("seconds only", "coarse")
TIMES: Final = (*_PLAYED, Reason("no time", "elapsed_ms IS NULL"))
_QUARTILES: Final = {"q25_ms": 25, "median_ms": None, "q75_ms": 75}
_LOST_ON_TIME: Final = "coalesce(termination = 'time forfeit' AND mover_score = 0, FALSE)"
SCORE: Final = "(2 * wins + draws)::DOUBLE / nullif(2 * (wins + draws + losses), 0)"
_SCORES: Final = Sides(
    {"points": "max(mover_score)", "flagged": f"bool_or({_LOST_ON_TIME})"},
    {
        "wins": "count(*) FILTER (WHERE points = 1)",
        "draws": "count(*) FILTER (WHERE points = 0.5)",
        "losses": "count(*) FILTER (WHERE points = 0)",
        "lost_on_time": "count(*) FILTER (WHERE flagged)",
    },
)
"""The sides that won, drew, lost and lost on time; a side counts once in each group."""


def _named(by: str | Iterable[str]) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


def _plain(names: str, **others: str) -> dict[str, str]:
    return {name: others.get(name, name) for name in names.split()}


def _timed(first_moves: bool) -> tuple[Reason, ...]:
    return TIMES if first_moves else (*TIMES, _FIRST_MOVE)


def time_usage(by: str | Iterable[str] = ("time_control",), *, first_moves: bool = False) -> Program:
    """How much time moves took.

    Args:
        by: dimensions. first_moves: include the first move of each side, which servers do not charge.
    Returns:
        A row per group: ``games``, ``plies``, ``total_ms``, ``share`` (of the whole table's time, 0 to 1), ``mean_ms``,
        ``median_ms``, ``p95_ms`` (nearest rank), ``longest_ms``, ``precision``.
    """
    return Program(
        _named(by),
        _timed(first_moves),
        _plain(
            "games plies total_ms share mean_ms median_ms p95_ms longest_ms precision",
            share="total_ms / nullif(sum(total_ms) OVER (), 0)::DOUBLE",
            longest_ms="most_ms",
        ),
        values={"times": Stats("elapsed_ms", {"median_ms": None, "p95_ms": 95})},
    )


_PHASES: Final = ("opening", "middlegame", "endgame")
_MOVES: Final = (10, 20, 30, 40)
_OF_SIDE: Final = [
    "server",
    "variant",
    "category",
    "rated",
    "time_control",
    "base_s",
    "increment_s",
    "complete",
    "player",
    "player_id",
    "guest",
    "computer",
    "rating",
    "opponent",
    "opponent_id",
    "opponent_rating",
    "score",
    "result",
    "ending",
    "termination",
]
_CALLED: Final = {
    "player": "mover",
    "player_id": "mover_id",
    "guest": "mover_guest",
    "computer": "mover_computer",
    "rating": "mover_rating",
    "score": "mover_score",
}


def game_sides(*, first_moves: bool = False) -> Program:
    """How each side of each game used its time.

    Args:
        first_moves: as for ``time_usage``.
    Returns:
        Two rows per game, White's first; a side without times has none. Facts of the game and the players
        (``player``, ``player_id``, ``guest``, ``computer``, ``opponent`` …), then ``lost_on_time``, ``moves`` (the last
        one's number), ``plies`` (with a time), ``total_ms``, ``mean_ms``, ``median_ms``, ``longest_ms``,
        ``longest_move_no``, ``opening_ms``, ``middlegame_ms``, ``endgame_ms`` (time used in each phase),
        ``clock_at_10_ms`` … ``clock_at_40_ms``, ``lowest_ms`` (of the side's clock after its moves), ``last_ms``,
        ``lag_plies``, ``lag_mean_ms``, ``lag_max_ms``, ``precision``.
    """
    middle = "list_sort(list(elapsed_ms))"
    figures = {
        "moves": "max(move_no)",
        "plies": "count(*)",
        "total_ms": "sum(elapsed_ms)::BIGINT",
        "mean_ms": "avg(elapsed_ms)",
        "median_ms": f"(({middle}[(count(*) + 1) // 2] + {middle}[count(*) // 2 + 1] + 1) >> 1)",
        "longest_ms": "max(elapsed_ms)",
        "longest_move_no": "-(max(struct_pack(ms := elapsed_ms, move := -move_no)).move)",
        "longest_san": "arg_max_null(san, struct_pack(ms := elapsed_ms, move := -move_no))",
        **{f"{phase}_ms": f"sum(elapsed_ms) FILTER (WHERE phase = '{phase}')::BIGINT" for phase in _PHASES},
        **{f"clock_at_{number}_ms": f"max(clock_after_ms) FILTER (WHERE move_no = {number})" for number in _MOVES},
        "lowest_ms": "min(clock_after_ms)",
        "last_ms": "arg_max_null(clock_after_ms, ply)",
        "lag_plies": "count(lag_ms)",
        "lag_mean_ms": "avg(lag_ms)",
        "lag_p95_ms": "list_sort(list(lag_ms) FILTER (WHERE lag_ms IS NOT NULL))[(95 * count(lag_ms) + 99) // 100]",
        "lag_max_ms": "max(lag_ms)",
    }
    facts = {f"s_{name}": f"any_value({_CALLED.get(name, name)})" for name in _OF_SIDE}
    lost = {"lost_on_time": f"bool_or({_LOST_ON_TIME})"}
    each = {name: (text, "any_value") for name, text in {**facts, **lost, **figures}.items()}
    columns = {name: f"s_{name}" for name in _OF_SIDE}
    return Program(
        (),
        _timed(first_moves),
        {**columns, **_plain(" ".join((*lost, *figures))), "precision": "precision"},
        also=("key", "side"),
        groups=each,
    )


def profile(by: str | Iterable[str] = ("player", "time_control", "variant"), *, first_moves: bool = False) -> Program:
    """Results, use of time and lag of players, by time control and variant.

    Args:
        by, first_moves: as for ``time_usage``.
    Returns:
        A row per group: ``games``, ``wins``, ``draws``, ``losses``, ``score`` (mean of the known ones, 0 to 1),
        ``lost_on_time`` (games), ``rating_least``, ``rating_most``, ``plies``, ``total_ms``, ``mean_ms``,
        ``median_ms``, ``p95_ms``, ``longest_ms``, ``opening_share``, ``middlegame_share``, ``endgame_share`` (of the
        time in all phases), ``instant_share`` (as ``instant`` has it), ``lowest_ms`` (clock after a move),
        ``lag_p50_ms``, ``lag_p95_ms``, ``precision``.
    """
    phased = {f"in_{phase}": f"coalesce(sum(elapsed_ms) FILTER (WHERE phase = '{phase}'), 0)" for phase in _PHASES}
    whole = " + ".join(phased)
    decides = "move_no > 1 AND NOT coarse"
    return Program(
        _named(by),
        _timed(first_moves),
        _plain(
            "games wins draws losses score lost_on_time rating_least rating_most plies total_ms mean_ms median_ms "
            "p95_ms longest_ms opening_share middlegame_share endgame_share instant_share lowest_ms lag_p50_ms "
            "lag_p95_ms precision",
            score=SCORE,
            longest_ms="most_ms",
            instant_share="instantly / nullif(decides, 0)::DOUBLE",
            **{f"{phase}_share": f"in_{phase} / nullif({whole}, 0)::DOUBLE" for phase in _PHASES},
        ),
        values={
            "times": Stats("elapsed_ms", {"median_ms": None, "p95_ms": 95}),
            "lags": Stats("lag_ms", {"lag_p50_ms": None, "lag_p95_ms": 95}, prefix="of_lag_"),
        },
        sides=_SCORES,
        groups={
            **phased,
            "decides": f"count(*) FILTER (WHERE {decides})",
            "instantly": f"count(*) FILTER (WHERE {decides} AND elapsed_ms <= {INSTANT_MS})",
            "rating_least": ("min(mover_rating)", "min"),
            "rating_most": ("max(mover_rating)", "max"),
            "lowest_ms": ("min(clock_after_ms)", "min"),
        },
    )


_LEFT: Final = _plain("sides least_ms q25_ms median_ms q75_ms most_ms mean_ms precision", sides="plies")


def time_left(by: str | Iterable[str] = ("time_control",), moves: Iterable[int] = (10, 20, 30, 40)) -> Program:
    """The time left on the mover's clock after given moves.

    Args:
        by: dimensions. moves: the numbers of these moves.
    Returns:
        A row per group and move number: ``sides`` (that made this move), ``least_ms``, ``q25_ms``, ``median_ms``,
        ``q75_ms`` (nearest rank), ``most_ms``, ``mean_ms``, ``precision``.
    """
    numbers = ", ".join(str(int(move)) for move in moves) or "NULL"
    return Program(
        _named(by),
        (*_PLAYED, _NO_CLOCK),
        _LEFT,
        also=("move_no",),
        steps={"rows": f"FROM kept WHERE move_no IN ({numbers})"},
        apart="other moves",
        values={"clocks": Stats("clock_after_ms", _QUARTILES)},
    )


def clock_curve(by: str | Iterable[str] = ()) -> Program:
    """The time left after each move number, over all sides that made this move.

    Args:
        by: dimensions.
    Returns:
        A row per group and ``move_no``, with the columns of ``time_left``.
    """
    values = {"clocks": Stats("clock_after_ms", _QUARTILES)}
    return Program(_named(by), (*_PLAYED, _NO_CLOCK), _LEFT, also=("move_no",), values=values)


def time_left_by_phase(by: str | Iterable[str] = ("time_control",)) -> Program:
    """The time left when each phase begins: the mover's clock before the side's first move in the phase.

    Args:
        by: dimensions.
    Returns:
        A row per group and ``phase``, with the columns of ``time_left``; ``sides`` are those that made a move in it.
    """
    first = "row_number() OVER (PARTITION BY game, of_white, phase ORDER BY ply) = 1"
    return Program(
        _named(by),
        (*_PLAYED, Reason("no phase", "phase IS NULL"), _NO_CLOCK_BEFORE),
        _LEFT,
        also=("phase",),
        steps={"rows": f"FROM kept QUALIFY {first}"},
        apart="later in its phase",
        values={"clocks": Stats("clock_before_ms", _QUARTILES)},
    )


def longest_thinks(n: int = 10) -> Program:
    """The plies that took longest.

    Args:
        n: how many; all that took as long as the last of them are included.
    Returns:
        The longest first: ``key``, ``ply``, ``server``, ``variant``, ``time_control``, ``mover``, ``opponent``,
        ``side``, ``move_no``, ``san``, ``phase``, ``clock_before_ms``, ``elapsed_ms``, ``lag_ms``, ``precision``.
    """
    columns = [
        "server",
        "variant",
        "time_control",
        "mover",
        "opponent",
        "side",
        "move_no",
        "san",
        "phase",
        "clock_before_ms",
        "elapsed_ms",
        "lag_ms",
        "precision",
    ]
    every = {f"s_{name}": (f"any_value({name})", "any_value") for name in columns}
    return Program(
        (),
        TIMES,
        {name: f"s_{name}" for name in columns},
        also=("key", "ply"),
        top=("elapsed_ms", int(n)),
        apart="shorter",
        groups=every,
        order=("-s_elapsed_ms", "groups.key", "groups.ply"),
    )


def instant(by: str | Iterable[str] = ("time_control",), limit_ms: int = INSTANT_MS) -> Program:
    """Moves made at once, such as premoves: those that cost no time, or only the least time that the server charges.

    First moves, which are free, and plies with times in whole seconds, which are too coarse, are excluded.

    Args:
        by: dimensions. limit_ms: the longest time of an instant move.
    Returns:
        A row per group: ``games``, ``plies``, ``instant``, ``share`` (of ``plies``), ``at_zero`` (charged nothing),
        ``at_limit`` (charged exactly ``limit_ms``, the least time that some servers charge), ``precision``.
    """
    return Program(
        _named(by),
        (*TIMES, _FIRST_MOVE, _SECONDS_ONLY),
        _plain("games plies instant share at_zero at_limit precision", share="instant / plies::DOUBLE"),
        groups={
            "plies": "count(*)",
            "instant": f"count(*) FILTER (WHERE elapsed_ms <= {limit_ms})",
            "at_zero": "count(*) FILTER (WHERE elapsed_ms = 0)",
            "at_limit": f"count(*) FILTER (WHERE elapsed_ms = {limit_ms})",
        },
    )


def known_moves(by: str | Iterable[str] = ("time_control",)) -> Program:
    """How long sides play moves that they know: the moves and the time before the first long think.

    A think is long if it takes at least 5 seconds and at least twice an equal share of the time for 40 moves. Sides
    with a move of unknown time before it do not count.

    Args:
        by: dimensions, of the move with the first long think, else of the side's last move.
    Returns:
        A row per group: ``games``, ``sides``, ``thinks`` (sides with a long think), ``share`` (of ``sides``), and for
        the sides with one ``mean_moves``, ``median_moves``, ``p90_moves`` (own moves before it), ``mean_ms``,
        ``median_ms`` (time that these took), ``precision``.
    """
    twice = f"base_s::BIGINT * {_LONG_OF_BASE_MS} + increment_s::BIGINT * {_LONG_OF_INCREMENT_MS}"
    return Program(
        _named(by),
        (*TIMES, Reason("incomplete game", "NOT complete")),
        _plain(
            "games sides thinks share mean_moves median_moves p90_moves mean_ms median_ms precision",
            share="thinks / sides::DOUBLE",
            mean_moves="moves_mean_ms",
        ),
        derived={"long": f"elapsed_ms >= {_LEAST_LONG_MS} AND elapsed_ms >= coalesce({twice}, 0)"},
        steps={
            "firsts": ("SELECT game, of_white, min(move_no) FILTER (WHERE long) AS first FROM kept GROUP BY ALL"),
            "begun": (
                "SELECT kept.*, first FROM kept JOIN firsts USING (game, of_white)"
                " WHERE first IS NULL OR move_no <= first"
            ),
            "sums": (
                "SELECT game, of_white, bool_or(coarse) AS any_coarse, max(move_no) AS last,"
                " coalesce(sum(elapsed_ms) FILTER (WHERE NOT long), 0)::BIGINT AS took_ms,"
                " count(*) FILTER (WHERE move_no > 1) AS timed FROM begun GROUP BY ALL"
            ),
            "rows": (
                "SELECT begun.* REPLACE (any_coarse AS coarse), last, took_ms"
                " FROM begun JOIN sums USING (game, of_white) WHERE move_no = last AND timed = last - 1"
            ),
        },
        apart="not the first long think",
        values={
            "moves": Stats(
                "CASE WHEN long THEN last - 1 END", {"median_moves": None, "p90_moves": 90}, prefix="moves_"
            ),
            "times": Stats("CASE WHEN long THEN took_ms END", {"median_ms": None}),
        },
        groups={"sides": "count(*)", "thinks": "count(*) FILTER (WHERE long)"},
    )


def autocorrelation(by: str | Iterable[str] = ("time_control",)) -> Program:
    """Whether long thinks follow each other: Pearson's correlation of a side's think time with its previous one.

    First moves, which are free, do not count. Plies with times in whole seconds are excluded: together with finer times
    they would show the precision of each game, not how a player thinks.

    Args:
        by: dimensions.
    Returns:
        A row per group: ``games``, ``pairs``, ``mean_ms`` and ``mean_before_ms`` (of the later and the earlier thinks),
        ``correlation`` (-1 to 1; NA where one of them never differs), ``precision``.
    """
    x, y = "before_ms", "elapsed_ms"
    spread = "sqrt((pairs * xx - x * x)::DOUBLE) * sqrt((pairs * yy - y * y)::DOUBLE)"
    return Program(
        _named(by),
        (*TIMES, _FIRST_MOVE, _SECONDS_ONLY),
        _plain(
            "games pairs mean_ms mean_before_ms correlation precision",
            mean_ms="y::DOUBLE / pairs",
            mean_before_ms="x::DOUBLE / pairs",
            correlation=f"(pairs * xy - x * y)::DOUBLE / nullif({spread}, 0)",
        ),
        steps={
            "neighbours": (
                "SELECT *, lag(elapsed_ms) OVER side AS before_ms, lag(ply) OVER side AS before_ply FROM kept"
                " WINDOW side AS (PARTITION BY game, of_white ORDER BY ply)"
            ),
            "rows": "FROM neighbours WHERE before_ply = ply - 2",
        },
        apart="no think before",
        groups={
            "pairs": "count(*)",
            **{name: f"sum({one})" for name, one in (("x", x), ("y", y))},
            **{
                name: f"sum({one}::HUGEINT * {other})"
                for name, one, other in (("xy", x, y), ("xx", x, x), ("yy", y, y))
            },
        },
    )


def lag(by: str | Iterable[str] = ("player",)) -> Program:
    """The lag that servers print with moves.

    Args:
        by: dimensions.
    Returns:
        A row per group: ``games``, ``plies``, ``sealed_plies``, ``unsealed_plies`` (the mover has a time seal, or has
        none; for other plies it is unknown), ``total_ms``, ``given_back_ms`` (the lag of movers with a time seal, which
        is not charged to their clocks; NA if no mover is known to have one), ``mean_ms``, ``p50_ms``, ``p95_ms``,
        ``longest_ms``, ``zero_share`` (plies with 0).
    """
    return Program(
        _named(by),
        (_PLAYED[0], _PLAYED[2], Reason("no lag", "lag_ms IS NULL")),
        _plain(
            "games plies sealed_plies unsealed_plies total_ms given_back_ms mean_ms p50_ms p95_ms longest_ms "
            "zero_share",
            given_back_ms="CASE WHEN sealed_plies > 0 THEN back_ms END",
            longest_ms="most_ms",
            zero_share="at_zero / plies::DOUBLE",
        ),
        values={"lags": Stats("lag_ms", {"p50_ms": None, "p95_ms": 95})},
        groups={
            "sealed_plies": "count(*) FILTER (WHERE mover_sealed)",
            "unsealed_plies": "count(*) FILTER (WHERE NOT mover_sealed)",
            "back_ms": "coalesce(sum(lag_ms) FILTER (WHERE mover_sealed), 0)::BIGINT",
            "at_zero": "count(*) FILTER (WHERE lag_ms = 0)",
        },
    )


_BOTH_CLOCKS: Final = Reason("no clock", "clock_before_ms IS NULL OR opponent_clock_ms IS NULL")


def _inside(limit_ms: int) -> str:
    return f"clock_before_ms < {limit_ms} AND opponent_clock_ms < {limit_ms}"


def scrambles(by: str | Iterable[str] = ("time_control",), limit_ms: int = 30_000) -> Program:
    """How much was played while both clocks were below a limit.

    Args:
        by: dimensions. limit_ms: both clocks were less than this before the move.
    Returns:
        A row for each group that has a game with known clocks: ``games``, ``scrambled`` (games with a scramble),
        ``windows`` (scrambles: plies in a row), ``plies`` (in them), ``ply_share`` (of all plies), ``total_ms``,
        ``mean_ms``, ``median_ms``, ``p95_ms`` (of elapsed times in them), ``precision``.
    """
    follows = "coalesce(lag(ply) OVER (PARTITION BY game, inside ORDER BY ply) = ply - 1, FALSE)"
    return Program(
        _named(by),
        (*TIMES, _BOTH_CLOCKS),
        _plain(
            "games scrambled windows plies ply_share total_ms mean_ms median_ms p95_ms precision",
            plies="in_plies",
            ply_share="in_plies / all_plies::DOUBLE",
            total_ms="coalesce(total_ms, 0)",
            precision="CASE WHEN in_coarse THEN 'seconds' WHEN in_known THEN 'milliseconds' END",
        ),
        derived={"inside": _inside(limit_ms)},
        steps={"rows": f"SELECT *, {follows} AS follows FROM kept"},
        values={"times": Stats("CASE WHEN inside THEN elapsed_ms END", {"median_ms": None, "p95_ms": 95})},
        groups={
            "all_plies": "count(*)",
            "in_plies": "count(*) FILTER (WHERE inside)",
            "scrambled": "count(DISTINCT game) FILTER (WHERE inside)",
            "windows": "count(*) FILTER (WHERE inside AND NOT follows)",
            "in_coarse": ("bool_or(inside AND coarse)", "bool_or"),
            "in_known": ("bool_or(inside AND known)", "bool_or"),
        },
    )


def scramble_windows(limit_ms: int = 30_000) -> Program:
    """The scrambles one by one: plies in a row before which both clocks were below a limit.

    Args:
        limit_ms: as for ``scrambles``.
    Returns:
        A row per scramble, by game and ply: ``key``, ``from_ply``, ``to_ply``, ``plies``, ``white_ms``, ``black_ms``
        (time used in it by each side), ``white_clock_ms``, ``black_clock_ms`` (before it), ``precision``.
    """
    clocks = {
        f"{side}_clock_ms": (
            f"arg_min_null(CASE WHEN of_white = {white} THEN clock_before_ms ELSE opponent_clock_ms END, ply)",
            "any_value",
        )
        for side, white in (("white", 1), ("black", 0))
    }
    times = {
        f"{side}_ms": f"coalesce(sum(elapsed_ms) FILTER (WHERE of_white = {white}), 0)::BIGINT"
        for side, white in (("white", 1), ("black", 0))
    }
    return Program(
        (),
        (*TIMES, _BOTH_CLOCKS),
        _plain("from_ply to_ply plies white_ms black_ms white_clock_ms black_clock_ms precision"),
        also=("key", "number"),
        hidden=("number",),
        steps={
            "inside": f"FROM kept WHERE {_inside(limit_ms)}",
            "rows": "SELECT *, ply - row_number() OVER (PARTITION BY game ORDER BY ply) AS number FROM inside",
        },
        apart="no scramble",
        groups={
            "from_ply": ("min(ply)", "min"), "to_ply": ("max(ply)", "max"), "plies": "count(*)", **times, **clocks,
        },
        order=("groups.key", "from_ply"),
    )  # fmt: skip


def flags(by: str | Iterable[str] = ("time_control",)) -> Program:
    """How close sides came to losing on time, and how many lost on time.

    Args:
        by: dimensions.
    Returns:
        A row per group: ``games``, ``sides``, ``lost_on_time`` (sides), ``lost_share`` (of ``sides``), ``least_ms``,
        ``q25_ms``, ``median_ms``, ``q75_ms`` (of the lowest clock that each side reached after a move), ``closest_ms``
        (the lowest clock of a side that did not lose on time), ``overstepped`` (sides whose clock was below 0 after a
        move), ``precision``.
    """
    sides = (
        f"(SELECT {{keys}}, game, of_white, bool_or({_LOST_ON_TIME}) AS flagged, min(clock_after_ms) AS lowest_ms"
        " FROM rows GROUP BY ALL)"
    )
    return Program(
        _named(by),
        (*_PLAYED, _NO_CLOCK),
        _plain(
            "games sides lost_on_time lost_share least_ms q25_ms median_ms q75_ms closest_ms overstepped precision",
            sides="plies",
            lost_share="lost_on_time / plies::DOUBLE",
        ),
        values={
            "lowest": Stats(
                "lowest_ms",
                _QUARTILES,
                "(SELECT {keys}, game, of_white, min(clock_after_ms) AS lowest_ms, bool_or(coarse) AS coarse"
                " FROM rows GROUP BY ALL)",
            )
        },
        parts={
            "lost": Part(
                {
                    "lost_on_time": "count(*) FILTER (WHERE flagged)",
                    "overstepped": "count(*) FILTER (WHERE lowest_ms < 0)",
                    "closest_ms": ("min(lowest_ms) FILTER (WHERE NOT flagged)", "min"),
                },
                sides,
            )
        },
    )


def clock_lead(
    by: str | Iterable[str] = (),
    moves: Iterable[int] = (20, 30),
    edges_s: Sequence[int] = (-60, -30, -10, 0, 10, 30, 60),
    edges_percent: Sequence[int] | None = None,
) -> Program:
    """The score of sides by their lead on the clock after given moves of both sides.

    Args:
        by: dimensions. moves: the numbers of these moves. edges_s: the limits between bands of leads, in seconds,
            ascending; the first and the last band are open. edges_percent: the limits in percent of the side's base
            time, instead of ``edges_s``: for games with different time controls.
    Returns:
        A row per group, move number and band: ``move_no``, ``lead_from_s``, ``lead_to_s`` (not included; NA where it is
        open; ``…_percent`` with ``edges_percent``), ``sides``, ``wins``, ``draws``, ``losses``, ``score`` (0 to 1),
        ``mean_lead_ms``, ``precision``.
    """
    unit, edges = ("s", sorted(edges_s)) if edges_percent is None else ("percent", sorted(edges_percent))
    reasons = [*_PLAYED, Reason("no result", "mover_score IS NULL")]
    reasons.append(Reason("no clock", "own_ms IS NULL OR opponent_clock_ms IS NULL"))
    if edges_percent is not None:
        reasons.append(Reason("no base time", "coalesce(base_s, 0) <= 0"))
    # After both have made move n Black's clock stands with his ply, White's at the beginning of his next one.
    numbers = ", ".join(str(int(move)) for move in moves) or "NULL"
    band = band_of("lead_ms", edges, "1000" if edges_percent is None else "(base_s::BIGINT * 10)")
    return Program(
        _named(by),
        reasons,
        {
            **_edges("lead", edges, unit),
            **_plain(
                "sides wins draws losses score mean_lead_ms precision",
                score=SCORE,
                mean_lead_ms="lead_sum::DOUBLE / sides",
            ),
        },
        also=("move_no", "band"),
        hidden=("band",),
        derived={"own_ms": "CASE WHEN ply % 2 = 1 THEN clock_before_ms ELSE clock_after_ms END"},
        steps={
            "ahead": "SELECT * REPLACE (ply // 2 AS move_no), own_ms - opponent_clock_ms AS lead_ms FROM kept",
            "rows": f"SELECT *, {band} AS band FROM ahead WHERE move_no IN ({numbers})",
        },
        apart="other moves",
        groups={
            "sides": "count(*)",
            "wins": "count(*) FILTER (WHERE mover_score = 1)",
            "draws": "count(*) FILTER (WHERE mover_score = 0.5)",
            "losses": "count(*) FILTER (WHERE mover_score = 0)",
            "lead_sum": "sum(lead_ms)::BIGINT",
        },
    )


def _edges(what: str, edges: Sequence[int], unit: str = "s") -> dict[str, str]:
    listed = f"[{', '.join(map(str, edges))}]::BIGINT[]"
    return {f"{what}_from_{unit}": f"({listed})[nullif(band, 0)]", f"{what}_to_{unit}": f"({listed})[band + 1]"}


def even_budget(by: str | Iterable[str] = ("time_control",)) -> Program:
    """How far clocks were from an even use of time, which spends the same time on every move until none is left.

    Args:
        by: dimensions.
    Returns:
        A row per group: ``games``, ``plies``, ``ahead_share`` (of plies with more time left than with even use),
        ``mean_ms``, ``q25_ms``, ``median_ms``, ``q75_ms``, ``least_ms``, ``most_ms`` of the deviation (clock after the
        move - clock with even use; above 0: more is left), ``precision``.
    """
    left = "base_s::BIGINT * 1000 * (moves - move_no) // moves"
    return Program(
        _named(by),
        (
            *_PLAYED,
            Reason("incomplete", "NOT complete"),
            Reason("no time control", "base_s IS NULL"),
            _NO_CLOCK,
        ),
        _plain(
            "games plies ahead_share mean_ms q25_ms median_ms q75_ms least_ms most_ms precision",
            ahead_share="ahead / plies::DOUBLE",
        ),
        steps={  # of all plies: the last move may be one without a clock
            "sides": "SELECT game, of_white, max(move_no) AS moves FROM judged GROUP BY ALL",
            "rows": f"SELECT *, clock_after_ms - {left} AS deviation_ms FROM kept JOIN sides USING (game, of_white)",
        },
        values={"deviations": Stats("deviation_ms", _QUARTILES)},
        groups={"ahead": "count(*) FILTER (WHERE deviation_ms > 0)"},
    )


_RESULTS: Final = "games wins draws losses score"


def time_odds(by: str | Iterable[str] = (), *, first_moves: bool = False) -> Program:
    """Games in which the sides had different time controls, from the view of each side.

    Args:
        by: dimensions, besides the two time controls. first_moves: as for ``time_usage``.
    Returns:
        A row per group, own and opponent's time control: ``time_control``, ``opponent_time_control``, ``games``,
        ``wins``, ``draws``, ``losses``, ``score`` (of the side with ``time_control``), ``lost_on_time``, ``plies``,
        ``total_ms``, ``mean_ms``, ``precision``.
    """
    control = "max(time_control) FILTER (WHERE of_white = {})"
    return Program(
        [*_named(by), "time_control"],
        _timed(first_moves),
        _plain(f"{_RESULTS} lost_on_time plies total_ms mean_ms precision", score=SCORE),
        also=("opponent_time_control",),
        steps={
            "odds": (
                f"SELECT game, {control.format(1)} AS of_whites, {control.format(0)} AS of_blacks"
                " FROM judged GROUP BY ALL HAVING of_whites <> of_blacks"
            ),
            "rows": (
                "SELECT kept.*, CASE of_white WHEN 1 THEN of_blacks ELSE of_whites END AS opponent_time_control"
                " FROM kept JOIN odds USING (game)"
            ),
        },
        apart="no time odds",
        values={"times": Stats("elapsed_ms")},
        sides=_SCORES,
    )


def activity(by: str | Iterable[str] = (), utc_offset_min: int = 0, *, first_moves: bool = False) -> Program:
    """How much was played on each weekday and at each hour of the day.

    Args:
        by: dimensions, besides weekday and hour. utc_offset_min: offset of the hours from UTC in minutes, east is
            positive; the caller adds summer time. first_moves: as for ``time_usage``.
    Returns:
        A row per group, ``weekday`` (1 Monday) and ``hour`` (0 to 23) of the moves' arrival: ``games``, ``wins``,
        ``draws``, ``losses``, ``score`` (of the sides), ``plies``, ``total_ms``, ``mean_ms``, ``median_ms``,
        ``precision``.
    """
    shifted = f"arrival_ms + {utc_offset_min * 60_000} AS arrival_ms"
    return Program(
        [*_named(by), "weekday", "hour"],
        _timed(first_moves),
        _plain(f"{_RESULTS} plies total_ms mean_ms median_ms precision", score=SCORE),
        source=f"(SELECT * REPLACE ({shifted}) FROM plies)",
        values={"times": Stats("elapsed_ms", {"median_ms": None})},
        sides=_SCORES,
    )


def residuals(by: str | Iterable[str] = ()) -> Program:
    """Whether clocks add up: residuals (clock after - (clock before - elapsed + increment)) by their cause.

    Args:
        by: dimensions.
    Returns:
        A row per group and ``cause`` (the ledger's names; ``exact`` has residual 0): ``games``, ``plies``, ``share``
        (of the group's plies), ``total_ms``, ``absolute_ms`` (sums of the residuals, and of their absolute values),
        ``least_ms``, ``most_ms``, ``precision``.
    """
    return Program(
        _named(by),
        (*_PLAYED, Reason("not checked", "cause IS NULL OR residual_ms IS NULL")),
        _plain(
            "games plies share total_ms absolute_ms least_ms most_ms precision",
            share="plies / whole.whole_plies::DOUBLE",
        ),
        also=("cause",),
        parts={"whole": Part({"whole_plies": "count(*)"}, also=())},
        groups={
            "plies": "count(*)",
            "total_ms": "sum(residual_ms)::BIGINT",
            "absolute_ms": "sum(abs(residual_ms))::BIGINT",
            "least_ms": ("min(residual_ms)", "min"),
            "most_ms": ("max(residual_ms)", "max"),
        },
    )


_JUDGED: Final = (*_PLAYED, Reason("no evaluation", "loss_permille IS NULL"))


def _losses(
    by: str | Iterable[str], reasons: Sequence[Reason], also: str, band: str, edges: dict[str, str] | None
) -> Program:
    least = (INACCURACY_PERMILLE, MISTAKE_PERMILLE, BLUNDER_PERMILLE, 1001)
    bad = {
        name: f"count(*) FILTER (WHERE loss_permille >= {least[index]} AND loss_permille < {least[index + 1]})"
        for index, name in enumerate(("inaccuracies", "mistakes", "blunders"))
    }
    columns = _plain(
        "games plies inaccuracies mistakes blunders blunder_share mean_loss_cp mean_loss_permille",
        blunder_share="blunders / plies::DOUBLE",
        mean_loss_cp="lost_cp::DOUBLE / plies",
        mean_loss_permille="lost_permille::DOUBLE / plies",
    )
    return Program(
        _named(by),
        reasons,
        columns if edges is None else {**edges, **columns, "precision": "precision"},
        also=(also,),
        hidden=() if edges is None else (also,),
        derived={also: band},
        groups={
            "plies": "count(*)",
            **bad,
            "lost_cp": "sum(loss_cp)::BIGINT",
            "lost_permille": "sum(loss_permille)::BIGINT",
        },
    )


def blunders(by: str | Iterable[str] = ("player",)) -> Program:
    """How many moves were blunders, with and without time trouble.

    Args:
        by: dimensions.
    Returns:
        A row per group and ``time_trouble``: ``games``, ``plies``, ``inaccuracies``, ``mistakes``, ``blunders`` (a move
        counts in one of them at most), ``blunder_share`` (of ``plies``), ``mean_loss_cp``, ``mean_loss_permille``.
    """
    return _losses(by, (*_JUDGED, _NO_CLOCK_BEFORE), "time_trouble", TIME_TROUBLE, None)


def loss_by_think(by: str | Iterable[str] = (), edges_s: Sequence[int] = (1, 2, 5, 10, 20, 60)) -> Program:
    """How much moves lost, by the time that they took.

    Args:
        by: dimensions. edges_s: the limits between bands of times, in seconds, ascending; the first and the last band
            are open.
    Returns:
        A row per group and band: ``think_from_s``, ``think_to_s`` (not included; NA where it is open), the columns of
        ``blunders``, ``precision``.
    """
    think = "coalesce(elapsed_ms, clock_before_ms + increment_s::BIGINT * 1000 - clock_after_ms)"
    reasons = (*_JUDGED, _FIRST_MOVE, Reason("no time", f"{think} IS NULL"))
    return _losses(by, reasons, "band", band_of(think, edges_s), _edges("think", edges_s))


def loss_by_clock(by: str | Iterable[str] = (), edges_s: Sequence[int] = (5, 10, 20, 30, 60, 120, 300)) -> Program:
    """How much moves lost, by the time left on the mover's clock before the move.

    Args:
        by: dimensions. edges_s: as for ``loss_by_think``.
    Returns:
        As ``loss_by_think``, with ``clock_from_s`` and ``clock_to_s``.
    """
    band = band_of("clock_before_ms", edges_s)
    return _losses(by, (*_JUDGED, _NO_CLOCK_BEFORE), "band", band, _edges("clock", edges_s))


def diagonal_lead(by: str | Iterable[str] = ("player",)) -> Program:
    """Bughouse: how much more time movers had than the diagonal opponent, who plays their colour on the other board.

    Args:
        by: dimensions; ``match``, ``board`` and ``partner`` are columns here.
    Returns:
        A row per group: ``games`` (boards), ``wins``, ``draws``, ``losses``, ``score``, ``plies``, ``ahead_share`` (of
        the plies after which the lead was above 0), ``mean_ms``, ``q25_ms``, ``median_ms``, ``q75_ms``, ``least_ms``,
        ``most_ms`` of the lead, ``precision``.
    """
    return Program(
        _named(by),
        (*_PLAYED, Reason("no lead", "diagonal_lead_ms IS NULL")),
        _plain(
            f"{_RESULTS} plies ahead_share mean_ms q25_ms median_ms q75_ms least_ms most_ms precision",
            score=SCORE,
            ahead_share="ahead / plies::DOUBLE",
        ),
        values={"leads": Stats("diagonal_lead_ms", _QUARTILES)},
        sides=_SCORES,
        groups={"ahead": "count(*) FILTER (WHERE diagonal_lead_ms > 0)"},
    )


def sitting(by: str | Iterable[str] = ("player",), limit_ms: int = 5_000) -> Program:
    """Bughouse: how long two diagonal opponents, who were both to move, waited for each other (sitting).

    A sit is counted for the player whose move ends it.

    Args:
        by: dimensions. limit_ms: the shortest wait that counts.
    Returns:
        A row per group: ``games`` (boards), ``plies``, ``sits``, ``total_ms``, ``mean_ms``, ``median_ms``,
        ``longest_ms``.
    """
    return Program(
        _named(by),
        (*_PLAYED, Reason("no arrival", "sit_ms IS NULL")),
        _plain(
            "games plies sits total_ms mean_ms median_ms longest_ms",
            plies="all_plies",
            sits="coalesce(sit_plies, 0)",
            total_ms="coalesce(sit_total_ms, 0)",
            mean_ms="sit_mean_ms",
            longest_ms="sit_most_ms",
        ),
        values={"waits": Stats(f"CASE WHEN sit_ms >= {limit_ms} THEN sit_ms END", {"median_ms": None}, prefix="sit_")},
        groups={"all_plies": "count(*)"},
    )
