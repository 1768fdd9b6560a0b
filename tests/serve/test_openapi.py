"""What the description says is what is answered: schemathesis asks every route in many ways."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from firststory.serve.app import create_app
from firststory.serve.options import ServiceOptions
from firststory.serve.service import Service
from serve.served import fill


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    url = fill(str(tmp_path_factory.mktemp("openapi") / "news.db"), 6)
    service = Service(url, ServiceOptions(requests_per_second=0, allowed_hosts=("testserver",)), why_read_only="a test reads.")
    yield schemathesis.openapi.from_asgi("/openapi.json", create_app(service))
    service.close()


schema = schemathesis.pytest.from_fixture("described").exclude(path="/events")


@schema.parametrize()
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_route_does_as_it_is_described(case):
    case.call_and_validate()
