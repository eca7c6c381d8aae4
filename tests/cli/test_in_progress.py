"""Lists, ``show`` and pages mark games in progress."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from recorder.journal import JournalWriter
from tests.archive.test_following import END, STREAM, append, follow
from tests.support.cli import Cli
from tests.support.site import client_of


def ended_and_not(cli: Cli) -> tuple[dict[str, str], dict[str, str]]:
    """The rows of a game with a result and of a game without one."""
    rows = cli.table("games")
    return next(row for row in rows if row["Result"] != "*"), next(row for row in rows if row["Result"] == "*")


@pytest.fixture
def journal(cli: Cli, tmp_path: Path) -> JournalWriter:
    """A journal that is still being written, in the middle of a game; its bytes so far are imported."""
    writer = JournalWriter(tmp_path / "j", host="h", port=1, role="record")
    writer.received(STREAM[:END])
    cli("import", writer.path)
    return writer


def test_a_game_in_progress_is_listed_as_such(cli: Cli, journal: JournalWriter) -> None:
    ended, going_on = ended_and_not(cli)
    assert going_on["Remarks"] == "in progress"
    assert "in progress" not in ended["Remarks"]
    assert [game["key"][:8] for game in cli.json("games", "--json") if game["in_progress"]] == [going_on["Key"]]
    shown = cli("show", going_on["Key"]).stdout
    assert "Ended:                 in progress\n" in shown
    assert "Finished:" not in shown
    assert cli("games").stderr.splitlines()[0] == "2 games, 1 in progress."
    assert "incomplete" not in shown
    assert "in progress" not in cli("show", ended["Key"]).stdout
    journal.close()
    assert ended_and_not(cli)[1]["Remarks"] == "log ends, incomplete"


@pytest.mark.long
def test_pages_mark_games_in_progress(cli: Cli, journal: JournalWriter) -> None:
    _, going_on = ended_and_not(cli)
    page = cli("report", going_on["Key"]).stdout
    assert "In progress" in page
    assert "The game is in progress: its log is still being written." in page
    assert not any(words in page.lower() for words in ("log ends here.", "not complete", "<dt>ended<"))
    assert "in progress" in cli("report", "--index").stdout
    assert "in progress" in cli("report", "--player", going_on["White"]).stdout
    journal.close()
    for words in ((going_on["Key"],), ("--index",), ("--player", going_on["White"])):
        assert "in progress" not in cli("report", *words).stdout.lower()


@pytest.mark.parametrize("style", ["default", "fics"])
def test_pgn_names_no_end_of_a_game_in_progress(cli: Cli, journal: JournalWriter, style: str) -> None:
    ended, going_on = ended_and_not(cli)

    def text(key: str) -> str:
        return " ".join(cli("export", "pgn", "--style", style, key).stdout.split())

    before = text(going_on["Key"])
    assert before.endswith("{Game in progress} *")
    assert not any(word in before for word in ("RecorderEnd", "UTCEndTime", "Log ends here"))
    assert "in progress" not in text(ended["Key"])
    if style == "default":
        assert "{Game in progress} *" in " ".join(cli("report", going_on["Key"]).stdout.split())
        assert "UTCEndTime" in text(ended["Key"])
    journal.close()
    after = text(going_on["Key"])
    assert after.endswith("{Log ends here} *")
    assert ("RecorderEnd" in after and "UTCEndTime" in after) == (style == "default")


def test_pictures_mark_games_in_progress(cli: Cli, journal: JournalWriter) -> None:
    key = ended_and_not(cli)[1]["Key"]
    drawn = cli("plot", "race", key, "-o", "-", "--format", "svg").stdout
    assert "in progress" in drawn
    assert "log ends" not in drawn
    journal.close()
    assert "log ends" in cli("plot", "race", key, "-o", "-", "--format", "svg").stdout


def test_lists_of_a_site_mark_games_in_progress(
    cli: Cli, journal: JournalWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def result_of(page: str) -> str:
        return re.findall(r'<td class="result[^"]*">(.*?)</td>', page)[0]  # the newest game's

    site = client_of(cli.archive)
    monkeypatch.setattr(
        "recorder.archive.pages.player_pages.pages_of_players", lambda *_: iter(())
    )  # they have pictures
    cli("report", "--site", tmp_path / "site")
    for page in (site.get("/").text, (tmp_path / "site" / "index.html").read_text(encoding="utf-8")):
        assert result_of(page) == "in progress"
    assert "incomplete" not in re.findall(r"<tr>.*?</tr>", site.get("/").text, re.DOTALL)[1]
    journal.close()
    assert result_of(site.get("/").text) == "log ends"


@pytest.mark.parametrize(
    ("module", "words", "games_first"),
    [
        ("recorder.archive.pages.related", ("games",), False),
        ("recorder.archive.pages.related", ("games", "--json"), False),
        ("recorder.archive.pages.related", ("export", "pgn", "last"), False),
        ("recorder.archive.pages.related", ("show", "last"), True),
        ("recorder.archive.pages.reports", ("report", "--index"), True),
    ],
)
def test_the_end_of_a_game_changes_no_list_that_is_being_made(
    cli: Cli,
    journal: JournalWriter,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    words: tuple[str, ...],
    games_first: bool,
) -> None:
    """What is in progress is read in the same transaction as the games."""
    before = cli(*words)
    real = importlib.import_module(module).games_in_progress
    ended: list[Path] = []

    def end() -> None:
        if not ended:
            ended.append(journal.path)
            journal.received(STREAM[END:])
            cli("import", journal.path)

    def meanwhile(archive: Any) -> Any:
        if games_first:
            end()
        found = real(archive)
        end()
        return found

    monkeypatch.setattr(module + ".games_in_progress", meanwhile)
    after = cli(*words)
    assert ended
    assert (after.stdout, after.stderr) == (before.stdout, before.stderr)


def test_games_of_a_followed_log_are_in_progress_until_the_log_is_removed(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM[:END])
    follow(cli, log).look(settle=True)
    assert ended_and_not(cli)[1]["Remarks"] == "in progress"
    log.unlink()
    assert ended_and_not(cli)[1]["Remarks"] == "log ends, incomplete"


def test_a_game_that_ends_in_another_log_is_not_in_progress(cli: Cli, journal: JournalWriter, tmp_path: Path) -> None:
    other = JournalWriter(tmp_path / "other", host="h", port=1, role="record")
    other.received(STREAM)
    other.close()
    cli("import", other.path)
    assert len(cli.json("games", "--json")) == 5
    assert not any(game["in_progress"] for game in cli.json("games", "--json"))
