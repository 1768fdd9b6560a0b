"""Model state on disk: arrays as safetensors, the rest as JSON in its header. Loading never executes anything."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from firststory.errors import StateError

_HEADER = "firststory"


def pack_state(state: dict[str, Any]) -> bytes:
    """One blob for a flat state of arrays and JSON values."""
    arrays = {key: np.ascontiguousarray(value) for key, value in state.items() if isinstance(value, np.ndarray)}
    shapes = {key: list(value.shape) for key, value in arrays.items()}
    values = {key: value for key, value in state.items() if key not in arrays}
    header = json.dumps({"values": values, "shapes": shapes}, sort_keys=True)
    return bytes(save_tensors({key: arrays[key] for key in sorted(arrays)}, {_HEADER: header}))


def unpack_state(blob: bytes) -> dict[str, Any]:
    """Undo `pack_state`."""
    try:
        length = int.from_bytes(blob[:8], "little")
        header = json.loads(json.loads(blob[8 : 8 + length])["__metadata__"][_HEADER])
        arrays = load_tensors(blob)
        state = dict(header["values"])
        state.update({key: arrays[key].reshape(shape) for key, shape in header["shapes"].items()})
        return state
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise StateError(
            owner="load_state",
            parameter="the file",
            allowed="a firststory state (safetensors with our header)",
            received=f"{len(blob)} bytes that are not ({error})",
            remedy="Save it again with fs.save_state(estimator, path).",
        ) from error


def save_state(estimator: Any, path: str | os.PathLike[str]) -> None:
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
    if not (isinstance(kind, type) and hasattr(kind, "set_state")):
        raise StateError(
            owner="load_state",
            parameter="the class in the file",
            allowed="a public firststory estimator",
            received=name,
            remedy="Load it with the firststory version that saved it.",
        )
    return kind().set_state(state)
