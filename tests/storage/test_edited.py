"""Archives that were edited past all constraints: no reader shows a broken value, and ``db check`` names the game."""

import itertools
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from recorder.cli import main
from recorder.errors import ExitCode
from storage.maintenance.check import check
from tests.support.cli import WATCHER, Cli
from tests.support.site import client_of

_SAVED = """[Event "Club \x1b[31mevening"]
[White "Anna"]
[Black "Bert"]
[Result "1-0"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]
[SetUp "1"]
[Annotator "Z\x07ed"]

1. e4 {[%clk 0:05:00] g\x1bood} Kd7 2. e5 Ke6 1-0
"""
_LOG = "(SELECT id FROM games WHERE white = 'Morphy' ORDER BY id LIMIT 1)"
_PGN = "(SELECT id FROM games WHERE white = 'Anna')"
_SEEN = f"(SELECT id FROM observations WHERE game_id = {_LOG})"
_PLY = f"id = (SELECT first_ply_id + 3 FROM ply_lines WHERE line_no = 0 AND observation_id = {_SEEN})"
_HUGE = 999_999_999_999_999_999

EDITS: dict[str, tuple[str, str, str]] = {
    "ply-negative": (f"UPDATE plies SET ply = -777 WHERE {_PLY}", "-777", "ply is the integer '-777'"),
    "ply-zero": (f"UPDATE plies SET ply = 0 WHERE {_PLY}", "no mark", "ply is the integer '0'"),
    "ply-huge": (f"UPDATE plies SET ply = {_HUGE} WHERE {_PLY}", str(_HUGE), "ply is the integer "),
    "ply-large": (f"UPDATE plies SET ply = 77777 WHERE {_PLY}", "77777", "missing or out of order"),
    "ply-twice": (f"UPDATE plies SET ply = ply - 1 WHERE {_PLY}", "no mark", "missing or out of order"),
    "ply-text": (f"UPDATE plies SET ply = 'zork' WHERE {_PLY}", "zork", "ply is the text 'zork'"),
    "ply-gone": (f"DELETE FROM plies WHERE {_PLY}", "no mark", "missing or out of order"),
    "san-control": (f"UPDATE plies SET san = 'zork' || char(27) || '[31m' WHERE {_PLY}", "zork", "not a move"),
    "san-blob": (f"UPDATE plies SET san = CAST('zork' AS BLOB) WHERE {_PLY}", "zork", "san is the blob 'zork'"),
    "move-huge": (f"UPDATE plies SET move = 777777 WHERE {_PLY}", "777777", "move is the integer '777777'"),
    "clock-text": (f"UPDATE plies SET black_clock_ms = 'zork' WHERE {_PLY}", "zork", "black_clock_ms is the text"),
    "clock-infinite": (
        f"UPDATE plies SET black_clock_ms = 9e999 WHERE {_PLY}",
        "no mark",
        "black_clock_ms is the real",
    ),
    "clock-fraction": (f"UPDATE plies SET elapsed_ms = 777.125 WHERE {_PLY}", "777.125", "elapsed_ms is the real"),
    "clock-huge": (f"UPDATE plies SET black_clock_ms = {_HUGE} WHERE {_PLY}", str(_HUGE)[:12], "black_clock_ms is"),
    "arrival-huge": (f"UPDATE plies SET at_ms = {_HUGE} WHERE {_PLY}", str(_HUGE)[:12], "at_ms is the integer"),
    "quality": (f"UPDATE plies SET quality = 777 WHERE {_PLY}", "no mark", "quality is the integer '777'"),
    "result": (f"UPDATE games SET result = 'zork' WHERE id = {_LOG}", "zork", "result IN ("),
    "variant": (
        f"UPDATE games SET variant = '../../zork' WHERE id = {_LOG}",
        "zork",
        "variant is the text '../../zork'",
    ),
    "fen": (
        f"UPDATE games SET start_fen = 'zork' WHERE id = {_PGN}",
        "zork",
        "start_fen is the text 'zork', not a FEN",
    ),
    "anchor": (
        f"UPDATE anchors SET fen = 'zork' WHERE observation_id IN (SELECT id FROM observations WHERE game_id = {_PGN})",
        "zork",
        "fen is the text 'zork', not a FEN",
    ),
    "rating": (f"UPDATE games SET white_rating = 'zork' WHERE id = {_LOG}", "zork", "white_rating is the text 'zork'"),
    "rating-huge": (f"UPDATE games SET white_rating = {_HUGE} WHERE id = {_LOG}", str(_HUGE), "white_rating is the"),
    "name-blob": (
        f"UPDATE games SET white = CAST('zork' AS BLOB) WHERE id = {_LOG}",
        "zork",
        "white is the blob 'zork'",
    ),
    "start-infinite": (
        f"UPDATE games SET started_at_ms = 9e999 WHERE id = {_LOG}",
        "no mark",
        "started_at_ms is the real",
    ),
    "base-fraction": (f"UPDATE games SET base_s = 777.125 WHERE id = {_LOG}", "777.125", "base_s is the real"),
    "key": (f"UPDATE games SET key = 'zork' WHERE id = {_LOG}", "zork", "key is the text 'zork', not a key"),
    "source-gone": (
        f"UPDATE games SET source_id = 777 WHERE id = {_LOG}",
        "no mark",
        "source_id names a row of sources",
    ),
    "player-gone": (f"UPDATE games SET white_id = 777 WHERE id = {_LOG}", "no mark", "white_id names a row of players"),
    "segment-gone": (
        f"UPDATE segments SET observation_id = 777 WHERE game_id = {_LOG}",
        "no mark",
        "observation_id names a row of observations",
    ),
    "segment-huge": (
        f"UPDATE segments SET to_ply = 1500000000 WHERE game_id = {_LOG}",
        "1500000000",
        "segments whose first or last ply is not there: 1",
    ),
    "event-blob": (
        f"UPDATE events SET text = CAST('zork' AS BLOB) WHERE observation_id = {_SEEN}",
        "zork",
        "text is the blob 'zork'",
    ),
    "size-infinite": ("UPDATE sources SET size_bytes = 9e999", "no mark", "size_bytes is the real"),
    "hash": ("UPDATE sources SET sha256 = 'zork' WHERE id = 1", "zork", "sha256 is the text 'zork', not a SHA-256"),
    "handles-equal": (
        "UPDATE players SET handle = 'zork'",
        "zork",
        "players whose name in small letters is that of another",
    ),
    "keys-equal": (
        f"DROP INDEX uq_games_key; UPDATE games SET key = (SELECT key FROM games WHERE id = {_LOG})",
        "no mark",
        "uq_games_key",
    ),
}
"""Statements, a part of the broken value as readers might show it, and words of the sentence of ``db check``."""
NAMED_BY_SOURCE = ("size-infinite", "hash", "handles-equal", "keys-equal", "key", "ply-gone")

READERS: tuple[tuple[str, ...], ...] = (
    ("games",),
    ("games", "--json", "--include", "examined"),
    ("show", "{key}"),
    ("export", "pgn"),
    ("export", "plies"),
    ("export", "plies", "--format", "jsonl"),
    ("export", "games"),
    ("sources",),
    ("anomalies",),
    ("web", "/"),
)
SLOW_READERS: tuple[tuple[str, ...], ...] = (
    ("show", "{key}", "--raw"),
    ("clocks",),
    ("duplicates",),
    ("verify",),
    ("export", "pgn", "-o", "{out}.pgn"),
    ("export", "plies", "-o", "{out}.parquet"),
    ("export", "games", "-o", "{out}.parquet"),
    ("export", "bpgn"),
    ("report", "{key}", "-o", "{out}.html"),
    ("report", "--index", "-o", "{out}.html"),
    ("replay", "as-engine", "{key}"),
    ("db", "share", "-o", "{out}.sqlite"),
    ("db", "rebuild", "--dry-run"),
    ("import", "--db", "{out}.sqlite", "{path}"),
    ("web", "/game/{key}"),
    ("web", "/games.csv"),
    ("web", "/insights"),
)
EXPECTED = (0, ExitCode.FINDINGS, ExitCode.USAGE, ExitCode.INPUT, ExitCode.ARCHIVE)
"""``verify`` finds what differs from the log, an equal key names many games, and an import goes on."""
OUT = itertools.count()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("sound")
    (folder / "club.pgn").write_text(_SAVED, encoding="utf-8")
    cli = Cli(folder / "archive.sqlite")
    cli("import", WATCHER, folder / "club.pgn")
    with closing(sqlite3.connect(cli.archive)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    return cli.archive.read_bytes()


def _edited(path: Path, sound: bytes, change: str) -> str:
    """Make an edited archive; returns the key of the game whose rows most edits change."""
    path.write_bytes(sound)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        game = _PGN if _PGN in change else _LOG
        (key,) = connection.execute(f"SELECT key FROM games WHERE id = {game}").fetchone()
        connection.execute("PRAGMA ignore_check_constraints=ON")
        if "DROP INDEX" not in change:
            assert connection.execute(change).rowcount > 0
        else:
            connection.executescript(change)
    return str(key)


def _read(path: Path, words: tuple[str, ...], key: str) -> tuple[int, str, str]:
    """What a reader answers: its exit status, all that it shows or writes, and its message."""
    out = path.with_name(f"out{next(OUT)}")
    filled = [word.format(out=out, key=key, path=path) for word in words]
    if filled[0] == "web":
        answer = client_of(path).get(filled[1])
        shown = re.sub(r"<option[^<]*", "", answer.text)  # choices of a filter
        return (0, shown, "") if answer.status_code in (200, 404) else (ExitCode.ARCHIVE, "", answer.text)
    result = CliRunner().invoke(main, filled, env={"ICS_RECORDER_DB": str(path)})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"{' '.join(filled)}: {result.exception!r}") from result.exception
    written = [one for one in path.parent.glob(f"{out.name}*") if one.is_file()]
    shown = result.stdout + "".join(one.read_bytes().decode("latin-1") for one in written)
    return result.exit_code, shown, result.stderr


def _refusals(path: Path, sound: bytes, name: str, readers: tuple[tuple[str, ...], ...]) -> Iterator[tuple[str, ...]]:
    """Readers that refuse an edited archive; none of the others shows the broken value."""
    change, mark, _ = EDITS[name]
    key = _edited(path, sound, change)
    edited = path.read_bytes()
    for number, words in enumerate(readers):
        path = path.with_name(f"{number}.sqlite")  # what a failure keeps open locks no other one
        path.write_bytes(edited)
        status, shown, message = _read(path, words, key)
        assert mark not in shown.replace(path.name, ""), words
        if status == ExitCode.ARCHIVE and "No game has a key that begins with" not in message:
            sentence = message if words[0] == "web" else message.removesuffix("\n")
            assert "The archive is corrupt: `ics-recorder db check` lists all findings." in sentence, words
            assert words[0] == "web" or (sentence.startswith("Error: ") and "\n" not in sentence), words
            yield words
        else:
            assert status in EXPECTED, (words, message)


@pytest.mark.long_except(*list(EDITS)[::3])
@pytest.mark.parametrize("name", EDITS)
def test_no_reader_shows_a_broken_value(tmp_path: Path, sound: bytes, name: str) -> None:
    refused = list(_refusals(tmp_path / "archive.sqlite", sound, name, READERS))
    assert refused or name in ("player-gone", "handles-equal", "keys-equal"), "no reader refused it"


@pytest.mark.long
@pytest.mark.parametrize("name", EDITS)
def test_no_slow_reader_shows_a_broken_value(tmp_path: Path, sound: bytes, name: str) -> None:
    """Each edit is read by a third of them, and each of them reads a third of the edits."""
    list(_refusals(tmp_path / "archive.sqlite", sound, name, SLOW_READERS[list(EDITS).index(name) % 3 :: 3]))


@pytest.mark.parametrize("name", EDITS)
def test_db_check_names_the_game_and_the_fault(tmp_path: Path, sound: bytes, name: str) -> None:
    path = tmp_path / "archive.sqlite"
    change, _, words = EDITS[name]
    key = _edited(path, sound, change)
    found = Cli(path)("db", "check", code=ExitCode.FINDINGS).stdout
    (sentence,) = [line for line in found.splitlines() if words in line][:1]
    assert f"(game {key[:8]}" in sentence or name in NAMED_BY_SOURCE


def test_what_no_log_prints_but_may_be_is_sound(tmp_path: Path, sound: bytes) -> None:
    """Negative clocks are shown; control characters of a file's names and tags are kept and never printed."""
    path = tmp_path / "archive.sqlite"
    key = _edited(path, sound, f"UPDATE plies SET black_clock_ms = -61000, lag_ms = -5 WHERE {_PLY}")
    assert check(path) == []
    assert "-61000" in _read(path, ("export", "plies"), key)[1]
    for words in (*READERS, ("web", "/game/{key}")):
        status, shown, message = _read(path, words, key)
        assert status == 0, message
        assert not {"\x1b", "\x07"} & set(shown)
