#!/usr/bin/env python3
"""Runs the suite from PTX and from machine code and compares instructions, cycles and bounds.

It prints the table of docs/machine-code.md.

Results are compared buffer by buffer with `run --dump`. warpbound is target/release/warpbound;
WARPBOUND names another one.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WARPBOUND = os.environ.get("WARPBOUND", str(ROOT / "target/release/warpbound"))


def results(command, *options):
    out = subprocess.run([WARPBOUND, command, *options, "--format", "json"], capture_output=True, text=True)
    return json.loads(out.stdout)


def bound(result, name):
    return next(one.get("value") for one in result["bounds"] if one["name"] == name)


def buffers(kernel, option):
    """Returns the contents of the buffers after a launch."""
    spec = results("inspect", kernel)["results"][0]["launch"]
    named = [buffer["name"] for buffer in spec.get("buffers", [])]
    named += [arg["Buffer"]["name"] for arg in spec["args"] if isinstance(arg, dict) and "Buffer" in arg]
    with tempfile.TemporaryDirectory() as folder:
        dumps = [word for name in named for word in ("--dump", f"{name}={folder}/{name}")]
        subprocess.run([WARPBOUND, "run", kernel + option, *dumps], capture_output=True, check=True)
        return {name: Path(folder, name).read_bytes() for name in named}


def main():
    ptx = {result["kernel"]: result for result in results("check", "--policy", "gto")["results"]}
    print("| launch | warp instructions, PTX | machine code | cycles, PTX | machine code | LWB over it | buffers |")
    print("|---|---:|---:|---:|---:|---:|---|")
    totals, equal, count = [0, 0, 0, 0], 0, 0
    for kernel, one in ptx.items():
        found = results("check", f"{kernel}@sm_61", "--policy", "gto")
        if not found.get("results"):
            continue
        other = found["results"][0]
        same = buffers(kernel, "") == buffers(kernel, "@sm_61")
        row = [one["warp_instructions"], other["warp_instructions"], one["makespan"], other["makespan"]]
        totals = [a + b for a, b in zip(totals, row)]
        equal, count = equal + same, count + 1
        over = f"{100 * (bound(other, 'lwb') / other['makespan'] - 1):+.1f} %" if bound(other, "lwb") else "-"
        print(f"| {kernel} | {row[0]} | {row[1]} | {row[2]} | {row[3]} | {over} | {'equal' if same else 'rounding'} |")
        assert other["verdict"] != "violated", kernel
    print(f"| {count} launches | {totals[0]} | {totals[1]} | {totals[2]} | {totals[3]} | | {equal} equal |")


if __name__ == "__main__":
    sys.exit(main())
