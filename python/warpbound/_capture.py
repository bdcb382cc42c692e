"""What the capture of kernels of several compilers has in common."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from ._errors import Error


def capability(arch: str | int) -> int:
    """Returns 80 for `"sm_80"`, `"80"` and 80, and 90 for `"sm_90a"`."""
    found = re.fullmatch(r"(?:(?:sm|compute)_?)?(\d{2,3})[af]?", str(arch))
    if found is None:
        raise Error.of(f"`{arch}` is not an architecture", hint='write it as "sm_80"')
    return int(found[1])


def sources(ptx: str) -> dict[str, str]:
    """Returns the source files that the code names and that can be read."""
    texts: dict[str, str] = {}
    for name in re.findall(r'^\s*\.file\s+\d+\s+"([^"]*)"', ptx, re.MULTILINE):
        try:
            texts[name] = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    return texts


def memory(name: str, array: Any) -> Any:
    """Returns the memory under a NumPy array as one contiguous array. A kernel receives the address
    of the first element, and strides as numbers."""
    if array.flags.c_contiguous:
        return array
    if array.flags.f_contiguous:
        return array.T
    if any(stride < 0 or stride % array.itemsize for stride in array.strides):
        raise Error.of(
            f"`{name}` is a view with the strides {array.strides}",
            hint="strides must be positive multiples of the size of an element; copy the array",
        )
    last = sum((n - 1) * stride for n, stride in zip(array.shape, array.strides))
    as_strided = import_module("numpy").lib.stride_tricks.as_strided
    return as_strided(array, (1 + last // array.itemsize,), (array.itemsize,))
