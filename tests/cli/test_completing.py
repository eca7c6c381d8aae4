"""The shells complete values of an archive; the tests use the protocol of the completion scripts."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recorder.archive.game_measures import CLOCK_TABLES
from recorder.cli.plot import NAMES
from tests.support.cli import SERVER, Cli

BASH, ZSH, FISH = "bash", "zsh", "fish"


def ask(cli: Cli, shell: str, *words: str, env: dict[str, str] | None = None) -> list[tuple[str, str | None]]:
    """Return what a shell offers for the last word: values with descriptions."""
    typed = " ".join(("ics-recorder", *words))
    variables = {"_ICS_RECORDER_COMPLETE": f"{shell}_complete", "COMP_WORDS": typed, **(env or {})}
    variables["COMP_CWORD"] = words[-1] if shell == FISH else str(len(words))
    result = cli(env=variables, prog_name="ics-recorder", code=0)
    assert result.stderr == ""
    lines = result.stdout.splitlines() if result.stdout.strip() else []
    if shell == BASH:
        return [(line.split(",", 1)[1], None) for line in lines]
    if shell == ZSH:
        rows = list(zip(*[iter(lines)] * 3, strict=True))
        return [(value, None if about == "_" else about) for _, value, about in rows]
    rows = [line.split(",", 1)[1].split("\t") for line in lines]  # type: ignore[misc]  # rows was a list of tuples above
    return [(row[0], row[1] if len(row) > 1 else None) for row in rows]


def values(cli: Cli, *words: str) -> list[str]:
    """Return the values offered to a shell; all shells must get the same ones."""
    by_shell = [[value for value, _ in ask(cli, shell, *words)] for shell in (BASH, ZSH, FISH)]
    assert by_shell[0] == by_shell[1] == by_shell[2]
    return by_shell[0]


def test_handles_of_players(filled: Cli) -> None:
    games = filled.json("games", "--json")
    handles = {game[side]["handle"] for game in games for side in ("white", "black")}
    some = min(handles)
    for words in (["games", "--player"], ["export", "pgn", "--white"], ["clocks", "--opponent"], ["forget"]):
        assert set(values(filled, *words, "")) == handles
        assert some in values(filled, *words, some[:2].lower())
    assert values(filled, "games", "--player", "zzzz") == []


def test_keys_with_their_players(filled: Cli) -> None:
    newest = [game["key"] for game in filled.json("games", "--json")]
    assert {key[:8] for key in newest} | {"last"} == set(values(filled, "show", ""))
    game = filled.json("games", "--json", "--last", 1)[0]
    key, players = game["key"], f"{game['white']['handle']} - {game['black']['handle']} {game['result']}"
    for words in (["show"], ["export", "pgn"], ["plot", "race"], ["duplicates", "merge"], ["replay", "terminal"]):
        for shell in (ZSH, FISH):
            ((value, about),) = ask(filled, shell, *words, key[:6])
            assert value == key[:8]
            assert about.startswith(players)
    assert values(filled, "show", key[:11]) == [key[:11]]


def test_sources_with_their_names(filled: Cli) -> None:
    sources = {row["id"]: row["name"] for row in filled.json("sources", "--json")}
    for words in (["verify"], ["anomalies"], ["sources", "forget"], ["games", "--source"]):
        assert set(values(filled, *words, "")) == set(sources)
        assert dict(ask(filled, FISH, *words, min(sources)[:4])) == {min(sources): sources[min(sources)]}


def test_words_of_the_games(filled: Cli) -> None:
    filled("import", SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn")
    games = filled.json("games", "--json", "--include", "examined,setup,empty")
    for option, field in (("--variant", "variant"), ("--category", "category")):
        found = {game[field] for game in games if game[field]}
        assert found
        assert set(values(filled, "games", option, "")) == found
    assert "unknown" in values(filled, "games", "--server", "u")
    assert {row["me"] for row in filled.json("sources", "--json")} - {None} == set(values(filled, "games", "--me", ""))


def test_names_of_pictures_tables_and_times(filled: Cli) -> None:
    assert dict(ask(filled, FISH, "plot", "")) == NAMES
    assert dict(ask(filled, ZSH, "clocks", "--table", "l")) == {
        name: table.about for name, table in CLOCK_TABLES.items() if name.startswith("l")
    }
    assert values(filled, "export", "pgn", "--clock", "clk,") == ["clk,emt", "clk,lag"]


def test_the_archive_that_the_command_line_or_the_file_names(filled: Cli, tmp_path: Path) -> None:
    elsewhere = {"ICS_RECORDER_DB": str(tmp_path / "missing.sqlite")}
    handles = ask(filled, BASH, "games", "--player", "")
    assert handles
    assert ask(filled, BASH, "games", "--player", "", env=elsewhere) == []
    for words in (("games", "--db", str(filled.archive)), ("--db", f"sqlite:///{filled.archive}", "games")):
        assert ask(filled, BASH, *words, "--player", "", env=elsewhere) == handles
    file = tmp_path / "config.toml"
    file.write_text(f"[global]\ndb = '{filled.archive}'\n", encoding="utf-8")
    named = {"ICS_RECORDER_DB": "", "ICS_RECORDER_CONFIG": str(file)}
    assert ask(filled, BASH, "games", "--player", "", env=named) == handles
    assert ask(filled, BASH, "--config", str(file), "games", "--player", "", env={"ICS_RECORDER_DB": ""}) == handles
    file.write_text("[global\n", encoding="utf-8")
    assert [value for value, _ in ask(filled, BASH, "--config", str(file), "games", "--play")] == ["--player"]


@pytest.mark.parametrize("content", [None, b"", b"no archive", b"SQLite format 3\0 but damaged"])
def test_nothing_is_completed_without_an_archive(cli: Cli, content: bytes | None) -> None:
    if content is not None:
        cli.archive.write_bytes(content)
    for words in (["games", "--player"], ["verify"], ["games", "--variant"], ["games", "--db", "http://x", "--me"]):
        assert values(cli, *words, "") == []
    assert values(cli, "show", "") == ["last"]
    assert values(cli, "show", "6") == []
    assert cli.archive.exists() == (content is not None)


def test_a_value_that_needs_quotes_is_not_completed(filled: Cli) -> None:
    with closing(sqlite3.connect(filled.archive)) as driver, driver:
        for number, handle in enumerate(("Two Words", "$(reboot)", "a;b", "-x", "new\nline", "Größe", "50%_off")):
            row = (9000 + number, "s", handle, handle.lower())
            driver.execute("INSERT INTO players (id, server, handle, handle_folded) VALUES (?, ?, ?, ?)", row)
    found = values(filled, "games", "--player", "")
    assert {"Größe", "50%_off"} <= set(found)
    assert not {"Two Words", "$(reboot)", "a;b", "-x", "new\nline"} & set(found)
    assert values(filled, "games", "--player", "50%_") == ["50%_off"]
    assert values(filled, "games", "--player", "50%o") == []
