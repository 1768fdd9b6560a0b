"""Version 1: documents, verdicts, stories, storylines, alerts, topics, positions, quarantine, model state, feedback."""

from __future__ import annotations

from sqlalchemy import Connection, text

from firststory.store import search

TABLES = """
CREATE TABLE meta (key VARCHAR PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE steps (
    step BIGINT PRIMARY KEY, counts TEXT NOT NULL, reached BIGINT, first_time BIGINT, last_time BIGINT);
CREATE TABLE documents (
    n SERIAL, id VARCHAR NOT NULL UNIQUE, step BIGINT NOT NULL REFERENCES steps (step),
    time BIGINT, title TEXT, source TEXT, url TEXT, text TEXT NOT NULL, label TEXT, extra TEXT NOT NULL,
    fingerprint BIGINT, vector BLOB, vector_dtype VARCHAR);
CREATE INDEX ix_documents_step ON documents (step);
CREATE INDEX ix_documents_fingerprint ON documents (fingerprint);
CREATE TABLE verdicts (
    n BIGINT PRIMARY KEY REFERENCES documents (n), novelty DOUBLE PRECISION NOT NULL, p_value DOUBLE PRECISION,
    is_novel BOOLEAN NOT NULL, threshold DOUBLE PRECISION, story VARCHAR, duplicate_of VARCHAR,
    kind VARCHAR NOT NULL, sentence TEXT NOT NULL, evidence TEXT NOT NULL);
CREATE INDEX novel_verdicts ON verdicts (is_novel, n);
CREATE INDEX ix_verdicts_story ON verdicts (story);
CREATE TABLE stories (
    id VARCHAR PRIMARY KEY, title TEXT NOT NULL, first_seen BIGINT, last_seen BIGINT, size BIGINT NOT NULL,
    duplicates BIGINT NOT NULL, growth DOUBLE PRECISION NOT NULL, status VARCHAR NOT NULL,
    representative VARCHAR NOT NULL, sources TEXT NOT NULL, key_terms TEXT NOT NULL,
    step BIGINT NOT NULL REFERENCES steps (step), merged_into VARCHAR, reason TEXT NOT NULL, storyline VARCHAR,
    hours TEXT NOT NULL);
CREATE INDEX ix_stories_last_seen ON stories (last_seen);
CREATE INDEX ix_stories_merged_into ON stories (merged_into);
CREATE INDEX ix_stories_storyline ON stories (storyline);
CREATE TABLE storylines (
    id VARCHAR PRIMARY KEY, title TEXT NOT NULL, first_seen BIGINT, last_seen BIGINT, size BIGINT NOT NULL,
    n_stories BIGINT NOT NULL, sources TEXT NOT NULL, key_terms TEXT NOT NULL, status VARCHAR NOT NULL,
    step BIGINT NOT NULL REFERENCES steps (step), merged_into VARCHAR, reason TEXT NOT NULL);
CREATE INDEX ix_storylines_last_seen ON storylines (last_seen);
CREATE TABLE alerts (
    n SERIAL, id VARCHAR NOT NULL UNIQUE, kind VARCHAR NOT NULL, first_document VARCHAR NOT NULL,
    headline_document VARCHAR NOT NULL, fired_at BIGINT, delay BIGINT, documents TEXT NOT NULL, sources TEXT NOT NULL,
    terms TEXT NOT NULL, story VARCHAR, storyline VARCHAR, score DOUBLE PRECISION NOT NULL, sentence TEXT NOT NULL,
    summary TEXT NOT NULL, kinds TEXT NOT NULL, step BIGINT NOT NULL REFERENCES steps (step));
CREATE INDEX alerts_of_kind ON alerts (kind, n);
CREATE INDEX ix_alerts_fired_at ON alerts (fired_at);
CREATE INDEX ix_alerts_headline_document ON alerts (headline_document);
CREATE INDEX ix_alerts_story ON alerts (story);
CREATE TABLE topics (
    step BIGINT NOT NULL REFERENCES steps (step), id VARCHAR NOT NULL, share DOUBLE PRECISION NOT NULL,
    born BIGINT NOT NULL, terms TEXT NOT NULL, trend TEXT NOT NULL, label TEXT NOT NULL, since BIGINT,
    share_before DOUBLE PRECISION, before BIGINT, PRIMARY KEY (step, id));
CREATE TABLE topic_events (
    step BIGINT NOT NULL REFERENCES steps (step), n BIGINT NOT NULL, topic VARCHAR NOT NULL, kind VARCHAR NOT NULL,
    others TEXT NOT NULL, weight DOUBLE PRECISION NOT NULL, evidence TEXT NOT NULL, time BIGINT, PRIMARY KEY (step, n));
CREATE INDEX ix_topic_events_topic ON topic_events (topic);
CREATE TABLE thresholds (
    step BIGINT PRIMARY KEY REFERENCES steps (step), threshold DOUBLE PRECISION, needed_p_value DOUBLE PRECISION,
    reason TEXT NOT NULL);
CREATE TABLE positions (
    source VARCHAR PRIMARY KEY, at TEXT NOT NULL, step BIGINT NOT NULL REFERENCES steps (step));
CREATE TABLE quarantine (
    n SERIAL, step BIGINT NOT NULL REFERENCES steps (step), source VARCHAR NOT NULL, at TEXT NOT NULL,
    reason VARCHAR NOT NULL, message TEXT NOT NULL, excerpt TEXT NOT NULL);
CREATE INDEX ix_quarantine_reason ON quarantine (reason);
CREATE TABLE states (step BIGINT PRIMARY KEY, state BLOB NOT NULL);
CREATE TABLE feedback (
    n SERIAL, document VARCHAR NOT NULL REFERENCES documents (id), useful BOOLEAN, time BIGINT, step BIGINT NOT NULL);
CREATE INDEX ix_feedback_document ON feedback (document);
CREATE TABLE deliveries (sink VARCHAR PRIMARY KEY, delivered VARCHAR);
CREATE TABLE dead_letters (n SERIAL, sink VARCHAR NOT NULL, alert VARCHAR NOT NULL, problem TEXT NOT NULL);
"""

APPLICATION_ID = 0x66737479
"""`fsty`: whose file it is, in the head of a SQLite file."""

# The few words in which the databases differ.
WORDS = {
    "sqlite": {"n SERIAL": "n INTEGER PRIMARY KEY", "step BIGINT PRIMARY KEY": "step INTEGER PRIMARY KEY"},
    # Texts are compared by their bytes, as in SQLite, whatever the server's language is.
    "postgresql": {
        "n SERIAL": "n BIGSERIAL PRIMARY KEY",
        "BLOB": "BYTEA",
        "VARCHAR": 'VARCHAR COLLATE "C"',
        " TEXT": ' TEXT COLLATE "C"',
    },
}


def upgrade(connection: Connection) -> None:
    """Create every table and index."""
    script = TABLES
    for ours, theirs in WORDS[connection.dialect.name].items():
        script = script.replace(ours, theirs)
    for statement in script.split(";"):
        if statement.strip():
            connection.execute(text(statement))
    if connection.dialect.name == "sqlite":
        connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID}"))
    search.create(connection)
