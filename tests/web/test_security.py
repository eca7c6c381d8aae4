"""Who may read the site: names, origins, the token, and what every answer forbids."""

import asyncio
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from recorder.errors import StorageError
from recorder.live import TOKEN_VARIABLE
from recorder.web.server import COOKIE, Access, new_token, read_token
from tests.support.site import HERE, client_of

TOKEN = "a token of the tests"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong token is answered at once."""

    async def no_wait(_seconds: float) -> None:
        return None

    monkeypatch.setattr("recorder.web.server.asyncio", type("_", (), {"sleep": staticmethod(no_wait)}))


@pytest.fixture
def guarded(archive: Path) -> TestClient:
    return client_of(archive, Access(hosts=HERE, token=TOKEN))


def test_every_answer_forbids_what_pages_do_not_need(site: TestClient, game_page: Response) -> None:
    paths = ("/", "/?since=x", "/nothing", "/games.csv", "/players.json?q=a")
    for answer in (*map(site.get, paths), game_page):
        headers = answer.headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


def test_pages_load_nothing_from_elsewhere(site: TestClient, game_page: Response) -> None:
    for answer in (site.get("/"), game_page, site.get("/game/6af8/lines")):
        html = answer.text
        assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', html)
        scripts = set(re.findall(r"<script[^>]*>", html)) - {'<script type="application/json" id="data">'}
        assert all(re.fullmatch(r'<script src="/assets/script-[0-9a-f]{12}\.js">', script) for script in scripts)
        for shared in re.findall(r'="(/assets/[^"]*)"', html):
            found = site.get(shared)
            assert (found.status_code, found.headers["cache-control"]) == (200, "public, max-age=31536000, immutable")
    assert site.get("/assets/none.css").status_code == 404


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"host": "evil.example"}, "does not answer under the name evil.example"),
        ({"host": "evil.example:8000"}, "does not answer under the name"),
        ({"host": "192.0.2.1:8000"}, "does not answer under the name"),
        ({"origin": "https://evil.example"}, "came from another site"),
        ({"origin": "null"}, "came from another site"),
        ({"origin": "http://127.0.0.1:9000"}, "came from another site"),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, "came from another site"),
        *(
            ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": frame}, "another site")
            for frame in ("iframe", "frame", "embed", "object")
        ),
        ({"x-forwarded-for": "192.0.2.1"}, "--trust-proxy"),
    ],
)
def test_strange_requests_are_refused(site: TestClient, headers: dict[str, str], words: str) -> None:
    answer = site.get("/", headers=headers)
    assert (answer.status_code, words in unescape(answer.text)) == (403, True)


def test_own_names_and_links_from_elsewhere_are_answered(site: TestClient) -> None:
    for headers in (
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:9999"},
        {"origin": "http://127.0.0.1:8000"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    ):
        assert site.get("/", headers=headers).status_code == 200


def test_names_of_hosts() -> None:
    access = Access(hosts=frozenset({"localhost", "::1", "box"}), numbers=True)
    assert all(map(access.answers, ("localhost", "LOCALHOST:80", "[::1]:8000", "[::1]", "192.168.1.5:8000", "box")))
    assert not any(map(access.answers, ("evil.example", "evil.example:80", "", "192.168.1.5.evil.example")))
    assert Access(hosts=None).answers("any.example")


def test_the_token_is_asked_for_and_then_a_cookie(guarded: TestClient) -> None:
    asked = guarded.get("/?player=Helmsman")
    assert asked.status_code == 401
    assert 'name="token"' in asked.text
    assert "Helmsman" not in asked.text.replace('value="/?player=Helmsman"', "")
    for path in ("/games.csv", "/players.json?q=a", "/game/6af8", "/nothing"):
        assert guarded.get(path).status_code == 401

    wrong = guarded.post("/login", data={"token": "wrong", "to": "/"})
    assert (wrong.status_code, "This is not the token." in wrong.text) == (401, True)
    right = guarded.post("/login", data={"token": TOKEN, "to": "/?player=Helmsman"})
    assert (right.status_code, right.headers["location"]) == (303, "/?player=Helmsman")
    cookie = right.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert TOKEN not in cookie
    assert guarded.get("/?player=Helmsman").status_code == 200
    guarded.cookies.clear()
    assert guarded.get("/").status_code == 401


def test_the_token_is_accepted_in_a_header_and_never_in_an_address(guarded: TestClient) -> None:
    assert guarded.get(f"/?token={TOKEN}").status_code == 401
    assert guarded.get("/", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert guarded.get("/", headers={"authorization": f"Basic {TOKEN}"}).status_code == 401
    answer = guarded.get("/", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert COOKIE in answer.headers["set-cookie"]
    assert TOKEN not in answer.text
    guarded.cookies.clear()
    assert guarded.get("/", headers={"cookie": f"{COOKIE}=guess"}).status_code == 401
    assert guarded.get("/", headers={"cookie": 'a="; b\x01=c'}).status_code == 401


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "", "/\r\nx: y", "/é/evil.example", "/a b"]
)
def test_a_login_leads_to_the_own_site_only(guarded: TestClient, target: str) -> None:
    answer = guarded.post("/login", data={"token": TOKEN, "to": target})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_a_login_leads_to_the_page_that_was_wanted(guarded: TestClient) -> None:
    page = guarded.get("/player/M%C3%BCller%3F?sort=date").text
    target = re.search(r'name="to" value="([^"]*)"', page)
    answer = guarded.post("/login", data={"token": TOKEN, "to": target[1].replace("&amp;", "&")})
    assert answer.headers["location"] == "/player/M%C3%BCller%3F?sort=date"


def test_a_form_of_another_site_cannot_log_in(guarded: TestClient) -> None:
    assert guarded.get("/", headers={"origin": "http://["}).status_code == 403
    answer = guarded.post("/login", data={"token": TOKEN}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert guarded.post("/login", content=b"x" * 100_000).status_code == 401


def test_behind_a_proxy(archive: Path) -> None:
    headers = {"host": "games.example", "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https"}
    proxied = client_of(archive, Access(hosts=None, behind_proxy=True))
    assert proxied.get("/", headers=headers).status_code == 200
    assert proxied.get("/game/6af8/lines", headers=headers).status_code == 403
    both = client_of(archive, Access(hosts=None, behind_proxy=True, token=TOKEN))
    assert both.get("/", headers=headers).status_code == 401
    answer = both.get("/", headers={**headers, "authorization": f"Bearer {TOKEN}"})
    assert "Secure" in answer.headers["set-cookie"]


def test_only_requests_are_answered(site: TestClient) -> None:
    async def nothing(*_: Any) -> Any:
        raise AssertionError

    asyncio.run(site.app({"type": "websocket"}, nothing, nothing))  # type: ignore[attr-defined]  # it is a Starlette application


def test_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert read_token(None) == TOKEN
    assert read_token(None) is None  # no process of ours inherits it
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert read_token(file) == TOKEN
    file.write_text("short")
    with pytest.raises(ValueError, match="16 or more"):
        read_token(file)
    with pytest.raises(StorageError, match="cannot be read"):
        read_token(tmp_path / "missing")
    assert len(new_token()) >= 32
    assert new_token() != new_token()
