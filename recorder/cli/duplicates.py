"""``ics-recorder duplicates``: games that are probably one, and a person's decisions about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recorder.archive.locate import open_archive
from recorder.cli.option_types import complete_keys
from recorder.cli.options import Command, Group, archive_option, json_option, wide_option
from recorder.cli.output import print_json, print_rows, say
from recorder.model import TimeBasis
from recorder.text import named, plural

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.relating.duplicates import ProbableDuplicate
    from storage import ArchiveStore

_KEY_DIGITS = 8
_GAME = named("key white=white.handle black=black.handle variant result")


@click.group(
    "duplicates",
    cls=Group,
    invoke_without_command=True,
    epilog="""\b
Examples:
  ics-recorder duplicates
  ics-recorder duplicates merge 3f09 81c2 --dry-run
  ics-recorder duplicates merge --all --dry-run
  ics-recorder duplicates split 3f09
  ics-recorder duplicates --decided
""",
)
@click.option("--decided", is_flag=True, help="List the recorded decisions instead.")
@archive_option
@json_option
@wide_option
@click.pass_context
def command(ctx: click.Context, where: str, as_json: bool, decided: bool) -> None:
    """List probable duplicates, with the evidence for and against.

    The most probable pair comes first. The games of a pair have the same players and variant, and their moves agree or
    overlap. Nothing shows that they are two games, but too few of their times are equal to prove that they are one.

    `merge KEY KEY` records that they are one game, `merge --all` does so for all of them, `split KEY` that they are
    not. With --unique, `games`, `export`, `clocks`, `plot` and `report` count them once.
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_archive(where) as archive:
        if decided:
            _list_decisions(archive, as_json)
        else:
            _list(archive, as_json)


def _list(archive: ArchiveStore, as_json: bool) -> None:
    from recorder.relating.duplicates import rank

    with archive.snapshot():
        groups = archive.duplicates.probable_duplicates()
        pairs = sorted((pair for group in groups for pair in group.pairs), key=rank)
        games = {key: archive.game(key) for pair in pairs for key in (pair.key, pair.other)}
    if not (pairs or as_json):
        say("No probable duplicates.")
        return
    print_rows(
        pairs,
        lambda pair: _json(pair, games),
        (
            ("Key", lambda pair: pair.key[:_KEY_DIGITS]),
            ("Other", lambda pair: pair.other[:_KEY_DIGITS]),
            ("White", lambda pair: games[pair.key].white.handle),
            ("Black", lambda pair: games[pair.key].black.handle),
            ("For", lambda pair: "; ".join(pair.pros)),
            ("Against", lambda pair: "; ".join(pair.cons) or None),
        ),
        as_json=as_json,
        narrow=(("White", 10), ("Black", 10), ("Against", 20), ("For", 20)),
        fold=("For", "Against"),
    )
    if not as_json:
        say(f"{plural(len(pairs), 'pair')} of probable duplicates.")


def _json(pair: ProbableDuplicate, games: dict[str, Game]) -> dict[str, Any]:
    return {
        "keys": [pair.key, pair.other],
        "games": [_game_json(games[key]) for key in (pair.key, pair.other)],
        "equal_plies": pair.plies,
        "clocks": pair.clocks,
        "equal_clocks": pair.equal_clocks,
        "bits": round(pair.bits, 1),
        "required_bits": pair.required_bits,
        "for": list(pair.pros),
        "against": list(pair.cons),
    }


def _game_json(game: Game) -> dict[str, Any]:
    from recorder.times import iso_start

    return {
        **_GAME(game),
        "started_at": iso_start(game),
        "plies": len(game.rows),
        "server_game_no": game.game_no,
        "observations": game.merged_from or [game.key],
    }


def _list_decisions(archive: ArchiveStore, as_json: bool) -> None:
    from recorder.times import iso

    rows = archive.duplicates.decisions()
    print_rows(
        rows,
        lambda decision: {
            "keys": [decision.key, decision.other],
            "same": decision.same,
            "decided_at": iso(decision.decided_ms, TimeBasis.UTC),
        },
        (
            ("Key", lambda decision: decision.key[:_KEY_DIGITS]),
            ("Other", lambda decision: decision.other[:_KEY_DIGITS]),
            ("Decision", lambda decision: "one game" if decision.same else "different games"),
            ("Date (UTC)", lambda decision: (iso(decision.decided_ms, TimeBasis.UTC) or "")[:16]),
        ),
        as_json=as_json,
    )
    if not as_json:
        say(f"{plural(len(rows), 'decision')}.")


_dry_run = click.option("-n", "--dry-run", is_flag=True, help="Report what would change; change nothing.")


@command.command(
    "merge",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder duplicates merge 3f09 81c2 --dry-run
  ics-recorder duplicates merge 3f09 81c2
  ics-recorder duplicates merge --all --dry-run
""",
)
@click.argument("keys", metavar="[KEY KEY]", nargs=-1, shell_complete=complete_keys)
@click.option("--all", "every", is_flag=True, help="Merge all probable duplicates, as --unique counts them.")
@_dry_run
@archive_option
@json_option
def _merge(keys: tuple[str, ...], every: bool, dry_run: bool, where: str, as_json: bool) -> None:
    """Record that two games are one, and merge them; or do it with all probable duplicates.

    The decision still applies when logs are imported again, when the archive is rebuilt, and when another archive is
    imported; it is copied into archives that import this one. `split` undoes it. Games of different players or with
    different moves cannot be merged.
    """
    if len(keys) != (0 if every else 2):
        raise click.UsageError("Give the keys of two games, or --all.")
    with open_archive(where, read_only=False) as archive:
        if every:
            merged = archive.duplicates.merge_all(dry_run=dry_run)
        else:
            merged = archive.duplicates.merge(*keys, dry_run=dry_run)
        _print(merged, dry_run, as_json)


@command.command(
    "split",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder duplicates split 3f09 --dry-run
  ics-recorder duplicates split 3f09
""",
)
@click.argument("key", shell_complete=complete_keys)
@_dry_run
@archive_option
@json_option
def _split(key: str, dry_run: bool, where: str, as_json: bool) -> None:
    """Record that a game is not the same as those merged with it.

    A game that `merge` made is divided as it was before. A game that was merged by the rules is divided into its
    observations; the key of one observation (see `show`) separates only that one. A game that is not merged is no
    longer listed with its probable duplicates. `merge` undoes the decision.
    """
    with open_archive(where, read_only=False) as archive:
        _print(archive.duplicates.split(key, dry_run=dry_run), dry_run, as_json)


def _print(games: list[Game], dry_run: bool, as_json: bool) -> None:
    if not (games or as_json):
        say("No probable duplicates.")
        return
    if as_json:
        print_json({"dry_run": dry_run, "games": [_game_json(game) for game in games]})
        return
    print_rows(
        games,
        _game_json,
        (
            ("Key", lambda game: game.key[:_KEY_DIGITS]),
            ("White", "white.handle"),
            ("Black", "black.handle"),
            ("Result", "result"),
            ("Plies", lambda game: len(game.rows)),
            ("Observations", lambda game: len(game.merged_from) or 1),
        ),
        as_json=False,
        right=("Plies", "Observations"),
    )
    say(f"{'This would make' if dry_run else 'These are now'} {plural(len(games), 'game')}.")
