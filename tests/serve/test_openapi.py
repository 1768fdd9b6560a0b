"""What the description says is what is answered: schemathesis asks every route in many ways, right and wrong."""

from __future__ import annotations

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode

from firststory.serve.stream import Stream
from firststory.settings import load
from firststory.store.store import Store
from serve.served import server_on, wait_until
from serve.test_push import SETTINGS, documents


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    url = str(tmp_path_factory.mktemp("openapi") / "news.db")
    with Store(url) as store:
        store.claim()
        with server_on(url, Stream(store, load(SETTINGS))) as (_, address, _):
            wait_until(lambda: httpx.get(f"{address}/readyz").status_code == 200)
            httpx.post(f"{address}/documents", json=documents(30))
            wait_until(lambda: httpx.get(f"{address}/verdicts").json()["items"])
            yield schemathesis.openapi.from_url(f"{address}/openapi.json")


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_route_does_as_it_is_described(described, mode):
    asked = 0
    for result in described.exclude(path="/events").get_all_operations():
        operation = result.ok()

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )
        def check(case):
            nonlocal asked
            asked += 1
            if case.media_type == "application/x-ndjson":  # described as text: what the lines are it cannot know
                return
            if isinstance(case.body, dict) and not any(case.body.get("vector") or [1]):
                return  # a vector without a direction
            case.call_and_validate()

        try:
            check()
        except Exception as error:
            if "Unsatisfiable" not in type(error).__name__:  # a route without parameters cannot be asked wrongly
                raise
    assert asked > 40
