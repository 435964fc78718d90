"""The server of the live view: one page, its data as JSON, and the metrics for Prometheus.

It listens on this machine only, unless told otherwise. There it answers only requests for this
machine by name, so that no page of another site can read it through a name of its own.
"""

from __future__ import annotations

import json
import logging
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.util import find_spec
from ipaddress import ip_address
from threading import Thread

from windrow.core.errors import WindrowError
from windrow.monitoring.history import History
from windrow.monitoring.view import view

_LOG = logging.getLogger("windrow.monitoring")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "connect-src 'self'; img-src data:; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_NO_CLIENT = b'The metrics for Prometheus need prometheus-client: pip install "windrow[metrics]".\n'


class Server(ThreadingHTTPServer):
    """Serves a history from a thread of its own until it is stopped."""

    daemon_threads = True

    def __init__(self, history: History, port: int, host: str) -> None:
        self.history, self.host = history, host
        self.is_local = _is_loopback(host)
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError, TypeError) as error:
            rule = f"the monitor cannot listen on {host}:{port}"
            hint = "port is a number from 0 to 65535, and 0 takes any free port."
            raise WindrowError(rule, str(error).rstrip("."), hint) from None
        if not self.is_local:
            _LOG.warning("the monitor listens on %s: whoever reaches it can read it", self.url)
        self._thread = Thread(target=self.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self.host}:{self.server_port}/"

    def answers(self, host: str | None) -> bool:
        """Whether a request with this Host header is for us."""
        if not self.is_local:
            return True
        name, _, port = (host or "").rpartition(":")
        return port == str(self.server_port) and (name == self.host or _is_loopback(name))

    def stop(self) -> None:
        """Stop listening."""
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if not self.server.answers(self.headers.get("Host")):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"This is not the host you asked for.\n")
            return
        path = self.path.partition("?")[0]
        if path == "/":
            self._send(HTTPStatus.OK, "text/html", _page())
        elif path == "/queries":
            found = json.dumps(view(self.server.history), allow_nan=False).encode()
            self._send(HTTPStatus.OK, "application/json", found)
        elif path == "/metrics":
            self._send_metrics()
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"There is nothing here.\n")

    def _send_metrics(self) -> None:
        if find_spec("prometheus_client") is None:
            self._send(HTTPStatus.NOT_IMPLEMENTED, "text/plain", _NO_CLIENT)
            return
        from windrow.monitoring.prometheus import prometheus_text

        text = prometheus_text(self.server.history)
        self._send(HTTPStatus.OK, "text/plain; version=0.0.4", text)

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        _LOG.debug(format, *args)


@cache
def _page() -> bytes:
    return files("windrow.monitoring").joinpath("page.html").read_bytes()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
