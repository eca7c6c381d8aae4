"""``--live-pgn``: the games in progress as one PGN, with a delay, and gone when they are old or go on elsewhere."""

import asyncio
import io
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from recorder.archive.following.game_events import GameEvents
from recorder.archive.following.live_pgn import LiveGames
from recorder.archive.recording.archiving import ArchiveChild
from tests.archive.test_following import END, STREAM, append, follow
from tests.archive.test_recording import journal_in
from tests.support.cli import SERVER, Cli
from tests.support.live import in_loop

RELAY = (SERVER / "a10_examine" / "observer_GuestExb.raw").read_bytes()


def shown(path: Path) -> dict[str, tuple[int, str]]:
    """Moves and result of each game, by its key."""
    found, text = {}, io.StringIO(path.read_text() if path.exists() else "")
    while (game := chess.pgn.read_game(text)) is not None:
        assert not game.errors
        found[game.headers["RecorderKey"]] = sum(1 for _ in game.mainline_moves()), game.headers["Result"]
    return found


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize("delay_s", [0.0, 90.0])
def test_moves_are_shown_when_the_delay_is_over(cli: Cli, tmp_path: Path, delay_s: float) -> None:
    clock, path, log = Clock(), tmp_path / "live.pgn", tmp_path / "session.log"
    live = LiveGames(path, delay_s, print, clock)
    follower = follow(cli, log, live.outlet())
    plies: list[int] = []
    for begin in range(0, END, END // 3 + 1):
        append(log, STREAM[begin : min(begin + END // 3 + 1, END)])
        before = shown(path)
        follower.look()
        live.write()
        assert delay_s == 0 or shown(path) == before, "nothing is shown at once"
        clock.now_s += max(delay_s, 1)
        live.write()
        plies.append(sum(count for count, _ in shown(path).values()))
    assert plies == sorted(plies)
    assert plies[-1] > plies[0]
    over = [result for _, result in shown(path).values() if result != "*"]
    assert over
    before = shown(path)
    follower.finish()
    clock.now_s += 1 + delay_s
    live.write()
    assert shown(path).keys() < before.keys(), "a game that has no end may go on in another log"
    clock.now_s += 601 + delay_s
    live.write()
    assert path.read_bytes() == b""


@pytest.mark.parametrize(("players", "some"), [(["steinitz"], True), (["STEIN*", "Nobody"], True), (["Stein"], False)])
def test_only_games_of_chosen_players_are_shown(cli: Cli, tmp_path: Path, players: list[str], some: bool) -> None:
    path, log = tmp_path / "live.pgn", tmp_path / "session.log"
    live = LiveGames(path, 0, print, Clock(), players)
    follower = follow(cli, log, live.outlet())
    append(log, STREAM[:END])
    follower.look()
    live.write()
    text = io.StringIO(path.read_text())
    names = []
    while (game := chess.pgn.read_game(text)) is not None:
        names.append((game.headers["White"], game.headers["Black"]))
    assert bool(names) is some
    assert all("Steinitz" in one for one in names)


def test_a_relayed_game_stays_with_its_result_and_has_events(cli: Cli, tmp_path: Path) -> None:
    """A server relays a tournament as an examined game, which no line ends; one examined by oneself is no event."""
    path, log, events = tmp_path / "live.pgn", tmp_path / "session.log", list[dict[str, Any]]()
    clock = Clock()
    live = LiveGames(path, 0, print, clock)
    hooked = GameEvents(events.append, str(log), (300,), clock)
    follower = follow(cli, log, live.outlet(), hooked)
    begin, over = (RELAY.index(text) for text in (b"<12> rnbqkbnr", b"Kramnik has stopped examining game 1."))
    for at in range(begin, over, 2000):
        append(log, RELAY[at : min(at + 2000, over)])
        follower.look()
        live.write()
        clock.now_s += 1
    assert [one["event"] for one in events[-1:]] == ["game-start"]
    clock.now_s += 300
    hooked.tick()
    hooked.tick()
    assert [one["event"] for one in events[-2:]] == ["game-start", "long-think"]
    append(log, RELAY[over:])
    follower.finish()
    live.write()
    ends = [one for one in events if one["event"] == "game-end"]
    assert ("Kramnik", "1-0", 29) in [(one["white"], one["result"], one["plies"]) for one in ends]
    assert (29, "1-0") in shown(path).values(), "it stays as a played game does"


def test_no_other_file_is_replaced_and_a_full_disk_is_said_once(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "mine.pgn"
    cli("convert", "-", "-o", mine, input=STREAM)
    log = tmp_path / "session.log"
    log.write_bytes(STREAM)
    assert "was not written by --live-pgn" in cli("follow", log, "--live-pgn", mine, code=5).stderr
    assert "--live-delay" in cli("follow", log, "--live-delay", "15m", code=2).stderr
    assert "--live-player" in cli("follow", log, "--live-player", "Ann", code=2).stderr
    messages: list[str] = []
    clock = Clock()
    live = LiveGames(tmp_path / "gone" / "live.pgn", 0, messages.append, clock)
    follower = follow(cli, log, live.outlet())
    for _ in range(3):
        follower.look()
        live.write()
        clock.now_s += 1
    assert len(messages) == 1
    (tmp_path / "gone").mkdir()
    live.write()
    assert shown(tmp_path / "gone" / "live.pgn")
    follower.finish()


@in_loop
async def test_the_archives_process_writes_it_while_games_are_played(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "live.pgn"
    child = ArchiveChild(str(cli.archive), print, live=(str(path), 0.0, ()))
    child.start()
    journal = journal_in(tmp_path / "j", child)
    journal.received(STREAM[:14_000])
    while not shown(path):
        await asyncio.sleep(0.02)
    assert "*" in {result for _, result in shown(path).values()}
    assert b"og ends" not in path.read_bytes(), "a game in progress has no end"
    journal.close()
    assert await child.finish() == []


def test_a_result_in_the_last_bytes_is_shown_and_games_that_are_left_are_not(cli: Cli, tmp_path: Path) -> None:
    log, path = tmp_path / "session.log", tmp_path / "live.pgn"
    log.write_bytes(STREAM[:END])
    live = LiveGames(path, 0, print, Clock())
    follower = follow(cli, log, live.outlet())
    follower.look()
    live.write()
    running = {key for key, (_, result) in shown(path).items() if result == "*"}
    assert running
    append(log, STREAM[END:])
    follower.finish()
    live.write(last=True)
    assert "*" not in {shown(path)[key][1] for key in running & shown(path).keys()}


def lines_of(text: str) -> list[str]:
    """The moves of the only game."""
    game = chess.pgn.read_game(io.StringIO(text))
    return [] if game is None else [move.uci() for move in game.mainline_moves()]


BOARD = b"fics%% <12> rnbqkbnr %b %b 1 1 1 1 0 7 Ann Ben 0 3 0 39 39 180 180 %b 0 0 0\n\r"
START = b"pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR", b"W -1", b"1 none (0:00) none"
STEPS = (
    START,
    (b"pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR", b"B 4", b"1 P/e2-e4 (0:05) e4"),
    (b"pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR", b"W 4", b"2 P/e7-e5 (0:05) e5"),
    START,
    (b"pppppppp -------- -------- ---P---- -------- PPP-PPPP RNBQKBNR", b"B 3", b"1 P/d2-d4 (0:05) d4"),
    (b"ppp-pppp -------- ---p---- ---P---- -------- PPP-PPPP RNBQKBNR", b"W 3", b"2 P/d7-d5 (0:05) d5"),
)
"""Two moves, which are taken back, and two others."""


def test_no_move_is_shown_before_the_delay_is_over_also_after_a_takeback(cli: Cli, tmp_path: Path) -> None:
    log, clock = tmp_path / "session.log", Clock()
    now, late = (LiveGames(tmp_path / name, delay_s, print, clock) for name, delay_s in (("now", 0), ("late", 30)))
    follower = follow(cli, log, now.outlet(), late.outlet())
    known: list[list[str]] = []
    for step in range(len(STEPS) + 5):
        append(log, BOARD % STEPS[step] if step < len(STEPS) else b"fics% \n\r")
        follower.look()
        now.write()
        late.write()
        known.append(lines_of((tmp_path / "now").read_text()))
        clock.now_s += 10
        shown = lines_of((tmp_path / "late").read_text())
        assert shown in [line[: len(shown)] for line in known[:-3]] or not shown
    assert known[3:6] == [["e2e4", "e7e5"], [], ["d2d4"]]
    assert shown == ["d2d4", "d7d5"]
    follower.close()
