"""Games and engines for tests of analysis: an interface's lines to a scripted engine under a clock the test moves."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache

from recorder.analysis.cecp import CecpDriver
from recorder.analysis.plan import Found, Limits, Look, PlayedLine, make_plan
from recorder.analysis.process import EngineProcess, Patience
from recorder.model import Game, SourceKind
from recorder.reading import make_pipeline

FEATURES = (
    'feature ping=1 setboard=1 usermove=1 sigint=0 analyze=1 variants="normal,crazyhouse,fischerandom" myname="Tin 1" '
    "done=1"
)
SHORT = "1. e4 e5 2. Nf3 *"
THINKS = {"analyze": ["1 20 0 30 best", "2 -15 1 200 3 9000 0\tbest next"]}
Script = Callable[[str], list[str]]


@cache
def game_of(movetext: str, *tags: str) -> Game:
    """A game as read from a file; ``tags`` are whole lines."""
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


class ScriptedProcess(EngineProcess):
    """An engine without a process. Nothing takes time but waiting: the clock goes on to where the driver waits.

    Attributes:
        sent: every line that was sent to the engine. clock_ms: the time; it begins at 0.
        chatter: a line that it prints every 50 milliseconds.
    """

    def __init__(self, script: Script) -> None:
        super().__init__("tin", Patience())
        self.script = script
        self.sent: list[str] = []
        self.clock_ms = 0
        self.chatter: str | None = None
        self._answers: deque[str] = deque()

    @property
    def now_ms(self) -> int:
        return self.clock_ms

    def send(self, *lines: str) -> None:
        self.sent += lines
        for line in lines:
            self._answers += self.script(line)

    async def read_line(self, until_ms: int | None = None) -> str | None:
        assert until_ms is not None
        if self._answers:
            return self._answers.popleft()
        if self.chatter is not None and self.clock_ms + 50 <= until_ms:
            self.clock_ms += 50
            return self.chatter
        self.clock_ms = max(self.clock_ms, until_ms)
        return None


class Dialogue:
    """A driver and a scripted engine.

    Attributes:
        found: the positions.
    """

    def __init__(
        self,
        script: Script,
        limits: Limits = Limits(time_ms=1000),  # noqa: B008 - a constant
        options: Mapping[str, str | None] | None = None,
    ) -> None:
        self.process = ScriptedProcess(script)
        self.driver = CecpDriver(self.process, options or {}, limits)
        self.found: list[Found] = []
        asyncio.run(self.driver.begin())

    @property
    def sent(self) -> list[str]:
        return self.process.sent

    @property
    def now_ms(self) -> int:
        return self.process.now_ms

    def analyse(self, game: Game, *plies: int) -> list[str]:
        """Send a game; return the lines sent for that. ``plies``: only those positions."""
        sent_before = len(self.sent)
        asyncio.run(self._analyse(game, plies))
        return self.sent[sent_before:]

    async def _analyse(self, game: Game, plies: tuple[int, ...]) -> None:
        plan = make_plan(game)
        line = PlayedLine()
        await self.driver.begin_game(game)
        for step in (plan.only(set(plies)) if plies else plan).steps:
            if isinstance(step, Look):
                self.found.append(await self.driver.look(step, line))
            else:
                line.follow(step)
                await self.driver.send(step)
        await self.driver.end_game(game)


def without_pings(lines: list[str]) -> list[str]:
    """What was sent besides ``ping``."""
    return [line for line in lines if not line.startswith("ping ")]
