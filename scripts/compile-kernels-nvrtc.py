#!/usr/bin/env python3
"""Regenerates every kernels/NAME/NAME.nvrtc.ptx from its NAME.cu with NVIDIA's compiler (NVRTC).

The files are committed: building and testing do not need NVRTC. NVRTC is a library that needs no
driver and no GPU; it is part of the Python package nvidia-cuda-nvrtc-cu12. The version is fixed, so
that the result is the same on every machine. Arguments: names of kernels (default: all).
"""

import ctypes
import importlib.util
import re
import sys
from pathlib import Path

VERSION = (12, 9)
ROOT = Path(__file__).resolve().parent.parent
PRELUDE = ROOT / "kernels/include/nvrtc_min.h"
# Targets as in compile-kernels.sh.
TARGETS = {"sgemm_dbuf": 80, "hgemm": 80, "wmma_gemm": 70}
DEFAULT_TARGET = 61


def library():
    """Loads NVRTC from the Python package, in the version that generated the committed files."""
    package = importlib.util.find_spec("nvidia.cuda_nvrtc") if importlib.util.find_spec("nvidia") else None
    if package is None:
        sys.exit("compile-kernels-nvrtc: pip install nvidia-cuda-nvrtc-cu12==12.9.86")
    nvrtc = ctypes.CDLL(str(Path(package.submodule_search_locations[0]) / "lib/libnvrtc.so.12"))
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    if (major.value, minor.value) != VERSION:
        sys.exit(f"compile-kernels-nvrtc: this is NVRTC {major.value}.{minor.value}, and other versions give other PTX")
    return nvrtc


def text(nvrtc, program, size, get):
    """Returns a text that NVRTC has for a program, such as its log or its PTX."""
    length = ctypes.c_size_t()
    getattr(nvrtc, size)(program, ctypes.byref(length))
    buffer = ctypes.create_string_buffer(length.value)
    getattr(nvrtc, get)(program, buffer)
    return buffer.value.decode()


def compiled(nvrtc, source):
    """Returns the PTX of a file."""
    target = TARGETS.get(source.stem, DEFAULT_TARGET)
    options = [f"--gpu-architecture=compute_{target}", "--std=c++17", f"--pre-include={PRELUDE}"]
    words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
    if nvrtc.nvrtcCompileProgram(program, len(options), words) != 0:
        sys.exit(text(nvrtc, program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog"))
    return text(nvrtc, program, "nvrtcGetPTXSize", "nvrtcGetPTX")


def tidy(ptx, source):
    """Removes the compiler's comments and trailing blanks, and adds a line that says where the file comes from."""
    lines = [line.rstrip() for line in ptx.rstrip("\0").splitlines()]
    dropped = re.compile(r"\s*//|\s*\.(file|loc)\b")
    kept = "\n".join(line for line in lines if not dropped.match(line))
    if wrong := re.search(r"\.extern \.func|\bcall\b|\.local\b", kept):
        sys.exit(f"{source}: `{wrong.group()}`: calls and local memory have no place in a shipped kernel")
    head = f"// Generated from {source.name} by scripts/compile-kernels-nvrtc.py with NVRTC {VERSION[0]}.{VERSION[1]}.\n"
    return head + re.sub(r"\n{3,}", "\n\n", kept).strip() + "\n"


def main():
    nvrtc = library()
    names = sys.argv[1:] or sorted(path.stem for path in (ROOT / "kernels").glob("*/*.cu"))
    for name in names:
        source = ROOT / "kernels" / name / f"{name}.cu"
        if not source.exists():
            sys.exit(f"compile-kernels-nvrtc: no {source}")
        target = source.with_suffix(".nvrtc.ptx")
        target.write_text(tidy(compiled(nvrtc, source), source))
        print(target.relative_to(ROOT))


main()
