"""BPGN in: both boards' games, the same text out again, and nothing but our errors for any bytes."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporters.bpgn import BpgnExporter, BpgnOptions
from recorder import read_games
from recorder.model import EventKind, Game, Link, LinkKind, Origin, Precision, Proof, TimeBasis
from recorder.reading import make_pipeline
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import board_order, check_clocks, timeline
from recorder.saved.bpgn import BpgnReader
from recorder.sources import SourceKind, detect
from tests.relating.matches import OF_BOTH_BOARDS, games_of
from tests.support.effort import examples

PUBLIC = Path(__file__).parent.parent / "corpus" / "public"
SECONDS = PUBLIC / "bughouse-2005-client-saved.bpgn"
EXACT = PUBLIC / "bughouse-db-3611438-with-lag.bpgn"

TAGS = (
    '[Event "ICS unrated bughouse game"]\n[Site "?"]\n[WhiteA "Ann"][BlackA "Bob"]\n'
    '[WhiteB "Cid"][WhiteBElo "1500"]\n[BlackB "Dee"]\n[TimeControl "60+1"]\n'
)


def read(data: bytes, size: int = 1 << 20, **how: Any) -> tuple[list[Game], BpgnReader]:
    reader = BpgnReader(**how)
    games = [game for at in range(0, len(data), size) for game in reader.receive(data[at : at + size])]
    return games + reader.finish(), reader


def found(text: str) -> tuple[Game, Game, list[tuple[str, str]]]:
    """The two games of a match without tags, and what was wrong with it."""
    (a, b), reader = read((TAGS + text).encode())
    return a, b, [(anomaly.kind.value, anomaly.text) for anomaly in reader.anomalies]


def written(games: list[Game]) -> bytes:
    out = io.BytesIO()
    BpgnExporter(BpgnOptions(keys=False)).write(games, out)
    return out.getvalue()


def test_a_clients_file_comes_out_as_it_went_in() -> None:
    games, reader = read(SECONDS.read_bytes())
    assert reader.anomalies == []
    assert len(games) == 18
    assert written(games) == SECONDS.read_bytes()


def test_a_database_file_comes_out_as_it_went_in_but_for_the_blank_line_at_its_end() -> None:
    games, reader = read(EXACT.read_bytes())
    assert reader.anomalies == []
    assert written(games) == EXACT.read_bytes() + b"\n"


@pytest.mark.parametrize("path", [SECONDS, EXACT], ids=["seconds", "exact"])
def test_every_move_is_legal_with_what_the_partner_gave(path: Path) -> None:
    games = list(read_games(path))
    for game in games:
        assert {ply.proof for ply in game.plies} == {Proof.LIST}
        assert {ply.origin for ply in game.plies} == {Origin.PGN}
        assert game.complete
    assert len(pair_bughouse(games)) * 2 == len(games)
    for one, other, evidence in pair_bughouse(games):
        assert evidence == "both boards of one saved match"
        match = board_order(*(next(game for game in games if game.key == key) for key in (one, other)))
        moments = timeline(match)
        assert all(moment.certain for moment in moments)
        assert check_clocks(match) == []


def test_facts_of_a_database_match() -> None:
    a, b = read_games(EXACT)
    assert (a.white.handle, a.white.rating, b.black.handle, b.black.rating) == (
        "cheesybread", 2701, "ChiCkenCROSSrOaD", 2611,
    )  # fmt: skip
    assert (a.base_s, a.increment_s, a.rated, a.category, a.variant) == (120, 0, True, "bughouse", "bughouse")
    assert (a.started_at_ms, a.time_basis) == (1_488_644_920_000, TimeBasis.LOCAL)
    assert (a.result, b.result) == ("0-1", "1-0")
    assert (a.reason_key, b.reason_key, b.termination) == ("partner-decided", "time", "time forfeit")
    assert [(ply.white_clock_ms, ply.black_clock_ms, ply.lag_ms) for ply in a.plies[:2]] == [
        (119_051, None, 122), (None, 119_861, 374),
    ]  # fmt: skip
    assert min(ply.black_clock_ms for ply in a.plies if ply.black_clock_ms is not None) == -576
    assert {ply.precision for ply in a.plies} == {Precision.ELAPSED_DERIVED_MILLISECONDS}
    assert [ply.elapsed_ms for ply in a.plies[:2]] == [949, 139]
    kept = [(event.kind, event.detail, event.text) for event in a.events][:3]
    assert kept == [
        (EventKind.TAG, "Event", "FICS rated bughouse game"),
        (EventKind.TAG, "BughouseDBGameNo", "3611438"),
        (EventKind.CHAT, "comment", "This is game number 3611438 at http://www.bughouse-db.org"),
    ]


@pytest.mark.parametrize(("scenario", "connection"), OF_BOTH_BOARDS)
def test_recorded_matches_there_and_back(scenario: str, connection: str) -> None:
    recorded = games_of(scenario, connection)
    games, reader = read(written(recorded))
    assert reader.anomalies == []
    for game, reread in zip(recorded, games, strict=True):
        assert (reread.white.handle, reread.black.handle, reread.result) == (
            game.white.handle, game.black.handle, game.result,
        )  # fmt: skip
        assert [(ply.move, ply.san, ply.lag_ms) for ply in reread.plies] == [
            (ply.move, ply.san, ply.lag_ms) for ply in game.plies
        ]
        clocks = [ply.clock_ms for ply in game.plies]
        assert [ply.clock_ms for ply in reread.plies] == clocks


def test_comments_and_chat_between_the_moves_stay_there() -> None:
    text = (
        TAGS + "{C:before} {with no mark}\n1A. e4 {59} {C:Eve(1500) kibitzes: w} 1b. d5 {60}\n{Ann resigns} 0-1\n\n"
    ).replace("1b. d5 {60}", "1B. e4 {60}")
    games, _ = read(text.encode())
    expected = "{C:before}\n{with no mark}\n1A. e4 {59} {C:Eve(1500) kibitzes: w} 1B. e4 {60}\n{Ann resigns} 0-1\n\n"
    assert written(games).decode().split("]\n")[-1] == expected
    assert b"C:" not in written(read(text.encode(), chat="none")[0])


def test_a_drop_of_a_piece_that_was_not_captured() -> None:
    a, b, wrong = found("1A. e4 1a. N@f6 2A. Nf3\n{Ann resigns} 0-1\n")
    assert [(ply.san, ply.proof) for ply in a.plies] == [
        ("e4", Proof.LIST), ("N@f6", Proof.UNPROVED), ("Nf3", Proof.LIST),
    ]  # fmt: skip
    assert b.plies == []
    assert wrong == [("movetext", "1a. N@f6")]


def test_what_white_takes_black_of_the_other_board_may_drop() -> None:
    a, b, wrong = found("1A. e4 1a. d5 2A. exd5 1B. e4 1b. P@e6 2B. Nf3 2b. P@e5\n{Ann resigns} 0-1\n")
    assert [ply.proof for ply in b.plies] == [Proof.LIST, Proof.LIST, Proof.LIST, Proof.UNPROVED]
    assert wrong == [("movetext", "2b. P@e5")]
    assert (a.complete, b.complete) == (True, False)
    assert a.reason_key == "resign"
    assert b.reason_key == "partner-decided"


def test_moves_that_are_missing_illegal_or_twice_there() -> None:
    a, _, wrong = found("1A. e4 2A. d4 2a. e5 1a. e5\n{Ann resigns} 0-1\n")
    assert [(ply.ply, ply.san, ply.proof) for ply in a.plies] == [
        (1, "e4", Proof.LIST), (3, "d4", Proof.UNPROVED), (4, "e5", Proof.UNPROVED),
    ]  # fmt: skip
    assert [kind for kind, _ in wrong] == ["gap", "movetext"]
    assert not a.complete
    a, _, wrong = found("1A. Ke5 1a. e5\n*\n")
    assert [(ply.san, ply.move) for ply in a.plies] == [("Ke5", None), ("e5", None)]
    assert (a.result, a.end, a.reason) == ("*", "log-ends", None)
    assert wrong == [("movetext", "1A. Ke5")]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("1A. e4 {59}", ["cut"]),
        ("1A. e4 // 1a. e5\n*", ["malformed"]),
        ("1A. e4 {never closed *\n", ["malformed", "cut"]),
        ("1A. e4 * 1a. e5", ["malformed"]),
        ('[Lag "1 2 3"]\n1A. e4 *', ["malformed"]),
        ('[Lag "12"]\n[Lag "12"]\n1A. e4 *', ["malformed"]),
        ('[Date "2005.02.30"]\n1A. e4 *', ["malformed"]),
        ('[Result "1-0"]\n1A. e4 0-1', ["conflict"]),
    ],
)
def test_malformed_parts_are_reported_and_the_rest_is_read(text: str, kinds: list[str]) -> None:
    a, _, wrong = found(text)
    assert [ply.san for ply in a.plies][:1] == ["e4"]
    assert [kind for kind, _ in wrong] == kinds


def test_a_lag_that_is_not_known() -> None:
    a, b, wrong = found('[Lag "12 - 7"]\n1A. e4 1B. e4 1a. e5 *')
    assert [ply.lag_ms for ply in a.plies] == [12, 7]
    assert [ply.lag_ms for ply in b.plies] == [None]
    assert wrong == []


def test_a_comment_that_is_never_closed_ends_with_the_next_match() -> None:
    games, reader = read((TAGS + "1A. e4 {what\n" + TAGS + "1A. d4 *\n").encode())
    assert [[ply.san for ply in game.plies] for game in games] == [["e4"], [], ["d4"], []]
    assert [anomaly.kind.value for anomaly in reader.anomalies] == ["malformed", "cut"]


def test_draws_aborts_and_what_a_partner_won() -> None:
    for words, result, keys in (
        ("Game drawn by agreement", "1/2-1/2", ("agreed", "agreed")),
        ("Bughouse game aborted.", "*", ("aborted-bug", "aborted-bug")),
        ("Ann's partner won", "1-0", ("partner-won", "unknown")),
        ("Dee checkmated", "0-1", ("partner-decided", "checkmate")),
        ("Dee lost connection; game adjourned", "*", ("adjourned-lost", "adjourned-lost")),
    ):
        a, b, _ = found(f"1A. e4\n{{{words}}} {result}\n")
        assert (a.reason_key, b.reason_key) == keys, words
        assert a.reason == b.reason == words
        assert b.result == {"1-0": "0-1", "0-1": "1-0"}.get(result, result)


def test_what_a_file_is() -> None:
    assert detect(SECONDS.read_bytes()) is SourceKind.BPGN
    assert detect(EXACT.read_bytes()) is SourceKind.BPGN
    assert detect((TAGS + "1A. e4 *").encode()) is SourceKind.BPGN
    assert detect(b'[Event "x"]\n[White "WhiteB"]\n[Black "b"]\n\n1. e4 *\n') is SourceKind.PGN


MATCH = "1A. e4 {59} 1a. e5 {58} 1B. d4 {57} 1b. d5 {56} 2B. Nf3 {55}\n{Bob resigns} 1-0\n"


@pytest.mark.parametrize(
    "tags",
    [
        "",
        "{C:This is game number 3 at a database}\n",
        '[Event "ICS rated bughouse match"]\n[WhiteA "Ann"][BlackA "Bob"]\n\n',
        '[Event "ICS rated bughouse match"]\n[White "Ann"]\n[Black "Bob"]\n\n',
        'From: Ann\n\n[Event "ICS rated bughouse match"]\n[Date "2005.01.03"]\n\n',
        '[Event "x"]\n[White "Ann"]\n\n{Game aborted on move 1} *\n\n[Event "x"]\n\n',
    ],
)
def test_a_match_without_its_second_board_in_the_tags_is_recognised_by_its_moves(tags: str) -> None:
    for first in ("1A. e4", "1a. e4", "1B.e4"):
        data = (tags + MATCH.replace("1A. e4", first)).encode()
        assert detect(data) is SourceKind.BPGN, first
    games, _ = read((tags[tags.find("[Event") :] if tags.startswith("From") else tags).encode() + MATCH.encode())
    a, b = games[-2:]
    assert ([ply.san for ply in a.plies], [ply.san for ply in b.plies]) == (["e4", "e5"], ["d4", "d5", "Nf3"])
    assert (a.variant, b.variant, a.result, b.result) == ("bughouse", "bughouse", "1-0", "0-1")
    assert [ply.white_clock_ms for ply in b.plies][::2] == [57_000, 55_000]
    assert a.white.handle == ("Ann" if "WhiteA" in tags else "?")


def test_the_first_tag_behind_a_byte_order_mark_is_read() -> None:
    text = TAGS + "1A. e4 {59} 1a. d5 {58} 1-0\n"
    marked, reader = read(b"\xef\xbb\xbf" + text.encode(), size=2)
    plain, _ = read(text.encode())
    assert written(marked) == written(plain)
    assert reader.anomalies == []
    assert min(game.first_offset for game in marked) >= 3


def test_a_match_of_players_without_names_is_one_match() -> None:
    games, _ = read(MATCH.encode())
    assert [pair[2] for pair in pair_bughouse(games)] == ["both boards of one saved match"]
    named, _ = read(('[WhiteA "Ann"][BlackA "Bob"]\n' + MATCH).encode())
    text = written(named).decode()
    assert "1A. e4 {59} 1a. e5 {58} 1B. d4 {57} 1b. d5 {56} 2B. Nf3 {55}\n{Bob resigns} 1-0" in text


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_matches_without_any_tag_follow_each_other(size: int) -> None:
    games, reader = read((MATCH + "\n" + MATCH.replace("e4", "c4")).encode(), size=size)
    assert [[ply.san for ply in game.plies][:1] for game in games] == [["e4"], ["d4"], ["c4"], ["d4"]]
    assert reader.anomalies == []


def test_moves_of_two_boards_in_a_comment_make_no_match_of_a_game() -> None:
    for text in (
        b'[Event "x"]\n[White "Ann"]\n[Black "Bob"]\n\n{ seen in\n1A. e4 of the other board }\n1. e4 *\n',
        b'[Event "x"]\n[White "Ann"]\n[Black "Bob"]\n\n1. e4 e5 {1A. e4} 2. Nf3 *\n',
    ):
        assert detect(text) is SourceKind.PGN
    assert detect(b"1A. Wir treffen uns um acht.\n") is None


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_semicolon_begins_a_comment_that_ends_with_its_line(size: int) -> None:
    text = (
        "; of my own\n" + TAGS + "; before { the moves\n1A. e4{59; or so} 1a. e5{58.5};2A. d4 1-0\n"
        "2A. Nf3{57.0} {Ann resigns} 0-1 ; she says\n; behind it\n"
    )
    games, reader = read((text + TAGS + "1A. c4 *\n").encode(), size=size)
    assert reader.anomalies == []
    assert [[ply.san for ply in game.plies] for game in games] == [["e4", "e5", "Nf3"], [], ["c4"], []]
    assert games[0].reason == "Ann resigns"
    words = [event.text for event in games[0].events if event.detail == "annotation"]
    assert words == ["of my own", "before { the moves", "59; or so", "2A. d4 1-0", "she says", "behind it"]
    assert [game.first_offset < len(text) for game in games] == [True, True, False, False]


CHESS = '[Event "a game"]\n[White "Eve"]\n[Black "Fay"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 {best} 1-0\n\n'


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_games_of_chess_between_matches_are_read_as_chess(size: int) -> None:
    data = (CHESS + TAGS + MATCH + "\n" + CHESS).encode()
    assert detect(data) is SourceKind.BPGN
    games, reader = read(data, size=size)
    assert reader.anomalies == []
    assert [game.white.handle for game in games] == ["Eve", "Ann", "Cid", "Eve"]
    assert [game.variant for game in games] == ["chess", "bughouse", "bughouse", "chess"]
    assert [ply.san for ply in games[3].plies] == ["e4", "e5", "Nf3"]
    assert [ply.offset for ply in games[3].plies][:1] == [data.rindex(b"e4 e5")]


@pytest.mark.parametrize("match", [TAGS + "\n" + MATCH, TAGS + "*\n", "{two boards}\n; so\n" + MATCH, MATCH])
def test_a_match_in_a_file_of_chess_games_makes_no_game_of_chess(match: str) -> None:
    pipeline = make_pipeline(SourceKind.PGN)
    data = (CHESS + match + "\n" + CHESS).encode()
    games = pipeline.receive(data) + pipeline.finish()
    assert [(game.white.handle, len(game.plies)) for game in games] == [("Eve", 3), ("Eve", 3)]
    (found,) = pipeline.report.anomalies
    assert (found.kind.value, "--kind bpgn" in found.message) == ("malformed", True)
    assert len(CHESS) <= found.offset < len(CHESS) + len(match)


def test_matches_before_the_one_that_is_open_are_final() -> None:
    data = SECONDS.read_bytes()
    whole, _ = read(data)
    half = data.index(b"[Event", len(data) // 2)
    first = make_pipeline(SourceKind.BPGN)
    games = first.receive(data[: half + 40])
    assert first.read_up_to == half
    assert games == [game for game in whole if game.first_offset < half]


def test_a_match_without_an_end_does_not_fill_the_memory() -> None:
    move = b"1A. e4 {C:" + b"x" * 200 + b"}\n"
    _, reader = read(TAGS.encode() + move * 20_000, size=1 << 16)
    kinds = {anomaly.kind.value for anomaly in reader.anomalies}
    assert "long-line" in kinds


_PIECES = st.sampled_from(
    [
        '[Event "x"]\n', '[WhiteA "Ann"][BlackA "Bob"]\n', '[WhiteB "Cid"]\n',
        '[Lag "1 - x"]\n', '[Date "2005.13.01"]\n',
        "1A. e4 ", "1a. d5{1.5} ", "2A. exd5 {60} ", "1B. N@e4 ", "1b. P@e5 ", "99999A. Q ", "{C:a} ", "{b} ", "{", "}",
        "[", '"', "\n", "\r\n", "1-0 ", "* ", "0-1\n", "é", "\x00", ";", "1A.", "{Ann resigns} 0-1\n\n",
    ]
)  # fmt: skip


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=60), st.integers(1, 9))
def test_any_bytes_in_any_cut(text: str, size: int) -> None:
    data = text.encode("utf-8", "replace")
    games, reader = read(data)
    pieces, reread = read(data, size)
    assert pieces == games
    assert reread.anomalies == reader.anomalies
    assert reread.line_count == reader.line_count
    written(games)


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_what_is_written_is_read_as_it_was(data: st.DataObject) -> None:
    """Any cut of a recorded match, its clocks and lag as they may be."""
    games = games_of(*OF_BOTH_BOARDS[0])[:2]
    number = st.none() | st.integers(0, 10**6)

    def some(game: Game, other: Game) -> Game:
        links = [Link(LinkKind.PARTNER, other.key, "told")]
        seen = game.observations[0]
        count = data.draw(st.integers(1, len(seen.lines[0].plies)))
        rows = []
        for ply in seen.lines[0].plies[:count]:
            clock = data.draw(st.none() | st.integers(-5000, 10**7))
            mine, other = (clock, None) if ply.white_moved else (None, clock)
            rows.append(ply._replace(white_clock_ms=mine, black_clock_ms=other, lag_ms=data.draw(number)))
        line = type(seen.lines[0])(0, seen.lines[0].kind, None, None, rows)
        short = type(seen)(**{name: getattr(seen, name) for name in seen.__slots__} | {"lines": [line], "events": []})
        segments = [game.segments[0]._replace(to_ply=count)]
        return replace(game, observations=[short], segments=segments, links=links)

    def shown(game: Game) -> list[tuple[object, ...]]:
        return [(ply.ply, ply.san, ply.white_clock_ms, ply.black_clock_ms, ply.lag_ms) for ply in game.plies]

    cut = [some(*games), some(*games[::-1])]
    reread, _ = read(written(cut))
    assert [shown(game) for game in reread] == [shown(game) for game in cut]
