"""``ics-recorder explain``: of journals, logs and saved tables."""

import json
import signal
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recorder.cli import main
from recorder.errors import ExitCode
from recorder.journal import JournalWriter, Sync
from recorder.live.policy.plan import ObservationPlan, plan_notes
from tests.live.test_capture import BOARD
from tests.live.test_capture import TABLE as CAPTURED
from tests.live.test_observing import row, table
from tests.support.live import in_loop, running
from tests.support.script import Hear, Say
from tests.support.testserver import FICS, Dialogue, ScriptedServer

TABLE = "\n\r".join(table(row(1), row(2, flags=" bu"), row(3))).encode() + b"\n\r"
END = b"{Game 1 (White1 vs. Black1) White1 resigns} 0-1\n\r"


def explain(*words: object, stdin: bytes | None = None) -> Result:
    given = None if stdin is None else BufferedReader(BytesIO(stdin))
    return CliRunner().invoke(main, ["explain", *map(str, words)], input=given)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal in two parts in which game 1 was observed."""
    writer = JournalWriter(tmp_path, host="h", port=5000, role="record", sync=Sync.OS, max_bytes=1000)
    for facts in plan_notes(ObservationPlan("rated", limit=1)):
        writer.note("policy", **facts)
    for data in (TABLE, b"You are now observing game 1.\n\r", END):
        writer.received(data)
    writer.close()
    return sorted(tmp_path.iterdir())[-1]


def test_a_policy_changed_while_recording_applies_from_there(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, host="h", port=5000, role="record", sync=Sync.OS)
    begun = (b"You are now observing game %d.\n\r", b"{Game %d (White%d vs. Black%d) White%d resigns} 0-1\n\r")
    for plan, number in ((ObservationPlan("rated"), 1), (ObservationPlan("unrated"), 2)):
        for facts in plan_notes(plan):
            writer.note("policy", **facts)
        if number == 1:
            writer.received(TABLE)
        writer.received(begun[0] % number)
        writer.received(begun[1] % ((number,) * 4))
    writer.close()
    (journal,) = tmp_path.iterdir()
    _, *rows = (line.split("\t") for line in explain(journal).stdout.splitlines())
    assert [(cells[0], cells[6] != "no", cells[7]) for cells in rows] == [
        ("1", True, "in part, a part of it did not come: rated is true because the game is rated"),
        ("2", True, "in part, a part of it did not come: unrated is true because the game is unrated"),
        ("3", False, "asked for without an answer: rated is true because the game is rated"),
    ]


def test_a_journal_contains_the_policy_it_was_recorded_with(journal: Path) -> None:
    result = explain(journal)
    assert result.exit_code == ExitCode.OK, result.stderr
    heading, *rows = (line.split("\t") for line in result.stdout.splitlines())
    assert heading == ["game", "White", "Black", "type", "from", "until", "observed", "why"]
    assert [(cells[0], cells[1], cells[6] != "no", cells[7]) for cells in rows] == [
        ("1", "White1", True, "in part, a part of it did not come: rated is true because the game is rated"),
        ("2", "White2", False, "rated is false because the game is unrated"),
        ("3", "White3", False, "asked for without an answer: rated is true because the game is rated"),
    ]
    assert rows[0][4].startswith("20")
    assert rows[0][4].endswith("Z")
    assert "3 games, 1 observed, 1 of them in part." in result.stderr
    assert "could not be read" not in result.stderr
    assert "Games: 1 matched and ended, 0 whole, 1 in part (1: a part of it did not come, " in result.stderr


@pytest.mark.parametrize(
    ("end", "missing", "counted"),
    [
        (b"{Game 12 (Ann vs. Bob) Bob resigns} 1-0\n\r", None, "1 observed."),
        (b"", "its end did not come", "1 observed, 1 of them in part."),
    ],
)
def test_a_game_in_part_is_marked(tmp_path: Path, end: bytes, missing: str | None, counted: str) -> None:
    writer = JournalWriter(tmp_path, host="h", port=5000, role="record", sync=Sync.OS)
    for facts in plan_notes(ObservationPlan("all", limit=1)):
        writer.note("policy", **facts)
    for data in (CAPTURED, BOARD, end):
        writer.received(data)
    writer.close()
    (journal,) = tmp_path.iterdir()
    assert counted in explain(journal).stderr
    assert [game["missing"] for game in json.loads(explain(journal, 12, "--json").stdout)] == [missing]
    shown = explain(journal, 12).stdout
    assert (f"observed: in part, {missing}: " in shown) == (missing is not None)


def test_unreadable_lines_of_a_table_are_reported() -> None:
    listing = "\n".join([row(1), "  2 something else", "  2 games displayed.", ""]).encode()
    result = explain("-", "--observe", "rated", stdin=listing)
    assert "1 line of the tables of games could not be read." in result.stderr


@in_loop
async def test_record_notes_its_policy(tmp_path: Path) -> None:
    async with (
        ScriptedServer(
            Dialogue(FICS, script=[Hear(b"observe 12"), Say(BOARD)], answers={b"games": CAPTURED})
        ) as server,
        running(
            *("record", f"127.0.0.1:{server.port}", "--guest", "--observe", "rated & blitz", "--limit", "3"),
            *("--no-import", "--journal-dir", tmp_path),
        ) as run,
    ):
        await (await server.connection()).done.wait()
        assert await run.end(signal.SIGTERM) == ExitCode.OK
    (journal,) = tmp_path.iterdir()
    (game,) = json.loads(explain(journal, "--json").stdout)
    assert (game["game_no"], game["white"], game["observed"]) == (12, "Ann", True)
    assert game["reason"] == "rated is true because the game is rated and blitz is true because the game is blitz"


def test_another_policy_on_the_same_session(journal: Path) -> None:
    result = explain(journal, "--observe", "unrated", "--json")
    assert [(game["game_no"], game["observed"]) for game in json.loads(result.stdout)] == [
        (1, False),
        (2, True),
        (3, False),
    ]


def test_one_game_part_by_part(journal: Path) -> None:
    result = explain(journal, 2, "--observe", "rated | rating > 1400")
    assert result.exit_code == ExitCode.OK, result.stderr
    first, *lines = result.stdout.splitlines()
    assert first.startswith("Game 2, White2 – Black2, blitz, 20")
    assert lines == [
        "  observed: rating > 1400 is true because White has 1500, Black has 1500",
        "    rated | rating > 1400: true",
        "      rated: false (the game is unrated)",
        "      rating > 1400: true (White has 1500, Black has 1500)",
    ]


def test_the_parts_as_json(journal: Path) -> None:
    (game,) = json.loads(explain(journal, 2, "--json").stdout)
    assert game["parts"] == {"text": "rated", "value": False, "reason": "the game is unrated", "parts": []}
    assert (game["observed"], game["observed_at"], game["fate"]) == (False, None, "not wanted")
    assert game["seen_at"] <= game["gone_at"]


def test_a_game_without_any_line_is_reported(journal: Path) -> None:
    result = explain(journal, 2, 9)
    assert result.exit_code == ExitCode.FINDINGS
    assert f"{journal} does not contain game 9." in result.stderr


def test_a_saved_table_needs_a_policy_and_no_times(tmp_path: Path) -> None:
    saved = tmp_path / "games.txt"
    saved.write_bytes(TABLE)
    assert explain(saved).exit_code == ExitCode.USAGE
    assert "add --observe" in explain(saved).stderr
    for result in (explain(saved, "--observe", "rated"), explain("-", "--observe", "rated", stdin=TABLE)):
        assert [line.split("\t")[4:7] for line in result.stdout.splitlines()[1:]] == [
            ["-", "-", "yes"],
            ["-", "-", "no"],
            ["-", "-", "yes"],
        ]
    (game,) = json.loads(explain(saved, 1, "--json", "--observe", "rated").stdout)
    assert (game["seen_at"], game["observed"], game["observed_at"]) == (None, True, None)


def test_handles_and_limit(tmp_path: Path) -> None:
    (tmp_path / "masters").write_text("White3\n", encoding="utf-8")
    result = explain("-", "--observe-handles", tmp_path / "masters", "--json", stdin=TABLE)
    assert [game["observed"] for game in json.loads(result.stdout)] == [False, False, True]
    result = explain("-", "--observe", "rated", "--limit", 1, "--json", stdin=TABLE)
    assert [(game["observed"], game["fate"]) for game in json.loads(result.stdout)] == [
        (True, "observed"),
        (False, "not wanted"),
        (False, "waiting"),
    ]


@pytest.mark.parametrize(
    ("words", "status", "output"),
    [
        (["{journal}", "--limit", "3"], ExitCode.USAGE, "add --observe or --observe-handles"),
        (["{journal}", "--observe", "rated &"], ExitCode.USAGE, "--observe"),
        (["{folder}", "--observe", "rated"], ExitCode.INPUT, "is a folder"),
        (["{folder}/none", "--observe", "rated"], ExitCode.INPUT, "cannot be read: No such file"),
    ],
)
def test_invalid_arguments_are_refused(journal: Path, words: list[str], status: int, output: str) -> None:
    result = explain(*(word.format(journal=journal, folder=journal.parent) for word in words))
    assert result.exit_code == status, result.stderr
    assert output in result.stderr


def test_a_log_without_games_is_reported(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"fics% Style 12 set.\n")
    result = explain(tmp_path / "log", "--observe", "rated")
    assert result.exit_code == ExitCode.FINDINGS
    assert (result.stdout, result.stderr) == ("", f"{tmp_path / 'log'} contains no game.\n")


def test_saved_games_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.pgn").write_bytes(b'[Event "x"]\n[White "A"]\n[Black "B"]\n\n1. e4 *\n')
    result = explain(tmp_path / "x.pgn", "--observe", "rated")
    assert result.exit_code == ExitCode.INPUT
    assert f"{tmp_path / 'x.pgn'} contains saved games: name a server log" in result.stderr


def test_a_policy_of_another_version(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, host="h", port=5000, role="record", sync=Sync.OS)
    writer.note("policy", observe="rated and better", part=1, parts=1)
    writer.received(TABLE)
    writer.close()
    (journal,) = tmp_path.iterdir()
    result = explain(journal)
    assert result.exit_code == ExitCode.INPUT
    assert "add --observe" in result.stderr
