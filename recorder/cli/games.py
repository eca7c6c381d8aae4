"""``ics-recorder games``: the games of the archive, one a line."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import click

from recorder.archive.exporting import chosen_games, count_excluded, named_games, without_games
from recorder.archive.locate import open_archive
from recorder.cli.export_options import say_excluded
from recorder.cli.options import (
    Command,
    archive_option,
    filter_options,
    game_filter,
    json_option,
    position_options,
    unique_option,
    wide_option,
)
from recorder.cli.output import print_json_list, print_table, say
from recorder.text import plural

if TYPE_CHECKING:
    from recorder.model import Game, Player
    from storage import ArchiveStore, GameFilter

_KEY_DIGITS = 8
# In 80 columns there is room for date, players, ratings, time control, result and plies, and mostly for the key.
_NARROW = (
    *(("Remarks", 20), "Remarks", ("Kind", 14), "Kind", ("Date", 10)),
    *(("White", 12), ("Black", 12), ("White", 10), ("Black", 10), "Key"),
)
_UNFINISHED = {"result": "", "log-ends": "log ends", "lost-feed": "feed lost", "reused": "number reused"}


@click.command(
    "games",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder games --last 2
  Key      Date             White   Rating Black  Rating Time   Result  Plies
  ...
  5e8769f4 2022-01-31 23:21 blore     2015 Slek     2079 900+0  1/2-1/2   108
  f529a25f 2022-12-31 21:56 exeComp   2509 slaran   1593 120+12 1-0        29
  ...
  $ ics-recorder games --player Morphy --variant crazyhouse --since 2020-01-01
  $ ics-recorder games --me Ann --last 20 --json
  $ ics-recorder games --moves "e4 c5 Nf3"
""",
)
@position_options
@filter_options
@unique_option
@archive_option
@json_option
@wide_option
def command(where: str, as_json: bool, **filters: Any) -> None:
    """List games that match the filters, by default all played games.

    KEY names a game: 6af8, last or last~2 (see `help keys`). The number
    of games that the default and the filters exclude is printed to stderr (see `help filters`).

    --position and --moves find all games of normal chess that reached a position, by whatever moves. The first search
    makes an index beside the archive and prints its size; later ones add what is new (see `db positions`).
    """
    from recorder.archive.pages.related import games_in_progress

    chosen = game_filter(**filters)
    with open_archive(where) as archive:
        if chosen.position is not None:
            from recorder.archive.positions import index_sentence

            if sentence := index_sentence(archive.positions.state()):
                say(sentence)
        chosen = named_games(archive, chosen)
        with archive.snapshot():
            going_on = games_in_progress(archive)
            with chosen_games(archive, chosen, events=False, holdings=False, lines=False, thinking=False) as games:
                if as_json:
                    print_json_list({**_summary(game), "in_progress": game.key in going_on} for game in games)
                else:
                    _print_games(archive, chosen, games, going_on)
            say_excluded(count_excluded(archive, chosen).items())


def _print_games(archive: ArchiveStore, chosen: GameFilter, games: Iterable[Game], going_on: Collection[str]) -> None:
    """Print the table and how many games it has; ``going_on`` has the keys of games in progress."""
    rows, in_progress = [], 0
    for game in games:
        rows.append(_row(game, game.key in going_on))
        in_progress += game.key in going_on
    print_table(
        ("Key", "Date", "White", "Rating", "Black", "Rating", "Kind", "Time", "Result", "Plies", "Remarks"),
        rows,
        right=("Rating", "Plies"),
        narrow=_NARROW,
    )
    if rows:
        say(f"{plural(len(rows), 'game')}{f', {in_progress:,} in progress' if in_progress else ''}.")
    elif sentence := without_games(archive, chosen):
        say(sentence)


def _time_control(game: Game) -> str | None:
    return None if game.base_s is None else f"{game.base_s}+{game.increment_s or 0}"


def _row(game: Game, in_progress: bool) -> tuple[object, ...]:
    from recorder.times import iso_start

    begun = iso_start(game)
    ended = game.reason if game.end == "result" else _UNFINISHED.get(game.end, game.end)
    remarks = [
        *(["in progress"] if in_progress else [ended, None if game.complete else "incomplete"]),
        None if game.kind.value == "played" else game.kind.value,
    ]
    rated = {True: "rated", False: "unrated", None: None}[game.rated]
    kind = [rated, game.category, game.variant_word]
    return (
        game.key[:_KEY_DIGITS],
        begun[:16].replace("T", " ") if begun and begun[0] != "P" else game.day,
        game.white.handle,
        game.white.rating_text,
        game.black.handle,
        game.black.rating_text,
        " ".join(word for word in kind if word) or None,
        _time_control(game),
        game.result,
        game.ply_count,
        ", ".join(remark for remark in remarks if remark),
    )


def _player(player: Player) -> dict[str, Any]:
    return {"handle": player.handle, "rating": player.rating, "titles": player.titles}


def _summary(game: Game) -> dict[str, Any]:
    """The fields of ``export games`` without what is one entry a ply."""
    from exporters.games_json import opening_object
    from recorder.times import iso, iso_start

    return {
        "key": game.key,
        "server": game.server,
        "server_game_no": game.game_no,
        "kind": game.kind.value,
        "white": _player(game.white),
        "black": _player(game.black),
        "rated": game.rated,
        "variant": game.variant,
        "category": game.category,
        "base_s": game.base_s,
        "increment_s": game.increment_s,
        "result": game.result,
        "reason": game.reason,
        "termination": game.termination or None,
        "end": game.end,
        "started_at": iso_start(game),
        "start_precision": None if game.start_precision is None else game.start_precision.value,
        "day": None if game.day is None else str(game.day),
        "ended_at": iso(game.ended_at_ms, game.time_basis),
        "complete": game.complete,
        "ply_count": game.ply_count,
        **opening_object(game),
        "me": game.me,
    }
