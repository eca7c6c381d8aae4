"""PGN as sites and programs write it today. The texts are made by hand from what their files look like."""

import pytest

from recorder.model import EventKind, Game, Precision, TimeBasis
from recorder.reading import make_pipeline
from recorder.rules.fen import position_from_fen
from recorder.rules.prove import play_san
from recorder.rules.variants import rules_of
from recorder.saved.engine_comments import PrintedEvaluation
from recorder.saved.pgn_text import read_remark
from recorder.sources import SourceKind, detect


def read(data: bytes) -> Game:
    assert detect(data) is SourceKind.PGN
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = pipeline.receive(data) + pipeline.finish()
    assert not pipeline.report.anomalies
    return game


def tags(game: Game) -> dict[str, str]:
    return {event.detail: event.text for event in game.events if event.kind is EventKind.TAG}


def comments_of(game: Game) -> list[tuple[str, int, str]]:
    return [(event.detail, event.ply, event.text) for event in game.events if event.kind is EventKind.CHAT]


LICHESS = b"""\xef\xbb\xbf[Event "Rated Blitz game"]
[Site "https://lichess.org/AbCdEfGh"]
[Date "2023.05.01"]
[White "alice"]
[Black "bob"]
[Result "1-0"]
[UTCDate "2023.05.01"]
[UTCTime "12:00:01"]
[WhiteElo "1500"]
[BlackElo "?"]
[WhiteRatingDiff "+5"]
[Variant "Standard"]
[TimeControl "180+2"]
[ECO "C50"]
[Termination "Time forfeit"]

1. e4 { [%eval 0.2] [%clk 0:03:00] } 1... e5 { [%eval 0.3] [%clk 0:03:00] } \
2. Nf3?! { (0.3 \xe2\x86\x92 -0.2) Inaccuracy. d4 was best. } { [%eval #-3] [%clk 0:02:59] } (2. d4 exd4) \
2... Nc6 { [%clk 0:02:58] } 1-0


"""


def test_a_game_of_lichess() -> None:
    game = read(LICHESS)
    assert (game.server, game.rated, game.category, game.variant) == ("lichess.org", True, "blitz", "chess")
    assert (game.base_s, game.increment_s, game.white.rating, game.black.rating) == (180, 2, 1500, None)
    assert (game.result, game.termination, game.reason, game.time_basis) == ("1-0", "time forfeit", None, TimeBasis.UTC)
    assert [(row.white_clock_ms, row.black_clock_ms) for row in game.plies] == [
        (180_000, None), (None, 180_000), (179_000, None), (None, 178_000)
    ]  # fmt: skip
    assert {row.precision for row in game.plies} == {Precision.ELAPSED_DERIVED_SECONDS}
    assert [row.elapsed_ms for row in game.plies] == [0, 0, 3_000, 4_000], "first moves are not charged on lichess"
    # ``#-3``: White is mated in three, and it was White's move that led there
    assert [(one.ply, one.white, one.score_cp, one.mate) for one in game.observations[0].thinking] == [
        (0, True, 20, None), (1, False, -30, None), (2, True, None, -3)
    ]  # fmt: skip
    assert comments_of(game) == [("nag", 3, "$6"), ("comment", 3, "(0.3 → -0.2) Inaccuracy. d4 was best.")]
    assert [[row.san for row in line.plies] for line in game.observations[0].lines[1:]] == [["d4", "exd4"]]
    assert tags(game)["WhiteRatingDiff"] == "+5"


CHESS_COM = b"""[Event "Live Chess"]
[Site "Chess.com"]
[Date "2023.01.05"]
[Round "-"]
[White "Ann"]
[Black "Bob"]
[Result "0-1"]
[CurrentPosition "8/8/8/8/8/8/8/8 w - - 0 1"]
[Timezone "UTC"]
[UTCDate "2023.01.05"]
[UTCTime "23:59:12"]
[TimeControl "180"]
[Termination "Bob won by resignation"]
[StartTime "23:59:12"]
[EndDate "2023.01.06"]
[EndTime "00:02:12"]
[Link "https://www.chess.com/game/live/1"]

1. e4 {[%clk 0:02:59.9]} 1... e5 {[%clk 0:02:59.1]} 0-1

"""


def test_a_game_of_chess_com() -> None:
    game = read(CHESS_COM)
    assert (game.server, game.base_s, game.increment_s) == ("chess.com", 180, 0)
    assert (game.reason, game.reason_key, game.termination) == ("Bob won by resignation", "resign", "normal")
    assert game.started_at_ms is not None
    assert game.ended_at_ms == game.started_at_ms + 180_000
    assert [(row.white_clock_ms, row.black_clock_ms) for row in game.plies] == [(179_900, None), (None, 179_100)]
    assert tags(game)["Termination"] == "Bob won by resignation"


@pytest.mark.parametrize(
    ("date", "start", "basis", "minutes"),
    [
        ("2025.05.27", "2025-05-27T23:48:15.827 EDT", TimeBasis.LOCAL, 14),  # as Date, so the zone is not used
        ("2025.05.27", "2025-05-27T23:48:15 +0200", TimeBasis.LOCAL, None),  # the end has another zone
        ("????.??.??", "2025-05-27T23:48:15 Z", TimeBasis.UTC, None),
        ("2025.05.28", "2025-05-27T23:48:15 EDT", TimeBasis.NONE, None),  # which of the two is wrong?
        ("2025.05.27", "late", TimeBasis.NONE, None),
    ],
)
def test_the_start_in_the_tags_of_engine_matches(date: str, start: str, basis: TimeBasis, minutes: int | None) -> None:
    times = f'[GameStartTime "{start}"]\n[GameEndTime "2025-05-28T00:02:15.1 EDT"]'
    game = read(f'[Event "x"]\n[Date "{date}"]\n[White "A"]\n[Black "B"]\n{times}\n\n1. e4 *\n'.encode())
    assert game.time_basis is basis
    assert (game.started_at_ms is None) == (basis is TimeBasis.NONE)
    assert game.ended_at_ms == (None if minutes is None else (game.started_at_ms or 0) + 60_000 * minutes)


@pytest.mark.parametrize(
    ("words", "result", "key", "termination"),
    [
        ("Bob won on time", "0-1", "time", "time forfeit"),
        ("Bob won - game abandoned", "0-1", "disconnect-loss", "abandoned"),
        ("Ann won by checkmate", "1-0", "checkmate", "normal"),
        ("Game drawn by timeout vs insufficient material", "1/2-1/2", "time-vs-bare", "normal"),
        ("Game drawn by 50-move rule", "1/2-1/2", "fifty", "normal"),
        ("Carl won on time", "1-0", None, ""),
        ("Rules infraction", "1-0", None, ""),
    ],
)
def test_how_it_ended(words: str, result: str, key: str | None, termination: str) -> None:
    """Where only the result tells, how it ended is not known: least of all is it unterminated."""
    data = CHESS_COM.replace(b"Bob won by resignation", words.encode()).replace(b"0-1", result.encode())
    game = read(data)
    assert (game.reason_key, game.termination, game.end) == (key, termination, "result")


@pytest.mark.parametrize("control", ["1/86400", "40/7200:1800+30", "*60", "300d"])
def test_a_time_control_that_is_not_base_and_increment_stays_as_it_is(control: str) -> None:
    game = read(CHESS_COM.replace(b'"180"', b'"%b"' % control.encode()))
    assert (game.base_s, game.increment_s, tags(game)["TimeControl"]) == (None, None, control)


@pytest.mark.parametrize("rights", ["KQkq", "GEge"])
def test_chess960_with_files_as_rights(rights: str) -> None:
    game = read(
        b'[Event "Rated Chess960 game"]\n[Site "https://lichess.org/x"]\n[Variant "Chess960"]\n[Result "1-0"]\n'
        b'[FEN "bnqnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BNQNRKRB w %b - 0 1"]\n[SetUp "1"]\n[TimeControl "-"]\n\n'
        b"1. g3 g6 2. f4 f5 3. O-O O-O 1-0\n" % rights.encode()
    )
    assert (game.variant, game.base_s, game.increment_s) == ("chess960", 0, 0)
    assert [row.uci for row in game.plies[-2:]] == ["f1g1", "f8g8"]


def test_from_position() -> None:
    game = read(
        b'[Event "Casual Standard game"]\n[Variant "From Position"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n'
        b"1. e4 Kd7 2. Kd2 1/2-1/2\n"
    )
    assert (game.variant, game.start_fen, len(game.plies)) == ("chess", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 3)
    assert (game.rated, game.termination) == (False, "")


def test_a_study() -> None:
    game = read(
        b'[Event "Mine: Chapter 1"]\n[Site "https://lichess.org/study/aaa/bbb"]\n[Result "*"]\n[ECO "?"]\n\n'
        b"{ Words [%csl Gd4][%cal Gd2d4,Re7e5] }\n1. e4 $1 { good [%cal Gf1c4] } 1... e5 $14 (1... c5 $5 { Sicilian }\n"
        b"2. Nf3) 2. Nf3 $146 *\n"
    )
    assert comments_of(game) == [
        ("command", 0, "[%csl Gd4]"), ("command", 0, "[%cal Gd2d4,Re7e5]"), ("comment", 0, "Words"), ("nag", 1, "$1"),
        ("command", 1, "[%cal Gf1c4]"), ("comment", 1, "good"), ("nag", 2, "$14"), ("nag", 2, "$5"),
        ("comment", 2, "Sicilian"), ("nag", 3, "$146"),
    ]  # fmt: skip
    assert (game.termination, game.end) == ("unterminated", "log-ends")


def test_databases() -> None:
    game = read(
        b'[Event "?"]\r\n[Site "?"]\r\n[Date "2001.??.??"]\r\n[Round "?"]\r\n[White "Doe, Ann"]\r\n[Black "?"]\r\n'
        b'[Result "1/2-1/2"]\r\n[EventDate "2001.01.??"]\r\n\r\n{[%evp 0,4,19]} 1.e4 {[%emt 0:00:05]} c5 '
        b"2.Nf3 d6 {[#] a}"
        b"\r\n( 2...Nc6 3.d4 ; a line\r\n )\r\n1/2-1/2\r\n"
    )
    assert [row.san for row in game.plies] == ["e4", "c5", "Nf3", "d6"]
    assert game.plies[0].elapsed_ms == 5000
    assert ("comment", 4, "[#] a") in comments_of(game)
    assert tags(game) == {"Date": "2001.??.??", "Round": "?", "EventDate": "2001.01.??"}


@pytest.mark.parametrize("written_date", ["2005.07.09", "2005.7.9", "2005-7-09", "2005/07/9"])
def test_a_date_without_leading_zeros_is_one(written_date: str) -> None:
    game = read(f'[Event "x"]\n[Date "{written_date}"]\n\n1. e4 e5 1-0\n'.encode())
    assert game.date_text == "2005-07-09"


@pytest.mark.parametrize(
    ("variant", "fen", "moves", "last"),
    [
        ("Crazyhouse", None, "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qd8 4. P@e6 Nf6 5. exf7+ Kxf7 6. @e6+ 1-0", "P@e6"),
        ("Antichess", None, "1. e3 b6 2. Bb5 c6 3. Bxc6 dxc6 0-1", "d7c6"),
        ("Atomic", None, "1. Nf3 a6 2. Ng5 a5 3. Nxf7# 1-0", "g5f7"),
        ("King of the Hill", None, "1. e4 e5 2. Ke2 a6 3. Ke3 a5 4. Kd3 a4 5. Kc4 b6 6. Kd5 1-0", "c4d5"),
        ("Three-check", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 3+3 0 1",
         "1. e4 e5 2. Bc4 a6 3. Bxf7+ 1-0", "c4f7"),
        ("Three-check", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 +0+0",
         "1. e4 e5 2. Bc4 a6 3. Bxf7+ 1-0", "c4f7"),
        ("Racing Kings", "8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1", "1. Kh3 Ka3 2. Kh4 Kb4 1-0", "a3b4"),
        ("Horde", "rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 1",
         "1. e5 d5 2. exd6 exd6 1-0", "e7d6"),
        ("Horde", "4k3/8/8/8/8/8/8/P7 w - - 0 1", "1. a3 Kd8 1-0", "e8d8"),
    ],
)  # fmt: skip
def test_variants_of_lichess(variant: str, fen: str | None, moves: str, last: str) -> None:
    set_up = f'[SetUp "1"]\n[FEN "{fen}"]\n' if fen else ""
    game = read(f'[Event "Rated {variant} game"]\n[Variant "{variant}"]\n{set_up}\n{moves}\n'.encode())
    assert game.plies[-1].uci == last
    assert game.end == "result"


@pytest.mark.parametrize(
    ("tag", "moves", "start", "uci"),
    [
        ("wild/5", "1. a8=Q *", "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w - - 0 1", None),
        ("wild/5", "1. Nf6 *", "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w - - 0 1", "g8f6"),
        ("wild/8a", "1. e6 *", "rnbqkbnr/8/8/PPPPPPPP/pppppppp/8/8/RNBQKBNR w - - 0 1", "e5e6"),
        ("wild(5)", "1. e4 *", None, None),
        ("wild/1", "1. e4 *", None, None),
        ("Racing Kings", "1. Kh3 *", "8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1", "h2h3"),
        (
            "Horde",
            "1. e5 *",
            "rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 1",
            "e4e5",
        ),
        ("wild/0", "1. e4 *", "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4"),
        ("xiangqi", "1. e4 *", None, None),
        ("Suicide", "1. e4 *", None, "e2e4"),
    ],
)
def test_a_variant_without_a_position_begins_where_it_always_does(
    tag: str, moves: str, start: str | None, uci: str | None
) -> None:
    """Where the start is unknown, a move is a word, and nothing is played on the board of normal chess."""
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = pipeline.receive(f'[Variant "{tag}"]\n\n{moves}\n'.encode()) + pipeline.finish()
    assert (game.start_fen, game.plies[0].uci) == (start, uci)
    assert bool(pipeline.report.anomalies) == (uci is None)
    assert not game.complete


def test_racing_kings_give_no_check() -> None:
    position = position_from_fen("8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1", rules_of("racing-kings"))
    assert isinstance(play_san(position, "Nc3"), str)  # the knight of e2 would give check
    assert not isinstance(play_san(position, "Nd4"), str)


@pytest.mark.parametrize(
    ("text", "wanted", "proved"),
    [
        ("1. \N{WHITE CHESS KNIGHT}f3! \N{BLACK CHESS KNIGHT}f6+ *", ["Nf3", "Nf6"], 2),
        ("1. e4 e5 2. Sf3 Sc6 3. d4 exd4 *", ["e4", "e5", "Sf3", "Sc6", "d4", "exd4"], 2),
        ("1. e4 e5 2. nf3 d6 *", ["e4", "e5", "nf3", "d6"], 2),
        (
            "1. e4 e5 2. \N{CYRILLIC CAPITAL LETTER KA}f3 d6 *",
            ["e4", "e5", "\N{CYRILLIC CAPITAL LETTER KA}f3", "d6"],
            2,
        ),
        ("1. e4 <e5> 2. Nf3 *", ["e4", "<e5>", "Nf3"], 1),
    ],
)
def test_letters_of_other_languages_are_no_other_moves(text: str, wanted: list[str], proved: int) -> None:
    """A move that cannot be read was made all the same: what follows it is not played from the board before."""
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = pipeline.receive(f'[Event "x"]\n\n{text}\n'.encode()) + pipeline.finish()
    assert [row.san for row in game.plies] == wanted
    assert [row.uci is not None for row in game.plies] == [number < proved for number in range(len(wanted))]


@pytest.mark.parametrize(
    ("token", "result"),
    [("1:0", "1-0"), ("0\N{EN DASH}1", "0-1"), ("\xbd-\xbd", "1/2-1/2"), ("\xbd:\xbd", "1/2-1/2"), ("1/2", "1/2-1/2")],
)
def test_results_as_people_write_them(token: str, result: str) -> None:
    data = f'[Event "x"]\n\n1. e4 e5 {token}\n[Event "y"]\n\n1. d4 {token}\n'.encode()
    pipeline = make_pipeline(SourceKind.PGN)
    games = pipeline.receive(data) + pipeline.finish()
    assert [(game.result, len(game.plies)) for game in games] == [(result, 2), (result, 1)]
    assert not pipeline.report.anomalies


def test_an_evaluation_of_chessbase_is_in_hundredths() -> None:
    assert [read_remark(text).evaluation for text in ("[%eval -33,20]", "[%eval -0.33,20]", "[%eval 1]")] == [
        PrintedEvaluation(-33, None, 20), PrintedEvaluation(-33, None, 20), PrintedEvaluation(100, None, None)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "result", "reason_key"),
    [
        ("Black resigns", "1-0", "resign"),
        ("alice resigns", "0-1", "resign"),
        ("White forfeits on time", "0-1", "time"),
        ("Black wins by losing all material", "0-1", "suicide-all"),
        ("bob won by resignation", "0-1", "resign"),
        ("White ran out of time and Black has no material to mate", "1/2-1/2", "time-vs-bare"),
        ("Game drawn by repetition", "1/2-1/2", "repetition"),
        ("Black stalemated", "*", "stalemate"),  # in some variants that is a win
        ("Black resigns tomorrow", "*", None),
    ],
)
@pytest.mark.parametrize("tag", ["", '[Result "*"]\n'])
def test_long_result_sets_the_result(words: str, result: str, reason_key: str | None, tag: str) -> None:
    text = f'[Event "?"]\n[White "alice"]\n[Black "bob"]\n{tag}[LongResult "{words}"]\n\n1. e4 e5 *\n'
    game = read(text.encode())
    assert (game.result, game.reason_key) == (result, reason_key)


def test_long_result_changes_no_result_that_is_there() -> None:
    text = b'[Event "?"]\n[White "alice"]\n[Black "bob"]\n[Result "0-1"]\n[LongResult "Black resigns"]\n\n1. e4 e5 *\n'
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = pipeline.receive(text) + pipeline.finish()
    assert game.result == "0-1"


@pytest.mark.parametrize(
    ("event", "comment", "elapsed_ms"),
    [
        ("?", "1.015", 1_015),
        ("?", " 12.000 ", 12_000),
        ("?", "0.35", None),  # an evaluation, for all we know
        ("?", "+1.015", None),
        ("?", "1.015 good", None),
        ("FICS rated blitz game", "0.1", 100),
        ("FICS rated blitz game", "17", None),
    ],
)
def test_a_number_of_seconds_alone_is_the_elapsed_time(event: str, comment: str, elapsed_ms: int | None) -> None:
    text = f'[Event "{event}"]\n[White "alice"]\n[Black "bob"]\n[Result "*"]\n\n{{1.015}} 1. e4 {{{comment}}} e5 *\n'
    game = read(text.encode())
    assert [ply.elapsed_ms for ply in game.plies] == [elapsed_ms, None]
    assert comments_of(game)[0] == ("comment", 0, "1.015"), "before the first move it is no move's time"
    assert len(comments_of(game)) == 1 + (elapsed_ms is None)


@pytest.mark.parametrize(
    ("event", "variant", "control", "rated", "moves"),
    [
        ("ICC w0 3 0", "chess", (180, 0), True, "1. e4 e5 1-0"),
        ("ICC w16 1 0", "kriegspiel", (60, 0), True, "1. e4 e5 2. Nf3 1-0"),
        ("ICC w16", "kriegspiel", (None, None), True, "1. e4 e5 2. Nf3 1-0"),
        ("ICC w17 5 12 u", "losers", (300, 12), False, "1. e4 e5 2. Nf3 1-0"),
        ("ICC w23 3 0", "crazyhouse", (180, 0), True, "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qd8 4. P@e5 P@e6 1-0"),
        ("ICC w24 3 0", "bughouse", (180, 0), True, "1. e4 N@f6 2. P@h5 1-0"),
        ("ICC w25 3 0", "three-check", (180, 0), True, "1. e4 f6 2. Qh5+ 1-0"),
        ("ICC w26 3 0", "giveaway", (180, 0), True, "1. e3 b6 2. Bb5 c6 3. Bxc6 dxc6 1-0"),
        ("ICC w27 3 0", "atomic", (180, 0), True, "1. Nf3 a6 2. Ng5 a5 3. Nxf7# 1-0"),
        ("ICC tourney 1876 (15 10)", "chess", (900, 10), True, "1. e4 1-0"),
        ("ICC tourney 9 (3 0 w27)", "atomic", (180, 0), True, "1. Nf3 a6 2. Ng5 a5 3. Nxf7# 1-0"),
        ("rated wild/23 match", "crazyhouse", (None, None), True, "1. e4 d5 2. exd5 Qxd5 3. P@e5 1-0"),
        ("unrated wild/27", "atomic", (None, None), False, "1. Nf3 a6 2. Ng5 a5 3. Nxf7# 1-0"),
        ("ICC 5 0", "chess", (300, 0), True, "1. e4 1-0"),
        ("ICC Dos Hermanas", "chess", (None, None), None, "1. e4 1-0"),
    ],
)  # fmt: skip
def test_wild_numbers_of_icc(
    event: str, variant: str, control: tuple[int | None, int | None], rated: bool | None, moves: str
) -> None:
    tags = f'[Event "{event}"]\n[Site "Internet Chess Club"]\n[White "a"]\n[Black "b"]\n[Result "1-0"]\n'
    game = read(f"{tags}\n{moves}\n".encode())
    assert (game.variant, (game.base_s, game.increment_s), game.rated) == (variant, control, rated)
    assert [row.san for row in game.plies if row.move is None] == []
    game = read(f'{tags}[TimeControl "120+1"]\n\n{moves}\n'.encode())
    assert (game.base_s, game.increment_s) == (120, 1)


def test_a_wild_game_of_icc_begins_where_its_fen_says() -> None:
    tags = '[Event "ICC w{} 3 0"]\n[Site "Internet Chess Club"]\n[SetUp "1"]\n[FEN "{}"]\n\n1. {} *\n'
    for number in range(33):
        game = read(tags.format(number, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e4").encode())
        found = (game.start_fen or "").replace("[]", ""), game.plies[0].uci
        assert found == ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4"), number
    game = read(b'[Event "ICC w7 1 0"]\n[Site "Internet Chess Club"]\n\n1. c4 f5 *\n')
    assert (game.start_fen, len(game.plies)) == ("4k3/5ppp/8/8/8/8/PPP5/3K4 w - - 0 1", 2)
