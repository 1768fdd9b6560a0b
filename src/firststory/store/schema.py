"""The tables of the store as they are now; `migrations/` says how they came about.

Times are whole microseconds since 1970 in UTC, so that they come back exactly. JSON columns are text with sorted keys:
two runs over the same stream write the same bytes.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

VERSION = 4
"""The number of the last migration."""

metadata = MetaData()
# SQLite counts rows by INTEGER PRIMARY KEY only; PostgreSQL wants room for more than two billion.
Number = BigInteger().with_variant(Integer, "sqlite")

meta = Table("meta", metadata, Column("key", String, primary_key=True), Column("value", Text, nullable=False))

steps = Table(
    "steps",
    metadata,
    Column("step", Number, primary_key=True, autoincrement=False),
    Column("counts", Text, nullable=False),
    Column("reached", Number),
    Column("first_time", BigInteger),
    Column("last_time", BigInteger),
)

documents = Table(
    "documents",
    metadata,
    Column("n", Number, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("step", Number, ForeignKey("steps.step"), nullable=False, index=True),
    Column("time", BigInteger),
    Column("title", Text),
    Column("source", Text),
    Column("url", Text),
    Column("text", Text, nullable=False),
    Column("label", Text),
    Column("extra", Text, nullable=False),
    Column("fingerprint", BigInteger, index=True),
    Column("vector", LargeBinary),
    Column("vector_dtype", String),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("n", Number, ForeignKey("documents.n"), primary_key=True, autoincrement=False),
    Column("novelty", Float, nullable=False),
    Column("p_value", Float),
    Column("is_novel", Boolean, nullable=False),
    Column("threshold", Float),
    Column("story", String, index=True),
    Column("duplicate_of", String),
    Column("kind", String, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Index("novel_verdicts", "is_novel", "n"),
)

stories = Table(
    "stories",
    metadata,
    Column("id", String, primary_key=True),
    Column("title", Text, nullable=False),
    Column("first_seen", BigInteger),
    Column("last_seen", BigInteger, index=True),
    Column("size", Number, nullable=False),
    Column("duplicates", Number, nullable=False),
    Column("growth", Float, nullable=False),
    Column("status", String, nullable=False),
    Column("representative", String, nullable=False),
    Column("sources", Text, nullable=False),
    Column("key_terms", Text, nullable=False),
    Column("step", Number, ForeignKey("steps.step"), nullable=False, index=True),
    Column("merged_into", String, index=True),
    Column("reason", Text, nullable=False),
    Column("storyline", String, index=True),
    Column("hours", Text, nullable=False),
)

storylines = Table(
    "storylines",
    metadata,
    Column("id", String, primary_key=True),
    Column("title", Text, nullable=False),
    Column("first_seen", BigInteger),
    Column("last_seen", BigInteger, index=True),
    Column("size", Number, nullable=False),
    Column("n_stories", Number, nullable=False),
    Column("sources", Text, nullable=False),
    Column("key_terms", Text, nullable=False),
    Column("status", String, nullable=False),
    Column("step", Number, ForeignKey("steps.step"), nullable=False),
    Column("merged_into", String),
    Column("reason", Text, nullable=False),
)

alerts = Table(
    "alerts",
    metadata,
    Column("n", Number, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("first_document", String, nullable=False),
    Column("headline_document", String, nullable=False, index=True),
    Column("fired_at", BigInteger, index=True),
    Column("delay", BigInteger),
    Column("documents", Text, nullable=False),
    Column("sources", Text, nullable=False),
    Column("terms", Text, nullable=False),
    Column("story", String, index=True),
    Column("storyline", String),
    Column("score", Float, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("kinds", Text, nullable=False),
    Column("step", Number, ForeignKey("steps.step"), nullable=False, index=True),
    Index("alerts_of_kind", "kind", "n"),
)

topics = Table(
    "topics",
    metadata,
    Column("step", Number, ForeignKey("steps.step"), primary_key=True, autoincrement=False),
    Column("id", String, primary_key=True),
    Column("share", Float, nullable=False),
    Column("born", Number, nullable=False),
    Column("terms", Text, nullable=False),
    Column("trend", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("since", Number),
    Column("share_before", Float),
    Column("before", Number),
)

topic_events = Table(
    "topic_events",
    metadata,
    Column("step", Number, ForeignKey("steps.step"), primary_key=True, autoincrement=False),
    Column("n", Number, primary_key=True, autoincrement=False),
    Column("topic", String, nullable=False, index=True),
    Column("kind", String, nullable=False),
    Column("others", Text, nullable=False),
    Column("weight", Float, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("time", Number),
)

thresholds = Table(
    "thresholds",
    metadata,
    Column("step", Number, ForeignKey("steps.step"), primary_key=True, autoincrement=False),
    Column("threshold", Float),
    Column("needed_p_value", Float),
    Column("reason", Text, nullable=False),
)

positions = Table(
    "positions",
    metadata,
    Column("source", String, primary_key=True),
    Column("at", Text, nullable=False),
    Column("step", Number, ForeignKey("steps.step"), nullable=False),
)

quarantine = Table(
    "quarantine",
    metadata,
    Column("n", Number, primary_key=True),
    Column("step", Number, ForeignKey("steps.step"), nullable=False),
    Column("source", String, nullable=False),
    Column("at", Text, nullable=False),
    Column("reason", String, nullable=False, index=True),
    Column("message", Text, nullable=False),
    Column("excerpt", Text, nullable=False),
)

states = Table(
    "states",
    metadata,
    Column("step", Number, primary_key=True, autoincrement=False),
    Column("state", LargeBinary, nullable=False),
)

feedback = Table(
    "feedback",
    metadata,
    Column("n", Number, primary_key=True),
    Column("document", String, ForeignKey("documents.id"), nullable=False, index=True),
    Column("useful", Boolean),
    Column("time", BigInteger),
    Column("step", Number, nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("sink", String, primary_key=True),
    Column("delivered", String),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("n", Number, primary_key=True),
    Column("sink", String, nullable=False),
    Column("alert", String, nullable=False),
    Column("problem", Text, nullable=False),
)

inbox = Table(
    "inbox",
    metadata,
    Column("n", Number, primary_key=True, autoincrement=False),
    Column("document", Text, nullable=False),
    Column("received", BigInteger, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", Text, nullable=False),
    Column("hash", String, nullable=False),
    Column("scopes", String, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("used", BigInteger),
    Column("revoked", BigInteger),
)

sessions = Table(
    "sessions",
    metadata,
    Column("hash", String, primary_key=True),
    Column("token", String, ForeignKey("tokens.id"), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
)
