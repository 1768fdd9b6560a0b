"""What whoever starts the service may choose, tried on the command itself."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
from contextlib import closing

import httpx
import psycopg
import pytest
from sqlalchemy.engine import make_url

from firststory.store import tokens
from firststory.store.store import Store
from serve.served import Served, fill, served, server_on, wait_until
from services.killing import documents


def test_with_a_certificate_it_is_reached_by_https_alone(tmp_path):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost")
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    store = fill(str(tmp_path / "news.db"))
    process = Served(store, "--certificate", str(certificate), "--key", str(key))
    trusting = ssl.create_default_context(cafile=str(certificate))
    try:
        with httpx.Client(base_url=process.url.replace("http:", "https:"), verify=trusting) as client:

            def is_ready():
                assert process.process.poll() is None, process.process.stdout.read().decode()
                try:
                    return client.get("/readyz").status_code == 200
                except httpx.TransportError:
                    return False

            wait_until(is_ready)
            told = client.get("/alerts")
            assert told.status_code == 200 and told.headers["strict-transport-security"].startswith("max-age=")
            with client.stream("GET", "/events?after=0-3-0") as events:
                assert next(line for line in events.iter_lines() if line.startswith("event:"))
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{process.url}/healthz")
        with pytest.raises(httpx.ConnectError, match="certificate"):
            httpx.get(process.url.replace("http:", "https:") + "/healthz")
    finally:
        status, said = process.end()
    assert status == 130 and "https://" in said


def test_a_certificate_that_is_none_is_an_error_in_one_line(tmp_path):
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("")
    process = Served(fill(str(tmp_path / "news.db")), "--certificate", str(nothing), "--key", str(nothing))
    said = process.process.communicate(timeout=120)[0].decode()
    assert process.process.returncode == 1 and "Traceback" not in said
    assert "certificate" in said.lower()


@pytest.mark.parametrize(("proxy", "wanted"), [("127.0.0.1", [200, 429, 200]), (None, [200, 429, 429])])
def test_the_word_of_a_proxy_is_taken_and_that_of_others_is_not(tmp_path, proxy, wanted):
    """Each client behind the proxy has a bucket of its own; a client that only says so has not."""
    store = fill(str(tmp_path / "news.db"))
    with server_on(store, proxy=proxy, requests_per_second=0.001, burst=1) as (_, address, _):
        names = ("203.0.113.1", "203.0.113.1", "203.0.113.2")
        told = [httpx.get(f"{address}/alerts", headers={"X-Forwarded-For": name}, timeout=60) for name in names]
    assert [one.status_code for one in told] == wanted


def test_behind_a_proxy_with_https_cookies_are_secure(tmp_path):
    url = fill(str(tmp_path / "news.db"))
    with Store(url) as store:
        secret = tokens.create_token(store, "reader", {"read"})
    with server_on(url, proxy="127.0.0.1") as (_, address, _):
        forwarded = {"X-Forwarded-Proto": "https"}
        told = httpx.post(f"{address}/login", data={"token": secret}, headers=forwarded, timeout=60)
        assert "__Host-firststory_session" in told.headers["set-cookie"] and "Secure" in told.headers["set-cookie"]
        assert told.headers["strict-transport-security"]


def test_sinks_get_every_alert_of_a_service(tmp_path):
    news, told, store = tmp_path / "news.jsonl", tmp_path / "alerts.jsonl", str(tmp_path / "news.db")
    made = documents(600)
    news.write_text("".join(json.dumps(one) + "\n" for one in made[:400]))
    with served(store, str(news), "--sink", f"jsonl:{told}") as process, Store(store, read_only=True) as opened:
        assert httpx.post(f"{process.url}/documents", json=made[400:], timeout=60).status_code == 202

        def all_are_delivered():
            status = httpx.get(f"{process.url}/status", timeout=60).json()
            fired = [one.id for one in opened.alerts(kind=("confirmed", "turn"))]
            lines = told.read_text().splitlines() if told.exists() else []
            return status["documents"] == 600 and fired and [json.loads(line)["id"] for line in lines] == fired

        wait_until(all_are_delivered)


def test_a_role_that_may_only_read_is_shown_the_store(postgres):
    url = postgres.new_schema()
    fill(url)
    parsed = make_url(url)
    schema = dict(part.split("=", 1) for part in parsed.query["options"].split("-c") if "=" in part)["search_path"]
    name = f"reader_{schema.strip()}"
    with closing(psycopg.connect(_plain(parsed), autocommit=True)) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {name}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}")
    reading = parsed.set(username=name, password=None).render_as_string(hide_password=False)
    with server_on(reading) as (_, address, _), httpx.Client(base_url=address, timeout=60) as client:
        assert client.get("/status").json()["mode"] == "read-only"
        assert len(client.get("/alerts").json()["items"]) == 12 and client.get("/").status_code == 200
        assert client.post("/documents", json={"text": "x"}).status_code == 503
        said = client.post("/verdicts/d1/feedback", json={"useful": True})
        assert said.status_code == 503 and "only reads" in said.json()["detail"]
    with Store(url, read_only=True) as store:
        assert store.last_step() == 11


def _plain(parsed):
    return parsed.set(drivername="postgresql").render_as_string(hide_password=False)
