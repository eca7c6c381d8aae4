"""``ics-recorder edit``: what a person knows better of a game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.archive.exporting import chosen_games, named_games
from recorder.archive.locate import open_archive
from recorder.cli.option_types import NAME
from recorder.cli.options import Command, archive_option, filter_options, game_filter, json_option, wide_option
from recorder.cli.output import confirm, print_rows, say
from recorder.text import plural

if TYPE_CHECKING:
    from storage import ArchiveStore, EditedGame, GameFilter

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])
_KEY_DIGITS = 8
_SHOWN = 5
_FIELDS = ("Date", "Time", "White", "Black", "Result", "Event", "Site", "Variant")


def _set_option(field: str, metavar: str, about: str) -> Callable[[_AnyCommand], _AnyCommand]:
    return click.option(f"--{field.lower()}", f"new_{field.lower()}", type=NAME, metavar=metavar, help=about)


@click.command(
    "edit",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder edit 6af8 --date 2009-03-05 --white 'Carlsen, Magnus'
  ics-recorder edit 6af8 --result 1-0 --tag Round=3 --dry-run
  ics-recorder edit --source 1bf8 --event 'Club Championship' --yes
  ics-recorder edit 6af8 --undo
""",
)
@filter_options
@_set_option("Date", "DATE", "Day on which the game began (2009-03-05).")
@_set_option("Time", "TIME", "Time of day at which it began (18:30); UTC, if the game's times are.")
@_set_option("White", "NAME", "White's name.")
@_set_option("Black", "NAME", "Black's name.")
@_set_option("Result", "RESULT", "Result: 1-0, 0-1, 1/2-1/2 or *.")
@_set_option("Event", "TEXT", "Event.")
@_set_option("Site", "NAME", "Server (freechess.org, FICS), or place.")
@click.option("--rated/--unrated", "new_rated", default=None, help="Whether the game was rated.")
@_set_option("Variant", "WORD", "Variant, in any spelling (chess, wild/5).")
@click.option(
    "--tag", "new_tags", multiple=True, metavar="NAME=VALUE", help="Another PGN tag (Round=3, WhiteElo=1850)."
)
@click.option("--undo", is_flag=True, help="Restore what was recorded.")
@click.option("-n", "--dry-run", is_flag=True, help="Report what would change; change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before several games are corrected.")
@archive_option
@json_option
@wide_option
def command(
    where: str,
    new_rated: bool | None,
    new_tags: tuple[str, ...],
    undo: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Correct what was recorded of games: names, date, result, tags.

    KEY names a game: 6af8, last or last~2 (see `help keys`). Several keys, or filters, correct several games at once,
    after a question that counts them and shows a few.

    Lists, filters, tables, exports and merging use the corrected value; PGN names the changed tags in RecorderEdited.
    What was recorded stays: `show` prints both, and --undo restores it. A correction still applies when logs are
    imported again and when the archive is rebuilt, and is copied into archives that import this one. Moves and clocks
    cannot be corrected.
    """
    from recorder.archive.care.correcting import correct
    from recorder.corrections import RATED, checked

    edits = {field: options.pop(f"new_{field.lower()}") for field in _FIELDS}
    wanted = {field: value for field, value in edits.items() if value is not None}
    if new_rated is not None:
        wanted["Rated"] = RATED[new_rated]
    for tag in new_tags:
        name, equals, value = tag.partition("=")
        if not equals:
            raise click.UsageError(f"--tag {tag!r} is no tag; write it as Round=3.")
        if wanted.setdefault(name, value) != value:
            raise click.UsageError(f"{name} is given twice.")
    if undo and wanted:
        raise click.UsageError("--undo restores all that was recorded: give no value with it.")
    if not (undo or wanted):
        raise click.UsageError("Give what is to be corrected, as --date 2009-03-05, or --undo.")
    try:
        values = None if undo else {field: checked(field, value) for field, value in wanted.items()}
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    named, chosen = options.pop("keys"), game_filter(**options)
    filtered = any(value not in (None, (), "", frozenset()) for value in options.values())
    if not (named or filtered):
        raise click.UsageError("Give the keys of games, or filters.")
    with open_archive(where, read_only=False) as archive:
        keys = list(dict.fromkeys(archive.game(key).key for key in named))
        if filtered:
            keys = _keys_of(archive, replace(chosen, keys=frozenset(keys)))
        if len(keys) > 1 and not (dry_run or yes) and (changing := correct(archive, keys, values, dry_run=True)):
            question = f"{'Restore what was recorded of' if undo else 'Correct'} {plural(len(changing), 'game')}?"
            some = None if as_json else partial(_print_changes, changing[:_SHOWN], as_json=False)
            confirm(question, "give --yes to correct several games without asking", some)
        _print(correct(archive, keys, values, dry_run=dry_run), undo=undo, dry_run=dry_run, as_json=as_json)


def _keys_of(archive: ArchiveStore, chosen: GameFilter) -> list[str]:
    from storage.read.store import MOVES_ALONE

    chosen = named_games(archive, chosen)
    with chosen_games(archive, chosen, **MOVES_ALONE) as games:
        return [game.key for game in games]


def _print(edited: list[EditedGame], *, undo: bool, dry_run: bool, as_json: bool) -> None:
    if not (edited or as_json):
        say("Nothing to correct: the games have these values.")
        return
    _print_changes(edited, as_json=as_json)
    for _, after, joined in edited:
        if joined:
            others = ", ".join(key[:_KEY_DIGITS] for key in joined)
            verb = "would be" if dry_run else "is now"
            say(f"{after.key[:_KEY_DIGITS]} {verb} one game with {others}; --undo separates them.")
    if not as_json:
        say(f"{plural(len(edited), 'game')} {'would be ' if dry_run else ''}{'restored' if undo else 'corrected'}.")


def _print_changes(edited: list[EditedGame], *, as_json: bool) -> None:
    rows = []
    for before, after, _ in edited:
        was, now = ({correction.field: correction for correction in game.corrections} for game in (before, after))
        for field in sorted({*was, *now}):
            if field not in was or field not in now or was[field].value != now[field].value:
                old = was[field].value if field in was else now[field].recorded
                new = now[field].value if field in now else was[field].recorded
                rows.append((after.key, field, old, new))
    print_rows(
        rows,
        lambda row: dict(zip(("key", "field", "before", "after"), row, strict=True)),
        (
            ("Key", lambda row: row[0][:_KEY_DIGITS]),
            ("Field", lambda row: row[1]),
            ("Before", lambda row: row[2] or "unknown"),
            ("After", lambda row: row[3] or "unknown"),
        ),
        as_json=as_json,
        narrow=(("Before", 20), ("After", 20)),
    )
