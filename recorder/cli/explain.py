"""``ics-recorder explain``: why games of a recorded session were or were not observed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.options import Command, json_option, wide_option
from recorder.cli.output import print_rows, say
from recorder.cli.recording_options import make_plan, policy_options
from recorder.errors import ExitCode, NoPolicyError
from recorder.text import clean, named, plural

if TYPE_CHECKING:
    from recorder.live.policy.candidates import PolicyPart
    from recorder.live.policy.explain import GameOutcome

# By the value of ``Fate``: this module is loaded with every command.
_PLAYERS = named("white black")
_UNFULFILLED = {
    "asked for": "asked for without an answer",
    "waiting": "waited for a place",
    "unconfirmed": "no line showed that it went on",
}


@click.command(
    "explain",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder explain session.journal
  ics-recorder explain session.journal 107     all games that had this number
  ics-recorder explain session.journal --observe 'rated & rating > 1800'
  ics-recorder explain games.txt --observe gm  a saved table of games
""",
)
@click.argument("file", metavar="FILE")
@click.argument("numbers", nargs=-1, type=click.IntRange(min=0), metavar="[GAME_NO…]")
@policy_options
@json_option
@wide_option
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    numbers: tuple[int, ...],
    observe: str | None,
    observe_handles: Path | None,
    limit: int | None,
    rotate: float | None,
    share: str | None,
    as_json: bool,
) -> None:
    """Explain why each game of a session was or was not observed.

    For a journal of `record`, the options of that run and the server's answers are used. Any other log must have tables
    or announcements of games. For such a log, and if --observe or --observe-handles is given, the command explains what
    would be observed if the server granted every request.
    """
    from recorder.live.policy.explain import explain_log

    has_plan = observe is not None or observe_handles is not None
    plan = make_plan(ctx, observe, observe_handles, limit, rotate, share) if has_plan else None
    if plan is None and not (limit is None and rotate is None and share is None):
        raise click.UsageError("--limit, --rotate and --share belong to a policy: add --observe or --observe-handles.")
    try:
        explainer, timed = explain_log(file, plan)
    except NoPolicyError as error:
        raise click.UsageError(str(error)) from None
    outcomes = [] if explainer is None else explainer.finish()
    matching = [outcome for outcome in outcomes if not numbers or outcome.game_no in numbers]
    if numbers and not as_json:
        for outcome in matching:
            _print_parts(outcome, timed)
    elif matching or as_json:
        _print_all(matching, timed, as_json=as_json)
    if explainer is not None and plan is None and explainer.tally.matched:
        say(explainer.tally.sentence)
    if explainer is not None and explainer.observing.listed.unread_rows:
        say(f"{plural(explainer.observing.listed.unread_rows, 'line')} of the tables of games could not be read.")
    missing = sorted(set(numbers) - {outcome.game_no for outcome in matching})
    if not outcomes:
        say(f"{file} contains no game.")
        ctx.exit(ExitCode.FINDINGS)
    if missing:
        say(f"{file} does not contain game {', '.join(map(str, missing))}.")
        ctx.exit(ExitCode.FINDINGS)


# -- what is printed -------------------------------------------------------------------------------------------


def _print_all(outcomes: list[GameOutcome], timed: bool, *, as_json: bool) -> None:
    def observed_at(outcome: GameOutcome) -> str:
        return "no" if outcome.watched_ms is None else _time(outcome.watched_ms, timed) or "yes"

    print_rows(
        outcomes,
        lambda outcome: _object(outcome, timed),
        (
            ("game", "game_no"),
            ("White", "facts.white"),
            ("Black", "facts.black"),
            ("type", "facts.category"),
            ("from", lambda outcome: _time(outcome.seen_ms, timed)),
            ("until", lambda outcome: _time(outcome.gone_ms, timed)),
            ("observed", observed_at),
            ("why", _reason),
        ),
        as_json=as_json,
        right=("game",),
        narrow=(("why", 24), "until", ("White", 12), ("Black", 12), "type", "from"),
        fold=("why",),
    )
    if as_json:
        return
    observed = sum(outcome.watched_ms is not None for outcome in outcomes)
    partly = sum(outcome.missing is not None for outcome in outcomes)
    of_these = f", {partly:,} of them in part" if partly else ""
    say(f"{plural(len(outcomes), 'game')}, {observed:,} observed{of_these}.")


def _reason(outcome: GameOutcome) -> str:
    before = f"in part, {outcome.missing}" if outcome.missing else _UNFULFILLED.get(outcome.fate.value)
    return outcome.reason if before is None else f"{before}: {outcome.reason}"


def _print_parts(outcome: GameOutcome, timed: bool) -> None:
    from recorder.live.policy.candidates import format_part

    facts = outcome.facts
    times = f", {_time(outcome.seen_ms, timed)} to {_time(outcome.gone_ms, timed)}" if timed else ""
    kind = f", {facts.category}" if facts.category else ""
    click.echo(clean(f"Game {outcome.game_no}, {facts.white or '?'} – {facts.black or '?'}{kind}{times}"))
    state = "not observed" if outcome.watched_ms is None else "observed"
    click.echo(clean(f"  {state}: {_reason(outcome)}"))
    if outcome.part is not None:
        for line in format_part(outcome.part, "    ").split("\n"):
            click.echo(clean(line))


def _object(outcome: GameOutcome, timed: bool) -> dict[str, Any]:
    facts = outcome.facts
    return {
        "game_no": outcome.game_no,
        **_PLAYERS(facts),
        "white_rating": None if facts.white_rating is None else facts.white_rating.text,
        "black_rating": None if facts.black_rating is None else facts.black_rating.text,
        "rated": facts.rated,
        "category": facts.category,
        "seen_at": _time(outcome.seen_ms, timed),
        "gone_at": _time(outcome.gone_ms, timed),
        "observed": outcome.watched_ms is not None,
        "observed_at": None if outcome.watched_ms is None else _time(outcome.watched_ms, timed),
        "missing": outcome.missing,
        "fate": outcome.fate.value,
        "reason": outcome.reason,
        "parts": None if outcome.part is None else _tree(outcome.part),
    }


def _tree(part: PolicyPart) -> dict[str, Any]:
    return {
        "text": part.text,
        "value": part.value,
        "reason": part.reason or None,
        "parts": [_tree(inner) for inner in part.parts],
    }


def _time(at_ms: int, timed: bool) -> str | None:
    """UTC; None: the log has no times."""
    if not timed:
        return None
    return datetime.fromtimestamp(at_ms // 1000, UTC).isoformat().replace("+00:00", "Z")
