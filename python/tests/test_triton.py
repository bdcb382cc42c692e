"""Tests of `warpbound.triton`: each result is compared with NumPy within a stated tolerance."""

from __future__ import annotations

import os
import subprocess
import sys
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

triton = pytest.importorskip("triton")
ml_dtypes = pytest.importorskip("ml_dtypes")
import triton.language as tl  # noqa: E402
import triton_kernels as kernels  # noqa: E402
import triton_table as table  # noqa: E402

import warpbound as wb  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


# compiling for all of them takes a minute
ARCHITECTURES = table.ARCHITECTURES if "WARPBOUND_LONG" in os.environ else ("sm_80", "sm_90")


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", table.CASES)
def test_kernels_equal_numpy(name: str, arch: str) -> None:
    try:
        checks = list(table.CASES[name](arch))
    except wb.Error as error:
        needed = table.missing(error)
        if (needed == "WGMMA" and arch == "sm_90") or (needed == "TMA" and name == "matmul_descriptors"):
            # the place is that of the product or of the copy in the kernel
            assert error.file.endswith("triton_kernels.py") and error.line > 0
            pytest.skip(f"needs {needed}")
        raise
    for check in checks:
        assert check.error <= 1, f"{check.name}: {check.error} times the tolerance"


@triton.jit
def copy(source, target, count, WIDTH: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    tl.store(target + at, tl.load(source + at, at < count), at < count)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
    + [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2],
)
def test_elements_of_arrays(dtype: Any) -> None:
    source = np.arange(100).astype(dtype)
    target = np.zeros_like(source)
    wb.run(wb.triton.capture(copy, arch="sm_89")[(1,)](source, target, 100, WIDTH=128))
    assert (source == target).all()


def test_arrays_that_are_not_of_numpy() -> None:
    source, target = array("f", range(10)), array("f", [0] * 10)
    wb.run(wb.triton.capture(copy)[1](source, target, 10, WIDTH=16))
    assert source == target


@triton.jit
def scaled(
    source, target, f: tl.float16, b: "bf16", d: tl.float64, plain, step, count: tl.int64, flag, pair, nothing,
    WIDTH: tl.constexpr,
):  # fmt: skip
    at = tl.arange(0, WIDTH)
    value = tl.load(source + at * step) * f + b.to(tl.float32) + d.to(tl.float32) + plain
    if flag:
        value += pair[1]
    if nothing is None:
        value += count
    tl.store(pair[0] + at, value)
    tl.store(target + at, value)


def test_numbers_tuples_and_none() -> None:
    source = np.arange(64, dtype=np.float32)
    target, other = np.zeros(64, np.float32), np.zeros(64, np.float32)
    captured = wb.triton.capture(scaled, enable_fp_fusion=True)
    numbers = 1.5, 0.25, 1.125, np.float32(3.0)
    wb.run(captured[(1,)](source, target, *numbers, 1, 1, np.bool_(True), (other, 16), None, WIDTH=64))
    # exact: all values have few bits
    assert (target == source * 1.5 + 0.25 + 1.125 + 3 + 16 + 1).all()
    assert (other == target).all()


@pytest.mark.parametrize("count", [1, 16, 17, 1 << 40, (1 << 63) + 16])
def test_specialized_integers(count: int) -> None:
    source, target = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    launch = wb.triton.capture(copy)[(1,)](source, target, count, WIDTH=64)
    # an integer that is 1 is a constant of the code
    names = [parameter.name for parameter in launch.kernel.parameters]
    assert ("count" in names) == (count != 1)
    wb.run(launch)
    assert (target[: min(count, 64)] == source[: min(count, 64)]).all()
    assert not target[min(count, 64) :].any()


def test_address_that_16_does_not_divide() -> None:
    """The code for an address that 16 divides has wide accesses, whose addresses must be aligned."""
    source, target = np.arange(513, dtype=np.float32)[1:], np.zeros(512, np.float32)
    wide = wb.triton.capture(copy)[(1,)](np.zeros(512, np.float32), target, 512, WIDTH=512)
    narrow = wb.triton.capture(copy)[(1,)](source, target, 512, WIDTH=512)
    assert wide.kernel.code != narrow.kernel.code
    wb.run(narrow)
    assert (target == source).all()


@triton.jit
def copy_strided(source, target, down, across, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(target + row * N + column, tl.load(source + row * down + column * across))


def test_views_with_strides() -> None:
    whole = np.arange(32 * 64, dtype=np.float32).reshape(32, 64)
    for view in (whole[::2, ::4], whole.T[::4, ::2], whole.T[:16, :16], whole[3:19, 5:21]):
        target = np.zeros((16, 16), np.float32)
        strides = [stride // 4 for stride in view.strides]
        wb.run(wb.triton.capture(copy_strided)[(1,)](view, target, *strides, M=16, N=16))
        assert (target == view).all()


CONFIGS = [triton.Config({"WIDTH": 64}, num_warps=1), triton.Config({"WIDTH": 128}, num_warps=2)]


@triton.autotune(configs=CONFIGS, key=[])
@triton.heuristics({"EVEN": lambda args: args["count"] % args["WIDTH"] == 0})
@triton.jit
def tuned(source, target, count, WIDTH: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    tl.store(target + at, tl.load(source + at, at < count) + EVEN, at < count)


def grid(meta: dict[str, Any]) -> tuple[int]:
    return (triton.cdiv(meta["count"], meta["WIDTH"]),)


@pytest.mark.parametrize(
    "config, blocks, threads",
    [
        (None, 4, 32),
        (1, 2, 64),
        ({"WIDTH": 32, "num_warps": 4}, 8, 128),
        (triton.Config({"WIDTH": 256}, num_warps=1), 1, 32),
    ],
)
def test_autotuning_and_heuristics(config: Any, blocks: int, threads: int) -> None:
    source, target = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    captured = wb.triton.capture(tuned, config=config)[grid]
    if config is None:
        with pytest.warns(wb.triton.FirstConfigWarning, match="first of 2") as warned:
            launch = captured(source, target, 256)
        assert Path(next(w for w in warned if w.category is wb.triton.FirstConfigWarning).filename) == Path(__file__)
    else:
        launch = captured(source, target, 256)
    assert (launch.grid[0], launch.block[0]) == (blocks, threads)
    wb.run(launch)
    assert (target == source + 1).all()


def test_a_folder_for_the_command_line(tmp_path: Path) -> None:
    source, target = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    path = wb.triton.capture(copy)[(1,)](source, target, 100, WIDTH=128).save(tmp_path / "case")
    assert "copy.ptx" in {file.name for file in path.parent.iterdir()}
    assert wb.run(wb.kernel(path)).makespan > 0


@triton.jit
def wrong(source):
    value = tl.load(source)
    tl.store(source, value + undefined)  # noqa: F821


def test_errors() -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(wb.Error, match="undefined") as raised:
        wb.triton.capture(wrong)[(1,)](x)
    line = 1 + next(i for i, text in enumerate(Path(__file__).read_text().splitlines()) if "value + undefined" in text)
    assert (raised.value.file, raised.value.line) == (__file__, line)

    for launch, message in [
        (lambda: wb.triton.capture(copy)[(1,)](x, x, 4), "missing a required argument: 'WIDTH'"),
        (lambda: wb.triton.capture(copy, warps=4)[(1,)](x, x, 4, WIDTH=4), "`warps` is neither"),
        (lambda: wb.triton.capture(copy)[(1,)]("x", x, 4, WIDTH=4), "argument `source`: .* does not accept a str"),
        (lambda: wb.triton.capture(copy)[(1,)](x.astype(complex), x, 4, WIDTH=4), "elements of the type complex128"),
        (lambda: wb.triton.capture(copy)[(1, 1, 1, 1)](x, x, 4, WIDTH=4), "has 4 numbers"),
        (lambda: wb.triton.capture(copy, config=0)[(1,)](x, x, 4, WIDTH=4), "no configurations"),
        (lambda: wb.triton.capture(tuned, config=2)[(1,)](x, x, 4), "there are 2 configurations"),
        (lambda: wb.triton.capture(tuned, config=0)[(1,)](x, x, 4, WIDTH=4), "argument `WIDTH`"),
        (lambda: wb.triton.capture(print), "not a kernel of Triton"),
        (lambda: wb.triton.capture(copy, arch="volta"), "not an architecture"),
        (lambda: wb.triton.capture(copy, arch="sm_90", num_ctas=2)[(1,)](x, x, 4, WIDTH=4), "clusters"),
    ]:
        with pytest.raises(wb.Error, match=message):
            captured = launch()
            captured[(1,)](x)  # what is no kernel is noticed here


def test_a_torch_tensor() -> None:
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool):
        source = torch.arange(100).to(dtype)
        target = torch.zeros(100, dtype=dtype)
        wb.run(wb.triton.capture(copy)[(1,)](source, target, 100, WIDTH=128))
        assert torch.equal(source, target)


def test_the_table_runs() -> None:
    script = Path(table.__file__)
    done = subprocess.run(
        [sys.executable, str(script), "--arch", "sm_80", "vector_add"], capture_output=True, text=True, check=True
    )
    assert "1 of 1 equal NumPy" in done.stdout
    assert kernels.vector_add.__name__ in done.stdout
