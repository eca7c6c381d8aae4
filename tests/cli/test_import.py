"""``import``: what it reads, what it prints, and its exit statuses."""

import errno
import gzip
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from recorder.errors import ExitCode
from recorder.reading import read_games
from recorder.sources.name_dates import check_format, date_in_name
from storage import ArchiveStore
from tests.support.cli import ADJOURNED, GUESTS, SERVER, WATCHER, Cli


def test_reports_each_log_and_all_together(cli: Cli) -> None:
    result = cli("import", WATCHER, ADJOURNED)
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{WATCHER}: raw, ")
    assert lines[1] == "  5 games, 122 moves"
    assert lines[-1] == "2 logs (2 new): 6 games, 137 moves"
    assert "<12>" not in result.stdout
    assert result.stderr.splitlines() == [
        "6 games of 2 logs without a date: use --date.",
        "The archive has 6 games of 6 players.",
        "Next: ics-recorder games (or show last, web --open)",
    ]


def test_one_log_has_its_notes_beside_it(cli: Cli) -> None:
    result = cli("import", WATCHER)
    assert result.stdout.splitlines()[1:] == [
        "  5 games, 122 moves",
        "  5 games without a date (use --date)",
    ]
    assert result.stderr.startswith("The archive has 5 games of ")
    assert cli("import", WATCHER).stderr == ""


def test_the_summary_explains_how_many_games_are_listed(cli: Cli) -> None:
    scenario = SERVER / "x03_zippy_engines"
    result = cli("import", scenario / "observer_GuestXre.raw.gz", scenario / "xboard_fairymax.debug.gz")
    listed = len(cli.json("games", "--json"))
    assert result.stdout.splitlines()[-1] == f"2 logs (2 new): 4 recordings of {listed} games, 330 moves"
    result = cli("import", SERVER / "a10_examine")
    listed = len(cli.json("games", "--json"))
    output = cli("games").stderr.splitlines()[-1]
    total = listed + int(output.split()[1])
    assert re.fullmatch(
        rf"The archive has {total} games of \d+ players\. `games` lists {listed}\.", result.stderr.splitlines()[-2]
    )
    assert result.stderr.splitlines()[-1] == output


def test_the_summary_of_grown_logs_has_the_number_of_games_before(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    whole = WATCHER.read_bytes()
    log.write_bytes(whole[: len(whole) // 2])
    cli("import", log)
    before = len(cli.json("games", "--json"))
    log.write_bytes(whole)
    (tmp_path / "b.log").write_bytes(ADJOURNED.read_bytes())
    result = cli("import", log, tmp_path / "b.log")
    assert "recordings, " in result.stdout.splitlines()[-1]
    total = len(cli.json("games", "--json"))
    assert re.search(
        rf"^The archive has {total} games of \d+ players \({before} before the import\)\.$", result.stderr, re.MULTILINE
    )


def test_a_message_about_many_files_is_printed_once(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(ADJOURNED.read_bytes())
    for number in range(3):
        (tmp_path / f"note{number}.txt").write_text("Remember the milk.\n")
        (tmp_path / f"photo{number}").write_bytes(bytes(range(256)) * 40 if number == 0 else b"")
    (tmp_path / "own1.pgn").write_bytes(cli_pgn(tmp_path))
    messages = cli("import", tmp_path).stderr.splitlines()
    assert [line for line in messages if "photo0" in line] == [f"{tmp_path}/photo0 is binary data, not a log"]
    (milk,) = [line for line in messages if "no line of a chess server" in line]
    assert milk.startswith(f"{tmp_path}/note0.txt has no line of a chess server")
    assert milk.endswith(". The same is true of 2 other files (--verbose names them).")
    assert "Files were excluded. Import such a file by its own name to read it anyway." in messages
    assert sum("note" in line for line in cli("import", "--verbose", tmp_path).stderr.splitlines()) == 3


def cli_pgn(folder: Path) -> bytes:
    """What ``export pgn`` of another archive writes."""
    (folder / ".other").mkdir()
    other = Cli(folder / ".other" / "archive.sqlite")
    other("import", ADJOURNED)
    return other("export", "pgn").stdout_bytes


NAMES = {"fics-2026-01-02.raw": WATCHER, "fics-2026-02-03.raw.log": ADJOURNED}


def test_dates_in_the_names_of_logs_date_their_games(cli: Cli, tmp_path: Path) -> None:
    """The import says which option does it, as for a data set and for games without an archive."""
    for name, log in NAMES.items():
        (tmp_path / name).write_bytes(log.read_bytes())
    logs = [tmp_path / name for name in NAMES]
    messages = cli("import", *logs).stderr
    assert "without a date: use --date, or --date-from-name '%Y-%m-%d'." in messages
    words = ("--date-from-name", "%Y-%m-%d", "--date", "2020-05-05", "--server", "chess.example")
    cli("import", *logs, *words)
    days = {game["day"] for game in cli.json("games", "--json")}
    assert days == {"2026-01-02", "2026-02-03"}
    assert {outcome["status"] for outcome in cli.json("import", "--json", *logs)} == {"known"}
    (tmp_path / "none.log").write_bytes(ADJOURNED.read_bytes())
    pgn = cli("convert", *logs, tmp_path / "none.log", *words).stdout
    dates = ["2026.01.02", "2026.02.03", "2020.05.05"]
    assert list(dict.fromkeys(re.findall(r'\[Date "(.*?)"', pgn))) == dates


@pytest.mark.parametrize(
    ("name", "form", "day"),
    [
        ("2019-11-03_12-33-11.log", "%Y-%m-%d", "2019-11-03"),
        ("fics.20191103.log.gz", "%Y%m%d", "2019-11-03"),
        ("120191103.log", "%Y%m%d", None),
        ("2019-13-03 2019-12-03.log", "%Y-%m-%d", "2019-12-03"),
        ("Game 3.Nov.19.log", "%d.%b.%y", "2019-11-03"),
        ("log-2019-307.log", "%Y-%j", "2019-11-03"),
        ("log.100%2019 11 3", "100%%%Y %m %d", "2019-11-03"),
        ("2019-11-031.log", "%Y-%m-%d", None),
    ],
)
def test_a_date_in_a_name(name: str, form: str, day: str | None) -> None:
    found = date_in_name(name, check_format(form))
    assert (None if found is None else found.isoformat()) == day


@pytest.mark.parametrize("form", ["", "%Y", "%Y-%m", "%d.%m", "%Y-%m-%d-%d", "%Y-%m-%d %H", "%Y-%m-%", "%Y%m%d%"])
def test_a_format_that_is_no_date_is_refused(cli: Cli, form: str) -> None:
    result = cli("import", WATCHER, "--date-from-name", form, code=ExitCode.USAGE)
    assert result.stderr.count("\n") <= 4


def test_json_report(cli: Cli) -> None:
    (outcome,) = cli.json("import", "--json", WATCHER)
    assert outcome["status"] == "new"
    assert outcome["kind"] == "raw"
    assert (outcome["games"], outcome["plies"], outcome["undated_games"]) == (5, 122, 5)
    assert outcome["report"]["frames"] == {"ply": 122, "start": 5}
    assert "anomalies" not in outcome["report"]


def test_a_second_import_changes_nothing(filled: Cli) -> None:
    before = filled.json("games", "--json")
    assert "already in the archive, nothing new" in filled("import", WATCHER).stdout
    assert filled.json("games", "--json") == before


def test_compressed_and_plain_are_one_source(cli: Cli, tmp_path: Path) -> None:
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(WATCHER.read_bytes()))
    cli("import", packed)
    assert [outcome["status"] for outcome in cli.json("import", "--json", WATCHER, packed)] == ["known", "known"]


@pytest.mark.parametrize("size", [1, 5_000, 12_345, 20_000])
def test_a_grown_log_gives_the_games_of_the_whole_log(cli: Cli, tmp_path: Path, size: int) -> None:
    whole = WATCHER.read_bytes()
    log = tmp_path / WATCHER.name
    for end in (size, len(whole) - 700, len(whole)):
        log.write_bytes(whole[:end])
        cli("import", "--kind", "raw", log)
    grown = cli("export", "games").stdout
    other = Cli(tmp_path / "other.sqlite")
    other("import", WATCHER)
    assert grown == other("export", "games").stdout
    (source,) = cli.json("sources", "--json")
    assert (source["size_bytes"], source["kept"]) == (len(whole), True)
    assert cli.json("verify", "--json")[0]["findings"] == []


def test_only_the_new_part_of_a_grown_log_is_read(cli: Cli, tmp_path: Path) -> None:
    whole = WATCHER.read_bytes()
    log = tmp_path / WATCHER.name
    log.write_bytes(whole[:-4000])
    cli("import", log)
    (source,) = cli.json("sources", "--json")
    assert source["read_up_to"] > 10_000
    log.write_bytes(whole)
    (outcome,) = cli.json("import", "--json", log)
    assert (outcome["status"], outcome["games"]) == ("grown", 2)


def test_grown_log_of_a_kind_that_cannot_be_continued_is_read_as_a_whole(cli: Cli, tmp_path: Path) -> None:
    whole = gzip.decompress((SERVER / "x02_xboard_observes_b" / "xboard_observer.debug.gz").read_bytes())
    log = tmp_path / "xboard.debug"
    log.write_bytes(whole[: len(whole) // 2])
    (first,) = cli.json("import", "--json", log)
    log.write_bytes(whole)
    (outcome,) = cli.json("import", "--json", log)
    assert (outcome["kind"], outcome["status"]) == ("xboard", "grown")
    assert outcome["plies"] > first["plies"]
    other = Cli(tmp_path / "other.sqlite")
    other("import", log)
    assert cli("export", "games").stdout == other("export", "games").stdout
    assert cli.json("verify", "--json")[0]["findings"] == []


def test_timing_file_beside_a_typescript_gives_dates(cli: Cli, tmp_path: Path) -> None:
    log, timing = tmp_path / "typescript", tmp_path / "typescript.timing"
    body = WATCHER.read_bytes()
    log.write_bytes(
        b"Script started on 2024-05-08 20:06:50+02:00\n" + body + b"\nScript done on 2024-05-08 21:06:50+02:00\n"
    )
    cli("import", log)
    assert len(cli.json("games", "--json", "--since", "2024-05-08")) == 0
    timing.write_text("".join(f"0.250000 {min(100, len(body) - at)}\n" for at in range(0, len(body), 100)))
    (outcome,) = cli.json("import", "--json", log)
    assert (outcome["kind"], outcome["status"], outcome["undated_games"]) == ("typescript", "replaced", 0)
    games = cli.json("games", "--json", "--since", "2024-05-08", "--until", "2024-05-08")
    assert len(games) == 5
    assert games[0]["started_at"].startswith("2024-05-08T18:0")
    bare = Cli(tmp_path / "bare.sqlite")
    bare("import", "--no-keep-source", log)
    assert bare.json("import", "--json", log)[0]["status"] == "known"
    assert bare.json("verify", "--json")[0]["read"]
    timing.unlink()
    assert cli.json("verify", "--json")[0]["findings"] == []
    assert cli.json("import", "--json", log)[0]["status"] == "known"
    assert not bare.json("verify", "--json", code=ExitCode.UNPROVED)[0]["read"]


def test_other_options_reread_a_log(cli: Cli) -> None:
    cli("import", WATCHER)
    (outcome,) = cli.json("import", "--json", "--server", "chess.example", WATCHER)
    assert (outcome["status"], outcome["games"]) == ("replaced", 5)
    assert {game["server"] for game in cli.json("games", "--json")} == {"chess.example"}
    (outcome,) = cli.json("import", "--json", WATCHER)
    assert outcome["status"] == "known"


def test_the_filter_finds_games_under_any_name_of_a_site(cli: Cli) -> None:
    cli("import", WATCHER)
    with closing(sqlite3.connect(cli.archive)) as driver:
        driver.execute("UPDATE games SET server = 'FICS'")  # as the name was typed
        driver.commit()
    assert len(cli.json("games", "--json", "--server", "freechess.org")) == 5
    assert "no server ICC; the games have FICS." in cli("games", "--server", "ICC", code=1).stderr


@pytest.mark.parametrize("name", ["freechess.org", "FICS"])
def test_a_site_has_one_name(cli: Cli, name: str) -> None:
    cli("import", "--server", name, WATCHER)
    assert {game["server"] for game in cli.json("games", "--json")} == {"FICS freechess.org"}
    assert len(cli.json("games", "--json", "--server", name)) == 5


def test_an_unknown_source_is_refused(cli: Cli) -> None:
    cli("import", WATCHER)
    assert "No source has an id that begins with 'zz'" in cli("games", "--source", "zz", code=ExitCode.ARCHIVE).stderr


def test_standard_input(cli: Cli) -> None:
    (outcome,) = cli.json("import", "--json", "-", input=WATCHER.read_bytes())
    assert (outcome["name"], outcome["games"]) == ("standard input", 5)
    (source,) = cli.json("sources", "--json")
    assert source["path"] is None


def test_no_space_for_standard_input_is_said_with_what_to_do(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("shutil.copyfileobj", full)
    said = cli("import", "-", input=b"x", code=ExitCode.INPUT).stderr
    assert "standard input: cannot be copied to " in said
    assert ": No space left on device; TMPDIR chooses another folder" in said


def test_a_pipe_can_be_read_once_only(cli: Cli, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(WATCHER.read_bytes()))
    writer.start()
    (outcome,) = cli.json("import", "--json", pipe)
    writer.join()
    assert (outcome["name"], outcome["games"]) == (str(pipe), 5)


def test_folders_are_read_with_all_below(cli: Cli, tmp_path: Path) -> None:
    below = tmp_path / "logs" / "2020"
    below.mkdir(parents=True)
    (below / "a.log").write_bytes(ADJOURNED.read_bytes())
    (below / "notes.txt").write_text("Remember the milk.\n")
    result = cli("import", tmp_path / "logs")
    assert "(1 new, 1 not a log): 1 game, 15 moves" in result.stdout
    assert "notes.txt has no line of a chess server or engine" in result.stderr


@pytest.fixture
def odd_files(tmp_path: Path) -> dict[str, Path]:
    """Files that are no complete logs, by name."""
    found = {name: tmp_path / name for name in ("empty", "junk", "letter", "cut.gz", "folder", "missing")}
    found["empty"].touch()
    found["junk"].write_bytes(bytes(range(256)) * 40)
    found["letter"].write_text("Dear Ann,\nyou play e4?\n")
    found["cut.gz"].write_bytes(gzip.compress(WATCHER.read_bytes())[:-1500])
    found["folder"].mkdir()
    return found


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("empty", "is empty"),
        ("junk", "is binary data, not a log"),
        ("letter", "has no line of a chess server or engine"),
        ("cut.gz", "it is cut short"),
        ("folder", "no file in this folder can be a log"),
        ("missing", "no such file or folder"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["-n"]])
def test_a_file_that_is_no_log_gives_one_message_and_the_rest_is_read(
    cli: Cli, odd_files: dict[str, Path], name: str, sentence: str, dry: list[str]
) -> None:
    result = cli("import", *dry, odd_files[name], ADJOURNED, code=ExitCode.INPUT)
    (output,) = [line for line in result.stderr.splitlines() if sentence in line]
    assert str(odd_files[name]) in output
    assert "raw" in next(line for line in result.stdout.splitlines() if line.startswith(str(ADJOURNED)))


def test_a_journal_without_a_byte_is_no_error(cli: Cli, tmp_path: Path) -> None:
    """A recorder that is killed, or whose disk is full, before its first line leaves one."""
    folder = tmp_path / "journals"
    folder.mkdir()
    journal = folder / "20240101T000000000Z_chess.example_5000_0123456789abcdef_00001.journal"
    journal.touch()
    sentence = f"{journal} is a journal without a byte"
    for arguments in ([journal], [folder], ["-n", journal], [journal, ADJOURNED]):
        assert sentence in cli("import", *arguments).stderr
    (outcome,) = cli.json("import", "--json", journal)
    assert (outcome["status"], outcome["kind"], outcome["games"]) == ("empty", "journal", 0)
    assert len(cli.json("sources", "--json")) == 1
    assert not list(read_games(journal))
    assert "0 records in 0 parts" in cli("journal", "check", journal).stderr
    assert cli.json("journal", "info", "--json", journal)["records"] == 0
    for unique in ([], ["--unique"]):
        cli("convert", *unique, journal, ADJOURNED, "--force", "-o", tmp_path / "games.pgn")


def test_games_before_a_corrupt_part_are_kept(cli: Cli, odd_files: dict[str, Path]) -> None:
    (outcome,) = cli.json("import", "--json", odd_files["cut.gz"], code=ExitCode.INPUT)
    assert outcome["status"] == "new"
    assert outcome["games"] >= 2
    assert "cut short" in outcome["message"]
    (outcome,) = cli.json("import", "--json", WATCHER)
    assert outcome["status"] == "grown"


def test_dry_run_identifies_files_without_importing_them(cli: Cli) -> None:
    result = cli("import", "-n", WATCHER, GUESTS)
    assert result.stdout.splitlines()[:2] == [f"{WATCHER}: raw log", f"{GUESTS}: raw log"]
    assert not cli.archive.exists()


def test_kind_overrides_the_detected_kind(cli: Cli, odd_files: dict[str, Path]) -> None:
    (outcome,) = cli.json("import", "--json", "--kind", "raw", odd_files["letter"])
    assert (outcome["status"], outcome["kind"], outcome["games"]) == ("new", "raw", 0)


FLAWED = b"<12> rnbqkbnr pppppppp this is no board\r\n"


def test_strict_turns_anomalies_into_status_1(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "flawed.log"
    log.write_bytes(WATCHER.read_bytes() + FLAWED)
    dry = cli("import", "--strict", "-n", "-v", log, code=ExitCode.FINDINGS)
    assert not cli.archive.exists()
    result = cli("import", "--strict", "-v", log, code=ExitCode.FINDINGS)
    assert dry.stdout == result.stdout
    assert f"    at {WATCHER.stat().st_size}: malformed: " in result.stdout
    assert "1 log with anomalies (--strict)" in result.stderr
    found = cli.table("anomalies")
    assert [(row["Source"], row["Offset"], row["Kind"]) for row in found] == [
        ("flawed.log", str(WATCHER.stat().st_size), "malformed")
    ]
    assert cli.json("anomalies", "--json", "--kind", "gap") == []
    assert cli.json("anomalies", "--json")[0]["offset"] == WATCHER.stat().st_size


def test_verbose_lists_unrecognised_lines_by_shape(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(ADJOURNED.read_bytes() + b"\r\nZwitscher 12 tirili\r\nZwitscher 7 tirili\r\n")
    text = cli("import", "-v", log).stdout
    assert f"         2 from {ADJOURNED.stat().st_size + 2}: " in text


def test_an_interrupted_import_keeps_the_finished_logs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from recorder.archive.reading.importing import Import

    real, calls = Import.take, []

    def interrupted(*args: object, **how: Any) -> object:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args, **how)

    monkeypatch.setattr(Import, "take", interrupted)
    result = cli("import", ADJOURNED, WATCHER, code=ExitCode.INTERRUPTED)
    assert result.stderr.splitlines()[-1] == "Interrupted; finished work is kept."
    assert [source["name"] for source in cli.json("sources", "--json")] == [ADJOURNED.name]


def test_progress_is_shown_on_a_terminal_only(cli: Cli, tmp_path: Path) -> None:
    """The bar names the file, however long the names of its folders are."""
    folder = tmp_path / ("Prüfung der Türme " * 9).strip()
    folder.mkdir()
    log = shutil.copy(GUESTS, folder)
    words = [sys.executable, "-m", "recorder", "import", "--db", str(cli.archive), str(log)]
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as screen:
        process = subprocess.Popen(
            words, stderr=follower, stdout=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", "COLUMNS": "80"}
        )
        os.close(follower)
        shown = b""
        try:
            while block := screen.read(4096):
                shown += block
        except OSError:  # Linux raises it when the other side is closed
            pass
        assert process.wait() == 0
    assert GUESTS.name.encode() in shown
    piped = subprocess.run(words, capture_output=True, check=True)
    assert piped.stderr == b""


def test_no_secret_is_stored_or_shown_anywhere(cli: Cli, tmp_path: Path) -> None:
    head = (
        b"login: Ann hunterone\r\npassword: huntertwo\r\nfics% pass hunterthree hunterfour\r\n"
        b"[12:00:01] fics% password hunterfive huntersix\r\n"
        b'fics% Password changed from "hunterseven" to "huntereight".\r\n'
    )
    log = tmp_path / "session.log"
    for data in (head + b"pass hunternine hunt", head + b"pass hunternine hunterten\r\n" + WATCHER.read_bytes()):
        log.write_bytes(data)
        shown = cli("import", "--kind", "raw", "-v", log).output
        assert "hunter" not in shown
        assert "hunter" not in cli("import", "--kind", "raw", "-v", "--json", log).output
        with closing(sqlite3.connect(cli.archive)) as db:
            for statement in db.iterdump():
                assert "hunter" not in statement
        assert b"hunter" not in kept_bytes(cli)
    assert cli.json("verify", "--json")[0]["findings"] == []
    assert "hunter" not in cli("convert", "--kind", "raw", log).output


def test_chat_about_a_password_stays_as_it_is(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    chat = b"Bob(1500)[2] kibitzes: my password: x\n\r"
    log.write_bytes(WATCHER.read_bytes().replace(b"{Game 2 (", chat + b"{Game 2 (", 1))
    cli("import", log)
    assert cli.json("verify", "--json")[0]["findings"] == []
    assert b"kibitzes: my password: x" in kept_bytes(cli)


def kept_bytes(cli: Cli) -> bytes:
    with ArchiveStore.open(str(cli.archive)) as archive:
        return b"".join(archive.read_source(archive.sources()[0].id))


@pytest.mark.long
def test_order_of_imports_does_not_matter_for_copies_that_go_on_differently(tmp_path: Path) -> None:
    whole = WATCHER.read_bytes()
    logs = [tmp_path / f"{number}.log" for number in range(3)]
    for number, log in enumerate(logs):
        log.write_bytes(whole + b"\r\nother end %d" % number)
    exports = set()
    for number, order in enumerate(permutations(logs)):
        cli = Cli(tmp_path / f"{number}.sqlite")
        for log in order:
            cli("import", log)
        games = cli("export", "games").stdout
        assert games.count('{"key":') == 15
        exports.add(games)
    assert len(exports) == 1
    logs[0].write_bytes(logs[0].read_bytes() + b"\r\nand more")
    cli("import", logs[0])
    assert keys_of(cli("export", "games").stdout) == keys_of(games)


def keys_of(lines: str) -> set[str]:
    return {json.loads(line)["key"] for line in lines.splitlines()}


def test_date_applies_to_games_whose_log_has_no_date(cli: Cli, tmp_path: Path) -> None:
    shown = cli("import", "--date", "2020-01-31", WATCHER).stdout
    assert "without a known date" not in shown
    assert {row["Date"] for row in cli.table("games")} == {"2020-01-31"}
    for bound, games in (("--since", 5), ("--until", 5)):
        assert len(cli.json("games", bound, "2020-01-31", "--json")) == games
    assert cli.json("games", "--since", "2020-02-01", "--json") == []
    assert cli.json("games", "--until", "2020-01-30", "--json") == []
    assert {game["started_at"] for game in cli.json("games", "--json")} == {None}  # the log has no time of day
    pgn = cli("export", "pgn").stdout
    assert (pgn.count('[Date "2020.01.31"]'), pgn.count("Time ")) == (5, 0)
    assert cli("export", "pgn", "--style", "fics").stdout.count('[Date "2020.01.31"]') == 5
    assert cli("convert", "--date", "2020-01-31", WATCHER).stdout.count('[Date "2020.01.31"]') == 5
    cli("export", "pgn", "--split", "day", "-o", tmp_path / "days")
    assert [file.name for file in (tmp_path / "days").iterdir()] == ["2020-01-31.pgn"]


def test_a_date_corrects_that_of_the_log_and_can_be_undone(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "stamped.log"
    lines = WATCHER.read_bytes().replace(b"\r", b"").split(b"\n")
    log.write_bytes(b"".join(b"2024-05-08 20:07:00 %s\n" % line for line in lines))
    found = cli.json("import", "--kind", "stamped", "--date", "2020-01-31", log, "--json")
    assert {row["Date"][:10] for row in cli.table("games")} == {"2020-01-31"}
    assert [one["corrected_games"] for one in found] == [len(cli.table("games"))]
    cli("edit", "--since", "2020", "--undo", "--yes")
    assert {row["Date"][:10] for row in cli.table("games")} == {"2024-05-08"}


def test_strict_gives_the_same_status_for_a_known_or_grown_log(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"fics% \r\n<12> rnbqkbnr\r\n" + WATCHER.read_bytes())
    for _ in range(2):
        result = cli("import", "--strict", log, code=ExitCode.FINDINGS)
        assert "1 log with anomalies (--strict)." in result.stderr
    log.write_bytes(log.read_bytes() + b"fics% \r\n")
    cli("import", "--strict", log, code=ExitCode.FINDINGS)
    cli("import", "--strict", WATCHER)
    cli("import", "--strict", WATCHER)
