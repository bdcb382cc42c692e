"""Random values, most of which are wrong wherever they are passed."""

from __future__ import annotations

import array
import collections
import ctypes
import datetime
import decimal
import enum
import fractions
import itertools
import math
import pathlib
import random
import types
from typing import Any, Callable

import numpy as np

import warpbound as wb

TEXTS = (
    "", " ", "-", "--", "-h", "--help", "-5", "=", "a=b", ",", "a,b", "saxpy", "saxpi", "fig3", "vecadd", "ecrts25-orin", "rtx3070",
    "gto", "lrr", "random:3", "random:x", "replay:", "replay:x", "called:", "called:nothing", "two-level", "mem_latency", "units.gmem.lat",
    "hazards", "sub_cores", "Raw", "Raw,Waw", "none", "true", "5", "5.5", "1e9", "inf", "nan", "\0", "a\0b", "\n", "a\nb", "\r\n", "\t",
    "'", '"', "\\", "\\\"", "a'b\"c", "é", "日本", "\U0001f600", "\ud800", "\udcff", "\u202e", "\x1b[31m", "%s", "{}", "$(ls)", "`ls`",
    "..", ".", "/", "/dev/null", "/proc/self/mem", "~", "*", "a/b", "x.ptx", "x.ron", "x.warp", "x.csv", "x.html", "x.svg", "x.replay",
    "x.traceg", "x.cubin", "x.ptx.gz", "x" * 5000, "Launch(", "Sweep(", "[", "{", "(", "18446744073709551616", "-1", "0x10", "1/0", "lambda",
    "cycles", "kernel", "cycles ~ kernel", "ecdf(cycles)", "saxpy --policy lrr", "saxpy '", 'saxpy "', "saxpy \\",
)  # fmt: skip
NUMBERS = (0, 1, 2, 3, 31, 32, 33, 64, 100, 1023, 1024, 1025, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64, 10**40, 10**5000)
FLOATS = (0.0, -0.0, 0.5, 1.0, 1.5, 1e-320, 1e38, 1e39, 1e308, math.inf, -math.inf, math.nan)


class Color(enum.IntEnum):
    RED = 1


class Word(str):
    pass


class Odd:
    """Fails wherever it is asked."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __str__ = __repr__


class Chooses:
    def choose(self, view: wb.View) -> Any:
        return view.ready[0]


class Picks:
    """A policy with random choices, some of them wrong."""

    def choose(self, view: wb.View) -> Any:
        r = random.Random(view.now)
        return r.choice([view.ready[0], max(view.ready), None, 99, -1, "x", 1.5]) if r.random() < 0.2 else view.ready[0]


def _released() -> memoryview:
    view = memoryview(bytearray(4))
    view.release()
    return view


def an_array(r: random.Random) -> Any:
    """Returns an array, which may be of any kind."""
    n = r.choice((0, 1, 3, 8, 64, 100, 128, 1000))
    dtype = r.choice(("f4", "f4", "f4", "u1", "i8", "?", "f2", "c8", "S3", "U2", ">f4", "O", "M8[s]", "i4,f4", "V5"))
    base = np.zeros(n, dtype)
    made: list[Callable[[], Any]] = [
        lambda: base, lambda: base, lambda: base, lambda: base[::2], lambda: base[::-1], lambda: base[1:], lambda: base.reshape(1, n).T,
        lambda: np.asfortranarray(np.zeros((3, 5), "f4")), lambda: np.broadcast_to(np.zeros(1, "f4"), (n,)), lambda: np.zeros((), "f4"),
        lambda: np.zeros((2, 0, 3)), lambda: bytearray(4 * n), lambda: memoryview(bytearray(4 * n)), lambda: memoryview(bytes(4 * n)),
        lambda: memoryview(bytearray(4 * n))[::2], lambda: array.array("d", [0.0] * n), lambda: (ctypes.c_float * n)(),
        lambda: ctypes.c_int(3), lambda: np.ma.zeros(n), lambda: np.matrix(np.zeros((1, n or 1))), lambda: np.rec.array(np.zeros(n, "i4,f4")),
        lambda: array.array("u", "abc"), _released,
    ]  # fmt: skip
    found = r.choice(made)()
    if r.random() < 0.1 and isinstance(found, np.ndarray):
        found.flags.writeable = False
    return found


def value(r: random.Random, depth: int = 0) -> Any:
    """Returns a value of any type."""
    kind = r.randrange(24)
    if kind < 5:
        return r.choice(TEXTS)
    if kind < 8:
        return r.choice((1, -1)) * r.choice(NUMBERS)
    if kind < 9:
        return r.choice(FLOATS)
    if kind < 11:
        return r.choice((None, True, False, ..., NotImplemented))
    if kind < 13:
        return an_array(r)
    if kind < 15 and depth < 3:
        inner = [value(r, depth + 1) for _ in range(r.randrange(4))]
        return r.choice((list, tuple, iter, collections.deque, lambda many: (one for one in many)))(inner)
    if kind < 16 and depth < 3:
        keys = [r.choice(TEXTS + NUMBERS[:5]) for _ in range(r.randrange(3))]
        return r.choice((dict, types.MappingProxyType, collections.OrderedDict))({key: value(r, depth + 1) for key in keys})
    if kind < 17:
        return r.choice((np.int64, np.uint8, np.float32, np.float64, np.bool_, np.str_))(r.choice((0, 1, 3)))
    if kind < 18:
        return pathlib.Path(r.choice(TEXTS))
    if kind < 19:
        return r.choice((b"", b"x", b"saxpy", bytes(8), bytes(16), b"\xff\0"))
    made: list[Callable[[], Any]] = [
        object, lambda: object, lambda: int, lambda: print, lambda: types, Odd, lambda: Odd, lambda: Color.RED, lambda: Word("saxpy"),
        lambda: 1j, lambda: decimal.Decimal("1.5"), lambda: fractions.Fraction(1, 3), lambda: datetime.date(2020, 1, 1), lambda: range(5),
        lambda: {1, 2}, lambda: frozenset(("gto", "lrr")), lambda: itertools.repeat("gto", 3), lambda: lambda: None, lambda: Chooses,
        lambda: Chooses(), lambda: Picks, lambda: np.float32, lambda: np.dtype("f4"), lambda: slice(1), lambda: RuntimeError("x"),
        lambda: wb.Error.of("x"), lambda: wb.Page("x"), lambda: wb.machine("ecrts25-orin", mem_latency=5), lambda: wb.kernel("fig3"),
        lambda: wb.run("fig3"), lambda: wb.Rows([]), lambda: wb.Record({}), lambda: wb.run, lambda: wb, lambda: wb.Launch,
        lambda: wb.run("fig3").schedule(), lambda: wb.sweep("fig3", machines="paper-fig2", policies="gto"), lambda: memoryview(b"x"),
    ]  # fmt: skip
    return r.choice(made)()
