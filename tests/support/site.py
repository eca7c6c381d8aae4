"""An archive with games that pages of the site must survive, and clients that ask it."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

from starlette.testclient import TestClient

from recorder.live.net.sockets import Address, listen
from recorder.web.live_feed import LiveFeed
from recorder.web.server import Access, SiteArchive, make_app, make_server
from tests.support.cli import GUESTS, Cli

SAVED = Path(__file__).parent.parent / "corpus" / "pgn" / "ficsgames-variants-by-year.pgn"
HOSTILE = "<script>alert(1)</script>'\"&{{7*7}}"
_HOSTILE_GAME = f"""[Event "x"]
[White "{HOSTILE.replace('"', chr(92) + '"')}"]
[Black "../../?a=b#c"]
[Date "2020.02.30"]
[Result "*"]

1. e4 {{</pre></script><img src=x onerror=alert(1)>}} e5 *
"""

HERE = frozenset({"127.0.0.1"})
PRIVATE = Access(hosts=HERE, private=True)


def make_archive(folder: Path) -> Path:
    """Fifteen games of a log, three with dates of a file, and one with hostile text."""
    hostile = folder / "hostile.pgn"
    hostile.write_text(_HOSTILE_GAME, encoding="utf-8")
    cli = Cli(folder / "archive.sqlite")
    cli("import", GUESTS, SAVED, hostile)
    return cli.archive


def client_of(archive: Path, access: Access = PRIVATE, feed: LiveFeed | None = None) -> TestClient:
    """A client of the site; errors of the program fail the test."""
    feed = feed or LiveFeed(archive.parent / "journals", with_chat=access.private)
    app = make_app(SiteArchive(str(archive)), access, feed)
    return TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)


def serve(archive: Path, access: Access, *, journals: Path | None = None, port: int = 0) -> Iterator[str]:
    """A site, until the iteration ends; port 0 is a free one."""
    sockets = listen(Address("127.0.0.1", port))
    feed = LiveFeed(journals or archive.parent / "journals", with_chat=access.private)
    app = make_app(SiteArchive(str(archive)), access, feed)
    server = make_server(app, behind_proxy=access.behind_proxy, end=feed.close)
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
