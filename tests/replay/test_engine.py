"""A recorded game as an engine: it plays the recorded moves at their times, and answers every command."""

import io
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.cecp.answers import DEFAULTS, Claim, Features, Moved, Signal, TellCommand, format_answer, parse_answer
from recorder.cecp.commands import PLAIN_WORDS, Unknown
from recorder.model import Game, SourceKind
from recorder.reading import make_pipeline
from recorder.replay.boards import main_line
from recorder.replay.engine import RecordedEngine
from recorder.rules.fen import fen
from recorder.rules.variants import STANDARD_BOARD, cecp_variant
from tests.cecp.test_real_engines import screen
from tests.replay.test_moments import games_of
from tests.support.cli import SERVER, Cli
from tests.support.programs import program

MS = 1_000_000
LATENCY_NS = 5 * MS
STREAMS = [
    ("a03_crazyhouse", "observer_GuestObsD"),
    ("a04_suicide", "observer_GuestObsF"),
    ("a05_chess960", "observer_GuestObsG"),
    ("a06_chatter_takebacks", "observer_Botvinnik"),
    ("b03_wild", "observer_GuestXg"),
]
OPENING = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. O-O Nxe4 5. Re1 d5 6. Bb3 Bc5"
RESIGNS = "{White resigns} 0-1"
MATE = "1. f3 e5 2. g4 Qh4#"


@cache
def game(moves: str, end: str, tags: str = "") -> Game:
    """A game of a file, without times."""
    text = f'[White "Morphy"]\n[Black "Duke"]\n[Result "{end.split()[-1]}"]\n{tags}\n{moves} {end}\n'
    pipeline = make_pipeline(SourceKind.PGN)
    (found,) = [*pipeline.receive(text.encode()), *pipeline.finish()]
    return found


class Bench:
    """One engine with a clock that the test sets."""

    def __init__(self, what: Game, **how: Any) -> None:
        self.engine = RecordedEngine(what, **how)
        self.now_ns = 77 * MS

    def say(self, *lines: str) -> list[str]:
        """Return the immediate answers."""
        return [answer for line in lines for answer in self.engine.receive(line, self.now_ns)]

    def wait(self, seconds: float = 1000) -> list[str]:
        """Return the output of that time."""
        until_ns = self.now_ns + int(seconds * 1000 * MS)
        found: list[str] = []
        while (due_ns := self.engine.due_ns) is not None and due_ns <= until_ns:
            self.now_ns = max(self.now_ns, due_ns)
            found += self.engine.take(self.now_ns)
        self.now_ns = until_ns
        return found


def match(recorded: Game) -> tuple[list[tuple[int, str]], list[str]]:
    """Play both sides of a game through a slow interface; return the moves with their times, and the last lines."""
    line = main_line(recorded, 1000)
    now_ns = 10**12
    sides = [RecordedEngine(recorded), RecordedEngine(recorded)]
    setup = ["new", f"variant {cecp_variant(recorded.variant) or 'normal'}"]
    if recorded.variant == "chess" or recorded.variant is None:
        setup.pop()
    first = line.positions[0]
    if first.board != STANDARD_BOARD or line.start_ply:
        setup += ["force", f"setboard {fen(first, 0, line.start_ply // 2 + 1)}"]
    turn = 0 if line.white_to_move(0) else 1
    for number, side in enumerate(sides):
        for text in (*setup, *(["go"] if number == turn else ["playother"] if "force" in setup else [])):
            assert side.receive(text, now_ns) == []
    moves: list[tuple[int, str]] = []
    last: list[str] = []
    while True:
        due = [(side.due_ns, number) for number, side in enumerate(sides) if side.due_ns is not None]
        if not due or any(isinstance(parse_answer(text), Claim) for text in last):
            return moves, last
        due_ns, number = min(due)
        now_ns = max(now_ns, due_ns)
        for text in sides[number].take(now_ns):
            answer = parse_answer(text)
            if not isinstance(answer, Moved):
                last.append(text)
                continue
            moves.append((now_ns // MS, answer.move.text))
            assert sides[1 - number].receive(f"usermove {answer.move.text}", now_ns + LATENCY_NS) == []


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream[0])
def test_two_engines_play_the_recorded_game_at_its_times(stream: tuple[str, str]) -> None:
    compared = 0
    for recorded in games_of(*stream, True):
        line = main_line(recorded, 1000)
        if not line.plies:
            continue
        assert line.whole
        moves, last = match(recorded)
        castled = [ply.san.startswith("O-O") and recorded.variant == "chess960" for ply in line.plies]
        expected = [ply.san.rstrip("+#") if far else ply.uci for ply, far in zip(line.plies, castled, strict=True)]
        assert [text for _, text in moves] == expected
        # No drift: the second side is late by one delay of the interface, for any number of moves.
        begin_ms = moves[0][0] - line.at_ms[1]
        late = [at_ms - begin_ms - due_ms for (at_ms, _), due_ms in zip(moves, line.at_ms[1:], strict=True)]
        assert all(0 <= ms <= 2 * LATENCY_NS // MS for ms in late), late
        if recorded.result in ("1-0", "0-1"):
            assert last == [format_answer(Claim(recorded.result, recorded.reason))]
        elif recorded.result == "1/2-1/2":
            assert last
        compared += 1
    assert compared


@pytest.mark.parametrize(
    ("moves", "end", "white", "black"),
    [
        (OPENING, RESIGNS, ["0-1 {White resigns}"], ["telluser The record ends here: 0-1 {White resigns}"]),
        (MATE, "{White checkmated} 0-1", ["0-1 {White checkmated}"], ["0-1 {White checkmated}"]),
        (OPENING, "{Game drawn by mutual agreement} 1/2-1/2", ["offer draw"], ["offer draw"]),
        (OPENING, "{Game drawn by repetition} 1/2-1/2", *[["1/2-1/2 {Game drawn by repetition}"]] * 2),
        (OPENING, "*", ["* {the record ends here}"], ["* {the record ends here}"]),
    ],
)  # fmt: skip
def test_the_end_is_sent_by_the_side_that_may_send_it(moves: str, end: str, white: list[str], black: list[str]) -> None:
    recorded = game(moves, end)
    for expected, first in ((white, 0), (black, 1)):
        bench = Bench(recorded)
        bench.say("new", *(["go"] if first == 0 else []))
        output: list[str] = []
        for place, ply in enumerate(recorded.plies):
            output += bench.wait(1) if place % 2 == first else bench.say(f"usermove {ply.uci}")
        output += bench.wait()
        assert output == [*(f"move {ply.uci}" for ply in recorded.plies[first::2]), *expected]


def test_a_slow_opponent_is_answered_after_the_recorded_time() -> None:
    bench = Bench(game(OPENING, "*"), pace_ms=2000)
    bench.say("new")
    bench.wait(60)
    bench.say("e2e4")  # a move without "usermove" as well
    assert bench.wait(1.9) == []
    assert bench.wait(0.2) == ["move e7e5"]
    bench.say("usermove Nf3")
    assert bench.say("ping 9") == ["pong 9"]
    assert bench.wait(1.8) == []
    assert bench.say("?") == ["move b8c6"]


def test_a_different_move_is_reported_once_and_can_be_taken_back() -> None:
    bench = Bench(game(OPENING, "*"))
    bench.say("new", "usermove e2e4")
    assert bench.wait(1) == ["move e7e5"]
    (output,) = bench.say("usermove d2d4")
    assert output == "telluser The record has 2. Nf3 here: take your move back, or play on without me."
    assert bench.wait() == []
    assert bench.say("force", "e5d4", "d1d4", "remove", "undo", "g1f3", "go") == []
    assert bench.wait(2) == ["move b8c6"]
    assert bench.say("usermove e4e6") == ["Illegal move: e4e6"]
    assert bench.say("usermove f1c4", "usermove g7g6") == ["Error (out of turn): g7g6"]


def test_a_computer_that_leaves_the_record_has_won() -> None:
    bench = Bench(game(OPENING, "*"))
    output, word = bench.say("new", "computer", "usermove d2d4")
    assert isinstance(parse_answer(output), TellCommand)
    assert parse_answer(word) == Signal("resign")


def test_force_pause_hint_and_book() -> None:
    bench = Bench(game(OPENING, "*"), pace_ms=1000)
    bench.say("new", "force", "e2e4", "e7e5", "d2d4", "undo", "go")
    assert bench.say("hint") == ["Hint: g1f3"]
    assert bench.say("bk") == [" g1f3 after 1.0 s in the record", ""]
    bench.say("pause")
    assert bench.wait(50) == []
    bench.say("resume")
    assert bench.wait(1) == ["move g1f3"]
    assert bench.say("playother", "usermove b8c6") == []
    assert bench.wait(1) == ["move f1c4"]
    bench.say("usermove g8f6", "result * {enough}")
    assert bench.wait() == []
    bench.say("new", "go")
    assert bench.wait(1) == ["move e2e4"]


def test_a_position_of_the_record_may_be_set_up_in_both_ways() -> None:
    recorded = game(OPENING, "*")
    line = main_line(recorded)
    reached = line.positions[4]
    assert reached is not None
    for setup in (
        [f"setboard {fen(reached, 0, 3)}"],
        ["edit", "xe2", "Pe4", "xg1", "Nf3", "c", "xe7", "Pe5", "xb8", "Nc6", "nonsense", "."],
    ):
        bench = Bench(recorded)
        bench.say("new", "force", *setup, "go")
        assert bench.wait(1) == ["move f1c4"]
    bench.say("new", "setboard 8/8/8/8/8/8/8/K6k w - - 0 1")
    (output,) = bench.say("go")
    assert "not in the record" in output
    assert bench.say("setboard nonsense") == ["tellusererror Illegal position"]


@pytest.mark.parametrize("variant", ["crazyhouse", "suicide", "atomic"])
@pytest.mark.parametrize("number", [1, 2])
def test_new_starts_a_variant_only_at_the_recorded_start(variant: str, number: int) -> None:
    usual = game("1. e4 e5", "*", f'[Variant "{variant}"]\n')
    bench = Bench(usual)
    assert bench.say("new", f"variant {variant}", "go") == []
    assert bench.wait(2) == ["move e2e4"]

    board = f"rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 {number}"
    tags = f'[Variant "{variant}"]\n[SetUp "1"]\n[FEN "{board}"]\n'
    later = game(f"{number}. Nf3 Nc6", "*", tags)
    assert later.start_ply == 2 * number - 2
    bench = Bench(later)
    (output,) = bench.say("new", f"variant {variant}", "go")
    assert "not in the record" in output
    assert bench.wait() == []
    assert bench.say("new", f"variant {variant}", "force", f"setboard {board}", "go") == []
    assert bench.wait(2) == ["move g1f3"]


def test_the_features_are_those_of_the_protocol() -> None:
    first, last = Bench(game(OPENING, "*")).say("xboard", "protover 2")
    features = parse_answer(first)
    assert isinstance(features, Features)
    assert {feature.name for feature in features.settings} <= DEFAULTS.keys()
    assert ("variants", "normal") in features.settings
    assert last == "feature done=1"


def test_unknown_commands_are_refused_by_name() -> None:
    bench = Bench(game(OPENING, "*"))
    assert bench.say("analyze", "make tea") == ["Error (unknown command): analyze", "Error (unknown command): make tea"]
    assert bench.say("st 5", "sd 3", "level 40 5 0", "otim 500", "rating 1 2", "name x", "memory 4", "hard", "") == []


MOVES = ("e2e4", "e7e5", "O-O", "P@e4", "Nf3", "a1l12", "@@@@", "e4d5,d5e6")
LINES = (
    "variant crazyhouse", "variant fischerandom", "variant x", "result 1-0 {x}", "#", "c", ".", "Pa4", "protover 2",
    "ping 1", "level 0 5 0", "accepted x",
)  # fmt: skip
WORDS = st.one_of(
    st.text(max_size=30),
    st.sampled_from([*sorted(PLAIN_WORDS), *LINES, *(f"usermove {move}" for move in MOVES)]),
    st.text("KQRBNPkqrbnp18/[]~", max_size=20).map(lambda board: f"setboard {board} w KQkq - 0 1"),
)


@given(st.sampled_from([OPENING, MATE]), st.lists(st.tuples(WORDS, st.integers(0, 5000)), max_size=40))
def test_any_input_raises_nothing_and_is_answered_by_the_protocol(moves: str, output: list[tuple[str, int]]) -> None:
    bench = Bench(game(moves, "1/2-1/2"))
    for text, wait_ms in output:
        answers = [*bench.say(text), *bench.wait(wait_ms / 1000)]
        assert all(not isinstance(parse_answer(answer), Unknown) for answer in answers if answer)
    bench.say(".")
    assert bench.say("new", "ping 3") == ["pong 3"]
    if not bench.engine.quits:
        bench.say("go")
        assert bench.wait(1) == [f"move {game(moves, '1/2-1/2').plies[0].uci}"]


@contextmanager
def under_xboard(name: str, command: str, display: str, folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run xboard with two processes of one engine until it has saved one game."""
    home = folder / name
    home.mkdir()
    running = subprocess.Popen(
        (program("xboard"), "-fcp", command, "-scp", command, "-mg", "1", "-tc", "5", "-inc", "0", *words,
         "-popupMoveErrors", "false", "-popupExitMessage", "false", "-sgf", str(folder / f"{name}.pgn")),
        env=os.environ | {"HOME": str(home), "DISPLAY": display},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield running
    finally:
        running.terminate()
        running.wait()


@pytest.mark.long
@pytest.mark.needs("xboard", "Xvfb")
def test_two_engines_play_the_game_to_its_end_under_xboard(tmp_path: Path) -> None:
    """xboard's file has the recorded moves and result: of a resigned game, and of crazyhouse with a mate."""
    resigned = tmp_path / "a.pgn"
    resigned.write_text(f'[White "Morphy"]\n[Black "Duke"]\n[Result "0-1"]\n\n{OPENING} {RESIGNS}\n')
    archive = tmp_path / "a.sqlite"
    Cli(archive)("import", SERVER / "a03_crazyhouse" / "observer_GuestObsD.raw.gz")
    house = games_of("a03_crazyhouse", "observer_GuestObsD", False)[0]
    engine = f"{shlex.quote(sys.executable)} -m recorder replay as-engine --pace 0.05"
    with ExitStack() as stack:
        display = stack.enter_context(screen())
        command = f"{engine} {shlex.quote(str(resigned))}"
        runs = [stack.enter_context(under_xboard("chess", command, display, tmp_path))]
        command = f"{engine} {house.key} --idle-max 0.05 --db {shlex.quote(str(archive))}"
        runs.append(stack.enter_context(under_xboard("house", command, display, tmp_path, "-variant", "crazyhouse")))
        for one in runs:
            one.wait(60)
    for name, recorded in (("chess", game(OPENING, RESIGNS)), ("house", house)):
        saved = chess.pgn.read_game(io.StringIO((tmp_path / f"{name}.pgn").read_text()))
        assert not saved.errors
        assert [move.uci() for move in saved.mainline_moves()] == [ply.uci for ply in recorded.plies]
        assert saved.headers["Result"] == recorded.result
