#!/usr/bin/env python3
"""Runs bundles of kernels on an NVIDIA GPU, compares their results and measures their cycles.

A bundle is what `warpbound bundle KERNEL... --out DIR` writes: DIR has one folder for each kernel.
The script needs Python 3 and the NVIDIA driver, nothing else. With `ncu` (Nsight Compute) on the
PATH it also reads hardware counters. It never changes a setting of the card.

    warpbound bundle --out bundles
    python3 scripts/measure-on-card.py bundles --out measured
    warpbound validate measured/cycles.csv --machine rtx3070

The folder `measured` then has
  cycles.csv     one row for each launch of each kernel, which `warpbound validate` reads: the median
                 of each metric, and of times also the least and the greatest value;
  results.jsonl  one line for each kernel: whether its results are equal bit for bit, and if not,
                 where they differ; and the buffers that a bundle asks to keep;
  card.json      the card, the driver and the settings of the measurement.

Each kernel runs in three ways:
  1. As it is. The contents of all buffers and variables are compared with those that the
     simulator's functional run left.
  2. With a clock: the PTX gets a parameter more, and code at its first instruction and after its
     last one that reads the SM's clock. The metric `clock_cycles` is the time from the first of
     these readings in a block to the last, for the block that takes longest.
  3. Under the profiler, which flushes the caches before each pass (`flushed`), and once more
     without flushing (`warm`).

If a folder has `code.cubin` beside `code.ptx`, the machine code is run; else the driver compiles
the PTX. --ptxas PATH compiles all of them beforehand.
"""

import argparse
import array
import csv
import ctypes
import hashlib
import io
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import time

METRICS = [
    "gpc__cycles_elapsed.max", "sm__cycles_active.max", "gpu__time_duration.sum", "smsp__inst_executed.sum",
    "launch__registers_per_thread",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum", "lts__t_sectors_lookup_hit.sum",
    "dram__sectors_read.sum", "dram__sectors_write.sum",
]
# the metrics of the runs with warm caches, which the profiler reads in fewer passes
WARM_METRICS = ["gpc__cycles_elapsed.max", "sm__cycles_active.max", "gpu__time_duration.sum"]
# those of which the table has the least and the greatest value, too
TIMES = ["clock_cycles", "gpc__cycles_elapsed.max", "sm__cycles_active.max", "gpu__time_duration.sum"]
COLUMNS = ["gpu", "kernel", "launch", "entry", "code", "blocks", "threads", "equal", "repeats"]
# the parameters of the clock, and the 8-byte words that it takes for each block
CLOCK_PARAM = "wb_clock_param"
CLOCK_WORDS = 2


# ---------------------------------------------------------------- the driver

class DriverError(Exception):
    pass


class AllocationProp(ctypes.Structure):
    """CUmemAllocationProp."""
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location_type", ctypes.c_int),
                ("location_id", ctypes.c_int), ("win32", ctypes.c_void_p), ("compression", ctypes.c_ubyte),
                ("gpu_direct", ctypes.c_ubyte), ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 4)]


class AccessDesc(ctypes.Structure):
    """CUmemAccessDesc."""
    _fields_ = [("location_type", ctypes.c_int), ("location_id", ctypes.c_int), ("flags", ctypes.c_int)]


class Card:
    """The first GPU, through the driver API."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device.value
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(text))
            raise DriverError(f"{name}: {(text.value or b'?').decode()} ({code})")

    def attribute(self, number):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    def describe(self):
        name = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", name, 128, self.device)
        driver = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(driver))
        return {
            "name": name.value.decode(), "cuda_driver": driver.value,
            "compute_capability": f"{self.attribute(75)}.{self.attribute(76)}",
            "multiprocessors": self.attribute(16), "clock_khz": self.attribute(13),
            "memory_clock_khz": self.attribute(36), "memory_bus_bits": self.attribute(37),
            "l2_bytes": self.attribute(38), "shared_bytes_per_multiprocessor": self.attribute(81),
            "registers_per_multiprocessor": self.attribute(82),
        }

    def copy_in(self, address, data):
        if data:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), bytes(data), ctypes.c_size_t(len(data)))

    def copy_out(self, address, size):
        data = ctypes.create_string_buffer(max(size, 1))
        if size:
            self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw[:size]

    def fill(self, address, size):
        if size:
            self.call("cuMemsetD8_v2", ctypes.c_uint64(address), ctypes.c_ubyte(0), ctypes.c_size_t(size))

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 16)))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def load(self, code):
        """Loads a module from the bytes of PTX or of a cubin."""
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # the error log and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(8192))
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), code + b"\0", 2, options, values)
        except DriverError as error:
            raise DriverError(f"{error} {log.value.decode(errors='replace').strip()}") from None
        return module

    def launch(self, function, grid, block, shared, arguments):
        holders = [ctypes.create_string_buffer(data, len(data)) for data in arguments]
        pointers = (ctypes.c_void_p * max(len(holders), 1))(
            *[ctypes.cast(holder, ctypes.c_void_p) for holder in holders])
        self.call("cuLaunchKernel", function, *grid, *block, shared, None, pointers, None)
        self.call("cuCtxSynchronize")


class Memory:
    """The buffers of a bundle in one allocation, at the addresses of the functional run if the driver
    grants them, else elsewhere at the same distances."""

    def __init__(self, card, buffers):
        self.card = card
        self.base, self.size, self.delta, self.pages = 0, 0, 0, None
        if not buffers:
            return
        start = min(buffer["address"] for buffer in buffers)
        end = max(buffer["address"] + buffer["bytes"] for buffer in buffers)
        if not self.reserve(start, end):
            # cuMemAlloc aligns to 512 bytes at least, buffers to 256
            self.pages, self.size = None, end - start + 256
            self.base = card.allocate(self.size + 512)
            self.delta = self.base + start % 512 - start

    def reserve(self, start, end):
        """Maps memory at a fixed address; returns whether the driver granted it."""
        card = self.card
        prop = AllocationProp(type=1, location_type=1, location_id=card.device)
        unit = ctypes.c_size_t()
        card.call("cuMemGetAllocationGranularity", ctypes.byref(unit), ctypes.byref(prop), 0)
        first = start // unit.value * unit.value
        size = -(-(end - first) // unit.value) * unit.value
        address = ctypes.c_uint64()
        try:
            card.call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), ctypes.c_size_t(0),
                      ctypes.c_uint64(first), ctypes.c_uint64(0))
        except DriverError:
            return False
        handle = ctypes.c_uint64()
        card.call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(prop), ctypes.c_uint64(0))
        card.call("cuMemMap", address, ctypes.c_size_t(size), ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
        access = AccessDesc(1, card.device, 3)
        card.call("cuMemSetAccess", address, ctypes.c_size_t(size), ctypes.byref(access), ctypes.c_size_t(1))
        self.base, self.size, self.pages = address.value, size, handle
        self.delta = address.value - first
        return True

    def clear(self):
        self.card.fill(self.base, self.size)

    def free(self):
        if self.base and self.pages is None:
            self.card.free(self.base)
        elif self.base:
            card, address, size = self.card, ctypes.c_uint64(self.base), ctypes.c_size_t(self.size)
            card.call("cuMemUnmap", address, size)
            card.call("cuMemRelease", self.pages)
            card.call("cuMemAddressFree", address, size)


# ---------------------------------------------------------------- the bundle

class Bundle:
    """The description of a kernel and its files."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "launch.json"), encoding="utf-8") as file:
            self.json = json.load(file)
        if self.json.get("format") != 1:
            raise ValueError(f"{folder}/launch.json: the format is {self.json.get('format')!r}, not 1")
        self.name = self.json["kernel"]
        self.buffers = {buffer["name"]: buffer for buffer in self.json["buffers"]}

    def file(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def contents(self, buffer, when):
        name = buffer.get(when)
        data = self.file(name) if name else bytes(buffer["bytes"])
        if len(data) != buffer["bytes"] and when == "after":
            raise ValueError(f"{self.folder}/{name}: {len(data)} bytes, not {buffer['bytes']}")
        return data

    def code(self, module, clock):
        """Returns the code of a module: its cubin if there is one, else its PTX."""
        stem = module["code"].removesuffix(".ptx") + (".clock" if clock else "")
        cubin = os.path.join(self.folder, stem + ".cubin")
        if os.path.exists(cubin):
            return self.file(stem + ".cubin")
        text = self.file(module["code"]).decode()
        return (with_clock(text) if clock else text).encode()

    def launches(self):
        return [step["launch"] for step in self.json["steps"] if "launch" in step]


def with_clock(text):
    """Adds to each kernel of a PTX module a parameter, and code that reads the clock."""
    out, at = [], 0
    for entry in re.finditer(r"\.entry\s+[\w$]+\s*(\(|\{)", text):
        if entry.start() < at:
            continue
        if entry.group(1) == "(":
            close = text.index(")", entry.end())
            params = text[entry.end():close].strip()
            comma = ",\n" if params else ""
            head = text[at:close] + f"{comma}\t.param .u64 {CLOCK_PARAM}\n)"
            begin = text.index("{", close)
            head += text[close + 1:begin + 1]
        else:
            head = text[at:entry.end() - 1] + f"(.param .u64 {CLOCK_PARAM})\n{{"
            begin = entry.end() - 1
        depth, end = 1, begin + 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        body = re.sub(r"(?m)^(\s*(?:@!?%?[\w$]+\s+)?)(?:ret(?:\.uni)?|exit)\s*;", r"\1bra WB_END;",
                      text[begin + 1:end - 1])
        out += [head, CLOCK_START, body, CLOCK_END, "}"]
        at = end
    return "".join(out) + text[at:]


CLOCK_START = """
\t.reg .u64 %wbd<4>;
\t.reg .u32 %wbr<6>;
\tmov.u64 %wbd0, %clock64;
"""
CLOCK_END = f"""
\tbra WB_END;
WB_END:
\tmov.u64 %wbd1, %clock64;
\tmov.u32 %wbr0, %ctaid.x;
\tmov.u32 %wbr1, %ctaid.y;
\tmov.u32 %wbr2, %ctaid.z;
\tmov.u32 %wbr3, %nctaid.x;
\tmov.u32 %wbr4, %nctaid.y;
\tmad.lo.u32 %wbr2, %wbr2, %wbr4, %wbr1;
\tmad.lo.u32 %wbr0, %wbr2, %wbr3, %wbr0;
\tld.param.u64 %wbd2, [{CLOCK_PARAM}];
\tmad.wide.u32 %wbd2, %wbr0, {8 * CLOCK_WORDS}, %wbd2;
\tred.global.min.u64 [%wbd2], %wbd0;
\tred.global.max.u64 [%wbd2+8], %wbd1;
\tret;
"""


def compile_all(bundles, ptxas, arch):
    """Compiles the modules of all bundles, with and without the clock."""
    known = {}
    for bundle in bundles:
        for module in bundle.json["modules"]:
            text = bundle.file(module["code"]).decode()
            stem = os.path.join(bundle.folder, module["code"].removesuffix(".ptx"))
            for code, ending in [(text, ".cubin")] + [(with_clock(text), ".clock.cubin")] * (not bundle.json.get("own_clock")):
                target = stem + ending
                if code in known:
                    shutil.copyfile(known[code], target)
                    continue
                source = target + ".ptx"
                with open(source, "w", encoding="utf-8") as file:
                    file.write(code)
                done = subprocess.run([ptxas, f"-arch={arch}", source, "-o", target], capture_output=True, text=True)
                os.remove(source)
                if done.returncode:
                    sys.exit(f"{bundle.folder}: {ptxas} cannot compile {module['code']}: {done.stderr.strip()[:500]}")
                known[code] = target


# ---------------------------------------------------------------- running

class Loaded:
    """A bundle on the card."""

    def __init__(self, card, bundle, clock):
        self.card, self.bundle = card, bundle
        self.clock = clock and not bundle.json.get("own_clock")
        self.modules = [card.load(bundle.code(module, self.clock)) for module in bundle.json["modules"]]
        self.memory = Memory(card, bundle.json["buffers"])
        self.variables, self.initial, self.functions = {}, {}, {}
        for index, module in enumerate(bundle.json["modules"]):
            for variable in module["variables"]:
                self.variable(index, variable)
        blocks = [math.prod(launch["grid"]) for launch in bundle.launches()]
        self.clocks = card.allocate(8 * CLOCK_WORDS * max(blocks)) if self.clock else 0

    def variable(self, index, variable):
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        try:
            self.card.call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), self.modules[index],
                           variable["name"].encode())
        except DriverError:
            return  # the compiler removed a variable that no kernel uses
        self.variables[index, variable["name"]] = address.value
        self.initial[index, variable["name"]] = self.card.copy_out(address.value, variable["bytes"])

    def address(self, place):
        if "buffer" in place:
            place = place["buffer"]
            return self.bundle.buffers[place["name"]]["address"] + self.memory.delta + place["offset"]
        place = place["variable"]
        return self.variables[place["module"], place["name"]] + place["offset"]

    def relocated(self, buffer, data):
        """Moves pointers in a buffer of pointers, if the buffers are not at their addresses."""
        if not self.memory.delta or buffer["element"] != "ptr":
            return data
        words = array.array("Q", data)
        for i, word in enumerate(words):
            if any(b["address"] <= word <= b["address"] + b["bytes"] for b in self.bundle.buffers.values()):
                words[i] = word + self.memory.delta
        return words.tobytes()

    def reset(self):
        self.memory.clear()
        for buffer in self.bundle.json["buffers"]:
            if buffer.get("before"):
                data = self.relocated(buffer, self.bundle.contents(buffer, "before"))
                self.card.copy_in(buffer["address"] + self.memory.delta, data)
        for key, data in self.initial.items():
            self.card.copy_in(self.variables[key], data)
        for index, module in enumerate(self.bundle.json["modules"]):
            for variable in module["variables"]:
                if variable.get("before") and (index, variable["name"]) in self.variables:
                    data = self.bundle.file(variable["before"])
                    self.card.copy_in(self.variables[index, variable["name"]], data)

    def function(self, launch):
        key = launch["module"], launch["entry"]
        if key not in self.functions:
            function = ctypes.c_void_p()
            self.card.call("cuModuleGetFunction", ctypes.byref(function), self.modules[launch["module"]],
                           launch["entry"].encode())
            self.functions[key] = function
        function = self.functions[key]
        if launch["dynamic_shared"] > 48 << 10:
            self.card.call("cuFuncSetAttribute", function, 8, launch["dynamic_shared"])
        return function

    def run(self, see=lambda launch, cycles: None):
        """Performs all steps; `see` gets each launch and, with the clock, its cycles."""
        for step in self.bundle.json["steps"]:
            if "copy" in step:
                step = step["copy"]
                data = self.card.copy_out(self.address(step["from"]), step["bytes"])
                self.card.copy_in(self.address(step["to"]), data)
            elif "write" in step:
                step = step["write"]
                self.card.copy_in(self.address(step["to"]), self.bundle.file(step["file"]))
            else:
                self.launch(step["launch"], see)

    def launch(self, launch, see):
        arguments = []
        for argument in launch["arguments"]:
            data = bytes.fromhex(argument["bytes"])
            if argument["to"]:
                data = self.address(argument["to"]).to_bytes(8, "little")
            arguments.append(data)
        blocks = math.prod(launch["grid"])
        if self.clock:
            arguments.append(self.clocks.to_bytes(8, "little"))
            self.card.copy_in(self.clocks, (b"\xff" * 8 + bytes(8)) * blocks)
        self.card.launch(self.function(launch), launch["grid"], launch["block"], launch["dynamic_shared"], arguments)
        cycles = None
        if self.clock:
            words = array.array("Q", self.card.copy_out(self.clocks, 8 * CLOCK_WORDS * blocks))
            cycles = max(words[2 * i + 1] - words[2 * i] for i in range(blocks))
        see(launch, cycles)

    def differences(self):
        found = []
        for buffer in self.bundle.json["buffers"]:
            if "after" in buffer:
                got = self.card.copy_out(buffer["address"] + self.memory.delta, buffer["bytes"])
                expected = self.relocated(buffer, self.bundle.contents(buffer, "after"))
                found += compared(buffer["name"], buffer["element"], expected, got)
        for index, module in enumerate(self.bundle.json["modules"]):
            for variable in module["variables"]:
                if (index, variable["name"]) in self.variables and variable["space"] == "global":
                    got = self.card.copy_out(self.variables[index, variable["name"]], variable["bytes"])
                    found += compared(variable["name"], "u8", self.bundle.file(variable["after"]), got)
        return found

    def kept(self):
        """Returns the contents of the buffers that the bundle asks to keep."""
        kept = {}
        for buffer in self.bundle.json["buffers"]:
            if buffer.get("keep"):
                data = self.card.copy_out(buffer["address"] + self.memory.delta, buffer["bytes"])
                kept[buffer["name"]] = elements(buffer["element"], data)
        return kept

    def free(self):
        self.memory.free()
        if self.clocks:
            self.card.free(self.clocks)
        for module in self.modules:
            self.card.call("cuModuleUnload", module)


FORMATS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "ptr": "Q",
           "f16": "e", "f32": "f", "f64": "d"}


def elements(element, data):
    form = FORMATS[element]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(form)}{form}", data))


def compared(name, element, expected, got):
    """Returns the differences between two contents of a buffer, as a list of at most one entry."""
    if expected == got:
        return []
    size = struct.calcsize(FORMATS[element])
    bits = {1: "B", 2: "H", 4: "I", 8: "Q"}[size]
    count = len(expected) // size
    a, b = (struct.unpack(f"<{count}{bits}", data) for data in (expected, got))
    unlike = [i for i in range(count) if a[i] != b[i]]
    first = unlike[0]
    wanted, found = elements(element, expected), elements(element, got)
    entry = {"buffer": name, "elements": count, "different": len(unlike), "first": first,
             "expected": str(wanted[first]), "measured": str(found[first])}
    if element in ("f16", "f32", "f64"):
        finite = [i for i in unlike if math.isfinite(wanted[i]) and math.isfinite(found[i])]
        scale = max((abs(x) for x in wanted if math.isfinite(x)), default=0)
        error = [abs(found[i] - wanted[i]) for i in finite]
        entry["largest_relative"] = max((abs(found[i] - wanted[i]) / abs(wanted[i]) for i in finite if wanted[i]),
                                        default=None)
        entry["largest_over_scale"] = max(error, default=0) / scale if scale else None
        entry["largest_ulps"] = max((abs(a[i] - b[i]) for i in finite if (a[i] ^ b[i]) >> (8 * size - 1) == 0),
                                    default=None)
        entry["not_finite"] = len(unlike) - len(finite)
    return [entry]


def child(folders, mode, repeats, out):
    """Runs bundles in this process and writes one line of JSON for each."""
    card = Card()
    with open(out, "a", encoding="utf-8") as lines:
        def put(entry):
            lines.write(json.dumps(entry) + "\n")
            lines.flush()

        put({"card": card.describe()})
        for folder in folders:
            bundle = Bundle(folder)
            put({"begin": folder})
            entry = {"folder": folder, "kernel": bundle.name, "mode": mode, "launches": []}
            try:
                loaded = Loaded(card, bundle, mode == "clock")
                entry["at_its_addresses"] = loaded.memory.delta == 0
                for repeat in range(repeats):
                    cycles = []
                    loaded.reset()
                    loaded.run(lambda launch, n: cycles.append(n))
                    entry["launches"].append(cycles)
                    if mode != "profile" and repeat == 0:
                        entry["differences"] = loaded.differences()
                    if kept := mode != "profile" and loaded.kept():
                        entry.setdefault("kept", []).append(kept)
                loaded.free()
            except (DriverError, KeyError, ValueError) as error:
                entry["error"] = f"{type(error).__name__}: {error}"
            put(entry)
            if "error" in entry and "Driver" in entry["error"]:
                return 3  # after a fault of a kernel the context is of no use
    return 0


def run_children(folders, mode, repeats, out, prefix=lambda attempt: []):
    """Runs bundles in a child, and goes on in another one after a bundle that ended it. Returns the
    number of children; `prefix` gets the number of each, from 0."""
    left, attempt = list(folders), -1
    while left:
        attempt += 1
        base = [sys.executable, os.path.abspath(__file__), "--child", mode, "--repeats", str(repeats), "--out", out]
        listed = out + ".list"
        with open(listed, "w", encoding="utf-8") as file:
            file.write("\n".join(left))
        done = subprocess.run([*prefix(attempt), *base, "@" + listed], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        begun = [entry["begin"] for entry in read_lines(out) if "begin" in entry]
        ended = {entry["folder"] for entry in read_lines(out) if "folder" in entry}
        if begun and begun[-1] not in ended:
            with open(out, "a", encoding="utf-8") as file:
                tail = done.stdout.strip()[-300:]
                file.write(json.dumps({"folder": begun[-1], "error": f"the process ended: {tail}"}) + "\n")
        rest = left[left.index(begun[-1]) + 1:] if begun and begun[-1] in left else []
        if done.returncode == 0 or len(rest) == len(left) or not begun:
            if done.returncode:
                print(done.stdout[-2000:])
            break
        left = rest
    return attempt + 1


def read_lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def profile(ncu, folders, repeats, out, cache):
    """Runs bundles under the profiler and returns, for each bundle in order, one list of metrics for
    each launch of each repeat."""
    log = lambda attempt: f"{out}.{attempt}.ncu.csv"
    metrics = METRICS if cache == "all" else WARM_METRICS
    prefix = lambda attempt: [ncu, "--csv", "--page", "raw", "--metrics", ",".join(metrics), "--clock-control",
                              "none", "--cache-control", cache, "--log-file", log(attempt)]
    children = run_children(folders, "profile", repeats, out, prefix)
    # each child begins with a line about the card
    parts = [[]]
    for entry in read_lines(out):
        if "card" in entry and parts[-1]:
            parts.append([])
        parts[-1].append(entry)
    by_folder = {}
    for attempt, entries in zip(range(children), parts):
        by_folder |= of_one_child(entries, profiler_rows(log(attempt)))
    return by_folder


def of_one_child(entries, rows):
    """Assigns the profiler's rows of one process to the launches of its bundles, in their order."""
    found, at = {}, 0
    for entry in entries:
        if "folder" in entry and "error" not in entry:
            found[entry["folder"]] = []
            for launches in entry["launches"]:
                found[entry["folder"]].append(rows[at:at + len(launches)])
                at += len(launches)
    if at > len(rows):
        print(f"warning: the profiler shows {len(rows)} launches, not {at}: its figures are left out")
        return {}
    return found


def profiler_rows(log):
    """Returns the metrics of each launch from the profiler's CSV."""
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = []
    for row in csv.DictReader(io.StringIO("".join(lines))):
        if not (row.get("ID") or "").isdigit():
            continue  # the row of units
        values = {}
        for metric in METRICS:
            text = (row.get(metric) or "").replace(",", "")
            try:
                values[metric] = float(text)
            except ValueError:
                continue
        rows.append(values)
    return rows


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def table(gpu, bundles, results, clocks, profiles):
    """Returns the table of cycles: the names of its columns, and its rows."""
    names = ["clock_cycles"] + [f"{metric}@{way}" for way in profiles for metric in of_way(way)]
    columns = list(COLUMNS)
    for name in names:
        columns += [name, name + ".least", name + ".greatest"] if name.split("@")[0] in TIMES else [name]
    rows = []
    for bundle in bundles:
        result, clock = results.get(bundle.folder, {}), clocks.get(bundle.folder, {})
        failed = "error" in result or "differences" not in result
        equal = "failed" if failed else "no" if result["differences"] else "yes"
        for number, launch in enumerate(bundle.launches()):
            samples = {}
            cycles = [run[number] for run in clock.get("launches", []) if len(run) > number and run[number] is not None]
            if cycles:
                samples["clock_cycles"] = cycles
            for way, by_folder in profiles.items():
                for run in by_folder.get(bundle.folder, []):
                    for metric, value in (run[number] if len(run) > number else {}).items():
                        samples.setdefault(f"{metric}@{way}", []).append(value)
            row = dict(zip(COLUMNS, [gpu, bundle.name, number, launch["entry"], bundle.json.get("digest", ""),
                                     math.prod(launch["grid"]), math.prod(launch["block"]), equal,
                                     min(map(len, samples.values()), default=0)]))
            for name, values in samples.items():
                row |= {name: f"{median(values):.10g}", name + ".least": f"{min(values):.10g}",
                        name + ".greatest": f"{max(values):.10g}"}
            rows.append([row.get(column, "") for column in columns])
    return columns, rows


def of_way(way):
    return METRICS if way == "flushed" else WARM_METRICS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundles", nargs="*", help="folders of bundles, or folders that hold such folders")
    parser.add_argument("--out", required=True, help="folder for the results")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each kernel in each way [default: 5]")
    parser.add_argument("--launches", type=int, default=64,
                        help="most launches that a program may make to be profiled [default: 64]")
    parser.add_argument("--ptxas", help="compile the PTX with this program first")
    parser.add_argument("--arch", default="sm_90", help="architecture for --ptxas [default: sm_90]")
    parser.add_argument("--compile-only", action="store_true", help="compile, and run nothing")
    parser.add_argument("--ncu", default=shutil.which("ncu"), help="the profiler [default: ncu on the PATH]")
    parser.add_argument("--ways", default="plain,clock,flushed,warm", help="what to do [default: all four]")
    parser.add_argument("--child", choices=["plain", "clock", "profile"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        with open(args.bundles[0].removeprefix("@"), encoding="utf-8") as file:
            sys.exit(child(file.read().split("\n"), args.child, args.repeats, args.out))
    folders = []
    for given in args.bundles:
        if os.path.exists(os.path.join(given, "launch.json")):
            folders.append(given)
        else:
            folders += sorted(entry.path for entry in os.scandir(given)
                              if os.path.exists(os.path.join(entry.path, "launch.json")))
    bundles = [Bundle(folder) for folder in folders]
    if not bundles:
        sys.exit(f"{args.bundles}: there is no bundle; `warpbound bundle` writes them")
    os.makedirs(args.out, exist_ok=True)
    if args.ptxas:
        compile_all(bundles, args.ptxas, args.arch)
    if args.compile_only:
        return
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        sys.exit(f"the NVIDIA driver cannot be loaded: {error}; run this on a machine with a GPU")
    sys.exit(measure(args, bundles))


def measure(args, bundles):
    """Runs the bundles in every way and writes the files. Returns the exit code."""
    folders = [bundle.folder for bundle in bundles]
    ways, took = args.ways.split(","), {}
    path = lambda name: os.path.join(args.out, name)
    for name in ("plain", "clock", "flushed", "warm"):
        # lines are appended, and those of an earlier measurement are not part of this one
        if os.path.exists(path(f"{name}.jsonl")):
            os.remove(path(f"{name}.jsonl"))
    answers, profiles = {"plain": {}, "clock": {}}, {}
    for name in ("plain", "clock"):
        if name in ways:
            start = time.time()
            run_children(folders, name, args.repeats, path(f"{name}.jsonl"))
            entries = read_lines(path(f"{name}.jsonl"))
            answers[name] = {entry["folder"]: entry for entry in entries if "folder" in entry}
            took[name] = round(time.time() - start, 1)
    sound = [b.folder for b in bundles
             if len(b.launches()) <= args.launches and "error" not in answers["plain"].get(b.folder, {})]
    for name, cache in (("flushed", "all"), ("warm", "none")):
        if name in ways and args.ncu:
            start = time.time()
            profiles[name] = profile(args.ncu, sound, args.repeats, path(f"{name}.jsonl"), cache)
            took[name] = round(time.time() - start, 1)
    cards = [entry["card"] for entry in read_lines(path("plain.jsonl")) if "card" in entry]
    card = cards[0] if cards else {"name": "unknown"}
    smi = shutil.which("nvidia-smi")
    if smi:
        asked = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,persistence_mode"
        done = subprocess.run([smi, "--query-gpu=" + asked, "--format=csv,noheader"], capture_output=True, text=True)
        card["nvidia_smi"] = dict(zip(asked.split(","), [part.strip() for part in done.stdout.split(",")]))
    card |= {"date": time.strftime("%Y-%m-%d", time.gmtime()), "command": " ".join(sys.argv), "seconds": took,
             "clock_control": "none"}
    with open(path("card.json"), "w", encoding="utf-8") as file:
        json.dump(card, file, indent=1)
    columns, rows = table(card["name"], bundles, answers["plain"], answers["clock"], profiles)
    with open(path("cycles.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    with open(path("results.jsonl"), "w", encoding="utf-8") as file:
        for entry in answers["plain"].values():
            file.write(json.dumps(entry) + "\n")
    return summary(answers, took, len(bundles))


def summary(answers, took, count):
    plain = answers["plain"].values()
    failed = [entry for entry in plain if "error" in entry]
    unlike = [entry for entry in plain if entry.get("differences")]
    equal = [entry for entry in plain if entry.get("differences") == []]
    print(f"{count} bundles: {len(equal)} equal bit for bit, {len(unlike)} different, {len(failed)} failed; seconds {took}")
    for entry in failed:
        print("failed:", os.path.basename(entry["folder"]), entry["error"][:300])
    for entry in unlike:
        print("different:", entry["kernel"], json.dumps(entry["differences"])[:400])
    other = [entry for entry in answers["clock"].values() if entry.get("differences") or "error" in entry]
    print("with the clock, different or failed:", ", ".join(os.path.basename(entry["folder"]) for entry in other) or "none")
    return 1 if failed or len(plain) < count else 0


if __name__ == "__main__":
    main()
