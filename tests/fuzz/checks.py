"""What must hold for every input of the fuzzer."""

import io
import json
import random
import tempfile
from itertools import pairwise
from pathlib import Path

from exporters.bpgn import BpgnExporter
from exporters.games_json import GamesJsonExporter
from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.errors import LoginError
from recorder.live.conversation import Conversation, RecorderStage
from recorder.live.login.login import Login
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan
from recorder.live.secrets.client import SecretGuard
from recorder.live.secrets.logs import scrubbed
from recorder.model import Game, SourceReport
from recorder.reading import make_pipeline
from recorder.sources import SourceKind, detect
from tests.support.cli import Cli

_ALL_OF_A_GAME = PgnOptions(variations=True, comments=True, engine=True)


def check_input(kind: SourceKind, number: int, data: bytes) -> None:
    """Read, export, store and record the bytes.

    Raises:
        Exception: whatever went wrong; nothing may.
    """
    chance = random.Random(number)
    detect(data[: 1 << 16])
    games, report = _read(kind, [data])
    assert _read(kind, _cut(chance, data)) == (games, report), "another result when cut otherwise"
    out = io.BytesIO()
    for exporter in (PgnExporter(_ALL_OF_A_GAME), PgnExporter(), BpgnExporter(), GamesJsonExporter()):
        exporter.write(games, out)
    if number % 20 == 0:
        _store(kind, data)
    if kind is SourceKind.RAW:
        _record(chance, data)


def _read(kind: SourceKind, blocks: list[bytes]) -> tuple[list[Game], SourceReport]:
    pipeline = make_pipeline(kind)
    games = [game for block in scrubbed(blocks, kind) for game in pipeline.receive(block)]
    return games + pipeline.finish(), pipeline.report


def _cut(chance: random.Random, data: bytes) -> list[bytes]:
    """The bytes in pieces: of one byte around some places, any length elsewhere."""
    places = {0, len(data)}
    for _ in range(chance.choice([3, 30, 300])):
        at = chance.randrange(len(data) + 1)
        places |= set(range(at, min(at + chance.choice([1, 8]), len(data))))
    cuts = sorted(places)
    return [data[begin:end] for begin, end in pairwise(cuts)]


def _store(kind: SourceKind, data: bytes) -> None:
    """Import into an archive, which must then be sound and give what it was given."""
    with tempfile.TemporaryDirectory() as folder:
        log, archive = Path(folder, "input"), Path(folder, "archive.sqlite")
        log.write_bytes(data)
        run = Cli(archive)
        for words in (
            ["import", "--kind", kind.value, log],
            ["db", "check"],
            ["verify", "--json"],
            ["games", "--json"],
        ):
            result = run(*words, code=None)
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            if words[0] == "verify":  # boards of a match may contradict each other: that is in the log
                found = [text for one in json.loads(result.stdout) for text in one["findings"]]
                wrong = [text for text in found if not text.startswith("Bughouse match of")]
                assert not wrong, wrong
            else:
                assert result.exit_code in ((0, 3) if words[0] == "import" else (0,)), result.output[-500:]


def _record(chance: random.Random, data: bytes) -> None:
    """What a recorder understands while it is connected, and the guard of secrets before its journal."""
    conversation = Conversation(Login(None), Observing(ObservationPlan("rated | rating > 1500")))
    guard = SecretGuard()
    now_ms = 0
    for piece in [b"login: ", b'Press return to enter FICS as "GuestAB":', b"fics% ", *_cut(chance, data)]:
        now_ms += 250
        try:
            conversation.receive(piece, now_ms, now_ms)
            if conversation.stage is not RecorderStage.LOGIN or now_ms < 1000:
                guard.client_sent(conversation.take(now_ms), now_ms * 1_000_000)
        except LoginError:
            break
        guard.server_sent(piece)
    guard.finish()
    conversation.leave()
    conversation.disconnected()


def raise_or_hang(kind: SourceKind, number: int, data: bytes) -> None:
    """What a worker checks in the test of the harness."""
    if number == 1:
        raise KeyError("lost")
    while number == 2:
        pass
