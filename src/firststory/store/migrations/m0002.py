"""Version 2: the inbox of pushed documents; tokens and sessions of those who use the service; what a step changed."""

from __future__ import annotations

from sqlalchemy import Connection, text

TABLES = """
CREATE TABLE inbox (n BIGINT PRIMARY KEY, document TEXT NOT NULL, received BIGINT NOT NULL);
CREATE TABLE tokens (
    id VARCHAR PRIMARY KEY, name TEXT NOT NULL, hash VARCHAR NOT NULL, scopes VARCHAR NOT NULL,
    created BIGINT NOT NULL, used BIGINT, revoked BIGINT);
CREATE TABLE sessions (
    hash VARCHAR PRIMARY KEY, token VARCHAR NOT NULL REFERENCES tokens (id), created BIGINT NOT NULL,
    expires BIGINT NOT NULL);
CREATE INDEX ix_stories_step ON stories (step);
CREATE INDEX ix_alerts_step ON alerts (step);
"""

WORDS = {
    "sqlite": {"n BIGINT PRIMARY KEY": "n INTEGER PRIMARY KEY"},
    "postgresql": {"VARCHAR": 'VARCHAR COLLATE "C"', " TEXT": ' TEXT COLLATE "C"'},
}


def upgrade(connection: Connection) -> None:
    """Create the tables and indexes."""
    script = TABLES
    for ours, theirs in WORDS[connection.dialect.name].items():
        script = script.replace(ours, theirs)
    for statement in script.split(";"):
        if statement.strip():
            connection.execute(text(statement))
