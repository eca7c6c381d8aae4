"""Bytes of one source in, games out: decoder → wire → dialect → tracker, the same for every kind of log."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recorder.containment import Failures
from recorder.dialects.recogniser import Recogniser
from recorder.events import Chunk, CutLines, EngineLine, Line, SessionNotice, SessionNoticeKind
from recorder.model import Anomaly, Disposition, Game, Shape, SourceReport, TimeBasis
from recorder.sources import SourceKind, make_decoder
from recorder.sources.base import RawDecoder
from recorder.sources.journal import JournalDecoder
from recorder.sources.redaction import Forgotten, silenced
from recorder.tracking.tracker import InProgressTracker, Tracker
from recorder.wire.lines import COUNTED_TAGS, LineReader

if TYPE_CHECKING:
    from recorder.tracking.engines.games import Engines

PARSER_VERSION = "9"
_PIECE_BYTES = 1 << 16
_FEW_LINES = 32
_MANY_QUOTED = 10


class Pipeline:
    """Reads the bytes of one log and returns its games.

    Args:
        kind: of the log. server: the site's name if the log does not contain it.
        date, tz: date of the first line and time zone of the times, if the log does not contain them.
        chat: ``none``, ``public``, ``own`` or ``all``.
        timing: the bytes of a typescript's timing file.
        in_progress: whether games in progress will be read, too.
        forgotten: erased players: their games and chat are excluded, their handles masked.

    Attributes:
        unredacted: whether a line contained the handle of an erased player that is not replaced in the bytes.
    """

    def __init__(
        self,
        kind: SourceKind,
        *,
        server: str | None = None,
        date: datetime.date | None = None,
        tz: datetime.tzinfo | None = None,
        chat: str = "public",
        timing: bytes | None = None,
        in_progress: bool = False,
        forgotten: Forgotten | None = None,
    ) -> None:
        self._kind = kind
        self._decoder = make_decoder(kind, date=date, tz=tz, timing=timing)
        self._reader = LineReader()
        self._recogniser = Recogniser()
        tracker = InProgressTracker if in_progress else Tracker
        self._tracker = tracker(basis=self._decoder.time_basis, server=server, chat=chat, date=date)
        self._engines: Engines | None = None  # there are engines' lines
        self._broken = False  # the decoder failed: nothing behind that place is read
        self._date, self._chat = date, chat
        self._end = 0
        self._line_count = 0
        self._forgotten = forgotten or None
        self.unredacted = False

    def receive(self, block: bytes) -> list[Game]:
        """Read the next bytes of the source.

        Args:
            block: the next decompressed bytes; a block may end anywhere.
        Returns:
            The games that end in this block.
        """
        games: list[Game] = []
        # Small pieces keep one piece's lines and frames in the processor's cache; the result is the same.
        start = 0
        while start < len(block):
            piece = block[start : start + _PIECE_BYTES]
            games += self._take(self._decode(piece))
            self._end += len(piece)
            start += _PIECE_BYTES
        return games

    def finish(self, *, unfinished: bool = False) -> list[Game]:
        """End the source.

        Args:
            unfinished: the file is still being written, so a last line without line end is not read.
        Returns:
            All games that were not returned before.
        """
        games: list[Game] = []
        if not unfinished:
            games += self._take(self._decode(None))
            games += self._recognise(self._reader.finish())
            games += self._tracker.feed(self._recogniser.finish())
        if self._engines is None:
            return games + self._tracker.finish()
        self._engines.end()
        return games + self._tracker.finish() + self._engines.settle(1 << 62)

    @property
    def in_progress(self) -> InProgressTracker:
        """The games in progress; only if ``in_progress`` is set."""
        assert isinstance(self._tracker, InProgressTracker)
        return self._tracker

    @property
    def failures(self) -> Failures:
        """Events and games that were not read because of an error in this program."""
        return self._tracker.failures

    def _decode(self, piece: bytes | None) -> Sequence[Chunk | CutLines | EngineLine]:
        if self._broken:
            return ()
        try:
            return self._decoder.finish() if piece is None else self._decoder.receive(piece)
        except Exception as error:  # a bug: counted with its place, the rest is read
            self._broken = True  # the beginning of the next line is unknown
            self.failures.note(error, self._end, None, "nothing of the log behind this place was read")
            return ()

    def _take(self, chunks: Sequence[Chunk | CutLines | EngineLine]) -> list[Game]:
        games: list[Game] = []
        lines: list[Line] = []
        receive = self._reader.receive
        for chunk in chunks:
            if isinstance(chunk, EngineLine):
                games += self._recognise(lines) + self._take_engine_line(chunk)
                lines = []
                continue
            if isinstance(chunk, Chunk) and not chunk.data:
                games += self._recognise(lines)
                lines = []
                games += self._lose(chunk)
                continue
            try:
                lines += receive(chunk)
            except Exception as error:  # a bug: counted with its place, the rest is read
                lines += self._salvage(chunk, error)
                receive = self._reader.receive
        return games + self._recognise(lines)

    def _salvage(self, chunk: Chunk | CutLines, error: Exception) -> list[Line]:
        """Read a failed chunk line by line; the line in which it begins is skipped."""
        note = self.failures.note
        if isinstance(chunk, CutLines):
            pieces = chunk.chunks()
        else:
            pieces, offset = [], chunk.offset
            for data in chunk.data.split(b"\n"):
                pieces.append(chunk._replace(data=data + b"\n", offset=offset))
                offset += len(data) + 1
            last = pieces.pop()
            pieces += [last._replace(data=last.data[:-1])] if len(last.data) > 1 else []
        first = pieces.pop(0)
        note(error, first.offset, None, self._shown(first.data))
        lines = self._replace_reader(first.offset)
        for piece in pieces:
            try:
                lines += self._reader.receive(piece)
            except Exception as again:  # a bug: counted with its place, the rest is read
                note(again, piece.offset, None, self._shown(piece.data))
                lines += self._replace_reader(piece.offset)
        return lines

    def _replace_reader(self, offset: int) -> list[Line]:
        """Replace the reader of lines; return the lines before this place that the old reader kept open."""
        old, self._reader = self._reader, LineReader()
        self._reader.anomalies, self._reader.dropped, self._reader.prompt = old.anomalies, old.dropped, old.prompt
        self._reader.wrapped.keeps_blanks = old.wrapped.keeps_blanks
        try:
            return [line for line in old.finish() if line.offset < offset]
        except Exception as error:  # a bug: counted with its place, the rest is read
            self.failures.note(error, offset, None, "")
            return []

    def _shown(self, data: bytes) -> str:
        text = data.decode("latin-1").strip()
        return self._forgotten.text(text) if self._forgotten else text

    def _take_engine_line(self, line: EngineLine) -> list[Game]:
        """Take a line of an engine; games that it ends wait while they may be open games of the server."""
        if self._engines is None:
            from recorder.tracking.engines.games import Engines  # hardly any log needs it

            self._engines = self._tracker.engines = Engines(self.failures, date=self._date, chat=self._chat)
        if self._forgotten:
            line = line._replace(text=self._forgotten.text(line.text))
        over = self._engines.feed(line)
        return self._engines.settle(self._tracker.oldest_unfinished()) if over else []

    def _lose(self, end: Chunk) -> list[Game]:
        games = self._recognise(self._reader.finish())
        closed = SessionNotice(Line("", end.offset, end.at_ms), SessionNoticeKind.CLOSED, None)
        return games + self._tracker.feed([*self._recogniser.finish(), closed])

    def _forget(self, lines: Sequence[Line]) -> Sequence[Line]:
        """The lines without erased handles and their chat."""
        forgotten = self._forgotten
        if forgotten is None or not lines or not forgotten.concerns("\n".join([line.text for line in lines])):
            return lines
        left: list[Line] = []
        for line in lines:
            text = forgotten.text(line.text)
            reading = silenced(text)
            self.unredacted |= text is not line.text or reading is False
            if reading is None:
                left.append(line if text is line.text else line._replace(text=text))
                continue
            for tag in COUNTED_TAGS:
                self._recogniser.quoted[tag] += text.count(tag)
        return left

    def _redacted(self, anomaly: Anomaly) -> Anomaly:
        return anomaly._replace(text=self._forgotten.text(anomaly.text)) if self._forgotten else anomaly

    def _recognise(self, lines: Sequence[Line]) -> list[Game]:
        self._line_count += len(lines)
        if self._forgotten is not None:
            lines = self._forget(lines)
        tracker, decoder = self._tracker, self._decoder
        session = tracker.boards.session
        tracker.basis = decoder.time_basis
        if isinstance(decoder, JournalDecoder):
            first_new = len(session.hosts)
            session.hosts += decoder.hosts[first_new:]
        if self._reader.prompt is not None and not session.prompts:
            session.prompts.append(self._reader.prompt)
        if len(lines) <= _FEW_LINES:
            return tracker.feed(self._recogniser.feed(lines)) if lines else []
        games: list[Game] = []
        # A frame's tokens are used and thrown away while the processor still has them at hand.
        for start in range(0, len(lines), _FEW_LINES):
            games += tracker.feed(self._recogniser.feed(lines[start : start + _FEW_LINES]))
        return games

    @property
    def read_up_to(self) -> int:
        """Games that begin before this offset are final, however the source goes on; before ``finish``.

        0 for kinds of logs of which a later line may change any game.
        """
        decoder = self._decoder
        if not isinstance(decoder, RawDecoder | JournalDecoder) or self._broken:
            return 0
        pending = (decoder.decoded, self._reader.pending_offset, self._recogniser.pending_offset)
        return min(self._tracker.oldest_unfinished(), *(offset for offset in pending if offset is not None))

    def _quoted(self) -> Counter[str]:
        """Tags inside other text or in bytes that are in no line."""
        return self._recogniser.quoted + self._reader.dropped

    @property
    def report(self) -> SourceReport:
        """What was found besides games until now."""
        tracker, recogniser, engines = self._tracker, self._recogniser, self._engines
        frames = {disposition: count for disposition, count in tracker.boards.frame_counts().items() if count}
        if tracker.list_frames:
            frames[Disposition.LIST_START] = frames.get(Disposition.LIST_START, 0) + tracker.list_frames
        holdings = {disposition: count for disposition, count in tracker.holdings.items() if count}
        quoted = self._quoted()
        for tag, counts in (("<12>", frames), ("<b1>", holdings)):
            if quoted[tag]:
                counts[Disposition.QUOTED] = counts.get(Disposition.QUOTED, 0) + quoted[tag]
        warnings: list[str] = []
        if frames.keys() == {Disposition.QUOTED} and frames[Disposition.QUOTED] > _MANY_QUOTED:
            warnings.append(
                f"{frames[Disposition.QUOTED]:,} <12> are inside other text and none is a board: the line ends may be "
                f"lost, or this is not a {self._kind.value} log (name the kind with --kind)"
            )
        elif self._end and not self._line_count and engines is None and self._kind is not SourceKind.JOURNAL:
            warnings.append(
                f"{self._end:,} bytes contain no line of the kind {self._kind.value}: "
                "name the kind of the log with --kind"
            )
        warnings += tracker.failures.warnings
        decoder_anomalies: list[Anomaly] = []
        if isinstance(self._decoder, JournalDecoder):
            warnings += self._decoder.warnings
            decoder_anomalies = self._decoder.anomalies
        server, dialect, me = tracker.session.facts(self._end + 1, self._end + 1)
        return SourceReport(
            kind=self._kind.value,
            server=server,
            dialect=dialect,
            me=me,
            time_basis=self._decoder.time_basis if engines is None else TimeBasis.CLOCK,
            size_bytes=self._end,
            line_count=self._line_count + (0 if engines is None else engines.lines),
            frames=frames,
            holdings=holdings,
            elsewhere=dict(tracker.ends.elsewhere),
            anomalies=sorted(
                (
                    *decoder_anomalies,
                    *map(self._redacted, self._reader.anomalies),
                    *tracker.anomalies,
                    *tracker.failures.anomalies,
                    *(() if engines is None else engines.anomalies),
                ),
                key=lambda anomaly: anomaly.offset,
            ),
            shapes=[Shape(shape, count, first) for shape, (count, first) in recogniser.shapes.items()],
            warnings=warnings,
        )
