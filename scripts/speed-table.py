#!/usr/bin/env python3
"""Measures the speed of whole runs: twenty launches on four machines, each in a process of its own.

    cargo build --release
    scripts/speed-table.py                       # measures, and compares with benches/table.json
    scripts/speed-table.py --write               # replaces benches/table.json
    scripts/speed-table.py --no-instructions     # only times, without valgrind

Each run is `warpbound run LAUNCH --machine MACHINE --races ignore --timings` on one thread, with start,
reading, functional execution, timing, profiles and output. A row has the simulated cycles, the warp
instructions, the host instructions of the whole process (as callgrind counts them, which hardly vary), and the
smallest user + system time of several runs (which does vary: compare it only with times of the
same machine at the same time). The command ends with 1 if the cycles of a row differ from the kept ones.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "benches" / "table.json"
SHORT = ["vecadd", "saxpy", "reduce5", "histogram", "pchase", "transpose_naive", "sgemm_naive", "align"]
LONG = [
    "attention_grid", "matvec_grid", "spmv_warp_grid", "stencil3d_grid", "montecarlo_barrier_grid",
    "loopbreak", "transpose_naive_waves", "scan_padded_waves", "dotprod_waves", "bitonic_shared_waves",
    "sgemm_naive_k1024_w32", "jacobi",
]
MACHINES = ["ecrts25-orin", "accelsim-ecrts", "accelsim-sm1", "rtx3070"]


def command(program, launch, machine):
    return [program, "run", launch, "--machine", machine, "--races", "ignore", "--sm-threads", "1",
            "--timings", "--format", "json"]


def timed(words):
    """Returns the output of a process and its user + system time in seconds."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 3):
            sys.exit(f"{' '.join(words)}: exit code {child.returncode}")
        out.seek(0)
        return out.read(), used.ru_utime + used.ru_stime


def instructions(words):
    """Returns the host instructions of a process."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    found = subprocess.run(tool + words, capture_output=True, text=True)
    count = re.search(r"Collected : (\d+)", found.stderr)
    if not count:
        sys.exit(f"valgrind counted nothing: {found.stderr[-500:]}")
    return int(count.group(1))


def row(program, launch, machine, runs, counts):
    words = command(program, launch, machine)
    results = [timed(words) for _ in range(runs)]
    result = json.loads(results[0][0])["results"][0]
    measured = {
        "launch": launch,
        "machine": machine,
        "cycles": result["makespan"],
        "warp_instructions": result["warp_instructions"],
        "seconds": round(min(seconds for _, seconds in results), 6),
    }
    if counts:
        measured["host_instructions"] = instructions(words)
    return measured


def cpu():
    """Returns the name of the processor."""
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def compared(rows, kept):
    """Prints each row beside the kept one. Returns whether some cycles differ."""
    known = {(row["launch"], row["machine"]): row for row in kept}
    differ = False
    ratios = {}
    print(f"{'launch':<24} {'machine':<15} {'warp insts':>10} {'host/inst':>9} {'M/s':>6} {'before':>9} {'ratio':>6}")
    for measured in rows:
        name = (measured["launch"], measured["machine"])
        before = known.get(name, {})
        per = measured.get("host_instructions", 0) / measured["warp_instructions"]
        rate = measured["warp_instructions"] / measured["seconds"] / 1e6 if measured["seconds"] else 0
        line = f"{name[0]:<24} {name[1]:<15} {measured['warp_instructions']:>10} {per:>9.0f} {rate:>6.2f}"
        if before.get("host_instructions") and measured.get("host_instructions"):
            ratio = measured["host_instructions"] / before["host_instructions"]
            ratios.setdefault(name[1], []).append(math.log(ratio))
            line += f" {before['host_instructions'] / before['warp_instructions']:>9.0f} {ratio:>6.3f}"
        if before and before["cycles"] != measured["cycles"]:
            differ = True
            line += f"  CYCLES DIFFER: {before['cycles']} kept, {measured['cycles']} now"
        print(line)
    for machine, logs in ratios.items():
        print(f"{machine}: host instructions {math.exp(sum(logs) / len(logs)):.3f} times the kept ones (geometric mean)")
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("--program", default=str(pathlib.Path(target) / "release" / "warpbound"))
    parser.add_argument("--runs", type=int, default=5, help="runs whose smallest time counts")
    parser.add_argument("--only", default="", help="only launches whose names contain this")
    parser.add_argument("--no-instructions", action="store_true", help="do not count host instructions")
    parser.add_argument("--write", action="store_true", help=f"write {KEPT.relative_to(ROOT)}")
    args = parser.parse_args()
    rows = []
    for launch in (name for name in SHORT + LONG if args.only in name):
        for machine in MACHINES:
            if sys.stderr.isatty():
                print(f"\r{launch} on {machine}".ljust(60), end="\r", file=sys.stderr, flush=True)
            rows.append(row(args.program, launch, machine, args.runs, not args.no_instructions))
    kept = json.loads(KEPT.read_text())["rows"] if KEPT.exists() else []
    differ = compared(rows, kept)
    if args.write:
        version = subprocess.run([args.program, "--version"], capture_output=True, text=True).stdout.strip()
        date = subprocess.run(["date", "-u", "+%F"], capture_output=True, text=True).stdout.strip()
        table = {"program": version, "date": date, "processor": cpu(), "rows": rows}
        text = json.dumps(table, indent=None, separators=(", ", ": "))
        KEPT.write_text(text.replace('[{', '[\n{').replace('}, {', '},\n{').replace('}]', '}\n]') + "\n")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
