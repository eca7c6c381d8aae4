"""A session of weeks: ten times the traffic takes no more memory."""

import gc
import io
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from benchmarks.generate import log_lines
from benchmarks.live_session import messages
from recorder.journal.format import Record, RecordKind, format_header, format_record
from recorder.live.conversation import Conversation, RecorderStage
from recorder.live.login.login import Login
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from recorder.tracking import tracker as game_lines_module
from tests.support.journals import HEADER
from tests.support.testserver import FICS

GAMES = 4
ENTRANCE = (
    FICS.encode(FICS.banner + FICS.login),
    FICS.encode(FICS.guest, name="GuestABCD"),
    FICS.encode(FICS.welcome + FICS.prompt, name="GuestABCD", mark="(U)"),
)
TABLE = (
    b"\n\r 12 1835 Ann         1831 Bob        [ br  5   0]   2:08 -  3:25 (31-30) W:  9\n\r\n\r"
    b"  1 game displayed.\n\r\n\rfics% "
)


@pytest.fixture(scope="module", name="traffic")
def _traffic() -> list[bytes]:
    """What a server sends, a message an entry; repeated, it never tells anything new but when."""
    lines = "".join(text for _, text in log_lines(GAMES, 1, io.StringIO()))
    return messages(lines.encode("ascii"))


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept for a while is kept for a short while, so that a small test sees it go."""
    monkeypatch.setattr(game_lines_module, "_SUSPENDED_WAIT_BYTES", 1 << 15)
    monkeypatch.setattr(game_lines_module, "_ENDED_WAIT_BYTES", 1 << 14)


@pytest.fixture(autouse=True)
def _traced(traffic: list[bytes]) -> Iterator[None]:
    """All that a test makes is counted."""
    gc.collect()
    tracemalloc.start()
    yield
    tracemalloc.stop()


def assert_flat(work: Callable[[], None]) -> None:
    """After ten times the traffic no more is held than after the first."""
    sizes = []
    for passes in (2, 18):
        for _ in range(passes):
            work()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    assert sizes[1] <= sizes[0] * 1.05 + 8192, sizes


@pytest.mark.long
def test_what_the_archive_is_made_with(traffic: list[bytes]) -> None:
    pipeline = Pipeline(SourceKind.JOURNAL, in_progress=True)
    pipeline.receive(format_header(HEADER) + b"\n")
    at_ns = 0

    def work() -> None:
        nonlocal at_ns
        for message in traffic:
            at_ns += 20_000_000
            pipeline.receive(format_record(Record(at_ns, RecordKind.RECEIVED, message)) + b"\n")
            pipeline.in_progress.changed()
            pipeline.in_progress.gone()
        assert pipeline.read_up_to >= 0

    assert_flat(work)


def test_what_decides_what_to_say(traffic: list[bytes]) -> None:
    conversation = Conversation(Login(None, None), Observing(ObservationPlan("rated & rating > 2000")))
    now_ms = 0

    def hear(message: bytes) -> None:
        nonlocal now_ms
        now_ms += 50
        conversation.receive(message, now_ms, now_ms)
        conversation.take(now_ms)

    def work() -> None:
        for message in traffic:
            hear(message)
        hear(TABLE)

    for message in ENTRANCE:
        hear(message)
    assert conversation.stage is RecorderStage.RECORDING
    assert_flat(work)
