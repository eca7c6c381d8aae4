"""``ics-recorder report``: a game, a player or a whole archive as a page for the browser."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from recorder.archive.exporting import named_games, protected, require_games
from recorder.archive.locate import open_archive
from recorder.cli.export_options import output_options, say_left_out
from recorder.cli.options import archive_option, filter_options, game_filter, unique_option
from recorder.cli.output import say
from recorder.text import plural

if TYPE_CHECKING:
    from storage import ArchiveStore, GameFilter

__all__ = ["command"]

_WHAT = "Say what to write: a GAME, or --player HANDLE for one player, or --index for the whole archive."


@click.command(
    "report",
    epilog="""\b
Examples:
  ics-recorder report last -o game.html
  ics-recorder report 6af8 -o game.html --force
  ics-recorder report --player Morphy --since 2026-01-01 -o player.html
  ics-recorder report --index -o index.html
  ics-recorder report --index --variant crazyhouse --last 500 -o crazyhouse.html
""",
)
@filter_options
@unique_option
@archive_option
@click.option("--index", is_flag=True, help="Write what the archive holds: games, players, time controls, logs.")
@output_options
def command(where: str, index: bool, output: str, force: bool, **filters: Any) -> None:
    """Write one HTML file about a game, about a player, or about the archive.

    KEY alone, the beginning of a game's key, last, or last~2 for the third newest: the page plays the game back in real
    time, with the think times as they were, and has both clocks, what was said, what was taken back, clock tables and
    where it all comes from. Of a bughouse match it has both boards on one time line.

    --player HANDLE: this player's use of time in all games that the options choose, in pictures and tables, and the
    games themselves. Guests of one name are never taken for one player.

    --index: the games that the options choose, the newest 2,000 or as many as --last says, with a filter; players, time
    controls, endings, and the archive's logs.

    The other options are those of games.

    A page needs no network and no other file. Needs the extra report.
    """
    if output == "-" and sys.stdout.isatty():
        raise click.UsageError("A page is not for the terminal; write it to a file with -o.")
    with open_archive(where) as archive, archive.snapshot():
        if index:
            page, told = _index(archive, named_games(archive, game_filter(**filters)))
        elif filters["players"]:
            if len(filters["players"]) > 1:
                raise click.UsageError("A report is about one player: give --player once.")
            page, told = _player(archive, filters["players"][0], named_games(archive, game_filter(**filters)))
        else:
            page, told = _game(archive, _only_key(filters))
        keep = protected(archive)
        from exporters.output import open_output

        with open_output(output, force, keep) as out:
            out.write(page)
    target = "standard output" if output == "-" else output
    say(f"Wrote {told}, {len(page) // 1024} KiB, to {target}.")


def _only_key(filters: dict[str, Any]) -> str:
    """The KEY of a game's report.

    Raises:
        UsageError: there is none, or more is said than what a game is.
    """
    from storage import GameFilter

    keys = filters["keys"]
    others = replace(game_filter(**filters), keys=frozenset(), unique=False) != GameFilter()
    if len(keys) != 1 or others:
        raise click.UsageError(_WHAT if not keys else f"One KEY and no other choice names a game. {_WHAT}")
    return str(keys[0])


def _game(archive: ArchiveStore, spec: str) -> tuple[bytes, str]:
    """The page of a game, and what it is."""
    from exporters.report.game import game_report
    from exporters.tables.facts import with_progress
    from exporters.tables.games import events_of
    from exporters.tables.plies import ply_frame
    from recorder.archive.matches import match_of
    from recorder.archive.related import anomalies_of_game, games_in_progress
    from storage import GameFilter

    game = archive.game(spec)
    match, evidence = match_of(archive, game) or (None, "")
    games = [game] if match is None else [match.a, match.b]
    anomalies = [anomalies_of_game(archive, one) for one in games]
    chosen = GameFilter(keys=frozenset(one.key for one in games), kinds=frozenset(), min_plies=0)
    plies, events = ply_frame(archive, chosen), events_of(archive, chosen)
    going_on = games_in_progress(archive)
    page = game_report(
        game,
        match=match,
        evidence=evidence,
        anomalies=anomalies,
        plies=with_progress(plies, going_on),
        events=events,
        in_progress=going_on,
    )
    return page, f"the report of game {game.key[:8]}"


def _player(archive: ArchiveStore, player: str, chosen: GameFilter) -> tuple[bytes, str]:
    """The page of a player, and what it is."""
    from exporters.report.player import games_by_server, player_report, who_is_meant
    from exporters.tables.facts import with_progress
    from exporters.tables.games import side_frame
    from exporters.tables.plies import plies_of
    from recorder.archive.related import games_in_progress

    reasons = require_games(archive, chosen)
    if chosen.servers:
        counts = [archive.count(replace(one, last=None)) for one in (replace(chosen, servers=frozenset()), chosen)]
        reasons |= {"on other servers": counts[0] - counts[1]} if counts[0] > counts[1] else {}
    with archive.columns() as reader:  # both tables of one moment
        games = reader.games_of(chosen)
        sides, plies = side_frame(reader, games), plies_of(reader, [row_id for row_id, _ in games])
    someone = who_is_meant(sides, player)
    going_on = games_in_progress(archive)
    plies, sides = with_progress(plies, going_on), with_progress(sides, going_on)
    page = player_report(plies, sides, player=player, left_out=reasons)
    say_left_out([*reasons.items(), *someone.excluded.items()])
    servers = games_by_server(sides, someone)
    if len(servers) > 1:
        counted = ", ".join(f"{number:,} on {name}" for name, number in servers.items())
        say(f"Counted together: {counted}; --server NAME (or unknown) chooses one.")
    count = sum(servers.values())
    return page, f"the report of {plural(count, 'game')} of {someone.handle}"


def _index(archive: ArchiveStore, chosen: GameFilter) -> tuple[bytes, str]:
    """The page about the archive, and what it is."""
    from exporters.report.index import index_report
    from exporters.tables.facts import with_progress
    from exporters.tables.games import game_frame, side_frame
    from recorder.archive.related import games_in_progress

    reasons = require_games(archive, chosen)
    with archive.columns(arrow=False) as reader:
        rows = reader.games_of(chosen)
        games, sides = game_frame(reader, rows), side_frame(reader, rows)
    games = with_progress(games, games_in_progress(archive))
    page = index_report(games, sides, archive.sources(), left_out=reasons, most=chosen.last)
    say_left_out(reasons.items())
    return page, f"the index of {plural(len(games), 'game')}"
