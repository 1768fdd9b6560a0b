"""Full-text search: the same words and the same documents in both databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.records import Document
from firststory.store import schema, search
from firststory.store.checking import check_store
from firststory.store.store import Store
from store.made import step, verdict

# Leaves out what Unicode has named since SQLite's tables were made.
SCRIPTS = "aZ09 _-'’.,ÄÖÜäöüßẞÉéÈñçøØłŁŒœİıſµΣσςΆάЖжЙйЁёІіאבجدमेनกิไ漢字かなカナ한글ỆệǍ½²\u0301\u0308\u200b😀\n\t\"*:()"


def words_of_sqlite(text):
    """What FTS5 makes of a text, in order."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE f USING fts5(t, tokenize='unicode61 remove_diacritics 2')")
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab('f', 'instance')")
        connection.execute("INSERT INTO f VALUES (?)", (text,))
        return [row[0] for row in connection.execute("SELECT term FROM v ORDER BY offset")]


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from(SCRIPTS), max_size=40))
def test_words_are_cut_as_sqlite_cuts_them(text):
    assert search.cut(text) == words_of_sqlite(text)


def document(n, title, text):
    return verdict(f"d{n}", document=Document(id=f"d{n}", text=text, title=title))


TEXTS = [
    ("Überschwemmung in Bremen", "Die Brücke ist gesperrt, sagt die Polizei."),
    (None, "Bremen bridge closed by flood; e-mail the police at info@example.org"),
    ("E-Mail", "Mail about e numbers in Bremen"),
    ("Путин встретился", "Встреча в Москве, Ёлка"),
    ("", "洪水 閉鎖 橋"),
    ("O'Neill's 1,000 pets", "R2-D2 and C-3PO; don't"),
    ("flood", "in Bremen the flood"),
]
QUERIES = [
    "bremen", "BREMEN Flood", "uberschwemmung", "e-mail", "mail e", "путин елка", "洪水", "o'neill", "don't", "r2-d2",
    "1,000", "1000", "bremen in", "bremen-in", "flood-in", "--", "bremen --", "", " ", '"', "a OR b", "NEAR(bremen",
    "title:flood", "flo*", "\0", "brem\0en", "'; DROP TABLE documents; --", "!bremen", "bremen & flood", "<->", "\\",
    "bremen:*", "x" * 5000, "^flood", "+bremen -flood",
]  # fmt: skip


@pytest.fixture(scope="module")
def both(postgres, tmp_path_factory):
    urls = (str(tmp_path_factory.mktemp("search") / "a.db"), postgres.new_schema())
    stores = [Store(url) for url in urls]
    for store in stores:
        store.write_step(step(0, verdicts=tuple(document(n, *texts) for n, texts in enumerate(TEXTS))))
    yield stores
    for store in stores:
        store.close()


@pytest.mark.parametrize("query", QUERIES)
def test_both_databases_find_the_same_documents(both, query):
    found = [{v.document.id for v in store.search(query)} for store in both]
    assert found[0] == found[1]


def test_what_is_found_is_right(both):
    for store in both:
        assert {v.document.id for v in store.search("Bremen")} == {"d0", "d1", "d2", "d6"}
        assert {v.document.id for v in store.search("e-mail")} == {"d1", "d2"}
        assert store.search("bremen flood")[0].document.id == "d6"  # has it twice, and is the shortest
        assert len(store.search("bremen", limit=2)) == 2
        assert store.search("bremen", story="s9") == () and len(store.search("bremen", story="s1")) == 4


def test_huge_texts_are_searched(store_of_each):
    words = " ".join(f"word{i}" for i in range(60_000))
    long_word = "y" * 100_000
    store_of_each.write_step(
        step(0, verdicts=(document(0, "t", words), document(1, "t", long_word + " end " + "z " * 300)))
    )
    assert [v.document.id for v in store_of_each.search("word7")] == ["d0"]
    assert [v.document.id for v in store_of_each.search("end z")] == ["d1"]


@pytest.fixture
def store_of_each(new_store):
    with Store(new_store()) as opened:
        yield opened


def test_a_store_of_the_time_of_the_trigger_has_every_word_once(tmp_path, monkeypatch):
    path = str(tmp_path / "old.db")
    monkeypatch.setattr(schema, "VERSION", 2)
    with Store(path) as old, old._writing() as connection:
        connection.exec_driver_sql("INSERT INTO steps (step, counts) VALUES (0, '{}')")
        columns = "n, id, step, title, text, extra"
        connection.exec_driver_sql(f"INSERT INTO documents ({columns}) VALUES (1, 'd1', 0, NULL, 'flood', '{{}}')")
        connection.exec_driver_sql(
            "INSERT INTO verdicts (n, novelty, is_novel, kind, sentence, evidence) "
            "VALUES (1, 0.5, 0, 'event', '', '{\"terms\": [], \"nearest\": []}')"
        )
    monkeypatch.undo()
    with Store(path) as now:
        now.write_step(step(1, verdicts=(document(2, "Bremen", "flood"), document(3, None, "fire"))))
        now.write_step(step(2))
        assert {one.document.id for one in now.search("flood", 10)} == {"d1", "d2"}
        assert {finding.check: finding.problem for finding in check_store(now)}["search"] is None
        now.claim()
        with now._writing() as connection:  # every word of every document, and no other
            connection.exec_driver_sql("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
        assert parts_merged(now) == {"automerge": 0, "usermerge": 16, "crisismerge": 64}


def parts_merged(store):
    with store._reading() as connection:
        found = dict(connection.exec_driver_sql("SELECT k, v FROM search_config").fetchall())
    return {name: found[name] for name in ("automerge", "usermerge", "crisismerge")}


def test_the_index_of_many_small_steps_has_every_word(tmp_path):
    """One part for each document, merged now and then."""
    with Store(str(tmp_path / "slow.db")) as store:
        assert parts_merged(store) == {"automerge": 0, "usermerge": 16, "crisismerge": 64}
        parts = []
        for n in range(150):
            store.write_step(step(n, verdicts=(document(n, f"title{n % 7}", f"word{n} common"),)))
            with store._reading() as connection:
                parts.append(connection.exec_driver_sql("SELECT count(DISTINCT segid) FROM search_idx").scalar())
        assert max(parts) < 30  # fewer than sixteen of a size, with those that are being merged
        assert [one.document.id for one in store.search("word77", 10)] == ["d77"]
        assert len(store.search("common", 1000)) == 150 and len(store.search("title3", 1000)) == 21
        store.claim()
        with store._writing() as connection:
            connection.exec_driver_sql("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
