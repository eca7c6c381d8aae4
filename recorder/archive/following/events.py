"""Events of a log that grows, as JSON lines for a reader that may be slow.

A thread writes whole lines, in pieces that a pipe takes at once or not at all, so that the reader never sees half a
line. Lines that it has not taken yet are kept up to a limit. Beyond it the thread waits once more, then drops them.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from exporters.games_json import game_object
from recorder.archive.following.follower import Outlet
from recorder.model import GameEnd, GameKind

if TYPE_CHECKING:
    from recorder.model import Game

_START = (
    *("server", "server_game_no", "white", "black", "rated", "variant", "base_s", "increment_s", "start_fen"),
    *("started_at", "start_precision"),
)
END = ("result", "reason", "termination", "ended_at", "complete")
_HOLDINGS = frozenset(("white_holdings", "black_holdings"))

_Place = tuple[int, int | None]
"""Where a game begins, and its number: what stays the same however it is read again."""


class _KnownGame:
    def __init__(self, key: str, facts: dict[str, Any]) -> None:
        self.key = key
        self.facts = facts
        self.plies: dict[int, dict[str, Any]] = {}
        self.end: GameEnd | None = None


class GameChanges(Outlet):
    """Reports what is new of each game, under the key of its first report, also when its observation goes on later."""

    def __init__(self) -> None:
        self._known: dict[_Place, _KnownGame] = {}

    def concerns(self, game: Game) -> bool:
        return game.kind is GameKind.PLAYED

    def report(self, event: str, key: str, game: Game, facts: dict[str, Any]) -> None:
        """Something new of a game, which now is this."""

    def look(self, games: list[Game]) -> None:
        self._take_all(games, final=False)

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        self._known = {key: reported for key, reported in self._known.items() if key[0] >= read_up_to}

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """If the log never goes on, these games have ended."""
        self._take_all(games, final)
        if final:
            self._known = {}

    def _take_all(self, games: list[Game], final: bool) -> None:
        for game in games:
            if self.concerns(game):
                self._take(game, final)

    def _take(self, game: Game, final: bool) -> None:
        key = game.first_offset, game.game_no
        values = game_object(game)
        facts = {name: values[name] for name in _START}
        reported = self._known.get(key)
        if reported is None:
            reported = self._known[key] = _KnownGame(game.key, facts)
            self.report("game_started", reported.key, game, facts)
        elif changed := {name: value for name, value in facts.items() if reported.facts[name] != value}:
            reported.facts = facts
            self.report("game_changed", reported.key, game, changed)
        plies = {ply["ply"]: ply for ply in values["plies"]}
        gone = [number for number, ply in reported.plies.items() if not _is_same_move(ply, plies.get(number))]
        if gone:
            self.report("takeback", reported.key, game, {"ply": min(gone) - 1})
            reported.plies = {number: ply for number, ply in reported.plies.items() if number < min(gone)}
        for number, ply in plies.items():
            before = reported.plies.get(number)
            changed = ply if before is None else {name: value for name, value in ply.items() if before[name] != value}
            if changed and changed.keys() <= _HOLDINGS:
                holdings = {name: ply[name] for name in sorted(_HOLDINGS, reverse=True)}
                self.report("holdings", reported.key, game, {"ply": number} | holdings)
            elif changed:
                self.report("ply", reported.key, game, ply)
        reported.plies = plies
        end = game.end if final or game.end is not GameEnd.LOG_ENDS else None  # it may go on
        if end not in (None, reported.end):
            self.report("game_ended", reported.key, game, {"end": end} | {name: values[name] for name in END})
        reported.end = end


class EventLineWriter(GameChanges):
    def __init__(self, write: Callable[[str], object]) -> None:
        super().__init__()
        self._write = write

    def report(self, event: str, key: str, game: Game, facts: dict[str, Any]) -> None:
        self._write(json.dumps({"event": event, "key": key, **facts}, ensure_ascii=False) + "\n")


def _is_same_move(before: dict[str, Any], now: dict[str, Any] | None) -> bool:
    """Whether a ply that was printed was not taken back; a move of which more is known is the same move."""
    return now is not None and (before["uci"] is None or now["uci"] is None or before["uci"] == now["uci"])


_MOST_BYTES: Final = 16 << 20
_PATIENCE_S: Final = 5.0
_END_S: Final = 30.0
_PIECE: Final = 4096  # PIPE_BUF


class EventPipe:
    """Prints lines to a descriptor; ``lost`` is why nothing is printed any more, the beginning of a sentence."""

    def __init__(self, file: int = 1) -> None:
        self.lost: str | None = None
        self._file = file
        self._waiting = bytearray()  # what the reader has not taken
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def write(self, text: str) -> None:
        """Waits only for a reader who is far behind, and not for long."""
        with self._changed:
            if self.lost is not None:
                return
            if self._thread is None:  # it must never keep the program from ending
                self._thread = threading.Thread(target=self._run, name="events", daemon=True)
                self._thread.start()
            self._waiting += text.encode("utf-8", "replace")
            self._changed.notify_all()
            if len(self._waiting) > _MOST_BYTES and not self._falls_to(_MOST_BYTES // 2):
                self._lose()

    def close(self) -> None:
        """Wait until everything is printed, as long as the reader takes something."""
        end_s = time.monotonic() + _END_S
        with self._changed:
            while before := len(self._waiting):
                if not self._falls_to(before - 1) or time.monotonic() > end_s:
                    self._lose()

    def _falls_to(self, count: int) -> bool:
        """Wait until no more bytes wait."""
        return self._changed.wait_for(lambda: len(self._waiting) <= count, _PATIENCE_S)

    def _lose(self, why: str = "The event reader is too slow") -> None:
        self.lost = self.lost or why
        self._waiting.clear()
        self._changed.notify_all()

    def _run(self) -> None:
        """Print whole lines, as many as a pipe takes at once; longer ones in parts."""
        piece = b""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self.lost is not None)
                if self.lost is not None:
                    return
                if not piece:
                    end = self._waiting.rfind(b"\n", 0, _PIECE) + 1 or self._waiting.find(b"\n") + 1
                    piece = bytes(self._waiting[: end or None])
            try:
                count = os.write(self._file, piece)
            except BlockingIOError:  # another process has set it non-blocking
                select.select([], [self._file], [], 0.1)
                continue
            except OSError:
                with self._changed:
                    self._lose("The event reader has ended")
                return
            piece = piece[count:]
            with self._changed:
                del self._waiting[:count]
                self._changed.notify_all()
