"""``ics-recorder replay``: recorded games in the terminal, as a chess server, as a chess engine, or for an engine."""

from __future__ import annotations

import os
import select
import signal
import sys
from fractions import Fraction
from pathlib import Path
from time import monotonic_ns, time_ns
from typing import TYPE_CHECKING, Any, Final

import click

from recorder.cli.options import Command, archive_option, filter_options, game_filter
from recorder.cli.output import say
from recorder.cli.recording_options import AddressType
from recorder.cli.replay_engine import engine
from recorder.cli.replay_options import PlaceType, SecondsType, SpeedType, files_of, place_of, warn_of_pauses
from recorder.cli.replay_terminal import terminal
from recorder.live.net.sockets import Address
from recorder.text import plural

if TYPE_CHECKING:
    from recorder.replay.engine import RecordedEngine
    from recorder.replay.places import Position

__all__ = ["as_engine", "command"]

_MOST_BYTES: Final = 4096  # of a line; what is longer is none of the protocol
_READ_BYTES: Final = 65_536
_FIRST_LINE: Final = "feature done=0"  # an interface waits for the first feature for two seconds only


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
@click.option("--idle-max", "idle_max_ms", type=SecondsType(), help="Longest wait between two moves, at speed 1.")
@click.option(
    "--pace", "pace_ms", type=SecondsType(), default="1", show_default=True, help="Think time of moves without times."
)
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

    KEY is the first characters of a game's key, or a file with one game. Moves come at their recorded times, for either
    side or both. An opponent that leaves the recorded game is asked to take the move back; against a computer the
    recording resigns. See docs/how-to/replay.md.
    """
    _say_first()
    from recorder.archive.replaying import games_to_replay

    games = games_to_replay(files_of(keys, filters), where, game_filter(keys=keys, **filters))
    if len(games) != 1:
        raise click.UsageError(f"{len(games)} games match, and an engine plays one: name its key.")
    from recorder.replay.engine import RecordedEngine

    _play(RecordedEngine(games[0], speed=speed, pace_ms=pace_ms, idle_max_ms=idle_max_ms))


def _say_first() -> None:
    """Announce to the interface that features follow, before modules load; ignore its interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # xboard interrupts before it has read that we need none
    _write([_FIRST_LINE])


def _play(engine: RecordedEngine) -> None:
    """Answer the interface until it says ``quit`` or is gone."""
    waiting = bytearray()
    while not engine.quits:
        due_ns = engine.due_ns
        wait_s = None if due_ns is None else max(0, due_ns - monotonic_ns()) / 1e9
        if select.select([0], [], [], wait_s)[0]:
            data = os.read(0, _READ_BYTES)
            if not data:
                return
            *lines, waiting = (waiting + data).split(b"\n")
            del waiting[_MOST_BYTES:]
            for line in lines:
                text = line[:_MOST_BYTES].rstrip(b"\r").decode("utf-8", "replace")
                _write(engine.receive(text, monotonic_ns()))
                if engine.quits:
                    return
        _write(engine.take(monotonic_ns()))


def _write(lines: list[str]) -> None:
    if lines:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()


@click.group(
    "replay",
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
    """Replay games: terminal, chess server, engine; analyse them."""


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
@click.option("--idle-max", "idle_max_ms", type=SecondsType(), help="Longest wait between two moves, at speed 1.")
@click.option(
    "--pace", "pace_ms", type=SecondsType(), default="1", show_default=True, help="Think time of moves without times."
)
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
    is_flag=True,
    help="Use one clock for all clients, which starts with the first; clients cannot change it.",
)
@click.option("--observe", is_flag=True, help="Every client observes every game from its beginning.")
@click.option("--password", is_flag=True, help="Ask for a password as servers do, and accept any.")
@click.option("--as-games", is_flag=True, help="Replay the games of a journal or log, not its bytes.")
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

    KEY is the first characters of a game's key, last, or last~2; or a file. A journal, or a log with times, is replayed
    byte for byte with the recorded delays to each client; a log without times, PGN and BPGN are replayed as games.
    Without KEY, all games that match the filters are replayed.

    Any name can log in, and "guest". Each client has its own time, which starts when it observes or follows its first
    game; "tell replay help" explains how to pause, seek and change the speed. A client that logs in as the player who
    recorded a game sees the game from that player's side. See docs/how-to/replay.md.
    """
    if shared and pause_at:
        raise click.UsageError("No client can resume a shared clock: omit --pause-at or --shared.")
    from recorder.replay.server.clients import clients_of_bytes, clients_of_games, read_bytes
    from recorder.replay.server.login import Greeting
    from recorder.replay.server.sockets import serve
    from recorder.replay.server.text import banner_of
    from recorder.replay.timing import cap_idle

    files = files_of(keys, filters)
    how: dict[str, Any] = {"speed": speed, "loop": loop, "pause_at": pause_at}
    taped = None if as_games or len(files) != 1 else read_bytes(Path(files[0]), say)
    if taped is not None:
        if observe:
            raise click.UsageError("--observe has no effect on a byte-for-byte replay: omit it, or add --as-games.")
        moments = taped if idle_max_ms is None else list(cap_idle(taped, idle_max_ms))
        how["begin"] = place_of(moments, begin)
        warn_of_pauses(moments, pause_at)
        say(f"A connection of {moments[-1].at_ms // 1000 if moments else 0} s to replay, byte for byte.")
        greeting = Greeting(["A replay of a recorded connection: what you type changes nothing."], password)
        shared_at_ns = monotonic_ns() if shared else None
        serve(listen_at, clients_of_bytes(moments, greeting, shared_at_ns=shared_at_ns, **how), say)
        return
    from recorder.archive.replaying import open_library

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
