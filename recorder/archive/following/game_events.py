"""Events of games for hooks: a start, an end, a long think. They have the facts that ``follow --events`` prints."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from exporters.games_json import game_object
from recorder.archive.following.events import END
from recorder.archive.following.follower import OVER, Outlet
from recorder.model import GameKind
from recorder.model.games import control_text

if TYPE_CHECKING:
    from recorder.model import Game

_START = ("key", "server", "server_game_no", "rated", "variant", "base_s", "increment_s", "started_at")


class _Seen:
    """What was seen of one game. ``since_s``: when it changed last; ``thinks``: the long thinks since then."""

    def __init__(self, since_s: float) -> None:
        self.game: Game | None = None
        self.plies = -1
        self.since_s = since_s
        self.thinks: set[float] = set()
        self.over = False


class GameEvents(Outlet):
    """Gives the events of a log's games to ``fire``; ``log`` is its name, ``thinks_s`` from when on a think is long.

    While it is ``quiet``, games that are over have no events.
    """

    def __init__(
        self,
        fire: Callable[[dict[str, Any]], object],
        log: str,
        thinks_s: Sequence[float],
        now: Callable[[], float] = time.monotonic,
        *,
        quiet: bool = False,
    ) -> None:
        self.quiet = quiet
        self._fire = fire
        self._log = log
        self._thinks_s = thinks_s
        self._now = now
        self._games: dict[tuple[int, int | None], _Seen] = {}

    def take(self, games: list[Game]) -> None:
        """Take games that are over."""
        self.look(games)

    def look(self, games: list[Game]) -> None:
        """Take games in progress."""
        for game in games:
            if game.kind is GameKind.PLAYED:
                self._show(game)

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        """Forget games that are never given again."""
        self._games = {place: seen for place, seen in self._games.items() if place[0] >= read_up_to}

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """The log has ended, and every think with it."""
        self.look(games)
        self._games = {}

    def tick(self) -> None:
        """Find thinks that are long now."""
        now_s = self._now()
        for seen in self._games.values():
            for think_s in self._thinks_s:
                if seen.game is not None and now_s - seen.since_s >= think_s and think_s not in seen.thinks:
                    seen.thinks.add(think_s)
                    self._think(seen.game, think_s)

    def _show(self, game: Game) -> None:
        place = game.first_offset, game.game_no
        seen = self._games.get(place)
        over = game.end in OVER
        if seen is None:
            seen = self._games[place] = _Seen(self._now())
            seen.over = over and self.quiet
            if not seen.over:
                self._event("game-start", game, f"{_pair(game, ratings=True)}, {_what(game)}: the game has begun.", {})
        if over and not seen.over:
            seen.over = True
            found = game_object(game)
            why = f" ({game.reason})" if game.reason else ""
            moves = (game.ply_count + 1) // 2
            text = f"{_pair(game)} {game.result}{why}, {moves} move{'' if moves == 1 else 's'}."
            self._event("game-end", game, text, {"end": game.end} | {name: found[name] for name in END})
        plies = game.ply_count
        if plies != seen.plies:
            seen.plies, seen.since_s, seen.thinks = plies, self._now(), set()
        seen.game = game if game.end == "log-ends" and not over else None

    def _think(self, game: Game, think_s: float) -> None:
        plies = game.plies
        white = (plies[-1].ply if plies else game.start_ply) % 2 == 0
        player = (game.white if white else game.black).handle
        facts = {"player": player, "ply": (plies[-1].ply if plies else game.start_ply) + 1, "think_s": think_s}
        self._event("long-think", game, f"{player} thinks for {think_s:g} s: {_pair(game)}.", facts)

    def _event(self, event: str, game: Game, text: str, facts: dict[str, Any]) -> None:
        found = game_object(game)
        players = {
            "white": game.white.handle,
            "black": game.black.handle,
            "white_rating": game.white.rating,
            "black_rating": game.black.rating,
        }
        once = [self._log, game.first_offset, game.game_no, event, facts.get("ply"), facts.get("think_s")]
        board = [game.server, game.game_no, game.white.handle, game.black.handle]
        self._fire(
            {"event": event, "text": text, **players, **{name: found[name] for name in _START}, **facts}
            | {"plies": game.ply_count, "once": once, "board": board}
        )


def _pair(game: Game, *, ratings: bool = False) -> str:
    sides = (game.white, game.black)
    return " – ".join(f"{one.handle} ({one.rating})" if ratings and one.rating else one.handle for one in sides)


def _what(game: Game) -> str:
    rated = {True: "rated", False: "unrated", None: None}[game.rated]
    return " ".join(word for word in (control_text(game), game.category or game.variant, rated) if word) or "a game"
