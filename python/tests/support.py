"""Small kernels, and what several tests need."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import warpbound as wb

PACKAGE = Path(__file__).parent.parent
ROOT = PACKAGE.parent
KERNELS = ROOT / "kernels"
MACHINE = "ecrts25-orin"

_HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
_INDEX = """
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
"""

# to[i] = from[i] for n bytes
COPY = f"""{_HEAD}
.visible .entry copy(.param .u64 to, .param .u64 from, .param .u32 n)
{{
    .reg .pred %p<2>; .reg .b16 %h<2>; .reg .b32 %r<6>; .reg .b64 %d<6>;
    ld.param.u64 %d1, [to];
    ld.param.u64 %d2, [from];
    ld.param.u32 %r5, [n];{_INDEX}
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 bra END;
    cvt.u64.u32 %d3, %r4;
    add.u64 %d4, %d1, %d3;
    add.u64 %d5, %d2, %d3;
    ld.global.u8 %h1, [%d5];
    st.global.u8 [%d4], %h1;
END:
    ret;
}}
"""

# out[i] = the first word of table[i], for each thread
GATHER = f"""{_HEAD}
.visible .entry gather(.param .u64 out, .param .u64 table)
{{
    .reg .b32 %r<6>; .reg .b64 %d<8>;
    ld.param.u64 %d1, [out];
    ld.param.u64 %d2, [table];{_INDEX}
    mul.wide.u32 %d3, %r4, 8;
    add.u64 %d4, %d2, %d3;
    ld.global.u64 %d5, [%d4];
    ld.global.u32 %r5, [%d5];
    mul.wide.u32 %d6, %r4, 4;
    add.u64 %d7, %d1, %d6;
    st.global.u32 [%d7], %r5;
    add.u32 %r5, %r5, 1;
    st.global.u32 [%d5], %r5;
    ret;
}}
"""

# out = the structure
STRUCT = f"""{_HEAD}
.visible .entry keep(.param .u64 out, .param .align 8 .b8 pair[16])
{{
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [out];
    ld.param.u64 %d2, [pair];
    ld.param.u64 %d3, [pair+8];
    st.global.u64 [%d1], %d2;
    st.global.u64 [%d1+8], %d3;
    ret;
}}
"""


def keeping(kind: str) -> str:
    """Returns a kernel that writes a scalar of a type of PTX to an array."""
    size = int(kind[1:])
    letter = "f" if kind in ("f32", "f64") else "h" if size < 32 else "r" if size == 32 else "d"
    register = {"f": f".reg .{kind} %f<2>;", "h": ".reg .b16 %h<2>;", "r": ".reg .b32 %r<2>;", "d": ""}[letter]
    name = "%d2" if letter == "d" else f"%{letter}1"
    return f"""{_HEAD}
.visible .entry keep(.param .u64 out, .param .{kind} value)
{{
    {register} .reg .b64 %d<4>;
    ld.param.u64 %d1, [out];
    ld.param.{kind} {name}, [value];
    st.global.{kind} [%d1], {name};
    ret;
}}
"""


def copied(to: Any, source: Any, n: int) -> wb.Run:
    """Copies bytes from one array to another by a kernel."""
    return wb.run(wb.Kernel(COPY)[max(1, -(-n // 128)), 128](to, source, n), machine=MACHINE)


def saxpy() -> Any:
    """Returns the kernel `saxpy(n, a, x, y)`."""
    return wb.kernel(KERNELS / "saxpy" / "saxpy.ptx", names=["n", "a", "x", "y"])


def program() -> str:
    """Returns the program warpbound, or skips the test."""
    built = ROOT / "target" / "release" / "warpbound"
    found = os.environ.get("WARPBOUND") or (str(built) if built.exists() else shutil.which("warpbound"))
    if not found:
        pytest.skip("the program warpbound is neither built nor on PATH, and WARPBOUND does not name it")
    return found


def printed(*words: str | os.PathLike[str]) -> str:
    """Runs the program and returns what it prints."""
    return subprocess.run([program(), *words], check=True, capture_output=True, text=True, encoding="utf-8").stdout


def environment(**more: str) -> dict[str, str]:
    """Returns the environment of a process that imports this package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(wb.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]), **more}
