"""Which two bughouse games were one match.

Evidence, the strongest first: both are in one saved match; each game's lines name the other's number; what one
board loses arrives in the holdings of the other; they began together with the next number. All known facts must
agree; if two candidates fit, neither is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from recorder.model import Game, ObservationKind
from recorder.relating.match import (
    CapturedPiece,
    PassedPiece,
    Transfer,
    board_order,
    captures,
    passes,
    place_of,
    transfers_of,
)

_FEW_PIECES = 3
TOGETHER_MS = 5_000
_TOGETHER_BYTES = 4_096
_OPPOSITE = {("1-0", "0-1"), ("0-1", "1-0"), ("1/2-1/2", "1/2-1/2")}


class _Seen:
    def __init__(self, game: Game) -> None:
        self.game = game
        self._captures: list[CapturedPiece] | None = None
        self.passes: list[PassedPiece] = passes(game)
        self.sources: dict[str, tuple[int, int]] = {}
        for observation in game.observations:
            source = "" if observation.source is None else observation.source.sha256
            begin, end = self.sources.get(source, (observation.offset, observation.end_offset))
            self.sources[source] = min(begin, observation.offset), max(end, observation.end_offset)
        self.whole = game.start_ply == 0 and game.start_fen is None

    def received(self, *, white: bool) -> list[str]:
        """The pieces that a player received, by the log that shows most of them: several may show the same."""
        by_source: dict[str, list[str]] = {}
        for piece in self.passes:
            if piece.white is white:
                by_source.setdefault(piece.place.source, []).append(piece.piece)
        return max(by_source.values(), key=len, default=[])

    @property
    def captures(self) -> list[CapturedPiece]:
        if self._captures is None:
            self._captures = captures(self.game)
        return self._captures


def pair_bughouse(games: Sequence[Game]) -> list[tuple[str, str, str]]:
    """The keys of both games, the lesser first, and the evidence; ordered by key."""
    left = [_Seen(game) for game in {game.key: game for game in games}.values() if game.variant == "bughouse"]
    left.sort(key=lambda board: board.game.key)
    matches: list[tuple[str, str, str]] = []
    candidates = [pair for pair in _candidates(left) if _saved(*pair) or _may_be(pair[0].game, pair[1].game)]
    for rule in (_saved, _numbers, _pieces, _creation):
        pairs = _only_pairs(candidates, rule)
        matches += [(one.game.key, other.game.key, text) for one, other, text in pairs]
        paired = {key for one, other, _ in matches for key in (one, other)}
        candidates = [pair for pair in candidates if paired.isdisjoint(board.game.key for board in pair)]
    return sorted(matches)


_Pair = tuple["_Seen", "_Seen"]


def _candidates(games: list[_Seen]) -> list[_Pair]:
    """Pairs of one stretch of a log, or of which one names the other's number, or that began together."""
    pairs: dict[tuple[str, str], _Pair] = {}

    def add(board: _Seen, other: _Seen) -> None:
        if board.game.key != other.game.key:
            first, second = sorted((board, other), key=lambda side: side.game.key)
            pairs[first.game.key, second.game.key] = first, second

    stretches = sorted(
        (source, begin, end, view.game.key, view) for view in games for source, (begin, end) in view.sources.items()
    )
    open_ones: list[tuple[str, int, _Seen]] = []
    for source, begin, end, _, view in stretches:
        open_ones = [stretch for stretch in open_ones if stretch[0] == source and stretch[1] >= begin]
        for _, _, other in open_ones:
            add(view, other)
        open_ones.append((source, end, view))
    numbered: dict[int, list[_Seen]] = {}
    for view in games:
        if view.game.game_no is not None:
            numbered.setdefault(view.game.game_no, []).append(view)
    for view in games:
        if view.game.partner_game_no is not None:
            for other in numbered.get(view.game.partner_game_no, ()):
                add(view, other)
    begun = sorted(
        (view.game.started_at_ms, view.game.key, view.game.latest_start_ms or 0, view)
        for view in games
        if view.whole and view.game.started_at_ms is not None and view.game.time_basis.value == "utc"
    )
    for index, (_, _, latest_ms, view) in enumerate(begun):
        for also_ms, _, _, other in (begun[index] for index in range(index + 1, len(begun))):
            if also_ms > latest_ms + TOGETHER_MS:
                break
            add(view, other)
    return [pairs[keys] for keys in sorted(pairs)]


def _only_pairs(
    candidates: list[_Pair], rule: Callable[[_Seen, _Seen], str | None]
) -> Iterable[tuple[_Seen, _Seen, str]]:
    """Yield the pairs for which a rule finds evidence if each game fits one other only."""
    fits = [(board, other, text) for board, other in candidates if (text := rule(board, other)) is not None]
    times: dict[str, int] = {}
    for board, other, _ in fits:
        for each in (board, other):
            times[each.game.key] = times.get(each.game.key, 0) + 1
    return [fit for fit in fits if times[fit[0].game.key] == times[fit[1].game.key] == 1]


def _may_be(game: Game, other: Game) -> bool:
    facts = ((game.server, other.server), (game.base_s, other.base_s), (game.increment_s, other.increment_s))
    if any(None not in pair and pair[0] != pair[1] for pair in facts):
        return False
    if _known_players(game) & _known_players(other):
        return False
    if None not in (game.rated, other.rated) and game.rated != other.rated:
        return False
    if "*" not in (game.result, other.result) and (game.result, other.result) not in _OPPOSITE:
        return False
    for first, second in ((game, other), (other, game)):
        if None not in (first.partner_game_no, second.game_no) and first.partner_game_no != second.game_no:
            return False
    times = (game.started_at_ms, game.ended_at_ms, other.started_at_ms, other.ended_at_ms)
    if game.time_basis is other.time_basis and game.time_basis.value == "utc" and None not in times:
        begun, ended, also_begun, also_ended = (time or 0 for time in times)
        return begun <= also_ended + TOGETHER_MS and also_begun <= ended + TOGETHER_MS
    return True


def _known_players(game: Game) -> set[str]:
    """The handles of a game in lower case, without those that a saved match does not name."""
    return {game.white.handle.lower(), game.black.handle.lower()} - {"", "?"}


def _shared(board: _Seen, other: _Seen) -> bool:
    return any(
        source in other.sources and begin <= other.sources[source][1] and other.sources[source][0] <= end
        for source, (begin, end) in board.sources.items()
    )


def _saved(board: _Seen, other: _Seen) -> str | None:
    """Both are boards of one match of a file of saved matches: they end at the same place of it."""
    observations = [game.observations[0] for game in (board.game, other.game) if game.observations]
    if len(observations) < 2 or any(each.kind is not ObservationKind.PGN for each in observations):
        return None
    if observations[0].source != observations[1].source or observations[0].end_offset != observations[1].end_offset:
        return None
    return "both boards of one saved match"


def _numbers(board: _Seen, other: _Seen) -> str | None:
    """A line of one game names the other's number, and they were played at the same time."""
    named = [
        f"game {first.game_no} names {second.game_no} as its partner's"
        for first, second in ((board.game, other.game), (other.game, board.game))
        if first.partner_game_no is not None and first.partner_game_no == second.game_no
    ]
    if not named:
        return None
    evidence = " and ".join(named)
    together = _overlap(board, other)
    if together is False:
        return None
    agree = _agree(board, other)
    if agree is False or (together is None and agree is None):
        return None  # numbers are used again: other evidence must show that it is the same time
    return f"{evidence}{_counted(board, other) if agree else ''}"


def _overlap(board: _Seen, other: _Seen) -> bool | None:
    """Whether they were played at the same time; None: not known."""
    if _shared(board, other):
        return True
    if board.sources.keys() & other.sources.keys():
        return False
    utc = all(each.game.time_basis.value == "utc" for each in (board, other))
    times = (board.game.started_at_ms, board.game.ended_at_ms, other.game.started_at_ms, other.game.ended_at_ms)
    return True if utc and None not in times else None  # ``_may_be`` has compared them


def _agree(board: _Seen, other: _Seen) -> bool | None:
    """Whether the pieces that each board lost arrived in the other's holdings; None: too little is known."""
    if _shared(board, other):
        return _agree_in_one_log(board, other)
    if not (board.whole and other.whole):
        return None
    count = 0
    for taker, receiver in ((board, other), (other, board)):
        for white in (True, False):
            lost = [capture.pieces for capture in taker.captures if capture.white is white]
            received = receiver.received(white=not white)
            # Both logs are whole; the last capture of a match may end it before its piece arrives.
            if not 0 <= len(lost) - len(received) <= 1:
                return False
            if any(piece not in pieces for piece, pieces in zip(received, lost, strict=False)):
                return False
            count += len(received)
    return True if count >= _FEW_PIECES else None


def _agree_in_one_log(board: _Seen, other: _Seen) -> bool | None:
    """Whether the captures of one board are the pieces that the other received; None: too few to tell."""
    transfers = _transfers(board, other)
    linked = sum(transfer.passed is not None for transfer in transfers)
    missing = 0
    for transfer in transfers:
        receiver = other if (transfer.board == "A") == (board_order(board.game, other.game).a is board.game) else board
        if transfer.passed is None and _watched(receiver, transfer.capture):
            missing += 1
    received = len(board.passes) + len(other.passes)
    # The first or last capture may have happened while the other board was not observed.
    if missing > 1:
        return False
    if linked < _FEW_PIECES:
        return None
    return linked * 10 >= min(received, len(transfers)) * 8


def _transfers(board: _Seen, other: _Seen) -> list[Transfer]:
    """What each board captured and received is computed once for all pairs."""
    first, second = (board, other) if board_order(board.game, other.game).a is board.game else (other, board)
    return [
        *transfers_of("A", first.captures, second.passes, first.game),
        *transfers_of("B", second.captures, first.passes, second.game),
    ]


def _watched(board: _Seen, capture: CapturedPiece) -> bool:
    """Whether the log shows the game at the moment of a capture on another board."""
    bounds = board.sources.get(capture.place.source)
    offset = capture.place.offset
    return bounds is not None and offset is not None and bounds[0] < offset < bounds[1]


def _counted(board: _Seen, other: _Seen) -> str:
    return f"; {len(board.captures)} and {len(other.captures)} captured pieces came into the other's hands"


def _pieces(board: _Seen, other: _Seen) -> str | None:
    """Pieces that one board loses arrive on the other, in one log or in two complete ones of the same time."""
    if not _overlap(board, other) or not _agree(board, other):
        return None
    if not _shared(board, other):
        lost = len(board.captures) + len(other.captures)
        return f"they began together and what was captured came into the hands of the other board, {lost} pieces"
    transfers = _transfers(board, other)
    linked = sum(transfer.passed is not None for transfer in transfers)
    return f"{linked} of {len(transfers)} captured pieces came into the hands of the other board"


def _creation(board: _Seen, other: _Seen) -> str | None:
    """They have consecutive numbers and one log shows the beginning of both together."""
    numbers = (board.game.game_no, other.game.game_no)
    if None in numbers or abs((numbers[0] or 0) - (numbers[1] or 0)) != 1 or not (board.whole and other.whole):
        return None
    if not _shared(board, other) or _agree(board, other) is False:
        return None
    begins = [place_of(each.game, each.game.observations[0], each.game.first_offset, None) for each in (board, other)]
    if begins[0].source != begins[1].source:
        return None
    apart = abs((begins[0].offset or 0) - (begins[1].offset or 0))
    times = (board.game.started_at_ms, other.game.started_at_ms)
    if apart > _TOGETHER_BYTES or (None not in times and abs((times[0] or 0) - (times[1] or 0)) > TOGETHER_MS):
        return None
    low, high = sorted(number or 0 for number in numbers)
    return f"games {low} and {high} began one after the other"
