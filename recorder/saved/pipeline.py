"""Bytes of a file of saved games in, games out: what ``recorder.pipeline`` is for logs."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING

from recorder.model import EventKind, Game, SourceKind, SourceReport, TimeBasis, is_forgotten
from recorder.sources.base import LineEnds
from recorder.sources.redaction import Forgotten, Redactor

if TYPE_CHECKING:
    from recorder.saved.base import SavedReader


class SavedPipeline:
    """The methods are those of ``recorder.pipeline.Pipeline``. ``date`` is the day of games without one."""

    def __init__(
        self,
        kind: SourceKind,
        *,
        server: str | None = None,
        date: datetime.date | None = None,
        tz: datetime.tzinfo | None = None,
        chat: str = "public",
        offset: int = 0,
        forgotten: Forgotten | None = None,
    ) -> None:
        self._kind = kind
        self._day = None if date is None else date.isoformat()
        self._tz = tz
        self._reader = _reader(kind, server, chat, offset)
        self._ends = LineEnds(offset > 0)
        self._redactor = Redactor(forgotten, kind) if forgotten else None
        self._rest = b""
        self._from = self._end = offset
        self._games = 0

    @property
    def unredacted(self) -> bool:
        """A name was found that should not be in the bytes."""
        return self._redactor is not None and self._redactor.replaced

    def receive(self, block: bytes) -> list[Game]:
        self._end += len(block)
        return self._take(self._redacted(self._ends.receive(block)))

    def finish(self, *, unfinished: bool = False) -> list[Game]:
        """``unfinished`` changes nothing here."""
        rest = self._redacted(self._ends.finish(), last=True)
        reader = self._reader
        games = self._given(reader.receive(rest)) if rest else []
        return games + self._given(reader.finish())

    def _take(self, data: bytes) -> list[Game]:
        return self._given(self._reader.receive(data)) if data else []

    def _given(self, games: list[Game]) -> list[Game]:
        if self._redactor is not None:
            games = [game for game in games if not is_forgotten(game.white.handle, game.black.handle)]
        # A result in a text that is no PGN makes a game without players and moves.
        self._games += sum(bool(game.white.handle or game.black.handle or game.plies) for game in games)
        return [self._dated(game) for game in games]

    def _dated(self, game: Game) -> Game:
        if game.date_text is None and game.started_at_ms is None and self._day is not None and self._may_be(game):
            return replace(game, date_text=self._day)
        if self._tz is None or game.time_basis is not TimeBasis.LOCAL:
            return game
        begun, ended = (_in_utc(at_ms, self._tz) for at_ms in (game.started_at_ms, game.ended_at_ms))
        return replace(game, started_at_ms=begun, ended_at_ms=ended, time_basis=TimeBasis.UTC)

    def _may_be(self, game: Game) -> bool:
        """The file may have a part of the day: ``2004.??.??``."""
        day = (self._day or "").replace("-", ".")
        tags = (event for event in game.events if event.kind is EventKind.TAG and event.detail == "Date")
        known = next((event.text.replace("-", ".") for event in tags), "?" * len(day))
        return len(known) == len(day) and all(letter in ("?", its) for letter, its in zip(known, day, strict=True))

    def _redacted(self, data: bytes, last: bool = False) -> bytes:
        if self._redactor is None:
            return data
        data = self._rest + data
        end = len(data) if last else data.rfind(b"\n") + 1
        self._rest = data[end:]
        clean = self._redactor.receive(data[:end])
        return clean + self._redactor.finish() if last else clean

    @property
    def read_up_to(self) -> int:
        return self._reader.read_up_to if self._ends.decided else 0

    @property
    def report(self) -> SourceReport:
        warnings = []
        if self._end and not self._games and not self._from:
            warnings.append(
                f"{self._end:,} bytes gave no game when read as kind {self._kind.value}: is it of another (--kind)?"
            )
        reader = self._reader
        anomalies = [*reader.anomalies, *reader.failures.anomalies]
        return SourceReport(
            kind=self._kind.value,
            time_basis=TimeBasis.NONE,
            size_bytes=self._end,
            line_count=reader.line_count,
            anomalies=anomalies,
            warnings=[*warnings, *reader.failures.warnings],
        )


def _reader(kind: SourceKind, server: str | None, chat: str, offset: int) -> SavedReader:
    # Logs are read without either of them.
    if kind is SourceKind.BPGN:
        from recorder.saved.bpgn import BpgnReader

        return BpgnReader(server=server, chat=chat, offset=offset)
    from recorder.saved.pgn import PgnReader

    return PgnReader(server=server, chat=chat, offset=offset)


def _in_utc(local_ms: int | None, tz: datetime.tzinfo) -> int | None:
    if local_ms is None:
        return None
    wall = datetime.datetime.fromtimestamp(local_ms // 1_000, datetime.UTC).replace(tzinfo=tz)
    return int(wall.timestamp()) * 1_000 + local_ms % 1_000
