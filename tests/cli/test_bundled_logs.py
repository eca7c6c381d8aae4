"""What convert and show print of bundled logs: bughouse, a lecture, engines, and one game from two logs."""

import re
from pathlib import Path

from tests.support.cli import Cli

CORPUS = Path(__file__).parents[1] / "corpus"
SERVER = CORPUS / "server"


def test_convert_writes_bughouse_lectures_and_engines(cli: Cli) -> None:
    bpgn = cli("convert", SERVER / "a12_bughouse/observer_GuestBga.raw.gz", "--format", "bpgn").stdout
    assert "1B. e4{" in bpgn
    lecture = cli("convert", SERVER / "a10_examine/observer_GuestExb.raw", "--include", "examined", "--comments").stdout
    assert "(2... b5 {Kramnik kibitz: look at <12> this} 3. g3)" in lecture
    assert "[%eval " in cli("convert", SERVER / "x03_zippy_engines/xboard_sjeng.debug.gz", "--engine").stdout


def test_lichess_style_has_clocks_and_no_elapsed_times(cli: Cli) -> None:
    clocks = cli("convert", CORPUS / "ficsgames/2009-atomic.pgn", "--style", "lichess").stdout
    assert "[%clk 0:" in clocks
    assert "[%emt" not in clocks


def test_show_names_both_logs_of_a_merged_game(cli: Cli) -> None:
    cli("import", *sorted((SERVER / "x03_zippy_engines").glob("xboard_*.debug.gz")))
    shown = cli("show", "last").stdout
    assert re.search(r"^Sources: +xboard_\w+.debug.gz, xboard_\w+.debug.gz$", shown, re.MULTILINE)


def test_show_match_prints_both_boards(cli: Cli) -> None:
    cli("import", SERVER / "a12_bughouse/observer_GuestBga.raw.gz")
    assert cli("show", "last", "--match").stdout.startswith("Board A: ")
