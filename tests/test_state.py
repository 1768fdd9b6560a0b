"""Saved state: exact, checked, and never executed."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save as save_tensors

import firststory as fs
from firststory.errors import StateError, StateVersionError
from firststory.pipeline.resuming import _set_state
from firststory.pipeline.runner import Runner
from firststory.records import Document, Position
from firststory.settings import load
from firststory.state import FORMAT, LONG, _checksum, _safetensors, pack_state, state_pieces, unpack_state
from firststory.text import StreamVectorizer

SECONDS = float(os.environ.get("FIRSTSTORY_FUZZ_SECONDS", "4"))
"""Of each fuzz; `make fuzz` sets it."""

MARK = Path(tempfile.gettempdir()) / f"firststory-executed-{os.getpid()}"
TEXTS = ["Flood closes Bremen bridge", "Bremen bridge closed by flood", "Mayor of Oslo resigns", "Storm over Bremen"]
kinds = st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int32, np.uint8, np.bool_, np.uint64])
arrays = kinds.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), arrays | values, max_size=5))
def test_what_goes_in_comes_out(state):
    blob = pack_state(state)
    assert pack_state(state) == blob
    found = unpack_state(blob)
    assert found.keys() == state.keys()
    for key, value in state.items():
        if isinstance(value, np.ndarray):
            assert found[key].dtype == value.dtype and found[key].shape == value.shape
            assert found[key].tobytes() == value.tobytes()
        else:
            assert found[key] == value


def stream_state():
    runner = Runner(load({"detector": "neighbour", "language": "en", "step": 2, "topics": "none"}))
    list(runner.run((Document(str(n), text), Position("x", {"line": n})) for n, text in enumerate(TEXTS * 5)))
    return runner.core


@pytest.fixture(scope="module")
def saved():
    """Estimators' states, and that of a whole stream."""
    X = np.abs(np.random.default_rng(0).normal(size=(12, 6)))
    made = [fs.NearestNeighbour().fit(X), fs.FusedNovelty().fit(X), fs.IncrementalClustering().fit(X)]
    return [pack_state(one.get_state()) for one in (*made, StreamVectorizer(language="en").fit(TEXTS))]


def test_states_of_earlier_formats_are_read():
    """The first had no checksum; the second kept its JSON in the header, as the first did; the third had no lists."""
    arrays = {"a": np.arange(3)}
    told = json.dumps({"values": {"b": "7 ü"}, "shapes": {"a": [3]}}, sort_keys=True)
    digest = hashlib.blake2b(told.encode(), digest_size=16)
    digest.update(b"|a|<i8|(3,)|" + arrays["a"].tobytes())
    for label in (told, f"2 {digest.hexdigest()} {told}"):
        found = unpack_state(save_tensors(arrays, {"firststory": label}))
        assert found["b"] == "7 ü" and found["a"].tolist() == [0, 1, 2]
    arrays["firststory|json"] = np.frombuffer(told.encode(), np.uint8)
    found = unpack_state(save_tensors(arrays, {"firststory": f"3 {_checksum(arrays)}"}))
    assert found["b"] == "7 ü" and found["a"].tolist() == [0, 1, 2] and len(found) == 2
    with pytest.raises(StateError, match="checksum"):
        unpack_state(save_tensors({"a": np.arange(1, 4)}, {"firststory": label}))


LISTS = [
    st.text() | st.sampled_from(["", "\ud83d", "\ude00", "é", "\U0001f600"]),
    st.none() | st.text(max_size=3),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none() | st.floats(),
]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(LISTS).flatmap(lambda kind: st.lists(kind, min_size=LONG - 1, max_size=2 * LONG)))
def test_long_lists_come_out_as_they_went_in(values):
    """Each value of the same kind, every bit of a float, and letters that are halves of a pair."""
    found = unpack_state(pack_state({"many": values}))["many"]
    assert list(map(repr, found)) == list(map(repr, values))


def test_a_newer_format_is_refused_by_its_number():
    blob = pack_state({"a": 1}).replace(b'"firststory":"%d ' % FORMAT, b'"firststory":"%d ' % (FORMAT + 1))
    with pytest.raises(StateVersionError, match=r"newer firststory.*pip install --upgrade"):
        unpack_state(blob)


class Bomb:
    """Leaves a mark where it is unpickled."""

    def __reduce__(self):
        return os.system, (f"touch {MARK}",)


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\0" * 8,
        b"\xff" * 64,
        pickle.dumps(Bomb()),
        (1 << 62).to_bytes(8, "little") + b"{}",
        (200_000).to_bytes(8, "little") + b"[" * 200_000,
        b"\x02\0\0\0\0\0\0\0{}",
    ],
    ids=["empty", "zeros", "ones", "pickle", "huge", "deep", "no header"],
)
def test_what_is_no_state_is_refused_and_nothing_is_executed(blob, tmp_path):
    path = tmp_path / "state"
    path.write_bytes(blob)
    with pytest.raises(StateError, match="damaged, or is none"):
        fs.load_state(path)
    assert not MARK.exists()


@pytest.mark.parametrize(
    "name", ["Monitor", "save_state", "os.system", "__class__", "Document", None, 3, ["NearestNeighbour"]]
)
def test_only_estimators_come_out_of_a_file(name, tmp_path):
    path = tmp_path / "state"
    path.write_bytes(pack_state({"class": name}))
    with pytest.raises(StateError):
        fs.load_state(path)


def test_every_cut_is_noticed(saved):
    blob = saved[0]
    for length in {*range(0, len(blob), 7), len(blob) - 1}:
        with pytest.raises(StateError):
            unpack_state(blob[:length])


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def harm(blob, dice):
    """Flip a bit, change, add or remove a byte; often in the header."""
    at = dice.choice((dice.randrange(len(blob)), dice.randrange(min(len(blob), 400))))
    how = dice.randrange(4)
    if how == 0:
        blob[at] ^= 1 << dice.randrange(8)
    elif how == 1:
        blob[at] = dice.randrange(256)
    elif how == 2:
        blob.insert(at, dice.randrange(256))
    else:
        del blob[at]


def test_fuzz_of_bytes(saved):
    """A flipped, lost or added byte is noticed, or it changes nothing (a space of the header)."""
    seed = random.randrange(2**32)
    dice, give_up = random.Random(seed), time.monotonic() + SECONDS
    originals = [unpack_state(blob) for blob in saved]
    while time.monotonic() < give_up:
        which = dice.randrange(len(saved))
        blob = bytearray(saved[which])
        for _ in range(dice.choice((1, 1, 1, 2, 8))):
            harm(blob, dice)
        try:
            found = unpack_state(bytes(blob))
        except StateError:
            continue
        assert same(found, originals[which]), f"seed {seed}"


def changed(state, dice):
    """The state with one thing that does not belong: what a checksum cannot notice, since it is made anew."""
    state = dict(state)
    key = dice.choice(sorted(state))
    other = dice.choice(
        [None, -1, 2**70, 1e308, "x", [], {}, [[[]]], True, np.zeros(0), np.full(3, np.nan), np.arange(5)]
    )
    how = dice.randrange(4)
    if how == 0:
        del state[key]
    else:
        state[[key, key + "/more", dice.choice(["class", "params", "version"])][how - 1]] = other
    return state


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fuzz_of_values(saved, tmp_path):
    """A state that someone made by hand is loaded or refused in one sentence; nothing else comes out of it."""
    seed = random.randrange(2**32)
    dice, give_up = random.Random(seed), time.monotonic() + SECONDS
    states = [unpack_state(blob) for blob in saved]
    path = tmp_path / "state"
    refused = 0
    while time.monotonic() < give_up:
        path.write_bytes(pack_state(changed(dice.choice(states), dice)))
        try:
            fs.load_state(path)
        except StateError:
            refused += 1
        except Exception as error:
            pytest.fail(f"seed {seed}: {error!r}")
    assert refused


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fuzz_of_a_stream():
    """The same for the model of a whole stream."""
    seed = random.randrange(2**32)
    dice, core = random.Random(seed), stream_state()
    state = unpack_state(pack_state(core.get_state()))
    refused, give_up = 0, time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        try:
            _set_state(core, pack_state(changed(state, dice)), 0)
        except StateError:
            refused += 1
        except Exception as error:
            pytest.fail(f"seed {seed}: {error!r}")
    assert refused


def test_what_is_packed_is_what_safetensors_would_make():
    kinds = (
        "bool", "uint8", "int8", "int16", "uint16", "float16",
        "int32", "uint32", "float32", "float64", "int64", "uint64",
    )  # fmt: skip
    dice = np.random.default_rng(5)
    for _ in range(20):
        arrays = {
            f"{name}/{kind}": dice.integers(0, 2, dice.integers(0, 4, dice.integers(0, 4))).astype(kind)
            for kind in dice.permutation(kinds)
            for name in ("b", "a", "ü")
        }
        label = '3 "quoted" \\ back\n\x01 Größe'
        whole = save_tensors(arrays, {"firststory": label})
        length, pieces = _safetensors(arrays, label)
        assert b"".join(pieces) == whole and length == len(whole)


def test_a_state_in_pieces_is_the_same_state_and_leaves_nothing_behind():
    model = fs.FusedNovelty().fit(np.eye(3))
    state = model.get_state()
    length, pieces = state_pieces(state)
    assert not state
    blob = b"".join(pieces)
    assert len(blob) == length and blob == pack_state(model.get_state())
