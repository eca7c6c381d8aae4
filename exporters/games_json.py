"""One JSON object a game, one game a line. The field names are frozen; docs/reference/formats.md lists them."""

from __future__ import annotations

import json
from typing import Any

from exporters.base import ExportReport, GameExporter
from exporters.holdings import BothHoldings, holdings_after, holdings_lines, plies_with_holdings
from exporters.pgn.annotations import unique_lines
from recorder.model import Game, LineKind, ObservationKind, Origin, Ply, Precision, Proof, TimeBasis
from recorder.text import named
from recorder.times import iso, iso_start

PROOFS = {proof.value: proof.name.lower() for proof in Proof}
ORIGINS = {origin.value: origin.name.lower() for origin in Origin}
PRECISIONS = {None: None} | {precision.value: precision.name.lower() for precision in Precision}

_PLAYER = named("handle rating titles")
_EVIDENCE = named("kind text")
_CORRECTION = named("field value recorded")
_LINK = named("kind key evidence")
_EVENT = named("ply kind detail actor value text white_clock_ms black_clock_ms")
_POSITION = named("line ply fen reason")
_SCORE = "depth score_cp mate time_ms nodes selective_depth nodes_per_s tablebase_hits pv"
_SCORED = named(f"ply {_SCORE}")
_THOUGHT = named(f"ply engine white {_SCORE}")

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class GamesJsonExporter(GameExporter):
    suffix = ".jsonl"
    key_mark = '{"key":"'

    def __init__(self) -> None:
        self.report = ExportReport()

    def game_text(self, game: Game) -> str:
        fields = game_object(game)
        self.report.games += 1
        self.report.plies += len(fields["plies"])
        return _encode(fields) + "\n"


def game_object(game: Game) -> dict[str, Any]:
    """Every field is present, null if it is unknown; times in milliseconds, instants in ISO 8601."""
    basis, day = game.time_basis, game.day
    return {
        "key": game.key,
        "kind": game.kind.value,
        "server": game.server,
        "server_game_no": game.game_no,
        "white": _PLAYER(game.white),
        "black": _PLAYER(game.black),
        "rated": game.rated,
        "variant": game.variant,
        "base_s": game.base_s,
        "increment_s": game.increment_s,
        "start_fen": game.start_fen,
        "result": game.result,
        "reason": game.reason,
        "termination": game.termination or None,
        "started_at": iso_start(game),
        "start_precision": None if game.start_precision is None else game.start_precision.value,
        "day": None if day is None else str(day),
        "ended_at": iso(game.ended_at_ms, basis),
        "complete": game.complete,
        **opening_object(game),
        "plies": [ply_object(ply, basis, holdings) for ply, holdings in plies_with_holdings(game)],
        "lines": _lines(game),
        "events": _events(game),
        "passes": _passes(game),
        "sources": _sources(game),
        "witnesses": game.merged_from,
        "evidence": list(map(_EVIDENCE, game.evidence)),
        "corrections": [
            _CORRECTION(fix) | {"decided_at": iso(fix.decided_ms, TimeBasis.UTC)} for fix in game.corrections
        ],
        "links": list(map(_LINK, game.links)),
        "thinking": _thinking(game),
        "analyses": _analyses(game),
    }


def opening_object(game: Game) -> dict[str, Any]:
    eco, name, ply = game.opening or (None, None, None)
    return {"eco": eco, "opening": name, "opening_ply": ply}


def _lines(game: Game) -> list[dict[str, Any]]:
    """Each once, even if several sources contain it."""
    basis = game.time_basis
    main = {segment.observation for segment in game.segments} or {0}
    unique = unique_lines(game)
    return [
        {
            "source": number,
            "number": line.number,
            "kind": line.kind.value,
            "parent": line.parent,
            "parent_ply": line.parent_ply,
            "plies": [ply_object(ply, basis, holdings_after(ply, holdings)) for ply in line.plies],
        }
        for number, (seen, holdings) in enumerate((seen, holdings_lines(seen)) for seen in game.observations)
        for line in seen.lines
        if (line.kind is not LineKind.MAIN or (seen.kind is ObservationKind.EXAMINED and number not in main))
        and (number, line.number) in unique
    ]


def _events(game: Game) -> list[dict[str, Any]]:
    basis = game.time_basis
    return [_EVENT(event) | {"at": iso(event.at_ms, basis), "offset": event.offset} for event in game.events]


def _passes(game: Game) -> list[dict[str, Any]]:
    basis = game.time_basis
    return [
        {
            "source": number,
            "ply": change.ply,
            "to": "white" if change.passed[0] == "W" else "black",
            "piece": change.passed[1],
            "at": iso(change.at_ms, basis),
            "offset": change.offset,
        }
        for number, observation in enumerate(game.observations)
        for change in observation.holdings
        if change.passed is not None
    ]


def _sources(game: Game) -> list[dict[str, Any]]:
    basis = game.time_basis
    return [
        {
            "name": None if observation.source is None else observation.source.name,
            "sha256": None if observation.source is None else observation.source.sha256,
            "kind": observation.kind.value,
            "relation": observation.relation,
            "started_at": iso(observation.started_at_ms, basis),
            "ended_at": iso(observation.ended_at_ms, basis),
            "offset": observation.offset,
            "end_offset": observation.end_offset,
            "positions": list(map(_POSITION, observation.anchors)),
            "plies": [[segment.from_ply, segment.to_ply] for segment in game.segments if segment.observation == number],
        }
        for number, observation in enumerate(game.observations)
    ]


def _thinking(game: Game) -> list[dict[str, Any]]:
    basis = game.time_basis
    return [
        _THOUGHT(thought) | {"at": iso(thought.at_ms, basis), "offset": thought.offset}
        for observation in game.observations
        for thought in observation.thinking
    ]


def _analyses(game: Game) -> list[dict[str, Any]]:
    return [
        {
            "engine": analysis.engine,
            "protocol": analysis.protocol,
            "settings": json.loads(analysis.settings),
            "begun_at": iso(analysis.begun_ms, TimeBasis.UTC),
            "lines": list(map(_SCORED, analysis.lines)),
        }
        for analysis in game.analyses
    ]


def ply_object(ply: Ply, basis: TimeBasis, holdings: BothHoldings) -> dict[str, Any]:
    return {
        "ply": ply.ply,
        "san": ply.san,
        "uci": ply.uci,
        "white_clock_ms": ply.white_clock_ms,
        "black_clock_ms": ply.black_clock_ms,
        "elapsed_ms": ply.elapsed_ms,
        "elapsed_origin": ply.elapsed_origin,
        "lag_ms": ply.lag_ms,
        "at": iso(ply.at_ms, basis),
        "precision": PRECISIONS[ply.precision_code],
        "proof": PROOFS[ply.proof_code],
        "origin": ORIGINS[ply.origin_code],
        "white_holdings": holdings[0],
        "black_holdings": holdings[1],
    }
