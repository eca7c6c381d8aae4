"""Scores the product against the recorded transcripts and their truth.

``python -m tests.score [--json] [-v] [scenario…|public]``. For every connection the product's games are compared with
what the clients really played (``truth.json``) and with the raw frames as ``tests/support/frames.py`` reads them.
Public excerpts have no truth but their text: ``tests/public_games.py`` lists the games in them.

A game is expected when the truth says that the connection played or observed it (for xboard's own connections: when
its frames are in the log). Its expected plies are those whose board and the board before were shown, and those of
movelists that the log has. It is *exact* when all of them are there, every ply is the truth's, and result, start
position and taken-back plies agree; *cut short* when only plies lack; *wrong* otherwise. A found game without a
counterpart is *false*. A ply that the truth does not have at that place is *invented*. Every board of an examined game
must be in the tree at the place where the product puts it.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import chess

from recorder.model import Game, GameKind, LineKind, ObservationKind, Origin, Ply, Precision
from recorder.sources import SourceKind, detect
from tests.edge_cases.excerpts import PUBLIC
from tests.public_games import PUBLIC_GAMES, Shown
from tests.support import corpus, frames, product
from tests.support.corpus import Stream
from tests.support.examined import compare_boards
from tests.support.frames import Reading, Run

Finder = Callable[[Stream, bytes], list[Game]]
"""Gives the product's games of a stream's bytes."""


@dataclass
class Finding:
    """How one expected or found game compares with the truth.

    ``status``: exact, cut short, wrong, missing, false, listed (a move list only), unlisted (shown, but no move was
    made), joined (an adjourned part inside the continued game), shown (the boards of the stream's examined games).
    """

    status: str
    what: str
    missing_plies: int = 0
    invented_plies: int = 0
    result_equal: bool | None = None
    takebacks_equal: bool | None = None
    clocks_compared: int = 0
    clock_differences: int = 0
    holdings_compared: int = 0
    holdings_differences: int = 0
    fact_differences: int = 0
    boards_compared: int = 0
    board_differences: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class StreamScore:
    """All findings of one connection."""

    scenario: str
    connection: str
    subject: str
    findings: list[Finding]

    def count(self, *status: str) -> int:
        """How many findings have one of these states."""
        return sum(finding.status in status for finding in self.findings)

    @property
    def expected(self) -> int:
        """Games that should have been found."""
        return self.count("exact", "cut short", "wrong", "missing")


@dataclass
class Wanted:
    """A truth game as one stream shows it."""

    index: int
    truth: dict[str, Any]
    runs: list[Run]
    plies: set[int]
    result: str
    boards: list[str]

    @property
    def name(self) -> str:
        """For messages."""
        return f"#{self.index} game {self.truth['game_number']} {self.truth['white']}-{self.truth['black']}"


def score_stream(stream: Stream, find: Finder) -> StreamScore:
    """Compare the games found in a stream with the truth."""
    data = corpus.stream_bytes(stream.scenario, stream.connection)
    reading = frames.read(data, stream.kind)
    wanted, unlisted = expectations(stream, reading)
    found = find(stream, data)
    boards, problems = compare_boards(found, reading)
    shown = Finding("shown", "examined boards", boards_compared=boards, board_differences=len(problems))
    shown.problems += problems
    findings = [shown] if boards else []
    taken: dict[int, list[Game]] = {}
    for game in found:
        if game.kind is not GameKind.PLAYED:
            continue
        if all(seen.kind is ObservationKind.MOVELIST for seen in game.observations):
            findings.append(_judge_list(stream, game))
            continue
        match = _counterpart(game, wanted)
        if match is not None:
            taken.setdefault(match.index, []).append(game)
        elif not game.plies and any(_overlap(game, run) for run in unlisted):
            findings.append(Finding("unlisted", _label(game)))
        else:
            problem = "no such game was played or shown"
            findings.append(Finding("false", _label(game), invented_plies=len(game.plies), problems=[problem]))
    for want in wanted:
        games = taken.get(want.index, [])
        if not games:
            later = [game for index in _continuations(want, wanted) for game in taken.get(index, [])]
            if any(want.plies <= {ply.ply for ply in game.plies} for game in later):
                findings.append(Finding("joined", want.name))
            else:
                findings.append(Finding("missing", want.name, missing_plies=len(want.plies)))
            continue
        games.sort(key=lambda game: len(game.plies), reverse=True)
        parts = [other for other in wanted if want.index in _continuations(other, wanted)]
        findings.append(_judge(want, games[0], reading, [run for part in [*parts, want] for run in part.runs]))
        findings += [
            Finding("false", _label(extra), problems=[f"a second record of {want.name}"]) for extra in games[1:]
        ]
    return StreamScore(stream.scenario, stream.connection, stream.subject, findings)


def expectations(stream: Stream, reading: Reading) -> tuple[list[Wanted], list[Run]]:
    """The truth's games that a stream should give, and runs of frames that the truth does not list."""
    games = corpus.truth(stream.scenario)["games"]
    assigned: dict[int, list[Run]] = {}
    unlisted: list[Run] = []
    for run in reading.runs:
        index = _truth_of(run, stream.scenario, max(assigned, default=0))
        if index is None:
            unlisted.append(run)
        else:
            assigned.setdefault(index, []).append(run)
    wanted = []
    for index, game in enumerate(games):
        runs = assigned.get(index, [])
        watched = [seen for seen in game.get("observed", []) if seen["observer"] == stream.login]
        played = stream.login in (game["white"], game["black"]) and bool(runs)
        if not (watched or played or ("observed" not in game and runs) or (stream.kind == "xboard" and runs)):
            unlisted += runs
            continue
        plies: set[int] = set()
        for run in runs:
            plies |= run.proved_plies()
            if run.deltas:
                plies |= set(range(run.frames[0].ply + 1, len(game["moves_uci"]) + 1))
        plies &= set(range(1, len(game["moves_uci"]) + 1))
        seen_end = any(run.result is not None for run in runs)
        result = game["result"] if seen_end else "*"
        wanted.append(Wanted(index, game, runs, plies, result, _truth_boards(stream.scenario, index)))
    return wanted, unlisted


def _truth_of(run: Run, scenario: str, earliest: int) -> int | None:
    """The truth game whose boards a run shows, or None; runs come in the order of their beginnings."""
    best, best_score = None, 0.0
    for index, game in enumerate(corpus.truth(scenario)["games"]):
        if (game["game_number"], game["white"], game["black"]) != (run.game_no, run.white, run.black):
            continue
        boards = _truth_boards(scenario, index)
        shown = run.main_line()
        hits = sum(ply < len(boards) and boards[ply].split()[0] == frame.board for ply, frame in shown.items())
        score = hits / len(shown) + (0.001 if index >= earliest else 0.0)
        if run.result is not None and run.result != game["result"]:
            score -= 0.01
        score -= 0.0001 * abs(len(boards) - 1 - run.frames[-1].ply)
        if hits and score > best_score:
            best, best_score = index, score
    return best


@cache
def _truth_boards(scenario: str, index: int) -> list[str]:
    """The FEN before the first move and after each one."""
    game = corpus.truth(scenario)["games"][index]
    fens = [game.get("start_fen") or chess.STARTING_FEN]
    if "plies" in game:
        fens += [ply["fen"] for ply in game["plies"]]
    else:
        board = chess.Board()
        for move in game["moves_uci"]:
            board.push_uci(move)
            fens.append(board.fen())
    return [_plain(fen) for fen in fens]


def _plain(fen: str) -> str:
    """Board without hands and marks of promoted pieces, and the side to move."""
    return " ".join(re.sub(r"\[.*?\]|~", "", fen).split()[:2])


def _label(game: Game) -> str:
    plies = game.plies
    return f"found game {game.game_no} {game.white.handle}-{game.black.handle}, {len(plies)} plies, {game.result}"


def _overlap(game: Game, run: Run) -> int:
    """Bytes that a found game and a run have in common, 0 if they are of different boards."""
    if game.game_no != run.game_no:
        return 0
    return max(0, min(game.last_offset, run.end_offset + 2) - max(game.first_offset, run.first_offset - 2) + 1)


def _counterpart(game: Game, wanted: list[Wanted]) -> Wanted | None:
    """The expected game that stands where the found one stands."""
    best = max(wanted, key=lambda want: sum(_overlap(game, run) for run in want.runs), default=None)
    if best is None or not any(_overlap(game, run) for run in best.runs):
        return None
    names = (game.white.handle.lower(), game.black.handle.lower())
    return best if names == (best.truth["white"].lower(), best.truth["black"].lower()) else None


def _wrong_plies(game: Game, moves: list[str], problems: list[str]) -> int:
    """Count the plies of a found game's main line that were not played."""
    invented = 0
    for ply in game.plies:
        really = moves[ply.ply - 1] if 0 < ply.ply <= len(moves) else None
        if ply.uci is not None and ply.uci != really:
            invented += 1
            problems.append(f"ply {ply.ply} is {ply.uci}, played was {really}")
        elif ply.uci is None and really is None:
            invented += 1
            problems.append(f"ply {ply.ply} {ply.san} was not played")
    return invented


def _judge_list(stream: Stream, game: Game) -> Finding:
    """A game known from a movelist only: not expected, but it must be a game of this server's truth."""
    names = (game.white.handle.lower(), game.black.handle.lower())
    tries = []
    for played in corpus.truth(stream.scenario)["games"]:
        if (played["white"].lower(), played["black"].lower()) == names:
            problems: list[str] = []
            tries.append((_wrong_plies(game, played["moves_uci"], problems), problems))
    invented, problems = min(tries, default=(len(game.plies), ["no such game was played"]))
    status = "listed" if tries and not invented else "false"
    if not game.plies:
        status, problems = "unlisted", []
    return Finding(status, _label(game), invented_plies=invented, problems=problems[:5])


def _continuations(want: Wanted, wanted: list[Wanted]) -> list[int]:
    """Indexes of the truth games that continue an adjourned one."""
    found = [want.index]
    for other in wanted:
        if other.truth.get("continues_game_index") in found:
            found.append(other.index)
    return found[1:]


def _judge(want: Wanted, game: Game, reading: Reading, runs: list[Run]) -> Finding:
    """Compare a found game with its counterpart; ``runs`` are its own and those of the games that it continues."""
    finding = Finding("exact", want.name)
    problems = finding.problems
    finding.invented_plies = _wrong_plies(game, want.truth["moves_uci"], problems)
    have = {ply.ply for ply in game.plies if ply.uci is not None}
    lacking = want.plies - have
    finding.missing_plies = len(lacking)
    finding.result_equal = game.result == want.result
    if not finding.result_equal:
        problems.append(f"result {game.result}, expected {want.result}")
    start_equal = _start_equal(want, game)
    if not start_equal:
        problems.append(f"start position after {game.start_ply} plies is {game.start_fen}")
    finding.fact_differences = _compare_facts(want, game, problems)
    finding.takebacks_equal = _takebacks_equal(want, game, problems)
    finding.clocks_compared, finding.clock_differences = _compare_times(runs, game, reading, problems)
    finding.holdings_compared, finding.holdings_differences = _compare_holdings(game, reading, problems)
    if finding.invented_plies or not finding.result_equal or not start_equal or finding.takebacks_equal is False:
        finding.status = "wrong"
    elif lacking:
        finding.status = "cut short"
        problems.append(f"plies {_ranges(lacking)} are not there")
    return finding


def _compare_facts(want: Wanted, game: Game, problems: list[str]) -> int:
    """Count differences in variant, time control and completeness.

    Rated is not compared: the truth has what the client asked for, and servers B and C do not report it to observers.
    """
    asked = want.truth.get("match_options", "")
    variants: set[str | None] = {{"standard": "chess"}.get(want.truth["variant"], want.truth["variant"])}
    if asked.startswith("wild"):
        variants |= {"wild", asked.replace(" ", "/"), None}
    base_s = want.truth["initial_minutes"] * 60
    bases = {base_s, 10} if base_s == 0 and want.truth["increment_seconds"] else {base_s}
    every = set(range(1, len(want.truth["moves_uci"]) + 1))
    # A game that lacks plies must not call itself complete, even where the stream contained them.
    there = {ply.ply for ply in game.plies} >= every
    whole = there and want.plies == every and any(run.result is not None for run in want.runs)
    found = [
        f"variant {game.variant}, played was {want.truth['variant']} {asked}" if game.variant not in variants else "",
        f"base {game.base_s} s" if game.base_s not in bases else "",
        f"increment {game.increment_s} s" if game.increment_s != want.truth["increment_seconds"] else "",
        f"complete is {game.complete}" if game.complete != whole else "",
    ]
    problems += filter(None, found)
    return sum(map(bool, found))


def _start_equal(want: Wanted, game: Game) -> bool:
    """Whether the first known position is the truth's (board and side to move; servers' castling flags are not)."""
    return game.start_ply < len(want.boards) and want.boards[game.start_ply] == _plain(
        game.start_fen or chess.STARTING_FEN
    )


def _takebacks_equal(want: Wanted, game: Game, problems: list[str]) -> bool | None:
    """Whether the taken-back plies are the truth's; None where the stream did not show the whole game."""
    log = want.truth.get("log")
    if log is None or len(want.runs) != 1 or want.runs[0].frames[0].ply != 0:
        return None
    if not want.runs[0].deltas and len(want.runs[0].proved_plies()) != len(want.truth["moves_uci"]):
        return None
    line: list[tuple[int, str]] = []
    removed: Counter[tuple[int, str]] = Counter()
    for entry in log:
        if entry["type"] == "move":
            line.append((entry["ply"], entry["uci"]))
        elif entry["type"] == "takeback_done":
            for _ in range(entry["n"]):
                removed[line.pop()] += 1
    kept = Counter(
        (ply.ply, ply.uci or ply.san)
        for seen in game.observations
        for other in seen.lines
        if other.kind is LineKind.TAKEBACK
        for ply in other.plies
    )
    if kept != removed:
        problems.append(f"taken-back plies: lacking {dict(removed - kept)}, too many {dict(kept - removed)}")
    return kept == removed


def _compare_times(runs: list[Run], game: Game, reading: Reading, problems: list[str]) -> tuple[int, int]:
    """Compare clocks, elapsed and lag of plies read from frames and deltas with the raw ones; also the offsets."""
    shown = {ply: frame for run in runs for ply, frame in run.main_line().items()}
    joined = {seen.start.offset for seen in game.observations if seen.start is not None}
    compared = different = 0
    for ply in game.plies:
        if ply.origin == Origin.DELTA:
            compared += 1
            different += _delta_differs(game, ply, reading, problems)
        if ply.origin != Origin.FRAME:
            continue
        compared += 1
        running = ply.offset in joined  # the board on joining: the clock of who has not moved is no clock of this move
        frame = reading.frames_by_line.get(reading.line_of(ply.offset)) if running else shown.get(ply.ply)
        if frame is None or frame.ply != ply.ply:
            different += 1
            problems.append(f"ply {ply.ply} says that it is from a frame, but no frame shows it")
            continue
        ours = (ply.white_clock_ms, ply.black_clock_ms, ply.elapsed_ms, ply.lag_ms, ply.precision)
        theirs = (
            None if running and not ply.ply % 2 else frame.white_clock_ms,
            None if running and ply.ply % 2 else frame.black_clock_ms,
            frame.elapsed_ms,
            frame.lag_ms,
            int(frame.milliseconds),
        )
        if ours != theirs:
            different += 1
            problems.append(f"ply {ply.ply} has (clocks, elapsed, lag, precision) {ours}, the frame {theirs}")
        elif reading.line_of(ply.offset) != frame.offset:
            different += 1
            problems.append(f"ply {ply.ply} points to byte {ply.offset}, its frame stands at {frame.offset}")
    return compared, different


def _delta_differs(game: Game, ply: Ply, reading: Reading, problems: list[str]) -> bool:
    delta = reading.deltas_by_line.get(reading.line_of(ply.offset))
    clocks = (ply.white_clock_ms, ply.black_clock_ms)
    mine, other = clocks if ply.ply % 2 else clocks[::-1]
    ours = (game.game_no, ply.ply, ply.elapsed_ms, mine, ply.lag_ms, ply.precision, other)
    theirs = None if delta is None else (*delta[1:4], *delta[4:], int(Precision.MILLISECONDS), None)
    if ours != theirs:
        problems.append(
            f"ply {ply.ply} has (game, ply, elapsed, clock, lag, precision, other's clock) {ours}, the line {theirs}"
        )
    return ours != theirs


def _compare_holdings(game: Game, reading: Reading, problems: list[str]) -> tuple[int, int]:
    """Compare the hands of every live observation with the raw lines in its bytes: each pass, and each change."""
    compared = different = 0
    for seen in game.observations:
        if seen.kind is not ObservationKind.LIVE:
            continue
        raw = [line for line in reading.holdings if line.game_no == game.game_no and seen.offset < line.offset]
        raw = [line for line in raw if line.offset <= seen.end_offset]
        expected: list[tuple[int, str, str, str | None]] = []
        hands = None
        for line in raw:
            if line.passed is not None or (line.white, line.black) != hands:
                expected.append((line.offset, line.white, line.black, line.passed))
            hands = hands if line.passed is not None else (line.white, line.black)
        found = [
            (reading.line_of(change.offset), _sorted(change.white), _sorted(change.black), change.passed)
            for change in seen.holdings
            if change.offset <= seen.end_offset
        ]
        compared += len(expected)
        lacking = [line for line in expected if line not in found]
        many = [line for line in found if line not in expected]
        different += len(lacking) + len(many)
        if lacking or many:
            problems.append(f"hands: lacking {lacking[:3]}, too many {many[:3]}")
    return compared, different


def _sorted(letters: str) -> str:
    return "".join(sorted(letters.upper()))


def _ranges(numbers: Iterable[int]) -> str:
    """``1-3, 7`` for 1, 2, 3, 7."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def totals(scores: Iterable[StreamScore]) -> dict[str, int]:
    """The summary line's figures."""
    found = list(scores)
    every = [finding for score in found for finding in score.findings]
    compared = [finding for finding in every if finding.takebacks_equal is not None]
    return {
        "expected": sum(score.expected for score in found),
        "found": sum(score.count("exact", "cut short", "wrong") for score in found),
        "exact": sum(score.count("exact") for score in found),
        "cut short": sum(score.count("cut short") for score in found),
        "wrong": sum(score.count("wrong") for score in found),
        "missing": sum(score.count("missing") for score in found),
        "false": sum(score.count("false") for score in found),
        "invented plies": sum(finding.invented_plies for finding in every),
        "missing plies": sum(finding.missing_plies for finding in every),
        "results equal": sum(finding.result_equal is True for finding in every),
        "takebacks compared": len(compared),
        "takebacks equal": sum(finding.takebacks_equal is True for finding in compared),
        "plies with times compared": sum(finding.clocks_compared for finding in every),
        "time differences": sum(finding.clock_differences for finding in every),
        "holdings compared": sum(finding.holdings_compared for finding in every),
        "holdings differences": sum(finding.holdings_differences for finding in every),
        "examined boards compared": sum(finding.boards_compared for finding in every),
        "examined board differences": sum(finding.board_differences for finding in every),
        "fact differences": sum(finding.fact_differences for finding in every),
        "from movelists only": sum(score.count("listed") for score in found),
    }


def score_public(find: Callable[[str], list[Game]]) -> list[StreamScore]:
    """Compare the games found in each public excerpt with those in its text (``tests/public_games.py``)."""
    scores = []
    for name, expected in PUBLIC_GAMES.items():
        left = list(expected)
        findings = []
        for game in find(name):
            moves = " ".join(ply.san for ply in game.plies)
            examined = game.kind is not GameKind.PLAYED
            shown = Shown(game.game_no, game.white.handle, game.black.handle, moves, game.result, examined)
            match = min(left, key=lambda one: sum(a != b for a, b in zip(one, shown, strict=True)), default=None)
            if match is None or match[:3] != shown[:3]:
                findings.append(Finding("false", _label(game), problems=["no such game is in the text"]))
                continue
            left.remove(match)
            finding = Finding("exact" if match == shown else "wrong", _label(game), result_equal=match[4] == shown[4])
            finding.problems += [
                f"{ours!r}, in the text {text!r}" for ours, text in zip(shown, match, strict=True) if ours != text
            ]
            findings.append(finding)
        findings += [Finding("missing", f"{name} {one.number} {one.white}-{one.black}") for one in left]
        scores.append(StreamScore("public", name, "public excerpts", findings))
    return scores


def find_in_excerpt(name: str) -> list[Game]:
    data = (PUBLIC / f"{name}.txt").read_bytes()
    return product.run([data], (detect(data) or SourceKind.RAW).value)[0]


def find_with_product(stream: Stream, data: bytes) -> list[Game]:
    return product.run([data], stream.kind)[0]


def main(arguments: list[str] | None = None) -> int:
    """Print the score; exit status 1 when a game is not exact or anything is false."""
    parser = argparse.ArgumentParser(prog="python -m tests.score", description="Score the product on the corpus.")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every problem, not the first three")
    parser.add_argument("scenario", nargs="*", help="names or their beginnings; default all")
    options = parser.parse_args(arguments)
    chosen = [name for name in corpus.scenarios() if not options.scenario or name.startswith(tuple(options.scenario))]
    scores = [score_stream(stream, find_with_product) for name in chosen for stream in corpus.streams(name)]
    if not options.scenario or "public" in options.scenario:
        scores += score_public(find_in_excerpt)
    groups: dict[str, list[StreamScore]] = {"played": []}
    for score in scores:
        groups.setdefault(score.subject, []).append(score)
    groups = {name: members for name, members in groups.items() if members}
    if options.json:
        report = {name: totals(members) for name, members in groups.items()}
        json.dump({"totals": report, "streams": [asdict(score) for score in scores]}, sys.stdout, indent=1)
        print()
    else:
        for name, members in groups.items():
            _print_group(name, members, options.verbose)
        print("== all")
        print("SUM " + ", ".join(f"{key} {value}" for key, value in totals(scores).items()))
    return 0 if is_perfect(totals(scores)) else 1


def is_perfect(sums: dict[str, int]) -> bool:
    """Whether every expected game is exact and nothing differs from the log or stands only in the product's games."""
    faults = ("false", "invented plies", "time differences", "fact differences")
    faults += ("holdings differences", "examined board differences")
    return sums["exact"] == sums["expected"] and not any(sums[fault] for fault in faults)


def _print_group(name: str, scores: list[StreamScore], verbose: bool) -> None:
    """Print one line a stream that has problems, and the sums."""
    print(f"== {name}")
    print(f"{'stream':58} expected exact   cut wrong missing false invented  times differ hands differ")
    for score in scores:
        sums = totals([score])
        columns = [sums[key] for key in ("expected", "exact", "cut short", "wrong", "missing", "false")]
        print(
            f"{score.scenario + ' ' + score.connection:58} {columns[0]:8} {columns[1]:5} {columns[2]:5} {columns[3]:5} "
            f"{columns[4]:7} {columns[5]:5} {sums['invented plies']:8} "
            f"{sums['plies with times compared']:6} {sums['time differences']:6} "
            f"{sums['holdings compared']:5} {sums['holdings differences']:6}"
        )
        for finding in score.findings:
            if finding.problems or finding.status in ("missing", "false"):
                print(f"    {finding.status}: {finding.what}")
                for problem in finding.problems[: None if verbose else 3]:
                    print(f"        {problem}")
    print("SUM " + ", ".join(f"{key} {value}" for key, value in totals(scores).items()))


if __name__ == "__main__":
    sys.exit(main())
