"""Engines' lines in, games out: two engines of one match are one game, a server's game and the engine's view another.

Nothing is joined that the log does not show to be the same: both views overlap in the log, agree in every ply that both
have, and each move is before or after that of the other view, depending on its direction.

What one engine process is sent and answers, line by line.

Source: the protocol document, sections 8, 9 and 13. In *force* mode moves are replayed; otherwise those that the
interface sends are the opponent's and ``move`` is the engine's. ``time`` is the engine's clock, ``otim`` the other one.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from typing import Final

from recorder.cecp.answers import (
    Answer,
    Claim,
    Comment,
    Features,
    Indented,
    Moved,
    OldClaim,
    RefusedMove,
    Signal,
    TellCommand,
    ThinkingLine,
    format_answer,
    parse_answer,
)
from recorder.cecp.commands import (
    Command,
    EditBoard,
    Holding,
    LevelCommand,
    MoveText,
    Number,
    Plain,
    Rating,
    Result,
    Texted,
    UserMove,
    parse_command,
    parse_move,
)
from recorder.containment import Failures
from recorder.events import EngineLine
from recorder.model import (
    AnchorReason,
    Anomaly,
    AnomalyKind,
    EventKind,
    Game,
    GameEnd,
    GameKind,
    Player,
    Ply,
    Proof,
    Segment,
    StartPrecision,
    TimeBasis,
    is_forgotten,
)
from recorder.rules.fen import STANDARD_FEN, plies_before, position_from_fen
from recorder.rules.position import Position
from recorder.rules.variants import STANDARD_BOARD, has_pockets, read_cecp_variant, rules_of
from recorder.text import later
from recorder.tracking.assemble import end_word
from recorder.tracking.engines.view import EngineRun, agree

_REASONS: Final = tuple(
    (later(pattern, re.IGNORECASE), key)
    for pattern, key in (
        (r"(?:White|Black) (?:check)?mates|Xboard adjudication: Checkmate", "checkmate"),
        (r"(?:White|Black) resigns?", "resign"),
        (r"(?:White|Black) forfeits on time|(?:White|Black) wins on time|.* ran out of time", "time"),
        (r"(?:Xboard adjudication: )?Stalemate", "stalemate"),
        (r"(?:Xboard adjudication: |Draw claim: )?50.move rule|Draw by (?:the )?(?:50|fifty).move rule", "fifty"),
        (
            r"Xboard adjudication: (?:repetition|repetition draw|perpetual checking)|"
            r"XBoard adjudication: repetition draw|Draw claim: 3-fold repetition|Draw by (?:3-fold )?repetition",
            "repetition",
        ),
        (r"(?:Xboard adjudication|Draw claim): [Ii]nsufficient mating material|.*insufficient material", "no-material"),
        (r"Draw agreed|Draw by (?:mutual )?agreement", "agreed"),
        (r"(?:Xboard|XBoard|User) adjudication.*", "adjudicated"),
        (r"Error(?:: | (?:reading from|writing to) )(?:first|second) chess program.*", "disconnect-loss"),
    )
)


_BEST_PROOF: Final = (Proof.LIST, Proof.INFERRED, Proof.UNPROVED)


def read_engine_reason(words: str | None, result: str) -> tuple[str | None, str]:
    """``Game.reason_key`` and ``Game.termination``."""
    if words is None:
        return None, "unterminated" if result == "*" else "normal"
    text = words.strip()
    key = next((key for pattern, key in _REASONS if pattern().fullmatch(text)), "unknown")
    if result == "*":
        return key, "unterminated"
    if key == "adjudicated" and result == "1/2-1/2":
        key = "adjudicated-draw"
    if key == "time":
        return key, "time forfeit"
    if key == "disconnect-loss":
        return key, "abandoned"
    return key, "adjudication" if key.startswith("adjudicated") else "normal"


def engine_game(run: EngineRun, other: EngineRun | None, *, date: datetime.date | None) -> Game:
    """The game of one engine, whose opponent is none of this log, or of two; ``run`` gives the plies."""
    white, black = _players(run, other)
    views = [run] if other is None else [run, other]
    runs = sorted((part for view in views for part in (*view.earlier, view)), key=lambda part: part.observation.offset)
    rows, segments = _main_line(run, runs)
    proved = {row.ply for row in rows if row.move is not None}
    whole = len(proved) == run.ply - run.first.base_ply and all(run.refused <= proved for run in runs)
    ended = next((part for part in (run, other) if part is not None and part.result is not None), run)
    result = ended.result or "*"
    key, termination = (None, "unterminated") if ended.result is None else read_engine_reason(ended.reason, result)
    for view in views:
        for part in (*view.earlier, view):
            names = {True: white.handle, False: black.handle}
            if part is not view and part.name is not None and len(view.colours) == 1:
                names.update(dict.fromkeys(view.colours, part.name))  # another engine replaced it
            _set_at_end(part, names[True], names[False], key)
    base_s, increment_s = _times(run, other)
    first = runs[0].observation
    facts = [white.handle, black.handle, first.offset, first.started_at_ms, " ".join(row.san for row in rows)]
    return Game(
        key=hashlib.blake2b(json.dumps(facts).encode(), digest_size=10).hexdigest(),
        kind=GameKind.EXAMINED if run.analysed else GameKind.PLAYED,
        server=None,
        dialect="cecp",
        game_no=None,
        white=white,
        black=black,
        rated=None,
        variant=run.variant,
        category=None,
        base_s=base_s,
        increment_s=increment_s,
        black_base_s=base_s,
        black_increment_s=increment_s,
        base_inferred=False,
        variant_inferred=False,
        start_fen=next((part.fen for part in run.first.observation.anchors if part.reason is AnchorReason.START), None),
        start_ply=run.first.base_ply,
        result=result,
        reason=ended.reason,
        reason_key=key,
        termination=termination,
        end=ended.end if key is None else end_word(key),
        started_at_ms=first.started_at_ms,
        start_precision=None if first.started_at_ms is None else StartPrecision.MILLISECOND,
        ended_at_ms=max((run.observation.ended_at_ms or 0 for run in runs), default=None),
        time_basis=TimeBasis.CLOCK,
        date_text=None if date is None else date.isoformat(),
        complete=ended.result is not None and whole,
        continued=False,
        partner_game_no=None,
        me=None,
        observations=[run.observation for run in runs],
        segments=segments,
        first_offset=first.offset,
        last_offset=max(run.observation.end_offset for run in runs),
    )


def _main_line(main: EngineRun, runs: list[EngineRun]) -> tuple[list[Ply], list[Segment]]:
    """The plies, each from the run that proves it best and has the mover's clock; those of ``main`` count."""
    by_ply = {row.ply: row for row in main.rows}
    best: dict[int, tuple[int, Ply]] = {}
    for index, run in sorted(enumerate(runs), key=lambda item: item[1] is not main):
        for row in run.rows:
            if row.ply > main.ply or not agree(row, by_ply.get(row.ply, row)):
                continue
            if row.ply not in best or _rank(row) < _rank(best[row.ply][1]):
                best[row.ply] = index, row
    segments: list[Segment] = []
    for number, (index, _) in sorted(best.items()):
        if segments and segments[-1].observation == index:
            segments[-1] = segments[-1]._replace(to_ply=number)
        else:
            segments.append(Segment(number, number, index))
    return [row for _, (_, row) in sorted(best.items())], segments


def _rank(row: Ply) -> tuple[int, bool]:
    return _BEST_PROOF.index(row.proof), row.clock_ms is None


def _set_at_end(run: EngineRun, white: str, black: str, key: str | None) -> None:
    """Set in an observation what only the end of a game shows: the players, and the result's normalised reason."""
    run.observation.white, run.observation.black = white, black
    events = run.observation.events
    events[:] = [event._replace(detail=key or "") if event.kind is EventKind.RESULT else event for event in events]


def _players(run: EngineRun, other: EngineRun | None) -> tuple[Player, Player]:
    """``?`` for an unknown one; without ``other`` the opponent is a person or an engine elsewhere."""
    mine = Player(run.name or run.engine, _text(run.rating), run.rating)
    if other is not None:
        theirs = Player(other.name or other.engine, _text(other.rating), other.rating)
    else:
        theirs = Player(run.opponent or "?", _text(run.opponent_rating), run.opponent_rating)
    colours = run.colours or (set() if other is None else {not white for white in other.colours})
    if len(colours) != 1:
        return Player("?"), Player("?")
    return (mine, theirs) if True in colours else (theirs, mine)


def control_text(level: LevelCommand) -> str | None:
    """In PGN's form (``40/300``) if whole seconds of base and increment cannot express it."""
    if level.increment_ms is None or not (level.moves or level.increment_ms % 1000):
        return None
    increment = f"+{level.increment_ms / 1000:g}" if level.increment_ms else ""
    return f"{level.moves}/{level.base_s}{increment}" if level.moves else f"{level.base_s}{increment}"


def _text(rating: int | None) -> str | None:
    return None if rating is None else str(rating)


def _times(run: EngineRun, other: EngineRun | None) -> tuple[int | None, int | None]:
    """In seconds; None for controls with several periods."""
    level = run.level or (other.level if other is not None else None)
    if level is None or level.moves or level.increment_ms is None or level.increment_ms % 1000:
        return None, None
    return level.base_s, level.increment_ms // 1000


_CHAT_COMMANDS: Final = {"tellall": "kibitz", "tellothers": "whisper", "tellopponent": "say"}
_NAME: Final = "myname"
_ALL_RIGHTS: Final = 15
_BEGINNINGS: Final = (Plain("xboard"), Plain("new"), Plain("quit"))
# Comments of xboard's results: it keeps the move that an engine refused, and does not make an engine's illegal move.
_FALSE_CLAIM: Final = "False illegal-move claim"
_FORFEITS: Final = ("Xboard: Forfeit due to illegal move: ", "Xboard: Forfeit due to invalid move: ")
_BREAKS: Final = frozenset(("force", "undo", "remove", "go", "playother", "analyze", "edit"))
# Variants that begin with the usual pieces; where others begin must be sent.
_USUAL_START: Final = frozenset(
    (
        "chess", "crazyhouse", "bughouse", "suicide", "giveaway", "antichess", "losers", "atomic", "three-check",
        "king-of-the-hill", "seirawan",
    )
)  # fmt: skip


class EngineSide:
    """Follows one engine, by the log's word for it; ``done`` has the games that are over."""

    def __init__(self, engine: str, chat: str) -> None:
        self.engine = engine
        self.run: EngineRun | None = None
        self.done: list[EngineRun] = []
        self.anomalies: list[Anomaly] = []
        self._spoken = {"none": (), "public": ("kibitz", "whisper")}.get(chat, ("kibitz", "whisper", "say"))
        self._name: str | None = None
        self._thinks = False  # the last answer was a line of thinking output, or went on with one
        self._left: EngineRun | None = None  # of a process that ended in mid-game: another one may go on with it
        self._sent, self._ignored_at = 0, -1  # lines to the engine; how many there were when its move came too late
        self._edited: EditBoard | None = None
        self._reset()

    def _reset(self) -> None:
        """As after ``new``: the engine plays Black from the usual position."""
        self._variant: str | None = "chess"
        self._position: Position | None = position_from_fen(STANDARD_FEN, rules_of("chess"))
        self._base_ply = 0
        self._anchored = False
        self._force = False
        self._analysing = False
        self._plays_white: bool | None = False
        self._over = False
        self._time_ms: int | None = None
        self._other_ms: int | None = None
        self._level: tuple[LevelCommand, EngineLine] | None = None
        self._opponent: str | None = None
        self._ratings: tuple[int, int] | None = None
        self._turn: bool | None = None  # whether White moves in the position that ``edit`` sets up, if a line says so
        self._sent_ply: int | None = None  # of the last move that it was sent
        self._sent_clocks: tuple[int | None, int | None] = None, None  # before that move, in force mode
        self._objection: EngineLine | None = None  # it refuses that move
        self._not_made: tuple[str, EngineLine] | None = None  # its own move, which cannot be played
        self._quoted: tuple[MoveText, EngineLine] | None = None  # a move that the log has as a comment

    def feed(self, line: EngineLine) -> None:
        if not line.to_engine:
            self._answer(line)
            return
        if self._edited is not None:
            self._edit(line)
            return
        self._sent += 1
        self._obey(parse_command(line.text), line)
        if self.run is not None and self.run.rows and not self._force:
            self._settle_left()

    def _obey(self, command: Command, line: EngineLine) -> None:
        match command:
            case UserMove(move, _):
                self._take_move(move, line)
            case Plain(word):
                self._word(word, line)
            case Number("time", value):
                self._time_ms = 10 * value
            case Number("otim", value):
                self._other_ms = 10 * value
            case LevelCommand():
                self._level = command, line
                self._apply_level()
            case Number("st", _):
                self._level = None
            case Rating(own, other):
                self._ratings = own, other
                self._describe()
            case Texted("name", text):
                self._opponent = text.strip()
                self._describe()
            case Texted("variant", text):
                self._set_variant(text, line)
            case Texted("setboard", text):
                self._set_board(text, line)
            case Holding():
                self._hold(command, line)
            case Result(result, comment):
                self._result(result, comment, line)

    @property
    def open_runs(self) -> list[EngineRun]:
        return [run for run in (self._left, self.run) if run is not None]

    def close(self, end: GameEnd) -> None:
        if self.run is not None or end is GameEnd.LOG_ENDS:
            self._settle_left()
        self._settle_objection(stands=False)
        run, self.run = self.run, None
        if run is None:
            return
        if run.result is None:
            run.end = end
        if run.rows or run.result is not None:
            self.done.append(run)

    def detach(self, run: EngineRun | None) -> None:
        """A game was emitted; lines until the next game belong to no game."""
        if self._left is run:
            self._left = None
        if self.run is run:
            self.run = None
            self._over = True

    # -- what the interface says -------------------------------------------------------------------------------

    def _word(self, word: str, line: EngineLine) -> None:
        run = self.run
        if word in _BREAKS:
            self._quoted = None
        if word in ("new", "xboard", "quit"):
            self.close(GameEnd.UNOBSERVED)
            self._reset()
            if word != "new" and run is not None and run in self.done:
                self.done.remove(run)
                self._left = run
            if word != "new":
                self._over = word == "quit"
                self._name = None if word == "xboard" else self._name
        elif word == "force":
            self._force = True
        elif word in ("go", "playother") and self._position is not None:
            self._force = self._analysing = False
            reached = self._position if run is None else run.position
            self._plays_white = reached.white_to_move == (word == "go")
            run = self._running(line)
            if run is not None and self._sent_ply == run.ply:
                self._set_clocks(run, self._sent_clocks, self._plays_white)
        elif word in ("white", "black"):
            self._plays_white = word == "black"
            self._turn = word == "white"
        elif word == "analyze":
            self._analysing = self._force = True
            self._running(line)
        elif word == "exit":
            self._analysing = False
        elif word in ("undo", "remove") and run is not None:
            run.see(line)
            self._settle_objection(stands=False)
            count = (word == "remove") + (self._not_made is None and self._ignored_at < self._sent - 1)
            self._not_made = None
            if count and not run.take_back(count, line):
                self._note_anomaly(f"{word}: no such moves", line)
        elif word == "edit":
            position = self._position if run is None else run.position
            self._edited = EditBoard(STANDARD_BOARD if position is None else position.board)
        elif word in ("draw", "pause", "resume") and run is not None:
            detail = {"draw": "draw-offer", "pause": "paused", "resume": "resumed"}[word]
            run.event(EventKind.NOTICE, detail, line, actor=self._opponent if word == "draw" else None, text=word)

    def _take_move(self, move: MoveText, line: EngineLine) -> None:
        run = self._running(line)
        if run is None:
            self._unplaced(line)
            return
        self._turn = None
        self._settle_objection(stands=False)
        quoted, self._quoted = self._quoted, None
        not_made, self._not_made = self._not_made, None
        opposing = not self._force and self._plays_white is not None
        if opposing and run.position.white_to_move == self._plays_white:
            # The interface took these for moves: it sends the answer.
            if quoted is not None:
                run.play(*quoted, own=True)
            elif not_made is not None:
                run.play_unproved(*not_made, own=True)
        problem = run.play(move, line, own=False)
        if problem is not None:
            self._note_anomaly(problem, line)
            run.play_unproved(move.text, line, own=False)
        run.replayed += self._force and run.replayed == len(run.rows) - 1
        self._sent_ply, self._sent_clocks = run.ply, (self._time_ms, self._other_ms)
        self._time_ms = self._other_ms = None
        if opposing and self._plays_white is not None:
            if run.position.white_to_move == self._plays_white:
                run.colours.add(self._plays_white)
            self._set_clocks(run, self._sent_clocks, self._plays_white)

    def _set_clocks(self, run: EngineRun, clocks: tuple[int | None, int | None], engine_white: bool) -> None:
        white, black = clocks if engine_white else clocks[::-1]
        run.clocks(white, black, engine_white=engine_white)

    def _settle_objection(self, *, stands: bool) -> None:
        """The interface has answered an engine that refused a move: it takes it back, or it stands."""
        line, self._objection = self._objection, None
        if line is not None and not stands and self.run is not None:
            self.run.take_back(1, line)

    def _settle_left(self) -> None:
        """Show whether the run goes on with the game that a process before it had left."""
        left, self._left = self._left, None
        if left is not None and self.run is not None and self.run.continues(left):
            self.run.earlier = [*left.earlier, left]
        elif left is not None:
            self.done.append(left)

    def _hold(self, holding: Holding, line: EngineLine) -> None:
        run = self._running(line)
        if run is not None:
            white, black, colour, piece = holding
            run.holding(white, black, f"{colour}{piece.upper()}" if colour and piece else None, line)

    def _running(self, line: EngineLine) -> EngineRun | None:
        """The game that a line belongs to, begun if it is the first; None: what comes belongs to none."""
        if self._over or self._position is None:
            return None
        run = self.run
        if run is None:
            run = self.run = EngineRun(self.engine, self._name, self._variant, self._position, self._base_ply, line)
            self._thinks = False  # what goes on with a line of the run before is lost with it
            if self._anchored:
                run.anchor(AnchorReason.START, line)
            self._describe()
            self._apply_level()
        run.see(line)
        return run

    def _describe(self) -> None:
        run = self.run
        if run is None:
            return
        run.name = self._name
        run.opponent = self._opponent
        if self._ratings is not None:
            run.rating, run.opponent_rating = (rating or None for rating in self._ratings)

    def _apply_level(self) -> None:
        """The last one before the first move holds for the game; later ones begin another of its periods."""
        run = self.run
        if run is None or run.rows or self._level is None or run.level == self._level[0]:
            return
        run.level, line = self._level
        if (text := control_text(run.level)) is not None:
            run.event(EventKind.NOTICE, "time-control", line, text=text)

    def _set_variant(self, text: str, line: EngineLine) -> None:
        name = self._variant = read_cecp_variant(text)
        self._position = None
        if name in _USUAL_START:
            start = STANDARD_FEN if not has_pockets(rules_of(name)) else STANDARD_FEN.replace(" ", "[] ", 1)
            self._position = position_from_fen(start, rules_of(name))

    def _set_board(self, text: str, line: EngineLine) -> None:
        if self._variant is None:
            return
        try:
            position = position_from_fen(text, rules_of(self._variant))
        except ValueError as error:
            self._note_anomaly(str(error), line)
            self.close(GameEnd.UNOBSERVED)
            self._position = None
            return
        self._stand_on(position, plies_before(text, position.white_to_move), line)

    def _stand_on(self, position: Position, base_ply: int, line: EngineLine) -> None:
        """A position was set up: another game begins there."""
        run = self.run
        if run is not None and run.rows and position.white_to_move == run.position.white_to_move:
            is_shown = base_ply == run.ply if run.is_lost else position.board == run.position.board
            if is_shown:  # an engine that lost its way is shown the game's position
                self._objection = None
                run.see(line)
                if run.is_lost:
                    run.find(position, line)
                return
        if run is not None and not (len(run.rows) <= 1 and not run.own and not run.observation.thinking):
            self.close(GameEnd.UNOBSERVED)  # but the single move before ``edit`` only gives Black the move
        self.run = self._objection = None
        self._over = False
        self._position, self._base_ply = position, base_ply
        self._anchored = position.board != STANDARD_BOARD or base_ply > 0 or position.castling != _ALL_RIGHTS

    def _edit(self, line: EngineLine) -> None:
        assert self._edited is not None
        if self._edited.apply(line.text):
            if self._edited.is_done:
                edited, self._edited = self._edited, None
                reached = self._position if self.run is None else self.run.position
                turn = reached is None or reached.white_to_move
                self._set_board(edited.fen(turn if self._turn is None else self._turn), line)
                self._turn = None
        elif parse_command(line.text) in _BEGINNINGS:
            self._edited = None
            self.feed(line)
        else:
            self._note_anomaly("not a line of edit mode", line)

    def _result(self, result: str, comment: str | None, line: EngineLine) -> None:
        run = self.run
        if run is None:
            return
        run.see(line)
        self._settle_objection(stands=comment == _FALSE_CLAIM)
        if comment is not None and comment.startswith(_FORFEITS):
            run.refused.discard(run.ply + 1)
        white_lost = {"1-0": False, "0-1": True}.get(result)
        moved_and_lost = run.ply in run.own and white_lost is (not run.position.white_to_move)
        if moved_and_lost and read_engine_reason(comment, result)[0] == "time":
            # A side that has moved cannot lose on time: the flag had fallen when the move came, and it was not made.
            run.take_back(1, line)
        run.result, run.reason, run.end = result, comment, GameEnd.RESULT
        run.event(EventKind.RESULT, "", line, text=line.text)
        self.close(GameEnd.RESULT)
        self._over = True

    # -- what the engine says ----------------------------------------------------------------------------------

    def _answer(self, line: EngineLine) -> None:
        answer = parse_answer(line.text)
        thinks, self._thinks = self._thinks, False
        run = self.run
        if isinstance(answer, ThinkingLine):
            self._think(answer, line)
        elif isinstance(answer, Indented):
            if run is not None and thinks and answer.continues_pv:
                run.think_on(answer.text)
                self._thinks = True
        elif isinstance(answer, Moved):
            self._made(answer, line)
        elif isinstance(answer, Comment):
            # With -engineDebugOutput 2 xboard writes so what is none of the protocol's lines, but obeys it.
            meant = parse_answer(answer.text.removeprefix(" "))
            if isinstance(meant, Moved) and meant.number is not None:
                self._quoted = meant.move, line
        elif isinstance(answer, Features):
            self._take_features(answer)
        elif isinstance(answer, RefusedMove):
            self._refused(answer, line)
        elif run is not None:
            self._note_message(run, answer, line)

    def _think(self, thought: ThinkingLine, line: EngineLine) -> None:
        run = self.run
        if run is not None:
            run.see(line)
            turn = run.position.white_to_move
            run.think(thought, turn if self._analysing or self._plays_white is None else self._plays_white, line)
            self._thinks = True

    def _take_features(self, features: Features) -> None:
        for name, value in features.settings:
            if name == _NAME:
                self._name = str(value)
                if self.run is not None:
                    self.run.name = self._name

    def _note_message(self, run: EngineRun, answer: Answer, line: EngineLine) -> None:
        if isinstance(answer, Claim | OldClaim):
            run.event(EventKind.NOTICE, "claim", line, actor=self._name, text=format_answer(answer))
        elif isinstance(answer, Signal) and answer.text in ("resign", "offer draw"):
            detail = "resign" if answer.text == "resign" else "draw-offer"
            run.event(EventKind.NOTICE, detail, line, actor=self._name, text=answer.text)
        elif isinstance(answer, TellCommand) and _CHAT_COMMANDS.get(answer.word) in self._spoken:
            run.event(EventKind.CHAT, _CHAT_COMMANDS[answer.word], line, actor=self._name, text=answer.text)

    def _made(self, moved: Moved, line: EngineLine) -> None:
        """The engine moves: in force mode, and when it is not its turn, that comes too late to count."""
        run = self._running(line)
        if run is None:
            self._unplaced(line)
            return
        if self._force or run.position.white_to_move != self._plays_white:
            run.event(EventKind.NOTICE, "move-ignored", line, actor=self._name, text=line.text)
            self._ignored_at = self._sent
            return
        self._objection = self._not_made = None
        problem = run.play(moved.move, line, own=True)
        if problem is not None:
            self._note_anomaly(problem, line)
            self._not_made = moved.move.text, line
            run.refused.add(run.ply + 1)

    def _refused(self, refused: RefusedMove, line: EngineLine) -> None:
        """``Illegal move: e2e5``: the interface may take back the move that it sent last."""
        run = self.run
        if run is None:
            return
        run.event(EventKind.NOTICE, "illegal-move", line, actor=self._name, text=line.text)
        names_a_move = refused.move is None or parse_move(refused.move) is not None
        if names_a_move and self._sent_ply == run.ply and run.ply not in run.own:
            self._objection = line
        self._sent_ply = None

    def _unplaced(self, line: EngineLine) -> None:
        """Reported once a game."""
        if not self._over:
            self._over = True
            self._note_anomaly(
                f"where the pieces stand is not known (variant {self._variant})", line, AnomalyKind.VARIANT
            )

    def _note_anomaly(self, problem: str, line: EngineLine, kind: AnomalyKind = AnomalyKind.MALFORMED) -> None:
        self.anomalies.append(Anomaly.of(kind, line.offset, None, problem, line.text))


class Engines:
    def __init__(self, failures: Failures, *, date: datetime.date | None = None, chat: str = "public") -> None:
        self._failures = failures
        self._date = date
        self._chat = chat
        self._sides: dict[str, EngineSide] = {}
        self._over: list[EngineRun] = []
        self.lines = 0

    @property
    def anomalies(self) -> list[Anomaly]:
        return [anomaly for side in self._sides.values() for anomaly in side.anomalies]

    def feed(self, line: EngineLine) -> bool:
        """Whether the line ends a game."""
        self.lines += 1
        side = self._sides.get(line.engine)
        if side is None:
            side = self._sides[line.engine] = EngineSide(line.engine, self._chat)
        try:
            side.feed(line)
        except Exception as error:  # a bug: counted, the other games follow
            self._failures.note(error, line.offset, None, line.text)
            side.close(GameEnd.UNOBSERVED)  # it may be half changed
            side.detach(None)
        over = bool(side.done)
        self._over += side.done
        side.done.clear()
        return over

    def end(self) -> None:
        for side in self._sides.values():
            side.close(GameEnd.LOG_ENDS)
            self._over += side.done
            side.done.clear()

    def join(self, game: Game) -> None:
        """Add the observation of the engine that played a server's game in the same log, if there is one."""
        games = [run for run in [*self._over, *self._going()] if _is_view_of(run, game)]
        if len(games) != 1:
            return
        run = games[0]
        for side in self._sides.values():
            side.detach(run)
        self._over = [left for left in self._over if left is not run]
        observation = run.observation
        observation.white, observation.black, observation.game_no = game.white.handle, game.black.handle, game.game_no
        if game.time_basis is TimeBasis.NONE:
            game.time_basis = TimeBasis.CLOCK
        elif game.time_basis is not TimeBasis.CLOCK:
            _without_times(run)
        game.observations.append(observation)
        game.last_offset = max(game.last_offset, observation.end_offset)

    def _going(self) -> list[EngineRun]:
        return [run for side in self._sides.values() for run in side.open_runs]

    def settle(self, before: int) -> list[Game]:
        """Emit the games that are over, unless a server's game that began behind ``before`` may still come."""
        games: list[Game] = []
        going = self._going()
        waiting: list[EngineRun] = []
        for run in self._over:
            if run.taken:
                continue
            others = [log for log in self._over if log is not run and not log.taken and _overlap(run, log)]
            others += [log for log in going if log.observation.offset <= run.observation.end_offset]
            partners = [other for other in others if _is_match(run, other)]
            partner = partners[0] if len(partners) == 1 else None
            last = max(log.observation.end_offset for log in (run, partner) if log is not None)
            if last >= before or any(other in going for other in others if other.engine != run.engine):
                waiting.append(run)
                continue
            run.taken = True
            main, other = run, partner
            if partner is not None:
                partner.taken = True
                shorter, longer = sorted((run, partner), key=lambda log: log.ply)
                main, other = (shorter, longer) if _was_too_late(longer, shorter) else (longer, shorter)
            try:
                game = engine_game(main, other, date=self._date)
            except Exception as error:  # a bug: counted, the other games follow
                self._failures.note(error, main.observation.offset, None, "")
                continue
            if not is_forgotten(game.white.handle, game.black.handle):
                games.append(game)
        self._over = [run for run in waiting if not run.taken]
        return games


def _overlap(run: EngineRun, other: EngineRun) -> bool:
    a, b = run.observation, other.observation
    return a.offset <= b.end_offset and b.offset <= a.end_offset


def _is_match(run: EngineRun, other: EngineRun) -> bool:
    """Whether two engines played each other: each received every ply of the other."""
    if run.engine == other.engine or len(run.colours) > 1 or run.colours & other.colours:
        return False
    first, second = run.first, other.first
    if first.base_ply != second.base_ply or first.history[0].board != second.history[0].board:
        return False
    if run.variant != other.variant or abs(run.ply - other.ply) > 1:
        return False
    by_ply = {ply.ply: ply for ply in other.rows}
    common = [(ply, by_ply[ply.ply]) for ply in run.rows if ply.ply in by_ply]
    if not common or not run.own | other.own:
        return False
    for mine, theirs in common:
        if not agree(mine, theirs):
            return False
        if mine.ply in run.own and mine.offset > theirs.offset:
            return False
        if theirs.ply in other.own and theirs.offset > mine.offset:
            return False
    return True


def _was_too_late(longer: EngineRun, shorter: EngineRun) -> bool:
    """The interface sends every move to the other engine before the result, if that engine runs."""
    if longer.result is None or shorter.result is None or longer.ply not in longer.own:
        return False
    dead = tuple(f"Error{how}{shorter.engine} chess program" for how in (": ", " reading from ", " writing to "))
    return longer.ply > shorter.ply and not (shorter.reason or "").startswith(dead)


def _is_view_of(run: EngineRun, game: Game) -> bool:
    """Whether an engine's moves are those of a server's game that we play or watch."""
    plies = {ply.ply: ply for ply in game.plies}
    observation = run.observation
    if run.taken or not plies or observation.offset > game.last_offset or observation.end_offset < game.first_offset:
        return False
    sides = _own_sides(game)
    if run.colours and run.colours != sides:
        return False
    rival = game.black.handle if True in run.colours else game.white.handle
    if run.colours and run.opponent is not None and run.opponent.lower() != rival.lower():
        return False
    common = 0
    for ply in run.rows:
        other = plies.get(ply.ply)
        if other is None:
            continue
        if not agree(ply, other) or (ply.offset > other.offset) == (ply.ply in run.own):
            return False
        common += 1
    beyond = [ply for ply in run.rows if ply.ply not in plies]
    return common > 0 and common + 1 >= len(run.rows) and all(ply.ply > max(plies) for ply in beyond)


def _own_sides(game: Game) -> set[bool]:
    """The colours that the log's user plays, by what the boards say of him: relation 1 is his move, -1 the other's."""
    sides = set()
    for observation in game.observations:
        if observation.start is not None and observation.relation in (1, -1):
            sides.add((observation.start.ply % 2 == 0) == (observation.relation == 1))
    return sides


def _without_times(run: EngineRun) -> None:
    """Exclude times that count from the program's start: the game's are of another kind."""
    observation = run.observation
    observation.started_at_ms = observation.ended_at_ms = None
    for line in observation.lines:
        line.plies = [ply._replace(at_ms=None) for ply in line.plies]
    observation.events = [event._replace(at_ms=None) for event in observation.events]
    observation.holdings = [change._replace(at_ms=None) for change in observation.holdings]
    observation.thinking = [thought._replace(at_ms=None) for thought in observation.thinking]
