"""A store of an earlier version is brought up to date when it is opened, and keeps what it has."""

from __future__ import annotations

import numpy as np
from sqlalchemy import text

from firststory.records import Document, Step, Verdict
from firststory.store import schema
from firststory.store.engine import open_engine, parse_url
from firststory.store.migrations import m0001
from firststory.store.store import Store


def test_a_store_from_before_vectors_gets_room_for_them(tmp_path):
    path = tmp_path / "old.db"
    engine = open_engine(parse_url(path)).execution_options(firststory_writes=True)
    with engine.begin() as connection:
        m0001.upgrade(connection)
        connection.execute(text("INSERT INTO meta VALUES ('schema', '1')"))
        connection.execute(text("INSERT INTO steps (step, counts) VALUES (0, '{}')"))
        connection.execute(text("INSERT INTO documents (id, step, text, extra) VALUES ('old', 0, 'storm', '{}')"))
        connection.execute(
            text(
                "INSERT INTO verdicts (n, novelty, is_novel, kind, sentence, evidence) "
                """VALUES (1, 0.5, 0, 'event', '', '{"terms": [], "nearest": []}')"""
            )
        )
    engine.dispose()
    vector = np.array([0.6, 0.8], dtype=np.float16)
    with Store(path) as store:
        store.claim()
        assert store.status()["schema"] == schema.VERSION and store.vector_dimensions() is None
        new = Verdict(Document("new", "gale", vector=vector), 0.5, None, False)
        store.write_step(Step(1, (new,)), vector_dimensions=2)
        old, new = store.verdicts()
        assert old.document.vector is None and store.vector_dimensions() == 2
        np.testing.assert_array_equal(new.document.vector, vector)
