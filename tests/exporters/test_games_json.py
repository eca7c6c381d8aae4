"""One JSON object a game; the names and their order are checked against the document in test_formats_doc.py."""

import io
import json

from exporters.games_json import GamesJsonExporter, game_object
from recorder.model import HoldingsChange, LineKind, Origin, Player, PlyLine, Precision, Proof, TimeBasis
from tests.exporters.games import SCHOLARS_MATE, make_game, random_game
from tests.exporters.test_pgn import chat, edit


def test_facts() -> None:
    found = game_object(make_game(white=Player("Ann", "1708E", 1708, "(GM)")))
    assert found["white"] == {"handle": "Ann", "rating": 1708, "titles": "(GM)"}
    assert found["black"] == {"handle": "Bob", "rating": None, "titles": None}
    assert (found["server_game_no"], found["rated"], found["base_s"]) == (107, True, 300)
    assert (found["started_at"], found["ended_at"]) == ("2020-01-01T12:00:00.000Z", "2020-01-01T12:01:00.000Z")
    assert game_object(make_game(time_basis=TimeBasis.LOCAL))["started_at"] == "2020-01-01T12:00:00.000"


def test_a_ply() -> None:
    assert game_object(make_game())["plies"][6] == {
        "ply": 7,
        "san": "Qxf7#",
        "uci": "h5f7",
        "white_clock_ms": 290_683,
        "black_clock_ms": 293_161,
        "elapsed_ms": 4319,
        "elapsed_origin": "printed",
        "lag_ms": 49,
        "at": "2020-01-01T12:00:07.000Z",
        "precision": "milliseconds",
        "proof": "full",
        "origin": "frame",
        "white_holdings": None,
        "black_holdings": None,
    }


def test_missing_is_null_and_zero_is_zero() -> None:
    game = make_game(clocks=None, rated=None, server=None)
    edit(game, 1, move=None, proof_code=Proof.UNPROVED.value, origin_code=Origin.MOVELIST.value, at_ms=None, lag_ms=0)
    found = game_object(game)
    assert found["rated"] is None
    assert found["server"] is None
    first = found["plies"][0]
    assert {name for name, value in first.items() if value is None} == {
        "uci", "white_clock_ms", "black_clock_ms", "elapsed_ms", "elapsed_origin", "at", "precision",
        "white_holdings", "black_holdings",
    }  # fmt: skip
    assert (first["lag_ms"], first["proof"], first["origin"]) == (0, "unproved", "movelist")


def test_lines_events_sources() -> None:
    game = make_game(precision=Precision.SECONDS)
    seen = game.observations[0]
    seen.events.append(chat(3, "nice"))
    seen.lines.append(PlyLine(1, LineKind.TAKEBACK, 0, 2, seen.lines[0].plies[2:4]))
    found = game_object(game)
    (line,) = found["lines"]
    assert (line["source"], line["kind"], line["parent"], line["parent_ply"]) == (0, "takeback", 0, 2)
    assert [ply["san"] for ply in line["plies"]] == ["Qh5", "Nc6"]
    assert line["plies"][0]["precision"] == "seconds"
    (event,) = found["events"]
    assert (event["ply"], event["kind"], event["detail"], event["actor"]) == (3, "chat", "kibitz", "Cat")
    assert found["sources"][0]["plies"] == [[1, 7]]
    assert found["sources"][0]["kind"] == "live"


def test_holdings() -> None:
    game = make_game(SCHOLARS_MATE, variant="crazyhouse")
    game.observations[0].holdings.append(HoldingsChange(1, 7, "P", "", None, None, 2500))
    plies = game_object(game)["plies"]
    assert (plies[6]["white_holdings"], plies[6]["black_holdings"]) == ("P", "")
    assert plies[5]["white_holdings"] is None


def test_lines_of_text() -> None:
    games = [random_game(seed, 30) for seed in range(3)] + [make_game(white=Player("Jos\xe9"))]
    out = io.BytesIO()
    report = GamesJsonExporter().write(games, out)
    lines = out.getvalue().decode("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [game_object(game) for game in games]
    assert lines[0].startswith('{"key":"00000000000000000000"')
    assert "José" in lines[3]
    assert (report.games, report.plies) == (4, 97)
