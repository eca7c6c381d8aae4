"""Games and engines for tests of analysis: an interface's lines to a scripted engine under a clock the test moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from recorder.model import Game, SourceKind
from recorder.pipeline import make_pipeline
from recorder.replay.analysis.cecp import CecpTalk
from recorder.replay.analysis.found import Found
from recorder.replay.analysis.plan import make_plan
from recorder.replay.analysis.spec import EngineSpec, Limits, Patience

__all__ = ["FEATURES", "SHORT", "THINKS", "Dialogue", "Script", "game_of", "scripted", "without_pings"]

FEATURES = (
    'feature ping=1 setboard=1 usermove=1 sigint=0 analyze=1 variants="normal,crazyhouse,fischerandom" myname="Tin 1" '
    "done=1"
)
SHORT = "1. e4 e5 2. Nf3 *"
THINKS = {"analyze": ["1 20 0 30 best", "2 -15 1 200 3 9000 0\tbest next"]}
Script = Callable[[str], list[str]]


@cache
def game_of(movetext: str, *tags: str) -> Game:
    """A game as a file tells it; ``tags`` are whole lines."""
    result = movetext.split()[-1]
    text = "\n".join(('[White "Morphy"]', '[Black "Duke"]', f'[Result "{result}"]', *tags, "", movetext, ""))
    pipeline = make_pipeline(SourceKind.PGN)
    (found,) = [*pipeline.receive(text.encode()), *pipeline.finish()]
    return found


def scripted(answers: Mapping[str, list[str]] | None = None, features: str = FEATURES) -> Script:
    """An engine that answers a line by the table, by its whole text or its first word; pings it answers itself."""
    table = {"protover": [features] if features else []} | dict(answers or {})

    def answer(line: str) -> list[str]:
        word = line.split(" ")[0]
        if word == "ping" and word not in table:
            return [line.replace("ping", "pong")]
        return table.get(line, table.get(word, []))

    return answer


class Dialogue:
    """A talk and a script. Nothing takes time but waiting: the clock goes on to where the talk is due.

    Attributes:
        said: every line that the engine was told. found: the positions. now_ms: the time; it begins at 0.
    """

    def __init__(
        self,
        script: Script,
        limits: Limits = Limits(time_ms=1000),  # noqa: B008 - a constant
        options: Mapping[str, str | None] | None = None,
    ) -> None:
        self.script = script
        self.said: list[str] = []
        self.found: list[Found] = []
        self.now_ms = 0
        self.interrupts = 0
        self.talk = CecpTalk(EngineSpec("cecp", "/usr/bin/tin --xboard", options or {}), limits, Patience())
        self.talk.begin(0)
        self._run()

    def analyse(self, game: Game, *plies: int) -> list[str]:
        """Tell a game; returns what was said for that. ``plies``: only those positions."""
        told = len(self.said)
        plan = make_plan(game)
        self.talk.analyse(plan.only(set(plies)) if plies else plan, self.now_ms)
        self._run()
        return self.said[told:]

    def _run(self) -> None:
        while True:
            lines = self.talk.take_output()
            self.said += lines
            self.found += self.talk.take_found()
            if self.talk.wants_interrupt:
                self.talk.wants_interrupt = False
                self.interrupts += 1
                lines.append("<interrupt>")
            answers = [answer for line in lines for answer in self.script(line)]
            if answers:
                self.talk.receive("".join(f"{answer}\n" for answer in answers).encode(), self.now_ms)
            elif not lines:
                if not self.talk.is_busy:
                    return
                assert self.talk.due_ms is not None
                self.now_ms = max(self.now_ms, self.talk.due_ms)
                self.talk.tick(self.now_ms)


def without_pings(lines: list[str]) -> list[str]:
    """What was said besides ``ping``."""
    return [line for line in lines if not line.startswith("ping ")]
