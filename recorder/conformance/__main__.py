"""The recorder's own reader as a program that answers conformance cases: ``python -m recorder.conformance``."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from recorder.conformance.runner import Facts
from recorder.dialects.icc.units import DATAGRAM_TAG, parse_fields
from recorder.dialects.recogniser import Recogniser
from recorder.dialects.style12 import FRAME_TAG, check_frame
from recorder.events import (
    ChatLine,
    Chunk,
    CreatingLine,
    DeltaBoard,
    Event,
    ExamineNotice,
    GameCreated,
    GameEnded,
    GameHeader,
    GameInfo,
    GameNotice,
    GameNotified,
    HoldingsLine,
    Line,
    Malformed,
    MovelistRead,
    ObservingEnded,
    ObservingStarted,
    SessionNotice,
)
from recorder.events.frames import Style12
from recorder.model import Game, LineKind, SourceKind
from recorder.pipeline import Pipeline
from recorder.sources.client_logs import XboardDecoder
from recorder.text import named
from recorder.wire.lines import LineReader
from recorder.wire.prompts import PromptStripper
from recorder.wire.timeseal import unseal


def _program() -> str:
    try:
        return f"own reader {version('ics-recorder')}"
    except PackageNotFoundError:
        return "own reader"


PROGRAM: Final = _program()


def read_facts(pieces: Sequence[bytes], wanted: Collection[str]) -> Facts:
    facts: Facts = {kind: [] for kind in wanted}
    if "games" in facts:
        facts["games"] = [_game(game) for game in _read_games(pieces, SourceKind.RAW)]
    if "pychess_games" in facts:
        facts["pychess_games"] = [_game(game) for game in _read_games(pieces, SourceKind.PYCHESS)]
    if "xboard_lines" in facts:
        pairs = _read_lines(_xboard_chunks(pieces))
        facts["xboard_lines"] = [fact for kind, fact in pairs if kind == "lines"]
    if "sealed" in facts:
        facts["sealed"] = list(_unsealed(b"".join(pieces)))
    if not facts.keys() <= {"games", "pychess_games", "sealed", "xboard_lines"}:
        for kind, fact in _read_lines(_chunks(pieces)):
            if kind in facts:
                facts[kind].append(fact)
    return facts


def _read_games(pieces: Iterable[bytes], source: SourceKind) -> list[Game]:
    pipeline = Pipeline(source, chat="all")
    games = [game for piece in pieces for game in pipeline.receive(piece)]
    return sorted(games + pipeline.finish(), key=lambda game: game.first_offset)


def _unsealed(data: bytes) -> Iterable[dict[str, Any]]:
    for line in data.split(b"\n"):
        opened = unseal(line)
        if opened is not None:
            yield {"text": opened[0].decode("latin-1"), "stamp_ms": opened[1]}


def _chunks(pieces: Iterable[bytes]) -> Iterable[Chunk]:
    offset = 0
    for piece in pieces:
        yield Chunk(piece, offset)
        offset += len(piece)


def _xboard_chunks(pieces: Iterable[bytes]) -> Iterable[Chunk]:
    decoder = XboardDecoder()
    parts = [part for piece in pieces for part in decoder.receive(piece)] + decoder.finish()
    return [part for part in parts if isinstance(part, Chunk)]


def _read_lines(chunks: Iterable[Chunk]) -> Iterable[tuple[str, dict[str, Any]]]:
    reader, prompts = LineReader(), PromptStripper()
    recogniser = Recogniser(prompts)

    def understood(lines: list[Line]) -> Iterable[tuple[str, dict[str, Any]]]:
        for line in lines:
            text = prompts.strip(line.text)[0]
            if text and not text.isspace():
                block = line.block
                numbers = {} if block is None else {"command": block.command_id, "code": block.code}
                yield "lines", {"text": text, **numbers}
            for event in recogniser.feed([line]):
                yield from _facts(event)

    for chunk in chunks:
        yield from understood(reader.receive(chunk))
    yield from understood(reader.finish())
    for event in recogniser.finish():
        yield from _facts(event)


def _facts(event: Event) -> Iterable[tuple[str, dict[str, Any]]]:
    if isinstance(event, Style12) and check_frame(event) is not None:
        yield "rejected", {"tag": FRAME_TAG}  # no board before it proves it, so its own fields decide
        return
    line = getattr(event, "line", None)
    if line is not None and line.text.startswith(DATAGRAM_TAG) and not isinstance(event, Malformed):
        number, fields = parse_fields(line.text)
        yield "datagrams", {"number": number, "fields": fields}
    elif (reading := _FACTS.get(type(event))) is not None:
        kind, fields_of = reading
        yield kind, fields_of(event)


def _board(frame: Style12) -> dict[str, Any]:
    return {
        "ranks": frame.board.split(" "),
        "turn": "W" if frame.white_to_move else "B",
        "push_file": frame.push_file,
        "castling": "".join("01"[frame.castling >> bit & 1] for bit in range(4)),
        "irreversible": frame.irreversible,
        "game": frame.game_no,
        "white": frame.white,
        "black": frame.black,
        "relation": frame.relation,
        "initial_min": frame.base_min,
        "increment_s": frame.increment_s,
        "white_material": frame.white_material,
        "black_material": frame.black_material,
        "white_clock_ms": frame.white_clock_ms,
        "black_clock_ms": frame.black_clock_ms,
        "move_number": frame.move_no,
        "ply": frame.ply,
        "verbose": frame.verbose if frame.has_move else None,
        "elapsed_ms": frame.elapsed_ms,
        "pretty": frame.pretty if frame.has_move else None,
        "flip": frame.flip,
        "ticking": frame.ticking,
        "lag_ms": frame.lag_ms,
        "partial": frame.partial,
    }


def _holdings(event: HoldingsLine) -> dict[str, Any]:
    to = None if event.passed_to_white is None else "W" if event.passed_to_white else "B"
    order = "PNBRQ".find
    return {
        "game": event.game_no,
        "white": "".join(sorted(event.white, key=order)),
        "black": "".join(sorted(event.black, key=order)),
        "received": event.passed,
        "receiver": to,
    }


_DELTA: Final = named("game=game_no ply san smith elapsed_ms clock_ms lag_ms")
_GAME_INFO: Final = named(
    "game=game_no private category rated white_registered black_registered white_initial_s=white_base_s"
    " white_increment_s black_initial_s=black_base_s black_increment_s partner_game=partner_game_no white_rating"
    " black_rating white_sealed black_sealed"
)
_CREATED: Final = named("game=game_no white black rated category continued simul")
_CREATING: Final = named(
    "first first_rating=first_rating.text second second_rating=second_rating.text first_is_white rated category"
    " initial_min=base_min increment_s adjourned"
)
_HEADER: Final = named(
    "game=game_no white white_rating=white_rating.text black black_rating=black_rating.text rated category"
    " initial_min=base_min increment_s"
)
_RESULT: Final = named("game=game_no white black result reason key=reason_key named=actor")
_NOTICE: Final = named("kind game=game_no player=actor value")
_CHAT: Final = named("kind speaker game=game_no channel text")
_SESSION: Final = named("kind value")
_REJECTED: Final = named("tag")


def _observing(event: ObservingStarted | ObservingEnded) -> dict[str, Any]:
    return {"game": event.game_no, "begins": isinstance(event, ObservingStarted)}


def _move_list(event: MovelistRead) -> dict[str, Any]:
    start = event.start_frame
    return {
        "game": event.game_no,
        "white": event.white,
        "white_rating": event.white_rating and event.white_rating.text,
        "black": event.black,
        "black_rating": event.black_rating and event.black_rating.text,
        "date": event.started,
        "rated": event.rated,
        "category": event.category,
        "initial_min": event.base_min,
        "increment_s": event.increment_s,
        "black_initial_min": event.black_base_min,
        "black_increment_s": event.black_increment_s,
        "start": None if start is None else start.board.split(" "),
        "moves": [{"ply": row.ply, "san": row.san, "elapsed_ms": row.elapsed_ms} for row in event.rows],
        "result": event.result,
        "reason": event.reason,
        "in_progress": event.still_running,
        "complete": event.complete,
    }


def _game(game: Game) -> dict[str, Any]:
    taken_back = [
        [ply.san for ply in line.plies]
        for observation in game.observations
        for line in observation.lines
        if line.kind is LineKind.TAKEBACK
    ]
    return {
        "game": game.game_no,
        "kind": game.kind.value,
        "white": game.white.handle,
        "black": game.black.handle,
        "variant": game.variant,
        "first_ply": game.plies[0].ply if game.plies else None,
        "moves": [ply.san for ply in game.plies],
        "elapsed_ms": [ply.elapsed_ms for ply in game.plies],
        "clocks_ms": [ply.clock_ms for ply in game.plies],
        "taken_back": taken_back,
        "result": game.result,
        "key": game.reason_key,
        "partner_game": game.partner_game_no,
    }


_FACTS: Final[dict[type, tuple[str, Callable[[Any], dict[str, Any]]]]] = {
    Style12: ("boards", _board),
    HoldingsLine: ("holdings", _holdings),
    DeltaBoard: ("deltas", _DELTA),
    GameInfo: ("game_infos", _GAME_INFO),
    GameCreated: ("created", _CREATED),
    CreatingLine: ("creating", _CREATING),
    GameHeader: ("headers", _HEADER),
    GameNotified: ("headers", _HEADER),
    ObservingStarted: ("observing", _observing),
    ObservingEnded: ("observing", _observing),
    GameEnded: ("results", _RESULT),
    MovelistRead: ("move_lists", _move_list),
    GameNotice: ("notices", _NOTICE),
    ExamineNotice: ("examine", _NOTICE),
    ChatLine: ("chat", _CHAT),
    SessionNotice: ("session", _SESSION),
    Malformed: ("rejected", _REJECTED),
}
"""Events → the kind of fact that they are, and what makes its fields."""

KINDS: Final = frozenset(
    {kind for kind, _ in _FACTS.values()} | {"datagrams", "games", "lines", "pychess_games", "sealed", "xboard_lines"}
)
"""Kinds of facts that this reader finds."""


def main() -> None:
    """Print the greeting, then answer each line of standard input until it ends."""
    print(json.dumps({"program": PROGRAM, "reads": sorted(KINDS)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        facts = read_facts([base64.b64decode(request["input"])], request["wanted"])
        print(json.dumps({"id": request["id"], **facts}), flush=True)


if __name__ == "__main__":
    main()
