"""Games as recorders journal them whose line is cut, or that are killed and started again."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recorder.journal.format import VERSION, JournalHeader
from recorder.model import Game, SourceName
from tests.edge_cases.scripts import Table, log
from tests.support import product
from tests.support.journals import ANCHOR_NS, lines_of, received

_PLAYED = (
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Na5 Bc2 c5 d4 Qc7 Nbd2 cxd4 cxd4 Nc6 Nb3 a5 Be3 a4"
)
LONG = _PLAYED.split()


@dataclass
class Played:
    """A game on a server: ply n is made ``spent_ms[n - 1]`` after the one before, the first so long after the start.

    Attributes:
        ms: the server prints milliseconds. result: who is to move resigns ``ends_ms`` after the last ply; None: the
            game is in progress. number: the server's. first_half: plies whose times the move list prints as 0.
        stands: the clock of the side to move does not run.
    """

    begin_ms: int
    spent_ms: Sequence[int]
    moves: Sequence[str] = field(default_factory=lambda: LONG)
    ms: bool = True
    ends_ms: int | None = 500
    number: int = 7
    increment_s: int = 0
    first_half: int = 0
    stands: bool = False

    @property
    def times_ms(self) -> list[int]:
        """When each ply is made."""
        return [self.begin_ms + sum(self.spent_ms[: ply + 1]) for ply in range(len(self.spent_ms))]

    @property
    def end_ms(self) -> int | None:
        """When it is over."""
        return None if self.ends_ms is None else self.times_ms[-1] + self.ends_ms

    def lines(self, from_ms: int, to_ms: int, listed: bool, delay_ms: int) -> list[tuple[int, list[str]]]:
        """What an observer sees who is there from one moment to another, with the moments."""
        table = Table(self.number, ms=self.ms, increment=self.increment_s)
        found: list[tuple[int, list[str]]] = []
        joined_ms = max(from_ms, self.begin_ms)
        if self.end_ms is not None and self.end_ms < from_ms:
            return []
        joined = False
        for at_ms, san, spent_ms in zip(
            [*self.times_ms, to_ms + 1], [*self.moves, ""], [*self.spent_ms, 0], strict=False
        ):
            if not joined and at_ms > joined_ms:
                joined = True
                found.append((joined_ms, self._joining(table, joined_ms, listed)))
            if at_ms > to_ms or not san:
                break
            frame = table.play(san, spent_ms)
            if joined:
                found.append((at_ms, [frame]))
        if self.end_ms is not None and self.end_ms <= to_ms:
            loser, result = ("Ann", "0-1") if len(self.spent_ms) % 2 == 0 else ("Bob", "1-0")
            found.append((self.end_ms, [table.over(f"{loser} resigns", result)]))
        return [(at_ms + delay_ms, lines) for at_ms, lines in found]

    def _joining(self, table: Table, now_ms: int, listed: bool) -> list[str]:
        ply = len(table.board.move_stack)
        clocks = list(table.clocks)
        if ply > 1 and not self.stands:  # the clock of the side to move is running
            clocks[ply % 2] -= now_ms - self.times_ms[ply - 1]
        unit = 1 if self.ms else 1000
        board = table.frame(white_clock=clocks[0] // unit, black_clock=clocks[1] // unit)
        lines = [table.observing(), table.header(), board]
        return [*lines, *self._list(ply)] if listed and ply else lines

    def _list(self, plies: int) -> list[str]:
        def time(spent_ms: int) -> str:
            text = f"{spent_ms // 60_000}:{spent_ms // 1000 % 60:02}"
            return f"({text}.{spent_ms % 1000:03})" if self.ms else f"({text})"

        halves = [
            f"{san:<7} {time(0 if ply < 2 or ply < self.first_half else spent)}"
            for ply, (san, spent) in enumerate(zip(self.moves, self.spent_ms, strict=False))
        ][:plies]
        rows = [f"{row + 1:3d}.  {'     '.join(halves[2 * row : 2 * row + 2])}" for row in range((plies + 1) // 2)]
        return [
            f"Movelist for game {self.number}:",
            "",
            "Ann (1500) vs. Bob (1600) --- Mon Nov  4, 08:38 UTC 2002",
            f"Rated blitz match, initial time: 5 minutes, increment: {self.increment_s} seconds.",
            "",
            "Move  Ann                Bob",
            "----  ----------------   ----------------",
            *rows,
            "      {Still in progress} *",
        ]


def journal_of(
    name: str,
    games: Iterable[Played],
    from_ms: int,
    to_ms: int,
    *,
    listed: bool = True,
    delay_ms: int = 0,
    ahead_ms: int = 0,
) -> bytes:
    """The journal of one connection from one moment to another, by a clock that may be ahead."""
    session = f"{zlib.crc32(name.encode()):016x}"
    anchor_ns = ANCHOR_NS + (from_ms + ahead_ms) * 1_000_000
    header = JournalHeader(VERSION, session, 1, "record", "chess.example", 5000, anchor_ns, "test")
    seen = sorted(
        (moment for game in games if game.begin_ms <= to_ms for moment in game.lines(from_ms, to_ms, listed, delay_ms)),
        key=lambda moment: moment[0],
    )
    chunks = [(0, log("fics% FatICS"))] + [(at_ms - from_ms, log(*lines)) for at_ms, lines in seen]
    return lines_of(header, *(received(data, at_ms * 1_000_000) for at_ms, data in chunks))


def game_of(
    name: str,
    games: Iterable[Played],
    from_ms: int,
    to_ms: int,
    *,
    listed: bool = True,
    delay_ms: int = 0,
    ahead_ms: int = 0,
) -> list[Game]:
    """What that journal has, with its name as source."""
    data = journal_of(name, games, from_ms, to_ms, listed=listed, delay_ms=delay_ms, ahead_ms=ahead_ms)
    found, _ = product.run([data], "journal")  # the product's pipeline
    for game in found:
        game.key = f"{zlib.crc32(name.encode()):08x}{game.key[8:]}"  # as in an archive, no two have one key
        for seen in game.observations:
            seen.source = SourceName(name, name)
    return found
