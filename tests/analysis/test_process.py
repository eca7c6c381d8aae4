"""Processes of engines: real ones of Debian, and small ones that do what engines should not."""

import asyncio
import logging
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from recorder.analysis.engine import Engine, open_engine
from recorder.analysis.plan import Found, Limits, make_plan
from recorder.analysis.process import EngineProcess, EngineSpec, Patience
from recorder.errors import EngineError
from recorder.model import Game
from tests.support.engines import game_of
from tests.support.programs import program

MATE = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0"
HOUSE = "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qd8 4. P@d5 P@c4 *"
PATIENT = Patience(features_ms=60_000, done_ms=60_000, answer_ms=60_000, quiet_ms=50, quit_ms=300)
QUICK = Patience(features_ms=2_000, done_ms=1_000, answer_ms=2_000, quiet_ms=50, quit_ms=300)  # with silent engines

#: Engines of the protocol; what they do wrong is put in for a line.
TIN = """\
import os, signal, sys, time
def say(text):
    sys.stdout.write(text + chr(10)); sys.stdout.flush()
open({pids!r}, "a").write(f"{{os.getpid()}}\\n")
begin = {begin!r}; search = {search!r}; leave = {leave!r}
exec(begin)
for line in sys.stdin:
    words = line.split()
    if words[0] == "protover":
        say('feature ping=1 setboard=1 usermove=1 sigint=0 reuse={reuse} variants="normal" myname="Tin" done=1')
    elif words[0] == "ping":
        say(f"pong {{words[1]}}")
    elif words[0] == "analyze":
        say("1 20 0 30 (a line)")
        exec(search)
    elif words[0] == "quit":
        exec(leave)
        break
"""


class Tin:
    """An engine written to a file; ``pids`` of all that were started."""

    def __init__(self, folder: Path, *, begin: str = "", search: str = "", leave: str = "", reuse: int = 1) -> None:
        self._pids = folder / "pids"
        path = folder / "tin.py"
        path.write_text(TIN.format(pids=str(self._pids), begin=begin, search=search, leave=leave, reuse=reuse))
        self.spec = EngineSpec("cecp", shlex.join((sys.executable, "-S", str(path))))

    @property
    def pids(self) -> list[int]:
        return [int(line) for line in self._pids.read_text().split()]

    @property
    def left(self) -> list[int]:
        """Those that are still there, zombies too."""
        return [pid for pid in self.pids if exists(pid)]


#: The same in the other protocol.
UCI = """\
import os, signal, sys, time
def say(text):
    sys.stdout.write(text + chr(10)); sys.stdout.flush()
open({pids!r}, "a").write(f"{{os.getpid()}}\\n")
begin = {begin!r}; search = {search!r}; leave = {leave!r}
exec(begin)
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        say("id name Tin"); say("option name Hash type spin default 1 min 1 max 9"); say("uciok")
    elif words[0] == "isready":
        say("readyok")
    elif words[0] == "go":
        say("info depth 1 score cp 20 nodes 30 time 4")
        exec(search)
        say("bestmove 0000" if not search else "bestmove (none)")
    elif words[0] == "quit":
        exec(leave)
        break
"""


class UciTin(Tin):
    """The same with the other protocol."""

    def __init__(self, folder: Path, *, begin: str = "", search: str = "", leave: str = "") -> None:
        super().__init__(folder)
        path = folder / "uci.py"
        path.write_text(UCI.format(pids=str(folder / "pids"), begin=begin, search=search, leave=leave))
        self.spec = EngineSpec("uci", shlex.join((sys.executable, "-S", str(path))))


BOTH = pytest.mark.parametrize("make", [Tin, UciTin])


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def look(engine: Engine, game: Game) -> list[Found]:
    return list(engine.analyse(make_plan(game)))


def plies(found: list[Found]) -> list[int]:
    return [one.look.ply for one in found]


# -- real ones ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "name", "movetext", "tags"),
    [
        pytest.param("fairymax", "Fairy-Max", MATE, (), marks=pytest.mark.needs("fairymax")),
        pytest.param("sjeng", "Sjeng 11.2", MATE, (), marks=pytest.mark.needs("sjeng")),
        pytest.param("sjeng", "Sjeng 11.2", HOUSE, ('[Variant "crazyhouse"]',), marks=pytest.mark.needs("sjeng")),
        pytest.param("gnuchess --xboard", "GNU Chess", MATE, (), marks=pytest.mark.needs("gnuchess")),
    ],
    ids=["fairymax", "sjeng", "sjeng-crazyhouse", "gnuchess"],
)
def test_real_engines_analyse_every_position_of_two_games(
    command: str, name: str, movetext: str, tags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # they write files there
    monkeypatch.chdir(tmp_path)
    engine_name, _, rest = command.partition(" ")
    game = game_of(movetext, *tags)
    with ExitStack() as stack:
        for _ in range(5):  # GNU Chess hangs at its own start now and then, on a busy machine three times in a row
            engine = stack.enter_context(
                open_engine(EngineSpec("cecp", f"{program(engine_name)} {rest}"), Limits(depth=3))
            )
            if engine.name.startswith(name):
                break
            stack.pop_all().close()
        assert engine.name.startswith(name)
        for _ in range(2):
            found = look(engine, game)
            assert plies(found) == [one.ply for one in make_plan(game).looks]
            for one in found:
                assert one.lines, one
                assert one.lines[-1].white == (one.look.ply % 2 == 0)
                for line in one.lines:  # behind a bound Sjeng prints the edge of its window, which is no distance
                    assert line.score_cp is not None or line.mate is not None or line.pv.endswith("?"), line
            if movetext == MATE:  # the last look is one move before it
                last = found[-1].lines[-1]
                assert (last.mate, last.score_cp) == (1, None)
                assert last.pv.split()[0] in ("Qxf7#", "h5f7")


# -- small ones --------------------------------------------------------------------------------------------------------


def test_one_that_does_what_it_should_is_left_in_peace(tmp_path: Path) -> None:
    tin = Tin(tmp_path)
    with open_engine(tin.spec, Limits(time_ms=20)) as engine:
        for _ in range(2):
            assert plies(look(engine, game_of(MATE))) == [0, 1, 2, 3, 4, 5, 6]
        assert len(tin.pids) == 1
    assert tin.left == []


def test_one_that_plays_a_single_game_is_started_for_each(tmp_path: Path) -> None:
    tin = Tin(tmp_path, reuse=0)
    with open_engine(tin.spec, Limits(time_ms=20)) as engine:
        for _ in range(2):
            assert len(look(engine, game_of(MATE))) == 7
    assert len(set(tin.pids)) == 2
    assert tin.left == []


BAD = {
    "hangs-at-once": ({"begin": "time.sleep(60)"}, "answers nothing that a CECP engine would"),
    "never-tells-all": ({"begin": "say('feature done=0'); time.sleep(60)"}, "did not end for 1 s"),
    "is-none": ({"begin": "while True: say('y')"}, "answers nothing that a CECP engine would"),
    "hangs": ({"search": "time.sleep(60)"}, "has not answered 'ping 3' for 2 s"),
    "crashes": ({"search": "sys.exit('no luck')"}, "ended by itself (exit status 1): 'no luck'"),
    "is-killed": ({"search": "os.kill(os.getpid(), signal.SIGSEGV)"}, "was ended by SIGSEGV"),
    "is-killed-by-a-number": ({"search": "os.kill(os.getpid(), 40)"}, "was ended by signal 40"),
    "crashes-at-once": ({"begin": "sys.exit(1)"}, "ended by itself (exit status 1)"),
    "floods": ({"search": "\nwhile True: say('x' * 1000)"}, "prints too much"),
    "floods-in-one-line": ({"search": "\nwhile True: print('x' * 1000, end='')"}, "prints too much"),
    "closes-its-output": ({"search": "os.close(1); time.sleep(60)"}, "closed its output"),
}  # fmt: skip


UCI_BAD = {
    "hangs-at-once": ({"begin": "time.sleep(60)"}, "for 2 s; one of xboard's protocol is named with --engine."),
    "hangs": ({"search": "time.sleep(60)"}, "has not ended its search for 2.02 s"),
    "crashes": BAD["crashes"],
    "is-killed": BAD["is-killed"],
    "is-killed-by-a-number": BAD["is-killed-by-a-number"],
    "crashes-at-once": BAD["crashes-at-once"],
    "floods": BAD["floods"],
    "floods-in-one-line": BAD["floods-in-one-line"],
    "makes-an-illegal-move": ({"search": "say('bestmove e2e5')"}, "breaks its protocol: "),
}


SILENT = {"hangs-at-once", "never-tells-all", "hangs", "is-none"}


@pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(make, name, marks=[pytest.mark.long] * (name in SILENT))
        for make, bad in ((Tin, BAD), (UciTin, UCI_BAD))
        for name in bad
    ],
)
def test_one_that_misbehaves_is_named_and_nothing_is_left(
    make: type[Tin], name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    does, problem = (BAD if make is Tin else UCI_BAD)[name]
    tin = make(tmp_path, **does)
    with pytest.raises(EngineError) as error:
        run_once(tin, QUICK if name in SILENT else PATIENT)
    assert str(error.value).startswith("The engine ")
    assert problem in str(error.value)
    assert tin.left == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def run_once(tin: Tin, patience: Patience) -> None:
    with open_engine(tin.spec, Limits(time_ms=20), patience) as engine:
        look(engine, game_of(MATE))


@BOTH
def test_after_a_crash_the_next_game_has_a_new_process(make: type[Tin], tmp_path: Path) -> None:
    tin = make(
        tmp_path,
        search=f"os.path.exists({str(tmp_path / 'once')!r}) or (open({str(tmp_path / 'once')!r}, 'w'), os._exit(1))",
    )
    with open_engine(tin.spec, Limits(time_ms=20), PATIENT) as engine:
        with pytest.raises(EngineError, match="exit status 1"):
            look(engine, game_of(MATE))
        assert len(look(engine, game_of(MATE))) == 7
    assert len(tin.pids) == 2
    assert tin.left == []


@BOTH
@pytest.mark.parametrize("leave", ["time.sleep(60)", "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"])
def test_one_that_does_not_leave_is_ended(leave: str, make: type[Tin], tmp_path: Path) -> None:
    tin = make(tmp_path, leave=leave)
    with open_engine(tin.spec, Limits(time_ms=20), PATIENT) as engine:
        look(engine, game_of(MATE))
    assert tin.left == []


FORKS = """
if os.fork() == 0:
    open({pids!r}, "a").write(f"{{os.getpid()}}\\n")
    time.sleep(60)
"""


def test_what_it_started_itself_ends_with_it(tmp_path: Path) -> None:
    tin = Tin(tmp_path, begin=FORKS.format(pids=str(tmp_path / "pids")))
    with open_engine(tin.spec, Limits(time_ms=20), PATIENT) as engine:
        look(engine, game_of(MATE))
    assert len(tin.pids) == 2
    deadline = time.monotonic() + 120
    while any(map(is_running, tin.pids)):  # the signal has been sent, but takes its time
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """A zombie that its new parent has not buried does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


KILLS = "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)"


@BOTH
def test_it_does_not_outlive_a_program_that_is_killed(make: type[Tin], tmp_path: Path) -> None:
    """It kills the program that started it, and continues its search."""
    assert_ends_after(make(tmp_path, search=KILLS), tmp_path)


def assert_ends_after(tin: Tin, folder: Path) -> None:
    game, option = folder / "game.pgn", "--uci" if isinstance(tin, UciTin) else "--engine"
    game.write_text(f"{MATE}\n")
    command = (sys.executable, "-m", "recorder", "replay", "engine", str(game), option, tin.spec.command)
    assert subprocess.run(command, check=False, capture_output=True, timeout=120).returncode == -signal.SIGKILL
    assert len(tin.pids) == 1
    deadline = time.monotonic() + 120
    while any(map(is_running, tin.pids)):  # the shell that waits for our end takes its time
        assert time.monotonic() < deadline
        time.sleep(0.01)


@BOTH
@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_a_stop_in_the_middle_leaves_no_process(stop: type[BaseException], make: type[Tin], tmp_path: Path) -> None:
    tin = make(tmp_path)
    with pytest.raises(stop):
        stop_at_ply(tin, 2, stop)
    assert tin.left == []


def stop_at_ply(tin: Tin, ply: int, stop: type[BaseException]) -> None:
    with open_engine(tin.spec, Limits(time_ms=20), PATIENT) as engine:
        for found in engine.analyse(make_plan(game_of(MATE))):
            if found.look.ply == ply:
                raise stop


INTERRUPTS = "os.kill(os.getppid(), signal.SIGINT); time.sleep(60)"


@BOTH
def test_an_interrupt_while_it_searches_leaves_no_process(make: type[Tin], tmp_path: Path) -> None:
    tin = make(tmp_path, search=INTERRUPTS)
    with pytest.raises(KeyboardInterrupt):
        run_once(tin, PATIENT)
    assert tin.left == []


def test_an_engine_that_prints_nothing_is_restarted(tmp_path: Path) -> None:
    once = str(tmp_path / "once")
    tin = Tin(tmp_path, begin=f"os.path.exists({once!r}) or (open({once!r}, 'w'), time.sleep(600))")
    patience = QUICK  # the second start is not to be taken for silent
    with open_engine(tin.spec, Limits(time_ms=20), patience) as engine:
        assert engine.name == "Tin"
        assert len(look(engine, game_of(MATE))) == 7
    assert len(tin.pids) == 2
    assert tin.left == []


def test_an_engine_that_does_not_read_is_reported() -> None:
    async def fill() -> None:
        command = shlex.join((sys.executable, "-S", "-c", "import time; time.sleep(60)"))
        process = await EngineProcess.start(command, PATIENT)
        try:
            process.send("x" * (2 << 20))
        finally:
            await process.stop(50)

    with pytest.raises(EngineError, match="does not read"):
        asyncio.run(fill())


def test_a_line_that_comes_in_parts_is_waited_for() -> None:
    async def read_line() -> list[str | None]:
        says = "import sys, time; sys.stdout.write('1 20 '); sys.stdout.flush(); time.sleep(0.3); print('0 30 e4')"
        process = await EngineProcess.start(shlex.join((sys.executable, "-S", "-c", f"{says}; input()")), PATIENT)
        try:
            return [await process.read_line(process.now_ms + wait_ms) for wait_ms in (30_000, 50)]
        finally:
            await process.stop(50)

    assert asyncio.run(read_line()) == ["1 20 0 30 e4", None]


@pytest.mark.parametrize("begin", ["time.sleep(0.2)", ""])
def test_errors_without_end_do_not_keep_it_waiting(begin: str, tmp_path: Path) -> None:
    """They are more than a pipe holds, and come before the first line of its output."""
    tin = Tin(tmp_path, begin=f"sys.stderr.write('x' * (1 << 20)); {begin}")
    with open_engine(tin.spec, Limits(time_ms=20), PATIENT) as engine:
        assert len(look(engine, game_of(MATE))) == 7


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("no-such-engine-here", "The engine no-such-engine-here cannot be started: No such file or directory."),
        ("", "The engine's command is empty."),
        ("'half", "The engine's command \"'half\" cannot be read: No closing quotation."),
    ],
)
def test_a_command_that_cannot_be_started_is_reported(command: str, problem: str) -> None:
    with pytest.raises(EngineError) as error, open_engine(EngineSpec("cecp", command), Limits(time_ms=1)):
        pass
    assert str(error.value) == problem


def test_no_shell_sees_the_command(tmp_path: Path) -> None:
    tin = Tin(tmp_path)
    spec = EngineSpec("cecp", f"{tin.spec.command} ';' touch {shlex.quote(str(tmp_path / 'made'))}")
    with open_engine(spec, Limits(time_ms=20), PATIENT) as engine:
        assert engine.name == "Tin"
    assert not (tmp_path / "made").exists()


def test_a_name_that_comes_late_is_the_engine_s(tmp_path: Path) -> None:
    """It comes while the first position is analysed, as of GNU Chess on a busy machine."""
    tin = Tin(tmp_path, begin="say('#'); time.sleep(1)")
    with open_engine(tin.spec, Limits(time_ms=1_500), PATIENT._replace(features_ms=200)) as engine:
        assert engine.name != "Tin"
        list(engine.analyse(make_plan(game_of(MATE)).only({0})))
    assert engine.name == "Tin"
