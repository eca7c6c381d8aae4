"""Links between games: partner boards of bughouse, examinations of played games. Made anew where games were touched.

Partners are looked for among the games of one source that overlap in it, then among those of several (``boards``);
what an examined game shows, among the games of the same players in the archive, and among those of the examiner in the
same source where only his name was shown.
A link stands between rows of sources, for a game of several at the one whose key it has: readers follow
``merged_into``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from recorder.model import Game, LinkKind
from storage.boards import boards_of_several
from storage.bulk import insert_rows
from storage.names import insert_into
from storage.reader import load_games

__all__ = ["link"]

_LINKS: Final = insert_into("game_links")
# saved games stand one after another, partners too
_BUGHOUSE: Final = """
SELECT g.id, g.source_id, g.first_offset, CASE s.kind WHEN 'pgn' THEN s.size_bytes ELSE g.last_offset END
FROM games g JOIN sources s ON s.id = g.source_id
WHERE g.variant = 'bughouse' AND g.kind = 'played' AND g.source_id IN (
  SELECT t.source_id FROM temp.touched n JOIN games t ON t.id = n.id WHERE t.variant = 'bughouse' AND t.kind = 'played')
ORDER BY g.source_id, g.first_offset
"""
_EXAMINED: Final = """
WITH pairs AS MATERIALIZED (
  SELECT DISTINCT t.white_id, t.black_id FROM temp.touched n CROSS JOIN games t ON t.id = n.id),
handles AS MATERIALIZED (SELECT white_id AS id FROM pairs UNION SELECT black_id FROM pairs)
SELECT e.id, e.white_id, e.black_id, e.source_id
FROM pairs p CROSS JOIN games e ON e.white_id = p.white_id AND e.black_id = p.black_id
WHERE e.kind = 'examined' AND e.source_id IS NOT NULL
UNION
SELECT e.id, e.white_id, e.black_id, e.source_id
FROM handles h CROSS JOIN games e ON e.white_id = h.id AND e.black_id = h.id
WHERE e.kind = 'examined' AND e.source_id IS NOT NULL
"""
_PLAYED: Final = """
SELECT DISTINCT coalesce(merged_into, id) FROM games
WHERE white_id = ? AND black_id = ? AND kind = 'played' AND source_id IS NOT NULL
"""
_PLAYED_BY: Final = """
SELECT DISTINCT coalesce(merged_into, id) FROM games
WHERE source_id = ? AND (white_id = ? OR black_id = ?) AND kind = 'played'
"""
_NUMBER: Final = "SELECT id FROM games WHERE key = ? AND source_id IS NOT NULL"


def link(driver: sqlite3.Connection) -> None:
    """Make the links of the games in ``temp.touched`` anew."""
    _link_partners(driver)
    _link_examined(driver)


def _load(driver: sqlite3.Connection, ids: Iterable[int]) -> list[Game]:
    return list(
        load_games(
            driver,
            sorted(ids),
            with_events=True,
            with_holdings=True,
            with_thinking=False,
            with_lines=True,
            whole_plies=True,
        )
    )


def _link_partners(driver: sqlite3.Connection) -> None:
    touched = {number for (number,) in driver.execute("SELECT id FROM temp.touched")}
    again = set(touched)
    rows = driver.execute(_BUGHOUSE).fetchall()
    groups: list[list[int]] = []
    last_source, last_end = None, -1
    for number, source, begin, end in rows:
        if source != last_source or begin > last_end:
            groups.append([])
            last_source, last_end = source, end
        last_end = max(last_end, end)
        groups[-1].append(number)
    for group in groups:
        if touched.intersection(group):
            from recorder.relating.bughouse import pair_bughouse

            _forget(driver, group, LinkKind.PARTNER)
            _store(driver, pair_bughouse(_load(driver, group)), LinkKind.PARTNER)
            again.update(group)
    if rows:
        for boards in boards_of_several(driver, again):
            from recorder.relating.bughouse import pair_bughouse

            _store(driver, pair_bughouse(_load(driver, boards)), LinkKind.PARTNER)


def _link_examined(driver: sqlite3.Connection) -> None:
    for number, white, black, source in driver.execute(_EXAMINED).fetchall():
        from recorder.relating.examined import link_examined

        query, values = (_PLAYED_BY, (source, white, white)) if white == black else (_PLAYED, (white, black))
        played = [row for (row,) in driver.execute(query, values)]
        _forget(driver, [number], LinkKind.EXAMINED)
        _store(driver, link_examined(_load(driver, [number, *played])), LinkKind.EXAMINED)


def _forget(driver: sqlite3.Connection, games: list[int], kind: LinkKind) -> None:
    for number in games:
        driver.execute("DELETE FROM game_links WHERE game_id = ? AND kind = ?", (number, kind.value))


def _store(driver: sqlite3.Connection, found: list[tuple[str, str, str]], kind: LinkKind) -> None:
    rows = [
        (*(driver.execute(_NUMBER, (key,)).fetchone()[0] for key in (one, other)), kind.value, evidence)
        for one, other, evidence in found
    ]
    insert_rows(driver, _LINKS, rows)
