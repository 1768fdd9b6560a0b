"""Exact l1 sparse coding on an NVIDIA GPU, equal to `code_exactly` up to the last bits of a sum.

Some thousands of documents at once are coded several times as fast as on two processor cores, copies to and from the
GPU included, and the more so the more atoms there are (`firststory bench gpu`). What the GPU leaves in doubt, or has
no room for, is coded by `code_exactly`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import scipy.sparse as sp

from firststory.errors import FirststoryError, MissingExtraError
from firststory.kernels.l1.column_generation import DRIFT
from firststory.solvers.l1_coding import MAX_PIVOTS, TOLERANCE, L1Coding, TermMajor, code_exactly, csr

WARPS_PER_PROCESSOR = 8
MOST_SURVIVORS = 1024
"""Documents are given room for this many surviving atoms; the others go to the processor."""

SHARE_OF_MEMORY = 0.5
"""Of the GPU's free memory, for scratch."""

WHOLE_BITS = 60
"""Shares of an atom are summed as multiples of its largest mass divided by 2 to this power: no order of adding them
changes the sum."""


@dataclass(frozen=True)
class GpuAtoms:
    """A dictionary in the GPU's memory, term by term; `host` is the same in the processor's."""

    host: TermMajor
    ptr: Any
    holders: Any
    values: Any
    whole_values: Any
    mass: Any
    scale: float

    @classmethod
    def of(cls, atoms: sp.csr_matrix | TermMajor) -> GpuAtoms:
        """Copy a dictionary to the GPU."""
        cupy = gpu()
        host = atoms if isinstance(atoms, TermMajor) else TermMajor.of(atoms)
        largest = float(host.mass.max(initial=0.0)) or 1.0
        scale = float(2.0 ** (WHOLE_BITS - np.frexp(largest)[1]))
        by = host.by_term
        whole = np.rint(by.data * scale).astype(np.uint64)
        return cls(
            host,
            cupy.asarray(by.indptr.astype(np.int32)),
            cupy.asarray(by.indices.astype(np.int32)),
            cupy.asarray(by.data),
            cupy.asarray(whole),
            cupy.asarray(host.mass),
            scale,
        )


@cache
def gpu() -> Any:
    """CuPy, with a GPU that it can use."""
    try:
        import cupy
    except ImportError as error:
        raise MissingExtraError("GPU", "cupy", "gpu") from error
    try:
        found = cupy.cuda.runtime.getDeviceCount()
        problem = "none"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        found, problem = 0, str(error)
    if not found:
        raise FirststoryError(
            owner="GPU",
            parameter="device",
            allowed="an NVIDIA GPU that CUDA can use",
            received=problem,
            remedy="Look whether nvidia-smi lists one, or use device='cpu'.",
            message=f"There is no GPU that can be used ({problem}).",
        )
    return cupy


@cache
def _kernel() -> Any:
    source = files("firststory.kernels.l1").joinpath("coding.cu").read_text()
    return gpu().RawModule(code=source, options=("-std=c++17",)).get_function("code_documents")


def code_on_gpu(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix | TermMajor | GpuAtoms,
    alpha: float = 0.1,
    *,
    over: float = 1.0,
    n_jobs: int | None = 1,
    duals: bool = False,
    most_survivors: int = MOST_SURVIVORS,
) -> L1Coding:
    """What `code_exactly` returns, by the GPU. `n_jobs` is for what goes to the processor.

    Same input, same bits; the codes of a document whose optimum is not unique may be others than the processor's.
    """
    cupy = gpu()
    held = atoms if isinstance(atoms, GpuAtoms) else GpuAtoms.of(atoms)
    n, m = documents.shape
    k = held.host.mass.size
    widest = int(np.diff(documents.indptr).max(initial=1))
    ptr = held.ptr
    if m + 1 > ptr.size:  # terms that no atom has ever seen
        ptr = cupy.concatenate([ptr, cupy.full(m + 1 - ptr.size, ptr[-1], dtype=ptr.dtype)])
    warps, room = _scratch_size(k, widest, n, most_survivors)
    ptrs = documents.indptr.astype(np.int32, copy=False)
    rows = [_sent(part) for part in (ptrs, documents.indices.astype(np.int32, copy=False), documents.data)]
    objective, nearest, violation = (cupy.empty(n) for _ in range(3))
    pivots, survivors, n_codes = (cupy.empty(n, np.int32) for _ in range(3))
    code_atoms, code_values = cupy.empty(documents.nnz, np.int32), cupy.empty(documents.nnz)
    prices = cupy.zeros(documents.nnz if duals else 0)
    numbers, counts = cupy.empty((4, warps, k)), cupy.empty((5, warps, k), np.int32)
    counts[0] = -1  # place
    shares = cupy.zeros((warps, k), np.uint64)
    tableaux = cupy.empty(warps * room)
    fast = widest * (4 * 8 + 5 * 4) + 4 * ((k + 31) // 32)
    kernel = _kernel()
    kernel.max_dynamic_shared_size_bytes = max(fast, 48 * 1024)
    kernel(
        (warps,), (32,),
        (np.int32(n), np.int32(k), np.int32(widest), np.int64(room), np.float64(alpha), np.float64(over),
         np.float64(TOLERANCE), np.int32(MAX_PIVOTS), np.float64(held.scale), *rows, ptr, held.holders, held.values,
         held.whole_values, held.mass, shares, counts[0], counts[1], numbers[0], numbers[1], numbers[2], counts[2],
         counts[3], counts[4], tableaux, objective, nearest, pivots, survivors, violation, n_codes, code_atoms,
         code_values, prices if duals else np.uint64(0), cupy.zeros(1, np.int32)),
        shared_mem=fast,
    )  # fmt: skip
    # Close the gaps between the documents' codes before they travel.
    lengths = n_codes.get().astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    at = cupy.asarray(np.repeat(documents.indptr[:-1] - ends[:-1], lengths)) + cupy.arange(ends[-1])
    coding = L1Coding(
        csr((code_values[at].get(), code_atoms[at].get(), ends), (n, k)),
        objective.get(),
        nearest.get(),
        violation.get(),
        pivots.get().astype(np.int64),
        survivors.get().astype(np.int64),
        sp.csr_matrix((prices.get(), documents.indices, documents.indptr), shape=(n, m)) if duals else None,
    )
    doubtful = np.flatnonzero(~(coding.violation <= DRIFT))
    if not doubtful.size:
        return coding
    again = code_exactly(documents[doubtful], held.host, alpha, over=over, n_jobs=n_jobs, duals=duals)
    return _replaced(coding, doubtful, again)


def _sent(array: np.ndarray[Any, Any]) -> Any:
    """The array on the GPU, by way of memory that it reads by itself: twice as fast as from ordinary memory."""
    cupy = gpu()
    staged = np.frombuffer(cupy.cuda.alloc_pinned_memory(array.nbytes), array.dtype, array.size)
    staged[:] = array
    there = cupy.empty(array.size, array.dtype)
    there.set(staged)
    return there


@cache
def _processors() -> int:
    return int(gpu().cuda.runtime.getDeviceProperties(0)["multiProcessorCount"])


def _scratch_size(k: int, widest: int, n: int, most_survivors: int) -> tuple[int, int]:
    """How many warps work at once, and the entries of the tableau that each has."""
    cupy = gpu()
    room = max(min(k, most_survivors), 1) * widest
    for_each = 8 * room + k * (4 * 8 + 5 * 4 + 8)
    free, _ = cupy.cuda.runtime.memGetInfo()
    warps = min(WARPS_PER_PROCESSOR * _processors(), int(SHARE_OF_MEMORY * free) // for_each, n)
    return max(warps, 1), room


def _replaced(coding: L1Coding, rows: np.ndarray[Any, Any], by: L1Coding) -> L1Coding:
    """The same with some documents coded otherwise."""
    n = coding.objective.size
    order = np.arange(n)
    order[rows] = n + np.arange(rows.size)

    def chosen(ours: sp.csr_matrix, theirs: sp.csr_matrix) -> sp.csr_matrix:
        return sp.vstack([ours, theirs]).tocsr()[order]

    for ours, theirs in (
        (coding.objective, by.objective),
        (coding.nearest, by.nearest),
        (coding.violation, by.violation),
        (coding.iterations, by.iterations),
        (coding.survivors, by.survivors),
    ):
        ours[rows] = theirs
    duals = None if coding.duals is None or by.duals is None else chosen(coding.duals, by.duals)
    return L1Coding(
        chosen(coding.codes, by.codes),
        coding.objective,
        coding.nearest,
        coding.violation,
        coding.iterations,
        coding.survivors,
        duals,
    )
