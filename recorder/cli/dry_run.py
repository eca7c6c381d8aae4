"""``record --dry-run``: what would be sent to a server, from its own table of games."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from recorder.cli.output import print_table, say
from recorder.live.login.login import Login
from recorder.live.net.sockets import Address, format_address
from recorder.live.policy.explain import Rehearsal
from recorder.live.policy.plan import ObservationPlan
from recorder.live.policy.rehearsal import rehearse
from recorder.text import clean, plural
from recorder.wire.timeseal import Sealing

__all__ = ["dry_run"]


def dry_run(
    server: Address, user: str | None, password: Callable[[], str] | None, timeseal: int | None, plan: ObservationPlan
) -> None:
    """Log in, ask for the table of games, leave, and print what ``record`` would have sent.

    Args:
        timeseal: the version of the time seal; None: the connection is not sealed.
    Raises:
        LoginError: no connection comes about, or the server does not let us in.
    """
    rehearsal = Rehearsal(Login(user, password), plan)
    asyncio.run(rehearse(server, rehearsal, None if timeseal is None else Sealing(timeseal)))
    said, games = rehearsal.result()
    print_table(
        ("command", "White", "Black", "why"),
        [
            (line.command, None, None, None)
            if (game := line.game) is None
            else (line.command, game.facts.white, game.facts.black, game.reason)
            for line in said
        ],
    )
    observed = sum(line.game is not None for line in said)
    who = "" if rehearsal.we is None or rehearsal.we.handle is None else f" as {clean(rehearsal.we.handle)}"
    say(
        f"Nothing of this was sent to {format_address(server)} but the login{who} and the request for its games: "
        f"{plural(len(games), 'game')}, {observed:,} would be observed."
    )
