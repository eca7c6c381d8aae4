"""``ics-recorder games``: the games of the archive, one a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from recorder.archive.exporting import chosen_games, count_excluded, named_games, without_games
from recorder.archive.locate import open_archive
from recorder.cli.export_options import say_excluded
from recorder.cli.options import Command, game_filter, games_options, json_option, position_options, wide_option
from recorder.cli.output import print_rows, say
from recorder.model import GameEnd
from recorder.model.games import rated_word
from recorder.text import named, plural

if TYPE_CHECKING:
    from recorder.model import Game
    from storage import ArchiveStore, GameFilter

_KEY_DIGITS = 8
# In 80 columns there is room for date, players, ratings, time control, result and plies, and mostly for the key.
_NARROW = (
    *(("Remarks", 20), "Remarks", ("Kind", 14), "Kind", ("Date", 10)),
    *(("White", 12), ("Black", 12), ("White", 10), ("Black", 10), "Key"),
)
_UNFINISHED = {
    GameEnd.RESULT: "",
    GameEnd.LOG_ENDS: "log ends",
    GameEnd.LOST_FEED: "feed lost",
    GameEnd.REUSED: "number reused",
}


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
@games_options
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
    from storage.read.store import MOVES_ALONE

    chosen = game_filter(**filters)
    with open_archive(where) as archive:
        if chosen.position is not None:
            from recorder.archive.positions import index_sentence

            if sentence := index_sentence(archive.positions.state()):
                say(sentence)
        chosen = named_games(archive, chosen)
        with archive.snapshot():
            going_on = games_in_progress(archive)
            with chosen_games(archive, chosen, **MOVES_ALONE) as games:
                _print_games(archive, chosen, games, going_on, as_json=as_json)
            say_excluded(count_excluded(archive, chosen).items())


def _print_games(
    archive: ArchiveStore, chosen: GameFilter, games: Iterable[Game], going_on: Collection[str], *, as_json: bool
) -> None:
    """``going_on`` has the keys of games in progress."""
    printed = Counter[bool]()

    def counted() -> Iterator[Game]:
        for game in games:
            printed[game.key in going_on] += 1
            yield game

    print_rows(
        counted(),
        lambda game: {**_summary(game), "in_progress": game.key in going_on},
        (
            ("Key", lambda game: game.key[:_KEY_DIGITS]),
            ("Date", _date),
            ("White", "white.handle"),
            ("Rating", "white.rating_text"),
            ("Black", "black.handle"),
            ("Rating", "black.rating_text"),
            ("Kind", _kind),
            ("Time", lambda game: None if game.base_s is None else f"{game.base_s}+{game.increment_s or 0}"),
            ("Result", "result"),
            ("Plies", "ply_count"),
            ("Remarks", lambda game: _remarks(game, game.key in going_on)),
        ),
        as_json=as_json,
        right=("Rating", "Plies"),
        narrow=_NARROW,
    )
    if as_json:
        return
    if printed:
        going = f", {printed[True]:,} in progress" if printed[True] else ""
        say(f"{plural(printed.total(), 'game')}{going}.")
    elif sentence := without_games(archive, chosen):
        say(sentence)


def _date(game: Game) -> object:
    from recorder.times import iso_start

    begun = iso_start(game)
    return begun[:16].replace("T", " ") if begun and begun[0] != "P" else game.day


def _kind(game: Game) -> str | None:
    return " ".join(word for word in (rated_word(game), game.category, game.variant_word) if word) or None


def _remarks(game: Game, in_progress: bool) -> str:
    ended = game.reason if game.end == GameEnd.RESULT else _UNFINISHED.get(game.end, game.end)
    remarks = ["in progress"] if in_progress else [ended, None if game.complete else "incomplete"]
    remarks += [None if game.kind.value == "played" else game.kind.value]
    return ", ".join(remark for remark in remarks if remark)


_PLAYER = named("handle rating titles")
_GAME = named("key server server_game_no=game_no kind")
_CONTROL = named("rated variant category base_s increment_s result reason")


def _summary(game: Game) -> dict[str, Any]:
    """The fields of ``export games`` without what is one entry a ply."""
    from exporters.games_json import opening_object
    from recorder.times import iso, iso_start

    return {
        **_GAME(game),
        "white": _PLAYER(game.white),
        "black": _PLAYER(game.black),
        **_CONTROL(game),
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
