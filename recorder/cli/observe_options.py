"""The options that say what to observe, declared once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.cli.config import origin
from recorder.cli.options import in_section
from recorder.cli.output import say
from recorder.errors import PolicyError

if TYPE_CHECKING:
    from recorder.live.policy.plan import ObservationPlan

__all__ = ["make_plan", "policy_options"]

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])


def policy_options(command: _AnyCommand) -> _AnyCommand:
    """``--observe --observe-handles --limit --rotate --share``."""
    return in_section(
        "What to observe",
        command,
        click.option(
            "--share",
            metavar="N/M",
            help=("Observe only share N of M of the matching games: 1/2 here, 2/2 in a recorder with another account."),
        ),
        click.option(
            "--rotate",
            type=click.FloatRange(min=0, min_open=True),
            metavar="MINUTES",
            help="Minutes after which a game gives its place to one that waits.",
        ),
        click.option(
            "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of games observed at a time."
        ),
        click.option(
            "--observe-handles",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="File with handles, one a line, whose games are observed too.",
        ),
        click.option(
            "--observe",
            metavar="EXPRESSION",
            help="Games to observe: all, or an expression (docs/observing.md).",
        ),
    )


def make_plan(
    ctx: click.Context,
    observe: str | None,
    observe_handles: Path | None,
    limit: int | None,
    rotate: float | None,
    share: str | None,
) -> ObservationPlan:
    """The plan that the options give.

    Raises:
        click.UsageError: they say nothing, or the expression or the list of handles cannot be read.
    """
    from recorder.live.policy.games import parse_share
    from recorder.live.policy.language import parse_handles, parse_policy
    from recorder.live.policy.plan import ObservationPlan

    if observe is None and observe_handles is None:
        raise click.UsageError("Say what to record: --observe EXPRESSION or --observe-handles FILE.")
    try:
        if observe is not None:
            parse_policy(observe)
    except PolicyError as error:
        raise click.BadParameter(str(error), param_hint=origin(ctx, "observe", "--observe")) from error
    try:
        part = None if share is None else parse_share(share)
    except PolicyError as error:
        raise click.BadParameter(str(error), param_hint=origin(ctx, "share", "--share")) from error
    names: tuple[str, ...] = ()
    if observe_handles is not None:
        try:
            names = parse_handles(observe_handles.read_text(encoding="utf-8"))
        except (PolicyError, OSError, UnicodeDecodeError) as error:
            place = origin(ctx, "observe_handles", "--observe-handles")
            raise click.BadParameter(f"{observe_handles}: {error}", param_hint=place) from error
        if not names and observe is None:
            raise click.UsageError(
                f"{observe_handles} names nobody, so there is nothing to record: write one handle a line."
            )
        if not names:
            say(f"{observe_handles} names nobody.")
    return ObservationPlan(observe, names, limit, None if rotate is None else round(rotate * 60_000), part)
