"""``ics-recorder replay``: recorded games in the terminal, as a chess server, as a chess engine, or for an engine."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from time import monotonic_ns, time_ns
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.options import Command, Group, Rare, archive_option, filter_options, game_filter
from recorder.cli.output import say
from recorder.cli.recording_options import AddressType
from recorder.cli.replay_engine import engine
from recorder.cli.replay_options import PlaceType, SpeedType, files_of, place_of, wait_options, warn_of_pauses
from recorder.cli.replay_terminal import terminal
from recorder.live.net.sockets import Address
from recorder.text import plural

if TYPE_CHECKING:
    from recorder.events import Chunk
    from recorder.replay.places import Position
    from recorder.replay.server.clients import ReplayClients
    from recorder.replay.timing import ReplayMoment


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
    from recorder.replay.engine_pipe import announce, play

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
@click.option(
    "--listen",
    "listen_at",
    type=AddressType(default_host="127.0.0.1"),
    default="127.0.0.1:5000",
    metavar="[HOST:]PORT",
    show_default=True,
    help=(
        "Address for clients; a port alone is on this machine only. With another address anyone on "
        "the network can connect."
    ),
)
@click.option("--speed", type=SpeedType(), default="1", show_default=True, help="Speed factor: 4, 0.5, 1/3.")
@wait_options
@click.option(
    "--from",
    "begin",
    type=PlaceType(),
    metavar="PLACE",
    help="Start at a move, time, game or event: 20w, 1:30, #2, #2/20w, takeback …",
)
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
    from recorder.replay.server.clients import clients_of_games, read_bytes
    from recorder.replay.server.login import Greeting
    from recorder.replay.server.sockets import serve
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
    """Settle how a recorded connection is replayed byte for byte.

    Args:
        connection: what the server sent, and when.
        idle_max_ms: the longest wait between two moments, in milliseconds; None: as recorded.
        begin: the value of ``--from``; None: the beginning.
        how: speed, loop and pause_at, as ``clients_of_bytes`` takes them.
        shared: all clients share one clock.
        password: a password is asked for.
    """
    from recorder.replay.server.clients import clients_of_bytes
    from recorder.replay.server.login import Greeting
    from recorder.replay.timing import cap_idle

    moments = connection if idle_max_ms is None else list(cap_idle(connection, idle_max_ms))
    place = place_of(moments, begin)
    warn_of_pauses(moments, how["pause_at"])
    say(f"A connection of {moments[-1].at_ms // 1000 if moments else 0} s to replay, byte for byte.")
    greeting = Greeting(["A replay of a recorded connection: what you type changes nothing."], password)
    return clients_of_bytes(moments, greeting, shared_at_ns=monotonic_ns() if shared else None, begin=place, **how)
