"""Copies of the model in the store: compressed, with a checksum; the last two are kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard
from sqlalchemy import Connection, delete, func, insert, select

from firststory.errors import StateError
from firststory.store import schema

KEPT = 2
"""Where the newest copy is damaged, the one before is there to replay from."""
LARGEST = 16 << 30
"""Bytes of a model: what claims to be larger is no copy of ours."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """A copy as the store keeps it, in pieces: together they would be in memory twice."""

    pieces: tuple[bytes, ...]


def compressed(length: int, pieces: Iterable[Any]) -> Compressed:
    """A copy of so many bytes, which come in pieces and are never together."""
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=True).compressobj(size=length)
    packed = [compressor.compress(piece) for piece in pieces]
    return Compressed((*filter(None, packed), compressor.flush()))


def put_state(connection: Connection, step: int, state: bytes | Compressed, *, alone: bool) -> None:
    """Keep a copy; all but the one before it are dropped, with `alone` that one too."""
    pieces = (state if isinstance(state, Compressed) else compressed(len(state), [state])).pieces
    table = schema.states
    steps = sorted(connection.execute(select(table.c.step)).scalars())
    earlier = [one for one in steps if one < step]
    keep = [] if alone else earlier[len(earlier) - (KEPT - 1) :]
    connection.execute(delete(table).where(table.c.step.not_in(keep)))
    if connection.dialect.name == "sqlite":
        _put_in_pieces(connection, step, pieces)
    else:
        connection.execute(insert(table).values(step=step, state=b"".join(pieces)))


def _put_in_pieces(connection: Connection, step: int, pieces: Sequence[bytes]) -> None:
    """SQLite copies what it is handed, and holds on to it until the same statement comes again."""
    connection.execute(insert(schema.states).values(step=step, state=func.zeroblob(sum(map(len, pieces)))))
    row = connection.exec_driver_sql("SELECT rowid FROM states WHERE step = ?", (step,)).scalar_one()
    driver: Any = connection.connection.driver_connection
    with driver.blobopen("states", "state", row) as blob:
        for piece in pieces:
            blob.write(piece)


def unpack(step: int, packed: bytes) -> bytes:
    """The copy as it was put in, or a clear error."""
    frames, size = list[bytes](), 0
    try:
        while packed or not frames:
            size += zstandard.get_frame_parameters(packed).content_size
            if size > LARGEST:
                raise ValueError(f"it claims to have {size:,} bytes")
            decompressor = zstandard.ZstdDecompressor().decompressobj()
            frames.append(decompressor.decompress(packed))
            if not decompressor.eof:
                raise ValueError("it is cut off")
            packed = decompressor.unused_data
        return frames[0] if len(frames) == 1 else b"".join(frames)
    except (zstandard.ZstdError, ValueError, MemoryError) as error:
        raise StateError(
            owner="store",
            parameter="the saved model",
            allowed="whole",
            received=f"{len(packed):,} bytes after step {step} that are not ({error})",
            remedy="Restore a backup of the store.",
            message=f"The model that was saved after step {step} is damaged ({error}).",
        ) from error
