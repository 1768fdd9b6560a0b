"""Machine code that comes from disk, without what only a compiler wants of it.

Beside the machine code of a kernel numba keeps its intermediate code, so that other kernels can be compiled with it
inside. To have that ready at every start takes several times the memory, and some milliseconds each. Here it is read
when a kernel is compiled, and that is once.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult

KIND = "object"
"""What numba calls a library of machine code with its intermediate code."""


def read_quickly(dispatcher: Any) -> Any:
    """Let a kernel read its machine code in this way, where numba is as we know it."""
    files = getattr(getattr(dispatcher, "_cache", None), "_impl", None)
    if files is not None and hasattr(files, "rebuild"):
        slowly = files.rebuild

        def rebuild(context: Any, payload: Any) -> Any:
            found = _rebuilt(context, payload)
            return slowly(context, payload) if found is None else found

        files.rebuild = rebuild
    return dispatcher


def _rebuilt(context: Any, payload: Any) -> Any:
    """The compiled function; None where numba is another than we know."""
    try:
        (name, kind, (machine, intermediate)), described, *rest = payload
        symbols, library_kind = context.codegen()._engine._defined_symbols, context.codegen()._library_class
        named = described.llvm_func_name, described.llvm_cpython_wrapper_name, described.llvm_cfunc_wrapper_name
        environment = described.env_name
    except (AttributeError, TypeError, ValueError):
        return None
    if kind != KIND or library_kind is not JITCodeLibrary:
        return None
    # Numba would take the names from the intermediate code. A kernel is asked for by these only.
    symbols.update((*named, environment))
    try:
        found = CompileResult._rebuild(context, (name, kind, (machine, _nothing())), described, *rest)
        library = found.library
    except (AttributeError, LookupError, TypeError, ValueError):
        return None
    vars(library).pop("_shared_module", None)
    library.__class__ = _Library
    library._intermediate = intermediate
    return found


@cache
def _nothing() -> Any:
    """The intermediate code of an empty module."""
    return binding.parse_assembly("").as_bitcode()


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A library whose intermediate code is read when it is asked for."""

    _intermediate: bytes = b""
    _read: Any = None

    @property
    def _shared_module(self) -> Any:
        if self._read is None:
            self._read = binding.parse_bitcode(self._intermediate)
        return self._read

    @_shared_module.setter
    def _shared_module(self, module: Any) -> None:
        self._read = module
