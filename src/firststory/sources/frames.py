"""Tables in memory as rows: pandas and polars frames, Arrow tables. None of them need be installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from firststory.sources.absent import is_absent

ROWS = 1000
"""Rows that are turned into Python values at a time."""


def rows_of(given: Any) -> Iterator[Mapping[str, Any]] | None:
    """The rows of a table, without the values that are not there; None where it is no table that we know.

    Told by the module and the name of its type. An index of pandas that is named (`id`, `time`) is a column, too.
    """
    kind = (type(given).__module__.split(".")[0], type(given).__name__)
    readers: dict[tuple[str, str], Callable[[Any], Iterator[Mapping[str, Any]]]] = {
        ("pandas", "DataFrame"): _pandas_rows,
        ("polars", "DataFrame"): lambda frame: frame.iter_rows(named=True),
        ("polars", "LazyFrame"): lambda frame: frame.collect().iter_rows(named=True),
        ("pyarrow", "Table"): _arrow_rows,
        ("pyarrow", "RecordBatch"): lambda batch: iter(batch.to_pylist()),
        ("pyarrow", "RecordBatchReader"): lambda batches: (row for batch in batches for row in batch.to_pylist()),
    }
    read = readers.get(kind)
    return None if read is None else map(_present, read(given))


def row_of(given: Any) -> Any:
    """A row of a frame as a mapping: a pandas Series, a pair of `iterrows`, a tuple of `itertuples`; else as given."""
    if isinstance(given, tuple) and len(given) == 2 and _is_series(given[1]):
        given = given[1]
    if _is_series(given):
        return _present(given.to_dict())
    if isinstance(given, tuple) and hasattr(given, "_asdict"):
        return _present(given._asdict())
    return given


def _is_series(given: Any) -> bool:
    return type(given).__name__ == "Series" and type(given).__module__.split(".")[0] == "pandas"


def _present(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in row.items() if not is_absent(value)}


def _pandas_rows(frame: Any) -> Iterator[Mapping[str, Any]]:
    if any(name is not None and name not in frame.columns for name in frame.index.names):
        frame = frame.reset_index()
    for start in range(0, len(frame), ROWS):
        yield from frame.iloc[start : start + ROWS].to_dict("records")


def _arrow_rows(table: Any) -> Iterator[Mapping[str, Any]]:
    for batch in table.to_batches(max_chunksize=ROWS):
        yield from batch.to_pylist()
