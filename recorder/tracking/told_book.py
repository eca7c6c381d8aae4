"""The games that one connection's datagrams tell of, by number, and what is followed of them on the boards."""

from __future__ import annotations

from recorder.events import Line
from recorder.model import Anomaly, AnomalyKind
from recorder.tracking.boards import Boards
from recorder.tracking.position import Position, Rules, start_position
from recorder.tracking.run import Run
from recorder.tracking.told_boards import DatagramBoard
from recorder.tracking.told_games import ToldGame
from recorder.tracking.variants import STANDARD_BOARD, variant_of

__all__ = ["ToldBook", "by_frames", "hands_of", "place_of", "printed", "standard_start"]

_GAMES_KEPT = 512


class ToldBook:
    """What the readers of datagrams share.

    Args:
        boards: holds the games that are followed.
    Attributes:
        games: by the server's number, in the order in which they were first told of.
    """

    def __init__(self, boards: Boards) -> None:
        self.boards = boards
        self.games: dict[int, ToldGame] = {}

    def game(self, number: int, begin: int) -> ToldGame:
        """The game of a number; a new one, told of from the offset ``begin`` on, if there is none."""
        game = self.games.get(number)
        if game is None:
            game = self.games[number] = ToldGame(None, begin)
            self.bound()
        return game

    def bound(self) -> None:
        """Forget a game if there are too many."""
        if len(self.games) > _GAMES_KEPT:  # everybody's games may be told of: ours stay longest
            oldest = next(iter(self.games))
            del self.games[next((number for number, game in self.games.items() if not game.ours), oldest)]

    def run(self, number: int) -> Run | None:
        """The game of this number that is followed, played or examined."""
        run = self.boards.runs.get(str(number))
        if run is not None and run.following:
            return run
        return self.boards.examined.get(str(number))

    @staticmethod
    def rules(game: ToldGame) -> Rules:
        """The rules that the kind of a game, and what the server tells of it, ask for."""
        told = game.told
        if told is None:
            return Rules.CHESS
        _, rules = variant_of(f"wild({told.wild})" if told.wild else told.rating_type)
        # The server tells itself whether moves or boards are other than in chess.
        if told.wild and rules is Rules.BOARDS and told.irregular_legality is False and not told.irregular_semantics:
            return Rules.CHESS
        return rules or Rules.CHESS

    def complain(self, line: Line, number: int | None, kind: AnomalyKind, message: str) -> None:
        """Note what is wrong with a line of a game."""
        self.boards.anomalies.append(Anomaly.of(kind, line.offset, number, message, line.text))


def by_frames(run: Run | None) -> bool:
    """Whether frames tell this game, so that datagrams only make it more exact."""
    return run is not None and run.last is not None and not isinstance(run.last, DatagramBoard)


def standard_start(rules: Rules) -> Position:
    """The normal start position, with empty hands where the rules have hands."""
    return start_position(STANDARD_BOARD, True, 15, -1, rules, hands_of(rules))


def hands_of(rules: Rules) -> tuple[str, str] | None:
    """Both hands as they are at the start of a game; None: the rules have none."""
    return ("", "") if rules is Rules.CRAZYHOUSE else None


def place_of(line: Line) -> tuple[int, int | None]:
    """A line's offset, and when it arrived."""
    return line.offset, line.at_ms


def printed(line: Line) -> str:
    """A datagram's text without the marks around it."""
    return line.text[2:].removesuffix("\x19)").replace("\x19", "")
