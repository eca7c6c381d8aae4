"""Edge cases 1–23 of the wire: how a frame may look and what its fields can hold. One test a case."""

import chess

from exporters.pgn.parts import cut_into_parts
from recorder.model import Disposition, EventKind, Origin, Precision, Proof
from tests.edge_cases.scripts import PROMPT, Table, events, log, only, proved, read, sans

START, JOINED, PLY = Disposition.START, Disposition.JOINED, Disposition.PLY
QUOTED, PARTIAL, LIST_START = Disposition.QUOTED, Disposition.PARTIAL, Disposition.LIST_START


def test_edge_01_no_blank_after_the_tag() -> None:
    table = Table(7, "Newton", "Einstein", base=2, increment=12, clocks=(120_000, 120_000), tokens=31)
    frames = [table.frame(), *table.plays("e4", "Nf6", "e5")]
    glued = [frame.replace("<12> ", "<12>") for frame in frames]
    assert glued[2].startswith("<12>rnbqkb-r pppppppp -----n-- ")
    found = read(log(*glued))
    game = only(found)
    assert (game.white.handle, game.black.handle, game.base_s, game.increment_s) == ("Newton", "Einstein", 120, 12)
    assert sans(game) == ["e4", "Nf6", "e5"]
    assert proved(game)
    assert found.frames(START, PLY) == [1, 3]


def test_edge_02_prompts_before_the_tag() -> None:
    table = Table()
    first, e4, e5, knight = table.frame(), *table.plays("e4", "e5", "Nf3")
    found = read(log(f"fics% {first}", f"fics% fics% {e4}", f"fics% fics% fics% {e5}", f"21:09_fics% {knight}"))
    assert sans(only(found)) == ["e4", "e5", "Nf3"]
    assert found.frames(START, PLY, QUOTED) == [1, 3, 0]


def test_edge_03_shout_cut_into_two_reads() -> None:
    table = Table()
    first, e4 = table.frame(), table.play("e4")
    spoof = Table()
    spoof.play("d4")
    before = log(first, e4)
    shout = f"Mallory shouts: {spoof.frame()}"
    data = before + log(f"fics% {shout}", PROMPT, table.play("e5"))
    cut = len(before) + len("fics% Mallory shouts: ")
    assert data[cut:].startswith(b"<12> rnbqkbnr ")
    found = read(data, cuts=[cut])
    assert sans(only(found)) == ["e4", "e5"]
    assert proved(only(found))
    assert found.frames(START, PLY, QUOTED) == [1, 2, 1]
    assert found.anomalies() == []


def test_edge_04_qtell_of_a_bot() -> None:
    table = Table()
    first, e4 = table.frame(), table.play("e4")
    spoof = Table()
    spoof.board.push_san("e4")
    found = read(log(first, e4, f":{spoof.play('c5')}", ":<12> rnbq", table.play("e5")))
    assert sans(only(found)) == ["e4", "e5"]
    assert found.frames(START, PLY, QUOTED) == [1, 2, 2]


def test_edge_05_ping_before_and_after_the_frame() -> None:
    table = Table()
    first, e4, e5, knight = table.frame(), *table.plays("e4", "e5", "Nf3")
    data = (
        f"\x07\n[G]\n{first}\n\r{PROMPT}\x07\n[G]\n{e4}\n\r{PROMPT}\n\r{e5}\n[G]\n\r{PROMPT}\n\r{knight}\n[G]\n"
    ).encode()
    found = read(data)
    assert sans(only(found)) == ["e4", "e5", "Nf3"]
    assert proved(only(found))
    assert found.frames(START, PLY) == [1, 3]
    assert found.report.shapes == []


def test_edge_06_ping_over_a_split_and_inside_a_frame() -> None:
    table = Table()
    first, e4, e5, knight = table.frame(), *table.plays("e4", "e5", "Nf3")
    assert e4.startswith("<12> rnbqkbnr ")
    inside = e4.replace("<12> rnbqkbnr", "<12> rnb[G]\0qkbnr", 1)
    data = f"{first}\n\r{inside}\n\r[G]\n\r{e5}\n\r{knight}\n\r".encode()
    bracket = data.index(b"[G]\n\r") + 1
    nested = data.index(b"[G]\0") + 2
    found = read(data, cuts=[nested, bracket])
    assert sans(only(found)) == ["e4", "e5", "Nf3"]
    assert proved(only(found))
    assert found.frames(START, PLY) == [1, 3]


def test_edge_07_missing_and_further_fields() -> None:
    for tokens, lag in ((31, None), (32, None), (33, 17)):
        table = Table(tokens=tokens)
        first, e4, e5 = table.frame(), table.play("e4"), table.play("e5", lag_ms=17)
        assert len(e5.split()) == tokens
        game = only(read(log(first, e4, e5)))
        assert sans(game) == ["e4", "e5"]
        assert game.plies[1].lag_ms == lag
        # A server that prints no ticking flag does not report whether the clock runs.
        assert [event for event in events(game, "ticking") if tokens == 31] == []
    table = Table()
    later = log(*(f"{frame} 4" for frame in [table.frame(), table.play("e4"), table.play("e5", lag_ms=17)]))
    game = only(read(later))
    assert sans(game) == ["e4", "e5"]
    assert game.plies[1].lag_ms == 17


def test_edge_08_frame_cut_after_the_move() -> None:
    white, black = "Whiteplayerxxxxxx", "Blackplayeryyyyyy"
    for kept in (0, 3, 7, 10):
        table = Table(7, white, black, tokens=31)
        first, e4, e5 = table.frame(), table.play("e4"), table.play("e5")
        end = e4.index("P/e2-e4") + len("P/e2-e4")
        cut = e4[: end + kept] + "fics% "
        found = read(log(first, cut, "\x07", e5, table.play("Nf3")))
        game = only(found)
        assert sans(game) == ["e4", "e5", "Nf3"]
        assert (game.white.handle, game.black.handle) == (white, black)
        ply = game.plies[0]
        assert ply.uci == "e2e4"
        # Without its pretty move a ply is not fully proved, and what was cut off is unknown.
        assert [other.proof for other in game.plies] == [Proof.UNPROVED, Proof.FULL, Proof.FULL]
        assert ply.lag_ms is None
        if kept < 7:
            assert (ply.white_clock_ms, ply.black_clock_ms, ply.elapsed_ms, ply.precision) == (None,) * 4
        assert found.frames(START, PLY, PARTIAL) == [1, 2, 1]
        # It is legal from board to board, so it can be exported with the others.
        assert [[ply.san for ply in part.plies] for part in cut_into_parts(game)] == [["e4", "e5", "Nf3"]]


def test_edge_09_unit_changes_in_the_middle() -> None:
    table = Table(base=10, clocks=(600_000, 600_000), ms=True)
    first = table.frame()
    table.ms = False
    e4 = table.play("e4")
    assert " 600 600 1 P/e2-e4 (0:00) e4 " in e4
    e5 = table.play("e5")
    table.ms = True
    knight = table.play("Nf3", elapsed_ms=1234)
    assert " 598766 600000 2 N/g1-f3 (0:01.234) Nf3 " in knight
    game = only(read(log(first, e4, e5, knight)))
    assert [(ply.white_clock_ms, ply.elapsed_ms, ply.precision) for ply in game.plies] == [
        (600_000, 0, Precision.SECONDS),
        (600_000, 0, Precision.SECONDS),
        (598_766, 1234, Precision.MILLISECONDS),
    ]
    assert events(game, "clock") == []


def test_edge_10_negative_clock() -> None:
    board = chess.Board("6k1/8/2n5/8/8/8/5K2/R7 b - - 10 61")
    table = Table(board=board, clocks=(-917, 15_723), ms=True)
    first = table.frame(verbose="K/f1-f2", pretty="Kf2")
    frame = table.play("Ne5", elapsed_ms=2211)
    assert " -917 13512 62 N/c6-e5 (0:02.211) " in frame
    found = read(log(first, frame, table.over("Ann forfeits on time", "0-1")))
    game = only(found)
    assert [(ply.ply, ply.san, ply.white_clock_ms, ply.black_clock_ms) for ply in game.plies] == [
        (122, "Ne5", -917, 13_512)
    ]
    assert found.anomalies() == []
    assert game.reason_key == "time"


def test_edge_11_more_than_an_hour() -> None:
    table = Table(base=120, clocks=(7_200_000, 7_200_000), ms=True)
    frames = [table.frame(), *table.plays("e4", "e5")]
    frames.append(table.play("Nf3", elapsed_ms=4_464_313, elapsed="(1:14:24.313)"))
    rows = [
        "Movelist for game 7:",
        "",
        "Ann (1500) vs. Bob (1600) --- Mon Nov  4, 08:38 CET 2002",
        "Rated standard match, initial time: 120 minutes, increment: 0 seconds.",
        "",
        "Move  Ann                     Bob",
        "----  ---------------------   ---------------------",
        "  1.  e4      (0:00.000)      e5      (0:00.000)",
        "  2.  Nf3     (1:14:24.313)",
        "      {Still in progress} *",
    ]
    game = only(read(log(*frames, *rows)))
    assert game.plies[2].elapsed_ms == 4_464_313
    assert events(game, "clock") == []
    game = only(read(log(*rows)))
    assert [ply.elapsed_ms for ply in game.plies] == [0, 0, 4_464_313]


def test_edge_12_sixty_in_the_seconds_place() -> None:
    table = Table(ms=True)
    frames = [table.frame(), *table.plays("e4", "e5"), table.play("Nf3", elapsed_ms=60_000, elapsed="(0:60.000)")]
    game = only(read(log(*frames)))
    assert game.plies[2].elapsed_ms == 60_000
    assert game.plies[2].white_clock_ms == 240_000


def test_edge_13_negative_time_for_a_move() -> None:
    table = Table(tokens=31)
    frames = [table.frame(), *table.plays("e4", "e5"), table.play("Nf3", elapsed_ms=-5000, elapsed="(0:-5)")]
    game = only(read(log(*frames)))
    assert sans(game) == ["e4", "e5", "Nf3"]
    assert game.plies[2].elapsed_ms == -5000
    assert game.plies[2].white_clock_ms == 305_000


def test_edge_14_initial_time_is_minutes() -> None:
    table = Table(base=5, clocks=(300_000, 300_000), ms=True)
    first = table.frame()
    assert " 5 0 39 39 300000 300000 1 " in first
    game = only(read(log(first, table.play("e4"))))
    assert (game.base_s, game.increment_s, game.base_inferred) == (300, 0, False)
    assert game.plies[0].white_clock_ms == 300_000


def test_edge_15_ten_seconds_where_the_clock_shows_them() -> None:
    table = Table(base=0, increment=45, clocks=(10_000, 10_000), ms=True)
    game = only(read(log(table.frame(), table.play("e4"), table.play("e5"))))
    assert (game.base_s, game.increment_s, game.base_inferred) == (10, 45, True)
    untimed = Table(base=0, increment=1, clocks=(0, 0))
    game = only(read(log(untimed.frame(), untimed.play("e4"))))
    assert (game.base_s, game.increment_s, game.base_inferred) == (0, 1, False)


def test_edge_16_double_push_that_no_pawn_can_take() -> None:
    for moves, square in ((["e4", "e5"], "-"), (["e4", "a6", "e5", "d5"], "d6")):
        table = Table()
        for san in moves:
            joined = table.play(san)
        assert f" W {'4' if square == '-' else '3'} 1 1 1 1 " in joined
        game = only(read(log(joined, table.play("Nf3"))))
        assert game.start_fen is not None
        assert game.start_fen.split()[3] == square
        assert sans(game) == ["Nf3"]


def test_edge_17_odd_counts_of_irreversible_moves() -> None:
    black_first = Table(fen="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")
    first, knight = black_first.frame(verbose="NONE", pretty="NONE"), black_first.play("Nf6", irreversible=1)
    game = only(read(log(first, knight, black_first.play("e4"))))
    assert (game.start_ply, sans(game)) == (1, ["Nf6", "e4"])
    assert game.plies[0].irreversible == 1
    table = Table()
    table.plays("e4", "e5")
    joined = table.frame(irreversible=-1)
    game = only(read(log(joined, table.play("d4", irreversible=-1))))
    assert game.start_fen == "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    assert game.plies[0].irreversible == -1


def test_edge_18_stale_castling_flag() -> None:
    fen = "r1bqk2r/ppp2ppp/2n5/3p4/8/8/PPPP1PPP/RNBQK2b w Qkq - 0 9"
    table = Table(fen=fen)
    joined = table.frame(castling="1 1 1 1", verbose="B/b7-h1", pretty="Bxh1")
    game = only(read(log(joined, table.play("d4", castling="1 1 1 1"))))
    assert game.start_fen is not None
    assert game.start_fen.split()[2] == "Qkq"
    flags = game.plies[0].flags
    assert flags is not None
    assert flags & 15 == 2 | 4 | 8
    assert proved(game)


def test_edge_19_two_rooks_on_one_side_of_the_king() -> None:
    """The rook that may castle is the one of the start position, not the outermost one of the moment."""
    board = chess.Board("rkr5/1pppppp1/8/8/8/8/1PPPPPP1/RKR5 w CAca - 0 1", chess960=True)
    table = Table(board=board)
    lines = [table.created("wild/fr"), table.frame()]
    lines += table.plays("Ra3", "Ra6", "Rh3", "Rb6", "Rhh1", "Rc6", "O-O")
    assert " o-o " in lines[-1]
    found = read(log(*lines))
    game = only(found)
    assert game.variant == "chess960"
    assert sans(game) == ["Ra3", "Ra6", "Rh3", "Rb6", "Rhh1", "Rc6", "O-O"]
    assert proved(game)
    assert game.plies[-1].uci == "b1c1"
    assert found.anomalies() == []


def test_edge_20_no_move_after_move_one() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 30"
    table = Table(fen=fen)
    first = table.frame()
    assert " 30 none " in first
    found = read(log(first, table.play("e4"), table.play("Kd7")))
    game = only(found)
    assert (game.start_fen, game.start_ply) == (fen, 58)
    assert [(ply.ply, ply.san) for ply in game.plies] == [(59, "e4"), (60, "Kd7")]
    assert found.frames(START, PLY) == [1, 2]


def test_edge_21_black_begins() -> None:
    table = Table(fen="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", tokens=31)
    first = table.frame(verbose="NONE", pretty="NONE")
    assert " 1 NONE (0:00) NONE 0" in first
    found = read(log(first, table.play("e5"), table.play("Nf3")))
    game = only(found)
    assert game.start_ply == 1
    assert game.start_fen is not None
    assert game.start_fen.split()[1] == "b"
    assert [(ply.ply, ply.san) for ply in game.plies] == [(2, "e5"), (3, "Nf3")]
    assert found.frames(START, PLY) == [1, 2]


def test_edge_22_start_position_inside_a_movelist() -> None:
    board = chess.Board("bqnbrknr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKNR w HEhe - 0 1", chess960=True)
    fen = board.fen()
    table = Table(3, "homerg", "drakorg", board=board, base=3, clocks=(169_403, 45_227), ms=True)
    start = table.frame(relation=-4)
    assert " -4 3 0 39 39 169403 45227 1 none (0:00.000) none " in start
    table.plays("e4", "e5", "Nf3")
    joined = table.frame(white_clock=167_403)
    lines = [
        joined,
        "Movelist for game 3:",
        "",
        "homerg (1626) vs. drakorg (1678) --- Mon Nov  4, 08:38 CET 2002",
        "Rated wild/fr match, initial time: 3 minutes, increment: 0 seconds.",
        "",
        start,
        "",
        "Move  homerg                  drakorg",
        "----  ---------------------   ---------------------",
        "  1.  e4      (0:00.000)      e5      (0:00.000)",
        "  2.  Nf3     (0:01.699)",
        "      {Still in progress} *",
        PROMPT,
        table.play("Nf6"),
    ]
    found = read(log(*lines))
    game = only(found)
    assert (game.start_ply, game.variant) == (0, "chess960")
    assert game.start_fen is not None
    assert game.start_fen.split()[0] == fen.split()[0]
    assert [(ply.san, ply.origin, ply.proof) for ply in game.plies] == [
        ("e4", Origin.MOVELIST, Proof.LIST),
        ("e5", Origin.MOVELIST, Proof.LIST),
        ("Nf3", Origin.MOVELIST, Proof.LIST),
        ("Nf6", Origin.FRAME, Proof.FULL),
    ]
    # The clocks of that board are those of the moment, so nothing of them becomes a ply's clock.
    assert [ply.white_clock_ms for ply in game.plies[:3]] == [None] * 3
    assert found.frames(JOINED, LIST_START, PLY) == [1, 1, 1]
    assert [event.kind for event in game.events if event.kind is EventKind.TAKEBACK] == []


def test_edge_23_icc_movelist_with_an_isolated_board() -> None:
    start = (
        "<12> qnrkbbnr pppppppp -------- -------- -------- -------- PPPPPPPP QNRKBBNR W -1 1 0 1 0 1 "
        "1029 threechecksbot Mike -3 3 0 39 39 173 170 1 none (0:00) none 0"
    )
    lines = [
        "",
        "threechecksbot (2120) vs. Mike (1415) --- 2008.01.19 16:55:38 ",
        "Unrated wild(22) match, initial time: 3 minutes, increment: 0 seconds",
        "",
        start,
        "",
        "Move threechecksbot Mike ",
        "---- ---------------- ----------------",
        " 1. d4 (0:02) d5 (0:02) ",
        " 2. e3 (0:02) c6 (0:02) ",
        " 3. Nf3 (0:02) ",
        " {Game in progress} *",
        "aics%",
    ]
    found = read(log(*lines, end="\r\n"))
    game = only(found)
    assert (game.white.handle, game.white.rating, game.black.rating) == ("threechecksbot", 2120, 1415)
    assert (game.variant, game.rated, game.base_s, game.date_text) == ("chess960", False, 180, "2008.01.19 16:55:38")
    assert game.start_fen is not None
    assert game.start_fen.startswith("qnrkbbnr/pppppppp/8/8/8/8/PPPPPPPP/QNRKBBNR w ")
    assert sans(game) == ["d4", "d5", "e3", "c6", "Nf3"]
    assert [(ply.elapsed_ms, ply.proof) for ply in game.plies] == [(2000, Proof.LIST)] * 5
    assert game.result == "*"
    assert found.frames(LIST_START, START, JOINED) == [1, 0, 0]
    assert found.report.dialect == "ICC"
