"""``ics-recorder help``: the help of a command, or of a topic that the options of many commands have in common."""

from __future__ import annotations

from difflib import get_close_matches
from textwrap import fill
from typing import TYPE_CHECKING, Final

import click

from recorder.cli.options import ALL, Command
from recorder.errors import ExitCode
from recorder.filters import FILTERS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXIT_CODES: Final = {
    ExitCode.OK: "success",
    ExitCode.FINDINGS: "`verify`, `db check` or `journal check` found differences, a log has anomalies and"
    " `--strict` was given, or no game matches the filters",
    ExitCode.USAGE: "usage error: an unknown command or option, or an invalid value",
    ExitCode.INPUT: "a file is not a log, a folder contains no log, a log could not be read whole (the others were),"
    " the files contain no game to replay, or the recording does not reach the time of `--from`",
    ExitCode.ARCHIVE: "the archive cannot be used, has no data for the command, or lacks part of what was recorded",
    ExitCode.OUTPUT: "an output cannot be written, or exists and `--force` was not given",
    ExitCode.UNPROVED: "`verify` could read none of the logs again",
    ExitCode.JOURNAL: "a journal cannot be written (recording has stopped) or read",
    ExitCode.LOGIN: "a server cannot be reached, or refuses the login",
    ExitCode.LISTEN: "the address of `--listen` cannot be used",
    ExitCode.ENGINE: "a chess engine cannot be started, lacks an option of `--option`, or failed with a game (the"
    " others were analysed)",
    ExitCode.RECONNECTING: "`status --check`: a recorder runs, but is not connected or not logged in",
    ExitCode.NOT_RECORDING: "`status --check`: nothing is being recorded",
    ExitCode.INTERRUPTED: "interrupted: Ctrl-C, SIGTERM or a closed terminal; finished work is kept (`record`,"
    " `proxy` and `follow` end with 0 after Ctrl-C)",
    ExitCode.PIPE: "the reader of standard output has closed it, or is too slow for `--events`",
}
"""Each exit code and its meaning."""

_FILTERS = """
games, clocks, export, plot, report and replay choose games by the same options.
Without any of them they choose all played games with at least one known move.

  $ ics-recorder games --player Morphy --last 20
  $ ics-recorder export pgn --white Morphy --result 1-0 -o won.pgn
  $ ics-recorder clocks --variant crazyhouse --variant chess --no-guests
  $ ics-recorder games --player Morphy --speed blitz --outcome loss --lead 30s

A game must match every option. If an option is repeated, one of its values is
enough: the third example selects crazyhouse and chess. Upper and lower case do
not matter in handles, variants, categories, servers and openings. --speed and
--time of `replay` mean something else; --moves and --position are for `games`.
The options choose only games:

{}

--include adds games that are excluded by default: examined (lectures and
analysis), setup (positions that were set up) and empty (no known move):

  $ ics-recorder games --include examined,empty --since 2020-01-01

--unique counts probable duplicates once. A message on standard error reports
how many games are excluded, and why: also those in which the log does not say
what a filter asks for ("114 without a category"). An export of no games has
exit status 1.
"""


def _filter_options() -> str:
    formatter = click.HelpFormatter(width=80)
    with formatter.indentation():
        formatter.write_dl(
            [
                (
                    option.flag or f"--{option.name.replace('_', '-')} {option.metavar or '|'.join(option.words)}",
                    option.about.removeprefix("Only games "),
                )
                for option in FILTERS.values()
                if option.about
            ],
            col_max=23,
        )
    return formatter.getvalue().strip("\n")


_KEYS = """
Every game has a key, which `games` prints: digits and letters from a to f. The
key stays the same when the log is imported again, unless with another --server.
The first characters are enough if no other key begins with them:

  $ ics-recorder show 6af8
  $ ics-recorder export pgn 6af8 -o game.pgn

`last` is the newest played game, `last~1` the one before it:

  $ ics-recorder show last
  $ ics-recorder report last~2 -o game.html

If several keys begin with these characters, an error message lists them. A game
from several sources has one key in each source; each of them names the game.
Your shell can complete keys: see `help completion`.

Sources have an ID, which is shortened in the same way:

  $ ics-recorder sources
  $ ics-recorder games --source 1bf8
"""

_LOGS = """
import, convert and follow read logs of clients and saved games. They recognise
the kind of a file by its content, not by its name; --kind overrides this.

  raw          what a server sends, byte by byte (telnet, nc, a capture)
  typescript   what the program script records, with its timing file
  xboard       debug file of xboard (-debug)
  pychess      log of PyChess
  stamped      log whose lines begin with a time, as those of icsdrone, or with
               the mark or the blanks of a quotation
  journal      journal of `record` or `proxy`
  pgn, bpgn    saved games; BPGN has both boards of a bughouse match

  $ ics-recorder import -n logs
  $ ics-recorder import logs --server freechess.org --tz Europe/Vienna
  $ ics-recorder convert session.log -o session.pgn

The first command identifies the files without importing them. Files compressed
with gzip, bzip2, xz or zstd are decompressed. Standard input is -.

Importing a log again changes nothing. Of a log that has grown, only the games
that have changed are stored. A game in several logs is stored once; each move
comes from the log that has it most exactly. Lines that cannot be read are
anomalies:

  $ ics-recorder sources
  $ ics-recorder anomalies
  $ ics-recorder verify
"""

_TIMES = """
Time of day
  The archive stores dates in UTC. If a log has no date and zone, give both:

  $ ics-recorder import session.log --date 2020-01-31 --tz Europe/Vienna

  The date of the file itself is never used. A game without a date has an
  unknown start, and --since and --until do not match it. Days are written as
  YYYY-MM-DD; --since and --until are days in UTC, and take months and years.

  $ ics-recorder games --since 2005-02 --until 2012

Time of a move
  elapsed   what the server charged for the move
  clock     what is left of a player's time after the move
  lag       network time that the server prints with the move
  arrival   when the line reached the recorder

  Clock before - elapsed + increment = clock after. `verify` checks this sum for
  each move, and names the cause if the sum is wrong. Whole seconds are printed
  as 0:05, milliseconds as 0:05.123, and unknown times as a dash. Times computed
  from clocks are marked, and so are clocks computed from times.

  $ ics-recorder clocks last
  $ ics-recorder clocks --player Morphy --by phase
  $ ics-recorder export pgn last --clock clk,emt,lag

  CSV, JSON and Parquet have times in milliseconds. Tables on a terminal have
  them in hours, minutes and seconds, but lag in milliseconds (ms).

Servers write time controls as minutes and increment (5 12), this program as
seconds and increment (300+12). Write time limits with their unit: 500ms, 2s.
"""

_PRIVACY = """
What is stored
  Only you can read your archive and journals. Passwords and session keys are
  masked before anything is stored. --chat chooses which chat is stored: none;
  public (kibitzes, whispers, shouts, channels), the default; own (also tells
  during your own games); or all.

  $ ics-recorder import session.log --chat none

  The archive also stores the bytes of each log; --no-keep-source prevents this.

To share an archive
  `db share` copies the archive, without the bytes and paths of logs, tells and
  typed input. --pseudonyms replaces every handle by an invented word.

  $ ics-recorder db share --pseudonyms -o shared.sqlite

To erase a player
  `forget` erases a player's games and chat; later imports exclude them, too.
  --dry-run prints what would be erased; --undo allows later imports again.

  $ ics-recorder forget --dry-run Morphy
  $ ics-recorder forget --yes Morphy
  $ ics-recorder forget --undo Morphy

  Logs on the disk, backups and exported files are not changed. The command
  names the logs that still contain the handle.

To remove a log from the archive
  $ ics-recorder sources forget 1bf8

Passwords in old logs
  `journal scrub` copies a log and masks its passwords:

  $ ics-recorder journal scrub session.log -o clean.log
"""

TOPICS: Final = {
    "filters": ("how options choose games: players, dates, variants", _FILTERS.format(_filter_options())),
    "keys": ("how to name a game or a source", _KEYS),
    "logs": ("which files can be read, and what reading them again does", _LOGS),
    "times": ("dates and time zones, think times, clocks and lag", _TIMES),
    "privacy": ("what is stored, and how to mask, share and erase it", _PRIVACY),
    "exit-codes": (
        "what the exit status means",
        "\n".join(
            fill(meaning.replace("`", ""), 80, initial_indent=f"{code.value:>5}  ", subsequent_indent=" " * 7)
            for code, meaning in EXIT_CODES.items()
        ),
    ),
}
"""Name of a topic: its summary, and the text in lines of at most 80 columns."""


def _complete(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Topics and commands; after a group its commands."""
    from click.shell_completion import CompletionItem

    before = ctx.params.get("words") or ()
    reached: click.Command | None = ctx.find_root().command
    for word in before:
        reached = reached.commands.get(word) if isinstance(reached, click.Group) else None
    names = {} if before else {name: about for name, (about, _) in TOPICS.items()}
    if isinstance(reached, click.Group):
        names |= {name: each.get_short_help_str(limit=80) for name, each in reached.commands.items()}
    return [CompletionItem(name, help=about) for name, about in names.items() if name.startswith(typed)]


@click.command(
    "help",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder help filters
  ics-recorder help export pgn
""",
)
@click.argument("words", nargs=-1, metavar="[TOPIC|COMMAND…]", shell_complete=_complete)
@click.option("--all", "everything", is_flag=True, help="Show all commands and options, rare ones too.")
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], everything: bool) -> None:
    """Explain a command or a topic.

    Without TOPIC or COMMAND: list both. `help COMMAND` prints the same as `COMMAND --help`, and with --all the same as
    `COMMAND --help --all`.
    """
    ctx.meta[ALL] = everything
    root = ctx.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    if not words:
        formatter = root.make_formatter()
        with formatter.section("Topics (ics-recorder help TOPIC)"):
            formatter.write_dl([(name, about) for name, (about, _) in TOPICS.items()])
        group.format_commands(root, formatter)
        click.echo(formatter.getvalue().strip("\n"))
        if not everything:
            click.echo("\n`ics-recorder help --all` lists rare commands, too.")
    elif len(words) == 1 and words[0] in TOPICS:
        click.echo(TOPICS[words[0]][1].strip("\n"))
    else:
        click.echo(_help_of(root, words))


def _help_of(root: click.Context, words: tuple[str, ...]) -> str:
    context = root
    for word in words:
        inner = context.command.commands if isinstance(context.command, click.Group) else {}
        if word not in inner:
            name = " ".join(words)
            close = get_close_matches(word, [*inner, *(TOPICS if context is root else ())], 1)
            hint = f"; did you mean {close[0]!r}?" if close else ": `ics-recorder help` lists both."
            raise click.UsageError(f"There is no command or topic {name!r}{hint}")
        context = click.Context(inner[word], info_name=word, parent=context, **inner[word].context_settings)
    return context.command.get_help(context)
