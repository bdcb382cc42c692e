#!/usr/bin/env python3
"""Regenerates every kernels/NAME/NAME.sm_61.cubin from its NAME.ptx with NVIDIA's assembler.

The files are committed: building and testing need no assembler. The assembler is part of the Python
package triton (3.4.0, which contains ptxas 12.8). The version is fixed, so that the result is the
same on every machine. PTX for newer machines is left out. Arguments: names of kernels (default:
all).
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

VERSION = "V12.8.93"
TARGET = "sm_61"
ROOT = Path(__file__).resolve().parent.parent
# kernels whose PTX needs a newer machine
NEWER = {"sgemm_dbuf", "hgemm", "wmma_gemm"}


def tool(name):
    """Returns the path of a tool: the one that the environment names, or that of the package."""
    given = os.environ.get(name.upper())
    if given:
        return given
    package = importlib.util.find_spec("triton")
    if package is None:
        sys.exit(f"compile-kernels-sass: pip install --no-deps triton==3.4.0, or set {name.upper()}=/path/to/{name}")
    return str(Path(package.submodule_search_locations[0]) / "backends/nvidia/bin" / name)


def main():
    ptxas = tool("ptxas")
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    if VERSION not in version:
        sys.exit(f"compile-kernels-sass: this is not ptxas {VERSION}, and other versions give other code")
    wanted = set(sys.argv[1:])
    for folder in sorted((ROOT / "kernels").iterdir()):
        ptx = folder / f"{folder.name}.ptx"
        if not ptx.exists() or folder.name in NEWER or wanted and folder.name not in wanted:
            continue
        out = folder / f"{folder.name}.{TARGET}.cubin"
        subprocess.run([ptxas, f"-arch={TARGET}", str(ptx), "-o", str(out)], check=True)
        print(out.relative_to(ROOT))


if __name__ == "__main__":
    main()
