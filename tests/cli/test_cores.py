"""`firststory run --cores`: a source that is silent holds nothing back, and a signal ends the wait for it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from functools import partial

import pytest

from engines.private_cluster import wait_until
from engines.test_backfill import has_documents
from firststory.store.store import Store

OPTIONS = ["--language", "en", "--topics", "none", "--detector", "neighbour"]


@pytest.mark.parametrize("cores", ["1", "2"])
def test_a_silent_source_is_judged_and_written_and_sigterm_ends_it(tmp_path, cores):
    source, store = tmp_path / "news.jsonl", tmp_path / "news.db"
    texts = [{"id": str(n), "text": f"Flood number {n} closes a bridge in town {n % 7}"} for n in range(250)]
    source.write_text("".join(json.dumps(one) + "\n" for one in texts))
    command = ["run", str(source), "--follow", "--store", str(store), "--cores", cores, *OPTIONS]
    process = subprocess.Popen(
        [sys.executable, "-m", "firststory.cli.main", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    wait_until(partial(has_documents, store, 250, process), "all documents, though no step comes after them")
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130 and "what was finished is saved" in said
    with Store(store, read_only=True) as opened:
        assert opened.saved_steps() == [opened.last_step()] == [2]
