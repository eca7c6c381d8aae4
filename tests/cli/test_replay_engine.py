"""``replay engine``: analyses are stored game by game, even if a run fails or is interrupted."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recorder.analysis.plan import make_plan
from recorder.errors import ExitCode
from recorder.model.boards import boards_by_ply, shown_board
from recorder.reading import read_games
from storage import ArchiveStore
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli
from tests.support.effort import long_after

TIN = """\
import os, signal, sys
looks = 0
for line in sys.stdin:
    word, *rest = line.split()
    if word == "protover":
        print('feature ping=1 setboard=1 usermove=1 sigint=0 variants="normal" myname="Tin 1" done=1', flush=True)
    elif word == "ping":
        print("pong", *rest, flush=True)
    elif word == "analyze":
        looks += 1
        if looks == {fatal}:
            {ending}
        print(f"1 {{10 * looks}} 0 30 (thinking)", f"2 0 0 60 (too deep)", sep=chr(10), flush=True)
    elif word == "quit":
        break
"""
MATE = """\
[White "Morphy"]
[Black "Duke"]
[Result "1-0"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 {one move} 3... Nf6 4. Qxf7# 1-0
"""


def tin(folder: Path, *, fatal: int = 0, ending: str = "pass") -> str:
    """Return the command of an engine that prints one line for each position, except for the ``fatal`` one."""
    path = folder / "tin.py"
    path.write_text(TIN.format(fatal=fatal, ending=ending))
    return shlex.join((sys.executable, "-S", str(path)))


def positions(cli: Cli) -> dict[str, int]:
    """Return the number of analysed positions of each game."""
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        return {
            game.key: len({line.ply for one in game.analyses for line in one.lines})
            for game in archive.games()
            if game.analyses
        }


@pytest.fixture
def game(cli: Cli) -> str:
    """The key of a game of 15 plies, the only one in the archive."""
    cli("import", ADJOURNED)
    return str(cli.json("games", "--json")[0]["key"])


@pytest.fixture
def match(tmp_path: Path) -> Path:
    path = tmp_path / "match.pgn"
    path.write_text(MATE)
    return path


def test_positions_are_stored_once(cli: Cli, game: str, tmp_path: Path) -> None:
    words = ("replay", "engine", game[:6], "--engine", tin(tmp_path), "--depth", "1")
    assert cli(*words).stderr == "Tin 1 analysed 16 positions of 1 game.\n"
    (found,) = cli.json("show", game, "--json")["analyses"]
    assert found["settings"] == {"limit": {"depth": 1}, "options": {}, "variant": "chess"}
    assert [(line["ply"], line["score_cp"]) for line in found["lines"]] == [(ply, 10 * ply + 10) for ply in range(16)]
    assert (
        cli(*words).stderr
        == "Tin 1 analysed 0 positions of 0 games. The archive already had an analysis for 16 positions.\n"
    )
    assert cli.json("show", game, "--json")["analyses"] == [found]
    summary = cli.json(*words, "--again", "--json")
    assert summary == {
        "engine": "Tin 1", "protocol": "cecp", "games": 1, "positions": 16, "without_lines": 0, "known": 0,
        "games_without_positions": 0, "failed": [], "interrupted": False,
    }  # fmt: skip
    (analysis,) = cli.json("show", game, "--json")["analyses"]
    assert analysis["lines"] == found["lines"]
    assert analysis["begun_at"] > found["begun_at"]
    assert cli(*words[:-1], "2", "--quiet", "--time", "5ms").stderr == ""
    assert len(cli.json("show", game, "--json")["analyses"]) == 2, "other settings are another analysis"
    assert "0 findings" in cli("verify").stderr


def test_a_failure_of_the_engine_does_not_prevent_the_analysis_of_other_games(cli: Cli, tmp_path: Path) -> None:
    """Every process of the engine ends at its fortieth position."""
    cli("import", WATCHER)
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        every = {game.key: len(make_plan(game).looks) for game in archive.games()}
    words = ("replay", "engine", "--depth", "1", "--engine")
    dies = tin(tmp_path, fatal=40, ending="sys.exit(3)")
    messages = cli(*words, dies, code=ExitCode.ENGINE).stderr.splitlines()
    before = positions(cli)
    failed = [key for key in every if any(line.startswith(f"{key[:8]} ") for line in messages)]
    assert 0 < len(failed) < len(every)
    assert all("Tin 1 ended by itself (exit status 3)" in line for line in messages[:-1])
    assert f"The engine failed in {len(failed)} game" in messages[-1]
    begun = sum(before.get(key, 0) > 0 for key in failed)
    assert f"The analysis of {begun} game{'s' if begun != 1 else ''} is incomplete. The engine failed" in messages[-1]
    assert {key: count for key, count in every.items() if key not in failed}.items() <= before.items()
    assert 39 in {sum(list(before.values())[: number + 1]) for number in range(len(before))}, "until it died"
    left = sum(every.values()) - sum(before.values())
    assert cli(*words, tin(tmp_path)).stderr.startswith(f"Tin 1 analysed {left} positions of {len(failed)} game")
    assert positions(cli) == every


def test_an_engine_that_fails_with_every_game_is_not_restarted(cli: Cli, tmp_path: Path) -> None:
    cli("import", WATCHER)
    summary = cli(
        "replay", "engine", "--engine", tin(tmp_path, fatal=1, ending="sys.exit(3)"), "--depth", "1", "--json",
        code=ExitCode.ENGINE,
    )  # fmt: skip
    assert summary.stdout.count('"error"') == 3
    assert positions(cli) == {}


def test_variants_that_the_engine_does_not_support_do_not_end_the_run(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    other = MATE.replace("[Result", '[Variant "crazyhouse"]\n[Result')
    path.write_text("\n".join(f"{game}\n" for game in (other, other, other, MATE)))
    result = cli("replay", "engine", path, "--engine", tin(tmp_path), "--depth", "1", code=ExitCode.ENGINE)
    assert result.stderr.count("does not play crazyhouse; it plays normal.") == 3
    assert result.stderr.endswith("Tin 1 analysed 7 positions of 1 game. The engine failed in 3 games.\n")
    assert result.stdout.count("%eval") == 6, "behind each move but the mate"


def test_positions_without_an_evaluation_are_counted(cli: Cli, game: str, tmp_path: Path) -> None:
    silent = tin(tmp_path, fatal=3, ending="continue")
    words = ("replay", "engine", game, "--depth", "1", "--time", "300ms", "--engine", silent)
    assert (
        cli(*words).stderr
        == "Tin 1 analysed 16 positions of 1 game. The engine returned no evaluation for 1 position.\n"
    )
    assert positions(cli) == {game: 15}


@pytest.mark.parametrize(
    "log",
    [ADJOURNED, SERVER / "b09_crazyhouse/observer_GuestXy.raw.gz", SERVER.parent / "ficsgames/2009-wild5.pgn"],
    ids=lambda log: log.name,
)
def test_every_position_that_an_engine_is_shown_is_found_in_its_game(log: Path) -> None:
    """The plan and the archive, which compares positions, must replay the moves alike."""
    for game in read_games(str(log)):
        looks = make_plan(game).looks
        boards = boards_by_ply(game)
        assert [look.ply for look in looks if boards.get(look.ply) != shown_board(look.fen)] == []


@pytest.mark.parametrize("number", long_after(1, [signal.SIGINT, signal.SIGTERM]))
def test_an_interrupted_run_is_continued(cli: Cli, game: str, tmp_path: Path, number: signal.Signals) -> None:
    ending = f"os.kill(os.getppid(), {int(number)}); sys.stdin.read(); break"
    command = [sys.executable, "-m", "recorder", "replay", "engine", "--engine", tin(tmp_path, fatal=7, ending=ending)]
    environment = {**os.environ, "ICS_RECORDER_DB": str(cli.archive)}
    result = subprocess.run([*command, "--depth", "1"], env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == ExitCode.INTERRUPTED, result.stderr
    assert "Tin 1 analysed 6 positions of 1 game." in result.stderr
    assert "Traceback" not in result.stderr
    assert positions(cli) == {game: 6}
    message = cli("replay", "engine", "--engine", tin(tmp_path), "--depth", "1").stderr
    assert message == "Tin 1 analysed 10 positions of 1 game. The archive already had an analysis for 6 positions.\n"
    assert positions(cli) == {game: 16}


def test_an_interrupt_before_the_engine_has_started_is_reported(cli: Cli, game: str, tmp_path: Path) -> None:
    """The engine interrupts the process that starts it, and prints nothing."""
    engine = tmp_path / "silent.py"
    engine.write_text("import os, signal, sys\nos.kill(os.getppid(), signal.SIGINT)\nsys.stdin.read()\n")
    command = [sys.executable, "-m", "recorder", "replay", "engine", "--db", str(cli.archive), "--json", "--engine"]
    result = subprocess.run(
        [*command, shlex.join((sys.executable, str(engine)))], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == ExitCode.INTERRUPTED, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["engine"], summary["positions"], summary["interrupted"]) == (None, 0, True)


def test_games_of_files_become_pgn(cli: Cli, match: Path, tmp_path: Path) -> None:
    words = ("replay", "engine", match, "--engine", tin(tmp_path), "--depth", "1")
    moves = " ".join(cli(*words).stdout.split("\n\n")[1].split())
    assert moves == (
        "1. e4 {[%eval -0.20] [%depth 1]} 1... e5 {[%eval 0.30] [%depth 1]} 2. Bc4 {[%eval -0.40] [%depth 1]} 2... Nc6"
        " {[%eval 0.50] [%depth 1]} 3. Qh5 {[%eval -0.60] [%depth 1] | one move} 3... Nf6 {[%eval 0.70] [%depth 1]}"
        " 4. Qxf7# 1-0"
    )
    out = tmp_path / "annotated.pgn"
    assert cli.json(*words, "-o", out, "--json")["positions"] == 7
    assert " ".join(out.read_text().split("\n\n")[1].split()) == moves
    assert "--force" in cli(*words, "-o", out, code=ExitCode.OUTPUT).stderr
    cli(*words, "-o", match, "--force", code=ExitCode.OUTPUT)
    assert match.read_text() == MATE
    assert not cli.archive.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Name one engine"),
        (("--engine", "x", "--uci", "y"), "Name one engine"),
        (("--engine", "x", "--time", "0"), "--time must be more than 0"),
        (("--engine", "x", "--time", "soon"), "is not a number of seconds"),
        (("--engine", "x", "--option", "=3"), "has no name"),
        (("--uci", ""), "'--uci': The engine's command is empty"),
        (("--engine", "'x"), "'--engine': The engine's command \"'x\" cannot be read: No closing quotation"),
        (("--engine", "x", "-o", "y.pgn"), "with `export pgn --engine`"),
    ],
)
def test_invalid_engine_options_are_usage_errors(cli: Cli, game: str, words: tuple[str, ...], message: str) -> None:
    assert message in cli("replay", "engine", game, *words, code=ExitCode.USAGE).stderr


def test_a_missing_engine_is_reported(cli: Cli, game: str) -> None:
    message = cli("replay", "engine", game, "--engine", "no-such-engine --xboard", code=ExitCode.ENGINE).stderr
    assert "no-such-engine" in message
    assert "No games to analyse" in cli("replay", "engine", "--since", "2099", "--engine", "x", code=1).stderr


@pytest.mark.parametrize(
    ("protocol", "engine"),
    [
        pytest.param("--engine", "fairymax", marks=pytest.mark.needs("fairymax")),
        pytest.param("--uci", "stockfish", marks=pytest.mark.needs("stockfish")),
    ],
)
def test_real_engines(cli: Cli, match: Path, protocol: str, engine: str) -> None:
    """Every engine finds the mate three moves before the end."""
    cli("import", match)
    summary: dict[str, Any] = cli.json("replay", "engine", protocol, engine, "--depth", "5", "--json")
    assert (summary["positions"], summary["failed"]) == (7, [])
    text = cli("export", "pgn", "--engine", "--clock", "none").stdout
    assert text.count("[%eval") == 6
    assert "3... Nf6 {[%eval #1]" in " ".join(text.split())
    assert "0 findings" in cli("verify").stderr
