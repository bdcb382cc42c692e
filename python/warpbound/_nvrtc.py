"""NVRTC, called through ctypes."""

from __future__ import annotations

import ctypes
import functools
import re
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from ._errors import Error

# CUDA 13 has no suffix in the name any more.
_WHEELS = ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu11")
_WITH_HEADERS = ("nvidia-cuda-runtime", "nvidia-cuda-cccl", "nvidia-cuda-crt", "nvidia-cuda-nvcc")
_LIBRARY = re.compile(r"libnvrtc\.so\.\d+|nvrtc64_\d+_\d+\.dll")


class Compiled(NamedTuple):
    """The answer of NVRTC."""

    ptx: str | None
    """The PTX, or `None` if the source has errors."""
    log: str
    lowered: dict[str, str]
    """The names in PTX of the name expressions."""


def compile(
    source: str, name: str, arch: str, options: list[str], headers: dict[str, str], expressions: list[str]
) -> Compiled:
    """Compiles a source to PTX."""
    library, include = _library()
    program = ctypes.c_void_p()
    texts = (ctypes.c_char_p * len(headers))(*(text.encode() for text in headers.values()))
    files = (ctypes.c_char_p * len(headers))(*(file.encode() for file in headers))
    _call(
        library, "CreateProgram", ctypes.byref(program), source.encode(), name.encode(), len(headers), texts, files
    )
    try:
        for expression in expressions:
            _call(library, "AddNameExpression", program, expression.encode())
        words = _options(arch, options, include)
        given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
        code = library.nvrtcCompileProgram(program, len(words), given)
        log = _text(library, "ProgramLog", program)
        if code != 0:
            return Compiled(None, log or _message(library, code), {})
        lowered = {}
        for expression in expressions:
            found = ctypes.c_char_p()
            _call(library, "GetLoweredName", program, expression.encode(), ctypes.byref(found))
            lowered[expression] = (found.value or b"").decode()
        return Compiled(_text(library, "PTX", program), log, lowered)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def version() -> str:
    """The version of NVRTC, such as `12.9`."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _call(_library()[0], "Version", ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def _options(arch: str, options: list[str], include: tuple[str, ...]) -> list[str]:
    words = ["-lineinfo"]
    if not any(re.match(r"-(?:-gpu-architecture|arch)\b", option) for option in options):
        found = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3}[af]?)", str(arch))
        if found is None:
            raise Error.of(f"`{arch}` is not an architecture", hint='write it as "sm_80"', place="arch")
        # `compute` makes PTX only; `sm` would call the assembler too
        words.append(f"--gpu-architecture=compute_{found[1]}")
    return words + options + [f"-I{folder}" for folder in include]


def _text(library: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _call(library, f"Get{what}Size", program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    _call(library, f"Get{what}", program, buffer)
    return buffer.value.decode(errors="replace")


def _call(library: ctypes.CDLL, name: str, *arguments: object) -> None:
    code = getattr(library, f"nvrtc{name}")(*arguments)
    if code != 0:
        raise Error.of(f"NVRTC: {_message(library, code)}", place=f"nvrtc{name}")


def _message(library: ctypes.CDLL, code: int) -> str:
    return str(library.nvrtcGetErrorString(code).decode())


@functools.cache
def _library() -> tuple[ctypes.CDLL, tuple[str, ...]]:
    """Returns the library, and the folders with headers of CUDA that are installed."""
    for wheel in _WHEELS:
        for path in _files(wheel):
            if _LIBRARY.fullmatch(path.name):
                library = ctypes.CDLL(str(path))
                library.nvrtcGetErrorString.restype = ctypes.c_char_p
                return library, _include(wheel)
    raise ImportError("warpbound.cuda needs NVRTC: pip install nvidia-cuda-nvrtc-cu12")


def _include(nvrtc: str) -> tuple[str, ...]:
    suffix = nvrtc.removeprefix("nvidia-cuda-nvrtc")
    folders: dict[str, None] = {}
    for wheel in _WITH_HEADERS:
        for path in _files(wheel + suffix):
            if path.name in ("cuda_runtime.h", "cuda_fp16.h") or path.match("include/cuda/std/version"):
                folder = path.parents[2] if path.name == "version" else path.parent
                folders[str(folder)] = None
    return tuple(folders)


def _files(wheel: str) -> list[Path]:
    try:
        found = metadata.distribution(wheel)
    except metadata.PackageNotFoundError:
        return []
    return [Path(str(found.locate_file(file))) for file in found.files or ()]
