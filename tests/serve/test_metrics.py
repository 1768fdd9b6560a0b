"""What Prometheus reads, and that the dashboard asks for nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from firststory.serve.app import create_app
from firststory.serve.options import ServiceOptions
from firststory.serve.service import Service
from serve.served import STEP_SIZE, fill

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana-dashboard.json"


def test_metrics_tell_the_state_of_the_store_and_the_dashboard_knows_them(tmp_path):
    service = Service(fill(str(tmp_path / "news.db"), 4), ServiceOptions(), why_read_only="a test reads.")
    try:
        with TestClient(create_app(service), base_url="http://localhost") as client:
            for path in ("/alerts", "/stories/s1", "/stories/s2", "/nothing"):
                client.get(path)
            told = client.get("/metrics").text
    finally:
        service.close()
    samples = {}
    for family in text_string_to_metric_families(told):
        for one in family.samples:
            samples[one.name, *sorted(one.labels.values())] = one.value
    assert samples[("firststory_documents_total",)] == 4 * STEP_SIZE
    assert samples["firststory_alerts_total", "confirmed"] == 2
    assert samples[("firststory_stream_up",)] == 0
    # One line for all stories: the ids of documents must not fill the memory of whoever counts.
    routes = [name for name in samples if name[0] == "firststory_http_requests_total"]
    assert sum("/stories/{id}" in name for name in routes) == 1 and not any("/stories/s1" in name for name in routes)
    names = {name[0] for name in samples}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            asked = set(re.findall(r"\b(?:firststory|process)_[a-z_]+", target["expr"]))
            assert asked and asked <= names, (panel["title"], asked - names)
