"""Runs the kernels of `triton_kernels.py` for several architectures and compares them with NumPy.

    python tests/triton_table.py [--arch sm_80,sm_120] [KERNEL ...]

prints a table: the largest error of each kernel for each architecture, in parts of the tolerance,
and the reasons of what fails. `test_triton.py` has the same cases as tests.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import triton_kernels as kernels

import warpbound as wb

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120")


class Check(NamedTuple):
    """An array beside what NumPy computes. They may differ by `tolerance` times the largest
    magnitude in `expected`."""

    name: str
    got: np.ndarray
    expected: np.ndarray
    tolerance: float

    @property
    def error(self) -> float:
        """The largest difference, in units of what is allowed. At most 1 is a success."""
        got, expected = self.got.astype(np.float64), self.expected.astype(np.float64)
        if not np.isfinite(got).all():
            return float("inf")
        difference = np.abs(got - expected).max()
        if difference == 0:
            return 0.0
        return float(difference / (self.tolerance * np.abs(expected).max())) if self.tolerance else float("inf")


Case = Callable[[str], Iterator[Check]]


def random(seed: int, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


def run(kernel: Any, arch: str, grid: Any, *args: Any, **constants: Any) -> None:
    launch = wb.triton.capture(kernel, arch=arch, enable_fp_fusion=True)[grid](*args, **constants)
    # GPUs allow more than 48 KiB per block if the host asks for it, as Triton does
    wb.run(launch, set="limits.shared_bytes_per_block=101376")


def vector_add(arch: str) -> Iterator[Check]:
    x, y, total = random(0, 1000), random(1, 1000), np.empty(1000, np.float32)
    run(kernels.vector_add, arch, lambda meta: (-(-meta["count"] // meta["WIDTH"]),), x, y, total, 1000, WIDTH=256)
    yield Check("sum", total, x + y, 0.0)


def softmax(arch: str) -> Iterator[Check]:
    x, result = 4 * random(0, 13, 200), np.empty((13, 200), np.float32)
    run(kernels.softmax_rows, arch, (4,), x, result, 200, 200, 13, 200, WIDTH=256)
    power = np.exp(x - x.max(1, keepdims=True))
    yield Check("softmax", result, power / power.sum(1, keepdims=True), 1e-6)


def _matmul(arch: str, dtype: Any, out: Any, precision: str, tolerance: float, leaky: bool = False) -> Iterator[Check]:
    m, n, k = 140, 90, 80
    a, b = random(0, m, k, dtype=dtype), random(1, k, n, dtype=dtype)
    c = np.empty((m, n), out)
    tile = {"M": 64, "N": 32, "K": 32, "BAND": 2}
    programs = -(-m // tile["M"]) * -(-n // tile["N"])
    strides = (k, 1, n, 1, n, 1)
    run(kernels.matmul, arch, (programs,), a, b, c, m, n, k, *strides, **tile, LEAKY=leaky, PRECISION=precision)
    product = a.astype(np.float64) @ b.astype(np.float64)
    yield Check("product", c, np.where(product < 0, 0.01 * product, product) if leaky else product, tolerance)


def matmul_fp16(arch: str) -> Iterator[Check]:
    # the rounding of the result to 11 bits
    return _matmul(arch, np.float16, np.float16, "ieee", 6e-4)


def matmul_fp16_fp32(arch: str) -> Iterator[Check]:
    return _matmul(arch, np.float16, np.float32, "ieee", 1e-6, leaky=True)


def matmul_large_tiles(arch: str) -> Iterator[Check]:
    """Tiles as in Triton's tutorial, whose three stages need more than 48 KiB of shared memory."""
    a, b = random(0, 256, 192, dtype=np.float16), random(1, 192, 128, dtype=np.float16)
    c = np.empty((256, 128), np.float16)
    tile = {"M": 128, "N": 128, "K": 64, "BAND": 8}
    run(
        kernels.matmul, arch, (2,), a, b, c, 256, 128, 192, 192, 1, 128, 1, 128, 1,
        **tile, LEAKY=False, PRECISION="ieee", num_warps=8, num_stages=3,
    )  # fmt: skip
    yield Check("product", c, a.astype(np.float64) @ b.astype(np.float64), 6e-4)


def matmul_transposed(arch: str) -> Iterator[Check]:
    """The strides say that the second factor is transposed; tiles are so small that sm_90 needs no
    WGMMA."""
    a, b, c = random(0, 32, 48, dtype=np.float16), random(1, 64, 48, dtype=np.float16), np.empty((32, 64), np.float32)
    tile = {"M": 16, "N": 32, "K": 16, "BAND": 1}
    run(
        kernels.matmul, arch, (4,), a, b.T, c, 32, 64, 48, 48, 1, 1, 48, 64, 1,
        **tile, LEAKY=False, PRECISION="ieee", num_warps=2,
    )  # fmt: skip
    yield Check("product", c, a.astype(np.float64) @ b.T.astype(np.float64), 1e-6)


def matmul_descriptors(arch: str) -> Iterator[Check]:
    a, b, c = random(0, 72, 40, dtype=np.float16), random(1, 40, 48, dtype=np.float16), np.empty((72, 48), np.float16)
    run(kernels.matmul_descriptors, arch, (3,), a, b, c, 72, 48, 40, M=32, N=32, K=32)
    yield Check("product", c, a.astype(np.float64) @ b.astype(np.float64), 6e-4)


def matmul_bf16(arch: str) -> Iterator[Check]:
    return _matmul(arch, ml_dtypes.bfloat16, np.float32, "ieee", 1e-6)


def matmul_tf32(arch: str) -> Iterator[Check]:
    # both factors have 11 bits
    return _matmul(arch, np.float32, np.float32, "tf32", 1e-3)


def matmul_fp32(arch: str) -> Iterator[Check]:
    return _matmul(arch, np.float32, np.float32, "ieee", 1e-6)


def uniform(seed: int, offsets: np.ndarray) -> np.ndarray:
    """Philox 4x32-10 (Salmon et al., SC 2011) as `tl.rand` uses it."""
    mask = np.uint64(0xFFFFFFFF)
    keys = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    count = [offsets.astype(np.uint64), *(np.zeros(offsets.shape, np.uint64) for _ in range(3))]
    for _ in range(10):
        even, odd = np.uint64(0xD2511F53) * count[0], np.uint64(0xCD9E8D57) * count[2]
        count = [
            (odd >> np.uint64(32)) ^ count[1] ^ keys[0], odd & mask,
            (even >> np.uint64(32)) ^ count[3] ^ keys[1], even & mask,
        ]  # fmt: skip
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & mask, (keys[1] + np.uint64(0xBB67AE85)) & mask]
    signed = count[0].astype(np.uint32).view(np.int32).astype(np.int64)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def dropout(arch: str) -> Iterator[Check]:
    x, result, seed, probability = random(0, 1000), np.empty(1000, np.float32), 123, 0.3
    run(kernels.dropout, arch, (4,), x, result, 1000, probability, seed, WIDTH=256)
    kept = uniform(seed, np.arange(1000)) > np.float32(probability)
    yield Check("kept", result != 0, kept, 0.0)
    yield Check("scaled", result, np.where(kept, x / np.float32(1 - np.float32(probability)), 0), 1e-6)


def layer_norm(arch: str) -> Iterator[Check]:
    rows, columns, groups = 6, 200, 2
    x, weight, bias = random(0, rows, columns), random(1, columns), random(2, columns)
    result, means, scales = np.empty_like(x), np.empty(rows, np.float32), np.empty(rows, np.float32)
    run(kernels.layer_norm, arch, (rows,), x, result, weight, bias, means, scales, columns, columns, 1e-5, WIDTH=128)
    mean, scale = x.mean(1), 1 / np.sqrt(x.astype(np.float64).var(1) + 1e-5)
    normal = (x - mean[:, None]) * scale[:, None]
    yield Check("mean", means, mean, 1e-6)
    yield Check("scale", scales, scale, 1e-6)
    yield Check("result", result, normal * weight + bias, 1e-6)

    gradient, input_gradient = random(3, rows, columns), np.empty_like(x)
    parts = [np.zeros((groups, columns), np.float32) for _ in range(2)]
    locks = np.zeros(2 * groups, np.int32)
    run(
        kernels.layer_norm_input_gradient, arch, (rows,), gradient, x, weight, means, scales,
        input_gradient, *parts, locks, columns, columns, GROUPS=groups, WIDTH=256,
    )  # fmt: skip
    sums = [np.empty(columns, np.float32) for _ in range(2)]
    for part, total in zip(parts, sums):
        run(kernels.column_sums, arch, (2,), part, total, groups, columns, HEIGHT=32, WIDTH=128)
    scaled = weight * gradient
    along = (normal * scaled).mean(1, keepdims=True)
    expected = (scaled - normal * along - scaled.mean(1, keepdims=True)) * scale[:, None]
    yield Check("input gradient", input_gradient, expected, 1e-6)
    yield Check("weight gradient", sums[0], (gradient * normal).sum(0), 1e-6)
    yield Check("bias gradient", sums[1], gradient.sum(0), 1e-6)
    yield Check("locks", locks, np.array([0] * groups + [1] * groups), 0.0)


def _attention(arch: str, causal: bool, dtype: Any, tolerance: float) -> Iterator[Check]:
    heads, length, depth = 2, 128, 32
    q, k, v = (random(i, heads, length, depth, dtype=dtype) for i in range(3))
    result, logsums = np.empty_like(q), np.empty((heads, length), np.float32)
    scale = 0.7 * np.log2(np.e)
    run(
        kernels.attention, arch, (length // 64, heads), q, k, v, result, logsums, scale, length,
        length * depth, depth, DEPTH=depth, ROWS=64, STEP=32, CAUSAL=causal,
    )  # fmt: skip
    wide = [array.astype(np.float64) for array in (q, k, v)]
    score = 0.7 * wide[0] @ wide[1].swapaxes(1, 2)
    if causal:
        score = np.where(np.tril(np.ones((length, length), bool)), score, -np.inf)
    power = np.exp(score - score.max(2, keepdims=True))
    yield Check("attention", result, power @ wide[2] / power.sum(2, keepdims=True), tolerance)
    yield Check("log sum", logsums, np.log2(np.exp(score).sum(2)), 2e-6)


def attention(arch: str) -> Iterator[Check]:
    # the weights and the result are rounded to 11 bits
    return _attention(arch, False, np.float16, 2e-3)


def attention_causal(arch: str) -> Iterator[Check]:
    return _attention(arch, True, np.float16, 2e-3)


def grouped_matmul(arch: str) -> Iterator[Check]:
    shapes = [(40, 70, 50), (64, 32, 64), (33, 48, 16)]
    lefts = [random(i, m, k, dtype=np.float16) for i, (m, n, k) in enumerate(shapes)]
    rights = [random(9 + i, k, n, dtype=np.float16) for i, (m, n, k) in enumerate(shapes)]
    results = [np.zeros((m, n), np.float16) for m, n, k in shapes]
    sizes = np.array(shapes, np.int32)
    strides = np.array([(k, n, n) for m, n, k in shapes], np.int32)
    run(
        kernels.grouped_matmul, arch, (4,), lefts, rights, results, sizes, strides, len(shapes),
        PROGRAMS=4, M=32, N=32, K=32,
    )  # fmt: skip
    for i, (left, right) in enumerate(zip(lefts, rights)):
        yield Check(f"product {i}", results[i], left.astype(np.float64) @ right.astype(np.float64), 6e-4)


def missing(error: Exception) -> str | None:
    """Returns what a kernel needs that is not simulated, such as `WGMMA`."""
    found = dict.fromkeys(re.findall(r"\((WGMMA|TMA)\) are not simulated", str(error)))
    return "+".join(found) or None


CASES: dict[str, Case] = {
    case.__name__: case
    for case in (
        vector_add, softmax, matmul_fp16, matmul_fp16_fp32, matmul_bf16, matmul_tf32, matmul_fp32,
        matmul_large_tiles, matmul_transposed, matmul_descriptors, dropout, layer_norm, attention, attention_causal,
        grouped_matmul,
    )
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default=",".join(ARCHITECTURES))
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=", ".join(CASES))
    options = parser.parse_args()
    names = options.kernels or list(CASES)
    architectures = options.arch.split(",")
    failures: list[str] = []
    needs: list[str] = []
    equal = 0
    print(f"{'kernel':20}" + "".join(f"{arch:>10}" for arch in architectures) + f"{'seconds':>9}")
    for name in names:
        row, begin = f"{name:20}", time.monotonic()
        for arch in architectures:
            try:
                checks = list(CASES[name](arch))
            except Exception as error:  # the table goes on, whatever fails
                needed = missing(error)
                cell = needed or "error"
                (needs if needed else failures).append(f"{name}, {arch}: {type(error).__name__}: {error}")
            else:
                worst = max(checks, key=lambda check: check.error)
                cell = f"{worst.error:.3f}"
                if worst.error > 1:
                    failures.append(f"{name}, {arch}: {worst.name} is {worst.error:.3g} times the tolerance apart")
                else:
                    equal += 1
            row += f"{cell:>10}"
        print(row + f"{time.monotonic() - begin:>9.1f}", flush=True)
    print(f"\n{equal} of {len(names) * len(architectures)} equal NumPy within the tolerance (errors are parts of it)")
    for title, problems in (("what is not simulated:", needs), ("failures:", failures)):
        if problems:
            print(title)
        for problem in problems:
            print("  " + problem.replace("\n", "\n    "))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
