"""Which played game an examined one is the examination of, and whether a game continues an adjourned one.

Same server, same two players, and every move and every board that both know is the same; and enough of them, or a
line that shows it: the game's number where the examination began, or the result at the end of the same line. Servers
that print the examiner's name on both sides name the players in a movelist or in the words of the result; without
these only a long line of stored moves shows that the examiner played it. Where two games fit, none is taken: players
repeat their openings, and a wrong link is worse than none.

Source for adjourned games: a resumed game begins with the board of the last move and a half-move count above 0; the
server prints ``Continuing`` to its players, to others only that they observe it. Its number may be new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recorder.model import EventKind, Game, GameEnd, GameKind, Observation, ObservationKind, StartFacts, TimeBasis
from recorder.model.boards import boards_by_ply, shown_board
from recorder.relating.compare import headers_differ
from recorder.relating.game_view import View, may_meet

_ROUNDED_MS = 1_000
_LEAST_TIMES = 3


def resumed_at(later: View) -> tuple[Observation, StartFacts] | None:
    """The first live observation of a game that begins in mid-game, and its first board's facts; None: it does not."""
    for observation in later.live[:1]:
        if observation.start is not None and observation.start.ply > 0:
            return observation, observation.start
    return None


def continues(earlier: View, later: View) -> str | None:
    """As a clause, or None. The last position of the one is the first of the other, or is in the other's list."""
    begun = resumed_at(later)
    if begun is None or not earlier.game.end.may_go_on or not earlier.plies or headers_differ(earlier.game, later.game):
        return None
    if earlier.game.end is not GameEnd.ADJOURNED and not later.game.continued:
        return None
    observation, start = begun
    if start.ply > max(earlier.plies) and _in_order(earlier, later):
        return _listed(earlier, later, start.ply)
    if start.ply != max(earlier.plies) or start.ply not in earlier.live_plies or not _in_order(earlier, later):
        return None
    last = earlier.plies[start.ply]
    if start.pretty.rstrip("+#") != last.san.rstrip("+#"):
        return None
    white_moved = start.ply % 2 == 1
    rested = (last.white_clock_ms, start.white_clock_ms) if white_moved else (last.black_clock_ms, start.black_clock_ms)
    running = (
        (last.black_clock_ms, start.black_clock_ms) if white_moved else (last.white_clock_ms, start.white_clock_ms)
    )
    if None in rested or None in running:
        return None
    if abs((rested[0] or 0) - (rested[1] or 0)) > _ROUNDED_MS:
        return None
    if (running[1] or 0) > (running[0] or 0) + _ROUNDED_MS:
        return None
    first = next((anchor for anchor in observation.anchors if anchor.line == 0 and anchor.ply == start.ply), None)
    begins = boards_by_ply(later.game).get(start.ply) if first is None else shown_board(first.fen)
    reached = boards_by_ply(earlier.game).get(start.ply)
    if reached is None or reached != begins:
        return None
    return f"goes on after ply {start.ply} with the same position and clocks"


def _listed(earlier: View, later: View, joined: int) -> str | None:
    """Lists print the times of the moves before; one server prints 0 for all that were made before the adjournment."""
    last = max(earlier.plies)
    if any(ply not in later.plies for ply in range(1, joined + 1)):
        return None
    equal = zero = 0
    for number, ply in earlier.plies.items():
        listed = later.plies[number]
        if (ply.move, ply.san.rstrip("+#")) != (listed.move, listed.san.rstrip("+#")):
            return None
        spent_ms, printed_ms = ply.elapsed_ms, listed.elapsed_ms
        if spent_ms is None or printed_ms is None or spent_ms < _ROUNDED_MS:
            continue
        if abs(spent_ms - printed_ms) <= (0 if ply.precision_code == listed.precision_code else _ROUNDED_MS):
            equal += 1
        elif printed_ms == 0:
            zero += 1
        else:
            return None
    proved = later.game.continued or max(equal, zero) >= _LEAST_TIMES
    if not proved or (equal and zero):
        return None
    return f"goes on after ply {last}: its list begins with the same {len(earlier.plies)} plies"


def _in_order(earlier: View, later: View) -> bool:
    if earlier.source == later.source and earlier.source is not None:
        return earlier.game.last_offset <= later.game.first_offset
    before, after = earlier.span_ms, later.span_ms
    return before is None or after is None or before[1] <= after[0] or (may_meet(before, after) and before < after)


_ENOUGH_PLIES = 10
_PLIES_WITH_RESULT = 4
_PLIES_WITHOUT_NAMES = 30
_ENTERING = re.compile(r"Entering examine mode for game (?P<game>[0-9]+)\.?")
_SCRATCH = re.compile(r"Starting a game in examine \(s(?:cratch|etup)\) mode\.?")


def link_examined(games: Sequence[Game]) -> list[tuple[str, str, str]]:
    """Both keys and the evidence, ordered by key."""
    by_handle: dict[tuple[str | None, str], list[Game]] = {}
    for game in games:
        if game.kind is GameKind.PLAYED and game.plies:
            for handle in {game.white.handle.lower(), game.black.handle.lower()}:
                by_handle.setdefault((game.server, handle), []).append(game)
    links = []
    for game in games:
        if game.kind is not GameKind.EXAMINED or not game.plies or _begins(game, _SCRATCH):
            continue
        fits = [
            (played, evidence)
            for played in by_handle.get((game.server, game.white.handle.lower()), ())
            if (evidence := _evidence(game, played)) is not None
        ]
        numbered = [fit for fit in fits if _numbered(game, fit[0])]
        if len(numbered or fits) == 1:
            played, evidence = (numbered or fits)[0]
            links.append((game.key, played.key, evidence))
    return sorted(links)


def _evidence(game: Game, played: Game) -> str | None:
    """None: there is none, or something contradicts it."""
    if not _earlier(played, game):
        return None
    same = _same_plies(game, played)
    board = None if same is None else _same_boards(game, played)
    if same is None or board is None:
        return None
    names = _names(game, played, max(same, board))
    if names is None:
        return None
    words = [names, f"{same} plies of the main line are the same"]
    if board:
        words.append(f"the board after ply {board} is the same")
    ended = _same_result(game, played)
    if ended is False:
        return None
    if ended:
        words.append(f"its last board was called {game.result}")
    numbered = _numbered(game, played)
    if numbered:
        words.append(f"it was entered as game {played.game_no}")
    equal_to = max(same, board)
    if numbered or equal_to >= _ENOUGH_PLIES or (ended and equal_to >= _PLIES_WITH_RESULT):
        return "; ".join(words)
    return None


def _names(game: Game, played: Game, equal_to: int) -> str | None:
    """None: the names contradict each other, or too little is known. The games are equal up to the ply ``equal_to``."""
    white, black = played.white.handle.lower(), played.black.handle.lower()
    if (game.white.handle.lower(), game.black.handle.lower()) == (white, black):
        return "the same players"
    if game.white.handle.lower() != game.black.handle.lower() or white == black:
        return None
    for seen in game.observations:
        if seen.kind is ObservationKind.MOVELIST and seen.game_no == game.game_no:
            return (
                "its movelist names the players" if (seen.white.lower(), seen.black.lower()) == (white, black) else None
            )
    # The examiner's name is printed on both sides; the result names the other player.
    other = black if game.white.handle.lower() == white else white
    first = (game.reason or "").split(" ", 1)[0].lower()
    if game.result != "*":
        return "the result names the other player" if first == other else None
    if equal_to < _PLIES_WITHOUT_NAMES:
        return None
    actions = {event.detail for event in game.events if event.kind is EventKind.EXAMINE}
    # Typed moves are an analysis, even if they repeat a game of the examiner.
    return "the examiner played it" if "forward" in actions and "move" not in actions else None


def _same_plies(game: Game, played: Game) -> int | None:
    """How many plies of the main line both know; None: they differ, or one has moves that the other cannot have."""
    if (game.start_fen if game.start_ply == 0 else None) != (played.start_fen if played.start_ply == 0 else None):
        return None
    theirs = {ply.ply: ply.san.rstrip("+#") for ply in played.plies}
    mine = {ply.ply: ply.san.rstrip("+#") for ply in game.plies}
    if any(theirs[ply] != san for ply, san in mine.items() if ply in theirs):
        return None
    if played.end is GameEnd.RESULT and max(mine) > max(theirs):
        return None
    return sum(ply in theirs for ply in mine)


def _same_boards(game: Game, played: Game) -> int | None:
    """0 if no board that no known move leads to is shown; None: one of them is not the played game's."""
    fens = {anchor.ply: anchor.fen for anchor in game.anchors() if anchor.ply}
    if not fens:
        return 0
    theirs = {ply: board for ply, board in boards_by_ply(played).items() if ply in fens}
    if any(shown_board(fens[ply]) != board for ply, board in theirs.items()):
        return None
    return max(theirs, default=0)


def _same_result(game: Game, played: Game) -> bool | None:
    """Whether the result at the end of the examined line is the played game's; None: there is no result."""
    if game.result == "*":
        return None
    return game.result == played.result and game.plies[-1].ply == played.plies[-1].ply


def _places(game: Game) -> dict[str, int]:
    """The offset of its beginning in each log that shows it."""
    places = {seen.source.sha256: seen.offset for seen in reversed(game.observations) if seen.source is not None}
    return places if game.merged_from else dict.fromkeys(places, game.first_offset)


def _earlier(played: Game, game: Game) -> bool:
    """Whether the played game may have been over when it was examined."""
    begun, shown_at = _places(played), _places(game)
    if both := begun.keys() & shown_at.keys():
        return all(begun[log] < shown_at[log] for log in both)
    begun_ms = game.observations[0].started_at_ms
    bases = {played.time_basis, game.time_basis}
    if bases == {TimeBasis.UTC} and played.ended_at_ms is not None and begun_ms is not None:
        return played.ended_at_ms <= begun_ms
    return True


def _numbered(game: Game, played: Game) -> bool:
    """Whether the examination began as that of the number that the played game had, in the same log."""
    logs = {observation.source for observation in played.observations} & {seen.source for seen in game.observations}
    if not logs:
        return False
    return any(int(match["game"]) == played.game_no for match in _begins(game, _ENTERING))


def _begins(game: Game, pattern: re.Pattern[str]) -> Iterable[re.Match[str]]:
    texts = [event.text for event in game.events if event.kind is EventKind.EXAMINE]
    return [match for text in texts if (match := pattern.fullmatch(text)) is not None]
