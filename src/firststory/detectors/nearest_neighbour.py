"""First story detection by the nearest neighbour: a document is as new as it is unlike every earlier one."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.detectors.base import IndexedColumns, StreamDetector
from firststory.detectors.clock import advance_clock, read_clock
from firststory.kernels.csr import csr_of
from firststory.kernels.neighbours.cosine import CosineIndex
from firststory.kernels.neighbours.layout import Best, Limits
from firststory.parameters import Interval
from firststory.units import UNBOUNDED


class NearestNeighbour(IndexedColumns, StreamDetector):
    """Novelty = 1 - the best (time-decayed) cosine to the past.

    The classic of first story detection, exact: every earlier document of the window is considered, through an
    inverted index. Use it as the yardstick for every other detector, and where a plain, explainable score is wanted.
    `FusedNovelty` builds on it and is more accurate where stories are events. Rows may be weighted in any way
    (TF-IDF is usual); they are brought to unit length inside. Strictly sequential: a row is judged against the
    earlier rows of its own batch too.

    Parameters
    ----------
    window : int or None, default=None
        How many of the latest documents are remembered. None remembers all of them: then memory grows with the
        stream, which the bounded-memory promise of this library does not cover. Set it for streams without end.
    half_life : float or None, default=None
        Seconds after which a similarity counts half. None: age does not matter. Needs `times`.
    max_age : float or None, default=None
        Seconds after which a document is forgotten. None: never. Needs `times`.
    n_neighbours : int, default=3
        How many neighbours are kept as evidence.

    Attributes
    ----------
    neighbours_ : ndarray of shape (n, n_neighbours)
        Of the last batch learnt: the earlier rows that come closest, as ordinals since the start of the stream, best
        first; -1 where there is none.
    similarities_ : ndarray of shape (n, n_neighbours)
        Their plain cosines.

    Notes
    -----
    With `times`, the stream's clock never runs backwards: a late document counts as if it came with the latest time
    seen. Without `times` every age is 0.

    References
    ----------
    J. Allan, V. Lavrenko, H. Jin, "First story detection in TDT is hard", CIKM 2000.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> rows = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [4.0, 2.0, 0.0]])
    >>> detector = fs.NearestNeighbour()
    >>> detector.score_then_learn(rows).round(2)
    array([1., 1., 0.])
    >>> detector.neighbours_[:, 0]
    array([-1, -1,  0])
    """

    sequential: ClassVar[bool] = True
    _state_parts: ClassVar[dict[str, Any]] = {"index_": CosineIndex}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "half_life": [Interval(Real, 0, None, closed="neither"), None],
        "max_age": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbours": [Interval(Integral, 1, None, closed="left")],
    }

    index_: CosineIndex
    neighbours_: NDArray[np.int64]
    similarities_: Floats

    def __init__(
        self,
        window: int | None = None,
        half_life: float | None = None,
        max_age: float | None = None,
        n_neighbours: int = 3,
    ) -> None:
        self.window = window
        self.half_life = half_life
        self.max_age = max_age
        self.n_neighbours = n_neighbours

    def _begin(self, rows: sp.csr_matrix) -> None:
        self.index_ = CosineIndex()
        self.now_ = -math.inf

    def last_neighbours(self) -> tuple[NDArray[np.int64], Floats]:
        """`neighbours_` and `similarities_`, as the pipeline asks for them."""
        return self.neighbours_, self.similarities_

    def _novelty(self, rows: sp.csr_matrix, times: Floats | None) -> Floats:
        best = self._follow(rows, read_clock(times, rows.shape[0], self.now_), learn=False)
        return 1.0 - best.scores[:, 0]

    def _score_then_learn(self, rows: sp.csr_matrix, times: Floats | None, y: Any) -> Floats:
        clock, self.now_ = advance_clock(times, rows.shape[0], self.now_)
        best = self._follow(rows, clock, learn=True)
        self.similarities_, self.neighbours_ = best.cosines, best.ordinals
        return 1.0 - best.scores[:, 0]

    def _follow(self, rows: sp.csr_matrix, clock: Floats, *, learn: bool) -> Best:
        limits = Limits(
            window=UNBOUNDED if self.window is None else int(self.window),
            max_age=math.inf if self.max_age is None else float(self.max_age),
            rate=0.0 if self.half_life is None else math.log(2.0) / self.half_life,
        )
        return self.index_.follow(csr_of(rows), clock, limits, width=rows.shape[1], k=self.n_neighbours, learn=learn)
