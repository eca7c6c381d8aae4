"""The 35 oddities seen in the transcripts of ``tests/corpus/server``, each described at its test.

Scenarios are in brackets; A, B and C are the dialects of README.md there. Most tests read whole recorded streams, the
rest the literal bytes.
"""

from functools import cache

import pytest

from recorder.model import Disposition, GameKind, ObservationKind, Origin, Precision, Proof
from tests.edge_cases.scripts import PROMPT, Found, Table, details, events, log, only, proved, read, sans
from tests.support import corpus, product

START, PLY, SAME = Disposition.START, Disposition.PLY, Disposition.SAME
TAKEBACK, QUOTED, EXAMINED = Disposition.TAKEBACK, Disposition.QUOTED, Disposition.EXAMINED
HOLDINGS, PASS, FOREIGN = Disposition.HOLDINGS, Disposition.PASS, Disposition.FOREIGN


@cache
def recorded(scenario: str, connection: str) -> Found:
    """What comes out of a recorded stream; the tags in it must all be accounted for."""
    kind = "xboard" if connection in corpus.XBOARD_LOGINS else "raw"
    data = corpus.stream_bytes(scenario, connection)
    games, report = product.run([data], kind)
    if kind == "raw":
        assert sum(report.frames.values()) == data.count(b"<12>")
        assert sum(report.holdings.values()) == data.count(b"<b1>")
    return Found(games, report)


def played(scenario: str) -> list[tuple[str, list[str], str]]:
    """White, moves and result of a scenario's games, as the players wrote them down."""
    return [
        (game["white"], [san.rstrip("+#") for san in game["moves_san"]], game["result"])
        for game in corpus.truth(scenario)["games"]
    ]


def bare(found: Found) -> list[tuple[str, list[str], str]]:
    """The same from the games that came out."""
    return [
        (game.white.handle, [san.rstrip("+#") for san in sans(game)], game.result)
        for game in found.games
        if game.kind is GameKind.PLAYED
    ]


# Line ends, prompts, telnet


def test_oddity_01_line_feed_before_carriage_return() -> None:
    # The line end is LF CR. Nearly every chunk ends behind a prompt, because the connections were local: cut the
    # stream elsewhere when testing.
    chunks = corpus.stream_chunks("a01_standard", "observer_GuestObsA")
    data = b"".join(data for _, data in chunks)
    assert b"fics% \n\r<12> " in data
    games, report = product.run([data[at : at + 13] for at in range(0, len(data), 13)], "raw")
    assert Found(games, report) == recorded("a01_standard", "observer_GuestObsA")
    assert len(games) == len(corpus.truth("a01_standard")["games"])


def test_oddity_02_prompt_on_the_line_of_a_message() -> None:
    # A prompt without line end stands before nearly everything, also on the line of useful text: `fics% <b1> game 1
    # …` (B, C), `fics% Game 1: Kramnik goes forward 1 move.` (A). Several can follow each other. A `<12>` normally
    # begins a line of its own.
    found = recorded("b09_crazyhouse", "observer_GuestXy")
    data = corpus.stream_bytes("b09_crazyhouse", "observer_GuestXy")
    assert b"fics% <b1> game 1 " in data
    assert found.holdings(PASS)[0] == data.count(b" <- ")
    assert found.holdings(QUOTED, FOREIGN) == [0, 0]


def test_oddity_03_other_prompts_and_telnet_options() -> None:
    # `set prompt`, `iset defprompt 1` give other prompts [a08]; telnet WILL and WONT ECHO stand around the password
    # prompt.
    for connection in ("observer_GuestObsM", "observer_GuestObsO", "observer_Recorder"):
        data = corpus.stream_bytes("a08_wrap_prompt_style", connection)
        found = recorded("a08_wrap_prompt_style", connection)
        assert found.frames(START, PLY, QUOTED) == [2, 154, 0]
        assert bare(found) == played("a08_wrap_prompt_style")
        if connection == "observer_GuestObsM":
            assert data.count(b"ICS> ") > 100
    assert b"\xff\xfb\x01" in corpus.stream_bytes("a01_standard", "player_Morphy")
    assert recorded("a01_standard", "player_Morphy").report.me == "Morphy"


def test_oddity_04_blocks() -> None:
    # `iset block 1` [a09]: frames of others' moves come outside of blocks.
    data = corpus.stream_bytes("a09_ivariables", "observer_GuestBlk")
    assert b"\x1680\x16You are now observing game 2.\n\r" in data
    found = recorded("a09_ivariables", "observer_GuestBlk")
    assert bare(found) == played("a09_ivariables")
    assert found.frames(START, PLY, TAKEBACK) == [3, 106, 1]


def test_oddity_05_wrapped_lines() -> None:
    # Long lines are broken with `\n\r\\ ` at the width (79), kibitz and whisper, too. `<12>`, `<b1>` and move lists
    # are never broken here.
    data = corpus.stream_bytes("a08_wrap_prompt_style", "observer_GuestObsL")
    assert b"\n\r\\   " in data
    narrow = recorded("a08_wrap_prompt_style", "observer_GuestObsL").games[0]
    wide = recorded("a08_wrap_prompt_style", "observer_GuestObsM").games[0]
    assert events(narrow, "chat")[0].text == events(wide, "chat")[0].text


# Boards


def test_oddity_06_three_two_or_one_integers_after_the_move() -> None:
    # Integers after the SAN: A three (flip, ticking, lag ms), B two, C one.
    for scenario, connection, dialect, lag in (
        ("a01_standard", "observer_GuestObsA", "FatICS", True),
        ("b01_standard", "observer_Watcher", "Lasker", False),
        ("c01_standard", "observer_Watcher", "FICS 1.6.2", False),
    ):
        found = recorded(scenario, connection)
        assert found.report.dialect == dialect
        assert {ply.lag_ms is not None for game in found.games for ply in game.plies} == {lag}
        has_ticking = bool([event for game in found.games for event in events(game, "ticking")])
        assert not (dialect == "FICS 1.6.2" and has_ticking)


def test_oddity_07_the_same_games_in_seconds_and_milliseconds() -> None:
    # Clocks are seconds, or milliseconds with `iset ms 1` (A); a neighbour without ms gets seconds. B accepts `iset
    # ms 1` and sends seconds. `moves` has milliseconds for those with ms.
    seconds = recorded("a09_ivariables", "observer_GuestIva").games
    thousandths = recorded("a09_ivariables", "observer_GuestIvb").games
    for one, other in zip(seconds, thousandths, strict=True):
        assert {ply.precision for ply in one.plies} == {Precision.SECONDS}
        assert {ply.precision for ply in other.plies} == {Precision.MILLISECONDS}
        for coarse, fine in zip(one.plies, other.plies, strict=True):
            assert coarse.san == fine.san
            assert coarse.white_clock_ms is not None
            assert fine.white_clock_ms is not None
            assert abs(coarse.white_clock_ms - fine.white_clock_ms) < 1000


def test_oddity_08_lag_only_of_sealed_movers() -> None:
    # Lag is 0 unless the mover uses timeseal; up to 1156 ms in [a13]. The first move of each side shows time 0 and
    # lag 0.
    found = recorded("a13_timeseal_lag", "observer_GuestTsa")
    lags = [[ply.lag_ms for ply in game.plies] for game in found.games]
    assert max(lag or 0 for game in lags for lag in game) > 500
    assert [game[:2] for game in lags] == [[0, 0]] * 3
    assert all(ply.elapsed_ms == 0 for game in found.games for ply in game.plies[:2])
    # The game facts that this observer asked for mark the sealed players: no other player has any lag.
    for game in found.games:
        for player, parity in ((game.white, 1), (game.black, 0)):
            lag = max(ply.lag_ms or 0 for ply in game.plies if ply.ply % 2 == parity)
            assert player.sealed is (lag > 0)


def test_oddity_09_double_push_file() -> None:
    # Double-push field: A gives the file only when en passant is possible, B and C always. In [b02] it contains
    # garbage after every castling: `W -8365560 0 0 1 1`; other B sessions have -1 there.
    data = corpus.stream_bytes("b02_features", "observer_GuestXc")
    assert b" W -8365560 0 0 " in data
    found = recorded("b02_features", "observer_GuestXc")
    assert bare(found) == played("b02_features")
    assert all(proved(game) for game in found.games)
    # The move alone gives the file, whatever the server prints: after 1.e4 it is e on all servers.
    for scenario, connection in (("a02_features", "player_Chigorin"), ("b02_features", "observer_GuestXc")):
        pushes = {
            ply.flags >> 4
            for game in recorded(scenario, connection).games
            for ply in game.plies
            if ply.uci == "e2e4" and ply.flags is not None
        }
        assert pushes == {5}


def test_oddity_10_promotion_without_its_piece() -> None:
    # Verbose move: `P/e2-e4`, `o-o`, `o-o-o`, `P/@@-c4`; promotions `P/c7-b8=B` in A, without the piece in B and C.
    data = corpus.stream_bytes("b02_features", "observer_GuestXc")
    assert b"=N " in data
    moves = [ply for game in recorded("b02_features", "observer_GuestXc").games for ply in game.plies if "=" in ply.san]
    assert {ply.san[ply.san.index("=") + 1] for ply in moves} >= {"N", "Q"}
    assert all(ply.uci is not None and ply.uci[4] == ply.san[ply.san.index("=") + 1].lower() for ply in moves)


def test_oddity_11_negative_count_in_examined_games() -> None:
    # The irreversible-ply counter can be negative in examine mode of B and C, -32 after `backward 999`.
    frame = (
        "<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR "
        "W 4 1 1 1 1 -2 1 Kramnik Topalov -2 5 0 39 39 300 300 2 P/e7-e5 (0:00) e5 0 1"
    )
    found = read(log(frame))
    game = only(found)
    assert game.kind is GameKind.EXAMINED
    assert game.start_fen == "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    for scenario, connection in (
        ("b05_examine_bsetup", "observer_GuestXk"),
        ("c05_examine_bsetup", "observer_GuestXk"),
    ):
        lowest = b" -32 1 Kramnik " if scenario[0] == "c" else b" -31 1 Kramnik "
        assert lowest in corpus.stream_bytes(scenario, connection)
        found = recorded(scenario, connection)
        assert found.frames(Disposition.MALFORMED) == [0]
        assert bare(found) == []


def test_oddity_12_the_same_position_repeated() -> None:
    # Ticking is 0 before and after White's first move, 1 from Black's first move on. `moretime`, `refresh`, an
    # illegal move attempt and `style 12` send the same position again, with other clocks.
    found = recorded("a06_chatter_takebacks", "observer_Euwe")
    assert found.frames(SAME) == [20]
    assert bare(found) == played("a06_chatter_takebacks")
    assert sum(len(events(game, "clock")) for game in found.games) == 20
    found = recorded("b04_chatter_takeback_pause", "observer_Botvinnik")
    assert found.frames(SAME) == [28]
    assert bare(found) == played("b04_chatter_takeback_pause")


def test_oddity_13_material_is_not_used() -> None:
    # Crazyhouse starts with material 24 in A and 39 in B; pockets are counted.
    for scenario, connection in (("a03_crazyhouse", "observer_GuestObsD"), ("b09_crazyhouse", "observer_GuestXy")):
        found = recorded(scenario, connection)
        assert bare(found) == played(scenario)
        assert {game.variant for game in found.games} == {"crazyhouse"}
        assert found.anomalies() == []


def test_oddity_14_castling_flags_of_shuffled_starts() -> None:
    # Wild games [c03]: the castling flags are `1 1 1 1` even where king and rooks are shuffled; wild 5 has White's
    # pieces on ranks 7 and 8. chess960 castling is `o-o` in verbose.
    found = recorded("c03_wild", "observer_GuestXg")
    assert bare(found) == played("c03_wild")
    fens = [game.start_fen or "" for game in found.games]
    assert all(fen.endswith(" - 0 1") for fen in fens)
    for scenario, connection in (("a05_chess960", "observer_GuestObsG"), ("c03_wild", "observer_GuestXg")):
        assert all(proved(game) for game in recorded(scenario, connection).games)
    castlings = [
        ply for game in recorded("a05_chess960", "observer_GuestObsG").games for ply in game.plies if ply.san[0] == "O"
    ]
    assert castlings


# Holdings


def test_oddity_15_arrow_line_before_its_board() -> None:
    # A capture in crazyhouse: first, alone, the arrow line `<b1> game 4 … <- BN`, then the `<12>` of that capture,
    # then a plain `<b1>` as part of the same message. After every `<12>` a plain `<b1>` follows.
    data = corpus.stream_bytes("a03_crazyhouse", "observer_GuestObsD")
    found = recorded("a03_crazyhouse", "observer_GuestObsD")
    assert found.holdings(HOLDINGS, PASS) == [506, 100]
    assert sum(found.report.frames.values()) == 506
    assert data.count(b" <- ") == 100
    for game in found.games:
        for seen in game.observations:
            for change in seen.holdings:
                # The pass stands at the ply before the capture that earned the piece.
                capture = [ply for ply in game.plies if ply.ply == change.ply + 1]
                assert change.passed is None or "x" in capture[0].san


def test_oddity_16_pieces_come_from_the_other_board() -> None:
    # Bughouse: the arrow line has the other board's number and comes before the `<12>` of the capturing board. An
    # observer of one board sees pockets grow without a move. A has an empty line in between.
    found = recorded("b06_bughouse", "observer_GuestXp")
    assert {game.variant for game in found.games} == {"bughouse"}
    assert found.holdings(PASS, HOLDINGS, FOREIGN) == [47, 136, 0]
    assert all(proved(game) for game in found.games)
    assert found.anomalies() == []


def test_oddity_17_letter_behind_the_arrow() -> None:
    # The letters after `<-` are the receiver's colour and the piece; promoted pieces captured arrive as P.
    found = recorded("a03_crazyhouse", "observer_GuestObsD")
    passes = {
        (change.passed[0], change.passed[1])
        for game in found.games
        for seen in game.observations
        for change in seen.holdings
        if change.passed is not None
    }
    assert {colour for colour, _ in passes} == {"W", "B"}
    assert {piece for _, piece in passes} <= set("PNBRQ")
    assert any(proved(game) and any("=Q" in san for san in sans(game)) for game in found.games)


# Starts and ends


def test_oddity_18_lines_for_an_observer() -> None:
    # Observers get a line with ratings, rated flag and variant in A, only `You are now observing game 1.` in B and C.
    # Players get `Creating: ...` and `{Game 1 (W vs. B) Creating unrated blitz match.}`.
    table = Table(2, "Short", "Anand", increment=1)
    header = "Game 2: Short (----) Anand (----) unrated blitz 5 1"
    game = only(read(log(table.observing(), header, "", table.frame())))
    assert (game.rated, game.category, game.white.rating_text, game.white.rating) == (False, "blitz", "----", None)
    game = only(read(log(table.observing(), table.frame())))
    assert (game.rated, game.category, game.white.rating_text) == (None, None, None)
    # The players of the same games receive the line.
    watched, own = (recorded("b01_standard", name).games for name in ("observer_Watcher", "player_Morphy"))
    assert {game.rated for game in watched} == {None}
    assert None not in {game.rated for game in own}


def test_oddity_19_end_lines() -> None:
    # End lines differ: `by agreement` (A), `by mutual agreement` (B, C); `Caruana lost connection; game adjourned`
    # (A), `{Game 1 (Steinitz vs. Zukertort) adjourned} *` (B, C).
    keys = {
        game.reason_key
        for scenario in ("a01_standard", "b01_standard", "a04_suicide", "a11_adjourn_disconnect", "b08_adjourn")
        for stream in corpus.streams(scenario)
        for game in recorded(scenario, stream.connection).games
    }
    assert keys >= {
        "resign",
        "checkmate",
        "time",
        "agreed",
        "stalemate",
        "repetition",
        "no-material",
        "aborted-agreed",
        "aborted-early",
        "adjourned-agreed",
        "adjourned-lost",
        "disconnect-loss",
        "suicide-fewer",
    }
    assert "unknown" not in keys
    table = Table(1, "Steinitz", "Zukertort")
    game = only(read(log(table.frame(), table.play("e4"), "{Game 1 (Steinitz vs. Zukertort) adjourned} *")))
    assert (game.reason_key, game.end) == ("adjourned-lost", "adjourned")


def test_oddity_20_number_reused_by_the_same_players() -> None:
    # Then `Removing game 1 from observation list.`; the number is used again at once, often by the same two players.
    found = recorded("b04_chatter_takeback_pause", "observer_Botvinnik")
    assert [(game.game_no, game.white.handle, game.result) for game in found.games] == [
        (1, "Capablanca", "0-1"),
        (1, "Alekhine", "1/2-1/2"),
        (1, "Capablanca", "1-0"),
    ]
    assert len({game.key for game in found.games}) == 3


def test_oddity_21_adjourned_game_goes_on() -> None:
    # An adjourned game goes on under `Continuing rated standard match.`; its first frame is in the middle, and
    # `moves` has the earlier moves, in A with times of 0.
    games = recorded("a11_adjourn_disconnect", "observer_GuestAda").games[:3]
    assert [(game.end, len(game.plies)) for game in games] == [("adjourned", 11), ("adjourned", 18), ("result", 45)]
    # Only the players receive the line that an adjourned game continues; here neither asked for the list.
    own = recorded("a11_adjourn_disconnect", "player_Carlsen").games[:3]
    assert [(game.continued, game.start_ply, len(game.plies)) for game in own] == [
        (False, 0, 11),
        (True, 11, 7),
        (True, 18, 27),
    ]
    # The moves before come from a list, whose times are all 0 here; later boards are proved as ever.
    assert {ply.elapsed_ms for ply in games[1].plies[:10]} == {0}
    assert [ply.proof for ply in games[1].plies] == [Proof.LIST] * 10 + [Proof.FULL] * 8


def test_oddity_22_takebacks_with_and_without_a_word() -> None:
    # Takeback: A prints for observers who requests and accepts it; B and C only send an earlier position.
    named = recorded("a06_chatter_takebacks", "observer_Euwe")
    silent = recorded("b04_chatter_takeback_pause", "observer_Botvinnik")
    assert "takeback-accepted" in {detail for game in named.games for detail in details(game, "notice")}
    assert [detail for game in silent.games for detail in details(game, "notice")] == []
    for found, scenario, count in (
        (named, "a06_chatter_takebacks", 10),
        (silent, "b04_chatter_takeback_pause", 8),
        (recorded("c04_chatter_takeback_pause", "observer_Euwe"), "c04_chatter_takeback_pause", 8),
    ):
        assert found.frames(TAKEBACK) == [count]
        assert sum(len(events(game, "takeback")) for game in found.games) == count
        assert bare(found) == played(scenario)


def test_oddity_23_no_minutes_and_an_increment() -> None:
    # B treats `0 1` as untimed ("You can't flag an untimed game."); A and C start it with 10 s (minutes 0, clocks `10
    # 10`).
    for clocks, base in (((10_000, 10_000), 10), ((0, 0), 0)):
        table = Table(base=0, increment=1, clocks=clocks)
        game = only(read(log(table.frame(), table.play("e4"))))
        assert (game.base_s, game.increment_s, game.base_inferred) == (base, 1, base == 10)


# Examined games


def test_oddity_24_names_and_clocks_of_examined_games() -> None:
    # A, and scratch games in C: both names are the examiner's, clocks and time control 0. B keeps names, time control
    # and clocks, but a move typed as a variation has garbage clocks: `147990324 -423172` [b05].
    for scenario, names in (("a10_examine", {"Kramnik"}), ("c05_examine_bsetup", {"Kramnik"})):
        connection = "observer_GuestExa" if scenario[0] == "a" else "observer_GuestXk"
        found = recorded(scenario, connection)
        assert {game.white.handle for game in found.games} == {game.black.handle for game in found.games} == names
        assert GameKind.PLAYED not in {game.kind for game in found.games}
    table = Table(1, "Kramnik", "Topalov", relation=-2, tokens=32)
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3")]
    garbage = table.play("g6", white_clock=147990324, black_clock=-423172)
    game = only(read(log(*lines, garbage)))
    assert (game.kind, sans(game)) == (GameKind.EXAMINED, ["e4", "e5", "Nf3", "g6"])
    assert game.plies[-1].black_clock_ms == -423_172_000


def test_oddity_25_words_of_navigation_move_nothing() -> None:
    # B prints `Game 0: Kramnik goes forward 1 move.` while the frames say game 1; C prints `Kramnik backs up 1 move.`
    # `forward 10` gives one frame, the last. A typed move gives the frame, then `Kramnik moves: e4` (B, C).
    table = Table(1, "Kramnik", "Topalov", relation=-2, tokens=32)
    lines = [table.frame(), "Game 0: Kramnik goes forward 1 move.", table.play("e4"), "fics% Kramnik moves: e4"]
    table.plays("e5", "Nf3")
    lines += ["Game 0: Kramnik goes forward 10 moves.", table.play("Nc6"), "Kramnik backs up 1 move.", table.undo(1)]
    lines += ["Game 0: Kramnik reverts to mainline."]
    found = read(log(*lines))
    game = only(found)
    assert game.kind is GameKind.EXAMINED
    # One ply is known by no board: between 1. e4 and 2. Nf3 there is one legal move only.
    assert [(ply.san, ply.proof) for ply in game.plies] == [
        ("e4", Proof.FULL),
        ("e5", Proof.INFERRED),
        ("Nf3", Proof.FULL),
        ("Nc6", Proof.FULL),
    ]
    assert [event.ply for event in events(game, "examine") if event.detail == "shown"] == [0, 1, 4, 3]
    assert found.frames(EXAMINED) == [4]
    assert found.anomalies() == []


def test_oddity_26_set_up_boards() -> None:
    # bsetup (B [b05]) sends frames of an empty board and of every position on the way, also without kings, always
    # with `none (0:00) none`; `wname` and `bname` change the names. Later `forward` printed `Game 0: Black checkmated
    # 1-0`, and the move list was dated 2013.
    for connection in ("player_Kramnik", "player_Topalov", "observer_GuestXk", "observer_GuestXl"):
        found = recorded("b05_examine_bsetup", connection)
        assert found.frames(Disposition.MALFORMED, Disposition.CONFLICT) == [0, 0]
    kinds = [game.kind for game in recorded("b05_examine_bsetup", "observer_GuestXk").games]
    assert kinds == [GameKind.EXAMINED]
    kinds = [game.kind for game in recorded("b05_examine_bsetup", "player_Kramnik").games]
    assert [kinds.count(kind) for kind in GameKind] == [2, 1, 2]


# Text that looks like protocol


def test_oddity_27_chat_that_imitates_the_server() -> None:
    # Chat with `<12> ...` or `{Game 1 (W vs. B) W resigns} 0-1` passes unchanged after `Name(----)[1] kibitzes: `.
    # After wrapping, its end can stand at the start of a line after `\\ `.
    for scenario, connection in (
        ("a06_chatter_takebacks", "observer_Euwe"),
        ("b04_chatter_takeback_pause", "observer_Botvinnik"),
    ):
        found = recorded(scenario, connection)
        assert found.frames(QUOTED)[0] > 0
        assert bare(found) == played(scenario)
        texts = [event.text for game in found.games for event in events(game, "chat")]
        assert any("<12> " in text or "resigns} " in text for text in texts)
    # A wrapped tail alone at the start of a line is still chat.
    table = Table()
    first, e4 = table.frame(), table.play("e4")
    spoof = Table()
    spoof.board.push_san("e4")
    kibitz = (
        f"Bob(----)[7] kibitzes: look at this\n\r\\   {spoof.play('c5')}\n\r\\   {table.over('Ann resigns', '0-1')}"
    )
    found = read(log(first, e4, kibitz, table.play("e5")))
    game = only(found)
    assert (sans(game), game.result) == (["e4", "e5"], "*")
    assert found.frames(START, PLY, QUOTED) == [1, 2, 1]


def test_oddity_28_tags_behind_names_in_chat() -> None:
    # Names carry tags only in chat: `TestGuestB(U)(++++)[1] whispers: hmm`.
    table = Table(1, "TestGuestA", "TestGuestB")
    whisper = "TestGuestB(U)(++++)[1] whispers: hmm"
    game = only(read(log(table.frame(), table.play("e4"), f"{PROMPT}{whisper}")))
    assert [(event.actor, event.detail, event.text) for event in events(game, "chat")] == [
        ("TestGuestB", "whisper", "hmm")
    ]
    assert game.black.handle == "TestGuestB"


# Delta lines


def test_oddity_29_delta_lines_are_the_games_plies() -> None:
    # `<d1> 2 6 dxe4 d5e4p 125 301775 0` is game, ply, SAN, squares and captured piece, time used, the mover's clock,
    # lag: milliseconds even without `iset ms`. Start, takeback and refresh still come as `<12>`.
    for connection in ("observer_GuestIvc", "observer_GuestIvd"):
        found = recorded("a09_ivariables", connection)
        lines = corpus.stream_bytes("a09_ivariables", connection).count(b"\n\r<d1> ")
        deltas = [
            ply for game in found.games for seen in game.observations for line in seen.lines for ply in line.plies
            if ply.origin == Origin.DELTA
        ]  # fmt: skip
        # One of the lines says ply 14 of the second game again: that is the takeback.
        assert (lines, len(deltas)) == (107, 106)
        assert [game.result for game in found.games] == [result for _, _, result in played("a09_ivariables")]
        for game, (_, moves, _) in zip(found.games, played("a09_ivariables"), strict=True):
            assert [ply.san.rstrip("+#") for ply in game.plies] == moves
            assert game.complete
            assert {Proof(ply.proof) for ply in game.plies} <= {Proof.FULL, Proof.LIST}
        assert [event.detail for event in events(found.games[1], "takeback")] == ["16-14"]


# The client xboard and what it saw


@pytest.mark.long
def test_oddity_30_two_games_at_a_time_in_a_debug_file() -> None:
    # Of two games observed at the same time only the last one is saved as PGN (x01 lacks game 11, x02 game 6).
    for scenario in ("x01_xboard_observes", "x02_xboard_observes_b"):
        found = recorded(scenario, "xboard_observer")
        wanted = played(scenario)
        assert all(game in wanted for game in bare(found) if game[2] != "*")
        assert {game.game_no for game in found.games} == ({1, 2} if scenario[1:3] == "01" else {4, 5})


def test_oddity_31_joined_in_the_middle() -> None:
    # Joined in the middle: in x02 game 1 xboard asked `moves` and saved all 50 half-moves; in x01 game 1 the PGN
    # starts from a FEN without the first 15. The debug file holds the lists that xboard asked for: no half-move is
    # missing where the client lost 15.
    for scenario in ("x01_xboard_observes", "x02_xboard_observes_b"):
        games = [game for game in recorded(scenario, "xboard_observer").games if game.result != "*"]
        assert games
        assert all(game.complete for game in games)
        assert all([ply.ply for ply in game.plies] == list(range(1, len(game.plies) + 1)) for game in games)
        joined = [game for game in games if game.plies[0].proof == Proof.LIST]
        assert joined
        assert {seen.kind for game in joined for seen in game.observations} == {
            ObservationKind.LIVE,
            ObservationKind.MOVELIST,
        }


def test_oddity_32_chess960_keeps_the_servers_start() -> None:
    # chess960: the PGN has a FEN with another back rank than the server's, so it cannot be replayed.
    games = [game for game in recorded("x01_xboard_observes", "xboard_observer").games if game.variant == "chess960"]
    assert [(game.start_fen, len(game.plies)) for game in games] == [
        ("bqnbrknr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKNR w KQkq - 0 1", 80)
    ]


def test_oddity_33_what_the_client_does_not_save() -> None:
    # Takebacks, drops, suicide, result and reason were saved right; no move times, lag or time of day; `[Site
    # "127.0.0.1"]`; ratings only when `moves` was asked. A game that is not observed at its end is not saved.
    found = recorded("x01_xboard_observes", "xboard_observer")
    kept = [game for game in found.games if game.result != "*"]
    assert {game.variant for game in kept} == {"chess", "crazyhouse", "chess960", "suicide"}
    assert all(ply.elapsed_ms is not None for game in kept for ply in game.plies)
    assert any(events(game, "takeback") for game in kept)
    assert found.frames(QUOTED) == [2]
    left = [game for game in recorded("x02_xboard_observes_b", "xboard_observer").games if game.result == "*"]
    assert [(len(game.plies), details(game, "feed")) for game in left] == [(13, ["unobserved"])]


def test_oddity_34_playing_engines() -> None:
    # Zippy (x03): the PGN has engine comments `{+0.24/10 2.8}`; one of the two xboards did not save the second game.
    # Its log marks ICS input `<ICS: ` with octal escapes and engine lines `22187 <first : 9 37 …` / `>first : `.
    wanted = [(white, moves) for white, moves, _ in played("x03_zippy_engines")]
    for connection in ("xboard_sjeng", "xboard_fairymax"):
        found = recorded("x03_zippy_engines", connection)
        assert [(white, moves) for white, moves, _ in bare(found)] == wanted
        assert found.report.me in ("Vera", "Judit")
        # No line of the engines or to the server counts as received.
        assert found.frames(START, PLY, QUOTED, Disposition.MALFORMED) == [2, 165, 0, 0]
        assert all(proved(game) for game in found.games)


def test_oddity_35_pauses_without_a_line_for_observers() -> None:
    # pause, unpause and `moretime` (B, C): players see `Game clock paused.`; observers see only the clocks.
    own = recorded("b04_chatter_takeback_pause", "player_Capablanca")
    watched = recorded("b04_chatter_takeback_pause", "observer_Botvinnik")
    notices = [detail for game in own.games for detail in details(game, "notice")]
    assert {"paused", "resumed", "time-added"} <= set(notices)
    assert [detail for game in watched.games for detail in details(game, "notice")] == []
    # Only the clocks show it: both views have the same adjustments.
    for one, other in zip(own.games, watched.games, strict=True):
        adjusted = [
            [(event.ply, event.detail, event.value) for event in events(game, "clock")] for game in (one, other)
        ]
        assert adjusted[0] == adjusted[1] != []
