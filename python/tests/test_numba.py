"""Tests of `warpbound.numba`: each result is compared with NumPy within a stated tolerance."""

from __future__ import annotations

import enum
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba_cuda")
from numba import cuda  # noqa: E402

import warpbound as wb  # noqa: E402


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89", "sm_90"])
def test_arrays_and_numbers(arch: str) -> None:
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    launch = wb.numba.capture(saxpy, arch=arch)[1, 128](np.float32(2), x, y)
    assert [parameter.name for parameter in launch.kernel.parameters] == [
        "a",
        *("x_meminfo", "x_parent", "x_size", "x_itemsize", "x", "x_shape_0", "x_strides_0"),
        *("y_meminfo", "y_parent", "y_size", "y_itemsize", "y", "y_shape_0", "y_strides_0"),
    ]
    wb.run(launch)
    assert (y == 2 * x + 1).all()


@cuda.jit
def product(a, b, c):
    left = cuda.shared.array((8, 8), dtype=np.float32)
    right = cuda.shared.array((8, 8), dtype=np.float32)
    row, column = cuda.grid(2)
    down, across = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        left[down, across] = a[row, start + across]
        right[down, across] = b[start + down, column]
        cuda.syncthreads()
        for k in range(8):
            total += left[down, k] * right[k, across]
        cuda.syncthreads()
    c[row, column] = total


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_a_product_of_arrays_of_any_layout(layout: str) -> None:
    random = np.random.default_rng(0)
    a, b = random.random((16, 24), np.float32), random.random((24, 16), np.float32)
    c = np.zeros((16, 16), np.float32)
    if layout == "F":
        b = np.asfortranarray(b)
    if layout == "strided":
        wide, b = b, np.zeros((48, 32), np.float32)[::2, 1::2]
        b[:] = wide
    wb.run(wb.numba.capture(product)[(2, 2), (8, 8)](a, b, c))
    # sums of 24 products in single precision
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-6)


@cuda.jit
def reverse(x):
    held = cuda.shared.array(0, dtype=np.float32)
    i = cuda.threadIdx.x
    held[i] = x[i]
    cuda.syncthreads()
    x[i] = held[x.size - 1 - i]


def test_dynamic_shared_memory_is_the_fourth_part_as_in_numba() -> None:
    x = np.arange(64, dtype=np.float32)
    wb.run(wb.numba.capture(reverse)[1, 32, 0, 128](x[::2]))
    assert (x[::2] == np.arange(64)[::2][::-1]).all()
    assert (x[1::2] == np.arange(64)[1::2]).all()
    with pytest.raises(wb.Error, match="the place of the stream"):
        wb.numba.capture(reverse)[1, 32, 128](x)


class Color(enum.IntEnum):
    RED = 3


@cuda.jit
def mixture(pair, flag, half, number, color, points, count, result):
    i = cuda.grid(1)
    if i < result.size:
        value = pair[0] * points[i].x + pair[1] + math.sin(points[i].y)
        if flag:
            value += half
        result[i] = value + number * (3.0 if color == Color.RED else 0.0)
        cuda.atomic.add(count, 0, 1)


def test_tuples_bools_halves_complex_numbers_and_records() -> None:
    points = np.zeros(40, dtype=np.dtype([("x", "f4"), ("y", "f8")], align=True))
    points["x"], points["y"] = np.arange(40), np.linspace(0, 3, 40)
    count, result = np.zeros(1, np.int64), np.zeros(40, np.complex128)
    launch = wb.numba.capture(mixture)[2, 32]
    wb.run(launch((2, 0.5), True, np.float16(0.25), 1 + 2j, Color.RED, points, count, result))
    expected = 2 * points["x"] + 0.5 + np.sin(points["y"]) + 0.25 + 3 * (1 + 2j)
    # the sine of the GPU is exact to 2 units in the last place
    np.testing.assert_allclose(result, expected, rtol=1e-15)
    assert count[0] == 40


def test_a_signature_and_options() -> None:
    def plain(n: Any, x: Any) -> None:
        i = cuda.grid(1)
        if i < n:
            x[i] = x[i] / n

    x = np.arange(10, dtype=np.float32)
    launch = wb.numba.capture(plain, signature="void(int32, float32[::1])", fastmath=True)[1, 32](10, x)
    assert launch.kernel.parameters[0].size == 4
    wb.run(launch)
    # the division of fastmath is approximate
    np.testing.assert_allclose(x, np.arange(10) / 10, rtol=1e-6)
    with pytest.raises(wb.Error, match="argument `x`: the signature says.*\n.*float64"):
        wb.numba.capture(plain, signature="void(int32, float32[::1])")[1, 32](10, x.astype(np.float64))


def test_lines_of_python_and_a_folder(tmp_path: Path) -> None:
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    launch = wb.numba.capture(saxpy)[1, 128](np.float32(2), x, y)
    assert "y[i] += a * x[i]" in launch.kernel.sources[__file__]
    path = launch.save(tmp_path / "case")
    assert wb.run(wb.kernel(path)).makespan > 0
    assert (y == 1).all()


@cuda.jit
def wrong(x):
    x[0] = x.no_such_attribute


def test_errors() -> None:
    with pytest.raises(wb.Error, match="no_such_attribute") as raised:
        wb.numba.capture(wrong)[1, 32](np.zeros(4))
    line = 1 + next(i for i, text in enumerate(Path(__file__).read_text().splitlines()) if "x[0] = x." in text)
    assert (raised.value.file, raised.value.line) == (__file__, line)

    x = np.arange(10, dtype=np.float32)

    @cuda.jit(device=True)
    def device(x: Any) -> Any:
        return x

    for attempt, message in [
        (lambda: wb.numba.capture(saxpy)[1, 32](x), "3 parameters, 1 arguments given"),
        (lambda: wb.numba.capture(device)[1, 32](x), "device function"),
        (lambda: wb.numba.capture(print)[1, 32](x), "not a kernel of Numba"),
        (lambda: wb.numba.capture(saxpy, fast=1)[1, 32](1, x, x), "`fast` is not an option"),
        (lambda: wb.numba.capture(saxpy)[1](1, x, x), "the threads per block"),
        (lambda: wb.numba.capture(saxpy, arch="kepler"), "not an architecture"),
        (lambda: wb.numba.capture(saxpy)[1, 32]("a", x, x), "argument `a`"),
    ]:
        with pytest.raises(wb.Error, match=message):
            attempt()
