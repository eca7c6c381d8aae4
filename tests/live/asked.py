"""An ``Observing`` that returns its decision about a game, and the reason, in one sentence."""

from recorder.live.policy.candidates import CandidateState, Fate, Why
from recorder.live.policy.observing import Observing

_SENTENCES = {
    Fate.OBSERVED: "{name} is observed: {reason}.",
    Fate.ASKED: "{name} was asked for and the server has not answered yet: {reason}.",
    Fate.LEAVING: "{name} is being left, its place goes to a waiting game.",
    Fate.REFUSED: "{name} is not observed: {reason}.",
    Fate.UNWANTED: "{name} is not observed: {reason}.",
    Fate.UNCONFIRMED: "{name} waits until a line shows that it is still being played: {reason}.",
    Fate.WAITING: "{name} waits with {ahead} before it for one of the {places}: {reason}.",
}


class AskedObserving(Observing):
    """The same decisions, with a window."""

    @property
    def watched(self) -> tuple[int, ...]:
        """Return the numbers of the games that the server says we observe, in order."""
        return tuple(sorted(number for number, game in self._games.items() if game.state is CandidateState.WATCHED))

    def why(self, number: int) -> str:
        """Return why a game is or is not observed."""
        game = self._games.get(number)
        if game is None:
            return f"Game {number} is not known: no line since the last table of games contained it."
        why: Why = self.status(game)
        queue = self._queue()
        limit = self.places.limit
        places = "places" if limit is None else "place" if limit == 1 else f"{limit} places"
        ahead = queue.index(game) if why.fate is Fate.WAITING else None
        return _SENTENCES[why.fate].format(name=f"Game {number}", reason=why.reason, ahead=ahead, places=places)
