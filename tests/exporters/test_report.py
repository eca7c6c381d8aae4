"""Reports as text: what is in them, in which order, and that nothing of a log can do harm there."""

import base64
import hashlib
import html.parser
import json
import re
from dataclasses import replace
from functools import cache

import pytest

from exporters.evaluations import thoughts_by_ply
from exporters.holdings import match_holdings
from exporters.report.events import is_engine_talk, provenance
from exporters.report.game import game_report
from exporters.report.moves import MoveRows, verdicts
from exporters.report.page import clock_text, spoken_duration
from exporters.report.playback import STEP_MS, play
from exporters.report.positions import Course
from exporters.report.svg import drawings
from recorder.model import (
    EventKind,
    Game,
    GameEvent,
    GameKind,
    Player,
    Precision,
    SourceKind,
    SourceName,
    TimeBasis,
)
from recorder.reading import make_pipeline
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import Match, board_order, captures, timeline
from tests.exporters.games import SCHOLARS_MATE, make_game, random_game
from tests.support.corpus import stream_bytes
from tests.support.evaluated import PGN
from tests.support.product import run

HOSTILE = "</script><script>window.harmed=1</script><img src=x onerror=window.harmed=1>\u202e\x1b[31m"


class Page(html.parser.HTMLParser):
    """A page's elements, the text of its scripts and styles, and all other text."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inner: dict[str, list[str]] = {"script": [], "style": []}
        self.words: list[str] = []
        self._in: str | None = None
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.inner:
            self._in = tag
            self.inner[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = None if tag == self._in else self._in

    def handle_data(self, data: str) -> None:
        if self._in:
            self.inner[self._in][-1] += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def data(self) -> dict:
        """What the script plays, its short forms written out."""
        data = json.loads(self.inner["script"][0])
        for board in data["boards"]:
            states = board["states"]
            board["states"] = [
                dict(zip(("to", "san", "took", "left"), one.split(" "), strict=False)) if isinstance(one, str) else one
                for one in states
            ]
        data["play"] = [{"after": one} if isinstance(one, int) else one for one in data["play"]]
        return data


def chat(seq: int, ply: int, text: str, actor: str = "Ann", at_ms: int | None = None) -> GameEvent:
    return GameEvent(seq, EventKind.CHAT, "kibitz", ply, actor, None, text, None, None, at_ms, 1050 + 200 * ply)


def hostile_game() -> Game:
    game = make_game(
        white=Player(HOSTILE, HOSTILE, 1708, HOSTILE),
        black=Player("\u202eBob\u2066", "++++", None),
        reason=f"{HOSTILE} resigns",
        server=HOSTILE,
        category=HOSTILE,
        me=HOSTILE,
    )
    game.observations[0].source = SourceName(HOSTILE, "0" * 64)
    game.observations[0].events.append(chat(0, 3, HOSTILE, HOSTILE))
    return game


@cache
def recorded(scenario: str, connection: str) -> list[Game]:
    games, _ = run([stream_bytes(scenario, connection)], "raw")
    return games


def taken_back_game() -> Game:
    games = recorded("b04_chatter_takeback_pause", "observer_Botvinnik")
    return max(games, key=lambda game: len(game.plies))


# --- nothing does harm


def test_a_hostile_log_becomes_text() -> None:
    page = game_report(hostile_game())
    parsed = Page(page)
    assert [attributes for tag, attributes in parsed.elements if tag == "img"] == []
    assert len(parsed.inner["script"]) == 2  # the data and the player
    for _, attributes in parsed.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "srcdoc", "action")]
        assert re.match(r"#|data:,$", attributes.get("href") or "#")
    assert not set(page.decode()) & set("\u202e\u2066\x1b")
    assert parsed.text.count("<img src=x onerror=window.harmed=1>\\u202e\\x1b[31m") >= 6


def test_the_policy_names_the_hashes_of_script_and_style() -> None:
    parsed = Page(game_report(make_game()))
    policy = next(a["content"] for tag, a in parsed.elements if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert "unsafe" not in policy
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    for name, text in (("style-src", parsed.inner["style"][0]), ("script-src", parsed.inner["script"][1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert directives[name] == f"'sha256-{digest}'"


def test_a_page_loads_nothing_and_contains_no_path() -> None:
    text = game_report(make_game()).decode()
    assert set(re.findall(r"(?:https?:)?//[\w.]+\.[a-z]{2,}", text)) == {"http://www.w3.org"}  # SVG's name
    assert not re.search(r"/(?:home|root|tmp|usr|work)/", text)
    assert " src=" not in text


def test_a_log_in_a_folder_is_called_by_its_name() -> None:
    game = make_game()
    game.observations[0].source = SourceName("/home/ann/logs/fics.log", "0" * 64)
    assert provenance(game, False)[0] == "fics.log: observed."


def test_pieces_have_no_styles_which_pages_forbid() -> None:
    drawn = str(drawings())
    assert drawn.count("<path") > 20
    assert "style=" not in drawn
    assert "xmlns" not in drawn
    assert 'fill="#ffffff"' in drawn


def test_the_same_game_gives_the_same_bytes_and_not_too_many() -> None:
    game = random_game(1, 120)
    game.observations[0].events = [chat(number, number, "Was that the best move? " * 5) for number in range(120)]
    page = game_report(game)
    assert page == game_report(game)
    assert len(game.plies) == 120
    assert len(page) < 400_000


# --- words


def test_clocks_are_no_finer_than_they_were_printed() -> None:
    assert clock_text(297_338, True) == "4:57.338"
    assert clock_text(297_000, False) == "4:57"
    assert clock_text(-1_000, False) == "−0:01"
    assert clock_text(3_661_000, False) == "1:01:01"
    assert clock_text(None, True) == "–"
    assert spoken_duration(64_000) == "1 minute 4 seconds"
    assert spoken_duration(2_662) == "2.7 seconds"
    assert spoken_duration(0) == "0 seconds"


def test_no_clocks_are_drawn_where_none_is_known() -> None:
    assert b"<h2>Clock race" in game_report(make_game())
    assert b"<h2>Clock race" not in game_report(make_game(clocks=None))


def test_clocks_without_times_have_a_table() -> None:
    """Saved bughouse games contain the clock after each move, and not its think time."""
    game = make_game(SCHOLARS_MATE[:1] + ["g8f6", "g1f3", "f6g8", "f3g1"] * 6, precision=Precision.SECONDS)
    line = game.observations[0].lines[0]
    line.plies = [ply._replace(elapsed_ms=None, lag_ms=None, white_clock_ms=91_000) for ply in line.plies]
    words = " ".join(" ".join(Page(game_report(game)).words).split())
    assert "Left at move 10" in words
    assert "Left at move 10 1:31" in words
    assert "Median" not in words  # rows without a figure are not there
    assert "Left at move 10" not in game_report(make_game(clocks=None)).decode()


def test_a_date_without_arrival_is_no_arrival() -> None:
    assert any(sentence.startswith("Arrival times are UTC") for sentence in provenance(make_game(), False))
    game = make_game()
    line = game.observations[0].lines[0]
    line.plies = [ply._replace(at_ms=None) for ply in line.plies]
    game.observations[0].events = []
    assert any(sentence.startswith("The log has no arrival times") for sentence in provenance(game, False))


@pytest.mark.parametrize("foul", ["\x00", "\ud800", "\u2028", "\u2066", "\u200f", "\ufeff", "\U000e0041", "\x85"])
def test_what_cannot_be_seen_is_written_out(foul: str) -> None:
    name = f"A{foul}<b>"
    game = make_game(white=Player(name), reason=f"{name} resigns")
    game.observations[0].events.append(chat(0, 3, f"]]>--><!--{foul}{{{{7*7}}}}</title>", name))
    page = game_report(game).decode("utf-8")
    assert [char for char in page if not char.isprintable() and char != "\n"] == []
    assert "<b>" not in page
    assert "{{7*7}}" in page.replace("&#39;", "'")


# --- boards and moments


def test_taken_back_moves_are_played_and_taken_back() -> None:
    """Checked by hand in the log: 10... Bg4 and 10... Nc4 were taken back, then 10... Bg4 was played again."""
    game = taken_back_game()
    course = Course(game)
    shown = [
        (one.state.ply, one.state.line > 0, one.back)
        for one in play([game], [course]).showings
        if one.event is None and 19 <= one.state.ply <= 21
    ]
    assert shown == [
        (19, False, False),
        (20, True, False),
        (19, False, True),
        (20, True, False),
        (19, False, True),
        (20, False, False),
        (21, False, False),
    ]
    rows = MoveRows(game, course, play([game], [course]), 0).read()
    at = next(number for number, row in enumerate(rows) if row.kind == "moves" and row.number == "10.")
    assert [(row.kind, [cell.san for cell in row.cells]) for row in rows[at + 1 : at + 3]] == [
        ("branch", ["Bg4"]),
        ("branch", ["Nc4"]),
    ]
    black = rows[at].black
    assert black.san == "Bg4"
    pairs = [row.number for row in rows if row.kind == "moves"]
    assert pairs == [f"{number}." for number in range(1, len(pairs) + 1)]
    assert not any(row.words is not None and "taken back" in row.words.text for row in rows)


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("depth 12, score +0.35, pv e4 e5", True),
        ("11-> 0:02 +0.27 e4 e5 Nf3", True),
        ("d14 -1.20 Nf6", True),
        ("I was +0.50 ahead", False),
        ("He went to any depth to win this", False),
    ],
)
def test_what_an_engine_whispers_is_not_talk(text: str, engine: bool) -> None:
    event = chat(0, 3, text, "Kibitzer")
    assert is_engine_talk(event, make_game()) is engine
    assert is_engine_talk(chat(0, 3, text), make_game(white=Player("Ann", titles="(C)")))
    assert is_engine_talk(event._replace(detail="comment"), make_game()) is False


def test_moves_of_a_pair_have_one_row_with_what_was_said_below() -> None:
    game = make_game()
    game.observations[0].events.append(chat(0, 3, "depth 9 score +0.31"))
    course = Course(game)
    rows = MoveRows(game, course, play([game], [course]), 0).read()
    assert [(row.kind, row.number) for row in rows] == [
        ("moves", "1."),
        ("moves", "2."),
        ("engine", "2."),
        ("moves", "3."),
        ("moves", "4."),
    ]
    assert "Show engine output (1)" in Page(game_report(game)).text


def test_each_board_takes_a_second_where_times_are_unknown() -> None:
    game = make_game(clocks=None, time_basis=TimeBasis.NONE)
    game.observations[0].lines[0].plies = [ply._replace(at_ms=None) for ply in game.plies]
    shown = play([game], [Course(game)])
    assert [one.at_ms for one in shown.showings] == [STEP_MS * number for number in range(8)]
    assert not any(one.known for one in shown.showings[1:])
    assert "7 boards have no time" in Page(game_report(game)).text


def test_a_gap_stays_a_gap() -> None:
    game = make_game()
    line = game.observations[0].lines[0]
    line.plies = [ply for ply in line.plies if ply.ply not in (3, 4)]
    course = Course(game)
    assert [(state.ply, state.missing, state.board is None) for state in course.main] == [
        (1, 0, False),
        (2, 0, False),
        (5, 2, True),
        (6, 0, True),
        (7, 0, True),
    ]
    parsed = Page(game_report(game))
    assert "2 half-moves not seen" in parsed.text
    states = parsed.data["boards"][0]["states"]
    assert [state.get("men", state.get("to")) is None for state in states] == [False] * 3 + [True] * 3


def test_whole_seconds_stay_whole() -> None:
    game = taken_back_game()
    parsed = Page(game_report(game))
    (board,) = parsed.data["boards"]
    exact = [state.get("exact", board["exact"]) for state in board["states"]]
    printed_ms = [ply.precision == 1 for ply in game.plies]
    assert set(exact) == set(printed_ms)
    if not any(printed_ms):
        assert not re.search(r"\d:\d\d\.\d", parsed.text)


def bughouse_match() -> Match:
    games = [game for game in recorded("a12_bughouse", "observer_GuestBga") if game.variant == "bughouse"]
    key, other, _ = pair_bughouse(games)[0]
    by_key = {game.key: game for game in games}
    return board_order(by_key[key], by_key[other])


def test_both_boards_of_a_match_on_one_time_line() -> None:
    match = bughouse_match()
    parsed = Page(game_report(match.a, match=match, evidence="both boards"))
    plies: list[list[int]] = [[], []]
    for board, found in zip(parsed.data["boards"], plies, strict=True):
        for state in board["states"]:
            found.append(state.get("ply", found[-1] + 1 if found else None))
    order, coming = [], [iter(found) for found in plies]
    for one in parsed.data["play"]:
        if "event" not in one:
            number = one.get("board", 0)
            order.append(("AB"[number], plies[number][one["state"]] if "state" in one else next(coming[number])))
    moves = [(board, ply) for board, ply in order if ply]
    assert moves == [(moment.board, moment.ply.ply) for moment in timeline(match)]
    assert all(one["after"] >= 0 for one in parsed.data["play"])
    assert [board["flipped"] for board in parsed.data["boards"]] == [False, True]
    assert any(state.get("hands", ["", ""])[0] for state in parsed.data["boards"][0]["states"])
    assert "The two boards are one match" in parsed.text
    # Counted by a test of relating: every capture of these matches gave a piece to the other board.
    assert parsed.text.count(f" to {match.b.white.handle}") + parsed.text.count(f" to {match.b.black.handle}") == len(
        captures(match.a)
    )


def test_an_examined_game_goes_as_it_was_shown() -> None:
    games = recorded("a10_examine", "observer_GuestExb")
    game = max((game for game in games if game.kind is GameKind.EXAMINED), key=lambda game: len(game.plies))
    shown_events = [event for event in game.events if event.kind is EventKind.EXAMINE and event.detail == "shown"]
    shown = [one.state.ply for one in play([game], [Course(game)]).showings if one.event is None]
    expected = [event.ply for event in shown_events]
    assert [ply for ply, before in zip(shown, [None, *shown], strict=False) if ply != before][-5:] == expected[-5:]
    assert len(shown) > 5
    steps = [one["after"] for one in Page(game_report(game)).data["play"] if "event" not in one]
    assert steps == [0, *[STEP_MS] * (len(steps) - 1)]


def test_thinking_output_is_shown_beside_the_moves() -> None:
    games, _ = run([stream_bytes("x03_zippy_engines", "xboard_fairymax")], "xboard")
    game = max(games, key=lambda game: sum(len(seen.thinking) for seen in game.observations))
    parsed = Page(game_report(game))
    assert "Engines' thinking output" in parsed.text
    thoughts = [thought for of_ply in thoughts_by_ply(game).values() for thought in of_ply]
    assert len(thoughts) > 20
    assert all(" ".join(thought.pv.split()) in parsed.text for thought in thoughts)


def test_evaluations_are_shown_with_their_moves() -> None:
    """Computed by hand in tests/support/evaluated.py; scores are as White sees them."""
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = [*pipeline.receive(PGN), *pipeline.finish()]
    shown = play([game], [course := Course(game)])
    rows = [row for row in MoveRows(game, course, shown, 0, judged=verdicts(game)).read() if row.kind == "moves"]
    cells = [cell for row in rows for cell in (row.white, row.black) if cell is not None]
    judged = [cell.judged and (cell.judged.evaluation, cell.judged.word, cell.judged.lost) for cell in cells]
    assert judged == [
        ("+0.30", None, ""),
        ("+0.20", None, "0.00"),
        ("+0.20", None, "0.00"),
        ("+0.30", None, "0.10"),
        ("−0.50", "inaccuracy", "0.80"),
        ("+0.60", "mistake", "1.10"),
        ("0.00", "inaccuracy", "0.60"),
        ("+9.00", "blunder", "9.00"),
        ("−2.00", "blunder", "11.00"),
        ("#4", "blunder", "12.00"),
        ("−1.00", "blunder", "11.00"),
        None,
    ]
    words = " ".join(Page(game_report(game)).text.split())
    assert "Nh3 ?? blunder, lost 11.00 evaluation −2.00" in words
    assert (
        "Moves judged 5 5 Inaccuracies ?! 2 0 Mistakes ? 0 1 Blunders ?? 2 2 Lost a move, in pawns 4.68 4.44" in words
    )
    without = Page(game_report(make_game())).text
    assert "Evaluations" not in without
    assert "No data: evaluations. No anomalies: every line about this game was read, and all agree." in without


def test_variations_of_an_examined_game_are_no_takebacks() -> None:
    games = recorded("a10_examine", "observer_GuestExb")
    game = next(game for game in games if any(len(seen.lines) > 1 for seen in game.observations))
    course = Course(game)
    rows = MoveRows(game, course, play([game], [course]), 0).read()
    branches = [(row.heading, [cell.san for cell in row.cells]) for row in rows if row.kind == "branch"]
    assert branches == [("Variation", ["d4", "d5", "c4", "dxc4", "e4"]), ("Variation", ["b5", "g3"])]


def test_a_player_without_a_name_or_with_words_for_one() -> None:
    game = replace(make_game(), white=Player(" "))
    assert "(no name)" in Page(game_report(game)).text


def saved_match(movetext: str) -> Match:
    """A bughouse match, read from a file of saved games."""
    tags = "".join(f'[{name} "{name}"]\n' for name in ("WhiteA", "BlackA", "WhiteB", "BlackB"))
    pipeline = make_pipeline(SourceKind.BPGN)
    made = f'[Event "bughouse match"]\n{tags}[TimeControl "180+0"]\n[Result "*"]\n{movetext} *\n'
    return board_order(*[*pipeline.receive(made.encode()), *pipeline.finish()])


def test_holdings_of_a_saved_match_follow_from_the_captures_of_both_boards() -> None:
    match = saved_match(
        "1A. e4 {179} 1B. e4 {179} 1a. d5 {178} 2A. exd5 {177} 1b. P@e5 {176} 2a. Qxd5 {175} 2B. P@h3 {174} "
        "3A. Nc3 {173} 2b. Nf6 {172}"
    )
    holdings = match_holdings(match)
    assert holdings["A"] == dict.fromkeys(range(1, 6), ("", ""))
    # Black of B gets the pawn that White of A took, and drops it; White of B the one that Black of A took.
    assert holdings["B"] == {1: ("", ""), 2: ("", ""), 3: ("", ""), 4: ("", "")}
    waiting = saved_match(
        "1A. e4 {179} 1a. d5 {178} 2A. exd5 {177} 1B. e4 {176} 1b. e5 {175} 2B. P@h3 {174} 2b. d6 {1}"
    )
    assert match_holdings(waiting)["B"] == {1: ("", "P"), 2: ("", "P")}  # then a drop of a piece that is not in hand
    page = game_report(waiting.a, match=waiting).decode()
    assert '"hands":["","P"]' in page.replace(" ", "")
    assert "they follow from the captures and drops of both boards" in page
