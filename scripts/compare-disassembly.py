#!/usr/bin/env python3
"""Compares `warpbound inspect --disasm` with NVIDIA's disassembler, instruction by instruction.

The script compares the machine code of all kernels, or that of the files that it is given. --arch
names one architecture, such as sm_86, and leaves out the files for others. With --random N, it
compares words that are made from the kernels' code for sm_61 by flipping bits, and from the forms of
the table. With --digests, it writes the lines of tests/data/sass/disassembly.txt for the compared
files: for each, a digest of the text of NVIDIA's disassembler, with which a test compares the text of
warpbound. The disassembler is part of the Python package triton (3.4.0); NVDISASM names another one,
such as that of the package nvidia-cuda-nvdisasm, whose version 13.5 knows sm_75 to sm_121 and nothing
older. warpbound is target/release/warpbound; WARPBOUND names another one.
"""

import argparse
import collections
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIGESTS = ROOT / "tests/data/sass/disassembly.txt"
# the code of kernels with that of functions in other sections, by file
LINKED = {}
NOP = 0x50B0000000070F00
sys.path.insert(0, str(ROOT / "scripts"))
tool = __import__("compile-kernels-sass").tool
WARPBOUND = os.environ.get("WARPBOUND", str(ROOT / "target/release/warpbound"))


def sections(path):
    """Returns the code of each kernel."""
    data = path.read_bytes()
    (start,) = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * index) for index in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        name = data[at : data.index(b"\0", at)].decode()
        if name.startswith(".text."):
            yield name[len(".text.") :], data[header[4] : header[4] + header[5]]


def architecture(path):
    """Returns the architecture of a cubin, such as 86 for sm_86."""
    data = path.read_bytes()
    (flags,) = struct.unpack_from("<I", data, 0x30)
    return flags >> (8 if data[8] >= 8 else 0) & 0xFF


def tidy(text):
    """Removes the blanks that the printer inserts, and the decoration of branch targets."""
    return re.sub(r"\s+", " ", text).replace(" ,", ",").strip().rstrip(";").strip()


def theirs(code, arch=61):
    """Returns the text of NVIDIA's disassembler by byte offset; it is empty if the disassembler refuses any word."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(code)
        file.flush()
        options = ["-b", f"SM{arch}", "-hex", "-novliw", "-ndf", file.name]
        out = subprocess.run([tool("nvdisasm"), *options], capture_output=True, text=True).stdout
    lines = (re.match(r"^\s+/\*([0-9a-f]+)\*/\s+(.*?)\s*/\* 0x[0-9a-f]{16} \*/", line) for line in out.splitlines())
    return {int(line[1], 16): tidy(line[2]) for line in lines if line}


def linked(path):
    """Returns whether functions are in sections of their own, whose code warpbound adds to that of the kernels."""
    return ".linked." in path.name


def whole_word(line):
    """Returns a word of 128 bits with its control codes, as warpbound read them."""
    barrier = lambda name: 7 if line[name] is None else line[name]
    codes = line["stall"] | (not line["yields"]) << 4 | barrier("write_barrier") << 5 | barrier("read_barrier") << 8
    codes |= line["wait"] << 11 | line["reuse"] << 17
    return (int(line["word"], 16) | codes << 105).to_bytes(16, "little")


def ours(path):
    """Returns the text of warpbound for a file, by kernel and byte offset."""
    out = subprocess.run([WARPBOUND, "inspect", str(path), "--disasm", "--format", "json"], capture_output=True, text=True)
    kernels = json.loads(out.stdout)["results"][0]["kernels"]
    if linked(path):
        LINKED[path] = [(kernel["kernel"], b"".join(map(whole_word, kernel["disassembly"]))) for kernel in kernels]
    return {kernel["kernel"]: {line["byte"]: tidy(line["text"] or "?") for line in kernel["disassembly"]} for kernel in kernels}


def with_code(path, name, code):
    """Returns a copy of a file in which a kernel has other code of the same length."""
    data = bytearray(path.read_bytes())
    for known, old in sections(path):
        if known == name:
            at = bytes(data).index(old)
            data[at : at + len(old)] = code
    return bytes(data)


def digest(lines):
    """Returns the 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in "\n".join(lines).encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def compare_kernels(paths, write):
    total, unknown, differ = collections.Counter(), collections.Counter(), collections.Counter()
    known = [line.split() for line in DIGESTS.read_text().splitlines()] if DIGESTS.exists() else []
    digests = {path: f"{path} {count} {value}\n" for path, count, value in known}
    for path in paths:
        mine, lines, arch = ours(path), [], architecture(path)
        for name, code in LINKED.get(path) or sections(path):
            for byte, text in sorted(theirs(code, arch).items()):
                total[arch] += 1
                lines.append(text)
                if mine[name].get(byte) != text:
                    unknown[arch] += mine[name].get(byte) == "?"
                    differ[arch] += mine[name].get(byte) != "?"
                    print(f"{path.name} {name}+{byte:#x}: theirs `{text}`, ours `{mine[name].get(byte)}`")
        # files with instructions that warpbound does not support have no digest
        if write and "?" not in {text for kernel in mine.values() for text in kernel.values()}:
            name = str(path.resolve().relative_to(ROOT))
            digests[name] = f"{name} {len(lines)} {digest(lines):016x}\n"
    for arch in sorted(total):
        print(f"sm_{arch}: {total[arch]} instructions, {unknown[arch]} unknown, {differ[arch]} differ")
    if write:
        DIGESTS.parent.mkdir(parents=True, exist_ok=True)
        DIGESTS.write_text("".join(line for _, line in sorted(digests.items())))


def compare_random(count, seed):
    """Disassembles each word separately, since NVIDIA's disassembler stops at the first word that it does not support."""
    random.seed(seed)
    base = next(path for path in sorted((ROOT / "kernels").glob("*/*.sm_61.cubin")) if "sgemm_naive" in path.name)
    name, own = next(sections(base))
    known = [struct.unpack_from("<Q", code, at)[0] for path in (ROOT / "kernels").glob("*/*.sm_61.cubin") for _, code in sections(path) for at in range(0, len(code), 8) if at % 32]
    table = re.findall(r'forms: "([^"]+)"', (ROOT / "isa/pascal.ron").read_text())
    forms = [int(form.split()[1], 16) << 48 | 0x70000 for forms in table for form in forms.split(";")]
    words = []
    for _ in range(count):
        word, flips = (random.choice(known), random.choice([1, 1, 2, 3])) if random.random() < 0.5 else (random.choice(forms), 6)
        for _ in range(flips):
            word ^= 1 << random.randrange(56)
        words.append((word, random.choice([0, 0, 1, 2, 4, 7])))
    bundle = lambda word, reuse: struct.pack("<4Q", (0x7F0 | reuse << 17) | 0x7F0 << 21 | 0x7F0 << 42, word, NOP, NOP)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        expected = list(pool.map(lambda both: theirs(bundle(*both)).get(8), words))
    room = len(own) // 32
    mine = []
    for start in range(0, count, room):
        part = words[start : start + room]
        code = b"".join(bundle(*both) for both in part) + bundle(NOP, 0) * (room - len(part))
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(with_code(base, name, code))
            file.flush()
            lines = ours(Path(file.name))[name]
        mine += [lines[32 * index + 8] for index in range(len(part))]
    bare = lambda text: re.sub(r"((?:BRA|SSY|PBK|PCNT|CAL|PRET)\b.*) `?\(?-?0x[0-9a-f]+\)?$", r"\1 TARGET", text)
    counts = {"same": 0, "differ": 0, "theirs only": 0, "ours only": 0, "neither": 0}
    for (word, _), a, b in zip(words, expected, mine):
        kind = ("neither" if b == "?" else "ours only") if a is None else "theirs only" if b == "?" else "same" if bare(a) == bare(b) else "differ"
        counts[kind] += 1
        if kind in ("differ", "ours only"):
            print(f"{kind}: {word:#018x}: theirs `{a}`, ours `{b}`")
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cubins", nargs="*", type=Path)
    parser.add_argument("--arch", metavar="sm_NN")
    parser.add_argument("--random", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--digests", action="store_true")
    args = parser.parse_args()
    paths = args.cubins or sorted((ROOT / "kernels").glob("*/*.cubin"))
    wanted = [path for path in paths if args.arch in (None, f"sm_{architecture(path)}")]
    compare_kernels(wanted, args.digests)
    if args.random:
        compare_random(args.random, args.seed)


if __name__ == "__main__":
    main()
