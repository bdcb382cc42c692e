#!/usr/bin/env python3
"""Regenerates the machine code of the kernels, kernels/NAME/NAME.sm_NN.cubin, from their PTX,
and that of the tests in tests/data/sass/later.

The files are committed: building and testing need no assembler. The versions of NVIDIA's assembler
are fixed, so that the result is the same on every machine. That for sm_61 is part of the Python
package triton (3.4.0, which contains ptxas 12.8); all kernels have this code, except those whose PTX
is for newer machines. That for later machines is part of the package nvidia-cuda-nvcc (13.5.37, whose
ptxas no longer knows sm_61); some kernels have this code. PTXAS names an assembler, and NVLINK a
linker, by default the one beside it. Arguments: the
architecture (default: sm_61), then names of kernels (default: all that have such code).
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

VERSIONS = {"sm_61": "V12.8.93"}
LATER_VERSION = "V13.5.37"
FEW = ["reduction", "vecadd"]
# the kernels that have code for an architecture other than sm_61
SOME = {
    "sm_75": FEW,
    "sm_80": [],
    "sm_86": ["betts", "bitonic", "digits", "hgemm", "histogram", "layernorm", "sgemm_dbuf", "softmax", *FEW],
    "sm_90": FEW,
    "sm_120": FEW,
}
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
    target, *names = sys.argv[1:] or ["sm_61"]
    ptxas = tool("ptxas")
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    wanted = VERSIONS.get(target, LATER_VERSION)
    if wanted not in version:
        sys.exit(f"compile-kernels-sass: this is not ptxas {wanted}, and other versions give other code")
    for folder in sorted((ROOT / "kernels").iterdir()):
        ptx = folder / f"{folder.name}.ptx"
        known = folder.name in SOME[target] if target in SOME else folder.name not in NEWER
        if not ptx.exists() or not known or names and folder.name not in names:
            continue
        out = folder / f"{folder.name}.{target}.cubin"
        subprocess.run([ptxas, f"-arch={target}", str(ptx), "-o", str(out)], check=True)
        print(out.relative_to(ROOT))
    # the files of the tests that exist for this architecture
    for out in sorted((ROOT / "tests/data/sass/later").glob(f"*.{target}.cubin")):
        stem = out.name.removesuffix(f".{target}.cubin")
        linked = stem.endswith(".linked")
        ptx = out.with_name(stem.removesuffix(".linked") + ".ptx")
        if not names or ptx.stem in names:
            options = ["-c"] if linked else []
            subprocess.run([ptxas, f"-arch={target}", *options, str(ptx), "-o", str(out)], check=True)
            if linked:
                nvlink = os.environ.get("NVLINK", str(Path(ptxas).parent / "nvlink"))
                subprocess.run([nvlink, f"-arch={target}", str(out), "-o", str(out)], check=True)
            print(out.relative_to(ROOT))


if __name__ == "__main__":
    main()
