"""Games of a generated log: what their observer reads, what goes wrong, and the truth as PGN."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import NamedTuple, TextIO

import chess
from chess.variant import CrazyhouseBoard

from benchmarks.tables import Table, advance, choose, holdings_line

__all__ = ["Out", "play"]

_CONTROLS = [
    (1, 0, "lightning"),
    (3, 0, "blitz"),
    (3, 0, "blitz"),
    (5, 0, "blitz"),
    (2, 12, "blitz"),
    (15, 5, "standard"),
]
_SYLLABLES = ["ba", "cor", "dim", "el", "fo", "gra", "hul", "in", "jo", "kes", "lam", "mor", "ne", "or", "pet", "ru"]
_WORDS = ["hi all", "nice move", "what an ending", "he must take now", "gg", "good luck", "rook on the seventh", "ouch"]


class Out(NamedTuple):
    """Text that the server sends ``wait_ms`` after the game's text before it."""

    wait_ms: int
    text: str


class Played(NamedTuple):
    """A ply of the truth."""

    san: str
    clock_ms: int
    elapsed_ms: int


def play(number: int, index: int, chance: random.Random, truth: TextIO) -> Iterator[Out]:  # noqa: C901  # the seed fixes the order of all choices
    """One game from its creation to its end, and what the observer reads."""
    white, black = _handle(chance), _handle(chance)
    while black == white:
        black = _handle(chance)
    ratings = chance.randrange(900, 2400), chance.randrange(900, 2400)
    base, increment, category = chance.choice(_CONTROLS)
    drops = chance.random() < 0.05
    if drops:
        category = "crazyhouse"
    table = Table(number, white, black, base, increment, clocks=[base * 60_000] * 2)
    board: chess.Board = CrazyhouseBoard() if drops else chess.Board()
    length = max(2, min(300, round(chance.lognormvariate(math.log(68) - 0.125, 0.5))))
    plan = _Plan(chance, length)
    played: list[Played] = []
    history = [table.saved()]
    seen = _Seen()

    title = f"Game {number} ({white} vs. {black})"
    opening = (
        f"You are now observing game {number}.\n\r"
        f"Game {number}: {white} ({ratings[0]}) {black} ({ratings[1]}) rated {category} {base} {increment}\n\r\n\r"
    )
    yield Out(0, f"{{{title} Creating rated {category} match.}}")
    yield Out(100, opening + table.frame() + holdings_line(board, number))
    seen.shown(0)
    end = ""
    while len(played) < length:
        move = choose(board, chance)
        if move is None:
            end = _natural_end(board, white, black)
            break
        side = table.ply & 1
        elapsed = _think(chance, base, table.ply)
        lag = 0 if chance.random() < 0.3 else int(chance.expovariate(1 / 180))
        stall = chance.random() < 0.0005
        if stall:
            lag += chance.randrange(5000, 25_000)
        if table.clocks[side] - elapsed <= 0:
            waited = table.clocks[side] + chance.randrange(20, 900)
            table.clocks[side] -= waited
            if seen.watching:
                yield Out(waited, table.frame() + holdings_line(board, number))  # the last board once more
            end = f"{(white, black)[side]} forfeits on time}} " + ("0-1", "1-0")[side]
            break
        san = board.san(move)
        advance(table, board, move, san.replace("@", "P@") if san.startswith("@") else san)
        if table.ply > 2:
            table.clocks[side] += increment * 1000 - elapsed
        table.last = table.last.replace("(?)", f"({elapsed // 60_000}:{elapsed // 1000 % 60:02d}.{elapsed % 1000:03d})")
        table.lag = lag
        history.append(table.saved())
        played.append(Played(table.last.split()[2], table.clocks[side], elapsed))
        wait = elapsed + lag
        ply = table.ply
        if plan.leaves == ply:
            seen.watching = False
            yield Out(wait, f"Removing game {number} from observation list.")
            continue
        if plan.returns == ply:
            seen.watching = True
            seen.shown(ply, joined=True)
            yield Out(wait, opening + table.frame() + holdings_line(board, number))
            continue
        if not seen.watching or ply in plan.lost:
            yield Out(wait, "")
        elif ply == plan.cut:
            yield Out(wait, table.frame()[: chance.randrange(20, 70)])
        else:
            yield from _show(table, board, number, wait)
            seen.shown(ply)
        if chance.random() < 0.03 and seen.watching:
            yield Out(chance.randrange(50), _chat(chance, table))
        if ply in plan.takebacks and ply > 4 and seen.complete(ply):
            back = plan.takebacks.pop(ply)
            asker, other = (white, black) if ply & 1 else (black, white)
            yield Out(900, f"Game {number}: {asker} requests to take back {back} half move(s).")
            yield Out(700, f"Game {number}: {other} accepts the takeback request.")
            for _ in range(back):
                board.pop()
                history.pop()
                played.pop()
            table.restore(history[-1])
            yield Out(10, table.frame() + holdings_line(board, number))
            seen.back(table.ply)
    else:
        end = _chosen_end(chance, white, black)
    if seen.watching:
        yield Out(chance.randrange(200, 4000), f"{{{title} {end}")
        yield Out(0, f"Removing game {number} from observation list.")
    else:
        yield Out(1000, f"{{{title} {end}")
    _write(truth, index, table, ratings, category, played, end, seen)
    if chance.random() < 0.005 and not drops:
        yield from _examine(table, board, chance, number)


class _Plan:
    """What will go wrong in a game, and after which plies."""

    def __init__(self, chance: random.Random, length: int) -> None:
        self.takebacks: dict[int, int] = {}
        self.lost: set[int] = set()
        self.cut = self.leaves = self.returns = -1
        kind = chance.random()
        place = chance.randrange(5, max(6, length))
        if kind < 0.04:
            self.takebacks[place] = chance.choice((1, 1, 2, 2, 3, 4))
            self.takebacks[place + chance.randrange(5, 40)] = chance.choice((1, 2))
        elif kind < 0.055:
            self.lost = set(range(place, place + chance.choice((1, 1, 1, 2, 2, 5))))
        elif kind < 0.06:
            self.cut = place
        elif kind < 0.07:
            self.leaves = place
            if chance.random() < 0.5:
                self.returns = place + chance.randrange(2, 12)


class _Seen:
    """The spans of plies that the log proves: after a board that was shown, the next board."""

    def __init__(self) -> None:
        self.watching = True
        self.spans: list[list[int]] = []
        self._last: int | None = None

    def shown(self, ply: int, joined: bool = False) -> None:
        """A board after ``ply`` half-moves was sent."""
        if self._last is None or self._last != ply - 1 or joined or not self.spans:
            self.spans.append([ply + 1, ply])
        else:
            self.spans[-1][1] = ply
        self._last = ply

    def back(self, ply: int) -> None:
        """The game went back to ``ply``."""
        self.spans[-1][1] = ply
        self._last = ply

    def complete(self, ply: int) -> bool:
        """Whether everything up to ``ply`` was shown."""
        return self.watching and len(self.spans) == 1 and self.spans[0][1] == ply

    def text(self) -> str:
        """``1-30,33-68``."""
        return ",".join(f"{low}-{high}" for low, high in self.spans if low <= high)


def _show(table: Table, board: chess.Board, number: int, wait_ms: int) -> Iterator[Out]:
    """The frame after a move; crazyhouse prints a capture before it and the holdings after it."""
    move = board.peek()
    if isinstance(board, CrazyhouseBoard) and move.drop is None:
        board.pop()
        captured = board.piece_at(move.to_square) if board.is_capture(move) else None
        passant = board.is_en_passant(move)
        promoted = bool(board.promoted & chess.BB_SQUARES[move.to_square])
        board.push(move)
        if captured is not None or passant:
            letter = "P" if captured is None or promoted else captured.symbol().upper()
            colour = "BW"[not board.turn]
            yield Out(wait_ms, holdings_line(board, number).removeprefix("\n\r") + f" <- {colour}{letter}")
            wait_ms = 0
    yield Out(wait_ms, table.frame() + holdings_line(board, number))


def _think(chance: random.Random, base_min: int, ply: int) -> int:
    """Milliseconds a move takes; the first move of each side is free."""
    if ply < 2:
        return 0
    return max(100, round(chance.lognormvariate(math.log(450 * base_min), 1.1)))


def _chat(chance: random.Random, table: Table) -> str:
    """A kibitz, whisper or channel tell; some imitate server lines."""
    words = chance.choice(_WORDS)
    kind = chance.random()
    if kind < 0.1:
        words += f" {table.frame()}"
    elif kind < 0.15:
        words = f"{{Game {table.number} ({table.white} vs. {table.black}) {table.white} resigns}} 0-1"
    elif kind < 0.2:
        words = f"this is long and goes on and on until the server wraps it at its column\n\r\\   {table.frame()}"
    speaker = _handle(chance)
    if chance.random() < 0.33:
        return f"{speaker}({chance.randrange(1, 99)}): {words}"
    verb = chance.choice(("kibitzes", "kibitzes", "whispers"))
    return f"{speaker}({chance.randrange(900, 2400)})[{table.number}] {verb}: {words}"


def _examine(table: Table, board: chess.Board, chance: random.Random, number: int) -> Iterator[Out]:
    """A client steps through the end of a finished game; the frames have relation -2."""
    moves = min(len(board.move_stack), chance.randrange(2, 9))
    replay = list(board.move_stack)
    copy = chess.Board()
    fresh = Table(number, table.white, table.black, table.base_min, table.increment_s, clocks=[0, 0])
    yield Out(3000, f"You are now observing game {number}.\n\r\n\r{fresh.frame(-2)}")
    for move in replay[:moves]:
        advance(fresh, copy, move, copy.san(move))
        fresh.last = fresh.last.replace("(?)", "(0:00.000)")
        text = f"Game {number}: {table.white} goes forward 1 move."
        yield Out(1500, f"{text}\n\r\n\r{fresh.frame(-2)}")
    yield Out(2000, f"Game {number} (which you were observing) has no examiners.")
    yield Out(0, f"Removing game {number} from observation list.")


def _natural_end(board: chess.Board, white: str, black: str) -> str:
    """The end line's tail where the side to move has no move."""
    if board.is_check():
        return f"{(black, white)[board.turn]} checkmated}} " + ("1-0", "0-1")[board.turn]
    return "Game drawn by stalemate} 1/2-1/2"


def _chosen_end(chance: random.Random, white: str, black: str) -> str:
    """How a game ends at its planned length."""
    kind = chance.random()
    if kind < 0.1:
        return "Game drawn by mutual agreement} 1/2-1/2"
    if kind < 0.11:
        return "Game aborted by mutual agreement} *"
    if kind < 0.12:
        return f"{white} lost connection; game adjourned}} *"
    return f"{white} resigns}} 0-1" if chance.random() < 0.5 else f"{black} resigns}} 1-0"


def _handle(chance: random.Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=3)).capitalize()


def _clock(ms: int) -> str:
    """``h:mm:ss.mmm``; a negative clock is printed as zero."""
    ms = max(ms, 0)
    return f"{ms // 3_600_000}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"


def _write(
    truth: TextIO,
    index: int,
    table: Table,
    ratings: tuple[int, int],
    category: str,
    played: list[Played],
    end: str,
    seen: _Seen,
) -> None:
    """Write a game's PGN."""
    reason, result = end.rsplit("} ", 1)
    tags = {
        "Event": f"FICS rated {category} game", "Site": "freechess.org", "Date": "2010.05.03", "Round": "-",
        "White": table.white, "Black": table.black, "Result": result, "WhiteElo": ratings[0], "BlackElo": ratings[1],
        "TimeControl": f"{table.base_min * 60}+{table.increment_s}", "GeneratedNo": index, "ServerGameNo": table.number,
        "Reason": reason, "PlyCount": len(played),
    }  # fmt: skip
    if category == "crazyhouse":
        tags["Variant"] = "crazyhouse"
    if seen.text() != f"1-{len(played)}" and played:
        tags["Seen"] = seen.text()
    lines = [f'[{name} "{value}"]' for name, value in tags.items()] + [""]
    for number, ply in enumerate(played):
        move = f"{number // 2 + 1}{'...' if number & 1 else '.'} {ply.san}"
        lines.append(f"{move} {{[%clk {_clock(ply.clock_ms)}] [%emt {_clock(ply.elapsed_ms)}]}}")
    truth.write("\n".join([*lines, result, "", ""]))
