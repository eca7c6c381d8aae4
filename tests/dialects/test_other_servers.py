"""Whole logs of other servers: transcripts of three, and lines that no transcript of ours shows.

The dialogues are those of tests/live/dialogues.py; the blank line of USCN is the reference's.
"""

import base64
import gzip
import json
from pathlib import Path

import pytest

from recorder.dialects.recogniser import Recogniser
from recorder.events import ChatLine, Chunk, Event, GameEnded, HoldingsLine, Line, Malformed, MovelistRead, Unrecognised
from recorder.events.frames import Style12
from recorder.model import Proof
from recorder.wire.lines import LineReader
from tests.dialects.lines import CORPUS
from tests.edge_cases.scripts import Table, log, only, proved, read, sans
from tests.live.dialogues import DIALOGUES


@pytest.mark.parametrize(
    ("name", "prompt", "server"),
    [("chess.net guest", "chess% ", "chess.net"), ("USCN guest", "fics% ", None)],
)
def test_their_games_come_out_whole(name: str, prompt: str, server: str | None) -> None:
    dialogue = b"".join(step[0] for step in DIALOGUES[name])
    welcome = b"\n\rWelcome to chess.net!\n\r" if server else b""
    table = Table(tokens=31)
    lines = [
        *[prompt] * 3,  # a prompt of its own is learned
        "Creating: Ann (1500) Bob (1600) rated blitz 5 0",
        "",
        table.created(),
        table.frame(),
        *(f"{prompt}{frame}" for frame in table.plays("e4", "e5", "Nf3", "Nc6")),
        "Some words that only this server says: 12 34.",
        table.over("Bob resigns", "1-0"),
    ]
    found = read(welcome + dialogue + b"\n\r" + log(*lines))
    game = only(found)
    assert (sans(game), game.result, game.reason_key) == (["e4", "e5", "Nf3", "Nc6"], "1-0", "resign")
    assert (game.white.rating, game.rated, game.category, game.complete) == (1500, True, "blitz", True)
    assert proved(game)
    assert not found.anomalies()
    assert game.server == server
    assert "X words that only this server says: 0 0." in [shape.shape for shape in found.report.shapes]


@pytest.mark.parametrize("numbers", [(1, 1, 1, 1, 2, 2, 3, 3), (0, 1, 1, 2, 2, 3, 3, 4)])
def test_servers_that_print_the_number_of_the_last_move(numbers: tuple[int, ...]) -> None:
    # Morphy prints half of the moves made, and 1 for less; AntiCrux half of one more.
    table = Table(tokens=31)
    lines = [table.frame(move_no=numbers[0])]
    for number, san in zip(numbers[1:], ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4"), strict=True):
        lines += [table.play(san, move_no=number), table.frame(move_no=number)]
    found = read(log(table.created(), *lines, table.over("is a draw", "1/2-1/2")))
    game = only(found)
    assert (sans(game), [ply.ply for ply in game.plies]) == (
        ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4"], [*range(1, 8)]
    )  # fmt: skip
    assert (game.result, game.reason_key, game.complete) == ("1/2-1/2", "drawn", True)
    assert proved(game)
    assert not found.anomalies()


@pytest.mark.parametrize(
    ("words", "listed", "result", "key"),
    [
        ("Ann resigns.", "White resigned.", "0-1", "resign"),
        ("Bob forfeits on time.", "Black forfeits on time.", "1-0", "time"),
        ("Bob checkmated.", "Checkmate.", "1-0", "checkmate"),
        ("Stalemate.", "Stalemate.", "1/2-1/2", "stalemate"),
        ("Was drawn by position repitition.", "Draw by move repetition.", "1/2-1/2", "repetition"),
        ("Ann lost connection. Game adjourned.", "White lost connection, game adjourned.", "*", "adjourned-lost"),
        ("Was courtesy-aborted by Bob.", "Black courtesy abort.", "*", "aborted-courtesy"),
    ],
)
def test_the_first_server_prints_neither_flip_nor_dots_nor_tokens(
    words: str, listed: str, result: str, key: str
) -> None:
    # Source: FICS of 1993 (board.c, gamedb.c, gameproc.c).
    table, moves = Table(tokens=31), ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "O-O"]
    frames = [table.frame(flip=None), *(table.play(san, flip=None) for san in moves)]
    end = f"{{Game 7 (Ann vs. Bob) {words}}}"
    found = read(log(*frames, "", end))
    game = only(found)
    assert (sans(game), proved(game), found.report.shapes) == (moves, True, [])
    assert (game.result, game.reason_key) == (result, key)
    head = ["Ann (1500) vs. Bob (UNR) --- Sun Nov  7, 13:49 PST 1993"]
    head += ["Rated Blitz match, initial time: 5 minutes, increment: 0 seconds.", "", "Move  Ann                Bob"]
    rows = ["   1  e4      (0:00)         e5      (0:05)        ", "   2  Nf3     (0:02)     "]
    found = read(log(*head, "----  ----------------   ----------------", *rows, f"      {listed}", "fics% "))
    game = only(found)
    assert (sans(game), game.result, game.reason_key) == (["e4", "e5", "Nf3"], result, key)
    assert not found.anomalies()


def test_a_pretty_move_that_may_be_cut_proves_nothing() -> None:
    table = Table(tokens=31, fen="7k/4P3/8/8/8/7Q/8/K6Q w - - 0 1")
    frames = [table.frame(), table.play("e8=Q+", verbose="P/e7-e8", pretty="e8", flip=None)]
    frames += [table.play("Kg7", flip=None), table.play("Q1h2", pretty="Q1h", flip=None)]
    assert [ply.proof for ply in only(read(log(*frames))).plies] == [Proof.UNPROVED, Proof.FULL, Proof.UNPROVED]


def test_another_board_at_the_start_is_where_the_game_begins() -> None:
    table, other = Table(), Table(fen="4k3/8/8/8/8/8/4P3/4K3 b - - 0 1")
    other.play("Kd7")
    found = read(log(table.created(), table.frame(), other.frame(move_no=1), *other.plays("e4")))
    game = only(found)
    assert (game.start_ply, game.start_fen) == (0, "8/3k4/8/8/8/8/4P3/4K3 w - - 1 1")
    assert (sans(game), game.complete, found.anomalies()) == (["e4"], False, ["conflict"])


@pytest.mark.parametrize("prompt", ["chessd2% ", "chess% ", "foo> ", "LASKER% ", "4games$ ", "x# ", "09:41_foo> "])
def test_a_prompt_is_learned_from_the_answers_to_the_first_settings(prompt: str) -> None:
    data = (CORPUS / "public" / "chessd-first-answers.txt").read_bytes().replace(b"chessd2% ", prompt.encode())
    found = read(data)
    known = {"observing", "set", "No such", "Logged in"}
    assert not [shape for shape in found.report.shapes if any(word in shape.shape for word in known)]
    assert (len(found.games), found.report.me) == (12, "GuestVLNY")


@pytest.mark.parametrize(
    "lines",
    [
        ["Ann> {Game 7 (Ann vs. Bob) Bob resigns} 1-0"],  # once: text that quotes a line
        ["--> You are now observing game 7."] * 4,
        ["Ann(50)> You are now observing game 7."] * 4,
        [":foo% You are now observing game 7."] * 4,
        ["foo% Ann tells you: hello"] * 4,
        ["foo bar% You are now observing game 7."] * 4,
        ["100% 12"] * 4,
    ],
)
def test_other_text_before_a_known_line_teaches_no_prompt(lines: list[str]) -> None:
    recogniser = Recogniser()
    found = recogniser.feed([Line(line, 100 * number) for number, line in enumerate(lines)])
    assert {type(event) for event in found} <= {Unrecognised, ChatLine}
    assert not recogniser.prompts._learned


STREAMS = sorted(
    path
    for path in (CORPUS / "server").glob("*/*")
    if ".sent" not in path.name and (".jsonl" in path.name or ".raw" in path.name)
)


def chunks_of(path: Path) -> list[Chunk]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if ".raw" in path.name:
        return [Chunk(data, 0)]
    found: list[Chunk] = []
    offset = 0
    for entry in data.splitlines():
        _, encoded = json.loads(entry)
        part = base64.b64decode(encoded)
        found.append(Chunk(part, offset))
        offset += len(part)
    return found


@pytest.mark.parametrize("folder", sorted({path.parent.name for path in STREAMS}))
def test_every_line_of_a_scenario(folder: str) -> None:
    for path in (path for path in STREAMS if path.parent.name == folder):
        reader, recogniser = LineReader(), Recogniser()
        found: list[Event] = []
        chunks = chunks_of(path)
        for chunk in chunks:
            found += recogniser.feed(reader.receive(chunk))
        found += recogniser.feed(reader.finish()) + recogniser.finish()
        assert not [event for event in found if isinstance(event, Malformed)], path.name
        assert not [event for event in found if isinstance(event, GameEnded) and event.reason_key == "unknown"]
        assert all(event.complete for event in found if isinstance(event, MovelistRead))
        data = b"".join(chunk.data for chunk in chunks)
        frames = sum(isinstance(event, Style12) for event in found)
        frames += sum(isinstance(event, MovelistRead) and event.start_frame is not None for event in found)
        hands = sum(isinstance(event, HoldingsLine) for event in found)
        assert frames + recogniser.quoted["<12>"] == data.count(b"<12>"), path.name
        assert hands + recogniser.quoted["<b1>"] == data.count(b"<b1>"), path.name
