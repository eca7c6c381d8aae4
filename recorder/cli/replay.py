"""``ics-recorder replay``: recorded games in the terminal, as a chess server, as a chess engine, or for an engine."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from time import monotonic_ns, time_ns
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource
from click.exceptions import Exit

from recorder.cli.export_options import format_of
from recorder.cli.option_types import Checked, SecondsType, SpeedType
from recorder.cli.options import (
    Command,
    Group,
    Rare,
    archive_option,
    filter_options,
    force_option,
    game_filter,
    json_option,
)
from recorder.cli.output import long_work, print_json, say
from recorder.cli.recording_options import listen_option
from recorder.errors import EngineError, ExitCode, SourceError
from recorder.live.net.sockets import Address
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.analysis.engine import AnalysisRun
    from recorder.events import Chunk
    from recorder.model import Game
    from recorder.replay.engine import RecordedEngine
    from recorder.replay.moments import Position
    from recorder.replay.server.sockets import ReplayClients
    from recorder.replay.timing import ReplayMoment

_MAX_LINE_BYTES: Final = 4096  # the protocol has no longer line
_STDIN: Final = 0
_READ_BYTES: Final = 65_536
_FIRST_LINE: Final = "feature done=0"  # an interface waits for the first feature for two seconds only


def announce() -> None:
    """Features follow; the interface's interrupts are ignored from now on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # xboard interrupts before it has read that the engine needs none
    _write([_FIRST_LINE])


def play(engine: RecordedEngine) -> None:
    """Until the interface sends ``quit`` or closes standard input."""
    rest = bytearray()
    while not engine.quits:
        due_ns = engine.due_ns
        wait_s = None if due_ns is None else max(0, due_ns - monotonic_ns()) / 1e9
        if select.select([_STDIN], [], [], wait_s)[0]:
            data = os.read(_STDIN, _READ_BYTES)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            del rest[_MAX_LINE_BYTES:]
            for line in lines:
                text = line[:_MAX_LINE_BYTES].rstrip(b"\r").decode("utf-8", "replace")
                _write(engine.receive(text, monotonic_ns()))
                if engine.quits:
                    return
        _write(engine.take(monotonic_ns()))


def _write(lines: list[str]) -> None:
    if lines:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()


def _read_place(value: str) -> Position:
    from recorder.replay.moments import parse_position

    return parse_position(str(value))


def place_option(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    about = "Start at a move, time, game or event: 20w, 1:30, #2, #2/20w, takeback …"
    return click.option("--from", name, type=Checked("place", _read_place, keep=False), metavar="PLACE", help=about)


def wait_options(command: Callable[..., Any]) -> Callable[..., Any]:
    pace = click.option(
        "--pace",
        "pace_ms",
        cls=Rare,
        type=SecondsType(),
        default="1",
        show_default=True,
        help="Seconds for a move whose time is unknown.",
    )
    idle = click.option(
        "--idle-max", "idle_max_ms", type=SecondsType(), help="Longest wait between two moves, at speed 1."
    )
    return idle(pace(command))


def files_of(keys: Sequence[str], filters: Collection[str]) -> list[str]:
    """Those of the command's words that are files; then all of them must be."""
    from recorder.sources import path_kind

    kinds = {key: path_kind(key) for key in keys}
    files = [key for key in keys if kinds[key] == "file"]
    for key in keys:
        if key not in files and ("/" in key or "." in key):  # no game's key has these
            raise SourceError(f"{key}: {'is no file' if kinds[key] else 'no such file'}")
    if files and len(files) != len(keys):
        raise click.UsageError("Name games of the archive or files, not both.")
    context = click.get_current_context()
    for option in context.command.params if files else ():
        name = option.name or ""
        if name in filters and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} selects games of the archive; all games of a file are used.")
    return files


def place_of(moments: Sequence[ReplayMoment[Any]], begin: Position | None) -> int:
    from recorder.replay.moments import seek

    return 0 if begin is None else seek(moments, begin)[0]


def warn_of_pauses(moments: Iterable[ReplayMoment[Any]], pause_at: Collection[str]) -> None:
    """Which words of ``--pause-at`` no moment has."""
    if not pause_at:
        return
    markers = {name for moment in moments for name in moment.markers}
    for word in sorted(set(pause_at) - markers):
        say(
            f"Warning: no event is called {word!r}, so the replay does not pause there; known: "
            f"{', '.join(sorted(markers))}."
        )


_THINK: Final = re.compile(r"think(?::([1-9]\d{0,5}))?", re.ASCII)
_THINK_S: Final = 60


class _Pace(SpeedType):
    """Or the word ``max``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return "max" if value == "max" else super().convert(value, param, ctx)


@click.command(
    "terminal",
    cls=Command,
    short_help="Watch recorded games in the terminal.",
    epilog="""\b
Examples:
  $ ics-recorder replay terminal 6af8 --pace 0 --speed 1000 --plain
    0:00  Helmsman - AntaresLight, blitz
    0:00  1. e4          3:00.000 -  (0:00.000)
    0:00  1... Nf6       - 3:00.000  (0:00.000)
    0:01  2. e5          2:58.252 -  (0:01.748)
  ...
  ics-recorder replay terminal 6af8 --speed 4 --idle-max 5 --from 20w
  ics-recorder replay terminal --player Morphy --last 10 --pause-at think:30
  ics-recorder replay terminal session.journal --flip
  ics-recorder replay terminal match.bpgn --speed max | less
""",
)
@filter_options
@click.option(
    "--speed", type=_Pace(), default="1", show_default=True,
    help="Speed factor: 4, 0.5, 1/3; max: print lines, all at once.",
)  # fmt: skip
@wait_options
@place_option("position")
@click.option(
    "--pause-at", multiple=True, metavar="EVENT",
    help=(
"Pause after each of these events: takeback, chat, result …; think:30: before moves that took "
"at least 30 s."
),
)  # fmt: skip
@click.option("--loop", is_flag=True, help="Start again at the end.")
@click.option("--flip", is_flag=True, help="Show the board from Black's side.")
@click.option("--ascii", "ascii_only", cls=Rare, is_flag=True, help="Use ASCII letters for pieces.")
@click.option("--plain", is_flag=True, help="Print lines; the default where there is no terminal.")
@archive_option
def terminal(
    keys: tuple[str, ...],
    speed: Any,
    idle_max_ms: int | None,
    pace_ms: int,
    position: Position | None,
    pause_at: tuple[str, ...],
    loop: bool,
    flip: bool,
    ascii_only: bool,
    plain: bool,
    where: str,
    **filters: Any,
) -> None:
    """Watch recorded games in the terminal, with running clocks.

    Shows the board, both clocks as they ran, pieces in hand, moves and kibitzes. KEY names a game (6af8, last, last~2)
    or a file: a journal, a log, PGN or BPGN. Without KEY, all games that match the filters are shown. Games that were
    played at the same time are shown together, one of them large.

    The key ? lists the keys, q quits. Where there is no terminal, moves are printed as lines. See
    docs/how-to/replay.md.
    """
    from recorder.archive.replaying import open_library
    from recorder.replay.moments import long_thinks
    from recorder.replay.terminal.watch import print_moments, watch

    lines = plain or speed == "max" or not _is_terminal()
    if lines and pause_at:
        raise click.UsageError("Printed lines do not pause: omit --pause-at.")
    if loop and speed == "max":
        raise click.UsageError("--loop with --speed max would never end.")
    thinks = [match for word in pause_at if (match := _THINK.fullmatch(word))]
    least_s = min((int(match[1] or _THINK_S) for match in thinks), default=_THINK_S)
    pauses = {"think" if _THINK.fullmatch(word) else word for word in pause_at}
    with open_library(
        files_of(keys, filters), where, game_filter(keys=keys, **filters), pace_ms=pace_ms, idle_max_ms=idle_max_ms,
        marks=lambda moments: long_thinks(moments, 1000 * least_s),
    ) as library:  # fmt: skip
        if lines:
            with _leaving():
                print_moments(
                    library.recording, lambda line: click.echo(clean(line)),
                    speed=None if speed == "max" else speed, loop=loop, position=position,
                )  # fmt: skip
            return
        warn_of_pauses(library.recording.moments, pauses - {"think"})
        with _leaving():
            watch(
                library.recording, speed=speed, loop=loop, pause_at=pauses, position=position, flip=flip,
                ascii_only=ascii_only,
            )  # fmt: skip


@contextmanager
def _leaving() -> Iterator[None]:
    """There is nothing that could be kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        say("Interrupted.")
        raise Exit(ExitCode.INTERRUPTED) from error


def _is_terminal() -> bool:
    """To read keys from and to draw on."""
    if sys.stdin is None or sys.stdout is None or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return sys.stdin.isatty() and sys.stdout.isatty()


_USUAL_TIME_MS: Final = 1_000


def _read_command(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """As it was written; without words or with half a quote it is refused."""
    from recorder.analysis.process import split_command

    try:
        if value is not None:
            split_command(value)
    except EngineError as error:
        raise click.BadParameter(str(error), ctx, param) from None
    return value


@click.command(
    "engine",
    cls=Command,
    short_help="Analyse recorded games with a chess engine.",
    epilog="""\b
Examples:
  ics-recorder replay engine 6af8 --engine "gnuchess --xboard" --time 1s
  ics-recorder replay engine --player Morphy --last 20 --uci stockfish --depth 14 --option Threads=2
  ics-recorder replay engine --variant crazyhouse --engine sjeng --nodes 100000
  ics-recorder replay engine session.log --uci stockfish -o annotated.pgn
  ics-recorder export pgn 6af8 --engine
""",
)
@filter_options
@click.option(
    "--engine", "cecp", metavar="COMMAND", callback=_read_command,
    help="Command of an engine that speaks xboard's protocol (CECP).",
)  # fmt: skip
@click.option("--uci", metavar="COMMAND", callback=_read_command, help="Command of an engine that speaks UCI.")
@click.option("--time", "time_ms", type=SecondsType(), help="Time limit per position: 1s, 0.5, 200ms.")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Depth limit in plies.")
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="Node limit per position.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Engine option; for CECP also memory (megabytes) and cores; can be repeated.",
)
@click.option(
    "--again", cls=Rare, is_flag=True, help="Analyse again what this engine has analysed with these settings."
)
@click.option(
    "-o", "--output", metavar="FILE", show_default="-, standard output", help="Output file (only when analysing files)."
)
@force_option
@click.option("--quiet", cls=Rare, is_flag=True, help="Print only problems.")
@json_option
@archive_option
@click.pass_context
def engine(
    ctx: click.Context,
    /,
    keys: tuple[str, ...],
    cecp: str | None,
    uci: str | None,
    time_ms: int | None,
    depth: int | None,
    nodes: int | None,
    options: tuple[str, ...],
    again: bool,
    output: str | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    where: str,
    **filters: Any,
) -> None:
    """Analyse recorded games with a chess engine.

    KEY names a game; without KEY, all games that match the filters are analysed. The
    evaluation of each position of the main line is stored in the archive with the engine's name and settings; `show`,
    `export pgn --engine`, tables, pictures and reports use it. Positions that this engine has analysed with the same
    settings are skipped, so the same command continues an interrupted run.

    KEY can also be files (logs, journals or PGN): their games are written as PGN with evaluations.

    The analysis of a position ends at the first limit that is reached; the default is one second. If the engine fails
    in a game, the evaluations so far are kept, the next game is analysed, and the exit status is 10.
    """
    from recorder.analysis.engine import AnalysisRun
    from recorder.analysis.plan import Limits
    from recorder.analysis.process import EngineSpec
    from recorder.archive.replaying import analyse_games

    if (cecp is None) == (uci is None):
        raise click.UsageError("Name one engine: --engine for xboard's protocol, or --uci.")
    if time_ms == 0:
        raise click.UsageError("--time must be more than 0.")
    files = files_of(keys, filters)
    _refuse_outputs(files, output, again=again, as_json=as_json)
    limits = Limits(_USUAL_TIME_MS if (time_ms, depth, nodes) == (None, None, None) else time_ms, depth, nodes)
    command = cecp if cecp is not None else uci or ""
    spec = EngineSpec("uci" if cecp is None else "cecp", command, _read_options(options))

    run = AnalysisRun(spec, limits, partial(_report, quiet))
    try:
        with long_work(steps=True) as progress:
            chosen = game_filter(keys=keys, **filters)
            analyse_games(run, files, where, chosen, output or "-", again=again, force=force, progress=progress)
    except KeyboardInterrupt:
        run.interrupted = True
    if as_json:
        print_json(run.to_json())
    elif not quiet and run.engine is not None:
        say(_summary(run))
    if run.interrupted:
        raise KeyboardInterrupt
    if run.failed:
        ctx.exit(ExitCode.ENGINE)


def _report(quiet: bool, game: Game, text: str, ply: int | None = None) -> None:
    """``quiet`` suppresses messages about a position."""
    if ply is None or not quiet:
        say(f"{_title(game)}{'' if ply is None else f', ply {ply}'}: {clean(text)}")


def _refuse_outputs(files: Sequence[str], output: str | None, *, again: bool, as_json: bool) -> None:
    format_of(None, output or "-", ("pgn",))
    if output is not None and not files:
        raise click.UsageError(
            "Analyses of the archive's games are stored in the archive; write them with `export pgn --engine`."
        )
    if files and again:
        raise click.UsageError("Analyses of files are not stored: omit --again.")
    if files and as_json and output in (None, "-"):
        raise click.UsageError("Standard output has the PGN: name a file with -o, or omit --json.")


def _read_options(words: Sequence[str]) -> dict[str, str | None]:
    options: dict[str, str | None] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name.strip():
            raise click.UsageError(f"--option {word!r} has no name; write NAME=VALUE.")
        options[name.strip()] = value if equals else None
    return options


def _summary(run: AnalysisRun) -> str:
    from recorder.analysis.engine import MOST_FAILURES

    assert run.engine is not None
    name = clean(run.engine.name)
    sentences = [f"{name} analysed {plural(run.positions, 'position')} of {plural(run.games, 'game')}."]
    if run.begun:
        sentences.append(f"The analysis of {plural(run.begun, 'game')} is incomplete.")
    if run.silent:
        sentences.append(f"The engine returned no evaluation for {plural(run.silent, 'position')}.")
    if run.known:
        sentences.append(f"The archive already had an analysis for {plural(run.known, 'position')}.")
    if run.unknown:
        sentences.append(f"The positions of {plural(run.unknown, 'game')} are unknown.")
    if run.failed:
        sentences.append(f"The engine failed in {plural(len(run.failed), 'game')}.")
    if run.gave_up:
        sentences.append(f"The analysis stopped after {MOST_FAILURES} failures in a row.")
    return " ".join(sentences)


def _title(game: Game) -> str:
    return clean(f"{game.key[:8]} {game.white.handle} vs. {game.black.handle}")


@click.command(
    "as-engine",
    cls=Command,
    short_help="Play a recorded game as a chess engine (CECP).",
    epilog="""\b
Examples:
  xboard -fcp "ics-recorder replay as-engine 6af8"
  ics-recorder replay as-engine match.pgn --speed 4 --idle-max 5
""",
)
@filter_options
@click.option("--speed", type=SpeedType(), default="1", show_default=True, help="Speed factor: 4, 0.5, 1/3.")
@wait_options
@archive_option
def as_engine(
    keys: tuple[str, ...],
    speed: Fraction,
    idle_max_ms: int | None,
    pace_ms: int,
    where: str,
    **filters: Any,
) -> None:
    """Play a recorded game as a chess engine for xboard (CECP).

    KEY names a game, or a file with one game. The engine makes the moves of White, Black or
    both at their recorded times. An opponent that leaves the recorded game is asked to take the move back; against a
    computer the recording resigns. See docs/how-to/replay.md.
    """
    announce()  # before modules load: the interface waits for two seconds only
    from recorder.archive.replaying import games_to_replay

    games = games_to_replay(files_of(keys, filters), where, game_filter(keys=keys, **filters))
    if len(games) != 1:
        raise click.UsageError(f"{len(games)} games match, and an engine plays one: name its key.")

    from recorder.replay.engine import RecordedEngine

    play(RecordedEngine(games[0], speed=speed, pace_ms=pace_ms, idle_max_ms=idle_max_ms))


@click.group(
    "replay",
    cls=Group,
    rare=("as-engine",),
    epilog="""\b
Examples:
  ics-recorder replay terminal 6af8
  ics-recorder replay server 6af8
  ics-recorder replay server --player Morphy --observe --speed 4
  ics-recorder replay server session.journal --listen 127.0.0.1:6000
  xboard -fcp "ics-recorder replay as-engine 6af8"
  ics-recorder replay engine 6af8 --uci stockfish --depth 14
""",
)
def command() -> None:
    """Replay games on a board, a server or as an engine; analyse them."""


command.add_command(terminal)
command.add_command(as_engine)
command.add_command(engine)


@command.command(
    "server",
    cls=Command,
    short_help="Serve recorded games to chess clients.",
    epilog="""\b
Examples:
  ics-recorder replay server 6af8
  xboard -ics -icshost 127.0.0.1 -icsport 5000
  ics-recorder replay server --player Morphy --observe --speed 4 --idle-max 5
  ics-recorder replay server session.journal --speed 10 --loop
  ics-recorder replay server match.bpgn --from 20w --pause-at takeback
""",
)
@filter_options
@listen_option(5000)
@click.option("--speed", type=SpeedType(), default="1", show_default=True, help="Speed factor: 4, 0.5, 1/3.")
@wait_options
@place_option("begin")
@click.option(
    "--pause-at", multiple=True, metavar="EVENT", help="Pause after each of these events: takeback, chat, result …"
)
@click.option("--loop", is_flag=True, help="Start again at the end.")
@click.option(
    "--shared",
    cls=Rare,
    is_flag=True,
    help="Use one clock for all clients, which starts with the first; clients cannot change it.",
)
@click.option("--observe", is_flag=True, help="Every client observes every game from its beginning.")
@click.option("--password", cls=Rare, is_flag=True, help="Ask for a password as servers do, and accept any.")
@click.option("--as-games", cls=Rare, is_flag=True, help="Replay the games of a journal or log, not its bytes.")
@archive_option
def _server(
    keys: tuple[str, ...],
    listen_at: Address,
    speed: Fraction,
    idle_max_ms: int | None,
    pace_ms: int,
    begin: Position | None,
    pause_at: tuple[str, ...],
    loop: bool,
    shared: bool,
    observe: bool,
    password: bool,
    as_games: bool,
    where: str,
    **filters: Any,
) -> None:
    """Serve recorded games to xboard, PyChess and other clients.

    KEY names a game (6af8, last, last~2) or a file. A journal, or a log with times, is replayed
    byte for byte with the recorded delays to each client; a log without times, PGN and BPGN are replayed as games.
    Without KEY, all games that match the filters are replayed.

    Clients log in with any name, or as "guest". Each client has its own time, which starts when it observes or follows
    its first game; "tell replay help" explains how to pause, seek and change the speed. A client that logs in as the
    player who recorded a game sees the game from that player's side. See docs/how-to/replay.md.
    """
    if shared and pause_at:
        raise click.UsageError("No client can resume a shared clock: omit --pause-at or --shared.")
    from recorder.archive.replaying import open_library
    from recorder.replay.server.login import Greeting
    from recorder.replay.server.sockets import clients_of_games, read_bytes, serve
    from recorder.replay.server.text import banner_of

    files = files_of(keys, filters)
    how: dict[str, Any] = {"speed": speed, "loop": loop, "pause_at": pause_at}
    connection = None if as_games or len(files) != 1 else read_bytes(Path(files[0]), say)
    if connection is not None:
        if observe:
            raise click.UsageError("--observe has no effect on a byte-for-byte replay: omit it, or add --as-games.")
        serve(listen_at, _clients_of_bytes(connection, idle_max_ms, begin, how, shared=shared, password=password), say)
        return
    with open_library(
        files, where, game_filter(keys=keys, **filters), pace_ms=pace_ms, idle_max_ms=idle_max_ms,
        lost=lambda why: say(f"Warning: A game was excluded. {why}"),
    ) as library:  # fmt: skip
        recording = library.recording
        how["begin"] = place_of(recording.moments, begin)
        warn_of_pauses(recording.moments, pause_at)
        say(f"{plural(len(recording.players), 'game')} to replay.")
        greeting = Greeting(banner_of(library.dialects), password, observe)
        shared_at_ns, ahead_ns = monotonic_ns() if shared else None, time_ns() - monotonic_ns()
        clients = clients_of_games(
            recording, greeting, shared_at_ns=shared_at_ns, wall_ms=lambda now: (now + ahead_ns) // 1_000_000, **how
        )
        serve(listen_at, clients, say)


def _clients_of_bytes(
    connection: list[ReplayMoment[Chunk]],
    idle_max_ms: int | None,
    begin: Position | None,
    how: dict[str, Any],
    *,
    shared: bool,
    password: bool,
) -> ReplayClients:
    from recorder.replay.server.login import Greeting
    from recorder.replay.server.sockets import clients_of_bytes
    from recorder.replay.timing import cap_idle

    moments = connection if idle_max_ms is None else list(cap_idle(connection, idle_max_ms))
    index = place_of(moments, begin)
    warn_of_pauses(moments, how["pause_at"])
    say(f"A connection of {moments[-1].at_ms // 1000 if moments else 0} s to replay, byte for byte.")
    greeting = Greeting(["A replay of a recorded connection: what you type changes nothing."], password)
    return clients_of_bytes(moments, greeting, shared_at_ns=monotonic_ns() if shared else None, begin=index, **how)
