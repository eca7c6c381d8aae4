"""PGN as a source: lines → tag sections and movetext → games, in memory that does not grow with the file.

A game ends where its result stands, where the next tag section begins, or with the file. One that this program wrote
in several parts waits for the next part. Text outside games (a letter around it, a file's heading) is an anomaly, with
the line that it begins with. Inside braces anything may stand, but a blank line and an Event
tag after it say that the brace was never closed.

Our own PGN cuts a game where moves are missing. Movetext must be legal from its first position on, so each part has a
FEN. All have one key, and a comment at the end of a part says that the game goes on. A part of an examined
game that is not on its main line has no such comment before it, and is read as a game of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from recorder.dialects.results import read_reason, read_winner
from recorder.model import (
    Anchor,
    AnchorReason,
    Anomaly,
    AnomalyKind,
    EventKind,
    Game,
    GameEnd,
    GameEvent,
    GameKind,
    Observation,
    ObservationKind,
    Ply,
    PlyLine,
    PlyRow,
    Precision,
    Proof,
    Segment,
    StartPrecision,
)
from recorder.model.observations import runs_of
from recorder.rules.fen import STANDARD_FEN, fen, fen_counters, plies_before, position_from_fen, start_position
from recorder.rules.position import Position, Rules
from recorder.rules.variants import STANDARD_BOARD, known_start, rules_of
from recorder.saved.base import CHESS_COM, FICS, SavedReader, derive_elapsed
from recorder.saved.pgn_moves import Movetext
from recorder.saved.pgn_tags import PgnHeader, read_header
from recorder.saved.pgn_text import TENTHS, THOUSANDTHS, begins_moves, decoded, ends_game, open_brace, read_tags
from recorder.times import in_ms
from recorder.tracking.assemble import end_word

MOVES_MISSING: Final = "Moves are missing here"
"""The comment at the end of a part of the main line, if it is not the last one; see ``docs/reference/formats.md``."""


class PartOf(NamedTuple):
    """Part ``number`` of ``of`` of the game with a key. ``goes_on``: its last words say that the next part follows."""

    key: str
    number: int
    of: int
    goes_on: bool

    def continues(self, before: PartOf) -> bool:
        return before.goes_on and (self.key, self.number, self.of) == (before.key, before.number + 1, before.of)


#: Name, value and offset of each tag pair.
TagsAt = Sequence[tuple[str, str, int]]

_Note = Callable[[AnomalyKind, int, str, str], None]

_CHECKS: Final = re.compile(r"\+?[0-9]\+[0-9]")  # of three-check: left, or given
_PROVED: Final = (Proof.LIST, Proof.INFERRED)
_MS: Final = int(Precision.MILLISECONDS)
_DERIVED_MS: Final = int(Precision.DERIVED_MILLISECONDS)
_DERIVED_SECONDS: Final = int(Precision.DERIVED_SECONDS)


def read_game(
    tags: TagsAt, text: str, begin: int, offset: int, *, server: str | None = None, comments: bool = True
) -> tuple[Game | None, list[Anomaly], int, PartOf | None]:
    """The game (None: there is none), what is wrong, the index in ``text`` behind the game, and its part."""
    header = read_header([(name, value) for name, value, _ in tags], server)
    first = tags[0][2] if tags else offset + begin
    anomalies: list[Anomaly] = []

    def note(kind: AnomalyKind, at: int, message: str, about: str) -> None:
        anomalies.append(Anomaly.of(kind, at, header.game_no, message, about))

    values: dict[str, str] = {}
    for name, value, at in tags:
        if values.setdefault(name, value) != value:
            note(AnomalyKind.CONFLICT, at, f"a second {name} is skipped: '{value}'", f'[{name} "{value}"]')
    start = _start(header, tags, note)
    kept = [
        GameEvent(seq, EventKind.TAG, name, start.ply, None, None, value, None, None, None, first)
        for seq, (name, value) in enumerate(header.kept)
    ]
    decimals = TENTHS if header.dialect == FICS else THOUSANDTHS
    moves = Movetext(
        start.position, start.ply, offset, ours=header.ours, comments=comments, seq=len(kept), decimals=decimals,
        names=(header.white.handle, header.black.handle),
    )  # fmt: skip
    moves.read(text, begin)
    if not tags and not moves.moved:
        return None, [], moves.end, None
    for kind, at, message, about in moves.problems:
        note(kind, at, message, about)
    ending = _end(header, moves, _result(header, moves, first, note))
    if moves.result is None:
        note(AnomalyKind.CUT, offset + len(text.rstrip()), "the movetext ends without a result", "")
    _compare_count(header, moves, first, note)
    _derive_times(header, moves, start.ply)
    shown = [] if start.fen is None else [Anchor(0, start.ply, start.fen, AnchorReason.START, first)]
    seen = _observation(header, moves, kept, shown, first, offset + max(moves.end - 1, begin))
    game = _make_game(header, _key(header, tags, moves.rows), moves, start, seen, ending)
    return game, anomalies, moves.end, _part(header, tags, moves)


def _make_game(header: PgnHeader, key: str, moves: Movetext, start: _Start, seen: Observation, ending: _Ending) -> Game:
    rows = moves.rows
    proved = start.ply == 0 and start.position is not None and all(row[10] in _PROVED for row in rows)
    return Game(
        key=key,
        kind=GameKind.PLAYED,
        server=header.server,
        dialect=header.dialect,
        game_no=header.game_no,
        white=header.white,
        black=header.black,
        rated=header.rated,
        variant=header.variant if header.variant is not None else start.variant,
        category=header.category,
        base_s=header.base_s,
        increment_s=header.increment_s,
        black_base_s=header.black_base_s,
        black_increment_s=header.black_increment_s,
        base_inferred=header.base_inferred,
        variant_inferred=header.variant is None and start.variant is not None,
        start_fen=start.fen,
        start_ply=start.ply,
        result=ending.result,
        reason=ending.reason,
        reason_key=ending.reason_key,
        termination=ending.termination,
        end=ending.end,
        started_at_ms=header.started_at_ms,
        start_precision=None if header.started_at_ms is None else StartPrecision.SECOND,
        ended_at_ms=header.ended_at_ms,
        time_basis=header.time_basis,
        date_text=header.date_text,
        complete=proved and ending.end.is_over and moves.result is not None,
        continued=False,
        partner_game_no=None,
        me=None,
        observations=[seen],
        segments=[Segment(rows[0][0], rows[-1][0], 0)] if rows else [],
        first_offset=seen.offset,
        last_offset=seen.end_offset,
    )


def _compare_count(header: PgnHeader, moves: Movetext, first: int, note: _Note) -> None:
    count = len(moves.rows)
    if header.plies is not None and header.plies != count and moves.result is not None and not header.ours:
        message = f"PlyCount is {header.plies}, and {count} half-moves are there"
        note(AnomalyKind.CONFLICT, first, message, f'[PlyCount "{header.plies}"]')


def _observation(
    header: PgnHeader, moves: Movetext, kept: list[GameEvent], shown: list[Anchor], first: int, end: int
) -> Observation:
    return Observation(
        kind=ObservationKind.PGN,
        game_no=header.game_no,
        white=header.white.handle,
        black=header.black.handle,
        relation=None,
        offset=first,
        end_offset=end,
        started_at_ms=None,
        ended_at_ms=None,
        start=None,
        anchors=shown + moves.anchors,
        lines=moves.lines,
        events=kept + moves.events,
        thinking=moves.thinking,
    )


def _part(header: PgnHeader, tags: TagsAt, moves: Movetext) -> PartOf | None:
    if header.part is None:
        return None
    key = next(value for name, value, _ in tags if name == "RecorderKey")
    return PartOf(key, *header.part, moves.last_words == MOVES_MISSING)


class _Start(NamedTuple):
    """``position`` is None if unknown, ``fen`` for the normal start, too; ``variant`` is inferred from the position."""

    position: Position | None
    ply: int
    fen: str | None
    variant: str | None


def _start(header: PgnHeader, tags: TagsAt, note: _Note) -> _Start:
    rules = Rules.CHESS if header.variant is None else rules_of(header.variant)
    if rules is Rules.FRAMES:
        rules = Rules.CHESS  # kriegspiel: a PGN hides nothing, and its moves are those of chess
    if any(name == "RecorderBoard" for name, _ in header.kept):
        return _Start(None, 0, None, None)  # one of our files: a position that is none of chess
    text = header.fen
    inferred = "chess" if header.variant is None else None
    if text is None:
        if header.ours:  # we write no FEN only for the normal position
            usual: tuple[str, int] | None = (STANDARD_BOARD, 0 if rules is Rules.SUICIDE else 15)
        else:
            usual = known_start(header.start_word, rules)
        if usual is None:
            at = tags[0][2] if tags else 0
            note(AnomalyKind.MOVETEXT, at, f"a game of {header.variant} without its start position", "")
            return _Start(None, 0, None, None)
        holdings = ("", "") if rules is Rules.CRAZYHOUSE else None
        position = start_position(usual[0], True, usual[1], -1, rules, holdings)
        return _Start(position, 0, None if usual[0] == STANDARD_BOARD else fen(position, 0, 1), inferred)
    at = next(place for name, _, place in tags if name == "FEN")
    text = with_brackets(text)
    if " " not in text:
        text += " w"
    try:
        position = position_from_fen(text, rules)
        if rules is Rules.CHESS and _is_shuffled(text, position):
            position = position_from_fen(text, Rules.CHESS960)
            inferred = "chess960" if header.variant is None else None
    except ValueError:
        note(AnomalyKind.MALFORMED, at, f"FEN cannot be read: '{header.fen}'", text)
        header.kept += [(name, value) for name, value, _ in tags if name in ("SetUp", "FEN")]
        return _Start(None, 0, None, inferred)
    counted = " ".join(field for field in text.split() if not _CHECKS.fullmatch(field))
    start_ply = plies_before(counted, position.white_to_move)
    if rules is Rules.CRAZYHOUSE and position.holdings is None and start_ply == 0:
        position = position._replace(holdings=("", ""))
    written = fen(position, fen_counters(counted)[0], start_ply // 2 + 1)
    normal = start_ply == 0 and written.replace("[]", "") == STANDARD_FEN
    if written != header.fen and not (normal and STANDARD_FEN.startswith(" ".join(text.replace("[]", "").split()))):
        # What our form of it may lack: checks left, rights, pockets.
        header.kept += [(name, value) for name, value, _ in tags if name == "FEN" or (normal and name == "SetUp")]
    if rules is Rules.BUGHOUSE:
        position = position._replace(holdings=None)  # more comes from the other board at unknown times
    return _Start(position, start_ply, None if normal else written, inferred)


def with_brackets(text: str) -> str:
    """Lichess and older programs write a hand as a ninth rank."""
    board, _, rest = text.strip().partition(" ")
    ranks = board.split("/")
    return f"{'/'.join(ranks[:8])}[{ranks[8]}] {rest}" if len(ranks) == 9 else text.strip()


def _is_shuffled(text: str, position: Position) -> bool:
    """Whether castling rights are printed that normal chess cannot have."""
    fields = text.split()
    rights = fields[2] if len(fields) > 2 else "-"
    if rights == "-":
        return False
    kings = (position.white_king != 67 and any(letter.isupper() for letter in rights)) or (
        position.black_king != 4 and any(letter.islower() for letter in rights if letter != "-")
    )
    return kings or any(letter not in "KQkq-" for letter in rights)


def _result(header: PgnHeader, moves: Movetext, first: int, note: _Note) -> str:
    """The result: the movetext's, unless it is open and a tag says more."""
    if moves.result in (None, "*") and header.result in (None, "*"):
        white, black = header.white.handle, header.black.handle
        winners = (read_winner(words, white, black) for words in _printed_ends(header))
        return next((winner for winner in winners if winner is not None), "*")
    printed = moves.result
    if printed is None:
        return header.result or "*"
    if header.result not in (None, printed):
        note(AnomalyKind.CONFLICT, first, f"Result is {header.result}, and the movetext ends with {printed}", printed)
        return header.result if printed == "*" and header.result is not None else printed
    return printed


def _printed_ends(header: PgnHeader) -> list[str]:
    return [value for name, value in header.kept if name in ("LongResult", "ICCResult", "Termination")]


class _Ending(NamedTuple):
    result: str
    reason_key: str | None
    reason: str | None
    termination: str
    end: GameEnd


def _end(header: PgnHeader, moves: Movetext, result: str) -> _Ending:
    """How the game ended, from its last words and its tags. Last words that give the reason are no comment."""
    key: str | None = None
    reason: str | None = None
    termination = header.termination
    if moves.last_words is not None:
        words = moves.last_words
        read = read_reason(words, header.white.handle, header.black.handle, result)
        if read.key != "unknown":
            reason = words
            if moves.events and moves.events[-1].text == words:
                moves.events.pop()
    if reason is None:
        for words in _printed_ends(header):
            if read_reason(words, header.white.handle, header.black.handle, result).key != "unknown":
                reason = words
    if reason is not None:
        read = read_reason(reason, header.white.handle, header.black.handle, result)
        key, termination = read.key, termination or read.termination
    if key is not None and key != "running":
        end = end_word(key)
    elif result != "*":
        end = GameEnd.RESULT
    else:
        end = header.end or GameEnd.LOG_ENDS
    return _Ending(result, key, reason, termination or ("unterminated" if result == "*" else ""), end)


def _keep_tenths(rows: list[PlyRow]) -> None:
    """chess.com writes tenths, but no ``.0``: where one clock of a game has them, all are exact."""
    if any(row[12] == Precision.MILLISECONDS for row in rows):
        for index, row in enumerate(rows):
            if row[12] == Precision.SECONDS:
                rows[index] = Ply._make(row)._replace(precision_code=_MS)


def _derive_times(header: PgnHeader, moves: Movetext, start_ply: int) -> None:
    _derive_clocks(header, moves, start_ply)
    if header.dialect == CHESS_COM:
        _keep_tenths(moves.rows)
    white = header.control_ms or (in_ms(header.base_s), in_ms(header.increment_s))
    black = header.control_ms or (in_ms(header.black_base_s), in_ms(header.black_increment_s))
    derive_elapsed(moves.rows, start_ply, white, black, header.dialect)


def _derive_clocks(header: PgnHeader, moves: Movetext, start_ply: int) -> None:
    """FICS charges what the archive prints, without lag; first moves are free (1,771 sides of games of it)."""
    rows = moves.rows
    if header.derived and moves.clocks:
        for place, named in enumerate(map(Ply._make, rows)):
            if named.precision_code is not None and named.clock_ms is not None:
                rows[place] = named._replace(precision_code=named.precision_code | 2)
        return
    bases = (header.base_s, header.black_base_s)
    steps = (header.increment_s, header.black_increment_s)
    if (
        header.dialect != FICS or moves.clocks or start_ply or header.variant == "bughouse"
        or None in bases or None in steps or not any((*bases, *steps))
    ):  # fmt: skip
        return
    left = [1000 * (base_s or 0) for base_s in bases]
    for place, row in enumerate(rows):
        ply, move, san, _, _, elapsed_ms, lag_ms, at_ms, flags, irreversible, proof, origin, precision, offset = row
        if elapsed_ms is None or precision is None:
            return
        black = not ply & 1
        left[black] += (0 if place < 2 else 1000 * (steps[black] or 0)) - elapsed_ms
        white_ms, black_ms = (None, left[1]) if black else (left[0], None)
        rows[place] = (
            ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, at_ms, flags, irreversible, proof, origin,
            _DERIVED_MS if precision == _MS else _DERIVED_SECONDS, offset,
        )  # fmt: skip


def _key(header: PgnHeader, tags: TagsAt, rows: list[PlyRow]) -> str:
    printed = [(name, value) for name, value, _ in tags if not name.startswith("Recorder")]
    moves = " ".join(row[2] for row in rows)
    facts = ["pgn", header.server or "", printed, moves]
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=10).hexdigest()


_MOST_TEXT: Final = 4 << 20
_SHOWN: Final = 200  # characters of text outside games
_EVENT: Final = re.compile(r'\[Event\s+"[^\n]*"\s*\]\s*')
_LIKE_TAG: Final = re.compile(r'\[[A-Za-z][A-Za-z0-9_]*\s+"')
_MATCH: Final = re.compile(r"\s*+(?>(?:(?:\{[^{}]*+\}|;[^\n]*+)\s*+)*)1[ABab]\.")
_BOARDS: Final = frozenset(("WhiteA", "BlackA", "WhiteB", "BlackB"))


class PgnReader(SavedReader):
    def __init__(self, *, server: str | None = None, chat: str = "public", offset: int = 0) -> None:
        super().__init__(server=server, chat=chat, offset=offset)
        self._tags: list[tuple[str, str, int]] = []
        self._text: list[str] = []
        self._text_offset = 0
        self._text_length = 0
        self._in_comment = False
        self._blank = False  # the line before was blank
        self._done = False  # the last line of movetext ended with a result
        self._outside: tuple[int, str] | None = None  # text outside games: offset, first line
        self._part: tuple[Game, PartOf] | None = None  # goes on in the next part

    @property
    def read_up_to(self) -> int:
        if self._part is not None:
            return self._part[0].first_offset
        if self._tags:
            return self._tags[0][2]
        if self._outside is not None:
            return self._outside[0]
        return self._text_offset if self._text else self._end

    def finish(self) -> list[Game]:
        games = super().finish() + self._close()
        self._report_outside()
        if self._part is not None:
            games.append(self._part[0])
            self._part = None
        return games

    def _line(self, raw: bytes, offset: int) -> list[Game]:
        self._end = offset + len(raw)
        self.line_count += raw.endswith(b"\n")
        line = raw.decode("latin-1")
        stripped = line.strip()
        blank, self._blank = self._blank, not stripped
        if self._in_comment:
            if not (blank and _EVENT.fullmatch(stripped)):
                return self._movetext(line, stripped, offset)
            self._in_comment = False  # the reader of tokens says so
        if not stripped:
            if self._done:
                return self._close()
            if self._text:
                self._text.append(line)
                self._text_length += len(line)
            return []
        if stripped[0] == "[":
            pairs = read_tags(stripped)
            if pairs is not None:
                if self._tags and not blank and all(one[0] == ";" for one in self._text):
                    self._report_among_tags()
                games = self._close() if self._text or self._is_next(pairs[0][0], blank) else []
                at = offset + line.index("[")
                if not self._tags:
                    self._report_outside()
                self._tags += [(name, value, at) for name, value in pairs]
                return games
            if (self._tags or _LIKE_TAG.match(stripped)) and not self._text:
                message = "a tag pair that cannot be read"
                self.anomalies.append(Anomaly.of(AnomalyKind.MALFORMED, offset, None, message, stripped))
                return []
        escaped = line[0] == "%" and not self._text
        if escaped and self._tags:
            self.anomalies.append(
                Anomaly.of(AnomalyKind.MALFORMED, offset, None, "an escape line among tags", stripped)
            )
            return []
        if escaped or not (self._text or self._tags or stripped[0] in "{;" or begins_moves(line) or _MATCH.match(line)):
            if self._outside is None:
                self._outside = offset, stripped
            return []
        return self._movetext(line, stripped, offset)

    def _is_next(self, name: str, blank: bool) -> bool:
        """Whether a tag begins another section though the one before has no moves."""
        return (blank or name == "Event") and any(name == before for before, _, _ in self._tags)

    def _report_outside(self) -> None:
        if self._outside is not None:
            offset, line = self._outside
            self._report_text("text outside games", line, 0, offset)
            self._outside = None

    def _report_among_tags(self) -> None:
        """Note comments between two tags, which belong to no move."""
        if self._text:
            self._report_text("a comment among tags", "".join(self._text), 0, self._text_offset)
            self._text, self._text_length = [], 0

    def _report_text(self, message: str, text: str, begin: int, offset: int) -> None:
        """Note text that belongs to no game; ``offset`` is that of ``text[0]``."""
        shown = text[begin : begin + _SHOWN].strip()
        at = offset + begin + text[begin : begin + _SHOWN].index(shown)
        self.anomalies.append(Anomaly.of(AnomalyKind.MALFORMED, at, None, f"{message}: '{decoded(shown)}'", shown))

    def _movetext(self, line: str, stripped: str, offset: int) -> list[Game]:
        if not self._text:
            self._text_offset = offset
            if not self._tags:
                self._report_outside()
        self._text.append(line)
        self._text_length += len(line)
        if line[0] != "%" or self._in_comment:
            self._in_comment = open_brace(line, self._in_comment)
        self._done = not self._in_comment and ends_game(stripped)
        if self._text_length > _MOST_TEXT:
            message = f"movetext of more than {_MOST_TEXT:,} characters is cut here"
            self.anomalies.append(Anomaly.of(AnomalyKind.LONG_LINE, offset, None, message, line))
            return self._close()
        return []

    def _close(self) -> list[Game]:
        """Read what was gathered: one game, or several that have no tags between them."""
        tags, text, offset = self._tags, "".join(self._text), self._text_offset
        self._tags, self._text, self._text_length = [], [], 0
        self._in_comment = self._done = False
        games: list[Game] = []
        begin = 0
        while tags or text[begin:].strip():
            if not text:
                offset = tags[-1][2]
            if _MATCH.match(text, begin) or (tags and _of_two_boards(tags)):
                at = tags[0][2] if tags else offset + begin
                message = "a bughouse match in a file of chess games: --kind bpgn reads both"
                self.anomalies.append(Anomaly.of(AnomalyKind.MALFORMED, at, None, message, text[begin:].strip()))
                break
            if not tags and begin and not begins_moves(text[begin:].lstrip()):
                self._report_text("text behind the result", text, begin, offset)
                break
            before = begin
            try:
                game, anomalies, begin, part = read_game(
                    tags, text, begin, offset, server=self._server, comments=self._comments
                )
            except Exception as error:  # a bug: the game is counted, the others follow
                self.failures.note(error, tags[0][2] if tags else offset + begin, None, text[begin:].strip())
                break
            self.anomalies += anomalies
            if game is None:
                self._report_text("text outside games", text, before, offset)
            else:
                games += self._joined(game, part)
            tags = []
        return games

    def _joined(self, game: Game, part: PartOf | None) -> list[Game]:
        waiting, self._part = self._part, None
        games: list[Game] = []
        if waiting is not None:
            before, its_part = waiting
            whole = _join_parts(before, game) if part is not None and part.continues(its_part) else None
            if whole is None:
                games.append(before)
            else:
                game = whole
        if part is not None and part.goes_on:
            self._part = game, part
            return games
        return [*games, game]


def _join_parts(first: Game, second: Game) -> Game | None:
    """Join two parts of one game to one observation with a gap; None: it is unknown where the second part begins."""
    earlier, later = first.observations[0], second.observations[0]
    before = earlier.lines[0].rows
    if second.start_fen is None or (before and second.start_ply < before[-1][0]):
        return None
    rows = [*before, *later.lines[0].rows]
    shift = len(earlier.lines) - 1
    lines = [PlyLine(0, earlier.lines[0].kind, None, None, rows), *earlier.lines[1:]]
    lines += [
        replace(line, number=line.number + shift, parent=line.parent + shift if line.parent else line.parent)
        for line in later.lines[1:]
    ]
    anchors = [*earlier.anchors, Anchor(0, second.start_ply, second.start_fen, AnchorReason.GAP, later.offset)]
    anchors += [
        anchor._replace(line=anchor.line + shift if anchor.line else 0)
        for anchor in later.anchors
        if anchor.reason is not AnchorReason.START
    ]
    thinking = [*earlier.thinking, *later.thinking]
    joined = replace(
        earlier,
        end_offset=later.end_offset,
        lines=lines,
        anchors=anchors,
        events=_joined_events(earlier, later, shift),
        thinking=[thought._replace(seq=seq) for seq, thought in enumerate(thinking)],
    )
    return replace(
        first,
        key=hashlib.blake2b(json.dumps([first.key, second.key]).encode(), digest_size=10).hexdigest(),
        result=second.result,
        reason=second.reason,
        reason_key=second.reason_key,
        termination=second.termination,
        end=second.end,
        complete=False,
        observations=[joined],
        segments=runs_of(row[0] for row in rows),
        last_offset=later.end_offset,
    )


def _joined_events(observation: Observation, other: Observation, shift: int) -> list[GameEvent]:
    """The events of both parts, without the tags that both have and our own remarks."""
    events = observation.events
    if events and events[-1].text == MOVES_MISSING:
        events = events[:-1]
    more = [event for event in other.events if event.kind is not EventKind.TAG]
    more = [event._replace(value=event.value + shift if event.value else event.value) for event in more]
    return [event._replace(seq=seq) for seq, event in enumerate([*events, *more])]


def _of_two_boards(tags: list[tuple[str, str, int]]) -> bool:
    """Whether the tags name the players of bughouse's boards and none of a game of chess."""
    names = {name for name, _, _ in tags}
    return not names.isdisjoint(_BOARDS) and names.isdisjoint(("White", "Black"))
