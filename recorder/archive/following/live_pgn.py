"""The games that are being played, as one PGN file for broadcasts: it is rewritten in one step at each move.

Each change of a game is kept as text with the moment at which it was seen, and shown when the delay is over, so that a
reader cannot help a player. A game that is over stays for ten minutes, and one whose observation ends goes at once: it
may go on in the next log. An error here delays neither the archive nor the other outputs.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recorder.archive.following.follower import OVER, Outlet
from recorder.errors import ExportError
from recorder.model import GameKind

if TYPE_CHECKING:
    from recorder.model import Game

_STAYS_S: Final = 600.0
_EVERY_S: Final = 0.5
_MARK: Final = '[RecorderLive "yes"]'
_HEAD_BYTES: Final = 1 << 16


def refuse_live(path: Path) -> None:
    """Make sure that no other file is replaced.

    Raises:
        ExportError: there is a file that is no PGN of running games, or none can be written.
    """
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


def live_text(game: Game) -> str:
    """The PGN of a game that is over or in progress."""
    if game.end == "log-ends":  # so far
        game = replace(game, end="result", reason=None, reason_key="unknown", termination="")
    return game.to_pgn().replace("\n\n", f"\n{_MARK}\n\n", 1)


def until(game: Game, at_ms: int) -> Game | None:
    """A game as it was at a time, by the arrival of its lines; None: nothing of it was known."""
    rows = game.plies
    known = max((place for place, ply in enumerate(rows, 1) if ply.at_ms is not None and ply.at_ms <= at_ms), default=0)
    began = bool(known) or (game.started_at_ms is not None and game.started_at_ms <= at_ms)
    if known == len(rows) and began and (game.end == "log-ends" or over_ms(game, at_ms + 1) <= at_ms):
        return game
    if not began:
        return None
    last = rows[known - 1].ply if known else game.start_ply
    segments = [one._replace(to_ply=min(one.to_ply, last)) for one in game.segments if one.from_ply <= last]
    return replace(game, segments=segments, end="log-ends", result="*", ended_at_ms=None, complete=False)


def over_ms(game: Game, unknown_ms: int) -> int:
    """When a game was over, or its last move came; ``unknown_ms``: no line has a time, or it is in progress."""
    last = game.plies[-1:]
    found = game.ended_at_ms if game.ended_at_ms is not None or not last else last[0].at_ms
    return unknown_ms if found is None or game.end == "log-ends" else found


class LiveGames:
    """What the file shows of all logs of one run.

    ``delay_s``: how long after it was seen a move is shown. ``players``: of whom games are shown, ``*`` is any text;
    none: of all. ``say`` gets one sentence when the file cannot be written.
    """

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
        self._games: dict[tuple[object, int, int | None], deque[tuple[float, str, bool]]] = {}
        self._written: bytes | None = None
        self._next_s = 0.0
        self._failed = False

    def outlet(self) -> Outlet:
        """What shows the games of one log."""
        return _LiveLog(self)

    def show(self, log: object, game: Game) -> None:
        """A game as it stands."""
        if game.kind is GameKind.SETUP or not self._is_chosen(game):
            return
        over = game.end in OVER
        if not over and game.end != "log-ends":  # it is no longer observed
            self._games.pop((log, game.first_offset, game.game_no), None)
            return
        changes = self._games.setdefault((log, game.first_offset, game.game_no), deque())
        text = live_text(game)
        if not changes or changes[-1][1] != text:
            changes.append((self._now(), text, over))

    def _is_chosen(self, game: Game) -> bool:
        names = [(side.handle or "").lower() for side in (game.white, game.black)]
        return not self._players or any(fnmatchcase(name, one) for name in names for one in self._players)

    def leave(self, log: object) -> None:
        """A log has ended: its games that are not over may go on in another one."""
        for place in [place for place, changes in self._games.items() if place[0] is log and not changes[-1][2]]:
            del self._games[place]

    def write(self, *, last: bool = False) -> None:
        """Write the file if it has changed, at most twice a second, and the last time of a run."""
        now_s = self._now()
        if now_s < self._next_s and not last:
            return
        self._next_s = now_s + _EVERY_S
        shown = []
        for place, changes in list(self._games.items()):
            while len(changes) > 1 and changes[1][0] <= now_s - self._delay_s:
                changes.popleft()
            seen_s, text, over = changes[0]
            if over and seen_s <= now_s - self._delay_s - _STAYS_S:
                del self._games[place]
            elif seen_s <= now_s - self._delay_s:
                shown.append(text)
        data = "\n".join(shown).encode()
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

    def take(self, games: list[Game]) -> None:
        """Show games that are over."""
        self.look(games)

    def look(self, games: list[Game]) -> None:
        """Show games in progress."""
        for game in games:
            self._games.show(self, game)

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """Show how the log ends."""
        self.look(games)
        self._games.leave(self)
