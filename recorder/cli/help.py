"""``ics-recorder help``: a command's help, or a topic's."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from recorder.cli.options import Command
from recorder.cli.topics import TOPICS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["command"]


def _complete(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Topics and commands; after a group its commands."""
    from click.shell_completion import CompletionItem

    before = ctx.params.get("words") or ()
    found: click.Command | None = ctx.find_root().command
    for word in before:
        found = found.commands.get(word) if isinstance(found, click.Group) else None
    names = {} if before else {name: about for name, (about, _) in TOPICS.items()}
    if isinstance(found, click.Group):
        names |= {name: each.get_short_help_str(limit=80) for name, each in found.commands.items()}
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
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Explain a command or a topic.

    Without TOPIC or COMMAND: list both. `help COMMAND` prints the same as `COMMAND --help`.
    """
    root = ctx.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    if not words:
        formatter = root.make_formatter()
        with formatter.section("Topics (ics-recorder help TOPIC)"):
            formatter.write_dl([(name, about) for name, (about, _) in TOPICS.items()])
        group.format_commands(root, formatter)
        click.echo(formatter.getvalue().strip("\n"))
    elif len(words) == 1 and words[0] in TOPICS:
        click.echo(TOPICS[words[0]][1].strip("\n"))
    else:
        click.echo(_help_of(root, words))


def _help_of(root: click.Context, words: tuple[str, ...]) -> str:
    """The text of ``--help`` of a command.

    Raises:
        UsageError: there is no such command.
    """
    at = root
    for word in words:
        inner = at.command.commands if isinstance(at.command, click.Group) else {}
        if word not in inner:
            name = " ".join(words)
            close = get_close_matches(word, [*inner, *(TOPICS if at is root else ())], 1)
            hint = f"; did you mean {close[0]!r}?" if close else ": `ics-recorder help` lists both."
            raise click.UsageError(f"There is no command or topic {name!r}{hint}")
        at = click.Context(inner[word], info_name=word, parent=at, **inner[word].context_settings)
    return at.command.get_help(at)
