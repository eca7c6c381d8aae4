"""Every shape of stream and frame that the public excerpts hold (``test_notes_lines`` has the other lines).

The files of ``tests/corpus/public`` go through the whole pipeline as they are; lines that several of them share in one
form only are written out. ``tests/corpus`` has a README that says where they come from.
"""

import pytest

from recorder.model import Disposition, GameKind, Precision, Proof
from recorder.sources import SourceKind, detect
from tests.edge_cases.excerpts import PUBLIC, public
from tests.edge_cases.scripts import Table, details, events, log, only, proved, read, sans

FILES = sorted(path.stem for path in PUBLIC.glob("*.txt"))
START, JOINED, PLY, SAME, GAP = (
    Disposition.START,
    Disposition.JOINED,
    Disposition.PLY,
    Disposition.SAME,
    Disposition.GAP,
)
QUOTED, ISOLATED, EXAMINED = Disposition.QUOTED, Disposition.ISOLATED, Disposition.EXAMINED
HOLDINGS, PASS, LIST_START = Disposition.HOLDINGS, Disposition.PASS, Disposition.LIST_START
MALFORMED = Disposition.MALFORMED


@pytest.mark.parametrize("name", FILES)
def test_every_excerpt_is_read_whole(name: str) -> None:
    """``read`` itself asserts that cutting changes nothing and that every tag is accounted for."""
    found = public(name)
    assert found.frames(MALFORMED) == [0]
    assert all(game.observations for game in found.games)


# Streams and line shapes


def test_session_of_a_guest_with_telnet_bytes_bells_and_blocks() -> None:
    found = public("mekk-session-short")
    assert (found.report.dialect, found.report.me) == ("FICS", "GuestCPHL")
    first, second = found.games
    assert (first.game_no, first.white.handle, first.white.rating, first.black.rating) == (60, "GYOI", 2049, 2059)
    assert (first.start_ply, sans(first), first.end) == (3, [], "unobserved")
    assert sans(second) == ["Bg7", "c5", "Ne7", "Bb5+"]
    assert proved(second)
    assert (second.end, second.category, second.base_s) == ("lost-feed", "blitz", 180)
    assert found.frames(JOINED, PLY) == [2, 4]


def test_line_ends_are_lf_cr_cr_lf_and_lf() -> None:
    for end in ("\n\r", "\r\n", "\n", "\r\r\n"):
        table = Table()
        assert sans(only(read(log(table.frame(), "", table.play("e4"), table.play("e5"), end=end)))) == ["e4", "e5"]


def test_bell_alone_and_glued_to_the_prompt() -> None:
    table = Table()
    first, e4, e5 = table.frame(), *table.plays("e4", "e5")
    found = read(log("fics% ", "\x07", first, "fics% \x07", e4, f"fics% \x07{e5}"))
    assert sans(only(found)) == ["e4", "e5"]


def test_prompts_with_and_without_the_blank_before_replies() -> None:
    table = Table()
    lines = [
        f"fics% {table.observing()}",
        f"fics%{table.header()}",
        table.frame(),
        f"fics% {table.play('e4')}",
        f"aics% {table.play('e5')}",
        f"fics% {table.over('Ann resigns', '0-1')}",
    ]
    game = only(read(log(*lines)))
    assert (sans(game), game.result, game.white.rating) == (["e4", "e5"], "0-1", 1500)


def test_own_frames_in_blocks_and_others_outside() -> None:
    game = only(public("pychess-play-gbtami"))
    assert sans(game) == ["f3", "e5", "g4", "Qh4#"]
    assert proved(game)
    assert [(ply.elapsed_ms, ply.lag_ms) for ply in game.plies] == [(0, 0), (0, 0), (2662, 296), (4237, 304)]
    assert (game.result, game.reason_key, game.complete) == ("0-1", "checkmate", True)
    # The mover's clock drops by exactly the time in parentheses; the lag is no part of it.
    assert (game.plies[2].white_clock_ms, game.plies[3].black_clock_ms) == (300_000 - 2662, 300_000 - 4237)
    assert (game.white.rating, game.black.rating, game.black.registered) == (1708, None, False)


def test_frame_right_after_the_block_head() -> None:
    game = only(public("pychess-play-seek-WLTL"))
    assert sans(game) == ["b3", "Nf6", "g3"]
    assert game.plies[2].white_clock_ms == 59_900
    assert details(game, "notice") == ["disconnect-rule"]


def test_pass_line_and_board_in_one_block() -> None:
    table = Table(329, relation=-1)
    text = "<b1> game 329 white [] black [P] <- BP"
    block = f"\x156\x161\x16\n{text}\n\x07\n{table.frame()}<b1> game 329 white [] black [P]\n\x17\n"
    found = read(log(table.created("bughouse")) + block.encode())
    assert found.frames(START) == [1]
    assert found.holdings(HOLDINGS, Disposition.FOREIGN) == [1, 1]
    assert only(found).observations[0].holdings[-1].black == "P"


def test_posed_blocks_inside_blocks() -> None:
    found = public("pychess-puzzlebot-1")
    assert found.frames(EXAMINED) == [4]
    assert {(game.kind, game.white.handle, game.black.handle) for game in found.games} == {
        (GameKind.EXAMINED, "gbtami", "puzzlebot")
    }
    assert not any(game.kind is GameKind.PLAYED for game in found.games)


def test_block_whose_end_never_comes() -> None:
    found = public("macbeth-seek-matches-364")
    game = only(found)
    assert (game.white.handle, game.black.handle, game.rated, game.increment_s) == (
        "GuestJYQC",
        "GuestNGCB",
        False,
        12,
    )
    assert found.frames(START) == [1]


def test_wrapped_announcement() -> None:
    found = public("fcl-announcement")
    assert (found.games, found.report.shapes, found.anomalies()) == ([], [], [])


def test_frame_wrapped_by_a_terminal_without_a_backslash() -> None:
    game = only(public("lila-relay-277-wrapped-frame"))
    assert sans(game)[-2:] == ["Qxe2", "Nxd5"]
    assert [ply.proof for ply in game.plies] == [Proof.LIST] * 13 + [Proof.FULL]
    assert game.plies[13].black_clock_ms is not None
    start = game.observations[0].start
    assert start is not None
    assert (start.verbose, start.pretty, start.elapsed_ms, start.white_clock_ms) == ("N/f6-d5", "Nxd5", 0, 51_000)
    assert (game.rated, game.category, game.white.rating) == (True, "lightning", 1824)


def test_text_header_and_frame_on_one_line() -> None:
    found = public("macbeth-glued-observe-157")
    game = only(found)
    assert (game.game_no, game.white.handle, game.white.rating, game.base_s) == (157, "IMUrkedal", 2517, 7200)
    assert found.frames(JOINED, QUOTED) == [1, 0]


def test_typing_echoed_between_server_lines() -> None:
    found = public("bughouse-observe-76-97-first-part")
    assert [(game.game_no, len(game.plies), game.variant) for game in found.games] == [
        (76, 17, "bughouse"),
        (97, 11, "bughouse"),
    ]
    assert all(proved(game) for game in found.games)
    assert found.frames(JOINED, PLY) == [2, 28]
    assert found.holdings(HOLDINGS, PASS) == [30, 13]
    assert found.anomalies() == []
    white_clocks = [ply.white_clock_ms for ply in found.games[0].plies[:3]]
    assert white_clocks == [166_000, 166_000, 165_000]


def test_client_log_with_every_line_twice() -> None:
    found = public("pychess-issue983-log")
    # Two results and a start, none of them of a game that was observed.
    assert found.games == []
    assert found.report.kind == "pychess"


def test_client_log_with_the_frame_behind_a_stamp() -> None:
    found = public("pychess-issue831-negative-clock")
    game = only(found)
    assert (game.white.handle, game.black.handle, game.game_no) == ("gbtami", "Hamdimoussax", 9)
    start = game.observations[0].start
    assert start is not None
    assert (start.white_clock_ms, start.black_clock_ms, start.lag_ms) == (-111, 6413, 302)
    assert start.at_ms is not None


def test_stamp_on_the_line_before() -> None:
    table = Table()
    stamp = "2015-05-08 20:06:{:02d}.827 fics[72424:1694479] "
    frames = [table.frame(), *table.plays("e4", "e5", "Nf3", "Nc6")]
    lines = [line for second, frame in enumerate(frames) for line in (stamp.format(50 + second), frame)]
    data = log(*lines, end="\n")
    kind = detect(data)
    assert kind is SourceKind.STAMPED
    game = only(read(data, "stamped"))
    assert sans(game) == ["e4", "e5", "Nf3", "Nc6"]
    arrivals = [ply.at_ms for ply in game.plies]
    assert [late - arrivals[0] for late in arrivals if late is not None and arrivals[0] is not None] == [
        0,
        1000,
        2000,
        3000,
    ]


def test_winboard_debug_file() -> None:
    found = public("talkchess-icc-wild22-winboard-debug")
    game = only(found)
    assert (found.report.kind, found.report.dialect) == ("xboard", "ICC")
    assert (game.variant, sans(game)) == ("chess960", ["d4", "d5", "e3", "c6", "Nf3"])
    assert [ply.elapsed_ms for ply in game.plies] == [2000] * 5
    assert found.frames(LIST_START) == [1]


def test_help_text_that_quotes_frames() -> None:
    found = public("fics-help-style12")
    assert found.games == []
    assert found.frames(QUOTED) == [2]
    assert found.holdings(QUOTED) == [4]


# Frames


@pytest.mark.parametrize(
    ("name", "tokens", "joined"),
    [("chesspad-frames", 33, 2), ("queenmaxima-icc-frames", 31, 2), ("misc-frames", 31, 4), ("macbeth-frames", 33, 3)],
)
def test_frames_of_31_and_33_tokens(name: str, tokens: int, joined: int) -> None:
    text = (PUBLIC / f"{name}.txt").read_text("latin-1")
    assert tokens in {len(line.split()) for line in text.splitlines() if line.startswith("<12>")}
    assert public(name).frames(JOINED) == [joined]


def test_unit_negative_and_zero_clocks() -> None:
    games = {game.game_no: game for game in public("chesspad-frames").games}
    # Three plies in thousandths, and another game in whole seconds in the same session.
    assert [
        (ply.san, ply.white_clock_ms, ply.black_clock_ms, ply.elapsed_ms, ply.lag_ms) for ply in games[34].plies
    ] == [
        ("gxh6", 346_972, 456_856, 4424, 57),
        ("bxc6", 345_380, 456_856, 1592, 327),
    ]
    start = games[100].observations[0].start
    assert start is not None
    assert (start.white_clock_ms, start.precision_code) == (600_000, Precision.SECONDS)
    table = Table(clocks=(-1000, 89_000))
    table.play("e4")
    found = read(log(table.frame(), table.play("e5", white_clock=-1, black_clock=89)))
    assert (only(found).plies[1].white_clock_ms, only(found).plies[1].black_clock_ms) == (-1000, 89_000)


def test_malformed_frame_is_counted_and_not_stored() -> None:
    table = Table()
    first, e4 = table.frame(), table.play("e4")
    damaged = table.frame(elapsed="(-27:-36. -60)").replace("<12> rnbqkbnr", "<12> rnb qkbnr")
    found = read(log(first, e4, damaged, table.play("e5")))
    assert sans(only(found)) == ["e4", "e5"]
    assert found.frames(START, PLY, MALFORMED) == [1, 2, 1]
    assert found.anomalies() == ["malformed"]


def test_clocks_with_an_increment_and_snapshots() -> None:
    """The clock holds the increment already; a board that was asked for shows the running clock."""
    table = Table(increment=3, clocks=(420_000, 420_000), base=7)
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3", "Nc6")]
    running = table.frame(white_clock=400)
    game = only(read(log(*lines, running, table.play("Bb5", elapsed_ms=25_000))))
    assert [ply.white_clock_ms for ply in game.plies][2:] == [421_000, 421_000, 399_000]
    assert [event.detail for event in events(game, "clock")] == ["same-ply"]


def test_relay_board_repeated_with_another_clock() -> None:
    found = public("csboard-relay-refresh")
    relay = found.games[0]
    assert [(event.detail, event.black_clock_ms) for event in events(relay, "clock")] == [("same-ply", 352_000)]
    assert details(relay, "ticking") == ["off"]
    assert sans(relay) == []
    assert found.frames(JOINED, SAME) == [2, 1]


def test_running_flag_of_bughouse_before_the_first_move() -> None:
    found = public("bughouse-play-58")
    game = only(found)
    assert (game.variant, game.white.handle, game.black.handle) == ("bughouse", "fixerator", "GuestGTWN")
    # The first name of "Creating:" is not White here; the line in braces has the colours.
    assert (game.white.rating_text, game.black.rating_text) == ("----", "++++")
    assert found.frames(START) == [1]
    assert found.holdings(HOLDINGS) == [1]


def test_relations_and_examined_boards() -> None:
    found = public("mekk-style12-frames")
    assert found.frames(JOINED, ISOLATED, EXAMINED) == [3, 1, 2]
    found = public("ictk-frames")
    assert found.frames(EXAMINED) == [2]
    assert found.frames(START, JOINED) == [0, 0]


def test_promotions_castling_and_drops_in_the_verbose_move() -> None:
    starts = {
        (start.verbose, start.pretty)
        for name in ("bughouse-frames-promotion-drop", "mekk-style12-frames", "queenmaxima-icc-frames")
        for game in public(name).games
        for seen in game.observations
        if (start := seen.start) is not None
    }
    assert {
        ("P/b7-a8=Q", "bxa8=Q"),
        ("B/@@-e5", "B@e5+"),
        ("o-o-o", "O-O-O"),
        ("P/h7-h8", "h8=Q#"),
    } <= starts


def test_the_pieces_that_wait_in_seirawan_are_no_holdings_of_bughouse() -> None:
    found = public("lasker-seirawan")
    game = only(found)
    assert (game.variant, game.variant_inferred, found.anomalies()) == ("seirawan", False, [])


def test_lost_frame_is_inferred_because_only_one_move_fits() -> None:
    found = public("ahanft-observe-223")
    game = only(found)
    assert [(ply.ply, ply.san) for ply in game.plies][4:6] == [(96, "d1=Q"), (97, "hxg5")]
    inferred = game.plies[4]
    assert inferred.proof == Proof.INFERRED
    assert (inferred.elapsed_ms, inferred.white_clock_ms, inferred.lag_ms, inferred.at_ms) == (None,) * 4
    assert [ply.proof for ply in game.plies if ply is not inferred] == [Proof.FULL] * 11
    assert [(event.detail, event.value) for event in events(game, "gap-filled")] == [("inferred", 1)]
    assert found.frames(JOINED, PLY, GAP) == [1, 10, 1]


def test_names_of_an_examined_game_change() -> None:
    found = public("pychess-lecturebot")
    game = only(found)
    assert (game.kind, game.white.handle, game.black.handle) == (GameKind.EXAMINED, "Henley", "Browne")
    assert [event.text for event in events(game, "names")] == ["Henley LectureBot", "Henley Browne"]
    assert found.frames(EXAMINED) == [7]


def test_number_taken_by_another_game_at_once() -> None:
    first, second = Table(9, "gbtami", "Hamdimoussax"), Table(9, "Carlo", "Dora")
    lines = [first.frame(), first.play("e4"), first.over("gbtami forfeits on time", "0-1")]
    one, other = read(log(*lines, second.observing(), second.frame(), second.play("d4"))).games
    assert (sans(one), one.result, one.black.handle) == (["e4"], "0-1", "Hamdimoussax")
    assert (sans(other), other.result, other.white.handle) == (["d4"], "*", "Carlo")
