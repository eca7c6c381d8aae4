"""Comments that programs which let engines play write behind moves: evaluations, depths, times, and what is none."""

import io
import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import chess.pgn
import pytest

from recorder.model import AnomalyKind, Game, Thinking
from recorder.saved.engine_comments import read_engine_comment
from tests.saved.test_pgn import read
from tests.support.cli import SERVER, Cli

TAGS = b'[Event "?"]\n[White "Ruy"]\n[Black "Lopez"]\n[Result "*"]\n\n'


def games(movetext: str) -> Game:
    (game,), _ = read(TAGS + movetext.encode())
    return game


def thought(movetext: str) -> tuple[str | None, bool | None, int | None, int | None, int | None, int | None]:
    """Engine, side, depth, centipawns, mate and think time of the last move."""
    line: Thinking = games(movetext).observations[0].thinking[-1]
    return line.engine, line.white, line.depth, line.score_cp, line.mate, line.time_ms


@pytest.mark.parametrize(
    ("comment", "depth", "score_cp", "mate", "elapsed_ms", "clock_ms"),
    [
        ("+0.35/21 1.9s", 21, 35, None, 1900, None),  # cutechess, fastchess
        ("-0.35/21 0.022s", 21, -35, None, 22, None),
        ("-0.3/22 2s", 22, -30, None, 2000, None),
        ("0.00/22 63s", 22, 0, None, 63_000, None),
        ("-0.51/6, 0.003s", 6, -51, None, 3, None),  # fastchess until 2024
        ("+0.35/21 0.812s, sd=30, n=99, tl=9.954s", 21, 35, None, 812, 9954),
        ("+0.31/14 0.89s b1c3 e7e6", 14, 31, None, 890, None),
        ("+M1/1 0.45s, White mates", 1, None, 1, 450, None),  # a mate in plies
        ("+M3/9 0.050s", 9, None, 2, 50, None),
        ("-M30/30 0.123s", 30, None, -15, 123, None),
        ("-1.20/12 0.5s, Draw by 3-fold repetition", 12, -120, None, 500, None),
        ("+0.35/21", 21, 35, None, None, None),
        ("35/21 812ms", 21, 35, None, 812, None),  # c-chess-cli: hundredths
        ("M3/21 812ms", 21, None, 3, 812, None),  # and a mate in moves
        ("0.00/12 5", 12, 0, None, 5000, None),  # xboard, Arena
        ("+0.35/12 1:05", 12, 35, None, 65_000, None),
        ("+0.35/12 +118", 12, 35, None, None, 118_000),  # xboard -cumulativeTimePGN: what is left
        ("+1000.05/9 3", 9, None, 5, 3000, None),  # a mate as xboard counts it
        ("(e7e5) +0.35/12 34", 12, 35, None, 34_000, None),
        ("+0.35/21 1.9 123456", 21, 35, None, 1900, None),  # Banksia
        ("d=21, sd=30, mt=1900, tl=118100, pv=d4 d5", 21, None, None, 1900, 118_100),  # TCEC
        ("d=21, sd=30, mt=1900, tl=118100, s=9 kN/s, pv=d4 d5, tb=null, wv=-0.35, ", 21, -35, None, 1900, 118_100),
        ("d=1, mt=00:00:31, tl=01:20:11, wv=M12,", 1, None, 6, 31_000, 4_811_000),
    ],
)
def test_every_form_is_read(
    comment: str, depth: int, score_cp: int | None, mate: int | None, elapsed_ms: int | None, clock_ms: int | None
) -> None:
    assert thought(f"1. e4 {{{comment}}} *") == ("Ruy", True, depth, score_cp, mate, elapsed_ms)
    game = games(f"1. e4 {{{comment}}} *")
    (ply,) = game.plies
    assert (ply.elapsed_ms, ply.clock_ms) == (elapsed_ms, clock_ms)
    assert comment.strip(" ,")[:5] in "".join(event.text for event in game.events), "the text is kept"


def test_a_score_is_from_the_side_of_the_engine_that_moved() -> None:
    assert thought("1. e4 {book} e5 {+0.35/21 1.9s} *") == ("Lopez", False, 21, 35, None, 1900)
    assert thought("1. e4 {book} e5 {d=3, mt=9, wv=0.35} *") == ("Lopez", False, 3, -35, None, 9), "wv is White's"


_CASES = {
    "cutechess 0.6": (
        '[PlyCount "4"]\n[EventDate "2014.??.??"]\n[TimeControl "3"]',
        "1. e4 {book} e5 {\nbook} 2. Nf3 {0.41/12 0.14s} Nc6 {0.21/\n15 0.090s}",
        [(2, 12, 41, None, 140, None), (3, 15, 21, None, 90, None)],
    ),
    "cutechess": (
        '[GameDuration "00:00:08"]\n[PlyCount "4"]\n[TimeControl "40/60"]',
        "1. e4 {book} e5 {book} 2. Nf3 {+0.53/14 0.89s} Nc6 {-M4/245 0.004s, Black resigns}",
        [(2, 14, 53, None, 890, None), (3, 245, None, -2, 4, None)],
    ),
    "fastchess": (
        '[GameStartTime "2024-07-16T23:51:06 +0200"]\n[PlyCount "2"]\n[Termination "adjudication"]',
        '1. e4 {+1.00/15 1.321s, tl=58.7s, latency=0.002s, n=1250, sd=24, nps=946, pv="e2e4 e7e5"} '
        "e5 {-1.23/15 0.430s, tl=59.6s, latency=0.002s, n=4363, sd=23, nps=10146, White wins by adjudication}",
        [(0, 15, 100, None, 1321, 58_700), (1, 15, -123, None, 430, 59_600)],
    ),
    "fastchess 2024": (
        '[Termination "adjudication"]',
        "1. e4 {+1.16/8, 0.004s} e5 {-6.31/11 0.005s Draw by adjudication}",
        [(0, 8, 116, None, 4, None), (1, 11, -631, None, 5, None)],
    ),
    "c-chess-cli": (
        '[Termination "adjudication"]\n[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]',
        "1. e4 {28/17 203ms} e5 {-31/16 198ms} 2. Nf3 {M12/30 96ms} Nc6 {-M11/29 88ms}",
        [(0, 17, 28, None, 203, None), (1, 16, -31, None, 198, None), (2, 30, None, 12, 96, None),
         (3, 29, None, -11, 88, None)],
    ),
    "xboard": (
        '[TimeControl "40/300"]',
        "1. e4 {+0.35/12 1.9} e5\n{-0.20/11 34} 2. Nf3 {+0.41/13 1:05} Nc6 {+0.00/9}",
        [(0, 12, 35, None, 1900, None), (1, 11, -20, None, 34_000, None), (2, 13, 41, None, 65_000, None),
         (3, 9, 0, None, None, None)],
    ),
    "Arena": (
        '[TimeControl "40/300"]\n[Annotator "1. +0.25   1... -0.30"]',
        "1. e4 {(e7e5) +0.25/12 34} e5 {(Ng1-f3 Nb8-c6) -0.30/13 21}",
        [(0, 12, 25, None, 34_000, None), (1, 13, -30, None, 21_000, None)],
    ),
    "Banksia": (
        '[TimeControl "60+1"]',
        "1. e4 {+0.3/21 1.9}  e5 {-0.5/22 2.4; Black lost on time} ",
        [(0, 21, 30, None, 1900, None), (1, 22, -50, None, 2400, None)],
    ),
    "TCEC": (
        '[TerminationDetails "TCEC win rule"]\n[TimeControl "1800+3"]',
        "{WhiteEngineOptions: Protocol=uci; Threads=104;, BlackEngineOptions: Protocol=uci; Threads=2;}\n"
        "1. e4 {book, mb=+0+0+0+0+0,} e5 {d=19, sd=57, mt=31117, tl=1771883, s=71352, n=2219422, pv=e5 Nf3, tb=0, "
        "h=0.0, ph=0.0, wv=0.42, R50=50, Rd=-11, Rr=-1000, mb=+0+0+0+0+0,}\n2. Nf3 {d=1004, sd=1004, pd=Nf3, mt=7309, "
        "tl=1374340, s=169400, n=1238146, pv=Nf3, tb=0, h=100.0, ph=0.0, wv=-M7, R50=47, Rd=-11, Rr=-1000, "
        "mb=+0+0+0+0+0, White wins by adjudication: TCEC win rule}",
        [(1, 19, -42, None, 31_117, 1_771_883), (2, 1004, None, -4, 7309, 1_374_340)],
    ),
    "TCEC 2011": (
        '[TimeControl "5400+30"]',
        "1. e4 {0.\n64/30 246} e5 {-0.24/ 26 66 (Nf3)} 2. Nf3 {d=44, pd=Nc6, mt=00:01:07, tl=00:19:25, s=15686 kN/s, "
        "n=820356156, pv=Nf3 Nc6, tb=0, R50=45, wv=0.00,, Draw by 3-fold repetition}",
        [(0, 30, 64, None, 246_000, None), (1, 26, -24, None, 66_000, None), (2, 44, 0, None, 67_000, 1_165_000)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("program", _CASES)
def test_a_file_of_each_program_is_read_without_anomalies(program: str) -> None:
    """In exactly the form in which the program writes it; our own moves and numbers."""
    tags, movetext, wanted = _CASES[program]
    (game,), anomalies = read(
        TAGS.replace(b'[Result "*"]', b'[Result "*"]\n' + tags.encode()) + movetext.encode() + b" *"
    )
    assert not anomalies
    plies = {ply.ply - 1: ply for ply in game.plies}
    found = [
        (one.ply, one.depth, one.score_cp, one.mate, one.time_ms, plies[one.ply].clock_ms)
        for one in game.observations[0].thinking
    ]
    assert found == wanted
    assert [ply.elapsed_ms for ply in game.plies if ply.elapsed_ms] == [row[4] for row in wanted if row[4]]


@pytest.mark.parametrize(
    "prose",
    ["35/21", "7/10 of the time", "book", "3.5/7", "3.50/7", "1-0 would be fair", "Draw", "M1 tank", "d = 4", "-+"],
)
def test_prose_is_no_evaluation(prose: str) -> None:
    game = games(f"1. e4 {{{prose}}} *")
    assert not game.observations[0].thinking
    assert read_engine_comment(prose) is None


@pytest.mark.parametrize("broken", ["+1.20/", "-M5/x 0.1s", "d=21 is deep", "+0.35/21x"])
def test_what_only_begins_as_one_is_reported(broken: str) -> None:
    (game,), anomalies = read(TAGS + f"1. e4 {{{broken}}} *".encode())
    assert not game.observations[0].thinking
    assert [(found.kind, found.offset) for found in anomalies] == [(AnomalyKind.MALFORMED, len(TAGS) + 7)]


def test_commands_show_the_times_of_engines(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "match.pgn"
    log.write_bytes(TAGS.replace(b'"?"', b'"Match"') + b"1. e4 {+0.35/21 1.912s} e5 {-0.20/20 2.5s} *\n")
    cli("import", log)
    assert cli("show", "last").stdout.count("\tlist, comment\n") == 2
    with closing(sqlite3.connect(cli.archive)) as archive:
        assert archive.execute("SELECT origin, elapsed_origin, elapsed_s FROM v_plies").fetchall() == [
            ("comment", "imported", 1.912), ("comment", "imported", 2.5)
        ]  # fmt: skip
    assert "Excluded" not in cli("export", "pgn", "--clock", "none", "--comments", "engine").stderr
    (row,) = json.loads(cli("clocks", "--by", "player", "--player", "Ruy", "--first-moves", "--json").stdout)["rows"]
    assert row["total_ms"] == 1912
    pgn = cli("export", "pgn", "--engine").stdout
    assert "[%eval 0.35" in pgn
    again = tmp_path / "again.pgn"
    again.write_text(cli("export", "pgn", "--engine", "--comments").stdout)
    ((game,), _) = read(again.read_bytes())
    assert [(line.score_cp, line.depth) for line in game.observations[0].thinking] == [(35, 21), (-20, 20)]


_FORMS = """\
1. e4 {+0.35/21 1.912s} 1... e5 {-0.30/22 2s} 2. Nf3 {0.00/12 5.05s, sd=30, tl=9.954s} 2... Nc6 {+M3/9 0.050s}
3. Bb5 {-M30/30 0.123s} 3... a6 {book} 4. Ba4 {(a6a5) +0.35/12 34} 4... Nf6 {d=21, sd=30, mt=1900, wv=-0.35}
5. O-O {+0.31/14} 5... Be7 {+1000.05/9 3} 6. Re1 {+M1/1 0.45s, White mates} *
"""


def _known(pgn: bytes) -> list[object]:
    """What of the engines' comments of a file is written in cutechess' form."""
    (game,), anomalies = read(pgn)
    thoughts = [(one.ply, one.white, one.depth, one.score_cp, one.mate) for one in game.observations[0].thinking]
    return [thoughts, [(ply.san, ply.elapsed_ms) for ply in game.plies], anomalies]


def test_what_is_written_as_cutechess_does_reads_back_equal(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "match.pgn"
    log.write_bytes(TAGS + _FORMS.encode())
    cli("import", log)
    pgn = cli("export", "pgn", "--comments", "engine").stdout
    assert _known(pgn.encode()) == _known(log.read_bytes())
    words = " ".join(pgn.split())
    assert "e4 {+0.35/21 1.912s} 1... e5 {-0.30/22 2s} " in words
    assert "{0.00/12 5.05s, sd=30, tl=9.954s}" in words, "what is in this form is kept as it is"
    assert "Nf6 {-0.35/21 1.9s}" not in words
    assert "Nf6 {+0.35/21 1.9s}" in words, "from the side that moved"
    assert "Be7 {+M9/9 3s}" in words, "a mate in plies"
    assert "%eval" not in words
    game = chess.pgn.read_game(io.StringIO(pgn))
    assert not game.errors
    assert [node.comment for node in game.mainline()][:2] == ["+0.35/21 1.912s", "-0.30/22 2s"]


@pytest.mark.needs("pgn-extract")
def test_pgn_extract_reads_it(cli: Cli, tmp_path: Path) -> None:
    log, out = tmp_path / "match.pgn", tmp_path / "out.pgn"
    log.write_bytes(TAGS + _FORMS.encode())
    cli("import", log)
    cli("export", "pgn", "--comments", "engine", "-o", out)
    read_again = subprocess.run(["pgn-extract", "-s", out], capture_output=True, text=True, check=True)
    assert "{ +0.35/21 1.912s }" in " ".join(read_again.stdout.split())


def test_what_engines_print_in_a_log_is_written_as_comments(cli: Cli) -> None:
    log = SERVER / "x03_zippy_engines" / "xboard_sjeng.debug.gz"
    found = []
    for words in (("--comments", "engine"), ("--engine",)):
        games, _ = read(cli("convert", log, *words, "--clock", "none").stdout_bytes)
        of_white = [
            (one.ply, one.depth, *(None if n is None else n if one.white else -n for n in (one.score_cp, one.mate)))
            for game in games
            for one in game.observations[0].thinking
        ]
        found.append(of_white)
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.parametrize("words", [(), ("chat",), ("last",), ("engine",), ("chat,engine",), ("none",), ("--", "last")])
def test_the_words_of_the_option_can_be_omitted(filled: Cli, words: tuple[str, ...]) -> None:
    shown = filled("export", "pgn", "--comments", *words).stdout
    asked = [word for word in words if word != "--"]
    named = asked == ["last"]
    assert (
        shown
        == filled("export", "pgn", f"--comments={'chat' if named or not asked else asked[0]}", *asked * named).stdout
    )


def test_a_number_that_no_engine_counts_keeps_no_game_from_its_readers(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "huge.pgn"
    log.write_bytes(TAGS + b"1. e4 {+0.35/21 1.9s, n=9223372036854775807, nps=1000000000000000} e5 *\n")
    cli("import", log)
    assert "1. e4" in cli("export", "pgn").stdout
    assert "sound" in cli("db", "check").output
