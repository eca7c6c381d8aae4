"""``duplicates`` lists probable duplicates; the user's decisions survive every change of the archive."""

import json
from pathlib import Path
from typing import Any

import pytest

from storage.maintenance.check import check
from tests.relating.scenes import journal
from tests.support.cli import SERVER, Cli

LOGS = [SERVER / "a01_standard" / f"observer_{name}.raw.gz" for name in ("GuestObsA", "Watcher")]
"""Two logs without times of day: 15 games, of which 5 are listed twice, as their times are too few for a proof."""


@pytest.fixture(scope="module")
def _both(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    made = Cli(tmp_path_factory.mktemp("both") / "archive.sqlite")
    copy = made.archive.with_name("copy.sqlite")
    made("import", *LOGS)
    made("db", "backup", copy)
    return copy.read_bytes()


@pytest.fixture
def both(cli: Cli, _both: bytes) -> Cli:
    """An archive of both logs."""
    cli.archive.write_bytes(_both)
    return cli


def _pairs(cli: Cli) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli.json("duplicates", "--json")
    return found


def _keys(cli: Cli, *words: str) -> list[str]:
    return [game["key"] for game in cli.json("games", "--json", *words)]


def _longest(cli: Cli) -> tuple[str, str]:
    one, other = max(_pairs(cli), key=lambda pair: pair["equal_plies"])["keys"]
    return one, other


def test_probable_duplicates_are_listed_with_their_evidence(both: Cli) -> None:
    pairs = _pairs(both)
    assert len(pairs) == 5
    assert [pair["equal_plies"] for pair in pairs] == [45, 40, 20, 19, 7], "the most probable first"
    for pair in pairs:
        one, other = pair["games"]
        assert (one["white"], one["black"], one["result"]) == (other["white"], other["black"], other["result"])
        assert pair["keys"] == [one["key"], other["key"]]
        assert pair["equal_plies"] == one["plies"] == other["plies"] == pair["clocks"] == pair["equal_clocks"]
        assert pair["bits"] < pair["required_bits"] == 40
        assert f"{pair['equal_plies']} equal plies" in pair["for"]
        assert f"result {one['result']} in both" in pair["for"]
        assert pair["against"] == []
    rows = both.table("duplicates")
    assert [row["Key"] for row in rows] == [pair["keys"][0][:8] for pair in pairs]
    assert "5 pairs of probable duplicates." in both("duplicates").stderr


@pytest.mark.long
def test_unique_counts_probable_duplicates_once(both: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Games are counted, not what their pictures and the pages of players show, which take seconds.
    monkeypatch.setattr("recorder.archive.pages.player_pages.pages_of_players", lambda archive, players, site: ())
    assert len(_keys(both)) == 20
    unique = set(_keys(both, "--unique"))
    assert len(unique) == 15
    assert all(len(unique.intersection(pair["keys"])) == 1 for pair in _pairs(both))
    folded = "5 folded as probable duplicates"
    assert folded in both("games", "--unique").stderr
    assert "folded" not in both("games").stderr
    assert len(_keys(both, "--unique", "--last", "15")) == 15
    for kind in ("pgn", "games", "plies"):
        assert folded in both("export", kind, "--unique", "-o", tmp_path / kind).stderr
    assert (tmp_path / "pgn").read_text().count("[Event ") == 15
    assert {row.split(",", 1)[0] for row in (tmp_path / "plies").read_text().splitlines()[1:]} == unique
    sides = both("clocks", "--unique", "--json")
    assert len(json.loads(sides.stdout)) == 2 * 15
    assert folded in sides.stderr
    assert folded in both("clocks", "--unique", "--by", "side").stderr
    assert folded in both("report", "--unique", "--index", "-o", tmp_path / "index.html").stderr
    both("report", "--unique", "last", "-o", tmp_path / "game.html")
    for number, hidden in enumerate(((), ("--pseudonyms",))):  # which change keys, too
        both("report", "--site", tmp_path / f"site{number}", "--unique", *hidden)
        assert len([*(tmp_path / f"site{number}" / "games").iterdir()]) == 15


def test_unique_keeps_one_of_the_chosen_games(both: Cli) -> None:
    """If only one log is chosen, its games are not hidden by the other log's games."""
    for source in both.json("sources", "--json"):
        chosen = both.json("games", "--json", "--unique", "--source", source["id"])
        assert len(chosen) == len(both.json("games", "--json", "--source", source["id"])) == source["games"]


def test_a_merge_stays_and_a_split_undoes_it(both: Cli) -> None:
    before = both("export", "games").stdout
    one, other = _longest(both)
    tried = both.json("duplicates", "merge", one[:8], other[:8], "--dry-run", "--json")
    assert (tried["dry_run"], [game["key"] for game in tried["games"]]) == (True, [one])
    assert both("export", "games").stdout == before
    assert both.json("duplicates", "--decided", "--json") == []

    done = both.json("duplicates", "merge", one[:8], other[:8], "--json")
    assert done["games"] == tried["games"]
    assert done["games"][0]["observations"] == [one, other]
    assert "a person decided that they are one game" in both("show", one).stdout
    assert len(_keys(both)) == 19
    assert len(_pairs(both)) == 4
    merged = both("export", "games").stdout
    both("import", *LOGS)
    assert both("export", "games").stdout == merged
    both("db", "rebuild")
    assert both("export", "games").stdout == merged
    assert check(both.archive) == []
    assert "0 findings" in both("verify").output

    split = both.json("duplicates", "split", one, "--json")
    assert [game["key"] for game in split["games"]] == [one, other]
    assert both("export", "games").stdout == before
    assert one not in [key for pair in _pairs(both) for key in pair["keys"]]
    assert len(_keys(both, "--unique")) == 16
    both("db", "rebuild")
    assert both("export", "games").stdout == before
    (decision,) = both.json("duplicates", "--decided", "--json")
    assert (decision["keys"], decision["same"]) == ([one, other], False)
    both("duplicates", "merge", one, other)
    assert both("export", "games").stdout == merged


def test_all_are_merged_at_once_as_they_are_counted_once(both: Cli) -> None:
    unique, before = len(_keys(both, "--unique")), both("export", "games").stdout
    tried = both.json("duplicates", "merge", "--all", "--dry-run", "--json")
    assert (tried["dry_run"], len(tried["games"])) == (True, 5)
    assert both("export", "games").stdout == before
    assert "These are now 5 games." in both("duplicates", "merge", "--all").stderr
    assert len(_keys(both)) == len(_keys(both, "--unique")) == unique
    merged = both("export", "games").stdout
    assert "No probable duplicates." in both("duplicates", "merge", "--all").stderr
    assert len(both.json("duplicates", "--decided", "--json")) == 5
    both("db", "rebuild")
    assert both("export", "games").stdout == merged
    for game in tried["games"]:
        both("duplicates", "split", game["key"])
    assert both("export", "games").stdout == before
    both("duplicates", "merge", "--all")
    assert both("export", "games").stdout == before, "a decision that they are different counts"
    assert "or --all" in both("duplicates", "merge", tried["games"][0]["key"], code=2).stderr


def test_a_game_that_the_rules_merged_can_be_split(cli: Cli, tmp_path: Path) -> None:
    paths = []
    for name in ("observer_GuestObsA", "observer_Watcher", "player_Morphy"):
        paths.append(tmp_path / f"{name}.icsj")
        paths[-1].write_bytes(journal("a01_standard", name))
    cli("import", *paths)
    before = cli("export", "games").stdout
    listed = [json.loads(line) for line in before.splitlines()]
    one, two, three = next(game["witnesses"] for game in listed if len(game["witnesses"]) == 3)

    alone = cli.json("duplicates", "split", two, "--json")["games"]
    assert [game["observations"] for game in alone] == [[one, three], [two]]
    cli("import", *paths)
    cli("db", "rebuild")
    assert len(_keys(cli)) == len(listed) + 1
    assert check(cli.archive) == []
    cli("duplicates", "merge", one, two)
    assert [json.loads(line)["witnesses"] for line in cli("export", "games").stdout.splitlines()] == [
        game["witnesses"] for game in listed
    ]

    assert len(cli.json("duplicates", "split", one, "--json")["games"]) == 2, "as it was before the merge by hand"
    assert len(cli.json("duplicates", "split", one, "--json")["games"]) == 2


def test_decisions_go_with_an_archive_that_is_imported(both: Cli, tmp_path: Path) -> None:
    one, other = _longest(both)
    both("duplicates", "merge", one, other)
    expected = both("export", "games").stdout
    here = Cli(tmp_path / "here.sqlite")
    here("import", *LOGS)
    here("import", both.archive)
    assert here("export", "games").stdout == expected
    here("duplicates", "split", one)
    here("import", both.archive)
    assert len(_keys(here)) == 20, "the later decision counts"
    later = Cli(tmp_path / "later.sqlite")
    later("import", LOGS[0])
    half = Cli(tmp_path / "half.sqlite")
    half("import", both.archive)
    half("sources", "forget", next(row["id"] for row in half.json("sources", "--json") if "Watcher" in row["name"]))
    assert half.json("duplicates", "--decided", "--json") == [], "a decision goes with its game"
    later("import", both.archive)
    assert later("export", "games").stdout == expected
    shared = tmp_path / "shared.sqlite"
    both("db", "share", "--pseudonyms", "-o", shared)
    assert check(shared) == []
    assert len(_keys(Cli(shared))) == 19


def test_games_that_cannot_be_one_are_not_merged(both: Cli) -> None:
    pairs = _pairs(both)
    one = pairs[0]
    other = next(pair for pair in pairs if pair["games"][0]["white"] != one["games"][0]["white"])
    assert "the players differ" in both("duplicates", "merge", one["keys"][0], other["keys"][0], code=4).stderr
    repeated = next(
        pair
        for pair in pairs
        if pair is not one and all(pair["games"][0][side] == one["games"][0][side] for side in ("white", "black"))
    )
    refused = both("duplicates", "merge", one["keys"][0], repeated["keys"][0], code=4).stderr
    assert "the moves differ at ply" in refused
    assert "No game has a key" in both("duplicates", "merge", one["keys"][0], "ffffffff", code=4).stderr
    both("duplicates", "merge", *one["keys"])
    assert "are already one game" in both("duplicates", "merge", *one["keys"], code=4).stderr
