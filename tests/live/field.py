"""A chess server in virtual time: games, announcements, a command rate, truncated tables, histories.

It prints what FatICS and the C servers print; ``watch`` records from it with a ``Conversation`` and a latency.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from recorder.dialects.recogniser import Recogniser
from recorder.events import Chunk
from recorder.live.conversation import Conversation
from recorder.live.login.login import Login
from recorder.live.policy.observing import Observing
from recorder.model import Game, TimeBasis
from recorder.tracking.tracker import Tracker
from recorder.wire.lines import LineReader

NOON_MS = 1_322_136_000_000  # 2011-11-24 12:00 UTC
_STEP_MS = 10
_MOVES = (("Nf3", "N/g1-f3"), ("Nf6", "N/g8-f6"), ("Ng1", "N/f3-g1"), ("Ng8", "N/f6-g8"))
_RANKS = (
    "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR",
    "rnbqkbnr pppppppp -------- -------- -------- -----N-- PPPPPPPP RNBQKB-R",
    "rnbqkb-r pppppppp -----n-- -------- -------- -----N-- PPPPPPPP RNBQKB-R",
    "rnbqkb-r pppppppp -----n-- -------- -------- -------- PPPPPPPP RNBQKBNR",
)


@dataclass
class Playing:
    """A game: knights move out and back, one ply every ``each_ms``, then the side to move resigns."""

    white: str
    black: str
    begin_ms: int
    plies: int
    each_ms: int
    rating: int = 1500
    rated: bool = True
    letter: str = "b"
    category: str = "blitz"
    number: int = 0
    ply: int = 0

    @property
    def end_ms(self) -> int:
        """When the game ends."""
        return self.begin_ms + (self.plies + 1) * self.each_ms

    @property
    def result(self) -> str:
        """The side to move resigns."""
        return "1-0" if self.plies % 2 else "0-1"

    def board(self) -> str:
        san, verbose = _MOVES[(self.ply - 1) % 4] if self.ply else ("none", "none")
        clocks = [300_000 - self.each_ms * max(0, (self.ply + side) // 2 - 1) for side in (1, 0)]
        elapsed = f"({self.each_ms // 60_000}:{self.each_ms % 60_000 / 1000:06.3f})" if self.ply > 2 else "(0:00.000)"
        return (
            f"<12> {_RANKS[self.ply % 4]} {'WB'[self.ply % 2]} -1 1 1 1 1 {self.ply} {self.number} {self.white} "
            f"{self.black} 0 5 0 39 39 {clocks[0]} {clocks[1]} {self.ply // 2 + 1} {verbose} {elapsed} {san} 0 1 0"
        )

    def list(self, ends: str) -> list[str]:
        """Return the moves so far."""
        rated = "Rated" if self.rated else "Unrated"
        lines = [
            f"{self.white} ({self.rating}) vs. {self.black} ({self.rating}) --- {_date(self.begin_ms)}",
            f"{rated} {self.category} match, initial time: 5 minutes, increment: 0 seconds.",
            "",
            f"Move  {self.white:<23} {self.black}",
            "----  ---------------------   ---------------------",
        ]
        times = [f"(0:{self.each_ms / 1000 if ply > 2 else 0:06.3f})" for ply in range(1, self.ply + 1)]
        halves = [f"{_MOVES[ply % 4][0]:<7} {time}" for ply, time in enumerate(times)]
        for index in range(0, len(halves), 2):
            lines.append(f"{index // 2 + 1:3}.  {halves[index]:<23} {''.join(halves[index + 1 : index + 2])}")
        return [*lines, f"      {{{ends}", ""]


def _date(at_ms: int) -> str:
    return datetime.fromtimestamp((NOON_MS + at_ms) / 1000, UTC).strftime("%a %b %e, %H:%M UTC %Y")


@dataclass
class FieldServer:
    """The server.

    Attributes:
        games: the games to play.
        announces: supports ``gin``. stores: supports ``smoves``. unstored: players whose moves are not stored.
        whole_tables: tables of games are complete.
        gap_ms: a command that follows another one sooner is ignored. most: games that one may observe.
        prompt: of the server. glued: as on chessd, answers follow the prompt on its line, without the game's facts.
        observing: the answer to ``observe``, without the number.
    """

    games: list[Playing]
    announces: bool = True
    stores: bool = False
    unstored: frozenset[str] = frozenset()
    whole_tables: bool = True
    gap_ms: int = 0
    most: int = 1000
    prompt: str = "fics% "
    glued: bool = False
    observing: str = "You are now observing game"
    heard: list[tuple[int, str]] = field(default_factory=list)
    running: dict[int, Playing] = field(default_factory=dict)
    over: list[Playing] = field(default_factory=list)
    refused: int = 0
    _observed: set[int] = field(default_factory=set)
    _gin: bool = False
    _done_ms: int = -10_000

    def left(self) -> None:
        """Disconnect the client."""
        self._observed.clear()
        self._gin = False

    def play(self, now_ms: int) -> list[str]:
        """Return the output to the client up to a moment."""
        lines: list[str] = []
        for game in [game for game in self.running.values() if now_ms >= game.end_ms]:
            loser = game.white if game.result == "0-1" else game.black
            end = f"{{Game {game.number} ({game.white} vs. {game.black}) {loser} resigns}} {game.result}"
            lines += [end] * ((game.number in self._observed) + self._gin)  # twice, as FatICS does
            if game.number in self._observed:
                lines.append(f"Removing game {game.number} from observation list.")
                self._observed.discard(game.number)
            del self.running[game.number]
            self.over.append(game)
        for game in self.running.values():
            while game.ply < game.plies and now_ms >= game.begin_ms + (game.ply + 1) * game.each_ms:
                game.ply += 1
                lines += [game.board()] * (game.number in self._observed)
        while self.games and now_ms >= self.games[0].begin_ms:
            game = self.games.pop(0)
            game.number = next(number for number in range(1, 1000) if number not in self.running)
            self.running[game.number] = game
            rated = "rated" if game.rated else "unrated"
            created = f"{{Game {game.number} ({game.white} vs. {game.black}) Creating {rated} {game.category} match.}}"
            lines += [created] * self._gin
        return lines

    def take(self, command: str, now_ms: int) -> list[str]:
        self.heard.append((now_ms, command))
        if now_ms < self._done_ms + self.gap_ms:
            self.refused += 1
            return ["You are sending commands too fast."]
        self._done_ms = now_ms
        word, _, rest = command.partition(" ")
        if word in ("observe", "moves", "unobserve", "refresh"):
            game = self.running.get(int(rest))
            return ["There is no such game."] if game is None else self._about(word, game)
        if word == "set":
            self._gin = self._gin or (rest == "gin 1" and self.announces)
            if self.glued and rest == "gin 1":
                return ["You will now hear game results."]
            return [f'No such variable "{rest.split()[0]}".'] if "gin" in rest and not self.announces else []
        if word == "games":
            return self._table(rest)
        if word == "history":
            return self._history(rest)
        if word == "smoves" and self.stores:
            handle, number = rest.split()
            if handle in self.unstored:
                return [f"There is no history game {number} for {handle}."]
            game = self._of(handle)[int(number)]
            return game.list(f"{'White' if game.result == '0-1' else 'Black'} resigned}} {game.result}")
        if word == "iset" and self.glued:
            return [f"{rest.split()[0]} set"]
        return [] if word in ("iset", "quit", "date") else [f"{word}: Command not found."]

    def _about(self, word: str, game: Playing) -> list[str]:
        number = game.number
        if word == "moves":
            return [f"Movelist for game {number}:", "", *game.list("Still in progress} *")]
        assert word == "observe"
        assert number not in self._observed, "on old servers the command toggles"
        if len(self._observed) >= self.most:
            return ["You are already observing the maximum number of games."]
        self._observed.add(number)
        rated = "rated" if game.rated else "unrated"
        head = f"Game {number}: {game.white} ({game.rating}) {game.black} ({game.rating}) {rated} {game.category} 5 0"
        return [f"{self.observing} {number}.", *([] if self.glued else [head]), "", game.board()]

    def _table(self, which: str) -> list[str]:
        shown = [game for number, game in sorted(self.running.items()) if which in ("", str(number))]
        if not self.running:
            return ["There are no games in progress."]
        lines = [
            f"{game.number:>3} {game.rating} {game.white:<11.11} {game.rating} {game.black:<10.10} [ {game.letter}"
            f"{'r' if game.rated else 'u'}  5   0]  0:00 -  0:00 (39-39) W: {game.ply // 2 + 1:>2}"
            for game in shown
        ]
        if not shown:
            return [f"No matching games were found (of {len(self.running)} in progress)."]
        if not which and not self.whole_tables:
            return lines[: len(lines) // 2]
        return [
            *lines,
            f"  {len(shown)} game{'s'[: len(shown) != 1]} displayed (of {len(self.running):3} in progress).",
        ]

    def _of(self, handle: str) -> list[Playing]:
        return [game for game in self.over if handle in (game.white, game.black)]

    def _history(self, handle: str) -> list[str]:
        lines = []
        for number, game in enumerate(self._of(handle)):
            is_white = game.white == handle
            sign = "+" if (game.result == "1-0") is is_white else "-"
            lines.append(
                f"{number:2}: {sign} {game.rating} {'BW'[is_white]} {game.rating} "
                f"{game.black if is_white else game.white:<13} [ br  5   0] A00 Res {_date(game.end_ms)}"
            )
        head = "                  Opponent      Type         ECO End Date"
        return [f"History for {handle}:", head, *lines] if lines else [f"{handle} has no history games."]


class _Reading:
    """The recorded bytes of one connection."""

    def __init__(self) -> None:
        self._reader, self._recogniser = LineReader(), Recogniser()
        self._tracker = Tracker(basis=TimeBasis.UTC)
        self._offset = 0
        self.games: list[Game] = []

    def take(self, data: bytes, now_ms: int) -> None:
        events = self._recogniser.feed(self._reader.receive(Chunk(data, self._offset, NOON_MS + now_ms)))
        self._offset += len(data)
        self.games += self._tracker.feed(events)

    def finish(self) -> list[Game]:
        events = self._recogniser.feed(self._reader.finish()) + self._recogniser.finish()
        self.games += self._tracker.feed(events) + self._tracker.finish()
        return self.games


def watch(
    server: FieldServer, observing: Observing, until_ms: int, *, latency_ms: int = 50, cuts_ms: Iterable[int] = ()
) -> list[Game]:
    """Record as a guest.

    Args:
        latency_ms: of the connection, one way. cuts_ms: when it is lost; it works again five seconds later.
    Returns:
        The games in the bytes of each connection.
    """
    found: list[Game] = []
    now_ms = 0
    for end_ms in [*cuts_ms, until_ms]:
        conversation = Conversation(Login(None), observing)
        reading = _Reading()
        down: list[tuple[int, bytes]] = []
        up: list[tuple[int, str]] = []
        prompt = f"\n{server.prompt}".encode()
        for words in (b"login: ", b'Press return to enter the server as "GuestAB":\n', prompt):
            conversation.receive(words, now_ms, NOON_MS + now_ms)
            reading.take(words, now_ms)
            if words != prompt:
                conversation.take(now_ms)
        while now_ms < end_ms:
            lines = server.play(now_ms)
            text = "".join(f"\n{line}" for line in lines).encode() + prompt if lines else b""
            while up and now_ms >= up[0][0]:
                answer = server.take(up.pop(0)[1], now_ms)
                text += "\n".join(answer if server.glued else ["", "", *answer]).encode() + prompt
            if text:
                down.append((now_ms + latency_ms, text))
            while down and now_ms >= down[0][0]:
                data = down.pop(0)[1]
                reading.take(data, now_ms)
                conversation.receive(data, now_ms, NOON_MS + now_ms)
            for line in conversation.take(now_ms).decode().splitlines():
                up.append((now_ms + latency_ms, line))
            now_ms += _STEP_MS
        conversation.disconnected()
        found += reading.finish()
        server.left()
        for _ in range(0, 5_000, _STEP_MS):
            server.play(now_ms)
            now_ms += _STEP_MS
    return found
