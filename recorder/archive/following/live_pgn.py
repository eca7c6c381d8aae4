"""The games that are being played, as one PGN file for broadcasts: it is rewritten in one step at each move.

Each move is shown when the delay since the moment at which it was seen is over, so that a reader cannot help a player.
A game that is over stays for ten minutes, and one whose observation ends goes at once: it may go on in the next log. An
error here delays neither the archive nor the other outputs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recorder.archive.following.follower import Outlet, has_ended
from recorder.errors import ExportError
from recorder.model import GameEnd, GameKind

if TYPE_CHECKING:
    from recorder.model import Game

_STAYS_S: Final = 600.0
_EVERY_S: Final = 0.5
_MARK: Final = '[RecorderLive "yes"]'
_HEAD_BYTES: Final = 1 << 16


def refuse_live(path: Path) -> None:
    """Refuse another program's file, and a place where none can be written."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except FileNotFoundError:
        if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
            raise ExportError(f"{path} cannot be written: its folder is missing or not writable.") from None
        return
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror}.") from error
    if head and _MARK.encode() not in head.partition(b"\n\n")[0]:
        raise ExportError(f"{path} is there and was not written by --live-pgn: remove it, or name another file.")


def is_live(game: Game) -> bool:
    """Whether a game is in progress or over; others are no longer observed, or no games."""
    return game.kind is not GameKind.SETUP and (has_ended(game) or game.end is GameEnd.LOG_ENDS)


class LiveGame:
    """A game in progress, or one that is over, at any moment; ``over`` is when it was over, None if it goes on.

    Its lines have the time of their arrival, in milliseconds since 1970; or they were seen ``now``, by any clock, those
    of ``before``, the same game a moment ago, excepted. A ply without a time is shown with the next one that has one.
    """

    def __init__(self, game: Game, now: float | None = None, before: LiveGame | None = None) -> None:
        plies = game.plies
        self.game = game
        self.over: float | None = None
        self._shown: tuple[object, str] = None, ""
        self._began: float | None = game.started_at_ms
        self._times: dict[int, float | None] = {ply.offset: ply.at_ms for ply in plies}
        over: float | None = game.ended_at_ms if game.ended_at_ms is not None or not plies else plies[-1].at_ms
        if now is not None:
            self._began = now if before is None else before._began
            self._times = {ply.offset: now if before is None else before._times.get(ply.offset, now) for ply in plies}
            over = now if before is None or before.over is None else before.over
        if game.end is not GameEnd.LOG_ENDS:
            self.over = over

    def at(self, moment: float) -> Game | None:
        """The game as it was then; None: nothing of it was known."""
        game, plies = self.game, self.game.plies
        times = [self._times[ply.offset] for ply in plies]
        count = max((number for number, at_s in enumerate(times, 1) if at_s is not None and at_s <= moment), default=0)
        if not count and (self._began is None or self._began > moment):
            return None
        if count == len(plies) and (game.end is GameEnd.LOG_ENDS or (self.over is not None and self.over <= moment)):
            return game
        last = plies[count - 1].ply if count else game.start_ply
        segments = [
            segment._replace(to_ply=min(segment.to_ply, last)) for segment in game.segments if segment.from_ply <= last
        ]
        return replace(game, segments=segments, end=GameEnd.LOG_ENDS, result="*", ended_at_ms=None, complete=False)

    def text(self, moment: float) -> str | None:
        """The game of that moment as PGN, rebuilt only if there is another move to show."""
        game = self.at(moment)
        if game is None:
            return None
        state = game.end, game.ply_count
        if self._shown[0] != state:
            if game.end is GameEnd.LOG_ENDS:  # so far
                game = replace(game, end=GameEnd.RESULT, reason=None, reason_key="unknown", termination="")
            self._shown = state, game.to_pgn().replace("\n\n", f"\n{_MARK}\n\n", 1)
        return self._shown[1]


class LiveGames:
    """What the file shows of all logs of one run; ``players``: of whom games are shown, ``*`` is any text."""

    def __init__(
        self,
        path: Path,
        delay_s: float,
        say: Callable[[str], object],
        now: Callable[[], float] = time.monotonic,
        players: Sequence[str] = (),
    ) -> None:
        self._path = path
        self._delay_s = delay_s
        self._say = say
        self._now = now
        self._players = [name.lower() for name in players]
        self._games: dict[tuple[object, int, int | None], LiveGame] = {}
        self._written: bytes | None = None
        self._next_s = 0.0
        self._failed = False

    def outlet(self) -> Outlet:
        return _LiveLog(self)

    def show(self, log: object, game: Game) -> None:
        key = log, game.first_offset, game.game_no
        before = self._games.get(key)
        if not is_live(game) or (before is not None and before.over is not None and not has_ended(game)):
            self._games.pop(key, None)  # it is no longer observed, or the first of a new log
            before = None
        if is_live(game) and self._is_chosen(game):
            self._games[key] = LiveGame(game, self._now(), before)

    def _is_chosen(self, game: Game) -> bool:
        names = [(side.handle or "").lower() for side in (game.white, game.black)]
        return not self._players or any(fnmatchcase(name, player) for name in names for player in self._players)

    def leave(self, log: object) -> None:
        """A log has ended: its games that are not over may go on in another one."""
        for key in [key for key, game in self._games.items() if key[0] is log and game.over is None]:
            del self._games[key]

    def write(self, *, last: bool = False) -> None:
        """Write the file if it has changed, at most twice a second, and the last time of a run."""
        now_s = self._now()
        if now_s < self._next_s and not last:
            return
        self._next_s = now_s + _EVERY_S
        texts, until_s = [], now_s - self._delay_s
        for key, game in list(self._games.items()):
            if game.over is not None and game.over <= until_s - _STAYS_S:
                del self._games[key]
            elif (text := game.text(until_s)) is not None:
                texts.append(text)
        data = "\n".join(texts).encode()
        if data == self._written:
            return
        unfinished = self._path.with_name(f".{self._path.name}.part")
        try:
            unfinished.write_bytes(data)
            unfinished.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            if not self._failed:
                self._say(f"{self._path} cannot be written: {error.strerror}. It is tried again.")
            self._failed = True
        else:
            self._written, self._failed = data, False


class _LiveLog(Outlet):
    def __init__(self, games: LiveGames) -> None:
        self._games = games

    def look(self, games: list[Game]) -> None:
        for game in games:
            self._games.show(self, game)

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        self.look(games)
        self._games.leave(self)
