"""`firststory prepare`: compile the kernels now, so that the first run need not."""

from __future__ import annotations


def prepare() -> None:
    """Compile what `run` and `score` need, once, where the next processes find it.

    For images of containers and for services: the one who installs may write the package's folder, the one who runs
    often may not. A made-up stream is judged and forgotten.
    """
    from firststory.datasets import make_story_stream
    from firststory.kernels.preparing import is_kept
    from firststory.pipeline.monitor import Monitor

    # Long enough for languages, stories that merge, first reports and tables that grow: each has kernels of its own.
    stream = make_story_stream(3000, 300, background=0.3, duplicates=0.05, sentences=1)
    with Monitor(step=50) as monitor:
        for _ in monitor.watch(stream.documents):
            pass
    if is_kept():
        print("Kernels are compiled and kept.")
    else:
        print("Kernels were compiled, but there is no folder to keep them: set NUMBA_CACHE_DIR to one.")
