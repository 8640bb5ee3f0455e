"""Servers on this machine, for tests of what comes from elsewhere."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Peer(ThreadingHTTPServer):
    """A server whose handler answers the requests; `asked` lists them."""

    daemon_threads = True

    def __init__(self, handler: type):
        super().__init__(("127.0.0.1", 0), handler)
        self.asked = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_):
        """Ignore clients that hang up: most of these tests are about them."""

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            thread.join()
            self.server_close()


class Quiet(BaseHTTPRequestHandler):
    """A handler that answers one request of each connection and logs nothing."""

    def begin(self, status: int, **headers: str | None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.close_connection = True

    def log_message(self, *_):
        pass
