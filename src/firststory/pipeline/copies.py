"""A copy of the model, packed and compressed piece by piece: there may be no room for all of it twice.

It is that of the first half of a step, and behind it that of the second, which may be in a process of its own.
Compressing takes a tenth of the time that gathering takes; to leave it to the thread that writes, all of the model
would have to wait in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firststory.pipeline.step import StreamCore

if TYPE_CHECKING:  # without a store none of its libraries need be loaded
    from firststory.store.states import Compressed


def copy_of_judging(core: StreamCore) -> Compressed:
    """Of the model what judges documents."""
    from firststory.store.states import compressed

    return compressed(*core.pieces_of_judging())


def copy_of_placing(core: StreamCore) -> Compressed:
    """Of the model what places them."""
    from firststory.store.states import compressed

    return compressed(*core.pieces_of_placing())


def whole_copy(judging: Compressed, placing: Compressed) -> Compressed:
    """Both halves, ready for the store."""
    from firststory.store.states import Compressed

    return Compressed(judging.pieces + placing.pieces)
