"""Read, written and read again: the same game but for what a style cannot say, which is counted."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from exporters.pgn import PgnExporter, PgnOptions
from recorder.model import EventKind, Game, Precision
from recorder.pipeline import make_pipeline
from recorder.sources import SourceKind

CORPUS = Path(__file__).parent.parent / "corpus"
FILES = sorted([*(CORPUS / "pgn").glob("*.pgn"), *(CORPUS / "ficsgames").glob("*.pgn")])
ARCHIVE = [path for path in FILES if path.parent.name == "ficsgames" or path.name.startswith("ficsgames-2009")]


def read(data: bytes) -> list[Game]:
    pipeline = make_pipeline(SourceKind.PGN)
    return pipeline.receive(data) + pipeline.finish()


def written(games: list[Game], **options: Any) -> tuple[bytes, Counter[str]]:
    out = io.BytesIO()
    report = PgnExporter(PgnOptions(**options)).write(games, out)
    return out.getvalue(), +report.left_out


def facts(game: Game) -> dict[str, Any]:
    return {
        "players": (game.white, game.black),
        "server": (game.server, game.dialect, game.rated, game.category, game.variant),
        "times": (game.base_s, game.increment_s, game.base_inferred, game.started_at_ms, game.time_basis, game.day),
        "end": (game.result, game.reason, game.reason_key, game.end, game.termination, game.complete),
        "start": (game.start_fen, game.start_ply),
        "plies": [(*ply[:2], *ply[3:6], ply.proof, ply.precision) for ply in game.plies],
        "said": [(event.detail, event.ply, event.value, event.text) for event in game.events if event.kind is
                 EventKind.CHAT],
        "lines": [(line.kind, line.parent, line.parent_ply, [ply.move for ply in line.plies])
                  for line in game.observations[0].lines],
    }  # fmt: skip


def tags(game: Game) -> dict[str, str]:
    return {event.detail: event.text for event in game.events if event.kind is EventKind.TAG}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_our_style_keeps_all(path: Path) -> None:
    games = read(path.read_bytes())
    text, lost = written(games)
    again = read(text)
    assert [facts(game) for game in again] == [facts(game) for game in games]
    for before, after in zip(games, again, strict=True):
        kept = {name: value for name, value in tags(before).items() if name not in ("TimeControl", "Date")}
        assert kept.items() <= tags(after).items()
    assert not lost
    assert written(again)[0].count(b"\n") == text.count(b"\n")


@pytest.mark.parametrize("path", ARCHIVE, ids=lambda path: path.name)
def test_the_archive_comes_back_as_it_was(path: Path) -> None:
    """Movetext byte by byte, but for the check that the archive leaves out; and its tags, but for Site and Variant."""
    data = path.read_bytes()
    games = read(data)
    text, lost = written(games, style="fics")
    assert not lost

    def movetext(of: bytes) -> list[str]:
        lines = [line.strip() for line in of.decode().splitlines()]
        return [line.replace("+", "").replace("#", "") for line in lines if line and line[0] != "["]

    def pairs(of: bytes) -> list[str]:
        lines = of.decode().splitlines()
        return [line for line in lines if line.startswith("[") and not line.startswith(("[Site", "[Variant"))]

    longer = "Qf6f7"  # the archive's, where the rank alone would tell
    assert movetext(text) == [line.replace(longer, "Q6f7") for line in movetext(data)]
    assert sorted(pairs(text)) == sorted(pairs(data))


def test_words_and_variations() -> None:
    data = b'[White "A"]\n\n1. e4 $1 {first} (1. d4 {second} d5 (1... f5)) e5 {[%csl Ge5] [%clk 0:01:02.5]} *\n'
    games = read(data)
    text, _ = written(games)
    assert [facts(game) for game in read(text)] == [facts(game) for game in games]
    peer = chess.pgn.read_game(io.StringIO(text.decode()))
    assert peer is not None
    assert peer.variations[0].comment == "first"
    assert peer.variations[0].nags == {1}
    assert [node.san() for node in peer.variations] == ["e4", "d4"]
    assert peer.variations[0].variations[0].clock() == 62.5


def test_other_dialects_and_what_they_lose() -> None:
    (game,) = read(
        b'[White "A"]\n\n1. e4 {[%clk 0:02:59.500] [%emt 0:00:00.500] [%lag 0.1]} e5 {[%clk 0:03:00] [%eval 0.3,9]} *\n'
    )
    text, lost = written([game])
    assert lost == {"lags": 1}
    text, lost = written([game], style="lichess")
    assert b"1. e4 { [%clk 0:02:59] } 1... e5 { [%clk 0:03:00] }" in text
    assert lost == {"clocks cut to whole seconds": 1, "elapsed times": 1, "lags": 1}
    text, lost = written([game], clock=frozenset({"emt"}))
    assert b"1. e4 {[%emt 0:00:00.500]} 1... e5 {[%eval 0.30]" in text
    assert lost == {"clocks": 2, "lags": 1}
    text, lost = written([game], style="fics")
    assert b"1. e4 {[%emt 0.5]} e5" in text
    assert lost == {"clocks": 2, "lags": 1}
    text, lost = written([game], clock=frozenset({"clk", "emt", "lag"}))
    assert not lost
    assert [ply[5:7] for ply in read(text)[0].plies] == [(500, 100), (None, None)]
    assert [thought[4:6] for thought in read(text)[0].observations[0].thinking] == [(9, -30)]


def test_chess960_from_the_normal_position() -> None:
    fen = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    event = b'[Event "FICS rated wild/fr game"]\n'
    games = read(event + b'[Variant "Fischerandom"]\n[FEN "' + fen + b'"]\n\n1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. O-O *\n')
    text, _ = written(games)
    assert b"[FEN" not in text
    assert [facts(game) for game in read(text)] == [facts(game) for game in games]
    told = read(b'[Variant "Fischerandom"]\n\n1. e4 *\n')
    assert told[0].plies[0].move is None  # whoever left the FEN out, it need not be that position


def test_computed_clocks_stay_computed() -> None:
    games = read((CORPUS / "pgn" / "pychess-export-463.pgn").read_bytes())
    for style in ("default", "lichess"):
        text, _ = written(games, style=style)
        assert b'[RecorderClocks "derived"]' in text
        (again,) = read(text)
        assert {ply.precision for ply in again.plies} <= {Precision.DERIVED_SECONDS, Precision.DERIVED_MILLISECONDS}
