"""Makes transcripts of interleaved legal games for benchmarks, with the truth as PGN.

``python benchmarks/generate.py --games 1000 --seed 1 -o DIR [--timing]``

The same version, seed and size give the same bytes. One connection observes 32 boards at once with milliseconds on;
server numbers are reused as soon as they are free. Besides plain games there are crazyhouse (5 %), takebacks, lost
and cut frames, observations that end early or are resumed, flags with the last board resent, lag stalls, examined
games, and chat that imitates frames.

In the PGN, ``Seen`` names the plies that the log shows where these are not all, and the moves are always the whole
game; taken-back plies are not in it.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TextIO

import chess
from chess.variant import CrazyhouseBoard

VERSION = 1
OBSERVED_AT_ONCE = 32
START_MS = 1_272_880_800_000  # 3 May 2010, 10:00 UTC

_VALUES = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0}
_START = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"
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


class Made(NamedTuple):
    """The files of one generated log. ``timing`` is None where no arrival times were asked for."""

    log: Path
    truth: Path
    timing: Path | None


class Out(NamedTuple):
    """Text that the server sends ``wait_ms`` after the game's text before it."""

    wait_ms: int
    text: str


@dataclass
class Table:
    """A board as the server keeps it: the ranks as one mutable line of 71 cells, clocks and the last move."""

    number: int
    white: str
    black: str
    base_min: int
    increment_s: int
    cells: list[str] = field(default_factory=lambda: list(_START))
    strength: list[int] = field(default_factory=lambda: [39, 39])
    clocks: list[int] = field(default_factory=list)
    ply: int = 0
    double: int = -1
    castling: str = "1 1 1 1"
    irreversible: int = 0
    last: str = "none (0:00.000) none"
    lag: int = 0

    def frame(self, relation: int = 0) -> str:
        """The board as a style-12 line of 33 fields."""
        turn = "WB"[self.ply & 1]
        ticking = int(self.ply > 1)
        moves = f"{self.ply // 2 + 1} {self.last}"
        return (
            f"<12> {''.join(self.cells)} {turn} {self.double} {self.castling} {self.irreversible} {self.number} "
            f"{self.white} {self.black} {relation} {self.base_min} {self.increment_s} {self.strength[0]} "
            f"{self.strength[1]} {self.clocks[0]} {self.clocks[1]} {moves} 0 {ticking} {self.lag}"
        )

    def saved(self) -> tuple[list[str], list[int], int, int, str, int, str, int]:
        """All that a takeback brings back (clocks stay)."""
        flags = self.double, self.castling, self.irreversible
        return self.cells[:], self.strength[:], self.ply, *flags, self.last, self.lag

    def restore(self, saved: tuple[list[str], list[int], int, int, str, int, str, int]) -> None:
        """Go back to what ``saved`` gave."""
        (cells, strength, self.ply, self.double, self.castling, self.irreversible, self.last, self.lag) = saved
        self.cells, self.strength = cells[:], strength[:]


class Played(NamedTuple):
    """A ply of the truth."""

    san: str
    clock_ms: int
    elapsed_ms: int


def log_lines(games: int, seed: int, truth: TextIO) -> Iterator[tuple[int, str]]:
    """The whole log.

    Args:
        games: how many games are played.
        seed: of everything random.
        truth: gets the games' PGN in the order in which they end.
    Yields:
        Milliseconds since ``START_MS`` and the text received then.
    """
    chance = random.Random(f"{VERSION}:{seed}:{games}")
    free = list(range(1, OBSERVED_AT_ONCE + 9))
    heapq.heapify(free)
    queue: list[tuple[int, int, int, str, Iterator[Out]]] = []
    yield 0, "\n\r**** Starting FICS session as GuestLog(U) ****\n\r\n\rfics% Style 12 set.\n\rfics% ms set.\n\rfics% "
    begun = 0
    now = 1000
    while begun < min(OBSERVED_AT_ONCE, games):
        _begin(queue, free, begun, now + chance.randrange(60_000), random.Random(f"{seed}:{begun}"), truth)
        begun += 1
    while queue:
        now, index, number, text, more = heapq.heappop(queue)
        if text:
            yield now, f"\n\r{text}\n\rfics% "
        following = next(more, None)
        if following is not None:
            heapq.heappush(queue, (now + following.wait_ms, index, number, following.text, more))
            continue
        heapq.heappush(free, number)
        if begun < games:
            _begin(queue, free, begun, now + chance.randrange(5000), random.Random(f"{seed}:{begun}"), truth)
            begun += 1
    yield now, "\n\rLogging you out.\n\r"


def _begin(
    queue: list[tuple[int, int, int, str, Iterator[Out]]],
    free: list[int],
    index: int,
    at_ms: int,
    chance: random.Random,
    truth: TextIO,
) -> None:
    number = heapq.heappop(free)
    heapq.heappush(queue, (at_ms, index, number, "", _play(number, index, chance, truth)))


def _play(number: int, index: int, chance: random.Random, truth: TextIO) -> Iterator[Out]:
    """One game from its creation to its end, and what the observer is told."""
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
    yield Out(100, opening + table.frame() + _hands(board, number))
    seen.shown(0)
    end = ""
    while len(played) < length:
        move = _choose(board, chance)
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
                yield Out(waited, table.frame() + _hands(board, number))  # the last board once more
            end = f"{(white, black)[side]} forfeits on time}} " + ("0-1", "1-0")[side]
            break
        san = board.san(move)
        _advance(table, board, move, san.replace("@", "P@") if san.startswith("@") else san)
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
            yield Out(wait, opening + table.frame() + _hands(board, number))
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
            yield Out(10, table.frame() + _hands(board, number))
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
    """The frame after a move; in crazyhouse a capture is told before it and the hands after it."""
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
            yield Out(wait_ms, _hands(board, number).removeprefix("\n\r") + f" <- {colour}{letter}")
            wait_ms = 0
    yield Out(wait_ms, table.frame() + _hands(board, number))


def _hands(board: chess.Board, number: int) -> str:
    """The holdings line that follows a crazyhouse board, with the line end before it."""
    if not isinstance(board, CrazyhouseBoard):
        return ""
    white, black = (
        "".join(letter.upper() * pocket.count(chess.PIECE_SYMBOLS.index(letter)) for letter in "pnbrq")
        for pocket in (board.pockets[chess.WHITE], board.pockets[chess.BLACK])
    )
    return f"\n\r<b1> game {number} white [{white}] black [{black}]"


def _choose(board: chess.Board, chance: random.Random) -> chess.Move | None:
    """A legal move, a capture rather than not; None if there is none."""
    moves = list(board.generate_pseudo_legal_moves())
    if isinstance(board, CrazyhouseBoard):
        moves = list(board.legal_moves)
    chance.shuffle(moves)
    kept = None
    for move in moves:
        if not board.is_legal(move):
            continue
        if kept is None:
            kept = move
            if chance.random() < 0.6:
                return kept
        elif board.piece_type_at(move.to_square) is not None:
            return move
    return kept


def _advance(table: Table, board: chess.Board, move: chess.Move, san: str) -> None:
    """Play a move on both boards and note its texts; the elapsed time is left open as ``(?)``."""
    cells, side = table.cells, table.ply & 1
    target = _cell(move.to_square)
    table.double = -1
    if move.drop is not None:
        letter = chess.piece_symbol(move.drop)
        cells[target] = letter if side else letter.upper()
        verbose = f"{letter.upper()}/@@-{chess.square_name(move.to_square)}"
    else:
        source = _cell(move.from_square)
        piece = cells[source]
        taken = cells[target]
        names = f"{chess.square_name(move.from_square)}-{chess.square_name(move.to_square)}"
        verbose = f"{piece.upper()}/{names}"
        cells[source] = "-"
        cells[target] = piece
        if piece in "pP":
            distance = move.to_square - move.from_square
            if abs(distance) == 16:
                table.double = move.to_square & 7
            elif distance % 8 and taken == "-":
                passed = target + (9 if side == 0 else -9)
                taken, cells[passed] = cells[passed], "-"
            if move.promotion:
                letter = chess.piece_symbol(move.promotion)
                cells[target] = letter if side else letter.upper()
                verbose += f"={letter.upper()}"
                table.strength[side] += _VALUES[letter] - 1
        elif piece in "kK" and abs(move.to_square - move.from_square) == 2:
            short = move.to_square > move.from_square
            rook, place = (source + 3, source + 1) if short else (source - 4, source - 1)
            cells[place], cells[rook] = cells[rook], "-"
            verbose = "o-o" if short else "o-o-o"
        if taken != "-":
            table.strength[1 - side] -= _VALUES[taken.lower()]
    board.push(move)
    table.ply += 1
    rights = board.castling_rights
    table.castling = " ".join(
        str(int(bool(rights & corner))) for corner in (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
    )
    table.irreversible = board.halfmove_clock
    table.last = f"{verbose} (?) {san}"


def _cell(square: int) -> int:
    """Index of a square in the line of ranks."""
    return (7 - (square >> 3)) * 9 + (square & 7)


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
    """Somebody steps through the end of a finished game; the frames have relation -2."""
    moves = min(len(board.move_stack), chance.randrange(2, 9))
    replay = list(board.move_stack)
    copy = chess.Board()
    fresh = Table(number, table.white, table.black, table.base_min, table.increment_s, clocks=[0, 0])
    yield Out(3000, f"You are now observing game {number}.\n\r\n\r{fresh.frame(-2)}")
    for move in replay[:moves]:
        _advance(fresh, copy, move, copy.san(move))
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


def make(folder: Path, games: int, seed: int, timing: bool = False) -> Made:
    """Write ``session.log``, ``truth.pgn`` and, if asked for, ``session.timing`` (classic typescript timing).

    With timing the log has the first and last line of a typescript.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "session.log"
    truth = folder / "truth.pgn"
    times = folder / "session.timing"
    last = 0
    with log.open("wb") as out, truth.open("w", encoding="ascii", newline="\n") as pgn, times.open("w") as waits:
        if timing:
            out.write(b"Script started on 2010-05-03 10:00:00+00:00\n")
        for at_ms, text in log_lines(games, seed, pgn):
            data = text.encode("ascii")
            out.write(data)
            if timing:
                waits.write(f"{(at_ms - last) / 1000:.6f} {len(data)}\n")
            last = at_ms
        if timing:
            out.write(b"\nScript done on 2010-05-03 22:00:00+00:00\n")
    if not timing:
        times.unlink()
    return Made(log, truth, times if timing else None)


def cached(games: int, seed: int = 1, timing: bool = False) -> Made:
    """The files of a log from the cache in the system's temporary folder, made if they are not there."""
    name = f"v{VERSION}-seed{seed}-games{games}{'-timing' if timing else ''}"
    folder = Path(tempfile.gettempdir()) / "ics-recorder-benchmarks" / name
    done = folder / "done"
    if not done.exists():
        make(folder, games, seed, timing)
        done.touch()
    return Made(folder / "session.log", folder / "truth.pgn", folder / "session.timing" if timing else None)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Make a transcript of interleaved games and its truth as PGN.")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timing", action="store_true", help="write a typescript and its timing file")
    parser.add_argument("-o", "--output", type=Path, help="folder; default: a cache in the temporary folder")
    options = parser.parse_args()
    if options.output is None:
        made = cached(options.games, options.seed, options.timing)
    else:
        made = make(options.output, options.games, options.seed, options.timing)
    for path in made:
        if path is not None:
            print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
