"""One Redis and one NATS for the tests of a module; each test uses its own streams in them."""

from __future__ import annotations

import itertools

import pytest

from services.http_servers import HttpServer
from services.servers import start_nats, start_redis

COUNTER = itertools.count(1)


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory):
    server = start_redis(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def nats_server(tmp_path_factory):
    server = start_nats(tmp_path_factory.mktemp("nats"))
    yield server
    server.stop()


@pytest.fixture
def fresh_name():
    """A name that no other test uses."""
    return f"news{next(COUNTER)}"


@pytest.fixture
def web():
    """An HTTP server that answers as the test says."""
    server = HttpServer()
    yield server
    server.stop()
