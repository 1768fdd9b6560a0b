"""Copies of the model in the store: compressed, with a checksum; the last two are kept."""

from __future__ import annotations

import zstandard
from sqlalchemy import Connection, delete, insert, select

from firststory.errors import StateError
from firststory.store import schema
from firststory.store.row_writing import execute

KEPT = 2
"""Where the newest copy is damaged, the one before is there to replay from."""
LARGEST = 16 << 30
"""Bytes of a model: what claims to be larger is no copy of ours."""


def put_state(connection: Connection, step: int, state: bytes, *, alone: bool) -> None:
    """Keep a copy; all but the one before it are dropped, with `alone` that one too."""
    packed = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(state)
    table = schema.states
    steps = sorted(connection.execute(select(table.c.step)).scalars())
    earlier = [one for one in steps if one < step]
    keep = [] if alone else earlier[len(earlier) - (KEPT - 1) :]
    connection.execute(delete(table).where(table.c.step.not_in(keep)))
    connection.execute(insert(table).values(step=step, state=b""))
    fill = "UPDATE states SET state = ? WHERE step = ?"
    execute(connection, fill, (packed, step))
    # SQLite's driver keeps the values that a statement had last: let them not be the model.
    execute(connection, fill, (b"", -1))


def unpack(step: int, packed: bytes) -> bytes:
    """The copy as it was put in, or a clear error."""
    try:
        size = zstandard.get_frame_parameters(packed).content_size
        if size > LARGEST:
            raise ValueError(f"it claims to have {size:,} bytes")
        return zstandard.ZstdDecompressor().decompress(packed)
    except (zstandard.ZstdError, ValueError, MemoryError) as error:
        raise StateError(
            owner="store",
            parameter="the saved model",
            allowed="whole",
            received=f"{len(packed):,} bytes after step {step} that are not ({error})",
            remedy="Restore a backup of the store.",
            message=f"The model that was saved after step {step} is damaged ({error}).",
        ) from error
