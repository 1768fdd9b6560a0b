"""Saved state: nested dicts of arrays and JSON values, flattened, packed, and loaded without executing anything.

Whatever keeps state has `get_state()` and a class method `from_state(state)`. `flatten` turns nested dicts into one
flat dict with names such as `detector/index_/length`; `unflatten` turns it back. On disk all of it is safetensors:
long lists of texts or of numbers are arrays there, and what is no array is JSON in one of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from firststory.errors import StateError, StateVersionError

State = dict[str, Any]
"""The values are numpy arrays, or what JSON can hold; nested dicts too, until they are flattened."""

FORMAT = 4
"""Of saved states: 2 has a checksum, 3 the JSON values as an array of bytes, 4 long lists as arrays."""
LONG = 32
"""Elements from which on a list of texts, or of numbers, is written as arrays: JSON of many takes ten times as long."""
_HEADER = "firststory"
_JSON = "firststory|json"
_LETTERS, _LENGTHS, _NUMBERS = "|letters", "|lengths", "|numbers"
_SPARSE, _GENERATOR = "|csr", "|generator"
_DTYPES = (
    "bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32", "float64", "int64", "uint64",
)  # fmt: skip
"""In the order of safetensors, which puts the widest first."""
_PLAIN = frozenset({type(None), bool, int, float, str})
_GENERATORS = {"PCG64": np.random.PCG64, "MT19937": np.random.MT19937, "PCG64DXSM": np.random.PCG64DXSM}


class Stateful(Protocol):
    """Anything that can be saved and made again."""

    def get_state(self) -> State:
        """All that its future depends on."""
        ...

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The same again: what it does from here on is bit-identical."""
        ...


def flatten(nested: State, *, copy: bool = True) -> State:
    """One flat dict; the names of what was nested are joined with a slash.

    A dict that holds only JSON values stays one value. Without `copy` the arrays and lists are those of the model
    itself: to be packed before it learns anything more.

    Examples
    --------
    >>> flatten({"seen": 3, "index": {"length": np.zeros(2), "name": "a"}})
    {'seen': 3, 'index/length': array([0., 0.]), 'index/name': 'a'}
    """
    flat: State = {}
    for name, value in nested.items():
        _put(flat, name, value, copy)
    return flat


def unflatten(flat: State) -> State:
    """Undo `flatten`. What is nested already stays as it is.

    Examples
    --------
    >>> unflatten({"seen": 3, "index/name": "a", "index/size": 2})
    {'seen': 3, 'index': {'name': 'a', 'size': 2}}
    """
    nested: State = {}
    for name, value in flat.items():
        *path, leaf = name.split("/")
        inside = nested
        for part in path:
            inside = inside.setdefault(part, {})
        inside[leaf] = value.copy() if isinstance(value, np.ndarray) else value
    return _rebuilt(nested)


def _put(flat: State, name: str, value: Any, copy: bool) -> None:
    if isinstance(value, np.ndarray):
        flat[name] = value.copy() if copy else value
    elif sp.issparse(value):
        rows = value.tocsr()
        for part in ("data", "indices", "indptr"):
            flat[f"{name}{_SPARSE}/{part}"] = getattr(rows, part).copy()
        flat[f"{name}{_SPARSE}/shape"] = list(rows.shape)
    elif isinstance(value, np.random.Generator):
        flat[f"{name}{_GENERATOR}"] = _as_json(value.bit_generator.state, name)
    elif isinstance(value, dict) and not _is_json(value):
        for key, inner in value.items():
            _put(flat, f"{name}/{key}", inner, copy)
    else:
        flat[name] = _as_json(value, name) if copy else value


def _is_json(value: Any) -> bool:
    """Whether a dict can be kept as one JSON value. Lists are taken to be: nothing puts arrays into them."""
    return all(
        isinstance(key, str)
        and (_is_json(inner) if isinstance(inner, dict) else not _needs_arrays(inner))
        for key, inner in value.items()
    )  # fmt: skip


def _needs_arrays(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.random.Generator)) or sp.issparse(value)


def _as_json(value: Any, name: str) -> Any:
    """The value as JSON has it, with no list or dict in common: a model holds millions of them, nearly all plain."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list or kind is tuple:
        if _PLAIN.issuperset(map(type, value)):
            return list(value)
        return [inner if type(inner) in _PLAIN else _as_json(inner, name) for inner in value]
    if isinstance(value, dict):
        return {
            key: inner if type(inner) in _PLAIN else _as_json(inner, f"{name}/{key}") for key, inner in value.items()
        }
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_as_json(inner, name) for inner in value]
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, np.ndarray):
        return {"__array__": value.tolist(), "dtype": str(value.dtype)}
    raise StateError(
        owner="get_state",
        parameter=name,
        allowed="an array, a sparse matrix, a generator or a JSON value",
        received=type(value).__name__,
        remedy="Give the attribute's class get_state() and from_state(), and list it in _state_parts.",
    )


def _rebuilt(nested: State) -> State:
    found: State = {}
    for name, value in nested.items():
        if name.endswith(_SPARSE):
            arrays = (value["data"], value["indices"], value["indptr"])
            found[name.removesuffix(_SPARSE)] = sp.csr_matrix(arrays, shape=tuple(value["shape"]))
        elif name.endswith(_GENERATOR):
            found[name.removesuffix(_GENERATOR)] = _generator_from(value)
        else:
            found[name] = _rebuilt(value) if isinstance(value, dict) and not _is_json(value) else value
    return found


def _generator_from(state: State) -> np.random.Generator:
    kind = _GENERATORS.get(str(state.get("bit_generator")))
    if kind is None:
        raise StateError(
            owner="set_state",
            parameter="the random generator",
            allowed=f"one of {sorted(_GENERATORS)}",
            received=state.get("bit_generator"),
            remedy="The state is damaged or not from firststory.",
        )
    generator = np.random.Generator(kind())
    generator.bit_generator.state = _with_arrays(state)
    return generator


def _with_arrays(value: Any) -> Any:
    if isinstance(value, dict):
        if "__array__" in value:
            return np.asarray(value["__array__"], dtype=value["dtype"])
        return {key: _with_arrays(inner) for key, inner in value.items()}
    return value


def pack_state(state: State) -> bytes:
    """One blob for a flat state of arrays and JSON values, with a checksum over all of it."""
    return b"".join(state_pieces(dict(state))[1])


def state_pieces(state: State) -> tuple[int, Iterator[Any]]:
    """The length of that blob, and its bytes in pieces: a model may fill half of the memory, and twice is too much.

    The dict is emptied; each array goes as soon as it was handed out.
    """
    arrays: dict[str, Any] = {}
    values, shapes, lists = State(), dict[str, list[int]](), list[str]()
    for key in list(state):
        value = state.pop(key)
        if isinstance(value, np.ndarray):
            arrays[key], shapes[key] = np.ascontiguousarray(value), list(value.shape)
        elif columns := _columns_of(value):
            arrays.update({f"{key}{name}": column for name, column in columns.items()})
            lists.append(key)
        else:
            values[key] = value
    told = json.dumps(
        {"values": values, "shapes": shapes, "lists": lists},
        ensure_ascii=False,
        sort_keys=True,
        check_circular=False,
        default=lambda one: _as_json(one, "a value"),
    )
    del values
    # As one more array: in the header every quotation mark would be escaped once more.
    arrays[_JSON] = np.frombuffer(told.encode("utf-8", "surrogatepass"), np.uint8)
    del told
    return _safetensors(arrays, f"{FORMAT} {_checksum(arrays)}")


def _columns_of(value: Any) -> dict[str, Any]:
    """A long list of texts (None among them), of whole numbers or of others as arrays; nothing where it is none."""
    if type(value) is not list or len(value) < LONG:
        return {}
    kinds = set(map(type, value))
    if kinds == {str} or kinds == {str, type(None)}:
        letters = "".join(filter(None, value)).encode("utf-8", "surrogatepass")
        lengths = list(map(len, value)) if len(kinds) == 1 else [-1 if one is None else len(one) for one in value]
        return {_LETTERS: np.frombuffer(letters, np.uint8), _LENGTHS: np.array(lengths, dtype=np.int32)}
    if kinds == {float}:
        return {_NUMBERS: np.array(value, dtype=np.float64)}
    if kinds == {int} and min(value) >= -(1 << 63) and max(value) < 1 << 63:
        return {_NUMBERS: np.array(value, dtype=np.int64)}
    return {}


def _list_from(arrays: dict[str, Any], key: str) -> list[Any]:
    """Undo `_columns_of`."""
    if key + _NUMBERS in arrays:
        numbers: list[Any] = arrays[key + _NUMBERS].tolist()
        return numbers
    letters = bytes(arrays[key + _LETTERS]).decode("utf-8", "surrogatepass")
    lengths = arrays[key + _LENGTHS]
    ends = np.cumsum(np.maximum(lengths, 0), dtype=np.int64).tolist()
    return [None if n < 0 else letters[end - n : end] for n, end in zip(lengths.tolist(), ends, strict=True)]


def _safetensors(arrays: dict[str, Any], label: str) -> tuple[int, Iterator[Any]]:
    """What `safetensors.numpy.save` makes with `label` in its header; that copies everything twice."""
    order = sorted(arrays, key=lambda key: (-_DTYPES.index(arrays[key].dtype.name), key))
    told: dict[str, Any] = {"__metadata__": {_HEADER: label}}
    end = 0
    for key in order:
        begin, end = end, end + arrays[key].nbytes
        name = arrays[key].dtype.name
        short = "BOOL" if name == "bool" else name[0].upper() + name.lstrip("uintfloa")
        told[key] = {"dtype": short, "shape": list(arrays[key].shape), "data_offsets": [begin, end]}
    header = json.dumps(told, ensure_ascii=False, separators=(",", ":"), check_circular=False).encode()
    header += b" " * (-len(header) % 8)

    def pieces() -> Iterator[Any]:
        yield len(header).to_bytes(8, "little")
        yield header
        for key in order:
            yield _bytes_of(arrays.pop(key))

    return 8 + len(header) + end, pieces()


def _bytes_of(array: Any) -> Any:
    """The bytes of an array where they are."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def unpack_state(blob: bytes) -> State:
    """Undo `pack_state`. What is damaged, cut off or of another version is refused; nothing is executed.

    Of several states one behind the other, as the halves of a model are, it is all that they have.
    """
    from safetensors import SafetensorError

    try:
        state, rest = State(), memoryview(blob)
        while len(rest) or len(rest) == len(blob):
            length = int.from_bytes(rest[:8], "little")
            told = json.loads(bytes(rest[8 : 8 + length]))
            end = 8 + length + max(one["data_offsets"][1] for name, one in told.items() if name != "__metadata__")
            state |= _unpacked(bytes(rest[:end]), str(told["__metadata__"][_HEADER]))
            rest = rest[end:]
        return state
    except (
        SafetensorError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
        MemoryError,
    ) as error:  # fmt: skip
        if isinstance(error, StateVersionError):
            raise
        raise StateError(
            owner="load_state",
            parameter="the file",
            allowed="a firststory state (safetensors with our header)",
            received=f"{len(blob)} bytes that are not ({error})",
            remedy="Save it again with fs.save_state(estimator, path).",
            message=f"The saved state of {len(blob):,} bytes is damaged, or is none ({error}).",
        ) from error


def _unpacked(blob: bytes, label: str) -> State:
    """One of them."""
    from safetensors.numpy import load as load_tensors

    version = label.partition(" ")[0]
    if version.isdecimal() and int(version) > FORMAT:
        raise _newer(int(version))
    arrays = load_tensors(blob)
    told = _told_beside(label, arrays) if version in ("3", "4") else _told_in_header(label, arrays)
    header = json.loads(told)
    state = dict(header["values"])
    state.update({key: _list_from(arrays, key) for key in header.get("lists", ())})
    state.update({key: arrays[key].reshape(shape) for key, shape in header["shapes"].items()})
    return state


def _told_beside(label: str, arrays: dict[str, Any]) -> str:
    """The JSON of a state of formats 3 and 4, taken from the arrays."""
    if label.partition(" ")[2] != _checksum(arrays):
        raise ValueError("the checksum is another")
    return bytes(arrays.pop(_JSON)).decode("utf-8", "surrogatepass")


def _told_in_header(label: str, arrays: dict[str, Any]) -> str:
    """The JSON of a state of formats 1 and 2; format 1 has neither a number nor a checksum."""
    if label.startswith("{"):
        return label
    _, checksum, told = label.split(" ", 2)
    digest = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16)
    for key in sorted(arrays):
        digest.update(_described(key, arrays[key]))
        digest.update(_bytes_of(arrays[key]))
    if checksum != digest.hexdigest():
        raise ValueError("the checksum is another")
    return told


def _checksum(arrays: dict[str, Any]) -> str:
    """Of every array with its name, kind and shape."""
    found = 0
    for key in sorted(arrays):
        found = zlib.crc32(_bytes_of(arrays[key]), zlib.crc32(_described(key, arrays[key]), found))
    return f"{found:08x}"


def _described(key: str, array: Any) -> bytes:
    return f"|{key}|{array.dtype.str}|{array.shape}|".encode()


def _newer(version: int) -> StateVersionError:
    return StateVersionError(
        owner="load_state",
        parameter="the format of the state",
        allowed=f"at most {FORMAT}",
        received=version,
        remedy="Type: pip install --upgrade firststory",
        message=f"The state was saved by a newer firststory: its format is {version}, this one knows up to {FORMAT}.",
    )


def save_state(estimator: Stateful, path: str | os.PathLike[str]) -> None:
    """Write an estimator's whole state to a file, atomically.

    Examples
    --------
    >>> import firststory as fs, tempfile, pathlib
    >>> model = fs.NearestNeighbour().fit([[1.0, 0.0], [0.0, 1.0]])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> fs.save_state(model, path)
    >>> bool(fs.load_state(path).novelty([[1.0, 0.0]])[0] < 1e-9)
    True
    """
    target = Path(path)
    scratch = target.with_name(target.name + ".partial")
    scratch.write_bytes(pack_state(estimator.get_state()))
    scratch.replace(target)


def load_state(path: str | os.PathLike[str]) -> Any:
    """The estimator that `save_state` wrote: only firststory's own public classes can come out of a file."""
    import firststory

    state = unpack_state(Path(path).read_bytes())
    name = state.get("class")
    # Estimators are public names of the package, the vectorizer one of its text module.
    homes = [home for home in (firststory, firststory.text) if isinstance(name, str) and name in home.__all__]
    kind = getattr(homes[0], str(name), None) if homes else None
    if not (isinstance(kind, type) and hasattr(kind, "from_state")):
        raise StateError(
            owner="load_state",
            parameter="the class in the file",
            allowed="a public firststory estimator",
            received=name,
            remedy="Load it with the firststory version that saved it.",
        )
    try:
        return kind.from_state(state)
    except StateError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError) as error:
        raise StateError(
            owner="load_state",
            parameter="the file",
            allowed=f"the state of a {name} of this version",
            received=f"something else ({error!r})",
            remedy="Load it with the firststory version that saved it.",
        ) from error
