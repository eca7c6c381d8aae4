"""The interface's side of the engine protocol: what is said to an engine that answers so, and what is kept of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.analysis.plan import MOST_LINES, Limits, make_plan
from recorder.analysis.process import Patience
from recorder.errors import EngineError
from tests.replay.test_moments import games_of
from tests.support.engines import FEATURES, SHORT, THINKS, Dialogue, game_of, scripted, without_pings

#: What an interface says before a game of normal chess.
BEGINS = ["new", "post", "easy", "force"]


# -- the handshake -----------------------------------------------------------------------------------------------------


def test_features_are_accepted_or_rejected_one_by_one() -> None:
    features = (
        'feature done=0 ping=1 dance=1 setboard="yes" myname="Tin 1" option="Hash -spin 1 1 9" option="nonsense" done=1'
    )
    dialogue = Dialogue(scripted({}, features))
    assert dialogue.sent == [
        "xboard", "protover 2", "accepted done", "accepted ping", "rejected dance", "rejected setboard",
        "accepted myname", "accepted option", "rejected option nonsense", "accepted done",
    ]  # fmt: skip
    assert (dialogue.process.name, dialogue.now_ms) == ("Tin 1", 0)
    assert not any(line.startswith("setboard") for line in dialogue.analyse(game_of("20... Kd7 *", *LATE)))


def test_an_engine_without_features_has_two_seconds_and_the_old_protocol() -> None:
    dialogue = Dialogue(scripted({"analyze": ["1 20 0 30 e2e4"]}, ""))
    assert dialogue.now_ms == Patience().features_ms
    assert dialogue.process.name == "tin"
    sent = dialogue.analyse(game_of(SHORT))
    assert "e2e4" in sent
    assert not any(line.startswith(("ping", "usermove", "setboard", "protover")) for line in sent)
    assert [len(found.lines) for found in dialogue.found] == [1, 1, 1, 1]


def test_features_that_are_not_ended_are_waited_for_and_not_for_ever() -> None:
    with pytest.raises(EngineError, match=r"^The engine tin began to send its features .* did not end for 60 s\.$"):
        Dialogue(scripted({}, "feature done=0"))


def test_an_engine_that_looks_at_a_line_when_the_next_comes_is_nudged() -> None:
    waiting: list[str] = []

    def late(line: str) -> list[str]:
        waiting.append(line)
        return scripted(THINKS)(waiting[-2]) if len(waiting) > 1 else []

    dialogue = Dialogue(late)
    assert dialogue.process.name == "Tin 1"
    dialogue.analyse(game_of(SHORT), 1)
    assert [line.depth for line in dialogue.found[0].lines] == [1, 2]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"Ponder": "1"}, "has no option 'Ponder'; it has Hash, Learn, Reset, Style, memory"),
        ({"Hash": "10"}, "takes 1 to 9 for its option 'Hash', not 10"),
        ({"Hash": "much"}, "takes a number for its option 'Hash', not 'much'"),
        ({"Learn": "perhaps"}, "takes true or false for its option 'Learn', not 'perhaps'"),
        ({"Style": "wild"}, "takes calm, brave for its option 'Style', not 'wild'"),
        ({"Reset": "1"}, "takes no value for its option 'Reset', which is a button"),
        ({"Hash": None}, "needs a value for its option 'Hash' (spin)"),
        ({"Hash": "1\nquit"}, "cannot take option 'Hash': it is not one line"),
        ({"cores": "2"}, "has no option 'cores'"),
    ],
)
def test_options_that_it_has_not_or_does_not_take_are_refused_by_name(
    options: dict[str, str | None], problem: str
) -> None:
    with pytest.raises(EngineError) as error:
        Dialogue(scripted({}, OPTIONS), options=options)
    assert str(error.value).startswith(f"The engine Tin {problem}")


OPTIONS = (
    'feature ping=1 myname="Tin" memory=1 option="Hash -spin 1 1 9" option="Learn -check 0" option="Reset -button" '
    'option="Style -combo *calm /// brave" done=1'
)


def test_options_are_sent_before_each_game_memory_first() -> None:
    options = {"Learn": "true", "Hash": "9", "Style": "brave", "Reset": None, "memory": "64"}
    dialogue = Dialogue(scripted(THINKS, OPTIONS), options=options)
    expected = ["memory 64", "option Learn=1", "option Hash=9", "option Style=brave", "option Reset", "new"]
    for _ in range(2):
        assert dialogue.analyse(game_of(SHORT), 0)[:6] == expected


def test_cores_where_the_engine_takes_them() -> None:
    dialogue = Dialogue(scripted(THINKS, f"{FEATURES} smp=1 memory=1"), options={"cores": "2", "memory": "8"})
    assert dialogue.analyse(game_of(SHORT), 0)[:3] == ["memory 8", "cores 2", "new"]


# -- the game ----------------------------------------------------------------------------------------------------------


def test_a_game_is_sent_move_by_move_with_its_result() -> None:
    dialogue = Dialogue(scripted(THINKS))
    sent = dialogue.analyse(game_of("1. e4 e5 {Black resigns} 1-0"))
    look = ["analyze", "exit", "force"]
    assert without_pings(sent) == [
        *BEGINS,
        *look,
        "usermove e2e4",
        *look,
        "usermove e7e5",
        *look,
        "result 1-0 {Black resigns}",
    ]
    assert [found.look.ply for found in dialogue.found] == [0, 1, 2]
    first, second = dialogue.found[1].lines
    assert (first.ply, first.white, first.depth, first.score_cp, first.nodes, first.engine) == (
        1,
        False,
        1,
        20,
        30,
        "Tin 1",
    )
    assert (second.selective_depth, second.nodes_per_s, second.time_ms, second.pv) == (3, 9000, 10, "best next")
    assert (first.seq, second.seq) == (0, 1)


def test_each_position_takes_its_time() -> None:
    dialogue = Dialogue(scripted(THINKS), Limits(time_ms=700))
    dialogue.analyse(game_of(SHORT))
    assert dialogue.now_ms == 4 * 700


def test_takebacks_of_the_recording_are_undone() -> None:
    (game,) = [
        game
        for game in games_of("a06_chatter_takebacks", "observer_Botvinnik", True)
        if any(event.kind.value == "takeback" for event in game.events)
    ][:1]
    sent = Dialogue(scripted(THINKS))
    lines = sent.analyse(game, 0)
    undone = sum(event.value or 0 for event in game.events if event.kind.value == "takeback")
    assert lines.count("undo") == undone
    assert sum(line.startswith("usermove ") for line in lines) == len(game.plies) + undone


def test_clocks_are_the_recorded_ones_in_hundredths_of_the_side_to_move() -> None:
    (game,) = games_of("a03_crazyhouse", "observer_GuestObsD", True)[:1]
    ply = game.plies[6]
    assert ply.white_moved
    assert ply.white_clock_ms is not None
    assert ply.black_clock_ms is not None
    dialogue = Dialogue(scripted(THINKS))
    sent = dialogue.analyse(game, ply.ply)
    assert f"level 0 {(game.base_s or 0) // 60} {game.increment_s}" in sent
    place = sent.index(f"time {ply.black_clock_ms // 10}")
    assert sent[place + 1] == f"otim {ply.white_clock_ms // 10}"
    assert sent[place + 2] == "analyze"
    assert "time" not in " ".join(Dialogue(scripted(THINKS, f"{FEATURES} time=0")).analyse(game, ply.ply))


def test_san_and_bare_moves_as_the_engine_wants_them() -> None:
    castles = game_of("1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. O-O *")
    san = Dialogue(scripted(THINKS, f"{FEATURES} san=1")).analyse(castles, 7)
    assert [line for line in san if line.startswith("usermove")][4:] == ["usermove Bc4", "usermove Nf6", "usermove O-O"]
    bare = Dialogue(scripted(THINKS, "feature ping=1 done=1")).analyse(castles, 7)
    assert bare[bare.index("f1c4") :][:3] == ["f1c4", "g8f6", "e1g1"]


def test_chess960_is_set_up_and_castles_by_name() -> None:
    tags = ('[Variant "Fischerandom"]', '[FEN "bqnrkbnr/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBNR w HDhd - 0 1"]')
    dialogue = Dialogue(scripted(THINKS))
    sent = without_pings(dialogue.analyse(game_of("1. Nd3 d6 2. c3 c6 3. Qc2 Qc7 4. O-O-O *", *tags), 7))
    assert sent[:2] == ["new", "variant fischerandom"]
    assert sent[5] == "setboard bqnrkbnr/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBNR w KQkq - 0 1"
    assert "usermove O-O-O" in sent


def test_a_variant_that_the_engine_does_not_play_is_reported() -> None:
    dialogue = Dialogue(scripted(THINKS))
    with pytest.raises(EngineError) as error:
        dialogue.analyse(game_of("1. e4 e5 *", '[Variant "atomic"]'))
    assert str(error.value) == "The engine Tin 1 does not play atomic; it plays normal, crazyhouse, fischerandom."


@pytest.mark.parametrize(
    ("variants", "word"),
    [("normal,bug,crazyhouse", "crazyhouse"), (None, "crazyhouse")],
)
def test_a_variant_has_the_engine_s_own_word(variants: str | None, word: str) -> None:
    features = "feature ping=1 setboard=1 " + ("" if variants is None else f'variants="{variants}" ') + "done=1"
    sent = Dialogue(scripted(THINKS, features)).analyse(game_of("1. e4 *", '[Variant "crazyhouse"]'))
    assert sent[1] == f"variant {word}"


def test_holdings_are_sent_where_the_moves_do_not_give_them() -> None:
    """``setboard`` has no holdings in the document; in crazyhouse the moves after it determine them."""
    tags = ('[Variant "crazyhouse"]', '[FEN "4k3/8/8/8/8/8/3p4/4K3[QNp] w - - 0 1"]')
    sent = without_pings(Dialogue(scripted(THINKS)).analyse(game_of("1. Kxd2 P@e5 2. Q@d7+ *", *tags)))
    assert [line for line in sent if line.startswith(("setboard", "holding"))] == [
        "setboard 4k3/8/8/8/8/8/3p4/4K3 w - - 0 1",
        "holding [NQ] [P]",
    ]


def test_holdings_of_bughouse_are_sent_whenever_a_partner_passes_a_piece() -> None:
    features = 'feature ping=1 setboard=1 variants="normal,bughouse" done=1'
    (game,) = games_of("a12_bughouse", "observer_GuestBga", True)[:1]
    plan = make_plan(game)
    hands = [look.position.holdings for look in plan.looks]
    assert len(set(hands)) > 4
    dialogue = Dialogue(scripted(THINKS, features))
    sent = [line for line in dialogue.analyse(game) if line.startswith("holding")]
    changes = [after for before, after in zip([None, *hands], hands, strict=False) if before != after]
    assert sent == [f"holding [{hand[0]}] [{hand[1]}]" for hand in changes if hand is not None]


# -- setting up --------------------------------------------------------------------------------------------------------

LATE = ('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 7 20"]',)


def test_an_old_engine_gets_positions_by_edit() -> None:
    features = "feature ping=1 done=1"
    sent = without_pings(Dialogue(scripted(THINKS, features)).analyse(game_of("20... Kd7 *", *LATE), 39))
    assert sent[4:] == [
        "new", "force", "a2a3", "edit", "#", "Pe2", "Ke1", "c", "Ke8", ".", "analyze", "exit", "force", "e8d7",
        "result *",
    ]  # fmt: skip


def test_a_position_that_edit_cannot_express_is_not_analysed() -> None:
    """``edit`` lets everybody castle whose king and rook stand at home."""
    start = ('[FEN "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1"]',)
    dialogue = Dialogue(scripted(THINKS, "feature ping=1 done=1"))
    dialogue.analyse(game_of("1. Ke2 Ke7 *", *start))
    assert [found.notes for found in dialogue.found] == [
        ("was not asked: without setboard it does not know the castling rights",),
        ("was not asked: without setboard it does not know the castling rights",),
        (),
    ]
    assert dialogue.found[0].lines == ()


# -- engines that misbehave --------------------------------------------------------------------------------------------


def test_an_engine_that_refuses_a_move_receives_the_position_a_second_time() -> None:
    refusals = [["Illegal move: e7e5"], []]
    table = scripted(THINKS)

    def script(line: str) -> list[str]:
        return refusals.pop(0) if line == "usermove e7e5" else table(line)

    dialogue = Dialogue(script)
    sent = dialogue.analyse(game_of("1. e4 e5 *"), 2)
    assert dialogue.found[0].notes == ("did not take e7e5 and was sent the position again",)
    assert "setboard rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2" in sent
    assert len(dialogue.found[0].lines) == 2


def test_an_engine_that_goes_on_refusing_is_given_up() -> None:
    answers = {**THINKS, "e7e5": ["Illegal move: e7e5"]}
    dialogue = Dialogue(scripted(answers, 'feature ping=1 myname="Tin 1" done=1'))
    with pytest.raises(EngineError, match=r"^The engine Tin 1 does not take e7e5, which was played\.$"):
        dialogue.analyse(game_of("1. e4 e5 *"), 2)


def test_one_that_does_not_answer_is_named_with_its_last_words() -> None:
    answers = {"ping": ["telluser I am tired"]}
    dialogue = Dialogue(scripted({**answers, "analyze": []}))
    with pytest.raises(
        EngineError, match=r"^The engine Tin 1 has not answered 'ping 1' for 20 s; its last message: 'I am tired'\.$"
    ):
        dialogue.analyse(game_of(SHORT))


def test_what_talks_on_without_a_word_of_the_protocol_is_given_up() -> None:
    with pytest.raises(EngineError, match=r"^The engine tin answers nothing that a CECP engine would; if"):
        Dialogue(lambda line: ["y"] * 70_000)
    dialogue = Dialogue(lambda line: [])
    dialogue.process.script = lambda line: ["y"] * 10
    with pytest.raises(EngineError, match=r"^The engine tin answers nothing that a CECP engine would"):
        dialogue.analyse(game_of(SHORT))


def test_the_second_answer_to_a_ping_counts_if_there_are_two() -> None:
    """Between the two pongs it may still print its analysis of the position before."""

    def twice(line: str) -> list[str]:
        if line.startswith("ping "):
            pong = line.replace("ping", "pong")
            return [pong, "9 9 9 9 late", pong]
        return scripted(THINKS)(line)

    dialogue = Dialogue(twice)
    dialogue.analyse(game_of(SHORT))
    assert [[line.pv for line in found.lines] for found in dialogue.found][1:] == [["best", "best next", "late"]] * 3


@pytest.mark.parametrize(
    "answers",
    [{"protover": ['feature ping=1 analyze=0 myname="Tin" done=1']}, {"analyze": ["Error (unknown command): analyze"]}],
)
def test_one_without_analyze_mode_is_given_up(answers: dict[str, list[str]]) -> None:
    with pytest.raises(EngineError, match=r"cannot analyse positions \(it has no analyze mode\)\.$"):
        Dialogue(scripted(answers)).analyse(game_of(SHORT))


def test_a_program_that_does_not_speak_this_protocol_is_reported() -> None:
    dialogue = Dialogue(scripted({"analyze": ["Unknown command: analyze"]}, ""))
    with pytest.raises(
        EngineError, match=r"answers nothing that a CECP engine would; if it speaks UCI, name it with --uci\.$"
    ):
        dialogue.analyse(game_of(SHORT))


def test_moves_that_are_not_legal_are_kept_as_text_and_counted() -> None:
    lines = ["1 1 0 1 e2e5", "2 1 0 1 1. e4 e5 2. Ke3", "3 1 0 1 e2e4 (book)", "4 1 0 1 1. Nf3 Nf6 2. g3 !"]
    dialogue = Dialogue(scripted({"analyze": lines}))
    dialogue.analyse(game_of(SHORT), 0)
    assert [line.pv for line in dialogue.found[0].lines] == [line.split(" ", 4)[4] for line in lines]
    assert dialogue.found[0].notes == ("sent 2 lines whose moves are not legal",)


def test_of_very_many_lines_the_last_are_kept() -> None:
    lines = [f"{number} 1 0 {number} e2e4" for number in range(1, MOST_LINES + 501)]
    dialogue = Dialogue(scripted({"analyze": lines}))
    dialogue.analyse(game_of(SHORT), 0)
    kept = dialogue.found[0].lines
    assert (len(kept), kept[0].seq, kept[-1].depth) == (MOST_LINES, 500, MOST_LINES + 500)
    assert dialogue.found[0].notes == (f"sent {MOST_LINES + 500} lines, of which the last {MOST_LINES} are kept",)


def test_a_pv_that_goes_on_in_the_next_line_is_one() -> None:
    dialogue = Dialogue(scripted({"analyze": ["1 20 0 30 e2e4", "    e7e5", "  no pv"]}))
    dialogue.analyse(game_of(SHORT), 0)
    assert [line.pv for line in dialogue.found[0].lines] == ["e2e4 e7e5"]


def test_counts_that_no_search_reaches_are_not_known() -> None:
    dialogue = Dialogue(scripted({"analyze": ["1 20 0 18446744073709551615 e2e4"]}))
    dialogue.analyse(game_of(SHORT), 0)
    assert dialogue.found[0].lines[0].nodes is None


def test_what_prints_on_after_exit_without_ping_is_given_up() -> None:
    dialogue = Dialogue(scripted({}, "feature done=1"), Limits(time_ms=100))
    dialogue.process.chatter = "1 20 0 30 best"
    with pytest.raises(EngineError, match="continues printing after it should have stopped"):
        dialogue.analyse(game_of(SHORT))


ANSWERS = [
    "feature ping=1 setboard=1 done=1", "feature done=0", "pong 1", "pong 2", "pong 3", "move e2e4",
    "Illegal move: e2e4", "1 1 1 1 e2e4", "Error (unknown command): analyze", "resign", "stat01: 1 1 1 1 1",
    "1-0 {White mates}",
]  # fmt: skip


@pytest.mark.long
@given(
    st.lists(st.lists(st.one_of(st.text(max_size=60), st.sampled_from(ANSWERS)), max_size=3), max_size=40),
    st.sampled_from([Limits(time_ms=200), Limits(depth=2), Limits(nodes=10)]),
)
def test_whatever_an_engine_prints_it_ends_and_only_our_error_is_raised(
    blocks: list[list[str]], limits: Limits
) -> None:
    """It prints a block at each line that it receives."""
    problem = "The engine "
    try:
        Dialogue(lambda line: blocks.pop() if blocks else [], limits).analyse(game_of(SHORT))
    except EngineError as error:
        problem = str(error)
    assert problem.startswith("The engine ")
    assert "\n" not in problem
