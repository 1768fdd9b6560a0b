"""JSON columns: what was written is what is read, and what Python's own encoder would have written."""

from __future__ import annotations

import json
import math
from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firststory.records import Document
from firststory.store.codec import document_columns, document_from_row, to_json


class Pair(NamedTuple):
    one: str
    other: float


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def by_python(value):
    """With the halves of surrogate pairs replaced, as databases want it."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


@given(values)
def test_any_value_is_read_as_python_would_have_written_it(value):
    assert json.loads(to_json(value)) == by_python(value)


@pytest.mark.parametrize(
    "value",
    [
        {"pair": Pair("a", 0.5), "pairs": [Pair("b", 1e-7)]},
        {"z": 1, "a": np.float64(0.1), "n": np.int64(3), "f": np.float32(0.5)},
        {2: "two", 1: "one"},
        Counter({"b": 2, "a": 1}),
        {"when": datetime(2026, 3, 1, 12, tzinfo=UTC)},
        {"large": 1 << 70, "half": "caf\udce9"},
    ],
    ids=["named tuples", "numpy", "numbers as keys", "counter", "time", "beyond 64 bits"],
)
def test_what_json_does_not_know_by_itself(value):
    plain = {**value}
    for key, one in plain.items():
        plain[key] = one.item() if isinstance(one, np.generic) else one
    found = to_json(value)
    assert json.loads(found) == by_python(plain)
    assert found == to_json(value) and list(json.loads(found)) == sorted(json.loads(found))


def test_numbers_that_are_none_are_null_except_in_what_a_document_brought():
    assert to_json([math.nan, math.inf]) == "[null,null]"
    brought = Document("a", "text", label=math.inf, extra={"reading": -math.inf, "name": "caf\udce9"})
    columns = document_columns([brought, Document("b", "text")])
    found = document_from_row({name: values[0] for name, values in columns.items()})
    assert found.label == math.inf and dict(found.extra) == {"reading": -math.inf, "name": "caf\ufffd"}
    assert columns["extra"][1] == "{}"
