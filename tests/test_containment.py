"""An error of this program costs the observation in which it happens; everything else is read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recorder.archive.care.verifying
import recorder.archive.following.follower
import recorder.dialects.recogniser
import recorder.pipeline
import recorder.saved.bpgn
import recorder.saved.pgn
import recorder.tracking.engines.games
import recorder.tracking.tracker
from recorder.archive.following.follower import Follower
from recorder.archive.reading.importing import ReadOptions, SourcePass, store
from recorder.containment import SWITCH
from recorder.dialects.chat import parse_chat
from recorder.live.conversation import Conversation
from recorder.live.login.login import Login
from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan
from recorder.model import Disposition, Game, SourceKind, SourceReport
from recorder.reading import make_pipeline
from recorder.saved.bpgn_boards import make_games
from recorder.saved.pgn import read_game
from recorder.sources.base import RawDecoder
from recorder.sources.redaction import Redactor
from recorder.tracking.assemble import assemble
from recorder.tracking.session import ServerSession
from recorder.tracking.tracker import InProgressTracker
from tests.support.cli import ADJOURNED, WATCHER, Cli

STREAM = WATCHER.read_bytes()
GAMES = [("Steinitz", 45), ("Morphy", 19), ("Anderssen", 30), ("Steinitz", 7), ("Morphy", 21)]
"""White and plies of the log's games."""
THIRD = "Anderssen"
"""White in one of them only."""
OTHERS = [game for game in GAMES if game[0] != THIRD]
PLACE = STREAM.index(b"<12> ", 15_000)
"""A board in the middle of the third game."""
CHAT = b"Ann(C)(12): marked <12> words"


@pytest.fixture
def contained(monkeypatch: pytest.MonkeyPatch) -> None:
    """The switch as a user has it."""
    monkeypatch.delenv(SWITCH)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A command on an archive that is not there yet."""
    return Cli(tmp_path / "archive.sqlite")


def read(data: bytes, kind: SourceKind = SourceKind.RAW) -> tuple[list[Game], SourceReport]:
    pipeline = make_pipeline(kind)
    games = [*pipeline.receive(data), *pipeline.finish()]
    return games, pipeline.report


def players(games: list[Game]) -> list[tuple[str, int]]:
    return [(game.white.handle, len(game.plies)) for game in games]


def failing(real: Callable[..., Any], marked: Callable[..., bool]) -> Callable[..., Any]:
    """The function, which fails where its arguments are marked."""

    def fail(*args: Any, **how: Any) -> Any:
        if marked(*args, **how):
            raise ValueError("boom")
        return real(*args, **how)

    return fail


def break_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the third game's values not be made."""
    broken = failing(assemble, lambda run, **_: run.white == THIRD)
    monkeypatch.setattr(recorder.tracking.tracker, "assemble", broken)


def break_lines(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Let lines with these words not be read."""
    broken = failing(parse_chat, lambda line: any(word in line.text for word in words))
    monkeypatch.setattr(recorder.dialects.recogniser, "parse_chat", broken)


def break_boards(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Let a board not be placed that the third game shows twice.

    Returns:
        The log with that board.
    """
    broken = failing(ServerSession.look, lambda _, frame: PLACE < frame.offset < PLACE + 300)
    monkeypatch.setattr(ServerSession, "look", broken)
    board = STREAM[PLACE : STREAM.index(b"\n", PLACE)]
    return STREAM[:PLACE] + board + b"\n\r" + STREAM[PLACE:]


@pytest.mark.usefixtures("contained")
def test_a_board_that_fails_breaks_its_game_off_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    data = break_boards(monkeypatch)
    games, report = read(data)
    assert [game for game in players(games) if game[0] != THIRD] == OTHERS
    first, second = (game for game in games if game.white.handle == THIRD)
    (failure,) = report.failures
    assert data[failure.offset :].startswith(b"<12> ")
    assert (first.end, len(first.plies), second.end, len(second.plies)) == ("unobserved", 12, "result", 17)
    assert first.last_offset < failure.offset < second.first_offset
    assert sum(report.frames.values()) == data.count(b"<12> ")
    assert report.frames[Disposition.MALFORMED] == 1


@pytest.mark.usefixtures("contained")
def test_an_end_that_fails_leaves_the_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = failing(recorder.tracking.tracker._who_decided, lambda run, *_: run.white == THIRD)
    monkeypatch.setattr(recorder.tracking.tracker, "_who_decided", broken)
    games, report = read(STREAM)
    assert players(games) == GAMES
    assert [game.end for game in games] == ["result", "result", "unobserved", "aborted", "result"]
    (found,) = report.failures
    assert found.text.startswith("{Game 2 (Anderssen vs. Steinitz)")


@pytest.mark.usefixtures("contained")
def test_only_the_first_hundred_are_kept_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    break_lines(monkeypatch, "marked")
    games, report = read(STREAM + b"marked words\n" * 1_234)
    assert players(games) == GAMES
    assert len(report.failures) == 100
    assert report.warnings == ["1,134 more internal errors are counted, not listed."]


@pytest.mark.usefixtures("contained")
def test_where_the_kind_of_log_cannot_be_decoded_any_more_the_games_before_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(RawDecoder, "receive", failing(RawDecoder.receive, lambda _, block: b"marked" in block))
    pipeline = make_pipeline(SourceKind.RAW)
    games = [*pipeline.receive(STREAM), *pipeline.receive(b"marked"), *pipeline.receive(STREAM), *pipeline.finish()]
    assert players(games) == GAMES
    (found,) = pipeline.report.failures
    assert (found.offset, found.text) == (len(STREAM), "nothing of the log behind this place was read")


@pytest.mark.usefixtures("contained")
def test_a_saved_game_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = failing(read_game, lambda tags, *_, **__: tags[0][1] == "B")
    monkeypatch.setattr(recorder.saved.pgn, "read_game", broken)
    texts = [b'[White "%b"]\n[Black "Z"]\n\n1. e4 e5 1-0\n\n' % name for name in (b"A", b"B", b"C")]
    games, report = read(b"".join(texts), SourceKind.PGN)
    assert [game.white.handle for game in games] == ["A", "C"]
    (found,) = report.failures
    assert (found.offset, found.text) == (len(texts[0]), "1. e4 e5 1-0")


@pytest.mark.usefixtures("contained")
def test_a_bughouse_match_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = failing(make_games, lambda boards, *_: boards[0].white == "B")
    monkeypatch.setattr(recorder.saved.bpgn, "make_games", broken)
    texts = [
        b'[WhiteA "%b"]\n[BlackA "X"]\n[WhiteB "Y"]\n[BlackB "Z"]\n\n1A. e4{180} 1a. e5{180} 1-0\n\n' % name
        for name in (b"A", b"B", b"C")
    ]
    games, report = read(b"".join(texts), SourceKind.BPGN)
    assert [game.white.handle for game in games if game.plies] == ["A", "C"]
    (found,) = report.failures
    assert found.offset == len(texts[0])


@pytest.mark.usefixtures("contained")
def test_an_import_reads_the_other_files_and_names_the_place(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_games(monkeypatch)
    (tmp_path / "adjourned.log").write_bytes(ADJOURNED.read_bytes())
    result = cli("import", WATCHER, tmp_path / "adjourned.log", code=3)
    assert f"{WATCHER}: an error of this program kept one place from being read, the first at byte " in result.output
    assert "ValueError: boom" in result.output
    assert "1 anomaly: 1 internal-error" in result.output
    assert [row["white"] for row in cli.json("games", "--json", "--include", "empty")].count(THIRD) == 0
    assert len(cli.json("games", "--json")) == 5
    (found,) = [found for found in cli.json("anomalies", "--json") if found["kind"] == "internal-error"]
    assert found["offset"] == STREAM.index(b"<12> ", 13_000)
    assert len(cli("anomalies", "--kind", "internal-error").stdout.splitlines()) >= 1


@pytest.mark.parametrize("level", ["line", "board"])
@pytest.mark.usefixtures("contained")
def test_an_import_names_the_line_or_board_that_failed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    log, other = tmp_path / "watcher.log", tmp_path / "adjourned.log"
    other.write_bytes(ADJOURNED.read_bytes())
    if level == "board":
        data = break_boards(monkeypatch)
        place, games = data.index(b"<12> ", PLACE + 1), len(GAMES) + 1  # the third game is in two parts
    else:
        data = STREAM[:PLACE] + CHAT + b"\n\r" + STREAM[PLACE:]
        place, games = PLACE, len(GAMES)
        break_lines(monkeypatch, "marked")
    log.write_bytes(data)
    output = cli("import", log, other, code=3).output
    named = f"{log}: an error of this program kept one place from being read, the first at byte {place:,}: "
    assert f"{named}ValueError: boom" in output
    (found,) = [found for found in cli.json("anomalies", "--json") if found["kind"] == "internal-error"]
    assert (found["path"], found["offset"]) == (str(log), place)
    assert found["message"].startswith("ValueError: boom")
    assert found["text"] == data[place : data.index(b"\n", place)].decode()
    counted = {row["name"]: row["games"] for row in cli.json("sources", "--json")}
    assert counted == {log.name: games, other.name: 1}


@pytest.mark.usefixtures("contained")
def test_the_report_as_json_names_it_and_a_fixed_program_rereads_the_log(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        break_games(broken)
        (outcome,) = json.loads(cli("import", "--json", "-v", WATCHER, code=3).stdout)
        assert "boom" in outcome["message"]
        assert [found["kind"] for found in outcome["report"]["anomalies"]] == ["internal-error"]
        cli("import", WATCHER, code=3)
    result = cli("import", WATCHER)
    assert "read again" in result.output
    assert len(cli.json("games", "--json")) == 5
    assert "already in the archive" in cli("import", WATCHER).output


@pytest.mark.usefixtures("contained")
def test_a_log_on_which_storing_fails_does_not_stop_the_next(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import recorder.archive.reading.importing

    broken = failing(Redactor, lambda *_: next(calls) == 0)
    calls = iter(range(10))
    monkeypatch.setattr(recorder.archive.reading.importing, "Redactor", broken)
    (tmp_path / "adjourned.log").write_bytes(ADJOURNED.read_bytes())
    result = cli("import", WATCHER, tmp_path / "adjourned.log", code=3)
    assert f"{WATCHER}: an error of this program, please report it: ValueError: boom" in result.output
    assert len(cli.json("games", "--json")) == 1


@pytest.mark.usefixtures("contained")
def test_convert_and_verify_end_with_status_3(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_games(monkeypatch)
    result = cli("convert", WATCHER, "-o", tmp_path / "games.pgn", code=3)
    assert "an error of this program kept one place from being read" in result.output
    assert (tmp_path / "games.pgn").read_text().count("[White ") == 4
    cli("import", WATCHER, code=3)
    result = cli("verify", code=3)
    assert "an error of this program kept one place from being read" in result.output
    assert "boom" in cli.json("verify", "--json", code=3)[0]["unread"]


@pytest.mark.usefixtures("contained")
def test_rebuilding_names_what_was_not_read_and_ends_with_status_3(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("import", WATCHER, ADJOURNED)
    break_games(monkeypatch)
    for words in (("--dry-run",), ()):
        result = cli("db", "rebuild", *words, code=3)
        assert f"{WATCHER.name}: an error of this program kept one place from being read" in result.stderr
        assert "0 added, 1 gone, 0 differing" in result.stderr


@pytest.mark.usefixtures("contained")
def test_a_log_whose_storing_fails_keeps_the_old_archive_or_is_carried_over(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("import", WATCHER, ADJOURNED)
    before, pgn = cli.archive.read_bytes(), cli("export", "pgn").stdout
    broken = failing(
        store,
        lambda _archive, facts, reading, *_, **_how: isinstance(reading, SourcePass) and facts["name"] == WATCHER.name,
    )
    monkeypatch.setattr(recorder.archive.care.verifying, "store", broken)
    message = cli("db", "rebuild", code=3).stderr
    assert "is not read because of an error of this program, please report it: ValueError: boom" in message
    assert "put its file back" not in message
    assert cli.archive.read_bytes() == before
    message = cli("db", "rebuild", "--carry-over").stderr
    assert "0 added, 0 gone, 0 differing.\nThe stored games of 1 log are kept.\n" in message
    assert cli("export", "pgn").stdout == pgn


def follow_as_it_grows(cli: Cli, log: Path) -> None:
    """Follow a log while it is written; no look has a problem."""
    updater = Follower(str(cli.archive), log, ReadOptions())
    with log.open("wb", buffering=0) as file:
        for begin in range(0, len(STREAM), 997):
            file.write(STREAM[begin : begin + 997])
            updater.look()
            assert updater.problem is None
    assert updater.finish()


@pytest.mark.usefixtures("contained")
def test_a_log_that_is_followed_goes_on(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_games(monkeypatch)
    follow_as_it_grows(cli, tmp_path / "session.log")
    games = cli.json("games", "--json")
    assert len(games) == 4
    assert {found["kind"] for found in cli.json("anomalies", "--json")} == {"internal-error"}


def fail_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first games not be stored."""
    monkeypatch.setattr(recorder.archive.following.follower, "_AGAIN_S", 0.0)
    calls = iter(range(100))
    monkeypatch.setattr(Follower, "_write", failing(Follower._write, lambda *_: next(calls) == 0))


@pytest.mark.usefixtures("contained")
def test_what_could_not_be_stored_of_a_followed_log_is_reported_and_retried(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_once(monkeypatch)
    updater = Follower(str(cli.archive), WATCHER, ReadOptions())
    updater.look()
    assert updater.problem.startswith("ValueError: boom (test_containment.py:")
    monkeypatch.setattr(updater, "_pause_s", 0.0)
    updater.look()
    assert updater.problem is None
    assert updater.finish()
    assert len(cli.json("games", "--json")) == 5


@pytest.mark.usefixtures("contained")
def test_a_game_in_progress_that_cannot_be_stored_is_stored_when_it_is_over(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = failing(InProgressTracker.snapshot, lambda _, shown: shown.run.white == THIRD)
    monkeypatch.setattr(InProgressTracker, "snapshot", broken)
    follow_as_it_grows(cli, tmp_path / "session.log")
    assert len(cli.json("games", "--json")) == 5


@pytest.mark.usefixtures("contained")
def test_who_records_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    data = break_boards(monkeypatch)
    break_lines(monkeypatch, "marked")
    talk = Conversation(Login(None, lambda: ""), Observing(ObservationPlan("rated")))
    steps = [b"login: ", b'Press return to enter FICS as "GuestAB":', b"fics% "]
    for words in steps:
        talk.receive(words, 0, 0)
        talk.take(0)
    begin = data.index(b"<12> ")
    talk.receive(b"\n" * (begin - len(b"".join(steps))), 0, 0)  # so that all stands where it does in the log
    for place in range(begin, len(data), 997):
        talk.receive(data[place : place + 997], place, place)
    talk.receive(b"\nmarked words\n" * 3 + b"fics% ", 0, 0)
    assert (talk.boards, talk.games) == (data.count(b"<12> "), 5)
    assert len(talk.tracker.failures.anomalies) == 1 + 3
