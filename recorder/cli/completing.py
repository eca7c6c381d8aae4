"""What a shell completes: handles, keys, sources and words of the archive, and names with their descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from recorder.archive.completions import Completion, completions

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

__all__ = [
    "complete_categories",
    "complete_ecos",
    "complete_handles",
    "complete_keys",
    "complete_names",
    "complete_own_handles",
    "complete_servers",
    "complete_sources",
    "complete_variants",
]

_Completer = Callable[["click.Context", "click.Parameter", str], "list[CompletionItem]"]


def _completer(kind: Completion, *fixed: str) -> _Completer:
    """Completes an option's value from the archive that the command line names, else the default one.

    Args:
        kind: what to complete.
        fixed: values that need no archive, first.
    """

    def complete(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        where = ctx.params.get("where")
        found = completions(where, kind, typed) if isinstance(where, str) else []
        return [
            *(CompletionItem(value) for value in fixed if value.startswith(typed)),
            *(CompletionItem(value, help=about) for value, about in found),
        ]

    return complete


def complete_names(names: Mapping[str, str]) -> _Completer:
    """Completes fixed names, with their descriptions where the shell shows them."""

    def complete(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name, help=about) for name, about in names.items() if name.startswith(typed)]

    return complete


complete_handles = _completer(Completion.HANDLE)
complete_own_handles = _completer(Completion.OWN_HANDLE)
complete_keys = _completer(Completion.KEY, "last")
complete_sources = _completer(Completion.SOURCE)
complete_variants = _completer(Completion.VARIANT)
complete_categories = _completer(Completion.CATEGORY)
complete_ecos = _completer(Completion.ECO)
complete_servers = _completer(Completion.SERVER, "unknown")
