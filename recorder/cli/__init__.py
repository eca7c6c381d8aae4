"""The ``ics-recorder`` command: data on stdout, talk on stderr, one place that turns errors into exit codes.

Only the module of the command that was asked for is loaded. Command modules import only click and small modules when
they load: SQLAlchemy, pandas and the pipeline are imported inside the commands that use them, so that ``--help`` and
completion answer at once.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
from collections import UserDict
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import click
from click.exceptions import Exit

from recorder.archive.locate import default_archive
from recorder.cli.configuration import config_option, configured
from recorder.cli.options import Command, Group, archive_option
from recorder.cli.output import say
from recorder.errors import ExitCode, ExportError, RecorderError, exit_status

__all__ = ["completion", "main"]

_NEW_VALUES = 200_000
"""Search for reference cycles after as many new values: the 700 of Python cost an import 9 % more processor time."""


@atexit.register
def _end_without_search() -> None:
    """Search for no cycles at the end: with SQLAlchemy loaded that takes 0.05 s of a small command."""
    if "duckdb" not in sys.modules:  # it prints a report of the objects that are never freed
        gc.freeze()


_PLACES = {
    "import": ("import_", "command"),
    "anomalies": ("sources", "anomalies"),
    "report": ("plot", "report"),
    "verify": ("db", "verify"),
}
"""Module and name of a command; of the others the module has the command's name, and the name is ``command``."""
_SECTIONS = {
    "Get games in": ("import", "record", "proxy", "follow"),
    "Look": ("games", "show", "report", "web", "plot", "clocks", "replay"),
    "Get games out": ("export", "convert", "publish"),
    "Care": (
        "doctor",
        "status",
        "explain",
        "sources",
        "anomalies",
        "duplicates",
        "edit",
        "forget",
        "verify",
        "journal",
        "conformance",
        "db",
        "config",
        "completion",
        "help",
    ),
}
_BEGINNING = """\
A log of a client:   ics-recorder import FILE_OR_FOLDER, or import --find
A server to record:  ics-recorder record freechess.org --guest --observe rated
PGN files:           ics-recorder import GAMES.pgn, then ics-recorder games
A demo:              make demo, in the folder of the program
Everything else:     ics-recorder --help; doctor checks this machine"""
"""What a person without an archive sees."""
_UNCONFIGURED = ("config", "completion", "doctor", "help")


class _Commands(UserDict[str, Any]):
    """A command's module is loaded when the command is asked for."""

    def __getitem__(self, name: str) -> Any:
        command = self.data[name]
        if command is None:
            module, attribute = _PLACES.get(name, (name, "command"))
            command = self.data[name] = getattr(import_module(f"recorder.cli.{module}"), attribute)
            _name_variables(command, f"ICS_RECORDER_{name.upper()}")
        return command


class _Group(Group):
    """A group that turns our errors into one sentence and the documented exit code."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """In sections, in the order in which a user meets them."""
        for section, names in _SECTIONS.items():
            self.write_commands(section, names, ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without arguments: the help, or what to begin with where a person at a terminal has no archive."""
        if not args and sys.stdout.isatty():
            where = os.environ.get("ICS_RECORDER_DB") or default_archive()
            if "://" not in where and not os.path.lexists(Path(where).expanduser()):
                click.echo(_BEGINNING)
                ctx.exit()
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **how: Any) -> click.Context:
        with _failures():  # help and version are printed here
            if sys.stdout is None:
                raise ExportError("Standard output is closed.")
            return super().make_context(*args, **how)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The configuration file's values are the defaults of the command's options."""
        name, command, rest = super().resolve_command(ctx, args)
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # while modules loaded: see recorder.__main__
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if name is not None and command is not None and _is_configured(name, rest):
            try:
                ctx.default_map = {name: configured(ctx, list(self.commands), (name,), command)}
            except click.UsageError:
                if not ctx.resilient_parsing:  # completion, which goes on without a file
                    raise
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        try:
            gc.set_threshold(_NEW_VALUES)
            with _failures():
                result = super().invoke(ctx)
                sys.stdout.flush()
                return result
        finally:
            _give_up_messages()


def _is_configured(name: str, words: list[str]) -> bool:
    """Not for its help, nor to print the file's own values."""
    return name not in _UNCONFIGURED and not {"-h", "--help"} & set(words)


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """Errors as one line on stderr and an exit code."""
    try:
        yield
    except RecorderError as error:
        say(f"Error: {error}")
        raise Exit(exit_status(error)) from error
    except KeyboardInterrupt as error:
        say("Interrupted; finished work is kept.")
        raise Exit(ExitCode.INTERRUPTED) from error
    except BrokenPipeError as error:
        _leave(sys.stdout)
        raise Exit(ExitCode.PIPE) from error  # the reader has closed the pipe (``| head``): no message can reach it
    except OSError as error:
        _leave(sys.stdout)
        what = "Standard output cannot be written" if error.filename is None else error.filename
        say(f"Error: {what}: {error.strerror or error}.")
        raise Exit(ExitCode.OUTPUT) from error


def _leave(stream: TextIO) -> None:
    """Nothing may be written any more, not even by Python's last flush."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _give_up_messages() -> None:
    """Messages that cannot be written do not change the exit status, as Python's last flush would."""
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except OSError:
            _leave(sys.stderr)


def is_compiled() -> bool:
    """Whether the hot path runs compiled (.ci/ics_recorder_build.py), not from its sources."""
    spec = find_spec("recorder.movetext")
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)


@click.group(
    cls=_Group,
    rare=("completion", "conformance", "explain", "journal", "publish"),
    commands=_Commands(dict.fromkeys(chain.from_iterable(_SECTIONS.values()))),
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    epilog="""\b
Examples:
  ics-recorder import ~/ics-logs
  ics-recorder games --player Morphy --last 20
  ics-recorder show last
  ics-recorder export pgn -o games.pgn
  ics-recorder convert session.log -o session.pgn
  ics-recorder help filters
""",
)
@click.version_option(
    package_name="ics-recorder",
    prog_name="ics-recorder",
    message=f"%(prog)s, version %(version)s ({'compiled' if is_compiled() else 'pure Python'})",
)
@config_option
@archive_option
def main(where: str) -> None:
    """Record, read and analyse games of Internet chess servers.

    ics-recorder turns server logs, live connections and saved PGN into an archive in which every move is proved and
    every clock, think time and lag is kept. It exports PGN, tables, pictures and reports. Data goes to stdout, messages
    to stderr.

    Every option can also be set by an environment variable, made like ICS_RECORDER_IMPORT_CHAT for `import --chat`, or
    in a configuration file (see `config`). The command line takes precedence over the environment, and the environment
    over the file. --db is ICS_RECORDER_DB for all commands and can stand before the command: ics-recorder --db
    my.sqlite games.
    """


def _name_variables(command: click.Command, prefix: str) -> None:
    """By the words that a person types: ``ICS_RECORDER_GAMES_NO_GUESTS``."""
    _name_own(command, prefix)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            _name_variables(inner, f"{prefix}_{name.replace('-', '_').upper()}")


def _name_own(command: click.Command, prefix: str) -> None:
    for param in command.params:
        if isinstance(param, click.Option) and param.envvar is None:
            flag = max(param.opts, key=len).lstrip("-").replace("-", "_").upper()
            param.envvar = f"{prefix}_{flag}"


_name_own(main, "ICS_RECORDER")  # the commands' options when they are loaded


@main.command(
    "completion",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder completion bash >> ~/.bashrc
  ics-recorder completion fish > ~/.config/fish/completions/ics-recorder.fish
""",
)
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a completion script for bash, zsh or fish.

    The shell then completes commands, options and values: players' handles, keys of games, sources,
    variants, categories, ECO codes and servers from the archive of --db, or else from the default archive. Values that
    need quotes are not completed.
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(ctx.find_root().command, {}, "ics-recorder", "_ICS_RECORDER_COMPLETE").source())


_name_variables(completion, "ICS_RECORDER_COMPLETION")
