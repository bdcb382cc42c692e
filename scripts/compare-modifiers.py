#!/usr/bin/env python3
"""Compares every modifier bit of isa/pascal.ron with NVIDIA's disassembler.

The script also makes the table of docs/machine-code.md. It makes a word with neutral operands from
each form of the table of encodings. From this word it makes further ones: with each bit flipped;
with each pair of bits flipped, except the bits of registers and numbers; with each value of each
choice; and random ones. The result for each word is one of these:

  equal    both disassemblers print the same text
  refused  NVIDIA's disassembler prints a text, and warpbound refuses the word
  invalid  NVIDIA's disassembler prints INVALID or question marks, and warpbound refuses the word
  neither  both refuse the word
  DIFFERS  warpbound prints a text that differs from that of NVIDIA's disassembler, or a word that the latter refuses

--write writes tests/data/sass/modifiers.txt: the words in which a single bit or choice is changed,
if the text of NVIDIA's disassembler then changes, with this text. A test compares the text of
warpbound with it. The disassembler is part of the Python package triton (3.4.0); NVDISASM names
another one. warpbound is target/release/warpbound; WARPBOUND names another one.
"""

import argparse
import collections
import itertools
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "tests/data/sass/modifiers.txt"
sys.path.insert(0, str(ROOT / "scripts"))
shared = __import__("compare-disassembly")
WORD_BITS = 64
GUARD = 15 << 16
# the bits from here on identify the instruction
OPCODE = 56
# the number of words in one run of a disassembler
BATCH = 3000


def put(field, value):
    """Places a value in a field of several pieces, low bits first."""
    word = 0
    for bit, width in field:
        word |= (value & (1 << width) - 1) << bit
        value >>= width
    return word


class Table:
    """The forms in the table of encodings, with the data that are needed to make words from them."""

    def __init__(self, text):
        self.choices = {found[1]: self.texts(found[2]) for found in re.finditer(r'^\s+"(\w+)": "([^"]+)"', text, re.M)}
        self.entries = re.findall(r'Op\(name: "([^"]+)",([^"]*"[^"]*",[^"]*) forms: "([^"]+)"(.*?)text: "([^"]*)"', text, re.S)

    @staticmethod
    def texts(listed):
        found = []
        for item in listed.split():
            if "=" in item:
                number, item = item.split("=")
                found += ["?"] * (int(number, 16) - len(found))
            found.append(item)
        return found

    def width(self, choice):
        return (len(self.choices[choice]) - 1).bit_length()

    @staticmethod
    def field(at, width):
        pieces = [piece.split("+") for piece in at.split(",")]
        return [(int(piece[0]), int(piece[1]) if len(piece) > 1 else (width if len(pieces) == 1 else 1)) for piece in pieces]

    def forms(self):
        """Name, form, word, choices with their places, and the bits of registers, numbers and the guard."""
        for name, before, forms, after, text in self.entries:
            bits = {key: int(value, 16) for key, value in re.findall(r'(set|clear): "(0x[0-9a-f]+)"', before + after)}
            fixed, clear = bits.get("set", 0), bits.get("clear", 0)
            guard = 0 if "guarded: false" in before + after else GUARD
            for form in forms.split(";"):
                source, pattern = form.split()[:2]
                word = int(pattern, 16) << 48 | fixed | guard & 7 << 16
                operands, choices = guard, []
                for inner in re.findall(r"\{([^}]*)\}", text):
                    head, *rest = inner.split()
                    if "=" in head:
                        what, at = head.split("=", 1)[1].rsplit("@", 1)
                        if what.startswith("."):
                            continue
                        field = self.field(at, self.width(what))
                        value = self.neutral(what, field, fixed, clear)
                    else:
                        what, _, at = head.split(":")[1].partition("@")
                        if what in self.choices:
                            field = self.field(at, self.width(what))
                            value = {"cc": 15, "special": 0x20}.get(what) or self.neutral(what, field, fixed, clear)
                        else:
                            field, value = self.operand(head.split(":")[0], what, at, source)
                            operands |= put(field, -1)
                            for offset in (other for other in rest if other.startswith("offset=") and what != "CX"):
                                place = self.field(offset.split("@")[1], int(re.search(r"\d+", offset)[0]))
                                word |= put(place, 0x10)
                                operands |= put(place, -1)
                            word |= put(field, value)
                            continue
                    word |= put(field, value)
                    choices.append((field, len(self.choices[what])))
                yield name, form.strip(), word, choices, operands

    def neutral(self, choice, field, fixed, clear):
        mask = put(field, -1)
        fits = [number for number, text in enumerate(self.choices[choice]) if text != "?" and put(field, number) & fixed == fixed & mask and not put(field, number) & clear]
        return 2 if choice == "float" and 2 in fits else fits[0]

    def operand(self, name, kind, at, source):
        register = {"d": 8, "a": 10, "b": 12, "c": 16}.get(name, 20)
        constant = [(20, 14), (34, 5)], 0x44 | 3 << 14
        if kind == "B":
            number = [(20, 19), (56, 1)], 0x3F80
            return {"r": ([(20, 8)], 12), "c": constant}.get(source, number)
        if kind == "CX":
            return [(8, 8), (20, 16), (36, 5)], 10 | 0x20 << 8 | 3 << 24
        width, value = {"P": (3, 7), "F32": (32, 0x3F800000), "T": (24, 0x100), "SB": (3, 1), "SBS": (6, 1)}.get(kind, (8, register))
        if found := re.fullmatch(r"[US](\d+)", kind):
            width, value = int(found[1]), 3
        return self.field(at, width), value


def cases(table, seed):
    """Returns for each form the changes of its word and the resulting words; the words that the test keeps come first."""
    chance = random.Random(seed)
    for name, form, word, choices, operands in table.forms():
        free = [bit for bit in range(WORD_BITS) if not operands >> bit & 1]
        single = [word] + [word ^ 1 << bit for bit in free if bit < OPCODE]
        for field, count in choices:
            single += [word & ~put(field, -1) | put(field, number) for number in range(min(count + 1, 1 << sum(width for _, width in field)))]
        more = [word ^ 1 << bit for bit in range(WORD_BITS)]
        more += [word ^ 1 << one ^ 1 << other for one, other in itertools.combinations(free, 2)]
        more += [word | 0xFF << 8, word | 0xFF << 8 | 1 << 43, word | 0xFF << 8 | 1 << 50, word | 0xFF]
        any_operands = lambda: word & ~operands | chance.getrandbits(WORD_BITS) & operands & ~GUARD | word & GUARD
        more += [any_operands() for _ in range(25)]
        for _ in range(85):
            other = any_operands() if chance.random() < 0.3 else word
            for bit in chance.sample(free, min(len(free), chance.choice([2, 3, 4, 5]))):
                other ^= 1 << bit
            more.append(other)
        yield f"{name} {form}", list(dict.fromkeys(single)), list(dict.fromkeys(more))


def bundles(words):
    """Returns code that contains the words, three after each word of control codes."""
    words = words + [shared.NOP] * (-len(words) % 3)
    groups = (words[at : at + 3] for at in range(0, len(words), 3))
    return b"".join(struct.pack("<4Q", 0x7F0 | 0x7F0 << 21 | 0x7F0 << 42, *group) for group in groups)


def place(index):
    return index // 3 * 32 + 8 + index % 3 * 8


def theirs(words):
    """Returns the text of NVIDIA's disassembler for each word. If it does not support some words, it prints only their names."""
    texts = {}
    for start in range(0, len(words), BATCH):
        left = words[start : start + BATCH]
        while left:
            with tempfile.NamedTemporaryFile(suffix=".bin") as file:
                file.write(bundles(left))
                file.flush()
                options = ["-b", "SM61", "-hex", "-novliw", "-ndf", file.name]
                out = subprocess.run([shared.tool("nvdisasm"), *options], capture_output=True, text=True)
            unknown = {int(at, 16) for at in re.findall(r"at address 0x([0-9a-f]+)", out.stderr)}
            if unknown:
                texts |= {word: None for index, word in enumerate(left) if place(index) in unknown}
                left = [word for index, word in enumerate(left) if place(index) not in unknown]
                continue
            lines = re.findall(r"^\s+/\*([0-9a-f]+)\*/\s+(.*?)\s*/\* 0x[0-9a-f]{16} \*/", out.stdout, re.M)
            printed = {int(at, 16): shared.tidy(text) for at, text in lines}
            texts |= {word: printed[place(index)] for index, word in enumerate(left)}
            break
    return texts


def cubin(code):
    """Returns a cubin for sm_61 that contains one kernel and nothing else."""
    names = ["", ".shstrtab", ".nv.info.k", ".text.k"]
    strings = b"\0".join(name.encode() for name in names) + b"\0"
    contents = [b"", strings, b"", code]
    kinds = [0, 3, 0x70000000, 1]
    body, headers = b"", b""
    for name, kind, content in zip(names, kinds, contents):
        at = strings.index(name.encode() + b"\0") if name else 0
        headers += struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, 64 + len(body), len(content), 0, 0, 1, 0)
        body += content
    start = b"\x7fELF\x02\x01\x01\x33\x07" + bytes(7)
    start += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), 61 << 16 | 61, 64, 0, 0, 64, len(names), 1)
    return start + body + headers


def ours(words):
    texts = {}
    for start in range(0, len(words), BATCH):
        part = words[start : start + BATCH]
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin(bundles(part)))
            file.flush()
            lines = shared.ours(Path(file.name))["k"]
        texts |= {word: lines[place(index)] for index, word in enumerate(part)}
    return {word: None if text == "?" else text for word, text in texts.items()}


def bare(text):
    """Removes branch targets, which depend on the position of a word."""
    return re.sub(r"((?:BRA|SSY|PBK|PCNT|(?<!BPT\.)CAL|PRET)\b.*) `?\(?-?0x[0-9a-f]+\)?$", r"\1 TARGET", text)


def kind(theirs, ours):
    if ours is None:
        return "neither" if theirs is None else "invalid" if re.search(r"INVALID|\?", theirs) else "refused"
    return "equal" if theirs is not None and bare(theirs) == bare(ours) else "DIFFERS"


KINDS = ["equal", "refused", "invalid", "neither", "DIFFERS"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    found = list(cases(Table((ROOT / "isa/pascal.ron").read_text()), args.seed))
    words = list(dict.fromkeys(word for _, single, more in found for word in single + more))
    expected, mine = theirs(words), ours(words)
    rows, seen = collections.defaultdict(collections.Counter), set()
    for name, single, more in found:
        for word in dict.fromkeys(single + more):
            what = kind(expected[word], mine[word])
            rows[name.split()[0]][what] += 1
            if what == "DIFFERS" and word not in seen:
                seen.add(word)
                print(f"{name}: {word:#018x}: theirs `{expected[word]}`, ours `{mine[word]}`")
    print("| opcode | " + " | ".join(KINDS) + " |\n|---|" + "---:|" * len(KINDS))
    for name, counts in rows.items():
        print(f"| {name} | " + " | ".join(str(counts[what]) for what in KINDS) + " |")
    total = collections.Counter(kind(expected[word], mine[word]) for word in words)
    print(f"{len(words)} words: " + ", ".join(f"{total[what]} {what}" for what in KINDS))
    if args.write:
        # a word with a bit that has no meaning has the text of the word from which it was made
        says = lambda word, single: expected[word] is not None and (word == single[0] or expected[word] != expected[single[0]])
        kept = sorted({word for _, single, _ in found for word in single if says(word, single)})
        WORDS.write_text("".join(f"{word:016x} {bare(expected[word])}\n" for word in kept))


if __name__ == "__main__":
    main()
