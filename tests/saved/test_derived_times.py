"""Elapsed times of saved games that tell clocks only."""

import json
from pathlib import Path

import pytest

from recorder import Archive
from recorder.model import Game, Precision, printed_control
from recorder.reading import make_pipeline
from recorder.sources import SourceKind
from tests.support.cli import WATCHER, Cli

LICHESS, CHESS_COM, FICS, UNKNOWN = "https://lichess.org/AbCdEfGh", "Chess.com", "FICS freechess.org", "?"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "a.db")


def read(moves: str, control: str = "180+2", site: str = UNKNOWN, more: str = "") -> Game:
    text = f'[Event "?"]\n[Site "{site}"]\n[White "Ann"]\n[Black "Bob"]\n[Result "*"]\n'
    text += f'[TimeControl "{control}"]\n{more}\n{moves} *\n'
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = pipeline.receive(text.encode()) + pipeline.finish()
    return game


def moves(*clocks: str) -> str:
    words = ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6")
    return " ".join(f"{san} {{[%clk {clock}]}}" for san, clock in zip(words, clocks, strict=False))


@pytest.mark.parametrize(
    ("clocks", "control", "site", "elapsed_ms"),
    [
        (("0:03:00", "0:03:00", "0:02:59", "0:02:50"), "180+2", LICHESS, [0, 0, 3000, 12000]),
        (("0:03:00", "0:03:00", "0:02:59", "0:02:50"), "180+2", FICS, [0, 0, 3000, 12000]),
        (("0:03:00", "0:03:00", "0:02:59", "0:02:50"), "180+2", UNKNOWN, [None, None, 3000, 12000]),
        (("0:03:00", "0:02:58", "0:02:59", "0:02:50"), "180", UNKNOWN, [0, 2000, 1000, 8000]),
        (("0:03:01.9", "0:03:01.1", "0:03:00", "0:03:00.6"), "180+2", CHESS_COM, [100, 900, 3900, 2500]),
        (("0:01:30", "0:03:00", "0:01:28", "0:03:01"), "180+2", LICHESS, [None, 0, 2000, 1000]),
        (("0:03:00", "0:03:00", "0:03:10", "0:02:50"), "180+2", LICHESS, [0, 0, None, 12000]),
        (("0:02:50", "0:02:50", "0:02:40", "0:02:40"), "?", LICHESS, [None, None, None, None]),
        (("0:00:00", "0:00:00", "0:00:00", "0:00:00"), "-", UNKNOWN, [None, None, None, None]),
        (("0:02:50", "0:02:50", "0:02:40.5", "0:02:40"), "180+0", UNKNOWN, [10000, 10000, None, 10000]),
    ],
    ids=["lichess", "fics", "unknown", "no increment", "chess.com", "berserk", "time added", "no control", "untimed",
         "finer than before"],
)  # fmt: skip
def test_think_times_follow_from_two_clocks(
    clocks: tuple[str, ...], control: str, site: str, elapsed_ms: list[int | None]
) -> None:
    plies = read(moves(*clocks), control, site).plies
    assert [ply.elapsed_ms for ply in plies] == elapsed_ms
    assert {ply.elapsed_origin for ply in plies if ply.elapsed_ms is not None} <= {"derived"}
    exact = {Precision.MILLISECONDS, Precision.ELAPSED_DERIVED_MILLISECONDS}
    assert all((ply.elapsed_ms or 0) % 1000 == 0 for ply in plies if ply.precision not in exact)


def test_a_printed_time_is_kept_and_a_gap_gives_no_time() -> None:
    game = read("1. e4 {[%clk 0:02:55][%emt 0:00:04]} e5 {[%clk 0:02:50]} 2. Nf3 Nc6 3. Bb5 {[%clk 0:02:40]}", "180")
    assert [(ply.elapsed_ms, ply.elapsed_origin) for ply in game.plies] == [
        (4_000, "imported"), (10_000, "derived"), (None, None), (None, None), (None, None),
    ]  # fmt: skip
    late = '[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 30"]\n'
    assert [ply.elapsed_ms for ply in read("30. e4 {[%clk 0:02:40]}", "180", more=late).plies] == [None]


@pytest.mark.parametrize("style", ["default", "lichess", "fics"])
def test_no_style_writes_a_derived_time(cli: Cli, tmp_path: Path, style: str) -> None:
    log = tmp_path / "a.pgn"
    log.write_text(f'[White "Ann"]\n[Black "Bob"]\n[TimeControl "180+0"]\n\n{moves("0:02:58", "0:02:50")} *\n')
    assert "%emt" not in cli("convert", log, "--style", style, "-o", "-").stdout


def test_derived_times_are_in_every_table_and_marked(cli: Cli, tmp_path: Path) -> None:
    """Our own lichess style, read again, gives the printed times back to the second."""
    cli("import", WATCHER)
    printed = Archive(cli.archive).plies().dropna(subset=["elapsed_ms"])
    assert set(printed["elapsed_origin"]) == {"printed"}
    saved = tmp_path / "saved.pgn"
    cli("export", "pgn", "--style", "lichess", "-o", saved)
    other = Cli(tmp_path / "other.db")
    other("import", saved)
    plies = Archive(other.archive).plies().dropna(subset=["elapsed_ms"])
    assert len(plies) > 100
    assert set(plies["elapsed_origin"]) == {"derived"}
    exported = [json.loads(line) for line in other("export", "plies", "--format", "jsonl").stdout.splitlines()]
    assert {row["elapsed_origin"] for row in exported if row["elapsed_ms"] is not None} == {"derived"}
    both = printed.merge(plies, on=["server_game_no", "mover", "ply", "san"], suffixes=("", "_derived"))
    assert len(both) > 100
    assert ((both["elapsed_ms"] - both["elapsed_ms_derived"]).abs() <= 1000).mean() > 0.95
    assert other.json("clocks", "--by", "player", "--json")
    assert "elapsed derived" in other("show", exported[0]["key"]).stdout


@pytest.mark.parametrize(
    ("control", "clocks", "elapsed_ms"),
    [
        ("20+0.3", ("0:00:19.800", "0:00:19.500", "0:00:19.600", "0:00:19.100"), [500, 800, 500, 700]),
        ("60.5+0", ("0:01:00.000", "0:01:00.500", "0:00:59.900", "0:01:00.000"), [500, 0, 100, 500]),
        ("20+0.3", ("0:00:20", "0:00:19", "0:00:18", "0:00:18"), [None] * 4),  # whole seconds show no tenths
        ("40/60+0.3", ("0:00:20.000", "0:00:19.000", "0:00:18.000", "0:00:18.000"), [None] * 4),
    ],
)
def test_parts_of_a_second_in_a_time_control(
    control: str, clocks: tuple[str, ...], elapsed_ms: list[int | None]
) -> None:
    """Games have whole seconds; times are derived all the same, and the control is shown as it was printed."""
    moves = " ".join(f"{move} {{[%clk {clock}]}}" for move, clock in zip(("e4", "e5", "d4", "d5"), clocks, strict=True))
    pipeline = make_pipeline(SourceKind.PGN)
    data = f'[White "A"]\n[TimeControl "{control}"]\n\n1. {moves} *\n'.encode()
    (game,) = pipeline.receive(data) + pipeline.finish()
    assert not pipeline.report.warnings
    assert [ply.elapsed_ms for ply in game.plies] == elapsed_ms
    assert (game.base_s, game.increment_s, printed_control(game)) == (None, None, control)
    assert f'[TimeControl "{control}"]' in game.to_pgn()
