"""Events of games for hooks: a start, an end, a long think. They have the facts that ``follow --events`` prints."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from exporters.games_json import game_object
from recorder.archive.following.events import GameChanges
from recorder.archive.following.follower import has_ended
from recorder.model import GameEnd, GameKind
from recorder.model.games import control_text, rated_word
from recorder.text import plural

if TYPE_CHECKING:
    from recorder.model import Game

_OTHERS_EXAMINE = -2
_START = ("key", "server", "server_game_no", "rated", "variant", "base_s", "increment_s", "started_at")


class GameEvents(GameChanges):
    """Gives events to ``fire``; ``thinks_s``: long thinks; while ``quiet``, games that are over have none."""

    def __init__(
        self,
        fire: Callable[[dict[str, Any]], object],
        log: str,
        thinks_s: Sequence[float],
        now: Callable[[], float] = time.monotonic,
        *,
        quiet: bool = False,
    ) -> None:
        super().__init__()
        self.quiet = quiet
        self._fire = fire
        self._log = log
        self._thinks_s = thinks_s
        self._now = now
        self._thinking: dict[str, tuple[Game, float, set[float]]] = {}  # since when, and the long thinks since then

    def concerns(self, game: Game) -> bool:
        relayed = any(observation.relation == _OTHERS_EXAMINE for observation in game.observations)
        return super().concerns(game) or (game.kind is GameKind.EXAMINED and relayed)

    def report(self, event: str, key: str, game: Game, facts: dict[str, Any]) -> None:
        over = has_ended(game)
        if event == "game_started" and not (over and self.quiet):
            self._event("game-start", game, f"{_pair(game, ratings=True)}, {_what(game)}: the game has begun.", {})
        elif event == "game_ended" and over and not self.quiet:
            why = f" ({game.reason})" if game.reason else ""
            text = f"{_pair(game)} {game.result}{why}, {plural((game.ply_count + 1) // 2, 'move')}."
            self._event("game-end", game, text, facts)
        think = self._thinking.get(key)
        if game.end is not GameEnd.LOG_ENDS:
            self._thinking.pop(key, None)
        elif think is None or think[0].ply_count != game.ply_count:
            self._thinking[key] = game, self._now(), set()

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        super().end(where, source, games, final)
        self._thinking = {}

    def tick(self) -> None:
        now_s = self._now()
        for game, since_s, thinks in self._thinking.values():
            for think_s in self._thinks_s:
                if now_s - since_s >= think_s and think_s not in thinks:
                    thinks.add(think_s)
                    self._think(game, think_s)

    def _think(self, game: Game, think_s: float) -> None:
        plies = game.plies
        white = (plies[-1].ply if plies else game.start_ply) % 2 == 0
        player = (game.white if white else game.black).handle
        facts = {"player": player, "ply": (plies[-1].ply if plies else game.start_ply) + 1, "think_s": think_s}
        self._event("long-think", game, f"{player} thinks for {think_s:g} s: {_pair(game)}.", facts)

    def _event(self, event: str, game: Game, text: str, facts: dict[str, Any]) -> None:
        described = game_object(game)
        players = {
            "white": game.white.handle,
            "black": game.black.handle,
            "white_rating": game.white.rating,
            "black_rating": game.black.rating,
        }
        once = [self._log, game.first_offset, game.game_no, event, facts.get("ply"), facts.get("think_s")]
        board = [game.server, game.game_no, game.white.handle, game.black.handle]
        self._fire(
            {"event": event, "text": text, **players, **{name: described[name] for name in _START}, **facts}
            | {"plies": game.ply_count, "once": once, "board": board}
        )


def _pair(game: Game, *, ratings: bool = False) -> str:
    sides = (game.white, game.black)
    return " – ".join(f"{side.handle} ({side.rating})" if ratings and side.rating else side.handle for side in sides)


def _what(game: Game) -> str:
    words = (control_text(game), game.category or game.variant, rated_word(game))
    return " ".join(filter(None, words)) or "a game"
