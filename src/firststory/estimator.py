"""What detectors and topic models share: scikit-learn manners, rows that widen, and state that is safe to load.

A `StreamEstimator` is a scikit-learn estimator whose `partial_fit` learns one timestep and accepts rows *wider* than
before (new terms appended on the right). Every attribute that ends in an underscore is fitted state, and
`get_state` / `set_state` carry exactly those, so that the future after a round trip is bit-identical.
"""

from __future__ import annotations

import numbers
from abc import ABC
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import _check_feature_names, check_array, check_is_fitted, check_non_negative

from firststory.errors import ParameterError, StateError, WidthError

State = dict[str, Any]
"""Flat: the values are numpy arrays or what JSON can hold."""


class StreamEstimator(BaseEstimator, ABC):
    """Base of every learner. Subclasses store parameters in `__init__` and set fitted attributes ending in `_`."""

    n_features_in_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _state_version: ClassVar[int] = 1
    _state_parts: ClassVar[dict[str, Any]] = {}
    """Fitted attributes that are objects of ours: name -> class with `get_state()` and `from_state(state)`."""

    # -- rows ----------------------------------------------------------------------------------------------

    def _rows(self, X: ArrayLike | sp.spmatrix, *, learn: bool) -> sp.csr_matrix:
        """Canonical float64 CSR rows, non-negative, at least as wide as what was learnt.

        Learning rows may widen `n_features_in_`; scoring rows may be wider too, and never change anything.
        """
        name = type(self).__name__
        first = not hasattr(self, "n_features_in_")
        if not first or not learn:
            check_is_fitted(self)
        if _is_good_csr(X):  # what a vectorizer makes: a stream of single rows would spend its time in the checks
            rows: Any = X
        else:
            rows = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X", estimator=self)
            check_non_negative(rows, name)
        width = rows.shape[1]
        if not first and width < self.n_features_in_:
            raise WidthError(name, width, self.n_features_in_)
        if first or (width == self.n_features_in_ and hasattr(X, "columns")):
            _check_feature_names(self, X, reset=first)
        if learn:
            self.n_features_in_ = width
        csr = sp.csr_matrix(rows)
        if not csr.has_canonical_format:
            csr = csr.copy()  # it may share its arrays with the caller's X
            csr.sum_duplicates()
        if csr.nnz and csr.data.min() == 0.0:
            csr = csr.copy()
            csr.eliminate_zeros()
        return csr

    def _check_parameters(self) -> None:
        """scikit-learn's declarative constraints, with the remedy that our errors owe; once for the same values."""
        values = [value for key, value in vars(self).items() if not key.endswith("_") and not key.startswith("_")]
        checked = vars(self).get("_checked", [])
        if len(values) == len(checked) and all(a is b for a, b in zip(values, checked, strict=True)):
            return
        try:
            self._validate_params()
            self._checked = values
        except InvalidParameterError as error:
            parameter = str(error).split("'")[1] if "'" in str(error) else "a parameter"
            allowed = str(error).partition(" must be ")[2].partition(". Got")[0] or "as documented"
            raise ParameterError(
                owner=type(self).__name__,
                parameter=parameter,
                allowed=allowed,
                received=self.get_params(deep=False).get(parameter),
                remedy=f"Pass an allowed value, or leave {parameter} out to get the default.",
            ) from error

    def _forget(self) -> None:
        """Delete everything learnt: the attributes that end in an underscore."""
        for name in [name for name in vars(self) if _is_fitted_name(name)]:
            delattr(self, name)

    def _generator(self) -> np.random.Generator:
        """A fresh generator from `random_state` (int, None, Generator or RandomState)."""
        seed = getattr(self, "random_state", None)
        if isinstance(seed, np.random.Generator):
            return seed
        if isinstance(seed, np.random.RandomState):
            return np.random.default_rng(seed.randint(2**31))
        return np.random.default_rng(seed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """Parameters and everything learnt, as a flat dict of arrays and JSON values."""
        state: State = {"class": type(self).__name__, "version": self._state_version}
        for name, value in sorted(self.get_params(deep=False).items()):
            _put(state, f"params.{name}", None if name == "random_state" and not _is_plain(value) else value)
        for name, value in sorted(vars(self).items()):
            if _is_fitted_name(name):
                part = value.get_state() if name in self._state_parts and value is not None else value
                _put(state, name, part)
        return state

    def set_state(self, state: State) -> Self:
        """Become what `get_state` described. Nothing in `state` is ever executed."""
        name = type(self).__name__
        if state.get("class") != name or state.get("version") != self._state_version:
            raise StateError(
                owner=name,
                parameter="state",
                allowed=f"of class {name}, version {self._state_version}",
                received=f"{state.get('class')}, version {state.get('version')}",
                remedy="Load it with the class and the firststory version that saved it.",
            )
        values = _take(state)
        params = values.pop("params", {})
        self.set_params(**{key: params[key] for key in self.get_params(deep=False) if key in params})
        self._forget()
        for key, value in values.items():
            if key.endswith("_"):
                part = self._state_parts.get(key)
                setattr(self, key, value if part is None or value is None else part.from_state(value))
        return self


def _is_good_csr(X: Any) -> bool:
    """Whether `check_array` would hand X back as it is: float64 CSR with rows, finite and non-negative."""
    return (
        type(X) is sp.csr_matrix
        and X.dtype == np.float64
        and min(X.shape) > 0
        and (X.data.size == 0 or (X.data.min() >= 0.0 and bool(np.isfinite(X.data.max()))))
    )


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _put(state: State, name: str, value: Any) -> None:
    """Flatten one value under a dotted name; a suffix after '|' says how to build it again."""
    if isinstance(value, np.ndarray):
        state[name] = value.copy()
    elif isinstance(value, np.generic):
        state[name] = value.item()
    elif sp.issparse(value):
        csr = value.tocsr()
        for part in ("data", "indices", "indptr"):
            state[f"{name}|csr.{part}"] = getattr(csr, part).copy()
        state[f"{name}|csr.shape"] = list(csr.shape)
    elif isinstance(value, np.random.Generator):
        state[f"{name}|rng"] = _plain_json(value.bit_generator.state)
    elif isinstance(value, dict):
        state[f"{name}|dict"] = sorted(value)
        for key, inner in value.items():
            _put(state, f"{name}.{key}", inner)
    elif isinstance(value, (list, tuple)):
        state[name] = _plain_json(value)
    elif isinstance(value, (set, frozenset)):
        state[name] = sorted(value)
    elif _is_plain(value) or isinstance(value, numbers.Number):
        state[name] = value
    else:
        raise StateError(
            owner="get_state",
            parameter=name,
            allowed="an array, a sparse matrix, a generator or a JSON value",
            received=type(value).__name__,
            remedy="Give the attribute's class get_state() and from_state(), and list it in _state_parts.",
        )


def _plain_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_json(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return {"__array__": value.tolist(), "dtype": str(value.dtype)}
    return value.item() if isinstance(value, np.generic) else value


def _take(state: State) -> dict[str, Any]:
    """Undo `_put` for a whole state."""

    def build(name: str) -> Any:
        if f"{name}|csr.shape" in state:
            arrays = tuple(state[f"{name}|csr.{part}"].copy() for part in ("data", "indices", "indptr"))
            return sp.csr_matrix(arrays, shape=tuple(state[f"{name}|csr.shape"]))
        if f"{name}|rng" in state:
            return _generator_from(state[f"{name}|rng"])
        if f"{name}|dict" in state:
            return {key: build(f"{name}.{key}") for key in state[f"{name}|dict"]}
        value = state[name]
        return value.copy() if isinstance(value, np.ndarray) else value

    roots = {key.partition("|")[0] for key in state} - {"class", "version"}
    params = {root.partition(".")[2] for root in roots if root.startswith("params.")}
    values = {root: build(root) for root in sorted(roots) if "." not in root}
    values["params"] = {name: build(f"params.{name}") for name in sorted(params) if "." not in name}
    return values


def _generator_from(state: dict[str, Any]) -> np.random.Generator:
    known = {"PCG64": np.random.PCG64, "MT19937": np.random.MT19937, "PCG64DXSM": np.random.PCG64DXSM}
    kind = known.get(str(state.get("bit_generator")))
    if kind is None:
        raise StateError(
            owner="set_state",
            parameter="the random generator",
            allowed=f"one of {sorted(known)}",
            received=state.get("bit_generator"),
            remedy="The state is damaged or not from firststory.",
        )
    generator = np.random.Generator(kind())
    generator.bit_generator.state = _arrays_back(state)
    return generator


def _arrays_back(value: Any) -> Any:
    if isinstance(value, dict):
        if "__array__" in value:
            return np.asarray(value["__array__"], dtype=value["dtype"])
        return {key: _arrays_back(inner) for key, inner in value.items()}
    return value


def seconds(times: ArrayLike | None, n: int, owner: str) -> NDArray[np.float64] | None:
    """`times=` of the stream contract as float seconds: numbers, datetime64, or None where there are none."""
    if times is None:
        return None
    array = np.asarray(times)
    if np.issubdtype(array.dtype, np.datetime64):
        array = array.astype("datetime64[us]").astype(np.int64) / 1e6
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (n,) or not np.isfinite(array).all():
        raise ParameterError(
            owner=owner,
            parameter="times",
            allowed=f"{n} finite numbers of seconds or datetime64 values, one per row",
            received=times,
            remedy="Pass one time per row, or leave times out for a stream without a clock.",
        )
    return array
