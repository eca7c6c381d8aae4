"""UCI engines: Stockfish, and small ones that do what engines should not."""

from pathlib import Path

import pytest

from recorder.analysis.engine import open_engine
from recorder.analysis.plan import Limits, make_plan
from recorder.analysis.process import EngineSpec
from recorder.errors import EngineError
from tests.analysis.test_process import MATE, PATIENT, QUICK, UciTin, look, plies
from tests.support.engines import game_of
from tests.support.programs import program


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
