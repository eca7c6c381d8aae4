"""``ics-recorder completion``: the script that teaches a shell to complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from recorder.cli.options import Command

__all__ = ["command"]


@click.command(
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
def command(ctx: click.Context, shell: str) -> None:
    """Print a completion script for bash, zsh or fish."""
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"No completion is known for {shell}.")
    click.echo(script(ctx.find_root().command, {}, "ics-recorder", "_ICS_RECORDER_COMPLETE").source())
