"""The server of the live view."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Iterator

import pytest

import windrow as wr
from tests.unit.monitoring.streams import skewed
from windrow.monitoring.history import History
from windrow.monitoring.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    history, _ = skewed("quotes", hot=2, slow=1)
    server = Server(history, 0, "127.0.0.1")
    yield server
    server.stop()


def get(server: Server, path: str, host: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    headers = {} if host is None else {"Host": host.format(server.server_port)}
    connection.request("GET", path, headers=headers)
    return connection.getresponse()


def test_the_page_loads_nothing_from_elsewhere(server: Server) -> None:
    answer = get(server, "/")
    page = answer.read().decode()
    assert answer.status == 200
    assert "default-src 'none'" in str(answer.getheader("Content-Security-Policy"))
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_queries_are_json_for_this_site_alone(server: Server) -> None:
    answer = get(server, "/queries?at=1")
    assert [query["name"] for query in json.loads(answer.read())["queries"]] == ["quotes"]
    assert answer.getheader("Access-Control-Allow-Origin") is None


def test_metrics_are_text(server: Server) -> None:
    answer = get(server, "/metrics")
    assert answer.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    assert b"windrow_windows_total" in answer.read()


@pytest.mark.parametrize("host", ["localhost:{}", "127.0.0.1:{}", "[::1]:{}"])
def test_this_machine_is_answered(server: Server, host: str) -> None:
    assert get(server, "/queries", host).status == 200


@pytest.mark.parametrize("host", ["evil.example:{}", "localhost:1", "localhost", "10.0.0.1:{}", ""])
@pytest.mark.parametrize("path", ["/", "/queries", "/metrics"])
def test_another_host_is_refused(server: Server, path: str, host: str) -> None:
    """A name of another site that leads here, as after DNS rebinding."""
    answer = get(server, path, host)
    assert answer.status == 403
    assert b"quotes" not in answer.read()


def test_other_paths_are_not_found(server: Server) -> None:
    assert get(server, "/../../etc/passwd").status == 404


def test_a_port_that_is_taken_is_an_error_with_a_hint(server: Server) -> None:
    with pytest.raises(wr.WindrowError, match=r"cannot listen on 127\.0\.0\.1:\d+; got") as raised:
        Server(History(), server.server_port, "127.0.0.1")
    assert "0 takes any free port" in str(raised.value)


def test_whoever_lets_others_in_is_warned(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "windrow"):
        server = Server(History(), 0, "0.0.0.0")
    try:
        assert get(server, "/queries", "metrics.example").status == 200
    finally:
        server.stop()
    assert "whoever reaches it can read it" in caplog.text
