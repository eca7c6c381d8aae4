"""``ics-recorder plot`` and ``report``: pictures, and pages for the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from recorder.archive.exporting import named_games, one_player, protected, require_games
from recorder.archive.locate import open_games
from recorder.cli.export_options import csv_option, format_of, output_options, say_excluded
from recorder.cli.option_types import complete_names
from recorder.cli.options import Command, Rare, dataset_option, force_option, game_filter, games_options, list_option
from recorder.cli.output import long_work, say
from recorder.errors import ExportError
from recorder.text import byte_size, plural

if TYPE_CHECKING:
    from exporters.plots.catalogue import Picture, PlotOptions
    from storage import GameFilter, GameStore

_SIZE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)x([0-9]{1,3}(?:\.[0-9]{1,9})?)")

NAMES = {
    "race": "both clocks of one game by move, with the even budget (equal time for each move) and events",
    "times": "one game's time for each move as bars, and their sums",
    "thinking": "how think times are distributed, by phase of the game",
    "heatmap": "move number against time for the move",
    "lag": "lag by move, and its histogram",
    "curve": "the clock averaged over games: median and quartiles by move",
    "leads": "the score of sides that are ahead or behind on the clock at --move 20",
    "evaluation": "one game's evaluation by move above its clocks, with blunders and time trouble marked",
    "blunders": "how often moves were blunders, by the time that was left and by the time that they took",
    "endings": "how one player's games ended: give --player",
    "profile": "one player's clocks, think times, lag and results on a sheet: give --player",
    "bughouse": "the four clocks of a match on one time axis: name one of its games",
}
"""What can be drawn."""

_FORMATS = ("svg", "png", "pdf")
_DATA_FORMATS = ("csv", "jsonl", "parquet")
_THEMES = ("light", "dark")
_MOST_INCHES = 100.0


def _read_size(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[float, float] | None:
    """``9x5`` as inches."""
    if text is None:
        return None
    match = _SIZE.fullmatch(text)
    size = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not all(1 <= inches <= _MOST_INCHES for inches in size):
        raise click.BadParameter(f"{text!r} is no size; write width x height in inches, 1 to 100, as 9x5.", ctx, param)
    return size


@click.command(
    "plot",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder plot race 6af8 -o race.svg
  Drew race of 1 game to race.svg.
  ics-recorder plot times 6af8 --theme dark -o times.png
  ics-recorder plot heatmap --player Morphy --since 2020-01-01 -o heatmap.png
  ics-recorder plot profile --player Morphy --data moves.csv -o morphy.pdf
  ics-recorder plot lag --last 20 --format svg -o - > lag.svg
  ics-recorder plot --list
""",
)
@click.argument("name", metavar="PICTURE", type=click.Choice(tuple(NAMES)), shell_complete=complete_names(NAMES))
@games_options
@dataset_option
@click.option("-o", "--output", metavar="FILE", help="Output file: FILE.svg, .png or .pdf; - needs --format.")
@force_option
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    show_default="as the file's suffix says",
    help="Format of the picture.",
)
@click.option("--data", metavar="FILE", help="Also write the drawn data as a table: FILE.csv, .jsonl or .parquet.")
@csv_option
@click.option("--theme", type=click.Choice(_THEMES), default="light", show_default=True, help="Colour theme.")
@click.option(
    "--size",
    metavar="WxH",
    callback=_read_size,
    show_default="as the picture needs",
    help="Width and height in inches.",
)
@click.option(
    "--dpi",
    cls=Rare,
    type=click.IntRange(20, 1200),
    metavar="N",
    default=150,
    show_default=True,
    help="Resolution of a PNG in dots per inch, 20 to 1200.",
)
@click.option(
    "--move",
    cls=Rare,
    type=click.IntRange(1, 500),
    metavar="N",
    default=20,
    show_default=True,
    help="Compare the clocks after this move (picture leads only).",
)
@click.option("--chat", is_flag=True, help="Mark kibitzes and whispers in a race.")
@list_option("pictures", NAMES)
def command(
    name: str,
    where: str,
    dataset: str | None,
    output: str | None,
    force: bool,
    format_name: str | None,
    data: str | None,
    csv_raw: bool,
    theme: str,
    size: tuple[float, float] | None,
    dpi: int,
    move: int,
    chat: bool,
    **filters: Any,
) -> None:
    """Draw a picture of clocks, think times, lag or evaluations.

    KEY names a game: 6af8, last or last~2 (see `help keys`). race, times, evaluation and
    bughouse show one game (for a bughouse match, give either board); the other pictures show all games that match the
    filters. With --player, they show that player's moves. Each picture states how many games and plies it shows, and
    what was excluded and why.

    Requires matplotlib: install the extra `plot`.
    """
    if output is None or not (format_name or Path(output).suffix):
        raise click.UsageError("Name an output file: -o FILE.svg, .png or .pdf; another name, and -, need --format.")
    if data is not None and Path(data).resolve() == Path(output).resolve():
        raise click.UsageError("--data and -o name the same file.")
    chosen_format, data_format = format_of(format_name, output, _FORMATS), format_of(None, data or "-", _DATA_FORMATS)
    from exporters.base import open_output, refuse_existing

    for path in (output, data):
        if path is not None:
            refuse_existing(path, force)
    rows = 0
    with open_games(where, dataset, say) as archive, ExitStack() as outputs:  # both are there, or none
        chosen = named_games(archive, game_filter(**filters))
        reasons = require_games(archive, chosen)
        pictures = _pictures()  # loading takes seconds
        picture = pictures.PICTURES[name]
        players = filters["player"]
        if picture.scope == "player" and len(players) != 1:
            raise click.UsageError(f"{name} shows one player: give --player HANDLE once.")
        player = players[0] if len(players) == 1 and picture.scope in ("player", "games") else None
        wishes = pictures.catalogue.PlotOptions(player, theme, size, chat, move)
        drawn = outputs.enter_context(_draw(archive, name, picture, wishes, chosen, reasons))
        table = picture.table(drawn.plies, drawn.wishes) if data is not None else None
        out = outputs.enter_context(open_output(output, force, drawn.keep))
        pictures.write_picture(drawn.figure, out, chosen_format, dpi=dpi)
        if data is not None:
            table_out = outputs.enter_context(open_output(data, force, drawn.keep))
            rows = pictures.write_table(table, table_out, data_format, raw=csv_raw)
    target = "standard output" if output == "-" else output
    say(f"Drew {name} of {plural(drawn.games, 'game')} to {target}.")
    if data is not None:
        say(f"Wrote {plural(rows, 'row')} to {'standard output' if data == '-' else data}.")
    say_excluded(drawn.excluded.items())


class _Drawn(NamedTuple):
    """A picture that is not written yet; ``keep``: files that must not be replaced."""

    figure: Any
    plies: Any
    wishes: PlotOptions
    games: int
    excluded: dict[str, int]
    keep: list[Path]


@contextmanager
def _draw(
    archive: GameStore, name: str, picture: Picture, wishes: PlotOptions, chosen: GameFilter, reasons: dict[str, int]
) -> Iterator[_Drawn]:
    from recorder.archive.game_measures import picture_data, picture_games

    if wishes.player is not None:
        wishes = wishes._replace(player=one_player(archive, wishes.player))
    drawn = picture_games(archive, picture.scope, chosen)
    if drawn is None:
        count = f"{archive.count(chosen):,}"
        raise click.UsageError(f"{name} shows one game, and {count} match: name one by its key, or last.")
    with picture_data(archive, picture.scope, drawn) as data:
        figure = picture.draw(data.plies, data.events, wishes)
        if wishes.player is not None:
            from exporters.measures.source import Plies

            reasons |= Plies.of(data.plies).player(wishes.player).excluded
        yield _Drawn(figure, data.plies, wishes, data.games, reasons, protected(archive))


def _pictures() -> Any:
    try:
        from exporters import plots as pictures
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise ExportError("Pictures need matplotlib: pip install 'ics-recorder[plot]'.") from error
    return pictures


_WHAT = (
    "Choose what to report on: one game (KEY), one player (--player HANDLE) or the archive (--index); "
    "--site DIR writes pages of all games."
)


@click.command(
    "report",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder report last -o game.html
  $ ics-recorder report 6af8 -o report.html
  Wrote the report of game 6af87f9e, ... kB, to report.html.
  ics-recorder report --player Morphy --since 2026-01-01 -o player.html
  ics-recorder report --index -o index.html
  ics-recorder report --index --variant crazyhouse -o crazyhouse.html
  ics-recorder report --site public/ --base-url https://example.org/games/
""",
)
@games_options
@dataset_option
@click.option("--index", is_flag=True, help="Report on the archive: games, players, time controls, sources.")
@click.option("--site", metavar="DIR", help="Write a folder with pages of all matching games and their players.")
@click.option(
    "--base-url",
    cls=Rare,
    metavar="URL",
    help="Address of the folder (with --site): write a sitemap and, with the extra `gif`, pictures for link previews.",
)
@click.option(
    "--pseudonyms", cls=Rare, is_flag=True, help="Replace every handle by an invented word, without chat (with --site)."
)
@click.option(
    "--chat",
    type=click.Choice(("public", "none")),
    show_default="public",
    help="Chat on the pages: kibitz and whisper, or none (with --site).",
)
@output_options
def report(
    where: str,
    dataset: str | None,
    index: bool,
    site: str | None,
    base_url: str | None,
    pseudonyms: bool,
    chat: str | None,
    output: str,
    force: bool,
    **filters: Any,
) -> None:
    """Write an HTML report on a game, a player or the archive.

    KEY (6af8, last or last~2): a page that replays the game in real time, with both
    clocks, think times, chat, takebacks, clock tables and sources. A bughouse match has both boards on one time line.

    --player HANDLE: the player's use of time in all matching games, in pictures and tables, and the list of the games.
    Guests never count as one player.

    --index: the newest 2,000 matching games, or as many as --last says, with a search field, and tables of players,
    time controls, endings and sources.

    --site DIR: a folder with pages of each matching game and each player of two games or more, and an index that
    searches the games. It needs no server, has no pictures except rating curves, and shows what `db share` keeps.

    A page is one file and needs no network. Requires the extra `report`.
    """
    if site is not None:
        if index or output != "-" or dataset is not None:
            raise click.UsageError("--site writes a folder of an archive: it takes no --index, -o and --dataset.")
        _write_site(where, site, filters, base_url, pseudonyms, chat or "public", force)
        return
    if base_url is not None or pseudonyms or chat is not None:
        raise click.UsageError("--base-url, --pseudonyms and --chat are for --site.")
    format_of(None, output, ("html", "htm"))
    players = filters["player"]
    if not index and len(players) > 1:
        raise click.UsageError("A report shows one player: give --player once.")
    key = None if index or players else _only_key(filters)
    from exporters.base import open_output, refuse_existing
    from recorder.archive.pages.reports import page_of_archive, page_of_game, page_of_player

    refuse_existing(output, force)
    with open_games(where, dataset, say) as archive, archive.snapshot():
        if key is not None:
            page = page_of_game(archive, key)
        else:
            chosen = named_games(archive, game_filter(**filters))
            page = (
                page_of_archive(archive, chosen)
                if index
                else page_of_player(archive, one_player(archive, players[0]), chosen)
            )
        say_excluded(page.excluded.items())
        if len(page.servers) > 1:
            counted = ", ".join(f"{number:,} on {name}" for name, number in page.servers.items())
            say(f"Combined: {counted}; --server NAME (or unknown) chooses one.")
        with open_output(output, force, protected(archive)) as out:
            out.write(page.html)
    target = "standard output" if output == "-" else output
    say(f"Wrote {page.title}, {byte_size(len(page.html))}, to {target}.")


def _write_site(
    where: str, folder: str, filters: dict[str, Any], base_url: str | None, pseudonyms: bool, chat: str, force: bool
) -> None:
    from recorder.archive.pages.player_pages import SiteOptions, write_site

    options = SiteOptions(base_url, pseudonyms, chat, force)
    with long_work(steps=True) as progress:
        written = write_site(where, game_filter(**filters), Path(folder), options, progress)
    pages = f"{plural(written.games, 'game')} and {plural(written.players, 'player')}"
    say(f"Wrote pages of {pages}, {byte_size(written.size_bytes)}, to {folder}.")
    say_excluded(written.excluded.items())


def _only_key(filters: dict[str, Any]) -> str:
    from storage import GameFilter

    keys = filters["keys"]
    others = replace(game_filter(**filters), keys=frozenset(), unique=False) != GameFilter()
    if len(keys) != 1 or others:
        raise click.UsageError(_WHAT if not keys else f"A report on a game takes one KEY and no filters. {_WHAT}")
    return str(keys[0])
