"""Hooks: what a command and an address get, and hooks that hang, crash, are slow or refuse."""

import errno
import json
import os
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from recorder.journal import Sync
from recorder.journal.parts import new_part
from recorder.live.hooks import QUEUE, Hooks, make_hook
from tests.live.test_proxy import between
from tests.support.cli import Cli
from tests.support.live import Caller, in_loop
from tests.support.testserver import Dialogue, ScriptedServer

SECRET = "s3cr3t-token"


class Failures(list[tuple[str, str]]):
    def __call__(self, name: str, why: str) -> None:
        self.append((name, why))


def script(folder: Path, text: str) -> list[str]:
    path = folder / "hook.sh"
    path.write_text(text)
    return ["sh", str(path), SECRET]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_gets_the_facts_and_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", SECRET)
    failures = Failures()
    out = tmp_path / "out"
    hooks = Hooks([make_hook(["game-end"], script(tmp_path, f"cat > {out}; env | grep ICS_ > {out}.env"))], failures)
    hooks.fire("game-end", "Ann – Bob; $(reboot)\n1-0", white="Ann", rated=True, rating=None)
    hooks.fire("outage", "another event")
    hooks.close()
    found = json.loads(out.read_text())
    assert found.items() >= {"event": "game-end", "white": "Ann", "rated": True, "rating": None}.items()
    variables = dict(line.partition("=")[::2] for line in (tmp_path / "out.env").read_text().splitlines())
    assert variables.items() >= {"ICS_TEXT": found["text"], "ICS_WHITE": "Ann", "ICS_RATED": "true"}.items()
    assert "ICS_RATING" not in variables
    assert "ICS_RECORDER_PASSWORD" not in variables
    assert "\n" not in found["text"]
    assert failures == []
    assert hooks.counts() == [{"name": "sh", "events": ["game-end"], "done": 1, "failed": 0, "dropped": 0}]


@pytest.mark.parametrize(
    ("text", "why"),
    [("exit 3", "exit status 3"), ("kill -9 $$", "signal 9"), ("exec /nowhere", "exit status 127")],
)
def test_a_failure_is_counted_and_reported_once(tmp_path: Path, text: str, why: str) -> None:
    failures = Failures()
    hooks = Hooks([make_hook(["back"], script(tmp_path, text))], failures)
    for _ in range(3):
        hooks.fire("back", "…")
    hooks.close()
    assert failures == [("sh", why)]
    assert hooks.counts()[0]["failed"] == 3


def test_one_that_hangs_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    failures, pids = Failures(), tmp_path / "pids"
    pids.touch()  # on a busy machine it may be ended before it begins
    command = script(tmp_path, f"sleep 1000 & echo $! >> {pids}; echo $$ >> {pids}; wait")
    hooks = Hooks([make_hook(["back"], command, limit=0.3)], failures)
    hooks.fire("back", "…")
    hooks.fire("back", "…")
    hooks.close()
    assert failures == [("sh", "it did not end within 0.3 s")]
    started = [int(pid) for pid in pids.read_text().split()]
    while any(map(is_running, started)):  # the system ends them soon
        time.sleep(0.01)


def test_at_the_end_one_that_still_works_is_ended_and_what_waits_is_dropped(tmp_path: Path) -> None:
    failures, pid = Failures(), tmp_path / "pid"
    hooks = Hooks([make_hook(["game-end"], script(tmp_path, f"echo $$ > {pid}; sleep 1000"))], failures)
    for number in range(1000):
        hooks.fire("game-end", str(number))
    while not pid.exists() or not pid.read_text():
        pass
    hooks.close(0)
    while is_running(int(pid.read_text())):
        time.sleep(0.01)
    assert hooks.counts()[0]["dropped"] >= 999
    assert "at the end" in failures[-1][1]


def test_events_beyond_the_queue_are_dropped_and_nothing_waits(tmp_path: Path) -> None:
    failures, go = Failures(), tmp_path / "go"
    os.mkfifo(go)
    hooks = Hooks([make_hook(["game-end"], ["cat", str(go)])], failures)
    for number in range(QUEUE + 100):
        hooks.fire("game-end", str(number))
    assert hooks.counts()[0]["dropped"] >= 99
    assert [why for _, why in failures] == ["1,000 events wait for it, and more are dropped"]
    hooks.close(0)


def test_a_game_has_each_event_once_and_an_outage_begins_none() -> None:
    found: list[Any] = []
    hooks = Hooks([], Failures())
    hooks.fire = lambda event, _text, **facts: found.append((event, facts["plies"]))  # type: ignore[method-assign]
    board = ["FICS", 7, "Ann", "Bob"]
    start = {"event": "game-start", "text": "", "board": board, "plies": 0, "once": ["a", 5, 7, "game-start"]}
    end = start | {"event": "game-end", "once": ["a", 5, 7, "game-end"], "plies": 9}
    hooks.game(start)
    hooks.game(start)  # the journal was read again
    hooks.game(start | {"once": ["b", 1, 7, "game-start"], "plies": 4})  # the next journal goes on with it
    hooks.game(end)
    hooks.game(end)
    hooks.game(start | {"once": ["b", 99, 7, "game-start"]})  # a return match
    assert found == [("game-start", 0), ("game-end", 9), ("game-start", 0)]


class Server(BaseHTTPRequestHandler):
    got: ClassVar[list[tuple[str, str, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((self.path, self.headers["Content-Type"], body))
        assert "urllib" not in self.headers["User-Agent"]  # Discord refuses it
        path = self.path.removeprefix("http://chess.example")
        self.send_response({"/204": 204, "/302": 302, "/hangs": 200}.get(path, 404))
        if self.path == "/302":
            self.send_header("Location", "/204")
        if self.path == "/hangs":
            self.wfile.flush()
            threading.Event().wait(1)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = HTTPServer(("127.0.0.1", 0), Server)
    Server.got.clear()
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_address_gets_json_or_a_body_of_the_user(address: str) -> None:
    failures = Failures()
    body = {"msgtype": "m.text", "body": "♟ {text} {white}/{result}/{key}"}
    url = f"{address}/204"
    hooks = Hooks([make_hook(["back"], url=url), make_hook(["back"], url=url, body=body)], failures)
    hooks.fire("back", 'Say "hi"', white="Ann", result=None)
    hooks.close()
    texts = Hooks([make_hook(["back"], url=url, body="{text}")], failures)
    texts.fire("back", "plain")
    texts.close()
    assert failures == []
    found = [json.loads(data) for _, kind, data in Server.got if kind == "application/json"]
    assert sorted(found, key=len)[0] == {"msgtype": "m.text", "body": '♟ Say "hi" Ann//'}
    assert sorted(found, key=len)[1].items() >= {"text": 'Say "hi"', "content": 'Say "hi"', "event": "back"}.items()
    assert Server.got[-1][1:] == ("text/plain; charset=utf-8", b"plain")


@pytest.mark.parametrize(
    ("path", "why"),
    [(f"/{SECRET}", "the server answered 404"), ("/302", "the server answered 302"), ("/hangs", "no answer within")],
)
def test_an_address_that_refuses_redirects_or_hangs(address: str, path: str, why: str) -> None:
    failures = Failures()
    hooks = Hooks([make_hook(["back"], url=address + path, limit=0.2)], failures)
    hooks.fire("back", "…")
    hooks.close()
    assert [name for name, _ in failures] == ["URL"]
    assert failures[0][1].startswith(why)
    assert [got for got in Server.got if got[0] == "/204"] == [], "a redirection is not followed"


_OF_THIS_TEST = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmdUDeM2yknDZnksD
iEJyODxAfJtvCiK4ZPN7lneH3BmhRANCAAT0hQg9LJEQE5SctLhv6O7OC+JWwu61
Znzu+UtsYPC67A9gqX5RZbcS+SpHA+w2fzAsG23mc3/Jxsv6z/fHvCTx
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBWzCCAQKgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4w
LjEwIBcNMDAwMTAxMDAwMDAwWhgPMjEyNjAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CTEyNy4wLjAuMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPSFCD0skRATlJy0
uG/o7s4L4lbC7rVmfO75S2xg8LrsD2CpflFltxL5KkcD7DZ/MCwbbeZzf8nGy/rP
98e8JPGjQzBBMA8GA1UdEQQIMAaHBH8AAAEwDwYDVR0TAQH/BAUwAwEB/zAdBgNV
HQ4EFgQUP8h9H+ZkYtsX8x9GUDee5VpWYqUwCgYIKoZIzj0EAwIDRwAwRAIgdMlY
0VG3ayTWM3sBPlZKLOBRQ9vr+GNNDdeyqkS1LBcCIENvzlns4qnbox17iw9liuci
afErzRL6xJYAZAz4FQ60
-----END CERTIFICATE-----
"""
"""A key and its own certificate for 127.0.0.1; no one else uses them."""


def test_a_server_is_notified_only_if_its_certificate_is_trusted(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "server.pem"
    file.write_text(_OF_THIS_TEST)
    server = HTTPServer(("127.0.0.1", 0), Server)
    secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secured.load_cert_chain(file)
    server.socket = secured.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    failures = Failures()
    for trusted in (False, True):
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(file))
        hooks = Hooks([make_hook(["back"], url=f"https://127.0.0.1:{server.server_port}/204")], failures)
        hooks.fire("back", "…")
        hooks.close()
        assert [got[0] for got in Server.got] == ["/204"] * trusted
    server.shutdown()
    thread.join()
    server.server_close()
    assert failures == [("URL", "the certificate of the server is not valid")]


def test_a_proxy_is_asked_for_an_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for any program: ``http_proxy`` has the place, and the request names the whole address."""
    monkeypatch.setenv("http_proxy", address)
    monkeypatch.delenv("no_proxy", raising=False)
    hooks = Hooks([make_hook(["back"], url="http://chess.example/204")], Failures())
    hooks.fire("back", "…")
    hooks.close()
    assert [got[0] for got in Server.got] == ["http://chess.example/204"]


@in_loop
async def test_a_full_disk_is_an_event(tmp_path: Path) -> None:
    """Of a proxy, which goes on; other errors of a disk are none."""

    class Full:
        def __init__(self, path: Path) -> None:
            self._part = new_part(path)
            self.sync, self.check, self.close = self._part.sync, self._part.check, self._part.close
            self.left = 300

        def write(self, data: bytes, /) -> int:
            self.left -= len(data)
            if self.left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return self._part.write(data)

    out = tmp_path / "out"
    hooks = Hooks([make_hook(["disk-full"], script(tmp_path, f"cat > {out}"))], Failures())
    (journals := tmp_path / "journals").mkdir()
    async with ScriptedServer(Dialogue()) as server, between(server.port, journals, Sync.ALWAYS, Full) as it:
        it.hooks = hooks
        caller = await Caller.call(it.port)
        caller.send(b"guest\n\nquit\n")
        await caller.rest()
        caller.writer.close()
        await it.until_closed()
    hooks.close()
    assert [one["done"] for one in hooks.counts()] == [1]
    assert "No space left on device" in json.loads(out.read_text())["text"]


@pytest.mark.parametrize(
    "url",
    [f"http://127.0.0.1:1/{SECRET}", f"http://{SECRET}.invalid/", f"https://127.0.0.1:1/{SECRET}"],
)
def test_no_secret_is_in_a_message(url: str) -> None:
    failures = Failures()
    hook = make_hook(["back"], url=url, headers={"Authorization": SECRET})
    hooks = Hooks([hook], failures)
    hooks.fire("back", "…")
    hooks.close()
    assert failures
    assert SECRET not in repr((failures, hook, hooks.counts()))


@pytest.mark.parametrize(
    "url",
    [f"http://[::{SECRET}/", f"ftp://a/{SECRET}", f"https://{SECRET}@a/", f"http://a:{SECRET}/", f"http://a/ {SECRET}"],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_text(url: str) -> None:
    with pytest.raises(ValueError, match="URL") as refused:
        make_hook(["back"], url=url)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("foo=true", "'foo' is no event"),
        ("game-end=/no/such", "there is no program '/no/such'"),
        ("game-end", "write it as game-end=COMMAND"),
        ("outage=true", "only `record` has the event outage"),
        ("long-think:x=true", "long-think:120=COMMAND"),
    ],
)
def test_what_on_cannot_mean_is_refused_in_one_sentence(cli: Cli, tmp_path: Path, value: str, words: str) -> None:
    log = tmp_path / "session.log"
    log.touch()
    assert words in cli("follow", log, "--on", value, code=2).stderr


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('on = "game-end"\ncommand = ["true"]', None),
        ('on = "foo"\ncommand = ["true"]', "'foo' is no event"),
        ('on = "game-end"', "either a command or a URL"),
        ('on = "game-end"\nurl = "https://a:b@c/"', "a name and password belong in a header"),
        ('on = "game-end"\nshell = true', "there is no key 'shell'"),
        (
            'on = "game-end"\nurl = "http://a/"\nbody = "{txet}"',
            "{txet}, which is no fact; there are event, text,",
        ),
    ],
)
def test_hooks_of_the_configuration_are_checked(cli: Cli, tmp_path: Path, table: str, words: str | None) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"[[hook]]\n{table}\n")
    done = cli("--config", file, "follow", tmp_path / "none.log", code=None)
    if words is None:
        assert "[[hook]]" not in done.stderr
    else:
        assert f"{file}, [[hook]] number 1: " in done.stderr
        assert words in done.stderr
