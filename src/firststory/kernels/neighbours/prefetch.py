"""Ask for memory before it is needed: lists lie scattered, and a walk mostly waits for their beginnings."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, array: Any, position: Any) -> Any:
    """Start to load `array[position]`, without waiting; the position may lie outside of the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(values.data, [arguments[1]]), cgutils.voidptr_t)
        kind, number = ir.VoidType(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [cgutils.voidptr_t, number, number, number]), "llvm.prefetch.p0i8"
        )
        # To read, keep in all levels of the cache, data.
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
