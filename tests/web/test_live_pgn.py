"""``/live.pgn`` and ``/live/KEY.pgn``: what a client that polls them gets of a relay, of bughouse and with a delay."""

import gzip
import io
import re
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import HTTPError

import chess.pgn
import pytest
from starlette.testclient import TestClient

from recorder.archive.following.live_pgn import LiveGame
from recorder.journal import JournalWriter
from recorder.model import Game
from recorder.web.live_feed import LiveFeed, LiveReader
from recorder.web.server import Access, SiteArchive, make_app
from tests.support.cli import SERVER, Cli
from tests.support.site import HERE, PRIVATE, serve
from tests.web.test_live import BOARD, END, KIBITZ, REPLY, Clock, writer

EXAMINED = (SERVER / "a10_examine" / "observer_GuestExb.raw").read_bytes()
RELAY = EXAMINED[EXAMINED.rindex(b"You are now observing game 1.") :]
"""As a server relays a tournament: nothing but the boards of a game that others examine."""
BUGHOUSE = gzip.decompress((SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz").read_bytes())


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    cli = Cli(tmp_path / "archive.sqlite")
    log = tmp_path / "s.log"
    log.write_bytes(b"fics% " + BOARD + END)
    cli("import", log)
    return cli.archive


@contextmanager
def site(archive: Path, access: Access = PRIVATE, delay_ms: int = 0) -> Iterator[TestClient]:
    feed = LiveFeed(archive.parent, with_chat=access.private)
    app = make_app(SiteArchive(str(archive)), access, feed, delay_ms)
    try:
        yield TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)
    finally:
        feed.close()


def parsed(text: str) -> list[tuple[str, int, str]]:
    """White, number of moves and result of each game."""
    found, file = [], io.StringIO(text)
    while (game := chess.pgn.read_game(file)) is not None:
        assert not game.errors or game.headers.get("Variant") == "bughouse"  # python-chess does not know it
        found.append((game.headers["White"], sum(1 for _ in game.mainline_moves()), game.headers["Result"]))
    return found


def new(client: TestClient, address: str, tag: str) -> str:
    """The answer when it is another one."""
    while (answer := client.get(address, headers={"If-None-Match": tag})).status_code == 304:
        assert not answer.content
        assert answer.headers["etag"] == tag
    assert answer.status_code == 200
    return str(answer.text)


def test_a_game_in_progress_its_tag_and_its_end(archive: Path) -> None:
    with closing(writer(archive.parent)) as journal, site(archive, Access(hosts=HERE)) as client:
        journal.received(BOARD + KIBITZ)
        answer = client.get("/live.pgn")
        assert parsed(answer.text) == [("Alice", 0, "*")]  # the board before its first move is not there
        assert "script" not in answer.text, "a kibitz is for this computer only, and for no broadcast"
        assert answer.headers["content-type"] == "application/x-chess-pgn; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
        tag = answer.headers["etag"]
        for known in (tag, f'"other", W/{tag}', "*"):
            assert client.get("/live.pgn", headers={"If-None-Match": known}).status_code == 304
        assert client.get("/live.pgn", headers={"If-None-Match": '"other"'}).status_code == 200
        journal.received(REPLY)
        assert parsed(new(client, "/live.pgn", tag)) == [("Alice", 2, "*")]
        key = answer.text.partition('RecorderKey "')[2][:20]
        one = client.get(f"/live/{key[:8]}.pgn")
        assert parsed(one.text) == [("Alice", 2, "*")]
        assert "%clk" in one.text
        journal.received(END)
        assert parsed(new(client, f"/live/{key}.pgn", one.headers["etag"])) == [("Alice", 2, "1-0")]
        for other in ("00000000", key[:4]):
            assert client.get(f"/live/{other}.pgn").status_code == 404


def test_a_board_leads_to_its_game_as_soon_as_the_archive_has_it(archive: Path) -> None:
    with closing(writer(archive.parent)) as journal:
        journal.received(BOARD)
        with site(archive) as client:
            (board,) = re.findall(r'<h3[^>]*><a href="(/live/[^"]+)"', client.get("/live").text)
            both = client.get(board)
            assert (both.status_code, both.headers["location"]) == (303, "/?player=Alice&opponent=Bob")
            journal.received(REPLY + END)
            Cli(archive)("import", next(archive.parent.glob("*.journal")))
            to = client.get(board).headers["location"]
            assert to.startswith("/game/")
            shown = client.get(to)
            assert (shown.status_code, "Alice" in shown.text, "1–0" in shown.text) == (200, True, True)
            assert client.get("/live/nothing-1").status_code == 404


def test_a_delay_is_asked_for_and_that_of_the_site_is_the_least(archive: Path) -> None:
    with closing(writer(archive.parent)) as journal:
        journal.received(BOARD)
        with site(archive) as client:
            assert parsed(client.get("/live.pgn?delay=0").text) == [("Alice", 0, "*")]
            assert client.get("/live.pgn?delay=1h").text == ""
            for wrong in ("soon", "-5", "4h", ""):
                assert client.get(f"/live.pgn?delay={wrong}").status_code == 400
        with site(archive, delay_ms=60_000) as client:
            assert client.get("/live.pgn").text == ""
            assert client.get("/live.pgn?delay=0").text == ""


def read_all(tmp_path: Path, stream: bytes) -> tuple[LiveReader, list[LiveGame], JournalWriter]:
    """The games of a stream of which half a minute goes by between two reads of the server."""
    journal = writer(tmp_path)
    begin_ns = journal.now_ns()
    for number, begin in enumerate(range(0, len(stream), 1500)):
        journal.received(stream[begin : begin + 1500], begin_ns + number * 30_000_000_000)
    reader = LiveReader(tmp_path, with_chat=False, now_ms=Clock(journal))
    reader.look()
    return reader, reader.games(3_600_000), journal


def test_with_each_delay_a_game_is_as_it_was_then(tmp_path: Path) -> None:
    reader, games, journal = read_all(tmp_path, BUGHOUSE[:20_000])
    began_ms = journal.anchor_utc_ns // 1_000_000
    before: dict[str, tuple[int, str]] = {}
    steps = 0
    for at_ms in range(began_ms - 30_000, began_ms + 600_000, 15_000):
        shown = {game.key: game for one in games if (game := one.at(at_ms)) is not None}
        for key, game in shown.items():
            assert all(ply.at_ms is None or ply.at_ms <= at_ms for ply in game.plies)
            assert game.result == "*" or (game.ended_at_ms or 0) <= at_ms
            assert chess.pgn.read_game(io.StringIO(game.to_pgn())) is not None
            plies = game.ply_count
            steps += plies > before.get(key, (0, ""))[0]
            assert plies >= before.get(key, (0, ""))[0]
            before[key] = plies, game.result
        assert shown.keys() >= before.keys()
    assert before == {game.key: (game.ply_count, game.result) for game in (one.game for one in games)}
    assert steps > 4
    journal.close()
    reader.close()


def test_pgn_is_made_once_for_all_who_ask_until_the_next_move(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    to_pgn = Game.to_pgn

    def counted(game: Game) -> str:
        made.append(game.ply_count)
        return to_pgn(game)

    monkeypatch.setattr(Game, "to_pgn", counted)
    with closing(writer(archive.parent)) as journal, site(archive) as client:
        journal.received(BOARD)
        tag = client.get("/live.pgn").headers["etag"]
        for _ in range(3):
            assert client.get("/live.pgn").status_code == 200
        journal.received(REPLY)
        new(client, "/live.pgn", tag)
    assert made == [0, 2]


@pytest.mark.parametrize(
    ("stream", "boards"),
    [(RELAY, {("Kramnik", "*")}), (BUGHOUSE, {("Karpov", "*"), ("Spassky", "*")})],
    ids=["relay", "bughouse"],
)
def test_a_client_that_polls_follows_every_board(archive: Path, stream: bytes, boards: set[tuple[str, str]]) -> None:
    """As lichess does: one address, again and again, with the tag of the last answer."""
    assert stream is not RELAY or (
        b"<12>" in stream and not re.search(rb"<12> [^\r\n]* Kramnik Topalov (?!-2 )", stream)
    )
    journal = writer(archive.parent)
    seen: set[tuple[str, str]] = set()
    asked = got = 0
    codes: set[int] = set()
    tag = ""
    for address in serve(archive, PRIVATE, journals=archive.parent):
        for begin in range(0, min(len(stream), 30_000), 3000):
            journal.received(stream[begin : begin + 3000])
            request = urllib.request.Request(f"{address}/live.pgn", headers={"If-None-Match": tag})
            asked += 1
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    tag = answer.headers["ETag"]
                    seen |= {(white, result) for white, _, result in parsed(answer.read().decode())}
                    got += 1
            except HTTPError as error:
                error.close()
                codes.add(error.code)
    assert boards <= seen
    assert 0 < got <= asked
    assert codes <= {304}
    journal.close()


def test_the_least_delay_is_checked(cli: Cli) -> None:
    assert "--live-delay" in cli("web", "--live-delay", "soon", code=2).stderr
