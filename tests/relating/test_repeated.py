"""Hundreds of equal games of two players: each is found, none is another one, in work in proportion to their number."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import storage.write.games
from recorder.model import Game, SourceName
from recorder.reading import make_pipeline
from recorder.relating import duplicates, grouping
from recorder.relating.compare import Verdicts, compare
from recorder.relating.game_view import View
from recorder.relating.grouping import UNDECIDED
from recorder.relating.merge import merge_games
from recorder.sources import SourceKind
from tests.edge_cases.scripts import log
from tests.relating.interrupted import LONG, Played
from tests.support.cli import Cli

_MOVES = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7"]


def saved(number: int, event: str, *, second: bool = False, dated: bool = True, clocks: str = "", at: str = "") -> str:
    """A saved game.

    Args:
        number: of the game among those that are equal. second: it has a time of day of its own.
        clocks: ``equal`` to those of the others, its ``own``, or none. at: the time of day of its round.
    """
    chance = random.Random(number if clocks == "own" else 0)
    tags = {"Event": event, "Site": "freechess.org", "White": "Ann", "Black": "Bob", "Result": "1-0"}
    tags |= {"TimeControl": "300+0"} | ({"Date": "2020.01.01"} if dated else {})
    tags |= {"Time": f"{10 + number // 1800}:{number // 30 % 60:02}:{7 + number % 30:02}"} if second else {}
    tags |= {"Time": at} if at else {}
    left_ms, words = [300_000, 300_000], []
    for ply, san in enumerate(_MOVES):
        left_ms[ply % 2] -= chance.randrange(100, 5_000) if ply > 1 else 0
        ms = left_ms[ply % 2]
        clock = f" {{[%clk 0:{ms // 60_000:02}:{ms // 1000 % 60:02}.{ms % 1000:03}]}}" if clocks else ""
        words.append(f"{f'{ply // 2 + 1}. ' if not ply % 2 else ''}{san}{clock}")
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + f"\n{' '.join(words)} 1-0\n\n"


def logged(number: int, event: str, *, ms: bool) -> str:
    """A game in a log without times of day; in milliseconds those of one number took the same times in both logs."""
    chance = random.Random(number)
    game = Played(0, [chance.randrange(100, 3_000) if ms else 700 for _ in range(8)], LONG[:8], ms=ms)
    lines = [line for _, some in game.lines(-1_000, 1_000_000, False, 0) for line in some]
    return log("fics% FatICS", f"Ann shouts: {event}", *lines).decode()


KINDS: dict[str, tuple[Callable[[int, str], str], int | None]] = {
    "copies that begin in one second": (lambda _, event: saved(0, event, second=True), 1),
    "games of one day": (saved, None),
    "games of one round": (lambda _, event: saved(0, event, at="10:00:00"), None),
    "games without a date": (lambda number, event: saved(number, event, dated=False), None),
    "games of different seconds": (lambda number, event: saved(number, event, second=True), 0),
    "copies with clocks": (lambda _, event: saved(0, event, clocks="equal"), 1),
    "games with clocks of their own": (lambda number, event: saved(number, event, clocks="own"), 0),
    "logs in milliseconds": (lambda number, event: logged(number, event, ms=True), 0),
    "logs in seconds": (lambda number, event: logged(number, event, ms=False), None),
}
"""What two sources have of a game by its number, and how many games all are: 0 of each number one, None: all."""


def games_of(make: Callable[[int, str], str], count: int) -> list[Game]:
    """So many games in each of two sources."""
    found = []
    for name in ("one", "other"):
        data = "".join(make(number, name) for number in range(count)).encode()
        pipeline = make_pipeline(SourceKind.PGN if data.startswith(b"[Event") else SourceKind.RAW)
        for place, game in enumerate([*pipeline.receive(data), *pipeline.finish()]):
            for seen in game.observations:
                seen.source = SourceName(name, name)
            found.append(replace(game, key=f"{place:08}{name:>12}"))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_equal_games_take_work_in_proportion_to_their_number(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, wanted = KINDS[kind]
    compared: list[str] = []

    def counting(one: View, other: View) -> Verdicts:
        compared.append(one.game.key)
        return compare(one, other)

    for module in (grouping, duplicates):
        monkeypatch.setattr(module, "compare", counting)
    counts = []
    for count in (40, 80):
        games = games_of(make, count)
        assert len(games) == 2 * count
        compared.clear()
        merged = merge_games(games)
        left = len(games) - sum(len(game.merged_from) - 1 for game in merged)
        assert left == {None: 2 * count, 0: count}.get(wanted, wanted)
        if wanted == 0:
            assert all(len({key[:8] for key in game.merged_from}) == 1 for game in merged)
        shown = {game.key: game for game in games} | {key: game for game in merged for key in game.merged_from}
        found = duplicates.find_duplicates(games, shown, UNDECIDED)
        if wanted is None:
            assert found.pairs == [], "nothing is probable where so many repeat a game"
        counts.append(len(compared))
    assert counts[1] <= 2.5 * counts[0] + 100


def test_keys_of_equal_games_are_given_in_proportion_to_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both files have the same bytes but for the event, so the games of both have the same keys."""
    made: list[int] = []
    successor = storage.write.games.successor

    def counting(wanted: str, number: int) -> str:
        made.append(number)
        return successor(wanted, number)

    monkeypatch.setattr(storage.write.games, "successor", counting)
    counts = []
    for count in (25, 50):
        cli = Cli(tmp_path / f"{count}.sqlite")
        for event in ("x", "y"):
            (tmp_path / f"{event}.pgn").write_text(saved(0, event, second=True) * count)
        made.clear()
        cli("import", "-j", "1", tmp_path / "x.pgn", tmp_path / "y.pgn")
        counts.append(len(made))
        assert len(cli.json("games", "--json")) == 1
        assert len({key for row in cli.json("show", "last", "--json")["sources"] for key in row}) > 1
        cli("db", "check")
    assert counts[1] <= 2.5 * counts[0]
