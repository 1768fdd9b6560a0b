"""What detectors and topic models share: scikit-learn manners, rows that widen, and state that is safe to load.

A `StreamEstimator` is a scikit-learn estimator whose `partial_fit` learns one timestep and accepts rows *wider* than
before (new terms appended on the right). Every attribute that ends in an underscore is fitted state, and
`get_state` / `set_state` carry exactly those, so that the future after a round trip is bit-identical.
"""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, check_non_negative, validate_data

from firststory.errors import ParameterError, StateError, WidthError
from firststory.parameters import check_parameters
from firststory.state import State, flatten, unflatten


class StreamEstimator(BaseEstimator, ABC):
    """Base of every learner. Subclasses store parameters in `__init__` and set fitted attributes ending in `_`."""

    n_features_in_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _state_version: ClassVar[int] = 1
    _state_parts: ClassVar[dict[str, Any]] = {}
    """Fitted attributes that are objects of ours: name -> class with `get_state()` and `from_state(state)`."""
    _copied_parts: ClassVar[tuple[str, ...]] = ()
    """Those of them that are large, and whose states are copies already."""

    # -- rows ----------------------------------------------------------------------------------------------

    def _rows(self, X: ArrayLike | sp.spmatrix, *, learn: bool) -> sp.csr_matrix:
        """Canonical float64 CSR rows, non-negative, at least as wide as what was learnt.

        Learning rows may widen `n_features_in_`; scoring rows may be wider too, and never change anything.
        """
        name = type(self).__name__
        first = not hasattr(self, "n_features_in_")
        if first and not learn:
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
            validate_data(self, X, reset=first, skip_check_array=True)  # the names of its columns
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
        """Refuse parameters outside `_parameter_constraints`; once for the same values."""
        values = [value for key, value in vars(self).items() if not key.endswith("_") and not key.startswith("_")]
        checked = vars(self).get("_checked", [])
        if len(values) == len(checked) and all(a is b for a, b in zip(values, checked, strict=True)):
            return
        check_parameters(type(self).__name__, self.get_params(deep=False), self._parameter_constraints)
        self._checked = values

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
        parameters = self.get_params(deep=False)
        if not _is_plain(parameters.get("random_state")):
            parameters["random_state"] = None  # a generator that was passed in belongs to the caller
        state: State = {"class": type(self).__name__, "version": self._state_version, "params": parameters}
        for name, value in sorted(vars(self).items()):
            if _is_fitted_name(name):
                state[name] = value.get_state() if name in self._state_parts and value is not None else value
        copied = {name: state.pop(name) for name in self._copied_parts if name in state}
        return flatten(state) | flatten(copied, copy=False)

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
        values = unflatten(state)
        params = values.get("params", {})
        self.set_params(**{key: params[key] for key in self.get_params(deep=False) if key in params})
        self._forget()
        for key, value in values.items():
            if key.endswith("_"):
                part = self._state_parts.get(key)
                setattr(self, key, value if part is None or value is None else part.from_state(value))
        return self

    @classmethod
    def from_state(cls, state: State) -> Self:
        """A new estimator that is what `get_state` described."""
        return cls().set_state(state)


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
