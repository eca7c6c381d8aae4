"""The recorded servers' transcripts through the whole product: against the truth, the raw frames and golden files."""

import hashlib
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporters.evaluations import score_text, thoughts_by_ply
from recorder.model import Game, GameKind, LineKind, Proof, SourceReport
from tests import score
from tests.support import corpus, frames, product
from tests.support.corpus import Stream
from tests.support.effort import examples

GOLDEN = Path(__file__).parent / "corpus" / "golden"


@cache
def _found(stream: Stream) -> tuple[list[Game], SourceReport]:
    return product.run([corpus.stream_bytes(stream.scenario, stream.connection)], stream.kind)


def _scores(scenario: str) -> list[score.StreamScore]:
    return [score.score_stream(stream, lambda asked, _: _found(asked)[0]) for stream in corpus.streams(scenario)]


@pytest.mark.parametrize("scenario", corpus.scenarios())
def test_games_are_what_was_played(scenario: str) -> None:
    for scored in _scores(scenario):
        faults = [
            (finding.status, finding.what, finding.problems)
            for finding in scored.findings
            if finding.invented_plies
            or finding.clock_differences
            or finding.fact_differences
            or finding.holdings_differences
            or finding.board_differences
            or finding.status in ("false", "wrong", "missing", "cut short")
        ]
        assert not faults, (scored.connection, faults)


@pytest.mark.parametrize("scenario", corpus.scenarios())
def test_every_mark_has_one_disposition(scenario: str) -> None:
    for stream in corpus.streams(scenario):
        reading = frames.read(corpus.stream_bytes(stream.scenario, stream.connection), stream.kind)
        report = _found(stream)[1]
        assert sum(report.frames.values()) == reading.frame_count, stream
        assert sum(report.holdings.values()) == reading.holdings_count, stream


SMALL = [
    ("a08_wrap_prompt_style", "observer_GuestObsM"),
    ("a09_ivariables", "observer_GuestBlk"),
    ("a09_ivariables", "observer_GuestIvc"),
    ("a11_adjourn_disconnect", "player_Carlsen"),
    ("b05_examine_bsetup", "observer_GuestXl"),
    ("c06_bughouse", "observer_GuestXp"),
    ("x02_xboard_observes_b", "xboard_observer"),
]


def _stream(scenario: str, connection: str) -> Stream:
    return next(stream for stream in corpus.streams(scenario) if stream.connection == connection)


@pytest.mark.parametrize("name", SMALL[1:2])
def test_byte_by_byte_changes_nothing(name: tuple[str, str]) -> None:
    stream = _stream(*name)
    data = corpus.stream_bytes(*name)
    assert product.run((bytes([byte]) for byte in data), stream.kind) == _found(stream)


@pytest.mark.parametrize("name", SMALL)
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data())
def test_cuts_change_nothing(name: tuple[str, str], draw: st.DataObject) -> None:
    stream = _stream(*name)
    data = corpus.stream_bytes(*name)
    cuts = sorted(draw.draw(st.sets(st.integers(0, len(data)), max_size=60)))
    blocks = [data[low:high] for low, high in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert product.run(blocks, stream.kind) == _found(stream)


def test_the_sockets_own_chunks_change_nothing() -> None:
    stream = _stream("a06_chatter_takebacks", "observer_Euwe")
    chunks = corpus.stream_chunks(stream.scenario, stream.connection)
    assert product.run((data for _, data in chunks), stream.kind) == _found(stream)


@pytest.mark.parametrize("scenario", corpus.scenarios())
def test_golden(scenario: str, pytestconfig: pytest.Config) -> None:
    """Everything that games and reports say, condensed; ``pytest --update-golden`` writes the files."""
    rows = [row for stream in corpus.streams(scenario) for row in _summary(stream)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path = GOLDEN / f"{scenario}.jsonl"
    if pytestconfig.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()


def _summary(stream: Stream) -> list[dict[str, Any]]:
    games, report = _found(stream)
    counts = {
        "frames": {disposition.value: count for disposition, count in sorted(report.frames.items(), key=_value)},
        "holdings": {disposition.value: count for disposition, count in sorted(report.holdings.items(), key=_value)},
        "anomalies": dict(sorted(Counter(anomaly.kind.value for anomaly in report.anomalies).items())),
    }
    head = {"stream": stream.connection, "dialect": report.dialect, "me": report.me, **counts}
    return [head, *(_game_summary(game) for game in games)]


def _value(item: tuple[Any, int]) -> str:
    return str(item[0].value)


def _game_summary(game: Game) -> dict[str, Any]:
    plies = game.plies
    facts = "\n".join(
        f"{p.ply} {p.uci} {p.san} {p.white_clock_ms} {p.black_clock_ms} {p.elapsed_ms} {p.lag_ms} {p.flags} "
        f"{p.irreversible} {p.proof} {p.origin} {p.precision} {p.offset}"
        for p in plies
    )
    return {
        "game": f"{game.game_no} {game.white.handle}-{game.black.handle}",
        "key": game.key,
        "kind": game.kind.value,
        "category": game.category,
        "variant": game.variant,
        "rated": game.rated,
        "start": [game.start_ply, game.start_fen],
        "plies": len(plies),
        "facts": hashlib.sha256(facts.encode()).hexdigest()[:12],
        "proof": {Proof(proof).name.lower(): count for proof, count in sorted(Counter(p.proof for p in plies).items())},
        "result": [game.result, game.reason_key, game.termination, game.end],
        "complete": game.complete,
        "takebacks": [
            [line.parent_ply, " ".join(ply.san for ply in line.plies)]
            for seen in game.observations
            for line in seen.lines
            if line.kind is LineKind.TAKEBACK
        ],
        **_tree(game),
        "events": dict(sorted(Counter(event.kind.value for event in game.events).items())),
        "observations": [seen.kind.value for seen in game.observations],
        **_thinking(game),
    }


def _thinking(game: Game) -> dict[str, Any]:
    """How many lines of thinking there are, and of each move the one that led to it."""
    lines = sum(len(seen.thinking) for seen in game.observations)
    if not lines:
        return {}
    return {
        "thinking": lines,
        "thoughts": [
            f"{ply} {score_text(thought)}/{thought.depth} {thought.time_ms} {thought.nodes} {thought.pv.split()[0]}"
            for ply, thoughts in sorted(thoughts_by_ply(game).items())
            for thought in thoughts
        ],
    }


def _tree(game: Game) -> dict[str, Any]:
    """The lines of an examined game and the order in which its boards were shown, as line/ply."""
    if game.kind is GameKind.PLAYED:
        return {}
    return {
        "tree": [
            [
                [line.number, line.parent, line.parent_ply, " ".join(ply.san for ply in line.plies)]
                for line in seen.lines
            ]
            for seen in game.observations
        ],
        "shown": [
            " ".join(f"{event.value}/{event.ply}" for event in seen.events if event.detail == "shown")
            for seen in game.observations
        ],
    }
