"""What belongs to a game: its bughouse match, examinations, anomalies of its log, and whether it is in progress."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.model import Game, GameKind, LinkKind
from storage import EVERY_GAME, GameFilter
from storage.dataset.reading import DatasetStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recorder.model import Anomaly
    from recorder.relating.match import Match
    from storage import ArchiveStore, GameStore, SourceRow


def examinations(archive: ArchiveStore, game: Game) -> list[tuple[str, Game, str]]:
    """Games that are linked by an examination, or that their players show to be; each with a word and evidence."""
    from recorder.relating.examined import link_examined

    linked = [link for link in game.links if link.kind is LinkKind.EXAMINED]
    played = game.kind is GameKind.PLAYED
    word = "Examined in" if played else "Examination of"
    if linked:
        return [(word, archive.game(link.key), link.evidence) for link in linked]
    players = GameFilter(
        players=frozenset((game.white.handle, game.black.handle)), kinds=frozenset({GameKind.EXAMINED})
    )
    games = list(archive.games(players)) if played else [game]
    if not games or game.kind is GameKind.SETUP:
        return []
    by_key = {
        other.key: other for other in (*games, *archive.games(replace(players, kinds=frozenset({GameKind.PLAYED}))))
    }
    links = link_examined(list(by_key.values()))
    mine, others = (1, 0) if played else (0, 1)
    return [(word, by_key[link[others]], link[2]) for link in links if link[mine] == game.key]


def games_in_progress(archive: GameStore) -> frozenset[str]:
    """Keys of games without an end whose log is still being written; none of a data set."""
    if isinstance(archive, DatasetStore):
        return frozenset()
    growing = growing_logs(archive)
    return archive.unended(growing) if growing else frozenset()


def growing_logs(archive: ArchiveStore) -> list[str]:
    return [row.sha256 for row in archive.sources() if row.unfinished and _is_growing(row)]


def _is_growing(row: SourceRow) -> bool:
    if row.path is None:
        return False
    from recorder.journal.parts import find_part, is_being_written  # a listing seldom needs them
    from recorder.sources import is_journal, log_files

    path = Path(row.path)
    if not is_journal(path):
        return path.exists()
    path = find_part(path)
    return path.exists() and is_being_written(log_files(path)[-1])


def anomalies_of_game(archive: GameStore, game: Game) -> list[Anomaly]:
    """Anomalies between the game's first and last line, of its number or of none."""
    if isinstance(archive, DatasetStore):
        return []
    return [
        anomaly
        for row, linked in games_by_source(archive, game)
        for _, anomaly in archive.anomalies(row.id)
        if linked.first_offset <= anomaly.offset <= linked.last_offset and anomaly.game_no in (linked.game_no, None)
    ]


def games_by_source(archive: ArchiveStore, game: Game) -> list[tuple[SourceRow, Game]]:
    if not game.merged_from:
        return [(archive.game_sources(game.key)[0], game)]
    chosen = replace(EVERY_GAME, keys=frozenset(game.merged_from), per_source=True)
    linked = [(member.observations[0].source, member) for member in archive.games(chosen)]
    return [(archive.source(source.sha256), member) for source, member in linked if source is not None]


def other_boards(archive: ArchiveStore, games: Iterable[Game]) -> list[Game]:
    """The linked boards of bughouse games; without links, games of their logs, or with a number that was named."""
    games = [game for game in games if game.variant == "bughouse"]
    keys = {game.key for game in games}
    linked = frozenset(link.key for game in games for link in game.links if link.kind is LinkKind.PARTNER)
    everything = replace(EVERY_GAME, variants=frozenset({"bughouse"}))
    wanted = [replace(everything, keys=linked - keys)] if linked - keys else []
    alone = [game for game in games if not any(link.kind is LinkKind.PARTNER for link in game.links)]
    logs = {row.sha256 for game in alone for row in archive.game_sources(game.key)}
    wanted += [replace(everything, source=sha256) for sha256 in sorted(logs)]
    boards = {game.key: game for where in wanted for game in archive.games(where)}
    named = {game.partner_game_no for game in alone if game.partner_game_no is not None}
    if named:
        boards |= {game.key: game for game in archive.games(everything) if game.game_no in named}
    return [game for key, game in boards.items() if key not in keys]


def of_source(archive: GameStore, game: Game, where: GameFilter) -> GameFilter:
    """The filter, of a data set with the game's source: others may have games with the same keys."""
    source = game.observations[0].source if game.observations else None
    if source is None or not isinstance(archive, DatasetStore):
        return where
    return replace(where, source=source.sha256)


def match_of(archive: GameStore, game: Game) -> tuple[Match, str] | None:
    """The match of a bughouse game and the evidence for it; None: its other board is unknown."""
    if game.variant != "bughouse":
        return None
    from recorder.relating.bughouse import pair_bughouse
    from recorder.relating.match import board_order

    if isinstance(archive, DatasetStore):
        if not (keys := frozenset(link.key for link in game.links)):
            return None
        games = archive.games(of_source(archive, game, replace(EVERY_GAME, keys=keys)))
        others = {other.key: other for other in games if other.key in keys}
    else:
        others = {other.key: other for other in other_boards(archive, [game])}
    linked = [(link.key, link.evidence) for link in game.links if link.kind is LinkKind.PARTNER and link.key in others]
    linked = linked or [
        (second if first == game.key else first, evidence)
        for first, second, evidence in pair_bughouse([game, *others.values()])
        if game.key in (first, second)
    ]
    return (board_order(game, others[linked[0][0]]), linked[0][1]) if linked else None


def match_findings(match: Match) -> list[str]:
    """What contradicts that the two boards were one match, or that their clocks were read rightly."""
    from recorder.relating.match import check_clocks

    findings = [
        f"{numbered_move(finding.board, finding.ply)} {match.board(finding.board).white.handle}'s board: {finding.text}"
        for finding in check_clocks(match)
    ]
    if (match.a.result, match.b.result) not in (("1-0", "0-1"), ("0-1", "1-0"), ("1/2-1/2", "1/2-1/2")) and (
        "*" not in (match.a.result, match.b.result)
    ):
        findings.append(f"the results contradict each other: {match.a.result} on board A, {match.b.result} on board B")
    return findings


def numbered_move(board: str, ply: int) -> str:
    """``12A.`` for White of board A, ``12a.`` for Black."""
    return f"{(ply + 1) // 2}{board if ply % 2 else board.lower()}."
