"""``ics-recorder report``: a game, a player or a whole archive as a page for the browser."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from recorder.archive.exporting import named_games, protected
from recorder.archive.locate import open_archive
from recorder.cli.export_options import output_options, say_left_out
from recorder.cli.options import Command, archive_option, filter_options, game_filter, unique_option
from recorder.cli.output import say

__all__ = ["command"]

_WHAT = "Say what to write: a GAME, or --player HANDLE for one player, or --index for the whole archive."


@click.command(
    "report",
    cls=Command,
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
@click.option("--index", is_flag=True, help="Report on the archive: games, players, time controls, sources.")
@output_options
def command(where: str, index: bool, output: str, force: bool, **filters: Any) -> None:
    """Write an HTML report on a game, a player or the archive.

    KEY (the first characters of a game's key, last, or last~2): a page that replays the game in real time, with both
    clocks, think times, chat, takebacks, clock tables and sources. A bughouse match has both boards on one time line.

    --player HANDLE: the player's use of time in all matching games, in pictures and tables, and the list of the games.
    Guests with the same name are never taken for one player.

    --index: the matching games, the newest 2,000 or as many as --last says, with a search field; players, time
    controls, endings and sources.

    The other options are filters, as in `games`. A page is one file and needs no network. Requires the extra `report`.
    """
    if output == "-" and sys.stdout.isatty():
        raise click.UsageError("A page is not for the terminal; write it to a file with -o.")
    players = filters["players"]
    if not index and len(players) > 1:
        raise click.UsageError("A report is about one player: give --player once.")
    key = None if index or players else _only_key(filters)
    from exporters.base import open_output
    from recorder.archive.reports import page_of_archive, page_of_game, page_of_player

    with open_archive(where) as archive, archive.snapshot():
        if key is not None:
            page = page_of_game(archive, key)
        else:
            chosen = named_games(archive, game_filter(**filters))
            page = page_of_archive(archive, chosen) if index else page_of_player(archive, players[0], chosen)
        say_left_out(page.excluded.items())
        if len(page.servers) > 1:
            counted = ", ".join(f"{number:,} on {name}" for name, number in page.servers.items())
            say(f"Counted together: {counted}; --server NAME (or unknown) chooses one.")
        with open_output(output, force, protected(archive)) as out:
            out.write(page.html)
    target = "standard output" if output == "-" else output
    say(f"Wrote {page.title}, {len(page.html) // 1024} KiB, to {target}.")


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
