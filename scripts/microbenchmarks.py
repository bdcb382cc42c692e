#!/usr/bin/env python3
"""Writes bundles of microbenchmarks for scripts/measure-on-card.py, and tables of what they measured.

    python3 scripts/microbenchmarks.py write micro [--nvdisasm PATH --ptxas PATH]
    python3 scripts/measure-on-card.py micro --out measured-micro --ways plain --repeats 3
    python3 scripts/microbenchmarks.py collect micro measured-micro --out data/measured/NAME
    python3 scripts/microbenchmarks.py table micro data/measured/NAME-microbenchmarks.csv

Each benchmark is a kernel in PTX that reads the SM's clock around a stretch of straight code, in a
loop, so that all but the first iteration find the code in the instruction cache. Every warp stores
its two readings of each iteration. With --nvdisasm and --ptxas, the script counts the instructions
that the compiler left between the readings; the count is what latencies are divided by.

The last command writes micro/table.csv for `warpbound validate`, which simulates the benchmarks: of
chains the cycles that a link adds, and of independent instructions the cycles that each adds if 16
warps execute them and not 8. Code in the file code.cubin of a folder has precedence over its PTX.
"""

import argparse
import collections
import csv
import json
import lzma
import math
import os
import random
import re
import statistics
import struct
import subprocess

ITERATIONS = 5
WARPS = [1, 2, 4, 8, 16, 32]

# The instructions of one link of a chain, with {x} as its register, by name. {t} is a scratch
# register, {q} a 64-bit one, {a}, {b} and {z} hold numbers that the compiler does not know; {z} is 0.
CLASSES = {
    "ffma": "fma.rn.f32 {x}, {x}, {a}, {b};",
    "fadd": "add.rn.f32 {x}, {x}, {a};",
    "fmul": "mul.rn.f32 {x}, {x}, {a};",
    "fmnmx": "max.f32 {x}, {x}, {a}; min.f32 {x}, {x}, {b};",
    "iadd_lop3": "add.s32 {x}, {x}, {a}; xor.b32 {x}, {x}, {b};",
    "iadd3_lop3": "add.s32 {x}, {x}, {a}; add.s32 {x}, {x}, {b}; xor.b32 {x}, {x}, {b};",
    "iadd3_shf": "add.s32 {x}, {x}, {a}; sub.s32 {x}, {b}, {x}; shf.l.wrap.b32 {x}, {x}, {a}, {b};",
    "lop3": "lop3.b32 {x}, {x}, {a}, {b}, 0x78; lop3.b32 {x}, {x}, {b}, {a}, 0x1e;",
    "shf": "shf.l.wrap.b32 {x}, {x}, {a}, {b};",
    "prmt": "prmt.b32 {x}, {x}, {a}, {b};",
    "imad": "mad.lo.s32 {x}, {x}, {a}, {b};",
    "imad_wide": "cvt.u32.u64 {t}, {q}; mad.wide.u32 {q}, {t}, {a}, {q};",
    "isetp_sel": "setp.lt.s32 p, {x}, {a}; selp.b32 {x}, {b}, {x}, p;",
    "imnmx": "max.s32 {x}, {x}, {a}; min.s32 {x}, {x}, {b};",
    "popc": "popc.b32 {x}, {x};",
    "flo": "bfind.u32 {x}, {x};",
    "iabs_add": "abs.s32 {x}, {x}; sub.s32 {x}, {x}, {a};",
    "dp4a": "dp4a.s32.s32 {x}, {x}, {a}, {b};",
    "dfma": "fma.rn.f64 {q}, {q}, {qa}, {qb};",
    "dadd": "add.rn.f64 {q}, {q}, {qa};",
    "dmul": "mul.rn.f64 {q}, {q}, {qa};",
    "hfma2": "fma.rn.f16x2 {x}, {x}, {a}, {b};",
    "hadd2": "add.rn.f16x2 {x}, {x}, {a};",
    "hfma2_bf16": "fma.rn.bf16x2 {x}, {x}, {a}, {b};",
    "mufu_rcp": "rcp.approx.ftz.f32 {x}, {x}; mul.rn.f32 {x}, {x}, {a};",
    "mufu_rsq": "rsqrt.approx.ftz.f32 {x}, {x};",
    "mufu_sqrt": "sqrt.approx.ftz.f32 {x}, {x};",
    "mufu_ex2": "ex2.approx.ftz.f32 {x}, {x};",
    "mufu_lg2": "lg2.approx.ftz.f32 {x}, {x};",
    "mufu_sin": "sin.approx.ftz.f32 {x}, {x};",
    "mufu_tanh": "tanh.approx.f32 {x}, {x};",
    "f2i_i2f": "cvt.rzi.s32.f32 {t}, {x}; cvt.rn.f32.s32 {x}, {t};",
    "f2f_16_32": "cvt.rn.f16.f32 h, {x}; cvt.f32.f16 {x}, h;",
    "f2f_64_32": "cvt.f64.f32 {q}, {x}; cvt.rn.f32.f64 {x}, {q};",
    "shfl": "shfl.sync.bfly.b32 {x}, {x}, 1, 31, -1;",
    "shfl_idx": "shfl.sync.idx.b32 {x}, {x}, {x}, 31, -1;",
    "vote": "setp.ne.u32 p, {x}, {a}; vote.sync.ballot.b32 {x}, p, -1;",
    "match": "match.any.sync.b32 {x}, {x}, -1;",
    "redux": "redux.sync.add.s32 {x}, {x}, -1;",
    "bar": "bar.sync 0;",
    "membar_cta": "membar.cta;",
    "membar_gl": "membar.gl;",
    "clock": "mov.u32 {t}, %clock; add.s32 {x}, {x}, {t};",
    "mma_16816_f16_f32": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{{m0},{m1},{m2},{m3}}}, {{{a},{b},{a},{b}}}, {{{a},{b}}}, {{{m0},{m1},{m2},{m3}}};",
    "mma_16816_f16_f16": "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {{{m0},{m1}}}, {{{a},{b},{a},{b}}}, {{{a},{b}}}, {{{m0},{m1}}};",
    "mma_1688_f16_f32": "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{{m0},{m1},{m2},{m3}}}, {{{a},{b}}}, {{{a}}}, {{{m0},{m1},{m2},{m3}}};",
    "mma_16816_bf16_f32": "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{{m0},{m1},{m2},{m3}}}, {{{a},{b},{a},{b}}}, {{{a},{b}}}, {{{m0},{m1},{m2},{m3}}};",
    "mma_1688_tf32": "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {{{m0},{m1},{m2},{m3}}}, {{{a},{b},{a},{b}}}, {{{a},{b}}}, {{{m0},{m1},{m2},{m3}}};",
    "mma_16832_s8": "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {{{m0},{m1},{m2},{m3}}}, {{{a},{b},{a},{b}}}, {{{a},{b}}}, {{{m0},{m1},{m2},{m3}}};",
    "mma_884_f64": "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{{q},{q2}}}, {{{qa}}}, {{{qb}}}, {{{q},{q2}}};",
    "atom_shared": "atom.shared.add.u32 {x}, [{x}+256], {z};",
    "atom_global": "atom.global.add.u64 {q}, [{q}], {qz};",
    "red_global_same": "red.global.add.u32 [{qd}], {z};",
    "red_global_lanes": "red.global.add.u32 [{ql}], {z};",
    "ldc": "ld.const.u32 {x}, [{x}];",
    "cp_async": "cp.async.cg.shared.global [{x}+256], [{qd}], 16; cp.async.wait_all;",
    "ldsm": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{{x}}}, [{x}+256];",
}
# classes whose chain is in shared memory: the instruction, and the degrees of bank conflicts
LDS_DEGREES = [1, 2, 4, 8, 16, 32]
PAIRED = ["ffma", "iadd", "lop3", "imad", "shf", "mufu_ex2", "popc", "prmt"]
SINGLE = {"iadd": "add.s32 {x}, {x}, {a};", "lop3": "lop3.b32 {x}, {x}, {a}, {b}, 0x78;"}

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
PARAMS = """(.param .u64 out, .param .u64 data, .param .u32 pa, .param .u32 pb, .param .u32 pz, .param .u32 iters)"""


class Kernel:
    """A kernel that times a body."""

    def __init__(self, name, body, setup="", chains=1, shared=0):
        self.name, self.body, self.setup, self.chains, self.shared = name, body, setup, chains, shared

    def ptx(self):
        chains = range(self.chains)
        start = "".join(f"""
\tadd.u32 x{c}, tid, {c};
\tand.b32 x{c}, lane, pz_r;
\tadd.u32 x{c}, x{c}, pa_r;
\tcvt.u64.u32 q{c}, x{c};
\tadd.u64 q{c}, q{c}, qa;
\tmov.u64 qq{c}, q{c};
""" + "".join(f"\tadd.u32 m{c}_{i}, pa_r, {c};\n" for i in range(4)) for c in chains)
        sink = "".join(f"\txor.b32 sink, sink, x{c};\n\tmov.b64 {{t, y}}, q{c};\n\txor.b32 sink, sink, t;\n\txor.b32 sink, sink, y;\n"
                       f"\tmov.b64 {{t, y}}, qq{c};\n\txor.b32 sink, sink, t;\n\txor.b32 sink, sink, y;\n"
                       + "".join(f"\txor.b32 sink, sink, m{c}_{i};\n" for i in range(4)) for c in chains)
        tie = "".join(f"\txor.b32 x{c}, x{c}, t;\n" for c in chains)
        regs = "".join(f"\t.reg .b32 x{c}, m{c}_0, m{c}_1, m{c}_2, m{c}_3;\n\t.reg .b64 q{c}, qq{c};\n" for c in chains)
        shared = f"\t.shared .align 16 .b8 area[{self.shared}];\n" if self.shared else ""
        return f""".visible .entry {self.name}{PARAMS}
{{
{shared}{regs}\t.reg .b32 tid, lane, warp, warps, pa_r, pb_r, pz_r, t, t0, t1, i, n, sink, y;
\t.reg .b64 qa, qb, qz, qo, qd, ql, qt;
\t.reg .b16 h;
\t.reg .pred p, more, first;
\tld.param.u64 qo, [out];
\tld.param.u64 qd, [data];
\tld.param.u32 pa_r, [pa];
\tld.param.u32 pb_r, [pb];
\tld.param.u32 pz_r, [pz];
\tld.param.u32 n, [iters];
\tmov.u32 tid, %tid.x;
\tand.b32 lane, tid, 31;
\tshr.u32 warp, tid, 5;
\tmov.u32 warps, %ntid.x;
\tshr.u32 warps, warps, 5;
\tcvt.u64.u32 qa, pa_r;
\tcvt.u64.u32 qb, pb_r;
\tcvt.u64.u32 qz, pz_r;
\tmul.wide.u32 qt, tid, 4;
\tadd.u64 ql, qd, qt;
\tmul.wide.u32 qt, warp, 8;
\tadd.u64 qo, qo, qt;
\tsetp.eq.u32 first, lane, 0;
\tmov.u32 i, 0;
{start}{self.setup}
LOOP:
\tbar.sync 0;
\tmov.u32 t0, %clock;
\tand.b32 t, t0, pz_r;
{tie}{self.body}
\tmov.u32 t1, %clock;
\t@first st.global.u32 [qo], t0;
\t@first st.global.u32 [qo+4], t1;
\tmul.wide.u32 qt, warps, 8;
\tadd.u64 qo, qo, qt;
\tadd.u32 i, i, 1;
\tsetp.lt.u32 more, i, n;
\t@more bra LOOP;
\tmov.u32 sink, 0;
{sink}\tsetp.eq.u32 p, sink, 0x5a5a1234;
\t@p st.global.u32 [qo], sink;
\tret;
}}
"""


def link(template, chain):
    """Returns the instructions of a link of a chain."""
    names = {"x": f"x{chain}", "q": f"q{chain}", "q2": f"qq{chain}", "t": "y", "a": "pa_r", "b": "pb_r", "z": "pz_r",
             "qa": "qa", "qb": "qb", "qz": "qz", "qd": "qd", "ql": "ql"}
    names |= {f"m{i}": f"m{chain}_{i}" for i in range(4)}
    return "\t" + template.format(**names) + "\n"


def body(template, links, chains):
    return "".join(link(template, i % chains) for i in range(links))


class Group:
    """A bundle under construction: kernels in one module, and launches of them."""

    def __init__(self, name, data_bytes=0, constants=""):
        self.name, self.kernels, self.steps, self.slots = name, {}, [], 0
        self.data_bytes, self.constants, self.data = data_bytes, constants, None

    def add(self, kernel, **label):
        """Adds a launch of a kernel, which is part of the module from then on."""
        self.kernels[kernel.name] = kernel.ptx()
        self.launch(kernel.name, label)

    def launch(self, entry, label, warps=None, blocks=1, arguments=None, words=None, iterations=ITERATIONS):
        warps = warps or label.get("warps", 1)
        words = words if words is not None else 2 * warps * iterations
        if arguments is None:
            values = [("u32", label.get("a", 0x3f800001)), ("u32", label.get("b", 0x00000003)), ("u32", 0), ("u32", iterations)]
            arguments = [("out",), ("data", 0)] + values
        self.steps.append((entry, warps, blocks, arguments, self.slots, words, label))
        self.slots += words

    def write(self, out):
        folder = os.path.join(out, self.name)
        os.makedirs(folder, exist_ok=True)
        base = 3 << 30
        data = (base + 4 * self.slots + (1 << 21) + 255) // 256 * 256
        buffers = [{"name": "cycles", "address": base, "bytes": 4 * max(self.slots, 64), "element": "u32", "keep": True}]
        if self.data_bytes:
            buffers.append({"name": "data", "address": data, "bytes": self.data_bytes, "element": "u8"})
        if self.data:
            buffers[-1]["before"] = "data.bin"
            with open(os.path.join(folder, "data.bin"), "wb") as file:
                file.write(self.data)
        steps, labels = [], []
        for entry, warps, blocks, arguments, slot, words, label in self.steps:
            place = {"out": {"buffer": {"name": "cycles", "offset": 4 * slot}},
                     "data": {"buffer": {"name": "data" if self.data_bytes else "cycles", "offset": 0}}}
            passed = []
            for kind, *value in arguments:
                if kind in place:
                    to = json.loads(json.dumps(place[kind]))
                    to["buffer"]["offset"] += value[0] if value else 0
                    passed.append({"name": kind, "type": "pointer", "to": to, "bytes": "00" * 8})
                else:
                    size = 8 if kind == "u64" else 4
                    passed.append({"name": kind, "type": kind, "to": None, "bytes": value[0].to_bytes(size, "little").hex()})
            launch = {"module": 0, "entry": entry, "grid": [blocks, 1, 1], "block": [min(1024, 32 * warps), 1, 1],
                      "dynamic_shared": 0, "arguments": passed}
            steps.append({"launch": launch})
            labels.append({"slot": slot, "words": words, "entry": entry, "launch_warps": warps, "blocks": blocks, **label})
        modules = [{"code": "code.ptx", "variables": []}]
        text = HEADER + self.constants + "".join(self.kernels.values())
        with open(os.path.join(folder, "code.ptx"), "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(folder, "launch.json"), "w", encoding="utf-8") as file:
            json.dump({"format": 1, "kernel": self.name, "own_clock": True, "modules": modules, "buffers": buffers,
                       "steps": steps}, file)
        with open(os.path.join(folder, "labels.json"), "w", encoding="utf-8") as file:
            json.dump(labels, file)


# ---------------------------------------------------------------- the groups

def arithmetic():
    setups = {
        "atom_shared": ("\tmul.lo.u32 t, lane, 4;\n\tmov.u32 y, area;\n\tadd.u32 t, t, y;\n\tst.shared.u32 [t+256], pz_r;\n\tbar.sync 0;\n", 1024),
        "ldsm": ("\tmov.u32 y, area;\n\tmul.lo.u32 t, lane, 4;\n\tadd.u32 t, t, y;\n\tst.shared.u32 [t+256], pz_r;\n\tst.shared.u32 [t+384], pz_r;\n\tbar.sync 0;\n", 1024),
        "cp_async": ("", 4096),
        "atom_global": ("\tst.global.u64 [qd], qd;\n\tbar.sync 0;\n", 0),
    }
    for name, template in CLASSES.items():
        constants = ".const .align 4 .b32 zeros[64];\n" if name == "ldc" else ""
        group = Group(f"class_{name}", data_bytes=1 << 16, constants=constants)
        setup, shared = setups.get(name, ("", 0))
        # these use their register as an address, so it starts as one
        def started(chains):
            if name in ("atom_shared", "ldsm", "cp_async"):
                return setup + "".join(f"\tmov.u32 x{c}, pz_r;\n" for c in range(chains))
            if name == "atom_global":
                return setup + "".join(f"\tmov.u64 q{c}, qd;\n" for c in range(chains))
            if name == "ldc":
                return "".join(f"\tmov.u32 x{c}, pz_r;\n" for c in range(chains))
            return setup
        for links in (16, 32, 64, 128):
            kernel = Kernel(f"chain_{links}", body(template, links, 1), started(1), 1, shared)
            group.add(kernel, kind="chain", cls=name, links=links, chains=1, warps=1)
        for chains in (1, 2, 4, 8):
            kernel = Kernel(f"streams_{chains}", body(template, 128, chains), started(chains), chains, shared)
            for warps in WARPS:
                group.add(kernel, kind="streams", cls=name, links=128, chains=chains, warps=warps)
        yield group


def pairs():
    group = Group("pairs")
    one = lambda name: SINGLE.get(name) or CLASSES[name]
    for i, first in enumerate(PAIRED):
        for second in PAIRED[i:]:
            for links in (16, 32, 64):
                kernel = Kernel(f"pair_{first}_{second}_{links}", body(one(first) + " " + one(second), links, 1))
                group.add(kernel, kind="pair", cls=f"{first}+{second}", links=links, chains=1, warps=1)
    yield group


MIXED = ["ffma", "imad", "prmt", "lop3", "shf", "hfma2", "mufu_ex2", "popc", "dfma", "isetp_sel"]


def mixtures():
    """Independent instructions of two classes in turn: do they share a pipe?"""
    group = Group("mixtures")
    one = lambda name: SINGLE.get(name) or CLASSES[name]
    for i, first in enumerate(MIXED):
        for second in MIXED[i:]:
            text = "".join(link(one(first if c % 2 == 0 else second), c % 8) for c in range(128))
            kernel = Kernel(f"mix_{first}_{second}", text, "", 8)
            for warps in (1, 4, 8, 16):
                group.add(kernel, kind="mixture", cls=f"{first}+{second}", links=128, chains=8, warps=warps)
    yield group


def issue():
    """Every number of warps up to 16, dependent and independent."""
    for name in ("ffma", "imad", "lop3", "prmt", "hfma2", "mufu_ex2", "dfma", "shfl", "mma_16816_f16_f32"):
        group = Group(f"issue_{name}")
        template = CLASSES[name]
        for chains in (1, 2, 3, 4, 6, 8):
            kernel = Kernel(f"streams_{chains}", body(template, 120, chains), "", chains)
            for warps in range(1, 17):
                group.add(kernel, kind="streams", cls=name, links=120, chains=chains, warps=warps)
        yield group


def shared_memory():
    group = Group("shared")
    forms = {"lds32": ("ld.shared.u32 {x}, [{x}];", 4), "lds64": ("ld.shared.v2.u32 {{{x}, {t}}}, [{x}];", 8),
             "lds128": ("ld.shared.v4.u32 {{{x}, {t}, {t}, {t}}}, [{x}];", 16)}
    for form, (template, size) in forms.items():
        for degree in LDS_DEGREES:
            # the lanes fall into `degree` rows of banks
            place = f"""
\tmov.u32 t, area;
\trem.u32 y, lane, {32 // degree};
\tmul.lo.u32 y, y, {size};
\tadd.u32 t, t, y;
\tdiv.u32 y, lane, {32 // degree};
\tmul.lo.u32 y, y, {128 * max(1, size // 4)};
\tadd.u32 t, t, y;
\tst.shared.u32 [t], t;
\tbar.sync 0;
"""
            bytes_ = 128 * max(1, size // 4) * degree + 1024
            for chains in (1, 4):
                setup = place + "".join(f"\tmov.u32 x{c}, t;\n" for c in range(chains))
                template = template.replace("{{{x}, {t}, {t}, {t}}}", "{{{x}, y, t, sink}}")
                for links in (16, 32, 64) if chains == 1 else (64,):
                    kernel = Kernel(f"{form}_{degree}_{chains}_{links}", body(template, links, chains), setup, chains, bytes_)
                    for warps in WARPS if chains == 4 else [1]:
                        group.add(kernel, kind="shared", cls=form, links=links, chains=chains, warps=warps, degree=degree)
    for degree in LDS_DEGREES:
        setup = f"""
\tmov.u32 t, area;
\trem.u32 y, lane, {32 // degree};
\tmul.lo.u32 y, y, 4;
\tadd.u32 t, t, y;
\tdiv.u32 y, lane, {32 // degree};
\tmul.lo.u32 y, y, 128;
\tadd.u32 m0_0, t, y;
"""
        store = "".join("\tst.volatile.shared.u32 [m0_0], x0;\n" for _ in range(64))
        add = "".join("\tred.shared.add.u32 [m0_0], pz_r;\n" for _ in range(64))
        for form, text in (("sts32", store), ("atoms_add", add)):
            kernel = Kernel(f"{form}_{degree}", text, setup, 1, 128 * degree + 1024)
            for warps in WARPS:
                group.add(kernel, kind="shared", cls=form, links=64, chains=1, warps=warps, degree=degree)
    yield group


def coalescing():
    """Loads that hit the L1, by the distance between the lanes in 8-byte words."""
    group = Group("coalescing", data_bytes=1 << 20)
    for stride in (0, 1, 2, 4, 8, 16, 32):
        for chains in (1, 4):
            setup = f"\tmul.lo.u32 t, lane, {8 * stride};\n\tcvt.u64.u32 qt, t;\n\tadd.u64 qt, qt, qd;\n"
            for c in range(chains):
                setup += f"\tadd.u64 q{c}, qt, {c * 16384};\n\tst.global.u64 [q{c}], q{c};\n"
            setup += "\tmembar.gl;\n\tbar.sync 0;\n"
            for cache in ("", ".cg"):
                form = cache.removeprefix(".") or "ca"
                for links in (16, 32, 64) if chains == 1 else (32,):
                    kernel = Kernel(f"ldg_{form}_{stride}_{chains}_{links}", body(f"ld.global{cache}.u64 {{q}}, [{{q}}];", links, chains), setup, chains)
                    for warps in WARPS if chains == 4 else [1]:
                        group.add(kernel, kind="global", cls=f"ldg64_{form}", links=links, chains=chains, warps=warps, degree=stride)
        kernel = Kernel(f"stg_{stride}", "".join(f"\tst.global.u64 [q0+{8192 * i}], qz;\n" for i in range(32)),
                        f"\tmul.lo.u32 t, lane, {8 * stride};\n\tcvt.u64.u32 qt, t;\n\tadd.u64 q0, qt, qd;\n")
        for warps in WARPS:
            group.add(kernel, kind="global", cls="stg64", links=32, chains=1, warps=warps, degree=stride)
    yield group


CHASE = """
.visible .entry ring(.param .u64 base, .param .u64 stride, .param .u32 count, .param .u32 step)
{
\t.reg .u32 i, n, s, j;
\t.reg .u64 b, w, a, v;
\t.reg .pred p;
\tmov.u32 i, %ctaid.x;
\tmov.u32 j, %tid.x;
\tmad.lo.u32 i, i, 1024, j;
\tld.param.u32 n, [count];
\tsetp.ge.u32 p, i, n;
\t@p ret;
\tld.param.u64 b, [base];
\tld.param.u64 w, [stride];
\tld.param.u32 s, [step];
\tadd.u32 j, i, s;
\trem.u32 j, j, n;
\tcvt.u64.u32 v, j;
\tmad.lo.u64 v, v, w, b;
\tcvt.u64.u32 a, i;
\tmad.lo.u64 a, a, w, b;
\tst.global.u64 [a], v;
\tret;
}
"""


def chase(cache, each):
    """A kernel with one thread that follows pointers: `warm` loads, then 256 times 16 loads (or 4096
    times one) with the clock around them."""
    unroll, chunks = (1, 4096) if each else (16, 256)
    operator = ".cg" if cache == "cg" else ""
    loads = f"\tld.global{operator}.u64 q, [q];\n" * unroll
    name = f"chase_{cache}" + ("_each" if each else "")
    return name, f"""
.visible .entry {name}(.param .u64 out, .param .u64 base, .param .u32 warm, .param .u32 zero)
{{
\t.shared .align 4 .b8 area[{4 * chunks}];
\t.reg .u32 i, n, t, t0, t1, w, z, pz;
\t.reg .u64 q, o;
\t.reg .pred p;
\tld.param.u64 o, [out];
\tld.param.u64 q, [base];
\tld.param.u32 n, [warm];
\tld.param.u32 pz, [zero];
\tmov.u32 i, 0;
\tmov.u32 w, area;
\tsetp.eq.u32 p, n, 0;
\t@p bra TIMED;
\t.pragma "nounroll";
WARM:
\tld.global{operator}.u64 q, [q];
\tadd.u32 i, i, 1;
\tsetp.lt.u32 p, i, n;
\t@p bra WARM;
TIMED:
\tmov.u32 i, 0;
\t.pragma "nounroll";
CHUNK:
\tmov.u32 t0, %clock;
\tand.b32 z, pz, t0;
\tcvt.u64.u32 o, z;
\tadd.u64 q, q, o;
{loads}\tcvt.u32.u64 z, q;
\tand.b32 z, z, pz;
\tadd.u32 i, i, z;
\tst.volatile.shared.u32 [w], i;
\tmov.u32 t1, %clock;
\tsub.u32 t, t1, t0;
\tst.shared.u32 [w], t;
\tadd.u32 w, w, 4;
\tadd.u32 i, i, 1;
\tsetp.lt.u32 p, i, {chunks};
\t@p bra CHUNK;
\tld.param.u64 o, [out];
\tmov.u32 w, area;
\tmov.u32 i, 0;
COPY:
\tld.shared.u32 t, [w];
\tst.global.u32 [o], t;
\tadd.u64 o, o, 4;
\tadd.u32 w, w, 4;
\tadd.u32 i, i, 1;
\tsetp.lt.u32 p, i, {chunks};
\t@p bra COPY;
\tcvt.u32.u64 z, q;
\tsetp.eq.u32 p, z, 0x5a5a1234;
\t@p st.global.u32 [o], z;
\tret;
}}
"""


def latency_over_footprint():
    group = Group("footprint", data_bytes=(1 << 30) + (1 << 21))
    group.kernels["ring"] = CHASE
    for cache in ("ca", "cg"):
        for each in (False, True):
            name, text = chase(cache, each)
            group.kernels[name] = text
    kib = [1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 208, 216, 224, 232, 240, 248, 256, 320, 384, 512, 1024, 2048, 4096,
           8192, 16384, 20480, 24576, 28672, 32768, 40960, 49152, 57344, 65536, 98304, 131072, 262144, 1048576]
    for size in kib:
        n = size * 1024 // 128
        step = int(n * 0.618) | 1
        while gcd(step, n) != 1:
            step += 2
        for cache in ("ca", "cg"):
            if cache == "cg" and 64 < size < 512:
                continue
            ring(group, 128, n, step)
            warm = n if size <= 65536 else 0
            group.launch(f"chase_{cache}", {"kind": "footprint", "cls": cache, "bytes": size * 1024, "stride": 128, "per": 16},
                         arguments=[("out",), ("data", 0), ("u32", warm), ("u32", 0)], words=256)
    for cache, size in (("ca", 16), ("cg", 64), ("cg", 4096), ("cg", 16384)):
        n = size * 1024 // 128
        ring(group, 128, n, int(n * 0.618) | 1)
        group.launch(f"chase_{cache}_each", {"kind": "each", "cls": cache, "bytes": size * 1024, "stride": 128, "per": 1},
                     arguments=[("out",), ("data", 0), ("u32", n), ("u32", 0)], words=4096)
    yield group


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def ring(group, stride, n, step):
    group.launch("ring", {"kind": "setup"}, warps=32, blocks=-(-n // 1024), words=0,
                 arguments=[("data", 0), ("u64", stride), ("u32", n), ("u32", step)])


def translation():
    group = Group("translation", data_bytes=(16 << 30) + (64 << 20))
    group.kernels["ring"] = CHASE
    name, text = chase("cg", False)
    group.kernels[name] = text
    for stride in (64 << 10, 512 << 10, 2 << 20, 16 << 20):
        # one line more than the stride, so that the lines do not fall into one set
        for n in (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192):
            if (stride + 128) * n > 16 << 30:
                continue
            ring(group, stride + 128, n, (n * 5 // 8) | 1 if gcd((n * 5 // 8) | 1, n) == 1 else 1)
            group.launch("chase_cg", {"kind": "translation", "cls": "cg", "bytes": stride * n, "stride": stride, "per": 16, "pages": n},
                         arguments=[("out",), ("data", 0), ("u32", n), ("u32", 0)], words=256)
    yield group


def constant_memory():
    group = Group("constant", constants=".const .align 8 .b32 ring[16384];\n")
    # the array is zero, so each load adds a stride that the compiler does not know
    for size in (256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
        links = 128
        within = f"\tand.b32 x0, x0, {size - 1};\n"
        lines = (f"\tld.const.u32 y, [x0];\n\tadd.u32 x0, x0, y;\n\tadd.u32 x0, x0, 64;\n" + within) * links
        kernel = Kernel(f"ldc_{size}", within + lines, "\tmov.u32 x0, pz_r;\n", 1)
        group.kernels[kernel.name] = kernel.ptx()
        # enough iterations to walk the whole footprint several times
        iterations = max(8, 4 * size // 64 // links)
        group.launch(kernel.name, {"kind": "constant", "cls": "ldc", "bytes": size, "links": links, "warps": 1}, iterations=iterations,
                     arguments=[("out",), ("data", 0), ("u32", 0), ("u32", 0), ("u32", 0), ("u32", iterations)])
    yield group


def code_size():
    for links in (64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 10240, 12288, 16384):
        group = Group(f"code_{links}")
        kernel = Kernel("code", body(CLASSES["ffma"], links, 4), "", 4)
        for warps in (1, 4):
            group.add(kernel, kind="code", cls="ffma", links=links, chains=4, warps=warps, bytes=16 * links)
        yield group


def jumps():
    """Sixteen jumps over straight code of different lengths, so that all but the shortest leave the
    line that they are in. Every kernel is launched twice."""
    group = Group("jumps")
    for skipped in (0, 8, 16, 32, 64, 96, 128, 192, 256):
        text = "".join(f"\tsetp.eq.u32 p, pz_r, {2 * j};\n\t@p bra SKIP{j};\n" + link(CLASSES["ffma"], 0) * skipped
                       + f"SKIP{j}:\n" + link(CLASSES["ffma"], 0) * 2 for j in range(16))
        # pz_r is 0, and the compiler does not know that; the other conditions count it up and down
        text = text.replace("setp.eq.u32 p, pz_r", "setp.lt.u32 p, pz_r").replace(", 0;\n\t@p", ", 1;\n\t@p")
        kernel = Kernel(f"jump_{skipped}", text, "", 1)
        group.kernels[kernel.name] = kernel.ptx()
    for _ in range(2):
        for skipped in (0, 8, 16, 32, 64, 96, 128, 192, 256):
            group.launch(f"jump_{skipped}", {"kind": "jump", "cls": "bra", "links": 16, "chains": 1, "warps": 1,
                                             "bytes": 16 * skipped})
    yield group


def special_registers():
    group = Group("special")
    for register in ("smid", "warpid", "clock_hi"):
        for links in (16, 32, 64):
            kernel = Kernel(f"{register}_{links}", f"\tmov.u32 y, %{register};\n\tadd.u32 x0, x0, y;\n" * links, "", 1)
            group.add(kernel, kind="chain", cls=register, links=links, chains=1, warps=1)
    yield group


DIVISION = """
.visible .entry division(.param .u64 out, .param .u32 pa, .param .u32 pb)
{
\t.reg .b32 n, e, a, b, t0, t1, pa_r, pb_r, y;
\t.reg .f32 x;
\t.reg .b64 o, w;
\t.reg .pred p;
\tld.param.u64 o, [out];
\tld.param.u32 pa_r, [pa];
\tld.param.u32 pb_r, [pb];
\tmov.u32 a, %ctaid.x;
\tmul.wide.u32 w, a, 1024;
\tadd.u64 o, o, w;
\tshl.b32 a, a, 23;
\tor.b32 a, a, pa_r;
\tmov.u32 e, 0;
NEXT:
\tshl.b32 b, e, 23;
\tor.b32 b, b, pb_r;
\tbar.sync 0;
\tmov.u32 t0, %clock;
\tand.b32 y, t0, 0;
\tdiv.rn.f32 x, a, b;
\tmov.b32 y, x;
\tshfl.sync.bfly.b32 y, y, 0, 31, -1;
\tmov.u32 t1, %clock;
\tsub.u32 n, t1, t0;
\tsetp.eq.u32 p, y, 0x5a5a1234;
\t@p add.u32 n, n, 1;
\tst.global.u32 [o], n;
\tadd.u64 o, o, 4;
\tadd.u32 e, e, 1;
\tsetp.lt.u32 p, e, 256;
\t@p bra NEXT;
\tret;
}
"""


def divisions():
    """The cycles of a division for all exponents of dividend and divisor: a quotient that the
    compiler's straight code cannot compute takes a call."""
    group = Group("division")
    group.kernels["division"] = DIVISION
    for a in (0, 0x400001, 0x80000000):
        for b in (0, 0x400001):
            group.launch("division", {"kind": "division", "cls": f"{a:x}_{b:x}"}, blocks=256, words=1 << 16,
                         arguments=[("out",), ("u32", a), ("u32", b)])
    yield group


def loops():
    group = Group("loops")
    for name, inner in {"empty": "", "ffma1": "\tfma.rn.f32 x0, x0, pa_r, pb_r;\n", "ffma4": "\tfma.rn.f32 x0, x0, pa_r, pb_r;\n" * 4}.items():
        text = f"""\tmov.u32 y, 0;
\tand.b32 t, lane, pz_r;
\tadd.u32 m0_0, t, pb_r;
\t.pragma "nounroll";
INNER:
{inner}\tadd.u32 y, y, m0_0;
\tsetp.lt.u32 p, y, 384;
\t@p bra INNER;
\tadd.u32 x0, x0, y;
"""
        kernel = Kernel(f"loop_{name}", text)
        for warps in WARPS:
            group.add(kernel, kind="loop", cls=name, links=128, chains=1, warps=warps)
    yield group


STREAM = """
.visible .entry stream_{cache}(.param .u64 out, .param .u64 data, .param .u64 per_block, .param .u32 rounds)
{{
\t.reg .u64 o, b, e, q, n, t0, t1, w;
\t.reg .u32 i, r, k, a, c, d, f, s, z;
\t.reg .pred p;
\tld.param.u64 o, [out];
\tld.param.u64 q, [data];
\tld.param.u64 n, [per_block];
\tld.param.u32 k, [rounds];
\tmov.u32 i, %ctaid.x;
\tcvt.u64.u32 w, i;
\tmad.lo.u64 q, w, n, q;
\tmul.wide.u32 w, i, 16;
\tadd.u64 o, o, w;
\tmov.u32 i, %tid.x;
\tmul.wide.u32 w, i, 16;
\tadd.u64 q, q, w;
\tmov.u32 r, 0;
\tmov.u32 s, 0;
\tbar.sync 0;
\tmov.u64 t0, %clock64;
ROUND:
\tmov.u64 b, q;
\tadd.u64 e, q, n;
NEXT:
\tld.global.{cache}.v4.u32 {{a, c, d, f}}, [b];
\txor.b32 s, s, a;
\txor.b32 s, s, c;
\tld.global.{cache}.v4.u32 {{a, c, d, f}}, [b+16384];
\txor.b32 s, s, d;
\txor.b32 s, s, f;
\txor.b32 s, s, a;
\tadd.u64 b, b, 32768;
\tsetp.lt.u64 p, b, e;
\t@p bra NEXT;
\tadd.u32 r, r, 1;
\tsetp.lt.u32 p, r, k;
\t@p bra ROUND;
\tsetp.eq.u32 p, s, 0x5a5a1234;
\t@p st.global.u32 [o], s;
\tbar.sync 0;
\tmov.u64 t1, %clock64;
\tsetp.ne.u32 p, i, 0;
\t@p ret;
\tst.global.u64 [o], t0;
\tst.global.u64 [o+8], t1;
\tret;
}}
"""


def bandwidth():
    group = Group("bandwidth", data_bytes=(2 << 30) + (1 << 21))
    for cache in ("ca", "cg"):
        group.kernels[cache] = STREAM.format(cache=cache)
    shapes = [("l1", "ca", 131072, 64)] + [("l2", "cg", 131072, 64)] + [("dram", "cg", 8 << 20, 1)]
    for level, cache, per_block, rounds in shapes:
        for blocks in (1, 2, 4, 8, 16, 33, 66, 132, 264):
            if level == "l1" and blocks not in (1, 132) or (level == "dram" and blocks > 252):
                continue
            group.launch(f"stream_{cache}", {"kind": "bandwidth", "cls": level, "bytes": per_block * rounds, "per_block": per_block, "rounds": rounds},
                         warps=32, blocks=blocks, words=4 * blocks,
                         arguments=[("out",), ("data", 0), ("u64", per_block), ("u32", rounds)])
    yield group


EMPTY = ".visible .entry empty()\n{\n\tret;\n}\n"


def launches():
    """An empty kernel in many shapes, for the profiler."""
    group = Group("empty")
    group.kernels["empty"] = EMPTY
    for warps in (1, 4, 8, 16, 32):
        for blocks in (1, 132, 264, 1056, 8448, 33792):
            group.launch("empty", {"kind": "empty", "warps": warps}, warps=warps, blocks=blocks, arguments=[], words=0)
    yield group


NUMERIC = """
.visible .entry f_{name}(.param .u64 out, .param .u32 first, .param .u32 step)
{{
\t.reg .b32 i, j, s, x;
\t.reg .u64 o, w;
\tmov.u32 i, %ctaid.x;
\tmov.u32 j, %tid.x;
\tmad.lo.u32 i, i, 1024, j;
\tld.param.u64 o, [out];
\tld.param.u32 s, [step];
\tld.param.u32 x, [first];
\tmad.lo.u32 x, i, s, x;
\t{instruction}.f32 x, x;
\tmul.wide.u32 w, i, 4;
\tadd.u64 o, o, w;
\tst.global.u32 [o], x;
\tret;
}}
"""
FUNCTIONS = {"ex2": ("ex2.approx.ftz", 0x3f800000, 128), "lg2": ("lg2.approx.ftz", 0x3f800000, 128),
             "sin": ("sin.approx.ftz", 0x3f800000, 128), "cos": ("cos.approx.ftz", 0x3f800000, 128),
             "rcp": ("rcp.approx.ftz", 0x3f800000, 128), "rsqrt": ("rsqrt.approx.ftz", 0x3f800000, 256),
             "sqrt": ("sqrt.approx.ftz", 0x3f800000, 256), "tanh": ("tanh.approx", 0x3e800000, 512)}


def approximations():
    """The values of the approximate functions, 65536 of each."""
    group = Group("numeric")
    for name, (instruction, first, step) in FUNCTIONS.items():
        group.kernels[name] = NUMERIC.format(name=name, instruction=instruction)
        group.launch(f"f_{name}", {"kind": "numeric", "cls": name, "first": first, "step": step}, warps=32, blocks=64,
                     words=65536, arguments=[("out",), ("u32", first), ("u32", step)])
    yield group


MMA = """
.visible .entry m_{name}(.param .u64 out, .param .u64 data)
{{
\t.reg .b32 i, j, a<4>, b<2>, c<4>;
\t.reg .u64 o, d, w;
\tmov.u32 i, %ctaid.x;
\tmov.u32 j, %tid.x;
\tmad.lo.u32 i, i, 32, j;
\tld.param.u64 o, [out];
\tld.param.u64 d, [data];
\tmul.wide.u32 w, i, 48;
\tadd.u64 d, d, w;
\tmul.wide.u32 w, i, 16;
\tadd.u64 o, o, w;
\tld.global.v4.b32 {{a0, a1, a2, a3}}, [d];
\tld.global.v2.b32 {{b0, b1}}, [d+16];
\tld.global.v4.b32 {{c0, c1, c2, c3}}, [d+32];
\tmma.sync.aligned.{form} {{c0, c1, c2, c3}}, {{a0, a1, a2, a3}}, {{b0, b1}}, {{c0, c1, c2, c3}};
\tst.global.v4.b32 [o], {{c0, c1, c2, c3}};
\tret;
}}
"""
MMA_BLOCKS = 128


def products():
    """The results of matrix products of random numbers; data.bin has the operands, 12 words for each
    lane: four of A, two of B, two unused, four of C."""
    forms = {"f16": ("m16n8k16.row.col.f32.f16.f16.f32", "e", 2), "bf16": ("m16n8k16.row.col.f32.bf16.bf16.f32", None, 2),
             "tf32": ("m16n8k8.row.col.f32.tf32.tf32.f32", "f", 1)}
    for name, (form, code, per_word) in forms.items():
        group = Group(f"product_{name}", data_bytes=MMA_BLOCKS * 32 * 48)
        group.kernels[name] = MMA.format(name=name, form=form)
        draw, words = random.Random(7), bytearray()
        number = lambda: draw.gauss(0, 1) * 2.0 ** draw.randint(-3, 3)
        for _ in range(MMA_BLOCKS * 32):
            for _ in range(8 * per_word):
                if code:
                    word = struct.pack("<" + code, number())
                    # the lower bits of a tf32 number are not part of it
                    words += bytes([0, word[1] & 0xe0]) + word[2:] if name == "tf32" else word
                else:
                    words += struct.pack("<f", number())[2:]
            words += struct.pack("<4f", *(number() for _ in range(4)))
        group.data = bytes(words)
        group.launch(f"m_{name}", {"kind": "product", "cls": name}, warps=1, blocks=MMA_BLOCKS, words=MMA_BLOCKS * 128,
                     arguments=[("out",), ("data", 0)])
        yield group


def groups():
    for make in (arithmetic, pairs, mixtures, issue, shared_memory, coalescing, latency_over_footprint, translation, constant_memory,
                 code_size, jumps, special_registers, divisions, loops, bandwidth, launches, approximations, products):
        yield from make()


def counted(folder, ptxas, nvdisasm):
    """Counts the instructions between the two readings of the clock in each kernel of a bundle."""
    cubin = os.path.join(folder, "code.cubin")
    if not os.path.exists(cubin):
        subprocess.run([ptxas, "-arch=sm_90", os.path.join(folder, "code.ptx"), "-o", cubin], check=True)
    text = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    found = {}
    for part in text.split("//--------------------- .text.")[1:]:
        name = part.split()[0].rstrip("-").strip()
        lines = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+\s+)?([A-Z][\w.]*)", part)
        clocks = [i for i, op in enumerate(lines) if op.startswith("CS2R")]
        if len(clocks) >= 2:
            inside = lines[clocks[0] + 1:clocks[-1]]
            found[name] = collections.Counter(inside)
    return found


def write(args):
    for group in groups():
        group.write(args.out)
        if args.nvdisasm:
            folder = os.path.join(args.out, group.name)
            sass = {name: dict(count) for name, count in counted(folder, args.ptxas, args.nvdisasm).items()}
            with open(os.path.join(folder, "sass.json"), "w", encoding="utf-8") as file:
                json.dump(sass, file)


COLUMNS = ["kind", "class", "opcodes", "links", "chains", "warps", "blocks", "degree", "bytes", "stride", "pages",
           "samples", "first", "least", "median", "mean", "greatest"]


def spans(label, words):
    """Returns the cycles of each iteration: from the first reading of the clock in a block to the last."""
    warps, found = label["launch_warps"], []
    for at in range(0, len(words), 2 * warps):
        part = words[at:at + 2 * warps]
        # the clock has 32 bits and wraps
        distance = lambda reading: (reading - part[0] + 2**31) % 2**32 - 2**31
        found.append(max(map(distance, part[1::2])) - min(map(distance, part[::2])))
    return found


def samples(label, runs):
    """Returns the first and all other samples of a benchmark, in cycles."""
    if label["kind"] in ("footprint", "translation"):
        per_load = [word / label["per"] for run in runs for word in run]
        return per_load[0], per_load[1:]
    if label["kind"] == "each":
        return runs[0][0], [word for run in runs for word in run[1:]]
    if label["kind"] == "bandwidth":
        longest = []
        for run in runs:
            times = [run[i] | run[i + 1] << 32 for i in range(0, len(run), 2)]
            longest.append(max(end - start for start, end in zip(times[::2], times[1::2])))
        return longest[0], longest[1:] or longest
    found = [spans(label, run) for run in runs]
    return found[0][0], [span for run in found for span in run[1:]]


def opcodes(folder, label):
    path = os.path.join(folder, "sass.json")
    if label["kind"] in ("setup", "footprint", "translation", "each", "bandwidth") or not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        found = json.load(file).get(label["entry"], {})
    # what is there once or a few times is the code around the benchmark
    main = {op: n for op, n in found.items() if n * 8 >= label.get("links", 8) and n > 4}
    return " ".join(f"{op}:{n}" for op, n in sorted(main.items(), key=lambda item: (-item[1], item[0])))


def collect(args):
    """Writes a table of the benchmarks, and the values of approximate functions and products."""
    rows, each = [], []
    with open(os.path.join(args.measured, "results.jsonl"), encoding="utf-8") as file:
        results = {entry["kernel"]: entry for entry in map(json.loads, file)}
    for name in sorted(results):
        folder = os.path.join(args.bundles, name)
        with open(os.path.join(folder, "labels.json"), encoding="utf-8") as file:
            labels = json.load(file)
        kept = [run["cycles"] for run in results[name].get("kept", [])]
        for label in labels:
            runs = [run[label["slot"]:label["slot"] + label["words"]] for run in kept]
            if label["kind"] in ("setup", "empty"):
                continue
            if label["kind"] in ("numeric", "product", "division"):
                values(args, label, runs[0])
                continue
            first, rest = samples(label, runs)
            rest.sort()
            row = {"class": label["cls"], "opcodes": opcodes(folder, label), "warps": label["launch_warps"],
                   "samples": len(rest), "first": first, "least": rest[0], "median": statistics.median(rest),
                   "mean": round(statistics.mean(rest), 2), "greatest": rest[-1]}
            rows.append({**{key: label.get(key, "") for key in COLUMNS}, **row})
            if label["kind"] == "each":
                counts = collections.Counter(rest)
                each += [[label["cls"], label["bytes"], cycles, counts[cycles]] for cycles in sorted(counts)]
    rows.sort(key=lambda row: (row["kind"], row["class"]))
    with open(args.out + "-microbenchmarks.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with open(args.out + "-load-latencies.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["cache", "bytes", "cycles", "loads"])
        writer.writerows(each)


def repeated(label, launch):
    """Returns options that launch a benchmark with more iterations, so that code which is not in the
    instruction cache at first makes no difference."""
    step = next(step["launch"] for step in launch["steps"] if step["launch"]["entry"] == label["entry"])
    buffers = {buffer["name"]: buffer["bytes"] for buffer in launch["buffers"]}
    buffers["cycles"] = max(buffers["cycles"], 16 * label["launch_warps"] * REPEATED)
    arguments = []
    for argument in step["arguments"]:
        if argument["to"]:
            name = argument["to"]["buffer"]["name"]
            arguments.append(f'Buffer(name: "{name}", elem: U8, len: {buffers[name]}, init: Zero)')
        else:
            arguments.append(f'U32({int.from_bytes(bytes.fromhex(argument["bytes"]), "little")})')
    arguments[-1] = f"U32({REPEATED})"
    arguments = "".join(f" --arg '{argument}'" for argument in arguments)
    return f'--entry {label["entry"]} --grid {label["blocks"]} --block {32 * label["warps"]}{arguments}'


REPEATED = 17


def table(args):
    """Writes a table of the differences between two benchmarks, as they were measured."""
    same = ["kind", "class", "chains", "warps", "degree", "links"]
    with open(args.measured, encoding="utf-8", newline="") as file:
        measured = {tuple(row[key] for key in same): float(row["median"]) for row in csv.DictReader(file)}
    rows = []
    for name in sorted(os.listdir(args.bundles)):
        folder = os.path.join(args.bundles, name)
        if not os.path.exists(os.path.join(folder, "labels.json")):
            continue
        with open(os.path.join(folder, "labels.json"), encoding="utf-8") as file:
            labels = {key(label): label for label in json.load(file)}
        chains = collections.defaultdict(set)
        for label in labels.values():
            chains[label["kind"], label.get("cls")].add(label.get("chains"))
        with open(os.path.join(folder, "launch.json"), encoding="utf-8") as file:
            launch = json.load(file)
        code = "code.cubin" if os.path.exists(os.path.join(folder, "code.cubin")) else "code.ptx"
        for label in labels.values():
            if label["kind"] not in ("chain", "pair", "shared", "global", "streams", "mixture"):
                continue
            # one warp with one chain shows a latency, many independent instructions a throughput
            latency = label["warps"] == 1 and label["chains"] == 1 and label["kind"] not in ("streams", "mixture")
            changed = {"links": label["links"] // 2} if latency else {"warps": label["warps"] // 2}
            half = labels.get(key({**label, **changed}))
            both = [measured.get(key(of)) for of in (label, half) if of]
            known = chains[label["kind"], label["cls"]]
            full = label["warps"] == 16 and label["chains"] == (4 if 4 in known else max(known))
            if None in both or len(both) < 2 or not (latency or full):
                continue
            per = label["links"] * label["warps"] // 2
            what = "latency" if latency else f'interval, {label["warps"]} warps, {label["chains"]} at once'
            degree = f', degree {label["degree"]}' if "degree" in label else ""
            rows.append({"name": f'{label["cls"]} {what}{degree}, {label["links"]} links', "kernel": os.path.join(name, code),
                         "options": repeated(label, launch), "less": repeated(half, launch), "per": per * REPEATED,
                         "cycles": round((both[0] - both[1]) / per, 4)})
    with open(os.path.join(args.bundles, "table.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["name", "kernel", "options", "less", "per", "cycles"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in rows if row["cycles"] > 0)


def key(label):
    """Returns what tells a benchmark from the others, as texts."""
    return tuple(str(label.get(name, "")) for name in ("kind", "cls", "chains", "warps", "degree", "links"))


EXACT = {"ex2": lambda x: 2.0**x, "lg2": math.log2, "sin": math.sin, "cos": math.cos, "rcp": lambda x: 1 / x,
         "rsqrt": lambda x: x**-0.5, "sqrt": math.sqrt, "tanh": math.tanh}


def values(args, label, words):
    """Writes the results of a product as they are, and those of a function as the differences of their
    bits from those of the correctly rounded results, both compressed."""
    if label["kind"] in ("product", "division"):
        data = struct.pack(f"<{len(words)}I", *words)
    else:
        number = lambda bits: struct.unpack("<f", struct.pack("<I", bits))[0]
        bits = lambda value: struct.unpack("<I", struct.pack("<f", value))[0]
        exact = (bits(EXACT[label["cls"]](number(label["first"] + i * label["step"]))) for i in range(len(words)))
        data = struct.pack(f"<{len(words)}i", *(word - right for word, right in zip(words, exact)))
    with open(f"{args.out}-{label['kind']}-{label['cls']}.xz", "wb") as file:
        file.write(lzma.compress(data, preset=9))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("write")
    make.add_argument("out")
    make.add_argument("--ptxas")
    make.add_argument("--nvdisasm")
    collected = commands.add_parser("collect")
    collected.add_argument("bundles")
    collected.add_argument("measured")
    collected.add_argument("--out", required=True, help="beginning of the names of the files")
    compared = commands.add_parser("table")
    compared.add_argument("bundles")
    compared.add_argument("measured", help="the table of microbenchmarks")
    args = parser.parse_args()
    {"write": write, "collect": collect, "table": table}[args.command](args)


if __name__ == "__main__":
    main()
