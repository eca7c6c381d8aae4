"""Correct games of an archive, where rules and erasures allow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from recorder.corrections import NO_TEXTS, is_fact
from recorder.errors import StorageError
from recorder.movetext import move_number
from recorder.replay.boards import main_line
from recorder.rules.position import Rules
from recorder.rules.variants import STANDARD_BOARD, known_start, rules_of
from recorder.sources.redaction import Forgotten

if TYPE_CHECKING:
    from recorder.model import Game
    from storage import ArchiveStore, EditedGame


def correct(
    archive: ArchiveStore, keys: Iterable[str], values: Mapping[str, str] | None, *, dry_run: bool = False
) -> list[EditedGame]:
    """As ``GameCorrections.edit``; StorageError also for an erased name, and a variant in which a move is illegal."""
    wanted = list(keys)
    if values is not None:
        _require_no_erased_name(archive, values)
        if (variant := values.get("Variant")) is not None:
            for key in wanted:
                _require_playable(archive.game(key), variant)
    return archive.corrections.edit(wanted, values, dry_run=dry_run)


def _require_no_erased_name(archive: ArchiveStore, values: Mapping[str, str]) -> None:
    forgotten = Forgotten(archive.erasures.forgotten_handles())
    for field, value in values.items():
        texts = [*([] if is_fact(field) else [field]), *([] if field in NO_TEXTS else [value])]
        if any(forgotten.words(text) != text for text in texts):
            raise StorageError(f"{field} names an erased player; nothing was changed. `forget --undo` admits the name.")


def _require_playable(game: Game, variant: str) -> None:
    """Refuse a variant under whose rules a move is illegal that is legal under the recorded one."""
    if (rules := rules_of(variant)) is Rules.FRAMES:
        return  # whose moves only the boards of a log show
    start = known_start(variant, rules)
    if game.start_fen is None and game.start_ply == 0 and start is not None and start[0] != STANDARD_BOARD:
        raise StorageError(f"Game {game.key[:8]} cannot be {variant}: it begins as chess does; nothing was changed.")
    now, then = main_line(game), main_line(replace(game, variant=variant))
    for index, (before, after) in enumerate(zip(now.positions, then.positions, strict=True)):
        if before is not None and after is None:
            ply = then.plies[index - 1] if index else None
            illegal = None if ply is None else f"{move_number(ply.ply)} {ply.san} is illegal"
            what = illegal or "its first position is not possible"
            raise StorageError(f"Game {game.key[:8]} cannot be {variant}: {what}; nothing was changed.")
