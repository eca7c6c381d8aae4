"""mekk.fics (PyPI) as a reader of conformance cases; the results are in docs/protocol/results.md.

It is a library for FICS alone. Lines go through its ``FicsTextProcessor``, as its client does with them. What it raises
about a line rejects this line. Its clocks are seconds, as its documentation says.
"""

import base64
import json
import logging
import sys
from importlib.metadata import version

from mekk.fics.parsing.fics_parser import FicsTextProcessor

BOARD_FIELDS = (
    "ranks turn push_file castling irreversible game white black relation initial_min increment_s white_material "
    "black_material white_clock_ms black_clock_ms move_number ply verbose elapsed_ms pretty flip ticking lag_ms"
)
READS = {
    "boards": BOARD_FIELDS,
    "results": "game white black result reason",
    "created": "game white black rated category",
    "headers": "game white black rated category initial_min increment_s",
    "deltas": "game ply san smith elapsed_ms clock_ms",
    "game_infos": "game private rated category",
    "chat": "kind speaker game channel text",
}
TALK = {"tell": "tell", "shout": "shout", "cshout": "shout", "it_shout": "shout", "announcement": "announcement"}


def board(frame):
    """The fields of a board; the ranks and the rights are public in the text that it writes."""
    words = str(frame).split()
    return {
        "ranks": words[1:9],
        "turn": frame.side_to_move,
        "push_file": int(words[10]),
        "castling": "".join(words[11:15]),
        "irreversible": frame.reversible_plies_count,
        "game": frame.game_no,
        "white": frame.white.name,
        "black": frame.black.name,
        "relation": frame.observer_role,
        "initial_min": frame.clock.base_min,
        "increment_s": frame.clock.inc_sec,
        "white_material": frame.white_material,
        "black_material": frame.black_material,
        "white_clock_ms": frame.white_remaining_time * 1000,
        "black_clock_ms": frame.black_remaining_time * 1000,
        "move_number": frame.next_move_no,
        "ply": frame.last_ply_no,
        "verbose": frame.last_move_coord_text,
        "elapsed_ms": frame.last_move_time_spent * 1000,
        "pretty": frame.last_move_text,
        "flip": frame.board_flipped,
        "ticking": frame.is_clock_ticking,
        "lag_ms": frame.last_move_lag,
    }


def fact(kind, event):
    """The kind and the fields of an event; None: no fact of the specification."""
    if kind == "game_move":
        return "boards", board(event.style12)
    if kind in ("game_started", "game_started_ext", "game_finished"):
        fields = {"game": event.game_no, "white": event.white_name.name, "black": event.black_name.name}
        if kind == "game_finished":
            return "results", fields | {"result": event.result, "reason": event.result_desc}
        spec = event.game_spec
        fields |= {"rated": spec.is_rated, "category": spec.game_type.name}
        if kind == "game_started":
            return "created", fields
        return "headers", fields | {"initial_min": spec.clock.base_min, "increment_s": spec.clock.inc_sec}
    if kind == "compressed_move":
        elapsed_ms, clock_ms = (round(time.total_seconds() * 1000) for time in (event.time_taken, event.time_left))
        move = {"game": event.game_no, "ply": event.half_moves_count, "san": event.algebraic, "smith": event.smith}
        return "deltas", move | {"elapsed_ms": elapsed_ms, "clock_ms": clock_ms}
    if kind == "game_joined":
        spec = event.game_spec
        fields = {"game": event.game_no, "private": spec.is_private, "rated": spec.is_rated}
        return "game_infos", fields | {"category": spec.game_type.name}
    if kind == "qtell":
        return "chat", {"kind": "qtell", "text": event}
    if kind == "channel_tell":
        speaker = {"kind": "channel", "speaker": event.player.name, "channel": str(event.channel)}
        return "chat", speaker | {"text": event.text}
    if kind == "game_kibitz":
        spoken = {"kind": "whisper" if event.is_whisper() else "kibitz", "speaker": event.player.name}
        return "chat", spoken | {"game": event.game_no, "text": event.text}
    if kind in TALK:
        return "chat", {"kind": TALK[kind], "speaker": event.player.name, "text": event.text}
    return None


def read(data):
    """All facts of a stream, by kind."""
    facts = {kind: [] for kind in READS}

    def note(kind, event):
        found = fact(kind, event)
        if found is not None:
            facts[found[0]].append(found[1])

    processor = FicsTextProcessor(note, lambda *reply: None, "case")
    for line in data.decode("latin-1").split("\n"):
        try:
            processor.consume_input_line(line.strip("\r"))
        except Exception as error:
            print(f"line rejected: {error!r}", file=sys.stderr)
    return facts


logging.disable(logging.CRITICAL)
reads = [f"{kind}.{field}" for kind, fields in READS.items() for field in fields.split()]
print(json.dumps({"program": f"mekk.fics {version('mekk.fics')}", "reads": reads, "servers": ["fics"]}), flush=True)
for request in map(json.loads, sys.stdin):
    print(json.dumps({"id": request["id"], **read(base64.b64decode(request["input"]))}), flush=True)
