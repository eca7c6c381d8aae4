"""``ics-recorder record``: observe games on a server and keep everything that comes."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.exceptions import Exit

from recorder.archive.locate import archive_file, import_command
from recorder.cli.hook_options import running_hooks
from recorder.cli.options import Rare, archive_option
from recorder.cli.output import print_table, say
from recorder.cli.recording_options import (
    DEFAULT_PORT,
    AddressType,
    RereadCommand,
    import_option,
    journal_options,
    log_option,
    make_plan,
    outlet_options,
    policy_options,
    refuse_outlets,
    reread,
    weight,
)
from recorder.errors import ExitCode, JournalError, PasswordError
from recorder.journal.format import NoteKind
from recorder.live import PASSWORD_VARIABLE
from recorder.live.net.sockets import Address, format_address
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.archive.recording.record_run import RecordRun
    from recorder.live.capture import ConnectionState
    from recorder.live.hooks import Hook
    from recorder.live.policy.plan import ObservationPlan

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
  ics-recorder record freechess.org --guest --observe 'blitz & rating > 2000'
  ics-recorder record freechess.org --guest --observe-handles masters.txt
  ics-recorder record freechess.org --guest --observe all --pgn games/
  ics-recorder record chess.example:5000 --user Ann    asks for the password
  ics-recorder --config record.toml record --limit 10
  ics-recorder record freechess.org --guest --observe 'gm | im' --dry-run

Passwords are never arguments: set {PASSWORD_VARIABLE}, store the password in the keyring (extra
[keyring], see docs/how-to/record-around-the-clock.md), or type it when asked. Each option has an environment
variable, such as ICS_RECORDER_RECORD_OBSERVE for --observe.
""",
)
@click.argument("server", type=AddressType(DEFAULT_PORT), metavar="HOST[:PORT]")
@click.option("--guest", is_flag=True, help="Log in as a guest.")
@click.option(
    "--user",
    metavar="NAME",
    help=f"Log in as NAME; the password is in {PASSWORD_VARIABLE} or the keyring, or is asked for.",
)
@policy_options
@click.option(
    "--poll",
    cls=Rare,
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help=("Interval between two requests for the table of games, in seconds; default: adapted to the server."),
)
@click.option(
    "--timeseal", cls=Rare, is_flag=True, help="Use timeseal, FICS's protocol for lag; observers do not need it."
)
@click.option("--timeseal2", cls=Rare, is_flag=True, help="Use version 2 of timeseal.")
@journal_options
@import_option
@outlet_options
@log_option
@click.option(
    "--plain", is_flag=True, help="Print lines instead of a live view; the default where there is no terminal."
)
@click.option("--quiet", cls=Rare, is_flag=True, help="Print only problems.")
@click.option(
    "--dry-run",
    "dry",
    is_flag=True,
    help="Log in, request the table of games, log out, and print what would be observed; record nothing.",
)
@archive_option
@click.pass_context
def command(ctx: click.Context, /, **words: Any) -> None:
    """Record games: observe them on a server, around the clock.

    Every byte is written to a journal before it is parsed. A second process makes the archive, the PGN and the events
    from the journal, so a failure there loses no move. The recorder reconnects, and restores lasting server settings.

    SIGUSR1 reads the configuration file and that of --observe-handles again: options that choose games, and --poll,
    apply at once, others at the next start.

    Ctrl-C ends the recording with exit status 0. A second Ctrl-C does not wait for the archive: `import` can read the
    rest of the journal later. Exit status 4: the archive or the PGN is incomplete; 7: the journal could not be written,
    and recording stopped; 141: the program that reads the events ended or was too slow, and recording went on.
    """
    settings = _Settings(**words)
    user = _who(ctx, settings.guest, settings.user)
    refuse_outlets(settings.where, settings.to_archive, settings.pgn, settings.events, settings.live[0], settings.hooks)
    plan = _plan(ctx)
    timeseal = 2 if settings.timeseal2 else 1 if settings.timeseal else None
    login = _Login(settings.server, user, _password(user, settings.server, sealed=timeseal is not None), timeseal)
    if settings.dry:
        _dry_run(login, plan)
        return
    status = _record(ctx, settings, login, plan)
    if status is not ExitCode.OK:
        raise Exit(status)


@dataclass(frozen=True, slots=True)
class _Settings:
    """The command's options; ``_plan`` reads those that choose games, ``_poll_ms`` the last one."""

    server: Address
    guest: bool
    user: str | None
    timeseal: bool
    timeseal2: bool
    journal_dir: Path
    sync_word: str
    to_archive: bool
    pgn: str | None
    events: str | None
    live: tuple[str | None, float, tuple[str, ...]]
    hooks: tuple[Hook, ...]
    log_file: Path | None
    plain: bool
    quiet: bool
    dry: bool
    where: str
    observe: str | None
    observe_handles: Path | None
    limit: int | None
    rotate: float | None
    share: str | None
    poll: float | None


class _Login(NamedTuple):
    """Where to connect and who logs in; None: a guest."""

    server: Address
    user: str | None
    password: Callable[[], str] | None
    timeseal: int | None


def _record(ctx: click.Context, settings: _Settings, login: _Login, plan: ObservationPlan) -> ExitCode:
    from recorder.archive.recording.archiving import ArchiveChild
    from recorder.archive.recording.record_run import RecordRun, record
    from recorder.journal import make_journal_folder
    from recorder.live.messages import MessagePrinter, RunLog, report_to
    from recorder.live.policy.observing import Observing
    from recorder.live.screen import Screen, ScreenMode

    where, pgn, has_events = settings.where, settings.pgn, settings.events is not None
    poll_ms = _poll_ms(ctx)
    observing = Observing(plan, poll_ms=poll_ms)
    journals = settings.journal_dir.absolute()
    make_journal_folder(journals)
    with contextlib.closing(MessagePrinter()) as printer:
        mode = ScreenMode.choose(quiet=settings.quiet, plain=settings.plain, events=has_events)
        screen = Screen(mode, printer)
        log = None if settings.log_file is None else RunLog(settings.log_file.absolute(), screen.say)
        with running_hooks(settings.hooks, lambda: report) as hooks:
            report = report_to(log, screen.report, None if hooks is None else hooks.report)
            child = None
            if settings.to_archive:
                child = ArchiveChild(where, screen.say, pgn=pgn, events=has_events, live=settings.live, hooks=hooks)
            run = RecordRun(
                **login._asdict(),
                plan=plan,
                poll_ms=poll_ms,
                observing=observing,
                journals=journals,
                sync_word=settings.sync_word,
                where=where,
                child=child,
                hooks=hooks,
                screen=screen,
                report=report,
                reread=partial(_reread, ctx),
            )
            status, recorded = asyncio.run(record(run))
        if not settings.quiet and recorded:
            _say_places(printer.say, journals, where, pgn, to_archive=settings.to_archive)
            rest = observing.listed.games.values()
            matched = observing.tally.matched or any(game.wanted or game.watched_ms is not None for game in rest)
            if observing.listed.seen and not matched:
                games = plural(observing.listed.seen, "game")
                printer.say(f"{games} seen, none of them matched; run `ics-recorder explain JOURNAL` for the reasons.")
        if log is not None:
            log.settle()
    return ExitCode.PIPE if status is ExitCode.OK and child is not None and child.left else status


def _plan(ctx: click.Context) -> ObservationPlan:
    return make_plan(ctx, *(ctx.params[name] for name in _CHOOSING))


def _poll_ms(ctx: click.Context) -> int | None:
    poll = ctx.params["poll"]
    return None if poll is None else round(poll * 1000)


def _reread(typed: click.Context, run: RecordRun, standing: ConnectionState) -> None:
    """What cannot be read changes nothing."""
    from recorder.live.policy.plan import plan_notes

    if standing.over:  # only the archive is waited for
        return
    try:
        ctx = reread(typed)
        plan = _plan(ctx)
    except click.ClickException as error:
        why = error.format_message()
        run.report("not_reread", f"The options cannot be read and are unchanged: {why}", error=why)
        return
    poll_ms = _poll_ms(ctx)
    chosen = [name for name, attribute in _CHOOSING.items() if getattr(plan, attribute) != getattr(run.plan, attribute)]
    chosen += ["poll"] if poll_ms != run.poll_ms else []
    run.plan, run.poll_ms = plan, poll_ms
    run.observing.replan(plan, poll_ms)
    if standing.journal is not None:
        with contextlib.suppress(JournalError):  # the next byte fails, too, and ends the recording
            for facts in plan_notes(plan):
                standing.journal.note(NoteKind.POLICY, **facts)
    others = [param for param in ctx.command.params if param.name not in {*_CHOOSING, "poll"}]
    changed = [param for param in others if ctx.params.get(param.name or "") != typed.params.get(param.name or "")]
    restart = ", ".join(param.opts[0] for param in changed) or None
    changes = ", ".join(f"--{name.replace('_', '-')}" for name in chosen) or None
    sentences = ["Options reloaded."]
    if changes:
        sentences.append(f"Changed now: {changes}.")
    if restart:
        sentences.append(f"Changed after a restart: {restart}.")
    if not changes and not restart:
        sentences.append("No option has changed.")
    run.report("reread", " ".join(sentences), changed=changes, restart=restart)


def _who(ctx: click.Context, guest: bool, user: str | None) -> str | None:
    """None: a guest. What is typed counts more than what a file says."""
    if guest and user is not None:
        by_guest, by_user = weight(ctx, "guest"), weight(ctx, "user")
        if by_guest == by_user:
            raise click.UsageError("Choose one login: --guest or --user NAME, not both.")
        return user if by_user > by_guest else None
    if not guest and user is None:
        raise click.UsageError("Choose a login: --guest or --user NAME.")
    return user


def _password(user: str | None, server: Address, *, sealed: bool) -> Callable[[], str] | None:
    """For every login of this run; None: of a guest."""
    if user is None:
        os.environ.pop(PASSWORD_VARIABLE, None)  # no process of ours needs to inherit it
        return None
    try:
        from recorder.live.login.login import find_password

        password = find_password(user, server.host, say)
    except PasswordError as error:
        raise click.UsageError(str(error)) from None
    if sealed and not password.isascii():
        raise click.UsageError("Timeseal supports ASCII passwords only: omit --timeseal, or change the password.")
    return lambda: password


def _say_places(say: Callable[[str], object], journals: Path, where: str, pgn: str | None, *, to_archive: bool) -> None:
    say(f"Journals: {journals}")
    if to_archive:
        say(f"Archive: {archive_file(where)}")
    else:
        say(f"Not in an archive yet; import with: {import_command(journals, where)}")
    if pgn is not None:
        say(f"PGN: {pgn}")


def _dry_run(login: _Login, plan: ObservationPlan) -> None:
    """Print what ``record`` would have sent."""
    from recorder.live.login.login import Login
    from recorder.live.policy.explain import Rehearsal, rehearse
    from recorder.wire.timeseal import Sealing

    rehearsal = Rehearsal(Login(login.user, login.password), plan)
    rehearse(login.server, rehearsal, None if login.timeseal is None else Sealing(login.timeseal))
    observed, games = rehearsal.result()
    print_table(
        ("game", "White", "Black", "why"),
        [(game.game_no, game.facts.white, game.facts.black, game.reason) for game in observed],
        right=("game",),
        fold=("why",),
    )
    address = format_address(login.server)
    say(f"Only the login and the request for the table of games were sent to {address}.")
    if rehearsal.we is not None and rehearsal.we.handle is not None:
        say(f"The login name was {clean(rehearsal.we.handle)}.")
    say(f"{plural(len(games), 'game')}, {len(observed):,} would be observed.")
