"""Edge cases 47–69: movelists, wrapped text, clocks, saved logs, examined games, sessions. One test a case."""

import pytest

from recorder.model import Disposition, GameKind, Origin, Proof
from tests.edge_cases.scripts import PROMPT, Table, details, events, log, only, proved, read, sans

START, JOINED, PLY, SAME, GAP = (
    Disposition.START,
    Disposition.JOINED,
    Disposition.PLY,
    Disposition.SAME,
    Disposition.GAP,
)
QUOTED, ISOLATED, EXAMINED, SETUP = Disposition.QUOTED, Disposition.ISOLATED, Disposition.EXAMINED, Disposition.SETUP
HOLDINGS, FOREIGN = Disposition.HOLDINGS, Disposition.FOREIGN


def movelist(
    *rows: str, number: int | None = 7, names: str = "Ann (1500) vs. Bob (1600)", kind: str = "Rated blitz match"
) -> list[str]:
    """An answer to ``moves``; the last row is the trailer."""
    head = [] if number is None else [f"Movelist for game {number}:", ""]
    return [
        *head,
        f"{names} --- Mon Nov  4, 08:38 CET 2002",
        f"{kind}, initial time: 5 minutes, increment: 0 seconds.",
        "",
        "Move  Ann                Bob",
        "----  ----------------   ----------------",
        *rows,
    ]


@pytest.mark.parametrize(
    ("trailer", "result", "key", "end"),
    [
        ("{Still in progress} *", "*", None, "log-ends"),
        ("{Game in progress} *", "*", None, "log-ends"),
        ("{White resigned} 0-1", "0-1", "resign", "result"),
        ("{White forfeits on time} 0-1", "0-1", "time", "result"),
        ("{White lost connection; game adjourned} *", "*", "adjourned-lost", "adjourned"),
    ],
)
def test_edge_47_trailers_of_a_movelist(trailer: str, result: str, key: str | None, end: str) -> None:
    rows = ["  1.  e4      (0:00)     e5      (0:00)", f"      {trailer}"]
    other = Table(8, "Cid", "Dan")
    # What follows the trailer is no part of the list.
    found = read(log(*movelist(*rows), other.frame(), other.play("d4")))
    games = {game.white.handle: game for game in found.games}
    game = games["Ann"]
    assert sans(game) == ["e4", "e5"]
    assert (game.result, game.reason_key, game.end) == (result, key, end)
    assert sans(games["Cid"]) == ["d4"]
    assert found.anomalies() == []


def test_edge_48_black_begins_in_a_row_without_a_time() -> None:
    rows = [
        "  1.  ...                e5      (0:01)",
        "  2.  e4      (0:02)     Nf6     (0:03)",
        "  {Still in progress} *",
    ]
    for first in (rows[0], "  1.  ...     e5"):
        game = only(read(log(*movelist(first, *rows[1:]))))
        assert [(ply.ply, ply.san) for ply in game.plies] == [(2, "e5"), (3, "e4"), (4, "Nf6")]
        assert game.plies[0].elapsed_ms == (1000 if "(" in first else None)
        assert game.plies[0].precision == (0 if "(" in first else None)
        assert game.start_ply == 1
        assert game.start_fen is not None
        assert game.start_fen.split()[1] == "b"


def test_edge_49_lists_belong_to_the_game_they_name() -> None:
    left, right = Table(7), Table(8, "Cid", "Dan")
    joined = [left.plays("e4", "e5")[-1], right.plays("d4", "d5")[-1]]
    end = "      {Still in progress} *"
    mine = movelist("  1.  e4      (0:00)     e5      (0:00)", end)
    theirs = movelist("  1.  d4      (0:00)     d5      (0:00)", end, number=8, names="Cid (1500) vs. Dan (1600)")
    rest = [left.play("Nf3"), right.play("c4")]
    for lists in (
        [*mine, *theirs],
        [*theirs, *mine],
        [*theirs[2:], *mine[2:]],  # 1.6.2 prints no number
        ["Movelist for game 8:", "", *mine, PROMPT, *theirs],  # an answer that never came
        [*mine, *theirs, *theirs],
    ):
        found = read(log(*joined, *lists, *rest))
        assert {game.game_no: sans(game) for game in found.games} == {7: ["e4", "e5", "Nf3"], 8: ["d4", "d5", "c4"]}
        assert [[ply.origin for ply in game.plies] for game in found.games] == [
            [Origin.MOVELIST, Origin.MOVELIST, Origin.FRAME]
        ] * 2
        assert found.anomalies() == []


def test_edge_50_list_without_a_trailer() -> None:
    table = Table()
    joined = table.plays("e4", "e5", "Nf3", "Nc6", "Bb5", "a6")[-1]
    rows = ["  1.  e4      (0:00)     e5      (0:00)", "  2.  Nf3     (0:02)     Nc6     (0:02)"]
    found = read(log(joined, *movelist(*rows), PROMPT, table.play("Ba4"), table.play("Nf6"), "Ann says: hello"))
    game = only(found)
    assert [(ply.ply, ply.san, ply.proof) for ply in game.plies] == [
        (1, "e4", Proof.LIST),
        (2, "e5", Proof.LIST),
        (3, "Nf3", Proof.LIST),
        (4, "Nc6", Proof.LIST),
        (7, "Ba4", Proof.FULL),
        (8, "Nf6", Proof.FULL),
    ]
    assert not game.complete
    assert found.anomalies() == ["cut"]
    assert found.frames(JOINED, PLY) == [1, 2]


def test_edge_51_wild_list_without_its_start_board() -> None:
    rows = ["  1.  e4      (0:00)     e5      (0:00)", "  2.  Nf3     (0:02)", "      {White resigned} 0-1"]
    found = read(log(*movelist(*rows, number=None, kind="Rated wild/fr match")))
    game = only(found)
    assert [(ply.san, ply.move, ply.proof, ply.elapsed_ms) for ply in game.plies] == [
        ("e4", None, Proof.UNPROVED, 0),
        ("e5", None, Proof.UNPROVED, 0),
        ("Nf3", None, Proof.UNPROVED, 2000),
    ]
    assert (game.variant, game.result) == ("chess960", "0-1")
    assert found.anomalies() == ["movelist"]


def test_edge_52_movelist_that_names_no_variant() -> None:
    rows = ["  1.  e4      (0:00)     e5      (0:00)", "      {Still in progress} *"]
    table = Table()
    joined = table.plays("e4", "e5")[-1]
    header = movelist(*rows, kind="Unrated  match")
    assert header[3].startswith("Unrated  match, initial time")
    knight = table.play("Nf3")
    game = only(read(log(joined, *header, knight)))
    assert sans(game) == ["e4", "e5", "Nf3"]
    assert (game.rated, game.category, game.variant, game.variant_inferred) == (False, None, "chess", True)
    hands = "<b1> game 7 white [] black []"
    game = only(read(log(joined, hands, *header, knight, hands)))
    assert sans(game) == ["e4", "e5", "Nf3"]
    assert (game.variant, game.variant_inferred) == ("crazyhouse", True)


def test_edge_53_wrapped_kibitz() -> None:
    table = Table()
    head = "Ann(1500)[7] kibitzes: one two three four five six seven eight nine ten"
    data = log(table.frame(), table.play("e4")) + f"{head}\n\r\\   eleven twelve\n\r".encode() + log(table.play("e5"))
    game = only(read(data, cuts=[data.index(b"\n\r\\   ") + 1]))
    chat = events(game, "chat")
    assert [(event.actor, event.detail, event.ply) for event in chat] == [("Ann", "kibitz", 1)]
    assert chat[0].text == "one two three four five six seven eight nine ten eleven twelve"
    assert sans(game) == ["e4", "e5"]


def test_edge_54_word_cut_at_the_width() -> None:
    table = Table()
    text = "Ann(1500)[7] kibitzes: " + "x" * 100
    wrapped = f"{text[:79]}\n\r\\   {text[79:]}\n\r"
    game = only(read(log(table.frame(), table.play("e4")) + wrapped.encode()))
    assert [event.text for event in events(game, "chat")] == ["x" * 100]


def test_edge_55_time_taken_is_not_the_clock_difference() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3", "Nc6")]
    table.clocks[0] -= 7000
    lines += [table.play("Bb5"), table.play("a6")]
    table.clocks[1] -= 1000  # clock and time taken are rounded apart
    lines += [table.play("Ba4"), table.play("Nf6")]
    game = only(read(log(*lines)))
    ply = game.plies[4]
    assert (ply.san, ply.elapsed_ms, ply.white_clock_ms) == ("Bb5", 2000, 289_000)
    assert [(event.ply, event.detail, event.value) for event in events(game, "clock")] == [(5, "adjusted", -7000)]


def test_edge_56_first_moves_are_charged_or_not() -> None:
    charged = Table(increment=12, tokens=31)
    lines = [charged.frame()]
    for san, white, black in (("e4", 309, 300), ("e5", 309, 308), ("Nf3", 319, 308), ("Nc6", 319, 318)):
        lines.append(
            charged.play(
                san,
                white_clock=white,
                black_clock=black,
                elapsed="(0:03)" if san == "e4" else "(0:04)" if san == "e5" else "(0:02)",
            )
        )
    game = only(read(log(*lines)))
    assert [(ply.elapsed_ms, ply.white_clock_ms, ply.black_clock_ms) for ply in game.plies] == [
        (3000, 309_000, 300_000),
        (4000, 309_000, 308_000),
        (2000, 319_000, 308_000),
        (2000, 319_000, 318_000),
    ]
    assert events(game, "clock") == []
    free = Table(increment=12)
    game = only(read(log(free.frame(), *free.plays("e4", "e5", "Nf3", "Nc6"))))
    assert [(ply.elapsed_ms, ply.white_clock_ms, ply.black_clock_ms) for ply in game.plies] == [
        (0, 300_000, 300_000),
        (0, 300_000, 300_000),
        (2000, 310_000, 300_000),
        (2000, 310_000, 310_000),
    ]
    assert events(game, "clock") == []


def test_edge_57_lag_that_says_nothing() -> None:
    table = Table()
    lines = [table.frame(), table.play("e4"), table.play("e5")]
    banner = "Server location: chess.example.br   Server version : chessd 1.0.0"
    found = read(log(banner, *lines))
    assert found.report.dialect == "chessd"
    assert [ply.lag_ms for ply in only(found).plies] == [None, None]
    # An unsealed player's number is kept as printed; whether he is sealed is another fact.
    info = "<g1> 7 p=0 t=blitz r=1 u=0,0 it=300,0 i=300,0 pt=0 rt=1500,1600 ts=0,1 m=2 n=0"
    game = only(read(log(info, *lines)))
    assert [ply.lag_ms for ply in game.plies] == [0, 0]
    assert (game.white.sealed, game.black.sealed) == (False, True)
    game = only(read(log(*lines)))
    assert (game.white.sealed, game.black.sealed) == (None, None)


def test_edge_58_board_of_another_size() -> None:
    wide = (
        "<12> rnabqkbcnr pppppppppp ---------- ---------- ---------- ---------- PPPPPPPPPP RNABQKBCNR "
        "W -1 1 1 1 1 0 9 Cid Dan 0 5 0 53 53 300 300 1 none (0:00) none 0 0"
    )
    ten_ranks = (
        "<12> rheakaehr --------- -c-----c- p-p-p-p-p --------- --------- P-P-P-P-P -C-----C- --------- RHEAKAEHR "
        "B -1 0 0 0 0 0 10 Cid Dan 0 5 0 53 53 300 300 1 P/a3-a4 (0:00) a4 0 0"
    )
    table = Table()
    found = read(log(table.frame(), wide, table.play("e4"), ten_ranks, table.play("e5")))
    games = {game.game_no: game for game in found.games}
    assert [sans(games[number]) for number in (7, 9, 10)] == [["e4", "e5"], [], []]
    assert (games[7].start_fen, games[9].start_fen) == (
        None,
        "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR w KQkq - 0 1",
    )
    assert found.frames(START, PLY, ISOLATED) == [2, 2, 0]
    assert found.anomalies() == ["variant", "variant"]


def test_edge_59_names_change_under_the_same_board() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5")]
    table.black = "Robert"
    found = read(log(*lines, table.frame(), table.play("Nf3"), table.over("Robert resigns", "1-0")))
    game = only(found)
    assert (game.white.handle, game.black.handle) == ("Ann", "Robert")
    assert sans(game) == ["e4", "e5", "Nf3"]
    assert (game.result, game.complete) == ("1-0", True)
    assert [(event.ply, event.text) for event in events(game, "names")] == [(2, "Ann Robert")]
    assert found.frames(START, PLY, SAME) == [1, 3, 1]


def test_edge_60_examined_game_goes_back() -> None:
    table = Table(29, base=0, clocks=(0, 0), relation=-2)
    played = Table()
    lines = [played.frame(), played.play("d4"), table.frame()]
    lines += table.plays("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7")
    back = ["fics% Game 29: guesttick backs up 9999 moves.", table.undo(10)]
    forward = ["Game 29: guesttick goes forward 22 moves.", table.plays("e4", "e5", "Nf3")[-1]]
    found = read(log(*lines, *back, *forward, played.play("d5")))
    games = {game.kind: game for game in found.games}
    assert sans(games[GameKind.PLAYED]) == ["d4", "d5"]
    assert found.frames(START, PLY, EXAMINED) == [1, 2, 13]
    assert games[GameKind.EXAMINED].result == "*"
    # The words ask for 9999 moves; only the board shows how many there were.
    examined = games[GameKind.EXAMINED]
    assert sans(examined) == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7"]
    shown = [event.ply for event in events(examined, "examine") if event.detail == "shown"]
    assert shown == [*range(11), 0, 3]
    assert found.anomalies() == []


def test_edge_61_set_up_boards() -> None:
    played = Table(7, "Kramnik", "Topalov")
    empty = "-------- -------- -------- -------- -------- -------- -------- --------"
    king = empty[:-8] + "----K---"
    table = Table(5, "Kramnik", "Kramnik", base=0, clocks=(0, 0), relation=2)
    shown = {"white_material": 0, "black_material": 0, "castling": "1 1 1 1"}
    lines = [
        played.frame(),
        played.play("e4"),
        table.frame(),
        "Entering setup mode.",
        table.frame(board=empty, **shown),
        table.frame(board=king, **shown),
        table.frame(board=king, turn="B", **shown),
        "Game is validated - entering examine mode.",
        played.play("e5"),
    ]
    found = read(log(*lines))
    games = {game.kind: game for game in found.games}
    assert sans(games[GameKind.PLAYED]) == ["e4", "e5"]
    assert proved(games[GameKind.PLAYED])
    assert sans(games[GameKind.EXAMINED]) == []
    starts = [games[kind].start_fen for kind in (GameKind.EXAMINED, GameKind.SETUP)]
    assert starts == [None, "8/8/8/8/8/8/8/4K3 b - - 0 1"]
    assert found.frames(START, PLY, EXAMINED, SETUP) == [1, 2, 1, 3]


def _xboard(*reads: bytes, between: bytes = b"") -> bytes:
    entries = []
    for data in reads:
        shown = b"".join(b"\\%03o" % byte if byte < 32 or byte > 126 else bytes((byte,)) for byte in data)
        entries.append(b"<ICS: " + shown + b"\nics input 1, castling = 7 0 4 7 0 4\n" + between)
    return b"".join(entries)


def test_edge_62_frame_over_two_reads_of_xboard() -> None:
    table = Table()
    stream = log("fics% ", *[table.frame(), *table.plays("e4", "e5", "Nf3")])
    at = stream.rindex(b"<12>") + 40
    inside = stream.index(b"<12>", 20) + 2
    data = _xboard(stream[:inside], stream[inside:at], stream[at:], between=b"Parsing board: rnbqkbnr\n\n")
    found = read(data, "xboard", stream=stream)
    assert sans(only(found)) == ["e4", "e5", "Nf3"]
    assert proved(only(found))
    assert found.frames(START, PLY, QUOTED) == [1, 3, 0]


def test_edge_63_what_was_typed_is_no_data() -> None:
    table = Table()
    first, e4 = log(table.frame()), log(table.play("e4"))
    spoof = Table()
    spoof.board.push_san("e4")
    typed = b">ICS: secret\\012\n>ICS: " + spoof.play("c5").encode() + b"\\012\n"
    third = log(table.play("e5"))
    data = _xboard(first, e4, between=typed) + _xboard(third)
    assert data.startswith(b"<ICS: ")
    assert b">ICS: secret\\012\n" in data
    found = read(data, "xboard", stream=first + e4 + third)
    game = only(found)
    assert sans(game) == ["e4", "e5"]
    assert not any("secret" in event.text for event in game.events)
    assert not any("secret" in shape.shape for shape in found.report.shapes)


def test_edge_64_pychess_log_with_two_connections() -> None:
    table = Table(9, "gbtami", "Hamdimoussax")
    frames = [table.frame(), *table.plays("e4", "e5")]
    over = table.over("gbtami forfeits on time", "0-1")
    records = []
    for second, line in enumerate([*frames, over]):
        for user in ("gbtami", "GuestRGNM"):
            records.append(f"13:58:{second:02d}.100 ('{user}', 'raw') DEBUG: \n{line}\nfics% ")
        records.append(f"13:58:{second:02d}.200 ('gbtami', 'onStyle12') DEBUG: {line}")
    found = read(("\n".join(records) + "\n").encode(), "pychess", stream="\n".join(frames).encode())
    game = only(found)
    assert sans(game) == ["e4", "e5"]
    assert (game.result, len(events(game, "result"))) == ("0-1", 1)
    assert found.frames(START, PLY, SAME) == [1, 2, 0]


def test_edge_65_level_one_unit_with_datagrams_and_text() -> None:
    table = Table()
    first, e4 = table.frame(), table.play("e4")
    spoof = Table()
    spoof.board.push_san("e4")
    over = table.over("Ann resigns", "0-1")
    unit = f"\x19[24 *\r\n\x19(24 7 e5 \x19{{{spoof.play('c5')}\x19}}\x19)\r\n{spoof.frame()}\r\n{over}\r\n\x19]"
    data = log(first, e4, end="\r\n") + unit.encode("latin-1") + log("", table.play("e5"), end="\r\n")
    found = read(data)
    game = only(found)
    assert sans(game) == ["e4", "e5"]
    assert game.result == "*"
    assert found.frames(START, PLY, QUOTED) == [1, 2, 2]


def test_edge_66_mark_of_lost_data() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5")]
    table.plays("Nf3", "Nc6", "Bb5")
    data = log(*lines) + b"\x19[24 *\r\naaa\x1a" + log("", table.play("a6"), table.play("Ba4"))
    found = read(data)
    game = only(found)
    assert [(ply.ply, ply.san) for ply in game.plies] == [(1, "e4"), (2, "e5"), (6, "a6"), (7, "Ba4")]
    assert "lost-data" in found.anomalies()
    assert [(event.detail, event.ply) for event in events(game, "feed")] == [
        ("server lost data", 2),
        ("log ends here", 7),
    ]
    assert [event.value for event in events(game, "gap")] == [3]
    assert found.frames(START, PLY, GAP) == [1, 3, 1]


def test_edge_66_and_games_that_are_over_or_examined() -> None:
    """Only an observer that still receives a game can have missed a part of it."""
    over, shown = Table(1, "Cid", "Dan"), Table(2, "Eve", "Fay", relation=-2)
    lines = [over.frame(), over.play("e4"), over.over("Dan resigns", "1-0")]
    lines += [shown.frame(), shown.play("d4"), "Game 2: Eve goes forward 1 move."]
    # The next board may not be the one that this line announced.
    games = read(log(*lines) + b"\x1a" + log("", shown.play("d5"))).games
    lost = {game.game_no: details(game, "feed") for game in games}
    assert lost == {1: [], 2: ["server lost data", "log ends here"]}
    (examined,) = [game for game in games if game.game_no == 2]
    assert sans(examined) == ["d4", "d5"]


def test_edge_67_names_and_chat_that_are_not_ascii() -> None:
    table = Table(7, "Jos\xe9", "M\xc3\xbcller")
    kibitz = "Jos\xe9(1500)[7] kibitzes: \xa1ol\xe9! \xe2\x82\xac\xfe"
    found = read(log(table.frame(), table.play("e4"), kibitz, table.play("e5"), table.over("Jos\xe9 resigns", "0-1")))
    game = only(found)
    assert (game.white.handle, game.black.handle) == ("Jos\xe9", "M\xc3\xbcller")
    assert sans(game) == ["e4", "e5"]
    assert (game.reason_key, game.result) == ("resign", "0-1")
    assert [event.text for event in events(game, "chat")] == ["\xa1ol\xe9! \xe2\x82\xac\xfe"]


@pytest.mark.parametrize(
    "last",
    [
        "**** Auto-logout because you were idle more than 60 minutes. ****",
        "    **** Server shutting down immediately. ****",
        "**** Ann has arrived - you can't both be logged in. ****",
    ],
)
def test_edge_68_session_ends(last: str) -> None:
    table = Table()
    warning = "    **** Server going down in 5 minutes and 0 seconds. ****"
    lines = [table.frame(), *table.plays("e4", "e5"), warning, table.play("Nf3"), table.play("Nc6")]
    found = read(log(*lines, "", last))
    game = only(found)
    assert sans(game) == ["e4", "e5", "Nf3", "Nc6"]
    assert len(game.observations) == 1
    assert [(event.detail, event.ply) for event in events(game, "feed")] == [("server going down", 2), ("lost feed", 4)]
    assert (game.result, game.end, game.complete) == ("*", "lost-feed", False)
    # Without such a line it is the log that ends, not the session.
    assert only(read(log(*lines))).end == "log-ends"
    # A result that still comes is a result.
    over = table.over("Game aborted by server shutdown", "*")
    assert only(read(log(*lines, over, last))).end == "aborted"


def test_edge_69_both_result_lines_of_a_bughouse_match() -> None:
    first, second = Table(12, "A", "B"), Table(13, "C", "D")
    lines = []
    for table in (first, second):
        lines += [f"<g1> {table.number} p=0 t=bughouse r=0 u=0,0 it=300,0 i=300,0 pt={25 - table.number} rt=0,0 ts=1,1"]
        lines += [table.frame(), f"<b1> game {table.number} white [] black []"]
    for san in ("e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"):
        lines += [first.play(san), "<b1> game 12 white [] black []"]
    lines += [second.play("e4"), "<b1> game 13 white [] black []"]
    lines += ["{Game 12 (A vs. B) B checkmated} 1-0", "{Game 13 (C vs. D) C checkmated} 0-1"]
    found = read(log(*lines))
    games = {game.game_no: game for game in found.games}
    assert [(games[number].result, games[number].reason_key) for number in (12, 13)] == [
        ("1-0", "checkmate"),
        ("0-1", "partner-decided"),
    ]
    assert sans(games[12])[-1] == "Qxf7#"
    assert proved(games[12])
    assert sans(games[13]) == ["e4"]
    assert (games[12].partner_game_no, games[13].partner_game_no) == (13, 12)
    assert [len(events(game, "result")) for game in found.games] == [1, 1]
    assert found.holdings(HOLDINGS, FOREIGN) == [10, 0]
