"""PGN however people write it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.model import Anomaly, AnomalyKind, EventKind, Game, LineKind, Precision, Proof, TimeBasis
from recorder.reading import make_pipeline
from recorder.rules.fen import position_from_fen
from recorder.rules.position import Rules
from recorder.saved.engine_comments import PrintedEvaluation
from recorder.saved.pgn_tags import read_header
from recorder.saved.pgn_text import read_remark, read_time
from recorder.sources import SourceKind, detect
from tests.support.effort import examples

TAGS = b'[Event "x"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n'
QUEER = (
    b"\xef\xbb\xbf% an escape line\r\n" + TAGS.replace(b"\n", b"\r\n")
    + b"1.e4 $1 e5!? {a \xe9 [%csl Ge4]} (1... c5 2. Nf3 (2. c3 d5 {deep}) 2... d6) 2.Ng1-f3 ; to the end { of line\r\n"
    + b"% 2... a6\r\n2... b8c6 3. Bb5 a6 4. Ba4 Nf6 5. 0-0 {[Event \"not one\"]\r\n[White \"y\"]} 1-0\r\n"
    + b'[Event "two"]\n1. d4 d5 1/2-1/2\n1. c4 *\n\nRegards,\nAnn\n\n[Event "three"]\n[Result "0-1"]\n\n'
    + b'[Event "four \\"q\\" \xc3\xa9"]\n\n1. e4 e5 2. Ke2 Ke7 3. Kd8 Kd6 1-0\n\n[Event "five"]\n\n1. e4 e5'
)  # fmt: skip


def read(data: bytes, *, step: int = 1 << 20) -> tuple[list[Game], list[Anomaly]]:
    pipeline = make_pipeline(SourceKind.PGN)
    games: list[Game] = []
    for at in range(0, len(data), step):
        games += pipeline.receive(data[at : at + step])
    games += pipeline.finish()
    return games, pipeline.report.anomalies


def sans(game: Game) -> list[str]:
    return [ply.san for ply in game.plies]


def moves(text: str) -> Game:
    (game,), _ = read(TAGS + text.encode() + b"\n")
    return game


def test_queer_text() -> None:
    games, anomalies = read(QUEER)
    assert len(games) == 6
    first = games[0]
    assert sans(first) == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O"]
    assert [(line.kind, line.parent, line.parent_ply, [ply.san for ply in line.plies]) for line in
            first.observations[0].lines[1:]] == [
        (LineKind.VARIATION, 0, 1, ["c5", "Nf3", "d6"]), (LineKind.VARIATION, 1, 2, ["c3", "d5"]),
    ]  # fmt: skip
    comments = [
        (event.detail, event.ply, event.value, event.text) for event in first.events if event.kind is EventKind.CHAT
    ]
    assert comments == [
        ("nag", 1, None, "$1"), ("nag", 2, None, "$5"), ("command", 2, None, "[%csl Ge4]"),
        ("comment", 2, None, "a é"), ("comment", 4, 2, "deep"), ("comment", 3, None, "to the end { of line"),
        ("comment", 3, None, "% 2... a6"), ("comment", 9, None, '[Event "not one"] [White "y"]'),
    ]  # fmt: skip
    assert [sans(game) for game in games[1:4]] == [["d4", "d5"], ["c4"], []]
    assert [game.result for game in games] == ["1-0", "1/2-1/2", "*", "0-1", "1-0", "*"]
    illegal = games[4]
    assert [event.text for event in illegal.events] == ['four "q" é']
    assert [ply.proof for ply in illegal.plies] == [2, 2, 2, 2, 0, 0]
    assert not illegal.complete
    at = QUEER.index(b"Kd8")
    assert [(found.kind, found.offset) for found in anomalies] == [
        (AnomalyKind.MALFORMED, 3), (AnomalyKind.MALFORMED, QUEER.index(b"Regards")),
        (AnomalyKind.CUT, QUEER.index(b'[Result "0-1"]')), (AnomalyKind.MOVETEXT, at), (AnomalyKind.CUT, len(QUEER)),
    ]  # fmt: skip
    assert anomalies[3].message.startswith("3. Kd8 cannot be played: ")


def test_any_cuts_give_the_same_games() -> None:
    assert read(QUEER, step=1) == read(QUEER, step=7) == read(QUEER)


@settings(max_examples=examples(150), deadline=None)
@given(
    data=st.one_of(
        st.binary(max_size=300),
        st.lists(
            st.sampled_from(
                [
                    b"e4",
                    b"1.",
                    b"{",
                    b"}",
                    b"(",
                    b")",
                    b";",
                    b"\n",
                    b"\r\n",
                    b"\n\n",
                    b" ",
                    b"*",
                    b"1-0",
                    b'[Event "x"]',
                    b'[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]',
                    b"--",
                    b"[%clk 0:00:01]",
                    b"$3",
                    b'[Date "2020.13.40"]',
                    b'[TimeControl "9+9"]',
                    b"Nf3",
                    b"e2e4",
                    b"\xff",
                    b"%",
                ]
            ),
            max_size=40,
        ).map(b"".join),
    ),
    step=st.integers(1, 20),
)
def test_any_bytes_and_any_cuts(data: bytes, step: int) -> None:
    assert read(data, step=step) == read(data)


@given(step=st.integers(1, len(QUEER)))
def test_a_file_that_grew_has_the_same_games_before_the_place(step: int) -> None:
    pipeline = make_pipeline(SourceKind.PGN)
    early = pipeline.receive(QUEER[:step])
    place = pipeline.read_up_to
    early = [game for game in early + pipeline.finish() if game.first_offset < place]
    whole = make_pipeline(SourceKind.PGN)
    games = whole.receive(QUEER) + whole.finish()
    assert early == [game for game in games if game.first_offset < place]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1. e2e4 e7-e5 2. g1f3 b8c6 3. f1c4 g8f6 4. e1g1 f6xe4 *", "e4 e5 Nf3 Nc6 Bc4 Nf6 O-O Nxe4"),
        ("1 e4 e5 2 Nf3 Nc6 3 Bb5 a6 4 Nxe4?? *", "e4 e5 Nf3 Nc6 Bb5 a6 Nxe4"),
        ("1. e4 d5 2. ed5 *", "e4 d5 ed5"),
        ("1. e4 d5 2. exd5 Qd5 *", "e4 d5 exd5 Qxd5"),
        ("1. e4 e5 2. o-o *", "e4 e5 o-o"),
        ("1. e4 e5 *", "e4 e5"),
    ],
)
def test_moves_as_people_write_them(text: str, wanted: str) -> None:
    assert " ".join(sans(moves(text))) == wanted


def test_a_null_move_is_no_move_of_the_rules() -> None:
    game = moves("1. e4 -- 2. d4 Z0 3. Nf3 d5 *")
    assert [ply.proof for ply in game.plies] == [Proof.LIST, 0, Proof.LIST, 0, Proof.LIST, Proof.LIST]
    assert [anchor.ply for anchor in game.anchors()] == [2, 4]


@pytest.mark.parametrize(
    ("text", "clock", "elapsed", "ms"),
    [
        ("[%clk 0:04:57]", 297000, None, False),
        ("[%clk 0:04:57.338] [%emt 0:00:02.662]", 297338, 2662, True),
        ("[%clk 0:00:58.6]", 58600, None, True),
        ("[%emt 2.063]", None, 2063, True),
        ("[%emt 0.0]", None, 0, True),
        ("[%emt 17]", None, 17000, False),
        ("[%emt 0:00:02.220]", None, 2220, True),
        ("[%clkms 12345]", 12345, None, True),
        ("0:04:57", 297000, None, False),
        ("[%clk 0:00:00] [%flag -0.917]", -917, None, True),
        ("[%clk 12:34]", 754000, None, False),
        (" [%clk 12:34] ", 754000, None, False),
        ("[%clk\n1:02:34.5]\n[%emt\n9.25]", 3754500, 9250, True),
        ("[%emt 9] [%clk 0:10]", 10000, 9000, False),
        ("4:57 is what I had", None, None, False),
        ("[%clk soon]", None, None, False),
    ],
)  # fmt: skip
def test_clocks(text: str, clock: int | None, elapsed: int | None, ms: bool) -> None:
    found = read_remark(text)
    assert (found.clock_ms, found.elapsed_ms, found.ms) == (clock, elapsed, ms)
    precision = None if (clock, elapsed) == (None, None) else Precision.MILLISECONDS if ms else Precision.SECONDS
    for comment in (f"{{{text}}}", f"{{}} {{{text}}}", f"$1{{{text}}}"):
        (ply,) = moves(f"1. e4 {comment} *").plies
        assert (ply.white_clock_ms, ply.elapsed_ms, ply.precision) == (clock, elapsed, precision)


def test_remarks() -> None:
    assert read_remark("[%lag 0.296]").lag_ms == 296
    assert read_remark(" [%eval -0.17,18] [%clk 0:00:30] ").evaluation == PrintedEvaluation(-17, None, 18)
    assert read_remark("[%eval #-4]").evaluation == PrintedEvaluation(None, -4, None)
    found = read_remark("so [%cal Ge2e4]\n  good")
    assert (found.commands, found.words) == (("[%cal Ge2e4]",), "so good")
    assert read_time("x") is None


def test_a_printed_clock_is_the_clock() -> None:
    game = moves("1. e4 {[%clk 0:03:00] [%eval 0.2]} e5 {[%clk 0:02:58]} *")
    assert [(ply.white_clock_ms, ply.black_clock_ms, ply.precision) for ply in game.plies] == [
        (180000, None, Precision.SECONDS), (None, 178000, Precision.SECONDS),
    ]  # fmt: skip
    (thought,) = game.observations[0].thinking
    assert (thought.ply, thought.white, thought.score_cp) == (0, True, 20)


@pytest.mark.parametrize(
    ("control", "wanted"),
    [("300+0", (300, 0)), ("300", (300, 0)), ("-", (0, 0)), ("?", (None, None)), ("40/7200:3600", (None, None))],
)
def test_time_controls(control: str, wanted: tuple[int | None, int | None]) -> None:
    header = read_header([("TimeControl", control)])
    assert (header.base_s, header.increment_s) == wanted
    assert bool(header.kept) == (control in ("300", "40/7200:3600"))


def test_times_and_sites() -> None:
    header = read_header([
        ("Event", "Rated Blitz game"), ("Site", "https://lichess.org/abcd"), ("Date", "2020.01.02"),
        ("UTCDate", "2020.01.02"), ("UTCTime", "03:04:05"), ("WhiteElo", "-"), ("BlackElo", "1500?"),
        ("Termination", "Time forfeit"), ("Variant", "Three-check"), ("WhiteTitle", "GM"), ("BlackIsComp", "Yes"),
    ])  # fmt: skip
    assert (header.server, header.dialect, header.rated, header.category) == ("lichess.org", "lichess", True, "blitz")
    assert (header.time_basis, header.started_at_ms) == (TimeBasis.UTC, 1577934245000)
    assert (header.white.rating_text, header.white.rating, header.white.titles) == ("-", None, "(GM)")
    assert header.black.is_computer
    assert header.termination == "time forfeit"
    assert header.variant == "three-check"
    assert dict(header.kept).keys() == {"Event", "Site", "WhiteElo", "BlackElo", "Termination"}


def test_a_start_position() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 20"
    (game,), anomalies = read(b'[SetUp "1"]\n[FEN "' + fen.encode() + b'"]\n\n20... O-O 21. O-O-O *\n')
    assert (game.start_fen, game.start_ply, sans(game)) == (fen, 39, ["O-O", "O-O-O"])
    assert [ply.ply for ply in game.plies] == [40, 41]
    assert not anomalies
    (game,), anomalies = read(b'[FEN "nonsense"]\n\n1. e4 *\n')
    assert [found.kind for found in anomalies] == [AnomalyKind.MALFORMED]
    assert game.plies[0].proof == Proof.UNPROVED
    shuffled = b'[FEN "rkbnqnbr/pppppppp/8/8/8/8/PPPPPPPP/RKBNQNBR w KQkq - 0 1"]\n\n1. e4 *\n'
    assert read(shuffled)[0][0].variant == "chess960"
    hand = b'[Variant "Crazyhouse"]\n[FEN "4k3/8/8/8/8/8/8/4K3/Qn w - - 0 1"]\n\n1. Q@e5 *\n'
    assert sans(read(hand)[0][0]) == ["Q@e5+"]


def test_what_a_broken_file_costs() -> None:
    data = TAGS + b"1. e4 {never closed\n\n" + TAGS + b"1. d4 d5 1-0\n\n" + TAGS + b"1. e4 ) blah ( e5 1-0\n"
    games, anomalies = read(data)
    assert [sans(game) for game in games] == [["e4"], ["d4", "d5"], ["e4"]]
    messages = [found.message for found in anomalies]
    assert messages[0] == "a comment has no end"
    assert "')' closes no variation" in messages
    assert "'blah' is no part of movetext" in messages
    (game,), anomalies = read(TAGS.replace(b"1-0", b"0-1") + b"1. e4 1-0\n")
    assert [found.kind for found in anomalies] == [AnomalyKind.CONFLICT]
    assert game.result == "1-0"


def test_memory_has_a_bound() -> None:
    games, anomalies = read(TAGS + b"1. e4 {" + (b"x" * 70 + b"\n") * 70_000 + TAGS + b"1. d4 *\n")
    assert [found.kind for found in anomalies][:1] == [AnomalyKind.LONG_LINE]
    assert sans(games[-1]) == ["d4"]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b'\xef\xbb\xbf\r\n% x\r\n[Event "FICS rated blitz game"]\r\n1. e4 {fics%} *', SourceKind.PGN),
        (b'Dear Bob,\n\nhere it is\n\n[Event "x"]\n[Site "FICS freechess.org"]\n\n1. e4 *\n', SourceKind.PGN),
        (b"1. e4 e5 2. Nf3 *\n", SourceKind.PGN),
        (b'fics% tell 1 [Event "x"]\n<12> rnb\n[Event "x"]\n[Site "y"]\n', SourceKind.RAW),
        (b"  1.  e4     (0:00)     e5     (0:00)\n", SourceKind.RAW),  # a move table without its header
        (b"1. buy milk\n2. play chess\n", None),
    ],
)
def test_the_kind_is_recognised_by_content(head: bytes, kind: SourceKind | None) -> None:
    assert detect(head) is kind


def test_standard_is_no_start_position() -> None:
    position = position_from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", Rules.CHESS)
    (game,), _ = read(b'[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]\n\n1. e4 *\n')
    assert position.white_to_move
    assert game.start_fen is None
    assert game.observations[0].anchors == []


def test_plies_before_the_first_position_are_read_again() -> None:
    fen = "bbqrnnkr/2pppppp/pp6/8/8/P5N1/1PPPPPPP/BBQRN1KR w KQkq - 0 3"
    tags = (
        f'[Event "x"]\n[Result "1-0"]\n[Variant "Fischerandom"]\n[SetUp "1"]\n[FEN "{fen}"]\n[RecorderKey "740be1"]\n\n'
    )
    (game,), anomalies = read(f"{tags}{{Not proved: 1. Ng3 1... b6 2. a3 2... a6}} 3. h3 3... h6 1-0\n\n".encode())
    assert anomalies == []
    assert [(ply.ply, ply.san, ply.proof) for ply in game.plies] == [
        *((ply, san, Proof.UNPROVED) for ply, san in enumerate(["Ng3", "b6", "a3", "a6"], 1)),
        *((ply, san, Proof.LIST) for ply, san in enumerate(["h3", "h6"], 5)),
    ]
    assert (game.start_ply, game.start_fen) == (4, fen)
