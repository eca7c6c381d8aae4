"""Edge cases 24–46: what a frame means in its game, and how games end. One test a case."""

import chess
import chess.variant

from recorder.model import AnomalyKind, Disposition, Game, LineKind, Proof
from tests.edge_cases.scripts import PROMPT, Table, details, events, log, only, proved, read, sans

START, PLY, SAME = Disposition.START, Disposition.PLY, Disposition.SAME
TAKEBACK, SNAPSHOT, ISOLATED = Disposition.TAKEBACK, Disposition.SNAPSHOT, Disposition.ISOLATED
PASS, HOLDINGS, FOREIGN = Disposition.PASS, Disposition.HOLDINGS, Disposition.FOREIGN


def test_edge_24_position_of_a_stored_game() -> None:
    """``sposition`` shows a stored game under a live number: with block mode its code tells, else the players do."""
    stored = Table(7, "Cid", "Dan", base=10)
    for san in ("d4", "d5", "c4", "e6", "Nc3"):
        answer = stored.play(san)
    same_players = stored.frame(white="Ann", black="Bob")
    table = Table()
    begin = [table.frame(), *table.plays("e4", "e5")]
    rest = [*table.plays("Nf3", "Nc6"), table.over("Ann resigns", "0-1")]
    blocked = [f"\x158\x16125\x16{answer}", "\x17"]
    own = [f"\x159\x16125\x16{same_players}", "\x17"]
    for shown in ([PROMPT + answer], [answer, answer], blocked, own):
        found = read(log(*begin, *shown, *rest))
        game = only(found)
        assert (game.white.handle, sans(game)) == ("Ann", ["e4", "e5", "Nf3", "Nc6"])
        assert proved(game)
        assert game.result == "0-1"
        assert found.frames(START, PLY) == [1, 4]
        assert found.frames(SNAPSHOT) == [sum(line.count("<12>") for line in shown)]
        assert found.anomalies() == []


def test_edge_25_static_board() -> None:
    static = Table(-1)
    static.board.push_san("e4")
    table = Table()
    first, e4 = table.frame(), table.play("e4")
    found = read(log(first, e4, static.frame(), static.play("e5"), static.frame(relation=-3), table.play("c5")))
    assert sans(only(found)) == ["e4", "c5"]
    assert found.frames(START, PLY, ISOLATED) == [1, 2, 3]


def test_edge_26_promotion_piece_only_in_the_pretty_move() -> None:
    board = chess.Board("3k4/4P3/8/8/8/8/8/4K3 w - - 0 40")
    table = Table(board=board, tokens=31)
    first = table.frame()
    frame = table.play("e8=Q+", verbose="P/e7-e8")
    assert " P/e7-e8 (0:02) e8=Q+ " in frame
    game = only(read(log(first, frame)))
    assert [(ply.uci, ply.san, ply.proof) for ply in game.plies] == [("e7e8q", "e8=Q+", Proof.FULL)]
    # The pretty move may be cut off; then the board alone shows the piece.
    game = only(read(log(first, frame[: frame.index(" (")] + "fics% ")))
    assert [(ply.uci, ply.san, ply.proof) for ply in game.plies] == [("e7e8q", "e8=Q+", Proof.UNPROVED)]


def test_edge_27_mate_marked_as_check() -> None:
    table = Table(tokens=31)
    frames = [table.frame(), *table.plays("f3", "e5", "g4")]
    mate = table.play("Qh4#", pretty="Qh4+")
    game = only(read(log(*frames, mate, table.over("Ann checkmated", "0-1"))))
    assert sans(game)[-1] == "Qh4#"
    assert proved(game)


def crazyhouse(*moves: str) -> tuple[Table, list[str]]:
    """A crazyhouse table and its lines: every frame with its ``<b1>``."""
    table = Table(board=chess.variant.CrazyhouseBoard())
    lines = [table.header("crazyhouse"), table.frame(), table.hands()]
    for san in moves:
        lines += [table.play(san), table.hands()]
    return table, lines


def test_edge_28_drop_removes_a_piece_from_the_holdings() -> None:
    table, lines = crazyhouse("e4", "e5", "Nf3", "Nc6", "Nxe5", "Nxe5", "d4")
    assert lines[-1] == "<b1> game 7 white [P] black [N]"
    lines += [table.play("N@e6"), table.hands()]
    assert " N/@@-e6 (0:02) N@e6 " in lines[-2]
    assert lines[-1] == "<b1> game 7 white [P] black []"
    found = read(log(*lines))
    game = only(found)
    assert (game.plies[-1].san, game.plies[-1].uci) == ("N@e6", "N@e6")
    assert proved(game)
    last = game.observations[0].holdings[-1]
    assert (last.ply, last.white, last.black) == (8, "P", "")
    assert found.holdings(HOLDINGS, PASS, FOREIGN) == [9, 0, 0]
    assert found.anomalies() == []


def _castle(table: Table, verbose: str, pretty: str, squares: dict[str, str]) -> str:
    """Castle by hand where python-chess knows no such castling; ``squares`` are those that change."""
    board = table.board
    for square, symbol in squares.items():
        piece = None if symbol == "-" else chess.Piece.from_symbol(symbol)
        board.set_piece_at(chess.parse_square(square), piece)
    board.turn = not board.turn
    board.fullmove_number += board.turn
    table.verbose, table.pretty = verbose, pretty
    return table.frame(castling="0 0 1 1" if board.turn == chess.BLACK else "0 0 0 0")


def test_edge_29_castling_of_a_king_that_is_not_on_e1() -> None:
    # wild/1: the king on d1 castles short to b1, and long to f1.
    short, long = {"d1": "-", "a1": "-", "b1": "K", "c1": "R"}, {"d1": "-", "h1": "-", "f1": "K", "e1": "R"}
    for verbose, pretty, fen, squares, uci in (
        ("o-o", "O-O", "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/R2KQBNR w - - 0 1", short, "d1b1"),
        ("o-o-o", "O-O-O", "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBK3R w - - 0 1", long, "d1f1"),
    ):
        table = Table(fen=fen)
        lines = [table.header("wild/1"), table.frame(castling="1 1 1 1")]
        lines += [table.play(san, castling="1 1 1 1") for san in ("e4", "e5")]
        lines += [_castle(table, verbose, pretty, squares), table.play("d6", castling="0 0 1 1")]
        found = read(log(*lines))
        game = only(found)
        assert (game.variant, sans(game)) == ("wild/1", ["e4", "e5", pretty, "d6"])
        assert proved(game)
        assert game.plies[2].uci == uci
        assert found.anomalies() == []
    # A server that calls a shuffled game blitz or nonstandard; here the black king castles from d8 to f8.
    for category in ("blitz", "nonstandard"):
        table = Table(fen="r2k3r/pppppppp/8/8/8/8/PPPPPPPP/R2K3R w - - 0 1")
        lines = [table.header(category), table.frame(castling="1 1 1 1"), table.play("e4", castling="1 1 1 1")]
        castled = {"d8": "-", "h8": "-", "f8": "k", "e8": "r"}
        found = read(log(*lines, _castle(table, "o-o-o", "O-O-O", castled), table.play("d4", castling="0 0 0 0")))
        assert [ply.uci for ply in only(found).plies] == ["e2e4", "d8f8", "d2d4"]
        assert proved(only(found))
        assert found.anomalies() == []
    # Fischer random: king and rook may change places.
    table = Table(board=chess.Board("4k3/8/8/8/8/8/8/5KR1 w G - 0 1", chess960=True))
    found = read(log(table.header("wild/fr"), table.frame(), table.play("O-O"), table.play("Ke7")))
    game = only(found)
    assert (game.plies[0].san, game.plies[0].uci) == ("O-O", "f1g1")
    assert proved(game)


def test_edge_30_pass_line_before_its_frame() -> None:
    table, lines = crazyhouse("e4", "e5", "Nf3", "Nc6", "Nxe5")
    capture = table.play("Nxe5")
    arrow = table.hands("BN")
    assert arrow.endswith("black [N] <- BN")
    # What an arrow line promises is provisional: here it shows a piece that the frame's own line does not.
    wrong = arrow.replace("black [N]", "black [NN]")
    for early in (arrow, wrong):
        found = read(log(*lines, PROMPT + early, capture, table.hands()))
        game = only(found)
        assert sans(game)[-1] == "Nxe5"
        assert proved(game)
        passed, after = game.observations[0].holdings[-2:]
        assert (passed.passed, passed.ply) == ("BN", 5)
        assert (after.passed, after.ply, after.white, after.black) == (None, 6, "P", "N")
        assert found.holdings(HOLDINGS, PASS) == [7, 1]
        assert found.anomalies() == []


def test_edge_31_holdings_of_another_game() -> None:
    _, lines = crazyhouse("e4", "e5")
    lines[3:3] = ["<b1> game 5 white [PRN] black [BQ]", "fics% <b1> game 5 white [PRNB] black [BQ] <- WB"]
    found = read(log(*lines))
    game = only(found)
    assert proved(game)
    assert {(change.white, change.black) for change in game.observations[0].holdings} == {("", "")}
    assert found.holdings(HOLDINGS, PASS, FOREIGN) == [3, 0, 2]
    assert found.anomalies() == []
    # Followed as well, the partner's game gets its hands and passes, and no other does.
    boards = [Table(7), Table(5, "Cid", "Dan")]
    lines = [line for table in boards for line in (table.header("bughouse"), table.frame())]
    lines += ["<b1> game 7 white [] black []", "<b1> game 5 white [PRN] black [BQ]"]
    lines += [boards[0].play("e4"), "fics% <b1> game 5 white [BPRN] black [BQ] <- WB"]
    games = {game.game_no: game for game in read(log(*lines)).games}
    holdings = {
        number: [(change.white, change.black, change.passed) for change in game.observations[0].holdings]
        for number, game in games.items()
    }
    assert holdings == {7: [("", "", None)], 5: [("PNR", "BQ", None), ("PNBR", "BQ", "WB")]}


def test_edge_32_captured_promoted_piece_becomes_a_pawn() -> None:
    table = Table(board=chess.variant.CrazyhouseBoard("r6r/1P4k1/8/8/8/8/8/4K3[] w - - 0 1"))
    lines = [table.header("crazyhouse"), table.frame(), table.hands()]
    for san in ("bxa8=Q", "Rxa8", "Kd2", "P@b3"):
        lines += [table.play(san), table.hands()]
    assert lines[6] == "<b1> game 7 white [R] black [P]"
    found = read(log(*lines))
    assert [ply.uci for ply in only(found).plies] == ["b7a8q", "h8a8", "e1d2", "P@b3"]
    assert proved(only(found))
    assert found.anomalies() == []
    lines[6] = "<b1> game 7 white [R] black [Q]"
    found = read(log(*lines))
    assert AnomalyKind.HOLDINGS.value in found.anomalies()


def test_edge_33_same_board_after_an_illegal_move() -> None:
    table = Table(relation=1)
    first, e4 = table.frame(), table.play("e4", relation=-1)
    e5 = table.play("e5")
    found = read(log(first, e4, e5, "fics% Illegal move (e4e5).", e5, table.play("Nf3", relation=-1)))
    game = only(found)
    assert sans(game) == ["e4", "e5", "Nf3"]
    assert details(game, "notice") == ["illegal-move"]
    assert details(game, "clock") == []
    assert found.frames(START, PLY, SAME) == [1, 3, 1]


def test_edge_34_last_board_repeated_after_the_flag() -> None:
    table = Table(ms=True)
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3")]
    repeated = table.frame(black_clock=-111)
    flagged = table.over("Bob forfeits on time", "1-0")
    for order in ([repeated, flagged], [flagged, repeated], [repeated, flagged, repeated]):
        found = read(log(*lines, *order))
        game = only(found)
        assert sans(game) == ["e4", "e5", "Nf3"]
        assert (game.result, game.reason_key, game.termination, game.end) == ("1-0", "time", "time forfeit", "result")
        assert game.plies[-1].black_clock_ms == 300_000
        assert found.frames(START, PLY, SAME) == [1, 3, order.count(repeated)]


def test_edge_35_takeback_without_text() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3", "Nc6"), table.undo(2), *table.plays("d4", "exd4")]
    found = read(log(*lines))
    game = only(found)
    assert sans(game) == ["e4", "e5", "d4", "exd4"]
    assert proved(game)
    taken = game.observations[0].lines[1]
    assert (taken.kind, taken.parent, taken.parent_ply) == (LineKind.TAKEBACK, 0, 2)
    assert [(ply.ply, ply.san) for ply in taken.plies] == [(3, "Nf3"), (4, "Nc6")]
    assert [(event.detail, event.value) for event in events(game, "takeback")] == [("4-2", 2)]
    assert found.frames(START, PLY, TAKEBACK) == [1, 6, 1]


def test_edge_36_takeback_frame_shows_an_earlier_move() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3")]
    back = table.undo(1)
    assert " 2 P/e7-e5 (0:02) e5 " in back
    found = read(log(*lines, back))
    assert sans(only(found)) == ["e4", "e5"]
    found = read(log(*lines, back, table.undo(2), *table.plays("d4", "d5")))
    game = only(found)
    assert sans(game) == ["d4", "d5"]
    assert [event.value for event in events(game, "takeback")] == [1, 2]
    taken = [[ply.san for ply in line.plies] for line in game.observations[0].lines[1:]]
    assert taken == [["Nf3"], ["e4", "e5"]]
    assert found.frames(START, PLY, TAKEBACK) == [1, 5, 2]


def test_edge_37_six_hundred_seconds_more() -> None:
    # 1.6.2 sends no board: the next frame's clock has jumped.
    for white_gets in (True, False):
        table = Table(relation=-1)
        lines = [table.frame(relation=1), *table.plays("e4", "e5", "Nf3", "Nc6")]
        table.clocks[0 if white_gets else 1] += 600_000
        lines += ["600 seconds were added to your opponents clock", table.play("Bb5"), table.play("a6")]
        game = only(read(log(*lines)))
        assert sans(game) == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"]
        adjusted = [(event.ply, event.detail, event.value) for event in events(game, "clock")]
        assert adjusted == [(5, "adjusted" if white_gets else "opponent-adjusted", 600_000)]
        assert [(event.detail, event.value) for event in events(game, "notice")] == [("time-added", 600)]
        assert game.plies[-1].white_clock_ms == 296_000 + 600_000 * white_gets
    # FatICS sends the board at once.
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3", "Nc6")]
    table.clocks[0] += 600_000
    found = read(log(*lines, table.frame(), table.play("Bb5")))
    game = only(found)
    assert [(event.ply, event.detail, event.white_clock_ms) for event in events(game, "clock")] == [
        (4, "same-ply", 898_000)
    ]
    assert found.frames(SAME) == [1]


def test_edge_38_pause_and_the_same_board_repeated() -> None:
    table = Table(4)
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3")]
    shown = table.frame(black_clock=290)
    paused = table.frame(ticking=0)
    found = read(
        log(
            *lines,
            shown,
            "fics% Game 4: Game clock paused.",
            paused,
            "fics% Game 4: Game clock resumed.",
            table.frame(),
            table.play("Nc6"),
        )
    )
    game = only(found)
    assert sans(game) == ["e4", "e5", "Nf3", "Nc6"]
    assert details(game, "notice") == ["paused", "resumed"]
    # To 290 s while Black thinks, back to 300 s with the pause.
    assert [(event.detail, event.black_clock_ms) for event in events(game, "clock")] == [
        ("same-ply", 290_000),
        ("same-ply", 300_000),
    ]
    assert details(game, "ticking")[-2:] == ["off", "on"]
    assert found.frames(START, PLY, SAME) == [1, 4, 3]


def test_edge_39_two_interleaved_games() -> None:
    for names in (("Cid", "Dan"), ("Ann", "Bob"), ("Bob", "Ann")):
        left, right = Table(7), Table(8, *names)
        lines = [left.frame(), right.frame()]
        for one, other in zip(("e4", "e5", "Nf3"), ("d4", "d5", "c4"), strict=True):
            lines += [left.play(one), right.play(other)]
        found = read(log(*lines, left.over("Ann resigns", "0-1"), right.over(f"{names[1]} resigns", "1-0")))
        games = {game.game_no: game for game in found.games}
        assert {number: sans(game) for number, game in games.items()} == {
            7: ["e4", "e5", "Nf3"],
            8: ["d4", "d5", "c4"],
        }
        assert (games[7].result, games[8].result) == ("0-1", "1-0")
        assert all(proved(game) and game.complete for game in found.games)
        assert found.frames(START, PLY) == [2, 6]


def test_edge_40_results_of_games_that_are_not_recorded() -> None:
    table = Table(12)
    first = [table.frame(), table.play("e4")]
    foreign = ["{Game 13 (Cid vs. Dan) Cid resigns} 0-1", "{Game 12 (Cid vs. Dan) Cid resigns} 0-1"]
    created = "{Game 14 (Cid vs. Dan) Creating rated blitz match.}"
    found = read(log(*first, *foreign, created, table.play("e5"), table.over("Game drawn by repetition", "1/2-1/2")))
    game = only(found)
    assert sans(game) == ["e4", "e5"]
    assert (game.result, game.reason_key) == ("1/2-1/2", "repetition")
    assert len(events(game, "result")) == 1
    assert found.report.elsewhere == {"results": 2, "starts": 1}


def _reused(second: Table, between: list[str]) -> list[Game]:
    table = Table(12)
    lines = [table.created(), table.frame(), *table.plays("e4", "e5", "Nf3"), *between]
    games = read(log(*lines, second.frame(), *second.plays("d4", "d5"))).games
    assert len(games) == 2
    return games


def test_edge_41_number_reused() -> None:
    over = Table(12).over("Ann resigns", "0-1")
    for names in (("Cid", "Dan"), ("Bob", "Ann"), ("Ann", "Bob")):
        for announced in (True, False):
            second = Table(12, *names, base=3, clocks=(180_000, 180_000))
            between = [over, *([second.created("standard")] if announced else [])]
            first, later = _reused(second, between)
            assert (first.white.handle, sans(first), first.result) == ("Ann", ["e4", "e5", "Nf3"], "0-1")
            assert ((later.white.handle, later.black.handle), sans(later)) == (names, ["d4", "d5"])
            assert (later.base_s, later.result, later.end) == (180, "*", "log-ends")
            assert first.key != later.key
            assert first.category == "blitz"
            assert later.category == ("standard" if announced else None)
    # The result was not seen at all.
    for line in (Table(12).created(), Table(12).observing(), Table(12).header()):
        first, later = _reused(Table(12), [line])
        assert (sans(first), first.result, first.end) == (["e4", "e5", "Nf3"], "*", "reused")
        assert (sans(later), later.complete) == (["d4", "d5"], False)


def test_edge_42_result_inside_the_block_of_the_mating_move() -> None:
    table = Table(107, "gbtami", "ggbtami", relation=-1)
    lines = [table.frame(relation=1), *table.plays("f3", "e5", "g4")]
    mate = table.play("Qh4#", relation=1)
    over = "{Game 107 (gbtami vs. ggbtami) gbtami checkmated} 0-1"
    block = f"\x1564\x161\x16\x07\n{mate}\n\n{over}\n\nNo ratings adjustment done.\n\x17\nfics% "
    found = read(log(*lines) + block.encode("latin-1"))
    game = only(found)
    assert sans(game) == ["f3", "e5", "g4", "Qh4#"]
    assert (game.result, game.reason_key, game.complete) == ("0-1", "checkmate", True)
    assert len(events(game, "result")) == 1
    found = read(log(*lines) + block.encode("latin-1") + log("", over))
    assert len(events(only(found), "result")) == 1


def _ended(reason: str, result: str, tail: str = "") -> Game:
    table = Table(12, "A", "B")
    lines = [table.frame(), *table.plays("e4", "e5"), table.over(reason, result) + tail]
    assert lines[-1].startswith("{Game 12 (A vs. B) ")
    return only(read(log(*lines)))


def test_edge_43_aborted_without_a_name() -> None:
    game = _ended("aborted", "*")
    assert (game.result, game.reason, game.reason_key, game.end) == ("*", "aborted", "aborted-lost", "aborted")
    assert game.termination == "abandoned"
    assert [event.actor for event in events(game, "result")] == [None]


def test_edge_44_partner_of_the_winner() -> None:
    game = _ended("A's partner won", "1-0")
    assert (game.result, game.reason_key, game.termination) == ("1-0", "partner-won", "normal")
    assert [event.actor for event in events(game, "result")] == ["A"]


def test_edge_45_tail_after_the_result() -> None:
    game = _ended("A checkmated", "0-1", " [5 0 1 0 9]")
    assert (game.result, game.reason, game.reason_key) == ("0-1", "A checkmated", "checkmate")
    assert game.complete


def test_edge_46_reason_in_another_language() -> None:
    game = _ended("A sofreu mate", "0-1")
    assert (game.result, game.reason, game.reason_key) == ("0-1", "A sofreu mate", "unknown")
    assert (game.termination, game.end, game.complete) == ("normal", "result", True)
