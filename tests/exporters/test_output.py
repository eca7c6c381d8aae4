"""Files: nothing lost, nothing overwritten, nothing half-written, whatever names contain."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.base import GameExporter, file_stem, known_keys, open_output, write_file, write_split
from exporters.games_json import GamesJsonExporter
from exporters.pgn.exporter import PgnExporter
from recorder.errors import ExportError
from recorder.model import Game, Player, TimeBasis
from tests.exporters.games import make_game, random_game

GAMES = [random_game(seed, 20) for seed in range(4)]


def keys(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line[14:34] for line in lines if line.startswith('[RecorderKey "')]


def test_a_new_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "games.pgn"
    with open_output(target) as out:
        out.write(b"new")
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_export_changes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "games.pgn"
    target.write_bytes(b"old")

    def fail() -> None:
        with open_output(target, force=True) as out:
            out.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.pgn", tmp_path / "link.pgn"
    real.write_bytes(b"old")
    link.symlink_to(real)
    with open_output(link, force=True) as out:
        out.write(b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_folders_and_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="is a folder"), open_output(tmp_path, force=True):
        pass
    with pytest.raises(ExportError, match="cannot be written"), open_output(tmp_path / "no" / "games.pgn"):
        pass


@pytest.mark.parametrize("make", [PgnExporter, GamesJsonExporter])
def test_append_adds_only_new_games(tmp_path: Path, make: type[PgnExporter] | type[GamesJsonExporter]) -> None:
    target = tmp_path / "games"
    first: GameExporter = make()
    write_file(target, GAMES[:2], first, append=True)
    before = target.read_bytes()
    second: GameExporter = make()
    report = write_file(target, [*GAMES, GAMES[3]], second, append=True)
    assert target.read_bytes().startswith(before)
    assert known_keys(target, second) == {game.key for game in GAMES}
    assert report.games == 2
    assert report.excluded == {"already in the file": 3}
    whole: GameExporter = make()
    assert target.read_text(encoding="utf-8") == "".join(whole.game_text(game) for game in GAMES)


def test_append_to_a_file_without_a_last_line_end(tmp_path: Path) -> None:
    target = tmp_path / "games.pgn"
    target.write_text('[Event "?"]\n\n1. e4 *', encoding="utf-8")
    write_file(target, GAMES[:1], PgnExporter(), append=True)
    assert '1. e4 *\n[Event "FICS' in target.read_text(encoding="utf-8")


def test_split_by_player(tmp_path: Path) -> None:
    games = [
        make_game(key="a" * 20, white=Player("Ann"), black=Player("Bob")),
        make_game(key="b" * 20, white=Player("../etc"), black=Player("ANN")),
    ]
    report = write_split(tmp_path / "out", games, PgnExporter(), "player")
    assert {path.name: keys(path) for path in (tmp_path / "out").iterdir()} == {
        "ann.pgn": ["a" * 20, "b" * 20],
        "bob.pgn": ["a" * 20],
        "%2e%2e%2fetc.pgn": ["b" * 20],
    }
    assert report.games == 2


def test_split_by_day_and_variant(tmp_path: Path) -> None:
    games = [make_game(), make_game(time_basis=TimeBasis.NONE, variant=None), make_game([], variant="wild/5")]
    write_split(tmp_path / "day", games, PgnExporter(), "day")
    assert sorted(path.name for path in (tmp_path / "day").iterdir()) == ["2020-01-01.pgn", "undated.pgn"]
    write_split(tmp_path / "variant", games, GamesJsonExporter(), "variant")
    assert sorted(path.name for path in (tmp_path / "variant").iterdir()) == [
        "chess.jsonl", "unknown.jsonl", "wild%2f5.jsonl",
    ]  # fmt: skip


def test_split_refuses_before_anything_changes(tmp_path: Path) -> None:
    (tmp_path / "bob.pgn").write_text("old", encoding="utf-8")
    with pytest.raises(ExportError, match=r"bob\.pgn already exists"):
        write_split(tmp_path, GAMES, PgnExporter(), "player")
    assert [path.name for path in tmp_path.iterdir()] == ["bob.pgn"]
    write_split(tmp_path, GAMES, PgnExporter(), "player", force=True)
    assert keys(tmp_path / "bob.pgn") == [game.key for game in GAMES]


def test_split_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[Game]:
        yield GAMES[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_split(tmp_path, broken(), PgnExporter(), "player")
    assert list(tmp_path.iterdir()) == []


def test_split_and_append(tmp_path: Path) -> None:
    write_split(tmp_path, GAMES[:3], PgnExporter(), "player")
    report = write_split(tmp_path, GAMES, PgnExporter(), "player", append=True)
    assert keys(tmp_path / "ann.pgn") == keys(tmp_path / "bob.pgn") == [game.key for game in GAMES]
    assert (report.games, report.excluded) == (1, {"already in the file": 3})


@given(st.lists(st.text(min_size=0, max_size=200), max_size=10))
def test_names_are_safe_and_differ(handles: list[str]) -> None:
    stems = {handle: file_stem(handle) for handle in handles}
    for stem in stems.values():
        assert 0 < len(stem) < 130
        assert all(character in "abcdefghijklmnopqrstuvwxyz0123456789_-%" for character in stem)
    assert len({stem.lower() for stem in stems.values()}) == len(
        {handle.lower().encode("utf-8", "replace") for handle in handles}
    )


@pytest.mark.parametrize(
    ("handle", "stem"),
    [
        ("CON", "%63on"),
        ("com1", "%63om1"),
        ("console", "console"),
        (".hidden", "%2ehidden"),
        ("", "%"),
        ("a/b\\c:d", "a%2fb%5cc%3ad"),
    ],
)
def test_names(handle: str, stem: str) -> None:
    assert file_stem(handle) == stem
