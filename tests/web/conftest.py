"""One archive and one site for all tests that change neither."""

from __future__ import annotations

from pathlib import Path

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from tests.support.site import client_of, make_archive


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
