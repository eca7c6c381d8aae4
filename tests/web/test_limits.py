"""Nothing stops the site: slow pages, many connections, requests that never come whole, tokens that are guessed.

The sockets are real. Pages that are never ready stand for pages that take long, so that no test measures time.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.requests import Request
from starlette.responses import Response

from recorder.web import server
from recorder.web.answers import Answers, page
from recorder.web.server import Access, Attempts, SiteArchive, client_of
from recorder.web.work import THREADS, WAITING
from tests.support.cli import Cli
from tests.support.site import HERE, serve
from tests.support.site import client_of as client_of_site

PRIVATE = Access(hosts=HERE, private=True)


class Slow:
    """The pages of players: none is ready before all may be."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ready = threading.Event()

    def player(self, request: Request) -> Response:
        self.asked.append(request.path_params["handle"])
        assert self.ready.wait(60)
        return page(f"<p>{request.path_params['handle']}".encode())


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    found = Slow()
    monkeypatch.setattr(Answers, "player", lambda _, request: found.player(request))
    yield found
    found.ready.set()


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[SiteArchive]:
    """The archive of the site, once it is made."""
    found: list[SiteArchive] = []
    make = SiteArchive.__init__

    def noting(self: SiteArchive, where: str) -> None:
        make(self, where)
        found.append(self)

    monkeypatch.setattr(SiteArchive, "__init__", noting)
    return found


@pytest.fixture
def port(work: list[SiteArchive], archive: Path) -> Iterator[int]:
    for url in serve(archive, PRIVATE):
        yield int(url.rpartition(":")[2])
        work[0].close()


def send(port: int, data: bytes) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", port), 60)
    found.sendall(data)
    return found


def asking(path: str, method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()


def answer(connection: socket.socket) -> bytes:
    """All that comes, until the site closes the connection."""
    found = b""
    try:
        while data := connection.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    connection.close()
    return found


def wait_for(condition: object, what: str) -> None:
    for _ in range(3000):
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.01)
    raise AssertionError(what)


def test_pages_whose_readers_left_are_not_made(slow: Slow, port: int, work: list[SiteArchive]) -> None:
    first = [send(port, asking(f"/player/p{number}")) for number in range(THREADS)]
    wait_for(lambda: len(slow.asked) == THREADS, "all threads make a page")
    others = [send(port, asking(f"/player/p{number}")) for number in range(THREADS, 60)]
    wait_for(lambda: work[0].work.waiting == WAITING, "the queue is full")
    busy = answer(send(port, asking("/player/more")))
    assert busy.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 3" in busy
    assert answer(send(port, asking("/live"))).startswith(b"HTTP/1.1 200")
    for one in (*first, *others):
        one.close()
    wait_for(lambda: not work[0].work.waiting, "nothing waits")
    slow.ready.set()
    assert b"<p>last" in answer(send(port, asking("/player/last")))
    assert len(slow.asked) == THREADS + 1


def test_equal_requests_share_a_page_and_it_is_kept(slow: Slow, port: int, work: list[SiteArchive]) -> None:
    readers = [send(port, asking("/player/Euwe")) for _ in range(20)]
    wait_for(lambda: slow.asked, "a page is made")
    readers.pop().close()
    slow.ready.set()
    assert all(b"<p>Euwe" in answer(reader) for reader in readers)
    assert b"<p>Euwe" in answer(send(port, asking("/player/Euwe")))
    os.utime(work[0].where)  # the archive has changed
    assert b"<p>Euwe" in answer(send(port, asking("/player/Euwe")))
    assert slow.asked == ["Euwe", "Euwe"]


def test_requests_that_do_not_come_whole_end(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_S", 0.02)
    for url in serve(archive, Access(hosts=HERE, token="a token of the tests")):
        port = int(url.rpartition(":")[2])
        head = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n"
        for part in (b"", b"GET / HT", head, head + b"\r\ntoken="):
            assert answer(send(port, part)) == b""


def test_idle_connections_end(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_S", 0)
    for url in serve(archive, PRIVATE):
        ask = asking("/live").replace(b"Connection: close\r\n", b"")
        assert answer(send(int(url.rpartition(":")[2]), ask)).startswith(b"HTTP/1.1 200")


def test_idle_connections_make_room_for_others(port: int) -> None:
    idle = [send(port, b"GET / HTTP/1.1\r\n") for _ in range(500)]
    assert answer(send(port, asking("/live"))).startswith(b"HTTP/1.1 200")
    open_yet = 0
    for one in idle:
        one.setblocking(False)
        try:
            one.recv(1)
        except BlockingIOError:
            open_yet += 1
        except ConnectionResetError:
            pass
        one.close()
    assert open_yet < server.CLIENT_CONNECTIONS


def test_a_client_with_too_many_pages_is_refused(slow: Slow, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.Connection, "_most_of_client", 5)
    arrived: list[bytes] = []
    take = server.Connection.data_received

    def counted(connection: server.Connection, data: bytes) -> None:
        take(connection, data)
        arrived.append(data)

    monkeypatch.setattr(server.Connection, "data_received", counted)
    busy = [send(port, asking("/player/Euwe")) for _ in range(5)]
    wait_for(lambda: len(arrived) == 5, "five requests arrive")  # one without its request would give way to another
    wait_for(lambda: slow.asked, "a page is made")
    wait_for(lambda: answer(send(port, asking("/live"))).startswith(b"HTTP/1.1 503"), "all five are busy")
    slow.ready.set()
    assert all(b"<p>Euwe" in answer(one) for one in busy)


def test_only_pages_are_asked_for(port: int) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        found = answer(send(port, asking("/", method)))
        assert found.startswith(b"HTTP/1.1 405")
        assert b"allow: GET, HEAD" in found
    assert answer(send(port, asking("/", "HEAD"))).partition(b"\r\n\r\n")[2] == b""


def test_tokens_are_guessed_one_after_the_other() -> None:
    now = [100.0]
    attempts = Attempts(lambda: now[0])
    assert [attempts.wait_s("a") for _ in range(3)] == [0, 1, 2]
    assert attempts.wait_s("b") == pytest.approx(0.15)  # the site's own pause, however many clients there are
    waits = [attempts.wait_s("a") for _ in range(20)]
    assert waits.count(None) > 5
    now[0] += 100
    assert attempts.wait_s("a") == 0
    attempts.tried("a", right=True)
    assert [attempts.wait_s("a") for _ in range(20)] == [0] * 20  # of a script that knows the token
    attempts.tried("a", right=False)
    now[0] += 1
    assert [attempts.wait_s("a") for _ in range(3)] == [0, 1, 2]


def test_a_client_is_a_network_of_one_customer() -> None:
    scope = {"client": ("2001:db8::1", 5)}
    assert client_of(scope, {}, behind_proxy=False) == client_of({"client": ("2001:db8::2", 6)}, {}, behind_proxy=False)
    forwarded = {"x-forwarded-for": "1.2.3.4, 192.0.2.7"}
    assert client_of(scope, forwarded, behind_proxy=True) == "192.0.2.7"
    assert client_of(scope, forwarded, behind_proxy=False) != "192.0.2.7"


def test_many_wrong_tokens_at_once_are_not_looked_at(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = client_of_site(archive, Access(hosts=HERE, token="a token of the tests"))
    monkeypatch.setattr(Attempts, "wait_s", lambda *_: None)
    wrong = site.post("/login", data={"token": "a token of the tests", "to": "/"})
    assert (wrong.status_code, wrong.headers["retry-after"]) == (429, "10")
    assert site.get("/", headers={"authorization": "Bearer x"}).status_code == 429


@pytest.mark.long
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_ends_the_site_whatever_is_computed(archive: Path, number: int, status: int) -> None:
    """A page that is never ready does not keep the site, and nothing but its own words is on the terminal."""
    code = (
        "import recorder.web.answers as answers, logging, warnings\n"
        "def computing(self, request):\n"
        "    warnings.warn('of a library'); logging.getLogger('library').error('of a library')\n"
        "    while True: sum(range(1000))\n"
        "answers.Answers.player = computing\n"
        "from recorder.cli import main; main()"
    )
    words = [sys.executable, "-c", code, "web", "--db", str(archive), "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    port = int(process.stdout.readline().rstrip("/\n").rpartition(":")[2])
    assert answer(send(port, b"no request\r\n\r\n")).startswith(b"HTTP/1.1 400")
    waiting = [send(port, asking(f"/player/{number}")) for number in range(5)]
    assert answer(send(port, asking("/live"))).startswith(b"HTTP/1.1 200")
    process.send_signal(number)
    assert process.communicate(timeout=300)[1] == "Ctrl-C ends the site.\n"
    assert process.returncode == status
    for one in waiting:
        one.close()


def test_a_handle_of_ten_thousand_characters(tmp_path: Path) -> None:
    saved = tmp_path / "long.pgn"
    saved.write_text(f'[White "{"Long" * 2500}"]\n[Black "Short"]\n[Result "*"]\n\n1. e4 *\n')
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", saved)
    site = client_of_site(cli.archive)
    html = site.get("/").text
    assert "Long" * 20 not in html
    assert "LongLongLong" in html
    (key,) = {one["key"] for one in cli.json("games", "--json")}
    links = [part.partition('"')[0] for part in html.split('href="')[1:]]
    links += [part.partition('"')[0] for part in site.get(f"/game/{key}").text.split('href="')[1:]]
    pages = [link.replace("&amp;", "&") for link in links if link.startswith("/") and ".pgn" not in link]
    assert {site.get(link, follow_redirects=True).status_code for link in pages} == {200}
    assert site.get(f"/?player={quote('Long' * 2500)}").status_code == 400
