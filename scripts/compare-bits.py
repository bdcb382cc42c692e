#!/usr/bin/env python3
"""Compares words of machine code in which single bits are flipped with NVIDIA's disassembler.

The words are those of cubins, by default of the kernels for the architecture that --arch names: one
for each opcode and mnemonic. Each bit is flipped that does not belong to the control codes. The
result for each word is one of these:

  equal    both disassemblers print the same text
  refused  NVIDIA's disassembler prints a text, and warpbound refuses the word
  invalid  NVIDIA's disassembler prints INVALID or question marks, and warpbound refuses the word
  neither  both refuse the word
  DIFFERS  warpbound prints a text that differs from that of NVIDIA's disassembler, or a word that the latter refuses

--write writes tests/data/sass/bits.txt, or the file that it names: of each opcode the words that
NVIDIA's disassembler prints differently from the one without the flipped bit, in the upper half of the
word, with the text. --only names the mnemonics by a regular expression. A test compares the text of
warpbound with the file. NVDISASM names the disassembler; the package
nvidia-cuda-nvdisasm (13.5) contains one that knows sm_75 to sm_121. warpbound is
target/release/warpbound; WARPBOUND names another one.
"""

import argparse
import collections
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "tests/data/sass/bits.txt"
sys.path.insert(0, str(ROOT / "scripts"))
shared = __import__("compare-disassembly")
# where the control codes begin, how many bits they have, and codes without barriers
CONTROL, BITS, NEUTRAL = 105, 20, 7 << 110 | 7 << 113
OPCODE = 0xFFF | 1 << 91


def theirs(words, arch):
    """Returns the text of NVIDIA's disassembler for each word. If it does not support some words, it prints only their names."""
    texts, left = {}, list(words)
    while left:
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            file.write(b"".join(word.to_bytes(16, "little") for word in left))
            file.flush()
            options = ["-b", f"SM{arch}", "-hex", "-novliw", "-ndf", file.name]
            out = subprocess.run([shared.tool("nvdisasm"), *options], capture_output=True, text=True)
        unknown = {int(at, 16) // 16 for at in re.findall(r"at address 0x([0-9a-f]+)", out.stderr)}
        if not unknown:
            lines = re.findall(r"^\s+/\*([0-9a-f]+)\*/\s+(.*?)\s*/\* 0x[0-9a-f]{16} \*/", out.stdout, re.M)
            printed = {int(at, 16) // 16: shared.tidy(text) for at, text in lines}
            return texts | {word: (index, printed.get(index)) for index, word in enumerate(left)}
        texts |= {left[index]: (None, None) for index in unknown}
        left = [word for index, word in enumerate(left) if index not in unknown]
    return texts


def cubin(code, arch):
    """Returns a cubin that contains one kernel and nothing else."""
    names = ["", ".shstrtab", ".nv.info.k", ".text.k"]
    strings = b"\0".join(name.encode() for name in names) + b"\0"
    body, headers = b"", b""
    for name, kind, content in zip(names, [0, 3, 0x70000000, 1], [b"", strings, b"", code]):
        at = strings.index(name.encode() + b"\0") if name else 0
        headers += struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, 64 + len(body), len(content), 0, 0, 1, 0)
        body += content
    start = b"\x7fELF\x02\x01\x01\x33\x07" + bytes(7)
    start += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), arch, 64, 0, 0, 64, len(names), 1)
    return start + body + headers


def ours(words, arch):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin(b"".join(word.to_bytes(16, "little") for word in words), arch))
        file.flush()
        lines = shared.ours(Path(file.name))["k"]
    return {word: None if lines[16 * index] == "?" else lines[16 * index] for index, word in enumerate(words)}


def examples(paths, arch):
    """Returns a word for each opcode and mnemonic, with neutral control codes."""
    words = {}
    for path in paths:
        for _, code in shared.sections(path):
            for at in range(0, len(code), 16):
                word = int.from_bytes(code[at : at + 16], "little")
                words[word & ~((1 << BITS) - 1 << CONTROL) | NEUTRAL] = None
    found = {}
    for word, (_, text) in theirs(list(words), arch).items():
        if text is not None:
            found.setdefault((word & OPCODE, re.sub(r"^@\S+ ", "", text).split(" ")[0]), word)
    return found


def bare(text):
    """Removes branch targets, which depend on the position of a word."""
    return re.sub(r"(?<=[ ,])-?0x[0-9a-f]+$", "TARGET", text) if re.match(r"(@\S+ )?(BRA|BSSY|CALL\.REL|RET\.REL|BRX|WARPSYNC\.C)", text) else text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cubins", nargs="*", type=Path)
    parser.add_argument("--arch", default="sm_86")
    parser.add_argument("--only", default="")
    parser.add_argument("--write", nargs="?", type=Path, const=WORDS)
    args = parser.parse_args()
    arch = int(args.arch.removeprefix("sm_"))
    paths = args.cubins or sorted((ROOT / "kernels").glob(f"*/*.{args.arch}.cubin"))
    found = {key: word for key, word in examples(paths, arch).items() if re.match(args.only, key[1])}
    words = {word ^ 1 << bit: (key, word, bit) for key, word in found.items() for bit in range(CONTROL)}
    words |= {word: (key, word, None) for key, word in found.items()}
    expected, counts, kept, seen = theirs(words, arch), collections.Counter(), [], set()
    # both disassemblers see a word at the same place, since targets of branches depend on it
    placed = sorted((word for word in words if expected[word][0] is not None), key=lambda word: expected[word][0])
    mine = ours(placed, arch) | ours([word for word in words if expected[word][0] is None], arch)
    for word, (key, example, bit) in words.items():
        theirs_text, ours_text = expected[word][1], mine[word]
        if ours_text is None:
            what = "neither" if theirs_text is None else "invalid" if re.search(r"INVALID|\?", theirs_text) else "refused"
        else:
            what = "equal" if theirs_text == ours_text else "DIFFERS"
        counts[what] += 1
        if what == "DIFFERS":
            print(f"{word:#034x}: theirs `{theirs_text}`, ours `{ours_text}`")
        if theirs_text is not None and (bit is None or bit >= 64 and theirs_text != expected[example][1]):
            if (key[0], bit) not in seen:
                seen.add((key[0], bit))
                kept.append(f"{word:032x} {bare(theirs_text)}\n")
    print(f"sm_{arch}: {len(words)} words: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    if args.write:
        args.write.write_text("".join(sorted(kept)))


if __name__ == "__main__":
    main()
