"""The store: everything that a step brought goes in as one transaction, and comes out as records again."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, Self

from sqlalchemy import Connection, func, insert, inspect, select, text

from firststory._version import __version__
from firststory.errors import ParameterError, SchemaError, StoreError, StoreLostError
from firststory.records import Position, Step, Verdict
from firststory.store import codec, migrations, schema
from firststory.store.engine import database_of, our_errors, parse_url
from firststory.store.file_lock import taken
from firststory.store.lease import Lease, LeaseRow, lease_row, new_owner, write_lease
from firststory.store.looking_up import PENDING_STEP, BeforeStep, first_with, has_pending_feedback, known_ids
from firststory.store.meta import get_meta, put_meta
from firststory.store.reader import LAST_RUN, Reader
from firststory.store.row_writing import unescape_name
from firststory.store.states import Compressed, put_state, unpack
from firststory.store.step_to_write import About, StepToWrite, Threshold
from firststory.store.step_writing import put_steps

WANTED_SETTINGS = "wanted_settings"
"""The key of what `store.setting_changes` keeps."""
SECONDS_OF_LOSSES = 30.0
"""A server may go away again and again for so long while steps are written."""


class Store(Reader):
    """Results and model state in a database: SQLite or PostgreSQL.

    Parameters
    ----------
    url : str or path
        'news.db', 'sqlite:///news.db' or 'postgresql://user@host/database'.
    create : bool
        Make it where there is none; otherwise that is an error that says so.
    read_only : bool
        Only to read: then neither the file nor its folder need be writable.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with Store(str(pathlib.Path(tempfile.mkdtemp()) / "news.db")) as store:
    ...     store.last_step()
    -1
    """

    def __init__(self, url: str | PathLike[str], *, create: bool = True, read_only: bool = False) -> None:
        self.url = parse_url(url)
        self._database = database_of(self.url)
        self._is_closed = False
        self._is_read_only = read_only
        self._lease: Lease | None = None
        self._one_at_a_time = threading.RLock()
        """Two threads may write steps and what comes between them, and there is one connection to write with."""
        if not self._database.holds_store() and (read_only or not create):
            raise StoreError(
                owner="store",
                parameter="URL",
                allowed="a store that exists",
                received=self.name,
                remedy=f"Fill it first: firststory run FILE --store {self.name}",
                message=f"There is no store {self.name}.",
            )
        self._engine = self._database.open_engine(read_only)
        self._read_engine = self._engine
        self._write_engine = self._engine.execution_options(firststory_writes=True)
        if self._engine.dialect.name == "postgresql":
            # What a reader asks in one go is answered by the store of one moment, as in SQLite.
            self._read_engine = self._engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        self._lock = self._database.lock(self._engine)
        try:
            self._migrate()
        except BaseException:
            self._engine.dispose()
            raise

    @property
    def name(self) -> str:
        """The store as messages show it: its file, or its URL without the password."""
        return self._database.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Give everything back; a file is then one whole, and another may write. It can still be read."""
        if self._lease is not None:
            self._lease.give_back()
            self._lease = None
        self._is_closed = True
        self._lock.release()
        self._engine.dispose()

    def size(self) -> int:
        """Bytes that it takes."""
        return self._database.size(self._engine)

    def remove_file(self) -> None:
        """Close it, and remove it where it is a file: a copy that was not finished."""
        self.close()
        self._database.remove_file()

    def claim(self) -> None:
        """Become the only writer."""
        self.check_open()
        if self._lease is not None:
            return
        with self._one_at_a_time, our_errors(self._database):
            self._lock.take()
        with self._reading() as connection:
            row = lease_row(connection)
        if row.is_live():
            self._lock.release()
            raise taken(row.owner.rpartition(" ")[0])
        if row.owner:  # whoever had it last may be asleep, and must not write any more
            with self._writing() as connection:
                write_lease(connection, LeaseRow(row.epoch + 1, "", 0.0))

    def lease(self, seconds: float, owner: str | None = None, dead: Collection[str] = ()) -> None:
        """Become the only writer, for as long as the lease is renewed; every step's transaction checks it.

        `claim` locks out every other process until this one ends, however long it hangs. After a lease has run out
        another may take over; then this one can write no more. `dead` are owners that are known to have ended.
        """
        self.check_open()
        with our_errors(self._database):
            self._lock.take()  # for this moment: nobody writes without a lease
        try:
            with self._writing() as connection:
                before = lease_row(connection)
                if before.is_live() and before.owner not in dead:
                    raise taken(before.owner.rpartition(" ")[0])
                row = LeaseRow(before.epoch + 1, owner or new_owner(), time.time() + seconds)
                write_lease(connection, row)
        finally:
            self._lock.release()
        self._lease = Lease(self.name, row, seconds, self._writing_beside)

    def lease_holder(self) -> LeaseRow:
        """Who has, or had last, the lease."""
        with self._reading() as connection:
            return lease_row(connection)

    def check_open(self) -> None:
        """Refuse to write after `close`: another process may be the writer now, and two would mix their steps."""
        if self._is_closed or self._is_read_only:
            word = "closed" if self._is_closed else "open for reading only"
            raise StoreError(
                owner="store",
                parameter="the store",
                allowed="open to be written to",
                received=f"{self.name}, {word}",
                remedy="Open it again: another Monitor or Store goes on where this one stopped.",
                message=f"The store {self.name} is {word}.",
            )

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction that writes, by the connection that has the writer's lock where there is such a thing."""
        self.check_open()
        with self._one_at_a_time:
            held = self._lock.connection
            if held is not None:
                with our_errors(self._database):
                    self._lock.take()  # where the connection was lost, the lock was too
                    connection = self._lock.connection or held
                    with connection.begin():
                        yield connection
                return
            with self._writing_beside() as connection:
                if self._lease is not None:
                    self._lease.check(connection)
                yield connection

    @contextmanager
    def _writing_beside(self) -> Iterator[Connection]:
        """A transaction that writes beside a run."""
        self.check_open()
        with our_errors(self._database), self._write_engine.begin() as connection:
            yield connection

    # -- schema --------------------------------------------------------------------------------------------

    def _migrate(self) -> None:
        with self._reading() as connection:
            version = _version(connection)
        if version == schema.VERSION:
            return
        if version > schema.VERSION:
            raise SchemaError(
                owner="store",
                parameter="the version of the schema",
                allowed=f"at most {schema.VERSION}",
                received=f"{version} in {self.name}",
                remedy="Type: pip install --upgrade firststory",
                message=f"The store {self.name} was written by a newer firststory: its schema has version "
                f"{version}, and this one knows versions up to {schema.VERSION}.",
            )
        if self._is_read_only:
            self._upgrade_for_reading()
            return
        with self._writing_beside() as connection:
            if connection.dialect.name == "postgresql":  # SQLite's transactions wait for one another by themselves
                connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('firststory migration'))"))
            version = _version(connection)  # another process may have been quicker
            migrations.upgrade(connection, version, schema.VERSION)
            put_meta(connection, {"schema": str(schema.VERSION), "written_by": __version__})

    def _upgrade_for_reading(self) -> None:
        """Bring an older store up to date on behalf of a reader, who must be allowed to write it for that once."""
        try:
            Store(self.url, create=False).close()
        except StoreError as error:
            raise SchemaError(
                owner="store",
                parameter="the version of the schema",
                allowed=str(schema.VERSION),
                received=f"an earlier one in {self.name}",
                remedy=f"Let someone who may write it type once: firststory store check --store {self.name}",
                message=f"The store {self.name} was written by an older firststory, and you may not change it.",
            ) from error

    # -- what a step brings --------------------------------------------------------------------------------

    def write_step(
        self,
        step: Step,
        *,
        reached: int | None = None,
        threshold: Threshold | None = None,
        state: bytes | Compressed | None = None,
        applied_feedback: Sequence[int] = (),
        vector_dimensions: int | None = None,
        alerts_status: Mapping[str, Any] | None = None,
    ) -> None:
        """Results, positions, quarantine and (where given) the model's state: all of it, or nothing."""
        about = About(reached, threshold, applied_feedback, vector_dimensions, alerts_status)
        self.write_steps([StepToWrite(step, about, state)])

    def write_steps(self, judged: Sequence[StepToWrite]) -> None:
        """Steps that follow one another, in one transaction: all of them, or nothing.

        The store is the same as if each had been written by itself; together they cost less.
        """
        first, last = judged[0].step.index, judged[-1].step.index
        self._write_once(first, last, lambda connection: put_steps(connection, judged))

    def _write_once(self, first: int, last: int, write: Callable[[Connection], None]) -> None:
        """Write steps in one transaction. Where the server goes away meanwhile, look whether it had them."""
        lost: StoreLostError | None = None
        until = math.inf
        while True:
            try:
                if lost is not None:
                    self.claim()  # waits for the server; another run may have taken over: then it says so
                    found = self.last_step()
                    if found >= last:
                        return
                    if found < first - 1:  # a server that was told to commit lazily, and crashed
                        break
                with self._writing() as connection:
                    write(connection)
                return
            except StoreLostError as error:
                # It may go away once more while they are written again.
                if time.monotonic() > until:
                    raise
                until = min(until, time.monotonic() + SECONDS_OF_LOSSES)
                lost = error
        raise lost

    def write_state(
        self, step: int, state: bytes | Compressed, *, alone: bool = False, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Keep the model as it was after a step that is already recorded, and the copy before it.

        With `alone` no earlier copy is kept, and none is ever replayed from: what came before was made in another way.
        `settings` are those from here on: a replay under them begins with this model, so both are kept or neither.
        """
        with self._writing() as connection:
            put_state(connection, step, state, alone=alone)
            if alone:
                put_meta(connection, {"replayable_from": str(step)})
            if settings is not None:
                put_meta(connection, {"settings": codec.to_json(dict(settings))})

    # -- what a run needs to go on -------------------------------------------------------------------------

    def state_number(self) -> tuple[int, int, str]:
        """Another value whenever anything has changed that readers are shown: steps, feedback, asked-for settings."""
        with self._reading() as connection:
            step = connection.execute(select(func.max(schema.steps.c.step))).scalar()
            marks = connection.execute(select(func.max(schema.feedback.c.n))).scalar()
            asked = get_meta(connection, WANTED_SETTINGS)
        return -1 if step is None else int(step), int(marks or 0), asked or ""

    def is_writable(self) -> bool:
        """Whether this process may write to it; another may be the writer of its steps."""
        try:
            with self._writing_beside() as connection:
                if connection.dialect.name == "postgresql":  # which would say so only when something is written
                    return bool(connection.execute(select(func.has_table_privilege("feedback", "INSERT"))).scalar())
                return True
        except StoreError:
            return False

    def last_step(self) -> int:
        """The index of the last recorded step, -1 before the first."""
        with self._reading() as connection:
            last = connection.execute(select(func.max(schema.steps.c.step))).scalar()
        return -1 if last is None else int(last)

    def last_reached(self) -> int | None:
        """How far the stream had come after the last step, see `Batch.reached`."""
        query = select(schema.steps.c.reached).order_by(schema.steps.c.step.desc()).limit(1)
        with self._reading() as connection:
            return connection.execute(query).scalar()

    def last_state(self) -> tuple[int, bytes] | None:
        """The newest copy of the model and the step after which it was taken."""
        steps = self.saved_steps()
        return (steps[0], self.state(steps[0])) if steps else None

    def saved_steps(self) -> list[int]:
        """The steps after which copies of the model were taken, newest first."""
        with self._reading() as connection:
            return sorted(connection.execute(select(schema.states.c.step)).scalars(), reverse=True)

    def state(self, step: int) -> bytes:
        """The copy of the model that was taken after a step; `StateError` where it is damaged."""
        with self._reading() as connection:
            packed = connection.execute(select(schema.states.c.state).where(schema.states.c.step == step)).scalar_one()
        return unpack(step, packed)

    def replayable_from(self) -> int:
        """The earliest copy of the model that a replay can begin with: the step after which it was taken.

        -1: from nothing at all. Later where texts were pruned, or where settings were changed.
        """
        with self._reading() as connection:
            return int(get_meta(connection, "replayable_from") or -1)

    def recorded(self, after: int) -> Iterator[tuple[int, tuple[Verdict, ...]]]:
        """The steps after `after` with their documents in order, to be replayed."""
        for index in range(after + 1, self.last_step() + 1):
            yield index, self._verdicts(schema.documents.c.step == index)

    def positions(self) -> dict[str, Position]:
        """How far each source was read."""
        with self._reading() as connection:
            rows = connection.execute(select(schema.positions)).all()
        names = {row.source: unescape_name(row.source) for row in rows}
        return {names[row.source]: Position(names[row.source], json.loads(row.at)) for row in rows}

    def known_ids(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids that the store has."""
        with self._reading() as connection:
            return known_ids(connection, ids)

    def before_step(self, ids: Sequence[str]) -> BeforeStep:
        """All that a step with these ids needs to know, in one transaction: to begin one takes longer than to look."""
        with self._reading() as connection:
            known, has_feedback = known_ids(connection, ids), has_pending_feedback(connection)
            wanted = json.loads(get_meta(connection, WANTED_SETTINGS) or "{}")
        return BeforeStep(known, self.feedback(step=PENDING_STEP) if has_feedback else (), dict(wanted))

    def first_with(self, fingerprints: Sequence[int], before: int) -> dict[int, str]:
        """Of the texts known by these numbers: the id of the first document that had each in a step before this one.

        Within a step the first by its time may stand later; what is a copy itself knows which it was.
        """
        with self._reading() as connection:
            return first_with(connection, fingerprints, before)

    def vector_dimensions(self) -> int | None:
        """How many numbers the vectors of the documents have; None before the first."""
        with self._reading() as connection:
            found = get_meta(connection, "vector_dimensions")
        return None if found is None else int(found)

    def settings(self) -> dict[str, Any]:
        """The settings that the results depend on, as the first run wrote them; empty before it."""
        with self._reading() as connection:
            return dict(json.loads(get_meta(connection, "settings") or "{}"))

    def keep_settings(self, settings: Mapping[str, Any]) -> None:
        with self._writing() as connection:
            put_meta(connection, {"settings": codec.to_json(dict(settings))})

    def keep_last_run(self, told: Mapping[str, Any]) -> None:
        """How the run that writes is doing, for `status`; no result depends on it."""
        with self._writing() as connection:
            put_meta(connection, {LAST_RUN: codec.to_json(dict(told))})

    # -- what people say -----------------------------------------------------------------------------------

    def add_feedback(self, document: str, useful: bool | None, time: int | None = None) -> None:
        """Someone found a verdict useful, or not; None takes it back. Nothing is ever overwritten."""
        if useful is not None and not isinstance(useful, bool):
            raise ParameterError(
                owner="feedback",
                parameter="useful",
                allowed="True, False or None",
                received=useful,
                remedy="Pass True where the alert was worth your time; None takes the last word back.",
            )
        if not self.known_ids([document]):
            raise StoreError(
                owner="feedback",
                parameter="the document",
                allowed="one that the store has",
                received=document,
                remedy="The ids of a story's documents are in the output of: firststory story STORY --json",
                message=f"The store has no document {document}.",
            )
        with self._writing_beside() as connection:
            row = {"document": document, "useful": useful, "time": time, "step": PENDING_STEP}
            connection.execute(insert(schema.feedback).values(row))

    def pending_feedback(self) -> tuple[dict[str, Any], ...]:
        """What was said since the last step: the next one applies it, and a replay applies it there again."""
        return self.feedback(step=PENDING_STEP)

    def feedback(self, step: int | None = None) -> tuple[dict[str, Any], ...]:
        """All feedback, oldest first; or what one step applied."""
        with self._reading() as connection:
            query = select(schema.feedback).order_by(schema.feedback.c.n)
            if step is not None:
                query = query.where(schema.feedback.c.step == step)
            return tuple(dict(row) for row in connection.execute(query).mappings())


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table("meta"):
        return 0
    return int(get_meta(connection, "schema") or 0)
