#!/usr/bin/env python3
"""The numbers of plans/README.md, computed anew: tables 3 and 4 of Jeanmougin et al., ECRTS 2025, beside variants of ours.

Usage: plans-readme.py [WARPBOUND]     the program, by default target/release/warpbound

It runs the sweeps of the plans with both compilers (well under a minute) and prints Markdown, which belongs into plans/README.md.
Chance is drawn with a fixed seed, so that the output is the same each time.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WARPBOUND = sys.argv[1] if len(sys.argv) > 1 else "target/release/warpbound"
LATENCIES = [400, 200, 100, 50, 25, 10, 5]
POLICIES = ["lrr", "gto"]
DRAWS, OF_RODINIA = 2000, 58
LARGE = 256
PROGRAMS = {"naive": "sgemm_naive", "double buffering": "sgemm_dbuf"}
WARPS = {32: "k1024_w32", 16: "k512_w16", 8: "k256_w8", 4: "k128_w4"}


def called(*args):
    done = subprocess.run([WARPBOUND, *args], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(args)}: {done.stderr}")
    return done.stdout


def reproduced(name, *more):
    return json.loads(called("reproduce", name, "--format", "json", *more))["results"][0]


def records(plan):
    """The records of a plan, those of points that failed left out."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        called("sweep", plan, "--out", str(out), "--quiet")
        lines = (out / "results.jsonl").read_text().splitlines()
    runs = [json.loads(line) for line in lines]
    return [run for run in runs if run.get("makespan") and run.get("gub") is not None]


def over(run):
    return 100 * (run["gub"] - run["makespan"]) / run["makespan"]


def means(runs, policy):
    of = lambda latency: [over(run) for run in runs if (run["policy"], run["mem_latency"]) == (policy, latency)]
    return [statistics.fmean(of(latency)) for latency in LATENCIES]


def threads(program, launch, known={}):
    """Threads of a block of a launch: 32 times the warps of its first block."""
    if (program, launch) not in known:
        text = called("phases", program, "--launch", str(launch), "--format", "json")
        known[program, launch] = 32 * len(json.loads(text)["results"][0]["warps"])
    return known[program, launch]


def row(name, values):
    print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in values) + " |")


def numbers(table, wanted):
    found = {}
    for number in table["numbers"]:
        if all(number.get(key) == value for key, value in wanted.items()):
            found[number["mem_latency"], number["policy"], number.get("warps"), number.get("program")] = number
    return found


def table3():
    suite = {name: reproduced("table3", *more) for name, more in COMPILERS.items()}
    calls = records("table3-calls")
    large = [run for run in calls if threads(run["kernel"], run["launch"]) >= LARGE]
    of_suite = records("table3")
    kernels = len({run["kernel"] for run in of_suite})
    per_point = len(LATENCIES) * len(POLICIES)
    print("## Table 3\n")
    print("| | latency " + " | ".join(str(latency) for latency in LATENCIES) + " |")
    print("|" + "---|" * (len(LATENCIES) + 1))
    for policy in POLICIES:
        mean = lambda table: numbers(table, {"policy": policy, "bound": "gub", "figure": "mean"})
        published = mean(suite["clang"])
        row(f"the paper, {policy}, mean", [published[at, policy, None, None]["published"] for at in LATENCIES])
        for name, table in suite.items():
            found = mean(table)
            row(f"{kernels} kernels, {name}", [found[at, policy, None, None]["ours"] for at in LATENCIES])
        row(f"{len(calls) // per_point} calls of programs", means(calls, policy))
        row(f"those of {LARGE} threads or more ({len(large) // per_point})", means(large, policy))
    both = [numbers(table, {"bound": "gub", "figure": "mean"}) for table in suite.values()]
    moved = max(abs(both[0][key]["ours"] - both[1][key]["ours"]) for key in both[0] if key in both[1])
    print(f"\nThe compiler moves a mean by at most {moved:.1f} points.")
    drawn = random.Random(1)
    at = [over(run) for run in of_suite if (run["policy"], run["mem_latency"]) == ("gto", 200)]
    some = sorted(statistics.fmean(drawn.sample(at, OF_RODINIA)) for _ in range(DRAWS))
    low, high = some[DRAWS * 25 // 1000], some[DRAWS * 975 // 1000 - 1]
    print(f"The mean of {OF_RODINIA} kernels drawn from {kernels} at 200 under gto: {low:.1f} to {high:.1f} in 95 of 100 draws.\n")


def table4():
    found = {name: numbers(reproduced("table4", *more), {"bound": "gub"}) for name, more in COMPILERS.items()}
    print("## Table 4\n")
    for policy in POLICIES:
        print(f"GUB under {policy} by warps; ours with PTX by {', '.join(COMPILERS)}\n")
        print("| | " + " | ".join(str(warps) for warps in WARPS) + " |")
        print("|" + "---|" * (len(WARPS) + 1))
        for program in PROGRAMS:
            for latency in [400, 5]:
                keys = [(latency, policy, warps, program) for warps in WARPS]
                row(f"{program}, latency {latency}: the paper", [found["clang"][key]["published"] for key in keys])
                ours = [", ".join(f"{table[key]['ours']:.1f}" for table in found.values()) for key in keys]
                print("| " + ", ".join(COMPILERS) + " | " + " | ".join(ours) + " |")
        print()
    for program in PROGRAMS:
        for policy in POLICIES:
            keys = [key for key in found["clang"] if key[1] == policy and key[3] == program]
            most = max(keys, key=lambda key: abs(found["NVRTC"][key]["ours"] - found["clang"][key]["ours"]))
            ours = [table[most]["ours"] for table in found.values()]
            print(
                f"The compiler moves {program} under {policy} by at most {abs(ours[1] - ours[0]):.1f} points"
                f" ({most[2]} warps, latency {most[0]}: {ours[0]:.1f} and {ours[1]:.1f})."
            )
    print("\nAt latency 5, c of a line b + c / warps through each two neighbours (32 and 16 warps, 16 and 8, 8 and 4).\n")
    for program in PROGRAMS:
        for policy in POLICIES:
            of = lambda number, which: [number[5, policy, warps, program][which] for warps in WARPS]
            for name, values in [("paper", of(found["clang"], "published")), ("ours", of(found["clang"], "ours"))]:
                pairs = list(zip(WARPS, values, strict=True))
                slopes = [(b - a) / (1 / w - 1 / v) for (v, a), (w, b) in zip(pairs, pairs[1:])]
                print(f"* {program}, {policy}, {name}: c = " + ", ".join(f"{slope:.0f}" for slope in slopes))


COMPILERS = {"clang": [], "NVRTC": ["--compiler", "nvrtc"]}
table3()
table4()
