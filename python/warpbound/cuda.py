"""CUDA C++ becomes kernels, without a GPU and without a CUDA toolkit.

NVRTC, NVIDIA's compiler library, compiles the source to PTX. Its wheel is `nvidia-cuda-nvrtc-cu12`.

    import numpy as np
    import warpbound as wb

    module = wb.cuda.compile('''
        extern "C" __global__ void scale(float *x, float factor, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] *= factor;
        }''')
    x = np.arange(1000, dtype=np.float32)
    wb.run(module.scale[4, 256](x, 2.5, 1000))

`RawKernel` and `RawModule` are called as those of CuPy, and return launches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _nvrtc
from ._errors import Error, Problem
from ._kernels import Kernel
from ._launches import Launch

__all__ = ["Module", "RawKernel", "RawModule", "compile"]


def compile(
    source: str,
    arch: str = "sm_80",
    *,
    name: str = "kernel.cu",
    options: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    name_expressions: Sequence[str] = (),
) -> Module:
    """Compiles CUDA C++ to a module.

    `arch` is the architecture to compile for, `name` the name of the source in messages, `options`
    are options of NVRTC, and `headers` the texts of files that the source includes.
    `name_expressions` are instances of templates, such as `"scale<float>"`, which are then kernels
    of the module by these names.

    The headers of CUDA (`cuda_fp16.h` and others) are found if the wheel
    `nvidia-cuda-runtime-cu12` is installed, and those of libcu++ and CUB with `nvidia-cuda-cccl-cu12`.

    Raises [`Error`] with a problem for each error of the compiler.
    """
    headers = dict(headers or {})
    found = _nvrtc.compile(source, name, arch, list(options), headers, list(name_expressions))
    if found.ptx is None:
        raise Error(_problems(found.log, name, {name: source, **headers}))
    ptx = found.ptx
    for file in {name: source, **headers}:
        # NVRTC puts the working directory before the name, where no such file is
        ptx = re.sub(rf'^(\s*\.file\s+\d+\s+")[^"\n]*/{re.escape(file)}"', rf'\g<1>{file}"', ptx, flags=re.MULTILINE)
    return Module(ptx, found.log, name, {name: source, **headers}, found.lowered)


class Module:
    """The kernels of one source.

    `module["scale"]` and `module.scale` are a [`Kernel`]. A module with one kernel can be launched
    like this kernel: `module[grid, block](arguments)`.
    """

    def __init__(self, ptx: str, log: str, name: str, sources: Mapping[str, str], lowered: Mapping[str, str]) -> None:
        self.ptx = ptx
        """The PTX."""
        self.log = log
        """What the compiler printed: warnings."""
        self._name, self._sources, self._lowered = name, dict(sources), dict(lowered)
        self._kernels: dict[str, Kernel] = {}

    @property
    def kernels(self) -> list[str]:
        """The names of the kernels in PTX, which are mangled unless the source says `extern "C"`."""
        return re.findall(r"\.entry\s+([\w$]+)", self.ptx)

    def __getitem__(self, key: Any) -> Any:
        """Returns a kernel by its name, or the only kernel with a grid."""
        if not isinstance(key, str):
            return self._kernel(None)[key]
        return self._kernel(key)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._kernel(name)
        except Error as error:
            raise AttributeError(str(error)) from None

    def __iter__(self) -> Iterator[Kernel]:
        return (self._kernel(name) for name in self.kernels)

    def _kernel(self, name: str | None) -> Kernel:
        entry = self._entry(name)
        if entry not in self._kernels:
            stem = re.sub(r"\.\w+$", "", self._name)
            names = _parameters(self._sources[self._name], entry)
            self._kernels[entry] = Kernel(self.ptx, file=f"{stem}.ptx", entry=entry, names=names, sources=self._sources)
        return self._kernels[entry]

    def _entry(self, name: str | None) -> str:
        kernels = self.kernels
        if name is None:
            found = kernels
        elif name in self._lowered:
            return self._lowered[name]
        else:
            found = [kernel for kernel in kernels if name == kernel or name == _plain(kernel)]
        if len(found) == 1:
            return found[0]
        shown = [*self._lowered, *(_plain(kernel) for kernel in kernels if kernel not in self._lowered.values())]
        if name is None:
            problem = "the module has several kernels" if kernels else "the module has no kernel"
        else:
            problem = f"no kernel `{name}`" if not found else f"`{name}` can be several kernels"
        hint = "kernels: " + ", ".join(dict.fromkeys(shown)) if shown else "kernels are functions with __global__"
        raise Error.of(problem, hint=hint, place=self._name)

    def __repr__(self) -> str:
        return f"<Module {self._name}: {', '.join(_plain(kernel) for kernel in self.kernels)}>"


class RawModule:
    """A module that is used as `cupy.RawModule`."""

    def __init__(
        self,
        *,
        code: str,
        options: Sequence[str] = (),
        name_expressions: Sequence[str] | None = None,
        arch: str = "sm_80",
    ) -> None:
        self.module = compile(code, arch, options=options, name_expressions=name_expressions or ())
        """The compiled module."""

    def get_function(self, name: str) -> RawKernel:
        """Returns a kernel by its name or name expression."""
        return RawKernel._of(self.module[name])


class RawKernel:
    """A kernel that is used as `cupy.RawKernel`: `kernel(grid, block, args, shared_mem=0)`.

    A call returns a [`Launch`] and does not run it.
    """

    def __init__(self, code: str, name: str, options: Sequence[str] = (), *, arch: str = "sm_80") -> None:
        module = compile(code, arch, options=options, name_expressions=[name] if "<" in name else ())
        self.kernel: Kernel = module[name]
        """The compiled kernel."""

    @classmethod
    def _of(cls, kernel: Kernel) -> RawKernel:
        raw = cls.__new__(cls)
        raw.kernel = kernel
        return raw

    def __call__(self, grid: Any, block: Any, args: Sequence[Any], *, shared_mem: int = 0) -> Launch:
        return self.kernel[grid, block, shared_mem](*args)


def _plain(mangled: str) -> str:
    """Returns the name of a function in the source without its namespaces: `scale` for
    `_Z5scalePfi`."""
    name, rest = mangled, mangled.removeprefix("_Z").removeprefix("N")
    while rest != mangled and (length := re.match(r"\d+", rest)):
        end = length.end() + int(length[0])
        name, rest = rest[length.end() : end], rest[end:]
    return name


def _parameters(source: str, entry: str) -> list[str] | None:
    """Returns the names of a kernel's parameters, or None if the text does not show them plainly."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    found = re.search(rf"__global__[^;{{}}]*?\b{re.escape(_plain(entry))}\s*\(", text)
    if found is None:
        return None
    depth, parts = 1, [""]
    for character in text[found.end() :]:
        depth += (character in "(<[{") - (character in ")>]}")
        if depth == 0:
            break
        if character == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += character
    names = [re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", part.strip(), re.DOTALL) for part in parts]
    return [name[1] if name else "" for name in names]


_PLACE = re.compile(
    r"^(?P<file>[^\s()][^()\n]*)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<message>.*)$"
)


def _problems(log: str, name: str, sources: Mapping[str, str]) -> list[Problem]:
    """Returns the errors in a log of NVRTC. Under each one is the line, with a mark at the column."""
    problems: list[Problem] = []
    lines = log.splitlines()
    for index, text in enumerate(lines):
        found = _PLACE.match(text)
        if found is None:
            continue
        message, column = found["message"], 0
        line = int(found["line"])
        rest = lines[index + 1 :]
        mark = next((i for i, text in enumerate(rest) if re.fullmatch(r"\s*\^", text) or _PLACE.match(text)), None)
        if mark is not None and rest[mark].strip() == "^":
            # a message of several lines ends at the line of the source
            message = " ".join([message, *(text.strip() for text in rest[: mark - 1] if text.strip())])
            actual = sources.get(found["file"], "").splitlines()[line - 1 : line]
            shift = rest[mark - 1].find(actual[0].strip()) if actual else -1
            if shift >= 0:
                indent = len(actual[0]) - len(actual[0].lstrip())
                column = max(rest[mark].index("^") - shift + indent + 1, 1)
        hint = ""
        if "could not open source file" in message or "cannot open source file" in message:
            hint = "headers of CUDA: pip install nvidia-cuda-runtime-cu12; others: `headers` or the option -I"
        problems.append(Problem(message, hint=hint, file=found["file"], line=line, column=column))
    # errors without a place, such as those of options
    return problems or [Problem(log.strip() or "NVRTC failed without a message", file=name)]
