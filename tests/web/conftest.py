"""One archive and one site for all tests that change neither."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx2 import Response
from playwright.sync_api import Browser, Page
from starlette.testclient import TestClient

from recorder.web.server import Access
from tests.support.browsing import chromium
from tests.support.site import HERE, client_of, make_archive, serve


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_archive(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def site(archive: Path) -> TestClient:
    return client_of(archive)


@pytest.fixture(scope="session")
def game_page(site: TestClient) -> Response:
    """A game with its pictures, which take a second to draw, as reached from a list."""
    return site.get("/game/6af87f9e?since=2017-01-01&sort=date")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; not for longer than a module, because its loop would run beside those of other tests."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def url(archive: Path) -> Iterator[str]:
    yield from serve(archive, Access(hosts=HERE, private=True))


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    page = browser.new_page(viewport={"width": 1366, "height": 650}, reduced_motion="reduce")
    page.set_default_timeout(120_000)
    return page


@pytest.fixture
def page(tab: Page, url: str) -> Iterator[Page]:
    """The page; what its console says and requests to other sites fail the test."""
    wrong: list[str] = []

    def said(message: object) -> None:
        text = str(getattr(message, "text", message))
        if "Failed to load resource" not in text:  # the status of a page about an error
            wrong.append(text)

    def asked(request: object) -> None:
        if not str(request.url).startswith((url, "data:")):  # type: ignore[attr-defined]
            wrong.append(str(request.url))  # type: ignore[attr-defined]

    for event, listener in (("console", said), ("pageerror", said), ("request", asked)):
        tab.on(event, listener)  # type: ignore[call-overload]
    yield tab
    for event, listener in (("console", said), ("pageerror", said), ("request", asked)):
        tab.remove_listener(event, listener)
    assert wrong == []
