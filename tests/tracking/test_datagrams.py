"""Games from ICC's datagrams, written by the reference's field tables because no transcript contains any."""

from collections.abc import Sequence

import chess
import chess.variant
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.pgn.exporter import PgnExporter
from recorder.model import Disposition, Game, GameKind, Origin, Precision, Proof
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from recorder.sources.detect import detect
from tests.edge_cases.scripts import Table, details, events
from tests.support.icc import dg, read, sent_moves, session, started

SICILIAN = ("e4 e2e4", "c5 c7c5", "Nf3 g1f3", "d6 d7d6", "d4 d2d4", "cxd4 c5d4p", "Nxd4 f3d4p")
OPEN = dg(0, "Ann {}") + started() + dg(43, "7 PW") + dg(101, "7 {} 0")
WATCH = started(18, more="0 0 0 {} 0") + dg(43, "7 O")


def one(data: str, **options: str) -> Game:
    """Return the one game of a stream, read in three kinds of chunks."""
    games, report = read(data, **options)
    for cut in (1, 7):
        assert read(data, cut=cut, **options) == (games, report)
    assert len(games) == 1, [(game.kind, [ply.san for ply in game.plies]) for game in games]
    return games[0]


def sans(game: Game) -> list[str]:
    return [ply.san for ply in game.plies]


def smith(board: chess.Board, move: chess.Move) -> str:
    """Return a move as ICC writes squares, by python-chess, not by our writer."""
    text = chess.square_name(move.from_square) + chess.square_name(move.to_square)
    if board.is_castling(move):
        return text + ("c" if board.is_kingside_castling(move) else "C")
    taken = board.piece_at(move.to_square)
    text += "E" if board.is_en_passant(move) else taken.symbol().lower() if taken else ""
    return text + (chess.piece_symbol(move.promotion).upper() if move.promotion else "")


def squares(board: chess.Board) -> str:
    """Return 64 characters from a8 on."""
    pieces = [board.piece_at(square ^ 56) for square in chess.SQUARES]
    return "".join("-" if piece is None else piece.symbol() for piece in pieces)


def test_a_game_of_our_own() -> None:
    moves = [f"{move} {3 + at} {180 - at} 1" for at, move in enumerate(SICILIAN)]
    game = one(OPEN + sent_moves(*moves) + dg(16, "7 1 Fla 1-0 {Black forfeits on time} B50"))
    assert sans(game) == ["e4", "c5", "Nf3", "d6", "d4", "cxd4", "Nxd4"]
    assert {ply.origin for ply in game.plies} == {Origin.DATAGRAM}
    assert {ply.proof for ply in game.plies} == {Proof.LIST}
    assert [ply.elapsed_ms for ply in game.plies] == [3000, 4000, 5000, 6000, 7000, 8000, 9000]
    assert game.plies[2].white_clock_ms == 178_000
    assert game.plies[2].black_clock_ms == 179_000
    assert game.plies[0].black_clock_ms is None
    assert {ply.precision for ply in game.plies} == {Precision.SECONDS}
    assert {(ply.irreversible, ply.lag_ms) for ply in game.plies} == {(None, None)}
    assert (game.result, game.reason_key, game.termination, game.end) == ("1-0", "time", "time forfeit", "result")
    assert (game.complete, game.rated, game.category, game.variant) == (True, True, "blitz", "chess")
    assert (game.base_s, game.increment_s, game.me, game.dialect) == (180, 2, "Ann", "ICC")
    assert (game.white.rating, game.white.titles, game.black.rating) == (1500, "(GM)", None)
    assert [seen.relation for seen in game.observations] == [1]


@pytest.mark.parametrize("form", ["{0} {1} 3 170", "{0} 3 170", "{1} 3 170 1", "{0}", "{1}", "{0} {1} 1"])
def test_every_form_of_a_move(form: str) -> None:
    reported = [form.format(*move.split()) for move in SICILIAN]
    game = one(OPEN + sent_moves(*reported))
    assert sans(game) == ["e4", "c5", "Nf3", "d6", "d4", "cxd4", "Nxd4"]
    assert game.end == "log-ends"
    known = "170" in form
    assert {ply.elapsed_ms for ply in game.plies} == ({3000} if known else {None})
    assert game.plies[-1].white_clock_ms == (170_000 if known else None)


def test_settings_decide_the_meaning_of_a_number() -> None:
    reported = dg(124, "35 0") + dg(124, "36 1") + dg(124, "113 0") + OPEN + sent_moves("e4 5", "e5 4")
    plies = one(reported).plies
    assert [(ply.white_clock_ms, ply.black_clock_ms, ply.elapsed_ms) for ply in plies] == [
        (5000, None, None),
        (5000, 4000, None),
    ]


def test_milliseconds_replace_seconds() -> None:
    data = OPEN + dg(56, "7 W 180000 0") + dg(56, "7 B 180000 0")
    data += sent_moves("e4 e2e4 1 181 1") + dg(56, "7 W 180700 0") + dg(56, "7 B 180000 1")
    data += dg(56, "7 B 179500 0") + sent_moves("e5 e7e5 2 180 1") + dg(144, "Bob 100")
    data += sent_moves("Nf3 g1f3 2 180 1")
    plies = one(data).plies
    assert [(ply.white_clock_ms, ply.black_clock_ms, ply.lag_ms, ply.precision) for ply in plies] == [
        (180_700, 180_000, None, Precision.MILLISECONDS),
        (180_700, 179_500, 100, Precision.MILLISECONDS),
        (180_000, 179_500, None, Precision.SECONDS),
    ]


def test_a_clock_of_another_move_is_not_used() -> None:
    plies = one(OPEN + sent_moves("e4 e2e4 1 181 1") + dg(56, "7 W 179000 0")).plies
    assert (plies[0].white_clock_ms, plies[0].precision) == (181_000, Precision.SECONDS)


@pytest.mark.parametrize(
    "joined",
    [
        dg(101, "7 {} 3") + sent_moves("e4 e2e4 1 181 0", "c5 c7c5 2 180 0", "Nf3 g1f3 3 179 0"),
        dg(110, "7 {} 3") + "".join(dg(111, f"7 {move} 1 180 0") for move in SICILIAN[:3]),
        dg(25, "7 * {e4 e2e4 1 181 0}{c5 c7c5 2 180 0} {Nf3 g1f3 3 179 0}"),
        dg(25, "7 * {e4}{c5}{Nf3}"),
    ],
)
def test_a_game_joined_late_is_complete(joined: str) -> None:
    game = one(WATCH + joined + sent_moves("d6 d7d6 1 170 1") + dg(16, "7 0 Res 0-1 {White resigns} ?"))
    assert sans(game) == ["e4", "c5", "Nf3", "d6"]
    assert (game.start_ply, game.result, game.reason_key, game.complete) == (0, "0-1", "resign", True)
    assert [seen.relation for seen in game.observations] == [0]


def test_no_move_is_invented_without_a_list() -> None:
    games, report = read(WATCH + sent_moves(*SICILIAN))
    assert games == []
    assert [found.kind.value for found in report.anomalies] == ["gap"]


def test_a_fen_gives_the_position_before_the_next_moves() -> None:
    board = chess.Board()
    for san in ("e4", "c5"):
        board.push_san(san)
    game = one(WATCH + dg(70, f"7 {{{board.fen()}}}") + sent_moves(*SICILIAN[2:4]))
    assert sans(game) == ["Nf3", "d6"]
    assert (game.start_ply, game.plies[0].ply) == (2, 3)
    assert not game.complete


def test_a_refresh_repeats_nothing_and_fills_what_is_missing() -> None:
    listed = "7 * " + "".join(f"{{{move}}}" for move in SICILIAN[:4])
    game = one(OPEN + sent_moves(*SICILIAN[:2]) + dg(41, "7") + dg(25, listed) + dg(25, listed) + sent_moves("d4"))
    assert sans(game) == ["e4", "c5", "Nf3", "d6", "d4"]
    assert details(game, "takeback") == []
    assert len(game.observations) == 1


def test_lost_data_and_the_refresh_after_it() -> None:
    lost = OPEN + sent_moves(*SICILIAN[:2]) + "\x19[24 Bob\r\n\x19(24 7 Nf\x1a" + sent_moves("d4")
    game, report = (one(lost), read(lost)[1])
    assert sans(game) == ["e4", "c5"]
    assert "server lost data" in details(game, "feed")
    assert details(game, "notice") == ["unplaced-move"]
    assert {found.kind.value for found in report.anomalies} == {"lost-data", "malformed", "gap"}
    refreshed = lost + dg(25, "7 * " + "".join(f"{{{move}}}" for move in SICILIAN[:5])) + sent_moves("cxd4 c5d4p")
    assert sans(one(refreshed)) == ["e4", "c5", "Nf3", "d6", "d4", "cxd4"]


def test_plies_taken_back_are_kept_beside_the_main_line() -> None:
    game = one(OPEN + sent_moves(*SICILIAN[:4]) + dg(22, "7 2") + sent_moves("Nc3 b1c3", "d6 d7d6"))
    assert sans(game) == ["e4", "c5", "Nc3", "d6"]
    assert details(game, "takeback") == ["4-2"]
    assert [[ply.san for ply in line.plies] for line in game.observations[0].lines[1:]] == [["Nf3", "d6"]]


def test_a_refresh_can_show_a_takeback() -> None:
    game = one(OPEN + sent_moves(*SICILIAN[:4]) + dg(25, "7 * {e4}{c5}{Nc3}"))
    assert sans(game) == ["e4", "c5", "Nc3"]
    assert details(game, "takeback") == ["4-2"]


def test_an_impossible_move_is_not_proved() -> None:
    games, report = read(OPEN + sent_moves("e4 e2e4", "e5 e7e4", "Nf3 g1f3"))
    assert [sans(game) for game in games] == [["e4"]]
    assert [found.kind.value for found in report.anomalies] == ["conflict"]
    assert details(games[0], "notice") == ["unplaced-move"] * 2


def test_words_around_a_game() -> None:
    data = OPEN + sent_moves("e4") + dg(26, "7 Cyd {GM C} 1 <hello {7}\nthere>") + dg(26, "7 Dot {} 0 <psst>")
    data += dg(21, "7 0 1 0 0 0 0 2 0") + dg(21, "7 0 1 0 0 0 0 2 0") + dg(61, "7 W 60") + dg(38, "7 200 100")
    data += dg(42, "7 e9 1") + dg(77, "7 {Clock was set.}") + dg(112, "7 Date {2012.06.13}") + dg(39, "7 1")
    game = one(data)
    assert [(event.detail, event.actor, event.text) for event in events(game, "chat")] == [
        ("kibitz", "Cyd", "hello {7}\nthere"),
        ("whisper", "Dot", "psst"),
    ]
    assert [(event.detail, event.actor, event.value) for event in events(game, "notice")] == [
        ("draw-offer", "Bob", None),
        ("takeback-request", "Ann", 2),
        ("time-added", None, 60),
        ("illegal-move", "Ann", 1),
        ("game-message", None, None),
        ("pgn-tag", "Date", None),
    ]
    clock = events(game, "clock")
    assert [(event.detail, event.white_clock_ms, event.black_clock_ms) for event in clock] == [("set", 200000, 100000)]
    assert game.date_text == "2012.06.13"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("0 Mat 0-1 {White checkmated} C20", ("0-1", "checkmate", "normal", "result")),
        ("0 Res 1-0 {Black's partner resigns} ?", ("1-0", "partner-decided", "normal", "result")),
        ("0 Fla 1-0 {Noch Zeit?} ?", ("1-0", "time", "time forfeit", "result")),
        ("0 BQ 1-0 {Black got disconnected and forfeits} ?", ("1-0", "disconnect-loss", "abandoned", "result")),
        ("0 Sta 1/2-1/2 {Black stalemated} ?", ("1/2-1/2", "stalemate", "normal", "result")),
        ("0 TM 1/2-1/2 {words} ?", ("1/2-1/2", "time-vs-bare", "normal", "result")),
        ("0 ? * {Game adjourned when Black disconnected}", ("*", "adjourned-lost", "unterminated", "adjourned")),
        ("0 ? * {Game courtesyadjourned by White}", ("*", "adjourned-courtesy", "unterminated", "adjourned")),
        ("0 Sho aborted {Game aborted because it's too short}", ("*", "aborted-early", "abandoned", "aborted")),
        ("0 BA aborted {words}", ("*", "aborted-courtesy", "abandoned", "aborted")),
        (
            "0 BQ aborted {Game aborted when Black's partner disconnected}",
            ("*", "partner-aborted", "abandoned", "aborted"),
        ),
    ],
)
def test_results(fields: str, expected: tuple[str, ...]) -> None:
    game = one(OPEN + sent_moves("e4") + dg(16, f"7 {fields}") + dg(43, "7 X"))
    assert (game.result, game.reason_key, game.termination, game.end) == expected


def test_another_games_result_and_an_isolated_board_change_nothing() -> None:
    data = OPEN + sent_moves("e4") + dg(13, "8 0 Res 1-0 {Black resigns} ?") + started(12, game=8)
    data += started(40, game=-1) + dg(25, "-1 * {d4 d2d4}") + dg(16, "-1 0 Res 1-0 {Black resigns} ?")
    data += started(40, game=9) + dg(25, "9 * {d4 d2d4}")
    game = one(data + sent_moves("e5"))
    assert (sans(game), game.result) == (["e4", "e5"], "*")


def test_a_game_left_and_rejoined_is_one() -> None:
    first = WATCH + dg(101, "7 {} 1") + sent_moves("e4 e2e4") + dg(19, "7")
    rejoined = WATCH + dg(101, "7 {} 3") + sent_moves(*SICILIAN[:3]) + sent_moves("d6") + dg(43, "7 X")
    game = one(first + rejoined)
    assert sans(game) == ["e4", "c5", "Nf3", "d6"]
    assert details(game, "feed").count("unobserved") == 2


def test_games_of_others_do_not_replace_ours() -> None:
    others = "".join(started(12, game=number) for number in range(100, 900))
    assert sans(one(OPEN + sent_moves("e4") + others + sent_moves("e5"))) == ["e4", "e5"]


def test_a_game_of_a_lost_connection_delays_no_other() -> None:
    """The restart point of a growing log moves past a game of a lost connection."""
    end = "\r\n**** Auto-logout because you were idle more than 60 minutes. ****\r\n\r\nBye.\r\nx\r\n"
    lost = OPEN + sent_moves(*SICILIAN) + end
    tracker = Pipeline(SourceKind.RAW)
    tracker.receive(lost.encode("latin-1"))
    assert tracker._tracker._datagrams is None
    games, _ = read(lost + dg(0, "Ann {}") + started() + dg(43, "7 PW") + sent_moves("e4 e2e4"))
    assert [sans(game) for game in games] == [["e4", "c5", "Nf3", "d6", "d4", "cxd4", "Nxd4"], ["e4"]]


def test_names_can_change() -> None:
    changed = started(100).replace("Bob", "Carl")
    game = one(OPEN + sent_moves("e4") + changed + sent_moves("e5"))
    assert (sans(game), game.black.handle) == (["e4", "e5"], "Carl")
    assert details(game, "names") == ["names"]


def test_two_games_in_a_row_and_at_once() -> None:
    data = OPEN + sent_moves("e4") + started(18, game=8).replace("Ann Bob", "Cyd Dot") + dg(101, "8 {} 0")
    data += dg(24, "8 d4 d2d4") + sent_moves("e5") + dg(24, "8 d5 d7d5") + dg(16, "7 0 Res 1-0 {Black resigns} ?")
    data += started() + dg(101, "7 {} 0") + sent_moves("c4")
    games, _ = read(data)
    assert sorted(sans(game) for game in games) == [["c4"], ["d4", "d5"], ["e4", "e5"]]


@pytest.mark.parametrize(
    ("control", "base"), [("5400+30", (5400, 30)), ("40/7200:20/3600", (None, None)), ("?", (None, None))]
)
def test_other_time_controls(control: str, base: tuple[int | None, int | None]) -> None:
    data = OPEN.replace("0 0 0 {} 0", f"0 0 0 {control} 0")
    game = one(data + sent_moves("e4"))
    assert (game.base_s, game.increment_s) == base
    assert [event.text for event in events(game, "notice")] == [control]
    assert f'[TimeControl "{control}"]' in PgnExporter().game_text(game)


# Variants


def datagrams_from(board: chess.Board, moves: Sequence[str], boards: bool = False) -> str:
    """Return moves as datagrams, with the board after each if ``boards``."""
    data = ""
    for san in moves:
        move = board.parse_san(san)
        squares_text = san if "@" in san else smith(board, move)
        data += dg(24, f"7 {board.san(move)} {squares_text} 1 100 1")
        board.push(move)
        data += dg(84, f"7 {squares(board)} {'W' if board.turn else 'B'}") if boards else ""
    return data


def test_atomic_games_follow_the_reported_boards() -> None:
    moves = ["e4", "d5", "exd5", "e6", "Nc3"]
    game = one(
        started(wild=27, kind="Wild", more="1 1 0 {} 0")
        + dg(101, "7 {} 0")
        + datagrams_from(chess.variant.AtomicBoard(), moves, boards=True)
    )
    assert sans(game) == moves
    assert game.variant == "atomic"


def test_chess960_with_and_without_its_castling() -> None:
    start = chess.Board("rqnbbknr/pppppppp/8/8/8/8/PPPPPPPP/RQNBBKNR w KQkq - 0 1", chess960=True)
    moves = ["Nf3", "Nf6", "O-O", "O-O", "e3", "e6"]
    begin = started(wild=22, kind="Wild", more="0 1 0 {} 0") + dg(101, f"7 {{{start.fen()}}} 0")
    game = one(begin + datagrams_from(start.copy(), moves, boards=True))
    assert (sans(game), game.variant) == (moves, "chess960")
    board, data = start.copy(), begin
    for san in moves:
        before = board.copy()
        board.push_san(san)
        reported = squares(board)
        data += dg(84, f"7 {reported} {'W' if board.turn else 'B'}") if san == "O-O" else datagrams_from(before, [san])
    assert sans(one(data)) == moves


def test_crazyhouse_drops_and_holdings() -> None:
    board = chess.variant.CrazyhouseBoard()
    moves = ["e4", "d5", "exd5", "Qxd5", "Nc3", "Qd8", "P@d5"]
    data = started(wild=23, kind="Crazyhouse", more="1 0 1 {} 0") + dg(101, "7 {} 0")
    data += datagrams_from(board, moves[:3]) + dg(37, "7 {P} {}") + datagrams_from(board, moves[3:])
    game = one(data)
    assert (sans(game), game.variant) == (moves, "crazyhouse")
    assert [(holdings.white, holdings.black) for holdings in game.observations[0].holdings] == [("P", "")]


def test_a_set_up_start_with_black_to_move() -> None:
    fen = "4k3/P7/8/8/8/8/7p/4K3 b - - 0 30"
    game = one(
        started(wild=20, kind="Wild")
        + dg(101, f"7 {{{fen}}} 0")
        + datagrams_from(chess.Board(fen), ["h1=Q+", "Kd2", "Qh2+"])
    )
    assert sans(game) == ["h1=Q+", "Kd2", "Qh2+"]
    assert (game.start_fen, game.start_ply) == (fen, 59)


def test_every_move_of_a_long_game() -> None:
    board = chess.Board()
    data = OPEN
    moves = []
    for _ in range(120):
        legal = sorted(
            board.legal_moves,
            key=lambda move: (
                not board.is_castling(move),
                not board.is_en_passant(move),
                move.promotion is None,
                not board.is_capture(move),
                (move.from_square * 31 + move.to_square * 17 + len(moves)) % 64,
            ),
        )
        if not legal:
            break
        moves.append(board.san(legal[0]))
        data += datagrams_from(board, [moves[-1]])
    assert sans(one(data)) == moves


# Examined games


def test_an_examined_game() -> None:
    data = started(18, played=0) + dg(43, "7 O") + dg(101, "7 {} 2") + sent_moves("e4 e2e4 0", "c5 c7c5 0")
    data += sent_moves("Nf3 g1f3 2") + dg(23, "7 2") + sent_moves("e5 e7e5 3") + dg(17, "7")
    game = one(data)
    assert game.kind is GameKind.EXAMINED
    assert "backward" in details(game, "examine")
    assert [seen.relation for seen in game.observations] == [-2, None]
    lines = [[(ply.ply, ply.san) for ply in line.plies] for line in game.observations[0].lines]
    assert lines == [[(1, "e4"), (2, "c5"), (3, "Nf3")], [(2, "e5")]]
    reported = game.observations[0].lines[1].plies[0]
    assert (reported.origin, reported.proof, reported.white_clock_ms) == (Origin.DATAGRAM, Proof.LIST, None)


def test_a_played_game_that_becomes_an_examined_one() -> None:
    data = OPEN + sent_moves(*SICILIAN[:2]) + dg(16, "7 1 Res 1-0 {Black resigns} ?") + dg(43, "7 E")
    games, _ = read(data + dg(23, "7 1") + sent_moves("e5 e7e5 3"))
    played = [game for game in games if game.kind is GameKind.PLAYED]
    assert [(sans(game), game.result) for game in played] == [(["e4", "c5"], "1-0")]
    assert [game.kind for game in games if game not in played] == [GameKind.EXAMINED]


# With style 12


def frames(*moves: str) -> list[str]:
    table = Table(base=3, increment=2, clocks=(180_000, 180_000), ms=False, tokens=31, relation=1)
    return [table.frame(), *(table.play(move) for move in moves)]


@pytest.mark.parametrize("first", ["frames", "datagrams"])
def test_frames_and_datagrams_are_one_game(first: str) -> None:
    shown = frames("e4", "c5", "Nf3", "d6")
    data = dg(0, "Ann {}") + started() + dg(43, "7 PW")
    parts = [[f"{shown[0]}\r\n", dg(101, "7 {} 0")]]
    parts += [[f"{frame}\r\n", sent_moves(move)] for frame, move in zip(shown[1:], SICILIAN, strict=False)]
    for pair in parts:
        data += "".join(pair if first == "frames" else pair[::-1])
    game = one(data)
    assert sans(game) == ["e4", "c5", "Nf3", "d6"]
    assert {(ply.origin, ply.proof) for ply in game.plies} == {(Origin.FRAME, Proof.FULL)}
    assert len(game.observations) == 1
    assert details(game, "takeback") == []
    report = read(data)[1]
    assert sum(report.frames.values()) == 5
    assert report.frames.get(Disposition.CONFLICT) is None


@pytest.mark.parametrize("first", ["frames", "clock"])
def test_frames_take_milliseconds_from_datagrams(first: str) -> None:
    table = Table(base=3, increment=0, clocks=(180_000, 180_000), ms=False, tokens=31, relation=0)
    data = f"{table.frame()}\r\n"
    for at, move in enumerate(("e4", "e5", "Nf3", "Nc6")):
        frame, clock = f"{table.play(move)}\r\n", dg(56, f"7 {'WB'[at % 2]} {int(table_clock(table, at))} 0")
        data += frame + clock if first == "frames" else clock + frame
    game = one(data + dg(56, "7 W 1 0"))
    assert {ply.precision for ply in game.plies} == {Precision.MILLISECONDS}
    assert [(ply.white_clock_ms or 0) % 1000 for ply in game.plies if ply.white_moved] == [321, 321]


def table_clock(table: Table, at: int) -> int:
    """Return the mover's clock of the last frame plus some milliseconds."""
    text = table.frame().split()
    return 1000 * int(text[24 + at % 2]) + 321


# Units


def test_a_unit_with_datagrams_about_boards_is_read_by_them_alone() -> None:
    shown = frames("e4")
    data = OPEN + f"\x19[24 *\r\n{sent_moves('e4 e2e4')}\r\n{shown[1]}\r\n\x19]"
    game = one(data)
    assert [(ply.san, ply.origin) for ply in game.plies] == [("e4", Origin.DATAGRAM)]


def test_a_unit_without_them_is_read_as_text() -> None:
    shown = frames("e4", "c5")
    data = "".join(f"\x19[24 *\r\n{dg(56, '7 W 179321 0')}{frame}\r\n\x19]" for frame in shown)
    data += "\x19[30 *\r\n{Game 7 (Ann vs. Bob) Bob resigns} 1-0\r\n\x19]"
    game = one(data)
    assert (sans(game), game.result, game.complete) == (["e4", "c5"], "1-0", True)


@pytest.mark.parametrize("width", [40, 97, 4096])
def test_an_xboard_log_gives_the_same_games(width: int) -> None:
    """Return one line for each read(), with octal escapes for control characters."""
    stream = session()
    reads = [stream[at : at + width].decode("latin-1") for at in range(0, len(stream), width)]
    lines = ["".join(f"\\{ord(at):03o}" if at < " " or at > "~" else at for at in text) for text in reads]
    pipeline = Pipeline(SourceKind.XBOARD)
    games = pipeline.receive("".join(f"<ICS: {line}\n" for line in lines).encode()) + pipeline.finish()
    expected, _ = read(stream.decode("latin-1"))
    assert [(game.kind, sans(game), game.result) for game in games] == [
        (game.kind, sans(game), game.result) for game in expected
    ]


def test_a_log_of_datagrams_alone_is_known_as_a_log() -> None:
    assert detect(OPEN.encode("latin-1")) is SourceKind.RAW
    assert detect(b"\x19[328 fishbait\r\nfishbait spoofs you\r\n\x19]") is SourceKind.RAW
    assert detect(b"\x19(x\x19) \x19[now]") is None


def test_unknown_numbers_are_counted() -> None:
    report = read(dg(250, "a {b} <c>") * 3)[1]
    assert [tuple(shape)[:2] for shape in report.shapes] == [("(ICC datagram 250)", 3)]


PIECES = [
    *(OPEN, WATCH, dg(25, "7 * {e4}{c5}"), dg(22, "7 1"), dg(23, "7 1"), dg(16, "7 1 Res 1-0 {x} ?"), dg(43, "7 X")),
    *(sent_moves(move) for move in SICILIAN[:3]),
    *(dg(56, "7 W 1000 0"), dg(144, "Ann 3"), dg(84, f"7 {'-' * 64} W"), dg(101, "7 {} 2"), started(100), "\x1a"),
    *(f"{frame}\r\n" for frame in frames("e4", "c5")),
    *(
        "\x19[24 *\r\n",
        "\x19]",
        "\x19(",
        "\x19)",
        "\x19{",
        "\x19}",
        "7",
        "{",
        "\r\n",
        dg(70, "7 {x}"),
        dg(37, "7 P {}"),
    ),
    *(dg(49, f"7 {'-' * 64} W -1 0 0 0 0 1 {{}} {{}} 1 1 0 0"), dg(38, "7 1 1"), dg(101, "7 {8/8/8/8/8/8/8/8 b} 1")),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.integers(1, 40))
def test_any_chunks_give_the_same_games(data: str, size: int) -> None:
    whole = read(data) if data else None
    assert whole is None or read(data, cut=size) == whole
