"""Examined games as PGN: other readers find the same tree, the same comments at the same moves, and every start."""

import io
import re
import subprocess
from pathlib import Path

import chess.pgn
import pytest

from exporters.games_json import game_object
from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import Game, GameKind
from recorder.reading import make_pipeline
from recorder.sources import SourceKind
from tests.edge_cases.scripts import Table, log
from tests.support import corpus, product
from tests.support.programs import program

STREAMS = [
    ("a10_examine", "player_Kramnik"),
    ("a10_examine", "observer_GuestExa"),
    ("b05_examine_bsetup", "observer_GuestXl"),
    ("c05_examine_bsetup", "observer_GuestXk"),
]

Paths = set[tuple[str, ...]]


def examined(data: bytes) -> list[Game]:
    games, _ = product.run([data], "raw")
    return [game for game in games if game.kind is not GameKind.PLAYED]


def export(games: list[Game]) -> str:
    out = io.BytesIO()
    PgnExporter(PgnOptions(comments=True, clock=frozenset())).write(games, out)
    return out.getvalue().decode()


def read_back(text: str) -> list[chess.pgn.Game]:
    handle, found = io.StringIO(text), []
    while (game := chess.pgn.read_game(handle)) is not None:
        assert game.errors == []
        found.append(game)
    return found


def paths_of(node: chess.pgn.GameNode, before: tuple[str, ...] = ()) -> Paths:
    """Every way through a tree, as moves."""
    found: Paths = set()
    for child in node.variations:
        moves = (*before, child.san())
        found |= {moves} | paths_of(child, moves)
    return found


def paths_in(game: Game) -> Paths:
    """The same of our model, as far as every move on the way is proved."""
    lines = game.observations[0].lines
    ways: dict[int, dict[int, tuple[str, ...]]] = {}
    for line in lines:
        start = line.parent_ply or 0
        way = () if line.parent is None else ways.get(line.parent, {}).get(start)
        reached: dict[int, tuple[str, ...]] = {} if way is None else {start: way}
        for ply in line.plies:
            if way is None or ply.ply != start + 1 or ply.proof not in (1, 2, 3):
                break
            way, start = (*way, ply.san), ply.ply
            reached[start] = way
        ways[line.number] = reached
    return {way for reached in ways.values() for way in reached.values() if way}


@pytest.mark.parametrize(("scenario", "connection"), STREAMS)
def test_python_chess_reads_the_same_tree(scenario: str, connection: str) -> None:
    for game in examined(corpus.stream_bytes(scenario, connection)):
        first = read_back(export([game]))[0]
        assert first.headers["RecorderKey"] == game.key
        assert [node.san() for node in first.mainline()] == [ply.san for ply in game.plies if ply.proof in (1, 2, 3)]
        assert paths_of(first) == paths_in(game)


@pytest.mark.needs("pgn-extract")
def test_pgn_extract_reads_them(tmp_path: Path) -> None:
    games = [game for name in STREAMS for game in examined(corpus.stream_bytes(*name)) if game.plies]
    path = tmp_path / "games.pgn"
    path.write_text(export(games))
    message = subprocess.run(
        [program("pgn-extract"), "-r", str(path)], capture_output=True, text=True, check=True
    ).stderr
    parts = export(games).count("[Event ")
    assert f"{parts} games matched out of {parts}." in message
    assert "Failed" not in message


def lecture() -> tuple[Table, list[str]]:
    table = Table(1, "Henley", "Browne", base=0, clocks=(0, 0), relation=-2)
    return table, [table.frame()]


def chat_line(text: str) -> str:
    return f"LectureBot(TD)(----)[1] kibitzes: {text}"


def test_comments_are_at_the_board_that_was_shown() -> None:
    table, lines = lecture()
    lines += [chat_line("welcome"), *table.plays("e4", "e5"), chat_line("an open game"), table.play("Nf3")]
    lines += [
        "Game 1: LectureBot backs up 1 move.",
        table.undo(1),
        chat_line("what else?"),
        table.play("f4"),
        chat_line("a gambit"),
    ]
    lines += [*table.plays("exf4"), chat_line("taken"), "Game 1: LectureBot backs up 1 move.", table.undo(1)]
    lines += [table.play("d5"), chat_line("declined")]
    (game,) = examined(log(*lines))
    (read,) = read_back(export([game]))
    assert read.comment == "LectureBot kibitz: welcome"
    e5 = read.next().next()  # type: ignore[union-attr]  # the game has these moves
    assert " ".join(e5.comment.split()) == "LectureBot kibitz: an open game | LectureBot kibitz: what else?"
    assert [child.san() for child in e5.variations] == ["Nf3", "f4"]
    f4 = e5.variations[1]
    assert f4.comment == "LectureBot kibitz: a gambit"
    assert [(child.san(), child.comment) for child in f4.variations] == [
        ("exf4", "LectureBot kibitz: taken"),
        ("d5", "LectureBot kibitz: declined"),
    ]


def test_comments_in_a_variation_stay_there_when_the_pgn_is_imported_and_exported() -> None:
    table, lines = lecture()
    lines += [*table.plays("e4", "e5"), "Game 1: LectureBot backs up 1 move.", table.undo(1)]
    lines += [table.play("c5"), chat_line("sharper"), table.play("Nf3"), chat_line("open")]
    written = export(examined(log(*lines)))
    pipeline = make_pipeline(SourceKind.PGN)
    reread = export([*pipeline.receive(written.encode()), *pipeline.finish()])
    for text in (written, reread):
        (read,) = read_back(text)
        assert re.fullmatch(r"\w+ examined game", read.headers["Event"])
        assert "Variant" not in read.headers
        c5 = read.next().variations[1]  # type: ignore[union-attr]  # the game has these moves
        comments = [" ".join(node.comment.split()) for node in (c5, c5.variations[0])]
        assert comments == ["LectureBot kibitz: sharper", "LectureBot kibitz: open"]


@pytest.mark.long
def test_a_lecture_that_branches_at_every_move() -> None:
    """A variation in a variation, a thousand deep: twice as deep as Python lets functions call themselves."""
    table, lines = lecture()
    deep = 1000
    for ply in range(deep):
        knights = ("Nf3", "Nf6", "Ng1", "Ng8")[ply % 4]
        lines += [table.play("Nc6" if ply % 2 else "Nc3"), table.undo(1), table.play(knights)]
    (game,) = examined(log(*lines))
    (read,) = read_back(export([game]))
    node: chess.pgn.GameNode = read
    for _ in range(deep - 1):
        assert len(node.variations) == 2
        node = node.variations[1]
    assert [child.san() for child in node.variations] == ["Nc6", "Ng8"]


def test_positions_that_were_set_up_are_games_of_their_own() -> None:
    table, lines = lecture()
    lines += table.plays("e4", "e5")
    placed = Table(1, "White", "Black", fen="8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", base=0, clocks=(0, 0), relation=-2)
    lines += [placed.frame(board="-------- " * 7 + "--------"), placed.frame(), chat_line("a study")]
    lines += [*placed.plays("Kd3", "Kd5"), "Game 1: LectureBot backs up 1 move.", placed.undo(1), placed.play("Kf4")]
    found = examined(log(*lines))
    first, second = read_back(export(found))
    assert [[node.san() for node in part.mainline()] for part in (first, second)] == [["e4", "e5"], ["Kd3", "Kd5"]]
    assert (first.headers["White"], second.headers["White"]) == ("Henley", "White")
    assert (second.headers["SetUp"], second.headers["FEN"]) == ("1", "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1")
    assert second.comment == "LectureBot kibitz: a study"
    assert paths_of(second) == {("Kd3",), ("Kd3", "Kd5"), ("Kd3", "Kf4")}
    assert "RecorderPart" not in first.headers
    assert [game.kind for game in found] == [GameKind.EXAMINED, GameKind.SETUP]
    board_game = game_object(found[1])
    assert [(line["source"], line["kind"], [ply["san"] for ply in line["plies"]]) for line in board_game["lines"]] == [
        (0, "variation", ["Kf4"])
    ]
    assert [place["fen"] for place in board_game["sources"][0]["positions"]] == ["8/8/8/4k3/8/4K3/4P3/8 w - - 0 1"]


def test_parts_are_in_the_order_in_which_their_positions_were_shown() -> None:
    table, _ = lecture()
    later = Table(1, "Henley", "Browne", base=0, clocks=(0, 0), relation=-2)
    later.plays("d4", "d5", "c4", "e6", "Nc3", "Nf6", "Bg5", "Be7")
    table.plays("h3", "h6", "g3", "g6", "Bg2", "Bg7", "Nf3", "Nf6", "Nc3", "Nc6")
    shown = [table.frame(), later.frame(), later.play("e3"), "Game 1: LectureBot backs up 1 move.", later.undo(1)]
    (game,) = examined(log(*shown))
    found = read_back(export([game]))
    assert [(part.headers["RecorderPart"], [node.san() for node in part.mainline()]) for part in found] == [
        ("1/2", []),
        ("2/2", ["e3"]),
    ]
    assert found[0].board().fen() == table.board.fen()


def test_what_lies_behind_a_gap_is_a_part() -> None:
    table, lines = lecture()
    table.plays("e4", "e5", "Nf3", "Nc6", "Bb5")
    lines += ["Game 1: LectureBot goes forward 6 moves.", table.play("a6"), table.play("Ba4")]
    lines += ["Game 1: LectureBot backs up 99 moves.", table.undo(7), table.play("d4"), chat_line("the other pawn")]
    (game,) = examined(log(*lines))
    found = read_back(export([game]))
    assert [sorted(paths_of(part)) for part in found] == [[("Ba4",)], [("d4",)]]
    assert found[0].comment.startswith("Not proved: 3... a6")
    assert found[0].headers["FEN"].startswith("r1bqkbnr/1ppp1ppp/p1n5/1B2p3/")
    assert found[1].next().comment == "LectureBot kibitz: the other pawn"  # type: ignore[union-attr]  # the game has these moves
    assert found[1].headers["FEN"] == chess.STARTING_FEN
