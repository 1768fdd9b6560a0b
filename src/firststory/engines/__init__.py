"""Who computes the independent pieces of a step: this thread, several threads, or a dask cluster."""

from firststory.engines.engine import Engine
from firststory.engines.opening import check_engine, open_engine

__all__ = ["Engine", "check_engine", "open_engine"]
