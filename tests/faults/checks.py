"""What must be true of journals, archive and PGN after a fault.

The checks run in a process of their own: they take no time from the servers that send meanwhile.
"""

import contextlib
import json
import re
import sqlite3
from collections import Counter
from itertools import combinations
from pathlib import Path

from click.testing import CliRunner

from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.cli import main
from recorder.errors import ExitCode
from recorder.relating.merge import merge_games
from storage import ArchiveStore, GameFilter
from tests.support.cli import Cli

_EVERYTHING = ("--include", "examined,setup,empty")
_SHA256 = re.compile(r'"sha256":"[0-9a-f]{64}"')
_KEY = re.compile(r'^\[RecorderKey "([^"]+)"\]$', re.M)
_PART = re.compile(r'^\[RecorderPart "([^"]+)"\]$', re.M)
_MOST_TOGETHER = 5
_ENDED = ("result", "adjourned", "aborted")


def archive_problems(
    archive: Path, journals: list[Path], work: Path, words: tuple[str, ...], loosely: bool
) -> list[str]:
    """Compare an archive with a fresh one that is made from the same journals at once.

    Args:
        journals: folders or files. work: a folder for the fresh archive. words: options of the import.
        loosely: games may be further than their source was settled, so its hash is another.
    """
    problems = []
    live, fresh = Cli(archive), Cli(work / "fresh.sqlite")
    fresh.archive.unlink(missing_ok=True)
    fresh("import", *words, *journals)
    exported: dict[str, str] = {}
    for what in (("games",), ("plies", "--format", "csv"), ("pgn", "--variations", "--comments")):
        both = [cli("export", *what, *_EVERYTHING, code=None) for cli in (live, fresh)]
        if both[0].exit_code != both[1].exit_code or both[0].exit_code not in (ExitCode.OK, ExitCode.FINDINGS):
            problems.append(f"export {what[0]} ends with {[found.exit_code for found in both]}: {both[0].output}")
        ours, theirs = (found.stdout for found in both)
        exported[what[0]] = ours
        if loosely:
            ours, theirs = (_SHA256.sub("", text) for text in (ours, theirs))
        if ours != theirs:
            problems.append(f"export {what[0]} differs from that of a fresh import: {_difference(ours, theirs)}")
    keys = Counter(json.loads(line)["key"] for line in exported["games"].splitlines())
    problems += [f"game {key} is in the archive {count} times" for key, count in keys.items() if count > 1]
    live("db", "check")
    for folder in journals:
        for path in sorted(folder.glob("*.journal.zst")):  # closed, so nothing can be wrong with it
            live("journal", "check", path)
    message = live("verify").stderr
    if " 0 findings" not in message:
        problems.append(f"verify says {message!r}")
    return problems


def pgn_problems(pgn: Path, archive: Path, all_of_them: bool) -> list[str]:
    """Compare what ``--pgn`` wrote with the archive: every game once, as journals that saw it give it in the end.

    Args:
        all_of_them: every game that ended must be there; others may be, once their connection is over.
    """
    wanted, groups = _stored_games(archive)
    found = pgn.read_text(encoding="utf-8") if pgn.exists() else ""
    counts = Counter(_places(found))
    problems = [f"game {place} is in the PGN {count} times" for place, count in counts.items() if count > 1]
    written = {place.split()[0] for place in counts}
    for group in {frozenset(group) for group in groups.values()}:
        if len(group & written) > 1:
            problems.append(f"the game of {sorted(group & written)} is in the PGN several times")
    if all_of_them:
        ended = _ended(archive)
        known = {place.split()[0] for place in wanted}
        problems += [f"game {key} has ended, but export does not have it" for key in ended - known]
        missing = {key for key in ended & known if written.isdisjoint(groups.get(key, {key}))}
        problems += [f"game {key} has ended, but is not in the PGN" for key in missing]
        missing = {place for place in wanted if place.split()[0] in ended - groups.keys()} - counts.keys()
        problems += [f"part {place} of a game that has ended is not in the PGN" for place in missing]
    for place, text in _games(found).items():
        if text not in wanted.get(place, ()):
            other = next(iter(wanted.get(place, ["none"])))
            problems.append(f"game {place} differs in the PGN: {_difference(text, other)}")
    return problems


def status_of(journals: Path) -> list[dict[str, object]]:
    """What ``status --json`` says."""
    found: list[dict[str, object]] = Cli(journals / "unused.sqlite").json("status", "--json", "--journal-dir", journals)
    return found


def _stored_games(archive: Path) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """What a recorder may write: each game as its journal gives it, or as several journals that saw it do.

    Returns:
        Texts by their places; for a key of a game of several journals all of its keys.
    """
    exporter = PgnExporter(PgnOptions())
    with ArchiveStore.open(str(archive)) as opened:
        alone = {game.key: game for game in opened.games(GameFilter(per_source=True))}
        groups = {key: set(game.merged_from) for game in opened.games() for key in game.merged_from}
    games = list(alone.values())
    for group in {frozenset(group) for group in groups.values()}:
        members = [alone[key] for key in sorted(group) if key in alone]
        for count in range(2, min(len(members), _MOST_TOGETHER) + 1):
            games += [one for some in combinations(members, count) for one in merge_games(some)]
    wanted: dict[str, list[str]] = {}
    for game in games:
        for place, text in _games(exporter.game_text(game)).items():
            wanted.setdefault(place, []).append(text)
    return wanted, groups


def _ended(archive: Path) -> set[str]:
    """The games of which the end was seen, but for those that no export has unless it is asked to."""
    with contextlib.closing(sqlite3.connect(f"file:{archive}?mode=ro", uri=True)) as connection:
        marks = ",".join("?" * len(_ENDED))
        rows = connection.execute(
            f"SELECT key FROM games WHERE ending IN ({marks}) AND kind = 'played' AND ply_count > 0"
            " AND source_id IS NOT NULL",
            _ENDED,
        )
        return {key for (key,) in rows}


def _games(pgn: str) -> dict[str, str]:
    """The text of each game by its key, and by which part of it that is: a game with missing moves has several."""
    texts = [text.strip() for text in re.split(r"(?=^\[Event )", pgn, flags=re.M) if _KEY.search(text)]
    return dict(zip(_places(pgn), texts, strict=True))


def _places(pgn: str) -> list[str]:
    found = []
    for text in re.split(r"(?=^\[Event )", pgn, flags=re.M):
        if (key := _KEY.search(text)) is not None:
            part = _PART.search(text)
            found.append(key[1] if part is None else f"{key[1]} {part[1]}")
    return found


def _difference(ours: str, theirs: str) -> str:
    for number, (one, other) in enumerate(zip(ours.splitlines(), theirs.splitlines(), strict=False), 1):
        if one != other:
            place = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
            begin = max(0, place - 60)
            return f"line {number}: {one[begin : place + 60]!r}, not {other[begin : place + 60]!r}"
    return f"{len(ours.splitlines())} lines, not {len(theirs.splitlines())}"


def command_problems(archive: Path, words: tuple[str, ...], status: int) -> list[str]:
    """Run a command and compare its exit status."""
    result = CliRunner().invoke(main, words, env={"ICS_RECORDER_DB": str(archive)})
    return [] if result.exit_code == status else [f"{words[0]} ends with {result.exit_code}: {result.output}"]
