"""Triton kernels become launches, without a GPU and without a driver.

`capture` takes a `@triton.jit` function. Triton compiles it for an architecture, and the arguments
become the arguments of a launch:

    import numpy as np
    import warpbound as wb

    launch = wb.triton.capture(add_kernel)[(4,)](x, y, out, 1000, BLOCK_SIZE=256)
    wb.run(launch)
    assert np.allclose(out, x + y)

The arrays may be NumPy arrays (with `ml_dtypes` for bfloat16 and float8), PyTorch tensors on the
CPU, and other arrays with a `dtype` or the buffer protocol. A list of arrays is a table of their
addresses, as grouped kernels read it.
"""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from ._capture import capability, sources
from ._errors import Error, Problem
from ._kernels import Kernel
from ._triton import Arguments, specialize

__all__ = ["Captured", "FirstConfigWarning", "capture"]


class FirstConfigWarning(UserWarning):
    """A kernel has several configurations for autotuning, and the first one was taken."""


def capture(kernel: Any, *, arch: str | int = "sm_80", config: Any = None, **options: Any) -> Captured:
    """Prepares the capture of a kernel: `capture(kernel)[grid](*args, **constants)` is a launch.

    `kernel` is a function with `@triton.jit`, also under `@triton.autotune` and
    `@triton.heuristics`. `arch` is the architecture that Triton compiles for.

    Nothing is measured here, so autotuning cannot choose. `config` is the configuration to take:
    a `triton.Config`, its index in the list of the decorator, or a dict. Without it the first one
    is taken, and a `FirstConfigWarning` says so if there are several.

    `options` are options of Triton, such as `num_warps`, `num_stages` and `maxnreg`.
    """
    return Captured(kernel, capability(arch), config, options)


@dataclass(frozen=True)
class Captured:
    """A kernel that waits for its grid: `captured[grid](*args, **constants)` is a launch."""

    kernel: Any
    capability: int
    config: Any
    options: Mapping[str, Any]

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """Returns a function of the kernel's arguments. `grid` is an int, a tuple of up to three,
        or a function that computes the tuple from a dict of all arguments."""

        def launch(*args: Any, **constants: Any) -> Any:
            return _launch(self, grid, args, constants)

        return launch


def _launch(captured: Captured, grid: Any, args: tuple[Any, ...], constants: dict[str, Any]) -> Any:
    triton = _triton()
    function, config, given = _undecorated(triton, captured, args, constants)
    shown: str = function.__name__
    names = [parameter.name for parameter in function.params]
    parameters = f"parameters: {', '.join(names)}"
    options = {**captured.options, **{k: v for k, v in given.items() if k not in names}}
    try:
        bound = function.signature.bind(*args, **{k: v for k, v in given.items() if k in names})
    except TypeError as error:
        raise Error.of(str(error), hint=parameters, place=shown) from None
    bound.apply_defaults()
    values = dict(bound.arguments)
    if config is not None and getattr(config, "pre_hook", None) is not None:
        config.pre_hook(values)

    arguments = specialize(triton, function.params, values)
    compiled = _compile(triton, function, arguments, captured.capability, options)
    metadata, ptx = compiled.metadata, compiled.asm["ptx"]
    if unknown := [name for name in options if not hasattr(metadata, name)]:
        raise Error.of(f"`{unknown[0]}` is neither a parameter nor an option of Triton", hint=parameters, place=shown)
    _require_simulated(ptx, metadata, captured.capability, shown)

    shape = _shape(grid(values) if callable(grid) else grid)
    remaining, hidden = arguments.remaining, _hidden(metadata, math.prod(shape))
    kernel = Kernel(
        ptx,
        file=f"{shown}.ptx",
        entry=metadata.name,
        names=[argument.name for argument in remaining] + [name for name, _ in hidden],
        sources=sources(ptx),
    )
    # Versions of Triton differ in the number of hidden parameters, so it comes from the code.
    extra = len(kernel.parameters) - len(remaining)
    if not 0 <= extra <= len(hidden):
        raise Error.of(
            f"{len(remaining)} arguments remain after specialization, but PTX has {len(kernel.parameters)} parameters",
            hint=f"how Triton {triton.version} passes arguments is unknown",
            place=shown,
        )
    passed = [argument.passed(parameter.kind) for argument, parameter in zip(remaining, kernel.parameters)]
    passed += [value for _, value in hidden[:extra]]
    return kernel[shape, 32 * int(metadata.num_warps), int(metadata.shared)](*passed)


def _undecorated(
    triton: SimpleNamespace, captured: Captured, args: tuple[Any, ...], constants: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Returns the function under the decorators, the configuration that was taken, and the keyword
    arguments with what the decorators add."""
    kernel, config = captured.kernel, None
    given = dict(constants)
    while not isinstance(kernel, triton.JITFunction):
        if isinstance(kernel, triton.Autotuner):
            config = _config(captured.config, kernel, triton)
            chosen = config.all_kwargs()
            if twice := [name for name in chosen if name in constants]:
                raise Error.of("the configuration for autotuning sets it too", place=f"argument `{twice[0]}`")
            given.update(chosen)
        elif isinstance(kernel, triton.Heuristics):
            for name, heuristic in kernel.values.items():
                given[name] = heuristic({**dict(zip(kernel.arg_names, args)), **given})
        else:
            raise Error.of(
                f"a {type(kernel).__name__} is not a kernel of Triton",
                hint="pass a function with @triton.jit, and do not set TRITON_INTERPRET",
                place="capture",
            )
        kernel = kernel.fn
    if kernel.is_gluon():
        raise Error.of("kernels of Gluon are not captured", place=kernel.__name__)
    if config is None and captured.config is not None:
        raise Error.of("the kernel has no configurations for autotuning", hint="leave out `config`", place="config")
    return kernel, config, given


def _config(wanted: Any, tuner: Any, triton: SimpleNamespace) -> Any:
    configs = tuner.configs
    if wanted is None:
        if len(configs) > 1:
            warnings.warn(
                f"the first of {len(configs)} configurations is taken ({configs[0]}); `config` chooses another",
                FirstConfigWarning,
                # the caller of captured[grid](..)
                stacklevel=5,
            )
        return configs[0]
    if isinstance(wanted, int):
        if not 0 <= wanted < len(configs):
            raise Error.of(f"there are {len(configs)} configurations, from 0", hint=f"given: {wanted}", place="config")
        return configs[wanted]
    if isinstance(wanted, Mapping):
        options = {k: v for k, v in wanted.items() if k in ("num_warps", "num_stages", "num_ctas", "maxnreg")}
        return triton.Config({k: v for k, v in wanted.items() if k not in options}, **options)
    return wanted


def _compile(triton: SimpleNamespace, function: Any, found: Arguments, arch: int, options: Mapping[str, Any]) -> Any:
    source = triton.ASTSource(function, found.signature, found.constants, found.attributes)
    try:
        return triton.compile(source, target=triton.GPUTarget("cuda", arch, 32), options=dict(options))
    except Exception as error:
        # what the passes of the compiler raise has no common class
        text = str(error).strip() or type(error).__name__
        problem = Problem(f"Triton does not compile this kernel for sm_{arch}: {text}", file=function.__name__)
        node: Any = getattr(error, "node", None)
        line = getattr(node, "lineno", None)
        # in another function, which this one calls, the place is unknown
        if line is not None and getattr(error, "src", None) == function.src:
            lines, first = inspect.getsourcelines(function.fn)
            # Triton counts from the line with `def`
            before = next((i for i, text in enumerate(lines) if re.match(r"\s*def\s", text)), 0)
            problem.file = function.fn.__code__.co_filename
            problem.line, problem.column = first + before + line - 1, node.col_offset + 1
        raise Error([problem]) from error


def _hidden(metadata: Any, blocks: int) -> list[tuple[str, Any]]:
    """Returns the arguments that Triton appends: scratch memory in global memory."""
    hidden: list[tuple[str, Any]] = []
    for name in ("global_scratch", "profile_scratch"):
        size = int(getattr(metadata, f"{name}_size", 0) or 0) * blocks
        hidden.append((name, bytearray(size) if size else None))
    return hidden


# What Triton chooses on newer architectures without being asked for it: the instruction that does the
# work, the others that come with it, and what is missing.
_NOT_SIMULATED = (
    (r"wgmma\.mma_async", r"wgmma\.", "matrix products of four warps (WGMMA) are not simulated"),
    (r"tcgen05\.mma", r"tcgen05\.", "tensor memory and its matrix products are not simulated"),
    (
        r"cp\.(?:reduce\.)?async\.bulk\.tensor",
        r"cp\.async\.bulk\.|tensormap\.",
        "copies of tensors (TMA) are not simulated",
    ),
    (r"mma\.[\w.:]+\.block_scale", r"mma\.[\w.:]+\.block_scale", "matrix products with scales are not simulated"),
)


def _require_simulated(ptx: str, metadata: Any, arch: int, shown: str) -> None:
    """Raises an error with a problem for each part of newer architectures that is needed and not
    simulated. It names the instruction and its place in the source of the kernel, whereas the
    command would only name lines of PTX."""
    if int(getattr(metadata, "num_ctas", 1)) > 1:
        raise Error.of("thread block clusters (num_ctas > 1) are not simulated", hint="use num_ctas=1", place=shown)
    code = re.sub(r"//[^\n]*", "", ptx)
    problems: list[Problem] = []
    for patterns in _NOT_SIMULATED:
        forms = (re.search(rf"(?<![\w.%$])(?:{pattern})[\w.:]*", code) for pattern in patterns[:2])
        found = next((form for form in forms if form is not None), None)
        if found is not None:
            hint = f'Triton chose this for sm_{arch}; another architecture may do without it, such as arch="sm_89"'
            problem = Problem(f"`{found[0]}`: {patterns[2]}", hint=hint, file=shown)
            for file, line, column in re.findall(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)", code[: found.start()])[-1:]:
                if path := re.search(rf'\.file\s+{file}\s+"([^"]*)"', code):
                    problem.file, problem.line, problem.column = path[1], int(line), int(column)
            problems.append(problem)
    if problems:
        raise Error(problems)


def _shape(grid: Any) -> tuple[int, ...]:
    axes = tuple(int(axis) for axis in grid) if isinstance(grid, Sequence) else (int(grid),)
    if not 1 <= len(axes) <= 3:
        raise Error.of(f"{grid!r} has {len(axes)} numbers", hint="one to three numbers", place="grid")
    return axes


def _triton() -> SimpleNamespace:
    """Returns the names of Triton that are used here. They are exported names, and only the
    attributes of functions and decorators (`params`, `src`, `fn`, `configs`, `values`) are
    undocumented. All of them are in Triton 3.4 and in 3.9."""
    try:
        triton = import_module("triton")
    except ImportError as error:
        raise ImportError("warpbound.triton needs Triton: pip install triton") from error
    try:
        runtime, compiler = import_module("triton.runtime"), import_module("triton.compiler")
        return SimpleNamespace(
            version=triton.__version__,
            compile=triton.compile,
            Config=triton.Config,
            constexpr=import_module("triton.language").constexpr,
            JITFunction=runtime.JITFunction,
            Autotuner=runtime.Autotuner,
            Heuristics=import_module("triton.runtime.autotuner").Heuristics,
            ASTSource=compiler.ASTSource,
            GPUTarget=import_module("triton.backends.compiler").GPUTarget,
        )
    except (ImportError, AttributeError) as error:
        raise ImportError(f"warpbound.triton does not know Triton {triton.__version__}: {error}") from error
