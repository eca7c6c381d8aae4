"""UCI engines: Stockfish, and small ones that do what engines should not."""

from __future__ import annotations

import logging
import shlex
import sys
from pathlib import Path

import pytest

from recorder.analysis.engine import open_engine
from recorder.analysis.plan import Limits, make_plan
from recorder.analysis.process import EngineSpec
from recorder.errors import EngineError
from tests.analysis.test_process import (
    BAD,
    INTERRUPTS,
    KILLS,
    MATE,
    PATIENT,
    QUICK,
    SILENT,
    Tin,
    assert_ends_after,
    look,
    plies,
    run_once,
    stop_at_ply,
)
from tests.support.engines import game_of
from tests.support.programs import program

#: As ``tests.analysis.test_process.TIN``, in the other protocol.
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
    """An engine written to a file."""

    def __init__(self, folder: Path, *, begin: str = "", search: str = "", leave: str = "") -> None:
        super().__init__(folder)
        path = folder / "uci.py"
        path.write_text(UCI.format(pids=str(folder / "pids"), begin=begin, search=search, leave=leave))
        self.spec = EngineSpec("uci", shlex.join((sys.executable, "-S", str(path))))


def stockfish(**options: str) -> EngineSpec:
    return EngineSpec("uci", program("stockfish"), options)


@pytest.mark.needs("stockfish")
def test_stockfish_analyses_every_position_of_two_games() -> None:
    with open_engine(stockfish(Hash="8", Threads="1"), Limits(depth=5)) as engine:
        assert engine.name.startswith("Stockfish")
        for _ in range(2):
            found = look(engine, game_of(MATE))
            assert plies(found) == [0, 1, 2, 3, 4, 5, 6]
            for one in found:
                assert max(line.depth or 0 for line in one.lines) == 5
                assert one.notes == ()
                assert [line.seq for line in one.lines] == list(range(len(one.lines)))
                assert all(line.white == (one.look.ply % 2 == 0) for line in one.lines)
            last = found[-1].lines[-1]
            assert (last.mate, last.score_cp, last.pv) == (1, None, "h5f7")


@pytest.mark.needs("stockfish")
@pytest.mark.parametrize("limits", [Limits(time_ms=30), Limits(nodes=500)])
def test_stockfish_keeps_to_a_time_and_to_nodes(limits: Limits) -> None:
    with open_engine(stockfish(), limits) as engine:
        found = look(engine, game_of("1. e4 *"))
    assert all(one.lines for one in found)
    if limits.nodes is not None:
        assert all((line.nodes or 0) < 10 * limits.nodes for one in found for line in one.lines)


@pytest.mark.needs("stockfish")
def test_stockfish_castles_in_chess960() -> None:
    tags = ('[Variant "Fischerandom"]', '[FEN "bqnrkbnr/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBNR w HDhd - 0 1"]')
    with open_engine(stockfish(), Limits(depth=3)) as engine:
        found = look(engine, game_of("1. Nd3 d6 2. c3 c6 3. Qc2 Qc7 4. O-O-O *", *tags))
    assert [bool(one.lines) for one in found] == [True] * 8
    assert {note for one in found for note in one.notes} == set()


@pytest.mark.needs("stockfish")
def test_a_variant_that_the_engine_does_not_play_is_reported() -> None:
    with open_engine(stockfish(), Limits(depth=1)) as engine:
        with pytest.raises(
            EngineError, match=r"^The engine Stockfish .* does not play atomic; it plays chess, chess960\.$"
        ):
            look(engine, game_of("1. e4 *", '[Variant "atomic"]'))
        assert len(look(engine, game_of("1. e4 *"))) == 2


def test_variants_that_it_does_not_play_take_no_new_process(tmp_path: Path) -> None:
    tin = UciTin(tmp_path)
    with open_engine(tin.spec, Limits(time_ms=20), PATIENT) as engine:
        for _ in range(2):
            with pytest.raises(EngineError, match=r"does not play bughouse; it plays chess\.$"):
                look(engine, game_of("1. e4 *", '[Variant "bughouse"]'))
        assert len(look(engine, game_of(MATE))) == 7
    assert len(tin.pids) == 1


@pytest.mark.needs("stockfish")
def test_a_position_that_no_game_has_is_not_asked_about() -> None:
    tags = ('[FEN "8/8/8/3QQQQQ/QQQQQQ2/4k3/8/3K4 w - - 0 1"]', '[SetUp "1"]')
    with open_engine(stockfish(), Limits(depth=1)) as engine:
        (found, *_) = look(engine, game_of("*", *tags))
    assert found.lines == ()
    assert found.notes == ("was not asked about this position: no game can reach it",)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"Ponderosa": "1"}, r"^The engine Tin has no option 'Ponderosa'; it has Hash\.$"),
        ({"Hash": "10"}, r"^The engine Tin does not take option Hash: .*to be at most 9, got: 10\.$"),
    ],
)
def test_options_that_it_does_not_take_are_refused(options: dict[str, str], problem: str, tmp_path: Path) -> None:
    tin = UciTin(tmp_path)
    spec = EngineSpec("uci", tin.spec.command, options)
    with pytest.raises(EngineError, match=problem), open_engine(spec, Limits(depth=1), QUICK):
        pass
    assert tin.left == []


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


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in SILENT)) for name in UCI_BAD])
def test_one_that_misbehaves_is_named_and_nothing_is_left(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    does, problem = UCI_BAD[name]
    tin = UciTin(tmp_path, **does)
    with pytest.raises(EngineError) as error:
        run_once(tin, QUICK if name in SILENT else PATIENT)
    assert str(error.value).startswith("The engine ")
    assert problem in str(error.value)
    assert tin.left == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_moves_that_are_not_legal_are_kept_as_text_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    says = "say('info depth 2 score cp 9 lowerbound pv e2e5 e7e5'); say('info depth 3 score mate -2 pv e2e4')"
    tin = UciTin(tmp_path, search=says)
    with open_engine(tin.spec, Limits(time_ms=20), PATIENT) as engine:
        (found, *_) = engine.analyse(make_plan(game_of(MATE)).only({0}))
    first, second, third = found.lines
    assert (first.pv, first.time_ms, first.nodes, first.score_cp) == ("", 4, 30, 20)
    assert (second.pv, second.score_cp) == ("e2e5 e7e5 !", 9)
    assert (third.pv, third.mate, third.score_cp) == ("e2e4", -2, None)
    assert found.notes == ("sent 1 line whose moves are not legal",)
    assert caplog.records == []


@pytest.mark.parametrize("leave", ["time.sleep(60)", "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"])
def test_one_that_does_not_leave_is_ended(leave: str, tmp_path: Path) -> None:
    tin = UciTin(tmp_path, leave=leave)
    run_once(tin, PATIENT)
    assert tin.left == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_a_stop_in_the_middle_leaves_no_process(stop: type[BaseException], tmp_path: Path) -> None:
    tin = UciTin(tmp_path)
    with pytest.raises(stop):
        stop_at_ply(tin, 2, stop)
    assert tin.left == []


def test_an_interrupt_while_it_searches_leaves_no_process(tmp_path: Path) -> None:
    tin = UciTin(tmp_path, search=INTERRUPTS)
    with pytest.raises(KeyboardInterrupt):
        run_once(tin, PATIENT)
    assert tin.left == []


def test_it_does_not_outlive_a_program_that_is_killed(tmp_path: Path) -> None:
    assert_ends_after(UciTin(tmp_path, search=KILLS), "--uci", tmp_path)


def test_after_a_crash_the_next_game_has_a_new_process(tmp_path: Path) -> None:
    once = str(tmp_path / "once")
    tin = UciTin(tmp_path, search=f"os.path.exists({once!r}) or (open({once!r}, 'w'), os._exit(1))")
    with open_engine(tin.spec, Limits(time_ms=20), PATIENT) as engine:
        with pytest.raises(EngineError, match="exit status 1"):
            look(engine, game_of(MATE))
        assert len(look(engine, game_of(MATE))) == 7
    assert len(tin.pids) == 2
    assert tin.left == []


def test_a_command_that_cannot_be_started_is_reported() -> None:
    spec = EngineSpec("uci", "no-such-engine-here")
    with pytest.raises(EngineError) as error, open_engine(spec, Limits(time_ms=1)):
        pass
    assert str(error.value) == "The engine no-such-engine-here cannot be started: No such file or directory."
