"""Logs that do not name their server: one game with others that do, if the times show it."""

import itertools
import random
from dataclasses import replace
from pathlib import Path

import pytest

from recorder.model import Game, SourceName
from recorder.relating.compare import Verdict, compare
from recorder.relating.game_view import View
from recorder.relating.merge import merge_games
from tests.edge_cases.scripts import log
from tests.relating.interrupted import Played, game_of
from tests.support import product
from tests.support.cli import Cli
from tests.support.effort import long_after

_SITE = "FICS freechess.org"


def _spent(seed: int, plies: int = 30) -> list[int]:
    chance = random.Random(seed)
    return [chance.randrange(9_000) for _ in range(plies)]


def _raw(games: list[Played]) -> bytes:
    """What a client has logged of games: neither the server's name nor any time of day."""
    lines = [line for game in games for _, lines in game.lines(-1_000, 10_000_000, False, 0) for line in lines]
    return log("fics% ", *lines)


def _files(folder: Path, games: list[Played], *, site: str, date: str, cut: int = 0) -> tuple[Path, Path]:
    """A raw log and a PGN file of the same games; of each game the log lacks so many moves at its end."""
    (folder / "log.raw").write_bytes(_raw(games))
    Cli(folder / "unused.sqlite")("convert", folder / "log.raw", "-o", folder / "games.pgn")
    text = (folder / "games.pgn").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("[Recorder")]
    tags = {"[Site ": f'[Site "{site}"]', "[Date ": f'[Date "{date}"]'}
    lines = [next((tag for begin, tag in tags.items() if line.startswith(begin)), line) for line in lines]
    (folder / "games.pgn").write_text("\n".join(lines) + "\n")
    if cut:
        kept = [replace(game, spent_ms=game.spent_ms[:-cut], ends_ms=None) for game in games]
        (folder / "log.raw").write_bytes(_raw(kept))
    return folder / "log.raw", folder / "games.pgn"


@pytest.mark.parametrize("ms", long_after(1, [False, True]))
@pytest.mark.parametrize("date", ["2020.01.01", "????.??.??"])
@pytest.mark.parametrize("cut", [0, 4])
def test_a_log_without_a_server_and_saved_games_are_the_same_games(
    tmp_path: Path, ms: bool, date: str, cut: int
) -> None:
    games = [Played(0, _spent(seed), ms=ms, number=seed) for seed in range(1, 7)]
    files = _files(tmp_path, games, site=_SITE, date=date, cut=cut)
    found = []
    for number, order in enumerate(itertools.permutations(files)):
        cli = Cli(tmp_path / f"{number}.sqlite")
        printed = cli("import", *order).output
        assert "use --server" not in printed
        shown = cli.json("games", "--json")
        assert {(game["server"], game["ply_count"], game["complete"]) for game in shown} == {(_SITE, 30, True)}
        cli("db", "check")
        found.append(shown)
    assert found[0] == found[1]
    assert len(found[0]) == 6


def test_what_is_less_than_sure_is_listed_and_folded_and_has_a_remedy(tmp_path: Path) -> None:
    """Programs that move at once: their times prove nothing."""
    games = [Played(0, [100] * 30, number=seed) for seed in range(1, 3)]
    log_file, saved = _files(tmp_path, games, site=_SITE, date="2020.01.01")
    cli = Cli(tmp_path / "a.sqlite")
    printed = cli("import", log_file, saved).output
    assert "use --server" in printed
    assert len(cli.json("games", "--json")) == 4
    assert cli.json("duplicates", "--json")
    assert len(cli.json("games", "--unique", "--json")) == 2


def _game(name: str, server: str | None, dialect: str | None = None, seed: int = 1, ms: bool = True) -> Game:
    """A log's view of a game, without times of day."""
    (game,), _ = product.run([_raw([Played(0, _spent(seed), ms=ms)])], "raw")
    for seen in game.observations:
        seen.source = SourceName(name, name)
    return replace(game, key=name * 20, server=server, dialect=dialect)


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ((None, None), (None, None), Verdict.SAME),
        ((None, None), ("a.org", None), Verdict.SAME),
        ((None, "FICS"), (_SITE, "FICS"), Verdict.SAME),
        ((None, "FICS"), ("Internet Chess Club", "ICC"), Verdict.APART),
        (("a.org", None), ("b.org", None), Verdict.APART),
    ],
)
def test_which_servers_may_be_one(
    one: tuple[str | None, str | None], other: tuple[str | None, str | None], verdict: Verdict
) -> None:
    assert compare(View(_game("a", *one)), View(_game("b", *other))).verdict is verdict


def test_a_game_without_a_server_that_is_one_of_two_servers_is_none_of_them() -> None:
    games = [_game("a", None), _game("b", "b.org"), _game("c", "c.org")]
    for order in itertools.permutations(games):
        assert merge_games(order) == []
    assert [game.server for game in merge_games(games[:2])] == ["b.org"]
    assert [game.merged_from for game in merge_games([*games, _game("d", None, seed=2)])] == []


def test_a_number_belongs_to_one_game_of_a_known_server_only() -> None:
    """A game that is lost from sight, and another log, which does not name its server, of its rest."""
    game = Played(0, _spent(1)[:3] + [40_000] * 20)
    (before,) = game_of("a", [game], -1_000, game.times_ms[5])
    (after,) = game_of("b", [game], game.times_ms[8], 2_000_000, listed=False)
    assert len(merge_games([before, after])) == 1
    assert merge_games([before, replace(after, server=None, dialect=None)]) == []
