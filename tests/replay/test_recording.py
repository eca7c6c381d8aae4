"""``record`` on our own server: the recording has the games of the replayed recording.

In virtual time, without sockets: the recorder logs in, changes its settings, and asks for lists of missing moves.
"""

import asyncio
import signal
from pathlib import Path

import pytest

from recorder.live.conversation import Conversation
from recorder.live.login.login import Login
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan
from recorder.model import Game
from recorder.replay.server.commands import answer_command
from recorder.replay.server.login import Greeting
from recorder.replay.server.session import ReplaySession
from tests.live.test_xboard import pgn_texts
from tests.replay.clients import open_show
from tests.replay.test_loop import KNOWN, STREAMS, facts, played
from tests.replay.test_xboard import archived
from tests.support.cli import Cli
from tests.support.corpus import Stream
from tests.support.effort import representative_first
from tests.support.live import in_loop, journalled, running
from tests.support.product import run

SOON_MS = 3_000  # later commands of the recorder wait for the next moment of the replay
MOST_WAITS = 20  # repeated commands do not stop the replay


def kept(heard: bytes) -> list[Game]:
    """Return the games of the output, in the order in which they began."""
    return sorted(run([heard], "raw")[0], key=lambda game: game.first_offset)


def recorded(stream: Stream, games: list[Game]) -> list[Game]:
    session = ReplaySession(open_show(games, apart=True), 0, Greeting(observe=True, password=True), answer_command)
    recorder = Conversation(Login(stream.login, lambda: "s3cret"), Observing(ObservationPlan(None)))
    heard = bytearray()
    now_ms = waits = 0
    while True:
        data = session.take_output()
        heard += data
        if data:
            recorder.receive(data, now_ms, 0)
        sent = recorder.take(now_ms)
        if sent:
            session.receive(sent, session.now_ns)
        elif not data:
            next_ms = recorder.next_at_ms(now_ms)
            if next_ms is not None and next_ms <= now_ms + SOON_MS and waits < MOST_WAITS:
                now_ms = max(next_ms, now_ms + 1)
                waits += 1
            elif session.due_ns is None:
                return kept(bytes(heard))
            else:
                session.tick(session.due_ns)
                now_ms += 1
                waits = 0


_MORE = {"ratings", "registered", "variant"}  # the table of games and headings of lists have fields that a log may lack
DIFFERS: dict[tuple[str, str], set[str]] = {
    **KNOWN,
    **{
        ("a09_ivariables", f"observer_{name}"): {"plies", "taken back", "events"}  # boards contain more than deltas
        for name in ("GuestIvc", "GuestIvd")
    },
}
"""Fields that differ, and why."""


@pytest.mark.parametrize("stream", representative_first(STREAMS))
def test_record_keeps_the_games_of_a_replay(stream: Stream) -> None:
    games = played(stream)
    recorded_games = recorded(stream, games)
    assert len(recorded_games) == len(games)
    differ = set()
    for one, other in zip(map(facts, games), map(facts, recorded_games), strict=True):
        for name in one:
            expected = one[name]
            if name in _MORE:
                expected = tuple(new if old is None else old for old, new in zip(expected, other[name], strict=True))
            if other[name] != expected:
                differ.add(name)
    assert differ == DIFFERS.get((stream.scenario, stream.connection), set())


@pytest.mark.long
@in_loop
async def test_the_command_records_what_the_server_replays(tmp_path: Path) -> None:
    """Both programs run from their command lines to the archive."""
    stream = Stream("a02_features", "observer_GuestObsB", "raw")
    cli = archived(stream.scenario, stream.connection, tmp_path)
    archive, journals = tmp_path / "again.sqlite", tmp_path / "journals"
    words = ("--db", cli.archive, "--observe", "--speed", "50", "--idle-max", "1")
    async with running("replay", "server", "--listen", "0", *words) as server:
        port = (await server.until("Connect a client")).split()[-1]
        where = ("--journal-dir", journals, "--db", archive, "--plain")
        async with running("record", f"127.0.0.1:{port}", "--guest", "--observe", "unrated", *where) as recorder:
            last = b" from observation list."
            while not journals.exists() or journalled(journals).received.count(last) < 6:
                await asyncio.sleep(0.1)
            assert await recorder.end(signal.SIGINT) == 0, recorder.talk
    games = played(stream)
    recorded_games = kept(journalled(journals).received)
    assert [facts(game) for game in recorded_games] == [facts(game) for game in games]
    texts = [pgn_texts(one("export", "pgn", "--clock", "none").stdout) for one in (cli, Cli(archive))]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 6
