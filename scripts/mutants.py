#!/usr/bin/env python3
"""Plants faults in the source, one at a time, and reports those that no test finds.

    scripts/mutants.py 30                    # thirty faults, drawn with seed 1
    scripts/mutants.py 30 --seed 2 --slow 0  # another thirty, against every test, including slow ones
    scripts/mutants.py --only 217 340        # two faults by their number
    scripts/mutants.py --list                # every fault that can be planted, with its number

A fault is a changed operator, comparison, number or method, or a statement that is left out. Faults
are planted in the functions of the folders of FOLDERS, outside of tests, comments and texts. A copy
of the repository below target/mutants receives all drawn faults at once: a function with a fault
has two bodies there, and the environment variable WARPBOUND_PLANTED says which of them is executed.
So it is built once for all faults (mutant schemata: Untch, Offutt, Harrold, ISSTA 1993). The
repository itself is not changed. Then the unit tests of the folder run with each fault, and the
test suites, until a test fails:

  killed         a test failed, or ran into its time limit
  survived       every test passed: a test is missing, or the fault changes nothing
  does not build the compiler refuses it, so that it proves nothing

Each group of tests is measured first without a fault; those that take longer than --slow seconds
are left out. Results are printed as they come, and stay in target/mutants/results.txt.
"""

import argparse
import json
import os
import queue
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "target/mutants"
TREE = PLACE / "tree"
RESULTS = PLACE / "results.txt"
CHOICE = "WARPBOUND_PLANTED"

# The folders in which faults are planted; the crate of each and a filter of its unit tests; and the
# test suites, the most closely related first.
FOLDERS = {
    "crates/bound/src": ("warpbound-bound", "", ["bound", "all_paths", "engine", "accelsim", "exec"]),
    "crates/exec/src/races": ("warpbound-exec", "", ["exec", "bound", "all_paths", "engine", "accelsim"]),
    "crates/sim/src/pipeline/memory": ("warpbound-sim", "pipeline", ["engine", "accelsim", "bound", "all_paths", "exec"]),
}

# A pattern in code, and its replacement.
SWAPS = [
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " + "),
    (r" / ", " * "),
    (r" % ", " / "),
    (r" \+= ", " -= "),
    (r" -= ", " += "),
    (r" << ", " >> "),
    (r" >> ", " << "),
    (r" & ", " | "),
    (r" \| (?=[a-z(!])", " & "),
    (r" && ", " || "),
    (r"(?<=[\w)\]]) \|\| ", " && "),
    (r"\bif !", "if "),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"\.min\(", ".max("),
    (r"\.max\(", ".min("),
    (r"\.any\(", ".all("),
    (r"\.all\(", ".any("),
    (r"\.is_some\(", ".is_none("),
    (r"\.is_none\(", ".is_some("),
    (r"\.is_some_and\(", ".is_none_or("),
    (r"\.is_none_or\(", ".is_some_and("),
    (r"\.is_empty\(\)", ".len() == 1"),
    (r"\bbreak;", "continue;"),
    (r"\bcontinue;", "break;"),
    (r"\.\.=", ".."),
]
NUMBER = re.compile(r"(?<![\w.#'])(\d+)(?![\w.]|\.\d)")
# A statement on one line that can be removed without leaving a value or a name undefined.
STATEMENT = re.compile(r"(?<=[;{}])\s*\n *(?! |let |use |return|break|continue|const |debug_assert|assert|#|\})([^\n{}]*;)(?=\n)")
# The text that is not code: comments, strings, characters.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|b?"(?:[^"\\]|\\.)*"|b?\'(?:[^\'\\\n]|\\[^\n]+?)\'', re.DOTALL
)


def blanked(text):
    """Returns the text with blanks in place of everything that is not code, so that offsets do not change."""
    return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closing(code, opening):
    """Returns the offset after the brace that closes the one at this offset."""
    depth = 0
    for at in range(opening, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return len(code)


def bodies(code):
    """Returns the extents of the bodies of functions that can have a fault; tests and constant functions cannot."""
    tests = []
    for found in re.finditer(r"#\[cfg\(test\)\]\s*(?:pub )?(?:mod|fn|impl)\b[^{;]*\{", code):
        tests.append((found.start(), closing(code, found.end() - 1)))
    for found in re.finditer(r"\b(const )?fn\s+\w+[^{;]*\{", code):
        inside = any(start <= found.start() < end for start, end in tests)
        if not inside and not found.group(1):
            yield found.end() - 1, closing(code, found.end() - 1)


def faults():
    """Returns every fault: its file, the body that contains it, the text that it replaces, and the replacement."""
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.rs")):
            if path.stem.endswith("tests"):
                continue
            code = blanked(path.read_text())
            for start, end in bodies(code):
                body, changes = code[start:end], []
                for pattern, instead in SWAPS:
                    changes += [(hit.start(), hit.end(), instead) for hit in re.finditer(pattern, body)]
                for hit in NUMBER.finditer(body):
                    value = int(hit.group())
                    changes.append((hit.start(), hit.end(), str(value + 1)))
                    if value > 1:
                        changes.append((hit.start(), hit.end(), str(value - 1)))
                changes += [(hit.start(1), hit.end(1), "") for hit in STATEMENT.finditer(body)]
                for first, last, instead in sorted(changes):
                    line = body[body.rfind("\n", 0, first) + 1 : first] + body[first:].split("\n")[0]
                    if "assert" not in line and "unreachable" not in line:
                        place = (start + first, start + last)
                        found.append((path.relative_to(ROOT), (start, end), place, instead))
    return found


def shown(number, fault):
    """Returns a fault as text: its number, its place, and the line before and after the change."""
    path, _, (first, last), instead = fault
    text = (ROOT / path).read_text()
    start, end = text.rfind("\n", 0, first) + 1, text.find("\n", last)
    changed = (text[start:first] + instead + text[last:end]).strip() or "(left out)"
    line = text.count("\n", 0, first) + 1
    return f"{number} {path}:{line}\n    - {text[start:end].strip()}\n    + {changed}"


def copied():
    """Updates the copy. Files that are equal are not written, so that little has to be rebuilt."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    wanted = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    for name in wanted:
        written(name, (ROOT / name).read_bytes())
    for path in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(path.relative_to(TREE)) not in wanted:
            path.unlink()


def written(name, content):
    """Writes a file of the copy if its contents have changed."""
    target = TREE / name
    if not target.exists() or target.read_bytes() != content:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def planted(chosen):
    """Plants the faults in the copy and returns, by number, the position of the changed body in its file."""
    places = {}
    by_file = {}
    for number, fault in chosen.items():
        by_file.setdefault(fault[0], {}).setdefault(fault[1], []).append((number, fault))
    for path, by_body in by_file.items():
        text = (ROOT / path).read_text()
        out, at, mine = "", 0, []
        # a nested function is part of the body of the outer one
        for start, end in sorted(by_body):
            if start < at:
                mine += [(number, None) for number, _ in by_body[start, end]]
                continue
            out += text[at:start] + "{\n"
            for number, (_, _, (first, last), instead) in by_body[start, end]:
                begins = out.count("\n") + 1
                out += f"if crate::planted({number}) " + text[start:first] + instead + text[last:end] + " else\n"
                mine.append((number, (begins, out.count("\n"))))
            out += text[start:end] + "\n}"
            at = end
        written(path, (out + text[at:]).encode())
        places[str(path)] = mine
    for root in {Path(*path.parts[:3]) / "lib.rs" for path in by_file}:
        text = (TREE / root).read_text() + f"""
/// Whether this fault is executed.
pub(crate) fn planted(number: usize) -> bool {{
    static CHOICE: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
    *CHOICE.get_or_init(|| std::env::var("{CHOICE}").ok()?.parse().ok()) == Some(number)
}}
"""
        written(root, text.encode())
    return places


def cargo(command, *words):
    """Runs cargo in the copy and returns its messages and whether it succeeded."""
    line = [*command, *words, "--message-format=json"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(PLACE / "target")}
    done = subprocess.run(line, cwd=TREE, env=environment, capture_output=True, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 and not any(m["reason"] == "compiler-message" for m in messages):
        sys.exit(f"{shlex.join(line)}: {done.stderr}")
    return messages, done.returncode == 0


def planted_where_it_builds(command, chosen):
    """Plants the faults that the compiler accepts; returns these, and those that it refuses."""
    chosen, refused = dict(chosen), {}
    while True:
        copied()
        places = planted(chosen)
        wrong = {number for mine in places.values() for number, place in mine if place is None}
        messages, fine = cargo(command, "test", "--no-run", "--workspace", "--lib")
        for message in messages:
            if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
                for span in message["message"]["spans"]:
                    for number, place in places.get(span["file_name"], []):
                        if place and place[0] <= span["line_end"] and span["line_start"] <= place[1]:
                            wrong.add(number)
        if not fine and not wrong:
            errors = [m["message"]["rendered"] for m in messages if m["reason"] == "compiler-message"]
            sys.exit("the copy does not build, and no fault is to blame:\n" + "\n".join(errors[:5]))
        refused |= {number: chosen.pop(number) for number in wrong}
        if fine:
            return chosen, refused


def executables(command, names):
    """Builds tests of the copy and returns the paths of the executables by name."""
    crates = [name for name in names if name.startswith("warpbound-")]
    suites = [word for name in names if name not in crates for word in ("--test", name)]
    found = {}
    for words in [*(["-p", name, "--lib"] for name in crates), *([["-p", "warpbound", *suites]] if suites else [])]:
        messages, fine = cargo(command, "test", "--no-run", *words)
        if not fine:
            sys.exit(f"{', '.join(names)} do not build")
        for message in messages:
            if message.get("executable") and message["profile"]["test"]:
                found[message["target"]["name"].replace("_", "-") if "--lib" in words else message["target"]["name"]] = message["executable"]
    return found


def passed_on(process, lines):
    """Forwards the lines of a process, and None at the end."""
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def tested(executable, words, limit, fault=None):
    """Runs tests one after the other until one fails; returns that test, or None, and the seconds of each test."""
    environment = {**os.environ, "CARGO_MANIFEST_DIR": str(TREE)} | ({CHOICE: str(fault)} if fault is not None else {})
    process = subprocess.Popen(
        ["nice", "-n", "15", executable, *words, "--test-threads=1"],
        cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )
    lines = queue.Queue()
    threading.Thread(target=passed_on, args=(process, lines), daemon=True).start()
    taken, failed, since = {}, None, time.monotonic()
    while True:
        try:
            line = lines.get(timeout=max(0.0, since + limit - time.monotonic()))
        except queue.Empty:
            failed = "a test that does not end"
            break
        if line is None:
            if process.wait() != 0:
                failed = "a test that aborts"
            break
        found = re.match(r"test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", line)
        if found:
            now = time.monotonic()
            taken[found.group(1)] = now - since
            since = now
            if found.group(2) == "FAILED":
                failed = found.group(1)
                break
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    return failed, taken


def stages(path):
    """Returns the executables to run for a fault in a file, and the words that select their tests."""
    crate, unit, suites = next(tests for folder, tests in FOLDERS.items() if path.is_relative_to(folder))
    return [(crate, [unit] if unit else [])] + [(suite, []) for suite in suites]


def measured(which, executable, words, slow, limit):
    """Runs tests without a fault and returns the words that skip those that take too long."""
    listed = subprocess.run([executable, *words, "--list"], capture_output=True, text=True, cwd=TREE).stdout
    names = [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]
    rest, skipped, in_all = names, [], 0.0
    while rest:
        failed, taken = tested(executable, ["--exact", *rest], 4 * slow or limit)
        skipped += [name for name, seconds in taken.items() if slow and seconds > slow]
        in_all += sum(seconds for name, seconds in taken.items() if name not in skipped)
        rest = [name for name in rest if name not in taken]
        if failed == "a test that does not end" and slow:
            skipped.append(rest.pop(0))
        elif failed:
            sys.exit(f"{which} without a fault: {failed}")
    report(f"without a fault: {which}: {len(names)} tests, {len(skipped)} left out, the others take {in_all:.0f} s")
    return [word for name in skipped for word in ("--skip", name)]


def report(text):
    """Prints a result and stores it."""
    print(text, flush=True)
    with RESULTS.open("a") as out:
        out.write(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=30, help="the number of faults to draw")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the random choice of faults")
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="these faults instead of drawn ones")
    parser.add_argument("--list", action="store_true", help="print every fault and plant none")
    parser.add_argument("--slow", type=float, default=10, metavar="SECONDS", help="leave out tests that take longer; 0 leaves out none")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="a test that takes longer is killed")
    parser.add_argument("--cargo", default="cargo", help="the command for cargo")
    options = parser.parse_args()
    everything = faults()
    if options.list:
        print("\n".join(shown(number, fault) for number, fault in enumerate(everything)))
        return
    drawn = options.only or random.Random(options.seed).sample(range(len(everything)), options.count)
    PLACE.mkdir(parents=True, exist_ok=True)
    command = shlex.split(options.cargo)
    how = "by their numbers" if options.only else f"drawn with seed {options.seed}"
    report(f"{len(everything)} faults can be planted, {len(drawn)} are, {how}")
    chosen, refused = planted_where_it_builds(command, {number: everything[number] for number in drawn})
    for number, fault in refused.items():
        report(f"does not build: {shown(number, fault)}")

    # the unit tests run first, since they kill most faults; suites are built and run for the faults
    # that survive
    alive, killed = list(chosen), 0
    built, skips = {}, {}
    for stage in range(1 + max(len(suites) for *_, suites in FOLDERS.values())):
        left = [number for number in alive if stage < len(stages(chosen[number][0]))]
        needed = sorted({stages(chosen[number][0])[stage][0] for number in left} - set(built))
        if needed:
            built |= executables(command, needed)
        for number in left:
            which, words = stages(chosen[number][0])[stage]
            if (which, *words) not in skips:
                skips[which, *words] = measured(which, built[which], words, options.slow, options.limit)
            began = time.monotonic()
            by, _ = tested(built[which], [*words, *skips[which, *words]], options.limit, number)
            if by:
                alive.remove(number)
                killed += 1
                report(f"killed by {which} {by} ({time.monotonic() - began:.0f} s): {shown(number, chosen[number])}")
        report(f"after {stage + 1} of the tests: {killed} killed, {len(alive)} left")
    for number in alive:
        report(f"survived: {shown(number, chosen[number])}")
    report(f"{len(drawn)} faults: {killed} killed, {len(alive)} survived, {len(refused)} do not build")


if __name__ == "__main__":
    main()
