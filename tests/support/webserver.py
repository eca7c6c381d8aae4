"""A web server on this computer that serves files from memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class WebServer:
    """The files of a server, and what it was asked for.

    Attributes:
        url: of the folder of its files. files: name → bytes; more can be added.
        short: names whose connection ends in the middle. requests: the names, in order.
    """

    def __init__(self, url: str, files: dict[str, bytes]) -> None:
        self.url = url
        self.files = files
        self.short: set[str] = set()
        self.requests: list[str] = []


@contextmanager
def web_server(**files: bytes) -> Iterator[WebServer]:
    """Serve files for as long as the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            server.requests.append(name)
            data = server.files.get(name)
            if data is None:
                self.send_error(404 if name.startswith("no") else 503)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if name in server.short else data)

        def log_message(self, *_arguments: object) -> None:
            """Print nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = WebServer(f"http://127.0.0.1:{listening.server_address[1]}", files)
    thread = Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()
