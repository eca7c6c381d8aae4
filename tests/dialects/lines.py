"""Lines for the tests of this folder."""

from collections.abc import Iterable
from pathlib import Path

from recorder.dialects.recogniser import Recogniser
from recorder.events import Chunk, Event, Line
from recorder.wire.lines import LineReader

CORPUS = Path(__file__).parents[1] / "corpus"
TAIL = "W -1 1 1 1 1 0 12 A B 0 5 0 39 39 300 299 2 P/e7-e5 (0:01) e5 0 1 0"
BOARD = "rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR"
FRAME = f"<12> {BOARD} {TAIL}"


def recognise(*texts: str) -> list[Event]:
    return events(Line(text, 1000 * number) for number, text in enumerate(texts))


def events(lines: Iterable[Line]) -> list[Event]:
    recogniser = Recogniser()
    return recogniser.feed(list(lines)) + recogniser.finish()


def read_corpus(name: str) -> tuple[list[Event], Recogniser, bytes]:
    """The events of a file of the public corpus, all of it being server text."""
    data = (CORPUS / "public" / name).read_bytes()
    reader, recogniser = LineReader(), Recogniser()
    found = recogniser.feed(reader.receive(Chunk(data, 0))) + recogniser.feed(reader.finish())
    return found + recogniser.finish(), recogniser, data
