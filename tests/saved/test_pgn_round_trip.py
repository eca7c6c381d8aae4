"""Read, written and read again: the same game but for what a style cannot say, which is counted."""

import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder import Archive
from recorder.model import Anchor, AnchorReason, EventKind, Game, GameKind, Precision, Proof
from recorder.reading import make_pipeline
from recorder.saved.pgn_text import decoded
from recorder.sources import SourceKind
from tests.support.cli import Cli
from tests.support.corpus import stream_bytes

CORPUS = Path(__file__).parent.parent / "corpus"
FILES = sorted([*(CORPUS / "pgn").glob("*.pgn"), *(CORPUS / "ficsgames").glob("*.pgn")])
#: Tag pairs of one game a line.
SECTIONS = r"""
[Site "freechess.org"]
[Site "Chess.com"]
[Site "https://lichess.org/abc"]
[Site "chess.net"]
[Site "Internet Chess Club"]
[Site "FICS freechess.org"]
[Site "Berlin GER"]
[Site "?"]
[Site ""]
[TimeControl "180"]
[TimeControl "180+0"]
[TimeControl "0180+02"]
[TimeControl "40/7200:3600"]
[TimeControl "-"]
[TimeControl "?"]
[TimeControl "0+0"]
[TimeControl "0+12"]
[TimeControl "1/86400"]
[WhiteTimeControl "60+0"] [BlackTimeControl "60+0"]
[WhiteTimeControl "60+0"] [BlackTimeControl "30+0"]
[Event "?"]
[Event "FICS rated blitz game"]
[Event "FICS rated game"]
[Event "ICS rated wild/23 match"]
[Event "ICC w23 3 0"]
[Event "ICC rated wild/23 game"] [Site "ICC"]
[Event "Rated Blitz game"]
[Event "FICS examined game"]
[Event "FICS unrated suicide game"]
[Event "x \"q\" \\ y"]
[Date "2001.??.??"]
[Date "2020.02.30"]
[Date "?"]
[Date "2020.01.02"] [UTCDate "2020.01.03"] [UTCTime "01:02:03"]
[Date "2020.01.02"] [Time "1:02:03"]
[Time "01:02:03"]
[UTCDate "2020-01-02"] [UTCTime "01:02:03"]
[Date "2020.01.02"] [Time "04:02:03"] [UTCDate "2020.01.02"] [UTCTime "01:02:03"] [UTCEndDate "2020.1.2"]
[Date "2025.05.27"] [GameStartTime "2025-05-27T23:48:15.827 EDT"] [GameEndTime "2025-05-28T00:02:15.827 EDT"]
[GameStartTime "2025-05-27 23:48:15 UTC"]
[Round "?"]
[Round "-"]
[Round "3.1"]
[Round ""]
[WhiteElo "1500"]
[WhiteElo "0800"]
[WhiteElo "0"]
[WhiteElo "1500?"]
[BlackElo "-"]
[WhiteTitle "GM"]
[WhiteTitle "LM"]
[BlackIsComp "Yes"]
[BlackIsComp "No"]
[WhiteClock "0:03:00.000"] [BlackClock "0:03:00.000"] [TimeControl "180+0"]
[Termination "Normal"]
[Termination "time forfeit"]
[Termination "Ann won on time"]
[Variant "Standard"]
[Variant "zh"]
[Variant "Crazyhouse"]
[Variant "wild 23"] [Site "ICC"]
[SetUp "0"]
[ECO "?"]
[ECO "C20"]
[Opening "?"]
[ECO "C20"] [Opening "x"] [Variation "y"]
[Annotator "Bob"]
[ICSGameNo "007"]
[PlyCount "2"]
[EventDate "????.??.??"]
[Mode "ICS"]
[UTCEndDate "2020.01.03"] [UTCEndTime "01:02:03"]
[Remark ""]
"""
ARCHIVE = [path for path in FILES if path.parent.name == "ficsgames" or path.name.startswith("ficsgames-2009")]


def read(data: bytes) -> list[Game]:
    pipeline = make_pipeline(SourceKind.PGN)
    return pipeline.receive(data) + pipeline.finish()


def written(games: list[Game], **options: Any) -> tuple[bytes, Counter[str]]:
    out = io.BytesIO()
    report = PgnExporter(PgnOptions(**options)).write(games, out)
    return out.getvalue(), +report.excluded


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


def is_normalised(name: str, value: str) -> bool:
    """Whether it is a date with hyphens, an increment in milliseconds, or an opening's code with its name."""
    separators = {"Date": "-", "TimeControl": "000", "ECO": " "}
    return name in separators and separators[name] in value


def tag_sections(data: bytes) -> list[dict[str, str]]:
    """The tags of each game as python-chess reads them, with the names that every PGN needs."""
    stream, sections = io.StringIO(decoded(data.decode("latin-1"))), []
    while (headers := chess.pgn.read_headers(stream)) is not None:
        sections.append(dict(headers))
    return sections


@pytest.mark.parametrize("tag", SECTIONS.strip().split("\n"))
@pytest.mark.parametrize("clock", [b"", b" {[%clk 0:03:00]}"])
def test_tags_are_exported_as_they_were(tag: str, clock: bytes) -> None:
    lines = tag.replace('"] [', '"]\n[').split("\n")
    names = [line.split(" ")[0][1:] for line in lines]
    others = [
        line for line in ('[White "Ann"]', '[Black "Bob"]', '[Result "1-0"]') if line[1:].split(" ")[0] not in names
    ]
    data = "\n".join([tag, *others, "", ""]).encode() + b"1. e4" + clock + b" e5 1-0\n"
    (game,) = read(data)
    text, _ = written([game])
    for line in lines:
        assert f"{line}\n" in text.decode() or line in ('[Site ""]',), line
    assert facts(read(text)[0]) == facts(game)
    opening = {"ECO", "Opening", "Variation"}
    exported = opening & tag_sections(text)[0].keys()
    assert exported == (opening.intersection(names) or ({"ECO", "Opening"} if game.variant == "chess" else set()))
    assert "Event" in names or b'[Event "?"]' in text
    assert "Event" in names or b'[Event "?"]' in written([game], style="fics")[0]


@pytest.mark.parametrize(
    ("eco", "code", "name"),
    [
        ("King pawn, anyhow", None, "King pawn, anyhow"),
        ("C20 King pawn", "C20", "King pawn"),
        ("C20: King pawn", "C20", "King pawn"),
        ("C20/01", "C20/01", None),
        ("C20h1", "C20h1", None),
        ("Caro-Kann", None, "Caro-Kann"),
        ("B12wrong 5", None, "B12wrong 5"),
    ],
)
def test_a_name_where_the_code_of_the_opening_should_be(eco: str, code: str | None, name: str | None) -> None:
    (game,) = read(f'[White "Ann"]\n[ECO "{eco}"]\n\n1. e4 e5 *\n'.encode())
    exported = tag_sections(written([game])[0])[0]
    assert (exported.get("ECO"), exported.get("Opening"), exported.get("Variation")) == (code, name, None)
    assert (b"[ECO " in written([game], style="fics")[0]) == (code is not None)


def test_a_local_date_gets_no_time_of_utc() -> None:
    (game,) = read(b'[Date "2019.12.31"]\n[UTCDate "2020.01.01"]\n[UTCTime "03:00:01"]\n[White "Ann"]\n\n1. e4 *\n')
    exported = tag_sections(written([game])[0])[0]
    assert (exported["Date"], exported["UTCDate"], exported["UTCTime"]) == ("2019.12.31", "2020.01.01", "03:00:01")
    assert "Time" not in exported


def test_a_second_tag_of_one_name_is_an_anomaly() -> None:
    pipeline = make_pipeline(SourceKind.PGN)
    data = b'[White "Ann"]\n[Site "x"]\n[Site "y"]\n[Black "B"]\n[Black "B"]\n\n1. e4 *\n'
    (game,) = pipeline.receive(data) + pipeline.finish()
    assert b'[Site "x"]' in written([game])[0]
    assert [found.message for found in pipeline.report.anomalies] == ["a second Site is skipped: 'y'"]


def tags(game: Game) -> dict[str, str]:
    return {event.detail: event.text for event in game.events if event.kind is EventKind.TAG}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_our_style_keeps_all(path: Path) -> None:
    games = read(path.read_bytes())
    text, lost = written(games)
    reread = read(text)
    assert [facts(game) for game in reread] == [facts(game) for game in games]
    for before, after in zip(games, reread, strict=True):
        kept = {name: value for name, value in tags(before).items() if not is_normalised(name, value)}
        assert kept.items() <= tags(after).items()
    for section, exported in zip(tag_sections(path.read_bytes()), tag_sections(text), strict=True):
        assert exported.items() >= {one for one in section.items() if one[1] != "" and not is_normalised(*one)}
    assert not lost
    assert written(reread)[0].count(b"\n") == text.count(b"\n")


@pytest.mark.parametrize("path", ARCHIVE, ids=lambda path: path.name)
def test_the_archive_comes_back_as_it_was(path: Path) -> None:
    """Movetext byte by byte, but for the check that the archive drops; and its tags, but for Site and Variant."""
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
    assert peer.variations[0].comment == "first"
    assert peer.variations[0].nags == {1}
    assert [node.san() for node in peer.variations] == ["e4", "d4"]
    assert peer.variations[0].variations[0].clock() == 62.5


@pytest.mark.parametrize("clock", [b"", b"[%clk 0:01:02.500] "])
def test_a_comment_that_begins_like_the_mark_of_an_inferred_ply_is_a_comment(clock: bytes) -> None:
    games = read(b'[White "A"]\n\n1. e4 {' + clock + b"inferred from the score sheet} e5 *\n")
    text, _ = written(games)
    assert b"inferred from the score sheet}" in text
    assert [facts(game) for game in read(text)] == [facts(game) for game in games]


@pytest.mark.parametrize("length", range(60, 80))
def test_a_command_is_not_broken_at_the_end_of_a_line(length: int) -> None:
    games = read(
        b'[White "A"]\n\n1. e4 {[%csl Ra1] ' + b"x" * (length - 8) + b"} e5 {y} {[%csl Ra1]} {[%cal\nGa1a2]} *\n"
    )
    text, _ = written(games)
    assert text.count(b"[%csl Ra1]") == 2
    assert b"[%cal Ga1a2]" in text
    assert [facts(game) for game in read(text)] == [facts(game) for game in games]


def seen_with_a_gap() -> Game:
    """A game as a log contains it: three parts, a ply without proof, a variation and a remark in the last part."""
    data = (
        b'[White "Ann"]\n[Black "Bob"]\n[ICSGameNo "7"]\n[Round "3"]\n\n1. e4 {[%clk 0:01:02.5]} e5 {x} 2. Nf3 Nc6 '
        b"3. Bb5 a6 4. Ba4 (4. Bxc6 dxc6 (4... bxc6)) Nf6 5. O-O Be7 6. Re1 $1 b5 7. Bb3 d6 {[%eval 0.31]} "
        b"{Bob resigns} 1-0\n"
    )
    (game,) = read(data)
    (seen,) = game.observations
    rows = seen.lines[0].rows
    plies = game.plies
    anchors = []
    for ply in (4, 10):
        board = chess.Board()
        for row in plies[:ply]:
            board.push_san(row.san)
        anchors.append(Anchor(0, ply, board.fen(en_passant="fen"), AnchorReason.GAP, plies[ply].offset))
    rows[:] = [*rows[:2], *rows[4:8], plies[8]._replace(proof_code=Proof.UNPROVED, move=None, san="O-O?"), *rows[10:]]
    seen.anchors.extend(anchors)
    game.complete = False
    return game


def test_parts_of_one_game_are_imported_as_one_game() -> None:
    game = seen_with_a_gap()
    text, lost = written([game])
    assert text.count(b"[RecorderPart ") == 3
    (reread,) = read(text)
    assert facts(reread) == facts(game)
    assert [(found.ply, found.fen, found.reason) for found in reread.anchors()] == [
        (found.ply, found.fen, found.reason) for found in game.anchors()
    ]
    assert tags(reread) == tags(game) | {"ECO": "C20", "Opening": "King's Pawn Game"}
    assert [thought._replace(offset=0) for thought in reread.observations[0].thinking] == [
        thought._replace(offset=0) for thought in game.observations[0].thinking
    ]
    assert lost == {"plies not proved": 1}
    assert without_keys(written([reread])[0]) == without_keys(text)
    two = text + text
    assert [len(game.plies) for game in read(two)] == [len(game.plies)] * 2


def test_tables_have_the_plies_around_a_gap(tmp_path: Path) -> None:
    game = seen_with_a_gap()
    (tmp_path / "parts.pgn").write_bytes(written([game])[0])
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", tmp_path / "parts.pgn")
    with Archive(cli.archive, read_only=True) as archive:
        assert archive.plies()["ply"].tolist() == [ply.ply for ply in game.plies]


def without_keys(text: bytes) -> bytes:
    return re.sub(rb"\[RecorderKey [^\n]*\n", b"", text)


@pytest.mark.parametrize("excluded", [0, 1, 2])
def test_parts_that_do_not_follow_stay_apart(excluded: int) -> None:
    """A part is missing, or is another game's."""
    parts = written([seen_with_a_gap()])[0].split(b"\n\n[Event")
    parts = [parts[0], *(b"[Event" + part for part in parts[1:])]
    fewer = b"\n\n".join(part for number, part in enumerate(parts) if number != excluded)
    assert len(read(fewer)) == (2 if excluded == 1 else 1)
    other = b"\n\n".join([*parts[:1], parts[1].replace(b'[RecorderKey "', b'[RecorderKey "0'), parts[2]])
    assert len(read(other)) == 3


@pytest.mark.parametrize("step", [1, 7, 300, 900])
def test_a_file_of_parts_is_read_in_any_cuts(step: int) -> None:
    text = written([seen_with_a_gap()])[0] * 2
    wanted = read(text)
    pipeline = make_pipeline(SourceKind.PGN)
    found: list[Game] = []
    for begin in range(0, len(text), step):
        found += pipeline.receive(text[begin : begin + step])
        assert found == [game for game in wanted if game.first_offset < pipeline.read_up_to]
    assert found + pipeline.finish() == wanted


def test_other_dialects_and_what_they_lose() -> None:
    (game,) = read(
        b'[White "A"]\n\n1. e4 {[%clk 0:02:59.500] [%emt 0:00:00.500] [%lag 0.1]} e5 {[%clk 0:03:00] [%eval 0.3,9]} *\n'
    )
    text, lost = written([game])
    assert lost == {"lags": 1}
    text, lost = written([game], style="lichess")
    assert b"1. e4 { [%clk 0:02:59] } 1... e5 { [%clk 0:03:00] [%eval 0.30] [%depth 9] } *" in text
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
    from_tag = read(b'[Variant "Fischerandom"]\n\n1. e4 *\n')
    assert from_tag[0].plies[0].move is None  # without its FEN it need not be that position


def test_computed_clocks_stay_computed() -> None:
    games = read((CORPUS / "pgn" / "pychess-export-463.pgn").read_bytes())
    for style in ("default", "lichess"):
        text, _ = written(games, style=style)
        assert b'[RecorderClocks "derived"]' in text
        (reread,) = read(text)
        assert {ply.precision for ply in reread.plies} <= {Precision.DERIVED_SECONDS, Precision.DERIVED_MILLISECONDS}


@pytest.mark.parametrize(
    ("scenario", "connection"),
    [
        ("a04_suicide", "observer_GuestObsF"),
        ("b01_standard", "observer_GuestXa"),
        ("c07_eight_boards", "observer_GuestXs"),
    ],
)
def test_what_was_recorded_is_written_the_same_after_it_was_read_from_our_pgn(scenario: str, connection: str) -> None:
    """Whatever family the server is of, with parts and unproved plies; a key is made of what a game was read from."""
    pipeline = make_pipeline(SourceKind.RAW)
    recorded = pipeline.receive(stream_bytes(scenario, connection))
    recorded = [game for game in recorded + pipeline.finish() if game.kind is GameKind.PLAYED and game.rows]
    assert recorded
    text, _ = written(recorded)
    reread = read(text)
    assert len(reread) == len(recorded)
    assert without_keys(written(reread)[0]) == without_keys(text)
    for before, after in zip(recorded, reread, strict=True):
        assert (after.server, after.dialect, after.category, after.variant, after.rated) == (
            before.server, before.dialect, before.category, before.variant, before.rated
        )  # fmt: skip
