"""Version 2: what happened to topics."""

from __future__ import annotations

from sqlalchemy import Connection, text

TABLE = """
CREATE TABLE topic_events (
    step BIGINT NOT NULL REFERENCES steps (step), n BIGINT NOT NULL, topic VARCHAR NOT NULL, kind VARCHAR NOT NULL,
    others TEXT NOT NULL, weight DOUBLE PRECISION NOT NULL, evidence TEXT NOT NULL, PRIMARY KEY (step, n))
"""


def upgrade(connection: Connection) -> None:
    """Add the table."""
    connection.execute(text(TABLE))
    connection.execute(text("CREATE INDEX ix_topic_events_topic ON topic_events (topic)"))
