"""``ics-recorder record``: observe games on a server and keep everything that comes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from recorder.archive.locate import archive_file, import_command
from recorder.cli.config import RereadCommand, config_option, reread, weight
from recorder.cli.observe_options import make_plan, policy_options
from recorder.cli.options import archive_option
from recorder.cli.output import say
from recorder.cli.recording_options import (
    DEFAULT_PORT,
    AddressType,
    import_option,
    journal_options,
    log_option,
    outlet_options,
    refuse_outlets,
)
from recorder.errors import JournalError, PasswordError
from recorder.exit_codes import ExitCode
from recorder.live import PASSWORD_VARIABLE
from recorder.live.login.password import find_password
from recorder.live.net.sockets import Address
from recorder.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from recorder.archive.record_run import RecordRun
    from recorder.live.capture import ConnectionState
    from recorder.live.policy.plan import ObservationPlan

__all__ = ["command"]

_VIEW = (sys.executable, "-P", "-m", "recorder.cli.live_view")
"""Draws the live view; loading it here would cost the recorder memory."""
_CHOOSING = {  # parameter: attribute of ``Plan``
    "observe": "observe",
    "observe_handles": "handles",
    "limit": "limit",
    "rotate": "rotate_ms",
    "share": "share",
}


@click.command(
    "record",
    cls=RereadCommand,
    epilog=f"""\b
Examples:
  ics-recorder record freechess.org --guest --observe 'rated & (blitz | standard) & rating > 2000'
  ics-recorder record freechess.org --guest --observe all
  ics-recorder record freechess.org --guest --observe-handles masters.txt --pgn games/
  ics-recorder record chess.example:5000 --user Ann      # asks for the password
  ICS_RECORDER_RECORD_LIMIT=10 ics-recorder record --config record.toml chess.example
  ics-recorder record freechess.org --guest --observe 'gm | im' --dry-run

Passwords are in no argument: {PASSWORD_VARIABLE} holds one, or the keyring does (with the extra
[keyring]; docs/recording.md tells how), or it is asked for. Every option has a variable, too:
ICS_RECORDER_RECORD_OBSERVE is that of --observe.
""",
)
@click.argument("server", type=AddressType(DEFAULT_PORT), metavar="HOST[:PORT]")
@click.option("--guest", is_flag=True, help="Log in as a guest.")
@click.option(
    "--user",
    metavar="NAME",
    help=f"Log in with this name; its password is {PASSWORD_VARIABLE}, in the keyring, or asked for.",
)
@policy_options
@click.option(
    "--poll",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="Ask for the table of games so often while more games may be observed; else as it suits the server.",
)
@click.option(
    "--timeseal", is_flag=True, help="Seal what is sent, as FICS's own helper does; who observes needs it not."
)
@click.option("--timeseal2", is_flag=True, help="The same with the seal's second version.")
@config_option
@journal_options
@import_option
@outlet_options
@log_option
@click.option(
    "--plain", is_flag=True, help="Lines instead of a live view on the terminal; elsewhere there are only lines."
)
@click.option("--quiet", is_flag=True, help="Say only what is wrong.")
@click.option(
    "--dry-run",
    "dry",
    is_flag=True,
    help="Log in, ask for the games, leave, and print what would be sent and observed; nothing is recorded or changed.",
)
@archive_option
@click.pass_context
def command(
    ctx: click.Context,
    server: Address,
    guest: bool,
    user: str | None,
    observe: str | None,
    observe_handles: Path | None,
    limit: int | None,
    rotate: float | None,
    share: str | None,
    poll: float | None,
    timeseal: bool,
    timeseal2: bool,
    journal_dir: Path,
    sync_word: str,
    to_archive: bool,
    pgn: str | None,
    events: str | None,
    log_file: Path | None,
    plain: bool,
    quiet: bool,
    dry: bool,
    where: str,
) -> None:
    """Observe games on a server and keep everything that comes.

    Every byte is in a journal before anything looks at it; the archive, the PGN and the events are made from the
    journal by a process of its own, so nothing that goes wrong there loses a move. A connection that is lost is made
    again. Only settings of the session are changed; what outlives it is put back.

    SIGUSR1 reads the files of --config and --observe-handles again: --observe, --observe-handles, --limit, --rotate,
    --share and --poll apply at once, a changed value of another option at the next start.

    Ctrl-C ends it cleanly, with exit status 0; a second Ctrl-C leaves out what is not in the archive yet. If that, or
    the PGN, does not have all of it, the exit status is 4. If the journal cannot be written, recording stops with exit
    status 7. When the reader of the events goes away or is too slow, recording goes on without them, and the exit
    status at the end is 141.
    """
    from recorder.archive.record_run import RecordRun, record
    from recorder.archive.recording import ArchiveChild
    from recorder.cli.dry_run import dry_run
    from recorder.live.event_log import RunLog, teller
    from recorder.live.message_printer import MessagePrinter
    from recorder.live.screen import Screen, ScreenMode

    user = _who(ctx, guest, user)
    refuse_outlets(where, to_archive, pgn, events)
    plan = _plan(ctx)
    seal = 2 if timeseal2 else 1 if timeseal else None
    password = _password(user, server, sealed=seal is not None)
    if dry:
        dry_run(server, user, password, seal, plan)
        return
    poll_ms = _poll_ms(ctx)
    observing = plan.observing(poll_ms=poll_ms)
    journals = journal_dir.absolute()
    with MessagePrinter() as talk:
        log = None if log_file is None else RunLog(log_file.absolute(), talk.say)
        child = ArchiveChild(where, talk.say, pgn=pgn, events=events is not None) if to_archive else None
        screen = Screen(ScreenMode.choose(quiet=quiet, plain=plain, events=events is not None), talk, _VIEW)
        tell = teller(log, screen.tell)
        run = RecordRun(
            server=server,
            user=user,
            password=password,
            timeseal=seal,
            plan=plan,
            poll_ms=poll_ms,
            observing=observing,
            journals=journals,
            sync_word=sync_word,
            where=where,
            child=child,
            screen=screen,
            tell=tell,
            reread=partial(_reread, ctx),
        )
        status, recorded = asyncio.run(record(run))
        if not quiet and recorded:
            _say_places(talk.say, journals, where, pgn, to_archive=to_archive)
            if observing.seen and not observing.chosen:
                seen = plural(observing.seen, "game")
                talk.say(f"{seen} seen, none of them matched; `ics-recorder explain JOURNAL` tells why.")
        if log is not None:
            log.settle()
    if status is ExitCode.OK and child is not None and child.left:
        status = ExitCode.PIPE
    if status is not ExitCode.OK:
        raise Exit(status)


def _plan(ctx: click.Context) -> ObservationPlan:
    return make_plan(ctx, *(ctx.params[name] for name in _CHOOSING))


def _poll_ms(ctx: click.Context) -> int | None:
    poll = ctx.params["poll"]
    return None if poll is None else round(poll * 1000)


def _reread(typed: click.Context, run: RecordRun, standing: ConnectionState) -> None:
    """Choose games by what the options say now; what cannot be read changes nothing."""
    from recorder.live.policy.plan import plan_notes

    if standing.over:  # only the archive is waited for
        return
    try:
        ctx = reread(typed)
        plan = _plan(ctx)
    except click.ClickException as error:
        why = error.format_message()
        run.tell("not_reread", f"The options cannot be read, all stays as it was: {why}", error=why)
        return
    poll_ms = _poll_ms(ctx)
    chosen = [name for name, attribute in _CHOOSING.items() if getattr(plan, attribute) != getattr(run.plan, attribute)]
    chosen += ["poll"] if poll_ms != run.poll_ms else []
    run.plan, run.poll_ms = plan, poll_ms
    plan.apply(run.observing, poll_ms=poll_ms)
    if standing.journal is not None:
        with contextlib.suppress(JournalError):  # the next byte fails, too, and ends the recording
            for facts in plan_notes(plan):
                standing.journal.note("policy", **facts)
    others = [param for param in ctx.command.params if param.name not in {*_CHOOSING, "poll"}]
    changed = [param for param in others if ctx.params.get(param.name or "") != typed.params.get(param.name or "")]
    restart = ", ".join(param.opts[0] for param in changed) or None
    changes = ", ".join(f"--{name.replace('_', '-')}" for name in chosen) or None
    now = f"{changes} changed" if changes else "no choice of games changed" if restart else "nothing changed"
    later = f" Only a restart changes {restart}." if restart else ""
    run.tell("reread", f"The options were read again: {now}.{later}", changed=changes, restart=restart)


def _who(ctx: click.Context, guest: bool, user: str | None) -> str | None:
    """Who logs in; None: a guest. What is typed counts more than what a file says."""
    if guest and user is not None:
        by_guest, by_user = weight(ctx, "guest"), weight(ctx, "user")
        if by_guest == by_user:
            raise click.UsageError("Say who logs in: --guest or --user NAME, not both.")
        return user if by_user > by_guest else None
    if not guest and user is None:
        raise click.UsageError("Say who logs in: --guest or --user NAME.")
    return user


def _password(user: str | None, server: Address, *, sealed: bool) -> Callable[[], str] | None:
    """The password, for every login of this run; None: of a guest."""
    if user is None:
        os.environ.pop(PASSWORD_VARIABLE, None)  # no process of ours needs to inherit it
        return None
    try:
        password = find_password(user, server.host, say)
    except PasswordError as error:
        raise click.UsageError(str(error)) from None
    if sealed and not password.isascii():
        raise click.UsageError(
            "A time seal has room for unaccented letters, digits and signs only: leave out --timeseal, or change the "
            "password."
        )
    return lambda: password


def _say_places(say: Callable[[str], object], journals: Path, where: str, pgn: str | None, *, to_archive: bool) -> None:
    say(f"Journals: {journals}")
    if to_archive:
        say(f"Archive: {archive_file(where)}")
    else:
        say(f"They are in no archive yet: {import_command(journals, where)}")
    if pgn is not None:
        say(f"PGN: {pgn}")
