"""``ics-recorder forget``: a player out of the archive, for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recorder.archive.locate import archive_file, open_archive, refuse_unusable
from recorder.cli.option_types import complete_handles
from recorder.cli.options import Command, archive_option, json_option
from recorder.cli.output import confirm, long_work, print_json, say
from recorder.errors import StorageError
from recorder.text import clean, named, plural

if TYPE_CHECKING:
    from recorder.archive.care.erasing import ErasureReport


_LISTED = 10


@click.command(
    "forget",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder forget --dry-run Morphy
  2 games, 0 lines of chat and the handle in 0 texts would be erased.
  ...
  ics-recorder forget --yes 'Carlsen, Magnus'
  ics-recorder forget --undo Ann
""",
)
@click.argument("handles", nargs=-1, required=True, metavar="HANDLE…", shell_complete=complete_handles)
@click.option("-n", "--dry-run", is_flag=True, help="Report what would be erased; change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation; required where there is no terminal.")
@click.option(
    "--undo",
    is_flag=True,
    help="Record this player again; erased games return only when their logs are imported again.",
)
@json_option
@archive_option
def command(handles: tuple[str, ...], dry_run: bool, yes: bool, undo: bool, as_json: bool, where: str) -> None:
    """Erase a player from the archive, also from later imports.

    HANDLE is a handle, or the name of a player of saved games ('Carlsen, Magnus'), in any alphabet. All its games, on
    every server and in every spelling, and the player's chat in other games are erased. In texts of other games, in the
    kept bytes of logs and in file names the name is replaced by X and underscores; a log in which that is not possible
    is no longer kept. Paths of logs that contain the name are erased, except those of journals. Games of other players
    stay as they are: names are compared as a whole. A game that only `edit` made the player's has its recorded name
    again.

    The archive keeps a salted hash of the handle: import, follow, db rebuild and merging of archives exclude the player
    from then on. Logs and journals on the disk, backups and exported files are not changed; files that still contain
    the handle are named. Words that servers print themselves (Game, White) cannot be erased.
    """
    from recorder.archive.care.erasing import clear_free_places, erase_handles
    from recorder.sources.redaction import is_handle

    for handle in handles:
        if not is_handle(handle):
            raise click.UsageError(
                f"{handle!r} cannot be erased: it is not a name of three letters or more, or a word that servers print."
            )
    if undo and dry_run:
        raise click.UsageError("--undo cannot be combined with --dry-run.")
    if undo:
        _recall(handles, where, as_json=as_json)
        return
    if not dry_run and not yes:
        refuse_unusable(where)
        question = f"Erase {', '.join(handles)} from {archive_file(where)} for good?"
        confirm(question, "give --yes to erase without asking")
    with open_archive(where, create=not dry_run, read_only=False) as archive, long_work() as progress:
        erased, left = erase_handles(archive, handles, progress, dry_run=dry_run)
        if dry_run:
            if as_json:
                print_json({"dry_run": True, **_COUNTS(erased)})
            else:
                _print_found(erased, "would be erased")
            return
    if not as_json:
        _print_found(erased, "erased")
    older = [str(file) for file in clear_free_places(where, say)]
    if as_json:
        print_json(
            {"dry_run": False} | _COUNTS(erased) | {"older_archives": older, "still_in": [str(file) for file in left]}
        )
    else:
        for file in left:
            say(f"{clean(str(file))} still contains the handle.")
        for name in older:
            say(f"{clean(name)} is an older archive and was not changed.")


def _recall(handles: tuple[str, ...], where: str, *, as_json: bool) -> None:
    from recorder.archive.care.erasing import recall

    with open_archive(where, read_only=False) as archive, archive.transaction():
        for handle in {handle.lower(): handle for handle in handles}.values():
            if not recall(archive, handle):
                raise StorageError(f"{handle} is not an erased player; nothing was changed.")
    for handle in handles:
        say(f"{handle} is recorded again; import the logs again to restore the erased games.")
    if as_json:
        print_json({"recalled": list(handles)})


def _print_found(erased: ErasureReport, what: str) -> None:
    if not (erased.games or erased.chats or erased.texts or erased.redacted or erased.dropped):
        say("Nothing in the archive has this handle: check its spelling. Later imports leave it out all the same.")
        return
    say(
        f"{plural(erased.games, 'game')}, {plural(erased.chats, 'line')} of chat and the handle in "
        f"{plural(erased.texts, 'text')} {what}."
    )
    if erased.redacted:
        say(f"Replaced in the kept bytes of {plural(len(erased.redacted), 'log')}: {_listed(erased.redacted)}.")
    if erased.dropped:
        say(f"No longer stored: {plural(len(erased.dropped), 'log')}: {_listed(erased.dropped)}.")


_COUNTS = named("games chat_lines=chats texts replaced_in=redacted no_longer_kept=dropped")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(clean(name) for name in names[:_LISTED]) + more
