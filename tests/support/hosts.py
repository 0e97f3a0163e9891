"""Folders served on this machine, as static hosts serve them."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A folder, as any static host serves it."""

    def log_message(self, *_arguments: object) -> None:
        pass


class Open(Quiet):
    """A folder for pages of all hosts, as networks serve what many use."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


@contextmanager
def serving(handler: Any) -> Iterator[str]:
    """A server on this machine; its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
