"""A vector is a direction: any finite numbers are taken, anything else is a bad document with its reason."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firststory.errors import DocumentError
from firststory.records import Document, Quarantined
from firststory.sources.files import read
from firststory.sources.parse import document_from, document_of
from firststory.sources.vectors import MAX_DIMENSIONS, parse_vector

finite = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.lists(finite | st.integers(-(2**70), 2**70), min_size=1, max_size=50)


@given(vectors)
def test_any_finite_numbers_become_their_direction(values):
    found = parse_vector(values)
    exact = np.array(values, dtype=np.float64)
    if not exact.any():
        assert found is None
        return
    exact /= np.abs(exact).max()
    exact /= np.linalg.norm(exact)
    assert found.dtype == np.float16 and not found.flags.writeable
    kept = found.astype(np.float64)
    assert exact @ kept / np.linalg.norm(kept) > 1.0 - 2.0**-20


@given(vectors, vectors)
def test_rounding_moves_a_cosine_by_less_than_a_thousandth(one, other):
    n = min(len(one), len(other))
    kept = [parse_vector(values[:n]) for values in (one, other)]
    if any(vector is None for vector in kept):
        return
    exact = [np.array(values[:n], dtype=np.float64) for values in (one, other)]
    exact = [vector / np.abs(vector).max() for vector in exact]
    a, b = [vector / np.linalg.norm(vector) for vector in exact]
    c, d = [vector.astype(float) / np.linalg.norm(vector.astype(float)) for vector in kept]
    assert abs(a @ b - c @ d) < 1e-3


@given(vectors)
def test_what_was_rounded_once_stays_as_it_is(values):
    once = parse_vector(values)
    if once is not None:
        np.testing.assert_array_equal(parse_vector(once), once)
        again = document_of(Document("a", "x", vector=document_of(Document("a", "x", vector=values)).vector)).vector
        np.testing.assert_array_equal(again, once)


json_values = st.recursive(
    st.none() | st.booleans() | finite | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(json_values)
def test_whatever_json_holds_is_a_vector_or_a_bad_document(value):
    try:
        found = parse_vector(value)
    except DocumentError as error:
        assert error.reason == "bad-vector"
        assert value is not None
    else:
        assert value is None or all(type(number) in (int, float) for number in value)
        assert found is None or len(found) == len(value)


@pytest.mark.parametrize(
    "value",
    [
        [0.1, math.nan], [math.inf], [-math.inf, 1.0], [0.1, None], [0.1, "0.2"], "0.1 0.2", "[0.1]", 0.5, True,
        [True, 0.5], [], {}, [[0.1, 0.2]], [[0.1], 0.2], {"0": 0.1}, [10**400, 0.5], [1j], [0.0] * (MAX_DIMENSIONS + 1),
        b"1234", np.array([np.nan]), np.zeros((2, 2)), np.array(["a"]), np.array([True]),
    ],
)  # fmt: skip
def test_bad_vectors_have_the_reason_bad_vector(value):
    with pytest.raises(DocumentError) as caught:
        document_from({"id": "a", "text": "storm", "vector": value})
    assert caught.value.reason == "bad-vector" and len(str(caught.value)) < 800


@pytest.mark.parametrize("value", [None, [0.0, 0.0], [0, -0.0]])
def test_no_direction_is_no_vector(value):
    assert document_from({"text": "storm", "vector": value}).vector is None


def test_the_vector_is_no_part_of_the_id_nor_of_extra():
    one, other = (document_from({"text": "storm", "vector": vector}) for vector in ([1.0], [-1.0, 2.0]))
    assert one.id == other.id and one.extra == {} and len(other.vector) == 2


def test_json_lines(tmp_path):
    path = tmp_path / "news.jsonl"
    lines = [{"text": "a", "vector": [3, 4]}, {"text": "b"}, {"text": "c", "vector": [1, "x"]}]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"text": "d", "vector": [NaN, 1.0]}\n')
    first, second, *bad = read(str(path))
    np.testing.assert_array_equal(first[0].vector, np.array([0.6, 0.8], dtype=np.float16))
    assert second[0].vector is None
    assert [one.reason for one in bad if isinstance(one, Quarantined)] == ["bad-vector", "bad-vector"]


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.list_(pa.float32()), pa.list_(pa.float32(), 2)])
def test_parquet(tmp_path, kind):
    path = tmp_path / "news.parquet"
    rows = pa.array([[3.0, 4.0], None, [0.0, math.inf]], type=kind)
    parquet.write_table(pa.table({"text": ["a", "b", "c"], "vector": rows}), path)
    first, second, bad = read(str(path))
    np.testing.assert_array_equal(first[0].vector, np.array([0.6, 0.8], dtype=np.float16))
    assert second[0].vector is None and bad.reason == "bad-vector"
