#!/usr/bin/env python3
"""Runs `warpbound pwcet KERNEL --judge` over the suite and writes the tables of docs/pwcet.md.

  scripts/pwcet-study.py target/release/warpbound > docs/pwcet.md     (18 minutes on two idle cores)
  scripts/pwcet-study.py target/release/warpbound 2                   (only the second table)
  scripts/pwcet-study.py target/release/warpbound --keep DIR

With --keep, the output of each command is stored in DIR, and the command is not run again.

A kernel whose time does not vary has no row. The command above each table reproduces its numbers.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

STUDIES = [
    (
        "Inputs",
        "random inputs on `ecrts25-orin`",
        ["--runs", "5000", "--judge", "100000", "--vary", "inputs", "--max-states", "20000"],
    ),
    (
        "Caches and placement",
        "random replacement and placement of blocks on `kepler-gk104`, the same inputs in all runs",
        ["--machine", "kepler-gk104", "--runs", "1000", "--judge", "10000", "--vary", "replacement,placement",
         "--max-states", "50"],
    ),
    (
        "Latencies",
        "geometric additions to DRAM latencies on `accelsim-ecrts-dram`, the same inputs in all runs",
        ["--machine", "accelsim-ecrts-dram", "--set", "memory.jitter=Geometric(4)", "--runs", "1000", "--judge", "10000",
         "--vary", "jitter", "--max-states", "50"],
    ),
]


HEAD = """`pwcet` fits the tail of some thousand runs and says which time a run exceeds with probability 1e-9.
For this page many more runs were simulated than `pwcet` was given.

* *accepted*: all tests of the decision flow accept (1 %).
* *doubtful ties*: the tail has few distinct values.
* *below a run*: one of the further runs took longer than the time at 1e-9. That time is no whole
  number, and is not rounded for this comparison.
* *too many from*: the largest probability at which more runs took longer than the curve allows
  (p < 0.001). An estimate that is right on average is a little too low in half of all cases, which
  shows in a large number of runs. Therefore the table has the same column for the upper limits of
  the intervals (95 %, profile likelihood).
* The bounds are the largest ones on the paths of the further runs. `explored` is the worst schedule
  of the first 20 runs, where blocks are small enough. On the machines of the second and third table
  no bound applies.

`scripts/pwcet-study.py target/release/warpbound > docs/pwcet.md` generates this page.
"""


def kernels(tool):
    listed = subprocess.run([tool, "list", "--format", "json"], capture_output=True, text=True, check=True).stdout
    return [kernel["name"] for kernel in json.loads(listed)["results"][0]["kernels"] if kernel["suite"]]


def printed(tool, kernel, options, kept):
    """Returns the output of the command, from the file if it exists."""
    if kept and kept.exists():
        return kept.read_text()
    command = [tool, "pwcet", kernel, *options, "--format", "json"]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        part.write_text(text)
        part.rename(kept)
    return text


def result(tool, kernel, options, kept):
    text = printed(tool, kernel, options, kept)
    results = json.loads(text)["results"] if text.strip() else []
    # times without a curve appear as numbers only
    return results[0] if results and "pwcet" in results[0] else None


def short(time):
    return f"{time:.0f}" if time < 1e12 else f"{time:.1e}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("tables", nargs="*", type=int)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    tool = args.tool
    chosen = [number - 1 for number in args.tables] or range(len(STUDIES))
    print("# Does a pWCET hold?\n")
    print(HEAD)
    for number in chosen:
        title, about, options = STUDIES[number]
        rows, low, accepted_low, accepted, contradicted, limit_low, limit_contradicted, still = [], 0, 0, 0, 0, 0, 0, 0
        for kernel in kernels(tool):
            found = result(tool, kernel, options, args.keep and args.keep / str(number + 1) / f"{kernel}.json")
            print(kernel, "-" if found is None else "ok", file=sys.stderr, flush=True)
            if found is None:
                still += 1
                continue
            judged, decision = found["judged"], found["decision"]
            others = {row["name"]: row.get("value") for row in judged["others"]}
            reliable = decision["reliable"]
            many = [at["probability"] for at in judged["exceeded"] if at["contradicted"]]
            limits = [(at["probability"], at["by_upper_limit"]) for at in judged["exceeded"] if at["by_upper_limit"]]
            many_limits = [probability for probability, limit in limits if limit["contradicted"]]
            limit = min((limit["time"] for probability, limit in limits if abs(probability - 1e-9) < 1e-12), default=None)
            accepted += reliable
            low += judged["below_run"]
            accepted_low += reliable and judged["below_run"]
            contradicted += reliable and bool(many)
            limit_low += reliable and limit is not None and limit < judged["longest"]
            limit_contradicted += reliable and bool(many_limits)
            bounds = [others.get(name) for name in ("iwb", "lwb", "static", "explored")]
            rows.append(
                [
                    kernel,
                    "yes" if reliable else "no",
                    f"{found['tail']['best']['xi']:.2f}",
                    "yes" if found["tail"]["ties"]["doubtful"] else "",
                    short(found["sample"]["maximum"]),
                    short(judged["at_1e_9"]),
                    str(judged["longest"]),
                    "**yes**" if judged["below_run"] else "",
                    f"{max(many):.0e}" if many else "",
                    "-" if limit is None else short(limit),
                    f"{max(many_limits):.0e}" if many_limits else "",
                    *["" if bound is None else str(bound) for bound in bounds],
                ]
            )
        print(f"## {title}: {about}\n")
        print(f"    warpbound pwcet KERNEL {' '.join(options)}\n".replace("memory.jitter=Geometric(4)", "'memory.jitter=Geometric(4)'"))
        print(
            f"{len(rows)} kernels vary, {still} have no curve (their time is always the same, or takes too few values).\n"
            f"The tests accept {accepted}. For {accepted_low} of these a run took longer than the time at 1e-9, and for {limit_low} even\n"
            f"longer than the upper limit of this time (95 %). {contradicted} of them are contradicted at some\n"
            f"probability, {limit_contradicted} even with the upper limit. Of all {len(rows)} kernels, a run took longer than the time at\n"
            f"1e-9 for {low}.\n"
        )
        heading = ["kernel", "accepted", "xi", "doubtful ties", "longest analysed", "at 1e-9", "longest of all", "below a run",
                   "too many from", "upper limit at 1e-9", "too many beyond limits from", "iwb", "lwb", "static", "explored"]
        print("| " + " | ".join(heading) + " |")
        print("|" + "---|" * len(heading))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        print(flush=True)


main()
