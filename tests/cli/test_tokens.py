"""`firststory token create|list|revoke`: a token is shown once, opens the service for what it may do, and no longer."""

from __future__ import annotations

import httpx
import pytest

from firststory.cli.main import main
from serve.served import fill, server_on, wait_until


def call(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code or 0


def test_a_token_is_made_listed_used_and_revoked(tmp_path, capsys):
    store = fill(str(tmp_path / "news.db"), steps=2)
    assert call("token", "create", "newsdesk", "--scope", "read", "--store", store) == 0
    said = capsys.readouterr()
    token = said.out.strip()
    assert "\n" not in token and "cannot be shown again" in said.err
    assert call("token", "list", "--store", store) == 0
    listed = capsys.readouterr().out
    assert "newsdesk" in listed and "read" in listed and token not in listed
    with server_on(store) as (_, address, _), httpx.Client(base_url=address, timeout=60) as client:
        bearer = {"Authorization": f"Bearer {token}"}
        assert client.get("/alerts").status_code == 401
        assert client.get("/alerts", headers=bearer).status_code == 200
        assert client.post("/verdicts/d1/feedback", json={"useful": True}, headers=bearer).status_code == 403
        assert call("token", "revoke", "newsdesk", "--store", store) == 0
        wait_until(lambda: client.get("/alerts", headers=bearer).status_code == 401)
    assert call("token", "revoke", "nobody", "--store", store) == 1
    assert "nobody" in capsys.readouterr().err


def test_an_unknown_scope_is_refused(tmp_path, capsys):
    store = fill(str(tmp_path / "news.db"), steps=1)
    assert call("token", "create", "x", "--scope", "everything", "--store", store) != 0
    assert "everything" in capsys.readouterr().err
