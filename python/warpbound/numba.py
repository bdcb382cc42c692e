"""Kernels of Numba become launches, without a GPU and without a driver.

    import numpy as np
    import warpbound as wb
    from numba import cuda

    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    x = np.arange(100, dtype=np.float32)
    wb.run(wb.numba.capture(double)[1, 128](x))

`numba-cuda` compiles the kernel with NVVM, whose wheel its extra `cu12` or `cu13` installs. Numbers
have the types that Numba gives them: a Python `int` is 64 bits long, and a `float` too.
"""

from __future__ import annotations

import enum
import inspect
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from ._errors import Error, Problem
from ._capture import capability, memory, sources
from ._kernels import Kernel

__all__ = ["Captured", "capture"]


def capture(kernel: Any, *, arch: str | int = "sm_80", signature: Any = None, **options: Any) -> Captured:
    """Prepares the capture of a kernel: `capture(kernel)[grid, block](*args)` is a launch.

    `kernel` is a function with `@cuda.jit` or a plain function. `arch` is the architecture that
    Numba compiles for. `signature` gives the types of the parameters, such as
    `"void(int32, float32[:])"`; without it they follow from the arguments.

    `options` are `fastmath`, `opt`, `debug` and `launch_bounds`, as `@cuda.jit` has them. Those of
    the decorator hold otherwise.
    """
    return Captured(kernel, capability(arch), signature, options)


@dataclass(frozen=True)
class Captured:
    """A kernel that waits for its grid: `captured[grid, block](*args)` is a launch."""

    kernel: Any
    capability: int
    signature: Any
    options: dict[str, Any]

    def __getitem__(self, shape: Any) -> Callable[..., Any]:
        """Returns a function of the kernel's arguments. As in Numba, the index is
        `grid, block, stream, shared bytes`, where the last two may be left out and a stream has no
        effect."""
        parts = shape if isinstance(shape, tuple) else (shape,)
        if not 2 <= len(parts) <= 4:
            raise Error.of(
                "a launch needs the blocks and the threads per block",
                hint="capture(kernel)[blocks, threads](..)",
                place="capture",
            )
        if len(parts) == 3 and parts[2]:
            raise Error.of(
                f"{parts[2]!r} is at the place of the stream",
                hint="as in Numba, dynamic shared memory is the fourth: [blocks, threads, 0, bytes]",
                place="capture",
            )
        grid, block, shared = parts[0], parts[1], parts[3] if len(parts) == 4 else 0

        def launch(*args: Any) -> Any:
            return _launch(self, grid, block, shared, args)

        return launch


# The options of a decorator that change the code.
_OPTIONS = ("debug", "fastmath", "opt", "launch_bounds")


def _launch(captured: Captured, grid: Any, block: Any, shared: int, args: tuple[Any, ...]) -> Any:
    numba = _numba()
    function = getattr(captured.kernel, "py_func", captured.kernel)
    if not inspect.isfunction(function):
        raise Error.of(
            f"a {type(captured.kernel).__name__} is not a kernel of Numba",
            hint="pass a function with @cuda.jit",
            place="capture",
        )
    shown = function.__name__
    names = list(inspect.signature(function).parameters)
    if len(args) != len(names):
        raise Error.of(
            f"the kernel has {len(names)} parameters, {len(args)} arguments given",
            hint=f"parameters: {', '.join(names)}",
            place=shown,
        )
    declared = getattr(captured.kernel, "targetoptions", {})
    if declared.get("device"):
        raise Error.of("this is a device function", hint="capture the kernel that calls it", place=shown)
    options = {name: declared[name] for name in _OPTIONS if declared.get(name) is not None} | captured.options
    if unknown := [name for name in options if name not in _OPTIONS]:
        raise Error.of(f"`{unknown[0]}` is not an option", hint=f"options: {', '.join(_OPTIONS)}", place="capture")

    types = _types(numba, captured.signature, args, shown)
    flat: list[tuple[str, Any]] = []
    for name, kind, value in zip(names, types, args):
        _flatten(numba, name, kind, value, flat)
    ptx = _compile(numba, function, types, captured.capability, options)
    kernel = Kernel(ptx, file=f"{shown}.ptx", names=[name for name, _ in flat], sources=sources(ptx))
    if len(kernel.parameters) != len(flat):
        raise Error.of(
            f"the arguments have {len(flat)} parts, but PTX has {len(kernel.parameters)} parameters",
            hint=f"how numba-cuda {numba.version} passes arguments is unknown",
            place=shown,
        )
    return kernel[grid, block, shared](*(value for _, value in flat))


def _compile(
    numba: SimpleNamespace, function: Any, types: tuple[Any, ...], arch: int, options: Mapping[str, Any]
) -> str:
    try:
        ptx, _ = numba.compile_ptx(function, types, cc=divmod(arch, 10), lineinfo=True, **options)
    except Exception as error:
        # the passes of the compiler raise exceptions of many classes
        text = str(error).strip() or type(error).__name__
        problem = Problem(f"Numba does not compile this kernel for sm_{arch}: {text}", file=function.__name__)
        code = function.__code__
        # Numba writes paths relative to the working directory
        for path, line in re.findall(r'(?:File "|\bat )([^"\n]+\.py)(?:", line | \()(\d+)', text):
            if code.co_filename.endswith(path.lstrip("./")):
                problem.file, problem.line = code.co_filename, int(line)
        raise Error([problem]) from error
    return str(ptx)


def _types(numba: SimpleNamespace, signature: Any, args: tuple[Any, ...], shown: str) -> tuple[Any, ...]:
    if signature is None:
        return tuple(numba.typeof(arg) for arg in args)
    declared, _ = numba.normalize_signature(signature)
    if len(declared) != len(args):
        raise Error.of(f"the signature has {len(declared)} types, {len(args)} arguments given", place=shown)
    return tuple(declared)


def _flatten(numba: SimpleNamespace, name: str, kind: Any, value: Any, flat: list[tuple[str, Any]]) -> None:
    """Appends the parameters of PTX that an argument has. Numba passes the members of a structure
    as parameters of their own."""
    types, place = numba.types, f"argument `{name}`"
    if isinstance(kind, types.Array):
        array = numba.numpy.asarray(value)
        if array.ndim != kind.ndim or numba.from_dtype(array.dtype) != kind.dtype:
            raise Error.of(
                f"the signature says {kind}", hint=f"given: {array.ndim} axes of {array.dtype}", place=place
            )
        flat += [(f"{name}_meminfo", None), (f"{name}_parent", None)]
        flat += [(f"{name}_size", array.size), (f"{name}_itemsize", array.itemsize), (name, memory(name, array))]
        flat += [(f"{name}_shape_{axis}", length) for axis, length in enumerate(array.shape)]
        flat += [(f"{name}_strides_{axis}", stride) for axis, stride in enumerate(array.strides)]
    elif isinstance(kind, types.BaseTuple):
        if len(kind) != len(value):
            raise Error.of(f"the signature says {kind}", hint=f"given: {len(value)} members", place=place)
        for index, (member, part) in enumerate(zip(kind, value)):
            _flatten(numba, f"{name}_{index}", member, part, flat)
    elif isinstance(kind, types.Record):
        # a reference, whose contents no kernel changes for the caller
        flat.append((name, numba.numpy.frombuffer(bytes(value.tobytes()), numba.numpy.uint8).copy()))
    elif isinstance(kind, types.Complex):
        flat += [(f"{name}_real", value.real), (f"{name}_imag", value.imag)]
    elif isinstance(kind, types.EnumMember):
        _flatten(numba, name, kind.dtype, value.value if isinstance(value, enum.Enum) else value, flat)
    elif isinstance(kind, (types.NPDatetime, types.NPTimedelta)):
        flat.append((name, int(value.view("int64"))))
    elif kind == types.float16:
        flat.append((name, struct.unpack("<H", struct.pack("<e", float(value)))[0]))
    elif isinstance(kind, types.Float):
        flat.append((name, float(value)))
    elif isinstance(kind, types.Boolean):
        flat.append((name, int(bool(value))))
    elif isinstance(kind, types.Integer):
        flat.append((name, int(value)))
    else:
        raise Error.of(f"warpbound cannot pass a value of Numba's type {kind}", place=place)


def _numba() -> SimpleNamespace:
    """Returns the names of Numba that are used here. All of them are documented but
    `normalize_signature`, which reads a signature as `@cuda.jit` does."""
    try:
        numba = import_module("numba")
        cuda = import_module("numba.cuda")
        distribution = import_module("numba_cuda")
    except ImportError as error:
        raise ImportError('warpbound.numba needs numba-cuda: pip install "numba-cuda[cu12]"') from error
    if not hasattr(cuda, "compile_ptx"):
        raise ImportError("Numba has no compiler for CUDA here; unset NUMBA_ENABLE_CUDASIM")
    try:
        return SimpleNamespace(
            version=distribution.__version__,
            numpy=import_module("numpy"),
            types=numba.types,
            typeof=numba.typeof,
            from_dtype=numba.from_dtype,
            compile_ptx=cuda.compile_ptx,
            normalize_signature=import_module("numba.core.sigutils").normalize_signature,
        )
    except (ImportError, AttributeError) as error:
        raise ImportError(f"warpbound.numba does not know numba-cuda {distribution.__version__}: {error}") from error
