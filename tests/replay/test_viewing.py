"""The display of a replay in a terminal and its keys, as text, without a terminal."""

import re
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from recorder.archive.replaying import games_of_files
from recorder.model import EventKind, Game, GameEvent
from recorder.replay.moments import long_thinks, parse_position
from recorder.replay.several import moments_of_games
from recorder.replay.show import ReplaySource, Show
from recorder.replay.terminal.viewing import KEYS, Viewing
from recorder.replay.terminal.watch import (
    LEAST_COLUMNS,
    LEAST_LINES,
    KeyReader,
    SceneStyle,
    draw,
    plain,
)
from recorder.replay.timing import mark
from tests.replay.sources import source_of
from tests.support.corpus import SERVER

PLAIN, LETTERS = SceneStyle(colours=False), SceneStyle(ascii=True, colours=False)


@cache
def recording(scenario: str, connection: str, games: int | None = None) -> ReplaySource:
    found = games_of_files([str(SERVER / scenario / f"{connection}.raw.gz")])[:games]
    return source_of(found, moments_of_games(found))


def games_of(made: ReplaySource) -> list[Game]:
    return [made.chapter(number).game for number in range(len(made.players))]


def chess() -> Viewing:
    return Viewing(Show(recording("a01_standard", "observer_GuestObsA", 3), 0))


def eight() -> Viewing:
    return Viewing(Show(recording("a07_eight_boards", "observer_GuestObsI"), 0))


def text(viewing: Viewing, now_ns: int = 0, width: int = 80, height: int = 24, look: SceneStyle = LETTERS) -> list[str]:
    rows = [plain(row) for row in draw(viewing, now_ns, width, height, look)]
    assert [cell_len(row) for row in rows] == [width] * height
    return [row.rstrip() for row in rows]


def at(viewing: Viewing, place: str) -> Viewing:
    viewing.show.head.pause(0)
    viewing.start(parse_position(place), 0)
    return viewing


def game_of(viewing: Viewing) -> Game:
    return viewing.recording.chapter(viewing.focus).game


# -- the display -------------------------------------------------------------------------------------------------


def test_a_game_of_chess() -> None:
    viewing = at(chess(), "3b")
    rows = text(viewing)
    game, plies = game_of(viewing), game_of(viewing).plies
    assert f"{game.white.handle} - {game.black.handle}" in rows[0]
    assert "game 1 of 3" in rows[0]
    assert [row[0] for row in rows[2:10]] == list("87654321")
    assert rows[10][:26].split() == list("abcdefgh")
    assert rows[1].startswith(game.black.handle)
    assert rows[11].startswith(game.white.handle)
    assert f"[{plies[5].san}" in "\n".join(rows)
    assert f"{plies[6].san}" in "\n".join(rows)  # the next move
    viewing.press("m", 0)
    assert not any(row[26:].lstrip().startswith("4.") for row in text(viewing))
    assert "||" in rows[-2]
    assert rows[-2].endswith(f"3... {plies[5].san}")
    viewing.press("f", 0)
    flipped = text(viewing)
    assert [row[0] for row in flipped[2:10]] == list("12345678")
    assert flipped[1][:26].split() == rows[11][:26].split()


def test_moves_are_listed_below_the_board_without_other_lines() -> None:
    viewing = at(chess(), "12b")
    rows = text(viewing)
    listed = [row[26:].split(".")[0].strip() for row in rows if re.match(r" +\d+\. ", row[26:])]
    assert not any(row[:26].strip() for row in rows[12:-2])
    assert listed == [str(number) for number in range(1, 18)]  # the whole game; beside the board are 11 lines


def test_pieces_are_distinguished_without_colours() -> None:
    rows = text(at(chess(), "1w"), look=PLAIN)
    assert "♜" in rows[2]
    assert "♖" in rows[9]
    styles = {span.style for row in draw(at(chess(), "1w"), 0, 80, 24, SceneStyle()) for span in row}
    assert {"light white", "dark black", "light-last", "runs", "now"} - styles <= {"runs", "light-last"}


def test_a_game_of_crazyhouse_shows_holdings() -> None:
    viewing = Viewing(Show(recording("a03_crazyhouse", "observer_GuestObsD", 1), 0))
    drop = next(ply for ply in game_of(viewing).plies if "@" in ply.san)
    at(viewing, f"{(drop.ply + 1) // 2}{'w' if drop.white_moved else 'b'}")
    assert f"[{drop.san}" in "\n".join(text(viewing))
    after = text(viewing, look=PLAIN)
    viewing.press("left", 0)
    before = text(viewing, look=PLAIN)
    hand = 12 if drop.white_moved else 2
    man = dict(zip("PNBRQ", "♙♘♗♖♕" if drop.white_moved else "♟♞♝♜♛", strict=True))[drop.san[0]]
    assert before[hand][:26].count(man) == after[hand][:26].count(man) + 1


def test_both_boards_of_a_bughouse_match() -> None:
    viewing = at(Viewing(Show(recording("a12_bughouse", "observer_GuestBga", 2), 0)), "6w")
    game = game_of(viewing)
    (partner,) = viewing.others()
    assert viewing.is_partner(partner)
    other = viewing.recording.chapter(partner).game
    rows = text(viewing, width=84)
    assert rows[1].startswith(game.black.handle)
    assert rows[1][28:].startswith(other.white.handle)  # partners sit side by side
    assert any(row.startswith("8") and row[28] == "1" for row in rows)
    narrow = text(viewing, width=50)
    assert any(row.startswith(f"  partner {other.white.handle}") for row in narrow)
    viewing.press("tab", 0)
    assert viewing.focus == partner


def test_a_gap_is_shown_and_kept() -> None:
    viewing = eight()
    number = next(
        number
        for number, game in enumerate(games_of(viewing.recording))
        if any(event.kind is EventKind.GAP for event in game.events)
    )
    game = viewing.recording.chapter(number).game
    gap = next(event for event in game.events if event.kind is EventKind.GAP)
    at(viewing, f"#{number + 1}")
    at(viewing, "gap")
    viewing.press("right", 0)
    rows = text(viewing)
    assert viewing.focus == number
    assert any(f"Missing here: {gap.value} half-moves (not observed)." in row for row in rows)


def test_several_games_at_once() -> None:
    viewing = eight()
    viewing.show.head.pause(0)
    while len(viewing.others()) < 6:
        viewing.press(".", 0)
    rows = text(viewing)
    lines = [row for row in rows if row.startswith("  ") and " - " in row and ":" in row]
    assert len(lines) >= 2
    assert any(row.strip().endswith("more games (Tab)") for row in rows)
    first = viewing.focus
    viewing.press("tab", 0)
    second = viewing.focus
    assert second != first
    assert game_of(viewing).white.handle in text(viewing)[0]
    viewing.press("shift-tab", 0)
    assert viewing.focus == first
    wide = text(viewing, width=160, height=35)
    assert sum(row.count("a  b  c  d  e  f  g  h") for row in wide) >= 3


@pytest.mark.parametrize(
    ("width", "height", "large", "small"), [(80, 24, 0, 1), (120, 40, 1, 0), (160, 50, 1, 2), (200, 35, 0, 5)]
)
def test_one_board_is_large_where_there_is_room(width: int, height: int, large: int, small: int) -> None:
    viewing = eight()
    viewing.show.head.pause(0)
    while len(viewing.others()) < 6:
        viewing.press(".", 0)
    shown = "\n".join(text(viewing, width=width, height=height))
    assert shown.count("a     b     c     d     e     f     g     h") == large
    assert shown.count("a  b  c  d  e  f  g  h") == small
    rows = text(viewing, width=width, height=height)
    assert rows[1].startswith(game_of(viewing).black.handle)
    left = len(viewing.others()) - (large + small - 1)
    lines = [row for row in rows if row.startswith("  ") and " - " in row and ":" in row]
    rows_below = [row for row in rows if row.strip().endswith("more games (Tab)")]
    assert left == len(lines) + sum(int(row.split()[1]) for row in rows_below)


@pytest.mark.parametrize(
    ("width", "height", "sizes", "rows"),
    [
        (80, 24, "ss", 1), (100, 40, "ss", 1), (120, 30, "ss", 1), (54, 16, "ss", 1), (60, 24, "ss", 1),
        (110, 40, "ls", 2), (200, 60, "ll", 1), (100, 50, "ls", 2), (74, 70, "ll", 2),
        (30, 29, "ss", 2), (50, 29, "ss", 2), (40, 32, "ss", 2), (53, 28, "s", 1), (30, 16, "s", 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["6w", "end"])
def test_both_boards_of_a_match_are_shown_wherever_they_fit(
    width: int, height: int, sizes: str, rows: int, place: str
) -> None:
    viewing = at(Viewing(Show(recording("a12_bughouse", "observer_GuestBga", 2), 0)), place)
    shown = text(viewing, width=width, height=height)
    files = [row for row in shown if re.search("a +b +c +d|d +c +b +a", row)]
    assert len(files) == rows
    found = re.findall(r"a( +)b\1c|c( +)b\2a", "\n".join(files))
    assert sorted("l" if len(one or other) > 2 else "s" for one, other in found) == sorted(sizes)


def test_a_rating_is_shown_whole_or_not_at_all() -> None:
    viewing = at(chess(), "1b")
    board = viewing.board(viewing.focus)
    board.game.black = board.game.black._replace(rating_text="1234", titles="(C)")
    for handle, shown in (
        ("Ann", "Ann(C) 1234"),
        ("Anderssen", "Anderssen 1234"),
        ("Andersseneeee", "Andersseneeee(C)"),
    ):
        board.black = handle
        assert text(viewing)[1][:26].rsplit(None, 1)[0].strip(" >") == shown


@pytest.mark.parametrize(("width", "height"), [(29, 24), (80, 15), (5, 5), (1, 1)])
def test_a_small_window_says_so(width: int, height: int) -> None:
    rows = text(chess(), width=width, height=height)
    assert "This window is too small"[:width].split()[0] in rows[0]


@pytest.mark.parametrize("height", [LEAST_LINES, 17, 24, 36, 60])
@pytest.mark.parametrize("width", [LEAST_COLUMNS, 50, 80, 200])
def test_every_size_is_filled_exactly(width: int, height: int) -> None:
    for viewing in (at(chess(), "3b"), at(eight(), "0:01")):
        for look in (PLAIN, LETTERS):
            assert "8" in {row[0] for row in text(viewing, width=width, height=height, look=look) if row}


def test_control_characters_of_a_log_are_removed() -> None:
    made = recording("a01_standard", "observer_GuestObsA", 1)
    moments = list(made.moments)
    place, event = next(
        (place, moment.what)
        for place, moment in enumerate(moments)
        if getattr(moment.what, "kind", None) in (EventKind.RESULT, EventKind.CHAT, EventKind.NOTICE)
    )
    evil = "\x1b[2J\x1b]0;title\x07\r\n\u202e\x9b31m漢字漢字"
    assert isinstance(event, GameEvent)
    chat = event._replace(kind=EventKind.CHAT, detail="kibitz", actor=evil, text=evil)
    moments[place] = moments[place]._replace(what=chat)
    viewing = Viewing(Show(source_of(games_of(made), moments), 0))
    viewing.press("end", 0)
    rows = "".join(text(viewing))
    assert "\\x1b[2J" in rows
    assert rows.isprintable()
    assert "漢字" in "".join(text(viewing, look=PLAIN))


# -- clocks ------------------------------------------------------------------------------------------------------


def test_the_clock_of_the_side_to_move_runs() -> None:
    viewing = at(chess(), "4w")
    ply = game_of(viewing).plies[6]
    white, black = (viewing.clock(viewing.focus, white, 0) for white in (True, False))
    assert (white.ms, white.runs) == (ply.white_clock_ms, False)
    assert (black.ms, black.runs, black.exact) == (ply.black_clock_ms, True, True)
    viewing.press(" ", 0)
    later = viewing.clock(viewing.focus, False, 50_000_000)
    assert ply.black_clock_ms is not None
    assert later.ms == ply.black_clock_ms - 50
    viewing.press("end", 0)
    assert not any(viewing.clock(viewing.focus, white, 0).runs for white in (True, False))


def test_a_stopped_clock_shows_its_milliseconds() -> None:
    viewing = at(chess(), "4w")
    ms = game_of(viewing).plies[6].white_clock_ms
    assert ms is not None
    assert text(viewing)[11][:26].rstrip().endswith(f".{ms % 1000:03}")


def test_clocks_in_whole_seconds_show_no_tenths() -> None:
    viewing = at(Viewing(Show(recording("c01_standard", "observer_GuestXa", 1), 0)), "4w")
    assert not viewing.clock(viewing.focus, True, 0).exact
    rows = text(viewing)
    assert "." not in rows[1][:26].split()[-1]
    assert ":" in rows[1][:26].split()[-1]


# -- keys --------------------------------------------------------------------------------------------------------


def ply_of(viewing: Viewing) -> int:
    board = viewing.board(viewing.focus)
    return board.plies[-1].ply if board is not None and board.plies else 0


@pytest.mark.parametrize(
    ("key", "ply"),
    [("right", 12), ("left", 10), ("down", 21), ("up", 1), ("shift-right", 21), ("shift-left", 1), ("home", 0)],
)
def test_keys_that_step(key: str, ply: int) -> None:
    viewing = at(chess(), "6w")
    viewing.press(" ", 0)
    viewing.press(key, 0)
    assert ply_of(viewing) == ply
    assert viewing.show.head.paused


def test_stepping_there_and_back_shows_the_same() -> None:
    viewing = at(chess(), "6w")
    before = text(viewing)
    for key in ("right", "right", "left", "left"):
        viewing.press(key, 0)
    assert text(viewing) == before


def test_a_replay_at_its_end_restarts() -> None:
    viewing = chess()
    viewing.press("end", 0)
    assert ply_of(viewing) == game_of(viewing).plies[-1].ply
    assert game_of(viewing).result in text(viewing)[0]
    viewing.press("n", 0)
    viewing.press("n", 0)
    assert viewing.focus == 2
    viewing.press("n", 0)
    assert "last game" in text(viewing)[-1]
    viewing.press("end", 0)
    assert viewing.show.head.ended
    assert ply_of(viewing) == game_of(viewing).plies[-1].ply
    viewing.press(" ", 0)
    viewing.tick(0)
    assert (viewing.focus, viewing.show.head.paused) == (0, False)
    viewing.press("p", 0)
    assert "first game" in text(viewing)[-1]


def test_speed() -> None:
    viewing = chess()
    for key, speed in (("+", 2), ("=", 4), ("-", 2), ("-", 1), ("-", Fraction(1, 2))):
        viewing.press(key, 0)
        assert viewing.show.head.speed == speed
    for _ in range(20):
        viewing.press("-", 0)
    assert viewing.show.head.speed == Fraction(1, 16)
    assert " 1/16x  " in text(viewing)[-2]
    assert " 1/16×  " in text(viewing, look=PLAIN)[-2]


@pytest.mark.parametrize(
    ("typed", "ply"), [("6", 11), ("6.", 11), ("6b", 12), ("#1/3w", 5), ("end", None), ("0:00", 0)]
)
def test_go_to(typed: str, ply: int | None) -> None:
    viewing = at(chess(), "2w")
    viewing.press("g", 0)
    for key in "q" + typed:
        viewing.press(key, 0)
    for _ in range(len(typed) + 1):
        viewing.press("backspace", 0)
    assert viewing.prompt == ""
    for key in typed:
        viewing.press(key, 0)
    assert f"{typed}_" in text(viewing)[-1]
    viewing.press("enter", 0)
    assert viewing.prompt is None
    assert ply_of(viewing) == (viewing.recording.chapter(2).game.plies[-1].ply if ply is None else ply)


@pytest.mark.parametrize("typed", ["999w", "nowhere", "#77", "20x", "1:2:3:4"])
def test_a_missing_position_is_reported(typed: str) -> None:
    viewing = at(chess(), "2w")
    viewing.press("g", 0)
    for key in (*typed, "enter"):
        viewing.press(key, 0)
    assert "This recording has no" in viewing.message or "is not a position" in viewing.message
    assert viewing.message[:40] in text(viewing)[-1]
    assert ply_of(viewing) == 3


def test_the_help_fits_into_the_smallest_window() -> None:
    viewing = chess()
    viewing.press("?", 0)
    pages: list[list[str]] = []
    while not pages or "? for more" in pages[-1][0]:
        pages.append(text(viewing, width=LEAST_COLUMNS, height=LEAST_LINES))
        viewing.press("?", 0)
    assert len(pages) > 1
    assert text(viewing, width=LEAST_COLUMNS, height=LEAST_LINES) == pages[-1], "there are no more"
    shown = " ".join(" ".join(row for page in pages for row in page[1:]).split())
    assert shown == " ".join(" ".join(f"{key.shown} {key.does}" for key in KEYS).split())
    viewing.press("escape", 0)
    assert "Morphy" in text(viewing)[0]


def test_escape_leaves_the_prompt_and_any_key_the_help() -> None:
    viewing = chess()
    for key in ("g", "2", "escape", "?"):
        viewing.press(key, 0)
    assert viewing.prompt is None
    rows = text(viewing)
    assert all(any(f" {key.shown} " in row and key.does in row for row in rows) for key in KEYS)
    viewing.press("x", 0)
    assert (viewing.helping, viewing.left) == (0, False)
    viewing.press("q", 0)
    assert viewing.left


def test_every_key_does_something_harmless_everywhere() -> None:
    for key in (name for one in KEYS for name in one.keys):
        for place in ("start", "6w", "end"):
            viewing = at(chess(), place)
            viewing.press(key, 0)
            viewing.tick(10**9)
            text(viewing, 10**9)


def test_brackets_seek_the_lines_beside_the_board() -> None:
    viewing = at(chess(), "start")
    viewing.press("]", 0)
    (first,) = viewing.recent_events(9)
    viewing.press("]", 0)
    viewing.press("[", 0)
    assert viewing.recent_events(9) == [first]
    viewing.press("[", 0)
    assert "before this place" in viewing.message


def test_a_replay_pauses_before_a_long_think() -> None:
    made = recording("a01_standard", "observer_GuestObsA", 3)
    least_ms = max(ply.elapsed_ms or 0 for ply in made.chapter(0).game.plies)
    places = long_thinks(made.moments, least_ms)
    marked = list(mark(made.moments, places))
    viewing = Viewing(Show(source_of(games_of(made), marked), 0, pause_at=("think",)))
    viewing.tick(3600 * 10**9)
    assert viewing.show.head.paused
    assert viewing.show.head.place == min(places) + 1
    assert viewing.next_plies(1)[0].elapsed_ms == least_ms


def test_a_loop_restarts_with_the_first_game() -> None:
    made = recording("a01_standard", "observer_GuestObsA", 3)
    viewing = Viewing(Show(made, 0, loop=True))
    end_ns = (made.moments[-1].at_ms + 1) * 10**6
    viewing.tick(end_ns)
    text(viewing, end_ns)
    viewing.tick(end_ns + 10**9)
    assert (viewing.focus, viewing.show.head.laps) == (0, 1)
    assert "game 1 of 3" in text(viewing, end_ns + 10**9)[0]


def test_the_next_game_is_shown_automatically() -> None:
    viewing = chess()
    viewing.press("end", 0)
    viewing.press(" ", 0)
    for second in range(1, 30):
        viewing.tick(second * 10**9)
    assert viewing.focus != 0


# -- input of terminals ------------------------------------------------------------------------------------------

SENT = [
    (b"\x1b[D", ["left"]), (b"\x1bOC", ["right"]), (b"\x1b[1;2C", ["shift-right"]), (b"\x1b[d", ["shift-left"]),
    (b"\x1b[5~\x1b[6~", ["page-up", "page-down"]), (b"\x1b[1~\x1b[F\x1b[8~", ["home", "end", "end"]),
    (b"\x1b[Z\t\r\n", ["shift-tab", "tab", "enter", "enter"]), (b"\x7f\x08", ["backspace", "backspace"]),
    (b"q\x1b[200~x", ["q", "x"]), (b"\x1bq", ["escape", "q"]), ("é+".encode(), ["é", "+"]), (b"\x00\xff\x01a", ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "keys"), SENT)
def test_keys_are_read_from_any_chunks(data: bytes, keys: list[str]) -> None:
    assert KeyReader().receive(data) == keys
    reader = KeyReader()
    assert [key for byte in data for key in reader.receive(bytes((byte,)))] == keys


def test_an_escape_without_more_bytes_is_the_escape_key() -> None:
    reader = KeyReader()
    assert reader.receive(b"\x1b") == []
    assert reader.waits
    assert reader.settle() == ["escape"]
    assert not reader.waits


@given(st.binary(max_size=40), st.integers(0, 40))
def test_any_bytes_cut_anywhere_give_the_same_keys(data: bytes, cut: int) -> None:
    whole, cut_reader = KeyReader(), KeyReader()
    keys = whole.receive(data) + whole.settle()
    assert cut_reader.receive(data[:cut]) + cut_reader.receive(data[cut:]) + cut_reader.settle() == keys
    assert all(key.isprintable() for key in keys)
