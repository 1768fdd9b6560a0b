"""Images of bars: the toy on which factorisations are judged, because every true factor is known."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats

SIDE = 12


def make_bars(*, crossing: bool = False, side: int = SIDE) -> Floats:
    """Six bars, one per row, as flat `side x side` images: apart from one another, or crossing.

    Examples
    --------
    >>> apart = make_bars()
    >>> apart.shape, float((apart @ apart.T)[0, 3])
    ((6, 144), 0.0)
    """
    if crossing:
        horizontal = [(slice(row, row + 1), slice(None)) for row in (2, 5, 8)]
        vertical = [(slice(None), slice(column, column + 1)) for column in (3, 6, 9)]
    else:
        horizontal = [(slice(row, row + 1), slice(None)) for row in (0, 2, 4)]
        vertical = [(slice(side // 2, None), slice(column, column + 1)) for column in (1, 6, 10)]
    return _draw(horizontal + vertical, side)


def make_moving_bars(step: int, *, side: int = SIDE) -> Floats:
    """Six bars at one step, one per row: the first moves right, the second up, one pixel per step; four stand still.

    The bars are four pixels long, so that they reach the edge after `side - 4` steps and stay there.

    Examples
    --------
    >>> [int(make_moving_bars(step)[1].reshape(12, 12).argmax() // 12) for step in (0, 1, 7, 8)]  # its upper end
    [8, 7, 1, 0]
    """
    right, up = min(step, side - 4), max(side - 4 - step, 0)
    moving = [(slice(1, 2), slice(right, right + 4)), (slice(up, up + 4), slice(1, 2))]
    still = [(slice(row, row + 1), slice(3, None)) for row in (4, 9)]
    still += [(slice(5, 9), slice(column, column + 1)) for column in (5, 10)]
    return _draw(moving + still, side)


def mix_bars(factors: Floats, n: int, lowest: float, rng: np.random.Generator, noise: float = 0.01) -> Floats:
    """`n` images: combinations of all factors with coefficients uniform on [lowest, 1], and a little noise.

    With `lowest` above 0 no image is nearly pure, which is what makes plain NMF fail.
    """
    coefficients = rng.uniform(lowest, 1.0, (n, factors.shape[0]))
    return np.asarray(coefficients @ factors + noise * rng.random((n, factors.shape[1])))


def _draw(bars: list[tuple[slice, slice]], side: int) -> Floats:
    images = np.zeros((len(bars), side, side))
    for image, place in zip(images, bars, strict=True):
        image[place] = 1.0
    return images.reshape(len(bars), -1)
