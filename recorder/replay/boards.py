"""The boards of a replay: recorded plies as the frames that a server prints of them.

A board keeps every position of its game from the first one on, so that takebacks, seeks and examination only select a
position. The board computes what the archive does not keep in the manner of that server family: material, the
en passant file, the notation of promotions and mates.

The end line contains known facts only: the recorded reason, else what the PGN tag ``Termination`` or the last move
shows, else only the winner.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from recorder.cecp.commands import parse_move
from recorder.dialects.results import read_reason
from recorder.dialects.style12 import FRAME_TAG, parse_style12
from recorder.events.frames import (
    TAIL_BASE,
    TAIL_BLACK,
    TAIL_BLACK_CLOCK,
    TAIL_ELAPSED,
    TAIL_FLIP,
    TAIL_GAME,
    TAIL_INCREMENT,
    TAIL_MOVE_NO,
    TAIL_RELATION,
    TAIL_TURN,
    TAIL_WHITE,
    TAIL_WHITE_CLOCK,
    Style12,
)
from recorder.model import EXACT, EventKind, Game, GameEvent, HoldingsChange, Ply, StartFacts
from recorder.replay.moments import Begin, ShownPly, What, moments_of_game
from recorder.replay.timing import cap_idle
from recorder.rules.fen import fen_counters, position_from_fen, start_position
from recorder.rules.notation import verbose_of
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step, play_san, with_holdings
from recorder.rules.variants import STANDARD_BOARD, has_pockets, rules_of
from recorder.times import printed_clock
from recorder.tracking.engines.view import play_move

Lines = Mapping[tuple[str, int], str]
"""A game's recorded ``<12>`` lines by log (its SHA-256, or "" if there is only one) and byte offset in it."""

_VALUES: Final = {"P": 1, "N": 3, "B": 3, "R": 5, "Q": 9}
_DROP_VALUES: Final = {"P": 1, "N": 2, "B": 2, "R": 2, "Q": 4}  # FatICS in crazyhouse and bughouse
_SUICIDE_VALUES: Final = dict.fromkeys("PNBRQK", 1)
SHOWN_WITH: Final = (EventKind.CLOCK, EventKind.TAKEBACK, EventKind.TICKING, EventKind.NAMES)
"""Kinds of events that a server reports by printing the board."""
# A recorded line is sent unchanged if these fields hold the values that this client is to see now.
_AGREES: Final = (
    TAIL_TURN, TAIL_GAME, TAIL_WHITE, TAIL_BLACK, TAIL_RELATION, TAIL_BASE, TAIL_INCREMENT, TAIL_WHITE_CLOCK,
    TAIL_BLACK_CLOCK, TAIL_MOVE_NO, TAIL_FLIP,
)  # fmt: skip


class BoardState(NamedTuple):
    """A position of a game and the values that a frame shows with it."""

    ply: int
    position: Position
    verbose: str
    pretty: str
    irreversible: int
    white_clock_ms: int
    black_clock_ms: int
    elapsed_ms: int
    lag_ms: int | None  # None: unknown
    exact: bool  # times were recorded in thousandths of a second; else frames show whole seconds
    rights: int  # castling rights, as the server counts them


def start_of(game: Game, fen: str | None, with_holdings: bool = False) -> Position | None:
    """The position of a FEN, or the normal start; None: no known rules can read it."""
    rules = rules_of(game.variant or "chess")
    if rules is Rules.FRAMES:
        if fen is not None:
            return None
        rules = Rules.CHESS  # kriegspiel: nothing is hidden
    if fen is None:
        empty = ("", "") if with_holdings and has_pockets(rules) else None
        return start_position(STANDARD_BOARD, True, 0 if rules is Rules.SUICIDE else 15, -1, rules, empty)
    try:
        position = position_from_fen(fen, rules)
        return position if with_holdings else position._replace(holdings=None)
    except ValueError:
        return None


def play_ply(position: Position, ply: Ply) -> Position | None:
    """Play by the SAN, else by the UCI text; holdings that were derived wrongly are dropped.

    None: it is not a legal move here, or the rules find another move than the one stored.
    """
    step = play_san(position, ply.san)
    if isinstance(step, str) and ply.uci is not None and (move := parse_move(ply.uci)) is not None:
        step = play_move(position, move)
    if not isinstance(step, str) and step[0] == ply.move:
        return step[2]
    return None if position.holdings is None else play_ply(position._replace(holdings=None), ply)


def irreversible_after(ply: Ply, before: int | None) -> int:
    """The half-moves since the last irreversible one, after a ply; ``before`` it they were so many, if known."""
    if ply.irreversible is not None:
        return ply.irreversible
    changed = ply.san[0] in "abcdefghP" or "x" in ply.san or "@" in ply.san
    return 0 if changed or before is None else before + 1


class ReplayBoard:
    """A game's board during a replay; ``place`` is the game's index in it.

    ``holdings`` is None if no line contains any; ``derives`` means that they are derived from the moves where possible.
    ``is_live`` means that boards were recorded, not only a list of moves.
    """

    def __init__(
        self,
        game: Game,
        number: int,
        place: int = 0,
        lines: Lines | None = None,
        names: tuple[str, str] | None = None,
    ) -> None:
        self.game = game
        self.place = place
        self.number = number
        self.recorded: str | None = None  # the line that shows this state; None: no line shows it, or it is not kept
        self._lines: Lines = lines or {}
        sources = {observation.source.sha256 if observation.source else "" for observation in game.observations}
        self._log = sources.pop() if len(sources) == 1 else None
        self.white, self.black = names or (game.white.handle, game.black.handle)
        self.state: BoardState | None = None
        self.line: list[BoardState] = []  # that led to ``state``, from the first one on
        self.plies: list[Ply] = []
        self.holdings: tuple[str, str] | None = None
        self.printed_holdings: tuple[str, str] | None = None  # with a board, without pieces passed since
        self.ticking: bool | None = None
        self.result: tuple[str, str] | None = None
        self.over = False  # another game may use the number
        self.is_announced = False
        self.is_live = any(observation.start is not None for observation in game.observations)
        self.fatics = game.dialect == "FatICS"
        self.old = game.dialect in ("Lasker", "FICS 1.6.2", "chessd")
        rules = rules_of(game.variant or "chess")
        self.pockets = has_pockets(rules)
        self.derives = self.pockets and not any(observation.holdings for observation in game.observations)
        self.shares = rules is Rules.BUGHOUSE

    def remember(self, what: What) -> None:
        """Select the recorded line that shows the board after this moment, if the moment changes or shows the board."""
        log, offset = self._log, None
        if isinstance(what, Begin | ShownPly):
            seen = None if what.observation is None else self.game.observations[what.observation]
            start = None if seen is None else seen.start
            offset = what.ply.offset if isinstance(what, ShownPly) else None if start is None else start.offset
            log = seen.source.sha256 if seen is not None and seen.source is not None else ""
        elif isinstance(what, GameEvent) and what.kind in SHOWN_WITH:
            offset = what.offset
        elif not isinstance(what, HoldingsChange) or what.passed is None:  # no earlier line contains a passed piece
            return
        self.recorded = None if log is None or offset is None else self._lines.get((log, offset))

    def begin(self, what: Begin) -> None:
        """The first board of an observation."""
        seen = None if what.observation is None else self.game.observations[what.observation]
        start = None if seen is None else seen.start
        if seen is None or start is None:
            anchor = next((one.fen for one in self.game.anchors() if one.ply == self.game.start_ply), None)
            position = start_of(self.game, anchor or self.game.start_fen, self.derives)
            self._start(position, self.game.start_ply, None)
            return
        if self.state is not None and self.state.ply == start.ply and self.line:
            self.state = self._set(_with_start(self.state, start))
            return
        anchor = next((anchor.fen for anchor in seen.anchors if anchor.line == 0 and anchor.ply == start.ply), None)
        if anchor is None and start.ply:
            position = next((one.position for one in self.line if one.ply == start.ply), None)
        else:
            position = start_of(self.game, anchor, self.derives)
        self._start(position, start.ply, start, 0 if anchor is None else fen_counters(anchor)[0])

    def _start(self, position: Position | None, ply: int, start: StartFacts | None, irreversible: int = 0) -> None:
        self.state = None
        if position is None:
            return
        base_ms = 1000 * (self.game.base_s or 0)
        black_base_ms = 1000 * (self.game.black_base_s if self.game.black_base_s is not None else self.game.base_s or 0)
        rights = 15 if self.old and ply == 0 else position.castling
        found = BoardState(ply, position, "none", "none", irreversible, base_ms, black_base_ms, 0, None, True, rights)
        if start is not None:
            found = _with_start(found._replace(verbose=start.verbose, pretty=start.pretty), start)
        if ply > 1 and self.game.continued and not self.line:
            self.ticking = False  # the clocks of a continued game stop until a move is made
        if self.line and self.line[-1].ply >= ply:
            self.line = [one for one in self.line if one.ply < ply]
        self.state = found
        self.line.append(found)

    def show(self, what: ShownPly) -> None:
        """After a ply that cannot be played the state is unknown until the next known board."""
        ply, before = what.ply, self.state
        if before is not None and before.ply != ply.ply - 1:
            before = next((one for one in reversed(self.line) if one.ply == ply.ply - 1), None)
        played = None
        verbose = None if before is None else self._verbose(before.position, ply)
        if before is not None and verbose is not None:
            played = play_ply(before.position, ply)
        if played is None:
            seen = self.game.observations[what.observation]
            fen = next((one.fen for one in seen.anchors if one.ply == ply.ply and one.line == what.line), None)
            played = None if fen is None else start_of(self.game, fen, self.derives and not self.shares)
        if self.line and self.line[-1].ply >= ply.ply:
            self.line = [one for one in self.line if one.ply < ply.ply]
        if self.plies and self.plies[-1].ply >= ply.ply:
            self.plies = [*(one for one in self.plies if one.ply < ply.ply), ply]
        else:
            self.plies.append(ply)
        if played is None:
            self.state = None
            return
        exact = ply.precision_code is None or ply.precision_code in EXACT
        irreversible = irreversible_after(ply, None if before is None else before.irreversible)
        clocks = (ply.white_clock_ms, ply.black_clock_ms)
        if before is not None and None in clocks:
            clocks = self._clocks_after(before, ply)
        self.state = BoardState(
            ply.ply, played, verbose or "none", self._pretty(ply.san), irreversible,
            clocks[0] or 0, clocks[1] or 0, ply.elapsed_ms or 0, ply.lag_ms, exact,
            self._rights(before, played, verbose or "none"),
        )  # fmt: skip
        self.line.append(self.state)
        self.ticking = None

    def _rights(self, before: BoardState | None, reached: Position, verbose: str) -> int:
        """Old servers keep a right when the rook is captured."""
        if not self.old or before is None:
            return reached.castling
        white = before.position.white_to_move
        if verbose.startswith(("K/", "o-o")):
            return before.rights & (12 if white else 3)
        lost = {"R/h1": 1, "R/a1": 2} if white else {"R/h8": 4, "R/a8": 8}
        return before.rights & ~lost.get(verbose[:4], 0)

    def _clocks_after(self, before: BoardState, ply: Ply) -> tuple[int, int]:
        """Clocks that were not printed: the mover's is reduced by the time that the move took."""
        white_ms, black_ms = before.white_clock_ms, before.black_clock_ms
        spent_ms = ply.elapsed_ms or 0
        if ply.ply > 2 and self.game.increment_s is not None:
            black_s = self.game.black_increment_s
            spent_ms -= 1000 * (self.game.increment_s if ply.white_moved or black_s is None else black_s)
        if ply.white_clock_ms is not None or ply.black_clock_ms is not None:
            white_known, black_known = ply.white_clock_ms, ply.black_clock_ms
            return (white_ms if white_known is None else white_known, black_ms if black_known is None else black_known)
        return (white_ms - spent_ms, black_ms) if ply.white_moved else (white_ms, black_ms - spent_ms)

    def take_back(self, ply: int) -> None:
        """FatICS keeps the clock set by the first ply taken back."""
        first = next((one for one in self.plies if one.ply == ply + 1), None)
        self.line = [one for one in self.line if one.ply <= ply]
        self.plies = [one for one in self.plies if one.ply <= ply]
        self.state = self.line[-1] if self.line and self.line[-1].ply == ply else None
        if self.shares:
            self.receive(None, True)  # pieces received from the other board meanwhile are unknown
        self.ticking = None
        if self.fatics and first is not None and self.plies:
            kept = (first, self.plies[-1]) if first.white_moved else (self.plies[-1], first)
            self.set_clocks(kept[0].white_clock_ms, kept[1].black_clock_ms)

    def receive(self, piece: str | None, white: bool) -> None:
        """From the other board, into derived holdings; an unknown piece (None) makes the holdings None."""
        state = self.state
        if state is None or state.position.holdings is None:
            return
        holdings = state.position.holdings
        if piece is None:
            position = state.position._replace(holdings=None)
        else:
            position = with_holdings(
                state.position, *((holdings[0] + piece, holdings[1]) if white else (holdings[0], holdings[1] + piece))
            )
        self.state = self._set(state._replace(position=position))

    def set_clocks(self, white_ms: int | None, black_ms: int | None) -> None:
        """At the same ply."""
        if self.state is not None:
            white_ms = self.state.white_clock_ms if white_ms is None else white_ms
            black_ms = self.state.black_clock_ms if black_ms is None else black_ms
            self.state = self._set(self.state._replace(white_clock_ms=white_ms, black_clock_ms=black_ms))

    def _set(self, state: BoardState) -> BoardState:
        self.line[-1] = state
        return state

    def _verbose(self, position: Position, ply: Ply) -> str | None:
        """In the long notation of a frame; None: its squares are unknown."""
        verbose = None if ply.uci is None else verbose_of(position.board, ply.uci, ply.san)
        return verbose if verbose is None or not self.old else verbose.partition("=")[0]

    def _pretty(self, san: str) -> str:
        return san.replace("#", "+") if self.old else san

    def material(self, state: BoardState) -> tuple[int, int]:
        """As this server family counts it, including pieces in hand."""
        values = _VALUES
        if self.fatics:
            suicide = rules_of(self.game.variant or "chess") is Rules.SUICIDE
            values = _DROP_VALUES if self.pockets else _SUICIDE_VALUES if suicide else _VALUES
        holdings = self.holdings if self.pockets and self.holdings is not None else ("", "")
        board = state.position.board
        return (
            sum(value * (board.count(letter) + holdings[0].count(letter)) for letter, value in values.items()),
            sum(value * (board.count(letter.lower()) + holdings[1].count(letter)) for letter, value in values.items()),
        )

    def push_file(self, state: BoardState) -> int:
        """FatICS reports a double push only if a pawn stands next to the pushed one."""
        position = state.position
        file = position.push_col
        if file < 0 or not self.fatics:
            return file
        row = 3 if position.white_to_move else 4
        pawn = "P" if position.white_to_move else "p"
        beside = [column for column in (file - 1, file + 1) if 0 <= column <= 7]
        return file if any(position.board[9 * row + column] == pawn for column in beside) else -1

    def is_ticking(self, state: BoardState) -> bool:
        """As an event reported, else from Black's first move on."""
        if self.ticking is not None:
            return self.ticking
        return state.ply > 1 or (self.fatics and self.game.variant == "bughouse")

    @property
    def base_min(self) -> int:
        """As the server prints it."""
        return 0 if self.game.base_inferred or self.game.base_s is None else self.game.base_s // 60


def _with_start(state: BoardState, start: StartFacts) -> BoardState:
    return state._replace(
        white_clock_ms=start.white_clock_ms or 0,
        black_clock_ms=start.black_clock_ms or 0,
        elapsed_ms=start.elapsed_ms or 0,
        lag_ms=start.lag_ms,
        exact=start.precision_code is None or start.precision_code in EXACT,
    )


def frame_text(
    board: ReplayBoard, relation: int, ms: bool, flip: bool = False, state: BoardState | None = None
) -> str | None:
    """The recorded line if it agrees, else one built from the archive; ``ms`` only where these were recorded."""
    at = state or board.state
    if at is None:
        return None
    exact = ms and at.exact
    unit = 1 if exact else 1000
    position = at.position
    white, black = board.material(at)
    tail = [
        "W" if position.white_to_move else "B",
        str(board.push_file(at)),
        *("1" if at.rights >> bit & 1 else "0" for bit in range(4)),
        str(at.irreversible),
        str(board.number),
        board.white,
        board.black,
        str(relation),
        str(board.base_min),
        str(board.game.increment_s or 0),
        str(white),
        str(black),
        str(at.white_clock_ms // unit),
        str(at.black_clock_ms // unit),
        str(at.ply // 2 + 1),
        at.verbose,
        f"({printed_clock(at.elapsed_ms, exact)})",
        at.pretty,
        str(int(flip)),
        str(int(board.is_ticking(at))),
    ]
    if at.lag_ms is not None:
        tail.append(str(at.lag_ms))
    if state is None and board.recorded is not None and _agrees(board.recorded, position.board, tail):
        return board.recorded
    return f"{FRAME_TAG} {position.board} {' '.join(tail)}"


def _agrees(recorded: str, board: str, tail: list[str]) -> bool:
    frame = parse_style12(recorded)
    if not isinstance(frame, Style12) or frame.partial or frame.board != board:
        return False
    printed = frame.tail
    if ("." in printed[TAIL_ELAPSED]) != ("." in tail[TAIL_ELAPSED]):
        return False
    return all(printed[place] == tail[place] for place in _AGREES)


_MOVE_NUMBER: Final = re.compile(r"[0-9]{1,4}\.*|\.{2,3}", re.ASCII)


class MainLine(NamedTuple):
    """A game's main line up to its first gap."""

    game: Game
    start_ply: int
    plies: list[Ply]
    positions: list[Position | None]  # before each ply and after the last; without holdings
    at_ms: list[int]  # from the game's first moment
    end_ms: int
    whole: bool  # no ply is missing after it

    def white_to_move(self, place: int) -> bool:
        return (self.start_ply + place) % 2 == 0


def main_line(game: Game, pace_ms: int = 0, idle_max_ms: int | None = None) -> MainLine:
    moments = moments_of_game(game, pace_ms=pace_ms)
    if idle_max_ms is not None:
        moments = list(cap_idle(moments, idle_max_ms))
    shown = {moment.what.ply.ply: moment.at_ms for moment in moments if isinstance(moment.what, ShownPly)}
    anchors = {anchor.ply: anchor.fen for anchor in game.anchors()}
    position = start_of(game, anchors.get(game.start_ply) or game.start_fen)
    if position is not None and position.white_to_move != (game.start_ply % 2 == 0):
        position = None
    plies: list[Ply] = []
    positions, at_ms = [position], [0]
    every = game.plies
    for number, ply in enumerate(every, game.start_ply + 1):
        if ply.ply != number or ply.uci is None:
            break
        position = None if position is None else play_ply(position, ply)
        plies.append(ply)
        positions.append(position)
        at_ms.append(max(at_ms[-1], shown.get(number, at_ms[-1])))
    whole = len(plies) == len(every)
    end_ms = max(at_ms[-1], moments[-1].at_ms) if whole else at_ms[-1]
    return MainLine(game, game.start_ply, plies, positions, at_ms, end_ms, whole)


def play_line(position: Position, text: str) -> tuple[list[Step], bool]:
    """Up to the first word that is no move; also return whether no move was illegal."""
    steps: list[Step] = []
    for word in text.split():
        if _MOVE_NUMBER.fullmatch(word):
            continue
        move = parse_move(word)
        if move is None:
            break
        step = play_move(position, move)
        if isinstance(step, str):
            return steps, False
        steps.append(step)
        position = step[2]
    return steps, True


_UNENDED: Final = {"adjourned": "Game adjourned", "aborted": "Game aborted"}
_COLOURS: Final = frozenset(("White", "White's", "Black", "Black's"))


def end_event(board: ReplayBoard) -> GameEvent | None:
    """The end of a game whose recording has no end event; None: how it ended is unknown."""
    game = board.game
    if game.result == "*" and game.end not in _UNENDED:
        return None
    text = f"{_words(board)}}} {game.result}"
    return GameEvent(0, EventKind.RESULT, "", game.start_ply, None, None, text, None, None, None, game.last_offset)


def _words(board: ReplayBoard) -> str:
    game = board.game
    if game.reason:
        return _with_handles(game.reason, board)
    if game.result == "*":
        return _UNENDED[game.end]
    termination = game.termination.lower()
    if game.result == "1/2-1/2":
        return "Game drawn by adjudication" if termination == "adjudication" else "Game was drawn"
    winner, loser = (board.white, board.black) if game.result == "1-0" else (board.black, board.white)
    if termination == "time forfeit":
        return f"{loser} forfeits on time"
    if termination == "abandoned":
        return f"{loser} forfeits by disconnection"
    if termination == "adjudication":
        return f"{winner} wins by adjudication"
    last = board.plies[-1] if board.plies else None
    if last is not None and last.san.endswith("#") and last.white_moved == (game.result == "1-0"):
        return f"{loser} checkmated"
    return f"{winner} wins"


def _with_handles(reason: str, board: ReplayBoard) -> str:
    """Unless it changes the meaning."""
    handles = {"White": board.white, "Black": board.black}
    words = [word.replace(word[:5], handles[word[:5]], 1) if word in _COLOURS else word for word in reason.split(" ")]
    found = " ".join(words)
    keys = {read_reason(text, board.white, board.black, board.game.result).key for text in (reason, found)}
    return found if len(keys) == 1 and "unknown" not in keys else reason
